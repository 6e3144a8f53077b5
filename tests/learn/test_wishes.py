"""What is wanted of teams, in the names of a log."""

import numpy as np
import pyarrow as pa
import pytest
import xlsxwriter

import coterie
from coterie import Strategy
from coterie.learn.amounts import what_neutral_is
from coterie.learn.result import Data
from coterie.learn.wishes import wishes_about

PEOPLE = ("Ann Lee", "Anna Poe", "Bo Ray", "Cy Fox")


@pytest.fixture
def statistics():
    pairs = [(str(t), "X", one, two, 0.5) for t in range(3) for i, one in enumerate(PEOPLE) for two in PEOPLE[:i]]
    names = ("sample", "coalition", "agent", "partner", "utility")
    frame = pa.table({name: [row[t] for row in pairs] for t, name in enumerate(names)})
    return coterie.Statistics.of(coterie.Log.from_frames(pairs=frame))


def test_beginnings_of_names_are_enough_to_be_together_or_apart(statistics):
    _, wishes = wishes_about(statistics, rules=coterie.Rules(together=["Ann,bo"], apart=["Anna,Cy"]))
    assert wishes.rules.together[0].agents == ("Ann Lee", "Bo Ray")
    assert wishes.rules.apart[0].agents == ("Anna Poe", "Cy Fox")
    for rules in (coterie.Rules(apart=["An,Cy"]), coterie.Rules(fix=["An=X"])):
        with pytest.raises(coterie.InputError, match="'An', who could be Ann Lee, Anna Poe; give the whole name"):
            wishes_about(statistics, rules=rules)
    _, wishes = wishes_about(statistics, rules=coterie.Rules(fix=["bo=X"], ban=["Anna=X"]))
    assert (list(wishes.rules.fix), list(wishes.rules.ban)) == (["Bo Ray"], ["Anna Poe"])
    with pytest.raises(coterie.InputError, match="unknown person in apart 'Zed'"):
        wishes_about(statistics, rules=coterie.Rules(apart=["Zed,Cy"]))


def test_it_is_said_which_sheet_today_was_read_from(statistics, tmp_path):
    with xlsxwriter.Workbook(tmp_path / "today.xlsx") as book:
        book.add_worksheet("Notes").write_row(0, 0, ["Remark"])
        sheet = book.add_worksheet("Now")
        for place, row in enumerate([("Name", "Team"), *((name, "X") for name in PEOPLE)]):
            sheet.write_row(place, 0, row)
    _, wishes = wishes_about(statistics, today=tmp_path / "today.xlsx")
    assert any("was read from the sheet 'Now' of " in note for note in wishes.notes)


def test_a_neutral_point_that_is_the_average_is_called_so():
    from types import SimpleNamespace

    def told(neutral, average, *, alone=True):
        sets = np.ones((3, 1), dtype=bool)
        sets[0] = not alone
        strategy = Strategy.pure(sets, ("Ada", "Bo", "Cy"), ("x",))
        data = Data("semi-bandit", True, "ignore", "pairs", (1.0, 5.0), 10, "", neutral=neutral, average=average)
        rules = SimpleNamespace(staff=None)
        return what_neutral_is(SimpleNamespace(data=data, strategy=strategy, options=(), value="average", rules=rules))

    assert told(2.98, 2.984) == "2.98 is the average of the table"
    assert told(3.0, 3.001) == "3 is as good as being alone"  # the middle of the scale
    assert told(2.5, 3.4) == "2.5 is as good as being alone"
    assert told(3.0, 3.4, alone=False) == "3 is the middle of the scale"
    assert told(2.5, 3.4, alone=False) == "2.5 is as good as being alone"


def test_names_that_hold_commas_are_whole_in_rules():
    people = ["Lee, Ann", "Lee, Bo", "Poe, Cy", "Ray"]
    pairs = [(str(t), "X", one, two, 0.5) for t in range(3) for i, one in enumerate(people) for two in people[:i]]
    names = ("sample", "coalition", "agent", "partner", "utility")
    frame = pa.table({name: [row[t] for row in pairs] for t, name in enumerate(names)})
    statistics = coterie.Statistics.of(coterie.Log.from_frames(pairs=frame))
    rules = coterie.Rules(apart=["Lee, Ann,poe, Cy"], together=["Lee,Bo,Ray", "Poe,Ray"])
    _, wishes = wishes_about(statistics, rules=rules)
    assert wishes.rules.apart[0].agents == ("Lee, Ann", "Poe, Cy")
    assert [one.agents for one in wishes.rules.together] == [("Lee, Bo", "Ray"), ("Poe, Cy", "Ray")]
    with pytest.raises(coterie.InputError, match="expected at least two people, got Lee, Ann"):
        wishes_about(statistics, rules=coterie.Rules(apart=["Lee, Ann"]))


def book_of(path, **sheets):
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    return path


def test_a_sheet_that_is_called_today_is_taken_whatever_it_holds_besides(statistics, tmp_path):
    staff = [("Name", "Team"), *((name, "Y") for name in PEOPLE)]
    now = [("Name", "Team", "Since"), *((name, "X", 2019) for name in PEOPLE)]
    path = book_of(tmp_path / "firm.xlsx", Staff=staff, Today=now)
    _, wishes = wishes_about(statistics, today=path)
    assert any("was read from the sheet 'Today' of " in note for note in wishes.notes)


def test_a_list_of_the_staff_is_taken_from_the_sheet_that_is_called_so(tmp_path):
    everybody = [("Name", "Office"), *((name, 1) for name in PEOPLE)]
    path = book_of(tmp_path / "firm.xlsx", Guests=[("Name", "Office"), ("Zed", "Ulm")], Staff=everybody)
    assert coterie.game.rules.read_staff(path).staff == PEOPLE


def pooled(people=PEOPLE):
    pairs = [(str(t), "1", one, two, 0.5) for t in range(3) for i, one in enumerate(people) for two in people[:i]]
    names = ("sample", "coalition", "agent", "partner", "utility")
    frame = pa.table({name: [row[t] for row in pairs] for t, name in enumerate(names)})
    log = coterie.Log.from_frames(pairs=frame, pool_coalitions=True, coalitions=2, actions="any")
    return coterie.Statistics.of(log)


def test_more_teams_today_than_there_may_be_are_a_slip_or_another_table():
    today = dict(zip(PEOPLE, (["Mur"], ["Mur"], ["Murr"], ["Porte"]), strict=True))
    refused = (
        "today there are 3 teams, and no more than 2 may be formed: coalitions=3; or is 'Murr', where one person is, "
    )
    with pytest.raises(coterie.InputError, match=f"^{refused}'Mur'[?]$"):
        wishes_about(pooled(), today=today)
    today = dict(zip(PEOPLE, (["A", "B"], ["C"], ["D"], ["E"]), strict=True))
    with pytest.raises(
        coterie.InputError, match="may be formed: it should say who is where now, a row for each person"
    ):
        wishes_about(pooled(), today=today)


def test_whoever_is_in_several_teams_today_is_told_where_hardly_anybody_is():
    people = [f"P{name}" for name in "abcdefghijkl"]
    today = {name: ["Mur" if place % 2 else "Porte"] for place, name in enumerate(people)}
    _, wishes = wishes_about(pooled(people), today=today | {"Pa": ["Porte", "Mur"]})
    assert "in several of today's teams at once, which may be a slip: Pa (Porte, Mur)" in wishes.notes
    for usual in (today, today | {name: ["Porte", "Mur"] for name in people[:2]}):
        _, wishes = wishes_about(pooled(people), today=usual)
        assert not any("several" in note for note in wishes.notes)


def test_teams_listed_in_cells_of_any_column_are_people_of_the_log(statistics, tmp_path):
    (tmp_path / "today.csv").write_text('Shift,Who\nX,"Ann Lee, Anna Poe, Bo Ray, Zed"\nX,Cy Fox\n', encoding="utf-8")
    with pytest.raises(coterie.InputError, match=r"^.*the log does not know: 'Zed'; whoever is new is named by staff"):
        wishes_about(statistics, today=tmp_path / "today.csv")
    rules = coterie.game.rules.read_staff(tmp_path / "today.csv", known=statistics.agents)
    _, wishes = wishes_about(statistics, today=tmp_path / "today.csv", rules=rules)
    assert wishes.today.members() == {"X": [*PEOPLE, "Zed"]}


def test_names_of_interchangeable_teams_are_those_of_today():
    rules = coterie.Rules(fix=["Bo=Red bib"])
    refused = "a rule names the team 'Red bib': teams are interchangeable here, so no name means one of them; "
    with pytest.raises(coterie.InputError, match=f"^{refused}with today, the names that they have there can be used$"):
        wishes_about(pooled(), rules=rules)
    today = dict(zip(PEOPLE, (["Blue"], ["Blue"], ["Green"], ["Green"]), strict=True))
    with pytest.raises(coterie.InputError, match=f"^{refused}today they are called Blue, Green$"):
        wishes_about(pooled(), rules=rules, today=today)
    today = dict(zip(PEOPLE, (["Blue"], ["Blue"], ["Red bibs"], ["Red bibs"]), strict=True))
    with pytest.raises(coterie.InputError, match=f"^{refused}did you mean 'Red bibs', as in today's table[?]$"):
        wishes_about(pooled(), rules=rules, today=today)
    assert wishes_about(pooled(), rules=coterie.Rules(fix=["Bo=Blue"]), today=today) is not None
