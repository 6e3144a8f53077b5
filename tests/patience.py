"""How long something may take: seconds of work, so that a busy machine changes nothing."""

import contextlib
import signal

WAITING = 100
"""Something may wait so many times as long as it may work, for its turn on a busy machine say."""


@contextlib.contextmanager
def at_most(seconds):
    """Raise TimeoutError in the block after so many seconds of work, all threads together, or of much more waiting."""

    def late(signum, _):
        raise TimeoutError(f"took more than {seconds if signum == signal.SIGPROF else WAITING * seconds} seconds")

    timers = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {signum: signal.signal(signum, late) for signum in timers}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)
    try:
        yield
    finally:
        for signum, timer in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(signum, before[signum])
