"""Means of pairs that come from people: what the one who rates, the one who is rated and the two together add.

In coalition l the mean of what i says of j is

    mu_ij^l = level + area^l + rater_i + rater_i^l + rated_j + rated_j^l + pair_ij + pair_ij^l,

every part normal around 0 with a standard deviation of its own, and independent of the others but for the two orders
of a pair, pair_ij and pair_ji, which have the correlation `mutual`. So not only the means are known: their prior is.
"""

from dataclasses import dataclass, fields

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.estimate.posterior import pair_noise

Cells = tuple[IntArray, IntArray, IntArray]
"""Coalitions, agents and partners, one of each for every cell."""


@dataclass(frozen=True)
class Effects:
    """Standard deviations of the parts of a mean, in the unit of the utilities."""

    level: float
    """The mean of all means."""
    area: float = 0.0
    rater: float = 0.0
    rater_by_area: float = 0.0
    rated: float = 0.0
    rated_by_area: float = 0.0
    pair: float = 0.0
    pair_by_area: float = 0.0
    mutual: float = 0.0
    """Correlation of what two people add for each other, between 0 and 1."""
    symmetric: bool = False
    """Whether both of a pair get the same: a person's part as rated is then her part as rater, and `mutual` is 1."""

    def __post_init__(self) -> None:
        for part in fields(self):
            if part.name not in {"level", "symmetric"}:
                checks.number(getattr(self, part.name), part.name, 0)
        checks.number(self.level, "level")
        checks.boolean(self.symmetric, "symmetric")
        if self.mutual > 1:
            raise InputError(f"mutual: expected a correlation of at most 1, got {self.mutual:g}")

    def draw(self, rng: np.random.Generator, n_coalitions: int, n_agents: int) -> FloatArray:
        """Draw mu, shape (k, n, n); what stands on the diagonal means nothing."""
        k, n = n_coalitions, n_agents

        def person(overall: float, by_area: float) -> FloatArray:
            return np.asarray(overall * rng.normal(size=n) + by_area * rng.normal(size=(k, n)))

        area = self.area * rng.normal(size=(k, 1, 1))
        rater = person(self.rater, self.rater_by_area)
        rated = rater if self.symmetric else person(self.rated, self.rated_by_area)
        pair = self.pair * self._of_pairs(rng, 1, n) + self.pair_by_area * self._of_pairs(rng, k, n)
        # The sum of the two persons' parts first: the same in both orders, to the last digit.
        return np.asarray(self.level + area + (rater[:, :, None] + rated[:, None, :]) + pair)

    def _of_pairs(self, rng: np.random.Generator, k: int, n: int) -> FloatArray:
        common = pair_noise(rng, (k, n, n), symmetric=True)
        if self.symmetric:
            return common
        own = pair_noise(rng, (k, n, n), symmetric=False)
        return np.asarray(np.sqrt(self.mutual) * common + np.sqrt(1 - self.mutual) * own)

    def covariance(self, cells: Cells, others: Cells) -> FloatArray:
        """Return the covariance of the means of cells (rows) with those of others (columns)."""
        (l, i, j), (m, u, v) = (tuple(np.asarray(part) for part in some) for some in (cells, others))
        here = l[:, None] == m

        def same(one: IntArray, other: IntArray, overall: float, by_area: float) -> FloatArray:
            return np.asarray((one[:, None] == other) * (overall**2 + here * by_area**2))

        rater, pair = (self.rater, self.rater_by_area), (self.pair, self.pair_by_area)
        rated = rater if self.symmetric else (self.rated, self.rated_by_area)
        total = self.area**2 * here + same(i, u, *rater) + same(j, v, *rated)
        if self.symmetric:
            total += same(i, v, *rater) + same(j, u, *rater)
        n = 1 + max((int(part.max()) for part in (i, j, u, v) if part.size), default=0)
        mutual = 1.0 if self.symmetric else self.mutual
        return np.asarray(total + same(i * n + j, u * n + v, *pair) + mutual * same(i * n + j, v * n + u, *pair))
