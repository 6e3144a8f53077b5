"""What rules mean for profiles and steps: how far each is broken, and which steps make none worse.

Every rule has an *excess*: 0 where it holds, else by how much it does not. A step is admissible if it raises no
excess: it breaks no rule that held before, and makes no broken one worse, so a team of 10 where 8 are allowed may lose
members and not gain any. With `left_behind="free"`, too few members of a coalition that somebody leaves do not count.
The rule about moves is one about profiles, not about steps: it restricts what is recommended, not what people may do.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, IntArray
from coterie.errors import InputError
from coterie.game.actions import ActionSpace, ActionSpaces, ExplicitSets
from coterie.game.rules import EACH, Rules, TeamSize
from coterie.game.steps import LISTED, Stability, Steps, steps_from
from coterie.words import counted, in_order, numbered_team, said

RENAMED = 6
"""Up to so many interchangeable coalitions, all their renamings are looked at where people are in several."""


class View:
    """A profile after each of several steps, as far as rules ask."""

    def __init__(self, profile: BoolArray, steps: Steps) -> None:
        self.profile, self.steps = profile, steps
        self.change = steps.change(profile)

    def involving(self, agents: Sequence[int]) -> IntArray:
        """Return which steps some of these agents move in."""
        return np.flatnonzero(np.isin(self.steps.movers, agents).any(axis=1))

    def sets_of(self, agent: int, chosen: IntArray) -> BoolArray:
        """Return an agent's coalitions after the chosen steps, shape (s, k)."""
        found = np.repeat(self.profile[agent][None], len(chosen), axis=0)
        rows, places = np.nonzero(self.steps.movers[chosen] == agent)
        found[rows] = self.steps.sets[chosen[rows], places]
        return found

    @cached_property
    def sizes(self) -> IntArray:
        """How many are in each coalition after each step, shape (s, k)."""
        return np.asarray(self.profile.sum(axis=0) + self.change.sum(axis=1))

    def counts(self, mask: BoolArray) -> IntArray:
        """Return how many of the agents in `mask` (n,) are in each coalition after each step, shape (s, k)."""
        counted = (mask[self.steps.movers] & self.steps.moves)[:, :, None]
        return np.asarray(self.profile[mask].sum(axis=0) + np.where(counted, self.change, 0).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """One rule: what it says, how far a profile breaks it, and which steps make that worse."""

    text: str

    @abstractmethod
    def excess(self, profile: BoolArray) -> int:
        """Return how far the profile breaks the rule, 0 where it holds."""

    @abstractmethod
    def worsened(self, view: View) -> BoolArray:
        """Return which steps raise the excess, shape (s,)."""


def _outside(count: IntArray, least: int, most: int | None) -> IntArray:
    """Return how far numbers are from lying between two limits."""
    above = 0 if most is None else np.maximum(count - most, 0)
    return np.asarray(np.maximum(least - count, 0) + above)


@dataclass(frozen=True, eq=False)
class SizeRule(Rule):
    """The size of one coalition."""

    coalition: int
    size: TeamSize
    free: bool
    """Whether too few members that somebody leaves behind do not count."""
    of_all: bool = False
    """Whether it is said of every coalition, and of none by its name."""

    def _excess(self, count: IntArray) -> IntArray:
        found = _outside(count, self.size.min, self.size.max)
        return np.minimum(found, count) if self.size.or_empty else found

    def allows(self, sizes: IntArray) -> BoolArray:
        """Return which sizes keep the rule."""
        return np.asarray(self._excess(sizes) == 0)

    def excess(self, profile: BoolArray) -> int:
        return int(self._excess(profile[:, self.coalition].sum()))

    def worsened(self, view: View) -> BoolArray:
        after, before = view.sizes[:, self.coalition], view.profile[:, self.coalition].sum()
        worse = self._excess(after) > self._excess(before)
        return np.asarray(worse & (after >= before) if self.free else worse)


@dataclass(frozen=True, eq=False)
class PerPersonRule(Rule):
    """How many coalitions each of some agents is in."""

    applies: BoolArray
    least: int
    most: int

    def excess(self, profile: BoolArray) -> int:
        return int(_outside(profile[self.applies].sum(axis=1), self.least, self.most).sum())

    def worsened(self, view: View) -> BoolArray:
        after, before = view.steps.sets.sum(axis=2), view.profile.sum(axis=1)[view.steps.movers]
        worse = _outside(after, self.least, self.most) > _outside(before, self.least, self.most)
        return np.asarray((worse & view.steps.moves & self.applies[view.steps.movers]).any(axis=1))


@dataclass(frozen=True, eq=False)
class PairRule(Rule):
    """Two agents share (do not share) a coalition: any, or one."""

    agents: tuple[int, int]
    coalition: int | None
    share: bool

    def _excess(self, one: BoolArray, two: BoolArray) -> IntArray:
        shared = one & two
        if self.coalition is not None:
            shared = shared[..., [self.coalition]]
        return np.asarray(~shared.any(axis=-1) if self.share else shared.sum(axis=-1)).astype(np.int64)

    def excess(self, profile: BoolArray) -> int:
        return int(self._excess(*profile[list(self.agents)]))

    def worsened(self, view: View) -> BoolArray:
        found, some = np.zeros(len(view.steps), dtype=bool), view.involving(self.agents)
        found[some] = self._excess(*(view.sets_of(agent, some) for agent in self.agents)) > self.excess(view.profile)
        return found


@dataclass(frozen=True, eq=False)
class PlaceRule(Rule):
    """An agent is (is not) in a coalition."""

    agent: int
    coalition: int
    inside: bool

    def excess(self, profile: BoolArray) -> int:
        return int(profile[self.agent, self.coalition] != self.inside)

    def worsened(self, view: View) -> BoolArray:
        found, some = np.zeros(len(view.steps), dtype=bool), view.involving([self.agent])
        after = view.sets_of(self.agent, some)[:, self.coalition] != self.inside
        found[some] = after & (view.profile[self.agent, self.coalition] == self.inside)
        return found


@dataclass(frozen=True, eq=False)
class StaffRule(Rule):
    """Somebody who is not to be assigned is nowhere, and never moves."""

    agent: int

    def excess(self, profile: BoolArray) -> int:
        return int(profile[self.agent].sum())

    def worsened(self, view: View) -> BoolArray:
        return np.asarray((view.steps.movers == self.agent).any(axis=1))


@dataclass(frozen=True, eq=False)
class QuotaRule(Rule):
    """How many members with a label one coalition has; `or_empty`: nobody at all will do as well."""

    labelled: BoolArray
    coalition: int
    least: int
    most: int | None
    or_empty: bool
    asked: str
    """What the rule says of all coalitions that it is about."""

    def _excess(self, count: IntArray, size: IntArray) -> IntArray:
        found = _outside(count, self.least, self.most)
        return np.where(size == 0, 0, found) if self.or_empty else found

    def excess(self, profile: BoolArray) -> int:
        column = profile[:, self.coalition]
        return int(self._excess(column[self.labelled].sum(), column.sum()))

    def worsened(self, view: View) -> BoolArray:
        count, size = view.counts(self.labelled)[:, self.coalition], view.sizes[:, self.coalition]
        return np.asarray(self._excess(count, size) > self.excess(view.profile))


@dataclass(frozen=True, eq=False)
class Admissible:
    """Rules about the agents and coalitions of one game."""

    rules: tuple[Rule, ...]
    staff: BoolArray
    """Who is to be assigned, shape (n,)."""
    largest: IntArray
    """The most members that each coalition may have, shape (k,); n where no rule says so."""
    groups: tuple[tuple[int, ...], ...]
    """People who must be together."""
    today: BoolArray | None = None
    """Who is where today, shape (n, k)."""
    max_moves: int | None = None
    interchangeable: bool = False
    """Whether names of coalitions mean nothing, so that today's may be exchanged."""

    @classmethod
    def of(
        cls,
        rules: Rules,
        agents: Sequence[str],
        coalitions: Sequence[str],
        *,
        today: BoolArray | None = None,
        interchangeable: bool = False,
    ) -> "Admissible":
        """Return what rules mean for these agents and coalitions; names that nobody knows are refused.

        Of `today`, those count who are on the staff.
        """
        if rules.max_moves is not None and today is None:
            raise InputError(f"{said('max_moves')} needs to know who is where today: {said('today')}")
        compiled = list(_compiled(rules, agents, coalitions, numbered_team if interchangeable else str))
        staff = np.ones(len(agents), dtype=bool) if rules.staff is None else np.isin(agents, rules.staff)
        today = None if today is None else today & staff[:, None]
        largest = np.full(len(coalitions), len(agents))
        for rule in compiled:
            if isinstance(rule, SizeRule) and rule.size.max is not None:
                largest[rule.coalition] = min(rule.size.max, len(agents))
        return cls(tuple(compiled), staff, largest, _groups(compiled), today, rules.max_moves, interchangeable)

    @classmethod
    def free(cls, n_agents: int, n_coalitions: int) -> "Admissible":
        """Return no rules at all, about so many agents and coalitions."""
        return cls((), np.ones(n_agents, dtype=bool), np.full(n_coalitions, n_agents), ())

    @cached_property
    def is_free(self) -> bool:
        """Whether there are no rules at all."""
        return not self.rules and self.max_moves is None

    @cached_property
    def names_no_coalition(self) -> bool:
        """Whether all coalitions have the same rules, so that renaming them breaks none."""
        everywhere: dict[object, set[int]] = {}
        for rule in self.rules:
            if isinstance(rule, PlaceRule) or (isinstance(rule, PairRule) and rule.coalition is not None):
                return False
            if isinstance(rule, SizeRule):
                everywhere.setdefault((rule.size, rule.free), set()).add(rule.coalition)
            if isinstance(rule, QuotaRule):
                same = (rule.labelled.tobytes(), rule.least, rule.most, rule.or_empty)
                everywhere.setdefault(same, set()).add(rule.coalition)
        return self.max_moves is None and all(len(rooms) == len(self.largest) for rooms in everywhere.values())

    @property
    def may_be_more(self) -> bool:
        """Whether there could be more coalitions or fewer: they have no names, and no rule is about a single one."""
        of_all = all(
            isinstance(rule, (PerPersonRule, StaffRule))
            or (isinstance(rule, SizeRule) and rule.of_all)
            or (isinstance(rule, PairRule) and rule.coalition is None)
            for rule in self.rules
        )
        return self.interchangeable and of_all and self.max_moves is None

    def sized(self, size: TeamSize, n_coalitions: int) -> "Admissible":
        """Return the same rules with another size of every coalition, and another number of them if `may_be_more`."""
        kept = [rule for rule in self.rules if not isinstance(rule, SizeRule)]
        sizes = [SizeRule("", l, size, free=False, of_all=True) for l in range(n_coalitions)]
        most = len(self.staff) if size.max is None else min(size.max, len(self.staff))
        today = self.today if n_coalitions == len(self.largest) else None
        return replace(self, rules=(*kept, *sizes), largest=np.full(n_coalitions, most), today=today)

    def spaces(self, spaces: ActionSpaces) -> ActionSpaces:
        """Return action spaces in which whoever is not to be assigned has no choice and does not count."""
        if self.staff.all():
            return spaces
        nothing = ExplicitSets(np.zeros((1, spaces.n_coalitions), dtype=bool))
        left_out = dict.fromkeys([*spaces.left_out, *np.flatnonzero(~self.staff).tolist()])
        own = (space if here else nothing for space, here in zip(spaces.spaces, self.staff.tolist(), strict=True))
        return ActionSpaces(tuple(own), tuple(left_out))

    def chosen_from(self, spaces: ActionSpaces) -> ActionSpaces:
        """Return the same without sets that a rule about one person alone forbids; all, where it forbids all."""
        own = self.spaces(spaces)
        if not any(isinstance(rule, (PerPersonRule, PlaceRule)) for rule in self.rules):
            return own
        return ActionSpaces(tuple(self._chosen_by(i, space) for i, space in enumerate(own.spaces)), own.left_out)

    def _chosen_by(self, agent: int, space: ActionSpace) -> ActionSpace:
        if not self.staff[agent] or space.size > LISTED:
            return space
        sets = space.enumerate()
        kept = np.ones(len(sets), dtype=bool)
        for rule in self.rules:
            match rule:
                case PlaceRule() if rule.agent == agent:
                    kept &= sets[:, rule.coalition] == rule.inside
                case PerPersonRule() if rule.applies[agent]:
                    kept &= _outside(sets.sum(axis=1), rule.least, rule.most) == 0
        return space if kept.all() or not kept.any() else ExplicitSets(sets[kept])

    @property
    def moves_text(self) -> str:
        """The limit on moves, in words."""
        return "" if self.max_moves is None else f"at most {counted(self.max_moves, 'person moves', 'people move')}"

    def violations(self, profile: BoolArray) -> list[str]:
        """Return the rules that a profile breaks, in words."""
        broken = [rule.text for rule in self.rules if rule.excess(profile)]
        if self.max_moves is not None and (moves := self.moves(profile)) > self.max_moves:
            broken.append(f"{self.moves_text} (it is {moves})")
        return broken

    def holds(self, profile: BoolArray) -> bool:
        """Return whether a profile keeps all rules."""
        return not self.violations(profile)

    def steps(self, profile: BoolArray, spaces: ActionSpaces, stability: Stability = "nash") -> Steps:
        """Return every admissible step of people who count, whoever would refuse it."""
        spaces = self.spaces(spaces)
        return self.taken_by(spaces, profile, steps_from(profile, spaces, stability, self.groups_in(profile)))

    def taken_by(self, spaces: ActionSpaces, profile: BoolArray, steps: Steps) -> Steps:
        """Return those of some steps that are admissible, and of people who count."""
        steps = steps[np.asarray(np.append(spaces.counted, True)[steps.movers].all(axis=1))]  # nobody is no hindrance
        return steps[self.admitted(profile, steps)]

    def admitted(self, profile: BoolArray, steps: Steps) -> BoolArray:
        """Return which steps people may take: those that make no rule worse."""
        view, worse = View(profile, steps), np.zeros(len(steps), dtype=bool)
        for rule in self.rules:
            worse |= rule.worsened(view)
        return ~worse

    def groups_in(self, profile: BoolArray) -> tuple[tuple[int, ...], ...]:
        """Return the people who must be together and are."""
        return tuple(group for group in self.groups if profile[list(group)].all(axis=0).any())

    def moves(self, profile: BoolArray) -> int:
        """Return how many members of staff who are in today have another set than today.

        Where names of coalitions mean nothing, under the renaming that makes them fewest.
        """
        if self.today is None:
            raise InputError("to count moves, say who is where today")
        return moves_between(self.today, profile, self.staff, interchangeable=self.interchangeable)

    def plainly_named(self, profile: BoolArray) -> BoolArray:
        """Return the same teams under the names that leave most people where they are today, if rules allow it.

        Without teams of today, in the order of their members: then names do not hang on how a search went.
        """
        if not self.interchangeable:
            return profile
        now = self.today
        renamed = in_order_of_members(profile) if now is None else named_as_today(now, profile, self.staff)
        return renamed if self.holds(renamed) else profile

    def key(self, profile: BoolArray) -> bytes:
        """Return what profiles with the same teams have in common, and no others."""
        teams = [team.tobytes() for team in profile.T]
        return b"".join(sorted(teams) if self.interchangeable else teams)


def in_order_of_members(profile: BoolArray) -> BoolArray:
    """Return a profile of interchangeable coalitions, of which the first is that of the first agent, and so on."""
    order = sorted(range(profile.shape[1]), key=lambda l: (not profile[:, l].any(), *np.flatnonzero(profile[:, l])))
    return np.asarray(profile[:, order])


def moves_between(
    today: BoolArray, profile: BoolArray, staff: BoolArray | None = None, *, interchangeable: bool = False
) -> int:
    """Return how many agents who are somewhere today, and on the staff, are in other coalitions."""
    return int(movers_between(today, profile, staff, interchangeable=interchangeable).sum())


def movers_between(
    today: BoolArray, profile: BoolArray, staff: BoolArray | None = None, *, interchangeable: bool = False
) -> BoolArray:
    """Return which agents who are somewhere today, and on the staff, are in other coalitions, shape (n,)."""
    counted = today.any(axis=1) & (True if staff is None else staff)
    after = named_as_today(today, profile, staff) if interchangeable else profile
    return np.asarray(counted & (today != after).any(axis=1))


def named_as_today(today: BoolArray, profile: BoolArray, staff: BoolArray | None = None) -> BoolArray:
    """Return a profile of interchangeable coalitions, renamed so that fewest people are elsewhere than today.

    Where people are in several of more than `RENAMED` coalitions, so that as many memberships as possible stay.
    """
    counted = today.any(axis=1) & (True if staff is None else staff)
    if not counted.any():
        return profile
    from scipy.optimize import linear_sum_assignment

    before, after = today[counted], profile[counted]
    k = before.shape[1]
    kept = before.T.astype(np.int64) @ after.astype(np.int64)
    renamings = np.stack([np.arange(k), linear_sum_assignment(kept, maximize=True)[1]])
    single = (before.sum(axis=1) == 1).all() and (after.sum(axis=1) <= 1).all()
    if not single and k <= RENAMED:
        renamings = np.array(list(permutations(range(k))))
    # Row l of a renaming is the coalition that is called l from now on.
    elsewhere = (before[:, None] != after[:, renamings]).any(axis=2)
    return np.asarray(profile[:, renamings[elsewhere.sum(axis=0).argmin()]])


def _compiled(
    rules: Rules, agents: Sequence[str], coalitions: Sequence[str], shown: Callable[[str], str]
) -> Iterable[Rule]:
    """Yield every rule with numbers for names; coalitions are `shown` so in its text."""
    place = {name: l for l, name in enumerate(coalitions)}
    who = {name: i for i, name in enumerate(agents)}

    def agent(name: str, what: str) -> int:
        return who[name] if name in who else checks.index_of(name, agents, f"person in {what}")

    def coalition(name: str, what: str) -> int:
        return place[name] if name in place else checks.index_of(name, coalitions, f"team in {what}")

    for name in rules.team_size:
        if name != EACH:
            coalition(name, said("team_size"))
    for name, l in place.items():
        size = rules.team_size.get(name, rules.team_size.get(EACH))
        if size is not None and not size.says_nothing:
            yield SizeRule(
                f"team size of {shown(name)}: {size}", l, size, rules.left_behind == "free", name not in rules.team_size
            )
    staff = np.ones(len(agents), dtype=bool)
    if rules.staff is not None:
        for name in rules.staff:
            agent(name, "staff")
        staff = np.isin(agents, rules.staff)
        for i in np.flatnonzero(~staff).tolist():
            yield StaffRule(f"{agents[i]} is not on the staff", i)
    if rules.per_person is not None:
        least, most = rules.per_person
        between = f"{least}" if least == most else f"{least} to {most}"
        yield PerPersonRule(f"teams per person: {between}", staff, least, most)
    for what, share, pairings in (("together", True, rules.together), ("apart", False, rules.apart)):
        for pairing in pairings:
            room = None if pairing.coalition is None else coalition(pairing.coalition, what)
            where = "" if pairing.coalition is None else f" in {shown(pairing.coalition)}"
            for one, two in combinations(pairing.agents, 2):
                yield PairRule(f"{one} and {two} {what}{where}", (agent(one, what), agent(two, what)), room, share)
    for what, inside, places in (("fix", True, rules.fix), ("ban", False, rules.ban)):
        for name, rooms in places.items():
            for where in rooms:
                text = f"{name} is {'' if inside else 'not '}in {shown(where)}"
                yield PlaceRule(text, agent(name, what), coalition(where, what), inside)
    for name in rules.labels:
        agent(name, "labels")
    for quota in rules.quota:
        values = _values_of(quota.label, rules.labels)
        if not values:
            raise InputError(f"quota: nobody has the label {quota.label!r}; {_labels_there(quota.label, rules.labels)}")
        if quota.equals not in values.values():
            known = ", ".join(in_order(values.values()))
            raise InputError(f"quota: nobody has {quota.label} {quota.equals!r}; known are: {known}")
        labelled = np.array([values.get(name) == quota.equals for name in agents]) & staff
        for name in coalitions if quota.coalition == EACH else [quota.coalition]:
            text = str(replace(quota, coalition=shown(name)))
            l = coalition(name, "quota")
            yield QuotaRule(text, labelled, l, quota.at_least, quota.at_most, quota.coalition == EACH, str(quota))


def _labels_there(label: str, labels: Mapping[str, Mapping[str, str]]) -> str:
    """Return which labels there are, the one that was probably meant first."""
    there = in_order({name for own in labels.values() for name in own})
    if not there:
        return f"labels are columns of the staff table ({said('staff')}), and there are none"
    meant = checks.similar(label, there, checks.LOOSELY)
    asked = "" if meant is None else f"did you mean {meant!r}? "
    return f"{asked}{'Labels' if asked else 'labels'} are columns of the staff table: {', '.join(there)}"


def _values_of(label: str, labels: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return who has which value of a label; names of labels are compared without regard to case, as headers are."""
    wanted = label.casefold()
    return {who: value for who, own in labels.items() for name, value in own.items() if name.casefold() == wanted}


def _groups(rules: Iterable[Rule]) -> tuple[tuple[int, ...], ...]:
    """Return the people whom rules about being together connect."""
    groups: list[set[int]] = []
    for rule in rules:
        if isinstance(rule, PairRule) and rule.share:
            touched = [group for group in groups if group & set(rule.agents)]
            groups = [group for group in groups if group not in touched] + [set(rule.agents).union(*touched)]
    return tuple(tuple(sorted(group)) for group in groups)
