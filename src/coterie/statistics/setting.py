"""What statistics are about: the names, the declared facts and the options they were made with."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.arrays import IntArray
from coterie.errors import InputError
from coterie.files import record
from coterie.game.actions import ActionSpaces, UpTo
from coterie.game.game import Value
from coterie.log.choices import is_observed, sorted_sets
from coterie.log.options import Missing, fixed_range
from coterie.log.schema import Feedback
from coterie.statistics.fixed_point import FIXED_BITS
from coterie.words import in_order, said

Sizes = Literal["ignore", "aware"]
"""Whether every coalition size has unknowns of its own."""

Noise = Literal["pairs", "samples"]
"""What is taken to be independent: all pairs, or only those of different samples."""

NoiseChoice = Literal["auto", "pairs", "samples"]
"""The same, or "auto": pairs, unless the samples that learn move together, or are too few to tell."""


@dataclass(frozen=True)
class Setting:
    """The log that statistics come from, as far as they depend on it."""

    feedback: Feedback
    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    symmetric: bool
    utility_range: tuple[float, float] | None
    neutral: float
    sigma: float | None
    pool_coalitions: bool
    action_description: Any
    """The `actions` that were asked for: a word such as "observed", or explicit sets."""
    action_sets: Any
    """What they come to, as `ActionSpaces.parse` reads it."""
    sizes: Sizes
    noise: Noise
    shares: tuple[float, ...]
    """The share of the samples in each part."""
    seed: int
    declared_agents: tuple[str, ...] = ()
    """Agents that were declared; they come first, in that order."""
    declared_coalitions: tuple[str, ...] = ()
    missing: Missing = "ignore"
    """Whether meetings without a row are left out, or counted at their worst."""
    adaptive: bool = False
    """Whether who met whom may have depended on earlier outcomes."""
    of_teams: bool = False
    """Whether totals are scores of teams, each over all its pairs."""
    value: Value = "total"
    """What a team is worth to a member where nobody asks for something else."""
    lower_is_better: bool = False
    """Whether utilities are the opposite of what the tables hold, and so are range and neutral point here."""
    unit: str = ""
    """What outcomes are counted in; only said, never computed with."""

    @property
    def n_agents(self) -> int:
        """The number of agents."""
        return len(self.agents)

    @property
    def n_coalitions(self) -> int:
        """The number of coalitions."""
        return len(self.coalitions)

    @property
    def n_tables(self) -> int:
        """How many coalitions the statistics tell apart: one where they are interchangeable."""
        return 1 if self.pool_coalitions else self.n_coalitions

    @property
    def n_sizes(self) -> int:
        """How many sizes of a coalition, from 2 up, each pair has its own unknown for."""
        return max(self.n_agents - 1, 1) if self.sizes == "aware" else 1

    @property
    def n_pairs(self) -> int:
        """How many unknowns there are for pairs, seen or not."""
        ordered = self.n_tables * self.n_agents * (self.n_agents - 1) * self.n_sizes
        return ordered // 2 if self.symmetric else ordered

    @property
    def block(self) -> int:
        """How many unknowns one agent has in each coalition that the statistics tell apart."""
        return (self.n_agents - 1) * self.n_sizes

    @property
    def n_features(self) -> int:
        """How many unknowns one agent's utility may depend on."""
        return self.block * self.n_tables

    def told(self, value: float) -> float:
        """Return a utility as the tables have it."""
        return 0.0 - value if self.lower_is_better else value

    @property
    def told_range(self) -> tuple[float, float] | None:
        """Where the tables have utilities, as it was declared."""
        if self.utility_range is None:
            return None
        low, high = sorted(map(self.told, self.utility_range))
        return low, high

    def side(self, *, better: bool) -> str:
        """Return on which side of the neutral point the tables have what is better, or worse."""
        return "above" if better != self.lower_is_better else "below"

    @property
    def fixed_range(self) -> tuple[float, float]:
        """The interval that 2^30 steps of fixed-point utilities span."""
        return fixed_range(self.utility_range, self.neutral, self.sigma)

    @property
    def scale(self) -> tuple[float, float]:
        """Offset and step: a fixed-point utility q is offset + step q, counted from the neutral point."""
        low, high = self.fixed_range
        return low - self.neutral, (high - low) / 2.0**FIXED_BITS

    @cached_property
    def actions(self) -> ActionSpaces:
        """What each agent may do."""
        return ActionSpaces.parse(self.action_sets, self.agents, self.coalitions)

    def feature(self, agent: IntArray, table: IntArray, partner: IntArray, size: IntArray | None = None) -> IntArray:
        """Return the place of (coalition, partner, size) among an agent's unknowns.

        Coalitions come first, then partners without the agent herself, then sizes from 2 up.
        """
        place = table * (self.n_agents - 1) + partner - (partner > agent)
        return place if size is None else place * self.n_sizes + size - 2

    def to_json(self) -> dict[str, Any]:
        """Return the setting as plain values."""
        found = asdict(self)
        # As files were before there were other logs.
        for name, usual in (("of_teams", False), ("value", "total"), ("lower_is_better", False), ("unit", "")):
            if found[name] == usual:
                del found[name]
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Setting":
        """Read what `to_json` wrote, refusing what no log has."""
        found: Setting = record(cls, data, "setting")
        checks.names(found.agents, "agents")
        checks.names(found.coalitions, "coalitions")
        low, high = found.fixed_range if found.utility_range or found.sigma else (0.0, 0.0)
        if not low < high or not found.shares or not found.actions.spaces:
            raise InputError("setting: has no range, no parts or no agents")
        return found

    def merged(self, other: "Setting") -> "Setting":
        """Return the setting of both logs together; names and observed actions are united."""
        free = {*_NAME_LISTS, "action_sets"} - {"shares"}
        ours, theirs = _declared(self), _declared(other)
        for key, value in ours.items():
            if key not in free and value != theirs[key]:
                cure = f"; make both with {said(noise='samples')}" if key == "noise" else ""
                differ = f"{key} is {value!r} here and {theirs[key]!r} there"
                raise InputError(f"these statistics cannot be added: {differ}{cure}")
        declared_agents = _united(self.declared_agents, other.declared_agents)
        declared_coalitions = _united(self.declared_coalitions, other.declared_coalitions)
        agents = _united(self.agents, other.agents, declared_agents)
        coalitions = _united(self.coalitions, other.coalitions, declared_coalitions)
        if self.pool_coalitions:
            coalitions = max(self.coalitions, other.coalitions, key=len)
        merged = replace(
            self,
            agents=agents,
            coalitions=coalitions,
            declared_agents=declared_agents,
            declared_coalitions=declared_coalitions,
        )
        return replace(merged, action_sets=_united_actions(self, other, agents, coalitions))


def _declared(setting: Setting) -> dict[str, Any]:
    """Return a setting on the scale of the tables, and first whether less is better there."""
    told = {"utility_range": setting.told_range, "neutral": setting.told(setting.neutral)}
    return {"lower_is_better": setting.lower_is_better} | asdict(setting) | told


_NAME_LISTS = ("agents", "coalitions", "shares", "declared_agents", "declared_coalitions")


def _united(ours: tuple[str, ...], theirs: tuple[str, ...], first: tuple[str, ...] = ()) -> tuple[str, ...]:
    settled = ours == theirs and ours[: len(first)] == first
    return ours if settled else first + in_order({*ours, *theirs}.difference(first))


def _united_actions(ours: Setting, theirs: Setting, agents: tuple[str, ...], coalitions: tuple[str, ...]) -> Any:
    if not is_observed(ours.action_description):
        if ours.action_sets != theirs.action_sets:
            raise InputError("these statistics cannot be added: the agents' actions differ")
        return ours.action_sets
    if ours.pool_coalitions:
        spaces = [setting.actions.spaces[0] for setting in (ours, theirs)]
        assert all(isinstance(space, UpTo) for space in spaces)
        most = max(space.most for space in spaces if isinstance(space, UpTo))
        return UpTo(len(coalitions), most, any(s.may_stay_out for s in spaces if isinstance(s, UpTo))).to_json(())
    if isinstance(ours.action_sets, Mapping) or isinstance(theirs.action_sets, Mapping):
        own = [_own_sets(setting) for setting in (ours, theirs)]
        return {name: sorted_sets(own[0].get(name, []) + own[1].get(name, []), coalitions) for name in agents}
    return sorted_sets(ours.action_sets + theirs.action_sets, coalitions)


def _own_sets(setting: Setting) -> dict[str, Any]:
    sets = setting.action_sets
    return dict(sets) if isinstance(sets, Mapping) else dict.fromkeys(setting.agents, sets)


def positions(names: tuple[str, ...], among: tuple[str, ...]) -> IntArray:
    """Return where each name is in a longer tuple of names."""
    place = {name: index for index, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.int64)
