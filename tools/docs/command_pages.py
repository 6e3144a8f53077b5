"""Writes a page for every command from what the command line itself says of it.

    python tools/docs/command_pages.py

What is not in the help is below: an example, and the pages that tell more. A test holds that the pages are up to date.
"""

import enum
import sys
from inspect import signature
from pathlib import Path
from typing import Any, get_args

from coterie.cli.app import COMMANDS, whole
from coterie.cli.panels import PANELS

FOLDER = Path(__file__).parents[2] / "docs" / "commands"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("coterie demo", "coterie demo --out firm"),
    "start": ("coterie start ratings.xlsx", "coterie start ratings.csv --yes --out firm"),
    "simulate": ("coterie simulate --agents 10 --coalitions 5 --samples 1000 --out firm",),
    "inspect": ("coterie inspect firm", "coterie inspect ratings.csv --columns agent=From,partner=About"),
    "learn": (
        "coterie learn firm --team-size 4:8 --report report.html",
        "coterie learn firm --today today.csv --max-moves 6 --out result.json --out teams.xlsx",
    ),
    "certify": ("coterie certify firm today.csv", "coterie certify firm result.json --target-gap 0.1"),
    "compare": ("coterie compare firm today.csv proposal.csv",),
    "what-if": ('coterie what-if firm today.csv "Ada: Finance" "swap Bo, Cy"',),
    "report": (
        "coterie report result.json --log firm --out report.html",
        "coterie report result.json --explain Ada",
    ),
    "coverage": ("coterie coverage firm", "coterie coverage firm --strategy result.json --collect 20"),
    "evaluate": ("coterie evaluate result.json --truth firm/truth.json",),
    "bounds": ("coterie bounds --agents 10 --coalitions 5 --samples 30000",),
    "reproduce": ("coterie reproduce 1 --quick --out figures",),
}
"""What somebody may type, by command."""

MORE: dict[str, tuple[tuple[str, str], ...]] = {
    "demo": (("Home", "index.md"),),
    "start": (("From a spreadsheet", "spreadsheet.md"),),
    "simulate": (("Simulation", "simulation.md"),),
    "inspect": (("Logs", "logs.md"),),
    "learn": (("How to read the answer", "reading.md"), ("Sizes and rules", "teams.md"), ("Learning", "learning.md")),
    "certify": (("Learning", "learning.md"), ("Certificates", "certificates.md")),
    "compare": (("Comparing and asking", "comparing.md"),),
    "what-if": (("Comparing and asking", "comparing.md"),),
    "report": (("The report", "report.md"),),
    "coverage": (("What to collect", "coverage.md"),),
    "evaluate": (("Simulation", "simulation.md"),),
    "bounds": (("Bounds", "bounds.md"),),
    "reproduce": (("Experiments", "paper/experiments.md"),),
}
"""Pages that tell more, by command."""


def pages() -> dict[str, str]:
    """Return file name -> content of every page: one for each command, and the list of them."""
    return {f"{name}.md": _page(name, whole(name)) for name in COMMANDS} | {"index.md": _index()}


def _index() -> str:
    rows = [f"| [`{name}`]({name}.md) | {line} |" for name, line in COMMANDS.items()]
    return "\n".join([
        "# Commands",
        "",
        "Each does one thing and says what it wrote. `coterie COMMAND --help` shows the usual options, and",
        "`coterie COMMAND --help-all` all that are on these pages.",
        "",
        "| command | what it does |",
        "| --- | --- |",
        *rows,
        "",
        "Results go to standard output, messages to standard error, progress to terminals only. Exit codes: 0 done,",
        "1 failed, 2 bad usage or input, 3 done but `--target-gap` is not certified, 130 interrupted (what was found",
        "so far is written), 143 terminated.",
        "",
    ])  # fmt: skip


def _page(name: str, command: Any) -> str:
    kinds = _kinds(command)
    arguments = [param for param in command.params if not param.opts[0].startswith("-")]
    options = [param for param in command.params if param.opts[0].startswith("-") and not param.hidden]
    words = " ".join(_word(param) for param in arguments)
    told = ", ".join(f"[{title}](../{target})" for title, target in MORE[name])
    usage = " ".join(part for part in ("coterie", name, words, "[OPTIONS]") if part)
    lines = [f"# coterie {name}", "", str(command.help), "", "```", usage, "```",
             "", "For example", "", "```", *EXAMPLES[name], "```", "", f"More: {told}.", ""]  # fmt: skip
    if arguments:
        lines += ["| argument | meaning |", "| --- | --- |"]
        lines += [f"| `{_word(param)}` | {_cell(param.help)} |" for param in arguments]
        lines.append("")
    for panel in (None, *PANELS):
        rows = [(param, kinds[param.name]) for param in options if param.rich_help_panel == panel]
        if rows:
            lines += [
                *([f"## {panel}", ""] if panel else []),
                "| option | meaning | unless said |",
                "| --- | --- | --- |",
            ]
            lines += [
                f"| `{_spelling(param, kind)}` | {_meaning(param, kind)} | {_default(param)} |" for param, kind in rows
            ]
            lines.append("")
    return "\n".join(lines)


def _word(param: Any) -> str:
    word = str(param.metavar or param.name.upper())
    return f"{word}..." if param.nargs == -1 else word


def _kinds(command: Any) -> dict[str, Any]:
    """Return parameter -> type of each value that it takes, as the function of the command declares it."""
    return {name: _value(parameter.annotation) for name, parameter in signature(command.callback).parameters.items()}


def _value(kind: Any) -> Any:
    """Return `Path` for `Annotated[list[Path] | None, ...]` and the like."""
    parts = [part for part in get_args(kind) if part is not type(None)]
    return _value(parts[0]) if parts else kind


def _spelling(param: Any, kind: Any) -> str:
    names = " / ".join([*param.opts, *param.secondary_opts])
    return names if param.is_flag else f"{names} {_placeholder(param, kind)}"


def _placeholder(param: Any, kind: Any) -> str:
    """Return what is given to an option: its metavariable, or a word for its type."""
    if param.metavar:
        return str(param.metavar)
    return "WORD" if _choices(kind) else {int: "N", float: "X", Path: "PATH"}.get(kind, "TEXT")


def _choices(kind: Any) -> list[str]:
    is_choice = isinstance(kind, enum.EnumMeta)
    return [str(choice.value) for choice in kind] if is_choice else []


def _meaning(param: Any, kind: Any) -> str:
    choices = _choices(kind)
    one_of = f" One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""
    return _cell(param.help) + one_of


def _default(param: Any) -> str:
    """Return the default in code marks; nothing where leaving the option out is the default."""
    if param.required:
        return "needed"
    if param.is_flag or param.default in (None, "", (), []) or callable(param.default):
        return ""
    value = param.default.value if isinstance(param.default, enum.Enum) else param.default
    return f"`{value}`"


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    sys.stdout.write(f"{FOLDER}\n")


if __name__ == "__main__":
    main()
