"""Checking the tables of a log: their columns, and their rows inside the engine.

A sound log costs one pass over each table for what a single row shows, one for repeated rows and one
for the members of pairs (both by hashes), or a join for the terms of totals. Only a log with
problems is read again, to find the first row of each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from coterie.errors import InputError
from coterie.log import queries, refusals, schema, shape_queries
from coterie.log.engine import Engine, is_text
from coterie.log.options import Options, fixed_range
from coterie.log.refusals import Refusal
from coterie.log.scales import likely_scale, most_typos, slips_among
from coterie.log.shapes import AS_WRITTEN
from coterie.log.tables import Source
from coterie.words import said

MANY_TWOS = 10
"""So many meetings of two with the same total for both show that both get the same; fewer may be chance."""


@dataclass(frozen=True)
class Checked:
    """What the checks found out about a sound log."""

    rows: int
    """Rows of the table of utilities."""
    both_orders: int
    """How many pairs of a symmetric log were listed in both orders (and agreed, unless they are averaged)."""
    extent: tuple[float, float] | None
    """The smallest and the largest utility."""
    agreed: int = 0
    """How often both agents of a pair of a symmetric log showed what they got, and it was the same: in rows of both
    orders, or as the totals of two who met nobody else."""


@dataclass(frozen=True)
class _Table:
    """One table under examination."""

    engine: Engine
    source: Source
    is_listed: bool = False
    """Whether several rows of the view may come from one row of the source: from a cell that lists several names."""
    shown_by: str | None = None
    """The view, where it is not called like the table."""

    @property
    def view(self) -> str:
        return self.engine.name(self.shown_by or self.source.table)

    @property
    def names(self) -> list[str]:
        return [column for column in schema.SHAPES[self.source.table] if column != "utility"]

    def some(self, query: str) -> list[dict[str, Any]]:
        """Return the few rows of a result."""
        return self.engine.rows(query)

    def one(self, query: str) -> dict[str, Any]:
        """Return the first row of a result that surely has one."""
        return self.some(query)[0]

    def refusal(self, rows: Sequence[dict[str, Any]], what: str, count: int) -> Refusal:
        """Return the refusal of so many rows, of which the first ones are given; `what` is about the first."""
        file, parts = rows[0]["file_name"], self.source.shown
        if len(self.source.files) > 1:
            parts = f"{self.source.shown}, part {PurePath(file).name}"
        places = sorted({int(row["row_index"]) for row in rows if row["file_name"] == file})
        return Refusal(parts, what, self.source.row_numbers(places), count)


def _candidates(ours: str, types: Iterable[str], mapping: Mapping[str, schema.Named]) -> list[str]:
    """Return the columns of a source that may be one of ours.

    Names are compared without regard to case and to blanks around them. A column that `mapping`
    renames is looked for under both names, since a mapping speaks about all tables at once.
    """
    meant = {name.casefold() for other, named in mapping.items() if other != ours for name in schema.names_of(named)}
    said = mapping.get(ours)
    for wanted in (said[0] if isinstance(said, tuple) else said, ours, schema.SYNONYMS.get(ours)):
        found = [name for name in types if wanted is not None and name.strip().casefold() == wanted.casefold()]
        found = [name for name in found if name.strip().casefold() not in meant]
        if found:
            return found
        if wanted in schema.NO_COLUMN and ours in schema.CAN_LACK:
            return [str(wanted)]
    return []


def has_columns(types: Iterable[str], mapping: Mapping[str, schema.Named]) -> dict[str, bool]:
    """Return which of the columns that a table may have a source has."""
    return {ours: bool(_candidates(ours, types, mapping)) for ours in schema.COLUMNS}


def match_columns(
    source: Source, shape: str, types: Mapping[str, str], mapping: Mapping[str, schema.Named]
) -> dict[str, schema.Named]:
    """Return for each column of the shape what the source calls it, refusing what is missing."""
    problems: list[str] = []
    missing: list[str] = []
    matched: dict[str, schema.Named] = {}
    for ours in schema.SHAPES[shape]:
        candidates = _candidates(ours, types, mapping)
        if isinstance(several := mapping.get(ours), tuple) and candidates:
            header = {name.strip().casefold(): name for name in types}
            matched[ours] = tuple(header[name.casefold()] for name in several)
        elif candidates and candidates[0] in schema.NO_COLUMN and candidates[0] not in types:
            matched[ours] = candidates[0]
        elif not candidates:
            missing.append(ours)
        elif len(candidates) > 1:
            problems.append(refusals.ambiguous_column(ours, candidates))
        elif not _fits(ours, types[candidates[0]]):
            problems.append(refusals.wrong_type(candidates[0], types[candidates[0]]))
        else:
            matched[ours] = candidates[0]
    if missing:
        file = source.shown.removesuffix(f", sheet {source.sheet!r}") if source.is_alone else None
        problems.insert(0, refusals.missing_columns(shape, missing, types, file))
    refusals.refuse(refusals.Refusal(source.shown, problem) for problem in problems)
    return matched


def refuse_unknown_columns(
    types: Mapping[str, Mapping[str, str]], mapping: Mapping[str, schema.Named], used: Sequence[Source]
) -> None:
    """Refuse a mapped name that none of the tables has: it would be passed over in silence."""
    known = {name.strip().casefold() for columns in types.values() for name in columns}
    for ours, theirs in ((ours, name) for ours, named in mapping.items() for name in schema.names_of(named)):
        matters = any(source.is_alone or ours == "members" or ours in schema.SHAPES[source.table] for source in used)
        is_none = theirs in schema.NO_COLUMN and ours in schema.CAN_LACK
        if matters and not is_none and theirs.casefold() not in known:
            where = " and ".join(source.shown for source in used)
            names = ", ".join(dict.fromkeys(name.strip() for columns in types.values() for name in columns))
            elsewhere = "".join(f"; {source.other_sheets}" for source in used if source.other_sheets)
            raise InputError(
                f"{said('columns')}: {ours} is said to be {theirs!r}, but {where} has only: {names}{elsewhere}"
            )


_WHOLE = r"u?(tiny|small|big|huge)?int(eger)?|u?int\d+|long|short|byte"
_REAL = r"(double|float|real|half|decimal)(\(.*\))?"
_DATE = r"(date|time)[a-z_ ]*"


def _fits(column: str, kind: str) -> bool:
    """Return whether a type can hold a column: numbers for utilities, anything with one spelling for names."""
    if "with time zone" in kind:  # its spelling depends on where it is read
        return False
    return is_text(kind) or re.fullmatch(f"{_WHOLE}|{_REAL if column == 'utility' else _DATE}", kind) is not None


def check(engine: Engine, sources: Sequence[Source], options: Options) -> Checked:
    """Return what is known about the log, or refuse it with all its problems at once."""
    limits = fixed_range(options["utility_range"], options["neutral"], options["sigma"])
    problems: list[Refusal] = []
    tables = {source.table: _Table(engine, source) for source in sources}
    used = tables.get("pairs") or tables["totals"]
    counts = {}
    for table in tables.values():
        counts[table.source.table], bad_rows = _check_rows(table, limits, options)
        problems += bad_rows
    rows = int(counts[used.source.table]["n_rows"])
    if rows == 0:
        problems.append(Refusal(used.source.shown, "has no rows; an empty log says nothing"))
    if used.source.table == "totals" and not counts["memberships"]["n_rows"]:
        shown = tables["memberships"].source.shown
        refusals.refuse([*problems, Refusal(shown, "has no rows; totals say nothing without memberships")])
    are_strangers = False
    for name, table in tables.items():
        if name != "pairs":
            distinct, *others = _distinct_rows(table, counts[name]["n_rows"], tables.get("pairs"))
            are_strangers |= others not in ([], [distinct])
            if distinct < counts[name]["n_rows"]:
                problems += _first_repeated(table)
    both_orders = agreed = 0
    members = engine.name("memberships")
    if used.source.table == "pairs":
        both_orders, repeated = _repeated_pairs(used, rows, options)
        problems += repeated
        agreed = 0 if options["symmetrize"] else both_orders
        if are_strangers:
            problems += _strangers(used, members)
    else:
        if options["totals"] == "team-averages" and (uneven := list(_uneven_teams(used))):
            refusals.refuse([*problems, *uneven])  # what their rows would be as sums is not known
        problems += _impossible_totals(used, members, limits, options)
        if options["symmetric"]:
            agreed, unequal = _lone_pairs(used, members, limits)
            problems += unequal
    refusals.refuse(problems)
    smallest, largest = counts[used.source.table]["smallest"], counts[used.source.table]["largest"]
    return Checked(rows, both_orders, (smallest, largest), agreed)


def check_choices(engine: Engine, source: Source, options: Options) -> Checked:
    """Return what is known about a log of choices, whose pairs are made of them and need no check of their own."""
    limits = fixed_range(options["utility_range"], options["neutral"], options["sigma"])
    table = _Table(engine, replace(source, table="memberships"))
    counts, problems = _check_rows(table, limits, options)
    if not counts["n_rows"]:
        problems.append(Refusal(source.shown, "has no rows; an empty log says nothing"))
    if options["blanks"] == "refuse":
        rows = table.some(shape_queries.without_choice(engine.name(f"read_{source.table}")))
        if rows:
            problems.append(table.refusal(rows, "choice is empty, expected what was chosen", int(rows[0]["times"])))
    if _distinct_rows(table, counts["n_rows"])[0] < int(counts["n_rows"]):
        problems += _first_repeated(table)
    refusals.refuse(problems)
    found = table.one(shape_queries.extent(engine.name("pairs")))
    if not found["n_rows"]:
        raise InputError(f"{source.shown}: nobody chose in the same sample and coalition as anybody else")
    return Checked(int(found["n_rows"]), 0, (found["smallest"], found["largest"]))


def check_scores(engine: Engine, members: Source, source: Source, options: Options, shape: str) -> Checked:
    """Return what is known about a log of teams' scores, or refuse it.

    Scores are in a table of their own, or else with members (`shape`): in a row of each, or in one that lists them.
    """
    shared, is_listed = shape != "scores", shape == "listed scores"
    limits = fixed_range(options["utility_range"], options["neutral"], options["sigma"])
    problems: list[Refusal] = []
    joined = _Table(engine, replace(members, table="memberships"), is_listed=is_listed)
    scored = _Table(engine, replace(source, table="scores"))
    as_written = replace(scored, shown_by=AS_WRITTEN) if is_listed else scored
    for table in (joined, scored):
        counts, bad_rows = _check_rows(as_written if table is scored else table, limits, options)
        problems += [] if table.is_listed else bad_rows  # what is wrong with these rows is seen as they are written
        if not counts["n_rows"]:
            refusals.refuse([*problems, Refusal(table.source.shown, "has no rows; an empty log says nothing")])
        if _distinct_rows(table, counts["n_rows"])[0] < int(counts["n_rows"]):
            problems += _first_repeated(table)
    if rows := scored.some(shape_queries.memberless(scored.view, joined.view)):
        what = refusals.no_members(rows[0]["coalition"], rows[0]["sample"])
        problems.append(scored.refusal(rows, what, int(rows[0]["times"])))
    if is_listed and (rows := scored.some(queries.repeated(engine.name(AS_WRITTEN), ("sample", "coalition")))):
        problems.append(_repeated(scored, rows, ("sample", "coalition"), refusals.LISTED_SCORES))
    elif shared and (rows := scored.some(shape_queries.disagreeing(scored.view))):
        scores = (rows[0]["smallest"], rows[0]["utility"])
        what = refusals.scores_differ(rows[0]["coalition"], rows[0]["sample"], scores)
        problems.append(scored.refusal(rows, what, int(rows[0]["times"])))
    totals = engine.name("totals")
    if rows := scored.some(shape_queries.impossible_scores(totals, limits)):
        terms, times = int(rows[0]["terms"]), float(rows[0]["times"])
        count = int(rows[0]["count"])
        what = _total_outside(scored, rows[0]["stated"], (terms, times), limits, options, count)
        problems.append(scored.refusal(rows, what, count))
    refusals.refuse(problems)
    found = scored.one(shape_queries.extent(totals))
    if not found["n_rows"]:
        raise InputError(f"{source.shown}: no team of several people has a score; an empty log says nothing")
    return Checked(int(found["n_rows"]), 0, (found["smallest"], found["largest"]))


def _check_rows(table: _Table, limits: tuple[float, float], options: Options) -> tuple[dict[str, Any], list[Refusal]]:
    """Return counts of one pass over a table, and what is wrong with single rows."""
    conditions = {f"empty_{column}": f"coalesce({column}, '') = ''" for column in table.names}
    nameless = f"({' AND '.join(conditions.values())})"
    has_utility = "utility" in schema.SHAPES[table.source.table]
    if has_utility:
        skips = table.source.table == "scores" and options["blanks"] != "refuse"
        blank = f" AND NOT {shape_queries.NO_UTILITY}" if skips else ""  # the others have none by now
        conditions["not_finite"] = f"NOT {queries.is_finite()}{blank}"
    if table.source.table == "pairs":
        conditions["self"] = "agent = partner"
        conditions["outside"] = queries.is_outside(limits)
    counts = table.one(queries.count_where(table.view, conditions, with_utility=has_utility))
    if all(counts[f"empty_{column}"] for column in table.names):  # rows without any name are one problem, not several
        conditions = {
            kind: f"{condition} AND NOT {nameless}" if kind.startswith("empty_") else condition
            for kind, condition in conditions.items()
        } | {"nameless": nameless}
        counts = table.one(queries.count_where(table.view, conditions, with_utility=has_utility))
    problems: list[Refusal] = []
    for kind, condition in conditions.items():
        if not counts[kind]:
            continue
        columns = [*table.names, *(["utility", "written"] if has_utility else [])]
        if kind == "not_finite":
            problems.append(_no_numbers(table, options))
            continue
        rows = table.some(queries.some_rows(table.view, condition, columns))
        if kind == "outside" and options["sigma"] is None:
            problems += _outside(table, rows, counts, limits, _column(options))
        else:
            problems.append(table.refusal(rows, _worded(kind, rows[0], limits, options), int(counts[kind])))
    return counts, problems


def _column(options: Options) -> str:
    """Return what the table calls the column of numbers."""
    return str(options["columns"].get("utility", refusals.UTILITY))


def _no_numbers(table: _Table, options: Options) -> Refusal:
    """Return the refusal of rows whose utility is no number, as they are written: totals may add several up."""
    written = table.engine.name(AS_WRITTEN)
    blank = f" AND NOT {shape_queries.NO_UTILITY}" if options["blanks"] != "refuse" else ""
    bad = f"NOT {queries.is_finite()}{blank}"
    counts = table.one(queries.count_where(written, {"bad": bad}, with_utility=False))
    found = table.some(queries.texts(written, bad))
    texts, kinds = {row["text"]: int(row["times"]) for row in found}, int(found[0]["kinds"]) if found else 0
    rows = table.some(queries.some_rows(written, bad, ["written"]))
    what = refusals.not_finite(rows[0]["written"], texts, int(counts["n_rows"]), _column(options), kinds)
    return table.refusal(rows, what, int(counts["bad"]))


def _worded(kind: str, row: dict[str, Any], limits: tuple[float, float], options: Options) -> str:
    """Return the sentence about a row that meets one of the conditions."""
    if kind == "self":
        return refusals.with_herself(row["agent"])
    if kind == "outside":
        return refusals.beyond_sigma(row["utility"], limits, options["sigma"])
    if kind == "nameless":
        return refusals.nameless([column for column in schema.NAMES if column in row])
    return refusals.empty_name(kind.removeprefix("empty_"))


MOST_VALUES = 10_000
"""Up to so many different values, how often each occurs tells which are typos."""


def _outside(
    table: _Table, first: Sequence[dict[str, Any]], counts: dict[str, Any], limits: tuple[float, float], column: str
) -> Iterator[Refusal]:
    """Yield the refusal of utilities outside the range: as typos if they are few, else with the scale they are on."""
    rows, outside = int(counts["n_rows"]), int(counts["outside"])
    if outside <= most_typos(rows):
        yield table.refusal(first, refusals.typo(first[0]["utility"], limits, outside, rows, column), outside)
        return
    found = table.engine.table(queries.value_counts(table.view, MOST_VALUES + 1))
    times = dict(zip(found["utility"].to_pylist(), found["times"].to_pylist(), strict=True))
    if len(times) > MOST_VALUES:
        times = {counts["smallest"]: 1, counts["largest"]: 1}
    scale = likely_scale(times)
    yield table.refusal(first, refusals.outside_range(first[0]["utility"], limits, scale, column), outside)
    if scale.typos:
        ends = (scale.low, scale.high)
        typos = table.some(queries.some_rows(table.view, queries.is_outside(ends), ["utility"]))
        yield table.refusal(typos, refusals.typo(typos[0]["utility"], ends, scale.typos, rows, column), scale.typos)


MOST_LOOKED_AT = 100_000
"""Among more numbers, one that is far from the others hardly changes anything, and none is looked for."""


def slips_of_hand(engine: Engine, source: Source, times_of: Sequence[str]) -> list[str]:
    """Return what to tell of numbers, as they are written, that lie far from all others.

    Each of `times_of` is a view of numbers among which there must be some: these as they are written first, one for
    each outcome, then perhaps what they come to for a single pair, since the sum of a large team is large.
    """
    found = None
    for view in reversed(times_of):
        counts = engine.rows(queries.value_counts(view, MOST_LOOKED_AT))
        found = slips_among({float(row["utility"]): int(row["times"]) for row in counts})
        if found is None:
            return []
    assert found is not None
    table = _Table(engine, source, shown_by=AS_WRITTEN)
    places = []
    for value in found.values:
        rows = table.some(queries.some_rows(table.view, f"utility = {queries.double(value)}", ["utility"]))
        part = f" of {PurePath(rows[0]['file_name']).name}" if len(source.files) > 1 else ""
        places.append(f"{refusals.in_rows(value, table.refusal(rows, '', len(rows)).rows)}{part}")
    return [refusals.slip(places, found.rest)]


def _distinct_rows(table: _Table, rows: int, pairs: _Table | None = None) -> list[int]:
    """Return the number of different ones of so many rows, by their hashes.

    For memberships and `pairs` also how many there are with those that pairs imply, which are as many if everybody in a
    pair was a member.
    """
    hashed = {table.view: [table.engine.fingerprint(sorted(table.names))]}
    if pairs is not None:
        implied = [table.engine.fingerprint([agent, "coalition", "sample"]) for agent in ("agent", "partner")]
        hashed[pairs.view] = implied
    return table.engine.distinct(hashed, int(rows))


def _first_repeated(table: _Table) -> Iterator[Refusal]:
    """Yield the refusal of rows about the same."""
    # Two different rows may share a hash, so the rows themselves have the last word.
    rows = table.some(queries.repeated(table.view, table.names))
    if rows and table.is_listed:
        count = int(rows[0]["repeats"])
        if count <= len(rows):
            count = len({row["row_index"] for row in rows})
        what = refusals.duplicate("listed members", {name: rows[0][name] for name in table.names})
        yield table.refusal(rows, what, count)
    elif rows:
        yield _repeated(table, rows, table.names, table.source.table)


def _repeated(table: _Table, rows: Sequence[dict[str, Any]], keys: Sequence[str], kind: str) -> Refusal:
    """Return the refusal of rows about the same, each with the first about that."""
    together: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        of_first = {"file_name": row["first_file_name"], "row_index": row["first_row_index"]}
        found = together.setdefault(tuple(row[key] for key in keys), [_place(table, of_first)])
        found.append(_place(table, row))
    places = [refusals.in_rows_about(several) for several in together.values()]
    values = {name: rows[0][name] for name in keys}
    what = refusals.duplicate(kind, values, places[1:], int(rows[0]["repeats"]) - len(rows))
    return Refusal(table.source.shown, what, places=places[0])


def _place(table: _Table, row: Mapping[str, Any]) -> str:
    (shown,) = table.source.row_numbers([int(row["row_index"])])
    return str(shown) if len(table.source.files) < 2 else f"{shown} of {PurePath(row['file_name']).name}"


def _repeated_pairs(table: _Table, rows: int, options: Options) -> tuple[int, list[Refusal]]:
    """Return how many pairs come in both orders, and what is wrong with repeated ones."""
    ordered = ["sample", "coalition", "agent", "partner"]
    one, other = (table.engine.fingerprint(keys) for keys in (ordered, ["sample", "coalition", "partner", "agent"]))
    # The smaller of both hashes is the same for both orders, and found sooner than the smaller of two names.
    unordered = f"CASE WHEN {one} < {other} THEN {one} ELSE {other} END"
    (distinct,) = table.engine.distinct({table.view: [unordered if options["symmetric"] else one]}, rows)
    if distinct == rows:
        return 0, [Refusal(table.source.shown, refusals.nothing_to_average())] if options["symmetrize"] else []
    problems = list(_first_repeated(table))
    if not options["symmetric"]:
        return 0, problems
    orders = table.one(queries.orders(table.view))
    if orders["different"] and not options["symmetrize"]:
        found = table.some(queries.disagreement(table.view))
        if found:  # otherwise the same order was listed twice, which is reported as such
            first = found[0]
            what = refusals.orders_disagree({name: first[name] for name in ordered}, (first["other"], first["utility"]))
            count = 1 if problems else int(orders["different"])
            problems.append(table.refusal(found[:count], what, count))
    return int(orders["both_orders"]), problems


def _strangers(table: _Table, members: str) -> Iterator[Refusal]:
    """Yield the refusal of pairs whose agents were not both members."""
    strangers = int(table.one(queries.strangers(table.view, members))["strangers"])
    if not strangers:
        return
    rows = table.some(queries.some_strangers(table.view, members))
    values = {name: rows[0][name] for name in table.names}
    missing = rows[0]["partner"] if rows[0]["agent_known"] else rows[0]["agent"]
    yield table.refusal(rows, refusals.not_members(values, missing), strangers)


def _uneven_teams(table: _Table) -> Iterator[Refusal]:
    """Yield the refusal of averages over coalitions of different sizes, of which the pairs' sum is not known."""
    uneven = "times <> most"
    count = int(table.one(queries.count_where(table.view, {"uneven": uneven}, with_utility=False))["uneven"] or 0)
    if count:
        rows = table.some(queries.some_rows(table.view, uneven, ["sample", "agent", "times", "most"]))
        sizes = (int(rows[0]["times"]) + 1, int(rows[0]["most"]) + 1)
        yield table.refusal(rows, refusals.uneven_teams(rows[0]["agent"], rows[0]["sample"], sizes), count)


def _impossible_totals(table: _Table, members: str, limits: tuple[float, float], options: Options) -> Iterator[Refusal]:
    """Yield the refusal of totals outside what their pair terms allow."""
    count = int(table.one(queries.impossible_totals(table.view, members, limits, "count(*) AS totals"))["totals"])
    if not count:
        return
    stated = "t.stated AS stated, t.times AS times" if options["totals"] != "sum" else "t.utility AS stated, 1 AS times"
    columns = f"file_name, row_index, {stated}, coalesce(c.terms, 0) AS terms"
    found = queries.impossible_totals(table.view, members, limits, columns)
    rows = table.some(f"{found} ORDER BY file_name, row_index LIMIT {queries.MOST_ROWS}")
    terms, times = int(rows[0]["terms"]), float(rows[0]["times"])
    yield table.refusal(rows, _total_outside(table, rows[0]["stated"], (terms, times), limits, options, count), count)


def _total_outside(
    table: _Table, value: float, of: tuple[int, float], limits: tuple[float, float], options: Options, count: int
) -> str:
    """Return what is wrong with a total of so many terms, or the average of as many; a few averages are typos."""
    terms, times = of
    rows = int(table.one(shape_queries.counted(queries.columns_of(table.view, ("utility",))))["n"])
    if terms == times and "average" in options["totals"] and count <= most_typos(rows):
        return refusals.typo(value, limits, count, rows, _column(options))
    return refusals.total_outside(value, terms, limits, options["totals"], times)


def _lone_pairs(table: _Table, members: str, limits: tuple[float, float]) -> tuple[int, list[Refusal]]:
    """Return how often two agents met nobody but each other, and the refusal of different totals of the two.

    If both agents of a pair get the same, so do these two in all. A room of three does not show as much:
    any three totals are sums of three numbers, one for each pair.
    """
    counts = table.one(queries.count_lone_pairs(table.view, members, limits))
    if not counts["different"]:
        return int(counts["pairs"]), []
    rows = table.some(queries.some_unequal(table.view, members, limits))
    first = rows[0]
    what = refusals.totals_differ(first["sample"], (first["one"], first["two"]), (first["other"], first["utility"]))
    return int(counts["pairs"]), [table.refusal(rows, what, int(counts["different"]))]
