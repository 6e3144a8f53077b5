"""Signals that end a command, from its first moment on: this module brings nothing with it."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Timer

WORDS = {128 + signal.SIGINT: "interrupted", 128 + signal.SIGTERM: "terminated"}
"""What is said at the end, by exit code."""


AGAIN = 0.02
"""After so many seconds a signal is sent again whose exception was lost."""


class Terminated(BaseException):
    """SIGTERM: unlike an interrupt, it does not leave time to write the best so far."""


@contextmanager
def signals() -> Iterator[list[int]]:
    """Let SIGINT and SIGTERM unwind the stack, so that half-written output is removed; give those that came.

    Where the exception is lost, as in a library in C++ that was just calling Python, the signal is sent again.
    """
    caught: list[int] = []
    sent: list[Timer] = []

    def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  (so it is called)
        caught.append(signum)
        raise KeyboardInterrupt if signum == signal.SIGINT else Terminated

    def lost(problem: "sys.UnraisableHookArgs") -> None:
        if not isinstance(problem.exc_value, (KeyboardInterrupt, Terminated)):
            hook(problem)
            return
        from threading import Timer

        again = Timer(AGAIN, os.kill, (os.getpid(), caught[-1] if caught else signal.SIGINT))
        again.daemon = True
        again.start()
        sent.append(again)

    hook, sys.unraisablehook = sys.unraisablehook, lost
    both = [signum for signum in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(signum) != signal.SIG_IGN]
    before = {signum: signal.signal(signum, stop) for signum in both}
    try:
        yield caught
    finally:
        for again in sent:  # what comes after the end would be Python's
            again.cancel()
            again.join()
        for signum, handler in before.items():
            signal.signal(signum, handler)
        sys.unraisablehook = hook
