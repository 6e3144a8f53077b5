"""Which samples statistics hold, so that none counts twice when logs are added up.

Of every name the first 64 bits of its MD5 hash are kept, in ascending order. A sample in both logs is always found.
Two logs of m and m' samples without a common one are mistaken for overlapping with probability m m' / 2^64: 5e-8 for
a million samples each.

Results do not keep hashes of all samples, but marks of a few, those with the smallest hashes: a part of the same log
has some of them, however it was read. A mark also says who was there and what was observed, in a few words that no
option changes, since another log may number its samples likewise.
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.log.log import Log
from coterie.log.queries import marked_members, marked_outcomes, samples
from coterie.words import counted, said

Hashes = npt.NDArray[np.uint64]
"""Hashes of sample names, ascending."""

MARKED = 32
"""So many samples have marks; a log that shares a tenth of its samples with another shares one with 97 %."""

NO_HASHES: Hashes = np.zeros(0, dtype=np.uint64)

UNCHECKED = (
    "whether logs that were added up share samples could not be checked, since some of their statistics do not say "
    "which samples they hold: make statistics anew from the logs"
)


def sample_hashes(log: Log) -> Hashes:
    """Return the hashes of the names of a log's samples."""
    names = samples([log.engine.name(table) for table in log.tables])
    digits = log.engine.table(f"SELECT substr(md5(sample), 1, 16) AS digits FROM ({names}) AS names")  # noqa: S608
    joined = "".join(digits["digits"].to_pylist())
    return np.sort(np.frombuffer(bytes.fromhex(joined), dtype=">u8").astype(np.uint64))


def united(ours: Hashes, theirs: Hashes) -> Hashes:
    """Return the samples of two logs together, refusing logs that share some."""
    common = len(np.intersect1d(ours, theirs, assume_unique=True))
    if common:
        kept = "one log holds the other: learn from that one alone"
        if common < min(len(ours), len(theirs)):
            kept = f"leave them out of one log ({said('since')}, {said('until')}), or read both as one log"
        raise InputError(
            f"these logs cannot be added: {counted(common, 'sample is', 'samples are')} in both, of "
            f"{len(ours):,} and {len(theirs):,}, and no sample may count twice; {kept}"
        )
    return np.sort(np.concatenate([ours, theirs]))


def sample_marks(log: Log, hashes: Hashes) -> tuple[str, ...]:
    """Return the marks of the samples with the smallest hashes: name, who was there, and what was observed."""
    if not len(hashes):
        return ()
    last, outcomes = f"{int(hashes[:MARKED][-1]):016x}", log.tables[-1]
    there = _described(log, marked_members(log.engine.name("members"), last))
    observed = _described(log, marked_outcomes(log.engine.name(outcomes), last))
    names = sorted({*there, *observed})
    return tuple(f"{name}:{there.get(name, '')}:{outcomes} {observed.get(name, '')}" for name in names)


def _described(log: Log, query: str) -> dict[str, str]:
    """Return a short hash of what a query says of each sample, by the hash of its name."""
    rows = log.engine.table(query).to_pylist()
    return {row.pop("name"): _short_hash(list(row.values())) for row in rows}


def _short_hash(values: Sequence[object]) -> str:
    return hashlib.md5(repr(values).encode(), usedforsecurity=False).hexdigest()[:8]


def united_marks(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, ...]:
    """Return the marks of two logs together."""
    return tuple(sorted({*ours, *theirs})[:MARKED])


def share_samples(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    """Return whether the marks of two logs say that they share samples: most of those of one name are alike.

    Who was there must agree, and what was observed where both tell it in the same table.
    """
    known, alike = {mark[0]: mark for mark in map(_words, ours)}, []
    for name, there, table, observed in map(_words, theirs):
        if name in known:
            _, other_there, other_table, other = known[name]
            alike.append(there == other_there and (table != other_table or observed == other))
    return sum(alike) * 2 > len(alike)


def _words(mark: str) -> tuple[str, str, str, str]:
    name, _, rest = str(mark).partition(":")
    there, _, outcomes = rest.partition(":")
    table, _, observed = outcomes.partition(" ")
    return name, there, table, observed
