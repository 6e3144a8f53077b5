from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.game.sizes import leave_one_out, leave_two_out, leave_two_out_means, size_distribution


def exact_distribution(p):
    """Poisson-binomial in exact rational arithmetic."""
    distribution = [Fraction(1)]
    for value in p:
        join = Fraction(float(value))
        distribution = [
            (distribution[s] * (1 - join) if s < len(distribution) else 0) + (distribution[s - 1] * join if s else 0)
            for s in range(len(distribution) + 1)
        ]
    return np.array([float(value) for value in distribution])


probabilities = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1e-12, 1 - 1e-12, 1e-300])), min_size=1, max_size=8
).map(np.array)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(probabilities)
def test_distributions_equal_exact_arithmetic(p):
    n = len(p)
    np.testing.assert_allclose(size_distribution(p), exact_distribution(p), rtol=1e-12, atol=1e-300)
    without_one = leave_one_out(p)
    for i in range(n):
        np.testing.assert_allclose(without_one[i], exact_distribution(np.delete(p, i)), rtol=1e-12, atol=1e-300)
        without_two = leave_two_out(p, without_one[i])
        for j in range(n):
            if j != i:
                np.testing.assert_allclose(without_two[j], exact_distribution(np.delete(p, [i, j])), atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.random(500),
        lambda rng: rng.beta(0.1, 0.1, 500),
        lambda rng: rng.choice([0, 1, 0.5, 1e-9, 1 - 1e-9], 500),
        lambda _: np.full(500, 0.5),
        lambda _: np.full(500, 1e-6),
        lambda _: np.r_[np.full(250, 0.5), np.full(250, 1 - 1e-12)],
        lambda _: np.r_[np.full(499, 1 - 1e-15), 0.5 + 1e-9],
    ],
)
def test_five_hundred_agents_stay_accurate(make):
    """Within 1e-12, against adding up the remaining agents (non-negative terms only)."""
    rng = np.random.default_rng(5)
    p = make(rng)
    values = rng.normal(size=len(p) - 1)
    without_one = leave_one_out(p)
    means = leave_two_out_means(p, values, without_one)
    for i in rng.integers(0, 500, 4):
        np.testing.assert_allclose(without_one[i], size_distribution(np.delete(p, i)), atol=1e-12)
        without_two = leave_two_out(p, without_one[i])
        for j in rng.integers(0, 500, 8):
            if i != j:
                direct = size_distribution(np.delete(p, [i, j]))
                np.testing.assert_allclose(without_two[j], direct, atol=1e-12)
                assert means[i, j] == pytest.approx(direct @ values, abs=1e-12)
                assert means[j, i] == pytest.approx(means[i, j], abs=1e-12)


def test_batches_are_handled_together():
    p = np.random.default_rng(0).random((3, 4))
    for row, together in zip(p, leave_one_out(p), strict=True):
        np.testing.assert_array_equal(leave_one_out(row), together)
