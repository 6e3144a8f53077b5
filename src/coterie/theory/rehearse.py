"""What certificates reach on a simulated log: the yardstick for bounds that are made before any data.

A game is drawn, a log is simulated in memory, reduced to sums, learnt from and certified. The truth
is known, so the true gap and the true coverage are known as well. Totals are taken agent by agent (the
joint estimator would be tighter by about the root of two, but slower). The search is a short one, since
there are no data yet to make the most of.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import Sealed, hold_out
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_from
from coterie.coverage import coverage, seen_by
from coterie.errors import TooLargeError
from coterie.game.actions import ActionSpaces, ExplicitSets
from coterie.game.strategy import Strategy
from coterie.simulate.growing import Reading, growing
from coterie.simulate.logs import Feedback, Simulation, numbered
from coterie.simulate.models import utility_model
from coterie.simulate.policies import exploration_policy
from coterie.solve.control import Control
from coterie.solve.objective import HoldoutObjective, Objective, PairedObjective
from coterie.solve.pure import pure
from coterie.words import said

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
    seed: checks.Seed,
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
    rng = checks.generator(seed, said("seed"))
    checks.whole(samples, said("samples"), 2)
    source = _source(n_agents, n_coalitions, rng, actions_per_agent, most_joined or n_coalitions, symmetric=symmetric)
    game, spaces = source.game, source.game.actions
    if feedback == "bandit" and n_agents * ((n_agents - 1) * n_coalitions) ** 2 > MOST_ENTRIES:
        size = f"{n_agents} agents and {n_coalitions} coalitions"
        raise TooLargeError(f"a simulated bandit log of {size} is too large to learn from in memory")
    shares = (LEARNING_SHARE, 1 - LEARNING_SHARE)
    ((_, found),) = growing(source, [samples], feedback, {"log": Reading(unweighted=True)}, shares)
    statistics = found["log"]
    learning, certifying = map(evidence_from, statistics.parts)
    evidence = evidence_from(statistics.whole)

    def search(objective: Objective) -> Sequence[Strategy]:
        return pure(objective, Control(rng), starts=STARTS, kicks=KICKS, keep=CANDIDATES).candidates

    def learn(part: Evidence, sealed: Sealed) -> Sequence[Strategy]:
        return search(HoldoutObjective(sealed.preview(part), spaces, delta, *names))

    names = (game.agents, game.coalitions)
    chosen, held_out = hold_out(learning, certifying, learn, spaces, delta)
    best = search(PairedObjective(evidence, spaces, delta, *names))[0]
    printed = paper_from(statistics.whole, best, spaces, delta)
    assert printed is not None  # utilities are bounded, and sums without weights were made
    certificates = {
        "holdout": held_out.gap,
        "paired": paired(evidence, best, spaces, delta).gap,
        "paper": printed.gap,
    }
    covered = coverage(seen_by(source.policy, *names), chosen, spaces)
    assert covered.c_pair is not None  # a policy knows how often pairs meet
    return Rehearsal(samples, certificates, game.gap(chosen), covered.c_pair)


def rehearse_until(gap: float, limit: int, seed: int, n_agents: int, n_coalitions: int, **options: Any) -> Rehearsal:
    """Return the first rehearsal with a held-out certificate of at most `gap`, or the last one within `limit` samples.

    Logs of the same game, which the seed draws, grow by a factor of four each time.
    """
    checks.whole(seed, said("seed"), 0)
    samples = FIRST
    while True:
        found = rehearse(n_agents, n_coalitions, samples, seed, **options)
        if found.certificates["holdout"] <= gap or samples * GROWTH > limit:
            return found
        samples *= GROWTH


def _source(n: int, k: int, rng: np.random.Generator, count: int, most_joined: int, *, symmetric: bool) -> Simulation:
    spaces = ActionSpaces.shared(ExplicitSets(small_sets(rng, k, count, most_joined)), n)
    model = utility_model("gaussian", n, k, rng, symmetric=symmetric)
    game = model.game(spaces, numbered("p", n), numbered("c", k))
    return Simulation(model, exploration_policy("random", spaces, None), game, rng)


def small_sets(seed: checks.Seed, n_coalitions: int, count: int, most: int) -> BoolArray:
    """Draw `count` distinct sets (all, if there are fewer) uniformly from those of 1 to `most` coalitions."""
    rng = checks.generator(seed, said("seed"))
    checks.whole(count, said("actions_per_agent"), 1)
    by_size = [math.comb(n_coalitions, size) for size in range(1, most + 1)]
    share = np.array([number / sum(by_size) for number in by_size])
    found: dict[bytes, BoolArray] = {}
    while len(found) < min(count, sum(by_size)):
        size = 1 + rng.choice(most, p=share / share.sum())
        row = np.zeros(n_coalitions, dtype=bool)
        row[rng.choice(n_coalitions, size, replace=False)] = True
        found.setdefault(row.tobytes(), row)
    return np.array(list(found.values()))
