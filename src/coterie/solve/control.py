"""Seed, time limit, progress and interruption: what every search obeys.

A solver keeps its best strategy outside of `running`, and calls `check` often. When time is up, the
stop flag is raised or the user presses Ctrl-C, `running` ends quietly, `ended` says why, and the
solver returns what it has.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeVar

import numpy as np

from coterie import checks
from coterie.errors import InputError
from coterie.words import said


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    method: str
    """What searches, or the name of a stage between searches."""
    done: int
    total: int
    """Starts or sweeps; 0 where the number is not known."""
    value: float
    """The best so far."""
    seconds: float


Found = TypeVar("Found")


def meanwhile(work: Callable[[], Found]) -> Found:
    """Do work of a library that looks up from it for no signal, in a thread, so that Ctrl-C ends the wait for it."""
    found: list[Found] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as problem:  # noqa: BLE001  (raised again below)
            failed.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LOOKS_UP)
    if failed:
        raise failed[0]
    return found[0]


LOOKS_UP = 0.2
"""So many seconds may go by until a signal is heeded."""


class _Stop(Exception):  # noqa: N818  (not an error)
    """Leaves a search in good order."""


class Control:
    """How one search is driven; used for one search and no more.

    Parameters
    ----------
    seed
        A number, a Generator, or None. With the same seed and no time limit a search repeats exactly.
    time_limit
        In seconds, from the making of this object.
    progress
        Called now and then with a `Progress`.
    stop
        Asked often; the search ends when it says True. `threading.Event().is_set` will do.
    """

    def __init__(
        self,
        seed: checks.Seed = 0,
        time_limit: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        if time_limit is not None and time_limit != np.inf and checks.number(time_limit, said("time_limit")) <= 0:
            raise InputError(f"{said('time_limit')}: expected a positive number of seconds, got {time_limit!r}")
        self.rng = checks.generator(seed)
        self.time_limit = time_limit
        self.ended: Literal["time", "interrupted"] | None = None
        self._progress, self._stop = progress, stop
        self._begin = time.perf_counter()

    @property
    def seconds(self) -> float:
        """The time since the search began."""
        return time.perf_counter() - self._begin

    @property
    def remaining(self) -> float | None:
        """The time left, at least 0; None without a limit."""
        return None if self.time_limit is None else max(self.time_limit - self.seconds, 0.0)

    def is_over(self) -> bool:
        """Return whether the search should end, and remember why; one that was interrupted does not begin again."""
        stopped = self.is_interrupted()
        late = self.time_limit is not None and self.seconds > self.time_limit
        if stopped or late:
            self.ended = "interrupted" if stopped else "time"
        return stopped or late

    def is_interrupted(self) -> bool:
        """Return whether somebody wants the search to end."""
        if self._stop is not None and self._stop():
            self.ended = "interrupted"
        return self.ended == "interrupted"

    def check(self) -> None:
        """Leave `running` if the search should end."""
        if self.is_over():
            raise _Stop

    def give_up(self) -> NoReturn:
        """Leave `running`: something within the search ran out of time."""
        self.ended = "time"
        raise _Stop

    def nested(self, share: float = 1.0, *, speaks: bool = False) -> "Control":
        """Return a control for a search within this one: same generator, same stop flag, a share of the time left.

        It reports progress only if it `speaks`.
        """
        left = None if self.remaining is None else max(share * self.remaining, 1e-9)
        inner = Control(self.rng, left, self._progress if speaks else None, self._stop)
        inner.heed(self)
        return inner

    def follow(self, inner: "Control") -> None:
        """End this search if a search within it was stopped."""
        if inner.ended is not None:
            self.ended = inner.ended
            raise _Stop

    def heed(self, inner: "Control") -> None:
        """Remember that a search within this one was interrupted, so that no other begins."""
        if inner.ended == "interrupted":
            self.ended = "interrupted"

    def report(self, method: str, done: int, total: int, value: float) -> None:
        """Tell the caller how far the search is, and check whether to go on."""
        if self._progress is not None:
            self._progress(Progress(method, done, total, value, self.seconds))
        self.check()

    def tell(self, stage: str) -> None:
        """Tell the caller that another stage begins, of which it is not known how long it takes."""
        if self._progress is not None:
            self._progress(Progress(stage, 0, 0, 0.0, self.seconds))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run a search that may be stopped at any time."""
        try:
            yield
        except _Stop:
            pass
        except KeyboardInterrupt:
            self.ended = "interrupted"
