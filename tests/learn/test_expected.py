"""The gap to expect: over games drawn from what the data leave possible."""

import numpy as np
import pytest

from coterie import Strategy
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.posterior import means_left_possible
from coterie.estimate.unknowns import Aware, SizeFree
from coterie.learn.expected import DRAWS, WAYS, gaps, never_observed, possible_games
from coterie.simulate import Simulation


def evidence(rng, n, k, *, aware, symmetric=True):
    shape = (k, n, n, n + 1) if aware else (k, n, n)
    count = rng.integers(0, 4, shape).astype(float)
    value = rng.uniform(-1, 1, shape)
    if symmetric:
        first, second = np.triu_indices(n, 1)
        for array in (count, value):
            array[:, second, first] = array[:, first, second]
    return PairEvidence(
        PairEstimate.from_sums(
            Aware() if aware else SizeFree(), count, count * value, count * value**2, Bounds(-1.0, 1.0)
        )
    )


def drawn(found, spaces, rng, *, symmetric):
    possible = means_left_possible(found.estimate.moments, 1.0, symmetric=symmetric)
    return possible_games(found, possible, spaces, rng)


@pytest.mark.parametrize("aware", [False, True])
def test_gaps_are_exact(aware):
    """Many pure profiles at once, and mixed ones, against one exact gap after the other."""
    rng = np.random.default_rng(3)
    spaces = Simulation.draw(5, 3, rng, actions_per_agent=4).game.actions
    for game in drawn(evidence(rng, 5, 3, aware=aware), spaces, rng, symmetric=True):
        pure = [Strategy.pure(sets, game.agents, game.coalitions) for sets in spaces.sample(rng, 6)]
        uniform = Strategy.uniform(spaces, game.agents, game.coalitions)
        for strategies in (pure, [*pure, uniform]):
            np.testing.assert_allclose(gaps(game, strategies), [game.gap(one) for one in strategies], atol=1e-12)


@pytest.mark.parametrize("symmetric", [True, False])
def test_games_are_draws_from_the_posterior(symmetric):
    rng = np.random.default_rng(4)
    n, k = 6, 2
    spaces = Simulation.draw(n, k, rng).game.actions
    found = evidence(rng, n, k, aware=False, symmetric=symmetric)
    games = list(drawn(found, spaces, np.random.default_rng(0), symmetric=symmetric))
    assert len(games) == DRAWS
    posterior = means_left_possible(found.estimate.moments, 1.0, symmetric=symmetric)
    again = np.random.default_rng(0)
    for game in games:
        means = np.clip(posterior.draw(again), -1, 1) * ~np.eye(n, dtype=bool)
        np.testing.assert_array_equal(np.stack([game.utilities.means.matrix(l) for l in range(k)]), means)
        assert game.is_symmetric == symmetric


@pytest.mark.parametrize("aware", [False, True])
def test_coalitions_never_observed_are_at_the_ends_of_their_range(aware):
    rng = np.random.default_rng(5)
    n, k = 4, 4
    spaces = Simulation.draw(n, k, rng).game.actions
    found = evidence(rng, n, k, aware=aware)
    moments, unseen = found.estimate.moments, [1, 3]
    for array in (moments.count, moments.mean):
        array[unseen] = 0.0
    assert np.flatnonzero(never_observed(found)).tolist() == unseen
    everybody = np.ones((1, n, k), dtype=bool)
    ends = []
    for game in drawn(found, spaces, rng, symmetric=True):
        rooms = game.utilities.pure_room_values(everybody, np.array([0]))[0, 0]
        ends.append(tuple(np.round(rooms[unseen] / (n - 1), 12).tolist()))
    ways = [(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)]
    assert ends == ways * (DRAWS // WAYS)
    moments.count[:] = 0.0
    assert not never_observed(found).any()  # then nothing is known about any, and the range is what they share
