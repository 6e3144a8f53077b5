"""Equilibria of known games."""

import numpy as np
import pytest

from coterie import Game, additively_separable
from coterie.solve import GapObjective, pure
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
    assert found.method == "mixed"
    assert found.value <= 1e-9
    np.testing.assert_allclose(found.strategy.probability, 0.5, atol=1e-6)


def test_where_a_search_fails_pivoting_finds_it(monkeypatch):
    game = Game.from_normal_form(PENNIES)
    monkeypatch.setattr("coterie.solve.known.mixed", lambda *_, **__: pure(GapObjective(game)))
    found = equilibrium(game)
    assert found.method == "polymatrix"
    np.testing.assert_allclose(found.strategy.probability, 0.5)
    monkeypatch.setattr("coterie.solve.known.find_spec", lambda _: None)
    assert equilibrium(game).value > 0


def test_many_agents_are_searched():
    rng = np.random.default_rng(0)
    game = additively_separable(rng.normal(size=(10, 10)) * ~np.eye(10, dtype=bool))
    found = game.equilibrium()
    assert found.value <= 1e-9
    assert not found.strategy.is_pure
