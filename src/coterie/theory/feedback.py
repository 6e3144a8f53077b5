"""What a log of a given policy shows, and whether it tells games apart."""

from collections.abc import Sequence

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.simulate.logs import Feedback
from coterie.simulate.policies import Policy

SAME_WITHIN = 1e-9
"""Utilities that differ by no more than this are the same."""


def mean_feedback(game: Game, joint_actions: BoolArray, feedback: Feedback) -> FloatArray:
    """Return the means of what a log shows of each joint action.

    Semi-bandit: the utility of every pair in every coalition, shape (b, k, n, n), 0 for pairs that
    do not meet. Bandit: every agent's total, shape (b, n).
    """
    n, k = game.n_agents, game.n_coalitions
    by_size = np.zeros((n + 1, k, n, n))
    for s, l, i, j in np.argwhere(np.ones_like(by_size)).tolist():
        if s >= 2 and i != j:
            by_size[s, l, i, j] = game.observed.pair_mean(l, i, j, s)
    meet = joint_actions[:, :, None, :] & joint_actions[:, None, :, :]
    sizes = joint_actions.sum(axis=1)
    pairs = np.where(np.moveaxis(meet, -1, 1), by_size[sizes, np.arange(k)], 0.0)
    return pairs if feedback == "semi-bandit" else np.asarray(pairs.sum(axis=(1, 3)))


def telling_joint_action(games: Sequence[Game], policy: Policy, feedback: Feedback) -> Strategy | None:
    """Return an explored joint action whose feedback differs between the games; None if there is none.

    A log holds the joint action and its feedback. So if there is none, and the utilities are
    deterministic or have the same noise, logs of any length have the same distribution in all games.
    """
    explored = policy.explored()
    first, *others = (mean_feedback(game, explored, feedback).reshape(len(explored), -1) for game in games)
    differs = np.zeros(len(explored), dtype=bool)
    for other in others:
        differs |= (np.abs(other - first) > SAME_WITHIN).any(axis=1)
    if not differs.any():
        return None
    return Strategy.pure(explored[differs.argmax()], games[0].agents, games[0].coalitions)
