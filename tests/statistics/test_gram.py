"""The compiled kernels against the Python that they are compiled from, or that is run for them."""

from dataclasses import asdict

import numpy as np
import pytest

import coterie
from coterie.statistics import gram, joint, kernels
from coterie.statistics.packed import packed_length, unpacked
from coterie.statistics.second_pass import Directions, SecondPass
from coterie.statistics.statistics import Statistics

CASES = [{"noise": noise, "sizes": sizes} for noise in ("pairs", "samples") for sizes in ("ignore", "aware")]


@pytest.fixture
def both(monkeypatch):
    """Return what a function returns with kernels left to Python, and with compiled ones."""

    def run(function):
        found = []
        for little in (10**12, -1):
            monkeypatch.setattr(kernels, "LITTLE", little)
            found.append(function())
        return found

    return run


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("table", ["pairs", "totals"])
def test_compiled_and_interpreted_agree(tables, both, table, pooled):
    log = coterie.Log.from_frames(**tables(50, n=4, samples=15).frames("memberships", table), pool_coalitions=pooled)
    interpreted, compiled = both(
        lambda: [Statistics.of(log, clues=False, **case).sha256 for case in [*CASES, {"unweighted": True}]]
    )
    assert interpreted == compiled
    assert kernels.compiled(gram.add_cooccurrences if table == "pairs" else gram.add_totals).signatures


@pytest.mark.parametrize("run", [lambda function: function, kernels.compiled], ids=["arrays", "loops"])
@pytest.mark.parametrize("often", [1, 2])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 1.0])
def test_outer_products_are_added_however_many_unknowns_occurred(share, often, run):
    rng, block, tables = np.random.default_rng(0), 30, 3
    dimension = block * tables
    packed, expected = np.zeros(packed_length(dimension), dtype=np.int64), np.zeros((dimension, dimension))
    row, ends = np.zeros(dimension, dtype=np.int64), np.empty(tables + 1, dtype=np.int64)
    for weight in (1, 7, 1 << 30):
        features = np.flatnonzero(rng.random(dimension) < share)
        values = rng.integers(1, often + 1, len(features))
        run(gram._add_outer)(packed, block, features, values, len(features), weight, row, ends)
        expected[np.ix_(features, features)] += weight * np.outer(values, values)
        assert not row.any()
    np.testing.assert_array_equal(unpacked(packed, block, dimension), expected)


@pytest.mark.slow  # where it was never compiled before, that alone takes half a minute
@pytest.mark.parametrize("together", [False, True])
def test_second_looks_agree(tables, both, together):
    log = coterie.Log.from_frames(**tables(51, n=4, samples=30).frames("memberships", "totals"))
    made = Statistics.of(log, parts=(0.5, 0.5), clues=False)
    unknowns, regressions = (3 * 6, 1) if together else (made.setting.n_features, 4)
    solved = np.random.default_rng(0).normal(size=(8, unknowns))
    asked = Directions(solved, np.arange(8) % regressions, np.zeros((regressions, unknowns)), 0.1, together)
    interpreted, compiled = both(lambda: asdict(SecondPass.of_log(log, made).residuals(asked)))
    for name, values in interpreted.items():
        assert (values > 0).all()
        np.testing.assert_allclose(values, compiled[name], rtol=1e-12 if together else 0)
    kernel = joint.add_joint_residuals if together else gram.add_residuals
    assert kernels.compiled(kernel).signatures


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_projections_agree(tables, both, pooled):
    frames = tables(52, n=4, samples=30).frames("memberships", "totals")
    log = coterie.Log.from_frames(**frames, pool_coalitions=pooled)
    interpreted, compiled = both(lambda: Statistics.of(log, joint=True, clues=False).whole.joint)
    assert interpreted.projections.any()
    assert interpreted.moments.any()
    np.testing.assert_allclose(interpreted.projections, compiled.projections, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(interpreted.moments, compiled.moments, rtol=1e-12, atol=1e-12)
    assert kernels.compiled(joint._add_projection).signatures


def test_python_is_left_what_is_little(monkeypatch):
    monkeypatch.setattr(kernels, "LITTLE", 100)
    monkeypatch.setitem(kernels._done, "steps", 0)
    monkeypatch.setattr(kernels, "compiled", lambda function: f"compiled {function.__name__}")
    assert kernels.quickest(gram.add_totals, 60) is gram.add_totals
    assert kernels.suited(joint._add_projection, 60) is joint._add_projection
    assert kernels.quickest(gram.add_totals, 60) == "compiled add_totals"
    assert kernels.suited(joint._add_projection, 60) is joint._add_projection
    assert kernels.suited(joint._add_projection, 101) == "compiled _add_projection"
