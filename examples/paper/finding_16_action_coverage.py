"""Finding 16: c_act = 1 / (2 n k^4) (Lemma 14, App. G.1) is true; its proof is not, and more can be said.

The policy plays a stable profile a* and its neighbours, in which one agent joins or leaves one coalition.
If each of these joint actions t occurs at least M / (2 (n k + 1)) times (Lemma 13), then V - I is at least
M / (2 (n k + 1)) times the sum of z(t) z(t)'. A deviation that toggles m coalitions has
z = (1 - m) z(a*) + the sum of its m neighbours, so by Cauchy and Schwarz, with coefficients alpha,

    z z' <= (sum of alpha^2) (sum of z(t) z(t)'),     sum of alpha^2 = (m - 1)^2 + m <= k^2 - k + 1,

and Assumption 2 holds with c_act = 1 / (2 (n k + 1) (k^2 - k + 1)), which is more than 1 / (2 n k^4) for k >= 2.
An agent in one coalition cannot leave it without joining another, so this neighbour does not exist (the
policy has fewer than n k + 1 joint actions then); moving to r other coalitions is the sum of r neighbours
minus r times z(a*), with r^2 + r <= k^2 - k. For k = 1 nobody has a choice.

The printed proof gives z(a*) the weight (1 - m)^2, which the log does not provide (eq. 69), and its last
step has Jensen's inequality the wrong way round, with a square too many (eq. 71): for m = 1 and
x = (0, 1) it says 1 >= 2. Checked here on all deviations from random profiles of small games.
"""

from itertools import product

import numpy as np

from coterie import Game
from coterie.coverage import coverage
from coterie.simulate.policies import Toggles
from coterie.theory.bounds import Problem, known_c_act


def features(profiles: np.ndarray, agent: int) -> np.ndarray:
    """Return z of one agent at each joint action: who else is in which of her coalitions."""
    met = profiles[:, agent, None, :] & np.delete(profiles, agent, axis=1)
    return met.reshape(len(profiles), -1).astype(float)


rng = np.random.default_rng(1)
tightest = np.inf
for n, k in ((2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (3, 4)):
    game = Game(np.zeros((k, n, n)), "any")
    sets = game.actions.spaces[0].enumerate()
    for profile in (sets[rng.integers(len(sets), size=n)] for _ in range(6)):
        policy = Toggles(game.actions, profile)
        allowed = policy.allowed
        # The library's coefficient of the policy itself, without the loss of Lemma 13, is larger still.
        of_policy = coverage(policy, game.strategy(profile), game.actions).c_act
        assert of_policy is None or of_policy >= 1 / ((n * k + 1) * (k**2 - k + 1)) - 1e-12
        neighbours = np.repeat(profile[None], 1 + int(allowed.sum()), axis=0)
        for row, (agent, l) in enumerate(np.argwhere(allowed), start=1):
            neighbours[row, agent, l] ^= True
        for agent in range(n):
            # M = 1: every joint action counts 1 / (2 (n k + 1)).
            z = features(neighbours, agent)
            inverse = np.linalg.pinv(z.T @ z / (2 * (n * k + 1)))
            deviations = np.repeat(profile[None], len(sets), axis=0)
            deviations[:, agent] = sets
            for target in features(deviations, agent):
                if not target.any():
                    continue
                assert np.allclose(z.T @ np.linalg.lstsq(z.T, target, rcond=None)[0], target)
                c_act = 1 / (target @ inverse @ target)
                sharp = 1 / (2 * (n * k + 1) * (k**2 - k + 1))
                assert c_act >= sharp - 1e-12
                assert known_c_act(Problem(n, k))[0] >= sharp > 1 / (2 * n * k**4)
                tightest = min(tightest, c_act / sharp)

for n, k in product(range(1, 60), range(2, 60)):
    assert (n * k + 1) * (k**2 - k + 1) < n * k**4

m, x_star, x = 1, 0.0, np.array([1.0])
left = ((1 - m) * x_star + x.sum()) ** 2
right = (m + 1) * ((1 - m) ** 2 * x_star**2 + (x**2).sum()) ** 2
assert left < right  # printed: left >= right

print(
    f"Finding 16: c_act >= 1 / (2 (nk + 1)(k^2 - k + 1)) at every deviation; the smallest is {tightest:.2f} times that"
)
