"""Best-response dynamics on known utilities.

Agents move one after the other, each to a best response to the others, until nobody gains. In
games with a potential every move raises it, so this ends in a Nash stable profile; in others it
may run in a circle, which is noticed: the order of the agents stays, so a profile that returns proves it.

`best_response_dynamics` follows one profile and remembers the best that it saw; `step_dynamics` does so under
another notion of stability or under rules, where whoever gains most goes first; `settle` leads many profiles at once,
as a search needs them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, IntArray
from coterie.errors import InputError
from coterie.game.actions import names_in
from coterie.game.game import Deviation, Game
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, StrategyLike
from coterie.game.utilities import ListedRooms, ProfileRooms, Rooms, SizeFree

Status = Literal["converged", "cycled", "limit"]

FIRST_SWEEPS = 30
"""Where runs may circle and none has come to rest after so many sweeps, hardly any ever does."""

MANY = 50_000
"""From so many listed pairs and places for agents on, loops are compiled, which takes a second or more."""


@dataclass(frozen=True)
class DynamicsResult:
    """Where best-response dynamics ended, and how it came there."""

    strategy: Strategy
    """The profile with the smallest gap that it saw: where it came to rest, if it did."""
    gap: float
    status: Status
    """"converged": nobody gains; "cycled": it came back to an earlier profile; "limit": out of sweeps."""

    sweeps: int
    start: Strategy
    trajectory: tuple[Deviation, ...]
    """Every move, in order: who, where to, and what was gained."""

    @property
    def moves(self) -> int:
        """The number of moves."""
        return len(self.trajectory)

    def profiles(self) -> Iterator[Strategy]:
        """Yield the start, and the profile after each move."""
        current = self.start
        yield current
        for move in self.trajectory:
            for agent, action in (move.movers or {move.agent: move.action}).items():
                current = current.replace(agent, action)
            yield current

    def __repr__(self) -> str:
        return f"DynamicsResult({self.status} after {self.moves} moves, gap {self.gap:.4g})"


@dataclass(frozen=True)
class PureSearch:
    """The best pure profile of several runs; `potential` is None where the game has none."""

    strategy: Strategy
    gap: float
    potential: float | None
    status: Status
    starts: int


def _sweep(game: Game, rooms: Rooms, order: IntArray, trajectory: list[Deviation] | None = None) -> IntArray:
    """Let every agent in turn move to a best response; return how many moved in each profile.

    The moves of the first profile are added to the trajectory, where there is one.
    """
    moves = np.zeros(len(rooms.profiles), dtype=np.int64)
    for agent in order.tolist():
        values = rooms.of(agent)
        best, actions = game.actions.spaces[agent].best_responses(values)
        gains = best - (values * rooms.profiles[:, agent]).sum(axis=1)
        moving = gains > game.rounding
        rooms.move(agent, moving, actions)
        moves += moving
        if trajectory is not None and moving[0]:
            where = tuple(names_in(actions[0], game.coalitions))
            trajectory.append(Deviation(game.agents[agent], where, float(gains[0])))
    return moves


class _Turns:
    """The turns of the agents of one profile."""

    def __init__(self, game: Game, rooms: ProfileRooms) -> None:
        self.game, self.rooms = game, rooms

    def gap(self) -> float:
        """Return the most that anybody gains by moving."""
        return max(float(self.game.responses(self.rooms)[0].max()), 0.0)

    def sweep(self, order: IntArray, trajectory: list[Deviation]) -> None:
        """Let every agent in turn move to a best response, and add the moves to the trajectory."""
        _sweep(self.game, self.rooms, order, trajectory)


class _CompiledTurns(_Turns):
    """The same turns, compiled."""

    def __init__(self, game: Game, rooms: ListedRooms) -> None:
        from coterie.game.sweeps import Sweeps  # here, since numba is slow to load

        super().__init__(game, rooms)
        self._sweeps = Sweeps(rooms.means, game.actions, rooms.profile, game.rounding)

    def gap(self) -> float:
        return max(self._sweeps.largest_gain(), 0.0)

    def sweep(self, order: IntArray, trajectory: list[Deviation]) -> None:
        agents, coalitions = self.game.agents, self.game.coalitions
        for agent, action, gain in self._sweeps.run(order):
            trajectory.append(Deviation(agents[agent], tuple(coalitions[l] for l in action), gain))


def _turns(game: Game, rooms: ProfileRooms) -> _Turns:
    """Return the turns of the agents, compiled where pairs are listed and agents are many."""
    if not isinstance(rooms, ListedRooms) or len(rooms.means.listed.value) + rooms.profile.size < MANY:
        return _Turns(game, rooms)
    fits = isinstance(game.utilities, SizeFree) and game.actions.limits is not None
    return _CompiledTurns(game, rooms) if fits else _Turns(game, rooms)


def _key(profile: BoolArray) -> bytes:
    """Return what tells a profile from others."""
    return np.packbits(profile).tobytes()


def best_response_dynamics(
    game: Game,
    start: StrategyLike,
    seed: checks.Seed = None,
    *,
    max_sweeps: int = 1000,
) -> DynamicsResult:
    """Let agents move to best responses in turn, from a pure profile, until nobody gains.

    Parameters
    ----------
    game
        The known utilities.
    start
        A pure strategy in which everybody plays one of their actions.
    seed
        Draws the order of the agents, once; by default they move in the order of the game.
    max_sweeps
        After so many rounds over all agents it gives up.
    """
    start = _checked_start(game, start)
    order = np.arange(game.n_agents) if seed is None else checks.generator(seed, "seed").permutation(game.n_agents)
    rooms, trajectory, course = game.utilities.rooms(start.sets), list[Deviation](), _Course(start.sets, game.rounding)
    turns = _turns(game, rooms)
    for sweep in range(checks.whole(max_sweeps, "max_sweeps", 0) + 1):
        gap = turns.gap()
        if trajectory and gap <= 1000 * game.rounding:  # close enough for rounding to matter
            rooms.refresh()
            gap = turns.gap()
        if course.ends(rooms.profile, gap) or sweep == max_sweeps:
            break
        turns.sweep(order, trajectory)
    return course.result(start, sweep, trajectory)


class _Course:
    """The best profile on the way, and whether it came to rest or to one where it was before."""

    def __init__(self, start: BoolArray, rounding: float) -> None:
        self._rounding = rounding
        self.best, self.smallest = start, np.inf
        self.status: Status = "limit"
        self._seen: set[bytes] = set()

    def ends(self, profile: BoolArray, gap: float) -> bool:
        """Note a profile, and return whether there is no more to come."""
        if gap < self.smallest:
            self.best, self.smallest = profile.copy(), gap
        key = _key(profile)
        if gap <= self._rounding:
            self.status = "converged"
        elif key in self._seen:
            self.status = "cycled"
        self._seen.add(key)
        return self.status != "limit"

    def result(self, start: Strategy, rounds: int, trajectory: list[Deviation]) -> DynamicsResult:
        """Return what came of it."""
        best = Strategy.pure(self.best, start.agents, start.coalitions)
        return DynamicsResult(best, self.smallest, self.status, rounds, start, tuple(trajectory))


def _checked_start(game: Game, start: StrategyLike) -> Strategy:
    found = game.strategy(start)
    if not found.is_pure:
        raise InputError("best-response dynamics starts from a pure strategy, this one is mixed")
    if outside := game.actions.outside(found.owner, found.sets):
        raise InputError(f"start: {game.agents[outside[0]]} plays a set that is not among their actions")
    return found


def step_dynamics(
    game: Game, start: StrategyLike, stability: Stability, rules: Any = None, *, max_steps: int = 10_000
) -> DynamicsResult:
    """Let whoever gains most go first, from a pure profile, until no step is left that nobody refuses.

    Parameters
    ----------
    game
        The known utilities.
    start
        A pure strategy in which everybody plays one of their actions.
    stability, rules
        Which steps there are, as for `Game.gap`.
    max_steps
        After so many steps it gives up.
    """
    start = current = _checked_start(game, start)
    trajectory, course = list[Deviation](), _Course(start.sets, game.rounding)
    for step in range(checks.whole(max_steps, "max_steps", 0) + 1):
        worst = game.worst(current, stability, rules)
        gap = 0.0 if worst is None else max(worst.gain, 0.0)
        if course.ends(current.sets, gap) or step == max_steps:
            break
        assert worst is not None
        trajectory.append(worst)
        for agent, action in (worst.movers or {worst.agent: worst.action}).items():
            current = current.replace(agent, action)
    return course.result(start, step, trajectory)


def settle(
    game: Game,
    profiles: BoolArray,
    seed: checks.Seed,
    check: Callable[[], None] = lambda: None,
    max_sweeps: int = 200,
) -> tuple[BoolArray, BoolArray, int]:
    """Run best-response dynamics from many profiles (b, n, k) at once, in one random order of the agents.

    `check` is called before each sweep; what it raises ends all runs.

    Returns
    -------
    Where each run ended, whether it came to rest (else it ran in a circle or out of sweeps), and the
    number of sweeps. Circles may be long, so in games that may have no potential all is over after twice
    as many sweeps as the last run to come to rest needed, but not before `FIRST_SWEEPS`.
    """
    current = profiles.copy()
    order = checks.generator(seed, "seed").permutation(game.n_agents)
    stable = np.zeros(len(current), dtype=bool)
    seen: list[set[bytes]] = [set() for _ in current]
    active = np.arange(len(current))
    may_circle = game.depends_on_size or not game.is_symmetric
    sweep, limit = 0, min(FIRST_SWEEPS, max_sweeps) if may_circle else max_sweeps
    while len(active) and sweep < limit:
        check()
        sweep += 1
        rooms = Rooms(game.utilities, current[active])
        moved = _sweep(game, rooms, order) > 0
        current[active] = rooms.profiles
        stable[active[~moved]] = True
        if not moved.all():
            limit = min(max(limit, 2 * sweep), max_sweeps)
        going = []
        for t in active[moved].tolist():
            key = _key(current[t])
            if key not in seen[t]:
                seen[t].add(key)
                going.append(t)
        active = np.array(going, dtype=np.intp)
    return current, stable, sweep


def best_pure_profile(game: Game, seed: checks.Seed, starts: int = 32) -> PureSearch:
    """Run the dynamics from random profiles and return the best end.

    With a potential this is the Nash stable profile of largest potential found, without one the
    profile of smallest gap; among equals the largest sum of utilities, then the first.
    """
    rng = checks.generator(seed, "seed")
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
