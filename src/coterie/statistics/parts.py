"""How the samples of a log are divided: some learn, the others certify.

A sample's hash is MD5 of "seed:sample", a number below 2^128. It looks at nothing but the name,
so a sample's part does not depend on how a log is split or in which order logs are added.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from coterie.arrays import IntArray
from coterie.errors import InputError
from coterie.log.queries import WHOLE

PARTS = (0.1, 0.1, 0.3, 0.5)
"""How the samples of a log are divided for learners: the first parts learn, the others certify."""

LEARNING_SHARE = 0.2
"""At least this share of the samples learns; a profile needs less to be found than to be certified."""

HALVES = (0.5, 0.5)

CLUSTERS = 32
"""Into so many groups samples fall whose sums are kept apart, to see how far sums of samples vary."""


def checked_shares(parts: Sequence[float]) -> tuple[float, ...]:
    """Return the share of the samples in each part, refusing what does not sum to 1."""
    try:
        shares = tuple(float(share) for share in parts)
    except (TypeError, ValueError):
        shares = ()
    if not shares or not all(share > 0 for share in shares) or not abs(sum(shares) - 1) <= 1e-9:
        raise InputError(f"parts: expected positive shares that sum to 1, got {parts!r}")
    return shares


def learning_parts(shares: Sequence[float]) -> int:
    """Return how many of the first parts learn; at least one is left to certify."""
    reached = np.cumsum(shares)
    return min(int(np.searchsorted(reached, LEARNING_SHARE - 1e-9)) + 1, len(shares) - 1)


@dataclass(frozen=True)
class Division:
    """Which samples go where: part p takes the hashes below `ends[p]` that no part before it takes."""

    ends: tuple[int, ...]
    """In ascending order; the last is 2^128."""
    seed: int

    @classmethod
    def by_shares(cls, shares: Sequence[float], seed: int) -> "Division":
        """Return the division in which each part has its share of the hashes."""
        total = sum(Fraction(share) for share in shares)
        return cls(tuple(int(reached / total * 2**128) for reached in accumulate(map(Fraction, shares))), seed)

    @classmethod
    def clusters(cls) -> "Division":
        """Return the groups of samples, the same in every part and for every seed: no seed is -1."""
        return cls.by_shares((1 / CLUSTERS,) * CLUSTERS, -1)

    def of(self, names: Iterable[str]) -> IntArray:
        """Return the part that each sample belongs to."""
        digests = (hashlib.md5(f"{self.seed}:{name}".encode(), usedforsecurity=False).hexdigest() for name in names)
        return np.array([bisect_right(self.ends, int(digits, 16)) for digits in digests], dtype=np.int64)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the hashes in each part."""
        return tuple((end - start) / 2**128 for start, end in zip((0, *self.ends), self.ends, strict=False))

    def refined(self, other: "Division") -> "Division":
        """Return the division whose parts lie each in one part of this and in one of another with the same seed."""
        return Division(tuple(sorted({*self.ends, *other.ends})), self.seed)

    def places(self, finer: "Division") -> IntArray:
        """Return in which part of this division each part of a finer one lies."""
        return np.array([bisect_left(self.ends, end) for end in finer.ends], dtype=np.int64)

    def sql(self, sample: str = "sample") -> str:
        """Return the part that a sample belongs to as SQL.

        Hashes are compared as hexadecimal digits, which sort like the numbers they write.
        """
        if len(self.ends) == 1:
            return WHOLE
        branches = []
        for index, end in enumerate(self.ends[:-1]):
            threshold = f"{end:032x}".rstrip("0")  # which texts of 32 digits are smaller stays the same
            branches.append(f"WHEN md5(concat('{self.seed}:', {sample})) < '{threshold}' THEN {index}")
        return f"CASE {' '.join(branches)} ELSE {len(self.ends) - 1} END"
