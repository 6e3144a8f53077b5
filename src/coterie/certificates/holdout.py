"""The `holdout` certificate: learn on one part of the log, certify on another.

For a profile chosen without looking at the certifying part there are only D = sum of (|A_i| - 1)
deviations (sum of |A_i| for a mixed one), each gain is one linear combination of unknowns, and the
sum goes inside the root:

    g_i(a') = sum c_e estimate_e + width(c; log(D / delta)) + (never observed terms at their worst)

It is valid only if nothing about the certifying part's utilities reached the choice of the
profile. `hold_out` makes that so: the caller hands in a function that sees the learning part
alone, and gets certificates for what it returns, with delta divided over all of them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from weakref import WeakSet

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.certificate import Certificate, certificate
from coterie.certificates.evidence import Bounding, D, Evidence, Form
from coterie.certificates.gains import GainBound, LogTerm, SmallerOf, is_enumerated, worst_deviations
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy

EQUAL_SHARE = 0.5
"""This much of delta is divided equally; the rest goes where the learning part expects it to matter."""


def count_deviations(strategy: Strategy, spaces: ActionSpaces) -> int:
    """Return D: the deviations that must be bounded together."""
    own = int(spaces.contains(strategy.sets).sum()) if strategy.is_pure else 0
    return sum(space.size for space in spaces.spaces) - own


def fixed(
    evidence: Evidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    *,
    form: Form = "both",
    learning: Evidence | None = None,
) -> Certificate:
    """Certify a profile that was fixed without looking at this evidence's utilities: the caller's word.

    Each deviation's bound fails with probability at most its share of delta, the shares add up
    to delta, so with probability 1 - delta all bounds hold and the largest one bounds the gap.
    `learning`, evidence independent of these utilities, may direct the shares. Evidence that a
    `Sealed` part has opened is refused.
    """
    if evidence in _OPENED:
        raise InputError(USED_ALREADY)
    return _fixed(evidence, strategy, spaces, delta, form, learning)


def _fixed(
    evidence: Evidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    form: Form,
    learning: Evidence | None,
) -> Certificate:
    log_term: LogTerm = equal_shares(count_deviations(strategy, spaces), delta)
    if learning is not None and evidence.is_bounded and all(is_enumerated(space) for space in spaces.spaces):
        log_term = directed_shares(evidence.preview(learning), learning, strategy, spaces, delta)
    design = evidence.design(strategy)
    bound = holdout_bound(evidence, design, log_term, form)
    return certificate("holdout", delta, strategy, worst_deviations(bound, spaces), evidence, design)


def holdout_bound(source: Bounding[D], design: D, log_term: LogTerm, form: Form = "both") -> GainBound:
    """Return the bound of every deviation: the smaller of the range and the width around the estimated gain.

    The width is that of one fixed combination sum c_e theta_e of unknowns, with L the log term:

        pairs, Hoeffding   r sqrt(2 L sum c_e^2 / N_e)
        pairs, Bernstein   sqrt(2 L) (u + sqrt(V + u^2)) + 2 r L m / 3 with V = sum c_e^2 s_e^2 / N_e,
                           m = max |c_e| / (N_e - 1) and u = r m sqrt(2 L)
        totals             lambda h |G^-1 c|_1 + r sqrt(2 L (c' G^-1 c - lambda |G^-1 c|^2))

    `PairEvidence.direction_bound` and `TotalEvidence.direction_bound` make them, with what was never observed at its
    worst; both forms together cost half of the share each.
    """
    return SmallerOf((source.range_bound(design), source.direction_bound(design, log_term, form)))


def equal_shares(deviations: int, delta: float) -> float:
    """Return log(D / delta): every one of D deviations fails with probability at most delta / D."""
    return (math.log(deviations) if deviations else 0.0) - math.log(delta)


def directed_shares(
    preview: Evidence, learning: Evidence, strategy: Strategy, spaces: ActionSpaces, delta: float
) -> tuple[FloatArray, ...]:
    """Return log(1 / share of delta) of every deviation, more for those expected to be close.

    A deviation that is expected to lose much can do with a tiny share. With expected gains m and
    spreads s, sum of exp(-(g - m)^2 / (2 s^2)) = delta at the smallest g that could be certified, and
    the terms of that sum are the shares to aim for. Half of delta is divided equally all the
    same, so a wrong expectation costs little. Valid because neither looks at certifying utilities.
    """
    design = preview.design(strategy)
    ahead, behind = preview.root_bound(design, 1.0), learning.root_bound(design, 1.0)
    expected: list[FloatArray] = [np.empty(0)] * spaces.n_agents
    spread = expected.copy()
    for space, agents in spaces.groups:
        x = space.enumerate()[None].astype(np.float64) - strategy.marginals[agents, None]
        # The learning part may have been lucky by about one of its own spreads.
        gains = ahead.at(x, agents) - ahead.width(x, agents) + behind.spread(x, agents)
        widths = np.where((x != 0).any(axis=2), ahead.spread(x, agents), 0.0)
        for row, i in enumerate(agents.tolist()):
            expected[i], spread[i] = gains[row], widths[row]
    m, s = np.concatenate(expected), np.concatenate(spread)
    real = (s > 0) & np.isfinite(m) & np.isfinite(s)
    m, s = m[real], s[real]

    def wanted(g: float) -> FloatArray:
        return np.asarray(np.exp(-0.5 * (np.maximum(g - m, 0.0) / s) ** 2))

    low, high = 0.0, float(max(m.max(initial=0.0), 0.0) + s.max(initial=0.0) * 10 * math.sqrt(1 - math.log(delta)))
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if wanted(middle).sum() <= delta else (middle, high)
    weights = np.full(len(real), 1e-300)
    weights[real] = np.maximum(wanted(high), 1e-300)
    deviations = max(count_deviations(strategy, spaces), 1)
    shares = delta * (EQUAL_SHARE / deviations + (1 - EQUAL_SHARE) * weights / weights.sum())
    return tuple(np.split(-np.log(shares), np.cumsum([space.size for space in spaces.spaces])[:-1]))


NOT_ADAPTIVE = "holdout needs actions that did not depend on earlier utilities; for an adaptive log there is paired"

USED_ALREADY = "this part of the log was used for certifying already; a second look would not be held out"

_OPENED: WeakSet[Evidence] = WeakSet()
"""Evidence whose utilities have been looked at: the mark is on the data, not on the wrapper."""


class Sealed:
    """A certifying part: its counts may be looked at, its utilities only through certificates.

    `certify` takes all candidates at once, divides delta over them, and works once: so the best
    of them may be kept, and nothing that the certifying utilities say can reach another choice.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.__evidence = evidence
        self.__again: Callable[[float], list[Certificate]] | None = None

    def preview(self, learning: Evidence) -> Evidence:
        """Return these counts with the learning part's means: what a certificate is expected to be."""
        return self.__evidence.preview(learning)

    def certify(
        self,
        candidates: Sequence[Strategy],
        learning: Evidence | None,
        spaces: ActionSpaces,
        delta: float,
        *,
        form: Form = "both",
    ) -> list[Certificate]:
        """Return a certificate for each candidate; all of them hold together with probability 1 - delta."""
        if self.__evidence in _OPENED:
            raise InputError(USED_ALREADY)
        _OPENED.add(self.__evidence)

        def at(delta: float) -> list[Certificate]:
            each = delta / max(len(candidates), 1)
            found = (_fixed(self.__evidence, strategy, spaces, each, form, learning) for strategy in candidates)
            return [replace(one, delta=delta) for one in found]

        self.__again = at
        return at(delta)

    def again(self, delta: float) -> list[Certificate]:
        """Return what `certify` would have returned at another delta: the same candidates, so no new choice."""
        if self.__again is None:
            raise InputError("nothing was certified yet")
        return self.__again(delta)


def hold_out(
    learning: Evidence,
    certifying: Evidence,
    learn: Callable[[Evidence, Sealed], Sequence[Strategy]],
    spaces: ActionSpaces,
    delta: float,
    *,
    form: Form = "both",
) -> tuple[Strategy, Certificate]:
    """Let `learn` choose candidates from the learning part, and return the one that certifies best.

    `learn` gets the learning evidence and the sealed certifying part, of which it can see counts only.
    """
    sealed = Sealed(certifying)
    candidates = list(learn(learning, sealed))
    if not candidates:
        raise InputError("nothing to certify: the learning part yielded no profile")
    certificates = sealed.certify(candidates, learning, spaces, delta, form=form)
    best = min(range(len(candidates)), key=lambda index: certificates[index].gap)
    return candidates[best], certificates[best]
