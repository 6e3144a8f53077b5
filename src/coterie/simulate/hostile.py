"""Games built to break certificates: utilities with the largest variance, plateaus, rare events, crowding.

Each function draws the utility model of one game with n agents and k coalitions. The last ones are about how logs of
them come about: who explores what, and which outcomes are missing. `coterie.reproduce.calibration` tries every
certificate on such logs.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.simulate.models import ByCell, Normal, TimesSize, UtilityModel, utility_model
from coterie.simulate.policies import FromStrategy
from coterie.statistics.in_memory import Batch

Draw = Callable[[np.random.Generator, int, int], UtilityModel]
"""Draws the model of a game with so many agents and coalitions."""


class _Uniform(ByCell):
    """A model with numbers for each coalition, agent and partner, and uniform noise."""

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.random(shape)


@dataclass(frozen=True, eq=False)
class Signs(_Uniform):
    """v = +1 with probability (1 + mu_ij^l) / 2, else -1: the largest variance that the range allows."""

    mu: FloatArray
    symmetric: bool = True

    @property
    def cells(self) -> FloatArray:
        return self.mu

    @property
    def means(self) -> FloatArray:
        return self.mu

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


@dataclass(frozen=True, eq=False)
class TwoPoint(_Uniform):
    """v = high_ij^l with probability chance_ij^l, else low_ij^l."""

    low: FloatArray
    high: FloatArray
    chance: FloatArray
    symmetric: bool = True

    @property
    def cells(self) -> FloatArray:
        return self.low

    @property
    def means(self) -> FloatArray:
        return self.chance * self.high + (1 - self.chance) * self.low

    def utilities(
        self,
        noise: FloatArray,
        coalition: IntArray,
        agent: IntArray,
        partner: IntArray,
        size: IntArray,  # noqa: ARG002
    ) -> FloatArray:
        cell = (coalition, agent, partner)
        return np.where(noise < self.chance[cell], self.high[cell], self.low[cell])


@dataclass(frozen=True, eq=False)
class Ratings(_Uniform):
    """Ratings from 1 to 5, counted from 3; `shares` (k, n, n, 5) are the probabilities of each."""

    shares: FloatArray
    symmetric: bool = True
    utility_range = (-2.0, 2.0)

    @property
    def cells(self) -> FloatArray:
        return self.shares

    @property
    def means(self) -> FloatArray:
        return np.asarray(self.shares @ np.arange(-2.0, 3.0) * ~np.eye(self.n_agents, dtype=bool))

    def utilities(
        self,
        noise: FloatArray,
        coalition: IntArray,
        agent: IntArray,
        partner: IntArray,
        size: IntArray,  # noqa: ARG002
    ) -> FloatArray:
        up_to = np.cumsum(self.shares[..., :-1], axis=3)[coalition, agent, partner]
        return np.asarray((noise[:, None] >= up_to).sum(axis=1) - 2.0)


def _means(rng: np.random.Generator, k: int, n: int, spread: float) -> FloatArray:
    """Draw means of unordered pairs, uniform on [-spread, spread]."""
    return _of_pairs(rng.uniform(-spread, spread, (k, n, n)))


def _of_pairs(drawn: FloatArray) -> FloatArray:
    """Return what was drawn above the diagonal, for both agents of a pair; 0 for nobody's own company."""
    upper = np.triu(drawn, 1)
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
    return Signs(_of_pairs(-1 + 2 * rng.choice([0.002, 0.01, 0.05], (k, n, n))))


def two_point(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Two values near 0, often a rare one and a common one: the range says nothing, sample variances mislead."""
    low, high = (_of_pairs(rng.uniform(0.01, 0.05, (k, n, n))) for _ in range(2))
    return TwoPoint(-low, high, _of_pairs(rng.choice([0.03, 0.5, 0.97], (k, n, n))))


def rare_loss(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Half of the pairs seem to be worth a little more than others, and lose everything once in a thousand times."""
    risky = _of_pairs(rng.integers(2, size=(k, n, n)).astype(np.float64))
    usual = _of_pairs(rng.choice([-0.1, 0.1], (k, n, n))) + 0.0005 * risky
    return TwoPoint(np.where(risky > 0, -1.0, usual), usual, np.where(risky > 0, 0.999, 1.0))


def ratings(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Ratings from 1 to 5, as people give them: few values, each pair with shares of its own."""
    shares = rng.dirichlet(np.ones(5), (k, n, n))
    agent, partner = np.triu_indices(n, 1)
    shares[:, partner, agent] = shares[:, agent, partner]
    return Ratings(shares)


EPSILON = 0.01


def ties(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Every pair is worth -epsilon everywhere: who has company can gain a few epsilon, by many moves alike."""
    del rng
    return Normal(np.full((k, n, n), -EPSILON), np.full((k, n, n), 0.05))


def chasing(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """In every three agents each likes the next one and flees from the one before: no pure profile is stable.

    Say that everybody is in one coalition. If somebody is with the one she likes, that one is better off with the
    third, or, if he is there too, away from both. If nobody is, the three are apart, and each would join the next.
    """
    del rng
    mu = np.zeros((n, n))
    for i in range(n):
        first = i - i % 3
        mu[i, first + (i + 1) % 3], mu[i, first + (i + 2) % 3] = 0.4, -0.6
    return Signs(np.repeat(mu[None], k, axis=0), symmetric=False)


def pooled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """A pair is worth the same in every coalition."""
    return Signs(np.repeat(_means(rng, 1, n, 0.5), k, axis=0))


def scaled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Means times a known function of the size."""
    return TimesSize(Normal(_means(rng, k, n, 0.8), np.full((k, n, n), 0.3)))


def alike_everywhere(draw: Draw, rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Another kind of game, with every pair worth the same in all coalitions."""
    return _with_cells(draw(rng, n, 1), lambda own: np.repeat(own, k, axis=0))


def from_either_side(draw: Draw, rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Another kind of game, with numbers of its own for either agent of a pair."""
    model, other = draw(rng, n, k), iter(_cells(draw(rng, n, k)).values())
    both = _with_cells(model, lambda own: np.triu(own) + np.tril(next(other), -1))
    return replace(both, symmetric=False)  # type: ignore[type-var]


def _cells(model: UtilityModel) -> dict[str, FloatArray]:
    """Return what a model knows of every coalition, agent and partner, by name."""
    found = {one.name: getattr(model, one.name) for one in fields(model)}  # type: ignore[arg-type]
    return {name: own for name, own in found.items() if isinstance(own, np.ndarray)}


def _with_cells(model: UtilityModel, change: Callable[[FloatArray], FloatArray]) -> UtilityModel:
    return replace(model, **{name: change(own) for name, own in _cells(model).items()})  # type: ignore[type-var]


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


def popular(game: Game) -> FromStrategy:
    """Return the policy of agents who like the same sets: the r-th one with probability proportional to 1 / r^2."""
    shares = 1 / np.arange(1.0, game.actions.spaces[0].size + 1) ** 2
    return _explores(game, np.tile(shares / shares.sum(), (game.n_agents, 1)))


def greedy(game: Game, seen: Batch | None) -> FromStrategy:
    """Return the policy of agents who mostly do what paid best so far: what had bad luck is hardly tried again."""
    sets = game.actions.spaces[0].enumerate()
    shares = np.full((game.n_agents, len(sets)), 0.2 / len(sets))
    paid = np.zeros(shares.shape)
    if seen is not None:
        played = (seen.joined[:, :, None] == sets).all(axis=3)
        paid = (played * seen.totals()[:, :, None]).sum(axis=0) / np.maximum(played.sum(axis=0), 1)
    shares[np.arange(game.n_agents), paid.argmax(axis=1)] += 0.8
    return _explores(game, shares)


def _explores(game: Game, shares: FloatArray) -> FromStrategy:
    sets = game.actions.spaces[0].enumerate()
    return FromStrategy(Strategy.mixed([(sets, own) for own in shares], game.agents, game.coalitions))


def absent(rng: np.random.Generator, batch: Batch) -> BoolArray:
    """Return which rows nobody wrote, whatever they would have said: some pairs forget often, some never do."""
    rates = rng.uniform(0.0, 0.6, (batch.joined.shape[1],) * 2)
    return np.asarray(rng.random(len(batch.sample)) < rates[batch.agent, batch.partner])


def hushed_up(rng: np.random.Generator, batch: Batch) -> BoolArray:
    """Return which rows nobody wrote because they were bad: every fifth utility below 0."""
    return np.asarray((batch.utility < 0) & (rng.random(len(batch.sample)) < 0.2))


def without(batch: Batch, rows: BoolArray) -> Batch:
    """Return the batch without these rows; who was where is still known."""
    kept = {name: getattr(batch, name)[~rows] for name in ("sample", "coalition", "agent", "partner", "utility")}
    return replace(batch, **kept)
