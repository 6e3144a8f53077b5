"""The admissible profile of largest value, or the fairest one, with proof: a program with a column for every team.

A column is a coalition l with a set S of members that keeps all rules about l alone; its value to i in S is W_i(l)
with exactly these members, whatever others do elsewhere. So with c_lS = 1 if S is the team of l,

    largest value      max sum over l, S of c_lS sum over i in S of W_i(l; S)
    fairest            the largest t <= sum over l and S containing i of c_lS W_i(l; S) for everybody on the staff
    one team each      sum over S of c_lS = 1 for all l
    memberships        x_il = sum over S containing i of c_lS

and what links coalitions (action spaces, coalitions per person, being together anywhere, moves) as linear rows about x
(`coterie.solve.feasible`). Values may depend on sizes in any way, since a column knows its size.

For the largest value: (1) the linear relaxation by column generation, where pricing looks at all columns; (2) a first
profile from the columns that the relaxation uses and those nearly as good; (3) columns whose reduced cost exceeds the
distance between the relaxation and that profile cannot be in a better one: the program with all others is solved to
the end.

The relaxation says little about the worst-off. Where everybody is in one team at most, the fairest profile is found by
bisection: can everybody have at least t? Teams in which some member could not, whatever she had elsewhere, are left out
first. Otherwise t is maximised at once, which proves optimality for small games only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.game.actions import UpTo
from coterie.game.admissible import Admissible, PairRule, PlaceRule, QuotaRule, Rule, SizeRule, StaffRule
from coterie.game.game import Game
from coterie.solve.control import Control
from coterie.solve.feasible import Assignments, program_rows
from coterie.solve.solution import Status

MOST_COLUMNS = 250_000
"""Up to so many teams are listed."""

FIRST = 2_000
"""So many columns, at most, take part in the search for a first profile."""

ADDED = 100
"""So many columns of each coalition, at most, enter the relaxation at once."""

WITHIN = 1e-7
"""The solver's tolerance for reduced costs, in units of the largest utility."""

PROVEN = 5e-6
"""So near to each other, in the same units, value and bound are the same."""

BLOCK = 500_000
"""Room values are taken for so many columns x agents x coalitions at once."""

Aim = Literal["value", "fairness"]
"""The sum of everybody's utility, or the utility of the worst-off."""


@dataclass(frozen=True, eq=False)
class Best:
    """The best admissible profile that was found."""

    profile: BoolArray
    """Who is where, shape (n, k)."""
    value: float
    """The sum of everybody's utility, or for fairness that of the worst-off on the staff."""
    bound: float
    """No admissible profile is worth more, up to the solver's tolerance."""
    status: Status
    """ "optimal" where that is proven, else "time" or "interrupted"."""
    n_columns: int
    """How many teams were considered."""
    seconds: float

    @property
    def is_optimal(self) -> bool:
        """Whether it is proven that nothing better exists."""
        return self.status == "optimal"


@dataclass(frozen=True, eq=False)
class Columns:
    """Every team that rules about one coalition alone allow."""

    coalition: IntArray
    """Shape (c,)."""
    members: BoolArray
    """Shape (c, n)."""
    utilities: FloatArray
    """What the team is worth to each member; 0 to others, shape (c, n)."""

    def __len__(self) -> int:
        return len(self.coalition)

    @classmethod
    def of(cls, game: Game, assignments: Assignments, largest: IntArray | None, limit: int) -> "Columns":
        """List the teams of every coalition and what they are worth."""
        k = game.n_coalitions
        frames = [_Frame.of(assignments, l, largest) for l in range(k)]
        count = sum(frame.size for frame in frames)
        if count > limit:
            raise TooLargeError(
                f"there are {count:.3g} teams that rules about sizes allow; at most {limit:,} are taken: "
                "narrower team sizes, or the search without proof, would help"
            )
        teams = [frame.teams() for frame in frames]
        for l in range(k):
            keep = np.ones(len(teams[l]), dtype=bool)
            for rule in assignments.admissible.rules:
                keep &= _keeps(rule, l, teams[l])
            teams[l] = teams[l][keep]
        utilities = _utilities(game, teams)
        coalition = np.repeat(np.arange(k), [len(some) for some in teams])
        return cls(coalition, np.concatenate(teams), np.concatenate(utilities))


@dataclass(frozen=True)
class _Frame:
    """Who must be and who may be in one coalition, and how many members it has."""

    n_agents: int
    always: tuple[int, ...]
    perhaps: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, assignments: Assignments, coalition: int, largest: IntArray | None) -> "_Frame":
        admissible, spaces = assignments.admissible, assignments.spaces
        may = spaces.can_join[:, coalition] & admissible.staff
        must = ~spaces.can_avoid[:, coalition] & admissible.staff
        sizes = np.arange(assignments.n_agents + 1)
        if largest is not None:
            sizes = sizes[sizes <= largest[coalition]]
        for rule in admissible.rules:
            if isinstance(rule, PlaceRule) and rule.coalition == coalition:
                (must if rule.inside else may)[rule.agent] = rule.inside
            if isinstance(rule, SizeRule) and rule.coalition == coalition:
                sizes = sizes[rule.allows(sizes)]
        perhaps = np.flatnonzero(may & ~must)
        return cls(assignments.n_agents, tuple(np.flatnonzero(must).tolist()), tuple(perhaps.tolist()), tuple(sizes))

    @property
    def size(self) -> int:
        """How many teams there are."""
        return sum(comb(len(self.perhaps), s - len(self.always)) for s in self.sizes if s >= len(self.always))

    def teams(self) -> BoolArray:
        """Return every team, shape (size, n)."""
        parts = []
        for s in self.sizes:
            more = s - len(self.always)
            if 0 <= more <= len(self.perhaps):
                chosen = np.fromiter(chain.from_iterable(combinations(self.perhaps, more)), dtype=np.int64)
                teams = np.zeros((comb(len(self.perhaps), more), self.n_agents), dtype=bool)
                np.put_along_axis(teams, chosen.reshape(len(teams), more), True, axis=1)
                teams[:, list(self.always)] = True
                parts.append(teams)
        return np.concatenate(parts) if parts else np.zeros((0, self.n_agents), dtype=bool)


def _keeps(rule: Rule, coalition: int, teams: BoolArray) -> BoolArray:
    """Return which teams (c, n) of a coalition keep a rule, as far as it is about that coalition alone."""
    keep = np.ones(len(teams), dtype=bool)
    match rule:
        case QuotaRule() if rule.coalition == coalition:
            count, size = teams[:, rule.labelled].sum(axis=1), teams.sum(axis=1)
            keep = (count >= rule.least) & (rule.most is None or count <= rule.most)
            keep |= rule.or_empty & (size == 0)
        case PairRule(agents=(i, j), share=False) if rule.coalition in {None, coalition}:
            keep = ~(teams[:, i] & teams[:, j])
        case PairRule(agents=(i, j), share=True) if rule.coalition == coalition:
            keep = teams[:, i] & teams[:, j]
        case PlaceRule(agent=i) if rule.coalition == coalition:
            keep = teams[:, i] == rule.inside
        case StaffRule(agent=i):
            keep = ~teams[:, i]
    return np.asarray(keep)


def _links(rule: Rule | None) -> bool:
    """Return whether a rule, or anything else, is about several coalitions at once."""
    within = isinstance(rule, (SizeRule, QuotaRule, PlaceRule, StaffRule))
    return not (within or (isinstance(rule, PairRule) and not (rule.share and rule.coalition is None)))


def _utilities(game: Game, teams: Sequence[BoolArray]) -> list[FloatArray]:
    """Return what teams (c_l, n) of every coalition are worth to their members, each of shape (c_l, n)."""
    found = [np.zeros(some.shape) for some in teams]
    step = max(1, BLOCK // (game.n_agents * game.n_coalitions))
    for start in range(0, max(len(some) for some in teams), step):
        # Coalitions do not affect each other, so one profile serves a team of each.
        some = [part[start : start + step] for part in teams]
        profiles = np.zeros((max(len(part) for part in some), game.n_agents, game.n_coalitions), dtype=bool)
        for l, part in enumerate(some):
            profiles[: len(part), :, l] = part
        values = np.where(profiles, game.utilities.pure_room_values(profiles), 0.0)
        for l, part in enumerate(some):
            found[l][start : start + step] = values[: len(part), :, l]
    return found


class _Master:
    """The program: variables are all those of the assignments, then t, then the columns.

    Values are in units of the largest one, so that the solver's tolerances are relative to it.
    """

    def __init__(self, columns: Columns, assignments: Assignments, aim: Aim) -> None:
        from scipy.sparse import csr_array, vstack

        self.columns, self.aim, self.spaces = columns, aim, assignments.spaces
        self.staff = assignments.admissible.staff
        self.overlaps = any(
            space.most > 1 if isinstance(space, UpTo) else (space.enumerate().sum(axis=1) > 1).any()
            for space, _ in self.spaces.groups
        )
        self.unit = max(float(np.abs(columns.utilities).max(initial=0.0)), 1e-12)
        self.nowhere = 4.0 * self.unit * (1 + assignments.n_coalitions)  # beyond anybody's utility, as reward or fine
        self.worth = columns.utilities.sum(axis=1) if aim == "value" else np.zeros(len(columns))
        self.least = np.where(columns.members & self.staff, columns.utilities, np.inf).min(axis=1)
        n, k = assignments.n_agents, assignments.n_coalitions
        self.n_coalitions = k
        self.t = assignments.n_variables
        self.n_fixed = self.t + 1
        # What links coalitions; one team for each; memberships; for fairness everybody has at least t.
        rows = [row for one in assignments.requirements if _links(one.rule) for row in one.rows]
        begin = len(rows)
        rows += [((), (), 1.0, 1.0)] * k
        rows += [((cell,), (-1.0,), 0.0, 0.0) for cell in range(n * k)]
        concerned = np.flatnonzero(self.staff) if aim == "fairness" else np.zeros(0, dtype=np.int64)
        rows += [((self.t,), (-1.0,), 0.0, np.inf)] * len(concerned)
        fixed = program_rows(rows, self.n_fixed)
        self.fixed, self.lower, self.upper = fixed.A, fixed.lb, fixed.ub
        team, who = np.nonzero(columns.members)
        column, place = np.nonzero(columns.utilities[:, concerned])
        places = [columns.coalition, k + who * k + columns.coalition[team], k + n * k + place]
        numbers = [np.arange(len(columns)), team, column]
        own = columns.utilities[column, concerned[place]] / self.unit
        values = np.concatenate([np.ones(len(columns) + len(team)), own])
        shape = (len(rows) - begin, len(columns))
        teams = csr_array((values, (np.concatenate(places), np.concatenate(numbers))), shape=shape)
        self.teams = vstack([csr_array((begin, len(columns))), teams]).tocsc()

    def _arguments(self, chosen: IntArray) -> tuple[FloatArray, Any, FloatArray, FloatArray]:
        """Return costs, matrix and bounds of the program with some of the columns."""
        from scipy.sparse import hstack

        costs = np.zeros(self.n_fixed + len(chosen))
        costs[self.n_fixed :] = -self.worth[chosen] / self.unit
        low, high = np.zeros(len(costs)), np.ones(len(costs))
        high[self.t] = 0.0
        return costs, hstack([self.fixed, self.teams[:, chosen]]).tocsr(), low, high

    def relaxed(self, chosen: IntArray, control: Control) -> tuple[float, FloatArray] | None:
        """Return the value of the linear relaxation with some of the columns, and every column's reduced worth."""
        from scipy.optimize import linprog
        from scipy.sparse import vstack

        costs, matrix, low, high = self._arguments(chosen)
        high[self.n_fixed :] = np.inf  # said already: one team each; a limit would have a dual of its own
        equal = self.lower == self.upper
        above, below = ~equal & np.isfinite(self.upper), ~equal & np.isfinite(self.lower)
        bounds: Any = np.stack([low, high], axis=1)
        options: Any = {} if control.remaining is None else {"time_limit": max(control.remaining, 1e-3)}
        found: Any = linprog(
            costs,
            vstack([matrix[above], -matrix[below]]),
            np.concatenate([self.upper[above], -self.lower[below]]),
            matrix[equal],
            self.lower[equal],
            bounds,
            options=options,
        )
        if found.status != 0:
            return None
        duals = np.zeros(len(self.lower))
        duals[equal] = found.eqlin.marginals
        marginals = found.ineqlin.marginals
        duals[above] += marginals[: above.sum()]
        duals[below] -= marginals[above.sum() :]
        return -float(found.fun) * self.unit, np.asarray(self.worth + self.unit * (self.teams.T @ duals))

    def solved(
        self, chosen: IntArray, control: Control, between: tuple[float, float] | None = None
    ) -> tuple[IntArray | None, float | None]:
        """Return the best choice among some of the columns, one for each coalition, and a bound where known.

        For fairness t is maximised between two limits. The bound is minus infinity where there is no choice.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        costs, matrix, low, high = self._arguments(chosen)
        if between is not None:
            low[self.t], high[self.t] = between[0] / self.unit, between[1] / self.unit
            costs[self.t] = -1.0
        options: Any = {"mip_rel_gap": 0.0}
        if control.remaining is not None:
            options["time_limit"] = max(control.remaining, 1e-3)
        integral = (np.arange(len(costs)) >= self.n_fixed).astype(np.int64)
        rows = LinearConstraint(matrix, self.lower, self.upper)
        found = milp(costs, constraints=rows, integrality=integral, bounds=Bounds(low, high), options=options)
        dual = found.mip_dual_bound
        bound = None if dual is None or not np.isfinite(dual) else -float(dual) * self.unit
        if found.status == 2:
            bound = -np.inf
        if found.x is None:
            return None, bound
        return chosen[np.flatnonzero(found.x[self.n_fixed :] > 0.5)], bound

    def most(self) -> float:
        """Return what the worst-off on the staff has at most, if everybody had her best teams."""
        best = self._best(np.ones(len(self.columns), dtype=bool))
        values, _ = self.spaces.best_responses(best)
        return float(values[self.staff].min())

    def _best(self, there: BoolArray) -> FloatArray:
        """Return the largest utility of each agent in each coalition, over some columns, shape (n, k)."""
        own = np.where(self.columns.members[there], self.columns.utilities[there], -self.nowhere)
        where = self.columns.coalition[there]
        return np.stack([own[where == l].max(axis=0, initial=-self.nowhere) for l in range(self.n_coalitions)], axis=1)

    def worthwhile(self, least: float) -> IntArray:
        """Return the teams whose members on the staff may all have so much."""
        there = np.ones(len(self.columns), dtype=bool)
        while True:
            best, short = self._best(there), np.zeros(len(there), dtype=bool)
            for l in range(self.n_coalitions):
                # A large reward makes her best choice one with l, where she has any.
                reward = np.zeros(self.n_coalitions)
                reward[l] = self.nowhere
                with_l, _ = self.spaces.best_responses(best + reward)
                elsewhere = with_l - self.nowhere - best[:, l]
                own = self.columns.coalition == l
                low = self.columns.utilities + elsewhere < least - WITHIN * self.unit
                short |= own & (low & self.columns.members & self.staff).any(axis=1)
            if not (short & there).any():
                return np.flatnonzero(there)
            there &= ~short

    def value(self, chosen: IntArray) -> float:
        """Return what teams, one for each coalition, are worth."""
        own = self.columns.utilities[chosen].sum(axis=0)
        return float(own.sum()) if self.aim == "value" else float(own[self.staff].min())


def largest_value(
    game: Game,
    admissible: Admissible,
    aim: Aim = "value",
    control: Control | None = None,
    *,
    largest: IntArray | None = None,
    limit: int = MOST_COLUMNS,
) -> Best:
    """Return the admissible profile of largest value, or the one whose worst-off is best off, with proof.

    Contradicting rules are refused (`coterie.solve.feasible`). A limit on moves counts them with the names that
    coalitions have, interchangeable or not.

    Parameters
    ----------
    game
        Utilities, known or expected; `game.value` says whether a team is worth the sum or the average.
    admissible
        The rules.
    aim
        "value": the sum of everybody's utility. "fairness": the utility of the worst-off on the staff.
    control
        Time limit and interruption. When it ends early, the best profile so far is returned with a bound.
    largest
        The most members that each coalition may have on top of the rules, shape (k,).
    limit
        `TooLargeError` above so many teams.
    """
    checks.one_of(aim, Aim, "aim")
    control = control or Control()
    assignments = Assignments(
        admissible.spaces(game.actions), admissible, game.agents, game.coalitions, largest=largest
    )
    columns = Columns.of(game, assignments, largest, limit)
    # The first profile has all the time there is: without one there is nothing to return.
    first = assignments.first(np.zeros((game.n_agents, game.n_coalitions)))
    master = _Master(columns, assignments, aim)
    begin = _numbers_of(columns, first)
    if aim == "fairness" and master.overlaps:
        # Where most is had together, the worst-off is rarely the worst possible.
        inner, rough = control.nested(0.3), _Search(_Master(columns, assignments, "value"), begin)
        with inner.running():
            rough.run(inner)
        begin = rough.best
        control.heed(inner)
    search = _Search(master, begin)
    with control.running():
        if control.ended is None:
            search.run(control)
    status: Status = "optimal" if search.is_proven else control.ended or "time"
    chosen = search.best
    profile = np.zeros((game.n_agents, game.n_coalitions), dtype=bool)
    profile[:, columns.coalition[chosen]] = columns.members[chosen].T
    value = master.value(chosen)
    return Best(profile, value, max(search.bound, value), status, len(columns), control.seconds)


def _numbers_of(columns: Columns, profile: BoolArray) -> IntArray:
    """Return the columns that a profile consists of."""
    found = [
        np.flatnonzero((columns.coalition == l) & (columns.members == profile[:, l]).all(axis=1))[0]
        for l in range(profile.shape[1])
    ]
    return np.array(found)


class _Search:
    """The three steps, with the best profile and the bound so far."""

    def __init__(self, master: _Master, first: IntArray) -> None:
        self.master, self.best = master, first
        self.bound, self.is_proven = np.inf, False

    def _offer(self, chosen: IntArray | None) -> None:
        if chosen is not None and self.master.value(chosen) > self.master.value(self.best):
            self.best = chosen

    def run(self, control: Control) -> None:
        """Search until there is a proof, or control says stop."""
        if self.master.aim == "value":
            self._largest(control)
        else:
            self._fairest(control)

    def _fairest(self, control: Control) -> None:
        """Maximise t at once where people may be in several teams, else by bisection."""
        master, asked = self.master, 0
        self.bound = max(master.most(), master.value(self.best))
        if master.overlaps:
            teams = master.worthwhile(master.value(self.best))
            control.report("columns", 0, 1, master.value(self.best))
            # Teams that are good to all of their members, first.
            order = np.argsort(-master.least[teams], kind="stable")
            few = np.union1d(teams[order[:FIRST]], self.best)
            between = (master.value(self.best), self.bound)
            self._offer(master.solved(few, control.nested(0.3), between)[0])
            control.check()
            teams = master.worthwhile(master.value(self.best))
            chosen, bound = master.solved(np.union1d(teams, self.best), control, (master.value(self.best), self.bound))
            self._offer(chosen)
            self.bound = min(self.bound, np.inf if bound is None else max(bound, master.value(self.best)))
            self.is_proven = self.bound <= master.value(self.best) + PROVEN * master.unit
            return
        while self.bound - master.value(self.best) > PROVEN * master.unit:
            control.report("columns", asked, 0, master.value(self.best))
            asked += 1
            least = (self.bound + master.value(self.best)) / 2
            chosen, bound = master.solved(master.worthwhile(least), control, (least, least))
            if chosen is not None:
                self._offer(chosen)
            elif bound == -np.inf:
                self.bound = least
            else:
                control.give_up()
        self.is_proven = True

    def _largest(self, control: Control) -> None:
        relaxed = self._relax(control)
        tolerance = WITHIN * self.master.unit
        # The relaxation is no less than anything with integers: nearly as good columns make a good profile.
        promising = np.argsort(-relaxed, kind="stable")[:FIRST]
        self._offer(self.master.solved(np.union1d(promising, self.best), control.nested(0.3))[0])
        control.check()
        distance = self.bound - self.master.value(self.best)
        left = np.union1d(np.flatnonzero(relaxed >= -distance - tolerance), self.best)
        control.report("columns", 1, 2, self.master.value(self.best))
        chosen, bound = self.master.solved(left, control)
        self._offer(chosen)
        if bound is not None:
            # What was left out is worth no more than what was known.
            self.bound = min(self.bound, max(bound, self.master.value(self.best)))
        self.is_proven = self.bound <= self.master.value(self.best) + PROVEN * self.master.unit

    def _relax(self, control: Control) -> FloatArray:
        """Solve the linear relaxation by column generation; return every column's reduced worth, at most 0."""
        master, tolerance = self.master, WITHIN * self.master.unit
        coalition = master.columns.coalition
        k = int(coalition.max()) + 1
        order = [np.flatnonzero(coalition == l) for l in range(k)]
        inside = np.zeros(len(coalition), dtype=bool)
        inside[self.best] = True
        for own in order:
            inside[own[np.argsort(-master.worth[own], kind="stable")[:ADDED]]] = True
        while True:
            control.check()
            found = master.relaxed(np.flatnonzero(inside), control)
            if found is None:
                control.give_up()
            value, relaxed = found
            # One column of each coalition can add no more than its largest reduced worth.
            more = sum(max(float(relaxed[own].max()), 0.0) for own in order)
            self.bound = min(self.bound, value + more)
            if more <= k * tolerance:
                return relaxed
            for own in order:
                best = own[np.argsort(-relaxed[own], kind="stable")[:ADDED]]
                inside[best[relaxed[best] > tolerance]] = True
