"""Where the command line writes: results to stdout, everything else to stderr.

Names come from the user, so nothing that is printed is read as markup or as an emoji code; styles
are given as `rich.text.Text`.
"""

import codecs
import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from coterie.files import to_json

results = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
messages = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def complain(text: str) -> None:
    """Print one error message."""
    messages.print(Text.assemble(("error:", "bold red"), f" {text}"))


def warn(text: str) -> None:
    """Print one warning."""
    messages.print(Text.assemble(("warning:", "yellow"), f" {text}"))


def show_json(value: Any) -> None:
    """Print a result as JSON, as a file would hold it; in ASCII where the output is not UTF-8."""
    encoding = codecs.lookup(results.encoding).name
    results.file.write(to_json(value, ascii_only=encoding != "utf-8"))


def print_anything() -> None:
    """Let names that the terminal's encoding lacks be printed as escapes rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def stop_printing() -> None:
    """Discard what is still to be printed: the reader of our output went away, as in `coterie ... | head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
