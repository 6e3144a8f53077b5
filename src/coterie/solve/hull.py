"""Mixed strategies as points: the convex hull of an action space, in coordinates.

A point z gives the marginals p = z B. For a list of sets, B holds the sets and z is a distribution
over them; for "at most m coalitions", B is the identity, and the hull is a box with a bound on the sum
(its corners are whole numbers, so no set needs to be listed).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.game.actions import ActionSpace, UpTo
from coterie.game.game import Game
from coterie.game.strategy import Strategy

NOTHING = 1e-12
"""Probabilities below this are rounding."""


@dataclass(frozen=True, eq=False)
class Hull:
    """Points z in [0, 1]^m with least <= sum of z <= most, and marginals z B."""

    space: ActionSpace
    basis: FloatArray
    """B, shape (m, k)."""
    least: float
    most: float

    @classmethod
    def of(cls, space: ActionSpace) -> "Hull":
        """Return the hull of a space."""
        if isinstance(space, UpTo):
            least = 0.0 if space.may_stay_out else 1.0
            return cls(space, np.eye(space.n_coalitions), least, float(space.most))
        return cls(space, space.enumerate().astype(np.float64), 1.0, 1.0)

    def uniform(self) -> FloatArray:
        """Return the point of the uniform strategy."""
        if isinstance(self.space, UpTo):
            return self.space.uniform_marginals()
        return np.full(len(self.basis), 1 / len(self.basis))

    def point(self, strategy: Strategy, agent: int) -> FloatArray:
        """Return the point of an agent's part of a strategy."""
        if isinstance(self.space, UpTo):
            return np.asarray(strategy.marginals[agent])
        rows = np.flatnonzero(strategy.owner == agent)
        same = (self.basis[None] == strategy.sets[rows, None]).all(axis=2)
        return np.asarray(strategy.probability[rows] @ same)

    def corner(self, action: BoolArray) -> FloatArray:
        """Return the point of one action."""
        if isinstance(self.space, UpTo):
            return action.astype(np.float64)
        return np.asarray((self.basis == action).all(axis=1), dtype=np.float64)

    def random(self, rng: np.random.Generator) -> FloatArray:
        """Draw a point that is neither a corner nor the middle."""
        if isinstance(self.space, UpTo):
            return np.asarray(rng.dirichlet(np.full(4, 0.7)) @ self.space.sample(rng, 4))
        return np.asarray(rng.dirichlet(np.full(len(self.basis), 0.5)))

    def support(self, z: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Return a few actions and probabilities with the marginals of the point z.

        For "at most m" this is systematic sampling: lay intervals of length p_l end to end; for u in
        [0, 1) choose those that contain u, u + 1, ... Nobody is chosen twice as p_l <= 1, and the
        number chosen is the sum of p, rounded down or up. At most k + 1 sets occur.
        """
        z = np.clip(z, 0.0, 1.0)
        if not isinstance(self.space, UpTo):
            kept = z > NOTHING
            return self.basis[kept].astype(bool), z[kept] / z[kept].sum()
        z = np.where(z < NOTHING, 0.0, np.where(z > 1 - NOTHING, 1.0, z))
        if z.sum() < self.least:
            z = np.minimum(z / z.sum(), 1.0)
        ends = np.round(np.cumsum(z), 13)
        begins = np.concatenate([[0.0], ends[:-1]])
        cuts = np.unique(np.concatenate([[0.0], ends % 1.0, [1.0]]))
        middles, shares = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
        # The interval [begin, end) contains u + t for some whole t iff the ceilings of its ends differ.
        chosen = np.ceil(ends[None] - middles[:, None]) > np.ceil(begins[None] - middles[:, None])
        sets, place = np.unique(chosen, axis=0, return_inverse=True)
        weights = np.bincount(place.ravel(), shares, minlength=len(sets))
        allowed = (weights > NOTHING) & self.space.contains(sets)
        return sets[allowed], weights[allowed] / weights[allowed].sum()


def strategy_of(game: Game, hulls: Sequence[Hull], points: Sequence[FloatArray]) -> Strategy:
    """Return the strategy with the given points."""
    supports = [hull.support(z) for hull, z in zip(hulls, points, strict=True)]
    return Strategy.mixed(supports, game.agents, game.coalitions)
