"""Who is to be elsewhere than today, and why: what they are expected to get by it, with whom, and without whom."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.utilities import FromMeans
from coterie.learn.wishes import Wishes
from coterie.words import counted, signed

NAMED = 2
"""So many people are named whom somebody comes to or leaves."""


@dataclass(frozen=True)
class Mate:
    """Somebody whom a change brings together with the agent, or parts from them."""

    name: str
    value: float
    """What the agent is expected to get from them in a coalition, on average over those that they share."""


@dataclass(frozen=True)
class Change:
    """What changes for one person, if everybody goes where recommended."""

    agent: str
    before: tuple[str, ...]
    """Their coalitions today."""
    after: tuple[str, ...]
    expected: float | None
    """By how much their own utility is expected to change; None for newcomers, of whom nothing is known."""
    joined: tuple[Mate, ...] = ()
    """The best of those whom they meet then and not today, of whom something good is expected."""
    left: tuple[Mate, ...] = ()
    """The worst of those whom they meet today and not then, of whom something bad is expected."""
    note: str = ""
    """Why they should move although they gain nothing, if that is known; that they are new, or in no team today."""

    def to_json(self) -> dict[str, Any]:
        """Return an entry of `today.changes` in a result file."""
        return asdict(self)

    def why(self, shown: Callable[[float], str] = signed) -> str:
        """Return the reason in a few words; what a teammate is worth is `shown` so."""
        reasons = []
        if self.joined:
            reasons.append(f"with {_listed(self.joined, shown)}")
        if self.left:
            reasons.append(f"without {_listed(self.left, shown)}")
        return "; ".join([*reasons, *([self.note] if self.note else [])])

    def worth(self, decimals: int = 2) -> str:
        """Return what it is expected to change for them, in a word; nothing for whoever is new."""
        return "-" if self.expected is None else signed(self.expected, decimals)


def _listed(mates: Iterable[Mate], shown: Callable[[float], str]) -> str:
    return ", ".join(f"{mate.name} ({shown(mate.value)})" for mate in mates)


def changes_from(today: Strategy, strategy: Strategy, game: Game, wishes: Wishes) -> tuple[Change, ...]:
    """Return what changes for whom of the staff, in a game of expected utilities."""
    agents, staff = strategy.agents, wishes.admissible.staff
    before, after = today.sets, strategy.sets
    own = game.values(after) - game.values(before)
    known = ~np.isin(agents, wishes.newcomers)
    usual = "for the others: the teams as a whole gain" if own[staff].sum() > 0 else ""
    if broken := wishes.admissible.violations(before):
        more = f", and {counted(len(broken) - 1, 'more rule')}" if len(broken) > 1 else ""
        usual = f"today's teams break a rule: {broken[0]}{more}"
    found = []
    for i in np.flatnonzero((before != after).any(axis=1) & staff).tolist():
        places = tuple(today.actions[agents[i]]), tuple(strategy.actions[agents[i]])
        if not known[i]:
            found.append(Change(agents[i], *places, None, note="new"))
            continue
        then, now = (_from_others(game, i, profile) for profile in (after, before))
        met, gone = ((one[i] & one).any(axis=1) for one in (after, before))
        joined = _named(agents, then, known & met & ~gone & (then > 0))
        left = _named(agents, now, known & gone & ~met & (now < 0))
        note = "" if signed(own[i]).startswith("+") else usual
        if not before[i].any():
            note = "in no team today"
        found.append(Change(agents[i], *places, float(own[i]), joined, left, note))
    return tuple(found)


def _from_others(game: Game, agent: int, profile: BoolArray) -> FloatArray:
    """Return what an agent gets from everybody in a coalition, on average over those that they share.

    So it is the same number as in the explanation of a coalition (`coterie.learn.explanation.Partner`), whatever the
    value of teams is. Nothing where what two get from each other depends on how many there are.
    """
    n = len(profile)
    if not isinstance(game.observed, FromMeans) or game.observed.depends_on_size:
        return np.zeros(n)
    shared = profile & profile[agent]
    worth = (game.observed.means.between(np.full(n, agent), np.arange(n)) * shared).sum(axis=1)
    worth[agent] = 0.0
    return np.asarray(worth / np.maximum(shared.sum(axis=1), 1))


def _named(agents: tuple[str, ...], worth: FloatArray, which: BoolArray) -> tuple[Mate, ...]:
    """Return those who matter most among some."""
    some = np.flatnonzero(which)
    order = some[np.argsort(-np.abs(worth[some]), kind="stable")]
    return tuple(Mate(agents[j], float(worth[j])) for j in order[:NAMED].tolist())
