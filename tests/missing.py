"""Logs in memory of which some ratings are absent."""

from dataclasses import replace

import numpy as np

from coterie.statistics.in_memory import Batch
from coterie.statistics.setting import Setting


def setting_of(batch, **options):
    _, n, k = batch.joined.shape
    plain = Setting(
        "semi-bandit", tuple(f"a{i}" for i in range(n)), tuple("xyz"[:k]), batch.symmetric, (-1.0, 1.0), 0.0, None,
        False, "one", "one", "ignore", "pairs", (1.0,), 0,
    )  # fmt: skip
    return replace(plain, **options)


def drawn_batch(rng, samples, n, k, mean, *, symmetric=True, alone=True):
    """Return ratings of +1 and -1, `mean` (k,) on average in each room; everybody is in one room, or in several."""
    joined = np.eye(k, dtype=bool)[rng.integers(k, size=(samples, n))] if alone else rng.random((samples, n, k)) < 0.6
    met = joined.transpose(0, 2, 1)[:, :, :, None] & joined.transpose(0, 2, 1)[:, :, None, :]
    met &= np.triu(np.ones((n, n), dtype=bool), 1) if symmetric else ~np.eye(n, dtype=bool)
    sample, coalition, agent, partner = np.nonzero(met)
    good = rng.random(len(sample)) < (1 + np.asarray(mean)[coalition]) / 2
    return Batch(1, joined, sample, coalition, agent, partner, np.where(good, 1.0, -1.0), symmetric)


def keep(batch, kept):
    """Return the batch with some of its ratings only; memberships stay."""
    rows = {name: getattr(batch, name)[kept] for name in ("sample", "coalition", "agent", "partner", "utility")}
    return replace(batch, **rows)


def without_half_of_the_bad(batch, rng):
    return keep(batch, (batch.utility > 0) | (rng.random(len(batch.utility)) < 0.5))
