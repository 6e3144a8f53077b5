"""Coverage: exact against enumeration of all joint actions, and right on instances whose verdict is known."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie import ActionSpaces, Game, InputError, Strategy, TooLargeError, UpTo
from coterie.coverage import coverage, seen_by, seen_in
from coterie.coverage.reach import ProfileReach
from coterie.coverage.seen import never_together
from coterie.game.actions import ExplicitSets, any_subset, exactly_one
from coterie.simulate.policies import Independent, Toggles, UniformOver
from coterie.statistics.statistics import Statistics
from coterie.theory import pair_coverage, theorem_2, theorem_4_as_printed, theorem_4_repaired
from oracles import joint_actions
from random_games import random_space, random_strategy


def names(count, letter):
    return tuple(f"{letter}{index}" for index in range(count))


def log_of(samples, *, bandit=False, **options):
    """Make a log of joint actions (b, n, k), every utility 0."""
    _, n, k = samples.shape
    members = [(f"s{m}", f"a{i}", f"c{l}") for m, i, l in np.argwhere(samples).tolist()]
    tables = {"memberships": dict(zip(("sample", "agent", "coalition"), zip(*members, strict=True), strict=True))}
    if bandit:
        rows = [(f"s{m}", f"a{i}", 0.0) for m in range(len(samples)) for i in range(n)]
        tables["totals"] = dict(zip(("sample", "agent", "utility"), zip(*rows, strict=True), strict=True))
    else:
        met = [
            (f"s{m}", f"c{l}", f"a{i}", f"a{j}", 0.0)
            for m, l in product(range(len(samples)), range(k))
            for i in range(n)
            for j in range(n)
            if (i != j if options.get("symmetric") is False else i < j) and samples[m, i, l] and samples[m, j, l]
        ]
        columns = ("sample", "coalition", "agent", "partner", "utility")
        tables["pairs"] = dict(zip(columns, zip(*met, strict=True) if met else [[]] * 5, strict=True))
    return coterie.Log.from_frames(**tables, **options)


def deviations(strategy, spaces):
    """Yield (agent, action, [(probability, joint action)]) for every agent and allowed action."""
    listed = list(joint_actions(strategy))
    for i, space in enumerate(spaces.spaces):
        for action in space.enumerate():
            moved = []
            for share, members in listed:
                after = members.copy()
                after[i] = action
                moved.append((share, after))
            yield i, action, moved


def features(members, agent):
    together = members & members[[agent]]
    return np.delete(together, agent, axis=0).T.ravel() * 1.0


def by_enumeration(samples, strategy, spaces):
    """Return (c_size, uncovered sizes, c_pair, uncovered pairs, c_act) from the definitions."""
    sizes, n = samples.sum(axis=1), samples.shape[1]
    c_size, c_pair, c_act = 0.0, 0.0, np.inf
    missing_sizes, missing_pairs = set(), set()
    spectra = []
    for i in range(n):
        x = np.array([features(members, i) for members in samples])
        spectra.append(np.linalg.eigh(x.T @ x / len(x)))
    for i, _, moved in deviations(strategy, spaces):
        share, members = np.array([one[0] for one in moved]), np.array([one[1] for one in moved])
        for l, s in product(range(samples.shape[2]), range(n + 1)):
            reached = share[members[:, :, l].sum(axis=1) == s].sum()
            seen = (sizes[:, l] == s).mean()
            if reached > 0:
                c_size = max(c_size, reached / seen if seen else np.inf)
                if not seen:
                    missing_sizes.add((l, s))
        for l, j in product(range(samples.shape[2]), range(n)):
            reached = share[members[:, i, l] & members[:, j, l]].sum() if i != j else 0
            seen = (samples[:, i, l] & samples[:, j, l]).mean()
            if reached > 0:
                c_pair = max(c_pair, reached / seen if seen else np.inf)
                if not seen:
                    missing_pairs.add((l, *sorted((i, j))))
        z = np.array([features(m, i) for m in members])
        second = np.einsum("b,bf,bg->fg", share, z, z)
        values, vectors = spectra[i]
        hidden = vectors[:, values < 1e-9]
        if np.trace(hidden.T @ second @ hidden) > 1e-9:
            c_act = 0.0
        elif second.any():
            root = vectors[:, values >= 1e-9] / np.sqrt(values[values >= 1e-9])
            c_act = min(c_act, 1 / np.linalg.eigvalsh(root.T @ second @ root)[-1])
    return c_size, missing_sizes, c_pair, missing_pairs, c_act


@st.composite
def instances(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    spaces = ActionSpaces(tuple(random_space(rng, k) for _ in range(n)))
    strategy = random_strategy(rng, spaces, pure=draw(st.booleans()))
    strategy = Strategy(names(n, "a"), names(k, "c"), strategy.owner, strategy.sets, strategy.probability)
    samples = rng.random((draw(st.sampled_from([1, 3, 12, 60])), n, k)) < rng.uniform(0.2, 0.9)
    return samples, strategy, spaces


@settings(max_examples=40, deadline=None)
@given(instances())
def test_everything_equals_enumeration(drawn):
    samples, strategy, spaces = drawn
    c_size, missing_sizes, c_pair, missing_pairs, c_act = by_enumeration(samples, strategy, spaces)
    seen = seen_by(UniformOver(samples), strategy.agents, strategy.coalitions, bandit=True)
    found = coverage(seen, strategy, spaces)
    assert found.c_size == pytest.approx(c_size)
    assert found.assumption_1 == (not missing_sizes)
    assert {(int(w.coalition[1:]), w.size) for w in found.uncovered_sizes} == missing_sizes
    assert found.c_pair == pytest.approx(c_pair)
    assert found.covers_pairs == (not missing_pairs)
    assert found.n_uncovered_pairs == len(missing_pairs)
    named = {(int(w.coalition[1:]), *sorted((int(w.agent[1:]), int(w.partner[1:])))) for w in found.uncovered_pairs}
    assert named == missing_pairs
    assert found.c_act == pytest.approx(c_act, rel=1e-6)
    assert found.assumption_2 == (c_act > 0)
    for witness in (*found.uncovered_sizes, *found.uncovered_pairs):
        if witness.deviation is not None:
            i = strategy.agents.index(witness.agent)
            row = np.isin(strategy.coalitions, witness.deviation)
            assert spaces.spaces[i].contains(row[None]).all()


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(instances())
def test_statistics_say_the_same_as_the_samples(drawn):
    samples, strategy, spaces = drawn
    samples[0] = True  # so that the log names everybody
    samples = samples[samples.any(axis=(1, 2))]  # an empty sample leaves no trace in a log of pairs
    exact = coverage(seen_by(UniformOver(samples), strategy.agents, strategy.coalitions, bandit=True), strategy, spaces)
    pairs = coverage(Statistics.of(log_of(samples, actions="any")), strategy, spaces)
    totals = Statistics.of(log_of(samples, bandit=True, actions="any"), unweighted=True)
    for found in (pairs, coverage(totals, strategy, spaces), coverage(totals.whole, strategy, spaces)):
        assert found.samples == len(samples)
        for field in ("c_size", "c_size_from_2", "c_size_seen", "c_pair", "n_uncovered_pairs", "assumption_1"):
            assert getattr(found, field) == pytest.approx(getattr(exact, field)), field
        assert found.c_size_interval[0] <= found.c_size <= found.c_size_interval[1]
        assert found.c_pair_interval[0] <= found.c_pair <= found.c_pair_interval[1]
    assert (pairs.assumption_2, pairs.c_act) == (None, None)
    assert coverage(totals, strategy, spaces).c_act == pytest.approx(exact.c_act, rel=1e-6)
    weighted = coverage(Statistics.of(log_of(samples, bandit=True, actions="any")), strategy, spaces)
    assert (weighted.assumption_2, weighted.c_pair) == (exact.assumption_2, None)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(instances())
def test_without_a_profile_everything_that_some_profile_reaches_counts(drawn):
    samples, strategy, spaces = drawn
    seen = seen_by(UniformOver(samples), strategy.agents, strategy.coalitions, bandit=True)
    found = coverage(seen, None, spaces)
    each = [
        coverage(seen, Strategy.pure(row, strategy.agents, strategy.coalitions), spaces)
        for block in spaces.joint_actions()
        for row in block[:: max(1, len(block) // 60)]
    ]
    complete = spaces.size <= 119
    assert found.profile == "all"
    for field in ("c_size", "c_size_from_2", "c_pair"):
        worst = max(getattr(one, field) for one in each)
        assert getattr(found, field) >= worst - 1e-9
        if complete:
            assert getattr(found, field) == pytest.approx(worst)
    if complete:
        assert found.assumption_2 == all(one.assumption_2 for one in each)
        assert found.covers_pairs == all(one.covers_pairs for one in each)
    assert found.pairs_unseen == found.n_uncovered_pairs


def test_sizes_aware_need_the_pair_at_that_size():
    samples = np.array([[[1], [1], [0]], [[1], [0], [1]], [[0], [1], [1]]] * 2, dtype=bool)
    spaces = ActionSpaces.shared(UpTo(1, 1, may_stay_out=True), 3)
    log = log_of(samples, actions=[["c0"], []])
    two = Strategy.pure([[1], [1], [0]], names(3, "a"), names(1, "c"))
    assert coverage(Statistics.of(log), two, spaces).covers_pairs
    aware = coverage(Statistics.of(log, sizes="aware"), two, spaces)
    assert {(w.agent, w.partner, w.size) for w in aware.uncovered_pairs} == {("a2", "a0", 3), ("a2", "a1", 3)}
    assert aware.uncovered_pairs[0].deviation == ("c0",)
    assert aware.c_pair == np.inf
    assert [(w.coalition, w.size, w.agent) for w in aware.uncovered_sizes] == [("c0", 1, "a0"), ("c0", 3, "a2")]
    mixed = Strategy.mixed([([[1], [0]], [0.5, 0.5])] * 3, names(3, "a"), names(1, "c"))
    half = coverage(Statistics.of(log, sizes="aware"), mixed, spaces)
    assert {w.size for w in half.uncovered_pairs} == {3}
    assert {w.probability for w in half.uncovered_pairs} == {0.25}
    assert {w.size for w in coverage(Statistics.of(log, sizes="aware"), None, spaces).uncovered_pairs} == {3}


def test_interchangeable_coalitions_share_what_was_seen():
    samples = np.zeros((6, 3, 2), dtype=bool)
    samples[:, [0, 1], 0] = True
    samples[:, 2, 1] = True
    log = log_of(samples, pool_coalitions=True, actions="one")
    spaces = log.actions
    apart = Strategy.pure([[0, 1], [0, 1], [1, 0]], names(3, "a"), ("1", "2"))
    found = coverage(Statistics.of(log), apart, spaces)
    # The pair was only seen in the other coalition, which is the same here; either may join the third.
    assert {tuple(sorted((w.agent, w.partner))) for w in found.uncovered_pairs} == {("a0", "a2"), ("a1", "a2")}
    assert found.pairs_unseen == 2
    assert [w.size for w in found.uncovered_sizes] == [0, 3]
    assert found.c_pair_interval[1] == np.inf


def test_orders_of_an_asymmetric_pair_are_two_things():
    rows = {"sample": ["1"], "coalition": ["c0"], "agent": ["a0"], "partner": ["a1"], "utility": [0.0]}
    log = coterie.Log.from_frames(pairs=rows, symmetric=False)
    spaces = log.actions
    strategy = Strategy.pure([[1], [1]], log.agents, log.coalitions)
    found = coverage(Statistics.of(log), strategy, spaces)
    assert [(w.agent, w.partner, w.deviation) for w in found.uncovered_pairs] == [("a1", "a0", None)]
    assert found.pairs_unseen == 1


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(5)
    spaces = ActionSpaces.shared(any_subset(2), 3)
    policy, strategy = Independent(spaces), Strategy.pure([[1, 0]] * 3, names(3, "a"), names(2, "c"))
    truth = coverage(seen_by(policy, strategy.agents, strategy.coalitions), strategy, spaces)
    failures = 0
    for _ in range(150):
        seen = seen_by(UniformOver(policy.sample(rng, 200)), strategy.agents, strategy.coalitions)
        seen = type(seen)(**{**vars(seen), "n_samples": 200})
        found = coverage(seen, strategy, spaces, delta=0.2)
        for field in ("c_size", "c_pair"):
            low, high = getattr(found, f"{field}_interval")
            failures += not low <= getattr(truth, field) <= high
            assert high < np.inf
    assert failures / 300 <= 0.2


def test_theorem_2_misses_a_size():
    instance = theorem_2()
    first, second = instance.games
    seen = seen_by(instance.policy, first.agents, first.coalitions)
    two = coverage(seen, Strategy.pure([[1, 0]] * 2 + [[0, 1]] * 4), first.actions)
    assert not two.assumption_1
    assert [(w.coalition, w.size) for w in two.uncovered_sizes if w.size >= 2] == [("1", 3), ("2", 3), ("2", 5)]
    three = next(w for w in two.uncovered_sizes if (w.coalition, w.size) == ("1", 3))
    assert (three.agent in {"3", "4", "5", "6"}, three.deviation) == (True, ("1",))
    everybody = coverage(seen, Strategy.pure([[1, 0]] * 6), second.actions)
    assert [(w.coalition, w.size) for w in everybody.uncovered_sizes if w.size >= 2] == [("1", 6)]
    assert everybody.c_size == everybody.c_size_from_2 == np.inf
    assert everybody.c_size_seen < np.inf
    assert two.covers_pairs  # sizes are what is missing: every two agents have met in both rooms


def test_theorem_4_covers_sizes_and_pairs_but_not_totals():
    instance = theorem_4_repaired()
    game = instance.games[0]
    seen = seen_by(instance.policy, game.agents, game.coalitions, bandit=True)
    stable = Strategy.pure([[1, 0, 0]] * 2)
    found = coverage(seen, stable, game.actions)
    assert found.covers_pairs
    assert (found.assumption_2, found.c_act, found.is_enough) == (False, 0.0, False)
    direction = found.worst_direction
    assert direction.is_hidden
    # Only the sum of the two rooms is seen, so their difference is hidden.
    weights = {term.coalition: term.weight for term in direction.terms}
    assert weights["1"] == pytest.approx(-weights["2"])
    assert "3" not in weights
    assert coverage(seen, None, game.actions).assumption_2 is False
    assert coverage(seen_by(instance.policy), stable, game.actions).is_enough  # pairs would tell


def test_theorem_4_as_printed():
    instance = theorem_4_as_printed()
    game = instance.games[0]
    seen = seen_by(instance.policy, game.agents, game.coalitions, bandit=True)
    found = coverage(seen, Strategy.pure([[1, 0, 0]] * 3), game.actions)
    assert (found.assumption_2, found.c_act) == (False, 0.0)


def test_sizes_do_not_suffice():
    instance = pair_coverage()
    game = instance.games[0]
    seen = seen_by(instance.policy, game.agents, game.coalitions)
    together = coverage(seen, Strategy.pure([[1, 0], [1, 0], [0, 1], [0, 1]]), game.actions)
    assert together.assumption_1
    assert together.c_size == pytest.approx(6)
    assert not together.covers_pairs
    assert not together.is_enough
    (witness,) = together.uncovered_pairs
    assert (witness.agent, witness.partner, witness.coalition, witness.deviation) == ("1", "2", "1", None)
    assert together.c_pair == np.inf


def test_toggles_cover_actions_as_well_as_the_corrected_constant_says():
    k = 3
    for n in (2, 3):
        spaces = ActionSpaces.shared(any_subset(k), n)
        profile = np.ones((n, k), dtype=bool)
        policy = Toggles(spaces, profile)
        found = coverage(seen_by(policy, bandit=True), Strategy.pure(profile), spaces)
        assert found.c_act >= 1 / ((n * k + 1) * (k * k - k + 1)) - 1e-12
        assert found.c_act >= 1 / (n * k**4)


def test_deviations_policy_exceeds_three():
    n, k = 10, 2
    spaces = ActionSpaces.shared(exactly_one(k), n)
    profile = np.array([[1, 0]] * n, dtype=bool)
    from coterie.simulate.policies import Deviations

    found = coverage(seen_by(Deviations(spaces, profile)), Strategy.pure(profile), spaces)
    assert found.c_size == pytest.approx(11)


def test_large_oracle_spaces_are_bounded_not_listed():
    rng = np.random.default_rng(0)
    n, k = 4, 16
    spaces = ActionSpaces.shared(UpTo(k, k), n)
    samples = rng.random((900, n, k)) < 0.5
    profile = rng.random((n, k)) < 0.3
    profile[:, 0] = True
    found = coverage(seen_by(UniformOver(samples), bandit=True), Strategy.pure(profile), spaces)
    assert found.assumption_2
    assert not found.c_act_is_exact
    few = ActionSpaces.shared(ExplicitSets(np.unique(UpTo(k, k).sample(rng, 300), axis=0)), n)
    listed = coverage(seen_by(UniformOver(samples), bandit=True), Strategy.pure(profile), few)
    assert 0 < found.c_act <= listed.c_act
    assert coverage(seen_by(UniformOver(samples), bandit=True), None, spaces).assumption_2
    assert coverage(seen_by(UniformOver(samples[:20]), bandit=True), None, spaces).assumption_2 is False


def test_other_names_are_refused():
    spaces = ActionSpaces.shared(exactly_one(2), 3)
    seen = seen_by(Independent(spaces))
    with pytest.raises(InputError, match="action spaces"):
        coverage(seen, None, ActionSpaces.shared(exactly_one(2), 4))
    with pytest.raises(InputError, match="not the log's"):
        coverage(seen, Strategy.pure([[1, 0]] * 3, ("x", "y", "z")), spaces)


def test_json_has_the_contract_s_fields_and_the_witnesses():
    samples = np.ones((2, 2, 1), dtype=bool)
    log = log_of(samples, actions=[["c0"], []])
    found = coverage(Statistics.of(log), Strategy.pure([[1], [0]], log.agents, log.coalitions), log.actions).to_json()
    expected = {"samples": 2, "pairs_unseen": 0, "assumption_1": False, "c_size": np.inf, "c_pair": 1.0}
    assert {name: found[name] for name in expected} == expected
    assert found["assumption_2"] is found["c_act"] is None
    assert [(w["coalition"], w["size"]) for w in found["uncovered_sizes"]] == [("c0", 0), ("c0", 1)]
    assert seen_in(Statistics.of(log)).n_samples == 2


def test_sizes_under_deviations_match_enumeration():
    rng = np.random.default_rng(1)
    game = Game(np.zeros((2, 3, 3)), {"1": "any", "2": "one", "3": [["1"], ["1", "2"]]})
    strategy = Strategy.mixed(
        [(s := space.enumerate(), rng.dirichlet(np.ones(len(s)))) for space in game.actions.spaces]
    )
    expected = np.zeros((2, 4))
    for agent, space in zip(game.agents, game.actions.spaces, strict=True):
        for row in space.enumerate():
            deviated = strategy.replace(agent, [str(l + 1) for l in np.flatnonzero(row)])
            sizes = np.zeros((2, 4))
            for chosen in np.ndindex(*[int((deviated.owner == i).sum()) for i in range(3)]):
                rows = [np.flatnonzero(deviated.owner == i)[c] for i, c in enumerate(chosen)]
                share = deviated.probability[rows].prod()
                for l, size in enumerate(deviated.sets[rows].sum(axis=0)):
                    sizes[l, size] += share
            expected = np.maximum(expected, sizes)
    np.testing.assert_allclose(ProfileReach(strategy, game.actions).size_probabilities(), expected, atol=1e-12)


def pure(*actions, k):
    return Strategy.pure([[str(l + 1) in action for l in range(k)] for action in actions])


def test_a_size_and_a_pair_of_a_policy_that_are_missing():
    instance = pair_coverage()
    spaces = instance.games[0].actions
    together = coverage(instance.policy, pure("1", "1", "2", "2", k=2), spaces)
    assert together.assumption_1
    assert [(w.coalition, w.agent, w.partner) for w in together.uncovered_pairs] == [("1", "1", "2")]
    assert together.c_size == pytest.approx(6)
    assert coverage(instance.policy, pure("1", "1", "1", "1", k=2), spaces).c_size == np.inf
    apart = pure("2", "2", "1", "1", k=2)  # either could join coalition 1, but not meet the other there
    assert coverage(instance.policy, apart, spaces).covers_pairs


def test_uniform_exploration_covers_everything():
    game = theorem_2().games[0]
    found = coverage(Independent(game.actions), game.uniform(), game.actions)
    assert found.assumption_1
    assert found.covers_pairs
    assert found.c_size == pytest.approx(2)  # alone in or out: 2^-5 against 2^-6


@pytest.mark.parametrize("options", [{}, {"bandit": True}, {"symmetric": False}, {"pool_coalitions": True}], ids=str)
def test_pairs_never_seen_together_are_those_of_a_slow_look(options):
    rng = np.random.default_rng(11)
    samples = rng.random((4, 6, 3)) < 0.35
    samples[0, :, 0] |= ~samples.any(axis=(0, 2))  # so that the log names everybody
    log = log_of(samples, actions="any", **options)
    pooled = bool(options.get("pool_coalitions"))
    profile = rng.random((6, len(log.coalitions))) < 0.5
    strategy = Strategy.pure(profile, log.agents, log.coalitions)
    expected, pairs = [], 0
    for l in range(len(log.coalitions)):
        for i in range(6):
            for j in range(i + 1, 6):
                if profile[i, l] and profile[j, l]:
                    pairs += 1
                    met = samples[:, i] & samples[:, j]
                    if not (met.any() if pooled else met[:, l].any()):
                        expected.append((i, j, l))
    assert expected
    assert len(expected) < pairs
    assert never_together(seen_in(Statistics.of(log)), strategy) == (pairs, expected)


def test_sizes_do_not_matter_to_whether_a_pair_was_seen():
    samples = np.zeros((1, 3, 1), dtype=bool)
    samples[0, :2] = True
    log = log_of(np.concatenate([samples, np.eye(3, dtype=bool)[:, :, None]]), actions="any")
    strategy = Strategy.pure([[1], [1], [1]], log.agents, log.coalitions)
    found = never_together(seen_in(Statistics.of(log, sizes="aware")), strategy)
    assert found == (3, [(0, 2, 0), (1, 2, 0)])


@pytest.mark.parametrize("symmetric", [True, False])
def test_only_those_who_may_meet_are_looked_at(symmetric, monkeypatch):
    n, k = 24, 8
    rooms = np.random.default_rng(0).integers(k, size=(40, n))
    statistics = Statistics.of(log_of(rooms[..., None] == np.arange(k), symmetric=symmetric))
    # Everybody has two places to go to, so six may meet in each coalition, and its size is at most six.
    own = {f"a{i}": [[f"c{i % k}"], [f"c{(i + 1) % k}"]] for i in range(n)}
    strategy = {agent: sets[0] for agent, sets in own.items()}
    monkeypatch.setattr("coterie.coverage.seen.CELLS", 6**2)
    found = coverage(statistics, strategy, own)
    # By hand: an agent meets those of her own coalition, and by moving those of the next.
    room = np.arange(n) % k
    place = {agent: index for index, agent in enumerate(statistics.agents)}
    met = {(i, j, l) for sample in rooms for l in range(k) for i, j in product(np.flatnonzero(sample == l), repeat=2)}
    reached = {
        (i, j, l) for i in range(n) for l in (i % k, (i + 1) % k) for j in np.flatnonzero(room == l).tolist() if i != j
    }
    missing = {(i, j, l) for i, j, l in reached if (i, j, l) not in met}
    once = {(frozenset((i, j)), l) for i, j, l in missing} if symmetric else missing
    assert found.n_uncovered_pairs == len(once) > 0
    assert {(place[w.agent], place[w.partner], int(w.coalition[1:])) for w in found.uncovered_pairs} <= {
        (place[f"a{i}"], place[f"a{j}"], l) for i, j, l in missing
    }
    seen = {(l, int(size)) for sample in rooms for l, size in enumerate(np.bincount(sample, minlength=k))}
    unseen = {(l, size) for l in range(k) for size in (2, 3, 4)} - seen
    assert {(int(w.coalition[1:]), w.size) for w in found.uncovered_sizes} == unseen
    with pytest.raises(TooLargeError, match=r"up to 6 agents.*and 24 may in 'c0'.*observed-own.*department"):
        coverage(statistics, strategy, "one")


def test_totals_name_a_pair_once_and_who_is_in_most_pairs():
    """Nobody rates anybody there: who was together with whom has no order."""
    samples = np.array([[[1, 0], [1, 0], [0, 1], [0, 1]], [[1, 0], [0, 1], [1, 0], [0, 1]]], dtype=bool)
    strategy = Strategy.pure(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool), names(4, "a"), names(2, "c"))
    found = {}
    for symmetric in (True, False):
        log = log_of(samples, bandit=True, symmetric=symmetric, pool_coalitions=True, actions="one")
        found[symmetric] = coverage(log, Strategy.pure(strategy.sets, names(4, "a"), log.coalitions))
        named = [frozenset((one.agent, one.partner)) for one in found[symmetric].uncovered_pairs]
        assert sorted(map(sorted, named)) == [["a0", "a3"], ["a1", "a2"]]
        assert found[symmetric].n_uncovered_pairs == 2
        assert not found[symmetric].one_way
    assert found[True].uncovered_people == found[False].uncovered_people == tuple((name, 1) for name in names(4, "a"))
