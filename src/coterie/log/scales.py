"""Which scale ratings are on, from the values that occur; and which of these are probably typos."""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.words import counted, number

COMMON = (
    (0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0), (1.0, 5.0), (0.0, 5.0), (-3.0, 3.0), (1.0, 7.0), (1.0, 10.0), (0.0, 10.0),
    (-5.0, 5.0), (-10.0, 10.0), (0.0, 100.0), (-100.0, 100.0),
)  # fmt: skip
"""Scales that people are asked to rate on, narrow ones first."""

OTHERS = ((1.0, 3.0), (0.0, 3.0), (1.0, 4.0), (0.0, 4.0), (1.0, 6.0), (0.0, 6.0), (0.0, 20.0), (1.0, 100.0))
"""Rarer ones, which both of their ends must show."""

ROUND = (1.0, 5.0, 10.0, 20.0, 100.0)
"""Where scales of points end that begin at 0; larger ones at 1, 2 or 5 times a power of ten."""

LARGEST, SMALLEST = sys.float_info.max, 1e-300
"""Ends are never beyond the one; values nearer than the other are taken to be so far apart."""

WIDER = 1.01
"""A step is wider than values are apart by this factor or more, which rounding errors of 0.21 - 0.2 are far below."""

NARROW = 0.1
"""Values that take up a smaller share of such a scale are probably not on it."""

ENOUGH = 20
"""Among fewer values, none is taken for a typo."""

SHARE = 200
"""One value in so many may be a typo."""

MOST_SLIPS = 3
"""More values than so many, or than one in `RARELY`, are no slips of the hand, wherever they lie."""

RARELY = 50

FEW_VALUES = 3
"""Where fewer different values occur besides, nothing is far from them: four wins and a defeat, all stars but one."""


_NUMBER = r"([-\u2212]?\d+(?:[.,]\d+)?)"
_ENDS = re.compile(
    rf"(?:[(\[]|\b(?:scale|skala|range|from|von)\b[^\d(]{{0,12}}?)\s*{_NUMBER}\s*(?:-|\u2013|\u2014|to|bis|\.{{2,3}}|\u2026)\s*{_NUMBER}"
    r"(?![\d./-])",
    re.IGNORECASE,
)
"""A scale in words: (0-10), [1 to 5], from 1 to 7, Skala von 1 bis 6. Dates go on behind the second number."""

_TOP = re.compile(
    rf"(?:\b(?:out\s+of|sur|von|of|max(?:imum|imal)?\.?|sobre)\s*|(?<![\w/])/\s*|(?<=[^\W\d_])/\s*){_NUMBER}(?![\d./-])",
    re.IGNORECASE,
)
"""The upper end alone: out of 20, sur 20, von 20, max. 100, /20. No dates."""

YEARS = range(1900, 2101)
"""Ratings of 2024 are no points out of so many."""

_ANCHOR = re.compile(rf"(?<![\w.,-]){_NUMBER}\s*[=:]\s*[^\W\d]")
"""What one of its numbers means: 1 = never again."""


@dataclass(frozen=True)
class Scale:
    """Where ratings lie, and why that is likely."""

    low: float
    high: float
    why: str
    typos: int = 0
    """How many values lie outside, so few that they are probably typos."""

    @property
    def middle(self) -> float:
        """What is neither good nor bad on it."""
        return self.low / 2 + self.high / 2


def most_typos(count: int) -> int:
    """Return how many of so many values may be typos."""
    return 0 if count < ENOUGH else max(1, count // SHARE)


def stated_scale(text: str) -> tuple[float, float] | None:
    """Return the ends of the scale that a header or a title tells of, None where it tells of none.

    >>> stated_scale("Jury score (0-10)"), stated_scale("Ratings (1 = never again, 5 = any time)")
    ((0.0, 10.0), (1.0, 5.0))
    >>> stated_scale("Points"), stated_scale("Score (2024-05-01)"), stated_scale("Score (top 3)")
    (None, None, None)
    """
    found = _ANCHOR.findall(text)
    if len(found) < 2 and (ends := _ENDS.search(text)):
        found = list(ends.groups())
    numbers = {float(one.replace(",", ".").replace("\u2212", "-")) for one in found}
    return (min(numbers), max(numbers)) if len(numbers) > 1 else None


def stated_top(header: str) -> float | None:
    """Return the upper end that a header tells of alone, None where it tells of none.

    >>> [stated_top(one) for one in ("Points (sur 20)", "Score out of 10", "Note /20", "Punkte (von 15)", "Jury max 9")]
    [20.0, 10.0, 20.0, 15.0, 9.0]
    >>> [stated_top(one) for one in ("Points", "Score 5/20", "Score 1/5/2024", "Points (top 3)", "Skala von 1 bis 6")]
    [None, None, None, None, None]
    >>> stated_top("Ratings of 2024"), stated_top("Punkte von 2025"), stated_top("Score/2024")
    (None, None, None)
    """
    found = None if stated_scale(header) else _TOP.search(header)
    top = 0.0 if found is None else float(found[1].replace(",", ".").replace("\u2212", "-"))
    return top if top > 0 and top not in YEARS else None


def scale_up_to(top: float, times: Mapping[float, int], *, ratings: bool = True) -> tuple[float, float] | None:
    """Return the scale with an upper end that values are on which are not above it: as likely, or else from 0.

    >>> scale_up_to(20, {4: 3, 12.5: 20, 135: 1}), scale_up_to(5, {1: 3, 5: 9}), scale_up_to(10, {-4: 1, 3: 2})
    ((0.0, 20), (1.0, 5), (-10, 10))
    """
    inside = {value: count for value, count in times.items() if value <= top}
    if not inside:
        return None
    likely = likely_scale(inside, ratings=ratings)
    return (likely.low, top) if likely.high == top else (-top if min(inside) < 0 else 0.0, top)


def likely_scale(
    times: Mapping[float, int],
    *,
    ratings: bool = True,
    stated: tuple[float, float] | None = None,
    how: str = "is said to be the scale",
) -> Scale:
    """Return the scale that values are likely on, given how often each occurs.

    Among `ratings`, which people give on a scale, a few outside of it are probably typos; points and scores have no
    scale but the one that they show. One that is `stated` is taken, and told `how`, unless too many values for typos
    contradict it.

    >>> likely_scale({1: 4, 2: 10, 3: 30, 4: 40, 5: 15, 6: 1})
    Scale(low=1.0, high=5.0, why='all but 1 value lie from 1 to 5', typos=1)
    >>> likely_scale({0.25: 3, 0.75: 5}).why
    'values go from 0.25 to 0.75, and 0 to 1 is a usual scale around them'
    >>> likely_scale({1: 4, 2: 10, 3: 30, 4: 40, 5: 15, 5.3: 1}, ratings=False).high
    7.0
    >>> likely_scale({40.1: 1, 55: 30, 66.2: 1}, ratings=False)
    Scale(low=0.0, high=100.0, why='values go from 40.1 to 66.2, and 0 to 100 is a usual scale around them', typos=0)
    """
    values = sorted(times)
    seen = (float(values[0]), float(values[-1]))
    if stated is not None:
        outside = sum(count for value, count in times.items() if not stated[0] <= value <= stated[1])
        if outside <= most_typos(sum(times.values())):
            return _scale(stated, seen, outside, how)
    low, high, typos = _without_rare_ends(times) if ratings else (*seen, 0)
    if seen in COMMON:
        return _scale(seen, seen)
    if typos and (low, high) in COMMON:
        return _scale((low, high), seen, typos)
    if seen in OTHERS:
        return _scale(seen, seen)
    whole, most = _around(*seen), _around(low, high)
    if typos and most is not None and (whole is None or whole[1] - whole[0] >= 2 * (most[1] - most[0])):
        outside = sum(count for value, count in times.items() if not most[0] <= value <= most[1])
        return _scale(most, seen, outside)
    return _scale(whole or _round_ends(*seen), seen)


@dataclass(frozen=True)
class Slips:
    """Values far from all others, so few that they may be slips of the hand."""

    values: tuple[float, ...]
    rest: tuple[float, float]
    """Where all others lie."""


def slips_among(times: Mapping[float, int]) -> Slips | None:
    """Return the values that lie far outside of all others, given how often each occurs; None where there are none.

    They are further from the nearest other value than all others are from each other (3 times that, where these lie on
    both sides of zero), and than 3 times the distance of their quartiles. Sizes above zero may be skewed, as sales and
    incomes are: among them a slip is also 3 times as large as any other, or as small, and in logarithms further off
    than 1.5 times the distance of the quartiles. There is one at most among fewer than 100 values, 3 among any number,
    and none among fewer than 20.

    >>> slips_among({24: 3, 35: 5, 48: 9, 60: 8, 71: 5, 96: 2, 640: 1})
    Slips(values=(640.0,), rest=(24.0, 96.0))
    >>> slips_among({24: 3, 35: 5, 48: 9, 60: 8, 71: 5, 96: 2, 140: 1})
    """
    values = np.array(sorted(times), dtype=np.float64)
    counts = np.array([times[value] for value in sorted(times)], dtype=np.int64)
    count = int(counts.sum())
    most = 0 if count < ENOUGH else min(MOST_SLIPS, max(1, count // RARELY))
    for removed in range(min(most, len(values)), 0, -1):
        for below in range(removed + 1):
            rest = slice(below, len(values) - removed + below)
            slips = (*values[: rest.start].tolist(), *values[rest.stop :].tolist())
            if count - int(counts[rest].sum()) <= most and _are_far(slips, values[rest], counts[rest]):
                return Slips(slips, (float(values[rest][0]), float(values[rest][-1])))
    return None


def _are_far(slips: Sequence[float], rest: FloatArray, counts: IntArray) -> bool:
    """Return whether values are all far from the ascending rest, which occur so often."""
    if len(rest) < FEW_VALUES or (middle := _middle_half(rest, counts)) <= 0:
        return False
    low, high = float(rest[0]), float(rest[-1])
    far = max(3 * middle, (3 if low < 0 < high else 1) * (high - low))
    sizes = rest > 0
    far_in_logarithms = max(math.log(3), 1.5 * _middle_half(np.log(rest[sizes]), counts[sizes])) if low >= 0 else 0.0
    for slip in slips:
        small, large = (slip, low) if slip < low else (high, slip)
        if large - small <= far or (small > 0 and math.log(large) - math.log(small) <= far_in_logarithms):
            return False
    return True


def _middle_half(values: FloatArray, counts: IntArray) -> float:
    """Return the distance between the quartiles of ascending values that occur so often."""
    reached = np.cumsum(counts)
    low, high = (values[np.searchsorted(reached, share * reached[-1])] for share in (0.25, 0.75))
    return float(high - low)


def _scale(ends: tuple[float, float], seen: tuple[float, float], typos: int = 0, what: str = "") -> Scale:
    if ends[0] == ends[1]:
        ends = (ends[0] - 1, ends[1] + 1)
    low, high = ends
    why = f"values go from {_short(seen[0])} to {_short(seen[1])}"
    if seen[0] == seen[1]:
        why = f"every value is {_short(seen[0])}"
    elif ends != seen:
        what = what or f"{'is a usual scale' if ends in COMMON else 'are round ends'} around them"
        why += f", and {number(low)} to {number(high)} {what}"
    if typos:
        why = f"all but {counted(typos, 'value')} lie from {number(low)} to {number(high)}"
    return Scale(low, high, why, typos)


def _short(value: float) -> str:
    return number(float(f"{value:.4g}"))


def _without_rare_ends(times: Mapping[float, int]) -> tuple[float, float, int]:
    """Return the smallest and the largest value apart from a few at the ends, and how many these are."""
    values = sorted(times)
    spare = most_typos(sum(times.values()))
    first, last, left = 0, len(values) - 1, spare
    # The end that is further from the rest goes first.
    while last - first >= 2:
        below, above = values[first + 1] - values[first], values[last] - values[last - 1]
        end = first if below > above or (below == above and times[values[first]] < times[values[last]]) else last
        if times[values[end]] > left:
            break
        left -= times[values[end]]
        first, last = (first + 1, last) if end == first else (first, last - 1)
    return float(values[first]), float(values[last]), spare - left


def _around(low: float, high: float) -> tuple[float, float] | None:
    """Return the narrowest common scale around two values that is not much too wide for them."""
    for ends in COMMON:
        if ends[0] <= low and high <= ends[1] and (low == high or high - low >= 0.3 * (ends[1] - ends[0])):
            return ends
    return None


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """Return round numbers around values: from 0 on, on both sides of 0, or, where that is much too wide, near by.

    Those near by are multiples of a step that is wider than the values are apart, so at most one of them was seen: the
    ends that happened to be are nobody's scale, and the next table of the same kind has others.
    """
    if low == high:
        return low, high
    end = _round_end(max(-low, high))
    wide = (-end if low < 0 else 0.0, end if high > 0 else 0.0)
    if high - low >= NARROW * wide[1] - NARROW * wide[0]:
        return wide
    step = _next_round(WIDER * max(high - low, SMALLEST))
    digits = -math.floor(math.log10(step))
    below, above = (round(times * step, digits) for times in (math.floor(low / step), math.ceil(high / step)))
    return min(low, max(below, -LARGEST)), max(high, min(above, LARGEST))


def _round_end(size: float) -> float:
    """Return the next number from a size on that a scale may end at."""
    if size <= ROUND[-1]:
        return next(end for end in ROUND if size <= end)
    return min(_next_round(size), LARGEST)


def _next_round(size: float) -> float:
    """Return the next of 1, 2 and 5 times powers of ten, from a size on."""
    power = 10.0 ** math.floor(math.log10(size))
    return next(times * power for times in (1, 2, 5, 10) if size <= times * power)
