"""Integer sums by key, held sparsely, and packed symmetric matrices: what all statistics are made of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from coterie.arrays import IntArray

ROOM = 8
"""Keys are sorted by counting where there are at most so many possible keys for each one given."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Row t says that the key `keys[t]` has the sums `values[t]`; keys are sorted and distinct."""

    keys: IntArray
    values: IntArray

    @classmethod
    def collect(cls, keys: IntArray, values: IntArray) -> Self:
        """Add up the values of equal keys, given in any order."""
        if not len(keys):
            return cls(keys.astype(np.int64), values.astype(np.int64))
        extents = [int(column.max()) + 1 for column in keys.T]
        possible = math.prod(extents)
        if possible <= ROOM * len(keys):
            return cls(*_counted(_single_key(keys, extents), extents, values))
        order = np.argsort(_single_key(keys, extents)) if possible < 2**63 else np.lexsort(keys.T[::-1])
        keys, values = keys[order], values[order]
        first = np.ones(len(keys), dtype=bool)
        first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        return cls(keys[first].astype(np.int64), np.add.reduceat(values, np.flatnonzero(first)).astype(np.int64))

    def __add__(self, other: "Sums") -> "Sums":
        return Sums.collect(np.concatenate([self.keys, other.keys]), np.concatenate([self.values, other.values]))

    def relabelled(self, maps: Sequence[IntArray | None]) -> "Sums":
        """Return the sums with the numbers in each key column replaced through a map, None leaving them."""
        columns = [column if table is None else table[column] for column, table in zip(self.keys.T, maps, strict=True)]
        return Sums.collect(np.stack(columns, axis=1), self.values)


def _single_key(keys: IntArray, extents: Sequence[int]) -> IntArray:
    """Return one number per key that sorts like it, which is quicker than sorting by columns."""
    result = np.zeros(len(keys), dtype=np.int64)
    for column, extent in zip(keys.T, extents, strict=True):
        result = result * extent + column
    return result


def _counted(single: IntArray, extents: Sequence[int], values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct keys in order and the sums of their values, without sorting."""
    seen = np.zeros(math.prod(extents), dtype=bool)
    seen[single] = True
    found = np.flatnonzero(seen)
    rows = (np.cumsum(seen) - 1)[single]
    sums = np.zeros((values.shape[1], len(found)), dtype=np.int64)
    for column, terms in zip(sums, values.T, strict=True):  # one by one: NumPy is slow with whole rows
        np.add.at(column, rows, terms)
    return np.stack(np.unravel_index(found, extents)).T, sums.T


def carried(high: IntArray, low: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Return a sum high 2^bits + low with 0 <= low < 2^bits: equal sums are then held alike."""
    return high + (low >> bits), low & ((1 << bits) - 1)


def packed_length(dimension: int) -> int:
    """Return how many entries the upper triangle of a square matrix has."""
    return dimension * (dimension + 1) // 2


def packed_positions(rows: IntArray, columns: IntArray, block: int, dimension: int) -> IntArray:
    """Return where entries (row <= column) of a symmetric matrix are in its packed form.

    The matrix consists of square blocks, one for each two coalitions, and the packed form holds
    them one after the other: first the upper triangles of the diagonal ones, then those above the
    diagonal. Where nobody joins two coalitions at once, the latter are never touched, and the
    operating system never provides memory for them.
    """
    tables = dimension // max(block, 1)
    l, place = np.divmod(rows, max(block, 1))
    m, other = np.divmod(columns, max(block, 1))
    inside = l * packed_length(block) + place * block - place * (place - 1) // 2 + other - place
    pair = l * tables - l * (l + 1) // 2 + m - l - 1
    across = tables * packed_length(block) + pair * block**2 + place * block + other
    return np.asarray(np.where(l == m, inside, across), dtype=np.int64)


def unpacked(packed: IntArray, block: int, dimension: int) -> IntArray:
    """Return the symmetric matrix with the given packed form."""
    matrix = np.zeros((dimension, dimension), dtype=packed.dtype)
    rows, columns = np.triu_indices(dimension)
    matrix[rows, columns] = packed[packed_positions(rows, columns, block, dimension)]
    matrix[columns, rows] = matrix[rows, columns]
    return matrix


def embedded(matrix: IntArray, positions: IntArray, block: int, dimension: int) -> IntArray:
    """Return the packed form of a larger matrix with the entries of a smaller one at `positions`."""
    rows, columns = np.triu_indices(len(positions))
    first, second = positions[rows], positions[columns]
    where = packed_positions(np.minimum(first, second), np.maximum(first, second), block, dimension)
    result = np.zeros(packed_length(dimension), dtype=matrix.dtype)
    result[where] = matrix[rows, columns]
    return result
