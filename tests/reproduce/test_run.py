"""A run computes every cell once, goes on where it stopped, and writes the same tables."""

import csv
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.errors import InputError
from coterie.reproduce import FIGURES, cells, figures, reproduce, run
from coterie.reproduce.experiments import ABLATION, QUICK, Cell, Panel
from coterie.reproduce.rows import Row, read_rows

TINY = replace(
    FIGURES["1"],
    panels=(Panel("gaussian", "random", "n", ((2, 2), (3, 2))), Panel("size-uniform", "1rand", "k", ((3, 2), (3, 3)))),
    samples=(20, 60),
    seeds=1,
)


def table(path):
    """Return a table without its timings."""
    with path.open(newline="") as file:
        return [[cell for name, cell in row.items() if name != "seconds"] for row in csv.DictReader(file)]


@pytest.mark.slow
def test_interrupted_and_resumed_gives_the_same_table(tmp_path, monkeypatch):
    reproduce([TINY], tmp_path / "whole", workers=1, pictures=False)
    computed = []

    def interrupted(cell):
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append(cell)
        return cells.run_cell(cell)

    monkeypatch.setattr(run, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce([TINY], tmp_path / "parts", workers=1, pictures=False)
    assert len(list((tmp_path / "parts" / "cells").iterdir())) == 2
    again, seen = [], []
    monkeypatch.setattr(run, "run_cell", lambda cell: again.append(cell) or cells.run_cell(cell))
    reproduce([TINY], tmp_path / "parts", workers=1, pictures=False, advance=lambda *done: seen.append(done))
    assert not set(again) & set(computed)
    assert len(again) + len(computed) == len({cell for _, cell in TINY.cells}) == 4
    assert (seen[0], seen[-1]) == ((2, 4), (4, 4))
    assert table(tmp_path / "whole" / "1.csv") == table(tmp_path / "parts" / "1.csv")


@pytest.mark.slow
def test_two_processes_write_the_same_table_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    reproduce([TINY], tmp_path / "one", workers=1, pictures=False)
    reproduce([TINY], tmp_path / "two", workers=2)
    assert table(tmp_path / "one" / "1.csv") == table(tmp_path / "two" / "1.csv")
    assert (tmp_path / "two" / "1.png").read_bytes()[:4] == b"\x89PNG"
    summary = json.loads((tmp_path / "two" / "summary.json").read_text())
    assert {curve["method"] for curve in summary["curves"]} == {"paper", "auto"}


@pytest.mark.slow
def test_a_damaged_or_older_cell_is_computed_again(tmp_path, monkeypatch):
    cell = TINY.cells[0][1]
    run.run_cells([cell], tmp_path, workers=1)
    (path,) = tmp_path.iterdir()
    whole = path.read_text()
    calls = []
    monkeypatch.setattr(run, "run_cell", lambda cell: calls.append(cell) or cells.run_cell(cell))
    for damage in (whole[:50], whole.replace('"version"', '"other"'), whole.replace('"certificate"', '"c"')):
        path.write_text(damage)
        run.run_cells([cell], tmp_path, workers=1)
    assert len(calls) == 3
    run.run_cells([cell], tmp_path, workers=1)
    assert len(calls) == 3


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_every_method_finds_something(feedback):
    cell = Cell(feedback, "mixed-effects", "random", 3, 5, 3, 0, (50, 400), ("paper", "auto"))
    rows = cells.run_cell(cell)
    assert [(row.samples, row.method) for row in rows] == [(m, x) for m in (50, 400) for x in ("paper", "auto")]
    assert all(row.certificate >= 0 and row.true_gap >= 0 for row in rows)


def test_mixed_strategies_too():
    cell = Cell("semi-bandit", "gaussian", "random", 3, 2, 3, 0, (200,), ("auto mixed",))
    assert cells.run_cell(cell)[0].method == "auto mixed"


def test_the_ablation_goes_from_the_paper_s_certificate_to_ours():
    def run_with(methods):
        found = cells.run_cell(Cell("semi-bandit", "gaussian", "random", 4, 4, 3, 1, (2000,), methods))
        return {row.method: row for row in found}

    steps, ends = run_with(ABLATION), run_with(("paper", "auto"))
    assert tuple(steps) == ABLATION
    assert steps["exact"].certificate == ends["paper"].certificate
    assert steps["auto"].certificate == ends["auto"].certificate
    # Each of these changes can only gain.
    for before, after in (("union bound", "clipped"), ("clipped", "paired"), ("paired", "pure search")):
        assert steps[after].certificate <= steps[before].certificate + 1e-9
    # Drawn and exact expectations differ, but not by much.
    assert 0.5 < steps["monte carlo"].certificate / steps["exact"].certificate < 1.5


def test_plan_has_every_figure_of_the_paper():
    assert set(FIGURES) == set(QUICK)
    assert ["1", *(f"S{i}" for i in range(1, 7))] == list(FIGURES)[:7]
    assert [len(FIGURES[name].panels) for name in ("1", "S1", "S2", "S3", "S4", "S5", "S6")] == [8, 8, 8, 4, 4, 4, 4]
    assert FIGURES["S1"].samples == (100, 5000, 10000, 20000, 30000)
    assert FIGURES["S5"].samples == (100, 2000, 4000, 6000, 8000, 10000, 20000, 30000)
    shown = {(cell.n, cell.k) for _, cell in FIGURES["S1"].cells}
    assert shown == {(n, 5) for n in (5, 10, 15, 20, 25)} | {(10, k) for k in (5, 10, 15, 20, 25)}
    assert {cell for _, cell in FIGURES["1"].cells} <= {
        cell for name in ("S1", "S2") for _, cell in FIGURES[name].cells
    }
    assert len({cell.name for figure in FIGURES.values() for _, cell in figure.cells}) == len(
        {cell for figure in FIGURES.values() for _, cell in figure.cells}
    )


def test_figures_by_name():
    assert [one.name for one in figures(["S2", "1", "S2"])] == ["1", "S2"]
    assert len(figures([])) == len(figures(["all"], quick=True)) == len(FIGURES)
    with pytest.raises(InputError, match="unknown figure 'S9'; known are: 1, S1"):
        figures(["S9"])


def test_bad_tables_and_folders_are_refused(tmp_path):
    (tmp_path / "bad.csv").write_text("panel,certificate\nx,1\n")
    with pytest.raises(InputError, match=r"bad\.csv: expected the columns"):
        read_rows(tmp_path / "bad.csv")
    with pytest.raises(InputError, match="not a row"):
        Row.read({"n": "many"})
    with pytest.raises(InputError, match="is a file"):
        reproduce([TINY], tmp_path / "bad.csv", pictures=False)


WAITING = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from coterie.reproduce.run import _follow_the_parent
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, get_context("spawn"), _follow_the_parent)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 20
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(worker)


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
