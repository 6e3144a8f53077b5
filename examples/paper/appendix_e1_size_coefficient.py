"""App. E.1: the smallest coalition size coefficient c_size is said to be at most 3.

The policy proposed plays each joint action that one deviation can reach from a pure stable profile
equally often. Each size that matters then has a share of at least 1/3, it is argued, since there
are three of them. But shares are not equal: with ten agents and two coalitions the profile itself
is one of 11 joint actions and the only one with its sizes, so c_size = 11.

Better policies help, but not down to 3, nor to any other number. Let two agents who do not care for each
other choose one of k coalitions. At the stable profile ({1}, {2}) the sizes 2 of coalitions 1 and 2 and
the size 1 of all k must be shown, and no joint action shows more than two of the latter, or one of the
former. Weights 2, 2 and k times 1 add up to k + 4, and no joint action shows more than 2 of that: no
policy has c_size below (k + 4) / 2, which is 7/2 for k = 3, 4 for k = 4. A linear program over all policies
attains it. At the other kind of profile, ({1}, {1}), it is (k + 2) / 2. With overlaps it is the same, if all
actions also contain one more coalition.

Two more remarks. Eq. (7) leaves out sizes that the policy never shows, so that a policy that shows almost
nothing has a small coefficient; it must be infinite there. And |A|^n, named for uniform exploration
(App. H.1.1), is an upper bound if |A| is the number of one agent's actions.
"""

import numpy as np
from scipy.optimize import linprog

from coterie import Game, Strategy
from coterie.coverage import coverage
from coterie.coverage.reach import ProfileReach
from coterie.simulate.policies import Deviations, Independent, UniformOver

game = Game(np.zeros((2, 10, 10)), "one")
profile = game.strategy({agent: ["1"] if int(agent) <= 5 else ["2"] for agent in game.agents})
moves = [profile.replace(agent, [room]).sets for agent in game.agents for room in game.coalitions]
reachable = np.unique(moves, axis=0)
assert len(reachable) == 11
coefficient = coverage(UniformOver(reachable), profile, game.actions).c_size
assert np.isclose(coefficient, 11)
assert np.isclose(coverage(Deviations(game.actions, profile.sets), profile, game.actions).c_size, 11)


def least_coefficient(game: Game, profile: Strategy) -> float:
    """Return the smallest c_size of any policy: one over the largest t that all needed sizes can have together."""
    joint_actions = np.concatenate(list(game.actions.joint_actions()))
    needed = np.argwhere(ProfileReach(profile, game.actions).size_probabilities() > 0)
    shows = np.array([joint_actions[:, :, l].sum(axis=1) == s for l, s in needed], dtype=np.float64)
    solved = linprog(
        np.append(np.zeros(len(joint_actions)), -1.0),
        A_ub=np.hstack([-shows, np.ones((len(needed), 1))]),
        b_ub=np.zeros(len(needed)),
        A_eq=np.append(np.ones(len(joint_actions)), 0.0)[None],
        b_eq=[1.0],
    )
    return 1 / float((shows @ solved.x[:-1]).min())


for k in range(3, 9):
    small = Game(np.zeros((k, 2, 2)), "one")
    apart, together = small.strategy({"1": ["1"], "2": ["2"]}), small.strategy({"1": ["1"], "2": ["1"]})
    assert small.is_nash_stable(apart)
    assert small.is_nash_stable(together)
    # The proof: what any joint action shows of the weighted sizes.
    sizes = np.concatenate(list(small.actions.joint_actions())).sum(axis=1)
    shown = 2 * (sizes[:, :2] == 2).sum(axis=1) + (sizes == 1).sum(axis=1)
    assert shown.max() == 2
    assert np.isclose(least_coefficient(small, apart), (k + 4) / 2)
    assert np.isclose(least_coefficient(small, together), (k + 2) / 2)
overlapping = Game(np.zeros((5, 2, 2)), [[str(l), "5"] for l in range(1, 5)])
assert np.isclose(least_coefficient(overlapping, overlapping.strategy({"1": ["1", "5"], "2": ["2", "5"]})), 4)

# Eq. (7) as printed: a policy that never leaves the profile covers no deviation, and has coefficient 1.
still = UniformOver(profile.sets[None])
assert coverage(still, profile, game.actions).c_size_seen == 1
assert coverage(still, profile, game.actions).c_size == np.inf
# Uniform exploration, ten agents with two actions: far below 2^10.
uniform = coverage(Independent(game.actions), profile, game.actions).c_size
assert uniform < 5

print(
    f"App. E.1: c_size = {coefficient:.0f} with the proposed policy for n = 10; at best (k + 4) / 2 for two agents, "
    f"{least_coefficient(small, apart):.0f} for k = 8; uniform exploration has {uniform:.1f}"
)
