"""Best responses of many agents in turn, where utilities are size-free and pairs are listed: compiled.

An agent's row of room values is summed over her pairs anew at each turn, in the order in which they are listed, so
moves are those of `coterie.game.dynamics`, where Python makes them. A turn takes as long as she has pairs and there are
coalitions.
"""

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.actions import ActionSpaces
from coterie.game.means import SparseMeans

_compiled: Any = numba.njit(cache=True, nogil=True)


class Sweeps:
    """One pure profile, in which agents move who may join so many coalitions; the profile that is given follows.

    Nobody joins a coalition that has as many members as `largest` says, one number for each.
    """

    def __init__(
        self,
        means: SparseMeans,
        spaces: ActionSpaces,
        profile: BoolArray,
        rounding: float,
        largest: IntArray | None = None,
    ) -> None:
        self.means, self.profile, self.rounding = means, profile, rounding
        assert spaces.limits is not None
        self.most, self.may_stay_out = spaces.limits
        self.allowed = spaces.can_join
        self.free = np.full(spaces.n_coalitions, len(profile)) if largest is None else largest - profile.sum(axis=0)
        self.places = np.full((spaces.n_agents, int(self.most.max())), -1, dtype=np.int32)
        agents, rooms = np.nonzero(profile)
        turn = np.arange(len(agents)) - np.searchsorted(agents, agents)
        self.places[agents, turn] = rooms

    def run(self, order: IntArray) -> Iterator[tuple[int, list[int], float]]:
        """Let agents move in this order; yield who moved, to which coalitions, and what was gained."""
        for agent, gain in zip(*(found.tolist() for found in self.moves(order)), strict=True):
            yield agent, [l for l in self.places[agent].tolist() if l >= 0], gain

    def moves(self, order: IntArray) -> tuple[IntArray, FloatArray]:
        """Let agents move in this order; return who moved and what was gained."""
        moved, gained = np.empty(len(order), dtype=np.int64), np.empty(len(order))
        count, _ = _sweep(order, *self._given, self.rounding, moved, gained)
        return moved[:count], gained[:count]

    def largest_gain(self) -> float:
        """Return the most that anybody gains by a best response; nobody moves."""
        nobody = np.empty(0, dtype=np.int64), np.empty(0)
        return float(_sweep(np.arange(len(self.profile)), *self._given, np.inf, *nobody)[1])

    @property
    def _given(self) -> tuple[Any, ...]:
        means = self.means
        where = self.profile, self.places, self.free, self.allowed
        return *means.listed, means.is_shared, *where, self.most, self.may_stay_out


@_compiled
def _sweep(
    order,
    starts,
    table,
    partner,
    value,
    is_shared,
    profile,
    places,
    free,
    allowed,
    most,
    may_stay_out,
    rounding,
    moved,
    gained,
):
    """Return how many moved, for more than `rounding`, and the largest gain that anybody was offered in her turn."""
    k = profile.shape[1]
    rooms, chosen = np.empty(k), np.empty(k, dtype=np.bool_)
    moves, largest = 0, -np.inf
    for agent in order:
        rooms[:] = 0.0
        for entry in range(starts[agent], starts[agent + 1]):
            other = partner[entry]
            if is_shared:
                for l in places[other]:
                    if l < 0:
                        break
                    rooms[l] += value[entry]
            elif profile[other, table[entry]]:
                rooms[table[entry]] += value[entry]
        for l in range(k):
            if (free[l] <= 0 and not profile[agent, l]) or not allowed[agent, l]:
                rooms[l] = -np.inf
        gain = _best_response(rooms, most[agent], may_stay_out[agent], chosen)
        for l in range(k):
            if profile[agent, l]:
                gain -= rooms[l]
        largest = max(largest, gain)
        if gain > rounding:
            moved[moves], gained[moves] = agent, gain
            moves += 1
            places[agent] = -1
            turn = 0
            for l in range(k):
                free[l] += np.int64(profile[agent, l]) - np.int64(chosen[l])
                profile[agent, l] = chosen[l]
                if chosen[l]:
                    places[agent, turn] = l
                    turn += 1
    return moves, largest


@_compiled
def _best_response(rooms, most, may_stay_out, chosen):
    """Choose the `most` largest positive rooms, ties to the first; of none nothing or the best single one."""
    chosen[:] = False
    value = 0.0
    for _ in range(most):
        best = -1
        for l in range(len(rooms)):
            if not chosen[l] and rooms[l] > 0 and (best < 0 or rooms[l] > rooms[best]):
                best = l
        if best < 0:
            break
        chosen[best] = True
        value += rooms[best]
    if not may_stay_out and not chosen.any():
        best = rooms.argmax()
        chosen[best] = True
        value = rooms[best]
    return value
