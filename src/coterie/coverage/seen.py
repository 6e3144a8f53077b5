"""What a log, or a known exploration policy, shows: sizes, meetings, and what totals can tell apart."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics, edge_index, own_edges
from coterie.words import said

CELLS = 60_000_000
"""Meetings are looked at for up to so many pairs (x sizes) of those who may meet in one coalition."""


@runtime_checkable
class Explores(Protocol):
    """A policy that knows how probable everything is, such as those of `coterie.simulate.policies`."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of agents and of coalitions."""
        ...

    def size_probabilities(self) -> FloatArray:
        """Return Pr[|C_l| = s], shape (k, n + 1)."""
        ...

    def meeting_probabilities(self) -> FloatArray:
        """Return Pr[i and j both in C_l], shape (k, n, n)."""
        ...

    def second_moments(self, agent: int) -> FloatArray:
        """Return E[x x'] of the agent's indicators of (coalition, partner)."""
        ...


@dataclass(frozen=True, eq=False)
class Seen:
    """Frequencies in a log, or probabilities of a policy; `tables` is 1 where coalitions are interchangeable."""

    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    n_samples: int | None
    """None for a policy, whose probabilities are exact."""
    bandit: bool
    symmetric: bool
    aware: bool
    """Whether each size of a coalition has its own unknowns."""
    tables: int
    sizes: FloatArray
    """How often a coalition had each size, per sample (pooled: per sample and place), shape (tables, n + 1)."""
    meetings: Callable[[int, IntArray], FloatArray] | None
    """Table and m agents -> how often i of them rated j per sample, (m, m) or (m, m, n + 1); None where totals hide
    it."""
    met: Callable[[int, IntArray], FloatArray]
    """The same, but only whether it is positive counts."""
    moments: Callable[[int], FloatArray] | None
    """Agent -> average of x x' over samples, bandit logs only; None where the log lacks the sums."""
    shows: Callable[[int], FloatArray] | None = None
    """Agent -> a matrix with the same range as the average of x x'."""
    actions: ActionSpaces | None = None
    """What the agents of a log may do; None for a policy."""

    @property
    def pooled(self) -> bool:
        """Whether coalitions are interchangeable."""
        return self.tables < len(self.coalitions)

    def table(self, coalition: int) -> int:
        """Return where the statistics keep a coalition."""
        return 0 if self.pooled else coalition


def seen_in(statistics: Statistics | PairStatistics | TotalStatistics) -> Seen:
    """Return the frequencies in a log, from its statistics or from those of a part of it."""
    part = statistics.whole if isinstance(statistics, Statistics) else statistics
    setting, samples = part.setting, max(part.n_samples, 1)
    places = samples * (setting.n_coalitions if setting.pool_coalitions else 1)
    common = {
        "agents": setting.agents,
        "coalitions": setting.coalitions,
        "n_samples": part.n_samples,
        "symmetric": setting.symmetric,
        "aware": setting.sizes == "aware",
        "tables": setting.n_tables,
        "sizes": part.size_counts / places,
        "actions": setting.actions,
    }
    if isinstance(part, PairStatistics):

        def rate(table: int, agents: IntArray) -> FloatArray:
            return _met_in_pairs(part, table, agents) / samples

        return Seen(**common, bandit=False, meetings=rate, met=rate, moments=None)  # type: ignore[arg-type]
    totals: TotalStatistics = part
    if setting.of_teams:
        seen = {"meetings": None, "met": _in_scored_teams(totals), "moments": None, "shows": _told_by_scores(totals)}
        return Seen(**common, bandit=True, **seen)  # type: ignore[arg-type]
    unweighted = "none" in totals.weighted
    weighting = "none" if unweighted else None

    def shows(agent: int) -> FloatArray:
        return totals.gram(agent, weighting) / samples

    @cache
    def diagonals() -> FloatArray:
        return np.stack([np.diag(shows(agent)).copy() for agent in range(setting.n_agents)])  # else all are kept

    def met(table: int, agents: IntArray) -> FloatArray:
        own = diagonals()[:, table * setting.block : (table + 1) * setting.block]
        return _among(_by_partner(setting, own), agents)

    countable = unweighted and not setting.pool_coalitions  # a pooled diagonal holds squares of counts
    return Seen(
        **common,  # type: ignore[arg-type]
        bandit=True,
        meetings=met if countable else None,
        met=met,
        moments=shows if unweighted else None,
        shows=shows,
    )


def never_together(seen: Seen, strategy: Strategy) -> tuple[int, list[tuple[int, int, int]]]:
    """Return how many pairs a pure strategy's coalitions bring together, and those never seen together there.

    These are (agent, partner, coalition) with agent < partner; that one of the two rated the other is enough.
    """
    pairs = 0
    unseen: list[tuple[int, int, int]] = []
    for l in range(len(seen.coalitions)):
        members = np.flatnonzero(strategy.sets[:, l])
        if len(members) < 2:
            continue
        rate = seen.met(seen.table(l), members)
        met = np.asarray((rate if rate.ndim == 2 else rate.sum(axis=2)) > 0)
        one, two = np.triu_indices(len(members), 1)
        pairs += len(one)
        apart = ~(met | met.T)[one, two]
        unseen += [(i, j, l) for i, j in zip(members[one[apart]].tolist(), members[two[apart]].tolist(), strict=True)]
    return pairs, unseen


def _among(found: FloatArray, agents: IntArray) -> FloatArray:
    """Return what is known of all pairs for pairs of some agents."""
    return found[np.ix_(agents, agents)]


def _in_scored_teams(part: TotalStatistics) -> Callable[[int, IntArray], FloatArray]:
    """Return for each table which pairs were in a team that has a score."""
    assert part.joint is not None
    edges, seen = edge_index(part.setting), np.diag(part.joint.projections)
    shape = (part.setting.n_tables, part.setting.n_agents, part.setting.n_agents)
    found = np.zeros(shape)
    table, i, j = edges.T
    found[table, i, j] = found[table, j, i] = seen
    return lambda table, agents: _among(found[table], agents)


def _told_by_scores(part: TotalStatistics) -> Callable[[int], FloatArray]:
    """Return for each agent the projection onto combinations of their unknowns that scores of teams tell.

    A combination of edges is told if it is orthogonal to every null vector of the regression over edges, and so are an
    agent's own to what these vectors are on the agent's edges.
    """
    assert part.joint is not None
    values, vectors = np.linalg.eigh(part.joint.projections)
    hidden, own = vectors[:, values <= 1e-9 * max(values[-1], 1e-300)], own_edges(part.setting)

    def shows(agent: int) -> FloatArray:
        left, sizes, _ = np.linalg.svd(hidden[own[agent]], full_matrices=False)
        basis = left[:, sizes > 1e-9]
        return np.asarray(np.eye(len(own[agent])) - basis @ basis.T)

    return shows


def seen_by(
    policy: Explores,
    agents: checks.Names = None,
    coalitions: checks.Names = None,
    *,
    bandit: bool = False,
) -> Seen:
    """Return the exact probabilities of a policy, for games whose utilities do not depend on size."""
    n, k = policy.shape
    meetings = policy.meeting_probabilities().copy()
    meetings[:, np.arange(n), np.arange(n)] = 0.0
    moments = policy.second_moments if bandit else None
    return Seen(
        checks.names(agents, "agents", n),
        checks.names(coalitions, "coalitions", k),
        None,
        bandit=bandit,
        symmetric=True,
        aware=False,
        tables=k,
        sizes=policy.size_probabilities(),
        meetings=lambda table, chosen: _among(meetings[table], chosen),
        met=lambda table, chosen: _among(meetings[table], chosen),
        moments=moments,
        shows=moments,
    )


def _met_in_pairs(part: PairStatistics, table: int, agents: IntArray) -> IntArray:
    """Return how often each of some agents rated each other in one table, shape (m, m) or (m, m, n + 1)."""
    setting = part.setting
    n, m, aware = setting.n_agents, len(agents), setting.sizes == "aware"
    shape = (m, m, n + 1) if aware else (m, m)
    if np.prod(shape, dtype=np.float64) > CELLS:
        most, where = int(CELLS ** (1 / len(shape))), repr(setting.coalitions[table])
        raise TooLargeError(
            f"coverage is worked out for up to {most:,} agents who may meet in one coalition, and {m:,} may in "
            f"{'one' if setting.pool_coalitions else where}; say who may go where (with "
            f"{said(actions='observed-own')} everybody stays where they have been), or ask about one department at a "
            "time"
        )
    place = np.full(n, -1)
    place[agents] = np.arange(m)
    i, j = place[part.agent], place[part.partner]
    here = (part.coalition == table) & (i >= 0) & (j >= 0)
    i, j, count = i[here], j[here], part.count[here]
    found = np.zeros(shape, dtype=np.int64)
    rest = (part.size[here],) if aware else ()
    found[(i, j, *rest)] = count
    if setting.symmetric:
        found[(j, i, *rest)] = count
    return found


def _by_partner(setting: Setting, own: FloatArray) -> FloatArray:
    """Spread one table's part of every agent's unknowns over pairs (and sizes)."""
    n = setting.n_agents
    found = np.zeros((n, n, n + 1) if setting.sizes == "aware" else (n, n))
    partners = np.arange(n)
    for i in range(n):
        if setting.sizes == "aware":
            found[i, partners != i, 2:] = own[i].reshape(n - 1, -1)
        else:
            found[i, partners != i] = own[i]
    return found
