"""Which variances of effects a log leaves possible, where it is too short to tell one value of each.

One most likely value is too sure of itself: teams are chosen for what looks best, and that looks best where the
variance of pairs happens to be taken for large. With w the totals turned so that their noise is independent, of
variance rho, and g_q the variance of part q in units of rho,

    w ~ N(0, rho C),    C = 1 + sum of g_q K_q,    Q = w'C^-1 w + what no effect can explain,
    log density of g = -log det(C) / 2 - N log(Q) / 2 + (sum of log(share_q) + log(u (1 - u))) / 2,

rho being integrated out under the prior 1 / rho. A priori the division of a mean's variance among the parts has
Jeffreys's density, the product of share_q^-1/2, and so has the share u of noise in the spread of totals: share_q = g_q
m_q / sum of g m, m_q the variance of a mean if part q has variance 1, u = N / (N + sum of g tr(K)); the last terms are
the density in log g. Were every division as likely as any other, a few scores would not do to believe that next to
everything is a matter of people, or of pairs: too much was then expected of teams of the former kind, too little of
the latter.

Means of pairs are totals of one unknown each, and how a pair's repeated values differ is what no effect can explain.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie.arrays import FloatArray
from coterie.from_scipy import lapack

STEPS, MOST_STEPS, KEPT = 480, 1920, 32
"""At least and at most so many steps are taken through what is possible, and so many variances on the way are kept.

The walk begins at the likeliest variances, which are small where a log is short: too few steps stay near them, and
ranges are too narrow.
"""

STRIDE = 0.9
"""How far a step goes in the logarithm of variances."""

PRIOR = 0.5
"""The parameter of the Dirichlet distribution that shares have a priori."""

SHARED_FIRST = 0.1
"""Noise that totals share starts with so much of the variance of what each has of its own."""

LEAST_SHARE = 1e-3
"""Nothing starts with a smaller share of the spread."""


@dataclass(frozen=True, eq=False)
class Left:
    """What no effect can explain, of some combinations of totals."""

    square: float
    freedom: float
    shared: FloatArray
    """What each kind of shared noise adds to the variance of one of them, if its variance is that of their own."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """What totals tell of the variances of parts, in units of the noise."""

    kernels: Sequence[FloatArray]
    """K_q of each part, shape (r, r)."""
    weights: FloatArray
    """m_q of each part."""
    always: FloatArray
    """What C holds besides, shape (r, r): the noise, and what is known."""
    totals: FloatArray
    """w, shape (r,)."""
    left: float
    """The square of what no effect can explain, at least what the least noise makes of it: without that, totals that
    effects explain altogether would make the density grow beyond all bounds."""
    count: float
    """N, how many totals there are."""
    shared: Sequence[FloatArray] = ()
    """The covariance of w that each kind of noise makes which totals share, if its variance is that of their own."""
    strata: Sequence["Left"] = ()
    """Where there is such noise, what no effect can explain, beside `left`; `count` is of all of them."""

    def start(self, ratios: FloatArray) -> FloatArray:
        """Return logarithms of ratios that leave no part without a share."""
        found = np.log(np.maximum(ratios, LEAST_SHARE * self.count / self._traces))
        return np.append(found, np.full(len(self.shared), math.log(SHARED_FIRST)))

    def log_density(self, logs: FloatArray) -> tuple[float, float]:
        """Return the logarithm of the density at logarithms of ratios, and Q."""
        ratios = np.exp(logs)
        matrix = (np.append(ratios, 1.0) @ self._layers).reshape(self.always.shape)
        lower, solution, failed = lapack().dposv(matrix, self.totals, lower=1)
        if failed:  # noise that is nothing beside effects, to rounding
            return -math.inf, math.inf
        square = float(self.totals @ solution) + self.left
        ratios, luck = ratios[: len(self.weights)], ratios[len(self.weights) :]
        parts, told = float(ratios @ self.weights), float(ratios @ self._traces)
        by_part = sum(logs[: len(ratios)].tolist()) + self._log_weights - len(ratios) * math.log(parts)
        by_share = by_part + math.log(self.count) + math.log(told) - 2 * math.log(self.count + told)
        size = float(np.add.reduce(np.log(lower.diagonal())))
        if self.shared:
            by_share += float(logs[len(ratios) :].sum()) - (len(luck) + 1) * math.log(1 + float(luck.sum()))
            for one in self.strata:
                larger = 1 + float(luck @ one.shared)
                square += one.square / larger
                size += one.freedom / 2 * math.log(larger)
        return PRIOR * by_share - size - self.count / 2 * math.log(max(square, 1e-300)), square

    @cached_property
    def _layers(self) -> FloatArray:
        """All that C is a sum of, a row each: every step of a walk needs C, and one product is quickest."""
        return np.stack([*self.kernels, *self.shared, self.always]).reshape(
            len(self.kernels) + len(self.shared) + 1, -1
        )

    @cached_property
    def _log_weights(self) -> float:
        return float(np.log(self.weights).sum())

    @cached_property
    def _traces(self) -> FloatArray:
        return np.array([max(float(np.trace(kernel)), 1e-300) for kernel in self.kernels])


def drawn_ratios(
    told: Ratios, ratios: FloatArray, rng: np.random.Generator, enough: Callable[[], bool], steps: int = STEPS
) -> list[tuple[FloatArray, float]]:
    """Return ratios with the noise rho of each, `KEPT` of them, or fewer where it is `enough`: Metropolis's walk."""
    now = told.start(ratios)
    height, square = told.log_density(now)
    found = []
    for step in range(1, steps + 1):
        if enough():
            break
        other = now + STRIDE * rng.normal(size=len(now)) * (rng.random(len(now)) < max(0.5, 1 / len(now)))
        higher, its_square = told.log_density(other)
        if math.log(rng.random()) < higher - height:
            now, height, square = other, higher, its_square
        if step % (steps // KEPT) == 0:
            found.append((np.exp(now), square / rng.chisquare(told.count)))
    return found
