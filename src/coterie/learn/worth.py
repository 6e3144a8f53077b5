"""What one assignment is worth, whether anybody ever played it or not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from coterie import checks
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.values import promises_for_all
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.game import Value
from coterie.game.strategy import Strategy, StrategyLike, as_strategy
from coterie.learn.beliefs import beliefs_from
from coterie.learn.compare import _Asked
from coterie.learn.comparison import Amount
from coterie.learn.wishes import wishes_about
from coterie.log.log import Log
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.statistics.statistics import Statistics
from coterie.threads import one_thread
from coterie.words import said


@dataclass(frozen=True)
class Worth:
    """What one assignment is worth; all of it holds together with probability 1 - delta."""

    everybody: Amount
    people: Mapping[str, Amount]
    delta: float

    def __str__(self) -> str:
        total = self.everybody
        return (
            f"with probability {1 - self.delta:g}, it is worth between {total.low:.4g} and {total.high:.4g} to "
            f"everybody together; {total.expected:.4g} is expected"
        )


@one_thread()
def worth(
    log: Log | str | PathLike[str] | Statistics,
    strategy: StrategyLike,
    *,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    value: Value | None = None,
) -> Worth:
    """Return what a strategy is worth to everybody and to each person, whoever decided on it and whenever.

    Its interval holds with probability 1 - delta for all strategies of a kind, pure or mixed, at once, so also for one
    that was chosen on this very log. Nobody needs to have played it: what pairs got elsewhere tells what they would
    get.

    Parameters
    ----------
    log
        A `Log`, its `Statistics`, or the folder or file that it is in.
    strategy
        Who is where; mixed ones where what pairs got was observed, in a range that is known, of up to about 2,000
        people.
    delta, sizes, noise, value
        As for `coterie.compare`.
    """
    delta = checks.probability(delta, said("delta"))
    statistics = Statistics.for_learning(log, sizes=sizes, noise=noise, parts=(1.0,))
    found = as_strategy(strategy, statistics.agents, statistics.coalitions, "the log's", statistics.clues.called)
    statistics, wishes = wishes_about(statistics, value=value)
    evidence, spaces = evidence_from(statistics.whole), statistics.setting.actions
    if not found.is_pure:
        return _of_mixed(evidence, found, spaces, delta, wishes.value, symmetric=statistics.setting.symmetric)
    asked = _Asked(evidence, wishes, spaces.counted, (found.sets, found.sets))
    promises = promises_for_all(delta, spaces, asked.profiles, asked.n_counted)
    beliefs = beliefs_from(evidence, symmetric=statistics.setting.symmetric)
    total, each = asked.amounts(asked.value_of(0), promises.values[0], beliefs)
    return Worth(total, dict(zip(found.agents, each, strict=True)), delta)


def _of_mixed(
    evidence: Evidence, strategy: Strategy, spaces: ActionSpaces, delta: float, value: Value, *, symmetric: bool
) -> Worth:
    """Return what a mixed strategy is worth, from an interval for each mean of a pair.

    With probability 1 - delta every mean that was observed lies in its interval, and the others lie in the range. What
    a strategy is worth is a sum of means with coefficients that are not negative, chances to meet, divided or not. So
    it lies between what it would be worth if all means were at their lower ends, and at their upper ends.
    """
    if not isinstance(evidence, PairEvidence):
        raise InputError("strategy: of totals, what is valued here is pure, this one is mixed")
    if evidence.unknowns.is_listed or not math.isfinite(evidence.bounds.high - evidence.bounds.low):
        raise InputError(
            "strategy: this one is mixed, and of those what pairs are worth that never met must be known to lie within "
            f"a range ({said('utility_range')} declares one), and people be few enough for all pairs to be listed"
        )
    beliefs, moments = beliefs_from(evidence, symmetric=symmetric), evidence.estimate.moments
    lower, upper = evidence.interval_arrays(delta)
    unseen = moments.count == 0
    low, high, expected, estimate = (
        beliefs.game(spaces, means).valued(value).values(strategy)
        for means in (
            np.where(unseen, evidence.bounds.low, lower) - evidence.bounds.rounding,
            np.where(unseen, evidence.bounds.high, upper) + evidence.bounds.rounding,
            beliefs.middle,
            moments.mean,
        )
    )
    counted = spaces.counted
    each = [Amount(*map(float, ends)) for ends in zip(low, high, expected, estimate, strict=True)]
    total = Amount(*(float(ends[counted].sum()) for ends in (low, high, expected, estimate)))
    return Worth(total, dict(zip(strategy.agents, each, strict=True)), delta)
