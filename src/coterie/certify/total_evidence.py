"""Evidence from bandit logs: linear estimates of totals, for all profiles or for a fixed one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from coterie.arrays import FloatArray
from coterie.certify.evidence import Evidence, Form, LogTerm
from coterie.certify.gain_bounds import GainBound, LinearBound, RootBound
from coterie.estimate.design import Design
from coterie.estimate.totals import LinearEstimate
from coterie.strategy import Strategy


@dataclass(frozen=True, eq=False)
class TotalEvidence(Evidence):
    """A bandit log's linear estimate, and how strategies weigh its unknowns."""

    estimate: LinearEstimate
    design: Callable[[Strategy], Design]
    """Coefficients of room values, as for pairs: size-free, pooled or size-aware."""
    sized: bool = False
    noise: str = "pairs"
    means: LinearEstimate | None = None
    """Where the estimated means come from, for previews; the estimate itself by default."""

    def _directions(self, design: Design, agent: int, n_coalitions: int) -> FloatArray:
        """Return an agent's room coefficients over her unknowns, shape (k, d)."""
        rows = []
        for l in range(n_coalitions):
            phi = np.delete(design.coefficients(agent, l), agent, axis=1)
            rows.append((phi[..., 2:] if self.sized else phi).ravel())
        return np.stack(rows)

    def _partners(self, strategy: Strategy) -> FloatArray:
        p = strategy.marginals
        return np.asarray(p.sum(axis=0) - p)

    def rooms(self, strategy: Strategy) -> FloatArray:
        source, design = self.means or self.estimate, self.design(strategy)
        n, k = strategy.marginals.shape
        centred = np.stack([self._directions(design, i, k) @ source.theta(i) for i in range(n)])
        return centred + self.estimate.bounds.middle * self._partners(strategy)

    def range_bound(self, strategy: Strategy) -> GainBound:
        partners, bounds = self._partners(strategy), self.estimate.bounds
        if not np.isfinite(bounds.half_width):
            partners = np.where(partners > 0, partners, 0.0)
        return LinearBound(strategy.marginals, partners * bounds.high, partners * bounds.low)

    def uniform_bound(self, strategy: Strategy, delta: float) -> GainBound:
        """Use the confidence ellipsoid: |c' (theta^ - theta)| <= radius |c|_(G^-1) for all c at once."""
        design, rooms = self.design(strategy), self.rooms(strategy)
        n, k = strategy.marginals.shape
        square = np.empty((n, k, k))
        for i in range(n):
            form = self.estimate.project(i, self._directions(design, i, k)).ellipsoid
            square[i] = self.estimate.radius(i, delta) ** 2 * form
        # sqrt(2 L S) with L = 1/2 is sqrt(S): the radius is in the form already.
        return RootBound(strategy.marginals, rooms, rooms, square, 0.5)

    def direction_bound(self, strategy: Strategy, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form  # totals have no variance-aware form
        return self.root_bound(strategy, log_term)

    def root_bound(self, strategy: Strategy, log_term: LogTerm) -> RootBound:
        design, rooms = self.design(strategy), self.rooms(strategy)
        n, k = strategy.marginals.shape
        square, bias = np.empty((n, k, k)), []
        for i in range(n):
            found = self.estimate.project(i, self._directions(design, i, k))
            square[i] = self.estimate.bounds.half_range**2 * found.noise
            bias.append(found.bias)
        return RootBound(strategy.marginals, rooms, rooms, square, log_term, bias=np.stack(bias))

    def preview(self, learning: "TotalEvidence") -> "TotalEvidence":
        return replace(self, means=learning.means or learning.estimate)

    def assumptions(self) -> list[str]:
        sizes = (
            "mean utilities may depend on coalition size"
            if self.sized
            else ("mean utilities do not depend on coalition size")
        )
        independence = (
            "given the logged actions, all pair utilities behind the totals are independent"
            if self.noise == "pairs"
            else "given the logged actions, samples are independent; pairs of one sample need not be"
        )
        return [sizes, independence, "logged actions did not depend on earlier utilities"]
