"""Remark 4: exploring uniformly over joint actions satisfies Assumption 1.

True: whatever a deviation leads to is itself a joint action, and every joint action has positive probability.
For the same reason it covers every pair, at every size, and the deviations that Assumption 2 asks about.
What it does not say is how well: the least probable size that matters can be as rare as one joint action, so
that c_size grows exponentially with n. Checked on random explicit action spaces.
"""

import numpy as np

from coterie import Game
from coterie.coverage import coverage
from coterie.game.actions import ActionSpaces, ExplicitSets
from coterie.simulate import draw_sets
from coterie.simulate.policies import Independent

rng = np.random.default_rng(1)
for _ in range(30):
    n, k = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    spaces = ActionSpaces.shared(ExplicitSets(draw_sets(rng, k, 3)), n)
    game = Game(np.zeros((k, n, n)), spaces)
    policy = Independent(spaces)
    for strategy in (game.strategy(spaces.sample(rng, 1)[0]), game.uniform()):
        covered = coverage(policy, strategy, spaces)
        assert covered.assumption_1
        assert covered.covers_pairs
        assert 1 <= covered.c_size <= 3.0**n + 1e-6

coefficients = []
for n in (2, 4, 8):
    game = Game(np.zeros((3, n, n)), "one")
    everybody_in_1 = game.strategy({agent: ["1"] for agent in game.agents})
    coefficients.append(coverage(Independent(game.actions), everybody_in_1, game.actions).c_size)
assert np.allclose(coefficients, [3.0**n for n in (2, 4, 8)])

print(
    f"Remark 4: uniform exploration covers all sizes and pairs; c_size is {coefficients[-1]:.0f} for eight in one room"
)
