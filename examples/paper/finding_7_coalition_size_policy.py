"""Finding 7, a consequence: `1Rand` does not satisfy Assumption 1 in the mixed-effects experiment.

App. H.1.3 renames 1Rand, in which the first agent explores and the others always play {1, 3, 5}, to the
coalition size policy, since it covers all sizes next to {1, 3, 5}^n, with c_size = 3. That is so, and
uniform exploration has 3^n there. But {1, 3, 5}^n is not stable (`finding_7_mixed_effects.py`), and Assumption 1
asks for a stable strategy.

There is none that 1Rand covers. It shows coalition 3 with n - 1 or n members only. If coalition 3 is to have no
other size after any agent has left it, all others must always be in it, for every agent: the strategy
is {1, 3, 5}^n. Checked here for the pure stable profiles by enumeration; that the argument covers mixed
ones is the same calculation with probabilities. The same holds with the printed bonus of coalition 5.
"""

import numpy as np

from coterie.coverage import coverage
from coterie.simulate.policies import FirstExplores, Independent
from coterie.theory import mixed_effects

for n in (3, 4, 5, 6):
    (game,) = mixed_effects(n).games
    explores, uniform = FirstExplores(game.actions), Independent(game.actions)
    everybody = game.strategy({agent: ["1", "3", "5"] for agent in game.agents})
    assert np.isclose(coverage(explores, everybody, game.actions).c_size, 3)
    assert np.isclose(coverage(uniform, everybody, game.actions).c_size, 3.0**n)
    assert game.gap(everybody) > 1

    shown = explores.size_probabilities() > 0
    assert np.flatnonzero(shown[2]).tolist() == [n - 1, n]
    stable = game.stable_profiles()
    missing = [coverage(explores, s, game.actions).uncovered_sizes for s in stable]
    assert all("3" in {witness.coalition for witness in sizes} for sizes in missing)
    assert all(coverage(uniform, s, game.actions).assumption_1 for s in stable)

print(
    f"Finding 7: 1Rand covers none of the {len(stable)} stable profiles of six agents; uniform exploration covers all"
)
