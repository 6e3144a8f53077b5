"""Is what is expected of a recommendation what it turns out to be worth, and how often is that within its 80 % range?

Hackathons whose teams get one score each (people and pairs of several strengths, by turns), classes in which everybody
has a total, and firms in which colleagues rate each other; teams are recommended from each log, and judged by the truth
behind it.
"""

import argparse
from collections.abc import Callable

import numpy as np
import pyarrow as pa

import coterie
from coterie import Game, Log, Result, Rules, Strategy
from coterie.simulate import ClassPlan, FirmPlan, rated_firm, school_class
from coterie.simulate.records import Records
from harness import record, table

WORLDS = ((3.0, 2.0, 3.0), (0.1, 4.0, 2.0), (2.0, 0.3, 3.0), (1.0, 1.5, 4.0))
"""Standard deviations of people, of pairs and of the noise of a score."""

Judged = list[tuple[float, float, float, float]]
"""What is expected, what is true, and the ends of the range: of the value, and of the gain over today."""


def learnt(log: Log, size: str, today: Strategy | None = None) -> Result:
    wanted = coterie.StableLearner(rules=Rules(team_size=size), value="average", today=today, certificate="paired")
    return wanted.fit(log).result_


def judged(result: Result, truth: Game, today: Strategy | None = None) -> Judged:
    game, first = truth.valued("average"), result.options[0]
    worth = game.values(Strategy.pure(result.strategy.sets, truth.agents, truth.coalitions)).mean()
    found = [(first.expected_value, float(worth), *(first.expected_range or (np.nan, np.nan)))]
    if result.today is not None and today is not None:
        gain = worth - game.values(today).mean()
        found.append((result.today.expected_improvement, float(gain), *result.today.range))
    return found


def hackathon(seed: int, events: int) -> Judged:
    rng, n, size = np.random.default_rng(seed), 12, 3
    skill, pair, noise = WORLDS[seed % len(WORLDS)]
    ability, both = rng.normal(0, skill, n), np.triu(rng.normal(0, pair, (n, n)), 1)
    means = ability[:, None] + ability + both + both.T
    np.fill_diagonal(means, 0.0)
    agents, teams = [f"p{i:02}" for i in range(n)], [str(t + 1) for t in range(n // size)]
    members: list[tuple[str, str, str]] = []
    scores: list[tuple[str, str, float]] = []
    for event in range(events):
        for team, who in zip(teams, rng.permutation(n).reshape(-1, size), strict=True):
            score = means[np.ix_(who, who)].sum() / (size * (size - 1)) + rng.normal(0, noise)
            members += [(str(event), agents[i], team) for i in who]
            scores.append((str(event), team, float(np.clip(score, -50, 50))))
    log = Log.from_frames(
        memberships=columns(("sample", "agent", "coalition"), members),
        totals=columns(("sample", "coalition", "utility"), scores), totals_are="team-score-averages",
        utility_range=(-50, 50), pool_coalitions=True, agents=agents,
    )  # fmt: skip
    game = Game(means, "one", agents=agents, coalitions=teams)
    return judged(learnt(log, str(size)), game)


def columns(names: tuple[str, ...], rows: list[tuple[str, str, str]] | list[tuple[str, str, float]]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def records(made: Records, size: str) -> Judged:
    return judged(learnt(made.log(), size, made.today), made.truth, made.today)


def school(seed: int, terms: int) -> Judged:
    return records(school_class(seed, ClassPlan(n_agents=12, table_size=4, terms=terms)), "4")


def firm(seed: int, months: int) -> Judged:
    return records(rated_firm(seed, FirmPlan(n_agents=12, n_coalitions=3, months=months, sizes=(3, 5))), "3:5")


SETTINGS: tuple[tuple[str, Callable[[int, int], Judged], int], ...] = (
    ("scores of teams", hackathon, 12), ("scores of teams", hackathon, 40), ("totals", school, 12),
    ("totals", school, 40), ("ratings", firm, 12), ("ratings", firm, 36),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=40)
    options = parser.parse_args()
    rows = []
    for name, make, samples in SETTINGS:
        found = [make(seed, samples) for seed in range(options.logs)]
        for what, some in zip(("value", "gain over today"), zip(*found, strict=True), strict=False):
            expected, true, low, high = np.array(some).T
            error = expected - true
            held = np.mean((low <= true) & (true <= high))
            bias = f"{error.mean():+.3f} ± {error.std() / np.sqrt(len(error)):.3f}"
            rows.append([name, samples, what, f"{true.mean():.3f}", bias, f"{held:.0%}", f"{np.mean(high - low):.3f}"])
            print(rows[-1], flush=True)
    text = table(["log", "samples", "of", "true", "expected - true", "within the 80 % range", "its width"], rows)
    record("Expected values", f"python benchmarks/expected_values.py --logs {options.logs}", text)


if __name__ == "__main__":
    main()
