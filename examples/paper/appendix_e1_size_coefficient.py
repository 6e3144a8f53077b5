"""App. E.1: the smallest coalition size coefficient c_size is said to be at most 3.

The policy proposed plays each joint action that one deviation can reach from a pure stable profile
equally often. Each size that matters then has a share of at least 1/3, it is argued, since there
are three of them. But shares are not equal: with ten agents and two coalitions the profile itself
is one of 11 joint actions and the only one with its sizes, so c_size = 11.

Better policies help, but not always down to 3. Two agents who each choose one of three coalitions
and do not care for each other are stable at ({1}, {2}); a linear program over all policies gives
7/2 there. Its dual solution, a weighting of the sizes to be covered of which no joint action shows
more than 2/7, proves that no policy does better; the primal one attains it.
"""

import numpy as np
from scipy.optimize import linprog

from coterie import Game
from coterie.hard_instances import deviation_size_probabilities, size_coefficient
from coterie.simulate.policies import UniformOver

game = Game(np.zeros((2, 10, 10)), "one")
profile = game.strategy({agent: ["1"] if int(agent) <= 5 else ["2"] for agent in game.agents})
moves = [profile.replace(agent, [room]).sets for agent in game.agents for room in game.coalitions]
reachable = np.unique(moves, axis=0)
assert len(reachable) == 11
coefficient = size_coefficient(game, profile, UniformOver(reachable))
assert np.isclose(coefficient, 11)

small = Game(np.zeros((3, 2, 2)), "one")
pair = small.strategy({"1": ["1"], "2": ["2"]})
assert small.is_nash_stable(pair)
joint_actions = np.concatenate(list(small.actions.joint_actions()))
needed = np.argwhere(deviation_size_probabilities(small, pair) > 0)
shows = np.array([joint_actions[:, :, l].sum(axis=1) == s for l, s in needed], dtype=np.float64)
# The policy that maximises the smallest probability t of a needed size has c_size = 1 / t.
solved = linprog(
    np.append(np.zeros(len(joint_actions)), -1.0),
    A_ub=np.hstack([-shows, np.ones((len(needed), 1))]),
    b_ub=np.zeros(len(needed)),
    A_eq=np.append(np.ones(len(joint_actions)), 0.0)[None],
    b_eq=[1.0],
)
weights = -solved.ineqlin.marginals
assert np.isclose(weights.sum(), 1)
assert np.isclose((weights @ shows).max(), 2 / 7)
assert np.isclose((shows @ solved.x[:-1]).min(), 2 / 7)

print(f"App. E.1: c_size = {coefficient:.0f}, proposed policy and n = 10; {1 / solved.x[-1]:.1f} at best for n = 2")
