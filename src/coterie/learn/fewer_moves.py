"""Fewer moves than recommended: what the best few would bring, for whoever shies away from all of them.

From the recommended teams moves are taken back where least is lost by each: one person's, or those of two, or of three
where rules leave nothing else. On the way lie teams with ever fewer people elsewhere than today. Those with about a
third and two thirds of the moves are where a short search begins for the best teams with so many at most, which may be
others than some of the recommended ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.admissible import movers_between
from coterie.solve.control import Control
from coterie.solve.teams import Task, best_teams

MOST_MOVERS, MOST_CELLS = 24, 20_000_000
"""Of more people nobody asks which few; nor where so many places of people in teams would be looked at on the way."""

THREES = 12
"""Of so many people also three at once are tried."""

SHARES = (1 / 3, 2 / 3)
"""About these shares of all moves are told."""


KICKS = 24
"""So many kicks in a row may fail in that search."""


def fewer_moves(
    task: Task, today: BoolArray, recommended: BoolArray, control: Control, enough: Callable[[], bool]
) -> list[BoolArray]:
    """Return the best profiles found with at most about a third and two thirds of the moves, as far as there are any.

    They are worth more than today's teams, unless those may not be formed. The `control` is used up.
    """
    least = task.score(today) if task.allows(today) else -np.inf
    path = [one for one in _taken_back(task, today, recommended, enough) if task.score(one) > least]
    many = len(_movers(task, today, recommended))
    found: dict[bytes, BoolArray] = {}
    now = today & task.admissible.staff[:, None]
    for share in SHARES if path else ():
        nearest = min(path, key=lambda one: abs(len(_movers(task, today, one)) - share * many))
        most = len(_movers(task, today, nearest))
        within = replace(task, admissible=replace(task.admissible, today=now, max_moves=most))
        best = best_teams(within, control.nested(), begin=[nearest], starts=0, patience=KICKS, keep=1).profiles[0]
        found[best.tobytes()] = best
    return list(found.values())


def _movers(task: Task, today: BoolArray, profile: BoolArray) -> list[int]:
    """Return who has a place today and is elsewhere then."""
    return [int(agent) for agent in np.flatnonzero(movers_between(today, profile, task.admissible.staff))]


def _taken_back(task: Task, today: BoolArray, profile: BoolArray, enough: Callable[[], bool]) -> Iterator[BoolArray]:
    """Yield profiles with ever fewer moves, down to one."""
    many = len(_movers(task, today, profile))
    if many > MOST_MOVERS or many**3 // 2 * profile.size > MOST_CELLS:
        return
    while len(movers := _movers(task, today, profile)) > 1 and not enough():
        some = [*_allowed(task, today, profile, movers, 1), *_allowed(task, today, profile, movers, 2)]
        if not some and len(movers) <= THREES:
            some = list(_allowed(task, today, profile, movers, 3))
        if not some:
            return
        lost = task.score(profile) - task.scores(np.stack(some))
        fewer = [len(movers) - len(_movers(task, today, one)) for one in some]
        profile = some[int(np.argmin(lost / fewer))]
        if _movers(task, today, profile):
            yield profile


def _allowed(task: Task, today: BoolArray, profile: BoolArray, movers: list[int], together: int) -> Iterator[BoolArray]:
    """Yield what may be when so many people are where they are today."""
    for some in combinations(movers, together):
        back = profile.copy()
        back[list(some)] = today[list(some)]
        if task.allows(back):
            yield back
