"""Evidence about many pure profiles at once, one row per profile and agent.

Bounds for gains only ask a `Design` for sums over coefficients, row by row. So the rows of many
profiles are put below each other, and one matrix product serves them all. This is what makes a search
over profiles, and their enumeration, fast; the bounds are the certificates' own.
"""

from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.evidence import Evidence, Form, LogTerm, PairEvidence
from coterie.certificates.gains import GainBound, RootBound
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.ridge import Projection
from coterie.estimate.unknowns import Design, own_unknowns
from coterie.game.means import pair_sums
from coterie.game.utilities import SizeFree
from coterie.solve.estimated import estimated_game

MOST_CELLS = 20_000_000
"""Inverse Gram matrices of bandit logs are kept for up to so many numbers."""


class Bounding(Protocol):
    """The part of `Evidence` that makes bounds from a design."""

    def range_bound(self, design: Design) -> GainBound:
        """Return the bound from the range of utilities alone."""

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        """Return a bound for all profiles at once."""

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Return a bound for each deviation on its own."""


class StackedDesign(Design):
    """The coefficients of some agents' rooms under many pure profiles.

    Parameters
    ----------
    structure
        How room values depend on the unknowns, see `coterie.estimate.unknowns`.
    profiles
        Memberships, shape (b, n, k).
    agents
        The g agents whose rooms are asked for. Row r belongs to profile r // g and agent agents[r % g].
    """

    def __init__(self, structure: str, profiles: BoolArray, agents: IntArray) -> None:
        self.structure, self.profiles, self.agents = structure, profiles, agents
        self.joined = profiles.astype(np.float64)
        self.marginals = self._flat(self.joined[:, agents])
        self.shares_unknowns = structure == "pooled"
        self._known: dict[int, tuple[FloatArray, FloatArray]] = {}

    @staticmethod
    def _flat(values: FloatArray) -> FloatArray:
        return values.reshape(-1, *values.shape[2:])

    @cached_property
    def partners(self) -> FloatArray:
        return self._flat(self.joined.sum(axis=1)[:, None] - self.joined[:, self.agents])

    @cached_property
    def _size(self) -> IntArray:
        """The size of each coalition with the agent in it, shape (b, g, k)."""
        return (self.partners + 1).astype(np.int64).reshape(len(self.profiles), len(self.agents), -1)

    def _present(self, values: FloatArray) -> FloatArray:
        """Return the values of the partners that are there, shape (b, k, g, n)."""
        if values.ndim == 3:
            found = values[None, :, self.agents]
        else:
            rooms = np.arange(len(values))[:, None]
            found = values[rooms, self.agents[None, :], :, self._size.transpose(0, 2, 1)]
        return np.asarray(found * self.joined.transpose(0, 2, 1)[:, :, None])

    def _by_size(self, values: FloatArray, power: int) -> FloatArray:
        rooms = np.arange(len(values))
        return np.asarray(values[rooms, self._size] * (self._size - 1.0) ** power)

    def linear(self, values: FloatArray) -> FloatArray:
        # Bounds ask for the same sums again; the arrays are kept, so that their identity stays theirs.
        if id(values) not in self._known:
            self._known[id(values)] = values, self._linear(values)
        return self._known[id(values)][1]

    def _linear(self, values: FloatArray) -> FloatArray:
        if not values.any():
            return np.zeros_like(self.marginals)
        if self.structure == "anonymous":
            return self._flat(self._by_size(values, 1))
        if self.structure == "aware":
            # Partners last and next to each other in memory: most of the time goes into fetching them.
            by_size = np.ascontiguousarray(values[:, self.agents].transpose(0, 1, 3, 2))
            rooms, rows = np.arange(len(values))[:, None], np.arange(len(self.agents))
            found = by_size[rooms, rows, self._size.transpose(0, 2, 1)]
            return self._flat(np.einsum("blgj,bjl->bgl", found, self.joined))
        return self._flat(pair_sums(values, self.joined, self.agents))

    def quadratic(self, values: FloatArray) -> FloatArray:
        if self.structure == "anonymous":
            return self._flat(self._by_size(values, 2))
        if self.structure == "pooled":
            b, n, k = self.joined.shape
            both = (self.joined[:, :, :, None] * self.joined[:, :, None, :]).reshape(b, n, k * k)
            return self._flat((values[0, self.agents] @ both).reshape(b, -1, k, k))
        return self.linear(values)

    def largest(self, values: FloatArray) -> FloatArray:
        if self.structure == "anonymous":
            return self._flat(self._by_size(np.abs(values), 1))
        if self.structure == "pooled":
            met = self.joined.sum(axis=2)
            together = np.abs(values[0, self.agents] * met[:, None, :]).max(axis=2)
            return self._flat(np.repeat(together[:, :, None], self.joined.shape[2], axis=2))
        return self._flat(self._present(np.abs(values)).max(axis=3).transpose(0, 2, 1))

    def leading(self, values: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the two largest values in each room of the first profile, and whose the largest is, each (g, k)."""
        key = -id(values)
        if key not in self._known:
            present = self._present(np.abs(values))[0]
            place = present.argmax(axis=2)
            first = np.take_along_axis(present, place[:, :, None], axis=2)[:, :, 0]
            np.put_along_axis(present, place[:, :, None], 0.0, axis=2)
            self._known[key] = values, np.stack([first.T, present.max(axis=2).T, place.T])
        first, second, place = self._known[key][1]
        return first, second, place.astype(np.int64)

    def coefficients(self, agent: int) -> FloatArray:
        raise NotImplementedError("a stacked design has sums only")


class NeighbourDesign(StackedDesign):
    """Size-free rooms under profiles that differ from `base` by one agent's move each: sums by difference."""

    def __init__(self, base: StackedDesign, movers: IntArray, actions: BoolArray, agents: IntArray) -> None:
        assert base.structure == "size-free"
        profiles = np.repeat(base.profiles, len(movers), axis=0)
        profiles[np.arange(len(movers)), movers] = actions
        super().__init__(base.structure, profiles, agents)
        self.base, self.movers = base, movers
        self.change = actions - base.joined[0, movers]

    def _of_movers(self, values: FloatArray) -> FloatArray:
        """Return what each mover means to each agent in each coalition, shape (b, g, k)."""
        return np.asarray(values.transpose(2, 1, 0)[self.movers[:, None], self.agents])

    def _linear(self, values: FloatArray) -> FloatArray:
        before = self.base.linear(values)[self.agents]
        if not values.any():
            return super()._linear(values)
        return self._flat(before + self.change[:, None] * self._of_movers(values))

    def largest(self, values: FloatArray) -> FloatArray:
        first, second, place = self.base.leading(values)
        movers, agents = self.movers[:, None], self.agents
        others = np.where(place[agents] == movers[:, :, None], second[agents], first[agents])
        joins = self.joined[np.arange(len(self.movers)), self.movers][:, None]
        return self._flat(np.maximum(others, joins * self._of_movers(np.abs(values))))


class MovedDesign(Design):
    """The rooms of agents after their own move: nobody's rooms depend on what she does herself.

    Row t has the sums of row `rows[t]` of `base`, and plays `own[t]`.
    """

    def __init__(self, base: StackedDesign, rows: IntArray, own: BoolArray) -> None:
        self.base, self.rows = base, rows
        self.marginals = own.astype(np.float64)
        self.shares_unknowns = base.shares_unknowns

    @property
    def partners(self) -> FloatArray:
        return np.asarray(self.base.partners[self.rows])

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.linear(values)[self.rows])

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.quadratic(values)[self.rows])

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.largest(values)[self.rows])

    def coefficients(self, agent: int) -> FloatArray:
        raise NotImplementedError("a design of moves has sums only")


def stackable(evidence: Evidence, n_agents: int) -> Bounding | None:
    """Return what makes bounds from stacked designs, or None where profiles must be taken one by one."""
    if isinstance(evidence, PairEvidence):
        estimate = evidence.estimate
        if estimate.structure in {"factor", "pooled-aware"}:
            return None
        if estimate.noise is None or estimate.noise.together is None:
            return evidence
        fits = n_agents * estimate.moments.count[:, 0].size ** 2 <= MOST_CELLS
        return StackedSamples(evidence) if estimate.structure in {"size-free", "pooled"} and fits else None
    bounded = isinstance(evidence, TotalEvidence) and bool(np.isfinite(evidence.estimate.bounds.half_width))
    if isinstance(evidence, TotalEvidence) and evidence.structure in {"size-free", "pooled"} and bounded:
        unknowns = [len(evidence.estimate.theta(i)) for i in range(n_agents)]
        if 3 * sum(d * d for d in unknowns) <= MOST_CELLS:
            return StackedTotals(evidence, n_agents)
    return None


def _base(design: Design) -> tuple[StackedDesign, IntArray | slice]:
    """Return the design that sums come from, and which of its rows are asked for."""
    if isinstance(design, MovedDesign):
        return design.base, design.rows
    assert isinstance(design, StackedDesign)
    return design, slice(None)


def _directions(design: StackedDesign, agent: int) -> FloatArray:
    """Return the partners' memberships, shape (b, k, n - 1)."""
    return np.delete(design.joined, agent, axis=1).transpose(0, 2, 1)


def _times(design: StackedDesign, rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return Phi matrix for every profile, shape (b, k, columns); Phi is block diagonal unless pooled."""
    if design.structure == "pooled":
        return np.asarray(rows @ matrix)
    blocks = matrix.reshape(rows.shape[1], -1, matrix.shape[1])
    return np.asarray((rows.transpose(1, 0, 2) @ blocks).transpose(1, 0, 2))


def _forms(design: StackedDesign, matrices: list[FloatArray]) -> FloatArray:
    """Return Phi matrix Phi' for every profile and agent, one matrix per agent, shape (b g, k, k)."""
    b, _, k = design.joined.shape
    forms = np.empty((b, len(design.agents), k, k))
    for t, i in enumerate(design.agents.tolist()):
        rows = _directions(design, i)
        half = _times(design, rows, matrices[t])
        if design.structure == "pooled":
            forms[:, t] = half @ rows.transpose(0, 2, 1)
        else:
            forms[:, t] = np.einsum("blmj,bmj->blm", half.reshape(b, k, k, -1), rows)
    return forms.reshape(-1, k, k)


class StackedSamples:
    """Semi-bandit evidence whose pairs may depend on each other within a sample, about stacked profiles.

    The variance proxy of a direction is r^2 alpha' H alpha with alpha = |c| / N: a form with the matrix
    r^2 H_ef / (N_e N_f), which is kept for every agent.
    """

    def __init__(self, evidence: PairEvidence) -> None:
        self.evidence = evidence
        self.independent = replace(evidence, estimate=replace(evidence.estimate, noise=None))

    @cached_property
    def _matrices(self) -> list[FloatArray]:
        estimate = self.evidence.estimate
        assert estimate.noise is not None
        assert estimate.noise.together is not None
        count = estimate.moments.count
        inverse = np.where(count > 0, 1 / np.maximum(count, 1e-300), 0.0)
        matrices = []
        for i in range(estimate.n_agents):
            own = estimate.bounds.half_range * own_unknowns(inverse[None, :, i], i)[0]
            matrices.append(own[:, None] * estimate.noise.together(i) * own)
        return matrices

    def range_bound(self, design: Design) -> GainBound:
        return self.evidence.range_bound(design)

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        return self.evidence.uniform_bound(design, delta)

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form
        base, rows = _base(design)
        parts = self.independent.direction_bound(design, 1.0, "hoeffding")
        assert isinstance(parts, RootBound)
        square = _forms(base, [self._matrices[i] for i in base.agents.tolist()])[rows]
        return RootBound(design.marginals, parts.upper, parts.lower, square, log_term, absolute=True)


class StackedTotals:
    """Bandit evidence about stacked profiles: `TotalEvidence` with every inverse at hand.

    A projection is linear or quadratic in the directions, so those of the unit vectors serve all.
    """

    def __init__(self, evidence: TotalEvidence, n_agents: int) -> None:
        self.evidence, self.estimate, self.n_agents = evidence, evidence.estimate, n_agents

    @cached_property
    def _units(self) -> list[Projection]:
        sizes = [len(self.estimate.theta(i)) for i in range(self.n_agents)]
        return [self.estimate.project(i, np.eye(d)) for i, d in enumerate(sizes)]

    def range_bound(self, design: Design) -> GainBound:
        return self.evidence.range_bound(design)

    def rooms(self, design: StackedDesign) -> FloatArray:
        """Return estimated room values, one row per profile and agent."""
        if not hasattr(self, "_means"):
            from coterie.game.actions import ActionSpaces, exactly_one

            # Any action space will do: only the means are of interest.
            spaces = ActionSpaces.shared(exactly_one(design.marginals.shape[1]), self.n_agents)
            utilities = estimated_game(self.evidence, spaces).utilities
            assert isinstance(utilities, SizeFree)
            self._means: FloatArray = utilities.means.values  # type: ignore[attr-defined]
        return design.linear(self._means)

    def forms(self, design: StackedDesign, kind: str, scales: list[float]) -> FloatArray:
        """Return scale Phi matrix Phi' for every profile and agent, shape (b g, k, k)."""
        agents = design.agents.tolist()
        return _forms(design, [scale * getattr(self._units[i], kind) for scale, i in zip(scales, agents, strict=True)])

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        base, rows = _base(design)
        rooms = self.rooms(base)[rows]
        scales = [self.estimate.radius(i, delta) ** 2 for i in base.agents.tolist()]
        return RootBound(design.marginals, rooms, rooms, self.forms(base, "ellipsoid", scales)[rows], 0.5)

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        del form
        base, rows = _base(design)
        rooms = self.rooms(base)[rows]
        scale = self.estimate.bounds.half_range**2
        square = self.forms(base, "noise", [scale] * len(base.agents))[rows]
        bias = [_times(base, _directions(base, i), self._units[i].bias) for i in base.agents.tolist()]
        stacked = np.stack(bias, axis=1).reshape(-1, base.joined.shape[2], bias[0].shape[2])
        return RootBound(design.marginals, rooms, rooms, square, log_term, bias=stacked[rows])
