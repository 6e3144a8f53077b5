"""From the statistics of a log (or of a part of it) to estimates."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from coterie.arrays import FloatArray
from coterie.errors import InputError, TooLargeError
from coterie.estimate.intervals import Bounds, Moments
from coterie.estimate.pair_means import PairEstimate, SampleNoise, anonymous, known_factor
from coterie.estimate.ridge import AgentRidge, JointRidge
from coterie.estimate.unknowns import Structure
from coterie.log.queries import FIXED_BITS
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.total_statistics import TotalStatistics, edge_index
from coterie.words import said

CELLS = 50_000_000
"""Estimates are made for up to so many pairs x coalitions (x sizes)."""

REMEMBERED_BYTES = 2**28
"""Unpacked matrices of co-occurrences are kept up to so many bytes."""


def bounds_of(setting: Setting) -> Bounds:
    """Return what a log declares about utilities, counted from the neutral point."""
    low, high = (-np.inf, np.inf) if setting.utility_range is None else setting.utility_range
    fixed_low, fixed_high = setting.fixed_range
    step = (fixed_high - fixed_low) / 2.0**FIXED_BITS
    return Bounds(low - setting.neutral, high - setting.neutral, setting.sigma, step / 2)


def pair_estimate(
    part: PairStatistics,
    structure: Literal["declared", "anonymous"] = "declared",
    factor: FloatArray | None = None,
) -> PairEstimate:
    """Return the estimate that the statistics were made for.

    Statistics that ignore sizes give the size-free or pooled estimate, size-aware ones the
    size-aware estimate; "anonymous" or a known `factor` g_l(s), shape (k, n + 1), use size-aware
    statistics with fewer unknowns.
    """
    setting, bounds = part.setting, bounds_of(part.setting)
    aware = setting.sizes == "aware"
    if (structure == "anonymous" or factor is not None) and not aware:
        raise InputError('this estimate needs statistics by size: sizes="aware"')
    n, k = setting.n_agents, setting.n_coalitions
    count = _table(part, part.count.astype(np.float64))
    noise = _noise(part)
    if structure == "anonymous" or factor is not None:
        total = _table(part, part.mean * part.count)
        if noise is not None:
            raise InputError(f"{said(noise='samples')} is not available for anonymous sizes or a known factor")
        if factor is not None:
            return known_factor(count, total, factor, bounds, symmetric=setting.symmetric)
        squares = _table(part, part.variance * (part.count - 1) + part.count * part.mean**2)
        return anonymous(count, total, squares, bounds, symmetric=setting.symmetric)
    pooled = setting.pool_coalitions
    repeats = _table(part, part.repeats.astype(np.float64)) if pooled and noise is not None else None
    # Every utility is rounded by at most half a step, which moves a standard deviation by less than a step.
    variance = (np.sqrt(part.variance) + 2 * bounds.rounding) ** 2
    moments = Moments(count, _table(part, part.mean), _table(part, variance), len(part.count), repeats)
    kind: Structure = structure_of(setting)
    return PairEstimate(kind, moments, bounds, n, k, noise=noise)


def structure_of(setting: Setting) -> Structure:
    """Return how the unknowns of a log relate to rooms, as it was declared."""
    if setting.sizes == "aware":
        return "pooled-aware" if setting.pool_coalitions else "aware"
    return "pooled" if setting.pool_coalitions else "size-free"


def _table(part: PairStatistics, values: FloatArray) -> FloatArray:
    """Spread one value per observed unknown over (tables, n, n) or (tables, n, n, n + 1)."""
    setting = part.setting
    n, tables = setting.n_agents, setting.n_tables
    shape: tuple[int, ...] = (tables, n, n)
    key: tuple[Any, ...] = (part.coalition, part.agent, part.partner)
    turned: tuple[Any, ...] = (part.coalition, part.partner, part.agent)
    if setting.sizes == "aware":
        shape, key, turned = (*shape, n + 1), (*key, part.size), (*turned, part.size)
    if np.prod(shape, dtype=np.float64) > CELLS:
        raise TooLargeError(
            f"estimates for {n} agents and {tables} coalitions"
            + (" by size" if setting.sizes == "aware" else "")
            + f" need more than {CELLS} cells"
        )
    table = np.zeros(shape)
    table[key] = values
    if setting.symmetric:
        table[turned] = values
    return table


def _noise(part: PairStatistics) -> SampleNoise | None:
    if part.setting.noise != "samples":
        return None
    if part.together is None:
        return SampleNoise(None)
    # A certificate inside a search asks for every agent's matrix again and again.
    remembered = max(1, REMEMBERED_BYTES // (8 * part.setting.n_features**2))
    return SampleNoise(lru_cache(remembered)(lambda agent: part.cooccurrence(agent).astype(np.float64)))


def agent_ridge(part: TotalStatistics) -> AgentRidge:
    """Return every agent's weighted ridge, with the weights that belong to the noise."""
    agents = range(part.setting.n_agents)
    bounds = _total_bounds(part)
    gram = tuple(part.gram(i) for i in agents)
    # Centring every pair utility on the middle of the range takes c = x'1 times it off each total.
    moment = tuple(part.moment(i) - bounds.middle * gram[i].sum(axis=1) for i in agents)
    return AgentRidge(gram, moment, bounds)


def paper_ridge(part: TotalStatistics) -> AgentRidge:
    """Return the paper's unweighted ridge with penalty 1, not centred.

    The paper's utilities lie in [-1, 1]; here they lie in [-B, B], and its bonus scales with B.
    """
    agents, bounds = range(part.setting.n_agents), bounds_of(part.setting)
    largest = max(abs(bounds.low), abs(bounds.high))
    gram, moment = ([get(i, "none") for i in agents] for get in (part.gram, part.moment))
    return AgentRidge(tuple(gram), tuple(moment), Bounds(-largest, largest), penalty=1.0)


def joint_ridge(part: TotalStatistics) -> JointRidge:
    """Return the joint estimate over the edges of a symmetric game."""
    if part.joint is None:
        raise InputError("these statistics hold no sums of the joint estimator; make them with joint=True")
    setting, bounds = part.setting, _total_bounds(part)
    edges = edge_index(setting)
    place = np.zeros((setting.n_tables, setting.n_agents, setting.n_agents), dtype=np.int64)
    place[edges[:, 0], edges[:, 1], edges[:, 2]] = place[edges[:, 0], edges[:, 2], edges[:, 1]] = np.arange(len(edges))
    own = tuple(np.delete(place[:, i], i, axis=1).ravel() for i in range(setting.n_agents))
    # Z^+ maps totals of c terms of the middle each to the projection of (middle, ..., middle).
    moment = part.joint.moments - bounds.middle * part.joint.projections.sum(axis=1)
    return JointRidge(part.joint.projections, moment, own, bounds)


def _total_bounds(part: TotalStatistics) -> Bounds:
    """Return bounds whose scale allows for the rounding of totals.

    A stored total of c terms is off by at most c e, and its weighted products are rounded down by at
    most (2 + c) e more. By the Cauchy-Schwarz inequality that moves an estimate by at most
    (3 + c) e sqrt(sum of c) times the root of its noise form, so it adds to r (for delta <= 1/2).
    """
    bounds, setting = bounds_of(part.setting), part.setting
    most = (setting.n_agents - 1) * setting.n_coalitions
    terms = float(part.totals.sum()) * most
    return replace(bounds, sigma=bounds.half_range + bounds.rounding * (3 + most) * np.sqrt(terms))
