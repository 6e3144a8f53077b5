"""Slow and obvious: every quantity of a game straight from its definition, by enumeration."""

from itertools import product

import numpy as np


def joint_actions(strategy):
    """Yield (probability, memberships) of every joint action in the strategy's support."""
    rows = [np.flatnonzero(strategy.owner == i) for i in range(strategy.n_agents)]
    for chosen in product(*rows):
        yield np.prod(strategy.probability[list(chosen)]), strategy.sets[list(chosen)]


def utility(table, memberships, agent):
    """Agent's utility in one joint action; `table[l, i, j, s]` holds the means."""
    total = 0.0
    for l in range(memberships.shape[1]):
        members = np.flatnonzero(memberships[:, l])
        if agent in members:
            total += sum(table[l, agent, j, len(members)] for j in members if j != agent)
    return total


def expected_utility(table, strategy, agent):
    return sum(share * utility(table, memberships, agent) for share, memberships in joint_actions(strategy))


def room_value(table, strategy, agent, coalition):
    """What the coalition is worth to the agent if she is in it and in nothing else."""
    total = 0.0
    for share, memberships in joint_actions(strategy):
        inside = memberships.copy()
        inside[agent] = False
        inside[agent, coalition] = True
        total += share * utility(table, inside, agent)
    return total


def gains(table, strategy, agent, actions):
    """The agent's gain from each of the listed actions."""
    own = expected_utility(table, strategy, agent)
    result = []
    for action in actions:
        value = 0.0
        for share, memberships in joint_actions(strategy):
            moved = memberships.copy()
            moved[agent] = action
            value += share * utility(table, moved, agent)
        result.append(value - own)
    return np.array(result)


def gap(table, strategy, spaces):
    return max(gains(table, strategy, i, space.enumerate()).max() for i, space in enumerate(spaces.spaces))
