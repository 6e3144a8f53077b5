"""What linear algebra and probabilities need of SciPy, without what its packages load besides.

`scipy.linalg` and `scipy.special` write their documentation while they are loaded, which takes longer than a small log
takes to learn from. Their compiled parts are loaded here without it: the same functions, whether or not the packages
are loaded before or afterwards. That is done while no other thread runs, which could see a package half loaded.
"""

import sys
import threading
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from coterie.arrays import FloatArray


def lapack() -> Any:
    """Return LAPACK's functions as `scipy.linalg.lapack` has them."""
    return _part("linalg", "_flapack", "lapack")


def special() -> Any:
    """Return the functions of `scipy.special` that take and return arrays."""
    return _part("special", "_ufuncs", "")


def load() -> None:
    """Load what may be needed, before there are other threads."""
    lapack()
    special()


@cache
def _part(package: str, compiled: str, public: str) -> ModuleType:
    """Return a compiled part of a package, or where SciPy has none of that name what everybody may use."""
    whole = f"scipy.{package}"
    import scipy

    if whole not in sys.modules and threading.active_count() == 1:
        bare = ModuleType(whole)
        bare.__path__ = [str(Path(folder) / package) for folder in scipy.__path__]
        sys.modules[whole] = bare
        try:
            return import_module(f"{whole}.{compiled}")
        except ImportError:
            pass
        finally:
            del sys.modules[whole]
    return import_module(f"{whole}.{public}" if public else whole)


def solved(lower: FloatArray, columns: FloatArray) -> FloatArray:
    """Return (L L')^-1 columns, for a Cholesky factor L."""
    if not columns.size:
        return np.empty_like(columns)
    found, _ = lapack().dpotrs(lower, columns, lower=1)
    return np.asarray(found)


def half_solved(lower: FloatArray, columns: FloatArray, *, turned: bool = False) -> FloatArray:
    """Return L^-1 columns, for a Cholesky factor L, or if `turned` L'^-1 columns."""
    if not columns.size:
        return np.empty_like(columns)
    by_columns = lower.flags.f_contiguous  # as LAPACK reads a matrix; it takes another for its transpose
    matrix = lower if by_columns else lower.T
    found, singular = lapack().dtrtrs(matrix, columns, lower=int(by_columns), trans=int(by_columns == turned))
    if singular:
        raise np.linalg.LinAlgError(f"singular matrix: there is a zero at place {singular - 1} of its diagonal")
    return np.asarray(found)
