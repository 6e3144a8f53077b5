"""Two assignments side by side: what each is worth, what changes for whom, and what of that is sure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray
from coterie.assumptions.all_checks import checks_of
from coterie.certificates.against import Against, paired_against
from coterie.certificates.certificate import Certificate, among_known
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.paired import paired
from coterie.certificates.values import (
    Stated,
    ends_of_people,
    ends_of_sum,
    promises_for_all,
    promises_for_fixed,
)
from coterie.certificates.widened import widened
from coterie.errors import InputError, TooLargeError
from coterie.estimate.step_design import StepDesign
from coterie.estimate.value_design import Terms, value_design
from coterie.game.actions import ActionSpaces
from coterie.game.admissible import movers_between
from coterie.game.edits import changed
from coterie.game.game import Value
from coterie.game.rules import Rules, as_rules
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, StrategyLike
from coterie.learn.assemble import by_range, put_together
from coterie.learn.beliefs import Beliefs, beliefs_from
from coterie.learn.certify import Given, as_many_teams, refuse_known, taken_over, usual_value
from coterie.learn.comparison import Amount, Comparison, Person, Score, Side, Verdict
from coterie.learn.options import RANGE, draws_for
from coterie.learn.result import NAMED, Result
from coterie.learn.warnings import cautions
from coterie.learn.wishes import Wishes, known_people, wishes_about
from coterie.log.log import Log, as_log
from coterie.log.names import about_known
from coterie.log.options import TEAM_SCORES, are_own
from coterie.statistics.setting import NoiseChoice, Setting, Sizes
from coterie.statistics.statistics import Statistics
from coterie.threads import one_thread
from coterie.words import numbered_team, said, some


@one_thread()
def compare(
    log: Log | str | PathLike[str] | Statistics,
    one: StrategyLike | Result,
    two: StrategyLike | Result,
    *,
    labels: tuple[str, str] = ("A", "B"),
    fresh: bool = False,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    min_samples: int = 0,
    rules: Any = None,
    value: Value | None = None,
    stability: Stability | None = None,
    keep_sizes: bool = False,
    random_state: checks.Seed = 0,
) -> Comparison:
    """Return what two assignments are worth on one log, to everybody and to each person, and what differs for sure.

    Parameters
    ----------
    log
        Past outcomes, the folder or file that they are in, or their statistics.
    one, two
        Who is where, in any form that `certify` takes. With a staff in the rules they may hold people who left, who are
        taken out, and lack people of the staff, who are nowhere then.
    labels
        What they are called.
    fresh
        Your word that both were fixed without looking at the utilities of this log: intervals are narrower then.
    delta, sizes, noise, min_samples, rules, value, stability
        As for `certify`. A limit on moves is one on moves between the two assignments. What two results were made
        with is taken over as far as they agree.
    keep_sizes
        Whether it is a rule that every coalition keeps the size that it has in the first assignment.
    random_state
        Where the draws come from that tell what is likely.
    """
    known = log if isinstance(log, Statistics) else as_log(log)
    labels, both = _labels(labels), (Given.read(one, known), Given.read(two, known))
    source, teams = as_many_teams(known, both)
    taken, notes = taken_over(both, as_rules(rules), value, stability, usual_value(source))
    given = _Given.of(source, taken.pop("rules"), [*notes, *teams], sizes=sizes, noise=noise)
    first, second = (given.strategy(each, label, fresh=fresh) for each, label in zip(both, labels, strict=True))
    return _compared(
        given, (first, second), labels, fresh=fresh, delta=delta, min_samples=min_samples, keep_sizes=keep_sizes,
        unit=next(filter(None, (one.unit for one in both)), ""), random_state=random_state, **taken,
    )  # fmt: skip


@one_thread()
def what_if(
    log: Log | str | PathLike[str] | Statistics,
    assignment: StrategyLike | Result,
    *changes: str | Mapping[str, Any],
    labels: tuple[str, str] = ("before", "after"),
    fresh: bool = False,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    min_samples: int = 0,
    rules: Any = None,
    value: Value | None = None,
    stability: Stability | None = None,
    keep_sizes: bool = False,
    random_state: checks.Seed = 0,
) -> Comparison:
    """Return what a few changes on top of an assignment would do, as `compare` does for two assignments.

    Parameters
    ----------
    log, assignment
        Past outcomes, and who is where before.
    changes
        "Ada: Finance", "Ada: Finance + Law", "Ada: +Law", "Ada: -Law", "Ada: nothing", "swap Bo, Cy", or a dictionary
        agent -> coalitions, each on what the one before it left (`coterie.game.edits`).
    labels, fresh, delta, sizes, noise, min_samples, rules, value, stability, keep_sizes, random_state
        As for `compare`.
    """
    known = log if isinstance(log, Statistics) else as_log(log)
    content = Given.read(assignment, known)
    source, teams = as_many_teams(known, [content])
    taken, notes = taken_over([content], as_rules(rules), value, stability, usual_value(source))
    given = _Given.of(source, taken.pop("rules"), [*notes, *teams], sizes=sizes, noise=noise)
    before = given.strategy(content, "the assignment", fresh=fresh)
    numbers = {numbered_team(name): name for name in before.coalitions if given.statistics.setting.pool_coalitions}
    after, remarks = changed(before, changes, numbers | given.called)
    given.notes.extend(remarks)
    return _compared(
        given, (before, after), _labels(labels), fresh=fresh, delta=delta, min_samples=min_samples,
        keep_sizes=keep_sizes, unit=content.unit, random_state=random_state, **taken,
    )  # fmt: skip


def _labels(labels: Any) -> tuple[str, str]:
    one, two = checks.names(labels, "labels", 2)
    return one, two


@dataclass(frozen=True, eq=False)
class _Given:
    """The statistics of a log among all who are to be assigned, and the rules."""

    statistics: Statistics
    rules: Rules
    newcomers: tuple[str, ...]
    notes: list[str]
    called: dict[str, str]
    """Other names of teams in the assignments, and the interchangeable coalitions that they stand for."""
    names: dict[str, str]
    """What these are called: of two names the first."""

    @classmethod
    def of(
        cls, source: Log | Statistics, rules: Rules, notes: list[str], *, sizes: Sizes, noise: NoiseChoice
    ) -> "_Given":
        statistics = Statistics.for_learning(source, sizes=sizes, noise=noise, parts=(1.0,))
        rules, renamed = known_people(rules, statistics.agents)
        notes = [*notes, *about_known(renamed)]
        newcomers = tuple(name for name in rules.staff or () if name not in statistics.agents)
        if newcomers:
            statistics = statistics.with_agents(newcomers)
        return cls(statistics, rules, newcomers, notes, {}, {})

    def strategy(self, content: Given, label: str, *, fresh: bool) -> Strategy:
        """Return an assignment in the names of the log; it must be pure, and fresh if that is said."""
        found, called, notes = content.strategy(self.statistics, self.rules, label, may_lack=True, before=self.called)
        self.called.update(called)
        self.names.update({number: name for name, number in called.items() if number not in self.names})
        self.notes.extend(notes)
        if not found.is_pure:
            raise InputError(
                f"{label} is a mixed strategy; what is compared are assignments with one set for everybody"
            )
        if fresh:
            refuse_known(content.learnt_from, self.statistics, label)
        return self._of_staff(found, label)

    def _of_staff(self, found: Strategy, label: str) -> Strategy:
        """Return an assignment without those who left: they are gone, whatever is decided."""
        if self.rules.staff is None:
            return found
        staff = np.isin(found.agents, self.rules.staff)
        if left := [found.agents[i] for i in np.flatnonzero(found.sets.any(axis=1) & ~staff).tolist()]:
            self.notes.append(f"{label} is taken without those who left: {some(left, NAMED)}")
        return Strategy.pure(found.sets & staff[:, None], found.agents, found.coalitions)


# --- The answer ---------------------------------------------------------------------------------------


def _compared(
    given: _Given,
    both: tuple[Strategy, Strategy],
    labels: tuple[str, str],
    *,
    fresh: bool,
    delta: float,
    min_samples: int,
    value: Value | None,
    stability: Stability | None,
    keep_sizes: bool,
    unit: str,
    random_state: checks.Seed,
) -> Comparison:
    checks.boolean(fresh, said("fresh"))
    checks.boolean(keep_sizes, said("keep_sizes"))
    delta, rng = checks.probability(delta, said("delta")), checks.generator(random_state, said("random_state"))
    min_samples = checks.whole(min_samples, said("min_samples"), 0)
    if fresh and given.statistics.setting.adaptive:
        raise InputError(
            f"{said('fresh')} needs teams that did not depend on earlier outcomes; intervals without it hold for "
            "an adaptive log too"
        )
    needs_today = keep_sizes or given.rules.max_moves is not None
    statistics, wishes = wishes_about(
        given.statistics, rules=given.rules, value=value, stability=stability,
        today=both[0] if needs_today else None, keep_sizes=keep_sizes,
    )  # fmt: skip
    setting, evidence = statistics.setting, evidence_from(statistics.whole)
    declared = setting.actions.leaving_out(statistics.seen_less(min_samples))
    spaces = wishes.admissible.spaces(declared)
    asked = _Asked(evidence, wishes, spaces.counted, tuple(one.sets for one in both))
    if fresh:
        promises = promises_for_fixed(delta, asked.n_counted, asked.n_changed)
    else:
        promises = promises_for_all(delta, spaces, asked.profiles, asked.n_counted)
    beliefs = beliefs_from(evidence, symmetric=setting.symmetric)
    values = [asked.amounts(asked.value_of(t), promises.values[t], beliefs) for t in (0, 1)]
    change, changes = asked.amounts(asked.change, promises.change, beliefs)
    limits, chances, drawn = asked.likely(beliefs, rng, with_values=setting.of_teams)
    notes = [*given.notes, *_newcomers(given.newcomers, min_samples)]
    sides = []
    totals = statistics.clues.totals
    for t, (strategy, label, (total, each)) in enumerate(zip(both, labels, values, strict=True)):
        found, without, remarks = _certificate(evidence, strategy, spaces, wishes, delta, given.newcomers)
        notes += [f"{label}: {remark}" for remark in remarks]
        expected = np.array([one.expected for one in each])
        draws = None if drawn is None else drawn[t]
        scores = _scores(setting, totals, strategy, wishes.value, expected, draws) if setting.of_teams else {}
        broken = tuple(wishes.admissible.violations(strategy.sets))
        sides.append(Side(label, strategy, total, found, broken, without, scores))
    tested = checks_of(statistics)
    covered = {"independence"} if setting.noise == "samples" else set()
    actions = [one.actions for one in both]
    people = tuple(
        Person(
            agent, tuple(actions[0][agent]), tuple(actions[1][agent]), values[0][1][i], values[1][1][i], changes[i],
            asked.verdict(i, changes[i]), None if chances is None else float(chances[i]), bool(spaces.counted[i]),
            agent in given.newcomers,
        )
        for i, agent in enumerate(setting.agents)
    )  # fmt: skip
    before, after = asked.profiles
    staff = wishes.admissible.staff
    moves = movers_between(before, after, staff, interchangeable=setting.pool_coalitions)
    arrivals = staff & ~before.any(axis=1) & after.any(axis=1)
    own = [cautions(statistics, strategy, tested) for strategy in both]
    common = {*own[0]} & {*own[1]}
    apart = [
        f"{label}: {text}" for label, texts in zip(labels, own, strict=True) for text in texts if text not in common
    ]
    every = cautions(statistics, both[1], tested, [*apart, *notes])
    return Comparison(
        sides[0],
        sides[1],
        change,
        limits,
        people,
        _named(setting.agents, moves),
        _named(setting.agents, arrivals),
        delta,
        bool(fresh),
        wishes.value,
        wishes.stability,
        wishes.rules,
        _named(setting.agents, ~spaces.counted),
        tuple(text for text in every if text in common or text not in own[1]),
        tuple(evidence.assumptions()),
        any(one.verdict == "broken" and one.assumption not in covered for one in tested),
        put_together(statistics, both[1]),
        setting.pool_coalitions,
        given.names,
        setting.unit or unit,
        setting.told(setting.neutral),
        setting.lower_is_better,
        TEAM_SCORES.get(totals) == wishes.value,
        are_own(totals, wishes.value),
    )


def _scores(
    setting: Setting, totals: str, strategy: Strategy, value: Value, expected: FloatArray, drawn: FloatArray | None
) -> dict[str, Score]:
    """Return what teams are expected to score, from what their members have; nothing where somebody is in several.

    A member's value adds up, or averages, the pairs with them: all members' values together count every pair twice.
    """
    sets = strategy.sets
    if (sets.sum(axis=1) > 1).any():
        return {}
    found = {}
    for l, name in enumerate(strategy.coalitions):
        inside, size = sets[:, l], int(sets[:, l].sum())
        if size < 2:
            continue
        per_pair = size if value == "average" else size * (size - 1)
        pairs = size * (size - 1) // 2 if totals == "team-scores" else 1

        per_team = [float(each[inside].sum()) / per_pair for each in (expected, *([] if drawn is None else drawn))]
        middle, *others = (pairs * setting.told(setting.neutral + level) for level in per_team)
        tail, ends = (1 - RANGE) / 2, None
        if others:
            low, high = np.quantile(others, [tail, 1 - tail])
            ends = min(float(low), middle), max(float(high), middle)
        found[name] = Score(middle, ends)
    return found


def _named(agents: Sequence[str], chosen: BoolArray) -> tuple[str, ...]:
    return tuple(agents[i] for i in np.flatnonzero(chosen).tolist())


def _newcomers(names: Sequence[str], min_samples: int) -> list[str]:
    if not names or min_samples > 0:
        return []
    wide = f"the log knows nothing of {some(names, NAMED)}, so what is sure of everybody together is wide"
    return [f"{wide}; {said(min_samples=1)} leaves them out of sums and certificates"]


def _certificate(
    evidence: Evidence,
    strategy: Strategy,
    declared: ActionSpaces,
    wishes: Wishes,
    delta: float,
    newcomers: Sequence[str],
) -> tuple[Certificate | None, float | None, list[str]]:
    """Return the `paired` certificate of one assignment, what it is without data, and what it takes for granted."""
    spaces, added = widened(declared, strategy)
    own = [
        strategy.agents[i]
        for i in declared.outside(strategy.owner, strategy.sets)
        if strategy.agents[i] not in newcomers and strategy.marginals[i].any()  # who is nowhere is told anyway
    ]
    notes = []
    if added and own:
        notes.append(f"these people are where they could not be before, which is taken as possible: {some(own, NAMED)}")
    against: Against = wishes.against(spaces)
    try:
        without = by_range(evidence, strategy, against)
        if against.is_plain:
            alone = paired(evidence, strategy, against.own_spaces, delta, declared=declared)
            return among_known(alone, against.newcomers), without, notes
        return paired_against(evidence, strategy, against, delta, declared=declared), without, notes
    except TooLargeError as problem:
        return None, None, [*notes, f"no certificate: {problem}"]


class _Asked:
    """Two profiles, and what they are worth, as combinations of unknowns."""

    def __init__(self, evidence: Evidence, wishes: Wishes, counted: BoolArray, profiles: tuple[BoolArray, ...]) -> None:
        self.evidence, self.value, self.counted, self.profiles = evidence, wishes.value, counted, profiles
        self.change = self._design([(1.0, profiles[1]), (-1.0, profiles[0])])

    def _design(self, terms: Terms) -> StepDesign:
        return value_design(self.evidence.unknowns, terms, self.value)

    def value_of(self, which: int) -> StepDesign:
        return self._design([(1.0, self.profiles[which])])

    @property
    def n_counted(self) -> int:
        return int(self.counted.sum())

    @property
    def changes(self) -> BoolArray:
        """To whom something changes at all, shape (n,)."""
        return np.asarray(np.bincount(self.change.row, minlength=len(self.counted)) > 0)

    @property
    def n_changed(self) -> int:
        return int((self.changes & self.counted).sum())

    def amounts(self, people: StepDesign, stated: Stated, beliefs: Beliefs) -> tuple[Amount, list[Amount]]:
        """Return the amount of everybody who is counted, and each person's."""
        low, high = ends_of_people(self.evidence, people, stated.people)
        rooms = self.evidence.rooms(people)
        estimate, expected = np.asarray(rooms[:, 0] - rooms[:, 1]), _weighed(people, beliefs.middle)
        each = [Amount(*map(float, ends)) for ends in zip(low, high, expected, estimate, strict=True)]
        least, most = ends_of_sum(self.evidence, people, self.counted, stated.everybody)
        total = Amount(least, most, float(expected[self.counted].sum()), float(estimate[self.counted].sum()))
        return total, each

    def verdict(self, agent: int, change: Amount) -> Verdict:
        if not self.changes[agent]:
            return "same"
        return "gains" if change.low > 0 else "loses" if change.high < 0 else "unclear"

    def likely(
        self, beliefs: Beliefs, rng: np.random.Generator, *, with_values: bool
    ) -> tuple[tuple[float, float] | None, FloatArray | None, list[FloatArray] | None]:
        """Return the range of everybody's change, and how probable it is that each person gains.

        And, if asked for, what each has in the first assignment and in the second, in every draw.
        """
        if beliefs.draw is None:
            return None, None, None
        asked = [self.change, *([self.value_of(0), self.value_of(1)] if with_values else [])]
        # One draw at a time: all of them together may be hundreds of megabytes.
        draws = [[_weighed(people, values) for people in asked] for values in beliefs.drawing(rng, draws_for(beliefs))]
        drawn, *each = map(np.stack, zip(*draws, strict=True))
        tail = (1 - RANGE) / 2
        low, high = np.quantile(drawn[:, self.counted].sum(axis=1), [tail, 1 - tail])
        middle = float(_weighed(self.change, beliefs.middle)[self.counted].sum())
        return (min(float(low), middle), max(float(high), middle)), np.asarray((drawn > 0).mean(axis=0)), each or None


def _weighed(people: StepDesign, values: FloatArray) -> FloatArray:
    found = people.linear(values)
    return np.asarray(found[:, 0] - found[:, 1])
