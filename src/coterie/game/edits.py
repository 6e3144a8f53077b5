"""A few changes on top of an assignment, in words.

    Ada: Finance            Ada is in Finance, and nowhere else; also "Ada -> Finance"
    Ada: Finance + Law      in both, and nowhere else
    Ada: +Law               also in Law
    Ada: -Law               no longer in Law
    Ada: nothing            in no coalition
    swap Bo, Cy             they exchange all their coalitions; also "swap Bo and Cy"

Names are those of the log, or differ from them in case or spaces only, or are how one of them begins ("Ada" for Ada
Lovelace, where no other name begins so). A name that holds a sign of this language (a
colon, a comma, a plus, " and ", a minus behind a space, a quotation mark) is written in quotation marks, single or
double, doubled inside: "Smith, Ada": "R + D". Without them such a name is still understood where only one reading has
names that are known. Changes are made one after the other, each on what the one before left.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray
from coterie.errors import InputError
from coterie.game.actions import action_of, names_in
from coterie.game.strategy import Strategy

NOTHING = "nothing"
"""Stands for no coalition."""

SWAP = re.compile(r"\s*swap\s+(?=\S)", re.IGNORECASE)

EXPECTED = 'expected "Ada: Finance", "Ada: Finance + Law", "Ada: +Law", "Ada: -Law", "Ada: nothing" or "swap Bo, Cy"'


def changed(
    strategy: Strategy, changes: Sequence[Any], also: Mapping[str, str] | None = None
) -> tuple[Strategy, list[str]]:
    """Return a pure strategy after some changes, and a sentence for each that changed nothing.

    Parameters
    ----------
    strategy
        Who is where before.
    changes
        Words as above, or dictionaries agent -> coalitions.
    also
        Other names of coalitions, each with the coalition that it stands for.
    """
    if not changes:
        raise InputError(f"there is no change; {EXPECTED}")
    profile, notes, teams = strategy.sets.copy(), [], _Teams(strategy.coalitions, also or {})
    for change in changes:
        before = profile.copy()
        if isinstance(change, Mapping):
            for agent, where in change.items():
                i = checks.index_of(agent, strategy.agents, "person in a change")
                profile[i] = teams.row(action_of(where, teams.names, f"change of {agent}"))
        elif isinstance(change, str):
            _Change(change, strategy.agents, teams).made_to(profile)
        else:
            raise InputError(f"change: {EXPECTED}, got {checks.shown(change)}")
        if np.array_equal(before, profile):
            notes.append(f"{checks.shown(change)} changes nothing: that is so already")
    return Strategy.pure(profile, strategy.agents, strategy.coalitions), notes


class _Teams:
    """The names that coalitions go by: their own, and others that stand for them."""

    def __init__(self, coalitions: tuple[str, ...], also: Mapping[str, str]) -> None:
        self.coalitions, self.names = coalitions, (*also, *coalitions)
        self.places = np.array([coalitions.index(also.get(name, name)) for name in self.names], dtype=np.intp)

    def row(self, chosen: BoolArray) -> BoolArray:
        """Return the coalitions (k,) that some of the names stand for."""
        row = np.zeros(len(self.coalitions), dtype=bool)
        row[self.places[chosen]] = True
        return row


class _Change:
    """One change in words, about known names."""

    def __init__(self, text: str, agents: tuple[str, ...], teams: _Teams) -> None:
        self.given, self.text = text, _with_colon(text)
        self.agents, self.coalitions, self.teams = agents, teams.coalitions, teams
        self.open = _outside_quotes(self.text)

    def refused(self, why: str) -> InputError:
        return InputError(f"change {checks.shown(self.given)}: {why}")

    def made_to(self, profile: BoolArray) -> None:
        """Make the change to a profile (n, k)."""
        places = [t for t in range(len(self.text)) if self.text[t] == ":" and self.open[t]]
        said = [(_unquoted(self.text[:t]), t) for t in places]
        readings = [one for one in said if one[0] in self.agents] or [
            (name, t) for given, t in said if (name := _meant(given, self.agents)) is not None
        ]
        swap = SWAP.match(self.text)
        if len(readings) > 1:
            raise self.refused(
                f"this may be about {' or '.join(name for name, _ in readings)}: put the name in quotation marks"
            )
        if readings:
            name, colon = readings[0]
            i = self.agents.index(name)
            profile[i] = self._set(profile[i], colon + 1, name)
        elif swap is not None:
            i, j = self._swapped(swap.end())
            profile[[i, j]] = profile[[j, i]]
        elif places:
            raise self.refused(_unknown(_unquoted(self.text[: places[0]]), self.agents, "person"))
        else:
            raise self.refused(EXPECTED)

    def _swapped(self, start: int) -> tuple[int, int]:
        """Return the two who exchange: at one comma, or one "and", there are known names on both sides."""
        cuts = [
            (found.start(), found.end()) for found in re.finditer(r",|\s+and\s+", self.text) if self.open[found.start()]
        ]
        sides = [(_unquoted(self.text[start:a]), _unquoted(self.text[b:])) for a, b in cuts if a >= start]
        if not sides:
            raise self.refused('expected two people, "swap Bo, Cy"')
        known = [(one, two) for one, two in sides if one in self.agents and two in self.agents]
        if not known:
            meant = [(_meant(one, self.agents), _meant(two, self.agents)) for one, two in sides]
            known = [(one, two) for one, two in meant if one is not None and two is not None]
        if len(known) > 1:
            raise self.refused("more than one pair of people has such names: put them in quotation marks")
        if not known:
            unknown = next(name for name in sides[0] if _meant(name, self.agents) is None)
            raise self.refused(_unknown(unknown, self.agents, "person"))
        one, two = known[0]
        if one == two:
            raise self.refused("expected two different people")
        return self.agents.index(one), self.agents.index(two)

    def _set(self, own: BoolArray, start: int, name: str) -> BoolArray:
        """Return the coalitions that the words behind the colon stand for."""
        said = self.text[start:]
        if said.strip().lower() == NOTHING:
            return np.zeros_like(own)
        if not said.strip():
            raise self.refused(f'where is {name} to be? Say "{NOTHING}" for nowhere')
        if _meant(_unquoted(said), self.teams.names) is not None:  # one name, whatever signs it holds
            return self._row([_unquoted(said)])
        parts = list(self._parts(start))
        signs = {sign for sign, _ in parts}
        if signs <= {"+", "-"}:
            joined, left = (self._row([room for sign, room in parts if sign == one]) for one in "+-")
            if (joined & left).any():
                raise self.refused(f"{', '.join(names_in(joined & left, self.coalitions))} is both joined and left")
            return np.asarray((own | joined) & ~left)
        if "-" in signs:
            raise self.refused(f'say either all teams, "{name}: Finance + Law", or what changes, "{name}: +Law -Tax"')
        return self._row([room for _, room in parts])

    def _parts(self, start: int) -> Iterator[tuple[str, str]]:
        """Yield the sign and the name of each coalition; the first may have no sign."""
        text, begin, sign = self.text, start, ""
        first = re.compile(r"\s*([+-])").match(text, start)
        if first is not None:
            begin, sign = first.end(), first[1]
        for found in re.finditer(r"\s*[+,]|\s+-(?=\S)", text):
            at = found.end() - 1
            if at < begin or not self.open[at]:
                continue
            yield sign, _unquoted(text[begin:at])
            begin, sign = at + 1, "+" if text[at] != "-" else "-"
            if text[at] == ",":  # goes on as the list began
                sign = "+" if first is None or first[1] == "+" else "-"
                again = re.compile(r"\s*([+-])").match(text, begin)
                if again is not None:
                    begin, sign = again.end(), again[1]
        yield sign, _unquoted(text[begin:])

    def _row(self, rooms: Sequence[str]) -> BoolArray:
        names = self.teams.names
        chosen = np.zeros(len(names), dtype=bool)
        for room in rooms:
            known = _meant(room, names)
            if known is None:
                raise self.refused(_unknown(room, names, "team") + (self._another(room) or self._numbered()))
            chosen[names.index(known)] = True
        return self.teams.row(chosen)

    def _another(self, room: str) -> str:
        """Say how to write several changes, where a team is called like the next one; "" where it is not."""
        for found in re.finditer(r"(?:^|[;,])\s*([^;,:]+):", room):
            at = self.given.rfind(room)
            if at > 0 and _meant(_unquoted(found[1]), self.agents) is not None:
                first, other = self.given[:at] + room[: found.start()], room[found.start(1) :]
                return (
                    f'; this looks like another change, and each is an argument of its own: "{first.rstrip(" ,;+")}" '
                    f'"{other}"'
                )
        return ""

    def _numbered(self) -> str:
        """Say why nobody knows the names of teams that have none of their own."""
        numbers = tuple(str(number) for number in range(1, len(self.coalitions) + 1))
        return "; teams that are interchangeable have numbers" if self.coalitions == numbers else ""


def _meant(name: str, known: Sequence[str]) -> str | None:
    """Return a name as it is known: itself, or the only one that is spelled otherwise or begins so."""
    found = checks.meant(name, known)
    return found[0] if len(found) == 1 else None


def _with_colon(text: str) -> str:
    """Return a change with a colon for the only arrow, where there is no colon yet."""
    is_open = _outside_quotes(text)
    signs = [found for found in re.finditer(r":|->|\u2192", text) if is_open[found.start()]]
    if len(signs) != 1 or SWAP.match(text):
        return text
    return f"{text[: signs[0].start()]}:{text[signs[0].end() :]}"


def _outside_quotes(text: str) -> list[bool]:
    """Return of every character whether it is outside quotation marks.

    A mark opens where a name can begin, so that O'Brien is a name; it closes at the next one that is not doubled.
    """
    found, mark, t, begins = [True] * len(text), "", 0, True
    while t < len(text):
        character = text[t]
        if mark:
            found[t] = False
            if character == mark and text[t + 1 : t + 2] == mark:
                found[t + 1] = False
                t += 1
            elif character == mark:
                mark = ""
        elif character in "\"'" and begins and text.find(character, t + 1) > 0:
            mark, found[t] = character, False
        begins = not mark and (character in ":,+- " or character.isspace())
        t += 1
    return found


def _unquoted(text: str) -> str:
    """Return a name without the spaces and the quotation marks around it."""
    name = text.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        return name[1:-1].replace(name[0] * 2, name[0])
    return name


def _unknown(name: str, known: Sequence[str], what: str) -> str:
    """Say that nobody has a name, who has, and how to write names that hold signs."""
    close, known = checks.close_to(name, known), [one for one in known if not one.isdecimal()] or known
    listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    hint = f"do you mean {' or '.join(close)}?" if close else f"known are: {listed}"
    quoted = "; names with signs in them are put in quotation marks" if re.search(r"[:,+\"']| and | -", name) else ""
    return f"unknown {what} {name!r}; {hint}{quoted}" if name else f"the name of a {what} is missing"
