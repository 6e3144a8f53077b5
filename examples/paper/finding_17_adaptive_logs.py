"""Finding 17: the bounds hold for logs whose actions do not depend on earlier utilities.

The paper draws samples independently from one policy (Section 3.2) and says that logs made one after
the other can be treated alike, by subsampling if need be. All of its widths (and all of ours but one) fix
the counts N first and then bound the error. Where people act on what they have seen, N depends on the
utilities, and the same interval fails more often than promised.

Two agents meet, utilities are +1 or -1, the mean is 0. They go on meeting until their average looks
significant (the Hoeffding interval at delta = 0.01 no longer holds 0), at most 2,000 times. The
probability that the interval is wrong in the end is computed exactly, as that of a random walk hitting a
boundary: 2.6 %, not 1 %, and more the longer they may go on.

The self-normalised bound of `coterie.estimate.ridge` (`paired(..., form="box")` for bandit logs) holds for
every stopping rule; its exact failure probability is below delta. Certificates say that they assume
actions fixed in advance.
"""

import numpy as np

from coterie.certificates.widths import ellipsoid_radius
from coterie.estimate.confidence import hoeffding
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import AgentRidge

DELTA, LONGEST = 0.01, 2_000


def ever_outside(boundary: np.ndarray) -> float:
    """Return the probability that a fair +-1 walk S_t ever has |S_t| > boundary[t - 1]."""
    places = np.arange(-LONGEST, LONGEST + 1)
    inside = np.zeros(len(places))
    inside[LONGEST] = 1.0
    gone = 0.0
    for limit in boundary:
        inside = 0.5 * (np.append(inside[1:], 0.0) + np.append(0.0, inside[:-1]))
        out = np.abs(places) > limit
        gone += inside[out].sum()
        inside[out] = 0.0
    return float(gone)


times = np.arange(1, LONGEST + 1, dtype=float)
fixed = times * hoeffding(times, 1.0, 1, DELTA)
by_hoeffding = ever_outside(fixed)
assert by_hoeffding > 2.5 * DELTA

# One unknown, one total per sample: |theta^ - theta|_G <= radius, with G = lambda + t and theta^ = S / G.
penalty = 1.0
bounds = Bounds(0.0, 0.0, sigma=1.0)  # theta is 0, and that is known
ridges = [AgentRidge((np.array([[t]]),), (np.zeros(1),), bounds, penalty) for t in times]
radii = np.array([ellipsoid_radius(ridge, 0, DELTA) for ridge in ridges])
by_self_normalised = ever_outside(radii * np.sqrt(penalty + times))
assert by_self_normalised < DELTA

# With the number of meetings fixed in advance, Hoeffding is right.
walk = np.random.default_rng(1).choice([-1, 1], (20_000, 500)).sum(axis=1)
assert (np.abs(walk) > fixed[499]).mean() < DELTA

print(
    f"Finding 17: stopping at will, the interval of level {DELTA} is wrong with probability {by_hoeffding:.3f}, "
    f"the self-normalised one with {by_self_normalised:.4f}"
)
