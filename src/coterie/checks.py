"""Validation of values that callers hand in, and the wording of the refusals.

Checks of tables live with the log; everything that is a number, a name or an array is here.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.arrays import FloatArray
from coterie.errors import InputError


def names(values: Iterable[Any] | None, what: str, count: int) -> tuple[str, ...]:
    """Return `count` distinct non-empty names, "1".."count" where none are given."""
    if values is None:
        return tuple(str(index) for index in range(1, count + 1))
    found = tuple(str(value) for value in values)
    if len(found) != count:
        raise InputError(f"{what}: expected {count} names, got {len(found)}")
    if "" in found:
        raise InputError(f"{what}: name {found.index('') + 1} is empty")
    repeated = [name for name, times in Counter(found).items() if times > 1]
    if repeated:
        raise InputError(f"{what}: the name {repeated[0]!r} occurs twice")
    return found


def index_of(name: str, known: Sequence[str], what: str) -> int:
    """Return the position of `name`, refusing an unknown one with a hint."""
    try:
        return known.index(str(name))
    except ValueError:
        shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise InputError(f"unknown {what} {str(name)!r}; known are: {shown}") from None


def whole(value: Any, what: str, at_least: int) -> int:
    """Return `value` as an int of at least `at_least`."""
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected a whole number, got {value!r}") from None
    if number != value or isinstance(value, bool):
        raise InputError(f"{what}: expected a whole number, got {value!r}")
    if number < at_least:
        raise InputError(f"{what}: expected at least {at_least}, got {number}")
    return number


def finite(values: npt.ArrayLike, what: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return a float array without NaN or infinity, of the given shape if there is one."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers in a rectangular array") from None
    if shape is not None and array.shape != shape:
        raise InputError(f"{what}: expected shape {shape}, got {array.shape}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(int(index) for index in bad[0])
        raise InputError(f"{what}: the value at {where} is {array[where]}, expected a finite number")
    return array


def probabilities(values: npt.ArrayLike, what: str) -> FloatArray:
    """Return non-negative numbers that sum to 1 (rounding in files is smoothed out)."""
    array = finite(values, what)
    if array.ndim != 1 or not len(array):
        raise InputError(f"{what}: expected a non-empty list of probabilities")
    if (array < 0).any():
        raise InputError(f"{what}: {array.min()} is negative, expected probabilities")
    total = float(array.sum())
    if abs(total - 1) > 1e-6:
        raise InputError(f"{what}: probabilities sum to {total:.6g}, expected 1")
    return array / total
