"""A look at a log before anything is learnt from it: who met how often, and what seems odd.

Two agents *meet* whenever they are in the same coalition of the same sample; such a meeting is
*rated* if the table of pairs has a row about it, in either order. Each is counted once.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.arrays import IntArray
from coterie.log import queries, shape_queries
from coterie.log.columns import codes, numbers
from coterie.log.log import Log, as_log
from coterie.sums import Sums
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.log.findings import Finding

BINS = 10
"""About how many bars the distribution of utilities has; two more if round edges need them."""

MATRIX_AGENTS = 200
"""Up to so many agents, the machine-readable form holds the whole matrix of meetings."""

POOLED = "teams"
"""What stands for all coalitions where they are interchangeable."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """What `coterie inspect` shows."""

    log: Log
    n_samples: int
    meetings: Sums
    """Keys (agent, partner) with agent < partner, value in how many coalitions of samples they met."""
    rated: Sums | None
    """The same, counting only meetings that `pairs` has a row about; None for bandit logs."""
    teams: dict[str, dict[int, int]]
    """Coalition -> size -> number of samples; one entry "teams" where coalitions are interchangeable."""
    extent: tuple[float, float]
    mean: float
    edges: list[float]
    counts: list[int]
    """How utilities are distributed: `counts[b]` from `edges[b]` to below `edges[b + 1]`, the last edge included."""
    totals_missing: int
    """Bandit logs: how often a member has no total."""
    as_averages: bool = False
    """Whether totals are averages, and are shown as such: on the scale of a pair."""
    of_each: bool = False
    """Whether `counts` are of whole numbers, one by one: no others occur, such as stars."""

    @property
    def per_pair(self) -> bool:
        """Whether the utilities that are shown are on the scale of a pair, which range and neutral point are on."""
        return self.rated is not None or self.as_averages

    @property
    def is_wide(self) -> bool:
        """Whether utilities of pairs use less than half of the range that was declared: averages cannot tell."""
        declared = self.log.utility_range
        return (
            self.rated is not None
            and declared is not None
            and self.log.sigma is None
            and _is_wide(self.extent, declared)
        )

    @property
    def pairs_possible(self) -> int:
        """The number of unordered pairs of agents."""
        n = len(self.log.agents)
        return n * (n - 1) // 2

    @property
    def pairs_met(self) -> int:
        """The number of unordered pairs that met at least once."""
        return len(self.meetings.keys)

    @property
    def pairs_rated(self) -> int | None:
        """The number of unordered pairs that have a row; None for bandit logs."""
        return None if self.rated is None else len(self.rated.keys)

    @property
    def n_meetings(self) -> int:
        """How often two agents met, over all pairs."""
        return int(self.meetings.values.sum())

    @property
    def unobserved(self) -> int:
        """The number of meetings without a row in pairs, in either order; 0 for bandit logs."""
        return 0 if self.rated is None else self.n_meetings - int(self.rated.values.sum())

    @property
    def one_sided(self) -> int:
        """The number of meetings that an asymmetric log has only one of the two rows about."""
        if self.rated is None or self.log.symmetric:
            return 0
        return 2 * int(self.rated.values.sum()) - self.log.rows

    def __repr__(self) -> str:
        return (
            f"Inspection({self.log!r}, {counted(self.n_samples, 'sample')}, {self.pairs_met:,} of "
            f"{counted(self.pairs_possible, 'pair')} met)"
        )

    @cached_property
    def findings(self) -> "tuple[Finding, ...]":
        """What is missing or suspicious."""
        from coterie.log.findings import findings_of  # here, since findings are about inspections

        return tuple(findings_of(self))

    def matrix(self) -> IntArray:
        """Return how often each two agents met, shape (n, n)."""
        return _matrix(self.meetings, len(self.log.agents))

    def rated_matrix(self) -> IntArray | None:
        """Return how many meetings of each two agents were rated, shape (n, n); None for bandit logs."""
        return None if self.rated is None else _matrix(self.rated, len(self.log.agents))

    def rarest(self, count: int) -> list[tuple[str, str, int, int | None]]:
        """Return the pairs that met least often and how often they met and were rated, those that never met first."""
        agents, n = self.log.agents, len(self.log.agents)
        starts = np.arange(n, dtype=np.int64) * (2 * n - np.arange(n) - 1) // 2  # of each row of the upper triangle
        i, j = self.meetings.keys.T
        # Among the first (pairs met + count) pairs, at least `count` never met, if so many did not.
        first = np.arange(min(self.pairs_met + count, self.pairs_possible))
        never = np.setdiff1d(first, starts[i] + j - i - 1, assume_unique=True)[:count]
        row = np.searchsorted(starts[: max(n - 1, 0)], never, side="right") - 1
        order = np.argsort(self.meetings.values[:, 0], kind="stable")[: count - len(never)]
        keys = np.concatenate([np.stack([row, never - starts[row] + row + 1], axis=1), self.meetings.keys[order]])
        met = np.concatenate([np.zeros(len(never), dtype=np.int64), self.meetings.values[order, 0]])
        rated = self._rated_of(keys)
        return [
            (agents[a], agents[b], int(m), None if r is None else int(r))
            for (a, b), m, r in zip(keys, met, rated, strict=True)
        ]

    def _rated_of(self, keys: IntArray) -> list[int | None]:
        """Return how many meetings of some pairs were rated."""
        if self.rated is None:
            return [None] * len(keys)
        n = len(self.log.agents)
        known, wanted = self.rated.keys @ np.array([n, 1]), keys @ np.array([n, 1])
        place = np.searchsorted(known, wanted)
        return [
            int(self.rated.values[p, 0]) if p < len(known) and known[p] == w else 0
            for p, w in zip(place, wanted, strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        log = self.log
        has_matrix = len(log.agents) <= MATRIX_AGENTS
        return {
            "format": "coterie.inspection/1",
            "feedback": log.feedback,
            "symmetric": log.symmetric,
            "tables": list(log.tables),
            "samples": self.n_samples,
            "rows": log.rows,
            "agents": list(log.agents),
            "coalitions": list(log.coalitions),
            "pool_coalitions": log.pool_coalitions,
            "actions": log.action_description,
            "utility_range": log.utility_range,
            "neutral": log.neutral,
            "lower_is_better": log.lower_is_better,
            "sigma": log.sigma,
            "utilities": {
                "smallest": self.extent[0],
                "largest": self.extent[1],
                "mean": self.mean,
                "edges": self.edges,
                "counts": self.counts,
                "totals_missing": self.totals_missing,
            },
            "sizes": {name: {str(size): count for size, count in sizes.items()} for name, sizes in self.teams.items()},
            "pairs": {
                "possible": self.pairs_possible,
                "met": self.pairs_met,
                "rated": self.pairs_rated,
                "meetings": self.n_meetings,
                "unobserved": self.unobserved,
                "one_sided": self.one_sided,
                "rarest": [{"agents": [i, j], "met": met, "rated": rated} for i, j, met, rated in self.rarest(20)],
                "matrix": self.matrix() if has_matrix else None,
                "rated_matrix": self.rated_matrix() if has_matrix else None,
            },
            "notes": list(log.notes),
            "findings": [finding.to_json() for finding in self.findings],
        }


def inspect_log(log: Log | str | PathLike[str]) -> Inspection:
    """Return what there is to know about a log, or about the one in a folder or file."""
    log = as_log(log)
    engine, is_pairs = log.engine, log.feedback == "semi-bandit"
    members, as_averages = engine.name("members"), _are_averages(log)
    used = engine.name("ratings" if is_pairs else "totals")
    if as_averages:
        engine.view("stated", queries.stated(used))
        used = engine.name("stated")
    teams, together = _teams(log)
    rated = _rated(log, together) if is_pairs else None
    # Agents of a pair are members, so as many rated meetings as meetings are the same meetings.
    is_complete = rated is not None and int(rated.values.sum()) == together
    meetings = rated if rated is not None and is_complete else _counted(log, queries.meetings_in_members(members))
    assert log.checked.extent is not None
    extent = log.checked.extent
    if as_averages:
        (found,) = engine.rows(shape_queries.extent(used))
        extent = float(found["smallest"]), float(found["largest"])
    limits = _limits(log, extent, per_pair=is_pairs or as_averages)
    of_each = _are_few_whole(log, used, limits)
    edges = [limits[0] + place for place in range(int(limits[1] - limits[0]) + 2)] if of_each else round_edges(*limits)
    return Inspection(
        log,
        log.n_samples,
        meetings,
        rated,
        teams,
        extent,
        float(engine.table(queries.mean(used))["mean"][0].as_py()),
        edges,
        _histogram(log, used, edges),
        0 if is_pairs or log.of_teams else _totals_missing(log),
        as_averages,
        of_each,
    )


def _are_averages(log: Log) -> bool:
    """Return whether totals are averages, and known as they are written; parts of a log hold the sums."""
    if log.feedback == "semi-bandit" or "average" not in log.options["totals"]:
        return False
    return "stated" in log.engine.table(f"SELECT * FROM {log.engine.name('totals')} LIMIT 0").column_names  # noqa: S608


def round_edges(low: float, high: float) -> list[float]:
    """Return about `BINS` + 1 round numbers at equal distances that enclose the two.

    >>> round_edges(1.0, 5.0)
    [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
    """
    if low == high:
        return [low, high]
    first, last = Decimal(repr(low)), Decimal(repr(high))
    widest = (last - first) / BINS
    start, end, step = Decimal(0), Decimal(0), Decimal(0)
    for factor in ("1", "2", "2.5", "5", "10"):
        step = Decimal(factor).scaleb(widest.adjusted())
        start = (first / step).to_integral_value(ROUND_FLOOR)
        end = (last / step).to_integral_value(ROUND_CEILING)
        if end - start <= BINS + 2:
            break
    # Of numbers that are hardly apart, some edges may be the same double.
    return sorted({float((start + place) * step) + 0.0 for place in range(int(end - start) + 1)})


def _limits(log: Log, extent: tuple[float, float], *, per_pair: bool) -> tuple[float, float]:
    """Return what the distribution of utilities spans: the declared range, if it is made use of."""
    low, high = extent
    if not per_pair or log.sigma is not None or log.utility_range is None or low == high:
        return low, high
    return extent if _is_wide(extent, log.utility_range) else log.utility_range


def _are_few_whole(log: Log, used: str, limits: tuple[float, float]) -> bool:
    """Return whether utilities are whole numbers, so few different ones that each has a bar of its own."""
    low, high = limits
    if not (low.is_integer() and high.is_integer() and 0 < high - low < BINS + 2):
        return False
    broken = queries.count_where(used, {"broken": "utility <> floor(utility)"}, with_utility=False)
    return not int(log.engine.table(broken)["broken"][0].as_py() or 0)


def _is_wide(extent: tuple[float, float], declared: tuple[float, float]) -> bool:
    return extent[1] - extent[0] < 0.5 * (declared[1] - declared[0])


def _histogram(log: Log, used: str, edges: list[float]) -> list[int]:
    # Compared with the edges themselves: a utility of 0.3 is never below an edge at 0.3.
    conditions = {f"below_{b}": f"utility < {queries.double(edge)}" for b, edge in enumerate(edges[1:-1])}
    if not conditions:
        return [_count(log, f"FROM {used}")]
    counts = log.engine.table(queries.count_where(used, conditions, with_utility=False))
    below = [0, *(int(counts[name][0].as_py()) for name in (*conditions, "n_rows"))]
    return [high - low for low, high in pairwise(below)]


def _rated(log: Log, together: int) -> Sums:
    """Return how many meetings of each pair were rated, given how many meetings there were in all."""
    used = log.engine.name("ratings")
    if log.symmetric:
        return _counted(log, queries.meetings_in_pairs(used))
    if log.rows == 2 * together:  # both orders of everything
        both = _counted(log, queries.meetings_in_pairs(used))
        return Sums(both.keys, both.values // 2)
    return _counted(log, queries.meetings_in_pairs(f"({queries.each_once(used)}) AS once"))


def _counted(log: Log, query: str) -> Sums:
    met = log.engine.table(query)
    names = pa.array(log.agents, pa.string())
    pair = np.sort(np.stack([codes(met["agent"], names), codes(met["partner"], names)], axis=1), axis=1)
    return Sums.collect(pair, numbers(met["met"])[:, None])


def _matrix(sums: Sums, n: int) -> IntArray:
    half = np.zeros((n, n), dtype=np.int64)
    half[sums.keys[:, 0], sums.keys[:, 1]] = sums.values[:, 0]
    return half + half.T


def _teams(log: Log) -> tuple[dict[str, dict[int, int]], int]:
    """Return the sizes of each coalition, and how many unordered pairs of members there were in all."""
    members = log.engine.name("members")
    # Where labels mean nothing, they may be as many as there were teams.
    teams_by_size = log.engine.table(queries.size_counts(members, queries.WHOLE, pooled=log.pool_coalitions))
    sizes, counts = numbers(teams_by_size["size"]), numbers(teams_by_size["samples"])
    labels = [POOLED] * len(sizes) if log.pool_coalitions else teams_by_size["coalition"].to_pylist()
    teams: dict[str, dict[int, int]] = {name: {} for name in ([POOLED] if log.pool_coalitions else log.coalitions)}
    for label, size, count in zip(labels, sizes.tolist(), counts.tolist(), strict=True):
        teams[label][size] = count
    if not log.pool_coalitions:
        for seen in teams.values():
            empty = log.n_samples - sum(seen.values())
            if empty:
                seen[0] = empty
    together = int((sizes * (sizes - 1) // 2 * counts).sum())
    return {name: dict(sorted(seen.items())) for name, seen in teams.items()}, together


def _totals_missing(log: Log) -> int:
    """Return how often a member has no total."""
    members, totals = log.engine.name("members"), log.engine.name("totals")
    listed = f"SELECT sample, agent FROM {members} UNION SELECT sample, agent FROM {totals}"  # noqa: S608
    return _count(log, f"FROM ({listed}) AS listed") - log.rows


def _count(log: Log, source: str) -> int:
    return int(log.engine.table(f"SELECT count(*) AS n {source}")["n"][0].as_py())
