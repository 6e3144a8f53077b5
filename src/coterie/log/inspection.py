"""A look at a log before anything is learnt from it: who met how often, and what seems odd."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.arrays import IntArray
from coterie.log import queries, schema
from coterie.log.log import Log
from coterie.log.pair_statistics import DENSE_AGENTS
from coterie.log.streaming import codes, numbers
from coterie.log.sums import Sums

BINS = 20
"""How many bars the distribution of utilities has."""

MATRIX_AGENTS = 200
"""Up to so many agents, the machine-readable form holds the whole matrix of meetings."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """What `coterie inspect` shows."""

    log: Log
    n_samples: int
    meetings: Sums
    """Keys (agent, partner) with agent < partner, value how often they met (rows, or co-memberships)."""
    teams: dict[str, dict[int, int]]
    """Coalition -> size -> number of samples; one entry "teams" where coalitions are interchangeable."""
    extent: tuple[float, float]
    mean: float
    edges: list[float]
    counts: list[int]
    """The distribution of utilities: `counts[b]` of them between `edges[b]` and `edges[b + 1]`."""
    unobserved: int
    """Co-members without a row."""
    findings: tuple[str, ...]
    """What is missing or suspicious."""

    @property
    def pairs_possible(self) -> int:
        """The number of unordered pairs of agents."""
        n = len(self.log.agents)
        return n * (n - 1) // 2

    @property
    def pairs_met(self) -> int:
        """The number of unordered pairs that met at least once."""
        return len(self.meetings.keys)

    def matrix(self) -> IntArray:
        """Return how often each two agents met, shape (n, n)."""
        n = len(self.log.agents)
        met = np.zeros((n, n), dtype=np.int64)
        met[self.meetings.keys[:, 0], self.meetings.keys[:, 1]] = self.meetings.values[:, 0]
        return met + met.T

    def rarest(self, count: int) -> list[tuple[str, str, int]]:
        """Return the pairs that met least often, those that never met first."""
        agents = self.log.agents
        if len(agents) <= DENSE_AGENTS:
            met = self.matrix()
            i, j = np.triu_indices(len(agents), 1)
            order = np.argsort(met[i, j], kind="stable")[:count]
            return [(agents[i[t]], agents[j[t]], int(met[i[t], j[t]])) for t in order]
        keys, values = self.meetings.keys, self.meetings.values[:, 0]
        order = np.argsort(values, kind="stable")[:count]
        return [(agents[keys[t, 0]], agents[keys[t, 1]], int(values[t])) for t in order]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        log = self.log
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
            "sigma": log.sigma,
            "utilities": {
                "smallest": self.extent[0],
                "largest": self.extent[1],
                "mean": self.mean,
                "edges": self.edges,
                "counts": self.counts,
            },
            "sizes": {name: {str(size): count for size, count in sizes.items()} for name, sizes in self.teams.items()},
            "pairs": {
                "possible": self.pairs_possible,
                "met": self.pairs_met,
                "unobserved": self.unobserved,
                "rarest": [{"agents": [i, j], "met": met} for i, j, met in self.rarest(20)],
                "matrix": self.matrix() if len(log.agents) <= MATRIX_AGENTS else None,
            },
            "notes": list(log.notes),
            "findings": list(self.findings),
        }


def inspect_log(log: Log) -> Inspection:
    """Return what there is to know about a log."""
    engine, is_pairs = log.engine, log.feedback == "semi-bandit"
    used, members = engine.name("ratings" if is_pairs else "totals"), engine.name("members")
    query = queries.meetings_in_pairs(used) if is_pairs else queries.meetings_in_members(members)
    meetings = _meetings(log, engine.table(query))
    assert log.checked.extent is not None
    limits = log.utility_range if is_pairs and log.sigma is None and log.utility_range else log.checked.extent
    limits = limits if limits[0] < limits[1] else (limits[0] - 0.5, limits[1] + 0.5)
    bars = engine.table(queries.histogram(used, limits, BINS))
    counts = np.zeros(BINS, dtype=np.int64)
    counts[numbers(bars["bin"])] = numbers(bars["found"])
    sizes = engine.table(queries.size_counts(members, "0"))
    teams, together = _teams(log, sizes)
    observed = int(meetings.values[:, 0].sum()) if is_pairs else together
    expected = together if log.symmetric or not is_pairs else 2 * together
    inspection = Inspection(
        log,
        log.n_samples,
        meetings,
        teams,
        log.checked.extent,
        float(engine.table(queries.mean(used))["mean"][0].as_py()),
        np.linspace(*limits, BINS + 1).tolist(),
        counts.tolist(),
        max(expected - observed, 0),
        (),
    )
    return Inspection(**{**vars(inspection), "findings": tuple(_findings(inspection))})


def _meetings(log: Log, found: pa.Table) -> Sums:
    names = pa.array(log.agents, pa.string())
    pair = np.sort(np.stack([codes(found["agent"], names), codes(found["partner"], names)], axis=1), axis=1)
    return Sums.collect(pair, numbers(found["met"])[:, None])


def _teams(log: Log, found: pa.Table) -> tuple[dict[str, dict[int, int]], int]:
    """Return the sizes of each coalition, and how many unordered pairs of members there were in all."""
    sizes, counts = numbers(found["size"]), numbers(found["samples"])
    labels = ["teams"] * len(sizes) if log.pool_coalitions else found["coalition"].to_pylist()
    teams: dict[str, dict[int, int]] = {name: {} for name in (["teams"] if log.pool_coalitions else log.coalitions)}
    for label, size, count in sorted(zip(labels, sizes.tolist(), counts.tolist(), strict=True)):
        teams[label][size] = teams[label].get(size, 0) + count
    if not log.pool_coalitions:
        for seen in teams.values():
            empty = log.n_samples - sum(seen.values())
            if empty:
                seen[0] = empty
    return {name: dict(sorted(seen.items())) for name, seen in teams.items()}, int(
        (sizes * (sizes - 1) // 2 * counts).sum()
    )


def _findings(seen: Inspection) -> Iterator[str]:
    """Yield one sentence for each thing that is missing or suspicious."""
    log = seen.log
    yield from log.notes
    if seen.n_samples == 1:
        yield "there is one sample only: nothing shows how much utilities vary, and no part can be held out"
    never = seen.pairs_possible - seen.pairs_met
    if never:
        yield f"{never:,} of {seen.pairs_possible:,} pairs of agents never met: nothing is known about them"
    once = int((seen.meetings.values[:, 0] == 1).sum())
    if once:
        yield f"{once:,} pairs met only once"
    lonely = set(range(len(log.agents))) - set(seen.meetings.keys.ravel().tolist())
    if lonely:
        yield f"{_some([log.agents[i] for i in sorted(lonely)])} never met anybody"
    empty = [name for name, sizes in seen.teams.items() if not any(size for size in sizes)]
    if empty:
        yield f"nobody ever joined {_some(empty)}"
    if seen.unobserved:
        yield f"{seen.unobserved:,} times two agents shared a coalition without a row in pairs: those are unobserved"
    fixed = [name for name, sizes in seen.teams.items() if len([size for size in sizes if size]) == 1]
    if fixed and log.has_memberships:
        yield f"{_some(fixed)} had one and the same size in every sample that it was used in"
    yield from _odd_utilities(seen)


def _odd_utilities(seen: Inspection) -> Iterator[str]:
    log, (low, high) = seen.log, seen.extent
    if low == high:
        yield f"every utility is {schema.number(low)}"
        return
    if log.feedback != "semi-bandit":
        return
    if low > log.neutral or high < log.neutral:
        side = "above" if low > log.neutral else "below"
        yield (
            f"all utilities are {side} the neutral point {schema.number(log.neutral)}: everybody would rather be "
            f"{'together' if side == 'above' else 'alone'}; is that what 0 means here? (see --neutral)"
        )
    if log.utility_range is not None and log.sigma is None:
        declared = log.utility_range
        if high - low < 0.5 * (declared[1] - declared[0]):
            yield (
                f"utilities use {schema.interval(low, high)} of the declared range {schema.interval(*declared)}; if no "
                "other value can occur, declaring the true range narrows every certificate"
            )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5:,} more"
