"""What a search over mixed strategies minimises: bounds on gains, with their derivatives.

All depend on marginals p alone. For a deviation (i, a') and semi-bandit evidence

    gain_i(a') = sum over l in a' of (1 - p_i(l)) U_i(l) - sum over l not in a' of p_i(l) L_i(l)

is linear in p_i, and, as U_i and L_i are linear in each other agent's p_j, in every p_j alone. For bandit
evidence the width is a norm of a vector that is linear in each p_j alone: convex, so that tangents are
valid cuts.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates import widths
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, LinearBound, SmallerOf, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import PairedForm, paired_rooms, share_of
from coterie.certificates.paper import SurrogateBound, paper_rooms
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.estimate.ridge import Projection
from coterie.estimate.unknowns import PairUnknowns
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.words import said

Slopes = tuple[FloatArray, FloatArray]


class SmoothObjective(ABC):
    """The largest bound on a gain under a mixed strategy, as a function of marginals."""

    label: str
    game: Game

    def worst(self, p: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return every agent's largest bound, at least 0 (and 0 for who does not count), and what attains it."""
        found = worst_deviations(self.bound(p), self.game.actions)
        return np.where(found.counted, np.maximum(found.value, 0.0), 0.0), found.action

    def value(self, p: FloatArray) -> float:
        """Return the largest bound of all: the certificate, or the gap."""
        return float(self.worst(p)[0].max())

    @abstractmethod
    def bound(self, p: FloatArray) -> GainBound:
        """Return the bound on all gains under marginals p."""

    @abstractmethod
    def tangents(self, p: FloatArray, agents: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of some deviations, shape (d,), and their derivatives by p, shape (d, n, k)."""


class RoomObjective(SmoothObjective):
    """Bounds that come from an upper and a lower value of each room."""

    is_surrogate = False
    """Whether the agent's own value is taken at its lowest even where she stays (the paper's surrogate)."""
    is_linear: bool
    """Whether room values are linear in the marginals (else only in each agent's)."""

    @abstractmethod
    def rooms(self, p: FloatArray) -> Slopes:
        """Return the upper and lower room values, each of shape (n, k)."""

    def bound(self, p: FloatArray) -> GainBound:
        return (SurrogateBound if self.is_surrogate else LinearBound)(p, *self.rooms(p))

    def tangents(self, p: FloatArray, agents: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        upper, lower = self.rooms(p)
        raising, lowering = self._fixed_slopes if self.is_linear else self._slopes(p)
        joined, own = sets.astype(np.float64), p[agents]
        up, down = (joined, own) if self.is_surrogate else (joined * (1 - own), (1 - joined) * own)
        value = (up * upper[agents] - down * lower[agents]).sum(axis=1)
        slope = up[:, None] * raising[agents] - down[:, None] * lowering[agents]
        kept = lower[agents] if self.is_surrogate else np.where(sets, upper[agents], lower[agents])
        slope[np.arange(len(agents)), agents] = -kept
        return value, slope

    @cached_property
    def _fixed_slopes(self) -> Slopes:
        return self._slopes(np.zeros((self.game.n_agents, self.game.n_coalitions)))

    def _slopes(self, p: FloatArray) -> Slopes:
        """Return dU_i(l) / dp_j(l) and dL_i(l) / dp_j(l), shape (n, n, k): differences of p_j = 1 and 0."""
        n, k = p.shape
        slopes = np.empty((2, n, n, k))
        for j in range(n):
            ends = []
            for share in (1.0, 0.0):
                other = p.copy()
                other[j] = share
                ends.append(self.rooms(other))
            for t in range(2):
                slopes[t, :, j] = ends[0][t] - ends[1][t]
        return slopes[0], slopes[1]


class SmoothGap(RoomObjective):
    """The exact gap of a known game, or of the estimate."""

    def __init__(self, game: Game, label: str = "gap") -> None:
        self.game, self.label = game, label
        self.is_linear = not game.depends_on_size

    def rooms(self, p: FloatArray) -> Slopes:
        values = self.game.utilities.room_values(p)
        return values, values


class SmoothBox(RoomObjective):
    """The `paired` certificate in its box form, or the `paper` certificate, of a semi-bandit log."""

    def __init__(
        self,
        evidence: PairEvidence,
        spaces: ActionSpaces,
        delta: float,
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
        *,
        certificate: Literal["paired", "paper"] = "paired",
        form: PairedForm = "box",
    ) -> None:
        self.evidence, self.delta, self.form = evidence, delta, form
        self.game = evidence.game(spaces, agents, coalitions)
        self.is_surrogate = certificate == "paper"
        self.is_linear = evidence.unknowns.is_linear
        self.label = "paper certificate" if self.is_surrogate else "paired certificate (box)"

    def rooms(self, p: FloatArray) -> Slopes:
        design = self.evidence.unknowns.at(p)
        if self.is_surrogate:
            lower, upper = paper_rooms(self.evidence.estimate, design, self.delta)
            return upper, lower
        return paired_rooms(self.evidence, design, self.delta, self.form)


class SmoothEllipsoid(SmoothObjective):
    """The `paired` certificate of a bandit log: the ellipsoid, or the range where that is smaller."""

    def __init__(
        self,
        evidence: TotalEvidence,
        spaces: ActionSpaces,
        delta: float,
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
        *,
        form: PairedForm = "box",
    ) -> None:
        if not isinstance(evidence.unknowns, PairUnknowns):
            raise InputError("mixed strategies are not searched for bandit logs by size; use a pure search")
        if not evidence.is_bounded:
            raise InputError("nothing can be certified from a bandit log whose mean utilities have no bound")
        self.evidence, self.unknowns, self.delta = evidence, evidence.unknowns, share_of(delta, form)
        self.game = evidence.game(spaces, agents, coalitions)
        self.label = "paired certificate (box)"

    @cached_property
    def _units(self) -> list[Projection]:
        estimate = self.evidence.estimate
        return [estimate.project(i, np.eye(len(estimate.theta(i)))) for i in range(self.game.n_agents)]

    def _weights(self, p: FloatArray, agent: int) -> FloatArray:
        """Return the partners' marginals, shape (k, n - 1)."""
        return np.delete(p, agent, axis=0).T

    def bound(self, p: FloatArray) -> GainBound:
        agents = range(len(p))
        forms = [self.unknowns.form(self._weights(p, i), self._units[i].ellipsoid) for i in agents]
        radii = [widths.ellipsoid_radius(self.evidence.estimate, i, self.delta) for i in agents]
        ellipsoid = widths.ellipsoid_bound(p, self.game.utilities.room_values(p), forms, radii)
        return SmallerOf((self.evidence.range_bound(self.unknowns.at(p)), ellipsoid))

    def tangents(self, p: FloatArray, agents: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        n, k = p.shape
        value, slope = np.empty(len(agents)), np.zeros((len(agents), n, k))
        bounds = self.evidence.estimate.bounds
        for i in np.unique(agents).tolist():
            rows = np.flatnonzero(agents == i)
            x = sets[rows] - p[i]
            weights = self._weights(p, i)  # (k, n - 1)
            partners = weights.sum(axis=1)
            means = np.delete(self.evidence.values[:, i], i, axis=1)  # (tables, n - 1)
            direction = self.unknowns.gathered(x[:, :, None] * weights)  # c, shape (rows, tables, n - 1)
            flat = direction.reshape(len(rows), -1)
            solved = flat @ self._units[i].ellipsoid
            norm = np.sqrt(np.maximum((flat * solved).sum(axis=1), 0.0))
            radius = widths.ellipsoid_radius(self.evidence.estimate, i, self.delta)
            pull = radius * solved / np.maximum(norm, 1e-300)[:, None]
            total = pull.reshape(direction.shape) + means
            value[rows] = flat @ means.ravel() + radius * norm
            others = np.arange(n) != i
            slope[np.ix_(rows, others)] = (total * x[:, :, None]).transpose(0, 2, 1)
            slope[rows, i] = -(total * weights).sum(axis=2)
            ranged = np.where(x > 0, bounds.high, bounds.low)
            by_range = (x * ranged * partners).sum(axis=1)
            smaller = by_range < value[rows]
            if smaller.any():
                some = rows[smaller]
                value[some] = by_range[smaller]
                slope[np.ix_(some, others)] = np.repeat((x * ranged)[smaller][:, None], n - 1, axis=1)
                slope[some, i] = -(ranged * partners)[smaller]
        return value, slope


def smooth_objective(
    evidence: Evidence,
    spaces: ActionSpaces,
    delta: float,
    agents: Iterable[str] | None = None,
    coalitions: Iterable[str] | None = None,
    *,
    certificate: Literal["paired", "paper", "estimate"] = "paired",
    form: PairedForm = "box",
) -> SmoothObjective:
    """Return the objective over mixed strategies that belongs to a certificate, or to the estimate itself.

    Of `paired` it is the box form, which has half of delta if `form` is "best".
    """
    if certificate == "estimate":
        return SmoothGap(evidence.game(spaces, agents, coalitions), "estimated gap")
    if isinstance(evidence, PairEvidence):
        return SmoothBox(evidence, spaces, delta, agents, coalitions, certificate=certificate, form=form)
    if isinstance(evidence, TotalEvidence) and certificate == "paired":
        return SmoothEllipsoid(evidence, spaces, delta, agents, coalitions, form=form)
    raise InputError(
        "of mixed strategies, only the paper's own scheme finds some for the paper's certificate of totals: say "
        f"{said(solver='paper')}, or {said(strategy='pure')}"
    )
