"""Cells of calibrations: how often promises were broken over many logs of a setting, and whether that is too often.

What is counted is kept in a file, a cell in a line; the logs of all settings grow together, a few at a time.
"""

import argparse
import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, TypeVar

from scipy.stats import binom

from coterie.reproduce.calibration import DELTAS, Record

FOLDER = Path(__file__).parent

AT_ONCE = 20
"""So many logs of a setting are added before the next one has its turn."""

Line = dict[str, Any]
"""A cell: game, n, certificate, delta, logs, in how many of them each promise was broken (for every agent her own),
how many agents surely stay in all, mean slack. Or how often a test warned: game, n, warned, logs."""

PROMISES = {
    "wrong": "the gap is at most the certificate",
    "agents": "an agent's gain is at most her own bound",
    "staying_wrong": "none of those who surely stay can gain",
}
"""What each certificate promises with probability 1 - delta, each promise on its own."""

ERROR = 0.01
"""The chance that any cell of a promise is called failing although none is."""


class Named(Protocol):
    """A setting: what it is called, and how many agents it has."""

    @property
    def name(self) -> str: ...
    @property
    def n(self) -> int: ...


# --- Counting -----------------------------------------------------------------------------------------


def cells(setting: Named, logs: list[list[Record]]) -> list[Line]:
    """Return one line for each certificate and delta."""
    grouped: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for found in logs:
        for one in found:
            grouped[one.certificate, one.delta].append(one)
    return [
        {
            "game": setting.name, "n": setting.n, "certificate": name, "delta": delta, "logs": len(found),
            "wrong": sum(one.wrong for one in found),
            "agents": sum(one.agents.astype(int) for one in found).tolist(),
            "staying": sum(one.staying for one in found),
            "staying_wrong": sum(one.staying_wrong for one in found),
            "slack": round(sum(one.slack for one in found) / len(found), 3),
        }
        for (name, delta), found in grouped.items()
    ]  # fmt: skip


def together(old: Line | None, new: Line) -> Line:
    """Return the cell of the logs of both."""
    if old is None:
        return new
    logs = old["logs"] + new["logs"]
    added = {key: old[key] + new[key] for key in ("wrong", "staying", "staying_wrong")}
    agents = [one + two for one, two in zip(old["agents"], new["agents"], strict=True)]
    slack = round((old["slack"] * old["logs"] + new["slack"] * new["logs"]) / logs, 3)
    return new | added | {"logs": logs, "agents": agents, "slack": slack}


def of(setting: Named, lines: list[Line]) -> list[Line]:
    """Return the cells of a setting."""
    return [line for line in lines if "certificate" in line and (line["game"], line["n"]) == (setting.name, setting.n)]


def name(line: Line) -> tuple[Any, ...]:
    """Return what tells a line from others."""
    return tuple(line.get(key) for key in ("game", "n", "certificate", "delta"))


# --- Growing ------------------------------------------------------------------------------------------

S = TypeVar("S", bound=Named)

Pool = Callable[[Callable[[int], Any], Sequence[int]], list[Any]]
"""Applies a function to many seeds, in several processes."""


def arguments(about: str | None) -> argparse.ArgumentParser:
    """Return the options of a calibration."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000, help="logs per setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing new after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the cells and the page are")
    parser.add_argument("--page-only", action="store_true", help="make the page from what is finished")
    return parser


class Kept:
    """The lines of a file, written anew as they change."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: list[Line] = []
        if file.exists():
            self.lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def put(self, new: list[Line]) -> None:
        """Take up these lines; those of the same name give way to them."""
        names = {name(line) for line in new}
        self.lines = [line for line in self.lines if name(line) not in names] + new
        whole = self.file.with_suffix(".part")
        whole.write_text("".join(f"{json.dumps(line)}\n" for line in self.lines), encoding="utf-8")
        whole.replace(self.file)


@contextmanager
def processes(many: int) -> Iterator[Pool]:
    """Work in so many processes, each with one thread: they are new ones, so that this is read."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with ProcessPoolExecutor(many, get_context("spawn")) as pool:
        yield lambda work, seeds: list(pool.map(work, seeds, chunksize=max(1, min(5, len(seeds) // many))))


def grow(
    chosen: Sequence[S], options: argparse.Namespace, kept: Kept, run: Callable[[S, int], list[Record]],
    done: Callable[[S], int], over: Pool,
) -> None:  # fmt: skip
    """Add the logs that are missing, a few of every setting in turn, until all have so many or the time is over."""
    begin = time.perf_counter()
    while behind := [one for one in chosen if done(one) < options.logs]:
        fewest = min(map(done, behind))
        for setting in [one for one in behind if done(one) == fewest]:
            if (time.perf_counter() - begin) / 60 > options.minutes:
                return
            seeds = range(fewest, min(fewest + AT_ONCE, options.logs))
            new = cells(setting, over(partial(run, setting), seeds))
            old = {name(line): line for line in of(setting, kept.lines)} if fewest else {}
            added = [together(old.get(name(line)), line) for line in new]
            kept.put(added)
            for promise, words in PROMISES.items():
                for cell in failing(added, promise, tests(added, promise)):
                    print(f"{setting.n}, {setting.name}: not that {words}: {cell}", flush=True)
        least = min(map(done, chosen))
        print(f"{least} logs a setting, {(time.perf_counter() - begin) / 60:.1f} min", flush=True)


# --- Is it too often? ---------------------------------------------------------------------------------


def counts(cell: Line, promise: str) -> list[int]:
    """Return in how many logs the promise was broken: of agents' bounds, that of each agent."""
    return cell[promise] if promise == "agents" else [cell[promise]]


def surprise(cell: Line, promise: str) -> float:
    """Return how likely so many broken promises are if each has probability delta: exact binomial tail.

    The agents of a log are not independent, so every agent has a test of her own, and the smallest counts.
    """
    return min(float(binom.sf(count - 1, cell["logs"], cell["delta"])) for count in counts(cell, promise))


def tests(found: list[Line], promise: str) -> int:
    """Return how many tests the cells are."""
    return sum(len(counts(cell, promise)) for cell in found)


def failing(found: list[Line], promise: str, among: int) -> list[Line]:
    """Return the cells significantly above delta, each one test of so many (Bonferroni)."""
    return [cell for cell in found if surprise(cell, promise) < ERROR / max(among, 1)]


def worst(found: list[Line], promise: str, delta: float) -> float:
    """Return the largest share of broken promises in a cell with this delta."""
    shares = (
        sum(counts(cell, promise)) / (cell["logs"] * len(counts(cell, promise)))
        for cell in found
        if cell["delta"] == delta
    )
    return max(shares, default=0.0)


def shares(found: list[Line], promise: str) -> str:
    """Return the worst shares at every delta."""
    return " / ".join(f"{worst(found, promise, delta):.4f}" for delta in DELTAS)


def promise_row(found: list[Line], promise: str, among: int) -> list[Any]:
    """Return how often a promise was broken, and in how many cells that is significant, alone or among all tests."""
    alone = sum(surprise(cell, promise) < ERROR / len(counts(cell, promise)) for cell in found)
    return [PROMISES[promise], among, len(failing(found, promise, among)), alone, shares(found, promise)]


def summary(among: dict[str, int], own: list[Line]) -> list[Any]:
    """Return how many cells there are, how many fail, the worst shares, who surely stays, and the mean slack."""
    if not own:
        return [0, *["-"] * 6]
    failed = " / ".join(str(len(failing(own, promise, among[promise]))) for promise in PROMISES)
    stay = math.fsum(cell["staying"] / (cell["n"] * cell["logs"]) for cell in own) / len(own)
    slack = math.fsum(cell["slack"] for cell in own) / len(own)
    return [len(own), failed, *(shares(own, promise) for promise in PROMISES), f"{stay:.2f}", f"{slack:.2f}"]


def span(numbers: Sequence[int]) -> str:
    """Return from where to where numbers go, in words."""
    least, most = min(numbers), max(numbers)
    return f"{least} to {most}" if least < most else f"{least}"
