"""Reducing a log to statistics: group-by in the engine, Gram matrices in a stream of whole samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.log import queries
from coterie.log.columns import codes, doubles, known_codes, numbers
from coterie.log.direction import view_of
from coterie.log.drawn_anew import about_names
from coterie.log.engine import Engine
from coterie.log.log import Log
from coterie.statistics import group_by, pair_statistics
from coterie.statistics.accumulate import MOST_GRAM_ENTRIES, Cooccurrences, TotalSums, gram_entries, most_agents
from coterie.statistics.clues import MOST_MEETINGS, NO_CLUES, Clues, by_order_setting, by_size_setting, can_test_sizes
from coterie.statistics.contrast import size_contrasts
from coterie.statistics.dependence import NO_EXCESS, SampleExcess, sample_excess
from coterie.statistics.drift import NO_DRIFT, drift_of
from coterie.statistics.examined import examined
from coterie.statistics.fixed_point import FIXED_BITS
from coterie.statistics.fresh import sample_hashes, sample_marks
from coterie.statistics.last_seen import not_seen_lately
from coterie.statistics.noise import chosen_noise
from coterie.statistics.packed import packed_positions
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import CLUSTERS, HALVES, Division, checked_shares
from coterie.statistics.setting import Noise, NoiseChoice, Setting, Sizes
from coterie.statistics.shared import Shared, SharedSums, can_share
from coterie.statistics.statistics import PartStatistics, Statistics
from coterie.statistics.streaming import whole_samples
from coterie.statistics.team_scores import ScoreSums
from coterie.statistics.total_statistics import TotalStatistics
from coterie.sums import Sums
from coterie.words import said

MOST_CLUSTERED = 1 << 27
"""Sums by group of samples are kept for up to so many pairs x coalitions (x sizes) x groups."""

MOST_ROWS = 1 << 33
"""Sums of fixed-point numbers fit into 64 bits for up to so many rows."""


def reduce_log(
    log: Log,
    *,
    sizes: Sizes,
    noise: NoiseChoice,
    parts: Sequence[float],
    seed: int,
    unweighted: bool,
    joint: bool,
    clues: bool,
) -> Statistics:
    """Return the statistics of a log, see `Statistics.of`."""
    checks.one_of(sizes, Sizes, said("sizes"))
    checks.one_of(noise, NoiseChoice, said("noise"))
    if sizes == "aware" and not log.has_memberships:
        raise InputError(
            f"{said(sizes='aware')} needs a table memberships; sizes inferred from pairs could be too small"
        )
    if log.of_teams and (sizes == "aware" or joint or unweighted):
        raise InputError(f"scores of teams are read with {said(sizes='ignore')} and over edges only")
    if joint and (log.feedback != "bandit" or not log.symmetric or noise == "samples" or sizes == "aware"):
        raise InputError(
            "the joint estimator is for bandit logs of symmetric games with independent pairs and sizes ignored"
        )
    shares, seed = checked_shares(parts), checks.whole(seed, "seed", 0)
    looks = log.feedback == "semi-bandit" and (clues or noise == "auto")
    pairs = examined(log) if looks else None
    chosen, decisive = _chosen_noise(log, noise, Division.by_shares(shares, seed), pairs)
    counted = log.counted
    setting = Setting(
        log.feedback, log.agents, log.coalitions, log.symmetric, counted.utility_range, counted.neutral, log.sigma,
        log.pool_coalitions, log.action_description, log.action_sets, sizes, chosen, shares,
        seed, log.declared_agents, log.declared_coalitions, log.options["missing"], log.adaptive,
        log.of_teams, log.value, log.lower_is_better, log.unit,
    )  # fmt: skip
    task = Reduction(log.engine, setting, log.rows, counted.extent)
    _refuse_too_long(task)
    reduced: tuple[PartStatistics, ...]
    by_size: tuple[PairStatistics, ...] = ()
    by_order: PairStatistics | None = None
    if log.of_teams:
        reduced = reduce_scores(task)
    elif log.feedback == "bandit":
        reduced = reduce_totals(task, unweighted=unweighted, joint=joint)
    elif clues and log.has_memberships and can_test_sizes(setting):
        reduced, by_size, by_order = reduce_pairs_and_sizes(task)
    else:
        reduced, by_order = reduce_pairs(task)
    attendance, shared = _attendance(task), _shared(task)
    if not clues:
        few = Clues(decisive=decisive, called=log.called) if decisive is not None or log.called else NO_CLUES
        return Statistics(setting, reduced, few, attendance, shared)
    contrasts = size_contrasts(log, by_size) if by_size else ()
    excess = NO_EXCESS
    if log.feedback == "semi-bandit" and noise != "samples":
        excess = decisive if decisive is not None and len(shares) == 1 else sample_excess(log, pairs=pairs)
    if log.options["symmetrize"]:  # averages have no order
        by_order = None
    drift = drift_of(log, setting.seed, pairs) if log.feedback == "semi-bandit" else NO_DRIFT
    unrecorded = _unrecorded(task, reduced) if log.has_memberships and not log.of_teams else None
    hashes = sample_hashes(log)
    kept = Clues(
        (*log.notes, *about_names(log)), counted.extent, by_size, contrasts, excess, decisive, drift, hashes,
        sample_marks(log, hashes), unrecorded, by_order, log.checked.agreed, log.options["since"], log.options["until"],
        log.samples.period, not_seen_lately(log, attendance), log.options["totals"] if log.feedback == "bandit" else "",
        log.called,
    )  # fmt: skip
    return Statistics(setting, reduced, kept, attendance, shared)


def _chosen_noise(
    log: Log, noise: NoiseChoice, division: Division, pairs: str | None
) -> tuple[Noise, SampleExcess | None]:
    """Return what is taken to be independent, and what decided that where nobody said it.

    The samples that learn decide, so the choice is as good as fixed for those that certify. Where all samples
    certify, what learnt included (`paired`, and a log that is not divided), choosing costs nothing either: a bound
    for dependent pairs is never below the one for independent pairs (`PairEvidence.direction_bound`). So if pairs
    are independent, whatever was chosen fails only where the latter does, and if they are not, "samples" fails
    as rarely as it promises. With too few samples for a test, nothing is taken to be independent. What is not covered
    is a dependence that the test has missed.
    """
    if noise != "auto":
        return noise, None
    if log.feedback == "bandit":
        return "samples" if log.of_teams else "pairs", NO_EXCESS
    decisive = sample_excess(log, division, pairs)
    return chosen_noise(decisive), decisive


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

    @cached_property
    def division(self) -> Division:
        """Which samples go into which part."""
        return Division.by_shares(self.setting.shares, self.setting.seed)

    @property
    def ratings(self) -> str:
        """The view of pairs, one row per observation."""
        return self.engine.name(view_of("ratings", self.setting.lower_is_better))

    @property
    def totals(self) -> str:
        """The view of totals."""
        return self.engine.name(view_of("totals", self.setting.lower_is_better))

    @cached_property
    def meetings(self) -> str:
        """The view of all meetings, rated or not."""
        self.engine.view("meetings", queries.meetings(self.members, symmetric=self.setting.symmetric))
        return self.engine.name("meetings")

    @property
    def observed(self) -> str:
        """The view of what an estimate takes for observed: ratings, or all meetings where those without count too."""
        return self.meetings if self.setting.missing == "worst" else self.ratings

    @property
    def members(self) -> str:
        """The view of memberships, given or inferred."""
        return self.engine.name("members")

    @property
    def sized_by(self) -> str | None:
        """The view that coalition sizes come from, where they matter."""
        return self.members if self.setting.sizes == "aware" else None

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


@dataclass(frozen=True, eq=False)
class Grouped:
    """The result of a group-by: sums by key, in any order, each with the part of the log that it is from."""

    division: Division
    part: IntArray
    keys: IntArray
    values: IntArray

    def sums(self, coarser: Division | None = None) -> list[Sums]:
        """Return the sums of each part of the division that was grouped by, or of a coarser one."""
        division = coarser or self.division
        part = self.part if coarser is None else coarser.places(self.division)[self.part]
        return Sums.collect_each(part, len(division.ends), self.keys, self.values)

    def with_keys(self, columns: int) -> "Grouped":
        """Return the same with the first so many columns of the keys."""
        return replace(self, keys=self.keys[:, :columns])

    def unordered(self, *, symmetric: bool) -> "Grouped":
        """Return the same with agent < partner, where the two orders of a pair are the same."""
        if not symmetric:
            return self
        keys = self.keys.copy()
        keys[:, 1:3] = np.sort(keys[:, 1:3], axis=1)
        return replace(self, keys=keys)


def reduce_pairs(task: Reduction) -> tuple[tuple[PairStatistics, ...], PairStatistics | None]:
    """Return the statistics of each part of a semi-bandit log, and those by order where it is symmetric."""
    entries: list[Sums] = []
    ordered: Sums | None = None
    for pairs in _grouped_pairs(task):
        entries += pairs.unordered(symmetric=task.setting.symmetric).sums()
        ordered = _with_orders(task, pairs, ordered)
    teams, samples = (group(task, task.division) for group in (_teams, _samples))
    return _pair_statistics(task, entries, teams.sums(), samples.sums()), _by_order(task, ordered, samples)


def _grouped_pairs(task: Reduction) -> Iterator[Grouped]:
    """Yield the sums of all parts at once, or of many agents one part after the other.

    Of many agents there may be almost as many sums as rows: for some more reading they take less memory.
    """
    if task.setting.n_agents <= pair_statistics.DENSE_AGENTS:
        yield pair_sums(task, task.division)
        return
    which, whole = task.division.sql(), Division.by_shares((1.0,), task.setting.seed)
    for part in range(len(task.division.ends)):
        rows = task.ratings if which == queries.WHOLE else group_by.one_part(task.ratings, which, part)
        yield Grouped(whole, *_pair_sums(task, queries.WHOLE, rows))


def _with_orders(task: Reduction, pairs: Grouped, others: Sums | None = None) -> Sums | None:
    """Return the sums by who is listed as the agent, for the whole log: they were grouped so."""
    if not task.setting.symmetric:
        return None
    (found,) = pairs.with_keys(3).sums(Division.by_shares((1.0,), task.setting.seed))
    return found if others is None else others + found


def _by_order(task: Reduction, ordered: Sums | None, samples: Grouped) -> PairStatistics | None:
    """Return the statistics by who is listed as the agent, where that should not matter."""
    if ordered is None:
        return None
    return PairStatistics(by_order_setting(task.setting), int(samples.values.sum()), ordered, _NO_TEAMS)


SUMS = ("count", "total", "squares", "square_rests")
"""What is summed up of each pair."""

SORTED = 4_000_000
"""So many rows are sorted by sample at once: more of them take more memory than all that is made of them."""

_NO_TEAMS = Sums(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1), dtype=np.int64))


def reduce_pairs_and_sizes(
    task: Reduction,
) -> tuple[tuple[PairStatistics, ...], tuple[PairStatistics, ...], PairStatistics | None]:
    """Return the statistics of each part, sizes ignored, those of two halves by size, and those by order.

    All come from the same pass. Sums that ignore sizes are sums over sizes, and parts and halves are made of the
    pieces that both cut a log into.
    """
    sized = replace(task, setting=by_size_setting(task.setting))
    halves = Division.by_shares(HALVES, task.setting.seed)
    pieces = task.division.refined(halves)
    pairs, teams, samples = (group(sized, pieces) for group in (pair_sums, _teams, _samples))
    entries = pairs.unordered(symmetric=task.setting.symmetric)
    parted = (one.sums(task.division) for one in (entries.with_keys(3), teams, samples))
    halved = (one.sums(halves) for one in (entries, teams, samples))
    return (
        _pair_statistics(task, *parted),
        _pair_statistics(sized, *halved),
        _by_order(task, _with_orders(task, pairs), samples),
    )


def _pair_statistics(
    task: Reduction, entries: Sequence[Sums], teams: Sequence[Sums], samples: Sequence[Sums]
) -> tuple[PairStatistics, ...]:
    """Return the statistics with these sums in each part, and what occurred together in it."""
    setting = task.setting
    together, clusters = (_cooccurrences(task), _clusters(task)) if setting.noise == "samples" else (None, None)
    met = _meetings(task, task.division).sums() if setting.missing == "worst" else None
    if setting.noise == "samples" and setting.pool_coalitions:
        entries = _beside(entries, _repeats(task, task.ratings, entries, together))
        met = None if met is None else _beside(met, _repeats(task, task.meetings, met, together))
    return tuple(
        PairStatistics(
            setting, _count(samples[p]), entries[p], teams[p], None if together is None else together[p],
            None if met is None else met[p], None if clusters is None else clusters[p],
        )
        for p in range(len(entries))
    )  # fmt: skip


def _beside(ours: Sequence[Sums], theirs: Sequence[Sums]) -> list[Sums]:
    """Return sums with those of the same keys in further columns."""
    return [
        Sums(one.keys, np.concatenate([one.values, other.values], axis=1))
        for one, other in zip(ours, theirs, strict=True)
    ]


def _refuse_too_long(task: Reduction) -> None:
    if task.rows >= MOST_ROWS:
        raise TooLargeError(f"the log has {task.rows} rows; reduce it in pieces of fewer than {MOST_ROWS}, then add")


def _refuse_too_heavy(task: Reduction, samples: int) -> None:
    """Refuse sums without weights that might not fit: each sample adds up to c x 2^30, x the meetings of a pair."""
    terms = int(task.engine.table(group_by.most_terms(task.members))["most"][0].as_py())
    each = terms * (terms if task.setting.pool_coalitions else 1)
    if samples * each >= MOST_ROWS:
        raise TooLargeError(
            f"the sums without weights of {samples} samples with up to {terms} pairs per agent do not fit into 64 "
            f"bits; reduce fewer than {MOST_ROWS // each} samples, or leave the unweighted sums out"
        )


def _parts(found: pa.Table) -> IntArray:
    """Return the part of each row, all 0 where a query has left it out."""
    return numbers(found["part"]) if "part" in found.column_names else np.zeros(len(found), dtype=np.int64)


def _tables(task: Reduction, found: pa.Table) -> IntArray:
    """Return the numbers of coalitions, all 0 where a query has left them out."""
    if "coalition" in found.column_names:
        return task.tables(found["coalition"])
    return np.zeros(len(found), dtype=np.int64)


def _pair_keys(task: Reduction, found: pa.Table) -> IntArray:
    """Return the keys (coalition, agent, partner[, size]) of rows, as they are listed."""
    columns = [_tables(task, found), task.agents(found["agent"]), task.agents(found["partner"])]
    if task.setting.sizes == "aware":
        columns.append(numbers(found["size"]))
    return np.stack(columns).T


def pair_sums(task: Reduction, division: Division) -> Grouped:
    """Return counts, sums and sums of squares of each part: the one pass that a plain reduction is.

    The two orders of a pair are apart, see `Grouped.unordered`.
    """
    part, keys, values = _pair_sums(task, division.sql("p.sample"))
    return Grouped(division, part, keys, values)


def _clusters(task: Reduction) -> list[Sums] | None:
    """Return counts and sums of each part by group of samples, or None where they might be too many."""
    setting, groups = task.setting, Division.clusters()
    if CLUSTERS * setting.n_pairs > MOST_CLUSTERED:
        return None
    which = f"{CLUSTERS} * ({task.division.sql('p.sample')}) + ({groups.sql('p.sample')})"
    both, keys, values = _pair_sums(task, which, sums=("count", "total"))
    part, group = np.divmod(both, CLUSTERS)
    pairs = Grouped(task.division, part, keys, values).unordered(symmetric=setting.symmetric)
    return replace(pairs, keys=np.column_stack([group, pairs.keys])).sums()


def _pair_sums(
    task: Reduction, which: str, rows: str | None = None, sums: Sequence[str] = SUMS
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the part that a sample belongs to by an SQL expression, the keys, and the sums of some ratings or all."""
    setting = task.setting
    query = group_by.pair_sums(
        rows or task.ratings, which, setting.fixed_range, task.engine.wide_sum("q * q", FIXED_BITS),
        task.sized_by, pooled=setting.pool_coalitions, clips=task.clips,
        size_type="SMALLINT" if setting.n_agents < 2**15 else "INTEGER",
    )  # fmt: skip
    found = task.engine.table(query)
    part, keys, values = _parts(found), _pair_keys(task, found), [numbers(found[name]) for name in sums]
    del found  # names of millions of pairs
    return part, keys, np.stack(values).T


def _meetings(task: Reduction, division: Division) -> Grouped:
    """Return how often each pair met, with a row or without."""
    query = group_by.pair_counts(
        task.meetings, division.sql("p.sample"), task.sized_by, pooled=task.setting.pool_coalitions
    )
    found = task.engine.table(query)
    return Grouped(division, numbers(found["part"]), _pair_keys(task, found), numbers(found["met"])[:, None])


def _unrecorded(task: Reduction, parts: Sequence[PartStatistics]) -> Sums | None:
    """Return how many meetings of each pair have no row, or how many times a member has no total.

    None where there were too many meetings to look for them: everybody who was in a room met everybody else there.
    """
    if task.setting.feedback == "bandit":
        found = task.engine.table(group_by.missing_totals(task.members, task.engine.name("totals")))
        return Sums.collect(task.agents(found["agent"])[:, None], numbers(found["missing"])[:, None])
    pairs = [part for part in parts if isinstance(part, PairStatistics)]
    rated = np.concatenate([part.entries.keys[:, :3] for part in pairs])
    count = np.concatenate([part.count for part in pairs])
    sizes = np.concatenate([part.teams.keys[:, 1] for part in pairs])
    teams = np.concatenate([part.teams.values[:, 0] for part in pairs])
    meetings = int((sizes * (sizes - 1) * teams).sum()) // (2 if task.setting.symmetric else 1)
    if meetings == int(count.sum()):  # agents of a pair are members, so these are the same meetings
        return Sums(rated[:0], count[:0, None])
    if meetings > MOST_MEETINGS:
        return None
    plain = replace(task, setting=replace(task.setting, sizes="ignore"))
    met = _meetings(plain, Division.by_shares((1.0,), task.setting.seed))
    both = Sums.collect(np.concatenate([met.keys, rated]), np.concatenate([met.values, -count[:, None]]))
    some = both.values[:, 0] > 0
    return Sums(both.keys[some], both.values[some])


def _repeats(task: Reduction, pairs: str, entries: Sequence[Sums], together: IntArray | None) -> list[Sums]:
    """Return for interchangeable coalitions the sum over samples of (how often a pair met)^2.

    The diagonals of H_i hold that; without them pairs are grouped by sample, which makes as many groups as rows.
    """
    if together is not None and pairs == task.observed:
        return [_diagonal(task.setting, one.keys, own) for one, own in zip(entries, together, strict=True)]
    which, symmetric = task.division.sql("p.sample"), task.setting.symmetric
    found = task.engine.table(group_by.pair_repeats(pairs, which, task.sized_by, symmetric=symmetric))
    keys, repeats = _pair_keys(task, found), numbers(found["repeats"])[:, None]
    return Grouped(task.division, numbers(found["part"]), keys, repeats).unordered(symmetric=symmetric).sums()


def _diagonal(setting: Setting, keys: IntArray, together: IntArray) -> Sums:
    """Return how often each pair of some keys occurred together with itself."""
    table, agent, partner, *size = keys.T
    place = setting.feature(agent, table, partner, *size)
    return Sums(keys, together[agent, packed_positions(place, place, setting.block, setting.n_features)][:, None])


def _attendance(task: Reduction) -> IntArray:
    """Return in how many samples each agent was a member of something."""
    seen = task.engine.table(queries.attendance(task.members))
    found = np.zeros(task.setting.n_agents, dtype=np.int64)
    found[task.agents(seen["agent"])] = numbers(seen["samples"])
    return found


def _teams(task: Reduction, division: Division) -> Grouped:
    """Return how many samples had each coalition in each size."""
    pooled = task.setting.pool_coalitions
    found = task.engine.table(queries.size_counts(task.members, division.sql(), pooled=pooled))
    keys = np.stack([_tables(task, found), numbers(found["size"])], axis=1)
    return Grouped(division, numbers(found["part"]), keys, numbers(found["samples"])[:, None])


def _samples(task: Reduction, division: Division) -> Grouped:
    """Return the number of samples in each part, all under one key."""
    views = [task.members, *([task.engine.name("totals")] if task.setting.feedback == "bandit" else [])]
    found = task.engine.table(queries.sample_counts(views, division.sql()))
    one_key = np.zeros((len(found), 1), dtype=np.int64)
    return Grouped(division, numbers(found["part"]), one_key, numbers(found["samples"])[:, None])


def _count(samples: Sums) -> int:
    return int(samples.values.sum())


def _cooccurrences(task: Reduction) -> IntArray | None:
    """Return H_i of all agents and parts, or None where they would be too large."""
    setting = task.setting
    if gram_entries(setting) > MOST_GRAM_ENTRIES:
        return None
    found = Cooccurrences(setting)
    for among in _pieces(task):
        query = group_by.pair_rows(
            task.observed, task.division.sql("p.sample"), task.sized_by, pooled=setting.pool_coalitions, among=among
        )
        for batch in whole_samples(task.engine.stream(query)):
            rows = batch.rows
            found.add(
                batch.sample, numbers(rows["part"]), _tables(task, rows),
                task.agents(rows["agent"]), task.agents(rows["partner"]),
                numbers(rows["size"]) if setting.sizes == "aware" else None,
            )  # fmt: skip
    return found.parts


def _shared(task: Reduction) -> Shared:
    """Return what teams and rounds of ratings got as a whole, where it is to be known."""
    if not can_share(task.setting, task.rows):
        return ()
    found = SharedSums(task.setting)
    for batch in whole_samples(task.engine.stream(group_by.rated_rows(task.ratings))):
        rows = batch.rows
        found.add(
            batch.sample, _labels(task, rows["coalition"].combine_chunks()), task.agents(rows["agent"]),
            task.agents(rows["partner"]), doubles(rows["utility"]),
        )  # fmt: skip
    return found.result()


def _pieces(task: Reduction) -> list[str | None]:
    """Return queries of the samples that are sorted at once, about `SORTED` rows each; None stands for all samples."""
    engine, pairs = task.engine, task.observed
    if int(engine.rows(group_by.how_many(pairs))[0]["number"]) <= SORTED:
        return [None]
    engine.view("sorted_pieces", group_by.sample_pieces(pairs, SORTED), stored=True)
    pieces = engine.name("sorted_pieces")
    number = int(engine.rows(group_by.how_many_pieces(pieces))[0]["number"])
    return [group_by.samples_in(pieces, piece) for piece in range(number)]


def reduce_totals(task: Reduction, *, unweighted: bool, joint: bool) -> tuple[TotalStatistics, ...]:
    """Return the statistics of each part of a bandit log: only the matrices that were asked for are built."""
    setting, division = task.setting, task.division
    if gram_entries(setting) > MOST_GRAM_ENTRIES:
        fits = f"those of {most_agents(setting, MOST_GRAM_ENTRIES)} agents, such as a department, would fit"
        raise TooLargeError(
            f"the Gram matrices of {setting.n_agents} agents with {setting.n_features} unknowns each would have "
            f"{gram_entries(setting):,} entries, more than {MOST_GRAM_ENTRIES:,}; "
            + ("ignore sizes" if setting.sizes == "aware" else f"{fits}, and so would ratings of pairs")
        )
    n_samples = [_count(samples) for samples in _samples(task, division).sums()]
    if unweighted:
        _refuse_too_heavy(task, sum(n_samples))
    found = TotalSums(setting, unweighted=unweighted, joint=joint)
    for rows in total_batches(task):
        found.add(*rows)
    return found.statistics(n_samples, _teams(task, division).sums())


def reduce_scores(task: Reduction) -> tuple[TotalStatistics, ...]:
    """Return the statistics of each part of a log of teams' scores."""
    setting, division = task.setting, task.division
    found = ScoreSums(setting)
    query = group_by.score_rows(task.members, task.totals, division.sql())
    for batch in whole_samples(task.engine.stream(query)):
        rows = batch.rows
        found.add(
            batch.sample, numbers(rows["part"]), codes(rows["agent"], task.agent_names),
            _labels(task, rows["coalition"].combine_chunks()), doubles(rows["utility"]),
        )  # fmt: skip
    samples, teams = _samples(task, division).sums(), _teams(task, division).sums()
    nobody = np.zeros(setting.n_agents, dtype=np.int64)
    return tuple(
        TotalStatistics(setting, _count(samples[p]), nobody, teams[p], {}, sums)
        for p, sums in enumerate(found.result())
    )


def total_batches(
    task: Reduction, least: int = 0
) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]]:
    """Yield sample, part, agent, coalition and utility of the totals (coalition -1) and memberships of whole samples.

    Parts before `least` are left out.
    """
    query = group_by.total_rows(task.members, task.totals, task.division.sql(), least)
    for batch in whole_samples(task.engine.stream(query)):
        rows = batch.rows
        coalition = _labels(task, rows["coalition"].combine_chunks())
        yield batch.sample, numbers(rows["part"]), task.agents(rows["agent"]), coalition, doubles(rows["utility"])


def _labels(task: Reduction, column: Any) -> IntArray:
    """Return the numbers of coalitions in some rows, -1 where there is none."""
    if task.setting.pool_coalitions:
        # Labels mean nothing, and there may be millions: numbers within the batch are enough.
        label = column.dictionary_encode().indices.fill_null(-1)
        return np.asarray(label.to_numpy(zero_copy_only=False), dtype=np.int64)
    is_total = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    coalition = np.full(len(column), -1, dtype=np.int64)
    coalition[~is_total] = task.tables(column.drop_null())
    return coalition
