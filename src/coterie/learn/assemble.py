"""Putting a result together: everything that a result file holds about a strategy that was certified."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coterie import __version__
from coterie.arrays import FloatArray
from coterie.assumptions.all_checks import checks_of
from coterie.certificates.against import Against, range_against
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import worst_deviations
from coterie.coverage.coverage import Coverage, coverage
from coterie.coverage.seen import never_together, seen_in
from coterie.errors import TooLargeError
from coterie.estimate.pair_means import is_listed
from coterie.files import plain
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy
from coterie.learn.explain import explanations
from coterie.learn.explanation import Explanation
from coterie.learn.result import Data, Estimate, Result, Search, Together
from coterie.learn.warnings import TOO_FEW, cautions, says_nothing
from coterie.statistics.statistics import UNWEIGHTED_FEATURES, Statistics

LISTED = 20
"""So many pairs who were never seen together are named."""


@dataclass(frozen=True)
class Judged:
    """A strategy, its certificate, and the evidence for it."""

    strategy: Strategy
    certificate: Certificate
    certificates: dict[str, float | None]
    """Each method alone at delta for this strategy, None where it would not be valid."""
    evidence: Evidence
    """What the whole log proves."""
    spaces: ActionSpaces
    """What the agents may do."""
    likely: float | None
    """What the gap likely is at most, which is no promise; None where that is not known."""
    expected: FloatArray = field(compare=False)
    """What each unknown is expected to be; where nothing else is believed, the averages in the log."""


def by_range(evidence: Evidence, strategy: Strategy, against: Against) -> float:
    """Return what the range of utilities says of the gap without any data."""
    if not against.is_plain:
        return range_against(evidence, strategy, against)
    found = worst_deviations(evidence.range_bound(evidence.design(strategy)), against.own_spaces)
    return max(0.0, found.largest)


def assembled(
    judged: Judged,
    statistics: Statistics,
    solver: Search,
    parameters: Mapping[str, Any],
    notes: Sequence[str] = (),
    against: Against | None = None,
) -> Result:
    """Return the result; after an interruption, without what would take long.

    Parameters
    ----------
    judged
        The strategy and its certificate.
    statistics
        The log.
    solver
        How the strategy came about.
    parameters
        What was asked.
    notes
        Warnings besides those that the log gives rise to.
    against
        What the strategy is to be stable against; by default single deviations, without rules.
    """
    strategy, certificate, evidence = judged.strategy, judged.certificate, judged.evidence
    against = against or Against(judged.spaces)
    range_gap = by_range(evidence, strategy, against)
    checks = checks_of(statistics, in_a_hurry=solver.status == "interrupted")
    warnings = cautions(statistics, strategy, checks, notes)
    if says_nothing(certificate, range_gap):
        warnings.insert(0, TOO_FEW)
    explained, gain_intervals = dict[str, Explanation](), dict[str, tuple[float, float]]()
    if not evidence.unknowns.is_listed:  # a room for each agent and coalition would be a book
        explained, gain_intervals = explanations(evidence, strategy, certificate, against, judged.expected)
    return Result(
        strategy,
        certificate,
        judged.certificates,
        _estimate(judged, against, explained),
        _coverage(statistics, judged),
        solver,
        _data(statistics),
        tuple(warnings),
        range_gap,
        gain_intervals,
        explained,
        likely=None if judged.likely is None else min(judged.likely, certificate.gap),
        checks=checks,
        together=put_together(statistics, strategy),
        unit=statistics.setting.unit,
        is_vacuous=strategy.is_pure and certificate.gap == 0 and range_gap == 0,
        parameters=plain(parameters),
        version=__version__,
    )


def put_together(statistics: Statistics, strategy: Strategy) -> Together | None:
    """Return who is put together without having been seen together; None where that would take too long to say."""
    setting = statistics.setting
    if not strategy.is_pure or (setting.feedback == "bandit" and setting.n_features > UNWEIGHTED_FEATURES):
        return None
    if is_listed(setting):
        return None
    try:
        pairs, unseen = never_together(seen_in(statistics), strategy)
    except TooLargeError:
        return None
    named = [(strategy.agents[i], strategy.agents[j], strategy.coalitions[l]) for i, j, l in unseen[:LISTED]]
    return Together(pairs, len(unseen), tuple(named))


def _coverage(statistics: Statistics, judged: Judged) -> Coverage | None:
    """Return how well the log covers the strategy; None where that would take too long to work out."""
    setting = statistics.setting
    if setting.feedback == "bandit" and setting.n_features > UNWEIGHTED_FEATURES:
        return None
    if is_listed(setting):
        return None
    return coverage(statistics.whole, judged.strategy, judged.spaces)


def _estimate(judged: Judged, against: Against, explained: Mapping[str, Explanation]) -> Estimate:
    strategy, names = judged.strategy, (judged.strategy.agents, judged.strategy.coalitions)
    game = judged.evidence.unknowns.game(judged.expected, judged.spaces, *names).valued(against.value)
    potential = game.potential(strategy) if game.has_potential else None
    values = {agent: one.value for agent, one in explained.items()}
    if not explained:
        values = dict(zip(strategy.agents, game.values(strategy).tolist(), strict=True))
    return Estimate(against.gap(game, strategy), potential, values)


def _data(statistics: Statistics) -> Data:
    setting, average = statistics.setting, statistics.whole.average
    told = setting.told
    return Data(
        setting.feedback,
        setting.symmetric,
        setting.sizes,
        setting.noise,
        setting.told_range,
        statistics.rows,
        statistics.sha256,
        told(setting.neutral),
        setting.sigma,
        plain(setting.action_description),
        setting.pool_coalitions,
        statistics.log_sha256,
        statistics.n_samples,
        setting.missing,
        statistics.clues.since,
        statistics.clues.until,
        setting.adaptive,
        statistics.clues.marks,
        None if average is None else told(average),
        statistics.clues.period,
        statistics.clues.totals,
        setting.lower_is_better,
    )
