"""Finding 12: the Gaussian models do not stay in [-1, 1].

Section 6 and App. H.1 draw utilities from a normal distribution around mu with standard deviation
1 - |mu| and say that this keeps them in [-1, 1]. The nearer end of the range is one standard deviation
away, so at least 15.9 % are outside, and 31.7 % at mu = 0. In the mixed-effects model (App. H.1.3) the
costly coalitions have mean -1 and standard deviation 1: 52.3 % are outside.

It matters since Hoeffding's inequality, on which eq. (9) rests, needs the range. Two repairs: clip,
as the released programs do (which moves the means; `coterie.simulate` knows them exactly), or declare a
sub-Gaussian scale sigma and use sigma sqrt(2 log(2 E / delta) / N). Values outside a declared range
are refused when a log is read.
"""

import numpy as np
from scipy.special import ndtr

from coterie.simulate.models import clipped_normal_mean, utility_model


def outside(mu: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return the probability that a normal utility is not in [-1, 1]."""
    return ndtr((-1 - mu) / deviation) + ndtr((mu - 1) / deviation)


mu = np.linspace(-0.999, 0.999, 1999)
share = outside(mu, 1 - np.abs(mu))
assert np.isclose(share.min(), ndtr(-1.0), atol=1e-4)
assert np.isclose(share.max(), 2 * ndtr(-1.0))
assert np.isclose(mu[share.argmax()], 0)
assert np.isclose(share.mean(), 0.188, atol=0.001)
costly = float(outside(np.array(-1.0), np.array(1.0)))
assert np.isclose(costly, 0.5 + ndtr(-2.0))

# What the simulation draws, and what clipping does to a mean.
rng = np.random.default_rng(1)
model = utility_model("gaussian", 6, 3, rng, clip=False)
assert model.sigma == 1.0
noise = model.driving_noise(rng, (200_000,))
pairs = [rng.integers(6, size=200_000) for _ in range(2)]
drawn = model.utilities(noise, rng.integers(3, size=200_000), *pairs, np.full(200_000, 2))
assert 0.15 < (np.abs(drawn) > 1).mean() < 0.35
moved = float(clipped_normal_mean(-1.0, 1.0))
assert np.isclose(moved, -0.609, atol=0.001)

print(
    f"Finding 12: {100 * share.min():.0f} to {100 * share.max():.0f} % of Gaussian utilities are outside [-1, 1], "
    f"{100 * costly:.0f} % in a costly coalition, whose mean clipping moves from -1 to {moved:.3f}"
)
