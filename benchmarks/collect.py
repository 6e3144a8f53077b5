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
from coterie.certificates import fixed, paired
from coterie.certificates.pair_evidence import PairEvidence
from coterie.collect import Collection, plan_collection
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Aware, SizeFree
from coterie.game.dynamics import best_pure_profile
from coterie.game.strategy import Strategy
from coterie.simulate import Simulation
from coterie.simulate.demo import consulting_firm
from coterie.simulate.policies import Independent, Policy
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


def sums(source: Simulation, policy: Policy, samples: int, rng: np.random.Generator, *, aware: bool) -> FloatArray:
    """Draw samples; return counts, sums and sums of squares of every pair, shape (3, k, n, n), or by size too."""
    n, k = source.game.n_agents, source.game.n_coalitions
    shape = (k, n, n, n + 1) if aware else (k, n, n)
    found = np.zeros((3, *shape))
    for batch in Simulation(source.model, policy, source.game, rng).batches(samples):
        size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
        place = (batch.coalition, batch.agent, batch.partner, *([size] if aware else []))
        cell = np.ravel_multi_index(place, shape)
        for power in range(3):
            found[power] += np.bincount(cell, batch.utility**power, minlength=found[power].size).reshape(shape)
    return found + np.swapaxes(found, 2, 3)


def evidence(source: Simulation, found: FloatArray) -> PairEvidence:
    names = (source.game.agents, source.game.coalitions)
    estimate = PairEstimate.from_sums(
        Aware() if found.ndim == 5 else SizeFree(), *found, Bounds(*source.model.utility_range)
    )
    return PairEvidence(estimate, names=names)


@dataclass(frozen=True)
class Case:
    """A first log and the profile learnt from it."""

    source: Simulation
    first: FloatArray
    strategy: Strategy
    rng: np.random.Generator

    @classmethod
    def of(cls, source: Simulation, samples: int, rng: np.random.Generator, *, aware: bool = False) -> "Case":
        first = sums(source, source.policy, samples, rng, aware=aware)
        game = evidence(source, first).game(source.game.actions)
        return cls(source, first, best_pure_profile(game, rng, starts=32).strategy, rng)

    def plan(self, samples: int, *, fresh: bool) -> Collection:
        known, spaces = evidence(self.source, self.first), self.source.game.actions
        return plan_collection(known, self.strategy, spaces, DELTA, samples, self.rng, fresh=fresh)

    def certificate(self, policy: Policy, samples: int, *, fresh: bool) -> float:
        new = sums(self.source, policy, samples, self.rng, aware=self.first.ndim == 5)
        known, spaces = evidence(self.source, new if fresh else self.first + new), self.source.game.actions
        return (fixed if fresh else paired)(known, self.strategy, spaces, DELTA).gap

    def collected(self, plan: Collection) -> float:
        joint = np.concatenate([np.repeat(p.strategy.sets[None], p.times, axis=0) for p in plan.plan])
        return self.certificate(Replay(joint), len(joint), fresh=plan.fresh)

    def at_random(self, samples: int, *, fresh: bool) -> float:
        return self.certificate(Independent(self.source.game.actions), samples, fresh=fresh)


def cases(times: float) -> Iterator[tuple[str, Iterator[Case], tuple[int, ...]]]:
    """Yield games with first logs; drawn games need more logs, since each has another gap.

    All rows of a game share its logs, so what these have in common shows in each of them.
    """

    def some(logs: int) -> int:
        return max(round(logs * times), 2)

    firm = consulting_firm().simulation
    yield (
        "firm, 24 agents, 240 months",
        (Case.of(firm, 240, np.random.default_rng(s)) for s in range(some(12))),
        (100, 400),
    )
    yield "6 agents, 4 coalitions, 300 samples", drawn(some(40), 6, 4, 300), (100, 400)
    yield "10 agents, 5 coalitions, 1000 samples", drawn(some(40), 10, 5, 1000), (300, 1000, 4000)
    yield "5 agents, 3 coalitions, 1000 samples, by size", drawn(some(20), 5, 3, 1000, "size-gaussian"), (300, 1000)


def drawn(logs: int, n: int, k: int, samples: int, model: str = "gaussian") -> Iterator[Case]:
    for seed in range(logs):
        rng = np.random.default_rng([seed, n])
        source = Simulation.draw(n, k, rng, model=model, actions_per_agent=min(8, 2**k - 1))
        yield Case.of(source, samples, rng, aware=model.startswith("size"))


RELATIVE, LEAST, ABSOLUTE = 0.1, 0.2, 0.02
"""Predictions are to be within 10 % where the certificate is 0.2 or more, and within 0.02 below."""


def predictions(times: float) -> str:
    rows = []
    for name, made, more in cases(times):
        listed = list(made)
        for samples in more:
            for fresh in (False, True):
                found = np.array([_tried(case, samples, fresh=fresh) for case in listed])
                now, predicted, real, within, random, real_random, least = found.mean(axis=0)
                error = found[:, 1] - found[:, 2]
                deviation = error.std(ddof=1) / np.sqrt(len(error))
                holds = abs(error.mean()) <= (RELATIVE * real if real >= LEAST else ABSOLUTE)
                rows.append([
                    name, len(listed), samples, "new samples alone" if fresh else "all", f"{now:.2f}",
                    f"{predicted:.3f}", f"{real:.3f}",
                    f"{error.mean():+.3f} ({100 * error.mean() / real:+.1f} % +- {100 * deviation / real:.1f} %)",
                    "yes" if holds else "NO", f"{np.median(np.abs(error)):.3f}",
                    f"{100 * within:.0f} %", f"{random:.3f}", f"{real_random:.3f}", f"{least:.3f}",
                ])  # fmt: skip
                print(rows[-1], flush=True)
    header = [
        *("game and first log", "logs", "more samples", "certified by", "before", "predicted", "simulated"),
        *("error of the mean", "as claimed", "median error of one log", "in the 80 % range", "random, predicted"),
        *("random, simulated", "no plan below"),
    ]
    return table(header, rows)


def _tried(case: Case, samples: int, *, fresh: bool) -> list[float]:
    plan = case.plan(samples, fresh=fresh)
    real, random = case.collected(plan), case.at_random(samples, fresh=fresh)
    within = plan.likely[0] <= real <= plan.likely[1]
    return [plan.now, plan.predicted, real, within, plan.random, random, plan.least]


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
    parser.add_argument("--times", type=float, default=5, help="multiples of 12 to 40 logs per row")
    parser.add_argument("--savings", type=int, default=4, help="logs of the firm that are collected until a target")
    options = parser.parse_args()
    first, second = predictions(options.times), savings(options.savings)
    text = (
        f"Means over first logs, delta = {DELTA}, profile fixed by the first log. Predicted against simulated "
        f"certificates; claimed is an error of the mean of at most {100 * RELATIVE:.0f} % where the certificate is "
        f"{LEAST} or more, and of at most {ABSOLUTE} below (+- is one standard error of the comparison itself):"
        f"\n\n{first}\n\nSamples until the certificate of the consulting firm's profile is at most the target, "
        f"{options.savings} logs, steps of 20 %:\n\n{second}\n\nA profile's true gap is not known when "
        "its certificate is predicted: the error of one log is mostly that, the error of the mean is the method's."
    )
    words = f"--times {options.times:g} --savings {options.savings}"
    record("Collecting", f"python benchmarks/collect.py {words}", text)


if __name__ == "__main__":
    main()
