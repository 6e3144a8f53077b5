"""A cell far away in a spreadsheet: a table up to it would take all memory there is, and end the process."""

import struct
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


ROWS = (HEADER, ("1", "x", "a", "b", "0.5"))


def open_document(path, *more, sheets=1):
    """Write an .ods: `more` are rows of XML below the table."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    rows = "".join(f"<table:table-row>{''.join(map(filled, row))}</table:table-row>" for row in ROWS)
    tables = [f'<table:table table:name="s">{rows}{"".join(more)}</table:table>']
    tables += [f'<table:table table:name="t{t}">{line(filled("x", 40_000))}</table:table>' for t in range(1, sheets)]
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        made.writestr("META-INF/manifest.xml", "<manifest/>")
        made.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>{''.join(tables)}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def filled(text, times=1):
    about = f'table:number-columns-repeated="{times}" office:value-type="string"'
    return f"<table:table-cell {about}><text:p>{text}</text:p></table:table-cell>"


def empty(times):
    return f'<table:table-cell table:number-columns-repeated="{times}"/>'


def line(cells, times=1):
    return f'<table:table-row table:number-rows-repeated="{times}">{cells}</table:table-row>'


def binary(path, *more):
    """Write an .xlsb, whose sheet is a sequence of records; `more` are places of further cells."""

    def record(kind, body=b""):
        first = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
        return first + bytes([len(body)]) + body

    def text(words):
        return struct.pack("<I", len(words)) + words.encode("utf-16le")

    places = [(r, c, word) for r, row in enumerate(ROWS) for c, word in enumerate(row)] + [(*at, "x") for at in more]
    sheet = record(129) + record(148, bytes(16)) + record(145)
    for row, column, word in places:
        sheet += record(0, struct.pack("<I", row) + bytes(13)) + record(6, struct.pack("<II", column, 0) + text(word))
    book = record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + text("r") + text("s")) + record(144)
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    related = f'<Relationship Id="r" Type="{kinds}/worksheet" Target="worksheets/sheet1.bin"/>'
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("xl/workbook.bin", book + record(132))
        made.writestr("xl/worksheets/sheet1.bin", sheet + record(146) + record(130))
        made.writestr("xl/_rels/workbook.bin.rels", f"<Relationships>{related}</Relationships>")
    return path


READ = "import coterie, sys\ntry: coterie.read_log(sys.argv[1])\nexcept coterie.InputError as problem: print(problem)"


def test_a_cell_far_away_is_refused(tmp_path):
    """In a process of its own, which would be gone if it were not."""
    path = workbook(tmp_path / "far.xlsx", (1_048_575, 16_383, "x"))
    ended = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    far = "a sheet has cells as far away as row 1,048,576 and column 16,384; delete what is there"
    assert ended.stdout == f"{path}: {far}\n"


FAR = line(empty(5)) + line(filled("x", 16_384), 2_100)


@pytest.mark.parametrize(
    ("made", "row", "column"),
    [
        (lambda folder: binary(folder / "far.xlsb", (1_048_575, 16_383)), 1_048_576, 16_384),
        (lambda folder: open_document(folder / "far.ods", FAR), 2_103, 16_384),
        (lambda folder: open_document(folder / "far.ods", line(empty(9), 600_000), line(empty(90) + filled("x"))),
         600_003, 91),
    ],
)  # fmt: skip
def test_a_cell_far_away_is_refused_in_other_formats(tmp_path, made, row, column):
    """In a process of its own, as above: these would take gigabytes."""
    path = made(tmp_path)
    ended = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    far = f"a sheet has cells as far away as row {row:,} and column {column:,}; delete what is there"
    assert ended.stdout == f"{path}: {far}\n"


@pytest.mark.parametrize(
    "made",
    [
        lambda folder: binary(folder / "near.xlsb", (40, 700)),
        lambda folder: open_document(folder / "near.ods", line(empty(16_384), 1_048_574)),
        lambda folder: open_document(folder / "near.ods", line(filled(""), 800), sheets=3),
    ],
)
def test_other_formats_are_read(tmp_path, made):
    assert coterie.read_log(made(tmp_path)).agents == ("a", "b")


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
