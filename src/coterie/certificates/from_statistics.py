"""From the statistics of a log, or of a part of it, to evidence."""

from coterie.certificates.evidence import Evidence
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.intervals import Method
from coterie.estimate.pair_means import pair_estimate
from coterie.estimate.ridge import agent_ridge, joint_ridge
from coterie.estimate.unknowns import Unknowns, unknowns_of
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import PartStatistics


def evidence_from(
    part: PartStatistics,
    *,
    unknowns: Unknowns | None = None,
    method: Method = "best",
) -> Evidence:
    """Return what a part of a log proves, read as its statistics were made, or with other unknowns by size.

    Bandit statistics with the sums of the joint estimator use it; it takes both agents' totals
    for each pair and is tighter by about the square root of two.
    """
    setting = part.setting
    names = (setting.agents, setting.coalitions)
    if isinstance(part, PairStatistics):
        return PairEvidence(pair_estimate(part, unknowns), "adaptive" if setting.adaptive else method, names)
    estimate = agent_ridge(part) if part.joint is None else joint_ridge(part)
    declared = unknowns_of(by_size=setting.sizes == "aware", pooled=setting.pool_coalitions)
    dependent = setting.noise == "samples"
    return TotalEvidence(estimate, declared, dependent, names=names, allows_adaptivity=setting.adaptive)
