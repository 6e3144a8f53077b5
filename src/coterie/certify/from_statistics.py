"""From the statistics of a log, or of a part of it, to evidence."""

from typing import Literal

from coterie.arrays import FloatArray
from coterie.certify.evidence import Evidence, PairEvidence
from coterie.certify.total_evidence import TotalEvidence
from coterie.estimate.from_statistics import agent_ridge, joint_ridge, pair_estimate, structure_of
from coterie.estimate.intervals import Method
from coterie.log.pair_statistics import PairStatistics
from coterie.log.total_statistics import TotalStatistics


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
