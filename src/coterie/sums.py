"""Integer sums by key, held sparsely: what all statistics are made of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Self

import numpy as np

from coterie.arrays import BoolArray, IntArray
from coterie.errors import InputError

ROOM = 8
"""Keys are sorted by counting where there are at most so many possible keys for each one given."""

RUNS = 8
"""Fewer ascending runs than this are merged rather than sorted."""

TOO_MANY = "these statistics cannot be added: there are too many rows for sums of 64 bits"


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
        if possible < 2**63:
            return cls(*_sorted(_single_key(keys, extents), extents, values))
        order = np.lexsort(keys.T[::-1])
        keys, values = keys[order], values[order]
        first = np.ones(len(keys), dtype=bool)
        first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        return cls(keys[first].astype(np.int64), np.add.reduceat(values, np.flatnonzero(first)).astype(np.int64))

    @classmethod
    def collect_each(cls, group: IntArray, count: int, keys: IntArray, values: IntArray) -> list[Self]:
        """Do so for each of the groups 0, ..., count - 1 on its own."""
        if count == 1:
            return [cls.collect(keys, values)]
        found = cls.collect(np.column_stack([group, keys]), values)
        ends = np.searchsorted(found.keys[:, 0], np.arange(count + 1))
        return [cls(found.keys[a:b, 1:], found.values[a:b]) for a, b in pairwise(ends)]

    def __add__(self, other: "Sums") -> "Sums":
        refuse_overflow(self.values, other.values)
        return Sums.collect(np.concatenate([self.keys, other.keys]), np.concatenate([self.values, other.values]))

    def times(self, factor: int) -> "Sums":
        """Return the sums of everything so many times."""
        return Sums(self.keys, multiplied(self.values, factor))

    def relabelled(self, maps: Sequence[IntArray | None]) -> "Sums":
        """Return the sums with the numbers in each key column replaced through a map, None leaving them."""
        columns = [column if table is None else table[column] for column, table in zip(self.keys.T, maps, strict=True)]
        return Sums.collect(np.stack(columns, axis=1), self.values)


def added(ours: IntArray, theirs: IntArray) -> IntArray:
    """Return the sums of two arrays of whole numbers, if 64 bits hold them."""
    refuse_overflow(ours, theirs)
    return ours + theirs


@dataclass(frozen=True, eq=False)
class AddedRows:
    """The sum of several arrays of whole numbers, added row by row when it is asked for: it is not kept."""

    terms: tuple[IntArray, ...]

    def __getitem__(self, row: int) -> IntArray:
        return reduce(added, (term[row] for term in self.terms))

    def whole(self) -> IntArray:
        """Return all rows."""
        return reduce(added, self.terms)


def multiplied(values: IntArray, factor: int) -> IntArray:
    """Return whole numbers times another, if 64 bits hold them."""
    if max(-int(values.min(initial=0)), int(values.max(initial=0))) * factor >= 2**63:
        raise InputError(TOO_MANY)
    return values * factor


def refuse_overflow(ours: IntArray, theirs: IntArray) -> None:
    """Refuse to add whole numbers that might come to more than 64 bits hold: they would turn negative in silence."""
    ends = [max(abs(int(one.min(initial=0))), int(one.max(initial=0))) for one in (ours, theirs)]
    if sum(ends) >= 2**63:
        raise InputError(TOO_MANY)


def numbered(keys: IntArray) -> IntArray:
    """Return which of the distinct rows, in order, each row is."""
    extents = [int(column.max(initial=0)) + 1 for column in keys.T]
    fits = math.prod(extents) < 2**63
    rows = np.unique(_single_key(keys, extents) if fits else keys, axis=0, return_inverse=True)[1]
    return np.asarray(rows.ravel(), dtype=np.int64)


def _single_key(keys: IntArray, extents: Sequence[int]) -> IntArray:
    """Return one number per key that sorts like it, which is quicker than sorting by columns."""
    result = np.zeros(len(keys), dtype=np.int64)
    for column, extent in zip(keys.T, extents, strict=True):
        result = result * extent + column
    return result


def places_in(keys: IntArray, wanted: IntArray) -> tuple[IntArray, BoolArray]:
    """Return where each of some keys is among others that are sorted and distinct, and whether it is there at all.

    The place of one that is not there is some place, if there is any.
    """
    both = np.concatenate([keys, wanted])
    extents = [int(column.max(initial=0)) + 1 for column in both.T]
    if math.prod(extents) >= 2**63:
        raise InputError("there are too many names to look up")
    known, sought = _single_key(keys, extents), _single_key(wanted, extents)
    if not len(known):
        return np.zeros(len(sought), dtype=np.int64), np.zeros(len(sought), dtype=bool)
    place = np.minimum(np.searchsorted(known, sought), len(known) - 1)
    return place, np.asarray(known[place] == sought)


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


def _sorted(single: IntArray, extents: Sequence[int], values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct keys in order and the sums of their values, a column at a time: there may be millions."""
    runs = np.count_nonzero(single[1:] < single[:-1])  # few, where sums are added that are sorted themselves
    order = np.argsort(single, kind="stable" if runs < RUNS else None)
    single = single[order]
    first = np.flatnonzero(np.concatenate([[True], single[1:] != single[:-1]]))
    keys = np.empty((len(first), len(extents)), dtype=np.int64)
    for column, numbers in zip(keys.T, np.unravel_index(single[first], extents), strict=True):
        column[:] = numbers
    sums = np.empty((len(first), values.shape[1]), dtype=np.int64)
    for column, terms in zip(sums.T, values.T, strict=True):
        column[:] = np.add.reduceat(terms[order], first)
    return keys, sums


def carried(high: IntArray, low: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Return a sum high 2^bits + low with 0 <= low < 2^bits: equal sums are then held alike."""
    return high + (low >> bits), low & ((1 << bits) - 1)
