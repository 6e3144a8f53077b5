"""Evidence from bandit logs: linear estimates of totals, for all profiles or for a fixed one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.evidence import Bounding, Evidence, Form, Names
from coterie.certificates.gains import GainBound, LogTerm, RootBound
from coterie.certificates.pair_evidence import MOST_CELLS, rows_of
from coterie.estimate import confidence
from coterie.estimate.design import Design, StrategyDesign, directions
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import JointRidge, LinearEstimate, Projection
from coterie.estimate.unknowns import PairBatch, SizeFree, Unknowns

_SIZE_FREE = SizeFree()


@dataclass(frozen=True, eq=False)
class TotalEvidence(Evidence):
    """A bandit log's linear estimate, and how strategies weigh its unknowns."""

    estimate: LinearEstimate
    unknowns: Unknowns = _SIZE_FREE
    within_samples: bool = False
    """Whether pairs of one sample may depend on each other (the weights must be 1/c^2 then)."""
    means: LinearEstimate | None = None
    """Where the estimated means come from, for previews; the estimate itself by default."""
    names: Names | None = None
    allows_adaptivity: bool = False
    """The ellipsoid holds also where actions depend on earlier utilities, and nothing else does."""

    @property
    def bounds(self) -> Bounds:
        return self.estimate.bounds

    @property
    def allows_dependence(self) -> bool:
        return self.within_samples

    @property
    def is_symmetric(self) -> bool:
        """Each agent's own totals tell what she gets, whatever others get; those of both tell it only if it is one."""
        return isinstance(self.estimate, JointRidge)

    @cached_property
    def values(self) -> FloatArray:
        source, n = self.means or self.estimate, self.estimate.n_agents
        return self.unknowns.values_of_totals([source.theta(i) + self.bounds.middle for i in range(n)])

    def rooms(self, design: StrategyDesign) -> FloatArray:
        source = self.means or self.estimate
        agents = range(len(design.marginals))
        centred = np.stack([directions(design, i) @ source.theta(i) for i in agents])
        return np.asarray(centred + self.bounds.middle * design.partners)

    def uniform_bound(self, design: StrategyDesign, delta: float) -> GainBound:
        """Return c'theta^ + radius |c|_(G^-1), c = x' Phi: |c' (theta^ - theta)| is at most that for all c at once."""
        if not self.is_bounded:
            return self.range_bound(design)
        rooms = self.rooms(design)
        n, k = design.marginals.shape
        square = np.empty((n, k, k))
        for i in range(n):
            form = self.estimate.project(i, directions(design, i)).ellipsoid
            square[i] = self.estimate.radius(i, delta) ** 2 * form
        return RootBound.ellipsoid(design.marginals, rooms, square)

    def direction_bound(self, design: StrategyDesign, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form  # totals have no variance-aware form
        # Where nothing bounds the means, nothing bounds the bias of a ridge estimate.
        holds = self.is_bounded and not self.allows_adaptivity
        return self.root_bound(design, log_term) if holds else self.range_bound(design)

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.bounds.half_width))

    def root_bound(self, design: StrategyDesign, log_term: LogTerm) -> RootBound:
        """Return c'theta^ + |x' bias|_1 + r sqrt(2 L x' noise x), c = x' Phi: see `Factor.project` for both forms."""
        rooms = self.rooms(design)
        n, k = design.marginals.shape
        square, bias = np.empty((n, k, k)), []
        for i in range(n):
            found = self.estimate.project(i, directions(design, i))
            square[i] = self.bounds.half_range**2 * found.noise
            bias.append(found.bias)
        return RootBound(design.marginals, rooms, rooms, square, log_term, bias=np.stack(bias))

    def likely_bound(self, design: StrategyDesign, delta: float) -> RootBound | None:
        if self.allows_adaptivity or not self.is_bounded or self.means is not None:
            return None
        n, width = len(design.marginals), confidence.normal_width(delta)
        variance = [self.estimate.residual_variance(i) for i in range(n)]
        if any(one is None for one in variance):
            return None
        scale = np.array(variance, dtype=np.float64) / self.bounds.half_range**2
        bound = self.root_bound(design, width**2 / 2)
        return replace(bound, square=bound.square * scale[:, None, None])

    def doubts(self, design: StrategyDesign, agent: int, change: FloatArray) -> FloatArray:
        error = np.sqrt(np.maximum(self.estimate.spread(agent), 0.0))
        return np.abs(change)[:, None] * self._spread(error, design, agent)

    def by_partner(self, design: StrategyDesign, agent: int) -> FloatArray:
        source = self.means or self.estimate
        return self._spread(source.theta(agent) + self.bounds.middle, design, agent)

    def _spread(self, values: FloatArray, design: StrategyDesign, agent: int) -> FloatArray:
        """Return how much each partner adds to an agent's rooms if unknowns have these values, shape (k, n)."""
        return self.unknowns.of_partners(directions(design, agent) * values, agent, len(design.marginals))

    def preview(self, learning: "TotalEvidence") -> "TotalEvidence":
        return replace(self, estimate=self.estimate.blind(), means=learning.means or learning.estimate)

    def batched(self) -> Bounding[Design] | None:
        if not self.unknowns.is_linear or not self.is_bounded:
            return None
        unknowns = [len(self.estimate.theta(i)) for i in range(self.estimate.n_agents)]
        return TotalBatches(self) if 3 * sum(d * d for d in unknowns) <= MOST_CELLS else None


class TotalBatches:
    """Bandit evidence about many profiles: `TotalEvidence` with every inverse at hand.

    A projection is linear or quadratic in the directions, so those of the unit vectors serve all.
    """

    def __init__(self, evidence: TotalEvidence) -> None:
        self.evidence, self.estimate = evidence, evidence.estimate

    @cached_property
    def _units(self) -> list[Projection]:
        estimate = self.estimate
        return [estimate.project(i, np.eye(len(estimate.theta(i)))) for i in range(estimate.n_agents)]

    def range_bound(self, design: Design) -> GainBound:
        return self.evidence.range_bound(design)

    def rooms(self, design: PairBatch) -> FloatArray:
        """Return estimated room values, one row per profile and agent."""
        return design.linear(self.evidence.values)

    def forms(self, design: PairBatch, kind: Literal["noise", "ellipsoid"], scales: Sequence[float]) -> FloatArray:
        """Return scale Phi matrix Phi' for every profile and agent, shape (b g, k, k)."""
        agents = design.agents.tolist()
        return design.forms([scale * getattr(self._units[i], kind) for scale, i in zip(scales, agents, strict=True)])

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        base, rows = rows_of(design)
        rooms = self.rooms(base)[rows]
        scales = [self.estimate.radius(i, delta) ** 2 for i in base.agents.tolist()]
        return RootBound.ellipsoid(design.marginals, rooms, self.forms(base, "ellipsoid", scales)[rows])

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form
        if self.evidence.allows_adaptivity:
            return self.range_bound(design)
        base, rows = rows_of(design)
        rooms = self.rooms(base)[rows]
        scale = self.estimate.bounds.half_range**2
        square = self.forms(base, "noise", [scale] * len(base.agents))[rows]
        bias = [base.products(base.partners_of(i), self._units[i].bias) for i in base.agents.tolist()]
        stacked = np.stack(bias, axis=1).reshape(-1, base.joined.shape[2], bias[0].shape[2])
        return RootBound(design.marginals, rooms, rooms, square, log_term, bias=stacked[rows])

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        return self.direction_bound(design, log_term)
