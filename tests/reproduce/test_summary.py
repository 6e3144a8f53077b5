"""Fits and shares, from tables whose answer is known."""

import math

import numpy as np
import pytest

from coterie.reproduce import summarise
from coterie.reproduce.experiments import FIGURES, QUICK
from coterie.reproduce.rows import read_rows, write_rows
from coterie.reproduce.summary import exponent
from made_tables import falls, made


@pytest.mark.parametrize("power", [-0.5, -1.0, 0.0, 1.5])
def test_exponent_of_a_power_law(power):
    x = [100, 5000, 10000, 30000]
    assert exponent(x, [7 * value**power for value in x]) == pytest.approx(power, abs=1e-9)


def test_exponent_needs_three_positive_points():
    assert exponent([1, 2, 3], [1.0, 0.0, 0.5]) is None
    assert exponent([1, 2, 4, 8], [1.0, 0.5, 0.0, 0.125]) == pytest.approx(-1)
    assert exponent([1, 2, 4, 8], [1.0, 0.5, math.inf, 0.125]) == pytest.approx(-1)


def test_exponent_equals_the_normal_equations():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(1, 100, 20), rng.uniform(0.1, 5, 20)
    design = np.stack([np.ones(20), np.log(x)], axis=1)
    expected = np.linalg.solve(design.T @ design, design.T @ np.log(y))[1]
    assert exponent(x, y) == pytest.approx(expected)


def test_summary_of_synthetic_tables():
    def certificate(cell, samples, method):
        if method == "auto":
            return 0.0 if samples == 30_000 and cell.seed > 0 else 1.0
        return cell.n**1.5 * cell.k / math.sqrt(samples)

    summary = summarise({"S1": made(FIGURES["S1"], certificate)})
    assert all(curve.exponent == pytest.approx(-0.5) for curve in summary.of("S1", method="paper"))
    (ours,) = summary.of("S1", method="auto", model="gaussian", n=15)
    seeds = FIGURES["S1"].seeds
    assert (ours.runs, ours.first, ours.held) == (seeds, 1.0, 1.0)
    assert ours.stable == pytest.approx((seeds - 1) / seeds)
    assert ours.last == pytest.approx(1 / seeds)
    fits = {(one.varies, round(one.exponent, 6)) for one in summary.growth if one.method == "paper"}
    assert fits == {("n", 1.5), ("k", 1.0)}


def test_rows_come_back(tmp_path):
    rows = made(QUICK["S1"], falls)
    write_rows(tmp_path / "S1.csv", "S1", rows)
    assert read_rows(tmp_path / "S1.csv") == rows
