"""Statistics of simulated logs, made in memory: the same sums that a log's engine makes, without tables.

A log grows: the samples of a shorter log are the first of a longer one, so every point of a curve
is the same log, seen for longer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.log.pair_statistics import PairStatistics
from coterie.log.queries import FIXED_BITS
from coterie.log.reduce import Accumulator
from coterie.log.setting import Setting
from coterie.log.statistics import Statistics
from coterie.log.sums import Sums, packed_length
from coterie.log.total_statistics import TotalStatistics
from coterie.simulate.logs import Batch, Feedback, Simulation

Shares = tuple[float, ...]


@dataclass(frozen=True)
class Reading:
    """What a log is taken to be when it is reduced."""

    sizes: str = "ignore"
    noise: str = "pairs"
    unweighted: bool = False
    """Whether bandit sums without weights are made too, which the paper's certificate needs."""


def setting_of(simulation: Simulation, feedback: Feedback, reading: Reading, shares: Shares) -> Setting:
    """Return the setting of a simulated log, as reading its files would find it."""
    game, model = simulation.game, simulation.model
    actions = game.actions.to_json(game.agents, game.coalitions)
    return Setting(
        feedback, game.agents, game.coalitions, model.symmetric, model.utility_range, 0.0, model.sigma, False,
        actions, actions, reading.sizes, reading.noise, shares, 0,
    )  # fmt: skip


def growing(
    simulation: Simulation,
    lengths: Sequence[int],
    feedback: Feedback,
    readings: Mapping[str, Reading],
    shares: Shares = (1.0,),
) -> Iterator[tuple[int, dict[str, Statistics]]]:
    """Yield, for each length in ascending order, the statistics of a log of so many samples under each reading.

    Samples are divided at random into parts with these shares, the same under all readings.
    """
    distinct = {reading: setting_of(simulation, feedback, reading, shares) for reading in set(readings.values())}
    total: dict[Reading, Statistics] = {}
    done = 0
    for length in lengths:
        for batch in simulation.batches(length - done):
            part = simulation.rng.choice(len(shares), len(batch.joined), p=shares)
            for reading, setting in distinct.items():
                found = reduced(batch, part, setting, unweighted=reading.unweighted)
                total[reading] = total[reading] + found if reading in total else found
        done = length
        yield length, {name: total[reading] for name, reading in readings.items()}


def reduced(batch: Batch, part: IntArray, setting: Setting, *, unweighted: bool = False) -> Statistics:
    """Return the statistics of a batch whose samples are in these parts."""
    sizes = batch.joined.sum(axis=1)
    teams = [_teams(sizes[part == p]) for p in range(len(setting.shares))]
    counts = np.bincount(part, minlength=len(setting.shares)).tolist()
    if setting.feedback == "semi-bandit":
        entries = _pair_sums(batch, part, sizes, setting)
        together = _cooccurrences(batch, part, sizes, setting) if setting.noise == "samples" else None
        return Statistics(
            setting,
            tuple(
                PairStatistics(setting, counts[p], entries[p], teams[p], None if together is None else together[p])
                for p in range(len(counts))
            ),
        )
    names = [setting.noise, *(["none"] if unweighted else [])]
    totals, weighted = _total_sums(batch, part, setting, names)
    return Statistics(
        setting,
        tuple(
            TotalStatistics(
                setting, counts[p], totals[p], teams[p], {name: sums.part(p) for name, sums in weighted.items()}
            )
            for p in range(len(counts))
        ),
    )


def _teams(sizes: IntArray) -> Sums:
    """Count how often each coalition had each size; an empty one is not a team."""
    coalition = np.tile(np.arange(sizes.shape[1]), len(sizes))
    keys = np.stack([coalition, sizes.ravel()], axis=1)[sizes.ravel() > 0]
    return Sums.collect(keys, np.ones((len(keys), 1), dtype=np.int64))


def _pair_sums(batch: Batch, part: IntArray, sizes: IntArray, setting: Setting) -> list[Sums]:
    n, k = setting.n_agents, setting.n_coalitions
    low, high = setting.fixed_range
    q = np.floor((batch.utility - low) / (high - low) * 2.0**FIXED_BITS + 0.5).astype(np.int64)
    shape: tuple[int, ...] = (len(setting.shares), k, n, n)
    where: tuple[IntArray, ...] = (part[batch.sample], batch.coalition, batch.agent, batch.partner)
    if setting.sizes == "aware":
        shape, where = (*shape, n + 1), (*where, sizes[batch.sample, batch.coalition])
    cell = np.ravel_multi_index(where, shape)
    square = q * q
    # Sums of whole numbers below 2^31 over a batch are below 2^53, so floats add them up exactly.
    cells = int(np.prod(shape))
    summed = (q, square >> FIXED_BITS, square & ((1 << FIXED_BITS) - 1))
    added = [np.bincount(cell, minlength=cells), *(np.bincount(cell, one, minlength=cells) for one in summed)]
    seen = np.flatnonzero(added[0])
    keys = np.stack(np.unravel_index(seen, shape), axis=1).astype(np.int64)
    values = np.stack([column[seen] for column in added], axis=1).astype(np.int64)
    return [Sums(keys[keys[:, 0] == p, 1:], values[keys[:, 0] == p]) for p in range(shape[0])]


def _cooccurrences(batch: Batch, part: IntArray, sizes: IntArray, setting: Setting) -> IntArray:
    """Return H_i of every part and agent, packed: which of her unknowns were seen together."""
    from coterie.log.gram import add_cooccurrences

    size = sizes[batch.sample, batch.coalition] if setting.sizes == "aware" else None
    owner, feature = [], []
    sides = ((batch.agent, batch.partner), (batch.partner, batch.agent))
    for agent, partner in sides[: 1 + setting.symmetric]:
        owner.append(agent)
        feature.append(setting.feature(agent, batch.coalition, partner, size))
    agent, features = np.concatenate(owner), np.concatenate(feature)
    sample = np.tile(batch.sample, len(owner))
    group = sample * setting.n_agents + agent
    order = np.lexsort((features, group))
    gram = np.zeros((len(setting.shares), setting.n_agents, packed_length(setting.n_features)), dtype=np.int64)
    add_cooccurrences(
        group[order], agent[order], features[order], part[sample][order], gram, setting.block, setting.n_tables
    )
    return gram


def _total_sums(
    batch: Batch, part: IntArray, setting: Setting, names: Sequence[str]
) -> tuple[IntArray, dict[str, Accumulator]]:
    from coterie.log.gram import WEIGHTINGS, add_totals

    sample, agent, coalition, utility = _total_rows(batch)
    n, parts = setting.n_agents, len(setting.shares)
    low, high = setting.fixed_range
    weighted: dict[str, Any] = {name: Accumulator(parts, n, setting.n_features) for name in names}
    totals = np.zeros((parts, n), dtype=np.int64)
    n_sizes = setting.n_sizes if setting.sizes == "aware" else 0
    for index, (name, into) in enumerate(weighted.items()):
        add_totals(
            sample, part[sample], agent, coalition, utility, n, False, n_sizes, low, high, WEIGHTINGS.index(name),
            into.gram, into.offsets, into.moments, into.squares, totals if index == 0 else np.zeros_like(totals),
        )  # fmt: skip
    return totals, weighted


def _total_rows(batch: Batch) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return rows sorted by sample, coalition and agent; a total has coalition -1 and comes first."""
    totals = batch.totals()
    member = np.nonzero(batch.joined)
    everybody = np.divmod(np.arange(totals.size), totals.shape[1])
    sample = np.concatenate([everybody[0], member[0]])
    agent = np.concatenate([everybody[1], member[1]])
    coalition = np.concatenate([np.full(totals.size, -1), member[2]])
    utility = np.concatenate([totals.ravel(), np.full(len(member[0]), np.nan)])
    order = np.lexsort((agent, coalition, sample))
    return sample[order], agent[order], coalition[order], utility[order]
