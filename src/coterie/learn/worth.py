"""What one assignment is worth, whether anybody ever played it or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

from coterie import checks
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.values import promises_for_all
from coterie.errors import InputError
from coterie.game.game import Value
from coterie.game.strategy import StrategyLike, as_strategy
from coterie.learn.beliefs import beliefs_from
from coterie.learn.compare import _Asked
from coterie.learn.comparison import Amount
from coterie.learn.wishes import wishes_about
from coterie.log.log import Log
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.statistics.statistics import Statistics
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

    Its interval holds with probability 1 - delta for all pure strategies at once, so also for one that was chosen on
    this very log. Nobody needs to have played it: what pairs got elsewhere tells what they would get.

    Parameters
    ----------
    log
        A `Log`, its `Statistics`, or the folder or file that it is in.
    strategy
        Who is where, pure.
    delta, sizes, noise, value
        As for `coterie.compare`.
    """
    delta = checks.probability(delta, said("delta"))
    statistics = Statistics.for_learning(log, sizes=sizes, noise=noise, parts=(1.0,))
    found = as_strategy(strategy, statistics.agents, statistics.coalitions, "the log's")
    if not found.is_pure:
        raise InputError("strategy: what is valued here is pure, this one is mixed")
    statistics, wishes = wishes_about(statistics, value=value)
    evidence, spaces = evidence_from(statistics.whole), statistics.setting.actions
    asked = _Asked(evidence, wishes, spaces.counted, (found.sets, found.sets))
    promises = promises_for_all(delta, spaces, asked.profiles, asked.n_counted)
    beliefs = beliefs_from(evidence, symmetric=statistics.setting.symmetric)
    total, each = asked.amounts(asked.value_of(0), promises.values[0], beliefs)
    return Worth(total, dict(zip(found.agents, each, strict=True)), delta)
