"""Complementary pivoting: the path of Lemke (1965) to a solution of a linear complementarity problem.

    slack = M point + d t + q,    point >= 0, slack >= 0,    one of each pair (point_j, slack_j) is 0

With t large there is a solution that is easy to see; along the path t falls, and rises again, until it is 0. On the way
all pairs but one have one member in the basis: what leaves it lets its partner enter. Of ties the lexicographically
first leaves, so that no basis returns. Pairs that are `free` are equations: their slack is 0, and their point may have
any sign.

The table holds each variable of the basis as a sum over those outside of it, in the order of these, and a constant. It
loses digits with every exchange, and is now and then made anew from M, as is the solution in the end.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.statistics.kernels import compiled, kernel

SMALL = 1e-10
"""Smaller entries than this are rounding, and nothing to divide by."""

TIED = 1e-11
"""Ratios that differ by less are the same."""

RENEWED = 2000
"""After so many exchanges the table is made anew."""

LOST = 1e-6
"""What should not be negative and is by more than this shows that digits were lost."""

SOLVED, RAY = -1, -2
"""In place of what enters: t has left the basis; nothing leaves it, so the path leads nowhere."""


@dataclass(frozen=True, eq=False)
class Complementarity:
    """M, q, and which pairs are equations."""

    matrix: FloatArray
    constant: FloatArray
    free: BoolArray

    def __len__(self) -> int:
        return len(self.constant)

    def of(self, pairs: IntArray) -> "Complementarity":
        """Return the problem of some pairs, which the others do not touch."""
        return Complementarity(self.matrix[np.ix_(pairs, pairs)], self.constant[pairs], self.free[pairs])

    def parts(self) -> list[IntArray]:
        """Return pairs that touch each other, part by part: parts are problems of their own."""
        touches = self.matrix != 0
        touches |= touches.T
        np.fill_diagonal(touches, val=True)
        label, before = np.arange(len(self)), np.full(len(self), -1)
        while (label != before).any():
            label, before = np.where(touches, label, len(self)).min(axis=1), label
        return [np.flatnonzero(label == one) for one in np.unique(label)]


class Path:
    """Where a path is. Variables are numbers: point j is j, slack j is p + j, and t is 2 p.

    Parameters
    ----------
    problem
        M and q.
    cover
        d: `inside` is the solution for large t.
    inside
        Which points are in the basis there, those of free pairs among them.
    """

    def __init__(self, problem: Complementarity, cover: FloatArray, inside: BoolArray) -> None:
        self.problem = problem
        self.steps = 0
        self.is_solved = self.is_lost = False
        self._wide = np.column_stack([problem.matrix, cover])
        self._basic = np.concatenate([np.flatnonzero(inside), len(problem) + np.flatnonzero(~inside)])
        self._entering = 2 * len(problem)
        self._renew()
        self._first = self._basic.copy()
        if not self.is_lost:
            self._begin()

    def _renew(self) -> None:
        """Make the table anew for the basis as it is."""
        pairs, constant = len(self.problem), self.problem.constant
        columns, free = np.append(np.arange(pairs), 2 * pairs), np.flatnonzero(self.problem.free)
        basic = np.zeros(2 * pairs + 1, dtype=bool)
        basic[self._basic] = basic[free] = True
        into, stays = np.flatnonzero(basic[columns]), np.flatnonzero(~basic[columns])
        kept, out = np.flatnonzero(basic[pairs:-1]), np.flatnonzero(~basic[pairs:-1])
        known = [np.eye(len(out)), -self._wide[np.ix_(out, stays)], -constant[out, None]]
        try:
            entered = np.linalg.solve(self._wide[np.ix_(out, into)], np.concatenate(known, axis=1))
        except np.linalg.LinAlgError:
            self.is_lost = True
            return
        left = self._wide[np.ix_(kept, into)] @ entered
        left[:, len(out) : -1] += self._wide[np.ix_(kept, stays)]
        left[:, -1] += constant[kept]
        rows, outside = np.concatenate([columns[into], pairs + kept]), np.concatenate([pairs + out, columns[stays]])
        some, others = ~np.isin(rows, free), ~np.isin(outside, pairs + free)
        self._basic, self._outside = rows[some], outside[others]
        self._table = np.concatenate([entered, left])[np.ix_(some, np.append(others, True))]
        self._fresh = self.steps
        self.is_lost = bool(self._entering != 2 * pairs and self._table[:, -1].min(initial=0.0) < -LOST)

    def _begin(self) -> None:
        """Lower t until something is in its way, which leaves the basis for it."""
        column = int(np.flatnonzero(self._outside == self._entering)[0])
        slopes, constants = self._table[:, column], self._table[:, -1]
        rising = slopes > SMALL
        lowest = np.where(rising, -constants / np.where(rising, slopes, 1.0), -np.inf)
        if lowest.max(initial=0.0) <= 0.0:
            self.is_solved = True
            return
        row = int(np.flatnonzero(lowest >= lowest.max() - TIED)[-1])  # the last is lexicographically first
        given = self._table, self._basic, self._outside
        self._entering = _exchange(*given, row, column, len(self.problem), by_row=False)
        self.steps = 1

    @property
    def size(self) -> int:
        """The number of cells of the table, each of which an exchange works on."""
        return int(self._table.size)

    def follow(self, count: int, *, is_compiled: bool = False) -> None:
        """Go on by at most so many exchanges; the result is the same whether the loop is compiled."""
        loop = compiled(exchanges) if is_compiled else exchanges
        given = self._table, self._basic, self._outside, self._first
        steps, self._entering = loop(*given, self._entering, len(self.problem), count, is_compiled)
        self.steps += steps
        self.is_solved, self.is_lost = self._entering == SOLVED, self._entering == RAY
        if not (self.is_solved or self.is_lost) and self.steps - self._fresh > RENEWED:
            self._renew()

    def points(self) -> FloatArray:
        """Return all points as they are; where t is 0, a solution, worked out anew for the basis."""
        pairs = len(self.problem)
        found = np.zeros(2 * pairs + 1)
        found[self._basic] = self._table[:, -1]
        if self.is_solved:
            inside = self.problem.free.copy()
            inside[self._basic[self._basic < pairs]] = True
            block, constant = self.problem.matrix[np.ix_(inside, inside)], self.problem.constant[inside]
            with suppress(np.linalg.LinAlgError):
                found[:pairs][inside] = np.linalg.solve(block, -constant)
        return found[:pairs]


@kernel
def _exchange(table, basic, outside, row, column, pairs, by_row):
    """Let the variable of a column enter the basis for that of a row; return the partner of what leaves.

    Sums are the same `by_row`, which is quicker where it is compiled, and slower where not.
    """
    pivot = table[row, column]
    slopes, line = table[:, column].copy(), table[row] / -pivot
    slopes[row] = 0.0
    line[column] = 1.0 / pivot
    table[:, column] = 0.0
    if by_row:
        for i in range(len(slopes)):
            if slopes[i] != 0.0:
                for j in range(len(line)):
                    table[i, j] += slopes[i] * line[j]
    else:
        table += slopes.reshape(-1, 1) * line
    table[row] = line
    leaving = basic[row]
    basic[row], outside[column] = outside[column], leaving
    if leaving == 2 * pairs:
        return SOLVED
    return leaving + pairs if leaving < pairs else leaving - pairs


@kernel
def _lexicographic(table, basic, outside, first, tied, slopes):
    """Return the row among tied ones whose ratio is least if first variables, in turn, are a little larger."""
    for variable in first:
        column = -1
        for j in range(len(outside)):
            if outside[j] == variable:
                column = j
        least, left = np.inf, 0
        shares = np.empty(len(tied))
        for t in range(len(tied)):
            row = tied[t]
            own = -table[row, column] if column >= 0 else 1.0 if basic[row] == variable else 0.0
            shares[t] = own / -slopes[row]
            least = min(least, shares[t])
        for t in range(len(tied)):
            if shares[t] <= least + TIED:
                tied[left] = tied[t]
                left += 1
        tied = tied[:left]
        if left == 1:
            break
    return tied[0]


@kernel
def exchanges(table, basic, outside, first, entering, pairs, count, by_row):
    """Make at most so many exchanges; return how many, and what enters next."""
    for step in range(count):
        column = np.flatnonzero(outside == entering)[0]
        slopes = table[:, column].copy()
        falling = slopes < -SMALL
        if not falling.any():
            return step, RAY
        ratios = np.where(falling, np.maximum(table[:, -1], 0.0) / np.where(falling, -slopes, 1.0), np.inf)
        tied = np.flatnonzero(ratios <= ratios.min() + TIED)
        row = tied[0]
        if len(tied) > 1:
            ends = np.flatnonzero(basic[tied] == 2 * pairs)
            row = tied[ends[0]] if len(ends) else _lexicographic(table, basic, outside, first, tied, slopes)
        entering = _exchange(table, basic, outside, row, column, pairs, by_row)
        if entering == SOLVED:
            return step + 1, entering
    return count, entering
