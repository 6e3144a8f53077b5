"""Certificates against their formulas, against each other, and against the truth they promise."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, Game, InputError, Strategy
from coterie.certificates.holdout import Sealed, fixed, hold_out
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired, union_log_terms
from coterie.certificates.paper import paper
from coterie.certificates.widths import box_rooms
from coterie.estimate.intervals import Bounds, Moments
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree
from coterie.game.actions import ExplicitSets
from random_games import drawn_games, random_space

RANGE = Bounds(-1.0, 1.0)


def evidence_of(game, rng, samples=200, *, unseen=0.2):
    """Semi-bandit moments as +-1 draws around a size-free game's means, some pairs never seen."""
    n, k = game.n_agents, game.n_coalitions
    means = np.stack([game.utilities.means.matrix(l) for l in range(k)])
    count = rng.integers(1, samples, (k, n, n)) * (rng.random((k, n, n)) > unseen)
    count = np.triu(count, 1) + np.swapaxes(np.triu(count, 1), 1, 2)
    ups = np.triu(rng.binomial(count, (1 + np.clip(means, -1, 1)) / 2), 1)
    ups = ups + np.swapaxes(ups, 1, 2)
    count = count.astype(float)
    return PairEvidence(PairEstimate.from_sums(SizeFree(), count, 2.0 * ups - count, count.copy(), RANGE))


def free_games(**options):
    return drawn_games(stores=("dense",), sizes=("free",), symmetric=(True,), **options)


@settings(max_examples=100, deadline=None)
@given(free_games(), st.integers(0, 2**32 - 1))
def test_paired_box_is_its_formula_and_never_above_paper_s_form(drawn, seed):
    evidence = evidence_of(drawn.game, np.random.default_rng(seed))
    strategy, spaces = drawn.strategy, drawn.game.actions
    design = evidence.design(strategy)
    value = paired(evidence, strategy, spaces, 0.1, form="box")
    (upper, lower), p = box_rooms(evidence, design, 0.1), strategy.marginals
    best, surrogate = 0.0, 0.0
    for i, space in enumerate(spaces.spaces):
        for action in space.enumerate():
            joined = sum((1 - p[i, l]) * upper[i, l] for l in np.flatnonzero(action))
            left = sum(p[i, l] * lower[i, l] for l in np.flatnonzero(~action))
            best = max(best, joined - left)
            surrogate = max(surrogate, action @ upper[i] - p[i] @ lower[i])
    # The range bound may be smaller than the box for rooms with few data.
    assert value.gap <= best + 1e-9
    assert value.gap == pytest.approx(best, abs=1e-9) or value.gap < best
    assert best <= surrogate + 1e-9, "pairing never adds uncertainty under the same intervals"


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(free_games(), st.integers(0, 2**32 - 1))
def test_a_box_certificate_bounds_every_game_within_its_intervals(drawn, seed):
    """Brute force: draw any means inside the intervals; the gap never exceeds the certificate."""
    rng = np.random.default_rng(seed)
    evidence = evidence_of(drawn.game, rng)
    lower, upper = evidence.interval_arrays(0.1)
    unseen = evidence.estimate.moments.unseen > 0
    lower, upper = np.where(unseen, -1.0, lower), np.where(unseen, 1.0, upper)
    value = paired(evidence, drawn.strategy, drawn.game.actions, 0.1, form="box").gap
    for _ in range(5):
        mix = rng.choice([0.0, 1.0, rng.random()], lower.shape)
        means = np.triu(lower + mix * (upper - lower), 1)
        game = Game(means + np.swapaxes(means, 1, 2), drawn.game.actions)
        assert game.gap(drawn.strategy) <= value + 1e-9


@settings(max_examples=60, deadline=None)
@given(free_games(), st.integers(0, 2**32 - 1))
def test_witnesses_add_up(drawn, seed):
    evidence = evidence_of(drawn.game, np.random.default_rng(seed))
    certificates = [
        paired(evidence, drawn.strategy, drawn.game.actions, 0.1),
        paper(evidence, drawn.strategy, drawn.game.actions, 0.1),
        fixed(evidence, drawn.strategy, drawn.game.actions, 0.1),
    ]
    for found in certificates:
        assert found.gap == pytest.approx(max(found.per_agent.values()))
        assert found.gap >= 0
        if found.worst is not None:
            assert max(found.worst.bound, 0.0) == pytest.approx(found.gap, abs=1e-9)
            assert found.per_agent[found.worst.agent] == found.gap
            assert set(found.alternatives) <= set(drawn.strategy.agents)
        data = found.to_json()
        assert data["assumes"][0] == "what a pair gets on average does not depend on the size of its team"
        assert data["assumes"][3] == "what a pair gets lies between -1 and 1"
        assert "nobody can gain more than" in str(found)


def test_declared_scales_are_assumed():
    count = np.full((1, 2, 2), 9.0) * ~np.eye(2, dtype=bool)
    for low, said in (
        (-np.inf, "scale 2 around its mean"),
        (-3.0, "scale 2 around its mean, and means lie between -3"),
    ):
        evidence = PairEvidence(
            PairEstimate.from_sums(SizeFree(), count, 0 * count, count, Bounds(low, -low, sigma=2.0))
        )
        assert said in evidence.assumptions()[3]
        assert np.isfinite(low) == ("between" in evidence.assumptions()[3])


def test_the_worst_witness_names_the_pairs_in_doubt():
    """One pair was seen once, all others often: that pair is named first."""
    count = np.full((2, 4, 4), 1000.0) * ~np.eye(4, dtype=bool)
    count[1, 0, 3] = count[1, 3, 0] = 1.0
    evidence = PairEvidence(PairEstimate.from_sums(SizeFree(), count, 0 * count, count, RANGE))
    game = Game(np.zeros((2, 4, 4)), "one")
    strategy = game.strategy([[1, 0], [0, 1], [0, 1], [0, 1]])
    found = fixed(evidence, strategy, game.actions, 0.1)
    assert found.worst.agent in {"1", "4"}
    assert {found.worst.agent, found.worst.doubts[0].partner} == {"1", "4"} or found.worst.agent == "1"
    first = found.alternatives["1"]
    assert first.deviation == ("2",)
    doubt = found.worst.doubts[0]
    assert (doubt.coalition, doubt.error) == ("2", pytest.approx(1.0))
    assert found.to_json()["worst"]["doubts"][0]["partner"] == doubt.partner
    errors = evidence.doubts(evidence.design(strategy), 0, np.array([-1.0, 1.0]))
    np.testing.assert_allclose(errors[1], [0, 1000**-0.5, 1000**-0.5, 1.0])


def test_nobody_has_a_choice():
    spaces = ActionSpaces.shared(ExplicitSets(np.array([[True]])), 2)
    evidence = evidence_of(Game(np.zeros((1, 2, 2)), spaces), np.random.default_rng(0))
    found = fixed(evidence, Strategy.pure([[1], [1]]), spaces, 0.1)
    assert found.gap == 0
    assert found.worst is None
    assert found.to_json()["worst"] is None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_union_pays_for_every_deviation_vector(seed):
    """Brute force: list the deviation vectors of all pure profiles; the shares add up to at most delta."""
    rng = np.random.default_rng(seed)
    k, n = 2, 3
    spaces = ActionSpaces(tuple(random_space(rng, k) for _ in range(n)))
    shares: dict[tuple[int, bytes], float] = {}
    for chosen in product(*(space.enumerate() for space in spaces.spaces)):
        profile = Strategy.pure(np.array(chosen))
        terms = union_log_terms(profile, spaces, 0.1)
        for i, space in enumerate(spaces.spaces):
            for row, action in enumerate(space.enumerate()):
                change = action.astype(int) - profile.sets[i]
                if not change.any():
                    continue
                vector = change[:, None] * profile.sets.T
                vector[:, i] = 0
                key = (i, vector.tobytes())
                # One event per vector: the smallest width is the one that must be paid for.
                shares[key] = max(shares.get(key, 0.0), math.exp(-terms[i][row]))
    assert sum(shares.values()) <= 0.1 + 1e-9


def test_large_spaces_pay_by_counting():
    from coterie import any_subset

    spaces = ActionSpaces.shared(any_subset(200), 4)
    term = union_log_terms(Strategy.pure(np.eye(4, 200)), spaces, 0.1)
    assert term == pytest.approx(4 * 200 * math.log(2) + math.log(10), rel=1e-6)


def test_sets_outside_the_action_spaces_are_not_paid_for_by_the_union():
    """Lucky partners outside their spaces: only the box form covers them."""
    rng = np.random.default_rng(0)
    n, false = 12, 0
    game = Game(np.zeros((2, n, n)), [["1"]])
    spaces = ActionSpaces((ExplicitSets(np.eye(2, dtype=bool)), *[ExplicitSets(np.eye(2, dtype=bool)[:1])] * (n - 1)))
    for _ in range(30):
        evidence = evidence_of(game, rng, 60, unseen=0)
        means = evidence.estimate.moments.mean
        sets = np.zeros((n, 2), dtype=bool)
        sets[:, 0] = True
        # Everybody whom agent 1 seems to lose with moves to where she could go: outside their spaces.
        sets[1:, 1], sets[1:, 0] = means[1, 0, 1:] < 0, means[1, 0, 1:] >= 0
        sets[0] = [True, False]
        found = paired(evidence, Strategy.pure(sets), spaces, 0.1)
        truth = Game(np.zeros((2, n, n)), spaces).gap(Strategy.pure(sets))
        false += truth > found.gap
        assert found.gap == paired(evidence, Strategy.pure(sets), spaces, 0.05, form="box").gap
    assert false == 0


def test_a_strategy_of_another_log_is_refused():
    game, learning, _ = two_parts()
    named = replace(learning, names=(("a", "b", "c", "d"), ("1", "2", "3")))
    with pytest.raises(InputError, match="are not the log's"):
        paired(named, game.strategy(game.actions.sample(np.random.default_rng(0), 1)[0]), game.actions, 0.1)


def two_parts(seed=0, samples=400):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(-0.9, 0.9, (3, 4, 4)), 1)
    game = Game(upper + np.swapaxes(upper, 1, 2), "any")
    return game, evidence_of(game, rng, samples, unseen=0), evidence_of(game, rng, samples, unseen=0)


def test_what_the_learning_part_knows_helps():
    game, learning, certifying = two_parts(samples=4000)
    strategy = max(game.stable_profiles(), key=game.potential)
    plain = fixed(certifying, strategy, game.actions, 0.01)
    sharpened = fixed(certifying, strategy, game.actions, 0.01, learning=learning)
    assert sharpened.worst.bound < plain.worst.bound


def test_who_surely_stays_is_a_statement_about_all():
    """Everybody on the list has a bound of at most 0 at a share of delta each."""
    game, learning, certifying = two_parts(samples=4000)
    strategy = max(game.stable_profiles(), key=game.potential)
    for found, together in (
        (
            fixed(certifying, strategy, game.actions, 0.04, learning=learning),
            fixed(replace(certifying), strategy, game.actions, 0.01, learning=learning),
        ),
    ):
        stays = tuple(agent for agent, gap in together.per_agent.items() if gap == 0)
        assert found.surely_stay == stays
        assert set(stays) <= {agent for agent, gap in found.per_agent.items() if gap == 0}


def test_certifying_utilities_cannot_reach_the_choice():
    """The learner sees the learning part and counts; replacing certifying utilities changes no choice."""
    game, learning, certifying = two_parts()
    spaces = game.actions
    seen = []

    def learn(part, sealed):
        ahead = sealed.preview(part)
        profiles = sorted(game.stable_profiles(), key=lambda s: fixed(ahead, s, spaces, 0.1).worst.bound)
        seen.append([profile.sets.tobytes() for profile in profiles[:3]])
        return profiles[:3]

    strategy, found = hold_out(learning, certifying, learn, spaces, 0.1)
    assert game.gap(strategy) <= found.gap
    moments = certifying.estimate.moments
    turned = Moments(moments.count, -moments.mean, moments.variance, moments.events)
    other = PairEvidence(PairEstimate(SizeFree(), turned, RANGE, 4, 3))
    hold_out(learning, other, learn, spaces, 0.1)
    assert seen[0] == seen[1]


def test_a_sealed_part_opens_once_and_charges_for_every_candidate():
    game, learning, certifying = two_parts()
    profiles = game.stable_profiles()[:1] * 4
    sealed = Sealed(certifying)
    assert not [name for name in vars(sealed) if not name.startswith("_Sealed__")]
    four = sealed.certify(profiles, None, game.actions, 0.1)
    one = Sealed(replace(certifying)).certify(profiles[:1], None, game.actions, 0.1)
    assert four[0].worst.bound > one[0].worst.bound
    assert four[0].delta == 0.1
    with pytest.raises(InputError, match="used for certifying already"):
        sealed.certify(profiles, None, game.actions, 0.1)
    # The mark is on the evidence: neither a new seal nor the back door opens it again.
    for again in (
        lambda: Sealed(certifying).certify(profiles, None, game.actions, 0.1),
        lambda: hold_out(learning, certifying, lambda *_: profiles, game.actions, 0.1),
        lambda: fixed(certifying, profiles[0], game.actions, 0.1),
    ):
        with pytest.raises(InputError, match="used for certifying already"):
            again()
    with pytest.raises(InputError, match="yielded no profile"):
        hold_out(learning, replace(certifying), lambda *_: [], game.actions, 0.1)

    def peek(part, sealed):
        sealed.certify(profiles, part, game.actions, 0.1)
        return profiles

    with pytest.raises(InputError, match="used for certifying already"):
        hold_out(learning, replace(certifying), peek, game.actions, 0.1)


def test_more_data_certify_exact_stability():
    game, _, certifying = two_parts(samples=200_000)
    strategy = max(game.stable_profiles(), key=game.potential)
    assert fixed(certifying, strategy, game.actions, 0.01).gap == 0
    assert paired(certifying, strategy, game.actions, 0.01).gap == 0
    assert paper(certifying, strategy, game.actions, 0.01).gap > 0, "the paper's never reaches 0"
