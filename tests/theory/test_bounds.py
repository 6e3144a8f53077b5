"""Bounds: the printed formulas, both directions, and whether those that claim to hold do."""

import math
from contextlib import nullcontext
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from coterie import ActionSpaces, Game, Strategy, UpTo, any_subset
from coterie.cli.log_options import command_line
from coterie.coverage import coverage
from coterie.errors import InputError
from coterie.theory import pair_coverage as pair_coverage_instance
from coterie.theory import telling_joint_action
from coterie.theory.bounds import (
    FEEDBACKS,
    Problem,
    action_coverage,
    all_bounds,
    appendix_e3,
    appendix_e4,
    bandit_radius,
    general,
    known_c_act,
    pair_coverage,
    pair_coverage_mixed,
    pair_coverage_paired,
    printed_c_act,
    theorem_1,
    theorem_1_from_counts,
    theorem_3,
    theorem_5,
)
from coterie.words import spelled
from random_games import random_means

problems = st.builds(
    lambda n, k, delta, m, symmetric, c_size, c_pair, c_act, slack: Problem(
        n, k, delta, min(m, k), symmetric, c_size, c_pair, c_act, slack
    ),
    st.integers(2, 40),
    st.integers(1, 12),
    st.sampled_from([0.5, 0.01, 1e-6]),
    st.integers(1, 12),
    st.booleans(),
    st.floats(1, 100),
    st.floats(1, 100),
    st.none() | st.floats(1e-4, 1),
    st.sampled_from([0.0, 0.05]),
)
every_bound = st.tuples(problems, st.sampled_from(sorted(FEEDBACKS))).flatmap(
    lambda drawn: st.sampled_from(all_bounds(*drawn))
)


# --- Both directions ------------------------------------------------------------------------------


@given(every_bound, st.integers(1, 10**12))
def test_samples_and_gap_are_inverse(bound, samples):
    samples = max(samples, bound.at_least)
    gap = bound.gap(samples)
    assume(gap > bound.slack + 1e-9)
    back = bound.samples(gap)
    assert back <= samples
    assert back == pytest.approx(samples, rel=1e-6, abs=1)
    assert bound.gap(back) <= gap
    assert back == bound.at_least or bound.gap(back - 1) > gap


@given(every_bound, st.integers(1, 10**9), st.integers(1, 10**9))
def test_more_samples_never_hurt(bound, first, second):
    fewer, more = sorted((first, second))
    assert bound.gap(more) <= bound.gap(fewer)
    assert bound.gap(more) >= bound.slack


@given(problems, st.sampled_from(sorted(FEEDBACKS)))
def test_worse_coverage_more_agents_and_smaller_delta_cost(problem, feedback):
    better = all_bounds(problem, feedback)
    c_act = None if problem.c_act is None else problem.c_act / 2
    for worse in (
        replace(problem, n_agents=problem.n_agents + 1),
        replace(problem, delta=problem.delta / 2),
        replace(problem, c_size=2 * problem.c_size, c_pair=2 * problem.c_pair, c_act=c_act),
        replace(problem, symmetric=False),
        replace(problem, slack=problem.slack + 1),
    ):
        for one, two in zip(better, all_bounds(worse, feedback), strict=True):
            assert one.gap(10**6) <= two.gap(10**6) * (1 + 1e-12)


def test_never_enough():
    problem = Problem(4, 2, c_size=math.inf, c_pair=math.inf, c_act=0.0)
    for feedback in FEEDBACKS:
        for bound in all_bounds(problem, feedback):
            assert bound.gap(10**9) == math.inf
            assert bound.samples(0.1) == math.inf


# --- As printed -----------------------------------------------------------------------------------


@given(problems, st.floats(0.01, 1))
def test_the_printed_formulas(problem, target):
    n, k, c, m = problem.n_agents, problem.n_coalitions, problem.c_size, 12345
    log, bracket = math.log(4 * (n + 1) * k / problem.delta), (n - 1) / 2 + math.sqrt(n / 2)
    eps = problem.slack + target
    f = 8 * k * n * (n + 1) * c * log * math.sqrt(2 * (n - 1)) * bracket
    assert theorem_3(problem).gap(m) == pytest.approx(f / math.sqrt(m) + problem.slack)
    corollary_1 = 128 * k**2 * n**2 * (n + 1) ** 2 * (n - 1) * c**2 / target**2 * log**2 * bracket**2
    assert theorem_3(problem).samples(eps) == pytest.approx(corollary_1, rel=1e-9, abs=1)
    e3 = 24 * k * n * c * log * math.sqrt(2 * (n - 1) / m) * bracket
    assert appendix_e3(problem).gap(m) == pytest.approx(e3 + problem.slack)
    e4 = 576 * k**2 * n**2 * (n - 1) * c**2 / target**2 * log**2 * bracket**2
    assert appendix_e4(problem).samples(eps) == pytest.approx(e4, rel=1e-9, abs=1)
    assert appendix_e3(problem).samples(eps) == pytest.approx(1152 / 576 * e4, rel=1e-9, abs=1)


@given(problems, st.floats(0.01, 1))
def test_the_printed_bandit_formulas(problem, target):
    n, k = problem.n_agents, problem.n_coalitions
    c = 1 / (2 * n * k**4) if problem.c_act is None else problem.c_act

    def beta(m):
        iota = 2 * math.log(4 * (n + 1) * k / problem.delta)
        return (2 * math.sqrt(n**2 * k) + math.sqrt(n**2 * k * math.log(1 + m / n) + iota)) ** 2

    bound = theorem_5(problem)
    assert bound.gap(777) == pytest.approx(4 * math.sqrt(n**2 * k * beta(777) / (c * 777)) + problem.slack)
    # Corollary 2 has M on both sides, as beta depends on it: the smallest M that satisfies it.
    m = bound.samples(problem.slack + target)
    assert m >= 16 * n**2 * k * beta(m) / (c * target**2) * (1 - 1e-9)
    assert m * (1 - 1e-6) <= 16 * n**2 * k * beta(m) / (c * target**2) + 1


def test_the_factor_of_pure_strategies_is_3_for_n_plus_1():
    problem = Problem(7, 3)
    assert theorem_3(problem).gap(100) / appendix_e3(problem).gap(100) == pytest.approx(8 / 3)


def test_what_is_only_printed_says_why():
    found = {b.name: b for feedback in FEEDBACKS for b in all_bounds(Problem(5, 3), feedback)}
    printed = {name for name, bound in found.items() if bound.status == "as printed"}
    assert printed == {
        "Theorem 3, Corollary 1", "App. E.3, E.4 with 1152", "App. E.4", "Theorem 5, Corollary 2, App. G.3",
    }  # fmt: skip
    assert all("sizes covered do not suffice" in found[name].why for name in printed if "5" not in name.split(",")[0])
    assert "1152 for 576" in found["App. E.4"].why
    assert "noise of a total" in found["Theorem 5, Corollary 2, App. G.3"].why
    assert found["Theorem 1"].status == "proven"
    assert {b.name for b in all_bounds(Problem(5, 3), constants="paper")} < printed
    assert not {b.name for b in all_bounds(Problem(5, 3), constants="corrected")} & printed


def test_theorem_3_cannot_hold():
    """Two games, the same log, sizes covered: a gap that no strategy avoids, above the printed bound."""
    hard = pair_coverage_instance()
    assert telling_joint_action(hard.games, hard.policy, "semi-bandit") is None
    covered = [[coverage(hard.policy, s, game.actions) for s in game.stable_profiles()] for game in hard.games]
    problem = Problem(4, 2, c_size=max(min(one.c_size for one in found) for found in covered))
    assert math.isfinite(problem.c_size)
    for bound in (theorem_3(problem), appendix_e3(problem), appendix_e4(problem)):
        assert bound.gap(10**13) < 2 / 7 <= hard.worst_case_gap
    # The two are not together in room 1, which a stable profile of one of the games needs.
    assert not all(one.covers_pairs for found in covered for one in found)


# --- Theorem 1 ------------------------------------------------------------------------------------


def profiles_of(game):
    sets = game.actions.spaces[0].enumerate()
    return [np.array(rows) for rows in product(sets, repeat=game.n_agents)]


def rooms(means, profile):
    """W_i(l), straight from the definition."""
    k, n, _ = means.shape
    found = np.zeros((n, k))
    for l, i, j in product(range(k), range(n), range(n)):
        found[i, l] += means[l, i, j] if profile[j, l] and j != i else 0.0
    return found


def surrogate(upper, lower, profile, sets):
    """Lemma 2, straight from the definition."""
    high, low = rooms(upper, profile), rooms(lower, profile)
    return max((sets @ high[i]).max() - profile[i] @ low[i] for i in range(len(profile)))


def paired_value(upper, lower, profile, sets):
    """The box form of the paired certificate, straight from the definition."""
    high, low = rooms(upper, profile), rooms(lower, profile)
    return max((action & ~own) @ high[i] - (~action & own) @ low[i] for i, own in enumerate(profile) for action in sets)


def small_game(rng, n=3, k=2, space=None):
    return Game(random_means(rng, k, n, symmetric=True), ActionSpaces.shared(space or any_subset(k), n))


def symmetrised(values):
    upper = np.triu(values, 1)
    return upper + np.swapaxes(upper, 1, 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_theorem_1_holds_for_any_bonus(seed):
    """Whatever the bonuses, and wherever in them the estimates are: the minimiser of the surrogate."""
    rng = np.random.default_rng(seed)
    game = small_game(rng)
    means = np.array([game.utilities.means.matrix(l) for l in range(2)])
    bonus = symmetrised(rng.uniform(0, 0.5, means.shape))
    estimate = means + bonus * symmetrised(rng.uniform(-1, 1, means.shape))
    sets = game.actions.spaces[0].enumerate()
    every = profiles_of(game)
    best = min(every, key=lambda p: surrogate(estimate + bonus, estimate - bonus, p, sets))
    for stable in game.stable_profiles():
        width = rooms(bonus, stable.sets)
        staying = (stable.sets * width).sum(axis=1)
        bound = general((width @ sets.T).max(axis=1), staying)
        assert game.gap(Strategy.pure(best)) <= bound + 1e-9


def test_theorem_1_scales_with_the_root_of_the_samples():
    bound = theorem_1(np.array([1.0, 2.0]), np.array([3.0, 1.0]), measured_at=100, slack=0.5)
    assert bound.gap(100) == 2 * 4 + 0.5
    assert bound.gap(400) == 4 + 0.5
    assert bound.samples(4.5) == 400
    problem = Problem(4, 3, most_joined=2, c_pair=5)
    width = math.sqrt(2 * math.log(2 * problem.events / 0.01) / (1000 / 5))
    assert theorem_1_from_counts(problem).gap(1000) == pytest.approx(4 * 3 * 2 * width)


# --- Pair coverage --------------------------------------------------------------------------------


def test_the_constant_8_is_what_the_argument_gives():
    """Everybody in everything, counts at half their expectation, estimates off by their bonus."""
    n, k, m, delta = 4, 3, 10_000, 0.01
    problem = Problem(n, k, delta)
    log = math.log(4 * problem.events / delta)
    bonus = math.sqrt(2 * log / (m / 2)) * (1 - np.eye(n)) * np.ones((k, 1, 1))
    everything = np.ones((n, k), dtype=bool)
    sets = any_subset(k).enumerate()
    assert surrogate(2 * bonus, -2 * bonus, everything, sets) == pytest.approx(pair_coverage(problem).gap(m))
    value = paired_value(2 * bonus, -2 * bonus, everything, sets)
    assert value <= pair_coverage_paired(problem).gap(m) + 1e-9
    assert value == pytest.approx(pair_coverage_paired(problem).gap(m) * (k - 1) / k)  # she must keep one


@given(problems, st.floats(0, 1))
def test_with_few_samples_pair_coverage_says_nothing_false(problem, share):
    few = max(1, math.floor(share * 8 * problem.c_pair * math.log(4 * problem.events / problem.delta)))
    for bound in (pair_coverage(problem), pair_coverage_paired(problem)):
        assert bound.gap(few) >= problem.largest_gap


@given(st.floats(1e-3, 1), st.floats(1e-4, 1), st.integers(1, 10**6), st.floats(2, 30))
def test_the_mixed_constant(p, rho, m, log):
    """p_j min(bonus, 1) <= sqrt((3 + sqrt 5) c L / M), with the count as small as Chernoff allows."""
    x, c = 3 + math.sqrt(5), p / rho
    assert x == pytest.approx(2 / (1 - math.sqrt(2 / x)))  # both cases are worth the same
    problem = Problem(5, 3, 0.1, 2, c_pair=c)
    whole = 4 * (5 - 1) * 2 * math.sqrt(x * c * math.log(4 * problem.events / 0.1) / m)
    assert pair_coverage_mixed(problem).gap(m) == pytest.approx(whole)
    if m * rho >= x * log:
        least = math.ceil((1 - math.sqrt(2 / x)) * m * rho)
        assert binom.cdf(least - 1, m, rho) <= math.exp(-log)
        bonus = min(math.sqrt(2 * log / least), 1)
    else:
        bonus = 1.0
    assert p * bonus <= math.sqrt(x * c * log / m) * (1 + 1e-9)


def draw_log(rng, game, means, m, policy_sets):
    """Counts and means of a log with +-1 utilities, uniform over some sets."""
    n, k = game.n_agents, game.n_coalitions
    joined = policy_sets[rng.integers(len(policy_sets), size=(m, n))]
    count, total = np.zeros((k, n, n)), np.zeros((k, n, n))
    for l, i, j in product(range(k), range(n), range(n)):
        if i >= j:
            continue
        met = int((joined[:, i, l] & joined[:, j, l]).sum())
        count[l, i, j] = count[l, j, i] = met
        total[l, i, j] = total[l, j, i] = 2 * rng.binomial(met, (1 + means[l, i, j]) / 2) - met
    return joined, count, np.divide(total, np.maximum(count, 1))


@pytest.mark.parametrize("m", [100, 1000])
def test_pair_coverage_holds_on_simulated_logs(m):
    """The minimiser of the surrogate, by enumeration: neither its value nor its gap exceeds the bound."""
    rng, delta = np.random.default_rng(m), 0.1
    sets = any_subset(2).enumerate()
    for _ in range(60):
        game = small_game(rng)
        means = np.array([game.utilities.means.matrix(l) for l in range(2)])
        problem = Problem(3, 2, delta, c_pair=1 / (2 / 3) ** 2)  # two of the three sets hold a coalition
        _, count, estimate = draw_log(rng, game, means, m, sets)
        width = np.sqrt(2 * math.log(4 * problem.events / delta) / np.maximum(count, 1))
        upper, lower = estimate + width, estimate - width
        for value, bound in ((surrogate, pair_coverage(problem)), (paired_value, pair_coverage_paired(problem))):
            best = min(profiles_of(game), key=lambda p: value(upper, lower, p, sets))
            limit = min(bound.gap(m), problem.largest_gap)
            assert game.gap(Strategy.pure(best)) <= limit
            if bound.gap(m) < problem.largest_gap:
                assert value(upper, lower, best, sets) <= bound.gap(m)


def test_pair_coverage_holds_for_a_mixed_reference():
    """Two rooms alike, everybody undecided: stable, and the clipped surrogate there is below the bound."""
    rng, n, k, delta, m = np.random.default_rng(5), 3, 2, 0.1, 400
    one = symmetrised(rng.uniform(-1, 1, (1, n, n)))
    means = np.repeat(one, 2, axis=0)
    game = Game(means, "one")
    sets = np.eye(2, dtype=bool)
    undecided = Strategy.mixed([(sets, np.array([0.5, 0.5]))] * n)
    assert game.gap(undecided) == pytest.approx(0)
    problem = Problem(n, k, delta, most_joined=1, c_pair=0.5 / 0.25)
    for _ in range(100):
        _, count, estimate = draw_log(rng, game, means, m, sets)
        width = np.sqrt(2 * math.log(4 * problem.events / delta) / np.maximum(count, 1))
        upper = np.where(count > 0, np.minimum(estimate + width, 1), 1.0) * (1 - np.eye(n))
        lower = np.where(count > 0, np.maximum(estimate - width, -1), -1.0) * (1 - np.eye(n))
        high, low = 0.5 * upper.sum(axis=2), 0.5 * lower.sum(axis=2)  # W_i(l), partners there with probability 1/2
        value = max(high[:, i].max() - low[:, i].mean() for i in range(n))
        assert value <= pair_coverage_mixed(problem).gap(m)


@settings(deadline=None)
@given(st.integers(2, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 10**6))
def test_no_gap_is_larger_than_the_largest(n, k, most, seed):
    rng = np.random.default_rng(seed)
    most = min(most, k)
    game = Game(symmetrised(rng.choice([-1.0, 1.0], (k, n, n))), ActionSpaces.shared(UpTo(k, most), n))
    assert (
        max(game.gap(Strategy.pure(p)) for p in game.actions.sample(rng, 5))
        <= Problem(n, k, most_joined=most).largest_gap
    )


def test_the_largest_gap_is_attained():
    for n, k, most in ((4, 2, 1), (3, 4, 2), (3, 2, 2)):
        means = (1 - np.eye(n)) * np.ones((k, 1, 1))
        game = Game(means, ActionSpaces.shared(UpTo(k, most, may_stay_out=True), n))
        together = np.repeat([np.arange(k) < most], n, axis=0)
        together[0] = False  # she stays out, and all others are where they may be
        assert game.gap(Strategy.pure(together)) == Problem(n, k, most_joined=most).largest_gap


# --- Bandit ---------------------------------------------------------------------------------------


def features(profile, i):
    """z_i: who else is in which of her coalitions, without herself."""
    return np.delete(profile & profile[i], i, axis=0).T.ravel().astype(float)


@pytest.mark.parametrize(("n", "k", "most"), [(2, 2, 2), (3, 2, 2), (3, 3, 1), (3, 3, 2), (2, 3, 3)])
def test_the_policies_of_known_c_act_have_it(n, k, most):
    """Every joint action of the policy seen M / (2J) times; z H^+ z for every agent and deviation."""
    sets = UpTo(k, most).enumerate()
    problem = Problem(n, k, most_joined=most)
    for star in map(np.array, product(sets, repeat=n)):
        single, alone = [star], [star]
        for i in range(n):
            for action in sets:
                moved = star.copy()
                moved[i] = action
                alone += [moved] if (action != star[i]).any() else []
                single += [moved] if (action != star[i]).sum() == 1 else []
        found = []
        policies = [(alone, 1 + n * (len(sets) - 1)), *([(single, n * k + 1)] if most == k else [])]
        for policy, size in policies:
            assert len(policy) <= size
            values = []
            for i in range(n):
                rows = np.array([features(p, i) for p in policy])
                inverse = np.linalg.pinv(rows.T @ rows / (2 * size))
                for action in sets:  # her own deviations
                    moved = star.copy()
                    moved[i] = action
                    z = features(moved, i)
                    if z.any():
                        assert np.allclose(rows.T @ (rows @ inverse @ z) / (2 * size), z)  # z is in the range
                        values.append(1 / (z @ inverse @ z))
            found.append(min(values, default=1.0))
        every, shown = known_c_act(problem)
        assert shown in {1 + n * (len(sets) - 1), n * k + 1}
        assert found[0 if shown == 1 + n * (len(sets) - 1) else 1] >= every * (1 - 1e-9)
        if most == k:
            assert found[1] >= 1 / (2 * (n * k + 1) * (k * k - k + 1)) * (1 - 1e-9)
            assert found[1] >= printed_c_act(problem)


def test_known_c_act_is_never_worse_than_printed():
    for n, k in product(range(2, 12), range(2, 14)):
        corrected = 1 / (2 * (n * k + 1) * (k * k - k + 1))
        assert known_c_act(Problem(n, k))[0] >= corrected >= printed_c_act(Problem(n, k))
    assert known_c_act(Problem(4, 12)) == (1 / (2 * 49 * 133), 49)
    assert known_c_act(Problem(4, 12, most_joined=1))[1] == 1 + 4 * 11


def ridge(joined, totals, i):
    x = np.array([features(p, i) for p in joined])
    gram = np.eye(x.shape[1]) + x.T @ x
    return gram, np.linalg.solve(gram, x.T @ totals[:, i]), x


def test_action_coverage_holds_on_simulated_logs():
    """The minimiser of the surrogate with the corrected radius, by enumeration; coverage as the log has it."""
    rng, n, k, m, delta = np.random.default_rng(0), 3, 2, 150, 0.1
    sets = any_subset(k).enumerate()
    wrong = 0
    for _ in range(30):
        game = small_game(rng, n, k)
        means = np.array([game.utilities.means.matrix(l) for l in range(k)])
        joined = sets[rng.integers(len(sets), size=(m, n))]
        noise = np.where(rng.random((m, k, n, n)) < (1 + means) / 2, 1.0, -1.0)
        noise = np.triu(noise, 1) + np.swapaxes(np.triu(noise, 1), 2, 3)  # a pair's utility is shared
        together = joined[:, :, None, :] & joined[:, None, :, :]
        totals = np.einsum("mijl,mlij->mi", together, noise)
        radius = bandit_radius(Problem(n, k, delta), m, delta)
        fits = [ridge(joined, totals, i) for i in range(n)]
        theta = [np.array([means[l, i, j] for l in range(k) for j in range(n) if j != i]) for i in range(n)]
        for (gram, estimate, x), true in zip(fits, theta, strict=True):
            assert np.linalg.slogdet(gram)[1] <= (n - 1) * k * math.log1p(m)
            wrong += math.sqrt((estimate - true) @ gram @ (estimate - true)) > radius
            assert (x.sum(axis=1) <= (n - 1) * k).all()

        def value(profile):
            worst = -math.inf
            for i, (gram, estimate, _) in enumerate(fits):  # noqa: B023
                inverse = np.linalg.inv(gram)
                z = features(profile, i)
                own = z @ estimate - radius * math.sqrt(z @ inverse @ z)  # noqa: B023
                for action in sets:
                    moved = profile.copy()
                    moved[i] = action
                    z = features(moved, i)
                    worst = max(worst, z @ estimate + radius * math.sqrt(z @ inverse @ z) - own)  # noqa: B023
            return worst

        reference = game.stable_profiles()[0].sets
        c_act = 1.0
        for i, (gram, _, _) in enumerate(fits):
            inverse = np.linalg.pinv(gram - np.eye(len(gram)))
            for action in sets:
                moved = reference.copy()
                moved[i] = action
                z = features(moved, i)
                c_act = min(c_act, 1 / (m * z @ inverse @ z)) if z.any() else c_act
        bound = action_coverage(Problem(n, k, delta, c_act=c_act)).gap(m)
        best = min(profiles_of(game), key=value)
        assert value(best) <= bound
        assert game.gap(Strategy.pure(best)) <= bound
    assert wrong == 0


def test_the_rank_of_a_mixed_reference():
    """E |z|_(V^-1) <= sqrt((n-1)k / (M c)) for product strategies, with the largest c of Assumption 2."""
    rng, n, k, m = np.random.default_rng(1), 3, 2, 60
    sets = any_subset(k).enumerate()
    for _ in range(20):
        joined = sets[rng.integers(len(sets), size=(m, n))]
        others = rng.dirichlet(np.ones(len(sets)), n - 1)
        rows, shares = [], []
        for a, b in product(range(len(sets)), repeat=2):
            rows.append(features(np.array([sets[2], sets[a], sets[b]]), 0))
            shares.append(others[0, a] * others[1, b])
        z, share = np.array(rows), np.array(shares)
        second = (z * share[:, None]).T @ z
        x = np.array([features(p, 0) for p in joined])
        seen = x.T @ x
        assert np.linalg.matrix_rank(seen) == (n - 1) * k
        value, vector = np.linalg.eigh(seen)
        root = vector / np.sqrt(value) @ vector.T
        c = 1 / (m * np.linalg.eigvalsh(root @ second @ root).max())
        inverse = np.linalg.inv(np.eye(len(seen)) + seen)
        norm = share @ np.sqrt(np.einsum("rf,fg,rg->r", z, inverse, z))
        assert norm <= math.sqrt((n - 1) * k / (m * c))
    pure, mixed = (action_coverage(Problem(n, k, c_act=0.1), pure=pure).gap(m) for pure in (True, False))
    assert mixed == pytest.approx(pure * math.sqrt((n - 1) * k))


def test_the_corrected_radius():
    """|theta| + noise of (n-1)m terms times the root of the price: hand-made for n = 4, k = 3, m = 2."""
    problem = Problem(4, 3, most_joined=2, c_act=0.25)
    radius = math.sqrt(9) + math.sqrt(6) * math.sqrt(2 * math.log(4 / 0.01) + 9 * math.log(1 + 1000 * 6 / 9))
    assert bandit_radius(problem, 1000, 0.01) == pytest.approx(radius)
    assert action_coverage(problem).gap(1000) == pytest.approx(4 * radius / math.sqrt(0.25 * 1000))


def test_default_action_coverage_pays_for_the_policy():
    problem = Problem(5, 3)
    c_act, shown = known_c_act(problem)
    bound, given_it = action_coverage(problem), action_coverage(replace(problem, delta=0.005, c_act=c_act))
    assert bound.at_least == math.ceil(8 * shown * math.log(2 * shown / 0.01))
    assert bound.gap(bound.at_least - 1) == math.inf
    assert bound.gap(bound.at_least) == given_it.gap(bound.at_least)
    assert bound.samples(1e9) == bound.at_least


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_agents": 1}, "agents: expected at least 2"),
        ({"n_coalitions": 0}, "coalitions: expected at least 1"),
        ({"delta": 0}, "delta: expected a number between 0 and 1"),
        ({"delta": 1.0}, "delta: expected a number between 0 and 1"),
        ({"most_joined": 4}, "most_joined: expected at most 3"),
        ({"c_size": 0}, "expected positive numbers"),
        ({"c_pair": math.nan}, "expected positive numbers"),
        ({"c_act": 1.5}, "c_act: expected a number from 0 to 1"),
        ({"slack": -0.1}, "slack: expected a number from 0 up"),
    ],
)
def test_bad_problems_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Problem(**{"n_agents": 5, "n_coalitions": 3, **options})


def test_bad_questions_are_refused():
    bound = pair_coverage(Problem(5, 3, slack=0.1))
    with pytest.raises(InputError, match="more than the slack"):
        bound.samples(0.1)
    with pytest.raises(InputError, match="samples: expected at least 1"):
        bound.gap(0)
    with pytest.raises(InputError, match="unknown feedback 'full'"):
        all_bounds(Problem(5, 3), "full")
    with pytest.raises(InputError, match="unknown constants 'best'"):
        all_bounds(Problem(5, 3), constants="best")


@pytest.mark.parametrize(
    ("changed", "argument", "option"),
    [
        ({"n_agents": 1}, "n_agents", "--agents"),
        ({"n_coalitions": 0}, "n_coalitions", "--coalitions"),
        ({"most_joined": 0}, "most_joined", "--most-joined"),
        ({"slack": -1}, "slack", "--slack"),
    ],
)
def test_refusals_speak_the_caller_s_language(changed, argument, option):
    """Of arguments in Python, of options on the command line."""
    for spelling, name in ((None, argument), (command_line, option)):
        with pytest.raises(InputError, match=f"^{name}: expected"), spelled(spelling) if spelling else nullcontext():
            Problem(**{"n_agents": 3, "n_coalitions": 2, **changed})
