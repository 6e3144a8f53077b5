"""How long `coterie learn` takes on roll calls, who voted like whom, and how much memory: from process start to end.

    python benchmarks/roll_calls.py [--votes FOLDER] [--states 191] [--calls 928]

Votes drawn at the size of a parliament, where states hold positions on three axes and vote by them, and where a folder
is given the real ones in it (votes.csv: a row for each roll call, the issues in the fifth column with | between them,
and then a column for every state). Each with pairs that are taken to be independent, and with `--noise samples`.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from harness import record, table

NEUTRAL = 0.6
"""Two states must vote alike so often for that to be worth as much as being alone."""

Row = tuple[str, str, str, str]
"""Roll call, issue, state and vote."""

MEASURE = """
import json, resource, sys
from coterie.cli import main
try:
    main()
finally:
    print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024), file=sys.stderr)
"""


def drawn(states: int, calls: int, rng: np.random.Generator) -> Iterable[Row]:
    """Yield votes on one issue: for or against by the side of a line that a state is on, and a few absences."""
    positions = rng.normal(size=(states, 3))
    for call in range(calls):
        leaning = positions @ rng.normal(size=3) + rng.normal(scale=0.7, size=states) + rng.normal(scale=0.5)
        present = rng.random(states) < 0.98
        for state in np.flatnonzero(present).tolist():
            yield f"{call:04}", "any", f"state {state:03}", "yes" if leaning[state] > 0 else "no"


def real(folder: Path) -> Iterable[Row]:
    """Yield all votes of a folder, on each issue that a roll call was about."""
    with (folder / "votes.csv").open(encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    for row in rows:
        for issue in row[4].split("|"):
            yield from ((row[0], issue, state, vote) for state, vote in zip(header[5:], row[5:], strict=True) if vote)


def write(rows: Iterable[Row], folder: Path) -> int:
    """Write choices as a log in which every state joins one of three blocs; return how many pairs it has."""
    folder.mkdir()
    voted: dict[tuple[str, str], int] = {}
    with (folder / "choices.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", "coalition", "agent", "choice"])
        for row in rows:
            writer.writerow(row)
            voted[row[:2]] = voted.get(row[:2], 0) + 1
    described = {"utility_range": [0, 1], "neutral": NEUTRAL, "pool_coalitions": True, "coalitions": 3}
    (folder / "log.json").write_text(json.dumps(described | {"actions": "one"}), encoding="utf-8")
    return sum(n * (n - 1) // 2 for n in voted.values())


def measured(folder: Path, *words: str) -> list[str]:
    """Return CPU seconds, seconds and megabytes of one process, and what it certified."""
    out = folder.parent / "result.json"
    command = [sys.executable, "-c", MEASURE, "learn", str(folder), "--quiet", "--out", str(out), *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1] / "src"), *sys.path])}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    result = json.loads(out.read_text(encoding="utf-8"))
    gap = result["certificate"]["gap"]
    return [f"{cpu:.0f}", f"{took:.0f}", done.stderr.split()[-1], f"{gap:.3g}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=Path, default=None, help="folder with votes.csv")
    parser.add_argument("--states", type=int, default=191)
    parser.add_argument("--calls", type=int, default=928)
    options = parser.parse_args()
    logs = {f"drawn, {options.states} states, {options.calls} roll calls": drawn(
        options.states, options.calls, np.random.default_rng(0)
    )}  # fmt: skip
    if options.votes is not None:
        logs["real ones"] = real(options.votes)
    rows = []
    for name, votes in logs.items():
        with tempfile.TemporaryDirectory() as folder:
            pairs = write(votes, Path(folder) / "log")
            for noise in ("pairs", "samples"):
                rows.append([name, f"{pairs:,}", noise, *measured(Path(folder) / "log", "--noise", noise)])
                print(*rows[-1], flush=True)
    header = ["roll calls", "pairs who voted", "noise", "CPU seconds", "seconds", "MB", "certificate"]
    given = "" if options.votes is None else " --votes FOLDER"
    text = f"Three blocs, each run a process of its own; MB is the most memory that it held.\n\n{table(header, rows)}"
    record("Roll calls", f"python benchmarks/roll_calls.py{given}", text)


if __name__ == "__main__":
    main()
