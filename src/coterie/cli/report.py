"""`coterie report`: a result as a page, a table or a workbook, or one person's card."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli.log_options import describes_log
from coterie.cli.output import at_work
from coterie.cli.targets import (
    Announce,
    Date,
    Explain,
    Out,
    Title,
    say_written,
    spare,
    targets_of,
    whom,
    write_all,
)
from coterie.errors import InputError
from coterie.words import said, some

if TYPE_CHECKING:
    from coterie.learn.result import Result
    from coterie.statistics.statistics import Statistics


@describes_log()
def command(
    result_file: Annotated[Path, typer.Argument(metavar="RESULT", help="A result file of learn or certify.")],
    *,
    declared: dict[str, Any],
    out: Out = None,
    announce: Announce = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="LOG", help="The log that the result is about: shows its evidence and answers what if."),
    ] = None,
    explain: Explain = None,
    title: Title = "",
    date: Date = "",
) -> int:
    """Turn a result into a page that explains itself, into tables of teams, or print one person's card.

    A page made with --log also shows the evidence, and lets its reader move people and see what that would change. How
    the log is read is taken from the result; options that describe a log say what the result does not hold.
    """
    from coterie.cli.result_text import show_card
    from coterie.learn.result import Result

    targets = targets_of(out, announce=announce)
    if log is not None:
        spare(log, {"out": out, "announce": announce})
    if not targets and explain is None:
        raise InputError(f"say what to write, {said(out='report.html')}, or whom to explain, {said('explain')}")
    result = Result.load(result_file)
    if announce is not None and not result.strategy.is_pure:
        raise InputError(
            f"{said('announce')} tells who is where, and in {result_file} people draw between several teams"
        )
    explain = whom(explain, result.strategy.agents)
    unit = declared.get("unit", result.unit)
    result = replace(result, unit=unit, title=title or result.title, date=date or result.date)
    statistics = None
    if log is not None:
        with at_work("Reading the log"):
            statistics = _statistics(result, log, declared)
    written = write_all(targets, result, statistics)
    if explain is not None:
        show_card(result, explain)
    say_written(written, quiet=False)
    return 0 if len(written) == len(targets) else 1


STRANGERS = 3
"""So many people are named whom a result does not know."""

RECORDED = (
    "utility_range",
    "neutral",
    "lower_is_better",
    "sigma",
    "symmetric",
    "pool_coalitions",
    "missing",
    "since",
    "until",
    "adaptive",
)
"""What a result holds of how its log was read."""

SCALE, PERIOD = ("utility_range", "neutral", "lower_is_better", "sigma"), ("since", "until")
"""Of these, what has no say in who is in a log, and what has."""


def _statistics(result: "Result", log: Path, declared: dict[str, Any]) -> "Statistics":
    """Read the log as it was read for the result; another one is refused."""
    from coterie.learn.wishes import wishes_about
    from coterie.log import read_log
    from coterie.statistics.statistics import Statistics

    recorded = {name: getattr(result.data, name) for name in RECORDED}
    recorded["actions"] = result.data.actions
    if result.data.pool_coalitions:
        recorded["coalitions"] = len(result.strategy.coalitions)
    options = {name: value for name, value in recorded.items() if value is not None} | declared
    try:
        source = read_log(log, **options)
        statistics = Statistics.for_learning(
            source, sizes=result.data.sizes, noise=result.data.noise, seed=result.seed or 0, parts=(1.0,)
        )
    except InputError:
        # What does not suit the scale of the result is said of the log that the result is about, and of no other.
        period = {name: recorded[name] for name in PERIOD if recorded[name] is not None}
        if strangers := _strangers(result, _people(log, period | declared)):
            raise _another(log, strangers) from None
        raise
    wider, _ = wishes_about(statistics, rules=replace(result.rules, max_moves=None))
    if result.data.log_sha256 not in {None, wider.log_sha256, statistics.log_sha256}:
        raise _another(log, _strangers(result, statistics.agents))
    if (wider.agents, wider.coalitions) != (result.strategy.agents, result.strategy.coalitions):
        raise InputError(f"{said(log=log)}: has other people or coalitions than the result")
    return statistics


def _people(log: Path, options: dict[str, Any]) -> tuple[str, ...]:
    """Return who is in a log that is read with some options but with its own scale; nobody if it cannot be."""
    from coterie.log import read_log

    try:
        return read_log(log, **{name: value for name, value in options.items() if name not in SCALE}).agents
    except InputError:
        return ()


def _strangers(result: "Result", agents: Sequence[str]) -> list[str]:
    """Return those whom the result does not know."""
    known = set(result.strategy.agents)
    return [name for name in agents if name not in known]


def _another(log: Path, strangers: Sequence[str]) -> InputError:
    """Return the refusal of a log that is not that of the result, or was not read like it."""
    names = f"{some(strangers, STRANGERS)} {'is' if len(strangers) == 1 else 'are'} not in the result"
    return InputError(
        f"{said(log=log)}: is not the log that the result is about, or was read otherwise"
        f"{f' ({names})' if strangers else ''}; give the options that it was read with"
    )
