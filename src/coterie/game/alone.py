"""Utilities that value being alone: what agent i gets in coalition l where nobody else is.

Everything else is as without it, so the room value is W_i(l) + alone_i(l) Pr[nobody else is in l].
"""

from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.sizes import leave_one_out
from coterie.game.utilities import Form, ProfileRooms, Utilities


@dataclass(frozen=True, eq=False)
class WithAlone(Utilities):
    """Utilities of pairs, and values of being alone, shape (k, n)."""

    pairs: Utilities
    alone: FloatArray
    depends_on_size = True

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return self.pairs.n_agents

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return self.pairs.n_coalitions

    def room_values(self, marginals: FloatArray) -> FloatArray:
        nobody_else = leave_one_out(marginals.T)[..., 0]  # (k, n)
        return np.asarray(self.pairs.room_values(marginals) + (self.alone * nobody_else).T)

    def pure_room_values(self, profiles: BoolArray, agents: IntArray | None = None) -> FloatArray:
        own, alone = (profiles, self.alone) if agents is None else (profiles[:, agents], self.alone[:, agents])
        nobody_else = profiles.sum(axis=1)[:, None] == own
        return np.asarray(self.pairs.pure_room_values(profiles, agents) + np.where(nobody_else, alone.T, 0.0))

    def rooms(self, profile: BoolArray) -> ProfileRooms:
        return _AloneRooms(self, profile)

    def averaged(self) -> "WithAlone":
        return WithAlone(self.pairs.averaged(), self.alone)

    def arrays(self) -> dict[str, FloatArray]:
        return {**self.pairs.arrays(), "alone": self.alone}

    def pair_mean(self, coalition: int, agent: int, partner: int, size: int) -> float:
        return self.pairs.pair_mean(coalition, agent, partner, size)

    def largest(self) -> float:
        return max(self.pairs.largest(), float(np.abs(self.alone).max(initial=0.0)))

    def first_asymmetry(self) -> tuple[int, int, int] | None:
        return self.pairs.first_asymmetry()

    def first_self_utility(self) -> tuple[int, int, float] | None:
        return self.pairs.first_self_utility()

    def first_difference(self) -> int | None:
        different = (self.alone != self.alone[0]).any(axis=1)
        return int(different.argmax()) if different.any() else self.pairs.first_difference()

    def _pair_and_size_parts(self, coalition: int) -> tuple[Form, FloatArray] | None:
        return self.pairs._pair_and_size_parts(coalition)  # noqa: SLF001  (of the base class)

    def potential_in(self, coalition: int, marginals: FloatArray) -> float | None:
        """Return the potential of the pairs, and what being alone adds: c Pr[anybody is there], c the same for all.

        Whoever comes first gains c, whoever leaves last loses it, and nobody else's move changes that.
        """
        own, pairs = self.alone[coalition], self.pairs.potential_in(coalition, marginals)
        if pairs is None or np.ptp(own) > 0:
            return None
        return pairs + float(own[0] * (1 - np.prod(1 - marginals)))


class _AloneRooms(ProfileRooms):
    """The rooms of the pairs, which follow each move, and who is alone in them."""

    utilities: WithAlone

    def __init__(self, utilities: WithAlone, profile: BoolArray) -> None:
        super().__init__(utilities, profile)
        self.pairs = utilities.pairs.rooms(profile)

    def _row(self, agent: int, sizes: IntArray) -> FloatArray:
        return np.asarray(self.pairs.of(agent)[0] + np.where(sizes == 1, self.utilities.alone[:, agent], 0.0))

    def rows(self, agents: slice) -> FloatArray:
        nobody_else = self.sizes == self.profile[agents]
        return np.asarray(self.pairs.rows(agents) + np.where(nobody_else, self.utilities.alone.T[agents], 0.0))

    def move(self, agent: int, moving: BoolArray, actions: BoolArray) -> None:
        self.pairs.move(agent, moving, actions)
        super().move(agent, moving, actions)

    def refresh(self) -> None:
        self.pairs.refresh()
