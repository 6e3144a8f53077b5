"""The classics of hedonic games: everybody is in one coalition and cares about who else is in it.

A hedonic game is about partitions: there are as many coalitions as agents, they are interchangeable, everybody is in
one of them, and being alone is worth 0. With v_ij what agent i has of agent j, C the coalition of agent i and s its
size:

    additively separable         u_i = sum over j in C of v_ij
    fractional                   u_i = that divided by s
    modified fractional          u_i = that divided by s - 1, the average over the others
    appreciation of friends      additively separable, a friend is worth n, anybody else -1
    aversion to enemies          additively separable, a friend is worth 1, anybody else -n

Bogomolnaia and Jackson (2002); Aziz, Brandl, Brandt, Harrenstein, Olsen and Peters (2019); Olsen (2012); Dimitrov,
Borm, Hendrickx and Sung (2006).
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.errors import InputError
from coterie.game.game import Game
from coterie.game.labels import named_means

DividedBy = Literal["size", "others"]
"""Whether a fractional game divides by the size of the coalition or by the number of the others in it."""

Attitude = Literal["appreciation", "aversion"]
"""What counts first: to be with many friends, or with few enemies."""


def additively_separable(values: Any, agents: checks.Names = None) -> Game:
    """Return the game in which a coalition is worth the sum of what its other members are worth.

    Parameters
    ----------
    values
        v_ij in row i and column j: a matrix (n, n) with 0 on its diagonal, or a data frame, whose names are heeded. It
        need not be symmetric.
    agents
        Names; by default those of the data frame, else "1", "2", ...
    """
    return _hedonic(values, agents)


def fractional(values: Any, agents: checks.Names = None, *, divided_by: DividedBy = "size") -> Game:
    """Return the game in which a coalition is worth an average of what its other members are worth.

    Parameters
    ----------
    values, agents
        As for `additively_separable`.
    divided_by
        "size": the sum is divided by the size of the coalition, as if everybody valued themselves at 0. "others": by
        the number of the others, which is called the modified fractional game.
    """
    if checks.one_of(divided_by, DividedBy, "divided_by") == "others":
        return _hedonic(values, agents, value="average")
    array, names, _ = named_means(values, agents, None)
    return _hedonic(array, names, size_scale=np.concatenate([[1.0], 1 / np.arange(1, _side(array) + 1)]))


def friends_and_enemies(friends: Any, agents: checks.Names = None, *, attitude: Attitude = "appreciation") -> Game:
    """Return the game in which everybody has friends, and all others are enemies.

    Parameters
    ----------
    friends
        A matrix (n, n) of 0 and 1, or a data frame of them: 1 where j is a friend of i; or a dictionary agent -> their
        friends, in which everybody has an entry. Friendship need not be mutual.
    agents
        Names; by default those that `friends` has, else "1", "2", ...
    attitude
        "appreciation" of friends: more friends are better, and with as many, fewer enemies are. "aversion" to enemies:
        fewer enemies are better, and with as many, more friends are.
    """
    checks.one_of(attitude, Attitude, "attitude")
    if isinstance(friends, Mapping):
        agents = checks.names(list(friends) if agents is None else agents, "agents")
        missing = [name for name in agents if name not in friends]
        if missing:
            raise InputError(f"friends: {missing[0]!r} has no entry; write [] where somebody has no friends")
        matrix = np.zeros((len(agents), len(agents)), dtype=bool)
        for name, own in friends.items():
            if isinstance(own, (str, Mapping)) or not hasattr(own, "__iter__"):
                raise InputError(f"friends of {name}: expected a list of agents, got {checks.shown(own)}")
            for friend in own:
                row = checks.index_of(name, agents, "agent in friends")
                matrix[row, checks.index_of(friend, agents, f"agent in friends of {name}")] = True
    else:
        array, agents, _ = named_means(friends, agents, None)
        matrix = checks.booleans(array, "friends")
    n = _side(matrix)
    if matrix.diagonal().any():
        raise InputError("friends: nobody is their own friend; the diagonal must be 0")
    liked, other = (n, -1) if attitude == "appreciation" else (1, -n)
    return _hedonic(np.where(matrix, liked, other) * ~np.eye(n, dtype=bool), agents)


def _hedonic(values: Any, agents: checks.Names, **options: Any) -> Game:
    array, names, _ = named_means(values, agents, None)
    return Game(array, "one", symmetric=None, agents=names, coalitions=_side(array), **options)


def _side(values: Any) -> int:
    """Return the number of agents in a matrix of pairs, dense or sparse."""
    try:
        shape = np.shape(values)
    except ValueError:  # rows of different lengths
        shape = ()
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise InputError(f"values: expected a matrix with one row and one column for each agent, got shape {shape}")
    return int(shape[0])
