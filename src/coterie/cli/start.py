"""`coterie start`: from a table to a log, by guesses that say why, and questions."""

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from coterie.cli.log_options import describes_log
from coterie.cli.output import aligned, messages, printable, results, short, wrapped
from coterie.errors import InputError
from coterie.files import is_free
from coterie.game.game import Value
from coterie.game.rules import read_staff
from coterie.log import Log, read_log
from coterie.log.options import Duplicates, Totals, call_options
from coterie.log.schema import NO_COLUMN, Named, names_of
from coterie.log.start import LABELS, SHAPES, Answer, Guess, start
from coterie.log.teams_seen import teams_seen
from coterie.spreadsheets import SPREADSHEETS
from coterie.words import counted, in_shell, number, said

NONE = "none"
"""What is shown, and may be answered, where there is nothing in a list."""

LISTED = 40
"""How many columns of a table are shown."""


LATER = ("since", "until", "engine", "memory_limit", "missing", "feedback", "sigma", "symmetrize")
"""Options of a log that are for the commands that learn from it: what is guessed is guessed of the whole table."""


@describes_log(*LATER)
def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A spreadsheet, CSV or Parquet file.")],
    *,
    declared: dict[str, Any],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the guesses, ask nothing.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; a new one named like the table by default.")
    ] = None,
    value: Annotated[Value | None, typer.Option(help="What a team is worth to a member, over teammates.")] = None,
) -> None:
    """Make a log of a table: guess what is what, say why, ask, and write a folder that every command takes.

    What is said with options is not guessed.
    """
    if not yes and not sys.stdin.isatty() and table.exists():  # one that is not there is told to be missing
        raise InputError("coterie start asks questions on a terminal, and this is none; say --yes to take its guesses")
    folder = Path(table.stem) if out is None else out
    if not table.is_dir() and not is_free(folder):
        raise InputError(_taken(folder, table))
    guess = start(table, **declared, **({} if value is None else {"value": value}))
    for line in _columns(guess):
        results.print(line)
    if not yes:
        for line in _refused(guess):
            messages.print(line)
        results.print("\nEnter takes the answer in brackets.")
        guess = _asked(guess)
    for line in _guesses(guess):
        results.print(line)
    log = guess.write(folder)
    for note in log.notes:
        for line in wrapped(note, "  - ", "    "):
            messages.print(line)
    copied = next(one.name for one in sorted(folder.iterdir()) if one.name != "log.json")
    results.print(f"\nWrote {folder}: {copied}, a copy of the table, and log.json, which says all this.\nGo on with")
    for line in _next(log, folder, _beside(guess, log)):
        results.print(line, soft_wrap=True)


def _refused(guess: Guess) -> Iterator[str]:
    """Yield what is wrong with the table by what is guessed, which is better known before any question."""
    try:
        read_log(guess.path, **guess.options)
    except InputError as problem:
        helps = "If the table is wrong, stop with Ctrl-C and correct it first; if a guess is, answer otherwise"
        yield ""
        for text in (*f"As guessed it would be refused: {problem}".splitlines(), f"{helps}."):
            yield from wrapped(text, "", "  ")


def _beside(guess: Guess, log: Log) -> dict[str, str]:
    """Return which other sheets of a workbook options may name."""
    if guess.path.suffix.lower() not in SPREADSHEETS or guess.sheet is None:
        return {}
    from coterie.learn.beside import sheets_beside  # here, since most tables are alone

    return sheets_beside(guess.path, str(guess.sheet), log)


def _next(log: Log, folder: Path, beside: dict[str, str]) -> Iterator[str]:
    """Yield what to type next, with sizes of teams as they were seen, and what it does."""
    seen, place = teams_seen(log), in_shell(str(folder))
    everybody = len(log.agents)
    if "staff" in beside:
        everybody = len(read_staff(beside["staff"], log.called, log.agents).staff or ())
        seen = replace(seen, people=everybody)
    usual = " to ".join(map(str, dict.fromkeys(seen.usual)))
    sizes = seen.bounds(len(log.coalitions))
    teams = ("up to " if sizes.startswith("0,") else "") + counted(len(log.coalitions), "team")
    yield f"  coterie inspect {place}"
    single = " --per-person 1" if seen.is_one_each else ""
    sheets = "".join(f" --{name} {in_shell(path)}" for name, path in beside.items())
    yield f"  coterie learn {place} --team-size {sizes}{single}{sheets} --report report.html"
    people = counted(everybody, "person", "people")
    so_far = f"Teams so far had {usual} members as a rule, and {said('team_size')} takes what you want"
    if not seen.are_known:
        so_far = (
            f"How large teams were is not known: {said('team_size')} takes what you want, and {said('coalitions')} how "
            "many there are to be"
        )
    text = (
        f"which forms {teams} for {people} and writes a page to look at; it shows what people are worth to each other, "
        f"and {said(announce='teams.html')} writes one of the teams alone, to mail to everybody. {so_far}"
    )
    if single:
        text += f". {seen.now_and_then()}; leave that out if two are fine, or correct the table if these are slips"
    yield from wrapped(text, "", "")


def _taken(folder: Path, table: Path) -> str:
    """Return what helps where there is something already."""
    # Where there is a folder that has no name of its own, as . has none, another one is made in it.
    named = folder if folder.name.strip(".") else folder / table.stem
    other = next(one for i in count(2) if not (one := named.with_name(f"{named.name}-{i}")).exists())
    anew = f"coterie start {in_shell(str(table))} --out {in_shell(str(other))} writes another folder"
    if not folder.is_dir() or not (folder / "log.json").exists():
        return f"{folder}: already exists and is not an empty folder; {anew}"
    return (
        f"{folder}: already holds a log, perhaps from an earlier start; coterie inspect {in_shell(str(folder))} "
        f"goes on with it, {anew}, or delete {folder} to make it anew"
    )


def _columns(guess: Guess) -> Iterator[str]:
    place = f"{guess.path}, sheet {guess.sheet!r}" if guess.sheet else str(guess.path)
    yield f"{place}: {counted(guess.rows, 'row')}, {counted(len(guess.columns), 'column')}"
    if guess.titles:
        yield from wrapped(guess.titles, "  ", "  ")
    rows = [("column", "filled", "different", "such as")]
    for column in guess.columns[:LISTED]:
        examples = ", ".join(short(value, 16) for value in column.examples)
        rows.append((short(column.name), f"{column.filled:,}", f"{column.distinct:,}", examples))
    yield from aligned(rows, left=(0, 3))


def _guesses(guess: Guess) -> Iterator[str]:
    yield f"\nIt is read as {SHAPES[guess.shape]}"
    yield from aligned(
        [(f"{LABELS[one.name]} ({one.name})", _worded(one.value), one.why) for one in (*guess.parts, *guess.answers)],
        left=(0, 1, 2),
    )
    yield from wrapped(
        f"If anything is wrong, say so with its name: {said(columns={'sample': 'COLUMN'})} for a column, "
        f"{said('neutral')} and the like for the rest (coterie start --help).", "", "",
    )  # fmt: skip


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        ends = [number(end) for end in value if isinstance(end, (int, float))]
        return " to ".join(ends) if ends else ", ".join(value) or NONE
    return number(value) if isinstance(value, (int, float)) else short(str(value)) or NONE


def _asked(guess: Guess) -> Guess:
    """Return the guess with the answers of whoever sits at the terminal; the rest is guessed anew from each.

    An answer that was taken as it was offered keeps its reason.
    """
    names = {column.name.casefold(): column.name for column in guess.columns}
    names |= {one.value: one.value for one in guess.parts if one.value in NO_COLUMN}
    chosen: dict[str, Named] = {}
    taken: list[Answer] = []
    for one in guess.parts:
        taken_for = {name.casefold(): LABELS[role] for role, named in chosen.items() for name in names_of(named)}
        read = _columns_of(names, taken_for) if one.name == "members" else _one_of(names, taken_for)
        chosen[one.name] = _prompt(one, read)
        taken += [one] if chosen[one.name] == one.value else []
    known: dict[str, Any] = {**guess.known, "sheet": guess.sheet, "columns": chosen}
    guess = start(guess.path, **known)
    place = 0
    while place < len(guess.answers):
        one = guess.answers[place]
        place += 1
        known[one.name] = _prompt(one, _reader(one, guess))
        taken += [one] if _worded(known[one.name]) == _worded(one.value) else []
        guess = start(guess.path, **known)  # what is the middle of a scale depends on the scale
    return guess.keeping(taken)


def _prompt(one: Answer, read: Any) -> Any:
    asked = f"\n{one.question}\n  ({printable(one.why)})"
    return typer.prompt(asked, default=_worded(one.value), value_proc=read, err=True)


def _one_of(names: dict[str, str], taken_for: dict[str, str]) -> Any:
    """Return what reads a column that was not taken for something else; several may have none."""

    def read(given: str) -> str:
        name = given.strip().casefold()
        if name not in names:
            there = ", ".join(map(printable, names.values()))
            raise typer.BadParameter(f"there is no column {given!r}; there are: {there}")
        if name in taken_for and name not in NO_COLUMN:
            raise typer.BadParameter(f"{names[name]!r} says {taken_for[name]} already; say another column")
        return names[name]

    return read


def _columns_of(names: dict[str, str], taken_for: dict[str, str]) -> Any:
    """Return what reads one column, or several with commas between them."""

    def read(given: str) -> Named:
        one_of = _one_of(names, taken_for)
        if given.strip().casefold() in names:
            return str(one_of(given))
        several = tuple(dict.fromkeys(map(one_of, given.split(","))))
        return several if len(several) > 1 else several[0]

    return read


def _reader(one: Answer, guess: Guess) -> Any:
    """Return what reads the answer to a question about what is guessed otherwise so."""
    if isinstance(one.value, bool):
        return _yes_or_no
    if one.name in WORDS:
        return _word_of(WORDS[one.name])
    if one.name == "separators":
        return _separators
    if one.name == "unit":
        return str
    if one.name in {"coalitions", "blank_words", "absent_words"}:
        return _whole if one.name == "coalitions" else _words
    if one.name == "utility_range":
        return _range
    low, high = next(other.value for other in guess.answers if other.name == "utility_range")
    return _number_within(low, high)


WORDS = {"totals": Totals, "value": Value, "duplicates": Duplicates}
"""What is answered with one of several words."""


def _yes_or_no(given: str) -> bool:
    word = given.strip().casefold()
    if word not in {"y", "yes", "n", "no"}:
        raise typer.BadParameter("say yes or no")
    return word.startswith("y")


def _word_of(choices: Any) -> Any:
    """Return what reads one of the words of a `Literal`."""

    def read(given: str) -> str:
        if given.strip().casefold() not in get_args(choices):
            raise typer.BadParameter(f"say one of: {', '.join(get_args(choices))}")
        return given.strip().casefold()

    return read


def _separators(given: str) -> str:
    try:
        return str(call_options({"separators": given})["separators"])
    except InputError as problem:
        raise typer.BadParameter(str(problem)) from None


def _range(given: str) -> list[float]:
    ends = given.replace(" to ", " ").split()
    if len(ends) != 2 or not _number(ends[0]) < _number(ends[1]):
        raise typer.BadParameter("say two numbers, the lower one first, such as 1 to 5")
    return [_number(end) for end in ends]


def _words(given: str) -> tuple[str, ...]:
    return () if given.strip() == NONE else tuple(call_options({"blank_words": given}).get("blank_words", ()))


def _whole(given: str) -> int:
    if not given.strip().isdecimal() or int(given) < 1:
        raise typer.BadParameter(f"{given!r} is no whole number from 1 on")
    return int(given)


def _number_within(low: float, high: float) -> Any:
    """Return what reads a number on a scale."""

    def read(given: str) -> float:
        if not low <= (value := _number(given)) <= high:
            raise typer.BadParameter(f"{number(value)} is outside of the scale, {number(low)} to {number(high)}")
        return value

    return read


def _number(given: str) -> float:
    try:
        value = float(given.strip().replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise typer.BadParameter(f"{given!r} is no number")
    return value
