"""Loops over the rows of a log: Python runs the first ones, numba compiles them when there is much to do.

Numba takes longer to load than a small log takes to read, and much longer where it has not compiled a kernel before. So
the same text is run by Python while there is little to do, or, for the innermost loops, another that does the same with
arrays. Sums are the same either way.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

LITTLE = 400_000
"""So many steps of innermost loops are left to Python: a fifth of a second, where loading numba takes one or more."""

_KERNELS: list[FunctionType] = []
_compiled: dict[str, Callable[..., Any]] = {}
_done = {"steps": 0}


def kernel(function: Any) -> Any:
    """Note a function that may be compiled; it calls only such as were noted before, by the names that they have."""
    _KERNELS.append(function)
    return function


def in_python(loops: Any) -> Callable[[Any], Any]:
    """Let Python run a function of arrays in place of the loops of a kernel, which numba finds by the name of both."""

    def noted(arrays: Any) -> Any:
        if arrays.__name__ != loops.__name__:
            raise ValueError(f"{arrays.__name__} is run for {loops.__name__}, which is found by its name")
        return arrays

    return noted


def quickest(function: Callable[..., Any], steps: int) -> Callable[..., Any]:
    """Return a kernel for so many steps, compiled unless Python had little to do so far, in this process and with them.

    Which it is may depend on what was done before, so this is for kernels that are exact, or add and multiply alone.
    """
    _done["steps"] += steps
    return suited(function, _done["steps"])


def suited(function: Callable[..., Any], steps: int) -> Callable[..., Any]:
    """Return a kernel for so many steps in all, compiled where these are many: the same whatever was done before.

    It is for kernels that call linear algebra, which NumPy and numba take from different libraries.
    """
    return function if steps <= LITTLE else compiled(function)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel as numba compiles it; what it has compiled once is kept beside the module."""
    name = function.__name__
    if name not in _compiled:
        import numba  # here, since it is slow to load

        for one in _KERNELS:
            if one.__name__ not in _compiled:
                alone = FunctionType(one.__code__, {**one.__globals__, **_compiled}, one.__name__, one.__defaults__)
                alone.__doc__, alone.__qualname__ = one.__doc__, one.__qualname__
                _compiled[one.__name__] = numba.njit(cache=True, nogil=True)(alone)
    return _compiled[name]
