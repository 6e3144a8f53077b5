"""Certificates against any notion of stability, for totals or averages, under rules.

A step of `coterie.game.steps` blocks with gain g if every mover gains at least g and nobody whose consent is needed
loses. Let U bound a mover's gain from above, and V the change of somebody who must consent. Then

    g = max over admissible steps that are not surely refused (V >= 0) of the smallest U of its movers

bounds the gap. Proof: the truly worst blocking step s* is fixed once the profile is. If U holds for its movers and V
for whoever may refuse it, then V >= true change >= 0, so s* is in the maximum, and its smallest U is at least its gain.
What is paid for are the events of s* alone:

    holdout, with a learning part     one mover, fixed beforehand: whoever is expected to gain least, as her gain is at
                                      least the smallest; with consent also one refuser, fixed beforehand
    holdout, without                  all movers of a step, and all whose consent it needs
    paired, box                       nothing: all intervals hold together
    paired, union                     one event for each profile, two for exchanges; not where consent is needed

The case without rules, of totals, against single deviations is that of `holdout.fixed` and `paired.paired`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.certificate import Certificate, Doubt, Witness
from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.gains import GainBound, SmallerOf
from coterie.certificates.widths import one_event
from coterie.errors import InputError
from coterie.estimate.step_design import StepDesign, step_design
from coterie.estimate.unknowns import Unknowns
from coterie.game.actions import ActionSpaces, names_in
from coterie.game.admissible import Admissible
from coterie.game.game import Game, Value
from coterie.game.steps import NOBODY, Stability, Steps, consent_needed, needs_consent
from coterie.game.strategy import Strategy

DOUBTS = 5
"""How many pairs a witness names."""


KEPT = 2
"""Of so many strategies the coefficients of steps are kept: they are many."""


class Rows(NamedTuple):
    """Of which steps it is asked what they change, and for whom: first movers, then those whose consent is needed."""

    step: IntArray
    agent: IntArray
    movers: int


@dataclass(frozen=True, eq=False)
class Against:
    """What a profile is to be stable against: whose steps, which, under which rules, counted in what."""

    spaces: ActionSpaces
    stability: Stability = "nash"
    value: Value = "total"
    admissible: Admissible | None = None
    newcomers: tuple[str, ...] = ()
    """Agents of whom there are no data, see `Certificate.known_gap`."""

    @property
    def is_plain(self) -> bool:
        """Whether this is the game of the paper: single deviations, totals, no rules."""
        plain = self.stability == "nash" and self.value == "total"
        return plain and (self.admissible is None or not self.admissible.rules)

    @cached_property
    def own_spaces(self) -> ActionSpaces:
        """What those who are to be assigned may do; others neither choose nor count."""
        return self.spaces if self.admissible is None else self.admissible.spaces(self.spaces)

    def steps(self, profile: BoolArray) -> Steps:
        """Return every admissible step of agents who count."""
        admissible = self.admissible or Admissible.free(*profile.shape)
        return admissible.steps(profile, self.spaces, self.stability)

    def changes(self, strategy: Strategy, unknowns: Unknowns) -> "tuple[Steps, Rows, StepDesign]":
        """Return the steps from a pure strategy, of whom it is asked what they change, and their coefficients.

        The last ones are kept: what is certified is mostly asked about several times in a row.
        """
        key = strategy.sets.shape, strategy.sets.tobytes(), type(unknowns)
        if key not in self._changes:
            steps = self.steps(strategy.sets)
            step, place = np.nonzero(steps.moves)
            agent, movers = steps.movers[step, place], len(step)
            if needs_consent(self.stability):
                asked_step, asked = np.nonzero(consent_needed(strategy.sets, steps, self.stability))
                step, agent = np.concatenate([step, asked_step]), np.concatenate([agent, asked])
            rows = Rows(step, agent, movers)
            design = step_design(unknowns, strategy.sets, steps, rows[:2], self.value)
            while len(self._changes) >= KEPT:
                del self._changes[next(iter(self._changes))]
            self._changes[key] = steps, rows, design
        return self._changes[key]

    @cached_property
    def _changes(self) -> "dict[tuple[tuple[int, ...], bytes, type[Unknowns]], tuple[Steps, Rows, StepDesign]]":
        return {}

    def game(self, evidence: Evidence) -> Game:
        """Return the game whose means are the estimates, with this value."""
        return evidence.game(self.own_spaces).valued(self.value)

    def blocking(self, game: Game, strategy: Strategy, steps: Steps | None = None) -> tuple[Steps, FloatArray]:
        """Return the steps that nobody refuses in a game with known means, and what whoever gains least gains.

        The strategy's `steps` need not be listed again if they are known.
        """
        steps = self.steps(strategy.sets) if steps is None else steps
        steps, gains = game.valued(self.value).unrefused(strategy.sets, steps, self.stability)
        return steps, np.asarray(gains.min(axis=1)) if len(steps) else np.zeros(0)

    def gap(self, game: Game, strategy: Strategy, steps: Steps | None = None) -> float:
        """Return the gap of a strategy in a game with known means."""
        if self.is_plain:
            return game.with_actions(self.own_spaces).valued(self.value).gap(strategy)
        return float(self.blocking(game, strategy, steps)[1].max(initial=0.0))

    def gains(self, game: Game, strategy: Strategy, steps: Steps | None = None) -> FloatArray:
        """Return the most that each agent gains by a step that they take part in and that nobody refuses, or 0."""
        if self.is_plain:
            game = game.with_actions(self.own_spaces).valued(self.value)
            gains = game.responses(game.utilities.rooms(strategy.sets))[0]
            return np.where(game.actions.counted, np.maximum(gains, 0.0), 0.0)
        return np.maximum(largest_by_agent(*self.blocking(game, strategy, steps), strategy.n_agents)[0], 0.0)


class Judgement:
    """A profile's steps, and what evidence says of each of them."""

    def __init__(self, strategy: Strategy, against: Against, evidence: Evidence) -> None:
        if not strategy.is_pure:
            raise InputError(
                "rules, averages and other notions of stability than nash are about pure strategies; this one is mixed"
            )
        self.strategy, self.against, self.evidence = strategy, against, evidence
        self.asks = needs_consent(against.stability)
        self.steps, rows, self.design = against.changes(strategy, evidence.unknowns)
        self.mover_step, self.mover = rows.step[: rows.movers], rows.agent[: rows.movers]
        self.asked_step, self.asked = rows.step[rows.movers :], rows.agent[rows.movers :]
        self.n_movers = rows.movers
        self._some: dict[bytes, StepDesign] = {}

    @property
    def rows(self) -> tuple[IntArray, IntArray]:
        """The rows of movers, and of those who are asked."""
        return np.arange(self.n_movers), np.arange(self.n_movers, len(self.design.owners))

    def bound(
        self, made: Callable[[Evidence, StepDesign], GainBound], evidence: Evidence, rows: IntArray | None = None
    ) -> FloatArray:
        """Return the bound of some rows, or of all."""
        design = self.design if rows is None else self._rows_of(rows)
        if not len(design.owners):
            return np.zeros(0)
        found = made(evidence, design).at(design.moves, np.arange(len(design.owners)))[:, 0]
        return np.where(np.isnan(found), np.inf, found)  # not a number must never read as "nobody gains"

    def _rows_of(self, rows: IntArray) -> StepDesign:
        """Return some rows, the same ones once: what evidence says of them is kept with them."""
        key = rows.tobytes()
        if key not in self._some:
            self._some[key] = self.design[rows]
        return self._some[key]

    def least(self, values: FloatArray) -> FloatArray:
        """Return the smallest of the movers' values for each step."""
        found = np.full(len(self.steps), np.inf)
        np.minimum.at(found, self.mover_step, values)
        return found

    def blocking(self, rows: FloatArray) -> FloatArray:
        """Return the bound of each step from those of all rows: the smallest of its movers, -inf if surely refused."""
        bounds = self.least(rows[: self.n_movers])
        change = np.full(len(self.steps), np.inf)
        np.minimum.at(change, self.asked_step, rows[self.n_movers :])
        return np.where(change < 0, -np.inf, bounds)

    def least_mover(self, values: FloatArray) -> IntArray:
        """Return for each step the row of the mover with the smallest value, the first of several."""
        order = np.lexsort((values, self.mover_step))
        _, first = np.unique(self.mover_step[order], return_index=True)
        return order[first]

    def refusers(self, values: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the steps that somebody must consent to, and for each the row of whoever has the smallest value."""
        order = np.lexsort((values, self.asked_step))
        steps, first = np.unique(self.asked_step[order], return_index=True)
        return steps, self.n_movers + order[first]

    @cached_property
    def estimates(self) -> FloatArray:
        """The estimated change of every row."""
        rooms = self.evidence.rooms(self.design)
        return np.asarray(rooms[:, 0] - rooms[:, 1])

    # --- What comes of it ---------------------------------------------------------------------------

    def certificate(self, method: str, delta: float, bounds: FloatArray, together: FloatArray) -> Certificate:
        """Return the certificate from a bound for each step, -inf where it is surely refused.

        `together` are bounds for all agents at once, of which `Certificate.surely_stay` speaks.
        """
        strategy, counted = self.strategy, self.against.own_spaces.counted
        worst_of = largest_by_agent(self.steps, bounds, strategy.n_agents)
        alone = largest_by_agent(self.steps, together, strategy.n_agents)[0]
        values, steps = worst_of
        alternatives = {
            agent: self._witness(int(steps[i]), bounds, i)
            for i, agent in enumerate(strategy.agents)
            if np.isfinite(values[i]) or values[i] > 0
        }
        among = [alternatives[agent] for agent, here in zip(strategy.agents, counted.tolist(), strict=True)
                 if here and agent in alternatives]  # fmt: skip
        worst = max(among, key=lambda witness: witness.bound, default=None)
        if worst is not None:
            at = int(steps[strategy.agents.index(worst.agent)])
            worst = replace(worst, doubts=self._doubts(at))
        new = np.isin(strategy.agents, self.against.newcomers) & counted
        known = bounds[~np.append(new, False)[self.steps.movers].any(axis=1)]
        return Certificate(
            method,
            delta,
            max(0.0, float(bounds.max(initial=0.0))),
            {agent: max(0.0, float(values[i])) for i, agent in enumerate(strategy.agents) if counted[i]},
            worst,
            alternatives,
            (*self.evidence.assumptions(), *self._meaning()),
            True,
            tuple(agent for i, agent in enumerate(strategy.agents) if counted[i] and alone[i] <= 0),
            tuple(agent for i, agent in enumerate(strategy.agents) if not counted[i]),
            tuple(agent for i, agent in enumerate(strategy.agents) if new[i]),
            float(known.max(initial=0.0)) if new.any() else None,
        )

    def _meaning(self) -> Iterable[str]:
        """Say what is certified where it is not the default."""
        if self.against.stability != "nash":
            yield f"stability is {self.against.stability}"
        if self.against.value == "average":
            yield "a team is worth the average over the other members"

    def _witness(self, step: int, bounds: FloatArray, agent: int | None = None) -> Witness:
        strategy, steps = self.strategy, self.steps
        rows = np.flatnonzero(self.mover_step == step)
        gain = float(self.estimates[rows].min())
        movers = {
            strategy.agents[i]: tuple(names_in(row, strategy.coalitions))
            for i, row in zip(steps.movers[step].tolist(), steps.sets[step], strict=True)
            if i != NOBODY
        }
        who = strategy.agents[int(self.mover[rows[self.estimates[rows].argmin()]]) if agent is None else agent]
        asked = self.n_movers + np.flatnonzero(self.asked_step == step)
        refuser = (
            strategy.agents[int(self.design.owners[asked[self.estimates[asked].argmin()]])] if len(asked) else None
        )
        bound = float(bounds[step])
        uncertainty = bound - gain
        return Witness(who, movers[who], gain, uncertainty, (), movers if len(movers) > 1 else {}, refuser)

    def _doubts(self, step: int) -> tuple[Doubt, ...]:
        """Return the pairs that add most to the uncertainty of a step."""
        rows = np.flatnonzero(self.mover_step == step)
        row = rows[self.estimates[rows].argmin()]
        design = self.design[np.array([row])]
        errors = design.terms(self.evidence.errors)
        leading = np.argsort(-errors, kind="stable")[:DOUBTS]
        strategy = self.strategy
        return tuple(
            Doubt(strategy.agents[design.cell[1][t]], strategy.coalitions[design.coalition[t]], float(errors[t]))
            for t in leading.tolist()
            if errors[t] > 0
        )


def largest_by_agent(steps: Steps, bounds: FloatArray, n_agents: int) -> tuple[FloatArray, IntArray]:
    """Return the largest bound over the steps that each agent takes part in, and which it is; -inf where none."""
    value, at = np.full(n_agents, -np.inf), np.zeros(n_agents, dtype=np.int64)
    order = np.argsort(bounds, kind="stable")
    for place in range(steps.movers.shape[1]):
        who = steps.movers[order, place]
        here = who != NOBODY
        # The last to be written is the largest.
        best, where = np.full(n_agents, -np.inf), np.zeros(n_agents, dtype=np.int64)
        best[who[here]], where[who[here]] = bounds[order][here], order[here]
        better = best > value
        value, at = np.where(better, best, value), np.where(better, where, at)
    return value, at


# --- The two certificates -----------------------------------------------------------------------------


def paired_against(
    evidence: Evidence, strategy: Strategy, against: Against, delta: float, *, declared: ActionSpaces | None = None
) -> Certificate:
    """Return the `paired` certificate: valid for every profile at once, so it may be chosen on all data.

    Box: with probability 1 - delta / 2 all intervals hold, and with them every U and V. Union (not where consent is
    needed): for every pure profile of the action spaces the events of its worst step hold, one for each mover, with
    probability 1 - delta / 2 together: log K = sum over agents of log |A_j|, plus log 2 for steps of two movers.
    """
    judged = Judgement(strategy, against, evidence)
    # All intervals hold together anyway; events of the union form do so for a price.
    agents = max(1, int(against.own_spaces.counted.sum()))
    rows = paired_rows(judged, evidence, delta, declared, agents=(1,) if judged.asks else (1, agents))
    bounds = [judged.blocking(one) for one in rows]
    return judged.certificate("paired", delta, bounds[0], bounds[-1])


def paired_rows(
    judged: Judgement,
    evidence: Evidence,
    delta: float,
    declared: ActionSpaces | None = None,
    *,
    agents: Sequence[int] = (1,),
) -> list[FloatArray]:
    """Return the bounds of all rows that the `paired` certificate is made of, for each number of agents together.

    The evidence may be another one than that of the judgement, if only it is about the same unknowns.
    """
    against = judged.against
    # Who is on the staff is fixed beforehand, so only what they may do is paid for.
    spaces = declared or against.spaces
    spaces = spaces if against.admissible is None else against.admissible.spaces(spaces)
    has_union = not judged.asks and bool(spaces.contains(judged.strategy.sets).all())

    def uniform(source: Evidence, design: StepDesign) -> GainBound:
        return SmallerOf((source.range_bound(design), source.uniform_bound(design, delta / 2)))

    def union(log_term: float) -> Callable[[Evidence, StepDesign], GainBound]:
        return lambda source, design: source.direction_bound(design, log_term)

    by_intervals = judged.bound(uniform, evidence)
    found = [by_intervals.copy() for _ in agents]
    if has_union:
        profiles = sum(space.log_size for space in spaces.spaces)
        most = judged.steps.moves.sum(axis=1)[judged.mover_step]
        for several in np.unique(most).tolist():
            rows = np.flatnonzero(most == several)
            for one, together in zip(found, agents, strict=True):
                log_term = profiles + math.log(several * together) + one_event(delta / 2)
                one[rows] = np.minimum(one[rows], judged.bound(union(log_term), evidence, rows))
    return found


def fixed_against(
    evidence: Evidence,
    strategy: Strategy,
    against: Against,
    delta: float,
    *,
    form: Form = "both",
    learning: Evidence | None = None,
) -> Certificate:
    """Certify a profile that was fixed without looking at this evidence's utilities.

    With a learning part one mover and one refuser of each step are fixed on it (with the counts of the certifying part,
    which no utility decides): the mover whose bound, and the refuser whose change, is expected to be smallest.
    """
    judged = Judgement(strategy, against, evidence)
    agents = max(1, int(against.own_spaces.counted.sum()))
    bounds, together = _fixed_bounds(judged, evidence, (delta, delta / agents), form, learning)
    return judged.certificate("holdout", delta, bounds, together)


def fixed_gap(
    evidence: Evidence, strategy: Strategy, against: Against, delta: float, form: Form, learning: Evidence
) -> float:
    """Return the gap of `fixed_against` alone: it says less, at half the price."""
    (bounds,) = _fixed_bounds(Judgement(strategy, against, evidence), evidence, (delta,), form, learning)
    return max(0.0, float(bounds.max(initial=0.0)))


def _fixed_bounds(
    judged: Judgement, evidence: Evidence, shares: Sequence[float], form: Form, learning: Evidence | None
) -> list[FloatArray]:
    """Return the bounds of all steps for each share of delta."""
    if learning is None:
        return [judged.blocking(fixed_rows(judged, evidence, share, form)) for share in shares]
    ahead = evidence.preview(learning)
    return [_learnt_bounds(judged, evidence, share, form, learning, ahead) for share in shares]


def fixed_rows(judged: Judgement, evidence: Evidence, delta: float, form: Form = "both") -> FloatArray:
    """Return the bounds of all rows for a profile that was fixed beforehand: each step pays for all rows that it has.

    The evidence may be another one than that of the judgement, if only it is about the same unknowns.
    """
    step_of = np.concatenate([judged.mover_step, judged.asked_step])
    events = np.bincount(step_of, minlength=len(judged.steps))[step_of]
    found = np.empty(len(step_of))
    for many in np.unique(events).tolist():
        log_term, rows = one_event(delta / many), np.flatnonzero(events == many)

        def made(source: Evidence, design: StepDesign, log_term: float = log_term) -> GainBound:
            return SmallerOf((source.range_bound(design), source.direction_bound(design, log_term, form)))

        found[rows] = judged.bound(made, evidence, rows)
    return found


def _learnt_bounds(
    judged: Judgement, evidence: Evidence, delta: float, form: Form, learning: Evidence, expected: Evidence
) -> FloatArray:
    """Return the bound of each step where the learning part says which mover and which refuser count.

    What is `expected` of the evidence is what it is likely to say, by the learning part.
    """
    movers, asked = judged.rows
    if not len(judged.steps):
        return np.full(0, -np.inf)
    log_term = one_event(delta / (2 if judged.asks else 1))

    def ahead(source: Evidence, design: StepDesign) -> GainBound:
        return source.expected_bound(design, log_term)

    def made(source: Evidence, design: StepDesign) -> GainBound:
        if form != "both":
            return SmallerOf((source.range_bound(design), source.direction_bound(design, log_term, form)))
        return SmallerOf((source.range_bound(design), source.learnt_bound(design, log_term, learning)))

    chosen = judged.least_mover(judged.bound(ahead, expected, movers))
    bounds = judged.bound(made, evidence, chosen)
    if len(asked):
        steps, refusers = judged.refusers(judged.bound(ahead, expected, asked))
        refused = judged.bound(made, evidence, refusers) < 0
        bounds[steps[refused]] = -np.inf
    return bounds


def range_against(evidence: Evidence, strategy: Strategy, against: Against) -> float:
    """Return what the range of utilities says of the gap without any data."""
    judged = Judgement(strategy, against, evidence)
    bounds = judged.blocking(judged.bound(lambda source, design: source.range_bound(design), evidence))
    return max(0.0, float(bounds.max(initial=0.0)))


def likely_against(evidence: Evidence, strategy: Strategy, against: Against, delta: float) -> float | None:
    """Return what the gap likely is at most, no promise, see `coterie.certificates.likely`."""
    judged = Judgement(strategy, against, evidence)
    if not judged.n_movers:
        return 0.0
    likely = evidence.likely_bound(judged.design, delta)
    if likely is None:
        return None
    rows = judged.bound(lambda source, design: SmallerOf((source.range_bound(design), likely)), evidence)
    bounds = judged.blocking(rows)
    found = float(bounds.max(initial=0.0))
    return None if math.isinf(found) else max(0.0, found)
