"""What occurs together under a policy: E[x x'] of one agent's indicators x of (coalition, partner).

x has an entry for each coalition l and partner j, 1 if both the agent and j are in l, in the order of a
bandit log: coalitions first, then partners without the agent herself. All are exact.
"""

import numpy as np

from coterie.arrays import BoolArray, FloatArray


def of_independent(joint_marginals: FloatArray, agent: int) -> FloatArray:
    """Return E[x x'] where agents draw independently, from Pr[l and l' in a_j], shape (n, k, k).

    Pr[l, l' in a_i] times p_j(l) p_h(l') for two partners j and h, Pr[l, l' in a_j] for one.
    """
    rooms = np.einsum("jll->lj", joint_marginals)
    found = rooms[:, :, None, None] * rooms
    agents = np.arange(len(joint_marginals))
    found[:, agents, :, agents] = joint_marginals
    return _flat(found * joint_marginals[agent][:, None, :, None], agent)


def of_listed(joint_actions: BoolArray, agent: int) -> FloatArray:
    """Return the average of x x' over joint actions (b, n, k)."""
    together = joint_actions & joint_actions[:, [agent]]
    x = np.delete(together, agent, axis=1).transpose(0, 2, 1).reshape(len(together), -1) * 1.0
    return np.asarray(x.T @ x / len(x))


def of_one_mover(profile: BoolArray, moves: FloatArray, moved: FloatArray, agent: int) -> FloatArray:
    """Return E[x x'] where at most one agent leaves a profile (n, k).

    `moves` (n,) is Pr[j moves], `moved` (n, k, k) is Pr[j moves, and l and l' are in her new set]. With
    B = b_i b_j the indicators of the profile: if nobody moves or somebody else does, B B'; if the agent
    moves, her new set with the partners' old ones; if a partner does, the other way round.
    """
    b = profile.T * 1.0  # (k, n)
    own = b[:, agent]
    base = own[:, None] * b
    changed = own[:, None] * np.einsum("jll->lj", moved)
    share = 1 - moves[agent] - moves[:, None] - moves[None, :]
    found = share[None, :, None, :] * base[:, :, None, None] * base
    found += changed[:, :, None, None] * base + base[:, :, None, None] * changed
    agents = np.arange(len(profile))
    alone = (1 - moves[agent] - moves)[:, None, None] * base.T[:, :, None] * base.T[:, None, :]
    found[:, agents, :, agents] = alone + own[:, None] * own * moved
    found += moved[agent][:, None, :, None] * b[:, :, None, None] * b
    return _flat(found, agent)


def _flat(found: FloatArray, agent: int) -> FloatArray:
    """Leave the agent herself out of (k, n, k, n) and make it a matrix."""
    others = np.arange(found.shape[1]) != agent
    kept = found[:, others][..., others]
    side = kept.shape[0] * kept.shape[1]
    return np.asarray(kept.reshape(side, side))
