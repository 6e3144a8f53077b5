"""From the paper's certificate to ours, one change at a time, on the same log.

1. *monte carlo*: the paper's scheme and the number it plots, expectations drawn 100 times
2. *exact*: the scheme with exact expectations, and the exact surrogate of what it finds
3. *union bound*: widths that pay for all pairs and coalitions that were seen, and the range for the others
4. *clipped*: no interval is wider than the range of utilities
5. *paired*: coalitions that a deviation keeps cancel, with their uncertainty
6. *pure search*: our search over pure profiles, for the certificate of step 5
7. *union form*: the sum of a gain inside the root, for all pure profiles at once
8. *held out*: the profile is chosen on one part of the log, and certified on the rest
9. *variance*: held out, with widths that know the variance
10. *auto*: what `coterie learn` does: step 9 with most of delta, profiles that look stable certified in the
    manner of step 7 with the rest, and the choice between them by certificate and by the gap to expect

Steps 3 to 5 certify the strategy of step 2. Steps 6 to 10 each search for a profile of their own. The first and the
last are methods like others (`coterie.reproduce.methods`); those between are made here.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import GainBound, LinearBound, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import SurrogateBound
from coterie.certificates.widths import box_rooms
from coterie.estimate.confidence import hoeffding
from coterie.game.strategy import Strategy
from coterie.learn.auto import recommend
from coterie.reproduce.methods import Outcome
from coterie.solve.control import Control
from coterie.solve.objective import PairedObjective
from coterie.solve.paper_scheme import paper
from coterie.solve.pure import pure
from coterie.statistics.statistics import Statistics


def unclipped_rooms(evidence: PairEvidence, strategy: Strategy, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return room values from Hoeffding widths for all K pairs seen, r sqrt(2 log(2K / delta) / N), not clipped."""
    estimate, design = evidence.estimate, evidence.design(strategy)
    moments, bounds = estimate.moments, estimate.bounds
    width = hoeffding(moments.count, bounds.half_range, moments.events, delta)
    seen, unseen = moments.count > 0, moments.unseen
    upper = np.where(seen, moments.mean + np.where(seen, width, 0.0), bounds.high * unseen)
    lower = np.where(seen, moments.mean - np.where(seen, width, 0.0), bounds.low * unseen)
    return design.linear(upper), design.linear(lower)


def ablation(statistics: Statistics, delta: float, seed: int) -> Iterator[tuple[str, Outcome]]:
    """Yield the name and outcome of steps 2 to 9, from a semi-bandit log that ignores sizes."""
    spaces, setting = statistics.setting.actions, statistics.setting
    names: Any = {"agents": setting.agents, "coalitions": setting.coalitions}
    evidence = evidence_from(statistics.whole)
    assert isinstance(evidence, PairEvidence)
    exact = paper(evidence, spaces, delta, Control(seed), **names)
    yield "exact", Outcome(exact.certificate, exact.strategy, exact.sweeps)

    plain = without_variance(evidence)

    def of_exact(bound: GainBound) -> Outcome:
        largest = worst_deviations(bound, spaces).largest
        return Outcome(max(0.0, largest), exact.strategy, exact.sweeps)

    p = exact.strategy.marginals
    yield "union bound", of_exact(SurrogateBound(p, *unclipped_rooms(plain, exact.strategy, delta)))

    clipped = box_rooms(plain, plain.design(exact.strategy), delta)
    yield "clipped", of_exact(SurrogateBound(p, *clipped))
    yield "paired", of_exact(LinearBound(p, *clipped))

    for name, form in (("pure search", "box"), ("union form", "best")):
        objective = PairedObjective(plain, spaces, delta, **names, form=form)  # type: ignore[arg-type]
        found = pure(objective, Control(seed))
        value = paired(plain, found.strategy, spaces, delta, form=form)  # type: ignore[arg-type]
        yield name, Outcome(value.gap, found.strategy, found.sweeps)

    for name, width in (("held out", "hoeffding"), ("variance", "both")):
        held = recommend(statistics, delta, Control(seed), certificate="holdout", form=width)  # type: ignore[arg-type]
        yield name, Outcome(held.certificate.gap, held.strategy, held.solution.sweeps)


def without_variance(evidence: PairEvidence) -> PairEvidence:
    """Return the same evidence with Hoeffding widths only."""
    estimate = evidence.estimate
    moments = replace(estimate.moments, variance=None)
    return replace(evidence, method="hoeffding", estimate=replace(estimate, moments=moments))
