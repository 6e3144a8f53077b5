"""Estimates from bandit logs: ridge regression of totals on who met whom.

Agent i's total in a sample is sum over her unknowns f of x_f theta_f plus noise, where x says
which unknowns occurred. Everything is centred on the middle of the range, so that ridge
regression shrinks towards "no idea" and |theta_f| <= r, half the range.

An estimate here is a *linear* one: for a direction c it returns c' theta^, with

    noise   r sqrt(2 L (c' G^-1 c - lambda |G^-1 c|^2))   except with probability exp(-L)
    bias    lambda h |G^-1 c|_1                           at most

with r the sub-Gaussian scale of one utility (`Bounds.half_range`, an allowance for rounding included) and h how far a
mean can be from the middle of its range (`Bounds.half_width`).

`AgentRidge` solves each agent's own weighted problem; `JointRidge` uses both agents' totals for
each edge of a symmetric game.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.estimate.intervals import Bounds
from coterie.from_scipy import solved
from coterie.log.log import Log
from coterie.statistics.in_memory import Batch
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics, own_edges


@dataclass(frozen=True, eq=False)
class Projection:
    """How well a linear estimate knows k combinations of unknowns, or several times so many."""

    ellipsoid: FloatArray
    """Phi G^-1 Phi', shape (..., k, k)."""
    solved: FloatArray
    """G^-1 Phi', shape (..., unknowns, k)."""


PENALTY = 0.03
"""lambda, in observations per unknown: so small that its bias hardly shows where there are data, and
where there are none, the answer is the range either way. It never depends on utilities."""


FEW_RESIDUALS = 10
"""With fewer residuals than this to spare, they say nothing of the variance."""


class LinearEstimate(ABC):
    """Ridge estimates of all unknowns."""

    bounds: Bounds
    penalty: float

    @property
    @abstractmethod
    def n_agents(self) -> int:
        """The number of agents."""

    @abstractmethod
    def theta(self, agent: int) -> FloatArray:
        """Return the estimate of an agent's unknowns, centred, shape (d,)."""

    @abstractmethod
    def project(self, agent: int, directions: FloatArray) -> Projection:
        """Return how well combinations `directions`, shape (..., k, d), of an agent's unknowns are known."""

    def places(self, agent: int) -> IntArray:
        """Return where an agent's unknowns are among those that her regression estimates, shape (d,)."""
        return np.arange(len(self.theta(agent)))

    @abstractmethod
    def blind(self) -> "LinearEstimate":
        """Return the same design with all utilities taken out: how well things are known, not what."""

    @abstractmethod
    def spread(self, agent: int) -> FloatArray:
        """Return the variance proxy of each of an agent's unknowns on its own, range included, shape (d,)."""

    @abstractmethod
    def seen(self, agent: int) -> BoolArray:
        """Return which of an agent's unknowns are in any total, shape (d,)."""

    @abstractmethod
    def factor(self, agent: int) -> "Factor":
        """Return the factored matrix G that an agent's unknowns are estimated with."""

    @property
    @abstractmethod
    def n_estimates(self) -> int:
        """How many regressions there are: one for each agent, or one for all."""

    @property
    @abstractmethod
    def estimates(self) -> FloatArray:
        """What each regression estimates, centred, shape (regressions, unknowns)."""

    @abstractmethod
    def residual_variance(self, agent: int) -> float | None:
        """Return the variance that the noise of one utility seems to have, at most r^2; None where it is not known."""

    @abstractmethod
    def leverage(self, agent: int) -> float:
        """Return the parameters per observation: by so much squared residuals of other samples exceed the noise."""

    def variance_of_residuals(self, agent: int) -> float:
        """Return what squared residuals of other samples are expected to be for one utility, r^2 if nothing is known.

        Where what was learnt is off, it is off in all of them, so this can be more than r^2.
        """
        found = self.residual_variance(agent)
        return (self.bounds.half_range**2 if found is None else found) * (1 + self.leverage(agent))


@dataclass(frozen=True, eq=False)
class Factor:
    """The Cholesky factor of lambda I + gram, and what ridge regression asks of it."""

    lower: FloatArray
    penalty: float

    @classmethod
    def of(cls, gram: FloatArray, penalty: float) -> "Factor":
        """Factor a Gram matrix, however singular it is."""
        lower = np.linalg.cholesky(gram + penalty * np.eye(len(gram)))
        # By columns, as LAPACK wants it: else every solution begins with a copy of the whole factor.
        return cls(np.asfortranarray(lower, dtype=np.float64), penalty)

    def solve(self, columns: FloatArray) -> FloatArray:
        """Return G^-1 times the columns."""
        return solved(self.lower, columns)

    @cached_property
    def inverse(self) -> FloatArray:
        """G^-1; it is as large as the factor, so it is kept only for those who ask for all of it."""
        return self.solve(np.eye(self.dimension))

    @cached_property
    def _diagonal(self) -> FloatArray:
        """The diagonal of G^-1."""
        known = vars(self).get("inverse")  # the cached property
        return np.diag(self.solve(np.eye(self.dimension)) if known is None else known).copy()

    def spread(self, half_range: float) -> FloatArray:
        """Return r^2 times the diagonal of G^-1, at most the square of the range."""
        return np.minimum(half_range**2 * self._diagonal, half_range**2)

    def project(self, directions: FloatArray, unknowns: IntArray | None = None) -> Projection:
        """Return how well combinations `directions`, shape (..., k, d), of some unknowns are known, or of all."""
        own = np.arange(self.dimension) if unknowns is None else unknowns
        rows = directions.reshape(-1, len(own))
        if len(rows) > len(own):  # then combinations of columns of the inverse are cheaper than solutions
            solved = rows @ self.inverse[own]
        else:
            spread = np.zeros((len(rows), self.dimension))
            spread[:, own] = rows
            solved = self.solve(spread.T).T
        solved = solved.reshape(*directions.shape[:-1], self.dimension)
        return Projection(directions @ np.swapaxes(solved[..., own], -1, -2), np.swapaxes(solved, -1, -2))

    @cached_property
    def parameters(self) -> float:
        """The trace of gram G^-1, which counts the unknowns that there are data for."""
        return self.dimension - self.penalty * float(self._diagonal.sum())

    @property
    def dimension(self) -> int:
        """The number d of unknowns."""
        return len(self.lower)

    @cached_property
    def log_det_ratio(self) -> float:
        """Log det(G / lambda)."""
        return 2 * float(np.log(np.diag(self.lower)).sum()) - self.dimension * math.log(self.penalty)


@dataclass(frozen=True, eq=False)
class AgentRidge(LinearEstimate):
    """Each agent's own weighted ridge: G = lambda I + sum w x x', theta^ = G^-1 sum w x v.

    With w = 1/c the noise of a total of c terms, of variance proxy c r^2, becomes r-sub-Gaussian
    after weighting; with w = 1/c^2 so does noise of proxy c^2 r^2, for samples whose pairs depend
    on each other.
    """

    gram: Sequence[FloatArray]
    """sum w x x' of each agent, without the penalty."""
    moment: tuple[FloatArray, ...]
    """sum w x (v - c middle) of each agent."""
    bounds: Bounds
    penalty: float = PENALTY
    squares: tuple[float, ...] = ()
    """sum w (v - c middle)^2 of each agent."""
    totals: tuple[float, ...] = ()
    """How many totals with partners each agent has."""

    @property
    def n_agents(self) -> int:
        return len(self.gram)

    def residuals(self, agent: int) -> tuple[float, float]:
        """Return the weighted sum of squared residuals, and how many there are more than parameters.

        sum w (v - x'theta)^2 = sum w v^2 - 2 theta' moment + theta' gram theta. The trace of gram G^-1 counts
        parameters.
        """
        theta = self.theta(agent)
        fitted = float(theta @ (self.gram[agent] @ theta - 2 * self.moment[agent]))
        return max(self.squares[agent] + fitted, 0.0), self.totals[agent] - self.factor(agent).parameters

    def residual_variance(self, agent: int) -> float | None:
        """Return sum w (v - x'theta)^2 / (totals - parameters), as if noise had one variance after weighting."""
        if not self.squares:
            return None
        return _variance(*self.residuals(agent), self.bounds.half_range)

    def blind(self) -> "AgentRidge":
        return self.with_moments([np.zeros_like(moment) for moment in self.moment])

    def with_moments(self, moments: Sequence[FloatArray]) -> "AgentRidge":
        """Return the same design with other utilities."""
        other = replace(self, moment=tuple(moments))
        vars(other)["_factors"] = self._factors  # the cached property: the same matrices are factored once
        return other

    @cached_property
    def _factors(self) -> list[Factor]:
        return [Factor.of(gram, self.penalty) for gram in self.gram]

    @cached_property
    def _thetas(self) -> list[FloatArray]:
        return [factor.solve(moment) for factor, moment in zip(self._factors, self.moment, strict=True)]

    def factor(self, agent: int) -> Factor:
        return self._factors[agent]

    def theta(self, agent: int) -> FloatArray:
        return self._thetas[agent]

    @property
    def estimates(self) -> FloatArray:
        return np.stack(self._thetas)

    def leverage(self, agent: int) -> float:
        return self.factor(agent).parameters / max(self.totals[agent], 1.0) if self.totals else 0.0

    def project(self, agent: int, directions: FloatArray) -> Projection:
        return self.factor(agent).project(directions)

    def spread(self, agent: int) -> FloatArray:
        return self.factor(agent).spread(self.bounds.half_range)

    def seen(self, agent: int) -> BoolArray:
        return np.asarray(np.diag(self.gram[agent]) > 0)

    @property
    def n_estimates(self) -> int:
        return len(self.gram)


@dataclass(frozen=True, eq=False)
class PrintedRidge(AgentRidge):
    """The paper's ridge with the regressors j = i that eq. (11) has as printed: is i in l, with a coefficient of 0.

    They come last in each agent's sums, k of them; what is asked about unknowns is about the others alone.
    """

    def theta(self, agent: int) -> FloatArray:
        return np.asarray(super().theta(agent)[: -self._n_own(agent)])

    def spread(self, agent: int) -> FloatArray:
        return np.asarray(super().spread(agent)[: -self._n_own(agent)])

    def seen(self, agent: int) -> BoolArray:
        return np.asarray(super().seen(agent)[: -self._n_own(agent)])

    def project(self, agent: int, directions: FloatArray) -> Projection:
        own = np.zeros((*directions.shape[:-1], self._n_own(agent)))
        return super().project(agent, np.concatenate([directions, own], axis=-1))

    def own(self, agent: int) -> FloatArray:
        """Return what is estimated of being in each coalition with oneself, shape (k,)."""
        return np.asarray(super().theta(agent)[-self._n_own(agent) :])

    def _n_own(self, agent: int) -> int:
        return len(self.moment[agent]) // self.n_agents  # of n k


@dataclass(frozen=True, eq=False)
class JointRidge(LinearEstimate):
    """One unknown per edge (coalition, {i, j}) of a symmetric game, from both agents' totals.

    For sample m, Z_m maps edges to the observed agents' totals and P_m = Z_m^+ Z_m projects onto
    what they show. V = lambda I + sum P_m, theta^ = V^-1 sum Z_m^+ v_m. As Z_m^+ v_m = P_m (theta +
    noise) with independent r-sub-Gaussian noise per edge, the error in direction D has variance
    proxy r^2 D' V^-1 (V - lambda I) V^-1 D, although the two agents of a pair share its noise.

    Scores of teams are rows over edges too, with weights for which the same proxy holds, see
    `coterie.statistics.team_scores`.
    """

    projections: FloatArray
    """sum P_m over edges, without the penalty."""
    moment: FloatArray
    """sum Z_m^+ (v_m - c middle)."""
    edges: tuple[IntArray, ...]
    """For each agent, the edge of each of her unknowns."""
    bounds: Bounds
    penalty: float = PENALTY
    alone: AgentRidge | None = None
    """Each agent's own problem, whose residuals tell how large the noise is."""
    squares: float = 0.0
    """Where there are no such problems, since scores of teams were observed: sum w (v - c middle)^2."""
    count: float = 0.0
    """Then how many scores there are, or samples with some, where pairs of a sample may depend on each other."""
    rows: float = 0.0
    """And how many scores there are in any case."""

    @property
    def n_agents(self) -> int:
        return len(self.edges)

    def blind(self) -> "JointRidge":
        blinded = replace(self, moment=np.zeros_like(self.moment))
        vars(blinded)["_factor"] = self._factor  # the cached property: the same matrix is factored once
        return blinded

    @cached_property
    def _factor(self) -> Factor:
        return Factor.of(self.projections, self.penalty)

    @cached_property
    def _theta(self) -> FloatArray:
        return self._factor.solve(self.moment)

    def theta(self, agent: int) -> FloatArray:
        return np.asarray(self._theta[self.edges[agent]])

    def places(self, agent: int) -> IntArray:
        return self.edges[agent]

    def project(self, agent: int, directions: FloatArray) -> Projection:
        return self._factor.project(directions, self.edges[agent])

    @property
    def estimates(self) -> FloatArray:
        return self._theta[None]

    def leverage(self, agent: int) -> float:  # noqa: ARG002  (one for all)
        return self._factor.parameters / max(float(np.trace(self.projections)), 1.0)

    @cached_property
    def _spread(self) -> FloatArray:
        return self._factor.spread(self.bounds.half_range)

    def spread(self, agent: int) -> FloatArray:
        return np.asarray(self._spread[self.edges[agent]])

    def seen(self, agent: int) -> BoolArray:
        return np.asarray(np.diag(self.projections)[self.edges[agent]] > 0)

    def factor(self, agent: int) -> Factor:  # noqa: ARG002  (one matrix for all)
        return self._factor

    @property
    def n_estimates(self) -> int:
        return 1

    @cached_property
    def _residual_variance(self) -> float | None:
        if self.count:
            left = self.squares + float(self._theta @ (self.projections @ self._theta - 2 * self.moment))
            return _variance(max(left, 0.0), self.count - self._factor.parameters, self.bounds.half_range)
        if self.alone is None or not self.alone.squares:
            return None
        found = [self.alone.residuals(i) for i in range(self.n_agents)]
        squares, spare = (sum(one[t] for one in found if one[1] > 0) for t in (0, 1))
        return _variance(squares, spare, self.bounds.half_range)

    def residual_variance(self, agent: int) -> float | None:  # noqa: ARG002  (one for all)
        """Return the same of all agents' own problems together, since an edge hears of two."""
        return self._residual_variance


@dataclass(frozen=True, eq=False)
class Grams(Sequence[FloatArray]):
    """Every agent's sum of w x x', made of the statistics' packed form when it is asked for: all are large together."""

    part: TotalStatistics
    weighting: str | None = None

    def __len__(self) -> int:
        return self.part.setting.n_agents

    def __getitem__(self, agent: Any) -> Any:
        if not 0 <= agent < len(self):
            raise IndexError(agent)
        return self.part.gram(agent, self.weighting)


def agent_ridge(part: TotalStatistics) -> AgentRidge:
    """Return every agent's weighted ridge, with the weights that belong to the noise."""
    bounds, grams = _total_bounds(part), Grams(part)
    moments, squares, totals = [], [], []
    for i, gram in enumerate(grams):
        raw = part.moment(i)
        # Centring every pair utility on the middle of the range takes c = x'1 times it off each total.
        moments.append(raw - bounds.middle * gram.sum(axis=1))
        # (v - c middle)^2, multiplied out
        squares.append(part.squares(i) - bounds.middle * float((raw + moments[i]).sum()))
        totals.append(_informative(part, i, gram))
    return AgentRidge(grams, tuple(moments), bounds, squares=tuple(squares), totals=tuple(totals))


def _informative(part: TotalStatistics, agent: int, gram: FloatArray) -> float:
    """Return how many totals have partners: sum W c^2 = 1'G1 if W = 1/c^2, the trace if W = 1/c and no pair repeats."""
    if part.setting.noise == "samples":
        return float(gram.sum())
    return min(float(np.trace(gram)), float(part.totals[agent]))


def _variance(squares: float, spare: float, half_range: float) -> float:
    """Return what residuals say of the variance, at most r^2, and that where hardly any are to spare."""
    return min(squares / spare, half_range**2) if spare >= FEW_RESIDUALS else half_range**2


def paper_ridge(part: TotalStatistics) -> AgentRidge:
    """Return the paper's unweighted ridge with penalty 1, not centred.

    The paper's utilities lie in [-1, 1]; here they lie in [-B, B], and its bonus scales with B: with a declared scale
    in its place where that is larger.
    """
    agents, bounds = range(part.setting.n_agents), Bounds.of(part.setting)
    largest = max(abs(bounds.low), abs(bounds.high), bounds.sigma or 0.0)
    moment = tuple(part.moment(i, "none") for i in agents)
    return AgentRidge(Grams(part, "none"), moment, Bounds(-largest, largest, bounds.sigma), penalty=1.0)


def printed_ridge(samples: Log | Iterable[Batch], bounds: Bounds | None = None) -> PrintedRidge:
    """Return the ridge of eq. (11) as printed, with the regressors j = i, from samples themselves.

    Statistics hold no sums of these, since they tell nothing; they make the paper's certificate a little larger.

    Parameters
    ----------
    samples
        A log with totals, which is read for this, or samples in memory, such as those of a simulation.
    bounds
        What utilities may be; by default what the log says.
    """
    if isinstance(samples, Log):
        setting = Statistics.of(samples, clues=False).setting
        bounds, each = bounds or Bounds.of(setting), _read(samples, setting)
    else:
        each = ((batch.joined, batch.totals()) for batch in samples)
    if bounds is None:
        raise InputError("bounds: samples in memory do not say what utilities may be; give `Bounds(low, high)`")
    gram: list[FloatArray] = []
    moment: list[FloatArray] = []
    for present, totals in each:
        joined = present.astype(np.float64)
        n, k = joined.shape[1:]
        for i in range(n):
            if len(gram) < n:
                gram.append(np.zeros((n * k, n * k)))
                moment.append(np.zeros(n * k))
            seen = ~np.isnan(totals[:, i])
            met = np.delete(joined[seen, i, None] * joined[seen], i, axis=1)  # (samples, n - 1, k)
            x = np.hstack([np.swapaxes(met, 1, 2).reshape(len(met), (n - 1) * k), joined[seen, i]])
            gram[i] += x.T @ x
            moment[i] += x.T @ totals[seen, i]
    largest = max(abs(bounds.low), abs(bounds.high), bounds.sigma or 0.0)
    return PrintedRidge(tuple(gram), tuple(moment), Bounds(-largest, largest, bounds.sigma), penalty=1.0)


def _read(log: Log, setting: Setting) -> Iterator[tuple[BoolArray, FloatArray]]:
    """Yield who was where and every agent's total, of some samples of a log; totals that it does not have are NaN."""
    from coterie.statistics.reduce import Reduction, total_batches  # here, since samples in memory need no tables

    task = Reduction(log.engine, setting, log.rows, log.counted.extent)
    for sample, _, agent, coalition, utility in total_batches(task):
        count, is_total = int(sample[-1]) + 1, coalition < 0
        joined = np.zeros((count, setting.n_agents, setting.n_coalitions), dtype=bool)
        joined[sample[~is_total], agent[~is_total], coalition[~is_total]] = True
        totals = np.full((count, setting.n_agents), np.nan)
        totals[sample[is_total], agent[is_total]] = utility[is_total]
        yield joined, totals


def joint_ridge(part: TotalStatistics) -> JointRidge:
    """Return the joint estimate over the edges of a symmetric game."""
    if part.joint is None:
        raise InputError("these statistics hold no sums of the joint estimator; make them with joint=True")
    own, bounds = own_edges(part.setting), _total_bounds(part)
    # Z^+ maps totals of c terms of the middle each to the projection of (middle, ..., middle).
    moment = part.joint.moments - bounds.middle * part.joint.projections.sum(axis=1)
    if part.joint.scores is not None:
        squares, count, rows = part.joint.scores.tolist()
        squares -= bounds.middle * float((part.joint.moments + moment).sum())
        return JointRidge(part.joint.projections, moment, own, bounds, squares=squares, count=count, rows=rows)
    return JointRidge(part.joint.projections, moment, own, bounds, alone=agent_ridge(part))


def _total_bounds(part: TotalStatistics) -> Bounds:
    """Return bounds whose scale allows for the rounding of totals.

    A stored total of c terms is off by at most c e, and its weighted products are rounded down by at
    most (2 + c) e more. By the Cauchy-Schwarz inequality that moves an estimate by at most
    (3 + c) e sqrt(sum of c) times the root of its noise form, so it adds to r (for delta <= 1/2).
    """
    bounds, setting = Bounds.of(part.setting), part.setting
    most = (setting.n_agents - 1) * setting.n_coalitions
    terms = float(part.totals.sum()) * most
    return replace(bounds, sigma=bounds.half_range + bounds.rounding * (3 + most) * np.sqrt(terms))
