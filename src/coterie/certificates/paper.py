"""The `paper` certificate (Lemma 2): the paper's surrogate of the gap, with expectations exact.

    g = max over i of [ max over a' of E upper_i(a', others) - E lower_i ]

Even for the agent's own action this adds twice the uncertainty of all she does, so it stays away
from 0 however good the profile is, for everybody who has company. Widths are the paper's as printed:
eq. (9) for semi-bandit logs, not clipped to the range, with its union bound, and with one observation's
width for pairs never seen; eq. (11) for bandit logs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray, mixed_radix
from coterie.certificates.certificate import Certificate, certificate
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import GainBound, Worst, is_enumerated, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.estimate.design import Design, directions
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.ridge import AgentRidge, Factor, PrintedRidge, paper_ridge, printed_ridge
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.strategy import Strategy
from coterie.log.log import Log
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import PartStatistics, Statistics
from coterie.words import said

MOST_FORMS = 10_000_000
"""Up to so many numbers (k^2 for each joint action of the others), the expected norm of eq. (11) is enumerated."""


@dataclass(frozen=True, eq=False)
class SurrogateBound(GainBound):
    """The surrogate of one agent: sum over l in a' of W^U(l) - sum over all l of p(l) W^L(l)."""

    marginals: FloatArray
    upper: FloatArray
    lower: FloatArray
    own_counts = True

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        p = self.marginals[agents]
        sets = x + p[:, None]
        return np.asarray((sets @ self.upper[agents, :, None])[:, :, 0] - (p * self.lower[agents]).sum(axis=1)[:, None])

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        value, action = space.best_responses(self.upper[agents])
        return value - (self.marginals[agents] * self.lower[agents]).sum(axis=1), action


def paper(evidence: PairEvidence, strategy: Strategy, spaces: ActionSpaces, delta: float) -> Certificate:
    """Return g = max over i of [max over a' of sum over l in a' of W_i^U(l) - sum over l of p_i(l) W_i^L(l)].

    W^U and W^L are `paper_rooms`, from eq. (8) and (9); the rest is `SurrogateBound`. If |estimate - mean| <= bonus
    for all pairs, then W^L <= W <= W^U; the largest value of a deviation is at most its value with W^U, and V_i at
    least its value with W^L.
    """
    design = evidence.design(strategy)
    lower, upper = paper_rooms(evidence.estimate, design, delta)
    found = worst_deviations(SurrogateBound(strategy.marginals, upper, lower), spaces)
    return replace(certificate("paper", delta, strategy, found, evidence, design), assumes=_assumes(evidence))


def paper_rooms(estimate: PairEstimate, design: Design, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return room values with every mean at its lower and upper end under eq. (8) and (9), as printed.

    An unseen mean is anywhere in its range: the printed bonus says so where 0 is in the range of utilities, and would
    not with a declared scale that is small beside the range.
    """
    moments, bounds = estimate.moments, estimate.bounds
    bonus = paper_bonus(moments.count, estimate.n_agents, estimate.n_coalitions, delta)
    # The paper's range is [-1, 1], so its bonus scales with r; and nobody is her own partner.
    bonus *= bounds.half_range * (moments.seen + moments.unseen)
    bonus[moments.unseen > 0] = np.maximum(bonus[moments.unseen > 0], max(abs(bounds.low), abs(bounds.high)))
    return design.linear(moments.mean - bonus), design.linear(moments.mean + bonus)


def paper_bonus(count: FloatArray, n_agents: int, n_coalitions: int, delta: float) -> FloatArray:
    """Return sqrt(2 log(4 (n + 1) k / delta) / max(N, 1)): the paper's eq. (9), as printed.

    It pays for 4(n + 1)k events although there are n(n - 1)k / 2 pairs with two sides each, which
    is more from n = 6 on; and a pair never seen gets the width of a pair seen once.
    """
    return np.sqrt(2 * math.log(4 * (n_agents + 1) * n_coalitions / delta) / np.maximum(count, 1))


def paper_radius(n_agents: int, n_coalitions: int, n_samples: int, delta: float) -> float:
    """Return sqrt(beta) of eq. (11): 2 sqrt(n^2 k) + sqrt(n^2 k log(1 + M / n) + 2 log(4 (n + 1) k / delta))."""
    dimension = n_agents**2 * n_coalitions
    price = 2 * math.log(4 * (n_agents + 1) * n_coalitions / delta)
    return float(2 * np.sqrt(dimension) + np.sqrt(dimension * np.log1p(n_samples / n_agents) + price))


def paper_totals(
    evidence: TotalEvidence, strategy: Strategy, spaces: ActionSpaces, delta: float, n_samples: int
) -> Certificate:
    """Return g = max over i of [max over a' of (a' . W + rho E |z(a')|) - E over a of (a . W - rho E |z(a)|)].

    Eq. (11) as printed, one block of V per agent, over the paper's ridge (no weights, penalty 1): W are estimated room
    values, rho = B sqrt(beta) for utilities in [-B, B]. Not exact where E |z|_(V^-1) is bounded only. The regressors
    j = i, which are 1 for every coalition that i joins, are left out, unless the estimate is a `PrintedRidge`.
    """
    ridge = evidence.estimate
    assert isinstance(ridge, AgentRidge)
    design, (n, k) = evidence.design(strategy), strategy.marginals.shape
    rooms, rho = evidence.rooms(design), ridge.bounds.half_width * paper_radius(n, k, n_samples, delta)
    if isinstance(ridge, PrintedRidge):
        rooms = rooms + np.stack([ridge.own(i) for i in range(n)])
    value, action, is_exact = np.empty(n), np.empty((n, k), dtype=bool), True
    for i, space in enumerate(spaces.spaces):
        norms, own = ExpectedNorms(ridge, strategy, i, directions(design, i)), strategy.owner == i
        kept = strategy.probability[own] @ (strategy.sets[own] @ rooms[i] - rho * norms.of(strategy.sets[own]))
        if is_enumerated(space):
            sets = space.enumerate()
            values = sets @ rooms[i] + rho * norms.of(sets)
            largest, action[i] = values.max(), sets[values.argmax()]
        else:
            largest, action[i] = _at_most(space, rooms[i], rho, norms)
        value[i], is_exact = largest - kept, is_exact and norms.is_exact and is_enumerated(space)
    result = certificate("paper", delta, strategy, Worst(value, action, is_exact, spaces.counted), evidence, design)
    return replace(result, assumes=_assumes(evidence))


class ExpectedNorms:
    """E |z_i(a', others)|_(V^-1) of an agent's actions a', over all joint actions of the others up to `MOST_FORMS`.

    Above, by Jensen's inequality, E |z| <= sqrt(E |z|^2) = sqrt(tr(V^-1 E[z z'])), where E[z z'] has a closed form.
    """

    def __init__(self, ridge: AgentRidge, strategy: Strategy, agent: int, directions: FloatArray) -> None:
        k, others = strategy.n_coalitions, [np.flatnonzero(strategy.owner == j) for j in range(strategy.n_agents)]
        del others[agent]
        self.is_exact = math.prod(len(rows) for rows in others) * k**2 <= MOST_FORMS
        own = np.eye(k) if isinstance(ridge, PrintedRidge) else np.empty((k, 0))
        if self.is_exact:
            self.shares, self.forms = _every_form(ridge.factor(agent), strategy, others, own)
        else:
            mean = _mean_form(ridge.factor(agent), strategy, agent, np.hstack([directions, own]))
            self.shares, self.forms = np.ones(1), mean[None]

    def of(self, sets: BoolArray) -> FloatArray:
        """Return the expected norm of each action, a row of `sets`."""
        rows = np.asarray(sets, dtype=np.float64)
        squares = np.einsum("al,jlm,am->ja", rows, self.forms, rows, optimize=True)
        return np.asarray(self.shares @ np.sqrt(np.maximum(squares, 0.0)))


def _mean_form(factor: Factor, strategy: Strategy, agent: int, directions: FloatArray) -> FloatArray:
    """Return E[z_l' V^-1 z_m]: E[z z'] = E[z] E[z]' plus, for each partner, the covariance of her own memberships."""
    k, others = strategy.n_coalitions, strategy.n_agents - 1
    unknowns = k * others
    cells = factor.solve(np.eye(directions.shape[1]))[:unknowns, :unknowns].reshape(k, others, k, others)
    p = np.delete(strategy.marginals, agent, axis=0)
    covariance = np.delete(strategy.joint_marginals, agent, axis=0) - p[:, :, None] * p[:, None, :]
    return np.asarray(directions @ factor.solve(directions.T) + np.einsum("ljmj,jlm->lm", cells, covariance))


def _every_form(
    factor: Factor, strategy: Strategy, others: Sequence[IntArray], own: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return every joint action of the others: its probability, and z_l' V^-1 z_m for all pairs of coalitions.

    z_l is 1 for partner j in coalition l if j is there; `own` is what it has besides, whatever the others do.
    """
    k, joint = strategy.n_coalitions, math.prod(len(rows) for rows in others)
    digits = mixed_radix(np.arange(joint), [len(rows) for rows in others])
    rows = np.stack([rows[digits[:, t]] for t, rows in enumerate(others)], axis=1)
    forms = np.empty((joint, k, k))
    step = max(1, MOST_FORMS // (k**2 * len(others)))
    for start in range(0, joint, step):
        some = slice(start, start + step)
        present = strategy.sets[rows[some]].transpose(0, 2, 1)  # (joint, k, n - 1)
        blocks = np.zeros((len(present), k, k, len(others)))
        blocks[:, np.arange(k), np.arange(k)] = present
        flat = np.hstack([blocks.reshape(len(present) * k, -1), np.tile(own, (len(present), 1))])
        solved = factor.solve(flat.T).T.reshape(len(present), k, -1)
        forms[some] = flat.reshape(len(present), k, -1) @ solved.transpose(0, 2, 1)
    return strategy.probability[rows].prod(axis=1), forms


def _at_most(space: ActionSpace, rooms: FloatArray, rho: float, norms: ExpectedNorms) -> tuple[float, BoolArray]:
    """Bound a' . W + rho E |z(a')|: |sum of z_l| <= sum of |z_l|, which the oracle maximises."""
    values, sets = space.best_responses((rooms + rho * norms.of(np.eye(len(rooms), dtype=bool)))[None])
    return float(values[0]), sets[0]


def _assumes(evidence: Evidence) -> tuple[str, ...]:
    printed = "the paper's widths as printed, which pay for too few events and for pairs never seen too little"
    return (*evidence.assumptions(), printed)


def no_paper() -> str:
    """Word where there is no certificate of the paper's."""
    return (
        f"the paper's certificate is defined for means within a range ({said('utility_range')}), independent pairs "
        f"(not {said(noise='samples')}), actions that did not depend on earlier utilities (not "
        f"{said(adaptive=True)}), without meetings at their worst, and for bandit logs with sizes ignored and "
        "coalitions told apart, whose statistics hold sums without weights"
    )


def paper_evidence(part: PartStatistics) -> Evidence | None:
    """Return what the paper's estimator makes of a part of a log; None where it is not defined or sums are missing.

    Utilities may be unbounded, as in the paper's mixed-effects games: a declared scale then stands where the paper has
    the range. Hoeffding's inequality for values in [-1, 1] is the one for scale 1, so that eq. (9) loses nothing.
    """
    setting = part.setting
    if setting.utility_range is None or setting.noise != "pairs" or setting.missing == "worst" or setting.adaptive:
        return None
    if isinstance(part, PairStatistics):
        return evidence_from(part)
    if "none" not in part.weighted or setting.pool_coalitions or setting.sizes != "ignore":
        return None
    return TotalEvidence(paper_ridge(part), names=(setting.agents, setting.coalitions))


def paper_from(part: PartStatistics, strategy: Strategy, spaces: ActionSpaces, delta: float) -> Certificate | None:
    """Return the paper's certificate; None where it is not defined or its sums are missing."""
    evidence = paper_evidence(part)
    if isinstance(evidence, PairEvidence):
        return paper(evidence, strategy, spaces, delta)
    if not isinstance(evidence, TotalEvidence):
        return None
    return paper_totals(evidence, strategy, spaces, delta, part.n_samples)


def printed_from(log: Log, strategy: Strategy, spaces: ActionSpaces, delta: float) -> Certificate:
    """Return the paper's certificate of a bandit log with eq. (11) as printed: with the regressors j = i.

    It is larger than `paper_from`, which leaves out these, in small games by up to a quarter, and proves nothing more.
    """
    part = Statistics.of(log, unweighted=True, clues=False).whole
    evidence = paper_evidence(part)
    if not isinstance(evidence, TotalEvidence):
        raise InputError(f"eq. (11) is about totals of agents; {no_paper()}")
    printed = TotalEvidence(printed_ridge(log), names=(part.setting.agents, part.setting.coalitions))
    return paper_totals(printed, strategy, spaces, delta, part.n_samples)
