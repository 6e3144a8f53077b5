"""Integer sums by key, held sparsely, and packed symmetric matrices: what all statistics are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from coterie.arrays import FloatArray, IntArray


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
        order = np.lexsort(keys.T[::-1])
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


def packed_length(dimension: int) -> int:
    """Return how many entries the upper triangle of a square matrix has."""
    return dimension * (dimension + 1) // 2


def unpacked(packed: IntArray, dimension: int) -> IntArray:
    """Return the symmetric matrix whose upper triangle is given row by row."""
    matrix = np.zeros((dimension, dimension), dtype=packed.dtype)
    rows, columns = np.triu_indices(dimension)
    matrix[rows, columns] = packed
    matrix[columns, rows] = packed
    return matrix


def embedded(packed: IntArray, positions: IntArray, dimension: int) -> IntArray:
    """Return a packed matrix of a larger dimension with the entries of a smaller one at `positions`."""
    rows, columns = np.triu_indices(len(positions))
    rows, columns = positions[rows], positions[columns]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    result = np.zeros(packed_length(dimension), dtype=packed.dtype)
    result[low * dimension - low * (low - 1) // 2 + high - low] = packed
    return result


def divided(numerator: FloatArray | IntArray, denominator: IntArray) -> FloatArray:
    """Return the quotient, 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(numerator)), where=np.asarray(denominator) > 0)
