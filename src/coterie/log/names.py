"""Names that were typed by hand: several spellings of one name, and teams that are named like people."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations

from coterie import checks
from coterie.checks import plain, spaced
from coterie.game.tables import word_in
from coterie.words import counted, in_order, said, some, unaccented

LISTED = 3
"""How many of them a sentence shows."""

SPELLED, MAY_BE_ONE = "several spellings that differ in", "may be one person"
"""What sentences say where one person may count as two: an answer about them may be wrong."""

_PERSON = re.compile(r"[^\W\d_][^\W\d_'.-]+,? ([A-Z][.]? )?[^\W\d_][^\W\d_'.-]+")


Two = frozenset[str]
"""Two names."""


def difference(spelled: Iterable[Sequence[str]]) -> str:
    """Return in what the spellings of names differ, in words.

    >>> difference([("Bob", "bob ")]), difference([("Bob", "bob "), ("Groß", "Gross")])
    ('case or spaces', "case, spaces or how letters are written (as ß and ss, ü and ue or u, \u2019 and ')")
    """
    return "case or spaces" if all(map(_is_same_letters, spelled)) else f"case, spaces or {LETTERS}"


def _is_same_letters(several: Sequence[str]) -> bool:
    return len({" ".join(name.split()).lower() for name in several}) == 1


LETTERS = "how letters are written (as ß and ss, ü and ue or u, \u2019 and ')"


def spellings(names: Iterable[str], apart: Collection[Two] = ()) -> list[tuple[str, ...]]:
    """Return the names that have several spellings, each with all of them.

    Who leaves out accents writes the same name, unless that would make one of two who are known to be `apart`.

    >>> spellings(["Bob", "Ada", "bob ", "Bjorn", "Björn"])
    [('Bjorn', 'Björn'), ('Bob', 'bob ')]
    >>> spellings(["Bjorn", "Björn"], [frozenset(["Bjorn", "Björn"])])
    []
    """
    found = []
    for several in _by(dict.fromkeys(names), checks.readings):
        is_one = not apart or not any(frozenset(two) in apart for two in combinations(several, 2))
        found += [several] if is_one else _by(several, lambda name: (plain(name),))
    by_first = {several[0]: several for several in found if len(several) > 1}
    return [by_first[first] for first in in_order(by_first)]


def spelled_without_accents(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of names that are spellings of one unless these are two people: accents may be left out.

    >>> spelled_without_accents(["Bjorn", "Björn", "bjorn"])
    [('Bjorn', 'Björn'), ('Björn', 'bjorn')]
    """
    pairs = (two for several in spellings(names) for two in combinations(several, 2))
    return [(one, other) for one, other in pairs if plain(one) != plain(other)]


def _by(names: Iterable[str], keys: Callable[[str], Iterable[str]]) -> list[tuple[str, ...]]:
    """Return names in groups, of which each is tied to another of its group by a key that both have."""
    groups: list[list[str]] = []
    place: dict[str, int] = {}
    for name in names:
        mine = list(keys(name))
        joined = sorted({place[key] for key in mine if key in place})
        first = joined[0] if joined else len(groups)
        if not joined:
            groups.append([])
        groups[first].append(name)
        for other in joined[1:]:
            groups[first] += groups[other]
            place |= {key: first for one in groups[other] for key in keys(one)}
            groups[other] = []
        place |= dict.fromkeys(mine, first)
    return [in_order(several) if len(several) > 1 else tuple(several) for several in groups if several]


def cleaned(times: Mapping[str, int], apart: Collection[Two] = ()) -> dict[str, str]:
    """Return for each name that should be spelled otherwise how: as it is most often, with single spaces.

    Of two spellings that are as frequent the one with accents is taken; `apart` as in `spellings`.

    >>> cleaned({"Bob": 5, "bob": 2, " Ada": 1}), cleaned({"Jose": 1, "José": 1})
    ({'bob': 'Bob', ' Ada': 'Ada'}, {'Jose': 'José'})
    """
    groups = {name: several for several in spellings(times, apart) for name in several}
    found: dict[str, str] = {}
    for several in dict.fromkeys(groups.get(name, (name,)) for name in in_order(times)):
        votes: dict[str, int] = {}
        for name in several:
            votes[spaced(name)] = votes.get(spaced(name), 0) + times[name]
        best = max(votes, key=lambda spelling: (votes[spelling], any(c.isalpha() and c > "\x7f" for c in spelling)))
        found |= {name: best for name in several if name and best not in {name, ""}}
    return {name: found[name] for name in times if name in found}


def about_merged(clean: Mapping[str, str]) -> list[str]:
    """Return what to tell of names that were made one though they differ in more than case and spaces."""
    letters = [f"{name!r} is {best!r}" for name, best in clean.items() if not _is_same_letters((name, best))]
    if not letters:
        return []
    return [f"names that differ in {LETTERS} only were merged ({said(clean_names=True)}): {some(letters, LISTED)}"]


def as_known(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return for names that nobody has how somebody is spelled otherwise.

    Where accents are left out, only who is not there under the very name is meant.

    >>> as_known(["Bob ", "Ada", "Eve"], ["Bob", "Ada"])
    {'Bob ': 'Bob'}
    >>> as_known(["Jose"], ["José"]), as_known(["Jose", "José"], ["José"])
    ({'Jose': 'José'}, {})
    """
    people: dict[str, list[str]] = {}
    without: dict[str, list[str]] = {}
    names = list(names)
    there = set(names)
    for name in known:
        people.setdefault(plain(name), []).append(name)
        for reading in checks.readings(name) if name not in there else ():
            without.setdefault(reading, []).append(name)
    found = {}
    for name in names:
        alike = people.get(plain(name)) or in_order(
            one for reading in checks.readings(name) for one in without.get(reading, ())
        )
        if len(alike) == 1 and alike[0] != name:
            found[name] = alike[0]
    return found


def about_known(renamed: Mapping[str, str]) -> list[str]:
    """Return what to tell of people who are spelled otherwise than in the log."""
    if not renamed:
        return []
    shown = some((f"{name!r} is {known!r}" for name, known in renamed.items()), LISTED)
    what = difference(renamed.items())
    return [f"names that differ from the log's in {what} only are taken for the same: {shown}"]


def about_spellings(what: str, names: Sequence[str], apart: Collection[Two] = ()) -> list[str]:
    """Return what to tell of names with several spellings; `apart` as there."""
    found = spellings(names, apart)
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


TEAM_WORDS = "team group squad crew table gruppe tisch equipe groupe equipo"
"""Headers of teams that may be made up each time; a department, an area or a project is there whoever is in it."""

_NUMBERED = re.compile(rf"({TEAM_WORDS.replace(' ', '|')}|room)?[\s_-]*#?([0-9]+|[a-z])")
_SHORT = re.compile(r"([^\W\d_]{1,3})[.]?[\s_-]*#?[0-9]{1,2}")
"""Few letters and a number of a team: those of rooms and places have more digits as a rule, as R101."""


def are_numbered(labels: Sequence[str], header: str) -> bool:
    """Return whether teams have numbers or letters only, perhaps with the word for a team, in full or in short.

    In short is only where the column is called a word for teams that may be made up each time, and all labels begin
    alike, as that word does or another one: B12 may be a room, and Q3 an area.

    >>> are_numbered(["Groupe 1", "Équipe 2", "B", "7"], "Where"), are_numbered(["Law", "Team 1"], "Team")
    (True, False)
    >>> are_numbered(["G1", "g 2", "Gr. 3"], "Groupe"), are_numbered(["Grp4", "GRP 5"], "Groupe")
    (False, True)
    >>> are_numbered(["T1", "t 2"], "Équipe"), are_numbered(["T1", "T2"], "Place"), are_numbered(["B12"], "Group")
    (True, False, False)
    """
    plainly = [unaccented(spaced(label).casefold()) for label in labels]
    if all(map(_NUMBERED.fullmatch, plainly)):
        return True
    short = [_SHORT.fullmatch(label) for label in plainly]
    letters = {found[1] for found in short if found}
    if not all(short) or len(letters) != 1 or word_in(header, TEAM_WORDS.split()) is None:
        return False
    return any(_shortens(next(iter(letters)), word) for word in TEAM_WORDS.split())


def _shortens(letters: str, word: str) -> bool:
    """Return whether letters are those of a word in their order, its first one among them: grp is group."""
    rest = iter(word)
    return word[0] == letters[0] and all(letter in rest for letter in letters)


SELDOM, RARER = 3, 10
"""A name that may be a slip occurs in at most so many samples, and what it looks like in so many times as many."""

UNLIKELY = -5.0
"""Single words, as Tim and Tom, may be one if they are never there at once and that is so unlikely (a logarithm)."""

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
        is_no_chance = _log_apart(times[rare], times[usual], rounds) <= UNLIKELY
        if is_rare or is_no_chance or all(" " in spaced(name) for name in pair):
            found.append(f"{rare!r} (in {counted(times[rare], 'round')}) and {usual!r} (in {times[usual]:,})")
    if not found:
        return []
    shown = some(found, LISTED)
    return [f"{shown} {MAY_BE_ONE}, since they never met: if so, correct the table; now they count as two people"]


def _log_apart(rare: int, usual: int, rounds: int) -> float:
    """Return the logarithm of how likely two are never there at once who are there in so many rounds, by lot.

    >>> round(math.exp(_log_apart(1, 3, 4)), 9), _log_apart(2, 3, 4)
    (0.25, -inf)
    """
    free = rounds - usual
    if free < rare:
        return -math.inf
    ways = (math.lgamma(every + 1) - math.lgamma(every - rare + 1) for every in (free, rounds))
    return round(next(ways) - next(ways), 12)


def remarked(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of names of which one is the other with a remark behind it.

    >>> remarked(["Kwame (remote)", "Kwame", "Ada (remote)"])
    [('Kwame (remote)', 'Kwame')]
    """
    without = {name: short for name in names if (short := checks.without_remark(name)) is not None}
    if not without:
        return []
    known: dict[str, list[str]] = {}
    for name in names:
        for reading in checks.readings(name):
            known.setdefault(reading, []).append(name)
    keys = ((name, key) for name, short in without.items() for key in checks.readings(short))
    return list(dict.fromkeys((name, other) for name, key in keys for other in known.get(key, ())))


def about_remarked(alike: Sequence[tuple[str, str]], times: Mapping[str, int]) -> list[str]:
    """Return what to tell of names with a remark behind them, which nobody takes for one without being told."""
    found = [
        f"{name!r} (in {counted(times[name], 'round')}) and {other!r} (in {times.get(other, 0):,})"
        for name, other in alike
        if times.get(name)
    ]
    if not found:
        return []
    shown = some(found, LISTED)
    helps = "if so, put such remarks into a column of their own"
    return [f"{shown} {MAY_BE_ONE}, with a remark behind the name: {helps}; now they count as two people"]


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
