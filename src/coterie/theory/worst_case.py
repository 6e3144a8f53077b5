"""Lower bounds on what any strategy must lose in one of several games that look the same.

The *worst-case gap* of a strategy is its largest gap over the games. Two bounds: over strategies
in which agents draw independently, by branch and bound, and over all distributions of joint
actions, by a linear program.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError, TooLargeError
from coterie.game.game import Game
from coterie.game.strategy import Strategy, StrategyLike

ROUNDING = 1e-9
"""Differences up to this much are rounding."""

MAX_CELLS = 200_000
"""How many cells `prove_worst_case_gap` looks at before it gives up."""


def worst_case_gap(games: Sequence[Game], strategy: StrategyLike) -> float:
    """Return the largest gap that the strategy has in any of the games."""
    return max(game.gap(strategy) for game in games)


@dataclass(frozen=True, eq=False)
class GapProof:
    """Whether all strategies of independent agents have a worst-case gap of at least `target`."""

    target: float
    holds: bool
    cells: int
    """How many cells were examined."""
    witness: Strategy | None
    """A strategy with a smaller worst-case gap, where the claim does not hold."""


def prove_worst_case_gap(games: Sequence[Game], target: float, max_cells: int = MAX_CELLS) -> GapProof:
    """Prove or refute that no strategy of independent agents has a worst-case gap below `target`.

    Branch and bound over products of simplices. Every gain is linear in each agent's strategy, so
    on a cell, a product of smaller simplices, it is smallest at a vertex, and its mean over the
    vertices is its value at the centre. A cell is done when one deviation in one game gains at least
    `target` at all vertices; it refutes the claim when at its centre none does; otherwise its
    longest edge is halved. The proof is exact up to `ROUNDING` in the target.

    Raises
    ------
    TooLargeError
        If `max_cells` cells do not decide it: `target` is about the true value.
    """
    gains = _gains(games)
    n, a = games[0].n_agents, gains.shape[-1]
    # Agents whose own choice changes nobody's gain need no splitting.
    matters = np.array([np.ptp(gains, axis=1 + i).max() > 0 for i in range(n)])
    pending = np.broadcast_to(np.eye(a), (1, n, a, a))  # cell, agent, vertex, probability of each action
    examined = 0
    while len(pending):
        cells, pending = pending[-256:], pending[:-256]
        examined += len(cells)
        values = np.broadcast_to(gains, (len(cells), *gains.shape))
        for i in range(n):
            values = np.einsum("cva,cga...->cg...v", cells[:, i], values)  # agent i's axis goes from first to last
        values = values.reshape(len(cells), len(gains), -1)
        centre = values.mean(axis=2).max(axis=1)
        if centre.min() < target - ROUNDING:
            return GapProof(target, False, examined, _strategy(games[0], cells[centre.argmin()].mean(axis=1)))
        cells = cells[values.min(axis=2).max(axis=1) < target - ROUNDING]
        if len(cells) and examined > max_cells:
            raise TooLargeError(f"worst-case gap {target}: undecided after {examined} cells; try a smaller target")
        if len(cells):
            pending = np.concatenate([pending, *_halves(cells, matters)])
    return GapProof(target, True, examined, None)


def correlated_worst_case_gap(games: Sequence[Game]) -> float:
    """Return the least worst-case gap of any distribution over joint actions, by a linear program.

    Agents compare following the draw with one fixed action of their own. What is returned is the
    value of the dual solution: a weighting of games, agents and deviations whose weighted gain is at
    least this much at every joint action, hence on average under every distribution.
    """
    from scipy.optimize import linprog

    gains = _gains(games)
    gains = gains.reshape(len(gains), -1)
    rows, columns = gains.shape
    solved = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.hstack([gains, -np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * (columns + 1),
    )
    weights = np.maximum(-solved.ineqlin.marginals, 0.0)
    return max(0.0, float((weights @ gains / max(weights.sum(), 1.0)).min()))


def _gains(games: Sequence[Game]) -> FloatArray:
    """Return every gain at every pure profile: (games x agents x deviations, actions of agent 1, ..., of agent n)."""
    spaces = games[0].actions
    if len({space.size for game in games for space in game.actions.spaces}) != 1:
        raise InputError("games: every agent must have the same number of actions")
    options = np.array([space.enumerate() for space in spaces.spaces])
    if any(not game.actions.contains(actions).all() for game in games for actions in np.moveaxis(options, 1, 0)):
        raise InputError("games: the action spaces differ")
    profiles = np.concatenate(list(spaces.joint_actions()))
    rows = []
    for game in games:
        rooms = game.utilities.pure_room_values(profiles)
        values = np.einsum("bil,ial->iab", rooms, options.astype(np.float64))
        rows.append(values - np.where(profiles, rooms, 0.0).sum(axis=2).T[:, None])
    return np.stack(rows).reshape(-1, *[options.shape[1]] * games[0].n_agents)


def _halves(cells: FloatArray, matters: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Cut each cell at the middle of the longest edge of an agent that matters."""
    edges = np.abs(cells[:, :, :, None] - cells[:, :, None]).sum(axis=-1) * matters[:, None, None]
    agent, u, v = np.unravel_index(edges.reshape(len(cells), -1).argmax(axis=1), edges.shape[1:])
    cell = np.arange(len(cells))
    middle = (cells[cell, agent, u] + cells[cell, agent, v]) / 2
    left, right = cells.copy(), cells.copy()
    left[cell, agent, u] = middle
    right[cell, agent, v] = middle
    return left, right


def _strategy(game: Game, shares: FloatArray) -> Strategy:
    supports = [(space.enumerate(), share) for space, share in zip(game.actions.spaces, shares, strict=True)]
    return Strategy.mixed(supports, game.agents, game.coalitions)
