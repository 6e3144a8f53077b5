"""Equilibria of known games."""

from importlib import import_module

import numpy as np
import pytest

from coterie import Game, additively_separable
from coterie.solve.known import equilibrium


def random_game(seed, kind):
    rng = np.random.default_rng(seed)
    n, k = 3, 2
    means = rng.normal(size=(k, n, n)) * ~np.eye(n, dtype=bool)
    if kind == "symmetric":
        return Game(means + np.swapaxes(means, 1, 2), "any")
    if kind == "asymmetric":
        return Game(means, "one", symmetric=False)
    return Game(means, "one", symmetric=False, size_scale=rng.normal(size=n + 1))


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "sizes"])
@pytest.mark.parametrize("seed", range(6))
def test_the_gap_is_none(kind, seed):
    game = random_game(seed, kind)
    found = game.equilibrium(seed)
    assert found.value == pytest.approx(game.gap(found.strategy), abs=1e-12)
    assert found.value <= 1e-7
    if game.stable_profiles():
        assert found.strategy.is_pure


PENNIES = [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]


def test_matching_pennies():
    game = Game.from_normal_form(PENNIES)
    assert not game.stable_profiles()
    found = game.equilibrium()
    assert found.method == "polymatrix"
    assert found.value <= 1e-9
    np.testing.assert_allclose(found.strategy.probability, 0.5, atol=1e-6)


def test_where_pivoting_fails_a_search_finds_it(monkeypatch):
    game = Game.from_normal_form(PENNIES)
    for where in ("known", "mixed"):
        monkeypatch.setattr(import_module(f"coterie.solve.{where}"), "takes", lambda _: False)
    found = equilibrium(game)
    assert found.method == "mixed"
    np.testing.assert_allclose(found.strategy.probability, 0.5, atol=1e-6)


def highest(game):
    return max(game.height(profile) for profile in game.stable_profiles())


@pytest.mark.parametrize("seed", range(4))
def test_of_very_few_profiles_the_best_equilibrium(seed):
    for kind in ("symmetric", "asymmetric"):
        game = random_game(seed, kind)
        found = equilibrium(game, seed)
        if game.stable_profiles():
            assert found.method == "enumeration"
            assert game.height(found.strategy) == pytest.approx(highest(game))


def asymmetric(seed, n, k=3):
    means = np.random.default_rng(seed).uniform(-1, 1, (k, n, n)) * ~np.eye(n, dtype=bool)
    return Game(means, "one", symmetric=False)


@pytest.mark.parametrize("seed", range(4))
def test_where_profiles_are_few_a_pure_equilibrium_is_not_missed(seed, monkeypatch):
    game = asymmetric([seed, 3], 7)
    never = np.zeros(32, dtype=bool)
    monkeypatch.setattr("coterie.solve.known.settle", lambda _, profiles, *__: (profiles, never, 1))
    found = equilibrium(game, seed)
    assert found.value <= game.rounding
    assert found.strategy.is_pure == bool(game.stable_profiles())


@pytest.mark.parametrize("n", [25, pytest.param(50, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.slow)])
def test_without_a_potential(n):
    game = asymmetric(1, n)
    found = game.equilibrium()
    assert found.value == game.gap(found.strategy) <= game.rounding
    if n == 25:
        assert found.strategy == game.equilibrium().strategy


def test_time_limits_are_obeyed():
    game = asymmetric(0, 40)
    found = game.equilibrium(time_limit=1e-6)
    assert found.status == "time"
    assert found.value == game.gap(found.strategy)


def test_many_agents_are_searched():
    rng = np.random.default_rng(0)
    game = additively_separable(rng.normal(size=(10, 10)) * ~np.eye(10, dtype=bool))
    found = game.equilibrium()
    assert found.value <= 1e-9
    assert not found.strategy.is_pure
