"""Theorem 5: under Assumption 2 the expected bonus is at most sqrt(n^2 k beta / (c_act M)).

True as an inequality between bonus and coverage (App. G, eq. 65): with S = E[z z'] for the deviation, V >= I + M c S
gives E |z|_(V^-1) <= sqrt(trace((I + M c S)^-1 S)) = sqrt(trace(I - (I + M c S)^-1) / (M c)). The trace is at most the
rank of S, and S lives in one agent's block: (n - 1) k suffices in place of n^2 k, which makes the bound smaller
by a factor of at least sqrt(n). Whether the bonus holds is another question (`finding_13_ridge.py`).

Checked on random strategies of small games: the printed inequality and the sharper one, with the c_act
that the log has, found from generalised eigenvalues.
"""

import numpy as np
from scipy.linalg import eigh

from coterie import Game, Strategy
from coterie.certificates.paper import paper_radius
from coterie.theory.bounds import Problem, action_coverage, bandit_radius, theorem_5


def features(joined: np.ndarray, agent: int) -> np.ndarray:
    """Return who else is in which of the agent's coalitions, one row per joint action."""
    met = joined[:, agent, None, :] & np.delete(joined, agent, axis=1)
    return met.reshape(len(joined), -1).astype(float)


rng = np.random.default_rng(1)
ratios = []
for _ in range(20):
    n, k, samples = 3, 3, 500
    game = Game(np.zeros((k, n, n)), "any")
    sets = game.actions.spaces[0].enumerate()
    strategy = Strategy.mixed([(sets, rng.dirichlet(np.ones(len(sets)))) for _ in range(n)])

    log = game.actions.sample(rng, samples)
    played = strategy.sample(rng, 2_000)
    for agent in range(n):
        logged = features(log, agent)
        scatter = logged.T @ logged
        for action in sets:
            played[:, agent] = action
            z = features(played, agent)
            second = z.T @ z / len(z)
            # The largest c with scatter >= M c S: S v = mu (scatter / M) v, c = 1 / largest mu.
            c_act = 1 / eigh(second, scatter / samples, eigvals_only=True)[-1]
            inverse = np.linalg.inv(np.eye(len(second)) + scatter)
            expected = np.sqrt(np.einsum("mf,fg,mg->m", z, inverse, z)).mean()
            assert expected <= np.sqrt((n - 1) * k / (c_act * samples))
            assert expected <= np.sqrt(n**2 * k / (c_act * samples))
            # The library's bounds: four times that, with eq. 11's radius or with one that has a proof.
            problem = Problem(n, k, c_act=min(c_act, 1.0))
            radius, proven = paper_radius(n, k, samples, problem.delta), bandit_radius(problem, samples, problem.delta)
            assert 4 * radius * expected <= theorem_5(problem).gap(samples)
            assert 4 * proven * expected <= action_coverage(problem, pure=False).gap(samples)
            ratios.append(expected / np.sqrt((n - 1) * k / (c_act * samples)))

print(
    f"Theorem 5: coverage bounds the bonus in {len(ratios)} cases, with (n - 1) k too; {max(ratios):.2f} of it at most"
)
