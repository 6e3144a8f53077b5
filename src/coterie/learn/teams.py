"""Teams that can be formed: from statistics and wishes to a recommendation, and what else there is to choose from.

Profiles are looked for that keep all rules and have the largest expected value, and from the best of them those that
look stable, where whoever would block most has her way. As in `coterie.learn.auto`, what is certified is

    held out     candidates from the parts that learn, fixed before the certifying part is opened,
    paired       candidates from the whole log, and all others,

each with its share of delta, so that all certificates hold together with probability 1 - delta. What is recommended
among them is in `coterie.learn.options`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np

from coterie.arrays import BoolArray
from coterie.certificates.against import (
    Against,
    likely_against,
    paired_against,
)
from coterie.certificates.certificate import Certificate, among_known
from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import NOT_ADAPTIVE, Sealed
from coterie.certificates.likely import likely_gap
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_from
from coterie.errors import InputError, TooLargeError
from coterie.estimate.pair_means import CELLS, is_listed
from coterie.estimate.posterior import never
from coterie.game.strategy import Strategy
from coterie.learn.assemble import Judged, by_range
from coterie.learn.auto import PAIRED_SHARE, Method
from coterie.learn.beliefs import Beliefs, beliefs_from
from coterie.learn.changes import changes_from, losses_from
from coterie.learn.fewer_moves import fewer_moves
from coterie.learn.more_samples import times_as_long
from coterie.learn.options import (
    Candidate,
    Expected,
    Likely,
    Option,
    Terms,
    by_lot,
    chosen,
    expected_of,
    likely_elsewhere,
    likely_values,
    options_of,
    says_much,
)
from coterie.learn.own import Own, Question, named
from coterie.learn.result import Today
from coterie.learn.sensitivity import notes_on_values
from coterie.learn.warnings import SAYS_NOTHING
from coterie.learn.wishes import Wishes
from coterie.solve.control import Control
from coterie.solve.many import many_profiles
from coterie.solve.search import SolverName
from coterie.solve.solution import Solution, Status
from coterie.solve.teams import Found, Task, best_teams, settled
from coterie.statistics.pair_statistics import DENSE_AGENTS
from coterie.statistics.second_pass import SecondPass
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import PartStatistics, Statistics
from coterie.words import said

HELD_OUT = 3
"""So many candidates are held out, each with its share of delta."""

CERTIFIED = 12
"""So many profiles are certified on the whole log."""

BELIEFS, FIRST, WHOLE, SECOND = 0.3, 0.35, 0.4, 0.7
"""Shares of the time left at most, where there is a limit: for what the parts that learn make of people, for the search
on these, for what the whole log makes of people, and for the search on that; certificates, ranges and reasons need the
rest."""

TIMED, LARGE, SETTLING = 5_000, 100_000, 3
"""What is expected of the recommendation, and its range, hang on what the whole log makes of people, and variances far
from settled promise too much. Up to so many unknowns they settle whatever the time limit is. Of more, where every step
towards the likeliest ones takes its time, so many steps, most of the way, are taken at least; of still more that is
enough for what the parts that learn make of people, which proposes candidates only."""

LATE = 0.25
"""When so little of a time limit is left, draws become few."""

PATIENT = 120.0
"""From so many seconds on, a time limit is long enough for totals of very many unknowns."""

SHORT = 1
"""So many starts and kicks are enough for candidates that will hardly be certified."""

LED = 6
"""From so many of the best profiles it is tried to come to rest."""


TOLD_TEAMS = 30
"""Of so many teams it is told where what is expected of them lies."""


@dataclass(frozen=True)
class TeamsRecommendation(Judged):
    """A strategy, its certificate, and what else there was to choose from."""

    solution: Solution
    options: tuple[Option, ...]
    today: Today | None
    against: Against
    is_vacuous: bool
    notes: tuple[str, ...] = ()
    """What a reader should know of values and rules."""
    more_samples: float | None = None
    """As in a `Result`."""
    by_lot: Likely | None = None
    """As in a `Result`."""


def recommend_teams(
    statistics: Statistics,
    delta: float,
    wishes: Wishes,
    control: Control | None = None,
    *,
    certificate: Method = "auto",
    solver: SolverName = "auto",
    form: Form = "both",
    target_gap: float | None = None,
    min_samples: int = 0,
    again: SecondPass | None = None,
    own: Own | None = None,
) -> TeamsRecommendation:
    """Return the best assignment that was found, by the goal that is wished for.

    Parameters
    ----------
    statistics
        Of the log; people on the staff who are not in it among its agents.
    delta
        The certificate's failure probability.
    wishes
        Rules, value, stability, goal, today.
    control
        Seed, time limit, progress, interruption.
    certificate, solver, form, target_gap, min_samples, again
        As for `coterie.learn.auto.recommend`; solvers are "auto", "pure" and "exact".
    own
        Functions in place of the search, the guess and the certificates.
    """
    own = own or Own()
    if certificate == "paper":
        raise InputError(
            f"the paper's certificate is about totals, nash and no rules: {said(goal='stability', any_size=True)}"
        )
    if certificate == "holdout" and len(statistics.parts) < 2:
        raise InputError("holdout needs statistics in at least two parts: one to learn, one to certify")
    if certificate == "holdout" and statistics.setting.adaptive:
        raise InputError(NOT_ADAPTIVE)
    setting = statistics.setting
    if is_listed(setting):
        refuse_for_many(setting, _only_for_fewer(setting, wishes, solver, own))
    if setting.noise == "samples" and setting.feedback == "semi-bandit" and form == "both":
        form = "hoeffding"
    task = _Teams(statistics, delta, wishes, control or Control(), solver, form, min_samples, again, own)
    holds_out = certificate in {"auto", "holdout"} and len(statistics.parts) > 1 and not statistics.setting.adaptive
    holds_out = holds_out and own.certificate is None
    shared = certificate == "auto" and holds_out
    may_shorten = shared and target_gap is None and not own and not task.is_many
    held = task.held_out(delta * (1 - PAIRED_SHARE) if shared else delta, may_shorten=may_shorten) if holds_out else []
    on_all = task.on_everything(delta * PAIRED_SHARE if shared else delta, held) if certificate != "holdout" else []
    return task.recommendation(held, on_all, target_gap)


def _only_for_fewer(setting: Setting, wishes: Wishes, solver: SolverName, own: Own) -> list[str]:
    """Return what is asked that cannot be done for so many agents that pairs are listed."""
    asked = {
        "rules": bool(wishes.rules),
        said(value=wishes.value): wishes.value != "total",
        said(stability=wishes.stability): wishes.stability != "nash",
        said(goal=wishes.goal): wishes.goal == "fairness",
        said(solver=solver): solver not in {"auto", "pure"},
        "own functions": bool(own),
        "pairs whose two agents get different values": not setting.symmetric,
        f"{said('actions')} that are lists of sets": setting.actions.limits is None,
    }
    return [what for what, is_asked in asked.items() if is_asked]


def refuse_for_many(setting: Setting, asked: Sequence[str]) -> None:
    """Refuse what cannot be done for so many agents, if it is asked, and say what can."""
    if asked:
        raise TooLargeError(
            f"{asked[0]}: not for {setting.n_agents} agents and {setting.n_coalitions} coalitions. Of more than "
            f"{DENSE_AGENTS} agents, or {CELLS} pairs x coalitions, pure strategies are recommended by their "
            f"totals, without rules, for symmetric pairs, where everybody may join one coalition of some: "
            f"{said(actions='one')}, or {said(actions='observed-own')}. A part of the log, such as a department, may "
            "be small enough"
        )


def _after_few_steps(is_enough: Callable[[], bool]) -> Callable[[], bool]:
    """Return when variances need settle no further: after a few steps, if that is enough then."""
    steps = count()
    return lambda: next(steps) >= SETTLING and is_enough()


def _with_proof(task: Task, found: Found, control: Control) -> Found:
    """Return what a search found, behind the profile that is proven to be best."""
    from coterie.solve.columns import largest_value

    best = largest_value(
        task.game, task.admissible, "fairness" if task.fair else "value", control, largest=task.largest
    )
    return Found(
        [best.profile, *found.profiles],
        [task.score(best.profile), *found.scores],
        found.starts,
        found.sweeps,
        best.is_optimal,
    )


class _Teams:
    """One log, one wish, and what is made of it on the way."""

    def __init__(
        self,
        statistics: Statistics,
        delta: float,
        wishes: Wishes,
        control: Control,
        solver: SolverName,
        form: Form,
        min_samples: int,
        again: SecondPass | None,
        own: Own,
    ) -> None:
        self.statistics, self.delta, self.wishes, self.control = statistics, delta, wishes, control
        self.setting, self.solver, self.form, self.again = statistics.setting, solver, form, again
        self.own = own
        # What is likely of the same teams is the same number wherever it is told for a seed: drawn as from that alone.
        self.ranges_rng = deepcopy(control.rng)
        spaces = self.setting.actions.leaving_out(statistics.seen_less(min_samples))
        self.against = wishes.against(spaces)
        self.starts, self.sweeps = 0, 0
        self.proven: BoolArray | None = None
        self.ended: Status | None = None
        self.sealed: Sealed | None = None
        self.held_strategies: list[Strategy] = []
        self.paired_delta: float | None = None
        self._shown: dict[bytes, BoolArray] = {}
        self._found_before: list[BoolArray] = []

    @cached_property
    def whole(self) -> Evidence:
        """What the whole log proves."""
        return evidence_from(self.statistics.whole)

    @property
    def is_many(self) -> bool:
        """Whether there are so many agents that the pairs that were seen are listed."""
        return is_listed(self.setting)

    @cached_property
    def beliefs(self) -> Beliefs:
        """What the whole log leaves possible, in full; if there is much and its time is up, after a few steps."""
        if self.own.guess is not None:
            return self.own.beliefs(self.whole)
        self.control.tell("beliefs")

        def settled() -> Beliefs:
            inner = self.control.nested(WHOLE)

            def is_over() -> bool:
                late = inner.remaining == 0
                self.ended = "time" if late else self.ended
                return late or self._is_over()

            # What else the variances of totals may be is not found in a few steps.
            most = TIMED if self.setting.feedback == "semi-bandit" else LARGE
            enough = _after_few_steps(is_over) if self._unknowns > most else never
            return beliefs_from(self.whole, symmetric=self.setting.symmetric, enough=enough, is_short=self._is_short)

        found = None
        with self.control.running():
            found = settled()
        # Whoever interrupts that is answered all the same, and whoever does so again is not.
        return found or settled()

    def _beliefs(self, evidence: Evidence) -> Beliefs:
        """Return what a part of the log leaves possible, as well as time allows: it proposes candidates only."""
        if self.own.guess is not None:
            return self.own.beliefs(evidence)
        self.control.tell("beliefs")
        inner, found = self.control.nested(BELIEFS), Beliefs(evidence, evidence.values, None)
        near = _after_few_steps(lambda: True) if self._unknowns > LARGE else never
        with inner.running():
            found = beliefs_from(
                evidence, symmetric=self.setting.symmetric, enough=lambda: near() or inner.is_over(),
                is_short=self._is_short,
            )  # fmt: skip
        self.control.heed(inner)
        self.ended = inner.ended or self.ended
        return found

    @property
    def _is_short(self) -> bool:
        """Whether the time limit is too short for totals of very many unknowns."""
        return self.control.time_limit is not None and self.control.time_limit < PATIENT

    @property
    def _unknowns(self) -> int:
        """About how many unknowns there are."""
        return self.setting.n_agents**2 * (1 if self.setting.pool_coalitions else self.setting.n_coalitions)

    def _expected(
        self, strategies: Sequence[Strategy], beliefs: Beliefs, rng: np.random.Generator | None = None
    ) -> Expected:
        staff = self.wishes.admissible.staff
        return expected_of(strategies, beliefs, self.against, staff, rng or self.control.rng, self._is_late)

    def _is_over(self) -> bool:
        """Return whether somebody waits, or time is up: then what follows does without what no promise rests on."""
        late = self.control.remaining == 0
        self.ended = "time" if late else self.ended
        return self.control.is_interrupted() or late

    def _is_late(self) -> bool:
        """Return whether somebody waits, or little is left of a time limit: then fewer games are drawn."""
        left, limit = self.control.remaining, self.control.time_limit
        is_late = left is not None and limit is not None and left < LATE * limit
        return is_late or self.control.is_interrupted()

    def _task(self, beliefs: Beliefs) -> Task:
        wishes = self.wishes
        game = beliefs.game(self.against.spaces).valued(wishes.value)
        return Task(game, wishes.admissible, wishes.largest, fair=wishes.goal == "fairness")

    @property
    def _begin(self) -> list[BoolArray]:
        """Where searches begin: at today's teams."""
        return [] if self.wishes.today is None else [self.wishes.today.sets]

    def _searched(self, task: Task, share: float, *, is_short: bool = False) -> tuple[Found, list[BoolArray]]:
        """Return the profiles of largest expected value, and those that come to rest; few where it `is_short`."""
        self.control.tell("search")
        if self.is_many:
            profiles = many_profiles(task.game, self.control, task.largest)
            self.ended = self.control.ended or self.ended
            self.starts += len(profiles)
            scores = [float(task.game.values(profile).mean()) for profile in profiles]
            return Found(profiles, scores, len(profiles), 0), []
        control = self.control.nested(share, speaks=True)
        begin = self._begin
        if self.control.time_limit is not None:  # what was found before is not to be found again
            begin = [*sorted(self._found_before, key=task.score, reverse=True), *begin]
        if self.own.solver is not None:
            found = self.own.found(task, control)
        elif is_short:
            found = best_teams(task, control, begin=begin, starts=SHORT, patience=SHORT)
        else:
            found = best_teams(task, control, begin=begin)
        if self.solver == "exact" and not found.is_optimal:
            found = _with_proof(task, found, control)
        calm: list[BoolArray] = []
        with control.running():
            for profile in found.profiles[:LED] if self.own.solver is None else ():
                rest = settled(task, profile, self.wishes.stability, control.check)
                calm += [] if rest is None else [rest]
        self.control.heed(control)
        self.ended = self.control.ended or control.ended or self.ended
        self.starts, self.sweeps = self.starts + found.starts, self.sweeps + found.sweeps
        self.proven = found.profiles[0] if found.is_optimal else None
        self._found_before = found.profiles[:LED]
        return found, calm

    def _named(self, profiles: Iterable[BoolArray]) -> list[Strategy]:
        distinct: dict[bytes, BoolArray] = {}
        for profile in profiles:
            key = self.wishes.admissible.key(profile)
            if key not in self._shown:  # once for all: another renaming may leave as many where they are
                self._shown[key] = self.wishes.admissible.plainly_named(profile)
            distinct.setdefault(key, self._shown[key])
        return [Strategy.pure(profile, self.setting.agents, self.setting.coalitions) for profile in distinct.values()]

    # --- What is tried ------------------------------------------------------------------------------

    def held_out(self, delta: float, *, may_shorten: bool) -> list[Candidate]:
        """Learn on the first parts, and certify the most promising candidates on the others.

        Only `sealed` ever holds the certifying utilities. Where these will hardly say anything and time is up, there
        are none: certificates from the whole log are enough.
        """
        learning = evidence_from(self.statistics.learning)
        sealed = Sealed(evidence_from(self.statistics.certifying), self.again)
        is_short = may_shorten and (self.control.is_interrupted() or self._says_little(learning, sealed, delta))
        if is_short and not self.control.is_interrupted() and self._is_over():
            return []
        beliefs = self._beliefs(learning)
        found, calm = self._searched(self._task(beliefs), FIRST, is_short=is_short)
        strategies = self._named([*found.profiles[:LED], *calm])
        if self._is_over():  # whoever waits is not served by several
            strategies = strategies[:1]
        expected = self._expected(strategies, beliefs)
        worth = (expected.least if self.wishes.goal == "fairness" else expected.values) - expected.gaps
        sure = [0.0]
        if len(strategies) > 1:
            sure = sealed.expected(strategies, learning, self.against, delta / HELD_OUT, form=self.form)
        first, dearest = int(worth.argmax()), int(expected.values.argmax())
        surest = min(range(len(strategies)), key=lambda t: (sure[t], -worth[t]))
        picked = [surest] if self.wishes.goal == "stability" else [first, surest, dearest]
        self.held_strategies = [strategies[t] for t in dict.fromkeys(picked)][:HELD_OUT]
        inner = self.control.nested(speaks=True)
        certificates = sealed.certify(
            self.held_strategies, learning, self.against, delta, form=self.form, reading=inner.running(),
            check=lambda done, of_all: inner.report("second pass", done, of_all, 0.0),
        )  # fmt: skip
        self.control.heed(inner)
        self.ended = self.control.ended or self.ended
        self.sealed = sealed
        return [self._candidate(one, found) for one, found in zip(self.held_strategies, certificates, strict=True)]

    def _says_little(self, learning: Evidence, sealed: Sealed, delta: float) -> bool:
        """Return whether the other parts are not expected to say much, judged by the first profile at hand.

        How much that is depends mostly on how often people were seen together. Where it is little, the first profiles
        at hand will do as candidates: a search for better ones would take as long as all the rest.
        """
        quick = self.control.nested(0.1)
        (quick.rng,) = self.control.rng.spawn(1)  # what follows is the same whether this was asked or not
        task = self._task(Beliefs(learning, learning.values, None))
        profile = best_teams(task, quick, begin=self._begin, starts=0, patience=0).profiles[0]
        self.control.heed(quick)
        if quick.is_over():  # a profile that keeps all rules may have taken long to find
            self._found_before = [profile]
        (strategy,) = self._named([profile])
        (sure,) = sealed.expected([strategy], learning, self.against, delta / HELD_OUT, form=self.form)
        return not says_much(sure, by_range(learning, strategy, self.against))

    def on_everything(self, delta: float, held: Sequence[Candidate]) -> list[Candidate]:
        """Search on the whole log, and certify what was found there, what was held out, and today's teams.

        Whoever interrupted before has a certificate already.
        """
        if held and self.control.is_interrupted():
            return []
        self.paired_delta = delta
        profiles = [one.strategy.sets for one in held]
        if not (held and self.control.ended):
            found, calm = self._searched(self._task(self.beliefs), SECOND)
            most = HELD_OUT if self._is_late() else CERTIFIED
            profiles += [*found.profiles[: max(1, most - len(calm))], *calm][:most]
        now = self.wishes.today
        if now is not None and self._task(self.beliefs).allows(now.sets):
            profiles.append(now.sets)
        certified = self._paired if self.own.certificate is None else self._by_own
        return [self._candidate(one, certified(one, delta)) for one in self._named(profiles)]

    def _by_own(self, strategy: Strategy, delta: float) -> Certificate:
        return self.own.certified(Question(self.statistics.whole, self.whole, strategy, self.against, delta))

    def _paired(self, strategy: Strategy, delta: float, evidence: Evidence | None = None) -> Certificate:
        evidence = evidence or self.whole
        if self.against.is_plain:
            found = paired(evidence, strategy, self.against.own_spaces, delta)
            return among_known(found, self.against.newcomers)
        return paired_against(evidence, strategy, self.against, delta)

    def _candidate(self, strategy: Strategy, certificate: Certificate) -> Candidate:
        without_data = by_range(self.whole, strategy, self.against)
        return Candidate(strategy, replace(certificate, delta=self.delta), without_data)

    def _with_fewer_moves(self, pick: Candidate) -> list[Candidate]:
        """Return what some of the moves alone would bring, certified like all others: `paired` holds for everything."""
        now, delta = self.wishes.today, self.paired_delta
        if now is None or delta is None or self.is_many or self.own.certificate is not None or self._is_late():
            return []
        inner = self.control.nested()
        inner.rng = deepcopy(self.control.rng)  # what follows is the same whether this was looked for or not
        found = fewer_moves(self._task(self.beliefs), now.sets, pick.strategy.sets, inner, self._is_late)
        self.control.heed(inner)
        return [self._candidate(one, self._paired(one, delta)) for one in self._named(found)]

    # --- What comes of it ---------------------------------------------------------------------------

    def recommendation(
        self, held: Sequence[Candidate], on_all: Sequence[Candidate], target_gap: float | None
    ) -> TeamsRecommendation:
        """Return the choice among all candidates, of each the smaller of its certificates."""
        best: dict[Strategy, Candidate] = {}
        for one in (*held, *on_all):
            known = best.get(one.strategy)
            if known is None or one.certificate.gap < known.certificate.gap:
                best[one.strategy] = one
        candidates, same_games = list(best.values()), deepcopy(self.control.rng)
        expected = self._expected([one.strategy for one in candidates], self.beliefs)
        choice = chosen(candidates, expected, self.wishes.goal, target_gap)
        if fewer := [one for one in self._with_fewer_moves(candidates[choice.place]) if one.strategy not in best]:
            candidates += fewer
            others = self._expected([one.strategy for one in fewer], self.beliefs, same_games)
            expected = expected.with_others(others)
            choice = chosen(candidates, expected, self.wishes.goal, target_gap)
        index = choice.place
        pick, now = candidates[index], self.wishes.today
        at = next((t for t, one in enumerate(candidates) if now is not None and one.strategy == now), None)
        part = range(len(best), len(candidates))
        options = options_of(candidates, expected, choice, self.wishes, at, part)
        picked, teams = (1.0, pick.strategy.sets), self._told_teams(pick.strategy)
        other: Terms | None = None if now is None else [picked, (-1.0, now.sets)]
        if other is None and not self.is_many:
            other = by_lot(pick.strategy.sets, self._free, self.ranges_rng.spawn(1)[0])
        asked = [[picked], *([] if other is None else [other])]
        by_team = [[(1.0, pick.strategy.sets & (np.arange(len(self.setting.coalitions)) == l))] for l in teams]
        (worth, *better), own = likely_values(
            [*asked, *by_team], self.beliefs, self.wishes, self.ranges_rng, self._is_over
        )
        if self.beliefs.draw is not None:
            ranges = {
                self.setting.coalitions[l]: (one.range[0] * times, one.range[1] * times)
                for (l, times), one in zip(teams.items(), better[len(asked) - 1 :], strict=True)
            }
            staff = np.flatnonzero(self.wishes.admissible.staff).tolist()
            people = {self.setting.agents[i]: one.range for i, one in zip(staff, own, strict=True)}
            elsewhere = likely_elsewhere(
                pick.strategy, self.beliefs, self.against, self.wishes.admissible.staff, self.ranges_rng.spawn(1)[0],
                self._is_over,
            )  # fmt: skip
            first = replace(
                options[0], expected_range=worth.range, person_ranges=people, team_ranges=ranges, elsewhere=elsewhere
            )
            options = (first, *options[1:])
        today, than_lot = None, None
        if now is not None:
            game = self._task(self.beliefs).game
            changes = changes_from(now, pick.strategy, game, self.wishes)
            losses = losses_from(now, pick.strategy, game, self.wishes)
            gain, moves = better[0], options[0].moves or 0
            today = Today(now, moves, gain.expected, gain.range, changes, gain.chance, self.wishes.left, losses)
        elif other is not None:
            than_lot = better[0]
        alone, likely = self._alone(pick.strategy), self._likely(pick)
        notes, more = tuple(self._notes(pick.strategy)), self._more_samples(pick)
        solution = Solution(
            pick.strategy,
            -float((expected.least if self.wishes.goal == "fairness" else expected.values)[index]),
            "exact" if self.solver == "exact" else "teams" if self.own.solver is None else named(self.own.solver),
            "expected value per person" if self.wishes.goal != "fairness" else "expected value of the worst-off",
            self._status(pick.strategy),
            self.starts,
            self.sweeps,
            self.control.seconds,
        )
        return TeamsRecommendation(
            pick.strategy,
            pick.certificate,
            alone,
            self.whole,
            self.against.own_spaces,
            likely,
            self.beliefs.middle,
            solution,
            options,
            today,
            self.against,
            pick.is_vacuous,
            notes,
            more,
            than_lot,
        )

    @property
    def _free(self) -> BoolArray:
        """Who of the staff may be anywhere, as far as rules name people."""
        rules = self.wishes.rules
        named = {*rules.fix, *rules.ban, *(agent for pair in rules.together for agent in pair.agents)}
        return np.asarray(self.wishes.admissible.staff & ~np.isin(self.setting.agents, list(named)))

    def _told_teams(self, strategy: Strategy) -> dict[int, float]:
        """Return the teams of which a range is told, if they are not too many, and how often it counts.

        What a team is worth to all who are assigned on average, times that, is what a teammate is worth in it.
        """
        sizes = strategy.sets.sum(axis=0)
        told = np.flatnonzero(sizes > 1).tolist()
        people = int(self.wishes.admissible.staff.sum())
        pairs = sizes if self.wishes.value == "average" else sizes * (sizes - 1)
        return {l: people / float(pairs[l]) for l in told} if len(told) <= TOLD_TEAMS and not self.is_many else {}

    def _more_samples(self, pick: Candidate) -> float | None:
        """Return how many more samples would certify something; None where something is, or nobody knows."""
        found, without = pick.certificate, pick.by_range
        unknown = self.own.certificate is not None or self.control.is_over()
        if found.of_known < SAYS_NOTHING * without or not 0 < without < math.inf or unknown:
            return None

        def gap(longer: PartStatistics) -> float:
            return self._paired(pick.strategy, self.delta, evidence_from(longer)).of_known

        self.control.tell("more samples")
        times = times_as_long(self.statistics.whole, gap, without, self.control.is_over)
        return None if times is None else (times - 1) * self.statistics.n_samples

    def _status(self, strategy: Strategy) -> Status:
        """Return how all ended, once all else is done: whoever is interrupted on the way leaves something out."""
        if self.control.ended == "interrupted":
            return "interrupted"
        return self.ended or ("optimal" if self._is_proven(strategy) else "converged")

    def _is_proven(self, strategy: Strategy) -> bool:
        """Return whether no profile that keeps the rules has a larger expected value."""
        same = self.wishes.admissible.key
        return self.proven is not None and same(self.proven) == same(strategy.sets)

    def _notes(self, strategy: Strategy) -> Iterator[str]:
        """Yield what a reader should know: who is new or gone, and what the neutral point decides."""
        wishes = self.wishes
        if wishes.value == "total" and self.control.ended is None and not self.is_many:
            yield from notes_on_values(self.setting, self.beliefs, strategy, self._task, self.control)
        if wishes.newcomers:
            named = ", ".join(wishes.newcomers)
            yield f"nothing is known of {named}: what their teams are worth is a guess, without any promise"
        yield from wishes.notes

    def _alone(self, strategy: Strategy) -> dict[str, float | None]:
        """Return each certificate alone at delta; none where somebody waits."""
        if self.control.is_interrupted():
            return dict.fromkeys(("paper", "paired", "holdout"))
        by_paper = None
        if self.against.is_plain and not self.is_many:
            by_paper = paper_from(self.statistics.whole, strategy, self.against.own_spaces, self.delta)
        held = None
        if self.sealed is not None and strategy in self.held_strategies:
            held = self.sealed.again(self.delta)[self.held_strategies.index(strategy)].gap
        mine = {} if self.own.certificate is None else {"own": self._by_own(strategy, self.delta).gap}
        return {
            "paper": None if by_paper is None else by_paper.gap,
            "paired": self._paired(strategy, self.delta).gap,
            "holdout": held,
            **mine,
        }

    def _likely(self, pick: Candidate) -> float | None:
        """Return what the gap likely is at most; None where somebody waits: no promise rests on it."""
        if self.control.is_interrupted():
            return None
        if pick.certificate.method == "holdout" and self.sealed is not None:
            return self.sealed.likely(self.held_strategies.index(pick.strategy), self.delta)
        if self.against.is_plain:
            return likely_gap(self.whole, pick.strategy, self.against.own_spaces, self.delta)
        return likely_against(self.whole, pick.strategy, self.against, self.delta)
