"""Sums over whole samples: rows go in batch by batch, from an engine or from memory, and statistics come out."""

from collections.abc import Sequence

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.statistics.gram import WEIGHTINGS, add_cooccurrences, add_totals
from coterie.statistics.joint import JointAccumulator
from coterie.statistics.kernels import quickest
from coterie.statistics.packed import filled_up, packed_length
from coterie.statistics.setting import Setting
from coterie.statistics.total_statistics import TotalStatistics, WeightedSums, carried_limbs
from coterie.sums import Sums

MOST_GRAM_ENTRIES = 1 << 28
"""Gram matrices of all agents together have at most so many entries in each part (2 GB)."""


def gram_entries(setting: Setting) -> int:
    """Return how many entries the packed Gram matrices of all agents have."""
    return setting.n_agents * packed_length(setting.n_features)


def most_agents(setting: Setting, entries: int) -> int:
    """Return of how many agents, in as many coalitions, the matrices have at most so many entries."""
    each, agents = setting.n_features // max(setting.n_agents - 1, 1), 1
    while (agents + 1) * packed_length(each * agents) <= entries:
        agents += 1
    return agents


def _packed_zeros(setting: Setting) -> IntArray:
    return np.zeros((len(setting.shares), setting.n_agents, packed_length(setting.n_features)), dtype=np.int64)


class Cooccurrences:
    """Adds up H_i of all agents, one per part: which of an agent's unknowns were seen in the same sample."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        inside = setting.n_tables * packed_length(setting.block)
        self.parts = np.zeros((len(setting.shares), setting.n_agents, inside), dtype=np.int64)
        """Packed; blocks across coalitions are added once somebody was in two of them at once."""

    def add(
        self,
        sample: IntArray,
        part: IntArray,
        table: IntArray,
        agent: IntArray,
        partner: IntArray,
        size: IntArray | None,
    ) -> None:
        """Add the observed pairs of whole samples, in any order."""
        setting = self._setting
        feature = setting.feature(agent, table, partner, size)
        if setting.symmetric:
            mirrored = setting.feature(partner, table, agent, size)
            feature, agent = np.concatenate([feature, mirrored]), np.concatenate([agent, partner])
            part, sample = np.tile(part, 2), np.tile(sample, 2)
        # Agent by agent, so that a matrix of theirs stays near the processor while samples are added to it.
        group = agent * (sample.max(initial=0) + 1) + sample
        order = np.lexsort((feature, group))
        group, feature = group[order], feature[order]
        own = feature // max(setting.block, 1)
        if ((group[1:] == group[:-1]) & (own[1:] != own[:-1])).any():
            self.parts = filled_up(self.parts, packed_length(setting.n_features))
        together = np.diff(np.flatnonzero(np.diff(group, prepend=-1)), append=len(group))
        quickest(add_cooccurrences, int((together**2).sum()) // 2 + 10 * len(group))(
            group, agent[order], feature, part[order], self.parts, setting.block, setting.n_tables
        )


PER_TOTAL = 50
"""What a total takes before its pairs are looked at, in steps of an innermost loop."""


class TotalSums:
    """Adds up every agent's least-squares problem, one per part, under each weighting that is asked for."""

    def __init__(self, setting: Setting, *, unweighted: bool, joint: bool = False) -> None:
        self._setting = setting
        names = [setting.noise, *(["none"] if unweighted else [])]
        self._weighted = {name: _Weighted(setting) for name in names}
        self._joint = JointAccumulator(setting, len(setting.shares)) if joint else None
        self._totals = np.zeros((len(setting.shares), setting.n_agents), dtype=np.int64)

    def add(self, sample: IntArray, part: IntArray, agent: IntArray, coalition: IntArray, utility: FloatArray) -> None:
        """Add the totals and memberships of whole samples, in any order; a total has coalition -1."""
        setting = self._setting
        order = np.lexsort((agent, coalition, sample))
        rows = (sample[order], part[order], agent[order], coalition[order], utility[order])
        low, high = setting.fixed_range
        n_sizes = setting.n_sizes if setting.sizes == "aware" else 0
        each = (setting.n_tables * (setting.n_agents - 1)) ** 2 // 2 + PER_TOTAL
        steps = int(np.count_nonzero(coalition < 0)) * each
        for index, (name, into) in enumerate(self._weighted.items()):
            seen = self._totals if index == 0 else np.zeros_like(self._totals)
            quickest(add_totals, steps)(
                *rows, setting.n_agents, setting.pool_coalitions, n_sizes, low, high,
                WEIGHTINGS.index(name), into.gram, into.offsets, into.moments, into.squares, seen,
            )  # fmt: skip
        if self._joint is not None:
            self._joint.add(*rows)

    def statistics(self, n_samples: Sequence[int], teams: Sequence[Sums]) -> tuple[TotalStatistics, ...]:
        """Return the statistics of each part, given its number of samples and its sizes of coalitions."""
        joint = [None] * len(n_samples) if self._joint is None else list(self._joint.result())
        return tuple(
            TotalStatistics(
                self._setting, n_samples[p], self._totals[p], teams[p],
                {name: sums.part(p) for name, sums in self._weighted.items()}, joint[p],
            )
            for p in range(len(n_samples))
        )  # fmt: skip


class _Weighted:
    """The sums of one weighting for all parts, which the kernel adds to in place."""

    def __init__(self, setting: Setting) -> None:
        shape = (len(setting.shares), setting.n_agents, setting.n_features)
        self.gram = _packed_zeros(setting)
        self.offsets = np.zeros(shape, dtype=np.int64)
        self.moments = np.zeros(shape, dtype=np.int64)
        self.squares = np.zeros((*shape[:2], 4, 2), dtype=np.int64)

    def part(self, p: int) -> WeightedSums:
        return WeightedSums(self.gram[p], self.offsets[p], self.moments[p], carried_limbs(self.squares[p]))
