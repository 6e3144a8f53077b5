"""The best mixed strategy: exact block linear programs, and a joint descent where they stall.

For fixed others, the objective is the largest of functions that are linear (semi-bandit) or convex
(bandit) in one agent's strategy, so her best strategy is a linear program, with tangents as cuts. When no
agent alone can improve, all move together: the functions are linearised at the current point, and a
linear program over all strategies is solved within a trust region that grows with success.

The gap of a known game, or of an estimate, is 0 somewhere: best responses that come to rest are looked at first, and
then what complementary pivoting finds (`coterie.solve.polymatrix`), where sizes do not matter.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.dynamics import settle
from coterie.game.strategy import Strategy
from coterie.solve.control import Control
from coterie.solve.hull import Hull, strategy_of
from coterie.solve.objective import GapObjective
from coterie.solve.polymatrix import polymatrix, takes
from coterie.solve.pure import pure
from coterie.solve.smooth import RoomObjective, SmoothGap, SmoothObjective
from coterie.solve.solution import Solution, Status

STEP = 1e-10
"""Improvements below this are rounding, where utilities are about 1."""

ENOUGH = 1e-11
"""A value as small as this is 0, likewise."""

SETTLED = 32
"""From so many profiles best responses begin."""

LISTED = 64
"""Spaces up to this size contribute every deviation to a linear program, larger ones those that were met."""


def mixed(
    objective: SmoothObjective,
    control: Control | None = None,
    *,
    starts: int = 8,
    begin: Sequence[Strategy] = (),
    sweeps: int = 60,
) -> Solution:
    """Search for the mixed strategy with the smallest value.

    Parameters
    ----------
    objective
        What to minimise.
    control
        Seed, time limit, progress, interruption.
    starts
        From how many strategies: the uniform one, pure profiles that look stable, random ones.
    begin
        Strategies to start from before these, such as the result of another solver.
    sweeps
        At most so many rounds of block steps, and of joint steps, from each start.
    """
    control = control or Control()
    checks.whole(starts, "starts", 1)
    descent = _Descent(objective, control)
    hulls, spaces = descent.hulls, objective.game.actions
    uniform = [hull.uniform() for hull in hulls]
    for points in (uniform, *map(descent.points, begin)):
        descent.keep(points)
    done, limited = 0, False
    with control.running():
        for strategy in _equilibria(objective, control):
            descent.keep(descent.points(strategy))
            if descent.is_done:
                break
        for points in [] if descent.is_done else [*map(descent.points, begin), uniform]:
            limited |= not descent.run(points, sweeps)
            done += 1
        if not descent.is_done:
            inner = control.nested()
            found = pure(GapObjective(objective.game), inner, starts=32, kicks=2, keep=max(1, starts // 2))
            control.follow(inner)
            ranked = sorted(found.candidates, key=lambda strategy: objective.value(strategy.marginals))
            looks_stable = [descent.points(strategy) for strategy in ranked]
            while done < starts + len(begin) and not descent.is_done:
                control.report("mixed", done, starts + len(begin), descent.best_value)
                if looks_stable:
                    points = looks_stable.pop(0)
                elif control.rng.random() < 0.5:
                    points = [hull.random(control.rng) for hull in hulls]
                else:
                    drawn = spaces.sample(control.rng, 1)[0]
                    pure_start = Strategy.pure(drawn, objective.game.agents, objective.game.coalitions)
                    mix = control.rng.uniform(0.3, 0.9)
                    points = [
                        mix * hull.point(pure_start, i) + (1 - mix) * hull.uniform() for i, hull in enumerate(hulls)
                    ]
                limited |= not descent.run(points, sweeps)
                done += 1
    strategy = strategy_of(objective.game, hulls, descent.best)
    value = objective.value(strategy.marginals)
    status: Status = control.ended or ("limit" if limited and not descent.is_done else "converged")
    return Solution(
        strategy, value, "mixed", objective.label, status, done, descent.sweeps, control.seconds, candidates=(strategy,)
    )


def _equilibria(objective: SmoothObjective, control: Control) -> Iterator[Strategy]:
    """Yield strategies that may have no gap, where the gap is what is minimised."""
    game = objective.game
    if not isinstance(objective, SmoothGap):
        return
    ends, stable, _ = settle(game, game.actions.sample(control.rng, SETTLED), control.rng, control.check)
    for end in ends[stable]:
        yield Strategy.pure(end, game.agents, game.coalitions)
    if takes(game):
        inner = control.nested(0.5, speaks=True)
        yield polymatrix(game, inner).strategy
        control.heed(inner)
        control.check()


class _Descent:
    """One objective, the best point so far, and the steps that lower it."""

    def __init__(self, objective: SmoothObjective, control: Control) -> None:
        self.objective, self.control = objective, control
        self.step, self.enough = STEP * objective.game.unit, ENOUGH * objective.game.unit
        spaces = objective.game.actions
        hull_of = {id(space): Hull.of(space) for space, _ in spaces.groups}
        self.hulls = [hull_of[id(space)] for space in spaces.spaces]
        self.best: list[FloatArray] = []
        self.best_value = np.inf
        self.sweeps = 0
        self.deviations: list[list[BoolArray]] = []
        self.counted = spaces.counted.tolist()
        for space, counts in zip(spaces.spaces, self.counted, strict=True):
            self.deviations.append(list(space.enumerate()) if counts and space.size <= LISTED else [])

    @property
    def is_done(self) -> bool:
        """Whether nothing better can exist."""
        return self.best_value <= self.enough

    def points(self, strategy: Strategy) -> list[FloatArray]:
        """Return the points of a strategy."""
        return [hull.point(strategy, i) for i, hull in enumerate(self.hulls)]

    def marginals(self, points: Sequence[FloatArray]) -> FloatArray:
        return np.array([z @ hull.basis for z, hull in zip(points, self.hulls, strict=True)])

    def keep(self, points: list[FloatArray], value: float | None = None) -> float:
        """Remember the best point."""
        value = self.objective.value(self.marginals(points)) if value is None else value
        if value < self.best_value:
            self.best, self.best_value = [z.copy() for z in points], value
        return value

    def run(self, points: list[FloatArray], sweeps: int) -> bool:
        """Descend from a point until neither one agent nor all together can improve; False if out of sweeps."""
        value = self.keep(points)
        for _ in range(3):
            before = value
            for _ in range(sweeps):
                start = value
                for i in range(len(points)):
                    points, value = self._block(points, value, i)
                self.sweeps += 1
                if start - value <= max(self.step, 1e-4 * value) or value <= self.enough:
                    break
            points, value = self._together(points, value, sweeps)
            if before - value <= max(self.step, 1e-3 * value) or value <= self.enough:
                return True
        return False

    def _met(self, p: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return the deviations to look at: all, or those that were worst at some point before."""
        actions = self.objective.worst(p)[1]
        for i, known in enumerate(self.deviations):
            if self.counted[i] and self.objective.game.actions.spaces[i].size > LISTED:
                if not any((action == actions[i]).all() for action in known):
                    known.append(actions[i])
                del known[:-LISTED]
        agents = np.repeat(np.arange(len(p)), [len(known) for known in self.deviations])
        return agents, np.array([action for known in self.deviations for action in known])

    def _block(self, points: list[FloatArray], value: float, agent: int) -> tuple[list[FloatArray], float]:
        """Let one agent take her best strategy for fixed others."""
        cuts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        trial, movers = list(points), [agent]
        rounds = 1 if isinstance(self.objective, RoomObjective) and self._all_listed else 6
        for _ in range(rounds):
            self.control.check()
            p = self.marginals(trial)
            gains, slopes = self.objective.tangents(p, *self._met(p))
            cuts.append((gains, slopes, p))
            found = self._program(points, movers, cuts, 1.0)
            if found is None:
                break
            trial, expected = found
            reached = self.keep(trial)
            if reached < value - self.step:
                points, value = trial, reached
            if reached <= expected + self.step:
                break
        return points, value

    @property
    def _all_listed(self) -> bool:
        return all(space.size <= LISTED for space in self.objective.game.actions.spaces)

    def _together(self, points: list[FloatArray], value: float, steps: int) -> tuple[list[FloatArray], float]:
        """Let all move at once within a trust region."""
        radius, everybody = 0.25, list(range(len(points)))
        for _ in range(steps):
            if value <= self.enough:
                break
            p = self.marginals(points)
            gains, slopes = self.objective.tangents(p, *self._met(p))
            while radius > 1e-6:
                self.control.check()
                found = self._program(points, everybody, [(gains, slopes, p)], radius)
                if found is None or value - found[1] <= max(self.step, 1e-6 * value):
                    return points, value
                trial, expected = found
                reached = self.keep(trial)
                if value - reached >= 0.1 * (value - expected):
                    radius = min(1.0, 2 * radius) if value - reached >= 0.5 * (value - expected) else radius
                    break
                radius /= 4
            else:
                return points, value
            points, value = trial, reached
            self.sweeps += 1
        return points, value

    def _program(
        self,
        points: list[FloatArray],
        movers: list[int],
        cuts: list[tuple[FloatArray, FloatArray, FloatArray]],
        radius: float,
    ) -> tuple[list[FloatArray], float] | None:
        """Minimise the largest tangent over the movers' strategies; return new points and the value expected."""
        from scipy.optimize import linprog

        hulls = [self.hulls[i] for i in movers]
        rows, limits = [], []
        unit = self.objective.game.unit  # tolerances of the program are absolute
        for gains, slopes, p in ((gains / unit, slopes / unit, p) for gains, slopes, p in cuts):
            rows.append(np.concatenate([slopes[:, i] @ self.hulls[i].basis.T for i in movers], axis=1))
            limits.append(np.einsum("dik,ik->d", slopes[:, movers], p[movers]) - gains)
        matrix, limit = np.concatenate(rows), np.concatenate(limits)
        matrix = np.concatenate([matrix, -np.ones((len(matrix), 1))], axis=1)
        sizes = [len(hull.basis) for hull in hulls]
        ends = np.cumsum(sizes)
        equal, free = [], []
        for hull, begin, end in zip(hulls, ends - sizes, ends, strict=True):
            row = np.zeros(matrix.shape[1])
            row[begin:end] = 1.0
            if hull.least == hull.most:
                equal.append((row, hull.most))
            else:
                free += [(row, hull.most), (-row, -hull.least)]
        if free:
            matrix = np.concatenate([matrix, np.array([row for row, _ in free])])
            limit = np.concatenate([limit, [bound for _, bound in free]])
        here = np.concatenate([points[i] for i in movers])
        box = np.stack([np.maximum(here - radius, 0.0), np.minimum(here + radius, 1.0)], axis=1)
        box = np.concatenate([np.minimum(box, [[1.0, 1.0]]), [[0.0, np.inf]]])
        found: Any = linprog(  # type: ignore[call-overload]
            np.eye(matrix.shape[1])[-1],
            A_ub=matrix,
            b_ub=limit,
            A_eq=np.array([row for row, _ in equal]) if equal else None,
            b_eq=np.array([bound for _, bound in equal]) if equal else None,
            bounds=box,
            method="highs",
        )
        if not found.success:
            return None
        moved = list(points)
        for i, hull, begin, end in zip(movers, hulls, ends - sizes, ends, strict=True):
            z = np.clip(found.x[begin:end], 0.0, 1.0)
            moved[i] = z / z.sum() if hull.least == hull.most else z
        return moved, float(found.fun) * unit
