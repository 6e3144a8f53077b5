"""What an estimate proves about gains: bounds for all profiles at once, and for one fixed profile.

`Evidence` is the common face of semi-bandit and bandit logs. A *uniform* bound holds for every
profile at once, so the profile may depend on all data. A *direction* bound holds for directions
that were fixed without looking at these data; `log_term` is log(1 / share of delta) for each.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np

from coterie.arrays import FloatArray
from coterie.certify.gain_bounds import GainBound, LinearBound, RootBound, SmallerOf
from coterie.estimate import confidence
from coterie.estimate.intervals import Bounds, Method, Moments, intervals
from coterie.estimate.pairs import PairEstimate
from coterie.strategy import Strategy

Form = Literal["hoeffding", "bernstein", "both"]
"""Which width bounds a fixed direction; "both" takes the smaller one and pays for it."""

LogTerm = float | tuple[FloatArray, ...]
"""log(1 / share of delta) of a deviation: one for all, or one per agent and enumerated action."""


def plus(log_term: LogTerm, price: float) -> LogTerm:
    """Return the log term after splitting each deviation's share over `price` events."""
    extra = float(np.log(price))
    return log_term + extra if isinstance(log_term, float) else tuple(one + extra for one in log_term)


class Evidence(ABC):
    """A log's estimate together with what it proves about gains."""

    @abstractmethod
    def rooms(self, strategy: Strategy) -> FloatArray:
        """Return estimated room values, shape (n, k)."""

    @abstractmethod
    def range_bound(self, strategy: Strategy) -> GainBound:
        """Return the bound that holds without any data, from the range of utilities alone."""

    @abstractmethod
    def uniform_bound(self, strategy: Strategy, delta: float) -> GainBound:
        """Return a bound that holds for all profiles at once with probability 1 - delta."""

    @abstractmethod
    def direction_bound(self, strategy: Strategy, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Return a bound each of whose deviations fails with probability at most exp(-log_term)."""

    @abstractmethod
    def root_bound(self, strategy: Strategy, log_term: LogTerm) -> RootBound:
        """Return the sharpest single width of `direction_bound`, with its spread."""

    @abstractmethod
    def preview(self, learning: Self) -> Self:
        """Return evidence with these counts and the means and variances of `learning`."""

    @abstractmethod
    def assumptions(self) -> list[str]:
        """Return what this evidence takes for granted, in words for the result file."""


@dataclass(frozen=True, eq=False)
class PairEvidence(Evidence):
    """Evidence from a semi-bandit log."""

    estimate: PairEstimate
    method: Method = "best"

    def rooms(self, strategy: Strategy) -> FloatArray:
        return self.estimate.rooms(strategy)

    def range_bound(self, strategy: Strategy) -> GainBound:
        partners, bounds = self.estimate.partners(strategy), self.estimate.bounds
        return LinearBound(strategy.marginals, _times(partners, bounds.high), _times(partners, bounds.low))

    @cached_property
    def _intervals(self) -> dict[float, tuple[FloatArray, FloatArray]]:
        return {}

    def interval_arrays(self, delta: float) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) for all unknowns together; computed once per delta."""
        if delta not in self._intervals:
            bounds = self.estimate.bounds
            if self.estimate.structure == "factor":
                # The range holds for g(s) d, not for d itself.
                bounds = Bounds(-np.inf, np.inf, bounds.half_range)
            self._intervals[delta] = intervals(self.estimate.moments, bounds, delta, self.method)
        return self._intervals[delta]

    def uniform_bound(self, strategy: Strategy, delta: float) -> GainBound:
        """Add up the intervals of all pairs ("box"): valid for pure and mixed profiles alike.

        If every theta_e is in its interval, then W_i(l) lies between the sums of the lower and of
        the upper ends, and coalitions kept by a deviation cancel with their uncertainty.
        """
        lower, upper = self.interval_arrays(delta)
        seen = self.estimate.moments.seen > 0
        design, exposure = self.estimate.design(strategy), self.estimate.exposure(strategy)
        bounds = self.estimate.bounds
        return LinearBound(
            strategy.marginals,
            design.linear(np.where(seen, upper, 0.0)) + _times(exposure, bounds.high),
            design.linear(np.where(seen, lower, 0.0)) + _times(exposure, bounds.low),
        )

    def direction_bound(self, strategy: Strategy, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Put the sum inside the root: each gain is one combination of independent estimates."""
        estimate = self.estimate
        if estimate.noise is not None:
            return self._dependent_bound(strategy, log_term)
        if estimate.bounds.sigma is not None or estimate.moments.variance is None:
            form = "hoeffding"
        if form == "both":
            # Hoeffding is one event, the variance-aware width two: half of the share for each.
            return SmallerOf(
                (
                    self._hoeffding_bound(strategy, plus(log_term, 2)),
                    self._bernstein_bound(strategy, plus(log_term, 4)),
                )
            )
        if form == "bernstein":
            return self._bernstein_bound(strategy, plus(log_term, 2))
        return self._hoeffding_bound(strategy, log_term)

    def root_bound(self, strategy: Strategy, log_term: LogTerm) -> RootBound:
        if self.estimate.noise is not None:
            bound = self._dependent_bound(strategy, log_term)
            return bound if isinstance(bound, RootBound) else self._hoeffding_bound(strategy, log_term)
        if self.estimate.bounds.sigma is not None or self.estimate.moments.variance is None:
            return self._hoeffding_bound(strategy, log_term)
        return self._bernstein_bound(strategy, log_term)

    def preview(self, learning: "PairEvidence") -> "PairEvidence":
        own, other = self.estimate.moments, learning.estimate.moments
        variance = None
        if own.variance is not None and other.variance is not None:
            variance = np.where(other.count >= 2, other.variance, self.estimate.bounds.half_range**2)
        moments = Moments(own.count, other.mean * own.seen, variance, own.events, own.repeats)
        return PairEvidence(replace(self.estimate, moments=moments), self.method)

    def _parts(self, strategy: Strategy) -> tuple[FloatArray, FloatArray]:
        """Return the linear parts for joining and leaving: estimates, the unseen at their worst."""
        rooms, exposure, bounds = self.rooms(strategy), self.estimate.exposure(strategy), self.estimate.bounds
        return rooms + _times(exposure, bounds.high), rooms + _times(exposure, bounds.low)

    def _hoeffding_bound(self, strategy: Strategy, log_term: LogTerm) -> RootBound:
        moments = self.estimate.moments
        proxy = np.divide(
            self.estimate.bounds.half_range**2,
            moments.count,
            out=np.zeros_like(moments.count),
            where=moments.count > 0,
        )
        square = self.estimate.design(strategy).quadratic(proxy)
        return RootBound(strategy.marginals, *self._parts(strategy), square, log_term)

    def _bernstein_bound(self, strategy: Strategy, log_term: LogTerm) -> RootBound:
        moments, half_range = self.estimate.moments, self.estimate.bounds.half_range
        assert moments.variance is not None
        count = moments.count
        # A value seen once has no sample variance; its variance is at most r^2.
        variance = np.where(count >= 2, moments.variance, half_range**2)
        share = np.divide(variance, count, out=np.zeros_like(count), where=count > 0)
        inverse = np.where(count > 0, 1 / np.maximum(count - 1, 1.0), 0.0)
        design = self.estimate.design(strategy)
        return RootBound(
            strategy.marginals,
            *self._parts(strategy),
            design.quadratic(share),
            log_term,
            largest=design.largest(inverse),
            half_range=half_range,
        )

    def _dependent_bound(self, strategy: Strategy, log_term: LogTerm) -> GainBound:
        """Let pairs of one sample depend on each other in any way.

        A sample moves the estimate of sum c_e theta_e within an interval of length 2r alpha' x,
        alpha_e = |c_e| / N_e and x its indicator of unknowns; samples are independent, so the
        variance proxy is r^2 alpha' H alpha. Without H: alpha' H alpha <= (sum alpha_e sqrt(H_ee))^2.
        """
        estimate = self.estimate
        assert estimate.noise is not None
        count, scale = estimate.moments.count, estimate.bounds.half_range
        together = estimate.noise.together
        if together is None:
            effective = estimate.moments.effective
            inverse = np.where(count > 0, 1 / np.sqrt(np.maximum(effective, 1e-300)), 0.0)
            width = scale * estimate.design(strategy).linear(inverse)
            joined, left = self._parts(strategy)
            assert isinstance(log_term, float), "unequal shares of delta need the co-occurrence counts"
            root = float(np.sqrt(2 * log_term))
            return LinearBound(strategy.marginals, joined + root * width, left - root * width)
        inverse = np.where(count > 0, 1 / np.maximum(count, 1e-300), 0.0)
        n, k = strategy.marginals.shape
        square = np.empty((n, k, k))
        design = estimate.design(strategy)
        for i in range(n):
            alpha = np.stack([(design.coefficients(i, l) * _of_agent(inverse, i)).ravel() for l in range(k)])
            square[i] = scale**2 * alpha @ together[i] @ alpha.T
        return RootBound(strategy.marginals, *self._parts(strategy), square, log_term, absolute=True)

    def assumptions(self) -> list[str]:
        structure, noise = self.estimate.structure, self.estimate.noise
        sizes = {
            "size-free": "mean utilities do not depend on coalition size",
            "pooled": "a pair's mean utility is the same in every coalition and at every size",
            "aware": "mean utilities may depend on coalition size",
            "factor": "mean utilities depend on coalition size through the declared factor only",
            "anonymous": "mean utilities depend on coalition and size, not on the pair",
        }[structure]
        independence = (
            "given the logged actions, all pair utilities are independent"
            if noise is None
            else "given the logged actions, samples are independent; pairs of one sample need not be"
        )
        return [sizes, independence, "logged actions did not depend on earlier utilities"]


def _of_agent(values: FloatArray, agent: int) -> FloatArray:
    """Return one agent's unknowns: the row of (k, n, n), (1, n, n) or (k, n, n, s) arrays."""
    return values if values.ndim == 2 else values[:, agent]


def _times(amount: FloatArray, limit: float) -> FloatArray:
    """Return amount * limit, where nothing times infinity is nothing."""
    if np.isfinite(limit):
        return amount * limit
    return np.where(amount > 0, limit, 0.0)


def paper_box(estimate: PairEstimate, strategy: Strategy, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return room values with every mean at its lower and upper end under eq. (8) and (9), as printed."""
    moments = estimate.moments
    bonus = confidence.paper_bonus(moments.count, estimate.n_agents, estimate.n_coalitions, delta)
    bonus *= moments.seen + moments.unseen  # nobody is her own partner
    design = estimate.design(strategy)
    return design.linear(moments.mean - bonus), design.linear(moments.mean + bonus)
