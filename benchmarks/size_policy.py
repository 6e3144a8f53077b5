"""Where a policy forms coalitions by their size, is what `auto` recommends worse than what the paper's strategy does?

    python benchmarks/size_policy.py [--cells 3]

All runs of the paper's figure S4 (mixed effects, coalition-size policy): the true gap of each method's profile.
"""

import argparse

import numpy as np

from coterie.game.game import STABLE_WITHIN
from coterie.reproduce.cells import run_cell
from coterie.reproduce.experiments import FIGURES
from harness import record, table


def main() -> None:
    """Compare run by run, and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, help="only so many cells of the figure; not recorded")
    options = parser.parse_args()
    found: dict[tuple[int, int, int], dict[str, float]] = {}
    for _, cell in FIGURES["S4"].cells[: options.cells]:
        for run in run_cell(cell):
            found.setdefault((run.n, run.seed, run.samples), {})[run.method] = run.true_gap
    ours, theirs = (np.array([one[method] for one in found.values()]) for method in ("auto", "paper"))
    rows = [
        ["`auto`", f"{ours.mean():.3f}", int((ours < theirs - STABLE_WITHIN).sum())],
        ["the paper's strategy", f"{theirs.mean():.3f}", int((theirs < ours - STABLE_WITHIN).sum())],
    ]
    text = (
        f"{len(found)} runs of figure S4.\n\n{table(['method', 'mean true gap', 'runs in which it is better'], rows)}"
    )
    if options.cells is not None:
        print(text)
        return
    record("Coalition-size policy", "python benchmarks/size_policy.py", text)


if __name__ == "__main__":
    main()
