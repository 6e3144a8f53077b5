"""Workbooks of Excel 97 to 2003 (.xls): whether their parts hang together, and how far away their cells are.

Such a file is a file system of its own, of sectors in chains (MS-CFB), in which one stream holds records (MS-XLS).
calamine follows chains wherever they lead, also in circles, and makes room for all cells up to the last one while it
opens the file; so both are looked at first.
"""

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from coterie.errors import InputError

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_NO_SECTOR = 0xFFFF_FFFA
"""Numbers from here on are no sectors, but say something about them; `_END` ends a chain."""
_END = 0xFFFF_FFFE
_SHORT = 4096
"""Streams with fewer bytes are in a stream of small sectors."""
_STREAMS = ("Workbook", "Book", "WORKBOOK", "BOOK")

_END_OF_PART, _PASSWORD, _SHEET, _ROW_OF_NUMBERS, _EXTENT, _BEGIN = 0x0A, 0x2F, 0x85, 0xBD, 0x0200, 0x0809
_CELLS = {0x06, 0xD6, 0xFD, _ROW_OF_NUMBERS, 0x0203, 0x0204, 0x0205, 0x027E}
"""Records of cells that hold something: they begin with row and column (MS-XLS 2.4)."""


def extents(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the last row and column that hold something, or are said to, of every sheet; of other files nothing."""
    with path.open("rb") as file:
        if file.read(len(SIGNATURE)) != SIGNATURE:
            return
    try:
        yield from _extents(_Parts(path.read_bytes()).workbook())
    except (ValueError, IndexError, struct.error):
        raise InputError(f"{path}: cannot be read as a spreadsheet (its parts do not hang together)") from None


class _Parts:
    """The file system within a file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        (shift,) = struct.unpack_from("<H", content, 30)
        self._size = {9: 512, 12: 4096}[shift] if shift in {9, 12} else 0
        if not self._size:
            raise ValueError("sectors of an unknown size")
        table = list(struct.unpack_from("<109I", content, 76))
        (more,) = struct.unpack_from("<I", content, 68)
        seen: set[int] = set()
        while more < _NO_SECTOR:
            _refuse_again(more, seen)
            *further, more = _numbers(self._sector(more))
            table += further
        self._next = [number for at in table if at < _NO_SECTOR for number in _numbers(self._sector(at))]

    def workbook(self) -> bytes:
        """Return the stream of the workbook."""
        first, small = struct.unpack_from("<I", self._content, 48)[0], struct.unpack_from("<I", self._content, 60)[0]
        listed = self._chain(first)
        found = [_Entry(listed[at : at + 128], self._size) for at in range(0, len(listed) - 127, 128)]
        entry = next((one for name in _STREAMS for one in found if one.name == name), None)
        if entry is None:
            raise ValueError("no workbook")
        if entry.length >= _SHORT:
            return self._chain(entry.first, entry.length)
        within, after = self._chain(found[0].first, found[0].length), _numbers(self._chain(small))
        places = _followed(entry.first, after, -(-entry.length // 64))
        return b"".join(within[64 * at : 64 * at + 64] for at in places)[: entry.length]

    def _sector(self, number: int) -> bytes:
        found = self._content[(number + 1) * self._size : (number + 2) * self._size]
        if not found:
            raise ValueError("a sector beyond the end")
        return found

    def _chain(self, first: int, length: int | None = None) -> bytes:
        """Return what is in a chain of sectors, all of it or so many bytes."""
        most = None if length is None else -(-length // self._size)
        return b"".join(map(self._sector, _followed(first, self._next, most)))[:length]


class _Entry:
    """A name in the file system, and where its stream is."""

    def __init__(self, entry: bytes, size: int) -> None:
        self.name = entry[:64].decode("utf-16le", errors="replace").partition("\0")[0]
        (self.first,) = struct.unpack_from("<I", entry, 116)
        (self.length,) = struct.unpack_from("<I" if size == 512 else "<Q", entry, 120)


def _numbers(sector: bytes) -> Sequence[int]:
    return struct.unpack(f"<{len(sector) // 4}I", sector[: len(sector) // 4 * 4])


def _followed(first: int, after: Sequence[int], most: int | None) -> Iterator[int]:
    """Yield the sectors of a chain, at most so many; ValueError where it comes back to itself."""
    seen: set[int] = set()
    while first != _END and (most is None or len(seen) < most):
        _refuse_again(first, seen)
        yield first
        first = after[first] if len(seen) != most else _END


def _refuse_again(number: int, seen: set[int]) -> None:
    if number in seen:
        raise ValueError("a chain that comes back to itself")
    seen.add(number)


def _extents(stream: bytes) -> Iterator[tuple[int, int]]:
    """Yield the last row and column of every sheet in the stream of a workbook."""
    sheets = []
    for kind, body in _records(stream, 0):
        if kind == _PASSWORD and body[:2] != b"\0\0":
            return  # calamine says so
        if kind == _SHEET:
            sheets.append(struct.unpack_from("<IBBB", body)[0])
        elif kind == _END_OF_PART:
            break
    for place in sheets:
        if place > len(stream):
            raise ValueError("a sheet beyond the end")
        yield _extent(stream, place)


def _extent(stream: bytes, place: int) -> tuple[int, int]:
    """Return the last row and column of a sheet, by its cells or as it says, whichever takes more room."""
    depth = rows = columns = 0
    said = [(0, 0)]
    for kind, body in _records(stream, place):
        if kind in {_BEGIN, _END_OF_PART}:  # charts have parts within
            depth += 1 if kind == _BEGIN else -1
            if depth <= 0:
                break
        elif kind in _CELLS:
            row, column = struct.unpack_from("<HH", body)
            if kind == _ROW_OF_NUMBERS:
                (column,) = struct.unpack_from("<H", body, len(body) - 2)
            rows, columns = max(rows, row + 1), max(columns, column + 1)
        elif kind == _EXTENT and len(body) in {10, 14}:
            top, bottom, left, right = struct.unpack_from("<HHHH" if len(body) == 10 else "<IIHH", body)
            # Backwards it is all the way round.
            said.append((bottom if top <= bottom else 1 << 32, right if left <= right else 1 << 16))
    return max([(rows, columns), *said], key=math.prod)


def _records(stream: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of all records from a place on."""
    while place + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, place)
        yield kind, stream[place + 4 : place + 4 + length]
        place += 4 + length
