"""Rounds that make the guess better which teams are best, whether or not they prove anything.

Games are drawn from what the log leaves possible (`coterie.learn.beliefs`, as for a recommendation). The best teams of
each, and the assignment in as many copies as a share `OWN` asks for, tell how probably two people belong together
there, p_e; the draws also tell how little is known of what they are worth to each other, the variance v_e. Totals and
scores do not show pairs one by one, so there p_e is 1 in the assignment and 0 elsewhere. Round by round, the plan is
the allowed assignment with the largest sum of

    p_e v_e / ((1 + m_e) (2 + m_e)),   m_e how often e is in the rounds before,

over the pairs that it brings together: by so much one more observation makes the variance smaller where one observation
is worth as much as all that is known. What that is good for is measured in `benchmarks/forming.py`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.collect.allowed import Allowed
from coterie.collect.plan import BLOCKS, Planned, merged
from coterie.coverage.seen import seen_in
from coterie.estimate.unknowns import SizeFree
from coterie.game.game import Value
from coterie.game.strategy import Strategy
from coterie.learn.beliefs import Beliefs
from coterie.solve.control import Control
from coterie.solve.teams import Task, best_teams
from coterie.statistics.statistics import Statistics

CELLS = 60_000
"""Beyond so many pairs times coalitions nothing is drawn, and the assignment itself is the plan."""

DRAWS, SEARCHED = 64, 16
"""So many games tell how little is known, and of so many the best teams are looked for."""

OWN = 0.25
"""The share of the assignment among what may be best, where pairs are seen one by one."""

STARTS, PATIENCE = 2, 6
"""How many searches for the best teams of one game begin at random, and how many kicks in vain end them."""

LISTED = 100
"""So many pairs are named."""


@dataclass(frozen=True)
class Wanted:
    """Two people to be seen together."""

    agent: str
    partner: str
    coalition: str
    seen: int | None
    """How often they were seen together there; None where it is more than never, and totals hide how often."""
    chance: float
    """How probably they are together there in the best teams."""
    spread: float
    """The standard deviation of what one is worth to the other: the root of the mean of the variances of both orders,
    which are one unknown where both get the same."""


@dataclass(frozen=True, eq=False)
class Forming:
    """Rounds to form, and the pairs on which most depends and of which least is known."""

    rounds: tuple[Planned, ...]
    is_itself: bool
    """Whether every round is the assignment."""
    looks_beyond: bool
    """Whether teams that could be as good as the assignment were looked for."""
    pairs: tuple[Wanted, ...]
    """Of those whom the rounds bring together, those that tell most first."""

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "is_the_assignment": self.is_itself,
            "plan": [{"times": one.times, "moves": one.moves, "actions": one.strategy.actions} for one in self.rounds],
            "pairs": [asdict(one) for one in self.pairs],
        }


def forming(
    statistics: Statistics,
    beliefs: Beliefs,
    strategy: Strategy,
    value: Value,
    samples: int,
    allowed: Allowed,
    rng: np.random.Generator,
) -> Forming | None:
    """Return so many rounds that make the guess better; None for a mixed strategy, or if the plan would not be allowed.

    Parameters
    ----------
    statistics, beliefs
        Of the log.
    strategy
        The assignment that is thought to be the best, or nearly.
    value
        What teams are worth.
    samples
        How many rounds.
    allowed
        What may be planned. A limit on changes against today is one on rounds, not on what may be best.
    rng
        Where draws and searches begin.
    """
    if not strategy.is_pure:
        return None
    pooled = statistics.setting.pool_coalitions
    n, k = strategy.sets.shape
    if beliefs.draw is None or n * n * k > CELLS:
        if not allowed.allows(strategy.sets):
            return None
        return Forming(merged(strategy, [strategy.sets], [samples], allowed), True, False, ())
    draws = beliefs.draws(rng, DRAWS)
    chance = _together(strategy.sets, pooled=pooled)
    if looks_beyond := statistics.setting.feedback == "semi-bandit":
        free = allowed.without_limit_on_moves()
        begin = [strategy.sets] if free.allows(strategy.sets) else []
        found = [_best(beliefs, values, value, free, begin, rng) for values in draws[:SEARCHED]]
        others = np.mean([_together(one, pooled=pooled) for one in found], axis=0)
        chance = OWN * chance + (1 - OWN) * others
    variance = np.var(draws, axis=0)
    variance = variance if variance.ndim == 3 else variance.mean(axis=3)
    variance = np.broadcast_to(variance + np.swapaxes(variance, 1, 2), (k, n, n))
    played: list[BoolArray] = []
    times: list[int] = []
    often, step = np.zeros((k, n, n)), max(1, -(-samples // BLOCKS))
    for start in range(0, samples, step):
        worth = chance * variance / ((1 + often) * (2 + often))
        best = allowed.best(SizeFree(), worth, rng, (), allowed.known(strategy))
        known = (one for one in (strategy.sets, *played) if pooled and _teams(one) == _teams(best))
        played.append(next(known, best))  # the same teams in the same order
        times.append(min(step, samples - start))
        often = often + times[-1] * _together(played[-1], pooled=pooled)
    is_itself = all(np.array_equal(one, strategy.sets) for one in played)
    pairs = _wanted(statistics, strategy, np.where(often > 0, chance, 0.0), variance)
    return Forming(merged(strategy, played, times, allowed), is_itself, looks_beyond, tuple(pairs))


def _best(
    beliefs: Beliefs,
    values: FloatArray,
    value: Value,
    free: Allowed,
    begin: Sequence[BoolArray],
    rng: np.random.Generator,
) -> BoolArray:
    """Return the best teams of one possible game, or nearly."""
    task = Task(beliefs.game(free.spaces, values).valued(value), free.admissible, free.largest)
    control = Control(rng)
    found = best_teams(task, control, begin=list(begin), starts=STARTS, patience=PATIENCE, keep=1)
    if control.ended is not None:  # nobody set a limit
        raise KeyboardInterrupt
    return found.profiles[0]


def _teams(profile: BoolArray) -> list[bytes]:
    return sorted(team.tobytes() for team in profile.T)


def _together(profile: BoolArray, *, pooled: bool) -> FloatArray:
    """Return who is together in which coalition, (k, n, n); of interchangeable ones in any, and so in all."""
    sets = profile.astype(np.float64)
    found = np.einsum("il,jl->lij", sets, sets) * ~np.eye(len(sets), dtype=bool)
    return np.asarray(np.broadcast_to(found.sum(axis=0), found.shape) if pooled else found)


def _wanted(statistics: Statistics, strategy: Strategy, chance: FloatArray, variance: FloatArray) -> list[Wanted]:
    """Return the pairs that tell most, each once; of interchangeable coalitions "any" is where."""
    seen, pooled = seen_in(statistics), statistics.setting.pool_coalitions
    weight = np.triu(chance * variance, 1)[: 1 if pooled else None]
    order = np.argsort(-weight, axis=None, kind="stable")[:LISTED]
    found = []
    for l, i, j in zip(*(part.tolist() for part in np.unravel_index(order, weight.shape)), strict=True):
        if weight[l, i, j] <= 0:
            break
        rates = (seen.met if seen.meetings is None else seen.meetings)(seen.table(l), np.array([i, j]))
        rate = float(np.maximum(rates[0, 1], rates[1, 0]).sum())  # by size, where that matters
        often = round(rate * (seen.n_samples or 1)) if seen.meetings is not None or not rate else None
        where = "any" if pooled else strategy.coalitions[l]
        spread = float(np.sqrt(variance[l, i, j] / 2))  # of two orders
        found.append(Wanted(strategy.agents[i], strategy.agents[j], where, often, float(chance[l, i, j]), spread))
    return found
