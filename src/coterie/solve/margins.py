"""Margins of profiles and of moves, compiled, where every sum of a bound adds up over partners.

In size-free games all that a bound of a gain needs of agent i's room l are sums over the partners j in it (what it is
worth at most and at least, its variance) and the largest of their steps. So one table of what each partner adds,
`Cells`, is all that there is to know, and a move of j changes sums in the coalitions that j joins or leaves, by one
number each. A bound is the smallest of its *pieces*, each of which is for a deviation that changes the rooms D

    sum over l joined of upper_l - sum over l left of lower_l + root sqrt(S + floor m^2) + slope m

with S = sum over l in D of square_l and m = max over l in D of step_l: the bounds of `coterie.certificates.gains`.

Most moves need not be looked at in full. After a move, an agent's margin is at least what her worst deviation of
before is worth now, which takes one set instead of all. Agents come in the order of their margins, the largest first,
and a move is done with as soon as it is known to be no better than what is there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.gains import GainBound, LinearBound, RootBound, SmallerOf

_compiled: Any = numba.njit(cache=True, nogil=True)


@dataclass(frozen=True, eq=False)
class Cells:
    """What each partner adds to the sums of every piece of a bound, and who may do what."""

    upper: FloatArray
    """Of agent, partner, piece and coalition, shape (n, n, p, k); so are `lower`, `square` and `step`."""
    lower: FloatArray
    square: FloatArray
    step: FloatArray
    has_width: BoolArray
    """Which pieces have a width at all, shape (p,)."""
    root: FloatArray
    """Of piece, agent, own action and deviation, shape (p, n, A, A), or (p, 1, 1, 1) where it is one for all."""
    floor: FloatArray
    slope: FloatArray
    inside: FloatArray
    """1 where a set holds a coalition, by group of agents, coalition and set, shape (groups, k, A)."""
    count: IntArray
    """How many sets each group has, shape (groups,)."""
    group: IntArray
    """The group of each agent, shape (n,)."""
    counted: BoolArray
    """Whose margins count, shape (n,)."""


@dataclass(frozen=True, eq=False)
class At:
    """The sums of one profile, everybody's margin there, and the deviation that has it."""

    joined: BoolArray
    upper: FloatArray
    """Of agent, piece and coalition, shape (n, p, k); so are the others."""
    lower: FloatArray
    square: FloatArray
    first: FloatArray
    second: FloatArray
    holder: IntArray
    """Whose step is the first."""
    own: IntArray
    """The number of everybody's own set, -1 where it is not among her actions."""
    margin: FloatArray
    worst: IntArray
    order: IntArray
    """Agents by margin, the largest first."""


def cells_of(
    bound_of: Callable[[BoolArray], GainBound],
    sets: Sequence[FloatArray],
    group: IntArray,
    counted: BoolArray,
) -> Cells | None:
    """Return what each partner adds; None where bounds have another form, or are not finite.

    Parameters
    ----------
    bound_of
        The bound of every deviation under profiles (b, n, k): a row for each profile and agent, profile by profile.
    sets
        The enumerated actions of each group of agents, shape (A, k).
    group, counted
        The group of each agent, and whose margins count.
    """
    n, k = len(group), sets[0].shape[1]
    largest = max(len(one) for one in sets)
    # A profile in which only j is anywhere tells what j adds to everybody's rooms.
    alone = np.zeros((n, n, k), dtype=bool)
    alone[np.arange(n), np.arange(n)] = True
    blocks, step = [], max(1, AT_ONCE // (n * n * k))
    for start in range(0, n, step):
        pieces = _pieces(bound_of(alone[start : start + step]))
        if pieces is None:
            return None
        blocks.append(np.stack([_room_sums(one) for one in pieces], axis=2))
    # By (upper, lower, square, step), partner and agent, piece, coalition.
    found = np.concatenate(blocks, axis=1).reshape(4, n, n, -1, k)
    if not np.isfinite(found).all():
        return None
    found[:, np.arange(n), np.arange(n)] = 0.0
    upper, lower, square, step_of = (np.ascontiguousarray(one.transpose(1, 0, 2, 3)) for one in found)
    inside = np.zeros((len(sets), k, largest))
    for t, one in enumerate(sets):
        inside[t, :, : len(one)] = one.T
    shapes = _shapes(bound_of, pieces, [sets[t] for t in group], largest)
    return Cells(
        upper, lower, square, step_of, np.array([isinstance(one, RootBound) for one in pieces]), *shapes, inside,
        np.array([len(one) for one in sets]), group, counted,
    )  # fmt: skip


AT_ONCE = 4_000_000
"""What each partner adds is found out for so many (partners x agents x agents x coalitions) at once."""


def _pieces(bound: GainBound) -> list[LinearBound | RootBound] | None:
    """Return the pieces of a bound that is the smallest of several; None where one of them is of another kind."""
    if isinstance(bound, SmallerOf):
        found = [_pieces(one) for one in bound.bounds]
        return None if any(one is None for one in found) else [piece for one in found for piece in one or ()]
    if isinstance(bound, LinearBound):
        return [bound]
    adds_up = isinstance(bound, RootBound) and bound.square.ndim == 2 and bound.bias is None and not bound.absolute
    return [bound] if isinstance(bound, RootBound) and adds_up else None


def _room_sums(piece: LinearBound | RootBound) -> FloatArray:
    """Return upper, lower, square and step of every row and coalition, shape (4, rows, k)."""
    if isinstance(piece, LinearBound):
        nothing = np.zeros_like(piece.if_joined)
        return np.stack([piece.if_joined, piece.if_left, nothing, nothing])
    linear, step = piece.linear, piece.largest
    return np.stack(
        [linear.if_joined, linear.if_left, piece.square, np.zeros_like(piece.square) if step is None else step]
    )


def _shapes(
    bound_of: Callable[[BoolArray], GainBound],
    pieces: Sequence[LinearBound | RootBound],
    sets: Sequence[FloatArray],
    largest: int,
) -> list[FloatArray]:
    """Return root, floor and slope of every piece, by agent, own action and deviation where they differ."""
    shapes = [one.shape if isinstance(one, RootBound) else (0.0, 0.0, 0.0) for one in pieces]
    if not any(isinstance(number, np.ndarray) for shape in shapes for number in shape):
        return [np.array([shape[t] for shape in shapes]).reshape(-1, 1, 1, 1) for t in range(3)]
    tables = np.zeros((3, len(pieces), len(sets), largest, largest))
    for own in range(largest):
        profile = np.array([one[min(own, len(one) - 1)] for one in sets], dtype=bool)
        now = _pieces(bound_of(profile[None]))
        assert now is not None
        for p, one in enumerate(now):
            for t, number in enumerate(one.shape if isinstance(one, RootBound) else ()):
                tables[t, p, :, own] = number
    return list(tables)


class Margins:
    """Margins of profiles and of moves; the sums of a profile are kept while a search looks at moves from it."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._kept: tuple[bytes, At] | None = None

    def margins(self, profiles: BoolArray, agents: IntArray) -> FloatArray:
        """Return the margins of agents under profiles (b, n, k), shape (b, g)."""
        return np.asarray(_margins(*self._tables, *self._bounds, np.ascontiguousarray(profiles), agents))

    def moved_margins(self, profile: BoolArray, movers: IntArray, actions: BoolArray) -> FloatArray:
        """Return the margin of each mover herself after her move."""
        here = self._at(profile)
        return np.asarray(_of_movers(*self._bounds, *_state(here), movers, np.ascontiguousarray(actions)))

    def margins_of_moves(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, agents: IntArray, cut: float
    ) -> FloatArray:
        """Return margins after each move, shape (m, g); where one is at least `cut`, that alone is sure."""
        here = self._at(profile)
        order = np.argsort(-here.margin[agents], kind="stable")
        return np.asarray(
            _of_moves(
                *self._tables, *self._bounds, *_state(here), here.worst, movers, np.ascontiguousarray(actions), agents,
                order, float(cut),
            )
        )  # fmt: skip

    def softest_move(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, width: float, below: float
    ) -> tuple[int, FloatArray]:
        """Return the move after which log sum exp(margin / width) is smallest, and the margins; -1: none `below`."""
        here = self._at(profile)
        found, row = _softest(
            *self._tables, *self._bounds, *_state(here), here.worst, movers, np.ascontiguousarray(actions), here.order,
            float(width), float(below),
        )  # fmt: skip
        return int(found), np.asarray(row)

    def _at(self, profile: BoolArray) -> At:
        key = profile.tobytes()
        if self._kept is None or self._kept[0] != key:
            cells, joined = self.cells, np.array(profile, order="C")
            sums = _sums(*self._tables, joined)
            own = _own_sets(joined, cells.inside, cells.count, cells.group)
            margin, worst = _margins_here(*self._bounds, *sums[:4], joined, own, np.arange(len(joined)))
            self._kept = key, At(joined, *sums, own, margin, worst, np.argsort(-margin, kind="stable"))
        return self._kept[1]

    @property
    def _tables(self) -> tuple[Any, ...]:
        cells = self.cells
        return cells.upper, cells.lower, cells.square, cells.step

    @property
    def _bounds(self) -> tuple[Any, ...]:
        cells = self.cells
        return (
            cells.has_width, cells.root, cells.floor, cells.slope, cells.inside, cells.count, cells.group,
            cells.counted,
        )  # fmt: skip


def _state(here: At) -> tuple[Any, ...]:
    return here.upper, here.lower, here.square, here.first, here.second, here.holder, here.joined, here.own


# --- Compiled: no two numbers are added in an order that depends on the machine ---------------------------


@_compiled
def _sums(upper, lower, square, step, joined):
    """Return the sums over partners, the two largest steps, and whose the largest is."""
    n, _, pieces, k = upper.shape
    shape = (n, pieces, k)
    above, below, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    first, second, holder = np.zeros(shape), np.zeros(shape), np.full(shape, -1)
    for i in range(n):
        for j in range(n):
            for p in range(pieces * (i != j)):
                for l in range(k):
                    if joined[j, l]:
                        above[i, p, l] += upper[i, j, p, l]
                        below[i, p, l] += lower[i, j, p, l]
                        squares[i, p, l] += square[i, j, p, l]
                        size = step[i, j, p, l]
                        if size > first[i, p, l]:
                            second[i, p, l] = first[i, p, l]
                            first[i, p, l] = size
                            holder[i, p, l] = j
                        elif size > second[i, p, l]:
                            second[i, p, l] = size
    return above, below, squares, first, second, holder


@_compiled
def _own_set(own, inside, count):
    for a in range(count):
        same = True
        for l in range(len(own)):
            if (inside[l, a] > 0) != own[l]:
                same = False
                break
        if same:
            return a
    return -1


@_compiled
def _own_sets(joined, inside, count, group):
    found = np.empty(len(joined), dtype=np.int64)
    for i in range(len(joined)):
        found[i] = _own_set(joined[i], inside[group[i]], count[group[i]])
    return found


@_compiled
def _shape(table, p, i, own, a):
    if table.shape[1] == 1 and table.shape[3] == 1:
        return table[p, 0, 0, 0]
    return table[p, i, own, a]


@_compiled
def _to_set(has_width, root, floor, slope, inside, up, low, squares, steps, joined, i, own, a):
    """Return the bound of one deviation of agent i, whose rooms are given by piece, shape (p, k)."""
    smallest = np.inf
    for p in range(len(has_width)):
        value, square, step = 0.0, 0.0, 0.0
        for l in range(len(joined)):
            if (inside[l, a] > 0) == joined[l]:
                continue
            value += -low[p, l] if joined[l] else up[p, l]
            square += squares[p, l]
            step = max(step, steps[p, l])
        if has_width[p]:
            value += _shape(root, p, i, own, a) * np.sqrt(square + _shape(floor, p, i, own, a) * step * step)
            value += _shape(slope, p, i, own, a) * step
        smallest = min(smallest, value)
    return smallest


@_compiled
def _worst(has_width, root, floor, slope, inside, count, up, low, squares, steps, joined, i, own, work):
    """Return the largest bound over all of an agent's deviations, and which one has it."""
    value, square, step, least = work
    single = root.shape[1] == 1 and root.shape[3] == 1
    for p in range(len(has_width)):
        for a in range(count):
            value[a] = 0.0
            square[a] = 0.0
            step[a] = 0.0
        for l in range(len(joined)):
            if joined[l]:
                v, s, m = -low[p, l], squares[p, l], steps[p, l]
                for a in range(count):
                    out = 1.0 - inside[l, a]
                    value[a] += v * out
                    square[a] += s * out
                    step[a] = step[a] if step[a] > m * out else m * out
            else:
                v, s, m = up[p, l], squares[p, l], steps[p, l]
                for a in range(count):
                    out = inside[l, a]
                    value[a] += v * out
                    square[a] += s * out
                    step[a] = step[a] if step[a] > m * out else m * out
        if has_width[p] and single:
            r, f, g = root[p, 0, 0, 0], floor[p, 0, 0, 0], slope[p, 0, 0, 0]
            for a in range(count):
                value[a] += r * np.sqrt(square[a] + f * step[a] * step[a]) + g * step[a]
        elif has_width[p]:
            for a in range(count):
                width = _shape(root, p, i, own, a) * np.sqrt(square[a] + _shape(floor, p, i, own, a) * step[a] ** 2)
                value[a] += width + _shape(slope, p, i, own, a) * step[a]
        for a in range(count):
            least[a] = value[a] if p == 0 or value[a] < least[a] else least[a]
    largest, which = -np.inf, -1
    for a in range(count):
        if a != own and least[a] > largest:
            largest, which = least[a], a
    return largest, which


@_compiled
def _room_for(count):
    most = count.max()
    return np.empty(most), np.empty(most), np.empty(most), np.empty(most)


@_compiled
def _margins_here(
    has_width, root, floor, slope, inside, count, group, counted, up, low, squares, steps, joined, own, agents
):
    margin, worst, work = np.full(len(agents), -np.inf), np.full(len(agents), -1), _room_for(count)
    for t in range(len(agents)):
        i = agents[t]
        if counted[i]:
            g = group[i]
            margin[t], worst[t] = _worst(
                has_width, root, floor, slope, inside[g], count[g], up[i], low[i], squares[i], steps[i],
                joined[i], i, own[i], work,
            )  # fmt: skip
    return margin, worst


@_compiled
def _margins(
    upper, lower, square, step, has_width, root, floor, slope, inside, count, group, counted, profiles, agents
):
    found = np.empty((len(profiles), len(agents)))
    for b in range(len(profiles)):
        joined = profiles[b]
        above, below, squares, first, _, _ = _sums(upper, lower, square, step, joined)
        own = _own_sets(joined, inside, count, group)
        found[b], _ = _margins_here(
            has_width, root, floor, slope, inside, count, group, counted, above, below, squares, first, joined, own,
            agents,
        )  # fmt: skip
    return found


@_compiled
def _of_movers(
    has_width, root, floor, slope, inside, count, group, counted, up, low, squares, first, second, holder, joined, own,
    movers, actions,
):  # fmt: skip
    found, work = np.full(len(movers), -np.inf), _room_for(count)
    for t in range(len(movers)):
        i = movers[t]
        if counted[i]:
            g = group[i]
            mine = _own_set(actions[t], inside[g], count[g])
            found[t], _ = _worst(
                has_width, root, floor, slope, inside[g], count[g], up[i], low[i], squares[i], first[i],
                actions[t], i, mine, work,
            )  # fmt: skip
    return found


@_compiled
def _follow(
    upper, lower, square, step, up, low, squares, first, second, holder, i, j, before, after, new_up, new_low,
    new_squares, new_steps,
):  # fmt: skip
    """Write the sums of agent i's rooms after a move of j, by piece and coalition."""
    for p in range(upper.shape[2]):
        for l in range(len(before)):
            a, b, s, m = up[i, p, l], low[i, p, l], squares[i, p, l], first[i, p, l]
            if i != j and before[l] != after[l]:
                if after[l]:
                    a += upper[i, j, p, l]
                    b += lower[i, j, p, l]
                    s += square[i, j, p, l]
                    m = max(m, step[i, j, p, l])
                else:
                    a -= upper[i, j, p, l]
                    b -= lower[i, j, p, l]
                    s = max(s - square[i, j, p, l], 0.0)
                    if holder[i, p, l] == j:
                        m = second[i, p, l]
            new_up[p, l], new_low[p, l], new_squares[p, l], new_steps[p, l] = a, b, s, m


@_compiled
def _of_moves(
    upper, lower, square, step, has_width, root, floor, slope, inside, count, group, counted, up, low, squares, first,
    second, holder, joined, own, worst, movers, actions, agents, order, cut,
):  # fmt: skip
    work, shape = _room_for(count), up.shape[1:]
    found = np.full((len(movers), len(agents)), -np.inf)
    u, b, s, m = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    for t in range(len(movers)):
        j = movers[t]
        mine = _own_set(actions[t], inside[group[j]], count[group[j]])
        for place in order:
            i = agents[place]
            if not counted[i]:
                continue
            g = group[i]
            _follow(
                upper, lower, square, step, up, low, squares, first, second, holder, i, j, joined[j], actions[t],
                u, b, s, m,
            )  # fmt: skip
            plays, number = (actions[t], mine) if i == j else (joined[i], own[i])
            if cut < np.inf and i != j and worst[i] >= 0:
                least = _to_set(
                    has_width, root, floor, slope, inside[g], u, b, s, m, plays, i, number, worst[i]
                )  # fmt: skip
                if least >= cut:
                    found[t, place] = least
                    break
            found[t, place], _ = _worst(
                has_width, root, floor, slope, inside[g], count[g], u, b, s, m, plays, i, number, work
            )
            if found[t, place] >= cut:
                break
    return found


@_compiled
def _softest(
    upper, lower, square, step, has_width, root, floor, slope, inside, count, group, counted, up, low, squares, first,
    second, holder, joined, own, worst, movers, actions, order, width, below,
):  # fmt: skip
    n, work = len(joined), _room_for(count)
    u, b, s, m = np.empty(up.shape), np.empty(up.shape), np.empty(up.shape), np.empty(up.shape)
    row, least, best = np.full(n, -np.inf), np.full(n, -np.inf), np.full(n, -np.inf)
    chosen, limit = -1, 1.0  # sums of exp are in units of what they must stay below
    for t in range(len(movers)):
        j = movers[t]
        mine = _own_set(actions[t], inside[group[j]], count[group[j]])
        total = 0.0
        for i in order:
            if not counted[i]:
                continue
            g = group[i]
            _follow(
                upper, lower, square, step, up, low, squares, first, second, holder, i, j, joined[j], actions[t],
                u[i], b[i], s[i], m[i],
            )  # fmt: skip
            if i == j or worst[i] < 0:
                least[i], _ = _worst(
                    has_width, root, floor, slope, inside[g], count[g], u[i], b[i], s[i], m[i],
                    actions[t] if i == j else joined[i], i, mine if i == j else own[i], work,
                )  # fmt: skip
            else:
                least[i] = _to_set(
                    has_width, root, floor, slope, inside[g], u[i], b[i], s[i], m[i], joined[i], i, own[i],
                    worst[i],
                )  # fmt: skip
            total += np.exp(least[i] / width - below)
            if total >= limit:
                break
        if total >= limit:
            continue
        # Nothing speaks against it yet: now in full.
        total = 0.0
        rest = 0.0
        for i in range(n):
            if counted[i]:
                rest += np.exp(least[i] / width - below)
        for i in order:
            row[i] = -np.inf
            if not counted[i]:
                continue
            g = group[i]
            rest -= np.exp(least[i] / width - below)
            if i == j or worst[i] < 0:
                row[i] = least[i]
            else:
                row[i], _ = _worst(
                    has_width, root, floor, slope, inside[g], count[g], u[i], b[i], s[i], m[i], joined[i],
                    i, own[i], work,
                )  # fmt: skip
            total += np.exp(row[i] / width - below)
            if total + rest >= limit * (1 + 1e-12):
                total = np.inf
                break
        if total < limit:
            chosen, limit = t, total
            best[:] = row
    return chosen, best
