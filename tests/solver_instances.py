"""Evidence of every kind from small simulated logs, for the solvers' tests."""

from dataclasses import replace

import numpy as np

from coterie import ActionSpaces
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Anonymous, KnownFactor, SizeFree
from coterie.game.actions import ExplicitSets
from coterie.reproduce.calibration import Setting
from coterie.simulate import draw_sets
from coterie.simulate.hostile import crowding, gaussian, pooled, pooled_crowding, signs

RANGE = Bounds(-1.0, 1.0)
BASE = Setting("", 4, 3, 300, gaussian)
SETTINGS = {
    "gaussian": BASE,
    "rare pairs": replace(BASE, model=signs, policy="rare", samples=60),
    "pooled": replace(BASE, model=pooled, pool=True),
    "pooled, shared noise": replace(BASE, model=pooled, pool=True, noise="samples"),
    "shared noise": replace(BASE, model=signs, noise="samples"),
    "sizes": replace(BASE, model=crowding, sizes="aware", samples=600),
    "sizes, pooled": replace(BASE, model=pooled_crowding, sizes="aware", pool=True, samples=600),
    "bandit": replace(BASE, feedback="bandit", samples=600),
    "bandit joint": replace(BASE, feedback="bandit", samples=600),
    "bandit shared noise": replace(BASE, model=signs, feedback="bandit", noise="samples"),
    "bandit sizes": replace(BASE, model=crowding, feedback="bandit", sizes="aware"),
}


def from_setting(name, seed=0):
    """Return game, evidence from the whole log, evidence from two parts."""
    rng = np.random.default_rng([seed, 77])
    setting = SETTINGS[name]
    source = setting.simulation(rng)
    (batch,) = source.batches(setting.samples)
    learns = rng.random(setting.samples) < 0.5
    statistics = setting.statistics(source, batch, learns, "joint" if "joint" in name else "best")
    return source.game, *(setting.evidence(part, source.game) for part in (statistics.whole, *statistics.parts))


def _both(upper):
    return (upper + np.swapaxes(upper, 1, 2)).astype(float)


def random_evidence(rng, n, k, samples=1000, *, symmetric=True):
    """Semi-bandit evidence from +-1 utilities around random means."""
    mu = rng.uniform(-0.9, 0.9, (k, n, n))
    count = rng.integers(1, samples, (k, n, n)) * ~np.eye(n, dtype=bool)
    ups = rng.binomial(count, (1 + mu) / 2)
    if symmetric:
        count, ups = _both(np.triu(count, 1)), _both(np.triu(ups, 1))
    count = count.astype(float)
    return PairEvidence(
        PairEstimate.from_sums(SizeFree(), count, 2.0 * ups - count, count.copy(), RANGE, symmetric=symmetric)
    )


def by_size_evidence(rng, kind, n=4, k=2):
    """Evidence with anonymous sizes, or with a known size factor."""
    count = rng.integers(1, 50, (k, n, n, n + 1)).astype(float)
    count = np.triu(np.moveaxis(count, 3, 1), 1)
    count = np.moveaxis(count + np.swapaxes(count, 2, 3), 1, 3)
    total = count * rng.uniform(-0.5, 0.5, (k, 1, 1, n + 1))
    if kind == "anonymous":
        return PairEvidence(PairEstimate.from_sums(Anonymous(), count, total, count.copy(), RANGE))
    return PairEvidence(PairEstimate.from_sums(KnownFactor(rng.uniform(0.1, 1, (k, n + 1))), count, total, None, RANGE))


def random_spaces(rng, n, k, actions):
    return ActionSpaces.shared(ExplicitSets(draw_sets(rng, k, actions)), n)


def small_game(seed, most=30_000, *, symmetric=True):
    """Return evidence and spaces with at most `most` pure profiles."""
    rng = np.random.default_rng([seed, 5])
    n, k = int(rng.integers(3, 8)), int(rng.integers(2, 6))
    top = int(min(2**k - 1, most ** (1 / n), 12))
    actions = int(rng.integers(2, max(top, 2) + 1))
    samples = int(rng.choice([30, 300, 3000]))
    return random_evidence(rng, n, k, samples, symmetric=symmetric), random_spaces(rng, n, k, actions)
