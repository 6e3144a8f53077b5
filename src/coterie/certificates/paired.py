"""The `paired` certificate: valid for every profile at once, so it may be chosen on all data.

The coalitions that a deviation keeps cancel in gain_i(a'), and so does their uncertainty. Two forms:

    box     g = max over i, a' of  sum over l in a' of (1 - p_i(l)) W_i^U(l)
                                 - sum over l not in a' of p_i(l) W_i^L(l)
    union   bounds of single deviations from every pure profile, the sum inside the root

The smaller of the two is taken, with delta halved. `paired_bound` is that formula, wherever it is needed: in the
certificate, in what searches minimise, in predictions of what more data would certify.
"""

import math
from functools import cache, lru_cache
from typing import Literal

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates import widths
from coterie.certificates.certificate import Certificate, certificate
from coterie.certificates.evidence import Bounding, D, Evidence
from coterie.certificates.gains import GainBound, LogTerm, SmallerOf, is_enumerated, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.design import Design
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.strategy import Strategy, StrategyLike
from coterie.words import said

PairedForm = Literal["best", "box", "union"]
"""Which bounds are taken: the smaller of both, with half of delta each, or one of them with all of it."""

PROJECTED = 40
"""Spaces up to this many actions get the finer count of deviation vectors."""


def paired(
    evidence: Evidence,
    strategy: StrategyLike,
    spaces: ActionSpaces,
    delta: float,
    *,
    form: PairedForm = "best",
    declared: ActionSpaces | None = None,
) -> Certificate:
    """Return the certificate; the union form says nothing of mixed profiles and of sets outside the action spaces.

    Parameters
    ----------
    evidence
        What the log proves.
    strategy
        Any profile, also one that was chosen on these data.
    spaces
        What agents may do.
    delta
        The certificate holds with probability at least 1 - delta.
    form
        "box", "union", or the smaller of both.
    declared
        The action spaces that the union form pays for, where `spaces` were widened to hold the strategy.
    """
    checks.one_of(form, PairedForm, said("form"))
    checks.probability(delta, said("delta"), checks.LEAST_PART)
    strategy = evidence.strategy(strategy)
    design = evidence.design(strategy)
    if form == "best" and evidence.unknowns.is_listed:
        form = "box"  # of many agents there are so many profiles that the union says less; known from their number
    union = union_terms(strategy, declared or spaces, delta, form)
    found = worst_deviations(paired_bound(evidence, design, delta, union, form), spaces)
    # The box holds for everybody at once; of the union form, one event is paid for each profile, not for each agent.
    together = None
    if union is not None:
        joint = union + math.log(max(1, spaces.counted.sum()))
        together = worst_deviations(paired_bound(evidence, design, delta, joint, form), spaces)
    return certificate("paired", delta, strategy, found, evidence, design, together)


def paired_bound(
    source: Bounding[D], design: D, delta: float, union: LogTerm | None, form: PairedForm = "best"
) -> GainBound:
    """Return the bound of every deviation: the smaller of the range, the box and the union form.

    Box: all intervals hold with probability 1 - delta / 2, see `widths.box`; for totals they are an ellipsoid, see
    `widths.ellipsoid`. Union: for every pure profile the bound of its truly worst deviation must hold, see
    `union_log_terms`; `union` is log(1 / (its share of the other half)), and the widths are those of `holdout_bound`.
    Where there is no union (None) the box has half of delta all the same, and the union form alone says no more than
    the range: which form applies depends on the profile, which may depend on the data.
    """
    bounds = [source.range_bound(design)]
    if form != "union":
        bounds.append(box_bound(source, design, delta, form))
    if union is not None:
        bounds.append(source.direction_bound(design, union))
    return SmallerOf(tuple(bounds))


def box_bound(source: Bounding[D], design: D, delta: float, form: PairedForm = "best") -> GainBound:
    """Return the box form's part of `paired_bound`: with half of delta where the union form has the other half."""
    return source.uniform_bound(design, share_of(delta, form))


def paired_rooms(
    evidence: PairEvidence, design: Design, delta: float, form: PairedForm = "best"
) -> tuple[FloatArray, FloatArray]:
    """Return W^U and W^L of the box form: what its bound is made of."""
    return widths.box_rooms(evidence, design, share_of(delta, form))


def share_of(delta: float, form: PairedForm) -> float:
    """Return what the box form, and the union form, each have of delta."""
    return delta / 2 if form == "best" else delta


def union_terms(strategy: Strategy, spaces: ActionSpaces, delta: float, form: PairedForm = "best") -> LogTerm | None:
    """Return log(1 / share) of every deviation for the union form; None where that has not paid for the profile.

    The union is over pure profiles of the action spaces, and for no others.
    """
    if form == "box" or not strategy.is_pure or not spaces.contains(strategy.sets).all():
        return None
    return union_log_terms(strategy, spaces, share_of(delta, form))


PROFILE_SHARE = 0.25
"""What events by profile have of the union form's delta, where events by pattern have the rest."""


def union_log_terms(strategy: Strategy, spaces: ActionSpaces, delta: float) -> LogTerm:
    """Return log(1 / share of delta) of every deviation from a pure profile, so that all profiles hold at once.

    For each profile only the bound of its truly worst deviation must hold (see `holdout.fixed`), and it may be paid
    for in two ways, the cheaper of which counts, since both have their share of delta.

    By profiles: one event each, log K = sum over j of log |A_j|, with `PROFILE_SHARE` of delta.

    By patterns: a profile and a deviation (i, a -> a') involve the others only through which of the coalitions in the
    symmetric difference of a and a' they are in. So the share of a type (i, a, a') is divided by the number of such
    patterns: the product over j != i of the number of distinct projections of A_j. Types have equal shares of the rest
    of delta: log K' = log(types) + sum over j != i of log(projections of A_j). Where spaces are too large to look at,
    profiles have all of delta.
    """
    profiles = sum(space.log_size for space in spaces.spaces) - math.log(delta)
    if any(space.size > PROJECTED or not is_enumerated(space) for space in spaces.spaces):
        return profiles
    profiles -= math.log(PROFILE_SHARE)
    types = sum(space.size * (space.size - 1) for space in spaces.spaces)
    price = math.log(max(types, 1)) - math.log(delta) - math.log(1 - PROFILE_SHARE)
    counts = [(_patterns(space), len(agents)) for space, agents in spaces.groups]
    terms = np.full((spaces.n_agents, max(space.size for space in spaces.spaces)), profiles)
    for i, space in enumerate(spaces.spaces):
        for row, difference in enumerate(space.enumerate() != strategy.sets[i]):
            key = np.packbits(difference).tobytes()
            everybody = sum(size * count(key) for count, size in counts)
            terms[i, row] = min(price + everybody - _patterns(space)(key), profiles)
    return terms


@lru_cache(maxsize=64)
def _patterns(space: ActionSpace):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Return a function from a packed set of coalitions to the log of the number of projections."""
    sets = space.enumerate()

    @cache
    def count(key: bytes) -> float:
        chosen = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=sets.shape[1]).astype(bool)
        return math.log(len(np.unique(sets[:, chosen], axis=0))) if chosen.any() else 0.0

    return count
