"""How the time of learning grows, with people, coalitions, samples and actions, one at a time.

    python benchmarks/growth.py [--seeds 3] [--points 4]

Each point is a process of its own: a log of pairs, or of everybody's totals, is drawn and written, then read, summed
and learnt from with the defaults of `StableLearner` but for `noise="pairs"`. CPU seconds, since other work on the
machine stretches all others; exponents are those of the line through the logarithms of the medians, and for the spread
of each seed's own.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median

import numpy as np

import coterie
from coterie import StableLearner
from coterie.simulate import Simulation
from harness import record, table

BASE = {"people": 20, "coalitions": 5, "samples": 2_000, "actions": 8}
VARIED = {
    "people": ("people", "semi-bandit", (10, 20, 40, 80)),
    "coalitions": ("coalitions", "semi-bandit", (5, 10, 20, 40)),
    "samples": ("samples", "semi-bandit", (500, 2_000, 8_000, 32_000)),
    "actions": ("actions", "semi-bandit", (4, 8, 16, 31)),
    "people with totals": ("people", "bandit", (12, 25, 50, 100)),
}


def learnt(people: int, coalitions: int, samples: int, actions: int, feedback: str, seed: int) -> dict[str, float]:
    """Return CPU seconds of reading with sums, and of learning; a small log before it compiles what is compiled."""
    taken = {}
    for n, m in ((5, 50), (people, samples)):
        rng = np.random.default_rng(seed)
        source = Simulation.draw(n, coalitions, rng, actions_per_agent=actions)
        with tempfile.TemporaryDirectory() as folder:
            source.write_log(f"{folder}/log", m, table_format="parquet", feedback=feedback)
            begin = time.process_time()
            statistics = coterie.Statistics.for_learning(coterie.read_log(f"{folder}/log"), noise="pairs")
            summed = time.process_time()
            StableLearner(noise="pairs").fit(statistics)
            taken = {"sums": summed - begin, "learning": time.process_time() - summed}
    return taken | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


FIGURES = ("sums", "learning", "memory")


def measured(point: dict[str, int | str], seeds: int) -> dict[str, list[float]]:
    """Run a point in processes of its own, one for each seed; return each figure, seed by seed."""
    found = []
    for seed in range(seeds):
        command = [sys.executable, __file__, "--one", json.dumps(point | {"seed": seed})]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        found.append(json.loads(output.splitlines()[-1]))
    return {name: [one[name] for one in found] for name in FIGURES}


def shown(figures: Sequence[float]) -> str:
    """Return the median, and the least and the largest where there are several."""
    spread = f" ({min(figures):.2f} to {max(figures):.2f})" if len(figures) > 1 else ""
    return f"{median(figures):.2f}{spread}"


def exponents(values: Sequence[int], found: Sequence[Sequence[float]]) -> str:
    """Return the exponent of the medians, and the least and the largest of those of single seeds."""

    def slope(seconds: Sequence[float]) -> float:
        return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])

    single = [slope(seed) for seed in zip(*found, strict=True)]
    spread = f" ({min(single):.2f} to {max(single):.2f})" if len(single) > 1 else ""
    return f"{slope([median(figures) for figures in found]):.2f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--points", type=int, default=4, help="only so many of each, the smallest")
    parser.add_argument("--one", help="for our own processes")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(learnt(**json.loads(options.one))))
        return
    rows = []
    for name, (varied, feedback, all_values) in VARIED.items():
        values = all_values[: options.points]
        found = [measured(BASE | {"feedback": feedback, varied: value}, options.seeds) for value in values]
        for value, one in zip(values, found, strict=True):
            rows.append([name, f"{value:,}", *(shown(one[what]) for what in FIGURES)])
            print(*rows[-1], flush=True)
        slopes = [exponents(values, [one[what] for one in found]) for what in ("sums", "learning")]
        rows.append([f"{name}: exponent", "", *slopes, ""])
    base = ", ".join(f"{value:,} {name}" for name, value in BASE.items())
    text = table(["what grows", "to", "reading and sums, CPU s", "learning, CPU s", "GB"], rows)
    text += (
        f"\n\nOne grows, the others are {base} (sets of coalitions, the same for all); the median of "
        f"{options.seeds} seeds, and in brackets the least and the largest."
    )
    words = f"--seeds {options.seeds}" + (f" --points {options.points}" if options.points < 4 else "")
    record("Growth", f"python benchmarks/growth.py {words}", text)


if __name__ == "__main__":
    main()
