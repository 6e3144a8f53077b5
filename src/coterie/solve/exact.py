"""The best pure profile with proof: enumeration, or a mixed-integer program. Oracles for small games."""

from dataclasses import replace
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.pair_evidence import PairEvidence
from coterie.errors import InputError, TooLargeError
from coterie.game.utilities import SizeFree
from coterie.solve.control import Control
from coterie.solve.objective import GapObjective, Objective, PairedObjective
from coterie.solve.pure import pure
from coterie.solve.solution import Solution

MOST_PROFILES = 2**20
"""Up to so many pure profiles are enumerated."""

MOST_CHOICES = 120
"""Up to so many agents x actions a mixed-integer program is set up."""

CUTOFF = 1e-5
"""So far above the best profile known the program may look."""


def enumerate_profiles(
    objective: Objective, control: Control | None = None, *, limit: int = MOST_PROFILES, keep: int = 1
) -> Solution:
    """Look at every pure profile; refuses above `limit` of them.

    Agents are looked at one after the other, and a profile is dropped as soon as one of them has a
    larger margin than the `keep` best profiles so far.
    """
    control = control or Control()
    spaces = objective.spaces
    if spaces.size > limit:
        raise TooLargeError(f"there are {spaces.size:.3g} pure profiles; at most {limit} are enumerated")
    best: BoolArray = spaces.sample(control.rng, 1)
    values, blocks = np.full(1, np.inf), 0
    agents = np.arange(spaces.n_agents)
    total = -(-spaces.size // 4096)
    with control.running():
        for block in spaces.joint_actions(4096):
            kept, largest = block, np.full(len(block), -np.inf)
            for i in agents:
                largest = np.maximum(largest, objective.margins(kept, agents[i : i + 1])[:, 0])
                promising = largest < values[-1] if len(values) == keep else largest < np.inf
                kept, largest = kept[promising], largest[promising]
                if not len(kept):
                    break
            if len(kept):
                known = values < np.inf
                best, values = np.concatenate([best[known], kept]), np.concatenate([values[known], largest])
                first = np.argsort(values, kind="stable")[:keep]
                best, values = best[first], values[first]
            blocks += 1
            control.report("enumeration", blocks, total, float(values[0]))
    found = objective.value(best[0])
    return Solution(
        objective.strategy(best[0]),
        found,
        "enumeration",
        objective.label,
        control.ended or "optimal",
        1,
        blocks,
        control.seconds,
        bound=None if control.ended else found,
        candidates=tuple(objective.strategy(profile) for profile in best),
    )


def mixed_integer(objective: Objective, control: Control | None = None, *, limit: int = MOST_CHOICES) -> Solution:
    """Minimise the box form of `paired`, or a gap, over pure profiles by a mixed-integer program (HiGHS).

    y_ia says that agent i plays a, x_jl = sum over a containing l of y_ja, and for all i, a and a' != a

        t >= sum over l in a', not a, of U_i(l) - sum over l in a, not a', of L_i(l) - M (1 - y_ia)

    with U_i(l) and L_i(l) linear in x. `pure` supplies a cutoff. The bound is proven up to the solver's
    tolerance of 1e-6, in units of the game. Refuses above `limit` choices (agents x actions), and utilities that
    depend on sizes.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    control = control or Control()
    unit, spaces = objective.game.unit, objective.spaces
    upper, lower = (part / unit for part in _pair_arrays(objective))
    choices = sum(space.size for space in spaces.spaces)
    if choices > limit:
        raise TooLargeError(f"the program would have {choices:.3g} choices; at most {limit} are taken")
    inner = control.nested()
    begin = pure(objective, inner, starts=64, kicks=4)
    cutoff = begin.value / unit + CUTOFF
    begin = replace(begin, method="mixed-integer program", note="")
    listed = [space.enumerate() for space in spaces.spaces]
    ends = np.cumsum([len(sets) for sets in listed])
    blocks = [slice(end - len(sets), end) for sets, end in zip(listed, ends.tolist(), strict=True)]
    matrix, bounds, least = _deviation_rows(listed, blocks, upper, lower, spaces.counted)
    if not len(matrix):
        return replace(begin, status="optimal", bound=begin.value)
    one = np.zeros((len(listed), choices + 1))
    for i, block in enumerate(blocks):
        one[i, block] = 1.0
    options: Any = {"mip_rel_gap": 0.0}
    if control.remaining is not None:
        options["time_limit"] = max(control.remaining, 1e-3)
    found: Any = None
    with control.running():
        control.follow(inner)
        found = milp(
            np.eye(choices + 1)[-1],
            constraints=[LinearConstraint(csr_array(matrix), ub=bounds), LinearConstraint(csr_array(one), lb=1, ub=1)],
            integrality=np.append(np.ones(choices), 0),
            bounds=Bounds(np.append(np.zeros(choices), least), np.append(np.ones(choices), cutoff)),
            options=options,
        )
    if found is None:
        return replace(begin, status=control.ended or "interrupted", seconds=control.seconds)
    profile, value = begin.strategy.sets, begin.value
    if found.x is not None:
        other = np.array([sets[found.x[block].argmax()] for sets, block in zip(listed, blocks, strict=True)])
        if objective.value(other) < value:
            profile, value = other, objective.value(other)
    known = found.mip_dual_bound is not None and np.isfinite(found.mip_dual_bound)
    return replace(
        begin,
        strategy=objective.strategy(profile),
        candidates=(objective.strategy(profile),),
        value=value,
        status="optimal" if found.status == 0 else "time",
        seconds=control.seconds,
        bound=min(float(found.mip_dual_bound) * unit, value) if known else None,
    )


def _deviation_rows(
    listed: list[BoolArray], blocks: list[slice], upper: FloatArray, lower: FloatArray, counted: BoolArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the rows over (y, t) of deviations that count, their right-hand sides, and a bound from below for t."""
    choices = blocks[-1].stop
    rows, places, tops, bottoms = [], [], [], []
    for i in np.flatnonzero(counted).tolist():
        own = listed[i]
        # How everybody's choice of a set enters i's rooms: one column per choice, shape (k, choices).
        raising = np.concatenate([upper[:, i, j, None] * sets.T for j, sets in enumerate(listed)], axis=1)
        lowering = np.concatenate([lower[:, i, j, None] * sets.T for j, sets in enumerate(listed)], axis=1)
        raising[:, blocks[i]] = lowering[:, blocks[i]] = 0.0
        for a in range(len(own)):
            for other in range(len(own)):
                if a == other:
                    continue
                row = (own[other] & ~own[a]) @ raising - (own[a] & ~own[other]) @ lowering
                rows.append(row)
                places.append(blocks[i].start + a)
                tops.append(sum(float(row[block].max()) for block in blocks))
                bottoms.append(sum(float(row[block].min()) for block in blocks))
    least = min(bottoms, default=0.0)
    matrix, bounds = np.zeros((len(rows), choices + 1)), np.array(tops) - least
    for t, (row, place) in enumerate(zip(rows, places, strict=True)):
        matrix[t, :choices] = row
        matrix[t, place] += bounds[t]
        matrix[t, -1] = -1.0
    return matrix, bounds, least


def _pair_arrays(objective: Objective) -> tuple[FloatArray, FloatArray]:
    """Return the largest and smallest pair utilities that count, each of shape (k, n, n)."""
    n, k = objective.game.n_agents, objective.game.n_coalitions
    own = np.eye(n, dtype=bool)
    if isinstance(objective, GapObjective) and isinstance(objective.game.utilities, SizeFree):
        means = np.stack([objective.game.utilities.means.matrix(l) for l in range(k)])
        return means, means
    evidence = objective.evidence if isinstance(objective, PairedObjective) and objective.form == "box" else None
    if not isinstance(evidence, PairEvidence) or not evidence.unknowns.is_linear:
        raise InputError("the program takes the gap, or the box form of paired, of size-free or pooled utilities")
    lower, upper = evidence.interval_arrays(objective.delta)  # type: ignore[attr-defined]
    bounds, unseen = evidence.estimate.bounds, evidence.estimate.moments.unseen > 0
    if not np.isfinite(bounds.high - bounds.low) and unseen.any():
        raise InputError("the program needs bounded utilities where pairs were never seen")
    # No more than the range, pair by pair: a bound from below for what the certificate takes over whole rooms.
    upper = np.where(unseen, bounds.high, np.minimum(upper + bounds.rounding, bounds.high))
    lower = np.where(unseen, bounds.low, np.maximum(lower - bounds.rounding, bounds.low))
    shape = (k, n, n)
    return np.broadcast_to(np.where(own, 0.0, upper), shape), np.broadcast_to(np.where(own, 0.0, lower), shape)
