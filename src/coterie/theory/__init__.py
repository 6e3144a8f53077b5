"""Games that no log of a given kind can tell apart, and games on which a plausible claim fails.

Each instance is one or two games with an exploration policy. Where there are two, a log drawn by
the policy looks the same in both, so whatever is learnt from it must serve both: its *worst-case
gap* is the larger of its two gaps. `prove_worst_case_gap` bounds that from below over all
strategies in which agents draw independently, `correlated_worst_case_gap` over all joint
distributions. The instances are those of the paper's lower bounds (Theorems 2 and 4), a repaired
one, and small counterexamples to statements that hold only under a further condition.
"""

from coterie.theory.feedback import mean_feedback, telling_joint_action
from coterie.theory.hard_instances import (
    HARD_INSTANCES,
    HardInstance,
    mixed_effects,
    no_pure_stable_profile,
    pair_coverage,
    size_dependence,
    theorem_2,
    theorem_4_as_printed,
    theorem_4_repaired,
    uniform_not_stable,
)
from coterie.theory.worst_case import (
    GapProof,
    correlated_worst_case_gap,
    prove_worst_case_gap,
    worst_case_gap,
)

__all__ = [
    "HARD_INSTANCES",
    "HardInstance",
    "theorem_2",
    "theorem_4_as_printed",
    "theorem_4_repaired",
    "pair_coverage",
    "size_dependence",
    "no_pure_stable_profile",
    "uniform_not_stable",
    "mixed_effects",
    "mean_feedback",
    "telling_joint_action",
    "worst_case_gap",
    "GapProof",
    "prove_worst_case_gap",
    "correlated_worst_case_gap",
]
