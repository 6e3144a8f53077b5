"""Timing, Markdown tables, and RESULTS.md: what all benchmarks share."""

import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(os.environ.get("BENCHMARK_RESULTS", Path(__file__).parent / "RESULTS.md"))
"""Where sections go; `run.py --quick` has another place for them."""


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the best of a few runs: the least disturbed one."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def machine() -> str:
    """Name what the figures depend on besides the code; other work on the machine shows in its load."""
    cores = f"{os.cpu_count()} cores ({platform.machine()}, load {os.getloadavg()[0]:.1f})"
    return f"{cores}, Python {platform.python_version()}, NumPy {np.__version__}"


def commit() -> str:
    """Name the commit of the code that is measured; a star says that files differ from it."""
    run = partial(subprocess.run, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    name = run(["git", "rev-parse", "--short", "HEAD"]).stdout.strip()
    changed = run(["git", "diff", "--quiet", "HEAD", "--", "../src"]).returncode if name else 0
    return f" at commit {name}{'*' if changed else ''}" if name else ""


def record(title: str, command: str, text: str) -> None:
    """Print a section and put it into RESULTS.md in place of its former self."""
    section = f"## {title}\n\nMade by `{command}`{commit()} on {machine()}.\n\n{text}\n"
    print(section)
    old = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Benchmark results\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    new = pattern.sub(lambda _: section + "\n", old) if pattern.search(old) else f"{old.rstrip()}\n\n{section}"
    RESULTS.write_text(new.rstrip() + "\n", encoding="utf-8")
