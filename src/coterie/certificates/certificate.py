"""What a certificate says: a number, who attains it, by which move, and what it assumes."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import Worst
from coterie.estimate.design import StrategyDesign
from coterie.game.actions import names_in
from coterie.game.strategy import Strategy
from coterie.words import capitalised, html_table

DOUBTS = 5
"""How many pairs a witness names."""


@dataclass(frozen=True)
class Doubt:
    """A pair whose utility is not known well enough, and its standard error in this deviation."""

    partner: str
    coalition: str
    error: float


@dataclass(frozen=True)
class Witness:
    """The deviation with the largest bound, split into what is estimated and what is uncertain."""

    agent: str
    deviation: tuple[str, ...]
    estimated_gain: float
    uncertainty: float
    doubts: tuple[Doubt, ...] = ()
    """The pairs that add most to the uncertainty, the worst first; named for the worst witness only."""
    movers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Everybody who moves in this step -> where to; empty where it is the agent alone."""
    refuser: str | None = None
    """Of those whose consent the step needs, the one who would rather refuse; None where nobody is asked."""

    def __post_init__(self) -> None:
        if len(self.movers) == 1:  # as a file has it
            object.__setattr__(self, "movers", {})

    @property
    def bound(self) -> float:
        """The most that this agent can gain by this deviation (it may be negative)."""
        return self.estimated_gain + self.uncertainty

    def to_json(self) -> dict[str, Any]:
        """Return `certificate.worst` of a result file."""
        return {
            "agent": self.agent,
            "deviation": list(self.deviation),
            "estimated_gain": self.estimated_gain,
            "uncertainty": self.uncertainty,
            "movers": {agent: list(to) for agent, to in (self.movers or {self.agent: self.deviation}).items()},
            "refuser": self.refuser,
            **({"doubts": [asdict(doubt) for doubt in self.doubts]} if self.doubts else {}),
        }

    def __repr__(self) -> str:
        to = ", ".join(self.deviation) or "no coalition"
        return f"Witness({self.agent} to {to}: {self.estimated_gain:+.4g} estimated, up to {self.bound:+.4g})"


@dataclass(frozen=True)
class Certificate:
    """With probability at least 1 - delta, nobody who is not left out can gain more than `gap` by moving."""

    method: str
    delta: float
    gap: float
    per_agent: Mapping[str, float]
    """The most that each agent who counts can gain; each number holds with probability 1 - delta on its own."""
    worst: Witness | None
    """None where nobody has a choice."""
    alternatives: Mapping[str, Witness] = field(default_factory=dict)
    """Every agent's deviation with the largest bound, also of those who are left out."""
    assumes: tuple[str, ...] = ()
    is_exact: bool = True
    """False where the maximum over deviations was bounded, not enumerated."""
    surely_stay: tuple[str, ...] = ()
    """With probability at least 1 - delta, none of these can gain anything by moving: a statement about all of them
    together, which holds on its own."""
    left_out: tuple[str, ...] = ()
    """Agents whom the promise is not about: they take part, but what they could gain does not count."""
    newcomers: tuple[str, ...] = ()
    """Agents who count and of whom there are no data at all: the range alone says what they could gain."""
    known_gap: float | None = None
    """The most that anybody else can gain in steps without newcomers; None where there are none.

    It holds with probability 1 - delta on its own, by the proof for `gap`. Who is a newcomer follows from who is in the
    log, not from utilities. So the steps without newcomers are fixed once the profile is, and with them the one among
    them whose true gain is largest. Its bound is the same as in `gap`, and fails with probability at most delta; the
    maximum over these steps is at least that bound. (Where a bound holds for all steps at once, so do both numbers.)
    """

    def to_json(self) -> dict[str, Any]:
        """Return the `certificate` part of a result file."""
        return {
            "method": self.method,
            "delta": self.delta,
            "gap": self.gap,
            "worst": None if self.worst is None else self.worst.to_json(),
            "per_agent": dict(self.per_agent),
            "alternatives": {agent: witness.to_json() for agent, witness in self.alternatives.items()},
            "assumes": list(self.assumes),
            "is_exact": self.is_exact,
            "surely_stay": list(self.surely_stay),
            "left_out": list(self.left_out),
            "newcomers": list(self.newcomers),
            "known_gap": self.known_gap,
        }

    @property
    def of_known(self) -> float:
        """The most that those of whom there are data can gain: what newcomers may does not make that worthless."""
        return self.gap if self.known_gap is None else self.known_gap

    def __str__(self) -> str:
        nobody = "nobody who counts" if self.left_out else "nobody"
        return f"with probability {1 - self.delta:g}, {nobody} can gain more than {self.gap:.4g} by moving"

    def _repr_html_(self) -> str:
        """Return what it says as a table, for notebooks."""
        said = [("", capitalised(str(self))), ("method", self.method), ("delta", f"{self.delta:g}")]
        if self.worst is not None:
            said.append(("tightest case", repr(self.worst).removeprefix("Witness(").removesuffix(")")))
        said += [("surely stay", f"{len(self.surely_stay)} of {len(self.per_agent)}")]
        return html_table([("certificate", ""), *said, *(("assumes", text) for text in self.assumes)])

    def __repr__(self) -> str:
        return f"Certificate({self.method}, gap {self.gap:.4g}, delta {self.delta:g}, worst {self.worst})"


def certificate(
    method: str,
    delta: float,
    strategy: Strategy,
    found: Worst,
    evidence: Evidence,
    design: StrategyDesign,
    together: Worst | None = None,
) -> Certificate:
    """Name the witnesses of the largest bounds, and the pairs behind their uncertainty.

    `together` are bounds that hold for all agents at once; by default `found` are.

    Leaving agents out costs nothing. Who is left out follows from how often agents were seen, not from utilities, so
    given the logged actions it is fixed, and with it the truly worst deviation of those who count: the one event that
    a certificate pays for is about that one. In an adaptive log counts may depend on utilities, and who is left out
    with them. There the only bounds are those of `Evidence.uniform_bound`, which hold for all agents and deviations at
    once; so they hold for any of them, however chosen. (What is not covered is trying several limits and keeping the
    smallest certificate, where bounds do not hold at once.)
    """
    rooms = evidence.rooms(design)
    alternatives = {}
    for i, agent in enumerate(strategy.agents):
        if np.isneginf(found.value[i]):
            continue
        change = found.action[i] - strategy.marginals[i]
        gain = float(change @ rooms[i])
        deviation = tuple(names_in(found.action[i], strategy.coalitions))
        alternatives[agent] = Witness(agent, deviation, gain, float(found.value[i]) - gain)
    counted = dict(zip(strategy.agents, found.counted.tolist(), strict=True))
    among = [witness for witness in alternatives.values() if counted[witness.agent]]
    worst = max(among, key=lambda witness: witness.bound, default=None)
    if worst is not None:
        i = strategy.agents.index(worst.agent)
        worst = replace(
            worst, doubts=_doubts(evidence.doubts(design, i, found.action[i] - strategy.marginals[i]), strategy)
        )
    return Certificate(
        method,
        delta,
        max(0.0, found.largest),
        {agent: max(0.0, value) for agent, value in _of_agents(strategy, found) if counted[agent]},
        worst,
        alternatives,
        tuple(evidence.assumptions()),
        found.is_exact,
        tuple(agent for agent, value in _of_agents(strategy, together or found) if value <= 0 and counted[agent]),
        tuple(agent for agent in strategy.agents if not counted[agent]),
    )


def among_known(found: Certificate, newcomers: Iterable[str]) -> Certificate:
    """Return a certificate against single deviations that also tells the gap among those of whom there are data."""
    new = tuple(agent for agent in newcomers if agent in found.per_agent)
    known = (bound for agent, bound in found.per_agent.items() if agent not in new)
    return replace(found, newcomers=new, known_gap=max(known, default=0.0) if new else None)


def _of_agents(strategy: Strategy, found: Worst) -> Iterable[tuple[str, float]]:
    return zip(strategy.agents, found.value.tolist(), strict=True)


def _doubts(errors: FloatArray, strategy: Strategy) -> tuple[Doubt, ...]:
    flat = errors.ravel()
    leading = np.argsort(-flat, kind="stable")[:DOUBTS]
    cells = [(*divmod(int(cell), errors.shape[1]), float(flat[cell])) for cell in leading if flat[cell] > 0]
    return tuple(Doubt(strategy.agents[j], strategy.coalitions[l], error) for l, j, error in cells)
