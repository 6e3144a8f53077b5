"""Intervals of values and differences: formulas by direct sums, netting, unions, and whether they hold."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.values import (
    Promise,
    ends_of_people,
    ends_of_sum,
    promises_for_all,
    promises_for_fixed,
)
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Aware, Pooled, PooledAware, SizeFree
from coterie.estimate.value_design import summed, value_design
from coterie.game.actions import ActionSpaces, UpTo
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, growing
from coterie.simulate.hostile import signs
from coterie.simulate.policies import Independent

RANGE = Bounds(-1.0, 1.0)


def any_profiles(rng, n, k, count=2):
    return [rng.random((n, k)) < 0.5 for _ in range(count)]


def weights(profile, value):
    """The coefficient of d_ij^l in everybody's value, one by one, shape (k, n, n)."""
    n, k = profile.shape
    c = np.zeros((k, n, n))
    for l in range(k):
        members = np.flatnonzero(profile[:, l])
        for i, j in itertools.permutations(members, 2):
            c[l, i, j] = 1.0 if value == "total" else 1 / (len(members) - 1)
    return c


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([SizeFree(), Pooled(), Aware(), PooledAware()]),
    st.sampled_from(["total", "average"]),
    st.booleans(),
    st.integers(2, 5),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_a_difference_is_one_combination(unknowns, value, symmetric, n, k, seed):
    """sum c_e theta_e = value(B) - value(A) for any theta, for each person and for any of them together."""
    rng = np.random.default_rng(seed)
    shape = (1 if unknowns.is_pooled else k, n, n, *((n + 1,) if unknowns.by_size else ()))
    theta = rng.normal(size=shape)
    if symmetric:
        theta = theta + np.swapaxes(theta, 1, 2)
    before, after = any_profiles(rng, n, k)
    game = unknowns.game(theta, ActionSpaces.parse("any", n, k)).valued(value)
    expected = game.values(after) - game.values(before)
    people = value_design(unknowns, [(1.0, after), (-1.0, before)], value)
    assert people.linear(theta) @ [1.0, -1.0] == pytest.approx(expected, abs=1e-9)
    counted = rng.random(n) < 0.7
    together = summed(people, counted, symmetric=symmetric)
    assert together.linear(theta)[0] @ [1.0, -1.0] == pytest.approx(expected[counted].sum(), abs=1e-9)
    # Every unknown stands there once: nothing is squared in pieces.
    pairs = np.sort([together.agent, together.cell[1]], axis=0) if symmetric else (together.agent, together.cell[1])
    keys = list(zip(together.cell[0], *pairs, *together.cell[2:], strict=True))
    assert len(set(keys)) == len(keys)
    same = value_design(unknowns, [(1.0, after), (-1.0, after)], value)
    assert not len(same.weight)


def pair_evidence(rng, n, k, *, symmetric, most=60):
    """Moments of +-1 draws without variances, so that Hoeffding's width is the only one; some pairs never met."""
    count = rng.integers(0, most, (k, n, n))
    means = rng.uniform(-0.8, 0.8, (k, n, n))
    if symmetric:
        count, means = (np.triu(one, 1) + np.swapaxes(np.triu(one, 1), 1, 2) for one in (count, means))
    count[:, np.arange(n), np.arange(n)] = 0
    ups = rng.binomial(count, (1 + means) / 2)
    if symmetric:
        ups = np.triu(ups, 1) + np.swapaxes(np.triu(ups, 1), 1, 2)
    total = 2.0 * ups - count
    estimate = PairEstimate.from_sums(SizeFree(), count.astype(float), total, None, RANGE, symmetric=symmetric)
    return PairEvidence(estimate), means


@settings(max_examples=80, deadline=None)
@given(st.booleans(), st.sampled_from(["total", "average"]), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_pairs_by_direct_sums(symmetric, value, n, seed):
    rng, k, log_term, delta = np.random.default_rng(seed), 2, 3.0, 0.1
    evidence, _ = pair_evidence(rng, n, k, symmetric=symmetric)
    before, after = any_profiles(rng, n, k)
    counted = rng.random(n) < 0.8
    c = weights(after, value) - weights(before, value)
    people = value_design(SizeFree(), [(1.0, after), (-1.0, before)], value)
    moments = evidence.estimate.moments
    lower, upper = evidence.interval_arrays(delta)
    unseen = moments.count == 0
    lower, upper = np.where(unseen, -1.0, lower), np.where(unseen, 1.0, upper)

    def ends(own, seen):
        """Both ends of sum own_e theta_e: the one of fixed directions, and the one of all intervals."""
        scale = np.abs(own).sum()
        middle = (own * moments.mean)[seen].sum()
        worst = np.abs(own)[~seen].sum()
        width = math.sqrt(2 * log_term * (own**2 / np.maximum(moments.count, 1))[seen].sum())
        fixed = max(middle - worst - width, -scale), min(middle + worst + width, scale)
        box = (
            (np.maximum(own, 0) * lower + np.minimum(own, 0) * upper).sum(),
            (np.maximum(own, 0) * upper + np.minimum(own, 0) * lower).sum(),
        )
        return fixed, box

    whole = (c * counted[None, :, None]).copy()
    if symmetric:
        whole = np.triu(whole + np.swapaxes(whole, 1, 2), 1)
    fixed, box = ends(whole, ~unseen)
    slack = {"abs": 1e-6, "rel": 1e-6}
    assert ends_of_sum(evidence, people, counted, Promise(None, log_term)) == pytest.approx(fixed, **slack)
    both = max(fixed[0], box[0]), min(fixed[1], box[1])
    assert ends_of_sum(evidence, people, counted, Promise(delta, log_term)) == pytest.approx(both, **slack)
    low, high = ends_of_people(evidence, people, Promise(delta, np.full((n, 1), log_term)))
    for i in range(n):
        own = np.zeros_like(c)
        own[:, i] = c[:, i]
        fixed, box = ends(own, ~unseen)
        assert (low[i], high[i]) == pytest.approx((max(fixed[0], box[0]), min(fixed[1], box[1])), **slack)


def simulated(seed, feedback, samples=120, n=4, k=2, **reading):
    source = Simulation.draw(n, k, seed)
    _, found = next(growing(source, [samples], feedback, {"": Reading(**reading)}))
    return source.game, evidence_from(found[""].whole), found[""]


@pytest.mark.parametrize("value", ["total", "average"])
def test_totals_by_direct_sums(value):
    """Joint: one direction over edges. Each agent's own: the bounds of all of them added."""
    rng, log_term, delta = np.random.default_rng(3), 2.5, 0.2
    before, after = any_profiles(rng, 4, 2)
    people = value_design(SizeFree(), [(1.0, after), (-1.0, before)], value)
    c = weights(after, value) - weights(before, value)
    everybody = np.ones(4, dtype=bool)
    _, evidence, _ = simulated(5, "bandit", joint=True)
    estimate = evidence.estimate
    gram = estimate.projections + estimate.penalty * np.eye(len(estimate.moment))
    inverse, theta = np.linalg.inv(gram), np.linalg.solve(gram, estimate.moment)
    edges = list(itertools.combinations(range(4), 2))
    direction = np.array([c[l, i, j] + c[l, j, i] for l in range(2) for i, j in edges])
    radius = math.sqrt(
        estimate.penalty * len(theta)
    ) * estimate.bounds.half_width + estimate.bounds.half_range * math.sqrt(
        2 * math.log(1 / delta) + np.linalg.slogdet(gram / estimate.penalty)[1]
    )
    solved, r = inverse @ direction, estimate.bounds.half_range
    noise = r * math.sqrt(2 * log_term * (direction @ solved - estimate.penalty * solved @ solved))
    bias = estimate.penalty * estimate.bounds.half_width * np.abs(solved).sum()
    scale = np.abs(direction).sum()
    for promise, width in (
        (Promise(None, log_term), noise + bias),
        (Promise(delta, 1e9), radius * math.sqrt(direction @ solved)),
    ):
        low, high = ends_of_sum(evidence, people, everybody, promise)
        assert high == pytest.approx(min(direction @ theta + width, scale), abs=1e-9)
        assert low == pytest.approx(max(direction @ theta - width, -scale), abs=1e-9)
    _, evidence, _ = simulated(5, "bandit")
    low, high = ends_of_people(evidence, people, Promise(delta, 1e9))
    found = ends_of_sum(evidence, people, everybody, Promise(delta, 1e9))
    assert found == pytest.approx((max(low.sum(), -scale), min(high.sum(), scale)), abs=1e-9)


@pytest.mark.parametrize("reading", [{"noise": "samples"}, {"noise": "samples", "pool_coalitions": True}])
def test_dependent_pairs_add_their_scales(reading):
    """The width of a sum is that of its people together, and never below that of independent pairs."""
    rng = np.random.default_rng(2)
    _, evidence, _ = simulated(4, "semi-bandit", **reading)
    before, after = any_profiles(rng, 4, 2)
    people = value_design(evidence.unknowns, [(1.0, after), (-1.0, before)], "total")
    everybody = np.ones(4, dtype=bool)
    low, high = ends_of_sum(evidence, people, everybody, Promise(None, 0.2))
    each = ends_of_people(evidence, people, Promise(None, 0.2))
    assert (low, high) == pytest.approx((each[0].sum(), each[1].sum()))
    alike = ends_of_sum(evidence.as_independent, people, everybody, Promise(None, 0.2))
    assert high - low >= alike[1] - alike[0]


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 1)])
def test_the_union_pays_for_everything_that_could_be_asked(n, k):
    """Over all ordered pairs of profiles, all values and all people, probabilities to fail add up to delta / 2."""
    delta = 0.1
    spaces = ActionSpaces((UpTo(k, 1),) * n)
    profiles = [np.array(bits, dtype=bool).reshape(n, k) for bits in itertools.product((0, 1), repeat=n * k)]
    dearest = defaultdict(float)

    def paid(design, stated, kind):
        for i in range(n):
            inside = design.row == i
            form = tuple(zip(*(index[inside] for index in design.cell), design.weight[inside], strict=True))
            dearest[kind, i, form] = max(dearest[kind, i, form], math.exp(-stated.people.log_term[i, 0]))
        form = tuple(zip(design.row, *design.cell, design.weight, strict=True))
        dearest[kind, n, form] = max(dearest[kind, n, form], math.exp(-stated.everybody.log_term))

    for before, after in itertools.product(profiles, repeat=2):
        found = promises_for_all(delta, spaces, (before, after), n)
        paid(value_design(SizeFree(), [(1.0, after), (-1.0, before)], "total"), found.change, "change")
        paid(value_design(SizeFree(), [(1.0, after)], "total"), found.values[1], "value")
    assert 2 * sum(dearest.values()) <= delta / 2
    for kind in ("change", "value"):
        assert 2 * sum(price for (what, *_), price in dearest.items() if what == kind) <= delta / 4


def test_fixed_assignments_pay_for_what_is_stated():
    found = promises_for_fixed(0.1, 7, 3)
    prices = [math.exp(-one.log_term) for one in (found.change.everybody, found.change.people)]
    value = math.exp(-found.values[0].everybody.log_term)
    assert found.values[0] == found.values[1]
    assert 2 * prices[0] + 2 * 3 * prices[1] + 2 * 2 * (7 + 1) * value == pytest.approx(0.1)


def stated_hold(evidence, game, value, profiles, promises):
    """Whether every interval that a comparison states holds in the true game."""
    before, after = profiles
    everybody = np.ones(game.n_agents, dtype=bool)
    for stated, terms in (
        (promises.change, [(1.0, after), (-1.0, before)]),
        (promises.values[0], [(1.0, before)]),
        (promises.values[1], [(1.0, after)]),
    ):
        design = value_design(evidence.unknowns, terms, value)
        truth = sum(sign * game.values(profile) for sign, profile in terms)
        low, high = ends_of_people(evidence, design, stated.people)
        least, most = ends_of_sum(evidence, design, everybody, stated.everybody)
        if not ((low <= truth + 1e-9).all() and (truth <= high + 1e-9).all()):
            return False
        if not least - 1e-9 <= truth.sum() <= most + 1e-9:
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("feedback", "reading"), [("semi-bandit", {}), ("bandit", {"joint": True}), ("bandit", {})])
def test_intervals_hold(feedback, reading):
    """Utilities of +-1, of which the variance is as large as the range allows, at delta = 0.5 and 0.1.

    All that is stated together fails with probability delta at most, of assignments fixed beforehand and of the two
    that look most different in the log. The interval of one fixed difference alone is held to what normal errors of
    the assumed scale s would do, 2 Phi(-sqrt(2 L)): 0.10 at delta = 0.5, where s / sqrt(2) would give 0.24.
    """
    runs = 80
    wrong = Counter()
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        model = signs(rng, 4, 2)
        game = model.game("any")
        source = Simulation(model, Independent(game.actions), game, rng)
        _, found = next(growing(source, [60], feedback, {"": Reading(**reading)}))
        evidence = evidence_from(found[""].whole)
        fixed = game.actions.sample(rng, 2)
        drawn = game.actions.sample(rng, 40)
        for value in ("total", "average"):
            worth, true = evidence.game(game.actions).valued(value), game.valued(value)
            order = np.argsort([worth.values(profile).sum() for profile in drawn])
            chosen = drawn[[order[0], order[-1]]]
            change = value_design(evidence.unknowns, [(1.0, fixed[1]), (-1.0, fixed[0])], value)
            truth = (true.values(fixed[1]) - true.values(fixed[0])).sum()
            for delta in (0.5, 0.1):
                alone = ends_of_sum(evidence, change, np.ones(4, dtype=bool), Promise(None, math.log(2 / delta)))
                wrong["alone", value, delta] += not alone[0] - 1e-9 <= truth <= alone[1] + 1e-9
                promises = promises_for_fixed(delta, 4, len(np.unique(change.row)))
                wrong["fixed", value, delta] += not stated_hold(evidence, true, value, fixed, promises)
                promises = promises_for_all(delta, game.actions, chosen, 4)
                wrong["chosen", value, delta] += not stated_hold(evidence, true, value, chosen, promises)
    for (what, _, delta), count in wrong.items():
        share = 2 * norm.sf(math.sqrt(2 * math.log(2 / delta))) if what == "alone" else delta
        assert count <= binom.isf(0.001, runs, share), wrong
    if (feedback, reading) != ("bandit", {}):  # where agents' bounds are added, hardly any ever fails
        assert wrong["alone", "total", 0.5], wrong
