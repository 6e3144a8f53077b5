"""What a log of a given policy can show: its feedback, and the sizes and pairs that it covers."""

from collections.abc import Sequence

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError
from coterie.game.game import Game
from coterie.game.sizes import leave_one_out
from coterie.game.strategy import Strategy
from coterie.simulate.logs import Feedback
from coterie.simulate.policies import Independent, Policy, UniformOver

SAME_WITHIN = 1e-9
"""Utilities that differ by no more than this are the same."""


def explored_joint_actions(policy: Policy) -> BoolArray:
    """Return the joint actions that the policy plays with positive probability, shape (b, n, k)."""
    if isinstance(policy, UniformOver):
        return policy.joint_actions
    if isinstance(policy, Independent):
        return np.concatenate(list(policy.spaces.joint_actions()))
    raise InputError(f"policy: cannot list what {type(policy).__name__} explores")


def mean_feedback(game: Game, joint_actions: BoolArray, feedback: Feedback) -> FloatArray:
    """Return the means of what a log shows of each joint action.

    Semi-bandit: the utility of every pair in every coalition, shape (b, k, n, n), 0 for pairs that
    do not meet. Bandit: every agent's total, shape (b, n).
    """
    n, k = game.n_agents, game.n_coalitions
    by_size = np.zeros((n + 1, k, n, n))
    for s, l, i, j in np.argwhere(np.ones_like(by_size)).tolist():
        if s >= 2 and i != j:
            by_size[s, l, i, j] = game.utilities.pair_mean(l, i, j, s)
    meet = joint_actions[:, :, None, :] & joint_actions[:, None, :, :]
    sizes = joint_actions.sum(axis=1)
    pairs = np.where(np.moveaxis(meet, -1, 1), by_size[sizes, np.arange(k)], 0.0)
    return pairs if feedback == "semi-bandit" else np.asarray(pairs.sum(axis=(1, 3)))


def telling_joint_action(games: Sequence[Game], policy: Policy, feedback: Feedback) -> Strategy | None:
    """Return an explored joint action whose feedback differs between the games; None if there is none.

    A log holds the joint action and its feedback. So if there is none, and the utilities are
    deterministic or have the same noise, logs of any length have the same distribution in all games.
    """
    explored = explored_joint_actions(policy)
    first, *others = (mean_feedback(game, explored, feedback).reshape(len(explored), -1) for game in games)
    differs = np.zeros(len(explored), dtype=bool)
    for other in others:
        differs |= (np.abs(other - first) > SAME_WITHIN).any(axis=1)
    if not differs.any():
        return None
    return Strategy.pure(explored[differs.argmax()], games[0].agents, games[0].coalitions)


def deviation_size_probabilities(game: Game, strategy: Strategy) -> FloatArray:
    """Return the largest Pr[|C_l| = s] that any one agent can bring about by deviating, shape (k, n + 1)."""
    others = leave_one_out(strategy.marginals.T)
    inside = np.pad(others, ((0, 0), (0, 0), (1, 0))) * game.actions.can_join.T[:, :, None]
    outside = np.pad(others, ((0, 0), (0, 0), (0, 1))) * game.actions.can_avoid.T[:, :, None]
    return np.asarray(np.maximum(inside, outside).max(axis=1))


def size_coefficient(game: Game, strategy: Strategy, policy: Policy) -> float:
    """Return c_size (eq. 7): how much likelier a deviation makes a size than the policy does, at most.

    Infinite where a size that a deviation can reach is not explored.
    """
    reached, explored = deviation_size_probabilities(game, strategy), policy.size_probabilities()
    ratio = np.divide(reached, explored, out=np.full(reached.shape, np.inf), where=explored > 0)
    return float(ratio[reached > 0].max())


def uncovered_sizes(game: Game, strategy: Strategy, policy: Policy) -> list[tuple[str, int]]:
    """Return the (coalition, size) that a unilateral deviation can reach and the policy never shows.

    Assumption 1 asks for a stable strategy at which there are none.
    """
    missing = (deviation_size_probabilities(game, strategy) > 0) & (policy.size_probabilities() == 0)
    return [(game.coalitions[l], s) for l, s in np.argwhere(missing).tolist()]


def uncovered_pairs(game: Game, strategy: Strategy, policy: Policy) -> list[tuple[str, str, str]]:
    """Return the (coalition, agent, agent) that a unilateral deviation can bring together and the policy never does."""
    present = strategy.marginals.T > 0
    reached = game.actions.can_join.T[:, :, None] & present[:, None, :]
    missing = np.triu((reached | np.swapaxes(reached, 1, 2)) & (policy.meeting_probabilities() == 0), k=1)
    return [(game.coalitions[l], game.agents[i], game.agents[j]) for l, i, j in np.argwhere(missing).tolist()]
