"""The joint bandit estimator's sums: one unknown per edge, both agents' totals used together.

For sample m, Z_m has a row for each observed total and a column for each edge (coalition, {i, j})
of the game, with a 1 (or, for interchangeable coalitions, the number of meetings) where the
total contains the edge. The sums are those of P_m = Z_m^+ Z_m and Z_m^+ v_m. Z_m depends on the
joint action alone, so samples with the same joint action are added up before it is inverted.
"""

from collections.abc import Iterator

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.statistics.setting import Setting
from coterie.statistics.total_statistics import JointSums

MOST_EDGES = 5000
"""The joint estimator's matrix is not built for more edges."""

KEPT_ACTIONS = 1 << 12
"""How many distinct joint actions wait for further samples before they are inverted."""


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
        self._waiting: dict[tuple[int, bytes, bytes], tuple[int, FloatArray]] = {}

    def add(self, sample: IntArray, part: IntArray, agent: IntArray, coalition: IntArray, utility: FloatArray) -> None:
        """Add whole samples, sorted by sample, coalition and agent, totals first with coalition -1."""
        starts = np.flatnonzero(np.diff(sample, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(sample)], strict=True):
            members = start + int(np.count_nonzero(coalition[start:stop] < 0))
            if members in {start, stop}:
                continue
            teams = np.stack([agent[members:stop], coalition[members:stop]])
            key = (int(part[start]), agent[start:members].tobytes(), teams.tobytes())
            count, total = self._waiting.get(key, (0, np.zeros(members - start)))
            self._waiting[key] = (count + 1, total + utility[start:members])
        if len(self._waiting) > KEPT_ACTIONS:
            self._flush()

    def result(self) -> Iterator[JointSums]:
        """Yield the sums of each part."""
        self._flush()
        for projections, moments in zip(self._projections, self._moments, strict=True):
            yield JointSums(projections, moments)

    def _flush(self) -> None:
        for (part, observed, teams), (count, total) in sorted(self._waiting.items(), key=lambda item: item[0]):
            agents = np.frombuffer(observed, dtype=np.int64)
            agent, coalition = np.frombuffer(teams, dtype=np.int64).reshape(2, -1)
            design, edges = self._design(agents, agent, coalition)
            if not len(edges):
                continue
            inverse = np.linalg.pinv(design, rcond=1e-10)
            self._projections[part][np.ix_(edges, edges)] += count * (inverse @ design)
            terms = design.sum(axis=1)
            self._moments[part][edges] += inverse @ (total - count * self._setting.neutral * terms)
        self._waiting.clear()

    def _design(self, observed: IntArray, agent: IntArray, coalition: IntArray) -> tuple[FloatArray, IntArray]:
        """Return Z_m without its zero columns, and which edges the columns are."""
        n = self._setting.n_agents
        row_of = np.full(n, -1)
        row_of[observed] = np.arange(len(observed))
        found: list[tuple[int, int, int]] = []
        for l in np.unique(coalition).tolist():
            team = agent[coalition == l].tolist()
            table = 0 if self._setting.pool_coalitions else l
            found += [(table, i, j) for a, i in enumerate(team) for j in team[a + 1 :]]
        listed = np.array(found, dtype=np.int64).reshape(-1, 3)
        i, j = listed[:, 1], listed[:, 2]
        edge = listed[:, 0] * (n * (n - 1) // 2) + i * n - i * (i + 1) // 2 + j - i - 1
        edges, column = np.unique(edge, return_inverse=True)
        design = np.zeros((len(observed), len(edges)))
        for end in (i, j):
            seen = row_of[end] >= 0
            np.add.at(design, (row_of[end][seen], column[seen]), 1.0)
        # An edge that no observed total contains has a zero column, and a zero row in the inverse.
        return design, edges
