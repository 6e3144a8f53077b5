"""Teams as tables: what is written can be read again, and no cell is a formula."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.files import defused, is_formula, restored
from coterie.learn.result import Together
from coterie.learn.summary import assigned_people, guesses, listed_teams, people_rows, so_far
from coterie.report import teams_csv, write_teams_xlsx
from coterie.report.tables import about_rows, option_rows, shown_options
from coterie.words import alphabetical
from report_logs import LEAVER

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@given(st.text(alphabet="'=+-@\t\r\n aé\uff1d", max_size=6))
def test_whatever_is_defused_comes_back(name):
    assert restored(defused(name)) == name
    assert not defused(name).lstrip().startswith(("=", "+", "-", "@", "\uff1d"))
    assert not defused(name).startswith(("\t", "\r", "\n"))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "\u3000=1"])
def test_everything_that_a_spreadsheet_runs_is_defused(name):
    assert is_formula(name)
    assert defused(name) == f"'{name}"
    assert defused("Ada") == restored("Ada") == "Ada"


def test_a_table_of_teams_is_an_assignment(hostile, tmp_path):
    text = teams_csv(hostile.result)
    for row in csv.reader(io.StringIO(text, newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in row)
    path = tmp_path / "teams.csv"
    path.write_text(text, encoding="utf-8", newline="")
    strategy = hostile.result.strategy
    assert coterie.read_strategy(path, strategy.agents, strategy.coalitions) == strategy
    assert "today" in text.splitlines()[0]


def test_a_workbook_of_teams_is_an_assignment(hostile, tmp_path):
    write_teams_xlsx(hostile.result, tmp_path / "teams.xlsx")
    strategy = hostile.result.strategy
    assert coterie.read_strategy(tmp_path / "teams.xlsx", strategy.agents, strategy.coalitions) == strategy


def test_mixed_strategies_are_no_assignment(hostile, tmp_path):
    setting = hostile.statistics.setting
    shares = coterie.Strategy.uniform(setting.actions, setting.agents, setting.coalitions)
    mixed = coterie.certify(hostile.statistics, shares, noise="pairs")
    path = tmp_path / "teams.csv"
    path.write_text(teams_csv(mixed), encoding="utf-8", newline="")
    with pytest.raises(coterie.InputError, match="holds a mixed strategy"):
        coterie.read_strategy(path, mixed.strategy.agents, mixed.strategy.coalitions)
    write_teams_xlsx(mixed, tmp_path / "teams.xlsx")
    with pytest.raises(coterie.InputError, match="holds a mixed strategy"):
        coterie.read_strategy(tmp_path / "teams.xlsx", mixed.strategy.agents, mixed.strategy.coalitions)


def test_a_workbook_holds_names_as_text(hostile, tmp_path):
    path = tmp_path / "teams.xlsx"
    write_teams_xlsx(hostile.result, path)
    with zipfile.ZipFile(path) as book:
        sheets = [ET.fromstring(book.read(name)) for name in book.namelist() if "worksheets/sheet" in name]
        shared = ET.fromstring(book.read("xl/sharedStrings.xml"))
        styles = ET.fromstring(book.read("xl/styles.xml"))
    texts = ["".join(part.text or "" for part in one.iter(f"{SHEET}t")) for one in shared]
    assert not [cell for sheet in sheets for cell in sheet.iter(f"{SHEET}f")]
    formats = styles.find(f"{SHEET}cellXfs")
    marked = {texts[int(cell.find(f"{SHEET}v").text)]: formats[int(cell.get("s", 0))].get("quotePrefix")
              for sheet in sheets for cell in sheet.iter(f"{SHEET}c") if cell.get("t") == "s"}  # fmt: skip
    assert marked["=HYPERLINK(1)"] == marked["-Law"] == "1"
    assert "<script>alert(1)</script>" in texts
    assert any("confidence" in text for text in texts)


def test_where_nothing_is_certified_nothing_is_promised(few, hostile):
    """And no column says what the range says; who left has no row, but stays in what can be read again."""
    about = dict(about_rows(few.result))
    assert "promise" not in about
    assert "proof" not in about
    assert about["what is sure"].startswith("There are too few data to prove that nobody could get a better place")
    assert about["against today"].startswith("Against teams of the same sizes drawn by lot (")
    assert dict(about_rows(replace(few.result, by_lot=None)))["so far"].startswith("So far: ")
    assert "never seen together" in about["guesses"]
    assert "promise" in dict(about_rows(hostile.result))
    head, *rows = people_rows(few.result)
    assert [one for one in head if one != "known"] == ["person", "teams", "value", "best alternative", "change"]
    assert {len(row) for row in rows} == {len(head)}
    assert LEAVER not in [row[0] for row in rows]
    assert f"{LEAVER}," in teams_csv(few.result)
    assert people_rows(hostile.result)[0][-3:] == ["at least", "at most", "surely stays"]
    assert "surely at most" in option_rows(hostile.result)[0]
    first = few.result.options[0]
    for gap, label in ((first.gap, "the same teams"), (0.1 * first.gap, "surest")):  # one option may be certified
        both = replace(few.result, options=(first, replace(first, label="surest", gap=gap)))
        assert ("surely at most" in option_rows(both)[0]) == (label == "surest")
        assert option_rows(both)[-1][0] == label
        assert people_rows(both)[0] == head


@pytest.mark.parametrize(
    ("other", "shown"),
    [
        (0.101, ["+0.104", "+0.101"]),  # so that it is seen why
        (0.103999, ["+0.1", "+0.1"]),  # nobody would see it
        (0.09, ["+0.10", "+0.09"]),
    ],
)
def test_a_recommendation_never_looks_beaten_for_want_of_decimals(few, other, shown):
    first = replace(few.result.options[0], expected_value=0.104, expected_range=(-0.5, 0.5))
    rival = replace(first, label="fairest", expected_value=other, expected_least=first.expected_least + 1)
    rows = option_rows(replace(few.result, options=(first, rival)))
    assert [row[1] for row in rows[1:]] == shown


def test_options_that_look_beaten_are_left_out_but_today(few):
    """Another was shown that was worse in every column, for the sake of a column that was not."""
    first = replace(few.result.options[0], moves=6)
    worse = {"expected_value": first.expected_value - 1, "expected_least": first.expected_least - 1}
    hidden = replace(first, label="another", expected_gap=first.expected_gap - 1, **worse)
    today, twin = replace(first, label="today", **worse), replace(first, label="another")
    fewer = replace(first, label="another", moves=3, **worse)
    result = replace(few.result, options=(first, hidden, fewer, twin, today))
    assert shown_options(result) == [0, 2, 4]
    assert len(option_rows(result)) == 1 + 5
    assert [row[-1] for row in option_rows(result, details=False)] == ["moves", "6", "3", "6"]


def test_the_file_of_a_result_keeps_what_the_log_told(few):
    again = coterie.Result.from_json(json.loads(few.result.file_content()))
    assert again.together == few.result.together
    assert again.together.unseen == len(again.together.named) > 0
    assert again.data == few.result.data
    assert again.data.period == ("2026-01-05", "2026-01-19")
    older = few.result.to_json()
    del older["together"], older["data"]["average"], older["data"]["period"]
    assert so_far(coterie.Result.from_json(older)) == ""
    assert guesses(coterie.Result.from_json(older)) == ""


def test_guesses_are_worded_by_how_many_they_are(few):
    def worded(pairs, unseen, *, pooled=False):
        data = replace(few.result.data, pool_coalitions=pooled)
        named = (("Ana", "Ben", "Lab"),) * min(unseen, 2)
        return guesses(replace(few.result, together=Together(pairs, unseen, named), data=data))

    assert worded(9, 0) == ""
    assert worded(9, 1).startswith(
        "1 of the 9 pairs in these teams was never seen together there, namely Ana and Ben in"
    )
    assert worded(9, 3).startswith(
        "3 of the 9 pairs in these teams were never seen together there, such as Ana and Ben"
    )
    assert "seen together, such as Ana and Ben: what" in worded(9, 3, pooled=True)
    assert worded(9, 9).startswith("No two people in these teams were ever seen together there:")


def test_a_workbook_needs_no_files_of_its_own(hostile, tmp_path, monkeypatch):
    """Where a disk is full there is one error, as for any other file, and nothing is left among temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    write_teams_xlsx(hostile.result, tmp_path / "teams.xlsx")
    assert (tmp_path / "teams.xlsx").stat().st_size > 1000
    with pytest.raises(OSError, match="No space left on device"):
        write_teams_xlsx(hostile.result, "/dev/full")


def test_people_are_listed_as_one_looks_for_them(few):
    """Umlauts and small letters stood behind Z."""
    order = dict(zip(few.result.strategy.agents, ("Zoe", "Änne", "adam", "Otto", "Ömer"), strict=False))
    names = tuple(order.get(agent, agent) for agent in few.result.strategy.agents)
    strategy = replace(few.result.strategy, agents=names)
    result = replace(few.result, strategy=strategy, rules=replace(few.result.rules, staff=None))
    assert assigned_people(result)[:2] == ["adam", "Änne"]
    for members in listed_teams(result).values():
        assert members == alphabetical(members)
