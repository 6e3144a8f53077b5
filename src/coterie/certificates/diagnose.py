"""Tests of what certificates assume; each says how often it raises a false alarm.

Some assumptions fail often in real logs: that utilities do not depend on coalition size, that the pairs of one sample
are independent, that both agents of a pair get the same. The tests need nothing but statistics and the clues that they
carry (`coterie.statistics.clues`); a warning names the option that does without the assumption.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.estimate import confidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate, pair_estimate
from coterie.estimate.ridge import agent_ridge
from coterie.statistics.dependence import SampleExcess
from coterie.statistics.drift import Contrast
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics
from coterie.sums import Sums
from coterie.words import counted, said

FALSE_ALARMS = 0.01
"""How often each test raises an alarm on a log that satisfies the assumption."""

RIDGE_STEPS = 2e11
"""What two agents get from each other is compared in bandit logs that take up to so many steps to solve."""


@dataclass(frozen=True)
class Check:
    """What a log says about one assumption."""

    assumption: str
    """A short key: "symmetry", "sizes", "independence", "drift", "missing", "adaptive"."""
    verdict: Literal["no objection", "broken", "not tested"]
    text: str
    """A sentence: what was found, with the option that does without a broken assumption; or why nothing was tested."""


def checks_of(statistics: Statistics) -> tuple[Check, ...]:
    """Return what a log says about each assumption that its statistics make."""
    symmetric = [symmetry(statistics)] if statistics.setting.symmetric else []
    return (*symmetric, drift(statistics), missing_outcomes(statistics))


@dataclass(frozen=True)
class SizeDependence:
    """Which coalitions' utilities surely depend on size, and how strongly each one seems to."""

    coalitions: tuple[str, ...]
    strength: FloatArray
    """For each coalition, the found effect in units of what chance could explain; above 1 is an alarm."""

    def warnings(self) -> list[str]:
        """Return one sentence per coalition concerned."""
        return [
            f"utilities in coalition {name} depend on its size: use {said(sizes='aware')}" for name in self.coalitions
        ]


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


def within_sample_dependence(excess: SampleExcess, alpha: float = FALSE_ALARMS) -> str | None:
    """Return a warning if the pairs of a sample move together (or against each other), else None.

    The samples' excesses have mean 0 if pairs are independent, and hardly depend on each other; their
    sum over the root of the sum of their squares is then about standard normal. False alarms
    have probability about alpha with many samples, and up to three times that with 60 to 150 (more where a
    few pairs are rare); with fewer than 30 samples the test is silent.
    """
    if excess.samples < 30 or excess.squares <= 0:
        return None
    score = excess.total / np.sqrt(excess.squares)
    if abs(score) <= NormalDist().inv_cdf(1 - alpha / 2):
        return None
    together = "together" if score > 0 else "against each other"
    return f"utilities of one sample move {together} (score {score:.1f}): use {said(noise='samples')}"


def symmetry(statistics: Statistics, alpha: float = FALSE_ALARMS) -> Check:
    """Test whether both agents of a pair get the same, as statistics of symmetric logs take it.

    Where a log shows what both got in the same meeting, it was compared when the log was read
    (`coterie.log.checking`). Here the means of the two sides are compared, whichever meetings they come from.
    """
    clues = statistics.clues
    if isinstance(statistics.whole, TotalStatistics):
        found = _total_symmetry(statistics.whole, alpha)
    elif clues.by_order is None:
        found = _untested("it is not kept whose utility the log lists")
    else:
        found = _pair_symmetry(clues.by_order, alpha)
    if found.verdict == "not tested" and clues.agreed:
        seen = f"both agents of a pair showed what they got {counted(clues.agreed, 'time')}, and it was the same"
        return Check("symmetry", "no objection", seen)
    return found


def _pair_symmetry(by_order: PairStatistics, alpha: float) -> Check:
    """Compare the mean of the rows that list i as the agent with that of the rows that list j, for each pair.

    If both get the same, the difference of the two means has mean 0, and Hoeffding's bound for it (1 event) or
    Bernstein's (2 events) fails with probability at most alpha / 6P each, on 2 sides of P pairs x coalitions: false
    alarms have probability at most alpha. No pair is compared with another, so the pairs of a sample may move together.
    """
    bounds = Bounds.of(by_order.setting)
    sides = _both_orders(by_order)
    if not sides.size:
        return _untested("no pair is listed now with the one and now with the other as its agent")
    log_term = confidence.log_events(6 * sides.shape[1], alpha)
    count, mean, r = by_order.count[sides].astype(np.float64), by_order.mean[sides], bounds.half_range
    width = confidence.direction_hoeffding(r**2 * (1 / count).sum(axis=0), log_term)
    if bounds.sigma is None:
        rounded = (np.sqrt(by_order.variance[sides]) + 2 * bounds.rounding) ** 2
        variance = (np.where(count >= 2, rounded, r**2) / count).sum(axis=0)
        largest = (1 / np.maximum(count - 1, 1)).max(axis=0)
        width = np.minimum(width, confidence.direction_bernstein(variance, largest, r, log_term))
    return _compared(by_order.setting, by_order.entries.keys[sides[0], :3], mean, width + 2 * bounds.rounding)


def _both_orders(by_order: PairStatistics) -> IntArray:
    """Return the entries of pairs in both orders, shape (2, P): with the lower agent first, and the other way round."""
    n, (table, agent, partner) = by_order.setting.n_agents, by_order.entries.keys.T[:3]
    ahead, behind = np.flatnonzero(agent < partner), np.flatnonzero(agent > partner)
    ours = (table[ahead] * n + agent[ahead]) * n + partner[ahead]
    theirs = (table[behind] * n + partner[behind]) * n + agent[behind]
    _, first, second = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    return np.stack([ahead[first], behind[second]])


def _total_symmetry(part: TotalStatistics, alpha: float) -> Check:
    """Compare what i's totals say of d_ij with what j's say of d_ji, for each pair and coalition (and size).

    Both are ridge estimates (`coterie.estimate.ridge`), off by a bias of at most b and by noise of variance proxy
    s^2. If both get the same, the difference is off by at most b_i + b_j and by noise of proxy (s_i + s_j)^2, however
    the two depend on each other; on 2 sides of E unknowns that fails with probability at most alpha.
    """
    setting, n = part.setting, part.setting.n_agents
    if n * float(setting.n_features) ** 3 > RIDGE_STEPS:
        return _untested("there are too many unknowns to estimate them from each agent's totals alone")
    ridge = agent_ridge(part)
    if not np.isfinite(ridge.bounds.half_width):
        return _untested("nothing bounds what is estimated from totals without a range of utilities")
    own, full = (setting.n_tables, n - 1, setting.n_sizes), (n, setting.n_tables, n, setting.n_sizes)
    value, root, bias, seen = (np.zeros(full) for _ in range(4))
    for agent in range(n):
        others, known = np.arange(n) != agent, ridge.project(agent, np.eye(setting.n_features))
        value[agent][:, others] = ridge.theta(agent).reshape(own) + ridge.bounds.middle
        root[agent][:, others] = np.sqrt(np.maximum(np.diag(known.noise), 0.0)).reshape(own)
        bias[agent][:, others] = np.abs(known.bias).sum(axis=1).reshape(own)
        seen[agent][:, others] = (np.diag(ridge.gram[agent]) > 0).reshape(own)
    met = np.argwhere(seen * seen.transpose(2, 1, 0, 3))
    i, table, j, size = met[met[:, 0] < met[:, 2]].T
    if not len(i):
        return _untested("no two agents who met have totals both")
    sides = ((i, table, j, size), (j, table, i, size))
    noise, off = (array[sides[0]] + array[sides[1]] for array in (root, bias))
    width = off + confidence.direction_hoeffding(
        (ridge.bounds.half_range * noise) ** 2, confidence.log_events(2 * len(i), alpha)
    )
    return _compared(setting, np.stack([table, i, j], axis=1), np.stack([value[side] for side in sides]), width)


def _compared(setting: Setting, keys: IntArray, means: FloatArray, width: FloatArray) -> Check:
    """Return the verdict on what the two of each pair get, shape (2, P), where chance explains differences of a width.

    `keys` are the coalition and the two agents of each.
    """
    bounds, apart = Bounds.of(setting), np.abs(means[0] - means[1])
    worst = int(np.argmax(apart / width))
    if apart[worst] <= width[worst]:
        if width.min() >= bounds.high - bounds.low:
            return _untested("nobody was seen often enough to tell what one of a pair gets from what the other does")
        compared = counted(len(keys), "comparison")
        return Check(
            "symmetry", "no objection", f"both agents of a pair seem to get the same, as far as {compared} tell"
        )
    table, one, other = keys[worst].tolist()
    room = "" if setting.pool_coalitions else f" in coalition {setting.coalitions[table]}"
    one, other = setting.agents[one], setting.agents[other]
    return Check(
        "symmetry",
        "broken",
        f"{one} and {other} do not get the same from each other{room}: {one} seems to get {means[0, worst]:.3g}, "
        f"{other} {means[1, worst]:.3g}, and chance explains {width[worst]:.2g}: use {said(symmetric=False)}",
    )


def _untested(reason: str) -> Check:
    return Check("symmetry", "not tested", f"whether both agents of a pair get the same was not tested: {reason}")


def drift(statistics: Statistics, alpha: float = FALSE_ALARMS) -> Check:
    """Test whether mean utilities are the same in the first and in the second half of the samples.

    Samples are in their natural order, see `coterie.log.samples`. The test is that of `_surprise` in both folds, six
    events each, so false alarms have probability at most alpha, whatever the distributions and however the pairs of a
    sample depend on each other; sizes are told apart where they are known. A change that later reverts is not seen.
    """
    seen, change = statistics.clues.drift, statistics.clues.drift.change
    if statistics.setting.feedback == "bandit":
        return Check("drift", "not tested", "whether mean utilities change over time is not tested for totals")
    if not any(fold.samples for fold in seen.folds):
        few = "no pair was seen often enough, or the statistics do not say"
        return Check("drift", "not tested", f"whether mean utilities change over time is not known: {few}")
    log_term = float(np.log(2 * (1 + len(LADDER)) / alpha))
    strength = max(_surprise(fold, Bounds.of(statistics.setting), log_term) for fold in seen.folds)
    if strength <= 1 or change is None:
        return Check("drift", "no objection", "mean utilities do not visibly change over time")
    where = f" in {change.coalition}" if change.coalition else ""
    return Check(
        "drift",
        "broken",
        f"mean utilities are not the same in the first and in the second half of the samples (such as {change.agent} "
        f"and {change.partner}{where}: {change.before:.2f}, then {change.after:.2f}): use {said('since')} to leave "
        "out earlier samples",
    )


MANY = 0.05
"""Above this share, meetings that nobody recorded are many."""


def missing_outcomes(statistics: Statistics, alpha: float = FALSE_ALARMS) -> Check:
    """Tell whether outcomes without a row are many (a share above `MANY`) or unevenly spread over pairs.

    If all T meetings are as likely to lack a row, then of the m of one pair u are missing by a hypergeometric
    distribution with share q, and Pr[u / m >= x] <= exp(-m kl(x, q)) for x > q (Hoeffding 1963). One event for each
    pair and coalition, so an even spread is called uneven with probability at most alpha. What the missing outcomes
    were, nothing can tell. Bandit logs: the same for the totals of each agent.
    """
    setting, unrecorded = statistics.setting, statistics.clues.unrecorded
    if setting.missing == "worst":
        return Check("missing", "no objection", "outcomes that were not recorded count at their worst")
    if unrecorded is None:
        return Check("missing", "not tested", "which outcomes are missing is not known without memberships")
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


LADDER = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
"""The lambda of `_surprise`, in units of 1 / R; fixed beforehand, each an event of its own."""


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
