"""What a deviation can bring about: the sizes and the pairs that one agent's move can reach.

From a profile phi, agent i is in coalition l or not, whatever she does, and the others are where phi
puts them: the size of l is 1 or 0 plus a Poisson-binomial number over p_j(l), j != i. Without a
profile, everything that some profile of the action spaces can reach counts, with probability 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.estimate.unknowns import Aware
from coterie.game.actions import ActionSpaces
from coterie.game.sizes import leave_one_out
from coterie.game.strategy import Strategy

CERTAIN_WITHIN = 1e-12
"""Probabilities so close to 0 or 1 are rounding."""


@dataclass(frozen=True, eq=False)
class SizeReach:
    """For each size of one coalition: whether and how probably it can be reached, and by whom."""

    reached: BoolArray
    """Shape (n + 1,)."""
    probability: FloatArray
    """The largest Pr[|C_l| = s] over all deviations, shape (n + 1,)."""
    agent: list[int | None]
    """Whose deviation reaches it with that probability."""
    joined: list[bool]
    """Whether she is in the coalition then."""


class Reach(ABC):
    """What unilateral deviations can reach."""

    spaces: ActionSpaces

    @abstractmethod
    def sizes(self, coalition: int) -> SizeReach:
        """Return the sizes of a coalition that can be reached."""

    def size_probabilities(self) -> FloatArray:
        """Return the largest Pr[|C_l| = s] that any one agent can bring about by deviating, shape (k, n + 1)."""
        return np.array([self.sizes(l).probability for l in range(self.spaces.n_coalitions)])

    @abstractmethod
    def may_be_there(self, coalition: int) -> BoolArray:
        """Return who may be in the coalition, by moving or as it is, shape (n,)."""

    @abstractmethod
    def partners(self, coalition: int, agents: IntArray, *, aware: bool) -> FloatArray:
        """Return the probability that j of m agents is there when i is, (m, m), or at each size (m, m, n + 1).

        0 where i cannot be there, or where i = j. Sizes need all agents.
        """

    @abstractmethod
    def is_at_home(self, coalition: int) -> BoolArray:
        """Return which agents are in the coalition without deviating (with positive probability), shape (n,)."""

    @abstractmethod
    def needs_move(self, agent: int, coalition: int, *, joined: bool) -> bool:
        """Return whether the agent is never in (or never out of) the coalition unless she deviates."""


@dataclass(frozen=True, eq=False)
class ProfileReach(Reach):
    """Deviations from one profile; its own sets count as allowed."""

    strategy: Strategy
    spaces: ActionSpaces

    @cached_property
    def _p(self) -> FloatArray:
        p = self.strategy.marginals.copy()
        p[p < CERTAIN_WITHIN] = 0.0
        p[p > 1 - CERTAIN_WITHIN] = 1.0
        return p

    @cached_property
    def _may_join(self) -> BoolArray:
        return np.asarray(self.spaces.can_join | (self._p > 0))

    @cached_property
    def _may_avoid(self) -> BoolArray:
        return np.asarray(self.spaces.can_avoid | (self._p < 1))

    def sizes(self, coalition: int) -> SizeReach:
        n = self.spaces.n_agents
        # Whoever cannot be there sees the same sizes as the first of them.
        there = self.may_be_there(coalition)
        outside = np.flatnonzero(~there)[:1]
        agents = np.sort(np.concatenate([np.flatnonzero(there), outside]))
        p, m = self._p[agents, coalition], len(agents)
        others = leave_one_out(p)
        # Which sizes are possible is counted, since small probabilities may be lost in rounding.
        size = np.arange(m)
        least, most = (p == 1).sum() - (p == 1), (p > 0).sum() - (p > 0)
        possible = (size >= least[:, None]) & (size <= most[:, None])
        reached, probability = np.zeros((2, m, m + 1), dtype=bool), np.full((2, m, m + 1), -1.0)
        for row, allowed, place in (
            (0, self._may_avoid[agents, coalition], slice(0, m)),
            (1, self._may_join[agents, coalition], slice(1, m + 1)),
        ):
            reached[row, :, place] = possible & allowed[:, None]
            probability[row, :, place] = np.where(reached[row, :, place], others, -1.0)
        best = probability.reshape(2 * m, m + 1).argmax(axis=0)
        joined, agent = np.divmod(best, m)
        larger = n - m
        return SizeReach(
            np.pad(reached.any(axis=(0, 1)), (0, larger)),
            np.pad(np.maximum(probability.max(axis=(0, 1)), 0.0), (0, larger)),
            [*agents[agent].tolist(), *[None] * larger],
            [*(joined == 1).tolist(), *[False] * larger],
        )

    def may_be_there(self, coalition: int) -> BoolArray:
        return np.asarray(self._may_join[:, coalition])

    def partners(self, coalition: int, agents: IntArray, *, aware: bool) -> FloatArray:
        p = self._p[agents, coalition]
        joins = self._may_join[agents, coalition].astype(np.float64)
        if aware:
            return np.asarray(Aware().at(p[:, None]).phi[0] * joins[:, None, None])
        found = joins[:, None] * p[None, :]
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)

    def is_at_home(self, coalition: int) -> BoolArray:
        return np.asarray(self._p[:, coalition] > 0)

    def needs_move(self, agent: int, coalition: int, *, joined: bool) -> bool:
        return bool(self._p[agent, coalition] == (0.0 if joined else 1.0))


@dataclass(frozen=True, eq=False)
class AnyReach(Reach):
    """All profiles that the action spaces allow."""

    spaces: ActionSpaces

    def _range(self, coalition: int) -> tuple[int, int]:
        """Return the smallest and the largest size that a profile can have."""
        can, must = self.spaces.can_join[:, coalition], ~self.spaces.can_avoid[:, coalition]
        return int(must.sum()), int(can.sum())

    def sizes(self, coalition: int) -> SizeReach:
        n = self.spaces.n_agents
        least, most = self._range(coalition)
        reached = (np.arange(n + 1) >= least) & (np.arange(n + 1) <= most)
        return SizeReach(reached, reached.astype(np.float64), [None] * (n + 1), [False] * (n + 1))

    def may_be_there(self, coalition: int) -> BoolArray:
        return np.asarray(self.spaces.can_join[:, coalition])

    def partners(self, coalition: int, agents: IntArray, *, aware: bool) -> FloatArray:
        n = self.spaces.n_agents
        can = self.spaces.can_join[agents, coalition].astype(np.float64)
        found = np.outer(can, can)
        np.fill_diagonal(found, 0.0)
        if not aware:
            return found
        must = ~self.spaces.can_avoid[agents, coalition]
        least = must.sum() + (~must)[:, None].astype(int) + (~must)[None, :].astype(int)
        size = np.arange(n + 1)
        return np.asarray(found[..., None] * ((size >= least[..., None]) & (size <= self._range(coalition)[1])))

    def is_at_home(self, coalition: int) -> BoolArray:
        return np.asarray(self.spaces.can_join[:, coalition])

    def needs_move(self, agent: int, coalition: int, *, joined: bool) -> bool:
        del agent, coalition, joined
        return False


def smallest_action(spaces: ActionSpaces, agent: int, coalition: int, *, joined: bool) -> BoolArray:
    """Return one of the agent's smallest actions with the coalition, or without it."""
    weights = np.full(spaces.n_coalitions, -1.0)
    weights[coalition] = (2.0 if joined else -2.0) * spaces.n_coalitions
    return np.asarray(spaces.spaces[agent].best_responses(weights[None])[1][0])
