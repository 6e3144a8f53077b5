"""What everybody does: pure and mixed joint strategies.

A mixed strategy gives each agent a distribution over her actions; agents draw independently.
It is held as one flat list of (agent, action, probability) rows, so that pure strategies, which
have one row per agent, cost no more than a boolean matrix.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.files import naming, parse_csv, parse_json, read_text
from coterie.game.actions import ActionSpaces, action_of, names_in


@dataclass(frozen=True, eq=False)
class Strategy:
    """A joint strategy over named agents and coalitions.

    Build one with `pure`, `mixed`, `uniform` or `from_json`. Row t says that agent `owner[t]`
    plays the set `sets[t]` with probability `probability[t]`; rows are ordered by agent.
    """

    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    owner: IntArray
    sets: BoolArray
    probability: FloatArray

    @classmethod
    def pure(
        cls, memberships: npt.ArrayLike, agents: Iterable[str] | None = None, coalitions: Iterable[str] | None = None
    ) -> Self:
        """Everybody plays one set: `memberships` is an (n, k) matrix of booleans, or of 0 and 1."""
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
    def mixed(
        cls,
        supports: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
    ) -> Self:
        """Each agent has a pair (sets, probabilities): (m, k) booleans (or 0 and 1), m numbers that sum to 1."""
        named = checks.names(agents, "agents", len(supports))
        blocks, shares = [], []
        for name, (listed, weights) in zip(named, supports, strict=True):
            block = checks.booleans(listed, f"strategy of {name}")
            share = checks.probabilities(weights, f"strategy of {name}")
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
    def uniform(
        cls, spaces: ActionSpaces, agents: Iterable[str] | None = None, coalitions: Iterable[str] | None = None
    ) -> Self:
        """Everybody is uniform over her actions, which must be few enough to list."""
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

    def sample(self, rng: np.random.Generator, count: int) -> BoolArray:
        """Draw `count` joint actions, shape (count, n, k)."""
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
            if not isinstance(chosen, Sequence) or isinstance(chosen, str):
                raise InputError(f"strategy of {agent}: expected a list, got {checks.shown(chosen)}")
            listed = bool(chosen) and isinstance(chosen[0], Mapping)
            options: list[Any] = list(chosen) if listed else [{"coalitions": chosen, "probability": 1}]
            for option in options:
                if not isinstance(option, Mapping) or not {"coalitions", "probability"} <= set(option):
                    found = checks.shown(option)
                    raise InputError(f'strategy of {agent}: expected {{"coalitions", "probability"}}, got {found}')
            rows = [action_of(option["coalitions"], coalitions, f"strategy of {agent}") for option in options]
            shares = [checks.number(option["probability"], f"strategy of {agent}: probability") for option in options]
            return np.array(rows), np.array(shares)

        return cls.mixed([support(agent) for agent in agents], agents, coalitions)

    def __repr__(self) -> str:
        kind = "pure" if self.is_pure else "mixed"
        return f"Strategy({kind}, {self.n_agents} agents, {self.n_coalitions} coalitions)"


def read_strategy(path: Path, agents: Sequence[str], coalitions: Sequence[str]) -> Strategy:
    """Read a result file, its `strategy` part, or a CSV table `agent,coalition`.

    In a CSV an agent who joins nothing has one row with an empty coalition.
    """
    content = read_strategy_content(path)
    with naming(path):
        return Strategy.from_json(content, agents, coalitions)


def read_strategy_content(path: Path) -> Any:
    """Return what a strategy file holds: the value of JSON, {"actions": ...} for a CSV table.

    The content decides, since a pipe has no name to go by.
    """
    text = read_text(path)
    with naming(path):
        if path.suffix.lower() == ".json" or text.lstrip().startswith(("{", "[")):
            return parse_json(text)
        return {"actions": _actions_of_table(text)}


def _actions_of_table(text: str) -> dict[str, list[str]]:
    actions: dict[str, list[str]] = {}
    for number, (agent, coalition) in parse_csv(text, ("agent", "coalition")):
        where = f"row {number} below the header"
        if not agent:
            raise InputError(f"{where}: the agent is empty")
        if agent not in actions:
            actions[agent] = [coalition] if coalition else []
        elif coalition in actions[agent] or not (coalition or actions[agent]):
            raise InputError(f"{where}: the same as an earlier row ({agent},{coalition})")
        elif not (coalition and actions[agent]):
            raise InputError(f"{where}: {agent} both joins a coalition and, with an empty one, stays out")
        else:
            actions[agent].append(coalition)
    if not actions:
        raise InputError("expected at least one row below the header")
    return actions
