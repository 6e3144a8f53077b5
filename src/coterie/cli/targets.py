"""Where results are written to: files of several kinds, looked at before any work is done."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from coterie import checks
from coterie.cli.output import complain, messages
from coterie.errors import CoterieError, InputError
from coterie.files import status, whole_file
from coterie.log.names import as_known
from coterie.log.tables import is_of_log
from coterie.spreadsheets import file_and_sheet
from coterie.words import said, some

if TYPE_CHECKING:
    from coterie.learn.result import Result
    from coterie.statistics.statistics import Statistics

KINDS: dict[str, str] = {
    ".json": "the result",
    ".csv": "teams as a table, which can be read again as an assignment",
    ".xlsx": "teams as a workbook",
    ".html": "the report",
}
"""What is written by extension."""

ANNOUNCEMENT = "teams alone, to send to everybody"
"""What is written where it is asked for."""


class Target(NamedTuple):
    """A file to write, and what into it: a word of `KINDS`, or `ANNOUNCEMENT`."""

    path: Path
    kind: str


MOST_NAMED = 12
"""So many people are named in a refusal."""

Out = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Write the result (.json), teams (.csv, .xlsx) or a report (.html); repeatable."),
]
Report = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report page, as --out FILE.html does.")]
Announce = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a page of the teams alone, to send to everybody: no values of people."),
]


def _text(param: typer.CallbackParam, value: str) -> str:
    return checks.writable(value, f"--{param.name}: ")


Title = Annotated[
    str, typer.Option(metavar="TEXT", callback=_text, help="What the report and the announcement are called.")
]
Date = Annotated[
    str, typer.Option(metavar="TEXT", callback=_text, help="The date under their title, in your own words.")
]
Details = Annotated[
    bool,
    typer.Option("--details", help="Print everything: all people, warnings, words."),
]
Explain = Annotated[str | None, typer.Option(metavar="NAME", help="All about one person, by name or its beginning.")]


def whom(name: str | None, agents: Sequence[str], wishes: Mapping[str, Any] | None = None) -> str | None:
    """Return who is to be explained: by their name, or by how it begins if nobody else's does.

    Somebody whom neither the log nor the staff knows is refused before any work is done.
    """
    staff = wishes["rules"].staff if wishes and "rules" in wishes else None
    spelled = as_known(staff or (), agents)
    everybody: list[str] = list(dict.fromkeys([*agents, *(spelled.get(one, one) for one in staff or ())]))
    if name is None:
        return None
    close = checks.meant(name, everybody)
    if len(close) == 1:
        return close[0]
    if close:
        raise InputError(f"{said(explain=name)}: could be {some(close, MOST_NAMED)}; give the whole name")
    checks.index_of(name, everybody, f"person in {said('explain')}")
    return name


def targets_of(out: Sequence[Path] | None, report: Path | None = None, announce: Path | None = None) -> list[Target]:
    """Return the files that were asked for, if they can be written."""
    pages = [(path, option) for path, option in ((report, "report"), (announce, "announce")) if path is not None]
    found: list[Target] = []
    for path, option in [*((path, "out") for path in out or ()), *pages]:
        kinds = {"report": {".html": KINDS[".html"]}, "announce": {".html": ANNOUNCEMENT}}.get(option, KINDS)
        _refuse_unwritable(path, option, kinds)
        if _real(path) in {_real(other.path) for other in found}:
            raise InputError(f"{said(**{option: path})}: is asked for twice")
        found.append(Target(path, kinds[path.suffix.lower()]))
    return found


def spare(log: Path, given: Mapping[str, Any]) -> None:
    """Refuse to write over what is read: logs, rules, staff and today's teams cannot be made again from a result."""
    others = [given.get(name) for name in ("rules", "staff", "today", "strategy_file")]
    read = {_real(one) for one in (log, *others) if one is not None}
    for option in ("out", "report", "announce"):
        for path in given.get(option) or () if option == "out" else filter(None, [given.get(option)]):
            if (real := _real(path)) in read or (real.parent == _real(log) and is_of_log(real.name)):
                raise InputError(f"{said(**{option: path})}: belongs to what is read here; write somewhere else")


def _real(path: Path) -> Path:
    """Return where a path leads; not `resolve`, which fails where links lead to each other."""
    return Path(os.path.realpath(file_and_sheet(path)[0]))


def _refuse_unwritable(path: Path, option: str, known: Mapping[str, str]) -> None:
    given, folder = said(**{option: path}), _real(path).parent
    status(path)
    if path.is_dir():
        raise InputError(f"{given}: is a folder")
    if path.suffix.lower() not in known:
        kinds = ", ".join(f"{kind} ({what})" for kind, what in known.items())
        raise InputError(f"{given}: what is written goes by the extension, expected {kinds}")
    if not folder.is_dir():
        raise InputError(f"{given}: there is no such folder")
    if path.is_block_device() or path.is_socket():
        raise InputError(f"{given}: is a disk or a socket")
    if path.exists() and not path.is_file():  # a pipe is written to when everything is done, and not replaced
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{given}: the folder {folder} cannot be written to")


def write_all(targets: Sequence[Target], result: "Result", statistics: "Statistics | None" = None) -> list[str]:
    """Write a result to every target, elsewhere where that fails; return what was written where it was asked for."""
    done = [target for target in targets if _written(target, result, statistics)]
    return [f"{path} ({kind})" for path, kind in done]


def _written(target: Target, result: "Result", statistics: "Statistics | None") -> bool:
    """Write one file; return whether it is where it should be."""
    path, write = target.path, _writer(target.kind, result, statistics)
    try:
        with whole_file(path) as temporary:
            write(temporary)
    except OSError as problem:
        _elsewhere(path, write, problem.strerror or str(problem))
        return False
    except CoterieError as problem:  # that would be the same elsewhere
        complain(f"{path}: {problem}")
        return False
    return True


def _elsewhere(path: Path, write: Callable[[Path], None], why: str) -> None:
    """Write what cannot be written where it should be to a new folder, so that no work is lost, and say where."""
    for place in (tempfile.gettempdir, Path.cwd, Path.home):
        try:
            kept = Path(tempfile.mkdtemp(prefix="result-of-coterie-", dir=place())) / path.name
            write(kept)
        except (OSError, RuntimeError):  # the latter where nobody knows of a home
            continue
        complain(f"{path}: cannot be written ({why}); it is in {kept} instead")
        return
    complain(f"{path}: cannot be written ({why}), nor anywhere else")


def _writer(kind: str, result: "Result", statistics: "Statistics | None") -> Callable[[Path], None]:
    from coterie.report import announcement_html, report_html, teams_csv, write_teams_xlsx

    def write(path: Path) -> None:
        if kind == KINDS[".json"]:
            path.write_text(result.file_content(), encoding="utf-8")
        elif kind == KINDS[".csv"]:
            path.write_text(teams_csv(result), encoding="utf-8", newline="")
        elif kind == KINDS[".xlsx"]:
            write_teams_xlsx(result, path)
        elif kind == ANNOUNCEMENT:
            path.write_text(announcement_html(result), encoding="utf-8")
        else:
            path.write_text(report_html(result, statistics), encoding="utf-8")

    return write


def say_written(written: Sequence[str], *, quiet: bool) -> None:
    """Say which files were written."""
    if written and not quiet:
        messages.print(f"Wrote {', '.join(written)}.")
