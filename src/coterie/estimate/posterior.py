"""Which means of pairs a log leaves possible: draws from a posterior in which agents have effects of their own.

In every coalition the mean of pair (i, j) is taken to be (where sizes count, e_ij is another one at each size)

    mu_ij = m + a_i + b_j + g p_ij + e_ij,   m ~ N(centre, L),  a, b, g ~ N(0, A),  e ~ N(0, E),

with p_ij = a^_i b^_j / A, and a = b where both orders of a pair are one unknown. The product (Tukey's one degree of
freedom for non-additivity) is there since skills often multiply: a sum then expects too much of whoever joins a team
that is better than she is, which is what certificates ask about. a^ and b^ are estimated without it.

The observed mean of a pair is normal around mu_ij. L, A and E are estimated from all coalitions together
(the most likely ones). Given them everything is normal: with e integrated out, (m, g, a, b) of a coalition
have a posterior of dimension 2 + n (or 2 + 2n), and given these the e_ij are independent.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.estimate.intervals import Moments

ROUNDS = 100
"""Steps to the best L, A and E at most; the last is where none moves by more than CLOSE of itself."""

CLOSE = 0.003

WORK = 5e9
"""With so many agents that the steps' costs (n^3 for each coalition) would come to more than this, fewer are made."""

LEAST_SPREAD = 1e-4
"""L, A and E are at least so large, in squares of half the range."""

FEW = 6
"""Fewer observed cells (each pair of a symmetric log has two) say nothing about how means differ."""

DOUBT = 4
"""How many degrees of freedom the first idea of the variance of values is worth."""


def means_left_possible(
    moments: Moments, half_range: float, *, symmetric: bool, check: Callable[[], None] | None = None
) -> "PossibleMeans":
    """Return the posterior of all means, given what was observed; `check` is called now and then, and may raise.

    Half the range is the declared scale of utilities where they have one.
    """
    variance, worth = variance_of_values(moments, half_range), moments.effective
    error = np.divide(variance, worth, out=np.full_like(worth, np.inf), where=worth > 0)
    return possible_means(moments.mean, error, half_range, symmetric=symmetric, check=check)


def variance_of_values(moments: Moments, half_range: float) -> FloatArray:
    """Return the variance of every pair's values, drawn to the average of all by as much as chance makes them differ.

    Expected under an inverse chi-squared prior that has their mean u and what their variance exceeds that of
    normal samples by, D: (w u + (N_e - 1) s_e^2) / (w + N_e - 1) with w = 2 + 2 u^2 / D. As a first idea, which a
    few repeated values overrule, half of what observed means differ by is noise.
    """
    seen, within = moments.count > 0, moments.variance
    if within is None:
        within = np.zeros_like(moments.count)
    spare = np.maximum(moments.count - 1, 0.0) * (moments.variance is not None)
    first = min(float(moments.mean[seen].var()) / 2, half_range**2) if np.count_nonzero(seen) >= FEW else half_range**2
    usual = (float((spare * within).sum()) + DOUBT * first) / (float(spare.sum()) + DOUBT)
    if usual == 0 or not spare.any():
        return np.full_like(spare, usual)
    by_chance = 2 * np.count_nonzero(spare) / float(spare.sum())
    excess = float(np.average((within / usual - 1) ** 2, weights=spare)) - by_chance
    weight = 2 + 2 / max(excess, 1e-3)
    return np.asarray((weight * usual + spare * within) / (weight + spare))


@dataclass(frozen=True, eq=False)
class PossibleMeans:
    """The posterior of all pairs' means, given the variances of its parts."""

    mean: FloatArray
    """What was observed, shape (t, n, n) or by size (t, n, n, n + 1)."""
    error: FloatArray
    """The variance of each observed mean, infinite where there is none."""
    symmetric: bool
    centre: float
    """What the m of all coalitions are around."""
    levels: float
    """L, the variance of m."""
    effects: float
    """A, the variance of a, b and g."""
    rest: float
    """E, the variance of e."""
    product: FloatArray
    """p, shape (t, n, n)."""

    def settled(self, least: float, check: Callable[[], None] | None = None) -> "PossibleMeans":
        """Return the same with the L, A and E that are most likely, each at least `least`."""
        tables, n = self.mean.shape[:2]
        now = self
        for _ in range(int(np.clip(WORK / (tables * n**3), 1, ROUNDS))):
            if check is not None:
                check()
            before, now = now, now._step(least)
            ratios = (now.levels / before.levels, now.effects / before.effects, now.rest / before.rest)
            if max(abs(ratio - 1) for ratio in ratios) < CLOSE:
                break
        return now

    def with_product(self) -> "PossibleMeans":
        """Return the same with the product of the effects that are expected now."""
        a, b = np.split((self._expected @ self._tie.T)[:, 2:], 2, axis=1)
        return replace(self, product=a[:, :, None] * b[:, None, :] / self.effects)

    def _step(self, least: float) -> "PossibleMeans":
        """Return it with L, A and E times the root of (squares of what is expected) / (variance that data took away).

        The two are equal where the likelihood is largest; steps so long never lower it, and unlike those of EM do
        not tire near 0 (Zhou, Hu, Zhou and Lange 2019, MM algorithms for variance components models).
        """
        covariance, seen = np.swapaxes(self._root, 1, 2) @ self._root, np.isfinite(self.error)
        found, left = self._expected, np.diagonal(covariance, axis1=1, axis2=2)
        pull = self.rest * self._weight
        missed = (pull * (self.mean - self._like(self._sums(found))))[seen]
        taken = (pull * self.rest - pull**2 * self._like(self._uncertainty(covariance)))[seen]
        return replace(
            self,
            levels=max(self.levels * _ratio(found[:, 0], self.levels - left[:, 0]), least),
            effects=max(self.effects * _ratio(found[:, 1:], self.effects - left[:, 1:]), least),
            rest=max(self.rest * _ratio(missed, taken), least),
        )

    @cached_property
    def middle(self) -> FloatArray:
        """The expected mean of every pair."""
        return self._around(self._sums(self._expected))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw the means of all pairs."""
        effects = self._expected + np.einsum("tf,tfg->tg", rng.normal(size=self._expected.shape), self._root)
        spread = np.sqrt(self.rest * (1 - self.rest * self._weight))
        return self._around(self._sums(effects)) + spread * pair_noise(rng, self.mean.shape, symmetric=self.symmetric)

    def _around(self, sums: FloatArray) -> FloatArray:
        """Return the expected means given m + a_i + b_j + g p_ij."""
        sums = self._like(sums)
        return np.asarray(sums + self.rest * self._weight * (self.mean - sums))

    @cached_property
    def _weight(self) -> FloatArray:
        """1 / (error + E): 0 where nothing was observed."""
        return 1 / (self.error + self.rest)

    @cached_property
    def _tie(self) -> FloatArray:
        """All of (m, g, a, b) from the unknowns, which are (m, g, a) where a = b."""
        n = self.mean.shape[1]
        return np.vstack([np.eye(2 + n), np.eye(n, 2 + n, 2)]) if self.symmetric else np.eye(2 + 2 * n)

    @cached_property
    def _features(self) -> FloatArray:
        """What m and g are multiplied by, shape (t, n, n, 2)."""
        return np.stack([np.ones_like(self.product), self.product], axis=-1)

    @cached_property
    def _precision(self) -> FloatArray:
        """The inverse covariance of (m, g, a, b) of every coalition."""
        weight, n = self._by_pair(self._weight), self.mean.shape[1]
        joint, x = np.zeros((len(weight), 2 + 2 * n, 2 + 2 * n)), self._features
        across = np.concatenate([np.einsum("tij,tijf->tfi", weight, x), np.einsum("tij,tijf->tfj", weight, x)], axis=2)
        joint[:, :2, :2] = np.einsum("tij,tijf,tijg->tfg", weight, x, x)
        joint[:, :2, 2:], joint[:, 2:, :2] = across, np.swapaxes(across, 1, 2)
        joint[:, 2 : 2 + n, 2 + n :], joint[:, 2 + n :, 2 : 2 + n] = weight, np.swapaxes(weight, 1, 2)
        agents = np.arange(2, 2 + 2 * n)
        joint[:, agents, agents] = across[:, 0]  # the first feature is 1
        tied = self._tie.T @ joint @ self._tie
        before = np.full(tied.shape[1], 1 / self.effects)
        before[0] = 1 / self.levels
        return np.asarray(tied + np.diag(before))

    @cached_property
    def _root(self) -> FloatArray:
        """R with R'R the covariance of (m, g, a, b)."""
        return np.linalg.inv(np.linalg.cholesky(self._precision))

    @cached_property
    def _expected(self) -> FloatArray:
        """The expected (m, g, a, b) of every coalition, m from the centre on."""
        off = self._by_pair(self._weight * (self.mean - self.centre))
        of_features = np.einsum("tij,tijf->tf", off, self._features)
        moment = np.concatenate([of_features, off.sum(axis=2), off.sum(axis=1)], axis=1) @ self._tie
        return np.asarray(np.linalg.solve(self._precision, moment[..., None])[..., 0])

    def _sums(self, effects: FloatArray) -> FloatArray:
        """Return m + a_i + b_j + g p_ij of every pair."""
        by_all = effects @ self._tie.T
        a, b = np.split(by_all[:, 2:], 2, axis=1)
        common = self.centre + np.einsum("tijf,tf->tij", self._features, by_all[:, :2])
        return np.asarray(common + (a[:, :, None] + b[:, None, :]))  # the same in both orders, to the last digit

    def _uncertainty(self, covariance: FloatArray) -> FloatArray:
        """Return the variance of m + a_i + b_j + g p_ij of every pair."""
        joint, x, n = self._tie @ covariance @ self._tie.T, self._features, self.mean.shape[1]
        own = np.diagonal(joint, axis1=1, axis2=2)[:, 2:]
        agents = own[:, :n, None] + own[:, None, n:] + 2 * joint[:, 2 : 2 + n, 2 + n :]
        with_a, with_b = joint[:, :2, 2 : 2 + n], joint[:, :2, 2 + n :]
        across = np.einsum("tijf,tfi->tij", x, with_a) + np.einsum("tijf,tfj->tij", x, with_b)
        return np.asarray(np.einsum("tijf,tfg,tijg->tij", x, joint[:, :2, :2], x) + 2 * across + agents)

    def _by_pair(self, cells: FloatArray) -> FloatArray:
        """Return sums over sizes; half of them where every pair stands there in both orders."""
        sums = cells.sum(axis=3) if cells.ndim == 4 else cells
        return sums / 2 if self.symmetric else sums

    def _like(self, pairs: FloatArray) -> FloatArray:
        return pairs[..., None] if self.mean.ndim == 4 else pairs


def possible_means(
    mean: FloatArray, error: FloatArray, half_range: float, *, symmetric: bool, check: Callable[[], None] | None = None
) -> PossibleMeans:
    """Return the posterior of pairs' means that were observed with these variances.

    The centre is the weighted mean of what was observed, and taken to be known. Where only a few cells
    were observed, means may be anywhere in the range.
    """
    seen = np.isfinite(error)
    few = np.count_nonzero(seen) < FEW
    spread = half_range**2 / 3 if few else max(float(mean[seen].var()), LEAST_SPREAD * half_range**2)
    weight = 1 / (error + spread)
    centre = float((weight * mean).sum() / weight.sum()) if seen.any() else 0.0
    third = spread / 3
    start = PossibleMeans(mean, error, symmetric, centre, third, third, third, np.zeros(mean.shape[:3]))
    if few:
        return start
    # Rounding must not make the precision of exactly additive means singular.
    least = max(LEAST_SPREAD * half_range**2, 1e-9 * spread)
    return start.settled(least, check).with_product().settled(least, check)


def _ratio(expected: FloatArray, taken: FloatArray) -> float:
    total = float(taken.sum())
    return float(np.sqrt((expected**2).sum() / total)) if total > 0 else 1.0


def pair_noise(rng: np.random.Generator, shape: tuple[int, ...], *, symmetric: bool) -> FloatArray:
    """Draw standard normal numbers for all pairs, the same for both orders where these are one unknown."""
    drawn = rng.normal(size=shape)
    if not symmetric:
        return drawn
    upper: BoolArray = np.triu(np.ones(shape[1:3], dtype=bool), 1)
    return np.where(upper[..., None] if len(shape) == 4 else upper, drawn, np.swapaxes(drawn, 1, 2))
