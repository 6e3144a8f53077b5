"""Contrasts between coalition sizes, sample by sample: what the test for dependence on size is made from.

One half of a log suggests how the utility of each pair varies with the size of its coalition: the weight of
(pair, s) is its mean there minus its mean over all sizes, shrunk where there are few values. On the other half the
weights of a pair are centred, so that sum over s of N(s) weight(s) = 0. If size does not matter, the sum T of all
weighted utilities then has mean 0 given who met whom, whatever is taken off the utilities of a pair: here its mean in
the half that suggests. T is the sum over samples of t = sum over the sample's pairs of weight (utility - that mean).
Samples are independent and pairs of one sample need not be, so the sum of t^2 says how far T may be from 0: where
losses are rare and so is a size, only together with its mean, since most logs lack the losses at that size that make up
most of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from coterie.arrays import FloatArray, IntArray
from coterie.log.log import Log
from coterie.statistics import group_by
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import HALVES, Division
from coterie.statistics.setting import Setting
from coterie.sums import numbered

POOLED = "(pooled)"
"""Stands for all coalitions where they are interchangeable."""

SHRUNK_BY = 10.0
"""A mean of N values counts N / (N + 10)."""


@dataclass(frozen=True)
class SizeContrast:
    """Sums over the samples of one half, which tests what the other half suggests for a coalition."""

    coalition: str
    half: int
    total: float
    """T, the sum of t."""
    squares: float
    """The sum of t^2."""
    expected: float = 0.0
    """The sum of weight^2 s^2 with s^2 the variance of a pair's utilities at all sizes: what the sum of t^2 is on
    average if neither size nor other pairs matter."""

    def __add__(self, other: "SizeContrast") -> "SizeContrast":
        """Return the sums over two logs; T still has mean 0 if size does not matter, each log having its weights."""
        return SizeContrast(
            self.coalition,
            self.half,
            self.total + other.total,
            self.squares + other.squares,
            self.expected + other.expected,
        )


def added(contrasts: Iterable[SizeContrast]) -> tuple[SizeContrast, ...]:
    """Return one contrast per coalition and half."""
    found: dict[tuple[str, int], SizeContrast] = {}
    for one in contrasts:
        key = one.coalition, one.half
        found[key] = found[key] + one if key in found else one
    return tuple(found[key] for key in sorted(found))


def tested_names(setting: Setting) -> tuple[str, ...]:
    """Return what contrasts are about: the coalitions that statistics tell apart."""
    return (POOLED,) if setting.pool_coalitions else setting.coalitions


def suggested_weights(suggests: PairStatistics, tests: PairStatistics) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each entry of the testing half, and the mean of its pair in the half that suggests."""
    ours, theirs = suggests.entries.keys, tests.entries.keys
    both = np.concatenate([ours, theirs])
    pair, cell, split = numbered(both[:, :3]), numbered(both), len(ours)
    pairs, cells = int(pair.max(initial=-1)) + 1, int(cell.max(initial=-1)) + 1
    count, seen = suggests.count.astype(np.float64), tests.count.astype(np.float64)
    mean = _means(pair[:split], suggests.mean, count, pairs)
    slope = np.zeros(cells)
    slope[cell[:split]] = (suggests.mean - mean[pair[:split]]) * count / (count + SHRUNK_BY)
    theirs_slope, theirs_pair = slope[cell[split:]], pair[split:]
    centre = _means(theirs_pair, theirs_slope, seen, pairs)
    return theirs_slope - centre[theirs_pair], mean[theirs_pair]


def _pair_variance(suggests: PairStatistics, tests: PairStatistics) -> FloatArray:
    """Return for each entry of the testing half the variance of its pair's utilities at all sizes, in both halves."""
    both = (suggests, tests)
    pair = numbered(np.concatenate([one.entries.keys[:, :3] for one in both]))
    pairs = int(pair.max(initial=-1)) + 1
    count, mean, spread = (
        np.concatenate([getattr(one, name) for one in both]).astype(np.float64)
        for name in ("count", "mean", "variance")
    )
    away = mean - _means(pair, mean, count, pairs)[pair]
    within = spread * (count - 1) / count
    return np.asarray(_means(pair, within + away**2, count, pairs)[pair[len(suggests.count) :]])


def _means(group: IntArray, values: FloatArray, count: FloatArray, groups: int) -> FloatArray:
    """Return the weighted mean of each group, 0 for those without values."""
    total = np.bincount(group, count * values, minlength=groups).astype(np.float64)
    weight = np.bincount(group, count, minlength=groups).astype(np.float64)
    return np.divide(total, weight, out=np.zeros(groups), where=weight > 0)


def size_contrasts(log: Log, by_size: Sequence[PairStatistics]) -> tuple[SizeContrast, ...]:
    """Return the contrasts of a log whose halves by size are known: one more pass over its pairs."""
    setting, engine = by_size[0].setting, log.engine
    pieces = [_weights(by_size[1 - half], by_size[half], half) for half in (0, 1)]
    engine.lookup("weights", pa.concat_tables(pieces))
    which = Division.by_shares(HALVES, setting.seed).sql("p.sample")
    found = engine.rows(
        group_by.contrasts(
            log.outcomes, which, engine.name("members"), engine.name("weights"),
            symmetric=setting.symmetric, pooled=setting.pool_coalitions,
        )
    )  # fmt: skip
    columns = ("room", "half", "total", "squares", "expected")
    return added(SizeContrast(*(row[name] for name in columns)) for row in found)


def _weights(suggests: PairStatistics, tests: PairStatistics, half: int) -> pa.Table:
    """Return the weights of a testing half by name, as rows of the log are matched with them."""
    setting = tests.setting
    weight, mean = suggested_weights(suggests, tests)
    variance = _pair_variance(suggests, tests)
    used = weight != 0
    names = np.array(setting.agents, dtype=object)
    one, two = names[tests.agent[used]], names[tests.partner[used]]
    if setting.symmetric:  # the engine orders the two agents of a pair by name
        turned = one > two
        one, two = np.where(turned, two, one), np.where(turned, one, two)
    rooms = np.array(tested_names(setting), dtype=object)[tests.coalition[used]]
    return pa.table(
        {
            "half": pa.array(np.full(int(used.sum()), half), pa.int32()),
            "room": pa.array(rooms.tolist(), pa.string()),
            "one": pa.array(one.tolist(), pa.string()),
            "two": pa.array(two.tolist(), pa.string()),
            "size": pa.array(tests.size[used], pa.int64()),
            "weight": pa.array(weight[used], pa.float64()),
            "mean": pa.array(mean[used] + setting.neutral, pa.float64()),
            "variance": pa.array(variance[used], pa.float64()),
        }
    )
