"""Widths against their published figures, against each other, and against simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.certificates.paper import paper_bonus
from coterie.certificates.widths import bernstein_shape, hoeffding_shape
from coterie.errors import InputError
from coterie.estimate import confidence
from coterie.estimate.intervals import Bounds, Moments, intervals

DELTA, EVENTS, COUNT = 0.01, 225, 7500


def half_widths(mean, variance):
    count = np.array([float(COUNT)])
    low, high = confidence.kl_interval(np.array([mean]), count, -1.0, 1.0, EVENTS, DELTA)
    return (
        confidence.hoeffding(count, 1.0, EVENTS, DELTA)[0],
        (high - low)[0] / 2,
        confidence.empirical_bernstein(count, np.array([variance]), 1.0, EVENTS, DELTA)[0],
    )


@pytest.mark.parametrize(
    ("mean", "variance", "expected"),
    [
        (0.0, 1 / 3, (0.053, 0.053, 0.039)),  # uniform on [-1, 1]
        (0.8, 1 - 0.8**2, (0.053, 0.032, 0.040)),  # +-1 with mean 0.8
        (0.5, 0.1**2, (0.053, 0.046, 0.013)),  # 0.5 +- 0.1
    ],
)
def test_widths_have_the_published_sizes(mean, variance, expected):
    np.testing.assert_allclose(half_widths(mean, variance), expected, atol=6e-4)


@settings(max_examples=200, deadline=None)
@given(st.floats(-1, 1), st.integers(1, 10**6), st.floats(1e-6, 0.5), st.integers(1, 10**6))
def test_kl_is_never_wider_than_hoeffding(mean, count, delta, events):
    array = np.array([float(count)])
    low, high = confidence.kl_interval(np.array([mean]), array, -1.0, 1.0, events, delta)
    width = confidence.hoeffding(array, 1.0, events, delta)
    assert low[0] >= mean - width[0] - 1e-9
    assert high[0] <= mean + width[0] + 1e-9
    assert -1 <= low[0] <= mean + 1e-12
    assert mean - 1e-12 <= high[0] <= 1


def test_the_paper_s_bonus_is_as_printed():
    bonus = paper_bonus(np.array([0.0, 1.0, 4.0]), 5, 3, 0.1)
    np.testing.assert_allclose(bonus, np.sqrt(2 * np.log(4 * 6 * 3 / 0.1) / np.array([1, 1, 4])))


VALUES = {
    "signs": lambda rng, shape: np.where(rng.random(shape) < 0.45, 1.0, -1.0),
    "rare": lambda rng, shape: np.where(rng.random(shape) < 0.03, 1.0, -1.0),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "narrow": lambda rng, shape: 0.3 + 0.05 * rng.uniform(-1, 1, shape),
}
MEANS = {"signs": -0.1, "rare": -0.94, "uniform": 0.0, "narrow": 0.3}


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("count", [2, 20, 200])
@pytest.mark.parametrize("method", ["hoeffding", "kl", "bernstein", "best"])
def test_intervals_cover(name, count, method):
    """20,000 intervals at delta = 0.05: at most 5 % miss, within four standard errors."""
    values = VALUES[name](np.random.default_rng(3), (20_000, count))
    moments = Moments(np.full(20_000, float(count)), values.mean(axis=1), values.var(axis=1, ddof=1), 1)
    lower, upper = intervals(moments, Bounds(-1.0, 1.0), 0.05, method)
    missed = ((MEANS[name] < lower) | (MEANS[name] > upper)).mean()
    assert missed <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("counts", [(2, 3, 5), (30, 10, 2), (400, 300, 200)])
def test_directions_cover(name, counts):
    """One-sided bounds for a fixed combination of means with unequal counts, at exp(-L) = 0.05."""
    rng = np.random.default_rng(4)
    coefficients = np.array([1.0, -1.0, 0.5])
    runs, log_term = 20_000, np.log(1 / 0.05)
    draws = [VALUES[name](rng, (runs, count)) for count in counts]
    means = np.stack([values.mean(axis=1) for values in draws], axis=1)
    variances = np.stack([values.var(axis=1, ddof=1) for values in draws], axis=1)
    number = np.array(counts, dtype=float)
    error = (means - MEANS[name]) @ coefficients
    by_range = hoeffding_shape(log_term).width((coefficients**2 / number).sum())
    largest = np.abs(coefficients / (number - 1)).max()
    by_variance = bernstein_shape(1.0, log_term + np.log(2)).width(variances @ (coefficients**2 / number), largest)
    slack = 4 * np.sqrt(0.05 * 0.95 / runs)
    assert (error > by_range).mean() <= 0.05 + slack
    assert (error > by_variance).mean() <= 0.05 + slack


def test_unseen_unknowns_get_the_range():
    moments = Moments(np.array([0.0, 1.0]), np.zeros(2), np.zeros(2), 1)
    lower, upper = intervals(moments, Bounds(-0.5, 2.0), 0.1)
    assert (lower[0], upper[0]) == (-0.5, 2.0)
    assert (lower >= -0.5).all()
    assert (upper <= 2.0).all()


@pytest.mark.parametrize("method", ["hoeffding", "kl", "bernstein", "best"])
def test_whole_ends_of_a_range_are_numbers_like_others(method):
    """Bounds(0, 1): the ends of intervals were cut off to whole numbers."""
    moments = Moments(np.array([40.0, 0.0]), np.array([0.6, 0.0]), np.array([0.2, 0.0]), 1)
    found, expected = (intervals(moments, bounds, 0.05, method) for bounds in (Bounds(0, 1), Bounds(0.0, 1.0)))
    np.testing.assert_array_equal(found, expected)
    assert 0 < found[0][0] < 0.6 < found[1][0] <= 1
    scale = Bounds(0, 1, 2)
    assert all(type(value) is float for value in (scale.low, scale.high, scale.sigma, scale.rounding))


def test_a_declared_scale_replaces_the_range():
    moments = Moments(np.array([4.0, 0.0]), np.array([3.0, 0.0]), None, 1)
    lower, upper = intervals(moments, Bounds(-np.inf, np.inf, sigma=2.0), 0.1)
    width = confidence.hoeffding(np.array([4.0]), 2.0, 1, 0.1)[0]
    assert (lower[0], upper[0]) == pytest.approx((3 - width, 3 + width))
    assert np.isinf(upper[1])


def test_repeated_values_count_less():
    once = Moments(np.array([9.0]), np.zeros(1), np.zeros(1), 1)
    thrice = Moments(np.array([9.0]), np.zeros(1), np.zeros(1), 1, np.array([27.0]))
    assert thrice.effective[0] == 3.0
    assert intervals(thrice, Bounds(-10, 10), 0.1)[1] > intervals(once, Bounds(-10, 10), 0.1, "hoeffding")[1]


def test_unknown_methods_are_refused():
    with pytest.raises(InputError, match="unknown method 'guess'"):
        intervals(Moments(np.ones(1), np.zeros(1), np.zeros(1), 1), Bounds(-1, 1), 0.1, "guess")
