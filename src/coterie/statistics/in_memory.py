"""Statistics of samples that are held in memory: the same sums that a log's engine makes, without tables.

Utilities outside the declared range are refused as in a log: sums of whole numbers would cut them off.
"""

from dataclasses import dataclass, replace

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.log import refusals
from coterie.log.queries import SLACK
from coterie.log.scales import likely_scale
from coterie.statistics.accumulate import Cooccurrences, TotalSums
from coterie.statistics.fixed_point import FIXED_BITS, fixed_points
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import Division
from coterie.statistics.setting import Setting
from coterie.statistics.shared import Shared, SharedSums, can_share
from coterie.statistics.statistics import Statistics
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


def refuse_outside(utility: FloatArray, limits: tuple[float, float], sigma: float | None, what: str) -> None:
    """Refuse utilities that are not finite, or outside the limits by more than rounding explains.

    `limits` are those of `coterie.log.options.fixed_range`; `what` begins the refusal.
    """
    low, high = limits
    slack = (high - low) * SLACK
    inside = (utility >= low - slack) & (utility <= high + slack)  # nothing that is not a number
    if inside.all():
        return
    value = float(utility[int(np.argmin(inside))])
    if not np.isfinite(value):
        raise InputError(f"{what}: {refusals.not_finite(str(value))}")
    seen = utility[np.isfinite(utility)]
    if sigma is not None:
        raise InputError(f"{what}: {refusals.beyond_sigma(value, limits, sigma)}")
    said = refusals.outside_range(value, limits, likely_scale({float(seen.min()): 1, float(seen.max()): 1}))
    raise InputError(f"{what}: {said}")


def reduced(
    batch: Batch, part: IntArray, setting: Setting, *, unweighted: bool = False, joint: bool = False
) -> Statistics:
    """Return the statistics of a batch whose samples are in these parts.

    Parameters
    ----------
    batch
        The samples. Its order of agents and coalitions is that of the setting.
    part
        The part of each sample, from 0 up; `setting.shares` says how many parts there are.
    setting
        What the samples are taken to be: their feedback, range, sizes, noise, and whether coalitions are pooled.
    unweighted
        Bandit feedback: also the sums without weights, which the paper's estimator needs.
    joint
        Bandit feedback of symmetric games: also the sums of the joint estimator.
    """
    refuse_outside(batch.utility, setting.fixed_range, setting.sigma, "samples")
    counts = np.bincount(part, minlength=len(setting.shares)).tolist()
    teams = _teams(batch, part, setting)
    attendance = batch.joined.any(axis=2).sum(axis=0)
    if setting.feedback == "bandit":
        sums = TotalSums(setting, unweighted=unweighted, joint=joint)
        sums.add(*total_rows(batch, part))
        return Statistics(setting, sums.statistics(counts, teams), attendance=attendance)
    entries = _pair_sums(batch, part, setting)
    everything = _all_meetings(batch) if setting.missing == "worst" else batch
    dependent = setting.noise == "samples"
    together = _cooccurrences(everything, part, setting) if dependent else None
    clusters = _clusters(batch, part, setting) if dependent else None
    met = [_counted(one) for one in _pair_sums(everything, part, setting)] if setting.missing == "worst" else None
    return Statistics(
        setting,
        tuple(
            PairStatistics(
                setting, counts[p], entries[p], teams[p], None if together is None else together[p],
                None if met is None else met[p], None if clusters is None else clusters[p],
            )
            for p in range(len(counts))
        ),
        attendance=attendance,
        shared=_shared(batch, setting),
    )  # fmt: skip


def _shared(batch: Batch, setting: Setting) -> Shared:
    if not can_share(setting, len(batch.sample)):
        return ()
    found = SharedSums(setting)
    found.add(batch.sample, batch.coalition, batch.agent, batch.partner, batch.utility)
    return found.result()


def _all_meetings(batch: Batch) -> Batch:
    """Return the batch with a row, worth 0, for every two agents who met, rated or not."""
    met = batch.joined.transpose(0, 2, 1)[:, :, :, None] & batch.joined.transpose(0, 2, 1)[:, :, None, :]
    met &= np.triu(np.ones(met.shape[2:], dtype=bool), 1) if batch.symmetric else ~np.eye(met.shape[2], dtype=bool)
    sample, coalition, agent, partner = np.nonzero(met)
    return replace(
        batch, sample=sample, coalition=coalition, agent=agent, partner=partner, utility=np.zeros(len(sample))
    )


def _counted(sums: Sums) -> Sums:
    """Return counts and repeats of pairs, without what their utilities add up to."""
    return Sums(sums.keys, sums.values[:, [0, *range(4, sums.values.shape[1])]])


def _teams(batch: Batch, part: IntArray, setting: Setting) -> list[Sums]:
    """Count how often each coalition had each size; an empty one is not a team."""
    sample, coalition = np.nonzero(batch.joined.any(axis=1))
    keys = np.stack([_tables(coalition, setting), batch.joined.sum(axis=1)[sample, coalition]], axis=1)
    return Sums.collect_each(part[sample], len(setting.shares), keys, np.ones((len(keys), 1), dtype=np.int64))


def _pair_sums(batch: Batch, part: IntArray, setting: Setting) -> list[Sums]:
    """Return counts, sums, sums of squares and, where pairs may meet several times in a sample, of repeats."""
    q, keys = fixed_points(batch.utility, setting.fixed_range), _pair_keys(batch, setting)
    square = q * q
    values = np.stack([np.ones_like(q), q, square >> FIXED_BITS, square & ((1 << FIXED_BITS) - 1)], axis=1)
    entries = Sums.collect_each(part[batch.sample], len(setting.shares), keys, values)
    if not (setting.noise == "samples" and setting.pool_coalitions):
        return entries
    met = Sums.collect(np.column_stack([batch.sample, keys]), np.ones((len(keys), 1), dtype=np.int64))
    repeats = Sums.collect_each(part[met.keys[:, 0]], len(setting.shares), met.keys[:, 1:], met.values**2)
    return [
        Sums(ours.keys, np.concatenate([ours.values, theirs.values], axis=1))
        for ours, theirs in zip(entries, repeats, strict=True)
    ]


def _pair_keys(batch: Batch, setting: Setting) -> IntArray:
    columns, size = [_tables(batch.coalition, setting), batch.agent, batch.partner], _sizes(batch, setting)
    return np.stack(columns if size is None else [*columns, size], axis=1)


def _clusters(batch: Batch, part: IntArray, setting: Setting) -> list[Sums]:
    """Return counts and sums of each part by group of samples, whose names are their numbers."""
    names = map(str, range(batch.first, batch.first + len(batch.joined)))
    group, q = Division.clusters().of(names), fixed_points(batch.utility, setting.fixed_range)
    keys = np.column_stack([group[batch.sample], _pair_keys(batch, setting)])
    return Sums.collect_each(part[batch.sample], len(setting.shares), keys, np.stack([np.ones_like(q), q], axis=1))


def _cooccurrences(batch: Batch, part: IntArray, setting: Setting) -> IntArray:
    found = Cooccurrences(setting)
    table, size = _tables(batch.coalition, setting), _sizes(batch, setting)
    found.add(batch.sample, part[batch.sample], table, batch.agent, batch.partner, size)
    return found.parts


def total_rows(batch: Batch, part: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]:
    """Return sample, part, agent, coalition and utility of all totals, which have coalition -1, and memberships."""
    totals = batch.totals()
    member = np.nonzero(batch.joined)
    everybody = np.divmod(np.arange(totals.size), totals.shape[1])
    sample = np.concatenate([everybody[0], member[0]])
    agent = np.concatenate([everybody[1], member[1]])
    coalition = np.concatenate([np.full(totals.size, -1), member[2]])
    utility = np.concatenate([totals.ravel(), np.full(len(member[0]), np.nan)])
    return sample, part[sample], agent, coalition, utility


def _tables(coalition: IntArray, setting: Setting) -> IntArray:
    return np.zeros_like(coalition) if setting.pool_coalitions else coalition


def _sizes(batch: Batch, setting: Setting) -> IntArray | None:
    """Return the size of the coalition in which each pair met, where sizes matter."""
    return batch.joined.sum(axis=1)[batch.sample, batch.coalition] if setting.sizes == "aware" else None
