"""The `coterie` command: registers the subcommands and turns errors into exit codes.

Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 done but the target was not certified,
130 interrupted, 143 terminated. Results go to stdout, messages and progress to stderr.
"""

import gc
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from coterie import __version__
from coterie.cli.enums import with_choices
from coterie.cli.frames import hide_frames
from coterie.cli.output import complain, messages, print_anything, stop_printing
from coterie.cli.panels import Grouped, seldom_named, take_as_given, without_types
from coterie.cli.signals import WORDS, Terminated
from coterie.errors import CoterieError, InputError
from coterie.memory import is_missing, load_linear_algebra
from coterie.words import spelled

PANELS: dict[str, dict[str, str]] = {
    "Begin here": {
        "demo": "Learn stable teams from the records of a simulated consulting firm, and write a report.",
        "start": (
            "Make a log of a table: guess what is what, say why, ask, and write a folder that every command takes."
        ),
    },
    "Teams": {
        "learn": "Recommend who joins which teams, and prove how much anybody could gain by moving at most.",
        "report": "Turn a result into a page that explains itself, into tables of teams, or print one person's card.",
        "what-if": "Tell what changes on top of an assignment would do: who gains, who loses, what is sure.",
        "compare": (
            "Compare two assignments, such as today's teams (A) and a proposal (B): who gains, who loses, what is sure."
        ),
        "certify": "Certify how far anybody could gain by leaving a given assignment, such as today's teams.",
    },
    "The log": {
        "inspect": "Show what is in a log: who met how often, sizes of teams, values, and what seems odd.",
        "coverage": "Say whether a log is enough for an assignment, what is missing, and what to collect next.",
    },
    "Research": {
        "simulate": "Write a simulated log and the truth behind it.",
        "evaluate": "Print the true gap of a strategy, and whether its certificate held.",
        "bounds": (
            "Show what is known about the gap before any data: the paper's bounds, those that hold, and what data "
            "reach."
        ),
        "reproduce": "Make the paper's figures again, with the paper's certificate and ours, and a table beside each.",
    },
}
"""Group -> command -> its first line. A command is a module here, `what_if` for `what-if`, with a function `command`
whose documentation begins so."""

COMMANDS: dict[str, str] = {name: line for commands in PANELS.values() for name, line in commands.items()}

READ_LOGS = ("start", "learn", "what-if", "compare", "certify", "inspect", "coverage")
"""Commands with a longer help."""

BEGIN = """Teams that nobody wants to leave, learnt from the past.

\b
Where to begin:
  coterie demo           an example, from records to a report, in seconds
  coterie start TABLE    your own table (.xlsx, .csv), made into a folder
  coterie learn FOLDER   teams from that folder; --report report.html to read
"""


class _Commands(TyperGroup):
    """Commands whose modules are imported when they are called: a list of them needs no more than their first lines."""

    def __init__(self, **given: Any) -> None:
        outlines = {
            name: TyperCommand(name, help=line, rich_help_panel=panel)
            for panel, commands in PANELS.items()
            for name, line in commands.items()
        }
        super().__init__(**{**given, "commands": outlines})

    def get_params(self, ctx: Any) -> list[Any]:
        return [take_as_given(param) for param in super().get_params(ctx)]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        return name, None if found is None else whole(str(name)), rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        without_types(self.get_params(ctx))
        super().format_help(ctx, formatter)


def whole(name: str) -> Any:
    """Return a command with all its options."""
    command = import_module(f"coterie.cli.{name.replace('-', '_')}").command
    gc.enable()
    hide_frames()
    alone = typer.Typer(add_completion=False, context_settings=_SETTINGS)
    alone.command(name, cls=Grouped)(with_choices(command))
    return typer.main.get_command(alone)


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="coterie",
    cls=_Commands,
    help=BEGIN,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  (typer calls it so)
    if wanted:
        typer.echo(f"coterie {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(  # noqa: FBT001
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Recommend coalitions from a log of past outcomes, and certify how far anybody could gain by moving."""


THEIR_WORDS = {
    ": Value error, ": ": ",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole number, such as 3",
    "Input should be a valid number, unable to parse string as a number": "expected a number, such as 0.5",
    "Input should be greater than or equal to ": "expected at least ",
    "Input should be less than or equal to ": "expected at most ",
}
"""What those say who read the command line, and what that means."""

NAMES_PEOPLE = {"--apart", "--together", "--fix", "--ban", "--explain"}
"""Options that take names of people, which often hold blanks."""

_UsageError: Any = typer.BadParameter.__base__
"""Typer brings its own copy of Click's exceptions, or uses Click's, by version."""


def run(caught: Sequence[int]) -> int:
    """Run the command line, and return its exit code; signals that come are in `caught`."""
    print_anything()
    with spelled(_command_line):
        return _run(caught)


def _command_line(said: Mapping[str, Any]) -> str:
    from coterie.cli.log_options import command_line  # here, since it brings the tables of a log with it

    return command_line(said)


def _run(caught: Sequence[int]) -> int:
    """Run the command; return its exit code. Signals that came in the meantime are in `caught`."""
    try:
        load_linear_algebra()
        code = app(prog_name=app.info.name, standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as problem:
        return _bad_usage(problem)
    except InputError as problem:
        complain(str(problem))
        _say_where_described(str(problem))
        return 2
    except CoterieError as problem:
        complain(str(problem))
        return 1
    except (KeyboardInterrupt, Terminated, typer.Abort):
        code = 128 + signal.SIGINT
    except BrokenPipeError:
        stop_printing()
        return 0
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # what rich and typer make of it
            stop_printing()
            return 0
        raise
    except (MemoryError, ImportError, RuntimeError) as problem:
        if is_missing(problem):
            complain(f"not enough memory ({problem})" if str(problem) else "not enough memory")
            return 1
        # What libraries in C++ make of an exception that a signal raised within them.
        if not caught or not isinstance(problem, RuntimeError):
            raise
        code = 128 + caught[-1]
    except OSError as problem:  # no permission, no space left
        complain(f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem))
        return 1
    if code == 128 + signal.SIGINT and caught:  # typer and DuckDB make an interrupt of any signal
        code = 128 + caught[-1]
    if code in WORDS:
        complain(WORDS[code])
    return code if isinstance(code, int) else 0


def _say_where_described(text: str) -> None:
    """Say where options are described that a message names, if the shorter help of the command does not."""
    name = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if name in READ_LOGS and (named := seldom_named(text)):
        messages.print(f"{', '.join(named)}: see coterie {name} --help-all", soft_wrap=True)


def _bad_usage(problem: Any) -> int:
    """Say what is wrong with the words on the command line, and where to read what is right."""
    if type(problem).__name__ == "NoArgsIsHelpError":  # its message is the help text, which is printed already
        return 2
    text = problem.format_message()
    for theirs, ours in THEIR_WORDS.items():
        text = text.replace(theirs, ours)
    if text.startswith("Got unexpected extra argument") and NAMES_PEOPLE.intersection(sys.argv):
        text += '; names that hold blanks are put in quotation marks, as in --apart "Ann Lee,Bo Poe"'
    complain(text)
    path = problem.ctx.command_path if problem.ctx else app.info.name
    messages.print(f"Try {path} --help")
    return 2
