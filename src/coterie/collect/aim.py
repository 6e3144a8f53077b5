"""What to collect next for a log, an assignment and rules, what that is expected to buy, and what helps if nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from coterie import checks
from coterie.assumptions.sample_dependence import TOO_FEW_TO_TELL
from coterie.certificates.against import Against, paired_against
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.total_evidence import TotalEvidence
from coterie.certificates.widened import widened
from coterie.collect.allowed import Allowed
from coterie.collect.forming import Forming, forming
from coterie.collect.plan import NOTICED, Collection, plan_collection, samples_needed
from coterie.collect.total_plan import BLOCKS, ROUGHLY, noise_variance, plan_totals
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.game import Value
from coterie.game.rules import as_rules
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, StrategyLike
from coterie.learn.assemble import by_range
from coterie.learn.beliefs import Beliefs, beliefs_from
from coterie.learn.certify import BY_TOTALS, Given, as_many_teams, taken_over, usual_value
from coterie.learn.options import LITTLE, SMALLEST
from coterie.learn.promises import FOR_ANY_TEAMS
from coterie.learn.result import STEPS, Result
from coterie.learn.warnings import SAYS_NOTHING
from coterie.learn.wishes import Wishes, wishes_about
from coterie.log.log import Log, as_log
from coterie.statistics.setting import NoiseChoice, Setting, Sizes
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics
from coterie.threads import one_thread
from coterie.words import counted, percent, said

LONGER = 10
"""A plan that is more than so many times as long as the log is out of reach,"""

FEW = 100
"""unless it has no more samples than this."""

MOST_COLLECTED = 10**12
"""How many samples may be planned."""

LARGER_DELTA = 0.1
"""What a certificate would be with this delta is told where nothing else helps."""

HIGH = 0.25
"""Where a larger share of what is certified is expected to be true, another assignment is advised."""

NOTHING = 0.005
"""A limit that is smaller by less than this share is the same."""

LITTLE_WORTH = 0.75
"""More than this share of what the scale says by itself is not worth any effort to prove."""

RATED = 0.9
"""Where fewer of those who worked together were observed than this share, that is said."""


@dataclass(frozen=True, eq=False)
class Situation:
    """A log, what is wanted of teams, and perhaps an assignment, in the same names."""

    statistics: Statistics
    wishes: Wishes
    strategy: Strategy | None
    declared: ActionSpaces
    """What agents may do."""
    spaces: ActionSpaces
    """The same with the sets of the strategy."""
    notes: tuple[str, ...]
    team_names: Mapping[str, str]
    """What interchangeable coalitions are called: in the assignment, or today."""

    @classmethod
    def of(
        cls,
        log: Log | str | PathLike[str] | Statistics,
        strategy: StrategyLike | Result | None = None,
        *,
        sizes: Sizes = "ignore",
        noise: NoiseChoice = "pairs",
        min_samples: int = 0,
        rules: Any = None,
        value: Value | None = None,
        stability: Stability | None = None,
        today: Any = None,
        keep_sizes: bool = False,
        any_size: bool = False,
        change_at_most: int | None = None,
    ) -> "Situation":
        """Return it; parameters as for `what_to_collect`."""
        checks.whole(min_samples, said("min_samples"), 0)
        log = log if isinstance(log, Statistics) else as_log(log)
        content = None if strategy is None else Given.read(strategy, log)
        given = as_rules(rules)
        if change_at_most is not None:
            limit = checks.whole(change_at_most, said("change_at_most"), 0)
            if today is None:
                raise InputError(f"{said('change_at_most')} needs to know who is where today: {said('today')}")
            given = replace(given, max_moves=limit if given.max_moves is None else min(limit, given.max_moves))
        if isinstance(log, Statistics):
            statistics, notes = log, []
        else:
            log, teams = as_many_teams(log, [] if content is None else [content])
            assert isinstance(log, Log)
            statistics, notes = Statistics.for_coverage(log, sizes=sizes, noise=noise), [*log.notes, *teams]
            if noise == "auto" and statistics.cannot_tell:
                notes.append(
                    f"{TOO_FEW_TO_TELL}: here they are taken not to, while learn and certify allow for it, and promise "
                    f"less; say {said(noise='samples')} for what is proven without that"
                )
        asked: dict[str, Any] = {"today": today, "keep_sizes": keep_sizes, "any_size": any_size}
        taken, words = taken_over(
            [] if content is None else [content], given, value, stability, usual_value(statistics)
        )
        notes += words
        statistics, wishes = wishes_about(statistics, **taken, **asked)
        declared = statistics.setting.actions.leaving_out(statistics.seen_less(min_samples))
        if content is None:
            return cls(statistics, wishes, None, declared, declared, (*notes, *wishes.notes), wishes.team_names)
        found, numbers, more = content.strategy(statistics, wishes.rules, "the assignment")
        if not found.is_pure and taken["value"] is None and wishes.value != "total":
            statistics, wishes = wishes_about(statistics, **{**taken, "value": "total"}, **asked)
            more = [*more, BY_TOTALS]
        spaces, added = widened(wishes.admissible.spaces(declared), found)
        names = {**wishes.team_names, **{number: name for name, number in numbers.items()}}
        return cls(statistics, wishes, found, declared, spaces, (*notes, *wishes.notes, *more, *added), names)


@dataclass(frozen=True, eq=False)
class Aim:
    """What is certified now, what is wanted, how to get there, and whether that is worth it."""

    certificate: float
    """Of the assignment, from the log."""
    target: float | None
    needed: int | None
    """How many more samples are expected to reach the target; None where none or too many."""
    plan: Collection | None
    beyond: Collection | None
    """Where the target is out of reach: what the largest number of samples that was considered would do."""
    reference: float
    """What the log certifies under the assumptions of the plan."""
    would_help: tuple[str, ...]
    """Where more rounds prove hardly more: what would."""
    forming: Forming | None
    """The same: rounds that make the guess better."""
    range_gap: float
    """What the range of utilities says without any data."""
    violations: tuple[str, ...]
    """The rules that the assignment breaks."""
    has_rules: bool
    """Whether rules, or today, say what may be planned."""
    stability: Stability
    delta: float
    setting: Setting
    warnings: tuple[str, ...]

    @property
    def is_reached(self) -> bool:
        """Whether the log certifies the target already."""
        return self.target is None or self.certificate <= self.target

    @property
    def proves_something(self) -> bool:
        """Whether the log proves more of the assignment than the range of utilities does."""
        return self.certificate < SAYS_NOTHING * self.range_gap or not self.certificate

    def proven(self) -> str:
        """Return what the log proves of the assignment."""
        if not self.proves_something:
            return "Nothing is proven of these teams yet: there are too few data, so they are a guess."
        proven = f"Proven now, with {percent(1 - self.delta)} confidence: {self._limit} {STEPS[self.stability]}."
        return f"{proven} {FOR_ANY_TEAMS}" if self.certificate > 0 else proven

    @property
    def _limit(self) -> str:
        return f"nobody can gain more than {self.certificate:.3g}" if self.certificate > 0 else "nobody can gain"

    @property
    def is_worthwhile(self) -> bool | None:
        """Whether the plan is expected to certify noticeably less than the log does; None without a plan."""
        return None if self.plan is None else _is_worthwhile(self.plan, self.reference, self.range_gap)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "certificate": self.certificate,
            "target_gap": self.target,
            "target_reached": None if self.target is None else self.is_reached,
            "samples_needed": self.needed,
            "violations": list(self.violations),
            "worthwhile": self.is_worthwhile,
            "buys": self.buys() or None,
            "would_help": list(self.would_help),
            "for_the_guess": None if self.forming is None else self.forming.to_json(),
            "collect": None if self.plan is None else self.plan.to_json(),
        }

    def sentence(self) -> str:
        """Return what the target takes."""
        proven = f"the log proves that {self._limit}"
        if self.is_reached:
            return f"Enough for a limit of {self.target:g}: {proven}."
        not_enough = f"Not enough for a limit of {self.target:g}: {proven}"
        if self.needed is not None:
            return (
                f"{not_enough}; about {counted(self.needed, 'more round')} of the kind below are expected to reach it."
            )
        if self.beyond is None:
            return f"{not_enough}."
        return (
            f"{not_enough}, and no sensible number of rounds is expected to reach it: "
            f"{counted(self.beyond.samples, 'more round')} of the kind that helps most are expected to prove "
            f"{self.beyond.predicted:.3g}, and any number of them would leave about {self.beyond.limit:.3g}."
        )

    def buys(self) -> str:
        """Return what the plan is expected to buy; nothing without a plan."""
        plan = self.plan
        if plan is None:
            return "" if self.forming is None else "What more rounds would prove is not worked out for scores of teams."
        if self.reference <= 0:
            return "Nothing need be collected: the log proves already that nobody can gain."
        low, high = plan.likely
        samples = counted(plan.samples, "more round")
        expected = f"{plan.predicted:.3g} (likely {low:.3g} to {high:.3g})"
        alone = " by themselves" if plan.fresh else ""
        if self.is_worthwhile:
            return (
                f"{samples} by this plan are expected to prove{alone} that nobody can gain more than {expected} "
                f"{STEPS[self.stability]}, with {percent(1 - self.delta)} confidence; the log proves "
                f"{self.reference:.3g}."
            )
        if not self.proves_something:
            return f"{samples} would prove nothing{alone} either, or next to nothing, whoever works with whom."
        if plan.predicted > (1 - NOTHING) * self.reference:
            return f"{samples} would prove nothing{alone} that is not proven now, whoever works with whom."
        return (
            f"{samples} would prove hardly more{alone} than is proven now, whoever works with whom: that nobody can "
            f"gain more than {expected}, instead of {self.reference:.3g}."
        )

    def guessing(self) -> str:
        """Return what makes the guess better where hardly anything can be proven; nothing where more can."""
        if self.forming is None:
            return ""
        if self.forming.is_itself:
            return "These rounds can tell better what these teams are worth: form them, and record how they do."
        if not self.forming.looks_beyond:
            return (
                "These rounds can tell better what these teams are worth: let as many of their pairs as may be formed "
                "work together, and record how they do."
            )
        return (
            "These rounds can tell better which teams are good: let those work together who may well belong together, "
            "in these teams or in others that could be as good, and of whom least is known."
        )

    def newcomers(self) -> str:
        """Return that newcomers come first, where that is so."""
        plan = self.plan
        if plan is None or not plan.needs:
            return ""
        first = {plan.needs[0].agent, plan.needs[0].partner}
        if plan.newcomers_share <= 0.5 and not first & set(plan.newcomers):
            return ""
        *others, last = plan.newcomers
        names = f"{', '.join(others)} and {last}" if others else last
        return (
            f"Newcomers first: nothing is known of {names} yet, and pairs with newcomers have "
            f"{plan.newcomers_share:.0%} of what one more observation of every pair is worth."
        )


def _is_worthwhile(plan: Collection, reference: float, range_gap: float) -> bool:
    """Return whether a plan is expected to certify noticeably less than the log does, and than the scale by itself."""
    return plan.is_worthwhile(reference) and (not plan.needs or plan.predicted <= LITTLE_WORTH * range_gap)


@one_thread()
def what_to_collect(
    log: Log | str | PathLike[str] | Statistics,
    strategy: StrategyLike | Result,
    samples: int | None = None,
    *,
    target_gap: float | None = None,
    fresh: bool = False,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    min_samples: int = 0,
    rules: Any = None,
    value: Value | None = None,
    stability: Stability | None = None,
    today: Any = None,
    keep_sizes: bool = False,
    any_size: bool = False,
    change_at_most: int | None = None,
    random_state: checks.Seed = 0,
) -> Aim:
    """Return which samples to collect next for an assignment, what they are expected to buy, and whether to bother.

    Parameters
    ----------
    log
        Past outcomes, the folder or file that they are in, or their statistics.
    strategy
        The assignment that is to be certified, in any form that `coterie.certify` takes. With a staff in the rules it
        may hold people who left, and lack newcomers.
    samples
        How many samples can be collected.
    target_gap
        Or what they are to certify.
    fresh
        Whether the new samples alone are to certify (`holdout`), or all together (`paired`).
    delta, sizes, noise, min_samples, rules, value, stability
        As for `coterie.certify`. What is planned keeps the rules.
    today, keep_sizes, any_size
        As for `coterie.StableLearner`.
    change_at_most
        So many people at most are elsewhere than today in each sample; needs `today`.
    random_state
        Where searches and draws begin.
    """
    situation = Situation.of(
        log, strategy, sizes=sizes, noise=noise, min_samples=min_samples, rules=rules, value=value,
        stability=stability, today=today, keep_sizes=keep_sizes, any_size=any_size, change_at_most=change_at_most,
    )  # fmt: skip
    return aim_in(situation, samples, target_gap, delta=delta, fresh=fresh, rng=checks.generator(random_state))


def aim_in(
    situation: Situation,
    samples: int | None,
    target_gap: float | None,
    *,
    delta: float,
    fresh: bool,
    rng: np.random.Generator,
) -> Aim:
    """Return the same for a log and an assignment that were read already."""
    checks.probability(delta, said("delta"))
    checks.boolean(fresh, said("fresh"))
    if samples is not None:
        checks.whole(samples, said("collect"), 1, MOST_COLLECTED)
    if target_gap is not None:
        checks.number(target_gap, said("target_gap"), at_least=0)
    return _Planner(situation, delta, fresh, rng).aim(samples, target_gap)


@dataclass(frozen=True, eq=False)
class _Planner:
    """Everything that plans for one situation have in common."""

    situation: Situation
    delta: float
    fresh: bool
    rng: np.random.Generator

    @cached_property
    def shown(self) -> Evidence:
        """What the log shows."""
        return evidence_from(self.situation.statistics.whole)

    @cached_property
    def evidence(self) -> Evidence:
        """The same, with pairs independent as plans have it."""
        shown = self.shown
        return shown.as_independent if isinstance(shown, PairEvidence) and shown.allows_dependence else shown

    @cached_property
    def strategy(self) -> Strategy:
        assert self.situation.strategy is not None
        return self.situation.strategy

    @cached_property
    def allowed(self) -> Allowed | None:
        """What may be planned; None where neither rules nor today say anything."""
        situation, wishes = self.situation, self.situation.wishes
        if not wishes.rules and wishes.today is None:
            return None
        return Allowed.of(situation.declared, wishes.admissible, wishes.largest, self.strategy)

    def certificate(self, evidence: Evidence, delta: float, leaving_out: Sequence[str] = ()) -> float:
        """Return what some evidence certifies now, of all or but for some."""
        declared, against = self.situation.declared, self.against
        if leaving_out:
            more = [self.strategy.agents.index(agent) for agent in leaving_out]
            spaces = against.spaces.leaving_out([*against.spaces.left_out, *more])
            against = replace(against, spaces=spaces)
        if against.is_plain:
            return paired(evidence, self.strategy, against.own_spaces, delta, declared=declared).gap
        return paired_against(evidence, self.strategy, against, delta, declared=declared).gap

    @cached_property
    def against(self) -> Against:
        """What the assignment is to be stable against."""
        return self.situation.wishes.against(self.situation.spaces)

    @cached_property
    def range_gap(self) -> float:
        """What the range of utilities says without any data."""
        return by_range(self.shown, self.strategy, self.against)

    @cached_property
    def beliefs(self) -> Beliefs:
        """What the log leaves possible."""
        return beliefs_from(self.shown, symmetric=self.situation.statistics.setting.symmetric)

    def best_guess(self) -> tuple[str, float] | None:
        """Return who would gain most by the best guess, and how much, as `learn` tells it; None for chances of teams.

        The gap that is expected is larger: whoever gains most is somebody else in each of the games that are possible.
        """
        if not self.strategy.is_pure:
            return None
        game = self.beliefs.game(self.against.own_spaces)
        gains = self.against.gains(game, self.strategy)
        most = int(gains.argmax())
        low, high = self.situation.statistics.setting.utility_range or (0.0, 0.0)
        little = gains[most] <= max(LITTLE * (high - low), SMALLEST)
        return self.strategy.agents[most], 0.0 if little else float(gains[most])

    def options(self, allowed: Allowed | None) -> dict[str, Any]:
        """Return the keywords of a plan."""
        declared = self.situation.declared
        return {"fresh": self.fresh, "declared": declared, "against": self.against, "allowed": allowed}

    def plan(self, samples: int, allowed: Allowed | None, *, roughly: bool = False) -> Collection | None:
        """Plan so many samples, `roughly` where only what they would bring is asked; None where there is no way to."""
        evidence, whole = self.evidence, self.situation.statistics.whole
        given: Any = (self.strategy, self.situation.spaces, self.delta, samples, self.rng)
        if isinstance(evidence, PairEvidence):
            return plan_collection(evidence, *given, **self.options(allowed))
        if isinstance(evidence, TotalEvidence) and isinstance(whole, TotalStatistics) and not whole.setting.of_teams:
            return plan_totals(
                evidence, *given, variance=noise_variance(whole), blocks=ROUGHLY if roughly else BLOCKS,
                **self.options(allowed),
            )  # fmt: skip
        return None

    def aim(self, samples: int | None, target: float | None) -> Aim:
        """Return the answer."""
        situation, strategy = self.situation, self.strategy
        notes, certificate = list(situation.notes), self.certificate(self.shown, self.delta)
        depends = self.evidence is not self.shown
        if depends:
            notes.append(
                "outcomes of one round may go together: what is proven allows for that, what is planned does not"
            )
        reference = self.certificate(self.evidence, self.delta) if depends else certificate
        needed, plan, beyond = None, None, None
        if isinstance(self.evidence, PairEvidence) and target is not None and certificate > target and not depends:
            needed, plan = samples_needed(
                self.evidence, strategy, situation.spaces, self.delta, target, self.rng, most=self.most,
                **self.options(self.allowed),
            )  # fmt: skip
            if needed is None:  # nobody is told to collect that many
                plan, beyond = None, plan
        if samples is not None:
            plan = self.plan(samples, self.allowed)
        in_vain = plan is not None and reference > 0 and not _is_worthwhile(plan, reference, self.range_gap)
        tried = plan if in_vain else beyond
        formed = None
        if samples is not None and (in_vain or plan is None):
            formed = self.forming(samples)
        return Aim(
            certificate,
            target,
            needed,
            plan,
            beyond,
            reference,
            () if tried is None else tuple(self.would_help(tried, reference)),
            formed,
            self.range_gap,
            tuple(situation.wishes.admissible.violations(strategy.sets)) if strategy.is_pure else (),
            self.allowed is not None,
            situation.wishes.stability,
            self.delta,
            situation.statistics.setting,
            tuple(notes),
        )

    def forming(self, samples: int) -> Forming | None:
        """Plan rounds that make the guess better; None where nothing can be formed, and no rules are to blame."""
        statistics, wishes = self.situation.statistics, self.situation.wishes
        allowed = Allowed.of(self.situation.declared, wishes.admissible, wishes.largest, self.strategy)
        try:
            return forming(statistics, self.beliefs, self.strategy, wishes.value, samples, allowed, self.rng)
        except InputError:
            if self.allowed is not None:
                raise
            return None  # the sizes that were seen hold fewer than everybody

    @property
    def most(self) -> int:
        """The largest number of samples that anybody would think of."""
        return max(FEW, LONGER * (self.situation.statistics.whole.n_samples or 0))

    def would_help(self, tried: Collection, reference: float) -> Iterator[str]:
        """Yield what would make a difference where a plan makes none, as far as that can be worked out."""
        enough = min((1 - NOTICED) * min(tried.predicted, reference), LITTLE_WORTH * self.range_gap)
        same = f"{counted(tried.samples, 'round')} are expected to prove that nobody can gain more than"
        allowed = self.allowed
        if allowed is not None and allowed.admissible.max_moves is not None:
            freer = self.plan(tried.samples, allowed.without_limit_on_moves(), roughly=True)
            if freer is not None and freer.predicted <= enough:
                yield f"more people who change something: without a limit {same} {freer.predicted:.2g}"
        if allowed is not None and allowed.admissible.rules:
            freest = self.plan(tried.samples, allowed.without_rules(), roughly=True)
            if freest is not None and freest.predicted <= enough:
                yield f"fewer rules about what is tried: without any {same} {freest.predicted:.2g}"
        for many in sorted({min(LONGER * tried.samples, self.most), self.most} - {tried.samples}):
            longer = self.plan(many, allowed, roughly=True) if many > tried.samples else None
            if longer is not None and longer.predicted <= enough:
                proven = f"are expected to prove that nobody can gain more than {longer.predicted:.2g}"
                yield f"more rounds: {many:,} more {proven}"
                break
        if tried.newcomers:
            others = self.certificate(self.evidence, self.delta, leaving_out=tried.newcomers)
            if others <= enough:
                without = f"to leave {', '.join(tried.newcomers)} out of the promise ({said(min_samples=1)})"
                yield f"{without}: the others cannot gain more than {others:.3g}, as the log proves"
        if self.delta < LARGER_DELTA:
            certified = self.certificate(self.evidence, LARGER_DELTA)
            if certified <= enough:
                yield (
                    f"less confidence: with {said(delta=LARGER_DELTA)} the log proves {certified:.3g} already, at "
                    f"{percent(1 - LARGER_DELTA)}"
                )
        share = self.rated
        if share is not None and share < RATED:
            yield f"more ratings: {share:.0%} of those who worked together are in the log, and plans count on all"
        guess, by = self.best_guess(), STEPS[self.situation.wishes.stability]
        who, gain = ("somebody", tried.limit) if guess is None else guess
        if gain > HIGH * reference:
            yield (
                f"another assignment, for which coterie learn looks: in this one, by the best guess, {who} would gain "
                f"{gain:.2g} {by}"
            )
            return
        most = f"nobody would gain anything {by}" if not gain else f"{who} would gain most {by}, {gain:.2g}"
        yield (
            f"to do without proof: by the best guess {most}, so this assignment may well be good, only that so few "
            "data cannot show it"
        )

    @property
    def rated(self) -> float | None:
        """The share of pairs of members that were observed, where memberships and pairs are known."""
        if not isinstance(self.evidence, PairEvidence):
            return None
        counts = self.situation.statistics.whole.size_counts
        size = np.arange(counts.shape[1])
        met = float((counts * size * (size - 1)).sum())
        return float(self.evidence.estimate.moments.count.sum()) / met if met else None
