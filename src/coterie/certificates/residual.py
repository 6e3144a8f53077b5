"""The width of a held-out gain from totals that knows the variance and is one event: residuals of a second pass.

For a deviation with coefficients c, u = G^-1 c, in the words of `coterie.statistics.second_pass`,

    gain <= c'theta^ + lambda h |u|_1 + L / t + theta t S,     L = log(1 / delta),

where S is the sum over samples of squared weighted residuals around the learning part's estimate, and theta is
little more than 1/2 where single samples matter little: see `residual_width` for the proof. The tilt t is the one
that makes the width smallest if residuals vary as the learning part expects. With many samples this is sqrt(2 L S),
where the width of `widths.totals` is sqrt(2 L) times what S would be if all utilities lay at the ends of their range.

A pass costs time, so it is made for the deviations that are close: which these are, and whether a deviation is bounded
by this width or by the other, follows from the learning part and from who met whom.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates import widths
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, RootBound, is_enumerated
from coterie.certificates.tilted import STEEPEST, tilted_costs
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.design import StrategyDesign, directions
from coterie.estimate.ridge import JointRidge
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.strategy import Strategy
from coterie.statistics.second_pass import Directions, Residuals, SecondPass

MOST_CLOSE = 256
"""So many deviations, of all candidates together, are looked at in a second pass."""

MOST_SPREAD, MOST_COST = 1 / 32, 0.75
"""The proof by moments is for tilts at which one sample's variance proxy and the cost are at most this."""

TRIED = np.array([*np.geomspace(0.2, 1.5, 16), 1.0])
"""Tilts that are tried, in multiples of sqrt(2 L / S)."""


class Steps(NamedTuple):
    """How much of an error one sample can be, at most; all of it follows from who met whom. The range is 2 r long."""

    spread: FloatArray
    """q = r^2 times the sum of a_e^2."""
    step: FloatArray
    """s = r |a_e|."""
    reach: FloatArray
    """2 r times the sum of |a_e|: no residual is larger."""

    def costs(self, tilt: FloatArray) -> FloatArray:
        """Return theta, what a squared residual costs at tilt t: the smaller of `by_moments` and `by_reach`."""
        return np.minimum(by_moments(tilt**2 * self.spread, tilt * self.step), by_reach(tilt * self.reach))


def by_reach(reach: FloatArray) -> FloatArray:
    """Return psi(x) / x^2, x = t times the reach, psi(x) = -log(1 - x) - x; infinite for x beyond `STEEPEST`.

    With it E exp(z - theta z^2) <= 1 + E z <= exp(E z) for z = y + m in `residual_width`, since |z| <= x there: the
    inequality of `tilted_width`.
    """
    x = np.clip(reach, 1e-6, STEEPEST)
    return np.where(reach <= STEEPEST, tilted_costs(x) / x**2, np.inf)


def by_moments(spread: FloatArray, step: FloatArray) -> FloatArray:
    """Return 1/2 + (2 s / 3 + 0.4 K + 0.8 q A^2) / (1 - 2 s), K = 3 q + 4 s^2, A = 1 + (s + K) / 2, q and s times t.

    Infinite where `residual_width` has no proof: q beyond 1/32, or a result beyond 3/4.
    """
    fourth = 3 * spread + 4 * step**2
    slope = 1 + (step + fourth) / 2
    found = 0.5 + (2 * step / 3 + 0.4 * fourth + 0.8 * spread * slope**2) / np.maximum(1 - 2 * step, 1e-9)
    return np.where((spread <= MOST_SPREAD) & (found <= MOST_COST), found, np.inf)


def residual_width(tilt: FloatArray, squares: FloatArray, steps: Steps, log_term: FloatArray | float) -> FloatArray:
    """Return L / t + theta t S, theta = `Steps.costs`: how far a fixed combination of totals can be off, one event.

    In each sample the error is a sum of independent centred terms, the weighted residual Y is that error plus some
    mu (the centre is not the truth), and S is the sum of Y^2. Tilt, centre (within the range) and theta are fixed
    without looking at these utilities.

    Proof. Let y be t times the error of one sample, m = t mu, v = E y^2; then E exp(y - theta (y + m)^2) <= 1 for all
    m, and Markov's inequality for the product over samples does the rest. For theta = `by_reach` see there. For theta
    = `by_moments`, with q and s times t^2 and t, write the exponential as exp(-theta m^2) h(y), h(y) = exp(b y - theta
    y^2), b = 1 - 2 theta m.

    (1) If b^2 q <= 2 theta m^2: E h <= E exp(b y) <= exp(b^2 q / 2) by Hoeffding's lemma. So it is for b < 0.
    (2) Else, the fourth derivative of h is at most 12 theta^2 exp(b^2 / 4 theta), so Taylor's formula gives E h <= 1 +
    v B(b) with B(b) = b^2 / 2 - theta + 2 s |b theta - b^3 / 6| + K theta^2 exp(b^2 / 4 theta) / 2: third moments of
    independent terms add up, each at most 2 s times its variance, and E y^4 <= 3 v^2 + 4 s^2 v. Theta makes B(1) <=
    -0.8 q A^2, and B grows for 0 <= b <= 1, where it is thus negative. (3) For b = 1 + z with z > 0, theta m^2 = z^2 /
    4 theta. By (1) z < 1/3, so B(b) <= B(1) + A z + z^2 / 2, which is at most z^2 / (4 theta q) since theta <= 3/4 and
    q <= 1/32; as v <= q, E h <= 1 + theta m^2 <= exp(theta m^2).
    """
    costs = steps.costs(tilt)
    proven = np.isfinite(costs)
    # Without a proof there is no width, also where all residuals are 0.
    return np.where(proven, log_term / tilt + np.where(proven, costs, 0.0) * tilt * squares, np.inf)


@dataclass(frozen=True, eq=False)
class SecondLook:
    """What a second pass found about the close deviations of one profile."""

    base: Callable[[float], RootBound]
    """The bound without it, for a log term."""
    agents: IntArray
    """Whose deviations are close, shape (D,)."""
    x: FloatArray
    """Their deviation vectors, shape (D, k)."""
    found: Residuals
    expected: FloatArray
    """The squares that the learning part expects."""
    half_range: float
    allowance: FloatArray
    """What rounded totals add."""

    def bound(self, log_term: float) -> "Residual":
        """Return the bound of every deviation, each of which fails with probability at most exp(-log_term)."""
        base = self.base(log_term)
        alone = np.array([base.noise(x[None, None], agents)[0, 0] for x, agents in self._each])
        tilt, likely = self._tilts(log_term)
        width = self._width(tilt, self.found.squares, log_term) + self.allowance
        # Which of the two is taken does not depend on the squares that were found.
        return Residual(base, self.agents, self.x, np.where(likely + self.allowance < alone, width - alone, 0.0))

    @property
    def _each(self) -> list[tuple[FloatArray, IntArray]]:
        return [(x, self.agents[d : d + 1]) for d, x in enumerate(self.x)]

    def _tilts(self, log_term: float) -> tuple[FloatArray, FloatArray]:
        """Return the tilt of each deviation, and the width to expect."""
        steps = self._steps
        best = np.sqrt(2 * log_term / np.maximum(self.expected, 1e-300))
        # One sample that matters much: the steepest tilts that the proofs allow.
        by_spread = np.sqrt(MOST_SPREAD / np.maximum(steps.spread, 1e-300))
        by_range = STEEPEST / np.maximum(steps.reach, 1e-300)
        tried = TRIED[:, None] * np.minimum(best, np.maximum(by_spread, by_range))
        width = self._width(tried, self.expected, log_term)
        chosen = width.argmin(axis=0)[None]
        return np.take_along_axis(tried, chosen, axis=0)[0], np.take_along_axis(width, chosen, axis=0)[0]

    @property
    def _steps(self) -> Steps:
        r, found = self.half_range, self.found
        return Steps(r**2 * found.widest, r * found.steepest, 2 * r * found.reach)

    def _width(self, tilt: FloatArray, squares: FloatArray, log_term: float) -> FloatArray:
        return residual_width(tilt, squares, self._steps, log_term)


@dataclass(frozen=True, eq=False)
class Residual(GainBound):
    """A bound whose width is another one for some deviations."""

    base: RootBound
    agents: IntArray
    x: FloatArray
    change: FloatArray
    """How much wider it is for each of them; as a rule this is negative."""

    @property
    def marginals(self) -> FloatArray:  # type: ignore[override]
        return self.base.marginals

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        found = self.base.at(x, agents)
        for agent, deviation, change in zip(self.agents, self.x, self.change, strict=True):
            rows = np.flatnonzero(agents == agent)
            found[rows] += np.where((x[rows] == deviation).all(axis=2), change, 0.0)
        return found

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        del space, agents
        raise AssertionError("second looks are taken at deviations that are tried one by one")


def second_looks(
    certifying: Evidence,
    learning: Evidence | None,
    candidates: Sequence[Strategy],
    spaces: ActionSpaces,
    log_term: float,
    again: SecondPass | None,
    check: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[SecondLook] | None:
    """Return what a second pass finds about the close deviations of each candidate.

    None where there is nothing to read again, or no other part of the log to learn from, or no deviation is close,
    or there are too many actions to list; certificates are then those of one pass.
    """
    if again is None or not isinstance(certifying, TotalEvidence) or not isinstance(learning, TotalEvidence):
        return None
    if not all(is_enumerated(space) for space in spaces.spaces):
        return None
    designs = [certifying.design(strategy) for strategy in candidates]
    most = MOST_CLOSE // max(len(candidates), 1)
    close = [_close(certifying.preview(learning), design, spaces, log_term, most) for design in designs]
    asked = [_solved(certifying, design, *one) for design, one in zip(designs, close, strict=True)]
    if not sum(len(agents) for agents, _ in close):
        return None
    joint, half_width = isinstance(certifying.estimate, JointRidge), certifying.bounds.half_width
    agents = np.concatenate([agents for agents, _ in close])
    found = again.residuals(
        Directions(
            np.concatenate(asked),
            np.zeros_like(agents) if joint else agents,
            np.clip((learning.means or learning.estimate).estimates, -half_width, half_width),
            again.setting.neutral + certifying.bounds.middle,
            joint,
        ),
        check,
    )
    ends = np.cumsum([len(agents) for agents, _ in close])
    return [
        _look(certifying, learning, design, one, found.only(slice(end - len(one[0]), end)))
        for design, one, end in zip(designs, close, ends.tolist(), strict=True)
    ]


def expecting(preview: Evidence, learning: Evidence, again: SecondPass | None) -> Evidence:
    """Return a preview that expects what a second pass will find, where there will be one."""
    if again is None or not isinstance(preview, TotalEvidence) or not isinstance(learning, TotalEvidence):
        return preview
    source = learning.estimate
    return replace(preview, variances=np.array([source.variance_of_residuals(i) for i in range(source.n_agents)]))


def _close(
    expected: TotalEvidence, design: StrategyDesign, spaces: ActionSpaces, log_term: float, most: int
) -> tuple[IntArray, FloatArray]:
    """Return agents and vectors of the deviations that could be worth it, those with the largest bounds first.

    A deviation is not close if even a gain that is larger than expected by the width would not pay.
    """
    bound = widths.totals(expected, design, log_term)
    agents, moves, values = [], [], []
    for space, group in spaces.groups:
        x = space.enumerate()[None].astype(np.float64) - design.marginals[group, None]
        value, width = bound.at(x, group), bound.width(x, group)
        row, action = np.nonzero((x != 0).any(axis=2) & (value + width > 0) & (width > 0))
        agents.append(group[row])
        moves.append(x[row, action])
        values.append(value[row, action])
    first = np.argsort(-np.concatenate(values), kind="stable")[:most]
    return np.concatenate(agents)[first], np.concatenate(moves)[first]


def _solved(evidence: TotalEvidence, design: StrategyDesign, agents: IntArray, x: FloatArray) -> FloatArray:
    """Return u = G^-1 c of each deviation, shape (D, unknowns)."""
    estimate = evidence.estimate
    found = np.zeros((len(agents), estimate.factor(0).dimension))
    for i in np.unique(agents).tolist():
        own = agents == i
        found[own] = estimate.project(i, x[own] @ directions(design, i)).solved.T
    return found


def _look(
    certifying: TotalEvidence,
    learning: TotalEvidence,
    design: StrategyDesign,
    close: tuple[IntArray, FloatArray],
    found: Residuals,
) -> SecondLook:
    agents, x = close
    bounds = certifying.bounds
    unit = widths.totals(certifying, design, 0.5)  # sqrt(2 L) = 1: its width is the root of the variance proxy
    roots = np.array([unit.noise(x[d][None, None], agents[d : d + 1])[0, 0] for d in range(len(agents))])
    per_range = roots / bounds.half_range
    variance = np.array([learning.estimate.variance_of_residuals(i) for i in agents.tolist()])
    # `bounds.half_range` allows for rounding, see `coterie.estimate.ridge`; the range itself is twice `half_width`.
    allowance = (bounds.half_range - bounds.half_width) * per_range
    return SecondLook(
        lambda log_term: widths.totals(certifying, design, log_term),
        agents, x, found, variance * per_range**2, bounds.half_width, allowance,
    )  # fmt: skip
