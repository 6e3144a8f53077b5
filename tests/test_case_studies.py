"""Case studies: pages show what scripts print about the results that are kept, and scripts find these results again."""

import importlib
import json
import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from conftest import SHARED

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "cases"
STUDIES = {"un-votes": "unvotes", "monks": "sampson", "lawyers": "lazega", "tribes": "tribes"}
"""Each study, and where its data are."""

QUICK = {"un-votes": "cold-war", "monks": "waves", "lawyers": "partners", "tribes": "rooms"}
"""The question that is asked again here: all of them take minutes."""


def study(name):
    return importlib.import_module(name.replace("-", "_")).STUDY


def kept(name):
    return json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))


def shown(name):
    """Return the page, its command, and what it shows of the output."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```console\n\$ (.*?)^```", text, re.DOTALL | re.MULTILINE)
    command, _, output = block.partition("\n")
    return text, command, output


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_shows_what_is_printed_about_its_results(name):
    assert set(kept(name)) == set(study(name).questions)
    assert shown(name)[2] == study(name).told(kept(name))


@pytest.mark.parametrize("name", [*STUDIES, "index"])
def test_figures_in_the_text_are_those_of_the_output(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    outputs = "".join(shown(one)[2] for one in STUDIES if name in {one, "index"})
    prose = re.sub(r"^```.*?^```|doi:\S+|`[^`]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    figures = re.findall(r"\d+\.\d+|\d+(?= %)|\d+ of \d+", prose)
    assert figures
    for figure in figures:
        assert re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", outputs), figure


@pytest.mark.parametrize("name", STUDIES)
def test_the_picture_is_drawn_from_the_results(name, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    study(name).draw(kept(name), tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes()[:4] == b"\x89PNG"
    assert f"]({name}.png)" in shown(name)[0]
    assert (PAGES / f"{name}.png").exists()


def run(command, folder):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    (folder / "examples").symlink_to(ROOT / "examples")
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_scripts_find_the_results_that_are_kept(name, tmp_path):
    """The command of the page, for one question; numbers may differ in their last digits between machines."""
    if not (SHARED / STUDIES[name]).exists():
        pytest.skip(f"the data of this study ({STUDIES[name]}) are not on this machine")
    (tmp_path / STUDIES[name]).symlink_to(SHARED / STUDIES[name])
    _, command, _ = shown(name)
    done = run(f"{command} --only {QUICK[name]}", tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "results" / f"{name}.json").read_text(encoding="utf-8"))
    assert list(found) == [QUICK[name]]
    agree(found, {QUICK[name]: kept(name)[QUICK[name]]})
    assert done.stdout == study(name).told(found)


def agree(found, expected):
    if isinstance(expected, dict):
        assert set(found) == set(expected)
        for key in expected:
            agree(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=5e-4)
    else:
        assert found == expected


def test_a_folder_without_the_data_is_refused(tmp_path):
    done = run("python examples/case_studies/tribes.py . --out results", tmp_path)
    assert done.returncode == 2
    assert "pairs.csv: no such file" in done.stderr
    assert not (tmp_path / "results").exists()


def test_likeness_of_divisions():
    """Against the definition, pair by pair; as likely as by chance is 0 on average."""
    alike = importlib.import_module("study").alike
    assert alike([["a", "b"], ["c"]], [["c"], ["b", "a"]]) == 1.0
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        one, other = (rng.permutation([0, 0, 0, 0, 1, 1, 1, 2, 2, 2]) for _ in range(2))
        some, others = ([np.flatnonzero(label == k).tolist() for k in range(3)] for label in (one, other))
        pairs = [(one[i] == one[j], other[i] == other[j]) for i, j in combinations(range(10), 2)]
        both, first, second = sum(a and b for a, b in pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs)
        chance = first * second / len(pairs)
        assert alike(some, others) == pytest.approx((both - chance) / ((first + second) / 2 - chance))
        found.append(alike(some, others))
    assert abs(np.mean(found)) < 0.05


def test_hidden_relations_are_counted():
    frustrated = importlib.import_module("tribes").frustrated
    relations = [("a", "b", 1.0), ("a", "c", -1.0), ("b", "c", 1.0), ("c", "d", -1.0)]
    assert frustrated([["a", "b"], ["c", "d"]], relations) == 2
