"""Tests of whether outcomes that were not recorded are many, or unevenly spread."""

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.assumptions.check import BY_RATINGS, Check
from coterie.statistics.clues import MOST_MEETINGS
from coterie.statistics.dependence import FALSE_ALARMS
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics
from coterie.sums import Sums
from coterie.words import said

MANY = 0.05
"""Above this share, meetings that nobody recorded are many."""


def missing_check(statistics: Statistics, alpha: float = FALSE_ALARMS) -> Check:
    """Tell whether outcomes without a row are many (a share above `MANY`) or unevenly spread over pairs.

    If all T meetings are as likely to lack a row, then of the m of one pair u are missing by a hypergeometric
    distribution with share q, and Pr[u / m >= x] <= exp(-m kl(x, q)) for x > q (Hoeffding 1963). One event for each
    pair and coalition, so an even spread is called uneven with probability at most alpha. What the missing outcomes
    were, nothing can tell. Bandit logs: the same for the totals of each agent.
    """
    setting, unrecorded = statistics.setting, statistics.clues.unrecorded
    if setting.missing == "worst":
        return Check("missing", "not assumed", "outcomes that were not recorded count at their worst")
    if setting.of_teams:
        return Check("missing", "not tested", "why teams have no score, where they have none, is not known")
    if unrecorded is None:
        size = np.arange(statistics.whole.size_counts.shape[1])
        is_long = (statistics.whole.size_counts * size * (size - 1)).sum() > MOST_MEETINGS
        why = "this log is too long to look through for it" if is_long else BY_RATINGS
        return Check("missing", "not tested", f"whether outcomes are missing is not known: {why}")
    if not len(unrecorded.keys):
        return Check("missing", "no objection", "every outcome was recorded")
    whole = statistics.whole
    counted = (whole.entries.keys[:, :3], whole.count) if isinstance(whole, PairStatistics) else _by_agent(whole)
    outcomes = _beside(*counted, unrecorded)
    missing, met = outcomes.values[:, 1], outcomes.values.sum(axis=1)
    share = float(missing.sum() / met.sum())
    surprise = np.where(missing > share * met, met * _divergence(missing / met, share), 0.0)
    worst = int(surprise.argmax())
    uneven = surprise[worst] > np.log(len(met) / alpha)
    is_pairs = setting.feedback == "semi-bandit"
    what = "meetings have no row in pairs" if is_pairs else "times a member has no total"
    text = f"{int(missing.sum()):,} of {int(met.sum()):,} {what}"
    if share <= MANY and not uneven:
        return Check("missing", "no objection", f"{text}, which is few, and evenly spread")
    if uneven:
        places = outcomes.keys[worst].tolist()
        who = [setting.agents[i] for i in (places[1:3] if is_pairs else places)]
        where = f" in {setting.coalitions[places[0]]}" if is_pairs and not setting.pool_coalitions else ""
        text += f", unevenly spread ({int(missing[worst])} of {int(met[worst])} of {' and '.join(who)}{where})"
    cure = f"use {said(missing='worst')}, or look for the rows" if is_pairs else "look for the rows"
    return Check("missing", "broken", f"{text}: if things went badly then, what is learnt is too rosy; {cure}")


def _divergence(x: FloatArray, q: float) -> FloatArray:
    """Return kl(x, q) of shares, 0 <= x <= 1 and 0 < q < 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = x * np.log(x / q), (1 - x) * np.log((1 - x) / (1 - q))
    return np.asarray(np.where(x > 0, above, 0.0) + np.where(x < 1, below, 0.0))


def _by_agent(whole: TotalStatistics) -> tuple[IntArray, IntArray]:
    """Return agents as keys, and how many totals each has."""
    return np.arange(len(whole.totals))[:, None], whole.totals


def _beside(keys: IntArray, recorded: IntArray, unrecorded: Sums) -> Sums:
    """Return how many outcomes of each key were recorded, and how many were not."""
    ours = np.stack([recorded, np.zeros_like(recorded)], axis=1)
    theirs = np.concatenate([np.zeros_like(unrecorded.values), unrecorded.values], axis=1)
    both = Sums.collect(np.concatenate([keys, unrecorded.keys]), np.concatenate([ours, theirs]))
    some = both.values.any(axis=1)
    return Sums(both.keys[some], both.values[some])
