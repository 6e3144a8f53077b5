"""Steps: the ways in which one profile can lead to the next, and so what stability is stability against.

A step takes somebody from the set of coalitions that she is in to another one of her action space. The gap looks
at every such set; the *small steps* are those that join one coalition, leave one, or swap one for another. They
are few even where an action space has 2^k sets, so searches and plans try them where it cannot be listed.
"""

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.actions import ActionSpace


def small_steps(space: ActionSpace, own: BoolArray, most_swaps: int | None = None) -> BoolArray:
    """Return the sets in `space` that differ from `own` by joining, leaving or swapping one coalition, shape (m, k).

    First those that join or leave, by coalition, then swaps, by the coalition that is left and the one that is
    joined: at most `most_swaps` of them are looked at, the first ones; None for all.
    """
    flips = np.eye(len(own), dtype=bool)
    left, joined = np.flatnonzero(own), np.flatnonzero(~own)
    from_, to = (places.ravel()[:most_swaps] for places in np.meshgrid(left, joined, indexing="ij"))
    sets = own ^ np.concatenate([flips, flips[from_] | flips[to]])
    return np.asarray(sets[space.contains(sets)])
