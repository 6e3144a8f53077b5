"""Where the command line writes: results to stdout, everything else to stderr.

Names come from the user, so nothing that is printed is read as markup or as an emoji code; styles
are given as `rich.text.Text`.
"""

import codecs
import json
import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from coterie.errors import clipped


class _Safe(Console):
    """A console on which nothing that came from outside can steer the terminal: what is printed, is printed here."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, with control characters as escapes; lines may end."""
        super().print(*(_safe(one) for one in objects), **options)


def _safe(shown: Any) -> Any:
    if isinstance(shown, Text):  # of the same length, so that styles stay where they are
        shown = shown.copy()
        shown.plain = "".join(c if _is_harmless(c) or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in shown.plain)
        return shown
    return "\n".join(printable(line) for line in shown.split("\n")) if isinstance(shown, str) else shown


results = _Safe(highlight=False, soft_wrap=True, markup=False, emoji=False)
messages = _Safe(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


NAME_CELLS = 24
"""How wide a name may be on the terminal; `--json` has it in full."""

WIDTH = 100


def complain(text: str) -> None:
    """Print one error message."""
    messages.print(Text.assemble(("error:", "bold red"), f" {clipped(_safe(_whole(text)))}"))


def _whole(text: str) -> str:
    """Return a message in which a line break is one of a list of problems, or else an escape: names have them too."""
    return re.sub(r"\n(?!- )", r"\\n", text)


def warn(text: str) -> None:
    """Print one warning."""
    for number, part in enumerate(clipped(_safe(_whole(text))).split("\n")):
        first, *more = wrapped(part, "" if number else "warning: ", "  ") or [""]
        messages.print(first if number else Text.assemble(("warning:", "yellow"), first.removeprefix("warning:")))
        for line in more:
            messages.print(line)


@contextmanager
def at_work(doing: str, *, quiet: bool = False) -> Iterator[None]:
    """Say on a terminal what is being done, with the time that it takes; elsewhere nothing."""
    if quiet or not messages.is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), console=messages,
        transient=True,
    ) as shown:  # fmt: skip
        shown.add_task(doing, total=None)
        yield


def show_json(value: Any) -> None:
    """Print a result as JSON, as a file would hold it; in ASCII where the output is not UTF-8."""
    from coterie.files import to_json

    encoding = codecs.lookup(results.encoding).name
    text = to_json(value, ascii_only=encoding != "utf-8")
    # Only texts hold what cannot be printed, and there an escape means the same.
    results.file.write(
        re.sub(r"[^\n\x20-\x7e]", lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text)
    )


def print_anything() -> None:
    """Let names that the terminal's encoding lacks be printed as escapes rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def stop_printing() -> None:
    """Discard what is still to be printed: the reader of our output went away, as in `coterie ... | head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def printable(text: str) -> str:
    """Return a text in which control characters are escapes, so that a name cannot steer the terminal.

    Spaces of any width and what joins letters of some scripts, or keeps them apart, are part of names.
    """
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode("ascii") for c in text)


def _is_harmless(c: str) -> bool:
    return c.isprintable() or c in "\u200c\u200d" or unicodedata.category(c) == "Zs"


def short(name: str, cells: int = NAME_CELLS) -> str:
    """Return a name that is safe to print and not too wide: its beginning and its end.

    >>> short("a" * 30 + "z")
    'aaaaaaaaaaaa...aaaaaaaaz'
    """
    pieces = [printable(c) for c in name]
    if cell_len("".join(pieces)) <= cells:
        return "".join(pieces)
    tail = _fitting(pieces[::-1], (cells - 3) * 3 // 7)[::-1]
    head = _fitting(pieces, cells - 3 - cell_len("".join(tail)))
    return f"{''.join(head)}...{''.join(tail)}"


def _fitting(pieces: Sequence[str], cells: int) -> list[str]:
    """Return as many of the first pieces as fit."""
    kept: list[str] = []
    for piece in pieces:
        cells -= cell_len(piece)
        if cells < 0:
            break
        kept.append(piece)
    return kept


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> Iterator[str]:
    """Yield rows as lines with columns aligned, those in `left` to the left."""
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blank = " " * (width - cell_len(cell))
            cells.append(cell + blank if place in left else blank + cell)
        yield ("  " + "  ".join(cells)).rstrip()


FEW_WARNINGS = 2
"""So many warnings are shown in brief, those that matter most."""


def warned(warnings: Sequence[str], *, details: bool) -> Iterator[str]:
    """Yield warnings under their heading, which says how many there are if these are not all."""
    shown = warnings if details else warnings[:FEW_WARNINGS]
    if shown:
        yield from ("", "Warnings" if len(shown) == len(warnings) else f"Warnings ({len(shown)} of {len(warnings)})")
    for warning in shown:
        yield from wrapped(warning, "  - ", "    ")


def wrapped(text: str, first: str = "  ", later: str = "  ") -> list[str]:
    """Return a text as lines that fit the terminal."""
    return textwrap.wrap(
        text, min(results.width, WIDTH), initial_indent=first, subsequent_indent=later,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
