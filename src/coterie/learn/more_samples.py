"""How many more samples like those of a log would certify something, where the log certifies nothing.

An extrapolation, and told as one: the log is repeated, so that averages stay as they are and everything is seen so many
times as often, until what is certified says much. Pairs who
were never together are not seen in it however long it is, and those who met seldom go on to: where everybody meets
everybody fewer samples will do, so it is told as the most that it would take.
"""

import math
from collections.abc import Callable

from coterie.errors import InputError
from coterie.estimate.posterior import never
from coterie.learn.options import says_much
from coterie.statistics.statistics import PartStatistics

LONGEST = 1024
"""A log that would have to be more than so many times as long is out of reach."""

STRIDE = 4
"""By so much a log is made longer at a time, before it is looked between."""


def times_as_long(
    whole: PartStatistics,
    gap: Callable[[PartStatistics], float],
    without_data: float,
    is_over: Callable[[], bool] = never,
) -> float | None:
    """Return how many times as long the log would have to be, within a half; infinite if beyond `LONGEST`.

    None where time `is_over` before that is known.

    Parameters
    ----------
    whole
        The log.
    gap
        What would be certified.
    without_data
        What the range of outcomes says of the gap.
    is_over
        Asked now and then.
    """

    def is_enough(times: int) -> bool:
        try:
            longer = whole.repeated(times)
        except InputError:  # more than can be counted: no log is so long
            return False
        return says_much(gap(longer), without_data)

    low, high = 1, STRIDE
    while not is_enough(high):
        low, high = high, high * STRIDE
        if high > LONGEST:
            return math.inf
        if is_over():
            return None
    while high > 1.5 * low and not is_over():
        middle = math.ceil(math.sqrt(low * high))
        if middle in (low, high):
            break
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return float(high)
