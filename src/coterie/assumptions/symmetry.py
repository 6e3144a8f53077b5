"""Tests of whether both people of a pair get the same."""

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.assumptions.check import Check
from coterie.assumptions.giving import giving
from coterie.certificates.widths import bernstein_shape, bias_form, hoeffding_shape, noise_form
from coterie.estimate import confidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import agent_ridge
from coterie.log.checking import MANY_TWOS
from coterie.statistics.dependence import FALSE_ALARMS
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics
from coterie.words import counted, said

RIDGE_STEPS = 2e11
"""What two agents get from each other is compared in bandit logs that take up to so many steps to solve."""

TAKEN = "both people of a pair are taken to get the same from each other, which was not tested"
"""How an answer begins to tell of it."""


def symmetry_check(statistics: Statistics, alpha: float = FALSE_ALARMS) -> Check:
    """Test whether both people of a pair get the same, as statistics of symmetric logs take it.

    Where a log shows what both got in the same meeting, it was compared when the log was read
    (`coterie.log.checking`). Here the means of the two sides are compared, whichever meetings they come from.
    """
    clues = statistics.clues
    if not statistics.setting.symmetric:
        return Check("symmetry", "not assumed", "two people may get different things from each other, as was said")
    if statistics.setting.of_teams:
        return _untested("scores of teams do not show who of two got what")
    if isinstance(statistics.whole, TotalStatistics):
        return _of_totals(statistics.whole, clues.agreed, alpha)
    if clues.by_order is None:
        found = _untested("it is not kept whose rating the log lists")
    elif statistics.setting.pool_coalitions and statistics.setting.noise == "samples":
        found = _untested("where teams are interchangeable, outcomes of one round may go together")
    else:
        found = _pair_symmetry(clues.by_order, alpha)
    if found.verdict == "not tested" and clues.agreed:
        seen = f"both people of a pair showed what they got {counted(clues.agreed, 'time')}, and it was the same"
        return Check("symmetry", "no objection", seen)
    return found


def _of_totals(whole: TotalStatistics, agreed: int, alpha: float) -> Check:
    """Test totals pair by pair, by what people get against what they give, and by meetings of two.

    Symmetry counts as tested where the difference of any pair would have been seen, where `giving` could test it, or
    where `MANY_TWOS` meetings of two gave both the same: each such meeting that does not is refused when it is read.
    That is generous to `giving`, which sees people who get more, or less, than they give: where the two of pairs
    differ, and over all pairs nobody does, it sees nothing.
    """
    found = _total_symmetry(whole, alpha)
    people = giving(whole) if found.verdict != "broken" and whole.setting.noise == "pairs" else None
    if people is not None and people.is_surprising(alpha):
        who, how = whole.setting.agents[people.agent], "more" if whole.setting.told(people.more) > 0 else "less"
        return Check(
            "symmetry",
            "broken",
            f"both people of a pair do not get the same from each other: {who} seems to get {abs(people.more):.2g} "
            f"{how} from each teammate than teammates get from {who}, and such differences between people are larger "
            f"than chance explains: use {said(symmetric=False)}",
        )
    if found.verdict != "not tested":
        return found
    if agreed >= MANY_TWOS:
        seen = f"two people who were a team of their own got the same total each of {agreed:,} times"
        return Check("symmetry", "no objection", seen)
    if people is not None:
        return Check("symmetry", "no objection", "people seem to add to others' totals what they get from them")
    few = "there are too few totals for so many pairs to show it"
    cure = f"if one may get more from the other than gives, use {said(symmetric=False)}"
    return Check("symmetry", "not tested", f"{TAKEN}: {few}; {cure}")


def _pair_symmetry(by_order: PairStatistics, alpha: float) -> Check:
    """Compare the mean of the rows that list i as the agent with that of the rows that list j, for each pair.

    If both get the same, the difference of the two means has mean 0, and Hoeffding's bound for it (1 event) or
    Bernstein's (2 events) fails with probability at most alpha / 6P each, on 2 sides of P pairs x coalitions: false
    alarms have probability at most alpha. No pair is compared with another, so the pairs of a sample may move together;
    where coalitions are interchangeable, a pair may have several values in a sample, which must be independent.
    """
    bounds = Bounds.of(by_order.setting)
    sides = _both_orders(by_order)
    if not sides.size:
        return _untested("of every pair it is always the same one who is listed first")
    log_term = confidence.log_events(6 * sides.shape[1], alpha)
    count, mean, r = by_order.count[sides].astype(np.float64), by_order.mean[sides], bounds.half_range
    width = hoeffding_shape(log_term).width(r**2 * (1 / count).sum(axis=0))
    if bounds.sigma is None:
        rounded = (np.sqrt(by_order.variance[sides]) + 2 * bounds.rounding) ** 2
        variance = (np.where(count >= 2, rounded, r**2) / count).sum(axis=0)
        largest = (1 / np.maximum(count - 1, 1)).max(axis=0)
        width = np.minimum(width, bernstein_shape(r, log_term).width(variance, largest))
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
        return _untested("there are too many pairs to tell them apart by the totals of one person alone")
    ridge = agent_ridge(part)
    if not np.isfinite(ridge.bounds.half_width):
        return _untested("no scale was said, so totals limit nothing")
    own, full = (setting.n_tables, n - 1, setting.n_sizes), (n, setting.n_tables, n, setting.n_sizes)
    value, root, bias, seen = (np.zeros(full) for _ in range(4))
    for agent in range(n):
        others, known = np.arange(n) != agent, ridge.project(agent, np.eye(setting.n_features))
        value[agent][:, others] = ridge.theta(agent).reshape(own) + ridge.bounds.middle
        variance = np.diag(noise_form(known, ridge))
        root[agent][:, others] = np.sqrt(np.maximum(variance, 0.0)).reshape(own)
        bias[agent][:, others] = np.abs(bias_form(known, ridge)).sum(axis=1).reshape(own)
        seen[agent][:, others] = ridge.seen(agent).reshape(own)
    met = np.argwhere(seen * seen.transpose(2, 1, 0, 3))
    i, table, j, size = met[met[:, 0] < met[:, 2]].T
    if not len(i):
        return _untested("no two people who met have totals both")
    sides = ((i, table, j, size), (j, table, i, size))
    noise, off = (array[sides[0]] + array[sides[1]] for array in (root, bias))
    shape = hoeffding_shape(confidence.log_events(2 * len(i), alpha))
    width = off + shape.width(noise**2)
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
            "symmetry", "no objection", f"both people of a pair seem to get the same, as far as {compared} tell"
        )
    table, one, other = keys[worst].tolist()
    room = "" if setting.pool_coalitions else f" in {setting.coalitions[table]}"
    one, other = setting.agents[one], setting.agents[other]
    first, second = (setting.told(setting.neutral + mean) for mean in means[:, worst].tolist())
    return Check(
        "symmetry",
        "broken",
        f"{one} and {other} do not get the same from each other{room}: {one} seems to get {first:.3g}, "
        f"{other} {second:.3g}, and chance explains {width[worst]:.2g}: use {said(symmetric=False)}",
    )


def _untested(reason: str) -> Check:
    return Check("symmetry", "not tested", f"whether both people of a pair get the same was not tested: {reason}")
