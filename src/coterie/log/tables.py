"""Finding a log: which tables a folder or file holds, how its CSV is written, what `log.json` says."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from coterie.errors import InputError
from coterie.files import read_json
from coterie.log import schema
from coterie.log.engine import Dialect, Source
from coterie.log.options import Options, file_options

SUFFIXES = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
PARQUET = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t")


def find_log(path: Path) -> tuple[list[Source], Options]:
    """Return the tables of a log on this machine and what its `log.json` declares."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_file():
        return [_source("pairs", path)], Options()
    found = []
    for table in schema.TABLES:
        candidates = _candidates(path, table)
        if len(candidates) > 1:
            names = " and ".join(candidate.name for candidate in candidates)
            raise InputError(f"{path}: found {names}, expected one table called {table}")
        found += [_source(table, candidate) for candidate in candidates]
    if not found and _parts(path):
        found = [_source("pairs", path)]  # a folder of parts, given by itself
    described = path / "log.json"
    options = file_options(read_json(described), str(described)) if described.exists() else Options()
    return found, options


def used_tables(found: list[Source], where: str, options: Options) -> list[Source]:
    """Return the tables that matter: `pairs` before `totals`, and `memberships` where there are any."""
    tables = {source.table: source for source in found}
    wanted = {feedback: table for table, feedback in schema.FEEDBACKS.items()}.get(options.feedback or "")
    used = wanted or ("pairs" if "pairs" in tables else "totals")
    if used not in tables:
        expected = f"a table {wanted} for feedback {options.feedback}" if wanted else "a table pairs or totals"
        listed = ", ".join(source.shown for source in found) or "no table"
        raise InputError(f"{where}: found {listed}, expected {expected} (.csv, .parquet or a folder of .parquet parts)")
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
    """Return how a CSV file is written: the separator that splits its header into most cells."""
    header = header.removeprefix("\ufeff")
    if not header.strip():
        raise InputError(f"{shown}: is empty, expected a header and rows")
    splits = {mark: next(csv.reader(io.StringIO(header, newline=""), delimiter=mark)) for mark in SEPARATORS}
    separator = max(SEPARATORS, key=lambda mark: len(splits[mark]))
    names: list[str] = []
    for name in splits[separator]:
        unique = name.strip()
        while unique in names:
            unique += " "  # headers may repeat; blanks do not count when columns are matched
        names.append(unique)
    return Dialect(separator, tuple(names))


def parse_json(text: str, shown: str) -> Any:
    """Return the content of a JSON text that did not come from a local file."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except ValueError as problem:
        raise InputError(f"{shown}: is not JSON ({problem})") from None
