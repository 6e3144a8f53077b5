"""One search for a strategy of the wanted kind: which solver, which objective."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paper import no_paper, paper_evidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy
from coterie.solve.control import Control
from coterie.solve.exact import MOST_PROFILES, enumerate_profiles, mixed_integer
from coterie.solve.mixed import mixed
from coterie.solve.objective import HoldoutObjective, Objective, PairedObjective, estimated_gap
from coterie.solve.paper_scheme import SurrogateObjective, paper
from coterie.solve.polymatrix import polymatrix
from coterie.solve.pure import pure
from coterie.solve.smooth import SmoothObjective, smooth_objective
from coterie.solve.solution import Solution
from coterie.statistics.statistics import PartStatistics

Kind = Literal["pure", "mixed"]
SolverName = Literal["auto", "pure", "mixed", "exact", "polymatrix", "paper"]
Goal = Literal["holdout", "paired", "paper", "estimate"]
"""What is minimised: a certificate (`holdout` on a preview), or the gap if estimates were the truth."""

SOLVERS: dict[str, tuple[SolverName, ...]] = {
    "pure": ("auto", "pure", "exact", "paper"),
    "mixed": ("auto", "mixed", "polymatrix", "paper"),
}
"""Which solvers find which kind of strategy."""

KEPT = 64
"""So many of the best profiles are kept as candidates."""

KICKS = 2
"""A search ends after so many rounds of kicks in vain. With 25 agents, 12 rounds take 3 to 5 times as long and lower
what is certified by up to a tenth; `coterie.solve.pure` by itself is more patient."""

WORK = 500_000_000
"""A search ends after so many bounds (moves x agents x actions): some seconds, and the same on every machine."""

ENUMERATED = 100_000
"""Up to so many pure profiles, looking at all of them is quicker than a search."""


@dataclass(frozen=True, eq=False)
class Searcher:
    """How strategies are looked for in one log."""

    spaces: ActionSpaces
    names: tuple[tuple[str, ...], tuple[str, ...]]
    """Agents and coalitions."""
    kind: Kind
    solver: SolverName
    form: Form
    control: Control

    def run(
        self,
        evidence: Evidence,
        goal: Goal,
        delta: float,
        part: PartStatistics,
        share: float = 1.0,
        hopeless: float = np.inf,
    ) -> Solution:
        """Return the best strategy that the solver finds in a share of the time that is left.

        `part` holds the statistics behind `evidence`, for the paper's own estimator. A search for a pure profile that
        is `hopeless` is cut short, see `coterie.solve.pure`.
        """
        control = self.control.nested(share, speaks=True)
        if self.solver == "paper":
            found = self._paper_scheme(evidence, delta, part, control)
        elif self.solver == "polymatrix":
            found = polymatrix(evidence.game(self.spaces), control)
        elif self.kind == "pure":
            found = self._pure(self._objective(evidence, goal, delta), control, hopeless)
        else:
            found = self._mixed(evidence, goal, delta, control)
        self.control.heed(control)
        return found

    @property
    def enumerates(self) -> bool:
        """Whether all pure profiles are looked at."""
        most = {"exact": MOST_PROFILES, "pure": 0}.get(self.solver, ENUMERATED)
        return self.spaces.size <= most

    def _objective(self, evidence: Evidence, goal: Goal, delta: float) -> Objective:
        if goal == "holdout":
            return HoldoutObjective(evidence, self.spaces, delta, *self.names, form=self.form)
        if goal == "estimate":
            return estimated_gap(evidence, self.spaces, *self.names)
        if goal == "paper" and isinstance(evidence, PairEvidence):
            return SurrogateObjective(evidence, self.spaces, delta, *self.names)
        by_program = self.solver == "exact" and not self.enumerates
        return PairedObjective(evidence, self.spaces, delta, *self.names, form="box" if by_program else "best")

    def _pure(self, objective: Objective, control: Control, hopeless: float = np.inf) -> Solution:
        if self.enumerates:
            return enumerate_profiles(objective, control, keep=KEPT)
        if self.solver == "exact":
            return mixed_integer(objective, control)
        return pure(objective, control, keep=KEPT, kicks=KICKS, work=WORK, hopeless=hopeless)

    def _mixed(self, evidence: Evidence, goal: Goal, delta: float, control: Control) -> Solution:
        """Begin from the best pure profile, which a mixed strategy never has to be worse than."""
        inner, smooth = control.nested(0.5), self._smooth(evidence, goal, delta)
        first = self._pure(self._objective(evidence, goal, delta), inner)
        control.heed(inner)
        if inner.ended == "interrupted":
            return replace(first, candidates=(first.strategy,))
        found = mixed(smooth, control, begin=[first.strategy])
        # A mixed strategy pays for all its deviations and has no union form: the pure one may certify better.
        return replace(found, candidates=(found.strategy, first.strategy))

    def _smooth(self, evidence: Evidence, goal: Goal, delta: float) -> SmoothObjective:
        by_size = isinstance(evidence, TotalEvidence) and evidence.unknowns.by_size
        if by_size or not np.isfinite(evidence.bounds.half_width):
            # The ellipsoid by size is not smooth in marginals, and an infinite bound has no slope; the estimate does.
            goal = "estimate"
        certificate: Any = {"holdout": "paired"}.get(goal, goal)
        return smooth_objective(evidence, self.spaces, delta, *self.names, certificate=certificate, form="best")

    def _paper_scheme(self, evidence: Evidence, delta: float, part: PartStatistics, control: Control) -> Solution:
        if isinstance(evidence, TotalEvidence):
            evidence = needed_paper_evidence(part)
        return paper(evidence, self.spaces, delta, control, n_samples=part.n_samples, strategy=self.kind)


def needed_paper_evidence(part: PartStatistics) -> Evidence:
    """Return what the paper's estimator makes of a part of a log, or refuse."""
    found = paper_evidence(part)
    if found is None:
        raise InputError(no_paper())
    return found


def candidates_of(solution: Solution) -> Sequence[Strategy]:
    """Return the strategies that a search brought, the best first."""
    return (solution.strategy, *solution.candidates[1:])
