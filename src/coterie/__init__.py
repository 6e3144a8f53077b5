"""Teams that nobody wants to leave, learnt from the past."""

from coterie.actions import ExplicitSets, UpTo, any_subset, exactly_one, explicit
from coterie.errors import CoterieError, InputError, NoPotentialError, TooLargeError
from coterie.game import Deviation, Game
from coterie.joint_actions import ActionSpaces
from coterie.log import Log, PairStatistics, Statistics, TotalStatistics, read_log
from coterie.strategy import Strategy, read_strategy

__version__ = "0.1.0"

__all__ = [
    "ActionSpaces",
    "CoterieError",
    "Deviation",
    "ExplicitSets",
    "Game",
    "InputError",
    "Log",
    "NoPotentialError",
    "PairStatistics",
    "Statistics",
    "Strategy",
    "TooLargeError",
    "TotalStatistics",
    "UpTo",
    "any_subset",
    "exactly_one",
    "explicit",
    "read_log",
    "read_strategy",
]
