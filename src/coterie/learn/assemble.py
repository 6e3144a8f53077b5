"""Putting results together: the statistics that are needed, and everything that a result file holds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from coterie import __version__, checks
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import is_enumerated, worst_deviations
from coterie.certificates.holdout import fixed
from coterie.certificates.paired import paired
from coterie.certificates.paper import NO_PAPER, paper_from
from coterie.coverage import coverage
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces, ExplicitSets, names_in
from coterie.game.game import STABLE_WITHIN
from coterie.game.strategy import Strategy
from coterie.learn.auto import Recommendation
from coterie.learn.explain import explanations
from coterie.learn.result import Result
from coterie.learn.warnings import cautions
from coterie.log.log import Log
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.statistics.statistics import UNWEIGHTED_FEATURES, Statistics
from coterie.words import said

SAYS_NOTHING = 0.9
"""A certificate above this share of what the range alone says is as good as none."""

NO_STABLE_PROFILE = (
    "no pure profile that is stable by the estimates was recommended, and there may be none; a mixed strategy may do "
    "better"
)

TOO_FEW = "there are too few data to certify anything: the certificate says no more than the range of utilities does"


def learnt(found: Recommendation, statistics: Statistics, seed: int | None) -> Result:
    """Return the result of learning; after an interruption, without what would take long."""
    solver = {**found.solution.to_json(), "guess": found.guess}
    result = _result(
        found.strategy, found.certificate, found.certificates, found.evidence, statistics,
        statistics.setting.actions, solver, [], seed,
    )  # fmt: skip
    warnings = list(result.warnings)
    if found.strategy.is_pure and result.estimate["potential"] is None and result.estimate["gap"] > STABLE_WITHIN:
        warnings.append(f"{NO_STABLE_PROFILE}: {said(strategy='mixed')}")
    return replace(result, warnings=tuple(warnings), extras={**result.extras, "candidates": found.candidates})


def certified(
    log: Log,
    strategy: Strategy,
    *,
    certificate: str = "paired",
    fresh: bool = False,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    learnt_from: str | None = None,
) -> Result:
    """Return how stable a given strategy surely is, such as today's teams.

    Parameters
    ----------
    log
        Past outcomes; the whole log certifies.
    strategy
        Over the log's agents and coalitions. A set that its agent could not choose is taken as one of her actions.
    certificate
        "paired", "paper", or "holdout", which needs `fresh`.
    fresh
        Your word that the strategy was fixed without looking at the utilities of this log.
    delta, sizes, noise
        As for `StableLearner`.
    learnt_from
        `data.log_sha256` of the result file that the strategy comes from: `fresh` is refused for the same log.
    """
    checks.probability(delta, "delta")
    if certificate not in {"paired", "paper", "holdout"}:
        raise InputError(f"certificate: expected paired, paper or holdout, got {certificate!r}")
    if certificate == "holdout" and not fresh:
        raise InputError(
            "holdout certifies a strategy that was fixed without looking at these utilities; if that is so, say "
            f"{said(fresh=True)}"
        )
    statistics = Statistics.for_learning(log, sizes=sizes, noise=noise, paper=certificate == "paper", parts=(1.0,))
    if fresh and learnt_from is not None and learnt_from == statistics.log_sha256:
        raise InputError(f"{said('fresh')}: this strategy was learnt from this very log, so it is not fresh")
    evidence = evidence_from(statistics.whole)
    spaces, notes = widened(statistics.setting.actions, strategy)
    by_pairs = paired(evidence, strategy, spaces, delta, declared=statistics.setting.actions)
    form: Form = "hoeffding" if noise == "samples" else "both"  # "auto" lets these utilities decide
    by_holdout = fixed(evidence, strategy, spaces, delta, form=form) if fresh else None
    by_paper = paper_from(statistics.whole, strategy, spaces, delta)
    chosen = {"paired": by_pairs, "holdout": by_holdout, "paper": by_paper}[certificate]
    if chosen is None:
        raise InputError(NO_PAPER)
    alone = {name: None if one is None else one.gap for name, one in
             (("paper", by_paper), ("paired", by_pairs), ("holdout", by_holdout))}  # fmt: skip
    if fresh:
        notes.append(f"{said('fresh')}: the strategy is taken to have been fixed without looking at these utilities")
        if certificate != "holdout":
            notes.append(
                f"a fresh strategy may have the holdout certificate, as a rule tighter: {said(certificate='holdout')}"
            )
    solver = {"method": "given", "status": "given", "starts": 0, "sweeps": 0, "seconds": 0.0}
    return _result(strategy, chosen, alone, evidence, statistics, spaces, solver, notes, None)


def widened(spaces: ActionSpaces, strategy: Strategy) -> tuple[ActionSpaces, list[str]]:
    """Return action spaces that hold every set of a strategy, and a sentence for each that was added."""
    listed, notes = list(spaces.spaces), []
    for i in spaces.outside(strategy.owner, strategy.sets):
        rows = strategy.sets[strategy.owner == i]
        missing = rows[~listed[i].contains(rows)]
        if not is_enumerated(listed[i]) and not strategy.is_pure:
            raise InputError(
                f"strategy of {strategy.agents[i]}: holds a set that is not among her actions, which are too many to "
                f"add to; declare actions that hold it ({said('actions')})"
            )
        if is_enumerated(listed[i]):
            listed[i] = ExplicitSets(np.concatenate([listed[i].enumerate(), missing]))
        for row in missing:
            named = ", ".join(names_in(row, strategy.coalitions)) or "nothing"
            notes.append(f"{strategy.agents[i]} is in a set that is not among her actions ({named}): added")
    return (ActionSpaces(tuple(listed)) if notes else spaces), notes


def _result(
    strategy: Strategy,
    certificate: Certificate,
    certificates: Mapping[str, float | None],
    evidence: Evidence,
    statistics: Statistics,
    spaces: ActionSpaces,
    solver: Mapping[str, Any],
    notes: list[str],
    seed: int | None,
) -> Result:
    range_gap = max(0.0, float(worst_deviations(evidence.range_bound(evidence.design(strategy)), spaces).value.max()))
    warnings = cautions(statistics, strategy, in_a_hurry=solver["status"] == "interrupted") + notes
    worst = certificate.worst
    seems_stable = worst is not None and worst.estimated_gain < 0.5 * certificate.gap
    if certificate.gap >= SAYS_NOTHING * range_gap > 0 and seems_stable:
        warnings.insert(0, TOO_FEW)
    return Result(
        strategy,
        certificate,
        certificates,
        _estimate(evidence, spaces, strategy),
        covered(statistics, strategy, spaces),
        solver,
        described(statistics),
        tuple(warnings),
        __version__,
        seed,
        {"range_gap": range_gap, **explanations(evidence, strategy, certificate)},
    )


def covered(statistics: Statistics, strategy: Strategy, spaces: ActionSpaces) -> dict[str, Any]:
    """Return the `coverage` part of a result file; what would take too long to work out is None."""
    setting = statistics.setting
    if setting.feedback == "bandit" and setting.n_features > UNWEIGHTED_FEATURES:
        unknown = ("pairs_unseen", "assumption_1", "c_size", "assumption_2", "c_act", "c_pair")
        return {"samples": statistics.n_samples, **dict.fromkeys(unknown)}
    return coverage(statistics.whole, strategy, spaces).to_json()


def _estimate(evidence: Evidence, spaces: ActionSpaces, strategy: Strategy) -> dict[str, Any]:
    game = evidence.game(spaces)
    potential = game.potential(strategy) if game.has_potential else None
    values = dict(zip(game.agents, game.values(strategy).tolist(), strict=True))
    return {"gap": game.gap(strategy), "potential": potential, "utility": values}


def described(statistics: Statistics) -> dict[str, Any]:
    """Return the `data` part of a result file."""
    setting = statistics.setting
    return {
        "feedback": setting.feedback,
        "symmetric": setting.symmetric,
        "sizes": setting.sizes,
        "noise": setting.noise,
        "utility_range": None if setting.utility_range is None else list(setting.utility_range),
        "neutral": setting.neutral,
        "sigma": setting.sigma,
        "actions": setting.action_description,
        "pool_coalitions": setting.pool_coalitions,
        "rows": statistics.rows,
        "sha256": statistics.sha256,
        "log_sha256": statistics.log_sha256,
    }
