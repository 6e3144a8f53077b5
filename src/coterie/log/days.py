"""Days that are written in several ways, as text beside the dates of a workbook: 14.08.2026 is 2026-08-14."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, TypeVar

DAY = "^ *[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{2,4} *$"
"""What names of days look like, to an engine."""

_YEAR_FIRST = re.compile(r"([0-9]{4})([-./])([0-9]{1,2})\2([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-./])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})")

MONTHS = 12

Key = TypeVar("Key")


class _Form(NamedTuple):
    """How a day is written: what comes first, and what stands between."""

    is_year_first: bool
    sign: str
    is_short: bool = False
    """Whether years have two digits."""


@dataclass(frozen=True)
class _Written:
    """The numbers of a name in their order, and how they are written."""

    form: _Form
    numbers: tuple[int, int, int]
    is_padded: bool

    @classmethod
    def of(cls, name: str) -> "_Written | None":
        text = name.strip()
        if found := _YEAR_FIRST.fullmatch(text):
            parts = (found[1], found[3], found[4])
            return cls(_Form(is_year_first=True, sign=found[2]), _whole(parts), len(found[3] + found[4]) == 4)
        if found := _YEAR_LAST.fullmatch(text):
            parts, is_short = (found[1], found[3], found[4]), len(found[4]) == 2
            form = _Form(is_year_first=False, sign=found[2], is_short=is_short)
            return cls(form, _whole(parts), len(found[1] + found[3]) == 4)
        return None


def _whole(parts: tuple[str, str, str]) -> tuple[int, int, int]:
    return int(parts[0]), int(parts[1]), int(parts[2])


@dataclass(frozen=True)
class Days:
    """What names of days are to be called, and those that cannot be told to be the same as others."""

    called: Mapping[str, str]
    unclear: tuple[str, ...] = ()


def same_days(times: Mapping[str, int]) -> Days:
    """Return how days are called that most cells write otherwise, given how often each name occurs.

    Between dots the day comes first; between others that is as any of them shows, of which one number is above 12.

    >>> same_days({"2026-08-13": 9, "2026-08-14": 8, "14.08.2026": 1, "15.8.26": 1, "Sprint 3": 2}).called
    {'14.08.2026': '2026-08-14', '15.8.26': '2026-08-15'}
    >>> same_days({"1.3.2026": 4, "01.03.2026": 1, "10.3.2026": 4, "2026-03-11": 1}).called
    {'01.03.2026': '1.3.2026', '2026-03-11': '11.3.2026'}
    >>> same_days({"2026-03-01": 4, "3/2/2026": 1}).unclear, same_days({"2026-03-01": 4, "3/2/2026": 1, "3/22/2026": 1})
    (('3/2/2026',), Days(called={'3/2/2026': '2026-03-02', '3/22/2026': '2026-03-22'}, unclear=()))
    >>> same_days({"3/2/2026": 4, "3/4/2026": 4}), same_days({"14.08.2026": 4, "1.12.2026": 4})
    (Days(called={}, unclear=()), Days(called={}, unclear=()))
    """
    written = {name: found for name in times if (found := _Written.of(name)) is not None}
    if not written:
        return Days({})
    often: dict[_Form, int] = {}
    for name, found in written.items():
        often[found.form] = often.get(found.form, 0) + times[name]
    usual = max(often, key=lambda form: (often[form], form.is_year_first))
    if len(often) == 1:
        return Days(_alike({name: found.numbers for name, found in written.items()}, times))
    is_day_first = {form: _is_day_first(form, written) for form in often}
    known = {
        found.numbers[0 if found.form.is_year_first else 2] for found in written.values() if not found.form.is_short
    }
    read = {name: _day(found, is_day_first[found.form], known) for name, found in written.items()}
    unclear = tuple(name for name, day in read.items() if day is None)
    if is_day_first[usual] is None:  # then it is not known which days the others are among these
        return Days({}, tuple(name for name in written if written[name].form != usual))
    days = {name: day for name, day in read.items() if day is not None}
    here = [name for name in days if written[name].form == usual]
    is_padded = sum(times[one] for one in here if written[one].is_padded) * 2 >= sum(times[one] for one in here)
    called = _alike({name: days[name] for name in here}, times)
    there = {days[name]: called.get(name, name) for name in here}
    for name, day in days.items():
        if written[name].form != usual:
            called[name] = there.get(day) or _as_written(day, usual, is_padded, is_day_first[usual] is True)
    return Days({name: called[name] for name in times if name in called}, unclear)


def _alike(keys: Mapping[str, Key], times: Mapping[str, int]) -> dict[str, str]:
    """Return for names with the same key as a more frequent one what that is."""
    best: dict[Key, str] = {}
    for name, key in keys.items():
        if key not in best or times[name] > times[best[key]]:
            best[key] = name
    return {name: best[key] for name, key in keys.items() if best[key] != name}


def _is_day_first(form: _Form, written: Mapping[str, _Written]) -> bool | None:
    """Return whether the day comes before the month; None where nothing shows it, or both."""
    if form.is_year_first:
        return False
    if form.sign == ".":
        return True
    every = [one.numbers for one in written.values() if not one.form.is_year_first and one.form.sign == form.sign]
    shown = {is_first for first, second, _ in every for is_first in _shows(first, second)}
    return shown.pop() if len(shown) == 1 else None


def _shows(first: int, second: int) -> Iterator[bool]:
    if (first > MONTHS) != (second > MONTHS):
        yield first > MONTHS


def _day(one: _Written, is_day_first: bool | None, years: set[int]) -> date | None:  # noqa: FBT001  (of its form)
    if is_day_first is None:
        return None
    if one.form.is_year_first:
        year, month, day = one.numbers
    else:
        (day, month), year = one.numbers[:2] if is_day_first else one.numbers[1::-1], one.numbers[2]
    if one.form.is_short:
        near = [full for full in (1900 + year, 2000 + year) if years and min(years) - 1 <= full <= max(years) + 1]
        if len(near) != 1:
            return None
        (year,) = near
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _as_written(day: date, form: _Form, is_padded: bool, is_day_first: bool) -> str:  # noqa: FBT001  (of its form)
    month, number = (f"{one:02}" if is_padded else str(one) for one in (day.month, day.day))
    if form.is_year_first:
        return form.sign.join((f"{day.year:04}", month, number))
    year = f"{day.year % 100:02}" if form.is_short else f"{day.year:04}"
    return form.sign.join((number, month, year) if is_day_first else (month, number, year))
