"""Simulation throughput: the vectorised writer against a plain Python loop over rows.

The rival draws the same kind of log (gaussian model, random policy) one pair at a time with the
standard library's random and csv modules; it runs on fewer samples, and rows per second compare.
"""

import argparse
import csv
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from coterie.simulate.logs import Feedback, Simulation
from coterie.simulate.writing import TableFormat
from harness import record, seconds, table

N_AGENTS, N_COALITIONS = 25, 5

FEWER = 30
"""The rival writes one of so many samples."""


def python_loop(folder: Path, simulation: Simulation, n_samples: int, feedback: str) -> int:
    """Write the log row by row; return the number of pair draws."""
    draw = random.Random(0)
    sets = [tuple(np.flatnonzero(row).tolist()) for row in simulation.game.actions.spaces[0].enumerate()]
    mu = simulation.model.mu.tolist()
    agents, coalitions = simulation.game.agents, simulation.game.coalitions
    rows = 0
    with (folder / "memberships.csv").open("w") as who, (folder / "utilities.csv").open("w") as what:
        memberships, utilities = csv.writer(who), csv.writer(what)
        for sample in range(1, n_samples + 1):
            chosen = [draw.choice(sets) for _ in agents]
            totals = [0.0] * len(agents)
            for i, action in enumerate(chosen):
                memberships.writerows((sample, agents[i], coalitions[l]) for l in action)
            for l in range(len(coalitions)):
                members = [i for i, action in enumerate(chosen) if l in action]
                for place, i in enumerate(members):
                    for j in members[place + 1 :]:
                        mean = mu[l][i][j]
                        value = max(-1.0, min(1.0, draw.gauss(mean, 1 - abs(mean))))
                        rows += 1
                        if feedback == "bandit":
                            totals[i] += value
                            totals[j] += value
                        else:
                            utilities.writerow((sample, coalitions[l], agents[i], agents[j], value))
            if feedback == "bandit":
                utilities.writerows((sample, agents[i], total) for i, total in enumerate(totals))
    return rows


def drawn() -> Simulation:
    return Simulation.draw(N_AGENTS, N_COALITIONS, np.random.default_rng(0))


def write(place: Path, samples: int, feedback: Feedback, table_format: TableFormat) -> None:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        drawn().write_log(Path(folder) / "log", samples, feedback=feedback, table_format=table_format)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=30_000)
    samples = parser.parse_args().samples
    fewer = samples // FEWER
    rows: list[list[object]] = []
    draws = sum(len(batch.utility) for batch in drawn().batches(samples))
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for feedback in get_args(Feedback):
            count = python_loop(place, drawn(), fewer, feedback)
            taken = seconds(partial(python_loop, place, drawn(), fewer, feedback))
            rival = count / taken
            rows.append([feedback, "csv", "Python loop", f"{count:,}", f"{taken:.2f}", f"{rival:,.0f}", 1])
            for table_format in get_args(TableFormat):
                taken = seconds(partial(write, place, samples, feedback, table_format))
                speed = draws / taken
                cells = (f"{draws:,}", f"{taken:.2f}", f"{speed:,.0f}", f"{speed / rival:.0f}")
                rows.append([feedback, table_format, "coterie", *cells])
    header = ("feedback", "format", "writer", "pair draws", "seconds", "draws per second", "times the loop")
    note = (
        f"{N_AGENTS} agents, {N_COALITIONS} coalitions, {samples:,} samples, gaussian model, random policy, written "
        f"to disk with memberships and truth; the Python loop (csv and random of the standard library) on "
        f"{fewer:,} samples. A pair draw is a row of a semi-bandit log and a term of a bandit log's totals."
    )
    record("Simulation", f"python benchmarks/simulate.py --samples {samples}", f"{table(header, rows)}\n\n{note}")


if __name__ == "__main__":
    main()
