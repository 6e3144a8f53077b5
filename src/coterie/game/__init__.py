"""The game itself: what agents may do, what it is worth to them, and what nobody would leave. No data, no estimates."""

from coterie.game.actions import ActionSpace, ActionSpaces, ExplicitSets, UpTo, any_subset, exactly_one, explicit
from coterie.game.game import Deviation, Game
from coterie.game.strategy import Strategy, read_strategy

__all__ = [
    "ActionSpace",
    "ActionSpaces",
    "Deviation",
    "ExplicitSets",
    "Game",
    "Strategy",
    "UpTo",
    "any_subset",
    "exactly_one",
    "explicit",
    "read_strategy",
]
