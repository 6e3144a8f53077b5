"""The exact gap against a direct triple loop and against Monte Carlo, at n = 1000, k = 20."""

import argparse

import numpy as np

from coterie import ActionSpaces, Game, Strategy
from coterie.game.actions import ExplicitSets
from harness import record, seconds, table

SAMPLES = 100
REPEATS = 10
TIMED_AGENTS = 10
"""The rivals are timed on this many agents and scaled up: all of them would take minutes."""


def random_game(n: int, k: int, rng: np.random.Generator) -> tuple[Game, Strategy]:
    means = rng.uniform(-1, 1, (k, n, n))
    means = np.triu(means, 1) + np.swapaxes(np.triu(means, 1), 1, 2)
    sets = rng.random((8, k)) < 0.5
    sets[:, 0] = True
    spaces = ActionSpaces.shared(ExplicitSets(np.unique(sets, axis=0)), n)
    game = Game(means, spaces)
    return game, Strategy.mixed([(space.enumerate(), rng.dirichlet(np.ones(space.size))) for space in spaces.spaces])


def triple_loop(means: list[list[list[float]]], marginals: list[list[float]], agents: int, sets: np.ndarray) -> float:
    """The definition, written out: for every agent, coalition and partner."""
    worst = 0.0
    for i in range(agents):
        rooms = []
        for l in range(len(means)):
            row = means[l][i]
            total = 0.0
            for j in range(len(row)):
                total += row[j] * marginals[j][l]
            rooms.append(total)
        own = sum(p * w for p, w in zip(marginals[i], rooms, strict=True))
        worst = max(worst, max(sum(w for w, chosen in zip(rooms, row, strict=True) if chosen) for row in sets) - own)
    return worst


def monte_carlo(game: Game, strategy: Strategy, agents: int, rng: np.random.Generator) -> float:
    """One hundred joint actions per term, as the paper's experiments do: V_i, and each deviation's value."""
    sets = game.actions.spaces[0].enumerate()
    choices = strategy.probability.reshape(game.n_agents, -1).cumsum(axis=1)
    worst = 0.0
    for i in range(agents):
        matrix = np.stack([game.utilities.means.matrix(l)[i] for l in range(game.n_coalitions)], axis=1)

        def mean_value(action: np.ndarray | None, i: int = i, matrix: np.ndarray = matrix) -> float:
            """Return agent i's mean utility when she plays `action`, or what the strategy draws for her."""
            drawn = sets[(rng.random((SAMPLES, game.n_agents, 1)) > choices[None]).sum(axis=2).clip(max=len(sets) - 1)]
            rooms = np.einsum("mjl,jl->ml", drawn, matrix)
            return float((rooms * (drawn[:, i] if action is None else action)).sum(axis=1).mean())

        own = mean_value(None)
        worst = max(worst, max(mean_value(row) for row in sets) - own)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--coalitions", type=int, default=20)
    options = parser.parse_args()
    n, k = options.agents, options.coalitions
    rng = np.random.default_rng(0)
    game, strategy = random_game(n, k, rng)
    exact = seconds(lambda: game.gap(strategy))
    means = [game.utilities.means.matrix(l).tolist() for l in range(k)]
    marginals, sets = strategy.marginals.tolist(), game.actions.spaces[0].enumerate()
    share = n / TIMED_AGENTS
    loop = share * seconds(lambda: triple_loop(means, marginals, TIMED_AGENTS, sets), 1)
    sampled = share * seconds(lambda: monte_carlo(game, strategy, TIMED_AGENTS, rng), 1)
    difference = abs(triple_loop(means, marginals, n, sets) - game.gap(strategy))
    true = max(deviation.gain for deviation in game.best_responses(strategy)[:TIMED_AGENTS])
    errors = [monte_carlo(game, strategy, TIMED_AGENTS, rng) - true for _ in range(REPEATS)]
    rmse = np.sqrt(np.mean(np.square(errors)))
    scale = np.tile(np.arange(n + 1) / (n + 1), (k, 1))
    sized = Game(game.utilities.means, game.actions, size_scale=scale)
    sized_time = seconds(lambda: sized.gap(strategy), 1)
    rows = [
        ["exact gap, size-free", f"{exact:.3f}", 1, "0"],
        ["direct triple loop in Python", f"{loop:.1f}", f"{loop / exact:.0f}", f"{difference:.1e} from ours"],
        [
            f"Monte Carlo, {SAMPLES} samples per term (NumPy)",
            f"{sampled:.1f}",
            f"{sampled / exact:.0f}",
            f"{rmse:.2f} of {true:.2f} (RMSE)",
        ],
        ["exact gap, size-dependent", f"{sized_time:.2f}", f"{sized_time / exact:.0f}", "0"],
    ]
    text = table([f"gap of a mixed strategy, n = {n}, k = {k}", "seconds", "times exact", "error"], rows)
    text += (
        f"\n\nThe two rivals are timed on {TIMED_AGENTS} agents and scaled to all {n}. The Monte Carlo error is "
        f"the root mean square of {REPEATS} runs against the exact gap of the same {TIMED_AGENTS} agents."
    )
    record("Game", f"python benchmarks/game.py --agents {n} --coalitions {k}", text)


if __name__ == "__main__":
    main()
