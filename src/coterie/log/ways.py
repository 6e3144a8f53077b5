"""Ways in which people write outcomes that are no plain numbers, and which number each of them stands for."""

import re

from coterie.game.tables import word_in
from coterie.words import number, unaccented

MINUTES = "mins min minutes minuten minutos"
SECONDS = "secs sec seconds sekunden sek secondes segundos"
HOURS = "hours hrs hr h stunden std heures horas"
"""Units of time in headers; a minute or an hour (in the singular) may also say when."""

LASTS = "time zeit temps tiempo"
"""Words of headers that say when, or how long, which the cells tell."""

BAD_ENDS = (
    "dnf", "did not finish", "not finished", "dsq", "dq", "disqualified", "retired", "failed", "fail", "gave up",
    "abandoned", "nicht beendet", "aufgegeben", "disqualifiziert", "durchgefallen", "abandon", "disqualifi\u00e9",
)  # fmt: skip
"""What people write in place of a bad result, in lower case."""

_DIGITS = r"\d+(?:[.,]\d+)?"
_TIME = re.compile(r"\s*(\d{1,3}):([0-5]\d)(?::([0-5]\d))?([.,]\d+)?\s*")
_OUT_OF = re.compile(rf"\s*({_DIGITS})\s*/\s*({_DIGITS})\s*")
_BETWEEN = re.compile(rf"\s*({_DIGITS})\s*[-\u2013]\s*({_DIGITS})\s*")
_PERCENT = re.compile(rf"\s*([-+]?{_DIGITS})\s*%\s*")
_MINUS = re.compile(rf"\s*\u2212\s*({_DIGITS})\s*")
_GROUPED = re.compile(
    r"\s*([-+\u2212]?)(\d{1,3}(?:(?P<sign>[.,])\d{3})+(?!(?P=sign))[.,]\d+"
    r"|\d{1,3}(?:[ \u00a0\u202f'\u2019]\d{3})+(?:[.,]\d+)?)\s*"
)
"""A number with a sign between its thousands that is none of decimals: 2 300; 2.300,50 and 2,300.50."""
_STARS = re.compile(r"\s*([\u2605\u2b50*]\ufe0f?)+\u2606*\s*")
_MONEY = re.compile(r"\s*[-+]?[\u20ac$\u00a3]\s*\d[\d., ]*|\s*[-+]?\d[\d., ]*\s*([\u20ac$\u00a3]|EUR|USD|CHF)\s*")
_WITH_UNIT = re.compile(
    rf"\s*[-+]?({_DIGITS})\s*(?:pts?|points?|punkte|stars?|min|mins|minutes|s|secs?|h|hrs?)\.?\s*", re.IGNORECASE
)


def unit_of_time(header: str) -> str | None:
    """Return the word of a header that is a unit of time.

    >>> [unit_of_time(one) for one in ("Time taken (mins)", "Zeit (h)", "Finish time", "Hour")]
    ['mins', 'h', None, None]
    """
    words = re.findall(r"[^\W\d_]+", unaccented(header.casefold()))
    units = {*MINUTES.split(), *SECONDS.split(), *HOURS.split()}
    return next((word for word in words if word in units), None)


def says_how_long(header: str) -> bool:
    """Return whether a header may say how long something took."""
    return unit_of_time(header) is not None or word_in(header, LASTS.split()) is not None


def plainly(text: str, header: str = "") -> float | None:
    """Return the number that a cell stands for which holds no plain one, as far as that is clear; else None.

    Times are in the unit of the header, or in minutes.

    >>> plainly("14/20"), plainly("80 %"), plainly("48:36", "Time (mins)"), plainly("1:30", "Time (h)")
    (14.0, 80.0, 48.6, 1.5)
    >>> plainly("1:02:30"), plainly("\u2605\u2605\u2605"), plainly("12 pts"), plainly("2-3"), plainly("DNF")
    (62.5, 3.0, 12.0, 2.5, None)
    >>> plainly("\u22120,3"), plainly("1.234.500,50"), plainly("2,300.5"), plainly("2 300"), plainly("2.300")
    (-0.3, 1234500.5, 2300.5, 2300.0, None)
    """
    if found := _TIME.fullmatch(text):
        return _duration(found, unit_of_time(header) or "")
    if found := _BETWEEN.fullmatch(text):
        low, high = (_number(one) for one in found.groups())
        return (low + high) / 2 if low < high else None
    if found := _MINUS.fullmatch(text):
        return -_number(found[1])
    if found := _GROUPED.fullmatch(text):
        *whole, last = re.findall(r"\d+", found[2])
        is_whole = found["sign"] is None and not re.search("[.,]", found[2])
        value = float("".join((*whole, last)) if is_whole else f"{''.join(whole)}.{last}")
        return -value if found[1] in {"-", "\u2212"} else value
    for pattern in (_OUT_OF, _PERCENT, _WITH_UNIT):
        if found := pattern.fullmatch(text):
            return _number(found[1])
    return float(len(re.findall("[\u2605\u2b50*]", text))) if _STARS.fullmatch(text) else None


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _duration(found: re.Match[str], unit: str) -> float:
    first, second, third = (int(one or 0) for one in found.groups()[:3])
    fraction = _number(f"0{found[4]}") if found[4] else 0.0
    is_hours = found[3] is not None or unit in HOURS.split()
    seconds = 3600 * first + 60 * second + third if is_hours else 60 * first + second
    divisor = 1 if unit in SECONDS.split() else 3600 if unit in HOURS.split() else 60
    return round((seconds + fraction) / divisor, 2)


def is_otherwise(text: str) -> bool:
    """Return whether a cell is written like an outcome that is no plain number.

    >>> [is_otherwise(one) for one in ("48:36", "4/5", "80%", "1.500,50 \u20ac", "12 pts", "Ada", "5", "2024-05-01")]
    [True, True, True, True, True, False, False, False]
    """
    return any(one.fullmatch(text) for one in (_TIME, _OUT_OF, _PERCENT, _STARS, _MONEY, _WITH_UNIT, _MINUS, _GROUPED))


def is_of_clock(text: str) -> bool:
    """Return whether a cell may be a time of the day at which something begins; 9.3 was 9.30 to a spreadsheet.

    >>> [is_of_clock(one) for one in ("9:30", "9.30", "9.3", "48:36", "9:31", "9.7")]
    [True, True, True, False, False, False]
    """
    found = re.fullmatch(r"\s*(\d{1,2})(?:[:.](\d\d)(?::00)?|\.(\d))\s*", text)
    if found is None or int(found[1]) >= 24:
        return False
    minute = int(found[2] or found[3] + "0")
    return minute < 60 and minute % 5 == 0


def instead(text: str, header: str = "") -> str:
    """Return what to write instead of a cell, "" where that is not clear.

    >>> instead("14/20", "Note /20"), instead("48:36", "Time taken (mins)"), instead("good")
    ('14 for 14/20', '48.6 for 48:36', '')
    """
    value = plainly(text, header)
    return "" if value is None else f"{number(value)} for {text.strip()}"
