"""What all agents may do together: one action space each, and the joint actions.

Agents that share a space are handled together, so that a game of a thousand agents costs a few
matrix operations.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from coterie import checks
from coterie.actions import ActionSpace, parse, refuse_too_many
from coterie.arrays import BoolArray, FloatArray, IntArray, mixed_radix
from coterie.errors import InputError


@dataclass(frozen=True, eq=False)
class ActionSpaces:
    """One action space per agent; agents that share a space are handled together."""

    spaces: tuple[ActionSpace, ...]
    groups: tuple[tuple[ActionSpace, npt.NDArray[np.intp]], ...] = field(init=False, repr=False)
    """Each distinct space with the agents that have it."""

    def __post_init__(self) -> None:
        if not self.spaces:
            raise InputError("actions: there are no agents")
        if len({space.n_coalitions for space in self.spaces}) > 1:
            raise InputError("actions: the agents' action spaces differ in the number of coalitions")
        agents_of: dict[int, list[int]] = {}
        for agent, space in enumerate(self.spaces):
            agents_of.setdefault(id(space), []).append(agent)
        groups = tuple((self.spaces[agents[0]], np.array(agents)) for agents in agents_of.values())
        object.__setattr__(self, "groups", groups)

    @classmethod
    def shared(cls, space: ActionSpace, n_agents: int) -> Self:
        """Give every agent the same space."""
        return cls((space,) * checks.whole(n_agents, "number of agents", 1))

    @classmethod
    def parse(
        cls, description: Any, agents: Sequence[str], coalitions: Sequence[str], *, may_stay_out: bool = False
    ) -> Self:
        """Read the contract's `actions`: one description for all, or an object agent -> description."""
        if isinstance(description, ActionSpace):
            return cls.shared(description, len(agents))
        if not isinstance(description, Mapping):
            return cls.shared(parse(description, coalitions, may_stay_out=may_stay_out), len(agents))
        for agent in description:
            checks.index_of(agent, agents, "agent in actions")
        missing = [agent for agent in agents if agent not in description]
        if missing:
            raise InputError(f"actions: no action space for agent {missing[0]!r}")

        def own(agent: str) -> ActionSpace:
            try:
                return parse(description[agent], coalitions, may_stay_out=may_stay_out)
            except InputError as problem:
                raise InputError(f"agent {agent!r}: {problem}") from None

        return cls(tuple(own(agent) for agent in agents))

    @property
    def n_agents(self) -> int:
        """The number of agents."""
        return len(self.spaces)

    @property
    def n_coalitions(self) -> int:
        """The number of coalitions."""
        return self.spaces[0].n_coalitions

    @property
    def is_shared(self) -> bool:
        """Whether all agents have one and the same space."""
        return len(self.groups) == 1

    @property
    def size(self) -> int:
        """The number of joint actions."""
        return math.prod(space.size ** len(agents) for space, agents in self.groups)

    @cached_property
    def can_join(self) -> BoolArray:
        """Which agents (rows) may join which coalitions (columns)."""
        return np.array([space.can_join for space in self.spaces])

    @cached_property
    def can_avoid(self) -> BoolArray:
        """Which agents (rows) may leave out which coalitions (columns)."""
        return np.array([space.can_avoid for space in self.spaces])

    def best_responses(self, weights: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return every agent's largest sum of `weights` (n, k) over her space, and the action."""
        values = np.empty(self.n_agents)
        actions = np.empty((self.n_agents, self.n_coalitions), dtype=bool)
        for space, agents in self.groups:
            values[agents], actions[agents] = space.best_responses(weights[agents])
        return values, actions

    def contains(self, actions: BoolArray) -> BoolArray:
        """Return for each agent whether her row of `actions` is allowed."""
        allowed = np.empty(self.n_agents, dtype=bool)
        for space, agents in self.groups:
            allowed[agents] = space.contains(actions[agents])
        return allowed

    def outside(self, owner: IntArray, sets: BoolArray) -> list[int]:
        """Return the agents with a row of `sets` that is not among their actions; row t is agent owner[t]'s."""
        allowed = np.empty(len(owner), dtype=bool)
        for space, agents in self.groups:
            rows = np.isin(owner, agents)
            allowed[rows] = space.contains(sets[rows])
        return [int(agent) for agent in np.unique(owner[~allowed])]

    def sample(self, rng: np.random.Generator, count: int) -> BoolArray:
        """Draw `count` joint actions, every agent uniform and independent: shape (count, n, k)."""
        drawn = np.empty((count, self.n_agents, self.n_coalitions), dtype=bool)
        for space, agents in self.groups:
            drawn[:, agents] = space.sample(rng, count * len(agents)).reshape(count, len(agents), -1)
        return drawn

    def uniform_marginals(self) -> FloatArray:
        """Return Pr[l in a_i] when everybody acts uniformly, shape (n, k)."""
        return np.array([space.uniform_marginals() for space in self.spaces])

    def joint_actions(self, batch: int = 1 << 14) -> Iterator[BoolArray]:
        """Yield all joint actions in blocks of shape (at most `batch`, n, k), the last agent fastest."""
        total = self.size
        refuse_too_many(total, "joint actions")
        listed = [space.enumerate() for space in self.spaces]
        for start in range(0, total, batch):
            digits = mixed_radix(np.arange(start, min(start + batch, total)), [len(sets) for sets in listed])
            yield np.stack([sets[digits[:, agent]] for agent, sets in enumerate(listed)], axis=1)

    def to_json(self, agents: Sequence[str], coalitions: Sequence[str]) -> Any:
        """Return the contract's `actions`: one description if shared, else agent -> description."""
        if self.is_shared:
            return self.spaces[0].to_json(coalitions)
        return {agent: space.to_json(coalitions) for agent, space in zip(agents, self.spaces, strict=True)}
