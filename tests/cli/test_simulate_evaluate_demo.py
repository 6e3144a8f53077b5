"""The commands simulate, evaluate and demo."""

import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import replace

import pytest
from rich.console import Console

from coterie import InputError, StableLearner
from coterie.cli import demo
from coterie.game.truth import read_truth


@pytest.fixture
def run(run, monkeypatch):
    """Run the command line on a terminal of eighty columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return run


def options(out, **changes):
    given = {"agents": 5, "coalitions": 3, "samples": 20, "out": out} | changes
    return [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]


def test_simulate_writes_a_log(run, tmp_path):
    code, out, err = run("simulate", *options(tmp_path / "log"))
    assert (code, out) == (0, "")
    assert "Wrote 20 samples" in err
    assert {file.name for file in (tmp_path / "log").iterdir()} == {
        "log.json",
        "memberships.csv",
        "pairs.csv",
        "truth.json",
    }
    assert json.loads((tmp_path / "log" / "truth.json").read_text())["simulation"]["seed"] == 0


def test_every_option(run, tmp_path):
    code, out, err = run(
        "simulate",
        *options(tmp_path / "log", coalitions=5, model="mixed-effects", policy="coalition-size", feedback="bandit"),
        *("--noise", "samples", "--clip", "--asymmetric", "--format", "parquet", "--seed", 7, "--quiet"),
    )
    assert (code, out, err) == (0, "", "")
    described = json.loads((tmp_path / "log" / "log.json").read_text())
    assert described["symmetric"] is False
    assert "sigma" not in described
    assert (tmp_path / "log" / "totals.parquet").exists()
    note = json.loads((tmp_path / "log" / "truth.json").read_text())["simulation"]
    assert note == {
        "model": "mixed-effects",
        "clip": True,
        "noise": "samples",
        "policy": "coalition-size",
        "seed": 7,
        "version": "0.1.0",
        "samples": 20,
    }


@pytest.mark.parametrize("policy", ["deviations", "toggles", "strategy"])
def test_policies_around_the_best_stable_profile(run, tmp_path, policy):
    assert run("simulate", *options(tmp_path / "a", policy=policy))[0] == 0
    note = json.loads((tmp_path / "a" / "truth.json").read_text())["simulation"]
    assert note["policy"] == policy
    game = read_truth(tmp_path / "a" / "truth.json")
    assert game.is_nash_stable(game.strategy(note["profile"]["actions"]))
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(note["profile"]))
    code, _, err = run("simulate", *options(tmp_path / "b", policy=policy, profile=profile))
    assert code == 0, err
    assert (
        json.loads((tmp_path / "b" / "truth.json").read_text())["means"]
        == json.loads((tmp_path / "a" / "truth.json").read_text())["means"]
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("feedback", "'semi-bandit', 'bandit'"),
        ("format", "'csv', 'parquet'"),
        ("noise", "'pairs', 'coalitions', 'samples'"),
        ("model", "'uniform', 'gaussian', 'gaussian-redrawn'"),
        ("policy", "'random', '1rand', 'coalition-size'"),
    ],
)
def test_a_word_that_is_no_choice_is_bad_usage(run, tmp_path, option, words):
    code, out, err = run("simulate", *options(tmp_path / "log", **{option: "none"}))
    assert (code, out) == (2, "")
    assert f"'--{option}': 'none' is not one of {words}" in err
    assert err.endswith("Try coterie simulate --help\n")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 0}, "--samples: expected at least 1, got 0"),
        ({"agents": 1}, "--agents: expected at least 2, got 1"),
        ({"coalitions": 0}, "--coalitions: expected at least 1"),
        ({"actions_per_agent": 9}, "--actions-per-agent: expected at most 7"),
        ({"model": "mixed-effects"}, "has 5 coalitions, not 3"),
        ({"seed": -1}, "seed: expected at least 0"),
        ({"profile": "missing.json"}, "the policy random uses no profile"),
        ({"profile": "missing.json", "policy": "toggles"}, "missing.json: cannot be read"),
    ],
)
def test_bad_input_is_refused_in_one_line(run, tmp_path, changes, message):
    code, out, err = run("simulate", *options(tmp_path / "log", **changes))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_refused(run, tmp_path):
    (tmp_path / "mine").write_text("x")
    assert run("simulate", *options(tmp_path))[0] == 2
    assert (tmp_path / "mine").read_text() == "x"


def test_more_samples_than_any_disk_holds_are_refused(run, tmp_path):
    words = ("--agents", "3", "--coalitions", "2", "--samples", str(10**30), "--out", str(tmp_path / "log"))
    code, _, err = run("simulate", *words)
    assert code == 2
    assert err.startswith("error: --samples: expected at most 1,000,000,000, got 1")
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_is_refused(run):
    code, _, err = run("simulate", *options("/dev/null/log"))
    assert code == 2
    assert err.startswith("error: /dev/null")


def test_a_terminal_sees_progress_and_a_file_does_not(run, tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("coterie.cli.simulate.messages", Console(file=screen, force_terminal=True))
    assert run("simulate", *options(tmp_path / "a"))[0] == 0
    assert "Samples" in screen.getvalue()
    monkeypatch.setattr("coterie.cli.simulate.messages", Console(file=screen, force_terminal=False))
    screen.truncate(0)
    assert run("simulate", *options(tmp_path / "b"))[0] == 0
    assert "Samples" not in screen.getvalue()


@pytest.fixture
def log(run, tmp_path):
    run("simulate", *options(tmp_path / "log"))
    return tmp_path / "log"


def evaluate(run, strategy, log, *more):
    return run("evaluate", strategy, "--truth", log / "truth.json", *more)


def test_evaluate_a_bare_strategy(run, tmp_path, log):
    game = read_truth(log / "truth.json")
    strategy = game.uniform()
    file = tmp_path / "strategy.json"
    file.write_text(json.dumps(strategy.to_json()))
    code, out, err = evaluate(run, file, log, "--json")
    assert (code, err) == (0, "")
    shown = json.loads(out)
    assert list(shown)[:4] == ["gap", "worst", "stable", "nash_stable"]
    assert shown["total_value"] == pytest.approx(game.values(strategy).sum())
    assert shown["gap"] == pytest.approx(game.gap(strategy))
    assert shown["worst"] == game.worst(strategy).to_json()
    assert shown["nash_stable"] is False
    assert shown["certificate_held"] is None
    code, out, _ = evaluate(run, file, log)
    assert code == 0
    assert f"The strategy is not Nash stable: {game.worst(strategy).agent} gains" in out
    assert "certificate" not in out


def test_evaluate_a_csv_table(run, tmp_path, log):
    game = read_truth(log / "truth.json")
    first = game.actions.spaces[0].to_json(game.coalitions)[0]
    file = tmp_path / "teams.csv"
    file.write_text("agent,coalition\n" + "".join(f"{agent},{name}\n" for agent in game.agents for name in first))
    shown = json.loads(evaluate(run, file, log, "--json")[1])
    assert shown["gap"] == pytest.approx(game.gap(game.strategy(dict.fromkeys(game.agents, first))))
    assert shown["certificate_held"] is None


def test_evaluate_a_certificate(run, tmp_path, log):
    game = read_truth(log / "truth.json")
    strategy = game.uniform()
    gap = game.gap(strategy)
    file = tmp_path / "result.json"
    for certified, held in ((gap, True), (gap + 1, True), ("inf", True), (gap / 2, False), (0, False), (None, None)):
        file.write_text(json.dumps({"strategy": strategy.to_json(), "certificate": {"gap": certified}}))
        assert json.loads(evaluate(run, file, log, "--json")[1])["certificate_held"] is held
    file.write_text(json.dumps({"strategy": strategy.to_json(), "certificate": {"gap": gap / 2}}))
    out = evaluate(run, file, log)[1]
    assert "certificate held    NO" in out
    for broken in ({"gap": "wide"}, {"gap": -1}, {"gap": True}, {}, 3):
        file.write_text(json.dumps({"strategy": strategy.to_json(), "certificate": broken}))
        code, _, err = evaluate(run, file, log)
        assert code == 2
        assert "result.json: certificate: " in err


def test_evaluate_a_stable_profile(run, tmp_path, log):
    game = read_truth(log / "truth.json")
    file = tmp_path / "strategy.json"
    file.write_text(json.dumps(game.stable_profiles()[0].to_json()))
    assert json.loads(evaluate(run, file, log, "--json")[1])["nash_stable"] is True
    assert "Nash stable: nobody gains by moving" in evaluate(run, file, log)[1]


def test_evaluate_warns_of_sets_outside_the_game(run, tmp_path, log):
    game = read_truth(log / "truth.json")
    file = tmp_path / "strategy.json"
    file.write_text(json.dumps({"actions": {agent: [] for agent in game.agents}}))
    code, out, err = evaluate(run, file, log, "--json")
    assert code == 0
    assert "not among their actions: p1, p2" in err
    assert json.loads(out)["gap"] >= 0


def test_evaluate_refuses_bad_files(run, tmp_path, log):
    file = tmp_path / "strategy.json"
    for text, message in (("{", "is not JSON"), ("{}", 'expected an object with "actions"')):
        file.write_text(text)
        code, out, err = evaluate(run, file, log)
        assert (code, out) == (2, "")
        assert message in err
    code, _, err = evaluate(run, tmp_path / "none.json", log)
    assert (code, "cannot be read" in err) == (2, True)
    file.write_text(json.dumps({"actions": {}}))
    code, _, err = run("evaluate", file, "--truth", log / "log.json")
    assert (code, "log.json: the format is 'coterie.log/1'" in err) == (2, True)


@pytest.mark.slow
def test_demo_learns_from_its_records(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, out, err = run("demo")
    assert code == 0
    (folder,) = tmp_path.glob("demo-of-coterie-*/firm")
    told = " ".join(out.split())
    assert "With 99 % confidence, nobody who is counted can gain" in told
    assert "Dalia and Nadia are together in finance and not together in retail." in told
    assert "The promise held." in told
    assert max(map(len, out.splitlines())) <= 80
    assert f"Open {folder / 'report.html'} in a browser" in err
    assert json.loads((folder / "log.json").read_text())["actions"] == "up-to:2"
    assert read_truth(folder / "truth.json").n_agents == 24
    result = json.loads((folder / "result.json").read_text())
    assert all(4 <= len(members) <= 8 for members in result["coalition_members"].values())
    assert not result["strategy"]["actions"]["Viktor"]
    assert "<!doctype html>" in (folder / "report.html").read_text().lower()
    suggested = err.split("What to try next\n")[1].splitlines()
    assert len(suggested) == 5
    for line in suggested[:3]:
        command, *words = shlex.split(line)
        assert command == "coterie"
        code, out, err = run(*words)
        assert code == 0, err


def test_demo_takes_a_time_limit(run, tmp_path, monkeypatch):
    code, _, err = run("demo", "--out", tmp_path / "firm", "--time-limit", "0")
    assert (code, (tmp_path / "firm").exists()) == (2, False)
    assert "--time-limit: expected a positive number of seconds" in err

    def fit(learner, _log):
        raise InputError(f"searches for {learner.time_limit} s")

    monkeypatch.setattr(StableLearner, "fit", fit)
    assert "searches for 1.5 s" in run("demo", "--out", tmp_path / "firm", "--time-limit", "1.5")[2]


COMMAND = [sys.executable, "-c", "from coterie.cli import main; main()"]


@pytest.mark.slow
def test_a_real_process(tmp_path):
    done = [
        subprocess.run(
            [*COMMAND, "simulate", *map(str, options(tmp_path / name, seed=5))], capture_output=True, check=True
        )
        for name in ("a", "b")
    ]
    assert done[0].stdout == b""
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_evaluate_takes_up_the_value_that_was_simulated(run, tmp_path):
    logs = {}
    for value in ("total", "average"):
        run("simulate", *options(tmp_path / value, value=value))
        logs[value] = {file.name: file.read_text() for file in (tmp_path / value).iterdir()}
    truths = [json.loads(log.pop("truth.json")) for log in logs.values()]
    assert logs["total"] == logs["average"]  # outcomes are of pairs, whatever a team is worth
    assert truths[1].pop("value") == "average"
    assert truths[0] == truths[1]
    game = read_truth(tmp_path / "average" / "truth.json")
    assert game.value == "average"
    teams = game.actions.spaces[0].to_json(game.coalitions)[0]
    (tmp_path / "teams.csv").write_text(
        "agent,coalition\n" + "".join(f"{agent},{coalition}\n" for agent in game.agents for coalition in teams)
    )
    found = {}
    for value in ("total", "average"):
        _, out, _ = run("evaluate", tmp_path / "teams.csv", "--truth", tmp_path / value / "truth.json", "--json")
        found[value] = json.loads(out)
        assert found[value]["value"] == value
    assert found["average"]["total_value"] == pytest.approx(found["total"]["total_value"] / 4)  # everybody has four


def test_a_demo_that_is_interrupted_says_so(run, tmp_path, monkeypatch):
    fit = StableLearner.fit

    def interrupted(self, log):
        learner = fit(self, log)
        learner.result_ = replace(learner.result_, solver=replace(learner.result_.solver, status="interrupted"))
        return learner

    monkeypatch.setattr(StableLearner, "fit", interrupted)
    code, _, err = run("demo", "--out", tmp_path / "firm", "--time-limit", "0.1")
    assert code == 130, err
    assert (tmp_path / "firm" / "report.html").exists()


def test_what_to_try_next_can_be_typed(tmp_path, monkeypatch):
    """Where the program is on no path, as after `make demo`, it is called by its place."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "coterie").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / "bin" / "coterie"), "demo"])
    for found, told in ((None, os.path.join("bin", "coterie")), ("/usr/bin/coterie", "coterie")):  # noqa: PTH118
        monkeypatch.setattr("shutil.which", lambda _, found=found: found)
        assert demo._program() == told
    monkeypatch.setattr("sys.argv", ["pytest"])
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert demo._program() == "coterie"
