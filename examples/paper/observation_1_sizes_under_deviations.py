"""Observation 1: one agent's deviation changes every coalition's size by at most one.

True for a joint action that has been drawn; the script checks it for all joint actions and all
deviations of three agents and three coalitions, where every change does occur. It does not limit
the sizes that matter for a mixed strategy: when agents draw, every size can have positive
probability, with or without a deviation. That is why sizes next to those of a single stable pure
profile are enough to look at, but not those next to the mean size of a mixed one.
"""

import numpy as np

from coterie import Game
from coterie.coverage.reach import ProfileReach

game = Game(np.zeros((3, 3, 3)), "any")
profiles = np.concatenate(list(game.actions.joint_actions()))
changes = set()
for agent, space in enumerate(game.actions.spaces):
    for action in space.enumerate():
        deviated = profiles.copy()
        deviated[:, agent] = action
        changes |= set((deviated.sum(axis=1) - profiles.sum(axis=1)).ravel().tolist())
assert changes == {-1, 0, 1}

pure = game.strategy(np.eye(3, dtype=bool))
reachable = [np.flatnonzero(row).tolist() for row in ProfileReach(pure, game.actions).size_probabilities()]
assert reachable == [[0, 1, 2]] * 3
assert (ProfileReach(game.uniform(), game.actions).size_probabilities() > 0).all()

print(f"Observation 1: sizes change by {sorted(changes)}; from a mixed strategy every size can be reached")
