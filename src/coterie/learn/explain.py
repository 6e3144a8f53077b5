"""Why an agent is where she is: what each coalition is worth to her, and who makes it so."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates.certificate import Certificate, Witness
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import GainBound, SmallerOf
from coterie.certificates.pair_evidence import PairEvidence
from coterie.errors import InputError
from coterie.estimate.design import StrategyDesign
from coterie.game.strategy import Strategy
from coterie.learn.result import Result
from coterie.words import signed

PARTNERS = 3
"""So many partners are named for each coalition: those that matter most to the agent."""


@dataclass(frozen=True)
class Partner:
    """Somebody who would share a coalition with the agent."""

    name: str
    value: float
    """What the partner adds to the coalition's value: the estimated mean, times the chance of being there."""
    observed: int | None
    """How often the two were observed there; None where that is not known, as in bandit logs."""


@dataclass(frozen=True)
class Room:
    """What a coalition is worth to the agent, given what the others do."""

    coalition: str
    joined: float
    """The chance that she is there: 1 or 0 under a pure strategy."""
    value: float
    lower: float
    upper: float
    """With probability 1 - delta, all agents' values of all coalitions lie between `lower` and `upper`."""
    partners: tuple[Partner, ...]


@dataclass(frozen=True)
class Explanation:
    """Everything that speaks for and against one agent's coalitions."""

    agent: str
    value: float
    """Her estimated utility."""
    rooms: tuple[Room, ...]
    """The coalitions she is in first, then the others, the most valuable first."""
    alternative: Witness | None
    """The move that comes closest to paying off; None where she has no choice."""
    least: float | None = None
    """What that move changes at least, with probability 1 - delta for all agents at once; None where not known."""

    def __str__(self) -> str:
        """Say it in sentences."""
        return "\n".join([self._verdict(), *(self._line(room) for room in self.rooms)])

    def _verdict(self) -> str:
        said = f"{self.agent} is expected to get {signed(self.value)}."
        if self.alternative is None:
            return f"{said} She has no other choice."
        to = " and ".join(self.alternative.deviation) or "no coalition"
        move, most = signed(self.alternative.estimated_gain), signed(self.alternative.bound)
        least = "" if self.least is None else f"{signed(self.least)} at least and "
        return f"{said} Her best alternative, {to}, would change that by about {move}, by {least}{most} at most."

    def _line(self, room: Room) -> str:
        where = {1.0: "in", 0.0: "not in"}.get(room.joined, f"{room.joined:.0%} in")
        made_by = ", ".join(f"{partner.name} {signed(partner.value)}" for partner in room.partners)
        return (
            f"  {where} {room.coalition}: worth {signed(room.value)} "
            f"(surely {signed(room.lower)} to {signed(room.upper)})" + (f"; {made_by}" if made_by else "; nobody there")
        )


def explanations(evidence: Evidence, strategy: Strategy, certificate: Certificate) -> dict[str, Any]:
    """Return every agent's rooms and what her best alternative changes, as plain values for the result file.

    The intervals come from `Evidence.uniform_bound`, which holds for all profiles and directions at once, so it
    does not matter that the data chose them.
    """
    design = evidence.design(strategy)
    sure = SmallerOf((evidence.range_bound(design), evidence.uniform_bound(design, certificate.delta)))
    return {
        "gain_intervals": _gain_intervals(sure, strategy, certificate),
        "explanations": _rooms(evidence, design, sure, strategy),
    }


def _gain_intervals(sure: GainBound, strategy: Strategy, certificate: Certificate) -> dict[str, list[float]]:
    """Return what every agent's best alternative changes, at least and at most.

    At most what the certificate says, at least minus the sure bound in direction -x. All upper ends hold
    together with probability 1 - delta, and so do all lower ends.
    """
    alternatives = certificate.alternatives
    moves = [i for i, agent in enumerate(strategy.agents) if agent in alternatives]
    x = -strategy.marginals[moves]
    for row, i in zip(x, moves, strict=True):
        row += [name in alternatives[strategy.agents[i]].deviation for name in strategy.coalitions]
    least = 0.0 - sure.at(-x[:, None], np.array(moves, dtype=np.intp))[:, 0]
    names = [strategy.agents[i] for i in moves]
    return {agent: [low, alternatives[agent].bound] for agent, low in zip(names, least.tolist(), strict=True)}


def _rooms(
    evidence: Evidence, design: StrategyDesign, sure: GainBound, strategy: Strategy
) -> dict[str, list[dict[str, Any]]]:
    """Return every agent's rooms: W_i(l) is at most the bound at e_l, and at least minus the bound at -e_l."""
    values = evidence.rooms(design)
    n, k = values.shape
    everybody, unit = np.arange(n), np.broadcast_to(np.eye(k), (n, k, k))
    upper, lower = sure.at(unit, everybody), -sure.at(-unit, everybody)
    counts = None
    if isinstance(evidence, PairEvidence):
        counts = evidence.unknowns.seen_in_rooms(evidence.estimate.moments.count, k)
    found: dict[str, list[dict[str, Any]]] = {}
    for i, agent in enumerate(strategy.agents):
        worth, joined = evidence.by_partner(design, i), strategy.marginals[i]
        order = sorted(range(k), key=lambda l: (-joined[l], -values[i, l], l))
        found[agent] = [
            asdict(
                Room(
                    strategy.coalitions[l], float(joined[l]), float(values[i, l]), float(lower[i, l]),
                    float(upper[i, l]), _leading(worth[l], counts and counts[l][i], strategy, l),
                )
            )
            for l in order
        ]  # fmt: skip
    return found


def _leading(worth: FloatArray, counts: Any, strategy: Strategy, coalition: int) -> tuple[Partner, ...]:
    """Return the partners who may be in a coalition and matter most to an agent."""
    present = np.flatnonzero(strategy.marginals[:, coalition] > 0)
    leading = present[np.argsort(-np.abs(worth[present]), kind="stable")][:PARTNERS]
    return tuple(
        Partner(strategy.agents[j], float(worth[j]), None if counts is None else int(counts[j]))
        for j in leading.tolist()
        if worth[j] != 0
    )


def explain(result: Result, agent: str) -> Explanation:
    """Return why an agent is where she is, from a result of `learn` or `certify` (or a loaded result file)."""
    checks.index_of(agent, result.strategy.agents, "agent")
    kept = result.extras.get("explanations")
    if not isinstance(kept, Mapping) or agent not in kept:
        raise InputError("this result holds no explanations")
    rooms = []
    for room in kept[agent]:
        partners = tuple(Partner(**partner) for partner in room["partners"])
        numbers = {key: float(room[key]) for key in ("joined", "value", "lower", "upper")}  # "inf" is a string
        rooms.append(Room(coalition=room["coalition"], partners=partners, **numbers))
    value = sum(room.joined * room.value for room in rooms)
    interval = result.extras.get("gain_intervals", {}).get(agent)
    least = None if interval is None else float(interval[0])
    return Explanation(agent, value, tuple(rooms), result.certificate.alternatives.get(agent), least)
