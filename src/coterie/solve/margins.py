"""Margins of profiles and of moves, compiled, where every sum of a bound adds up over partners.

In size-free games all that a bound of a gain needs of agent i's room l are sums over the partners j in it (what it is
worth at most and at least, its variance) and the largest of their steps. So one table of what each partner adds,
`Cells`, is all that there is to know, and a move of j changes sums in the coalitions that j joins or leaves, by one
number each. A bound is the smallest of its *pieces*, each of which is for a deviation that changes the rooms D

    sum over l joined of upper_l - sum over l left of lower_l + root sqrt(S + floor m^2) + slope m

with S = sum over l in D of square_l (or a form, where pairs of a sample may depend on each other) and m = max over l
in D of step_l: the bounds of `coterie.certificates.gains`.

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
    forms: FloatArray
    """Where pairs may depend on each other, the matrix H of each agent's unknowns, shape (n, d, d); else d = 0."""
    formed: int
    """The piece whose variance is the form |x|' Phi H Phi' |x|, -1 for none."""
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
    sums: tuple[Any, ...]
    """What `_sums` returns."""
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
    forms: FloatArray | None = None,
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
    forms
        The matrix of each agent's unknowns that the variance of one piece is a form of.
    """
    n, k = len(group), sets[0].shape[1]
    largest = max(len(one) for one in sets)
    # A profile in which only j is anywhere tells what j adds to everybody's rooms.
    alone = np.zeros((n, n, k), dtype=bool)
    alone[np.arange(n), np.arange(n)] = True
    blocks, step = [], max(1, AT_ONCE // (n * n * k))
    pieces: list[LinearBound | RootBound] = []
    for start in range(0, n, step):
        several = _pieces(bound_of(alone[start : start + step]))
        if several is None:
            return None
        pieces = several
        blocks.append(np.stack([_room_sums(one) for one in pieces], axis=2))
    formed = [p for p, one in enumerate(pieces) if isinstance(one, RootBound) and one.absolute]
    if len(formed) > (forms is not None):
        return None
    # By (upper, lower, square, step), partner and agent, piece, coalition.
    found = np.concatenate(blocks, axis=1).reshape(4, n, n, -1, k)
    if not np.isfinite(found).all():
        return None
    found[:, np.arange(n), np.arange(n)] = 0.0
    upper, lower, square, step_of = (np.ascontiguousarray(one.transpose(1, 0, 2, 3)) for one in found)
    inside = np.zeros((len(sets), k, largest))
    for t, one in enumerate(sets):
        inside[t, :, : len(one)] = one.T
    root, floor, slope = _shapes(bound_of, pieces, [sets[t] for t in group], largest)
    return Cells(
        upper=upper,
        lower=lower,
        square=square,
        step=step_of,
        forms=forms if forms is not None and formed else np.zeros((n, 0, 0)),
        formed=formed[0] if formed else -1,
        has_width=np.array([isinstance(one, RootBound) for one in pieces]),
        root=root,
        floor=floor,
        slope=slope,
        inside=inside,
        count=np.array([len(one) for one in sets]),
        group=group,
        counted=counted,
    )


AT_ONCE = 4_000_000
"""What each partner adds is found out for so many (partners x agents x agents x coalitions) at once."""


def _pieces(bound: GainBound) -> list[LinearBound | RootBound] | None:
    """Return the pieces of a bound that is the smallest of several; None where one of them is of another kind."""
    if isinstance(bound, SmallerOf):
        found = [_pieces(one) for one in bound.bounds]
        return None if any(one is None for one in found) else [piece for one in found for piece in one or ()]
    if isinstance(bound, LinearBound):
        return [bound]
    if isinstance(bound, RootBound) and bound.bias is None and (bound.square.ndim == 2 or bound.absolute):
        return [bound]
    return None


def _room_sums(piece: LinearBound | RootBound) -> FloatArray:
    """Return upper, lower, square and step of every row and coalition, shape (4, rows, k)."""
    if isinstance(piece, LinearBound):
        nothing = np.zeros_like(piece.if_joined)
        return np.stack([piece.if_joined, piece.if_left, nothing, nothing])
    linear, nothing = piece.linear, np.zeros_like(piece.linear.if_joined)
    square = nothing if piece.absolute else piece.square  # a form does not add up over partners
    return np.stack([linear.if_joined, linear.if_left, square, nothing if piece.largest is None else piece.largest])


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
        return np.asarray(_margins(self._tables, self._bounds, np.ascontiguousarray(profiles), agents))

    def moved_margins(self, profile: BoolArray, movers: IntArray, actions: BoolArray) -> FloatArray:
        """Return the margin of each mover herself after her move."""
        here = self._at(profile)
        return np.asarray(_of_movers(self._tables, self._bounds, here.sums, movers, np.ascontiguousarray(actions)))

    def margins_of_moves(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, agents: IntArray, cut: float
    ) -> FloatArray:
        """Return margins after each move, shape (m, g); where one is at least `cut`, that alone is sure."""
        here, actions = self._at(profile), np.ascontiguousarray(actions)
        order = np.argsort(-here.margin[agents], kind="stable")
        found = _of_moves(
            self._tables, self._bounds, here.sums, here.joined, here.own, here.worst, movers, actions, agents, order,
            float(cut),
        )  # fmt: skip
        return np.asarray(found)

    def softest_move(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, width: float, below: float
    ) -> tuple[int, FloatArray]:
        """Return the move after which log sum exp(margin / width) is smallest, and the margins; -1: none `below`."""
        here, actions = self._at(profile), np.ascontiguousarray(actions)
        order = np.array([i for i in here.order.tolist() if self.cells.counted[i]], dtype=np.int64)
        found, row = _softest(
            self._tables, self._bounds, here.sums, here.joined, here.own, here.worst, movers, actions, order,
            float(width), float(below),
        )  # fmt: skip
        return int(found), np.asarray(row)

    def _at(self, profile: BoolArray) -> At:
        key = profile.tobytes()
        if self._kept is None or self._kept[0] != key:
            joined = np.array(profile, order="C")
            sums = _sums(self._tables, joined)
            own = _own_sets(self._bounds, joined)
            everybody = np.arange(len(joined))
            margin, worst = _margins_here(self._bounds, self.cells.formed, sums, joined, own, everybody)
            self._kept = key, At(joined, sums, own, margin, worst, np.argsort(-margin, kind="stable"))
        return self._kept[1]

    @property
    def _tables(self) -> tuple[Any, ...]:
        cells = self.cells
        return cells.upper, cells.lower, cells.square, cells.step, cells.forms, cells.formed

    @property
    def _bounds(self) -> tuple[Any, ...]:
        cells = self.cells
        return (
            cells.has_width, cells.root, cells.floor, cells.slope, cells.inside, cells.count, cells.group,
            cells.counted,
        )  # fmt: skip


# --- Compiled: no two numbers are added in an order that depends on the machine ---------------------------
#
# `tables` are upper, lower, square, step, forms and formed of `Cells`, `bounds` its other fields, and `state` the sums
# of `At`; `rooms` are one agent's upper, lower, square, step (p, k) and form (k, k).


@_compiled
def _sums(tables, joined):
    """Return the sums over partners, the two largest steps, whose the largest is, and the form with its half."""
    upper, lower, square, step, forms, _ = tables
    n, _, pieces, k = upper.shape
    shape = (n, pieces, k)
    above, below, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    first, second, holder = np.zeros(shape), np.zeros(shape), np.full(shape, -1)
    size = forms.shape[1]
    half, form = np.zeros((n, k, size)), np.zeros((n, k, k))
    for i in range(n):
        for j in range(n):
            for p in range(pieces * (i != j)):
                for l in range(k):
                    if joined[j, l]:
                        above[i, p, l] += upper[i, j, p, l]
                        below[i, p, l] += lower[i, j, p, l]
                        squares[i, p, l] += square[i, j, p, l]
                        one = step[i, j, p, l]
                        if one > first[i, p, l]:
                            second[i, p, l] = first[i, p, l]
                            first[i, p, l] = one
                            holder[i, p, l] = j
                        elif one > second[i, p, l]:
                            second[i, p, l] = one
        if size:
            for j in range(n):
                for l in range(k * (i != j)):
                    if joined[j, l]:
                        e = _unknown(i, j, l, n)
                        for h in range(size):
                            half[i, l, h] += forms[i, e, h]
            for j in range(n):
                for m in range(k * (i != j)):
                    if joined[j, m]:
                        e = _unknown(i, j, m, n)
                        for l in range(k):
                            form[i, l, m] += half[i, l, e]
    return above, below, squares, first, second, holder, half, form


@_compiled
def _unknown(i, j, l, n):
    """Return the number of agent i's unknown about j in coalition l, see `coterie.estimate.design.directions`."""
    return l * (n - 1) + j - (j > i)


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
def _own_sets(bounds, joined):
    _, _, _, _, inside, count, group, _ = bounds
    found = np.empty(len(joined), dtype=np.int64)
    for i in range(len(joined)):
        found[i] = _own_set(joined[i], inside[group[i]], count[group[i]])
    return found


@_compiled
def _shape(table, p, i, own, a):
    if table.shape[3] == 1:
        return table[p, 0, 0, 0]
    return table[p, i, own, a]


@_compiled
def _to_set(bounds, formed, rooms, joined, i, own, a):
    """Return the bound of one deviation of agent i."""
    has_width, root, floor, slope, inside, _, group, _ = bounds
    up, low, squares, steps, form = rooms
    sets, k, smallest = inside[group[i]], len(joined), np.inf
    for p in range(len(has_width)):
        value, square, step = 0.0, 0.0, 0.0
        for l in range(k):
            if (sets[l, a] > 0) == joined[l]:
                continue
            value += -low[p, l] if joined[l] else up[p, l]
            square += squares[p, l]
            step = max(step, steps[p, l])
            if p == formed:
                for m in range(k):
                    if (sets[m, a] > 0) != joined[m]:
                        square += form[l, m]
        if has_width[p]:
            square = max(square, 0.0)
            value += _shape(root, p, i, own, a) * np.sqrt(square + _shape(floor, p, i, own, a) * step * step)
            value += _shape(slope, p, i, own, a) * step
        smallest = min(smallest, value)
    return smallest


@_compiled
def _worst(bounds, formed, rooms, joined, i, own, work):
    """Return the largest bound over all of an agent's deviations, and which one has it."""
    has_width, root, floor, slope, inside, counts, group, _ = bounds
    up, low, squares, steps, form = rooms
    value, square, step, least, changed = work
    sets, count, k = inside[group[i]], counts[group[i]], len(joined)
    for l in range(k):
        for a in range(count):
            changed[l, a] = 1.0 - sets[l, a] if joined[l] else sets[l, a]
    for p in range(len(has_width)):
        for a in range(count):
            value[a] = 0.0
            square[a] = 0.0
            step[a] = 0.0
        for l in range(k):
            v, s, m = -low[p, l] if joined[l] else up[p, l], squares[p, l], steps[p, l]
            for a in range(count):
                value[a] += v * changed[l, a]
            if has_width[p]:
                for a in range(count):
                    square[a] += s * changed[l, a]
                    reach = m * changed[l, a]
                    step[a] = step[a] if step[a] > reach else reach  # noqa: FURB136  (becomes one instruction)
            if p == formed:
                for other in range(l + 1):
                    both = form[l, l] if other == l else form[l, other] + form[other, l]
                    for a in range(count):
                        square[a] += both * changed[l, a] * changed[other, a]
        if has_width[p] and root.shape[3] == 1:
            r, f, g = root[p, 0, 0, 0], floor[p, 0, 0, 0], slope[p, 0, 0, 0]
            for a in range(count):
                spread = (square[a] if square[a] > 0 else 0.0) + f * step[a] * step[a]
                value[a] += r * np.sqrt(spread) + g * step[a]
        elif has_width[p]:
            for a in range(count):
                spread = (square[a] if square[a] > 0 else 0.0) + _shape(floor, p, i, own, a) * step[a] * step[a]
                value[a] += _shape(root, p, i, own, a) * np.sqrt(spread) + _shape(slope, p, i, own, a) * step[a]
        for a in range(count):
            least[a] = value[a] if p == 0 or value[a] < least[a] else least[a]
    largest, which = -np.inf, -1
    for a in range(count):
        if a != own and least[a] > largest:
            largest, which = least[a], a
    return largest, which


@_compiled
def _room_for(bounds):
    """Return arrays to work in."""
    inside = bounds[4]
    _, k, most = inside.shape
    return np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.empty((k, most))


@_compiled
def _margins_here(bounds, formed, state, joined, own, agents):
    margin, worst, work = np.full(len(agents), -np.inf), np.full(len(agents), -1), _room_for(bounds)
    up, low, squares, first, _, _, _, form = state
    for t in range(len(agents)):
        i = agents[t]
        if bounds[7][i]:
            rooms = (up[i], low[i], squares[i], first[i], form[i])
            margin[t], worst[t] = _worst(bounds, formed, rooms, joined[i], i, own[i], work)
    return margin, worst


@_compiled
def _margins(tables, bounds, profiles, agents):
    found = np.empty((len(profiles), len(agents)))
    for b in range(len(profiles)):
        own = _own_sets(bounds, profiles[b])
        row, _ = _margins_here(bounds, tables[5], _sums(tables, profiles[b]), profiles[b], own, agents)
        for t in range(len(agents)):
            found[b, t] = row[t]
    return found


@_compiled
def _of_movers(tables, bounds, state, movers, actions):
    found, work = np.full(len(movers), -np.inf), _room_for(bounds)
    up, low, squares, first, _, _, _, form = state
    inside, count, group, counted = bounds[4], bounds[5], bounds[6], bounds[7]
    for t in range(len(movers)):
        i = movers[t]
        if counted[i]:
            own = _own_set(actions[t], inside[group[i]], count[group[i]])
            rooms = (up[i], low[i], squares[i], first[i], form[i])
            found[t], _ = _worst(bounds, tables[5], rooms, actions[t], i, own, work)
    return found


@_compiled
def _follow(tables, state, i, j, before, after, rooms):
    """Write the sums of agent i's rooms after a move of j."""
    upper, lower, square, step, forms, formed = tables
    up, low, squares, first, second, holder, half, form = state
    new_up, new_low, new_squares, new_steps, new_form = rooms
    k, n = len(before), len(up)
    for p in range(upper.shape[2]):
        for l in range(k):
            new_up[p, l], new_low[p, l] = up[i, p, l], low[i, p, l]
            new_squares[p, l], new_steps[p, l] = squares[i, p, l], first[i, p, l]
    for l in range(k * (formed >= 0)):
        for m in range(k):
            new_form[l, m] = form[i, l, m]
    if i == j:
        return
    for l in range(k):
        if before[l] == after[l]:
            continue
        sign = 1.0 if after[l] else -1.0
        for p in range(upper.shape[2]):
            new_up[p, l] += sign * upper[i, j, p, l]
            new_low[p, l] += sign * lower[i, j, p, l]
            new_squares[p, l] = max(new_squares[p, l] + sign * square[i, j, p, l], 0.0)
            if after[l]:
                new_steps[p, l] = max(new_steps[p, l], step[i, j, p, l])
            elif holder[i, p, l] == j:
                new_steps[p, l] = second[i, p, l]
        if formed >= 0:
            at = _unknown(i, j, l, n)
            for m in range(k):
                new_form[l, m] += sign * half[i, m, at]
                new_form[m, l] += sign * half[i, m, at]
                if before[m] != after[m]:
                    new_form[l, m] += (sign if after[m] else -sign) * forms[i, at, _unknown(i, j, m, n)]


@_compiled
def _of_moves(tables, bounds, state, joined, own, worst, movers, actions, agents, order, cut):
    up, form, formed = state[0], state[7], tables[5]
    inside, count, group, counted = bounds[4], bounds[5], bounds[6], bounds[7]
    work, shape = _room_for(bounds), up.shape[1:]
    found = np.full((len(movers), len(agents)), -np.inf)
    rooms = (np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(form.shape[1:]))
    for t in range(len(movers)):
        j = movers[t]
        mine = _own_set(actions[t], inside[group[j]], count[group[j]])
        for place in order:
            i = agents[place]
            if not counted[i]:
                continue
            _follow(tables, state, i, j, joined[j], actions[t], rooms)
            plays, number = (actions[t], mine) if i == j else (joined[i], own[i])
            if cut < np.inf and i != j and worst[i] >= 0:
                found[t, place] = _to_set(bounds, formed, rooms, plays, i, number, worst[i])
                if found[t, place] >= cut:
                    break
            found[t, place], _ = _worst(bounds, formed, rooms, plays, i, number, work)
            if found[t, place] >= cut:
                break
    return found


@_compiled
def _softest(tables, bounds, state, joined, own, worst, movers, actions, order, width, below):
    up, form, formed = state[0], state[7], tables[5]
    inside, count, group, counted = bounds[4], bounds[5], bounds[6], bounds[7]
    n, work = len(joined), _room_for(bounds)
    u, b, s, m = np.empty(up.shape), np.empty(up.shape), np.empty(up.shape), np.empty(up.shape)
    f = np.empty(form.shape)
    row, least, best = np.full(n, -np.inf), np.full(n, -np.inf), np.full(n, -np.inf)
    chosen, limit = -1, 1.0  # sums of exp are in units of what they must stay below
    for t in range(len(movers)):
        j = movers[t]
        mine = _own_set(actions[t], inside[group[j]], count[group[j]])
        rest = 0.0
        for i in order:
            if counted[i] and rest < limit:
                rooms = (u[i], b[i], s[i], m[i], f[i])
                _follow(tables, state, i, j, joined[j], actions[t], rooms)
                if i == j or worst[i] < 0:
                    plays, number = (actions[t], mine) if i == j else (joined[i], own[i])
                    least[i], _ = _worst(bounds, formed, rooms, plays, i, number, work)
                else:
                    least[i] = _to_set(bounds, formed, rooms, joined[i], i, own[i], worst[i])
                rest += np.exp(least[i] / width - below)
        if rest >= limit:
            continue
        # Nothing speaks against it yet: now in full.
        total = 0.0
        for i in order:
            if not counted[i] or total + rest >= limit * (1 + 1e-12):
                continue
            rest -= np.exp(least[i] / width - below)
            row[i] = least[i]
            if i != j and worst[i] >= 0:
                rooms = (u[i], b[i], s[i], m[i], f[i])
                row[i], _ = _worst(bounds, formed, rooms, joined[i], i, own[i], work)
            total += np.exp(row[i] / width - below)
            if i == order[-1] and total < limit:
                chosen, limit = t, total
                for h in range(n):
                    best[h] = row[h]
    return chosen, best
