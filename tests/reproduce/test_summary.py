"""Fits, shares, verdicts and the page, from tables whose answer is known."""

import math
from pathlib import Path

import numpy as np
import pytest

from coterie.reproduce import summarise
from coterie.reproduce.claims import CLAIMS, CONFIRMED, NOT_CONFIRMED, NOT_TESTED, OTHER_CAUSE, span
from coterie.reproduce.page import page, write_page
from coterie.reproduce.plan import FIGURES, QUICK
from coterie.reproduce.rows import Row, read_rows, write_rows
from coterie.reproduce.summary import exponent

DOCS = Path(__file__).parents[2] / "docs" / "paper"


def falls(_cell, samples, _method):
    return 1 / samples


def made(figure, certificate):
    """Return a table in which certificates are a function of row's cell, samples and method."""
    rows = []
    for panel, cell in figure.cells:
        for samples in figure.samples:
            for method in figure.methods:
                value = certificate(cell, samples, method)
                row = Row(cell.feedback, cell.model, cell.policy, cell.n, cell.k, cell.actions, cell.seed, samples,
                          method, value, 0.0, 1, 0.5)  # fmt: skip
                rows.append((panel.name, row))
    return rows


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


def verdicts(tables):
    summary = summarise(tables)
    return {claim.text: claim.judge(summary).word for claim in CLAIMS if set(claim.figures) <= set(tables)}


def test_verdicts_follow_the_numbers():
    def falling(cell, samples, method):
        return 0.0 if method == "auto" else cell.n * cell.k / math.sqrt(samples)

    def staying(cell, samples, method):
        return float(cell.n)

    names = ("S1", "S2", "S3", "S4", "S5", "S6")
    as_said = {name: made(FIGURES[name], staying if name in {"S2", "S6"} else falling) for name in names}
    found = verdicts(as_said)
    assert set(found.values()) == {CONFIRMED, OTHER_CAUSE}
    assert len(found) == len(CLAIMS)
    opposite = {name: made(FIGURES[name], falling if name in {"S2", "S6"} else staying) for name in names}
    found = verdicts(opposite)
    assert found["It fails to do so under 1Rand"] == NOT_CONFIRMED
    assert found["Mixed effects, semi-bandit: low under the coalition-size policy as well"] == NOT_CONFIRMED
    assert found["Mixed effects, bandit: fails under the coalition-size policy"] == NOT_CONFIRMED
    assert verdicts({"S1": made(QUICK["S1"], falling)})["It takes more samples with more agents"] == NOT_TESTED


def test_span():
    assert span([0.5, 2, None]) == "0.50 to 2.00"
    assert span([1.0, 1.001]) == "1.00"
    assert span([None]) == "no fit"


def test_rows_come_back(tmp_path):
    rows = made(QUICK["S1"], falls)
    write_rows(tmp_path / "S1.csv", "S1", rows)
    assert read_rows(tmp_path / "S1.csv") == rows


def test_page_links_from_where_it_lies(tmp_path):
    folder = tmp_path / "figures"
    for name in ("S1", "ablation"):
        write_rows(folder / f"{name}.csv", name, made(QUICK[name], falls))
    (folder / "summary.json").write_text('{"quick": true}')
    write_page(tmp_path / "pages" / "results.md", folder)
    text = (tmp_path / "pages" / "results.md").read_text()
    assert "(../figures/S1.png)" in text
    assert "quick run" in text
    assert "| + exact expectations | 0.01 | 0.001 | 0.0002 |" in text
    assert "under 1Rand (" not in text  # no table, no verdict


def test_the_documented_results_are_those_of_the_tables_beside_them():
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(DOCS / "figures", "figures")
    for path in (DOCS / "figures").glob("*.png"):
        assert path.stat().st_size < 150_000, path
