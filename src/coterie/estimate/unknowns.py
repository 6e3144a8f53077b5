"""How a strategy weighs the unknowns: the coefficients of room values.

The room value W_i(l) of agent i in coalition l is a combination sum_e phi_e theta_e of unknown
means theta_e. Which unknowns there are depends on what the log is taken to show:

    size-free        theta = d_ij^l       phi = p_j(l)
    interchangeable  theta = d_ij         phi = p_j(l), for each l the same unknown
    size-aware       theta = d_ij^l(s)    phi = Pr[j in C_l and |C_l with i| = s]
    known factor g   theta = d_ij^l       phi = p_j(l) E[g_l(|C_l|) given i and j in C_l]
    both of these    theta = d_ij(s)      phi = Pr[j in C_l and |C_l with i| = s], l sharing unknowns
    anonymous        theta = d^l(s)       phi = (s - 1) Pr[|C_l with i| = s]

A `Design` holds these coefficients for one strategy. Every certificate is built from three sums
over them: linear, quadratic and largest.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from coterie.arrays import FloatArray
from coterie.game.sizes import leave_one_out, leave_two_out, leave_two_out_means
from coterie.game.strategy import Strategy


class Design(ABC):
    """Coefficients phi of all room values under one strategy."""

    marginals: FloatArray
    """The strategy's p_i(l), shape (n, k)."""

    shares_unknowns: bool = False
    """Whether different coalitions share unknowns, so that their errors do not add independently."""

    @abstractmethod
    def linear(self, values: FloatArray) -> FloatArray:
        """Return sum over e of phi_e values_e for every agent and coalition, shape (n, k)."""

    @abstractmethod
    def quadratic(self, values: FloatArray) -> FloatArray:
        """Return sum over e of phi_e^2 values_e, shape (n, k).

        Where coalitions share unknowns: sum of phi_e(l) phi_e(l') values_e, shape (n, k, k).
        """

    @abstractmethod
    def largest(self, values: FloatArray) -> FloatArray:
        """Return max over e of phi_e values_e for every agent and coalition, shape (n, k)."""

    @property
    def partners(self) -> FloatArray:
        """The expected number of partners in each room, shape (n, k)."""
        return np.asarray(self.marginals.sum(axis=0) - self.marginals)

    @abstractmethod
    def coefficients(self, agent: int) -> FloatArray:
        """Return phi of an agent's room values over her unknowns: first axis the k rooms, then unknowns."""


def _columns(weights: FloatArray) -> FloatArray:
    """Turn (n, k) weights into (k, n, 1) columns."""
    return weights.T[:, :, None]


@dataclass(frozen=True, eq=False)
class PairDesign(Design):
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
        n, k = self.marginals.shape
        phi, rooms = np.zeros((k, k, n)), np.arange(k)
        phi[rooms, rooms] = self.marginals.T if self.factors is None else self.marginals.T * self.factors[:, agent]
        phi[:, :, agent] = 0.0
        return phi


@dataclass(frozen=True, eq=False)
class PooledDesign(Design):
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


@dataclass(frozen=True, eq=False)
class SizedDesign(Design):
    """Unknowns d_ij^l(s) in arrays (k, n, n, n + 1), with coefficients of the same shape."""

    marginals: FloatArray
    phi: FloatArray

    @classmethod
    def of(cls, marginals: FloatArray) -> Self:
        """Return phi = Pr[j in C_l and |C_l with i| = s] for independent agents."""
        n, k = marginals.shape
        phi = np.zeros((k, n, n, n + 1))
        for l, p in enumerate(marginals.T):
            phi[l, ..., 2:] = p[:, None] * leave_two_out(p, leave_one_out(p))
            phi[l, range(n), range(n)] = 0.0
        return cls(marginals, phi)

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("lijs,lijs->il", self.phi, values))

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("lijs,lijs,lijs->il", self.phi, self.phi, values))

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray((self.phi * np.abs(values)).max(axis=(2, 3)).T)

    def coefficients(self, agent: int) -> FloatArray:
        k, n, _, sizes = self.phi.shape
        phi, rooms = np.zeros((k, k, n, sizes)), np.arange(k)
        phi[rooms, rooms] = self.phi[:, agent]
        return phi


@dataclass(frozen=True, eq=False)
class PureSizedDesign(Design):
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


@dataclass(frozen=True, eq=False)
class AnonymousDesign(Design):
    """Unknowns d^l(s) in arrays (k, n + 1): all pairs of a coalition share them."""

    marginals: FloatArray
    phi: FloatArray
    """Shape (n, k, n + 1)."""

    @classmethod
    def of(cls, marginals: FloatArray) -> "AnonymousDesign":
        """Return phi = (s - 1) Pr[|C_l with i| = s]."""
        n, k = marginals.shape
        phi = np.zeros((n, k, n + 1))
        for l in range(k):
            phi[:, l, 1:] = leave_one_out(marginals[:, l]) * np.arange(n)
        return cls(marginals, phi)

    def linear(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ils,ls->il", self.phi, values))

    def quadratic(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ils,ils,ls->il", self.phi, self.phi, values))

    def largest(self, values: FloatArray) -> FloatArray:
        return np.asarray((self.phi * np.abs(values)).max(axis=2))

    def coefficients(self, agent: int) -> FloatArray:
        _, k, sizes = self.phi.shape
        phi, rooms = np.zeros((k, k, sizes)), np.arange(k)
        phi[rooms, rooms] = self.phi[agent]
        return phi


Structure = Literal["size-free", "pooled", "aware", "pooled-aware", "factor", "anonymous"]
"""How unknowns relate to rooms, as in the table above."""


def design_of(structure: Structure, strategy: Strategy, factor: FloatArray | None = None) -> Design:
    """Return the coefficients with which a strategy weighs the unknowns of a structure."""
    p = strategy.marginals
    if structure == "size-free":
        return PairDesign(p)
    if structure == "pooled":
        return PooledDesign(p)
    if structure == "pooled-aware":
        return PooledSizedDesign.of(p)
    if structure == "anonymous":
        return AnonymousDesign.of(p)
    if structure == "factor":
        assert factor is not None
        return factored(p, factor)
    return PureSizedDesign(p) if strategy.is_pure else SizedDesign.of(p)


def directions(design: Design, agent: int) -> FloatArray:
    """Return an agent's room coefficients over her own unknowns in a row, shape (k, d).

    The order is that of the statistics: coalitions, then partners without herself, then sizes from 2 up.
    """
    return own_unknowns(design.coefficients(agent), agent)


def own_unknowns(values: FloatArray, agent: int) -> FloatArray:
    """Flatten values over (..., tables, n) or (..., tables, n, n + 1): first axis kept, herself left out."""
    others = np.arange(values.shape[2]) != agent
    kept = values[:, :, others]
    return (kept[..., 2:] if kept.ndim == 4 else kept).reshape(len(values), -1)


def factored(marginals: FloatArray, factor: FloatArray) -> PairDesign:
    """Return the design for a known size factor g_l(s), shape (k, n + 1)."""
    n, k = marginals.shape
    factors = np.empty((k, n, n))
    for l in range(k):
        p = marginals[:, l]
        factors[l] = leave_two_out_means(p, factor[l, 2:], leave_one_out(p))
    return PairDesign(marginals, factors)
