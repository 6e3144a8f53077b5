"""Small drawings for the report, as plain shapes: the page's style gives them their colours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import FloatArray, IntArray

SHADES = 5
"""How many shades a map has, on each side of nothing where there are two."""


@dataclass(frozen=True)
class Shade:
    """All squares of one shade."""

    name: str
    path: str
    """An SVG path."""
    low: float
    high: float
    """The values that it stands for."""


def shaded(values: FloatArray, *, signed: bool) -> list[Shade]:
    """Return the squares of a matrix by shade; what is not a number is left empty.

    With `signed`, shades "n5" to "n1" are below nothing and "p1" to "p5" above it, else there are "p1" to "p5".
    """
    known = np.isfinite(values)
    most = float(np.abs(values[known]).max(initial=0.0)) or 1.0
    level = np.zeros(values.shape, dtype=np.int64)
    level[known] = np.ceil(np.abs(values[known]) / most * SHADES - 1e-12).astype(np.int64)
    level = np.where(known, np.minimum(np.maximum(level, 0), SHADES), 0)
    found = []
    for side, sign in (("n", -1.0), ("p", 1.0)):
        if side == "n" and not signed:
            continue
        for shade in range(1, SHADES + 1)[:: int(sign)]:
            here = known & (level == shade) & ((values < 0) if sign < 0 else (values > 0))
            if here.any():
                ends = sorted(sign * most * end / SHADES for end in (shade - 1, shade))
                found.append(Shade(f"{side}{shade}", _squares(here), ends[0], ends[1]))
    return found


def _squares(here: np.ndarray) -> str:
    """Return a path of unit squares, neighbours in a row as one."""
    parts = []
    for y, row in enumerate(here):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
        parts += [
            f"M{a} {y}h{b - a}v1h{a - b}z" for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        ]
    return "".join(parts)


def lines_between(groups: Sequence[int]) -> list[int]:
    """Return where lines between groups of such sizes are drawn."""
    ends: list[int] = np.cumsum(groups).tolist()
    return ends[:-1]


@dataclass(frozen=True)
class Bar:
    """An interval and a point on a scale from 0 to 100."""

    start: float
    width: float
    point: float
    zero: float


class Scale:
    """A common scale for intervals, so that they can be compared by eye."""

    def __init__(self, lows: Sequence[float], highs: Sequence[float]) -> None:
        ends = [end for end in (*lows, *highs, 0.0) if np.isfinite(end)]
        self.low, self.high = min(ends), max(ends)
        self.width = (self.high - self.low) or 1.0

    def at(self, value: float) -> float:
        """Return the place of a value, at an end where it is beyond it."""
        return round(100 * (min(max(value, self.low), self.high) - self.low) / self.width, 2)

    def bar(self, low: float, point: float, high: float) -> Bar:
        """Return an interval with its point."""
        start, end = self.at(low), self.at(high)
        return Bar(start, round(max(end - start, 0.6), 2), self.at(point), self.at(0.0))


def by_team(sets: np.ndarray) -> tuple[IntArray, list[int]]:
    """Return people in the order of their first team, and how many have each as theirs."""
    k = sets.shape[1]
    first = np.where(sets.any(axis=1), sets.argmax(axis=1), k)
    order = np.argsort(first, kind="stable")
    return order, [int(count) for count in np.bincount(first, minlength=k + 1) if count]
