"""What further observations will show, and the certificate that they are expected to give.

A profile is chosen because it looks stable, so its estimated gains are too good to be true, and a
certificate that takes them as they are is predicted too small. Predictions here are draws from what the
data leave possible instead, which no choice can bias: means of pairs are drawn from their posterior
(`coterie.estimate.posterior`), and the new values around these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.against import Against
from coterie.certificates.gains import GainBound, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.collect.allowed import Allowed
from coterie.collect.sought import Sought, SoughtAgainst
from coterie.errors import InputError
from coterie.estimate.design import StrategyDesign
from coterie.estimate.intervals import Moments
from coterie.estimate.posterior import PossibleMeans, means_left_possible, pair_noise, variance_of_values
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy
from coterie.words import said

DRAWS = 24
"""How many possible outcomes a prediction is made from."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """A profile to certify, what is known so far, and what that leaves possible."""

    evidence: PairEvidence
    strategy: Strategy
    spaces: ActionSpaces
    delta: float
    fresh: bool
    """Whether the new samples alone certify (`holdout`), or all together (`paired`)."""
    declared: ActionSpaces | None = None
    """The action spaces before those of the strategy were added to them, where some were; see `paired`."""
    against: Against | None = None
    """What the profile is to be stable against, in these spaces; None for single deviations, totals and no rules."""
    allowed: Allowed | None = None
    """Which joint actions may be planned; None for all of the action spaces."""

    def __post_init__(self) -> None:
        if not isinstance(self.evidence, PairEvidence) or not self.evidence.unknowns.averages_meetings:
            raise InputError("what to collect is worked out for semi-bandit logs, with one unknown per pair (and size)")
        if self.evidence.estimate.noise is not None:
            # Which pairs occur together then matters as well, and the gradient in the counts is not all there is.
            raise InputError(f"what to collect is worked out for pairs that are independent ({said(noise='pairs')})")

    @property
    def moments(self) -> Moments:
        """What was observed so far."""
        return self.evidence.estimate.moments

    @cached_property
    def base(self) -> FloatArray:
        """N0: the counts that new observations are added to."""
        return np.zeros_like(self.moments.count) if self.fresh else self.moments.count

    @cached_property
    def symmetric(self) -> bool:
        """Whether both orders of a pair are one unknown: then an event was counted for every two cells."""
        return 2 * self.moments.events == int((self.moments.count > 0).sum())

    @cached_property
    def matters(self) -> BoolArray:
        """Which unknowns enter some gain, in the shape of the counts."""
        if self.steps is not None:
            design, found = self.steps.design, np.zeros(self.base.shape, dtype=bool)
            found[design.places] = True
            return found
        there = np.asarray(self.strategy.marginals.T > 0)
        if len(self.moments.count) < len(there):
            there = np.asarray(there.any(axis=0, keepdims=True))
        partners = there[:, None, :] & ~np.eye(there.shape[1], dtype=bool)
        return np.asarray(np.broadcast_to(as_cells(partners, self.base), self.base.shape))

    @cached_property
    def newcomers(self) -> tuple[int, ...]:
        """Who counts and was never observed with anybody."""
        count = self.moments.count
        seen = count.reshape(*count.shape[:3], -1).sum(axis=(0, 2, 3)) > 0
        counted = (self.spaces if self.against is None else self.against.own_spaces).counted
        return tuple(np.flatnonzero(~seen & counted).tolist())

    @cached_property
    def variance(self) -> FloatArray:
        """s_e^2, the variance of a pair's values."""
        return variance_of_values(self.moments, self.evidence.estimate.bounds.half_range)

    @cached_property
    def possible(self) -> PossibleMeans:
        """What the pairs' means may be."""
        half_range = self.evidence.estimate.bounds.half_range
        return means_left_possible(self.moments, half_range, symmetric=self.symmetric)

    def with_counts(self, count: FloatArray, rng: np.random.Generator | None = None) -> PairEvidence:
        """Return evidence with these counts, at least N0: as expected, or (with a generator) one possible outcome."""
        added, bounds = count - self.base, self.evidence.estimate.bounds
        if rng is None:
            middle = np.clip(self.possible.middle, bounds.low, bounds.high)
        else:
            middle = np.clip(self.possible.draw(rng), bounds.low, bounds.high)
            noise = pair_noise(rng, count.shape, symmetric=self.symmetric)
            middle = np.clip(middle + np.sqrt(self.variance / np.maximum(added, 1)) * noise, bounds.low, bounds.high)
        total = np.maximum(count, 1e-300)
        mean = np.where(count > 0, (self.base * self.moments.mean + added * middle) / total, 0.0)
        variance = None if self.moments.variance is None else self.variance
        events = int((count > 0).sum()) // (2 if self.symmetric else 1)
        # Cells that enter no gain count as events, but nobody need work out their intervals.
        share = self.moments.unrecorded
        share = None if share is None else share * self.base / total  # what is added is taken to be recorded
        changed = Moments(np.where(self.matters, count, 0.0), mean, variance, max(events, 1), unrecorded=share)
        return replace(self.evidence, estimate=replace(self.evidence.estimate, moments=changed))

    def bound(self, evidence: PairEvidence, design: StrategyDesign) -> GainBound:
        """Return the bounds that the certificate takes the largest of."""
        return self._sought.bound(evidence, design)

    @cached_property
    def steps(self) -> SoughtAgainst | None:
        """The certificate against steps; None where single deviations are all that there is."""
        if self.against is None or self.against.is_plain:
            return None
        return SoughtAgainst(self.strategy, self.against, self.evidence, self.delta, self.fresh, self.declared)

    @cached_property
    def _sought(self) -> Sought:
        return Sought.of(self.strategy, self.declared or self.spaces, self.delta, fresh=self.fresh)

    def now(self) -> float:
        """Return the certificate of what is there: of the log, or (fresh) of the range alone."""
        evidence = self.with_counts(self.base) if self.fresh else self.evidence
        return self._gap(evidence)

    def predicted(self, count: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the certificates that these counts give in some possible outcomes, in increasing order."""
        return np.sort([self._gap(self.with_counts(count, rng)) for _ in range(DRAWS)])

    def predicted_at_random(self, samples: int, rng: np.random.Generator) -> float:
        """Return the mean of the same for random samples: everybody uniform, or assignments that are allowed."""
        if self.allowed is not None:
            return self.predicted_from(self.allowed.drawn, samples, rng)
        chance, found = self._chance, []
        n = chance.shape[1]
        upper = as_cells(np.triu(np.ones((1, n, n), dtype=bool), 1), chance)
        for _ in range(DRAWS):
            met = np.where(upper, rng.binomial(samples, chance), 0)
            found.append(self._gap(self.with_counts(self.base + met + np.swapaxes(met, 1, 2), rng)))
        return float(np.mean(found))

    def predicted_from(self, profiles: Sequence[BoolArray], samples: int, rng: np.random.Generator) -> float:
        """Return the mean of the same if these joint actions are played in turn."""
        often = np.bincount(np.arange(samples) % len(profiles), minlength=len(profiles))
        met = self.evidence.unknowns.observed(np.stack(profiles), often)
        return float(self.predicted(self.base + met, rng).mean())

    def limit(self, rng: np.random.Generator) -> float:
        """Return the gap that is expected of the profile: what any number of samples would still leave."""
        against = self.against or Against(self.spaces)
        bounds, names = self.evidence.estimate.bounds, (self.strategy.agents, self.strategy.coalitions)
        drawn = (np.clip(self.possible.draw(rng), bounds.low, bounds.high) for _ in range(DRAWS))
        games = (self.evidence.unknowns.game(means, self.spaces, *names) for means in drawn)
        return float(np.mean([against.gap(game, self.strategy) for game in games]))

    @cached_property
    def _chance(self) -> FloatArray:
        """The probability that uniformly random actions bring a pair together, in the shape of the counts."""
        return self.evidence.unknowns.chances(self.spaces.uniform_marginals())

    def _gap(self, evidence: PairEvidence) -> float:
        if self.steps is not None:
            return self.steps.gap(evidence)
        design = evidence.design(self.strategy)
        return max(0.0, worst_deviations(self.bound(evidence, design), self.spaces).largest)


def as_cells(values: NDArray[Any], like: FloatArray) -> NDArray[Any]:
    """Return values by pair (t, n, n) so that they fit an array of counts, with or without sizes."""
    return values[..., None] if like.ndim == 4 else values
