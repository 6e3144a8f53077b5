"""The paper's scheme: smoothed best response to optimistic values (Algorithm 1), and its pure form.

From the uniform strategy, agents in turn move a step of 0.25 towards a best response to the optimistic
values of the others' strategies; after each sweep the surrogate of the gap (Lemma 2) is looked at. The
search ends when it changes by less than 1e-3 of half the range, after 80 sweeps at most, and the best
iterate is kept. Expectations are exact by default. The authors' programs draw 50 joint actions for the
values and 50 for every best response, and 200 and 150 for the mixed-effects model; so does `samples`.

It is a reference: the dynamics follow optimism, not the surrogate, which often rises. Algorithm 2, over
pure profiles, leaves the minimisation open; here it is `coterie.solve.pure` on the surrogate.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.evidence import Bounding, D, Evidence
from coterie.certificates.gains import ENUMERATED, GainBound, is_enumerated
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paper import ExpectedNorms, SurrogateBound, paper_radius, paper_rooms, paper_totals
from coterie.certificates.total_evidence import TotalBatches, TotalEvidence
from coterie.errors import InputError, TooLargeError
from coterie.estimate.design import directions
from coterie.estimate.ridge import AgentRidge, PrintedRidge
from coterie.estimate.unknowns import SizeFree
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.solve.control import Control
from coterie.solve.hull import Hull, strategy_of
from coterie.solve.objective import CertificateObjective, Objective
from coterie.solve.pure import pure
from coterie.solve.smooth import SmoothBox
from coterie.solve.solution import Solution, Status

STEP, SWEEPS, TOLERANCE = 0.25, 80, 1e-3
"""The tolerance is for utilities between -1 and 1."""


class Samples(NamedTuple):
    """How many joint actions Monte Carlo draws."""

    values: int
    """For the values of the current strategy."""
    responses: int
    """For each best response."""


RELEASED = Samples(50, 50)
RELEASED_MIXED_EFFECTS = Samples(200, 150)


def paper(
    evidence: Evidence,
    spaces: ActionSpaces,
    delta: float,
    control: Control | None = None,
    *,
    agents: Iterable[str] | None = None,
    coalitions: Iterable[str] | None = None,
    samples: Samples | None = None,
    n_samples: int | None = None,
    strategy: Literal["mixed", "pure"] = "mixed",
) -> Solution:
    """Run the paper's scheme; the value is the exact surrogate, however expectations were taken on the way.

    Parameters
    ----------
    evidence
        Semi-bandit evidence, or `TotalEvidence` over the paper's unweighted ridge with penalty 1.
    spaces, delta
        What agents may do, and the failure probability.
    control
        Seed, time limit, progress, interruption.
    agents, coalitions
        Names; "1", "2", ... by default.
    samples
        Monte Carlo with so many draws; None takes expectations exactly.
    n_samples
        The number of samples in the log, M; bandit logs need it.
    strategy
        "pure" is Algorithm 2.
    """
    control = control or Control()
    surrogate = _surrogate(evidence, spaces, delta, agents, coalitions, n_samples)
    if isinstance(evidence.estimate if isinstance(evidence, TotalEvidence) else None, PrintedRidge) and (
        strategy == "pure" or samples is not None
    ):
        raise InputError("with the regressors j = i, the paper's scheme takes exact expectations of mixed strategies")
    if strategy == "pure":
        found = pure(surrogate.over_profiles(), control)
        return replace(found, method="paper (pure)")
    hulls = [Hull.of(space) for space in spaces.spaces]
    points = [hull.uniform() for hull in hulls]
    marginals = np.array([point @ hull.basis for hull, point in zip(hulls, points, strict=True)])

    def current() -> Strategy:
        return strategy_of(surrogate.game, hulls, points)

    def seen(strategy: Strategy) -> float:
        return surrogate.value(strategy) if samples is None else surrogate.drawn_value(strategy, samples, control.rng)

    bounds = evidence.bounds
    tolerance = TOLERANCE * (bounds.half_width if np.isfinite(bounds.half_width) else bounds.half_range)
    best = current()
    smallest = last = seen(best)
    sweep, status = 0, "limit"
    with control.running():
        for sweep in range(1, SWEEPS + 1):
            for i in range(spaces.n_agents):
                control.check()
                if samples is not None:
                    response = surrogate.drawn_response(current(), i, samples.responses, control.rng)[1]
                elif isinstance(surrogate, _PairSurrogate):
                    response = surrogate.response_to(marginals, i)  # much quicker than making a strategy
                else:
                    response = surrogate.response(current(), i)
                points[i] = (1 - STEP) * points[i] + STEP * hulls[i].corner(response)
                marginals[i] = points[i] @ hulls[i].basis
            now = seen(current())
            if now < smallest:
                best, smallest = current(), now
            control.report("paper", sweep, SWEEPS, smallest)
            if sweep > 1 and abs(last - now) < tolerance:
                status = "converged"
                break
            last = now
    ended: Status = control.ended or ("converged" if status == "converged" else "limit")
    note = "" if samples is None else f"Monte Carlo put the value at {smallest:.6g}"
    return Solution(
        best, surrogate.value(best), "paper", "paper certificate", ended, 1, sweep, control.seconds, note=note,
        drawn=None if samples is None else smallest,
    )  # fmt: skip


class _Surrogate(ABC):
    """Optimistic and pessimistic values of one feedback model."""

    game: Game

    @abstractmethod
    def value(self, strategy: Strategy) -> float:
        """Return the surrogate of the gap, exactly."""

    @abstractmethod
    def response(self, strategy: Strategy, agent: int) -> BoolArray:
        """Return a best response to the optimistic values, exactly."""

    @abstractmethod
    def drawn(self, profiles: BoolArray, agent: int) -> tuple[FloatArray, FloatArray]:
        """Return optimistic values of all the agent's actions, and her pessimistic value, on average over draws."""

    @abstractmethod
    def over_profiles(self) -> Objective:
        """Return the surrogate as an objective over pure profiles."""

    def drawn_response(
        self, strategy: Strategy, agent: int, count: int, rng: np.random.Generator
    ) -> tuple[float, BoolArray]:
        """Return the largest optimistic value on average over draws, and the action."""
        values = self.drawn(strategy.sample(rng, count), agent)[0]
        best = int(values.argmax())
        return float(values[best]), self.game.actions.spaces[agent].enumerate()[best]

    def drawn_value(self, strategy: Strategy, samples: Samples, rng: np.random.Generator) -> float:
        """Return the surrogate as Monte Carlo sees it."""
        profiles = strategy.sample(rng, samples.values)
        gaps = []
        for i in range(strategy.n_agents):
            kept = float(self.drawn(profiles, i)[1])
            gaps.append(self.drawn_response(strategy, i, samples.responses, rng)[0] - kept)
        return max(gaps)


class _PairSurrogate(_Surrogate):
    def __init__(self, smooth: SmoothBox) -> None:
        self.smooth, self.game = smooth, smooth.game

    def value(self, strategy: Strategy) -> float:
        return self.smooth.value(strategy.marginals)

    def response(self, strategy: Strategy, agent: int) -> BoolArray:
        return self.response_to(strategy.marginals, agent)

    def response_to(self, marginals: FloatArray, agent: int) -> BoolArray:
        """Return a best response to the optimistic values of marginals (n, k)."""
        upper = self.smooth.rooms(marginals)[0][agent]
        return np.asarray(self.game.actions.spaces[agent].best_responses(upper[None])[1][0])

    def drawn(self, profiles: BoolArray, agent: int) -> tuple[FloatArray, FloatArray]:
        estimate = self.smooth.evidence.estimate
        design = estimate.unknowns.batch(profiles, np.array([agent]))
        if design is None:
            name = estimate.unknowns.name
            raise InputError(
                f"the paper's scheme draws no samples under unknowns of the kind {name!r}; take expectations"
            )
        lower, upper = paper_rooms(estimate, design, self.smooth.delta)
        sets = self.game.actions.spaces[agent].enumerate()
        return upper.mean(axis=0) @ sets.T, np.asarray((lower * profiles[:, agent]).sum(axis=1).mean())

    def over_profiles(self) -> Objective:
        game = self.game
        return SurrogateObjective(self.smooth.evidence, game.actions, self.smooth.delta, game.agents, game.coalitions)


class SurrogateObjective(CertificateObjective):
    """The `paper` certificate of pure profiles, from a semi-bandit log."""

    label = "paper certificate"

    def _bound(self, source: Bounding[D], design: D, owners: IntArray) -> GainBound:
        del source, owners
        assert isinstance(self.evidence, PairEvidence)
        lower, upper = paper_rooms(self.evidence.estimate, design, self.delta)
        return SurrogateBound(design.marginals, upper, lower)


class _TotalSurrogate(_Surrogate):
    def __init__(self, ridge: AgentRidge, game: Game, delta: float, n_samples: int) -> None:
        self.ridge, self.game, self.delta, self.n_samples = ridge, game, delta, n_samples
        self.radius = ridge.bounds.half_width * paper_radius(game.n_agents, game.n_coalitions, n_samples, delta)
        self.batches = TotalBatches(TotalEvidence(ridge))

    def value(self, strategy: Strategy) -> float:
        return paper_totals(self.batches.evidence, strategy, self.game.actions, self.delta, self.n_samples).gap

    def response(self, strategy: Strategy, agent: int) -> BoolArray:
        design = TotalEvidence(self.ridge).design(strategy)
        rows = directions(design, agent)
        rooms = rows @ self.ridge.theta(agent)
        if isinstance(self.ridge, PrintedRidge):
            rooms = rooms + self.ridge.own(agent)
        norms = ExpectedNorms(self.ridge, strategy, agent, rows)
        sets = self.game.actions.spaces[agent].enumerate()
        return np.asarray(sets[(sets @ rooms + self.radius * norms.of(sets)).argmax()])

    def values(self, profiles: BoolArray, agents: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return rooms and forms of the bonus under pure profiles, one row per profile and agent."""
        design = SizeFree().batch(profiles, agents)
        return self.batches.rooms(design), self.radius**2 * self.batches.ellipsoids(design)

    def drawn(self, profiles: BoolArray, agent: int) -> tuple[FloatArray, FloatArray]:
        rooms, forms = self.values(profiles, np.array([agent]))
        sets = self.game.actions.spaces[agent].enumerate().astype(np.float64)
        own = profiles[:, agent].astype(np.float64)
        optimistic = (rooms @ sets.T + _norms(forms, sets)).mean(axis=0)
        kept = (rooms * own).sum(axis=1) - np.sqrt(np.maximum(np.einsum("bl,blm,bm->b", own, forms, own), 0.0))
        return optimistic, np.asarray(kept.mean())

    def over_profiles(self) -> Objective:
        return TotalSurrogateObjective(self)


def _norms(forms: FloatArray, sets: FloatArray) -> FloatArray:
    """Return the root of a' F a' for every row's form and every set, shape (rows, A)."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("al,blm,am->ba", sets, forms, sets, optimize=True), 0.0)))


class TotalSurrogateObjective(Objective):
    """The `paper` certificate of pure profiles, from a bandit log."""

    label = "paper certificate"

    def __init__(self, surrogate: _TotalSurrogate) -> None:
        self.surrogate, self.game = surrogate, surrogate.game
        if not all(is_enumerated(space) for space, _ in self.game.actions.groups):
            raise TooLargeError(f"the paper's pure bandit surrogate needs at most {ENUMERATED} actions per agent")

    def _margins(self, profiles: BoolArray, agents: IntArray) -> FloatArray:
        rooms, forms = self.surrogate.values(profiles, agents)
        own = profiles[:, agents].reshape(len(rooms), -1).astype(np.float64)
        kept = (rooms * own).sum(axis=1) - np.sqrt(np.maximum(np.einsum("bl,blm,bm->b", own, forms, own), 0.0))
        owners = np.tile(agents, len(profiles))
        values = np.empty(len(rooms))
        for t, sets in enumerate(self._sets):
            assert sets is not None
            rows = np.flatnonzero(self._group[owners] == t)
            values[rows] = (rooms[rows] @ sets.T + _norms(forms[rows], sets)).max(axis=1)
        values = np.where(self.spaces.counted[owners], values - kept, -np.inf)
        return values.reshape(len(profiles), -1)


def _surrogate(
    evidence: Evidence,
    spaces: ActionSpaces,
    delta: float,
    agents: Iterable[str] | None,
    coalitions: Iterable[str] | None,
    n_samples: int | None,
) -> _Surrogate:
    if isinstance(evidence, PairEvidence):
        return _PairSurrogate(SmoothBox(evidence, spaces, delta, agents, coalitions, certificate="paper"))
    if not isinstance(evidence, TotalEvidence) or not isinstance(evidence.estimate, AgentRidge):
        raise InputError("the paper's bandit scheme needs the paper's ridge: TotalEvidence(paper_ridge(statistics))")
    if evidence.unknowns != SizeFree():
        raise InputError("the paper's bandit scheme knows no sizes and no interchangeable coalitions")
    if n_samples is None:
        raise InputError("the paper's bandit bonus needs n_samples, the number of samples in the log")
    game = evidence.game(spaces, agents, coalitions)
    return _TotalSurrogate(evidence.estimate, game, delta, n_samples)
