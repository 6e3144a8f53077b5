"""Teams as tables: what is written can be read again, and no cell is a formula."""

import csv
import io
import zipfile
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.files import defused, is_formula, restored
from coterie.report import teams_csv, write_teams_xlsx

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
    mixed = coterie.StableLearner(strategy="mixed", noise="pairs", time_limit=0.2).fit(hostile.statistics).result_
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


def test_a_workbook_needs_no_files_of_its_own(hostile, tmp_path, monkeypatch):
    """Where a disk is full there is one error, as for any other file, and nothing is left among temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    write_teams_xlsx(hostile.result, tmp_path / "teams.xlsx")
    assert (tmp_path / "teams.xlsx").stat().st_size > 1000
    with pytest.raises(OSError, match="No space left on device"):
        write_teams_xlsx(hostile.result, "/dev/full")
