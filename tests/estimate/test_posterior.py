"""The posterior of pairs' means: against one dense normal distribution of all cells, and where skills multiply."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.posterior import PossibleMeans, means_left_possible, possible_means
from coterie.estimate.unknowns import SizeFree

LEAST = 1e-4
"""What each variance is at least, where half the range is 1."""


def both_orders(values):
    """Copy every pair's value from (i, j), i < j, to (j, i)."""
    upper = np.triu(np.ones(values.shape[1:3], dtype=bool), 1)
    return np.where(upper[..., None] if values.ndim == 4 else upper, values, np.swapaxes(values, 1, 2))


def observed(seed, t, n, sizes, *, symmetric):
    """Return random means and variances of their errors; some pairs were never seen, and nobody met herself."""
    rng = np.random.default_rng(seed)
    shape = (t, n, n, sizes) if sizes else (t, n, n)
    mean, error = rng.normal(size=shape), rng.uniform(0.05, 1, shape)
    error[rng.random(shape) < 0.3] = np.inf
    error[:, np.arange(n), np.arange(n)] = np.inf
    mean = np.where(np.isfinite(error), mean, 0.0)
    return (both_orders(mean), both_orders(error)) if symmetric else (mean, error)


def cells_of(model):
    """Return the places of all unknowns."""
    return [c for c in np.ndindex(*model.mean.shape) if (c[1] < c[2] if model.symmetric else c[1] != c[2])]


def prior(model):
    """Return the covariance of all unknowns before anything is seen, straight from the definition."""
    cells = cells_of(model)
    found = np.zeros((len(cells), len(cells)))
    for x, (l, i, j) in enumerate(cell[:3] for cell in cells):
        for y, (other, u, v) in enumerate(cell[:3] for cell in cells):
            if l == other:
                shared = (i == u) + (j == v) + ((i == v) + (j == u) if model.symmetric else 0)
                products = model.product[l, i, j] * model.product[l, u, v]
                found[x, y] = model.levels + model.effects * (shared + products) + model.rest * (x == y)
    return found


def values_at(values, model):
    return np.array([values[cell] for cell in cells_of(model)])


def posterior(model):
    """Return mean and covariance of all unknowns by conditioning one normal distribution."""
    covariance, mean, error = prior(model), values_at(model.mean, model), values_at(model.error, model)
    seen = np.isfinite(error)
    gain = covariance[:, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)] + np.diag(error[seen]))
    return model.centre + gain @ (mean[seen] - model.centre), covariance - gain @ covariance[seen]


def log_likelihood(model):
    mean, error = values_at(model.mean, model), values_at(model.error, model)
    seen = np.isfinite(error)
    covariance = prior(model)[np.ix_(seen, seen)] + np.diag(error[seen])
    off = mean[seen] - model.centre
    return -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))


class Unit:
    """Stands in for a generator whose normal numbers are all 0, but for one."""

    def __init__(self, place):
        self.place, self.given = place, 0

    def normal(self, size):
        drawn = np.zeros(int(np.prod(size)))
        if 0 <= self.place - self.given < len(drawn):
            drawn[self.place - self.given] = 1.0
        self.given += len(drawn)
        return drawn.reshape(size)


KINDS = {"symmetric": st.booleans(), "sizes": st.sampled_from([0, 3]), "seed": st.integers(0, 10**6)}


@settings(max_examples=12, deadline=None)
@given(t=st.integers(1, 2), n=st.integers(2, 4), **KINDS)
def test_draws_have_the_exact_posterior(t, n, symmetric, sizes, seed):
    """A draw is linear in its normal numbers, so one draw for each of them gives its covariance exactly."""
    rng = np.random.default_rng(seed)
    product = rng.normal(size=(t, n, n))
    product = both_orders(product) if symmetric else product
    data = observed(seed, t, n, sizes, symmetric=symmetric)
    model = PossibleMeans(*data, symmetric, 0.3, *rng.uniform(0.05, 1, 3), product)
    mean, covariance = posterior(model)
    np.testing.assert_allclose(values_at(model.middle, model), mean, atol=1e-10)
    still = Unit(-1)
    np.testing.assert_allclose(model.draw(still), model.middle, atol=1e-10)
    moves = np.array([values_at(model.draw(Unit(place)), model) - mean for place in range(still.given)])
    np.testing.assert_allclose(moves.T @ moves, covariance, atol=1e-10)
    if symmetric:
        drawn = model.draw(rng)
        off_diagonal = ~np.eye(n, dtype=bool)
        np.testing.assert_allclose(drawn[:, off_diagonal], np.swapaxes(drawn, 1, 2)[:, off_diagonal])


@settings(max_examples=8, deadline=None)
@given(**KINDS)
def test_variances_are_the_most_likely(symmetric, sizes, seed):
    model = possible_means(*observed(seed, 2, 5, sizes, symmetric=symmetric), 1.0, symmetric=symmetric)
    best = log_likelihood(model)
    for name in ("levels", "effects", "rest"):
        now = getattr(model, name)
        for factor in (0.5, 2.0):
            if now * factor >= LEAST:
                assert log_likelihood(replace(model, **{name: now * factor})) <= best + 0.01


@given(**KINDS)
@settings(max_examples=8, deadline=None)
def test_names_of_agents_and_coalitions_do_not_matter(symmetric, sizes, seed):
    mean, error = observed(seed, 2, 4, sizes, symmetric=symmetric)
    order = np.random.default_rng(seed).permutation(4)

    def renamed(values):
        return values[::-1][:, order][:, :, order]

    found = possible_means(renamed(mean), renamed(error), 1.0, symmetric=symmetric).middle
    np.testing.assert_allclose(found, renamed(possible_means(mean, error, 1.0, symmetric=symmetric).middle), atol=1e-8)


def test_skills_that_multiply():
    """Pairs of a weak and a strong one, never seen, are expected where a product has them; a sum is too hopeful."""
    rng = np.random.default_rng(0)
    n, strong = 20, 8
    skill = np.where(np.arange(n) < strong, 0.9, 0.3) + rng.uniform(-0.1, 0.1, (3, n))
    true = skill[:, :, None] * skill[:, None, :]
    mean = both_orders(true + 0.05 * rng.normal(size=true.shape))
    hidden = both_orders(rng.random(true.shape)) < 0.3
    error = np.where(hidden | np.eye(n, dtype=bool), np.inf, 0.05**2)
    full = possible_means(mean, error, 1.0, symmetric=True)
    additive = replace(full, product=np.zeros_like(full.product)).settled(LEAST)
    mixed = hidden & ((np.arange(n) < strong)[:, None] & (np.arange(n) >= strong))
    by_sum, by_product = ((model.middle - true)[mixed].mean() for model in (additive, full))
    assert by_sum > 0.03
    assert abs(by_product) < 0.01


def test_variances_are_found_again():
    """Of games drawn as the model says."""
    rng = np.random.default_rng(1)
    t, n, error = 12, 20, 0.02
    a, b = rng.normal(0, 0.3, (2, t, n))
    mean = rng.normal(0.2, 0.5, (t, 1, 1)) + a[:, :, None] + b[:, None, :] + rng.normal(0, 0.2, (t, n, n))
    errors = np.where(np.eye(n, dtype=bool), np.inf, np.full((t, n, n), error))
    model = possible_means(mean + rng.normal(0, error**0.5, mean.shape), errors, 1.0, symmetric=False)
    assert model.rest == pytest.approx(0.2**2, rel=0.1)
    assert model.effects == pytest.approx(0.3**2, rel=0.2)
    assert model.levels == pytest.approx(0.5**2, rel=0.6)


def test_little_or_nothing_observed():
    mean, error = np.zeros((2, 3, 3)), np.full((2, 3, 3), np.inf)
    nothing = possible_means(mean, error, 1.0, symmetric=True)
    spread = np.std([nothing.draw(np.random.default_rng(seed)) for seed in range(200)], axis=0)[0, 0, 1]
    assert spread == pytest.approx(np.sqrt((1 + 1 + 1 + 1) / 9), rel=0.2)  # m, two effects and a rest: over the range
    error[0, 0, 1] = error[0, 1, 0] = 0.1
    mean[0, 0, 1] = mean[0, 1, 0] = 0.7
    once = possible_means(mean, error, 1.0, symmetric=True)
    np.testing.assert_allclose(once.middle[1], 0.7)  # what a coalition never seen is expected to be like
    known = possible_means(
        np.full((1, 3, 3), 0.4), np.where(np.eye(3, dtype=bool), np.inf, 0.0)[None], 1.0, symmetric=False
    )
    np.testing.assert_allclose(known.middle, 0.4)


def sums(rng, truth, count, draw):
    """Return counts, sums and sums of squares of `count` values of each pair, both orders."""
    values = np.stack([draw(truth) for _ in range(int(count.max()))])
    there = np.arange(len(values))[:, None, None, None] < count
    found = [count, (values * there).sum(axis=0), (values**2 * there).sum(axis=0)]
    return [np.triu(a, 1) + np.swapaxes(np.triu(a, 1), 1, 2) for a in found]


@pytest.mark.slow
@pytest.mark.parametrize("often", ["twice on average", "at most once", "once, and one pair twice"])
@pytest.mark.parametrize("kind", ["little noise", "noise", "yes or no"])
def test_means_are_as_far_off_as_the_posterior_says(often, kind):
    """Pairs that differ more than their noise does, some never seen: errors against the stated spread."""
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(-0.9, 0.9, (3, 10, 10))
        truth = np.triu(truth, 1) + np.swapaxes(np.triu(truth, 1), 1, 2)
        count = np.triu(rng.poisson(2.0, truth.shape), 1).astype(float)
        if often != "twice on average":
            count = np.minimum(count, 1)
        if often == "once, and one pair twice":
            count[0, 0, 1] = 2

        def draw(truth, rng=rng):
            if kind == "yes or no":
                return np.where(rng.random(truth.shape) < (1 + truth) / 2, 1.0, -1.0)
            return truth + (0.02 if kind == "little noise" else 0.3) * rng.normal(size=truth.shape)

        moments = PairEstimate.from_sums(SizeFree(), *sums(rng, truth, count, draw), Bounds(-1.0, 1.0)).moments
        posterior = means_left_possible(moments, 1.0, symmetric=True)
        spread = np.std([posterior.draw(rng) for _ in range(40)], axis=0)
        cells = [(moments.count == 0) & ~np.eye(10, dtype=bool), moments.count > 0]
        errors.append([[((posterior.middle - truth)[c] ** 2).mean(), (spread[c] ** 2).mean()] for c in cells])
    (unseen, said), (seen, said_of_seen) = np.sqrt(np.mean(errors, axis=0))
    # Without repeats nobody can tell noise from what pairs are like: then half of it is taken to be noise.
    within = 1.2 if often == "twice on average" else 1.7
    assert 1 / within < unseen / said < within
    if kind != "little noise":
        assert 1 / within < seen / said_of_seen < within
    assert said_of_seen < said
