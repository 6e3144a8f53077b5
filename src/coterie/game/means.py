"""Matrices of mean pair utilities, one per coalition: dense, sparse, or one for all coalitions.

`d[l, i, j]` is what agent i gets on average from agent j when both are in coalition l.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEW = 0.2
"""Below this share of weights that are not 0, only these are multiplied with."""


class PairMeans(ABC):
    """Mean utilities of ordered pairs in each coalition; a game checks that the diagonal is 0."""

    n_agents: int
    n_coalitions: int
    is_shared: bool
    """Whether one matrix is held for all coalitions."""

    @abstractmethod
    def room_sums(self, weights: FloatArray) -> FloatArray:
        """Return sum over j of d[l, i, j] weights[j, l], shape (n, k) over i and l."""

    @abstractmethod
    def stacked_room_sums(self, weights: FloatArray, agents: IntArray | None = None) -> FloatArray:
        """Return the same for many weights (b, n, k) and some agents i (by default all), shape (b, g, k).

        Agents are numbers, in increasing order.
        """

    @abstractmethod
    def form(self, coalition: int, weights: FloatArray) -> float:
        """Return sum over i and j of weights[i] d[l, i, j] weights[j] for one coalition."""

    @abstractmethod
    def weighted_room_sums(self, coalition: int, weights: FloatArray, factors: FloatArray) -> FloatArray:
        """Return sum over j of d[l, i, j] factors[i, j] weights[j] for one coalition, shape (n,)."""

    @abstractmethod
    def matrix(self, coalition: int) -> FloatArray:
        """Return one coalition's dense (n, n) matrix."""

    @abstractmethod
    def between(self, agents: IntArray, partners: IntArray) -> FloatArray:
        """Return d[l, i, j] of pairs (i, j) in every coalition, shape (pairs, k)."""

    def between_in(self, coalitions: IntArray, agents: IntArray, partners: IntArray) -> FloatArray:
        """Return d[l, i, j] of pairs (i, j), each in one coalition l, shape (pairs,)."""
        return np.asarray(self.between(agents, partners)[np.arange(len(agents)), coalitions])

    @abstractmethod
    def largest(self) -> float:
        """Return the largest absolute mean."""

    @abstractmethod
    def first_asymmetry(self) -> tuple[int, int, int] | None:
        """Return a (coalition, i, j) with d_ij != d_ji, if there is one."""

    @abstractmethod
    def first_self_utility(self) -> tuple[int, int, float] | None:
        """Return a (coalition, i, d_ii) with d_ii != 0, if there is one."""

    @abstractmethod
    def first_difference(self) -> int | None:
        """Return a coalition whose matrix is not that of the first one, if there is one."""

    @abstractmethod
    def common_value(self, coalition: int) -> float | None:
        """Return the mean that all pairs of the coalition share, if they do."""


class Listed(NamedTuple):
    """The pairs of all agents: those of agent i are the entries from `starts[i]` up to `starts[i + 1]`."""

    starts: IntArray
    table: "np.ndarray[Any, np.dtype[np.int32]]"
    """The coalition of each entry; 0 where one matrix is for all."""
    partner: "np.ndarray[Any, np.dtype[np.int32]]"
    value: FloatArray


def _off_diagonal(n: int) -> Any:
    return ~np.eye(n, dtype=bool)


@dataclass(frozen=True, eq=False)
class DenseMeans(PairMeans):
    """Means as one array of shape (k, n, n), or (1, n, n) where coalitions are interchangeable."""

    values: FloatArray
    n_coalitions: int

    def __post_init__(self) -> None:
        if self.values.ndim != 3 or self.values.shape[1] != self.values.shape[2]:
            raise InputError(f"means: expected shape (coalitions, agents, agents), got {self.values.shape}")

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return int(self.values.shape[1])

    @property
    def is_shared(self) -> bool:  # type: ignore[override]
        return len(self.values) == 1

    def room_sums(self, weights: FloatArray) -> FloatArray:
        # (n, k) -> (k, n, 1), so that one matrix product serves every coalition.
        return np.asarray((self.values @ weights.T[..., None])[..., 0].T)

    def stacked_room_sums(self, weights: FloatArray, agents: IntArray | None = None) -> FloatArray:
        return pair_sums(self.values, weights, agents)

    def form(self, coalition: int, weights: FloatArray) -> float:
        return float(weights @ self.matrix(coalition) @ weights)

    def follow(self, sums: FloatArray, profile: BoolArray, agent: int, coalition: int) -> None:
        """Bring the room sums of a pure profile up to date after one agent has joined or left one coalition."""
        sums[:, coalition] += (1 if profile[agent, coalition] else -1) * self.matrix(coalition)[:, agent]

    def weighted_room_sums(self, coalition: int, weights: FloatArray, factors: FloatArray) -> FloatArray:
        return np.asarray((self.matrix(coalition) * factors) @ weights)

    def matrix(self, coalition: int) -> FloatArray:
        return np.asarray(self.values[0 if self.is_shared else coalition])

    def between(self, agents: IntArray, partners: IntArray) -> FloatArray:
        found = self.values[:, agents, partners].T
        return np.broadcast_to(found, (len(agents), self.n_coalitions))

    def between_in(self, coalitions: IntArray, agents: IntArray, partners: IntArray) -> FloatArray:
        return np.asarray(self.values[0 if self.is_shared else coalitions, agents, partners])

    def largest(self) -> float:
        return float(max(self.values.max(initial=0.0), -self.values.min(initial=0.0)))

    def first_asymmetry(self) -> tuple[int, int, int] | None:
        different = np.argwhere(self.values != np.swapaxes(self.values, 1, 2))
        return tuple(int(index) for index in different[0]) if len(different) else None  # type: ignore[return-value]

    def first_self_utility(self) -> tuple[int, int, float] | None:
        found = np.argwhere(np.diagonal(self.values, axis1=1, axis2=2) != 0)
        if not len(found):
            return None
        l, i = (int(index) for index in found[0])
        return l, i, float(self.values[l, i, i])

    def first_difference(self) -> int | None:
        return next((l for l in range(1, len(self.values)) if (self.values[l] != self.values[0]).any()), None)

    def common_value(self, coalition: int) -> float | None:
        values = self.matrix(coalition)[_off_diagonal(self.n_agents)]
        return float(values[0]) if len(values) and np.ptp(values) == 0 else None


@dataclass(frozen=True, eq=False)
class SparseMeans(PairMeans):
    """Means of the listed pairs, all others 0: one sparse matrix per coalition, or one for all."""

    matrices: tuple["csr_array", ...]
    n_coalitions: int

    @classmethod
    def from_matrices(cls, matrices: Sequence[Any], n_coalitions: int) -> "SparseMeans":
        """Take any SciPy sparse matrices; they are copied."""
        from scipy.sparse import csr_array  # here, since most games are dense and SciPy is slow to import

        taken = tuple(csr_array(matrix, dtype=np.float64, copy=True) for matrix in matrices)
        for l, matrix in enumerate(taken, start=1):
            if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape != taken[0].shape:
                raise InputError(f"means, matrix {l}: expected a square matrix, got shape {matrix.shape}")
            checks.finite(matrix.data, f"means, matrix {l}")
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            for array in (matrix.data, matrix.indices, matrix.indptr):
                array.setflags(write=False)
        return cls(taken, n_coalitions)

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return int(self.matrices[0].shape[0])

    def largest(self) -> float:
        return max(float(np.abs(matrix.data).max(initial=0.0)) for matrix in self.matrices)

    @property
    def is_shared(self) -> bool:  # type: ignore[override]
        return len(self.matrices) == 1

    def _of(self, coalition: int) -> "csr_array":
        return self.matrices[0 if self.is_shared else coalition]

    def room_sums(self, weights: FloatArray) -> FloatArray:
        return self.some_room_sums(weights, slice(None))

    def some_room_sums(self, weights: FloatArray | BoolArray, agents: slice) -> FloatArray:
        """Return the room sums of some agents i, shape (g, k), of which few need be made at a time."""
        if self.is_shared:
            from scipy.sparse import csr_array

            here = _rows(self.matrices[0], agents)
            few = np.count_nonzero(weights) < FEW * weights.size
            return np.asarray((here @ csr_array(weights, dtype=np.float64)).toarray() if few else here @ weights)
        sums = np.empty((len(range(*agents.indices(self.n_agents))), self.n_coalitions))
        for l in range(self.n_coalitions):
            sums[:, l] = _rows(self._of(l), agents) @ weights[:, l].astype(np.float64, copy=False)
        return sums

    def row_sums(self, profile: BoolArray, agent: int) -> FloatArray:
        """Return one agent's row of the room sums of a pure profile, shape (k,)."""
        own = slice(*self.listed.starts[agent : agent + 2])
        partners, values = self.listed.partner[own], self.listed.value[own]
        if self.is_shared:
            there, rooms = np.nonzero(profile[partners])
            return np.bincount(rooms, values[there], minlength=self.n_coalitions).astype(np.float64)
        tables = self.listed.table[own]
        return np.bincount(tables, values * profile[partners, tables], minlength=self.n_coalitions).astype(np.float64)

    @cached_property
    def listed(self) -> "Listed":
        """Every agent's pairs in a row."""
        if self.is_shared:
            (one,) = self.matrices
            table = np.zeros(one.nnz, dtype=np.int32)
            return Listed(one.indptr.astype(np.int64), table, one.indices.astype(np.int32), one.data)
        by_table = [matrix.tocoo() for matrix in self.matrices]
        agent = np.concatenate([matrix.row for matrix in by_table])
        order = np.argsort(agent, kind="stable")
        table = np.repeat(np.arange(len(by_table), dtype=np.int32), [matrix.nnz for matrix in by_table])
        return Listed(
            np.searchsorted(agent[order], np.arange(self.n_agents + 1)),
            table[order],
            np.concatenate([matrix.col for matrix in by_table])[order].astype(np.int32),
            np.concatenate([matrix.data for matrix in by_table])[order],
        )

    def form(self, coalition: int, weights: FloatArray) -> float:
        inside = np.flatnonzero(weights)  # few of many agents, as a rule
        return float(weights[inside] @ (self._of(coalition)[inside] @ weights)) if len(inside) else 0.0

    def stacked_room_sums(self, weights: FloatArray, agents: IntArray | None = None) -> FloatArray:
        chosen = [matrix if agents is None else matrix[agents] for matrix in self.matrices]
        table = [0 if self.is_shared else l for l in range(self.n_coalitions)]
        return np.stack([(chosen[t] @ weights[:, :, l].T).T for l, t in enumerate(table)], axis=-1)

    def weighted_room_sums(self, coalition: int, weights: FloatArray, factors: FloatArray) -> FloatArray:
        pairs = self._of(coalition).tocoo()
        terms = pairs.data * factors[pairs.row, pairs.col] * weights[pairs.col]
        return np.bincount(pairs.row, terms, minlength=self.n_agents).astype(np.float64)

    def matrix(self, coalition: int) -> FloatArray:
        return np.asarray(self._of(coalition).toarray())

    def between(self, agents: IntArray, partners: IntArray) -> FloatArray:
        found = np.stack([np.asarray(matrix[agents, partners]).ravel() for matrix in self.matrices], axis=1)
        return np.broadcast_to(found, (len(agents), self.n_coalitions))

    def first_asymmetry(self) -> tuple[int, int, int] | None:
        for l, matrix in enumerate(self.matrices):
            different = (matrix - matrix.T).tocoo()
            for i, j, value in zip(different.row, different.col, different.data, strict=True):
                if value != 0:
                    return l, int(i), int(j)
        return None

    def first_self_utility(self) -> tuple[int, int, float] | None:
        for l, matrix in enumerate(self.matrices):
            diagonal = matrix.diagonal()
            if diagonal.any():
                i = int(np.flatnonzero(diagonal)[0])
                return l, i, float(diagonal[i])
        return None

    def first_difference(self) -> int | None:
        first, *others = self.matrices
        return next((l for l, matrix in enumerate(others, start=1) if abs(matrix - first).max() > 0), None)

    def common_value(self, coalition: int) -> float | None:
        matrix = self._of(coalition)
        if matrix.nnz == 0:
            return 0.0
        all_listed = matrix.nnz == self.n_agents * (self.n_agents - 1)
        return float(matrix.data[0]) if all_listed and np.ptp(matrix.data) == 0 else None


def _rows(matrix: "csr_array", agents: slice) -> "csr_array":
    """Return some rows; all of them without the copy that SciPy makes."""
    return matrix if agents == slice(None) else matrix[agents]


def pair_sums(values: FloatArray, weights: FloatArray, agents: IntArray | None = None) -> FloatArray:
    """Return sum over j of values[l, i, j] weights[b, j, l] for some agents i (by default all), shape (b, g, k).

    `values` is (k, n, n), or (1, n, n) for all coalitions together. Agents are numbers, in increasing order.
    """
    chosen = values if agents is None or len(agents) == values.shape[1] else values[:, agents]  # (k, g, n)
    if len(values) == 1:
        return np.asarray(chosen[0] @ weights)
    return np.asarray((weights.transpose(2, 0, 1) @ np.swapaxes(chosen, 1, 2)).transpose(1, 2, 0))


def pair_means(means: Any, n_coalitions: int | None = None) -> PairMeans:
    """Return means from an array (k, n, n) or (n, n), a sparse matrix, or a list of sparse matrices.

    One (n, n) matrix means interchangeable coalitions, of which `n_coalitions` says how many.
    """
    if isinstance(means, PairMeans):
        return means
    is_sparse = hasattr(means, "tocsr")
    if is_sparse or (isinstance(means, Sequence) and means and all(hasattr(matrix, "tocsr") for matrix in means)):
        listed = [means] if is_sparse else list(means)
        return SparseMeans.from_matrices(listed, _count(len(listed), n_coalitions, shared=is_sparse))
    array = checks.frozen(means, "means")
    shared = array.ndim == 2
    array = array[None] if shared else array
    return DenseMeans(array, _count(len(array), n_coalitions, shared=shared))


def _count(matrices: int, n_coalitions: int | None, *, shared: bool) -> int:
    if shared and n_coalitions is None:
        raise InputError("means: one matrix for all coalitions needs n_coalitions (or coalition names)")
    if not shared and n_coalitions not in {None, matrices}:
        raise InputError(f"means: expected {n_coalitions} matrices, one per coalition, got {matrices}")
    return checks.whole(n_coalitions if shared else matrices, "number of coalitions", 1)
