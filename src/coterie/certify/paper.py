"""The `paper` certificate (Lemma 2): the paper's surrogate of the gap, with expectations exact.

    g = max over i of [ max over a' of sum over l in a' of W_i^U(l) - sum over l of p_i(l) W_i^L(l) ]

Even for the agent's own action this adds twice the uncertainty of all she does, so it stays away
from 0 however good the profile is. Widths are the paper's eq. (9) as printed: not clipped to the
range, with its union bound, and with one observation's width for pairs never seen.
"""

from coterie.certify.certificate import Certificate, certificate
from coterie.certify.evidence import PairEvidence, paper_box
from coterie.certify.gain_bounds import SurrogateBound
from coterie.joint_actions import ActionSpaces
from coterie.strategy import Strategy


def paper(evidence: PairEvidence, strategy: Strategy, spaces: ActionSpaces, delta: float) -> Certificate:
    """Return the paper's certificate from a semi-bandit log.

    If |estimate - mean| <= bonus for all pairs, then W^L <= W <= W^U; the largest value of a
    deviation is at most its value with W^U, and V_i at least its value with W^L.
    """
    design = evidence.design(strategy)
    lower, upper = paper_box(evidence.estimate, design, delta)
    bound = SurrogateBound(strategy.marginals, upper, lower)
    return certificate("paper", delta, strategy, spaces, bound, evidence.rooms(design), evidence.assumptions())
