"""Verdicts, captions and the page of results, from tables whose answer is known."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from captions import text_beside
from claims import CLAIMS, CONFIRMED, NOT_CONFIRMED, NOT_TESTED, OTHER_CAUSE, PARTLY, span, word
from coterie.reproduce import summarise
from coterie.reproduce.draw import draw
from coterie.reproduce.experiments import FIGURES, QUICK
from coterie.reproduce.rows import read_rows, write_rows
from made_tables import falls, made
from page import page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "paper"


def verdicts(tables):
    summary = summarise(tables)
    return {claim.text: claim.judge(summary).word for claim in CLAIMS if set(claim.figures) <= set(tables)}


def test_verdicts_follow_the_numbers():
    def falling(cell, samples, method):
        return 0.0 if method == "auto" else 1e-4 * cell.n**3.5 * cell.k / math.sqrt(samples)

    def high(cell, samples, method):
        return 1e6 * falling(cell, samples, method)

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
    found = verdicts({name: made(FIGURES[name], high) for name in ("S1", "S3")})  # falls, and is never low
    assert found["Mixed effects, semi-bandit: low under the uniformly random policy"] == NOT_CONFIRMED
    assert found[CLAIMS[0].text] == NOT_CONFIRMED
    quick = verdicts({"S1": made(QUICK["S1"], falling)})
    assert {quick[f"The scaling in {letter} matches Theorem 3"] for letter in "nk"} == {NOT_TESTED}
    assert quick["It takes more samples with more agents"] == NOT_TESTED


@pytest.mark.parametrize(
    ("low", "verdict"), [(0, NOT_CONFIRMED), (1, NOT_CONFIRMED), (2, PARTLY), (3, PARTLY), (4, CONFIRMED)]
)
def test_a_verdict_counts_curves(low, verdict):
    assert word([True] * low + [False] * (4 - low)) == verdict
    table = made(FIGURES["S5"], lambda cell, samples, _method: (50 if cell.n < 3 + low else 5000) / math.sqrt(samples))
    (claim,) = (claim for claim in CLAIMS if claim.figures == ("S5",))
    found = claim.judge(summarise({"S5": table}))
    assert found.word == verdict
    assert f"at most 1 in {low} of 4 curves" in found.numbers
    assert word([]) == NOT_TESTED


def test_what_is_said_of_c_size_is_about_the_number_that_varies():
    table = made(FIGURES["S1"], falls)
    told = {claim.text: claim.judge(summarise({"S1": table})).numbers for claim in CLAIMS if claim.figures == ("S1",)}
    assert "c_size, which grows with n" in told["The scaling in n matches Theorem 3"]
    assert "c_size, which does not grow with k" in told["The scaling in k matches Theorem 3"]


@pytest.mark.parametrize(
    ("power", "verdict"), [(3.5, CONFIRMED), (3.3, CONFIRMED), (3.2, NOT_CONFIRMED), (1.0, NOT_CONFIRMED)]
)
def test_growth_matches_a_power_or_does_not(power, verdict):
    table = made(FIGURES["S1"], lambda cell, samples, _method: cell.n**power * cell.k / math.sqrt(samples))
    found = verdicts({"S1": table})
    assert found["The scaling in n matches Theorem 3"] == verdict
    assert found["The scaling in k matches Theorem 3"] == CONFIRMED
    assert found["It takes more samples with more agents"] == CONFIRMED


def test_more_agents_need_more_samples_only_if_every_step_says_so():
    def shrinking(cell, samples, _method):
        return 1 / (cell.n * math.sqrt(samples))

    def one_step_down(cell, samples, _method):
        return (cell.n if cell.n < 25 else 1) / math.sqrt(samples)

    text = "It takes more samples with more agents"
    assert verdicts({"S1": made(FIGURES["S1"], shrinking)})[text] == NOT_CONFIRMED
    assert verdicts({"S1": made(FIGURES["S1"], one_step_down)})[text] == PARTLY


def test_what_is_far_from_stable_is_counted():
    table = made(FIGURES["S4"], lambda _cell, _samples, _method: 3.0)
    gaps = [(panel, replace(row, true_gap=2.0 if row.samples == 100 else 0.5)) for panel, row in table]
    (claim,) = (claim for claim in CLAIMS if claim.figures == ("S4",))
    logs = 4 * len(FIGURES["S4"].games) * 8
    assert f"above 0.5 in {logs // 8} of {logs} logs" in claim.judge(summarise({"S4": gaps})).numbers


def test_span():
    assert span([0.5, 2, None]) == "0.50 to 2.00"
    assert span([1.0, 1.001]) == "1.00"
    assert span([None]) == "no fit"


def test_page_links_from_where_it_lies(tmp_path):
    folder, target = tmp_path / "figures", tmp_path / "pages" / "results.md"
    for name in ("S1", "ablation"):
        write_rows(folder / f"{name}.csv", name, made(QUICK[name], falls))
    (folder / "summary.json").write_text('{"quick": true}')
    subprocess.run([sys.executable, ROOT / "tools" / "paper" / "page.py", folder, target], check=True)
    text = target.read_text()
    assert "(../figures/S1.png)" in text
    assert "quick run" in text
    assert "| + exact expectations | 0.01 | 0.001 | 0.0002 |" in text
    assert "under 1Rand (" not in text  # no table, no verdict
    assert "earlier version" not in text
    write_rows(folder / "S1.csv", "S1", [row for row in made(QUICK["S1"], falls) if row[1].method != "random"])
    assert "among the certificates: S1. Texts" in page(folder, "figures")
    assert "every mean utility is 0" in (folder / "S1.txt").read_text()
    assert "shaded" not in (folder / "ablation.txt").read_text()
    assert not (folder / "S2.txt").exists()


@pytest.mark.parametrize("drawn", [("welfare",), ("paper",), ("auto", "welfare", "random")])
def test_a_page_of_other_methods_has_no_verdicts_and_captions_that_are_true(tmp_path, drawn):
    figures = [replace(QUICK[name], methods=drawn) for name in ("S1", "S3", "mixed", "ablation")]
    for figure in figures:
        write_rows(tmp_path / f"{figure.name}.csv", figure.name, made(figure, falls))
    about = {"quick": True, "methods": {figure.name: drawn for figure in figures}}
    (tmp_path / "summary.json").write_text(json.dumps(about))
    text = page(tmp_path, "figures")
    assert "Claim by claim" not in text
    assert "one change at a time (" not in text
    assert "earlier version" not in text
    assert text.count("Lines: ") == 4
    assert ("dashed, squares" in text) == ("paper" in drawn)
    assert text.count("Other methods are drawn") == 4
    assert text.count("every mean utility is 0") == 1
    (tmp_path / "summary.json").write_text('{"quick": true}')  # of a later run, about other figures
    assert "Claim by claim" not in page(tmp_path, "figures")


@pytest.mark.parametrize("name", ["S3", "mixed"])  # others have the methods of S3
def test_captions_name_the_lines_that_are_drawn(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from matplotlib.axes import Axes

    markers = {"o": "circles", "s": "squares", "^": "triangles"}
    drawn, plot = set(), Axes.plot

    def noted(self, *values, **style):
        drawn.add(markers[style["marker"]])
        return plot(self, *values, **style)

    monkeypatch.setattr(Axes, "plot", noted)
    draw(QUICK[name], made(QUICK[name], falls), tmp_path / "x.png")
    told = set(re.findall("|".join(markers.values()), text_beside(FIGURES[name], 5)))
    assert told == drawn
    assert len({FIGURES[name].methods for name in FIGURES if name != "ablation"}) == 2


def test_the_documented_results_are_those_of_the_tables_beside_them():
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(DOCS / "figures", "figures")
    for name, figure in FIGURES.items():
        games = len({row.seed for _, row in read_rows(DOCS / "figures" / f"{name}.csv")})
        assert (DOCS / "figures" / f"{name}.txt").read_text(encoding="utf-8") == text_beside(figure, games)
    for path in (DOCS / "figures").glob("*.png"):
        assert path.stat().st_size < 150_000, path
