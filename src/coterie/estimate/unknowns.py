"""The ways to read a log: which means are unknown, and how room values depend on them.

The room value W_i(l) of agent i in coalition l is a combination sum_e phi_e theta_e of unknown means theta_e. Which
unknowns there are depends on what the log is taken to show:

    class          theta        phi                                             arrays of values
    SizeFree       d_ij^l       p_j(l)                                          (k, n, n)
    Pooled         d_ij         p_j(l), for each l the same unknown             (1, n, n)
    Aware          d_ij^l(s)    Pr[j in C_l and |C_l with i| = s]               (k, n, n, n + 1)
    PooledAware    d_ij(s)      the same, for each l the same unknown           (1, n, n, n + 1)
    KnownFactor    d_ij^l       p_j(l) E[g_l(|C_l|) given i and j in C_l]       (k, n, n)
    Anonymous      d^l(s)       (s - 1) Pr[|C_l with i| = s]                    (k, n + 1)
    SeenPairs      d_ij^l, d_ij of pairs that were seen, of many agents         (pairs,)

Each class owns everything that depends on this choice: what it takes for granted in words, the coefficients of a
strategy (`design`, `at`), those of many pure profiles (`batch`), the game that estimates describe (`game`), and how
meetings become observations. Nobody else asks which class it is: another way is another class. (`SeenPairs` is in
`coterie.estimate.seen_pairs`.)
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.estimate.design import BatchDesign, Design, StrategyDesign
from coterie.estimate.intervals import Bounds, Moments, distinct_pairs
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.game.means import pair_sums
from coterie.game.sizes import leave_one_out, leave_two_out, leave_two_out_means
from coterie.game.strategy import Strategy
from coterie.game.utilities import sums_at_sizes


class Unknowns(ABC):
    """A way to read a log."""

    name: ClassVar[str]
    meaning: ClassVar[str]
    """What it takes for granted, in words for the result file."""
    is_pooled: ClassVar[bool] = False
    """Whether a pair's unknowns are the same in every coalition."""
    by_size: ClassVar[bool] = False
    """Whether each size of a coalition has unknowns of its own."""
    is_linear: ClassVar[bool] = False
    """Whether room values are linear in all marginals together (else in each agent's alone)."""
    is_listed: ClassVar[bool] = False
    """Whether values are a list of those unknowns that were seen, of many agents."""
    averages_meetings: ClassVar[bool] = True
    """Whether each unknown is estimated by the average of one pair's values (at one size)."""

    # --- Strategies ---------------------------------------------------------------------------------

    @abstractmethod
    def at(self, marginals: FloatArray) -> StrategyDesign:
        """Return the coefficients of independent agents with the given marginals, shape (n, k)."""

    def design(self, strategy: Strategy) -> StrategyDesign:
        """Return the coefficients with which a strategy weighs the unknowns."""
        return self.at(strategy.marginals)

    def batch(self, profiles: BoolArray, agents: IntArray) -> BatchDesign | None:
        """Return the coefficients of some agents under many pure profiles; None where they must be taken one by one."""
        del profiles, agents
        return None

    # --- Games --------------------------------------------------------------------------------------

    def game(
        self,
        values: FloatArray,
        spaces: ActionSpaces,
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
    ) -> Game:
        """Return the game in which the unknowns have these values.

        Room values are linear in the means, whatever the log is taken to show, so an estimate is a game like any
        other: best-response dynamics, potential and exact gap need nothing more.
        """
        named: Any = {"agents": agents, "coalitions": spaces.n_coalitions if coalitions is None else tuple(coalitions)}
        return Game(actions=spaces, **self._described(np.array(values), spaces), **named)

    @abstractmethod
    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        """Return the utilities of the game as arguments of `Game`; `values` may be changed."""

    # --- Single pairs -------------------------------------------------------------------------------

    def by_partner(self, values: FloatArray, design: StrategyDesign, agent: int) -> FloatArray:
        """Return how much each partner adds to an agent's rooms if unknowns have these values, shape (k, n)."""
        n, k = design.marginals.shape
        amounts = design.coefficients(agent) * values[:, agent]
        return np.asarray(amounts.reshape(k, -1, n, amounts[0, 0, 0].size).sum(axis=(1, 3)))

    def seen_in_rooms(self, count: FloatArray, n_coalitions: int) -> list[FloatArray] | None:
        """Return how often each pair was observed in each coalition, (n, n) each; None where counts do not tell."""
        by_table = count.sum(axis=3) if self.by_size else count
        return [by_table[0 if self.is_pooled else l] for l in range(n_coalitions)]

    def never_listed(self, design: StrategyDesign, agent: int) -> FloatArray | float:
        """Return how probable partners are in an agent's rooms of whom there is no unknown, shape (k, n)."""
        del design, agent
        return 0.0

    def exposure(self, design: Design, unseen: FloatArray) -> FloatArray:
        """Return how many partners' worth of never observed utility each room holds, shape (rows, k)."""
        return design.linear(unseen)

    def bounds(self, utilities: Bounds) -> Bounds:
        """Return the bounds of the unknowns, given those of utilities."""
        return utilities

    # --- Estimates ----------------------------------------------------------------------------------

    def moments(
        self,
        count: FloatArray,
        total: FloatArray,
        squares: FloatArray | None,
        *,
        symmetric: bool,
        repeats: FloatArray | None = None,
    ) -> Moments:
        """Return the moments of the unknowns from sums over pairs, see `PairEstimate.from_sums`."""
        events = distinct_pairs(count, symmetric=symmetric)
        return Moments.from_sums(count, total, squares, events=events, repeats=repeats)

    def rounded(self, bounds: Bounds) -> Bounds:
        """Return bounds that allow for what the rounding of utilities does to the unknowns."""
        return bounds

    # --- Meetings -----------------------------------------------------------------------------------

    def observed(self, joint_actions: BoolArray, times: Sequence[int] | IntArray) -> FloatArray:
        """Return how often each unknown is observed in joint actions (b, n, k) played so many times."""
        joined, often = joint_actions.astype(np.float64), np.asarray(times, dtype=np.float64)
        if self.by_size:
            _, n, k = joined.shape
            met = np.zeros((k, n, n, n + 1))
            sizes = joint_actions.sum(axis=1)
            for s in range(2, n + 1):
                met[..., s] = np.einsum("bl,bil,bjl->lij", often[:, None] * (sizes == s), joined, joined)
        else:
            met = np.einsum("b,bil,bjl->lij", often, joined, joined)
        if self.is_pooled:
            met = met.sum(axis=0, keepdims=True)
        agents = np.arange(met.shape[1])
        met[:, agents, agents] = 0.0
        return np.asarray(met)

    def chances(self, marginals: FloatArray) -> FloatArray:
        """Return how probable it is that independent agents with these marginals show each unknown in a sample."""
        p = marginals
        if self.by_size:
            chance = _sized_coefficients(p) * p.T[:, :, None, None]
        else:
            chance = np.einsum("il,jl->lij", p, p) * ~np.eye(len(p), dtype=bool)
        if self.is_pooled:  # two people who share several teams are rare
            chance = chance.sum(axis=0, keepdims=True)
        return np.clip(chance, 0.0, 1.0)

    # --- Totals: every agent's own unknowns in a row, coalitions first, then partners, then sizes from 2 up ---

    def values_of_totals(self, own: Sequence[FloatArray]) -> FloatArray:
        """Return the array of values from every agent's own unknowns; nobody is worth anything to herself."""
        n = len(own)
        sizes = n - 1 if self.by_size else 1
        rows = [values.reshape(-1, n - 1, sizes) for values in own]
        found = np.zeros((len(rows[0]), n, n, sizes))
        for i, row in enumerate(rows):
            found[:, i, np.arange(n) != i] = row
        if self.by_size:
            return np.concatenate([np.zeros((*found.shape[:3], 2)), found], axis=3)
        return found[..., 0]

    def of_partners(self, amounts: FloatArray, agent: int, n_agents: int) -> FloatArray:
        """Return what each partner adds up to, shape (k, n), from amounts of the agent's own unknowns (k, d)."""
        k, d = amounts.shape
        tables = 1 if self.is_pooled else k
        by_unknown = amounts.reshape(k, tables, n_agents - 1, d // (tables * (n_agents - 1)))
        return np.insert(by_unknown.sum(axis=(1, 3)), agent, 0.0, axis=1)

    def features(self, joint_actions: BoolArray, agent: int) -> FloatArray:
        """Return x, which of the agent's own unknowns her total adds up in each joint action (b, n, k): (b, d)."""
        others, own = np.delete(joint_actions, agent, axis=1), joint_actions[:, agent]
        if self.is_pooled:  # whole numbers, and a loop over few of them is quicker than a sum over an axis
            return np.asarray(np.einsum("bjl,bl->bj", others.astype(np.float64), own.astype(np.float64)))
        together = (others & own[:, None]).transpose(0, 2, 1)
        return together.reshape(len(together), -1).astype(np.float64)

    def rooms(self, columns: FloatArray, agent: int) -> FloatArray:
        """Return the own unknowns' columns in each room, (k, d, r), from everybody's columns by coalition (n, k, r)."""
        others = np.delete(columns, agent, axis=0).transpose(1, 0, 2)
        if self.is_pooled:
            return np.asarray(others)
        k, partners, r = others.shape
        rooms = np.zeros((k, k, partners, r))
        rooms[np.arange(k), np.arange(k)] = others
        return rooms.reshape(k, k * partners, r)

    def labels(self, agents: Sequence[str], coalitions: Sequence[str], agent: int) -> list[tuple[str, str]]:
        """Return where (coalition, perhaps at a size) and with whom each of an agent's own unknowns is."""
        partners = [name for i, name in enumerate(agents) if i != agent]
        tables = ["any coalition"] if self.is_pooled else list(coalitions)
        sizes = [f" at size {s}" for s in range(2, len(agents) + 1)] if self.by_size else [""]
        return [(f"{table}{size}", partner) for table in tables for partner in partners for size in sizes]


def unknowns_of(*, by_size: bool, pooled: bool) -> Unknowns:
    """Return the way to read a log with one mean per pair: by coalition or pooled, by size or not."""
    if by_size:
        return PooledAware() if pooled else Aware()
    return Pooled() if pooled else SizeFree()


# --- One mean per pair and coalition, or per pair -----------------------------------------------------


class PairUnknowns(Unknowns):
    """One mean per pair, the same at all sizes: the coefficient of partner j in coalition l is p_j(l).

    Room values are then linear in the marginals, and quadratic forms of many profiles are matrix products.
    """

    is_linear = True

    @abstractmethod
    def batch(self, profiles: BoolArray, agents: IntArray) -> "PairBatch": ...

    @abstractmethod
    def form(self, weights: FloatArray, matrix: FloatArray) -> FloatArray:
        """Return Phi matrix Phi' of one agent's rooms, shape (k, k), from the partners' marginals (k, n - 1)."""

    @abstractmethod
    def gathered(self, terms: FloatArray) -> FloatArray:
        """Return coefficients of own unknowns, (b, tables, n - 1), from those of rooms and partners, (b, k, n - 1)."""


class PairBatch(BatchDesign):
    """Many pure profiles under `PairUnknowns`, with their quadratic forms."""

    def partners_of(self, agent: int) -> FloatArray:
        """Return the partners' memberships, shape (b, k, n - 1)."""
        return np.delete(self.joined, agent, axis=1).transpose(0, 2, 1)

    @abstractmethod
    def products(self, rows: FloatArray, matrix: FloatArray) -> FloatArray:
        """Return Phi matrix for every profile, shape (b, k, columns), from the partners' memberships."""

    @abstractmethod
    def _form(self, rows: FloatArray, half: FloatArray) -> FloatArray:
        """Return Phi matrix Phi' from Phi matrix, shape (b, k, k)."""

    def forms(self, matrices: Sequence[FloatArray]) -> FloatArray:
        """Return Phi matrix Phi' for every profile and agent, one matrix per agent, shape (b g, k, k)."""
        b, _, k = self.joined.shape
        forms = np.empty((b, len(self.agents), k, k))
        for t, i in enumerate(self.agents.tolist()):
            rows = self.partners_of(i)
            forms[:, t] = self._form(rows, self.products(rows, matrices[t]))
        return forms.reshape(-1, k, k)

    def _linear(self, values: FloatArray) -> FloatArray:
        return self._flat(pair_sums(values, self.joined, self.agents))


@dataclass(frozen=True)
class SizeFree(PairUnknowns):
    """One mean per pair and coalition."""

    name = "size-free"
    meaning = "what a pair gets on average does not depend on the size of its team"

    def at(self, marginals: FloatArray) -> "PairDesign":
        return PairDesign(marginals)

    def batch(self, profiles: BoolArray, agents: IntArray) -> "SizeFreeBatch":
        return SizeFreeBatch(profiles, agents)

    def form(self, weights: FloatArray, matrix: FloatArray) -> FloatArray:
        k, partners = weights.shape
        cells = matrix.reshape(k, partners, k, partners)
        return np.asarray(np.einsum("lj,ljmh,mh->lm", weights, cells, weights, optimize=True))

    def gathered(self, terms: FloatArray) -> FloatArray:
        return terms

    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        return _pair_means(values, spaces)


@dataclass(frozen=True, eq=False)
class PairDesign(StrategyDesign):
    """Unknowns d_ij^l in arrays (k, n, n): the coefficient of partner j in coalition l is p_j(l).

    With `factors` (k, n, n), it is p_j(l) factors[l, i, j].
    """

    marginals: FloatArray
    factors: FloatArray | None = None

    def _scaled(self, values: FloatArray, power: int = 1) -> FloatArray:
        return values if self.factors is None else values * self.factors**power

    def linear(self, values: FloatArray) -> FloatArray:
        return (self._scaled(values) @ _columns(self.marginals))[:, :, 0].T

    def quadratic(self, values: FloatArray) -> FloatArray:
        return (self._scaled(values, 2) @ _columns(self.marginals**2))[:, :, 0].T

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.abs(self._scaled(values) * self.marginals.T[:, None, :]).max(axis=2).T)

    def coefficients(self, agent: int) -> FloatArray:
        own = self.marginals.T if self.factors is None else self.marginals.T * self.factors[:, agent]
        phi = _each_its_own(own)
        phi[:, :, agent] = 0.0
        return phi


class SizeFreeBatch(PairBatch):
    """Many pure profiles of size-free games; a single move changes sums by a difference."""

    def quadratic(self, values: FloatArray) -> FloatArray:
        return self.linear(values)

    def largest(self, values: FloatArray) -> FloatArray:
        return self._flat(self._present(np.abs(values)).max(axis=3).transpose(0, 2, 1))

    def _present(self, values: FloatArray) -> FloatArray:
        """Return the values of the partners that are there, shape (b, k, g, n)."""
        return np.asarray(values[None, :, self.agents] * self.joined.transpose(0, 2, 1)[:, :, None])

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

    def products(self, rows: FloatArray, matrix: FloatArray) -> FloatArray:
        # Phi is block diagonal: a block per coalition.
        blocks = matrix.reshape(rows.shape[1], -1, matrix.shape[1])
        return np.asarray((rows.transpose(1, 0, 2) @ blocks).transpose(1, 0, 2))

    def _form(self, rows: FloatArray, half: FloatArray) -> FloatArray:
        b, k, _ = rows.shape
        return np.asarray(np.einsum("blmj,bmj->blm", half.reshape(b, k, k, -1), rows))

    def after_moves(self, movers: IntArray, actions: BoolArray, agents: IntArray) -> "SizeFreeMoves":
        return SizeFreeMoves(self, movers, actions, agents)


class SizeFreeMoves(SizeFreeBatch):
    """Size-free rooms under profiles that differ from `base` by one agent's move each: sums by difference."""

    def __init__(self, base: SizeFreeBatch, movers: IntArray, actions: BoolArray, agents: IntArray) -> None:
        profiles = np.repeat(base.profiles, len(movers), axis=0)
        profiles[np.arange(len(movers)), movers] = actions
        super().__init__(profiles, agents)
        self.base, self.movers = base, movers
        self.change = actions - base.joined[0, movers]

    def _of_movers(self, values: FloatArray) -> FloatArray:
        """Return what each mover means to each agent in each coalition, shape (b, g, k)."""
        return np.asarray(values.transpose(2, 1, 0)[self.movers[:, None], self.agents])

    def _linear(self, values: FloatArray) -> FloatArray:
        before = self.base.linear(values)[self.agents]
        return self._flat(before + self.change[:, None] * self._of_movers(values))

    def largest(self, values: FloatArray) -> FloatArray:
        first, second, place = self.base.leading(values)
        movers, agents = self.movers[:, None], self.agents
        others = np.where(place[agents] == movers[:, :, None], second[agents], first[agents])
        joins = self.joined[np.arange(len(self.movers)), self.movers][:, None]
        return self._flat(np.maximum(others, joins * self._of_movers(np.abs(values))))


@dataclass(frozen=True)
class Pooled(PairUnknowns):
    """One mean per pair: coalitions are interchangeable."""

    name = "pooled"
    meaning = "what a pair gets on average is the same in every team and at every size"
    is_pooled = True

    def at(self, marginals: FloatArray) -> "PooledDesign":
        return PooledDesign(marginals)

    def batch(self, profiles: BoolArray, agents: IntArray) -> "PooledBatch":
        return PooledBatch(profiles, agents)

    def form(self, weights: FloatArray, matrix: FloatArray) -> FloatArray:
        return np.asarray(weights @ matrix @ weights.T)

    def gathered(self, terms: FloatArray) -> FloatArray:
        return np.asarray(terms.sum(axis=1, keepdims=True))

    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        found = _pair_means(values, spaces)
        return {**found, "means": found["means"][0]}


@dataclass(frozen=True, eq=False)
class PooledDesign(StrategyDesign):
    """Unknowns d_ij in arrays (1, n, n), the same in every coalition."""

    marginals: FloatArray
    shares_unknowns = True

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(values[0] @ self.marginals)

    def quadratic(self, values: FloatArray) -> FloatArray:
        both = self.marginals[:, :, None] * self.marginals[:, None, :]
        return np.asarray(np.tensordot(values[0], both, axes=1))

    def largest(self, values: FloatArray) -> FloatArray:
        # Coalitions of one agent may meet the same partner, so all of them count together.
        together = np.abs(values[0] * self.marginals.sum(axis=1)[None, :]).max(axis=1)
        return np.repeat(together[:, None], self.marginals.shape[1], axis=1)

    def coefficients(self, agent: int) -> FloatArray:
        phi = self.marginals.T[:, None, :].copy()
        phi[:, :, agent] = 0.0
        return phi


class PooledBatch(PairBatch):
    """Many pure profiles whose coalitions share unknowns."""

    shares_unknowns = True

    def quadratic(self, values: FloatArray) -> FloatArray:
        b, n, k = self.joined.shape
        both = (self.joined[:, :, :, None] * self.joined[:, :, None, :]).reshape(b, n, k * k)
        return self._flat((values[0, self.agents] @ both).reshape(b, -1, k, k))

    def largest(self, values: FloatArray) -> FloatArray:
        met = self.joined.sum(axis=2)
        together = np.abs(values[0, self.agents] * met[:, None, :]).max(axis=2)
        return self._flat(np.repeat(together[:, :, None], self.joined.shape[2], axis=2))

    def products(self, rows: FloatArray, matrix: FloatArray) -> FloatArray:
        return np.asarray(rows @ matrix)

    def _form(self, rows: FloatArray, half: FloatArray) -> FloatArray:
        return np.asarray(half @ rows.transpose(0, 2, 1))


# --- One mean per pair and size -----------------------------------------------------------------------


@dataclass(frozen=True)
class Aware(Unknowns):
    """One mean per pair, coalition and size."""

    name = "aware"
    meaning = "what a pair gets on average may depend on the size of its team"
    by_size = True

    def at(self, marginals: FloatArray) -> "SizedDesign":
        return SizedDesign(marginals, _sized_coefficients(marginals))

    def design(self, strategy: Strategy) -> StrategyDesign:
        return PureSizedDesign(strategy.marginals) if strategy.is_pure else self.at(strategy.marginals)

    def batch(self, profiles: BoolArray, agents: IntArray) -> BatchDesign | None:
        return AwareBatch(profiles, agents)

    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        own = np.arange(values.shape[1])
        values[:, own, own] = 0.0
        table = np.repeat(values, spaces.n_coalitions // len(values), axis=0)
        symmetric = bool(np.array_equal(table[..., 2:], np.swapaxes(table[..., 2:], 1, 2)))
        return {"size_table": table, "symmetric": symmetric}


@dataclass(frozen=True, eq=False)
class SizedDesign(StrategyDesign):
    """Unknowns d_ij^l(s) in arrays (k, n, n, n + 1), with coefficients of the same shape."""

    marginals: FloatArray
    phi: FloatArray

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("lijs,lijs->il", self.phi, values))

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("lijs,lijs,lijs->il", self.phi, self.phi, values))

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray((self.phi * np.abs(values)).max(axis=(2, 3)).T)

    def coefficients(self, agent: int) -> FloatArray:
        return _each_its_own(self.phi[:, agent])


@dataclass(frozen=True, eq=False)
class PureSizedDesign(StrategyDesign):
    """The same unknowns under a pure strategy: only the size that each agent would find matters."""

    marginals: FloatArray

    @property
    def _size(self) -> FloatArray:
        joined = self.marginals.astype(np.int64)
        return np.asarray((joined.sum(axis=0) - joined + 1).T)  # (k, n): coalition l with agent i in it

    def _present(self, values: FloatArray) -> FloatArray:
        found = np.take_along_axis(values, self._size[:, :, None, None].astype(np.intp), axis=3)[..., 0]
        return np.asarray(found * self.marginals.T[:, None, :])

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(self._present(values).sum(axis=2).T)

    def quadratic(self, values: FloatArray) -> FloatArray:
        return self.linear(values)

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.abs(self._present(values)).max(axis=2).T)

    def coefficients(self, agent: int) -> FloatArray:
        n, k = self.marginals.shape
        phi, rooms = np.zeros((k, k, n, n + 1)), np.arange(k)
        phi[rooms, rooms, :, self._size[:, agent].astype(np.intp)] = self.marginals.T
        phi[:, :, agent] = 0.0
        return phi


class AwareBatch(BatchDesign):
    """Many pure profiles under size-aware unknowns."""

    def _linear(self, values: FloatArray) -> FloatArray:
        return self._flat(sums_at_sizes(values[:, self.agents], self._size.transpose(0, 2, 1), self.joined))

    def quadratic(self, values: FloatArray) -> FloatArray:
        return self.linear(values)

    def largest(self, values: FloatArray) -> FloatArray:
        rooms = np.arange(len(values))[:, None]
        found = np.abs(values)[rooms, self.agents[None, :], :, self._size.transpose(0, 2, 1)]
        present = found * self.joined.transpose(0, 2, 1)[:, :, None]
        return self._flat(present.max(axis=3).transpose(0, 2, 1))


@dataclass(frozen=True)
class PooledAware(Aware):
    """One mean per pair and size: coalitions are interchangeable."""

    name = "pooled-aware"
    meaning = "what a pair gets on average is the same in every team of the same size"
    is_pooled = True

    def at(self, marginals: FloatArray) -> "PooledSizedDesign":
        return PooledSizedDesign(marginals, _sized_coefficients(marginals))

    def design(self, strategy: Strategy) -> StrategyDesign:
        return self.at(strategy.marginals)

    def batch(self, profiles: BoolArray, agents: IntArray) -> None:
        del profiles, agents


@dataclass(frozen=True, eq=False)
class PooledSizedDesign(SizedDesign):
    """Unknowns d_ij(s) in arrays (1, n, n, n + 1), the same in every coalition."""

    shares_unknowns = True

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("lijs,ijs->il", self.phi, values[0]))

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("lijs,mijs,ijs->ilm", self.phi, self.phi, values[0]))

    def largest(self, values: FloatArray) -> FloatArray:
        together = (self.phi.sum(axis=0) * np.abs(values[0])).max(axis=(1, 2))
        return np.repeat(together[:, None], len(self.phi), axis=1)

    def coefficients(self, agent: int) -> FloatArray:
        return self.phi[:, None, agent].copy()


# --- Fewer unknowns that depend on size in a known way ------------------------------------------------


@dataclass(frozen=True, eq=False)
class KnownFactor(Unknowns):
    """One mean per pair and coalition, times a known factor of the size: utilities have mean g_l(s) d_ij^l."""

    factor: FloatArray
    """g, shape (k, n + 1)."""
    name = "factor"
    meaning = "what a pair gets on average depends on the size of its team through the declared factor only"
    averages_meetings = False

    def at(self, marginals: FloatArray) -> PairDesign:
        n, k = marginals.shape
        factors = np.empty((k, n, n))
        for l in range(k):
            p = marginals[:, l]
            factors[l] = leave_two_out_means(p, self.factor[l, 2:], leave_one_out(p))
        return PairDesign(marginals, factors)

    def moments(
        self,
        count: FloatArray,
        total: FloatArray,
        squares: FloatArray | None,
        *,
        symmetric: bool,
        repeats: FloatArray | None = None,
    ) -> Moments:
        """Return d^ = sum g v / sum g^2 (Hoeffding only).

        The error is sub-Gaussian with proxy r^2 / sum g^2, so sum g^2 takes the place of the count.
        """
        del squares, repeats
        if (self.factor < 0).any():
            raise InputError(f"size factor: expected numbers of at least 0, got {self.factor.min()}")
        weight = self.factor[:, None, None, :]
        information = (weight**2 * count).sum(axis=3)
        projected = (weight * total).sum(axis=3)
        mean = np.divide(projected, information, out=np.zeros_like(projected), where=information > 0)
        return Moments(information, mean, None, distinct_pairs(information, symmetric=symmetric))

    def rounded(self, bounds: Bounds) -> Bounds:
        # A rounding error of a utility moves d by up to 1 / g of itself, and g d by up to this much.
        used = self.factor[self.factor > 0]
        worst = float(used.max() / used.min()) if len(used) else 1.0
        return replace(bounds, rounding=bounds.rounding * worst)

    def exposure(self, design: Design, unseen: FloatArray) -> FloatArray:
        # A utility is g(s) d, and lies in the range as a whole: no factor here.
        return PairDesign(design.marginals).linear(unseen)

    def bounds(self, utilities: Bounds) -> Bounds:
        # The range holds for g(s) d, not for d itself.
        return Bounds(-np.inf, np.inf, utilities.half_range)

    def seen_in_rooms(self, count: FloatArray, n_coalitions: int) -> None:
        del count, n_coalitions  # the sum of g^2 stands there

    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        return {**_pair_means(values, spaces), "size_scale": self.factor}


@dataclass(frozen=True)
class Anonymous(Unknowns):
    """One mean per coalition and size, the same for all pairs."""

    name = "anonymous"
    meaning = "what a pair gets on average depends on its team and its size, not on the pair"
    averages_meetings = False

    def at(self, marginals: FloatArray) -> "AnonymousDesign":
        n, k = marginals.shape
        phi = np.zeros((n, k, n + 1))
        for l in range(k):
            phi[:, l, 1:] = leave_one_out(marginals[:, l]) * np.arange(n)
        return AnonymousDesign(marginals, phi)

    def moments(
        self,
        count: FloatArray,
        total: FloatArray,
        squares: FloatArray | None,
        *,
        symmetric: bool,
        repeats: FloatArray | None = None,
    ) -> Moments:
        """Return the moments of all pairs of a coalition together; a symmetric pair, there twice, counts once."""
        share = 0.5 if symmetric else 1.0
        counted, summed = (share * values.sum(axis=(1, 2)) for values in (count, total))
        squared = None if squares is None else share * squares.sum(axis=(1, 2))
        return Moments.from_sums(counted, summed, squared, events=int((counted > 0).sum()), repeats=repeats)

    def batch(self, profiles: BoolArray, agents: IntArray) -> "AnonymousBatch":
        return AnonymousBatch(profiles, agents)

    def by_partner(self, values: FloatArray, design: StrategyDesign, agent: int) -> FloatArray:
        # All partners of a room share its unknowns.
        rooms = (design.coefficients(agent) * values).sum(axis=(1, 2))
        share = rooms / np.maximum(design.partners[agent], 1e-300)
        others = np.where(np.arange(len(design.marginals)) == agent, 0.0, design.marginals.T)
        return np.asarray(share[:, None] * others)

    def seen_in_rooms(self, count: FloatArray, n_coalitions: int) -> None:
        del count, n_coalitions  # all pairs are counted together

    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        n, k = spaces.n_agents, spaces.n_coalitions
        return {"means": np.ones((k, n, n)) * ~np.eye(n, dtype=bool), "size_scale": values, "symmetric": True}


@dataclass(frozen=True, eq=False)
class AnonymousDesign(StrategyDesign):
    """Unknowns d^l(s) in arrays (k, n + 1): all pairs of a coalition share them."""

    marginals: FloatArray
    phi: FloatArray
    """Shape (n, k, n + 1)."""

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ils,ls->il", self.phi, values))

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ils,ils,ls->il", self.phi, self.phi, values))

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray((self.phi * np.abs(values)).max(axis=2))

    def coefficients(self, agent: int) -> FloatArray:
        return _each_its_own(self.phi[agent])


class AnonymousBatch(BatchDesign):
    """Many pure profiles under anonymous unknowns: only sizes matter."""

    def _by_size(self, values: FloatArray, power: int) -> FloatArray:
        rooms = np.arange(len(values))
        return self._flat(values[rooms, self._size] * (self._size - 1.0) ** power)

    def _linear(self, values: FloatArray) -> FloatArray:
        return self._by_size(values, 1)

    def quadratic(self, values: FloatArray) -> FloatArray:
        return self._by_size(values, 2)

    def largest(self, values: FloatArray) -> FloatArray:
        return self._by_size(np.abs(values), 1)


# --- Shared arithmetic --------------------------------------------------------------------------------


def _each_its_own(rooms: FloatArray) -> FloatArray:
    """Return coefficients (k, k, ...) in which each room (k, ...) weighs the unknowns of its own coalition alone."""
    k = len(rooms)
    phi = np.zeros((k, *rooms.shape))
    phi[np.arange(k), np.arange(k)] = rooms
    return phi


def _columns(weights: FloatArray) -> FloatArray:
    """Turn (n, k) weights into (k, n, 1) columns."""
    return weights.T[:, :, None]


def _sized_coefficients(marginals: FloatArray) -> FloatArray:
    """Return Pr[j in C_l and |C_l with i| = s] for independent agents, shape (k, n, n, n + 1)."""
    n, k = marginals.shape
    phi = np.zeros((k, n, n, n + 1))
    for l, p in enumerate(marginals.T):
        phi[l, ..., 2:] = p[:, None] * leave_two_out(p, leave_one_out(p))
        phi[l, range(n), range(n)] = 0.0
    return phi


def _pair_means(values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
    """Return means of pairs as arguments of `Game`; nobody is worth anything to herself."""
    own = np.arange(spaces.n_agents)
    values[:, own, own] = 0.0
    return {"means": values, "symmetric": bool(np.array_equal(values, np.swapaxes(values, 1, 2)))}
