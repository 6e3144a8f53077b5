"""How many different values a long stream of hashes has, in memory for as many as there may be different ones.

A table of all hashes, as databases keep it, reaches all over the memory with every row. Here they are sorted, which
reads memory in order; and what a second group of them repeats of the first is dropped as it comes.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from coterie.arrays import IntArray

Hashes = npt.NDArray[np.uint64]

SPARE = 1 << 24
"""So many values are collected beyond those that are expected, before they are sorted."""

LEVELS = ((0, 24), (24, 22), (46, 18))
"""Tables of known values, the later ones for those that find their slot taken: which bit is the first, and how many of
them name a slot."""


def distinct(groups: Sequence[Iterable[Hashes]], most: int) -> list[int]:
    """Return how many different values there are in the first group, in the first two, and so on.

    Groups come in batches. Where values are more than `most`, any number above that stands for theirs.
    """
    buffer, filled = np.empty(most + SPARE, dtype=np.uint64), 0
    counts: list[int] = []
    for batches in groups:
        unknown = _unknown_besides(buffer[:filled])
        for batch in batches:
            for start in range(0, len(batch), SPARE):
                found = unknown(batch[start : start + SPARE])
                if filled + len(found) > len(buffer):
                    filled = _sorted(buffer, filled)
                    if filled > most:
                        return counts + [filled] * (len(groups) - len(counts))
                buffer[filled : filled + len(found)] = found
                filled += len(found)
        filled = _sorted(buffer, filled)
        counts.append(filled)
    return counts


def _unknown_besides(known: Hashes) -> Callable[[Hashes], Hashes]:
    """Return what leaves most of the known values out of others, and nothing else.

    Each known value has a slot that some of its bits name. Of several with the same slot all but one are left for the
    next table, and the few that are left in the end count as unknown.
    """
    tables = []
    for bits in LEVELS if len(known) else ():
        slots, table = _slots(known, bits), np.zeros(1 << bits[1], dtype=np.uint64)
        table[0] = 1 << bits[0]  # whose slot is another: what nothing was written to is no value with that slot
        table[slots] = known
        tables.append((bits, table))
        known = known[table[slots] != known]

    def unknown(values: Hashes) -> Hashes:
        for bits, table in tables:
            values = values[table[_slots(values, bits)] != values]
        return values

    return unknown


def _slots(values: Hashes, bits: tuple[int, int]) -> IntArray:
    """Return the number that some bits of each value make."""
    first, size = bits
    return ((values >> np.uint64(first)) & np.uint64((1 << size) - 1)).view(np.int64)


def _sorted(buffer: Hashes, filled: int) -> int:
    """Leave the first values of a buffer sorted, each once; return how many these are."""
    values = buffer[:filled]
    values.sort()
    differs = np.concatenate([np.ones(min(filled, 1), dtype=bool), values[1:] != values[:-1]])
    kept = int(differs.sum())
    if kept < filled:
        buffer[:kept] = values[differs]
    return kept
