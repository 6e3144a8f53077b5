"""The options that describe a log, shared by every command that reads one: made from the table of `log.options`."""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any

import typer

from coterie import from_scipy
from coterie.cli.enums import with_parameters
from coterie.cli.output import at_work
from coterie.cli.panels import HELP_ALL
from coterie.cli.targets import spare
from coterie.log import options, read_log
from coterie.log.options import Option, Word
from coterie.words import in_shell, number

OTHER_NAMES = {
    "random_state": "--seed",
    "any_size": "--team-size any",
    "n_agents": "--agents",
    "n_coalitions": "--coalitions",
    "n_samples": "--samples",
}
"""Options of Python that have another name here."""

LOG = Annotated[str, typer.Argument(metavar="LOG", help="A folder with tables, or one file of pairs.")]


def command_line(said: Mapping[str, Any]) -> str:
    """Return options as they are given on the command line, see `coterie.words.said`.

    >>> command_line({"utility_range": (1.0, 5.0), "neutral": 3, "symmetric": False, "random_state": ...})
    '--utility-range 1 5 --neutral 3 --asymmetric --seed'
    >>> command_line({"separators": "& and"}), command_line({"pool_coalitions": False})
    ('--separators "& and"', '--no-pool-coalitions')
    >>> print(command_line({"columns": {"utility": "Time taken (mins)"}}))
    --columns "utility=Time taken (mins)"
    """
    return " ".join(_spelled(name, value) for name, value in said.items())


def _spelled(name: str, value: Any) -> str:
    if isinstance(value, bool):
        option = options.TABLE.get(name)
        other = None if option is None or option.word is None else option.word.other
        return other if other is not None and not value else _name(name)
    return _name(name) if value is ... else f"{_name(name)} {_written(value)}"


def _name(name: str) -> str:
    option = options.TABLE.get(name)
    flag = None if option is None or option.word is None else option.word.flag
    return flag or OTHER_NAMES.get(name, f"--{name.replace('_', '-')}")


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        several = {key: item if isinstance(item, (tuple, list)) else (item,) for key, item in value.items()}
        return in_shell(",".join(f"{key}={one}" for key, items in several.items() for one in items))
    if isinstance(value, (tuple, list)):
        return " ".join(map(_written, value))
    if isinstance(value, (int, float)):
        return number(value)
    return in_shell(str(value))


def _parameter(name: str, option: Option, word: Word) -> inspect.Parameter:
    """Return an option as typer reads it; one that is not given is None, which leaves the choice to `log.json`."""
    kind: Any = word.type
    names = _name(name) if word.other is None else f"{_name(name)}/{word.other}"
    described = typer.Option(names, metavar=word.metavar, help=word.help or option.help)
    default = None if option.in_file else option.default
    if word.flag:
        kind, default = bool, False if word.other is None else None
    annotation = Annotated[kind | None if default is None else kind, described]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _declared(word: Word, given: Any) -> Any:
    """Return what Python is given for what the command line read."""
    if word.flag and word.other is not None:
        return given if word.means or given is None else not given
    if word.flag:
        return word.means if given else None
    return given


def reads_log(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command `command(log, ...)` the argument LOG and all options that describe it."""
    path = inspect.Parameter("path", inspect.Parameter.KEYWORD_ONLY, annotation=LOG)
    theirs = [entry for name, entry in inspect.signature(command).parameters.items() if name != "log"]

    @functools.wraps(command)
    def run(**given: Any) -> int | None:
        declared = _said(given)
        from_scipy.load()
        spare(path := given.pop("path"), given)
        with at_work("Reading the log", quiet=bool(given.get("quiet"))):
            log = read_log(path, **declared)
        return command(log, **given)

    return with_parameters(run, [path, *_parameters(), *theirs])


def describes_log(*but: str) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Give a command `command(declared, ...)` the options that describe a log `but` some: what was given, by name."""

    def described(command: Callable[..., int | None]) -> Callable[..., int | None]:
        theirs = [entry for name, entry in inspect.signature(command).parameters.items() if name != "declared"]

        @functools.wraps(command)
        def run(**given: Any) -> int | None:
            declared = {name: value for name, value in _said(given, but).items() if value is not None}
            return command(declared=declared, **given)

        return with_parameters(run, [*theirs, *_parameters(but)])

    return described


def _words(but: Collection[str] = ()) -> dict[str, Word]:
    """Return the options of a log that the command line offers, but some."""
    every = options.TABLE.items()
    return {name: option.word for name, option in every if option.word is not None and name not in but}


def _parameters(but: Collection[str] = ()) -> list[inspect.Parameter]:
    return [*(_parameter(name, options.TABLE[name], word) for name, word in _words(but).items()), HELP_ALL]


def _said(given: dict[str, Any], but: Collection[str] = ()) -> dict[str, Any]:
    """Take the options of a log out of what typer read, and the one that shows all of them."""
    given.pop(HELP_ALL.name, None)
    return {name: _declared(word, given.pop(name)) for name, word in _words(but).items()}
