"""Statistics of samples that are held in memory: the same sums that a log's engine makes, without tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.log.queries import FIXED_BITS
from coterie.statistics.packed import packed_length
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.reduce import Accumulator
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import JointSums, TotalStatistics
from coterie.sums import Sums


@dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive samples: memberships, and one row per pair that met (ordered pairs if asymmetric).

    In the rows, `sample` counts from 0 within the batch; rows are ordered by sample, coalition,
    agent and partner.
    """

    first: int
    """The number of the first sample, counting from 1."""

    joined: BoolArray
    """Who was where, shape (samples, n, k)."""

    sample: IntArray
    coalition: IntArray
    agent: IntArray
    partner: IntArray
    utility: FloatArray
    symmetric: bool

    def totals(self) -> FloatArray:
        """Return every agent's total in each sample, shape (samples, n)."""
        samples, n, _ = self.joined.shape
        total = np.zeros(samples * n)
        for receiver in (self.agent, self.partner) if self.symmetric else (self.agent,):
            total += np.bincount(self.sample * n + receiver, self.utility, minlength=samples * n)
        return total.reshape(samples, n)


def reduced(
    batch: Batch, part: IntArray, setting: Setting, *, unweighted: bool = False, joint: bool = False
) -> Statistics:
    """Return the statistics of a batch whose samples are in these parts; see `Statistics.of` for the options."""
    sizes = batch.joined.sum(axis=1)
    teams = [_teams(sizes[part == p], setting) for p in range(len(setting.shares))]
    counts = np.bincount(part, minlength=len(setting.shares)).tolist()
    if setting.feedback == "semi-bandit":
        entries = _pair_sums(batch, part, sizes, setting)
        together = _cooccurrences(batch, part, sizes, setting) if setting.noise == "samples" else None
        return Statistics(
            setting,
            tuple(
                PairStatistics(setting, counts[p], entries[p], teams[p], None if together is None else together[p])
                for p in range(len(counts))
            ),
        )
    names = [setting.noise, *(["none"] if unweighted else [])]
    rows = _total_rows(batch)
    totals, weighted = _total_sums(rows, part, setting, names)
    both = _joint_sums(rows, part, setting) if joint else [None] * len(counts)
    return Statistics(
        setting,
        tuple(
            TotalStatistics(
                setting,
                counts[p],
                totals[p],
                teams[p],
                {name: sums.part(p) for name, sums in weighted.items()},
                both[p],
            )
            for p in range(len(counts))
        ),
    )


def _tables(batch: Batch, setting: Setting) -> IntArray:
    """Return the coalition of each row, 0 throughout where coalitions are interchangeable."""
    return np.zeros_like(batch.coalition) if setting.pool_coalitions else batch.coalition


def _teams(sizes: IntArray, setting: Setting) -> Sums:
    """Count how often each coalition had each size; an empty one is not a team."""
    coalition = np.tile(np.arange(sizes.shape[1]) * (not setting.pool_coalitions), len(sizes))
    keys = np.stack([coalition, sizes.ravel()], axis=1)[sizes.ravel() > 0]
    return Sums.collect(keys, np.ones((len(keys), 1), dtype=np.int64))


def _pair_sums(batch: Batch, part: IntArray, sizes: IntArray, setting: Setting) -> list[Sums]:
    n = setting.n_agents
    low, high = setting.fixed_range
    q = np.floor((batch.utility - low) / (high - low) * 2.0**FIXED_BITS + 0.5).astype(np.int64)
    shape: tuple[int, ...] = (len(setting.shares), setting.n_tables, n, n)
    where: tuple[IntArray, ...] = (part[batch.sample], _tables(batch, setting), batch.agent, batch.partner)
    if setting.sizes == "aware":
        shape, where = (*shape, n + 1), (*where, sizes[batch.sample, batch.coalition])
    cell = np.ravel_multi_index(where, shape)
    square = q * q
    # Sums of whole numbers below 2^31 over a batch are below 2^53, so floats add them up exactly.
    cells = int(np.prod(shape))
    summed = (q, square >> FIXED_BITS, square & ((1 << FIXED_BITS) - 1))
    added = [np.bincount(cell, minlength=cells), *(np.bincount(cell, one, minlength=cells) for one in summed)]
    if setting.noise == "samples" and setting.pool_coalitions:
        met, often = np.unique(batch.sample * cells + cell, return_counts=True)
        added.append(np.bincount(met % cells, often**2, minlength=cells))
    seen = np.flatnonzero(added[0])
    keys = np.stack(np.unravel_index(seen, shape), axis=1).astype(np.int64)
    values = np.stack([column[seen] for column in added], axis=1).astype(np.int64)
    return [Sums(keys[keys[:, 0] == p, 1:], values[keys[:, 0] == p]) for p in range(shape[0])]


def _cooccurrences(batch: Batch, part: IntArray, sizes: IntArray, setting: Setting) -> IntArray:
    """Return H_i of every part and agent, packed: which of her unknowns were seen together."""
    from coterie.statistics.gram import add_cooccurrences

    size = sizes[batch.sample, batch.coalition] if setting.sizes == "aware" else None
    table = _tables(batch, setting)
    owner, feature = [], []
    sides = ((batch.agent, batch.partner), (batch.partner, batch.agent))
    for agent, partner in sides[: 1 + setting.symmetric]:
        owner.append(agent)
        feature.append(setting.feature(agent, table, partner, size))
    agent, features = np.concatenate(owner), np.concatenate(feature)
    sample = np.tile(batch.sample, len(owner))
    group = sample * setting.n_agents + agent
    order = np.lexsort((features, group))
    gram = np.zeros((len(setting.shares), setting.n_agents, packed_length(setting.n_features)), dtype=np.int64)
    add_cooccurrences(
        group[order], agent[order], features[order], part[sample][order], gram, setting.block, setting.n_tables
    )
    return gram


TotalRows = tuple[IntArray, IntArray, IntArray, FloatArray]
"""Sample, agent, coalition (-1 for a total) and utility of each row."""


def _total_sums(
    rows: TotalRows, part: IntArray, setting: Setting, names: Sequence[str]
) -> tuple[IntArray, dict[str, Accumulator]]:
    from coterie.statistics.gram import WEIGHTINGS, add_totals

    sample, agent, coalition, utility = rows
    n, parts = setting.n_agents, len(setting.shares)
    low, high = setting.fixed_range
    weighted: dict[str, Any] = {name: Accumulator(parts, n, setting.n_features) for name in names}
    totals = np.zeros((parts, n), dtype=np.int64)
    n_sizes = setting.n_sizes if setting.sizes == "aware" else 0
    for index, (name, into) in enumerate(weighted.items()):
        add_totals(
            sample, part[sample], agent, coalition, utility, n, setting.pool_coalitions, n_sizes, low, high,
            WEIGHTINGS.index(name), into.gram, into.offsets, into.moments, into.squares,
            totals if index == 0 else np.zeros_like(totals),
        )  # fmt: skip
    return totals, weighted


def _joint_sums(rows: TotalRows, part: IntArray, setting: Setting) -> list[JointSums]:
    from coterie.statistics.joint import JointAccumulator

    sample, agent, coalition, utility = rows
    sums = JointAccumulator(setting, len(setting.shares))
    sums.add(sample, part[sample], agent, coalition, utility)
    return list(sums.result())


def _total_rows(batch: Batch) -> TotalRows:
    """Return rows sorted by sample, coalition and agent; a total has coalition -1 and comes first."""
    totals = batch.totals()
    member = np.nonzero(batch.joined)
    everybody = np.divmod(np.arange(totals.size), totals.shape[1])
    sample = np.concatenate([everybody[0], member[0]])
    agent = np.concatenate([everybody[1], member[1]])
    coalition = np.concatenate([np.full(totals.size, -1), member[2]])
    utility = np.concatenate([totals.ravel(), np.full(len(member[0]), np.nan)])
    order = np.lexsort((agent, coalition, sample))
    return sample[order], agent[order], coalition[order], utility[order]
