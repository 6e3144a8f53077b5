"""The options about teams: rules, values, notions, goals and today, for every command that they make sense for."""

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.enums import with_parameters
from coterie.cli.output import messages, printable
from coterie.errors import InputError
from coterie.game.game import Value
from coterie.game.rules import LeftBehind, Rules, read_staff
from coterie.game.steps import Stability
from coterie.game.tables import sheet_among_others
from coterie.learn.wishes import Goal
from coterie.log import Log

ANY = "any"
"""The team size that allows sizes never seen."""

Several = list[str] | None


def _option(kind: Any, *names: str, metavar: str | None = None, help: str) -> Any:  # noqa: A002  (typer's word)
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=help)]


RULES: dict[str, Any] = {
    "rules": _option(
        Path | None, metavar="FILE", help="A rules.json, or a table rule, value; the options below add to it."
    ),
    "team_size": _option(
        Several, metavar="6:8", help="Members of a team: 6:8, Finance=5:9, 0,6:8 (or nobody), any; repeat for more."
    ),
    "per_person": _option(str | None, metavar="1:2", help="Teams per person."),
    "together": _option(Several, metavar="A,B", help="People who share a team; A,B@Finance for a named one."),
    "apart": _option(Several, metavar="A,B", help="People who do not share a team; A,B@Finance for a named one."),
    "fix": _option(Several, metavar="A=Finance", help="Somebody is in a team."),
    "ban": _option(Several, metavar="A=Finance", help="Somebody is not in a team."),
    "staff": _option(
        Path | None, metavar="FILE", help="A table (CSV, .xlsx) of who is to be assigned, with labels for quotas."
    ),
    "quota": _option(Several, metavar="site=Paris>=1", help="Members with a label, in each team or @Finance."),
    "left_behind": _option(
        LeftBehind | None,
        help="strict: nobody may leave too few behind; free: the smallest size does not bind leavers.",
    ),
}

TODAY: dict[str, Any] = {
    "today": _option(Path | None, metavar="FILE", help="Who is where today: a table or a result."),
    "keep_sizes": _option(bool, "--keep-sizes", help="Every team keeps the size that it has today."),
    "max_moves": _option(int | None, metavar="N", help="At most so many people change something against today."),
}

STAYING: dict[str, Any] = {name: TODAY[name] for name in ("today", "keep_sizes")}
"""The same without the limit on moves, which commands that plan samples call by another name."""

BETWEEN: dict[str, Any] = {
    "keep_sizes": _option(bool, "--keep-sizes", help="It is a rule that every team keeps the size that it has before."),
    "max_moves": _option(int | None, metavar="N", help="It is a rule that at most so many people change something."),
}
"""Rules about the way from one assignment to another, where both are given."""

JUDGED: dict[str, Any] = {
    "value": _option(
        Value | None,
        help="A team is worth the total over the others, or their average. [what the log says, else total]",
    ),
    "stability": _option(
        Stability | None, help="Which steps teams must hold against. [swap where sizes are bounded, else nash]"
    ),
}

GOAL: dict[str, Any] = {
    "goal": _option(Goal | None, help="What counts: value, less what moving gains; being sure; or whoever has least."),
}


def about_teams(*groups: dict[str, Any]) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Give a command the options of some groups; it gets `wishes`, the keywords of `coterie.StableLearner`."""
    offered = {name: kind for group in groups for name, kind in group.items()}

    def decorate(command: Callable[..., int | None]) -> Callable[..., int | None]:
        parameters = list(inspect.signature(command).parameters.values())
        theirs = [entry for entry in parameters if entry.name != "wishes"]
        ours = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=False if name == "keep_sizes" else None, annotation=kind
            )
            for name, kind in offered.items()
        ]

        @functools.wraps(command)
        def run(log: Log, *given: Any, **named: Any) -> int | None:
            said = {name: named.pop(name, None) for name in offered}
            wishes = wishes_from(said, log)
            if said.get("staff") is not None and not named.get("quiet"):
                say_sheet("The staff", said["staff"], log, "agent")
            return command(log, *given, wishes=wishes, **named)

        # What other decorators look at: the parameters that there are now.
        before = [entry for entry in theirs if entry.default is inspect.Parameter.empty]
        after = [entry for entry in theirs if entry.default is not inspect.Parameter.empty]
        return with_parameters(run, [*before, *ours, *after])

    return decorate


def say_sheet(what: str, path: Path, log: Log, *roles: str) -> None:
    """Say which sheet of a workbook is read, where it has several."""
    file, sheet = sheet_among_others(path, roles, log.called)
    if sheet is not None:
        messages.print(printable(f"{what} was read from the sheet {sheet!r} of {file}."))


def say_sheet_of_teams(path: Path, log: Log) -> None:
    """The same for an assignment."""
    say_sheet("Who is where", path, log, "agent", "coalition")


def wishes_from(said: dict[str, Any], log: Log) -> dict[str, Any]:
    """Return the keywords of `coterie.StableLearner` that options stand for; `log` knows who is in tables."""
    sizes = _listed(said.get("team_size"))
    bounds = [size for size in sizes if size != ANY]
    given: dict[str, Any] = {
        "team_size": bounds,
        "together": _listed(said.get("together")),
        "apart": _listed(said.get("apart")),
        "fix": _listed(said.get("fix")),
        "ban": _listed(said.get("ban")),
        "quota": _listed(said.get("quota")),
        "per_person": said.get("per_person"),
        "max_moves": said.get("max_moves"),
        "left_behind": said.get("left_behind"),
    }
    if ANY in sizes and bounds:
        raise InputError(f"--team-size: either {ANY} or bounds, not both")
    rules = Rules() if said.get("rules") is None else Rules.load(said["rules"])
    if said.get("staff") is not None:
        rules = rules + read_staff(said["staff"], log.called, log.agents)
    rules = rules + Rules(**{name: value for name, value in given.items() if value not in (None, [])})
    kept = {name: said[name] for name in ("value", "stability", "goal", "today") if said.get(name) is not None}
    kept |= {name: True for name in ("keep_sizes",) if said.get(name)}
    return {**({"rules": rules} if rules else {}), **kept, **({"any_size": True} if ANY in sizes else {})}


def _listed(values: Iterable[str] | None) -> list[str]:
    return list(values or ())
