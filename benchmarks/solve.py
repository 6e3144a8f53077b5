"""How good and how fast solvers are: against enumeration, against each other, and by size.

Random games with utilities +-1 around means that are drawn uniformly, every pair observed a random number
of times. All explicit action spaces, shared by all agents.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from coterie import ActionSpaces
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree
from coterie.game.actions import ExplicitSets
from coterie.simulate import draw_sets
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles
from coterie.solve.mixed import mixed
from coterie.solve.objective import HoldoutObjective, Objective, PairedObjective, estimated_gap
from coterie.solve.paper_scheme import paper
from coterie.solve.pure import pure
from coterie.solve.smooth import smooth_objective
from harness import record, table

DELTA = 0.01
MOST_PROFILES = 100_000
KINDS = ("paired", "expected holdout", "paired (box)", "estimated gap")


def evidence_of(rng: np.random.Generator, n: int, k: int, most: int, *, symmetric: bool = True) -> PairEvidence:
    mu = rng.uniform(-0.9, 0.9, (k, n, n))
    count = rng.integers(1, most, (k, n, n)) * ~np.eye(n, dtype=bool)
    ups = rng.binomial(count, (1 + mu) / 2)
    if symmetric:
        count, ups = (np.triu(a, 1) + np.swapaxes(np.triu(a, 1), 1, 2) for a in (count, ups))
    seen = count.astype(float)
    return PairEvidence(
        PairEstimate.from_sums(SizeFree(), seen, 2.0 * ups - seen, seen.copy(), Bounds(-1.0, 1.0), symmetric=symmetric)
    )


def spaces_of(rng: np.random.Generator, n: int, k: int, actions: int) -> ActionSpaces:
    return ActionSpaces.shared(ExplicitSets(draw_sets(rng, k, actions)), n)


def objective_of(kind: str, evidence: PairEvidence, spaces: ActionSpaces) -> Objective:
    if kind == "estimated gap":
        return estimated_gap(evidence, spaces)
    if kind == "expected holdout":
        return HoldoutObjective(evidence, spaces, DELTA)
    return PairedObjective(evidence, spaces, DELTA, form="box" if "box" in kind else "best")


def against_enumeration(seed: int) -> dict[str, Any]:
    """One game of at most 10^5 pure profiles; every fifth is asymmetric."""
    rng = np.random.default_rng([seed, 2024])
    n, k = int(rng.integers(3, 9)), int(rng.integers(2, 6))
    top = max(int(min(2**k - 1, MOST_PROFILES ** (1 / n), 16)), 2)
    actions = int(rng.integers(2, top + 1))
    evidence = evidence_of(rng, n, k, int(rng.choice([30, 300, 3000])), symmetric=seed % 5 > 0)
    spaces = spaces_of(rng, n, k, actions)
    kind = KINDS[seed % len(KINDS)]
    objective = objective_of(kind, evidence, spaces)
    objective.margin_counts = True  # negative margins are compared too: the harder task
    best = enumerate_profiles(objective)
    found = pure(objective, Control(seed))
    assert found.value >= best.value - 1e-9
    return {
        "kind": kind,
        "profiles": spaces.size,
        "exact": found.value <= best.value + 1e-9,
        "close": found.certificate <= 1.01 * best.certificate + 2e-6,
        "excess": found.certificate - best.certificate,
        "pure": found.seconds,
        "enumeration": best.seconds,
    }


def oracle_table(games: int) -> str:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(against_enumeration, range(games), chunksize=5))
    rows = []
    for kind in (*KINDS, "all"):
        some = [one for one in found if kind in {one["kind"], "all"}]
        rows.append(
            [
                kind,
                len(some),
                f"{sum(one['exact'] for one in some)} ({np.mean([one['exact'] for one in some]):.1%})",
                f"{sum(one['close'] for one in some)}",
                f"{max(one['excess'] for one in some):.2g}",
                f"{np.mean([one['pure'] for one in some]):.2f}",
                f"{np.mean([one['enumeration'] for one in some]):.2f}",
            ]
        )
    header = ["objective", "games", "exact optimum", "within 1 %", "largest excess", "pure, s", "enumeration, s"]
    return table(header, rows)


def speed_table(sizes: tuple[int, ...]) -> str:
    rows = []
    for n in sizes:
        rng = np.random.default_rng([n, 1])
        evidence, spaces = evidence_of(rng, n, 5, 10_000), spaces_of(rng, n, 5, 8)
        for kind in ("paired", "expected holdout"):
            objective = objective_of(kind, evidence, spaces)
            found = [pure(objective, Control(seed)) for seed in range(2)]
            quick = pure(objective, Control(0), starts=64, kicks=0)
            values = ", ".join(f"{one.certificate:.3f}" for one in found)
            seconds = f"{np.mean([one.seconds for one in found]):.2f}"
            rows.append([n, kind, values, seconds, f"{quick.certificate:.3f}", f"{quick.seconds:.2f}"])
            print(rows[-1], flush=True)
    return table(["n", "objective", "value (two seeds)", "seconds", "64 starts, no kicks", "seconds"], rows)


def scheme_table(games: int) -> str:
    rows = []
    for n in (5, 10):
        found: dict[str, list[float]] = {}
        for seed in range(games):
            rng = np.random.default_rng([seed, n, 3])
            evidence, spaces = evidence_of(rng, n, 5, 3000), spaces_of(rng, n, 5, 6)
            scheme = paper(evidence, spaces, DELTA)
            for certificate in ("paper", "paired"):
                objective = smooth_objective(evidence, spaces, DELTA, certificate=certificate)  # type: ignore[arg-type]
                blocks = mixed(objective, Control(seed), starts=1)
                begin = time.perf_counter()
                best = mixed(objective, Control(seed))
                found.setdefault(f"{certificate} seconds", []).append(time.perf_counter() - begin)
                found.setdefault(f"{certificate} scheme", []).append(objective.value(scheme.strategy.marginals))
                found.setdefault(f"{certificate} one start", []).append(blocks.value)
                found.setdefault(f"{certificate} mixed", []).append(best.value)
            box = pure(PairedObjective(evidence, spaces, DELTA, form="box"), Control(seed))
            found.setdefault("paired pure", []).append(box.certificate)
            found.setdefault("paper pure", []).append(paper(evidence, spaces, DELTA, strategy="pure").certificate)
        for certificate in ("paper", "paired"):
            names = ("scheme", "one start", "mixed", "pure", "seconds")
            ends, *rivals = (np.array(found[f"{certificate} {name}"]) for name in ("mixed", "scheme", "one start"))
            above = int((ends > np.minimum(*rivals) + 1e-9).sum())
            rows.append([n, certificate, *(f"{np.mean(found[f'{certificate} {name}']):.3f}" for name in names), above])
    header = [
        "n", "certificate", "paper's scheme", "mixed, uniform start only", "mixed", "pure", "mixed, s",
        "games in which mixed ends above either",
    ]  # fmt: skip
    return table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--compared", type=int, default=10, help="games for the comparison of mixed strategies")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 25, 100])
    options = parser.parse_args()
    command = "python benchmarks/solve.py"
    if options.games:
        about = (
            f"`pure` against enumeration, random games of at most {MOST_PROFILES} pure profiles (negative margins "
            "compared as well; within 1 % or 1e-6 of the range):"
        )
        record("Pure search", f"{command} --games {options.games}", f"{about}\n\n{oracle_table(options.games)}")
    if options.compared:
        about = (
            f"Mean certificate over {options.compared} games with k = 5 and 6 actions, at delta = {DELTA}; `paired` in "
            "its box form:"
        )
        text = f"{about}\n\n{scheme_table(options.compared)}"
        record("Mixed strategies", f"{command} --compared {options.compared}", text)
    if options.sizes:
        about = "`pure` by the number of agents, k = 5, 8 actions:"
        record("Pure search by size", command, f"{about}\n\n{speed_table(tuple(options.sizes))}")


if __name__ == "__main__":
    main()
