"""Profiles of many agents, whose pairs are listed: large potential, and nobody gains by moving.

Where everybody is in one coalition, groups move first (`coterie.solve.groups`). If coalitions are not interchangeable,
they do so by what pairs are worth on average over them, and each group has the coalition that suits it. Then, and from
several random profiles, single agents go to their best responses. What is returned is at rest: nobody gains by moving,
except into a coalition that is full, where there are limits.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.game.game import Game
from coterie.game.means import SparseMeans
from coterie.game.utilities import SizeFree
from coterie.solve.control import Control
from coterie.words import said

if TYPE_CHECKING:
    from scipy.sparse import csr_array

STARTS, SWEEPS = 6, 100
"""From so many random profiles best responses begin, and they end after so many turns of everybody."""


def fits(game: Game) -> bool:
    """Return whether this search is for such a game: symmetric, without sizes, pairs listed, no odd action spaces."""
    listed = isinstance(game.utilities, SizeFree) and isinstance(game.utilities.means, SparseMeans)
    return listed and game.is_symmetric and game.actions.limits is not None


def many_profiles(game: Game, control: Control, largest: IntArray | None = None) -> list[BoolArray]:
    """Return profiles of large potential, the best first.

    Parameters
    ----------
    game
        One that `fits`.
    control
        Seed, time limit, interruption; there is one profile at least.
    largest
        The most members that each coalition may have.
    """
    n, k = game.n_agents, game.n_coalitions
    caps = np.full(k, n) if largest is None else np.minimum(largest, n)
    means = _means(game)
    inner, found = control.nested(speaks=True), list[BoolArray]()
    grouped = game.actions.are_single and k * caps.min() >= n
    with inner.running():
        if grouped:
            found.append(_rested(game, _grouped(game, int(caps.min()), inner), caps, inner.rng))
        for start in range(0 if grouped and means.is_shared else STARTS):
            found.append(_rested(game, _random(game, caps, inner.rng), caps, inner.rng))
            inner.report("best responses", start + 1, STARTS, 0.0)
    control.heed(inner)
    control.ended = inner.ended or control.ended
    found = found or [_rested(game, _random(game, caps, control.rng), caps, control.rng)]
    heights = [game.potential(game.strategy(profile)) for profile in found]
    return [found[t] for t in np.argsort(-np.array(heights), kind="stable")]


def _grouped(game: Game, cap: int, control: Control) -> BoolArray:
    """Return the profile that groups come to."""
    from coterie.solve.groups import best_groups  # here, since numba is slow to load

    means, k = _means(game), game.n_coalitions
    weights: Any = means.matrices[0]
    for matrix in means.matrices[1:]:
        weights = weights + matrix
    weights = weights / len(means.matrices)
    labels, _ = best_groups(weights, k, control.rng, largest=cap, rounding=game.rounding, check=control.check)
    if not means.is_shared:
        from scipy.optimize import linear_sum_assignment

        worth = np.stack([_worth(matrix, labels, k) for matrix in means.matrices], axis=1)
        labels = linear_sum_assignment(worth, maximize=True)[1][labels]
    return np.asarray(labels[:, None] == np.arange(k))


def _worth(matrix: "csr_array", labels: IntArray, groups: int) -> FloatArray:
    """Return what each group is worth in one coalition, shape (groups,)."""
    row = np.repeat(np.arange(len(labels)), np.diff(matrix.indptr))
    inside = labels[row] == labels[matrix.indices]
    return np.bincount(labels[row[inside]], matrix.data[inside], minlength=groups).astype(np.float64)


def _means(game: Game) -> SparseMeans:
    assert isinstance(game.utilities, SizeFree)
    assert isinstance(game.utilities.means, SparseMeans)
    return game.utilities.means


def _may_stay_out(game: Game) -> BoolArray:
    limits = game.actions.limits
    assert limits is not None
    return np.asarray(limits[1])


def _random(game: Game, caps: IntArray, rng: np.random.Generator) -> BoolArray:
    """Return a profile in which everybody is in one coalition, at random, or nowhere where there is no more room."""
    profile = np.zeros((game.n_agents, game.n_coalitions), dtype=bool)
    allowed, may_stay_out, free = game.actions.can_join, _may_stay_out(game), caps.copy()
    order = rng.permutation(game.n_agents)
    # Those who have least to choose from come first, and those who need no place last.
    order = order[np.lexsort([allowed[order].sum(axis=1), may_stay_out[order]])]
    for agent, draw in zip(order.tolist(), rng.random(game.n_agents).tolist(), strict=True):
        rooms = np.flatnonzero(allowed[agent] & (free > 0))
        if not len(rooms) and not may_stay_out[agent]:
            rooms = _room_made(profile, agent, allowed, free)
        if len(rooms):
            room = rooms[int(draw * len(rooms))]
            profile[agent, room] = True
            free[room] -= 1
        elif not may_stay_out[agent]:
            raise TooLargeError(
                f"{game.agents[agent]} and others do not fit where they may go, in coalitions of at most {caps.max()}; "
                f"{said(any_size=True)} allows for larger ones than were ever seen"
            )
    return profile


def _room_made(profile: BoolArray, agent: int, allowed: BoolArray, free: IntArray) -> IntArray:
    """Return a room of an agent's in which there is place after others have moved on, along a shortest path, if any."""
    rooms: list[int] = np.flatnonzero(allowed[agent]).tolist()
    came: dict[int, tuple[int, int] | None] = dict.fromkeys(rooms)
    can_move = np.count_nonzero(allowed, axis=1) > 1
    for room in rooms:  # grows on the way
        for member in np.flatnonzero(profile[:, room] & can_move).tolist():
            for other in np.flatnonzero(allowed[member]).tolist():
                if other in came:
                    continue
                came[other] = (member, room)
                rooms.append(other)
                if free[other] > 0:
                    end = other
                    while (step := came[end]) is not None:
                        mover, left = step
                        profile[mover, left], profile[mover, end] = False, True
                        end = left
                    free[other] -= 1
                    free[end] += 1
                    return np.array([end])
    return np.zeros(0, dtype=np.int64)


def _rested(game: Game, profile: BoolArray, caps: IntArray, rng: np.random.Generator) -> BoolArray:
    """Return the profile after best responses within the limits."""
    from coterie.game.sweeps import Sweeps  # here, since numba is slow to load

    profile = profile.copy()
    sweeps = Sweeps(_means(game), game.actions, profile, game.rounding, caps)
    for _ in range(SWEEPS):
        if not len(sweeps.moves(rng.permutation(game.n_agents))[0]):
            break
    return profile
