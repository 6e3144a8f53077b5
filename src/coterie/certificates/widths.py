"""The widths of certificates, one function each: from what a log knows of unknowns to a bound on every gain.

If agent i with marginals p moves to the set a', the gain is sum over l of x_l W_i(l) with x_l = 1[l in a'] - p_l, and
with W_i(l) = sum over e of phi_e(l) theta_e it is the combination sum c_e theta_e, c = x' phi. A `Design` holds phi,
and its sums over e stay quadratic in x: sum c_e^2 q_e = x' Q x with Q = `design.quadratic(q)`. So all widths of one
combination have the form of `gains.RootBound`, which finds the largest bound over deviations and knows no formula:

    times_sqrt sqrt(x' Q x + floor m^2) + slope m + |x' B|_1,     m = max over l of |x_l| largest_l

L is log(1 / probability to fail), from `one_event` or `paired.union_terms`, plus log 2 where the smaller of two widths
is taken. `known.parts(design)` is the linear part, with what was never observed at its worst. The sharpest width is in
`coterie.certificates.tilted`.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie.arrays import FloatArray, IntArray
from coterie.certificates.gains import GainBound, LinearBound, LogTerm, RootBound
from coterie.estimate.design import Design
from coterie.estimate.ridge import Projection

if TYPE_CHECKING:
    from coterie.certificates.pair_evidence import PairEvidence
    from coterie.certificates.total_evidence import TotalEvidence
    from coterie.estimate.ridge import LinearEstimate


def box(known: "PairEvidence", design: Design, delta: float) -> LinearBound:
    """Return sum over l in a' of (1 - p_l) W^U(l) - sum over l not in a' of p_l W^L(l), for all profiles at once.

    W^U and W^L are room values with every unknown at the upper and lower end of its interval. Proof: if all intervals
    hold (probability 1 - delta), W^L <= W <= W^U, and x_l W(l) is at most x_l W^U(l) where x_l = 1 - p_l > 0 (l is in
    a') and at most x_l W^L(l) where x_l = -p_l. Coalitions that are kept have x_l = 0: their doubt cancels.
    """
    upper, lower = box_rooms(known, design, delta)
    return LinearBound(design.marginals, if_joined=upper, if_left=lower)


def box_rooms(known: "PairEvidence", design: Design, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return W^U and W^L: sums of the ends of intervals, what was never observed at its worst."""
    lower, upper = known.interval_arrays(delta)
    unseen, bounds = known.unknowns.exposure(design, known.estimate.moments.unseen), known.bounds
    rounding = bounds.rounding * design.partners
    return (
        design.linear(upper) + times(unseen, bounds.high) + rounding,
        design.linear(lower) + times(unseen, bounds.low) - rounding,
    )


def at_range(design: Design, low: float, high: float) -> LinearBound:
    """Return the bound that needs no data: the box with W^U = high P and W^L = low P, P the number of partners."""
    upper, lower = times(design.partners, high), times(design.partners, low)
    return LinearBound(design.marginals, if_joined=upper, if_left=lower)


def times(amount: FloatArray, value: FloatArray | float) -> FloatArray:
    """Return amount times value: nothing of something unbounded is still nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(amount == 0, 0.0, amount * value)


def bernstein_shape(half_range: float, log_term: FloatArray | float) -> "Shape":
    """Return the shape of sqrt(2 L v) + 2 r L m / 3 with sqrt(v) = u + sqrt(V + u^2), u = r m sqrt(2 L).

    V = sum c_e^2 s_e^2 / N_e with sample variances s_e^2, m = max |c_e| / (N_e - 1).

    s_e^2 averages, over all ways to pair up the N_e values, means of N_e // 2 independent terms
    h = (x - y)^2 / 2 with 0 <= h <= 2 r^2; as E exp(-t (h - E h)) <= exp(t^2 E h^2 / 2) and
    E h^2 <= 2 r^2 E h, Jensen (on the centred averages, each of which leaves out at most one value)
    gives log E exp(-t (V - v)) <= t^2 (2 r m)^2 v / 2 for the true variance v. So sqrt(v) <= u +
    sqrt(V + u^2) except with probability exp(-L), and Bernstein bounds the combination given v,
    except with probability exp(-L). Two events; the values of one unknown need the same mean only,
    not the same distribution.
    """
    root = np.sqrt(2 * log_term)
    noise = half_range * root  # u / m
    return Shape(times_sqrt=root, floor=noise**2, slope=root * noise + 2 * half_range * log_term / 3)


def bernstein(known: "PairEvidence", design: Design, log_term: LogTerm, *, events: int = 2) -> RootBound:
    """Return sum c_e v^_e + sqrt(2 L) (u + sqrt(V + u^2)) + 2 r L m / 3, L the log term plus log 2 for two events.

    What was never observed counts at its worst. A search that only wants to know about how wide a bound will be pays
    for one event.
    """
    variance, largest = design.quadratic(known.variance_per_count), design.largest(known.steps)
    shape = bernstein_shape(known.bounds.half_range, log_term + math.log(events))
    return RootBound(known.parts(design), variance, shape, largest=largest)


class Shape(NamedTuple):
    """How a width grows with the variance S of a combination, and with the largest step m of one value in it."""

    times_sqrt: FloatArray | float
    """One for all deviations, or one per agent and enumerated action, as in `LogTerm`."""
    floor: FloatArray | float = 0.0
    slope: FloatArray | float = 0.0

    def width(self, square: FloatArray, largest: FloatArray | float = 0.0) -> FloatArray:
        """Return times_sqrt sqrt(S + floor m^2) + slope m."""
        return np.asarray(self.times_sqrt * np.sqrt(square + self.floor * largest**2) + self.slope * largest)

    def of(self, rows: IntArray | slice, actions: int) -> "Shape":
        """Return the shape for some rows of agents and their actions."""
        return Shape(*(one[rows, :actions] if isinstance(one, np.ndarray) else one for one in self))


def one_event(delta: float) -> float:
    """Return L = log(1 / delta): the price of the one statement that must hold, see `holdout.fixed`."""
    return -math.log(delta)


def hoeffding_shape(log_term: FloatArray | float) -> Shape:
    """Return the shape of sqrt(2 L S), S the variance proxy of the combination.

    Sums of independent sub-Gaussian errors add their proxies, and a combination of proxy S exceeds its mean by
    sqrt(2 L S) with probability at most exp(-L). One-sided: one event per combination.
    """
    return Shape(times_sqrt=np.sqrt(2 * log_term))


def hoeffding(known: "PairEvidence", design: Design, log_term: LogTerm) -> RootBound:
    """Return sum c_e v^_e + r sqrt(2 L sum c_e^2 / N_e), what was never observed at its worst."""
    proxy = known.bounds.half_range**2 * design.quadratic(known.per_count)
    return RootBound(known.parts(design), proxy, hoeffding_shape(log_term))


def totals(known: "TotalEvidence", design: Design, log_term: LogTerm) -> RootBound:
    """Return c' theta^ + lambda h |G^-1 c|_1 + r sqrt(2 L (c' G^-1 c - lambda |G^-1 c|^2)), c fixed.

    theta^ - theta = G^-1 (sum of w x noise - lambda theta), G = lambda I + sum of w x x'. The second part is the bias,
    |theta_e| <= h. The noise of w^(1/2) total is r-sub-Gaussian, so the first has variance proxy r^2 c' G^-1
    (G - lambda I) G^-1 c, and sqrt(2 L) times its root is exceeded with probability at most exp(-L) = delta.
    """
    estimate = known.estimate
    found = known.projections(design)
    proxy, bias = noise_form(found, estimate), bias_form(found, estimate)
    return totals_bound(design, known.rooms(design), proxy, bias, log_term)


def noise_form(projection: Projection, estimate: "LinearEstimate") -> FloatArray:
    """Return r^2 (c' G^-1 c - lambda |G^-1 c|^2) of a projection's k combinations c and their products, (..., k, k)."""
    squares = np.swapaxes(projection.solved, -1, -2) @ projection.solved
    return noise_proxy(projection.ellipsoid, squares, estimate)


def noise_proxy(ellipsoid: FloatArray, squares: FloatArray, estimate: "LinearEstimate") -> FloatArray:
    """Return r^2 (c' G^-1 c - lambda |G^-1 c|^2) from c' G^-1 c and |G^-1 c|^2, or from products of several c."""
    return np.asarray(estimate.bounds.half_range**2 * (ellipsoid - estimate.penalty * squares))


def bias_form(projection: Projection, estimate: "LinearEstimate") -> FloatArray:
    """Return lambda h G^-1 c for a projection's k combinations c, shape (..., k, d): their 1-norm bounds the bias."""
    return bias_of(np.swapaxes(projection.solved, -1, -2), estimate)


def bias_of(solved: FloatArray, estimate: "LinearEstimate") -> FloatArray:
    """Return lambda h G^-1 c from G^-1 c, or lambda h |G^-1 c|_1 from its 1-norm."""
    return np.asarray(estimate.penalty * estimate.bounds.half_width * solved)


def totals_bound(
    design: Design, rooms: FloatArray, proxy: FloatArray, bias: FloatArray, log_term: LogTerm
) -> RootBound:
    """Return x . rooms + |x' bias|_1 + sqrt(2 L x' proxy x)."""
    return RootBound(LinearBound(design.marginals, rooms, rooms), proxy, hoeffding_shape(log_term), bias=bias)


def ellipsoid(known: "TotalEvidence", design: Design, delta: float) -> RootBound:
    """Return c' theta^ + radius |c|_(G^-1), c = x' phi: |c' (theta^ - theta)| is at most that for all c at once.

    By the Cauchy-Schwarz inequality, |c' (theta^ - theta)| <= |theta^ - theta|_G |c|_(G^-1).
    """
    estimate = known.estimate
    forms = known.projections(design).ellipsoid
    every = [ellipsoid_radius(estimate, i, delta) for i in range(estimate.n_agents)]
    radii = np.array(every)[design.owners]
    return ellipsoid_bound(design.marginals, known.rooms(design), forms, radii)


def ellipsoid_bound(
    marginals: FloatArray, rooms: FloatArray, forms: Sequence[FloatArray] | FloatArray, radii: ArrayLike
) -> RootBound:
    """Return x . rooms + radius sqrt(x' form x), one form and radius for each row."""
    square = np.asarray(forms) * np.square(radii)[:, None, None]
    return RootBound(LinearBound(marginals, rooms, rooms), square, Shape(times_sqrt=1.0))


def ellipsoid_radius(estimate: "LinearEstimate", agent: int, delta: float) -> float:
    """Return rho = sqrt(lambda d) h + r sqrt(2 log(E / delta) + log det(G / lambda)), d unknowns with |theta_e| <= h.

    The self-normalised bound of Abbasi-Yadkori, Pal and Szepesvari (2011), once for each of E estimates: with G =
    lambda I + sum of w x x' and r-sub-Gaussian noise after weighting, |theta^ - theta|_G exceeds sqrt(lambda)
    |theta|_2 + r sqrt(...) with probability at most delta / E. It also holds where actions depend on earlier utilities.
    """
    factor, bounds = estimate.factor(agent), estimate.bounds
    noise = bounds.half_range * math.sqrt(2 * math.log(estimate.n_estimates / delta) + factor.log_det_ratio)
    return math.sqrt(estimate.penalty * factor.dimension) * bounds.half_width + noise


def dependent(known: "PairEvidence", design: Design, log_term: LogTerm) -> RootBound:
    """Return sum c_e v^_e + r sqrt(2 L alpha' H alpha), alpha_e = |c_e| / N_e: pairs of one sample may depend.

    A sample moves the estimate of sum c_e theta_e within an interval of length 2 r alpha' y, y its indicator of
    unknowns; samples are independent, so the variance proxy is r^2 alpha' H alpha with H = sum over samples of y y'.
    """
    return dependent_bound(known.parts(design), known.dependence(design), log_term)


def dependent_without_counts(known: "PairEvidence", design: Design, log_term: float) -> GainBound:
    """Return the same where H was too large to keep, for many agents.

    The root of (sum of |x_l| w_l)^2, w_l = sum of alpha_e sqrt(H_ee), is linear in |x|; its square has no room.
    """
    linear, width = known.parts(design), math.sqrt(2 * log_term) * design.linear(known.roots)
    return LinearBound(design.marginals, linear.if_joined + width, linear.if_left - width)


def dependent_bound(linear: LinearBound, square: FloatArray, log_term: LogTerm) -> RootBound:
    """Return the linear part plus sqrt(2 L |x|' Q |x|): nothing cancels, as any dependence is possible."""
    return RootBound(linear, square, Shape(times_sqrt=np.sqrt(2 * log_term)), absolute=True)
