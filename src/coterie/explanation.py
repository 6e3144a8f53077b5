"""Why an agent is where she is: what each coalition is worth to her, and who makes it so."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certify.certificate import Witness
from coterie.certify.evidence import Evidence, PairEvidence
from coterie.errors import InputError
from coterie.result import Result
from coterie.strategy import Strategy

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

    def __str__(self) -> str:
        """Say it in sentences."""
        return "\n".join([self._verdict(), *(self._line(room) for room in self.rooms)])

    def _verdict(self) -> str:
        said = f"{self.agent} is expected to get {self.value:+.2f}."
        if self.alternative is None:
            return f"{said} She has no other choice."
        to = " and ".join(self.alternative.deviation) or "no coalition"
        move, bound = self.alternative.estimated_gain, self.alternative.bound
        return f"{said} Her best alternative, {to}, would change that by about {move:+.2f}, by {bound:+.2f} at most."

    def _line(self, room: Room) -> str:
        where = {1.0: "in", 0.0: "not in"}.get(room.joined, f"{room.joined:.0%} in")
        made_by = ", ".join(f"{partner.name} {partner.value:+.2f}" for partner in room.partners)
        return (
            f"  {where} {room.coalition}: worth {room.value:+.2f} (surely {room.lower:+.2f} to {room.upper:+.2f})"
            + (f"; {made_by}" if made_by else "; nobody there")
        )


def explanations(evidence: Evidence, strategy: Strategy, delta: float) -> dict[str, list[dict[str, Any]]]:
    """Return every agent's rooms as plain values, for the result file.

    The intervals come from `Evidence.uniform_bound`, which holds for all profiles at once: W_i(l) is at
    most the bound in direction e_l, and at least minus the bound in direction -e_l.
    """
    design = evidence.design(strategy)
    values = evidence.rooms(design)
    n, k = values.shape
    everybody, unit = np.arange(n), np.broadcast_to(np.eye(k), (n, k, k))
    bounds = (evidence.range_bound(design), evidence.uniform_bound(design, delta))
    upper = np.minimum.reduce([bound.at(unit, everybody) for bound in bounds])
    lower = -np.minimum.reduce([bound.at(-unit, everybody) for bound in bounds])
    counts = _counts(evidence, k)
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


def _counts(evidence: Evidence, n_coalitions: int) -> list[FloatArray] | None:
    """Return how often each pair was observed in each coalition, where the estimate knows it."""
    if not isinstance(evidence, PairEvidence) or evidence.estimate.structure in {"anonymous", "factor"}:
        return None
    count = evidence.estimate.moments.count
    by_table = count.sum(axis=3) if count.ndim == 4 else count
    return [by_table[l if len(by_table) > 1 else 0] for l in range(n_coalitions)]


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
    return Explanation(agent, value, tuple(rooms), result.certificate.alternatives.get(agent))
