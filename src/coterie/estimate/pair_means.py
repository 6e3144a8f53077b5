"""Estimates from semi-bandit logs: the moments of all unknowns, whichever way the log is read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.estimate.intervals import Bounds, Moments
from coterie.estimate.seen_pairs import SeenPairs
from coterie.estimate.unknowns import Unknowns, unknowns_of
from coterie.statistics import pair_statistics
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.shared import Shared
from coterie.sums import Sums, places_in
from coterie.words import said

CELLS = 50_000_000
"""Estimates are made for up to so many pairs x coalitions (x sizes)."""

REMEMBERED_BYTES = 2**28
"""Unpacked matrices of co-occurrences are kept up to so many bytes."""


@dataclass(frozen=True, eq=False)
class SampleNoise:
    """What `--noise samples` needs: which unknowns of an agent occur together in a sample.

    `together(i, some)` is H_i = sum over samples of x x', with x the indicator (pooled: the count) of some of agent
    i's unknowns in the sample, which are numbers in the order of `coterie.estimate.design.directions`; None for all of
    them. There is none where it does not fit; a valid bound that needs the counts only then takes its place.
    """

    together: Callable[[int, IntArray | None], FloatArray] | None
    by_cluster: Callable[[int], tuple[FloatArray, FloatArray]] | None = None
    """See `PairStatistics.by_cluster`; None where that is not kept."""
    packed: IntArray | None = None
    """All H_i as they are kept, as far as they are used, shape (n, entries), see `coterie.statistics.packed`."""


@dataclass(frozen=True, eq=False)
class PairEstimate:
    """Moments of all unknowns, the bounds on utilities, and the way the log is read."""

    unknowns: Unknowns
    moments: Moments
    bounds: Bounds
    n_agents: int
    n_coalitions: int
    noise: SampleNoise | None = None
    """None where pairs of one sample are taken to be independent."""
    symmetric: bool = True
    """Whether both orders of a pair are one unknown."""
    shared: Shared = ()
    """What teams and rounds got as a whole, of a whole log: what is expected allows for luck that they share."""

    @classmethod
    def from_sums(
        cls,
        unknowns: Unknowns,
        count: FloatArray,
        total: FloatArray,
        squares: FloatArray | None,
        bounds: Bounds,
        *,
        symmetric: bool = True,
        n_coalitions: int | None = None,
        noise: SampleNoise | None = None,
        repeats: FloatArray | None = None,
    ) -> "PairEstimate":
        """Return the estimate from counts, sums and sums of squares of pairs.

        Parameters
        ----------
        unknowns
            The way the log is read.
        count, total, squares
            Arrays (k, n, n), (1, n, n) if pooled, (k, n, n, n + 1) where sizes count (also for `Anonymous` and
            `KnownFactor`); a symmetric pair stands there twice. Without `squares` only Hoeffding's widths are had.
        bounds
            What is known of utilities.
        symmetric
            Whether both orders of a pair are one unknown.
        n_coalitions
            How many interchangeable coalitions there are, where the arrays do not tell.
        noise, repeats
            Where values of one sample may depend on each other: what occurs together, and the sum of n_m^2 over
            samples of an unknown that occurs n_m times in sample m.
        """
        if unknowns.is_pooled and (len(count) != 1 or n_coalitions is None):
            raise InputError("interchangeable coalitions need statistics that are pooled over them, and their number")
        moments = unknowns.moments(count, total, squares, symmetric=symmetric, repeats=repeats)
        k = len(count) if n_coalitions is None else n_coalitions
        return cls(unknowns, moments, unknowns.rounded(bounds), count.shape[1], k, noise, symmetric)


def pair_estimate(part: PairStatistics, unknowns: Unknowns | None = None) -> PairEstimate:
    """Return the estimate that the statistics were made for, or with other unknowns from statistics by size.

    Statistics that ignore sizes give the size-free or pooled estimate, size-aware ones the size-aware estimate;
    `Anonymous` or a `KnownFactor` use size-aware statistics with fewer unknowns.
    """
    setting, bounds = part.setting, Bounds.of(part.setting)
    aware, pooled = setting.sizes == "aware", setting.pool_coalitions
    if unknowns is not None and not aware:
        raise InputError(f"this estimate needs statistics by size: {said(sizes='aware')}")
    n, k = setting.n_agents, setting.n_coalitions
    listed = _listed(part) if is_listed(setting) else None
    noise = _noise(part)

    def table(values: FloatArray) -> FloatArray:
        return _spread(setting, part.entries.keys, values, listed)

    count = table(part.count.astype(np.float64))
    if unknowns is not None:
        if setting.adaptive:
            raise InputError(f"{said(adaptive=True)} is not available for anonymous sizes or a known factor")
        if noise is not None:
            raise InputError(f"{said(noise='samples')} is not available for anonymous sizes or a known factor")
        if part.met is not None:
            raise InputError(f"{said(missing='worst')} is not available for anonymous sizes or a known factor")
        total = table(part.mean * part.count)
        squares = table(part.variance * (part.count - 1) + part.count * part.mean**2)
        return PairEstimate.from_sums(unknowns, count, total, squares, bounds, symmetric=setting.symmetric)
    repeats = table(part.repeats.astype(np.float64)) if pooled and noise is not None else None
    if pooled and setting.adaptive and repeats is None:
        # Independent values; the same width as for dependent ones, so that one is never below the other.
        repeats = count
    # Every utility is rounded by at most half a step, which moves a standard deviation by less than a step.
    variance = (np.sqrt(part.variance) + 2 * bounds.rounding) ** 2
    # Which unknowns are observed may depend on utilities: then all that could be are paid for.
    events = setting.n_pairs if setting.adaptive else len(part.count)
    stands = 2 if listed is not None and setting.symmetric else 1
    moments = Moments(count, table(part.mean), table(variance), events, repeats, stands=stands)
    if part.met is not None:
        moments = _with_unrecorded(moments, setting, part.met, listed)
    read = listed or unknowns_of(by_size=aware, pooled=pooled)
    return PairEstimate(read, moments, bounds, n, k, noise, setting.symmetric, part.shared)


def is_listed(setting: Setting) -> bool:
    """Return whether there are too many pairs for arrays over all of them: then those that were seen are listed."""
    cells = float(setting.n_tables) * setting.n_agents**2
    many = setting.n_agents > pair_statistics.DENSE_AGENTS or cells > CELLS
    return many and setting.sizes == "ignore" and setting.feedback == "semi-bandit"


def _listed(part: PairStatistics) -> SeenPairs:
    """Return the pairs that were seen, or that met where outcomes may be missing."""
    setting, keys = part.setting, part.entries.keys if part.met is None else part.met.keys
    return SeenPairs(keys, setting.n_agents, setting.n_coalitions, setting.symmetric, setting.pool_coalitions)


def _with_unrecorded(moments: Moments, setting: Setting, met: Sums, listed: SeenPairs | None) -> Moments:
    """Return moments of all meetings, of which those without a row count at their worst.

    With N recorded and U unrecorded values, a mean is off by no more than the width at N + U from that of all, which
    is N / (N + U) of the recorded mean plus U / (N + U) of something in the range. All that met count, rated or not:
    which of them were rated may depend on their utilities, which of them met does not.
    """
    count, *others = (_spread(setting, met.keys, column, listed) for column in met.values.T.astype(np.float64))
    repeats = None if moments.repeats is None else others[0]
    events = setting.n_pairs if setting.adaptive else len(met.keys)
    share = np.divide(count - moments.count, count, out=np.zeros_like(count), where=count > 0)
    return replace(moments, count=count, events=events, repeats=repeats, unrecorded=share)


def _spread(setting: Setting, keys: IntArray, values: FloatArray, listed: SeenPairs | None) -> FloatArray:
    """Spread one value per observed unknown over (tables, n, n), (tables, n, n, n + 1), or those that are listed."""
    if listed is not None:
        found = np.zeros(len(listed.keys))
        found[places_in(listed.keys, keys)[0]] = values
        return found
    n, tables = setting.n_agents, setting.n_tables
    shape: tuple[int, ...] = (tables, n, n, n + 1)[: keys.shape[1]]
    key: tuple[Any, ...] = tuple(keys.T)
    turned: tuple[Any, ...] = (key[0], key[2], key[1], *key[3:])
    if np.prod(shape, dtype=np.float64) > CELLS:
        raise TooLargeError(
            f"estimates for {n} agents and {tables} coalitions"
            + (" by size" if setting.sizes == "aware" else "")
            + f" need more than {CELLS} cells; {said(sizes='ignore')} needs the pairs that were seen alone"
        )
    table = np.zeros(shape)
    table[key] = values
    if setting.symmetric:
        table[turned] = values
    return table


def _noise(part: PairStatistics) -> SampleNoise | None:
    if part.setting.noise != "samples":
        return None
    by_cluster = None if part.clusters is None or is_listed(part.setting) else part.by_cluster
    if part.together is None or is_listed(part.setting):
        return SampleNoise(None, by_cluster)

    # A search asks for one agent's matrix after the other, again and again: to keep only some of them would be in vain.
    setting = part.setting
    fits = 8 * setting.n_agents * setting.n_features**2 <= REMEMBERED_BYTES

    @cache
    def remembered(agent: int) -> FloatArray:
        return part.cooccurrence(agent).astype(np.float64)

    def together(agent: int, some: IntArray | None) -> FloatArray:
        if not fits:
            return part.cooccurrence(agent, some).astype(np.float64)
        return remembered(agent) if some is None else remembered(agent)[np.ix_(some, some)]

    return SampleNoise(together, by_cluster, part.together)
