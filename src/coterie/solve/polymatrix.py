"""Exact mixed equilibria of size-free games: a game with known pair utilities is a polymatrix game.

Agent i's payoff against agent j is the sum over the coalitions that both are in of d_ij^l, so a room's value is linear
in the others' strategies, and a strategy that is best against the others solves a linear program. All of these together
are a linear complementarity problem, which complementary pivoting solves (Howson 1972): see `coterie.solve.pivoting`.

Strategies are points z of the hulls of action spaces (`coterie.solve.hull`): a probability for each listed action, or
for each coalition where any sets up to a size may be chosen, so that these need not be listed. With multipliers y of
the constraints G z <= h of all agents (or = h, where y may have any sign),

    r = G'y - U z - t c >= 0, in pairs with z,        s = h - G z >= 0, in pairs with y.

Agents are first paid t c on top, for large t all that matters, and t falls to 0. c is what actions are worth against
fictitious play, the average of best responses to itself, with a little noise: paths from there are short. Some are not,
so each has a limit, which grows, and then another begins from another play. What does not touch each other, such as the
rooms of agents who may join any set or none, is solved by itself.
"""

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.game.actions import ActionSpace, ExplicitSets, UpTo
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.utilities import SizeFree
from coterie.solve.control import Control
from coterie.solve.hull import NOTHING, Hull, strategy_of
from coterie.solve.pivoting import Complementarity, Path
from coterie.solve.smooth import SmoothGap
from coterie.solve.solution import Solution, Status

MOST_PAIRS = 3000
"""Up to so many points and multipliers of all agents together: each table of them has 72 MB."""

ROUNDS, MOST_ROUNDS = 1 / 500, 500
"""So many rounds of fictitious play for each two pairs, and at most: with few pairs paths are short from anywhere."""

NOISE = 0.01
"""Of payoffs at large t, relative to the largest: it breaks ties."""

FIRST, PER_PAIR, PATIENCE = 256, 4, 3
"""A path has so many exchanges, or so many for each pair, and after so many paths twice as many."""

CELLS = 10_000_000
"""So many cells are worked on between looks at the clock: about a hundredth of a second."""

NUMPY_CELLS = 1_000_000_000
"""So many cells are worked on before the loop is compiled: a second, about as long as loading numba takes."""

MOST_CELLS = 100_000_000_000
"""A search ends after so many cells: about a minute, and the same on every machine."""


def takes(game: Game) -> bool:
    """Return whether pivoting solves a game: utilities are size-free, and there are not too many points."""
    return isinstance(game.utilities, SizeFree) and _n_pairs(game) <= MOST_PAIRS


def polymatrix(game: Game, control: Control | None = None) -> Solution:
    """Return an equilibrium of a size-free game, pure or not."""
    control = control or Control()
    if not isinstance(game.utilities, SizeFree):
        raise InputError("a game whose utilities depend on coalition sizes is not a polymatrix game")
    if _n_pairs(game) > MOST_PAIRS:
        raise TooLargeError(
            f"there are {_n_pairs(game):.3g} actions and limits of all agents; polymatrix takes {MOST_PAIRS}"
        )
    search = _Search(game, control)
    with control.running():
        search.run()
    status: Status = "converged" if search.value <= game.rounding else control.ended or "limit"
    strategy, value = search.best, search.value
    return Solution(
        strategy, value, "polymatrix", "gap", status, search.starts, search.steps, control.seconds, 0.0, (strategy,)
    )  # fmt: skip


def _hull(space: ActionSpace) -> Hull:
    """Return the points that are fewer: of listed actions, or of coalitions, with limits."""
    if not isinstance(space, UpTo) or _decides_by_coalition(space) or space.size > _most_pairs(space):
        return Hull.of(space)
    return Hull.of(ExplicitSets(space.enumerate()))


def _decides_by_coalition(space: UpTo) -> bool:
    """Return whether what an agent does in one coalition does not touch what she does in another."""
    return space.most == space.n_coalitions and space.may_stay_out


def _most_pairs(space: ActionSpace) -> int:
    """Return at most how many points and multipliers an agent has."""
    return 2 * space.n_coalitions + 2 if isinstance(space, UpTo) else space.size + 1


def _n_pairs(game: Game) -> int:
    return sum(_most_pairs(space) * len(agents) for space, agents in game.actions.groups)


class _Limits:
    """The constraints of one agent: where her points and multipliers are among all pairs."""

    multipliers: IntArray

    def __init__(self, hull: Hull, first: int) -> None:
        m = len(hull.basis)
        self.points = np.arange(first, first + m)
        self.is_simplex = hull.least == hull.most
        rows, bounds = [np.ones((1, m))], [np.full(1, hull.most)]
        if not self.is_simplex:
            rows, bounds = [np.eye(m)], [np.ones(m)]
            if hull.most < m:
                rows, bounds = [*rows, np.ones((1, m))], [*bounds, np.full(1, hull.most)]
            if hull.least > 0:
                rows, bounds = [*rows, -np.ones((1, m))], [*bounds, np.full(1, -hull.least)]
        self.most = int(hull.most)
        self.has_most, self.has_least = hull.most < m, hull.least > 0
        self.rows, self.bounds = np.concatenate(rows), np.concatenate(bounds)

    def inside(self, payoffs: FloatArray) -> tuple[IntArray, IntArray]:
        """Return which points and which multipliers are in the basis if payoffs are all that matters."""
        order = np.argsort(-payoffs, kind="stable")
        if self.is_simplex:
            return order[:1], np.zeros(1, dtype=np.int64)
        gaining = int((payoffs > 0).sum())
        if gaining > self.most:  # the next best is in, with probability 0, and pays for the limit
            return order[: self.most + 1], np.append(order[: self.most], len(payoffs))
        if gaining == 0 and self.has_least:
            return order[:1], np.array([len(self.rows) - 1])
        return order[:gaining], order[:gaining]


class _Search:
    """One game as a linear complementarity problem, its parts, and the best strategy so far."""

    def __init__(self, game: Game, control: Control) -> None:
        self.game, self.control, self.objective = game, control, SmoothGap(game)
        self.best = Strategy.pure(game.actions.sample(control.rng, 1)[0], game.agents, game.coalitions)
        self.value = self.objective.value(self.best.marginals)
        self.starts = self.steps = self.cells = 0
        hull_of = {id(space): _hull(space) for space, _ in game.actions.groups}
        self.hulls = [hull_of[id(space)] for space in game.actions.spaces]
        sizes = [len(hull.basis) for hull in self.hulls]
        self.owner, self.basis = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([h.basis for h in self.hulls])
        firsts = np.cumsum(sizes) - sizes
        self.limits = [_Limits(hull, first) for hull, first in zip(self.hulls, firsts.tolist(), strict=True)]
        self.is_listed = all(one.is_simplex for one in self.limits)
        self.problem = self._problem()

    def _problem(self) -> Complementarity:
        """Return M, q, and whose multipliers may have any sign."""
        points, rows = len(self.owner), sum(len(one.rows) for one in self.limits)
        matrix, constant = np.zeros((points + rows, points + rows)), np.zeros(points + rows)
        free = np.zeros(points + rows, dtype=bool)
        for l in range(self.game.n_coalitions):
            inside = np.flatnonzero(self.basis[:, l])
            means = self.game.utilities.means.matrix(l) / self.game.unit  # type: ignore[attr-defined]
            matrix[np.ix_(inside, inside)] -= means[np.ix_(self.owner[inside], self.owner[inside])]
        last = points
        for one in self.limits:
            one.multipliers = np.arange(last, last + len(one.rows))
            matrix[np.ix_(one.multipliers, one.points)] = -one.rows
            matrix[np.ix_(one.points, one.multipliers)] = one.rows.T
            constant[one.multipliers], free[one.multipliers] = one.bounds, one.is_simplex
            last += len(one.rows)
        return Complementarity(matrix, constant, free)

    def run(self) -> None:
        """Follow paths until each part is solved, or there was work enough."""
        parts = self.problem.parts()
        problems, found = [self.problem.of(part) for part in parts], np.zeros(len(self.problem))
        left = list(range(len(parts)))
        while left and self.cells < MOST_CELLS:
            self.control.report("polymatrix", self.starts, 0, self.value)
            cover, inside = self._begin()
            longer = 2 ** (self.starts // PATIENCE)
            self.starts += 1
            solved = []
            for part in left:
                path = Path(problems[part], cover[parts[part]], inside[parts[part]])
                self._follow(path, longer * max(FIRST, PER_PAIR * len(path.problem)))
                if not path.is_lost:
                    found[parts[part]] = path.points()
                if path.is_solved:
                    solved.append(part)
            self._keep(found)
            left = [part for part in left if part not in solved]
            if not left and self.value > self.game.rounding:  # digits were lost
                left = list(range(len(parts)))

    def _follow(self, path: Path, most: int) -> None:
        if path.is_lost:
            self.cells += len(path.problem) ** 2  # so that it ends if that happens again and again
            return
        step = max(1, CELLS // path.size)
        while not (path.is_solved or path.is_lost) and path.steps < most and self.cells < MOST_CELLS:
            self.control.check()
            before = path.steps
            path.follow(min(step, most - before), is_compiled=self.cells > NUMPY_CELLS)
            self.cells += (path.steps - before) * path.size
            self.steps += path.steps - before

    def _begin(self) -> tuple[FloatArray, BoolArray]:
        """Return d, and the solution for large t."""
        game, rng = self.game, self.control.rng
        play = game.actions.sample(rng, 1)[0].astype(np.float64)
        for turn in range(min(MOST_ROUNDS, int(ROUNDS * len(self.problem) ** 2))):
            play += (game.actions.best_responses(game.utilities.room_values(play))[1] - play) / (turn + 2)
        rooms = game.utilities.room_values(play)
        largest = float(np.abs(rooms).max())
        worth = (self.basis * rooms[self.owner]).sum(axis=1) / (largest or 1.0)
        worth += NOISE * rng.standard_normal(len(worth))
        cover, inside = np.zeros(len(self.problem)), np.zeros(len(self.problem), dtype=bool)
        cover[: len(worth)] = -worth
        for one in self.limits:
            points, multipliers = one.inside(worth[one.points])
            inside[one.points[points]] = inside[one.multipliers[multipliers]] = True
        return cover, inside

    def _keep(self, found: FloatArray) -> None:
        """Remember the strategy of the points, if it is the best so far."""
        points = np.clip(found[: len(self.owner)], 0.0, 1.0)
        strategy = self._listed(points) if self.is_listed else self._strategy(points)
        value = self.objective.value(strategy.marginals)
        if value < self.value:
            self.best, self.value = strategy, value

    def _listed(self, points: FloatArray) -> Strategy:
        """Return the strategy with these probabilities of listed actions: that of `_strategy`, sooner."""
        points /= np.bincount(self.owner, points)[self.owner]
        kept = points > NOTHING
        owner, points = self.owner[kept], points[kept]
        shares = points / np.bincount(owner, points)[owner]
        return Strategy(self.game.agents, self.game.coalitions, owner, self.basis[kept].astype(bool), shares)

    def _strategy(self, points: FloatArray) -> Strategy:
        parts = [points[one.points] for one in self.limits]
        shares = [z / z.sum() if one.is_simplex else z for z, one in zip(parts, self.limits, strict=True)]
        return strategy_of(self.game, self.hulls, shares)
