"""Which means of pairs totals leave possible: the effects of `coterie.estimate.effects`, seen through sums.

Let theta be all unknown means from the centre on, in the order of `Cells`. Its prior covariance S is the sum of v_q S_q
over the parts q that means are made of, and totals v = X theta + noise, weighted so that the noise of each has the
variance rho, enter through J = X'X and b = X'v alone. With A = J / rho and h = b / rho,

    r = (1 + A S)^-1 h                  how far totals are from what is expected, seen from the unknowns
    W = (1 + A S)^-1 A                  the inverse of the covariance of totals, seen likewise
    E theta = S r,                      Cov theta = S - S W S
    log likelihood of the variances = h'E theta / 2 - log det(1 + A S) / 2 + a constant
    its slope in v_q                = (r'S_q r - tr(W S_q)) / 2, average information r'S_q W S_p r / 2.

A few totals tell little of many unknowns: J = B B' with as many columns as it has rank, b is among B's combinations,
and with C = rho + B'S B all of that takes systems of the size of C: W = B C^-1 B', r = B C^-1 B^+ b, det(1 + A S) =
det(C / rho).

The noise is what its residuals say: rho = |v - X E theta|^2 / (totals - tr(Cov theta A)). The log keeps
squares for each agent's own problem only, so that is where residuals come from, also where both agents' totals tell of
a pair together: a total's noise has the same variance in both, and the expectation of the equation holds in both.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.estimate.effects import Cells, Variances
from coterie.estimate.intervals import Bounds, Moments
from coterie.estimate.posterior import (
    FEW,
    LEAST_SPREAD,
    PAYS,
    ROUNDS,
    THRIFT,
    WORK,
    first_idea,
    never,
    newton_step,
    slope_over,
    variance_of_values,
    within_pairs,
)
from coterie.estimate.ridge import AgentRidge, JointRidge, LinearEstimate
from coterie.estimate.variance_draws import KEPT, MOST_STEPS, STEPS, Left, Ratios, drawn_ratios
from coterie.from_scipy import half_solved, solved
from coterie.statistics.shared import Shared

MOST_UNKNOWNS = 3500
"""Matrices of more unknowns are not made: they would take minutes, and gigabytes."""

NOTHING = 1e-10
"""Eigenvalues of J below this share of the largest are rounding errors of 0."""

LIFT = 1e-12
"""Eigenvalues are right within this share of their sum."""

STEADY = 0.01
"""The noise is settled when a round changes it by so small a share."""


@dataclass(frozen=True, eq=False)
class Told:
    """What totals tell of the unknowns, each weighted so that all noise has one variance."""

    matrix: FloatArray
    """J = X'X, shape (unknowns, unknowns)."""
    moment: FloatArray
    """b = X'v, shape (unknowns,)."""
    squares: float = 0.0
    """v'v."""
    count: float = 0.0
    """How many totals there are."""

    @cached_property
    def root(self) -> tuple[FloatArray, FloatArray]:
        """B with J = B B', and B^+ b."""
        values, vectors = np.linalg.eigh(self.matrix)
        seen = values > NOTHING * max(float(values[-1]), NOTHING)
        length, vectors = np.sqrt(values[seen]), vectors[:, seen]
        return vectors * length, vectors.T @ self.moment / length

    def centred(self, centre: float) -> "Told":
        """Return the same with all means counted from another centre."""
        through = self.matrix.sum(axis=1)
        squares = self.squares + centre * (centre * float(through.sum()) - 2 * float(self.moment.sum()))
        return replace(self, moment=self.moment - centre * through, squares=max(squares, 0.0))

    def given(self, shared: FloatArray) -> "Told":
        """Return what totals tell if their noise is not independent: B^+ b has covariance rho (1 + shared)."""
        root, within = self.root
        lower = square_root(np.eye(len(within)) + shared)
        turned, totals = half_solved(lower, root.T).T, half_solved(lower, within)
        found = replace(self, matrix=turned @ turned.T, moment=turned @ totals)
        vars(found)["root"] = turned, totals  # the cached property
        return found


@dataclass(frozen=True, eq=False)
class Luck:
    """What totals tell of teams, or of rounds, as a whole, all of whose pairs may be lucky at once."""

    told: Told
    """Of averages, weighted so that they have the variance of a total if luck is independent."""
    terms: float
    """By how many times its own variance luck adds to that of such an average."""


def square_root(matrix: FloatArray) -> FloatArray:
    """Return L, lower triangular, with L L' a matrix that is positive but for rounding, or lifted by as little."""
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.cholesky(matrix + LIFT * np.trace(matrix) * np.eye(len(matrix))))


@dataclass(frozen=True, eq=False)
class PossibleTotals:
    """The posterior of all pairs' means given totals, the variances of the effects and that of the noise."""

    cells: Cells
    """Which effects the unknowns are sums of; what was observed stands elsewhere."""
    told: Told
    """From the centre on."""
    own: Told
    """The same from each agent's own totals, as if others' had other noise: what the noise is judged by."""
    noise: float
    """rho."""
    variances: Variances
    spread: float = 1.0
    """The mean square of the totals that `own` is of: what effects are judged by, see `prices`."""
    luck: tuple[Luck, ...] = ()
    """What noise totals may share."""

    # --- What is expected -----------------------------------------------------------------------------

    @cached_property
    def middle(self) -> FloatArray:
        """What the unknowns are expected to be, from the centre on, shape (unknowns,)."""
        return np.asarray(self._prior @ self._residual)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw all unknowns, from the centre on."""
        return np.asarray(self.middle + self._root @ rng.normal(size=len(self.middle)))

    @cached_property
    def covariance(self) -> FloatArray:
        """The covariance of all unknowns."""
        return np.asarray(self._root @ self._root.T)

    def moved(self, values: FloatArray, low: float, high: float) -> FloatArray:
        """Return unknowns between two ends, moved there as likely as can be.

        Totals are known better than what they are sums of. So an unknown beyond an end, a, is not cut off there alone:
        the others become what they are expected to be given that it is at the end, theta + Cov_.a Cov_aa^-1 (end - a),
        and make up for it in all sums that were seen. Those that are then beyond an end themselves follow.
        """
        found, fixed = values, np.zeros(len(values), dtype=bool)
        while (beyond := ~fixed & ((found < low) | (found > high))).any():
            fixed |= beyond
            among, ends = self.covariance[:, fixed], np.clip(found[fixed], low, high)
            found = values + among @ solved(square_root(among[fixed]), ends - values[fixed])
        return np.clip(found, low, high)

    @cached_property
    def _root(self) -> FloatArray:
        """R with R R' the covariance: with S = L L' it is L (1 + L'A L)^-1 L'."""
        root = square_root(self._prior)
        inner = square_root(np.eye(len(root)) + root.T @ (self._precision @ root))
        return half_solved(inner, root.T).T

    # --- The prior ------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> list[str]:
        """The names of all variances that are estimated."""
        families = self.cells.families.values()
        return [*(name for family in families for name in family.patterns if name != "centre"), "rest"]

    @cached_property
    def _prior(self) -> FloatArray:
        """S."""
        return self.cells.prior(self.variances)

    def _applied(self, name: str) -> FloatArray:
        """Return S_q r."""
        if name == "rest":
            return self._residual
        family = next(one for one, found in self.cells.families.items() if name in found.patterns)
        values = self._residual.reshape(self.cells.mean.shape)
        within = self.cells.gathered(values)[family] @ self.cells.families[family].patterns[name]
        return np.broadcast_to(self.cells.spread(family, within), values.shape).ravel()

    def _traces(self, matrix: FloatArray) -> dict[str, float]:
        """Return tr(matrix S_q) for every part."""
        found = {"rest": float(np.trace(matrix))}
        for name, family in self.cells.families.items():
            if not family.patterns:
                continue
            size = len(next(iter(family.patterns.values())))
            if name == "pairs":
                pair = np.arange(len(self.cells.mean))
                taken = self.cells.by_pair(matrix)[pair, :, :, pair].sum(axis=(0, 2, 4))
            else:
                design = self.cells.designs[name]
                seen = (design.T @ (matrix @ design)).reshape(-1, size, design.shape[1] // size, size)
                taken = np.einsum("gdge->de", seen)
            found |= {part: float((pattern * taken).sum()) for part, pattern in family.patterns.items()}
        return found

    # --- The algebra of the module's docstring -------------------------------------------------------

    @property
    def _precision(self) -> FloatArray:
        return self.told.matrix / self.noise

    @cached_property
    def _seen(self) -> FloatArray:
        """S B."""
        return np.asarray(self._prior @ self.told.root[0])

    @cached_property
    def _factored(self) -> FloatArray:
        """The Cholesky factor of C = rho + B'S B, with zeros above the diagonal."""
        root, _ = self.told.root
        return np.asarray(
            np.linalg.cholesky(self.noise * np.eye(root.shape[1]) + root.T @ self._seen), dtype=np.float64
        )

    @cached_property
    def _residual(self) -> FloatArray:
        """The vector r."""
        root, within = self.told.root
        return np.asarray(root @ self._solved(within))

    @cached_property
    def _weight(self) -> FloatArray:
        """W."""
        root, _ = self.told.root
        return np.asarray(root @ self._solved(root.T))

    def _solved(self, right: FloatArray) -> FloatArray:
        """Return C^-1 times the columns."""
        return solved(self._factored, right)

    @cached_property
    def log_density(self) -> float:
        """The logarithm of the likelihood and of the prior density of the variances, up to what the noise adds."""
        fitted = float(self.told.moment @ self.middle) / self.noise
        size = 2 * float(np.log(np.diag(self._factored)).sum()) - len(self._factored) * math.log(self.noise)
        return 0.5 * (fitted - size) - float(self._now @ self._prices)

    # --- Variances ------------------------------------------------------------------------------------

    @property
    def _now(self) -> FloatArray:
        return np.array([self.variances[name] for name in self.parts])

    @cached_property
    def _prices(self) -> FloatArray:
        """How much less likely a priori a variance of 1 is, in logarithms, but that of the rest.

        An effect that takes up the whole spread of totals costs `THRIFT`, whatever scale totals have and however many
        pairs they add up: tr(J S_q) is the sum of squares that a part of variance 1 adds to them.
        """
        if not self.own.count:
            return np.zeros(len(self.parts))
        traces = self._traces(self.own.matrix)
        spent = np.array([0.0 if name == "rest" else traces[name] for name in self.parts])
        return np.asarray(THRIFT * spent / (self.own.count * self.spread))

    def settled(self, least: float, most: float, enough: Callable[[], bool] = never) -> "PossibleTotals":
        """Return the same with the variances that are most likely, at least `least`, and noise of at most `most`."""
        now = self
        for _ in range(int(np.clip(WORK / (4.0 * len(self.told.moment) ** 3), 2, ROUNDS))):
            if enough():
                break
            before = now.noise
            now, gain = now.heard(least, most).step(least)
            if gain < PAYS and abs(now.noise - before) < STEADY * before:
                break
        return now

    def heard(self, least: float, most: float) -> "PossibleTotals":
        """Return it with the noise that residuals have."""
        theta, own = self.middle, self.own
        left = own.squares + float(theta @ (own.matrix @ theta - 2 * own.moment))
        # tr(Cov J) with Cov = S - S W S; the matrix may be that of each agent's own totals.
        through = self._solved(self._seen.T)
        taken = float((own.matrix * self._prior).sum() - (through * (own.matrix @ self._seen).T).sum()) / self.noise
        spare = own.count - taken
        found = left / spare if spare > 0 else self.noise
        return replace(self, noise=float(np.clip(found, max(least, self.noise / 10), min(most, 10 * self.noise))))

    def step(self, least: float) -> tuple["PossibleTotals", float]:
        """Return it with likelier variances of effects, and how much a step from here was expected to gain.

        As in `coterie.estimate.posterior.PossibleMeans.step`.
        """
        now, traces = self._now, self._traces(self._weight)
        applied = np.stack([self._applied(name) for name in self.parts])
        squares, taken = applied @ self._residual, np.array([traces[name] for name in self.parts]) + 2 * self._prices
        information = applied @ self._weight @ applied.T / 2
        slope = (squares - taken) / 2
        towards = newton_step(now, slope, (information + information.T) / 2, least)
        gain = float(towards @ (slope - information @ towards / 2))
        for length in (1.0, 0.3) if gain > 0 else ():
            found = self._with(np.clip(now + length * towards, least, 10 * now + now.sum() / 10))
            if found.log_density >= self.log_density + 0.1 * min(length * gain, 1.0):
                return found, gain
        ratio = np.sqrt(np.divide(np.maximum(squares, 0), taken, out=np.ones_like(taken), where=taken > 0))
        found = self._with(np.maximum(now * ratio, least))
        return found, max(gain, 10 * (found.log_density - self.log_density))

    def others(
        self, least: float, rng: np.random.Generator, enough: Callable[[], bool] = never
    ) -> "tuple[PossibleTotals, ...]":
        """Return the same with variances and noise that are possible too, as often as they are likely, from `least` on.

        Nothing where that would take too long. Where totals of both of a pair tell of it together, squares are known
        of each agent's own alone: the noise is then about as certain as those make it.
        """
        root, within = self.told.root
        # One level of all means is what the centre is.
        names = [name for name in self.parts if name != "level" or self.cells.mean.shape[2:] != (1, 1)]
        rank, parts = len(within), len(names)
        besides = (parts * rank + KEPT * len(root)) * len(root) ** 2
        if not rank or STEPS * rank**3 / 3 + besides > WORK:
            return ()
        steps = int(min(MOST_STEPS, 3 * (WORK - besides) / rank**3)) // KEPT * KEPT
        count = max(self.told.count or self.own.count, float(rank))
        left = self.told.squares - float(within @ within) if self.told.count else (count - rank) * self.noise

        def kernel(name: str) -> tuple[FloatArray, float]:
            prior = self.cells.prior_of(name)
            return np.asarray(root.T @ (prior @ root)), float(np.trace(prior)) / len(prior)

        kernels, weights = zip(*map(kernel, names), strict=True)
        shared = self._shared
        always = np.eye(rank) + self.variances["centre"] / self.noise * kernel("centre")[0]
        strata, left = self._strata(shared, max(left, 0.0), count - rank), 0.0 if shared else max(left, 0.0)
        told = Ratios(kernels, np.array(weights), always, within, left + least * count, count, shared, strata)
        now = np.array([self.variances[name] for name in names])
        found = []
        for ratios, noise in drawn_ratios(told, now / self.noise, rng, enough, steps):
            drawn = dict(zip(names, np.maximum(ratios[:parts] * noise, least).tolist(), strict=True))
            together = sum(ratio * one for ratio, one in zip(ratios[parts:].tolist(), shared, strict=True))
            heard = self.told.given(np.asarray(together)) if shared else self.told
            found.append(replace(self, told=heard, variances={**self.variances, **drawn}, noise=max(noise, least)))
        return tuple(found)

    @property
    def _shared(self) -> list[FloatArray]:
        """The covariance of B^+ b that each kind of luck of variance 1 makes."""
        back = self._back
        return [one.terms * (back.T @ (one.told.matrix @ back)) for one in self.luck]

    @property
    def _back(self) -> FloatArray:
        """B^+': with B = U L that is U L^-1."""
        root, _ = self.told.root
        return np.asarray(root / np.square(root).sum(axis=0))

    def _strata(self, shared: Sequence[FloatArray], left: float, spare: float) -> list[Left]:
        """Return what no effect can explain: of rounds, of teams around their rounds, and of totals around teams.

        P_a averages over teams, or rounds, which are averages of teams, and H fits. Residuals (1 - H) y of y with the
        covariance 1 + sum of g_b t_b P_b have E |P_a (1 - H) y|^2 = tr(P_a (1 - H)) + sum of g_b t_b F_ab, F_ab =
        tr((1 - H) P_a (1 - H) P_b) = K - 2 tr(H P) + tr(H P_a H P_b), P being that of rounds unless both are of teams.
        """
        if not shared:
            return []
        best = self._back @ self.told.root[1]
        inner = [kernel / one.terms for kernel, one in zip(shared, self.luck, strict=True)]
        traces = np.array([float(np.trace(one)) for one in inner])
        counts, terms = np.array([one.told.count for one in self.luck]), np.array([one.terms for one in self.luck])
        square = [
            max(one.told.squares + float(best @ (one.told.matrix @ best - 2 * one.told.moment)), 0.0)
            for one in self.luck
        ]
        many = range(len(inner))
        both = np.array(
            [
                [counts[max(a, b)] - 2 * traces[max(a, b)] + float((inner[a] * inner[b]).sum()) for b in many]
                for a in many
            ]
        )
        # From the finest to the coarsest, each around the next.
        squares, freedom = np.array([left, *square, 0.0]), np.array([spare, *(counts - traces), 0.0])
        adds = np.vstack([counts - traces, both, np.zeros(len(inner))]) * terms
        found = []
        for a in range(len(inner) + 1):
            free = freedom[a] - freedom[a + 1]
            if free > 0.5:
                added = np.maximum((adds[a] - adds[a + 1]) / free, 0.0)
                found.append(Left(max(squares[a] - squares[a + 1], 0.0), free, added))
        return found

    def _with(self, variances: FloatArray) -> "PossibleTotals":
        return replace(self, variances={**self.variances, **dict(zip(self.parts, variances.tolist(), strict=True))})


@dataclass(frozen=True, eq=False)
class MeansFromTotals:
    """What a regression's totals leave possible, as each agent's own unknowns."""

    possible: PossibleTotals
    centre: float
    own: tuple[IntArray, ...]
    """For each agent, the place of each of her unknowns."""
    bounds: Bounds
    others: tuple[PossibleTotals, ...] = ()
    """The same with other variances that are possible; none where one value of each stands for all."""

    @property
    def middle(self) -> list[FloatArray]:
        """What every agent's unknowns are expected to be, over all variances that are possible, within the scale."""
        found = np.mean([one.middle for one in self.others or (self.possible,)], axis=0)
        low, high = self.bounds.low - self.centre, self.bounds.high - self.centre
        return self._of_agents(self.possible.moved(found, low, high))

    def draw(self, rng: np.random.Generator, number: int = 0) -> list[FloatArray]:
        """Draw every agent's unknowns, all together; variances take their turns by the number of the draw."""
        one = self.others[number % len(self.others)] if self.others else self.possible
        return self._of_agents(one.draw(rng))

    def _of_agents(self, values: FloatArray) -> list[FloatArray]:
        return [self.centre + values[places] for places in self.own]


def n_unknowns(estimate: LinearEstimate, *, symmetric: bool) -> int:
    """Return how many means there are: one for both of a pair where they are the same."""
    return len(estimate.theta(0)) * estimate.n_agents // (2 if symmetric else 1)


def means_left_by_totals(
    estimate: LinearEstimate, *, by_size: bool, symmetric: bool, enough: Callable[[], bool] = never
) -> MeansFromTotals:
    """Return the posterior of all means, given the sums of a regression; variances settle until `enough` says so.

    Where both of a pair get the same, the totals of both tell of it: with the sums of the joint estimator as exactly
    as normal noise lets them, and without as if the noise of the two were independent.
    """
    bounds, n = estimate.bounds, estimate.n_agents
    sizes = n - 1 if by_size else 1
    tables = len(estimate.theta(0)) // ((n - 1) * sizes)
    cells, place = _cells(n, tables, sizes, symmetric=symmetric)
    places = tuple(np.delete(place[:, i], i, axis=1).ravel() for i in range(n))
    alone = estimate.alone if isinstance(estimate, JointRidge) else estimate
    if isinstance(estimate, JointRidge):
        own = told = _of_edges(estimate, place[:, cells.first, cells.second, 0].ravel())
    if alone is not None:
        assert isinstance(alone, AgentRidge)
        own = _of_agents(alone, places)
        told = told if isinstance(estimate, JointRidge) else own
    if by_size:
        often = np.diag(own.matrix)[place].sum(axis=(1, 2), keepdims=True)
        cells = replace(cells, slope=slope_over(np.where(often > 0, 1.0, np.inf)))
    return _settled(cells, told, own, places, bounds, (), enough)


def means_left_by_pairs(
    moments: Moments, bounds: Bounds, shared: Shared, *, symmetric: bool, enough: Callable[[], bool] = never
) -> MeansFromTotals:
    """Return the same given values of pairs, each of which is a total of one unknown, where they may share noise."""
    tables, n = moments.mean.shape[:2]
    cells, place = _cells(n, tables, 1, symmetric=symmetric)
    places = tuple(np.delete(place[:, i], i, axis=1).ravel() for i in range(n))
    variance = variance_of_values(moments, bounds.half_range)
    within, _ = within_pairs(moments, variance, symmetric=symmetric)
    usual = float(np.average(variance, weights=moments.count)) if moments.count.any() else 1.0
    worth, mean = np.zeros(cells.mean.size), np.zeros(cells.mean.size)
    off = ~np.eye(n, dtype=bool)
    at = place[:, off, 0]
    worth[at] = (moments.effective * usual / np.maximum(variance, 1e-300))[:, off]
    mean[at] = moments.mean[:, off] - bounds.middle
    count = float(moments.count.sum()) / (2 if symmetric else 1)
    told = Told(np.diag(worth), worth * mean, usual * within + float(worth @ mean**2), count)
    luck = _luck(shared, cells, bounds)
    return _settled(cells, told, told, places, bounds, luck, enough)


def _luck(shared: Shared, cells: Cells, bounds: Bounds) -> tuple[Luck, ...]:
    """Return what averages of teams and of rounds tell."""
    pairs, orders, tables, _ = cells.mean.shape
    cell = np.arange(pairs * orders * tables).reshape(pairs, orders, tables).transpose(2, 1, 0).ravel()
    found = []
    for one in shared:
        matrix, moment = np.empty_like(one.projections), np.empty_like(one.moments)
        matrix[np.ix_(cell, cell)], moment[cell] = one.projections, one.moments
        squares, count = one.scores.tolist()
        told = Told(matrix, moment, squares, count).centred(bounds.middle)
        found.append(Luck(told, float(one.projections.sum()) / max(count, 1.0)))
    return tuple(found)


def _settled(
    cells: Cells,
    told: Told,
    own: Told,
    places: tuple[IntArray, ...],
    bounds: Bounds,
    luck: tuple[Luck, ...],
    enough: Callable[[], bool],
) -> MeansFromTotals:
    all_of_it = float(own.matrix.sum())
    few = own.count < FEW
    centre = float(own.moment.sum()) / all_of_it if all_of_it > 0 else 0.0
    own, told = own.centred(centre), told.centred(centre)
    luck = tuple(replace(one, told=one.told.centred(centre)) for one in luck)
    range_square = bounds.half_range**2
    # As a first idea, half of what totals differ by is noise.
    usual = range_square if few else min(own.squares / own.count / 2, range_square)
    spread = range_square / 3 if few else max(usual, LEAST_SPREAD * range_square)
    empty = PossibleTotals(cells, told, own, max(usual, LEAST_SPREAD * range_square), {}, 2 * spread, luck)
    start = replace(empty, variances={**first_idea(empty.parts, spread), "centre": 0.0 if few else range_square / 3})
    least = max(LEAST_SPREAD * range_square, 1e-9 * spread)
    found = start if few else start.settled(least, range_square, enough)
    # The same log has the same variances, whoever asks: they are no part of a search.
    others = () if few else found.others(least, np.random.default_rng(0), enough)
    return MeansFromTotals(found, bounds.middle + centre, places, bounds, others)


def _cells(n: int, tables: int, sizes: int, *, symmetric: bool) -> tuple[Cells, IntArray]:
    """Return the unknowns as cells of pairs, and the place of each in them, shape (tables, n, n, sizes)."""
    first, second = np.triu_indices(n, 1)
    shape = (len(first), 1 if symmetric else 2, tables, sizes)
    index = np.arange(int(np.prod(shape))).reshape(shape)
    place = np.zeros((tables, n, n, sizes), dtype=np.int64)
    place[:, first, second], place[:, second, first] = (index[:, order].transpose(1, 0, 2) for order in (0, -1))
    return Cells(np.zeros(shape), np.zeros(shape), None, first, second, n), place


def _of_agents(alone: AgentRidge, places: Sequence[IntArray]) -> Told:
    unknowns = 1 + max(int(own.max(initial=-1)) for own in places)
    matrix, moment = np.zeros((unknowns, unknowns)), np.zeros(unknowns)
    for own, gram, sums in zip(places, alone.gram, alone.moment, strict=True):
        matrix[np.ix_(own, own)] += gram
        moment[own] += sums
    return Told(matrix, moment, float(sum(alone.squares)), float(sum(alone.totals)))


def _of_edges(joint: JointRidge, place: IntArray) -> Told:
    matrix, moment = np.empty_like(joint.projections), np.empty_like(joint.moment)
    matrix[np.ix_(place, place)], moment[place] = joint.projections, joint.moment
    return Told(matrix, moment, joint.squares, joint.rows)
