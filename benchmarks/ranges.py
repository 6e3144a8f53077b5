"""How often do the 80 % ranges of what is expected hold, and are they too low or too high?

    python benchmarks/ranges.py [--logs 20] [--kinds scores ...] [--worlds high ...] [--rounds 5 40] [--processes 2]

Twelve people; what a pair is worth is a level, a part of each of the two and one of the pair. Teams are drawn anew each
round, and what is recorded is the score of each team of three (the average over its pairs), everybody's total in teams
of four, what the two of a pair there say of each other together ("symmetric"), or each for themselves ("ratings"), with
noise, and within the scale of -50 to 50; of scores the scale is declared that they show, to whole tens, as `coterie
start` does, which pairs may exceed. Teams are then chosen by what is expected of them (exchanges of two people while
that pays), their ranges are told by the function that tells those of `coterie learn`, and judged by the truth. A bias
is what is expected less what is true, in widths of the range.

In worlds "rooms", "days" and "places" tasks of teams are not equally hard: each time anew, the same for all teams of a
round, or by the name of the team, which is read as saying nothing. In "steady" ones half of all rounds have the teams
of the last, which are today's.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from multiprocessing import Pool
from typing import Literal

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.from_statistics import evidence_from
from coterie.learn.beliefs import beliefs_from
from coterie.learn.options import Likely, Terms, by_lot, likely_values
from coterie.learn.wishes import wishes_about
from coterie.statistics.dependence import LEAST_SAMPLES
from coterie.statistics.in_memory import Batch, reduced
from coterie.statistics.setting import Noise, Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.team_scores import ScoreSums
from coterie.statistics.total_statistics import TotalStatistics
from coterie.sums import Sums
from harness import record, table

PEOPLE, LIMIT = 12, 50.0
SIZES = {"scores": 3, "totals": 4, "symmetric": 4, "ratings": 4}
PAIRS = ("symmetric", "ratings")
RANGES = ("all teams", "each team", "each person", "whoever has least", "against today", "against lots")


@dataclass(frozen=True)
class World:
    """Where means are, and the standard deviations of people's parts, of pairs' and of the noise."""

    level: float
    person: float
    pair: float
    noise: float
    shape: Literal["bell", "skewed", "tails"] = "bell"
    """Of the noise; tails are those of Student's t with 3 degrees of freedom."""
    rooms: float = 0.0
    """The standard deviation of what all pairs of a team get more in a round, as its task was easier."""
    days: float = 0.0
    """The same of all teams of a round."""
    places: float = 0.0
    """The same of all teams of a name, which stays as it is."""
    steady: float = 0.0
    """The share of rounds in which teams are those of today."""

    def noises(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Draw noise."""
        if self.shape == "skewed":
            return self.noise * (rng.exponential(size=shape) - 1)
        if self.shape == "tails":
            return self.noise / 3**0.5 * rng.standard_t(3, size=shape)
        return self.noise * rng.normal(size=shape)

    def ease(self, rng: np.random.Generator, rounds: int, teams: int) -> FloatArray:
        """Draw how much easier than others the task of each team is in each round, (rounds, teams)."""
        found = np.zeros((rounds, teams))
        for spread, shape in ((self.rooms, (rounds, teams)), (self.days, (rounds, 1))):
            if spread:
                found += spread * rng.normal(size=shape)
        return found

    def always(self, rng: np.random.Generator, teams: int) -> FloatArray:
        """Draw the same of the names of teams, (teams,)."""
        return self.places * rng.normal(size=teams) if self.places else np.zeros(teams)


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
    "skewed": lambda _: World(5, 5, 7, 7, "skewed"),
    "noise": lambda _: World(5, 1, 1.5, 10),
    "plain": lambda _: World(5, 4, 6, 7),
    "tails": lambda _: World(5, 4, 6, 7, "tails"),
    "rooms": lambda _: World(5, 4, 6, 5, rooms=5),
    "days": lambda _: World(5, 4, 6, 5, days=5),
    "places": lambda _: World(5, 4, 6, 5, places=5),
    "steady": lambda _: World(5, 4, 6, 7, steady=0.5),
    "steady rooms": lambda _: World(5, 4, 6, 5, rooms=5, steady=0.5),
}


@dataclass(frozen=True, eq=False)
class Truth:
    """What pairs are worth before noise and scale, some noise, and what the log counts from."""

    kind: str
    means: FloatArray
    noise: FloatArray
    neutral: float

    def values(self, profile: BoolArray) -> FloatArray:
        """Return what everybody gets on average in teams (people, teams), one each."""
        mates = (profile @ profile.T) & ~np.eye(PEOPLE, dtype=bool)
        own = np.asarray((self._by_pair * mates).sum(axis=1) / mates.sum(axis=1)) - self.neutral
        if self.kind != "scores":
            return own
        score = profile.T @ (own + self.neutral) / profile.sum(axis=0)
        return np.asarray(own + profile @ (self._kept(score) - score))

    @cached_property
    def _by_pair(self) -> FloatArray:
        return self.means if self.kind == "scores" else self._kept(self.means)

    def _kept(self, means: FloatArray) -> FloatArray:
        return np.asarray(np.clip(means[..., None] + self.noise, -LIMIT, LIMIT).mean(axis=-1))


def drawn(kind: str, world: World, rounds: int, rng: np.random.Generator) -> tuple[Statistics, Truth, BoolArray]:
    """Return the statistics of a log, the truth behind it, and the teams of the last round."""
    n, size = PEOPLE, SIZES[kind]
    of_raters, of_rated = rng.normal(0, world.person, (2, n))
    pair, symmetric = rng.normal(0, world.pair, (n, n)), kind != "ratings"
    if symmetric:
        of_rated, pair = of_raters, np.triu(pair, 1) + np.triu(pair, 1).T
    means = world.level + of_raters[:, None] + of_rated + pair
    place = np.stack([rng.permutation(np.arange(n) // size) for _ in range(rounds)])
    if world.steady:
        place[rng.random(rounds) < world.steady] = place[-1]
    ease, always = world.ease(rng, rounds, n // size), world.always(rng, n // size)
    ease += always
    joined = place[..., None] == np.arange(n // size)
    scale = (-LIMIT, LIMIT)
    if kind == "scores":
        scores = team_scores(means, joined)
        scores = np.clip(scores + ease + world.noises(rng, scores.shape), -LIMIT, LIMIT)
        scale = (10 * float(np.floor(scores.min() / 10)), 10 * float(np.ceil(scores.max() / 10)))
    # As `learn` takes it: a test finds that outcomes go together, unless rounds are too few for it.
    together = kind in PAIRS and (rounds < LEAST_SAMPLES or bool(world.rooms or world.days))
    setting = setting_of(kind, scale, together=together)
    if kind == "scores":
        statistics = of_scores(scores, joined, setting)
    else:
        met = (place[:, :, None] == place[:, None]) & (
            np.triu(np.ones((n, n)), 1) > 0 if symmetric else ~np.eye(n, dtype=bool)
        )
        sample, agent, partner = np.nonzero(met)
        easier = ease[sample, place[sample, agent]]
        utility = np.clip(means[agent, partner] + easier + world.noises(rng, agent.shape), -LIMIT, LIMIT)
        batch = Batch(1, joined, sample, place[sample, agent], agent, partner, utility, symmetric)
        statistics = reduced(batch, np.zeros(rounds, dtype=np.int64), setting, joint=kind == "totals")
    others = np.random.default_rng(0)
    noise = world.noises(others, (1000,)) + world.ease(others, 1000, 1)[:, 0]
    means = means + always.mean()  # of all teams together, whoever is in which
    return statistics, Truth(kind, means, noise - noise.mean(), setting.neutral), joined[-1]


def setting_of(kind: str, scale: tuple[float, float], *, together: bool = False) -> Setting:
    """Return how a log is read; scores are counted from the lower end of their scale."""
    names = tuple(f"p{i:02}" for i in range(PEOPLE))
    teams = tuple(str(l + 1) for l in range(PEOPLE // SIZES[kind]))
    is_scores, is_pairs = kind == "scores", kind in PAIRS
    noise: Noise = "samples" if is_scores or together else "pairs"
    return Setting(
        "semi-bandit" if is_pairs else "bandit", names, teams, kind != "ratings", scale, scale[0] if is_scores else 0.0,
        None, True, "up-to-1", "up-to-1", "ignore", noise, (1.0,), 0, of_teams=is_scores, value="average",
    )  # fmt: skip


def team_scores(means: FloatArray, joined: BoolArray) -> FloatArray:
    """Return the average over the pairs of each team, (rounds, teams)."""
    at = joined.astype(np.float64)
    size = at.sum(axis=1)
    off = means - np.diag(np.diag(means))
    return np.asarray(np.einsum("ril,ij,rjl->rl", at, off, at) / (size * (size - 1)))


def of_scores(scores: FloatArray, joined: BoolArray, setting: Setting) -> Statistics:
    """Return the statistics of scores of teams, which enter as sums over their pairs."""
    rounds, teams = scores.shape
    size = PEOPLE // teams
    sample, agent, team = np.nonzero(joined)
    of, which = np.indices(scores.shape).reshape(2, -1)
    rows = [np.concatenate(both) for both in ((of, sample), (np.full(of.size, -1), agent), (which, team))]
    values = np.concatenate([scores.ravel() * (size * (size - 1) // 2), np.full(sample.size, np.nan)])
    sums = ScoreSums(setting)
    sums.add(rows[0], np.zeros_like(rows[0]), rows[1], rows[2], values)
    sizes = Sums.collect(np.array([[0, size]]), np.array([[scores.size]]))
    nobody = np.zeros(PEOPLE, dtype=np.int64)
    (found,) = sums.result()
    return Statistics(setting, (TotalStatistics(setting, rounds, nobody, sizes, {}, found),))


def best_teams(means: FloatArray, size: int, rng: np.random.Generator) -> BoolArray:
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
    best: IntArray = max(found, key=lambda one: one[0])[1]
    return np.asarray(best[:, None] == np.arange(len(means) // size))


def judged(kind: str, world: World, rounds: int, rng: np.random.Generator) -> list[FloatArray]:
    """Return rows (expected, true, low, high) of all ranges that are told after a log of a world, as in RANGES."""
    statistics, truth, today = drawn(kind, world, rounds, rng)
    wider, wishes = wishes_about(statistics)
    beliefs = beliefs_from(evidence_from(wider.whole), symmetric=wider.setting.symmetric)
    teams = best_teams(beliefs.middle[0], SIZES[kind], rng)
    lots = by_lot(teams, wishes.admissible.staff, rng)
    assert lots is not None
    each: list[Terms] = [[(1.0, teams & (np.arange(teams.shape[1]) == l))] for l in range(teams.shape[1])]
    sums: list[Terms] = [[(1.0, teams)], [(1.0, teams), (-1.0, today)], lots]
    (everybody, than_today, than_lots, *by_team), own = likely_values([*sums, *each], beliefs, wishes, rng)
    true = truth.values(teams)
    least = min(range(PEOPLE), key=lambda i: own[i].expected)
    changes = [sum(sign * truth.values(profile).mean() for sign, profile in terms) for terms in sums[1:]]

    def rows(likely: list[Likely], true: FloatArray, times: int = 1) -> FloatArray:
        return np.array(
            [
                [times * one.expected, at, *(times * end for end in one.range)]
                for one, at in zip(likely, true, strict=True)
            ]
        )

    return [
        rows([everybody], true.mean(keepdims=True)),
        # What a team adds to the mean over all people, times how many teams there are.
        rows(by_team, teams.T @ true / SIZES[kind], teams.shape[1]),
        rows(own, true),
        rows([own[least]], true[[least]]),
        rows([than_today], np.array(changes[:1])),
        rows([than_lots], np.array(changes[1:])),
    ]


def in_one_log(kind: str, name: str, rounds: int, seed: int) -> list[FloatArray]:
    """Return the same of the log of this seed."""
    rng = np.random.default_rng([seed, rounds, *name.encode()])
    return judged(kind, WORLDS[name](rng), rounds, rng)


def told(found: list[list[FloatArray]]) -> list[str]:
    """Return how often each range holds, its bias and its width, from what was found in every log."""
    cells = []
    for one in zip(*found, strict=True):
        expected, true, low, high = np.concatenate(one).T
        held, width = np.mean((low <= true) & (true <= high)), max(float(np.mean(high - low)), 1e-9)  # 0: today is best
        cells.append(f"{held:.0%} {np.mean(expected - true) / width:+.2f} {width:.1f}")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--kinds", nargs="+", default=list(SIZES))
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    parser.add_argument("--rounds", nargs="+", type=int, default=[5, 40])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--title", help="of the section of RESULTS.md, where not all worlds and kinds are asked for")
    options = parser.parse_args()
    rows = []
    with Pool(options.processes) as pool:
        for kind, rounds in product(options.kinds, options.rounds):
            every = []
            for name in options.worlds:
                logs = [(kind, name, rounds, seed) for seed in range(options.logs)]
                found = pool.starmap(in_one_log, logs, chunksize=1)
                rows.append([kind, rounds, name, *told(found)])
                print(rows[-1], flush=True)
                every += found
            rows.append([kind, rounds, "all of them", *told(every)])
    text = table(["recorded", "rounds", "world", *RANGES], rows)
    text += "\n\nHow often 80 % ranges hold, the bias in widths of the range, and the mean width."
    if options.title or (options.worlds == list(WORLDS) and options.kinds == list(SIZES)):
        asked = f"--logs {options.logs}"
        for name in ("kinds", "worlds") if options.title else ():
            asked += f" --{name} " + " ".join(f'"{one}"' if " " in one else one for one in getattr(options, name))
        record(options.title or "Ranges", f"python benchmarks/ranges.py {asked}", text)


if __name__ == "__main__":
    main()
