"""What learning reaches, and how fast: `auto`, the paper's scheme with exact expectations, and its literal form.

    python benchmarks/learn.py [--seeds 2] [--only 0,3] [--without 13,14]

The literal form is the paper's Algorithm 1 as its text describes it: from the uniform strategy, agents in turn
move a quarter of the way towards a best response to optimistic values, which are averages over 50 drawn joint
actions of the others, each evaluated term by term; up to 80 sweeps. All three start from the same sums of
the same log, so reading is not timed, and linear algebra has one thread, as `coterie learn` gives it. CPU seconds,
since other work on the machine stretches all others; mean over seeds; delta = 0.01.
"""

import argparse
import math
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import coterie
from coterie import Strategy
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_bonus, paper_evidence, paper_from, paper_radius
from coterie.game.dynamics import settle
from coterie.learn.auto import recommend
from coterie.simulate import Simulation
from coterie.solve import Control, paper
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics
from coterie.threads import one_thread
from harness import record, table

DELTA = 0.01
STEP, SWEEPS, TOLERANCE, DRAWS = 0.25, 80, 1e-3, 50


@dataclass(frozen=True)
class Setting:
    feedback: str
    n: int
    k: int
    samples: int
    literal: bool = True


SETTINGS = (
    *(Setting("semi-bandit", n, 5, m) for n in (5, 10, 25) for m in (1000, 30_000)),
    *(Setting("semi-bandit", n, 25, 30_000) for n in (5, 10, 25)),
    *(Setting("bandit", n, k, 30_000) for k in (5, 25) for n in (5, 10, 25)),
)


class Literal:
    """The paper's loop over a set of actions that all agents share; values term by term."""

    def __init__(self, n: int, actions: list[list[int]], seed: int) -> None:
        self.n, self.actions, self.draw = n, actions, random.Random(seed)

    def optimistic(self, agent: int, action: list[int], others: list[list[int]]) -> float:
        raise NotImplementedError

    def pessimistic(self, agent: int, action: list[int], others: list[list[int]]) -> float:
        raise NotImplementedError

    def drawn(self, strategy: list[list[float]]) -> list[list[int]]:
        return [self.actions[self.draw.choices(range(len(self.actions)), weights=row)[0]] for row in strategy]

    def response(self, agent: int, strategy: list[list[float]]) -> tuple[float, int]:
        totals = [0.0] * len(self.actions)
        for _ in range(DRAWS):
            others = self.drawn(strategy)
            for index, action in enumerate(self.actions):
                totals[index] += self.optimistic(agent, action, others)
        best = max(range(len(totals)), key=lambda index: totals[index])
        return totals[best] / DRAWS, best

    def surrogate(self, strategy: list[list[float]]) -> float:
        gaps = []
        for agent in range(self.n):
            total = 0.0
            for _ in range(DRAWS):
                drawn = self.drawn(strategy)
                total += self.pessimistic(agent, drawn[agent], drawn)
            gaps.append(self.response(agent, strategy)[0] - total / DRAWS)
        return max(gaps)

    def run(self) -> list[list[float]]:
        strategy = [[1 / len(self.actions)] * len(self.actions) for _ in range(self.n)]
        best, smallest, last = [row[:] for row in strategy], math.inf, math.inf
        for sweep in range(SWEEPS):
            for agent in range(self.n):
                _, chosen = self.response(agent, strategy)
                strategy[agent] = [(1 - STEP) * share + STEP * (a == chosen) for a, share in enumerate(strategy[agent])]
            now = self.surrogate(strategy)
            if now < smallest:
                best, smallest = [row[:] for row in strategy], now
            if sweep and abs(last - now) < TOLERANCE:
                break
            last = now
        return best


class LiteralPairs(Literal):
    """Semi-bandit: means plus or minus eq. (9), pair by pair."""

    def __init__(self, part: Any, actions: list[list[int]], seed: int) -> None:
        super().__init__(part.setting.n_agents, actions, seed)
        bonus = paper_bonus(part.counts.astype(float), self.n, part.setting.n_coalitions, DELTA)
        self.upper, self.lower = (part.means + bonus).tolist(), (part.means - bonus).tolist()

    def _sum(self, table: list[list[list[float]]], agent: int, action: list[int], others: list[list[int]]) -> float:
        total = 0.0
        for coalition in action:
            for partner in range(self.n):
                if partner != agent and coalition in others[partner]:
                    total += table[coalition][agent][partner]
        return total

    def optimistic(self, agent: int, action: list[int], others: list[list[int]]) -> float:
        return self._sum(self.upper, agent, action, others)

    def pessimistic(self, agent: int, action: list[int], others: list[list[int]]) -> float:
        return self._sum(self.lower, agent, action, others)


class LiteralTotals(Literal):
    """Bandit: ridge estimates plus or minus sqrt(beta) |z|, with z built term by term."""

    def __init__(self, part: Any, actions: list[list[int]], seed: int) -> None:
        setting = part.setting
        super().__init__(setting.n_agents, actions, seed)
        ridge: Any = paper_evidence(part).estimate  # type: ignore[union-attr]
        d = setting.n_features
        self.inverse = [ridge.factor(i).solve(np.eye(d)) for i in range(self.n)]
        self.theta = [ridge.theta(i) for i in range(self.n)]
        self.radius = paper_radius(self.n, setting.n_coalitions, part.n_samples, DELTA)
        self.dimension = d

    def _value(self, agent: int, action: list[int], others: list[list[int]]) -> tuple[float, float]:
        z = np.zeros(self.dimension)
        for coalition in action:
            for partner in range(self.n):
                if partner != agent and coalition in others[partner]:
                    z[coalition * (self.n - 1) + partner - (partner > agent)] = 1.0
        return float(z @ self.theta[agent]), self.radius * math.sqrt(max(float(z @ self.inverse[agent] @ z), 0.0))

    def optimistic(self, agent: int, action: list[int], others: list[list[int]]) -> float:
        value, width = self._value(agent, action, others)
        return value + width

    def pessimistic(self, agent: int, action: list[int], others: list[list[int]]) -> float:
        value, width = self._value(agent, action, others)
        return value - width


@one_thread()
def run(setting: Setting, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, setting.n, setting.k, setting.samples])
    source = Simulation.draw(setting.n, setting.k, rng, actions_per_agent=3)
    game, bandit = source.game, setting.feedback == "bandit"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        source.write_log(path, setting.samples, feedback=setting.feedback, table_format="parquet")  # type: ignore[arg-type]
        joint = bandit and setting.n <= 10
        statistics = Statistics.of(coterie.read_log(path), parts=PARTS, seed=seed, joint=joint, unweighted=bandit)
    whole, spaces = statistics.whole, statistics.setting.actions
    result: dict[str, float] = {}

    def timed(name: str, found: Strategy, begin: float) -> None:
        result[f"{name} seconds"] = time.process_time() - begin
        result[f"{name} gap"] = game.gap(found)

    begin = time.process_time()
    ours = recommend(statistics, DELTA, Control(seed))
    timed("auto", ours.strategy, begin)
    result["auto"] = ours.certificate.gap
    assert result["auto gap"] <= result["auto"] + 1e-9
    begin = time.process_time()
    seen = evidence_from(whole)
    settled, _, _ = settle(seen.game(spaces), spaces.sample(rng, 1), rng)
    quick = Strategy.pure(settled[0], game.agents, game.coalitions)
    result["one start"] = paired(seen, quick, spaces, DELTA).gap
    timed("one start", quick, begin)
    begin = time.process_time()
    evidence = paper_evidence(whole) if bandit else evidence_from(whole)
    assert evidence is not None
    exact = paper(evidence, spaces, DELTA, Control(seed), n_samples=setting.samples)
    timed("exact", exact.strategy, begin)
    result["exact"] = exact.value
    if setting.literal:
        listed = spaces.spaces[0].enumerate()
        actions = [np.flatnonzero(row).tolist() for row in listed]
        begin = time.process_time()
        literal = (LiteralTotals if bandit else LiteralPairs)(whole, actions, seed)
        found = literal.run()
        strategy = Strategy.mixed([(listed, np.array(row) / sum(row)) for row in found], game.agents, game.coalitions)
        timed("literal", strategy, begin)
        # What it says is an average over draws; what its strategy is worth is this.
        certificate = paper_from(whole, strategy, spaces, DELTA)
        assert certificate is not None
        result["literal"] = certificate.gap
    return result


def shown(mean: dict[str, float], name: str) -> list[str]:
    if name not in mean:
        return ["-", "-", "-"]
    return [f"{mean[name]:.3g}", f"{mean[f'{name} gap']:.3f}", f"{mean[f'{name} seconds']:.3f}"]


def titled(setting: Setting) -> str:
    return f"{setting.feedback} {setting.n}, {setting.k}, {setting.samples}"


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", type=numbers, default=[], help="settings by number, such as 0,3; not recorded")
    parser.add_argument("--without", type=numbers, default=[], help="settings by number that are left out")
    options = parser.parse_args()
    chosen = [index for index in options.only or range(len(SETTINGS)) if index not in options.without]
    rows = []
    for index in chosen:
        setting = SETTINGS[index]
        found = [run(setting, seed) for seed in range(options.seeds)]
        mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
        smaller = faster = sooner = "-"
        if setting.literal:
            smaller = f"{mean['literal'] / mean['auto']:.0f}" if mean["auto"] else "ours is 0"
            faster = f"{mean['literal seconds'] / mean['auto seconds']:.1f}"
            sooner = f"{mean['literal seconds'] / mean['one start seconds']:.0f}"
        rows.append(
            [titled(setting),
             *shown(mean, "auto"), *shown(mean, "one start"), *shown(mean, "exact"), *shown(mean, "literal"),
             smaller, faster, sooner]
        )  # fmt: skip
        print(rows[-1], flush=True)
    names = ("auto", "one start", "exact", "literal")
    columns = [f"{name}: {what}" for name in names for what in ("certificate", "true gap", "CPU s")]
    text = table(["n, k, M", *columns, "auto: times smaller", "auto: times faster", "one start: times faster"], rows)
    text += (
        f"\n\nMean of {options.seeds} seeds. auto: `coterie learn`'s default, pure profiles. one start: best-response "
        "dynamics on the estimate from one random profile, and its paired certificate. exact: the paper's scheme "
        "with exact expectations. literal: the same scheme with 50 draws per value, term by term in plain Python. "
        "The last columns compare with literal."
    )
    if options.only:
        print(text)
        return
    left_out = ",".join(map(str, options.without))
    if left_out:
        text += f" Left out: {'; '.join(titled(SETTINGS[index]) for index in options.without)}."
    words = f"--seeds {options.seeds}" + (f" --without {left_out}" if left_out else "")
    record("Learning", f"python benchmarks/learn.py {words}", text)


if __name__ == "__main__":
    main()
