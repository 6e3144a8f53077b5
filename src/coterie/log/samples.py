"""The order of samples, and which of them a log is restricted to.

Samples come in their natural order: numbers if all names are numbers, dates if all are dates, else as
they are first seen in the tables. Nothing but names and places of rows is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie import checks
from coterie.errors import InputError
from coterie.log import queries
from coterie.log.columns import codes, numbers, plain
from coterie.log.engine import Engine
from coterie.words import counted, said

_NUMBER = r"^[+-]?[0-9]+([.][0-9]+)?$"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_YEAR_FIRST = rf"^[0-9]{{4}}[-/.]([0-9]{{2}}|Q[1-4]|W[0-9]{{2}})([-/.][0-9]{{2}}([T ]{_TIME})?)?$"
_DAY_FIRST = r"^([0-9]{1,2})[.]([0-9]{1,2})[.]([0-9]{4})$"

BY_DATE = "in the order of their dates"

SUGGESTED = 3
"""How many similar names a refusal lists."""

COMPARED = 10_000
"""Among how many samples it looks for them."""


@dataclass(frozen=True, eq=False)
class Samples:
    """The names of a log's samples in their order."""

    names: pa.Array
    order: str
    """What they are ordered by, in words."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def period(self) -> tuple[str, str] | None:
        """The first and the last sample where they are dates.

        >>> in_sequence(pa.array(["1.3.2026", "28.2.2026"])).period
        ('28.2.2026', '1.3.2026')
        """
        return (self.names[0].as_py(), self.names[-1].as_py()) if len(self) and self.order == BY_DATE else None

    def place(self, name: str, option: str) -> int:
        """Return where a sample is, refusing one that is not there."""
        checks.writable(name, f"{said(option)}: the name ")
        place = int(codes(pa.array([name]), self.names)[0])
        if place < 0:
            similar = get_close_matches(name, self.names[:COMPARED].to_pylist(), SUGGESTED, 0.6)
            hint = f"; similar: {', '.join(map(repr, similar))}" if similar else ""
            raise InputError(
                f"{said(option)}: no sample is called {name!r}; there are {counted(len(self), 'sample')}, "
                f"{self.order}, from {self.names[0].as_py()!r} to {self.names[-1].as_py()!r}{hint}"
            )
        return place

    def between(self, since: str | None, until: str | None) -> "Samples":
        """Return the samples from one to another, both included."""
        first = 0 if since is None else self.place(since, "since")
        last = len(self) - 1 if until is None else self.place(until, "until")
        if first > last:
            raise InputError(
                f"{said(since=since, until=until)}: {since!r} comes after {until!r} among the samples, {self.order}"
            )
        return Samples(self.names[first : last + 1], self.order)

    def numbered(self) -> pa.Table:
        """Return each sample and its place in the order."""
        return pa.table({"sample": self.names, "place": pa.array(np.arange(len(self)))})

    def halves(self) -> pa.Table:
        """Return each sample and whether it is in the second half of them."""
        late = np.arange(len(self)) >= (len(self) + 1) // 2
        return pa.table({"sample": self.names, "late": pa.array(late.astype(np.int64))})


def samples_of(engine: Engine, tables: Sequence[str]) -> Samples:
    """Return the samples that occur in some tables of a log, in their order."""
    found = [engine.table(queries.first_rows(engine.name(table))) for table in tables]
    names = pa.concat_arrays([plain(one["sample"]) for one in found])
    rank = np.repeat(np.arange(len(found)), [len(one) for one in found])
    files = pa.concat_arrays([plain(one["file_name"]) for one in found])
    row = np.concatenate([numbers(one["row_index"]) for one in found])
    _, file = np.unique(files.to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    seen = pc.take(names, pa.array(np.lexsort((row, file, rank))))
    return in_sequence(seen.unique())


def in_sequence(seen: pa.Array) -> Samples:
    """Return distinct names in their order, given as they were first seen; that also settles ties.

    >>> in_sequence(pa.array(["10", "9"])).names.to_pylist(), in_sequence(pa.array(["b", "a"])).names.to_pylist()
    (['9', '10'], ['b', 'a'])
    """
    if _all_match(seen, _NUMBER):
        order = np.argsort(pc.cast(seen, pa.float64()).to_numpy(zero_copy_only=False), kind="stable")
        return Samples(pc.take(seen, pa.array(order)), "in the order of their numbers")
    dates = None
    if _all_match(seen, _YEAR_FIRST):
        dates = pc.replace_substring_regex(seen, "[-/.T ]", "-")
    elif _all_match(seen, _DAY_FIRST):
        padded = pc.replace_substring_regex(seen, _DAY_FIRST, r"\3-0\2-0\1")
        dates = pc.replace_substring_regex(padded, "-0([0-9]{2})", r"-\1")
    if dates is None:
        return Samples(seen, "in the order in which they are first seen")
    order = np.argsort(dates.to_numpy(zero_copy_only=False).astype(str), kind="stable")
    return Samples(pc.take(seen, pa.array(order)), BY_DATE)


def _all_match(names: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(names, pattern)).as_py())
