"""Upper bounds for gains, as functions of the deviation, and their maximum over an action space.

If agent i with marginals p moves to the set a', coalition l enters her gain with coefficient
x_l = 1[l in a'] - p_l. A `GainBound` says, for every x, how large the gain can be. Its maximum over
a' is taken by enumeration where the space is small, and else through the space's linear oracle
with a valid relaxation, so that 2^k sets are never listed.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.steps import small_steps

if TYPE_CHECKING:
    from coterie.certificates.widths import Shape

LogTerm = float | FloatArray
"""log(1 / share of delta) of a deviation: one for all, or one per agent and enumerated action.

An array has a row per agent, filled up on the right where agents have fewer actions."""

ENUMERATED = 4096
"""Action spaces up to this size are enumerated: the maximum over deviations is then exact."""

MANY, CELLS = 5_000_000, 2_000_000
"""From so many agents x coalitions x coalitions on, moves from one room to another are looked at as such; so many
numbers are handled at once."""

RELAXATION_STEPS = 25
"""Any scale gives a valid bound; these many steps of golden section find the best to a millionth."""


def is_enumerated(space: ActionSpace) -> bool:
    """Return whether deviations in this space are tried one by one."""
    return space.size <= ENUMERATED


class GainBound(ABC):
    """An upper bound for every agent's gain from every deviation under one profile."""

    marginals: FloatArray
    own_counts: ClassVar[bool] = False
    """Whether staying with one's own set is a deviation too (only in the paper's certificate)."""

    @abstractmethod
    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        """Return the bound for deviation vectors x, shape (g, A, k), of the g given agents: (g, A)."""

    @abstractmethod
    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        """Return numbers that no deviation in `space` exceeds, and deviations that come close."""

    def to_sets(self, sets: FloatArray, rows: IntArray | slice) -> FloatArray:
        """Return the bound of every given row of a pure design for moving to each of `sets` (A, k), shape (rows, A).

        The same as `at`; quicker where matrix products do: the deviation vector x = a' - a of a pure profile has
        entries -1, 0 and 1, so sums of squares are linear in a' once the agent's own a is known:

            sum of x_l^2 s_l  =  a' . ((1 - 2 a) s) + a . s
        """
        agents = np.arange(len(self.marginals))[rows]
        return self.at(sets[None] - self.marginals[rows][:, None], agents)

    def to_singles(self, rows: IntArray) -> FloatArray:
        """Return the bound of moving to no room, then to each alone, of agents who are in one at most: (rows, 1 + k).

        The same as `at`, and what own rooms say does not count; quicker, as two rooms matter at a time.
        """
        k = self.marginals.shape[1]
        found, sets = np.empty((len(rows), k + 1)), np.eye(k + 1, k, -1)
        step = max(1, CELLS // sets.size)
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            found[first : first + step] = self.at(sets[None] - self.marginals[some][:, None], some)
        return found


@dataclass(frozen=True, eq=False)
class LinearBound(GainBound):
    """sum over l in a' of (1 - p_l) if_joined_l - sum over l not in a' of p_l if_left_l.

    So x_l = 1[l in a'] - p_l counts with the one where it is positive, with the other where it is negative; any other
    x will do as well.
    """

    marginals: FloatArray
    if_joined: FloatArray
    if_left: FloatArray

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        upper, lower = self.if_joined[agents], self.if_left[agents]
        worth = np.maximum(x, 0) @ _finite(upper)[:, :, None] + np.minimum(x, 0) @ _finite(lower)[:, :, None]
        infinite = ((x > 0) & np.isinf(upper)[:, None]) | ((x < 0) & np.isinf(lower)[:, None])
        return np.where(infinite.any(axis=2), np.inf, worth[:, :, 0])

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        p = self.marginals[agents]
        return _oracle(space, (1 - p) * _large(self.if_joined[agents]), -p * _large(self.if_left[agents]))

    def to_sets(self, sets: FloatArray, rows: IntArray | slice) -> FloatArray:
        own, upper, lower = self.marginals[rows], self.if_joined[rows], self.if_left[rows]
        if not (np.isfinite(upper).all() and np.isfinite(lower).all()):
            return super().to_sets(sets, rows)
        joined, left = (1 - own) * upper, -own * lower
        return np.asarray((joined - left) @ sets.T + left.sum(axis=1)[:, None])

    def to_singles(self, rows: IntArray) -> FloatArray:
        left = np.where(self.marginals[rows] > 0, self.if_left[rows], 0.0).sum(axis=1, keepdims=True)
        return np.hstack([-left, self.if_joined[rows] - left])


@dataclass(frozen=True, eq=False)
class RootBound(GainBound):
    """A linear part plus a width that grows with the root of a quadratic form of x; `widths` has what it is made of.

    width(x) = shape(x' Q x, m) + |x' bias|_1, m = max over l of |x_l| largest_l, with `Shape.width` of the variance and
    the largest step. Where `absolute`, Q is applied to |x|.
    """

    linear: LinearBound
    square: FloatArray
    """(n, k) for a diagonal Q, else (n, k, k)."""
    shape: "Shape"
    bias: FloatArray | None = None
    """(n, k, d): the estimate may be off by the 1-norm of x' bias on top."""
    absolute: bool = False
    largest: FloatArray | None = None

    @property
    def marginals(self) -> FloatArray:  # type: ignore[override]
        return self.linear.marginals

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        return self.linear.at(x, agents) + self.width(x, agents)

    def width(self, x: FloatArray, agents: IntArray) -> FloatArray:
        """Return the uncertainty of each deviation, shape (g, A)."""
        width = self.noise(x, agents)
        return width if self.bias is None else width + np.abs(x @ self.bias[agents]).sum(axis=2)

    def noise(self, x: FloatArray, agents: IntArray) -> FloatArray:
        """Return the uncertainty of each deviation but for the bias, shape (g, A)."""
        size = np.abs(x)
        form = _quadratic(size if self.absolute else x, self.square[agents])
        largest = 0.0 if self.largest is None else (size * self.largest[agents, None]).max(axis=2)
        return self.shape.of(agents, x.shape[1]).width(form, largest)

    def to_sets(self, sets: FloatArray, rows: IntArray | slice) -> FloatArray:
        if self.square.ndim != 2 or self.bias is not None:
            return super().to_sets(sets, rows)
        own, square = self.marginals[rows], self.square[rows]
        form = ((1 - 2 * own) * square) @ sets.T + (own * square).sum(axis=1)[:, None]
        np.maximum(form, 0.0, out=form)
        largest = np.zeros_like(form) if self.largest is not None else np.zeros(())
        if self.largest is not None:
            steps = self.largest[rows]
            for l in range(sets.shape[1]):
                changed = sets[:, l] != own[:, l, None]
                np.maximum(largest, changed * steps[:, l, None], out=largest)
        return self.linear.to_sets(sets, rows) + self.shape.of(rows, len(sets)).width(form, largest)

    def to_singles(self, rows: IntArray) -> FloatArray:
        if self.square.ndim != 2 or self.bias is not None or isinstance(self.shape.times_sqrt, np.ndarray):
            return super().to_singles(rows)
        inside, square = self.marginals[rows] > 0, self.square[rows]
        own = np.where(inside, square, 0.0).sum(axis=1, keepdims=True)
        largest: FloatArray | float = 0.0
        if self.largest is not None:
            steps = self.largest[rows]
            left = np.where(inside, steps, 0.0).max(axis=1, keepdims=True)
            largest = np.hstack([left, np.maximum(steps, left)])
        return self.linear.to_singles(rows) + self.shape.width(np.hstack([own, square + own]), largest)

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        assert not isinstance(self.shape.times_sqrt, np.ndarray), "unequal shares of delta need enumerated actions"
        value, action = self._relaxed_by_rooms(space, agents)
        for diagonal in self._diagonals(agents):
            other, found = self._relaxed_by_scale(space, agents, diagonal)
            action = np.where((other < value)[:, None], found, action)
            value = np.minimum(value, other)
        return value, action

    def _diagonals(self, agents: IntArray) -> list[FloatArray]:
        """Return diagonals D, shape (g, k), with x' Q x <= x' D x for every deviation.

        For weights s > 0, 2 x_l x_m Q_lm <= P_lm (x_l^2 s_m / s_l + x_m^2 s_l / s_m) if x_l x_m Q_lm <= |x_l x_m| P_lm,
        so D_l = Q_ll + sum over other m of P_lm s_m / s_l. P is |Q|; where the signs of x_l and x_m are known
        (somebody who is surely in can only leave), or Q is applied to |x|, it is the positive part of what they make
        of Q. With s = 1, and with s_l = sqrt(Q_ll).
        """
        square = self.square[agents]
        if square.ndim == 2:
            return [square]
        p = self.marginals[agents]
        sign = np.ones_like(p) if self.absolute else np.where(p == 0, 1.0, np.where(p == 1, -1.0, np.nan))
        signed = square * sign[:, :, None] * sign[:, None, :]
        pull = np.where(np.isnan(signed), np.abs(square), np.maximum(signed, 0.0))
        own = np.maximum(np.einsum("gll->gl", square), 0.0)
        rooms = np.arange(square.shape[1])
        pull[:, rooms, rooms] = own
        root = np.sqrt(own)
        # A room without any variance has no covariances either, but rounding may leave some.
        ratio = root[:, None, :] / np.where(root > 0, root, np.inf)[:, :, None]
        scaled = np.where((root > 0)[:, :, None] & (root > 0)[:, None, :], ratio, 1.0)
        return [pull.sum(axis=2), (pull * scaled).sum(axis=2)]

    def _linear_parts(self, agents: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p, and what joining and leaving each coalition is worth, with the bias at its largest."""
        p = self.marginals[agents]
        slack = np.zeros_like(p) if self.bias is None else np.abs(self.bias[agents]).sum(axis=2)
        upper, lower = _large(self.linear.if_joined[agents]) + slack, _large(self.linear.if_left[agents]) - slack
        return p, (1 - p) * upper, -p * lower

    def _relaxed_by_rooms(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        """Bound the width room by room: sqrt(x' Q x) <= sum |x_l| sqrt(Q_ll), and likewise the rest.

        Linear in a', and 0 for staying: it certifies stability as soon as no single room is worth it.
        """
        p, joined, left = self._linear_parts(agents)
        square, (root, floor, slope) = self.square[agents], self.shape
        diagonal = square if square.ndim == 2 else np.einsum("gll->gl", square)
        width = root * np.sqrt(np.maximum(diagonal, 0.0))
        if self.largest is not None:
            width = width + (root * np.sqrt(floor) + slope) * self.largest[agents]  # sqrt(S + floor m^2) <= both roots
        return _oracle(space, joined + (1 - p) * width, left + p * width)

    def _relaxed_by_scale(
        self, space: ActionSpace, agents: IntArray, square: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Use sqrt(S) <= mu S + 1 / (4 mu), which is separable in l for a diagonal S, at the best mu for each agent.

        A maximum of functions (linear in mu) + 1 / (4 mu) is convex, so the best mu is found by
        golden section in log(mu); the bracket covers every possible optimum mu = 1 / (2 sqrt(S)).
        """
        p, joined, left = self._linear_parts(agents)
        root, constant, floor = self.shape.times_sqrt, np.zeros(len(agents)), np.zeros(len(agents))
        if self.largest is not None:
            # The step m at its largest.
            largest = (np.maximum(p, 1 - p) * self.largest[agents]).max(axis=1)
            constant, floor = self.shape.slope * largest, self.shape.floor * largest**2

        def at_scale(mu: FloatArray) -> tuple[FloatArray, BoolArray]:
            pull = root * mu[:, None]
            value, action = _oracle(space, joined + pull * (1 - p) ** 2 * square, left + pull * p**2 * square)
            return value + constant + root * (mu * floor + 1 / (4 * mu)), action

        total = (square * np.maximum(p, 1 - p) ** 2).sum(axis=1) + floor
        smallest = np.where(square > 0, square, np.inf).min(axis=1, initial=np.inf)
        begin = -np.log(2 * np.sqrt(np.maximum(total, 1e-300))) - 1
        end = np.maximum(-np.log(2 * np.sqrt(np.clip(smallest * 1e-4, 1e-300, 1e300))), begin + 1)
        golden = (np.sqrt(5) - 1) / 2
        best, action = at_scale(np.exp(begin))
        for _ in range(RELAXATION_STEPS):
            one, two = end - golden * (end - begin), begin + golden * (end - begin)
            (value_one, action_one), (value_two, action_two) = at_scale(np.exp(one)), at_scale(np.exp(two))
            for value, found in ((value_one, action_one), (value_two, action_two)):
                action = np.where((value < best)[:, None], found, action)
                best = np.minimum(best, value)
            lower_half = value_one < value_two
            begin, end = np.where(lower_half, begin, one), np.where(lower_half, two, end)
        return best, action


@dataclass(frozen=True, eq=False)
class SmallerOf(GainBound):
    """The smaller of several bounds, all of which hold."""

    bounds: tuple[GainBound, ...]

    @property
    def marginals(self) -> FloatArray:  # type: ignore[override]
        return self.bounds[0].marginals

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        return np.asarray(np.minimum.reduce([bound.at(x, agents) for bound in self.bounds]))

    def to_sets(self, sets: FloatArray, rows: IntArray | slice) -> FloatArray:
        found = self.bounds[0].to_sets(sets, rows)
        for bound in self.bounds[1:]:
            np.minimum(found, bound.to_sets(sets, rows), out=found)
        return found

    def to_singles(self, rows: IntArray) -> FloatArray:
        return np.asarray(np.minimum.reduce([bound.to_singles(rows) for bound in self.bounds]))

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        found = [bound.relaxed(space, agents) for bound in self.bounds]
        values = np.stack([value for value, _ in found])
        best = values.argmin(axis=0)
        actions = np.stack([action for _, action in found])[best, np.arange(len(agents))]
        return values.min(axis=0), actions


@dataclass(frozen=True, eq=False)
class Worst:
    """For every agent the largest bound over her deviations, and a deviation that attains it."""

    value: FloatArray
    """-inf for an agent who has no other action. Where moves were not enumerated, a negative value is
    that of the small move that comes closest: all moves are then known to be worth less than 0."""
    action: BoolArray
    is_exact: bool
    """False where the maximum was bounded through the oracle instead of enumerated."""
    counted: BoolArray
    """Whose bounds count; of the others it is known what they are."""

    @property
    def largest(self) -> float:
        """The largest bound of all that count."""
        return float(self.value[self.counted].max())


def worst_deviations(bound: GainBound, spaces: ActionSpaces) -> Worst:
    """Maximise a bound over every agent's real deviations: for a pure profile her own set does not count."""
    value = np.empty(spaces.n_agents)
    action = np.empty((spaces.n_agents, spaces.n_coalitions), dtype=bool)
    is_exact = True
    many = spaces.n_agents * spaces.n_coalitions**2 > MANY and _are_single(bound, spaces)
    if many:
        value, action = _worst_singles(bound, spaces)
    for space, agents in () if many else spaces.groups:
        if is_enumerated(space):
            sets = space.enumerate()
            step = max(1, 2_000_000 // sets.size)
            for start in range(0, len(agents), step):
                some = agents[start : start + step]
                x = sets[None].astype(np.float64) - bound.marginals[some, None]
                found = bound.at(x, some)
                if not bound.own_counts:
                    found[~(x != 0).any(axis=2)] = -np.inf
                best = found.argmax(axis=1)
                value[some], action[some] = found[np.arange(len(some)), best], sets[best]
        else:
            value[agents], action[agents] = bound.relaxed(space, agents)
            is_exact = False
            if not bound.own_counts:
                stays = (action[agents] == bound.marginals[agents]).all(axis=1)
                for i in agents[stays].tolist():
                    value[i], action[i] = _closest_move(bound, space, i, action[i], float(value[i]))
    # Not a number must never read as "nobody gains".
    return Worst(np.where(np.isnan(value), np.inf, value), action, is_exact, spaces.counted)


def _are_single(bound: GainBound, spaces: ActionSpaces) -> bool:
    """Return whether everybody is in one room for sure, or in none, and may go to single rooms alone."""
    if bound.own_counts or spaces.limits is None or (spaces.limits[0] > 1).any():
        return False
    return bool(np.isin(bound.marginals, (0, 1)).all() and (bound.marginals.sum(axis=1) <= 1).all())


def _worst_singles(bound: GainBound, spaces: ActionSpaces) -> tuple[FloatArray, BoolArray]:
    """Return the largest bounds and where they are attained, of agents who move from one room to another."""
    assert spaces.limits is not None
    n, k = bound.marginals.shape
    value, action = np.empty(n), np.zeros((n, k), dtype=bool)
    step = max(1, CELLS // k)
    for first in range(0, n, step):
        rows = np.arange(first, min(first + step, n))
        found, own = bound.to_singles(rows), bound.marginals[rows] > 0
        found[:, 1:][own | ~spaces.can_join[rows]] = -np.inf
        found[~spaces.limits[1][rows] | ~own.any(axis=1), 0] = -np.inf
        best = found.argmax(axis=1)
        value[rows] = found[np.arange(len(rows)), best]
        joins = best > 0
        action[rows[joins], best[joins] - 1] = True
    return value, action


def _closest_move(
    bound: GainBound, space: ActionSpace, agent: int, own: BoolArray, value: float
) -> tuple[float, BoolArray]:
    """Name a real move for an agent for whom the oracle chose to stay: to join, leave or swap one coalition.

    The oracle's `value` bounds all her moves. If it is not positive they are all worth less than
    nothing, and the move's own bound may stand in for it; else it must stay as it is.
    """
    few = own.sum() * (~own).sum() <= ENUMERATED
    moves = small_steps(space, own, None if few else 0)
    if not len(moves):
        return value, own
    found = bound.at(moves[None].astype(np.float64) - bound.marginals[agent], np.array([agent]))[0]
    best = int(found.argmax())
    return (float(found[best]) if value <= 0 else value), moves[best]


def _quadratic(x: FloatArray, square: FloatArray) -> FloatArray:
    if square.ndim == 2:
        return np.asarray((x**2 @ square[:, :, None])[:, :, 0])
    return np.asarray(np.maximum(((x @ square) * x).sum(axis=2), 0.0))


INFINITE = 1e150
"""Stands for infinity where numbers must be added."""


def _oracle(space: ActionSpace, joined: FloatArray, left: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Maximise sum over l in a' of joined_l + sum over l not in a' of left_l."""
    # What no action does must not take part, or its infinity would swallow the rest.
    joined, left = np.where(space.can_join, joined, 0.0), np.where(space.can_avoid, left, 0.0)
    value, action = space.best_responses(joined - left)
    value = value + left.sum(axis=1)
    return np.where(value > INFINITE / 10, np.inf, value), action


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isinf(values), 0.0, values)


def _large(values: FloatArray) -> FloatArray:
    return np.clip(values, -INFINITE, INFINITE)
