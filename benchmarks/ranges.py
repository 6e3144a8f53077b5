"""How often do the 80 % ranges of what is expected hold, and are they too low or too high?

    python benchmarks/ranges.py [--logs 20] [--kinds scores totals ratings] [--worlds high ...] [--rounds 5 40]

Twelve people; what a pair is worth is a level, a part of each of the two and one of the pair. Teams are drawn anew each
round, and what is recorded is the score of each team (the average over its pairs), everybody's total, or what everybody
says of each teammate, with noise, and within the scale of -50 to 50; of scores the scale is declared that they show, to
whole tens, as `coterie start` does, which pairs may exceed. Teams are then chosen by what is expected of them
(exchanges of two people while that pays), and judged by the truth: all of them, each, whoever has least, and the
difference to the last round's. A bias is what is expected less what is true (of whoever has least: the middle of the
range less what is true), in widths of the range.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from coterie import Log
from coterie.arrays import FloatArray, IntArray
from coterie.certificates.from_statistics import evidence_from
from coterie.learn.beliefs import Beliefs, beliefs_from
from coterie.statistics.statistics import Statistics
from harness import record, table

PEOPLE, LIMIT, DRAWS = 12, 50.0, 200
SIZES = {"scores": 3, "totals": 4, "ratings": 4}
RANGES = ("all teams", "each team", "whoever has least", "difference to today")


@dataclass(frozen=True)
class World:
    """Where means are, and the standard deviations of people's parts, of pairs' and of the noise."""

    level: float
    person: float
    pair: float
    noise: float
    skewed: bool = False


def from_the_prior(rng: np.random.Generator) -> World:
    """Draw a world: any share of noise in a score is as likely as any other, and so is any division of the rest."""
    noise, person = rng.uniform(size=2)
    signal = 100 * (1 - noise)
    # A team's average of three pairs: 4/3 of a person's variance, 1/3 of a pair's.
    of_people, of_pairs = signal * person * 3 / 4, signal * (1 - person) * 3
    return World(rng.normal(0, 10), of_people**0.5, of_pairs**0.5, 10 * noise**0.5)


WORLDS: dict[str, Callable[[np.random.Generator], World]] = {
    "prior": from_the_prior,
    "high": lambda _: World(35, 4, 6, 6),
    "low": lambda _: World(-35, 4, 6, 6),
    "people": lambda _: World(5, 8, 0.5, 8),
    "pairs": lambda _: World(5, 0.5, 12, 6),
    "skewed": lambda _: World(5, 5, 7, 7, skewed=True),
    "noise": lambda _: World(5, 1, 1.5, 10),
}


@dataclass(frozen=True, eq=False)
class Truth:
    """What pairs are worth before noise and scale, the noise at its quantiles, and what the log counts from."""

    kind: str
    means: FloatArray
    noise: FloatArray
    neutral: float

    def values(self, teams: IntArray) -> FloatArray:
        """Return what everybody gets on average in teams (teams, size), in the order of the teams."""
        found = self.means[teams[:, :, None], teams[:, None, :]]
        if self.kind == "scores":
            score = self._kept(averages(found).mean(axis=1))
            return np.repeat(score[:, None], teams.shape[1], axis=1)
        return averages(self._kept(found))

    def _kept(self, means: FloatArray) -> FloatArray:
        return np.asarray(np.clip(means[..., None] + self.noise, -LIMIT, LIMIT).mean(axis=-1) - self.neutral)


def averages(by_pair: FloatArray) -> FloatArray:
    """Return averages over teammates of values (teams, size, size)."""
    off = ~np.eye(by_pair.shape[1], dtype=bool)
    return np.asarray((by_pair * off).sum(axis=2) / (by_pair.shape[1] - 1))


def drawn(kind: str, world: World, rounds: int, rng: np.random.Generator) -> tuple[Log, Truth, IntArray]:
    """Return a log, the truth behind it, and the teams of the last round."""
    n, size = PEOPLE, SIZES[kind]
    person, pair = rng.normal(0, world.person, (2, n)), rng.normal(0, world.pair, (n, n))
    if kind == "ratings":
        means = world.level + person[0][:, None] + person[1] + pair
    else:
        means = world.level + person[0][:, None] + person[0] + np.triu(pair, 1) + np.triu(pair, 1).T

    def noise(shape: tuple[int, ...]) -> FloatArray:
        return world.noise * (rng.exponential(size=shape) - 1 if world.skewed else rng.normal(size=shape))

    teams = np.stack([rng.permutation(n).reshape(-1, size) for _ in range(rounds)])
    names = np.array([f"p{i:02}" for i in range(n)])
    sample, team = np.indices(teams.shape[:2])
    keys = {"sample": sample.ravel(), "coalition": team.ravel()}
    found, neutral = means[teams[..., :, None], teams[..., None, :]], 0.0
    options: dict[str, Any] = {"utility_range": (-LIMIT, LIMIT), "pool_coalitions": True, "agents": names.tolist()}
    members = pa.table(
        {**{name: np.repeat(key, size).astype(str) for name, key in keys.items()}, "agent": names[teams.ravel()]}
    )
    if kind == "scores":
        off = ~np.eye(size, dtype=bool)
        score = found[..., off].mean(axis=-1)
        score = np.clip(score + noise(score.shape), -LIMIT, LIMIT)
        totals = {**{name: key.astype(str) for name, key in keys.items()}, "utility": score.ravel()}
        options["utility_range"] = (10 * np.floor(score.min() / 10), 10 * np.ceil(score.max() / 10))
        neutral = options["neutral"] = options["utility_range"][0]
        log = Log.from_frames(memberships=members, totals=pa.table(totals), totals_are="team-score-averages", **options)
    else:
        added = noise(found.shape)
        if kind == "totals":
            added = np.triu(added, 1) + np.swapaxes(np.triu(added, 1), -1, -2)
        values = np.clip(found + added, -LIMIT, LIMIT)
        if kind == "totals":
            utility = averages(values.reshape(-1, size, size)) * (size - 1)
            totals = {name: members[name] for name in ("sample", "coalition", "agent")} | {"utility": utility.ravel()}
            log = Log.from_frames(memberships=members, totals=pa.table(totals), symmetric=True, **options)
        else:
            at = np.nonzero(np.broadcast_to(~np.eye(size, dtype=bool), values.shape))
            pairs = {
                "sample": at[0].astype(str), "coalition": at[1].astype(str), "agent": names[teams[at[0], at[1], at[2]]],
                "partner": names[teams[at[0], at[1], at[3]]], "utility": values[at],
            }  # fmt: skip
            log = Log.from_frames(memberships=members, pairs=pa.table(pairs), symmetric=False, **options)
    spots = (np.arange(400) + 0.5) / 400
    quantiles = -np.log1p(-spots) - 1 if world.skewed else np.sort(np.random.default_rng(0).normal(size=400))
    return log, Truth(kind, means, world.noise * (quantiles - quantiles.mean()), neutral), teams[-1]


def believed(log: Log) -> Beliefs:
    statistics = Statistics.for_learning(log, parts=(1.0,))
    return beliefs_from(evidence_from(statistics.whole), symmetric=statistics.setting.symmetric)


def best_teams(means: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Return teams that no exchange of two people makes better, the best of a few."""
    both, found = means + means.T, []
    for _ in range(6):
        place, pays = rng.permutation(np.arange(len(means)) // size), True
        while pays:
            pays = False
            for i, j in combinations(range(len(means)), 2):
                if place[i] != place[j]:
                    one, other = place == place[i], place == place[j]
                    more = both[i] @ other + both[j] @ one - both[i] @ one - both[j] @ other
                    if more - 2 * both[i, j] > 1e-9:
                        place[i], place[j] = place[j], place[i]
                        pays = True
        value = float((both * (place[:, None] == place)).sum())
        found.append((value, place))
    return np.argsort(max(found, key=lambda one: one[0])[1], kind="stable").reshape(-1, size)


def told(values: FloatArray) -> list[float]:
    """Return the mean over all, over each team, and the least."""
    return [float(values.mean()), *values.mean(axis=1).tolist(), float(values.min())]


def judged(kind: str, world: World, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Return (what is expected, what is true, low, high) of every range that is told after a log of a world."""
    log, truth, today = drawn(kind, world, rounds, rng)
    beliefs = believed(log)
    teams = best_teams(beliefs.middle[0], SIZES[kind], rng)

    def of(means: FloatArray) -> list[float]:
        found, before = (averages(means[one[:, :, None], one[:, None, :]]) for one in (teams, today))
        if kind == "scores":
            found, before = (np.broadcast_to(one.mean(axis=1, keepdims=True), one.shape) for one in (found, before))
        return [*told(found), float(found.mean() - before.mean())]

    draws = np.array([of(values[0]) for values in beliefs.draws(rng, DRAWS)])
    bounds = beliefs.evidence.bounds
    draws[:, :-1] = np.clip(draws[:, :-1], bounds.low, bounds.high)
    true = truth.values(teams)
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    expected = np.array(of(beliefs.middle[0]))
    expected[-2] = (low[-2] + high[-2]) / 2
    rows = [expected, [*told(true), float(true.mean() - truth.values(today).mean())], low, high]
    return np.array(rows, dtype=np.float64)


def summed(every: FloatArray) -> list[str]:
    """Return how often each range holds, with its bias, from what was found in every log."""
    told_of: Sequence[slice] = (slice(0, 1), slice(1, -2), slice(-2, -1), slice(-1, None))
    cells = []
    for part in told_of:
        expected, true, low, high = (every[:, row, part] for row in range(4))
        held = np.mean((low <= true) & (true <= high))
        cells.append(f"{held:.0%} {np.mean(expected - true) / np.mean(high - low):+.2f}")
    return cells


def measured(kind: str, name: str, rounds: int, logs: int) -> list[str]:
    """Return how often each range holds, with its bias."""
    rows = []
    for seed in range(logs):
        rng = np.random.default_rng([seed, rounds, *name.encode()])
        rows.append(judged(kind, WORLDS[name](rng), rounds, rng))
    return summed(np.stack(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--kinds", nargs="+", default=list(SIZES))
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    parser.add_argument("--rounds", nargs="+", type=int, default=[5, 40])
    options = parser.parse_args()
    rows, begin = [], time.process_time()
    for kind in options.kinds:
        for rounds in options.rounds:
            for name in options.worlds:
                cells = measured(kind, name, rounds, options.logs)
                rows.append([kind, rounds, name, *cells])
                print(rows[-1], f"{time.process_time() - begin:.0f} s", flush=True)
    header = ["recorded", "rounds", "world", *RANGES]
    text = table(header, rows) + "\n\nHow often 80 % ranges hold, and the bias in widths of the range."
    if options.worlds == list(WORLDS):
        kinds = " ".join(options.kinds)
        record("Ranges", f"python benchmarks/ranges.py --logs {options.logs} --kinds {kinds}", text)


if __name__ == "__main__":
    main()
