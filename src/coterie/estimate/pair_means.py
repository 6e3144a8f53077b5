"""Estimates from semi-bandit logs: means of pair utilities and how the unknowns enter room values.

Six ways to read a log (`structure`), see `coterie.estimate.unknowns`: size-free (one mean per pair
and coalition), pooled (one per pair, coalitions interchangeable), aware (one per pair, coalition
and size), pooled-aware (one per pair and size), factor (size-free times a known g_l(s)), anonymous
(one per coalition and size).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.estimate.intervals import Bounds, Moments
from coterie.estimate.unknowns import Structure


@dataclass(frozen=True, eq=False)
class SampleNoise:
    """What `--noise samples` needs: which unknowns of an agent occur together in a sample.

    `together(i)` is H_i = sum over samples of x x', with x the indicator (pooled: the count) of agent
    i's unknowns in the sample, in the order of `coterie.estimate.unknowns.directions`. None where it
    does not fit; a valid bound that needs the counts only then takes its place.
    """

    together: Callable[[int], FloatArray] | None


@dataclass(frozen=True, eq=False)
class PairEstimate:
    """Moments of all unknowns, the bounds on utilities, and the structure that relates them to rooms."""

    structure: Structure
    moments: Moments
    bounds: Bounds
    n_agents: int
    n_coalitions: int
    factor: FloatArray | None = None
    noise: SampleNoise | None = None
    """None where pairs of one sample are taken to be independent."""


def dense_moments(
    count: FloatArray,
    total: FloatArray,
    squares: FloatArray | None,
    *,
    events: int,
    repeats: FloatArray | None = None,
) -> Moments:
    """Return moments from counts, sums and sums of squares of any shape."""
    mean = np.divide(total, count, out=np.zeros_like(total, dtype=np.float64), where=count > 0)
    variance = None
    if squares is not None:
        spread = np.maximum(squares - count * mean**2, 0.0)
        variance = np.divide(spread, count - 1, out=np.zeros_like(mean), where=count > 1)
    return Moments(count.astype(np.float64), mean, variance, events, repeats)


def distinct_pairs(count: FloatArray, *, symmetric: bool) -> int:
    """Return how many distinct pair unknowns were observed, in arrays (..., n, n) or (k, n, n, s)."""
    seen = int((count > 0).sum())
    return seen // 2 if symmetric else seen


def size_free(
    count: FloatArray,
    total: FloatArray,
    squares: FloatArray | None,
    bounds: Bounds,
    *,
    symmetric: bool = True,
    n_coalitions: int | None = None,
    noise: SampleNoise | None = None,
    repeats: FloatArray | None = None,
) -> PairEstimate:
    """Return the size-free estimate from arrays (k, n, n), or the pooled one from (1, n, n).

    `n_coalitions` marks interchangeable coalitions. `repeats`, the sum of n_m^2 over samples, is
    needed where one unknown occurs several times in a sample whose values may depend on each other.
    """
    pooled = n_coalitions is not None
    if pooled and len(count) != 1:
        raise InputError("interchangeable coalitions need statistics that are pooled over them")
    events = distinct_pairs(count, symmetric=symmetric)
    moments = dense_moments(count, total, squares, events=events, repeats=repeats)
    return PairEstimate(
        "pooled" if pooled else "size-free",
        moments,
        bounds,
        count.shape[1],
        n_coalitions if n_coalitions is not None else len(count),
        noise=noise,
    )


def size_aware(
    count: FloatArray,
    total: FloatArray,
    squares: FloatArray | None,
    bounds: Bounds,
    *,
    symmetric: bool = True,
    noise: SampleNoise | None = None,
) -> PairEstimate:
    """Return the size-aware estimate from arrays (k, n, n, n + 1) over pairs and sizes."""
    moments = dense_moments(count, total, squares, events=distinct_pairs(count, symmetric=symmetric))
    return PairEstimate("aware", moments, bounds, count.shape[1], len(count), noise=noise)


def anonymous(
    count: FloatArray,
    total: FloatArray,
    squares: FloatArray | None,
    bounds: Bounds,
    *,
    symmetric: bool = True,
    repeats: FloatArray | None = None,
) -> PairEstimate:
    """Return the estimate in which all pairs of a coalition share one mean per size.

    Takes the same arrays (k, n, n, n + 1) as `size_aware`; a symmetric pair's value, which stands
    there twice, counts once. `repeats`, shape (k, n + 1), as in `size_free`.
    """
    share = 0.5 if symmetric else 1.0
    by_size = [None if values is None else share * values.sum(axis=(1, 2)) for values in (count, total, squares)]
    counted, summed, squared = by_size
    assert counted is not None
    assert summed is not None
    moments = dense_moments(counted, summed, squared, events=int((counted > 0).sum()), repeats=repeats)
    return PairEstimate("anonymous", moments, bounds, count.shape[1], len(count))


def known_factor(
    count: FloatArray,
    total: FloatArray,
    factor: FloatArray,
    bounds: Bounds,
    *,
    symmetric: bool = True,
) -> PairEstimate:
    """Return the estimate of d where utilities have mean g_l(s) d: sum g v / sum g^2 (Hoeffding only).

    `factor` is g, shape (k, n + 1); the other arrays are (k, n, n, n + 1). The error is
    sub-Gaussian with proxy r^2 / sum g^2, so sum g^2 takes the place of the count.
    """
    if (factor < 0).any():
        raise InputError(f"size factor: expected numbers of at least 0, got {factor.min()}")
    weight = factor[:, None, None, :]
    information = (weight**2 * count).sum(axis=3)
    projected = (weight * total).sum(axis=3)
    mean = np.divide(projected, information, out=np.zeros_like(projected), where=information > 0)
    moments = Moments(information, mean, None, distinct_pairs(information, symmetric=symmetric))
    # A rounding error of a utility moves d by up to 1 / g of itself, and g d by up to this much.
    used = factor[factor > 0]
    worst = float(used.max() / used.min()) if len(used) else 1.0
    return PairEstimate(
        "factor", moments, replace(bounds, rounding=bounds.rounding * worst), count.shape[1], len(count), factor
    )
