"""Complementary pivoting: what it ends in solves the problem, compiled or not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.solve import pivoting
from coterie.solve.pivoting import Complementarity, Path


def bimatrix(rng, m, n, *, whole=False):
    """Two agents with m and n actions, each with a free multiplier: z, then y."""
    draw = (lambda shape: rng.integers(-2, 3, shape).astype(float)) if whole else (lambda shape: rng.normal(size=shape))
    size = m + n + 2
    matrix = np.zeros((size, size))
    matrix[:m, m : m + n], matrix[m : m + n, :m] = -draw((m, n)), -draw((n, m))
    sums = np.zeros((2, m + n))
    sums[0, :m] = sums[1, m:] = 1.0
    matrix[m + n :, : m + n], matrix[: m + n, m + n :] = -sums, sums.T
    constant = np.repeat([0.0, 1.0], [m + n, 2])
    return Complementarity(matrix, constant, constant > 0)


def begun(problem, rng, m, n):
    cover, inside = np.zeros(len(problem)), problem.free.copy()
    cover[: m + n] = -rng.random(m + n)
    inside[[cover[:m].argmin(), m + cover[m : m + n].argmin()]] = True
    return Path(problem, cover, inside)


def check_solves(problem, points):
    slack = problem.matrix @ points + problem.constant
    np.testing.assert_allclose(slack[problem.free], 0.0, atol=1e-9)
    assert points[~problem.free].min() >= -1e-9
    assert slack.min() >= -1e-9
    np.testing.assert_allclose((points * slack)[~problem.free], 0.0, atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_every_path_ends_in_a_solution(seed, m, n, whole):
    rng = np.random.default_rng(seed)
    problem = bimatrix(rng, m, n, whole=whole)
    path = begun(problem, rng, m, n)
    while not path.is_solved:
        path.follow(3)
        assert not path.is_lost
        assert path.steps < 10_000
    check_solves(problem, path.points())


def test_compiled_and_renewed_paths_are_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    problem = bimatrix(rng, 40, 40)
    cover = np.random.default_rng(6)
    plain, compiled = (begun(problem, np.random.default_rng(6), 40, 40) for _ in range(2))
    renewed = begun(problem, cover, 40, 40)
    while not plain.is_solved:
        plain.follow(7)
    while not compiled.is_solved:
        compiled.follow(7, is_compiled=True)
    monkeypatch.setattr(pivoting, "RENEWED", 0)
    while not renewed.is_solved:
        renewed.follow(1)
    assert plain.steps == compiled.steps == renewed.steps > 10
    np.testing.assert_array_equal(plain._table, compiled._table)
    np.testing.assert_array_equal(plain.points(), compiled.points())
    np.testing.assert_allclose(plain.points(), renewed.points(), atol=1e-9)


def test_lost_digits_and_rays_are_noticed(monkeypatch):
    rng = np.random.default_rng(1)
    problem = bimatrix(rng, 30, 30)
    path = begun(problem, rng, 30, 30)
    path.follow(5)
    assert not path.is_solved
    path._table[:, -1] -= 1.0  # as if digits had been lost
    path._table[:, :-1] = 1.0
    path.follow(1)
    assert path.is_lost
    path = begun(problem, rng, 30, 30)
    path.follow(4)
    monkeypatch.setattr(pivoting, "RENEWED", 0)
    path.problem.matrix[:] = 0.0
    path._wide[:] = 0.0
    path.follow(1)
    assert path.is_lost


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_parts_do_not_touch(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    matrix = rng.normal(size=(size, size)) * (rng.random((size, size)) < 1.5 / size)
    problem = Complementarity(matrix, rng.normal(size=size), rng.random(size) < 0.5)
    parts = problem.parts()
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(size))
    touches = (matrix != 0) | (matrix.T != 0) | np.eye(size, dtype=bool)
    reaches = np.linalg.matrix_power(touches.astype(int), size) > 0
    for part in parts:
        np.testing.assert_array_equal(np.flatnonzero(reaches[part[0]]), part)
        alone = problem.of(part)
        np.testing.assert_array_equal(alone.matrix, matrix[np.ix_(part, part)])
        np.testing.assert_array_equal(alone.free, problem.free[part])


def test_nothing_to_do():
    problem = bimatrix(np.random.default_rng(0), 1, 1)
    path = begun(problem, np.random.default_rng(0), 1, 1)
    assert path.is_solved
    assert path.steps == 0
    np.testing.assert_allclose(path.points()[:2], 1.0)
    assert path.size == pytest.approx(2 * 4)
