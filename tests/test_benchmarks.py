"""Benchmarks are commands: they run, and what they wrote is what they would write."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def run(name, *words):
    command = [sys.executable, FOLDER / f"{name}.py", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_calibration_page_is_that_of_its_data(tmp_path):
    (tmp_path / "calibration.jsonl").write_bytes((FOLDER / "calibration.jsonl").read_bytes())
    run("calibration", "--page-only", "--folder", tmp_path)
    assert (tmp_path / "CALIBRATION.md").read_text() == (FOLDER / "CALIBRATION.md").read_text()


@pytest.mark.slow
def test_a_calibration_goes_on_where_it_stopped(tmp_path):
    words = ("--logs", 4, "--only", "bandit signs", "--agents", 3, "--folder", tmp_path)
    assert "bandit signs 3" in run("calibration", *words)
    kept = (tmp_path / "calibration.jsonl").read_text()
    lines = [json.loads(line) for line in kept.splitlines()]
    names = {line["certificate"] for line in lines}
    assert {"paired", "paired joint", "holdout", "paper (as printed)"} <= names
    assert len({(line["certificate"], line["delta"]) for line in lines}) == len(lines) == 2 * len(names)
    assert "finished: 1 of 81 settings" in (tmp_path / "CALIBRATION.md").read_text()
    assert not run("calibration", *words)
    without = [line for line in lines if line["certificate"] != "paper (as printed)"]
    (tmp_path / "calibration.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in without))
    run("calibration", *words)
    again = [json.loads(line) for line in (tmp_path / "calibration.jsonl").read_text().splitlines()]
    assert sorted(map(json.dumps, again)) == sorted(map(json.dumps, lines))


@pytest.mark.slow
def test_the_page_counts_what_fails(tmp_path):
    cell = {"game": "signs", "n": 3, "certificate": "paired", "delta": 0.1, "violations": 0, "logs": 10, "slack": 0.1}
    bad = cell | {"game": "crowding, sizes ignored", "violations": 9, "slack": -1.0}
    warned = {"game": "crowding, sizes ignored", "n": 3, "warned": 8, "logs": 10}
    (tmp_path / "calibration.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in (cell, bad, warned)))
    run("calibration", "--page-only", "--folder", tmp_path)
    text = (tmp_path / "CALIBRATION.md").read_text()
    assert "1 cells whose assumptions hold: 0 with significantly more" in text
    assert "| crowding, sizes ignored | 3 | 1 | 1 | 0.9000 | 0.0000 | 8/10 |" in text
    assert "finished: 2 of " in text


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 5])
def test_the_table_of_certificates_can_be_made(number):
    """One semi-bandit and one bandit setting; the script itself asserts that certificates are not below true gaps."""
    text = run("certificates", "--only", number, "--seeds", 1, "--starts", 2)
    assert "| n, k, M | paper | paired | holdout 50/50 | holdout 20/80 | auto |" in text
    assert "1 of 1 exactly 0" in text or "0 of 1 exactly 0" in text
