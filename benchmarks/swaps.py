"""Teams of fixed sizes, one each, that are worth most: annealing over exchanges of two people, compiled.

The value is the mean over people of the average over teammates, (1 / n) sum over l of sum over i, j in C_l of
d_ij^l / (s_l - 1). With h = d + d' and the sums R_i^l of h_ij^l over j in C_l, exchanging i in a for j in b changes n
times the value by

    (R_j^a - R_i^a - h_ij^a) / (s_a - 1) + (R_i^b - R_j^b - h_ij^b) / (s_b - 1),

and afterwards two columns of R. What is found is a lower bound on the optimum, and no exchange improves it.
"""

from typing import Any

import numba
import numpy as np

_compiled: Any = numba.njit(cache=True)

STARTS, PROPOSALS = 20, 200_000
"""How often it is begun anew, and how many exchanges are looked at each time."""

HOT, COLD = 1.0, 0.02
"""The first and the last temperature, in standard deviations of what exchanges change at first."""


def average_value(means, area) -> float:
    """Return the mean over people of the average over their teammates, 0 for those who are alone."""
    met = area[:, None] == area
    np.fill_diagonal(met, False)
    own = means[area, np.arange(len(area))]
    return float(np.mean((met * own).sum(axis=1) / np.maximum(met.sum(axis=1), 1)))


def random_value(means, sizes) -> float:
    """Return the expected value of teams of these sizes that are drawn at random, exactly."""
    n = means.shape[1]
    typical = means.sum(axis=(1, 2)) / (n * (n - 1))  # nobody's own company is 0
    return float(np.asarray(sizes) @ typical / n)


def best_teams(means, sizes, rng, *, starts: int = STARTS, proposals: int = PROPOSALS):
    """Return the best teams found, as everybody's team: shape (n,), so many of each as `sizes` says."""
    both = np.ascontiguousarray(means + np.swapaxes(means, 1, 2))
    weight = 1.0 / np.maximum(np.asarray(sizes) - 1.0, 1.0)
    seats = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for _ in range(starts):
        area = rng.permutation(seats)
        _anneal(both, weight, area, proposals, HOT, COLD, int(rng.integers(2**31)))
        found.append((average_value(means, area), tuple(area.tolist())))
    return np.array(max(found)[1])


@_compiled
def _change(both, weight, sums, area, i, j):
    a, b = area[i], area[j]
    return (sums[a, j] - sums[a, i] - both[a, i, j]) * weight[a] + (sums[b, i] - sums[b, j] - both[b, i, j]) * weight[b]


@_compiled
def _exchange(both, sums, area, i, j):
    a, b = area[i], area[j]
    for u in range(len(area)):
        sums[a, u] += both[a, u, j] - both[a, u, i]
        sums[b, u] += both[b, u, i] - both[b, u, j]
    area[i], area[j] = b, a


@_compiled
def _anneal(both, weight, area, proposals, hot, cold, seed):
    np.random.seed(seed)  # numba's own generator
    k, n = both.shape[0], both.shape[1]
    sums = np.zeros((k, n))
    for u in range(n):
        for v in range(n):
            if u != v:
                sums[area[v], u] += both[area[v], u, v]
    squares = 0.0
    for _ in range(1000):
        i, j = np.random.randint(n), np.random.randint(n)
        if area[i] != area[j]:
            squares += _change(both, weight, sums, area, i, j) ** 2
    scale = np.sqrt(squares / 1000)
    for step in range(proposals):
        i, j = np.random.randint(n), np.random.randint(n)
        if area[i] == area[j]:
            continue
        change = _change(both, weight, sums, area, i, j)
        warmth = scale * hot * (cold / hot) ** (step / proposals)
        if change > 0 or np.random.random() < np.exp(change / warmth):
            _exchange(both, sums, area, i, j)
    pays = True
    while pays:
        pays = False
        for i in range(n):
            for j in range(i):
                if area[i] != area[j] and _change(both, weight, sums, area, i, j) > 1e-12:
                    _exchange(both, sums, area, i, j)
                    pays = True
