"""A run computes every cell once, goes on where it stopped, and writes the same tables."""

import csv
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie import Strategy
from coterie.certificates.paper import paper_evidence
from coterie.errors import InputError
from coterie.reproduce import FIGURES, METHODS, Figure, Outcome, cells, figures, methods, reproduce, run
from coterie.reproduce.draw import deviations
from coterie.reproduce.experiments import ABLATION, BASELINES, QUICK, Cell, Panel
from coterie.reproduce.rows import Row, read_rows
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, growing
from coterie.solve.paper_scheme import paper

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

    def interrupted(cell, *own):
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append(cell)
        return cells.run_cell(cell, *own)

    monkeypatch.setattr(run, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce([TINY], tmp_path / "parts", workers=1, pictures=False)
    assert len(list((tmp_path / "parts" / "cells").iterdir())) == 2
    again, seen = [], []
    monkeypatch.setattr(run, "run_cell", lambda cell, *own: again.append(cell) or cells.run_cell(cell, *own))
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
    assert {curve["method"] for curve in summary["curves"]} == {"paper", "auto", *BASELINES}
    assert (summary["version"], summary["seeds"], summary["quick"]) == (coterie.__version__, {"1": [0]}, False)


@pytest.mark.slow
def test_a_damaged_or_older_cell_is_computed_again(tmp_path, monkeypatch):
    cell = TINY.cells[0][1]
    run.run_cells([cell], tmp_path, workers=1)
    (path,) = tmp_path.iterdir()
    whole = path.read_text()
    calls = []
    monkeypatch.setattr(run, "run_cell", lambda cell, *own: calls.append(cell) or cells.run_cell(cell, *own))
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
    assert {figure.name: figure for figure in figures(["all"])} == FIGURES
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


# --- Figures, methods and games of your own ---------------------------------------------------------------

OWN = Figure(
    "mine", "A small figure", (Panel("gaussian", "random", "n", ((2, 2), (3, 2))),), samples=(20, 60), seeds=(7, 9),
    methods=("stay", "paper"), beside=("random",),
)  # fmt: skip


def stay(task):
    """A method of one's own: everybody takes their first action."""
    game = task.game
    return Strategy.pure([space.enumerate()[0] for space in game.actions.spaces], game.agents, game.coalitions)


def game_of(cell):
    """Games of one's own: everybody in room 1 is stable."""
    means = np.array([0.5, -0.2])[:, None, None] * (1 - np.eye(cell.n))
    return Simulation.from_game(coterie.Game(means, "one"), noise=0.3, seed=cell.seed)


def test_an_own_figure_with_an_own_method_is_computed_and_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    summary = reproduce([OWN], tmp_path, methods={"stay": stay}, workers=1)
    rows = read_rows(tmp_path / "mine.csv")
    assert {row.method for _, row in rows} == {"stay", "paper", "random"}
    assert {row.seed for _, row in rows} == {7, 9}
    assert len(rows) == 2 * 2 * 2 * 3
    assert (tmp_path / "mine.png").read_bytes()[:4] == b"\x89PNG"
    (line,) = (line for line in summary.lines() if line.method == "stay")
    assert (line.curves, line.runs) == (2, 4)
    assert line.held == 1


def test_own_games_have_a_known_truth(tmp_path):
    figure = replace(OWN, panels=(Panel("rooms", "random", "n", ((3, 2),)),), methods=("best response",), beside=())
    reproduce([figure], tmp_path, games={"rooms": game_of}, workers=1, pictures=False, seeds=1)
    found = [row for _, row in read_rows(tmp_path / "mine.csv") if row.samples == 60]
    assert [(row.seed, row.true_gap) for row in found] == [(0, 0.0)]
    with pytest.raises(InputError, match="expected a Simulation"):
        reproduce([figure], tmp_path, games={"rooms": lambda _: 3}, workers=1, pictures=False, seeds=[5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ("paper", "autp")}, "unknown method in figure 'mine' 'autp'; known are: paper, monte carlo, auto"),
        ({"beside": ("luck",)}, "unknown method in figure 'mine' 'luck'"),
        ({"methods": ()}, "no methods"),
        ({"name": "a/b"}, "becomes that of files"),
        ({"name": "cells"}, "becomes that of files"),
        ({"samples": (60, 20)}, "in ascending order"),
        ({"samples": ()}, "in ascending order"),
        ({"seeds": ()}, "at least one seed"),
        ({"seeds": (-1,)}, "seed: expected at least 0"),
        ({"panels": ()}, "panels that differ"),
        ({"panels": OWN.panels * 2}, "panels that differ"),
        ({"panels": (Panel("normal", "random", "n", ((2, 2),)),)}, "unknown model"),
        ({"panels": (Panel("gaussian", "deviations", "n", ((2, 2),)),)}, "unknown policy"),
        ({"panels": (Panel("gaussian", "random", "m", ((2, 2),)),)}, "unknown what varies"),
        ({"panels": (Panel("gaussian", "random", "n", ((1, 2),)),)}, "n: expected at least 2"),
        ({"panels": (Panel("gaussian", "random", "n", ((2, 1),)),)}, "1 coalitions have 1 non-empty sets, not 3"),
        ({"panels": (Panel("mixed-effects", "random", "", ((3, 4),)),)}, "has 5 coalitions and 3 actions"),
        ({"panels": (Panel("gaussian", "random", "n", ((2, 2),), feedback="both"),)}, "unknown feedback"),
        ({"panels": (Panel("size-uniform", "random", "n", ((2, 2),)),), "methods": ("exact",)}, "are for pairs"),
    ],
)
def test_figures_that_cannot_be_made_are_refused_before_anything_is_computed(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        reproduce([replace(OWN, **{"methods": ("paper",), **change})], tmp_path / "out", pictures=False)
    assert not (tmp_path / "out").exists()


def test_own_names_must_be_new_and_functions(tmp_path):
    figure = replace(OWN, methods=("paper",))
    for own, message in (
        ({"methods": {"auto": stay}}, "the name is taken"),
        ({"methods": {"mine": 3}}, "expected a function, got 3"),
        ({"games": {"uniform": game_of}}, "the name is taken"),
    ):
        with pytest.raises(InputError, match=message):
            reproduce([figure], tmp_path, pictures=False, workers=1, **own)
    with pytest.raises(InputError, match="workers=1"):
        reproduce([figure], tmp_path, pictures=False, workers=2, methods={"mine": lambda task: stay(task) or None})
    with pytest.raises(InputError, match="two have the same name"):
        reproduce([figure, figure], tmp_path, pictures=False)
    with pytest.raises(InputError, match="there are none"):
        reproduce([], tmp_path, pictures=False)
    task = methods.Task(None, None, 0.01, 0)
    with pytest.raises(InputError, match="a Strategy or an Outcome, got 3"):
        methods.outcome(lambda _: 3, task)


def test_twins_have_the_same_actions_and_means():
    def drawn(model, actions=3, policy="random"):
        return cells.simulation_of(Cell("semi-bandit", model, policy, 4, 5, actions, 3, (1,), ("paper",)))

    plain, sized = drawn("gaussian"), drawn("size-gaussian", policy="1rand")
    assert np.array_equal(plain.model.means, sized.model.means)
    sets = [
        drawn(model).game.actions.spaces[0].enumerate() for model in ("uniform", "size-uniform", "gaussian-redrawn")
    ]
    for other in (*sets, sized.game.actions.spaces[0].enumerate()):
        assert np.array_equal(plain.game.actions.spaces[0].enumerate(), other)
    eight = drawn("gaussian", 8)
    assert np.array_equal(eight.model.means, plain.model.means)
    rows = {row.tobytes() for row in eight.game.actions.spaces[0].enumerate()}
    assert rows >= {row.tobytes() for row in plain.game.actions.spaces[0].enumerate()}
    assert not np.array_equal(plain.model.means, replace_seed(plain, 4).model.means)


def replace_seed(simulation, seed):
    n, k = simulation.game.n_agents, simulation.game.n_coalitions
    return cells.simulation_of(Cell("semi-bandit", "gaussian", "random", n, k, 3, seed, (1,), ("paper",)))


# --- What methods are --------------------------------------------------------------------------------------


def task_of(model="gaussian", samples=300, feedback="semi-bandit", n=3, k=3, seed=1):
    """A small log, as methods are given it, and its truth."""
    simulation = cells.simulation_of(Cell(feedback, model, "random", n, k, 3, seed, (samples,), ("paper",)))
    readings = {"ours": cells.reading_of(simulation), "paper": Reading(unweighted=True)}
    ((_, statistics),) = growing(simulation, (samples,), feedback, readings, (0.4, 0.3, 0.3))
    return methods.Task(statistics["ours"], statistics["paper"], 0.01, seed)


def test_the_plan_s_numbers_are_the_paper_s(monkeypatch):
    seen = []

    def noted(evidence, spaces, delta, *args, **options):
        seen.append((delta, options["samples"]))
        return paper(evidence, spaces, delta, *args, **options)

    monkeypatch.setattr(methods, "paper", noted)
    cells.run_cell(Cell("semi-bandit", "gaussian", "random", 2, 2, 3, 0, (20,), ("paper", "monte carlo")))
    assert seen == [(0.01, None), (0.01, (100, 100))]
    assert FIGURES["1"].games == (0, 1, 2, 3, 4)
    assert all(set(BASELINES) <= set(figure.tabled) for figure in FIGURES.values())


def test_monte_carlo_is_the_number_that_was_drawn():
    task = task_of()
    found, setting = methods.monte_carlo(task), task.printed.setting
    again = paper(
        paper_evidence(task.printed.whole), setting.actions, 0.01, coterie.solve.Control(1),
        samples=(methods.Samples(100, 100)), agents=setting.agents, coalitions=setting.coalitions,
    )  # fmt: skip
    assert found.certificate == again.drawn != again.certificate


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_simple_methods_are_what_their_names_say(feedback):
    task = task_of(feedback=feedback, samples=400)
    game = task.game
    profiles = [game.strategy(row) for block in game.actions.joint_actions() for row in block]
    assert task.game.gap(methods.best_response(task)) == pytest.approx(0, abs=1e-9)
    # Symmetric and without sizes: a climb by single moves ends where no single move raises welfare.
    top = methods.welfare(task)
    assert game.welfare(top) >= np.quantile([game.welfare(one) for one in profiles], 0.9)
    lowest = methods._lower_ends(task.evidence, 0.01)
    values = task.evidence.values
    others = np.broadcast_to(~np.eye(3, dtype=bool), values.shape)
    assert (lowest[others] <= np.maximum(values[others], -1)).all()  # ridge estimates may leave the range
    assert (lowest[others] < values[others]).mean() > 0.8
    pessimists = task.evidence.unknowns.game(lowest, game.actions, game.agents, game.coalitions)
    assert pessimists.gap(methods.pessimism(task)) == pytest.approx(0, abs=1e-9)
    drawn = methods.random_profile(task)
    assert drawn == methods.random_profile(task)
    for name in BASELINES:
        found = methods.outcome(METHODS[name], task)
        assert isinstance(found, Outcome)
        assert found.certificate >= game.gap(found.strategy) - 1e-9


def test_spread_is_the_sample_standard_deviation():
    values = np.array([[1.0, 3.0, 8.0], [2.0, 2.0, 2.0]])
    assert deviations(values) == pytest.approx([np.sqrt(13), 0.0])
    assert deviations(values[:, :1]) == pytest.approx([0.0, 0.0])


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
