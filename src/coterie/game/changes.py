"""What steps change: the utility of those who move, and of everybody, after each of many steps from one profile.

Sums over members follow a step by differences: with S_h(l) = sum over members j of d_hj^l, a step that brings i into
coalition l and takes j out of it changes S_h(l) by d_hi^l - d_hj^l. Utilities that are tables by size are looked up in
the profile after the step.
"""

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.game.steps import Steps
from coterie.game.utilities import FromMeans, Utilities

CELLS = 4_000_000
"""So many numbers are handled at once."""


def gains_of_movers(utilities: Utilities, profile: BoolArray, steps: Steps) -> FloatArray:
    """Return what each mover of each step gains, shape (s, g); infinite where there is no mover.

    So the smallest along a row is the gain of whoever gains least.
    """
    if not isinstance(utilities, FromMeans):
        everybody = changes_of_all(utilities, profile, steps)
        found = np.take_along_axis(everybody, steps.movers, axis=1)
        return np.where(steps.moves, found, np.inf)
    sums = utilities.means.room_sums(profile.astype(np.float64))
    sizes = profile.sum(axis=0)
    own = utilities.from_sums(sums, sizes - profile + 1)
    before = np.where(profile, own, 0.0).sum(axis=1)
    if steps.movers.shape[1] == 1:
        # Nobody's rooms depend on what she does herself.
        who = steps.movers[:, 0]
        return np.asarray(np.where(steps.sets[:, 0], own[who], 0.0).sum(axis=1) - before[who])[:, None]
    change = steps.change(profile)
    found = np.full(steps.movers.shape, np.inf)
    for place, who in enumerate(steps.movers.T):
        # Where she is not, her own room values do not count.
        step, room = np.nonzero(steps.sets[:, place])
        agent, later = who[step], sizes[room]
        values = sums[agent, room]
        for other, partner in enumerate(steps.movers.T):
            moved = change[step, other, room]
            later = later + moved
            if other != place:
                values = values + moved * utilities.means.between_in(room, agent, partner[step])
        worth = utilities.from_sums(values, np.maximum(later, 1), room)
        gain = np.bincount(step, worth, minlength=len(steps)) - before[who]
        found[:, place] = np.where(steps.moves[:, place], gain, np.inf)
    return found


def changes_of_all(utilities: Utilities, profile: BoolArray, steps: Steps) -> FloatArray:
    """Return by how much each step changes everybody's utility, shape (s, n)."""
    n, k = profile.shape
    before = np.where(profile, utilities.rooms(profile).all(), 0.0).sum(axis=1)
    found = np.empty((len(steps), n))
    at_once = max(1, CELLS // (n * k))
    for start in range(0, len(steps), at_once):
        some = slice(start, start + at_once)
        after = steps[some].after(profile)
        values = utilities.pure_room_values(after)
        found[some] = np.where(after, values, 0.0).sum(axis=2) - before
    return found


def changes_of_the_sum(utilities: Utilities, profile: BoolArray, steps: Steps) -> FloatArray:
    """Return by how much each step changes the sum of everybody's utility, shape (s,).

    Coalition l adds scale[l, s] T_l + shift[l, s] s (s - 1) at size s, T_l the sum over its ordered pairs. With R_i(l)
    the sum over members j of d_ij + d_ji, movers of signs x (1 in, -1 out) turn T_l into T_l + sum of x_i R_i(l)
    + sum over pairs of movers of x_i x_j (d_ij + d_ji).
    """
    if not isinstance(utilities, FromMeans):
        return np.asarray(changes_of_all(utilities, profile, steps).sum(axis=1))
    means, inside = utilities.means, profile.astype(np.float64)
    k = profile.shape[1]
    given = means.room_sums(inside)
    received = np.stack([means.matrix(l).T @ inside[:, l] for l in range(k)], axis=1)
    pairs, sizes = (given * inside).sum(axis=0), profile.sum(axis=0)
    change = steps.change(profile)
    both = given + received
    later = np.broadcast_to(pairs, (len(steps), k)).copy()
    places = range(steps.movers.shape[1])
    for one in places:
        later += change[:, one] * both[steps.movers[:, one]]
        for two in range(one):
            i, j = steps.movers[:, one], steps.movers[:, two]
            later += change[:, one] * change[:, two] * (means.between(i, j) + means.between(j, i))
    rooms, after = np.arange(k), sizes + change.sum(axis=1)
    worth = utilities.scale[rooms, after] * later + utilities.shift[rooms, after] * after * (after - 1)
    now = utilities.scale[rooms, sizes] * pairs + utilities.shift[rooms, sizes] * sizes * (sizes - 1)
    return np.asarray((worth - now).sum(axis=1))
