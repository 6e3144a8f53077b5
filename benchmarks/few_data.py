"""Few data: how stable is what `auto` recommends, against raw means and the uniform strategy?

    python benchmarks/few_data.py [--seeds 10] [--votes FOLDER]

Simulated games of 10 agents and 5 coalitions with known truth; and, where a folder with the UN's roll calls is
given (votes.csv with one column per state), learning on few roll calls and scoring on all the others, one
in-or-out decision per issue. Gaps are in utility points; the mean over seeds, of `auto` with its standard error.
"""

import argparse
import csv
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

import coterie
from coterie import Game, Strategy
from coterie.certificates.from_statistics import evidence_from
from coterie.learn.auto import recommend
from coterie.simulate import Simulation, models
from coterie.solve import Control, pure
from coterie.solve.objective import estimated_gap
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics
from harness import record, table

MODELS = tuple(name for name in models.MODELS if not name.endswith(("uniform", "redrawn")))
"""Those in which profiles differ: in the others every mean is 0, and so is every gap."""

SAMPLES = (30, 100, 300)
DELTA = 0.01


def compare(statistics: Statistics, game: Game) -> list[float]:
    """Return the gaps under `game` of auto's profile, of the best one under raw means, and of uniform play."""
    ours = recommend(statistics, DELTA, Control(0))
    spaces = statistics.setting.actions
    raw = pure(estimated_gap(evidence_from(statistics.whole), spaces), Control(0)).strategy
    uniform = Strategy.uniform(spaces, game.agents, game.coalitions)
    return [game.gap(ours.strategy), game.gap(raw), game.gap(uniform)]


def simulated(model: str, samples: int, seed: int) -> list[float]:
    rng = np.random.default_rng([seed, samples])
    source = Simulation.draw(10, 5, rng, model=model, actions_per_agent=3 if "mixed" in model else 8)
    with tempfile.TemporaryDirectory() as folder:
        source.write_log(Path(folder) / "log", samples)
        sigma = {"sigma": 1.0} if model == "mixed-effects" else {}
        # Every model is learnt under assumptions that are true for it, as far as sizes go.
        sizes = "aware" if model.startswith(("size", "mixed")) else "ignore"
        log = coterie.read_log(Path(folder) / "log", **sigma)  # type: ignore[arg-type]
        statistics = Statistics.of(log, sizes=sizes, parts=PARTS, seed=seed)
    return compare(statistics, source.game)


RollCall = tuple[list[str], list[float | None]]
"""The issues of a roll call, and each state's vote: 1 yes, 0 abstained, -1 no, None absent."""


def roll_calls(folder: Path) -> tuple[list[str], list[RollCall]]:
    with (folder / "votes.csv").open(encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    return header[5:], [(row[4].split("|"), [float(vote) if vote else None for vote in row[5:]]) for row in rows]


def pairs_of(states: list[str], calls: list[RollCall], issues: set[str]) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {name: [] for name in ("sample", "coalition", "agent", "partner", "utility")}
    for number, (about, votes) in enumerate(calls):
        present = [(state, vote) for state, vote in zip(states, votes, strict=True) if vote is not None]
        for issue in issues.intersection(about):
            for (one, first), (other, second) in combinations(present, 2):
                row = (str(number), issue, one, other, 1 - abs(first - second))
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    return columns


def voted(states: list[str], calls: list[RollCall], samples: int, seed: int) -> list[float]:
    """Learn on some roll calls, and score by the pair means of all the others."""
    import pyarrow as pa

    order = np.random.default_rng([seed, samples]).permutation(len(calls))
    learnt, rest = ([calls[t] for t in some] for some in (order[:samples], order[samples:]))
    issues = sorted({issue for about, _ in learnt for issue in about})
    choices = [[issue for t, issue in enumerate(issues) if choice >> t & 1] for choice in range(2 ** len(issues))]

    def log(some: list[RollCall]) -> coterie.Log:
        return coterie.Log.from_frames(pairs=pa.table(pairs_of(states, some, set(issues))), actions=choices)

    statistics = Statistics.of(log(learnt), parts=PARTS, seed=seed)
    others = Statistics.of(log(rest), parts=(1.0,)).whole
    setting, theirs = statistics.setting, others.setting
    names, rooms = positions(theirs.agents, states), [setting.coalitions.index(name) for name in theirs.coalitions]
    everybody = np.zeros((len(setting.coalitions), len(states), len(states)))
    everybody[np.ix_(rooms, names, names)] = others.means  # type: ignore[union-attr]
    mine = positions(setting.agents, states)
    means = everybody[np.ix_(range(len(everybody)), mine, mine)]
    game = Game(means, setting.actions, agents=setting.agents, coalitions=setting.coalitions)
    return compare(statistics, game)


def positions(some: Sequence[str], among: Sequence[str]) -> list[int]:
    return [list(among).index(name) for name in some]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--votes", type=Path, default=None, help="folder with votes.csv")
    options = parser.parse_args()
    rows = []

    def add(name: str, samples: int, found: list[list[float]]) -> None:
        means, errors = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(max(len(found) - 1, 1))
        ours = f"{means[0]:.3f} +- {errors[0]:.3f}"
        rows.append([name, samples, ours, *(f"{value:.3f}" for value in means[1:])])
        print(rows[-1], flush=True)

    for model in MODELS:
        for samples in SAMPLES:
            add(model, samples, [simulated(model, samples, seed) for seed in range(options.seeds)])
    if options.votes is not None:
        states, calls = roll_calls(options.votes)
        for samples in SAMPLES:
            add("UN votes", samples, [voted(states, calls, samples, seed) for seed in range(options.seeds)])
    text = table(["model", "M", "auto", "raw means", "uniform"], rows)
    text += (
        "\n\nGap under the truth (UN votes: under the means of all other roll calls), mean of "
        f"{options.seeds} seeds, +- one standard error."
    )
    votes = "" if options.votes is None else " --votes FOLDER"
    record("Few data", f"python benchmarks/few_data.py --seeds {options.seeds}{votes}", text)


if __name__ == "__main__":
    main()
