"""The joint bandit estimator's sums: one unknown per edge, both agents' totals used together.

For sample m, Z_m has a row for each observed total and a column for each edge (coalition, {i, j})
of the game, with a 1 (or, for interchangeable coalitions, the number of meetings) where the
total contains the edge. The sums are those of P_m = Z_m^+ Z_m and Z_m^+ v_m. Z_m depends on the
joint action alone, so samples with the same joint action are added up before it is inverted.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.statistics.kernels import in_python, kernel, suited
from coterie.statistics.setting import Setting
from coterie.statistics.total_statistics import JointSums

MOST_EDGES = 5000
"""The joint estimator's matrix is not built for more edges."""

LEAST = 1e-9
"""Eigenvalues of Z Z' below this share of the largest are rounding errors of 0: those of whole matrices are larger."""

KEPT_ACTIONS = 1 << 12
"""How many distinct joint actions wait for further samples before they are inverted."""

PER_PAIR = 30
"""What listing a pair of a joint action takes, in steps of an innermost loop."""


class JointAccumulator:
    """Adds up the joint estimator's sums, one per part."""

    def __init__(self, setting: Setting, n_parts: int) -> None:
        n = setting.n_agents
        self._edges = setting.n_tables * n * (n - 1) // 2
        if self._edges > MOST_EDGES:
            raise TooLargeError(
                f"the joint estimator is made for up to {MOST_EDGES} pairs times coalitions, this log has {self._edges}"
            )
        self._setting = setting
        self._projections = np.zeros((n_parts, self._edges, self._edges))
        self._moments = np.zeros((n_parts, self._edges))
        self._waiting: dict[tuple[int, JointAction], tuple[int, FloatArray]] = {}

    def add(self, sample: IntArray, part: IntArray, agent: IntArray, coalition: IntArray, utility: FloatArray) -> None:
        """Add whole samples, sorted by sample, coalition and agent, totals first with coalition -1."""
        for start, members, action in joint_actions(sample, agent, coalition):
            count, total = self._waiting.get((int(part[start]), action), (0, np.zeros(members - start)))
            self._waiting[int(part[start]), action] = (count + 1, total + utility[start:members])
        if len(self._waiting) > KEPT_ACTIONS:
            self._flush()

    def result(self) -> Iterator[JointSums]:
        """Yield the sums of each part."""
        self._flush()
        for upper, moments in zip(self._projections, self._moments, strict=True):
            yield JointSums(upper + np.triu(upper, 1).T, moments)

    def _flush(self) -> None:
        setting = self._setting
        pairs = [action.n_pairs for _, action in self._waiting]
        add = suited(_add_projection, sum(PER_PAIR * many + many**2 for many in pairs))
        for (part, action), (count, total) in sorted(self._waiting.items(), key=lambda item: item[0]):
            add(
                *action.arrays(), count, total, setting.neutral, setting.pool_coalitions, setting.n_agents,
                self._projections[part], self._moments[part],
            )  # fmt: skip
        self._waiting.clear()


class JointAction(NamedTuple):
    """Whose totals were observed, and who was where: all that Z_m depends on, as bytes of whole numbers."""

    observed: bytes
    teams: bytes

    def arrays(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the observed agents, and agents and coalitions of the memberships, sorted by coalition."""
        agent, coalition = np.frombuffer(self.teams, dtype=np.int64).reshape(2, -1)
        return np.frombuffer(self.observed, dtype=np.int64), agent, coalition

    @property
    def n_pairs(self) -> int:
        """How many pairs meet, each as often as it does."""
        _, _, coalition = self.arrays()
        sizes = np.unique(coalition, return_counts=True)[1]
        return int((sizes * (sizes - 1)).sum()) // 2


def joint_actions(sample: IntArray, agent: IntArray, coalition: IntArray) -> Iterator[tuple[int, int, JointAction]]:
    """Yield for each sample with totals and members where its totals begin and end, and its joint action.

    Rows are sorted by sample, coalition and agent, totals first with coalition -1.
    """
    starts = np.flatnonzero(np.diff(sample, prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(sample)], strict=True):
        members = start + int(np.count_nonzero(coalition[start:stop] < 0))
        if members in {start, stop}:
            continue
        teams = np.stack([agent[members:stop], coalition[members:stop]])
        yield start, members, JointAction(agent[start:members].tobytes(), teams.tobytes())


@kernel
def _met(observed, agent, coalition, pooled, n, n_edges):
    """Return the edges of a joint action in order, the rows of their two ends, and how often they met.

    The row after the last stands for all agents whose totals were not observed.
    """
    last = len(observed)
    row_of = np.full(n, last)
    for row in range(last):
        row_of[observed[row]] = row
    half = n * (n - 1) // 2
    weight = np.zeros(n_edges)
    ends = np.empty((n_edges, 2), dtype=np.int64)
    listed = np.empty(n_edges, dtype=np.int64)
    edges = start = 0
    while start < len(agent):
        stop = start
        while stop < len(agent) and coalition[stop] == coalition[start]:
            stop += 1
        table = 0 if pooled else coalition[start]
        for a in range(start, stop):
            for b in range(a + 1, stop):
                i, j = agent[a], agent[b]
                if row_of[i] == last and row_of[j] == last:
                    continue
                edge = table * half + i * n - i * (i + 1) // 2 + j - i - 1
                if weight[edge] == 0.0:
                    listed[edges] = edge
                    ends[edge, 0], ends[edge, 1] = row_of[i], row_of[j]
                    edges += 1
                weight[edge] += 1.0
        start = stop
    seen = np.sort(listed[:edges])
    return seen, ends[seen, 0], ends[seen, 1], weight[seen]


@in_python(_met)  # type: ignore[no-redef]
def _met(observed, agent, coalition, pooled, n, _n_edges):
    last = len(observed)
    row_of = np.full(n, last)
    row_of[observed] = np.arange(last)
    a, b = np.nonzero(np.triu(coalition[:, None] == coalition, 1))
    i, j = agent[a], agent[b]
    edge = (0 if pooled else coalition[a]) * (n * (n - 1) // 2) + i * n - i * (i + 1) // 2 + j - i - 1
    is_told = (row_of[i] < last) | (row_of[j] < last)
    seen, at, times = np.unique(edge[is_told], return_index=True, return_counts=True)
    return seen, row_of[i[is_told][at]], row_of[j[is_told][at]], times.astype(float)


@kernel
def _edges_of(observed, agent, coalition, pooled, n, n_edges):
    """Return the edges of a joint action in order, the rows of their two ends, how often they met, and (Z Z')^+.

    The inverse is 0 in the row of those who were not observed.
    """
    seen, first, second, worth = _met(observed, agent, coalition, pooled, n, n_edges)
    last = len(observed)
    inverse = np.zeros((last + 1, last + 1))
    if len(seen) == 0:
        return seen, first, second, worth, inverse
    both = np.zeros((last + 1, last + 1))
    for a in range(len(seen)):
        i, j, square = first[a], second[a], worth[a] * worth[a]
        both[i, i] += square
        both[j, j] += square
        both[i, j] += square
        both[j, i] += square
    values, vectors = np.linalg.eigh(both[:last, :last])
    inverted = np.zeros(last)
    for t in range(last):
        if values[t] > LEAST * values[-1]:
            inverted[t] = 1.0 / values[t]
    inner = (vectors * inverted) @ vectors.T
    for row in range(last):
        for t in range(last):
            inverse[row, t] = inner[row, t]
    return seen, first, second, worth, inverse


@kernel
def _totals_of(first, second, worth, values, rows):
    """Return Z times one value per edge, with one row more for those who were not observed."""
    total = np.zeros(rows)
    for a in range(len(worth)):
        total[first[a]] += worth[a] * values[a]
        total[second[a]] += worth[a] * values[a]
    return total


@kernel
def _add_projection(observed, agent, coalition, count, total, neutral, pooled, n, projections, moments):
    """Add count P_m and Z_m^+ times the sum of `count` samples' totals, the upper triangle of P_m only.

    Z' (Z Z')^+ is the inverse, so with Q = (Z Z')^+ and w_e what edge e = {i, j} counts in the totals of both,
    P_ef is w_e w_f times the sum of Q over the ends of e and f that were observed.
    """
    seen, first, second, worth, inverse = _edges_of(observed, agent, coalition, pooled, n, len(moments))
    last = len(observed)
    terms = _totals_of(first, second, worth, np.ones(len(seen)), last + 1)
    centred = np.zeros(last + 1)
    for row in range(last):
        centred[row] = total[row] - count * neutral * terms[row]
    solved = inverse @ centred
    for a in range(len(seen)):
        e = seen[a]
        times, i, j = count * worth[a], first[a], second[a]
        moments[e] += worth[a] * (solved[i] + solved[j])
        for b in range(a, len(seen)):
            g, h = first[b], second[b]
            ends = inverse[i, g] + inverse[j, g] + inverse[i, h] + inverse[j, h]
            projections[e, seen[b]] += times * worth[b] * ends


@in_python(_add_projection)  # type: ignore[no-redef]
def _add_projection(observed, agent, coalition, count, total, neutral, pooled, n, projections, moments):
    seen, first, second, worth, inverse = _edges_of(observed, agent, coalition, pooled, n, len(moments))
    last = len(observed)
    terms = _totals_of(first, second, worth, np.ones(len(seen)), last + 1)
    solved = inverse @ np.append(total - count * neutral * terms[:last], 0.0)
    moments[seen] += worth * (solved[first] + solved[second])
    at_first, at_second = inverse[first], inverse[second]
    ends = at_first[:, first] + at_second[:, first] + at_first[:, second] + at_second[:, second]
    projections[np.ix_(seen, seen)] += np.triu(np.multiply.outer(count * worth, worth) * ends)


@kernel
def add_joint_residuals(
    observed, agent, coalition, totals, pooled, n, centre, solved, squares, widest, steepest, reach
):
    """Add what `coterie.statistics.second_pass` asks of all samples of one joint action, one row of `totals` each.

    `solved` has a row per edge and a column per direction.
    """
    seen, first, second, worth, inverse = _edges_of(observed, agent, coalition, pooled, n, len(centre))
    last, many = len(observed), solved.shape[1]
    moved = np.zeros((last + 1, many))
    for a in range(len(seen)):
        step = worth[a] * solved[seen[a]]
        moved[first[a]] += step
        moved[second[a]] += step
    moved = inverse @ moved
    residuals = totals - _totals_of(first, second, worth, centre[seen], last + 1)[:last]
    noise = np.ascontiguousarray(residuals) @ np.ascontiguousarray(moved[:last])
    wide, far = np.zeros(many), np.zeros(many)
    for a in range(len(seen)):
        step = np.abs(worth[a] * (moved[first[a]] + moved[second[a]]))
        wide += step * step
        far += step
        steepest[:] = np.maximum(steepest, step)
    widest[:] = np.maximum(widest, wide)
    reach[:] = np.maximum(reach, far)
    for m in range(len(noise)):
        squares += noise[m] * noise[m]
