"""The sums of a regression of teams' scores on who was in them.

The score of team C in a sample is the sum over its c = s (s - 1) / 2 unordered pairs of what the pair got. That is v =
z'theta + noise, where theta has an unknown for each edge (coalition, {i, j}) and z is 1 on the edges of C. A score says
nothing about single members (any division of it among them could be true), so it cannot be written as their totals; it
is a row of its own in the regression over edges that `coterie.estimate.ridge.JointRidge` solves, V = lambda I + sum w
z z'.

With independent pairs the noise of a score has variance proxy c r^2, and w = 1/c. Where the pairs of one sample may
depend on each other, so may its K scores: the noise of a sample in direction u is the sum over its teams of
w (z'u) e_C, |e_C| within c times a range of length 2 r, and by Hoeffding's lemma and the Cauchy-Schwarz inequality its
variance proxy is r^2 (sum of w c |z'u|)^2 <= r^2 K sum of (w c z'u)^2. With w = 1 / (K c^2) that is r^2 sum of
w (z'u)^2. So in both cases the proxy of a sample in direction u is at most r^2 u'(sum of w z z')u: what the ellipsoid,
which sums over samples one after the other, and the widths of fixed directions need.
"""

from math import sqrt

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.statistics.setting import Setting
from coterie.statistics.total_statistics import JointSums
from coterie.words import said

MOST_EDGES = 5000
"""The matrix over edges is not built for more."""


def _or_pooled(setting: Setting) -> str:
    """Return what else would fit: where names of teams mean nothing, there are as many unknowns as pairs."""
    n = setting.n_agents
    if setting.pool_coalitions or n * (n - 1) // 2 > MOST_EDGES:
        return ""
    return f"; where names of teams mean nothing, all of it does, with {said(pool_coalitions=True)}"


class ScoreSums:
    """Adds up scores of teams, one regression per part."""

    def __init__(self, setting: Setting) -> None:
        n = setting.n_agents
        self._edges = setting.n_tables * n * (n - 1) // 2
        if self._edges > MOST_EDGES:
            fit = int((1 + sqrt(1 + 8 * MOST_EDGES / setting.n_tables)) / 2)
            raise TooLargeError(
                f"scores of teams are learnt from for up to {MOST_EDGES} pairs times coalitions, this log has "
                f"{self._edges}: those of {fit} agents, such as a department, would fit{_or_pooled(setting)}"
            )
        self._setting = setting
        self._teams: dict[tuple[int, int, bytes], FloatArray] = {}

    def add(self, sample: IntArray, part: IntArray, agent: IntArray, coalition: IntArray, utility: FloatArray) -> None:
        """Add whole samples, in any order: members, and for each score a row with agent -1."""
        order = np.lexsort((agent, coalition, sample))
        sample, part, agent, coalition = (one[order] for one in (sample, part, agent, coalition))
        utility = utility[order]
        starts = np.flatnonzero((np.diff(sample, prepend=-1) != 0) | (np.diff(coalition, prepend=-1) != 0))
        stops = np.append(starts[1:], len(sample))
        scored = (agent[starts] < 0) & (stops - starts > 2)
        starts, stops = starts[scored], stops[scored]
        teams = np.bincount(sample[starts], minlength=1)
        dependent, pooled = self._setting.noise == "samples", self._setting.pool_coalitions
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            size = stop - start - 1
            value = utility[start] - self._setting.neutral * (size * (size - 1) // 2)
            share = 1.0 / teams[sample[start]] if dependent else 1.0
            key = (int(part[start]), 0 if pooled else int(coalition[start]), agent[start + 1 : stop].tobytes())
            sums = self._teams.setdefault(key, np.zeros(4))
            sums += (share, share * value, share * value**2, 1.0)

    def result(self) -> list[JointSums]:
        """Return the sums of each part."""
        n, dependent = self._setting.n_agents, self._setting.noise == "samples"
        found = [
            [np.zeros((self._edges, self._edges)), np.zeros(self._edges), np.zeros(3)] for _ in self._setting.shares
        ]
        for (part, table, team), (share, total, squares, rows) in sorted(self._teams.items()):
            members = np.frombuffer(team, dtype=np.int64)
            first, second = np.triu_indices(len(members), 1)
            i, j = members[first], members[second]
            edges = table * (n * (n - 1) // 2) + i * n - i * (i + 1) // 2 + j - i - 1
            weight = 1.0 / len(edges) ** (2 if dependent else 1)
            projections, moments, noise = found[part]
            projections[np.ix_(edges, edges)] += weight * share
            moments[edges] += weight * total
            noise += (weight * squares, share, rows)
        return [JointSums(projections, moments, noise) for projections, moments, noise in found]
