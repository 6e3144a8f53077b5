"""Teams that nobody wants to leave, learnt from the past."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.actions import ExplicitSets, UpTo, any_subset, exactly_one, explicit
from coterie.errors import CoterieError, InputError, NoPotentialError, NotFittedError, TooLargeError
from coterie.game import Deviation, Game
from coterie.joint_actions import ActionSpaces
from coterie.strategy import Strategy, read_strategy

if TYPE_CHECKING:
    from coterie.assemble import certified
    from coterie.explanation import Explanation, explain
    from coterie.learner import StableLearner
    from coterie.log import Log, PairStatistics, Statistics, TotalStatistics, read_log
    from coterie.result import Result

__version__ = "0.1.0"

__all__ = [
    "ActionSpaces",
    "CoterieError",
    "Deviation",
    "ExplicitSets",
    "Explanation",
    "Game",
    "InputError",
    "Log",
    "NoPotentialError",
    "NotFittedError",
    "PairStatistics",
    "Result",
    "StableLearner",
    "Statistics",
    "Strategy",
    "TooLargeError",
    "TotalStatistics",
    "UpTo",
    "any_subset",
    "certified",
    "exactly_one",
    "explain",
    "explicit",
    "read_log",
    "read_strategy",
]

_LATE = {
    **dict.fromkeys(("Log", "PairStatistics", "Statistics", "TotalStatistics", "read_log"), "coterie.log"),
    **dict.fromkeys(("Explanation", "explain"), "coterie.explanation"),
    "Result": "coterie.result",
    "StableLearner": "coterie.learner",
    "certified": "coterie.assemble",
}


def __getattr__(name: str) -> Any:
    """Import what needs Arrow when it is first used, so that importing the package stays light."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LATE[name]), name)
    globals()[name] = value
    return value
