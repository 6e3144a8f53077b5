"""Best-response dynamics on known utilities.

Agents move one after the other, each to a best response to the others, until nobody gains. In
games with a potential every move raises it, so this ends in a Nash stable profile; in others it
may run in a circle, which is noticed.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError
from coterie.game.game import STABLE_WITHIN, Game
from coterie.game.means import DenseMeans
from coterie.game.strategy import Strategy
from coterie.game.utilities import FromMeans

Status = Literal["converged", "cycled", "limit"]


@dataclass(frozen=True)
class DynamicsResult:
    """Where best-response dynamics ended: the profile with the smallest gap that it saw."""

    strategy: Strategy
    gap: float
    status: Status
    """"converged": nobody gains; "cycled": it came back to an earlier profile; "limit": out of sweeps."""

    sweeps: int
    moves: int


@dataclass(frozen=True)
class PureSearch:
    """The best pure profile of several runs; `potential` is None where the game has none."""

    strategy: Strategy
    gap: float
    potential: float | None
    status: Status
    starts: int


class _Rooms:
    """Room values W_i(l) of a pure profile that changes one agent at a time."""

    def __init__(self, game: Game, profile: BoolArray) -> None:
        self.game, self.profile = game, profile
        utilities = game.utilities
        self.dense: FromMeans | None = None  # where sums over members can follow a move
        if isinstance(utilities, FromMeans) and isinstance(utilities.means, DenseMeans):
            self.dense = utilities
        self.refresh()

    def refresh(self) -> None:
        """Compute everything anew, without the rounding that builds up over many moves."""
        if self.dense is None:
            self.values = np.asarray(self.game.utilities.pure_room_values(self.profile[None])[0])
        else:
            self.sums = self.dense.means.room_sums(self.profile.astype(np.float64))
            self.sizes = self.profile.sum(axis=0)

    def gap(self) -> float:
        """Return the most that anybody gains by moving."""
        rooms = np.array([self.of(i) for i in range(self.game.n_agents)])
        gains = self.game.actions.best_responses(rooms)[0] - np.where(self.profile, rooms, 0.0).sum(axis=1)
        return max(float(gains.max()), 0.0)

    def of(self, agent: int) -> FloatArray:
        """Return one agent's row of W."""
        if self.dense is None:
            return np.asarray(self.values[agent])
        return self.dense.from_sums(self.sums[agent], self.sizes - self.profile[agent] + 1)

    def move(self, agent: int, action: BoolArray) -> None:
        """Let one agent play another set; O(n) per coalition that she joins or leaves."""
        changed = np.flatnonzero(action != self.profile[agent])
        self.profile[agent] = action
        if self.dense is None:
            self.refresh()
            return
        for l in changed.tolist():
            sign = 1 if action[l] else -1
            self.sums[:, l] += sign * self.dense.means.matrix(l)[:, agent]
            self.sizes[l] += sign


def best_response_dynamics(
    game: Game,
    start: Strategy,
    rng: np.random.Generator | None = None,
    *,
    max_sweeps: int = 1000,
) -> DynamicsResult:
    """Let agents move to best responses in turn, from a pure profile, until nobody gains.

    Parameters
    ----------
    game
        The known utilities.
    start
        A pure strategy in which everybody plays one of her actions.
    rng
        Draws the order of the agents, once; by default they move in the order of the game. As the
        order then stays, a profile that returns proves a cycle.
    max_sweeps
        After so many rounds over all agents it gives up.
    """
    if not start.is_pure:
        raise InputError("best-response dynamics starts from a pure strategy, this one is mixed")
    game.strategy(start)
    if outside := game.actions.outside(start.owner, start.sets):
        raise InputError(f"start: {game.agents[outside[0]]} plays a set that is not among her actions")
    order = np.arange(game.n_agents) if rng is None else rng.permutation(game.n_agents)
    rooms = _Rooms(game, start.sets.copy())
    best, smallest, moves = rooms.profile.copy(), np.inf, 0
    status: Status = "limit"
    seen: set[bytes] = set()
    for sweep in range(checks.whole(max_sweeps, "max_sweeps", 0) + 1):
        gap = rooms.gap()
        if moves and gap <= 1000 * STABLE_WITHIN:  # close enough for rounding to matter
            rooms.refresh()
            gap = rooms.gap()
        if gap < smallest:
            best, smallest = rooms.profile.copy(), gap
        key = np.packbits(rooms.profile).tobytes()
        if gap <= STABLE_WITHIN:
            status = "converged"
        elif key in seen:
            status = "cycled"
        if status != "limit" or sweep == max_sweeps:
            break
        seen.add(key)
        for agent in order:
            row = rooms.of(agent)[None]
            value, action = game.actions.spaces[agent].best_responses(row)
            if value[0] - row[0, rooms.profile[agent]].sum() > STABLE_WITHIN:
                rooms.move(agent, action[0])
                moves += 1
    return DynamicsResult(Strategy.pure(best, game.agents, game.coalitions), smallest, status, sweep, moves)


def best_pure_profile(game: Game, rng: np.random.Generator, starts: int = 32) -> PureSearch:
    """Run the dynamics from random profiles and return the best end.

    With a potential this is the Nash stable profile of largest potential found, without one the
    profile of smallest gap; among equals the largest sum of utilities, then the first.
    """
    checks.whole(starts, "starts", 1)
    found: PureSearch | None = None
    best_rank: tuple[bool, float, float] | None = None
    for profile in game.actions.sample(rng, starts):
        start = Strategy.pure(profile, game.agents, game.coalitions)
        end = best_response_dynamics(game, start, rng)
        height = game.potential(end.strategy) if game.has_potential else None
        value = float(game.values(end.strategy).sum())
        rank = (end.status == "converged", -end.gap if height is None else height, value)
        if best_rank is None or rank > best_rank:
            best_rank = rank
            found = PureSearch(end.strategy, end.gap, height, end.status, starts)
    assert found is not None
    return found
