"""What every solver returns: the best strategy it found, and how its search ended."""

from dataclasses import dataclass
from typing import Any, Literal

from coterie.game.strategy import Strategy

Status = Literal["optimal", "converged", "cycled", "limit", "time", "interrupted"]
"""How a search ended.

optimal
    Nothing better exists, and that is proven.
converged
    The search ran to its end.
cycled
    It ran to its end, but best-response dynamics on the estimate never came to rest: no stable pure
    profile was found, and the strategy is the one of smallest regret.
limit
    Out of sweeps, or of the work that a search may do.
time, interrupted
    Stopped early; the strategy is the best so far.
"""


@dataclass(frozen=True)
class Solution:
    """The best strategy that a solver found."""

    strategy: Strategy
    value: float
    """What was minimised, at `strategy`. For pure profiles it may be negative: a margin of stability."""
    method: str
    objective: str
    status: Status
    starts: int
    sweeps: int
    seconds: float
    bound: float | None = None
    """A proven lower bound on the value of every strategy that was admitted, where there is one."""
    candidates: tuple[Strategy, ...] = ()
    """The best distinct strategies that were found, the best first."""
    note: str = ""
    """What a reader should know about the search, in one sentence."""
    drawn: float | None = None
    """The value as Monte Carlo put it, where a search drew instead of taking expectations."""

    @property
    def certificate(self) -> float:
        """The positive part of the value: nobody can gain less than nothing."""
        return max(self.value, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the `solver` part of a result file."""
        return {
            "method": self.method,
            "objective": self.objective,
            "value": self.value,
            "bound": self.bound,
            "status": self.status,
            "starts": self.starts,
            "sweeps": self.sweeps,
            "seconds": self.seconds,
            "note": self.note,
        }

    def __str__(self) -> str:
        return f"{self.method}: {self.objective} {self.value:.4g} ({self.status}, {self.seconds:.2g} s)"
