"""Every confidence width of one mean, one function each, with its inequality and its union bound.

Throughout, an *unknown* is a mean utility that is estimated by averaging N independent values in
[low, high]; r = (high - low) / 2. `events` is the number of statements that must hold together,
so each of them may fail with probability `delta / events` only. All functions take arrays.
"""

import numpy as np

from coterie.arrays import FloatArray
from coterie.from_scipy import special


def log_events(events: float, delta: float) -> float:
    """Return log(events / delta), the price of `events` one-sided statements holding together."""
    return float(np.log(max(events, 1.0) / delta))


def normal_width(delta: float, groups: int | None = None) -> float:
    """Return how many standard errors a normal estimate exceeds with probability delta: no bound, an approximation.

    z with Pr[Z > z] = delta, at least 0. Where the standard error itself comes from so many `groups`, that of
    Student's distribution with groups - 1 degrees of freedom.
    """
    found = -special().ndtri(delta) if groups is None else -special().stdtrit(groups - 1, delta)
    return max(float(found), 0.0)


def hoeffding(count: FloatArray, half_range: float, events: float, delta: float) -> FloatArray:
    """Return r sqrt(2 log(2 E / delta) / N), two-sided.

    Hoeffding: a mean of N values in an interval of length 2r, or of r-sub-Gaussian ones, exceeds its
    expectation by t with probability at most exp(-N t^2 / (2 r^2)). Two sides, E unknowns: 2E events.
    """
    return half_range * np.sqrt(2 * log_events(2 * events, delta) / np.maximum(count, 1e-300))


def empirical_bernstein(
    count: FloatArray, variance: FloatArray, half_range: float, events: float, delta: float
) -> FloatArray:
    """Return sqrt(2 s^2 L / N) + 7 (2r) L / (3 (N - 1)) with L = log(4 E / delta), two-sided.

    Maurer and Pontil (2009), Theorem 4, with the sample variance s^2: one side holds with
    probability 1 - 2 exp(-L), so two sides of E unknowns cost 4E exp(-L) = delta. Needs N >= 2;
    below, the width is infinite (the caller clips to the range).
    """
    log_term = log_events(4 * events, delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        width = np.sqrt(2 * variance * log_term / count) + 14 * half_range * log_term / (3 * (count - 1))
    return np.where(count >= 2, width, np.inf)


def kl_interval(
    mean: FloatArray, count: FloatArray, low: float, high: float, events: float, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of {mu : N kl(x, mu) <= log(2 E / delta)}, x and mu rescaled to [0, 1].

    Chernoff for bounded values: Pr[N kl(x, mu) > t and x < mu] <= exp(-t), likewise above, since
    among all distributions on [0, 1] with mean mu the two-point one has the largest moment
    generating function. 2E events. By Pinsker's inequality never wider than `hoeffding`.
    """
    return _kl_ends(mean, low, high, log_events(2 * events, delta) / np.maximum(count, 1e-300))


def _kl_ends(mean: FloatArray, low: float, high: float, budget: FloatArray) -> tuple[FloatArray, FloatArray]:
    x, scale = np.clip((mean - low) / (high - low), 0.0, 1.0), high - low
    return low + scale * (1 - _kl_upper(1 - x, budget)), low + scale * _kl_upper(x, budget)


MIXTURE = 10.0
"""rho of `normal_mixture`: widths are narrowest, relative to the others, at some hundred values."""


def normal_mixture(
    count: FloatArray, squares: FloatArray, half_range: float, events: float, delta: float
) -> FloatArray:
    """Return r sqrt((V + rho) (2 log(E / delta) + log((V + rho) / rho))) / N, two-sided, however N came about.

    V = sum over samples of n^2, where a mean of N values has n of them in a sample (V = N where n is 0 or 1, or where
    values are independent). Given the past and who meets, a sample's sum S of n deviations is n r-sub-Gaussian, so
    exp(u sum of S - u^2 r^2 V / 2) is a supermartingale in the order of samples for every u. So is its average over
    u ~ N(0, 1 / (rho r^2)), which is sqrt(rho / (V + rho)) exp((sum of S)^2 / (2 r^2 (V + rho))) and starts at 1: it
    ever exceeds E / delta with probability at most delta / E (Ville). Both sides are one event, E unknowns E events.
    """
    wider = squares + MIXTURE
    price = 2 * log_events(events, delta) + np.log(wider / MIXTURE)
    return np.asarray(half_range * np.sqrt(wider * price) / np.maximum(count, 1e-300))


def kl_mixture_interval(
    mean: FloatArray, count: FloatArray, low: float, high: float, events: float, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of {mu : N kl(x, mu) <= log(E / delta) + about log(pi N / 2) / 2}, however N came about.

    With values v rescaled to [0, 1], the product of (q / mu)^v ((1 - q) / (1 - mu))^(1 - v) is a supermartingale for
    every q, since a^v b^(1 - v) <= v a + (1 - v) b, whose mean is q + 1 - q = 1 given the past. So is its average over
    q ~ Beta(1/2, 1/2), B(S + 1/2, N - S + 1/2) / (pi mu^S (1 - mu)^(N - S)) with S the sum of all values: it ever
    exceeds E / delta with probability at most delta / E (Ville). Both sides are one event, E unknowns E events.
    """
    x = np.clip((mean - low) / (high - low), 0.0, 1.0)
    best = count * (special().xlogy(x, x) + special().xlog1py(1 - x, -x))
    mixture = special().betaln(count * x + 0.5, count * (1 - x) + 0.5) - np.log(np.pi)
    return _kl_ends(mean, low, high, (log_events(events, delta) + best - mixture) / np.maximum(count, 1e-300))


def _kl_upper(x: FloatArray, budget: FloatArray) -> FloatArray:
    """Return the largest mu in [x, 1] with kl(x, mu) <= budget.

    In t = -log(1 - mu) the divergence x log x + (1 - x) log(1 - x) - x log mu + (1 - x) t is convex and grows
    beyond x, so Newton's method from outside stays outside: stopping early can only widen the interval.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        constant = np.where(x > 0, x * np.log(x), 0.0) + np.where(x < 1, (1 - x) * np.log1p(-x), 0.0)
        # Outside for sure: by Pinsker's inequality, and because -x log mu >= 0.
        t = np.fmin(-np.log1p(-np.minimum(x + np.sqrt(budget / 2), 1.0)), (budget - constant) / (1 - x))
        for _ in range(100):
            mu = -np.expm1(-t)
            excess = constant - np.where(x > 0, x * np.log(mu), 0.0) + (1 - x) * t - budget
            step = np.where(excess > 0, excess * mu / (mu - x), 0.0)
            step = np.where(np.isfinite(step), np.minimum(step, t), 0.0)
            t = t - step
            if (step <= 1e-13 * t).all():
                break
    return np.asarray(np.where(x < 1, np.maximum(-np.expm1(-t), x), 1.0))
