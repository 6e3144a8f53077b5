"""Where the command line writes: results to stdout, everything else to stderr."""

from typing import Any

from rich.console import Console
from rich.markup import escape

from coterie.files import to_json

results = Console(highlight=False, soft_wrap=True)
messages = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print one error message."""
    messages.print(f"[bold red]error:[/] {escape(text)}")


def show_json(value: Any) -> None:
    """Print a result as JSON, exactly as a file would hold it."""
    results.file.write(to_json(value))
