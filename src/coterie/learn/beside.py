"""Sheets of a workbook beside the one that a log was read from: who is where today, and who is on the staff."""

from contextlib import suppress
from pathlib import Path

from coterie import checks
from coterie.errors import InputError
from coterie.game.rules import Rules, read_staff
from coterie.game.strategy import read_strategy_content
from coterie.game.tables import NOW, word_in
from coterie.learn.wishes import people_today
from coterie.log.log import Log
from coterie.spreadsheets import Workbook

KNOWN = 0.5
"""A sheet is about the people of a log if it names such a share of them."""


def sheets_beside(workbook: Path, used: str, log: Log) -> dict[str, str]:
    """Return what options may be told of other sheets: `today` and `staff` -> firm.xlsx#Today.

    Only sheets that are read without complaint, the first of each kind, but one that is called today before others.
    Where today's teams hold people whom the log does not know, the staff is named too, by the same sheet if there is
    no other.
    """
    named = sorted(Workbook.open(workbook).sheets, key=lambda name: word_in(name, NOW) is None)
    others = [f"{workbook}#{name}" for name in named if name != used]
    lists = {path: rules for path in others if (rules := _staff(path, log)) is not None}
    plain = [path for path, rules in lists.items() if not (_names_teams(rules, log) or _is_today(path, log, rules))]
    for path in others:
        for staff in (*plain, None, *([path] if path in lists else [])):
            if _is_today(path, log, lists[staff] if staff else Rules()):
                return {"today": path, **({"staff": staff} if staff else {})}
    return {"staff": plain[0]} if plain else {}


def _staff(path: str, log: Log) -> Rules | None:
    """Return whom a sheet lists, if these are the people of the log."""
    with suppress(InputError):
        rules = read_staff(path, log.called, log.agents)
        staff = rules.staff or ()
        missing = [name for name in log.agents if name not in staff]
        slips = any(checks.slip_of(name, missing) for name in staff if name not in log.agents)
        if len({*staff} & {*log.agents}) >= KNOWN * len(log.agents) and not slips:
            return rules
    return None


def _names_teams(rules: Rules, log: Log) -> bool:
    """Return whether a list of people says of somebody in which team of the log they are."""
    return not {*log.coalitions}.isdisjoint(label for labels in rules.labels.values() for label in labels.values())


def _is_today(path: str, log: Log, rules: Rules) -> bool:
    """Return whether a sheet says of the people of the log where they are, and nothing that would be refused."""
    with suppress(InputError):
        people = people_today(read_strategy_content(path, log.called, log.agents), log, rules)
        return len(people & {*log.agents}) >= KNOWN * len(log.agents)
    return False
