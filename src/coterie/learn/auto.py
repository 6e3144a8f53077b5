"""From statistics to a recommended strategy with its certificate.

`holdout` learns on the first parts of a log and certifies on the others; `paired` and `paper` learn and
certify on everything; `auto` tries `holdout` and `paired`, each with its share of delta. All its certificates
hold together with probability 1 - delta, so it is free to choose among them, and it stops at the first that is 0.

With few data a certificate is mostly uncertainty, and its minimum is a profile in which few people meet, stable
or not. So `auto` also certifies profiles that look stable where utilities are what the log makes them expected to be
(`coterie.estimate.posterior`), and keeps the strategy with the smallest

    1 / (1 / certificate + 1 / 2r) + (gap to expect, see `coterie.learn.expected`)

where r is half the range of one pair's utility: small certificates count in full, and the more a promise exceeds
what one colleague may be worth, the less it matters by how much.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.given import CertificateName
from coterie.certificates.holdout import NOT_ADAPTIVE, Sealed, fixed
from coterie.certificates.likely import likely_gap
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_from
from coterie.errors import InputError
from coterie.estimate.guess import Guess, choose_guess
from coterie.estimate.posterior import PossibleMeans, means_left_possible
from coterie.game.dynamics import settle
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.learn.assemble import Judged
from coterie.learn.expected import WAYS, gaps, never_observed, possible_games
from coterie.learn.result import Candidate
from coterie.solve.control import Control
from coterie.solve.search import SOLVERS, Kind, Searcher, SolverName, candidates_of, needed_paper_evidence
from coterie.solve.solution import Solution, Status
from coterie.solve.starts import diverse
from coterie.statistics.second_pass import SecondPass
from coterie.statistics.statistics import PartStatistics, Statistics
from coterie.words import said

CANDIDATES = 2
"""So many held-out profiles are certified, each with its share of delta."""

PAIRED_SHARE = 0.1
"""This much of delta goes to `paired` under `auto`: a fiftieth would make held-out certificates 1 to 4 % smaller, and
`paired` ones, which are what is left where data are few, a tenth wider (benchmarks/choices.py)."""

SETTLED_TIME, HELD_OUT_TIME = 0.1, 0.6
"""This much of the time limit best-response dynamics may take, and a held-out search under `auto`."""

POSTERIOR_TIME = 0.5
"""This much of the time that is left then, what the log leaves possible may take."""

SETTLED, CERTIFIED = 32, 8
"""From so many starts best-response dynamics runs at first, and so many of its ends are certified."""

HOPELESS = 10
"""Where no start and nothing that looks stable is expected to be certified within so many times what one colleague may
be worth, a smaller certificate would hardly matter by the rule above: the search for one is cut short."""

GUESSED = 1_000_000
"""Guesses and possible games are made for up to so many cells of the table of means."""

Method = Literal["auto", CertificateName]
"""Which certificate is wanted; "auto" is the one that serves best."""


@dataclass(frozen=True)
class Recommendation(Judged):
    """A strategy, its certificate, and how both came about."""

    solution: Solution
    guess: str
    """The kind of guess that the search used, see `coterie.learn.result.Solver`."""
    candidates: tuple[Candidate, ...]
    """What was certified on the way."""


@dataclass(frozen=True)
class _Found:
    """A strategy that was found and certified."""

    solution: Solution
    strategy: Strategy
    certificate: Certificate
    guess: str = "raw"
    alone: Callable[[], float] | None = None
    """The held-out certificate of this strategy at the whole of delta."""
    likely: Callable[[], float | None] | None = None
    """What its gap likely is at most, from the samples that certify."""


def recommend(
    statistics: Statistics,
    delta: float,
    control: Control | None = None,
    *,
    strategy: Kind = "pure",
    certificate: Method = "auto",
    solver: SolverName = "auto",
    form: Form = "both",
    target_gap: float | None = None,
    min_samples: int = 0,
    again: SecondPass | None = None,
) -> Recommendation:
    """Return the best strategy that was found, by the rule above for `auto`, else by certificate.

    Parameters
    ----------
    statistics
        Of a log in at least two parts for `holdout`, at least three for choosing guesses.
    delta
        The certificate's failure probability.
    control
        Seed, time limit, progress, interruption.
    strategy, certificate, solver
        "pure" or "mixed" strategies; which certificate, or "auto"; which solver, or "auto".
    form
        Which width bounds a held-out gain, see `coterie.certificates.holdout`.
    target_gap
        Strategies that are certified to have at most this gap are preferred to all others.
    min_samples
        Agents who were in fewer samples are left out: neither certificates nor searches are about what they could gain.
    again
        Reads the certifying samples of a bandit log once more, which makes held-out certificates tighter.
    """
    delta = checks.probability(delta, said("delta"))
    if solver not in SOLVERS[checks.one_of(strategy, Kind, said("strategy"))]:
        options = ", ".join(SOLVERS[strategy])
        raise InputError(f"the solver {solver} finds no {strategy} strategies; these do: {options}")
    if certificate == "holdout" and len(statistics.parts) < 2:
        raise InputError("holdout needs statistics in at least two parts: one to learn, one to certify")
    control = control or Control()
    setting = statistics.setting
    if certificate == "holdout" and setting.adaptive:
        raise InputError(NOT_ADAPTIVE)
    if setting.noise == "samples" and setting.feedback == "semi-bandit" and form == "both":
        form = "hoeffding"  # the samples that certify did not decide on the noise, so the width need not pay for that
    names = (setting.agents, setting.coalitions)
    spaces = setting.actions.leaving_out(statistics.seen_less(min_samples))
    task = _Task(statistics, delta, control, Searcher(spaces, names, strategy, solver, form, control), again)
    holds_out = certificate in {"auto", "holdout"} and len(statistics.parts) > 1 and not setting.adaptive
    shared = certificate == "auto" and holds_out
    found: list[_Found] = []
    if certificate == "auto" and strategy == "pure" and solver == "auto":
        found = task.settled(delta * PAIRED_SHARE if shared else delta)
    if not found and holds_out:
        found += task.held_out(delta * (1 - PAIRED_SHARE) if shared else delta, HELD_OUT_TIME if shared else 1.0)
    elif not found:
        found += task.on_everything("paper" if certificate == "paper" else "paired", delta)
    if certificate == "auto" and control.ended is None and all(one.certificate.gap > 0 for one in found):
        found += task.stable_looking(delta * PAIRED_SHARE if shared else delta)
    return task.recommendation(found, by_expectation=certificate == "auto", target_gap=target_gap)


class _Task:
    """One log, one question, and what is made of it on the way."""

    def __init__(
        self, statistics: Statistics, delta: float, control: Control, searcher: Searcher, again: SecondPass | None
    ) -> None:
        self.statistics, self.delta, self.control, self.searcher = statistics, delta, control, searcher
        self.again = again
        self.setting = statistics.setting
        self.spaces = searcher.spaces

    @cached_property
    def whole(self) -> Evidence:
        """What the whole log proves."""
        return evidence_from(self.statistics.whole)

    @cached_property
    def estimated(self) -> Game:
        """The game whose means are those of the whole log."""
        return self.whole.game(self.spaces)

    @cached_property
    def possible(self) -> PossibleMeans | None:
        """What the whole log leaves possible; None for totals, for too many unknowns, and where no time is left."""
        evidence, found = self.whole, None
        if isinstance(evidence, PairEvidence) and evidence.estimate.moments.count.size <= GUESSED:
            inner, moments = self.control.nested(POSTERIOR_TIME), evidence.estimate.moments
            with inner.running():
                inner.check()
                found = means_left_possible(
                    moments, evidence.bounds.half_range, symmetric=self.setting.symmetric, enough=inner.is_over
                )
            self.control.heed(inner)
        return found

    @cached_property
    def believed(self) -> tuple[Evidence, str]:
        """The whole log with what is expected in place of raw means, and the name of that guess."""
        evidence = self.whole
        if not isinstance(evidence, PairEvidence):
            return evidence, "ridge"
        if self.possible is None:
            return evidence, "raw"
        means = np.clip(self.possible.middle, evidence.bounds.low, evidence.bounds.high)
        return _with_means(evidence, means), "posterior"

    # --- What is tried ------------------------------------------------------------------------------

    def held_out(self, delta: float, share: float) -> list[_Found]:
        """Learn on the first parts, and certify the most promising candidates on the others.

        Only `sealed` ever holds the certifying utilities.
        """
        searcher, part = self.searcher, self.statistics.learning
        learning = evidence_from(part)
        sealed = Sealed(evidence_from(self.statistics.certifying), self.again)
        guessed, name = self._guessed(learning, self.statistics.learning_parts)
        expected = sealed.preview(guessed)
        hopeless = 2 * HOPELESS * learning.bounds.half_range if share < 1 else np.inf
        first = searcher.run(expected, "holdout", delta / CANDIDATES, part, self._of_what_is_left(share), hopeless)
        candidates = [(first, strategy) for strategy in candidates_of(first)[:CANDIDATES]]
        game = guessed.game(self.spaces)
        looks_stable = game.gap(first.strategy) <= game.rounding
        if searcher.solver == "auto" and not looks_stable and self.control.ended is None:
            # The best promise is not about a profile that looks stable: bring one that does.
            second = searcher.run(guessed, "estimate", delta, part, self._of_what_is_left(share * (1 - share)))
            stable = [s for s in candidates_of(second) if game.gap(s) <= game.rounding]
            expects = [
                fixed(expected, strategy, self.spaces, delta / CANDIDATES, learning=learning).gap for strategy in stable
            ]
            candidates = candidates[:1] + [(second, stable[t]) for t in np.argsort(expects)[: CANDIDATES - 1]]
        inner = self.control.nested(speaks=True)
        certified = sealed.certify(
            [s for _, s in candidates], learning, self.spaces, delta, form=searcher.form, reading=inner.running(),
            check=lambda done, of_all: inner.report("second pass", done, of_all, first.value),
        )  # fmt: skip
        self.control.heed(inner)

        def alone(index: int) -> Callable[[], float]:
            return lambda: sealed.again(self.delta)[index].gap

        def likely(index: int) -> Callable[[], float | None]:
            return lambda: sealed.likely(index, self.delta)

        return [
            _Found(solution, strategy, found, name, alone(index), likely(index))
            for index, ((solution, strategy), found) in enumerate(zip(candidates, certified, strict=True))
        ]

    def _of_what_is_left(self, share: float) -> float:
        """Return a share of the whole time as a share of what is left: how long others took says what they have seen.

        Without a share for others (1), all that is left.
        """
        limit, left = self.control.time_limit, self.control.remaining
        return 1.0 if share in {0.0, 1.0} or limit is None or not left else min(share * limit / left, 1.0)

    def settled(self, delta: float) -> list[_Found]:
        """Return profiles in which best-response dynamics comes to rest and that are surely stable, if any is.

        It looks at the whole log, so it has random numbers and time of its own: what is learnt to be certified on held
        out samples must depend on neither.
        """
        game, (rng,) = self.estimated, self.control.rng.spawn(1)
        inner, found = self.control.nested(SETTLED_TIME), []
        with inner.running():
            ends, stable, sweeps = settle(game, diverse(game, SETTLED, rng, inner.check), rng, inner.check)
            profiles = [self._named(profile) for profile in np.unique(ends[stable], axis=0)]
            for strategy in sorted(profiles, key=lambda one: -game.height(one))[:CERTIFIED]:
                inner.check()
                certificate = self._paired(strategy, delta)
                if certificate.gap == 0:
                    margin = 0.0 if certificate.worst is None else certificate.worst.bound
                    solution = Solution(
                        strategy, margin, "best responses", "paired certificate", "converged", SETTLED, sweeps, 0.0
                    )
                    found.append(_Found(solution, strategy, certificate))
        self.control.heed(inner)
        return found

    def _named(self, profile: BoolArray) -> Strategy:
        return Strategy.pure(profile, self.setting.agents, self.setting.coalitions)

    def stable_looking(self, delta: float) -> list[_Found]:
        """Return profiles that look stable, and of small games the one that certifies best, by `paired`."""
        evidence, name = self.believed
        solution = self.searcher.run(evidence, "estimate", delta, self.statistics.whole)
        found = [_Found(solution, s, self._paired(s, delta), name) for s in candidates_of(solution)]
        if self.searcher.kind == "pure" and self.searcher.enumerates and self.control.ended is None:
            found += self.on_everything("paired", delta)
        return found

    def on_everything(self, goal: Literal["paired", "paper"], delta: float) -> list[_Found]:
        """Learn and certify on the whole log."""
        evidence = self.whole if goal == "paired" else needed_paper_evidence(self.statistics.whole)
        solution = self.searcher.run(evidence, goal, delta, self.statistics.whole)
        found = []
        for strategy in candidates_of(solution)[: 1 if self.searcher.kind == "pure" else None]:
            certificate = self._paired(strategy, delta) if goal == "paired" else self._paper(strategy, delta)
            assert certificate is not None
            found.append(_Found(solution, strategy, certificate))
        return found

    def _guessed(self, evidence: Evidence, parts: Sequence[PartStatistics]) -> tuple[Evidence, str]:
        """Return evidence whose means are the guesses that predict one part best from another, and their name."""
        if not isinstance(evidence, PairEvidence):
            return evidence, "ridge"
        estimate = evidence.estimate
        guess = Guess(estimate.moments.mean, "raw")
        if estimate.moments.count.size <= GUESSED:
            parted = [found.estimate.moments for p in parts if isinstance(found := evidence_from(p), PairEvidence)]
            inner = self.control.nested()
            with inner.running():
                guess = choose_guess(parted, estimate.moments, symmetric=self.setting.symmetric, check=inner.check)
            self.control.heed(inner)
        return _with_means(evidence, guess.values), guess.name

    def _expected_gaps(self, strategies: Sequence[Strategy]) -> FloatArray:
        """Return the mean gap of each strategy over games that the data leave possible.

        The worst of several means where coalitions were never observed. Over the estimated game alone for bandit logs
        and for too many unknowns, and where there is no time left.
        """
        evidence, possible, found, ways = self.whole, self.possible, [], 1
        if possible is not None:
            assert isinstance(evidence, PairEvidence)
            inner = self.control.nested()
            with inner.running():
                inner.check()
                ways = WAYS if never_observed(evidence).any() else 1
                for game in possible_games(evidence, possible, self.spaces, self.control.rng):
                    found.append(gaps(game, strategies))
                    inner.check()
            self.control.heed(inner)
        if not found:
            return gaps(self.estimated, strategies)
        return np.asarray(np.max([np.mean(found[way::ways], axis=0) for way in range(min(ways, len(found)))], axis=0))

    # --- Certificates -------------------------------------------------------------------------------

    def _paired(self, strategy: Strategy, delta: float) -> Certificate:
        return paired(self.whole, strategy, self.spaces, delta)

    def _paper(self, strategy: Strategy, delta: float) -> Certificate | None:
        return paper_from(self.statistics.whole, strategy, self.spaces, delta)

    def recommendation(
        self, found: Sequence[_Found], *, by_expectation: bool, target_gap: float | None
    ) -> Recommendation:
        """Return everything about the best strategy: by the rule above, or by certificate alone; ties by potential."""
        worth = self.whole.bounds.half_range
        matters = by_expectation and len(found) > 1 and all(one.certificate.gap > 0 for one in found)
        expected = self._expected_gaps([one.strategy for one in found]).tolist() if matters else [None] * len(found)

        def score(index: int) -> tuple[bool, float, float, float]:
            gap = found[index].certificate.gap
            misses = target_gap is not None and gap > target_gap
            loss = expected[index]
            rule = gap if loss is None else 1 / (1 / gap + 1 / (2 * worth)) + loss
            return misses, rule, gap, -self.estimated.height(found[index].strategy)

        best = found[min(range(len(found)), key=score)]
        by_paper = self._paper(best.strategy, self.delta)
        alone: dict[str, float | None] = {
            "paper": None if by_paper is None else by_paper.gap,
            "paired": self._paired(best.strategy, self.delta).gap,
            "holdout": None if best.alone is None else best.alone(),
        }
        likely: float | None = None
        if self.control.is_interrupted():  # whoever waits does without what no promise rests on
            pass
        elif best.likely is None:
            likely = likely_gap(self.whole, best.strategy, self.spaces, self.delta)
        else:
            likely = best.likely()
        return Recommendation(
            best.strategy,
            replace(best.certificate, delta=self.delta),
            alone,
            self.whole,
            self.spaces,
            likely,
            self.whole.values,
            self._reported(best),
            best.guess,
            tuple(
                Candidate(one.certificate.method, one.certificate.gap, loss)
                for one, loss in zip(found, expected, strict=True)
            ),
        )

    def _reported(self, best: _Found) -> Solution:
        """Return the search as the result file tells it: about the strategy that was chosen."""
        solution = replace(best.solution, strategy=best.strategy, seconds=self.control.seconds)
        if best.strategy is not best.solution.strategy:
            # Another candidate of the search: its value was not the smallest, and nothing is proven about it.
            status: Status = "converged" if solution.status == "optimal" else solution.status
            solution = replace(solution, value=best.certificate.gap, objective="certificate", status=status, bound=None)
        return solution if self.control.ended is None else replace(solution, status=self.control.ended)


def _with_means(evidence: PairEvidence, means: FloatArray) -> PairEvidence:
    """Return the same evidence about other means, to search by; nothing is certified with it."""
    estimate = evidence.estimate
    return replace(evidence, estimate=replace(estimate, moments=replace(estimate.moments, mean=means)))
