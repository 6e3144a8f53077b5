"""Loops over the coefficients of many steps, compiled: the same as `coterie.estimate.step_design` makes of arrays.

Terms are added in the same order, so that sums are the same to the last digit.
"""

from typing import Any

import numba
import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.steps import Steps

_compiled: Any = numba.njit(cache=True, nogil=True)


def coefficients(
    profile: BoolArray, steps: Steps, asked: tuple[IntArray, IntArray], factors: FloatArray, *, by_size: bool
) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]:
    """Return row, coalition, partner, size and weight of all coefficients, by row, coalition, partner and size."""
    step, agent = (np.ascontiguousarray(one, dtype=np.int64) for one in asked)
    given = np.ascontiguousarray(profile), steps.movers, steps.change(profile), step, agent, factors, by_size
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    ends = np.zeros(len(step) + 1, dtype=np.int64)
    _coefficients(*given, ends, none, none, none, none, nothing)
    count = int(ends[-1])
    row, coalition, partner = (np.empty(count, dtype=np.int64) for _ in range(3))
    size, weight = np.empty(count if by_size else 0, dtype=np.int64), np.empty(count)
    _coefficients(*given, ends, row, coalition, partner, size, weight)
    return row, coalition, partner, size, weight


@_compiled
def _coefficients(profile, movers, change, step, agent, factors, by_size, ends, row, coalition, partner, size, weight):
    """Count the coefficients of all rows into their `ends`, or where there is room for them write them down."""
    writes = len(row) > 0
    n, k = profile.shape
    most = movers.shape[1]
    members, sizes = np.empty((k, n), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for l in range(k):
        for j in range(n):
            if profile[j, l]:
                members[l, sizes[l]] = j
                sizes[l] += 1
    joining = np.empty(most, dtype=np.int64)
    found = 0
    for r in range(len(step)):
        s, h = step[r], agent[r]
        for l in range(k):
            joined, later, is_changed, moves = 0, sizes[l], False, False
            for g in range(most):
                if change[s, g, l] == 0:
                    continue
                is_changed = True
                later += change[s, g, l]
                moves = moves or movers[s, g] == h
                if change[s, g, l] > 0:  # in order
                    place = joined
                    while place > 0 and joining[place - 1] > movers[s, g]:
                        joining[place] = joining[place - 1]
                        place -= 1
                    joining[place] = movers[s, g]
                    joined += 1
            if not is_changed:
                continue
            was = profile[h, l]
            lost = factors[sizes[l]] if was else 0.0
            gained = factors[later] if was != moves else 0.0
            a = b = 0
            while a < sizes[l] or b < joined:
                joins = a == sizes[l] or (b < joined and joining[b] < members[l, a])
                if joins:
                    j = joining[b]
                    b += 1
                else:
                    j = members[l, a]
                    a += 1
                if j == h:
                    continue
                stays = not joins
                if stays:
                    for g in range(most):
                        if movers[s, g] == j and change[s, g, l] != 0:
                            stays = False
                after = gained if joins or stays else 0.0
                before = 0.0 if joins else lost
                apart = by_size and later != sizes[l]
                for second in range(2 if apart else 1):
                    first_is_later = later < sizes[l]
                    is_later = (second == 0) == first_is_later
                    one = (after if is_later else -before) if apart else after - before
                    if abs(one) > 1e-12:
                        if writes:
                            row[found], coalition[found], partner[found], weight[found] = r, l, j, one
                            if by_size:
                                size[found] = later if not apart or is_later else sizes[l]
                        found += 1
        if not writes:
            ends[r + 1] = found


def dependences(
    place: tuple[IntArray, IntArray, IntArray, IntArray],
    weight: FloatArray,
    per_count: FloatArray,
    packed: IntArray,
    n_agents: int,
    tables: int,
) -> FloatArray:
    """Return alpha' H alpha of every row's rooms, shape (rows, 2, 2), alpha_e = |c_e| / N_e and H of the row's owner.

    A place is as for `sums`; matrices are packed, see `coterie.statistics.packed`.
    """
    owners, row, table, partner = place
    found = np.zeros((len(owners), 2, 2))
    ends = np.searchsorted(row, np.arange(len(owners) + 1))
    _dependences(owners, ends, table, partner, weight, per_count, packed, n_agents - 1, tables, found)
    return found


@_compiled
def _dependences(owners, ends, table, partner, weight, per_count, packed, block, tables, found):
    length = block * (block + 1) // 2
    across = packed.shape[1] > tables * length
    most = 0
    for r in range(len(owners)):
        most = max(most, ends[r + 1] - ends[r])
    alpha, places, rooms, here = (
        np.empty(most),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    for r in range(len(owners)):
        own, count = owners[r], 0
        for c in range(ends[r], ends[r + 1]):
            one = abs(weight[c]) * per_count[table[c], own, partner[c]]
            if one != 0:
                alpha[count], here[count], rooms[count] = one, table[c], 1 if weight[c] < 0 else 0
                places[count] = partner[c] - (1 if partner[c] > own else 0)
                count += 1
        for a in range(count):
            l, i = here[a], places[a]
            start = l * length + i * block - i * (i - 1) // 2 - i
            found[r, rooms[a], rooms[a]] += alpha[a] * alpha[a] * packed[own, start + i]
            for b in range(a + 1, count):
                m, j = here[b], places[b]
                if m == l:
                    often = packed[own, start + j]
                elif across:
                    pair = l * tables - l * (l + 1) // 2 + m - l - 1
                    often = packed[own, tables * length + (pair * block + i) * block + j]
                else:
                    continue
                term = alpha[a] * alpha[b] * often
                found[r, rooms[a], rooms[b]] += term
                found[r, rooms[b], rooms[a]] += term


def sums(
    kind: int,
    place: tuple[IntArray, IntArray, IntArray, IntArray],
    weight: FloatArray,
    values: FloatArray,
) -> FloatArray:
    """Return sums, or the largest terms, of every row and room; a place is owners, and row, table and partner."""
    owners, row, table, partner = place
    found = np.zeros((len(owners), 2))
    _sums(kind, owners, row, table, partner, weight, np.asarray(values, dtype=np.float64), found)
    return found


@_compiled
def _sums(kind, owners, row, table, partner, weight, values, found):
    """Add up terms, or find the largest."""
    for c in range(len(row)):
        r, w = row[c], weight[c]
        value, room = values[table[c], owners[r], partner[c]], 1 if w < 0 else 0
        if kind == 0:
            found[r, room] += abs(w) * value
        elif kind == 1:
            found[r, room] += w * w * value
        else:
            term = abs(w * value)
            if not term <= found[r, room]:  # what is no number stays one
                found[r, room] = term
