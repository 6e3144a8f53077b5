"""From statistics to a recommended strategy with its certificate.

`holdout` learns on the first parts of a log and certifies on the others; `paired` and `paper` learn and
certify on everything; `auto` tries `holdout` and `paired`, each with its share of delta. All its certificates
hold together with probability 1 - delta, so it is free to choose among them.

With few data a certificate is mostly uncertainty, and its minimum is a profile in which few people meet, stable
or not. So `auto` also certifies profiles that look stable under the best guess of the utilities
(`coterie.estimate.guess`), and keeps the strategy with the smallest

    min(certificate, r) + (gap under the best guess)

where r is half the range of one pair's utility: promises beyond one colleague's worth are equally empty.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Literal

import numpy as np

from coterie.certify.certificate import Certificate
from coterie.certify.evidence import Evidence, Form, PairEvidence
from coterie.certify.from_statistics import NO_PAPER, evidence_from, paper_evidence_from, paper_from
from coterie.certify.holdout import Sealed, fixed
from coterie.certify.paired import paired
from coterie.certify.total_evidence import TotalEvidence
from coterie.errors import InputError, NoPotentialError
from coterie.estimate.guess import choose_guess
from coterie.game import STABLE_WITHIN, Game
from coterie.log.statistics import PartStatistics, Statistics
from coterie.solve.control import Control
from coterie.solve.estimated import estimated_game
from coterie.solve.exact import MOST_PROFILES, enumerate_profiles, mixed_integer
from coterie.solve.mixed import mixed
from coterie.solve.objective import HoldoutObjective, Objective, PairedObjective, estimated_gap
from coterie.solve.paper import SurrogateObjective, paper
from coterie.solve.polymatrix import polymatrix
from coterie.solve.pure import pure
from coterie.solve.smooth import SmoothObjective, smooth_objective
from coterie.solve.solution import Solution
from coterie.strategy import Strategy

PARTS = (0.1, 0.1, 0.3, 0.5)
"""How the samples of a log are divided: the first parts learn, the others certify."""

LEARNING_SHARE = 0.2
"""At least this share of the samples learns; a profile needs less to be found than to be certified."""

CANDIDATES = 2
"""So many held-out profiles are certified, each with its share of delta."""

PAIRED_SHARE = 0.1
"""This much of delta goes to `paired` under `auto`."""

STABLE_LOOKING = 64
"""From so many profiles that look stable the one with the smallest certificate is taken."""

KICKS = 4
"""A search ends after so many rounds of kicks in vain; more were never seen to pay off here."""

ENUMERATED = 100_000
"""Up to so many pure profiles, looking at all of them is quicker than a search."""

GUESSED = 1_000_000
"""Guesses are made for up to so many unknowns."""

Kind = Literal["pure", "mixed"]
Method = Literal["auto", "holdout", "paired", "paper"]
SolverName = Literal["auto", "pure", "mixed", "exact", "polymatrix", "paper"]
Goal = Literal["holdout", "paired", "paper", "estimate"]

SOLVERS: dict[str, tuple[SolverName, ...]] = {
    "pure": ("auto", "pure", "exact", "paper"),
    "mixed": ("auto", "mixed", "polymatrix", "paper"),
}
"""Which solvers find which kind of strategy."""


@dataclass(frozen=True)
class Recommendation:
    """A strategy, its certificate, and how both came about."""

    strategy: Strategy
    certificate: Certificate
    certificates: dict[str, float | None]
    """Each method alone at delta for this strategy, None where it would not be valid."""
    solution: Solution
    evidence: Evidence
    """What the whole log proves."""
    guess: str
    """The kind of guess that the search used: "raw" means, or how they were shrunk."""


@dataclass(frozen=True)
class _Found:
    solution: Solution
    strategy: Strategy
    certificate: Certificate
    searched: str = "whole log, raw"
    """What the search looked at."""
    alone: Callable[[], float] | None = None
    """The held-out certificate of this strategy at the whole of delta."""


def recommend(
    statistics: Statistics,
    delta: float,
    control: Control | None = None,
    *,
    strategy: Kind = "pure",
    certificate: Method = "auto",
    solver: SolverName = "auto",
    form: Form = "both",
) -> Recommendation:
    """Return the strategy with the smallest certificate that was found.

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
        Which width bounds a held-out gain, see `coterie.certify.holdout`.
    """
    if solver not in SOLVERS[strategy]:
        options = ", ".join(SOLVERS[strategy])
        raise InputError(f"the solver {solver} finds no {strategy} strategies; these do: {options}")
    if certificate == "holdout" and len(statistics.parts) < 2:
        raise InputError("holdout needs statistics in at least two parts: one to learn, one to certify")
    control = control or Control()
    task = _Task(statistics, delta, control, strategy, solver, form)
    holds_out = certificate in {"auto", "holdout"} and len(statistics.parts) > 1
    shared = certificate == "auto" and holds_out
    found: list[_Found] = []
    if holds_out:
        found += task.held_out(delta * (1 - PAIRED_SHARE) if shared else delta, 0.7 if shared else 1.0)
    if certificate in {"paired", "paper"} or (certificate == "auto" and not holds_out):
        found.append(task.on_everything("paper" if certificate == "paper" else "paired", delta))
    if certificate == "auto" and control.ended is None and all(one.certificate.gap > 0 for one in found):
        found += task.stable_looking(delta * PAIRED_SHARE if shared else delta)
    return task.recommendation(task.best_of(found, by_guess=certificate == "auto"))


class _Task:
    """One log, one question, and what is made of it on the way."""

    def __init__(
        self, statistics: Statistics, delta: float, control: Control, kind: Kind, solver: SolverName, form: Form
    ) -> None:
        self.statistics, self.delta, self.control = statistics, delta, control
        self.kind, self.solver, self.form = kind, solver, form
        self.setting = statistics.setting
        self.spaces = statistics.setting.actions
        self.guesses: dict[str, str] = {}

    @cached_property
    def whole(self) -> Evidence:
        return evidence_from(self.statistics.whole)

    @cached_property
    def guessed(self) -> Evidence:
        """The whole log with the best guess in place of raw means."""
        return self._guessed(self.whole, self._halves(), "whole log")

    @cached_property
    def guessed_game(self) -> Game:
        """The game that the best guess describes."""
        return estimated_game(self.guessed, self.spaces)

    @cached_property
    def game(self) -> Game:
        """The game that the whole log describes."""
        return estimated_game(self.whole, self.spaces)

    # --- Searches -----------------------------------------------------------------------------------

    def held_out(self, delta: float, share: float) -> list[_Found]:
        """Learn on the first parts, and certify the most promising candidates on the others.

        Only `sealed` ever holds the certifying utilities.
        """
        parts, setting = self.statistics.parts, self.setting
        learns = _learning_parts(setting.shares)
        learning = evidence_from(_together(parts[:learns], setting))
        sealed = Sealed(evidence_from(_together(parts[learns:], setting)))
        guessed = self._guessed(learning, parts[:learns], "learning part")
        expected = sealed.preview(guessed)
        solution = self._search(expected, "holdout", delta / CANDIDATES, share, parts[:learns])
        candidates = list(solution.candidates[:CANDIDATES]) or [solution.strategy]
        game = estimated_game(guessed, self.spaces)
        if self.solver == "auto" and game.gap(candidates[0]) > STABLE_WITHIN and self.control.ended is None:
            # The best promise is not about a profile that looks stable: bring one that does.
            stable = self._stable(guessed, game, share, parts[:learns])
            expects = [fixed(expected, strategy, self.spaces, delta / CANDIDATES).gap for strategy in stable]
            candidates = [candidates[0], *(stable[t] for t in np.argsort(expects)[: CANDIDATES - 1])]
        certified = sealed.certify(candidates, learning, self.spaces, delta, self.form)

        def alone(index: int) -> Callable[[], float]:
            return lambda: sealed.again(self.delta)[index].gap

        return [
            _Found(solution, candidate, found, "learning part", alone(index))
            for index, (candidate, found) in enumerate(zip(candidates, certified, strict=True))
        ]

    def stable_looking(self, delta: float) -> list[_Found]:
        """Return profiles that look stable, certified for all profiles at once; where there are few, all of them."""
        solution = self._search(self.guessed, "estimate", delta, 1.0, self.statistics.parts)
        found = [
            _Found(solution, strategy, self._paired(strategy, delta), "whole log")
            for strategy in solution.candidates or [solution.strategy]
        ]
        if self.spaces.size <= ENUMERATED and self.kind == "pure" and self.solver == "auto":
            found.append(self.on_everything("paired", delta))
        return found

    def _stable(self, evidence: Evidence, game: Game, share: float, parts: Sequence[PartStatistics]) -> list[Strategy]:
        """Return strategies that are stable if the means of this evidence are true."""
        found = self._search(evidence, "estimate", self.delta, share, parts)
        return [strategy for strategy in found.candidates if game.gap(strategy) <= STABLE_WITHIN]

    def on_everything(self, goal: Literal["paired", "paper"], delta: float) -> _Found:
        """Learn and certify on the whole log."""
        evidence = self.whole if goal == "paired" else _paper_evidence(self.statistics.whole)
        solution = self._search(evidence, goal, delta, 1.0, self.statistics.parts)
        found = self._paper(solution.strategy, delta) if goal == "paper" else self._paired(solution.strategy, delta)
        assert found is not None
        return _Found(solution, solution.strategy, found)

    def _search(
        self, evidence: Evidence, goal: Goal, delta: float, share: float, parts: Sequence[PartStatistics]
    ) -> Solution:
        """Return the best strategy of the wanted kind that the chosen solver finds."""
        control = self.control.nested(share, speaks=True)
        if self.solver == "paper":
            found = self._paper_scheme(evidence, delta, control, parts)
        elif self.solver == "polymatrix":
            found = polymatrix(estimated_game(evidence, self.spaces), control)
        elif self.kind == "pure":
            found = self._pure(self._objective(evidence, goal, delta), control)
        else:
            found = self._mixed(evidence, goal, delta, control)
        if control.ended == "interrupted":
            self.control.ended = "interrupted"
        return found

    def _objective(self, evidence: Evidence, goal: Goal, delta: float) -> Objective:
        if goal == "holdout":
            return HoldoutObjective(evidence, self.spaces, delta, *self._names, form=self.form)
        if goal == "estimate":
            return estimated_gap(evidence, self.spaces, *self._names)
        if goal == "paper" and isinstance(evidence, PairEvidence):
            return SurrogateObjective(evidence, self.spaces, delta, *self._names)
        exact = self.solver == "exact" and self.spaces.size > MOST_PROFILES
        return PairedObjective(evidence, self.spaces, delta, *self._names, form="box" if exact else "best")

    def _pure(self, objective: Objective, control: Control) -> Solution:
        enumerated = {"exact": MOST_PROFILES, "pure": 0}.get(self.solver, ENUMERATED)
        if self.spaces.size <= enumerated:
            return enumerate_profiles(objective, control, keep=STABLE_LOOKING)
        if self.solver == "exact":
            return mixed_integer(objective, control)
        return pure(objective, control, keep=STABLE_LOOKING, kicks=KICKS)

    def _mixed(self, evidence: Evidence, goal: Goal, delta: float, control: Control) -> Solution:
        """Begin from the best pure profile, which a mixed strategy never has to be worse than."""
        first = self._pure(self._objective(evidence, goal, delta), control.nested(0.5))
        smooth = self._smooth(evidence, goal, delta)
        found = mixed(smooth, control, begin=[first.strategy])
        if goal == "estimate":
            return found
        # A mixed strategy pays for all its deviations and has no union form: the pure one may certify better.
        return replace(found, candidates=(found.strategy, first.strategy))

    def _smooth(self, evidence: Evidence, goal: Goal, delta: float) -> SmoothObjective:
        by_size = isinstance(evidence, TotalEvidence) and evidence.structure.endswith("aware")
        wanted: Any = {"holdout": "paired"}.get(goal, goal)
        # The ellipsoid by size is not smooth in marginals; the estimate is.
        return smooth_objective(
            evidence, self.spaces, delta, *self._names, certificate="estimate" if by_size else wanted
        )

    def _paper_scheme(
        self, evidence: Evidence, delta: float, control: Control, parts: Sequence[PartStatistics]
    ) -> Solution:
        if isinstance(evidence, TotalEvidence):
            evidence = _paper_evidence(_together(parts, self.setting))
        n_samples = sum(part.n_samples for part in parts)
        return paper(evidence, self.spaces, delta, control, n_samples=n_samples, strategy=self.kind)

    # --- Guesses ------------------------------------------------------------------------------------

    def _halves(self) -> list[PartStatistics]:
        """Return all parts in two groups, for choosing a guess."""
        parts = self.statistics.parts
        return [_together(parts[:-1], self.setting), parts[-1]] if len(parts) > 1 else list(parts)

    def _guessed(self, evidence: Evidence, parts: Sequence[PartStatistics], name: str) -> Evidence:
        """Return evidence whose means are the guesses that predict one part best from another."""
        self.guesses[name] = "ridge" if isinstance(evidence, TotalEvidence) else "raw"
        if not isinstance(evidence, PairEvidence) or evidence.estimate.moments.count.size > GUESSED:
            return evidence
        moments = [found.estimate.moments for part in parts if isinstance(found := evidence_from(part), PairEvidence)]
        guess = choose_guess(moments, evidence.estimate.moments, symmetric=self.setting.symmetric)
        self.guesses[name] = guess.name
        estimate = evidence.estimate
        return replace(evidence, estimate=replace(estimate, moments=replace(estimate.moments, mean=guess.values)))

    # --- Certificates -------------------------------------------------------------------------------

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.setting.agents, self.setting.coalitions

    def _paired(self, strategy: Strategy, delta: float) -> Certificate:
        return paired(self.whole, strategy, self.spaces, delta)

    def _paper(self, strategy: Strategy, delta: float) -> Certificate | None:
        return paper_from(self.statistics.whole, strategy, self.spaces, delta)

    def best_of(self, found: Sequence[_Found], *, by_guess: bool) -> _Found:
        """Return what is best by the rule above, or by certificate alone; ties by potential."""
        worth = self.whole.estimate.bounds.half_range  # type: ignore[attr-defined]

        def score(one: _Found) -> tuple[float, float, float]:
            gap = one.certificate.gap
            if len(found) == 1 or not by_guess:
                return gap, gap, -height(self.game, one.strategy)
            lost = max(self.guessed_game.gap(one.strategy), 0.0)
            return min(gap, worth) + lost, gap, -height(self.game, one.strategy)

        return min(found, key=score)

    def recommendation(self, best: _Found) -> Recommendation:
        """Return everything about the chosen strategy."""
        by_paper = self._paper(best.strategy, self.delta)
        alone = {
            "paper": None if by_paper is None else by_paper.gap,
            "paired": self._paired(best.strategy, self.delta).gap,
            "holdout": None if best.alone is None else best.alone(),
        }
        return Recommendation(
            best.strategy,
            replace(best.certificate, delta=self.delta),
            alone,
            replace(best.solution, strategy=best.strategy, seconds=self.control.seconds),
            self.whole,
            self.guesses.get(best.searched, "raw"),
        )


def height(game: Game, strategy: Strategy) -> float:
    """Return the potential of a strategy, or the sum of utilities where there is no potential."""
    try:
        return game.potential(strategy)
    except NoPotentialError:
        return float(game.values(strategy).sum())


def _paper_evidence(part: PartStatistics) -> Evidence:
    found = paper_evidence_from(part)
    if found is None:
        raise InputError(NO_PAPER)
    return found


def _learning_parts(shares: Sequence[float]) -> int:
    """Return how many of the first parts learn; at least one is left to certify."""
    reached = np.cumsum(shares)
    return min(int(np.searchsorted(reached, LEARNING_SHARE - 1e-9)) + 1, len(shares) - 1)


def _together(parts: Sequence[PartStatistics], setting: Any) -> PartStatistics:
    """Return the statistics of several parts as one."""
    return reduce(lambda ours, theirs: ours.merged(theirs, setting), parts)  # type: ignore[arg-type]
