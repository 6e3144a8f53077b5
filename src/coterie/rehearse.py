"""What certificates reach on a simulated log: the yardstick for bounds that are made before any data.

A game is drawn, a log is simulated in memory, reduced to sums, learnt from and certified. The truth
is known, so the true gap and the true coverage are known as well. Totals are taken agent by agent (the
joint estimator would be tighter by about the root of two, but slower).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie import checks
from coterie.actions import ExplicitSets
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certify.evidence import Evidence, PairEvidence
from coterie.certify.holdout import Sealed, hold_out
from coterie.certify.paired import paired
from coterie.certify.paper import paper, paper_totals
from coterie.certify.total_evidence import TotalEvidence
from coterie.coverage import coverage, seen_by
from coterie.errors import TooLargeError
from coterie.estimate.intervals import Bounds
from coterie.estimate.pairs import size_free
from coterie.estimate.totals import AgentRidge
from coterie.joint_actions import ActionSpaces
from coterie.simulate.logs import Batch, Feedback, Simulation, numbered
from coterie.simulate.models import utility_model
from coterie.simulate.policies import exploration_policy
from coterie.solve.control import Control
from coterie.solve.objective import HoldoutObjective, Objective, PairedObjective
from coterie.solve.pure import pure
from coterie.strategy import Strategy

LEARNING_SHARE = 0.2
"""So much of the log chooses candidates, the rest certifies one of them."""

STARTS, KICKS, CANDIDATES = 32, 2, 2

MOST_ENTRIES = 2 * 10**7
"""So many entries the Gram matrices of all agents may have."""

FIRST, GROWTH = 250, 4
"""The length of the first log of `rehearse_until`, and how much longer each next one is."""


@dataclass(frozen=True)
class Rehearsal:
    """The certificates that one simulated log reached, and the truth about it."""

    samples: int
    certificates: dict[str, float]
    """By method; each for the pure profile that its search found."""
    true_gap: float
    """Of the profile that was held out."""
    c_pair: float
    """True pair coverage of that profile."""


def rehearse(
    n_agents: int,
    n_coalitions: int,
    samples: int,
    rng: np.random.Generator,
    *,
    feedback: Feedback = "semi-bandit",
    delta: float = 0.01,
    actions_per_agent: int = 3,
    most_joined: int | None = None,
    symmetric: bool = True,
) -> Rehearsal:
    """Draw a game, simulate a log of it in memory, and return what is certified from that log.

    Clipped Gaussian utilities with a fixed mean per pair and coalition, uniform exploration, a few
    actions that all agents share, of at most `most_joined` coalitions.
    """
    checks.whole(samples, "samples", 2)
    source = _source(n_agents, n_coalitions, rng, actions_per_agent, most_joined or n_coalitions, symmetric=symmetric)
    game, spaces = source.game, source.game.actions
    learning, certifying, whole = (_pair_parts if feedback == "semi-bandit" else _total_parts)(source, samples)
    evidence = whole.evidence()

    def search(objective: Objective) -> Sequence[Strategy]:
        return pure(objective, Control(rng), starts=STARTS, kicks=KICKS, keep=CANDIDATES).candidates

    def learn(part: Evidence, sealed: Sealed) -> Sequence[Strategy]:
        return search(HoldoutObjective(sealed.preview(part), spaces, delta, *names))

    names = (game.agents, game.coalitions)
    chosen, held_out = hold_out(learning.evidence(), certifying.evidence(), learn, spaces, delta)
    best = search(PairedObjective(evidence, spaces, delta, *names))[0]
    certificates = {
        "holdout": held_out.gap,
        "paired": paired(evidence, best, spaces, delta).gap,
        "paper": whole.printed(best, spaces, delta, samples),
    }
    covered = coverage(seen_by(source.policy, *names), chosen, spaces)
    assert covered.c_pair is not None  # a policy knows how often pairs meet
    return Rehearsal(samples, certificates, game.gap(chosen), covered.c_pair)


class _Part(Protocol):
    """The sums of some samples."""

    def evidence(self) -> Evidence:
        """Return what the samples prove."""

    def printed(self, strategy: Strategy, spaces: ActionSpaces, delta: float, samples: int) -> float:
        """Return the paper's certificate, as printed."""


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Counts, sums and sums of squares of utilities, shape (k, n, n) each."""

    moments: FloatArray
    symmetric: bool

    def evidence(self) -> PairEvidence:
        count, total, squares = self.moments
        return PairEvidence(size_free(count, total, squares, Bounds(-1.0, 1.0), symmetric=self.symmetric))

    def printed(self, strategy: Strategy, spaces: ActionSpaces, delta: float, samples: int) -> float:
        del samples
        return paper(self.evidence(), strategy, spaces, delta).gap


@dataclass(frozen=True, eq=False)
class _Totals:
    """Per agent the sums of x x' and x v, with weights 1/c first and without weights second."""

    grams: FloatArray
    moments: FloatArray

    def evidence(self) -> TotalEvidence:
        return TotalEvidence(AgentRidge(tuple(self.grams[0]), tuple(self.moments[0]), Bounds(-1.0, 1.0)))

    def printed(self, strategy: Strategy, spaces: ActionSpaces, delta: float, samples: int) -> float:
        ridge = AgentRidge(tuple(self.grams[1]), tuple(self.moments[1]), Bounds(-1.0, 1.0), penalty=1.0)
        return paper_totals(ridge, strategy, spaces, delta, samples).gap


def _pair_parts(source: Simulation, samples: int) -> tuple[_Part, ...]:
    n, k = source.game.n_agents, source.game.n_coalitions
    moments = np.zeros((2, 3, k, n, n))
    for batch in source.batches(samples):
        part = _part_of(batch, source.rng)[batch.sample]
        for agent, partner in ((batch.agent, batch.partner), (batch.partner, batch.agent))[: 1 + batch.symmetric]:
            cell = np.ravel_multi_index((part, batch.coalition, agent, partner), (2, k, n, n))
            for power in range(3):
                sums = np.bincount(cell, batch.utility**power, minlength=2 * k * n * n)
                moments[:, power] += sums.reshape(2, k, n, n)
    return tuple(_Pairs(part, source.model.symmetric) for part in (*moments, moments.sum(axis=0)))


def _total_parts(source: Simulation, samples: int) -> tuple[_Part, ...]:
    n, k = source.game.n_agents, source.game.n_coalitions
    dimension = (n - 1) * k
    if n * dimension**2 > MOST_ENTRIES:
        raise TooLargeError(
            f"a simulated bandit log of {n} agents and {k} coalitions is too large to learn from in memory"
        )
    grams, moments = np.zeros((2, 2, n, dimension, dimension)), np.zeros((2, 2, n, dimension))
    for batch in source.batches(samples):
        part, totals = _part_of(batch, source.rng), batch.totals()
        for i in range(n):
            together = np.delete(batch.joined & batch.joined[:, i : i + 1], i, axis=1)
            x = together.transpose(0, 2, 1).reshape(len(totals), dimension).astype(np.float64)
            for p, own in ((0, part == 0), (1, part == 1)):
                seen, value = x[own], totals[own, i]
                for t, weighted in enumerate((seen / np.maximum(seen.sum(axis=1, keepdims=True), 1), seen)):
                    grams[p, t, i] += weighted.T @ seen
                    moments[p, t, i] += weighted.T @ value
    return (*map(_Totals, grams, moments), _Totals(grams.sum(axis=0), moments.sum(axis=0)))


def _part_of(batch: Batch, rng: np.random.Generator) -> IntArray:
    """Return 0 for samples to learn from and 1 for those that certify."""
    return (rng.random(len(batch.joined)) >= LEARNING_SHARE).astype(np.int64)


def rehearse_until(gap: float, limit: int, seed: int, n_agents: int, n_coalitions: int, **options: Any) -> Rehearsal:
    """Return the first rehearsal with a held-out certificate of at most `gap`, or the last one within `limit` samples.

    Logs of the same game grow by a factor of four each time.
    """
    samples = FIRST
    while True:
        found = rehearse(n_agents, n_coalitions, samples, np.random.default_rng(seed), **options)
        if found.certificates["holdout"] <= gap or samples * GROWTH > limit:
            return found
        samples *= GROWTH


def _source(n: int, k: int, rng: np.random.Generator, count: int, most_joined: int, *, symmetric: bool) -> Simulation:
    spaces = ActionSpaces.shared(ExplicitSets(small_sets(rng, k, count, most_joined)), n)
    model = utility_model("gaussian", n, k, rng, symmetric=symmetric)
    game = model.game(spaces, numbered("p", n), numbered("c", k))
    return Simulation(model, exploration_policy("random", spaces, None), game, rng)


def small_sets(rng: np.random.Generator, n_coalitions: int, count: int, most: int) -> BoolArray:
    """Draw `count` distinct sets (all, if there are fewer) uniformly from those of 1 to `most` coalitions."""
    checks.whole(count, "actions per agent", 1)
    by_size = [math.comb(n_coalitions, size) for size in range(1, most + 1)]
    share = np.array([number / sum(by_size) for number in by_size])
    found: dict[bytes, BoolArray] = {}
    while len(found) < min(count, sum(by_size)):
        size = 1 + rng.choice(most, p=share / share.sum())
        row = np.zeros(n_coalitions, dtype=bool)
        row[rng.choice(n_coalitions, size, replace=False)] = True
        found.setdefault(row.tobytes(), row)
    return np.array(list(found.values()))
