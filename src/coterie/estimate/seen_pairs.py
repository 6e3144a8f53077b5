"""The unknowns of many agents: those of pairs that were seen together, listed.

Of 10,000 agents hardly any two ever met, and arrays over all pairs do not fit. Values are then held for the pairs that
were seen alone, one number each, in the order of `keys`; all sums over partners are sums over listed pairs, and take
as long as there are such pairs. Of a room with P partners, Q of whom were seen with the agent, P - Q partners' worth of
utility was never observed: that is all that bounds need of the other pairs.

Nothing else changes: moments, intervals and widths are functions of single unknowns, whatever shape holds them, so
everything is equal to what `coterie.estimate.unknowns.SizeFree` and `Pooled` give where both can be had.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.estimate.design import Design, StrategyDesign
from coterie.estimate.intervals import Moments
from coterie.estimate.posterior import variance_of_values
from coterie.estimate.unknowns import Pooled, SizeFree, Unknowns
from coterie.game.actions import ActionSpaces
from coterie.game.means import SparseMeans
from coterie.game.strategy import Strategy
from coterie.statistics.pair_statistics import DENSE_AGENTS
from coterie.sums import places_in

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMS = 100_000_000
"""Where interchangeable coalitions overlap, up to so many agents x coalitions x coalitions can be looked at."""


@dataclass(frozen=True, eq=False)
class SeenPairs(Unknowns):
    """One mean per pair that was seen, by coalition, or for all of them where they are interchangeable."""

    keys: IntArray
    """(coalition, agent, partner) of each unknown, sorted; symmetric ones have agent < partner."""
    n_agents: int
    n_coalitions: int
    symmetric: bool
    is_pooled: bool = False  # type: ignore[misc]

    name = "seen pairs"
    is_listed = True

    @property
    def meaning(self) -> str:  # type: ignore[override]
        return (Pooled if self.is_pooled else SizeFree).meaning

    @cached_property
    def places(self) -> "tuple[csr_array, ...]":
        """One matrix per coalition that is told apart, whose entry (i, j) is the number of the unknown d_ij."""
        from scipy.sparse import coo_array

        matrices, ends = [], np.searchsorted(self.keys[:, 0], np.arange(self.n_tables + 1)).tolist()
        for first, end in pairwise(ends):
            i, j = self.keys[first:end, 1:].T
            number = np.arange(first, end)
            if self.symmetric:
                i, j, number = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([number, number])
            matrices.append(coo_array((number, (i, j)), shape=(self.n_agents, self.n_agents)).tocsr())
            matrices[-1].sort_indices()
        return tuple(matrices)

    @property
    def n_tables(self) -> int:
        """How many coalitions are told apart."""
        return 1 if self.is_pooled else self.n_coalitions

    def means(self, values: FloatArray) -> SparseMeans:
        """Return matrices of pairs with these values of the unknowns, and 0 for all others."""
        from scipy.sparse import csr_array

        matrices = (
            csr_array((values[place.data], place.indices, place.indptr), shape=place.shape) for place in self.places
        )
        return SparseMeans(tuple(matrices), self.n_coalitions)

    # --- Strategies ---------------------------------------------------------------------------------

    def at(self, marginals: FloatArray) -> "SeenDesign":
        return SeenDesign(self, marginals)

    def design(self, strategy: Strategy) -> StrategyDesign:
        if not strategy.is_pure:
            raise TooLargeError(
                f"of {self.n_agents} agents pure strategies can be judged, and this one is mixed; mixed ones of up to "
                f"{DENSE_AGENTS}"
            )
        return self.at(strategy.marginals)

    def exposure(self, design: Design, unseen: FloatArray) -> FloatArray:
        return np.asarray(design.partners - design.linear(np.ones_like(unseen)) + design.linear(unseen))

    # --- Games --------------------------------------------------------------------------------------

    def _described(self, values: FloatArray, spaces: ActionSpaces) -> dict[str, Any]:
        del spaces
        means = self.means(values)
        return {
            "means": SparseMeans.from_matrices(means.matrices, self.n_coalitions),
            "symmetric": True if self.symmetric else None,
        }

    # --- Single pairs -------------------------------------------------------------------------------

    def by_partner(self, values: FloatArray, design: StrategyDesign, agent: int) -> FloatArray:
        found = np.zeros((self.n_coalitions, self.n_agents))
        for table, place in enumerate(self.places):
            own = slice(*place.indptr[agent : agent + 2])
            partners, worth = place.indices[own], values[place.data[own]]
            rooms = slice(None) if self.is_pooled else table
            found[rooms, partners] = design.marginals[partners, rooms].T * worth
        return found

    def seen_in_rooms(self, count: FloatArray, n_coalitions: int) -> list[FloatArray] | None:
        del count, n_coalitions
        return None

    def never_listed(self, design: StrategyDesign, agent: int) -> FloatArray:
        there = design.marginals.T.copy()
        there[:, agent] = 0.0
        return np.asarray(there - self.by_partner(np.ones(len(self.keys)), design, agent))

    # --- What is for fewer agents --------------------------------------------------------------------

    def observed(self, joint_actions: BoolArray, times: Any) -> FloatArray:
        del joint_actions, times
        raise _only_for_fewer("what to observe next is planned", self.n_agents)

    def chances(self, marginals: FloatArray) -> FloatArray:
        del marginals
        raise _only_for_fewer("what to observe next is planned", self.n_agents)


def _only_for_fewer(what: str, n_agents: int) -> InputError:
    return TooLargeError(
        f"{what} for up to {DENSE_AGENTS} agents, this log has {n_agents}; a part of it, such as a department, may be "
        "small enough"
    )


@dataclass(frozen=True, eq=False)
class SeenDesign(StrategyDesign):
    """Sums over the listed pairs: the coefficient of partner j in coalition l is p_j(l)."""

    unknowns: SeenPairs
    marginals: FloatArray

    @cached_property
    def shares_unknowns(self) -> bool:  # type: ignore[override]
        """Whether somebody's rooms may hold the same partner twice: not where everybody is in one of them."""
        return self.unknowns.is_pooled and bool((np.count_nonzero(self.marginals, axis=1) > 1).any())

    def linear(self, values: FloatArray) -> FloatArray:
        return self.unknowns.means(values).room_sums(self.marginals)

    def quadratic(self, values: FloatArray) -> FloatArray:
        means, p = self.unknowns.means(values), self.marginals
        if not self.shares_unknowns:
            return means.room_sums(p**2)
        n, k = p.shape
        if n * k * k > FORMS:
            raise TooLargeError(
                f"teams that overlap, of {n} agents in {k} interchangeable coalitions, are too many to judge: up to "
                f"{int((FORMS / n) ** 0.5)} coalitions can be, or any number if everybody is in one"
            )
        return np.stack([means.room_sums(p * p[:, [l]]) for l in range(k)], axis=1)

    def largest(self, values: FloatArray) -> FloatArray:
        n, k = self.marginals.shape
        found = np.zeros((n, k))
        for table, matrix in enumerate(self.unknowns.means(np.abs(values)).matrices):
            agent = np.repeat(np.arange(n), np.diff(matrix.indptr))
            if not self.unknowns.is_pooled:
                np.maximum.at(found[:, table], agent, matrix.data * self.marginals[matrix.indices, table])
            elif self.shares_unknowns:  # all rooms together, as one partner may be in several
                together = np.zeros(n)
                np.maximum.at(together, agent, matrix.data * self.marginals.sum(axis=1)[matrix.indices])
                found[:] = together[:, None]
            else:
                room = self.marginals.argmax(axis=1)[matrix.indices]
                np.maximum.at(found, (agent, room), matrix.data * self.marginals[matrix.indices, room])
        return found

    @cached_property
    def rooms(self) -> tuple[IntArray, IntArray]:
        """The unknowns of each agent's rooms in a pure profile, where no two rooms share any.

        Those of agent i in room l are the entries from starts[i k + l] up to starts[i k + l + 1] of the list.
        """
        assert not self.shares_unknowns
        n, k = self.marginals.shape
        where, unknown = [], []
        for table, place in enumerate(self.unknowns.places):
            agent = np.repeat(np.arange(n), np.diff(place.indptr))
            room = self.marginals.argmax(axis=1)[place.indices] if self.unknowns.is_pooled else table
            there = self.marginals[place.indices, room] > 0
            where.append((agent * k + room)[there])
            unknown.append(place.data[there])
        every = np.concatenate(where)
        order = np.argsort(every, kind="stable")
        starts = np.searchsorted(every[order], np.arange(n * k + 1))
        return starts, np.concatenate(unknown)[order].astype(np.int64)

    def coefficients(self, agent: int) -> FloatArray:
        own = [slice(*place.indptr[agent : agent + 2]) for place in self.unknowns.places]
        parts = [place.indices[one] for place, one in zip(self.unknowns.places, own, strict=True)]
        if self.unknowns.is_pooled:
            return np.asarray(self.marginals[parts[0]].T)
        ends = np.cumsum([0, *map(len, parts)])
        phi = np.zeros((len(parts), int(ends[-1])))
        for l, partners in enumerate(parts):
            phi[l, ends[l] : ends[l + 1]] = self.marginals[partners, l]
        return phi

    def row_directions(self, row: int) -> FloatArray:
        return self.coefficients(row)


def listed_as(values: FloatArray, theirs: Unknowns, ours: Unknowns) -> FloatArray:
    """Return values of one list of unknowns in the order of another, 0 for what it does not have.

    Arrays over all pairs are in the same order anyway.
    """
    if not isinstance(ours, SeenPairs) or not isinstance(theirs, SeenPairs) or ours.keys is theirs.keys:
        return values
    place, known = places_in(theirs.keys, ours.keys)
    return np.where(known, values[place], 0.0) if len(values) else np.zeros(len(place))


def drawn_together(moments: Moments, half_range: float) -> FloatArray:
    """Return what each listed mean is expected to be: drawn to the average of all, by as much as it may be chance.

    m + t (mean - m) with t = T / (T + v / N): v / N the variance of a mean, T that of means among each other, which is
    what observed means vary by less what chance makes them vary by.
    """
    seen = moments.count > 0
    if not seen.any():
        return np.zeros_like(moments.mean)
    noise = variance_of_values(moments, half_range)[seen] / moments.count[seen]
    mean = moments.mean[seen]
    weight = 1 / (noise + max(float(mean.var()), 1e-300))
    middle = float(np.average(mean, weights=weight))
    spread = max(float(np.average((mean - middle) ** 2 - noise, weights=weight)), 0.0)
    found = np.zeros_like(moments.mean)
    found[seen] = middle + np.divide(spread, spread + noise, out=np.ones_like(noise), where=noise > 0) * (mean - middle)
    return found
