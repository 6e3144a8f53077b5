"""The core: groups that would rather be on their own, by looking at all of them.

A group of agents *blocks* a partition if it could be a coalition of its own and every member would gain. It blocks
*weakly* if none would lose and one would gain. A partition that no group blocks is in the core, one that no group
blocks even weakly in the strict core (Bogomolnaia and Jackson, 2002). Everybody is in one of several interchangeable
coalitions, so a group is worth the same to its members wherever it meets; it needs a coalition with nobody else in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError
from coterie.game.actions import refuse_too_many
from coterie.game.utilities import Utilities

CELLS = 1 << 22
"""So many (groups x agents x coalitions) are valued at once."""


@dataclass(frozen=True)
class Blocking:
    """A group that would rather be on its own, and what each member gains."""

    gains: Mapping[str, float]

    @property
    def members(self) -> tuple[str, ...]:
        """Who they are."""
        return tuple(self.gains)

    @property
    def gain(self) -> float:
        """What whoever gains least gains."""
        return min(self.gains.values())


@dataclass(frozen=True, eq=False)
class Groups:
    """Every non-empty group of agents, and what its members get when they are a coalition of their own."""

    members: BoolArray
    """Shape (g, n)."""
    values: FloatArray
    """Shape (g, n); what is not a member's has no meaning."""

    @classmethod
    def of(cls, utilities: Utilities) -> "Groups":
        """List the groups of a game whose coalitions are interchangeable."""
        n, k = utilities.n_agents, utilities.n_coalitions
        refuse_too_many(2**n - 1, "groups of agents")
        members = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(bool)
        values = np.empty(members.shape)
        at_once = max(1, CELLS // (n * k))
        for start in range(0, len(members), at_once):
            some = slice(start, start + at_once)
            profiles = np.zeros((len(members[some]), n, k), dtype=bool)
            profiles[:, :, 0] = members[some]
            values[some] = utilities.pure_room_values(profiles)[:, :, 0]
        return cls(members, values)

    def gains(self, profile: BoolArray, own: FloatArray) -> FloatArray:
        """Return what members gain over their utilities `own` (n,) in a profile; minus infinity if there is no room.

        Others have infinity, so that the smallest along a row is the gain of whoever gains least.
        """
        gains = np.where(self.members, self.values - own, np.inf)
        n, k = profile.shape
        if k >= n:  # each of the coalitions that others are still in has one of them at least
            return gains
        left = np.asarray((profile.T[None] & ~self.members[:, None]).any(axis=2).sum(axis=1))
        return np.where((left < k)[:, None], gains, -np.inf)


def strongest(gains: FloatArray, *, weakly: bool, tolerance: float) -> int | None:
    """Return the group that blocks and whose least gain is largest (weakly: whose largest gain is), if any blocks."""
    least = gains.min(axis=1)
    if not weakly:
        best = int(least.argmax())
        return best if least[best] > tolerance else None
    most = np.where(np.isfinite(gains), gains, -np.inf).max(axis=1)
    most = np.where(least >= -tolerance, most, -np.inf)
    best = int(most.argmax())
    return best if most[best] > tolerance else None


def unblocked(
    blocks: Iterator[BoolArray], utilities: Utilities, *, weakly: bool, tolerance: float
) -> Iterator[BoolArray]:
    """Yield the profiles that no group blocks."""
    groups = Groups.of(utilities)
    for block in blocks:
        own = np.where(block, utilities.pure_room_values(block), 0.0).sum(axis=2)
        for profile, values in zip(block, own, strict=True):
            if strongest(groups.gains(profile, values), weakly=weakly, tolerance=tolerance) is None:
                yield profile


def refuse_other_games(*, partitions: bool) -> None:
    """Refuse games in which a group is not worth the same wherever it meets."""
    if not partitions:
        raise InputError(
            "the core is about partitions: everybody in any one coalition, and coalitions interchangeable; make such a "
            'game from one matrix for all coalitions, with actions "one"'
        )
