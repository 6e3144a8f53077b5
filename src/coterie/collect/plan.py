"""What to observe next: the pairs, coalitions and joint actions that would shrink a certificate most.

A certificate is the largest of the bounds h_d = gain_d + width_d over all deviations d. A planned sample is
a joint action; it adds one observation of every pair in every coalition that it brings together. The plan
is a greedy design: each block of samples plays the joint action with the largest sum of weights

    g_e = sum over d of w_d kappa_d c_de^2 v_e / (2 N_e^2 sqrt(q_d)),   q_d = sum over e of c_de^2 v_e / N_e,

minus the gradient of the bounds, with w_d a soft maximum over deviations, c_de the coefficient of pair e,
v_e its variance and kappa_d = width_d / sqrt(q_d), recomputed from the exact bounds after every block.

Guarantee, computed for every plan (`Collection.least`). With gains and kappa as they are expected to be after the
plan, and counts of at least 1/2, every h_d is convex in the counts:
sqrt(q_d) is the Euclidean norm of the functions |c_de| sqrt(v_e / N_e), which are convex and positive. So for
any weights w_d >= 0 that sum to 1 and any other plan with counts N' = N0 + A',

    max_d h_d(N') >= sum_d w_d h_d(N') >= sum_d w_d h_d(N) - sum_e g_e (N'_e - N_e),

and one sample adds at most U = 1/2 sum_i max over a_i of sum over l in a_i, j that can join l, of g_lij to
sum_e g_e N'_e. Hence no plan of m samples gets below sum_d w_d h_d(N) + sum_e g_e (N - N0)_e - m U.

A plan looks at utilities. So does whoever collects by it, and a certificate of the old and the new samples
together then leans on an assumption that the plan breaks (that actions did not depend on utilities). The
certificate of the new samples alone does not: `fresh=True` plans for that one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certify.evidence import PairEvidence
from coterie.certify.gain_bounds import is_enumerated
from coterie.collect.outlook import Outlook
from coterie.joint_actions import ActionSpaces
from coterie.strategy import Strategy

BLOCKS = 24
"""A plan has at most so many different joint actions."""

STARTS = 4
"""How many searches for each of them."""

SHARPNESS = 40.0
"""How sharply the soft maximum prefers the largest bounds: e-fold for every 1/40 of the largest width."""

MOST_SAMPLES = 1_000_000
"""Above so many samples, a target counts as out of reach."""


@dataclass(frozen=True)
class Need:
    """A pair to bring together, how often it was seen, and what one more observation is worth."""

    agent: str
    partner: str
    coalition: str
    seen: int
    planned: int
    worth: float
    """By how much the (soft) largest bound shrinks with one more observation, to first order."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A joint action to play so many times."""

    strategy: Strategy
    times: int


@dataclass(frozen=True, eq=False)
class Collection:
    """A plan for more samples, and what it is expected to certify."""

    samples: int
    fresh: bool
    """Whether the certificate is to be of the new samples alone."""
    now: float
    """The certificate at present (fresh: what the range of utilities says)."""
    predicted: float
    """What the plan is expected to certify, on average over what the log leaves possible."""
    likely: tuple[float, float]
    """Eight of ten possible outcomes are in between."""
    random: float
    """What as many samples of uniformly random joint actions are expected to certify."""
    least: float
    """No plan of so many samples is expected to get below this (see the module)."""
    needs: tuple[Need, ...]
    """All pairs that matter, the one that is worth most first."""
    coalitions: tuple[tuple[str, float], ...]
    """Coalition -> its share of what all observations are worth, the largest first."""
    plan: tuple[Planned, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "samples": self.samples,
            "fresh": self.fresh,
            "certificate_now": self.now,
            "predicted": self.predicted,
            "likely": list(self.likely),
            "predicted_random": self.random,
            "no_plan_below": self.least,
            "pairs": [vars(need) for need in self.needs],
            "coalitions": [{"coalition": name, "share": share} for name, share in self.coalitions],
            "plan": [{"times": one.times, "actions": one.strategy.actions} for one in self.plan],
        }


def predict(
    evidence: PairEvidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    added: FloatArray,
    rng: np.random.Generator,
    *,
    fresh: bool = False,
) -> float:
    """Return the certificate that is expected after `added` more observations of each pair, shaped as the counts.

    It is averaged over what the log leaves possible, see `coterie.collect.outlook`. `fresh` predicts the
    held-out certificate of the new samples alone, else `paired` of all.
    """
    outlook = Outlook(evidence, strategy, spaces, delta, fresh)
    return float(outlook.predicted(outlook.base + added, rng).mean())


def observations(evidence: PairEvidence, joint_actions: BoolArray, times: Sequence[int] | IntArray) -> FloatArray:
    """Return how often each pair is observed in joint actions (b, n, k) that are played so many times."""
    joined = joint_actions.astype(np.float64)
    met = np.einsum("b,bil,bjl->lij", np.asarray(times, dtype=np.float64), joined, joined)
    if evidence.estimate.structure == "pooled":
        met = met.sum(axis=0, keepdims=True)
    agents = np.arange(met.shape[1])
    met[:, agents, agents] = 0.0
    return np.asarray(met)


def plan_collection(
    evidence: PairEvidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    samples: int,
    rng: np.random.Generator,
    *,
    fresh: bool = False,
) -> Collection:
    """Plan `samples` joint actions that shrink the certificate of a fixed profile; see the module for how.

    Parameters
    ----------
    evidence
        What a semi-bandit log shows, sizes ignored.
    strategy, spaces
        The profile to certify and what agents may do; planned joint actions are of these spaces.
    delta
        The certificate's.
    samples
        How many samples can be collected.
    rng
        Where the searches for joint actions start.
    fresh
        Whether the new samples alone are to certify (`holdout`), or all together (`paired`).
    """
    outlook = Outlook(evidence, strategy, spaces, delta, fresh)
    return _collection(outlook, _played(outlook, samples, rng), rng)


def samples_needed(
    evidence: PairEvidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    target: float,
    rng: np.random.Generator,
    *,
    fresh: bool = False,
    most: int = MOST_SAMPLES,
) -> tuple[int | None, Collection]:
    """Return how many planned samples are expected to certify `target`, and the plan; None if `most` are too few.

    Within about a tenth: by doubling, then bisection.
    """
    outlook = Outlook(evidence, strategy, spaces, delta, fresh)

    def attempt(samples: int) -> tuple[bool, _Played]:
        played = _played(outlook, samples, rng)
        return float(outlook.predicted(played.count, rng).mean()) <= target, played

    low, high = 0, 8
    reached, found = attempt(high)
    while not reached:
        if high >= most:
            return None, _collection(outlook, found, rng)
        low, high = high, min(2 * high, most)
        reached, found = attempt(high)
    while high - low > max(1, high // 10):
        middle = (low + high) // 2
        reached, tried = attempt(middle)
        if reached:
            high, found = middle, tried
        else:
            low = middle
    return high, _collection(outlook, found, rng)


@dataclass(frozen=True, eq=False)
class _Played:
    """Joint actions with how often each is played, and the counts that they lead to."""

    actions: list[BoolArray]
    times: list[int]
    count: FloatArray


def _played(outlook: Outlook, samples: int, rng: np.random.Generator) -> _Played:
    """Choose joint actions block by block."""
    step = max(1, -(-samples // BLOCKS))
    found = _Played([], [], outlook.base)
    for start in range(0, samples, step):
        weights = _weights(outlook, found.count)
        action = _best_joint_action(outlook, weights.pairs, rng, found.actions)
        often = min(step, samples - start)
        count = found.count + observations(outlook.evidence, action[None], [often])
        found = _Played([*found.actions, action], [*found.times, often], count)
    return found


def _collection(outlook: Outlook, played: _Played, rng: np.random.Generator) -> Collection:
    """Say what a plan is good for."""
    spaces, count, samples = outlook.spaces, played.count, sum(played.times)
    first, last = _weights(outlook, outlook.base), _weights(outlook, count)
    chance = np.einsum("il,jl->lij", *[spaces.uniform_marginals()] * 2) * ~np.eye(spaces.n_agents, dtype=bool)
    if outlook.evidence.estimate.structure == "pooled":
        chance = chance.sum(axis=0, keepdims=True)  # two people who share several teams are rare
    outcomes = outlook.predicted(count, rng)
    spent = float((last.pairs * (count - outlook.base)).sum() / 2)
    return Collection(
        samples,
        outlook.fresh,
        outlook.now(),
        float(outcomes.mean()),
        (float(np.quantile(outcomes, 0.1)), float(np.quantile(outcomes, 0.9))),
        outlook.predicted_at_random(np.minimum(chance, 1.0), samples, rng),
        float(np.clip(last.value + spent - samples * _most_per_sample(last.pairs, spaces), 0.0, outcomes.mean())),
        _needs(outlook, first.pairs, count),
        _by_coalition(outlook, first.pairs),
        _merged(outlook, played.actions, played.times),
    )


@dataclass(frozen=True, eq=False)
class _Weights:
    """What observations are worth at some counts."""

    pairs: FloatArray
    """g_e for both orders together, in the shape of the counts, symmetric."""
    value: float
    """sum of w_d h_d, the soft maximum's mean bound."""


def _weights(outlook: Outlook, count: FloatArray) -> _Weights:
    """Return minus the gradient of the soft maximum of the bounds, agent by agent and deviation by deviation."""
    evidence = outlook.with_counts(count)
    design, moments = evidence.design(outlook.strategy), evidence.estimate.moments
    bound, rooms, spaces = outlook.bound(evidence, design), evidence.rooms(design), outlook.spaces
    r = evidence.estimate.bounds.half_range
    variance = np.where(moments.count > 0, np.maximum(outlook.variance, 0.01 * r**2), r**2)
    variance = variance * ~np.eye(variance.shape[1], dtype=bool)  # nobody is her own partner
    counted = np.maximum(count, 0.5)  # what was never seen is worth a lot, but not infinitely much
    square = design.quadratic(variance / counted)
    p, pooled = outlook.strategy.marginals, design.shares_unknowns
    found: list[tuple[int, FloatArray, FloatArray, FloatArray]] = []
    for i, space in enumerate(spaces.spaces):
        sets = space.enumerate() if is_enumerated(space) else _small_moves(outlook, i)
        x = sets - p[i]
        values = bound.at(x[None], np.array([i]))[0]  # all actions at once: shares of delta are by action
        moved = (x != 0).any(axis=1)
        if moved.any():
            x, values = x[moved], values[moved]
            form = np.einsum("al,lm,am->a", x, square[i], x) if pooled else x**2 @ square[i]
            found.append((i, x, values, np.maximum(form, 1e-300)))
    if not found:
        return _Weights(np.zeros_like(count), 0.0)
    everything = np.concatenate([values for _, _, values, _ in found])
    widths = np.concatenate([values - x @ rooms[i] for i, x, values, _ in found])
    scale = max(float(widths[everything.argmax()]), 1e-9) / SHARPNESS
    soft = np.exp((everything - everything.max()) / scale)
    soft /= soft.sum()
    pairs, place = np.zeros_like(count), 0
    for i, x, values, form in found:
        share = soft[place : place + len(x)] * np.maximum(values - x @ rooms[i], 0.0) / (2 * form)
        place += len(x)
        worth = share @ (x @ p.T) ** 2 if pooled else (share @ x**2)[:, None] * p.T**2
        pairs[:, i] += worth * variance[:, i] / counted[:, i] ** 2
    agents = np.arange(pairs.shape[1])
    pairs[:, agents, agents] = 0.0
    return _Weights(pairs + np.swapaxes(pairs, 1, 2), float(soft @ everything))


def _small_moves(outlook: Outlook, agent: int) -> BoolArray:
    """Return the actions that differ from the agent's in one coalition or swap one for another."""
    own = outlook.strategy.sets[outlook.strategy.owner == agent][0]
    k = len(own)
    flips = [(l,) for l in range(k)] + [(l, m) for l in np.flatnonzero(own) for m in np.flatnonzero(~own)]
    moves = np.repeat(own[None], len(flips), axis=0)
    for row, flipped in zip(moves, flips, strict=True):
        row[list(flipped)] ^= True
    return np.asarray(moves[outlook.spaces.spaces[agent].contains(moves)])


def _best_joint_action(
    outlook: Outlook, pairs: FloatArray, rng: np.random.Generator, played: Sequence[BoolArray]
) -> BoolArray:
    """Return a joint action with a large sum of weights: best-response dynamics of the game with these utilities.

    The sum of weights is an exact potential of that game, so every step raises it.
    """
    spaces = outlook.spaces
    starts = list(played[:-4:-1])
    if outlook.strategy.is_pure and spaces.contains(outlook.strategy.sets).all():
        starts.append(outlook.strategy.sets)
    starts += [*spaces.sample(rng, STARTS)]
    best, found = 0.0, starts[0]
    for start in starts:
        joined = start.astype(np.float64)
        for _ in range(50):
            changed = False
            for i in rng.permutation(spaces.n_agents).tolist():
                rooms = np.einsum("tj,jl->tl", pairs[:, i], joined)
                weight = np.diagonal(rooms) if len(pairs) > 1 else rooms[0]
                value, action = spaces.spaces[i].best_responses(weight[None])
                if value[0] > joined[i] @ weight * (1 + 1e-9):
                    joined[i], changed = action[0], True
            if not changed:
                break
        total = float((np.einsum("il,jl->lij", joined, joined) * pairs).sum())
        if total > best * (1 + 1e-6):  # what was planned already is kept where nothing is better
            best, found = total, joined.astype(bool)
    return np.asarray(found)


def _most_per_sample(pairs: FloatArray, spaces: ActionSpaces) -> float:
    """Return U: no joint action has a larger sum of weights over unordered pairs."""
    rooms = np.einsum("tij,jl->til", pairs, spaces.can_join.astype(np.float64))
    own = np.einsum("lil->il", rooms) if len(pairs) > 1 else rooms[0]
    return float(spaces.best_responses(own)[0].sum() / 2)


def _needs(outlook: Outlook, pairs: FloatArray, count: FloatArray) -> tuple[Need, ...]:
    seen, names = outlook.moments.count, outlook.strategy
    upper = np.triu(np.ones(pairs.shape[1:], dtype=bool), 1)
    places = np.argwhere((pairs > 0) & upper)
    order = np.argsort(-pairs[tuple(places.T)], kind="stable")
    pooled = len(pairs) < len(names.coalitions)
    return tuple(
        Need(
            names.agents[i], names.agents[j], "any" if pooled else names.coalitions[l],
            int(seen[l, i, j]), round(float(count[l, i, j] - outlook.base[l, i, j])), float(pairs[l, i, j]),
        )
        for l, i, j in places[order].tolist()
    )  # fmt: skip


def _by_coalition(outlook: Outlook, pairs: FloatArray) -> tuple[tuple[str, float], ...]:
    shares = pairs.sum(axis=(1, 2)) / max(float(pairs.sum()), 1e-300)
    names = outlook.strategy.coalitions if len(shares) > 1 else ("any",)
    return tuple((names[l], float(shares[l])) for l in np.argsort(-shares, kind="stable").tolist())


def _merged(outlook: Outlook, played: Sequence[BoolArray], times: Sequence[int]) -> tuple[Planned, ...]:
    """Add up the times of equal joint actions; the most frequent first."""
    total: dict[bytes, int] = {}
    action_of: dict[bytes, BoolArray] = {}
    for action, count in zip(played, times, strict=True):
        total[action.tobytes()] = total.get(action.tobytes(), 0) + count
        action_of[action.tobytes()] = action
    names = (outlook.strategy.agents, outlook.strategy.coalitions)
    ordered = sorted(total, key=lambda key: -total[key])
    return tuple(Planned(Strategy.pure(action_of[key], *names), total[key]) for key in ordered)
