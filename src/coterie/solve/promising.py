"""Steps from a profile without a list of all: those that raise the sum of utilities, that movers gain by, random ones.

Of 100 people in three coalitions each there are some 40,000 exchanges, of which hardly any raises the sum. As in
`coterie.game.changes`, coalition l adds scale[l, s] T_l + shift[l, s] s (s - 1) at size s, T_l the sum over its ordered
pairs, and R_j(l) is the sum over members i of h_ij = d_ij + d_ji. Then

    joining or leaving l changes the sum by          D_j(l) = (worth of l with T_l +- R_j(l), at s +- 1) - (worth of l),
    a move from a set to another by                  the sum of D_j(l) over the coalitions joined or left,
    and if j takes i's place in l, sizes stay, and by    V_il,j = scale[l, s] (R_j(l) - R_i(l) - h_ij^l),

so an exchange of places (i, l) and (j, m) changes it by V_il,j + V_jm,i, and one of all that i and j have not in common
by the sum of these. Who moves gains, with S_i(l) the sum over members j of d_ij and u_i(l) what l is worth to i,

    by a move        the sum of u_i(l) over the coalitions joined, less that over those left,
    by j's place in m for hers in l    scale[m, s] (S_i(m) - d_ij^m) + shift[m, s] (s - 1) - u_i(l).

What is left is listed, and exactly evaluated by whoever takes a step.
"""

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.actions import ActionSpaces
from coterie.game.steps import Steps, exchanged, places_in, refuse_too_many, taking_all
from coterie.game.utilities import FromMeans


class SumOfPairs:
    """The sum of all utilities that follow from means of pairs."""

    def __init__(self, utilities: FromMeans) -> None:
        means = utilities.means
        tables = range(1 if means.is_shared else means.n_coalitions)
        self.scale, self.shift = utilities.scale, utilities.shift
        self.both = np.stack([means.matrix(l) + means.matrix(l).T for l in tables])
        """h_ij^l, shape (k, n, n), or (1, n, n) where it is the same in every coalition."""

    def moves(self, profile: BoolArray, spaces: ActionSpaces, above: float) -> Steps:
        """Return changes of one agent's set that raise the sum by more than `above`."""
        received, sizes = self._received(profile), profile.sum(axis=0)
        sign = np.where(profile, -1, 1)
        rooms, later = np.arange(profile.shape[1]), sizes + sign
        pairs = np.where(profile, received, 0.0).sum(axis=0) / 2
        toggled = self._worth(rooms, later, pairs + sign * received) - self._worth(rooms, sizes, pairs)
        left = np.where(profile, toggled, 0.0).sum(axis=1)
        return _moves(spaces, sign * toggled, left, above)

    def exchanges(self, profile: BoolArray, spaces: ActionSpaces, above: float) -> Steps:
        """Return exchanges by two agents that raise the sum by more than `above`."""
        n, k = profile.shape
        agents, rooms, may_change = places_in(profile)
        received, sizes = self._received(profile), profile.sum(axis=0)
        real = rooms < k  # the place of somebody who is nowhere is worth nothing to anybody
        own, room = agents[real], rooms[real]
        taken = np.zeros((len(agents), n))
        between = self.both[0 if len(self.both) == 1 else room, own]
        taken[real] = self.scale[room, sizes[room], None] * (received[:, room].T - received[own, room, None] - between)
        raised = taken[:, agents]
        one, two = np.nonzero(may_change & (raised + raised.T > above))
        by_all = np.zeros((n, n))
        somewhere, first = np.unique(own, return_index=True)
        by_all[somewhere] = np.add.reduceat(np.where(profile.T[room], 0.0, taken[real]), first, axis=0)
        i, j = np.nonzero(taking_all(profile) & (by_all + by_all.T > above))
        return exchanged(profile, spaces, (agents[one], rooms[one], agents[two], rooms[two]), (i, j))

    def _received(self, profile: BoolArray) -> FloatArray:
        """Return R_j(l), shape (n, k)."""
        return np.asarray((self.both @ profile.T[..., None].astype(np.float64))[..., 0].T)

    def _worth(self, rooms: IntArray, sizes: IntArray, pairs: FloatArray) -> FloatArray:
        sizes = np.maximum(sizes, 0)
        return np.asarray(self.scale[rooms, sizes] * pairs + self.shift[rooms, sizes] * sizes * (sizes - 1))


def blocking(utilities: FromMeans, profile: BoolArray, spaces: ActionSpaces, above: float, *, swaps: bool) -> Steps:
    """Return moves, and if wanted exchanges, by which everybody who moves gains more than `above`."""
    sums, sizes = utilities.means.room_sums(profile.astype(np.float64)), profile.sum(axis=0)
    rooms = utilities.from_sums(sums, sizes - profile + 1)
    alone = _moves(spaces, rooms, -np.where(profile, rooms, 0.0).sum(axis=1), above)
    return Steps.together([alone, _blocking_exchanges(utilities, profile, spaces, above, sums)]) if swaps else alone


def _moves(spaces: ActionSpaces, by_room: FloatArray, offset: FloatArray, above: float) -> Steps:
    """Return the sets of agents, in which offset (n,) and what each coalition adds (n, k) exceed a limit."""
    movers, sets = [], []
    for space, agents in spaces.groups:
        refuse_too_many(space)
        listed = space.enumerate()
        rows, actions = np.nonzero(offset[agents, None] + by_room[agents] @ listed.T > above)
        movers.append(agents[rows])
        sets.append(listed[actions])
    who, where = np.concatenate(movers), np.concatenate(sets)
    order = np.argsort(who, kind="stable")
    return Steps(who[order, None], where[order, None])


def _blocking_exchanges(
    utilities: FromMeans, profile: BoolArray, spaces: ActionSpaces, above: float, sums: FloatArray
) -> Steps:
    """Return exchanges by which both gain more than `above`, from everybody's S (n, k)."""
    n, k = profile.shape
    agents, rooms, may_change = places_in(profile)
    sizes = profile.sum(axis=0)
    there, kept = np.zeros((len(agents), n)), np.zeros(len(agents))  # of the place of somebody who is nowhere: nothing
    for l in np.flatnonzero(sizes).tolist():
        places = np.flatnonzero(rooms == l)
        scale, alone = utilities.scale[l, sizes[l]], utilities.shift[l, sizes[l]] * (sizes[l] - 1)
        there[places] = scale * (sums[:, l] - utilities.means.matrix(l)[:, agents[places]].T) + alone
        kept[places] = scale * sums[agents[places], l] + alone
    gained = there[:, agents] - kept  # by whoever has the second place, in the first
    one, two = np.nonzero(may_change & (np.minimum(gained, gained.T) > above))
    several = taking_all(profile)
    if several.any():
        real = rooms < k
        mine, taken = np.zeros((n, k)), np.zeros((n, n))
        mine[agents[real], rooms[real]] = kept[real]
        # What the second agent gets of all that the first has and she has not.
        np.add.at(taken, agents[real], np.where(profile.T[rooms[real]], 0.0, there[real]))
        by_all = taken - (~profile).astype(np.float64) @ mine.T
        several &= np.minimum(by_all, by_all.T) > above
    i, j = np.nonzero(several)
    return exchanged(profile, spaces, (agents[one], rooms[one], agents[two], rooms[two]), (i, j))


def drawn_exchanges(profile: BoolArray, spaces: ActionSpaces, rng: np.random.Generator, count: int) -> Steps:
    """Draw pairs of places, or of agents who exchange all, and return the exchanges among them that are any."""
    agents, rooms, may_change = places_in(profile)
    all_of_it = taking_all(profile)
    drawn = rng.integers(may_change.size + all_of_it.size, size=count)
    single = drawn[drawn < may_change.size]
    one, two = np.unravel_index(single[may_change.ravel()[single]], may_change.shape)
    several = drawn[drawn >= may_change.size] - may_change.size
    i, j = np.unravel_index(several[all_of_it.ravel()[several]], all_of_it.shape)
    return exchanged(profile, spaces, (agents[one], rooms[one], agents[two], rooms[two]), (i, j))
