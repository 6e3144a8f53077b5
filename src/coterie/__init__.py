"""Teams that nobody wants to leave, learnt from the past."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.actions import ExplicitSets, UpTo, any_subset, exactly_one, explicit
from coterie.errors import CoterieError, InputError, NoPotentialError, TooLargeError
from coterie.game import Deviation, Game
from coterie.joint_actions import ActionSpaces
from coterie.strategy import Strategy, read_strategy

if TYPE_CHECKING:
    from coterie.log import Log, PairStatistics, Statistics, TotalStatistics, read_log

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

_LATE = dict.fromkeys(("Log", "PairStatistics", "Statistics", "TotalStatistics", "read_log"), "coterie.log")


def __getattr__(name: str) -> Any:
    """Import what needs Arrow when it is first used, so that importing the package stays light."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LATE[name]), name)
    globals()[name] = value
    return value
