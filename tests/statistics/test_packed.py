"""Packed symmetric matrices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.statistics.packed import packed_length, packed_positions, unpacked, unpacked_part


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_matrices_unpack_to_what_their_positions_say(block, tables, seed):
    dimension = block * tables
    packed = np.random.default_rng(seed).integers(0, 100, packed_length(dimension))
    found = unpacked(packed, block, dimension)
    rows, columns = np.triu_indices(dimension)
    assert (found == found.T).all()
    some = np.flatnonzero(np.random.default_rng(seed).random(dimension) < 0.5)
    assert (unpacked_part(packed, block, dimension, some) == found[np.ix_(some, some)]).all()
    assert (found[rows, columns] == packed[packed_positions(rows, columns, block, dimension)]).all()
