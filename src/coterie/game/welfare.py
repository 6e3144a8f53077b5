"""What everybody has together: the best there is, and what stability costs.

The *welfare* of a strategy is the sum of everybody's utility. The *price of anarchy* is the best welfare divided by the
worst of any stable pure profile, the *price of stability* by the best of them. Both are at least 1; they need a best
welfare above 0, or there is nothing to compare with.
"""

from dataclasses import dataclass

import numpy as np

from coterie.game.strategy import Strategy


@dataclass(frozen=True)
class Outcome:
    """A strategy and its welfare."""

    strategy: Strategy
    welfare: float
    bound: float
    """No pure strategy that keeps the rules has more: the welfare itself where that is proven."""

    @property
    def is_optimal(self) -> bool:
        """Whether it is proven that nothing better exists."""
        return self.bound <= self.welfare


@dataclass(frozen=True)
class Prices:
    """The best pure profile, and the best and the worst of the stable ones; None where nothing is stable."""

    best: Outcome
    best_stable: Outcome | None
    worst_stable: Outcome | None
    n_stable: int
    """How many profiles are stable."""

    @property
    def anarchy(self) -> float:
        """The best welfare over the worst stable one: infinite if that is not above 0, nan if nothing compares."""
        return _price(self.best, self.worst_stable)

    @property
    def stability(self) -> float:
        """The best welfare over the best stable one: infinite if that is not above 0, nan if nothing compares."""
        return _price(self.best, self.best_stable)


def _price(best: Outcome, other: Outcome | None) -> float:
    if other is None or best.welfare <= 0:
        return float(np.nan)
    return best.welfare / other.welfare if other.welfare > 0 else float(np.inf)
