"""Workbooks of Excel 97 to 2003, written by hand: nothing else here writes them."""

import struct

END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def record(kind, body=b""):
    return struct.pack("<HH", kind, len(body)) + body


def text(row, column, words):
    """Return a cell with words."""
    return record(0x0204, struct.pack("<HHHHB", row, column, 0, len(words), 1) + words.encode("utf-16le"))


def number(row, column, value):
    """Return a cell with a number."""
    return record(0x0203, struct.pack("<HHHd", row, column, 0, value))


def sheet(rows, *more):
    """Return a sheet of rows of text or numbers, and further records."""
    places = ((r, c, cell) for r, row in enumerate(rows) for c, cell in enumerate(row))
    cells = ((text if isinstance(at[2], str) else number)(*at) for at in places)
    return record(0x0809, struct.pack("<HHHH", 0x0600, 0x10, 0, 0)) + b"".join([*cells, *more]) + record(0x0A)


def stream(*sheets, before=b""):
    """Return the stream of a workbook."""
    begin = record(0x0809, struct.pack("<HHHH", 0x0600, 5, 0, 0)) + before
    place, listed = len(begin) + 15 * len(sheets) + 4, b""
    for at, one in enumerate(sheets):
        listed += record(0x85, struct.pack("<IBBBB", place, 0, 0, 3, 0) + f"s{at:02}".encode())
        place += len(one)
    return begin + listed + record(0x0A) + b"".join(sheets)


def compound(content, short=False):
    """Return a file system with one stream in sectors of 512 bytes; a short one in sectors of 64 within these."""
    if not short:
        content = content.ljust(4096, b"\0")
    length, sectors = len(content), -(-len(content) // 512)
    table = [TABLE, END, *range(3, 2 + sectors), END]
    small = len(table) if short else END
    if short:
        pieces = -(-length // 64)
        chain = struct.pack(f"<{pieces}I", *range(1, pieces), END).ljust(512, b"\xff")
        table.append(END)
    entries = [("Root Entry", 5, 2 if short else END, 512 * sectors if short else 0),
               ("Workbook", 2, 0 if short else 2, length)]  # fmt: skip
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(10)
    header += struct.pack("<IIIIIIII", 1, 1, 0, 4096, small, int(short), END, 0)
    header += struct.pack("<109I", 0, *[FREE] * 108)
    listed = b"".join(
        name.encode("utf-16le").ljust(64, b"\0") + struct.pack("<HBBIII", 2 * len(name) + 2, kind, 1, FREE, FREE, 1)
        + bytes(36) + struct.pack("<IQ", first, size)
        for name, kind, first, size in entries
    ).ljust(512, b"\0")  # fmt: skip
    parts = struct.pack(f"<{len(table)}I", *table).ljust(512, b"\xff") + listed + content.ljust(512 * sectors, b"\0")
    return header + parts + (chain if short else b"")
