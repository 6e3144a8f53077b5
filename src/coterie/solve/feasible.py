"""Profiles that keep rules, as the points of a mixed-integer program (HiGHS); where there are none, the rules to blame.

x_il in {0, 1} says that agent i is in coalition l. What must hold is linear in x and a few helpers, each of which is
0 or 1 by itself as soon as x is:

    explicit sets         sum over a of c_ia = 1, x_il = sum over a containing l of c_ia
    up to m coalitions    0 or 1 <= sum over l of x_il <= m
    0 or min to max       min z_l <= sum over i of x_il <= max z_l, z_l = 1 exactly where somebody is in l
    quota in each         at least q z_l members with the label
    together anywhere     y_l <= x_il, y_l <= x_jl, sum over l of y_l >= 1
    apart                 x_il + x_jl <= 1
    moves                 m_i >= x_il where i is not in l today, m_i >= 1 - x_il where she is, sum of m_i <= the limit

An infeasible set of requirements is made irreducible by QuickXplain (Junker, AAAI 2004): without any one of them, the
others can be kept. Sizes that do not add up to as many memberships as people have are found by counting: the program,
which does not see that coalitions are alike, would try every way to seat 28 people at tables of three.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError, SolverError
from coterie.game.actions import ActionSpace, ActionSpaces, ExplicitSets, UpTo
from coterie.game.admissible import (
    Admissible,
    PairRule,
    PerPersonRule,
    PlaceRule,
    QuotaRule,
    Rule,
    SizeRule,
    StaffRule,
)
from coterie.game.rules import TeamSize
from coterie.solve.control import Control, meanwhile
from coterie.words import counted, said

SHOWN = 4
"""So many names are listed in words, and then "and others"."""

PROPOSED = 3
"""So many other sizes are proposed."""

EFFORT, OVERHEAD = 2_500_000, 1_000
"""So much is spent on naming a contradiction, and so much on a program that has no rows: about ten seconds and four
thousandths of one. Time would not do: what is named, and advised, would hang on the machine."""

LIMIT_REACHED = 1
"""What SciPy calls the end of a program by a limit."""

DRAWN = 0.05
"""A profile that is drawn may be so far below the best for its weights, as a share of it."""

Row = tuple[Sequence[int], Sequence[float], float, float]
"""Variables, their coefficients, and the limits of their sum."""


@dataclass(frozen=True, eq=False)
class Requirement:
    """Something that must hold, in words and as rows of the program."""

    text: str
    rows: tuple[Row, ...]
    rule: Rule | None = None
    """The rule that says so; None for action spaces, largest sizes and the limit on moves."""
    agents: tuple[int, ...] = ()
    """Whose action spaces say so."""
    is_limit: bool = False
    """Whether it is a largest size that is recommended, and no rule."""
    room: "tuple[int, Sizes] | None" = None
    """A coalition, and the sizes that it may have."""
    memberships: tuple[tuple[int, ...], int, int] | None = None
    """Agents, and in how many coalitions each of them is at least and at most."""


@dataclass(frozen=True)
class Sizes:
    """From `least` to `most`, and 0 if `or_empty`."""

    least: int
    most: int
    or_empty: bool = False

    def __and__(self, other: "Sizes") -> "Sizes":
        """Return the sizes that are in both."""
        or_empty = all(one.or_empty or one.least == 0 for one in (self, other))
        return Sizes(max(self.least, other.least), min(self.most, other.most), or_empty)

    def added_to(self, sums: int) -> int:
        """Return which sums come of adding one of the sizes to one of these sums; bit s stands for s."""
        found = sums if self.or_empty else 0
        if self.least <= self.most:
            spread, further = sums << self.least, 0
            while further < self.most - self.least:
                step = min(further + 1, self.most - self.least - further)
                spread |= spread << step
                further += step
            found |= spread
        return found


@dataclass(frozen=True)
class Conflict:
    """Requirements that no profile keeps together."""

    requirements: tuple[Requirement, ...]
    is_irreducible: bool
    """Whether without any one of them the others can be kept; False where that would take too long to say."""
    summary: tuple[str, ...] = ()
    """The requirements in words, those that say the same of several people or coalitions in one."""
    advice: str = ""
    """What would help, where that is known."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The requirements in words, each one."""
        return tuple(one.text for one in self.requirements)

    def refusal(self) -> InputError:
        """Return the error that says so."""
        which = "these contradict each other" if self.is_irreducible else "some of these contradict each other"
        return InputError(f"no assignment keeps all rules; {which}: {'; '.join(self.summary)}{self.advice}")


@dataclass
class Effort:
    """What may still be spent on programs: entries of their rows times nodes, the same on every machine."""

    control: Control
    left: int = EFFORT

    def spent_on(self, size: int, solved: Callable[[int], Any]) -> Any:
        """Return what comes of a program within some number of nodes; None where nothing is left for it.

        The first node decides most of them. How many an infeasible one took is not known, so it is all it might have.
        """
        found = None
        for share in (size, self.left - size):
            if share < size or self.left < size:
                break
            found = solved(share // size)
            nodes = share // size if found.mip_node_count is None else max(1, found.mip_node_count)
            self.left -= nodes * size
            if found.status != LIMIT_REACHED:
                break
        return found


class Assignments:
    """The profiles that action spaces and rules admit.

    Parameters
    ----------
    spaces
        What agents may do.
    admissible
        The rules. Those who are not on the staff are nowhere, whatever their action space. A limit on moves counts
        them with the names that coalitions have, interchangeable or not.
    agents, coalitions
        Names, for messages.
    largest
        The most members that each coalition may have on top of the rules, shape (k,): what is recommended at most.
    """

    def __init__(
        self,
        spaces: ActionSpaces,
        admissible: Admissible,
        agents: Sequence[str],
        coalitions: Sequence[str],
        *,
        largest: IntArray | None = None,
    ) -> None:
        self.spaces, self.admissible = spaces, admissible
        self.agents, self.coalitions = agents, coalitions
        self.n_agents, self.n_coalitions = spaces.n_agents, spaces.n_coalitions
        self.n_variables = self.n_agents * self.n_coalitions
        self.definitions: list[Row] = []
        self._occupied: dict[int, int] = {}
        rules = [
            Requirement(rule.text, tuple(self._rule(rule)), rule, **self._counted(rule)) for rule in admissible.rules
        ]
        self.requirements = (*rules, *self._spaces(), *self._limits(largest), *self._moves())

    # --- The program ----------------------------------------------------------------------------------

    def x(self, agent: int, coalition: int) -> int:
        """Return the number of the variable that says whether an agent is in a coalition."""
        return agent * self.n_coalitions + coalition

    def column(self, coalition: int, agents: BoolArray | None = None) -> list[int]:
        """Return the variables of a coalition's members, of all agents or of those in a mask (n,)."""
        chosen = range(self.n_agents) if agents is None else np.flatnonzero(agents).tolist()
        return [self.x(i, coalition) for i in chosen]

    def row(self, agent: int) -> list[int]:
        """Return the variables of an agent's coalitions."""
        return [self.x(agent, l) for l in range(self.n_coalitions)]

    def _more(self, count: int) -> range:
        """Return the numbers of further variables between 0 and 1."""
        begin = self.n_variables
        self.n_variables += count
        return range(begin, self.n_variables)

    def occupied(self, coalition: int) -> int:
        """Return the variable that says whether anybody is in a coalition."""
        if coalition not in self._occupied:
            (z,) = self._more(1)
            members = self.column(coalition)
            self.definitions += [((x, z), (1.0, -1.0), -np.inf, 0.0) for x in members]
            self.definitions.append(((z, *members), (1.0, *[-1.0] * len(members)), -np.inf, 0.0))
            self._occupied[coalition] = z
        return self._occupied[coalition]

    def _rule(self, rule: Rule) -> Iterable[Row]:
        match rule:
            case SizeRule(coalition=l, size=size):
                most = self.n_agents if size.max is None else size.max
                yield from self._between(self.column(l), size.min, most, l if size.or_empty else None)
            case QuotaRule(coalition=l):
                most = self.n_agents if rule.most is None else rule.most
                yield from self._between(self.column(l, rule.labelled), rule.least, most, l if rule.or_empty else None)
            case PerPersonRule():
                for i in np.flatnonzero(rule.applies).tolist():
                    yield _sum(self.row(i), rule.least, rule.most)
            case PairRule(agents=(i, j), coalition=l, share=share):
                rooms = range(self.n_coalitions) if l is None else [l]
                if share and l is None:
                    shared = self._more(self.n_coalitions)
                    for y, room in zip(shared, rooms, strict=True):
                        yield from (((y, self.x(agent, room)), (1.0, -1.0), -np.inf, 0.0) for agent in (i, j))
                    yield _sum(shared, 1, np.inf)
                else:
                    both = ([self.x(i, room), self.x(j, room)] for room in rooms)
                    yield from (_sum(pair, 2 if share else 0, 2 if share else 1) for pair in both)
            case PlaceRule(agent=i, coalition=l, inside=inside):
                yield _sum([self.x(i, l)], int(inside), int(inside))
            case StaffRule(agent=i):
                yield _sum(self.row(i), 0, 0)
            case _:
                raise TypeError(f"a rule of an unknown kind: {rule.text}")

    def _counted(self, rule: Rule) -> dict[str, Any]:
        """Return what a rule says about how many there are."""
        match rule:
            case SizeRule(coalition=l, size=size):
                most = self.n_agents if size.max is None else size.max
                return {"room": (l, Sizes(size.min, most, size.or_empty))}
            case PerPersonRule(applies=applies, least=least, most=most):
                return {"memberships": (tuple(np.flatnonzero(applies).tolist()), least, most)}
            case StaffRule(agent=i):
                return {"memberships": ((i,), 0, 0)}
            case _:
                return {}

    def _between(self, members: list[int], least: int, most: int, or_empty: int | None) -> Iterable[Row]:
        """Yield that so many of these are members, or that the coalition `or_empty` has none."""
        if or_empty is None or least == 0:
            yield _sum(members, least, most)
        else:
            z = self.occupied(or_empty)
            yield (*members, z), (*[1.0] * len(members), -float(least)), 0.0, np.inf
            yield (*members, z), (*[1.0] * len(members), -float(most)), -np.inf, 0.0

    def _spaces(self) -> Iterable[Requirement]:
        """Yield what agents may do, one requirement for all who may do the same."""
        alike: dict[str, tuple[ActionSpace, list[int]]] = {}
        for space, members in self.spaces.groups:
            staff = members[self.admissible.staff[members]].tolist()
            if staff:
                key = str(space.to_json(self.coalitions))
                alike.setdefault(key, (space, []))[1].extend(staff)
        for space, agents in alike.values():
            rows = tuple(row for i in agents for row in self._space(space, i))
            if rows:
                text, who = f"choices of {self._people(agents)}: {self._choices(space)}", tuple(agents)
                yield Requirement(text, rows, agents=who, memberships=(who, *_least_and_most(space)))

    def _space(self, space: ActionSpace, agent: int) -> Iterable[Row]:
        if isinstance(space, UpTo):
            if space.most < self.n_coalitions or not space.may_stay_out:
                yield _sum(self.row(agent), 0 if space.may_stay_out else 1, space.most)
            return
        listed = space.enumerate()
        chosen = self._more(len(listed))
        yield _sum(chosen, 1, 1)
        for l in range(self.n_coalitions):
            holding = [chosen[a] for a in np.flatnonzero(listed[:, l]).tolist()]
            yield (self.x(agent, l), *holding), (1.0, *[-1.0] * len(holding)), 0.0, 0.0

    def _limits(self, largest: IntArray | None) -> Iterable[Requirement]:
        if largest is not None:
            for l, (name, most) in enumerate(zip(self.coalitions, np.asarray(largest).tolist(), strict=True)):
                if most < min(self.n_agents, self.admissible.largest[l]):
                    text = f"at most {most} in {name}, the largest size seen"
                    rows = (_sum(self.column(l), 0, most),)
                    yield Requirement(text, rows, is_limit=True, room=(l, Sizes(0, most)))

    def _moves(self) -> Iterable[Requirement]:
        limit, today = self.admissible.max_moves, self.admissible.today
        if limit is None or today is None:
            return
        movable = np.flatnonzero(today.any(axis=1) & self.admissible.staff).tolist()
        moved, rows = self._more(len(movable)), []
        for m, i in zip(moved, movable, strict=True):
            for l, there in enumerate(today[i].tolist()):
                x = self.x(i, l)
                rows.append(((m, x), (1.0, 1.0), 1.0, np.inf) if there else ((m, x), (1.0, -1.0), 0.0, np.inf))
        yield Requirement(self.admissible.moves_text, (*rows, _sum(moved, 0, limit)))

    def _people(self, agents: Sequence[int]) -> str:
        if len(agents) == self.admissible.staff.sum():
            return "everybody"
        return _listed([self.agents[i] for i in agents])

    def _choices(self, space: ActionSpace) -> str:
        if isinstance(space, UpTo):
            many = "exactly one team" if space.most == 1 else f"one to {space.most} teams"
            if space.may_stay_out:
                many = "at most one team" if space.most == 1 else f"up to {space.most} teams"
            return many
        listed = [" + ".join(names) or "none" for names in space.to_json(self.coalitions)]
        return _listed(listed, "or")

    # --- Profiles -------------------------------------------------------------------------------------

    def best(self, weights: FloatArray, control: Control | None = None, *, gap: float = 0.0) -> BoolArray | None:
        """Return a profile with the largest sum of `weights` (n, k) over memberships, or nearly.

        Where no profile keeps all rules, `InputError` names some that contradict each other. None where the time
        was over before any profile was found; the best so far where it was over later.

        Parameters
        ----------
        weights
            What each membership is worth.
        control
            Seed, time limit and interruption.
        gap
            So far below the largest sum, as a share of it, is near enough.
        """
        control = control or Control()
        status, found = self._solved(self.requirements, control, weights, gap)
        self._refuse(status, control)
        return found

    def first(self, weights: FloatArray, *, gap: float = 0.0) -> BoolArray:
        """Return the same however long it takes, for whoever needs a profile to begin with; Ctrl-C leaves it."""
        status, found = self._solved(self.requirements, None, weights, gap)
        self._refuse(status, Control())
        if found is None:
            raise SolverError("the solver found neither an assignment that keeps all rules nor that there is none")
        return found

    def _refuse(self, status: str, control: Control) -> None:
        if status == "infeasible":
            if self._too_few:
                raise InputError(f"no assignment keeps all rules: {self._too_few}")
            conflict = self._explained(control)
            assert conflict is not None
            raise conflict.refusal()

    def drawn(self, control: Control | None = None) -> BoolArray | None:
        """Return a profile drawn at random: the best for random weights. Otherwise as `best`."""
        control = control or Control()
        return self.best(self._random_weights(control.rng), control, gap=DRAWN)

    def first_drawn(self, rng: np.random.Generator) -> BoolArray:
        """Return a profile drawn at random. Otherwise as `first`."""
        return self.first(self._random_weights(rng), gap=DRAWN)

    def _random_weights(self, rng: np.random.Generator) -> FloatArray:
        return rng.standard_normal((self.n_agents, self.n_coalitions))

    def nearest(self, profile: BoolArray) -> BoolArray:
        """Return a profile with as few memberships as possible other than in the given one. Otherwise as `first`."""
        return self.first(np.where(profile, 1.0, -1.0))

    def conflict(self, control: Control | None = None) -> Conflict | None:
        """Return requirements that contradict each other; None where there are none (or time was over first)."""
        control = control or Control()
        return self._explained(control) if self._solved(self.requirements, control)[0] == "infeasible" else None

    def _explained(self, control: Control) -> Conflict | None:
        """Return an irreducible part of the requirements, which together are infeasible."""
        effort, unknown = Effort(Control(0) if control.remaining is None else control), False

        def is_infeasible(some: Sequence[Requirement]) -> bool:
            nonlocal unknown
            status = self._solved(some, effort.control, effort=effort)[0]
            unknown = unknown or status == "unknown"
            return status == "infeasible"

        def blamed(kept: list[Requirement], added: bool, rest: list[Requirement]) -> list[Requirement]:  # noqa: FBT001
            if added and is_infeasible(kept):
                return []
            if len(rest) == 1:
                return rest
            half = len(rest) // 2
            second = blamed(kept + rest[:half], True, rest[half:])
            return blamed(kept + second, bool(second), rest[:half]) + second

        among = list(self.requirements)
        if self._miscounts(among):
            among = [one for one in among if one.room is not None or one.memberships is not None]
        found = blamed([], False, among)
        return Conflict(tuple(found), not unknown, tuple(self._summary(found)), self._advice(found, effort))

    @cached_property
    def _too_few(self) -> str:
        """Who or what is too many, or too few, by counting alone; "" where nothing is.

        Counted before any program is solved: one that is infeasible for such a reason may take hours to show it.
        """
        return self._crowded() or self._short()

    def _crowded(self) -> str:
        """Return who are to be together and are more than a team may have; "" where nobody is.

        Only where each of them is in one team at most: else two may share one, and two another.
        """
        rooms, (_, most) = self._rooms(self.requirements), self._memberships(self.requirements)
        largest = max(room.most for room in rooms)
        for group in self.admissible.groups:
            if len(group) > largest and (most[list(group)] <= 1).all():
                who = _listed([self.agents[i] for i in group])
                return f"{who} are to be together, {len(group)} people, and a team has at most {largest}"
        return ""

    def _short(self) -> str:
        """Return for which quota people with its label are too few, or too many, by counting; "" where for none.

        None is to blame where sizes and numbers of memberships contradict each other without any.
        """
        if self._miscounts(self.requirements):
            return ""
        rooms, (least, most) = self._rooms(self.requirements), self._memberships(self.requirements)
        by_quota: dict[str, dict[int, QuotaRule]] = {}
        for rule in self.admissible.rules:
            if isinstance(rule, QuotaRule):
                by_quota.setdefault(rule.asked, {})[rule.coalition] = rule  # what is asked twice is needed once
        for asked, by_coalition in by_quota.items():
            rules = list(by_coalition.values())
            who, (fewest, largest) = rules[0].labelled, (int(ends[rules[0].labelled].sum()) for ends in (least, most))
            sizes = [rooms[rule.coalition] for rule in rules]
            never_empty = [not rule.or_empty or (size.least > 0 and not size.or_empty)
                           for rule, size in zip(rules, sizes, strict=True)]  # fmt: skip
            needed = sum(rule.least for rule, filled in zip(rules, never_empty, strict=True) if filled)
            if needed > largest:
                there = _there(int(who.sum()), largest, "at most")
                return f"{asked}: {counted(sum(never_empty), 'team')} would need {needed:,}, and {there}"
            places = sum(self.n_agents if rule.most is None else rule.most for rule in rules)
            if len(rules) == self.n_coalitions and places < fewest:
                there = _there(int(who.sum()), fewest, "at least")
                return f"{asked}: {counted(len(rules), 'team has', 'teams have')} places for {places:,}, and {there}"
        return ""

    def _advice(self, requirements: Sequence[Requirement], effort: Effort) -> str:
        """Return what would help where sizes and numbers of people alone contradict each other; all of it was tried."""
        if any(one.is_limit for one in requirements):
            if self._can_be([one for one in self.requirements if not one.is_limit], effort):
                return f" ({said(any_size=True)} allows sizes never seen)"
            return ""
        sizes = [one.rule for one in requirements if isinstance(one.rule, SizeRule)]
        others = [one for one in requirements if not isinstance(one.rule, SizeRule) and one.memberships is None]
        if not sizes or others:
            return ""
        people = counted(int(self.admissible.staff.sum()), "person", "people")
        several = max((rule.least for rule in self.admissible.rules if isinstance(rule, PerPersonRule)), default=0)
        people += f", each in at least {several} teams," if several > 1 else ""
        size, teams = sizes[0].size, counted(self.n_coalitions, "team")
        all_sizes = [rule for rule in self.admissible.rules if isinstance(rule, SizeRule)]
        if len(all_sizes) == self.n_coalitions and all(rule.of_all for rule in all_sizes):
            found = [_typed(other, k, size, self.n_coalitions) for other, k in self._that_fit(size, effort)]
            if not found:
                return f". {people} cannot be divided into {teams} of {size}"
            return f". {people} cannot be divided into {teams} of {size}; this would work: {_listed(found, 'or')}"
        least, most = (int(ends.sum()) for ends in self._memberships(self.requirements))
        rooms = self._rooms(self.requirements)
        if (needed := sum(0 if room.or_empty else room.least for room in rooms)) > most:
            return f". {people} cannot fill these teams, which need at least {needed:,} members in all"
        if (places := sum(room.most for room in rooms)) < least:
            return f". {people} do not fit into these teams, which have at most {places:,} members in all"
        return ""

    def _that_fit(self, size: TeamSize, effort: Effort) -> list[tuple[TeamSize, int]]:
        """Return a few sizes and numbers of coalitions that can be formed, near to what was asked.

        The size that was asked, of another number of coalitions or of some of them; the same down to smaller ones; the
        same up to larger ones; and, where one size was asked, the nearest other one.
        """
        n, k = int(self.admissible.staff.sum()), self.n_coalitions
        numbers = [k]
        if self.admissible.may_be_more and all(isinstance(space, UpTo) for space in self._staff_spaces):
            used = 1 if self.admissible.today is None else int(self.admissible.today.any(axis=0).sum())
            numbers = sorted(range(max(used, 1), n + 1), key=lambda other: (abs(other - k), other))
        largest = size.max or max((r.room[1].most for r in self.requirements if r.is_limit and r.room), default=n)
        least, most = max(size.min, 1), max(largest, size.min)
        nearest = sorted(range(1, n + 1), key=lambda other: (max(least - other, other - most), other))
        kinds = (
            [size],
            [TeamSize(other, most) for other in range(least - 1, 0, -1)],
            [TeamSize(size.min, other) for other in range(most + 1, n + 1)],
            [TeamSize(other, other) for other in nearest if size.min == size.max != other],
        )
        found: list[tuple[TeamSize, int]] = []
        for kind in kinds:
            # Where the size that was asked will do if some are empty, other sizes need no empty ones.
            may_be_empty = sorted({size.or_empty, not any(one.or_empty for one, _ in found)})
            tried = ((one, number) for one in kind for number in numbers[: 1 if one != size else None])
            either = ((replace(one, or_empty=empty), number) for one, number in tried for empty in may_be_empty)
            fits = next((pair for pair in either if self._fits(*pair, effort)), None)
            found += [] if fits is None or fits in found else [fits]
        return found[:PROPOSED]

    @property
    def _staff_spaces(self) -> list[ActionSpace]:
        return [space for space, here in zip(self.spaces.spaces, self.admissible.staff, strict=True) if here]

    def _fits(self, size: TeamSize, n_coalitions: int, effort: Effort) -> bool:
        """Return whether so many coalitions of such a size can be formed: by counting, and then by doing it."""
        least, most = self._memberships(self.requirements)
        largest = max(
            (one.room[1].most for one in self.requirements if one.is_limit and one.room), default=self.n_agents
        )
        room = Sizes(size.min, largest if size.max is None else size.max, size.or_empty)
        many = np.minimum(most, n_coalitions)
        if not _add_up([room] * n_coalitions, int(least.sum()), int(many.sum())):
            return False
        spaces = self.spaces
        if n_coalitions != self.n_coalitions:
            nothing = ExplicitSets(np.zeros((1, n_coalitions), dtype=bool))
            own = (
                UpTo(n_coalitions, min(space.most, n_coalitions), space.may_stay_out)
                if isinstance(space, UpTo) and here
                else nothing
                for space, here in zip(spaces.spaces, self.admissible.staff.tolist(), strict=True)
            )
            spaces = ActionSpaces(tuple(own), spaces.left_out)
        names = [str(l) for l in range(n_coalitions)]
        tried = Assignments(
            spaces, self.admissible.sized(size, n_coalitions), self.agents, names,
            largest=np.full(n_coalitions, room.most),
        )  # fmt: skip
        return tried._can_be(tried.requirements, effort)

    def _can_be(self, some: Sequence[Requirement], effort: Effort) -> bool:
        return self._solved(some, effort.control, effort=effort)[0] == "found"

    def _summary(self, requirements: Sequence[Requirement]) -> Iterable[str]:
        alike: dict[object, list[Requirement]] = {}
        for one in requirements:
            rule = one.rule
            key: object = id(one)
            if isinstance(rule, SizeRule | QuotaRule):
                key = rule.size if isinstance(rule, SizeRule) else rule.asked
            elif isinstance(rule, StaffRule):
                key = "staff"
            alike.setdefault(key, []).append(one)
        for several in alike.values():
            rules = [one.rule for one in several]
            if len(several) == 1:
                yield several[0].text
            elif isinstance(rules[0], SizeRule):
                sizes = [rule for rule in rules if isinstance(rule, SizeRule)]
                if len(sizes) == self.n_coalitions or all(rule.of_all for rule in sizes):
                    yield f"team size {sizes[0].size} (all teams)"
                else:
                    names = [self.coalitions[rule.coalition] for rule in sizes]
                    yield f"team size of {_listed(names)}: {sizes[0].size}"
            elif isinstance(rules[0], QuotaRule):
                yield rules[0].asked if len(several) == self.n_coalitions else "; ".join(one.text for one in several)
            else:
                people = [self.agents[rule.agent] for rule in rules if isinstance(rule, StaffRule)]
                yield f"{_listed(people)} are not on the staff"

    @cached_property
    def _matrices(self) -> dict[int, Any]:
        """The rows of every requirement, by its identity."""
        return {id(one): program_rows(one.rows, self.n_variables) for one in self.requirements if one.rows}

    def _miscounts(self, some: Sequence[Requirement]) -> bool:
        """Return whether no sizes that coalitions may have add up to as many memberships as people may have.

        Then nothing keeps the requirements: sizes and memberships are two ways to count the ones in x.
        """
        least, most = self._memberships(some)
        return bool((least > most).any()) or not _add_up(self._rooms(some), int(least.sum()), int(most.sum()))

    def _rooms(self, some: Sequence[Requirement]) -> list[Sizes]:
        """Return the sizes that each coalition may have."""
        rooms = [Sizes(0, self.n_agents)] * self.n_coalitions
        for one in some:
            if one.room is not None:
                rooms[one.room[0]] &= one.room[1]
        return rooms

    def _memberships(self, some: Sequence[Requirement]) -> tuple[IntArray, IntArray]:
        """Return in how many coalitions each agent is at least and at most, each of shape (n,)."""
        least, most = np.zeros(self.n_agents, dtype=np.int64), np.full(self.n_agents, self.n_coalitions)
        for one in some:
            if one.memberships is not None:
                who = np.array(one.memberships[0], dtype=np.int64)
                least[who] = np.maximum(least[who], one.memberships[1])
                most[who] = np.minimum(most[who], one.memberships[2])
        return least, most

    def _solved(
        self,
        some: Sequence[Requirement],
        control: Control | None,
        weights: FloatArray | None = None,
        gap: float = 0.0,
        effort: Effort | None = None,
    ) -> tuple[Literal["found", "infeasible", "unknown"], BoolArray | None]:
        from scipy.optimize import Bounds, milp

        cells = self.n_agents * self.n_coalitions
        costs = np.zeros(self.n_variables)
        if weights is not None:
            costs[:cells] = -np.asarray(weights, dtype=np.float64).ravel()
        rows = [program_rows(self.definitions, self.n_variables)] if self.definitions else []
        rows += [self._matrices[id(one)] for one in some if one.rows]
        size = OVERHEAD + sum(one.A.nnz for one in rows)

        def solved(how: dict[str, Any], nodes: int | None = None) -> Any:
            options: Any = how if nodes is None else {**how, "node_limit": nodes}
            return meanwhile(
                partial(
                    milp,
                    costs,
                    constraints=rows,
                    integrality=(np.arange(self.n_variables) < cells).astype(np.int64),
                    bounds=Bounds(0, 1),
                    options=options,
                )
            )

        found: Any = None
        with nullcontext() if control is None else control.running():
            if control is not None:
                control.check()
            if self._miscounts(some) or (some is self.requirements and self._too_few):
                return "infeasible", None
            for presolve in (True, False):  # presolving may end in "unbounded or infeasible"
                options: Any = {"mip_rel_gap": gap, "presolve": presolve}
                if control is not None and control.remaining is not None:
                    options["time_limit"] = max(control.remaining, 1e-3)
                found = solved(options) if effort is None else effort.spent_on(size, partial(solved, options))
                if found is None or found.status != 4:
                    break
        if found is None or (found.x is None and found.status != 2):
            return "unknown", None
        if found.x is None:
            return "infeasible", None
        return "found", found.x[:cells].reshape(self.n_agents, self.n_coalitions) > 0.5


def _add_up(rooms: Iterable[Sizes], least: int, most: int) -> bool:
    """Return whether some sizes of these rooms have a sum between two limits."""
    sums = 1
    for room in rooms:
        sums = room.added_to(sums) & ((2 << most) - 1)
    return sums >> least != 0


def _there(people: int, memberships: int, how: str) -> str:
    """Return how many people with a label there are, or how many memberships they have, if these are not as many."""
    if people == memberships:
        return f"there {'is' if people == 1 else 'are'} {counted(people, 'such person', 'such people')}"
    who = "the one such person has" if people == 1 else f"the {people:,} such people have"
    return f"{who} {how} {counted(memberships, 'membership')}"


def _typed(size: TeamSize, n_coalitions: int, asked: TeamSize, n_asked: int) -> str:
    """Return options that ask for such teams, as far as they differ from what was asked."""
    options: dict[str, Any] = {} if size == asked else {"team_size": size.typed()}
    return said(**options, **({} if n_coalitions == n_asked else {"coalitions": n_coalitions}))


def _least_and_most(space: ActionSpace) -> tuple[int, int]:
    """Return the sizes of the smallest and the largest set of an action space."""
    if isinstance(space, UpTo):
        return int(not space.may_stay_out), space.most
    sizes = space.enumerate().sum(axis=1)
    return int(sizes.min()), int(sizes.max())


def _listed(names: Sequence[str], last: str = "and") -> str:
    if len(names) > SHOWN + 1:
        names = [*names[:SHOWN], counted(len(names) - SHOWN, "other")]
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def _sum(variables: Sequence[int], least: float, most: float) -> Row:
    return variables, [1.0] * len(variables), float(least), float(most)


def program_rows(rows: Sequence[Row], n_variables: int) -> Any:
    """Return rows as SciPy takes them."""
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(len(variables) for variables, *_ in rows)])
    places = [place for variables, *_ in rows for place in variables]
    values = [value for _, coefficients, *_ in rows for value in coefficients]
    shape = (len(rows), n_variables)
    matrix = csr_array((np.array(values, dtype=np.float64), np.array(places, dtype=np.int32), starts), shape=shape)
    return LinearConstraint(matrix, np.array([row[2] for row in rows]), np.array([row[3] for row in rows]))
