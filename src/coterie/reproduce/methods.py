"""What is made of a log: the paper's scheme, ours, and simpler ways to compare both with.

A method is given a `Task`, one log and what it may use of it, and returns a `Strategy`, or an `Outcome` if it has a
certificate of its own. A strategy without one is given that of `coterie.certificates.paired`, which holds for all
strategies at once, whatever they were chosen by.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_evidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.game.dynamics import best_pure_profile
from coterie.game.game import Game
from coterie.game.strategy import Strategy, as_strategy
from coterie.learn.auto import recommend
from coterie.solve.control import Control
from coterie.solve.paper_scheme import Samples, paper
from coterie.solve.search import Kind
from coterie.statistics.statistics import Statistics

DRAWS = Samples(100, 100)
"""How often Monte Carlo draws, as the paper's text says."""

STARTS = 4
"""Simple methods begin from so many random profiles, and keep the best end."""


@dataclass(frozen=True, eq=False)
class Task:
    """One log, and the question."""

    statistics: Statistics
    """The log as it is: read under assumptions that are true for its model, in parts to learn and to certify."""
    printed: Statistics
    """The same samples as the paper reads them: sizes ignored, pairs independent, sums without weights."""
    delta: float
    seed: int
    """Of whatever a method draws."""

    @cached_property
    def evidence(self) -> Evidence:
        """What the whole log proves."""
        return evidence_from(self.statistics.whole)

    @cached_property
    def game(self) -> Game:
        """The game whose utilities are the estimates, 0 where nothing was seen."""
        return self.evidence.game(self.statistics.setting.actions)

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers of this task's own, the same whenever they are asked for."""
        return np.random.default_rng([self.seed, 1])

    def certified(self, strategy: Strategy) -> float:
        """Return the certificate that holds for all strategies at once."""
        return paired(self.evidence, strategy, self.statistics.setting.actions, self.delta).gap


@dataclass(frozen=True)
class Outcome:
    """What one method found in one log."""

    certificate: float
    """A finite number of at least 0, which the gap of the strategy is said not to exceed."""
    strategy: Strategy
    sweeps: int = 0


Method = Callable[[Task], Outcome | Strategy]
"""A way to choose a strategy."""


def outcome(method: Method, task: Task, what: str = "method") -> Outcome:
    """Return what a method makes of a log, certified by ourselves where it does not do so itself."""
    found = method(task)
    strategy = found.strategy if isinstance(found, Outcome) else found
    if not isinstance(strategy, Strategy):
        raise InputError(f"{what}: expected it to return a Strategy or an Outcome, got {checks.shown(found)}")
    strategy = as_strategy(strategy, task.statistics.setting.agents, task.statistics.setting.coalitions, "the log's")
    if not isinstance(found, Outcome):
        return Outcome(task.certified(strategy), strategy)
    certificate = checks.number(found.certificate, f"{what}, certificate", 0)
    return Outcome(certificate, strategy, checks.whole(found.sweeps, f"{what}, sweeps", 0))


# --- The paper's, and ours ------------------------------------------------------------------------------


def as_printed(task: Task) -> Outcome:
    """Run the paper's scheme, with expectations exact."""
    return _scheme(task, None)


def monte_carlo(task: Task) -> Outcome:
    """Run the paper's scheme with expectations drawn `DRAWS` times, and return the number that it plots: no bound."""
    return _scheme(task, DRAWS)


def _scheme(task: Task, samples: Samples | None) -> Outcome:
    setting = task.printed.setting
    evidence = paper_evidence(task.printed.whole)
    assert evidence is not None  # sums without weights were made
    found = paper(
        evidence, setting.actions, task.delta, Control(task.seed), agents=setting.agents,
        coalitions=setting.coalitions, samples=samples, n_samples=task.printed.n_samples,
    )  # fmt: skip
    shown = found.certificate if found.drawn is None else max(found.drawn, 0.0)
    return Outcome(shown, found.strategy, found.sweeps)


def auto(task: Task) -> Outcome:
    """Do what `coterie learn` does for stability."""
    return _recommended(task, "pure")


def auto_mixed(task: Task) -> Outcome:
    """Do the same over mixed strategies."""
    return _recommended(task, "mixed")


def _recommended(task: Task, kind: Kind) -> Outcome:
    found = recommend(task.statistics, task.delta, Control(task.seed), strategy=kind)
    return Outcome(found.certificate.gap, found.strategy, found.solution.sweeps)


# --- Simpler ways ----------------------------------------------------------------------------------------


def best_response(task: Task) -> Strategy:
    """Let agents move to best responses as if estimates were true: plug-in, without any doubt."""
    return best_pure_profile(task.game, task.rng, STARTS).strategy


def pessimism(task: Task) -> Strategy:
    """Let agents move to best responses with every utility at the lower end of its interval: pessimism alone."""
    evidence, setting = task.evidence, task.statistics.setting
    lowest = evidence.unknowns.game(
        _lower_ends(evidence, task.delta), setting.actions, setting.agents, setting.coalitions
    )
    return best_pure_profile(lowest, task.rng, STARTS).strategy


def _lower_ends(evidence: Evidence, delta: float) -> FloatArray:
    """Return the lower end of every unknown's interval, that of the range where nothing was seen."""
    if isinstance(evidence, PairEvidence):
        return evidence.interval_arrays(delta)[0] + evidence.bounds.low * evidence.estimate.moments.unseen
    assert isinstance(evidence, TotalEvidence)
    errors = evidence.errors
    width = math.sqrt(2 * math.log(max(int(np.count_nonzero(errors)), 1) / delta)) * errors
    return np.where(errors > 0, np.clip(evidence.values - width, evidence.bounds.low, evidence.bounds.high), 0.0)


def welfare(task: Task) -> Strategy:
    """Return the profile with the largest estimated sum of utilities that a climb finds: nobody's moves count."""
    game, most = task.game, -np.inf
    best: BoolArray | None = None
    for profile in game.actions.sample(task.rng, STARTS):
        top = _climbed(game, profile)
        value = float(_welfares(game, top[None])[0])
        if value > most:
            best, most = top, value
    assert best is not None
    return Strategy.pure(best, game.agents, game.coalitions)


def _climbed(game: Game, profile: BoolArray) -> BoolArray:
    """Return where changes of one agent's action no longer raise the sum of utilities."""
    sets = [space.enumerate() for space in game.actions.spaces]
    current, moved = profile.copy(), True
    while moved:
        moved = False
        for agent, choices in enumerate(sets):
            tried = np.repeat(current[None], len(choices) + 1, axis=0)
            tried[1:, agent] = choices
            values = _welfares(game, tried)
            best = int(values.argmax())
            if values[best] > values[0] + game.rounding:
                current, moved = tried[best], True
    return current


def _welfares(game: Game, profiles: BoolArray) -> FloatArray:
    rooms = game.utilities.pure_room_values(profiles)
    return np.asarray(np.where(profiles, rooms, 0.0).sum(axis=(1, 2)))


def random_profile(task: Task) -> Strategy:
    """Draw an action for everybody, and look at no data."""
    game = task.game
    return Strategy.pure(game.actions.sample(task.rng, 1)[0], game.agents, game.coalitions)


METHODS: Mapping[str, Method] = {
    "paper": as_printed,
    "monte carlo": monte_carlo,
    "auto": auto,
    "auto mixed": auto_mixed,
    "best response": best_response,
    "pessimism": pessimism,
    "welfare": welfare,
    "random": random_profile,
}
"""What figures may compare, by name; the steps of `coterie.reproduce.ablation` are more."""
