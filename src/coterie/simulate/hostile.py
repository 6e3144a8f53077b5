"""Games built to break certificates: utilities with the largest variance, plateaus, rare events, crowding.

Each function draws the utility model of one game with n agents and k coalitions. `coterie.reproduce.calibration`
tries every certificate on logs of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.simulate.models import Normal, TimesSize, UtilityModel, utility_model

Draw = Callable[[np.random.Generator, int, int], UtilityModel]
"""Draws the model of a game with so many agents and coalitions."""


@dataclass(frozen=True, eq=False)
class Signs(UtilityModel):
    """v = +1 with probability (1 + mu_ij^l) / 2, else -1: the largest variance that the range allows."""

    mu: FloatArray
    symmetric: bool = True

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return int(self.mu.shape[1])

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return int(self.mu.shape[0])

    @property
    def means(self) -> FloatArray:
        return self.mu

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.random(shape)

    def utilities(
        self, noise: FloatArray, coalition: IntArray, agent: IntArray, partner: IntArray, size: IntArray
    ) -> FloatArray:
        mean = self.mu[coalition, agent, partner]
        if self.size_shift is not None:
            mean = mean + self.size_shift[coalition, size]
        return np.where(noise < (1 + mean) / 2, 1.0, -1.0)


class Crowding(Signs):
    """Signs whose mean falls with the size of the coalition: mu + 0.6 at two members, down to mu - 0.6 at n."""

    @property
    def size_shift(self) -> FloatArray:
        n = self.n_agents
        return np.tile(np.interp(np.arange(n + 1), [2, n], [0.6, -0.6]), (self.n_coalitions, 1))


def _means(rng: np.random.Generator, k: int, n: int, spread: float) -> FloatArray:
    """Draw means of unordered pairs, uniform on [-spread, spread]."""
    upper = np.triu(rng.uniform(-spread, spread, (k, n, n)), 1)
    return upper + np.swapaxes(upper, 1, 2)


def gaussian(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """The Gaussian model of the paper's experiments."""
    return utility_model("gaussian", n, k, rng)


def size_gaussian(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """The size-dependent Gaussian model of the paper's experiments."""
    return utility_model("size-gaussian", n, k, rng)


def signs(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Small means, the largest variance."""
    return Signs(_means(rng, k, n, 0.3))


def plateau(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """All pairs of a coalition are worth the same: deviations gain alike, and a search picks the luckiest."""
    del rng
    mu = np.repeat(np.linspace(-0.1, 0.1, k)[:, None], n * n, axis=1).reshape(k, n, n)
    return Signs(mu * ~np.eye(n, dtype=bool))


def one_sided(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """What i gets from j says nothing about what j gets from i."""
    return Signs(rng.uniform(-0.3, 0.3, (k, n, n)) * ~np.eye(n, dtype=bool), symmetric=False)


def unbounded(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Normal utilities with scale 1 and no bounds but those of the means."""
    return Normal(_means(rng, k, n, 0.5), np.ones((k, n, n)), clip=False)


def narrow(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Little noise: variance-aware widths are small, and a mistake in them shows."""
    return Normal(_means(rng, k, n, 0.5), np.full((k, n, n), 0.1))


def rare_jackpot(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Almost always -1, rarely +1: sample variances are often 0 although the variance is not."""
    mu = np.triu(-1 + 2 * rng.choice([0.002, 0.01, 0.05], (k, n, n)), 1)
    return Signs(mu + np.swapaxes(mu, 1, 2))


def pooled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """A pair is worth the same in every coalition."""
    return Signs(np.repeat(_means(rng, 1, n, 0.5), k, axis=0))


def scaled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Means times a known function of the size."""
    return TimesSize(Normal(_means(rng, k, n, 0.8), np.full((k, n, n), 0.3)))


def crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Large coalitions are bad, whoever is in them."""
    return Crowding(_means(rng, k, n, 0.2))


def anonymous_crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Nothing but the size matters."""
    del rng
    return Crowding(np.zeros((k, n, n)))


def pooled_crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Crowding, and a pair is worth the same in every coalition."""
    return Crowding(np.repeat(_means(rng, 1, n, 0.3), k, axis=0))
