"""Numbers as people write them, and names in the order people expect."""

import math
import re
from collections.abc import Iterable


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "pair"), counted(1200, "pair"), counted(2, "has", "have")
    ('1 pair', '1,200 pairs', '2 have')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def signed(value: float) -> str:
    """Return a change of utility with its sign, which nothing does not have.

    >>> signed(0.128), signed(-2), signed(-0.001)
    ('+0.13', '-2.00', '0.00')
    """
    shown = f"{value:+.2f}"
    return "0.00" if float(shown) == 0 else shown


def number(value: float | None) -> str:
    """Return a number as people write it: 3 for 3.0, 0.1 for 0.1."""
    if value is None:
        return "nothing"
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 1e15 else repr(value)


def interval(low: float, high: float) -> str:
    """Return [low, high] as people write it."""
    return f"[{number(low)}, {number(high)}]"


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names in the order people expect: "2" before "10", otherwise by characters."""
    return tuple(sorted(set(names), key=_natural))


def _natural(name: str) -> tuple[list[tuple[int, str]], str]:
    # Digits and the rest alternate, so numbers are only compared with numbers; "1" and "01" still differ.
    pieces = re.split("([0-9]+)", name)
    digits = [piece.lstrip("0") for piece in pieces]  # longer numbers are larger, whatever their length
    return [(len(digits[t]), digits[t]) if t % 2 else (0, piece) for t, piece in enumerate(pieces)], name
