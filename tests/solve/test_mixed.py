"""Mixed strategies: derivatives, decompositions, and never above what they must not be above."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, Game, InputError, Strategy, UpTo, any_subset
from coterie.certificates.paired import paired
from coterie.game.actions import ExplicitSets
from coterie.solve.control import Control
from coterie.solve.hull import Hull, strategy_of
from coterie.solve.mixed import mixed
from coterie.solve.paper_scheme import paper
from coterie.solve.polymatrix import polymatrix
from coterie.solve.smooth import SmoothGap, smooth_objective
from solver_instances import SETTINGS, by_size_evidence, from_setting, random_evidence, random_spaces

solver = import_module("coterie.solve.mixed")  # the package has the function under this name

NAMES = [name for name in SETTINGS if name != "bandit sizes"]


def points(spaces, rng):
    return np.array([hull.random(rng) @ hull.basis for hull in map(Hull.of, spaces.spaces)])


def check_derivatives(objective, rng):
    spaces = objective.game.actions
    p = points(spaces, rng)
    agents = np.repeat(np.arange(len(p)), [space.size for space in spaces.spaces])
    sets = np.concatenate([space.enumerate() for space in spaces.spaces])
    gains, slopes = objective.tangents(p, agents, sets)
    assert max(gains.max(), 0.0) == pytest.approx(objective.value(p), abs=1e-9)
    for _ in range(6):
        i, l = rng.integers(len(p)), rng.integers(p.shape[1])
        moved = p.copy()
        moved[i, l] += 1e-6
        change = (objective.tangents(moved, agents, sets)[0] - gains) / 1e-6
        np.testing.assert_allclose(change, slopes[:, i, l], atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_certificates_and_derivatives_are_right(name):
    game, whole, *_ = from_setting(name)
    rng = np.random.default_rng(0)
    objective = smooth_objective(whole, game.actions, 0.1, game.agents, game.coalitions)
    hulls = [Hull.of(space) for space in game.actions.spaces]
    strategy = strategy_of(game, hulls, [hull.random(rng) for hull in hulls])
    certificate = paired(whole, strategy, game.actions, 0.1, form="box")
    assert objective.value(strategy.marginals) == pytest.approx(certificate.gap, abs=1e-9)
    check_derivatives(objective, rng)
    check_derivatives(smooth_objective(whole, game.actions, 0.1, certificate="estimate"), rng)


@pytest.mark.parametrize("kind", ["anonymous", "factor"])
def test_derivatives_by_size(kind):
    rng = np.random.default_rng(1)
    check_derivatives(smooth_objective(by_size_evidence(rng, kind), random_spaces(rng, 4, 2, 3), 0.1), rng)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "rare pairs", "pooled", "bandit", "sizes"])
def test_never_above_the_block_programs_from_the_uniform_start(name):
    game, whole, *_ = from_setting(name)
    objective = smooth_objective(whole, game.actions, 0.1, game.agents, game.coalitions)
    alone = mixed(objective, Control(0), starts=1)
    found = mixed(objective, Control(0), starts=4)
    assert found.value <= alone.value + 1e-12
    assert alone.value <= objective.value(game.actions.uniform_marginals())
    certificate = paired(whole, found.strategy, game.actions, 0.1, form="box")
    assert found.value == pytest.approx(certificate.gap, abs=1e-9)
    pure_best = min(objective.value(a.astype(float)) for a in game.actions.sample(np.random.default_rng(0), 50))
    assert found.value <= pure_best + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_never_above_the_paper_s_scheme(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    evidence, spaces = random_evidence(rng, n, 3), random_spaces(rng, n, 3, 4)
    scheme = paper(evidence, spaces, 0.1)
    for certificate in ("paper", "paired"):
        objective = smooth_objective(evidence, spaces, 0.1, certificate=certificate)
        found = mixed(objective, Control(seed), starts=3)
        assert found.value <= objective.value(scheme.strategy.marginals) + 1e-9
        also = mixed(objective, Control(seed), starts=1, begin=[scheme.strategy])
        assert also.value <= objective.value(scheme.strategy.marginals) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_reaches_equilibria_of_known_games(seed, monkeypatch):
    monkeypatch.setattr(solver, "_equilibria", lambda *_: ())
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 7)), 3
    means = rng.uniform(-1, 1, (k, n, n)) * ~np.eye(n, dtype=bool)
    spaces = random_spaces(rng, n, k, 5)
    symmetric = Game(means + np.swapaxes(means, 1, 2), spaces)
    found = mixed(SmoothGap(symmetric), Control(seed))
    assert symmetric.gap(found.strategy) < 1e-8
    asymmetric = Game(means, spaces, symmetric=False)
    found = mixed(SmoothGap(asymmetric), Control(seed), starts=16)
    assert asymmetric.gap(found.strategy) < 1e-8


@pytest.mark.parametrize("symmetric", [True, False])
def test_where_the_gap_is_minimised_it_starts_from_equilibria(symmetric):
    means = np.random.default_rng(0).uniform(-1, 1, (3, 30, 30)) * ~np.eye(30, dtype=bool)
    game = Game(means + symmetric * np.swapaxes(means, 1, 2), "one", symmetric=symmetric)
    found = mixed(SmoothGap(game), Control(0))
    assert found.status == "converged"
    assert found.starts == 0  # nothing was left to descend from
    assert game.gap(found.strategy) <= game.rounding
    assert found.strategy.is_pure == symmetric


@pytest.mark.slow
def test_pivoting_s_gap_is_reached_without_it(monkeypatch):
    monkeypatch.setattr(solver, "_equilibria", lambda *_: ())
    for seed in range(3):
        rng = np.random.default_rng([seed, 1])
        means = rng.uniform(-1, 1, (3, 5, 5)) * ~np.eye(5, dtype=bool)
        game = Game(means, random_spaces(rng, 5, 3, 5), symmetric=False)
        exact = polymatrix(game, Control(seed))
        assert exact.value < 1e-8
        assert mixed(SmoothGap(game), Control(seed), starts=16).value <= exact.value + 1e-8


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_hull_points_decompose_into_few_actions(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 7))
    space = UpTo(k, int(rng.integers(1, k + 1)), bool(rng.integers(2)))
    hull = Hull.of(space)
    weights = rng.dirichlet(np.full(6, 0.5))
    z = np.minimum(weights @ space.sample(rng, 6), 1.0)
    if rng.random() < 0.3:
        z = np.round(z, 1) if hull.least <= np.round(z, 1).sum() <= hull.most else z
    sets, shares = hull.support(z)
    assert space.contains(sets).all()
    assert len(sets) <= k + 1
    np.testing.assert_allclose(shares @ sets, z, atol=1e-9)


@pytest.mark.slow
def test_large_spaces():
    rng = np.random.default_rng(2)
    evidence, spaces = random_evidence(rng, 4, 9, 3000), ActionSpaces.shared(any_subset(9), 4)
    objective = smooth_objective(evidence, spaces, 0.1)
    found = mixed(objective, Control(0), starts=3, sweeps=10)
    assert found.value < 0.7 * objective.value(spaces.uniform_marginals())
    assert found.value == pytest.approx(paired(evidence, found.strategy, spaces, 0.1, form="box").gap, abs=1e-7)


@pytest.mark.slow
def test_ends_early_with_the_best_so_far():
    rng = np.random.default_rng(3)
    objective = smooth_objective(random_evidence(rng, 12, 4), random_spaces(rng, 12, 4, 8), 0.1)
    start = objective.value(objective.game.actions.uniform_marginals())
    short = mixed(objective, Control(0, time_limit=0.3))
    assert short.status == "time"
    assert short.value <= start
    count = iter(range(10**9))
    stopped = mixed(objective, Control(0, stop=lambda: next(count) > 30))
    assert stopped.status == "interrupted"
    assert stopped.value <= start
    one, two = (mixed(objective, Control(5), starts=2, sweeps=3) for _ in range(2))
    np.testing.assert_array_equal(one.strategy.marginals, two.strategy.marginals)


def test_refusals():
    game, whole, *_ = from_setting("bandit sizes")
    with pytest.raises(InputError, match="by size"):
        smooth_objective(whole, game.actions, 0.1)
    game, whole, *_ = from_setting("bandit")
    with pytest.raises(InputError, match="the paper's certificate of totals"):
        smooth_objective(whole, game.actions, 0.1, certificate="paper")


@pytest.mark.parametrize("space", [any_subset(4), UpTo(4, 2), ExplicitSets(np.eye(4, dtype=bool))])
def test_corner_is_the_point_of_a_pure_strategy(space):
    hull = Hull.of(space)
    for action in space.sample(np.random.default_rng(0), 5):
        expected = hull.point(Strategy.pure(action[None]), 0)
        np.testing.assert_array_equal(hull.corner(action), expected)
        np.testing.assert_array_equal(hull.corner(action) @ hull.basis, action)
