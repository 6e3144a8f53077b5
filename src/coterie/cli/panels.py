"""How the help groups the options of commands that read a log: what most people need first, the rest on demand.

`--help` shows what most people need; `--help-all` shows everything, and so do the pages of documentation.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.core import TyperCommand

USUAL: dict[str, tuple[str, ...]] = {
    "Teams": ("team_size", "per_person", "together", "apart", "fix", "ban", "staff"),
    "Today": ("today", "keep_sizes", "max_moves", "change_at_most"),
    "What is wanted": ("goal", "value", "time_limit"),
    "The answer": ("out", "report", "announce", "title", "details", "explain", "unit", "json", "quiet"),
    "The log": (
        *("columns", "sheet", "utility_range", "neutral", "lower_is_better", "pool_coalitions", "coalitions"),
        *("since", "until"),
    ),
}
"""Panel -> options that `--help` shows, in this order."""

PROOF = "Proof and search"

SELDOM: dict[str, tuple[str, ...]] = {
    "More about the answer": ("date",),
    "More about teams": ("rules", "quota", "left_behind", "stability"),
    "More about the log": (
        *("clean_names", "separators", "blanks", "blank_words", "absent_words", "skip_rows", "summaries", "duplicates"),
        *("symmetric", "symmetrize"),
        *("actions", "may_stay_out", "totals", "feedback", "missing", "adaptive", "sigma"),
        *("engine", "memory_limit"),
    ),
    PROOF: (
        *("certificate", "delta", "target_gap", "min_samples", "fresh", "sizes", "noise"),
        *("solver", "seed"),
    ),
}
"""Panel -> options that `--help-all` shows besides."""

ALL = "help_all"

HELP = {"Help": (ALL,)}

PANELS = {**USUAL, **SELDOM, **HELP}
"""All panels in their order."""
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
_PLACE = {place: t for t, place in enumerate([None, *PANELS, *_PANEL_OF])}


def _tell_all(ctx: typer.Context, wanted: bool) -> None:  # noqa: FBT001  (typer calls it so)
    if wanted:
        ctx.meta[ALL] = True
        typer.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = inspect.Parameter(
    ALL,
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", is_eager=True, expose_value=False, callback=_tell_all,
            help="Show all options, also those needed seldom, and exit.",
        ),
    ],
)  # fmt: skip
"""The option that shows all; a command that has it is grouped."""


def seldom_named(text: str) -> list[str]:
    """Return the options that a text names and that `--help` does not show."""
    spelled = {f"--{name.replace('_', '-')}" for names in SELDOM.values() for name in names} | {"--asymmetric"}
    return [name for name in dict.fromkeys(re.findall(r"--[a-z][a-z-]+", text)) if name in spelled]


def _panel(param: Any) -> str | None:
    """Return the panel that an option says itself, or that of its name."""
    return getattr(param, "rich_help_panel", None) or _PANEL_OF.get(param.name)


def without_types(params: Iterable[Any]) -> None:
    """Let the help show no type beside flags, which take no value."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = " "


def take_as_given(param: Any) -> Any:
    """Let an option that was not given be its default, and texts and files be what they are; return it.

    What typer makes of them is the same, but it loads pydantic and builds a parser for every option first, which takes
    a tenth of the time that a small log takes.
    """
    if "process_value" in vars(param):
        return param
    usual, is_several = param.process_value, param.multiple or param.nargs == -1
    kinds = {*_inner(getattr(getattr(param, "type_descriptor", None), "annotation", None)), NoneType}
    make: Any = next((kind for kind in (str, Path) if kinds == {kind, NoneType} and param.nargs in {1, -1}), None)

    def process_value(ctx: Any, value: Any) -> Any:
        source = ctx.get_parameter_source(param.name)
        if value is None and not param.required:
            value = () if is_several else None
        elif make is not None and isinstance(value, list if is_several else str):
            value = [make(one) for one in value] if is_several else make(value)
        elif source is None or source.name != "DEFAULT" or value is None:
            return usual(ctx, value)
        return value if param.callback is None else param.callback(ctx, param, value)

    param.process_value = process_value
    return param


def _inner(annotation: Any) -> Iterator[Any]:
    """Yield the types that values may have, of a type, a list, or one of several."""
    inner = get_args(annotation) if get_origin(annotation) in {list, Union, UnionType} else ()
    yield from (one for part in inner for one in _inner(part)) if inner else (annotation,)


class Grouped(TyperCommand):
    """A command whose help shows the usual options, and all of them where `--help-all` asks for that."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.is_long = any(param.name == ALL for param in self.params)
        if not self.is_long:
            return
        for param in self.params:
            param.rich_help_panel = _panel(param)  # type: ignore[attr-defined]
        # What is in no panel is this command's alone, and comes first.
        self.params.sort(key=lambda param: (_PLACE[_panel(param)], _PLACE.get(param.name, 0)))

    def _seldom(self) -> Iterator[Any]:
        return (param for param in self.params if _panel(param) in SELDOM)

    def get_help_option(self, ctx: Any) -> Any:
        """Return `--help`, in the panel of `--help-all` where there is one."""
        option = super().get_help_option(ctx)
        if option is not None and self.is_long:
            option.rich_help_panel = next(iter(HELP))
        return option

    def get_params(self, ctx: Any) -> list[Any]:
        return [take_as_given(param) for param in super().get_params(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, without what is needed seldom unless it is asked for."""
        for param in self._seldom() if self.is_long else ():
            param.hidden = ALL not in ctx.meta
        params = self.get_params(ctx)
        without_types(params)
        opposites = {param: param.secondary_opts for param in params if self.is_long and ALL not in ctx.meta}
        for param in opposites:  # a column of its own for `--no-...` leaves little room for all the rest
            param.secondary_opts = []
        super().format_help(ctx, formatter)
        for param, names in opposites.items():
            param.secondary_opts = names
