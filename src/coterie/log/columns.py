"""Columns of query results as arrays: names become their places."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError


def codes(column: Any, names: pa.Array) -> IntArray:
    """Return the place of each value among the names, -1 for null."""
    places = pc.index_in(plain(column), value_set=names)
    return np.asarray(pc.fill_null(places, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def known_codes(column: Any, names: pa.Array, what: str) -> IntArray:
    """Return the place of each value among the names, refusing one that is not there."""
    result = codes(column, names)
    if len(result) and result.min() < 0:
        raise InputError(f"the log changed while it was read: {what} {column[int(result.argmin())]} is new")
    return result


def numbers(column: Any) -> IntArray:
    """Return a column of whole numbers."""
    return np.asarray(_combined(column).to_numpy(zero_copy_only=False), dtype=np.int64)


def doubles(column: Any) -> FloatArray:
    """Return a column of doubles, NaN for null."""
    return np.asarray(_combined(column).to_numpy(zero_copy_only=False), dtype=np.float64)


def _combined(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def plain(column: Any) -> pa.Array:
    """Return a column of names as one array of strings."""
    column = _combined(column)
    return column if column.type == pa.string() else column.cast(pa.string())
