"""Finding a log: which tables a folder or file holds, how its CSV is written, what `log.json` says.

Tables may also be data frames: pandas, Polars, Arrow, and whatever else speaks Arrow.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.errors import InputError
from coterie.files import (
    LOOKED_AT,
    WINDOWS,
    csv_cells,
    csv_header,
    file_like,
    is_unfinished,
    named_columns,
    naming,
    read_json,
    split_header,
)
from coterie.log import schema
from coterie.log.options import COPIED_FROM, Options, file_options
from coterie.spreadsheets import SPREADSHEETS, Workbook
from coterie.words import counted, said, some

PARQUET = (".parquet", ".pq")
DESCRIPTION = "log.json"
"""What describes a log, beside its tables."""

SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys(PARQUET, "parquet"),
    **dict.fromkeys(SPREADSHEETS, "sheet"),
}
OTHERS = {
    "a picture": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp", ".tif", ".tiff", ".svg"),
    "a document": (".pdf", ".doc", ".docx", ".odt", ".rtf", ".ppt", ".pptx", ".html", ".htm", ".md"),
    "an archive": (".zip", ".gz", ".7z", ".rar", ".tar"),
}
"""What files are called that hold no table that is read, by what they are."""

FORMS = ".csv, .xlsx, .parquet or a folder of .parquet parts"

MOST_COUNTED = 1_000_000
"""Up to so many rows, lines of a CSV file are counted again to tell the number of one."""

LONGEST_HEADER = 1 << 16
"""How many characters the header of a CSV table may have."""

SHOWN_TITLES, LONGEST_TITLE = 3, 60
"""How many cells above a header are shown, and how many characters of each."""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: its separator and its header, in order."""

    separator: str
    header: tuple[str, ...]
    skip: int = 0
    """How many lines come before the header."""
    encoding: str = "utf-8"
    """How text is written, as far as the header shows."""
    odd_lines: int = 0
    """How many lines the header has, if those within its cells end otherwise than it does itself; else 0."""

    @property
    def has_decimal_comma(self) -> bool:
        """Whether 0,5 is a number: only where the comma does not separate cells."""
        return self.separator == ";"


@dataclass(frozen=True)
class Source:
    """One table of a log: CSV, Parquet files, or a data frame."""

    table: str
    shown: str
    """What messages call it."""
    files: tuple[str, ...] = ()
    dialect: Dialect | None = None
    """Set for CSV only."""
    frame: Any = None
    sheet: str | None = None
    """Of which sheet of a spreadsheet the frame is."""
    is_alone: bool = False
    """Whether it is a file of any name, given by itself: its columns tell what it is."""
    note: str = ""
    """What a reader of results should know about how it was found."""

    above: int = 0
    """How many rows of a spreadsheet are above the first row of the frame, its header included."""
    skipped: int = 0
    """How many rows are above its header, as a spreadsheet counts them."""
    titles: tuple[str, ...] = ()
    """What is written there."""
    workbook: Workbook | None = None
    """Of a sheet that nobody asked for by name."""
    is_copy: bool = False
    """Whether `coterie start` copied it: what is declared of it is guessed as a rule."""

    @property
    def other_sheets(self) -> str:
        """What columns the other sheets of its workbook have, nothing where there are none or a sheet was asked for."""
        if self.workbook is None:
            return ""
        told = [
            f"the sheet {name!r} has: {', '.join(columns)}, and {said(sheet=name)} reads it"
            for name in self.workbook.sheets
            if name != self.sheet and (columns := self.workbook.columns(name))
        ]
        return "; ".join(told)

    @property
    def about_titles(self) -> str:
        """What to tell of what is above the header, nothing where there is nothing."""
        if not self.titles:
            return ""
        listed = some((repr(_short(title)) for title in self.titles), SHOWN_TITLES)
        return f"the header was found in row {self.skipped + 1}, and what is above it passed over: {listed}"

    def row_numbers(self, places: Sequence[int]) -> tuple[int, ...]:
        """Return the numbers that a spreadsheet shows at some rows, given their places from 0, in order.

        A header is row 1 there, unless there is something above it. Parquet files and data frames have none: their
        first row is row 1.
        """
        if self.dialect is None:
            return tuple(place + 1 + self.above for place in places)
        return _numbers_in_csv(self.files[0], self.dialect, places)

    @property
    def has_decimal_comma(self) -> bool:
        """Whether 0,5 is a number."""
        return self.sheet is not None or (self.dialect is not None and self.dialect.has_decimal_comma)


def find_log(path: Path, sheet: str | None = None, skip_rows: int | None = None) -> tuple[list[Source], Options]:
    """Return the tables of a log on this machine and what its `log.json` declares."""
    try:
        is_there = path.exists()
    except OSError as problem:  # a name too long
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem})") from None
    if not is_there:
        raise InputError(f"{path}: no such file or folder{file_like(path)}")
    if path.is_file():
        return _file_sources(path, sheet, skip_rows), {}
    if is_unfinished(path):
        raise InputError(f"{path}: was being written when that was cut short, or still is; write it again")
    described = path / DESCRIPTION
    content = read_json(described) if described.exists() else {}
    declared = file_options(content, str(described))
    sheet = sheet or declared.get("sheet")
    skip_rows = declared.get("skip_rows") if skip_rows is None else skip_rows
    sources = []
    for table in schema.FILES:
        candidates = _candidates(path, table)
        if len(candidates) > 1:
            names = " and ".join(candidate.name for candidate in candidates)
            raise InputError(f"{path}: found {names}, expected one table called {table}")
        found = [_source(table, candidate, sheet, skip_rows) for candidate in candidates]
        sources += [_called(source, content.get(COPIED_FROM)) for source in found]
    if not sources and _parts(path):
        sources = [_source("pairs", path)]  # a folder of parts, given by itself
    return sources, declared


def _called(source: Source, original: str | None) -> Source:
    """Return a copy of a table under the name of the file that it was copied from, if that is known."""
    return replace(source, shown=f"{original} (its copy {source.shown})", is_copy=True) if original else source


def _file_sources(path: Path, sheet: str | None, skip_rows: int | None) -> list[Source]:
    """Return the table in a file given by itself, or those in a workbook with sheets of their names."""
    if SUFFIXES.get(path.suffix.lower()) == "sheet" and sheet is None:
        workbook = Workbook.open(path)
        named = {table: name for table in schema.FILES for name in workbook.sheets if name.strip().lower() == table}
        if any(table in named for table in schema.OUTCOMES):
            return [_sheet_source(table, workbook, name, skip_rows) for table, name in named.items()]
    return [replace(_source("pairs", path, sheet, skip_rows), is_alone=True)]


def frame_sources(**frames: Any) -> list[Source]:
    """Return the tables that are given as data frames."""
    return [
        Source(table, table, frame=_arrow_table(frame, table)) for table, frame in frames.items() if frame is not None
    ]


def used_tables(sources: list[Source], place: str | None, feedback: schema.Feedback | None) -> list[Source]:
    """Return the tables that matter: `pairs` before `totals`, and `memberships` where there are any.

    They were looked for in a place, None for data frames.
    """
    where, forms = (place, f" ({FORMS})") if place else ("from_frames", "")
    tables = {source.table: source for source in sources}
    wanted = [table for table in schema.OUTCOMES if feedback in {None, schema.FEEDBACKS[table]}]
    used = next((table for table in wanted if table in tables), None)
    if used is None:
        listed = ", ".join(source.shown for source in sources) or "no table"
        kinds = " or ".join(table for table in wanted if table != "choices")
        kinds += f" for feedback {feedback}" if feedback else ""
        raise InputError(f"{where}: found {listed}, expected a table {kinds}{forms}")
    return [tables[table] for table in ("memberships", used) if table in tables]


def _candidates(folder: Path, table: str) -> list[Path]:
    """Return everything in a folder that is the given table: pairs.csv, Pairs.parquet, pairs/."""
    return sorted(
        entry
        for entry in folder.iterdir()
        if _is_folder_of(entry, table)
        or (entry.is_file() and entry.stem.lower() == table and entry.suffix.lower() in SUFFIXES)
    )


def is_of_log(name: str) -> bool:
    """Return whether a file of this name in the folder of a log is part of it."""
    path = Path(name.lower())
    return name == DESCRIPTION or (path.stem in schema.FILES and path.suffix in SUFFIXES)


def _is_folder_of(entry: Path, table: str) -> bool:
    named = entry.name.lower() in {table, *(f"{table}{suffix}" for suffix in PARQUET)}
    return named and entry.is_dir() and bool(_parts(entry))


def is_part(name: str) -> bool:
    """Return whether a file in a folder is a Parquet part; hidden ones are notes of who wrote them."""
    return not name.startswith((".", "_")) and name.lower().endswith(PARQUET)


def _parts(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if is_part(entry.name) and entry.is_file())


def _sheet_source(table: str, workbook: Workbook, sheet: str | None, skip_rows: int | None) -> Source:
    name = workbook.find(sheet)
    others = len(workbook.sheets) - 1
    note = ""
    if sheet is None and others:
        note = f"{workbook.path}: the sheet {name!r} was read, of {others + 1}; {said('sheet')} says which"
    shown = f"{workbook.path}, sheet {name!r}" if others else str(workbook.path)
    read = workbook.read(name, skip_rows)
    return Source(
        table, shown, frame=read.table(), sheet=name, note=note, above=read.above, skipped=read.above - 1,
        titles=read.titles, workbook=workbook if note else None,
    )  # fmt: skip


def not_a_table(path: Path) -> str:
    """Return what is wrong with a file that holds no table, by its name."""
    is_what = next((f"is {what}; " for what, endings in OTHERS.items() if path.suffix.lower() in endings), "")
    return f"{path}: {is_what}expected a .csv, .xlsx or .parquet file"


def _source(table: str, path: Path, sheet: str | None = None, skip_rows: int | None = None) -> Source:
    if path.is_dir():
        return Source(table, str(path), tuple(str(part) for part in _parts(path)))
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"{not_a_table(path)}, or a folder with a table pairs or totals")
    if kind == "sheet":
        return _sheet_source(table, Workbook.open(path), sheet, skip_rows)
    if kind == "parquet":
        return Source(table, str(path), (str(path),))
    top, encoding = _top(path, skip_rows or 0)
    if skip_rows is not None and len(top) <= skip_rows:
        raise InputError(f"{path}: has {counted(len(top), 'row')} only, and no header below")
    header = _header([text for _, text in top]) if skip_rows is None else skip_rows
    lines, text = top[header] if top else (0, "")
    if top and lines - top[0][0] != header:  # DuckDB skips rows, and counts them in its own way
        raise InputError(f"{path}: a cell above the header goes over several lines; delete what stands above it")
    dialect = csv_dialect(text, str(path), [row for _, row in top[header + 1 :] if row.strip()])
    dialect = replace(dialect, skip=lines, encoding=encoding, odd_lines=_odd_lines(text))
    above = [cell.strip() for _, title in top[:header] for cell in csv_cells(title, dialect.separator)]
    return Source(table, str(path), (str(path),), dialect, skipped=header, titles=tuple(filter(None, above)))


def _header(rows: Sequence[str]) -> int:
    """Return which row is the header: the first with anything in it, if it has the columns of a log."""
    first = next((place for place, row in enumerate(rows) if row.strip()), 0)
    cells = {cell.lower() for cell in split_header(rows[first])[1]} if rows else set()
    return first if any(cells.issuperset(names) for names in schema.SHAPES.values()) else csv_header(rows)


def _top(path: Path, skip_rows: int) -> tuple[list[tuple[int, str]], str]:
    """Return the first rows of a CSV file, each with the number of lines before it, and how text is written there."""
    try:
        with path.open("rb") as raw:
            first = raw.read(2)
        for encoding in ["utf-16"] if first in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE} else ["utf-8-sig", WINDOWS]:
            with suppress(UnicodeDecodeError), naming(path), path.open(encoding=encoding, newline="") as file:
                return list(islice(_rows(file), skip_rows + LOOKED_AT)), encoding.removesuffix("-sig")
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem})") from None
    raise InputError(f"{path}: is not text in UTF-8, UTF-16 or Windows-1252")


def _rows(file: io.TextIOBase | Any) -> Iterator[tuple[int, str]]:
    """Yield the rows of a CSV file, which may go over several lines, each with the number of lines before it.

    A first line `sep=;` as spreadsheets write it is none.
    """
    text, before, lines, has_header = "", 0, 0, False
    while line := file.readline(LONGEST_HEADER):
        lines += 1
        if lines == 1 and re.fullmatch("sep=.", line.strip(), re.IGNORECASE):
            before = 1
            continue
        text += line
        if len(text) >= LONGEST_HEADER:
            if has_header:
                return
            raise InputError(
                f"the header does not end within {LONGEST_HEADER:,} characters; is a quote opened and never closed?"
            )
        if text.count('"') % 2 == 0:
            yield before, text
            has_header = has_header or bool(text.strip())
            text, before = "", lines
    if text:
        yield before, text


def _odd_lines(header: str) -> int:
    """Return how many lines a header has, if those within its cells end otherwise than it does itself; else 0.

    Spreadsheets write such ones, and DuckDB finds no row below them.
    """
    ends = re.findall("\r\n|\r|\n", header)
    return len(ends) if len(set(ends)) > 1 else 0


def csv_dialect(header: str, shown: str, below: Sequence[str] = ()) -> Dialect:
    """Return how a CSV file is written, given its header and perhaps some rows below."""
    header = header.removeprefix("\ufeff")
    if not header.strip():
        raise InputError(f"{shown}: is empty, expected a header and rows")
    separator, cells = split_header(header)
    return Dialect(separator, tuple(named_columns(cells, [csv_cells(row, separator) for row in below])))


def _records(path: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, header first, and their numbers in a spreadsheet.

    There, too, lines that are blank have numbers, cells may go over several lines, and `sep=;` is not shown.
    """
    with Path(path).open(encoding=dialect.encoding, errors="replace", newline="") as file:
        number = 0
        reader = csv.reader(file, delimiter=dialect.separator)
        for cells in reader:
            if number == 0 and cells and re.fullmatch("\ufeff?sep=.?", dialect.separator.join(cells), re.IGNORECASE):
                continue
            number += 1
            if cells and reader.line_num > dialect.skip:
                yield number, cells


def _numbers_in_csv(path: str, dialect: Dialect, places: Sequence[int]) -> tuple[int, ...]:
    found = {}
    if places[-1] < MOST_COUNTED:
        with suppress(OSError, csv.Error):
            wanted = set(places)
            for place, (number, _) in enumerate(_records(path, dialect), start=-1):
                if place in wanted:
                    found[place] = number
                if place == places[-1]:
                    break
    return tuple(found.get(place, place + 2) for place in places)


def first_ragged(path: str, dialect: Dialect) -> str | None:
    """Word the first row of a CSV file that has another number of cells than the header; None where it cannot tell."""
    expected, last = len(dialect.header), None
    with suppress(OSError, csv.Error):
        for number, cells in _records(path, dialect):
            if len(cells) == expected:
                continue
            found = too_many_cells(len(cells), expected, number)
            if len(cells) != expected + 1 or cells[-1]:
                return found
            last = last or found  # an empty cell at the end says nothing to most readers
    return last


def too_many_cells(found: int | None, expected: int, row: int | None) -> str:
    """Word a row that has another number of cells than the header."""
    where = "a row" if row is None else f"row {row}"
    return f"{where} has {found or 'another number of'} cells, expected {expected} as in the header"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 3]}..."


def _arrow_table(frame: Any, table: str) -> Any:
    """Return an Arrow table; Spark frames stay what they are, since Spark reads them itself."""
    if type(frame).__module__.startswith("pyspark."):
        return frame
    is_arrow = hasattr(frame, "__arrow_c_stream__") or isinstance(frame, Mapping)
    if not is_arrow and not hasattr(frame, "to_arrow"):
        raise InputError(f"{table}: expected a pandas, Polars or Arrow table, got {type(frame).__name__}")
    try:
        converted = pa.table(frame) if is_arrow else frame.to_arrow()
    except (ValueError, TypeError, pa.ArrowNotImplementedError) as problem:
        reason = str(problem).splitlines()[0]
        raise InputError(f"{table}: cannot be read as a table with one type per column ({reason})") from None
    names = [str(name) for name in converted.column_names]
    refuse_twins(names, table)
    # Categories become plain text, and views of strings plain strings, which every engine reads.
    columns = [_plain(column) for column in converted.columns]
    return pa.table(columns, names=names)


def refuse_twins(names: Iterable[str], shown: str) -> None:
    """Refuse columns whose names differ in case only, if at all: engines would take either for the other."""
    known: dict[str, str] = {}
    for name in names:
        other = known.get(name.lower())
        if other == name:
            raise InputError(f"{shown}: the column {name!r} occurs twice; rename one")
        if other is not None:
            raise InputError(f"{shown}: {other!r} and {name!r} differ in case only; rename one")
        known[name.lower()] = name


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        decoded = [_decoded(chunk) for chunk in column.chunks]
        column = pa.chunked_array(decoded, None if decoded else pa.string())
    views = (pa.types.is_string_view(column.type), pa.types.is_large_string(column.type))
    return column.cast(pa.string()) if any(views) else column


def _decoded(chunk: pa.DictionaryArray) -> pa.Array:
    values = chunk.dictionary
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    return pa.DictionaryArray.from_arrays(chunk.indices, values).dictionary_decode()
