"""Remark 5: Assumption 1 is said to need a log with about n k distinct joint actions.

The sizes that deviations from a pure profile can reach are at most three per coalition, and one joint
action shows a size of every coalition at once. Three joint actions can be enough, whatever n and k are. So
the factors n and k of Theorem 3 are not explained by the number of joint actions.

Checked here for up to 12 agents in two coalitions, half in each, and with overlaps for 5 coalitions. Covering
every *pair* that a deviation brings together, which is what learning needs (`finding_1_pair_coverage.py`),
takes few joint actions as well where everybody may be everywhere.
"""

import numpy as np

from coterie import Game
from coterie.coverage import coverage
from coterie.simulate.policies import UniformOver

for n in (4, 8, 12):
    game = Game(np.zeros((2, n, n)), "one")
    in_first = np.arange(n) < n // 2
    profile = game.strategy(np.stack([in_first, ~in_first], axis=1))
    three = [np.arange(n) < n // 2 + change for change in (-1, 0, 1)]
    policy = UniformOver(np.array([np.stack([first, ~first], axis=1) for first in three]))
    covered = coverage(policy, profile, game.actions)
    assert covered.assumption_1
    assert not covered.covers_pairs

n, k = 6, 5
game = Game(np.zeros((k, n, n)), "any-or-none")
three = np.array([np.repeat((np.arange(n) < size)[:, None], k, axis=1) for size in (3, 4, 5)])
profile = game.strategy(three[1])
assert (profile.sets.sum(axis=0) == 4).all()
assert coverage(UniformOver(three), profile, game.actions).assumption_1
everywhere = UniformOver(np.ones((1, n, k), dtype=bool))
assert coverage(everywhere, profile, game.actions).covers_pairs

print("Remark 5: three joint actions show every size that a deviation from these profiles can reach, for any n and k")
