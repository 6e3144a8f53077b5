"""What is taken to be independent, chosen by the samples that learn, and statistics that follow the choice.

Later logs may tell what earlier ones did not. From dependent to independent pairs nothing is missing: what the former
need beside sums is left out. The other way round it was never kept which unknowns e and f of an agent occurred in the
same sample; it was in at most min(N_e, N_f) of them, so that takes the place of H_ef. All that a width needs of H is
that it is not too small (`coterie.certificates.widths.dependent`).
"""

from dataclasses import replace

import numpy as np

from coterie.arrays import IntArray
from coterie.errors import InputError
from coterie.statistics.accumulate import MOST_GRAM_ENTRIES, gram_entries
from coterie.statistics.dependence import SampleExcess
from coterie.statistics.packed import packed_length, packed_positions
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Noise, Setting
from coterie.statistics.statistics import Statistics
from coterie.sums import Sums
from coterie.words import said


def chosen_noise(decisive: SampleExcess) -> Noise:
    """Return what is taken to be independent, given how far pairs move together in the samples that learn.

    With too few samples to test, no pairs of one sample are. Whether there are enough depends on who met whom alone.
    """
    return "pairs" if decisive.is_enough and decisive.alarm() is None else "samples"


def agreeing(ours: Statistics, theirs: Statistics) -> tuple[Statistics, Statistics]:
    """Return statistics that are to be added with the noise that the samples that learn in both choose together.

    They are as they were where somebody chose for one of them, and where `with_noise` cannot follow.
    """
    decisive = [one.clues.decisive for one in (ours, theirs)]
    if decisive[0] is None or decisive[1] is None or ours.setting.feedback == "bandit":
        return ours, theirs
    noise = chosen_noise(decisive[0] + decisive[1])
    able = can_have_noise(ours, noise) and can_have_noise(theirs, noise)
    return (with_noise(ours, noise), with_noise(theirs, noise)) if able else (ours, theirs)


def can_have_noise(statistics: Statistics, noise: Noise) -> bool:
    """Return whether `with_noise` can do it: not from pairs to samples where a pair may meet several times in one."""
    setting = statistics.setting
    return noise == setting.noise or (
        setting.feedback == "semi-bandit" and not (noise == "samples" and setting.pool_coalitions)
    )


def with_noise(statistics: Statistics, noise: Noise) -> Statistics:
    """Return the same sums, with the pairs of one sample taken to be independent, or not."""
    if noise == statistics.setting.noise:
        return statistics
    if not can_have_noise(statistics, noise):
        raise InputError(f"these statistics cannot be read with {said(noise=noise)}: make them anew from the log")
    setting = replace(statistics.setting, noise=noise)
    change = _independent if noise == "pairs" else _dependent
    parts = tuple(change(part, setting) for part in statistics.parts if isinstance(part, PairStatistics))
    return replace(statistics, setting=setting, parts=parts)


def _independent(part: PairStatistics, setting: Setting) -> PairStatistics:
    entries = Sums(part.entries.keys, part.entries.values[:, :4])
    met = None if part.met is None else Sums(part.met.keys, part.met.values[:, :1])
    return PairStatistics(setting, part.n_samples, entries, part.teams, met=met)


def _dependent(part: PairStatistics, setting: Setting) -> PairStatistics:
    counted = part.entries if part.met is None else part.met
    together = _at_most_together(counted, setting) if gram_entries(setting) <= MOST_GRAM_ENTRIES else None
    return PairStatistics(setting, part.n_samples, part.entries, part.teams, together, part.met)


def _at_most_together(counted: Sums, setting: Setting) -> IntArray:
    """Return min(N_e, N_f) for all unknowns e and f of each agent, packed."""
    table, agent, partner, *size = counted.keys.T
    count = np.zeros((setting.n_agents, setting.n_features), dtype=np.int64)
    for one, other in ((agent, partner), (partner, agent)) if setting.symmetric else ((agent, partner),):
        count[one, setting.feature(one, table, other, size[0] if size else None)] = counted.values[:, 0]
    result = np.zeros((setting.n_agents, packed_length(setting.n_features)), dtype=np.int64)
    for i in range(setting.n_agents):
        seen = np.flatnonzero(count[i])
        rows, columns = (seen[places] for places in np.triu_indices(len(seen)))
        where = packed_positions(rows, columns, setting.block, setting.n_features)
        result[i, where] = np.minimum(count[i, rows], count[i, columns])
    return result
