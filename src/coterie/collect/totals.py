"""The certificate that further samples of a bandit log are expected to give.

What totals tell depends on who met whom, not on the totals, so the matrices after more samples are known as
soon as the joint actions are. The estimated means are taken as they are, with no allowance for a profile that was
chosen because it looks stable in this very log.
"""

from dataclasses import replace

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.holdout import fixed
from coterie.certificates.paired import paired
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError
from coterie.estimate.ridge import AgentRidge, JointRidge, LinearEstimate
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy


def predict_totals(
    evidence: TotalEvidence,
    strategy: Strategy,
    spaces: ActionSpaces,
    delta: float,
    joint_actions: BoolArray,
    times: IntArray,
    *,
    fresh: bool = False,
) -> float:
    """Return the certificate that is expected after playing joint actions (b, n, k) so many times each.

    `fresh` predicts the held-out certificate of the new samples alone, else `paired` of all together. Sizes
    must be ignored. For each sample agent i's matrix grows by x x' / c (1 / c^2 where pairs of a sample may
    depend on each other), the joint one by the projection Z^+ Z.
    """
    if evidence.structure not in {"size-free", "pooled"}:
        raise InputError("what to collect is worked out for logs whose sizes are ignored")
    features = [features_of(joint_actions, i, pooled=evidence.structure == "pooled") for i in range(spaces.n_agents)]
    grown = _grown(evidence, features, np.asarray(times, dtype=np.float64), fresh=fresh)
    expected = replace(evidence, estimate=grown.blind(), means=evidence.means or evidence.estimate)
    certificate = fixed(expected, strategy, spaces, delta) if fresh else paired(expected, strategy, spaces, delta)
    return certificate.gap


def features_of(joint_actions: BoolArray, agent: int, *, pooled: bool) -> FloatArray:
    """Return x of one agent in each joint action, shape (b, d)."""
    together = np.delete(joint_actions & joint_actions[:, [agent]], agent, axis=1).transpose(0, 2, 1)
    found = together.sum(axis=1) if pooled else together.reshape(len(together), -1)
    return found.astype(np.float64)


def weights_of(evidence: TotalEvidence, features: FloatArray) -> FloatArray:
    """Return how much each sample counts: 1 / c, or 1 / c^2 where pairs of a sample may depend on each other."""
    return np.asarray(1 / np.maximum(features.sum(axis=1), 1.0) ** (2 if evidence.within_samples else 1))


def _grown(evidence: TotalEvidence, features: list[FloatArray], times: FloatArray, *, fresh: bool) -> LinearEstimate:
    estimate = evidence.estimate
    if isinstance(estimate, AgentRidge):
        added = [x.T @ (x * (times * weights_of(evidence, x))[:, None]) for x in features]
        gram = tuple(new if fresh else old + new for old, new in zip(estimate.gram, added, strict=True))
        return replace(estimate, gram=gram)
    assert isinstance(estimate, JointRidge)
    projections = np.zeros_like(estimate.projections) if fresh else estimate.projections.copy()
    for b, often in enumerate(times):
        rows = np.zeros((len(features), len(projections)))
        for i, x in enumerate(features):
            rows[i, estimate.edges[i]] = x[b]
        projections += often * (np.linalg.pinv(rows) @ rows)
    return replace(estimate, projections=projections)
