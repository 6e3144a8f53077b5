"""What utilities may be, given a log: the expected game, and games drawn from what the data leave possible.

Pairs: the posterior of `coterie.estimate.posterior`; of many agents means are drawn to their average, and pairs that
were never seen together are expected to be neutral. Totals: that of `coterie.estimate.total_posterior`, and the
regression alone where there are too many unknowns for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.evidence import Evidence
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.posterior import LEAST_SPREAD, means_left_possible, never
from coterie.estimate.seen_pairs import drawn_together
from coterie.estimate.total_posterior import MOST_UNKNOWNS, means_left_by_pairs, means_left_by_totals, n_unknowns
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.statistics.shared import tell_luck
from coterie.threads import one_thread

DRAWN_CELLS = 1_000_000
"""Beyond so many unknowns nothing is drawn: what is expected stands for what is possible."""

QUICK = 2000
"""Totals of more unknowns take many seconds."""

CELLS = 4_000_000
"""Beyond so many (by size: beyond the others), averages that are drawn to each other stand for what is expected."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What unknowns may be."""

    evidence: Evidence
    middle: FloatArray
    """What each unknown is expected to be."""
    draw: Callable[[np.random.Generator, int], FloatArray] | None
    """Draws all unknowns together, of several possible posteriors that of the draw's number; None where that would take
    too long. Of totals, single means may lie beyond the scale: only their sums were seen."""

    def game(self, spaces: ActionSpaces, values: FloatArray | None = None) -> Game:
        """Return the game in which unknowns are what is expected, or have other values."""
        return self.evidence.unknowns.game(
            self.middle if values is None else values, spaces, *(self.evidence.names or ())
        )

    def draws(self, rng: np.random.Generator, count: int) -> list[FloatArray]:
        """Return several draws; the expected values alone where there are none."""
        return list(self.drawing(rng, count))

    def drawing(self, rng: np.random.Generator, count: int) -> Iterator[FloatArray]:
        """Yield the same, one after the other."""
        if self.draw is None:
            yield self.middle
            return
        for number in range(count):
            yield self.draw(rng, number)


@one_thread()
def beliefs_from(
    evidence: Evidence, *, symmetric: bool, enough: Callable[[], bool] = never, is_short: bool = False
) -> Beliefs:
    """Return what a log leaves possible; how much effects vary is looked for until `enough` says so.

    Where the log shows luck that teams or rounds of ratings share, it is told from what pairs are worth.
    Where time `is_short`, totals of very many unknowns have the regression alone.
    """
    bounds = evidence.bounds

    def within(values: FloatArray) -> FloatArray:
        found = np.clip(values, bounds.low, bounds.high)
        found[:, range(found.shape[1]), range(found.shape[1])] = 0.0  # nobody is worth anything to themselves
        return found

    def unknowns_of_pairs(own: list[FloatArray]) -> FloatArray:
        n = len(own)
        found = np.zeros((len(own[0]) // (n - 1), n, n))
        for i, values in enumerate(own):
            found[:, i, np.arange(n) != i] = values.reshape(len(found), n - 1)
        return found

    if isinstance(evidence, PairEvidence):
        moments = evidence.estimate.moments
        if evidence.unknowns.is_listed:
            drawn = drawn_together(moments, bounds.half_range)
            return Beliefs(evidence, np.clip(drawn, bounds.low, bounds.high), None)
        if not evidence.unknowns.averages_meetings:
            return Beliefs(evidence, evidence.values, None)
        if moments.count.size > (DRAWN_CELLS if evidence.unknowns.by_size else CELLS):
            return Beliefs(evidence, within(drawn_together(moments, bounds.half_range)), None)
        if tell_luck(evidence.estimate.shared):
            told = means_left_by_pairs(moments, bounds, evidence.estimate.shared, symmetric=symmetric, enough=enough)
            if told.others or enough():
                return Beliefs(
                    evidence,
                    within(unknowns_of_pairs(told.middle)),
                    lambda rng, number: within(unknowns_of_pairs(told.draw(rng, number))),
                )
        possible = means_left_possible(moments, bounds.half_range, symmetric=symmetric, enough=enough)
        if moments.count.size > DRAWN_CELLS:
            return Beliefs(evidence, within(possible.middle), None)
        least = LEAST_SPREAD * bounds.half_range**2
        walked = () if enough() else possible.walked(least, enough)
        several = walked or ((possible,) if enough() else possible.others(least))
        # Where the log is too short to tell one value of each variance, what is expected is so over all of them.
        middle = np.mean([one.middle for one in walked or (possible,)], axis=0)
        return Beliefs(evidence, within(middle), lambda rng, number: within(several[number % len(several)].draw(rng)))
    assert isinstance(evidence, TotalEvidence)
    source, unknowns = evidence.means or evidence.estimate, evidence.unknowns
    if n_unknowns(source, symmetric=symmetric) > (QUICK if is_short else MOST_UNKNOWNS):
        return Beliefs(evidence, within(evidence.values), None)
    found = means_left_by_totals(source, by_size=unknowns.by_size, symmetric=symmetric, enough=enough)
    return Beliefs(
        evidence,
        within(unknowns.values_of_totals(found.middle)),
        # Sums are known better than what they are sums of: means that were cut at the ends of the scale, each on its
        # own, would no longer add up to what was seen.
        lambda rng, number: unknowns.values_of_totals(found.draw(rng, number)),
    )
