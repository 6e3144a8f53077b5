"""A pure profile that changes one agent at a time, for searches that look at certificates.

Room value sums over the same arrays are asked for again and again. `MovingDesign` remembers them
and, when an agent moves, recomputes only the coalitions that she joins or leaves.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError
from coterie.estimate.design import Design, PairDesign

Kind = Literal["linear", "quadratic", "largest"]


class MovingDesign(Design):
    """The design of a pure profile, updated in place by `move`.

    Parameters
    ----------
    build
        Makes the design of given memberships. Coalitions must not depend on each other: the design
        of one column alone must give that column's sums.
    memberships
        The profile to start from, shape (n, k); it is copied.
    """

    def __init__(self, build: Callable[[FloatArray], Design], memberships: BoolArray) -> None:
        self.marginals = memberships.astype(np.float64)
        self._build = build
        self._current = build(self.marginals)
        if isinstance(self._current, PairDesign) and self._current.factors is not None:
            raise InputError("a design with a size factor cannot be built column by column")
        self._pooled = self._current.shares_unknowns
        self.shares_unknowns = self._current.shares_unknowns
        # The arrays are kept with their sums, so that their identity stays theirs.
        self._known: dict[tuple[Kind, int], tuple[FloatArray, FloatArray]] = {}

    def _remembered(self, kind: Kind, values: FloatArray) -> FloatArray:
        key = (kind, id(values))
        if key not in self._known:
            self._known[key] = values, np.array(getattr(self._current, kind)(values))
        return self._known[key][1]

    def linear(self, values: FloatArray) -> FloatArray:
        return self._remembered("linear", values)

    def quadratic(self, values: FloatArray) -> FloatArray:
        return self._remembered("quadratic", values)

    def largest(self, values: FloatArray) -> FloatArray:
        return self._remembered("largest", values)

    def coefficients(self, agent: int) -> FloatArray:
        return self._current.coefficients(agent)

    def move(self, agent: int, action: BoolArray) -> None:
        """Let one agent play another set."""
        changed = np.flatnonzero(action != (self.marginals[agent] > 0)).tolist()
        self.marginals[agent] = action
        self._current = self._build(self.marginals)
        for (kind, _), (values, sums) in self._known.items():
            if self._pooled and kind != "linear":
                sums[...] = getattr(self._current, kind)(values)
                continue
            for l in changed:
                one = self._build(self.marginals[:, [l]])
                sums[:, l] = getattr(one, kind)(values if self._pooled else values[[l]])[:, 0]
