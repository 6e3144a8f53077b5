"""Output that appears whole or not at all, and reading text, CSV and JSON."""

import codecs
import csv
import errno
import io
import itertools
import json
import math
import os
import re
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Any, Literal, Union, get_args, get_origin, get_type_hints

from coterie import checks
from coterie.checks import shown
from coterie.errors import InputError

fcntl: Any
try:
    fcntl = import_module("fcntl")
except ImportError:  # systems without such locks, where nothing is cleaned up after others
    fcntl = None

SEPARATORS = (",", ";", "\t")
"""What may stand between the cells of a CSV table."""

WINDOWS = "cp1252"
"""What text that is not UTF-8 is taken for: Excel in Western Europe and America saves CSV so."""

LARGEST_TEXT = 1 << 30
"""How many bytes a file of JSON, or a small table, may have."""

AT_ONCE = 1 << 20
"""So many bytes are read at once."""

DEEPEST, MOST_DIGITS = 64, 300
"""How many lists and objects of JSON may be within each other, and how many digits a whole number may have."""

TEMPORARY = "coterie-"
"""What the names of temporary folders begin with."""

UNFINISHED = ".coterie-unfinished-"
"""The same for those in which files are made, beside where they are to be."""

NEW = ".new"
"""What their names end with until their process holds them."""

LOCK, CONTENT, MOVING = ".coterie-lock", "content", "moving.json"
"""In temporary folders: what their process holds; what is made; what is being moved out of it."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; it replaces `path` only if the block succeeds.

    Links are followed, and a file that is there already keeps its permissions and its owner. A pipe or a terminal
    is never replaced: once everything is made, it is written to. What is written is on the disk when it appears.
    """
    path = checks.path(path, "file")
    there = status(path)
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise InputError(f"{path}: is a folder, expected a file name")
    if there is not None and not stat.S_ISREG(there.st_mode):
        with _written_through(path, there) as temporary:
            yield temporary
        return
    target = Path(os.path.realpath(path))
    with _existing(target.parent), temporary_folder(target.parent, UNFINISHED) as folder:
        temporary = folder / target.name
        temporary.touch()
        yield temporary
        _like(temporary, there)
        _on_disk(temporary)
        temporary.replace(target)
        _on_disk(target.parent)


def status(path: Path) -> os.stat_result | None:
    """Return what there is at the end of links, None for nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as problem:  # links that lead to each other, a file where a folder should be, a name too long
        raise InputError(f"{path}: cannot be written ({problem.strerror or problem})") from None


@contextmanager
def _written_through(path: Path, there: os.stat_result) -> Iterator[Path]:
    """Give a temporary path, and pass what was written there to a pipe or a terminal when the block succeeds."""
    if not (stat.S_ISFIFO(there.st_mode) or stat.S_ISCHR(there.st_mode)):
        raise InputError(f"{path}: is a disk or a socket, expected a file name")
    with temporary_folder() as folder:
        temporary = folder / path.name
        temporary.touch()
        yield temporary
        with temporary.open("rb") as made, path.open("wb") as passed:
            shutil.copyfileobj(made, passed)


def _like(temporary: Path, there: os.stat_result | None) -> None:
    """Give a file the owner and the permissions of the one that it replaces, or those of any new file."""
    if there is None:
        temporary.chmod(0o666 & ~_umask())
        return
    mode = stat.S_IMODE(there.st_mode)
    if hasattr(os, "chown"):
        try:
            os.chown(temporary, there.st_uid, there.st_gid)
        except OSError:  # only root may give files away; to a group, its members may
            try:
                os.chown(temporary, -1, there.st_gid)
            except OSError:
                mode &= ~stat.S_IRWXG  # another group than it was for
    temporary.chmod(mode)


def _on_disk(path: Path) -> None:
    """Wait until a file, or the list of what is in a folder, is on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # systems that do not open folders
        if path.is_dir():
            return
        raise
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EBADF}:  # file systems that cannot
            raise
    finally:
        os.close(handle)


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder to fill; its files are in `path` only if the block succeeds.

    An existing folder is taken only if it is empty, and it stays the same folder, since it may be
    somebody's current one: nothing of the user's is ever removed. What a run that was killed left there
    is none of the user's.
    """
    path = checks.path(path, "folder", "the path of a folder")
    is_there = status(path) is not None
    if not is_free(path):
        raise InputError(f"{path}: already exists and is not an empty folder")
    path = Path(os.path.realpath(path))
    place = path if is_there else path.parent
    with _existing(place), temporary_folder(place, UNFINISHED) as made:
        content = made / CONTENT
        content.mkdir()
        yield content
        for item in content.rglob("*"):
            _on_disk(item)
        _on_disk(content)
        if is_there:
            _move_up(content, path)
        else:
            content.chmod(0o777 & ~_umask())
            content.replace(path)
        _on_disk(place)


def is_free(path: Path) -> bool:
    """Return whether `whole_folder` takes a path: nothing is there, or an empty folder once leftovers are gone."""
    if not path.exists():
        return True
    if not path.is_dir():
        return False
    _forget_unfinished(path)
    return not any(path.iterdir())


@contextmanager
def temporary_folder(place: Path | None = None, prefix: str = TEMPORARY) -> Iterator[Path]:
    """Give a folder that is gone after the block, or, if the process is killed in it, at the next start of another.

    Parameters
    ----------
    place
        Where it is, by default where the system keeps what is temporary.
    prefix
        What its name begins with.
    """
    place = Path(tempfile.gettempdir()) if place is None else place
    _forget_killed(place, prefix)
    folder, lock = _held_folder(place, prefix)
    try:
        with lock:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _held_folder(place: Path, prefix: str) -> tuple[Path, IO[bytes]]:
    """Make a folder, and return it with a lock that the system takes back from a process that ends in any way.

    It has its name only when the lock is held, so that whatever is found without one was left by somebody.
    """
    while True:
        made = Path(tempfile.mkdtemp(dir=place, prefix=prefix, suffix=NEW))
        folder = made.with_name(made.name.removesuffix(NEW))
        try:
            lock = (made / LOCK).open("wb")
            try:
                if not _is_locked(lock):
                    (made / LOCK).unlink()  # on file systems without locks nobody cleans up
                return made.rename(folder), lock
            except BaseException:
                lock.close()
                raise
        except (FileNotFoundError, BlockingIOError):
            continue  # a process that began just now took it for one that was left
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _is_locked(lock: IO[bytes]) -> bool:
    """Take a lock, and return whether there are locks here at all; BlockingIOError where another process has it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _left_in(place: Path, prefix: str) -> Iterator[Path]:
    """Yield the temporary folders of ours in a place whose processes are gone; each is held until the next."""
    if fcntl is None:
        return
    named = re.compile(re.escape(prefix) + r"[a-z0-9_]{8}(" + re.escape(NEW) + ")?")  # as `tempfile.mkdtemp` does
    for folder in [Path(entry.path) for entry in os.scandir(place) if named.fullmatch(entry.name)]:
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            if folder.name.endswith(NEW):
                with suppress(OSError):  # what is in it
                    folder.rmdir()
                    continue
            with (folder / LOCK).open("rb") as lock:
                if _is_locked(lock):
                    yield folder


def _forget_killed(place: Path, prefix: str) -> None:
    """Remove temporary folders that are left; one that was being moved tells that what is beside it is unfinished."""
    with suppress(OSError):
        for folder in _left_in(place, prefix):
            if not (folder / MOVING).exists():
                shutil.rmtree(folder, ignore_errors=True)


def is_unfinished(folder: Path) -> bool:
    """Return whether files are being moved into a folder, or were when their process was killed."""
    return any(folder.glob(f"{UNFINISHED}*/{MOVING}"))


def _forget_unfinished(folder: Path) -> None:
    """Remove what a process that was killed had moved into a folder, if there is nothing else in it."""
    for made in _left_in(folder, UNFINISHED):
        if (made / MOVING).exists():
            try:
                moved = parse_json(read_text(made / MOVING))
            except InputError:
                continue
            here = {entry.name for entry in folder.iterdir()} - {made.name}
            if not isinstance(moved, list) or not here <= {name for name in moved if isinstance(name, str)}:
                continue
            for name in here:
                _remove(folder / name)
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _existing(folder: Path) -> Iterator[None]:
    """Make a folder and those above it where they are missing; if the block fails they go again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for place in missing:  # the innermost first; what others put there in the meantime stays
            with suppress(OSError):
                place.rmdir()
        raise


def _move_up(content: Path, target: Path) -> None:
    """Move everything in a temporary folder to another, or nothing; a list says what, in case that is cut short."""
    items = sorted(content.iterdir())
    written = content.parent / f"{MOVING}{NEW}"
    written.write_text(json.dumps([item.name for item in items]), encoding="utf-8")
    _on_disk(written)
    moving = written.rename(content.parent / MOVING)  # whoever finds the list finds all of it
    _on_disk(content.parent)
    begun: list[Path] = []
    try:
        for item in items:
            begun.append(item)
            item.rename(target / item.name)
        _on_disk(target)
        moving.unlink()
    except BaseException:
        for item in begun:
            _remove(target / item.name)
        raise


def _remove(item: Path) -> None:
    if item.is_dir() and not item.is_symlink():
        shutil.rmtree(item, ignore_errors=True)
    else:
        item.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return JSON text: infinity as "inf", NaN as null."""
    return json.dumps(plain(value), indent=2, ensure_ascii=ascii_only, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Return a value as a JSON file holds it: objects, lists, text, numbers, true, false and null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def record(kind: Any, data: Any, where: str = "") -> Any:
    """Return the frozen dataclass that plain values stand for, as its type hints say: the way back from `plain`.

    A key that is missing has the field's default, a key that is not a field is passed over, and what is of the
    right type already stays as it is.

    Parameters
    ----------
    kind
        The dataclass.
    data
        What `dataclasses.asdict`, and perhaps JSON, made of one.
    where
        What the refusal of a value begins with.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"{where or kind.__name__}: expected an object, got {shown(data)}")
    values = {}
    for field in fields(kind):
        place = f"{where}.{field.name}" if where else field.name
        if field.name in data:
            values[field.name] = typed(_hints(kind)[field.name], data[field.name], place)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{place} is missing")
    return kind(**values)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def typed(kind: Any, value: Any, where: str) -> Any:
    """Return a plain value as the type that a hint names, records included."""
    outer, inner = get_origin(kind), get_args(kind)
    if kind is Any or (value is None and NoneType in inner):
        return value
    if outer in {Union, UnionType}:  # of one type and None
        return typed(inner[0], value, where)
    if outer is Literal:
        return checks.one_of(value, kind, where)
    if outer is tuple:
        if not isinstance(value, (list, tuple)) or (inner[-1] is not ... and len(value) != len(inner)):
            raise InputError(f"{where}: expected a list, got {shown(value)}")
        kinds = inner[:1] * len(value) if inner[-1] is ... else inner
        return tuple(typed(one, item, where) for one, item in zip(kinds, value, strict=True))
    if outer is not None:  # agent -> something
        if not isinstance(value, Mapping):
            raise InputError(f"{where}: expected an object, got {shown(value)}")
        return {str(key): typed(inner[1], item, f"{where}.{key}") for key, item in value.items()}
    if kind in _CHECKS:
        return _CHECKS[kind](value, where)
    return value if isinstance(value, kind) else record(kind, value, where)


def _text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    raise InputError(f"{where}: expected text, got {shown(value)}")


def _number(value: Any, where: str) -> float:
    """Return a number that may be infinite, which is a string in a file."""
    if isinstance(value, float) and math.isinf(value):
        return value
    return float(value) if value in ("inf", "-inf") else checks.number(value, where)


def _whole(value: Any, where: str) -> int:
    return checks.whole(value, where, 0)


_CHECKS = {str: _text, float: _number, int: _whole, bool: checks.boolean}


_FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")
"""How a cell begins that a spreadsheet may take for a formula; the last four are =, +, -, @ of East Asian width."""


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet may take a cell for a formula, perhaps after apostrophes are gone."""
    return _FORMULA.match(cell) is not None


def defused(cell: str) -> str:
    """Return a cell of a CSV table that no spreadsheet takes for a formula: with an apostrophe in front where needed.

    >>> defused("=1+1"), defused("Ada"), restored(defused("'=1+1"))
    ("'=1+1", 'Ada', "'=1+1")
    """
    return f"'{cell}" if is_formula(cell) else cell


def restored(cell: str) -> str:
    """Return the cell that `defused` was given."""
    return cell[1:] if cell.startswith("'") and is_formula(cell) else cell


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name before whatever is refused in the block."""
    try:
        yield
    except InputError as problem:
        raise type(problem)(f"{path}: {problem}") from None


def expect_format(content: Any, expected: str) -> None:
    """Refuse the content of a JSON file of ours that says it is another, or does not say what it is."""
    if not isinstance(content, Mapping):
        raise InputError(f'expected an object that begins {{"format": "{expected}", got {checks.shown(content)}')
    if "format" not in content:
        raise InputError(f'it does not say what it is: add "format": "{expected}", behind its first {{')
    if content["format"] != expected:
        raise InputError(f'the format is {checks.shown(content["format"])}, expected "{expected}"')


def file_like(path: Path) -> str:
    """Return what is there under a name like one that is not, as a question; "" where nothing is."""
    from difflib import get_close_matches

    try:
        there = [one.name for one in path.parent.iterdir()]
    except OSError:
        return ""
    # Endings are alike in most names and tell nothing, but where the rest is the same.
    others = sorted((name for name in there if name != path.name), key=lambda name: Path(name).suffix != path.suffix)
    alike = get_close_matches(path.stem, [Path(name).stem for name in others], n=1)
    found = next((name for name in others if [Path(name).stem] == alike), None)
    return "" if found is None else f"; did you mean {path.with_name(found)}?"


def read_text(path: str | os.PathLike[str], *, windows: bool = False) -> str:
    """Return the content of a text file, or say in one sentence why it cannot be read.

    It is UTF-8; with `windows` it may also be what Excel saves: UTF-16 or Windows-1252.
    """
    place = checks.path(path, "file")
    try:
        # Not `read_text`, which would change line ends inside quotes.
        content = bytearray()
        with place.open("rb") as file:
            while part := file.read(AT_ONCE):  # a pipe does not tell how much there is
                content += part
                if len(content) > LARGEST_TEXT:
                    raise InputError(f"{path}: is larger than {LARGEST_TEXT:,} bytes, the limit of such files")
    except OSError as problem:
        like = file_like(place) if isinstance(problem, FileNotFoundError) else ""
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem}){like}") from None
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in (["utf-16"] if is_wide else ["utf-8-sig", WINDOWS]) if windows else ["utf-8-sig"]:
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    raise InputError(f"{path}: is not text in UTF-8{', UTF-16 or Windows-1252' if windows else ''}")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the content of a JSON file, or say in one sentence why it cannot be read."""
    text = read_text(path)
    with naming(path):
        return parse_json(text)


def parse_json(text: str) -> Any:
    """Return the value of JSON text.

    Keys that occur twice, numbers that no double holds, integers beyond `MOST_DIGITS`, halves of characters, and lists
    or objects more than `DEEPEST` within each other are refused: no file of ours has them, and others would be read in
    part, or could not be written again.
    """
    try:
        value = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_once_each, parse_int=_integer, parse_float=_float
        )
    except RecursionError:
        raise InputError(_TOO_DEEP) from None
    except InputError:
        raise
    except ValueError as problem:
        raise InputError(f"is not JSON ({problem})") from None
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, (list, dict))]:
        depth += 1
        if depth > DEEPEST:
            raise InputError(_TOO_DEEP)
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
    if _HALF.search(text) and (half := re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False))):
        raise InputError(f"is not JSON that can be read ({half[0]!r} is half of a character, without the other half)")
    return value


_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""How half of a character may be written, which is none without the other half."""

_TOO_DEEP = "is not JSON that can be read (lists or objects within each other are too deep)"


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise InputError(f"is not JSON that can be read (the key {shown(twice)} occurs twice)")
    return found


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise InputError(f"is not JSON that can be read (a whole number of {len(digits)} digits)")
    return int(digits)


def _float(written: str) -> float:
    if not math.isfinite(found := float(written)):
        raise InputError(f"is not JSON that can be read (the number {shown(written)} is not finite)")
    return found


def split_header(text: str, columns: Sequence[str] = (), *, strict: bool = False) -> tuple[str, list[str]]:
    """Return the separator of CSV text and the cells of its header, without blanks around them.

    The separator is the one that yields all `columns`, once each and without regard to case, or else the
    one that yields most cells. `strict` passes over those that quotes make no sense with.
    """

    def split(separator: str) -> list[str]:
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
            return [cell.strip() for cell in next(reader, [])]
        except csv.Error:
            return []

    def fits(separator: str) -> tuple[bool, int]:
        cells = [cell.lower() for cell in headers[separator]]
        return all(cells.count(name) == 1 for name in columns), len(cells)

    headers = {separator: split(separator) for separator in SEPARATORS}
    best = max(SEPARATORS, key=fits)
    return best, headers[best]


LOOKED_AT = 20
"""Among how many rows the header of a table is looked for."""

_NUMERIC = re.compile(r"[-+0-9][-+0-9.,:/ ]*|[0-9]+[eE%].*")
"""Numbers and dates, which are no names of columns."""


def header_among(rows: Sequence[Sequence[str | None]]) -> int | None:
    """Return which of the first rows of a table is its header; None where no cell is filled.

    It is the first row with as many cells as a header must have: half of the fullest, or two. Titles and notes above it
    may have as many; it is the first fuller row then, unless that is data: it holds a number, or what comes back below.

    >>> header_among([["Results", None, None], ["by", "HR", None], ["Week", "Who", "Points"], ["1", "Ada", "3"]])
    2
    >>> header_among([["Week", "Who", None], ["1", "Ada", "late"]])
    0
    """
    first = [[(cell or "").strip() for cell in row] for row in rows[:LOOKED_AT]]
    filled = [sum(map(bool, row)) for row in first]
    most = max(filled, default=0)
    least = max(min(2, most), most / 2)
    header = next((place for place, count in enumerate(filled) if count and count >= least), None)
    fuller = next((place for place, count in enumerate(filled) if header is not None and count > filled[header]), None)
    return header if fuller is None or not _names_columns(first, fuller) else fuller


def _names_columns(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return whether a row may be a header: words that differ and do not come back in the rows below."""
    cells = [(column, cell) for column, cell in enumerate(rows[place]) if cell]
    below = {(column, cell) for row in rows[place + 1 :] for column, cell in enumerate(row)}
    words = {cell.casefold() for _, cell in cells}
    return (
        len(words) == len(cells) and not below & set(cells) and not any(_NUMERIC.fullmatch(cell) for _, cell in cells)
    )


def csv_cells(row: str, separator: str) -> list[str]:
    """Return the cells of one row of CSV, none where quotes make no sense."""
    with suppress(csv.Error):
        return next(csv.reader(io.StringIO(row, newline=""), delimiter=separator), [])
    return []


def csv_header(rows: Sequence[str]) -> int:
    """Return which of the first rows of a CSV file is its header; the first that is not blank, if none looks like it.

    The separator is the one with which rows below have as many cells as the header; the first row's own, if several do.
    """
    first = next((place for place, row in enumerate(rows) if row.strip()), 0)
    if not rows:
        return 0
    own, best = split_header(rows[first])[0], (False, 0.0, False, 0, first)
    for separator in SEPARATORS:
        grid = [csv_cells(row, separator) for row in rows]
        place = header_among(grid)
        if place is None:
            continue
        width, below = len(grid[place]), [row for row in grid[place:] if row]
        fitting = sum(len(row) == width for row in below) / len(below)
        best = max(best, (width > 1, fitting, separator == own, width, place))
    return best[-1]


ONCE = {"sample", "agent", "partner", "coalition", "team", "utility", "score", "choice", "members"}
"""Names of columns that tell what a column is; two of them contradict each other."""


def named_columns(header: Sequence[str], rows: Sequence[Sequence[str | None]]) -> list[str]:
    """Return the names of columns, given some rows below: a header over several columns has its number in each.

    Columns without a name belong to it if most of their cells are filled, and not with numbers. So does a name that
    comes again, unless its cells are numbers (if there are none yet, those of the first) or it may be there once only.

    >>> named_columns(["Team", "Members", "", "Score"], [["x", "Ada", "Bo", "1"], ["y", "Cy", "Dee", "2"]])
    ['Team', 'Members', 'Members 2', 'Score']
    >>> named_columns(["Team", "Member", "Member", "Score"], [["x", "Ada", "Bo", "1"], ["y", "Cy", "Dee", "2"]])
    ['Team', 'Member', 'Member 2', 'Score']
    """
    names: list[str] = []
    taken = {name.casefold() for name in header}
    last, numbers, texts = "", dict[str, int](), dict[str, bool]()
    for place, name in enumerate(header):
        cells = [(row[place] or "").strip() for row in rows if place < len(row)]
        filled = [cell for cell in cells if cell]
        last = name or last
        key, numeric = last.casefold(), sum(_NUMERIC.fullmatch(cell) is not None for cell in filled)
        if name:
            is_text = 2 * numeric < len(filled) if filled else texts.get(key, False)
            goes_on = key in texts and key not in ONCE and is_text
            texts.setdefault(key, is_text)
        else:
            goes_on = bool(last) and 2 * len(filled) > len(rows) and not numeric
            last = last if goes_on else ""
        if goes_on:
            numbers[key] = next(n for n in itertools.count(numbers.get(key, 1) + 1) if f"{key} {n}" not in taken)
        names.append(f"{name or last} {numbers[key]}" if goes_on else name)
    return told_apart(names)


def told_apart(header: Iterable[str]) -> list[str]:
    """Return the names of columns, with blanks, which do not count in matching, added to those that repeat.

    Engines take names that differ in case only for the same, and so do we.

    >>> told_apart(["Note", "Score", "note"])
    ['Note', 'Score', 'note ']
    """
    names: dict[str, str] = {}
    repeats = dict[str, int]()
    for name in header:
        folded = name.casefold()
        while (unique := folded + _blanks(repeats.setdefault(folded, 0))) in names:
            repeats[folded] += 1
        names[unique] = name + _blanks(repeats[folded])
    return list(names.values())


def _blanks(number: int) -> str:
    r"""Return blanks that differ by number: so many, or else its digits, since there may be thousands of columns.

    >>> _blanks(2), _blanks(65_537)
    ('  ', '\t               \t')
    """
    return " " * number if number < 16 else f"{number:b}".translate({ord("0"): " ", ord("1"): "\t"})


def csv_table(text: str, columns: Sequence[str] = ()) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the header of CSV text, and its rows with the numbers that a spreadsheet shows, the header's mostly 1.

    Lines that are empty are passed over, also above the header, and so are titles there and a first line `sep=;`, which
    spreadsheets do not show. `columns` are names that the header should have, which tell its separator.
    """
    start = re.match(r"(?:sep=.\r?\n)?((?:[ \t]*\r?\n)*)", text, re.IGNORECASE)
    assert start is not None  # it matches nothing, too
    above, text = start[1].count("\n"), text[start.end() :]
    separator, header = split_header(text, columns, strict=True)
    if not columns or not {name.lower() for name in header} >= set(columns):
        lines = text.splitlines(keepends=True)[:LOOKED_AT]
        titles = lines[: csv_header(lines)]
        if titles and all(title.count('"') % 2 == 0 for title in titles):
            above, text = above + len(titles), text[len("".join(titles)) :]
            separator, header = split_header(text, columns, strict=True)
    return header, _csv_rows(text, separator, len(header), above + 1)


def _csv_rows(text: str, separator: str, cells: int, header: int) -> Iterator[tuple[int, list[str]]]:
    """Yield rows below the header, whose number is given."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = header - 1
    try:
        next(reader, None)
        number = header
        for number, row in enumerate(reader, start=header + 1):
            if len(row) not in {0, cells}:
                raise InputError(f"row {number}: expected {cells} fields, got {len(row)}")
            if row:
                yield number, row
    except csv.Error as problem:
        raise InputError(f"row {number + 1}: is not CSV ({problem})") from None


def parse_csv(text: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row and its values in `columns`.

    Headers are compared without regard to case; other columns and empty lines are skipped.
    """
    header, rows = csv_table(text, columns)
    header = [name.lower() for name in header]
    if any(header.count(name) != 1 for name in columns):
        raise InputError(f"expected the columns {','.join(columns)}, once each, in the first line")
    places = [header.index(name) for name in columns]
    for number, row in rows:
        yield number, [row[place] for place in places]
