"""From evidence to explanations: what each coalition is worth to an agent, and who makes it so."""

from os import PathLike

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates.against import Against
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, SmallerOf
from coterie.certificates.pair_evidence import PairEvidence
from coterie.errors import InputError
from coterie.estimate.design import AveragedDesign, StrategyDesign
from coterie.estimate.step_design import step_design
from coterie.game.game import Value
from coterie.game.steps import Steps
from coterie.game.strategy import Strategy
from coterie.learn.explanation import Explanation, Partner, Room
from coterie.learn.result import Result, as_result

PARTNERS = 3
"""So many partners are named for each coalition: those that matter most to the agent."""

Intervals = dict[str, tuple[float, float]]
"""What every agent's best alternative changes, at least and at most."""


def explain(result: Result | str | PathLike[str], agent: str) -> Explanation:
    """Return why an agent is where she is, from a result of `learn` or `certify`, or from a result file."""
    found = as_result(result)
    checks.index_of(agent, found.strategy.agents, "agent")
    if agent not in found.explanations:
        raise InputError("this result holds no explanations")
    return found.explanations[agent]


def explanations(
    evidence: Evidence, strategy: Strategy, certificate: Certificate, against: Against
) -> tuple[dict[str, Explanation], Intervals]:
    """Return every agent's explanation, and what her best alternative changes at least and at most.

    The intervals come from `Evidence.uniform_bound`, which holds for all profiles and directions at once, so it
    does not matter that the data chose them.
    """
    design = evidence.design(strategy)
    if against.value == "average":
        design = AveragedDesign(design)
    sure = SmallerOf((evidence.range_bound(design), evidence.uniform_bound(design, certificate.delta)))
    rooms = _rooms(evidence, design, sure, strategy)
    if against.is_plain:
        intervals = _gain_intervals(sure, strategy, certificate)
    else:
        intervals = _step_intervals(evidence, strategy, certificate, against.value)
    moves = certificate.alternatives
    least = {agent: low for agent, (low, _) in intervals.items()}
    return {a: Explanation.of(a, rooms[a], moves.get(a), least.get(a)) for a in strategy.agents}, intervals


def _gain_intervals(sure: GainBound, strategy: Strategy, certificate: Certificate) -> Intervals:
    """Return what every agent's best alternative changes, at least and at most.

    At most what the certificate says, at least minus the sure bound in direction -x. Each upper end holds with
    probability 1 - delta, and so do all lower ends together.
    """
    alternatives = certificate.alternatives
    moves = [i for i, agent in enumerate(strategy.agents) if agent in alternatives]
    x = -strategy.marginals[moves]
    for row, i in zip(x, moves, strict=True):
        row += [name in alternatives[strategy.agents[i]].deviation for name in strategy.coalitions]
    least = 0.0 - sure.at(-x[:, None], np.array(moves, dtype=np.intp))[:, 0]
    names = [strategy.agents[i] for i in moves]
    return {agent: (low, alternatives[agent].bound) for agent, low in zip(names, least.tolist(), strict=True)}


def _step_intervals(evidence: Evidence, strategy: Strategy, certificate: Certificate, value: Value) -> Intervals:
    """Return the same for steps: what whoever gains least has of it, of the step that comes closest to paying off."""
    alternatives = certificate.alternatives
    if not alternatives:
        return {}
    place = {agent: i for i, agent in enumerate(strategy.agents)}
    parts = []
    for witness in alternatives.values():
        moved = witness.movers or {witness.agent: witness.deviation}
        sets = [[name in to for name in strategy.coalitions] for to in moved.values()]
        parts.append(Steps(np.array([[place[agent] for agent in moved]]), np.array([sets])))
    steps = Steps.together(parts)
    step, column = np.nonzero(steps.moves)
    rows = (step, steps.movers[step, column])
    design = step_design(evidence.unknowns, strategy.sets, steps, rows, value)
    sure = SmallerOf((evidence.range_bound(design), evidence.uniform_bound(design, certificate.delta)))
    least = np.full(len(steps), np.inf)
    np.minimum.at(least, step, 0.0 - sure.at(-design.moves, np.arange(len(step)))[:, 0])
    return {
        agent: (low, witness.bound) for (agent, witness), low in zip(alternatives.items(), least.tolist(), strict=True)
    }


def _rooms(
    evidence: Evidence, design: StrategyDesign, sure: GainBound, strategy: Strategy
) -> dict[str, tuple[Room, ...]]:
    """Return every agent's rooms: W_i(l) is at most the bound at e_l, and at least minus the bound at -e_l."""
    values = evidence.rooms(design)
    n, k = values.shape
    everybody, unit = np.arange(n), np.broadcast_to(np.eye(k), (n, k, k))
    upper, lower = sure.at(unit, everybody), -sure.at(-unit, everybody)
    counts = None
    if isinstance(evidence, PairEvidence):
        counts = evidence.unknowns.seen_in_rooms(evidence.estimate.moments.count, k)
    found = {}
    for i, agent in enumerate(strategy.agents):
        worth, joined = evidence.by_partner(design, i), strategy.marginals[i]
        order = sorted(range(k), key=lambda l: (-joined[l], -values[i, l], l))
        found[agent] = tuple(
            Room(
                strategy.coalitions[l], float(joined[l]), float(values[i, l]), float(lower[i, l]),
                float(upper[i, l]), _leading(worth[l], None if counts is None else counts[l][i], strategy, l),
            )
            for l in order
        )  # fmt: skip
    return found


def _leading(worth: FloatArray, counts: FloatArray | None, strategy: Strategy, coalition: int) -> tuple[Partner, ...]:
    """Return the partners who may be in a coalition and matter most to an agent."""
    present = np.flatnonzero(strategy.marginals[:, coalition] > 0)
    leading = present[np.argsort(-np.abs(worth[present]), kind="stable")][:PARTNERS]
    return tuple(
        Partner(strategy.agents[j], float(worth[j]), None if counts is None else int(counts[j]))
        for j in leading.tolist()
        if worth[j] != 0
    )
