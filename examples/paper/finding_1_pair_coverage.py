"""Finding 1: covering all coalition sizes (Assumption 1) does not suffice for Theorem 3.

Two size-free games with four agents who choose one of two coalitions. Only agents 1 and 2 matter
to each other: -1/2 in coalition 2, and 1 or -1 in coalition 1, where they never meet in the log.
Each game has a stable profile at which every size that a deviation can reach is covered, with
c_size = 6, so Theorem 3 promises a gap that vanishes as the log grows. But the logs have the same
distribution, and no answer is good for both games. What is missing is the pair: what suffices is
that every pair that a deviation can bring together has been seen.

Every strategy of independent agents has a gap of at least (23 - sqrt(17)) / 64 = 0.2950 in one of
the games. Proven by branch and bound (up to 1e-9), and by hand: with m <= M the two probabilities
of coalition 1, the gap is at least (1 - m)(1 + M) / 2 >= (1 - m^2) / 2 in the first game and
M (3m - 1) / 2 >= m (3m - 1) / 2 in the second, if m >= 1/3; the two meet at 4 m^2 - m - 1 = 0.
Correlated draws have a worst-case gap of at least 2/7 (a linear program's dual solution).
"""

import numpy as np

from coterie import Strategy
from coterie.coverage import coverage
from coterie.theory import (
    bounds,
    correlated_worst_case_gap,
    pair_coverage,
    prove_worst_case_gap,
    telling_joint_action,
    worst_case_gap,
)

instance = pair_coverage()
assert telling_joint_action(instance.games, instance.policy, "semi-bandit") is None
for game in instance.games:
    covered = [coverage(instance.policy, s, game.actions) for s in game.stable_profiles()]
    reference = [found for found in covered if found.assumption_1]
    assert np.isclose(min(found.c_size for found in reference), 6)
    for found in reference:
        (missing,) = found.uncovered_pairs
        assert (missing.coalition, {missing.agent, missing.partner}) == ("1", {"1", "2"})

value = (23 - 17**0.5) / 64
# Theorem 3 as printed promises less than that for long logs; the bound for covered pairs promises nothing here.
assert bounds.theorem_3(bounds.Problem(4, 2, c_size=6)).gap(10**12) < value
assert bounds.pair_coverage(bounds.Problem(4, 2, c_pair=np.inf)).gap(10**12) == np.inf
proof = prove_worst_case_gap(instance.games, value)
assert proof.holds
m = (1 + 17**0.5) / 8
best = Strategy.mixed([(np.eye(2, dtype=bool), [m, 1 - m])] * 4)
assert np.isclose(worst_case_gap(instance.games, best), value)
assert np.isclose(correlated_worst_case_gap(instance.games), 2 / 7)

print(f"Finding 1: all sizes covered, c_size = 6, and still a worst-case gap of {value:.4f} ({proof.cells} cells)")
