"""Logs whose means may change over time, and the contrast between their halves straight from its definition."""

import hashlib

import numpy as np

from coterie.statistics.drift import Contrast, Drift
from coterie.statistics.group_by import SHARED


def fold_of(name, seed=0):
    return 0 if int(hashlib.md5(f"{seed}:{name}".encode()).hexdigest(), 16) < 2**127 else 1


def direct_drift(sample, cell, pair, utility, late, fold, limits=(-1.0, 1.0)):
    """Return the contrasts of rows with these samples, cells and pairs; `late` and `fold` are by sample."""
    cells, pairs, (low, high) = int(cell.max()) + 1, int(pair.max()) + 1, limits
    pair_of = np.zeros(cells, dtype=int)
    pair_of[cell] = pair
    share = 1 / np.maximum(np.bincount(sample, minlength=len(late)), 1)
    n, s, g = (np.zeros((2, 2, cells)) for _ in range(3))
    where = (fold[sample], late[sample].astype(int), cell)
    for sums, term in ((n, 1), (s, utility), (g, share[sample])):
        np.add.at(sums, where, term)
    folds = []
    for tests in (0, 1):
        (n0, n1), (s0, s1), (c0, c1) = n[1 - tests], s[1 - tests], g[tests]
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where((n0 > 0) & (n1 > 0), n0 * n1 / (n0 + n1), 0.0)
            gain = np.where(worth > 0, worth * (s1 / n1 - s0 / n0), 0.0)
            shared = gain.sum() / worth.sum() if worth.any() else 0.0
            of_pair = [np.bincount(pair_of, values, minlength=pairs) for values in (worth, gain, s0 + s1, n0 + n1)]
            d = ((of_pair[1] + SHARED * shared) / (of_pair[0] + SHARED))[pair_of]
            mean = (of_pair[2] / of_pair[3])[pair_of]
            before, after = -d * c1 / (c0 + c1), d * c0 / (c0 + c1)
        used = (fold[sample] == tests) & ((c0 > 0) & (c1 > 0) & np.isfinite(mean))[cell]
        m, e = sample[used], cell[used]
        w = np.where(late[m], after[e], before[e]) * share[m]
        lowest = np.where(w > 0, w * (mean[e] - low), -w * (high - mean[e]))
        y, a, depth = (np.bincount(m, t, minlength=len(late)) for t in (w * (utility[used] - mean[e]), abs(w), lowest))
        folds.append(Contrast(len(np.unique(m)), y.sum(), (y**2).sum(), (a**2).sum(), depth.max()))
    return Drift(tuple(folds))


def changing_log(rng, samples, *, n=5, drift=0.0, noise="pairs", values="spread", better=0.15):
    """Return memberships (samples, n) in two rooms and rows (sample, i, j, room, size, utility) of a log.

    Everybody moves from the first room to the second over time. The first is better at any time, by twice `better` per
    partner; all means rise by twice `drift` from the first sample to the last. Noise is by pair, by sample or by room.
    """
    time = np.linspace(-1, 1, samples)
    room = (rng.random((samples, n)) < 0.5 + 0.35 * time[:, None]).astype(int)
    i, j = np.triu_indices(n, 1)
    m, e = np.nonzero(room[:, i] == room[:, j])
    where = room[m, i[e]]
    size = (room[m] == where[:, None]).sum(axis=1)
    mean = np.where(where == 0, better, -better) + drift * time[m]
    u = {
        "pairs": lambda: rng.random(len(m)),
        "samples": lambda: rng.random(samples)[m],
        "rooms": lambda: rng.random((samples, 2))[m, where],
    }[noise]()
    utility = {
        "spread": lambda: np.clip(mean + 0.5 * (2 * u - 1), -1, 1),
        "signs": lambda: np.where(u < (1 + mean) / 2, 1.0, -1.0),
        "rare": lambda: np.where(u < 0.002, -1.0, 0.0),
    }[values]()
    return room, (m, i[e], j[e], where, size, utility)


def drift_in_memory(rng, samples, **options):
    """Return the contrasts of such a log, without tables."""
    n = options.get("n", 5)
    _, (m, i, j, where, size, utility) = changing_log(rng, samples, **options)
    pair = (where * n + i) * n + j
    late = np.arange(samples) >= (samples + 1) // 2
    return direct_drift(m, pair * (n + 1) + size, pair, utility, late, rng.integers(2, size=samples))


def frames_of(room, rows):
    """Return a log as tables; samples are numbered."""
    n = room.shape[1]
    m, i, j, where, _, utility = rows
    name = np.array([f"a{t}" for t in range(n)])
    label = np.array(["x", "y"])
    everybody, agent = np.divmod(np.arange(room.size), n)
    return {
        "memberships": {"sample": everybody, "agent": name[agent], "coalition": label[room.ravel()]},
        "pairs": {"sample": m, "coalition": label[where], "agent": name[i], "partner": name[j], "utility": utility},
    }
