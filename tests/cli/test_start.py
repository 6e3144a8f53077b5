"""`coterie start`, on three tables as people keep them, and what it asks."""

import json
import runpy
from pathlib import Path

import pytest

import coterie
from coterie.errors import InputError
from coterie.learn.learner import StableLearner

MESSY = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "messy_tables.py"))["TABLES"]


@pytest.fixture
def messy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, **about):
        MESSY[name](tmp_path / name, **about)
        return name

    return write


def test_a_firm_that_rates_both_ways(messy, run):
    code, out, err = run("start", messy("firm.xlsx", months=12), "--yes")
    assert code == 0
    declared = json.loads(Path("firm/log.json").read_text(encoding="utf-8"))
    columns = {"sample": "Month", "coalition": "Area", "agent": "From", "partner": "About", "utility": "Stars"}
    assert declared == {
        "format": "coterie.log/1", "sheet": "Ratings", "columns": columns, "clean_names": True, "symmetric": False,
        "pool_coalitions": False, "utility_range": [1.0, 5.0], "neutral": 3.0,
    }  # fmt: skip
    assert "'Bo' and 'bo '" in out
    assert "no utility and were" in err
    log = coterie.read_log("firm")
    assert log.agents == ("Ada", "Bo", "Cleo", "Dov", "Eli", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea")
    assert log.samples.order == "in the order of their dates"
    assert log.samples.names[0].as_py() == "2023-01-01"
    assert log.n_samples == 12
    assert log.rows + sum(int(note.split()[0]) for note in log.notes if "skipped" in note) == 12 * 12 * 3


def test_a_class_with_weekly_totals(messy, run):
    code, out, err = run("start", messy("class.csv", weeks=20), "--yes", "--out", "school")
    assert code == 0
    assert "labels are numbers or letters, such as 'Tisch 1'" in out
    assert "Windows-1252" in err
    log = coterie.read_log("school")
    assert (log.feedback, log.pool_coalitions, log.options["totals"]) == ("bandit", True, "sum")
    assert {"Jörg", "Käthe", "Übü", "Zoé"} <= set(log.agents)
    assert log.rows == 20 * 12
    assert any(note.startswith("1 row of") and "alone" in note for note in log.notes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "about"), [("firm.xlsx", {"months": 6}), ("class.csv", {"weeks": 8})])
def test_learning_needs_no_option_after_that(messy, run, name, about):
    assert run("start", messy(name, **about), "--yes", "--out", "log")[0] == 0
    code, out, _ = run("learn", "log", "--time-limit", "1")
    assert code == 0
    assert "Ada" in out or "Anna" in out


@pytest.mark.slow
def test_a_hackathon_with_scores_of_teams(messy, run):
    code, out, _ = run("start", messy("hackathon.xlsx", events=30), "--yes")
    assert code == 0
    assert "scores of teams, whose members are listed" in out
    log = coterie.read_log("hackathon")
    assert log.of_teams
    assert log.options["totals"] == "team-score-averages"
    assert any("15 scores" in note and "team of one" in note for note in log.notes)
    result = StableLearner(time_limit=1).fit(log).result_
    assert result.data.noise == "samples"


def test_questions_take_enter_and_other_answers(messy, run, monkeypatch):
    import sys

    import typer

    name = messy("class.csv", weeks=8)
    asked = []

    def prompt(text, *, default, value_proc, err):
        assert err
        asked.append(text)
        return value_proc("-5 to 5" if "which scale" in text else "no" if "mean nothing" in text else default)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    code, _, err = run("start", name)
    assert code == 0, err
    declared = json.loads(Path("class/log.json").read_text(encoding="utf-8"))
    assert declared["utility_range"] == [-5.0, 5.0]
    assert declared["pool_coalitions"] is False
    assert declared["neutral"] == 0.0
    assert len(asked) == 9


def test_what_start_refuses(messy, run):
    name = messy("class.csv", weeks=3)
    code, _, err = run("start", name)
    assert code == 2
    assert "say --yes" in err
    Path("class").mkdir()
    Path("class/kept.txt").write_text("x", encoding="utf-8")
    code, _, err = run("start", name, "--yes")
    assert code == 2
    assert "not an empty folder" in err
    assert [one.name for one in Path("class").iterdir()] == ["kept.txt"]
    Path("odd.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    code, _, err = run("start", "odd.csv", "--yes")
    assert code == 2
    assert "nothing here looks like a log" in err
    with pytest.raises(InputError, match="columns: agent is said to be 'Nobody'"):
        coterie.start(name, columns={"agent": "Nobody"})


def test_orders_of_a_pair_are_found_whatever_the_spelling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{m},Sea,Bob,Ada,{m % 5 + 1}\n{m},Sea,Ada,bob ,{(m + 1) % 5 + 1}" for m in range(6)]
    Path("t.csv").write_text("\n".join(["Month,Team,From,About,Stars", *rows]), encoding="utf-8")
    guess = coterie.start("t.csv")
    assert (guess.options["symmetric"], guess.options["clean_names"]) == (False, True)
    assert guess.write("log").agents == ("Ada", "Bob")


def test_nothing_is_written_where_the_table_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{m},x,{i},{j},{(m + len(i)) % 5 + 1}" for m in range(10) for i, j in (("Ann", "Bo"), ("Bo", "Cy"))]
    rows += ["3,x,Ann,Cy,6", "4,x,Ann,Bo,2"]
    Path("t.csv").write_text("\n".join(["Month,Team,From,About,Stars", *rows]), encoding="utf-8")
    guess = coterie.start("t.csv")
    assert guess.options["utility_range"] == [1.0, 5.0]
    with pytest.raises(InputError) as refused:
        guess.write("log")
    assert "row 22: utility 6 is probably a typo" in str(refused.value)
    assert "was listed before" in str(refused.value)
    assert not Path("log").exists()
    assert "utility_range = [1.0, 5.0]" in repr(guess)
