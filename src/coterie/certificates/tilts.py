"""The widths of `coterie.certificates.tilted` for many agents, compiled: sums over pairs of rooms that a move touches.

The formulas are those of `Tilted._width` and `Tilted._costs`, agent by agent and move by move; a move touches the rooms
that are left and joined, and takes as long as there are listed pairs in these.
"""

from typing import Any

import numba
import numpy as np

from coterie.arrays import FloatArray, IntArray

_compiled: Any = numba.njit(cache=True, nogil=True)


def widths_of_moves(
    x: FloatArray,
    rooms: tuple[IntArray, IntArray],
    agents: IntArray,
    tables: tuple[FloatArray, FloatArray, FloatArray],
    *,
    tried: FloatArray,
    steepest: float,
    length: float,
    log_term: float,
) -> FloatArray:
    """Return the width of each move, shape (g, A).

    Parameters
    ----------
    x
        Deviation vectors, shape (g, A, k).
    rooms
        The unknowns of each agent's rooms in pure profiles: those of agent i in room l are entries from starts[i k + l]
        up to starts[i k + l + 1] of a list of unknowns. Nobody is in two rooms of one agent.
    agents
        The agents of the rows of x.
    tables
        N_e, Q_e, and what squared distances are expected to be on average, of each unknown.
    tried, steepest, length, log_term
        Tilts in multiples of the first idea, the steepest at which squares count, the length b of the range, and L.
    """
    found = np.empty(x.shape[:2])
    most = int(np.diff(rooms[0][:: x.shape[2]]).max(initial=0))  # of all rooms of one agent
    _widths(x, *rooms, agents, *tables, tried, steepest, length, log_term, np.empty((4, most)), found)
    return found


def widths_of_single_moves(
    own: IntArray,
    n_coalitions: int,
    rooms: tuple[IntArray, IntArray],
    agents: IntArray,
    tables: tuple[FloatArray, FloatArray, FloatArray],
    *,
    tried: FloatArray,
    steepest: float,
    length: float,
    log_term: float,
) -> FloatArray:
    """Return the width of moving from the own room (-1 for none) to none, then to each other one, shape (g, 1 + k)."""
    found = np.empty((len(agents), n_coalitions + 1))
    most = int(np.diff(rooms[0][::n_coalitions]).max(initial=0))
    _single_widths(own, *rooms, agents, *tables, tried, steepest, length, log_term, np.empty((4, most)), found)
    return found


@_compiled
def _single_widths(
    own, starts, unknown, agents, count, squares, expected, tried, steepest, length, log_term, room, found
):
    k = found.shape[1] - 1
    for row in range(len(agents)):
        left = 0
        if own[row] >= 0:
            left = _enter(agents[row] * k + own[row], 1.0, starts, unknown, count, squares, expected, room, 0)
        found[row, 0] = _width(room[:, :left], tried, steepest, length, log_term)
        for l in range(k):
            place = agents[row] * k + l
            if l == own[row] or starts[place] == starts[place + 1]:
                found[row, l + 1] = found[row, 0]
                continue
            used = _enter(place, 1.0, starts, unknown, count, squares, expected, room, left)
            found[row, l + 1] = _width(room[:, :used], tried, steepest, length, log_term)


@_compiled
def _enter(place, size, starts, unknown, count, squares, expected, room, used):
    """Add the unknowns of a room that were seen behind those that are there, and return how many there are."""
    for t in range(starts[place], starts[place + 1]):
        e = unknown[t]
        if count[e] > 0:
            room[0, used], room[1, used] = size / count[e], count[e]
            room[2, used], room[3, used] = squares[e], expected[e]
            used += 1
    return used


@_compiled
def _widths(x, starts, unknown, agents, count, squares, expected, tried, steepest, length, log_term, room, found):
    k = x.shape[2]
    for row in range(x.shape[0]):
        for action in range(x.shape[1]):
            used = 0
            for l in range(k):
                size = abs(x[row, action, l])
                if size > 0:
                    used = _enter(agents[row] * k + l, size, starts, unknown, count, squares, expected, room, used)
            found[row, action] = _width(room[:, :used], tried, steepest, length, log_term)


@_compiled
def _width(room, tried, steepest, length, log_term):
    step, count, _, expected = room
    if len(step) == 0:
        return 0.0
    spread, largest = 0.0, 0.0
    for e in range(len(step)):
        spread += step[e] ** 2 * (count[e] * min(expected[e], length**2 / 4))
        largest = max(largest, step[e])
    first = np.sqrt(2 * log_term / max(spread, 1e-300))
    first = min(first, 4 * steepest / (length * max(largest, 1e-300)))
    best, smallest = 0.0, np.inf
    for multiple in tried:
        tilt = multiple * first
        width = (log_term + _cost(tilt, room, steepest, length, True)) / tilt
        if width < smallest:
            best, smallest = tilt, width
    return (log_term + _cost(best, room, steepest, length, False)) / best


@_compiled
def _cost(tilt, room, steepest, length, likely):
    """Return what the unknowns cost at this tilt: by what is expected of their squares, or by what these are."""
    step, count, squares, expected = room
    total = 0.0
    for e in range(len(step)):
        s = tilt * length * step[e]
        cost = s**2 / 8 * count[e]
        if s <= steepest and expected[e] < np.inf:
            by_square = (-np.log1p(-s) - s) / length**2
            if by_square * min(expected[e], length**2) < s**2 / 8:
                cost = by_square * (count[e] * expected[e] if likely else squares[e])
        total += cost
    return total
