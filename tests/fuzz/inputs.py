"""Inputs that are almost right: bytes, JSON values and tables, changed at random.

Everything is drawn from a `random.Random`, so that a seed and a number give the same input again.
"""

import copy
import csv
import io
import json
import zipfile

NUMBERS = (
    0, 1, -1, 2, 3, 0.5, -0.0, 1e-9, 1e9, 1e300, 5e-324, -1e308, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1,
    10**20, 10**290,
)  # fmt: skip
TEXTS = (
    "", " ", "a", "A", "a ", "b", "x", "1", "01", "1.0", "nan", "inf", "-inf", "1e400", "0,5", "0.5", "=1+1", "*",
    "observed", "any", "one", "up-to:3", "up-to:0", "up-to:99999999999999999999", "null", "\x00", "\x1b[2J",
    "\u202e", "\ufeff", "é", "\U0001d518", "a" * 300, "'", '"', ";", ",", "\t", "\n", "\r", "{}", "[]", "..",
    "/dev/null",
    "~", "%s", "{0}", "\ud800", "team", "total", "semi-bandit", "bandit", "2024-01-01", "coterie.log/1",
    "coterie.rules/1", "6:8", "0,6:8", "1:0", "a=x", "a,b", "a,b@x",
)  # fmt: skip
TOKENS = (
    b"", b",", b";", b"\t", b'"', b'""', b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\xff\xfe", b"sep=;\n", b"nan", b"inf", b"-", b"1e999", b"1e-999", b"0x10", b"1_0", b"0,5", b".5", b"5.", b"+1",
    b"--1", b"[", b"]", b"{", b"}", b":", b"null", b"true", b"[" * 8, b"[" * 3000, b'{"a":', b"\\u0000", b"\\ud800",
    b"9" * 400, b"#", b"'", b" ", b"\xe9", b"\xc3\xa9", b"PAR1", b"PK\x03\x04", b"\x80\x80\x80\x80\x10", b"\x7f" * 8,
    b"sample", b"utility", b"agent", b"a", b"x",
)  # fmt: skip


def changed_bytes(rng, content):
    """Return bytes with one to a few changes: bits, cuts, repeats, insertions, moves."""
    found = bytearray(content)
    for _ in range(1 + int(rng.expovariate(0.7))):
        place, other = (rng.randrange(len(found) + 1) for _ in range(2))
        first, last = sorted((place, min(other, place + 64)))
        how = rng.randrange(7)
        if how == 0 and found:
            found[place % len(found)] ^= 1 << rng.randrange(8)
        elif how == 1 and found:
            found[place % len(found)] = rng.randrange(256)
        elif how == 2:
            found[place:place] = rng.choice(TOKENS)
        elif how == 3:
            del found[first:last]
        elif how == 4:
            found[other:other] = found[first:last] * rng.choice((1, 1, 2, 50))
        elif how == 5:
            found[first:last] = rng.choice(TOKENS)
        elif rng.random() < 0.3:
            del found[place:]
    return bytes(found)


def changed_value(rng, value):
    """Return a JSON value with one to a few of its parts replaced, removed, added, repeated or nested."""
    found = {"": copy.deepcopy(value)}
    for _ in range(1 + int(rng.expovariate(0.7))):
        places = list(_places(found))
        holder, key = rng.choice(places)
        how = rng.randrange(6)
        if how <= 2:
            holder[key] = any_value(rng)
        elif how == 3 and holder is not found:
            del holder[key]
        elif how == 4:
            other, name = rng.choice(places)
            holder[key] = copy.deepcopy(other[name])
        elif isinstance(holder, list):
            holder.insert(key, any_value(rng))
        elif holder is not found:
            holder[str(rng.choice(TEXTS))] = any_value(rng)
    return found[""]


def _places(holder):
    """Yield every place of a value as the list or object that holds it and its key there."""
    for key, item in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        yield holder, key
        if isinstance(item, (dict, list)):
            yield from _places(item)


def any_value(rng, depth=0):
    """Return some JSON value."""
    how = rng.randrange(8 if depth < 3 else 5)
    if how <= 1:
        return rng.choice(NUMBERS)
    if how <= 3:
        return rng.choice(TEXTS)
    if how == 4:
        return rng.choice((None, True, False, float("nan"), float("inf")))
    if how == 5:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if how == 6:
        return {str(rng.choice(TEXTS)): any_value(rng, depth + 1) for _ in range(rng.randrange(4))}
    nested = any_value(rng, 3)
    for _ in range(rng.choice((1, 5, 70))):
        nested = [nested]
    return nested


def written(rng, value):
    """Return a JSON value as bytes; sometimes with changes to these too."""
    content = json.dumps(value).encode()
    return changed_bytes(rng, content) if rng.random() < 0.1 else content


def changed_table(rng, table):
    """Return a table, a list of rows of text, with one to a few changes to cells, rows and columns."""
    rows = [list(row) for row in table]
    for _ in range(1 + int(rng.expovariate(0.7))):
        place = rng.randrange(len(rows))
        how = rng.randrange(9)
        if how <= 2 and rows[place]:
            rows[place][rng.randrange(len(rows[place]))] = str(rng.choice(TEXTS + NUMBERS))
        elif how == 3:
            rows.insert(rng.randrange(len(rows) + 1), list(rows[place]))
        elif how == 4 and len(rows) > 1:
            del rows[place]
        elif how == 5 and rows[place]:
            one, two = (rng.randrange(len(rows[place])) for _ in range(2))
            rows[place][one], rows[place][two] = rows[place][two], rows[place][one]
        elif how == 6:
            column = rng.randrange(len(rows[0]) + 1)
            for row in rows:
                row.insert(column, str(rng.choice(TEXTS)))
        elif how == 7:
            rows[place].append("")
        elif rows[place]:
            other = rng.choice(rows)
            rows[place][rng.randrange(len(rows[place]))] = rng.choice(other) if other else ""
    return rows


def csv_bytes(rng, table):
    """Return a table as CSV in some dialect and encoding."""
    text = io.StringIO(newline="")
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(
        text,
        delimiter=rng.choice(",,,,;;\t\t|"),
        quoting=quoting,
        lineterminator=rng.choice(("\n", "\n", "\r\n", "\r")),
    )
    writer.writerows(table)
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
    content = text.getvalue().encode(encoding, errors="replace")
    return changed_bytes(rng, content) if rng.random() < 0.2 else content


def changed_archive(rng, content):
    """Return a zip archive in which one file was changed."""
    given, made = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        names = given.namelist()
        chosen = rng.choice(names)
        for name in names:
            held = given.read(name)
            if name == chosen and rng.random() < 0.1:
                continue
            archive.writestr(zipfile.ZipInfo(name), changed_bytes(rng, held) if name == chosen else held)
    return made.getvalue()
