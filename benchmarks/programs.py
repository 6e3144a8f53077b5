"""Teams of fixed sizes, one each, that are worth most: mixed-integer programs as textbooks of operations research have.

The value is that of `swaps`: (1 / n) sum over l of sum over i, j in C_l of d_ij^l / (s_l - 1). Where teams are alike
(one size, labels that mean nothing) every team is a column of a set partitioning problem, which is solved to the end.
Otherwise memberships x_il are binary and y_ijl = x_il x_jl is linear by

    y_ijl <= x_il,  y_ijl <= x_jl,  sum over j of y_ijl = (s_l - 1) x_il,

which is stopped after a while with the best teams so far.
"""

from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

MOST_TEAMS = 50_000
"""Up to so many teams are columns."""


def programmed_teams(means, sizes, *, alike: bool, seconds: float):
    """Return the best teams found as everybody's team, shape (n,), and whether that is proven."""
    sizes = np.asarray(sizes)
    both = means + np.swapaxes(means, 1, 2)
    if alike and len(set(sizes.tolist())) == 1 and comb(means.shape[1], int(sizes[0])) <= MOST_TEAMS:
        return _partitioned(both[0], int(sizes[0]), seconds)
    return _assigned(both, sizes, seconds)


def _partitioned(both, size, seconds):
    teams = np.array(list(combinations(range(len(both)), size)))
    worth = sum(both[teams[:, a], teams[:, b]] for a, b in combinations(range(size), 2))
    column = np.repeat(np.arange(len(teams)), size)
    held = coo_array((np.ones(teams.size), (teams.ravel(), column)), shape=(len(both), len(teams))).tocsr()
    found = _solved(-worth, [held], [1.0], [1.0], np.ones(len(teams)), seconds)
    area = np.empty(len(both), dtype=np.int64)
    for l, team in enumerate(teams[found.x > 0.5]):
        area[team] = l
    return area, found.status == 0


def _assigned(both, sizes, seconds):
    k, n, _ = both.shape
    first, second = np.triu_indices(n, 1)
    p, n_in = len(first), n * k  # x_il at i k + l, y_ijl behind them, coalition by coalition
    shape = n_in + k * p
    person, place = np.divmod(np.arange(n_in), k)
    each = coo_array((np.ones(n_in), (person, np.arange(n_in))), shape=(n, shape))
    full = coo_array((np.ones(n_in), (place, np.arange(n_in))), shape=(k, shape))
    coalition, pair = np.divmod(np.arange(k * p), p)
    y, rows = n_in + np.arange(k * p), np.arange(k * p)
    below = [
        coo_array((np.repeat([1.0, -1.0], k * p), (np.tile(rows, 2), np.concatenate([y, end[pair] * k + coalition]))),
                  shape=(k * p, shape))
        for end in (first, second)
    ]  # fmt: skip
    ends = np.concatenate([first[pair] * k + coalition, second[pair] * k + coalition, np.arange(n_in)])
    values = np.concatenate([np.ones(2 * k * p), -(sizes[place] - 1.0)])
    seats = coo_array((values, (ends, np.concatenate([y, y, np.arange(n_in)]))), shape=(n_in, shape))
    costs = np.zeros(shape)
    costs[n_in:] = -(both[coalition, first[pair], second[pair]] / np.maximum(sizes[coalition] - 1.0, 1.0))
    blocks = [each, full, *below, seats]
    upper = [1.0, sizes, 0.0, 0.0, 0.0]
    lower = [1.0, sizes, -np.inf, -np.inf, 0.0]
    found = _solved(costs, blocks, lower, upper, (np.arange(shape) < n_in).astype(float), seconds)
    if found.x is None:
        raise RuntimeError(f"the program found no teams within {seconds} s")
    return found.x[:n_in].reshape(n, k).argmax(axis=1), found.status == 0


def _solved(costs, blocks, lower, upper, integral, seconds):
    rows = [LinearConstraint(block.tocsr(), low, high) for block, low, high in zip(blocks, lower, upper, strict=True)]
    return milp(costs, constraints=rows, integrality=integral, bounds=Bounds(0, 1), options={"time_limit": seconds})
