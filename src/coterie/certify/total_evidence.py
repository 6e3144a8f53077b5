"""Evidence from bandit logs: linear estimates of totals, for all profiles or for a fixed one."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coterie.arrays import FloatArray
from coterie.certify.evidence import ACTIONS_FIXED, Evidence, Form, LogTerm, independence, times
from coterie.certify.gain_bounds import GainBound, LinearBound, RootBound
from coterie.estimate.design import Design, PairDesign, PooledDesign, PureSizedDesign, SizedDesign, directions
from coterie.estimate.totals import LinearEstimate
from coterie.strategy import Strategy


@dataclass(frozen=True, eq=False)
class TotalEvidence(Evidence):
    """A bandit log's linear estimate, and how strategies weigh its unknowns."""

    estimate: LinearEstimate
    structure: Literal["size-free", "pooled", "aware"] = "size-free"
    within_samples: bool = False
    """Whether pairs of one sample may depend on each other (the weights must be 1/c^2 then)."""
    means: LinearEstimate | None = None
    """Where the estimated means come from, for previews; the estimate itself by default."""

    def design(self, strategy: Strategy) -> Design:
        p = strategy.marginals
        if self.structure == "pooled":
            return PooledDesign(p)
        if self.structure == "size-free":
            return PairDesign(p)
        return PureSizedDesign(p) if strategy.is_pure else SizedDesign.of(p)

    def rooms(self, design: Design) -> FloatArray:
        source = self.means or self.estimate
        agents = range(len(design.marginals))
        centred = np.stack([directions(design, i) @ source.theta(i) for i in agents])
        return np.asarray(centred + self.estimate.bounds.middle * design.partners)

    def range_bound(self, design: Design) -> GainBound:
        bounds = self.estimate.bounds
        return LinearBound(design.marginals, times(design.partners, bounds.high), times(design.partners, bounds.low))

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        """Use the confidence ellipsoid: |c' (theta^ - theta)| <= radius |c|_(G^-1) for all c at once."""
        rooms = self.rooms(design)
        n, k = design.marginals.shape
        square = np.empty((n, k, k))
        for i in range(n):
            form = self.estimate.project(i, directions(design, i)).ellipsoid
            square[i] = self.estimate.radius(i, delta) ** 2 * form
        # sqrt(2 L S) with L = 1/2 is sqrt(S): the radius is in the form already.
        return RootBound(design.marginals, rooms, rooms, square, 0.5)

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form  # totals have no variance-aware form
        return self.root_bound(design, log_term)

    def root_bound(self, design: Design, log_term: LogTerm) -> RootBound:
        rooms = self.rooms(design)
        n, k = design.marginals.shape
        square, bias = np.empty((n, k, k)), []
        for i in range(n):
            found = self.estimate.project(i, directions(design, i))
            square[i] = self.estimate.bounds.half_range**2 * found.noise
            bias.append(found.bias)
        return RootBound(design.marginals, rooms, rooms, square, log_term, bias=np.stack(bias))

    def doubts(self, design: Design, agent: int, change: FloatArray) -> FloatArray:
        rows = directions(design, agent)
        n, k = design.marginals.shape
        error = np.sqrt(np.maximum(self.estimate.spread(agent), 0.0))
        amounts = (np.abs(change)[:, None] * rows * error).reshape(
            k, -1, n - 1, rows[0].size // (n - 1) // self._tables(k)
        )
        return np.insert(amounts.sum(axis=(1, 3)), agent, 0.0, axis=1)

    def _tables(self, n_coalitions: int) -> int:
        return 1 if self.structure == "pooled" else n_coalitions

    def preview(self, learning: "TotalEvidence") -> "TotalEvidence":
        return replace(self, means=learning.means or learning.estimate)

    def assumptions(self) -> list[str]:
        sizes = {
            "size-free": "mean utilities do not depend on coalition size",
            "pooled": "a pair's mean utility is the same in every coalition and at every size",
            "aware": "mean utilities may depend on coalition size",
        }[self.structure]
        return [sizes, independence(self.within_samples), ACTIONS_FIXED]
