"""`coterie compare` and `coterie what-if`."""

import json
import re

import numpy as np
import pytest
import xlsxwriter

import coterie
from coterie.simulate import Simulation

BEFORE = {"p1": "c1", "p2": "c1", "p3": "c2", "p4": "c2"}


def table(path, teams):
    path.write_text("agent,coalition\n" + "".join(f"{agent},{room}\n" for agent, room in teams.items()))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    source = Simulation.draw(4, 3, np.random.default_rng(5), actions_per_agent=4)
    source.write_log(folder / "log", 500)
    source.write_log(folder / "totals", 500, feedback="bandit")
    table(folder / "today.csv", BEFORE)
    table(folder / "other.csv", BEFORE | {"p2": "c2", "p3": "c1"})
    (folder / "staff.csv").write_text("agent,site\np1,Paris\np2,Rome\np3,Paris\nnew,Rome\n")
    return folder


def said(text):
    return " ".join(text.split())


def test_compare_for_people(run, files):
    code, shown, problems = run("compare", files / "log", files / "today.csv", files / "other.csv")
    assert (code, problems) == (0, "")
    found = coterie.compare(files / "log", files / "today.csv", files / "other.csv")
    assert said(shown).startswith(found.sentence())
    for part in (
        found.meaning(),
        found.stable(),
        "What both are worth (per person, over all teammates; mean of 4 people)",
        "Who gains, who loses",
    ):
        assert part in said(shown)
    assert f"A is {files / 'today.csv'}, B is {files / 'other.csv'}." in said(shown)
    people = [line.split()[0] for line in shown.splitlines() if line.startswith("  p")][-4:]
    order = ("loses", "gains", "unclear", "same")
    wanted = sorted(found.people, key=lambda one: (order.index(one.verdict), -abs(one.change.expected)))
    assert [person for person in people if person != "person"] == [one.agent for one in wanted][-len(people) :]


@pytest.mark.parametrize("log", ["log", "totals"])
def test_json_is_what_python_returns(run, files, log):
    words = [files / log, files / "today.csv"]
    code, shown, _ = run("compare", *words, files / "other.csv", "--json", "--value", "average", "--delta", 0.05)
    content = json.loads(shown)
    found = coterie.compare(files / log, files / "today.csv", files / "other.csv", value="average", delta=0.05)
    assert code == 0
    assert content == json.loads(json.dumps(found.to_json()))
    code, shown, _ = run("what-if", *words, "swap p2, p3", "--json", "--value", "average", "--delta", 0.05)
    asked = json.loads(shown)
    assert code == 0
    assert asked["difference"] == content["difference"]
    assert [side["label"] for side in asked["assignments"]] == ["before", "after"]


def test_rules_and_staff_are_options(run, files):
    words = ["compare", files / "log", files / "today.csv", files / "other.csv", "--json"]
    content = json.loads(run(*words, "--team-size", "2:3", "--max-moves", 1, "--apart", "p1,p3")[1])
    assert content["stability"] == "swap"
    assert content["assignments"][0]["violations"] == ["team size of c3: 2 to 3"]
    assert content["assignments"][1]["violations"][1:] == ["p1 and p3 apart", "at most 1 person moves (it is 2)"]
    content = json.loads(run(*words, "--staff", files / "staff.csv", "--team-size", "any")[1])
    assert content["left_out"] == ["p4"]
    assert content["counted"] == 4
    shown = run(*words[:-1], "--staff", files / "staff.csv", "--team-size", "any")[1]
    assert "mean of 4 people" in said(shown)
    rows = shown.partition("Who gains, who loses")[2].partition("Warnings")[0].splitlines()[2:]
    unchanged = [int(row.split()[0]) for row in rows if "nothing changes" in row]
    changed = [row for row in rows if row.strip() and "nothing changes" not in row and "not counted" not in row]
    assert len(changed) + sum(unchanged) == 4
    content = json.loads(run(*words, "--fresh", "--stability", "individual", "--keep-sizes", "--seed", 3)[1])
    assert content["fresh"]
    assert content["stability"] == "individual"
    shown = said(run(*words[:-1], "--team-size", "2:3")[1])
    assert shown.startswith("A breaks rules: team size of c3: 2 to 3. B breaks rules: team size of c3: 2 to 3. ")


def test_what_if_for_people(run, files):
    code, shown, _ = run("what-if", files / "log", files / "today.csv", "p4: +c1", "p1: nothing")
    assert code == 0
    assert said(shown).startswith(("After is", "Before is", "No clear difference: "))
    assert "2 people change something" in said(shown)
    assert "c1, c2" in shown
    code, shown, _ = run("what-if", files / "log", files / "today.csv", "p4: c2")
    assert said(shown).startswith("Before and after are the same.")
    assert "4 people: nothing changes" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["what-if", "today.csv", "p9: c1"], "unknown person 'p9'"),
        (["what-if", "today.csv", "p1: c7"], "unknown team 'c7'"),
        (["what-if", "today.csv", "p1 to c1"], 'expected "Ada: Finance"'),
        (["what-if", "today.csv"], "Missing argument"),
        (["compare", "today.csv"], "Missing argument"),
        (["compare", "today.csv", "none.csv"], "none.csv"),
        (["compare", "today.csv", "staff.csv"], "staff.csv: "),
        (["compare", "today.csv", "other.csv", "--delta", "2"], "--delta: expected a number between 0 and 1"),
        (["compare", "today.csv", "other.csv", "--apart", "p1,p9"], "p9"),
        (["compare", "today.csv", "other.csv", "--fresh", "--adaptive"], "adaptive"),
    ],
)
def test_bad_input_is_refused_in_one_message(run, files, words, message):
    command, *rest = words
    given = [files / word if word.endswith(".csv") else word for word in rest]
    code, shown, problems = run(command, files / "log", *given)
    assert code == 2
    assert shown == ""
    assert message in said(problems)
    assert problems.count("error:") == 1


def test_help_tells_how_to_write_names(run):
    code, shown, _ = run("what-if", "--help")
    assert code == 0
    assert "quotation marks" in said(shown.replace("│", " "))


def test_limits_are_left_out_where_nothing_is_sure(run, files, tmp_path):
    source = Simulation.draw(4, 3, np.random.default_rng(5), actions_per_agent=4)
    source.write_log(tmp_path / "log", 6)
    words = (tmp_path / "log", files / "today.csv")
    for command in (("compare", *words, files / "other.csv"), ("what-if", *words, "swap p2, p3")):
        code, shown, _ = run(*command)
        assert code == 0
        assert re.search("there are too few data to prove (anything|that, or anything else)", said(shown))
        assert not {"at least", "at most", "surely", "confidence"} & set(said(shown).split(" Warnings ")[0].split())
        assert "at least" not in said(shown).split(" Warnings ")[0]


def test_whoever_came_since_is_in_no_table_of_today(run, files, tmp_path):
    """As in `learn --today`: people on the staff who are missing there are in no team, and that is said."""
    here = table(tmp_path / "today.csv", {"p1": "c1", "p2": "c1"})
    staff = ["--staff", files / "staff.csv"]
    code, shown, problems = run("compare", files / "log", here, files / "other.csv", *staff, "--unit", "stars")
    assert (code, problems) == (0, "")
    assert "in A these people are nowhere: p3, new" in said(shown)
    assert "stars per person" in said(shown)
    code, shown, _ = run("what-if", files / "log", here, "p3: c2", *staff, "--unit", "stars")
    assert code == 0
    assert "Who gains, who loses, in stars" in shown
    code, _, problems = run("certify", files / "log", here, *staff)
    assert code == 2
    assert "'p3' has no action; they are on the staff: give them a row, with an empty team" in said(problems)


POOLED = ("--pool-coalitions", "--coalitions", "2", "--actions", "one")
TABLES = {"p1": "Tisch 4", "p2": "Tisch 4", "p3": "Tisch 10", "p4": "Tisch 10"}
NUMBERS = {"Tisch 4": "1", "Tisch 10": "2"}


@pytest.mark.parametrize(
    ("words", "same", "whose"),
    [
        (["learn", "log", "--today", "TABLE", "--keep-sizes"], [], "today"),
        (["certify", "log", "TABLE"], [], "the assignment"),
        (["what-if", "log", "TABLE"], ["swap p1, p3"], "the assignment"),
        (["compare", "log", "TABLE", "numbers.csv"], [], "A"),
        (["compare", "log", "numbers.csv", "TABLE"], [], "B"),
    ],
)
def test_interchangeable_teams_may_have_names_of_their_own(run, files, tmp_path, words, same, whose):
    """What is written is what is written of the numbers, but for the names; more names than teams are refused."""
    numbers = table(tmp_path / "numbers.csv", {agent: NUMBERS[room] for agent, room in TABLES.items()})
    named = table(tmp_path / "named.csv", TABLES)
    more = table(tmp_path / "more.csv", TABLES | {"p1": "Tisch 5"})
    places = {"log": files / "log", "numbers.csv": numbers}

    def told(path):
        return run(*((places | {"TABLE": path}).get(word, word) for word in words), *same, *POOLED, "--json")

    code, shown, _ = told(named)
    assert code == 0
    found, wanted = (json.loads(text) for text in (shown, told(numbers)[1]))
    assert found.pop("team_names") == {number: name for name, number in NUMBERS.items()}
    for one in (found, wanted):
        one.get("solver", {}).pop("seconds", None)
    assert found == wanted
    code, _, problems = told(more)
    assert code == 2
    when = whose if whose == "today" else f"in {whose}"
    assert f"{when} there are 3 teams, and no more than 2 may be formed: --coalitions 3" in said(problems)


def test_changes_name_teams_as_the_table_does(run, files, tmp_path):
    named = table(tmp_path / "named.csv", TABLES)
    outputs = [
        run("what-if", files / "log", named, change, *POOLED, "--json")
        for change in ("p1: Tisch 10", "p1: tisch 10", "p1: 2", "p1: nothing")
    ]
    assert [code for code, *_ in outputs] == [0] * 4
    by_name, spelled, by_number, other = (shown for _, shown, _ in outputs)
    assert by_name == spelled == by_number != other
    code, _, problems = run("what-if", files / "log", named, "p1: Tisch", *POOLED)
    assert code == 2
    assert "unknown team 'Tisch'; do you mean Tisch 4 or Tisch 10?" in said(problems)


def test_which_sheet_was_read_is_said(run, files, tmp_path):
    book = tmp_path / "firm.xlsx"
    with xlsxwriter.Workbook(book) as made:
        made.add_worksheet("Notes").write_row(0, 0, ["what", "when"])
        today = made.add_worksheet("Teams")
        today.write_row(0, 0, ["agent", "coalition"])
        for row, pair in enumerate(BEFORE.items(), 1):
            today.write_row(row, 0, pair)
    for words in (
        ["compare", files / "log", files / "other.csv", book],
        ["what-if", files / "log", book, "p1: c2"],
        ["certify", files / "log", book],
    ):
        code, _, problems = run(*words)
        assert code == 0
        assert said(problems).count(f"Who is where was read from the sheet 'Teams' of {book}.") == 1
    assert run("certify", files / "log", book, "--quiet")[2] == ""


def test_few_warnings_are_shown_those_about_the_change_before_those_about_the_table(run, tmp_path):
    rows = [f"{t},x,{a},{b},{t % 5 + 1}" for t in range(1, 9) for a in "abc" for b in "abc" if a != b]
    table = "sample,coalition,agent,partner,utility\n"
    (tmp_path / "pairs.csv").write_text(table + "\n".join([*rows, "9,x,a,b,n/a", "9,y,d,e,3", "9,y,e,d,4"]))
    (tmp_path / "log.json").write_text(
        '{"utility_range": [1, 5], "neutral": 3, "value": "average", "symmetric": false}'
    )
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("agent,coalition\na,x\nb,x\nc,x\nd,y\ne,y\n")
    two.write_text("agent,coalition\na,x\nb,x\nc,x\nd,x\ne,x\n")
    words = ["compare", tmp_path, one, two]
    every = json.loads(run(*words, "--json")[1])["warnings"]
    assert len(every) > 2
    assert every[0].startswith("B: team x would have 5 members, more than ever seen (3)")
    shown = said(run(*words)[1])
    assert f"Warnings (2 of {len(every)}) - {every[0]} - {every[1]} --details prints {len(every) - 2} more" in shown
    detailed = said(run(*words, "--details")[1])
    assert detailed.endswith(" Warnings - " + " - ".join(every))
