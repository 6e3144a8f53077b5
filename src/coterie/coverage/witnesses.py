"""What is not covered, by name: sizes, pairs and directions, each with the deviation that needs it."""

from dataclasses import asdict, dataclass
from typing import Any

Interval = tuple[float, float]


@dataclass(frozen=True)
class SizeWitness:
    """A size of a coalition that a deviation reaches, and how often it was seen."""

    coalition: str
    size: int
    probability: float
    """How probable the deviation makes it."""
    seen: float
    """How often it was seen: the share of the samples, or the policy's probability."""
    agent: str | None
    """Whose deviation it is; None where profiles in general are meant."""
    deviation: tuple[str, ...] | None
    """A smallest action of hers that does it; None where she need not move."""

    @property
    def ratio(self) -> float:
        """How much likelier the deviation makes the size than it was in the log."""
        return self.probability / self.seen if self.seen > 0 else float("inf")

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class PairWitness:
    """A pair that a deviation brings together in a coalition (at a size), and how often that was seen."""

    agent: str
    partner: str
    coalition: str
    size: int | None
    probability: float
    """How probably the partner is there when the agent is."""
    seen: float
    """How often the agent was seen to rate the partner there, per sample."""
    deviation: tuple[str, ...] | None
    """A smallest action of the agent's that leads there; None where she need not move."""

    @property
    def ratio(self) -> float:
        """p_j(l) / rho_l(i, j)."""
        return self.probability / self.seen if self.seen else float("inf")

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Term:
    """The weight that a direction gives to what an agent gets from a partner in a coalition."""

    coalition: str
    partner: str
    weight: float


@dataclass(frozen=True)
class Direction:
    """The combination of one agent's pair utilities that her totals tell least about."""

    agent: str
    deviation: tuple[str, ...]
    """The action at which it matters."""
    terms: tuple[Term, ...]
    """The heaviest first; the largest weight is 1 in absolute value."""
    is_hidden: bool
    """Whether no number of such samples would tell: the direction is orthogonal to every sample."""

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)
