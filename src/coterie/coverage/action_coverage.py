"""Assumption 2 (action coverage, Section 5.1): what totals can tell about each agent's deviations.

With A_i the average of x x' over the samples, x the indicators of agent i's (coalition, partner), and
z those at a deviation, c_act is the largest c with A_i >= c E[z z'] for all agents and actions
(the two identity matrices of eq. 12 cancel). For one of them, with E[z z'] = F F',

    c = 1 / lambda_max(F' A^+ F),   and 0 unless the columns of F are in the range of A.

F is a column for a pure profile. For a mixed one E[z z'] = m m' + the covariances of the partners, who
draw independently, so F has one more column per dimension of each partner's covariance. F is a sum of
one matrix F_l per coalition that the deviation joins, so that all actions of an agent share their work.
"""

from dataclasses import dataclass

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.gains import is_enumerated
from coterie.coverage.seen import Seen
from coterie.coverage.witnesses import Direction, Term
from coterie.estimate.design import directions
from coterie.estimate.unknowns import Unknowns, unknowns_of
from coterie.from_scipy import half_solved
from coterie.game.actions import ActionSpaces, UpTo, names_in
from coterie.game.strategy import Strategy

RANK = 1e-11
"""Eigenvalues below this share of the largest are 0."""

HIDDEN = 1e-7
"""A direction is in the range of a matrix if no more than this sticks out."""

WORK = 2e10
"""About so many multiplications are spent on exact maxima over actions; above, they are bounded."""

TERMS = 6
"""How many pairs a direction names."""


@dataclass(frozen=True, eq=False)
class Shown:
    """The range and the pseudo-inverse of one agent's matrix A."""

    kept: BoolArray
    """Which unknowns occur at all."""
    lower: FloatArray | None
    """Cholesky factor where the rest is well-conditioned, else None and `values`, `vectors` hold it."""
    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, matrix: FloatArray) -> "Shown":
        """Factor a positive semidefinite matrix."""
        kept = np.diag(matrix) > 0
        part = matrix[np.ix_(kept, kept)]
        none = np.empty(0), np.empty((0, 0))
        if not len(part):
            return cls(kept, np.empty((0, 0)), *none)
        try:
            lower = np.linalg.cholesky(part)
            if np.diag(lower).min() ** 2 > 1e-8 * np.diag(part).max():
                return cls(kept, np.asarray(lower), *none)
        except np.linalg.LinAlgError:
            pass
        values, vectors = np.linalg.eigh(part)
        positive = values > RANK * values[-1]
        return cls(kept, None, values[positive], vectors[:, positive])

    def half(self, columns: FloatArray) -> FloatArray:
        """Return a matrix Y with Y' Y = columns' A^+ columns."""
        inside = columns[self.kept]
        if self.lower is None:
            return np.asarray((self.vectors.T @ inside) / np.sqrt(self.values)[:, None])
        return half_solved(self.lower, inside) if len(inside) else inside

    def solve(self, columns: FloatArray) -> FloatArray:
        """Return A^+ columns."""
        result = np.zeros_like(columns)
        half = self.half(columns)
        if self.lower is None:
            result[self.kept] = self.vectors @ (half / np.sqrt(self.values)[:, None])
        elif len(half):
            result[self.kept] = half_solved(self.lower, half, turned=True)
        return result

    def hidden(self, columns: FloatArray) -> FloatArray:
        """Return what of the columns is orthogonal to the range of A."""
        result = columns.copy()
        if self.lower is not None:
            result[self.kept] = 0.0
        else:
            result[self.kept] -= self.vectors @ (self.vectors.T @ columns[self.kept])
        return result


@dataclass(frozen=True, eq=False)
class ActionCoverage:
    """Whether Assumption 2 holds, c_act, and where it is worst."""

    holds: bool
    coefficient: float | None
    """None where the log lacks the unweighted sums, or where no profile is given."""
    is_exact: bool
    """False where the coefficient is a lower bound: too many actions to try them all."""
    worst: Direction | None


def action_coverage(seen: Seen, strategy: Strategy, spaces: ActionSpaces) -> ActionCoverage | None:
    """Return Assumption 2 at a profile; None for mixed profiles of size-aware logs, which have no closed form."""
    if seen.shows is None or (seen.aware and not strategy.is_pure):
        return None
    unknowns = unknowns_of(by_size=seen.aware, pooled=seen.pooled)
    worst: tuple[float, float, bool, Direction | None] = (0.0, 0.0, True, None)
    for i in range(spaces.n_agents):
        worst = max(worst, _agent_worst(seen, strategy, spaces, unknowns, i), key=lambda found: found[:2])
    hidden, largest, exact, direction = worst
    if hidden > HIDDEN:
        return ActionCoverage(False, None if seen.moments is None else 0.0, True, direction)
    if seen.moments is None:
        return ActionCoverage(True, None, True, None)
    return ActionCoverage(True, 1 / largest if largest > 0 else float("inf"), exact, direction)


def _agent_worst(
    seen: Seen, strategy: Strategy, spaces: ActionSpaces, unknowns: Unknowns, agent: int
) -> tuple[float, float, bool, Direction | None]:
    """Return (what sticks out of the range, lambda_max, whether that is exact, the direction) of one agent."""
    assert seen.shows is not None
    space, shown = spaces.spaces[agent], Shown.of(seen.shows(agent))
    rooms = _rooms(unknowns, strategy, agent)  # (k, d, r)
    hidden = np.stack([shown.hidden(room) for room in rooms])
    overlap = np.einsum("ldr,mdr->lm", hidden, hidden)
    # Of `UpTo` single coalitions will do: what sticks out of a set sticks out of one of its coalitions.
    sets = np.eye(space.n_coalitions, dtype=bool) if isinstance(space, UpTo) else space.enumerate()
    sets = np.concatenate([sets, strategy.sets[strategy.owner == agent]])
    sticks_out = np.sqrt(np.maximum(np.einsum("al,lm,am->a", sets * 1.0, overlap, sets * 1.0), 0.0))
    if sticks_out.max() > HIDDEN:
        action = sets[sticks_out.argmax()]
        vector = np.linalg.svd(hidden[action].sum(axis=0), full_matrices=False)[0][:, 0]
        return float(sticks_out.max()), np.inf, True, _direction(seen, unknowns, agent, action, vector, hidden=True)
    halves = np.stack([shown.half(room) for room in rooms])
    columns = rooms.shape[2]
    is_exact = is_enumerated(space) and space.size * columns**2 * halves.shape[1] * spaces.n_agents <= WORK
    if is_exact:
        tried = np.concatenate([space.enumerate(), strategy.sets[strategy.owner == agent]])
    else:
        # The norm of a sum is at most the sum of norms: linear in the action, so the oracle maximises it.
        norms = np.array([np.linalg.norm(half, 2) for half in halves])
        value, tried = space.best_responses(norms[None])
    values = np.array([np.linalg.norm(halves[action].sum(axis=0), 2) ** 2 for action in tried])
    best = int(values.argmax())
    if values[best] == 0:
        return 0.0, 0.0, is_exact, None
    half = halves[tried[best]].sum(axis=0)
    top = np.linalg.svd(half, full_matrices=False)[2][0]
    vector = shown.solve((rooms[tried[best]].sum(axis=0) @ top)[:, None])[:, 0]
    largest = float(values[best]) if is_exact else float(value[0] ** 2)
    return 0.0, largest, is_exact, _direction(seen, unknowns, agent, tried[best], vector, hidden=False)


def _rooms(unknowns: Unknowns, strategy: Strategy, agent: int) -> FloatArray:
    """Return F_l for every coalition l that the agent may join, shape (k, d, r)."""
    if strategy.is_pure:
        return directions(unknowns.design(strategy), agent)[:, :, None]
    n, k = strategy.marginals.shape
    columns = [strategy.marginals]
    for j in range(n):
        rows = strategy.owner == j
        if j == agent or rows.sum() == 1:
            continue
        spread = np.sqrt(strategy.probability[rows])[:, None] * (strategy.sets[rows] - strategy.marginals[j])
        if len(spread) > k:
            spread = np.linalg.qr(spread, mode="r")  # the same covariance from k columns
        for row in spread:
            column = np.zeros((n, k))
            column[j] = row
            columns.append(column)
    return unknowns.rooms(np.stack(columns, axis=2), agent)


def _direction(
    seen: Seen, unknowns: Unknowns, agent: int, action: BoolArray, vector: FloatArray, *, hidden: bool
) -> Direction:
    """Name the heaviest terms of a direction."""
    labels = unknowns.labels(seen.agents, seen.coalitions, agent)
    weights = vector / vector[np.abs(vector).argmax()]
    leading = [f for f in np.argsort(-np.abs(weights), kind="stable")[:TERMS].tolist() if abs(weights[f]) > 1e-3]
    terms = tuple(Term(labels[f][0], labels[f][1], float(weights[f])) for f in leading)
    return Direction(seen.agents[agent], tuple(names_in(action, seen.coalitions)), terms, hidden)


def all_profiles(seen: Seen, spaces: ActionSpaces) -> ActionCoverage | None:
    """Return whether Assumption 2 holds at every profile; None where that is too much to look at.

    The features of agent i at action a' are a sum over partners j of a_j restricted to a', so over all
    profiles they span the features at any one profile together with all (a_j - b_j) restricted to a',
    b_j any action of j's. It holds for all profiles iff this span is in the range of A_i.
    """
    if seen.shows is None or seen.aware:
        return None
    n, k = spaces.n_agents, spaces.n_coalitions
    unknowns = unknowns_of(by_size=False, pooled=seen.pooled)
    listed = [_generating(space.enumerate() if is_enumerated(space) else None, k) for space in spaces.spaces]
    for i in range(n):
        shown = Shown.of(seen.shows(i))
        own = np.eye(k, dtype=bool) if isinstance(spaces.spaces[i], UpTo) else spaces.spaces[i].enumerate()
        width = n * k * (k * (n - 1) if not seen.pooled else n - 1) * len(own)
        if width > 100_000_000:
            return None
        for action in own:
            base, steps = np.zeros((n, k)), []
            for j in range(n):
                if j == i:
                    continue
                base[j] = listed[j][0] * action
                for row in listed[j][1] * action:
                    if row.any():
                        step = np.zeros((n, k))
                        step[j] = row
                        steps.append(step)
            found = np.delete(np.stack([base, *steps], axis=2), i, axis=0)
            columns = found.sum(axis=1) if seen.pooled else found.transpose(1, 0, 2).reshape(k * (n - 1), -1)
            hidden = shown.hidden(columns)
            lengths = np.linalg.norm(hidden, axis=0)
            if lengths.max() > HIDDEN:
                vector = hidden[:, lengths.argmax()]
                return ActionCoverage(False, None, True, _direction(seen, unknowns, i, action, vector, hidden=True))
    return ActionCoverage(True, None, True, None)


def _generating(sets: BoolArray | None, k: int) -> tuple[FloatArray, FloatArray]:
    """Return one action and vectors that span its differences to all others; None stands for a large `UpTo`."""
    if sets is None:
        return np.eye(k)[0], np.eye(k)  # single coalitions and pairs of them span everything
    differences = sets[1:] * 1.0 - sets[0]
    if len(differences) > k:
        differences = np.linalg.qr(differences, mode="r")
    return sets[0] * 1.0, differences
