"""Compiled sums of x x' over samples, where x tells which unknowns of an agent occurred together.

Rows arrive sample by sample; each agent of a sample adds the outer product of the few unknowns
that she met, straight into her packed matrix. Nothing else grows with the log.
"""

from functools import cache

import numpy as np

from coterie.statistics.fixed_point import FIXED_BITS, steps
from coterie.statistics.kernels import in_python, kernel
from coterie.statistics.packed import packed_positions
from coterie.statistics.total_statistics import LIMB, WEIGHT_BITS

WEIGHTINGS = ("none", "pairs", "samples")
"""In the order of the numbers that the kernel knows them by."""

_ONE_BY_TERMS, _ONE_BY_SQUARES = 1 << WEIGHT_BITS["pairs"], 1 << WEIGHT_BITS["samples"]

# Kernels are compiled again when this file changes, not when `steps` does: touch it then.
kernel(steps)


DENSE = 4
"""Where at least one of so many unknowns of a coalition occurred, all are added at once, zeros too."""


@kernel
def _add_row(gram, base, row, features, first, last, start, stop, times):
    """Add what `row` has from `start` to `stop`, so many times; some features say where that is not 0."""
    if times == 1 and DENSE * (last - first) >= stop - start:
        target, source = gram[base + start : base + stop], row[start:stop]
        for place in range(len(source)):
            target[place] += source[place]
    else:
        for a in range(first, last):
            gram[base + features[a]] += times * row[features[a]]


@kernel
def _add_outer(gram, block, features, values, count, weight, row, ends):
    """Add weight x x' to a packed matrix (see `packed.packed_positions`); features are ascending.

    There is room for weight x in `row`, all 0, and in `ends` for how many features are in coalitions before each.
    """
    tables, triangle, place = len(ends) - 1, block * (block + 1) // 2, 0
    for m in range(tables):
        ends[m] = place
        while place < count and features[place] < (m + 1) * block:
            row[features[place]] = weight * values[place]
            place += 1
    ends[tables] = count
    for l in range(tables):
        for a in range(ends[l], ends[l + 1]):
            place = features[a] - l * block
            base = l * triangle + place * block - place * (place - 1) // 2 - place - l * block
            _add_row(gram, base, row, features, a, ends[l + 1], features[a], (l + 1) * block, values[a])
            for m in range(l + 1, tables):
                if ends[m] < ends[m + 1]:
                    pair = l * tables - l * (l + 1) // 2 + m - l - 1
                    base = tables * triangle + pair * block * block + place * block - m * block
                    _add_row(gram, base, row, features, ends[m], ends[m + 1], m * block, (m + 1) * block, values[a])
    for a in range(count):
        row[features[a]] = 0


@in_python(_add_outer)  # type: ignore[no-redef]
def _add_outer(gram, block, features, values, count, weight, row, _ends):
    first, second = _each_two(count)
    where = packed_positions(features[first], features[second], block, len(row))
    gram[where] += weight * values[first] * values[second]


@cache
def _each_two(count):
    return np.triu_indices(count)


@kernel
def add_cooccurrences(group, agent, feature, part, gram, block, tables):
    """Add up x x' for every run of rows with the same group; rows are sorted by group and feature.

    A feature that is listed several times in a group counts so often in x.
    """
    features = np.empty(block * tables, dtype=np.int64)
    values = np.empty(block * tables, dtype=np.int64)
    dense, ends = np.zeros(block * tables, dtype=np.int64), np.empty(tables + 1, dtype=np.int64)
    row, rows = 0, len(group)
    while row < rows:
        first, count = row, 0
        while row < rows and group[row] == group[first]:
            if count and features[count - 1] == feature[row]:
                values[count - 1] += 1
            else:
                features[count] = feature[row]
                values[count] = 1
                count += 1
            row += 1
        _add_outer(gram[part[first], agent[first]], block, features, values, count, 1, dense, ends)


@kernel
def add_totals(
    sample,
    part,
    agent,
    coalition,
    utility,
    n,
    pooled,
    n_sizes,
    low,
    high,
    weighting,
    gram,
    offsets,
    moments,
    squares,
    totals,
):
    """Add every total's problem to the sums of its agent and part.

    Rows are sorted by sample, coalition and agent; a total has coalition -1, so that it comes
    before the memberships of its sample, in which each coalition is one run of rows. All totals of
    an agent in a part are added one after the other: her matrix stays near the processor meanwhile.
    """
    dimension = offsets.shape[2]
    block = (n - 1) * max(n_sizes, 1)
    rows = len(sample)
    features = np.empty(dimension, dtype=np.int64)
    values = np.empty(dimension, dtype=np.int64)
    times = np.zeros(dimension, dtype=np.int64)
    dense, ends = np.zeros(dimension, dtype=np.int64), np.empty(dimension // max(block, 1) + 1, dtype=np.int64)
    head = np.full(n, -1, dtype=np.int64)  # the first membership of each agent in this sample
    following = np.empty(rows, dtype=np.int64)  # the next membership of the same agent
    first_of = np.empty(rows, dtype=np.int64)
    end_of = np.empty(rows, dtype=np.int64)
    joined = np.empty(rows, dtype=np.int64)  # of a total, the first membership of its agent in its sample
    latest = np.full(totals.shape, -1, dtype=np.int64)  # the last total of each agent in a part
    before = np.empty(rows, dtype=np.int64)  # the total of the same agent before, in the same part
    start = 0
    while start < rows:
        members = start
        while members < rows and sample[members] == sample[start] and coalition[members] < 0:
            members += 1
        stop = members
        while stop < rows and sample[stop] == sample[start]:
            run = stop
            while stop < rows and sample[stop] == sample[start] and coalition[stop] == coalition[run]:
                stop += 1
            first_of[run:stop] = run
            end_of[run:stop] = stop
        for row in range(stop - 1, members - 1, -1):
            following[row] = head[agent[row]]
            head[agent[row]] = row
        for total in range(start, members):
            i = agent[total]
            joined[total] = head[i]
            before[total] = latest[part[total], i]
            latest[part[total], i] = total
        for row in range(members, stop):
            head[agent[row]] = -1
        start = stop
    for p, i in np.ndindex(*totals.shape):
        total = latest[p, i]
        while total >= 0:
            totals[p, i] += 1
            count, c = 0, 0
            row = joined[total]
            while row >= 0:
                table = 0 if pooled else coalition[row]
                size = end_of[row] - first_of[row]
                for other in range(first_of[row], end_of[row]):
                    j = agent[other]
                    if j == i:
                        continue
                    f = table * (n - 1) + j - (1 if j > i else 0)
                    if n_sizes > 0:
                        f = f * n_sizes + size - 2
                    if times[f] == 0:
                        features[count] = f
                        count += 1
                    times[f] += 1
                    c += 1
                row = following[row]
            if c == 0:
                total = before[total]
                continue
            if pooled:
                features[:count].sort()
            for a in range(count):
                values[a] = times[features[a]]
                times[features[a]] = 0
            q = np.int64(steps(utility[total] - c * low, c * (high - low)))
            if weighting == 0:
                weight, each, moment, scale = 1, c, c * q, c * c
            elif weighting == 1:
                weight = (_ONE_BY_TERMS + c // 2) // c
                each, moment, scale = weight * c, (weight * c * q) >> FIXED_BITS, c
            else:
                weight = (_ONE_BY_SQUARES + c * c // 2) // (c * c)
                each, moment, scale = weight * c, (weight * c * q) >> FIXED_BITS, 1
            _add_outer(gram[p, i], block, features, values, count, weight, dense, ends)
            for a in range(count):
                offsets[p, i, features[a]] += each * values[a]
                moments[p, i, features[a]] += moment * values[a]
            square = (q * q) >> FIXED_BITS
            rest = (q * q) & ((1 << FIXED_BITS) - 1)
            for power, value in enumerate((np.int64(1), q, square, rest)):
                term = scale * value
                squares[p, i, power, 0] += term >> LIMB
                squares[p, i, power, 1] += term & ((1 << LIMB) - 1)
            total = before[total]


@kernel
def add_residuals(
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
    """Add what `coterie.statistics.second_pass` asks of every total: directions first[i] to first[i + 1] are agent i's.

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
