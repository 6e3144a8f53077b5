"""Simultaneous confidence intervals for all unknowns of a semi-bandit log."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.estimate import confidence
from coterie.statistics.setting import Setting

Method = Literal["best", "hoeffding", "kl", "bernstein", "sub-gaussian", "adaptive"]


@dataclass(frozen=True, eq=False)
class Bounds:
    """What is known of realised utilities: their range, or a sub-Gaussian scale, or both."""

    low: float
    high: float
    sigma: float | None = None
    """If given, realised utilities are unbounded with this scale and [low, high] holds for means only."""
    rounding: float = 0.0
    """How far a stored utility can be from the one that was observed; bounds allow for it."""
    neutral: float = 0.0
    """What everything here is counted from, on the scale that outcomes are counted on; only said, as what follows."""
    lower_is_better: bool = False
    """Whether that scale is the opposite of the log's."""

    def __post_init__(self) -> None:
        # Arrays that are filled with whole ends would be whole, and cut off what is computed into them.
        for name in ("low", "high", "rounding", *([] if self.sigma is None else ["sigma"])):
            object.__setattr__(self, name, float(getattr(self, name)))

    @classmethod
    def of(cls, setting: Setting) -> "Bounds":
        """Return what a log declares about utilities, counted from the neutral point."""
        low, high = (-np.inf, np.inf) if setting.utility_range is None else setting.utility_range
        _, step = setting.scale
        low, high, neutral = low - setting.neutral, high - setting.neutral, setting.neutral
        return cls(low, high, setting.sigma, step / 2, neutral, setting.lower_is_better)

    @property
    def told(self) -> tuple[float, float]:
        """Where the tables of the log have utilities."""
        low, high = self.neutral + self.low, self.neutral + self.high
        return (0.0 - high, 0.0 - low) if self.lower_is_better else (low, high)

    @property
    def half_range(self) -> float:
        """The sub-Gaussian scale of one realised utility: r, or the declared sigma."""
        return (self.high - self.low) / 2 if self.sigma is None else self.sigma

    @property
    def middle(self) -> float:
        """The middle of the range of means, 0 where that is not bounded."""
        return (self.low + self.high) / 2 if np.isfinite(self.high - self.low) else 0.0

    @property
    def half_width(self) -> float:
        """How far a mean can be from the middle of its range."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and sample variance of every unknown, in arrays of one shape."""

    count: FloatArray
    mean: FloatArray
    """0 where the count is 0."""
    variance: FloatArray | None
    """With divisor N - 1; None where only Hoeffding applies."""
    events: int
    """How many distinct unknowns were observed (a symmetric pair counts once)."""
    repeats: FloatArray | None = None
    """sum over samples of n_m^2, where an unknown occurs n_m times in sample m and these values may depend
    on each other; None where that cannot be."""
    unrecorded: FloatArray | None = None
    """The share of the `count` values that the log does not hold and that count at their worst; mean and variance
    are of the others. None where every value was recorded, or is taken to be like those that were."""

    stands: int = 1
    """How often each unknown would stand in arrays over all pairs: twice where symmetric pairs are listed once."""

    @classmethod
    def from_sums(
        cls,
        count: FloatArray,
        total: FloatArray,
        squares: FloatArray | None,
        *,
        events: int,
        repeats: FloatArray | None = None,
    ) -> "Moments":
        """Return moments from counts, sums and sums of squares of any shape."""
        mean = np.divide(total, count, out=np.zeros_like(total, dtype=np.float64), where=count > 0)
        variance = None
        if squares is not None:
            spread = np.maximum(squares - count * mean**2, 0.0)
            variance = np.divide(spread, count - 1, out=np.zeros_like(mean), where=count > 1)
        return cls(count.astype(np.float64), mean, variance, events, repeats)

    @property
    def effective(self) -> FloatArray:
        """The number of independent values that a mean is worth: N, or N^2 / sum of n_m^2."""
        if self.repeats is None:
            return self.count
        return np.divide(self.count**2, self.repeats, out=np.zeros_like(self.count), where=self.repeats > 0)

    @property
    def seen(self) -> FloatArray:
        """1 where the unknown was observed, else 0."""
        return (self.count > 0).astype(np.float64)

    @property
    def recorded(self) -> FloatArray:
        """What recorded values add to the mean of all: the mean, times their share."""
        return self.mean if self.unrecorded is None else self.mean * (1 - self.unrecorded)

    @property
    def at_worst(self) -> FloatArray:
        """The share of each unknown that no value was recorded of: all of it where it was never observed."""
        return self.unseen if self.unrecorded is None else self.unseen + self.unrecorded * self.seen

    def spread(self, bounds: Bounds) -> FloatArray | None:
        """Return the sample variance, or the most that it can be if unrecorded values are anywhere in the range.

        A sum of squares about the mean is at most that about any other point: here the mean of the recorded values,
        or the middle of the range, from which no value is further than r.
        """
        if self.variance is None or self.unrecorded is None:
            return self.variance
        unrecorded = self.count * self.unrecorded
        recorded = self.count - unrecorded
        own = np.maximum(recorded - 1, 0.0) * self.variance
        furthest = np.maximum(bounds.high - self.mean, self.mean - bounds.low)
        about_mean = own + unrecorded * furthest**2
        about_middle = own + recorded * (self.mean - bounds.middle) ** 2 + unrecorded * bounds.half_width**2
        return np.asarray(np.minimum(about_mean, about_middle) / np.maximum(self.count - 1, 1.0))

    def with_all(self, bounds: Bounds, end: float) -> "Moments":
        """Return the moments if every unrecorded value were at this end of the range (with the largest variance)."""
        assert self.unrecorded is not None
        return replace(self, mean=self.recorded + self.unrecorded * end, variance=self.spread(bounds), unrecorded=None)

    @property
    def unseen(self) -> FloatArray:
        """1 where there is an unknown that was never observed, else 0: nobody is her own partner."""
        missing = 1.0 - self.seen
        if missing.ndim > 2:
            agents = np.arange(missing.shape[1])
            missing[:, agents, agents] = 0.0
        return missing


def distinct_pairs(count: FloatArray, *, symmetric: bool) -> int:
    """Return how many distinct pair unknowns were observed, in arrays (..., n, n) or (k, n, n, s)."""
    seen = int((count > 0).sum())
    return seen // 2 if symmetric else seen


def intervals(moments: Moments, bounds: Bounds, delta: float, method: Method = "best") -> tuple[FloatArray, FloatArray]:
    """Return (lower, upper) that hold for all unknowns together with probability 1 - delta.

    "adaptive" holds although counts depend on utilities, if `moments.events` counts unseen unknowns too. "best" is the
    narrower of KL and empirical Bernstein at delta / 2 each; where values of one sample may depend on
    each other, Hoeffding at delta / 2, which is never narrower: which of the two is used may then depend on the data.
    Nothing is wider than [low, high], and an unknown never observed gets exactly that.

    With unrecorded values, the interval of the mean of all N + U values holds its expectation, whatever decided which
    are recorded. Its ends grow with that mean, so the lower end with all U values at `low` is no higher, the upper
    one with all at `high` no lower. Events are those of all pairs that met, which recording does not change.
    """
    if moments.unrecorded is not None:
        lower, _ = intervals(moments.with_all(bounds, bounds.low), bounds, delta, method)
        _, upper = intervals(moments.with_all(bounds, bounds.high), bounds, delta, method)
        return lower, upper
    count, mean, events = moments.effective, moments.mean, moments.events
    if method == "adaptive":
        return _within(bounds, count, *_adaptive(moments, bounds, delta))
    if bounds.sigma is not None:
        method = "sub-gaussian"
    elif moments.repeats is not None:
        delta = delta / 2 if method == "best" else delta
        method = "hoeffding"
    elif moments.variance is None and method in {"best", "bernstein"}:
        method = "hoeffding"
    if method in {"hoeffding", "sub-gaussian"}:
        width = confidence.hoeffding(count, bounds.half_range, events, delta)
        lower, upper = mean - width, mean + width
    elif method == "kl":
        seen = count > 0  # logs are sparse, and logarithms take their time
        lower, upper = np.full(mean.shape, bounds.low), np.full(mean.shape, bounds.high)
        lower[seen], upper[seen] = confidence.kl_interval(
            mean[seen], count[seen], bounds.low, bounds.high, events, delta
        )
    elif method == "bernstein":
        assert moments.variance is not None
        width = confidence.empirical_bernstein(count, moments.variance, bounds.half_range, events, delta)
        lower, upper = mean - width, mean + width
    elif method == "best":
        by_kl = intervals(moments, bounds, delta / 2, "kl")
        by_variance = intervals(moments, bounds, delta / 2, "bernstein")
        lower, upper = np.maximum(by_kl[0], by_variance[0]), np.minimum(by_kl[1], by_variance[1])
    else:
        raise InputError(f"intervals: unknown method {method!r}")
    return _within(bounds, count, lower, upper)


def _within(bounds: Bounds, count: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return intervals within the range, which is all that is known of what was never observed."""
    unseen = count == 0
    return (
        np.where(unseen, bounds.low, np.maximum(lower, bounds.low)),
        np.where(unseen, bounds.high, np.minimum(upper, bounds.high)),
    )


def _adaptive(moments: Moments, bounds: Bounds, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return time-uniform intervals, see `confidence.kl_mixture_interval` and `confidence.normal_mixture`."""
    count, mean = moments.count, moments.mean
    if bounds.sigma is None and moments.repeats is None:
        seen = count > 0
        lower, upper = np.full(mean.shape, bounds.low), np.full(mean.shape, bounds.high)
        lower[seen], upper[seen] = confidence.kl_mixture_interval(
            mean[seen], count[seen], bounds.low, bounds.high, moments.events, delta
        )
        return lower, upper
    squares = count if moments.repeats is None else moments.repeats
    width = confidence.normal_mixture(count, squares, bounds.half_range, moments.events, delta)
    return mean - width, mean + width
