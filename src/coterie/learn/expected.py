"""The gap to expect: over what the utilities may be, not only under one guess of them.

With few data many profiles look stable under one guess of the utilities, and most of them are not: whatever
is picked for looking stable looks better than it is. Utilities drawn from what the data leave possible
(`coterie.estimate.posterior`) tell profiles that stay nearly stable from those that were lucky.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.posterior import means_left_possible
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.game.strategy import Strategy

DRAWS = 24
"""How many possible games an expectation is the mean of."""


def possible_games(
    evidence: PairEvidence,
    spaces: ActionSpaces,
    rng: np.random.Generator,
    *,
    symmetric: bool,
    check: Callable[[], None] | None = None,
) -> Iterator[Game]:
    """Draw games that the data leave possible, means kept within their range."""
    estimate = evidence.estimate
    bounds, moments = estimate.bounds, estimate.moments
    possible = means_left_possible(moments, bounds.half_range, symmetric=symmetric, check=check)
    for _ in range(DRAWS):
        mean = np.clip(possible.draw(rng), bounds.low, bounds.high)
        yield estimate.unknowns.game(mean, spaces, *(evidence.names or ()))


def gaps(game: Game, strategies: Sequence[Strategy]) -> FloatArray:
    """Return the gap of each strategy, of many pure ones at once."""
    if not all(strategy.is_pure for strategy in strategies):
        return np.array([game.gap(strategy) for strategy in strategies])
    profiles: BoolArray = np.stack([strategy.sets for strategy in strategies])
    largest = np.zeros(len(profiles))
    for agent in np.flatnonzero(game.actions.counted).tolist():
        space = game.actions.spaces[agent]
        rooms = game.utilities.pure_room_values(profiles, np.array([agent]))[:, 0]
        gains = space.best_responses(rooms)[0] - (rooms * profiles[:, agent]).sum(axis=1)
        largest = np.maximum(largest, gains)
    return largest
