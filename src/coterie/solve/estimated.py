"""Room values of many pure profiles at once."""

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.estimate.design import pair_sums
from coterie.game.means import DenseMeans
from coterie.game.utilities import ScaledBySize, SizeFree, TableBySize, Utilities


def room_values(utilities: Utilities, profiles: BoolArray, agents: IntArray) -> FloatArray:
    """Return W_i(l) of some agents under many pure profiles (b, n, k), shape (b, g, k)."""
    if isinstance(utilities, (SizeFree, ScaledBySize)) and isinstance(utilities.means, DenseMeans):
        joined = profiles.astype(np.float64)
        sums = pair_sums(utilities.means.values, joined, agents)
        if isinstance(utilities, SizeFree):
            return sums
        partners = (profiles.sum(axis=1)[:, None] - profiles[:, agents]).astype(np.int64)
        coalition = np.arange(profiles.shape[2])
        scale, shift = utilities.scale[coalition, partners + 1], utilities.shift[coalition, partners + 1]
        return np.asarray(scale * sums + shift * partners)
    if isinstance(utilities, TableBySize):
        joined = profiles.astype(np.float64)
        everybody = joined.transpose(0, 2, 1) @ np.ones(profiles.shape[1])  # much quicker than a sum
        size = (everybody[:, :, None] - joined[:, agents].transpose(0, 2, 1) + 1).astype(np.int64)
        # Partners last and next to each other in memory: most of the time goes into fetching them.
        by_size = np.ascontiguousarray(utilities.table[:, agents].transpose(0, 1, 3, 2))
        found = by_size[np.arange(profiles.shape[2])[:, None], np.arange(len(agents)), size]
        return np.asarray(np.einsum("blgj,bjl->bgl", found, joined))
    return np.asarray(utilities.pure_room_values(profiles)[:, agents])
