"""The certificate that further samples are to give: of these alone or of all, against single deviations or steps.

Against the steps of a notion of stability, under rules or for averages, a certificate is the largest over steps of the
smallest bound of its movers, and steps that somebody surely refuses do not count (`coterie.certificates.against`). So
what narrows the certificate is to narrow, of each step that is close to the largest, the bound that decides it: of
whoever has the smallest among those who move and those who would lose by it and may refuse.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.certificates.against import Against, Judgement, fixed_rows, paired_rows
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, LogTerm
from coterie.certificates.holdout import holdout_bound
from coterie.certificates.paired import paired_bound, union_terms
from coterie.certificates.widths import one_event
from coterie.estimate.design import StrategyDesign
from coterie.estimate.step_design import StepDesign
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy

SHARPNESS = 40.0
"""How sharply the soft maximum prefers the largest bounds: e-fold for every 1/40 of the largest width."""


def soft_maximum(values: FloatArray, widths: FloatArray) -> FloatArray:
    """Return weights w_d, which sum to 1, nearly all of it where values are largest."""
    scale = max(float(widths[values.argmax()]), 1e-9) / SHARPNESS
    soft = np.exp((values - values.max()) / scale)
    return np.asarray(soft / soft.sum())


@dataclass(frozen=True, eq=False)
class Sought:
    """The certificate that is to be had: of new samples alone (`holdout`), or of all together (`paired`)."""

    delta: float
    fresh: bool
    log_term: LogTerm | None
    """What each deviation has of delta, worked out once: in the held-out certificate, or in the paired union."""

    @classmethod
    def of(cls, strategy: Strategy, spaces: ActionSpaces, delta: float, *, fresh: bool) -> "Sought":
        """Return the certificate of a profile; `spaces` are those that were declared before the strategy was known."""
        if fresh:
            return cls(delta, fresh, one_event(delta))
        return cls(delta, fresh, union_terms(strategy, spaces, delta))

    def bound(self, evidence: Evidence, design: StrategyDesign) -> GainBound:
        """Return the bounds that the certificate takes the largest of."""
        if self.fresh:
            assert self.log_term is not None
            return holdout_bound(evidence, design, self.log_term)
        return paired_bound(evidence, design, self.delta, self.log_term)


@dataclass(frozen=True, eq=False)
class SoughtAgainst:
    """The same against the steps of a notion of stability, under rules or for averages."""

    strategy: Strategy
    against: Against
    evidence: Evidence
    """Any that is about the same unknowns."""
    delta: float
    fresh: bool
    declared: ActionSpaces | None

    @cached_property
    def judged(self) -> Judgement:
        """The steps, and the unknowns that each of them changes for whom."""
        return Judgement(self.strategy, self.against, self.evidence)

    @property
    def design(self) -> StepDesign:
        """How the rows of movers, and of those who are asked, weigh the unknowns."""
        return self.judged.design

    def rows(self, evidence: Evidence) -> FloatArray:
        """Return the bound of every row."""
        if self.fresh:
            return fixed_rows(self.judged, evidence, self.delta)
        return paired_rows(self.judged, evidence, self.delta, self.declared)[0]

    def gap(self, evidence: Evidence) -> float:
        """Return the certificate."""
        return max(0.0, float(self.judged.blocking(self.rows(evidence)).max(initial=0.0)))

    def deciding(self, evidence: Evidence) -> tuple[IntArray, FloatArray, float]:
        """Return the row that decides each step that may block, w_d width_d of it, and the soft maximum of bounds."""
        judged, bounds = self.judged, self.rows(evidence)
        blocking = judged.blocking(bounds)
        steps = np.flatnonzero(blocking > -np.inf)
        if not len(steps):
            return steps, np.zeros(0), 0.0
        rooms = evidence.rooms(self.design)
        changes = rooms[:, 0] - rooms[:, 1]
        # Whoever is expected to gain will not refuse, however much is known of her.
        counts = (np.arange(len(bounds)) < judged.n_movers) | (changes < 0)
        step_of = np.concatenate([judged.mover_step, judged.asked_step])
        order = np.lexsort((np.where(counts, bounds, np.inf), step_of))
        _, first = np.unique(step_of[order], return_index=True)
        rows, values = order[first][steps], blocking[steps]
        if np.isinf(values).any():  # nothing bounds the means of pairs that were never seen: these come first
            rows = rows[np.isinf(values)]
            return rows, np.full(len(rows), 1 / len(rows)), np.inf
        widths = np.maximum(bounds[rows] - changes[rows], 0.0)
        soft = soft_maximum(values, widths)
        return rows, soft * widths, float(soft @ values)
