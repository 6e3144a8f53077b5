"""What one more observation of each pair is worth to a certificate, and the joint action that is worth most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.gains import GainBound, is_enumerated
from coterie.certificates.pair_evidence import PairEvidence
from coterie.collect.outlook import Outlook
from coterie.collect.sought import SoughtAgainst, soft_maximum
from coterie.game.actions import ActionSpaces
from coterie.game.steps import small_steps
from coterie.game.strategy import Strategy

STARTS = 4
"""How many searches for each of them."""


@dataclass(frozen=True, eq=False)
class Worth:
    """What observations are worth at some counts."""

    pairs: FloatArray
    """g_e for both orders together, in the shape of the counts, symmetric."""
    value: float
    """sum of w_d h_d, the soft maximum's mean bound."""


def worth_of(outlook: Outlook, count: FloatArray) -> Worth:
    """Return minus the gradient of the soft maximum of the bounds, agent by agent and deviation by deviation."""
    evidence = outlook.with_counts(count)
    r, moments = evidence.estimate.bounds.half_range, evidence.estimate.moments
    variance = np.where(moments.count > 0, np.maximum(outlook.variance, 0.01 * r**2), r**2) * outlook.matters
    counted = np.maximum(count, 0.5)  # what was never seen is worth a lot, but not infinitely much
    if outlook.steps is not None:
        return _worth_against(outlook.steps, evidence, variance, counted)
    design = evidence.design(outlook.strategy)
    bound, rooms, spaces = outlook.bound(evidence, design), evidence.rooms(design), outlook.spaces
    square = design.quadratic(variance / counted)
    listed, value = close_deviations(bound, rooms, outlook.strategy, spaces)
    pairs = np.zeros_like(count)
    for i, x, widths in listed:
        form = np.einsum("al,lm,am->a", x, square[i], x) if design.shares_unknowns else x**2 @ square[i]
        share = widths / (2 * np.maximum(form, 1e-300))
        # Each room has coefficients for all tables; they meet in one unknown only where tables are shared.
        worth = np.tensordot(share, np.tensordot(x, design.coefficients(i), axes=1) ** 2, axes=1)
        pairs[:, i] += worth * variance[:, i] / counted[:, i] ** 2
    return Worth(pairs + np.swapaxes(pairs, 1, 2), value)


def _worth_against(sought: SoughtAgainst, evidence: PairEvidence, variance: FloatArray, counted: FloatArray) -> Worth:
    """Return the same for steps: each through the row that decides it, whose coefficients are known one by one."""
    rows, widths, value = sought.deciding(evidence)
    share, design = np.zeros(len(sought.design.owners)), sought.design
    form = design.quadratic(variance / counted).sum(axis=1)
    share[rows] = widths / (2 * np.maximum(form[rows], 1e-300))
    pairs, places = np.zeros_like(counted), design.places
    np.add.at(pairs, places, share[design.row] * design.weight**2 * variance[places] / counted[places] ** 2)
    return Worth(pairs + np.swapaxes(pairs, 1, 2), value)


def close_deviations(
    bound: GainBound, rooms: FloatArray, strategy: Strategy, spaces: ActionSpaces
) -> tuple[list[tuple[int, FloatArray, FloatArray]], float]:
    """Return (agent, deviations x, w_d width_d) of all who have a choice, and the soft maximum sum of w_d h_d."""
    found = []
    for i in np.flatnonzero(spaces.counted).tolist():
        space = spaces.spaces[i]
        own = strategy.sets[strategy.owner == i][0]
        sets = space.enumerate() if is_enumerated(space) else small_steps(space, own)
        x = sets - strategy.marginals[i]
        values = bound.at(x[None], np.array([i]))[0]  # all actions at once: shares of delta are by action
        moved = (x != 0).any(axis=1)
        if moved.any():
            found.append((i, x[moved], values[moved], values[moved] - x[moved] @ rooms[i]))
    if not found:
        return [], 0.0
    everything, widths = (np.concatenate([one[t] for one in found]) for t in (2, 3))
    soft = soft_maximum(everything, widths)
    shares = np.split(soft * np.maximum(widths, 0.0), np.cumsum([len(one[1]) for one in found])[:-1])
    return [(i, x, share) for (i, x, _, _), share in zip(found, shares, strict=True)], float(soft @ everything)


def best_joint_action(
    outlook: Outlook,
    pairs: FloatArray,
    rng: np.random.Generator,
    played: Sequence[BoolArray],
    tried: Sequence[BoolArray] = (),
) -> BoolArray:
    """Return a joint action with a large sum of weights, by letting one agent after the other choose.

    What an agent adds to the sum is a sum over the coalitions that she joins, so her best action is found exactly
    and every step raises the sum. Where rules say what may be planned, see `coterie.collect.allowed`.
    """
    if outlook.allowed is not None:
        begin = [*tried, *([outlook.strategy.sets] if outlook.strategy.is_pure else [])]
        return outlook.allowed.best(outlook.evidence.unknowns, pairs, rng, played, begin)
    spaces = outlook.spaces
    starts = list(played[:-4:-1])
    if outlook.strategy.is_pure and spaces.contains(outlook.strategy.sets).all():
        starts.append(outlook.strategy.sets)
    starts += [*spaces.sample(rng, STARTS)]
    joined = np.stack(starts).astype(np.float64)  # all searches side by side
    for _ in range(50):
        changed = False
        for i in rng.permutation(spaces.n_agents).tolist():
            weight = _added(pairs, joined, i)
            value, action = spaces.spaces[i].best_responses(weight)
            better = value > (joined[:, i] * weight).sum(axis=1) * (1 + 1e-9)
            joined[better, i] = action[better]
            changed |= bool(better.any())
        if not changed:
            break
    best, found = 0.0, starts[0]
    for one in joined:
        total = float((outlook.evidence.unknowns.observed(one[None].astype(bool), [1]) * pairs).sum())
        if total > best * (1 + 1e-6):  # what was planned already is kept where nothing is better
            best, found = total, one.astype(bool)
    return np.asarray(found)


def _added(pairs: FloatArray, joined: FloatArray, agent: int) -> FloatArray:
    """Return what an agent adds to the sum of weights in each coalition, the others staying.

    `joined` has a joint action (n, k) per search; the result has a row (k,) per search.
    """
    _, _, k = joined.shape
    tables = np.arange(k) if len(pairs) > 1 else np.zeros(k, dtype=np.int64)
    others = joined.copy()
    others[:, agent] = 0.0
    if pairs.ndim == 3:
        return np.asarray(np.einsum("lj,bjl->bl", pairs[tables, agent], others))
    found = np.empty((len(joined), k))
    for b, l in np.ndindex(*found.shape):
        t, there = tables[l], np.flatnonzero(others[b, :, l])
        among, size = pairs[t][np.ix_(there, there)], len(there)
        without, with_her = among[..., size].sum() / 2, among[..., size + 1].sum() / 2
        found[b, l] = with_her - without + pairs[t, agent, there, size + 1].sum()
    return found


def most_per_sample(pairs: FloatArray, spaces: ActionSpaces) -> float:
    """Return U: no joint action has a larger sum of weights over unordered pairs.

    Half of what each agent's pairs are worth at best: with everybody who can join, or, where sizes count, at the
    best size s with the s - 1 partners who are worth most.
    """
    can_join = spaces.can_join.astype(np.float64)
    tables = np.arange(spaces.n_coalitions) if len(pairs) > 1 else np.zeros(spaces.n_coalitions, dtype=np.int64)
    own = np.empty((spaces.n_agents, spaces.n_coalitions))
    for l, t in enumerate(tables.tolist()):
        if pairs.ndim == 3:
            own[:, l] = pairs[t] @ can_join[:, l]
        else:
            best = np.cumsum(-np.sort(-pairs[t] * can_join[None, :, l, None], axis=1), axis=1)  # (n, partners, sizes)
            sizes = np.arange(2, spaces.n_agents + 1)
            own[:, l] = best[:, sizes - 2, sizes].max(axis=1)
    return float(spaces.best_responses(own)[0].sum() / 2)
