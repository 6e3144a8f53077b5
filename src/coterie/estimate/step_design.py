"""The coefficients with which steps weigh the unknowns: what a step changes for somebody, as a combination of means.

With f(s) = 1 for totals and 1 / (s - 1) for averages, agent h has from coalition l

    u_h(l) = 1[h in C_l] f(|C_l|) sum over the other members j of d_hj^l,

so a step changes u_h by sum over e of c_e theta_e: for every coalition that somebody joins or leaves, what is there
afterwards minus what was there before. Unknowns that stand on both sides are netted first. What is left with a
positive coefficient is *gained*, the rest is *lost*: two rooms of which she joins one and leaves the other, so that
every width of `coterie.certificates.widths` applies to steps as it does to deviations.

There are millions of coefficients where hundreds of people may exchange places: then loops are compiled
(`coterie.estimate.step_loops`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.estimate.design import Design
from coterie.estimate.unknowns import Unknowns
from coterie.game.game import Value
from coterie.game.steps import Steps
from coterie.statistics.packed import packed_length
from coterie.statistics.pair_statistics import DENSE_AGENTS

GAINED, LOST = 0, 1
"""The two rooms of a row."""

MANY = 100_000
"""So many coefficients, or rows x agents, are worth compiled loops: numba takes its time to load."""


@dataclass(frozen=True, eq=False)
class StepDesign(Design):
    """What some steps change for some agents: a row for each step and agent that is asked for."""

    owners: IntArray
    """Whose utility each row is about, shape (rows,)."""
    row: IntArray
    """The row of each coefficient."""
    cell: tuple[IntArray, ...]
    """Which unknown it is of: table, partner, and size where that matters."""
    weight: FloatArray
    """The coefficient, netted."""
    coalition: IntArray
    """A coalition in which it stands, for naming it."""
    n_agents: int
    tables: int

    @cached_property
    def marginals(self) -> FloatArray:  # type: ignore[override]
        found = np.zeros((len(self.owners), 2))
        found[:, LOST] = 1.0
        return found

    @cached_property
    def moves(self) -> FloatArray:
        """The deviation vector of each row: to join what is gained and to leave what is lost, shape (rows, 1, 2)."""
        return np.repeat(np.array([[[1.0, -1.0]]]), len(self.owners), axis=0)

    @cached_property
    def _place(self) -> IntArray:
        """Row and room of each coefficient in one number."""
        return np.asarray(2 * self.row + (self.weight < 0))

    @property
    def places(self) -> tuple[IntArray, ...]:
        """Where each coefficient's unknown is in an array of values."""
        table, partner, *size = self.cell
        return table, self.owners[self.row], partner, *size

    def _of(self, values: FloatArray) -> FloatArray:
        """Return the value of each coefficient's unknown."""
        return np.asarray(values[self.places])

    def _sums(self, terms: FloatArray) -> FloatArray:
        return np.bincount(self._place, terms, minlength=2 * len(self.owners)).reshape(-1, 2).astype(np.float64)

    @cached_property
    def partners(self) -> FloatArray:
        return self._sums(np.abs(self.weight))

    def terms(self, values: FloatArray) -> FloatArray:
        """Return |c_e| values_e of every coefficient."""
        return np.asarray(np.abs(self.weight) * self._of(values))

    def linear(self, values: FloatArray) -> FloatArray:
        if self._is_looped:
            return self._looped(0, values)
        return self._sums(self.terms(values))

    def quadratic(self, values: FloatArray) -> FloatArray:
        if self._is_looped:
            return self._looped(1, values)
        return self._sums(self.weight**2 * self._of(values))

    @property
    def _is_looped(self) -> bool:
        """Whether there are so many coefficients that sums are taken by compiled loops."""
        return len(self.weight) > MANY and len(self.cell) == 2

    def _looped(self, kind: int, values: FloatArray) -> FloatArray:
        from coterie.estimate.step_loops import sums  # here, since numba is slow to load

        table, partner = self.cell
        return sums(kind, (self.owners, self.row, table, partner), self.weight, values)

    def dependences(self, per_count: FloatArray, packed: IntArray) -> FloatArray | None:
        """Return alpha' H alpha of every row's rooms by compiled loops; None where there is too little to do for them.

        alpha_e is |c_e| / N_e, and matrices H are packed as `coterie.statistics.packed` says.
        """
        inside = self.tables * packed_length(self.n_agents - 1)
        whole = packed_length(self.tables * (self.n_agents - 1))
        if not self._is_looped or packed.shape[1] not in (inside, whole):
            return None
        from coterie.estimate.step_loops import dependences  # here, since numba is slow to load

        table, partner = self.cell
        place = self.owners, self.row, table, partner
        return dependences(place, self.weight, per_count, packed, self.n_agents, self.tables)

    def largest(self, values: FloatArray) -> FloatArray:
        if self._is_looped:
            return self._looped(2, values)
        found = np.zeros(2 * len(self.owners))
        np.maximum.at(found, self._place, np.abs(self.weight * self._of(values)))
        return found.reshape(-1, 2)

    def row_directions(self, row: int) -> FloatArray:
        return np.asarray(self.rows_directions(np.array([row]))[0])

    def rows_directions(self, rows: IntArray) -> FloatArray:
        which, place, weight = self._coefficients_of(rows)
        width = self.tables * (self.n_agents - 1) * (self.n_agents - 1 if len(self.cell) > 2 else 1)
        return _scattered((len(rows), 2, width), which, place, weight)

    def used_directions(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        which, place, weight = self._coefficients_of(rows)
        used, at = np.unique(place, return_inverse=True)
        return used, _scattered((len(rows), 2, len(used)), which, at, weight)

    def _coefficients_of(self, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return of each coefficient of some rows which of these it is in, its place among unknowns, and itself."""
        # The coefficients of each row are next to each other.
        first, end = np.searchsorted(self.row, rows), np.searchsorted(self.row, rows + 1)
        which = np.repeat(np.arange(len(rows)), end - first)
        inside = np.arange(len(which)) + np.repeat(first - np.cumsum(end - first) + end - first, end - first)
        table, partner, *size = (index[inside] for index in self.cell)
        place = table * (self.n_agents - 1) + partner - (partner > self.owners[rows][which])
        if size:
            place = place * (self.n_agents - 1) + size[0] - 2
        return which, place, self.weight[inside]

    def __getitem__(self, rows: IntArray) -> "StepDesign":
        """Return some of the rows, in the order of their numbers."""
        kept: BoolArray | slice
        if len(rows) and (np.diff(rows) == 1).all():  # nothing is copied
            kept = slice(*np.searchsorted(self.row, [rows[0], rows[-1] + 1]).tolist())
            row = self.row[kept] - rows[0]
        else:
            place = np.full(len(self.owners), -1)
            place[rows] = np.arange(len(rows))
            row = place[self.row]
            kept = row >= 0
            row = row[kept]
        return StepDesign(
            self.owners[rows],
            row,
            tuple(index[kept] for index in self.cell),
            self.weight[kept],
            self.coalition[kept],
            self.n_agents,
            self.tables,
        )


def _scattered(shape: tuple[int, int, int], row: IntArray, place: IntArray, weight: FloatArray) -> FloatArray:
    """Return coefficients as an array: what is gained, and what is lost, of every row."""
    found = np.zeros(shape)
    found[row, np.where(weight > 0, GAINED, LOST), place] = np.abs(weight)
    return found


def factor(sizes: IntArray, value: Value) -> FloatArray:
    """Return f(s): 1 for totals, 1 / (s - 1) for averages; nobody has anything of being alone."""
    partners = np.maximum(sizes - 1, 0)
    return np.where(partners > 0, 1.0 if value == "total" else 1.0 / np.maximum(partners, 1), 0.0)


def step_design(
    unknowns: Unknowns, profile: BoolArray, steps: Steps, asked: tuple[IntArray, IntArray], value: Value
) -> StepDesign:
    """Return the coefficients of what steps from a pure profile change.

    Parameters
    ----------
    unknowns
        The way the log is read.
    profile
        Who is where, shape (n, k).
    steps
        From there.
    asked
        For each row the number of a step, and of an agent.
    value
        "total" or "average".
    """
    if not unknowns.averages_meetings:
        raise InputError(
            "rules, averages and other notions of stability than nash are not available for anonymous sizes or a "
            "known factor"
        )
    step, agent = asked
    n, k = profile.shape
    if len(step) * n > MANY and not unknowns.is_pooled and not unknowns.is_listed:
        from coterie.estimate.step_loops import coefficients  # here, since numba is slow to load

        factors = factor(np.arange(n + 1), value)
        row, coalition, partner, size, weight = coefficients(profile, steps, asked, factors, by_size=unknowns.by_size)
        cell = (coalition, partner, *((size,) if unknowns.by_size else ()))
        return StepDesign(np.asarray(agent), row, cell, weight, coalition, n, k)
    change = steps.change(profile)
    entries: list[tuple[IntArray, ...]] = []
    weights: list[FloatArray] = []
    for l in range(k):
        rows = np.flatnonzero((change[:, :, l] != 0).any(axis=1)[step])
        if not len(rows):
            continue
        before = np.repeat(profile[:, l][None], len(rows), axis=0)
        after = before.copy()
        moved, places = np.nonzero(change[step[rows], :, l])
        after[moved, steps.movers[step[rows[moved]], places]] ^= True
        for members, sign in ((after, 1.0), (before, -1.0)):
            size = members.sum(axis=1)
            inside = members[np.arange(len(rows)), agent[rows]]
            partners = members & inside[:, None]
            partners[np.arange(len(rows)), agent[rows]] = False
            t, j = np.nonzero(partners)
            entries.append((rows[t], np.full(len(t), l), j, size[t]))
            weights.append(sign * factor(size, value)[t])
    found = tuple(np.concatenate(part) for part in zip(*entries, strict=True)) if entries else _no_entries()
    return netted(unknowns, np.asarray(agent), found, np.concatenate(weights) if weights else np.zeros(0), (n, k))


def _no_entries() -> tuple[IntArray, ...]:
    return tuple(np.zeros(0, dtype=np.int64) for _ in range(4))


def netted(
    unknowns: Unknowns, owners: IntArray, entries: tuple[IntArray, ...], weights: FloatArray, shape: tuple[int, int]
) -> StepDesign:
    """Return a design from coefficients of which several may be of the same unknown.

    Parameters
    ----------
    unknowns
        The way the log is read.
    owners
        Whose utility each row is about.
    entries
        The row, coalition, partner and size of each coefficient.
    weights
        The coefficients.
    shape
        The numbers of agents and of coalitions.
    """
    if unknowns.is_listed:
        raise TooLargeError(
            f"averages, other notions of stability than nash, and differences between profiles are judged for up to "
            f"{DENSE_AGENTS} agents, this log has {shape[0]}; a part of it, such as a department, may be small enough"
        )
    (n, k), (row, coalition, partner, size) = shape, entries
    tables = 1 if unknowns.is_pooled else k
    table = coalition if tables == k else np.zeros_like(coalition)
    sized = size if unknowns.by_size else np.zeros_like(size)
    key = ((row * tables + table) * n + partner) * (n + 1) + sized
    _, first, where = np.unique(key, return_index=True, return_inverse=True)
    weight = np.bincount(where, weights, minlength=len(first)).astype(np.float64)
    kept = np.abs(weight) > 1e-12  # what stands on both sides cancels, but for rounding
    chosen = first[kept]
    cell = (table[chosen], partner[chosen], *((size[chosen],) if unknowns.by_size else ()))
    return StepDesign(owners, row[chosen], cell, weight[kept], coalition[chosen], n, tables)
