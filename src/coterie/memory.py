"""Memory that is limited from outside, as by `ulimit -v`: what is said where it does not suffice.

Linear algebra (OpenBLAS) waits for ever for memory that it does not get, and heeds no signal meanwhile: while it is
loaded, and when it is first used. So both is done at the beginning, once there is room for it for sure.
"""

import mmap
import sys

ROOM = 256 << 20
"""Bytes that NumPy's and SciPy's linear algebra take (about 170 MB), and what is lost between them."""

WORDS = ("can't start new thread", "failed to map segment", "annot allocate memory", "ot enough memory")
"""How Python and the loader say that there is no room: for the stack of a thread, for a library."""


def load_linear_algebra() -> None:
    """Load linear algebra where memory is limited, and let it take what it needs; MemoryError if there is no room."""
    if not _is_limited() or "scipy.linalg" in sys.modules:
        return
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError as problem:
        raise MemoryError("linear algebra cannot be loaded") from problem
    use_linear_algebra()


def use_linear_algebra() -> None:
    """Use NumPy's and SciPy's linear algebra, which take their memory when they are first used."""
    import numpy as np
    import scipy.linalg

    one = np.eye(2)
    scipy.linalg.cho_solve((np.linalg.solve(one, one), True), one)


def is_missing(problem: BaseException) -> bool:
    """Return whether memory is what an exception is about, whatever its name."""
    return isinstance(problem, MemoryError) or any(words in str(problem) for words in WORDS)


def _is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
