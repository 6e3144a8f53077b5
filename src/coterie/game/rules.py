"""Rules: which assignments of people to coalitions can be formed at all.

    size of a coalition      between min and max members, for all or for one; perhaps "or nobody"
    per person               between lo and hi coalitions
    together, apart          two people share, or do not share, a coalition: any, or a named one
    fix, ban                 a person is, or is not, in a coalition
    staff                    who is to be assigned at all
    quota                    at least, or at most, so many members with a label in each or in a named coalition
    moves                    at most so many people change something against today

A `Rules` says this in names, as a file (`rules.json`), the command line or Python do; what it means for a profile is in
`coterie.game.admissible`. Rules are added with `+`.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from os import PathLike
from typing import Any, Literal, Self

from coterie import checks
from coterie.errors import InputError
from coterie.files import expect_format, naming, read_json
from coterie.game.tables import SEPARATORS, Called, SmallTable, is_spreadsheet, names_listed, read_table
from coterie.words import as_arguments, counted, listed, said, some, spelled

FORMAT = "coterie.rules/1"

EACH = "*"
"""Stands for every coalition."""

NAMED = 3
"""So many people who are not on the staff are named."""

LeftBehind = Literal["strict", "free"]
"""Whether the smallest size counts for a coalition that somebody leaves."""


@dataclass(frozen=True)
class TeamSize:
    """How many members a coalition has."""

    min: int = 0
    max: int | None = None
    or_empty: bool = False
    """Whether it may also have none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "min", checks.whole(self.min, "team size", 0))
        if self.max is not None:
            object.__setattr__(self, "max", checks.whole(self.max, "team size", 0))
            if self.max < self.min:
                raise InputError(f"{said('team_size')}: the largest, {self.max}, is below the smallest, {self.min}")
        object.__setattr__(self, "or_empty", checks.boolean(self.or_empty, "or_empty"))

    @property
    def says_nothing(self) -> bool:
        """Whether every size will do: "any"."""
        return self.min == 0 and self.max is None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "6:8" (or "6-8"), "6", ":8", "6:", one of these after "0,": or nobody, or "any".

        >>> TeamSize.parse("0,6:8")
        TeamSize(min=6, max=8, or_empty=True)
        """
        if text.strip() == "any":
            return cls()
        plain = re.sub(r"(?<=\d)\s*[-\u2013]\s*(?=\d)", ":", re.sub(r"\s*([,:])\s*", r"\1", text.strip()))
        found = re.fullmatch(r"(0,)?(?:(\d{1,6})|(\d{0,6}):(\d{0,6}))", plain, re.ASCII)
        if found is None or found[0] in {":", "0,:"}:
            what = said("team_size")
            raise InputError(f'{what}: expected "6:8", "6", ":8", "0,6:8" or "any", got {checks.shown(text)}')
        exactly, low, high = found[2], found[3], found[4]
        least = int(exactly or low or 0)
        return cls(least, int(exactly or high) if exactly or high else None, found[1] is not None)

    def typed(self) -> str:
        """Return the text that `parse` reads.

        >>> TeamSize(6, 8, or_empty=True).typed(), TeamSize(4, 4).typed(), TeamSize(3).typed()
        ('0,6:8', '4', '3:')
        """
        if self.says_nothing:
            return "any"
        size = f"{self.min}" if self.min == self.max else f"{self.min or ''}:{'' if self.max is None else self.max}"
        return f"0,{size}" if self.or_empty and self.min else size

    def __str__(self) -> str:
        if self.says_nothing:
            return "any"
        if self.max is None:
            size = f"at least {self.min}"
        else:
            size = f"{self.min} to {self.max}" if self.max != self.min else f"{self.min}"
        return f"{'0 or ' if self.or_empty and self.min else ''}{size}"

    def to_json(self) -> dict[str, Any]:
        """Return the form of `rules.json`."""
        return {"min": self.min, "max": self.max, "or_empty": self.or_empty}


@dataclass(frozen=True)
class Pairing:
    """People who share (do not share) a coalition: any, or a named one."""

    agents: tuple[str, ...]
    coalition: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", _names(self.agents, "together, apart"))
        if len(self.agents) < 2:
            given = ", ".join(self.agents) or "none"
            apart = names_listed(given, SEPARATORS)
            hint = f"; write {','.join(apart)}" if len(apart) > 1 else ""
            if not hint and re.search(r"\s", given):
                hint = "; names have commas between them, as in Ada,Bo"
            raise InputError(f"{said('together')}, {said('apart')}: expected at least two people, got {given}{hint}")
        if self.coalition is not None:
            _text(self.coalition, "together, apart: the coalition")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "Ada,Bo" or "Ada,Bo@Finance"."""
        people, at, coalition = text.partition("@")
        return cls(tuple(name.strip() for name in people.split(",")), coalition.strip() if at else None)

    def to_json(self) -> dict[str, Any]:
        """Return the form of `rules.json`."""
        return {"agents": list(self.agents), **({} if self.coalition is None else {"coalition": self.coalition})}


@dataclass(frozen=True)
class Quota:
    """How many members with a label a coalition has."""

    label: str
    equals: str
    at_least: int = 0
    at_most: int | None = None
    coalition: str = EACH

    def __post_init__(self) -> None:
        # Values of labels are text, as in a table: 2024 and "2024" are the same.
        for name in ("label", "equals", "coalition"):
            object.__setattr__(self, name, _text(str(getattr(self, name)), f"quota: {name}"))
        object.__setattr__(self, "at_least", checks.whole(self.at_least, "quota", 0))
        if self.at_most is not None:
            object.__setattr__(self, "at_most", checks.whole(self.at_most, "quota", 0))
            if self.at_most < self.at_least:
                raise InputError(f"{said('quota')}: at most {self.at_most} is below at least {self.at_least}")
        elif not self.at_least:
            raise InputError(f"quota of {self.label} {self.equals}: expected at_least (from 1 up) or at_most")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "site=Paris>=1", "site=Paris<=2" or "site=Paris=1", perhaps with "@Finance" behind it."""
        found = re.fullmatch(r"\s*([^=<>@]+?)\s*=\s*([^=<>@]+?)\s*(>=|<=|=)\s*(\d{1,6})\s*(?:@\s*(.+?)\s*)?", text)
        if found is None:
            what = said("quota")
            raise InputError(f'{what}: expected "site=Paris>=1" or "site=Paris<=2@Finance", got {checks.shown(text)}')
        label, equals, sign, number, coalition = found.groups()
        count = int(number)
        least, most = count if sign != "<=" else 0, count if sign != ">=" else None
        return cls(label, equals, least, most, coalition or EACH)

    def __str__(self) -> str:
        limits = [f"at least {self.at_least}"] if self.at_least else []
        limits += [] if self.at_most is None else [f"at most {self.at_most}"]
        where = "each team" if self.coalition == EACH else self.coalition
        return f"{' and '.join(limits)} with {self.label} {self.equals} in {where}"

    def to_json(self) -> dict[str, Any]:
        """Return the form of `rules.json`."""
        limits = {"at_least": self.at_least, **({} if self.at_most is None else {"at_most": self.at_most})}
        return {"label": self.label, "equals": self.equals, **limits, "coalition": self.coalition}


@dataclass(frozen=True)
class Rules:
    """Which assignments can be formed.

    Parameters
    ----------
    team_size
        Coalition, or "*" for all others -> `TeamSize`, "6:8", (6, 8) or {"min": 6, "max": 8, "or_empty": True}.
        A single one of these is for all.
    per_person
        The least and the largest number of coalitions of everybody, (1, 2) or "1:2".
    together, apart
        `Pairing`, "Ada,Bo", "Ada,Bo@Finance", a sequence of names, or {"agents": [...], "coalition": "Finance"}, each.
    fix, ban
        Person -> coalitions that she is, or is not, in; or "Ada=Finance", each.
    staff
        Who is to be assigned; None for everybody.
    labels
        Person -> label -> its value, such as {"Ada": {"site": "Paris"}}.
    quota
        `Quota`, "site=Paris>=1", "site=Paris<=2@Finance" or its form in `rules.json`, each.
    left_behind
        "strict": nobody may leave a coalition with too few members behind. "free": she may. None: nothing was said,
        which is "strict".
    max_moves
        At most so many people change something against today's assignment.
    """

    # Each may be given in several forms, see above; from then on they have these.
    team_size: Mapping[str, TeamSize] | Any = field(default_factory=dict)
    per_person: tuple[int, int] | Any | None = None
    together: tuple[Pairing, ...] | Any = ()
    apart: tuple[Pairing, ...] | Any = ()
    fix: Mapping[str, tuple[str, ...]] | Any = field(default_factory=dict)
    ban: Mapping[str, tuple[str, ...]] | Any = field(default_factory=dict)
    staff: tuple[str, ...] | Any | None = None
    labels: Mapping[str, Mapping[str, str]] | Any = field(default_factory=dict)
    quota: tuple[Quota, ...] | Any = ()
    left_behind: LeftBehind | None = None
    max_moves: int | None = None

    def __post_init__(self) -> None:
        read: dict[str, Any] = {
            "team_size": _team_sizes(self.team_size),
            "per_person": None if self.per_person is None else _per_person(self.per_person),
            "together": _pairings(self.together, said("together")),
            "apart": _pairings(self.apart, said("apart")),
            "fix": _places(self.fix, said("fix")),
            "ban": _places(self.ban, said("ban")),
            "staff": None if self.staff is None else _staff(self.staff),
            "labels": _labels(self.labels),
            "quota": _quotas(self.quota),
            "left_behind": self.left_behind and checks.one_of(self.left_behind, LeftBehind, "left_behind"),
            "max_moves": None if self.max_moves is None else checks.whole(self.max_moves, said("max_moves"), 0),
        }
        for name, value in read.items():
            object.__setattr__(self, name, value)

    @property
    def bounds_sizes(self) -> bool:
        """Whether some coalition has a smallest or a largest size: then swaps are what people can do."""
        return any(not size.says_nothing for size in self.team_size.values())

    def __bool__(self) -> bool:
        return self != Rules()

    def __add__(self, other: "Rules") -> "Rules":
        """Return both; where they say different things of the same, the other one's."""
        if not isinstance(other, Rules):
            return NotImplemented

        def both(one: Mapping[str, tuple[str, ...]], two: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
            agents = dict.fromkeys([*one, *two])
            return {agent: tuple(dict.fromkeys([*one.get(agent, ()), *two.get(agent, ())])) for agent in agents}

        agents = dict.fromkeys([*self.labels, *other.labels])
        return Rules(
            team_size={**self.team_size, **other.team_size},
            per_person=self.per_person if other.per_person is None else other.per_person,
            together=tuple(dict.fromkeys(self.together + other.together)),
            apart=tuple(dict.fromkeys(self.apart + other.apart)),
            fix=both(self.fix, other.fix),
            ban=both(self.ban, other.ban),
            staff=self.staff if other.staff is None else other.staff,
            labels={agent: {**self.labels.get(agent, {}), **other.labels.get(agent, {})} for agent in agents},
            quota=tuple(dict.fromkeys(self.quota + other.quota)),
            left_behind=other.left_behind or self.left_behind,
            max_moves=self.max_moves if other.max_moves is None else other.max_moves,
        )

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who is named."""
        return tuple(dict.fromkeys([*(self.staff or ()), *self.labels, *self.fix, *self.ban, *self.in_pairs]))

    @property
    def in_pairs(self) -> tuple[str, ...]:
        """Everybody who is to be together with, or apart from, somebody."""
        return tuple(dict.fromkeys(agent for one in (*self.together, *self.apart) for agent in one.agents))

    @property
    def teams(self) -> tuple[str, ...]:
        """Every coalition that is named."""
        places = [place for own in (*self.fix.values(), *self.ban.values()) for place in own]
        named = [one.coalition for one in (*self.together, *self.apart, *self.quota)]
        return tuple(dict.fromkeys(name for name in (*self.team_size, *places, *named) if name not in {None, EACH}))

    def renamed(self, names: Mapping[str, str]) -> "Rules":
        """Return the same of people under other names; those who are not in `names` keep theirs."""
        if not names:
            return self

        def pairings(several: tuple[Pairing, ...]) -> tuple[Pairing, ...]:
            return tuple(replace(one, agents=tuple(names.get(who, who) for who in one.agents)) for one in several)

        return replace(
            self,
            together=pairings(self.together),
            apart=pairings(self.apart),
            fix=checks.rekeyed(self.fix, names, "fix"),
            ban=checks.rekeyed(self.ban, names, "ban"),
            staff=None if self.staff is None else tuple(dict.fromkeys(names.get(who, who) for who in self.staff)),
            labels=checks.rekeyed(self.labels, names, "labels"),
        )

    def with_teams(self, names: Mapping[str, str]) -> "Rules":
        """Return the same of coalitions under other names; those that are not in `names` keep theirs."""

        def called(coalition: Any) -> Any:
            return names.get(coalition, coalition)

        def places(given: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
            return {agent: tuple(dict.fromkeys(map(called, own))) for agent, own in given.items()}

        return replace(
            self,
            team_size={called(name): size for name, size in self.team_size.items()},
            together=tuple(replace(one, coalition=called(one.coalition)) for one in self.together),
            apart=tuple(replace(one, coalition=called(one.coalition)) for one in self.apart),
            fix=places(self.fix),
            ban=places(self.ban),
            quota=tuple(replace(one, coalition=called(one.coalition)) for one in self.quota),
        )

    def told(self, agents: Sequence[str], coalitions: Sequence[str]) -> list[str]:
        """Return every rule in a few words, for these agents and coalitions.

        >>> Rules(team_size="3:4", apart=["Ben,Finn"], max_moves=2).told(["Ben", "Finn"], ["Law"])
        ['teams of 3 to 4', 'Ben and Finn apart', 'at most 2 people move']
        """
        found = list(self._sizes_told(coalitions))
        if self.per_person is not None:
            least, most = self.per_person
            found.append(f"teams per person: {least}" + (f" to {most}" if most != least else ""))
        for what, pairings in (("together", self.together), ("apart", self.apart)):
            for one in pairings:
                where = "" if one.coalition is None else f" in {one.coalition}"
                found.append(f"{listed(one.agents)} {what}{where}")
        for what, given in (("is in", self.fix), ("is not in", self.ban)):
            found += [f"{agent} {what} {place}" for agent, places in given.items() for place in places]
        found += map(str, self.quota)
        if self.max_moves is not None:
            found.append(f"at most {counted(self.max_moves, 'person moves', 'people move')}")
        gone = [] if self.staff is None else [agent for agent in agents if agent not in set(self.staff)]
        return [*found, *([f"not on the staff: {some(gone, NAMED)}"] if gone else [])]

    def _sizes_told(self, coalitions: Sequence[str]) -> Iterable[str]:
        """Yield sizes of coalitions, those that have the same in one."""
        alike: dict[TeamSize, list[str]] = {}
        for name in coalitions:
            size = self.team_size.get(name, self.team_size.get(EACH))
            if size is not None and not size.says_nothing:
                alike.setdefault(size, []).append(name)
        for size, names in alike.items():
            of_all = len(names) == len(coalitions)
            yield f"teams of {size}" if of_all else f"{listed(names)} of {size}{' each' if len(names) > 1 else ''}"

    def keeping_sizes(self, members: Mapping[str, Iterable[str]]) -> "Rules":
        """Return the same with every coalition at the size that it has, coalition -> members."""
        count = {name: len(list(inside)) for name, inside in members.items()}
        return replace(self, team_size={**self.team_size, **{name: TeamSize(s, s) for name, s in count.items()}})

    # --- Files --------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the content of `rules.json`: what was said, and nothing else."""
        said: dict[str, Any] = {
            "team_size": {name: size.to_json() for name, size in self.team_size.items()},
            "per_person": None if self.per_person is None else list(self.per_person),
            "together": [one.to_json() for one in self.together],
            "apart": [one.to_json() for one in self.apart],
            "fix": {agent: list(places) for agent, places in self.fix.items()},
            "ban": {agent: list(places) for agent, places in self.ban.items()},
            "staff": None if self.staff is None else list(self.staff),
            "labels": {agent: dict(values) for agent, values in self.labels.items()},
            "quota": [one.to_json() for one in self.quota],
            "left_behind": self.left_behind,
            "max_moves": self.max_moves,
        }
        kept = {name: value for name, value in said.items() if value is not None and value not in ({}, [])}
        return {"format": FORMAT, **kept}

    @classmethod
    def from_json(cls, data: Any) -> "Rules":
        """Read the content of `rules.json`."""
        expect_format(data, FORMAT)
        known = {one.name for one in fields(cls)}
        unknown = [name for name in data if name not in known | {"format"}]
        if unknown:
            raise InputError(f"unknown key {unknown[0]!r}; expected some of {', '.join(sorted(known))}")
        return cls(**{name: value for name, value in data.items() if name != "format"})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Rules":
        """Read `rules.json`, or a table (CSV or a spreadsheet) with a row for each rule, see `rules_of_table`."""
        path = checks.path(path, "rules")
        if path.suffix.lower() in {".csv", ".tsv"} or is_spreadsheet(path):
            table = read_table(path, ("rule", "value"), "rules")
            with naming(table.where), spelled(as_arguments):  # a file has keys, whoever reads it
                return rules_of_table(table)
        content = read_json(path)
        with naming(path), spelled(as_arguments):
            return cls.from_json(content)


def as_rules(value: Any) -> Rules:
    """Return rules that were given themselves, as the content of a file, by the path of one, or not at all."""
    if value is None:
        return Rules()
    if isinstance(value, Rules):
        return value
    if isinstance(value, Mapping):
        return Rules.from_json({"format": FORMAT, **value})
    if isinstance(value, (str, PathLike)):
        return Rules.load(value)
    raise InputError(f"rules: expected Rules, an object or the path of a rules file, got {checks.shown(value)}")


REPEATED = ("team_size", "together", "apart", "fix", "ban", "quota")
"""Rules that may be given several times."""

IN_TABLES = (*REPEATED, "per_person", "left_behind", "max_moves")


def rules_of_table(table: SmallTable) -> Rules:
    """Return the rules in a table with the columns rule and value, which are what an option and its value are called.

    A row is, say, `team-size` and `6:8`, or `apart` and `Ada,Bo`.
    """
    places, given, problems = table.places(("rule", "value")), dict[str, list[str]](), []
    for number, row in table.rows:
        rule, value = (row[places[column]].strip() for column in ("rule", "value"))
        name = re.sub(r"[\s_-]+", "_", rule.casefold().lstrip("-"))
        if name not in IN_TABLES:
            known = ", ".join(one.replace("_", "-") for one in IN_TABLES)
            problems.append(f"row {number}: {rule!r} is no rule; those are: {known}")
        elif not value:
            problems.append(f"row {number}: {rule} has no value")
        elif name in given and name not in REPEATED:
            problems.append(f"row {number}: {rule} was there before")
        else:
            given.setdefault(name, []).append(value)
    checks.refuse_all(problems)
    found: dict[str, Any] = {name: values if name in REPEATED else values[0] for name, values in given.items()}
    if found.get("max_moves", "").isdecimal():
        found["max_moves"] = int(found["max_moves"])
    return Rules(**found)


MOST_TIMES = 2
"""A table in which people are more often than so many times on average is no list of staff."""


def read_staff(path: str | PathLike[str], called: Called | None = None, known: Collection[str] = ()) -> Rules:
    """Read a table of who is to be assigned, CSV or a spreadsheet; its other columns are labels for quotas.

    That of people may have the word of a log for them: `called`. A cell may list several, as in a table of teams with
    their `Members`, or if it splits into names which are `known`; whoever is in two of these has the labels that both
    share.
    """
    table = read_table(path, ("agent",), "staff", called)
    with naming(table.where):
        place = table.places(("agent",))["agent"]
        labels = {name: column for column, name in enumerate(table.header) if name.strip() and column != place}
        if len({name.strip().casefold() for name in labels}) < len([name for name in table.header if name.strip()]) - 1:
            raise InputError(f"expected columns that differ, found: {', '.join(table.header)}")
        own: dict[str, dict[str, str]] = {}
        problems = []
        rows = table.people(place, known)
        several = table.is_gathered or any(name != row[place] for _, row, name in rows)
        for number, row, name in rows:
            found = {label: row[column] for label, column in labels.items() if row[column]}
            if not name:
                problems.append(f"row {number}: the agent is empty")
            elif name not in own:
                own[name] = found
            elif not several:
                problems.append(f"row {number}: {name} was there before")
            else:
                own[name] = {label: value for label, value in own[name].items() if found.get(label) == value}
        # One person many times is a slip of another kind; whoever is in several teams has members beside them.
        if len(rows) > MOST_TIMES * len(own) > MOST_TIMES and (not several or len(table.samples()) > 1):
            n_rows = len({number for number, _ in table.rows})
            raise InputError(
                f"does not look like a list of staff: {counted(len(own), 'person', 'people')} in "
                f"{counted(n_rows, 'row')}; expected one row for each person who is to be assigned, with a "
                "column such as Name and perhaps others that label them, such as Site"
            )
        checks.refuse_all(problems)
        if not own:
            raise InputError("expected at least one row below the header")
        return Rules(staff=tuple(own), labels={agent: found for agent, found in own.items() if found})


# --- Reading what was given ---------------------------------------------------------------------------


def _names(value: Any, what: str) -> tuple[str, ...]:
    """Return distinct names; unlike elsewhere their number will not do."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InputError(f"{what}: expected a list of names, got {checks.shown(value)}")
    return checks.names(value, what)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{what}: expected a name, got {checks.shown(value)}")
    return value


def _staff(value: Any) -> tuple[str, ...]:
    found = _names(value, "staff")
    if not found:
        raise InputError("staff: expected at least one name; without staff everybody is to be assigned")
    return found


def _listed(value: Any, what: str) -> Sequence[Any]:
    if isinstance(value, (str, Mapping, Pairing, Quota)):
        return [value]
    if not isinstance(value, Iterable):
        raise InputError(f"{what}: expected a list, got {checks.shown(value)}")
    return list(value)


_LIMITS = {"min", "max", "or_empty"}


def _team_sizes(given: Any) -> dict[str, TeamSize]:
    if isinstance(given, Mapping):
        # One object for all, unless it is one of coalitions, whatever their names.
        nested = any(isinstance(size, (str, Mapping, Sequence, TeamSize)) for size in given.values())
        if given and set(given) <= _LIMITS and not nested:
            return {EACH: _team_size(given, EACH)}
        return {_text(name, said("team_size")): _team_size(size, name) for name, size in given.items()}
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Iterable):
        given = list(given)
        if all(isinstance(one, str) for one in given):
            return _team_sizes_in_words(given)
    return {EACH: _team_size(given, EACH)}


def _team_sizes_in_words(given: Sequence[str]) -> dict[str, TeamSize]:
    found: dict[str, TeamSize] = {}
    for one in given:
        name, equals, size = one.rpartition("=")
        name = name.strip() if equals else EACH
        if not name:
            raise InputError(f'{said("team_size")}: expected "Finance=5:9", got {checks.shown(one)}')
        if name in found:
            raise InputError(
                f"{said('team_size')} of {'all' if name == EACH else name}: given twice, {found[name]} and {size}"
            )
        found[name] = TeamSize.parse(size)
    return found


def _team_size(given: Any, name: str) -> TeamSize:
    what = said("team_size") if name == EACH else f"{said('team_size')} of {name}"
    if isinstance(given, TeamSize):
        return given
    if isinstance(given, str):
        return TeamSize.parse(given)
    if isinstance(given, Mapping) and set(given) <= _LIMITS:
        return TeamSize(given.get("min", 0), given.get("max"), given.get("or_empty", False))
    if isinstance(given, Sequence) and len(given) == 2:
        return TeamSize(checks.whole(given[0], what, 0), None if given[1] is None else checks.whole(given[1], what, 0))
    if isinstance(given, Real):
        return TeamSize(checks.whole(given, what, 0), checks.whole(given, what, 0))
    raise InputError(f'{what}: expected "6:8", (6, 8) or {{"min": 6, "max": 8}}, got {checks.shown(given)}')


def _per_person(given: Any) -> tuple[int, int]:
    if isinstance(given, str):
        found = re.fullmatch(r"\s*(\d{1,6})\s*(?::\s*(\d{1,6})\s*)?", given, re.ASCII)
        if found is None:
            raise InputError(f'{said("per_person")}: expected "1:2" or "1", got {checks.shown(given)}')
        given = (int(found[1]), int(found[2] or found[1]))
    if isinstance(given, Real):
        given = (given, given)
    if not isinstance(given, Sequence) or len(given) != 2:
        raise InputError(f"{said('per_person')}: expected the least and the largest number, got {checks.shown(given)}")
    least, most = (checks.whole(one, said("per_person"), 0) for one in given)
    if most < least:
        raise InputError(f"{said('per_person')}: the largest number, {most}, is below the least, {least}")
    return least, most


def _pairings(given: Any, what: str) -> tuple[Pairing, ...]:
    def read(one: Any) -> Pairing:
        if isinstance(one, Pairing):
            return one
        if isinstance(one, str):
            return Pairing.parse(one)
        if isinstance(one, Mapping) and set(one) <= {"agents", "coalition"} and "agents" in one:
            return Pairing(_names(one["agents"], what), one.get("coalition"))
        if isinstance(one, Sequence):
            return Pairing(_names(one, what))
        raise InputError(f'{what}: expected "Ada,Bo" or {{"agents": ["Ada", "Bo"]}}, got {checks.shown(one)}')

    return tuple(read(one) for one in _listed(given, what))


def _places(given: Any, what: str) -> dict[str, tuple[str, ...]]:
    if isinstance(given, Mapping):
        return {
            str(agent): _names([places] if isinstance(places, str) else places, f"{what} of {agent}")
            for agent, places in given.items()
        }
    found: dict[str, tuple[str, ...]] = {}
    for one in _listed(given, what):
        agent, equals, place = one.partition("=") if isinstance(one, str) else ("", "", "")
        if not (agent.strip() and equals and place.strip()):
            raise InputError(f'{what}: expected "Ada=Finance", got {checks.shown(one)}')
        known = found.get(agent.strip(), ())
        found[agent.strip()] = tuple(dict.fromkeys([*known, place.strip()]))
    return found


def _labels(given: Any) -> dict[str, dict[str, str]]:
    if not isinstance(given, Mapping) or not all(isinstance(values, Mapping) for values in given.values()):
        raise InputError(f"labels: expected an object person -> label -> value, got {checks.shown(given)}")
    return {
        str(agent): {str(name): str(value) for name, value in own.items() if value is not None}
        for agent, own in given.items()
    }


def _quotas(given: Any) -> tuple[Quota, ...]:
    def read(one: Any) -> Quota:
        if isinstance(one, Quota):
            return one
        if isinstance(one, str):
            return Quota.parse(one)
        if isinstance(one, Mapping) and {"label", "equals"} <= set(one) <= {one.name for one in fields(Quota)}:
            return Quota(**one)
        raise InputError(f'{said("quota")}: expected "site=Paris>=1" or an object, got {checks.shown(one)}')

    return tuple(read(one) for one in _listed(given, said("quota")))
