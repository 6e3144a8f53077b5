"""The gap to expect: over what the utilities may be, not only under the best guess of them.

With few data many profiles look stable under one guess of the utilities, and most of them are not: whoever
is picked for looking stable looks better than she is. Drawing the utilities around the guess, as far off as
the data leave possible, tells those that stay nearly stable from those that were lucky.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certify.evidence import PairEvidence
from coterie.game import Game
from coterie.joint_actions import ActionSpaces
from coterie.solve.estimated import estimated_game, room_values
from coterie.strategy import Strategy

DRAWS = 24
"""How many possible games an expectation is the mean of."""


def possible_games(
    guessed: PairEvidence, spread: FloatArray, spaces: ActionSpaces, rng: np.random.Generator, *, symmetric: bool
) -> list[Game]:
    """Return games whose means are drawn from Normal(guess, spread), kept within their range."""
    moments, bounds = guessed.estimate.moments, guessed.estimate.bounds
    games = []
    for _ in range(DRAWS):
        noise = rng.normal(size=moments.mean.shape)
        if symmetric:  # both orders of a pair are one unknown
            first, second = np.triu_indices(noise.shape[1], 1)
            noise[:, second, first] = noise[:, first, second]
        mean = np.clip(moments.mean + spread * noise, bounds.low, bounds.high)
        drawn = replace(guessed, estimate=replace(guessed.estimate, moments=replace(moments, mean=mean)))
        games.append(estimated_game(drawn, spaces))
    return games


def expected_gaps(games: Sequence[Game], strategies: Sequence[Strategy]) -> FloatArray:
    """Return the mean gap of each strategy over games with the same agents, coalitions and actions."""
    if all(strategy.is_pure for strategy in strategies):
        profiles = np.stack([strategy.sets for strategy in strategies])
        return np.asarray(np.mean([_pure_gaps(game, profiles) for game in games], axis=0))
    return np.array([np.mean([game.gap(strategy) for game in games]) for strategy in strategies])


def _pure_gaps(game: Game, profiles: BoolArray) -> FloatArray:
    """Return the gaps of many pure profiles, shape (b, n, k)."""
    gaps = np.zeros(len(profiles))
    for agent, space in enumerate(game.actions.spaces):
        rooms = room_values(game.utilities, profiles, np.array([agent]))[:, 0]
        gains = space.best_responses(rooms)[0] - (rooms * profiles[:, agent]).sum(axis=1)
        gaps = np.maximum(gaps, gains)
    return gaps
