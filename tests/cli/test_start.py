"""`coterie start`, on three tables as people keep them, and what it asks."""

import json
import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest

import coterie
from coterie.errors import InputError
from coterie.files import LOCK
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
    assert declared.pop("version") == coterie.__version__
    columns = {"sample": "Month", "coalition": "Area", "agent": "From", "partner": "About", "utility": "Stars"}
    assert declared == {
        "format": "coterie.log/1", "sheet": "Ratings", "columns": columns, "clean_names": True, "symmetric": False,
        "pool_coalitions": False, "utility_range": [1.0, 5.0], "neutral": 3.0, "value": "average", "skip_rows": 2,
        "unit": "stars", "copied_from": "firm.xlsx",
    }  # fmt: skip
    assert "the header was found in row 3, and what is above it passed over: 'Peer ratings (1" in " ".join(out.split())
    assert "'Bo' and 'bo '" in out
    assert "no number (5 of them say 'n/a')" in " ".join(err.split())
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
    assert (log.feedback, log.pool_coalitions, log.options["totals"]) == ("bandit", True, "team-averages")
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
        return value_proc("-6 to 6" if "which scale" in text else "no" if "mean nothing" in text else default)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    code, out, err = run("start", name)
    assert code == 0, err
    declared = json.loads(Path("class/log.json").read_text(encoding="utf-8"))
    assert declared["utility_range"] == [-6.0, 6.0]
    assert declared["pool_coalitions"] is False
    assert -5.0 < declared["neutral"] < 5.0
    assert len(asked) == 12
    assert any("Do both of a pair get the same?" in question for question in asked)
    read = out.partition("It is read as")[2].partition("If anything is wrong")[0]
    reasons = {line.partition("(")[2].partition(")")[0]: line for line in read.splitlines()[1:] if line.strip()}
    assert [name for name, line in reasons.items() if "you said so" in line] == ["pool_coalitions", "utility_range"]
    assert "its name says" in reasons["agent"]
    assert reasons["agent"].split()[:2] == ["who", "(agent)"]
    assert "say so with its name: --columns sample=COLUMN for a column" in " ".join(out.split())


def test_what_start_refuses(messy, run):
    name = messy("class.csv", weeks=3)
    code, _, err = run("start", name)
    assert code == 2
    assert "say --yes" in err
    Path("class").mkdir()
    Path("class/kept.txt").write_text("x", encoding="utf-8")
    code, _, err = run("start", name, "--yes")
    assert code == 2
    assert "not an empty folder; coterie start class.csv --out class-2 writes another folder" in err
    Path("class/log.json").write_text("{}", encoding="utf-8")
    err = " ".join(run("start", name, "--yes")[2].split())
    assert "coterie inspect class goes on with it, coterie start class.csv --out class-2 writes another" in err
    assert "delete class to make it anew" in err
    Path("class/log.json").unlink()
    assert [one.name for one in Path("class").iterdir()] == ["kept.txt"]
    for taken, other in ((".", "class-2"), ("..", "../class-2"), ("/", "/class-2")):
        code, _, err = run("start", name, "--yes", "--out", taken)
        assert code == 2
        assert f"coterie start class.csv --out {other} writes another folder" in " ".join(err.split())
    Path("odd.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    code, _, err = run("start", "odd.csv", "--yes")
    assert code == 2
    assert "nothing here looks like a log" in err
    with pytest.raises(InputError, match="columns: agent is said to be 'Nobody'"):
        coterie.start(name, columns={"agent": "Nobody"})


def test_what_a_killed_start_left_in_a_folder_is_no_obstacle(messy, run):
    """A run that is killed leaves a folder without a process that holds it, perhaps with some of the log moved up."""
    name = messy("class.csv", weeks=3)
    for moved in ([], ["log.json"]):
        left = Path("out", ".coterie-unfinished-abcdefgh")
        left.mkdir(parents=True)
        (left / LOCK).touch()
        for one in moved:
            Path("out", one).touch()
            (left / "moving.json").write_text(json.dumps(moved), encoding="utf-8")
        assert run("start", name, "--yes", "--out", "out")[0] == 0
        assert sorted(one.name for one in Path("out").iterdir()) == ["log.json", "totals.csv"]
        shutil.rmtree("out")


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
    guess = coterie.start("t.csv", duplicates="refuse")
    assert guess.options["utility_range"] == [1.0, 5.0]
    with pytest.raises(InputError) as refused:
        guess.write("log")
    assert "row 22: 6 in the column 'Stars' is probably a typo" in str(refused.value)
    assert "is listed more than once" in str(refused.value)
    assert not Path("log").exists()
    assert "utility_range = [1.0, 5.0]" in repr(guess)


def written(name, header, rows):
    Path(name).write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return name


def answer(guess, name):
    return next(one for one in guess.answers if one.name == name)


def test_members_joined_by_any_sign(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    teams = ["Ada & Bo", "Cy & Dee and Ada", '"Bo, Cy and Dee"', "Dee & Ada", "Bo & Cy", "Ada"]
    rows = [
        f"{e},Team {'xy'[t % 2]},{team},{4 + len(team) % 3}" for e in (1, 2, 3) for t, team in enumerate(teams[e::3])
    ]
    code, out, err = run("start", written("t.csv", "Edition,Team name,Who,Jury score", rows), "--yes")
    assert code == 0, err
    assert "split so, 4 of 4 names come back in other rows" in out
    assert json.loads(Path("t/log.json").read_text(encoding="utf-8"))["separators"] == ", & and"
    log = coterie.read_log("t")
    assert log.agents == ("Ada", "Bo", "Cy", "Dee")
    columns = "sample=Edition,coalition=Team name,members=Who,utility=Jury score"
    told = run("inspect", "t.csv", "--columns", columns, "--separators", ",", "--utility-range", 0, 99)[1]
    assert 'say what stands between names: --separators ", & and"' in " ".join(told.split())
    said = answer(coterie.start("t.csv", separators="&"), "separators")
    assert (said.value, said.why) == ("&", "you said so")


def test_names_and_teams_with_signs_are_no_lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = ["Lovelace, Ada", "Bell, Bo", "Curie, Cy"]
    rows = [f'{w},{t},"{p}",{w % 4 + i}' for w in range(6) for t in ("Food & Health", "Sport & Health")
            for i, p in enumerate(people)]  # fmt: skip
    guess = coterie.start(written("t.csv", "Week,Team,Name,Points", rows))
    assert (guess.shape, guess.options["columns"]) == (
        "records", {"sample": "Week", "coalition": "Team", "agent": "Name", "utility": "Points"}
    )  # fmt: skip


def test_only_labels_that_come_back_are_named_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{w},{t},{p},{w % 3}" for w in range(4) for t in ("Sea", "Law") for p in ("Ann", "Bo")] + ["2,Art,Cy,1"]
    guess = coterie.start(written("t.csv", "Week,Team,Who,Points", rows))
    assert answer(guess, "pool_coalitions").why == "2 of 3 labels come back, such as 'Law'"
    assert answer(guess, "pool_coalitions").value is False
    once = coterie.start(written("u.csv", "Week,Team,Who,Points", [row for row in rows if row.startswith("2")]))
    assert answer(once, "pool_coalitions").why == "labels have names, such as 'Art', but there is one round only"


@pytest.mark.parametrize(("weeks", "only"), [(2, "only 4"), (8, "16")])
def test_how_many_rows_speak_for_scores_of_teams(tmp_path, monkeypatch, weeks, only):
    monkeypatch.chdir(tmp_path)
    rows = [f"{w},{t},{p},{w % 3 + len(t)}" for w in range(weeks) for t in ("Sea", "Laws") for p in ("Ann", "Bo", "Cy")]
    guess = coterie.start(written("t.csv", "Week,Team,Who,Points", rows))
    assert answer(guess, "totals").value == "team-score-averages"
    assert f"the same for all members in each of {only} teams ({6 * weeks} rows), and" in answer(guess, "totals").why


def test_the_sheet_with_the_table_is_found(tmp_path, monkeypatch, run):
    import xlsxwriter

    monkeypatch.chdir(tmp_path)
    book = xlsxwriter.Workbook("t.xlsx")
    book.add_worksheet("Read me").write(0, 0, "Hello")
    sheet = book.add_worksheet("Ratings")
    sheet.write_row(0, 0, ["Month", "Area", "From", "About", "Stars"])
    for month in range(12):
        sheet.write_row(2 * month + 1, 0, [month, "Sea", "Ann", "Bo", month % 5 + 1])
        sheet.write_row(2 * month + 2, 0, [month, "Sea", "Bo", "Ann", "n/a" if month % 3 else 5])
    book.close()
    code, out, err = run("start", "t.xlsx", "--yes")
    assert code == 0, err
    assert out.startswith("t.xlsx, sheet 'Ratings': 24 rows, 5 columns")
    assert "8 rows of" in err
    assert coterie.read_log("t").agents == ("Ann", "Bo")


def test_a_table_with_some_text_among_numbers_is_read_as_what_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{w},Sea,{p},{'moved' if w % 4 == 0 else w % 3}" for w in range(20) for p in ("Ann", "Bo")]
    guess = coterie.start(written("t.csv", "Week,Team,Who,Points", rows))
    with pytest.raises(InputError, match=r"these are no numbers: 'moved' \(10 times\).*say blank_words=\"moved\""):
        guess.write("log")
    log = coterie.start("t.csv", blank_words="moved").write("log")
    assert log.options["blank_words"] == ("moved",)
    assert any("10 rows of" in note and "no number (10 of them say 'moved')" in note for note in log.notes)


def test_answers_that_make_no_sense_are_asked_for_again(tmp_path, monkeypatch, run):
    import sys

    import typer

    monkeypatch.chdir(tmp_path)
    rows = [f"{e},x,{team},{4 + e % 3}" for e in range(6) for team in (("Ada & Bo", "Bo & Cy", "Ada & Cy")[e % 3],)]
    odd = {"stands between": '"', "which scale": "5 to 1", "number in a row": "sums", "labels": "perhaps"}
    refused = []

    def prompt(text, *, default, value_proc, err):
        assert err
        for word, answer in odd.items():
            if word in text:
                with pytest.raises(typer.BadParameter) as told:
                    value_proc(answer)
                refused.append(str(told.value))
        return value_proc(default)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    code, _, err = run("start", written("t.csv", "Edition,Team,Members,Score", rows))
    assert code == 0, err
    assert len(refused) == 4
    assert "expected some of newline ; | , & + / and" in refused[0]
    assert "the lower one first" in refused[3]


@pytest.mark.parametrize(
    ("asks", "given", "told"),
    [
        ("says in which team", "week", "'Week' says when already"),
        ("which scale", "0 to 1e999", "'1e999' is no number"),
        ("working alone", "nan", "'nan' is no number"),
        ("working alone", "30", "30 is outside of the scale, 0 to 3"),
    ],
)
def test_answers_that_would_be_refused_later_are_asked_for_again(tmp_path, monkeypatch, run, asks, given, told):
    """All answers before them were lost."""
    import sys

    import typer

    monkeypatch.chdir(tmp_path)
    written("t.csv", "Week,Team,Who,Points", [f"{w},Sea,{p},{w % 4}" for w in range(20) for p in ("Ann", "Bo")])
    refused = []

    def prompt(text, *, default, value_proc, err):
        assert err
        if asks in text:
            with pytest.raises(typer.BadParameter) as problem:
                value_proc(given)
            refused.append(str(problem.value))
        return value_proc(default)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    code, _, err = run("start", "t.csv")
    assert code == 0, err
    assert len(refused) == 1
    assert told in refused[0]


def test_nothing_is_an_answer_to_what_it_is_counted_in(tmp_path, monkeypatch, run):
    import sys

    import typer

    monkeypatch.chdir(tmp_path)
    written("t.csv", "Week,Team,Who,Points", [f"{w},Sea,{p},{w % 3}" for w in range(20) for p in ("Ann", "Bo")])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def prompt(text, *, default, value_proc, err):
        assert err
        return value_proc("none" if "counted" in text else default)

    monkeypatch.setattr(typer, "prompt", prompt)
    code, out, err = run("start", "t.csv")
    assert code == 0, err
    assert next(line for line in out.splitlines() if "counted in" in line).split()[-4:] == ["none", "you", "said", "so"]
    assert coterie.read_log("t").unit == ""
    assert coterie.start("t.csv").options["unit"] == "points"
    assert coterie.read_log("t", unit=" happy\npoints ").unit == "happy points"


@pytest.mark.parametrize("header", ["Week,Who,Team,Points", "Week,Who,Team,Time", "Week,Who,With,Team,Points"])
def test_numbers_beyond_all_numbers_are_refused(tmp_path, monkeypatch, run, header):
    monkeypatch.chdir(tmp_path)
    middle = "Bo,Sea" if "With" in header else "Sea"
    rows = [f"{w},{p},{middle},{'1e400' if w == 3 else w % 3}" for w in range(20) for p in ("Ann", "Cy")]
    code, _, err = run("start", written("t.csv", header, rows), "--yes")
    assert code == 2
    assert "1e400" in err or "no column holds numbers" in err


@pytest.mark.parametrize(("kind", "asks"), [("blank", "stand for no rating"), ("absent", "somebody was not there")])
def test_words_among_numbers_are_asked_about(tmp_path, monkeypatch, run, kind, asks):
    import sys

    import typer

    monkeypatch.chdir(tmp_path)
    rows = [f"{w},Sea,{p},{'moved' if w % 4 == 0 else w % 3}" for w in range(20) for p in ("Ann", "Bo")]
    written("t.csv", "Week,Team,Who,Points", rows)
    asked = []

    def prompt(text, *, default, value_proc, err):
        asked.append((text, default, err))
        return value_proc("moved, late" if asks in text else default)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    code, _, err = run("start", "t.csv")
    assert code == 0, err
    first, second = [text for text, default, _ in asked if default == "none"]
    assert "are refused if they stay: 'moved' (10 times)" in first
    assert ("no other words are left" in second) == (kind == "absent")
    assert any("On which scale" in text for text, *_ in asked)
    assert any("Do team labels mean nothing" in text for text, *_ in asked)
    assert json.loads(Path("t/log.json").read_text(encoding="utf-8"))[f"{kind}_words"] == ["moved", "late"]
    told = "have no number" if kind == "blank" else "say that somebody was not there"
    assert f"10 rows of t.csv {told} (10 of them say 'moved')" in " ".join(err.split())


def test_start_takes_what_is_known_of_rows(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = [f"{w},Sea,{p},{'moved' if w % 4 == 0 else w % 3}" for w in range(20) for p in ("Ann", "Total")]
    written("t.csv", "some,words,of,ours\nWeek,Team,Who,Points", rows)
    code, out, err = run("start", "t.csv", "--yes")
    assert code == 2
    assert "nothing here looks like a log" in err  # the first row is as full as a header
    said = ("--skip-rows", 1, "--blank-words", "moved", "--summaries", "keep")
    code, out, err = run("start", "t.csv", "--yes", *said)
    assert code == 0, err
    assert "the header was found in row 2" in out
    log = coterie.read_log("t")
    assert (log.agents, log.rows) == (("Ann", "Total"), 15)
    assert (log.options["skip_rows"], log.options["summaries"]) == (1, "keep")


def test_a_wide_table_is_asked_about_and_read_again(tmp_path, monkeypatch, run):
    import sys

    import typer

    monkeypatch.chdir(tmp_path)
    teams = [("Ann", "Bo", "Cy"), ("Dee", "Eve", "Flo"), ("Ann", "Dee", "Cy"), ("Bo", "Eve", "Flo"), ("Ann", "Bo", "")]
    rows = [f"{','.join(team)},{4 + place}" for place, team in enumerate(teams)]
    written("t.csv", "Player 1,Player 2,Player 3,Score", rows)
    asked = {}

    def prompt(text, *, default, value_proc, err):
        assert err
        asked[text.strip().splitlines()[0]] = default
        with pytest.raises(typer.BadParameter):
            value_proc("Nobody, Player 1")
        return value_proc("3" if "How many teams" in text else default)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    code, out, err = run("start", "t.csv")
    assert code == 0, err
    assert asked["Which column lists the members of a team?"] == "Player 1, Player 2, Player 3"
    assert asked["Which column says when (one round in which teams held)?"] == "#"
    assert asked["How many teams are there at once?"] == "2"
    assert "no column says in which team: each row is a team" in out
    log = coterie.read_log("t")
    assert (len(log.coalitions), log.n_samples, log.rows) == (3, 5, 5)
    assert log.agents == ("Ann", "Bo", "Cy", "Dee", "Eve", "Flo")


def test_the_last_word_is_a_command_that_works(messy, run):
    code, out, _ = run("start", messy("class.csv", weeks=6), "--yes", "--out", "my class")
    assert code == 0
    (line,) = [line.strip() for line in out.splitlines() if "coterie learn" in line]
    assert line == 'coterie learn "my class" --team-size 2:3 --report report.html'
    assert "Teams so far had 3 members as a rule" in " ".join(out.split())
    words = shlex.split(line)[1:]
    code, out, err = run(*words, "--details", "--time-limit", "0.5")
    assert code == 0, err
    assert Path("report.html").exists()
    assert "value: Punkte per person" in out
    hint = "Nobody said how large teams may be: --team-size 2:3 asks for sizes as they were seen; --report report.html"
    assert "Nobody said" not in err
    err = " ".join(run("learn", "my class", "--time-limit", "0.2")[2].split())
    assert hint in err
    assert "--value" not in err.partition("Nobody said")[2]  # the log says average already
    assert "Nobody said" not in run("learn", "my class", "--team-size", "any", "--time-limit", "0.2")[2]


def test_start_takes_every_option_of_a_log_and_shows_them_all(messy, run):
    shorter, longer = run("start", "--help")[1], run("start", "--help-all")[1]
    assert "--neutral" in shorter
    for option in ("--blank-words", "--absent-words", "--skip-rows", "--summaries", "--totals", "--separators"):
        assert option in longer
        assert option not in shorter
    code, out, err = run("start", messy("firm.xlsx", months=3), "--yes", "--neutral", 2, "--asymmetric")
    assert code == 0, err
    assert out.count("you said so") == 2
    assert coterie.read_log("firm").neutral == 2
    code, _, err = run("start", "firm.xlsx", "--yes", "--out", "other", "--columns", "utility=Star")
    assert (code, "did you mean 'Stars'?" in " ".join(err.split())) == (2, True)


def test_options_that_messages_name_can_be_found(messy, run):
    Path("t.csv").write_text("sample,agent,coalition,utility\n1,Ann,Total,1\n1,Bob,Total,1\n", encoding="utf-8")
    code, _, err = run("inspect", "t.csv")
    assert code == 2
    assert err.splitlines()[-1] == "--summaries: see coterie inspect --help-all"
    assert "--summaries" in run("inspect", "--help-all")[1]
    assert "--coalitions" in run("learn", "--help")[1]
    Path("pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,7\n", encoding="utf-8")
    assert "--help-all" not in run("inspect", "pairs.csv")[2]  # --utility-range is in the shorter help


@pytest.mark.parametrize("labels", ["ABCD", "ABCDE"])
def test_a_log_of_people_who_were_always_alone_has_no_sizes_to_ask_for(run, tmp_path, labels):
    rows = [(week, who, labels[(place + week) % len(labels)]) for week in range(8) for place, who in enumerate("abcd")]
    folder = tmp_path / "alone"
    folder.mkdir()
    members = [f"{week},{who},{label}" for week, who, label in rows]
    (folder / "memberships.csv").write_text("\n".join(["sample,agent,coalition", *members]), encoding="utf-8")
    totals = [f"{week},{who},0" for week, who, _ in rows]
    (folder / "totals.csv").write_text("\n".join(["sample,agent,utility", *totals]), encoding="utf-8")
    (folder / "log.json").write_text('{"format": "coterie.log/1", "utility_range": [-1, 1]}', encoding="utf-8")
    code, _, err = run("learn", folder, "--time-limit", "0.2")
    assert code == 0, err
    assert "as they were seen" not in err


def test_advice_can_be_typed_as_it_is(tmp_path, monkeypatch, run):
    """Names with blanks are quoted, a folder is no table, and a name with a slip is known again."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{w},Sea,{p},{w % 3}" for w in range(20) for p in ("Ann", "Bo")]
    written("my firm.csv", "Week,Team,Who,Points", rows)
    assert run("start", "my firm.csv", "--yes")[0] == 0
    code, _, err = run("start", "my firm.csv", "--yes")
    assert code == 2
    said = " ".join(err.split())
    assert 'coterie inspect "my firm" goes on with it' in said
    (advised,) = re.findall("coterie start (.+) writes another folder", said)
    assert run("start", *shlex.split(advised), "--yes")[0] == 0
    code, _, err = run("start", "my firm", "--yes")
    assert code == 2
    (advised,) = re.findall("coterie inspect (.+) shows it", " ".join(err.split()))
    assert run("inspect", *shlex.split(advised))[0] == 0
    code, _, err = run("inspect", "my frim")
    assert code == 2
    assert "did you mean my firm?" in " ".join(err.split())


def test_points_have_no_scale_but_their_own(tmp_path, monkeypatch, run):
    """A few beyond 1 to 5 are typos among ratings, and points like others among points."""
    monkeypatch.chdir(tmp_path)
    people = ("Ann", "Bo", "Cy", "Di")
    rows = [
        f"{w},{'AB'[i % 2]},{p},{5.3 if (w, i) == (7, 1) else 1 + (w * 3 + i) % 4}"
        for w in range(60)
        for i, p in enumerate(people)
    ]
    written("t.csv", "Week,Team,Who,Points", rows)
    code, out, err = run("start", "t.csv", "--yes")
    assert code == 0, err
    low, high = coterie.read_log("t").utility_range
    assert low <= 1
    assert high >= 5.3
    assert "all but" not in out


def test_one_team_each_as_a_rule(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    people = ("Ann", "Bo", "Cy", "Di")
    pairs = [(a, b) for i, a in enumerate(people) for b in people[:i]]
    rows = [f"{w},{'Sea' if w % 2 else 'Sky'},{a},{b},{1 + (w + len(a)) % 5}" for w in range(30) for a, b in pairs]
    written("t.csv", "Week,Area,From,About,Stars", [*rows, "3,Hill,Ann,Bo,4"])
    code, out, err = run("start", "t.csv", "--yes")
    assert code == 0, err
    told = " ".join(out.split())
    assert "--per-person 1 --report report.html" in told
    assert "Now and then somebody was in several teams at once" in told
    written("u.csv", "Week,Area,From,About,Stars", rows)
    assert "--per-person" not in run("start", "u.csv", "--yes")[1]


def test_typos_are_told_before_the_questions(tmp_path, run, monkeypatch):
    import sys

    import typer

    asked = []

    def prompt(text, *, default, value_proc, err):
        asked.append(text)
        raise typer.Abort

    rows = [(t, "x", a, b, 1 + (t + i) % 5) for t in range(20) for i, (a, b) in enumerate(("AB", "BC", "CA"))]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    table = tmp_path / "r.csv"
    table.write_text(f"Week,Team,From,About,Stars (1-5)\n{text}99,x,A,B,6\n", encoding="utf-8")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", prompt)
    _, _, err = run("start", table, "--out", tmp_path / "log")
    assert "row 62: 6 in the column 'Stars (1-5)' is probably a typo" in " ".join(err.split())
    assert len(asked) == 1


@pytest.mark.parametrize("cell", ["{}/5", "{}0%", "{} pts", "{}.500,50 €", "good{}"])
def test_weeks_are_no_outcome_where_outcomes_are_no_numbers(tmp_path, monkeypatch, run, cell):
    """With sales in euros, weeks were taken for how good it was, and people for rounds, without a word."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{w};Team {p // 3};P{p}on;{cell.format((w + p) % 5 + 1)}" for w in range(1, 9) for p in range(6)]
    Path("t.csv").write_text("\n".join(["Week;Team;Name;Score", *rows, ""]), encoding="utf-8")
    code, _, err = run("start", "t.csv", "--yes")
    assert code == 2
    told = " ".join(err.split())
    assert "no column holds numbers that say how good it was; 'Score' may be meant, and holds '" in told
    assert "Write plain numbers: 4 for 4/5" in told
    assert not Path("t").exists()


def test_merged_cells_and_commas_are_told(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{w if p == 0 else ''},{f'Team {p // 3}' if p % 3 == 0 else ''},P{p}on,{p}" for w in range(8) for p in range(6)
    ]
    Path("merged.csv").write_text("\n".join(["Week,Team,Name,Score", *rows, ""]), encoding="utf-8")
    code, _, err = run("start", "merged.csv", "--yes")
    assert code == 2
    assert "'Week' is filled in 8 of 48 rows: fill it in every row (merged cells" in " ".join(err.split())
    rows = [f'{w},Team {p // 3},P{p}on,"{p + 1},{w}20"' for w in range(8) for p in range(6)]
    Path("commas.csv").write_text("\n".join(["Week,Team,Name,Sales", *rows, ""]), encoding="utf-8")
    code, _, err = run("start", "commas.csv", "--yes")
    assert code == 2
    assert "numbers in 'Sales' hold commas, such as '1,020': write what is meant, 1020 or 1.020" in " ".join(
        err.split()
    )


# --- Other sheets -----------------------------------------------------------------------------------------------

RATERS = ("Ada", "Bo", "Cleo", "Dov", "Eli", "Fay")


def workbook(path, **sheets):
    """Write a workbook whose first sheet holds ratings in two areas, and others."""
    import xlsxwriter

    book = xlsxwriter.Workbook(path)
    ratings = [
        [f"2024-{1 + m:02d}", area, a, b, 1 + (m + len(a) + 2 * len(b)) % 5]
        for m in range(6)
        for area, team in zip(("Energy", "Retail"), (RATERS[:3], RATERS[3:])[:: (-1) ** m], strict=True)
        for a in team
        for b in team
        if a != b
    ]
    every = {"Ratings": [["Month", "Area", "From", "About", "Stars"], *ratings], **sheets}
    for name, rows in every.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return path


TODAY = [["Who", "Area"], *([name, "Energy" if i < 3 else "Retail"] for i, name in enumerate(RATERS))]
STAFF = [["Name", "Site"], *([name, "Leeds"] for name in RATERS)]


@pytest.mark.parametrize(
    ("sheets", "words"),
    [
        ({"Now": TODAY}, "--today my.xlsx#Now"),
        ({"Teams today": TODAY}, '--today "my.xlsx#Teams today"'),
        ({"Now": TODAY, "People": STAFF}, "--today my.xlsx#Now --staff my.xlsx#People"),
        ({"Teams 2019": TODAY, "Now": TODAY}, "--today my.xlsx#Now"),
        ({"People": STAFF}, "--staff my.xlsx#People"),
        ({"Now": [*TODAY, ["Zoe", "Retail"]]}, "--today my.xlsx#Now --staff my.xlsx#Now"),
        ({"Now": [*TODAY[:3], ["Cleoo", "Energy"], *TODAY[4:]]}, None),  # a slip
        ({"Now": [*TODAY[:-1], ["Fay", "Retial"]]}, None),
        ({"Now": [["Who", "Area"], ["Xan", "Energy"], ["Yve", "Retail"]]}, None),
        ({"Notes": [["Asked on Fridays."]]}, None),
        ({"Twice": [*STAFF, STAFF[1]]}, None),
    ],
)
def test_other_sheets_are_pointed_at_where_they_can_be_read(tmp_path, monkeypatch, run, sheets, words):
    monkeypatch.chdir(tmp_path)
    workbook("my.xlsx", **sheets)
    code, out, _ = run("start", "my.xlsx", "--yes")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("  coterie learn my")]
    if words is None:
        assert "#" not in line
    else:
        assert f" {words} --report" in line
        assert run(*shlex.split(line)[1:], "--time-limit", 1)[0] == 0


def test_columns_with_blanks_and_signs_are_quoted_in_advice(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = [f"{w};Team {p // 3};P{p}on;{w % 3}/5" for w in range(1, 9) for p in range(6)]
    written("t.csv", "Day of play (no.);Team;Name;Score", rows)
    code, _, err = run("start", "t.csv", "--yes")
    assert code == 2
    (advised,) = re.findall("say so with (--columns .*)$", " ".join(err.split()))
    assert shlex.split(advised) == ["--columns", "utility=Day of play (no.)"]


def test_a_file_that_is_missing_is_told_without_a_terminal(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("start", "no such.xlsx")
    assert code == 2
    assert "no such.xlsx: no such file or folder" in err
    assert "terminal" not in err
