"""How long `coterie learn` takes where people may be in any set of areas, from 36 months: CPU seconds, memory, growth.

    python benchmarks/any_areas.py [--agents 40,100]

Every month everybody is in one or two of six areas, and all pairs in an area get something with noise. The command is
run as a user runs it, so reading is timed too; the first run of all, which compiles, is not counted.
"""

import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from harness import record, table

AREAS, MONTHS = 6, 36
NOISES = ("auto", "pairs")


def write_log(folder: Path, n: int) -> None:
    """Write tables of who was where and of what pairs got."""
    rng = np.random.default_rng(n)
    means = rng.normal(0, 0.3, (AREAS, n, n))
    means = (means + means.transpose(0, 2, 1)) / 2
    with (
        (folder / "memberships.csv").open("w", newline="", encoding="utf-8") as first,
        (folder / "pairs.csv").open("w", newline="", encoding="utf-8") as second,
    ):
        memberships, pairs = csv.writer(first), csv.writer(second)
        memberships.writerow(["sample", "agent", "coalition"])
        pairs.writerow(["sample", "coalition", "agent", "partner", "utility"])
        for month in range(MONTHS):
            where = [rng.choice(AREAS, rng.integers(1, 3), replace=False) for _ in range(n)]
            memberships.writerows([month, i, a] for i, areas in enumerate(where) for a in areas)
            for a in range(AREAS):
                inside = [i for i in range(n) if a in where[i]]
                for at, i in enumerate(inside):
                    for j in inside[at + 1 :]:
                        value = np.clip(means[a, i, j] + rng.normal(0, 0.5), -1, 1)
                        pairs.writerow([month, a, i, j, round(float(value), 4)])


def measured(folder: Path, noise: str) -> tuple[float, float]:
    """Return the CPU seconds and the gigabytes that the command takes."""
    command = [sys.executable, "-m", "coterie", "learn", str(folder), "--utility-range", "-1", "1"]
    process = subprocess.Popen(
        [*command, "--actions", "any", "--noise", noise, "--quiet"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", default="40,100")
    options = parser.parse_args()
    sizes = [int(n) for n in options.agents.split(",")]
    found: dict[str, list[tuple[float, float]]] = {noise: [] for noise in NOISES}
    with tempfile.TemporaryDirectory() as name:
        for n in sizes:
            folder = Path(name) / str(n)
            folder.mkdir()
            write_log(folder, n)
        measured(Path(name) / str(sizes[-1]), "auto")  # compiles, where nothing has yet
        for n in sizes:
            for noise in NOISES:
                found[noise].append(measured(Path(name) / str(n), noise))
    rows = []
    for noise, cells in found.items():
        (first, _), (last, _) = cells[0], cells[-1]
        exponent = f"{math.log(last / first) / math.log(sizes[-1] / sizes[0]):.2f}" if len(sizes) > 1 else "-"
        rows.append([noise, *(f"{cpu:.1f} s, {memory:.1f} GB" for cpu, memory in cells), exponent])
    text = table(["--noise", *(f"{n} people" for n in sizes), "exponent in people"], rows)
    record(
        "Any set of areas",
        f"python benchmarks/any_areas.py --agents {options.agents}",
        text
        + "\n\nCPU seconds and peak memory of `coterie learn LOG --utility-range -1 1 --actions any`, one run each.",
    )


if __name__ == "__main__":
    main()
