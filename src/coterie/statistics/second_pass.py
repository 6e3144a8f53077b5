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
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.log.log import Log
from coterie.statistics.gram import add_residuals
from coterie.statistics.joint import PER_PAIR, add_joint_residuals, joint_actions
from coterie.statistics.kernels import quickest, suited
from coterie.statistics.parts import learning_parts
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics

if TYPE_CHECKING:
    from coterie.statistics.in_memory import Batch

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
        from coterie.statistics.reduce import Reduction, total_batches  # here, since samples in memory need no tables

        task = Reduction(log.engine, setting, log.rows, log.counted.extent)
        return cls(setting, lambda: total_batches(task, least), statistics.certifying.rows)

    @classmethod
    def of_batches(cls, batches: "Sequence[tuple[Batch, IntArray]]", statistics: Statistics) -> "SecondPass | None":
        """Return the pass over samples in memory, each batch with the part of each sample."""
        if not possible(statistics.setting):
            return None
        from coterie.statistics.in_memory import total_rows

        return cls(statistics.setting, lambda: (total_rows(*batch) for batch in batches), statistics.certifying.rows)

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
    held_out = len(setting.shares) > 1 and not setting.adaptive and not setting.of_teams
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
        sample, agent, coalition, utility = sample[order], agent[order], coalition[order], utility[order]
        setting, asked, found = self._setting, self._asked, self._found
        if not asked.joint:
            sizes = setting.n_sizes if setting.sizes == "aware" else 0
            each = setting.n_tables * (setting.n_agents - 1) * (1 + len(self._solved) // setting.n_agents)
            quickest(add_residuals, int(np.count_nonzero(coalition < 0)) * each)(
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
        # Python adds whole rows of directions at once.
        each = PER_PAIR + self._solved.shape[1] // 10
        add = suited(add_joint_residuals, 2 * each * sum(action.n_pairs for action in self._waiting))
        for action in sorted(self._waiting):
            add(
                *action.arrays(), np.stack(self._waiting[action]), setting.pool_coalitions, setting.n_agents,
                asked.centre[0] + asked.zero, self._solved, found.squares, found.widest, found.steepest, found.reach,
            )  # fmt: skip
        self._waiting.clear()
        self._samples = 0
