"""What agents may do: the sets of coalitions that each may join, and their joint actions.

An action of agent i is a set of coalitions, held as a row of k booleans. Her action space
A_i is either a list of sets (`ExplicitSets`) or all sets up to a size (`UpTo`, which covers
"exactly one" and "any"). A best response is a linear maximisation over A_i, so a space needs
only its *linear oracle*, never the list of its 2^k members.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray, mixed_radix
from coterie.errors import InputError, TooLargeError
from coterie.words import said

MAX_ENUMERATED = 2**20
"""Action spaces and joint action spaces above this size are not enumerated."""

DRAWN_CELLS = 1 << 24
"""So many random numbers are drawn at once."""

OR_NONE = "-or-none"
"""Ends the description of a space whose agents may also stay out, as in "any-or-none"."""


def refuse_too_many(count: int, what: str) -> None:
    """Raise `TooLargeError` where `count` things are too many to list."""
    if count > MAX_ENUMERATED:
        power = math.log10(count)
        raise TooLargeError(f"there are about 10^{power:.1f} {what}; at most {MAX_ENUMERATED} can be listed")


def names_in(action: BoolArray, coalitions: Sequence[str]) -> list[str]:
    """Return the names of the coalitions in an action, a row of k booleans."""
    return [coalitions[l] for l in np.flatnonzero(action).tolist()]


def action_of(chosen: Iterable[Any], coalitions: Sequence[str], where: str, word: str = "coalition") -> BoolArray:
    """Return the row of k booleans for a list of coalition names; `where` and the `word` for one word the refusal."""
    if isinstance(chosen, str):
        raise InputError(f"{where}: {checks.shown(chosen)} is not a list of coalitions; write [{checks.shown(chosen)}]")
    if isinstance(chosen, Mapping) or not isinstance(chosen, Iterable):
        raise InputError(f"{where}: expected a list of coalition names, got {checks.shown(chosen)}")
    row = np.zeros(len(coalitions), dtype=bool)
    for name in chosen:
        row[checks.index_of(name, coalitions, f"{word} in {where}")] = True
    return row


class ActionSpace(ABC):
    """The sets of coalitions that one agent may choose from.

    An own space has `n_coalitions`, `size`, `best_responses` and `sample`. What is in it follows from its best
    responses; `_all` is needed where actions are to be listed, and closed forms of the marginals where they cannot be.
    """

    n_coalitions: int

    if TYPE_CHECKING:  # an attribute of the class or of an object will do as well as a property

        @property
        def size(self) -> int:
            """The number of actions, exactly (it may have hundreds of digits)."""

    @property
    def log_size(self) -> float:
        """The natural logarithm of the number of actions."""
        return math.log(self.size)

    @abstractmethod
    def best_responses(self, weights: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return max over a of sum of weights in a, and an a attaining it, for each row.

        Parameters
        ----------
        weights
            Worth of each coalition, shape (m, k).

        Returns
        -------
        The m values and the m actions as rows of booleans. Ties go to the action listed first.
        """

    def contains(self, actions: BoolArray) -> BoolArray:
        """Return for each row of `actions` whether it belongs to the space."""
        wanted = np.asarray(actions, dtype=bool)
        if not len(wanted):
            return np.zeros(0, dtype=bool)
        # With 1 on a set and -1 elsewhere, nothing but the set itself is worth as much as it has members.
        return np.asarray((self.best_responses(np.where(wanted, 1.0, -1.0))[1] == wanted).all(axis=1))

    @abstractmethod
    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        """Draw `count` actions uniformly, shape (count, k)."""

    def uniform_marginals(self) -> FloatArray:
        """Return Pr[l in a] for a uniform action a."""
        return np.asarray(self.enumerate().mean(axis=0))

    def uniform_joint_marginals(self) -> FloatArray:
        """Return Pr[l and l' both in a] for a uniform action a, shape (k, k)."""
        listed = self.enumerate().astype(np.float64)
        return np.asarray(listed.T @ listed / len(listed))

    def _all(self) -> BoolArray:
        """Return every action; the caller has checked that there are not too many."""
        raise InputError(f"{said('actions')}: {type(self).__name__} cannot list its actions; a method _all would")

    def enumerate(self) -> BoolArray:
        """Return all actions as rows of booleans; refuses above `MAX_ENUMERATED`."""
        refuse_too_many(self.size, "actions")
        return self._all()

    @property
    def can_join(self) -> BoolArray:
        """Which coalitions occur in some action."""
        return np.asarray(self.best_responses(np.eye(self.n_coalitions))[0] > 0.5)

    @property
    def can_avoid(self) -> BoolArray:
        """Which coalitions are left out by some action."""
        return np.asarray(self.best_responses(-np.eye(self.n_coalitions))[0] > -0.5)

    def to_json(self, coalitions: Sequence[str]) -> str | list[list[str]]:
        """Return the form that `log.json` and `truth.json` hold; `parse` reads it."""
        return [names_in(row, coalitions) for row in self.enumerate()]


@dataclass(frozen=True, eq=False)
class ExplicitSets(ActionSpace):
    """An explicit list of sets, the empty one included where staying out is allowed.

    `sets` has one row per set and one column per coalition, of booleans or of 0 and 1.
    """

    sets: BoolArray

    def __post_init__(self) -> None:
        sets = checks.booleans(self.sets, said("actions"))
        sets.setflags(write=False)
        object.__setattr__(self, "sets", sets)
        if self.sets.ndim != 2 or self.sets.shape[1] < 1:
            raise InputError(f"{said('actions')}: expected a list of sets of coalitions")
        if not len(self.sets):
            raise InputError(f"{said('actions')}: the action space is empty")
        if len(np.unique(_packed(self.sets))) != len(self.sets):
            raise InputError(f"{said('actions')}: the same set is listed twice")

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return int(self.sets.shape[1])

    @property
    def size(self) -> int:
        return len(self.sets)

    def best_responses(self, weights: FloatArray) -> tuple[FloatArray, BoolArray]:
        values = weights @ self._indicators.T
        best = values.argmax(axis=1)
        return values[np.arange(len(values)), best], self.sets[best]

    def contains(self, actions: BoolArray) -> BoolArray:
        rows = _packed(np.asarray(actions, dtype=bool))
        at = np.searchsorted(self._keys, rows)
        return np.asarray(self._keys[np.minimum(at, len(self._keys) - 1)] == rows)

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        return self.sets[checks.generator(seed, "seed").integers(self.size, size=count)]

    def uniform_marginals(self) -> FloatArray:
        return np.asarray(self._indicators.mean(axis=0))

    def uniform_joint_marginals(self) -> FloatArray:
        return np.asarray(self._indicators.T @ self._indicators / len(self.sets))

    def _all(self) -> BoolArray:
        return self.sets

    @property
    def can_join(self) -> BoolArray:
        return np.asarray(self.sets.any(axis=0))

    @property
    def can_avoid(self) -> BoolArray:
        return np.asarray((~self.sets).any(axis=0))

    def to_json(self, coalitions: Sequence[str]) -> list[list[str]]:
        return [names_in(row, coalitions) for row in self.sets]

    @cached_property
    def _indicators(self) -> FloatArray:
        return self.sets.astype(np.float64)

    @cached_property
    def _keys(self) -> npt.NDArray[Any]:
        return np.sort(_packed(self.sets))


def _packed(sets: BoolArray) -> npt.NDArray[Any]:
    """Return each row as one value, which can be sorted and looked up: a number where that is exact."""
    if sets.shape[1] <= np.finfo(np.float64).nmant:
        return np.asarray(sets @ np.exp2(np.arange(sets.shape[1])))
    bits = np.packbits(sets, axis=1)
    return bits.view(f"V{bits.shape[1]}")[:, 0]


@dataclass(frozen=True)
class UpTo(ActionSpace):
    """Every set of at most `most` coalitions; the empty one only with `may_stay_out`.

    `most = 1` is "exactly one coalition", `most = k` is "any non-empty set".
    """

    n_coalitions: int
    most: int
    may_stay_out: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_coalitions", checks.whole(self.n_coalitions, "number of coalitions", 1))
        object.__setattr__(self, "most", checks.whole(self.most, "largest number of coalitions per agent", 1))
        if self.most > self.n_coalitions:
            most = checks.shown(self.most)
            raise InputError(f"{said('actions')}: at most {self.n_coalitions} coalitions can be joined, not {most}")

    @cached_property
    def _counts(self) -> list[int]:
        """How many actions have 0, 1, ..., most coalitions."""
        return [int(self.may_stay_out)] + [math.comb(self.n_coalitions, s) for s in range(1, self.most + 1)]

    @cached_property
    def size(self) -> int:
        return sum(self._counts)

    def best_responses(self, weights: FloatArray) -> tuple[FloatArray, BoolArray]:
        # The `most` largest positive weights; where none is positive, nothing or the best single one.
        if self.most == self.n_coalitions:
            chosen = weights > 0
        elif self.most == 1:
            chosen = np.zeros(weights.shape, dtype=bool)
            rows, leading = np.arange(len(weights)), weights.argmax(axis=1)
            chosen[rows, leading] = weights[rows, leading] > 0
        else:
            leading = np.argsort(-weights, axis=1, kind="stable")[:, : self.most]
            chosen = np.zeros(weights.shape, dtype=bool)
            np.put_along_axis(chosen, leading, True, axis=1)
            chosen &= weights > 0
        if not self.may_stay_out:
            idle = np.flatnonzero(~chosen.any(axis=1))
            chosen[idle, weights[idle].argmax(axis=1)] = True
        return np.where(chosen, weights, 0.0).sum(axis=1), chosen

    def contains(self, actions: BoolArray) -> BoolArray:
        joined = np.asarray(actions, dtype=bool).sum(axis=1)
        return np.asarray((joined <= self.most) & (joined >= (0 if self.may_stay_out else 1)))

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        rng = checks.generator(seed, "seed")
        # First the number of coalitions, by how many sets have it; then a uniform set of that size.
        shares = np.array([number / self.size for number in self._counts])
        joined = rng.choice(self.most + 1, size=count, p=shares / shares.sum())
        result = np.empty((count, self.n_coalitions), dtype=bool)
        step = max(1, DRAWN_CELLS // self.n_coalitions)
        for first in range(0, count, step):
            some = slice(first, first + step)
            drawn = rng.random(result[some].shape)
            if self.most == 1:  # where the first would be if they were sorted
                place = (drawn < drawn[:, :1]).sum(axis=1, keepdims=True)
                result[some] = (np.arange(self.n_coalitions) == place) & (joined[some, None] == 1)
            else:
                result[some] = drawn.argsort(axis=1) < joined[some, None]
        return result

    def uniform_marginals(self) -> FloatArray:
        containing = sum(math.comb(self.n_coalitions - 1, s - 1) for s in range(1, self.most + 1))
        return np.full(self.n_coalitions, containing / self.size)

    def uniform_joint_marginals(self) -> FloatArray:
        k = self.n_coalitions
        containing = sum(math.comb(k - 2, s - 2) for s in range(2, self.most + 1)) if k > 1 else 0
        both = np.full((k, k), containing / self.size)
        np.fill_diagonal(both, self.uniform_marginals())
        return both

    def _all(self) -> BoolArray:
        return self._listed

    @cached_property
    def _listed(self) -> BoolArray:
        """Every action: a search asks again and again."""
        rows = np.zeros((self.size, self.n_coalitions), dtype=bool)
        sets = (
            chosen
            for s in range(0 if self.may_stay_out else 1, self.most + 1)
            for chosen in combinations(range(self.n_coalitions), s)
        )
        for row, chosen in zip(rows, sets, strict=True):
            row[list(chosen)] = True
        rows.setflags(write=False)
        return rows

    @property
    def can_join(self) -> BoolArray:
        return np.ones(self.n_coalitions, dtype=bool)

    @property
    def can_avoid(self) -> BoolArray:
        return np.full(self.n_coalitions, self.n_coalitions > 1 or self.may_stay_out)

    def to_json(self, coalitions: Sequence[str]) -> str:  # noqa: ARG002  (the same for all names)
        words = {self.n_coalitions: "any", 1: "one"}
        return words.get(self.most, f"up-to:{self.most}") + (OR_NONE if self.may_stay_out else "")


def as_names(names: Iterable[str] | int, what: str) -> tuple[str, ...]:
    """Return names, checked unless they are a tuple: those have been before, and there may be many agents to come."""
    return names if isinstance(names, tuple) else checks.names(names, what)


def exactly_one(coalitions: Iterable[str] | int, *, may_stay_out: bool = False) -> UpTo:
    """Return the space of every single coalition, of their names or number: the classical partition setting."""
    return UpTo(len(as_names(coalitions, "coalitions")), 1, may_stay_out)


def any_subset(coalitions: Iterable[str] | int, *, may_stay_out: bool = False) -> UpTo:
    """Return the space of every non-empty set of coalitions, of their names or number."""
    k = len(as_names(coalitions, "coalitions"))
    return UpTo(k, k, may_stay_out)


def explicit(
    sets: Iterable[Iterable[Any]], coalitions: Iterable[str] | int, *, may_stay_out: bool = False
) -> ExplicitSets:
    """Return the space of the listed sets of coalition names, with the empty set on request."""
    coalitions = as_names(coalitions, "coalitions")
    if isinstance(sets, (str, Mapping)) or not isinstance(sets, Iterable):
        raise InputError(f"{said('actions')}: expected a list of lists of coalition names, got {checks.shown(sets)}")
    rows = [action_of(chosen, coalitions, said("actions")) for chosen in sets]
    if may_stay_out and not any(not row.any() for row in rows):
        rows.append(np.zeros(len(coalitions), dtype=bool))
    if not rows:
        raise InputError(f"{said('actions')}: the action space is empty")
    return ExplicitSets(np.array(rows))


def parse(description: Any, coalitions: Iterable[str] | int, *, may_stay_out: bool = False) -> ActionSpace:
    """Return the space that "one", "any", "up-to:3" or a list of lists of names describes.

    A word may end in "-or-none", which like `may_stay_out` adds the right to join nothing.
    """
    coalitions = as_names(coalitions, "coalitions")
    k = len(coalitions)
    if isinstance(description, str):
        word = description.removesuffix(OR_NONE)
        may_stay_out = may_stay_out or word != description
        if word == "one":
            return exactly_one(k, may_stay_out=may_stay_out)
        if word == "any":
            return any_subset(k, may_stay_out=may_stay_out)
        if bounded := re.fullmatch(r"up-to:(\d{1,9})", word, re.ASCII):
            return UpTo(k, min(checks.whole(int(bounded[1]), "up-to", 1), k), may_stay_out)
        raise InputError(
            f'{said("actions")}: {checks.shown(description)} is not one of "one", "any", "up-to:3" or a list of lists '
            "of names"
        )
    if isinstance(description, Sequence):
        return explicit(description, coalitions, may_stay_out=may_stay_out)
    wanted = "a word or a list of lists of coalition names"
    raise InputError(f"{said('actions')}: expected {wanted}, got {checks.shown(description)}")


@dataclass(frozen=True, eq=False)
class ActionSpaces:
    """One action space per agent; agents that share a space are handled together."""

    spaces: tuple[ActionSpace, ...]
    left_out: tuple[int, ...] = ()
    """Agents whose own gains do not count: they act and are partners, but no gap and no certificate is about them."""
    groups: tuple[tuple[ActionSpace, npt.NDArray[np.intp]], ...] = field(init=False, repr=False)
    """Each distinct space with the agents that have it."""

    def __post_init__(self) -> None:
        if not isinstance(self.spaces, tuple) or not all(isinstance(space, ActionSpace) for space in self.spaces):
            raise InputError(f"{said('actions')}: expected a tuple of action spaces, got {checks.shown(self.spaces)}")
        if not self.spaces:
            raise InputError(f"{said('actions')}: there are no agents")
        if len({space.n_coalitions for space in self.spaces}) > 1:
            raise InputError(f"{said('actions')}: the agents' action spaces differ in the number of coalitions")
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
        cls,
        description: Any,
        agents: Iterable[str] | int,
        coalitions: Iterable[str] | int,
        *,
        may_stay_out: bool = False,
    ) -> Self:
        """Read `actions` as `log.json` has them: one description for all, or an object agent -> description."""
        agents, coalitions = as_names(agents, "agents"), as_names(coalitions, "coalitions")
        if isinstance(description, ActionSpace):
            return cls.shared(description, len(agents))
        if not isinstance(description, Mapping):
            return cls.shared(parse(description, coalitions, may_stay_out=may_stay_out), len(agents))
        known = set(agents)
        for agent in description:
            if agent not in known:
                checks.index_of(agent, agents, "agent in actions")  # which refuses it
        missing = [agent for agent in agents if agent not in description]
        if missing:
            raise InputError(f"{said('actions')}: no action space for agent {missing[0]!r}")

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

    def leaving_out(self, agents: Iterable[int]) -> "ActionSpaces":
        """Return the same spaces, with the gains of these agents not counted."""
        return replace(self, left_out=tuple(agents))

    @cached_property
    def counted(self) -> BoolArray:
        """Whose gains count, one for each agent."""
        return ~np.isin(np.arange(self.n_agents), self.left_out)

    @cached_property
    def can_join(self) -> BoolArray:
        """Which agents (rows) may join which coalitions (columns)."""
        return np.array([space.can_join for space in self.spaces])

    @cached_property
    def can_avoid(self) -> BoolArray:
        """Which agents (rows) may leave out which coalitions (columns)."""
        return np.array([space.can_avoid for space in self.spaces])

    def best_responses(self, weights: FloatArray, first: int = 0) -> tuple[FloatArray, BoolArray]:
        """Return every agent's largest sum of `weights` (n, k) over her space, and the action.

        Or those of some agents, from number `first` on, by weights with a row for each.
        """
        values = np.empty(len(weights))
        actions = np.empty((len(weights), self.n_coalitions), dtype=bool)
        for space, agents in self.groups:
            own = agents if len(weights) == self.n_agents else _between(agents, first, first + len(weights))
            values[own], actions[own] = space.best_responses(weights[own])
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

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        """Draw `count` joint actions, every agent uniform and independent: shape (count, n, k)."""
        rng = checks.generator(seed, "seed")
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

    @cached_property
    def are_single(self) -> bool:
        """Whether everybody is in any one coalition, or perhaps in none: joint actions are then partitions."""
        return all(_is_single(space) for space, _ in self.groups)

    @cached_property
    def limits(self) -> tuple[IntArray, BoolArray] | None:
        """At most how many coalitions each may join, of those that she `can_join`, and who may stay out.

        None where there are other spaces than these.
        """
        most, may_stay_out = np.empty(self.n_agents, dtype=np.int64), np.empty(self.n_agents, dtype=bool)
        for space, agents in self.groups:
            if isinstance(space, UpTo):
                most[agents], may_stay_out[agents] = space.most, space.may_stay_out
            elif isinstance(space, ExplicitSets) and (space.sets.sum(axis=1) <= 1).all():
                most[agents], may_stay_out[agents] = 1, not space.sets.any(axis=1).all()
            else:
                return None
        return most, may_stay_out

    @cached_property
    def n_partitions(self) -> int:
        """The number of joint actions up to the names of coalitions, where all `are_single`."""
        k = self.n_coalitions
        ways = [1] * (k + 1)  # to place the agents that are left, by how many coalitions have members
        for space in reversed(self.spaces):
            out = int(space.size > k)
            ways = [(b + out) * ways[b] + (ways[b + 1] if b < k else 0) for b in range(k + 1)]
        return ways[0]

    def partitions(self, batch: int = 1 << 14) -> Iterator[BoolArray]:
        """Yield all joint actions up to the names of coalitions, in blocks, where all `are_single`.

        Of those that differ in names alone, the one in which coalitions are numbered as agents come to them.
        """
        refuse_too_many(self.n_partitions, "partitions")
        k = self.n_coalitions
        places, used = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        for space in self.spaces:
            first = k - space.size  # -1, for nowhere, where staying out is allowed
            options = np.minimum(used + 1, k) - first
            rows = np.repeat(np.arange(len(used)), options)
            place = np.arange(len(rows)) - np.repeat(np.cumsum(options) - options, options) + first
            places = np.column_stack([places[rows], place])
            used = np.maximum(used[rows], place + 1)
        for start in range(0, len(places), batch):
            yield places[start : start + batch, :, None] == np.arange(k)

    def to_json(self, agents: Sequence[str], coalitions: Sequence[str]) -> Any:
        """Return `actions` as `log.json` has them: one description if shared, else agent -> description."""
        if self.is_shared:
            return self.spaces[0].to_json(coalitions)
        return {agent: space.to_json(coalitions) for agent, space in zip(agents, self.spaces, strict=True)}


def _between(agents: npt.NDArray[np.intp], first: int, end: int) -> npt.NDArray[np.intp]:
    """Return those of some sorted numbers that are in an interval, counted from its first."""
    begin, last = np.searchsorted(agents, (first, end))
    return agents[begin:last] - first


def _is_single(space: ActionSpace) -> bool:
    """Return whether the sets of a space are all single coalitions, and perhaps the empty set."""
    k = space.n_coalitions
    if isinstance(space, UpTo):
        return space.most == 1
    return k <= space.size <= k + 1 and bool(
        space.contains(np.concatenate([np.eye(k, dtype=bool), np.zeros((space.size - k, k), dtype=bool)])).all()
    )
