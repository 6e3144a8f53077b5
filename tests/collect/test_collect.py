"""What to collect: exact gradients, plans that no other plan beats by much, and predictions that come true."""

from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import coterie
from coterie import ActionSpaces, InputError, Strategy, UpTo
from coterie.certificates import evidence_from, fixed, paired
from coterie.certificates.pair_evidence import PairEvidence
from coterie.collect import (
    Outlook,
    noise_variance,
    plan_collection,
    plan_totals,
    predict,
    samples_needed,
)
from coterie.collect.aim import aim_in
from coterie.collect.total_plan import _TotalOutlook
from coterie.collect.worth import best_joint_action, close_deviations, most_per_sample, worth_of
from coterie.estimate.design import directions
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate, SampleNoise
from coterie.estimate.ridge import AgentRidge
from coterie.estimate.unknowns import Anonymous, Aware, Pooled, SizeFree
from coterie.game.actions import ExplicitSets, exactly_one
from coterie.game.dynamics import best_pure_profile
from coterie.simulate import Simulation
from coterie.simulate.demo import consulting_firm
from coterie.simulate.models import Normal
from coterie.simulate.policies import Independent, Policy
from coterie.statistics.statistics import Statistics

DELTA = 0.05


def both_orders(values):
    """Copy every pair's value from (i, j), i < j, to (j, i)."""
    return np.triu(values, 1) + np.swapaxes(np.triu(values, 1), -1, -2)


class Replay(Policy):
    """Plays given joint actions one after the other."""

    def __init__(self, joint_actions):
        self.joint_actions, self.place = joint_actions, 0

    @property
    def shape(self):
        return self.joint_actions.shape[1:]

    def sample(self, rng, count):  # noqa: ARG002
        self.place += count
        return self.joint_actions[self.place - count : self.place]

    def size_probabilities(self):
        raise NotImplementedError

    meeting_probabilities = size_probabilities


def sums(source, policy, samples, rng, *, aware=False):
    n, k = source.game.n_agents, source.game.n_coalitions
    found = np.zeros((3, k, n, n, n + 1) if aware else (3, k, n, n))
    for batch in Simulation(source.model, policy, source.game, rng).batches(samples):
        size = (batch.joined.sum(axis=1)[batch.sample, batch.coalition],) if aware else ()
        for power in range(3):
            np.add.at(found[power], (batch.coalition, batch.agent, batch.partner, *size), batch.utility**power)
    return found + np.swapaxes(found, 2, 3)


def evidence_of(source, found):
    names = (source.game.agents, source.game.coalitions)
    return PairEvidence(
        PairEstimate.from_sums(Aware() if found.ndim == 5 else SizeFree(), *found, Bounds(*source.model.utility_range)),
        names=names,
    )


def learnt(source, evidence, rng):
    return best_pure_profile(evidence.game(source.game.actions), rng, starts=16).strategy


def played(plan):
    return np.concatenate([np.repeat(one.strategy.sets[None], one.times, axis=0) for one in plan.plan])


def small(seed=0, n=3, k=2, *, seen=20):
    """Evidence about a small game, a profile, and the spaces."""
    rng = np.random.default_rng(seed)
    count = rng.integers(2, seen, (k, n, n)).astype(float)
    mean = rng.uniform(-0.5, 0.5, (k, n, n))
    count, mean = np.triu(count, 1), np.triu(mean, 1)
    count, mean = count + np.swapaxes(count, 1, 2), mean + np.swapaxes(mean, 1, 2)
    squares = count * (mean**2 + 0.1)
    spaces = ActionSpaces.shared(exactly_one(k), n)
    profile = Strategy.pure(spaces.sample(rng, 1)[0])
    return (
        PairEvidence(PairEstimate.from_sums(SizeFree(), count, count * mean, squares, Bounds(-1.0, 1.0))),
        profile,
        spaces,
    )


def sized(seed=0, n=3, k=2, *, seen=20):
    """The same where utilities may depend on size."""
    rng = np.random.default_rng(seed)
    evidence, profile, spaces = small(seed, n, k, seen=seen)
    count = rng.integers(0, seen, (k, n, n, n + 1)).astype(float)
    count[..., :2] = 0
    count = (count + np.swapaxes(count, 1, 2)) * ~np.eye(n, dtype=bool)[None, :, :, None]
    mean = evidence.estimate.moments.mean[..., None] * np.linspace(0.5, 1, n + 1)
    return (
        PairEvidence(PairEstimate.from_sums(Aware(), count, count * mean, count * (mean**2 + 0.1), Bounds(-1.0, 1.0))),
        profile,
        spaces,
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_is_certified_now_is_the_certificate(seed):
    """Of pure and of mixed profiles, which have half of delta for the box form too."""
    evidence, profile, spaces = small(seed)
    for strategy in (profile, Strategy.uniform(spaces)):
        now = Outlook(evidence, strategy, spaces, DELTA, fresh=False).now()
        assert now == paired(evidence, strategy, spaces, DELTA).gap > 0


KINDS = pytest.mark.parametrize("kind", [small, sized])


@KINDS
def test_weights_are_the_gradient_of_the_root_forms(kind):
    """Finite differences of sum of w_d (gain_d + kappa_d sqrt(q_d)), with w and kappa held fixed."""
    evidence, profile, spaces = kind(3)
    outlook = Outlook(evidence, profile, spaces, DELTA, fresh=False)
    base = outlook.base + evidence.unknowns.observed(spaces.sample(np.random.default_rng(0), 40), [1] * 40)
    weights = worth_of(outlook, base)
    known = outlook.with_counts(base)
    design = known.design(profile)
    bound, rooms = outlook.bound(known, design), known.rooms(design)
    r2 = known.estimate.bounds.half_range**2
    variance = np.where(base > 0, np.maximum(outlook.variance, 0.01 * r2), r2)
    moves = []
    for i, space in enumerate(spaces.spaces):
        x = space.enumerate() - profile.marginals[i]
        values = bound.at(x[None], np.array([i]))[0]
        moves += [(i, row, value) for row, value in zip(x, values, strict=True) if row.any()]
    values = np.array([value for _, _, value in moves])
    width = moves[values.argmax()][2] - moves[values.argmax()][1] @ rooms[moves[values.argmax()][0]]
    soft = np.exp((values - values.max()) / (width / 40))
    soft /= soft.sum()

    def form(i, row, count):
        """Sum over partners who are there, at the size that agent i finds where sizes count."""
        total = 0.0
        for l, j in product(range(len(row)), range(spaces.n_agents)):
            if j != i and profile.marginals[j, l]:
                size = int(profile.marginals[:, l].sum() - profile.marginals[i, l]) + 1
                cell = (l, i, j) if count.ndim == 3 else (l, i, j, size)
                total += row[l] ** 2 * variance[cell] / max(count[cell], 0.5)
        return total

    def value(count):
        total = 0.0
        for share, (i, row, bounded) in zip(soft, moves, strict=True):
            gain, now = row @ rooms[i], form(i, row, base)
            total += share * (gain + (bounded - gain) * (np.sqrt(form(i, row, count) / now) if now else 1.0))
        return total

    tried = [place for place in np.argwhere(base >= 1).tolist() if place[1] < place[2]]
    assert len(tried) >= 4
    for l, i, j, *size in tried:
        step = np.zeros_like(base)
        step[(l, i, j, *size)] = step[(l, j, i, *size)] = 1e-4
        slope = (value(base - step) - value(base + step)) / 2e-4
        assert weights.pairs[(l, i, j, *size)] == pytest.approx(slope, rel=1e-4, abs=1e-9)
    assert weights.value == pytest.approx(float(soft @ values))


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_the_best_joint_action_is_found_and_bounded(kind, seed):
    evidence, profile, spaces = kind(seed, n=4)
    outlook = Outlook(evidence, profile, spaces, DELTA, fresh=False)
    pairs = worth_of(outlook, outlook.base).pairs

    def worth(row):
        return float((evidence.unknowns.observed(row[None], [1]) * pairs).sum() / 2)

    most = max(worth(row) for block in spaces.joint_actions() for row in block)
    assert most <= most_per_sample(pairs, spaces) + 1e-12
    found = best_joint_action(outlook, pairs, np.random.default_rng(0), [])
    assert worth(found) == pytest.approx(most)


def test_observations_are_those_of_a_simulated_log():
    rng = np.random.default_rng(0)
    source = Simulation.draw(4, 3, rng, actions_per_agent=4)
    joint = source.game.actions.sample(rng, 30)
    for kind in (small, sized):
        found = kind(0, 4, 3)[0].unknowns.observed(joint, [1] * 30)
        aware = found.ndim == 4
        np.testing.assert_array_equal(found, sums(source, Replay(joint), 30, rng, aware=aware)[0])


def test_variances_differ_by_as_much_as_is_not_chance():
    rng = np.random.default_rng(0)

    def shown(deviation, count):
        values = both_orders(deviation * rng.normal(size=(count, 2, 8, 8)))
        moments = np.full((2, 8, 8), float(count)), values.sum(axis=0), (values**2).sum(axis=0)
        moments = [one * ~np.eye(8, dtype=bool) for one in moments]
        known = PairEvidence(PairEstimate.from_sums(SizeFree(), *moments, Bounds(-1.0, 1.0)))
        spaces = ActionSpaces.shared(exactly_one(2), 8)
        outlook = Outlook(known, Strategy.pure(spaces.sample(rng, 1)[0]), spaces, DELTA, fresh=False)
        return outlook.variance[:, ~np.eye(8, dtype=bool)], known.estimate.moments.variance[:, ~np.eye(8, dtype=bool)]

    found, _ = shown(0.3, 6)
    assert found == pytest.approx(0.09, rel=0.25)  # raw ones are off by 60 % on average
    unlike = both_orders(rng.choice([0.05, 0.5], (2, 8, 8)))
    found, raw = shown(unlike, 200)
    assert found == pytest.approx(raw, rel=0.1, abs=0.005)


@pytest.mark.parametrize("symmetric", [True, False])
def test_both_orders_of_a_pair_are_one_unknown_or_two(symmetric):
    evidence, profile, spaces = small(0)
    moments = evidence.estimate.moments
    count, mean = moments.count, moments.mean + (0 if symmetric else np.triu(np.full((3, 3), 0.1)))
    estimate = PairEstimate.from_sums(
        SizeFree(), count, count * mean, count * (mean**2 + 0.1), Bounds(-1.0, 1.0), symmetric=symmetric
    )
    outlook = Outlook(PairEvidence(estimate), profile, spaces, DELTA, fresh=False)
    assert outlook.symmetric is symmetric
    found = outlook.with_counts(count, np.random.default_rng(0)).estimate.moments
    assert found.events == estimate.moments.events
    assert np.allclose(found.mean, np.swapaxes(found.mean, 1, 2)) is symmetric


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_a_plan_is_close_to_the_best_of_all_plans(kind, seed):
    evidence, profile, spaces = kind(seed, seen=80)
    samples, rng = 3, np.random.default_rng(0)
    plan = plan_collection(evidence, profile, spaces, DELTA, samples, rng)
    joint = np.concatenate(list(spaces.joint_actions()))
    outlook = Outlook(evidence, profile, spaces, DELTA, fresh=False)

    def expected(actions):
        known = outlook.with_counts(outlook.base + evidence.unknowns.observed(actions, [1] * len(actions)))
        return paired(known, profile, spaces, DELTA).gap

    best = min(expected(joint[list(chosen)]) for chosen in combinations_with_replacement(range(len(joint)), samples))
    assert expected(played(plan)) <= best + 0.2 * (plan.now - best) + 1e-9  # greedy gets most of it
    assert plan.now == pytest.approx(paired(evidence, profile, spaces, DELTA).gap)
    assert plan.least <= plan.predicted <= plan.now
    assert spaces.contains(played(plan)[0]).all()


def test_what_needs_to_be_seen_is_named_first():
    evidence, _, spaces = small(1, n=4)
    moments = evidence.estimate.moments
    together = Strategy.pure([[1, 0], [1, 0], [0, 1], [0, 1]])
    count = moments.count.copy()
    count[0, 0, 1] = count[0, 1, 0] = 0
    unseen = PairEvidence(
        PairEstimate.from_sums(SizeFree(), count, count * moments.mean, count * 1.0, Bounds(-1.0, 1.0))
    )
    plan = plan_collection(unseen, together, spaces, DELTA, 5, np.random.default_rng(0))
    first = plan.needs[0]
    assert (first.agent, first.partner, first.coalition, first.seen) == ("1", "2", "1", 0)
    assert first.planned > 0
    assert plan.coalitions[0][0] == "1"
    assert sum(share for _, share in plan.coalitions) == pytest.approx(1)
    content = plan.to_json()
    assert content["pairs"][0]["worth"] >= content["pairs"][-1]["worth"]
    assert sum(one["times"] for one in content["plan"]) == 5


def test_interchangeable_coalitions():
    rng = np.random.default_rng(2)
    count = np.full((1, 4, 4), 6.0) * ~np.eye(4, dtype=bool)
    mean = np.zeros_like(count)
    estimate = PairEstimate.from_sums(Pooled(), count, count * mean, count * 0.2, Bounds(-1.0, 1.0), n_coalitions=2)
    spaces = ActionSpaces.shared(exactly_one(2), 4)
    profile = Strategy.pure([[1, 0]] * 2 + [[0, 1]] * 2)
    plan = plan_collection(PairEvidence(estimate), profile, spaces, DELTA, 20, rng)
    assert plan.predicted < plan.now
    assert {need.coalition for need in plan.needs} == {"any"}


@pytest.mark.slow
def test_more_agree_with_less_and_targets_are_met():
    evidence, profile, spaces = small(2)
    rng = np.random.default_rng(0)
    few, many = (plan_collection(evidence, profile, spaces, DELTA, m, rng).predicted for m in (12, 600))
    assert many < few
    needed, plan = samples_needed(evidence, profile, spaces, DELTA, few, rng)
    assert plan.predicted <= 1.1 * few  # other draws of what may happen
    assert plan.samples == needed
    assert 3 <= needed <= 24
    assert samples_needed(evidence, profile, spaces, DELTA, -1.0, rng, most=16)[0] is None


def test_large_action_spaces_are_not_listed():
    n, k = 4, 14
    rng = np.random.default_rng(0)
    count = np.full((k, n, n), 9.0) * ~np.eye(n, dtype=bool)
    evidence = PairEvidence(PairEstimate.from_sums(SizeFree(), count, count * 0.1, count * 0.3, Bounds(-1.0, 1.0)))
    spaces = ActionSpaces.shared(UpTo(k, k), n)
    plan = plan_collection(evidence, Strategy.pure(spaces.sample(rng, 1)[0]), spaces, DELTA, 10, rng)
    assert plan.predicted < plan.now
    assert all(need.planned > 0 for need in plan.needs[:20])


def test_what_is_not_worked_out_is_refused():
    evidence, profile, spaces = small()
    dependent = replace(evidence, estimate=replace(evidence.estimate, noise=SampleNoise(None)))
    with pytest.raises(InputError, match="independent"):
        plan_collection(dependent, profile, spaces, DELTA, 5, np.random.default_rng(0))
    shared = PairEstimate.from_sums(
        Anonymous(), np.zeros((2, 3, 3, 4)), np.zeros((2, 3, 3, 4)), None, Bounds(-1.0, 1.0)
    )
    with pytest.raises(InputError, match="semi-bandit"):
        plan_collection(PairEvidence(shared), profile, spaces, DELTA, 5, np.random.default_rng(0))


@pytest.fixture(scope="module")
def firm():
    source, rng = consulting_firm().simulation, np.random.default_rng(0)
    first = sums(source, source.policy, 240, rng)
    return source, first, learnt(source, evidence_of(source, first), rng), rng


@pytest.mark.parametrize("fresh", [False, True])
def test_predictions_come_true_and_plans_halve_the_samples(firm, fresh):
    """On the consulting firm: as predicted, and less than twice as many random samples certify."""
    source, first, profile, rng = firm
    spaces = source.game.actions
    known = evidence_of(source, first)

    def certificate(policy, samples):
        new = sums(source, policy, samples, rng)
        found = evidence_of(source, new if fresh else first + new)
        return (fixed if fresh else paired)(found, profile, spaces, 0.01).gap

    plan = plan_collection(known, profile, spaces, 0.01, 150, rng, fresh=fresh)
    real = np.mean([certificate(Replay(played(plan)), 150) for _ in range(3)])
    if fresh:  # how good the first log was to this profile is not known to it
        assert 0.9 * plan.likely[0] <= real <= 1.1 * plan.likely[1]
    else:
        assert plan.predicted == pytest.approx(real, rel=0.1)
    random = [certificate(Independent(spaces), 300) for _ in range(3)]
    assert real < min(random)
    assert plan.random > plan.predicted


@pytest.mark.slow
@pytest.mark.parametrize(("model", "samples"), [("gaussian", 300), ("size-gaussian", 300), ("uniform", 30)])
def test_predictions_on_drawn_games(model, samples):
    """Mean over games, where how lucky each log was averages out; also where all pairs are equal and few were seen."""
    predicted, real, aware = [], [], model.startswith("size")
    for seed in range(24):
        rng = np.random.default_rng(seed)
        source = Simulation.draw(4, 3, rng, actions_per_agent=5, model=model)
        first = sums(source, source.policy, samples, rng, aware=aware)
        known = evidence_of(source, first)
        profile, spaces = learnt(source, known, rng), source.game.actions
        joint = spaces.sample(rng, 300)
        added = known.unknowns.observed(joint, [1] * len(joint))
        predicted.append(predict(known, profile, spaces, DELTA, added, rng))
        new = sums(source, Replay(joint), 300, rng, aware=aware)
        real.append(paired(evidence_of(source, first + new), profile, spaces, DELTA).gap)
    assert np.mean(predicted) == pytest.approx(np.mean(real), rel=0.1)


def two_bandit_logs(folder, seed, samples, **options):
    """Return a simulation, its first log's statistics, further joint actions and the statistics of these."""
    rng = np.random.default_rng(seed)
    source = Simulation.draw(5, 3, rng, actions_per_agent=5)
    joint_actions = source.game.actions.sample(rng, samples)
    source.write_log(folder / f"first{seed}", samples, feedback="bandit")
    Simulation(source.model, Replay(joint_actions), source.game, rng).write_log(
        folder / f"more{seed}", samples, feedback="bandit"
    )
    logs = [coterie.read_log(folder / f"{name}{seed}") for name in ("first", "more")]
    return source, joint_actions, *(Statistics.of(log, parts=(1.0,), **options).whole for log in logs)


@pytest.mark.parametrize("options", [{}, {"noise": "samples"}])
@pytest.mark.parametrize("fresh", [False, True])
def test_what_totals_will_tell_is_known_exactly(tmp_path, options, fresh):
    source, joint_actions, first, new = two_bandit_logs(tmp_path, 1, 60, **options)
    rows, times = np.unique(joint_actions, axis=0, return_counts=True)
    profile = source.game.strategy(joint_actions[0])
    outlook = _TotalOutlook(evidence_from(first), profile, source.game.actions, DELTA, fresh, None)
    after = evidence_from(new if fresh else first.merged(new, first.setting)).estimate
    np.testing.assert_allclose(outlook.after(rows, times * 1.0), after.gram, atol=1e-6)


def test_totals_by_size_are_refused(tmp_path):
    source, joint_actions, first, _ = two_bandit_logs(tmp_path, 1, 60)
    by_size = replace(evidence_from(first), unknowns=Aware())
    profile = source.game.strategy(joint_actions[0])
    with pytest.raises(InputError, match="sizes are ignored"):
        plan_totals(by_size, profile, source.game.actions, DELTA, 10, np.random.default_rng(0))


def bandit_case(folder, seed, samples=120):
    source, _, first, _ = two_bandit_logs(folder, seed, samples)
    known, rng = evidence_from(first), np.random.default_rng(seed)
    return source, first, known, learnt(source, known, rng), rng


def test_what_possible_outcomes_prove_is_solved_for_once(tmp_path, monkeypatch):
    """They differ in utilities, and not in how well profiles are known."""
    source, _, known, profile, rng = bandit_case(tmp_path, 0)
    outlook = _TotalOutlook(known, profile, source.game.actions, DELTA, False, None)
    projected, project = [], AgentRidge.project

    def counted(self, agent, directions):
        projected.append(agent)
        return project(self, agent, directions)

    monkeypatch.setattr(AgentRidge, "project", counted)
    outlook.predicted(source.game.actions.sample(rng, 4), np.ones(4), rng)
    assert sorted(projected) == list(range(source.game.n_agents))


@pytest.mark.parametrize("fresh", [False, True])
def test_what_a_total_is_worth(tmp_path, fresh):
    """The gradient by finite differences, the best joint action and the bound by enumeration."""
    source, _, known, profile, rng = bandit_case(tmp_path, 0)
    spaces = ActionSpaces.shared(ExplicitSets(source.game.actions.spaces[0].enumerate()[:3]), 5)
    profile = Strategy.pure(spaces.sample(rng, 1)[0], profile.agents, profile.coalitions)
    outlook = _TotalOutlook(known, profile, spaces, DELTA, fresh, None)
    gram = outlook.after(spaces.sample(rng, 30), np.ones(30))
    rows, _ = outlook.worth(gram)
    evidence = outlook.expected(gram)
    design = evidence.design(profile)
    bound = outlook._sought.bound(evidence, design)
    listed, _ = close_deviations(bound, evidence.rooms(design), profile, spaces)
    penalty = known.estimate.penalty

    def widths(matrices):
        """Sum of w_d width_d, each width in proportion to the root of c' G^-1 c."""
        total = 0.0
        for i, x, width in listed:
            c = x @ directions(design, i)
            now, then = (
                np.einsum("ad,de,ae->a", c, np.linalg.inv(one[i] + penalty * np.eye(len(one[i]))), c)
                for one in (gram, matrices)
            )
            total += float((width * np.sqrt(then / now))[now > 0].sum())
        return total

    joint = np.concatenate(list(spaces.joint_actions()))
    worth = outlook.worth_of_samples(rows, joint)
    for row in (0, 100, int(worth.argmax())):
        sample = [new - old for new, old in zip(outlook.after(joint[[row]], np.ones(1)), outlook.base, strict=True)]
        step = [tuple(g + sign * 1e-4 * one for g, one in zip(gram, sample, strict=True)) for sign in (-1, 1)]
        assert worth[row] == pytest.approx((widths(step[0]) - widths(step[1])) / 2e-4, rel=1e-3, abs=1e-7)
    found = outlook.best_joint_action(rows, rng, [])
    assert outlook.worth_of_samples(rows, found[None])[0] >= 0.95 * worth.max()
    assert worth.max() <= most_per_sample(outlook.pairs(rows), spaces) + 1e-12


@pytest.mark.slow
def test_plans_for_totals(tmp_path):
    """Better than collecting at random, and about as predicted on average over games."""
    found = []
    for seed in range(2):
        source, first, known, profile, rng = bandit_case(tmp_path, seed, 200)
        spaces = source.game.actions
        plan = plan_totals(known, profile, spaces, DELTA, 100, rng, variance=noise_variance(first))
        assert 0 <= plan.least <= plan.predicted <= plan.now
        assert sum(one.times for one in plan.plan) == 100
        certificates = []
        for name, policy in (("planned", Replay(played(plan))), ("random", Independent(spaces))):
            folder = tmp_path / f"{name}{seed}"
            Simulation(source.model, policy, source.game, rng).write_log(folder, 100, feedback="bandit")
            new = Statistics.of(coterie.read_log(folder), parts=(1.0,)).whole
            certificates.append(paired(evidence_from(first.merged(new, first.setting)), profile, spaces, DELTA).gap)
        found.append((plan.predicted, *certificates))
    predicted, real, random = np.mean(found, axis=0)
    assert real < 0.9 * random
    assert predicted == pytest.approx(real, rel=0.25)


def test_the_variance_of_a_pair_shows_in_totals(tmp_path):
    rng = np.random.default_rng(0)
    source = Simulation.draw(4, 2, rng, actions_per_agent=3)
    model = Normal(source.model.mu * 0.2, np.full_like(source.model.mu, 0.1))
    game = model.game(source.game.actions, source.game.agents, source.game.coalitions)
    Simulation(model, source.policy, game, rng).write_log(tmp_path / "log", 400, feedback="bandit")
    assert noise_variance(Statistics.of(coterie.read_log(tmp_path / "log"), parts=(1.0,)).whole) == pytest.approx(
        0.01, rel=0.15
    )
    source.write_log(tmp_path / "short", 1, feedback="bandit")
    assert noise_variance(Statistics.of(coterie.read_log(tmp_path / "short"), parts=(1.0,)).whole) is None


def test_plans_for_other_totals_are_refused(tmp_path):
    source, _, first, _ = two_bandit_logs(tmp_path, 1, 60, joint=True)
    profile = Strategy.pure(
        source.game.actions.sample(np.random.default_rng(0), 1)[0], *[source.game.agents, source.game.coalitions]
    )
    for known, message in (
        (evidence_from(first), "agent by agent"),
        (replace(evidence_from(first), unknowns=Aware()), "sizes"),
    ):
        with pytest.raises(InputError, match=message):
            plan_totals(known, profile, source.game.actions, DELTA, 5, np.random.default_rng(0))


@pytest.mark.parametrize("samples", [10**20, 10**400])
def test_more_samples_than_anybody_collects_are_refused(samples):
    with pytest.raises(InputError, match="collect: expected at most 1,000,000,000,000"):
        aim_in(None, samples, None, delta=0.1, fresh=False, rng=None)
