"""The choices inside `auto`: how much of the log learns, how many candidates, which width, what `paired` gets of delta.

    python benchmarks/choices.py [--seeds 6]

Held-out certificates on simulated logs, delta = 0.01, mean over seeds; `paired` beside them.
"""

import argparse
import tempfile
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

import coterie
from coterie.learn import auto
from coterie.simulate import Simulation
from coterie.statistics import parts
from coterie.statistics.statistics import Statistics
from harness import record, table

SETTINGS = (("semi-bandit", 10, 5, 1500, 8), ("semi-bandit", 6, 4, 1000, 4), ("bandit", 8, 3, 6000, 4))
SHARES, FORMS, CANDIDATES = (0.2, 0.5), ("both", "bernstein"), (1, 2, 4, 8)
PAIRED_SHARES = (0.02, 0.1, 0.3, 0.5)


def statistics_of(feedback: str, n: int, k: int, samples: int, actions: int, seed: int) -> Statistics:
    source = Simulation.draw(n, k, np.random.default_rng([seed, n, k, samples]), actions_per_agent=actions)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        source.write_log(path, samples, feedback=feedback, table_format="parquet")  # type: ignore[arg-type]
        return Statistics.of(coterie.read_log(path), parts=parts.PARTS, seed=seed, joint=feedback == "bandit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--only", type=int, help="one setting, by its number in the table; not recorded")
    options = parser.parse_args()
    seeds, settings = options.seeds, SETTINGS if options.only is None else (SETTINGS[options.only],)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    usual = parts.LEARNING_SHARE, auto.CANDIDATES
    columns = [f"{feedback} {n}, {k}, {m}" for feedback, n, k, m, _ in settings]
    for setting, column in zip(settings, columns, strict=True):
        for seed in range(seeds):
            statistics = statistics_of(*setting, seed)
            for share, form, count in product(SHARES, FORMS, CANDIDATES):
                if setting[0] == "bandit" and form != "both":
                    continue  # totals have one form only
                parts.LEARNING_SHARE, auto.CANDIDATES = share, count
                gap = auto.recommend(statistics, 0.01, certificate="holdout", form=form).certificate.gap  # type: ignore[arg-type]
                found[f"holdout, {share:.0%} learn, {form}, {count} candidates", column].append(gap)
            parts.LEARNING_SHARE, auto.CANDIDATES = usual
            for share in PAIRED_SHARES:
                auto.PAIRED_SHARE = share
                gap = auto.recommend(statistics, 0.01).certificate.gap
                found[f"auto, {share:.0%} of delta for paired", column].append(gap)
            found["paired", column].append(auto.recommend(statistics, 0.01, certificate="paired").certificate.gap)
        print(column, flush=True)
    names = list(dict.fromkeys(name for name, _ in found))
    rows = [[name, *(f"{np.mean(found[name, c]):.3f}" if found[name, c] else "-" for c in columns)] for name in names]
    text = table(["choice", *columns], rows) + f"\n\nMean certificate of {seeds} seeds; columns say n, k, M."
    if options.only is not None:
        print(text)
        return
    record("Choices", f"python benchmarks/choices.py --seeds {seeds}", text)


if __name__ == "__main__":
    main()
