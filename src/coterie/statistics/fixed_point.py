"""Utilities as whole numbers: their sums are the same on every engine and in every order.

    q = round((u - low) / (high - low) 2^30), 0 below low and 2^30 above high,

where round(x) is floor(x + 1/2). A total of c pair terms lies in [c low, c high] and is rounded
likewise, in steps of c (high - low) / 2^30. The definition stands here twice, since engines
speak SQL: `steps` for arrays and for compiled loops, `fixed_point` for queries.
"""

import math
from typing import Any

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.log.queries import double

FIXED_BITS = 30
"""Utilities are whole numbers of (high - low) / 2^30 steps above low."""


def steps(above: Any, span: Any) -> Any:
    """Return q, still as floats, of utilities that lie so far above the lower end of a range so wide.

    Numba compiles it for single numbers, NumPy runs it on arrays.
    """
    return np.minimum(np.maximum(np.floor(above / span * 2.0**FIXED_BITS + 0.5), 0.0), 2.0**FIXED_BITS)


def fixed_points(utility: FloatArray, limits: tuple[float, float]) -> IntArray:
    """Return q of each utility."""
    low, high = limits
    return np.asarray(steps(utility - low, high - low), dtype=np.int64)


def fixed_point(limits: tuple[float, float], *, clips: bool = True) -> str:
    """Return q of the column `utility` as SQL.

    Without `clips` all utilities must lie within the limits, which is quicker.
    """
    low, high = limits
    step = (high - low) / 2.0**FIXED_BITS
    # To multiply by a power of two is as exact as to divide by one, and quicker; so is CASE than least and greatest.
    scaled = f"* {double(1 / step)}" if math.frexp(step)[0] == 0.5 else f"/ {double(step)}"
    inside = f"CAST(floor((utility - {double(low)}) {scaled} + {double(0.5)}) AS BIGINT)"
    if not clips:
        return inside
    ends = f"WHEN utility < {double(low)} THEN 0 WHEN utility > {double(high)} THEN {1 << FIXED_BITS}"
    return f"CASE {ends} ELSE {inside} END"
