"""What files of statistics may hold: a hash tells that nobody changed them by accident, not that they make sense."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.arrays import IntArray
from coterie.errors import InputError
from coterie.statistics.fixed_point import FIXED_BITS
from coterie.sums import Sums


def whole_number(value: Any) -> int:
    """Return a number of samples."""
    return int(sound(value, "n_samples", (), 0))


def sound(
    values: Any, what: str, shape: tuple[int | None, ...], at_least: int | None = None, at_most: int | None = None
) -> IntArray:
    """Return whole numbers of a shape and between two ends, refusing others; None leaves a length or an end open."""
    if values.dtype != np.int64 or len(values.shape) != len(shape):
        raise InputError(f"{what}: expected whole numbers of 64 bits in {len(shape)} dimensions")
    if any(want not in {None, got} for want, got in zip(shape, values.shape, strict=True)):
        raise InputError(f"{what}: expected shape {shape}, got {values.shape}")
    if at_least is not None and values.size and values.min() < at_least:
        raise InputError(f"{what}: {values.min()} is less than {at_least}, which no log comes to")
    if at_most is not None and values.size and values.max() > at_most:
        raise InputError(f"{what}: {values.max()} is more than {at_most}, which no log comes to")
    return np.asarray(values)


def sound_sums(arrays: Mapping[str, Any], name: str, extents: Sequence[int], columns: int) -> Sums:
    """Return sums by key: keys within extents, in order and once each; values from 0 up in so many columns."""
    before = f"{name}_" if name else ""
    keys = sound(arrays[f"{before}keys"], f"{before}keys", (None, len(extents)), 0)
    values = sound(arrays[f"{before}values"], f"{before}values", (len(keys), columns), 0)
    for column, extent in zip(keys.T, extents, strict=True):
        sound(column, f"{before}keys", (None,), 0, extent - 1)
    if len(keys) > 1:
        differs = keys[1:] != keys[:-1]
        first = differs.argmax(axis=1)[:, None]
        rises = np.take_along_axis(keys[1:], first, 1) > np.take_along_axis(keys[:-1], first, 1)
        if not (differs.any(axis=1) & rises[:, 0]).all():
            raise InputError(f"{before}keys: are not in order, once each")
    return Sums(keys, values)


def refuse_impossible(count: IntArray, total: IntArray, high: IntArray, low: IntArray) -> None:
    """Refuse sums and sums of squares that no utilities within their range have."""
    sound(count, "counts", (None,), 1)
    most = count.astype(np.float64) * 2.0**FIXED_BITS
    squares = (high + low / 2.0**FIXED_BITS) * (1 + 1e-9)
    if (total > most).any():
        raise InputError("sums: exceed what so many utilities within their range come to")
    if (squares > most * (1 + 2e-9)).any() or (squares * count < total.astype(np.float64) ** 2 / 2.0**FIXED_BITS).any():
        raise InputError("sums of squares: do not go with the sums")
