"""Finding a log: which tables a folder or file holds, how its CSV is written, what `log.json` says.

Tables may also be data frames: pandas, Polars, Arrow, and whatever else speaks Arrow.
"""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.errors import InputError
from coterie.files import read_json, split_header
from coterie.log import schema
from coterie.log.options import Options, file_options

SUFFIXES = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: its separator and its header, in order."""

    separator: str
    header: tuple[str, ...]
    skip: int = 0
    """How many lines come before the header."""

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

    @property
    def has_header(self) -> bool:
        """Whether rows are counted below a header."""
        return self.dialect is not None


def find_log(path: Path) -> tuple[list[Source], Options]:
    """Return the tables of a log on this machine and what its `log.json` declares."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_file():
        return [_source("pairs", path)], {}
    sources = []
    for table in schema.TABLES:
        candidates = _candidates(path, table)
        if len(candidates) > 1:
            names = " and ".join(candidate.name for candidate in candidates)
            raise InputError(f"{path}: found {names}, expected one table called {table}")
        sources += [_source(table, candidate) for candidate in candidates]
    if not sources and _parts(path):
        sources = [_source("pairs", path)]  # a folder of parts, given by itself
    described = path / "log.json"
    return sources, file_options(read_json(described), str(described)) if described.exists() else {}


def frame_sources(**frames: Any) -> list[Source]:
    """Return the tables that are given as data frames."""
    return [
        Source(table, table, frame=_arrow_table(frame, table)) for table, frame in frames.items() if frame is not None
    ]


def used_tables(sources: list[Source], place: str | None, feedback: schema.Feedback | None) -> list[Source]:
    """Return the tables that matter: `pairs` before `totals`, and `memberships` where there are any.

    They were looked for in a place, None for data frames.
    """
    where, forms = (place, " (.csv, .parquet or a folder of .parquet parts)") if place else ("from_frames", "")
    tables = {source.table: source for source in sources}
    wanted = next((table for table, kind in schema.FEEDBACKS.items() if kind == feedback), None)
    used = wanted or ("pairs" if "pairs" in tables else "totals")
    if used not in tables:
        expected = f"a table {wanted} for feedback {feedback}" if wanted else "a table pairs or totals"
        listed = ", ".join(source.shown for source in sources) or "no table"
        raise InputError(f"{where}: found {listed}, expected {expected}{forms}")
    if used == "totals" and "memberships" not in tables:
        raise InputError(f"{where}: totals say nothing without a table memberships (columns sample, agent, coalition)")
    return [tables[table] for table in ("memberships", used) if table in tables]


def _candidates(folder: Path, table: str) -> list[Path]:
    """Return everything in a folder that is the given table: pairs.csv, Pairs.parquet, pairs/."""
    return sorted(
        entry
        for entry in folder.iterdir()
        if _is_folder_of(entry, table)
        or (entry.is_file() and entry.stem.lower() == table and entry.suffix.lower() in SUFFIXES)
    )


def _is_folder_of(entry: Path, table: str) -> bool:
    named = entry.name.lower() in {table, *(f"{table}{suffix}" for suffix in PARQUET)}
    return named and entry.is_dir() and bool(_parts(entry))


def is_part(name: str) -> bool:
    """Return whether a file in a folder is a Parquet part; hidden ones are notes of who wrote them."""
    return not name.startswith((".", "_")) and name.lower().endswith(PARQUET)


def _parts(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if is_part(entry.name) and entry.is_file())


def _source(table: str, path: Path) -> Source:
    if path.is_dir():
        return Source(table, str(path), tuple(str(part) for part in _parts(path)))
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"{path}: expected a .csv or .parquet file, or a folder with a table pairs or totals")
    if kind == "parquet":
        return Source(table, str(path), (str(path),))
    header, skipped = _first_line(path)
    return Source(table, str(path), (str(path),), replace(csv_dialect(header, str(path)), skip=skipped))


def _first_line(path: Path) -> tuple[str, int]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _record(file)
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem})") from None


def _record(file: io.TextIOBase | Any) -> tuple[str, int]:
    """Return the header of a CSV file, which may go over several lines, and how many lines come before it.

    Those may be blank, or say `sep=;` as spreadsheets do.
    """
    text, skipped = "", 0
    for line in file:
        if not text and (not line.strip() or re.fullmatch("sep=.", line.strip(), re.IGNORECASE)):
            skipped += 1
            continue
        text += line
        if text.count('"') % 2 == 0:
            break
    return text, skipped


def csv_dialect(header: str, shown: str) -> Dialect:
    """Return how a CSV file is written."""
    header = header.removeprefix("\ufeff")
    if not header.strip():
        raise InputError(f"{shown}: is empty, expected a header and rows")
    separator, cells = split_header(header)
    names: list[str] = []
    for name in cells:
        unique = name
        while unique in names:
            unique += " "  # headers may repeat; blanks do not count when columns are matched
        names.append(unique)
    return Dialect(separator, tuple(names))


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
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{table}: the column {name!r} occurs twice; rename one")
    # Categories become plain text, and views of strings plain strings, which every engine reads.
    columns = [_plain(column) for column in converted.columns]
    return pa.table(columns, names=names)


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
