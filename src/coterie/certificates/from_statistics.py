"""From the statistics of a log, or of a part of it, to evidence."""

from typing import Literal

from coterie.arrays import FloatArray
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence, PairEvidence
from coterie.certificates.paper import paper, paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.from_statistics import agent_ridge, joint_ridge, pair_estimate, paper_ridge, structure_of
from coterie.estimate.intervals import Method
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.total_statistics import TotalStatistics

NO_PAPER = (
    "the paper's certificate is defined for bounded utilities (no sigma) and independent pairs (not samples), "
    "and for bandit logs with sizes ignored and coalitions told apart (statistics made with unweighted=True)"
)


def evidence_from(
    part: PairStatistics | TotalStatistics,
    *,
    structure: Literal["declared", "anonymous"] = "declared",
    factor: FloatArray | None = None,
    method: Method = "best",
) -> Evidence:
    """Return what a part of a log proves, read as its statistics were made.

    Bandit statistics with the sums of the joint estimator use it; it takes both agents' totals
    for each pair and is tighter by about the square root of two.
    """
    setting = part.setting
    names = (setting.agents, setting.coalitions)
    if isinstance(part, PairStatistics):
        return PairEvidence(pair_estimate(part, structure, factor), method, names)
    estimate = agent_ridge(part) if part.joint is None else joint_ridge(part)
    return TotalEvidence(estimate, structure_of(setting), setting.noise == "samples", names=names)


def paper_evidence_from(part: PairStatistics | TotalStatistics) -> Evidence | None:
    """Return what the paper's estimator makes of a part; None where it is not defined or its sums are missing."""
    setting = part.setting
    if setting.sigma is not None or setting.noise != "pairs":
        return None
    if isinstance(part, PairStatistics):
        return evidence_from(part)
    if "none" not in part.weighted or setting.pool_coalitions or setting.sizes != "ignore":
        return None
    return TotalEvidence(paper_ridge(part), names=(setting.agents, setting.coalitions))


def paper_from(
    part: PairStatistics | TotalStatistics, strategy: Strategy, spaces: ActionSpaces, delta: float
) -> Certificate | None:
    """Return the paper's certificate; None where it is not defined or its sums are missing."""
    evidence = paper_evidence_from(part)
    if isinstance(evidence, PairEvidence):
        return paper(evidence, strategy, spaces, delta)
    if not isinstance(part, TotalStatistics) or evidence is None:
        return None
    return paper_totals(paper_ridge(part), strategy, spaces, delta, part.n_samples)
