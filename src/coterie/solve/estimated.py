"""The game that an estimate describes, and its room values for many pure profiles at once.

Room values are linear in the estimated means, whatever the log is taken to show, so an estimate is a
game like any other: best-response dynamics, potential and exact gap need nothing more.
"""

from collections.abc import Iterable

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.evidence import Evidence, PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.game.means import DenseMeans
from coterie.game.utilities import ScaledBySize, SizeFree, TableBySize, Utilities


def estimated_game(
    evidence: Evidence,
    spaces: ActionSpaces,
    agents: Iterable[str] | None = None,
    coalitions: Iterable[str] | None = None,
) -> Game:
    """Return the game whose mean utilities are the estimates; names default to those of the log."""
    names = getattr(evidence, "names", None)
    if names is not None:
        agents, coalitions = names[0] if agents is None else agents, names[1] if coalitions is None else coalitions
    n, k = spaces.n_agents, spaces.n_coalitions
    scale = None
    if isinstance(evidence, PairEvidence):
        estimate = evidence.estimate
        means, structure = estimate.moments.mean, estimate.structure
        scale = estimate.factor
        if structure == "anonymous":
            # d^l(s) is the same for all pairs.
            means, scale = np.ones((k, n, n)) * ~np.eye(n, dtype=bool), means
    elif isinstance(evidence, TotalEvidence):
        means, structure = _means_of_totals(evidence, n), evidence.structure
    else:
        raise InputError(f"no estimate in {type(evidence).__name__}")
    means = np.array(means)
    own = np.arange(n)
    if structure != "anonymous":
        means[:, own, own] = 0.0
    named = {"agents": agents, "coalitions": tuple(coalitions) if coalitions is not None else k}
    if structure in {"aware", "pooled-aware"}:
        means = np.repeat(means, k // len(means), axis=0)
        symmetric = bool(np.array_equal(means[..., 2:], np.swapaxes(means[..., 2:], 1, 2)))
        return Game(actions=spaces, size_table=means, symmetric=symmetric, **named)  # type: ignore[arg-type]
    symmetric = bool(np.array_equal(means, np.swapaxes(means, 1, 2)))
    stored = means[0] if structure == "pooled" else means
    return Game(stored, spaces, size_scale=scale, symmetric=symmetric, **named)  # type: ignore[arg-type]


def _means_of_totals(evidence: TotalEvidence, n: int) -> FloatArray:
    """Spread every agent's unknowns over (tables, n, n), or (tables, n, n, n + 1) by size."""
    source, middle = evidence.means or evidence.estimate, evidence.estimate.bounds.middle
    aware = evidence.structure.endswith("aware")
    sizes = n - 1 if aware else 1
    rows = [source.theta(i).reshape(-1, n - 1, sizes) + middle for i in range(n)]
    means = np.zeros((len(rows[0]), n, n, sizes))
    for i, row in enumerate(rows):
        means[:, i, np.arange(n) != i] = row
    if aware:
        return np.concatenate([np.zeros((*means.shape[:3], 2)), means], axis=3)
    return means[..., 0]


def room_values(utilities: Utilities, profiles: BoolArray, agents: IntArray) -> FloatArray:
    """Return W_i(l) of some agents under many pure profiles (b, n, k), shape (b, g, k)."""
    if isinstance(utilities, (SizeFree, ScaledBySize)) and isinstance(utilities.means, DenseMeans):
        joined = profiles.astype(np.float64)
        sums = pair_sums(utilities.means.values, joined, agents)
        if isinstance(utilities, SizeFree):
            return sums
        partners = (profiles.sum(axis=1)[:, None] - profiles[:, agents]).astype(np.int64)
        coalition = np.arange(profiles.shape[2])
        scale, shift = utilities.scale[coalition, partners + 1], utilities.shift[coalition, partners + 1]
        return np.asarray(scale * sums + shift * partners)
    if isinstance(utilities, TableBySize):
        joined = profiles.astype(np.float64)
        everybody = joined.transpose(0, 2, 1) @ np.ones(profiles.shape[1])  # much quicker than a sum
        size = (everybody[:, :, None] - joined[:, agents].transpose(0, 2, 1) + 1).astype(np.int64)
        # Partners last and next to each other in memory: most of the time goes into fetching them.
        by_size = np.ascontiguousarray(utilities.table[:, agents].transpose(0, 1, 3, 2))
        found = by_size[np.arange(profiles.shape[2])[:, None], np.arange(len(agents)), size]
        return np.asarray(np.einsum("blgj,bjl->bgl", found, joined))
    return np.asarray(utilities.pure_room_values(profiles)[:, agents])


def pair_sums(values: FloatArray, joined: FloatArray, agents: IntArray) -> FloatArray:
    """Return sum over j of values[l, i, j] joined[b, j, l] for some agents i, shape (b, g, k).

    `values` is (k, n, n), or (1, n, n) for all coalitions together. Agents come in order, each once.
    """
    chosen = values if len(agents) == values.shape[1] else values[:, agents]  # (k, g, n); agents are in order
    if len(values) == 1:
        return np.asarray(chosen[0] @ joined)
    return np.asarray((joined.transpose(2, 0, 1) @ np.swapaxes(chosen, 1, 2)).transpose(1, 2, 0))
