"""Spreadsheets: sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) as tables of text.

Cells become what a person would type: 3 for 3.0, 2024-03-01 for a date. The header is the first row that is as full as
a header, so a title above it does no harm; cells of a column that were merged all hold their value.
"""

import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from coterie import xls
from coterie.errors import InputError
from coterie.files import LOOKED_AT, file_like, header_among, named_columns
from coterie.words import counted

if TYPE_CHECKING:
    import pyarrow as pa

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

LARGEST = 1e15
"""Whole numbers below it are written with all their digits."""

MOST_CELLS = 1 << 25
"""How many cells a sheet may have, empty ones included: a little more than all rows there can be, up to column Z."""


def file_and_sheet(path: Path) -> tuple[Path, str | None]:
    """Return the file and the sheet that are named, as in "firm.xlsx#Today"; None for no sheet.

    >>> file_and_sheet(Path("firm.xlsx#Today"))[1], file_and_sheet(Path("team #1.csv"))[1]
    ('Today', None)
    """
    file, _, sheet = str(path).rpartition("#")
    if sheet and file.lower().endswith(SPREADSHEETS) and not os.path.exists(path):  # noqa: PTH110  (never raises)
        return Path(file), sheet
    return path, None


class EmptySheetError(InputError):
    """A sheet holds nothing."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """The cells of a sheet below its header, as text; empty ones are None."""

    header: tuple[str, ...]
    """The names of columns; notes in the margin, which have no header, are left out."""
    rows: tuple[tuple[str | None, ...], ...]
    above: int
    """How many rows are above the first of these, the header included."""
    titles: tuple[str, ...] = ()
    """What is written above the header."""

    def table(self) -> "pa.Table":
        """Return the same as an Arrow table."""
        import pyarrow as pa

        columns = list(zip(*self.rows, strict=True)) if self.rows else [() for _ in self.header]
        return pa.table([pa.array(column, pa.string()) for column in columns], names=list(self.header))


@dataclass(frozen=True, eq=False)
class Workbook:
    """A spreadsheet file, and the names of its sheets."""

    path: Path
    sheets: tuple[str, ...]
    _book: Any

    @classmethod
    def open(cls, path: Path) -> "Workbook":
        """Open a file, or say in one sentence why it cannot be read."""
        import python_calamine as calamine  # here, to keep `import coterie` light

        if not path.exists():
            raise InputError(f"{path}: no such file{file_like(path)}")
        _refuse_far_cells(path)
        with _explained(f"{path}: cannot be read as a spreadsheet"):
            try:
                book = calamine.CalamineWorkbook.from_path(str(path))
            except calamine.PasswordError:
                raise InputError(f"{path}: is protected by a password; save a copy without") from None
        # Sheets of charts hold no cells, and hidden ones are seldom meant.
        seen = [one.name for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
        shown = [one.name for one in book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible]
        return cls(path, tuple(name for name in seen if name in shown) or tuple(seen), book)

    def find(self, sheet: str | None) -> str:
        """Return the name of a sheet that was given by name or number; of the first one by default."""
        if not self.sheets:
            raise InputError(f"{self.path}: has no sheet with cells")
        if sheet is None:
            return self.sheets[0]
        for name in self._book.sheet_names:
            if name.strip().casefold() == sheet.strip().casefold():
                return str(name)
        if sheet.isdecimal() and 1 <= int(sheet) <= len(self.sheets):
            return self.sheets[int(sheet) - 1]
        listed = ", ".join(f"{place} {name!r}" for place, name in enumerate(self.sheets, start=1))
        raise InputError(f"{self.path}: has no sheet {sheet!r}; there are: {listed}")

    def columns(self, sheet: str) -> tuple[str, ...]:
        """Return the names of a sheet's columns; none where it cannot be read."""
        try:
            return self.read(sheet).header
        except InputError:
            return ()

    def read(self, sheet: str, skip_rows: int | None = None) -> Sheet:
        """Return the cells of a sheet below its header, which is found unless it is said how many rows are above it."""
        rows, merged = _cells(self._book, sheet, self.path)
        for (top, left), (bottom, right) in merged:
            for row in rows[top : bottom + 1] if left == right else ():  # across columns they are titles
                row[left] = rows[top][left]
        texts = [[_text(cell) for cell in row] for row in rows]
        first = header_among(texts) if skip_rows is None else skip_rows
        if first is not None and first >= len(texts):
            raise InputError(
                f"{self.path}, sheet {sheet!r}: has {counted(len(texts), 'row')} only, and no header below"
            )
        if first is None:
            raise EmptySheetError(f"{self.path}, sheet {sheet!r}: is empty, expected a header and rows")
        names = named_columns([(cell or "").strip() for cell in texts[first]], texts[first + 1 : first + 1 + LOOKED_AT])
        kept = [place for place, name in enumerate(names) if name.strip()]
        below = tuple(tuple(row[place] for place in kept) for row in texts[first + 1 :])
        titles = tuple(cell.strip() for row in texts[:first] for cell in row if cell is not None and cell.strip())
        return Sheet(tuple(names[place] for place in kept), below, first + 1, titles)


def _cells(book: Any, sheet: str, path: Path) -> tuple[list[list[Any]], Sequence[Any]]:
    """Return the rows of a sheet and which cells are merged, or say in one sentence why it cannot be read."""
    with _explained(f"{path}, sheet {sheet!r}: is damaged"):
        cells = book.get_sheet_by_name(sheet)
        return cells.to_python(skip_empty_area=False), cells.merged_cell_ranges or ()


_CUT = "EOCD"
"""What calamine calls the end of an archive, which a file that was cut off lacks."""


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Say in one sentence what calamine fails with, however it does."""
    import python_calamine as calamine

    try:
        yield
    except InputError:
        raise
    except BaseException as problem:
        if not isinstance(problem, (calamine.CalamineError, OSError, ValueError)) and not _is_panic(problem):
            raise
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        if _CUT in reason:
            reason = "it is no spreadsheet, or it is cut off or damaged: save it again, or copy it anew"
        raise InputError(f"{what} ({reason})") from None


def _is_panic(problem: BaseException) -> bool:
    """Return whether a library in Rust met what its author held to be impossible; its name cannot be imported."""
    return type(problem).__name__ == "PanicException"


def _refuse_far_cells(path: Path) -> None:
    """Refuse a workbook with a cell so far away that a table up to it would not fit: calamine makes room for all."""
    is_archive, room = zipfile.is_zipfile(path), 0
    for rows, columns in _extents(path) if is_archive else xls.extents(path):
        room = rows * columns + (0 if is_archive else room)  # sheets of .xls are all held at once
        if room > MOST_CELLS:
            raise InputError(
                f"{path}: a sheet has cells as far away as row {rows:,} and column {columns:,}; delete what is there"
            )


def _extents(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the last row and column that hold something, of every sheet in a workbook that is an archive."""
    with suppress(*_NOT_ZIP), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with suppress(*_NOT_ZIP):
                if name == "content.xml":  # .ods
                    yield from _open_document(_texts(archive, name))
                elif name.endswith(".bin"):  # .xlsb
                    with archive.open(name) as content:
                        yield _last(_in_records(content))
                elif any(_OTHER_CELL.search(text) for text in _texts(archive, name)):
                    # Most say first where they are, up to column Z and the last row there can be: these come to fewer
                    # than `MOST_CELLS`.
                    yield _last(_places(_texts(archive, name)))


def _last(places: Iterator[tuple[int, int]]) -> tuple[int, int]:
    """Return the last row and the last column of some places."""
    rows = columns = 0
    with suppress(*_NOT_ZIP):
        for row, column in places:
            rows, columns = max(rows, row), max(columns, column)
    return rows, columns


def _open_document(texts: Iterator[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the last row and column of every sheet of an .ods: rows and cells may stand for many of their like."""
    row = column = rows = columns = 0
    for tag, about in (found for text in texts for found in _ODS_TAG.findall(text)):
        times = max((int(digits) for digits in _REPEATED.findall(about)), default=1)
        if tag == b"table":
            yield rows, columns
            row = column = rows = columns = 0
        elif tag == b"table-row":
            row, column = row + times, 0
        else:
            column += times
            if not about.endswith(b"/") or b"value-type" in about:
                rows, columns = max(rows, row), max(columns, column)
    yield rows, columns


def _in_records(content: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield row and column of every cell that holds something in a sheet of an .xlsb, a sequence of records."""
    row, is_within = 0, False
    while (kind := _in_sevens(content, 2)) is not None:
        body = content.read(_in_sevens(content, 4) or 0)
        number = int.from_bytes(body[:4], "little") + 1
        if kind in (_BEGIN, _END):
            is_within = kind == _BEGIN
        elif is_within and kind == _ROW:
            row = number
        elif is_within and kind in _CELLS:
            yield row, number


def _in_sevens(content: IO[bytes], most: int) -> int | None:
    """Return a number of at most so many bytes, each of seven bits and one that says whether another follows."""
    found = None
    for place in range(most):
        if not (byte := content.read(1)):
            break
        found = (found or 0) + ((byte[0] & 127) << 7 * place)
        if byte[0] < 128:
            break
    return found


_ROW, _BEGIN, _END, _CELLS = 0, 145, 146, {*range(2, 12), 62}
"""Records of .xlsb: a row, the beginning and the end of the cells, and cells that hold something (MS-XLSB 2.3.2)."""


def _texts(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield a file of XML in pieces that end between tags."""
    left = b""
    with archive.open(name) as content:
        while part := content.read(1 << 20):
            end = (left + part).rfind(b"<")
            text, left = (left + part)[: max(end, 0)], (left + part)[max(end, 0) :][-4096:]
            yield text


def _places(texts: Iterator[bytes]) -> Iterator[tuple[int, int]]:
    """Yield row and column of every cell that holds something: as it says, or else after the one before it."""
    row = column = 0
    for tag, about in (found for text in texts for found in _TAG.findall(text)):
        said = [(_column(letters), int(digits)) for letters, digits in _PLACE.findall(about)]
        if tag == b"row":
            row, column = max((digits for _, digits in said), default=row + 1), 0
        else:
            column += 1
            for at, digits in said:  # one, or else it is not clear which
                row, column = max(row, digits), max(column, at)
            if not about.endswith(b"/"):
                yield row, column


def _column(letters: bytes) -> int:
    return sum(26**at * (letter - 64) for at, letter in enumerate(reversed(letters.upper())))


_OTHER_CELL = re.compile(rb"""<(?:\w+:)?c(?=[\s/>])(?! r="[A-Z](?:[0-9]{1,6}|10[0-9]{5})")""")
_TAG = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])([^>]*)>")
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,9})([0-9]{1,12})["']""")
_ODS_TAG = re.compile(rb"<(?:\w+:)?(table-row|table-cell|covered-table-cell|table)(?=[\s/>])([^>]*)>")
_REPEATED = re.compile(rb"""\bnumber-(?:rows|columns)-repeated\s*=\s*["']([0-9]{1,12})["']""")
_NOT_ZIP = (OSError, ValueError, EOFError, RuntimeError, NotImplementedError, KeyError, zipfile.BadZipFile, zlib.error)
"""What the standard library makes of damaged archives; calamine says what is wrong with them."""


def _text(cell: Any) -> str | None:
    """Return what a person would have typed into a cell, None for nothing.

    >>> [_text(cell) for cell in (3.0, 4.5, "Bob ", "", True, datetime(2024, 3, 1), date(2024, 3, 1))]
    ['3', '4.5', 'Bob ', None, 'TRUE', '2024-03-01', '2024-03-01']
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, (int, float)):
        # To the last digit, unlike what messages show.
        return str(int(cell)) if math.isfinite(cell) and cell == int(cell) and abs(cell) < LARGEST else repr(cell)
    if isinstance(cell, datetime):
        return str(cell.date()) if cell.time() == time() else cell.isoformat(" ", "seconds")
    if isinstance(cell, (date, time, timedelta)):
        return str(cell)
    return str(cell) if cell != "" else None
