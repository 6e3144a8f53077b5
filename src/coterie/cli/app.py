"""The `coterie` command: registers the subcommands and turns errors into exit codes.

Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 done but the target was not certified,
130 interrupted. Results go to stdout, messages and progress to stderr.
"""

import sys
from importlib import import_module

import typer

from coterie import __version__
from coterie.cli.output import complain
from coterie.errors import CoterieError, InputError

COMMANDS: tuple[str, ...] = ("demo", "simulate", "inspect", "evaluate")
"""One module of this package per command; each has a function `command`."""

app = typer.Typer(
    name="coterie",
    help="Teams that nobody wants to leave, learnt from the past.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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


for _name in COMMANDS:
    app.command(_name)(import_module(f"coterie.cli.{_name}").command)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except InputError as problem:
        complain(str(problem))
        sys.exit(2)
    except CoterieError as problem:
        complain(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as in `coterie ... | head`
        sys.stderr.close()
        sys.exit(0)
    except OSError as problem:  # no permission, no space left
        complain(f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem))
        sys.exit(1)
