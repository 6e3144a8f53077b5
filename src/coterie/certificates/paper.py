"""The `paper` certificate (Lemma 2): the paper's surrogate of the gap, with expectations exact.

    g = max over i of [ max over a' of E upper_i(a', others) - E lower_i ]

Even for the agent's own action this adds twice the uncertainty of all she does, so it stays away
from 0 however good the profile is, for everybody who has company. Widths are the paper's as printed:
eq. (9) for semi-bandit logs, not clipped to the range, with its union bound, and with one observation's
width for pairs never seen; eq. (11) for bandit logs.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray, mixed_radix
from coterie.certificates.certificate import Certificate, certificate
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import GainBound, Worst, is_enumerated, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate import confidence
from coterie.estimate.design import Design, directions
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.ridge import AgentRidge, paper_ridge
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.strategy import Strategy
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import PartStatistics
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
    """Return room values with every mean at its lower and upper end under eq. (8) and (9), as printed."""
    moments = estimate.moments
    bonus = confidence.paper_bonus(moments.count, estimate.n_agents, estimate.n_coalitions, delta)
    # The paper's range is [-1, 1], so its bonus scales with r; and nobody is her own partner.
    bonus *= estimate.bounds.half_range * (moments.seen + moments.unseen)
    return design.linear(moments.mean - bonus), design.linear(moments.mean + bonus)


def _assumes(evidence: Evidence) -> tuple[str, ...]:
    printed = "the paper's widths as printed, which pay for too few events and for pairs never seen too little"
    return (*evidence.assumptions(), printed)


def paper_totals(
    evidence: TotalEvidence, strategy: Strategy, spaces: ActionSpaces, delta: float, n_samples: int
) -> Certificate:
    """Return the paper's certificate from a bandit log, eq. (11), one block of V per agent.

    `evidence` is over the paper's ridge: sums without weights, penalty 1. The bonus of an action is
    sqrt(beta) E |z|_(V^-1), see `ExpectedNorms`; where that is bounded only, the certificate is marked as not exact.
    """
    ridge = evidence.estimate
    assert isinstance(ridge, AgentRidge)
    design = evidence.design(strategy)
    n, k = strategy.marginals.shape
    rooms, radius = evidence.rooms(design), ridge.bounds.half_width * confidence.paper_radius(n, k, n_samples, delta)
    value, action = np.empty(n), np.empty((n, k), dtype=bool)
    is_exact = True
    for i, space in enumerate(spaces.spaces):
        own = np.flatnonzero(strategy.owner == i)
        norms = ExpectedNorms(ridge, strategy, i, directions(design, i))
        is_exact &= norms.is_exact
        kept = strategy.probability[own] @ (strategy.sets[own] @ rooms[i] - radius * norms.of(strategy.sets[own]))
        if is_enumerated(space):
            sets = space.enumerate()
            values = sets @ rooms[i] + radius * norms.of(sets)
            best = int(values.argmax())
            value[i], action[i] = values[best] - kept, sets[best]
        else:
            # |sum of z_l| <= sum of |z_l| is linear in the action, which the oracle can maximise.
            weights = rooms[i] + radius * norms.of(np.eye(k, dtype=bool))
            found, sets = space.best_responses(weights[None])
            value[i], action[i] = found[0] - kept, sets[0]
            is_exact = False
    result = certificate("paper", delta, strategy, Worst(value, action, is_exact, spaces.counted), evidence, design)
    return replace(result, assumes=_assumes(evidence))


class ExpectedNorms:
    """E |z_i(a', others)|_(V^-1) for an agent and any of her actions a'.

    By enumeration of the others' joint actions up to `MOST_FORMS`. Above, by Jensen's inequality,
    E |z| <= sqrt(E |z|^2) = sqrt(tr(V^-1 E[z z'])), where E[z z'] has a closed form.
    """

    def __init__(self, ridge: AgentRidge, strategy: Strategy, agent: int, directions: FloatArray) -> None:
        n, k = strategy.marginals.shape
        others = [np.flatnonzero(strategy.owner == j) for j in range(n) if j != agent]
        joint = math.prod(len(rows) for rows in others)
        self.is_exact = joint * k**2 <= MOST_FORMS
        if self.is_exact:
            # Every joint action of the others: z_l is 1 for partner j in coalition l if j is there.
            digits = mixed_radix(np.arange(joint), [len(rows) for rows in others])
            rows = np.stack([rows[digits[:, t]] for t, rows in enumerate(others)], axis=1)
            self.shares = strategy.probability[rows].prod(axis=1)
            self.forms = np.empty((joint, k, k))
            step = max(1, MOST_FORMS // (k**2 * (n - 1)))
            for start in range(0, joint, step):
                some = slice(start, start + step)
                present = strategy.sets[rows[some]].transpose(0, 2, 1)  # (joint, k, n - 1)
                blocks = np.zeros((len(present), k, k, n - 1))
                blocks[:, np.arange(k), np.arange(k)] = present
                flat = blocks.reshape(len(present) * k, k * (n - 1))
                solved = ridge.factor(agent).solve(flat.T).T.reshape(len(present), k, -1)
                self.forms[some] = flat.reshape(len(present), k, -1) @ solved.transpose(0, 2, 1)
            return
        # E[z z'] = E[z] E[z]' plus, for each partner, the covariance of her own memberships.
        self.shares = np.ones(1)
        solved = ridge.factor(agent).solve(directions.T)
        inverse = ridge.factor(agent).solve(np.eye(directions.shape[1]))
        cells = inverse.reshape(k, n - 1, k, n - 1)
        p = np.delete(strategy.marginals, agent, axis=0)
        covariance = np.delete(strategy.joint_marginals, agent, axis=0) - p[:, :, None] * p[:, None, :]
        self.forms = (directions @ solved + np.einsum("ljmj,jlm->lm", cells, covariance))[None]

    def of(self, sets: BoolArray) -> FloatArray:
        """Return the expected norm of each action, a row of `sets`."""
        rows = np.asarray(sets, dtype=np.float64)
        squares = np.einsum("al,jlm,am->ja", rows, self.forms, rows, optimize=True)
        return np.asarray(self.shares @ np.sqrt(np.maximum(squares, 0.0)))


def no_paper() -> str:
    """Word where there is no certificate of the paper's."""
    return (
        f"the paper's certificate is defined for bounded utilities (no {said('sigma')}) and independent pairs (not "
        f"{said(noise='samples')}), actions that did not depend on earlier utilities (not "
        f"{said(adaptive=True)}), without meetings at their worst, and for bandit logs with sizes ignored and "
        "coalitions told apart, whose statistics hold sums without weights"
    )


def paper_evidence(part: PartStatistics, *, as_printed: bool = False) -> Evidence | None:
    """Return what the paper's estimator makes of a part of a log; None where it is not defined or sums are missing.

    `as_printed` takes it also where utilities are unbounded or pairs depend on each other, so that eq. (9) and (11)
    prove nothing: the paper has figures of such games.
    """
    setting = part.setting
    beyond = setting.sigma is not None or setting.noise != "pairs" or setting.missing == "worst" or setting.adaptive
    if beyond and not as_printed:
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
