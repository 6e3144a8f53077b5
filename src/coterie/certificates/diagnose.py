"""Tests of what certificates assume; each says how often it raises a false alarm.

Two assumptions fail often in real logs: that utilities do not depend on coalition size, and that
the pairs of one sample are independent. Both tests need nothing but the clues that statistics
carry (`coterie.statistics.clues`); a warning names the option that does without the assumption.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.estimate import confidence
from coterie.estimate.pair_means import PairEstimate, pair_estimate
from coterie.statistics.clues import can_test_sizes
from coterie.statistics.dependence import FALSE_ALARMS, LEAST_SAMPLES, SampleExcess
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import Statistics
from coterie.words import counted, said

Verdict = Literal["no objection", "broken", "not tested"]


WITHOUT_CLUES = "these statistics were made without what tests of assumptions need"


@dataclass(frozen=True)
class Check:
    """What a test says of one assumption."""

    assumption: str
    """Which: "symmetry", "sizes", "independence", "drift", "missing" or "adaptive"."""
    verdict: Verdict
    text: str
    """A sentence: what is wrong and what helps, or why there was no test."""


def checks_of(statistics: Statistics) -> tuple[Check, ...]:
    """Return what every test says of the log that statistics come from."""
    return (sizes_check(statistics), independence_check(statistics))


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
        named = (
            f"coalitions {', '.join(others)} and {last} depend on their"
            if others
            else f"coalition {last} depend on its"
        )
        return [f"utilities in {named} size: use {said(sizes='aware')}"]


def sizes_check(statistics: Statistics) -> Check:
    """Test whether utilities depend on coalition size, where they are taken not to."""
    clues, setting = statistics.clues, statistics.setting
    if setting.sizes == "aware":
        return Check("sizes", "not tested", "utilities may depend on coalition size, as was said")
    if setting.feedback == "bandit":
        return Check("sizes", "not tested", "totals are not tested for a dependence on coalition size")
    if not can_test_sizes(setting):
        return Check("sizes", "not tested", "there are too many agents and coalitions to test whether size matters")
    if clues.extent is None:
        return Check("sizes", "not tested", WITHOUT_CLUES)
    if not clues.by_size or statistics.n_samples < 2:
        return Check("sizes", "not tested", "whether size matters needs two samples and a table of memberships")
    found = size_dependence(clues.by_size)
    if not found.coalitions:
        return Check("sizes", "no objection", "utilities do not seem to depend on coalition size")
    return Check("sizes", "broken", found.warnings()[0])


def size_dependence(parts: Sequence[PairStatistics], alpha: float = FALSE_ALARMS) -> SizeDependence:
    """Test whether the means of pairs differ between coalition sizes.

    The two halves of the log are played against each other. One suggests, for each pair, how its
    utility varies with size; on the other the same contrast has mean 0 if
    size does not matter, and a Hoeffding or Bernstein bound for it fails with probability at most
    its share of alpha. Both directions and all coalitions share alpha, so false alarms have
    probability at most alpha if pairs of one sample are independent, whatever their distributions.
    (Where a sample's pairs move together, the larger coalitions of that sample do too, and alarms
    are more frequent.)
    """
    if len(parts) != 2:
        raise InputError("the test for dependence on size needs statistics in two parts")
    estimates = [pair_estimate(part) for part in parts]
    if not estimates[0].unknowns.by_size:
        raise InputError('the test for dependence on size needs statistics by size: sizes="aware"')
    tables = len(estimates[0].moments.count)
    log_term = float(np.log(3 * 2 * tables / alpha))
    strength = np.maximum(
        _contrast_strength(estimates[0], estimates[1], log_term, symmetric=parts[0].setting.symmetric),
        _contrast_strength(estimates[1], estimates[0], log_term, symmetric=parts[0].setting.symmetric),
    )
    names = parts[0].setting.coalitions if tables > 1 or len(parts[0].setting.coalitions) == 1 else ("(pooled)",)
    found = tuple(name for name, value in zip(names, strength, strict=True) if value > 1)
    return SizeDependence(found, strength)


def _contrast_strength(suggests: PairEstimate, tests: PairEstimate, log_term: float, *, symmetric: bool) -> FloatArray:
    """Return, per coalition, the contrast on the testing part over the most that chance explains."""
    ours, theirs = suggests.moments, tests.moments
    # A symmetric pair stands twice in the arrays but is one unknown: keep one of the two.
    n = ours.count.shape[1]
    once = np.triu(np.ones((n, n)), 1)[None, :, :, None] if symmetric else np.ones((1, n, n, 1))
    count, own = theirs.count * once, ours.count * once
    total = own.sum(axis=3, keepdims=True)
    pair_mean = np.divide(
        (own * ours.mean).sum(axis=3, keepdims=True), total, out=np.zeros_like(total), where=total > 0
    )
    # Few values say little: shrink what they suggest.
    suggested = (ours.mean - pair_mean) * own / (own + 10.0)
    seen = count.sum(axis=3, keepdims=True)
    centre = np.divide((count * suggested).sum(axis=3, keepdims=True), seen, out=np.zeros_like(seen), where=seen > 0)
    weight = np.where(count > 0, suggested - centre, 0.0) * once
    coefficient = weight * count
    axes = (1, 2, 3)
    contrast = (coefficient * theirs.mean).sum(axis=axes)
    r = tests.bounds.half_range
    by_range = confidence.direction_hoeffding(r**2 * (weight**2 * count).sum(axis=axes), log_term)
    width = by_range
    if theirs.variance is not None and tests.bounds.sigma is None:
        variance = np.where(count >= 2, theirs.variance, r**2)
        largest = np.abs(np.divide(coefficient, np.maximum(count - 1, 1))).max(axis=axes)
        by_variance = confidence.direction_bernstein(
            (weight**2 * count * variance).sum(axis=axes), largest, r, log_term
        )
        width = np.minimum(by_range, by_variance)
    return np.asarray(np.divide(contrast, width, out=np.zeros_like(contrast), where=width > 0))


def independence_check(statistics: Statistics) -> Check:
    """Test whether the pairs of one sample move together, or say what follows from the test that was made already."""
    setting, clues = statistics.setting, statistics.clues
    if setting.noise == "samples":
        score = None if clues.decisive is None else clues.decisive.alarm()
        if score is None:
            return Check("independence", "not tested", "pairs of one sample may depend on each other, as was said")
        return Check(
            "independence",
            "broken",
            f"utilities of one sample move {_together(score)} (score {score:.1f}), so they are not taken to be "
            f"independent: certificates are those of {said(noise='samples')}, which are wider",
        )
    if setting.feedback == "bandit":
        return Check("independence", "not tested", "totals do not show whether the pairs of a sample move together")
    if clues.extent is None:
        return Check("independence", "not tested", WITHOUT_CLUES)
    if not clues.excess.is_enough:
        text = f"fewer than {counted(LEAST_SAMPLES, 'sample')} with two pairs do not show whether pairs move together"
        return Check("independence", "not tested", text)
    warning = within_sample_dependence(clues.excess)
    if warning is None:
        return Check("independence", "no objection", "pairs of one sample do not seem to move together")
    return Check("independence", "broken", warning)


def within_sample_dependence(excess: SampleExcess, alpha: float = FALSE_ALARMS) -> str | None:
    """Return a warning if the pairs of a sample move together (or against each other), else None.

    See `SampleExcess.alarm` for the test; with fewer than 30 samples it is silent.
    """
    score = excess.alarm(alpha)
    if score is None:
        return None
    return f"utilities of one sample move {_together(score)} (score {score:.1f}): use {said(noise='samples')}"


def _together(score: float) -> str:
    return "together" if score > 0 else "against each other"
