"""Remark after eq. 1: choosing one coalition uniformly is said to be stable in every game.

It is stable if coalitions are interchangeable, since then all of them are worth the same. In
general it is not: two agents who like each other in coalition 1 only (1 against 0) get 1/4 when
both choose uniformly, and either of them 1/2 by always choosing coalition 1. The gap is 1/4.
"""

import numpy as np

from coterie import Game
from coterie.theory import uniform_not_stable

(game,) = uniform_not_stable().games
worst = game.worst(game.uniform())
assert game.values(game.uniform()).tolist() == [0.25, 0.25]
assert (worst.gain, worst.action) == (0.25, ("1",))

rng = np.random.default_rng(1)
for _ in range(20):
    upper = np.triu(rng.uniform(-1, 1, (4, 4)), k=1)
    interchangeable = Game(upper + upper.T, "one", coalitions=3)
    assert interchangeable.is_nash_stable(interchangeable.uniform())

print(f"Remark: uniform choice has gap {worst.gain} where coalition 1 is better; 0 if coalitions are interchangeable")
