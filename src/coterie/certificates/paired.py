"""The `paired` certificate: valid for every profile at once, so it may be chosen on all data.

The coalitions that a deviation keeps cancel in gain_i(a'), and so does their uncertainty. Two forms:

    box     g = max over i, a' of  sum over l in a' of (1 - p_i(l)) W_i^U(l)
                                 - sum over l not in a' of p_i(l) W_i^L(l)
    union   one bound per deviation vector of every pure profile, the sum inside the root

The smaller of the two is taken, with delta halved.
"""

import math
from functools import cache, lru_cache
from typing import Literal

import numpy as np

from coterie.certificates.certificate import Certificate, certificate
from coterie.certificates.evidence import Evidence, LogTerm
from coterie.certificates.gains import SmallerOf, is_enumerated, worst_deviations
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.strategy import Strategy

PROJECTED = 40
"""Spaces up to this many actions get the finer count of deviation vectors."""


def paired(
    evidence: Evidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    form: Literal["best", "box", "union"] = "best",
) -> Certificate:
    """Return the certificate; mixed profiles, and sets outside the action spaces, have the box form only.

    Box: if all intervals hold (probability 1 - delta) then W^L <= W <= W^U for every profile, and
    inserting them into gain_i(a') = sum (1[l in a'] - p_i(l)) W_i(l), by the sign of the
    coefficient, gives an upper bound for every deviation.
    """
    # Which form applies depends on the profile, which may depend on the data: both have their half from the start.
    each = delta / 2 if form == "best" else delta
    if not strategy.is_pure or not spaces.contains(strategy.sets).all():
        # The union is over pure profiles of the action spaces, and has not paid for any other.
        form = "box"
    design = evidence.design(strategy)
    bounds = [evidence.range_bound(design)]
    if form != "union":
        bounds.append(evidence.uniform_bound(design, each))
    if form != "box":
        bounds.append(evidence.direction_bound(design, union_log_terms(strategy, spaces, each)))
    bound = SmallerOf(tuple(bounds))
    return certificate("paired", delta, strategy, worst_deviations(bound, spaces), evidence, design)


def union_log_terms(strategy: Strategy, spaces: ActionSpaces, delta: float) -> LogTerm:
    """Return log(number of deviation vectors of pure profiles / delta), per deviation where that helps.

    A pure profile and a deviation (i, a -> a') involve the others only through which of the
    coalitions in the symmetric difference of a and a' they are in. So the share of delta of a
    type (i, a, a') is divided by the number of such patterns: the product over j != i of the
    number of distinct projections of A_j. Types have equal shares. Where spaces are too large to
    look at, log n + sum over j of log|A_j| + max over i of log|A_i| is a bound.
    """
    total = sum(space.log_size for space in spaces.spaces)
    if any(space.size > PROJECTED or not is_enumerated(space) for space in spaces.spaces):
        return math.log(spaces.n_agents) + total + max(space.log_size for space in spaces.spaces) - math.log(delta)
    types = sum(space.size * (space.size - 1) for space in spaces.spaces)
    price = math.log(max(types, 1)) - math.log(delta)
    counts = [(_patterns(space), len(agents)) for space, agents in spaces.groups]
    terms = []
    for i, space in enumerate(spaces.spaces):
        changed = space.enumerate() != strategy.sets[i]
        logs = np.empty(len(changed))
        for row, difference in enumerate(changed):
            key = np.packbits(difference).tobytes()
            everybody = sum(size * count(key) for count, size in counts)
            logs[row] = price + everybody - _patterns(space)(key)
        terms.append(logs)
    return tuple(terms)


@lru_cache(maxsize=64)
def _patterns(space: ActionSpace):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Return a function from a packed set of coalitions to the log of the number of projections."""
    sets = space.enumerate()

    @cache
    def count(key: bytes) -> float:
        chosen = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=sets.shape[1]).astype(bool)
        return math.log(len(np.unique(sets[:, chosen], axis=0))) if chosen.any() else 0.0

    return count
