"""Is what `learn` recommends stable, and as good as the best stable profile of the true game?

    python benchmarks/best_stable.py [--games 24] [--samples 3000]

Simulated games of 8 agents and 3 coalitions, whose stable profiles can all be listed.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from coterie import StableLearner, read_log
from coterie.game.game import STABLE_WITHIN
from coterie.simulate import Simulation
from harness import record, table

WISHES = {"by default": {}, "--team-size any": {"any_size": True}}


def looked_at(seed: int, samples: int) -> dict[str, tuple[float, float, float, bool]]:
    """Return the true total value and gap of each recommendation, the best stable value, and if data did not matter."""
    simulation = Simulation.draw(8, 3, np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        simulation.write_log(Path(folder) / "log", samples)
        log, game = read_log(Path(folder) / "log"), simulation.game
        best = max(float(game.values(one).sum()) for one in game.stable_profiles())
        results = {name: StableLearner(**wish).fit(log).result_ for name, wish in WISHES.items()}
        return {
            name: (float(game.values(one.strategy).sum()), game.gap(one.strategy), best, one.is_vacuous)
            for name, one in results.items()
        }


def main() -> None:
    """Count over all games, and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--samples", type=int, default=3000)
    asked = parser.parse_args()
    found = [looked_at(seed, asked.samples) for seed in range(asked.games)]
    rows = []
    for name in WISHES:
        value, gap, best, vacuous = (np.array(column) for column in zip(*(one[name] for one in found), strict=True))
        stable = gap <= STABLE_WITHIN
        worse = int((stable & (value < best - STABLE_WITHIN)).sum())
        means = (f"{one.mean():.3f}" for one in (value, best, gap))
        rows.append([name, int(stable.sum()), worse, int(vacuous.sum()), *means])
    header = ["wish", "stable", "stable and not the best", "vacuous", "mean total value", "best stable", "mean gap"]
    text = f"{asked.games} games of 8 agents and 3 coalitions, {asked.samples} samples.\n\n{table(header, rows)}"
    record("Best stable profiles", "python benchmarks/best_stable.py", text)


if __name__ == "__main__":
    main()
