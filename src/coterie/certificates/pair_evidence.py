"""Evidence from semi-bandit logs: the values of pairs were seen, each unknown has its own mean and count."""

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.certificates import widths
from coterie.certificates.evidence import Bounding, Evidence, Form, Names
from coterie.certificates.gains import GainBound, LinearBound, LogTerm, RootBound, SmallerOf
from coterie.certificates.tilted import Tilted
from coterie.estimate import confidence
from coterie.estimate.design import Design, MovedDesign, StrategyDesign, own_unknowns
from coterie.estimate.intervals import Bounds, Method, intervals
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.posterior import variance_of_values
from coterie.estimate.seen_pairs import listed_as
from coterie.estimate.step_design import StepDesign
from coterie.estimate.unknowns import PairBatch, Unknowns
from coterie.game.actions import ActionSpaces

MOST_CELLS = 20_000_000
"""Matrices of all agents are kept at hand, for many profiles at once, up to so many numbers."""


@dataclass(frozen=True, eq=False)
class PairEvidence(Evidence):
    """Evidence from a semi-bandit log."""

    estimate: PairEstimate
    method: Method = "best"
    names: Names | None = None

    @property
    def unknowns(self) -> Unknowns:
        return self.estimate.unknowns

    @property
    def bounds(self) -> Bounds:
        return self.estimate.bounds

    @property
    def values(self) -> FloatArray:
        return self.estimate.moments.mean

    @property
    def allows_dependence(self) -> bool:
        return self.estimate.noise is not None

    @property
    def is_symmetric(self) -> bool:
        return self.estimate.symmetric

    @property
    def covers_missing(self) -> bool:
        return self.estimate.moments.unrecorded is not None

    @property
    def allows_adaptivity(self) -> bool:
        return self.method == "adaptive"

    @property
    def as_independent(self) -> "PairEvidence":
        """The same means, with pairs of one sample taken to be independent."""
        return replace(self, estimate=replace(self.estimate, noise=None))

    def rooms(self, design: Design) -> FloatArray:
        return design.linear(self.values)

    def exposure(self, design: Design) -> FloatArray:
        """Return how many partners' worth of utility that nobody recorded each room holds, shape (n, k)."""
        return self.unknowns.exposure(design, self._unseen)

    def interval_arrays(self, delta: float) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) for all observed unknowns together, 0 for the others; once per delta."""
        if delta not in self._intervals:
            bounds, moments = self.unknowns.bounds(self.bounds), self.estimate.moments
            lower, upper = intervals(moments, bounds, delta, self.method)
            seen = moments.count > 0
            self._intervals[delta] = np.where(seen, lower, 0.0), np.where(seen, upper, 0.0)
        return self._intervals[delta]

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        return widths.box(self, design, delta)

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Put the sum inside the root: each gain is one combination of independent estimates.

        Where pairs may depend on each other there is one width, and "both" spends half of the share on it all the
        same. It is then never below the smaller one for independent pairs, since alpha' H alpha >= sum c^2 / N (the
        diagonal of H holds the counts, and nothing in it is negative): which of the two is used may depend on the data.
        Where counts depend on utilities, a combination with weights 1 / N is not fixed, and there is no such bound.
        """
        if self.allows_adaptivity:
            return self.range_bound(design)
        if self.estimate.noise is not None:
            return self._dependent_bound(design, log_term + np.log(2) if form == "both" else log_term)
        if not self.knows_variance:
            form = "hoeffding"
        if form == "both":
            half = log_term + np.log(2)  # of the share for each of the two
            return SmallerOf((widths.hoeffding(self, design, half), widths.bernstein(self, design, half)))
        return (widths.bernstein if form == "bernstein" else widths.hoeffding)(self, design, log_term)

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        if self.allows_dependence or not self.knows_variance:
            return self.direction_bound(design, log_term)
        return widths.bernstein(self, design, log_term, events=1)

    def learnt_bound(self, design: Design, log_term: float, learning: "PairEvidence") -> GainBound:
        """Use what another part of the log says about variances: one event, see `coterie.certificates.tilted`."""
        if self.allows_dependence or self.covers_missing or not self.knows_variance or not learning.knows_variance:
            return self.direction_bound(design, log_term)
        if not self.unknowns.averages_meetings or (self.unknowns.is_listed and design.shares_unknowns):
            return self.direction_bound(design, log_term)
        return Tilted(self, learning, design, self.parts(design), log_term)

    def likely_bound(self, design: Design, delta: float) -> RootBound | None:
        moments = self.estimate.moments
        if self.allows_adaptivity or moments.variance is None:
            return None
        values = variance_of_values(replace(moments, variance=moments.spread(self.bounds)), self.bounds.half_range)
        if self.estimate.noise is None:
            square, width = design.quadratic(values * self.per_count), confidence.normal_width(delta)
        else:
            found = self._clustered_squares(design, values)
            if found is None:
                return None
            square, width = found[0], confidence.normal_width(delta, found[1])
        return RootBound(self.parts(design), square, widths.Shape(times_sqrt=width))

    def _clustered_squares(self, design: Design, values: FloatArray) -> tuple[FloatArray, int] | None:
        """Return the variance form of every agent's rooms from sums by group of samples, and how many groups there are.

        Groups are independent of each other, whatever happens within a sample. With n_ge values of unknown e in group
        g, N_e in all, and their deviations from the mean adding up to y_ge, the estimate of sum c_e theta_e is off by
        sum over g of sum over e of c_e y_ge / N_e, as far as y_ge deviate like values from the true mean. They deviate
        less, by 1 - sum over g of (n_ge / N_e)^2 where values are independent, which is made up for. An unknown that
        was seen in one group alone shows no deviation; it has the variance that single values are taken to have.
        """
        assert self.estimate.noise is not None
        if self.estimate.noise.by_cluster is None:
            return None
        rows, k = design.marginals.shape
        square, filled = np.empty((rows, k, k)), 0
        for i, own in design.rows_by_owner():
            count, deviation = self.estimate.noise.by_cluster(i)
            filled = max(filled, int(count.any(axis=1).sum()))
            used, rooms = design.used_directions(own)
            count, deviation = count[:, used], deviation[:, used]
            often = np.maximum(count.sum(axis=0), 1.0)
            left = 1 - ((count / often) ** 2).sum(axis=0)
            shows = left > 1e-9
            deviation = deviation / np.sqrt(np.where(shows, left, np.inf))
            inverse, spread = (own_unknowns(of_all[None, :, i], i)[0, used] for of_all in (self.per_count, values))
            moved = (rooms * inverse) @ deviation.T
            alone = rooms * np.sqrt(np.where(shows, 0.0, spread))
            square[own] = moved @ np.swapaxes(moved, 1, 2) + alone @ np.swapaxes(alone, 1, 2)
        return (square, filled) if filled > 1 else None

    def preview(self, learning: "PairEvidence") -> "PairEvidence":
        own, other = self.estimate.moments, learning.estimate.moments

        def here(values: FloatArray) -> FloatArray:
            return listed_as(values, learning.unknowns, self.unknowns)

        variance = None
        if own.variance is not None and other.variance is not None:
            variance = np.where(here(other.count) >= 2, here(other.variance), self.bounds.half_range**2)
        # Of the certifying part only who met whom may be seen; what was recorded there may depend on utilities.
        unrecorded = None if other.unrecorded is None else here(other.unrecorded)
        moments = replace(own, mean=here(other.mean) * own.seen, variance=variance, unrecorded=unrecorded)
        noise = None if self.estimate.noise is None else replace(self.estimate.noise, by_cluster=None)
        return replace(self, estimate=replace(self.estimate, moments=moments, noise=noise))

    def doubts(self, design: StrategyDesign, agent: int, change: FloatArray) -> FloatArray:
        listed = self.unknowns.by_partner(self.errors, design, agent)
        others = self.bounds.half_range * self.unknowns.never_listed(design, agent)
        return np.asarray(np.abs(change)[:, None] * (listed + others))

    @property
    def errors(self) -> FloatArray:
        return np.asarray(self.roots + self.bounds.half_range * self._unseen)

    def batched(self, spaces: ActionSpaces) -> Bounding[Design] | None:
        del spaces
        estimate = self.estimate
        if estimate.noise is None or estimate.noise.together is None:
            return self
        fits = estimate.n_agents * estimate.moments.count[:, 0].size ** 2 <= MOST_CELLS
        return DependentBatches(self) if self.unknowns.is_linear and fits else None

    # The arrays below are made once, since a search asks for them again and again.

    @cached_property
    def _intervals(self) -> dict[float, tuple[FloatArray, FloatArray]]:
        return {}

    @cached_property
    def _unseen(self) -> FloatArray:
        return self.estimate.moments.at_worst

    @property
    def knows_variance(self) -> bool:
        """Whether sample variances say something about widths."""
        return self.bounds.sigma is None and self.estimate.moments.variance is not None

    @cached_property
    def per_count(self) -> FloatArray:
        """1 / N of each unknown, 0 for what was never observed."""
        count = self.estimate.moments.count
        return np.where(count > 0, 1 / np.maximum(count, 1e-300), 0.0)

    @cached_property
    def variance_per_count(self) -> FloatArray:
        """s^2 / N; a value seen once has no sample variance, but its variance is at most r^2."""
        moments = self.estimate.moments
        variance = moments.spread(self.bounds)
        assert variance is not None
        return np.where(moments.count >= 2, variance, self.bounds.half_range**2) * self.per_count

    @cached_property
    def steps(self) -> FloatArray:
        """1 / (N - 1): how much one value can move a mean, see `widths.bernstein_shape`."""
        count = self.estimate.moments.count
        return np.where(count > 0, 1 / np.maximum(count - 1, 1.0), 0.0)

    @cached_property
    def roots(self) -> FloatArray:
        """R / sqrt(effective count)."""
        effective = self.estimate.moments.effective
        return self.bounds.half_range * np.where(effective > 0, 1 / np.sqrt(np.maximum(effective, 1e-300)), 0.0)

    def parts(self, design: Design) -> LinearBound:
        """Return the linear part of widths, once for many steps: what was recorded, the rest at its worst.

        For any recording, sum of c_e theta_e is off by no more than the width at N + U from the same sum of the means
        of all N + U values, and those lie within N / (N + U) of the recorded mean plus U / (N + U) of the range.
        """
        if design in self._parts_of_steps:
            return self._parts_of_steps[design]
        rooms, exposure, bounds = design.linear(self.estimate.moments.recorded), self.exposure(design), self.bounds
        rounding = bounds.rounding * design.partners
        upper, lower = (rooms + widths.times(exposure, end) for end in (bounds.high, bounds.low))
        found = LinearBound(design.marginals, upper + rounding, lower - rounding)
        if isinstance(design, StepDesign):
            self._parts_of_steps[design] = found
        return found

    @cached_property
    def _parts_of_steps(self) -> WeakKeyDictionary[Design, LinearBound]:
        return WeakKeyDictionary()

    def dependence(self, design: Design) -> FloatArray:
        """Return r^2 alpha' H alpha of every row's rooms, shape (rows, k, k), see `widths.dependent`.

        H is large: it is asked for once for a design, and of a pure profile only as far as people are together. Where
        it was too large to keep, alpha' H alpha <= (sum of alpha_e sqrt(H_ee))^2.
        """
        if design not in self._dependences:
            assert self.estimate.noise is not None
            together, rooms = self.estimate.noise.together, design.marginals.shape[1]
            if together is None:
                width = design.linear(self.roots)
                self._dependences[design] = np.einsum("il,im->ilm", width, width)
                return self._dependences[design]
            packed = self.estimate.noise.packed
            if isinstance(design, StepDesign) and packed is not None:
                forms = design.dependences(self.per_count, packed)
                if forms is not None:
                    self._dependences[design] = self.bounds.half_range**2 * forms
                    return self._dependences[design]
            square = np.empty((len(design.owners), rooms, rooms))
            for i, rows in design.rows_by_owner():
                some, alpha = design.used_directions(rows)
                alpha = alpha * own_unknowns(self.per_count[None, :, i], i)[0, some]
                seen = alpha.any(axis=(0, 1))
                some, alpha = some[seen], alpha[..., seen]
                by_h = (alpha.reshape(len(rows) * rooms, len(some)) @ together(i, some)).reshape(alpha.shape)
                square[rows] = self.bounds.half_range**2 * by_h @ np.swapaxes(alpha, 1, 2)
            self._dependences[design] = square
        return self._dependences[design]

    @cached_property
    def _dependences(self) -> WeakKeyDictionary[Design, FloatArray]:
        return WeakKeyDictionary()

    def _dependent_bound(self, design: Design, log_term: LogTerm) -> GainBound:
        assert self.estimate.noise is not None
        if self.estimate.noise.together is None and self.unknowns.is_listed and not isinstance(log_term, np.ndarray):
            return widths.dependent_without_counts(self, design, log_term)
        return widths.dependent(self, design, log_term)


def rows_of(design: Design) -> tuple[PairBatch, IntArray | slice]:
    """Return the profiles that sums come from, and which of their rows are asked for."""
    base, rows = (design.base, design.rows) if isinstance(design, MovedDesign) else (design, slice(None))
    assert isinstance(base, PairBatch)  # `batched` returns evidence that asks for forms only where there are some
    return base, rows


class DependentBatches:
    """Semi-bandit evidence whose pairs may depend on each other within a sample, about many profiles.

    The variance proxy of a direction is r^2 alpha' H alpha with alpha = |c| / N: a form with the matrix
    r^2 H_ef / (N_e N_f), which is kept for every agent.
    """

    def __init__(self, evidence: PairEvidence) -> None:
        self.evidence = evidence

    @cached_property
    def matrices(self) -> list[FloatArray]:
        """r^2 H_ef / (N_e N_f) of every agent's unknowns."""
        evidence, estimate = self.evidence, self.evidence.estimate
        assert estimate.noise is not None
        assert estimate.noise.together is not None
        matrices = []
        for i in range(estimate.n_agents):
            own = estimate.bounds.half_range * own_unknowns(evidence.per_count[None, :, i], i)[0]
            matrices.append(own[:, None] * estimate.noise.together(i, None) * own)
        return matrices

    def range_bound(self, design: Design) -> GainBound:
        return self.evidence.range_bound(design)

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        return self.evidence.uniform_bound(design, delta)

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        if self.evidence.allows_adaptivity:
            return self.range_bound(design)
        log_term = log_term + np.log(2) if form == "both" else log_term
        base, rows = rows_of(design)
        square = base.forms([self.matrices[i] for i in base.agents.tolist()])[rows]
        return widths.dependent_bound(self.evidence.parts(design), square, log_term)

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        return self.direction_bound(design, log_term)
