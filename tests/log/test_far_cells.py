"""A cell far away in a spreadsheet: a table up to it would take all memory there is, and end the process."""

import struct
import subprocess
import sys
import zipfile

import pytest
import xlsxwriter

import coterie
import old_workbooks as old
from coterie import InputError, spreadsheets
from coterie.files import told_apart

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


def old_workbook(path, *more, sheets=1, short=False, rows=ROWS):
    """Write an .xls: `more` are further records of each sheet."""
    path.write_bytes(old.compound(old.stream(*[old.sheet(rows, *more)] * sheets), short=short))
    return path


def said(rows, columns, top=0, left=0):
    """Return a record of how far a sheet goes."""
    return old.record(0x0200, struct.pack("<IIHHH", top, rows, left, columns, 0))


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
        (lambda folder: old_workbook(folder / "far.xls", old.text(65_535, 65_535, "x")), 65_536, 65_536),
        (lambda folder: old_workbook(folder / "far.xls", old.text(65_535, 255, "x"), sheets=3), 65_536, 256),
        (lambda folder: old_workbook(folder / "far.xls", old.record(0xBD, struct.pack("<HHHIHIH", 65_530, 9_999, 0, 0,
         0, 0, 10_000))), 65_531, 10_001),
        (lambda folder: old_workbook(folder / "far.xls", said(2**31, 255)), 2**31, 255),
        (lambda folder: old_workbook(folder / "far.xls", said(2, 5, top=3)), 2**32, 5),
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
        lambda folder: old_workbook(folder / "near.xls", old.number(40, 700, 2.0), said(65_536, 256)),
        lambda folder: old_workbook(folder / "near.xls", short=True),
        lambda folder: old_workbook(folder / "near.xls", old.record(0x0809, bytes(8)), old.record(0x0A), sheets=2),
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


def circle(content):
    """Let the list of what is in a file follow on itself."""
    return content[:516] + struct.pack("<I", 1) + content[520:]


def beyond(content):
    """Let a sheet begin where nothing is."""
    place = content.index(struct.pack("<HH", 0x85, 11)) + 4
    return content[:place] + struct.pack("<I", 10**6) + content[place + 4 :]


@pytest.mark.parametrize(
    "damaged",
    [
        circle,
        beyond,
        lambda content: content[:700],
        lambda content: content[:30] + b"\x07" + content[31:],
        lambda content: content.replace("Workbook".encode("utf-16le"), "workbook".encode("utf-16le")),
        lambda content: content[:68] + struct.pack("<I", 2) + content[72:],
        lambda content: content[:516] + struct.pack("<I", 10**6) + content[520:],
    ],
)
def test_old_workbooks_whose_parts_do_not_hang_together_are_refused(tmp_path, capfd, damaged):
    """In a circle calamine would go for ever, and beyond the end it panics, on the terminal too."""
    path = old_workbook(tmp_path / "a.xls")
    path.write_bytes(damaged(path.read_bytes()))
    with pytest.raises(InputError, match=r"a.xls: cannot be read as a spreadsheet \(its parts do not hang together\)"):
        coterie.read_log(path)
    assert capfd.readouterr().err == ""


def test_a_password_is_told(tmp_path):
    locked = old.stream(old.sheet(ROWS, old.text(65_535, 65_535, "x")), before=old.record(0x2F, b"\1\0" + bytes(50)))
    (tmp_path / "a.xls").write_bytes(old.compound(locked))
    with pytest.raises(InputError, match="is protected by a password"):
        coterie.read_log(tmp_path / "a.xls")


def test_whatever_a_library_in_rust_panics_at_is_refused(tmp_path, monkeypatch):
    class PanicException(BaseException):
        pass

    def failing(error):
        def read(*_):
            raise error

        return type("Book", (), {"get_sheet_by_name": read, "sheet_names": ["s"]})()

    book = spreadsheets.Workbook(tmp_path / "a.xlsx", ("s",), failing(PanicException("index out of bounds")))
    with pytest.raises(InputError, match=r"sheet 's': is damaged \(index out of bounds\)"):
        book.read("s")
    book = spreadsheets.Workbook(tmp_path / "a.xlsx", ("s",), failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        book.read("s")


def test_thousands_of_columns_without_a_name_are_quickly_told_apart(tmp_path):
    """Each was compared with all before it, blank by blank: hours."""
    assert coterie.read_log(workbook(tmp_path / "wide.xlsx", (0, 16_383, " "))).agents == ("a", "b")
    lines = [",".join(row) + "," * 20_000 for row in ROWS]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    assert coterie.read_log(tmp_path / "wide.csv").agents == ("a", "b")
    names = told_apart([""] * 20 + ["x", "x", " ", ""])
    assert len(set(names)) == 24
    assert names[:3] == ["", " ", "  "]
    assert {name.strip() for name in names} == {"", "x"}
