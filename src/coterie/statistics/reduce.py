"""Reducing a log to statistics: group-by in the engine, Gram matrices in a stream of whole samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.log import queries
from coterie.log.columns import doubles, known_codes, numbers
from coterie.log.engine import Engine
from coterie.log.log import Log
from coterie.statistics.packed import packed_length
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.streaming import whole_samples
from coterie.statistics.total_statistics import TotalStatistics, WeightedSums, carried_limbs
from coterie.sums import Sums
from coterie.words import said

MOST_GRAM_ENTRIES = 1 << 28
"""Gram matrices of all agents together have at most so many entries in each part (2 GB)."""

MOST_ROWS = 1 << 33
"""Sums of fixed-point numbers fit into 64 bits for up to so many rows."""


def reduce_log(
    log: Log, *, sizes: str, noise: str, parts: Sequence[float], seed: int, unweighted: bool, joint: bool
) -> Statistics:
    """Return the statistics of a log, see `Statistics.of`."""
    if sizes not in {"ignore", "aware"}:
        raise InputError(f'sizes: expected "ignore" or "aware", got {sizes!r}')
    if noise not in {"pairs", "samples"}:
        raise InputError(f'noise: expected "pairs" or "samples", got {noise!r}')
    if sizes == "aware" and not log.has_memberships:
        raise InputError(
            f"{said(sizes='aware')} needs a table memberships; sizes inferred from pairs could be too small"
        )
    if joint and (log.feedback != "bandit" or not log.symmetric or noise == "samples" or sizes == "aware"):
        raise InputError(
            "the joint estimator is for bandit logs of symmetric games with independent pairs and sizes ignored"
        )
    setting = Setting(
        log.feedback, log.agents, log.coalitions, log.symmetric, log.utility_range, log.neutral, log.sigma,
        log.pool_coalitions, log.action_description, log.action_sets, sizes, noise, _shares(parts),
        checks.whole(seed, "seed", 0), log.declared_agents, log.declared_coalitions,
    )  # fmt: skip
    task = Reduction(log.engine, setting, log.rows, log.checked.extent)
    if log.feedback == "bandit":
        return reduce_totals(task, unweighted=unweighted, joint=joint)
    return reduce_pairs(task)


def _shares(parts: Sequence[float]) -> tuple[float, ...]:
    try:
        shares = tuple(float(share) for share in parts)
    except (TypeError, ValueError):
        shares = ()
    if not shares or not all(share > 0 for share in shares) or not abs(sum(shares) - 1) <= 1e-9:
        raise InputError(f"parts: expected positive shares that sum to 1, got {parts!r}")
    return shares


@dataclass(frozen=True, eq=False)
class Reduction:
    """One reduction of a log: where its rows are, and what the statistics should hold."""

    engine: Engine
    setting: Setting
    rows: int
    extent: tuple[float, float] | None = None
    """The smallest and the largest utility, where they are known."""

    @property
    def clips(self) -> bool:
        """Whether some utility may lie beyond the range, if only by rounding."""
        low, high = self.setting.fixed_range
        return self.extent is None or not low <= self.extent[0] <= self.extent[1] <= high

    @property
    def n_parts(self) -> int:
        """The number of parts that the samples are split into."""
        return len(self.setting.shares)

    @property
    def ratings(self) -> str:
        """The view of pairs, one row per observation."""
        return self.engine.name("ratings")

    @property
    def members(self) -> str:
        """The view of memberships, given or inferred."""
        return self.engine.name("members")

    @property
    def sized_by(self) -> str | None:
        """The view that coalition sizes come from, where they matter."""
        return self.members if self.setting.sizes == "aware" else None

    def part(self, sample: str = "sample") -> str:
        """Return the SQL expression for the part of a sample."""
        return queries.part(self.setting.shares, self.setting.seed, sample)

    @cached_property
    def agent_names(self) -> pa.Array:
        """The agents as an Arrow array, to look names up in."""
        return pa.array(self.setting.agents, pa.string())

    @cached_property
    def coalition_names(self) -> pa.Array:
        """The coalitions as an Arrow array."""
        return pa.array(self.setting.coalitions, pa.string())

    def agents(self, column: Any) -> IntArray:
        """Return the numbers of agents."""
        return known_codes(column, self.agent_names, "agent")

    def tables(self, column: Any) -> IntArray:
        """Return the numbers of coalitions, all 0 where they are interchangeable."""
        if self.setting.pool_coalitions:
            return np.zeros(len(column), dtype=np.int64)
        return known_codes(column, self.coalition_names, "coalition")


def reduce_pairs(task: Reduction) -> Statistics:
    """Return the statistics of a semi-bandit log."""
    _refuse_too_long(task)
    setting = task.setting
    entries = pair_sums(task)
    if setting.noise == "samples" and setting.pool_coalitions:
        entries = [ours + theirs for ours, theirs in zip(entries, _repeats(task), strict=True)]
    together = _cooccurrences(task) if setting.noise == "samples" else None
    n_samples, teams = _samples(task, [task.members]), _teams(task)
    parts = (
        PairStatistics(setting, n_samples[p], entries[p], teams[p], None if together is None else together[p])
        for p in range(task.n_parts)
    )
    return Statistics(setting, tuple(parts))


def _refuse_too_long(task: Reduction) -> None:
    if task.rows >= MOST_ROWS:
        raise TooLargeError(f"the log has {task.rows} rows; reduce it in pieces of fewer than {MOST_ROWS}, then add")


def _refuse_too_heavy(task: Reduction, samples: int) -> None:
    """Refuse sums without weights that might not fit: each sample adds up to c x 2^30, x the meetings of a pair."""
    terms = int(task.engine.table(queries.most_terms(task.members))["most"][0].as_py())
    each = terms * (terms if task.setting.pool_coalitions else 1)
    if samples * each >= MOST_ROWS:
        raise TooLargeError(
            f"the sums without weights of {samples} samples with up to {terms} pairs per agent do not fit into 64 "
            f"bits; reduce fewer than {MOST_ROWS // each} samples, or leave the unweighted sums out"
        )


def _by_part(task: Reduction, part: IntArray, keys: IntArray, values: IntArray) -> list[Sums]:
    if task.n_parts == 1:
        return [Sums.collect(keys, values)]
    return [Sums.collect(keys[part == p], values[part == p]) for p in range(task.n_parts)]


def _parts(found: pa.Table) -> IntArray:
    """Return the part of each row, all 0 where a query has left it out."""
    return numbers(found["part"]) if "part" in found.column_names else np.zeros(len(found), dtype=np.int64)


def _tables(task: Reduction, found: pa.Table) -> IntArray:
    """Return the numbers of coalitions, all 0 where a query has left them out."""
    if "coalition" in found.column_names:
        return task.tables(found["coalition"])
    return np.zeros(len(found), dtype=np.int64)


def _pair_keys(task: Reduction, found: pa.Table) -> IntArray:
    """Return the keys (coalition, agent, partner[, size]) of rows, unordered pairs as agent < partner."""
    columns = [_tables(task, found)]
    agent, partner = task.agents(found["agent"]), task.agents(found["partner"])
    both = task.setting.symmetric
    columns += [np.minimum(agent, partner), np.maximum(agent, partner)] if both else [agent, partner]
    if task.setting.sizes == "aware":
        columns.append(numbers(found["size"]))
    return np.stack(columns).T


def pair_sums(task: Reduction) -> list[Sums]:
    """Return counts, sums and sums of squares of each part: the one pass that a plain reduction is."""
    setting = task.setting
    squares = task.engine.wide_sum("q * q", queries.FIXED_BITS)
    query = queries.pair_sums(
        task.ratings, task.part("p.sample"), setting.fixed_range, squares, task.sized_by,
        pooled=setting.pool_coalitions, clips=task.clips,
        size_type="SMALLINT" if setting.n_agents < 2**15 else "INTEGER",
    )  # fmt: skip
    found = task.engine.table(query)
    values = [numbers(found[name]) for name in ("count", "total", "squares", "square_rests")]
    if setting.noise == "samples" and setting.pool_coalitions:
        values.append(np.zeros(len(found), dtype=np.int64))
    return _by_part(task, _parts(found), _pair_keys(task, found), np.stack(values).T)


def _repeats(task: Reduction) -> list[Sums]:
    """Return for interchangeable coalitions the sum over samples of (how often a pair met)^2."""
    query = queries.pair_repeats(task.ratings, task.part("p.sample"), task.sized_by, symmetric=task.setting.symmetric)
    found = task.engine.table(query)
    repeats = numbers(found["repeats"])
    nothing = np.zeros_like(repeats)
    values = np.stack([*[nothing] * 4, repeats], axis=1)
    return _by_part(task, numbers(found["part"]), _pair_keys(task, found), values)


def _teams(task: Reduction) -> list[Sums]:
    found = task.engine.table(queries.size_counts(task.members, task.part(), pooled=task.setting.pool_coalitions))
    keys = np.stack([_tables(task, found), numbers(found["size"])], axis=1)
    return _by_part(task, numbers(found["part"]), keys, numbers(found["samples"])[:, None])


def _samples(task: Reduction, views: list[str]) -> list[int]:
    found = task.engine.table(queries.sample_counts(views, task.part()))
    counts = dict(zip(numbers(found["part"]).tolist(), numbers(found["samples"]).tolist(), strict=True))
    return [counts.get(part, 0) for part in range(task.n_parts)]


def gram_entries(setting: Setting) -> int:
    """Return how many entries the packed Gram matrices of all agents have."""
    return setting.n_agents * packed_length(setting.n_features)


def _cooccurrences(task: Reduction) -> IntArray | None:
    """Return H_i of all agents and parts, or None where they would be too large."""
    setting = task.setting
    if gram_entries(setting) > MOST_GRAM_ENTRIES:
        return None
    from coterie.statistics.gram import add_cooccurrences

    gram = np.zeros((task.n_parts, setting.n_agents, packed_length(setting.n_features)), dtype=np.int64)
    query = queries.pair_rows(task.ratings, task.part("p.sample"), task.sized_by)
    for batch in whole_samples(task.engine.stream(query)):
        rows = batch.rows
        table, agent, partner = task.tables(rows["coalition"]), task.agents(rows["agent"]), task.agents(rows["partner"])
        size = numbers(rows["size"]) if setting.sizes == "aware" else None
        part, sample = numbers(rows["part"]), batch.sample
        feature = setting.feature(agent, table, partner, size)
        if setting.symmetric:
            mirrored = setting.feature(partner, table, agent, size)
            feature, agent = np.concatenate([feature, mirrored]), np.concatenate([agent, partner])
            part, sample = np.tile(part, 2), np.tile(sample, 2)
        group = sample * setting.n_agents + agent
        order = np.lexsort((feature, group))
        add_cooccurrences(
            group[order], agent[order], feature[order], part[order], gram, setting.block, setting.n_tables
        )
    return gram


def reduce_totals(task: Reduction, *, unweighted: bool, joint: bool) -> Statistics:
    """Return the statistics of a bandit log: only the matrices that were asked for are built."""
    _refuse_too_long(task)
    setting = task.setting
    if gram_entries(setting) > MOST_GRAM_ENTRIES:
        raise TooLargeError(
            f"the Gram matrices of {setting.n_agents} agents with {setting.n_features} unknowns each would have "
            f"{gram_entries(setting):,} entries, more than {MOST_GRAM_ENTRIES:,}"
            + ("; ignore sizes" if setting.sizes == "aware" else "")
        )
    n_samples = _samples(task, [task.members, task.engine.name("totals")])
    if unweighted:
        _refuse_too_heavy(task, sum(n_samples))
    from coterie.statistics.gram import WEIGHTINGS, add_totals
    from coterie.statistics.joint import JointAccumulator

    n, parts = setting.n_agents, task.n_parts
    both = JointAccumulator(setting, parts) if joint else None
    names = [setting.noise, *(["none"] if unweighted else [])]
    sums = {name: Accumulator(parts, n, setting.n_features) for name in names}
    low, high = setting.fixed_range
    totals = np.zeros((parts, n), dtype=np.int64)
    n_sizes = setting.n_sizes if setting.sizes == "aware" else 0
    for sample, part, agent, coalition, utility in _total_rows(task):
        for index, (name, into) in enumerate(sums.items()):
            seen = totals if index == 0 else np.zeros_like(totals)
            add_totals(
                sample, part, agent, coalition, utility, n, setting.pool_coalitions, n_sizes, low, high,
                WEIGHTINGS.index(name), into.gram, into.offsets, into.moments, into.squares, seen,
            )  # fmt: skip
        if both is not None:
            both.add(sample, part, agent, coalition, utility)
    teams = _teams(task)
    joint_sums = [None] * parts if both is None else list(both.result())
    return Statistics(
        setting,
        tuple(
            TotalStatistics(
                setting, n_samples[p], totals[p], teams[p], {name: into.part(p) for name, into in sums.items()},
                joint_sums[p],
            )
            for p in range(parts)
        ),
    )  # fmt: skip


class Accumulator:
    """The sums of one weighting for all parts, which the kernel adds to in place."""

    def __init__(self, parts: int, n: int, dimension: int) -> None:
        self.gram = np.zeros((parts, n, packed_length(dimension)), dtype=np.int64)
        self.offsets = np.zeros((parts, n, dimension), dtype=np.int64)
        self.moments = np.zeros((parts, n, dimension), dtype=np.int64)
        self.squares = np.zeros((parts, n, 4, 2), dtype=np.int64)

    def part(self, p: int) -> WeightedSums:
        return WeightedSums(self.gram[p], self.offsets[p], self.moments[p], carried_limbs(self.squares[p]))


def _total_rows(task: Reduction) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]]:
    """Yield whole samples as arrays sorted by sample, coalition and agent; a total has coalition -1."""
    query = queries.total_rows(task.members, task.engine.name("totals"), task.part())
    for batch in whole_samples(task.engine.stream(query)):
        rows = batch.rows
        agent, column = task.agents(rows["agent"]), rows["coalition"].combine_chunks()
        if task.setting.pool_coalitions:
            # Labels mean nothing, and there may be millions: numbers within the batch are enough.
            label = column.dictionary_encode().indices.fill_null(-1)
            coalition = np.asarray(label.to_numpy(zero_copy_only=False), dtype=np.int64)
        else:
            is_total = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
            coalition = np.full(len(agent), -1, dtype=np.int64)
            coalition[~is_total] = task.tables(column.drop_null())
        order = np.lexsort((agent, coalition, batch.sample))
        yield (
            batch.sample[order],
            numbers(rows["part"])[order],
            agent[order],
            coalition[order],
            doubles(rows["utility"])[order],
        )
