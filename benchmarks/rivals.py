"""Equilibria of known games beside quantecon and pygambit: CPU seconds, the gap that is left, and memory.

    python benchmarks/rivals.py [--games 5] [--limit 120]

Every solver runs in a process of its own, over the same random games, and is stopped after `--limit` seconds for all
of them. The first game is solved twice, and counted the second time, so that compiling is not counted. Solvers
that are not installed are named below the table.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

from coterie import Game, Strategy
from harness import record, table

COALITIONS = 3
SHARED, OWN = "both get the same", "each their own"
SIZES = {SHARED: (4, 8, 10, 25, 100), OWN: (4, 8, 10, 25, 50, 100)}
MOST_PLAYERS = 10
"""Tables of payoffs hold 3^n joint actions: solvers that need one are asked up to here."""


def drawn(kind: str, n: int, seed: int) -> Game:
    """A game in which everybody joins one of three coalitions, with or without a potential."""
    means = np.random.default_rng(seed).uniform(-1, 1, (COALITIONS, n, n)) * ~np.eye(n, dtype=bool)
    if kind == SHARED:
        means = (means + means.transpose(0, 2, 1)) / 2
    return Game(means, "one", symmetric=kind == SHARED)


def ours(game: Game, _: None) -> Strategy:
    return game.equilibrium(0).strategy


def payoffs_of_pairs(game: Game) -> Any:
    """The payoffs of any two agents who meet, as quantecon takes them."""
    from quantecon.game_theory import PolymatrixGame

    agents = range(game.n_agents)
    means = np.stack([game.utilities.means.matrix(l) for l in range(game.n_coalitions)])
    return PolymatrixGame({(i, j): np.diag(means[:, i, j]) for i in agents for j in agents if i != j})


def pivoting(game: Game, payoffs: Any) -> Strategy:
    """Howson's complementary pivoting, as quantecon has it."""
    from quantecon.game_theory import polym_lcp_solver

    sets, found = np.eye(game.n_coalitions), polym_lcp_solver(payoffs)
    return Strategy.mixed([(sets, own / own.sum()) for own in found], game.agents, game.coalitions)


def all_pure(game: Game, payoffs: Any) -> Strategy | None:
    """All pure equilibria by quantecon; the first."""
    from quantecon.game_theory import pure_nash_brute

    found = pure_nash_brute(payoffs)
    return Strategy.pure(np.eye(game.n_coalitions)[list(found[0])], game.agents, game.coalitions) if found else None


def gambit_pure(game: Game, payoffs: Any) -> Strategy | None:
    """All pure equilibria by Gambit; the first."""
    import pygambit

    found = pygambit.nash.enumpure_solve(payoffs).equilibria
    chosen = [[[float(one[own]) for own in player.strategies] for player in payoffs.players] for one in found[:1]]
    return Strategy.pure(np.array(chosen[0]), game.agents, game.coalitions) if chosen else None


OURS = "coterie, `Game.equilibrium`"
SOLVERS = {
    OURS: ("coterie", None, ours),
    "quantecon, complementary pivoting": ("quantecon", payoffs_of_pairs, pivoting),
    "quantecon, all pure profiles": ("quantecon", lambda game: game.to_normal_form().to_quantecon(), all_pure),
    "pygambit, all pure profiles": ("pygambit", lambda game: game.to_normal_form().to_gambit(), gambit_pure),
}
"""The package that each needs, what the game is turned into for it, and what it does."""


def solved(name: str, kind: str, n: int, games: int) -> dict[str, Any]:
    """Solve some games; turning them into what a solver takes is not counted."""
    _, converted, solve = SOLVERS[name]
    taken, gaps = [], []
    for seed in [0, *range(games)]:
        game = drawn(kind, n, seed)
        given = None if converted is None else converted(game)
        begin = time.process_time()
        found = solve(game, given)
        taken.append(time.process_time() - begin)
        gaps.append(float("nan") if found is None else game.gap(found))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"taken": taken[1:], "gaps": gaps[1:], "memory": memory}


def measured(name: str, kind: str, n: int, options: argparse.Namespace) -> dict[str, Any] | None:
    """Run a solver in a process of its own, None where it does not end in time."""
    command = [sys.executable, __file__, "--one", name, kind, str(n), "--games", str(options.games)]
    # A limit of CPU time would make its clock as coarse as the scheduler's ticks.
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def line(kind: str, n: int, name: str, found: dict[str, Any] | None, best: float | None) -> list[Any]:
    """A line of the table."""
    if found is None:
        return [kind, n, name, "not in time", "", "", "", ""]
    middle, gaps = median(found["taken"]), np.array(found["gaps"])
    left = "none is pure" if np.isnan(gaps).all() else f"{np.nanmax(gaps):.1g}"
    if np.isnan(gaps).any() and not np.isnan(gaps).all():
        left += f", none is pure in {int(np.isnan(gaps).sum())}"
    spread = f"{min(found['taken']):.2g} to {max(found['taken']):.2g}"
    ratio = "" if best is None else f"{middle / best:.3g}"  # ours may not have ended
    return [kind, n, name, f"{middle:.3g}", spread, ratio, left, f"{found['memory']:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=5)
    parser.add_argument("--limit", type=int, default=120, help="seconds for all games of a line")
    parser.add_argument("--one", nargs=3, help="for our own processes")
    options = parser.parse_args()
    if options.one:
        name, kind, n = options.one
        print(json.dumps(solved(name, kind, int(n), options.games)))
        return
    there = {name: which for name, which in SOLVERS.items() if find_spec(which[0])}
    rows = []
    for kind, sizes in SIZES.items():
        for n in sizes:
            best = None
            for name, (_, _, solve) in there.items():
                if solve in (all_pure, gambit_pure) and n > MOST_PLAYERS:
                    continue
                found = measured(name, kind, n, options)
                if name == OURS and found:
                    best = median(found["taken"])
                rows.append(line(kind, n, name, found, best))
                print(*rows[-1], flush=True)
    header = ["pairs", "agents", "solver", "CPU s, median", "least to most", "times ours", "largest gap left", "GB"]
    text = table(header, rows)
    text += (
        f"\n\n{options.games} random games of {COALITIONS} coalitions each, everybody in one; a solver has "
        f"{options.limit} seconds for all of them, starting included. Solvers that list all pure profiles are given a "
        "table of all payoffs, and pivoting of those of pairs, which is not counted. The former find every pure "
        "equilibrium, where the others find one; without a potential there may be none, and ours and pivoting find "
        "mixed ones. Where there are several, ours is the one of largest potential or welfare that it saw."
    )
    absent = sorted({package for package, _, _ in SOLVERS.values() if not find_spec(package)})
    if absent:
        text += f" Not installed here, so not compared with: {', '.join(absent)}."
    record("Equilibria beside others", f"python benchmarks/rivals.py --games {options.games}", text)


if __name__ == "__main__":
    main()
