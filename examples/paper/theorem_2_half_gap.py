"""Theorem 2: with one coalition size unseen, semi-bandit feedback leaves a gap of 1/2.

Two games with six agents and two coalitions differ only in sizes of coalition 1 that are not
explored (3 and 6). Claimed, and true for agents who draw independently: the logs have the same
distribution, and every strategy has a gap of at least 1/2 in one of the games. Both lists of pure
stable profiles are right as well.

Proven here, by enumeration and by branch and bound over all products of six distributions (up to
1e-9): all of this, and that 1/2 is attained, by everybody in coalition 2. The argument printed for
the bound does not hold, see `finding_4_theorem_2_argument.py`.
"""

import numpy as np

from coterie import Game
from coterie.theory import prove_worst_case_gap, telling_joint_action, theorem_2, worst_case_gap

instance = theorem_2()
first, second = instance.games

# Stable profiles: two or all six agents in coalition 1; five agents in coalition 1.
in_first = sorted(int(profile.sets[:, 0].sum()) for profile in first.stable_profiles())
in_second = sorted(int(profile.sets[:, 0].sum()) for profile in second.stable_profiles())
assert in_first == [2] * 15 + [6]
assert in_second == [5] * 6


# Lemmas 3 and 4, case by case: what those gain who move to coalition 1, where so many are already.
def gain_of_joining(game: Game, members: int) -> float:
    """Return what an agent of coalition 2 gains by moving to coalition 1 with so many members."""
    profile = game.strategy({agent: ["1" if i < members else "2"] for i, agent in enumerate(game.agents)})
    return game.gain(profile, game.agents[-1], ["1"])


joined = {m: [gain_of_joining(game, m) for game in (first, second)] for m in range(6)}
assert np.allclose(joined[0], 0.5)  # left out in both lemmas
assert np.allclose(joined[3], 3 + 0.5)  # to 3 from -1/2; printed as 1 in Lemma 3 and as 2 in Lemma 4
assert np.allclose(joined[4], 4 + 0.5)  # to 4; printed as 3
assert np.allclose(joined[5], [5, -5])

# The same log, from a policy that shows coalition 1 with 2, 4 and 5 of the agents, and every pair.
assert telling_joint_action(instance.games, instance.policy, "semi-bandit") is None
sizes = instance.policy.size_probabilities() > 0
assert sizes.nonzero()[1].tolist() == [2, 4, 5, 1, 2, 4]
assert (instance.policy.meeting_probabilities() > 0).all()

proof = prove_worst_case_gap(instance.games, 1 / 2)
assert proof.holds
everybody_in_2 = first.strategy({agent: ["2"] for agent in first.agents})
assert worst_case_gap(instance.games, everybody_in_2) == 1 / 2

print(f"Theorem 2: worst-case gap 1/2 (lower bound from {proof.cells} cells, attained by all in coalition 2)")
