"""Which samples statistics hold, so that none counts twice when logs are added up.

Of every name the first 64 bits of its MD5 hash are kept, in ascending order. A sample in both logs is always found.
Two logs of m and m' samples without a common one are mistaken for overlapping with probability m m' / 2^64: 5e-8 for
a million samples each.
"""

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.log.log import Log
from coterie.log.queries import samples
from coterie.words import counted, said

Hashes = npt.NDArray[np.uint64]
"""Hashes of sample names, ascending."""

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
