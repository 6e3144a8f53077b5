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
from coterie.certificates.gains import GainBound, LinearBound, RootBound, SmallerOf
from coterie.errors import InputError
from coterie.estimate import confidence
from coterie.estimate.intervals import Bounds, Method, Moments, intervals
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Design, PairDesign, design_of, directions, own_unknowns
from coterie.game.strategy import Strategy

Form = Literal["hoeffding", "bernstein", "both"]
"""Which width bounds a fixed direction; "both" takes the smaller one and pays for it."""

LogTerm = float | tuple[FloatArray, ...] | FloatArray
"""log(1 / share of delta) of a deviation: one for all, or one per agent and enumerated action.

An array has a row per agent, filled up on the right where agents have fewer actions."""


Names = tuple[tuple[str, ...], tuple[str, ...]]
"""The agents and the coalitions that evidence is about."""


def plus(log_term: LogTerm, price: float) -> LogTerm:
    """Return the log term after splitting each deviation's share over `price` events."""
    extra = float(np.log(price))
    return tuple(one + extra for one in log_term) if isinstance(log_term, tuple) else log_term + extra


class Evidence(ABC):
    """A log's estimate together with what it proves about gains.

    Strategies enter as a `Design`, which `design` makes, so that a search can update it in place.
    """

    @property
    def is_bounded(self) -> bool:
        """Whether directions have bounds at all, be they ever so wide."""
        return True

    @abstractmethod
    def design(self, strategy: Strategy) -> Design:
        """Return the coefficients with which a strategy weighs the unknowns."""

    @abstractmethod
    def rooms(self, design: Design) -> FloatArray:
        """Return estimated room values, shape (n, k)."""

    @abstractmethod
    def range_bound(self, design: Design) -> GainBound:
        """Return the bound that holds without any data, from the range of utilities alone."""

    @abstractmethod
    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        """Return a bound that holds for all profiles at once with probability 1 - delta."""

    @abstractmethod
    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Return a bound each of whose deviations fails with probability at most exp(-log_term)."""

    @abstractmethod
    def root_bound(self, design: Design, log_term: LogTerm) -> RootBound:
        """Return the sharpest single width of `direction_bound`, with its spread."""

    @abstractmethod
    def doubts(self, design: Design, agent: int, change: FloatArray) -> FloatArray:
        """Return how much each coalition and partner adds to the uncertainty of a deviation, shape (k, n).

        `change` is the deviation vector x, shape (k,). The numbers are standard errors in utility
        points, for comparing pairs with each other; they add up in quadrature at best.
        """

    @abstractmethod
    def by_partner(self, design: Design, agent: int) -> FloatArray:
        """Return what each partner adds to the value of each of an agent's rooms, shape (k, n)."""

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
    names: Names | None = None

    def design(self, strategy: Strategy) -> Design:
        check_names(self.names, strategy)
        return design_of(self.estimate.structure, strategy, self.estimate.factor)

    def rooms(self, design: Design) -> FloatArray:
        return design.linear(self.estimate.moments.mean)

    def range_bound(self, design: Design) -> GainBound:
        bounds = self.estimate.bounds
        return LinearBound(design.marginals, times(design.partners, bounds.high), times(design.partners, bounds.low))

    def exposure(self, design: Design) -> FloatArray:
        """Return how many partners' worth of never observed utility each room holds, shape (n, k)."""
        if self.estimate.structure == "factor":
            # A utility is g(s) d, and lies in the range as a whole: no factor here.
            design = PairDesign(design.marginals)
        return design.linear(self._unseen)

    def interval_arrays(self, delta: float) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) for all observed unknowns together, 0 for the others; once per delta."""
        if delta not in self._intervals:
            bounds, moments = self.estimate.bounds, self.estimate.moments
            if self.estimate.structure == "factor":
                # The range holds for g(s) d, not for d itself.
                bounds = Bounds(-np.inf, np.inf, bounds.half_range)
            lower, upper = intervals(moments, bounds, delta, self.method)
            seen = moments.count > 0
            self._intervals[delta] = np.where(seen, lower, 0.0), np.where(seen, upper, 0.0)
        return self._intervals[delta]

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        """Add up the intervals of all pairs ("box"): valid for pure and mixed profiles alike.

        If every theta_e is in its interval, then W_i(l) lies between the sums of the lower and of
        the upper ends, and coalitions kept by a deviation cancel with their uncertainty.
        """
        lower, upper = self.interval_arrays(delta)
        exposure, bounds = self.exposure(design), self.estimate.bounds
        rounding = bounds.rounding * design.partners
        return LinearBound(
            design.marginals,
            design.linear(upper) + times(exposure, bounds.high) + rounding,
            design.linear(lower) + times(exposure, bounds.low) - rounding,
        )

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Put the sum inside the root: each gain is one combination of independent estimates."""
        if self.estimate.noise is not None:
            return self._dependent_bound(design, log_term)
        if not self._knows_variance:
            form = "hoeffding"
        if form == "both":
            # Hoeffding is one event, the variance-aware width two: half of the share for each.
            by_range = self._hoeffding_bound(design, plus(log_term, 2))
            return SmallerOf((by_range, self._bernstein_bound(design, plus(log_term, 4))))
        if form == "bernstein":
            return self._bernstein_bound(design, plus(log_term, 2))
        return self._hoeffding_bound(design, log_term)

    def root_bound(self, design: Design, log_term: LogTerm) -> RootBound:
        if self.estimate.noise is not None:
            return self._dependent_bound(design, log_term)
        build = self._bernstein_bound if self._knows_variance else self._hoeffding_bound
        return build(design, log_term)

    def preview(self, learning: "PairEvidence") -> "PairEvidence":
        own, other = self.estimate.moments, learning.estimate.moments
        variance = None
        if own.variance is not None and other.variance is not None:
            variance = np.where(other.count >= 2, other.variance, self.estimate.bounds.half_range**2)
        moments = Moments(own.count, other.mean * own.seen, variance, own.events, own.repeats)
        return replace(self, estimate=replace(self.estimate, moments=moments))

    def doubts(self, design: Design, agent: int, change: FloatArray) -> FloatArray:
        error = self._roots + self.estimate.bounds.half_range * self._unseen
        return np.abs(change)[:, None] * self._spread(error, design, agent)

    def by_partner(self, design: Design, agent: int) -> FloatArray:
        return self._spread(self.estimate.moments.mean, design, agent)

    def _spread(self, values: FloatArray, design: Design, agent: int) -> FloatArray:
        """Return how much each partner adds to an agent's rooms if unknowns have these values, shape (k, n)."""
        n, k = design.marginals.shape
        if self.estimate.structure == "anonymous":
            # All partners of a room share its unknowns.
            rooms = (design.coefficients(agent) * values).sum(axis=(1, 2))
            share = rooms / np.maximum(design.partners[agent], 1e-300)
            return np.asarray(share[:, None] * np.where(np.arange(n) == agent, 0.0, design.marginals.T))
        amounts = design.coefficients(agent) * values[:, agent]
        return np.asarray(amounts.reshape(k, -1, n, amounts[0, 0, 0].size).sum(axis=(1, 3)))

    # The arrays below are made once, since a search asks for them again and again.

    @cached_property
    def _intervals(self) -> dict[float, tuple[FloatArray, FloatArray]]:
        return {}

    @cached_property
    def _unseen(self) -> FloatArray:
        return self.estimate.moments.unseen

    @property
    def _knows_variance(self) -> bool:
        return self.estimate.bounds.sigma is None and self.estimate.moments.variance is not None

    @cached_property
    def _proxies(self) -> FloatArray:
        """r^2 / N: the variance proxy of each mean."""
        return self.estimate.bounds.half_range**2 * self._inverse

    @cached_property
    def _variances(self) -> FloatArray:
        """s^2 / N; a value seen once has no sample variance, but its variance is at most r^2."""
        moments = self.estimate.moments
        assert moments.variance is not None
        return np.where(moments.count >= 2, moments.variance, self.estimate.bounds.half_range**2) * self._inverse

    @cached_property
    def _steps(self) -> FloatArray:
        """1 / (N - 1): how much one value can move a mean, see `direction_bernstein`."""
        count = self.estimate.moments.count
        return np.where(count > 0, 1 / np.maximum(count - 1, 1.0), 0.0)

    @cached_property
    def _roots(self) -> FloatArray:
        """R / sqrt(effective count)."""
        effective = self.estimate.moments.effective
        return self.estimate.bounds.half_range * np.where(
            effective > 0, 1 / np.sqrt(np.maximum(effective, 1e-300)), 0.0
        )

    @cached_property
    def _inverse(self) -> FloatArray:
        """1 / N, 0 for what was never observed."""
        count = self.estimate.moments.count
        return np.where(count > 0, 1 / np.maximum(count, 1e-300), 0.0)

    def _parts(self, design: Design) -> tuple[FloatArray, FloatArray]:
        """Return the linear parts for joining and leaving: estimates, the unseen at their worst."""
        rooms, exposure, bounds = self.rooms(design), self.exposure(design), self.estimate.bounds
        rounding = bounds.rounding * design.partners
        return rooms + times(exposure, bounds.high) + rounding, rooms + times(exposure, bounds.low) - rounding

    def _hoeffding_bound(self, design: Design, log_term: LogTerm) -> RootBound:
        return RootBound(design.marginals, *self._parts(design), design.quadratic(self._proxies), log_term)

    def _bernstein_bound(self, design: Design, log_term: LogTerm) -> RootBound:
        return RootBound(
            design.marginals,
            *self._parts(design),
            design.quadratic(self._variances),
            log_term,
            largest=design.largest(self._steps),
            half_range=self.estimate.bounds.half_range,
        )

    def _dependent_bound(self, design: Design, log_term: LogTerm) -> RootBound:
        """Let pairs of one sample depend on each other in any way.

        A sample moves the estimate of sum c_e theta_e within an interval of length 2r alpha' x,
        alpha_e = |c_e| / N_e and x its indicator of unknowns; samples are independent, so the
        variance proxy is r^2 alpha' H alpha. Without H: alpha' H alpha <= (sum alpha_e sqrt(H_ee))^2.
        """
        assert self.estimate.noise is not None
        together = self.estimate.noise.together
        joined, left = self._parts(design)
        if together is None:
            width = design.linear(self._roots)
            square = np.einsum("il,im->ilm", width, width)
        else:
            n, k = design.marginals.shape
            square = np.empty((n, k, k))
            for i in range(n):
                alpha = directions(design, i) * own_unknowns(self._inverse[None, :, i], i)
                square[i] = self.estimate.bounds.half_range**2 * alpha @ together(i) @ alpha.T
        return RootBound(design.marginals, joined, left, square, log_term, absolute=True)

    def assumptions(self) -> list[str]:
        estimate = self.estimate
        return taken_for_granted(estimate.structure, estimate.bounds, within_samples=estimate.noise is not None)


def check_names(names: Names | None, strategy: Strategy) -> None:
    """Refuse a strategy of other agents or coalitions."""
    if names is not None and names != (strategy.agents, strategy.coalitions):
        raise InputError("the strategy's agents and coalitions are not the log's, or not in its order")


MEANING = {
    "size-free": "mean utilities do not depend on coalition size",
    "pooled": "a pair's mean utility is the same in every coalition and at every size",
    "aware": "mean utilities may depend on coalition size",
    "pooled-aware": "a pair's mean utility is the same in every coalition of the same size",
    "factor": "mean utilities depend on coalition size through the declared factor only",
    "anonymous": "mean utilities depend on coalition and size, not on the pair",
}
"""What each way to read a log takes for granted."""


def taken_for_granted(structure: str, bounds: Bounds, *, within_samples: bool) -> list[str]:
    """Word what is taken for granted: about means, independence, actions, and the size of utilities."""
    independent = "given the logged actions, all pair utilities are independent"
    if within_samples:
        independent = "given the logged actions, samples are independent; pairs of one sample need not be"
    limits = f"every pair utility lies between {bounds.low:g} and {bounds.high:g}"
    if bounds.sigma is not None:
        limits = f"pair utilities are sub-Gaussian with scale {bounds.sigma:g} around their means"
        if np.isfinite(bounds.high - bounds.low):
            limits += f", and these lie between {bounds.low:g} and {bounds.high:g}"
    return [MEANING[structure], independent, "logged actions did not depend on earlier utilities", limits]


def times(amount: FloatArray, limit: float) -> FloatArray:
    """Return amount * limit, where nothing times infinity is nothing."""
    if np.isfinite(limit):
        return amount * limit
    return np.where(amount > 0, limit, 0.0)


def paper_box(estimate: PairEstimate, design: Design, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return room values with every mean at its lower and upper end under eq. (8) and (9), as printed."""
    moments = estimate.moments
    bonus = confidence.paper_bonus(moments.count, estimate.n_agents, estimate.n_coalitions, delta)
    # The paper's range is [-1, 1], so its bonus scales with r; and nobody is her own partner.
    bonus *= estimate.bounds.half_range * (moments.seen + moments.unseen)
    return design.linear(moments.mean - bonus), design.linear(moments.mean + bonus)
