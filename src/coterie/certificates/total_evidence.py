"""Evidence from bandit logs: linear estimates of totals, for all profiles or for a fixed one."""

from dataclasses import dataclass, replace

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.evidence import (
    Evidence,
    Form,
    LogTerm,
    Names,
    check_names,
    taken_for_granted,
    times,
)
from coterie.certificates.gains import GainBound, LinearBound, RootBound
from coterie.estimate.ridge import LinearEstimate
from coterie.estimate.unknowns import Design, Structure, design_of, directions
from coterie.game.strategy import Strategy


@dataclass(frozen=True, eq=False)
class TotalEvidence(Evidence):
    """A bandit log's linear estimate, and how strategies weigh its unknowns."""

    estimate: LinearEstimate
    structure: Structure = "size-free"
    within_samples: bool = False
    """Whether pairs of one sample may depend on each other (the weights must be 1/c^2 then)."""
    means: LinearEstimate | None = None
    """Where the estimated means come from, for previews; the estimate itself by default."""
    names: Names | None = None

    def design(self, strategy: Strategy) -> Design:
        check_names(self.names, strategy)
        return design_of(self.structure, strategy)

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
        if not self.is_bounded:
            return self.range_bound(design)
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
        # Where nothing bounds the means, nothing bounds the bias of a ridge estimate.
        return self.root_bound(design, log_term) if self.is_bounded else self.range_bound(design)

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.estimate.bounds.half_width))

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
        error = np.sqrt(np.maximum(self.estimate.spread(agent), 0.0))
        return np.abs(change)[:, None] * self._spread(error, design, agent)

    def by_partner(self, design: Design, agent: int) -> FloatArray:
        source = self.means or self.estimate
        return self._spread(source.theta(agent) + self.estimate.bounds.middle, design, agent)

    def _spread(self, values: FloatArray, design: Design, agent: int) -> FloatArray:
        """Return how much each partner adds to an agent's rooms if unknowns have these values, shape (k, n)."""
        rows = directions(design, agent)
        n, k = design.marginals.shape
        amounts = (rows * values).reshape(k, -1, n - 1, rows[0].size // (n - 1) // self._tables(k))
        return np.insert(amounts.sum(axis=(1, 3)), agent, 0.0, axis=1)

    def _tables(self, n_coalitions: int) -> int:
        return 1 if self.structure.startswith("pooled") else n_coalitions

    def preview(self, learning: "TotalEvidence") -> "TotalEvidence":
        return replace(self, estimate=self.estimate.blind(), means=learning.means or learning.estimate)

    def assumptions(self) -> list[str]:
        return taken_for_granted(self.structure, self.estimate.bounds, within_samples=self.within_samples)
