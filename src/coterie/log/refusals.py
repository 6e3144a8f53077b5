"""What may be wrong with the tables of a log, and the wording of every refusal."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie import checks
from coterie.log import schema
from coterie.log.scales import Scale, stated_top
from coterie.log.ways import BAD_ENDS, instead
from coterie.words import counted, in_shell, interval, number, said


@dataclass(frozen=True)
class Refusal:
    """One thing that is wrong with a table, and where."""

    file: str
    what: str
    """About the first row."""
    rows: tuple[int, ...] = ()
    """The first rows that have it, by the numbers that a spreadsheet shows."""
    count: int = 0
    """How many rows have it."""
    places: str = ""
    """Where it is, where that is more than rows one by one."""

    def __str__(self) -> str:
        if self.places:
            return f"{self.file}, {self.places}: {self.what}"
        if not self.rows:
            return f"{self.file}: {self.what}"
        first, *others = self.rows
        more = self.count - len(self.rows)
        listed = [str(row) for row in others] + ([f"{more:,} more"] if more > 0 else [])
        noun = "" if not others else "row " if len(others) == 1 else "rows "
        also = f" (also {noun}{_and(listed)})" if listed else ""
        return f"{self.file}, row {first}: {self.what}{also}"


def _and(words: Sequence[str]) -> str:
    """Return a list as people say it: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def refuse(problems: Iterable[Refusal]) -> None:
    """Raise one error that lists the problems, if there are any."""
    checks.refuse_all(list(dict.fromkeys(str(problem) for problem in problems)), "the log has")


def missing_columns(shape: str, missing: list[str], columns: Iterable[str], file: str | None = None) -> str:
    """Word a table without some of its columns; for a file given by itself, with what would find out what is what."""
    named = " or ".join(repr(name) for name in missing)
    hint = f"; coterie start {in_shell(str(file))} guesses what is what" if file else ""
    return (
        f"no column {named}; the table {shape} needs {', '.join(schema.SHAPES[shape])}, and this one has "
        f"{', '.join(columns) or 'none'} ({said(columns={missing[0]: 'NAME'})} says which one is meant{hint})"
    )


def ambiguous_column(column: str, candidates: Iterable[str]) -> str:
    """Word two columns that differ only in upper and lower case."""
    return f"the columns {' and '.join(repr(name.strip()) for name in candidates)} could both be {column!r}; rename one"


def wrong_type(column: str, kind: str) -> str:
    """Word a column whose type cannot hold what it should."""
    expected = "numbers" if column == "utility" else "names: text or whole numbers"
    if "with time zone" in kind:
        expected = "a column without time zone (or text): names would depend on where the log is read"
    return f"the column {column!r} has type {kind}, expected {expected}"


def empty_name(column: str) -> str:
    """Word a row without a name."""
    return f"{column} is empty, expected a name"


def nameless(columns: Sequence[str]) -> str:
    """Word a row without any name, though not without anything."""
    return f"{_and(columns)} are all empty, expected names; if the row sums others up, delete it"


UTILITY = "utility"
"""What the column of numbers is called, unless the table has another name for it."""


def _number_in(column: str, value: float) -> str:
    return f"utility {number(value)}" if column == UTILITY else f"{number(value)} in the column {column!r}"


def not_finite(
    written: str | None,
    texts: Mapping[str, int] | None = None,
    rows: int = 0,
    column: str = UTILITY,
    kinds: int = 0,
) -> str:
    """Word a utility that is no number, perhaps given how often each text stands where a number should in all rows.

    Of so many different texts (`kinds`), the most frequent ones are given.
    """
    shown = "empty" if written is None or not written.strip() else repr(written)
    told, words = "", [text for text in texts or {} if not _DIGIT.search(text)]
    if texts and sum(texts.values()) > 1:
        each = [f"{text!r} ({counted(times, 'time')})" for text, times in texts.items()]
        each += [f"{kinds - len(texts):,} more"] if kinds > len(texts) else []
        told = f"; of {counted(rows, 'row')}, these are no numbers: {_and(each)}"
    name = column if column == UTILITY else repr(column)
    told = f"{name} is {shown}, expected a finite number{told}"
    plain = [
        one
        for text in dict.fromkeys([*([written] if written else []), *(texts or {})])
        if (one := instead(text, column))
    ]
    if plain:
        top = stated_top(column)
        is_said = top is not None and any(one.endswith(f"/{number(top)}") for one in plain)
        told += f"; write {_and(plain[:MOST_PLAIN])}{f' (the header says /{number(top)} already)' if is_said else ''}"
    others = [text for text in texts or {} if not instead(text, column)]
    if plain and not others:
        return told
    helps = "leave the cell empty"
    if words and shown != "empty":
        listed = ",".join(words)
        helps += (
            f", or if such words stand for none say {said(blank_words=listed)}, if for somebody who was not there "
            f"{said(absent_words=listed)}"
        )
    ends = [word for word in words if word.strip().casefold() in BAD_ENDS]
    return f"{told}; where there is none, {helps}{f'; but {bad_ends(ends)}' if ends else ''}"


MOST_PLAIN = 4
"""For so many cells it is told what to write instead."""


def bad_ends(words: Sequence[str]) -> str:
    """Word what becomes of results that are left out because they are bad.

    >>> bad_ends(["DNF"])
    "if 'DNF' stands for a bad result, write a number for it: without the worst, all that is learnt is too rosy"
    """
    stand, them = ("stands for a bad result", "it") if len(words) == 1 else ("stand for bad results", "each of them")
    return (
        f"if {_and([repr(word) for word in words])} {stand}, write a number for {them}: without the worst, all that is "
        "learnt is too rosy"
    )


_DIGIT = re.compile(r"[0-9,]")
"""What is in numbers with a typo, and not in words that stand for none."""


def beyond_sigma(value: float, limits: tuple[float, float], sigma: float) -> str:
    """Word a utility further from the range than the declared sigma explains."""
    return (
        f"utility {number(value)} is outside {interval(*limits)}, which is further than a sigma of "
        f"{number(sigma)} explains; expected a larger {said('sigma')} or another {said('utility_range')}"
    )


def outside_range(value: float, limits: tuple[float, float], scale: Scale, column: str = UTILITY) -> str:
    """Word a utility outside the declared range, with the options that would declare the scale it seems to be on."""
    return (
        f"{_number_in(column, value)} is outside the utility range {interval(*limits)}; {scale.why}: declare their "
        f"scale and the value of being alone, such as "
        f"{said(utility_range=(scale.low, scale.high), neutral=scale.middle)}"
    )


def typo(value: float, limits: tuple[float, float], count: int, rows: int, column: str = UTILITY) -> str:
    """Word one of very few utilities outside the range that all others are in."""
    only = f"all but {count} of {rows:,}" if count > 1 else f"the other {rows - 1:,}"
    return (
        f"{_number_in(column, value)} is probably a typo: {only} lie within {interval(*limits)}; correct the row, or "
        f"leave its {'utility' if column == UTILITY else 'cell'} empty"
    )


SLIP = "a slip of the hand?"
"""What tells the remark about a number that may be one from others: it comes first."""


def in_rows(value: float, rows: Sequence[int]) -> str:
    """Word where a number is written."""
    return f"{number(value)} in row{'s' if len(rows) > 1 else ''} {_and([str(row) for row in rows])}"


def slip(places: Sequence[str], rest: tuple[float, float]) -> str:
    """Word numbers far from all others, which may be right."""
    it, are = ("it", "is") if len(places) == 1 else ("them", "are")
    return (
        f"{_and(places)} {are} far from all others, {number(rest[0])} to {number(rest[1])}: {SLIP} correct {it}, or, "
        f"if {'it is' if it == 'it' else 'they are'} right, declare the scale: {said('utility_range')}"
    )


def total_outside(
    value: float, terms: int, limits: tuple[float, float], totals: str = "sum", times: float = 1.0
) -> str:
    """Word a total that its pair terms cannot add up to; it is their sum, or a share 1 / times of it."""
    if terms == 0:
        return f"the total is {number(value)}, expected 0 for an agent who shared no coalition in that sample"
    low, high = limits
    so_read = "" if totals == "sum" else f" ({said(totals=totals)})"
    return (
        f"the total {number(value)} of {terms} pair{'s' if terms > 1 else ''} is outside "
        f"{interval(terms * low / times, terms * high / times)}{so_read}; the range is per pair, see "
        f"{said('utility_range')} and {said('neutral')}"
    )


def uneven_teams(agent: str, sample: str, sizes: tuple[int, int]) -> str:
    """Word a total of averages over coalitions of different sizes."""
    return (
        f"{agent!r} was in coalitions of {sizes[0]} and of {sizes[1]} in sample {sample!r}, so pairs have different "
        f"weights in a sum of averages, and all that is added up over a log counts pairs, one like another; expected "
        f"teams of one size, the sum over all pairs ({said(totals='sum')}), their average ({said(totals='average')}), "
        f"or a table pairs"
    )


def no_members(coalition: str, sample: str) -> str:
    """Word the score of a team of which nobody is known."""
    return f"no member of coalition {coalition!r} in sample {sample!r} is known, expected them in memberships"


def scores_differ(coalition: str, sample: str, scores: tuple[float, float]) -> str:
    """Word a team whose members have different scores."""
    first, second = (number(score) for score in scores)
    return (
        f"coalition {coalition!r} has the scores {first} and {second} in sample {sample!r}, expected the same for all "
        f"members; if each has a total of their own, say {said(totals='sum')}"
    )


def with_herself(agent: str) -> str:
    """Word a pair of an agent with herself."""
    return f"agent {agent!r} is paired with themselves, expected two agents"


def duplicate(table: str, values: Mapping[str, Any], others: Sequence[str] = (), more: int = 0) -> str:
    """Word rows about the same; `others` are the places of further ones about something else, and so many `more`."""
    expected = {
        "memberships": "agent, coalition and sample", "totals": "agent and sample", "scores": "coalition and sample",
        LISTED_SCORES: "coalition and sample",
    }  # fmt: skip
    if table == "listed members":
        return f"{_shown(values)} was listed before, expected every member of a team once"
    also = "; ".join([*others, *([f"{more:,} more rows"] if more > 0 else [])])
    also = f"; the same goes for {also}" if also else ""
    helps = (
        f"; if forms were sent twice, {said(duplicates='last')} takes the last, {said(duplicates='mean')} the mean"
        if table != LISTED_SCORES
        else ""
    )
    about = expected.get(table, "pair, coalition and sample")
    return f"{_shown(values)} is listed more than once, expected one row per {about}{also}{helps}"


LISTED_SCORES = "listed scores"
"""Scores of teams whose members are listed: two teams may have one name, and none is dropped."""


def in_rows_about(rows: Sequence[str]) -> str:
    """Word where the same is told several times.

    >>> in_rows_about(["3", "7", "9"])
    'rows 3, 7 and 9'
    """
    return f"row{'s' if len(rows) > 1 else ''} {_and(rows)}"


def orders_disagree(values: Mapping[str, Any], utilities: tuple[float, float]) -> str:
    """Word the two orders of a symmetric pair with different utilities."""
    first, second = (number(value) for value in utilities)
    return (
        f"{_shown(values)} has utility {first} in one order and {second} in the other, expected the same; say "
        f"{said(symmetric=False)} if agents value each other differently, or {said(symmetrize=True)} to average the two"
    )


def totals_differ(sample: str, agents: tuple[str, str], totals: tuple[float, float]) -> str:
    """Word the totals of two agents who met nobody else."""
    first, second = (number(value) for value in totals)
    return (
        f"{agents[0]!r} and {agents[1]!r} met nobody but each other in sample {sample!r}, yet their totals are {first} "
        f"and {second}, expected the same; say {said(symmetric=False)} if agents value each other differently"
    )


def nothing_to_average() -> str:
    """Word a log to be symmetrized in which every pair was listed in one order only."""
    return (
        f"no pair is listed in both orders, so there is no average of two; leave out {said(symmetrize=True)} if both "
        f"agents of a pair get the same, or say {said(symmetric=False)} if they do not"
    )


def not_members(values: Mapping[str, Any], missing: str) -> str:
    """Word a pair that did not share the coalition according to `memberships`."""
    return (
        f"{missing!r} is not a member of coalition {values['coalition']!r} in sample {values['sample']!r}, expected "
        f"memberships of both agents of a pair"
    )


def _shown(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} {value!r}" for column, value in values.items())
