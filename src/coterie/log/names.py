"""Names that were typed by hand: several spellings of one name, and teams that are named like people."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from coterie.checks import plain, spaced
from coterie.words import counted, in_order, said, some

LISTED = 3
"""How many of them a sentence shows."""

SPELLED, MAY_BE_ONE = "several spellings that differ in", "may be one person"
"""What sentences say where one person may count as two: an answer about them may be wrong."""

_PERSON = re.compile(r"[^\W\d_][^\W\d_'.-]+,? ([A-Z][.]? )?[^\W\d_][^\W\d_'.-]+")


def difference(spelled: Iterable[Sequence[str]]) -> str:
    """Return in what the spellings of names differ, in words.

    >>> difference([("Bob", "bob ")]), difference([("Bob", "bob "), ("Groß", "Gross")])
    ('case or spaces', 'case, spaces or how letters are written (as ß and ss, ü and ue)')
    """
    alike = all(len({" ".join(name.split()).lower() for name in several}) == 1 for several in spelled)
    return "case or spaces" if alike else "case, spaces or how letters are written (as ß and ss, ü and ue)"


def spellings(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the names that have several spellings, each with all of them.

    >>> spellings(["Bob", "Ada", "bob "])
    [('Bob', 'bob ')]
    """
    found: dict[str, list[str]] = {}
    for name in in_order(names):
        found.setdefault(plain(name), []).append(name)
    return [tuple(several) for several in found.values() if len(several) > 1]


def cleaned(times: Mapping[str, int]) -> dict[str, str]:
    """Return for each name that should be spelled otherwise how: as it is most often, with single spaces.

    >>> cleaned({"Bob": 5, "bob": 2, " Ada": 1})
    {'bob': 'Bob', ' Ada': 'Ada'}
    """
    often: dict[str, dict[str, int]] = {}
    for name in in_order(times):
        votes = often.setdefault(plain(name), {})
        votes[spaced(name)] = votes.get(spaced(name), 0) + times[name]
    best = {key: max(votes, key=lambda spelling: votes[spelling]) for key, votes in often.items()}
    return {name: best[plain(name)] for name in times if name and best[plain(name)] not in {name, ""}}


def as_known(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return for names that nobody has how somebody is spelled otherwise.

    >>> as_known(["Bob ", "Ada", "Eve"], ["Bob", "Ada"])
    {'Bob ': 'Bob'}
    """
    people: dict[str, list[str]] = {}
    for name in known:
        people.setdefault(plain(name), []).append(name)
    alike = {name: people.get(plain(name), []) for name in names}
    return {name: found[0] for name, found in alike.items() if len(found) == 1 and found[0] != name}


def about_known(renamed: Mapping[str, str]) -> list[str]:
    """Return what to tell of people who are spelled otherwise than in the log."""
    if not renamed:
        return []
    shown = some((f"{name!r} is {known!r}" for name, known in renamed.items()), LISTED)
    what = difference(renamed.items())
    return [f"names that differ from the log's in {what} only are taken for the same: {shown}"]


def about_spellings(what: str, names: Sequence[str]) -> list[str]:
    """Return what to tell of names with several spellings."""
    found = spellings(names)
    if not found:
        return []
    shown = some((" and ".join(map(repr, several)) for several in found), LISTED)
    told = (
        f"{counted(len(found), f'{what} has', f'{what}s have')} {SPELLED} {difference(found)} "
        f"only, and each counts on its own: {shown}; {said(clean_names=True)} merges them"
    )
    return [told]


def are_names_for_once(once: int, names: int, teams: int) -> bool:
    """Return whether names of teams are made up each time: most occur in one sample only, and many teams have such.

    Departments that come back are not, whatever else there was besides.

    >>> are_names_for_once(80, 80, 80), are_names_for_once(4, 6, 4 + 2 * 24)
    (True, False)
    """
    return 2 * once > names and 3 * once > teams


SELDOM, RARER = 3, 10
"""A name that may be a slip occurs in at most so many samples, and what it looks like in so many times as many."""

EXPECTED = 5
"""Single words, as Tim and Tom, may be one if they are never there at once and would be so often by chance."""

COMPARED = 500
"""Up to so many names all are compared with all."""


def slips(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of names that are one slip of the hand apart: a letter more, less, other, or two in another order.

    Names with numbers differ on purpose, and so do words of one or two letters: "Anna B." and "Anna K.".

    >>> slips(["Dieter", "Deiter", "Tia", "Tja", "Ada", "Team 1", "Team 2", "Anna B.", "Anna K."])
    [('Dieter', 'Deiter'), ('Tia', 'Tja')]
    """
    worded = [name for name in names if len(plain(name)) > 2 and not any(map(str.isdigit, name))]
    if len(worded) > COMPARED:
        return []
    return [(one, other) for one, other in combinations(worded, 2) if _is_a_slip(plain(one), plain(other))]


def _is_a_slip(one: str, other: str) -> bool:
    words = list(zip(one.split(), other.split(), strict=False))
    if any(mine != theirs and min(len(mine.strip(".")), len(theirs.strip("."))) < 3 for mine, theirs in words):
        return False
    one, other = sorted((one, other), key=len)
    if len(one) == len(other):
        apart = [place for place in range(len(one)) if one[place] != other[place]]
        if len(apart) == 2 and apart[1] == apart[0] + 1:
            first, second = apart
            return one[first] == other[second] and one[second] == other[first]
        return len(apart) == 1
    return len(other) - len(one) == 1 and any(other[:place] + other[place + 1 :] == one for place in range(len(other)))


def about_slips(alike: Sequence[tuple[str, str]], times: Mapping[str, int], rounds: int) -> list[str]:
    """Return what to tell of names that are much alike and never occur in one round, of `rounds` in all.

    First names that differ in a letter are many people's; what is told of them must be rare, or hardly be chance.
    """
    found = []
    for pair in alike:
        rare, usual = sorted(pair, key=lambda name: times.get(name, 0))
        if not times.get(rare):
            continue
        is_rare = times[rare] <= SELDOM and times[usual] >= RARER * times[rare]
        is_no_chance = times[rare] * times[usual] >= EXPECTED * rounds
        if is_rare or is_no_chance or all(" " in spaced(name) for name in pair):
            found.append(f"{rare!r} (in {counted(times[rare], 'round')}) and {usual!r} (in {times[usual]:,})")
    if not found:
        return []
    shown = some(found, LISTED)
    return [f"{shown} {MAY_BE_ONE}, since they never met: if so, correct the table; now they count as two people"]


def about_swapped(agents: Sequence[str], coalitions: Sequence[str]) -> list[str]:
    """Return what to tell where coalitions are named like people: columns may be swapped."""
    known = {plain(name) for name in agents}
    alike = [name for name in coalitions if plain(name) in known]
    if 2 * len(alike) < max(len(coalitions), 2):
        people = [name for name in coalitions if _PERSON.fullmatch(spaced(name))]
        others = sum(_PERSON.fullmatch(spaced(name)) is not None for name in agents)
        # "Byte Club" is named like a person too, but there are more people than teams.
        if 2 * len(people) < max(len(coalitions), 4) or 4 * others >= len(agents) or len(coalitions) < len(agents):
            return []
        alike = people
    shown = ", ".join(map(repr, alike[:LISTED]))
    told = (
        f"{counted(len(alike), 'team is', 'teams are')} named like people, such as {shown}: if the columns of people "
        f"and of teams are swapped, say which is which with {said(columns={'agent': 'NAME', 'coalition': 'NAME'})}"
    )
    return [told]
