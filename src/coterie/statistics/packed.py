"""Packed symmetric matrices of integers, in square blocks of which most may be empty."""

from itertools import combinations, pairwise

import numpy as np

from coterie.arrays import IntArray


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


def used_length(packed: IntArray, block: int, dimension: int) -> int:
    """Return how many entries of packed matrices, from the first on, may be other than 0: all, or the diagonal blocks.

    To write zeros where there was nothing before would take memory for nothing.
    """
    inside = dimension // max(block, 1) * packed_length(block)
    return int(packed.shape[-1]) if packed[..., inside:].any() else inside


def filled_up(used: IntArray, length: int) -> IntArray:
    """Return packed matrices of so many entries whose first ones are given, and whose others are 0."""
    if used.shape[-1] == length:
        return used
    found = np.zeros((*used.shape[:-1], length), dtype=used.dtype)
    found[..., : used.shape[-1]] = used
    return found


def unpacked(packed: IntArray, block: int, dimension: int) -> IntArray:
    """Return the symmetric matrix with the given packed form, copied block by block, or with its used entries."""
    matrix = np.zeros((dimension, dimension), dtype=packed.dtype)
    tables, length = dimension // max(block, 1), packed_length(block)
    parts = [slice(l * block, (l + 1) * block) for l in range(tables)]
    upper = np.triu_indices(block)
    for l, own in enumerate(parts):
        inside = matrix[own, own]
        inside[upper] = packed[l * length : (l + 1) * length]
        inside.T[upper] = inside[upper]
    start = tables * length
    for l, m in combinations(range(tables if len(packed) > start else 0), 2):
        across = packed[start : start + block**2].reshape(block, block)
        matrix[parts[l], parts[m]], matrix[parts[m], parts[l]] = across, across.T
        start += block**2
    return matrix


def unpacked_part(packed: IntArray, block: int, dimension: int, some: IntArray) -> IntArray:
    """Return the rows and columns `some`, which are in increasing order, of the same matrix: no others are copied."""
    matrix = np.zeros((len(some), len(some)), dtype=packed.dtype)
    tables, length = dimension // max(block, 1), packed_length(block)
    ends = np.searchsorted(some, block * np.arange(tables + 1))
    parts = [slice(a, b) for a, b in pairwise(ends.tolist())]
    places = [some[own] - l * block for l, own in enumerate(parts)]
    for l, (own, place) in enumerate(zip(parts, places, strict=True)):
        row, column = np.minimum(place[:, None], place), np.maximum(place[:, None], place)
        matrix[own, own] = packed[l * length + row * block - row * (row - 1) // 2 + column - row]
    start = tables * length
    for l, m in combinations(range(tables if len(packed) > start else 0), 2):
        across = packed[start : start + block**2].reshape(block, block)[np.ix_(places[l], places[m])]
        matrix[parts[l], parts[m]], matrix[parts[m], parts[l]] = across, across.T
        start += block**2
    return matrix


def embedded(matrix: IntArray, positions: IntArray, block: int, dimension: int) -> IntArray:
    """Return the packed form of a larger matrix with the entries of a smaller one at `positions`."""
    rows, columns = np.triu_indices(len(positions))
    first, second = positions[rows], positions[columns]
    where = packed_positions(np.minimum(first, second), np.maximum(first, second), block, dimension)
    result = np.zeros(packed_length(dimension), dtype=matrix.dtype)
    result[where] = matrix[rows, columns]
    return result
