"""Exploration policies: how the joint actions of a simulated log come about.

A policy draws joint actions and knows its own coverage exactly: how probable each coalition
size is, and how probable it is that two agents meet in a coalition.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError
from coterie.joint_actions import ActionSpaces
from coterie.sizes import size_distribution


class Policy(ABC):
    """A distribution over joint actions."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, count: int) -> BoolArray:
        """Draw `count` joint actions, shape (count, n, k)."""

    @abstractmethod
    def size_probabilities(self) -> FloatArray:
        """Return Pr[|C_l| = s], shape (k, n + 1)."""

    @abstractmethod
    def meeting_probabilities(self) -> FloatArray:
        """Return Pr[i and j both in C_l], shape (k, n, n); the diagonal is Pr[i in C_l]."""


@dataclass(frozen=True, eq=False)
class Independent(Policy):
    """Every agent is uniform over her own space, independently of the others."""

    spaces: ActionSpaces

    def sample(self, rng: np.random.Generator, count: int) -> BoolArray:
        return self.spaces.sample(rng, count)

    def size_probabilities(self) -> FloatArray:
        return size_distribution(self.spaces.uniform_marginals().T)

    def meeting_probabilities(self) -> FloatArray:
        p = self.spaces.uniform_marginals().T
        meeting = p[:, :, None] * p[:, None, :]
        agents = np.arange(self.spaces.n_agents)
        meeting[:, agents, agents] = p
        return meeting


@dataclass(frozen=True, eq=False)
class UniformOver(Policy):
    """Uniform over a list of joint actions, shape (b, n, k)."""

    joint_actions: BoolArray

    @classmethod
    def where(cls, spaces: ActionSpaces, condition: Callable[[BoolArray], BoolArray]) -> Self:
        """Return the uniform policy over the joint actions for which `condition` holds (batchwise)."""
        kept = np.concatenate([block[condition(block)] for block in spaces.joint_actions()])
        if not len(kept):
            raise InputError("policy: no joint action satisfies the condition")
        return cls(kept)

    def sample(self, rng: np.random.Generator, count: int) -> BoolArray:
        return self.joint_actions[rng.integers(len(self.joint_actions), size=count)]

    def size_probabilities(self) -> FloatArray:
        sizes = self.joint_actions.sum(axis=1)
        n = self.joint_actions.shape[1]
        return np.asarray((sizes[:, :, None] == np.arange(n + 1)).mean(axis=0))

    def meeting_probabilities(self) -> FloatArray:
        joined = self.joint_actions.astype(np.float64)
        return np.asarray(np.einsum("bil,bjl->lij", joined, joined) / len(joined))
