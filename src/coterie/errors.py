"""The exceptions of the package: one family, so that one `except` catches them all."""

LONGEST = 2000
"""No message has more characters: it would not fit on a screen."""


def clipped(text: str) -> str:
    """Return a message without its middle, where it is too long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[5 - LONGEST // 2 :]}"


class CoterieError(Exception):
    """Anything that this package refuses or fails to do, with a message for a person."""

    def __str__(self) -> str:
        return clipped(super().__str__())


class InputError(CoterieError, ValueError):
    """The caller's input is wrong; the message says what, where, and what would be right."""


class TooLargeError(InputError):
    """An exact enumeration was asked for that exceeds its stated limit."""


class SolverError(CoterieError):
    """A program for whole numbers ended without an answer, for numerical reasons."""


class NoPotentialError(CoterieError):
    """The game has no potential function of a known kind."""


class NotFittedError(CoterieError, ValueError, AttributeError):
    """A learner was asked for what it has not learnt yet."""
