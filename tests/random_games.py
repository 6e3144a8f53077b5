"""Hypothesis strategies for small random games of every kind, with their full table of means."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from coterie import ActionSpaces, Game, Strategy, UpTo
from coterie.game.actions import ExplicitSets

STORES = ("dense", "sparse", "shared", "shared-sparse")
SIZES = ("free", "scaled", "shifted", "anonymous", "table")


@dataclass(frozen=True)
class Drawn:
    """A game, its means as table[l, i, j, s], a strategy, and how it was made."""

    game: Game
    table: Any
    strategy: Strategy
    store: str
    sizes: str
    symmetric: bool


def random_space(rng, k):
    kind = rng.integers(3)
    stay_out = bool(rng.integers(2))
    if kind == 0:
        return UpTo(k, int(rng.integers(1, k + 1)), stay_out)
    every = UpTo(k, k, stay_out).enumerate()
    count = rng.integers(1, len(every) + 1)
    return ExplicitSets(rng.permutation(every)[:count])


def random_strategy(rng, spaces, *, pure):
    supports = []
    for space in spaces.spaces:
        every = rng.permutation(space.enumerate())
        count = 1 if pure else min(len(every), int(rng.integers(1, 4)))
        supports.append((every[:count], rng.dirichlet(np.ones(count))))
    return Strategy.mixed(supports)


def random_means(rng, k, n, *, symmetric):
    # Round numbers, so that ties and zeros occur.
    means = np.round(rng.uniform(-1, 1, (k, n, n)), 1)
    if symmetric:
        means = np.triu(means, 1) + np.swapaxes(np.triu(means, 1), 1, 2)
    means[:, np.arange(n), np.arange(n)] = 0.0
    return means


@st.composite
def drawn_games(draw, stores=STORES, sizes=SIZES, symmetric=(True, False), max_agents=4, max_coalitions=3):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(1, max_agents)), draw(st.integers(1, max_coalitions))
    store, size, is_symmetric = (draw(st.sampled_from(options)) for options in (stores, sizes, symmetric))
    shared_space = random_space(rng, k)
    spaces = (
        ActionSpaces.shared(shared_space, n)
        if draw(st.booleans())
        else ActionSpaces(tuple(random_space(rng, k) for _ in range(n)))
    )
    means = random_means(rng, 1 if store.startswith("shared") else k, n, symmetric=is_symmetric)
    if size == "anonymous":
        means = np.repeat(np.round(rng.uniform(-1, 1, (len(means), 1, 1)), 1), n, axis=1).repeat(n, axis=2)
        means *= ~np.eye(n, dtype=bool)
    scale, shift = np.ones((k, n + 1)), np.zeros((k, n + 1))
    if size in {"scaled", "anonymous", "table"}:
        scale = np.round(rng.uniform(-1, 2, (k, n + 1)), 1)
    if size in {"shifted", "anonymous", "table"}:
        shift = np.round(rng.uniform(-1, 1, (k, n + 1)), 1)
    table = scale[:, None, None, :] * np.broadcast_to(means, (k, n, n))[..., None] + shift[:, None, None, :]
    table[:, np.arange(n), np.arange(n)] = 0.0
    if size == "table":
        noise = random_means(rng, k * (n + 1), n, symmetric=is_symmetric).reshape(k, n + 1, n, n)
        table += np.moveaxis(noise, 1, -1)
        game = Game(actions=spaces, size_table=table, symmetric=is_symmetric)
    else:
        stored: Any = means
        if store == "shared":
            stored = means[0]
        elif store == "sparse":
            stored = [csr_array(matrix) for matrix in means]
        elif store == "shared-sparse":
            stored = csr_array(means[0])
        by_size = {} if size == "free" else {"size_scale": scale, "size_shift": shift}
        game = Game(stored, spaces, coalitions=k, symmetric=is_symmetric, **by_size)
    return Drawn(game, table, random_strategy(rng, spaces, pure=draw(st.booleans())), store, size, is_symmetric)
