"""Names for the array types that the whole package passes around, and one thing NumPy lacks."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def mixed_radix(numbers: IntArray, sizes: Sequence[int]) -> IntArray:
    """Return the digits of numbers whose places count to `sizes`, the last place fastest.

    Like `numpy.unravel_index`, but for any number of places: shape (len(numbers), len(sizes)).
    """
    digits = np.empty((len(numbers), len(sizes)), dtype=np.int64)
    rest = numbers
    for place in reversed(range(len(sizes))):
        rest, digits[:, place] = np.divmod(rest, sizes[place])
    return digits
