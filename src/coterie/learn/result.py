"""What `learn` and `certify` find: the contract's result file, and the same in Python."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from coterie import checks
from coterie.certificates.certificate import Certificate, Doubt, Witness
from coterie.errors import InputError
from coterie.files import read_json, to_json, whole_file
from coterie.game.strategy import Strategy

FORMAT = "coterie.result/1"


@dataclass(frozen=True)
class Result:
    """A recommended (or given) strategy with its certificate and everything a reader may ask about it."""

    strategy: Strategy
    certificate: Certificate
    certificates: Mapping[str, float | None]
    """Each method alone at delta for this strategy; None where it would not be valid."""
    estimate: Mapping[str, Any]
    """The estimated gap, potential and utilities."""
    coverage: Mapping[str, Any]
    solver: Mapping[str, Any]
    data: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = ""
    seed: int | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Further parts of the file: explanations, candidates, what to collect."""

    def to_json(self) -> dict[str, Any]:
        """Return the content of `result.json`."""
        strategy = self.strategy
        marginals = {
            agent: dict(zip(strategy.coalitions, row.tolist(), strict=True))
            for agent, row in zip(strategy.agents, strategy.marginals, strict=True)
        }
        return {
            "format": FORMAT,
            "version": self.version,
            "seed": self.seed,
            "agents": list(strategy.agents),
            "coalitions": list(strategy.coalitions),
            "strategy": strategy.to_json(),
            "coalition_members": strategy.members() if strategy.is_pure else None,
            **({} if strategy.is_pure else {"marginals": marginals}),
            "certificate": self.certificate.to_json(),
            "certificates": dict(self.certificates),
            "estimate": dict(self.estimate),
            "coverage": dict(self.coverage),
            "solver": dict(self.solver),
            "data": dict(self.data),
            "warnings": list(self.warnings),
            **self.extras,
        }

    def save(self, path: str | Path) -> None:
        """Write the result file, whole or not at all."""
        with whole_file(Path(path)) as temporary:
            temporary.write_text(to_json(self.to_json()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result file."""
        place = Path(path)
        data = read_json(place)
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
            raise InputError(f'{place}: the format is {found!r}, expected "{FORMAT}"')
        try:
            return cls._from_json(data)
        except InputError as problem:
            raise InputError(f"{place}: {problem}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise InputError(f"{place}: is not a complete result file ({problem!r})") from None

    @classmethod
    def _from_json(cls, data: Mapping[str, Any]) -> Self:
        agents = checks.names(data["agents"], "agents", len(data["agents"]))
        coalitions = checks.names(data["coalitions"], "coalitions", len(data["coalitions"]))
        known = {
            "format", "version", "seed", "agents", "coalitions", "strategy", "coalition_members", "marginals",
            "certificate", "certificates", "estimate", "coverage", "solver", "data", "warnings",
        }  # fmt: skip
        return cls(
            Strategy.from_json(data["strategy"], agents, coalitions),
            _certificate(data["certificate"]),
            {name: None if value is None else float(value) for name, value in data["certificates"].items()},
            data["estimate"],
            data["coverage"],
            data["solver"],
            data["data"],
            tuple(data["warnings"]),
            data["version"],
            data["seed"],
            {
                key: float(value) if key == "range_gap" else value  # infinity is a string in the file
                for key, value in data.items()
                if key not in known
            },
        )


def _certificate(data: Mapping[str, Any]) -> Certificate:
    worst = data["worst"]
    return Certificate(
        data["method"],
        float(data["delta"]),
        float(data["gap"]),
        {agent: float(value) for agent, value in data["per_agent"].items()},
        None if worst is None else witness_from_json(worst),
        {name: witness_from_json(witness) for name, witness in data.get("alternatives", {}).items()},
        tuple(data["assumes"]),
        bool(data.get("is_exact", True)),
    )


def witness_from_json(data: Mapping[str, Any]) -> Witness:
    """Read what `Witness.to_json` returned."""
    doubts = tuple(
        Doubt(doubt["partner"], doubt["coalition"], float(doubt["error"])) for doubt in data.get("doubts", ())
    )
    return Witness(
        data["agent"], tuple(data["deviation"]), float(data["estimated_gain"]), float(data["uncertainty"]), doubts
    )
