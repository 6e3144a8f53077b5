"""The gap to expect: over what the utilities may be, not only under one guess of them.

With few data many profiles look stable under one guess of the utilities, and most of them are not: whatever
is picked for looking stable looks better than it is. Utilities drawn from what the data leave possible
(`coterie.estimate.posterior`) tell profiles that stay nearly stable from those that were lucky.

Nothing is likely about a coalition in which nobody was ever observed together: that nobody met there may have its
reason. Its utilities are at both ends of their range in turn, and the ends at which a profile is worst count.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.posterior import PossibleMeans
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.game.strategy import Strategy

DRAWS = 24
"""How many possible games an expectation is the mean of."""

WAYS = 4
"""In so many ways coalitions that were never observed are at an end of their range: all at the lower or upper one, or
every second one at the other."""


def possible_games(
    evidence: PairEvidence, possible: PossibleMeans, spaces: ActionSpaces, rng: np.random.Generator
) -> Iterator[Game]:
    """Draw games that the data leave possible, means kept within their range.

    Coalitions that were `never_observed` are at its ends: in games 0, 4, ... all at the lower one, in 1, 5, ... at the
    upper one, in 2, 6, ... at the lower and upper one by turns, and in 3, 7, ... the other way round.
    """
    estimate = evidence.estimate
    bounds = estimate.bounds
    unseen = np.flatnonzero(never_observed(evidence))
    ends = np.array([bounds.low, bounds.high])
    turn = np.arange(len(unseen)) % 2
    for number in range(DRAWS):
        mean = np.clip(possible.draw(rng), bounds.low, bounds.high)
        at = (number + turn * (number % WAYS // 2)) % 2
        mean[unseen] = ends[at].reshape(-1, *(1,) * (mean.ndim - 1))
        yield estimate.unknowns.game(mean, spaces, *(evidence.names or ()))


def never_observed(evidence: PairEvidence) -> BoolArray:
    """Return in which coalitions no pair was ever observed; none where others were not either, or without a range."""
    bounds, count = evidence.estimate.bounds, evidence.estimate.moments.count
    unseen: BoolArray = np.asarray((count == 0).reshape(len(count), -1).all(axis=1))
    return np.asarray(unseen & bool(np.isfinite(bounds.half_width) and not unseen.all()))


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
