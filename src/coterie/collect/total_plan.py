"""What to observe next where only totals are seen: joint actions that shrink the widths of the closest deviations.

With G_i = lambda I + sum of w x x' (agent i's Gram matrix, x who met whom, w = 1/c) the width of a deviation with
coefficients c_d is about kappa_d sqrt(c_d' G_i^-1 c_d). One more sample of a joint action changes it at the rate

    - width_d / (2 c_d' G_i^-1 c_d)  w (c_d' G_i^-1 x)^2,

and a greedy design plays the joint action with the largest sum of these over agents and deviations, the latter
weighted by a soft maximum; then the matrices are updated and everything is worked out again.

Guarantee (`Collection.least`): 1 / (c' G^-1 c) = min of y' G y over y with c'y = 1 is concave in the number of times
that each joint action is played, so sqrt(c' G^-1 c) is convex, and a tangent bounds what any other plan can reach
(as in `coterie.collect.plan`, with gains and kappa as expected after the plan). As (u'x)^2 <= c sum of x_f u_f^2, one
sample is worth at most what its pairs are worth with weights g_f = sum over d of width_d / (2 c_d' G^-1 c_d) u_df^2,
u_d = G^-1 c_d.

Predictions average over what the log leaves possible: each agent's unknowns are normal around a common mean, totals
have the variance that the log shows (`noise_variance`), and new totals are drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.against import Against
from coterie.certificates.gains import is_enumerated, worst_deviations
from coterie.certificates.total_evidence import TotalEvidence
from coterie.collect.allowed import Allowed
from coterie.collect.outlook import DRAWS
from coterie.collect.plan import Collection, Need, coalition_shares, merged, newcomers_share
from coterie.collect.sought import Sought, SoughtAgainst
from coterie.collect.worth import STARTS, close_deviations, most_per_sample
from coterie.errors import InputError
from coterie.estimate.design import StrategyDesign, directions
from coterie.estimate.ridge import AgentRidge
from coterie.game.actions import ActionSpaces
from coterie.game.steps import small_steps
from coterie.game.strategy import Strategy
from coterie.statistics.total_statistics import TotalStatistics

Grams = tuple[FloatArray, ...]

BLOCKS, ROUGHLY = 40, 8
"""A plan has at most so many different joint actions; so many are enough to tell what other plans would bring."""

ROUNDS = 20

RANDOM = 1000
"""Random collection is predicted from so many joint actions."""

FORGOTTEN = 1e-6
"""Deviations with a smaller share of what matters are left out."""


def noise_variance(part: TotalStatistics) -> float | None:
    """Return the variance of one pair's utility from the residuals of all totals; None where these are too few."""
    if part.setting.of_teams:
        raise InputError("what to collect is worked out for pairs and for totals of agents, not for scores of teams")
    left, spare = 0.0, 0
    for agent in range(part.setting.n_agents):
        gram, moment = part.gram(agent), part.moment(agent)
        theta = np.linalg.lstsq(gram, moment, rcond=1e-9)[0]
        rank = int((np.linalg.eigvalsh(gram) > 1e-9 * max(float(np.diag(gram).max()), 1e-300)).sum())
        left += max(part.squares(agent) - float(theta @ moment), 0.0)
        spare += int(part.totals[agent]) - rank
    return left / spare if spare > 0 else None


def weights_of(evidence: TotalEvidence, features: FloatArray) -> FloatArray:
    """Return how much each sample counts: 1 / c, or 1 / c^2 where pairs of a sample may depend on each other."""
    return np.asarray(1 / np.maximum(features.sum(axis=1), 1.0) ** (2 if evidence.within_samples else 1))


def plan_totals(
    evidence: TotalEvidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    samples: int,
    rng: np.random.Generator,
    *,
    fresh: bool = False,
    variance: float | None = None,
    declared: ActionSpaces | None = None,
    against: Against | None = None,
    allowed: Allowed | None = None,
    blocks: int = BLOCKS,
) -> Collection:
    """Plan `samples` joint actions, `blocks` different ones at most, that shrink the certificate of a fixed profile.

    As `plan_collection`, from a bandit log; agent by agent, sizes ignored. `variance` is that of one pair's utility
    (`noise_variance`); by default that of a uniform distribution over the range.
    """
    outlook = _TotalOutlook(evidence, strategy, spaces, delta, fresh, variance, declared, against, allowed)
    played: list[BoolArray] = []
    times: list[int] = []
    gram, step = outlook.base, max(1, -(-samples // blocks))
    for start in range(0, samples, step):
        played.append(outlook.best_joint_action(outlook.worth(gram)[0], rng, played))
        times.append(min(step, samples - start))
        gram = outlook.after(np.stack(played), np.array(times))
    if allowed is not None:  # as in `coterie.collect.plan`
        plans = [(played, times), *(([profile], [samples]) for profile in allowed.known(strategy))]
        played, times = min(
            plans,
            key=lambda one: outlook.predicted(np.stack(one[0]), np.array(one[1]), np.random.default_rng(0)).mean(),
        )
        gram = outlook.after(np.stack(played), np.array(times))
    first, (last, value) = outlook.worth(outlook.base)[0], outlook.worth(gram)
    added = [new - old for new, old in zip(gram, outlook.base, strict=True)]
    spent = sum(float(((row @ one) * row).sum()) for row, one in zip(last, added, strict=True))
    outcomes = outlook.predicted(np.stack(played), np.array(times), rng)
    likely = np.quantile(outcomes, (0.1, 0.9), method="weibull")
    at_random = spaces.sample(rng, min(samples, RANDOM)) if allowed is None else np.stack(allowed.drawn)
    limit = outlook.limit(np.random.default_rng(0))
    least = limit
    if outlook.steps is None:
        most = most_per_sample(outlook.pairs(last), spaces if allowed is None else allowed.spaces)
        least = value + spent - samples * most
    today = None if allowed is None or allowed.today is None else allowed.today[None]
    worth = outlook.pairs(first)
    return Collection(
        samples,
        fresh,
        outlook.gap(outlook.expected(outlook.base)),
        float(outcomes.mean()),
        (float(likely[0]), float(likely[1])),
        float(outlook.predicted(at_random, np.full(len(at_random), samples / len(at_random)), rng).mean()),
        float(np.clip(least, 0.0, outcomes.mean())),
        outlook.needs(worth, np.stack(played), np.array(times)),
        outlook.by_coalition(worth),
        merged(strategy, played, times, allowed),
        limit,
        None if today is None else float(outlook.predicted(today, np.array([samples]), rng).mean()),
        tuple(strategy.agents[i] for i in outlook.newcomers),
        newcomers_share(worth, outlook.newcomers),
    )


@dataclass(frozen=True, eq=False)
class _TotalOutlook:
    """A profile to certify from totals, what is known so far, and what that leaves possible."""

    evidence: TotalEvidence
    strategy: Strategy
    spaces: ActionSpaces
    delta: float
    fresh: bool
    variance: float | None
    declared: ActionSpaces | None = None
    against: Against | None = None
    allowed: Allowed | None = None

    def __post_init__(self) -> None:
        if not self.evidence.unknowns.is_linear:
            raise InputError("what to collect is worked out for totals whose sizes are ignored")
        if not isinstance(self.evidence.estimate, AgentRidge):
            raise InputError("what to collect is worked out for totals that are estimated agent by agent")

    @property
    def estimate(self) -> AgentRidge:
        assert isinstance(self.evidence.estimate, AgentRidge)
        return self.evidence.estimate

    @property
    def pooled(self) -> bool:
        return self.evidence.unknowns.is_pooled

    @cached_property
    def base(self) -> Grams:
        """The matrices that new samples are added to."""
        return tuple(np.zeros_like(gram) if self.fresh else gram for gram in self.estimate.gram)

    @cached_property
    def _sought(self) -> Sought:
        return Sought.of(self.strategy, self.declared or self.spaces, self.delta, fresh=self.fresh)

    @cached_property
    def steps(self) -> SoughtAgainst | None:
        """The certificate against steps; None where single deviations are all that there is."""
        if self.against is None or self.against.is_plain:
            return None
        return SoughtAgainst(self.strategy, self.against, self.evidence, self.delta, self.fresh, self.declared)

    @cached_property
    def newcomers(self) -> tuple[int, ...]:
        """Who counts and has no total with anybody."""
        counted = (self.spaces if self.against is None else self.against.own_spaces).counted
        return tuple(i for i in np.flatnonzero(counted).tolist() if not self.estimate.gram[i].any())

    def _features(self, joint_actions: BoolArray) -> list[FloatArray]:
        return [self.evidence.unknowns.features(joint_actions, i) for i in range(self.spaces.n_agents)]

    def after(self, joint_actions: BoolArray, times: NDArray[Any]) -> Grams:
        """Return the matrices after playing joint actions so many times."""
        features = self._features(joint_actions)
        added = [x.T @ (x * (times * weights_of(self.evidence, x))[:, None]) for x in features]
        return tuple(old + new for old, new in zip(self.base, added, strict=True))

    def expected(self, gram: Grams) -> TotalEvidence:
        """Return evidence with these matrices and the estimates of the log."""
        means = self.evidence.means or self.estimate
        return replace(self.evidence, estimate=replace(self.estimate, gram=gram).blind(), means=means)

    def gap(self, evidence: TotalEvidence) -> float:
        """Return the certificate of some evidence."""
        if self.steps is not None:
            return self.steps.gap(evidence)
        bound = self._sought.bound(evidence, self._design)
        return max(0.0, worst_deviations(bound, self.spaces).largest)

    @cached_property
    def _design(self) -> StrategyDesign:
        """How the profile weighs the unknowns, once for all: what is solved for is kept by design."""
        return self.evidence.design(self.strategy)

    @cached_property
    def _prior(self) -> tuple[float, float, float]:
        """Return mean and variance of the unknowns, and the variance of one value, by the method of moments."""
        r = self.estimate.bounds.half_range
        noise = max(r**2 / 3 if self.variance is None else self.variance, 1e-6 * r**2)
        ones = [gram.sum(axis=1) for gram in self.estimate.gram]
        mean = sum(float(m.sum()) for m in self.estimate.moment) / max(sum(float(one.sum()) for one in ones), 1e-300)
        rest = sum(float(((m - mean * one) ** 2).sum()) for m, one in zip(self.estimate.moment, ones, strict=True))
        traces = [(float(np.trace(gram)), float((gram**2).sum())) for gram in self.estimate.gram]
        spread = (rest - noise * sum(t for t, _ in traces)) / max(sum(t for _, t in traces), 1e-300)
        return mean, max(spread, 1e-4 * r**2), noise

    @cached_property
    def _posterior(self) -> list[tuple[FloatArray, FloatArray]]:
        """For each agent the mean of her unknowns given the log, and the Cholesky factor of the precision."""
        mean, spread, noise = self._prior
        found = []
        for gram, moment in zip(self.estimate.gram, self.estimate.moment, strict=True):
            precision = gram / noise + np.eye(len(gram)) / spread
            lower = np.asarray(np.linalg.cholesky(precision), dtype=np.float64)
            middle = np.asarray(np.linalg.solve(precision, moment / noise + mean / spread), dtype=np.float64)
            found.append((middle, lower))
        return found

    def predicted(self, joint_actions: BoolArray, times: NDArray[Any], rng: np.random.Generator) -> FloatArray:
        """Return the certificates that some possible outcomes give, in increasing order."""
        features, gram = self._features(joint_actions), self.after(joint_actions, times)
        noise, found, ridge = self._prior[2], [], replace(self.estimate, gram=gram)
        evidence = replace(self.evidence, estimate=ridge, means=None)
        for _ in range(DRAWS):
            moments = []
            for i, (x, theta) in enumerate(zip(features, self._drawn(rng), strict=True)):
                weight = times * weights_of(self.evidence, x)
                new = x.T @ (weight * (x @ theta) + np.sqrt(noise * weight) * rng.normal(size=len(x)))
                moments.append(new if self.fresh else self.estimate.moment[i] + new)
            found.append(self.gap(evidence.of_same_design(ridge.with_moments(moments))))
        return np.sort(found)

    def limit(self, rng: np.random.Generator) -> float:
        """Return the gap that is expected of the profile: what any number of samples would still leave."""
        against, unknowns = self.against or Against(self.spaces), self.evidence.unknowns
        bounds, names = self.estimate.bounds, (self.strategy.agents, self.strategy.coalitions)
        found = []
        for _ in range(DRAWS):
            own = [bounds.middle + theta for theta in self._drawn(rng)]
            values = np.clip(unknowns.values_of_totals(own), bounds.low, bounds.high)
            found.append(against.gap(unknowns.game(values, self.spaces, *names), self.strategy))
        return float(np.mean(found))

    def _drawn(self, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Draw every agent's unknowns, from the middle of the range on."""
        for middle, lower in self._posterior:
            yield middle + np.linalg.solve(lower.T, rng.normal(size=len(middle)))

    def worth(self, gram: Grams) -> tuple[list[FloatArray], float]:
        """Return rows R_i with w |R_i x|^2 what a sample with features x is worth, and the soft maximum of bounds."""
        evidence = self.expected(gram)
        estimate = evidence.estimate
        assert isinstance(estimate, AgentRidge)
        rows = [np.zeros((0, len(one))) for one in gram]
        if self.steps is not None:
            return self._worth_against(self.steps, evidence, rows)
        design = self._design
        bound = self._sought.bound(evidence, design)
        listed, value = close_deviations(bound, evidence.rooms(design), self.strategy, self.spaces)
        most = max((float(widths.max()) for _, _, widths in listed), default=0.0)
        for i, x, widths in listed:
            kept = widths > FORGOTTEN * most
            c = x[kept] @ directions(design, i)
            solved = estimate.factor(i).solve(c.T).T
            form = np.maximum((c * solved).sum(axis=1), 1e-300)
            rows[i] = np.sqrt(widths[kept] / (2 * form))[:, None] * solved
        return rows, value

    def _worth_against(
        self, sought: SoughtAgainst, evidence: TotalEvidence, rows: list[FloatArray]
    ) -> tuple[list[FloatArray], float]:
        """Return the same for steps: each through the row that decides it."""
        estimate, design = evidence.estimate, sought.design
        assert isinstance(estimate, AgentRidge)
        deciding, widths, value = sought.deciding(evidence)
        kept = widths > FORGOTTEN * widths.max(initial=0.0)
        deciding, widths = deciding[kept], widths[kept]
        for i in np.unique(design.owners[deciding]).tolist():
            own = design.owners[deciding] == i
            gained, lost = np.swapaxes(design.rows_directions(deciding[own]), 0, 1)
            c = gained - lost
            solved = estimate.factor(i).solve(c.T).T
            form = np.maximum((c * solved).sum(axis=1), 1e-300)
            rows[i] = np.sqrt(widths[own] / (2 * form))[:, None] * solved
        return rows, value

    def worth_of_samples(self, rows: Sequence[FloatArray], joint_actions: BoolArray) -> FloatArray:
        """Return what one sample of each joint action is worth."""
        total = np.zeros(len(joint_actions))
        for i, row in enumerate(rows):
            if len(row):
                x = self.evidence.unknowns.features(joint_actions, i)
                total += weights_of(self.evidence, x) * ((x @ row.T) ** 2).sum(axis=1)
        return total

    def best_joint_action(
        self, rows: Sequence[FloatArray], rng: np.random.Generator, played: Sequence[BoolArray]
    ) -> BoolArray:
        """Return a joint action that is worth much, by letting one agent after the other choose."""
        if self.allowed is not None:
            return self._best_allowed(self.allowed, rows, rng, played)
        starts = [*played[:-2:-1], *self.spaces.sample(rng, STARTS)]
        if self.strategy.is_pure and self.spaces.contains(self.strategy.sets).all():
            starts.append(self.strategy.sets)
        best, found = -1.0, starts[0]
        for start in starts:
            joined, worth = start.copy(), float(self.worth_of_samples(rows, start[None])[0])
            for _ in range(ROUNDS):
                before = worth
                for i in rng.permutation(self.spaces.n_agents).tolist():
                    space = self.spaces.spaces[i]
                    sets = space.enumerate() if is_enumerated(space) else small_steps(space, joined[i])
                    tried = np.repeat(joined[None], len(sets), axis=0)
                    tried[:, i] = sets
                    values = self.worth_of_samples(rows, tried)
                    if len(values) and values.max() > worth * (1 + 1e-9):
                        joined, worth = tried[values.argmax()], float(values.max())
                if worth <= before:
                    break
            if worth > best * (1 + 1e-6):
                best, found = worth, joined
        return np.asarray(found)

    def _best_allowed(
        self, allowed: Allowed, rows: Sequence[FloatArray], rng: np.random.Generator, played: Sequence[BoolArray]
    ) -> BoolArray:
        """Return the same among what is allowed: the best if pairs were seen one by one, and from there by steps."""
        begin = [self.strategy.sets] if self.strategy.is_pure else []
        starts = [*played[-1:], allowed.best(self.evidence.unknowns, self.pairs(rows), rng, played, begin)]
        best, found = -1.0, starts[0]
        for start in starts:
            profile, worth = start, float(self.worth_of_samples(rows, start[None])[0])
            while len(after := allowed.steps(profile).after(profile)):
                values = self.worth_of_samples(rows, after)
                if values.max() <= worth * (1 + 1e-9):
                    break
                profile, worth = after[values.argmax()], float(values.max())
            if worth > best * (1 + 1e-6):
                best, found = worth, profile
        return np.asarray(found)

    def pairs(self, rows: Sequence[FloatArray]) -> FloatArray:
        """Return g_f for both orders of each pair together, shape (tables, n, n)."""
        n, tables = self.spaces.n_agents, 1 if self.pooled else self.spaces.n_coalitions
        found = np.zeros((tables, n, n))
        for i, row in enumerate(rows):
            found[:, i, np.arange(n) != i] = (row**2).sum(axis=0).reshape(tables, n - 1)
        return found + np.swapaxes(found, 1, 2)

    def needs(self, pairs: FloatArray, joint_actions: BoolArray, times: IntArray) -> tuple[Need, ...]:
        """Return the pairs that matter; what one is worth is at most this, since totals show them together."""
        met = np.einsum("b,bil,bjl->lij", times, joint_actions.astype(np.int64), joint_actions.astype(np.int64))
        met = met.sum(axis=0, keepdims=True) if self.pooled else met
        places = np.argwhere(np.triu(pairs, 1) > 0)
        order, names = np.argsort(-pairs[tuple(places.T)], kind="stable"), self.strategy
        return tuple(
            Need(names.agents[i], names.agents[j], "any" if self.pooled else names.coalitions[l], None, None,
                 int(met[l, i, j]), float(pairs[l, i, j]))
            for l, i, j in places[order].tolist()
        )  # fmt: skip

    def by_coalition(self, pairs: FloatArray) -> tuple[tuple[str, float], ...]:
        """Return the share of each coalition in what pairs are worth."""
        return coalition_shares(pairs, self.strategy)
