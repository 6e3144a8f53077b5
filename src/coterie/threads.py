"""How many threads linear algebra has.

Its matrices are small here: several threads mostly wait for each other, which costs a multiple of the time, and what
is added in another order on another machine would not be the same to the last digit.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from coterie import from_scipy

LIBRARIES = ("OPENBLAS", "MKL", "OMP")
"""The libraries whose variables of the environment, such as OMP_NUM_THREADS, say how many threads there are."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra have one thread in the block, or in a function so decorated, unless the environment says."""
    if any(f"{library}_NUM_THREADS" in os.environ for library in LIBRARIES):
        yield
        return
    from threadpoolctl import threadpool_limits

    from_scipy.load()  # what is loaded later would have threads of its own
    with threadpool_limits(1, user_api="blas"):
        yield
