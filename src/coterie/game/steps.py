"""Steps: the ways in which one profile can lead to the next, and so what stability is stability against.

A *step* has one or several movers, each with a new set of coalitions, and a notion of stability says which steps there
are and whose consent they need:

    notion                    steps                                                consent of
    nash                      one agent changes her set from a to a'               nobody
    individual                the same                                             those in the coalitions joined
    contractual               the same                                             those in the coalitions left
    contractual-individual    the same                                             both
    swap                      as nash, and two agents exchange coalitions          nobody

An exchange of i and j is of L for M, L within a_i without a_j and M within a_j without a_i: both single coalitions, or
both all that is there. One of them may be empty where its owner is in no coalition at all. People who must be together
(`coterie.game.rules`) step as one, in exchanges too: such a group exchanges with one agent, or with another group, and
every one of them is a mover. Rules say which steps are admissible: `coterie.game.admissible`.

The *small steps* join one coalition, leave one, or swap one for another. They are few even where an action space has
2^k sets, so searches and plans try them where it cannot be listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from coterie.arrays import BoolArray, IntArray
from coterie.errors import TooLargeError
from coterie.game.actions import ActionSpace, ActionSpaces, names_in

Stability = Literal["nash", "individual", "contractual", "contractual-individual", "swap"]

NOBODY = -1
"""Fills up the movers of a step that has fewer than others."""

LISTED = 4096
"""Action spaces up to this size are listed; larger ones have too many steps."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Several steps from one profile."""

    movers: IntArray
    """Who moves, shape (s, g); `NOBODY` where a step has fewer than g movers."""
    sets: BoolArray
    """Where to, shape (s, g, k)."""

    def __len__(self) -> int:
        return len(self.movers)

    def __getitem__(self, chosen: "BoolArray | IntArray | slice") -> "Steps":
        return Steps(self.movers[chosen], self.sets[chosen])

    @property
    def moves(self) -> BoolArray:
        """Which places of `movers` are taken, shape (s, g)."""
        return np.asarray(self.movers != NOBODY)

    def change(self, profile: BoolArray) -> npt.NDArray[np.int8]:
        """Return 1 where a mover joins, -1 where she leaves, else 0, shape (s, g, k)."""
        before = profile[self.movers]  # of NOBODY it is the last agent's, and does not count
        found = self.sets.view(np.int8) - before.view(np.int8)
        found[self.movers == NOBODY] = 0
        return found

    def after(self, profile: BoolArray) -> BoolArray:
        """Return the profile that each step leads to, shape (s, n, k)."""
        found = np.repeat(profile[None], len(self), axis=0)
        rows, places = np.nonzero(self.moves)
        found[rows, self.movers[rows, places]] = self.sets[rows, places]
        return found

    def named(self, index: int, agents: Sequence[str], coalitions: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return who moves in one step, and where to, by name."""
        return {
            agents[i]: tuple(names_in(row, coalitions))
            for i, row in zip(self.movers[index].tolist(), self.sets[index], strict=True)
            if i != NOBODY
        }

    @classmethod
    def none(cls, n_coalitions: int) -> "Steps":
        """Return no step at all."""
        return cls(np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1, n_coalitions), dtype=bool))

    @classmethod
    def together(cls, parts: "Sequence[Steps]") -> "Steps":
        """Return the steps of all parts, of which there is at least one; empty ones make none longer."""
        parts = [part for part in parts if len(part)] or [cls.none(parts[0].sets.shape[2])]
        count, most = sum(map(len, parts)), max(part.movers.shape[1] for part in parts)
        movers = np.full((count, most), NOBODY, dtype=np.int64)
        sets = np.zeros((count, most, parts[0].sets.shape[2]), dtype=bool)
        start = 0
        for part in parts:
            rows, places = slice(start, start + len(part)), slice(part.movers.shape[1])
            movers[rows, places], sets[rows, places] = part.movers, part.sets
            start += len(part)
        return cls(movers, sets)


def steps_from(
    profile: BoolArray, spaces: ActionSpaces, stability: Stability = "nash", groups: Sequence[Sequence[int]] = ()
) -> Steps:
    """Return every step from a profile (n, k) that the notion knows, whatever rules say of it.

    Parameters
    ----------
    profile
        Who is where.
    spaces
        What agents may do.
    stability
        The notion.
    groups
        People who must be together and are: they may also step as one.
    """
    parts = [single_steps(profile, spaces)]
    if stability == "swap":
        parts.append(exchanges(profile, spaces))
    return Steps.together([*parts, steps_of_groups(profile, spaces, stability, groups)])


def steps_of_groups(
    profile: BoolArray, spaces: ActionSpaces, stability: Stability, groups: Sequence[Sequence[int]]
) -> Steps:
    """Return the steps of people who must be together and are: as one, and where the notion knows exchanges, those."""
    parts = [group_exchanges(profile, spaces, groups)] if stability == "swap" else []
    parts += [_as_one(profile, spaces, list(group)) for group in groups]
    return Steps.together([*parts, Steps.none(profile.shape[1])])


def single_steps(profile: BoolArray, spaces: ActionSpaces) -> Steps:
    """Return every change of one agent's set to another one of her action space."""
    movers, sets = [], []
    for space, agents in spaces.groups:
        refuse_too_many(space)
        listed = space.enumerate()
        other = (listed[None] != profile[agents][:, None]).any(axis=2)
        rows, actions = np.nonzero(other)
        movers.append(agents[rows])
        sets.append(listed[actions])
    who, where = np.concatenate(movers), np.concatenate(sets)
    order = np.argsort(who, kind="stable")
    return Steps(who[order, None], where[order, None])


def exchanges(profile: BoolArray, spaces: ActionSpaces) -> Steps:
    """Return every exchange of coalitions by two agents."""
    agents, rooms, may_change = places_in(profile)
    one, two = np.nonzero(may_change)
    i, j = np.nonzero(taking_all(profile))
    return exchanged(profile, spaces, (agents[one], rooms[one], agents[two], rooms[two]), (i, j))


def places_in(profile: BoolArray) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the places that agents have, as numbers of agents and coalitions, and which two may be exchanged.

    An agent who is nowhere has one empty place to give, which is in no coalition: number k. Of two places, that of the
    agent with the smaller number comes first.
    """
    k = profile.shape[1]
    out = np.flatnonzero(~profile.any(axis=1))
    inside, places = np.nonzero(profile)
    agents, rooms = np.concatenate([inside, out]), np.concatenate([places, np.full(len(out), k)])
    there = np.pad(profile, ((0, 0), (0, 1)))[agents][:, rooms]  # whether the agent of one place is in another's
    real = (agents[:, None] < agents) & ~there & ~there.T
    real &= (rooms[:, None] < k) | (rooms < k)
    return agents, rooms, real


def taking_all(profile: BoolArray) -> BoolArray:
    """Return which agents i < j may exchange all that is not in common, where that is more than single places."""
    inside = profile.astype(np.float32)
    only = inside @ (1 - inside).T  # how many coalitions of i are not j's
    gives = (only > 0) | ~profile.any(axis=1, keepdims=True)
    return np.asarray(np.triu(((only > 1) | (only > 1).T) & gives & gives.T, 1))


def exchanged(
    profile: BoolArray,
    spaces: ActionSpaces,
    places: tuple[IntArray, IntArray, IntArray, IntArray],
    everything: tuple[IntArray, IntArray],
) -> Steps:
    """Return the exchanges that both agents may make: of places (i, l) for (j, m), and of `everything` between i and j.

    Whoever exchanges all that is not in common has the other's set then.
    """
    one, l, two, m = places
    gives = np.eye(profile.shape[1] + 1, dtype=bool)[:, :-1]  # what a place is as a set; the empty place is none
    i, j = np.concatenate([one, everything[0]]), np.concatenate([two, everything[1]])
    to_i = np.concatenate([(profile[one] & ~gives[l]) | gives[m], profile[everything[1]]])
    to_j = np.concatenate([(profile[two] & ~gives[m]) | gives[l], profile[everything[0]]])
    allowed = _contained(spaces, i, to_i) & _contained(spaces, j, to_j)
    return Steps(np.stack([i, j], axis=1)[allowed], np.stack([to_i, to_j], axis=1)[allowed])


def _as_one(profile: BoolArray, spaces: ActionSpaces, group: list[int]) -> Steps:
    """Return the steps of people who are together: to another set if all have the same, else one coalition for another.

    Whoever has further coalitions keeps them.
    """
    k = profile.shape[1]
    own = profile[group]
    if (own == own[0]).all():
        refuse_too_many(spaces.spaces[group[0]])
        targets = spaces.spaces[group[0]].enumerate()
        targets = targets[(targets != own[0]).any(axis=1)]
        sets = np.repeat(targets[:, None], len(group), axis=1)
    else:
        flips = np.pad(np.eye(k, dtype=bool), ((0, 1), (0, 0)))  # the last: no other one
        left, joined = np.flatnonzero(own.all(axis=0)), np.append(np.flatnonzero(~own.any(axis=0)), k)
        from_, to = (places.ravel() for places in np.meshgrid(left, joined, indexing="ij"))
        sets = (own[None] & ~flips[from_][:, None]) | flips[to][:, None]
    allowed = np.ones(len(sets), dtype=bool)
    for place, agent in enumerate(group):
        allowed &= spaces.spaces[agent].contains(sets[:, place])
    return Steps(np.tile(np.array(group), (int(allowed.sum()), 1)), sets[allowed])


def group_exchanges(profile: BoolArray, spaces: ActionSpaces, groups: Sequence[Sequence[int]]) -> Steps:
    """Return every exchange of coalitions by people who are together with one agent, or with others who are.

    As in `exchanges`, what all of one side have and nobody of the other has changes hands: a single coalition for a
    single one; or all of it, where the people of each side have the same coalitions.
    """
    grouped = {agent for group in groups for agent in group}
    sides = [list(group) for group in groups] + [[i] for i in range(len(profile)) if i not in grouped]
    parts = []
    for place, one in enumerate(sides[: len(groups)]):
        for two in sides[place + 1 :]:
            from_one, from_two = _offers(profile[one], profile[two])
            movers = np.tile(np.array([*one, *two]), (len(from_one), 1))
            parts.append(handed_over(profile, spaces, movers, len(one), from_one, from_two))
    return Steps.together([*parts, Steps.none(profile.shape[1])])


def _offers(one: BoolArray, two: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return what two sides, given by their members' sets, may exchange: L and M of each exchange, shape (e, k)."""
    units = np.eye(one.shape[1], dtype=bool)

    def single(own: BoolArray, other: BoolArray) -> BoolArray:
        nothing = np.zeros((0 if own.any() else 1, own.shape[1]), dtype=bool)
        return np.concatenate([units[own.all(axis=0) & ~other.any(axis=0)], nothing])

    first, second = single(one, two), single(two, one)
    left, right = (
        places.ravel() for places in np.meshgrid(*(np.arange(len(s)) for s in (first, second)), indexing="ij")
    )
    from_one, from_two = first[left], second[right]
    if (one == one[0]).all() and (two == two[0]).all():
        only_one, only_two = one[0] & ~two[0], two[0] & ~one[0]
        both_sides = (only_one.any() or not one.any()) and (only_two.any() or not two.any())
        if both_sides and max(only_one.sum(), only_two.sum()) > 1:
            from_one, from_two = np.vstack([from_one, only_one]), np.vstack([from_two, only_two])
    real = from_one.any(axis=1) | from_two.any(axis=1)
    return from_one[real], from_two[real]


def handed_over(
    profile: BoolArray, spaces: ActionSpaces, movers: IntArray, side: int, from_one: BoolArray, from_two: BoolArray
) -> Steps:
    """Return the steps in which the first `side` movers of each (s, g) give L (s, k) for M, and the others M for L."""
    is_first = (np.arange(movers.shape[1]) < side)[None, :, None]
    gone = np.where(is_first, from_one[:, None], from_two[:, None])
    new = np.where(is_first, from_two[:, None], from_one[:, None])
    sets = (profile[movers] & ~gone) | new
    allowed = _contained(spaces, movers.ravel(), sets.reshape(-1, profile.shape[1])).reshape(movers.shape).all(axis=1)
    return Steps(movers[allowed], sets[allowed])


def _contained(spaces: ActionSpaces, agents: IntArray, sets: BoolArray) -> BoolArray:
    """Return whether each set is among the actions of its agent."""
    if spaces.is_shared:
        return spaces.spaces[0].contains(sets)
    allowed = np.empty(len(agents), dtype=bool)
    for space, members in spaces.groups:
        own = np.isin(agents, members)
        allowed[own] = space.contains(sets[own])
    return allowed


def consent_needed(profile: BoolArray, steps: Steps, stability: Stability) -> BoolArray:
    """Return whose consent each step needs, shape (s, n)."""
    change = steps.change(profile)
    rooms = np.zeros((len(steps), profile.shape[1]), dtype=bool)
    if stability in {"individual", "contractual-individual"}:
        rooms |= (change > 0).any(axis=1)
    if stability in {"contractual", "contractual-individual"}:
        rooms |= (change < 0).any(axis=1)
    needed = (rooms.astype(np.float32) @ profile.T.astype(np.float32)) > 0
    rows, places = np.nonzero(steps.moves)
    needed[rows, steps.movers[rows, places]] = False
    return needed


def needs_consent(stability: Stability) -> bool:
    """Return whether anybody can refuse a step."""
    return stability not in {"nash", "swap"}


def small_steps(space: ActionSpace, own: BoolArray, most_swaps: int | None = None) -> BoolArray:
    """Return the sets in `space` that differ from `own` by joining, leaving or swapping one coalition, shape (m, k).

    First those that join or leave, by coalition, then swaps, by the coalition that is left and the one that is
    joined: at most `most_swaps` of them are looked at, the first ones; None for all.
    """
    flips = np.eye(len(own), dtype=bool)
    left, joined = np.flatnonzero(own), np.flatnonzero(~own)
    from_, to = (places.ravel()[:most_swaps] for places in np.meshgrid(left, joined, indexing="ij"))
    sets = own ^ np.concatenate([flips, flips[from_] | flips[to]])
    return np.asarray(sets[space.contains(sets)])


def refuse_too_many(space: ActionSpace) -> None:
    """Refuse action spaces whose sets are too many to be listed."""
    if space.size > LISTED:
        raise TooLargeError(
            f"an agent has {space.size:.3g} sets of coalitions to choose from; steps are listed for up to {LISTED}: "
            "fewer coalitions per person, such as up-to:2, would help"
        )
