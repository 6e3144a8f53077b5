"""A look at a table that nobody has explained yet: what its columns hold, and which of them is what."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coterie.checks import plain
from coterie.game import tables
from coterie.log import shape_queries
from coterie.log.engine import NUMBER, Engine
from coterie.log.schema import ROW, Named, names_of
from coterie.log.tables import Source
from coterie.log.units import unit_in
from coterie.log.ways import is_of_clock, is_otherwise, says_how_long, unit_of_time

VALUES = 5000
"""How many different values of a column are looked at."""

MANY_ROWS = 20
"""From so many rows on, whole numbers without gaps are those of rows: a few may be ranks."""

WORDS: dict[str, str] = {
    "sample": "sample week month date day term season year period round sprint quarter semester event session edition "
    "hackathon game match when time timestamp woche monat datum tag runde spiel spieltag jahr zeitstempel semaine "
    "mois jour partie fecha semana mes partido",
    "coalition": tables.WORDS["coalition"],
    "agent": tables.WORDS["agent"],
    "partner": "partner with whom about rated to teammate peer reviewee mate other colleague ratee for receiver mit "
    "partnerin avec con",
    "utility": "utility score rating stars points grade mark value result good satisfaction total worth utilities "
    "bewertung punkte note wert puntos",
    "choice": "choice vote pick decision answer voted ballot wahl stimme",
    "members": tables.WORDS["members"],
}
"""Words in headers, by the column that they suggest."""

SHORT = {"sample": {"kw": "kw", "wk": "wk"}}
"""What headers may be altogether that suggest a column; Score KW 1 and Score KW 2 may be questions of a survey."""

ROLES: dict[str, tuple[str, ...]] = {
    "pairs": ("sample", "coalition", "agent", "partner", "utility"),
    "listed scores": ("sample", "coalition", "members", "utility"),
    "records": ("sample", "coalition", "agent", "utility"),
    "choices": ("sample", "coalition", "agent", "choice"),
}
"""The columns of what one table may be."""


_DATE = (
    r"^\d{4}[-/]\d{1,2}|^\d{4}\.(0?[1-9]|1[0-2])(?!\d)|^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(,? +\d{1,2}:\d\d.*)?$"
    r"|^\d{4}[- ]?(Q|W)\d"
)
"""What dates look like, perhaps with a time of the day; 2990.75 is a number."""

LEAST_LONG, LEAST_DATE = 1, 20_000
"""Parts of a day and numbers of days, which is how spreadsheets count time, are below the one and above the other."""


@dataclass(frozen=True)
class Column:
    """What a column of a table holds."""

    name: str
    filled: int
    """How many cells are not empty."""
    times: Mapping[str, int]
    """How often each value occurs, of the most frequent ones."""
    group: tuple[str, ...] = ()
    """The columns that it is made of, where it is several: one for each member of a team."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that it is, its own as a rule."""
        return self.group or (self.name,)

    @property
    def distinct(self) -> int:
        """How many different values there are, as far as was looked."""
        return len(self.times)

    @cached_property
    def names(self) -> set[str]:
        """The values, without regard to case and spaces."""
        return {plain(value) for value in self.times}

    def share(self, pattern: str) -> float:
        """Return the share of the filled cells that look so."""
        found = sum(count for value, count in self.times.items() if re.search(pattern, value.strip()))
        return found / max(sum(self.times.values()), 1)

    @cached_property
    def numbers(self) -> dict[float, int]:
        """How often each number occurs; what is no number is left out, and so is what is beyond all of them."""
        found: dict[float, int] = {}
        for value, count in self.said.items():
            if self.is_number(value):
                number = float(value.strip().replace(",", "."))
                if math.isfinite(number):  # 1e400 is infinite to a computer
                    found[number] = found.get(number, 0) + count
        return found

    @staticmethod
    def is_number(value: str) -> bool:
        """Return whether a cell holds a number, perhaps with a decimal comma."""
        return re.fullmatch(NUMBER, value.strip().replace(",", ".")) is not None

    @cached_property
    def said(self) -> dict[str, int]:
        """How often each value occurs that is not a mark for nothing, such as n/a."""
        return {
            value: count
            for value, count in self.times.items()
            if value.strip().casefold() not in {*shape_queries.SAY_NOTHING, *shape_queries.NOT_THERE}
        }

    @property
    def numeric_share(self) -> float:
        """The share of numbers among the cells that say something."""
        return sum(self.numbers.values()) / max(sum(self.said.values()), 1)

    @property
    def is_numeric(self) -> bool:
        """Whether nearly all cells are numbers."""
        return self.numeric_share >= 0.9

    @property
    def is_numbering(self) -> bool:
        """Whether it numbers rows, as far as was looked: whole numbers, each once and without gaps, in many rows."""
        if self.filled < MANY_ROWS or len(self.numbers) < min(self.filled, VALUES) or max(self.times.values()) > 1:
            return False
        return all(map(float.is_integer, self.numbers)) and max(self.numbers) - min(self.numbers) < self.filled

    @property
    def is_dates(self) -> bool:
        """Whether nearly all cells look like dates."""
        return self.share(_DATE) >= 0.9

    @cached_property
    def is_duration(self) -> bool:
        """Whether it holds how long something took: its name allows for that, and cells are no times of the day."""
        if not says_how_long(self.name) or self.is_dates:
            return False
        unit = unit_of_time(self.name)
        numbers = [value for value in self.said if self.is_number(value)]
        if self.numeric_share < 0.5:
            return self.is_otherwise and (unit is not None or self.word_for("sample") is not None)
        if unit is not None:
            return True
        fractions = any(value != int(value) for value in self.numbers)
        return fractions and LEAST_LONG <= max(self.numbers) < LEAST_DATE and not all(map(is_of_clock, numbers))

    @cached_property
    def is_otherwise(self) -> bool:
        """Whether most cells that say something are written like outcomes, though not as plain numbers: 4/5, 48:36."""
        found = {value: count for value, count in self.said.items() if is_otherwise(value)}
        if not found or 2 * sum(found.values()) < sum(self.said.values()) or self.is_dates:
            return False
        return unit_of_time(self.name) is not None or not all(map(is_of_clock, found))

    @cached_property
    def separators(self) -> tables.Separators:
        """What seems to stand between names in its cells."""
        return tables.likely_separators(self.times)

    @cached_property
    def is_lists(self) -> bool:
        """Whether most cells list several names; these come back if what parts them is also found within names."""
        if self.is_numeric or self.is_dates or not self.separators.signs:
            return False
        if not set(self.separators.signs) & set(tables.USUAL) and not self.separators.is_borne_out:
            return False
        several = [
            count for value, count in self.times.items() if len(tables.names_listed(value, self.separators.signs)) > 1
        ]
        return sum(several) >= 0.5 * max(sum(self.times.values()), 1)

    @property
    def examples(self) -> list[str]:
        """A few of its values."""
        return sorted(self.times, key=lambda value: (-self.times[value], value))[:3]

    def word_for(self, role: str) -> str | None:
        """Return the word of the header that suggests a role."""
        return tables.word_in(self.name, WORDS[role].split()) or SHORT.get(role, {}).get(plain(self.name))

    @property
    def says_who_or_where(self) -> bool:
        """Whether its name is a word for people or teams, which the cost of a project is not."""
        return any(plain(self.name) in WORDS[role].split() for role in ("agent", "partner", "coalition"))

    @property
    def says_when(self) -> bool:
        """Whether its name says when, which a time that something took does not."""
        return self.word_for("sample") is not None and not self.is_duration


def look(engine: Engine, source: Source) -> tuple[int, list[Column]]:
    """Return the number of rows and the columns of a table."""
    header = list(engine.types(source))
    cells = {f"c{place}": name for place, name in enumerate(header) if name.strip()}
    engine.load(replace(source, table="looked_at"), cells)
    view = engine.name("looked_at")
    rows = _count(engine, shape_queries.without(view, shape_queries.is_empty(list(cells))))
    columns = []
    for cell, name in cells.items():
        found = engine.table(shape_queries.values(view, cell, VALUES))
        times = dict(zip(found["value"].to_pylist(), found["times"].to_pylist(), strict=True))
        filled = _count(engine, shape_queries.without(view, shape_queries.is_empty([cell])))
        columns.append(Column(name.strip(), filled, times))
    return rows, [column for column in columns if column.filled]


def _count(engine: Engine, query: str) -> int:
    return int(engine.table(shape_queries.counted(query))["n"][0].as_py())


@dataclass(frozen=True)
class Part:
    """One column of a log, which column of the table it seems to be, and why."""

    role: str
    column: Named
    why: str


def guess_parts(columns: Sequence[Column], fixed: Mapping[str, Named]) -> tuple[str, list[Part]]:
    """Return what kind of table it seems to be, and which column is what; `fixed` says what is known.

    Every way to give the columns of a kind to those of the table has a score, by words of headers and by what cells
    hold; the best one wins.
    """
    best: tuple[float, str, list[Part]] | None = None
    members = _member_columns(columns, fixed)
    if members is not None:
        columns = [members, *(column for column in columns if column.name not in members.group)]
    for shape, roles in ROLES.items():
        likely = [_candidates(role, columns, fixed, of_teams=shape == "listed scores") for role in roles]
        for chosen in _choices(likely):
            parts = dict(zip(roles, chosen, strict=True))
            score = sum(fit for fit, _, _ in chosen) + _together(shape, {r: c for r, (_, c, _) in parts.items()})
            score -= 0.5 * len(roles)  # a column more must be worth it
            if shape == "pairs" and columns.index(parts["agent"][1]) < columns.index(parts["partner"][1]):
                score += BEFORE
            if best is None or score > best[0]:
                named = {role: column.group or column.name for role, (_, column, _) in parts.items()}
                best = (score, shape, [Part(role, named[role], why) for role, (_, _, why) in parts.items()])
    if best is None or best[0] <= 0:
        return "", []
    return best[1], best[2]


BEFORE = 0.1
"""Where words leave it open, who rates stands before whom they rate."""

Fit = tuple[float, Column, str]

LIKELY = 4
"""So many columns are tried for each role."""


def _choices(likely: list[list[Fit]]) -> list[tuple[Fit, ...]]:
    """Return every way to choose one column for each role, no column twice."""
    ways: list[tuple[Fit, ...]] = [()]
    for fits in likely:
        ways = [(*way, fit) for way in ways for fit in fits if all(fit[1] is not other for _, other, _ in way)]
    return ways


def _member_columns(columns: Sequence[Column], fixed: Mapping[str, Named]) -> Column | None:
    """Return the columns of which each seems to hold one member of a team, as one: Member 1, Member 2, Member 3.

    Headers that differ in a number only, three or more of them, with names; two of them are a pair.
    """
    said = fixed.get("members")
    if said is not None:
        wanted = {name.casefold() for name in names_of(said)}
        return _as_one([column for column in columns if column.name.casefold() in wanted]) if len(wanted) > 1 else None
    if "agent" in fixed or "partner" in fixed:
        return None
    alike: dict[str, list[Column]] = {}
    for column in columns:
        stem = re.sub(r"\s*([0-9]+|(?<![^\W_])[a-z]$)", "", column.name.casefold())
        if not column.is_numeric and not column.is_dates and column.word_for("coalition") is None:
            alike.setdefault(stem, []).append(column)
    groups = [group for group in alike.values() if len(group) >= LEAST_MEMBERS and _share_names(group)]
    return _as_one(max(groups, key=len)) if groups else None


LEAST_MEMBERS = 3
"""From so many columns on, with a member in each, a row is a team; two are a pair."""


def _share_names(group: Sequence[Column]) -> bool:
    """Return whether a header says that columns hold people, or names of each come back in others."""
    if any(group[0].word_for(role) for role in ("members", "agent", "partner")):
        return True
    others = [set.union(*(other.names for other in group if other is not one)) for one in group]
    return all(2 * len(one.names & rest) >= len(one.names) for one, rest in zip(group, others, strict=True))


_PERIOD = re.compile(r"(?<![^\W_])(w|wk|kw|q)[ .]?[0-9]+$", re.IGNORECASE)
"""Weeks and quarters as headers shorten them: W1, Wk 2, KW 3, Q4."""


def rounds_in_columns(columns: Sequence[Column], *, without_word: bool = False) -> list[str]:
    """Return the columns of which each seems to be about another round: Team week 1, Team week 2.

    Where a column says when, Score Q1 and Score Q2 may be questions of a survey, and are not told to be rounds.
    `without_word`: also where nothing but a number parts them, as in Points 1, Points 2; that may be something else.
    """
    alike: dict[str, list[str]] = {}
    says_when = columns_that_say("sample", columns)
    for column in columns:
        is_period = not says_when and _PERIOD.search(column.name)
        is_told = without_word or is_period or column.word_for("sample") is not None
        if is_told and (stem := re.sub("[0-9]+", "", column.name)) != column.name:
            alike.setdefault(stem.casefold(), []).append(column.name)
    return max((names for names in alike.values() if len(names) > 1), key=len, default=[])


def are_pairs_without_teams(columns: Sequence[Column], parts: Sequence[Part]) -> list[str]:
    """Return the columns of who and with whom, if one was taken for teams because nothing says which these are.

    Teams that are named after people, as after captains, have fewer names.
    """
    guessed = {part.column for part in parts if part.role in {"agent", "coalition"} and part.why != SAID}
    found = [column for column in columns if column.name in guessed]
    if len(found) != 2 or any(column.word_for("coalition") for column in found):
        return []
    one, other = (column.names for column in found)
    return [column.name for column in found] if 3 * len(one & other) > 2 * len(one | other) else []


FIRST_NAMES = "first given vorname rufname prenom nombre"
LAST_NAMES = "last surname family nachname familienname zuname nom apellido apellidos"
"""Words of headers of columns that hold a part of a name each."""


def other_part_of_names(columns: Sequence[Column], parts: Sequence[Part]) -> tuple[str, str] | None:
    """Return the column of first names, or of last ones, that was taken for who, and the one of the others."""
    who = next((part.column for part in parts if part.role == "agent" and part.why != SAID), None)
    words = FIRST_NAMES.split(), LAST_NAMES.split()
    used = {name for part in parts for name in names_of(part.column)}
    for mine, theirs in (words, words[::-1]):
        if isinstance(who, str) and tables.word_in(who, mine):
            others = (one.name for one in columns if one.name not in used and tables.word_in(one.name, theirs))
            return next(((who, other) for other in others), None)
    return None


def told_apart_by_nothing(columns: Sequence[Column], parts: Sequence[Part]) -> list[str]:
    """Return the columns of numbers of which one was taken for when, and one for how good, though none is called so.

    With a third one, each may well be about another round, as those below dates and months are.
    """
    alike = [
        column.name
        for column in columns
        if column.is_numeric and not column.is_duration and not any(map(column.word_for, WORDS))
    ]
    guessed = {part.column for part in parts if part.role in {"sample", "utility"} and part.why != SAID}
    return alike if len(alike) > len(guessed) == 2 and guessed <= set(alike) else []


def columns_that_say(role: str, columns: Sequence[Column]) -> list[str]:
    """Return the columns whose name says that they have a role, the likeliest first."""
    fits = [fit for column in columns if column.word_for(role) and (fit := _fit(role, column))]
    return [column.name for _, column, _ in sorted(fits, key=lambda fit: -fit[0])]


def _as_one(group: Sequence[Column]) -> Column:
    times: dict[str, int] = {}
    for value, count in (found for column in group for found in column.times.items()):
        times[value] = times.get(value, 0) + count
    names = tuple(column.name for column in group)
    return Column(f"{names[0]}, ..., {names[-1]}", max(column.filled for column in group), times, names)


SAID = "you said so"
"""Why a column is what it is where nobody had to guess."""

NO_COLUMN = {
    "sample": "no column says when: each row counts as a round of its own",
    "coalition": "no column says in which team: each row is a team",
}
"""Why the number of the row is taken, where a row is a team."""


def _candidates(role: str, columns: Sequence[Column], fixed: Mapping[str, Named], *, of_teams: bool) -> list[Fit]:
    known = fixed.get(role)
    if known == ROW and not any(column.name == ROW for column in columns):
        return [(0.0, Column(ROW, 0, {}), NO_COLUMN[role])] if of_teams and role in NO_COLUMN else []
    if known is not None:
        wanted = {name.casefold() for name in names_of(known)}
        return [(5.0, one, SAID) for one in columns if {name.casefold() for name in one.columns} == wanted]
    taken = {name.casefold() for named in fixed.values() for name in names_of(named)}
    free = [column for column in columns if not taken & {name.casefold() for name in column.columns}]
    fits = [fit for column in free if (fit := _fit(role, column))]
    if of_teams and role in NO_COLUMN:
        # A column of which nothing says what it is should at least have values that come back.
        fits = [fit for fit in fits if fit[0] > 0 or 2 * fit[1].distinct <= fit[1].filled]
        fits.append((-0.25, Column(ROW, 0, {}), NO_COLUMN[role]))
    return sorted(fits, key=lambda fit: -fit[0])[:LIKELY]


def _fit(role: str, column: Column) -> Fit | None:
    """Return how well a column suits a role on its own, and why; None if it cannot have it."""
    if column.group:
        return (6.0, column, "each of these columns holds a member") if role == "members" else None
    if column.name.casefold() == role:
        return 6.0, column, "it is called so"
    word = column.word_for(role)
    score, why = (3.0, f"its name says {word!r}") if word else (0.0, "")
    if role == "utility":
        lasts = column.is_duration
        if column.numeric_share < (0.5 if word or lasts else 0.9) or column.is_dates:
            return None
        if lasts and not word:
            return 2.5, column, "it holds how long something took"
        # Numbers that have a unit are outcomes rather than others, and those of rows hardly ever are.
        score += 1.0 + 0.5 * (unit_in(column.name) != "") - 0.5 * column.is_numbering
        return score, column, why or "it holds numbers"
    if role == "members":
        is_lists = column.is_lists or (word and column.separators.signs and not column.is_numeric)
        surely = 3.0 if word or column.separators.is_borne_out else 1.0  # "Lovelace, Ada" is one name
        return (score + surely, column, "its cells list several names") if is_lists else None
    # Teams may be called "Food & Health", and people "Lovelace, Ada"; but it is not by chance that names come back.
    is_one = word and (role in {"coalition", "sample"} or not column.separators.is_borne_out)
    if column.is_lists and not is_one:
        return None
    if role == "sample":
        if column.is_duration:
            return None
        if column.is_dates:
            return score + 3.0, column, "it holds dates"
        return score, column, why or "nothing else says when"
    if column.is_otherwise and not word:  # 3:30 and 80% are nobody's name
        return None
    if role == "choice":
        return (score, column, why) if word and column.distinct <= 30 else None
    if column.is_dates:
        return None
    if role in {"agent", "partner"} and column.is_numeric:
        score -= 1.0
    return score, column, why or "it holds names"


def _together(shape: str, chosen: Mapping[str, Column]) -> float:
    """Return how well columns suit each other."""
    score = 0.0
    agent, coalition = chosen.get("agent"), chosen["coalition"]
    if agent is not None and agent.names & coalition.names and not (agent.is_numeric or coalition.is_numeric):
        score -= 3.0
    if agent is not None and not agent.is_numeric and agent.distinct >= coalition.distinct:
        score += 0.5
    if shape == "pairs":
        assert agent is not None
        partner = chosen["partner"]
        common = len(agent.names & partner.names) / max(min(len(agent.names), len(partner.names)), 1)
        score += 4.0 if common >= 0.3 and partner.names != coalition.names else -6.0
        score += 0.5 * _before(agent, partner)
    return score


def _before(agent: Column, partner: Column) -> float:
    """Return 1 if headers differ in a number at the end, as in "Person 1" and "Person 2", and agree in the order."""
    first, second = (re.search(r"(\d+)\D*$", column.name) for column in (agent, partner))
    return 1.0 if first and second and int(first[1]) < int(second[1]) else 0.0
