"""Tilted widths: the inequality behind them, their coverage by simulation, and never far above Hoeffding's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, Game, Strategy, exactly_one
from coterie.certificates.holdout import fixed
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.tilted import tilted_costs
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree

N, K = 4, 2
RANGE = Bounds(-1.0, 1.0)


@settings(max_examples=500, deadline=None)
@given(st.floats(0, 0.999), st.floats(-1, 20))
def test_the_inequality_of_the_proof(s, z):
    """exp(s z - psi(s) z^2) <= 1 + s z for z >= -1 and 0 <= s < 1."""
    assert np.exp(s * z - tilted_costs(np.float64(s)) * z * z) <= (1 + s * z) * (1 + 1e-12)


def two_point(rng, shape):
    """Hardly ever anything but 0: a loss of 1 with probability 1 in 100."""
    return -(rng.random(shape) < 0.01).astype(float)


def skewed(rng, shape):
    return rng.choice([-1.0, 0.3], size=shape, p=[0.2, 0.8])


def ratings(rng, shape):
    return rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=shape, p=[0.05, 0.1, 0.2, 0.4, 0.25])


def uniform(rng, shape):
    return rng.uniform(-1, 1, shape)


MEANS = {two_point: -0.01, skewed: 0.04, ratings: 0.35, uniform: 0.0}


def evidence(rng, draw, count):
    """Independent values of every pair in every coalition."""
    sums = np.zeros((3, K, N, N))
    for l in range(K):
        for i in range(N):
            for j in range(i + 1, N):
                values = draw(rng, int(count[l, i, j]))
                sums[:, l, i, j] = sums[:, l, j, i] = len(values), values.sum(), (values**2).sum()
    return PairEvidence(PairEstimate.from_sums(SizeFree(), *sums, RANGE))


@pytest.mark.slow
@pytest.mark.parametrize("draw", MEANS, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize(("learns", "certifies"), [(3, 12), (20, 80), (200, 800)])
def test_certificates_hold_for_a_fixed_profile(draw, learns, certifies):
    """All pairs have the same mean, so the gap of a profile is known; half of delta is as much as is promised."""
    means = np.full((K, N, N), MEANS[draw]) * ~np.eye(N, dtype=bool)
    spaces = ActionSpaces.shared(exactly_one(K), N)
    game = Game(means, spaces)
    profile = Strategy.pure([[1, 0], [1, 0], [0, 1], [0, 1]])
    gap, rng = game.gap(profile), np.random.default_rng(3)
    logs, deltas = 400, (0.5, 0.1)
    failures = dict.fromkeys(deltas, 0)
    for _ in range(logs):
        counts = [rng.integers(1, 2 * size, (K, N, N)) for size in (learns, certifies)]
        learning, certifying = (evidence(rng, draw, count) for count in counts)
        for delta in deltas:
            failures[delta] += fixed(certifying, profile, spaces, delta, learning=learning).gap < gap - 1e-9
    for delta in deltas:
        assert failures[delta] <= delta * logs + 3 * np.sqrt(delta * (1 - delta) * logs)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_never_far_above_hoeffding(seed):
    """In 1,500 draws it was above it in 3 %, by at most 43 % of its width: a learning part may mislead."""
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 200, (K, N, N))
    draw = list(MEANS)[seed % len(MEANS)]
    learning, certifying = evidence(rng, draw, np.maximum(count // 4, 1)), evidence(rng, draw, count)
    spaces = ActionSpaces.shared(exactly_one(K), N)
    profile = Strategy.pure(spaces.sample(rng, 1)[0])
    plain = fixed(certifying, profile, spaces, 0.05, form="hoeffding")
    sharp = fixed(certifying, profile, spaces, 0.05, learning=learning)
    for agent, witness in plain.alternatives.items():
        assert sharp.alternatives[agent].bound <= witness.bound + 0.75 * witness.uncertainty + 1e-9
