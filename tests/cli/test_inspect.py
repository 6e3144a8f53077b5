"""`coterie inspect` and the options that all commands on logs share."""

import json
import sys

import pytest

from coterie.cli import main

PAIRS = "sample,coalition,agent,partner,utility\n1,x,ada,bob,0.5\n1,x,bob,cy,0.25\n2,y,ada,cy,0.5\n"
MEMBERS = "sample,agent,coalition\n1,ada,x\n1,bob,x\n1,cy,x\n2,ada,y\n2,cy,y\n2,dan,x\n"


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line; return exit code, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["coterie", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def log(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "memberships.csv").write_text(MEMBERS, encoding="utf-8")
    return tmp_path


def test_for_people(run, log):
    code, shown, messages = run("inspect", log)
    assert (code, messages) == (0, "")
    assert "semi-bandit log, symmetric, 3 rows in pairs" in shown
    assert "2 samples, 4 agents, 2 coalitions" in shown
    assert "x  1: 1  3: 1" in shown
    assert "3 of 6 pairs of agents met" in shown
    assert "dan never met anybody" in shown
    assert "1 times two agents shared a coalition without a row" in shown
    assert "all utilities are above the neutral point 0" in shown
    assert "declaring the true range narrows every certificate" in shown


def test_for_machines(run, log):
    code, shown, _ = run("inspect", log, "--json")
    content = json.loads(shown)
    assert code == 0
    assert content["samples"] == 2
    assert content["rows"] == 3
    assert content["agents"] == ["ada", "bob", "cy", "dan"]
    assert content["sizes"] == {"x": {"1": 1, "3": 1}, "y": {"0": 1, "2": 1}}
    assert content["pairs"]["possible"] == 6
    assert content["pairs"]["met"] == 3
    assert content["pairs"]["unobserved"] == 1
    assert content["pairs"]["matrix"][0] == [0, 1, 1, 0]
    assert content["pairs"]["rarest"][0] == {"agents": ["ada", "dan"], "met": 0}
    assert sum(content["utilities"]["counts"]) == 3
    assert content["utilities"]["smallest"] == 0.25


def test_options_reach_the_log(run, log):
    words = ["--pool-coalitions", "--coalitions", 3, "--utility-range", -2, 2, "--actions", "up-to:2", "--may-stay-out"]
    content = json.loads(run("inspect", log, "--json", *words, "--neutral", 0.5, "--memory-limit", "500MB")[1])
    assert content["coalitions"] == ["1", "2", "3"]
    assert content["actions"] == "up-to:2-or-none"
    assert (content["utility_range"], content["neutral"]) == ([-2, 2], 0.5)
    assert content["sizes"] == {"teams": {"1": 1, "2": 1, "3": 1}}
    listed = json.loads(run("inspect", log, "--json", "--actions", '[["x"], ["y"]]', "--asymmetric")[1])
    assert listed["actions"] == [["x"], ["y"]]
    assert listed["symmetric"] is False


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--utility-range", 0, 0.3, "--neutral", 0.1], "pairs.csv, row 1 below the header: utility 0.5 is outside"),
        (["--actions", "[["], "--actions: is not JSON"),
        (["--actions", '[["z"]]'], "unknown coalition in actions 'z'"),
        (["--columns", "utility"], "ours=theirs"),
    ],
)
def test_bad_input_is_exit_code_2(run, log, words, expected):
    code, shown, messages = run("inspect", log, *words)
    assert (code, shown) == (2, "")
    assert expected in messages


def test_many_agents_are_listed_and_bandit_logs_are_shown(run, tmp_path):
    members = "".join(f"{m},a{i},x\n" for m in range(3) for i in range(45) if (i + m) % 3)
    totals = "".join(f"{m},a{i},0\n" for m in range(3) for i in range(45) if (i + m) % 3)
    (tmp_path / "memberships.csv").write_text("sample,agent,coalition\n" + members, encoding="utf-8")
    (tmp_path / "totals.csv").write_text("sample,agent,utility\n" + totals, encoding="utf-8")
    code, shown, _ = run("inspect", tmp_path)
    assert code == 0
    assert "bandit log" in shown
    assert "the rarest:" in shown
    assert "every utility is 0" in shown
    assert "had one and the same size" in shown


def test_one_sample_and_unused_names(run, tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS.splitlines()[0] + "\n1,x,a,b,0\n", encoding="utf-8")
    (tmp_path / "log.json").write_text('{"agents": ["zoe"], "coalitions": ["x", "y"]}', encoding="utf-8")
    shown = run("inspect", tmp_path)[1]
    for expected in ("one sample only", "nobody ever joined y", "zoe never met anybody", "inferred", "not listed in"):
        assert expected in shown
