"""Exploration policies: how the joint actions of a simulated log come about.

A policy draws joint actions and knows its own coverage exactly: how probable each coalition
size is, and how probable it is that two agents meet in a coalition.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.game.actions import ActionSpace, ActionSpaces, UpTo
from coterie.game.sizes import size_distribution
from coterie.game.strategy import Strategy
from coterie.simulate import coincidence


class Policy(ABC):
    """A distribution over joint actions."""

    if TYPE_CHECKING:  # an attribute of the class or of an object will do as well as a property

        @property
        def shape(self) -> tuple[int, int]:
            """The numbers of agents and of coalitions."""

    @abstractmethod
    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        """Draw `count` joint actions, shape (count, n, k)."""

    def size_probabilities(self) -> FloatArray:
        """Return Pr[|C_l| = s], shape (k, n + 1); only coverage of the policy itself needs it."""
        raise InputError(
            f"policy: {type(self).__name__} does not know how probable sizes are; a log of it can be asked"
        )

    def meeting_probabilities(self) -> FloatArray:
        """Return Pr[i and j both in C_l], shape (k, n, n); the diagonal is Pr[i in C_l]. Only coverage needs it."""
        raise InputError(f"policy: {type(self).__name__} does not know who meets whom; a log of it can be asked")

    def explored(self) -> BoolArray:
        """Return the joint actions that are played with positive probability, shape (b, n, k)."""
        raise InputError(f"policy: cannot list what {type(self).__name__} explores")

    def second_moments(self, agent: int) -> FloatArray:
        """Return E[x x'] of the agent's indicators of (coalition, partner), in the order of a bandit log's."""
        raise InputError(f"policy: {type(self).__name__} does not know what occurs together (for agent {agent + 1})")


class ProductPolicy(Policy):
    """Agents act independently of each other, so their marginals say everything about coverage."""

    @property
    @abstractmethod
    def marginals(self) -> FloatArray:
        """Return Pr[i in C_l], shape (n, k)."""

    @property
    @abstractmethod
    def joint_marginals(self) -> FloatArray:
        """Return Pr[l and l' both in a_i], shape (n, k, k)."""

    @property
    def shape(self) -> tuple[int, int]:
        n, k = self.marginals.shape
        return n, k

    def second_moments(self, agent: int) -> FloatArray:
        return coincidence.of_independent(self.joint_marginals, agent)

    def size_probabilities(self) -> FloatArray:
        return size_distribution(self.marginals.T)

    def meeting_probabilities(self) -> FloatArray:
        p = self.marginals.T
        meeting = p[:, :, None] * p[:, None, :]
        agents = np.arange(p.shape[1])
        meeting[:, agents, agents] = p
        return meeting


@dataclass(frozen=True, eq=False)
class Independent(ProductPolicy):
    """Every agent is uniform over her own space, independently of the others: the policy `random`."""

    spaces: ActionSpaces

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        return self.spaces.sample(seed, count)

    def explored(self) -> BoolArray:
        return np.concatenate(list(self.spaces.joint_actions()))

    @property
    def marginals(self) -> FloatArray:
        return self.spaces.uniform_marginals()

    @property
    def joint_marginals(self) -> FloatArray:
        return np.array([space.uniform_joint_marginals() for space in self.spaces.spaces])


@dataclass(frozen=True, eq=False)
class FirstExplores(ProductPolicy):
    """Agent 1 is uniform, the others always play their second action: `1rand`, or `coalition-size`."""

    spaces: ActionSpaces

    def __post_init__(self) -> None:
        for agent, space in enumerate(self.spaces.spaces[1:], start=2):
            if space.size < 2:
                raise InputError(f"policy 1rand: agent {agent} has one action only, expected a second one")

    @cached_property
    def _second(self) -> BoolArray:
        return np.array([_second_action(space) for space in self.spaces.spaces])

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        drawn = np.repeat(self._second[None], count, axis=0)
        drawn[:, 0] = self.spaces.spaces[0].sample(seed, count)
        return drawn

    @property
    def marginals(self) -> FloatArray:
        p = self._second.astype(np.float64)
        p[0] = self.spaces.spaces[0].uniform_marginals()
        return p

    @property
    def joint_marginals(self) -> FloatArray:
        both = self._second[:, :, None] * self._second[:, None, :] * 1.0
        both[0] = self.spaces.spaces[0].uniform_joint_marginals()
        return np.asarray(both)


def _second_action(space: ActionSpace) -> BoolArray:
    """Return the second action in the order of enumeration, without enumerating."""
    if not isinstance(space, UpTo):
        return np.asarray(space.enumerate()[min(1, space.size - 1)])
    # The empty set comes first where there is one, then the single coalitions.
    second = 0 if space.may_stay_out else min(1, space.n_coalitions - 1)
    return np.asarray(np.eye(space.n_coalitions, dtype=bool)[second])


@dataclass(frozen=True, eq=False)
class FromStrategy(ProductPolicy):
    """Everybody follows a given strategy, pure or mixed."""

    strategy: Strategy

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        return self.strategy.sample(seed, count)

    @property
    def marginals(self) -> FloatArray:
        return self.strategy.marginals

    @property
    def joint_marginals(self) -> FloatArray:
        return self.strategy.joint_marginals


class OneMoves(Policy):
    """At most one agent leaves a given profile, a matrix (n, k) of booleans.

    Two agents never move at once, so coverage follows from how probable it is that agent i's
    membership in coalition l differs from the profile, and from the probability of the profile
    itself, which is positive even where it is lost in rounding.
    """

    profile: BoolArray

    @property
    @abstractmethod
    def changes(self) -> FloatArray:
        """Return Pr[i's membership in l is not the profile's], shape (n, k)."""

    @property
    @abstractmethod
    def unmoved(self) -> float:
        """Return the probability of the profile itself."""

    @property
    @abstractmethod
    def moves(self) -> tuple[FloatArray, FloatArray]:
        """Return Pr[i moves], and Pr[i moves, and l and l' are in her new set], shapes (n,) and (n, k, k)."""

    def second_moments(self, agent: int) -> FloatArray:
        return coincidence.of_one_mover(self.profile, *self.moves, agent)

    @property
    def shape(self) -> tuple[int, int]:
        n, k = self.profile.shape
        return n, k

    def size_probabilities(self) -> FloatArray:
        n, k = self.profile.shape
        fewer = np.where(self.profile, self.changes, 0.0).sum(axis=0)
        more = np.where(self.profile, 0.0, self.changes).sum(axis=0)
        size, coalition = self.profile.sum(axis=0), np.arange(k)
        result = np.zeros((k, n + 3))  # from size -1 to n + 1, so that both neighbours exist
        result[coalition, size] = fewer
        result[coalition, size + 1] = np.maximum(1 - fewer - more, self.unmoved)
        result[coalition, size + 2] = more
        return result[:, 1:-1]

    def meeting_probabilities(self) -> FloatArray:
        joined, change = self.profile.T, self.changes.T
        left, right = joined[:, :, None], joined[:, None, :]
        both = np.maximum(1 - change[:, :, None] - change[:, None, :], self.unmoved)
        meeting = np.where(left & right, both, np.where(left, change[:, None, :], change[:, :, None]))
        meeting[~left & ~right] = 0.0
        agents = np.arange(len(self.profile))
        meeting[:, agents, agents] = np.where(joined, np.maximum(1 - change, self.unmoved), change)
        return meeting


@dataclass(frozen=True, eq=False)
class Deviations(OneMoves):
    """Uniform over the joint actions that differ from a profile in at most one agent (App. E.1).

    There are 1 + sum of (|A_i| - 1) of them, the profile once. None is listed: first the agent,
    by her number of other actions, then one of these.
    """

    spaces: ActionSpaces
    profile: BoolArray

    def __post_init__(self) -> None:
        check_profile(self.spaces, np.arange(len(self.profile)), self.profile)

    @cached_property
    def _count(self) -> int:
        return 1 + sum(space.size - 1 for space in self.spaces.spaces)

    @property
    def unmoved(self) -> float:
        return 1 / self._count

    @property
    def changes(self) -> FloatArray:
        share = np.array([space.size / self._count for space in self.spaces.spaces])[:, None]
        joins = self.spaces.uniform_marginals()
        return share * np.where(self.profile, 1 - joins, joins)

    @property
    def moves(self) -> tuple[FloatArray, FloatArray]:
        share = np.array([space.size / self._count for space in self.spaces.spaces])
        both = np.array([space.uniform_joint_marginals() for space in self.spaces.spaces])
        stayed = self.profile[:, :, None] * self.profile[:, None, :] * self.unmoved
        return share - self.unmoved, np.asarray(share[:, None, None] * both - stayed)

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        rng = checks.generator(seed, "seed")
        moving = [(space.size - 1) / self._count for space in self.spaces.spaces]
        shares = np.array([*moving, self.unmoved])
        mover = rng.choice(len(shares), size=count, p=shares / shares.sum())
        drawn = np.repeat(self.profile[None], count, axis=0)
        for agent in np.unique(mover[mover < len(moving)]):
            # Draw until it is another action; with two or more, at least every second draw is.
            still = np.flatnonzero(mover == agent)
            while len(still):
                drawn[still, agent] = self.spaces.spaces[agent].sample(rng, len(still))
                still = still[(drawn[still, agent] == self.profile[agent]).all(axis=1)]
        return drawn


@dataclass(frozen=True, eq=False)
class Toggles(OneMoves):
    """Uniform over a profile and its neighbours: one agent joins or leaves one coalition (App. G.1).

    A neighbour counts only if it is in the agent's space; with every non-empty set allowed and
    nobody in a single coalition there are n k + 1 joint actions.
    """

    spaces: ActionSpaces
    profile: BoolArray

    def __post_init__(self) -> None:
        check_profile(self.spaces, np.arange(len(self.profile)), self.profile)

    @cached_property
    def allowed(self) -> BoolArray:
        """Which agents (rows) may toggle which coalitions (columns)."""
        flips = np.eye(self.spaces.n_coalitions, dtype=bool)
        return np.array(
            [space.contains(row ^ flips) for space, row in zip(self.spaces.spaces, self.profile, strict=True)]
        )

    @property
    def unmoved(self) -> float:
        return 1 / (1 + int(self.allowed.sum()))

    @property
    def changes(self) -> FloatArray:
        return np.where(self.allowed, self.unmoved, 0.0)

    @property
    def moves(self) -> tuple[FloatArray, FloatArray]:
        new = self.profile[:, None] ^ np.eye(self.spaces.n_coalitions, dtype=bool)
        both = np.einsum("itl,itm,it->ilm", new * 1.0, new * 1.0, self.allowed * self.unmoved)
        return self.allowed.sum(axis=1) * self.unmoved, np.asarray(both)

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        agent, coalition = np.nonzero(self.allowed)
        chosen = checks.generator(seed, "seed").integers(len(agent) + 1, size=count)
        drawn = np.repeat(self.profile[None], count, axis=0)
        moved = np.flatnonzero(chosen < len(agent))
        drawn[moved, agent[chosen[moved]], coalition[chosen[moved]]] ^= True
        return drawn


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

    @property
    def shape(self) -> tuple[int, int]:
        _, n, k = self.joint_actions.shape
        return n, k

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        return self.joint_actions[checks.generator(seed, "seed").integers(len(self.joint_actions), size=count)]

    def explored(self) -> BoolArray:
        return self.joint_actions

    def size_probabilities(self) -> FloatArray:
        sizes = self.joint_actions.sum(axis=1)
        n = self.joint_actions.shape[1]
        return np.asarray((sizes[:, :, None] == np.arange(n + 1)).mean(axis=0))

    def meeting_probabilities(self) -> FloatArray:
        joined = self.joint_actions.astype(np.float64)
        return np.asarray(np.einsum("bil,bjl->lij", joined, joined) / len(joined))

    def second_moments(self, agent: int) -> FloatArray:
        return coincidence.of_listed(self.joint_actions, agent)


def check_profile(spaces: ActionSpaces, owner: IntArray, sets: BoolArray, agents: Sequence[str] | None = None) -> None:
    """Refuse a profile of another game, or with a set that its player may not choose; row t is owner[t]'s."""
    found, expected = (len(np.unique(owner)), sets.shape[-1]), (spaces.n_agents, spaces.n_coalitions)
    if sets.ndim != 2 or found != expected:
        raise InputError(
            f"profile: expected {expected[0]} agents and {expected[1]} coalitions, got {found[0]} and {found[1]}"
        )
    if outside := spaces.outside(owner, sets):
        name = agents[outside[0]] if agents else f"agent {outside[0] + 1}"
        raise InputError(f"profile: {name} plays a set that is not among their actions")


PolicyName = Literal["random", "1rand", "coalition-size", "deviations", "toggles", "strategy"]

AROUND_PROFILE: dict[PolicyName, str] = {
    "deviations": "one agent deviates from a profile",
    "toggles": "one agent joins or leaves one coalition of a profile",
    "strategy": "a profile itself, which may be mixed",
}
"""The policies that need a profile, and what they do."""

POLICIES: dict[PolicyName, str] = {
    "random": "everybody uniform",
    "1rand": "the first agent explores, the others play their second action",
    "coalition-size": "the same as 1rand",
    **AROUND_PROFILE,
}
"""The names that `exploration_policy` knows, and what they do."""


def exploration_policy(name: PolicyName, spaces: ActionSpaces, profile: Strategy | None = None) -> Policy:
    """Return the policy of that name.

    Parameters
    ----------
    name
        One of `POLICIES`: `deviations` is that of App. E.1, `toggles` that of App. G.1.
    spaces
        What the agents may do.
    profile
        Needed by those in `AROUND_PROFILE`; all but `strategy` need a pure one.
    """
    if name not in POLICIES:
        raise InputError(f"unknown policy {name!r}; known are: {', '.join(POLICIES)}")
    if name == "random":
        return Independent(spaces)
    if name in {"1rand", "coalition-size"}:
        return FirstExplores(spaces)
    if profile is None:
        raise InputError(f"the policy {name} needs a profile")
    if name != "strategy" and not profile.is_pure:
        raise InputError(f"the policy {name} needs a pure profile, this one is mixed")
    check_profile(spaces, profile.owner, profile.sets, profile.agents)
    if name == "strategy":
        return FromStrategy(profile)
    return Deviations(spaces, profile.sets) if name == "deviations" else Toggles(spaces, profile.sets)
