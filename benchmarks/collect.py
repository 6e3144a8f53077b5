"""Planned collection: does the predicted certificate come true, and how many samples does a plan save?

The profile is fixed: the best stable profile of the estimates of a first log. Then samples are collected by
the plan, or at random (everybody uniform), and certified either together with the first log (`paired`) or by
themselves (`holdout`, which is what a plan that looked at utilities leaves valid).
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certify import fixed, paired
from coterie.certify.evidence import PairEvidence
from coterie.collect import Collection, plan_collection
from coterie.demo import consulting_firm
from coterie.estimate.intervals import Bounds
from coterie.estimate.pairs import size_free
from coterie.simulate import Simulation
from coterie.simulate.policies import Independent, Policy
from coterie.solve import estimated_game
from coterie.solve.dynamics import best_pure_profile
from coterie.strategy import Strategy
from harness import record, table

DELTA = 0.01


@dataclass
class Replay(Policy):
    """Plays given joint actions, shape (b, n, k), one after the other."""

    joint_actions: BoolArray
    place: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        _, n, k = self.joint_actions.shape
        return n, k

    def sample(self, rng: np.random.Generator, count: int) -> BoolArray:
        del rng
        self.place += count
        return self.joint_actions[self.place - count : self.place]

    def size_probabilities(self) -> FloatArray:
        raise NotImplementedError

    def meeting_probabilities(self) -> FloatArray:
        raise NotImplementedError


def sums(source: Simulation, policy: Policy, samples: int, rng: np.random.Generator) -> FloatArray:
    """Draw samples; return counts, sums and sums of squares of every pair, shape (3, k, n, n)."""
    n, k = source.game.n_agents, source.game.n_coalitions
    found = np.zeros((3, k, n, n))
    for batch in Simulation(source.model, policy, source.game, rng).batches(samples):
        for t, values in enumerate((np.ones_like(batch.utility), batch.utility, batch.utility**2)):
            np.add.at(found[t], (batch.coalition, batch.agent, batch.partner), values)
    return found + np.swapaxes(found, 2, 3)


def evidence(source: Simulation, found: FloatArray) -> PairEvidence:
    names = (source.game.agents, source.game.coalitions)
    return PairEvidence(size_free(*found, Bounds(*source.model.utility_range)), names=names)


@dataclass(frozen=True)
class Case:
    """A first log and the profile learnt from it."""

    source: Simulation
    first: FloatArray
    strategy: Strategy
    rng: np.random.Generator

    @classmethod
    def of(cls, source: Simulation, samples: int, rng: np.random.Generator) -> "Case":
        first = sums(source, source.policy, samples, rng)
        game = estimated_game(evidence(source, first), source.game.actions)
        return cls(source, first, best_pure_profile(game, rng, starts=32).strategy, rng)

    def plan(self, samples: int, *, fresh: bool) -> Collection:
        known, spaces = evidence(self.source, self.first), self.source.game.actions
        return plan_collection(known, self.strategy, spaces, DELTA, samples, self.rng, fresh=fresh)

    def certificate(self, policy: Policy, samples: int, *, fresh: bool) -> float:
        new = sums(self.source, policy, samples, self.rng)
        known, spaces = evidence(self.source, new if fresh else self.first + new), self.source.game.actions
        return (fixed if fresh else paired)(known, self.strategy, spaces, DELTA).gap

    def collected(self, plan: Collection) -> float:
        joint = np.concatenate([np.repeat(p.strategy.sets[None], p.times, axis=0) for p in plan.plan])
        return self.certificate(Replay(joint), len(joint), fresh=plan.fresh)

    def at_random(self, samples: int, *, fresh: bool) -> float:
        return self.certificate(Independent(self.source.game.actions), samples, fresh=fresh)


def cases(seeds: int) -> Iterator[tuple[str, list[Case], tuple[int, ...]]]:
    firm = consulting_firm().simulation
    yield (
        "firm, 24 agents, 240 months",
        [Case.of(firm, 240, np.random.default_rng(s)) for s in range(seeds)],
        (100, 400),
    )
    drawn = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        drawn.append(Case.of(Simulation.draw(10, 5, rng, actions_per_agent=8), 1000, rng))
    yield "10 agents, 5 coalitions, 1000 samples", drawn, (300, 1000, 4000)


def predictions(seeds: int) -> str:
    rows = []
    for name, listed, more in cases(seeds):
        for samples in more:
            for fresh in (False, True):
                found = []
                for case in listed:
                    plan = case.plan(samples, fresh=fresh)
                    real = case.collected(plan)
                    within = plan.likely[0] <= real <= plan.likely[1]
                    random = case.at_random(samples, fresh=fresh)
                    found.append((plan.now, plan.predicted, real, within, plan.random, random, plan.least))
                now, predicted, real, within, random, real_random, least = np.mean(found, axis=0)
                each = [abs(one[1] - one[2]) / max(one[2], 1e-9) for one in found]
                rows.append([
                    name, samples, "new samples alone" if fresh else "all", f"{now:.2f}", f"{predicted:.3f}",
                    f"{real:.3f}", f"{100 * (predicted / real - 1):+.1f} %", f"{100 * np.median(each):.1f} %",
                    f"{100 * within:.0f} %", f"{random:.3f}", f"{real_random:.3f}", f"{least:.3f}",
                ])  # fmt: skip
                print(rows[-1], flush=True)
    header = [
        *("game and first log", "more samples", "certified by", "before", "predicted", "simulated", "error of means"),
        *("median error", "in the 80 % range", "random, predicted", "random, simulated", "no plan below"),
    ]
    return table(header, rows)


def samples_to_target(case: Case, target: float, *, fresh: bool, planned: bool) -> int:
    """Return the first of a series of sample sizes, 20 % apart, whose certificate is at most the target."""
    samples = 50
    while samples < 200_000:
        found = case.collected(case.plan(samples, fresh=fresh)) if planned else case.at_random(samples, fresh=fresh)
        if found <= target:
            return samples
        samples = int(1.2 * samples)
    raise RuntimeError("the target is out of reach")


def savings(seeds: int) -> str:
    rows = []
    firm = consulting_firm().simulation
    for fresh, target in ((True, 2.0), (True, 1.0), (False, 2.0)):
        found = []
        for seed in range(seeds):
            case = Case.of(firm, 240, np.random.default_rng(seed))
            found.append([samples_to_target(case, target, fresh=fresh, planned=planned) for planned in (True, False)])
        planned, random = np.mean(found, axis=0)
        worst = max(one / other for one, other in found)
        rows.append(["new samples alone" if fresh else "all", target, f"{planned:.0f}", f"{random:.0f}",
                     f"{planned / random:.2f}", f"{worst:.2f}"])  # fmt: skip
        print(rows[-1], flush=True)
    return table(["certified by", "target", "planned samples", "random samples", "share", "largest share"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    first, second = predictions(options.seeds), savings(options.seeds)
    text = (
        f"Means over {options.seeds} first logs, delta = {DELTA}, profile fixed by the first log. Predicted against "
        f"simulated certificates:\n\n{first}\n\nSamples until the certificate of the consulting firm's profile is at "
        f"most the target, steps of 20 %:\n\n{second}\n\nA profile's true gap is not known when its certificate is "
        "predicted: the median error is that of single logs, the error of means that of the method."
    )
    record("Collecting", f"python benchmarks/collect.py --seeds {options.seeds}", text)


if __name__ == "__main__":
    main()
