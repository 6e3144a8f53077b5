"""Own solvers, guesses and certificates: functions that a learner is given in place of its own ones.

    solver(problem)          returns one strategy, or several to choose from
    guess(moments)           returns what every mean is taken to be, in the shape of `moments.mean`
    certificate(question)    returns a number, or a `Certificate`, that bounds the gap of `question.strategy`

An own solver is asked twice: about the samples that learn, for what is certified on held-out samples, and about the
whole log. It sees expected utilities only, so what it returns is certified as anything else is, and promises stay what
they are, whatever it does. An own guess is the same: it decides what is looked for, never what is promised. An own
certificate is the promise itself. It is handed the whole log and strategies that were chosen on it, so it must hold for
all strategies together with probability 1 - delta; nothing here can check that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray
from coterie.certificates.against import Against
from coterie.certificates.certificate import Certificate, Witness
from coterie.certificates.evidence import Evidence
from coterie.certificates.pair_evidence import PairEvidence
from coterie.errors import InputError, TooLargeError
from coterie.estimate.intervals import Moments
from coterie.game.changes import gains_of_movers
from coterie.game.game import Game
from coterie.game.strategy import Strategy, StrategyLike
from coterie.learn.beliefs import Beliefs
from coterie.solve.control import Control
from coterie.solve.teams import Found, Task
from coterie.statistics.statistics import PartStatistics


@dataclass(frozen=True, eq=False)
class Problem:
    """What an own solver is asked: teams in which game, under which rules."""

    task: Task
    control: Control

    @property
    def game(self) -> Game:
        """The game with the utilities that are expected."""
        return self.task.game

    @property
    def rng(self) -> np.random.Generator:
        """Where randomness comes from, so that the same seed gives the same result."""
        return self.control.rng

    @property
    def seconds(self) -> float | None:
        """The time that is left; None where there is no limit."""
        return self.control.remaining

    def allows(self, strategy: StrategyLike) -> bool:
        """Return whether a strategy may be recommended: everybody may do that, and it keeps rules and sizes."""
        return self.task.allows(self.game.strategy(strategy).sets)

    def score(self, strategy: StrategyLike) -> float:
        """Return what the goal asks for: the mean utility of everybody, or that of the worst-off."""
        return self.task.score(self.game.strategy(strategy).sets)


@dataclass(frozen=True, eq=False)
class Question:
    """What an own certificate is asked: how far anybody could gain by leaving a strategy."""

    statistics: PartStatistics
    """Sums of the whole log."""
    evidence: Evidence
    """Estimates and what they prove, as the certificates of this package take them."""
    strategy: Strategy
    against: Against
    """Which steps count: action spaces, notion of stability, value, rules."""
    delta: float

    @property
    def game(self) -> Game:
        """The game whose means are the estimates."""
        return self.against.game(self.evidence)


def named(function: Any) -> str:
    """Return what an own function is called."""
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True, eq=False)
class Own:
    """The functions that a learner was given; None where it has its own way."""

    solver: Callable[[Problem], Any] | None = None
    guess: Callable[[Moments], Any] | None = None
    certificate: Callable[[Question], Certificate | float] | None = None

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.solver, self.guess, self.certificate))

    def found(self, task: Task, control: Control) -> Found:
        """Return the profiles that the own solver brings, the one of largest score first."""
        assert self.solver is not None
        profiles = list(self._profiles(self.solver(Problem(task, control)), task))
        if not profiles:
            raise InputError(f"solver {named(self.solver)}: it returned no strategy")
        ranked = sorted(((task.score(one), -t) for t, one in enumerate(profiles)), reverse=True)
        return Found([profiles[-t] for _, t in ranked], [score for score, _ in ranked], 1, 1)

    def _profiles(self, returned: Any, task: Task) -> Iterator[BoolArray]:
        several = isinstance(returned, (list, tuple)) and not _is_matrix(returned)
        for one in returned if several else [returned]:
            strategy = task.game.strategy(one)
            if not strategy.is_pure:
                raise InputError(f"solver {named(self.solver)}: expected pure strategies, got a mixed one")
            if not task.allows(strategy.sets):
                broken = task.admissible.violations(strategy.sets)
                why = f"it breaks: {broken[0]}" if broken else "somebody may not do that, or a team is too large"
                raise InputError(f"solver {named(self.solver)}: it returned what cannot be recommended; {why}")
            yield strategy.sets

    def beliefs(self, evidence: Evidence) -> Beliefs:
        """Return the own guess as what is expected; nothing else is taken to be possible."""
        assert self.guess is not None
        if not isinstance(evidence, PairEvidence):
            raise InputError(f"guess {named(self.guess)}: own guesses are about logs of pairs, this one has totals")
        moments, bounds = evidence.estimate.moments, evidence.bounds
        values = checks.finite(self.guess(moments), f"guess {named(self.guess)}", moments.mean.shape)
        return Beliefs(evidence, np.clip(values, bounds.low, bounds.high), None)

    def certified(self, question: Question) -> Certificate:
        """Return what the own certificate says of a strategy."""
        assert self.certificate is not None
        found = self.certificate(question)
        if isinstance(found, Certificate):
            return found
        name = named(self.certificate)
        if found != np.inf:
            found = checks.number(found, f"certificate {name}", at_least=0)
        return _spelled_out(name, float(found), question)


def _spelled_out(name: str, gap: float, question: Question) -> Certificate:
    """Return the certificate that a number is: the same promise to everybody, with what looks best to each as witness.

    For single people of very many sets that is the best of all by the oracle, and may be to stay.
    """
    against, strategy, game = question.against, question.strategy, question.game
    try:
        steps = against.steps(strategy.sets)
        gains = gains_of_movers(game.utilities, strategy.sets, steps).min(axis=1, initial=np.inf)
        best = {
            agent: (steps.named(place, game.agents, game.coalitions), float(gains[place]))
            for i, agent in enumerate(game.agents)
            if len(own := np.flatnonzero((steps.movers == i).any(axis=1)))
            for place in [int(own[gains[own].argmax()])]
        }
    except TooLargeError:
        best = {one.agent: ({one.agent: one.action}, one.gain) for one in game.best_responses(strategy)}
    witnesses = {
        agent: Witness(agent, movers[agent], gain, gap - gain, movers=movers) for agent, (movers, gain) in best.items()
    }
    counted = [agent for agent, counts in zip(game.agents, against.own_spaces.counted, strict=True) if counts]
    worst = max((witnesses[agent] for agent in counted if agent in witnesses), key=lambda one: one.estimated_gain,
                default=None)  # fmt: skip
    left_out = tuple(agent for agent in game.agents if agent not in counted)
    return Certificate(
        name, question.delta, gap, dict.fromkeys(counted, gap), worst, witnesses, (f"what {name} assumes",),
        left_out=left_out,
    )  # fmt: skip


def _is_matrix(value: Any) -> bool:
    try:
        return np.asarray(value).ndim == 2 and np.asarray(value).dtype.kind in "biuf"
    except ValueError:
        return False
