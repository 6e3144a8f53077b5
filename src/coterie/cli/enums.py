"""Options that are one of several words: `Literal` types of Python, which the command line offers as they are."""

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, get_args, get_origin

Command = Callable[..., int | None]


def with_choices(command: Command) -> Command:
    """Return a command that typer reads words of a `Literal` for, as an enumeration, which its older releases need."""

    @functools.wraps(command)
    def run(**given: Any) -> int | None:
        return command(**{name: one.value if isinstance(one, Enum) else one for name, one in given.items()})

    return with_parameters(run, map(_enumerated, inspect.signature(command).parameters.values()))


def with_parameters(run: Command, parameters: Iterable[inspect.Parameter]) -> Command:
    """Let typer see other parameters than the function has; all are given by name."""
    entries = [entry.replace(kind=inspect.Parameter.KEYWORD_ONLY) for entry in parameters]
    run.__dict__.pop("__wrapped__")  # typer would look at the parameters of the wrapped command
    run.__signature__ = inspect.Signature(entries)  # type: ignore[attr-defined]
    run.__annotations__ = {entry.name: entry.annotation for entry in entries}
    return run


def _enumerated(entry: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter `Annotated[kind, ...]` with an enumeration in place of a `Literal`, or of one or None."""
    if get_origin(entry.annotation) is not Annotated:
        return entry
    kind, *described = get_args(entry.annotation)
    word = next((one for one in (kind, *get_args(kind)) if get_origin(one) is Literal), None)
    if word is None:
        return entry
    make: Any = StrEnum  # type checkers want to see the words
    words = make(entry.name, {one: one for one in get_args(word)})
    return entry.replace(annotation=Annotated[words if word is kind else words | None, *described])
