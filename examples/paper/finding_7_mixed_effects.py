"""Finding 7: in the mixed-effects experiment (App. H.1.3), {1, 3, 5} for everybody is not stable.

It is named as the pure stable outcome. There an agent loses in coalition 1 what she gets in 5,
utility 0; by moving to {4, 5} she keeps coalition 5 and is alone in 4, which gains n (n - 1) / (n + 1),
1.5 for three agents and 4.29 for six. With the printed bonus of coalition 5, |C_1| / (n + 1) instead
of |C_5| / (n + 1), it gains (n - 1)^2 / (n + 1), still 1.0 to 3.57. Stable profiles mix {1, 3, 5} and
{4, 5}: 2+1, 2+2, 3+2 and 4+2 agents for n = 3 to 6 (printed bonus: 2+1, 3+1, 3+2, 4+2).

Proven here by enumeration. The printed bonus depends on another coalition's size, which `Game` does
not model; by symmetry the numbers of agents on the three actions say everything.
"""

from itertools import product

import numpy as np

from coterie.simulate.models import MixedEffects
from coterie.theory import mixed_effects


def printed_values(counts: tuple[int, ...], n: int) -> tuple[float, float, float]:
    """Return what {1, 2}, {1, 3, 5} and {4, 5} are worth to those who play them, bonus |C_1| / (n + 1)."""
    first, fifth = counts[0] + counts[1], counts[1] + counts[2]
    cost, bonus = -(first - 1) * first / (n + 1), (fifth - 1) * first / (n + 1)
    return cost - (counts[0] - 1), cost + bonus, bonus - (counts[2] - 1)


def printed_gap(counts: tuple[int, ...], n: int) -> float:
    """Return the most that an agent gains by moving from one action to another."""
    gains = [0.0]
    for a, b in product(range(3), repeat=2):
        if counts[a] and a != b:
            moved = tuple(count - (x == a) + (x == b) for x, count in enumerate(counts))
            gains.append(printed_values(moved, n)[b] - printed_values(counts, n)[a])
    return max(gains)


for n, stable, printed_stable in ((3, (2, 1), (2, 1)), (4, (2, 2), (3, 1)), (5, (3, 2), (3, 2)), (6, (4, 2), (4, 2))):
    (game,) = mixed_effects(n).games
    everybody = game.strategy({agent: ["1", "3", "5"] for agent in game.agents})
    simulated = MixedEffects(n).game(game.actions, game.agents, game.coalitions)
    assert np.allclose(simulated.values(everybody), game.values(everybody))
    worst = game.worst(everybody)
    assert np.isclose(worst.gain, n * (n - 1) / (n + 1))
    assert worst.action == ("4", "5")
    profiles = game.stable_profiles()
    assert profiles
    assert {(int(s.sets[:, 2].sum()), int(s.sets[:, 3].sum())) for s in profiles} == {stable}

    assert np.isclose(printed_gap((0, n, 0), n), (n - 1) ** 2 / (n + 1))
    counts = [c for c in product(range(n + 1), repeat=3) if sum(c) == n and printed_gap(c, n) < 1e-9]
    assert counts == [(0, *printed_stable)]
    print(f"Finding 7: n = {n}: gap {worst.gain:.2f} (printed bonus {printed_gap((0, n, 0), n):.2f}), stable {stable}")
