"""Simulation throughput: the vectorised writer against a plain Python loop over rows.

The rival draws the same kind of log (gaussian model, random policy) one pair at a time with the
standard library's random and csv modules; it runs on fewer samples, and rows per second compare.
"""

import csv
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from coterie.simulate import Simulation

N_AGENTS, N_COALITIONS, N_SAMPLES, RIVAL_SAMPLES = 25, 5, 30_000, 300


def python_loop(folder, simulation, n_samples, feedback):
    """Write the log row by row; return the number of rows of the utility table."""
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


def new():
    return Simulation.draw(N_AGENTS, N_COALITIONS, np.random.default_rng(0))


def main():
    print(
        f"{N_AGENTS} agents, {N_COALITIONS} coalitions, {N_SAMPLES:,} samples, gaussian model, random policy; "
        f"the Python loop on {RIVAL_SAMPLES:,} samples. Pair draws are counted; a bandit log shows their sums only.\n"
    )
    print("| feedback | format | writer | pair draws | seconds | draws per second | against the loop |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for feedback in ("semi-bandit", "bandit"):
            folder = place / f"loop-{feedback}"
            folder.mkdir()
            simulation = new()
            start = time.perf_counter()
            rows = python_loop(folder, simulation, RIVAL_SAMPLES, feedback)
            seconds = time.perf_counter() - start
            rival = rows / seconds
            print(f"| {feedback} | csv | Python loop | {rows:,} | {seconds:.2f} | {rival:,.0f} | 1 |")
            draws = sum(len(batch.utility) for batch in new().batches(N_SAMPLES))
            for table_format in ("csv", "parquet"):
                start = time.perf_counter()
                new().write_log(
                    place / f"{feedback}-{table_format}", N_SAMPLES, feedback=feedback, table_format=table_format
                )
                seconds = time.perf_counter() - start
                speed = draws / seconds
                print(
                    f"| {feedback} | {table_format} | coterie | {draws:,} | {seconds:.2f} | {speed:,.0f} "
                    f"| {speed / rival:.0f} |"
                )


if __name__ == "__main__":
    main()
