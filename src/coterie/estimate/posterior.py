"""Which means of pairs a log leaves possible: a posterior in which coalitions, agents and pairs have effects.

The model is that of `coterie.estimate.effects`: effects of the coalition, of its size, of the one who rates and the one
who is rated, and of the pair, each common to all coalitions and in each of them. What data tell is decided by their
variances, which are estimated (the most likely ones, and of short logs all that are possible,
`coterie.estimate.variance_draws`): effects that a log does not show vanish, and cells that were never seen borrow from
those that share an effect with them. Given the variances everything is normal and exact.

The product of two agents' effects (Tukey's one degree of freedom for non-additivity) is there where it pays, since
skills may multiply: a sum then expects too much of whoever joins a team that is better than she is, which is what
certificates ask about. It is made of effects that were estimated without it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import TooLargeError
from coterie.estimate.effects import Cells, Conditioned, Variances
from coterie.estimate.intervals import Moments
from coterie.estimate.variance_draws import KEPT, MOST_STEPS, STEPS, Ratios, drawn_ratios
from coterie.statistics.pair_statistics import DENSE_AGENTS

ROUNDS = 30
"""Steps to the best variances at most; the last is where the next is not expected to pay."""

PAYS = 0.005
"""A step pays if the logarithm of the likelihood is expected to grow by so much."""

PRODUCT_PAYS = 3.0
"""The product stays if the logarithm of the likelihood grows by so much."""

WORK = 4e10
"""Steps end when their costs come to so many operations; coalitions have effects in common if ten steps cost less."""

THRIFT = 3.0
"""An effect that takes up the whole spread of observed means is a priori so much less likely, in logarithms."""

LEAST_SPREAD = 1e-6
"""Variances are at least so large, in squares of half the range."""

FEW = 6
"""Fewer observed cells (each pair of a symmetric log has two) say nothing about how means differ."""

LEAST_SHARPNESS = 0.1
"""Directions of variances in which the log tells hardly anything are taken to be so sharp, of 1."""

OTHERS = 16
"""So many other variances near the most likely ones stand for all that are possible."""

WALK = 2.5e9
"""A walk through the variances that are possible may cost so many operations."""

CLEAR = 0.05
"""Where all means were seen, and their noise is on average less than this share of what they differ by, it hardly
matters what variances are."""

LEAST_NOISE = 1e-9
"""The square of noise is at least so large, in units of what was first taken for its variance."""

DOUBT = 4
"""How many degrees of freedom the first idea of the variance of values is worth."""


def never() -> bool:
    """Return that it is not enough: variances settle until they do."""
    return False


def means_left_possible(
    moments: Moments, half_range: float, *, symmetric: bool, enough: Callable[[], bool] = never
) -> "PossibleMeans":
    """Return the posterior of all means, given what was observed; variances settle until `enough` says so.

    Half the range is the declared scale of utilities where they have one. Arrays over all pairs are needed.
    """
    if moments.mean.ndim < 3:
        raise TooLargeError(
            f"what a log leaves possible is worked out for up to {DENSE_AGENTS} agents; a part of it, such as a "
            "department, may be small enough"
        )
    variance, worth = variance_of_values(moments, half_range), moments.effective
    error = np.divide(variance, worth, out=np.full_like(worth, np.inf), where=worth > 0)
    noise = noise_by_size(moments.count, variance) if worth.ndim == 4 else None
    found = possible_means(moments.mean, error, half_range, symmetric=symmetric, noise=noise, enough=enough)
    return replace(found, within=within_pairs(moments, variance, symmetric=symmetric))


def within_pairs(moments: Moments, variance: FloatArray, *, symmetric: bool) -> tuple[float, float]:
    """Return the squares of values around their pair's mean, in units of their variance, and how many are free.

    All together: each pair's variance is drawn to its own squares, so one by one they are too small beside it.
    """
    spare = np.maximum(moments.count - 1, 0.0) / (2 if symmetric else 1)  # both orders of a pair stand there
    if moments.variance is None or not (spare * variance).any():
        return 0.0, 0.0
    free = float(spare.sum())
    return free * float((spare * moments.variance).sum()) / float((spare * variance).sum()), free


def noise_by_size(count: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the variance of the average noise of each coalition at each size, (t, n + 1), if all pairs share it.

    It is that of one value divided by how many samples had this size, in each of which s (s - 1) ordered pairs meet;
    0 where none had.
    """
    size, often = np.arange(count.shape[3]), count.sum(axis=(1, 2))
    usual = float(np.average(variance, weights=count)) if often.any() else 0.0
    return np.asarray(np.divide(usual * size * (size - 1), often, out=np.zeros_like(often), where=often > 0))


def variance_of_values(moments: Moments, half_range: float) -> FloatArray:
    """Return the variance of every pair's values, drawn to the average of all by as much as chance makes them differ.

    Expected under an inverse chi-squared prior that has their mean u and what their variance exceeds that of
    normal samples by, D: (w u + (N_e - 1) s_e^2) / (w + N_e - 1) with w = 2 + 2 u^2 / D. As a first idea, which a
    few repeated values overrule, half of what observed means differ by is noise.
    """
    seen, within = moments.count > 0, moments.variance
    if within is None:
        within = np.zeros_like(moments.count)
    spare, doubt = np.maximum(moments.count - 1, 0.0) * (moments.variance is not None), DOUBT / moments.stands
    many = moments.stands * np.count_nonzero(seen) >= FEW
    first = min(float(moments.mean[seen].var()) / 2, half_range**2) if many else half_range**2
    usual = (float((spare * within).sum()) + doubt * first) / (float(spare.sum()) + doubt)
    if usual == 0 or not spare.any():
        return np.full_like(spare, usual)
    by_chance = 2 * np.count_nonzero(spare) / float(spare.sum())
    excess = float(np.average((within / usual - 1) ** 2, weights=spare)) - by_chance
    weight = 2 + 2 / max(excess, 1e-3)
    return np.asarray((weight * usual + spare * within) / (weight + spare))


@dataclass(frozen=True, eq=False)
class PossibleMeans:
    """The posterior of all pairs' means, given the variances of the effects that they are sums of."""

    mean: FloatArray
    """What was observed, shape (t, n, n) or by size (t, n, n, n + 1)."""
    error: FloatArray
    """The variance of each observed mean, infinite where there is none."""
    symmetric: bool
    centre: float
    """What all means are around."""
    variances: Variances
    """Of every part, see `coterie.estimate.effects`."""
    product: FloatArray | None = None
    """The product of two agents' effects, shape (t, n, n), if that is a part."""
    joined: bool = True
    """Whether coalitions have effects in common; if not, each is a matter of its own."""
    thrift: float = 0.0
    """The prior density of variances is exp(-thrift x their sum, but for noise): effects must earn their place."""
    noise: FloatArray | None = None
    """The variance of the noise of each level, (t, sizes), if the pairs of a coalition share it all; None: nothing."""
    within: tuple[float, float] = (0.0, 0.0)
    """What is known of noise from repeated values, see `within_pairs`."""

    @cached_property
    def parts(self) -> list[str]:
        """The names of all variances that are estimated."""
        families = self._blocks[0].families.values()
        return [*(name for family in families for name in family.patterns if name != "centre"), "rest"]

    # --- What is expected -----------------------------------------------------------------------------

    @cached_property
    def middle(self) -> FloatArray:
        """The expected mean of every pair."""
        return self._from_blocks([block.expected for block in self._conditioned])

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw the means of all pairs."""
        return self._from_blocks([block.drawn(rng) for block in self._conditioned])

    def covariance(self, forms: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations of all means, from their coefficients (forms, *shape of mean).

        What they are expected to be is the same combination of `middle`, and of each draw one joint draw of them.
        """
        found = np.zeros((len(forms), len(forms)))
        for tables, block in zip(self._tables, self._conditioned, strict=True):
            coefficients = np.stack([self._summed(form[tables]) for form in forms])
            found += block.covariance(coefficients)
        return found

    @cached_property
    def agent_effects(self) -> list[FloatArray]:
        """The expected effects of those who rate and (where that is another thing) of those who are rated, (t, n)."""
        roles = ["rater"] if self.symmetric else ["rater", "rated"]
        found = [[block.effects[role].T for role in roles] for block in self._conditioned]
        return [np.concatenate(by_block) for by_block in zip(*found, strict=True)]

    # --- Variances ------------------------------------------------------------------------------------

    @cached_property
    def log_density(self) -> float:
        """The logarithm of the likelihood and of the prior density of the variances, up to a constant."""
        by_data = sum(block.log_likelihood for block in self._conditioned)
        return by_data - sum(self.variances[name] * price for name, price in zip(self.parts, self._prices, strict=True))

    @property
    def _prices(self) -> list[float]:
        return [0.0 if name in {"rest", "shared"} else self.thrift for name in self.parts]

    def settled(self, least: float, enough: Callable[[], bool] = never) -> "PossibleMeans":
        """Return the same with the variances that are most likely, each at least `least`."""
        now = self
        for _ in range(int(np.clip(WORK / self._cost, 1, ROUNDS))):
            if enough():
                break
            now, gain = now.step(least)
            if gain < PAYS:
                break
        return now

    def step(self, least: float) -> tuple["PossibleMeans", float]:
        """Return it with likelier variances, and how much a step from here was expected to gain.

        A step of Newton's method with the average of observed and expected information (Gilmour, Thompson and Cullis
        1995), shortened if it does not pay. Where that fails variances are `multiplied`, which never makes them less
        likely (Zhou, Hu, Zhou and Lange 2019, MM algorithms for variance components models).
        """
        now, (squares, taken, information) = self._now, self._slopes
        slope = (squares - taken) / 2
        towards = newton_step(now, slope, information, least)
        gain = float(towards @ (slope - information @ towards / 2))
        for length in (1.0, 0.3) if gain > 0 else ():
            most = np.minimum(10 * now + now.sum() / 10, self._most)
            found = self._with(np.clip(now + length * towards, least, most))
            if found.log_density >= self.log_density + 0.1 * min(length * gain, 1.0):
                return found, gain
        found = self.multiplied(least)
        return found, max(gain, 10 * (found.log_density - self.log_density))

    def multiplied(self, least: float) -> "PossibleMeans":
        """Return it with variances times the root of (squares of what is expected) / (variance that data took away)."""
        squares, taken, _ = self._slopes
        ratio = np.sqrt(np.divide(squares, taken, out=np.ones_like(taken), where=taken > 0))
        return self._with(np.clip(self._now * ratio, least, self._most))

    def walked(self, least: float, enough: Callable[[], bool] = never) -> "tuple[PossibleMeans, ...]":
        """Return the same with variances and noise that are possible too, as often as they are likely, from `least` on.

        Nothing where few values say nothing of them, or so many values, or people, that a walk and what is expected at
        its steps would take too long, or where all means are clear without them. They are a matter of the log, not of
        chance: the same log has the same.
        """
        values = np.count_nonzero(np.isfinite(self.error)) / (2 if self.symmetric else 1)
        steps = int(min(MOST_STEPS, 3 * WALK / max(values, 1.0) ** 3)) // KEPT * KEPT
        if values < FEW or steps < STEPS or not self.joined or KEPT * self._cost > WORK or self.noise is not None:
            return ()
        if (cells := self._blocks[0]).error.mean() < CLEAR * cells.mean.var():  # infinite where some were never seen
            return ()
        # One level of all means is what the centre is.
        names = [name for name in self.parts if name != "level" or len(self.mean) > 1]
        now, found = np.array([self.variances[name] for name in names]), []
        for ratios, noise in drawn_ratios(self._ratios(names, least), now, np.random.default_rng(0), enough, steps):
            drawn = dict(zip(names, np.maximum(ratios * noise, least).tolist(), strict=True))
            found.append(replace(self, error=self.error * noise, variances={**self.variances, **drawn}))
        return tuple(found)

    def _ratios(self, names: list[str], least: float) -> Ratios:
        """Return what observed means tell of variances, in units of the noise: each is a total of one unknown.

        How values differ that a pair had repeatedly tells of the noise alone.
        """
        (every,), (squares, spare) = self._blocks, self.within
        cells = every.of_pairs(np.asarray(every.seen.any(axis=(1, 2, 3))))  # most may never have met
        seen = np.isfinite(cells.error).ravel()
        scale = 1 / np.sqrt(np.maximum(cells.error.ravel()[seen], least))
        priors = {name: cells.prior_of(name) for name in [*names, "centre"]}
        kernels = {name: scale[:, None] * prior[np.ix_(seen, seen)] * scale for name, prior in priors.items()}
        weights = np.array([float(np.trace(priors[name])) / len(seen) for name in names])
        always = np.eye(len(scale)) + self.variances["centre"] * kernels["centre"]
        count = len(scale) + spare
        totals, left = scale * cells.mean.ravel()[seen], squares + LEAST_NOISE * count
        return Ratios([kernels[name] for name in names], weights, always, totals, left, count)

    def others(self, least: float) -> "tuple[PossibleMeans, ...]":
        """Return the same with other variances near these; this alone where that would take too long.

        Near the most likely ones their logarithmic density is a parabola with the average information, so they are
        drawn from a normal distribution, of what it has above `least`. They are a matter of the log, not of chance: the
        same log has the same.
        """
        if OTHERS * self._cost > WORK:
            return (self,)
        information = self._slopes[2]
        # Of what the log tells nothing, a variance may be as large as all of them together.
        scale = np.sqrt(np.maximum(np.diag(information), 1 / self._now.sum() ** 2))
        values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
        # The symmetric one, as in `effects.symmetric_root`: drawn alike on every processor.
        root = (vectors / np.sqrt(np.maximum(values, LEAST_SHARPNESS))) @ vectors.T / scale[:, None]
        rng, centre = np.random.default_rng(0), self._now + root @ (root.T @ np.array(self._prices))
        drawn = [centre + root @ rng.normal(size=len(root)) for _ in range(OTHERS)]
        return tuple(self._with(np.clip(one, least, np.minimum(self._most, 4 * self._now.sum()))) for one in drawn)

    @property
    def _most(self) -> FloatArray:
        """What is shared of the noise is a share of it."""
        return np.array([1.0 if name == "shared" else np.inf for name in self.parts])

    @property
    def _now(self) -> FloatArray:
        return np.array([self.variances[name] for name in self.parts])

    def _with(self, variances: FloatArray) -> "PossibleMeans":
        return replace(self, variances={**self.variances, **dict(zip(self.parts, variances.tolist(), strict=True))})

    @cached_property
    def _slopes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For every variance y'V^-1 V_q V^-1 y and tr(V^-1 V_q), with its price; their average information."""
        count = len(self.parts)
        squares, taken, information = np.zeros(count), np.zeros(count), np.zeros((count, count))
        for block in self._conditioned:
            applied = np.stack([block.applied(name, block.weighted).ravel() for name in self.parts])
            solved = np.stack([block.residual(one.reshape(block.weighted.shape)).ravel() for one in applied])
            squares += applied @ block.weighted.ravel()
            information += applied @ solved.T / 2
            traces = block.traces()
            taken += np.array([traces[name] for name in self.parts])
        return squares, taken + 2 * np.array(self._prices), (information + information.T) / 2

    # --- Blocks of coalitions that have effects in common ---------------------------------------------

    @cached_property
    def _tables(self) -> list[IntArray]:
        tables = np.arange(len(self.mean))
        return [tables] if self.joined else list(tables[:, None])

    @cached_property
    def _blocks(self) -> list[Cells]:
        first, second = self._pairs
        seen = np.isfinite(self.error)
        centred = np.where(seen, self.mean - self.centre, 0.0)
        slope = slope_over(self.error) if self.mean.ndim == 4 else None
        return [
            Cells(
                self._taken(centred[tables]),
                self._taken(self.error[tables]),
                None if self.product is None else self._taken(self.product[tables])[..., 0],
                first,
                second,
                self.mean.shape[1],
                slope,
                None if self.noise is None else self.noise[tables],
            )
            for tables in self._tables
        ]

    @cached_property
    def _conditioned(self) -> list[Conditioned]:
        return [Conditioned(cells, self.variances) for cells in self._blocks]

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        first, second = np.triu_indices(self.mean.shape[1], 1)
        return first, second

    def _taken(self, values: FloatArray) -> FloatArray:
        """Return (t, n, n) or (t, n, n, sizes) as cells of pairs."""
        first, second = self._pairs
        orders = [values[:, first, second]] if self.symmetric else [values[:, first, second], values[:, second, first]]
        found = np.stack(orders, axis=1)
        found = found if values.ndim == 4 else found[..., None]
        return np.ascontiguousarray(found.transpose(2, 1, 0, 3))

    def _summed(self, coefficients: FloatArray) -> FloatArray:
        """Return coefficients as cells: those of both orders together where they are one unknown."""
        both = coefficients + np.swapaxes(coefficients, 1, 2) if self.symmetric else coefficients
        return self._taken(both)

    def _from_blocks(self, found: list[FloatArray]) -> FloatArray:
        """Return an array of all means, from the centre on in cells of pairs; nobody's with herself is the centre."""
        first, second = self._pairs
        table = np.full(self.mean.shape, self.centre)
        for tables, cells in zip(self._tables, found, strict=True):
            values = self.centre + cells.transpose(1, 2, 0, 3)
            values = values if self.mean.ndim == 4 else values[..., 0]
            for order, (i, j) in zip((0, -1), ((first, second), (second, first)), strict=True):
                table[tables[:, None], i, j] = values[order]
        return table

    @property
    def _cost(self) -> float:
        """Roughly how many operations a step takes."""
        return cost_of_step(self.mean.shape, symmetric=self.symmetric, joined=self.joined)


def newton_step(now: FloatArray, slope: FloatArray, information: FloatArray, least: float) -> FloatArray:
    """Return the step to where the slope vanishes; variances that would fall below the least stop there."""
    step, free = np.zeros_like(now), (now > least) | (slope > 0)
    scale = np.sqrt(np.maximum(np.diagonal(information), 1e-30 / now**2))  # 0 where means are all at the centre
    ridged = information / scale / scale[:, None] + 1e-6 * np.eye(len(scale))
    while free.any():
        rest = slope / scale - ridged[:, ~free] @ (step * scale)[~free]
        step[free] = np.linalg.solve(ridged[np.ix_(free, free)], rest[free]) / scale[free]
        low = free & (now + step < least)
        if not low.any():
            break
        step[low] = least - now[low]
        free &= ~low
    return step


def cost_of_step(shape: tuple[int, ...], *, symmetric: bool, joined: bool) -> float:
    """Return roughly how many operations a step to better variances takes for means in arrays of this shape."""
    t, n = shape[:2]
    orders, sizes = 1 if symmetric else 2, shape[3] if len(shape) == 4 else 1
    blocks, k = (1, t) if joined else (t, 1)
    own, levels = orders * k, k * sizes
    agents = orders * n * k + levels
    pairs = n**2 / 2 * (8 * own**3 + own**2 * levels + own * levels**2)
    return float(blocks * (4.0 * agents**3 + pairs + 100 * n**2 * own * sizes))


def possible_means(
    mean: FloatArray,
    error: FloatArray,
    half_range: float,
    *,
    symmetric: bool,
    noise: FloatArray | None = None,
    enough: Callable[[], bool] = never,
) -> PossibleMeans:
    """Return the posterior of pairs' means that were observed with these variances, and this noise of levels by size.

    Where only a few cells were observed, means may be anywhere in the range. With so many agents and coalitions that
    effects in common would take too long, every coalition is a matter of its own, but for the variances.
    """
    seen = np.isfinite(error)
    few = np.count_nonzero(seen) < FEW
    spread = half_range**2 / 3 if few else max(float(mean[seen].var()), LEAST_SPREAD * half_range**2)
    weight = 1 / (error + spread)
    centre = float((weight * mean).sum() / weight.sum()) if seen.any() else 0.0
    joined = 10 * cost_of_step(mean.shape, symmetric=symmetric, joined=True) < WORK
    empty = PossibleMeans(mean, error, symmetric, centre, {}, joined=joined, thrift=THRIFT / spread, noise=noise)
    start = replace(empty, variances={**first_idea(empty.parts, spread), "centre": 0.0})
    if few:
        return start
    if joined:
        start = replace(start, variances={**start.variances, "centre": half_range**2 / 3})
    # Rounding must not make anything singular where means are exactly additive.
    least = max(LEAST_SPREAD * half_range**2, 1e-9 * spread)
    return with_product(start.settled(least, enough), least, enough)


def slope_over(error: FloatArray) -> FloatArray:
    """Return sizes, from the average size of what was observed on, in units of their spread (at least half a size)."""
    size, often = np.arange(error.shape[3], dtype=np.float64), np.isfinite(error).sum(axis=(0, 1, 2)) * 1.0
    if not often.any():
        often = np.ones_like(often)
    size -= np.average(size, weights=often)
    return np.asarray(size / max(float(np.sqrt(np.average(size**2, weights=often))), 0.5))


def first_idea(parts: list[str], spread: float) -> dict[str, float]:
    """Return variances of the parts: a third of the spread each for levels, for an agent and for pairs and the rest."""
    kinds = {"rater": "rater", "rated": "rated", "pair": "pair", "mutual": "pair", "rest": "pair"}
    kind = {name: kinds.get(name.split(",")[0], "level") for name in parts}
    often = [list(kind.values()).count(kind[name]) for name in parts]
    found = {name: spread / 3 / count for name, count in zip(parts, often, strict=True)}
    return {**found, "shared": 0.5} if "shared" in parts else found


def with_product(additive: PossibleMeans, least: float, enough: Callable[[], bool] = never) -> PossibleMeans:
    """Return the posterior with the product of the agents' effects that are expected now, where that pays."""
    if enough():
        return additive
    effects = additive.agent_effects
    usual = max(float((effects[0] ** 2).mean()), least)
    product = effects[0][:, :, None] * effects[-1][:, None, :] / usual
    start = replace(additive, product=product, variances={**additive.variances, "product": max(usual / 10, least)})
    first, gain = start.step(least)
    needed = additive.log_density + PRODUCT_PAYS
    if max(start.log_density + gain, first.log_density) <= needed:
        return additive
    found = first.settled(least, enough)
    return found if found.log_density > needed else additive


def pair_noise(rng: np.random.Generator, shape: tuple[int, ...], *, symmetric: bool) -> FloatArray:
    """Draw standard normal numbers for all pairs, the same for both orders where these are one unknown."""
    drawn = rng.normal(size=shape)
    if not symmetric:
        return drawn
    upper: BoolArray = np.triu(np.ones(shape[1:3], dtype=bool), 1)
    return np.where(upper[..., None] if len(shape) == 4 else upper, drawn, np.swapaxes(drawn, 1, 2))
