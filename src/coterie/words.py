"""Numbers as people write them, names in the order people expect, and options in the words of who gave them."""

import math
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import Any

from coterie.errors import CoterieError

Spelling = Callable[[Mapping[str, Any]], str]
"""Writes options as a caller would; a value of `...` stands for the option without one."""


GUESS = "a guess"
"""Beside a value of people who were never seen together: it is made of what they were like with others."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "pair"), counted(1200, "pair"), counted(2, "has", "have")
    ('1 pair', '1,200 pairs', '2 have')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def some(names: Iterable[str], most: int) -> str:
    """Return names as a list, the first few of many.

    >>> some("abcd", 2), some("ab", 2)
    ('a, b and 2 more', 'a, b')
    """
    listed = list(names)
    return joined(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")


def joined(names: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return names one after another; semicolons part them where a name holds a comma.

    >>> joined(["Ann", "Bo"]), joined(["Lee, Ann", "Bo"])
    ('Ann, Bo', 'Lee, Ann; Bo')
    """
    found = list(names)
    return ("; " if any("," in one for one in found) else ", ").join(map(shown, found))


def capitalised(text: str) -> str:
    """Return a text that may begin a sentence, names in it left as they are.

    >>> capitalised("today's teams break the rules of Ada")
    "Today's teams break the rules of Ada"
    """
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str]) -> str:
    """Return all names, with "and" before the last.

    >>> listed("abc"), listed("ab"), listed("a")
    ('a, b and c', 'a and b', 'a')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def signed(value: float, decimals: int = 2) -> str:
    """Return a change of utility with its sign, which nothing does not have.

    >>> signed(0.128), signed(-2), signed(-0.001)
    ('+0.13', '-2.00', '0.00')
    """
    shown = f"{value:+.{decimals}f}"
    return shown[1:] if float(shown) == 0 else shown


def better_by(value: float, decimals: int = 2) -> str:
    """Return a change in words, where a sign would be about numbers of which less is better.

    >>> better_by(0.128), better_by(-2), better_by(-0.001)
    ('0.13 better', '2.00 worse', '0.00')
    """
    shown = signed(value, decimals)
    return f"{shown[1:]} {'better' if value > 0 else 'worse'}" if shown[0] in "+-" else shown


def numbered_team(number: str) -> str:
    """Return what a team is called that has a number and no name.

    >>> numbered_team("3")
    'team 3'
    """
    return f"team {number}"


def unaccented(text: str) -> str:
    """Return a text without its accents.

    >>> unaccented("élève, Änne")
    'eleve, Anne'
    """
    if text.isascii():  # as most are
        return text
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))


def alphabetical(names: Iterable[str]) -> list[str]:
    """Return names as people look for them: without regard to case and accents, and by numbers within them.

    >>> alphabetical(["Zoe", "Ömer", "p10", "p9", "adam", "Otto"])
    ['adam', 'Ömer', 'Otto', 'p9', 'p10', 'Zoe']
    """

    def key(name: str) -> tuple[list[tuple[int, str]], str]:
        letters = re.findall("[0-9]+|[^0-9]+", unaccented(name.casefold()))
        parts = [part.lstrip("0") if part[:1].isdigit() else part for part in letters]
        # Of numbers the longer one is larger; letters are longer than any.
        return [(len(part) if part[:1].isdigit() or not part else sys.maxsize, part) for part in parts], name

    return sorted(names, key=key)


def decimals(*ranges: Sequence[float]) -> int:
    """Return with how many decimals numbers are told that lie in such ranges: no more than the widest deserves.

    >>> decimals((3.74, 3.75)), decimals((5.8, 7.8)), decimals((100, 160)), decimals()
    (2, 1, 0, 2)
    """
    widest = max((one[-1] - one[0] for one in ranges if one), default=0.0)
    return next((places for places, width in ((2, 0.4), (1, 4.0)) if widest < width), 0)


def chance(share: float) -> str:
    """Return a probability that came from draws, which never make anything certain.

    >>> chance(0.873), chance(1.0), chance(0.0)
    ('87 %', 'over 99 %', 'under 1 %')
    """
    if 0.01 <= share < 0.99:
        return percent(round(share, 2))
    return f"over {percent(0.99)}" if share > 0.5 else f"under {percent(0.01)}"


def percent(share: float) -> str:
    """Return a probability as a percentage without false precision.

    >>> percent(0.99), percent(0.999), percent(0.9)
    ('99 %', '99.9 %', '90 %')
    """
    return f"{100 * share:.6g} %"


def number(value: float | None) -> str:
    """Return a number as people write it: 3 for 3.0, without the last digits, which are mostly rounding.

    >>> number(3.0), number(0.1 + 0.2), number(6.8999999999999995), number(1 / 3)
    ('3', '0.3', '6.9', '0.333333333333')
    """
    if value is None:
        return "nothing"
    for shown in (value, float(f"{value:.12g}")):
        if math.isfinite(shown) and shown == int(shown) and abs(shown) < 1e15:
            return str(int(shown))
    return repr(float(f"{value:.12g}"))


def interval(low: float, high: float) -> str:
    """Return [low, high] as people write it."""
    return f"[{number(low)}, {number(high)}]"


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names in the order people expect: "2" before "10", otherwise by characters."""
    return tuple(sorted(set(names), key=_natural))


def _natural(name: str) -> tuple[list[tuple[int, str]], str]:
    # Digits and the rest alternate, so numbers are only compared with numbers; "1" and "01" still differ.
    pieces = re.split("([0-9]+)", name)
    digits = [piece.lstrip("0") for piece in pieces]  # longer numbers are larger, whatever their length
    return [(len(digits[t]), digits[t]) if t % 2 else (0, piece) for t, piece in enumerate(pieces)], name


def literal(value: Any) -> str:
    """Return a value as Python code, with numbers as people write them.

    >>> literal({"low": 1.0, "on": True}), literal((1.5, "a"))
    ('{"low": 1, "on": True}', '(1.5, "a")')
    """
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(literal, value))})"
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else repr(value)


def in_shell(text: str) -> str:
    """Return a word of a command as a shell takes it: as it is, or in quotation marks.

    These are double ones where they will do, which the shell of Windows knows too; within words, # needs none.

    >>> print(in_shell("teams.csv"), in_shell("firm.xlsx#Today"), in_shell("my firm"), in_shell("US$ (net)"))
    teams.csv firm.xlsx#Today "my firm" 'US$ (net)'
    """
    if re.fullmatch(r"(?!#)[\w@%+=:,./#-]+", text):
        return text
    return shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'


def html_table(rows: Iterable[Iterable[Any]], caption: str = "") -> str:
    """Return a table as HTML, its first row as heads; whatever stands in it is text.

    >>> html_table([["name"], ["<b>"]])
    '<table><thead><tr><th>name</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head, *body = [[escape(str(cell)) for cell in row] for row in rows]
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body)
    heads = "".join(f"<th>{cell}</th>" for cell in head)
    return f"<table>{told}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def data_frame(rows: Iterable[Iterable[Any]]) -> Any:
    """Return rows below a header as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError:
        raise CoterieError("a data frame needs pandas: pip install pandas") from None
    head, *body = rows
    return pd.DataFrame(body, columns=list(head))


def said(*names: str, **values: Any) -> str:
    """Return options as the caller would give them: Python arguments, unless `spelled` says otherwise.

    >>> said("memory_limit"), said(utility_range=(1.0, 5.0), neutral=3), said(engine="spark")
    ('memory_limit', 'utility_range=(1, 5), neutral=3', 'engine="spark"')
    """
    return _spelling.get()({**dict.fromkeys(names, ...), **values})


@contextmanager
def spelled(spelling: Spelling) -> Iterator[None]:
    """Let messages of the block name options in other words, such as those of a command line."""
    before = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(before)


def as_arguments(options: Mapping[str, Any]) -> str:
    """Return options as arguments of a Python function, or keys of a file."""
    return ", ".join(name if value is ... else f"{name}={literal(value)}" for name, value in options.items())


_spelling: ContextVar[Spelling] = ContextVar("spelling", default=as_arguments)
