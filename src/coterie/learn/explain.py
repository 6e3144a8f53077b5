"""From evidence to explanations: what each coalition is worth to an agent, and who makes it so."""

from dataclasses import replace
from os import PathLike

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates.against import Against, largest_by_agent
from coterie.certificates.certificate import Certificate, Witness
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, LinearBound, SmallerOf, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.estimate.design import AveragedDesign, StrategyDesign, directions
from coterie.estimate.step_design import step_design
from coterie.game.actions import names_in
from coterie.game.steps import NOBODY
from coterie.game.strategy import Strategy
from coterie.learn.explanation import Explanation, Partner, Room
from coterie.learn.result import Result, as_result

PARTNERS = 3
"""So many partners are named for each coalition: those that matter most to the agent."""

Intervals = dict[str, tuple[float, float]]
"""What every agent's best alternative changes, at least and at most."""


def explain(result: Result | str | PathLike[str], agent: str) -> Explanation:
    """Return why an agent is where they are, from a result of `learn` or `certify`, or from a result file."""
    found = as_result(result)
    checks.index_of(agent, found.strategy.agents, "agent")
    if agent not in found.explanations:
        raise InputError("this result holds no explanations")
    return found.explanations[agent]


def explanations(
    evidence: Evidence, strategy: Strategy, certificate: Certificate, against: Against, expected: FloatArray
) -> tuple[dict[str, Explanation], Intervals]:
    """Return every agent's explanation, and what their best alternative changes at least and at most.

    Unknowns are worth what is expected of them, and the best alternative is the best by that. The intervals come from
    `Evidence.uniform_bound`, which holds for all profiles and directions at once, so it does not matter that the data
    chose them; nothing changes by more than the certificate says of the agent.
    """
    plain = design = evidence.design(strategy)
    if against.value == "average":
        design = AveragedDesign(plain)
    sure = SmallerOf((evidence.range_bound(design), evidence.uniform_bound(design, certificate.delta)))
    rooms = _rooms(evidence, plain, design, sure, strategy, expected)
    if against.is_plain:
        best, ends = _best_moves(design.linear(expected), sure, strategy, against)
    else:
        best, ends = _best_steps(evidence, strategy, certificate.delta, against, expected)
    chosen = {
        agent: _within(witness, ends[agent][0], _capped(ends[agent][1], certificate, agent))
        for agent, witness in best.items()
    }
    intervals = {agent: (low, chosen[agent].bound) for agent, (low, _) in ends.items()}
    least = {agent: low for agent, (low, _) in intervals.items()}
    return {a: Explanation.of(a, rooms[a], chosen.get(a), least.get(a)) for a in strategy.agents}, intervals


def _within(witness: Witness, low: float, high: float) -> Witness:
    """Return a step whose gain is within what is sure of it, and whose bound is that."""
    gain = min(max(witness.estimated_gain, low), high)
    return replace(witness, estimated_gain=gain, uncertainty=high - gain)


def _capped(high: float, certificate: Certificate, agent: str) -> float:
    """Return an upper end that is not above what the certificate says of all that the agent could do."""
    worst = certificate.alternatives.get(agent)
    return high if worst is None else min(high, worst.bound)


def _best_moves(
    rooms: FloatArray, sure: GainBound, strategy: Strategy, against: Against
) -> tuple[dict[str, Witness], Intervals]:
    """Return every agent's move with the largest gain by these values of rooms, and its ends."""
    found = worst_deviations(LinearBound(strategy.marginals, rooms, rooms), against.own_spaces)
    moves = np.flatnonzero(~np.isneginf(found.value))
    x = found.action[moves] - strategy.marginals[moves]
    gains = (x * rooms[moves]).sum(axis=1)
    most = sure.at(x[:, None], moves)[:, 0]
    least = 0.0 - sure.at(-x[:, None], moves)[:, 0]
    best, ends = {}, {}
    for row, i in enumerate(moves.tolist()):
        agent, to = strategy.agents[i], tuple(names_in(found.action[i], strategy.coalitions))
        best[agent] = Witness(agent, to, float(gains[row]), 0.0)
        ends[agent] = (float(least[row]), float(most[row]))
    return best, ends


def _best_steps(
    evidence: Evidence, strategy: Strategy, delta: float, against: Against, expected: FloatArray
) -> tuple[dict[str, Witness], Intervals]:
    """Return the same for steps: a step is worth what whoever gains least has of it."""
    game = evidence.unknowns.game(expected, against.own_spaces, strategy.agents, strategy.coalitions)
    steps, gains = against.blocking(game, strategy)
    value, at = largest_by_agent(steps, gains, strategy.n_agents)
    movers = np.flatnonzero(~np.isneginf(value))
    if not len(movers):
        return {}, {}
    chosen = steps[at[movers]]
    step, column = np.nonzero(chosen.moves)
    rows = (step, chosen.movers[step, column])
    design = step_design(evidence.unknowns, strategy.sets, chosen, rows, against.value)
    sure = SmallerOf((evidence.range_bound(design), evidence.uniform_bound(design, delta)))
    least, most = np.full(len(chosen), np.inf), np.full(len(chosen), np.inf)
    every = np.arange(len(step))
    np.minimum.at(least, step, 0.0 - sure.at(-design.moves, every)[:, 0])
    np.minimum.at(most, step, sure.at(design.moves, every)[:, 0])
    best, ends = {}, {}
    for row, i in enumerate(movers.tolist()):
        agent = strategy.agents[i]
        moved = {
            strategy.agents[j]: tuple(names_in(to, strategy.coalitions))
            for j, to in zip(chosen.movers[row].tolist(), chosen.sets[row], strict=True)
            if j != NOBODY
        }
        best[agent] = Witness(agent, moved[agent], float(value[i]), 0.0, movers=moved)
        ends[agent] = (float(least[row]), float(most[row]))
    return best, ends


def _rooms(
    evidence: Evidence,
    plain: StrategyDesign,
    design: StrategyDesign,
    sure: GainBound,
    strategy: Strategy,
    expected: FloatArray,
) -> dict[str, tuple[Room, ...]]:
    """Return every agent's rooms: W_i(l) is at most the bound at e_l, and at least minus the bound at -e_l.

    What partners are worth is by the `plain` design, whether their sum counts or their average.
    """
    n, k = design.marginals.shape
    everybody, unit = np.arange(n), np.broadcast_to(np.eye(k), (n, k, k))
    upper, lower = sure.at(unit, everybody), -sure.at(-unit, everybody)
    values = np.clip(design.linear(expected), lower, upper)  # what is sure is stronger than what is believed
    counts = None
    if isinstance(evidence, PairEvidence):
        counts = evidence.unknowns.seen_in_rooms(evidence.estimate.moments.count, k)
    everywhere = None
    if counts is not None:
        everywhere = counts[0] if evidence.unknowns.is_pooled else np.sum(counts, axis=0)
    found = {}
    for i, agent in enumerate(strategy.agents):
        worth, joined = evidence.unknowns.by_partner(expected, plain, i), strategy.marginals[i]
        order = sorted(range(k), key=lambda l: (-joined[l], -values[i, l], l))
        found[agent] = tuple(
            Room(
                strategy.coalitions[l], float(joined[l]), float(values[i, l]), float(lower[i, l]),
                float(upper[i, l]), leading, seen,
                int((np.delete(strategy.marginals[:, l], i) > 0).sum()) - len(leading),
                () if seen is not False else _met(everywhere, strategy, i, l),
            )
            for l in order
            for leading in [_leading(worth[l], counts, everywhere, strategy, i, l)]
            for seen in [_seen(evidence, design, counts, i, l)]
        )  # fmt: skip
    return found


def _seen(
    evidence: Evidence, design: StrategyDesign, counts: list[FloatArray] | None, agent: int, coalition: int
) -> bool | None:
    """Return whether an agent was ever seen in a coalition with anybody who may be there; None where nobody may."""
    there = design.marginals[:, coalition] > 0
    there[agent] = False
    if not there.any():
        return None
    if isinstance(evidence, TotalEvidence):
        return bool((evidence.estimate.seen(agent) & (directions(design, agent)[coalition] != 0)).any())
    return counts is None or bool(counts[coalition][agent][there].any())


def _met(everywhere: FloatArray | None, strategy: Strategy, agent: int, coalition: int) -> tuple[str, ...]:
    """Return whom an agent was seen with anywhere, of those who may be in a coalition."""
    if everywhere is None:
        return ()
    there = (everywhere[agent] > 0) & (strategy.marginals[:, coalition] > 0)
    return tuple(strategy.agents[j] for j in np.flatnonzero(there) if j != agent)


def _leading(
    worth: FloatArray,
    counts: list[FloatArray] | None,
    everywhere: FloatArray | None,
    strategy: Strategy,
    agent: int,
    coalition: int,
) -> tuple[Partner, ...]:
    """Return the partners who may be in a coalition and matter most to an agent."""
    present = np.flatnonzero(strategy.marginals[:, coalition] > 0)
    leading = [j for j in present[np.argsort(-np.abs(worth[present]), kind="stable")][:PARTNERS].tolist() if worth[j]]
    if counts is None or everywhere is None:
        return tuple(Partner(strategy.agents[j], float(worth[j]), None) for j in leading)
    there, all_of = counts[coalition][agent], everywhere[agent]
    return tuple(
        Partner(strategy.agents[j], float(worth[j]), int(there[j]), int(all_of[j] - there[j])) for j in leading
    )
