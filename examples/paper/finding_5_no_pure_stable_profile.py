"""Finding 5: Lemma 1 needs utilities that do not depend on size.

Three agents, two interchangeable coalitions, symmetric utilities: agents 2 and 3 like each other
alone (1) and not in company (-1), agents 1 and 3 like each other in company only (1). No pure
profile is stable, so there is no potential. It is the smallest such case: two agents who share a
coalition are always two, and with one coalition nobody has a choice.

What remains true: games in which size matters and the pair does not have Rosenthal's potential, the
sum over coalitions l and sizes s up to |C_l| of (s - 1) d^l(s). Proven here by enumeration for the
counterexample; checked on random anonymous games.
"""

import numpy as np

from coterie import Game, NoPotentialError
from coterie.theory import no_pure_stable_profile

(game,) = no_pure_stable_profile().games
assert game.is_symmetric
assert game.stable_profiles() == []
try:
    game.potential(game.uniform())
except NoPotentialError as reason:
    refusal = str(reason)
assert "both the pair and the coalition's size" in refusal

# Best responses go round and round.
profile, seen = game.strategy({"1": ["1"], "2": ["1"], "3": ["1"]}), []
while profile.sets.tobytes() not in seen:
    seen.append(profile.sets.tobytes())
    move = game.worst(profile)
    profile = profile.replace(move.agent, move.action)
cycle = len(seen) - seen.index(profile.sets.tobytes())

rng = np.random.default_rng(1)
for _ in range(20):
    n, k = 4, 2
    by_size = np.zeros((k, n + 1))
    by_size[:, 2:] = rng.uniform(-1, 1, (k, n - 1))
    anonymous = Game(np.zeros((k, n, n)), "any", size_shift=by_size)
    profiles = [anonymous.strategy(row) for block in anonymous.actions.joint_actions() for row in block]
    for strategy in profiles[:: len(profiles) // 10]:
        sizes = strategy.sets.sum(axis=0)
        rosenthal = sum((s - 1) * by_size[l, s] for l in range(k) for s in range(1, sizes[l] + 1))
        assert np.isclose(anonymous.potential(strategy), rosenthal)
        for move in anonymous.best_responses(strategy):
            change = anonymous.potential(strategy.replace(move.agent, move.action)) - rosenthal
            assert np.isclose(change, move.gain)
    assert anonymous.is_nash_stable(max(profiles, key=anonymous.potential))

print(f"Finding 5: no stable pure profile among 8, best responses repeat after {cycle} moves; anonymous games have one")
