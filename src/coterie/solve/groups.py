"""Partitions of many agents with large potential: groups move as one, as in the Leiden algorithm, compiled.

Where coalitions are interchangeable, everybody is in one of them, and pairs that are not listed are worth 0, the
potential of a partition is the sum of d_ij over the pairs inside its coalitions: what community detection maximises on
a graph with signed weights. One round is that of Traag, Waltman and van Eck (2019):

1. *Moving*: agents go one by one to the coalition in which they are worth most, as long as anybody gains; whoever was
   near a mover is looked at again.
2. *Refining*: inside each coalition, agents begin alone and join others there at random, in proportion to what that
   gains.
3. *Aggregating*: these parts become the agents of a smaller game, which begins with the coalitions of step 1; and so
   on, until no part joins another.

Rounds follow each other as long as the potential rises. Then there are at most `n_coalitions`, the least worthy groups
being put where they fit best, and none is larger than `largest`. In the end single agents go to their best responses,
so nobody gains by moving, except into a coalition that is full.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_compiled: Any = numba.njit(cache=True, nogil=True)

RUNS, IN_VAIN = 8, 2
"""So many runs begin anew; after so many rounds that raise the potential no more, a run ends."""

WORK, LEAST = 30_000_000, 5
"""All rounds together look at about so many pairs, but there are so many rounds at least."""


def best_groups(
    weights: "csr_array",
    n_coalitions: int,
    rng: np.random.Generator,
    *,
    largest: int | None = None,
    rounding: float = 0.0,
    check: Callable[[], None] = lambda: None,
) -> tuple[IntArray, float]:
    """Return everybody's coalition, 0 to n_coalitions - 1, and the potential: the best of several runs.

    How many rounds there are depends on the number of pairs alone, so results are the same on every machine.

    Parameters
    ----------
    weights
        d_ij, symmetric, without a diagonal.
    n_coalitions, largest
        At most so many coalitions, and members of each.
    rng
        Draws the order of agents, and whom they join.
    rounding
        Gains up to this much are no reason to move.
    check
        Called before each round; what it raises ends everything.
    """
    n = weights.shape[0]
    cap = n if largest is None else min(largest, n)
    if n_coalitions * cap < n:
        raise InputError(f"{n} agents do not fit into {n_coalitions} coalitions of {cap}")
    best, height = np.zeros(0, dtype=np.int64), -np.inf
    left = max(LEAST, WORK // max(weights.nnz, 1))
    for _ in range(RUNS):
        label, top, vain = np.arange(n), -np.inf, 0
        while vain < IN_VAIN and left > 0:
            check()
            left -= 1
            label = _round(weights, label, rng, cap, rounding)
            now = potential(weights, label)
            vain, top = (vain + 1, top) if now <= top + rounding else (0, now)
        found = _single(weights, _within(weights, label, n_coalitions, cap), rng, n_coalitions, cap, rounding)
        now = potential(weights, found)
        if now > height:
            best, height = found, now
        if not left:
            break
    return best, height


def potential(weights: "csr_array", label: IntArray) -> float:
    """Return the sum of d_ij over pairs in one coalition."""
    row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    return float(weights.data[label[row] == label[weights.indices]].sum()) / 2


def _round(weights: "csr_array", label: IntArray, rng: np.random.Generator, cap: int, rounding: float) -> IntArray:
    """Return the partition after moving, refining and aggregating from another."""
    size = np.ones(len(label), dtype=np.int64)
    path: list[IntArray] = []
    while True:
        n = len(size)
        label = _numbered(label)
        _move(*_parts(weights), size, label, n, cap, rounding, rng.permutation(n))
        part = _numbered(_refine(*_parts(weights), size, label, cap, rounding, rng.permutation(n), rng.random(n)))
        count = int(part.max()) + 1
        if count == n:
            break
        path.append(part)
        weights = _aggregated(weights, part, count)
        size = np.bincount(part, size, minlength=count).astype(np.int64)
        above = np.empty(count, dtype=np.int64)
        above[part] = label
        label = above
    for part in reversed(path):
        label = label[part]
    return _numbered(label)


def _aggregated(weights: "csr_array", part: IntArray, count: int) -> "csr_array":
    """Return what parts are worth to each other; what they are worth in themselves goes with them."""
    from scipy.sparse import coo_array

    row, column = np.repeat(part, np.diff(weights.indptr)), part[weights.indices]
    between = row != column
    found = coo_array((weights.data[between], (row[between], column[between])), shape=(count, count)).tocsr()
    found.sum_duplicates()
    return found


def _within(weights: "csr_array", label: IntArray, n_coalitions: int, cap: int) -> IntArray:
    """Return a partition into at most so many coalitions: those worth least go, as one, where they fit best."""
    label = _numbered(label)
    count = int(label.max()) + 1
    if count <= n_coalitions:
        return label
    row = np.repeat(np.arange(len(label)), np.diff(weights.indptr))
    inside = label[row] == label[weights.indices]
    worth = np.bincount(label[row[inside]], weights.data[inside], minlength=count)
    kept = np.empty(count, dtype=np.int64)
    kept[np.argsort(-worth, kind="stable")] = np.arange(count)
    label = kept[label]
    size = np.bincount(label, minlength=count).astype(np.int64)
    place = _placed(*_parts(_aggregated(weights, label, count)), size, n_coalitions, cap)
    label = place[label]
    # Groups that fit nowhere are divided: each goes to whoever has room.
    size = np.bincount(label[label >= 0], minlength=n_coalitions)
    homeless = np.flatnonzero(label < 0)
    label[homeless] = np.repeat(np.arange(n_coalitions), cap - size)[: len(homeless)]
    return label


def _single(
    weights: "csr_array", label: IntArray, rng: np.random.Generator, n_coalitions: int, cap: int, rounding: float
) -> IntArray:
    """Return the partition after moves of single agents, until nobody gains."""
    label = label.copy()
    size = np.ones(len(label), dtype=np.int64)
    _move(*_parts(weights), size, label, n_coalitions, cap, rounding, rng.permutation(len(label)))
    return label


def _parts(weights: "csr_array") -> tuple[IntArray, IntArray, FloatArray]:
    return weights.indptr.astype(np.int64), weights.indices.astype(np.int64), weights.data


def _numbered(label: IntArray) -> IntArray:
    """Return the same partition with coalitions numbered from 0 on."""
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


@_compiled
def _move(starts, partner, value, size, label, labels, cap, rounding, order):
    """Let groups move where they gain most, as long as any gains more than `rounding`; `label` follows.

    Of labels, numbered below `labels`, one that nobody has is worth 0.
    """
    n = len(size)
    members = np.zeros(labels, dtype=np.int64)
    for i in range(n):
        members[label[i]] += size[i]
    empty = np.empty(labels, dtype=np.int64)  # a stack; some may have been taken since
    n_empty = 0
    for l in range(labels - 1, -1, -1):
        if members[l] == 0:
            empty[n_empty] = l
            n_empty += 1
    worth, near, is_near = np.zeros(labels), np.empty(labels, dtype=np.int64), np.zeros(labels, dtype=np.bool_)
    queue, waits = order.copy(), np.ones(n, dtype=np.bool_)
    first, waiting = 0, n
    while waiting > 0:
        i = queue[first]
        first = (first + 1) % n
        waiting -= 1
        waits[i] = False
        n_near = 0
        for e in range(starts[i], starts[i + 1]):
            l = label[partner[e]]
            worth[l] += value[e]
            if not is_near[l]:
                is_near[l] = True
                near[n_near] = l
                n_near += 1
        own = label[i]
        best, most = own, worth[own] + rounding
        for t in range(n_near):
            l = near[t]
            if l != own and worth[l] > most and members[l] + size[i] <= cap:
                best, most = l, worth[l]
        if most < 0 and members[own] > size[i] and n_empty > 0:
            best = empty[n_empty - 1]
        for t in range(n_near):
            worth[near[t]] = 0.0
            is_near[near[t]] = False
        if best == own:
            continue
        if members[best] == 0:
            n_empty -= 1
        members[own] -= size[i]
        members[best] += size[i]
        if members[own] == 0:
            empty[n_empty] = own
            n_empty += 1
        label[i] = best
        for e in range(starts[i], starts[i + 1]):
            j = partner[e]
            if not waits[j] and label[j] != best:
                queue[(first + waiting) % n] = j
                waiting += 1
                waits[j] = True


@_compiled
def _refine(starts, partner, value, size, label, cap, rounding, order, draws):
    """Return parts of coalitions: whoever is alone joins a part of the own coalition that this gains, at random."""
    n = len(size)
    part, members = np.arange(n), size.copy()
    alone = np.ones(n, dtype=np.bool_)
    worth, near, is_near = np.zeros(n), np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    for i in order:
        if not alone[i]:
            continue
        n_near, total = 0, 0.0
        for e in range(starts[i], starts[i + 1]):
            j = partner[e]
            if label[j] == label[i] and j != i:
                if not is_near[part[j]]:
                    is_near[part[j]] = True
                    near[n_near] = part[j]
                    n_near += 1
                worth[part[j]] += value[e]
        for t in range(n_near):
            p = near[t]
            if worth[p] <= rounding or members[p] + size[i] > cap:
                worth[p] = 0.0
            total += worth[p]
        rest = draws[i] * total
        chosen = -1
        for t in range(n_near):
            p = near[t]
            if worth[p] > 0 and (chosen < 0 or rest > 0):
                chosen = p
                rest -= worth[p]
        for t in range(n_near):
            worth[near[t]] = 0.0
            is_near[near[t]] = False
        if chosen >= 0:
            members[part[i]] -= size[i]
            members[chosen] += size[i]
            part[i] = chosen
            alone[i] = False
            alone[chosen] = False  # the agent after whom the part is called
    return part


@_compiled
def _placed(starts, partner, value, size, kept, cap):
    """Return where each group goes if the first `kept` stay; -1 for those that fit nowhere."""
    n = len(size)
    place, members = np.full(n, -1), np.zeros(kept, dtype=np.int64)
    for g in range(kept):
        place[g] = g
        members[g] = size[g]
    worth = np.zeros(kept)
    for g in range(kept, n):
        worth[:] = 0.0
        for e in range(starts[g], starts[g + 1]):
            if place[partner[e]] >= 0:
                worth[place[partner[e]]] += value[e]
        best = -1
        for l in range(kept):
            if members[l] + size[g] <= cap and (best < 0 or worth[l] > worth[best]):
                best = l
        if best >= 0:
            place[g] = best
            members[best] += size[g]
    return place
