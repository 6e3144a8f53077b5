"""A run computes every cell once, goes on where it stopped, and writes the same tables."""

import csv
import errno
import json
import multiprocessing.popen_spawn_posix
import os
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import coterie
from coterie import Strategy
from coterie.certificates.paper import paper_evidence
from coterie.errors import InputError
from coterie.processes import ProcessError
from coterie.reproduce import FIGURES, METHODS, Figure, Outcome, cells, figures, methods, own, reproduce, run
from coterie.reproduce.draw import deviations
from coterie.reproduce.experiments import ABLATION, BASELINES, QUICK, Cell, Panel
from coterie.reproduce.own import Own, fingerprint
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

    monkeypatch.setattr(own, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce([TINY], tmp_path / "parts", workers=1, pictures=False)
    assert len(list((tmp_path / "parts" / "cells").iterdir())) == 2
    again, seen = [], []
    monkeypatch.setattr(own, "run_cell", lambda cell, *more: again.append(cell) or cells.run_cell(cell, *more))
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


def test_what_was_written_of_other_figures_is_kept(tmp_path):
    """Figures may be made one after the other; the summary is about all whose tables are there."""
    one, two = (
        replace(TINY, name=name, panels=(Panel("gaussian", "random", "n", ((2, 2),)),), samples=(20,))
        for name in ("one", "two")
    )
    path = tmp_path / "summary.json"
    for figure in (one, two):
        reproduce([figure], tmp_path, workers=1, pictures=False)
    both = json.loads(path.read_text())
    assert list(both["seeds"]) == list(both["methods"]) == ["one", "two"]
    assert {curve["figure"] for curve in both["curves"]} == {"one", "two"}
    lines = table(tmp_path / "summary.csv")
    assert {line[0] for line in lines} == {"one", "two"}
    reproduce([two], tmp_path, workers=1, pictures=False)
    assert json.loads(path.read_text()) == both
    assert table(tmp_path / "summary.csv") == lines
    (tmp_path / "one.csv").unlink()
    reproduce([two], tmp_path, workers=1, pictures=False)
    assert list(json.loads(path.read_text())["seeds"]) == ["two"]
    for damage in (
        "[]",
        "{",
        '{"format": "coterie.reproduction/1"}',
        '{"format": "coterie.reproduction/1", "seeds": 5}',
    ):
        path.write_text(damage)
        reproduce([two], tmp_path, workers=1, pictures=False)
        assert list(json.loads(path.read_text())["seeds"]) == ["two"]


def test_what_is_finished_is_kept_where_no_process_can_be_started(tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(multiprocessing.popen_spawn_posix.Popen, "_launch", failing)
    with pytest.raises(ProcessError, match=r"no other process can be started \(Cannot allocate memory\); what is fin"):
        run.run_cells([cell for _, cell in TINY.cells], tmp_path, workers=2)
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_damaged_or_older_cell_is_computed_again(tmp_path, monkeypatch):
    cell = TINY.cells[0][1]
    run.run_cells([cell], tmp_path, workers=1)
    (path,) = tmp_path.iterdir()
    whole = path.read_text()
    calls = []
    monkeypatch.setattr(own, "run_cell", lambda cell, *more: calls.append(cell) or cells.run_cell(cell, *more))
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
        ({"methods": ("paper", "autp")}, r"unknown method in figure 'mine' 'autp'; did you mean 'auto'\? Known are"),
        ({"beside": ("luck",)}, "unknown method in figure 'mine' 'luck'"),
        ({"methods": ()}, "no methods"),
        ({"name": "a/b"}, "becomes that of files"),
        ({"name": "cells"}, "becomes that of files"),
        ({"samples": (60, 20)}, "in ascending order"),
        ({"samples": ()}, "in ascending order"),
        ({"seeds": ()}, "seeds: expected at least one"),
        ({"seeds": (-1,)}, "seeds: expected at least 0"),
        ({"panels": ()}, "panels that differ"),
        ({"panels": OWN.panels * 2}, "panels that differ"),
        ({"panels": ("gaussian",)}, "panels that differ, got"),
        ({"panels": (Panel("normal", "random", "n", ((2, 2),)),)}, "unknown model"),
        ({"panels": (Panel("gaussian", "deviations", "n", ((2, 2),)),)}, "unknown policy"),
        ({"panels": (Panel("gaussian", "random", "n", ((2, 1),)),)}, "1 coalitions have 1 non-empty sets, not 3"),
        ({"panels": (Panel("mixed-effects", "random", "", ((3, 4),)),)}, "has 5 coalitions and 3 actions"),
        ({"panels": (Panel("size-uniform", "random", "n", ((2, 2),)),), "methods": ("exact",)}, "are for pairs"),
        ({"seeds": (3, 1, 3)}, "seeds: 3 occurs twice"),
        ({"seeds": 0}, "seeds: expected at least 1"),
        ({"seeds": "12"}, "seeds: expected a whole number"),
        ({"samples": (20, 60.5)}, "samples: expected a whole number"),
    ],
)
def test_figures_that_cannot_be_made_are_refused_before_anything_is_computed(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        reproduce([replace(OWN, **{"methods": ("paper",), **change})], tmp_path / "out", pictures=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"varies": "m"}, "unknown what varies"),
        ({"feedback": "both"}, "unknown feedback"),
        ({"actions": 0}, "actions: expected at least 1"),
        ({"curves": ()}, r"expected \(n, k\) of each curve, such as \[\(5, 5\), \(10, 5\)\], got \(\)"),
        ({"curves": ((2, 2, 2),)}, "expected \\(n, k\\) of each curve"),
        ({"curves": 5}, "expected \\(n, k\\) of each curve"),
        ({"curves": ((1, 2),)}, "n: expected at least 2"),
        ({"curves": ((2, 2), (2, 0))}, "k: expected at least 1"),
        ({"curves": ((2, 2), (3, 2), (2, 2))}, r"curves: \(2, 2\) occurs twice"),
    ],
)
def test_panels_that_cannot_be_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(OWN.panels[0], **change)


def test_lists_numpy_numbers_and_one_of_something_are_taken():
    two, three = np.int64(2), np.int32(3)
    panel = Panel("gaussian", "random", "n", [[two, 2], np.array([3, 2])], actions=three)
    given = Figure("mine", "A small figure", [panel], samples=np.array([20, 60]), seeds=[np.int64(7), 9],
                   methods=["stay", "paper"], beside="random")  # fmt: skip
    assert given == OWN
    assert hash(given) == hash(OWN)
    assert [cell.name for _, cell in given.cells] == [cell.name for _, cell in OWN.cells]
    assert json.dumps(given.cells[0][1].samples) == "[20, 60]"
    assert replace(panel, curves=(two, 2)).curves == ((2, 2),)
    assert replace(OWN, panels=panel, samples=50, seeds=three, methods="paper").games == (0, 1, 2)


def test_own_names_must_be_new_and_functions(tmp_path):
    figure = replace(OWN, methods=("paper",))
    for brought, message in (
        ({"methods": {"auto": stay}}, "the name is taken"),
        ({"methods": {"mine": 3}}, "expected a function, got 3"),
        ({"games": {"uniform": game_of}}, "the name is taken"),
    ):
        with pytest.raises(InputError, match=message):
            reproduce([figure], tmp_path, pictures=False, workers=1, **brought)
    with pytest.raises(InputError, match="two have the same name"):
        reproduce([figure, figure], tmp_path, pictures=False)
    with pytest.raises(InputError, match="there are none"):
        reproduce([], tmp_path, pictures=False)
    with pytest.raises(InputError, match="workers: expected at least 1"):
        reproduce([figure], tmp_path, pictures=False, workers=0)


def test_what_an_own_method_returns_is_checked_at_once():
    task = task_of()
    strategy = stay(task)
    for given, message in (
        (3, "'mine': expected it to return a Strategy or an Outcome, got 3"),
        (Outcome(np.nan, strategy), "'mine', certificate: expected a finite number, got nan"),
        (Outcome(np.float64("inf"), strategy), "'mine', certificate: expected a finite number"),
        (Outcome(-0.1, strategy), "'mine', certificate: expected a number from 0 up"),
        (Outcome("0.1", strategy), "'mine', certificate: expected a finite number"),
        (Outcome(np.zeros(2), strategy), "'mine', certificate: expected a finite number"),
        (Outcome(0.1, "stay"), "'mine': expected it to return a Strategy or an Outcome"),
        (Outcome(0.1, strategy, 1.5), "'mine', sweeps: expected a whole number"),
        (Outcome(0.1, Strategy.pure(np.eye(2))), "are not the log's"),
        (Strategy.pure(np.eye(2)), "are not the log's"),
    ):
        with pytest.raises(InputError, match=message):
            methods.outcome(lambda _, given=given: given, task, "method 'mine'")
    found = methods.outcome(lambda _: Outcome(np.float32(0.5), strategy, np.int64(3)), task)
    assert [(type(one), one) for one in (found.certificate, found.sweeps)] == [(float, 0.5), (int, 3)]


def test_a_bad_certificate_ends_the_run_at_the_first_cell(tmp_path):
    calls = []

    def bad(task):
        calls.append(task)
        return Outcome(np.nan, stay(task))

    figure = replace(OWN, methods=("bad",), beside=())
    with pytest.raises(InputError, match="method 'bad', certificate"):
        reproduce([figure], tmp_path, methods={"bad": bad}, workers=1, pictures=False)
    assert len(calls) == 1


def test_own_games_of_another_size_are_refused(tmp_path):
    figure = replace(OWN, panels=Panel("rooms", "random", "n", (3, 2)), methods=("best response",), beside=())
    larger = {"rooms": lambda cell: game_of(replace(cell, n=cell.n + 1))}
    with pytest.raises(InputError, match="games 'rooms': asked for 3 agents and 2 coalitions, got 4 and 2"):
        reproduce([figure], tmp_path, games=larger, workers=1, pictures=False)


def test_functions_that_no_module_has_are_computed_in_this_process(tmp_path):
    figure, seen = replace(OWN, methods=("mine",), beside=()), []
    with pytest.warns(UserWarning, match=r"computed in this process.*workers=1 says"):
        reproduce([figure], tmp_path, pictures=False, workers=2, methods={"mine": lambda t: seen.append(1) or stay(t)})
    assert len(seen) == 8
    assert Own({"stay": stay}, {"rooms": game_of}).travels
    assert Own().travels


NOTEBOOK = """
from coterie import Strategy
from coterie.reproduce import Figure, Panel, reproduce
def mine(task):
    game = task.game
    return Strategy.pure([space.enumerate()[0] for space in game.actions.spaces], game.agents, game.coalitions)
figure = Figure("mine", "Mine", Panel("gaussian", "random", "n", [(2, 2), (3, 2)]), samples=[20], seeds=1,
                methods="mine", beside=())
print(reproduce([figure], FOLDER, methods={"mine": mine}, workers=2, pictures=False).lines()[0].runs)
"""


def test_functions_of_a_notebook_are_computed_in_this_process(tmp_path):
    text = NOTEBOOK.replace("FOLDER", repr(str(tmp_path)))
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert found.stdout == "2\n", found.stderr
    assert "everything is computed in this process" in found.stderr


@pytest.mark.slow
def test_a_script_that_runs_itself_again_is_told_what_helps(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(NOTEBOOK.replace("FOLDER", repr(str(tmp_path / "out"))))
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert 'belongs below `if __name__ == "__main__":`' in found.stderr.splitlines()[-1]


def made_by(which):
    """A method that closes over something: everybody takes this action."""

    def method(task):
        game = task.game
        return Strategy.pure([space.enumerate()[which] for space in game.actions.spaces], game.agents, game.coalitions)

    return method


def test_cells_of_another_function_of_the_same_name_are_not_taken(tmp_path, monkeypatch):
    figure, computed = replace(OWN, methods=("mine",), beside=("random",), seeds=1), []
    monkeypatch.setattr(own, "run_cell", lambda cell, *more: computed.append(cell) or cells.run_cell(cell, *more))

    def run_with(method):
        computed.clear()
        reproduce([figure], tmp_path, methods={"mine": method}, workers=1, pictures=False)
        return len(computed)

    assert [run_with(made_by(0)), run_with(made_by(0)), run_with(made_by(1)), run_with(made_by(0))] == [2, 0, 2, 2]
    panel = Panel("rooms", "random", "n", (3, 2))
    for source, count in ((game_of, 1), (game_of, 0), (partial(game_of), 1)):
        computed.clear()
        reproduce([replace(figure, panels=panel, methods=("random",))], tmp_path, games={"rooms": source}, workers=1,
                  pictures=False)  # fmt: skip
        assert len(computed) == count


LIMIT = 3


def with_helper(task):
    return helper(task, LIMIT)


def helper(task, most):
    return with_helper(task) if most > LIMIT else most


class Method:
    def __init__(self, which):
        self.which = which

    def __call__(self, task):
        return helper(task, self.which)


def test_fingerprints_tell_functions_apart(monkeypatch):
    def told(text, **known):
        exec(text, known)
        return fingerprint(known["f"])

    same = "def f(x):\n    return g(x) + 1\ndef g(x):\n    return 2 * x\n"
    assert told(same) == told("\n\n# elsewhere\n" + same)
    assert told(same) != told(same.replace("2 * x", "3 * x"))  # what it calls
    assert told("f = lambda x, y=1: x + y") != told("f = lambda x, y=2: x + y")
    assert told("f = lambda x: x in {'a', 'b'}") == told("f = lambda x: x in {'b', 'a'}")
    assert told("f = lambda x: x + y", y=np.ones(2)) != told("f = lambda x: x + y", y=np.zeros(2))
    assert told("f = lambda x: [y for y in x if y > 1]") != told("f = lambda x: [y for y in x if y > 2]")
    by_name = "def g(x):\n    return 1\nknown = {'g': g}\nf = lambda x: known['g'](x)"
    assert told(by_name) == told(by_name) != told(by_name.replace("return 1", "return 2"))
    assert fingerprint(partial(helper, most=1)) != fingerprint(partial(helper, most=2))
    assert fingerprint(Method(1)) != fingerprint(Method(2))
    assert fingerprint(Method(1)) == fingerprint(Method(1)) != fingerprint(Method(1).__call__)
    before = fingerprint(with_helper)
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert fingerprint(with_helper) != before
    monkeypatch.setattr(Method, "__call__", lambda self, task: (self, task))
    assert fingerprint(Method(1)) == fingerprint(Method(1))
    lock = threading.Lock()
    assert told("f = lambda x: lock", lock=lock) != told("f = lambda x: lock", lock=lock)  # cannot be told apart


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
