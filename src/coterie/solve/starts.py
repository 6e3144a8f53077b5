"""Where searches over pure profiles begin: diverse profiles, each let settle on the estimate."""

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.game import STABLE_WITHIN, Game
from coterie.solve.control import Control
from coterie.solve.estimated import room_values


def diverse(game: Game, count: int, rng: np.random.Generator) -> BoolArray:
    """Return `count` profiles: a few greedy, a few with everybody at the same set, the rest random."""
    spaces, few = game.actions, min(count // 4, 32)
    profiles: BoolArray = spaces.sample(rng, count)
    for t in range(few):
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
        rooms = room_values(game.utilities, profile, np.array([agent]))[:, 0]
        # Empty rooms are worth nothing; a little noise spreads those who come first.
        rooms = rooms + 1e-6 * rng.normal(size=rooms.shape)
        profile[0, agent] = game.actions.spaces[agent].best_responses(rooms)[1][0]
    return np.asarray(profile[0])


FIRST_SWEEPS = 30
"""Where runs may circle and none has come to rest after so many sweeps, hardly any ever does."""


def settle(
    game: Game, profiles: BoolArray, rng: np.random.Generator, control: Control, max_sweeps: int = 200
) -> tuple[BoolArray, BoolArray, int]:
    """Run best-response dynamics from many profiles at once, in one random order of the agents.

    Returns
    -------
    Where each run ended, whether it came to rest (else it ran in a circle or out of sweeps), and the
    number of sweeps. As the order stays, a profile that returns proves a circle. Circles may be long,
    so in games that may have no potential all is over after twice as many sweeps as the last run to come
    to rest needed, but not before `FIRST_SWEEPS`.
    """
    current = profiles.copy()
    order = rng.permutation(game.n_agents)
    stable = np.zeros(len(current), dtype=bool)
    seen: list[set[bytes]] = [set() for _ in current]
    active = np.arange(len(current))
    may_circle = game.depends_on_size or not game.is_symmetric
    sweep, limit = 0, min(FIRST_SWEEPS, max_sweeps) if may_circle else max_sweeps
    while len(active) and sweep < limit:
        control.check()
        sweep += 1
        moving = current[active]
        moved = np.zeros(len(active), dtype=bool)
        for agent in order.tolist():
            rooms = room_values(game.utilities, moving, np.array([agent]))[:, 0]
            value, action = game.actions.spaces[agent].best_responses(rooms)
            gains = value - (rooms * moving[:, agent]).sum(axis=1) > STABLE_WITHIN
            moving[gains, agent] = action[gains]
            moved |= gains
        current[active] = moving
        stable[active[~moved]] = True
        if not moved.all():
            limit = min(max(limit, 2 * sweep), max_sweeps)
        going = []
        for t in active[moved].tolist():
            key = np.packbits(current[t]).tobytes()
            if key not in seen[t]:
                seen[t].add(key)
                going.append(t)
        active = np.array(going, dtype=np.intp)
    return current, stable, sweep
