"""The coefficients of values: what assignments, and their differences, are worth to each person and to several.

With f(s) = 1 for totals and 1 / (s - 1) for averages, h has in a pure profile

    u_h = sum over coalitions l with h in C_l of f(|C_l|) sum over the other members j of d_hj^l,

a combination sum over e of c_e theta_e. The difference of two profiles is one combination too: coefficients of the
same unknown are netted, so what both have in common cancels, and its doubt with it. What is worth something to several
people together is one combination again, over the unknowns of all of them; where both orders of a pair are one unknown,
their coefficients are added before anything is squared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.estimate.step_design import StepDesign, factor, netted
from coterie.estimate.unknowns import Unknowns
from coterie.game.game import Value

Terms = Sequence[tuple[float, BoolArray]]
"""Profiles (n, k) with the factors that they count with: (1, after) and (-1, before) for a difference."""


@dataclass(frozen=True, eq=False)
class SumDesign(StepDesign):
    """One row over the unknowns of several agents; it has no owner."""

    agent: IntArray
    """Whose utility each coefficient is of."""

    def _of(self, values: FloatArray) -> FloatArray:
        table, partner, *size = self.cell
        return np.asarray(values[(table, self.agent, partner, *size)])

    @property
    def _is_looped(self) -> bool:
        return False

    def _coefficients_of(self, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        raise NotImplementedError("a sum over several agents is no combination of one agent's own unknowns")

    @property
    def own_places(self) -> IntArray:
        """The place of each unknown among those of its agent, see `coterie.estimate.design.directions`."""
        table, partner, *size = self.cell
        place = table * (self.n_agents - 1) + partner - (partner > self.agent)
        return np.asarray(place * (self.n_agents - 1) + size[0] - 2 if size else place)


def value_design(unknowns: Unknowns, terms: Terms, value: Value) -> StepDesign:
    """Return what a combination of pure profiles is worth to everybody, row i for agent i."""
    entries: list[tuple[IntArray, ...]] = []
    weights: list[FloatArray] = []
    n, k = terms[0][1].shape
    for sign, profile in terms:
        sizes = profile.sum(axis=0)
        for l in range(k):
            members = np.flatnonzero(profile[:, l])
            one, two = (side.ravel() for side in np.meshgrid(members, members, indexing="ij"))
            one, two = one[other := one != two], two[other]
            entries.append((one, np.full(len(one), l), two, np.full(len(one), sizes[l])))
            weights.append(np.full(len(one), sign * factor(sizes, value)[l]))
    found = tuple(np.concatenate(part) for part in zip(*entries, strict=True))
    return netted(unknowns, np.arange(n), found, np.concatenate(weights), (n, k))


def summed(people: StepDesign, counted: BoolArray, *, symmetric: bool) -> SumDesign:
    """Return the sum of the rows of those who are counted; where `symmetric`, both orders of a pair are one unknown."""
    kept = counted[people.owners[people.row]]
    agent, weight, coalition = people.owners[people.row[kept]], people.weight[kept], people.coalition[kept]
    table, partner, *size = (index[kept] for index in people.cell)
    if symmetric:
        agent, partner = np.minimum(agent, partner), np.maximum(agent, partner)
    n = people.n_agents
    key = ((table * n + agent) * n + partner) * (n + 1) + (size[0] if size else 0)
    _, first, where = np.unique(key, return_index=True, return_inverse=True)
    total = np.bincount(where, weight, minlength=len(first)).astype(np.float64)
    left = np.abs(total) > 1e-12
    first = first[left]
    cell = tuple(index[first] for index in (table, partner, *size))
    nowhere = np.zeros(len(first), dtype=np.int64)
    return SumDesign(np.array([-1]), nowhere, cell, total[left], coalition[first], n, people.tables, agent[first])


def rows_of(people: StepDesign, counted: BoolArray) -> StepDesign:
    """Return the rows of those who are counted."""
    return people[np.flatnonzero(counted[people.owners])]
