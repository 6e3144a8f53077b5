"""Teams of large value where everybody is in one coalition at most: annealing over exchanges and moves, compiled.

The value is sum over l of f(s_l) P_l, P_l = sum over i, j in C_l of d_ij^l, f = 1 for totals and 1 / (s - 1) for
averages. With h = d + d' and R_i^l = sum over j in C_l of h_ij^l, people i in a and j in b change places for

    f(s_a) (R_j^a - R_i^a - h_ij^a) + f(s_b) (R_i^b - R_j^b - h_ij^b)

more, and i moves from a to b for

    f(s_a - 1) (P_a - R_i^a) - f(s_a) P_a + f(s_b + 1) (P_b + R_i^b) - f(s_b) P_b.

Those who are nowhere are in one more coalition that is worth nothing and has any size. What is found need not be a
local optimum, nor keep rules about more than sizes and places: it is a start for the search.
"""

from typing import Any

import numba
import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray

HOT, COLD = 1.0, 0.02
"""The first and the last temperature, in standard deviations of what exchanges change at first."""

PROPOSALS, LEAST, MOST = 5_000, 100_000, 1_000_000
"""So many changes are looked at per person, at least and at most."""

_compiled: Any = numba.njit(cache=True, nogil=True)


def annealed(
    means: FloatArray, factor: FloatArray, allowed: BoolArray, places: BoolArray, start: IntArray, seed: int
) -> IntArray:
    """Return everybody's coalition after annealing, shape (n,); k is nowhere.

    Parameters
    ----------
    means
        d_ij^l, shape (k, n, n), 0 for nobody's own company.
    factor
        f(s), shape (n + 2,).
    allowed
        Which sizes each coalition may have, shape (k, n + 2).
    places
        Where each may be, shape (n, k + 1), the last of which is nowhere.
    start
        Everybody's coalition at first, of allowed sizes.
    seed
        Of all that is drawn.
    """
    k, n, _ = means.shape
    both = np.zeros((k + 1, n, n))
    both[:k] = means + np.swapaxes(means, 1, 2)
    sizes = np.ones((k + 1, n + 2), dtype=np.bool_)
    sizes[:k] = allowed
    area, proposals = start.astype(np.int64), int(np.clip(PROPOSALS * n, LEAST, MOST))
    _anneal(both, factor, sizes, np.ascontiguousarray(places), area, proposals, HOT, COLD, seed)
    return area


@_compiled
def _exchange_gain(both, factor, sums, size, area, i, j):
    a, b = area[i], area[j]
    given = factor[size[a]] * (sums[a, j] - sums[a, i] - both[a, i, j])
    return given + factor[size[b]] * (sums[b, i] - sums[b, j] - both[b, i, j])


@_compiled
def _move_gain(factor, sums, worth, size, a, b, i):
    left = factor[size[a] - 1] * (worth[a] - sums[a, i]) - factor[size[a]] * worth[a]
    return left + factor[size[b] + 1] * (worth[b] + sums[b, i]) - factor[size[b]] * worth[b]


@_compiled
def _move(both, sums, worth, size, area, i, b):
    a = area[i]
    worth[a] -= sums[a, i]
    worth[b] += sums[b, i]
    for u in range(len(area)):  # h is symmetric, and its rows are in order
        sums[a, u] -= both[a, i, u]
        sums[b, u] += both[b, i, u]
    size[a] -= 1
    size[b] += 1
    area[i] = b


@_compiled
def _anneal(both, factor, allowed, places, area, proposals, hot, cold, seed):
    np.random.seed(seed)
    rooms, n = both.shape[0], both.shape[1]
    sums, worth, size = np.zeros((rooms, n)), np.zeros(rooms), np.zeros(rooms, dtype=np.int64)
    for u in range(n):
        size[area[u]] += 1
        for v in range(n):
            sums[area[v], u] += both[area[v], u, v]
    for u in range(n):
        worth[area[u]] += sums[area[u], u] / 2
    squares = 0.0
    for _ in range(1000):
        i, j = np.random.randint(n), np.random.randint(n)
        if area[i] != area[j]:
            squares += _exchange_gain(both, factor, sums, size, area, i, j) ** 2
    scale = np.sqrt(squares / 1000) + 1e-300
    for step in range(proposals):
        i = np.random.randint(n)
        a = area[i]
        if np.random.random() < 0.7:
            j = np.random.randint(n)
            b = area[j]
            if a == b or not (places[i, b] and places[j, a]):
                continue
            gain = _exchange_gain(both, factor, sums, size, area, i, j)
        else:
            j = -1
            b = np.random.randint(rooms)
            if a == b or not (places[i, b] and allowed[a, size[a] - 1] and allowed[b, size[b] + 1]):
                continue
            gain = _move_gain(factor, sums, worth, size, a, b, i)
        warmth = scale * hot * (cold / hot) ** (step / proposals)
        if gain > 0 or np.random.random() < np.exp(gain / warmth):
            _move(both, sums, worth, size, area, i, b)
            if j >= 0:
                _move(both, sums, worth, size, area, j, a)
