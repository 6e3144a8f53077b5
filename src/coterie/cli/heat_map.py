"""A square of characters that shows how often each two agents met, darker for more often."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coterie.arrays import BoolArray, IntArray
from coterie.cli.output import aligned, short, wrapped

MAP_AGENTS = 40
"""Up to so many agents, meetings are drawn as a map; above, they are counted and the rarest listed."""

SHADES = ".:+#@"
NEVER, ONESELF = "0", "\\"


def heat_map(agents: Sequence[str], met: IntArray, marks: Mapping[str, tuple[BoolArray, str]]) -> Iterator[str]:
    """Yield the lines of a map of `met`, shape (n, n), with its legend.

    `marks` puts a character of its own where something else is to be said: character -> (where, in words).
    """
    n = len(agents)
    shown = np.where(np.logical_or.reduce([np.zeros((n, n), dtype=bool), *(m for m, _ in marks.values())]), 0, met)
    most = int(shown.max(initial=0))
    symbols = np.array([NEVER, *SHADES])[-(-shown * len(SHADES) // max(most, 1))]
    for mark, (where, _) in marks.items():
        symbols[where] = mark
    np.fill_diagonal(symbols, ONESELF)
    gap = " " if n <= MAP_AGENTS // 2 else ""
    places = [str(i + 1) for i in range(n)]
    digits = len(places[-1]) if places else 1
    rows = [("", "", gap.join(place.rjust(digits)[d] for place in places)) for d in range(digits)]
    rows += [(place, short(name), gap.join(line)) for place, name, line in zip(places, agents, symbols, strict=True)]
    yield from aligned(rows, left=(1, 2))
    bands = [(s * most // len(SHADES) + 1, (s + 1) * most // len(SHADES)) for s in range(len(SHADES))]
    legend = [f"{NEVER} never"] if (symbols == NEVER).any() else []
    legend += [
        f"{shade} {low:,}" + ("" if low == high else f" to {high:,}")
        for shade, (low, high) in zip(SHADES, bands, strict=True)
        if (symbols == shade).any()
    ]
    legend += [f"{mark} {words}" for mark, (_, words) in marks.items() if (symbols == mark).any()]
    yield from wrapped("how often:  " + "   ".join(legend))
