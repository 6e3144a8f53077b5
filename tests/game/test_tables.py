"""Small tables of who is where, and names that one cell lists."""

import numpy as np
import pytest
import xlsxwriter

from coterie import InputError, Rules, read_strategy
from coterie.game.rules import read_staff
from coterie.game.strategy import read_strategy_content
from coterie.game.tables import SEPARATORS, likely_separators, names_listed, sheet_among_others

PEOPLE = ["Ada", "Bo", "Cleo", "Andy", "Rand", "Etta", "Yves", "Gundula"]
"""Some of these hold words that could part names."""


def workbook(path, sheets):
    book = xlsxwriter.Workbook(path)
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    book.close()
    return path


# --- Names in a cell ------------------------------------------------------------------------------------------


def teams(rng, count):
    return [[PEOPLE[i] for i in rng.choice(len(PEOPLE), rng.integers(1, 5), replace=False)] for _ in range(count)]


@pytest.mark.parametrize("sign", SEPARATORS)
def test_every_sign_is_found_by_the_names_that_come_back(sign):
    listed = teams(np.random.default_rng(SEPARATORS.index(sign)), 30)
    between = "\n" if sign == "newline" else f" {sign} "
    found = likely_separators([between.join(team) for team in listed])
    assert found.signs == (sign,)
    assert (found.names, found.again) == (8, 8)
    assert [names_listed(between.join(team), found.signs) for team in listed] == listed


def test_signs_that_are_mixed_are_all_found():
    listed = teams(np.random.default_rng(1), 60)
    ways = [", ".join, " & ".join, "/".join, lambda team: ", and ".join([", ".join(team[:-1]), team[-1]])]
    cells = [ways[place % 4](team) if len(team) > 1 else team[0] for place, team in enumerate(listed)]
    found = likely_separators(cells)
    assert set(found.signs) == {",", "&", "/", "and"}
    assert [names_listed(cell, found.signs) for cell in cells] == listed


def test_signs_within_names_part_nothing():
    surnames = [f"{name}son, {name}" for name in PEOPLE]
    rng = np.random.default_rng(2)
    cells = ["; ".join(surnames[i] for i in rng.choice(8, 3, replace=False)) for _ in range(30)]
    assert likely_separators(cells).signs == (";",)
    assert likely_separators([*PEOPLE, "R&D", "AC/DC"]).signs == ()


def test_where_nobody_comes_back_it_is_what_most_cells_have():
    found = likely_separators(["Ada & Bo", "Cleo & Andy", "Etta"])
    assert (found.signs, found.names, found.again) == (("&",), 5, 0)


# --- Who is where ---------------------------------------------------------------------------------------------

NAMES = (("Ada", "Bo", "Cy"), ("Law", "Sea"))
PLACES = {"Ada": ["Law"], "Bo": ["Law", "Sea"], "Cy": []}


@pytest.mark.parametrize(
    "rows",
    [
        [["agent", "coalition"], ["Ada", "Law"], ["Bo", "Law"], ["Bo", "Sea"], ["Cy", ""]],
        [["as of May"], [], ["Area", "Person"], ["Law", "Ada"], ["Law", "Bo"], [], ["Sea", "Bo"], ["", "Cy"]],
        [["Employee no", "Name", "Team name", "Note"], [1, "Ada", "Law", "x"], [2, "Bo", "Law"], [2, "Bo", "Sea"],
         [3, "Cy"]],
        [["Name", "Where"], ["Ada", "Law"], ["Bo", "Law"], ["Bo", "Sea"], ["Cy"]],
        [["Team", "Members"], ["Law", "Ada & Bo"], ["Sea", "Bo"], ["", "Cy"]],
    ],
)  # fmt: skip
def test_who_is_where_in_a_spreadsheet(tmp_path, rows):
    path = workbook(tmp_path / "today.xlsx", {"Read me": [["some words"]], "Now": rows, "Empty": []})
    assert read_strategy(path, *NAMES).actions == PLACES


def test_who_is_where_as_excel_saves_it(tmp_path):
    (tmp_path / "today.csv").write_bytes("sep=;\r\nName;Team\r\nJörg;Büro\r\n".encode("cp1252"))
    assert read_strategy(tmp_path / "today.csv", ["Jörg"], ["Büro"]).actions == {"Jörg": ["Büro"]}


@pytest.mark.parametrize("title", ["Teams of May\n", "Teams of May;;\n\n", '"Teams; of\tMay"\nby;HR\n'])
def test_titles_above_who_is_where(tmp_path, title):
    path = tmp_path / "today.csv"
    path.write_text(f"{title}Name;Team;Since\nAda;Sea;2020\nBo;Law;2021\n", encoding="utf-8")
    assert read_strategy(path, ["Ada", "Bo"], ["Law", "Sea"]).actions == {"Ada": ["Sea"], "Bo": ["Law"]}
    path.write_text(f"{title}Name;Team;Since\nAda;Sea;2020\nBo;Law\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"row {title.count(chr(10)) + 3}: expected 3 fields, got 2"):
        read_strategy(path, ["Ada", "Bo"], ["Law", "Sea"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["Ada", "Law"], ["Bo", "Law"]], "a header with a column for each of: one that says who, called agent"),
        ([["Ada", "Team Law"], ["Bo", "Team Sea"]], "expected a header with a column for each of"),
        ([["Name", "Team"], ["Ada", "Team"]], "the first row (Name, Team) seems to be no header; expected a header"),
        ([["x", "y", "z"], [1, 2, 3]], "called coalition (or team, group, area, ...); found: x, y, z"),
        ([["First name", "Last name", "Team"], ["Ada", "Roy", "Law"]], "'First name' and 'Last name' could each say"),
        ([["title"], ["Name", "Team"], ["", "Law"], ["Ada", "Law"], ["Ada", "Law"]],
         "has 2 problems:\n- row 3: the agent is empty\n- row 5: the same as an earlier row (Ada,Law)"),
        ([["Name", "Team"]], "expected at least one row below the header"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_refused(tmp_path, rows, message):
    path = workbook(tmp_path / "today.xlsx", {"Now": rows})
    with pytest.raises(InputError) as refused:
        read_strategy(path, *NAMES)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)


def test_staff_in_a_spreadsheet(tmp_path):
    rows = [["Name", "Office", "Team"], ["Ada", "Paris", "Law"], ["Bo"], []]
    rules = read_staff(workbook(tmp_path / "staff.xlsx", {"People": rows}))
    assert rules.staff == ("Ada", "Bo")
    assert rules.labels == {"Ada": {"Office": "Paris", "Team": "Law"}}


def test_bad_rows_of_staff_are_listed_up_to_ten(tmp_path):
    rows = [["Name", "Office"], ["Ada", "Paris"], *[["Ada", "Rome"]] * 12]
    with pytest.raises(InputError) as refused:
        read_staff(workbook(tmp_path / "staff.xlsx", {"People": rows}))
    told = str(refused.value).splitlines()
    assert told[0].endswith("has 12 problems:")
    assert told[1:] == [*(f"- row {row}: Ada was there before" for row in range(3, 13)), "- and 2 more problems"]


def test_rules_in_a_spreadsheet(tmp_path):
    rows = [["Rule", "Value", "Why"], ["team-size", "3:5"], ["Team size", "Law=4"], ["--apart", "Ada,Bo", "history"],
            ["max moves", 4], ["per_person", "1:2"]]  # fmt: skip
    rules = Rules.load(workbook(tmp_path / "rules.xlsx", {"Rules": rows}))
    expected = Rules(team_size=["3:5", "Law=4"], apart=["Ada,Bo"], max_moves=4, per_person="1:2")
    assert rules == expected
    bad = [["rule", "value"], ["team sighs", 3], ["apart", ""], ["max-moves", 1], ["max-moves", 2]]
    with pytest.raises(InputError) as refused:
        Rules.load(workbook(tmp_path / "bad.xlsx", {"Rules": bad}))
    assert "row 2: 'team sighs' is no rule; those are: team-size, together," in str(refused.value)
    assert "row 3: apart has no value" in str(refused.value)
    assert "row 5: max-moves was there before" in str(refused.value)
    with pytest.raises(InputError, match="one that says which rule it is, called rule"):
        Rules.load(workbook(tmp_path / "other.xlsx", {"Rules": [["a", "b", "c"], [1, 2, 3]]}))


def test_a_spreadsheet_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"today.xlsx: no such file"):
        read_strategy(tmp_path / "today.xlsx", ["a"], ["x"])


RATINGS = [["Week", "Name", "Team", "Points"], *([week, name, "x", 3] for week in range(5) for name in ("Ada", "Bo"))]
NOW = [["Name", "Team"], ["Ada", "x"], ["Bo", "y"]]


def test_the_sheet_that_suits_is_not_the_log(tmp_path):
    """Beside numbers, who and where are those of a log; a sheet may be named, and is told."""
    book = workbook(tmp_path / "firm.xlsx", {"Ratings": RATINGS, "Today": NOW})
    assert read_strategy(book, ["Ada", "Bo"], ["x", "y"]).actions == {"Ada": ["x"], "Bo": ["y"]}
    assert read_staff(book).staff == ("Ada", "Bo")
    assert sheet_among_others(f"{book}#today", ("agent",)) == (book, "Today")
    with pytest.raises(InputError, match=r"firm\.xlsx, sheet 'Ratings': seems to be the record of many rounds"):
        read_strategy(f"{book}#Ratings", ["Ada", "Bo"], ["x", "y"])
    with pytest.raises(InputError, match="has no sheet 'Tody'; there are: 1 'Ratings', 2 'Today'"):
        read_strategy(f"{book}#Tody", ["Ada", "Bo"], ["x", "y"])


def test_files_that_are_not_there_are_guessed(tmp_path):
    workbook(tmp_path / "today.xlsx", {"Today": NOW})
    (tmp_path / "today.csv").write_text("Name,Team\nAda,x\n")
    for name in ("today.xlsx", "today.csv"):
        with pytest.raises(InputError, match=f"did you mean .*{name}"):
            read_strategy(tmp_path / name.replace("ay", "ai"), ["Ada"], ["x"])


# --- The words of a log ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "who"),
    [
        ("Prénom;Îlot", "Prénom"),
        ("PRENOM;Ilot", "PRENOM"),
        ("Vorname;Gruppe", "Vorname"),
        ("Nombre;Equipo", "Nombre"),
        ("Élève;Équipe", "Élève"),
        ("Vorname;Name;Gruppe", "Name"),
        ("Nom;Prénom;Groupe", "Nom"),
    ],
)
def test_names_are_known_in_other_languages_and_without_accents(tmp_path, header, who):
    path = tmp_path / "today.csv"
    columns = header.split(";")
    path.write_text("\n".join([header, *(";".join(f"{name}{i}" for name in columns) for i in range(2))]))
    team = columns[-1]
    content = read_strategy_content(path)
    assert content == {"actions": {f"{who}{i}": [f"{team}{i}"] for i in range(2)}}


def test_tables_beside_a_log_may_have_its_words(tmp_path):
    called = {"agent": "Quién", "coalition": "Dónde"}
    path = tmp_path / "plan.csv"
    path.write_text("Quién;Dónde;Turno\nAda;A;mañana\nBo;B;tarde\n")
    assert read_staff(path, called).staff == ("Ada", "Bo")
    assert read_strategy(path, ["Ada", "Bo"], ["A", "B"], called).members() == {"A": ["Ada"], "B": ["Bo"]}
    with pytest.raises(InputError, match=r"called agent \(or who"):
        read_staff(path)
    with pytest.raises(InputError, match=r"called agent \(or Jméno, who"):
        read_staff(path, {"agent": "Jméno"})


def test_teams_may_be_listed_as_the_log_lists_them(tmp_path):
    called = {"members": "Wir waren", "coalition": "Wo"}
    path = tmp_path / "plan.csv"
    path.write_text('Wo;Wir waren\nA;"Ada, Bo"\nB;"Cy, Dee"\n')
    assert read_strategy_content(path, called) == {"actions": {"Ada": ["A"], "Bo": ["A"], "Cy": ["B"], "Dee": ["B"]}}


KNOWN = ["Aïcha", "Björn", "Chiara", "Dee", "Lee, Ann"]


@pytest.mark.parametrize("cell", ["Aïcha, Björn, Zed", "aicha & Björn and Zed", "Aïcha;Björn|Zed", "Aïcha/Björn/Zed"])
@pytest.mark.parametrize("header", ["Who", "Members", "Names"])
def test_a_cell_that_splits_into_known_names_lists_them(tmp_path, header, cell):
    path = workbook(tmp_path / "today.xlsx", {"Now": [["Shift", header], ["Early", cell], ["Late", "Dee"]]})
    found = read_strategy_content(path, known=KNOWN)["actions"]
    assert [where for _, where in found.items()] == [["Early"]] * 3 + [["Late"]]
    assert [name.casefold().replace("ï", "i") for name in found] == ["aicha", "björn", "zed", "dee"]
    assert read_staff(path, known=KNOWN).staff == tuple(found)


def test_names_that_hold_separators_stay_whole_where_they_are_known(tmp_path):
    rows = [["Team", "Members"], ["Law", "Lee, Ann & Dee"], ["Sea", "Lee, Ann"], ["Sea", "Björn"]]
    path = workbook(tmp_path / "today.xlsx", {"Now": rows})
    places = {"Lee, Ann": ["Law", "Sea"], "Dee": ["Law"], "Björn": ["Sea"]}
    assert read_strategy_content(path, known=KNOWN) == {"actions": places}


def test_the_staff_may_be_teams_with_their_members(tmp_path):
    rows = [["Team", "Site", "Members"], ["Law", "Ulm", "Ada & Bo"], ["Sea", "Ulm", "Bo & Cy"], ["Art", "Bonn", "Dee"]]
    rules = read_staff(workbook(tmp_path / "staff.xlsx", {"Now": rows}))
    assert rules.staff == ("Ada", "Bo", "Cy", "Dee")
    assert rules.labels["Ada"] == {"Team": "Law", "Site": "Ulm"}
    assert rules.labels["Bo"] == {"Site": "Ulm"}


@pytest.mark.parametrize(
    ("header", "called"),
    [
        (["Matchday", "Team", "Player 1", "Player 2", "Player 3"], {}),
        (["Matchday", "Team", "P1", "P2", "P3"], {}),
        (
            ["Matchday", "Team", "Home", "Guest", "Keeper"],
            dict(zip(("member 1", "member 2", "member 3"), ("home", "Guest", "Keeper"), strict=True)),
        ),
        (["Team", "Captain no 1", "Member#1", "Member#2", "Member#3"], {}),
    ],
)
def test_members_may_have_columns_of_their_own(tmp_path, header, called):
    rows = [["7", "Law", "Ada", "Bo", ""], ["7", "Sea", "Bo", " Cy", "Dee "]]
    if header[0] == "Team":
        rows = [[team, "x", *people] for _, team, *people in rows]
    path = tmp_path / "today.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n", encoding="utf-8")
    places = {"Ada": ["Law"], "Bo": ["Law", "Sea"], "Cy": ["Sea"], "Dee": ["Sea"]}
    assert read_strategy_content(path, called) == {"actions": places}
    book = workbook(tmp_path / "today.xlsx", {"Notes": [["Who"]], "Now": [header, *rows]})
    assert read_strategy_content(f"{book}#Now", called) == {"actions": places}
    rules = read_staff(path, called)
    assert (rules.staff, rules.labels["Dee"]["Team"]) == (tuple(places), "Sea")
    assert "Team" not in rules.labels["Bo"]


def test_columns_with_numbers_beside_people_are_no_members(tmp_path):
    path = tmp_path / "today.csv"
    path.write_text("Name,Team,Goals 1,Goals 2,Note 1,Note 2\nAda,Law,1,2,a,b\n", encoding="utf-8")
    assert read_strategy_content(path) == {"actions": {"Ada": ["Law"]}}


@pytest.mark.parametrize("teams", ["AB", "AA"])
@pytest.mark.parametrize(("called", "last"), [({"sample": "Matchday"}, "Matchday"), ({}, "round")])
def test_the_record_of_many_rounds_is_not_who_is_where_now(tmp_path, called, last, teams):
    rows = [f"{day},{name},{teams[(day + place) % 2]}" for day in range(9) for place, name in enumerate(PEOPLE)]
    path = tmp_path / "today.csv"
    path.write_text("\n".join(["Matchday,Who,Team", *rows]) + "\n", encoding="utf-8")
    refused = (
        r"seems to be the record of many rounds \(8 people, named 72 times\): expected who is where now, one row "
        f"for each person; keep the rows of the last {last} alone$"
    )
    with pytest.raises(InputError, match=refused):
        read_strategy_content(path, called)
    path.write_text("\n".join(["Matchday,Who,Team", *rows[-8:]]) + "\n", encoding="utf-8")
    assert len(read_strategy_content(path, called)["actions"]) == 8


def test_the_staff_may_be_in_many_teams_but_not_in_many_rounds(tmp_path):
    path = tmp_path / "staff.csv"
    path.write_text("Day,Members\n" + "".join(f"{day},Ada & Bo\n{day},Bo & Cy & Ada\n" for day in range(4)))
    assert read_staff(path).staff == ("Ada", "Bo", "Cy")
    with pytest.raises(InputError, match="does not look like a list of staff: 3 people in 8 rows"):
        read_staff(path, {"sample": "Day"})


def test_teams_that_are_samples_are_no_rounds(tmp_path):
    (tmp_path / "today.csv").write_text("Project,Who\nx,Ada\ny,Ada\nx,Bo\ny,Bo\n", encoding="utf-8")
    found = read_strategy_content(tmp_path / "today.csv", {"sample": "Project", "coalition": "Project"})
    assert found == {"actions": {"Ada": ["x", "y"], "Bo": ["x", "y"]}}
