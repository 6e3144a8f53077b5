"""Games as tables of payoffs, to and from other programs for games.

In normal form, agent i has m_i actions and a payoff u_i(a) for every joint action a. Any game of coalitions with few
joint actions has one. And every normal form is one of coalitions: take a coalition for every joint action, let action b
of agent i be the set of all coalitions a with a_i = b, and let a coalition be worth u_i(a) / (n - 1) per partner if all
n agents are in it, else nothing. Whatever agents do, exactly one coalition has all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, mixed_radix
from coterie.errors import CoterieError, InputError
from coterie.game.actions import ActionSpaces, ExplicitSets, names_in, refuse_too_many
from coterie.game.game import Game
from coterie.game.strategy import Strategy, StrategyLike, as_strategy


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A game as a table of payoffs; make one with `Game.to_normal_form`."""

    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    actions: tuple[BoolArray, ...]
    """The sets that each agent may choose, (m_i, k) each, in the order of the payoffs."""
    payoffs: tuple[FloatArray, ...]
    """What each agent gets, shape (m_1, ..., m_n) each."""

    @classmethod
    def of(cls, game: Game) -> "NormalForm":
        """Return the table of a game; refuses with `TooLargeError` where there are too many joint actions."""
        refuse_too_many(game.actions.size, "joint actions")
        listed = tuple(space.enumerate() for space in game.actions.spaces)
        blocks = (
            np.where(block, game.utilities.pure_room_values(block), 0.0) for block in game.actions.joint_actions()
        )
        values = np.concatenate([block.sum(axis=2) for block in blocks])
        shape = tuple(len(sets) for sets in listed)
        return cls(game.agents, game.coalitions, listed, tuple(own.reshape(shape) for own in values.T.copy()))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of actions of each agent."""
        return tuple(len(sets) for sets in self.actions)

    @property
    def action_names(self) -> tuple[tuple[str, ...], ...]:
        """The actions of each agent in words: their coalitions, or "nothing"."""
        return tuple(
            tuple(" + ".join(names_in(row, self.coalitions)) or "nothing" for row in sets) for sets in self.actions
        )

    def strategy(self, choices: Sequence[Any]) -> Strategy:
        """Return the strategy that other programs describe by one entry for each agent, in this order.

        An entry is the number of an action, or a list of the probabilities of all of them.
        """
        if isinstance(choices, str) or not isinstance(choices, Iterable) or len(list(choices)) != len(self.agents):
            raise InputError(f"choices: expected {len(self.agents)} entries, one for each agent")
        supports = []
        for agent, sets, choice in zip(self.agents, self.actions, choices, strict=True):
            if np.ndim(choice) == 0:
                place = checks.whole(choice, f"action of {agent}", 0)
                if place >= len(sets):
                    raise InputError(f"action of {agent}: expected a number up to {len(sets) - 1}, got {place}")
                supports.append((sets[[place]], np.ones(1)))
                continue
            shares = checks.finite(choice, f"strategy of {agent}")
            if len(shares) != len(sets):
                raise InputError(f"strategy of {agent}: expected {len(sets)} probabilities, got {len(shares)}")
            supports.append((sets, np.where(np.abs(shares) < 1e-12, 0.0, shares)))  # rounding of other programs
        return Strategy.mixed(supports, self.agents, self.coalitions)

    def probabilities(self, strategy: StrategyLike) -> tuple[FloatArray, ...]:
        """Return the probability of every action of each agent, as other programs have strategies."""
        strategy = as_strategy(strategy, self.agents, self.coalitions)
        found = tuple(np.zeros(len(sets)) for sets in self.actions)
        places = [{row.tobytes(): place for place, row in enumerate(sets)} for sets in self.actions]
        for i, row, share in zip(strategy.owner.tolist(), strategy.sets, strategy.probability, strict=True):
            place = places[i].get(row.tobytes())
            if place is None:
                raise InputError(f"strategy: {self.agents[i]} plays a set that is not among their actions")
            found[i][place] += share
        return found

    def to_quantecon(self) -> Any:
        """Return a `quantecon.game_theory.NormalFormGame`."""
        theory = _imported("quantecon.game_theory", "quantecon")
        n = len(self.agents)
        # A player's own actions come first there, then those of the next ones, around the table.
        return theory.NormalFormGame(
            [theory.Player(np.ascontiguousarray(np.moveaxis(own, range(i), range(n - i, n)))) for i, own in
             enumerate(self.payoffs)]
        )  # fmt: skip

    def to_gambit(self) -> Any:
        """Return a `pygambit.Game`, with the names of agents and actions as far as it can hold them."""
        gambit = _imported("pygambit", "pygambit")
        game = gambit.Game.from_arrays(*self.payoffs, title="coterie")
        players = list(game.players)
        _label(players, self.agents)
        for player, names in zip(players, self.action_names, strict=True):
            _label(list(player.strategies), names)
        return game

    def to_nashpy(self) -> Any:
        """Return a `nashpy.Game`; there are two players in those."""
        if len(self.agents) != 2:
            raise InputError(f"nashpy has games of two players, this one has {len(self.agents)}")
        return _imported("nashpy", "nashpy").Game(*self.payoffs)


def from_normal_form(payoffs: Any, agents: checks.Names = None) -> Game:
    """Return the game of coalitions that a normal form is.

    Parameters
    ----------
    payoffs
        For each agent an array (m_1, ..., m_n) of what they get, or a game of `quantecon` or `nashpy`, or a
        `NormalForm`. (A `pygambit.Game` gives such arrays by its `to_arrays`.)
    agents
        Names, "1", "2", ... by default.
    """
    if isinstance(payoffs, NormalForm):
        agents = payoffs.agents if agents is None else agents
    tables = _tables(payoffs)
    shape = tables[0].shape
    n, k = len(tables), int(np.prod(shape))
    if n < 2:
        raise InputError("payoffs: expected at least two agents; utilities come from partners")
    for table in tables:
        if table.shape != shape or table.ndim != n or not table.size:
            raise InputError(f"payoffs: expected {n} arrays with one axis for each agent, got shape {table.shape}")
    refuse_too_many(k * n * n, "utilities of pairs in coalitions, one for each joint action,")
    joint = mixed_radix(np.arange(k), list(shape))
    spaces = ActionSpaces(tuple(ExplicitSets(joint[:, i] == np.arange(shape[i])[:, None]) for i in range(n)))
    own = np.stack([table.ravel() for table in tables], axis=1) / (n - 1)  # (k, n)
    means = own[:, :, None] * ~np.eye(n, dtype=bool)
    names = [",".join(str(action + 1) for action in row) for row in joint.tolist()]
    only_all = np.concatenate([np.zeros(n), np.ones(1)])
    sizes: dict[str, Any] = {} if n == 2 else {"size_scale": only_all}
    return Game(means, spaces, symmetric=None, agents=agents, coalitions=names, **sizes)


def _tables(payoffs: Any) -> list[FloatArray]:
    if isinstance(payoffs, NormalForm):
        return list(payoffs.payoffs)
    if hasattr(payoffs, "payoff_matrices"):  # nashpy
        return [checks.finite(table, "payoffs") for table in payoffs.payoff_matrices]
    if hasattr(payoffs, "players") and hasattr(payoffs, "payoff_arrays"):  # quantecon
        n = payoffs.N
        return [checks.finite(np.moveaxis(own, range(n - i, n), range(i)), "payoffs")
                for i, own in enumerate(payoffs.payoff_arrays)]  # fmt: skip
    if hasattr(payoffs, "to_arrays"):  # pygambit
        return [np.asarray(table, dtype=np.float64) for table in payoffs.to_arrays(dtype=float)]
    if isinstance(payoffs, (str, bytes)) or not isinstance(payoffs, Iterable):
        raise InputError(f"payoffs: expected an array for each agent, got {checks.shown(payoffs)}")
    found = [checks.finite(table, "payoffs") for table in payoffs]
    if not found:
        raise InputError("payoffs: expected an array for each agent")
    return found


def _label(things: Sequence[Any], names: Sequence[str]) -> None:
    """Name players or strategies of Gambit: in printable ASCII, and never two alike, not even for a moment."""
    plain = [" ".join(name.encode("ascii", "backslashreplace").decode().split()) or "?" for name in names]
    told = [name if plain.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(plain, start=1)]
    for final in (False, True):
        for place, (thing, name) in enumerate(zip(things, told, strict=True), start=1):
            thing.label = name if final else f"coterie {place} of {len(told)}"


def _imported(module: str, package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise CoterieError(f"this needs {package}; install it with: pip install {package}") from None
