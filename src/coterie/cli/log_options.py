"""The options that describe a log, shared by every command that reads one."""

import functools
import inspect
import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from coterie.errors import InputError
from coterie.log import Log, read_log


class EngineName(StrEnum):
    """Where queries run."""

    duckdb = "duckdb"
    spark = "spark"


def _read(
    path: Annotated[str, typer.Argument(metavar="LOG", help="A folder with tables, or one file of pairs.")],
    *,
    columns: Annotated[
        str | None, typer.Option(help="What your tables call a column: sample=Project,utility=Score.")
    ] = None,
    utility_range: Annotated[
        tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="Where pair utilities lie.")
    ] = None,
    neutral: Annotated[float | None, typer.Option(help="The utility that is worth as much as being alone.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Sub-Gaussian scale of utilities that have no bounds.")] = None,
    asymmetric: Annotated[bool, typer.Option("--asymmetric", help="Agents value each other differently.")] = False,
    symmetrize: Annotated[bool, typer.Option("--symmetrize", help="Average the two orders of each pair.")] = False,
    pool_coalitions: Annotated[
        bool,
        typer.Option("--pool-coalitions", help="Coalitions are interchangeable: their labels mean nothing."),
    ] = False,
    coalitions: Annotated[
        int | None, typer.Option(metavar="K", help="How many interchangeable coalitions to use.")
    ] = None,
    actions: Annotated[
        str | None,
        typer.Option(help="observed, observed-own, one, any, up-to:3, or JSON: a list of lists, or agent -> lists."),
    ] = None,
    may_stay_out: Annotated[
        bool, typer.Option("--may-stay-out", help="Agents may also join nothing, which is worth 0.")
    ] = False,
    feedback: Annotated[
        str | None, typer.Option(help="semi-bandit or bandit, where the tables leave a choice.")
    ] = None,
    engine: Annotated[EngineName, typer.Option(help="Where the log is read.")] = EngineName.duckdb,
    memory_limit: Annotated[
        str | None, typer.Option(help="How much memory DuckDB may use, such as 2GB; it spills beyond.")
    ] = None,
) -> Log:
    """Return the log that the options describe; a flag that is not given leaves the choice to `log.json`."""
    return read_log(
        path,
        columns=columns,
        utility_range=utility_range,
        neutral=neutral,
        sigma=sigma,
        symmetric=False if asymmetric else None,
        symmetrize=symmetrize,
        pool_coalitions=pool_coalitions or None,
        coalitions=coalitions,
        actions=_actions(actions),
        may_stay_out=may_stay_out or None,
        feedback=feedback,
        engine=engine.value,
        memory_limit=memory_limit,
    )


def _actions(text: str | None) -> Any:
    if text is None or not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except ValueError as problem:
        raise InputError(f"--actions: is not JSON ({problem})") from None


def reads_log(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command `command(log, ...)` the argument LOG and all options that describe it."""
    ours = inspect.signature(_read).parameters
    theirs = dict(inspect.signature(command).parameters)
    theirs.pop("log")

    @functools.wraps(command)
    def run(**given: Any) -> int | None:
        return command(_read(**{name: given.pop(name) for name in ours}), **given)

    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*ours.values(), *theirs.values()]
    ]
    signature = inspect.Signature(parameters)
    run.__dict__.pop("__wrapped__")  # typer would look at the parameters of the wrapped command
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
