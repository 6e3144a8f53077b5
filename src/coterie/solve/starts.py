"""Where searches over pure profiles begin: diverse profiles, which `coterie.game.dynamics.settle` leads on."""

from collections.abc import Callable

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.game import Game


def diverse(game: Game, count: int, rng: np.random.Generator, check: Callable[[], None] = lambda: None) -> BoolArray:
    """Return `count` profiles: a few greedy, a few with everybody at the same set, the rest random.

    `check` is called now and then; what it raises ends it.
    """
    spaces, few = game.actions, min(count // 4, 32)
    profiles: BoolArray = spaces.sample(rng, count)
    for t in range(few):
        check()
        profiles[t] = greedy(game, rng)
    for t in range(few, 2 * few):
        # The same weights make everybody who can choose the same set choose it.
        weights = np.tile(rng.normal(size=game.n_coalitions), (game.n_agents, 1))
        profiles[t] = spaces.best_responses(weights)[1]
    return profiles


def greedy(game: Game, rng: np.random.Generator) -> BoolArray:
    """Let agents arrive in random order, each choosing what is best with those who are there already."""
    profile = np.zeros((1, game.n_agents, game.n_coalitions), dtype=bool)
    for agent in rng.permutation(game.n_agents):
        rooms = game.utilities.pure_room_values(profile, np.array([agent]))[:, 0]
        # Empty rooms are worth nothing; a little noise spreads those who come first.
        rooms = rooms + 1e-6 * game.unit * rng.normal(size=rooms.shape)
        profile[0, agent] = game.actions.spaces[agent].best_responses(rooms)[1][0]
    return np.asarray(profile[0])
