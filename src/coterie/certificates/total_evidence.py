"""Evidence from bandit logs: linear estimates of totals, for all profiles or for a fixed one."""

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.certificates import widths
from coterie.certificates.evidence import Bounding, Evidence, Form, Names
from coterie.certificates.gains import GainBound, LogTerm, RootBound
from coterie.certificates.pair_evidence import MOST_CELLS, rows_of
from coterie.estimate import confidence
from coterie.estimate.design import Design, StrategyDesign, directions
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import JointRidge, LinearEstimate, Projection
from coterie.estimate.unknowns import PairBatch, SizeFree, Unknowns
from coterie.game.actions import ActionSpaces

_SIZE_FREE = SizeFree()

LISTED = 500_000
"""From more than so many (moves x agents x actions x coalitions x unknowns) on, compiled code is worth loading."""


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
    variances: FloatArray | None = None
    """For previews: the squared residual of one utility that a second pass is expected to find, for each agent."""

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

    def rooms(self, design: Design) -> FloatArray:
        source = self.means or self.estimate
        centred = np.empty(design.marginals.shape)
        for i, rows in design.rows_by_owner():
            centred[rows] = design.rows_directions(rows) @ source.theta(i)
        return np.asarray(centred + self.bounds.middle * design.partners)

    def projections(self, design: Design) -> Projection:
        """Return how well the estimate knows the rooms of every row; the rows of one agent are solved for together.

        It takes most of a certificate's time, so it is done once for a strategy, whichever widths ask for it.
        """
        if design not in self._projected:
            project = self.estimate.project
            found = [(rows, project(i, design.rows_directions(rows))) for i, rows in design.rows_by_owner()]
            order = np.argsort(np.concatenate([rows for rows, _ in found]))
            self._projected[design] = Projection(
                *(np.concatenate([getattr(one, part) for _, one in found])[order] for part in ("ellipsoid", "solved"))
            )
        return self._projected[design]

    def of_same_design(self, estimate: LinearEstimate) -> "TotalEvidence":
        """Return what an estimate proves that differs from this one in utilities only: as well known, the same."""
        other = replace(self, estimate=estimate)
        vars(other)["_projected"] = self._projected  # the cached property
        return other

    @cached_property
    def _projected(self) -> WeakKeyDictionary[Design, Projection]:
        return WeakKeyDictionary()

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        return widths.ellipsoid(self, design, delta) if self.is_bounded else self.range_bound(design)

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form  # totals have no variance-aware form
        # Where nothing bounds the means, nothing bounds the bias of a ridge estimate.
        holds = self.is_bounded and not self.allows_adaptivity
        return widths.totals(self, design, log_term) if holds else self.range_bound(design)

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        return self.narrowed(self.direction_bound(design, log_term), design.owners)

    def narrowed(self, bound: GainBound, agents: IntArray) -> GainBound:
        """Return a bound as narrow as a second pass is expected to make it; its rows belong to these agents."""
        if self.variances is None or not isinstance(bound, RootBound):
            return bound
        return replace(bound, square=bound.square * self.narrowing[agents][:, None, None])

    @property
    def narrowing(self) -> FloatArray:
        """By how much a second pass is expected to make each agent's variances smaller, shape (n,)."""
        if self.variances is None:
            return np.ones(self.estimate.n_agents)
        return np.minimum(self.variances / self.bounds.half_range**2, 1.0)

    @property
    def learns(self) -> bool:
        return False

    def learnt_bound(self, design: Design, log_term: float, learning: "TotalEvidence") -> GainBound:
        """Return the bound of one pass, or for a preview the one to expect; see `coterie.certificates.residual`."""
        del learning
        return self.expected_bound(design, log_term)

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.bounds.half_width))

    def likely_bound(self, design: Design, delta: float) -> RootBound | None:
        if self.allows_adaptivity or not self.is_bounded or self.means is not None:
            return None
        variance = [self.estimate.residual_variance(i) for i in design.owners.tolist()]
        if any(one is None for one in variance):
            return None
        scale = np.array(variance, dtype=np.float64) / self.bounds.half_range**2
        bound = widths.totals(self, design, 1.0)
        shape = widths.Shape(times_sqrt=confidence.normal_width(delta))
        return replace(bound, square=bound.square * scale[:, None, None], shape=shape)

    def doubts(self, design: StrategyDesign, agent: int, change: FloatArray) -> FloatArray:
        error = np.sqrt(np.maximum(self.estimate.spread(agent), 0.0))
        weighed = directions(design, agent) * error
        return np.abs(change)[:, None] * self.unknowns.of_partners(weighed, agent, len(design.marginals))

    @property
    def errors(self) -> FloatArray:
        spread = [np.sqrt(np.maximum(self.estimate.spread(i), 0.0)) for i in range(self.estimate.n_agents)]
        return self.unknowns.values_of_totals(spread)

    def preview(self, learning: "TotalEvidence") -> "TotalEvidence":
        return replace(self, estimate=self.estimate.blind(), means=learning.means or learning.estimate)

    def batched(self, spaces: ActionSpaces) -> Bounding[Design] | None:
        if not self.unknowns.is_linear or not self.is_bounded:
            return None
        if self._lists_deviations(spaces):
            from coterie.certificates.listed_totals import ListedTotals  # compiled: loaded where it is needed

            return ListedTotals(self, spaces)
        unknowns = [len(self.estimate.theta(i)) for i in range(self.estimate.n_agents)]
        return TotalBatches(self) if 3 * sum(d * d for d in unknowns) <= MOST_CELLS else None

    def _lists_deviations(self, spaces: ActionSpaces) -> bool:
        """Return whether deviations are few enough to be taken one by one, and many enough for compiled code."""
        n, actions = self.estimate.n_agents, max(space.size for space in spaces.spaces)
        unknowns = self.estimate.factor(0).dimension
        # What each set of each partner adds to what is solved for, for every pair of own sets.
        fits = n**2 * actions * (actions * (actions - 1) // 2) * unknowns <= MOST_CELLS
        is_worth_it = (n * actions) ** 2 * spaces.n_coalitions * unknowns > LISTED
        return isinstance(self.unknowns, SizeFree) and fits and is_worth_it


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

    @cached_property
    def _noise(self) -> list[FloatArray]:
        return [widths.noise_form(unit, self.estimate) for unit in self._units]

    @cached_property
    def _biases(self) -> list[FloatArray]:
        return [widths.bias_form(unit, self.estimate) for unit in self._units]

    def range_bound(self, design: Design) -> GainBound:
        return self.evidence.range_bound(design)

    def rooms(self, design: PairBatch) -> FloatArray:
        """Return estimated room values, one row per profile and agent."""
        return design.linear(self.evidence.values)

    def ellipsoids(self, design: PairBatch) -> FloatArray:
        """Return phi G^-1 phi' for every profile and agent, shape (b g, k, k)."""
        return design.forms([self._units[i].ellipsoid for i in design.agents.tolist()])

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        base, rows = rows_of(design)
        agents = np.resize(base.agents, len(base.marginals))[rows]
        radii = np.array([widths.ellipsoid_radius(self.estimate, i, delta) for i in range(self.estimate.n_agents)])
        return widths.ellipsoid_bound(
            design.marginals, self.rooms(base)[rows], self.ellipsoids(base)[rows], radii[agents]
        )

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form
        if self.evidence.allows_adaptivity:
            return self.range_bound(design)
        base, rows = rows_of(design)
        agents, rooms = base.agents.tolist(), self.rooms(base)[rows]
        proxy = base.forms([self._noise[i] for i in agents])[rows]
        bias = [base.products(base.partners_of(i), self._biases[i]) for i in agents]
        stacked = np.stack(bias, axis=1).reshape(-1, base.joined.shape[2], bias[0].shape[2])
        return widths.totals_bound(design, rooms, proxy, stacked[rows], log_term)

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        base, rows = rows_of(design)
        agents = np.resize(base.agents, len(base.marginals))[rows]
        return self.evidence.narrowed(self.direction_bound(design, log_term), agents)
