"""Teams that nobody wants to leave, learnt from the past."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from coterie.errors import CoterieError, InputError, NoPotentialError, NotFittedError, TooLargeError

if TYPE_CHECKING:
    from coterie.certificates.certificate import Certificate
    from coterie.coverage.coverage import Coverage
    from coterie.game.actions import ActionSpaces, ExplicitSets, UpTo, any_subset, exactly_one, explicit
    from coterie.game.game import Deviation, Game
    from coterie.game.hedonic import additively_separable, fractional, friends_and_enemies
    from coterie.game.rules import Rules
    from coterie.game.strategy import Strategy, read_strategy
    from coterie.learn.certify import certify
    from coterie.learn.compare import compare, what_if
    from coterie.learn.comparison import Comparison
    from coterie.learn.explain import explain
    from coterie.learn.explanation import Explanation
    from coterie.learn.learner import StableLearner
    from coterie.learn.result import Result
    from coterie.log import Log, read_log
    from coterie.log.start import Guess, start
    from coterie.statistics import PairStatistics, Statistics, TotalStatistics
    from coterie.versions import show_versions

__version__ = "0.1.0"

__all__ = [
    "ActionSpaces",
    "Certificate",
    "Comparison",
    "CoterieError",
    "Coverage",
    "Deviation",
    "ExplicitSets",
    "Explanation",
    "Game",
    "Guess",
    "InputError",
    "Log",
    "NoPotentialError",
    "NotFittedError",
    "PairStatistics",
    "Result",
    "Rules",
    "StableLearner",
    "Statistics",
    "Strategy",
    "TooLargeError",
    "TotalStatistics",
    "UpTo",
    "additively_separable",
    "any_subset",
    "certify",
    "compare",
    "exactly_one",
    "explain",
    "explicit",
    "fractional",
    "friends_and_enemies",
    "read_log",
    "read_strategy",
    "show_versions",
    "start",
    "what_if",
]

_LATE = {
    **dict.fromkeys(
        ("ActionSpaces", "ExplicitSets", "UpTo", "any_subset", "exactly_one", "explicit"), "coterie.game.actions"
    ),
    **dict.fromkeys(("Deviation", "Game"), "coterie.game.game"),
    **dict.fromkeys(("additively_separable", "fractional", "friends_and_enemies"), "coterie.game.hedonic"),
    "Rules": "coterie.game.rules",
    **dict.fromkeys(("Strategy", "read_strategy"), "coterie.game.strategy"),
    **dict.fromkeys(("Log", "read_log"), "coterie.log"),
    **dict.fromkeys(("PairStatistics", "Statistics", "TotalStatistics"), "coterie.statistics"),
    "Certificate": "coterie.certificates.certificate",
    "Comparison": "coterie.learn.comparison",
    "Coverage": "coterie.coverage.coverage",
    "Explanation": "coterie.learn.explanation",
    **dict.fromkeys(("Guess", "start"), "coterie.log.start"),
    "Result": "coterie.learn.result",
    "StableLearner": "coterie.learn.learner",
    "certify": "coterie.learn.certify",
    "show_versions": "coterie.versions",
    "compare": "coterie.learn.compare",
    "explain": "coterie.learn.explain",
    "what_if": "coterie.learn.compare",
}


def __dir__() -> list[str]:
    """List what is offered, whether it was used before or not."""
    return __all__


if not TYPE_CHECKING:  # type checkers would take any name for one of these

    def __getattr__(name: str) -> Any:
        """Import a name when it is first used, so that importing the package is quick."""
        if name in _LATE:
            value = getattr(import_module(_LATE[name]), name)
        elif not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            value = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value
