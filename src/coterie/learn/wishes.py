"""What is wanted of teams: rules, what a team is worth, against which steps it must hold, and what is best.

Names in rules and in today's assignment are looked up in the log here, once: people on the staff whom the log does not
know are newcomers and get a place in the statistics; people of the log who are not on the staff have left.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from coterie import checks
from coterie.arrays import IntArray
from coterie.certificates.against import Against
from coterie.errors import InputError
from coterie.files import naming
from coterie.game.actions import ActionSpaces, action_of
from coterie.game.admissible import Admissible
from coterie.game.game import Value
from coterie.game.rules import Pairing, Rules, as_rules, read_staff
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, read_strategy_content
from coterie.game.tables import Called, sheet_among_others
from coterie.learn.warnings import BY_AVERAGES
from coterie.log.names import about_known, as_known, spellings
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.words import in_order, numbered_team, said, some

Goal = Literal["value", "stability", "fairness"]
"""What is recommended: the largest expected value among what is not beaten, the smallest certificate, or the
largest expected value of whoever is worst off."""


LISTED = 10
"""How many names a sentence shows."""

RARELY = 10
"""If no more than one in so many people is in several teams today, that may be a slip."""

TEAMS = (list, tuple, set, frozenset)
"""In these a person's teams are listed."""


@dataclass(frozen=True, eq=False)
class Wishes:
    """What is wanted of teams, in the names of one log."""

    rules: Rules
    value: Value
    stability: Stability
    goal: Goal
    admissible: Admissible
    largest: IntArray
    """The most members that each coalition is recommended to have, shape (k,)."""
    today: Strategy | None
    """Who is where today; those of whom that is not known are nowhere, and so are those who left."""
    newcomers: tuple[str, ...]
    """People on the staff who are in no sample of the log."""
    leavers: tuple[str, ...]
    """People of the log who are not on the staff."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the names."""
    team_names: Mapping[str, str] = field(default_factory=dict)
    """What interchangeable coalitions are called today."""
    left: tuple[str, ...] = ()
    """Who is in a team today and not on the staff, so that today's teams are taken without them."""

    @property
    def is_plain(self) -> bool:
        """Whether this is the game of the paper: no rules, totals, single deviations."""
        return not self.rules and self.value == "total" and self.stability == "nash"

    def against(self, spaces: ActionSpaces) -> Against:
        """Return what profiles are to be stable against."""
        return Against(spaces, self.stability, self.value, self.admissible, self.newcomers)


def default_stability(rules: Rules) -> Stability:
    """Return swap stability where sizes are bounded, since hardly anybody can move alone then, else Nash stability."""
    return "swap" if rules.bounds_sizes else "nash"


def wishes_about(
    statistics: Statistics,
    *,
    rules: Any = None,
    value: Value | None = None,
    stability: Stability | None = None,
    goal: Goal = "value",
    today: Any = None,
    keep_sizes: bool = False,
    any_size: bool = False,
) -> tuple[Statistics, Wishes]:
    """Return statistics that know all who are to be assigned, and what is wanted of them.

    Parameters
    ----------
    statistics
        Of the log.
    rules
        `Rules`, an object as in `rules.json`, or the path of such a file.
    value, stability, goal
        See `coterie.StableLearner`; no `value` stands for that of the log, no `stability` for the default.
    today
        Who is where: a dictionary person -> coalitions, a strategy, a result, or the path of a CSV or JSON file. It may
        hold people who left, and lack newcomers.
    keep_sizes
        Whether every coalition keeps the size that it has today.
    any_size
        Whether coalitions larger than any seen may be recommended.
    """
    given, renamed = known_people(as_rules(rules), statistics.agents)
    told: list[str] = []
    if value is None:
        value = statistics.setting.value
        told = [f"{BY_AVERAGES}; {said(value='total')} adds them up"] if value == "average" else []
    checks.one_of(value, Value, said("value"))
    checks.one_of(goal, Goal, said("goal"))
    told += _idle_pairs(given)
    added = tuple(name for name in given.staff or () if name not in statistics.agents)
    if added:
        statistics = statistics.with_agents(added)
    setting = statistics.setting
    agents, coalitions = setting.agents, setting.coalitions
    assigned: Strategy | None = None
    names: Mapping[str, str] = {}
    left: tuple[str, ...] = ()
    if today is not None:
        assigned, names, others, notes, left = _today(today, setting, given, added, statistics.clues.called)
        renamed |= others
        told += notes
    if keep_sizes:
        if assigned is None:
            raise InputError(f"{said(keep_sizes=True)} needs to know who is where today: {said('today')}")
        given = given.keeping_sizes(assigned.members())
    if setting.pool_coalitions:
        given = given.with_teams(
            _numbers_of(given.teams, coalitions) | {name: number for number, name in names.items()}
        )
        _refuse_names(given.teams, coalitions, names, knows_today=today is not None)
    profile = None if assigned is None else assigned.sets
    admissible = Admissible.of(given, agents, coalitions, today=profile, interchangeable=setting.pool_coalitions)
    chosen = default_stability(given) if stability is None else checks.one_of(stability, Stability, said("stability"))
    largest = np.full(len(coalitions), len(agents)) if any_size else _largest(statistics, given)
    staff_now = admissible.staff
    unseen = np.isin(agents, added) if statistics.attendance is None else statistics.attendance == 0
    newcomers = tuple(name for name, new in zip(agents, (unseen & staff_now).tolist(), strict=True) if new)
    leavers = tuple(name for name, here in zip(agents, staff_now.tolist(), strict=True) if not here)
    return statistics, Wishes(
        given, value, chosen, goal, admissible, largest, assigned, newcomers, leavers,
        (*told, *about_known(renamed)), names, left,
    )  # fmt: skip


def _numbers_of(names: Iterable[str], coalitions: Sequence[str]) -> dict[str, str]:
    """Return which of these names of interchangeable coalitions stand for a number: "team 1", "Team1"."""
    found = {name: re.fullmatch(r"team\s*(\d+)", name.strip(), re.IGNORECASE | re.ASCII) for name in names}
    return {name: number[1] for name, number in found.items() if number and number[1] in coalitions}


def _refuse_names(
    named: Iterable[str], coalitions: Sequence[str], names: Mapping[str, str], *, knows_today: bool
) -> None:
    """Refuse rules about names that interchangeable coalitions do not have."""
    unknown = [name for name in named if name not in coalitions]
    if not unknown:
        return
    there = [names.get(number, number) for number in coalitions]
    if not knows_today:
        helps = f"with {said('today')}, the names that they have there can be used"
    elif meant := checks.similar(unknown[0], there):
        helps = f"did you mean {meant!r}, as in today's table?"
    else:
        helps = f"today they are called {some(there, LISTED)}" if names else "today's table does not name it either"
    raise InputError(
        f"a rule names the team {unknown[0]!r}: teams are interchangeable here, so no name means one of them; {helps}"
    )


def known_people(rules: Rules, agents: Sequence[str]) -> tuple[Rules, dict[str, str]]:
    """Return rules in the names that people have in the log or on the staff, and who was spelled otherwise."""
    on_staff = as_known(rules.staff or (), agents)
    new = [name for name in rules.staff or () if name not in agents and name not in on_staff]
    gone = [] if rules.staff is None else [name for name in agents if name not in {*rules.staff, *on_staff.values()}]
    problems = [
        f"staff: {several[0]!r} occurs {'twice, in two' if len(several) == 2 else 'more than once, in several'} "
        f"spellings of one name{_spelled_without(several)}"
        for several in spellings(new)
    ]
    problems += [
        f"staff: {name!r} is not in the log, and {like!r} of the log is not on the staff; if they are one person, "
        f"write {like!r}; if they are two, make the new name less like it, such as {f'{name} (new)'!r}"
        for name in new
        if (like := checks.slip_of(name, gone))
    ]
    checks.refuse_all(problems, "the staff has")
    everybody = [*agents, *new]
    rules = _with_commas(rules, everybody)
    renamed = on_staff | as_known((name for name in rules.people if name not in on_staff), everybody)
    unknown = [
        name for name in (*rules.in_pairs, *rules.fix, *rules.ban) if name not in everybody and name not in renamed
    ]
    return rules.renamed(renamed | _begun(unknown, everybody)), renamed


def _spelled_without(several: Sequence[str]) -> str:
    """Return what to do with newcomers whose names differ in accents only, who may be two after all."""
    if len({checks.plain(name) for name in several}) == 1:
        return ""
    shown = " and ".join(map(repr, several))
    return f" ({shown}); if they are two people, tell them apart, such as by {f'{several[0]} (new)'!r}"


def _idle_pairs(rules: Rules) -> list[str]:
    """Return what to tell of people who are to be apart from somebody, and are nowhere as they are not on the staff."""
    named = dict.fromkeys(name for one in rules.apart for name in one.agents)
    gone = [] if rules.staff is None else [name for name in named if name not in rules.staff]
    if not gone:
        return []
    who = "who is" if len(gone) == 1 else "who are"
    return [f"{said('apart')} changes nothing about {some(gone, LISTED)}, {who} not on the staff"]


def _with_commas(rules: Rules, everybody: Sequence[str]) -> Rules:
    """Return rules in which names that hold commas ("Lee, Ann") are whole again.

    Pairs are written with commas between them, so "Lee, Ann,Poe, Bo" are four words and two people.
    """
    known = {checks.plain(name): name for name in everybody if "," in name}
    if not known:
        return rules

    def whole(words: Sequence[str]) -> tuple[str, ...] | None:
        if not words:
            return ()
        for end in range(len(words), 0, -1):
            name = known.get(checks.plain(", ".join(words[:end]))) or known.get(checks.plain(",".join(words[:end])))
            name = words[0] if name is None and end == 1 else name
            if name is not None and (rest := whole(words[end:])) is not None:
                return (name, *rest)
        return None

    def mended(several: tuple[Pairing, ...]) -> tuple[Pairing, ...]:
        return tuple(replace(one, agents=whole(one.agents) or one.agents) for one in several)

    return replace(rules, together=mended(rules.together), apart=mended(rules.apart))


def _begun(names: Sequence[str], everybody: Sequence[str]) -> dict[str, str]:
    """Return who is meant by the beginnings of names; refused where several are."""
    found = {name: checks.meant(name, everybody) for name in names}
    for name, several in found.items():
        if len(several) > 1:
            raise InputError(f"a rule names {name!r}, who could be {some(several, LISTED)}; give the whole name")
    return {name: meant for name, meants in found.items() for meant in meants}


def _largest(statistics: Statistics, rules: Rules) -> IntArray:
    """Return the largest size that was seen of each coalition; where a rule asks for more, that is what it says."""
    counts = statistics.whole.size_counts
    seen = np.where(counts > 0, np.arange(counts.shape[1]), 0).max(axis=1)
    largest = np.broadcast_to(seen, (statistics.setting.n_coalitions,)).copy()
    for l, name in enumerate(statistics.coalitions):
        size = rules.team_size.get(name, rules.team_size.get("*"))
        if size is not None and size.max is not None:
            largest[l] = size.max  # said by the user
        elif size is not None:
            largest[l] = max(largest[l], size.min)
    return largest


class _Today(NamedTuple):
    """Today's assignment in the names of the log."""

    strategy: Strategy
    names: Mapping[str, str]
    """What interchangeable coalitions are called today."""
    renamed: dict[str, str]
    """Who was spelled otherwise."""
    notes: list[str]
    """What is to be said of the names."""
    left: tuple[str, ...] = ()
    """Who was in a team of it and left."""


def _today(given: Any, setting: Setting, rules: Rules, new: Sequence[str], called: Mapping[str, str]) -> _Today:
    """Return today's assignment; whoever is not named, or left, is nowhere."""
    names = getattr(given, "team_names", {})
    if isinstance(found := getattr(given, "strategy", None), Strategy):
        given = found
    if isinstance(given, Strategy):
        given = given.actions
    if isinstance(given, (str, PathLike)):
        path = checks.path(given, "today")
        content = read_strategy_content(path, called, setting.agents)
        file, sheet = sheet_among_others(path, ("agent", "coalition"), called)
        with naming(file if sheet is None else f"{file}, sheet {sheet!r}"):
            found = _assigned(_actions(content), setting, rules, new, names_of_teams(content), path, called)
        told = [] if sheet is None else [f"who is where today was read from the sheet {sheet!r} of {file}"]
        return found._replace(notes=[*told, *found.notes])
    return _assigned(_actions(given), setting, rules, new, names)


class Known(Protocol):
    """Who and what a log knows, or a setting."""

    @property
    def agents(self) -> tuple[str, ...]: ...
    @property
    def coalitions(self) -> tuple[str, ...]: ...
    @property
    def pool_coalitions(self) -> bool: ...


@dataclass(frozen=True)
class _WithNew:
    """The same with people who are new."""

    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    pool_coalitions: bool


def people_today(content: Any, known: Known, rules: Rules) -> set[str]:
    """Return who is in a team today, by an assignment among people and teams that are known, or on the staff."""
    new = tuple(name for name in rules.staff or () if name not in known.agents)
    everybody = _WithNew((*known.agents, *new), known.coalitions, known.pool_coalitions)
    found = _assigned(_actions(content), everybody, rules, new, {}).strategy
    return {agent for agent, where in found.actions.items() if where}


def names_of_teams(content: Any) -> dict[str, str]:
    """Return what interchangeable coalitions are called by the content of a result file; of any other, nothing."""
    found = content.get("team_names") if isinstance(content, Mapping) and "data" in content else None
    if not isinstance(found, Mapping):
        return {}
    return {str(number): name for number, name in found.items() if isinstance(name, str)}


def _actions(content: Any) -> Mapping[str, Any]:
    """Return agent -> coalitions from any of the forms that an assignment has."""
    for key in ("strategy", "actions"):
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
    if not isinstance(content, Mapping):
        raise InputError(f"today: expected person -> list of coalitions, got {checks.shown(content)}")
    return content


def _assigned(
    actions: Mapping[str, Any],
    setting: Known,
    rules: Rules,
    new: Sequence[str],
    names: Mapping[str, str],
    path: Path | None = None,
    words: Called | None = None,
) -> _Today:
    agents, coalitions = setting.agents, setting.coalitions
    _refuse_swapped(actions, agents)
    renamed = as_known((name for name in actions if isinstance(name, str)), agents)
    actions = checks.rekeyed(actions, renamed, "today")
    strangers = _strangers(actions, agents, rules, new, path, words)
    left: tuple[str, ...] = ()
    if rules.staff is not None:
        left = tuple(agent for agent, where in actions.items() if where and agent not in rules.staff)
        # Those who left are gone, whatever is decided: what is compared with are the teams that are there without them.
        actions = {agent: where for agent, where in actions.items() if agent in rules.staff}
    called, numbers, several = list[str](), dict[str, str](), _in_several(actions)
    if setting.pool_coalitions:
        actions, numbers, called = numbered(actions, coalitions)
    else:
        actions = _named(actions, as_known(_teams_in(actions), coalitions))
    profile = np.zeros((len(agents), len(coalitions)), dtype=bool)
    place = {name: i for i, name in enumerate(agents)}
    for agent, where in actions.items():
        if agent in place:
            profile[place[agent]] = action_of(where, coalitions, f"today's table for {agent}", "team")
    if not profile.any():
        raise InputError("today: nobody who is to be assigned is in any team")
    names = names if not numbers else {number: name for name, number in numbers.items()}
    return _Today(Strategy.pure(profile, agents, coalitions), names, renamed, [*strangers, *several, *called], left)


def _refuse_swapped(actions: Mapping[str, Any], agents: Sequence[str]) -> None:
    """Refuse a table in which nobody is a person of the log, and most teams are."""
    people, teams = {checks.plain(name) for name in agents}, in_order(_teams_in(actions))
    named = [name for name in teams if checks.plain(name) in people]
    if named and 2 * len(named) >= len(teams) and not any(checks.plain(str(name)) in people for name in actions):
        raise InputError(
            f"today: people and teams look swapped: {some(map(repr, named), LISTED)} in the column of teams, and "
            f"{some(map(repr, actions), LISTED)} in that of people; call the columns agent (who) and coalition (which "
            "team)"
        )


def _strangers(
    actions: Mapping[str, Any],
    agents: Sequence[str],
    rules: Rules,
    new: Sequence[str],
    path: Path | None,
    called: Called | None,
) -> list[str]:
    """Return what to tell of people in today's table whom nobody knows, and of those who are not in it and not new.

    Whoever left is known by not being on the staff; without that, a name that nobody knows may be a slip. And it is
    one where it is much like that of somebody who is missing.
    """
    strangers = [name for name in actions if name not in agents]
    staff = agents if rules.staff is None else rules.staff
    missing = [name for name in agents if name in staff and name not in actions]
    meant = {name: checks.slip_of(name, missing) for name in strangers if isinstance(name, str)}
    wrong = strangers if rules.staff is None else [name for name in strangers if meant.get(name)]
    if wrong:
        told = []
        for name in wrong:
            like = meant.get(name) or (checks.similar(name, agents) if isinstance(name, str) else None)
            told.append(checks.shown(name) + (f" (did you mean {like!r}?)" if like else ""))
        raise InputError(
            f"today's assignment names people whom the log does not know: {some(told, LISTED)}; whoever is new is "
            f"named by {said('staff')}{_for_staff(path, wrong, called, agents)}"
        )
    notes = []
    if strangers:
        left_out = some(map(str, strangers), LISTED)
        notes.append(f"people in today's table whom neither the log nor the staff knows are left out: {left_out}")
    if missing := [name for name in missing if name not in new]:
        notes.append(
            f"{len(missing)} of {len(staff)} people are not in today's table, and count as in no team today: "
            f"{some(missing, LISTED)}"
        )
    return notes


def _in_several(actions: Mapping[str, Any]) -> list[str]:
    """Return who is in several of today's teams, where hardly anybody is: it may be a slip."""
    several = {agent: where for agent, where in actions.items() if isinstance(where, TEAMS) and len(where) > 1}
    if not several or RARELY * len(several) > len(actions):
        return []
    told = some([f"{agent} ({', '.join(map(str, where))})" for agent, where in several.items()], LISTED)
    return [f"in several of today's teams at once, which may be a slip: {told}"]


def _for_staff(path: Path | None, names: Sequence[Any], called: Called | None, agents: Sequence[str]) -> str:
    """Return that the table of today will do as that of the staff, where it does."""
    with suppress(InputError):
        if path is not None and {*names} <= {*(read_staff(path, called, agents).staff or ())}:
            return f", for which the same table will do: {said(staff=path)}"
    return ""


def _named(actions: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return teams under other names; what is no list of names stays as it is, to be refused later."""

    def known(one: Any) -> Any:
        if isinstance(one, Mapping) and isinstance(one.get("coalitions"), TEAMS):  # teams that somebody may be in
            return {**one, "coalitions": [known(name) for name in one["coalitions"]]}
        return names.get(one, one) if isinstance(one, str) else one

    return {
        agent: [known(one) for one in where] if isinstance(where, TEAMS) else where for agent, where in actions.items()
    }


def _teams_in(actions: Mapping[str, Any]) -> set[str]:
    listed = [one for where in actions.values() if isinstance(where, TEAMS) for one in where]
    options = [one["coalitions"] for one in listed if isinstance(one, Mapping) and "coalitions" in one]
    listed += [name for teams in options if isinstance(teams, TEAMS) for name in teams]
    return {name for name in listed if isinstance(name, str)}


def _slip_among(actions: Mapping[str, Any], teams: Sequence[str]) -> str:
    """Return which team may be another whose name is misspelt: one of a single person."""
    members = Counter(name for where in actions.values() if isinstance(where, TEAMS) for name in map(str, where))
    for name in teams:
        like = checks.slip_of(name, [one for one in teams if members[one] > 1]) if members[name] == 1 else None
        if like is not None:
            return f"; or is {name!r}, where one person is, {like!r}?"
    return ""


def numbered(
    actions: Mapping[str, Any], coalitions: Sequence[str], label: str = "today", before: Mapping[str, str] | None = None
) -> tuple[Mapping[str, Any], dict[str, str], list[str]]:
    """Return teams under the names of interchangeable coalitions, where they have others, and which is which.

    A name that a coalition has stays, "team 1" is 1, and one that was numbered `before` keeps its number if no team
    here has it.

    Returns
    -------
    actions, numbers, notes
        Who is where; the coalition that each other name stands for; and what is to be said of that, which is nothing
        unless a number has two names.
    """
    plain = {numbered_team(name): name for name in coalitions}
    actions = _named(actions, plain) if _teams_in(actions) & set(plain) else actions
    named, before = _teams_in(actions), before or {}
    others = in_order(named.difference(coalitions))
    if not others:
        return actions, {}, []
    if len(named) > len(coalitions):
        when = label if label == "today" else f"in {label}"
        if len(named) > len(actions):
            helps = "it should say who is where now, a row for each person"
        else:
            helps = said(coalitions=len(named)) + _slip_among(actions, others)
        raise InputError(
            f"{when} there are {len(named)} teams, and no more than {len(coalitions)} may be formed: {helps}"
        )
    kept = {name: before[name] for name in others if name in before and before[name] not in named}
    free = [name for name in coalitions if name not in named and name not in kept.values()]
    free.sort(key=lambda name: name in before.values())  # one number for two names only where there are too few
    number = kept | dict(zip((name for name in others if name not in kept), free, strict=False))
    first = {before[name]: name for name in reversed(list(before))}
    twice = [f"{name} is what was {first[number[name]]}" for name in others if first.get(number[name], name) != name]
    told = [f"teams are interchangeable here, and in {label} {', '.join(twice)}"] if twice else []
    return _named(actions, number), number, told
