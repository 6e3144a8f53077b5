"""What a reader of a result should be warned about: assumptions that fail, and data that mislead."""

from collections.abc import Iterator, Sequence

import numpy as np

from coterie.certificates.diagnose import size_dependence, within_sample_dependence
from coterie.game.strategy import Strategy
from coterie.log.log import Log
from coterie.statistics.dependence import sample_excess
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import Statistics
from coterie.words import said

SIZED_CELLS = 20_000_000
"""Whether size matters is tested for up to so many pairs x coalitions x sizes."""


def cautions(log: Log | None, statistics: Statistics, strategy: Strategy) -> list[str]:
    """Return one sentence per warning; without the log, those that statistics can show."""
    found: list[str] = []
    if log is not None:
        found += log.notes
        found += _broken_assumptions(log, statistics)
        found += _one_sign(log)
    found += _meaningless_labels(statistics)
    found += _larger_than_seen(statistics, strategy)
    return found


def _broken_assumptions(log: Log, statistics: Statistics) -> Iterator[str]:
    """Yield the warnings of the tests in `coterie.certificates.diagnose`."""
    setting = statistics.setting
    if setting.feedback != "semi-bandit":
        return
    n = setting.n_agents
    testable = setting.n_tables * n * n * (n + 1) <= SIZED_CELLS and statistics.n_samples > 1
    if setting.sizes == "ignore" and log.has_memberships and testable:
        by_size = Statistics.of(log, sizes="aware", parts=(0.5, 0.5), seed=setting.seed)
        yield from size_dependence([part for part in by_size.parts if isinstance(part, PairStatistics)]).warnings()
    if setting.noise == "pairs":
        warning = within_sample_dependence(sample_excess(log))
        if warning is not None:
            yield warning


def _one_sign(log: Log) -> Iterator[str]:
    """Yield a warning where nobody, or everybody, seems worth avoiding: the neutral point may be wrong."""
    if log.checked.extent is None or (log.feedback == "bandit" and log.neutral != 0):
        return  # totals are compared with as many neutral points as they have terms
    low, high = (end - log.neutral for end in log.checked.extent)
    if low >= 0 < high or high <= 0 > low:
        side, wish = ("below", "join as many coalitions as possible") if low >= 0 else ("above", "be alone")
        yield (
            f"no utility is {side} the neutral point {log.neutral:g}, so everybody would rather "
            f"{wish}: say with {said('neutral')} which utility is worth as much as being alone"
        )


def _meaningless_labels(statistics: Statistics) -> Iterator[str]:
    setting = statistics.setting
    if setting.pool_coalitions or statistics.n_samples < 2 or setting.n_coalitions < 2:
        return
    used = statistics.whole.size_counts[:, 1:].sum(axis=1)
    if (used <= 1).all():
        yield (
            "every coalition occurs in one sample only, so their labels seem to mean nothing: "
            f"use {said(pool_coalitions=True)} to treat them as interchangeable"
        )


def _larger_than_seen(statistics: Statistics, strategy: Strategy) -> Iterator[str]:
    counts = statistics.whole.size_counts
    sizes = np.arange(counts.shape[1])
    seen = np.where(counts > 0, sizes, 0).max(axis=1)
    largest: Sequence[int] = np.broadcast_to(seen, strategy.n_coalitions).tolist()
    expected = strategy.marginals.sum(axis=0)
    for name, members, most in zip(strategy.coalitions, expected.tolist(), largest, strict=True):
        # A mixed strategy has an expected size.
        if members > most + 1e-9 and members > 1:
            yield (
                f"{'coalition' if strategy.is_pure else 'on average, coalition'} {name} would have {members:.3g} "
                f"members, more than ever seen ({most}): the result relies on size not mattering"
                if statistics.setting.sizes == "ignore"
                else f"coalition {name} would have {members:.3g} members, more than ever seen ({most}): nothing is "
                "known about it at that size"
            )
