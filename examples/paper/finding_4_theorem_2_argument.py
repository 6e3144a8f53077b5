"""On the argument for Theorem 2: the value 1/2 is right, three steps towards it are not.

1. With q the probability that five agents are in coalition 1, gap >= q in the first game and
   gap >= 1 - q in the second are claimed. Both fail: everybody in coalition 1 with probability
   0.98 has gap 0.099 < q = 0.108 in the first, everybody in coalition 2 has gap 1/2 < 1 - q = 1
   in the second.
2. Membership in the theorem's class, "all sizes but one are covered", is claimed at the profiles
   of the first game with two agents in coalition 1; there sizes 1, 3 and 5 are missing. It holds at
   the profile with all six, if empty coalitions, about which there is nothing to learn, do not
   count: then size 6 alone is missing, as in the second game.
3. The bound needs agents who draw independently. A correlated draw, from which an agent deviates by
   one fixed action, can have a worst-case gap of 10/119 = 0.084 and no less (linear program, with
   its dual solution as the proof).
"""

import numpy as np

from coterie import Strategy
from coterie.coverage import coverage
from coterie.game.sizes import size_distribution
from coterie.theory import correlated_worst_case_gap, theorem_2

instance = theorem_2()
first, second = instance.games

often_1 = Strategy.mixed([(np.eye(2, dtype=bool), [0.98, 0.02])] * 6)
q = float(size_distribution(often_1.marginals[:, 0])[5])
assert first.gap(often_1) < q - 0.009
everybody_in_2 = first.strategy({agent: ["2"] for agent in first.agents})
assert second.gap(everybody_in_2) == 1 / 2

missing = {
    int(profile.sets[:, 0].sum()): [
        (witness.coalition, witness.size)
        for witness in coverage(instance.policy, profile, game.actions).uncovered_sizes
    ]
    for game in instance.games
    for profile in game.stable_profiles()
}
assert missing[2] == [("1", 1), ("1", 3), ("2", 3), ("2", 5)]
assert missing[5] == missing[6] == [("1", 6), ("2", 0)]

correlated = correlated_worst_case_gap(instance.games)
assert np.isclose(correlated, 10 / 119)

print(f"Finding 4: gap {first.gap(often_1):.3f} < q = {q:.3f} in game 1; correlated draws reach {correlated:.4f}")
