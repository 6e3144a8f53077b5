"""How well are means of pairs predicted, against the best that data allow?

    python benchmarks/posterior.py [--seeds 5]

Firms of 40 people, 6 areas and 36 months, with about 9,000 ratings of teammates from 1 to 5 in half stars. What differs
is how much there is of effects of the one who rates, of the one who is rated and of the pair, in all areas together and
in each. The limit is the posterior under the variances that the firm was drawn with.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from coterie.arrays import FloatArray
from coterie.estimate.intervals import Moments
from coterie.estimate.posterior import PossibleMeans, means_left_possible
from harness import record, table

AGENTS, AREAS, MONTHS = 40, 6, 36
NOISE, MIDDLE, NEUTRAL = 0.8, 3.1, 3.0
STARS = np.arange(1, 5.01, 0.5)

FIRMS: dict[str, dict[str, float]] = {
    "in all areas and in each": {
        "level": 0.2, "rater, common": 0.35, "rater": 0.15, "rated, common": 0.3, "rated": 0.2, "pair, common": 0.15,
        "rest": 0.15,
    },
    "in all areas": {"level": 0.2, "rater, common": 0.4, "rated, common": 0.35, "pair, common": 0.25},
    "in each area": {"level": 0.2, "rater": 0.3, "rated": 0.35, "rest": 0.3},
    "mutual": {
        "level": 0.2, "rater, common": 0.2, "rater": 0.1, "rated, common": 0.2, "rated": 0.1, "mutual, common": 0.25,
        "mutual": 0.15, "rest": 0.1,
    },
    "weak": {
        "level": 0.1, "rater, common": 0.1, "rater": 0.05, "rated, common": 0.1, "rated": 0.05, "pair, common": 0.05,
        "rest": 0.05,
    },
    "none": {},
}  # fmt: skip
"""The standard deviation of every part, in stars."""


@dataclass(frozen=True)
class Firm:
    true: FloatArray
    """The mean rating of every pair in every area, from the neutral point on."""
    moments: Moments


def mirrored(values: FloatArray) -> FloatArray:
    upper = np.triu(values, 1)
    return np.asarray(upper + np.swapaxes(upper, 1, 2))


def mean_rating(mean: FloatArray) -> FloatArray:
    """Return the expected stars if opinions have this mean: rounded to half stars, and no more than five."""
    between = (STARS[1:] + STARS[:-1]) / 2
    return np.asarray(STARS[0] + sum(0.5 * (1 - ndtr((edge - mean) / NOISE)) for edge in between))


def firm(deviations: dict[str, float], rng: np.random.Generator) -> Firm:
    n, k = AGENTS, AREAS
    mean = MIDDLE + np.zeros((k, n, n))
    shapes = {"level": (k, 1, 1), "rater": (k, n, 1), "rated": (k, 1, n), "pair": (k, n, n), "mutual": (k, n, n)}
    for name, deviation in deviations.items():
        kind, _, common = name.partition(", ")
        shape = shapes.get(kind, (k, n, n))
        drawn = rng.normal(0, deviation, (1, *shape[1:]) if common else shape)
        mean += mirrored(drawn) if kind == "mutual" else drawn
    count, total, squares = np.zeros((3, k, n, n))
    usual = rng.dirichlet(np.full(k, 0.7), size=n)
    area = np.array([rng.choice(k, p=usual[i]) for i in range(n)])
    for _ in range(MONTHS):
        for i in np.flatnonzero(rng.random(n) < 0.25):
            area[i] = rng.choice(k, p=usual[i] / 2 + 0.5 / k)
        i, j = np.nonzero((area[:, None] == area) & ~np.eye(n, dtype=bool) & (rng.random((n, n)) < 0.95))
        l = area[i]
        stars = np.clip(np.round(2 * rng.normal(mean[l, i, j], NOISE)) / 2, STARS[0], STARS[-1]) - NEUTRAL
        count[l, i, j] += 1
        total[l, i, j] += stars
        squares[l, i, j] += stars**2
    moments = Moments.from_sums(count, total, squares, events=int((count > 0).sum()))
    return Firm(mean_rating(mean) - NEUTRAL, moments)


def at_the_limit(found: Firm, deviations: dict[str, float], parts: list[str]) -> PossibleMeans:
    count = found.moments.count
    error = np.where(count > 0, (NOISE**2 + 1 / 48) / np.maximum(count, 1), np.inf)  # halves are rounded to
    variances = {name: max(deviations.get(name, 0.0) ** 2, 1e-6) for name in parts}
    return PossibleMeans(found.moments.mean, error, False, MIDDLE - NEUTRAL, {**variances, "centre": 1.0})


def teams(rng: np.random.Generator, count: int) -> FloatArray:
    """Return coefficients of what is asked for: a team's mean, the difference of two, one agent's mean in a team."""
    forms = np.zeros((count, AREAS, AGENTS, AGENTS))
    for number, form in enumerate(forms):
        for sign in (1, -1) if number % 3 == 1 else (1,):
            team = rng.choice(AGENTS, 7, replace=False)
            rows = team[:1] if number % 3 == 2 else team
            form[rng.integers(AREAS)][np.ix_(rows, team)] += sign / len(rows) / (len(team) - 1)
    return np.asarray(forms * ~np.eye(AGENTS, dtype=bool))


def measured(deviations: dict[str, float], seed: int) -> list[float]:
    """Return squared errors (estimated variances, true ones), how often 80 % ranges hold, and seconds."""
    rng = np.random.default_rng([seed, len(deviations)])
    found = firm(deviations, rng)
    begin = time.process_time()
    possible = means_left_possible(found.moments, 2.0, symmetric=False)
    off = ~np.eye(AGENTS, dtype=bool)
    errors = possible.middle - found.true
    seconds = time.process_time() - begin
    additive = [name for name in possible.parts if name != "product"]
    limit = at_the_limit(found, deviations, additive).middle - found.true
    forms = teams(rng, 60)
    spread = np.sqrt(np.diagonal(possible.covariance(forms)))
    missed = np.abs(np.tensordot(forms, errors, 3)) / spread
    begin = time.process_time()
    for _ in range(10):
        possible.draw(rng)
    drawing = (time.process_time() - begin) / 10
    squares = [float((off * e**2).sum() / off.sum() / AREAS) for e in (errors, limit)]
    return [*squares, float((missed < 1.2816).mean()), seconds, drawing]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for name, deviations in FIRMS.items():
        ours, limit, holds, seconds, drawing = np.mean([measured(deviations, s) for s in range(options.seeds)], axis=0)
        rows.append([name, f"{ours:.4f}", f"{limit:.4f}", f"{ours / limit:.3f}", f"{holds:.2f}", f"{seconds:.2f}",
                     f"{1000 * drawing:.1f}"])  # fmt: skip
        print(rows[-1], flush=True)
    header = ["effects", "squared error", "limit", "ratio", "80 % ranges hold", "seconds", "ms per draw"]
    text = table(header, rows)
    text += f"\n\nSquares of stars, mean of {options.seeds} firms; ranges are of means and differences of random teams."
    record("Posterior", f"python benchmarks/posterior.py --seeds {options.seeds}", text)


if __name__ == "__main__":
    main()
