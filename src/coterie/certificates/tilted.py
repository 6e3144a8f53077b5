"""The width of a held-out gain that knows the variance and is one event: exponential tilts fixed on the learning part.

For a deviation d with coefficients c_e (unknowns that rooms share are added up first), counts N_e and the range b,

    gain <= sum c_e estimate_e + (L + sum psi(s_e) Q_e / b^2) / t,     s_e = t b |c_e| / N_e,
    Q_e = sum over the certifying values of e of (x - m_e)^2,          psi(s) = -log(1 - s) - s,

with L = log(1 / delta): see `tilted_width` for the proof. The centres m_e are the learning part's means,
and the tilt t is the one that makes the width smallest if variances are those of the learning part; so neither has
looked at the certifying utilities. Where the learning part knows too little of a pair, s^2 / 8 for each of its values
(Hoeffding's lemma) takes the place of psi(s) Q_e / b^2. All that is needed of the certifying part are its sums.

With many values this is sqrt(2 L sum c_e^2 s_e^2 / N_e), the width of a normal distribution but for L.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.gains import GainBound, LinearBound
from coterie.estimate.design import Design, directions, own_unknowns
from coterie.estimate.posterior import variance_of_values
from coterie.estimate.seen_pairs import SeenDesign, listed_as
from coterie.game.actions import ActionSpace

if TYPE_CHECKING:
    from coterie.certificates.pair_evidence import PairEvidence

STEEPEST = 0.9
"""Squared distances do not count for values that are tilted by more than this."""

TRIED = np.array([*np.geomspace(0.25, 1.6, 14), 1.0])
"""Tilts that are tried, in multiples of what would be best if psi(s) were s^2 / 2."""

CELLS = 4_000_000
"""So many numbers (tilts x agents x actions x unknowns) are handled at once."""


def tilted_costs(tilt: FloatArray) -> FloatArray:
    """Return psi(t) = -log(1 - t) - t for 0 <= t < 1: what one squared distance costs at tilt t."""
    return np.asarray(-np.log1p(-tilt) - tilt)


def tilted_width(
    tilt: FloatArray | float, squared: FloatArray, plain: FloatArray, log_term: FloatArray | float
) -> FloatArray:
    """Return (L + sum psi(s_e) Q_e / b^2 + sum N_e s_e^2 / 8) / t: how far a fixed combination can be off, one event.

    For the combination sum c_e (mean_e - estimate_e), b the length of the range, s_e = t b |c_e| / N_e < 1 and
    Q_e = sum over values x of e of (x - m_e)^2; tilts t and centres m_e (within the range) are fixed without looking
    at these values. `squared` is the sum of psi(s_e) Q_e / b^2 over some unknowns, `plain` that of N_e s_e^2 / 8
    over the others, and which are which is fixed beforehand too.

    Proof. exp(s z - psi(s) z^2) <= 1 + s z for z >= -1 and 0 <= s < 1 (Fan, Grama and Liu 2015). With z = (x - m) / b
    (or its negative, by the sign of c_e) and E(1 + s z) <= exp(s E z), each value adds a factor of mean at most 1 to
    exp(t times the error - sum psi Q / b^2); by Hoeffding's lemma so does one whose cost is s^2 / 8. Markov's
    inequality for the product of all independent values: it exceeds exp(L) with probability at most exp(-L).
    """
    return np.asarray((log_term + squared + plain) / tilt)


@dataclass(frozen=True, eq=False)
class Tilted(GainBound):
    """The bound for every agent and deviation under one profile."""

    certifying: "PairEvidence"
    learning: "PairEvidence"
    design: Design
    linear: LinearBound
    """Estimates, with what was never observed at its worst."""
    log_term: float

    @property
    def marginals(self) -> FloatArray:  # type: ignore[override]
        return self.design.marginals

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        return self.linear.at(x, agents) + self.width(x, agents)

    def width(self, x: FloatArray, agents: IntArray) -> FloatArray:
        """Return the uncertainty of each deviation, shape (g, A)."""
        if isinstance(self.design, SeenDesign):
            from coterie.certificates.tilts import widths_of_moves  # here, since numba is slow to load

            return widths_of_moves(x, self.design.rooms, agents, self._tables, **self._fixed)
        found = np.empty(x.shape[:2])
        step = max(1, CELLS // (len(TRIED) * directions(self.design, 0).shape[1]))
        some = max(1, step // max(x.shape[1:]))
        for first in range(0, len(agents), some):
            rows = slice(first, first + some)
            rooms = self.design.rows_directions(agents[rows])
            own, place = np.unique(self.design.owners[agents[rows]], return_inverse=True)
            tables = [
                np.stack([own_unknowns(values[None, :, i], i) for i in own.tolist()])[place] for values in self._tables
            ]
            for start in range(0, x.shape[1], step):
                part = slice(start, start + step)
                found[rows, part] = self._width(np.abs(x[rows, part] @ rooms), *tables)
        return found

    def to_singles(self, rows: IntArray) -> FloatArray:
        if not isinstance(self.design, SeenDesign):
            return super().to_singles(rows)
        from coterie.certificates.tilts import widths_of_single_moves  # here, since numba is slow to load

        inside = self.marginals[rows] > 0
        own = np.where(inside.any(axis=1), inside.argmax(axis=1), -1)
        return self.linear.to_singles(rows) + widths_of_single_moves(
            own, inside.shape[1], self.design.rooms, rows, self._tables, **self._fixed
        )

    @property
    def _fixed(self) -> dict[str, Any]:
        """What compiled widths are told beside the tables."""
        length = 2 * self.certifying.bounds.half_range
        return {"tried": TRIED, "steepest": STEEPEST, "length": length, "log_term": self.log_term}

    def _width(
        self, coefficients: FloatArray, count: FloatArray, squares: FloatArray, expected: FloatArray
    ) -> FloatArray:
        """Return the width for each row of |c|, shape (g, A, d); the others have shape (g, 1, d)."""
        step = np.divide(coefficients, count, out=np.zeros_like(coefficients), where=count > 0)  # |c_e| / N_e
        # Most unknowns are of rooms that nobody is in, and of sizes that no room has.
        used = step.any(axis=(0, 1))
        step, count, squares, expected = (values[..., used] for values in (step, count, squares, expected))
        b = 2 * self.certifying.bounds.half_range
        moves = step.any(axis=2)
        spread = (step**2 * (count * np.minimum(expected, b**2 / 4))).sum(axis=2)
        best = np.sqrt(2 * self.log_term / np.maximum(spread, 1e-300))
        # Hardly any variance: the steepest tilt at which all squared distances still count.
        best = np.minimum(best, 4 * STEEPEST / (b * np.maximum(step.max(axis=2, initial=0.0), 1e-300)))
        likely = count * np.where(np.isfinite(expected), expected, 0.0)
        tried = TRIED[:, None, None] * best
        width = tilted_width(tried, *self._costs(tried, step, b, count, likely, expected), self.log_term)
        tilt = np.take_along_axis(tried, width.argmin(axis=0)[None], axis=0)[0]
        found = tilted_width(tilt, *self._costs(tilt, step, b, count, squares, expected), self.log_term)
        return np.where(moves, found, 0.0)

    @staticmethod
    def _costs(
        tilt: FloatArray, step: FloatArray, b: float, count: FloatArray, squares: FloatArray, expected: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what unknowns cost whose squared distances count, and what the others do, for each row."""
        tilts = tilt[..., None] * b * step
        by_square, by_range = tilted_costs(np.minimum(tilts, STEEPEST)) / b**2, tilts**2 / 8
        # Fixed beforehand: `expected` is the learning part's.
        counts = (tilts <= STEEPEST) & (by_square * np.minimum(expected, b**2) < by_range) & np.isfinite(expected)
        return (
            np.where(counts, by_square * squares, 0.0).sum(axis=-1),
            np.where(counts, 0.0, by_range * count).sum(axis=-1),
        )

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """N_e, Q_e around the learning part's means, and the mean squared distance that the learning part expects."""
        ours, theirs, bounds = self.certifying.estimate.moments, self.learning.estimate.moments, self.certifying.bounds
        assert ours.variance is not None
        assert theirs.variance is not None
        # The learning part's mean is off by about its own error, which the certifying values then see.
        expected = variance_of_values(theirs, bounds.half_range) * (1 + 1 / np.maximum(theirs.count, 1.0))
        count, mean, expected = (
            listed_as(values, self.learning.unknowns, self.certifying.unknowns)
            for values in (theirs.count, theirs.mean, expected)
        )
        centre = np.clip(mean, bounds.low, bounds.high)
        distance = np.abs(ours.mean - centre) + bounds.rounding
        squares = np.maximum(ours.count - 1, 0.0) * ours.variance + ours.count * distance**2
        return ours.count, squares, np.where(count > 0, expected, np.inf)

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        del space, agents
        raise AssertionError("tilts are fixed for deviations that are tried one by one")
