"""`coterie demo`: a simulated consulting firm, from its records to everybody's teams and a report."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coterie.cli.learn import TimeLimit, search_progress
from coterie.cli.output import at_work, messages, results, wrapped
from coterie.words import in_shell, signed

if TYPE_CHECKING:
    from coterie.learn.result import Result
    from coterie.simulate.records import Records


def command(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write records, result and report here, a new folder; by default a folder for temporary files."
        ),
    ] = None,
    time_limit: TimeLimit = None,
) -> int:
    """Learn stable teams from the records of a simulated consulting firm, and write a report."""
    from coterie.cli.result_text import brief
    from coterie.cli.targets import say_written, targets_of, write_all
    from coterie.game.rules import Rules
    from coterie.learn.learner import StableLearner
    from coterie.simulate import demo
    from coterie.solve.control import Control

    Control(time_limit=time_limit)  # refuses what is no limit before anything is written
    _say(
        f"A consulting firm, made up: {len(demo.CONSULTANTS)} consultants, {len(demo.DOMAINS)} areas, up to "
        f"{demo.MOST_TEAMS} of them a day each. For {demo.DAYS:,} days any two who shared an area rated the day there "
        f"together, from 1 to 5 stars. {demo.LEAVER} has left. {' and '.join(demo.COUPLE)} work well together in "
        f"{demo.LIKED[0]} and badly in {demo.HATED[0]}. Teams of {demo.SMALLEST} to {demo.LARGEST} people are wanted."
    )
    results.print()
    folder = Path(tempfile.mkdtemp(prefix="demo-of-coterie-")) / "firm" if out is None else out
    with at_work("Making up records"):
        records = demo.firm_records()
        records.write_log(folder)
    with search_progress(quiet=False) as told:
        learner = StableLearner(
            rules=Rules(team_size=f"{demo.SMALLEST}:{demo.LARGEST}", staff=records.staff), today=records.today,
            time_limit=time_limit, progress=told,
        ).fit(folder)  # fmt: skip
    result = learner.result_
    with at_work("Writing the report"):
        targets = targets_of([folder / "result.json", folder / "teams.xlsx", folder / "report.html"])
        written = write_all(targets, result, learner.statistics_)
    for line in brief(result):
        results.print(line)
    results.print()
    for text in _truth(records, result):
        _say(text)
    messages.print()
    say_written(written, quiet=False)
    us, place = _program(), in_shell(str(folder))
    result_file, today, staff = (in_shell(str(folder / name)) for name in ("result.json", "today.csv", "staff.csv"))
    messages.print(
        f"Open {folder / 'report.html'} in a browser: it has everybody's card, and answers what-if questions.\n"
        "What to try next\n"
        f"  {us} inspect {place}\n"
        f"  {us} report {result_file} --explain {demo.COUPLE[0]}\n"
        f'  {us} what-if {place} {today} "Sanjay: energy + retail" --staff {staff}\n'
        f"  {us} learn {place} --team-size {demo.SMALLEST}:{demo.LARGEST} --staff {staff} "
        f"--today {today} --max-moves 6\n"
        f"  {us} start YOUR-TABLE.xlsx"
    )
    if len(written) < len(targets):
        return 1
    return 130 if result.solver.status == "interrupted" else 0


def _program() -> str:
    """Return how this program is called from here: by its name, or by its place where that is on no path."""
    called = Path(sys.argv[0])
    if called.name != "coterie" or not called.exists() or shutil.which("coterie"):
        return "coterie"
    return os.path.relpath(called)


def _say(text: str) -> None:
    for line in wrapped(text, "", ""):
        results.print(line)


def _truth(records: "Records", result: "Result") -> Iterator[str]:
    """Yield what became of the couple, and what is known because the firm is made up."""
    from coterie.cli.evaluate import holds
    from coterie.simulate.demo import COUPLE, HATED, LIKED

    one, two = (set(result.strategy.actions[name]) for name in COUPLE)
    met = [f"together in {area}" if area in one & two else f"not together in {area}" for area, _ in (LIKED, HATED)]
    yield f"{' and '.join(COUPLE)} are {' and '.join(met)}."
    game = records.truth
    gap = game.gap(result.strategy, result.stability, result.rules)
    assert result.today is not None
    better = float((game.values(result.strategy) - game.values(result.today.strategy)).sum()) / len(records.staff)
    held = "held" if holds(gap, result.certificate.gap, game.rounding) else "did NOT hold"
    yield (
        "The firm is made up, so the truth is known: the most that anybody really gains by moving or swapping "
        f"is {gap:.2g}. The promise {held}. The teams are really worth {signed(better)} stars per person against today."
    )
