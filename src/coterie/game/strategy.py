"""What everybody does: pure and mixed joint strategies.

A mixed strategy gives each agent a distribution over her actions; agents draw independently.
It is held as one flat list of (agent, action, probability) rows, so that pure strategies, which
have one row per agent, cost no more than a boolean matrix.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.files import naming, parse_json, read_text
from coterie.game.actions import ActionSpaces, action_of, as_names, names_in
from coterie.game.labels import aligned, labels_of
from coterie.game.tables import (
    Called,
    SmallTable,
    is_spreadsheet,
    read_table,
    text_table,
)
from coterie.words import counted, data_frame, html_table

SHOWN_COALITIONS, SHOWN_MEMBERS, SHOWN_WIDTH = 12, 8, 100
"""How much of a strategy its repr shows: so many coalitions, so many members of each, lines of so many characters."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """A joint strategy over named agents and coalitions.

    Build one with `pure`, `from_members`, `mixed`, `uniform` or `from_json`. Row t says that agent `owner[t]`
    plays the set `sets[t]` with probability `probability[t]`; rows are ordered by agent. Two strategies
    are equal if they have the same agents and coalitions and the same distributions, whatever the order of rows.
    """

    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    owner: IntArray
    sets: BoolArray
    probability: FloatArray

    @classmethod
    def pure(cls, memberships: npt.ArrayLike, agents: checks.Names = None, coalitions: checks.Names = None) -> Self:
        """Return the strategy in which everybody plays one set.

        Parameters
        ----------
        memberships
            An (n, k) matrix of booleans, or of 0 and 1; of a data frame the names are heeded.
        agents, coalitions
            Names, or how many there are; by default those of the data frame, else "1", "2", ...
        """
        labels = labels_of(memberships)
        if labels is not None and len(labels) == 2:
            agents, coalitions = (
                own if own is not None and (given is None or isinstance(given, int)) else given
                for own, given in zip(labels, (agents, coalitions), strict=True)
            )
            axes = [("agents", agents), ("coalitions", coalitions)]
            # A side without names needs no order.
            wanted = [
                (kind, () if own is None else checks.names(given, kind))
                for own, (kind, given) in zip(labels, axes, strict=True)
            ]
            memberships = aligned(memberships, wanted, "memberships")
        sets = checks.booleans(memberships, "memberships")
        if sets.ndim != 2:
            raise InputError(f"memberships: expected one row per agent, got shape {sets.shape}")
        n, k = sets.shape
        return cls(
            checks.names(agents, "agents", n),
            checks.names(coalitions, "coalitions", k),
            np.arange(n),
            sets,
            np.ones(n),
        )

    @classmethod
    def from_members(
        cls,
        members: Mapping[str, Iterable[str]] | Iterable[Iterable[str]],
        agents: checks.Names = None,
        coalitions: checks.Names = None,
    ) -> Self:
        """Return the strategy in which coalitions have these members.

        Parameters
        ----------
        members
            Coalition -> its members; or the groups alone, which are then the first coalitions. Agents who are in none
            join nothing, and coalitions that are not listed have no members.
        agents, coalitions
            Names, or how many there are; by default those that `members` has, in its order.
        """
        if isinstance(members, (str, bytes)) or not isinstance(members, Iterable):
            raise InputError(f"members: expected coalition -> list of agents, got {checks.shown(members)}")
        groups = list(members.values()) if isinstance(members, Mapping) else list(members)
        for group in groups:
            if isinstance(group, (str, bytes, Mapping)) or not isinstance(group, Iterable):
                raise InputError(f"members: expected a list of agents, got {checks.shown(group)}")
        listed = [list(group) for group in groups]
        if agents is None:
            agents = list(dict.fromkeys(str(agent) for group in listed for agent in group))
        names = checks.names(agents, "agents")
        if not names:
            raise InputError("members: there are no agents")
        if isinstance(members, Mapping):
            rooms = checks.names(list(members) if coalitions is None else coalitions, "coalitions")
            places = [checks.index_of(name, rooms, "coalition in members") for name in members]
        else:
            rooms = checks.names(len(listed) if coalitions is None else coalitions, "coalitions")
            places = list(range(len(listed)))
            if len(listed) > len(rooms):
                raise InputError(f"members: there are {len(listed)} groups and only {len(rooms)} coalitions")
        sets = np.zeros((len(names), len(rooms)), dtype=bool)
        for place, group in zip(places, listed, strict=True):
            for agent in group:
                sets[checks.index_of(agent, names, "agent in members"), place] = True
        return cls.pure(sets, names, rooms)

    @classmethod
    def mixed(
        cls,
        supports: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        agents: checks.Names = None,
        coalitions: checks.Names = None,
    ) -> Self:
        """Return the strategy in which everybody draws one of her sets, independently of the others.

        Parameters
        ----------
        supports
            For each agent a pair (sets, probabilities): (m, k) booleans (or 0 and 1), m numbers that sum to 1.
        agents, coalitions
            Names, or how many there are; "1", "2", ... by default.
        """
        return cls._mixed(supports, agents, coalitions)

    @classmethod
    def _mixed(
        cls,
        supports: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        agents: checks.Names,
        coalitions: checks.Names,
        kept_within: float = 0.0,
    ) -> Self:
        if not _are_pairs(supports):
            raise InputError(
                f"strategy: expected a pair (sets, probabilities) for every agent, got {checks.shown(supports)}"
            )
        named = checks.names(agents, "agents", len(supports))
        blocks, shares = [], []
        for name, (listed, weights) in zip(named, supports, strict=True):
            block = checks.booleans(listed, f"strategy of {name}")
            share = checks.probabilities(weights, f"strategy of {name}", kept_within)
            if block.ndim != 2 or len(block) != len(share):
                raise InputError(f"strategy of {name}: expected one probability per action")
            if len(np.unique(block, axis=0)) != len(block):
                raise InputError(f"strategy of {name}: the same action is listed twice")
            kept = share > 0
            blocks.append(block[kept])
            shares.append(share[kept])
        if len({block.shape[1] for block in blocks}) != 1:
            raise InputError("strategy: the agents' actions differ in the number of coalitions")
        return cls(
            named,
            checks.names(coalitions, "coalitions", blocks[0].shape[1]),
            np.repeat(np.arange(len(blocks)), [len(block) for block in blocks]),
            np.concatenate(blocks),
            np.concatenate(shares),
        )

    @classmethod
    def uniform(cls, spaces: ActionSpaces, agents: checks.Names = None, coalitions: checks.Names = None) -> Self:
        """Return the strategy in which everybody is uniform over their actions, which must be few enough to list."""
        if not isinstance(spaces, ActionSpaces):
            raise InputError(f"actions: expected ActionSpaces, got {checks.shown(spaces)}")
        listed = [(sets := space.enumerate(), np.full(len(sets), 1 / len(sets))) for space in spaces.spaces]
        return cls.mixed(listed, agents, coalitions)

    @property
    def n_agents(self) -> int:
        """The number of agents."""
        return len(self.agents)

    @property
    def n_coalitions(self) -> int:
        """The number of coalitions."""
        return len(self.coalitions)

    @property
    def is_pure(self) -> bool:
        """Whether everybody plays one set for sure."""
        return len(self.owner) == self.n_agents

    @cached_property
    def marginals(self) -> FloatArray:
        """p_i(l) = Pr[l in a_i], shape (n, k). All utilities depend on the strategy through these."""
        if self.is_pure:
            return self.sets.astype(np.float64)
        p = np.zeros((self.n_agents, self.n_coalitions))
        np.add.at(p, self.owner, self.probability[:, None] * self.sets)
        return np.minimum(p, 1.0)

    @cached_property
    def joint_marginals(self) -> FloatArray:
        """Pr[l and l' in a_i], shape (n, k, k)."""
        p = np.zeros((self.n_agents, self.n_coalitions, self.n_coalitions))
        sets = self.sets.astype(np.float64)
        np.add.at(p, self.owner, self.probability[:, None, None] * sets[:, :, None] * sets[:, None, :])
        return p

    def members(self) -> dict[str, list[str]]:
        """Return coalition -> its members; only a pure strategy has them."""
        if not self.is_pure:
            raise InputError("a mixed strategy has no fixed members; see marginals")
        return {name: names_in(self.sets[:, l], self.agents) for l, name in enumerate(self.coalitions)}

    def partition(self) -> tuple[tuple[str, ...], ...]:
        """Return the members of all coalitions that have any, whatever their names: equal where teams are the same.

        They come in the order of their first members; somebody who joins nothing is in none.
        """
        groups = {tuple(names) for names in self.members().values() if names}
        place = {agent: index for index, agent in enumerate(self.agents)}
        return tuple(sorted(groups, key=lambda group: [place[agent] for agent in group]))

    @property
    def actions(self) -> dict[str, Any]:
        """Agent -> her coalitions (pure), or her list of {"coalitions", "probability"} (mixed)."""
        rows = [names_in(row, self.coalitions) for row in self.sets]
        if self.is_pure:
            return dict(zip(self.agents, rows, strict=True))
        result: dict[str, Any] = {agent: [] for agent in self.agents}
        for i, chosen, share in zip(self.owner, rows, self.probability, strict=True):
            result[self.agents[i]].append({"coalitions": chosen, "probability": float(share)})
        return result

    def sample(self, seed: checks.Seed, count: int) -> BoolArray:
        """Draw `count` joint actions, shape (count, n, k)."""
        rng, count = checks.generator(seed, "seed"), checks.whole(count, "count", 0)
        drawn = np.empty((count, self.n_agents, self.n_coalitions), dtype=bool)
        for i in range(self.n_agents):
            rows = np.flatnonzero(self.owner == i)
            drawn[:, i] = self.sets[rng.choice(rows, size=count, p=self.probability[rows])]
        return drawn

    def replace(self, agent: str, action: Iterable[str]) -> "Strategy":
        """Return the strategy in which `agent` plays the set `action` for sure, the others as before."""
        i = checks.index_of(agent, self.agents, "agent")
        row = action_of(action, self.coalitions, "action")[None]
        before, after = self.owner < i, self.owner > i
        return Strategy(
            self.agents,
            self.coalitions,
            np.concatenate([self.owner[before], [i], self.owner[after]]),
            np.concatenate([self.sets[before], row, self.sets[after]]),
            np.concatenate([self.probability[before], [1.0], self.probability[after]]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the `strategy` part of a result file."""
        return {"kind": "pure" if self.is_pure else "mixed", "actions": self.actions}

    @classmethod
    def from_json(cls, data: Any, agents: Sequence[str], coalitions: Sequence[str]) -> Self:
        """Read a result file's content or its `strategy` part; every agent must have an action."""
        agents, coalitions = as_names(agents, "agents"), as_names(coalitions, "coalitions")
        if isinstance(data, Mapping) and isinstance(data.get("strategy"), Mapping):
            data = data["strategy"]
        if not isinstance(data, Mapping) or not isinstance(data.get("actions"), Mapping):
            raise InputError('strategy: expected an object with "actions": {agent: [coalition, ...]}')
        actions = data["actions"]
        for agent in actions:
            checks.index_of(agent, agents, "agent in strategy")
        missing = [agent for agent in agents if agent not in actions]
        if missing:
            raise InputError(f"strategy: agent {missing[0]!r} has no action")

        def support(agent: str) -> tuple[BoolArray, FloatArray]:
            chosen = actions[agent]
            if not isinstance(chosen, (Sequence, AbstractSet)) or isinstance(chosen, str):
                raise InputError(f"strategy of {agent}: expected a list, got {checks.shown(chosen)}")
            options: list[Any] = list(chosen)
            if not options or not isinstance(options[0], Mapping):
                options = [{"coalitions": chosen, "probability": 1}]
            for option in options:
                if not isinstance(option, Mapping) or not {"coalitions", "probability"} <= set(option):
                    found = checks.shown(option)
                    raise InputError(f'strategy of {agent}: expected {{"coalitions", "probability"}}, got {found}')
            rows = [action_of(option["coalitions"], coalitions, f"strategy of {agent}", "team") for option in options]
            shares = [checks.number(option["probability"], f"strategy of {agent}: probability") for option in options]
            return np.array(rows), np.array(shares)

        # What was written by a computer is read as it was, to the last digit.
        return cls._mixed([support(agent) for agent in agents], agents, coalitions, kept_within=1e-12)

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        """What equal strategies share: names, and who does what, in an order that does not depend on how they came."""
        order = sorted(range(self.n_coalitions), key=self.coalitions.__getitem__)
        owners, sets = (self.agents[i] for i in self.owner), (row.tobytes() for row in self.sets[:, order])
        rows = sorted(zip(owners, sets, self.probability.tolist(), strict=True))
        return frozenset(self.agents), frozenset(self.coalitions), tuple(rows)

    def __eq__(self, other: object) -> bool:
        return self._content == other._content if isinstance(other, Strategy) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        kind = "pure" if self.is_pure else "mixed"
        lines = [f"Strategy({kind}, {self.n_agents} agents, {self.n_coalitions} coalitions)"]
        taken = np.flatnonzero(self.marginals.any(axis=0)).tolist()
        lines += [f"  {self.coalitions[l]}: {self._shown(self.marginals[:, l])}" for l in taken[:SHOWN_COALITIONS]]
        if len(taken) > SHOWN_COALITIONS:
            lines.append(f"  ... ({len(taken)} coalitions with members)")
        alone = np.zeros(self.n_agents)
        np.add.at(alone, self.owner, self.probability * ~self.sets.any(axis=1))
        if alone.any():
            lines.append(f"  no coalition: {self._shown(alone)}")
        return "\n".join(line if len(line) <= SHOWN_WIDTH else f"{line[: SHOWN_WIDTH - 3]}..." for line in lines)

    def _repr_html_(self) -> str:
        """Return the teams as a table, for notebooks."""
        return html_table([("coalition", "members"), *((name, self._shown(self.marginals[:, l]))
                                                       for l, name in enumerate(self.coalitions))])  # fmt: skip

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for every place: agent, coalition and how probable it is."""
        places = zip(*(index.tolist() for index in np.nonzero(self.marginals)), strict=True)
        rows = [(self.agents[i], self.coalitions[l], float(self.marginals[i, l])) for i, l in places]
        return data_frame([("agent", "coalition", "probability"), *rows])

    def _shown(self, shares: FloatArray) -> str:
        """Return the names of those with positive shares, and the shares that are not 1."""
        there = np.flatnonzero(shares).tolist()
        named = [self.agents[i] if shares[i] == 1 else f"{self.agents[i]} {shares[i]:.2g}" for i in there]
        return ", ".join(named[:SHOWN_MEMBERS]) + (f", ... ({len(there)})" if len(there) > SHOWN_MEMBERS else "")


def _are_pairs(supports: Any) -> bool:
    listed = supports if isinstance(supports, (list, tuple)) else [None]
    return all(isinstance(one, (list, tuple)) and len(one) == 2 for one in listed)


StrategyLike = Strategy | Mapping[str, Any] | npt.ArrayLike | str | os.PathLike[str]
"""What stands for a strategy wherever one is taken."""


def as_strategy(
    value: Any,
    agents: Sequence[str],
    coalitions: Sequence[str],
    whose: str = "the game's",
    called: Called | None = None,
) -> Strategy:
    """Return the strategy that a value stands for, over the given agents and coalitions.

    Parameters
    ----------
    value
        A `Strategy`; a dictionary agent -> coalitions, or the content of a result file; an (n, k) matrix of
        booleans or of 0 and 1; the path of a JSON or CSV file, see `read_strategy`; or a result, which has a strategy.
    agents, coalitions
        The names that it must have, in this order.
    whose
        Whose names these are, for the refusal.
    called
        What a log calls the columns of its tables: a table may do the same.
    """
    agents, coalitions = as_names(agents, "agents"), as_names(coalitions, "coalitions")
    if isinstance(found := getattr(value, "strategy", None), Strategy):
        value = found
    if isinstance(value, Strategy):
        if (value.agents, value.coalitions) != (agents, coalitions):
            raise InputError(f"the strategy's agents and coalitions are not {whose}, or not in its order")
        return value
    if isinstance(value, (str, os.PathLike)):
        return read_strategy(value, agents, coalitions, called)
    if isinstance(value, Mapping):
        is_content = any(isinstance(value.get(key), Mapping) and key not in agents for key in ("strategy", "actions"))
        return Strategy.from_json(value if is_content else {"actions": value}, agents, coalitions)
    try:
        matrix = np.asarray(aligned(value, [("agents", agents), ("coalitions", coalitions)], "strategy"))
    except InputError:
        raise
    except ValueError:  # rows of different lengths
        matrix = np.asarray(None)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            "strategy: expected a Strategy, a dictionary agent -> list of coalitions, a matrix of 0 and 1, or the path "
            f"of a CSV or JSON file, got {checks.shown(value)}"
        )
    if matrix.shape != (len(agents), len(coalitions)):
        raise InputError(
            f"strategy: expected a matrix with {len(agents)} rows (agents) and {len(coalitions)} columns (coalitions), "
            f"got shape {matrix.shape}"
        )
    return Strategy.pure(matrix, agents, coalitions)


def read_strategy(
    path: str | os.PathLike[str], agents: Sequence[str], coalitions: Sequence[str], called: Called | None = None
) -> Strategy:
    """Read a result file, its `strategy` part, or a table (CSV or a spreadsheet) of who is in which coalition.

    In a table an agent who joins nothing has one row with an empty coalition. Its columns may be called as in a log:
    `called` is `log.called`.
    """
    agents = as_names(agents, "agents")
    content = read_strategy_content(path, called, agents)
    with naming(checks.path(path, "strategy")):
        return Strategy.from_json(content, agents, coalitions)


def read_strategy_content(
    path: str | os.PathLike[str], called: Called | None = None, known: Collection[str] = ()
) -> Any:
    """Return what a strategy file holds: the value of JSON, {"actions": ...} for a table.

    Its columns may have the words of `WORDS`, or those of a log: `called`. A cell that splits into names which are
    `known` lists the members of a team.

    The content decides, since a pipe has no name to go by; spreadsheets are known by theirs.
    """
    path, roles = checks.path(path, "strategy"), ("agent", "coalition")
    if is_spreadsheet(path):
        table = read_table(path, roles, "strategy", called)
        with naming(table.where):
            return {"actions": _actions_of_table(table, known)}
    is_json = path.suffix.lower() == ".json"
    text = read_text(path, windows=not is_json)
    with naming(path):
        if is_json or text.lstrip().startswith(("{", "[")):
            return parse_json(text)
        return {"actions": _actions_of_table(text_table(text, roles, called), known)}


def _actions_of_table(table: SmallTable, known: Collection[str]) -> dict[str, list[str]]:
    """Return who is where: a row for each place of a person, or for each team, if its members are in one cell."""
    if "probability" in (name.strip().casefold() for name in table.header):
        raise InputError("holds a mixed strategy, whose probabilities are in its result file: give that, a .json file")
    columns = table.places(("agent", "coalition"))
    actions: dict[str, list[str]] = {}
    problems, again = [], 0
    people = table.people(columns["agent"], known)
    for number, row, agent in people:
        coalition = row[columns["coalition"]]
        if not agent:
            problems.append(f"row {number}: the agent is empty")
        elif agent not in actions:
            actions[agent] = [coalition] if coalition else []
        elif coalition in actions[agent] or not (coalition or actions[agent]):
            again += 1
            problems.append(f"row {number}: the same as an earlier row ({agent},{coalition})")
        elif not (coalition and actions[agent]):
            problems.append(f"row {number}: {agent} both joins a coalition and, with an empty one, stays out")
        else:
            actions[agent].append(coalition)
    when = table.column_of_samples()
    # Everybody comes again and again, in the same teams or in several rounds.
    if again > len(actions) or (len(table.samples()) > 1 and len(people) >= 2 * len(actions) > 0):
        raise InputError(
            f"seems to be the record of many rounds ({counted(len(actions), 'person', 'people')}, named "
            f"{len(people):,} times): expected who is where now, one row for each person; keep the rows of the last "
            f"{'round' if when is None else table.header[when]} alone"
        )
    checks.refuse_all(problems)
    if not actions:
        raise InputError("expected at least one row below the header")
    return actions
