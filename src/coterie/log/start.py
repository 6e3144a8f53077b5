"""From a table that nobody has explained yet to a log: what is what, guessed with reasons, and written to a folder."""

import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from coterie import __version__, checks
from coterie.errors import InputError
from coterie.files import naming, to_json, whole_folder
from coterie.game import tables
from coterie.log import queries, shape_queries
from coterie.log.checking import MANY_TWOS
from coterie.log.direction import direction_told, may_mean_less
from coterie.log.drawn_anew import MEAN_NOTHING, WHO_GOT, Verdict, about_names, names_drawn_anew
from coterie.log.engine import Engine, make_engine
from coterie.log.likenesses import two_people
from coterie.log.log import STANDARD, Log, read_log
from coterie.log.looking import (
    SAID,
    VALUES,
    Column,
    Part,
    are_pairs_without_teams,
    columns_that_say,
    guess_parts,
    look,
    other_part_of_names,
    rounds_in_columns,
    told_apart_by_nothing,
)
from coterie.log.names import LISTED, TEAM_WORDS, are_names_for_once, are_numbered, spelled_without_accents, spellings
from coterie.log.options import COPIED_FROM, FORMAT, TABLE, call_options
from coterie.log.refusals import SLIP, ambiguous_column, bad_ends, in_rows_about
from coterie.log.scales import likely_scale, scale_up_to, stated_scale, stated_top
from coterie.log.schema import ROW, Named, names_of
from coterie.log.shapes import ABOUT, Table, loaded, on_same_days, respelled
from coterie.log.tables import SUFFIXES, Source, not_a_table
from coterie.log.teams_seen import RARE, TeamsSeen
from coterie.log.units import unit_in
from coterie.log.ways import BAD_ENDS, instead
from coterie.spreadsheets import Workbook
from coterie.words import counted, in_shell, number, percent, said, some

QUESTIONS: dict[str, str] = {
    "sample": "Which column says when (one round in which teams held)?",
    "coalition": "Which column says in which team?",
    "agent": "Which column says who (who rates, or who got it)?",
    "partner": "Which column says with whom (who is rated)?",
    "members": "Which column lists the members of a team?",
    "separators": "What stands between their names in a cell (signs and words, with blanks between them)?",
    "utility": "Which column says how good it was?",
    "choice": "Which column says what was chosen?",
    "blank_words": "Which words stand for no rating of somebody who was there (with commas between them)?",
    "absent_words": "Which words say that somebody was not there (with commas between them)?",
    "symmetric": "Do both of a pair get the same?",
    "totals": "What is the number in a row? Of a person, the sum over teammates (sum) or their average (team-averages);"
    " of a team, the sum over its pairs (team-scores) or their average (team-score-averages)",
    "utility_range": "On which scale is one pair rated, from lowest to highest?",
    "lower_is_better": "Is a smaller number better (yes), or a larger one (no)?",
    "unit": "In what is it counted (one word, or none)?",
    "neutral": "Which value is worth as much as working alone?",
    "pool_coalitions": "Do team labels mean nothing, as Team 1 and Team 2 or names that are made up each time (a pair "
    "then gets the same in any of them)?",
    "coalitions": "How many teams are there at once?",
    "value": "What is a team worth to a member: the sum over teammates (total) or their average (average)?",
    "clean_names": "Are names the same that differ in case, spaces or how letters are written (ß, ss; ü, ue, u) only?",
    "duplicates": "What if several rows are about the same: refuse them, or take the first, the last or the mean?",
}
"""What is asked about each thing that is guessed."""

LABELS: dict[str, str] = {
    "sample": "when",
    "coalition": "in which team",
    "agent": "who",
    "partner": "with whom",
    "members": "its members",
    "separators": "between names",
    "utility": "how good",
    "choice": "what was chosen",
    "blank_words": "no number",
    "absent_words": "was not there",
    "symmetric": "both get the same",
    "totals": "the number is",
    "utility_range": "scale",
    "lower_is_better": "less is better",
    "unit": "counted in",
    "neutral": "as good as alone",
    "pool_coalitions": "team names mean nothing",
    "coalitions": "how many teams",
    "value": "a team is worth",
    "clean_names": "merge spellings",
    "duplicates": "rows about the same",
}
"""What each thing that is guessed is, in a few words."""

SHAPES = {
    "pairs": "ratings of pairs: who rated whom",
    "records": "totals: what each person got in a team",
    "listed scores": "scores of teams, whose members are listed",
    "choices": "choices: who chose what, next to whom",
}
"""What a table seems to be, in words."""

FEW_SOLOS = 10
"""From so many numbers of people on their own on, they say what working alone is worth."""

FEW_TEAMS, MANY_TEAMS = 3, 10
"""In fewer teams of several, the same number for all members may be chance; below the second, it is said to be few."""

ON_BOTH_SIDES = 10
"""Numbers lie around zero where one in so many or more is above it, and as many are below."""

WORDS_SHOWN = 5
"""How many words among numbers are shown."""

MANY_DOUBLES = 10
"""Where more than one in so many rows repeats what another is about, these are hardly forms that were sent twice."""

FEW_ROUNDS, SELDOM = 12, 5
"""In so many rounds or more, labels that occur in one of so many rounds or fewer are pooled."""

_TERMS = {"sum": "others", "team-scores": "(others * (others + 1) / 2)"}
"""How many pairs a number is the sum over, where it is one, by how many others are in the team."""


@dataclass(frozen=True)
class Answer:
    """One thing that was guessed, or said, about a table."""

    name: str
    """A column of a log or an option of `read_log`."""
    value: Any
    why: str
    is_open: bool = False
    """Whether it is better left open, so that whoever reads the log is told of the doubt, unless somebody says it."""

    @property
    def question(self) -> str:
        """What it answers."""
        return QUESTIONS[self.name]


@dataclass(frozen=True, eq=False)
class Guess:
    """What a table seems to hold, with reasons; `write` makes a log of it."""

    path: Path
    sheet: str | None
    rows: int
    columns: tuple[Column, ...]
    """What the columns of the table hold."""
    shape: str
    """What it is: "pairs", "records", "listed scores" or "choices"."""
    parts: tuple[Answer, ...]
    """Which column is what."""
    answers: tuple[Answer, ...]
    """What else is said about the log."""
    known: Mapping[str, Any] = field(default_factory=dict)
    """What was said of it that is no guess."""
    titles: str = ""
    """What to tell of what is written above the header."""

    @property
    def options(self) -> dict[str, Any]:
        """What `read_log` is told."""
        named = {one.name: one.value for one in self.parts if str(one.value).casefold() != one.name}
        found = {"sheet": self.sheet, "columns": named or None, **self.known}
        found |= {one.name: one.value for one in self.answers if not one.is_open}
        return {name: value for name, value in found.items() if value is not None and value != ()}

    def keeping(self, taken: Sequence[Answer]) -> "Guess":
        """Return the guess with the reasons of answers that were taken as they were offered."""
        why = {one.name: one.why for one in taken}
        parts, answers = (
            tuple(replace(one, why=why.get(one.name, one.why)) for one in every) for every in (self.parts, self.answers)
        )
        return replace(self, parts=parts, answers=answers)

    def to_json(self) -> dict[str, Any]:
        """Return what `log.json` holds."""
        return {"format": FORMAT} | self.options

    def write(self, folder: str | PathLike[str]) -> Log:
        """Write a folder with a copy of the table and `log.json`, and return the log in it.

        What cannot be read so is refused, and then nothing is written.
        """
        table = (STANDARD.get(self.shape) or (self.shape,))[-1] if self.shape != "choices" else "choices"
        with whole_folder(folder) as temporary:
            shutil.copyfile(self.path, temporary / f"{table}{self.path.suffix.lower()}")
            declared = self.to_json() | {COPIED_FROM: self.path.name, "version": __version__}
            (temporary / "log.json").write_text(to_json(declared), encoding="utf-8")
            own = read_log(self.path, **self.options)  # refuses what is wrong, in the words of the user's own file
            if drawn := self._unsure_names(own):
                left = {name: value for name, value in declared.items() if name != "pool_coalitions"}
                (temporary / "log.json").write_text(to_json(left), encoding="utf-8")
        log = read_log(folder)
        # The scale is a guess that a slip of the hand made wider, unless somebody said it.
        slips = () if "utility_range" in self.known else (note for note in log.notes if SLIP in note)
        return replace(log, notes=(*drawn, *slips, *own.notes))

    def _unsure_names(self, own: Log) -> list[str]:
        """Return what is to be told of names of teams that only the log as it is read shows to mean nothing."""
        is_no = any(one.name == "pool_coalitions" and one.value is False and not one.is_open for one in self.answers)
        if not is_no or "pool_coalitions" in self.known:
            return []
        return list(about_names(replace(own, declared=own.declared - {"pool_coalitions"})))

    def __repr__(self) -> str:
        lines = [f"Guess({self.path}: {SHAPES[self.shape]}, {counted(self.rows, 'row')})"]
        lines += [f"  {one.name} = {one.value!r}: {one.why}" for one in (*self.parts, *self.answers)]
        return "\n".join(lines)


def start(table: str | PathLike[str], *, sheet: str | int | None = None, **known: Any) -> Guess:
    """Return what a table seems to hold: which column is what, the scale, and whatever else a log needs said.

    Parameters
    ----------
    table
        A spreadsheet (.xlsx and its like), CSV or Parquet file.
    sheet
        Which sheet of a spreadsheet to read, by name or number; the first by default.
    known
        What is known, and not guessed: options of `read_log`, such as `columns={"agent": "From"}` or `neutral=3`.

    Examples
    --------
    >>> guess = coterie.start("ratings.xlsx")  # doctest: +SKIP
    >>> log = guess.write("firm")  # doctest: +SKIP
    """
    path = checks.path(table, "table", "the file that a table is in")
    if path.is_dir():
        raise InputError(
            f"{path}: is a folder, expected one table: a spreadsheet or a .csv file; if it holds a log already, "
            f"coterie inspect {in_shell(str(path))} shows it"
        )
    if path.is_file() and path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{not_a_table(path)} with a row for each rating, person or team")
    said_so = call_options({"sheet": sheet} | known)
    engine = make_engine(said_so)
    sources, _ = engine.find_log(str(path), said_so.get("sheet"), said_so.get("skip_rows"))
    if not sources[0].is_alone:
        raise InputError(
            f"{path}: has sheets called as the tables of a log and needs no guessing; coterie inspect "
            f"{in_shell(str(path))}"
        )
    fixed: Mapping[str, Named] = said_so.get("columns", {})
    source, rows, columns = next(
        (one for one in _sheets(engine, path, sources[0]) if guess_parts(one[2], fixed)[1]),
        None,
    ) or (sources[0], *look(engine, sources[0]))
    with naming(path):
        _refuse_unknown(columns, fixed)
        if "sample" not in fixed and (rounds := rounds_in_columns(columns)):
            raise InputError(_a_column_each(rounds))
        shape, parts = guess_parts(columns, fixed)
        if not parts:
            raise InputError(_nothing_found(columns, fixed))
        if "utility" not in fixed:
            _refuse_another_for_good(columns, parts)
        if alike := told_apart_by_nothing(columns, parts):
            raise InputError(_no_column_says_when(alike))
        if both := are_pairs_without_teams(columns, parts):
            raise InputError(_no_column_of_teams(*both))
        _refuse_parts_of_names(engine, source, other_part_of_names(columns, parts))
        parts = _told_of_others(columns, parts)
        guessing = _Answers(engine, source, shape, parts, columns, said_so)
        if twins := guessing.namesakes():
            if "coalition" in fixed:
                raise InputError(guessing.two_of_one_name())
            # Two teams of one name are two teams: each row is one.
            parts = [Part("coalition", ROW, twins) if part.role == "coalition" else part for part in parts]
            guessing = replace(guessing, parts=parts)
        answers = guessing.all()
    named = tuple(Answer(part.role, part.column, part.why) for part in parts)
    sheet = source.sheet if source.note else said_so.get("sheet")
    others = {
        name: value for name, value in said_so.items() if TABLE[name].in_file and name not in {"sheet", "columns"}
    }
    if source.titles:
        others["skip_rows"] = source.skipped
    return Guess(path, sheet, rows, tuple(columns), shape, named, tuple(answers), others, source.about_titles)


def _sheets(engine: Engine, path: Path, first: Source) -> Iterator[tuple[Source, int, list[Column]]]:
    """Yield a table, and, if it is one of several sheets and nobody said which, the others."""
    yield first, *look(engine, first)
    for sheet in Workbook.open(path).sheets[1:] if first.note else ():
        with suppress(InputError):  # an empty one
            other = engine.find_log(str(path), sheet)[0][0]
            yield replace(other, note=first.note), *look(engine, other)


def _refuse_unknown(columns: list[Column], fixed: Mapping[str, Named]) -> None:
    names = {column.name.casefold() for column in columns}
    for ours, theirs in ((ours, name) for ours, named in fixed.items() for name in names_of(named)):
        is_row = theirs == ROW and ours in {"sample", "coalition"}
        if not is_row and theirs.casefold() not in names:
            listed = ", ".join(column.name for column in columns)
            like = checks.similar(theirs, (column.name for column in columns), checks.LOOSELY)
            hint = f"; did you mean {like!r}?" if like else ""
            raise InputError(f"{said('columns')}: {ours} is said to be {theirs!r}, but there is only: {listed}{hint}")


def _refuse_another_for_good(columns: list[Column], parts: list[Part]) -> None:
    """Refuse to take for how good it was what may be weeks or teams, or is left over beside outcomes in other ways.

    Weeks are outcomes where nothing else holds numbers, and any numbers are where nothing is written like outcomes.
    """
    taken = next((part.column for part in parts if part.role == "utility"), None)
    column = next((one for one in columns if one.name == taken), None)
    if column is None or column.word_for("utility") or column.is_duration:
        return
    used = {name for part in parts for name in names_of(part.column)}
    left = [one for one in columns if one.name not in used]
    meant = [one for one in left if one.is_otherwise and 2 * one.filled > column.filled]
    if not meant and not column.says_when and not column.says_who_or_where:
        return
    meant += [one for one in columns if one.word_for("utility")] + [
        one for one in columns if not any(one.word_for(role) for role in ("sample", "coalition", "agent", "partner"))
    ]
    told = _no_plain_numbers(next((one for one in meant if one is not column), None))
    raise InputError(
        f"{told}. If it is {column.name!r} after all, say so with {said(columns={'utility': column.name})}"
    )


def _no_plain_numbers(meant: Column | None) -> str:
    """Word that outcomes are no plain numbers, given the column that they may be in."""
    shown = helps = ""
    if meant is not None:
        shown = f"; {meant.name!r} may be meant, and holds {some(map(repr, meant.examples), 2)}"
        plain = [one for text in meant.examples if (one := instead(text, meant.name))] if meant.is_otherwise else []
        helps = f". Here, write {some(plain, 2)}" if plain else ""
    return (
        f"no column holds numbers that say how good it was{shown}. Write plain numbers: 4 for 4/5 or four stars, 80 "
        f"for 80%, 1500 for 1.500 €, 48.6 minutes for 48:36, 1 to 5 for words from bad to great, 1 and 0 for yes and "
        f"no{helps}"
    )


def _told_of_others(columns: list[Column], parts: list[Part]) -> list[Part]:
    """Return the parts of a log, telling of columns that are called as one of them; refuse those that nothing parts."""
    used = {name for part in parts for name in names_of(part.column)}
    found = []
    for part in parts:
        for name in names_of(part.column):
            alike = [column.name for column in columns if column.name.casefold() == name.casefold()]
            if len(alike) > 1:
                raise InputError(ambiguous_column(part.role, alike))
        stem = _stem(names_of(part.column)[0])
        others = [column.name for column in columns if _stem(column.name) == stem and column.name not in used]
        is_told = others and part.why != SAID and isinstance(part.column, str)
        also = f"; {some(map(repr, others), 2)} may be meant as well" if is_told else ""
        found.append(replace(part, why=part.why + also))
    return found


def _stem(header: str) -> str:
    """Return a header without the number that it has where it comes again."""
    return re.sub(" [0-9]+$", "", header.casefold())


def _a_column_each(rounds: list[str]) -> str:
    return (
        f"there seems to be a column for each round ({some(map(repr, rounds), 2)}): make a row for each person and "
        "round, with columns such as Week, Name, Team and Points; if one of them says when after all, say which with "
        f"{said(columns={'sample': 'NAME'})}"
    )


def _no_column_says_when(alike: list[str]) -> str:
    return (
        f"no column says when, and nothing tells apart those that hold numbers ({some(map(repr, alike), 2)}): if each "
        "is about another round, make a row for each person and round, with columns such as Week, Name, Team and "
        f"Points; if one of them says when, say which with {said(columns={'sample': 'NAME'})}"
    )


def _refuse_parts_of_names(engine: Engine, source: Source, names: tuple[str, str] | None) -> None:
    """Refuse first names alone where last ones show that some are those of several people, or the other way round."""
    if names is None:
        return
    header = {name.strip(): name for name in engine.types(source)}
    engine.load(replace(source, table="named_twice"), {"one": header[names[0]], "other": header[names[1]]})
    found = engine.rows(shape_queries.told_apart(engine.name("named_twice"), "one", "other"))
    if found:
        first, (mine, theirs) = found[0], names
        raise InputError(
            f"{mine!r} alone is not who: {first['name']!r} is {first['one']!r} and {first['other']!r} in {theirs!r}; "
            f"make one column of both, or say which one tells people apart with {said(columns={'agent': 'NAME'})}"
        )


def _no_column_of_teams(one: str, other: str) -> str:
    return (
        f"{one!r} and {other!r} hold the same names, as where people rate each other, and no column says in which team "
        "these two were: add one (the same in every row, if there was one team only), or say which one it is with "
        f"{said(columns={'coalition': 'NAME'})}"
    )


SOUGHT = {
    "sample": "when (Week, Date, Event, ...)",
    "coalition": "in which team (Team, Area, Project, ...)",
    "agent": "who (Name, From, Members, ...)",
    "utility": "how good it was (Score, Stars, Points, ...)",
}
"""What a table must say, and headers that do."""


def _nothing_found(columns: list[Column], fixed: Mapping[str, Named]) -> str:
    meant = [one for one in columns if one.is_otherwise or (one.word_for("utility") and not one.is_numeric)]
    for one in meant if "utility" not in fixed else ():
        if guess_parts(columns, {**fixed, "utility": one.name})[1]:  # everything else is there
            return _no_plain_numbers(one)
    found = {role: columns_that_say(role, columns) for role in (*SOUGHT, "partner", "members")}
    lists = [column.name for column in columns if column.is_lists]
    found["agent"] = found["agent"] or found.pop("members") or lists
    listed = ", ".join(column.name for column in columns) or "none"
    lacks = [worded for role, worded in SOUGHT.items() if not found[role]]
    if not found["sample"] and (rounds := rounds_in_columns(columns, without_word=True)):
        return _a_column_each(rounds)
    if 0 < len(lacks) < len(SOUGHT):
        first = next(role for role in SOUGHT if not found[role])
        only = " (the same in every row, if there was one only)" if first in {"sample", "coalition"} else ""
        return (
            f"nothing here says {' nor '.join(lacks)}; found: {listed}. Add a column that does{only}, or say which one "
            f"it is with {said(columns={first: 'NAME'})}"
        )
    return (
        f"nothing here looks like a log; expected columns that say when, in which team, who, with whom and how good it "
        f"was (or who and how good, or who chose what), and found: {listed}. If it is one after all, say which is "
        f"which with {said(columns={'sample': 'NAME', 'agent': 'NAME'})}"
    )


@dataclass(frozen=True, eq=False)
class _Answers:
    """Guesses the options of a log whose columns are known."""

    engine: Engine
    source: Source
    shape: str
    parts: list[Part]
    columns: list[Column]
    known: Mapping[str, Any]

    def all(self) -> list[Answer]:
        own = {"pairs": self._symmetric, "choices": None}.get(self.shape, self._totals)
        listed = self._separators if isinstance(self._named.get("members"), str) else None
        found = [self._said(self._clean), *(self._said(guess()) for guess in (own, self._pooled) if guess is not None)]
        found[:0] = [] if listed is None else [self._said(listed())]
        if own == self._totals and not self._of_teams:
            found.insert(-1, self._said(self._same_totals()))
        found[1:1] = self._doubles()
        found[:0] = [] if self.shape == "choices" else self._blank_words()
        scale = [] if self.shape == "choices" else self._scale({one.name: one.value for one in found})
        if found[-1].value:
            scale.append(Answer("coalitions", *self._seen.how_many()))
        if self.shape == "pairs":
            told = "teams are compared by how people get on, whatever their size; total adds ratings up"
            scale.append(Answer("value", "average", told))
        elif "average" in str({one.name: one.value for one in found}.get("totals")):
            scale.append(Answer("value", "average", "the numbers are averages, and all that is told is on their scale"))
        return [self._said(one) for one in (*found, *scale)]

    def _said(self, guess: Answer) -> Answer:
        return Answer(guess.name, self.known[guess.name], SAID) if guess.name in self.known else guess

    @cached_property
    def _named(self) -> dict[str, Named]:
        return {part.role: part.column for part in self.parts}

    def _column(self, role: str) -> Column:
        return next(column for column in self.columns if column.name == self._named[role])

    @cached_property
    def _written(self) -> str:
        """The table under the names of a log, without those who were not there and rows that sum others up."""
        header = {name.strip(): name for name in self.engine.types(self.source)}
        named: dict[str, Named] = {}
        for role, theirs in self._named.items():
            several = tuple(header.get(name, name) for name in names_of(theirs))
            named[role] = several if isinstance(theirs, tuple) else several[0]
        rows = Table(replace(self.source, table="all_guessed"), self.shape, named)
        views, _ = on_same_days(self.engine, [rows], {"all_guessed": loaded(self.engine, rows.source, named)})
        view = views["all_guessed"]
        if "utility" in named:
            present = shape_queries.without(self.engine.name(view), shape_queries.WAS_NOT_THERE)
            self.engine.view(view := "guessed_present", present)
        if self.known.get("summaries") == "keep":
            return self.engine.name(view)
        names = [role for role in named if role not in {"utility", "choice"}]
        single = shape_queries.without(self.engine.name(view), shape_queries.is_summary(names))
        self.engine.view("guessed", single)
        return self.engine.name("guessed")

    @cached_property
    def _rows(self) -> str:
        """The same with a row for each member."""
        if self.shape != "listed scores":
            return self._written
        is_one = isinstance(self._named["members"], str)
        signs = self._said(self._separators()).value.split() if is_one else [tables.NEWLINE]
        pattern = tables.separator_pattern(signs)
        listed = shape_queries.with_members(self._written, self.engine.listed("members", pattern))
        self.engine.view("guessed_members", listed)
        return self.engine.name("guessed_members")

    @cached_property
    def _view(self) -> str:
        """The same as the log will have it: with one spelling of each name, if these are merged."""
        if not self._said(self._clean).value:
            return self._rows
        self.engine.view("guessed_rows", queries.columns_of(self._rows, ("*",)))
        shape = "records" if self.shape == "listed scores" else self.shape
        rows = Table(replace(self.source, table="guessed_rows"), shape, {})
        views, _ = respelled(self.engine, [rows], {"guessed_rows": "guessed_rows"})
        return self.engine.name(views["guessed_rows"])

    def namesakes(self) -> str:
        """Return which teams of one name there are in one round, where each row lists a team; "" where none are."""
        if self.shape != "listed scores" or self._named["coalition"] == ROW:
            return ""
        rows = self.engine.rows(shape_queries.namesakes(self._written))
        if not rows:
            return ""
        first, several = rows[0], counted(len(rows), "round has", "rounds have")
        times, sample, name = int(first["times"]), first["sample"], first["coalition"]
        return f"{several} several teams of one name, such as {times} {name!r} in {sample!r}: each row is a team"

    def two_of_one_name(self) -> str:
        """Return what to do where teams share a name, and somebody said that it is what parts them."""
        named = shape_queries.without(self._written, "utility IS NULL")
        rows = self.engine.rows(queries.repeated(f"({named}) AS scored", ("sample", "coalition")))
        first = rows[0]
        sample, name = first["sample"], first["coalition"]
        same = [row for row in rows if (row["sample"], row["coalition"]) == (sample, name)]
        places = [int(first["first_row_index"]), *(int(row["row_index"]) for row in same)]
        # More rows than are listed may share the name.
        told = in_rows_about([str(row) for row in self.source.row_numbers(places)])
        more = int(first["repeats"]) - len(same)
        others = f", and so do teams in {counted(more, 'further row')}" if more else ""
        return (
            f"{told}: teams share the name {name!r} in {sample!r}{others}; leave out "
            f"{said(columns={'coalition': self._named['coalition']})}, and each row is a team of its own, or say which "
            "column tells them apart"
        )

    def _blank_words(self) -> list[Answer]:
        """Ask about words among the numbers of which it is not known that they stand for none; never guess that."""
        column = self._column("utility")
        odd = {text: count for text, count in column.said.items() if not column.is_number(text)}
        if not odd:
            return []
        names = ("absent_words", "blank_words")
        meant = {word.lower() for name in names for word in self.known.get(name, ())}
        left = {text: count for text, count in odd.items() if text.strip().lower() not in meant}
        listed = some((f"{text!r} ({counted(count, 'time')})" for text, count in left.items()), WORDS_SHOWN)
        told = f"these are no numbers, and are refused if they stay: {listed}" if left else "no other words are left"
        if ends := [text for text in left if text.strip().casefold() in BAD_ENDS]:
            told += f"; {bad_ends(ends)}"
        return [Answer(name, (), told) for name in names]

    def _separators(self) -> Answer:
        found = self._column("members").separators
        signs = found.signs or tables.USUAL
        return Answer("separators", tables.worded_separators(signs), tables.about_separators(found))

    @cached_property
    def _clean(self) -> Answer:
        roles = ["agent", "partner", "coalition"] if self.shape == "pairs" else ["agent", "coalition"]
        names = [self.engine.table(shape_queries.values(self._rows, role, VALUES))["value"] for role in roles]
        people = [name for column in names[:-1] for name in column.to_pylist()]
        met = self._rows if self.shape == "pairs" else None
        where = self._places("written_places", self._rows)
        apart = two_people(self.engine, spelled_without_accents(people), where, met)
        found = [*spellings(people, apart), *spellings(names[-1].to_pylist())]
        if not found:
            return Answer("clean_names", False, "no name has several spellings")
        shown = some((" and ".join(map(repr, one)) for one in found), LISTED)
        several = counted(len(found), "name has", "names have")
        return Answer("clean_names", True, f"{several} several spellings: {shown}")

    def _doubles(self) -> list[Answer]:
        """Ask what becomes of several rows about the same, where there are such."""
        if self.shape == "listed scores":
            return []
        value = "choice" if self.shape == "choices" else "utility"
        (found,) = self.engine.rows(shape_queries.doubles(self._view, ABOUT[self.shape], value))
        doubles, different = int(found["n_rows"]), int(found["different"])
        if not doubles:
            return []
        told = (
            f"{counted(doubles, 'row')} {'repeats what another is' if doubles == 1 else 'repeat what others are'} about"
        )
        (whole,) = self.engine.rows(shape_queries.count(self._view, "(1 = 1)"))
        if MANY_DOUBLES * doubles > int(whole["n"]):
            told += ": is there a column that says more about when or where?"
            return [Answer("duplicates", "refuse", told)]
        if not different:
            return [Answer("duplicates", "first", f"{told}; they say the same")]
        which = "last" if self.shape == "choices" else "mean"
        return [Answer("duplicates", which, f"{told}; they differ in {counted(different, 'case')}")]

    def _symmetric(self) -> Answer:
        row = self.engine.table(shape_queries.both_ways(self._view)).to_pylist()[0]
        pairs, both, different = (int(row[name]) for name in ("pairs", "both_orders", "different"))
        if not both:
            return Answer("symmetric", True, "every pair has one row, so one number speaks for both")
        share = percent(round(both / max(pairs, 1), 2))
        if not different:
            return Answer("symmetric", True, f"{share} of pairs are there both ways, and always agree")
        return Answer("symmetric", False, f"{share} of pairs are there both ways, and {different:,} of them differ")

    @cached_property
    def _rounds(self) -> int:
        """How many samples there are, as far as was looked."""
        return len(self.engine.table(shape_queries.values(self._view, "sample", VALUES)))

    @cached_property
    def _members(self) -> str:
        """Who was where, as far as all three are written."""
        return self._places("guessed_places", self._view)

    def _places(self, name: str, rows: str) -> str:
        """Make the view of who was where by some rows, and return it."""
        everybody = queries.inferred_members(rows) if self.shape == "pairs" else queries.columns_of(rows, ("*",))
        self.engine.view(name, shape_queries.named(f"({everybody}) AS everybody"))
        return self.engine.name(name)

    @cached_property
    def _seen(self) -> TeamsSeen:
        """How large teams were, and how many."""
        return TeamsSeen.of(self.engine, self._members)

    def _pooled(self) -> Answer:
        if self._named["coalition"] == ROW:
            return Answer("pool_coalitions", True, "teams have no names")
        labels = self.engine.table(shape_queries.labels(self._view)).to_pylist()
        named = [row for row in labels if (row["coalition"] or "").strip()]
        if not named:
            raise InputError(f"the column {self._column('coalition').name!r} is empty, expected teams")
        first = min(row["coalition"] for row in named)
        back = sorted(row["coalition"] for row in named if row["samples"] > 1)
        once, labels = len(named) - len(back), counted(len(named), "label")
        rounds, teams = self._rounds, sum(int(row["samples"]) for row in named)
        if rounds > 1 and are_names_for_once(once, len(named), teams):
            such = min(row["coalition"] for row in named if row["samples"] == 1)
            told = f"{once:,} of {labels} occur in one round only, such as {such!r}"
            return Answer("pool_coalitions", True, f"{told}: names for once, of which each alone tells nothing")
        if rounds >= FEW_ROUNDS and SELDOM * teams <= rounds * len(named):
            told = f"on average a label occurs in {number(round(teams / len(named), 1))} of {rounds:,} rounds only"
            return Answer("pool_coalitions", True, f"{told}: each alone tells next to nothing")
        if are_numbered([row["coalition"] for row in named], str(self._named["coalition"])):
            return Answer("pool_coalitions", True, f"labels are numbers or letters, such as {first!r}")
        if not back:
            return Answer(
                "pool_coalitions", False, f"labels have names, such as {first!r}, but there is one round only"
            )
        told = (
            "labels have names and come back"
            if not once
            else f"{len(back):,} of {labels} {'comes' if len(back) == 1 else 'come'} back"
        )
        told = f"{told}, such as {back[0]!r}"
        if (drawn := self._drawn) == "no":
            return Answer("pool_coalitions", False, told)
        header = self._named["coalition"]
        if drawn == "clearly" or (header and tables.word_in(str(header), TEAM_WORDS.split())):
            kept = f"if they stay the same, {said(pool_coalitions=False)} says so"
            return Answer("pool_coalitions", True, f"{told}, but {MEAN_NOTHING}: as if drawn anew; {kept}")
        told += f"; but {MEAN_NOTHING}: if they are drawn anew each time, {said(pool_coalitions=True)} says so"
        return Answer("pool_coalitions", False, told, is_open=True)

    @property
    def _drawn(self) -> Verdict:
        """Whether names of teams are drawn anew."""
        if self.shape == "choices":
            return "no"
        pairs = self._view if self.shape == "pairs" else None
        return names_drawn_anew(self.engine, self._members, self._per_pair, pairs)

    @property
    def _per_pair(self) -> str:
        """What each row says of a single pair."""
        if self.shape == "pairs":
            return queries.columns_of(self._view, WHO_GOT)
        return shape_queries.per_pair(self._view, self._view, _TERMS.get(self._said(self._totals()).value, "1"))

    @cached_property
    def _shared(self) -> tuple[int, int, int]:
        """In how many teams of several the number is the same for all, in how many rows, and in how many it is not."""
        row = self.engine.table(shape_queries.shared_scores(self._view)).to_pylist()[0]
        return int(row["same"]), int(row["same_rows"]), int(row["different"])

    def _same_totals(self) -> Answer:
        """Tell from teams of two whether a pair means the same to both; not where they do not tell.

        Who is taken to differ may turn out to be alike, and little is lost; the other way round all ranges are wrong.
        """
        (row,) = self.engine.rows(shape_queries.teams_of_two(self._view))
        twos, unlike = int(row["teams"]), int(row["different"])
        if unlike:
            told = f"{unlike:,} {'team' if unlike == 1 else 'teams'} of two had different numbers for the two"
            return Answer("symmetric", False, told)
        if twos >= MANY_TWOS:
            return Answer("symmetric", True, f"all {twos:,} teams of two had the same number for the two")
        shown = f"only {counted(twos, 'team')} of two had the same number for the two"
        told = f"{shown if twos else 'no team of two shows it'}, and who gets much need not give much"
        told += '; if both do, "symmetric": true in log.json says so'
        return Answer("symmetric", False, told)

    @cached_property
    def _of_teams(self) -> bool:
        """Whether a number is the score of a team: it is the same for all its members, in all teams."""
        if self.shape == "listed scores":
            return True
        same, _, different = self._shared
        return same >= FEW_TEAMS and not different

    @cached_property
    def _by_terms(self) -> dict[int, dict[float, int]]:
        """How often each number of a row occurs, by how many pairs it is about: teammates, or pairs of a team."""
        found: dict[int, dict[float, int]] = {}
        for row in self.engine.table(shape_queries.per_teammate(self._view, self._view)).to_pylist():
            others, times = int(row["others"]), int(row["times"])
            terms = others * (others + 1) // 2 if self._of_teams else others
            # A team of which only some members have the number is one all the same.
            found.setdefault(terms, {})[row["utility"]] = max(times // (others + 1), 1) if self._of_teams else times
        if not found:
            helps = self._look_swapped() or self._look_merged() or self._have_commas()
            raise InputError(f"no row has both a team of several people and a number{helps}")
        return found

    def _look_merged(self) -> str:
        """Return what to do where cells are empty as below merged ones; "" where they are not."""
        rows = self._column("utility").filled
        for role in ("sample", "coalition"):
            if self._named[role] != ROW and 2 * (filled := self._column(role).filled) <= rows:
                name = self._column(role).name
                merged = "merged cells hold what they say in the first row only"
                return f"; {name!r} is filled in {filled:,} of {rows:,} rows: fill it in every row ({merged})"
        return ""

    def _have_commas(self) -> str:
        """Return what to do where numbers have commas that nobody can tell apart; "" where they have none."""
        column = self._column("utility")
        is_read = column.is_number if self.source.has_decimal_comma else lambda _: False
        text = next((value for value in column.said if "," in value and not is_read(value)), None)
        if text is None:
            return ""
        plain = f"{text.strip().replace(',', '')} or {text.strip().replace(',', '.')}"
        return f"; numbers in {column.name!r} hold commas, such as {text.strip()!r}: write what is meant, {plain}"

    def _look_swapped(self) -> str:
        """Return what to try where people and teams are probably each other's column; "" where nothing says so."""
        who = "members" if self.shape == "listed scores" else "agent"
        if ROW in (named := {who: self._named["coalition"], "coalition": self._named[who]}).values():
            return ""
        if who == "members":
            is_so = isinstance(named["coalition"], str) and self._column("coalition").is_lists
        else:  # then a team has many "people" of one member each, and a member several teams at once
            (most,) = self.engine.rows(queries.most_at_once(self._members, "sample, agent"))
            is_so = not self._seen.sizes and (most["most"] or 0) > 1
        return f"; people and teams look swapped: try {said(columns=named)}" if is_so else ""

    def _totals(self) -> Answer:
        whole, average = ("team-scores", "team-score-averages") if self._of_teams else ("sum", "team-averages")
        noun = "pair" if self._of_teams else "teammate"
        about = "it "
        if self._of_teams and self.shape != "listed scores":
            same, rows, _ = self._shared
            only = "only " if same < MANY_TEAMS else ""
            about = f"it is the same for all members in each of {only}{same:,} teams ({rows:,} rows), and "
        middle = {terms: _mean(times) for terms, times in self._by_terms.items()}
        often = {terms: sum(times.values()) for terms, times in self._by_terms.items()}
        usual = [terms for terms in often if RARE * often[terms] >= sum(often.values())]
        few, many = (min(usual), max(usual)) if len(usual) > 1 else (min(often), max(often))
        if few == many:
            begins = "" if about == "it " else about
            told = f"{begins}teams have one size: it is taken for the average over {noun}s, which is on the same scale"
            return Answer("totals", average, told)
        unit = "team" if self._of_teams else "row"
        sizes = {terms: _mean_size(self._by_terms[terms]) for terms in (few, many)}
        around = _is_around_zero(self._by_terms)
        shown = (
            f"{_rounded((sizes if around else middle)[few])} on average with {counted(few, noun)} "
            f"({counted(often[few], unit)}), {_rounded((sizes if around else middle)[many])} with {many} "
            f"({counted(often[many], unit)})"
        )
        # What adds up on one side of zero grows like the number of terms, what is on both sides like its root.
        terms = math.sqrt(many / few) if around else many / few
        is_sum, grows = sizes[many] > (1 + terms) / 2 * sizes[few], sizes[many] > sizes[few]
        if around:
            how = "further" if is_sum else "hardly further" if grows else "no further"
            told = f"{about}lies on both sides of 0, {how} from it in larger teams: {shown}"
        elif is_sum:
            told = f"{about}grows with the size of teams: {shown}"
        elif grows:
            told = f"{about}grows less than the number of {noun}s: {shown}"
        else:
            told = f"{about}does not grow with the size of teams: {shown}"
        return Answer("totals", whole if is_sum else average, told)

    def _scale(self, guessed: Mapping[str, Any]) -> list[Answer]:
        if self.shape == "pairs":
            times, about, is_sum = self._ratings(), "", False
        else:
            is_sum = self.known.get("totals", guessed["totals"]) in _TERMS
            about = f"{' per pair' if is_sum else ''}; widen it if a single pair can go further"
            times = {}
            for terms, counts in self._by_terms.items():
                for value, count in counts.items():
                    each = value / terms if is_sum else value
                    times[each] = times.get(each, 0) + count
        # What is written is about a number of the table, which is a sum over pairs where those are added up.
        written = () if is_sum else (self._column("utility").name, *self.source.titles)
        stated = next(filter(None, map(stated_scale, written)), None)
        is_pairs, how = self.shape == "pairs", "is said to be the scale"
        if stated is None and written and (top := stated_top(written[0])) is not None:
            stated, how = scale_up_to(top, times, ratings=is_pairs), "ends where the name of the column says"
        scale = likely_scale(times, ratings=is_pairs, stated=stated, how=how)
        low, high = self.known.get("utility_range", (scale.low, scale.high))
        value, why = (low + high) / 2, "it is the middle of the scale"
        if self.shape != "pairs":
            value, why = self._alone(times, (low, high), is_sum=is_sum)
        return [
            Answer("utility_range", [low, high], scale.why + about),
            *self._direction((low, high)),
            *self._unit(),
            Answer("neutral", min(max(value, low), high), why),
        ]

    def _unit(self) -> list[Answer]:
        """Tell in what numbers are counted, where the name of their column says so."""
        unit = unit_in(self._column("utility").name)
        return [Answer("unit", unit, "its column is called so")] if unit or "unit" in self.known else []

    def _direction(self, scale: tuple[float, float]) -> list[Answer]:
        """Ask whether less is better where a name leaves that open, and guess it where the name says so."""
        header = self._column("utility").name
        if self._told is not None and (self._told[0] or may_mean_less(header, scale)):
            less, where = self._told
            return [Answer("lower_is_better", less, f"so says {where}")]
        if may_mean_less(header, scale):
            why = f"in a column {header!r} less may be better: {said(lower_is_better=True)} says so"
            return [Answer("lower_is_better", False, why, is_open=True)]
        return [Answer("lower_is_better", False, "")] if "lower_is_better" in self.known else []

    @property
    def _less(self) -> bool:
        """Whether less is better, as far as that is known."""
        known = self.known.get("lower_is_better")
        return self._told is not None and self._told[0] if known is None else bool(known)

    @cached_property
    def _told(self) -> tuple[bool, str] | None:
        """Whether less is better, if the header or what is above it says so, and which of them."""
        return direction_told(self._column("utility").name, self.source.titles)

    def _ratings(self) -> dict[float, int]:
        """How often each rating occurs; of very many different ones those at the ends, and the rest as one between."""
        (whole,) = self.engine.rows(queries.finite(self._view))
        count = int(whole["n"])
        if not count:
            raise InputError(f"the column {self._column('utility').name!r} holds no numbers, expected ratings")
        times: dict[float, int] = {}
        for order in ("ASC", "DESC"):
            found = self.engine.rows(queries.value_counts(self._view, VALUES // 2, order))
            times |= {float(row["utility"]): int(row["times"]) for row in found}
        if rest := count - sum(times.values()):
            values = sorted(times)
            between = (values[VALUES // 2 - 1] + values[VALUES // 2]) / 2
            times[between] = times.get(between, 0) + rest
        return times

    def _alone(self, times: Mapping[float, int], limits: tuple[float, float], *, is_sum: bool) -> tuple[float, str]:
        """Return what working alone is worth, and why: what those got who did, else what is usual.

        What somebody got alone is on the scale of averages, but is no sum over pairs. What is outside of the scale is
        something else, and so is what is called as rows that sum others up.
        """
        names = () if self.known.get("summaries") == "keep" else ("agent", "coalition")
        (found,) = self.engine.rows(shape_queries.solo(self._view, self._view, limits, names))
        summed, every, count = (int(found[name]) for name in ("summaries", "every", "n"))
        decimals = max(0, 2 - math.floor(math.log10((max(times) - min(times)) or 1.0)))
        low, high = (number(end) for end in limits)
        without = f" (without {summed:,} in rows that are called as if they summed others up)" if summed else ""
        outside = f"{every - count:,} of {every:,} {'is' if every - count == 1 else 'are'} outside of {low} to {high}"
        if count >= FEW_SOLOS and 2 * count >= every and not is_sum:
            mean = round(float(found["mean"]), decimals)
            told = f"{count:,} numbers are of people on their own, {number(mean)} on average{without}"
            return mean, f"{told}, not counting that {outside}" if every > count else told
        inside = {value: often for value, often in times.items() if limits[0] <= value <= limits[1]}
        mean = round(_mean(inside or times), decimals)
        lack = f"there are {'too few' if every else 'no'} numbers of people on their own{without}"
        if every and is_sum:
            lack = "numbers of people on their own are no sums over pairs"
        elif every > 2 * count:
            lack = f"numbers of people on their own do not count, since {outside}{without}"
        per_pair, better = " per pair" if is_sum else "", "below" if self._less else "above"
        return mean, f"{lack}, and {number(mean)} is the average{per_pair}: what is {better} it is better than usual"


def _mean(times: Mapping[float, int]) -> float:
    return sum(value * count for value, count in times.items()) / sum(times.values())


def _mean_size(times: Mapping[float, int]) -> float:
    return sum(abs(value) * count for value, count in times.items()) / sum(times.values())


def _is_around_zero(by_terms: Mapping[int, Mapping[float, int]]) -> bool:
    """Return whether a fair share of numbers is above zero, and of others below."""
    times = [found for every in by_terms.values() for found in every.items()]
    count = sum(often for _, often in times)
    above, below = (sum(often for value, often in times if sign * value > 0) for sign in (1, -1))
    return ON_BOTH_SIDES * min(above, below) >= count


def _rounded(value: float) -> str:
    return number(float(f"{value:.3g}"))
