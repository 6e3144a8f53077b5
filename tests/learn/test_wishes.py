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
