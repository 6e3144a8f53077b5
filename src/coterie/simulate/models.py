"""Utility models: how the utility of a pair comes about in a sample, and its exact mean.

Every model turns *driving noise* w, one number per draw, into utilities

    v = utilities(w; coalition l, agent i, partner j, size s of the coalition),

so that one and the same model serves noise of any kind: a draw of its own for each pair, one
draw shared by all pairs of a coalition, or one for the whole sample. Sharing changes how
utilities move together, never their means. Means are exact, clipping included.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.game.game import Game
from coterie.words import said

Noise = Literal["pairs", "coalitions", "samples"]
"""What shares a draw: nothing (every pair has its own), a coalition's pairs, or a whole sample."""

NOISES: tuple[str, ...] = get_args(Noise)

ModelName = Literal[
    "uniform",
    "gaussian",
    "gaussian-redrawn",
    "size-uniform",
    "size-gaussian",
    "size-gaussian-redrawn",
    "mixed-effects",
    "mixed-effects-clipped",
    "gaussian-pairs",
    "size-gaussian-pairs",
]

MODELS: tuple[ModelName, ...] = get_args(ModelName)
"""The names that `utility_model` knows."""

LOW, HIGH = -1.0, 1.0

MIXED_EFFECTS_SETS = ((0, 1), (0, 2, 4), (3, 4))
"""The three actions of everybody in the mixed-effects games: {1,2}, {1,3,5}, {4,5}."""


def clipped_normal_mean(mean: Any, deviation: Any, low: float = LOW, high: float = HIGH) -> FloatArray:
    """Return E[clip(X, low, high)] for X ~ N(mean, deviation^2), elementwise.

    With h(x) = E[(x - Z)^+] = x Phi(x) + phi(x) for a standard normal Z it is

        mean + deviation (h((low - mean) / deviation) - h((mean - high) / deviation)).
    """
    from scipy.special import ndtr  # here, since SciPy is slow to import

    mean, deviation = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(deviation, dtype=np.float64))
    spread = np.where(deviation > 0, deviation, 1.0)

    def h(x: FloatArray) -> FloatArray:
        return np.asarray(x * ndtr(x) + np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))

    shifted = mean + spread * (h((low - mean) / spread) - h((mean - high) / spread))
    return np.asarray(np.where(deviation > 0, shifted, np.clip(mean, low, high)))


class UtilityModel(ABC):
    """A distribution of pair utilities, for a fixed number of agents and coalitions.

    An own model has `n_agents`, `n_coalitions` and `symmetric`, turns noise into `utilities`, and knows its `means`;
    everything else has defaults. `check_model` tells whether it keeps its word.
    """

    n_agents: int
    n_coalitions: int
    symmetric: bool
    """Whether the two members of a pair get the same utility; if not, ordered pairs draw separately."""

    default_noise: Noise = "pairs"
    utility_range: tuple[float, float] = (LOW, HIGH)
    """Bounds of all utilities; of the means alone where `sigma` is given."""

    clip: bool | None = None
    """Whether normal utilities are clipped to the range; None where there is nothing to clip."""

    sigma: float | None = None
    """Sub-Gaussian scale of unbounded utilities, None where the range bounds them."""

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Draw independent driving noise; by default uniform between 0 and 1."""
        return rng.random(shape)

    @abstractmethod
    def utilities(
        self, noise: FloatArray, coalition: IntArray, agent: IntArray, partner: IntArray, size: IntArray
    ) -> FloatArray:
        """Return the utility of agent from partner in a coalition of that size, for each row."""

    @property
    def means(self) -> FloatArray:
        """Return the exact mean utilities (k, n, n), before any dependence on size; all are 0 by default."""
        return np.zeros((self.n_coalitions, self.n_agents, self.n_agents))

    def mean_utilities(self, coalition: IntArray, agent: IntArray, partner: IntArray, size: IntArray) -> FloatArray:
        """Return the exact mean utility of agent from partner in a coalition of that size, for each row."""
        scale = 1.0 if self.size_scale is None else self.size_scale[coalition, size]
        shift = 0.0 if self.size_shift is None else self.size_shift[coalition, size]
        return np.asarray(scale * self.means[coalition, agent, partner] + shift)

    @property
    def size_scale(self) -> FloatArray | None:
        """Return the factor (k, n + 1) of the means by coalition and size; None is 1."""
        return None

    @property
    def size_shift(self) -> FloatArray | None:
        """Return what is added (k, n + 1) to the means by coalition and size; None is 0."""
        return None

    def game(self, actions: Any, agents: checks.Names = None, coalitions: checks.Names = None) -> Game:
        """Return the game of the exact means."""
        return Game(
            self.means,
            actions,
            size_scale=self.size_scale,
            size_shift=self.size_shift,
            symmetric=self.symmetric,
            agents=agents,
            coalitions=coalitions,
        )


NoiseDraw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
"""Draws noise of mean 0, of the given shape."""


@dataclass(frozen=True, eq=False)
class AroundGame(UtilityModel):
    """v = d_ij^l(s) + w, the utilities of a known game and noise of mean 0.

    `noise` is h, for noise that is uniform between -h and h, or a function that draws it.
    """

    truth: Game
    noise: float | NoiseDraw
    utility_range: tuple[float, float]
    sigma: float | None = None

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return self.truth.n_agents

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return self.truth.n_coalitions

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.truth.is_symmetric

    @cached_property
    def _arrays(self) -> dict[str, FloatArray]:
        return self.truth.observed.arrays()

    @property
    def means(self) -> FloatArray:
        return self._arrays["means"]

    @property
    def size_scale(self) -> FloatArray | None:
        return self._arrays["size_scale"]

    @property
    def size_shift(self) -> FloatArray | None:
        return self._arrays["size_shift"]

    def mean_utilities(self, coalition: IntArray, agent: IntArray, partner: IntArray, size: IntArray) -> FloatArray:
        if "size_table" in self._arrays:
            return self._arrays["size_table"][coalition, agent, partner, size]
        return super().mean_utilities(coalition, agent, partner, size)

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        if callable(self.noise):
            return self.noise(rng, shape)
        return rng.uniform(-self.noise, self.noise, shape)

    def utilities(
        self, noise: FloatArray, coalition: IntArray, agent: IntArray, partner: IntArray, size: IntArray
    ) -> FloatArray:
        return self.mean_utilities(coalition, agent, partner, size) + noise

    def game(self, actions: Any, agents: checks.Names = None, coalitions: checks.Names = None) -> Game:
        """Return the known game itself, which has actions and names."""
        del actions, agents, coalitions
        return self.truth


def around_game(
    game: Game,
    noise: float | NoiseDraw,
    utility_range: tuple[float, float] | None = None,
    sigma: float | None = None,
) -> AroundGame:
    """Return the model of a known game with noise.

    Parameters
    ----------
    game
        Its utilities of pairs.
    noise
        h, for noise that is uniform between -h and h; or a function of a generator and a shape that draws noise of
        mean 0.
    utility_range
        Where all utilities lie; with a number as noise it is known.
    sigma
        The sub-Gaussian scale of noise without bounds.
    """
    if not isinstance(game, Game):
        raise InputError(f"game: expected a Game, got {checks.shown(game)}")
    arrays = game.observed.arrays()
    if "alone" in arrays:
        raise InputError("game: being alone is worth something, which no log of pairs or totals shows")
    n, sizes = game.n_agents, np.arange(2, game.n_agents + 1)
    if "size_table" in arrays:
        means = arrays["size_table"][..., 2:]
    else:
        means = (
            arrays["size_scale"][:, None, None, sizes] * arrays["means"][..., None]
            + arrays["size_shift"][:, None, None, sizes]
        )
    others = means[:, ~np.eye(n, dtype=bool)] if n > 1 else np.zeros(1)
    least, most = float(others.min()), float(others.max())
    if callable(noise):
        if sigma is None and utility_range is None:
            raise InputError("noise: say what bounds it: utility_range=(low, high), or sigma=scale where nothing does")
        return AroundGame(game, noise, utility_range or (least, most), sigma)
    width = checks.number(noise, "noise", at_least=0)
    if sigma is not None:
        raise InputError("sigma: noise between -h and h has bounds; a scale is for noise that is drawn by a function")
    slack = max(width, 1e-9)  # a range needs some width
    return AroundGame(game, width, utility_range or (least - slack, most + slack))


@dataclass(frozen=True, eq=False)
class Uniform(UtilityModel):
    """v ~ U[-1, 1]. Every mean is 0, so every strategy is Nash stable."""

    n_agents: int
    n_coalitions: int
    symmetric: bool = True

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.uniform(LOW, HIGH, shape)

    def utilities(
        self,
        noise: FloatArray,
        coalition: IntArray,  # noqa: ARG002  (the same for all pairs)
        agent: IntArray,  # noqa: ARG002
        partner: IntArray,  # noqa: ARG002
        size: IntArray,  # noqa: ARG002
    ) -> FloatArray:
        return noise


@dataclass(frozen=True, eq=False)
class GaussianRedrawn(Uniform):
    """mu ~ U[-1, 1] drawn anew for every value, then v ~ clip(N(mu, (1 - |mu|)^2), -1, 1).

    Every mean is 0. Without clipping, the scale 1 is sub-Gaussian: given |mu| = m the moment
    generating function at t is cosh(t m) exp(t^2 (1 - m)^2 / 2) <= exp(t^2 / 2).
    """

    clip: bool = True

    @property
    def sigma(self) -> float | None:  # type: ignore[override]
        return None if self.clip else 1.0

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        mu = rng.uniform(LOW, HIGH, shape)
        return _clipped(mu + (1 - np.abs(mu)) * rng.standard_normal(shape), self.clip)


class ByCell(UtilityModel):
    """A model with numbers for each coalition, agent and partner."""

    @property
    @abstractmethod
    def cells(self) -> FloatArray:
        """Some of these numbers: coalitions, agents and partners are the first axes."""

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return int(self.cells.shape[1])

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return int(self.cells.shape[0])


@dataclass(frozen=True, eq=False)
class Normal(ByCell):
    """v = clip(mu_ij^l + deviation_ij^l Z, -1, 1) with Z standard normal.

    `mu` and `deviation` have shape (k, n, n); without clipping the utilities are unbounded and
    their sub-Gaussian scale is the largest deviation.
    """

    mu: FloatArray
    deviation: FloatArray
    symmetric: bool = True
    clip: bool = True

    @property
    def cells(self) -> FloatArray:
        return self.mu

    @cached_property
    def means(self) -> FloatArray:
        means = clipped_normal_mean(self.mu, self.deviation) if self.clip else self.mu.copy()
        agents = np.arange(self.n_agents)
        means[:, agents, agents] = 0.0
        return means

    @property
    def sigma(self) -> float | None:  # type: ignore[override]
        return None if self.clip else float(self.deviation.max())

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.standard_normal(shape)

    def utilities(
        self,
        noise: FloatArray,
        coalition: IntArray,
        agent: IntArray,
        partner: IntArray,
        size: IntArray,  # noqa: ARG002
    ) -> FloatArray:
        cell = (coalition * self.n_agents + agent) * self.n_agents + partner
        return _clipped(self.mu.ravel()[cell] + self.deviation.ravel()[cell] * noise, self.clip)


class Gaussian(Normal):
    """mu_ij^l ~ U[-1, 1] drawn once per game, then v ~ clip(N(mu, (1 - |mu|)^2), -1, 1).

    The paper's text has one mu_ij for each pair, the same in all coalitions: the models `gaussian-pairs` and
    `size-gaussian-pairs`.
    """

    @classmethod
    def draw(
        cls,
        seed: checks.Seed,
        n_agents: int,
        n_coalitions: int,
        *,
        symmetric: bool = True,
        clip: bool = True,
        by_pair: bool = False,
    ) -> Self:
        """Draw mu for every coalition and pair, unordered (symmetric) or ordered; `by_pair` for every pair alone."""
        shape = (1 if by_pair else n_coalitions, n_agents, n_agents)
        mu = checks.generator(seed, "seed").uniform(LOW, HIGH, shape)
        if symmetric:
            upper = np.triu(mu, 1)
            mu = upper + np.swapaxes(upper, 1, 2)
        if by_pair:
            mu = np.tile(mu, (n_coalitions, 1, 1))
        return cls(mu, 1 - np.abs(mu), symmetric, clip)

    @property
    def sigma(self) -> float | None:  # type: ignore[override]
        return None if self.clip else 1.0


@dataclass(frozen=True, eq=False)
class TimesSize(UtilityModel):
    """v = |C_l| / (n + 1) times the utility of a size-free model, which is clipped first."""

    base: UtilityModel

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return self.base.n_agents

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return self.base.n_coalitions

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.base.symmetric

    @property
    def clip(self) -> bool | None:  # type: ignore[override]
        return self.base.clip

    @property
    def sigma(self) -> float | None:  # type: ignore[override]
        return self.base.sigma

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return self.base.driving_noise(rng, shape)

    def utilities(
        self, noise: FloatArray, coalition: IntArray, agent: IntArray, partner: IntArray, size: IntArray
    ) -> FloatArray:
        return size / (self.n_agents + 1) * self.base.utilities(noise, coalition, agent, partner, size)

    @property
    def means(self) -> FloatArray:
        return self.base.means

    @property
    def size_scale(self) -> FloatArray:
        return np.tile(_size_share(self.n_agents), (self.n_coalitions, 1))


@dataclass(frozen=True, eq=False)
class MixedEffects(UtilityModel):
    """Five coalitions that differ in how their size matters (App. H.1.3).

    With w standard normal, by default one draw per coalition and sample,

        v^1 = w - |C_1| / (n + 1),  v^5 = w + |C_5| / (n + 1),  v^2, v^4 = w - 1,  v^3 = w,

    unbounded with scale 1 as printed, or clipped to [-1, 1]. (The paper prints |C_1| in v^5.)
    """

    n_agents: int
    symmetric: bool = True
    clip: bool = False
    n_coalitions = 5
    default_noise = "coalitions"

    @property
    def sigma(self) -> float | None:  # type: ignore[override]
        return None if self.clip else 1.0

    @property
    def effects(self) -> FloatArray:
        """Return what the size adds to w, shape (5, n + 1)."""
        share = _size_share(self.n_agents)
        always = np.ones_like(share)
        return np.array([-share, -always, 0 * always, -always, share])

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.standard_normal(shape)

    def utilities(
        self,
        noise: FloatArray,
        coalition: IntArray,
        agent: IntArray,  # noqa: ARG002  (the same for all pairs)
        partner: IntArray,  # noqa: ARG002
        size: IntArray,
    ) -> FloatArray:
        return _clipped(self.effects[coalition, size] + noise, self.clip)

    @property
    def size_shift(self) -> FloatArray:
        return clipped_normal_mean(self.effects, 1.0) if self.clip else self.effects


def _clipped(values: FloatArray, clip: bool) -> FloatArray:  # noqa: FBT001
    return np.clip(values, LOW, HIGH, out=values) if clip else values


def _size_share(n_agents: int) -> FloatArray:
    """Return s / (n + 1) for s = 0..n."""
    return np.arange(n_agents + 1) / (n_agents + 1)


def utility_model(
    name: ModelName,
    n_agents: int,
    n_coalitions: int,
    seed: checks.Seed,
    *,
    symmetric: bool = True,
    clip: bool | None = None,
) -> UtilityModel:
    """Return the model of that name, drawing what is drawn once per game.

    Parameters
    ----------
    name
        One of `MODELS`.
    n_agents, n_coalitions
        The mixed-effects models have 5 coalitions.
    seed
        Used only by the models with means of their own for each pair.
    symmetric
        Whether both members of a pair get the same utility.
    clip
        Whether normal utilities are clipped to [-1, 1]; by default they are, except in `mixed-effects`.
    """
    checks.whole(n_agents, said("n_agents"), 2)
    checks.whole(n_coalitions, said("n_coalitions"), 1)
    if name not in MODELS:
        raise InputError(f"unknown model {name!r}; known are: {', '.join(MODELS)}")
    if name.startswith("mixed-effects"):
        if n_coalitions != 5:
            raise InputError(f"the model {name} has 5 coalitions, not {n_coalitions}")
        by_name = name == "mixed-effects-clipped"
        if by_name and clip is False:
            raise InputError("the model mixed-effects-clipped is clipped; without clipping it is mixed-effects")
        return MixedEffects(n_agents, symmetric, by_name or bool(clip))
    kind = name.removeprefix("size-")
    if kind == "uniform" and clip is False:
        raise InputError(f"the model {name} is bounded by itself; clipping cannot be switched off")
    model: UtilityModel
    if kind == "uniform":
        model = Uniform(n_agents, n_coalitions, symmetric)
    elif kind == "gaussian-redrawn":
        model = GaussianRedrawn(n_agents, n_coalitions, symmetric, clip is not False)
    else:
        by_pair = kind == "gaussian-pairs"
        model = Gaussian.draw(
            seed, n_agents, n_coalitions, symmetric=symmetric, clip=clip is not False, by_pair=by_pair
        )
    return model if kind == name else TimesSize(model)
