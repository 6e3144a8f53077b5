"""Bandit evidence about many pure profiles of agents whose actions can be listed: deviation by deviation, compiled.

If agent i moves from the set a to a', her gain is c'theta with c = sum over partners j of c_j, where c_j has the entry
1[l in a'] - 1[l in a] at the unknown of every coalition l that j is in. So y = G^-1 c, too, is a sum over partners of
vectors that depend on j's own set alone, which are kept; and all that widths ask of a deviation are c'y, |y|^2 and
|y|_1. Where there are k coalitions this takes a k-th of what forms of all rooms take, and none of their memory.

Sums over the first partners are kept from one profile to the next: profiles come in an order in which these change
least. Nothing is ever taken off again, so a sum does not depend on which profile came before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numba
import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates import widths
from coterie.certificates.evidence import Form
from coterie.certificates.gains import GainBound, LinearBound, LogTerm
from coterie.certificates.pair_evidence import rows_of
from coterie.certificates.total_evidence import TotalBatches, TotalEvidence
from coterie.estimate.design import Design, MovedDesign
from coterie.game.actions import ActionSpace, ActionSpaces

_compiled: Any = numba.njit(cache=True, nogil=True)


@dataclass(frozen=True, eq=False)
class ListedBound(GainBound):
    """A linear part plus a width, for moves to listed sets; anything else is asked of the bound by rooms."""

    by_rooms: Callable[[], GainBound]
    linear: LinearBound
    square: FloatArray
    """The variance of moving to each set of the row's agent, filled up on the right, shape (rows, A)."""
    shape: widths.Shape
    bias: FloatArray | float = 0.0

    @property
    def marginals(self) -> FloatArray:  # type: ignore[override]
        return self.linear.marginals

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        return self.by_rooms().at(x, agents)

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        return self.by_rooms().relaxed(space, agents)

    def to_sets(self, sets: FloatArray, rows: IntArray | slice) -> FloatArray:
        width = self.shape.of(rows, len(sets)).width(self.square[rows, : len(sets)])
        bias = self.bias[rows, : len(sets)] if isinstance(self.bias, np.ndarray) else self.bias
        return self.linear.to_sets(sets, rows) + width + bias


@dataclass(frozen=True, eq=False)
class _Sums:
    """c'y, |y|^2 and |y|_1 of moving to each listed set, each of shape (rows, A), and whose rows they are."""

    ellipsoid: FloatArray
    squares: FloatArray
    absolute: FloatArray
    agents: IntArray


class ListedTotals(TotalBatches):
    """`TotalBatches` for the moves that there are; the sets of `spaces` are few."""

    def __init__(self, evidence: TotalEvidence, spaces: ActionSpaces) -> None:
        super().__init__(evidence)
        self.sets = [space.enumerate() for space in spaces.spaces]
        self._last: tuple[Design, _Sums | None] | None = None

    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        by_rooms, sums = partial(super().uniform_bound, design, delta), self._sums(design)
        if sums is None:
            return by_rooms()
        radii = np.array([widths.ellipsoid_radius(self.estimate, i, delta) for i in range(self.estimate.n_agents)])
        square = sums.ellipsoid * np.square(radii)[sums.agents, None]
        return ListedBound(by_rooms, self._linear(design), square, widths.Shape(times_sqrt=1.0))

    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        by_rooms = partial(super().direction_bound, design, log_term, form)
        return self._directions(by_rooms, design, log_term, np.ones(self.estimate.n_agents))

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        by_rooms = partial(super().expected_bound, design, log_term)
        return self._directions(by_rooms, design, log_term, self.evidence.narrowing)

    def _directions(
        self, by_rooms: Callable[[], GainBound], design: Design, log_term: LogTerm, scale: FloatArray
    ) -> GainBound:
        sums = None if self.evidence.allows_adaptivity else self._sums(design)
        if sums is None:
            return by_rooms()
        square = widths.noise_proxy(sums.ellipsoid, sums.squares, self.estimate) * scale[sums.agents, None]
        bias = widths.bias_of(sums.absolute, self.estimate)
        shape = widths.hoeffding_shape(log_term)
        return ListedBound(by_rooms, self._linear(design), np.maximum(square, 0.0), shape, bias)

    def _linear(self, design: Design) -> LinearBound:
        base, rows = rows_of(design)
        rooms = self.rooms(base)[rows]
        return LinearBound(design.marginals, rooms, rooms)

    def _sums(self, design: Design) -> _Sums | None:
        """Return the sums of all rows, kept for the next bound of the same design; None if a set is not listed."""
        if self._last is None or self._last[0] is not design:
            self._last = design, self._summed(design)
        return self._last[1]

    def _summed(self, design: Design) -> _Sums | None:
        base, rows = rows_of(design)
        numbers = np.stack([_numbers(base.profiles[:, j], sets) for j, sets in enumerate(self.sets)], axis=1)
        every = np.arange(len(base.marginals))[rows]
        profile, agents = every // len(base.agents), base.agents[every % len(base.agents)]
        own = numbers[profile, agents]
        if isinstance(design, MovedDesign):
            for i in np.unique(agents).tolist():
                own[agents == i] = _numbers(design.marginals[agents == i] > 0, self.sets[i])
        if (numbers < 0).any() or (own < 0).any():
            return None
        found = np.zeros((3, len(every), max(len(sets) for sets in self.sets)))
        for i in np.unique(agents).tolist():
            mine = np.flatnonzero(agents == i)
            _add_up(*self._tables[i], numbers, profile[mine], own[mine], mine, i, found)
        return _Sums(found[0], found[1], found[2], agents)

    @cached_property
    def _tables(self) -> list[tuple[Any, ...]]:
        """For each agent what each set of each partner adds to y, and what it takes to find c'y.

        The first has shape (n, A, pairs of own sets, unknowns).
        """
        n, k = len(self.sets), self.sets[0].shape[1]
        most = max(len(sets) for sets in self.sets)
        inside = np.zeros((n, most, k), dtype=bool)
        for j, sets in enumerate(self.sets):
            inside[j, : len(sets)] = sets
        tables = []
        for i in range(n):
            pairs = np.array([(u, v) for v in range(len(self.sets[i])) for u in range(v)], dtype=np.int64)
            pairs = pairs.reshape(-1, 2)
            change = self.sets[i][pairs[:, 1]].astype(np.float64) - self.sets[i][pairs[:, 0]]
            solved = self.estimate.project(i, np.eye(k * (n - 1))).solved.T.reshape(k, n - 1, -1)
            added = np.zeros((n, most, len(pairs), solved.shape[2]))
            for place, j in enumerate(j for j in range(n) if j != i):
                weights = inside[j][:, None] * change
                added[j] = (weights.reshape(-1, k) @ solved[:, place]).reshape(added.shape[1:])
            tables.append((added, pairs, change, inside, self.estimate.places(i)))
        return tables


def _numbers(joined: BoolArray, sets: BoolArray) -> IntArray:
    """Return which of the sets (A, k) each row of `joined` (b, k) is, -1 for none."""
    rows, listed = joined.astype(np.float64), sets.astype(np.float64)
    # Two sets are the same if they have as many members as they share.
    shared = rows @ listed.T
    same = (shared == rows.sum(axis=1)[:, None]) & (shared == listed.sum(axis=1))
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


@_compiled
def _add_up(added, pairs, change, inside, places, numbers, profile, own, rows, i, found):
    """Write c'y, |y|^2 and |y|_1 into `found` (3, rows, A) for some rows of agent i; what it plays is in `own`."""
    n, _, _, size = added.shape
    k = inside.shape[2]
    sums = np.zeros((n + 1, size))  # over the first partners
    last = np.empty(n, dtype=np.int64)
    for p in range(len(pairs)):
        last[:] = -1
        for t in range(len(rows)):
            if own[t] == pairs[p, 0]:
                other = pairs[p, 1]
            elif own[t] == pairs[p, 1]:
                other = pairs[p, 0]
            else:
                continue
            now = numbers[profile[t]]
            first = 0
            while first < n and (first == i or now[first] == last[first]):
                first += 1
            for j in range(first, n):
                last[j] = now[j]
                one = added[j, now[j], p]
                for h in range(size):
                    sums[j + 1, h] = sums[j, h] + one[h]
            y = sums[n]
            square, absolute = 0.0, 0.0
            for h in range(size):
                square += y[h] * y[h]
                absolute += abs(y[h])
            inner = 0.0
            for l in range(k):
                if change[p, l] == 0:
                    continue
                in_room = 0.0
                for j in range(n):
                    if j != i and inside[j, now[j], l]:
                        in_room += y[places[l * (n - 1) + j - (j > i)]]
                inner += change[p, l] * in_room
            found[0, rows[t], other] = inner
            found[1, rows[t], other] = square
            found[2, rows[t], other] = absolute
