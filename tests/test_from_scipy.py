"""What is taken of SciPy is what SciPy has, and leaves it whole for others."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from coterie import from_scipy
from coterie.from_scipy import half_solved, lapack, solved, special


@given(seed=st.integers(0, 2**32), n=st.integers(1, 12), columns=st.integers(0, 5), turned=st.booleans())
def test_triangular_systems_are_solved_as_scipy_does(seed, n, columns, turned):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    lower = np.linalg.cholesky(root @ root.T + np.eye(n))
    lower = np.asfortranarray(lower) if turned else lower
    right = rng.normal(size=(n, columns))
    np.testing.assert_array_equal(solved(lower, right), scipy.linalg.cho_solve((lower, True), right))
    for trans in (False, True):
        wanted = scipy.linalg.solve_triangular(lower, right, lower=True, trans=int(trans))
        np.testing.assert_array_equal(half_solved(lower, right, turned=trans), wanted)


def test_singular_systems_are_refused():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        half_solved(np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones((2, 1)))


def test_where_a_part_has_another_name_everybodys_is_used(monkeypatch):
    monkeypatch.delitem(sys.modules, "scipy.linalg")
    assert from_scipy._part.__wrapped__("linalg", "_no_such_part", "lapack").dpotrs is lapack().dpotrs


ALONE = """
import sys
from coterie.from_scipy import lapack, special
ours = lapack().dpotrs, special().ndtri
loaded = [name for name in ("scipy.linalg", "scipy.special", "numpy.f2py") if name in sys.modules]
import scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.special, scipy.stats
assert ours == (scipy.linalg.lapack.dpotrs, scipy.special.ndtri)
scipy.linalg.solve([[2.0]], [1.0])
scipy.optimize.linprog([1.0])
print(loaded)
"""


def test_nothing_else_is_loaded_and_the_rest_can_be():
    assert subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_beside_the_packages_they_are_the_same():
    assert lapack().dpotrs is scipy.linalg.lapack.dpotrs
    assert special().stdtrit(3, 0.2) == scipy.special.stdtrit(3, 0.2)
