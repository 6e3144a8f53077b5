"""A cell far away in a spreadsheet: a table up to it would take all memory there is, and end the process."""

import subprocess
import sys
import zipfile

import pytest
import xlsxwriter

import coterie
from coterie import InputError

HEADER = ("sample", "coalition", "agent", "partner", "utility")


def workbook(path, *cells):
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet()
    for row in (HEADER, ("1", "x", "a", "b", "0.5")):
        sheet.write_row(0 if row is HEADER else 1, 0, row)
    for row, column, content, *style in cells:
        sheet.write(row, column, content, *[book.add_format(one) for one in style])
    book.close()
    return path


READ = "import coterie, sys\ntry: coterie.read_log(sys.argv[1])\nexcept coterie.InputError as problem: print(problem)"


def test_a_cell_far_away_is_refused(tmp_path):
    """In a process of its own, which would be gone if it were not."""
    path = workbook(tmp_path / "far.xlsx", (1_048_575, 16_383, "x"))
    ended = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    far = "a sheet has cells as far away as row 1,048,576 and column 16,384; delete what is there"
    assert ended.stdout == f"{path}: {far}\n"


def test_what_is_written_in_the_margin_or_merely_coloured_is_not(tmp_path):
    path = workbook(tmp_path / "near.xlsx", (40, 700, "a note"), (1_048_575, 16_383, None, {"bg_color": "red"}))
    assert coterie.read_log(path).agents == ("a", "b")


def test_damaged_cells_are_refused(tmp_path):
    """Also in lists of people: a damaged sheet is not an empty one."""
    sound, damaged = workbook(tmp_path / "sound.xlsx"), tmp_path / "damaged.xlsx"
    with zipfile.ZipFile(sound) as given, zipfile.ZipFile(damaged, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name).replace(b'<c r="B2"', b'<c r="B2'))
    with pytest.raises(InputError, match=r"damaged.xlsx.*: is damaged \("):
        coterie.read_log(damaged)
    with pytest.raises(InputError, match=r"damaged.xlsx.*: is damaged \("):
        coterie.read_strategy(damaged, ("a", "b"), ("x",))
