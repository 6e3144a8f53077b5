"""How stable a given strategy surely is, such as today's teams."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from coterie import checks
from coterie.certificates.against import likely_against
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.given import CertificateName, certificates_of
from coterie.certificates.holdout import NOT_ADAPTIVE
from coterie.certificates.likely import likely_gap
from coterie.certificates.paper import no_paper
from coterie.certificates.widened import widened
from coterie.errors import InputError
from coterie.files import naming
from coterie.game.game import Value
from coterie.game.rules import as_rules
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, StrategyLike, as_strategy, read_strategy_content
from coterie.learn.assemble import Judged, assembled
from coterie.learn.result import Result, Search
from coterie.learn.warnings import chosen_before
from coterie.learn.wishes import wishes_about
from coterie.log.log import Log, as_log
from coterie.statistics.fresh import share_samples
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.statistics.statistics import Statistics
from coterie.words import said

GIVEN = Search("given", "given", 0, 0, 0.0)


def certify(
    log: Log | str | PathLike[str] | Statistics,
    strategy: StrategyLike | Result,
    *,
    certificate: CertificateName = "paired",
    fresh: bool = False,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    min_samples: int = 0,
    rules: Any = None,
    value: Value = "total",
    stability: Stability | None = None,
) -> Result:
    """Return how stable a given strategy surely is, such as today's teams.

    Parameters
    ----------
    log
        Past outcomes, the folder or file that they are in, or their statistics; the whole log certifies.
    strategy
        Over the log's agents and coalitions: a `Strategy`, a dictionary agent -> coalitions, a matrix of 0 and 1, the
        path of a CSV or result file, or a `Result`. A set that its agent could not choose is taken as one of her
        actions.
    certificate
        "paired", "paper", or "holdout", which needs `fresh`.
    fresh
        Your word that the strategy was fixed without looking at the utilities of this log. It is refused for a result
        that was learnt from this log or a part of it, however they were read.
    delta, sizes, noise, min_samples, rules, value, stability
        As for `StableLearner`. A strategy that breaks rules can be certified too; the result says which.
    """
    min_samples = checks.whole(min_samples, said("min_samples"), 0)
    parameters = {
        "certificate": certificate, "fresh": fresh, "delta": delta, "sizes": sizes, "noise": noise,
        "min_samples": min_samples,
    }  # fmt: skip
    checks.one_of(certificate, CertificateName, said("certificate"))
    checks.boolean(fresh, said("fresh"))
    delta = checks.probability(delta, said("delta"))
    if certificate == "holdout" and not fresh:
        raise InputError(
            "holdout certifies a strategy that was fixed without looking at these utilities; if that is so, say "
            f"{said(fresh=True)}"
        )
    source = log if isinstance(log, Statistics) else as_log(log)
    paper = certificate == "paper"
    statistics = Statistics.for_learning(source, sizes=sizes, noise=noise, paper=paper, parts=(1.0,))
    statistics, wishes = wishes_about(
        statistics, rules=replace(as_rules(rules), max_moves=None), value=value, stability=stability
    )
    given, learnt_from = given_strategy(strategy, statistics.agents, statistics.coalitions)
    if fresh:
        refuse_known(learnt_from, statistics, "this strategy")
    evidence = evidence_from(statistics.whole)
    declared = statistics.setting.actions.leaving_out(statistics.seen_less(min_samples))
    spaces, notes = widened(declared, given)
    against = wishes.against(spaces)
    found = certificates_of(statistics.whole, evidence, given, against, delta, declared=declared, fresh=fresh)
    chosen = found[certificate]
    if chosen is None:
        raise InputError(no_paper() if certificate == "paper" else NOT_ADAPTIVE)
    if fresh:
        notes.append(f"{said('fresh')}: the strategy is taken to have been fixed without looking at these utilities")
        if certificate != "holdout" and found["holdout"] is not None:
            notes.append(
                f"a fresh strategy may have the holdout certificate, as a rule tighter: {said(certificate='holdout')}"
            )
    notes += chosen_before(statistics, noise, paper=paper)
    alone: dict[str, float | None] = {name: None if one is None else one.gap for name, one in found.items()}
    if against.is_plain:
        likely = likely_gap(evidence, given, spaces, delta)
    else:
        likely = likely_against(evidence, given, against, delta)
    judged = Judged(given, chosen, alone, evidence, against.own_spaces, likely)
    result = assembled(judged, statistics, GIVEN, parameters, notes, against)
    violations = tuple(wishes.admissible.violations(given.sets)) if given.is_pure else ()
    return replace(result, value=wishes.value, stability=wishes.stability, rules=wishes.rules, violations=violations)


def refuse_known(learnt_from: Mapping[str, Any], statistics: Statistics, what: str) -> None:
    """Refuse to call a strategy fresh that was learnt from this log, or from samples that are in it too."""
    if learnt_from.get("log_sha256") == statistics.log_sha256:
        raise InputError(f"{said('fresh')}: {what} was learnt from this very log, so it is not fresh")
    if share_samples(learnt_from.get("marks") or (), statistics.clues.marks):
        raise InputError(
            f"{said('fresh')}: {what} was learnt from samples that are in this log too, so it is not fresh; "
            "give samples that are others other names"
        )


def given_strategy(
    strategy: Any, agents: tuple[str, ...], coalitions: tuple[str, ...]
) -> tuple[Strategy, Mapping[str, Any]]:
    """Return the strategy, and what is known of the log that it was learnt from, where it is or comes from a result."""
    if isinstance(strategy, Result):
        return as_strategy(strategy, agents, coalitions, "the log's"), strategy.data.to_json()
    if isinstance(strategy, (str, PathLike)):
        content = read_strategy_content(strategy)
        with naming(strategy):
            given = Strategy.from_json(content, agents, coalitions)
    else:
        content, given = strategy, as_strategy(strategy, agents, coalitions, "the log's")
    data = content.get("data") if isinstance(content, Mapping) else None
    return given, data if isinstance(data, Mapping) else {}
