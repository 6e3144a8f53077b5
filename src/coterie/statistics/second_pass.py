"""A second pass over the samples that certify: what residuals of totals say about directions that are fixed by then.

An estimate of totals is linear in them. In direction c it adds up over samples, with u = G^-1 c,

    joint   t'Q v,  t = Z u,  Q = (Z Z')^+       the noise of edge e counts a_e = (Z'Q t)_e
    own     w x'u v,  w = 1/c or 1/c^2           the noise of each of its c terms counts a = w x'u

in the words of `coterie.statistics.joint` and `coterie.statistics.total_statistics`. Here the same weights are applied
to residuals, v minus what some centre predicts, and squares are added up; see `coterie.certificates.residual` for what
follows from them. The weights depend on who met whom alone, and so do their largest values.

The pass is made for bounded utilities: `of_log` and `of_batches` say where there is none to make.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.log.log import Log
from coterie.statistics.in_memory import Batch, total_rows
from coterie.statistics.joint import edges_of, joint_actions, totals_of
from coterie.statistics.parts import learning_parts
from coterie.statistics.reduce import Reduction, total_batches
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics

KEPT_SAMPLES = 1 << 14
"""So many samples wait for others with the same joint action before it is inverted."""

Rows = tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]
"""Sample, part, agent, coalition and utility of whole samples; a total has coalition -1."""


@dataclass(frozen=True, eq=False)
class Directions:
    """What a pass is asked: D directions, and the centre that residuals are taken from."""

    solved: FloatArray
    """u = G^-1 c of each direction, shape (D, unknowns of a regression)."""
    regression: IntArray
    """Whose regression each direction belongs to, shape (D,): an agent's own, or 0 where there is one for all."""
    centre: FloatArray
    """What the unknowns of each regression are taken to be, counted from `zero`, shape (regressions, unknowns)."""
    zero: float
    """What every pair term is counted from."""
    joint: bool
    """Whether there is one regression over edges, instead of one for each agent."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """What a pass found for each direction; all but the squares follow from who met whom."""

    squares: FloatArray
    """The sum over samples of squared weighted residuals, shape (D,)."""
    widest: FloatArray
    """The largest sum of a_e^2 in one sample."""
    steepest: FloatArray
    """The largest |a_e|."""
    reach: FloatArray
    """The largest sum of |a_e| in one sample."""

    def only(self, which: IntArray | slice) -> "Residuals":
        """Return what was found for some of the directions."""
        return Residuals(self.squares[which], self.widest[which], self.steepest[which], self.reach[which])


@dataclass(frozen=True, eq=False)
class SecondPass:
    """The samples of a bandit log that certify, to be read once more."""

    setting: Setting
    batches: Callable[[], Iterator[Rows]]
    """Reads them; rows of parts that learn may be among them."""
    totals: int
    """How many totals there are to read."""

    @classmethod
    def of_log(cls, log: Log, statistics: Statistics) -> "SecondPass | None":
        """Return the pass over the log that statistics were made from; None where `possible` says no."""
        setting, least = statistics.setting, learning_parts(statistics.setting.shares)
        if not possible(setting):
            return None
        task = Reduction(log.engine, setting, log.rows, log.checked.extent)
        return cls(setting, lambda: total_batches(task, least), statistics.certifying.rows)

    @classmethod
    def of_batches(cls, batches: Sequence[tuple[Batch, IntArray]], statistics: Statistics) -> "SecondPass | None":
        """Return the pass over samples in memory, each batch with the part of each sample."""
        if not possible(statistics.setting):
            return None
        return cls(
            statistics.setting, lambda: (total_rows(*batch) for batch in batches), statistics.certifying.rows
        )

    def residuals(self, asked: Directions, check: Callable[[int, int], None] = lambda _done, _all: None) -> Residuals:
        """Read the samples and add up; `check` is told how many of all totals were read, and may end it by raising."""
        least, sums, done = learning_parts(self.setting.shares), ResidualSums(self.setting, asked), 0
        check(done, self.totals)
        for sample, part, agent, coalition, utility in self.batches():
            some = part >= least
            sums.add(sample[some], agent[some], coalition[some], utility[some])
            done += int(np.count_nonzero(coalition[some] < 0))
            check(done, self.totals)
        if done != self.totals:
            raise InputError(f"the log has changed while it was read: it had {self.totals} totals, now {done}")
        return sums.result()


def possible(setting: Setting) -> bool:
    """Return whether residuals say something about widths: totals of bounded utilities, some samples held out.

    Where actions depend on earlier utilities no direction is fixed, and without a range there is no moment that would
    bound the others.
    """
    held_out = len(setting.shares) > 1 and not setting.adaptive
    return setting.feedback == "bandit" and setting.utility_range is not None and setting.sigma is None and held_out


class ResidualSums:
    """Adds up squared weighted residuals of whole samples."""

    def __init__(self, setting: Setting, asked: Directions) -> None:
        self._setting, self._asked = setting, asked
        self._order = np.argsort(asked.regression, kind="stable")
        solved = asked.solved[self._order]
        self._solved = np.ascontiguousarray(solved.T if asked.joint else solved)
        self._first = np.searchsorted(asked.regression[self._order], np.arange(len(asked.centre) + 1))
        self._found = Residuals(*(np.zeros(len(solved)) for _ in range(4)))
        self._waiting: dict[Any, list[FloatArray]] = {}
        self._samples = 0

    def add(self, sample: IntArray, agent: IntArray, coalition: IntArray, utility: FloatArray) -> None:
        """Add the totals and memberships of whole samples, in any order; a total has coalition -1."""
        order = np.lexsort((agent, coalition, sample))
        sample, agent, coalition, utility = (column[order] for column in (sample, agent, coalition, utility))
        setting, asked, found = self._setting, self._asked, self._found
        if not asked.joint:
            sizes = setting.n_sizes if setting.sizes == "aware" else 0
            _add_own(
                sample, agent, coalition, utility, setting.n_agents, setting.pool_coalitions, sizes,
                setting.noise == "samples", asked.zero, asked.centre, self._first, self._solved,
                found.squares, found.widest, found.steepest, found.reach,
            )  # fmt: skip
            return
        for start, members, action in joint_actions(sample, agent, coalition):
            self._waiting.setdefault(action, []).append(utility[start:members])
            self._samples += 1
            if self._samples >= KEPT_SAMPLES:
                self._flush()

    def result(self) -> Residuals:
        """Return the sums in the order in which directions were asked for."""
        self._flush()
        back = np.argsort(self._order)
        return self._found.only(back)

    def _flush(self) -> None:
        setting, asked, found = self._setting, self._asked, self._found
        for action in sorted(self._waiting):
            _add_edges(
                *action.arrays(), np.stack(self._waiting[action]), setting.pool_coalitions, setting.n_agents,
                asked.centre[0] + asked.zero, self._solved, found.squares, found.widest, found.steepest, found.reach,
            )  # fmt: skip
        self._waiting.clear()
        self._samples = 0


_compiled: Any = numba.njit(cache=True, nogil=True)


@_compiled
def _add_edges(observed, agent, coalition, totals, pooled, n, centre, solved, squares, widest, steepest, reach):
    """Add all samples of one joint action, one row of `totals` each; `solved` has a row per edge."""
    seen, first, second, worth, inverse = edges_of(observed, agent, coalition, pooled, n, len(centre))
    last, many = len(observed), solved.shape[1]
    moved = np.zeros((last + 1, many))
    for a in range(len(seen)):
        for d in range(many):
            step = worth[a] * solved[seen[a], d]
            moved[first[a], d] += step
            moved[second[a], d] += step
    moved = inverse @ moved
    residuals = totals - totals_of(first, second, worth, centre[seen], last + 1)[:last]
    noise = np.ascontiguousarray(residuals) @ np.ascontiguousarray(moved[:last])
    wide, far = np.zeros(many), np.zeros(many)
    for a in range(len(seen)):
        for d in range(many):
            step = worth[a] * (moved[first[a], d] + moved[second[a], d])
            wide[d] += step * step
            far[d] += abs(step)
            steepest[d] = max(steepest[d], abs(step))
    for d in range(many):
        widest[d], reach[d] = max(widest[d], wide[d]), max(reach[d], far[d])
        for m in range(len(noise)):
            squares[d] += noise[m, d] * noise[m, d]


@_compiled
def _add_own(
    sample,
    agent,
    coalition,
    utility,
    n,
    pooled,
    n_sizes,
    dependent,
    zero,
    centre,
    first,
    solved,
    squares,
    widest,
    steepest,
    reach,
):
    """Add every total to the directions of its agent, which are those from first[i] to first[i + 1].

    Where pairs of a sample may depend on each other, a total of c terms is one term that varies c times as much.
    """
    rows = len(sample)
    features = np.empty(rows, dtype=np.int64)  # of one total, repeated where a pair met several times
    start = 0
    while start < rows:
        members = start
        while members < rows and sample[members] == sample[start] and coalition[members] < 0:
            members += 1
        stop = members
        while stop < rows and sample[stop] == sample[start]:
            stop += 1
        for total in range(start, members):
            i, c, run = agent[total], 0, members
            if first[i] == first[i + 1]:
                continue
            while run < stop:
                after, is_member = run, False
                while after < stop and coalition[after] == coalition[run]:
                    is_member = is_member or agent[after] == i
                    after += 1
                for other in range(run, after):
                    j = agent[other]
                    if is_member and j != i:
                        place = (0 if pooled else coalition[run]) * (n - 1) + j - (1 if j > i else 0)
                        features[c] = place * n_sizes + after - run - 2 if n_sizes > 0 else place
                        c += 1
                run = after
            if c == 0:
                continue
            residual = utility[total]
            for a in range(c):
                residual -= zero + centre[i, features[a]]
            for d in range(first[i], first[i + 1]):
                along = 0.0
                for a in range(c):
                    along += solved[d, features[a]]
                step = along / (c * c) if dependent else along / c
                terms, each = (1, c * step) if dependent else (c, step)
                squares[d] += (step * residual) ** 2
                widest[d] = max(widest[d], terms * each * each)
                steepest[d] = max(steepest[d], abs(each))
                reach[d] = max(reach[d], terms * abs(each))
        start = stop
