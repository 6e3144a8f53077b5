"""A firm in which everybody works in one area a month and teammates rate each other in half stars, with known truth.

The mean of a rating before rounding is that of `coterie.simulate.effects`; a rating is rounded to half stars from 1 to
5, and the truth is the mean of the rounded one. Teams change slowly: every month some people move to another area, as
far as sizes allow, and else change places with somebody there. Who moves where does not depend on ratings.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.simulate.effects import Effects
from coterie.simulate.logs import numbered, outcomes, seeded
from coterie.simulate.models import Normal
from coterie.simulate.records import Records

LEAST, MOST, STEP = 1.0, 5.0, 0.5
"""Ratings, in stars."""

NEUTRAL = 3.0
"""The rating that is worth as much as being alone, unless told otherwise: the middle of the scale."""

THRESHOLDS = np.arange(LEAST + STEP / 2, MOST, STEP)
"""From which impression on a rating is half a star better."""


def half_stars(impression: FloatArray) -> FloatArray:
    """Return impressions rounded to half stars from 1 to 5."""
    return np.asarray(LEAST + STEP * np.searchsorted(THRESHOLDS, impression, side="right"), dtype=np.float64)


def mean_half_stars(mean: FloatArray, deviation: FloatArray | float) -> FloatArray:
    """Return the exact mean of a rating whose impression is normal: 1 + sum over thresholds c of Pr[X >= c] / 2."""
    from scipy.special import ndtr  # here, since SciPy is slow to import

    above = np.asarray(mean)[..., None] - THRESHOLDS
    spread = np.broadcast_to(deviation, np.shape(mean))[..., None]
    chances = np.where(spread > 0, ndtr(above / np.where(spread > 0, spread, 1.0)), above >= 0)
    return np.asarray(LEAST + STEP * chances.sum(axis=-1))


@dataclass(frozen=True, eq=False)
class HalfStars(Normal):
    """v = (mu_ij^l + deviation_ij^l Z, rounded to half stars from 1 to 5) - neutral, with Z standard normal."""

    symmetric: bool = False
    neutral: float = NEUTRAL

    @property
    def utility_range(self) -> tuple[float, float]:  # type: ignore[override]
        return LEAST - self.neutral, MOST - self.neutral

    @cached_property
    def means(self) -> FloatArray:
        means = mean_half_stars(self.mu, self.deviation) - self.neutral
        agents = np.arange(self.n_agents)
        means[:, agents, agents] = 0.0
        return means

    def utilities(
        self,
        noise: FloatArray,
        coalition: IntArray,
        agent: IntArray,
        partner: IntArray,
        size: IntArray,  # noqa: ARG002
    ) -> FloatArray:
        cell = (coalition, agent, partner)
        return half_stars(self.mu[cell] + self.deviation[cell] * noise) - self.neutral


STARS = Effects(
    level=3.15,
    area=0.1,
    rater=0.3,
    rater_by_area=0.2,
    rated=0.25,
    rated_by_area=0.25,
    pair=0.25,
    pair_by_area=0.25,
    mutual=0.5,
)
"""How much people and pairs differ, in stars."""


@dataclass(frozen=True)
class FirmPlan:
    """What a firm is like."""

    n_agents: int = 40
    """How many people are in the records, leavers included."""
    n_coalitions: int = 6
    """How many areas there are."""
    months: int = 36
    sizes: tuple[int, int] = (5, 9)
    """The smallest and the largest team."""
    turnover: float = 0.2
    """The probability that somebody moves in a month."""
    leavers: int = 0
    """How many leave before the last month; at the earliest after a third of all months."""
    newcomers: int = 0
    """How many join after the last month: they are on the staff, and have no records and no team."""
    effects: Effects = STARS
    noise: float = 0.6
    """Standard deviation of an impression around its mean, in stars."""
    neutral: float = NEUTRAL

    def __post_init__(self) -> None:
        for name, least in {"n_agents": 2, "n_coalitions": 1, "months": 2, "leavers": 0, "newcomers": 0}.items():
            checks.whole(getattr(self, name), name, least)
        checks.number(self.noise, "noise", 0)
        if not 0 <= checks.number(self.turnover, "turnover", 0) <= 1:
            raise InputError(f"turnover: expected a probability, got {self.turnover:g}")
        if not LEAST <= checks.number(self.neutral, "neutral") <= MOST:
            raise InputError(f"neutral: expected a rating from {LEAST:g} to {MOST:g}, got {self.neutral:g}")
        least, most = self.sizes
        for people in (self.n_agents, self.n_agents - self.leavers):
            if not self.n_coalitions * least <= people <= self.n_coalitions * most:
                raise InputError(
                    f"sizes: {people} people do not fill {self.n_coalitions} teams of {least} to {most} members"
                )


def rated_firm(seed: checks.Seed, plan: FirmPlan | None = None) -> Records:
    """Draw a firm and its records; the same seed and plan give the same firm."""
    plan, rng = plan or FirmPlan(), checks.generator(seed, "seed")
    n, k = plan.n_agents + plan.newcomers, plan.n_coalitions
    mu = plan.effects.draw(rng, k, n)
    deviation = np.full_like(mu, plan.noise)
    model = HalfStars(mu, deviation, symmetric=plan.effects.symmetric, neutral=plan.neutral)
    game = model.game("one", numbered("p", n), numbered("c", k))
    last_month = _last_months(rng, plan)
    area = _careers(rng, plan, last_month)
    joined = np.zeros((plan.months, n, k), dtype=bool)
    joined[:, : plan.n_agents] = area[:, :, None] == np.arange(k)
    stays = [*(last_month == plan.months), *[True] * plan.newcomers]
    return Records(
        truth=game,
        outcomes=outcomes(model, joined, rng),
        feedback="semi-bandit",
        utility_range=(LEAST, MOST),
        neutral=plan.neutral,
        pooled=False,
        staff=tuple(name for name, stay in zip(game.agents, stays, strict=True) if stay),
        unit="stars",
        provenance={"model": "firm", **seeded(seed)},
    )


def _last_months(rng: np.random.Generator, plan: FirmPlan) -> IntArray:
    """Return how many months everybody in the records is there."""
    last = np.full(plan.n_agents, plan.months)
    leaving = rng.choice(plan.n_agents, plan.leavers, replace=False)
    last[leaving] = rng.integers(max(plan.months // 3, 1), plan.months, plan.leavers)
    return last


def _careers(rng: np.random.Generator, plan: FirmPlan, last_month: IntArray) -> IntArray:
    """Return everybody's area in every month, shape (months, n); -1 for those who have left."""
    teams = _Teams(rng, plan)
    areas = np.empty((plan.months, plan.n_agents), dtype=np.int64)
    for month in range(plan.months):
        for agent in np.flatnonzero(last_month == month):
            teams.leaves(int(agent))
        if month:
            moving = (rng.random(plan.n_agents) < plan.turnover) & (last_month > month)
            for agent in rng.permutation(np.flatnonzero(moving)):
                teams.moves(int(agent))
        areas[month] = teams.area
    return areas


class _Teams:
    """Who is in which area now (-1: nowhere); sizes stay within the plan's."""

    def __init__(self, rng: np.random.Generator, plan: FirmPlan) -> None:
        self._rng, (self._least, self._most), self._k = rng, plan.sizes, plan.n_coalitions
        self.area = rng.permutation(np.arange(plan.n_agents) % self._k)
        for agent in rng.integers(plan.n_agents, size=10 * plan.n_agents):  # so that sizes differ from the start
            self.moves(int(agent))

    def moves(self, agent: int) -> None:
        """Move somebody to another area, or let them swap with somebody there."""
        own, sizes = self.area[agent], self._sizes()
        if self._k == 1:
            return
        target = (own + self._rng.integers(1, self._k)) % self._k
        if sizes[target] >= self._most or sizes[own] <= self._least:
            self.area[self._member(target)] = own
        self.area[agent] = target

    def leaves(self, agent: int) -> None:
        """Let somebody leave the firm; where too few are left, somebody comes from the largest team."""
        own, self.area[agent] = self.area[agent], -1
        sizes = self._sizes()
        if sizes[own] < self._least:
            self.area[self._member(int(sizes.argmax()))] = own

    def _sizes(self) -> IntArray:
        return np.bincount(self.area[self.area >= 0], minlength=self._k)

    def _member(self, area: int) -> int:
        return int(self._rng.choice(np.flatnonzero(self.area == area)))
