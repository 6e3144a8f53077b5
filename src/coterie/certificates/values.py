"""Intervals for what assignments are worth, and for what differs between them, to each person and to several.

Everything here is one combination c' theta of unknown means (`coterie.estimate.value_design`), and every bound is one
of `coterie.certificates.widths`. A `Promise` says which may be used, as in `coterie.certificates.paired`:

    uniform      intervals of all unknowns, or ellipsoids, that hold together: they hold for every combination at once
    log_term     one event for each combination that was fixed beforehand, or that a union pays for

Sums over several people are combinations over the unknowns of all of them. Where an estimate only knows each agent's
own unknowns (totals without the joint estimator; pairs that may depend on each other within a sample), the agents'
bounds are added: uniform ones hold together, and errors of sub-Gaussian scales s_i add up to one of scale sum of s_i at
most, however they depend on each other, so that sum over i of (estimate_i + bias_i + sqrt(2 L) s_i) is one event again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates import widths
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, LogTerm
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.certificates.widths import one_event
from coterie.estimate.ridge import JointRidge
from coterie.estimate.step_design import StepDesign
from coterie.estimate.value_design import SumDesign, rows_of, summed
from coterie.game.actions import ActionSpaces


@dataclass(frozen=True)
class Promise:
    """Which bounds may be used, at what price."""

    uniform: float | None
    """What intervals of all unknowns together have of delta; None where they are not used."""
    log_term: LogTerm
    """log(1 / share of delta) of each end: one for all rows, or one per row, shape (rows, 1)."""


@dataclass(frozen=True)
class Stated:
    """What is stated of a value or a difference."""

    everybody: Promise
    people: Promise
    """A row for every agent."""


@dataclass(frozen=True)
class Promises:
    """What a comparison of two profiles states, all of which holds together with probability 1 - delta."""

    change: Stated
    values: tuple[Stated, ...]
    """Of each profile."""


def promises_for_all(delta: float, spaces: ActionSpaces, profiles: Sequence[BoolArray], n_counted: int) -> Promises:
    """Return what holds for all pure profiles at once, so that any two of them may have been chosen on these data.

    Half of delta is for intervals of all unknowns together. The rest is for a union over what could have been asked: a
    quarter for both ends of what differs between two profiles, a quarter for both ends of what a profile is worth, each
    for everybody and for each of n people, and each with the weight exp(-`log_weight`) among all that could be asked.
    """
    each = one_event(delta / 4) + math.log(2 * (n_counted + 1))

    def stated(some: Sequence[BoolArray], rooms: BoolArray) -> Stated:
        whole = sum(_of_profile(spaces, one) for one in some)
        own = [rooms & np.any([one[i] for one in some], axis=0) for i in range(len(some[0]))]
        alone = np.array([[each + log_weight(whole, some, inside)] for inside in own])
        return Stated(Promise(delta / 2, each + log_weight(whole, some, rooms)), Promise(delta / 2, alone))

    return Promises(
        stated(profiles, np.asarray((profiles[0] != profiles[1]).any(axis=0))),
        tuple(stated([one], np.asarray(one.any(axis=0))) for one in profiles),
    )


def log_weight(whole: float, profiles: Sequence[BoolArray], rooms: BoolArray) -> float:
    """Return log(1 / weight) of one or two pure profiles (n, k), as far as the members of some rooms (k,) matter.

    The larger of two weights, half each, either of which adds up to 1 over all that there is:

        profiles     the weights of the profiles multiplied, of each the larger of two, half each: all profiles of the
                     action spaces are alike, sum over agents of log |A_j|; or the size s of each agent's set is one of
                     0 to k, and all sets of a size are alike, sum over agents of log((k + 1) binom(k, s_j))
        rooms        which rooms matter, log((k + 1) binom(k, q)); for each of them the members, in the same way
                     log((n + 1) binom(n, s)); and who of s leaves and who of n - s joins it in the second profile

    The latter is large where two profiles hardly differ, and for one person, to whom only her own rooms matter. `whole`
    is the log of the former, from `_of_profile`.
    """
    n, k = profiles[0].shape
    inside = _subset(k, int(rooms.sum()))
    for l in np.flatnonzero(rooms).tolist():
        before = profiles[0][:, l]
        size = int(before.sum())
        inside += _subset(n, size)
        for one in profiles[1:]:
            inside += _subset(size, int((before & ~one[:, l]).sum()))
            inside += _subset(n - size, int((one[:, l] & ~before).sum()))
    return math.log(2) + min(inside, whole)


def _of_profile(spaces: ActionSpaces, profile: BoolArray) -> float:
    """Return log(1 / weight) of a profile: the larger one of being in the action spaces, and of any sets."""
    found = sum(_subset(profile.shape[1], size) for size in profile.sum(axis=1).tolist())
    if bool(spaces.contains(profile).all()):
        found = min(found, sum(space.log_size for space in spaces.spaces))
    return math.log(2) + found


def _subset(among: int, size: int) -> float:
    """Return log(1 / weight) of a set of so many, if all sizes are alike, and all sets of a size."""
    return math.log((among + 1) * math.comb(among, size))


def promises_for_fixed(delta: float, n_counted: int, n_changed: int) -> Promises:
    """Return what holds for two profiles that were fixed without looking at these utilities.

    Half of delta is for both ends of everybody's difference, a quarter for those of each person to whom something
    changes, a quarter for those of everybody's and each person's value in both profiles.
    """
    value = Promise(None, one_event(delta / (16 * (n_counted + 1))))
    change = Stated(Promise(None, one_event(delta / 4)), Promise(None, one_event(delta / (8 * max(1, n_changed)))))
    return Promises(change, (Stated(value, value), Stated(value, value)))


def ends_of_people(evidence: Evidence, people: StepDesign, promise: Promise) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper end of every row."""

    def upper(sign: float) -> FloatArray:
        bounds = [evidence.range_bound(people)]
        if promise.uniform is not None:
            bounds.append(evidence.uniform_bound(people, promise.uniform))
        bounds.append(evidence.direction_bound(people, promise.log_term))
        return np.asarray(np.minimum.reduce([_at(bound, people, sign) for bound in bounds]))

    return 0.0 - upper(-1.0), upper(1.0)


def ends_of_sum(evidence: Evidence, people: StepDesign, counted: BoolArray, promise: Promise) -> tuple[float, float]:
    """Return the lower and upper end of the sum over those who are counted."""
    total, own = summed(people, counted, symmetric=evidence.is_symmetric), rows_of(people, counted)

    def upper(sign: float) -> float:
        found = [_at(evidence.range_bound(total), total, sign).sum()]
        if promise.uniform is not None:
            found.append(_uniform_sum(evidence, total, own, promise.uniform, sign))
        if not evidence.allows_adaptivity and evidence.is_bounded:
            found.append(_direction_sum(evidence, total, own, promise.log_term, sign))
        return float(min(found))

    return 0.0 - upper(-1.0), upper(1.0)


def _at(bound: GainBound, design: StepDesign, sign: float) -> FloatArray:
    """Return the bound of every row, or of minus every row."""
    found = bound.at(sign * design.moves, np.arange(len(design.owners)))[:, 0]
    return np.where(np.isnan(found), np.inf, found)


def _uniform_sum(evidence: Evidence, total: SumDesign, own: StepDesign, delta: float, sign: float) -> float:
    if isinstance(evidence, PairEvidence):
        return float(_at(evidence.uniform_bound(total, delta), total, sign).sum())
    if isinstance(evidence, TotalEvidence) and isinstance(evidence.estimate, JointRidge) and evidence.is_bounded:
        return float(_at(_joint_ellipsoid(evidence, evidence.estimate, total, delta), total, sign).sum())
    bounds = (evidence.range_bound(own), evidence.uniform_bound(own, delta))
    return float(np.minimum.reduce([_at(bound, own, sign) for bound in bounds]).sum())


def _direction_sum(evidence: Evidence, total: SumDesign, own: StepDesign, log_term: LogTerm, sign: float) -> float:
    if isinstance(evidence, TotalEvidence) and isinstance(evidence.estimate, JointRidge):
        return float(_at(_joint_direction(evidence, evidence.estimate, total, log_term), total, sign).sum())
    if isinstance(evidence, PairEvidence) and not evidence.allows_dependence:
        return float(_at(evidence.direction_bound(total, log_term), total, sign).sum())
    # No range for single agents here: which of them it would be smaller for depends on the data.
    return float(_at(evidence.direction_bound(own, log_term), own, sign).sum())


# --- Sums over edges of the joint estimator -----------------------------------------------------------


def _edge_directions(estimate: JointRidge, total: SumDesign) -> FloatArray:
    """Return the coefficients of what is gained and of what is lost over all edges, shape (2, edges)."""
    edge = np.stack(estimate.edges)[total.agent, total.own_places]
    found = np.zeros((2, len(estimate.moment)))
    np.add.at(found, ((total.weight < 0).astype(np.int64), edge), np.abs(total.weight))
    return found


def _joint_ellipsoid(evidence: TotalEvidence, estimate: JointRidge, total: SumDesign, delta: float) -> GainBound:
    projection = estimate.factor(0).project(_edge_directions(estimate, total))
    radius = widths.ellipsoid_radius(estimate, 0, delta)
    return widths.ellipsoid_bound(
        total.marginals, total.linear(evidence.values), projection.ellipsoid[None], np.array([radius])
    )


def _joint_direction(evidence: TotalEvidence, estimate: JointRidge, total: SumDesign, log_term: LogTerm) -> GainBound:
    projection = estimate.factor(0).project(_edge_directions(estimate, total))
    proxy, bias = (form(projection, estimate)[None] for form in (widths.noise_form, widths.bias_form))
    return widths.totals_bound(total, total.linear(evidence.values), proxy, bias, log_term)
