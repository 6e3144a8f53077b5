"""Who is to be elsewhere than today, and why: what they are expected to get by it, with whom, and without whom."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.game.admissible import SizeRule
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.utilities import FromMeans
from coterie.learn.wishes import Wishes
from coterie.words import capitalised, counted, signed

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

    def worth(self, shown: Callable[[float], str] = signed) -> str:
        """Return what it is expected to change for them, `shown` so; nothing for whoever is new."""
        return "-" if self.expected is None else shown(self.expected)


@dataclass(frozen=True)
class Loss:
    """Why somebody is worse off than today, whether they move or others do, and what it brings to whom."""

    agent: str
    expected: float
    """What they lose, above 0."""
    without: tuple[Mate, ...]
    """The best of those whom they meet today and not then."""
    instead: tuple[Mate, ...]
    """The worst of those whom they meet then and not today."""
    others: float
    """What the others in their teams gain by it all, on average."""
    most: Mate | None
    """Who gains most, and how much; in their teams, if the others there gain, else anywhere."""
    everybody: float
    """What all together gain per person."""
    note: str = ""
    """The rule that today's teams break, if any."""

    def told(self, teammate: Callable[[float], str], gain: Callable[[float], str]) -> str:
        """Return that in a sentence or two; what teammates are worth, and gains without their sign, are shown so."""
        changes = [f"without {_listed(self.without, teammate)}"] if self.without else []
        changes += [f"now with {_listed(self.instead, teammate)}"] if self.instead else []
        why = f": {', '.join(changes)}" if changes else ""
        told = f"{self.agent} is worse off than today by {gain(self.expected)}{why}."
        if self.note:
            return f"{told} {capitalised(self.note)}."
        brings = []
        if self.most is not None:
            who = f"{self.most.name} most ({gain(self.most.value)})"
            by_it = f"the others in their team gain {gain(self.others)} each on average, {who}"
            brings.append(by_it if self.others > 0 else f"others gain by it, {who}")
        if self.everybody > 0:
            brings.append(f"all together gain {gain(self.everybody)} per person")
        text = "; ".join(brings)
        return f"{told} {capitalised(text)}." if text else told


def _listed(mates: Iterable[Mate], shown: Callable[[float], str]) -> str:
    return ", ".join(f"{mate.name} ({shown(mate.value)})" for mate in mates)


def changes_from(today: Strategy, strategy: Strategy, game: Game, wishes: Wishes) -> tuple[Change, ...]:
    """Return what changes for whom of the staff, in a game of expected utilities."""
    agents, staff = strategy.agents, wishes.admissible.staff
    before, after = today.sets, strategy.sets
    own = game.values(after) - game.values(before)
    known = ~np.isin(agents, wishes.newcomers)
    usual = "for the others: the teams as a whole gain" if own[staff].sum() > 0 else ""
    usual = _broken_today(before, wishes) or usual
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


def _broken_today(before: BoolArray, wishes: Wishes) -> str:
    """Return which rule today's teams break; "" where they break none."""
    admissible = wishes.admissible
    broken = admissible.violations(before)
    if admissible.interchangeable:  # a number tells nobody which of today's teams it is
        sizes = {rule.text: str(rule.size) for rule in admissible.rules if isinstance(rule, SizeRule)}
        broken = list(dict.fromkeys(f"team size {sizes[text]}" if text in sizes else text for text in broken))
    more = f", and {counted(len(broken) - 1, 'more rule')}" if len(broken) > 1 else ""
    return f"today's teams break a rule: {broken[0]}{more}" if broken else ""


def losses_from(today: Strategy, strategy: Strategy, game: Game, wishes: Wishes) -> tuple[Loss, ...]:
    """Return who of the staff is worse off than today in a game of expected utilities, and why."""
    agents, staff = strategy.agents, wishes.admissible.staff
    before, after = today.sets, strategy.sets
    own = game.values(after) - game.values(before)
    known = staff & ~np.isin(agents, wishes.newcomers)
    everybody, note = float(own[staff].mean()), _broken_today(before, wishes)
    found = []
    for i in np.flatnonzero(known & before.any(axis=1) & (own < 0)).tolist():
        then, now = (_from_others(game, i, profile) for profile in (after, before))
        met, gone = ((one[i] & one).any(axis=1) for one in (after, before))
        met[i] = gone[i] = False
        team = np.flatnonzero(met & known)
        others = float(own[team].mean()) if len(team) else 0.0
        among = team if others > 0 else np.flatnonzero(known)
        best = int(among[np.argmax(own[among])])
        found.append(
            Loss(
                agents[i], -float(own[i]), _best(agents, now, gone & ~met),
                _best(agents, then, met & ~gone, worst=True),
                others,
                Mate(agents[best], float(own[best])) if own[best] > 0 else None, everybody, note,
            )
        )  # fmt: skip
    return tuple(found)


def _best(agents: tuple[str, ...], worth: FloatArray, which: BoolArray, *, worst: bool = False) -> tuple[Mate, ...]:
    """Return those who are worth most among some, or least."""
    some = np.flatnonzero(which)
    order = some[np.argsort(worth[some] if worst else -worth[some], kind="stable")]
    return tuple(Mate(agents[j], float(worth[j])) for j in order[:NAMED].tolist())


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
