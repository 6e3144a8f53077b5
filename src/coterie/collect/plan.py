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

Against other steps than single deviations, under rules or for averages, a certificate is a largest of smallest bounds,
which is not convex; `Collection.least` is then the gap that is expected of the profile, below which no certificate is
expected to get. Rules about what may be planned are in `coterie.collect.allowed`.

A plan looks at utilities. So does whoever collects by it, and a certificate of the old and the new samples
together then leans on an assumption that the plan breaks (that actions did not depend on utilities). The
certificate of the new samples alone does not: `fresh=True` plans for that one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.against import Against
from coterie.certificates.pair_evidence import PairEvidence
from coterie.collect.allowed import Allowed
from coterie.collect.outlook import Outlook, as_cells
from coterie.collect.worth import best_joint_action, most_per_sample, worth_of
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy

BLOCKS = 24
"""A plan has at most so many different joint actions."""

MOST_SAMPLES = 1_000_000
"""Above so many samples, a target counts as out of reach."""


NOTICED = 0.05
"""A certificate that is smaller by this share is noticeably smaller."""


@dataclass(frozen=True)
class Need:
    """A pair to bring together, how often it was seen, and what one more observation is worth."""

    agent: str
    partner: str
    coalition: str
    size: int | None
    """The size of the coalition, where that matters."""
    seen: int | None
    """None where totals hide it."""
    planned: int
    worth: float
    """By how much the (soft) largest bound shrinks with one more observation, to first order."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A joint action to play so many times."""

    strategy: Strategy
    times: int
    moves: int | None = None
    """How many people are elsewhere than today; None where that is not known."""


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
    limit: float
    """What any number of samples would leave: the gap that is expected of the profile."""
    today: float | None = None
    """What as many samples of today's assignment are expected to certify; None where it may not be played."""
    newcomers: tuple[str, ...] = ()
    """Who was never observed with anybody."""
    newcomers_share: float = 0.0
    """The share of pairs with newcomers in what all observations are worth."""

    def is_worthwhile(self, certificate: float) -> bool:
        """Return whether the plan is expected to certify noticeably less than this."""
        return self.predicted <= (1 - NOTICED) * certificate and certificate > 0

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
            "expected_of_unlimited_data": self.limit,
            "predicted_today": self.today,
            "newcomers": list(self.newcomers),
            "newcomers_share": self.newcomers_share,
            "plan": [{"times": one.times, "moves": one.moves, "actions": one.strategy.actions} for one in self.plan],
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


def plan_collection(
    evidence: PairEvidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    samples: int,
    rng: np.random.Generator,
    *,
    fresh: bool = False,
    declared: ActionSpaces | None = None,
    against: Against | None = None,
    allowed: Allowed | None = None,
) -> Collection:
    """Plan `samples` joint actions that shrink the certificate of a fixed profile; see the module for how.

    Parameters
    ----------
    evidence
        What a semi-bandit log shows, with sizes or without; pairs independent.
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
    declared
        The action spaces before those of the strategy were added to them, where some were.
    against
        What the profile is to be stable against, in the same spaces; None for single deviations and totals.
    allowed
        Which joint actions may be planned; None for all of the action spaces.
    """
    outlook = Outlook(evidence, strategy, spaces, delta, fresh, declared, against, allowed)
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
    declared: ActionSpaces | None = None,
    against: Against | None = None,
    allowed: Allowed | None = None,
) -> tuple[int | None, Collection]:
    """Return how many planned samples are expected to certify `target`, and the plan; None if `most` are too few.

    Within about a tenth: by doubling, then bisection. Where unlimited data are not expected to reach it, the plan is
    that of `most` samples.
    """
    outlook = Outlook(evidence, strategy, spaces, delta, fresh, declared, against, allowed)
    if _limit(outlook) > target:
        return None, _collection(outlook, _played(outlook, most, rng), rng)
    before: list[BoolArray] = []

    def attempt(samples: int) -> tuple[bool, _Played]:
        played = _played(outlook, samples, rng, before[-BLOCKS:])
        before.extend(played.actions)
        return float(outlook.predicted(played.count, rng).mean()) <= target, played

    low, high = 0, min(8, most)
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


def _played(outlook: Outlook, samples: int, rng: np.random.Generator, tried: Sequence[BoolArray] = ()) -> _Played:
    """Choose joint actions block by block; those that were `tried` before may be where a search begins."""
    step = max(1, -(-samples // BLOCKS))
    found = _Played([], [], outlook.base)
    for start in range(0, samples, step):
        weights = worth_of(outlook, found.count)
        action = best_joint_action(outlook, weights.pairs, rng, found.actions, tried)
        often = min(step, samples - start)
        count = found.count + outlook.evidence.unknowns.observed(action[None], [often])
        found = _Played([*found.actions, action], [*found.times, often], count)
    return found if outlook.allowed is None else _best_of(outlook, found, samples)


def _best_of(outlook: Outlook, found: _Played, samples: int) -> _Played:
    """Return the plan, or the profile itself or today's again and again where that is expected to certify less.

    Greedy steps are blind where bounds are as wide as the range, as with few data under tight rules.
    """
    allowed, observed = outlook.allowed, outlook.evidence.unknowns.observed
    assert allowed is not None
    rivals = [
        _Played([profile], [samples], outlook.base + observed(profile[None], [samples]))
        for profile in allowed.known(outlook.strategy)
    ]
    # The same possible outcomes for all.
    return min([found, *rivals], key=lambda one: outlook.predicted(one.count, np.random.default_rng(0)).mean())


def _limit(outlook: Outlook) -> float:
    """Return what unlimited data would leave, from draws of its own: the plan is the same without it."""
    return outlook.limit(np.random.default_rng(0))


def _collection(outlook: Outlook, played: _Played, rng: np.random.Generator) -> Collection:
    """Say what a plan is good for."""
    allowed, count, samples = outlook.allowed, played.count, sum(played.times)
    first, last = worth_of(outlook, outlook.base), worth_of(outlook, count)
    outcomes = outlook.predicted(count, rng)
    likely = np.quantile(outcomes, (0.1, 0.9), method="weibull")  # another draw is in between 8 times of 10
    random, limit = outlook.predicted_at_random(samples, rng), _limit(outlook)
    least = limit
    if outlook.steps is None:
        spent = float((last.pairs * (count - outlook.base)).sum() / 2)
        most = most_per_sample(last.pairs, outlook.spaces if allowed is None else allowed.spaces)
        least = last.value + spent - samples * most
    today = None if allowed is None or allowed.today is None else allowed.today
    newcomers = outlook.newcomers
    return Collection(
        samples,
        outlook.fresh,
        outlook.now(),
        float(outcomes.mean()),
        (float(likely[0]), float(likely[1])),
        random,
        float(np.clip(least, 0.0, outcomes.mean())),
        _needs(outlook, first.pairs, count),
        coalition_shares(first.pairs, outlook.strategy),
        merged(outlook.strategy, played.actions, played.times, allowed),
        limit,
        None if today is None else outlook.predicted_from([today], samples, rng),
        tuple(outlook.strategy.agents[i] for i in newcomers),
        newcomers_share(first.pairs, newcomers),
    )


def newcomers_share(pairs: FloatArray, newcomers: Sequence[int]) -> float:
    """Return the share of pairs with newcomers in what all pairs are worth."""
    new = np.zeros(pairs.shape[1], dtype=bool)
    new[list(newcomers)] = True
    theirs = np.broadcast_to(as_cells((new[:, None] | new)[None], pairs), pairs.shape)
    return float(pairs[theirs].sum() / max(float(pairs.sum()), 1e-300))


def _needs(outlook: Outlook, pairs: FloatArray, count: FloatArray) -> tuple[Need, ...]:
    seen, names = outlook.moments.count, outlook.strategy
    n = pairs.shape[1]
    upper = as_cells(np.triu(np.ones((1, n, n), dtype=bool), 1), pairs)
    places = np.argwhere((pairs > 0) & upper)
    order = np.argsort(-pairs[tuple(places.T)], kind="stable")
    pooled, added = len(pairs) < len(names.coalitions), count - outlook.base
    return tuple(
        Need(
            names.agents[i], names.agents[j], "any" if pooled else names.coalitions[l], size[0] if size else None,
            int(seen[(l, i, j, *size)]), round(float(added[(l, i, j, *size)])),
            float(pairs[(l, i, j, *size)]),
        )
        for l, i, j, *size in places[order].tolist()
    )  # fmt: skip


def coalition_shares(pairs: FloatArray, strategy: Strategy) -> tuple[tuple[str, float], ...]:
    """Return each coalition's share of what all pairs are worth, the largest first."""
    shares = pairs.reshape(len(pairs), -1).sum(axis=1) / max(float(pairs.sum()), 1e-300)
    names = strategy.coalitions if len(shares) > 1 else ("any",)
    return tuple((names[l], float(shares[l])) for l in np.argsort(-shares, kind="stable").tolist())


def merged(
    strategy: Strategy, played: Sequence[BoolArray], times: Sequence[int], allowed: Allowed | None = None
) -> tuple[Planned, ...]:
    """Add up the times of equal joint actions; the most frequent first."""
    total: dict[bytes, int] = {}
    action_of: dict[bytes, BoolArray] = {}
    for action, count in zip(played, times, strict=True):
        total[action.tobytes()] = total.get(action.tobytes(), 0) + count
        action_of[action.tobytes()] = action
    names = (strategy.agents, strategy.coalitions)
    ordered = sorted(total, key=lambda key: -total[key])
    return tuple(
        Planned(
            Strategy.pure(action_of[key], *names),
            total[key],
            None if allowed is None else allowed.moves(action_of[key]),
        )
        for key in ordered
    )
