"""What people write who are new to the command line: understood where it is clear, else refused with what helps."""

import json
import shlex

import pytest

import coterie
from coterie.collect import what_to_collect
from coterie.coverage import coverage
from coterie.errors import InputError
from coterie.game.edits import changed
from coterie.game.rules import Rules, TeamSize
from coterie.game.strategy import Strategy

ROWS = [
    f"{week},{team},{one},{two},0.{week}"
    for week in range(1, 7)
    for team, members in (("x", "Ada Bo Cy"), ("y", "Dov Eli Quinn"))
    for one, two in (members.split()[:2], members.split()[1:], members.split()[::2])
]


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text("\n".join(["sample,coalition,agent,partner,utility", *ROWS, ""]), "utf-8")
    (tmp_path / "staff.csv").write_text("agent\nAda\nBo\nCy\nDov\nEli\n", "utf-8")
    places = "agent,coalition\nAda,x\nBo,x\nCy,x\nDov,y\nEli,y\nQuinn,y\nZoe,y\n"
    (tmp_path / "now.csv").write_text(places, "utf-8")
    return "pairs.csv"


@pytest.mark.parametrize(
    ("written", "meant"),
    [("4-5", "4:5"), ("4 - 5", "4:5"), ("4\u20135", "4:5"), ("0,4-5", "0,4:5"), ("12-12", "12")],
)
def test_sizes_with_a_dash(written, meant):
    assert TeamSize.parse(written) == TeamSize.parse(meant)
    assert Rules(team_size=f"x={written}").team_size == {"x": TeamSize.parse(meant)}


@pytest.mark.parametrize("written", ["-5", "4-", "4-5-6", "4-5:6", "4--5", "4,5", "a-5"])
def test_sizes_that_are_not_clear(written):
    with pytest.raises(InputError, match='expected "6:8"'):
        TeamSize.parse(written)


def test_sizes_the_wrong_way_round():
    with pytest.raises(InputError, match="the largest, 4, is below the smallest, 5"):
        TeamSize.parse("5-4")


@pytest.mark.parametrize(
    ("arrow", "colon"),
    [
        ("Ada -> Energy", "Ada: Energy"),
        ("Ada->Energy", "Ada: Energy"),
        ("Ada \u2192 Energy + Law", "Ada: Energy + Law"),
        ("Ada -> +Law", "Ada: +Law"),
        ("Ada -> nothing", "Ada: nothing"),
        ("'a->b' -> Energy", "'a->b': Energy"),
        ("swap a->b, Ada", "swap 'a->b', Ada"),
    ],
)
def test_an_arrow_is_a_colon(arrow, colon):
    agents, coalitions = ("Ada", "a->b"), ("Energy", "Law", "Tax")
    before = Strategy.pure([[False, False, True], [False, True, False]], agents, coalitions)
    one, two = (changed(before, [text])[0].sets for text in (arrow, colon))
    assert (one == two).all()
    assert (one != before.sets).any()


def test_two_arrows_are_not_clear():
    before = Strategy.pure([[True, False]], ("Ada",), ("Energy", "Law"))
    with pytest.raises(InputError, match=r"change 'Ada -> Energy -> Law': expected"):
        changed(before, ["Ada -> Energy -> Law"])


def test_a_page_is_no_result(run, tmp_path):
    page = tmp_path / "firm.html"
    page.write_text("<html></html>", "utf-8")
    code, _, err = run("report", page, "--out", tmp_path / "other.html")
    assert code == 2
    words = " ".join(err.split())
    assert words.endswith("is no result file, expected the .json file that learn wrote with --out result.json")
    assert "is not JSON" not in words


@pytest.mark.parametrize(
    "words", [["certify", "pairs.csv", "now.csv"], ["what-if", "pairs.csv", "now.csv", "Ada -> y"]]
)
def test_somebody_unknown_is_for_the_staff(log, run, words):
    code, _, err = run(*words)
    assert code == 2
    said = " ".join(err.split())
    assert (
        "unknown agent in strategy 'Zoe'; known are: Ada, Bo, Cy, Dov, Eli, Quinn; whoever is new is named by --staff"
        in said
    )


def test_apart_from_somebody_who_left(log, run):
    words = ("learn", log, "--team-size", "2:3", "--staff", "staff.csv", "--time-limit", "1", "--details")
    told = "--apart changes nothing about Quinn, who is not on the staff"
    code, out, _ = run(*words, "--apart", "Quinn,Bo")
    assert code == 0
    assert " ".join(out.split()).count(told) == 1
    assert told not in " ".join(run(*words, "--apart", "Ada,Bo")[1].split())


LABELS = "agent,Office\nAda,Ulm\nBo,Ulm\nCy,Bonn\nDov,Bonn\n"
EACH = (
    "no assignment keeps all rules: at least 2 with Office Ulm in each team: 2 teams would need 4, and there are 2 such"
)
NO_PLACE = "at most 0 with Office Ulm in each team: 2 teams have places for 0, and there are 2 such people"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--quota", "Ofice=Bonn>=1"], "'Ofice'; did you mean 'Office'? Labels are columns of the staff table: Office"),
        (["--quota", "Site=Bonn>=1"], "the label 'Site'; labels are columns of the staff table: Office"),
        (["--quota", "Office=Ulm>=2", "--team-size", "1:3"], EACH),
        (["--quota", "Office=Ulm<=0", "--team-size", "1:3"], NO_PLACE),
    ],
)
def test_quotas_that_cannot_be_kept(run, log, tmp_path, words, message):
    (tmp_path / "labels.csv").write_text(LABELS, "utf-8")
    code, _, err = run("learn", log, "--staff", "labels.csv", *words)
    assert (code, message in " ".join(err.split())) == (2, True), err


def test_unknown_teams_of_today_are_teams(run, log, tmp_path):
    (tmp_path / "now.csv").write_text("agent,team\nAda,x\nBo,Marketing\n", "utf-8")
    code, _, err = run("learn", log, "--today", "now.csv")
    assert (code, "unknown team in today's table for Bo 'Marketing'; known are: x, y" in " ".join(err.split())) == (
        2,
        True,
    )


def test_only_near_names_of_files_are_guessed(run, log):
    assert "did you mean" not in run("learn", log, "--today", "nope.csv")[2]
    assert "did you mean now.csv?" in " ".join(run("learn", log, "--today", "noww.csv")[2].split())


def test_numbers_are_asked_for_in_plain_words(run, log):
    code, _, err = run("coverage", log, "--strategy", "now.csv", "--collect", "many")
    assert (code, "'--collect': expected a whole number, such as 3" in " ".join(err.split())) == (2, True)


def test_a_rules_file_that_does_not_say_what_it_is(run, log, tmp_path):
    (tmp_path / "rules.json").write_text('{"team_size": {"*": {"min": 2, "max": 4}}}', "utf-8")
    code, _, err = run("learn", log, "--rules", "rules.json")
    assert (
        code,
        'rules.json: it does not say what it is: add "format": "coterie.rules/1"' in " ".join(err.split()),
    ) == (2, True)


def test_more_people_together_than_a_team_holds(run, log):
    """One thing is wrong, and one thing is told, not a rule for each of the pairs."""
    code, _, err = run("learn", log, "--team-size", "2:3", "--together", "Ada,Bo,Cy,Dov")
    assert code == 2
    assert " ".join(err.split()) == (
        "error: no assignment keeps all rules: Ada, Bo, Cy and Dov are to be together, 4 people, and a team has at "
        "most 3"
    )


@pytest.mark.parametrize("command", ["learn", "compare"])
def test_a_table_of_today_may_have_the_words_of_the_log(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text("\n".join(["Runde,Ort,Bearbeiter,partner,utility", *ROWS, ""]), "utf-8")
    rows = ["1,Ada,x,2020", "2,Bo,x,2020", "3,Cy,x,2020", "4,Dov,y,2021", "5,Eli,y,2020", "6,Quinn,y,2022"]
    places = "\n".join(["Id,Bearbeiter,Ort,Seit", *rows, ""])
    (tmp_path / "now.csv").write_text(places, "utf-8")
    columns = ["--columns", "sample=Runde,coalition=Ort,agent=Bearbeiter"]
    words = ["--today", "now.csv", "--json"] if command == "learn" else ["now.csv", "now.csv", "--json"]
    code, out, err = run(command, "pairs.csv", *columns, *words)
    assert code == 0, err
    assert '"Quinn": [' in out


def test_names_that_hold_commas_are_listed_in_one_way(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"Ada": '"Lee, Ada"', "Bo": '"Roy, Bo"', "Cy": "Cy"}
    rows = [",".join(names.get(cell, cell) for cell in row.split(",")) for row in ROWS]
    (tmp_path / "pairs.csv").write_text("\n".join(["sample,coalition,agent,partner,utility", *rows, ""]), "utf-8")
    learn = ["learn", "pairs.csv", "--team-size", "3", "--out", "result.json"]
    for words in (learn, ["coverage", "pairs.csv", "--strategy", "result.json", "--collect", "2"]):
        code, out, err = run(*words)
        assert code == 0, err
        told = " ".join(out.split())
        assert "Lee, Ada; " in told or "; Lee, Ada" in told
        assert "Lee, Ada, " not in told


# --- The words of the log -------------------------------------------------------------------------------------


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A log whose columns nobody could guess, and people in a table of the same words."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "log"
    folder.mkdir()
    rows = [line.replace(",", ";") for line in ROWS]
    (folder / "pairs.csv").write_text("\n".join(["Kdy;Kde;Kdo;S kým;Jak", *rows, ""]), "utf-8")
    columns = {"sample": "Kdy", "coalition": "Kde", "agent": "Kdo", "partner": "S kým", "utility": "Jak"}
    (folder / "log.json").write_text(json.dumps({"format": "coterie.log/1", "columns": columns}), "utf-8")
    (tmp_path / "plan.csv").write_text("Kdo;Kde;Odkud\nAda;x;A\nBo;x;B\nCy;x;A\nDov;y;A\nEli;y;B\nQuinn;y;B\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "learn LOG --staff plan.csv --today plan.csv --quiet",
        "certify LOG plan.csv --staff plan.csv --quiet",
        "compare LOG plan.csv plan.csv --staff plan.csv",
        "what-if LOG plan.csv 'swap Ada, Dov' --staff plan.csv",
        "coverage LOG --strategy plan.csv --staff plan.csv --today plan.csv",
        "coverage LOG --strategy plan.csv --collect 2",
    ],
)
def test_every_command_takes_tables_of_people_in_the_words_of_the_log(run, foreign, words):
    code, _, messages = run(*(foreign if word == "LOG" else word for word in shlex.split(words)))
    assert code == 0, messages


def test_python_takes_them_too(foreign):
    log = coterie.read_log(foreign)
    assert coverage(log, "plan.csv").to_json() == coverage(foreign, "plan.csv").to_json()
    assert what_to_collect(foreign, "plan.csv", 2).plan is not None
    assert coterie.certify(log, "plan.csv").strategy.members()["y"] == ["Dov", "Eli", "Quinn"]


def test_all_of_the_staff_who_look_like_somebody_are_told_at_once(log, run, tmp_path):
    (tmp_path / "staff.csv").write_text("agent\nAda\nBo\nCy\nDov (remote)\nElli\nQuin\n", "utf-8")
    code, _, told = run("learn", log, "--staff", "staff.csv")
    assert code == 2
    told = " ".join(told.split())
    assert "the staff has 3 problems" in told
    for new, old in (("Dov (remote)", "Dov"), ("Elli", "Eli"), ("Quin", "Quinn")):
        assert f"'{new}' is not in the log, and '{old}' of the log is not on the staff" in told


def test_two_newcomers_who_differ_in_accents(log, run, tmp_path):
    (tmp_path / "staff.csv").write_text("agent\nAda\nBo\nCy\nDov\nEli\nQuinn\nJosé\nJose\n", "utf-8")
    code, _, told = run("learn", log, "--staff", "staff.csv")
    assert code == 2
    assert "if they are two people, tell them apart, such as by 'Jose (new)'" in " ".join(told.split())


def test_staff_without_accents_is_known(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [row.replace("Dov", "Björn Åkesson") for row in ROWS]
    (tmp_path / "pairs.csv").write_text("\n".join(["sample,coalition,agent,partner,utility", *rows, ""]), "utf-8")
    (tmp_path / "staff.csv").write_text("agent\nAda\nBo\nCy\nBjorn Akesson\nEli\nQuinn\n", "utf-8")
    code, out, told = run("learn", "pairs.csv", "--staff", "staff.csv", "--out", "r.json", "--details")
    assert code == 0, told
    assert "'Bjorn Akesson' is 'Björn Åkesson'" in " ".join(out.split())
    for name in ("bjorn", "Bjorn Akesson"):
        assert run("learn", "pairs.csv", "--staff", "staff.csv", "--explain", name)[1].startswith("Björn Åkesson")
    assert "Björn Åkesson" in run("report", "r.json", "--explain", "Bjorn")[1]
    code, _, told = run("report", "r.json", "--explain", "Bjron")
    assert code == 2
    assert "did you mean 'Björn Åkesson'?" in " ".join(told.split())


def test_what_would_make_all_of_it_wrong_comes_first(run, tmp_path):
    """Worst teams were recommended, and that they might be stood below everything."""
    rows = [f"{t},T{i % 2},{a},{(3 * t + 5 * i) % 7 + 20}" for t in range(12) for i, a in enumerate("abcdef")]
    (tmp_path / "table.csv").write_text("\n".join(["Day,Table,Name,Waiting minutes", *rows]))
    assert run("start", tmp_path / "table.csv", "--yes", "--out", tmp_path / "log")[0] == 0
    page = tmp_path / "page.html"
    code, shown, _ = run("learn", tmp_path / "log", "--team-size", 3, "--out", tmp_path / "r.json", "--report", page)
    first = " ".join(shown.split("\n\n")[0].split())
    assert code == 0
    assert first.startswith("Before you read on: more is taken to be better, but less may be in the column ")
    assert first.endswith("--lower-is-better says so. If less is better, these are the worst teams.")
    assert shown.count("more is taken to be better") == 1
    caution = page.read_text(encoding="utf-8").partition('<div class="caution"')[2].partition("</div>")[0]
    assert "these are the worst teams" in caution
    assert "--lower-is-better" not in caution
    assert "Before you read on" not in run("learn", tmp_path / "log", "--team-size", 3, "--lower-is-better")[1]
