"""Sums over the coefficients of room values: all that bounds of gains ask of a strategy.

A room value is W_i(l) = sum over unknowns e of phi_e theta_e. A `Design` knows the phi of one strategy and returns
their linear and quadratic sums and their largest terms; a `BatchDesign` does so for many pure profiles at once, one
row per profile and agent. Which phi there are is the business of `coterie.estimate.unknowns`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray


class Design(ABC):
    """Coefficients phi of all room values, one row per agent (or per profile and agent)."""

    marginals: FloatArray
    """The rows' own p(l), shape (rows, k)."""

    owners: IntArray
    """The agent of each row, shape (rows,); of single strategies and of steps, not of many profiles."""

    shares_unknowns: ClassVar[bool] = False
    """Whether different coalitions share unknowns, so that their errors do not add independently."""

    @property
    @abstractmethod
    def partners(self) -> FloatArray:
        """The expected number of partners in each room, shape (rows, k)."""

    def row_directions(self, row: int) -> FloatArray:
        """Return a row's coefficients over its agent's own unknowns, shape (k, d), see `directions`."""
        raise NotImplementedError

    def rows_directions(self, rows: IntArray) -> FloatArray:
        """Return those of several rows, shape (rows, k, d)."""
        return np.stack([self.row_directions(row) for row in rows.tolist()])

    def used_directions(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Return which unknowns (u,) the rows of one agent have coefficients of, and these, shape (rows, k, u)."""
        found = self.rows_directions(rows)
        used = np.flatnonzero(found.any(axis=(0, 1)))
        return used, found[..., used]

    def rows_by_owner(self) -> Iterator[tuple[int, IntArray]]:
        """Yield every agent who has rows, and which they are."""
        for agent in np.unique(self.owners).tolist():
            yield agent, np.flatnonzero(self.owners == agent)

    @abstractmethod
    def linear(self, values: FloatArray) -> FloatArray:
        """Return sum over e of phi_e values_e for every row and coalition, shape (rows, k)."""

    @abstractmethod
    def quadratic(self, values: FloatArray) -> FloatArray:
        """Return sum over e of phi_e^2 values_e, shape (rows, k).

        Where coalitions share unknowns: sum of phi_e(l) phi_e(l') values_e, shape (rows, k, k).
        """

    @abstractmethod
    def largest(self, values: FloatArray) -> FloatArray:
        """Return max over e of |phi_e values_e| for every row and coalition, shape (rows, k)."""


class StrategyDesign(Design):
    """The coefficients under one strategy, pure or mixed: row i is agent i."""

    @property
    def partners(self) -> FloatArray:
        return np.asarray(self.marginals.sum(axis=0) - self.marginals)

    @cached_property
    def owners(self) -> IntArray:  # type: ignore[override]
        return np.arange(len(self.marginals))

    def row_directions(self, row: int) -> FloatArray:
        return own_unknowns(self.coefficients(row), row)

    @abstractmethod
    def coefficients(self, agent: int) -> FloatArray:
        """Return phi of an agent's room values over her unknowns: first axis the k rooms, then unknowns."""


class AveragedDesign(StrategyDesign):
    """The rooms of a pure strategy as averages over partners: coefficients are divided by their number."""

    def __init__(self, base: StrategyDesign) -> None:
        self.base, self.marginals = base, base.marginals
        self.shares_unknowns = base.shares_unknowns  # type: ignore[misc]
        self.factor = 1 / np.maximum(base.partners, 1.0)

    @property
    def partners(self) -> FloatArray:
        return np.asarray(self.base.partners * self.factor)

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.linear(values) * self.factor)

    def quadratic(self, values: FloatArray) -> FloatArray:
        found = self.base.quadratic(values)
        if found.ndim == 2:
            return np.asarray(found * self.factor**2)
        return np.asarray(found * self.factor[:, :, None] * self.factor[:, None, :])

    def largest(self, values: FloatArray) -> FloatArray:
        # Where coalitions share unknowns, all of an agent's count together.
        factor = self.factor.max(axis=1, keepdims=True) if self.shares_unknowns else self.factor
        return np.asarray(self.base.largest(values) * factor)

    def coefficients(self, agent: int) -> FloatArray:
        phi = self.base.coefficients(agent)
        return np.asarray(phi * self.factor[agent].reshape(-1, *[1] * (phi.ndim - 1)))


def directions(design: Design, row: int) -> FloatArray:
    """Return the room coefficients of a row (of a strategy: an agent) over the agent's own unknowns, shape (k, d).

    The order is that of the statistics: coalitions, then partners without herself, then sizes from 2 up.
    """
    return design.row_directions(row)


def own_unknowns(values: FloatArray, agent: int) -> FloatArray:
    """Flatten values over (..., tables, n) or (..., tables, n, n + 1): first axis kept, herself left out."""
    others = np.arange(values.shape[2]) != agent
    kept = values[:, :, others]
    return (kept[..., 2:] if kept.ndim == 4 else kept).reshape(len(values), -1)


class BatchDesign(Design):
    """The coefficients of some agents' rooms under many pure profiles.

    Bounds only ask for sums, row by row. So the rows of many profiles are put below each other, and one matrix
    product serves them all: this is what makes a search over profiles, and their enumeration, fast.

    Parameters
    ----------
    profiles
        Memberships, shape (b, n, k).
    agents
        The g agents whose rooms are asked for. Row r belongs to profile r // g and agent agents[r % g].
    """

    def __init__(self, profiles: BoolArray, agents: IntArray) -> None:
        self.profiles, self.agents = profiles, agents
        self.joined = profiles.astype(np.float64)
        self.marginals = self._flat(self.joined[:, agents])
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

    def linear(self, values: FloatArray) -> FloatArray:
        # Bounds ask for the same sums again; the arrays are kept, so that their identity stays theirs.
        if id(values) not in self._known:
            found = self._linear(values) if values.any() else np.zeros_like(self.marginals)
            self._known[id(values)] = values, found
        return self._known[id(values)][1]

    @abstractmethod
    def _linear(self, values: FloatArray) -> FloatArray:
        """Return the linear sums of values that are not all 0."""

    def after_moves(self, movers: IntArray, actions: BoolArray, agents: IntArray) -> "BatchDesign | None":
        """Return the design after each move from the one profile of this design, by differences.

        None where it is not quicker than to begin anew.
        """
        del movers, actions, agents
        return None


class MovedDesign(Design):
    """The rooms of agents after their own move: nobody's rooms depend on what she does herself.

    Row t has the sums of row `rows[t]` of `base`, and plays `own[t]`.
    """

    def __init__(self, base: BatchDesign, rows: IntArray, own: BoolArray) -> None:
        self.base, self.rows = base, rows
        self.marginals = own.astype(np.float64)
        self.shares_unknowns = base.shares_unknowns  # type: ignore[misc]

    @property
    def partners(self) -> FloatArray:
        return np.asarray(self.base.partners[self.rows])

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.linear(values)[self.rows])

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.quadratic(values)[self.rows])

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.base.largest(values)[self.rows])
