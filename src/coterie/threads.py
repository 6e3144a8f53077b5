"""How many threads linear algebra has.

Its matrices are small here: several threads mostly wait for each other, which costs a multiple of the time, and what
is added in another order on another machine would not be the same to the last digit.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from coterie import from_scipy

LIBRARIES = ("OPENBLAS", "MKL", "OMP")
"""The libraries whose variables of the environment, such as OMP_NUM_THREADS, say how many threads there are."""


_lock = threading.Lock()
_held: dict[str, Any] = {"blocks": 0, "limit": None}
"""How many blocks are under way, in all threads of Python, and what the first of them limited."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra have one thread in the block, or in a function so decorated, unless the environment says.

    What was before is restored when the last of several blocks ends that are under way at once.
    """
    if any(f"{library}_NUM_THREADS" in os.environ for library in LIBRARIES):
        yield
        return
    with _lock:
        if not _held["blocks"]:
            from threadpoolctl import threadpool_limits

            from_scipy.load()  # what is loaded later would have threads of its own
            _held["limit"] = threadpool_limits(1, user_api="blas")
        _held["blocks"] += 1
    try:
        yield
    finally:
        with _lock:
            _held["blocks"] -= 1
            if not _held["blocks"]:
                _held["limit"].restore_original_limits()
