"""Who is to be elsewhere than today, and why: what they are expected to get by it, with whom, and without whom."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.utilities import FromMeans
from coterie.words import signed

NAMED = 2
"""So many people are named whom somebody comes to or leaves."""


@dataclass(frozen=True)
class Mate:
    """Somebody whom a change brings together with the agent, or parts from them."""

    name: str
    value: float
    """What the agent is expected to get from them in that coalition."""


@dataclass(frozen=True)
class Change:
    """What changes for one person, if everybody goes where recommended."""

    agent: str
    before: tuple[str, ...]
    """Their coalitions today."""
    after: tuple[str, ...]
    expected: float
    """By how much their own utility is expected to change."""
    joined: tuple[Mate, ...] = ()
    """The best of those whom they come to, of whom something good is expected."""
    left: tuple[Mate, ...] = ()
    """The worst of those whom they leave, of whom something bad is expected."""

    def to_json(self) -> dict[str, Any]:
        """Return an entry of `today.changes` in a result file."""
        return asdict(self)

    def why(self) -> str:
        """Return the reason in a few words."""
        reasons = []
        if self.joined:
            reasons.append(f"with {_listed(self.joined)}")
        if self.left:
            reasons.append(f"without {_listed(self.left)}")
        if signed(self.expected).startswith("-"):
            reasons.append("for the others: the teams as a whole gain")
        return "; ".join(reasons)


def _listed(mates: tuple[Mate, ...]) -> str:
    return ", ".join(f"{mate.name} ({signed(mate.value)})" for mate in mates)


def changes_from(today: Strategy, strategy: Strategy, game: Game, staff: BoolArray) -> tuple[Change, ...]:
    """Return what changes for whom, in a game of expected utilities; whoever is not on the staff is left out."""
    before, after = today.sets & staff[:, None], strategy.sets
    own = game.values(after) - game.values(before)
    moved = np.flatnonzero((before != after).any(axis=1) & staff)
    return tuple(
        Change(
            strategy.agents[i],
            tuple(today.actions[strategy.agents[i]]),
            tuple(strategy.actions[strategy.agents[i]]),
            float(own[i]),
            _mates(game, i, after, before, strategy.agents),
            _mates(game, i, before, after, strategy.agents, worst=True),
        )
        for i in moved.tolist()
    )


def _mates(
    game: Game, agent: int, there: BoolArray, elsewhere: BoolArray, names: tuple[str, ...], *, worst: bool = False
) -> tuple[Mate, ...]:
    """Return the best, or the worst, of those who share a coalition with an agent in one profile, and not in another.

    Nobody where what two get from each other depends on how many there are.
    """
    if not isinstance(game.observed, FromMeans) or game.observed.depends_on_size:
        return ()
    mates = [
        Mate(names[j], float(game.observed.means.between(np.array([agent]), np.array([j]))[0, l]))
        for l in np.flatnonzero(there[agent]).tolist()
        for j in np.flatnonzero(there[:, l]).tolist()
        if j != agent and not (elsewhere[agent, l] and elsewhere[j, l])
    ]
    sign = -1 if worst else 1
    return tuple(sorted((mate for mate in mates if sign * mate.value > 0), key=lambda one: -sign * one.value)[:NAMED])
