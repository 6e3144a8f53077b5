"""Tests of whether mean utilities change over time."""

import numpy as np

from coterie.assumptions.check import Check
from coterie.estimate.intervals import Bounds
from coterie.statistics.dependence import FALSE_ALARMS
from coterie.statistics.drift import Contrast
from coterie.statistics.statistics import Statistics
from coterie.words import said

LADDER = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
"""The lambda of `_surprise`, in units of 1 / R; fixed beforehand, each an event of its own."""


def drift_check(statistics: Statistics, alpha: float = FALSE_ALARMS) -> Check:
    """Test whether mean utilities are the same in the first and in the second half of the samples.

    Samples are in their natural order, see `coterie.log.samples`. The test is that of `_surprise` in both folds, six
    events each, so false alarms have probability at most alpha, whatever the distributions and however the pairs of a
    sample depend on each other; sizes are told apart where they are known. A change that later reverts is not seen.

    The proof is given who met whom, so it does not cover adaptive logs: if two met until it went badly, their early
    values are lower than their mean, and the weights of all values hang on how often they met later.
    """
    seen, change = statistics.clues.drift, statistics.clues.drift.change
    if statistics.setting.feedback == "bandit":
        return Check("drift", "not tested", "whether what pairs get changes over time is not tested for totals")
    if not any(fold.samples for fold in seen.folds):
        few = "no pair was seen often enough, or the statistics do not say"
        return Check("drift", "not tested", f"whether what pairs get changes over time is not known: {few}")
    log_term = float(np.log(2 * (1 + len(LADDER)) / alpha))
    strength = max(_surprise(fold, Bounds.of(statistics.setting), log_term) for fold in seen.folds)
    if strength <= 1 or change is None:
        if seen.logs <= 1:
            return Check("drift", "no objection", "what pairs get does not visibly change over time")
        within = f"what pairs get does not visibly change within any of the {seen.logs} logs that were added up"
        return Check("drift", "not tested", f"{within}; whether it changed from log to log is not tested")
    before, after = map(statistics.setting.told, (change.before, change.after))
    where = f" in {change.coalition}" if change.coalition else ""
    return Check(
        "drift",
        "broken",
        f"what pairs get is not the same in the first and in the second half of the rounds (such as {change.agent} "
        f"and {change.partner}{where}: {before:.2f}, then {after:.2f}): use {said('since')} to leave "
        "out earlier rounds",
    )


def _surprise(fold: Contrast, bounds: Bounds, log_term: float) -> float:
    """Return T = sum of y over the most that chance explains; above 1 with probability at most 6 exp(-L).

    Given the other fold and who met whom, the y of different samples are independent, their means add up to 0, and y
    lies in an interval of length 2 r a. Hoeffding: T <= r sqrt(2 L sum of a^2), one event. As y >= -R, for lambda =
    h / R and psi = -log(1 - h) - h: exp(lambda y - psi y^2 / R^2) <= 1 + lambda y (Fan, Grama and Liu 2015, Lemma
    4.1), of mean at most exp(lambda E y); the product over samples has mean at most 1, and by Markov's inequality
    T <= L / lambda + psi / (lambda R^2) sum of y^2, one event for each lambda of the ladder.
    """
    widths = [bounds.half_range * np.sqrt(2 * log_term * fold.reaches)]
    if bounds.sigma is None:
        depth = fold.deepest
        widths += [depth * log_term / h - fold.squares * (np.log1p(-h) + h) / (h * depth) for h in LADDER if depth > 0]
    width = min(widths)
    return float(fold.total / width) if width > 0 else 0.0
