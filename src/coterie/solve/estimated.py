"""The game that an estimate describes.

Room values are linear in the estimated means, whatever the log is taken to show, so an estimate is a
game like any other: best-response dynamics, potential and exact gap need nothing more.
"""

from collections.abc import Iterable

import numpy as np

from coterie.arrays import FloatArray
from coterie.certificates.evidence import Evidence, PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game


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
        return Game(actions=spaces, size_table=means, symmetric=symmetric, **named)
    symmetric = bool(np.array_equal(means, np.swapaxes(means, 1, 2)))
    stored = means[0] if structure == "pooled" else means
    return Game(stored, spaces, size_scale=scale, symmetric=symmetric, **named)


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
