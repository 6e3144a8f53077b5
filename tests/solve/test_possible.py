"""The gap to expect: over games drawn around a guess."""

import numpy as np
import pytest

from coterie import Strategy
from coterie.certify.evidence import PairEvidence
from coterie.estimate.guess import Guess
from coterie.estimate.intervals import Bounds
from coterie.estimate.pairs import size_aware, size_free
from coterie.simulate import Simulation
from coterie.solve.possible import expected_gaps, possible_games


def evidence(rng, n, k, *, aware, symmetric=True):
    shape = (k, n, n, n + 1) if aware else (k, n, n)
    count = rng.integers(0, 4, shape).astype(float)
    value = rng.uniform(-1, 1, shape)
    if symmetric:
        first, second = np.triu_indices(n, 1)
        for array in (count, value):
            array[:, second, first] = array[:, first, second]
    return PairEvidence((size_aware if aware else size_free)(count, count * value, count * value**2, Bounds(-1.0, 1.0)))


@pytest.mark.parametrize("aware", [False, True])
def test_expected_gaps_are_means_of_exact_gaps(aware):
    """Many pure profiles at once, and mixed ones, against one exact gap after the other."""
    rng = np.random.default_rng(3)
    source = Simulation.draw(5, 3, rng, actions_per_agent=4)
    game = source.game
    found = evidence(rng, 5, 3, aware=aware)
    spread = np.full(found.estimate.moments.count.shape, 0.3)
    games = possible_games(found, spread, game.actions, rng, symmetric=True)
    pure = [Strategy.pure(sets, games[0].agents, games[0].coalitions) for sets in game.actions.sample(rng, 6)]
    uniform = Strategy.uniform(game.actions, games[0].agents, games[0].coalitions)
    for strategies in (pure, [*pure, uniform]):
        expected = [np.mean([one.gap(strategy) for one in games]) for strategy in strategies]
        np.testing.assert_allclose(expected_gaps(games, strategies), expected, atol=1e-12)


@pytest.mark.parametrize("symmetric", [True, False])
def test_draws_have_the_stated_spread_and_symmetry(symmetric):
    rng = np.random.default_rng(4)
    n, k = 6, 2
    spaces = Simulation.draw(n, k, rng).game.actions
    found = evidence(rng, n, k, aware=False, symmetric=symmetric)
    spread = rng.uniform(0.0, 0.05, (k, n, n))
    spread = (spread + np.swapaxes(spread, 1, 2)) / 2
    drawn = [
        np.stack([game.utilities.means.matrix(l) for l in range(k)])
        for _ in range(20)
        for game in possible_games(found, spread, spaces, rng, symmetric=symmetric)
    ]
    off = ~np.eye(n, dtype=bool)
    inside = off & (np.abs(found.estimate.moments.mean) < 0.8)
    for one in drawn:
        assert np.array_equal(one, np.swapaxes(one, 1, 2)) == symmetric
        assert np.abs(one).max() <= 1
    np.testing.assert_allclose(np.std(drawn, axis=0)[inside], spread[inside], rtol=0.2)
    np.testing.assert_allclose(np.mean(drawn, axis=0)[inside], found.estimate.moments.mean[inside], atol=0.015)


def test_spread_shrinks_with_what_was_seen():
    """sigma / sqrt(N + worth), sigma^2 pooled over pairs seen at least twice; with no such pair, a third of r^2."""
    rng = np.random.default_rng(5)
    moments = evidence(rng, 4, 2, aware=False).estimate.moments
    often = moments.count >= 2
    within = (moments.variance * (moments.count - 1))[often].sum() / (moments.count - 1)[often].sum()
    spread = Guess(moments.mean, "agents, 3", 3.0).spread(moments, 1.0)
    np.testing.assert_allclose(spread, np.sqrt(within / (moments.count + 3)))
    once = type(moments)(np.minimum(moments.count, 1), moments.mean, moments.variance, moments.events)
    np.testing.assert_allclose(Guess(moments.mean, "raw").spread(once, 2.0), np.sqrt(4 / 3 / (once.count + 1)))
