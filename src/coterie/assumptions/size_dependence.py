"""Tests of whether utilities depend on coalition size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.arrays import FloatArray
from coterie.assumptions.check import BY_RATINGS, WITHOUT_CLUES, Check
from coterie.certificates.widths import hoeffding_shape
from coterie.errors import InputError
from coterie.estimate.intervals import Bounds
from coterie.statistics.clues import can_test_sizes
from coterie.statistics.contrast import SizeContrast, suggested_weights, tested_names
from coterie.statistics.dependence import FALSE_ALARMS
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import Statistics
from coterie.words import said


@dataclass(frozen=True)
class SizeDependence:
    """Which coalitions' utilities surely depend on size, and how strongly each one seems to."""

    coalitions: tuple[str, ...]
    strength: FloatArray
    """For each coalition, the found effect in units of what chance could explain; above 1 is an alarm."""

    def warnings(self) -> list[str]:
        """Return one sentence, if any coalition is concerned."""
        if not self.coalitions:
            return []
        *others, last = self.coalitions
        named = f"{', '.join(others)} and {last} depend on their" if others else f"{last} depend on its"
        return [f"outcomes in {named} size: use {said(sizes='aware')}"]


def size_check(statistics: Statistics) -> Check:
    """Test whether utilities depend on coalition size, where they are taken not to."""
    clues, setting = statistics.clues, statistics.setting
    if setting.sizes == "aware":
        return Check("sizes", "not assumed", "outcomes may depend on the size of teams, as was said")
    if setting.feedback == "bandit":
        return Check("sizes", "not tested", "totals are not tested for a dependence on the size of teams")
    if not can_test_sizes(setting):
        return Check("sizes", "not tested", "there are too many people and teams to test whether size matters")
    if clues.extent is None:
        return Check("sizes", "not tested", WITHOUT_CLUES)
    if not clues.by_size or statistics.n_samples < 2:
        why = "one round does not show it" if statistics.n_samples < 2 else BY_RATINGS
        return Check("sizes", "not tested", f"whether the size of a team matters is not known: {why}")
    found = size_dependence(clues.by_size, clues.contrasts)
    if not found.coalitions:
        return Check("sizes", "no objection", "outcomes do not seem to depend on the size of teams")
    return Check("sizes", "broken", found.warnings()[0])


def size_dependence(
    parts: Sequence[PairStatistics], contrasts: Sequence[SizeContrast] = (), alpha: float = FALSE_ALARMS
) -> SizeDependence:
    """Test whether the means of pairs differ between coalition sizes; pairs of one sample may depend on each other.

    The two halves of the log are played against each other: one suggests a contrast, which has mean 0 on the other if
    size does not matter (`coterie.statistics.contrast`). Two tests have half of alpha each, shared by both directions
    and all coalitions.

    Sample by sample, where `contrasts` are known: T = sum of t over independent samples exceeds sqrt(2 L sum of t^2)
    with probability at most exp(-L) if each t is as likely as -t (given all |t|, T is a sum of random signs, and that
    is Hoeffding's bound), and about so with many samples whatever t is like. Where losses are rare, the sum of t^2 may
    be far below its mean, so `expected` counts where that is larger.

    From sums alone, which logs that were added have in common: by the Cauchy-Schwarz inequality, (sum over the P pairs
    of a room of |weight|)^2 <= P sum of weight^2 with P = s (s - 1) / 2 (twice that if pairs are ordered; not known if
    coalitions are pooled), so r^2 sum of N P weight^2 is a variance proxy of T and Hoeffding's bound holds, surely.
    """
    if len(parts) != 2:
        raise InputError("the test for dependence on size needs statistics in two parts")
    setting = parts[0].setting
    if setting.sizes != "aware":
        raise InputError('the test for dependence on size needs statistics by size: sizes="aware"')
    names, bounds = tested_names(setting), Bounds.of(setting)
    strength = np.zeros(len(names))
    log_term = float(np.log(2 * 2 * len(names) / alpha))
    for one in contrasts:
        spread = max(one.squares, one.expected)
        if spread > 0:
            place = names.index(one.coalition)
            strength[place] = max(strength[place], one.total / np.sqrt(2 * log_term * spread))
    if not setting.pool_coalitions:
        for half in (0, 1):
            strength = np.maximum(strength, _strength_of_sums(parts[1 - half], parts[half], bounds, log_term))
    return SizeDependence(tuple(name for name, value in zip(names, strength, strict=True) if value > 1), strength)


def _strength_of_sums(suggests: PairStatistics, tests: PairStatistics, bounds: Bounds, log_term: float) -> FloatArray:
    """Return, per coalition, the contrast on the testing half over the most that chance explains."""
    weight, mean = suggested_weights(suggests, tests)
    tables, table = tests.setting.n_tables, tests.coalition
    contrast = np.bincount(table, weight * tests.count * (tests.mean - mean), minlength=tables).astype(np.float64)
    together = tests.size * (tests.size - 1) / (2 if tests.setting.symmetric else 1)
    squares = np.bincount(table, weight**2 * tests.count * together, minlength=tables).astype(np.float64)
    width = hoeffding_shape(log_term).width(bounds.half_range**2 * squares)
    return np.asarray(np.divide(contrast, width, out=np.zeros(tables), where=width > 0))
