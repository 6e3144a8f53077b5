"""Better guesses than raw means, for the search only: shrinkage chosen by held-out prediction.

With few data a raw mean is mostly noise, and a pair never seen has none. Both gain from what the
log says about the people and coalitions involved. A guess is

    mean of everything + effects of coalition, agents, agent in coalition, pair + the cell's own rest

where every effect is shrunk towards 0 by how often it was seen (crossed random effects, fitted by
backfitting), optionally with a low-rank part. Which effects and how much shrinkage is decided by
predicting one part of the learning data from another. No certificate ever sees a guess.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.estimate.intervals import Moments

LEVELS = ("mean", "coalition", "agents", "agents in coalitions", "pairs")
"""Which effects a guess uses: each level adds one kind to those before it."""

SHRINKAGE = (1.0, 3.0, 10.0, 30.0, 100.0)
"""How many observations an effect's prior is worth."""

ROUNDS = 15
RANKS = (1, 2)

LOW_RANK_AGENTS = 60
"""Low-rank guesses, whose cost grows with the cube of the agents, are made for up to so many."""

MANY_CELLS = 10_000
"""Above so many unknowns fewer shrinkages are tried, in fewer rounds."""


@dataclass(frozen=True)
class Guess:
    """Guessed means of all unknowns, in the shape of the moments, and how they came about."""

    values: FloatArray
    name: str
    """"raw", or the highest level of effects with its shrinkage, such as "agents, 10"."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The distinct unknowns as a flat list: where they are, and the groups they belong to."""

    index: tuple[IntArray, ...]
    mirror: tuple[IntArray, ...] | None
    """The other place of a symmetric pair's unknown."""
    groups: dict[str, tuple[IntArray, ...]]
    """For each level the group numbers of each cell: two for a symmetric pair's agents, else one."""

    def take(self, array: FloatArray) -> FloatArray:
        return np.asarray(array[self.index])

    def spread(self, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        array = np.zeros(shape)
        array[self.index] = values
        if self.mirror is not None:
            array[self.mirror] = values
        return array


def _cells(shape: tuple[int, ...], *, symmetric: bool) -> _Cells:
    tables, n = shape[0], shape[1]
    first, second = np.triu_indices(n, 1) if symmetric else np.nonzero(~np.eye(n, dtype=bool))
    table = np.repeat(np.arange(tables), len(first))
    i, j = np.tile(first, tables), np.tile(second, tables)
    size = np.zeros_like(i)
    index: tuple[IntArray, ...] = (table, i, j)
    mirror: tuple[IntArray, ...] = (table, j, i)
    if len(shape) == 4:
        sizes = np.arange(2, shape[3])
        table, i, j = (np.repeat(part, len(sizes)) for part in (table, i, j))
        size = np.tile(sizes, len(first) * tables)
        index, mirror = (table, i, j, size), (table, j, i, size)
    room = table * (n + 1) + size
    ordered = np.minimum(i, j) * n + np.maximum(i, j)
    # What an agent receives and what she gives are two things where pairs are ordered.
    shift = 0 if symmetric else n
    groups = {
        "coalition": (room,),
        "agents": (i, j + shift),
        "agents in coalitions": (i * tables + table, (j + shift) * tables + table),
        "pairs": (ordered,),
    }
    return _Cells(index, mirror if symmetric else None, groups)


def _fitted(
    mean: FloatArray, count: FloatArray, cells: _Cells, level: str, worth: float, rounds: int = ROUNDS
) -> FloatArray:
    """Return guesses for all cells: backfitting of shrunk effects, then each cell's own rest."""
    total = float(count.sum())
    fit = np.full_like(mean, float(count @ mean) / total if total else 0.0)
    kinds = [cells.groups[name] for name in LEVELS[1 : LEVELS.index(level) + 1]]
    effects = [np.zeros(1 + max(int(which.max(initial=-1)) for which in kind)) for kind in kinds]
    seen = [
        sum(np.bincount(which, count, minlength=len(e)) for which in kind)
        for kind, e in zip(kinds, effects, strict=True)
    ]
    for _ in range(rounds if kinds else 0):
        for kind, effect, often in zip(kinds, effects, seen, strict=True):
            rest = count * (mean - fit)
            wanted = sum(np.bincount(which, rest, minlength=len(effect)) for which in kind) + often * effect
            # Two agents would both make up for the whole rest of their pair: each goes half of the way.
            step = (wanted / (often + worth) - effect) / len(kind)
            effect[:] += step
            for which in kind:
                fit += step[which]
    return np.asarray(fit + (mean - fit) * count / (count + worth))


def _low_rank(mean: FloatArray, weight: FloatArray, start: FloatArray, rank: int) -> FloatArray:
    """Return weight * mean + (1 - weight) * (the symmetric low-rank part of the result itself)."""
    filled = start
    for _ in range(ROUNDS):
        values, vectors = np.linalg.eigh(filled)
        leading = np.argsort(-np.abs(values), axis=1)[:, None, :rank]
        chosen = np.take_along_axis(vectors, leading, axis=2)
        part = (chosen * np.take_along_axis(values[:, None], leading, axis=2)) @ np.swapaxes(chosen, 1, 2)
        filled = weight * mean + (1 - weight) * part
        agents = np.arange(filled.shape[1])
        filled[:, agents, agents] = 0.0
    return filled


def _all_guesses(moments: Moments, cells: _Cells) -> Iterator[Guess]:
    shape = moments.count.shape
    mean, count = cells.take(moments.mean), cells.take(moments.count)
    yield Guess(moments.mean, "raw")
    many = len(mean) > MANY_CELLS
    for level in LEVELS:
        for worth in SHRINKAGE[::2] if many else SHRINKAGE:
            fitted = _fitted(mean, count, cells, level, worth, 5 if many else ROUNDS)
            yield Guess(cells.spread(fitted, shape), f"{level}, {worth:g}")
    if cells.mirror is None or len(shape) != 3 or shape[1] > LOW_RANK_AGENTS:
        return
    for worth in SHRINKAGE:
        start = cells.spread(_fitted(mean, count, cells, "agents", worth), shape)
        weight = moments.count / (moments.count + worth)
        for rank in RANKS:
            yield Guess(_low_rank(moments.mean, weight, start, rank), f"low rank {rank}, {worth:g}")


def choose_guess(
    parts: Sequence[Moments], whole: Moments, *, symmetric: bool, check: Callable[[], None] | None = None
) -> Guess:
    """Return the kind of guess that predicts best across parts, made from all of the learning data.

    Each part but one in turn is predicted from the guess made of that one (two parts: each from
    the other); squared errors are weighted by how often a cell was observed. With a single part
    there is nothing to choose by, and raw means are returned. `check` is called now and then, and may raise.
    """
    cells = _cells(whole.count.shape, symmetric=symmetric)
    if len(parts) < 2:
        return Guess(whole.mean, "raw")
    scores: dict[str, float] = {}
    for fitted in range(len(parts)):
        others = [(cells.take(part.mean), cells.take(part.count)) for t, part in enumerate(parts) if t != fitted]
        for guess in _all_guesses(parts[fitted], cells):
            values = cells.take(guess.values)
            error = sum(float(count @ (mean - values) ** 2) for mean, count in others)
            scores[guess.name] = scores.get(guess.name, 0.0) + error
            if check is not None:
                check()
    best = min(scores, key=lambda name: scores[name])
    return next(guess for guess in _all_guesses(whole, cells) if guess.name == best)
