"""What teams, and rounds, got as a whole: a task may be easy for a whole team, a day good for everybody.

Sums of pairs do not show such luck. With z the indicator (pooled: the count) of the edges
(coalition, {i, j}), or of both orders of them where these differ, whose utilities were seen in a team, or in a round,
V what they add up to and c = sum of z^2, the sums are those of z z' / c, z V / c, V^2 / c and 1: a regression of
averages, whose residuals are larger than those of pairs if pairs share their luck.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.statistics.setting import Setting, positions

MOST_EDGES = 250
"""The matrices are not made for more edges: to look for luck among them would take seconds."""

MOST_WIDER = 600
"""Newcomers, of whom nothing was seen, are added for up to so many: what is expected of the others stays as it was."""

MOST_ROWS = 100_000
"""Nor of more rows: so much is known then that there is little luck in it."""

NAMES, FIELDS = ("of_teams", "of_rounds"), ("projections", "moments", "scores")
"""What they are called in a file."""

AT_ONCE = 1 << 22
"""Indicators of so many edges and teams are multiplied at once."""


@dataclass(frozen=True, eq=False)
class GroupSums:
    """The sums over teams, or over rounds."""

    projections: FloatArray
    """sum z z' / c, shape (E, E)."""
    moments: FloatArray
    """sum z V / c, shape (E,), with utilities counted from the neutral point."""
    scores: FloatArray
    """sum V^2 / c, and how many teams, or rounds, there are."""

    def __add__(self, other: "GroupSums") -> "GroupSums":
        return GroupSums(self.projections + other.projections, self.moments + other.moments, self.scores + other.scores)

    def times(self, factor: int) -> "GroupSums":
        """Return the sums of everything so many times."""
        return GroupSums(factor * self.projections, factor * self.moments, factor * self.scores)


Shared = tuple[GroupSums, ...]
"""The sums over teams and those over rounds; nothing where they were not made."""


def n_edges(setting: Setting) -> int:
    """Return how many edges there are."""
    return setting.n_tables * setting.n_agents * (setting.n_agents - 1) // (2 if setting.symmetric else 1)


def edge_of(setting: Setting, table: IntArray, agent: IntArray, partner: IntArray) -> IntArray:
    """Return the number of each edge: coalitions come first, then orders, then pairs."""
    n, orders = setting.n_agents, 1 if setting.symmetric else 2
    i, j = np.minimum(agent, partner), np.maximum(agent, partner)
    order = 0 if setting.symmetric else (agent > partner)
    return np.asarray((table * orders + order) * (n * (n - 1) // 2) + i * n - i * (i + 1) // 2 + j - i - 1)


class SharedSums:
    """Adds up what teams and rounds got."""

    def __init__(self, setting: Setting) -> None:
        self._setting, edges = setting, n_edges(setting)
        self._sums = [[np.zeros((edges, edges)), np.zeros(edges), np.zeros(2)] for _ in range(2)]

    def add(
        self, sample: IntArray, coalition: IntArray, agent: IntArray, partner: IntArray, utility: FloatArray
    ) -> None:
        """Add the pairs of whole samples, in any order."""
        order = np.lexsort((utility, partner, agent, coalition, sample))  # so that sums are the same in every order
        sample, coalition, agent, partner = (one[order] for one in (sample, coalition, agent, partner))
        utility = utility[order]
        table = np.zeros_like(coalition) if self._setting.pool_coalitions else coalition
        edge = edge_of(self._setting, table, agent, partner)
        team = sample * (int(coalition.max(initial=0)) + 1) + coalition
        for sums, group in zip(self._sums, (team, sample), strict=True):
            self._add(sums, group, edge, utility - self._setting.neutral)

    def _add(self, sums: list[FloatArray], group: IntArray, edge: IntArray, value: FloatArray) -> None:
        names, number = np.unique(group, return_inverse=True)
        edges = len(sums[1])
        step = max(1, AT_ONCE // edges)
        for begin in range(0, len(names), step):
            here = (number >= begin) & (number < begin + step)
            rows = min(step, len(names) - begin)
            met = np.zeros((rows, edges))
            np.add.at(met, (number[here] - begin, edge[here]), 1.0)
            got = np.bincount(number[here] - begin, value[here], minlength=rows)
            terms = np.square(met).sum(axis=1)
            met, got = met / np.sqrt(terms)[:, None], got / np.sqrt(terms)
            sums[0] += met.T @ met
            sums[1] += met.T @ got
            sums[2] += (float(got @ got), rows)

    def result(self) -> Shared:
        """Return the sums over teams and over rounds."""
        return tuple(GroupSums(*sums) for sums in self._sums)


TEAMS_A_ROUND = 2
"""In so many teams a round people must have been on average: one cannot tell its luck from that of its round."""


def tell_luck(shared: Shared) -> bool:
    """Return whether the sums tell luck that teams share from what pairs are worth."""
    if not shared:
        return False
    teams, rounds = (0.0 if one.scores is None else float(one.scores[1]) for one in shared)
    return teams >= TEAMS_A_ROUND * rounds > 0


def can_share(setting: Setting, rows: int) -> bool:
    """Return whether the sums are made: of ratings, where they are affordable.

    Whether pairs are taken to be independent makes no difference, since parts of a log may choose that differently: it
    is about what certificates promise, and what is expected of the same log is the same.
    """
    plain = setting.sizes == "ignore" and setting.missing == "ignore" and setting.feedback == "semi-bandit"
    return plain and 0 < n_edges(setting) <= MOST_EDGES and rows <= MOST_ROWS


def both(ours: Shared, theirs: Shared) -> Shared:
    """Return the sums of two logs; none where one of them has none."""
    return tuple(one + other for one, other in zip(ours, theirs, strict=True)) if ours and theirs else ()


def relabelled(shared: Shared, old: Setting, new: Setting) -> Shared:
    """Return the same sums among the names of a wider setting; none where that has too many edges."""
    if not shared or n_edges(new) > MOST_WIDER:
        return ()
    if (old.agents, old.coalitions) == (new.agents, new.coalitions):
        return shared
    tables, n = np.arange(old.n_tables), old.n_agents
    table, agent, partner = (one.ravel() for one in np.meshgrid(tables, np.arange(n), np.arange(n), indexing="ij"))
    among = agent < partner if old.symmetric else agent != partner
    table, agent, partner = table[among], agent[among], partner[among]
    agents = positions(old.agents, new.agents)
    moved = table if new.pool_coalitions else positions(old.coalitions, new.coalitions)[table]
    where = np.zeros(n_edges(old), dtype=np.int64)
    where[edge_of(old, table, agent, partner)] = edge_of(new, moved, agents[agent], agents[partner])
    found = []
    for one in shared:
        projections, moments = np.zeros((n_edges(new), n_edges(new))), np.zeros(n_edges(new))
        projections[np.ix_(where, where)], moments[where] = one.projections, one.moments
        found.append(GroupSums(projections, moments, one.scores))
    return tuple(found)


def arrays_of(shared: Shared) -> dict[str, Any]:
    """Return the sums under the names that they have in a file."""
    names = zip(NAMES, shared, strict=False)
    return {f"{name}_{field}": getattr(one, field) for name, one in names for field in FIELDS}


def from_arrays(setting: Setting, arrays: Mapping[str, Any]) -> Shared:
    """Read what `arrays_of` returned, refusing what no log comes to; files of before hold nothing."""
    edges, found = n_edges(setting), []
    shapes = dict(zip(FIELDS, ((edges, edges), (edges,), (2,)), strict=True))
    for name in NAMES:
        if f"{name}_{FIELDS[0]}" not in arrays:
            return ()
        for field, shape in shapes.items():
            checks.finite(arrays[f"{name}_{field}"], f"{name}_{field}", shape)
        found.append(GroupSums(*(arrays[f"{name}_{field}"] for field in FIELDS)))
    return tuple(found)
