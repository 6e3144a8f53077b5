"""The posterior of pairs' means: against one dense normal distribution of all cells, and where skills multiply."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.estimate import posterior as module
from coterie.estimate import variance_draws
from coterie.estimate.effects import Cells
from coterie.estimate.intervals import Bounds, Moments
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.posterior import (
    PossibleMeans,
    means_left_possible,
    noise_by_size,
    possible_means,
    slope_over,
    variance_of_values,
    within_pairs,
)
from coterie.estimate.unknowns import SizeFree

LEAST = 1e-6
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
    slope = slope_over(model.error) if model.mean.ndim == 4 else [0.0]
    return np.array([[covariance_of(model, one, other, slope) for other in cells] for one in cells])


def covariance_of(model, one, other, slope):
    """Return the covariance of two unknowns: the sum over all parts that they share."""
    (l, i, j, *size), (m, u, v, *other_size) = one, other
    s, r = (size or [0])[0], (other_size or [0])[0]
    shared = {"pair": (i, j) == (u, v), "level": 1.0}
    if model.mean.ndim == 4:
        shared |= {"size": s == r, "slope": slope[s] * slope[r]}
    if model.symmetric:
        shared["rater"] = (i == u) + (j == v) + (i == v) + (j == u)
    else:
        shared |= {"rater": i == u, "rated": j == v, "mutual": {i, j} == {u, v}}
    if model.product is not None:
        shared["product"] = model.product[l, i, j] * model.product[m, u, v]
    found = model.variances.get("centre", 0.0) + model.variances["rest"] * (one == other)
    for name, factor in shared.items():
        here, everywhere = model.variances.get(name, 0.0), model.variances.get(f"{name}, common", 0.0)
        found += factor * (here * (l == m) + everywhere)
    return found


def noise_of(model):
    """Return the covariance of the noise that all pairs share at a coalition and size."""
    cells = cells_of(model)
    if model.noise is None:
        return np.zeros((len(cells), len(cells)))
    rooms = np.array([cell[0] * model.mean.shape[3] + cell[3] for cell in cells])
    return (rooms[:, None] == rooms) * model.variances["shared"] * model.noise.ravel()[rooms]


def values_at(values, model):
    return np.array([values[cell] for cell in cells_of(model)])


def posterior(model):
    """Return mean and covariance of all unknowns by conditioning one normal distribution."""
    covariance, mean, error = prior(model), values_at(model.mean, model), values_at(model.error, model)
    seen = np.isfinite(error)
    observed = (covariance + noise_of(model))[np.ix_(seen, seen)] + np.diag(error[seen])
    gain = covariance[:, seen] @ np.linalg.inv(observed)
    return model.centre + gain @ (mean[seen] - model.centre), covariance - gain @ covariance[seen]


def log_density(model):
    mean, error = values_at(model.mean, model), values_at(model.error, model)
    seen = np.isfinite(error)
    covariance = (prior(model) + noise_of(model))[np.ix_(seen, seen)] + np.diag(error[seen])
    off = mean[seen] - model.centre
    by_data = -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))
    return by_data - model.thrift * sum(model.variances[name] for name in model.parts if name not in {"rest", "shared"})


def with_variances(model, rng):
    """Return the same with random variances of all its parts."""
    variances = {name: rng.uniform(0.05, 1) for name in model.parts}
    return replace(model, variances={**variances, "centre": 0.4 if model.joined else 0.0})


def random_model(t, n, sizes, seed, *, symmetric, joined, multiplies):
    rng = np.random.default_rng(seed)
    product = rng.normal(size=(t, n, n))
    product = both_orders(product) if symmetric else product
    data = observed(seed, t, n, sizes, symmetric=symmetric)
    noise = rng.uniform(0.1, 1, (t, sizes)) if sizes and seed % 2 else None
    if noise is not None:
        noise[0, 0] = 0.0
        data[1][0, ..., 0] = np.inf  # no sample had this size
    empty = PossibleMeans(*data, symmetric, 0.3, {}, product if multiplies else None, joined, 0.7, noise)
    return with_variances(empty, rng)


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
MODELS = {"t": st.integers(1, 2), "joined": st.booleans(), "multiplies": st.booleans(), **KINDS}


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 4), **MODELS)
def test_draws_have_the_exact_posterior(t, n, symmetric, sizes, joined, multiplies, seed):
    """A draw is linear in its normal numbers, so one draw for each of them gives its covariance exactly."""
    model = random_model(t, n, sizes, seed, symmetric=symmetric, joined=joined, multiplies=multiplies)
    mean, covariance = posterior(model)
    np.testing.assert_allclose(values_at(model.middle, model), mean, atol=1e-10)
    still = Unit(-1)
    np.testing.assert_allclose(model.draw(still), model.middle, atol=1e-10)
    moves = np.array([values_at(model.draw(Unit(place)), model) - mean for place in range(still.given)])
    np.testing.assert_allclose(moves.T @ moves, covariance, atol=1e-10)
    rng = np.random.default_rng(seed)
    if symmetric:
        drawn = model.draw(rng)
        off_diagonal = ~np.eye(n, dtype=bool)
        np.testing.assert_allclose(drawn[:, off_diagonal], np.swapaxes(drawn, 1, 2)[:, off_diagonal])
    forms = rng.normal(size=(3, *model.mean.shape))
    by_cell = np.array([values_at(f + np.swapaxes(f, 1, 2) if symmetric else f, model) for f in forms])
    np.testing.assert_allclose(model.covariance(forms), by_cell @ covariance @ by_cell.T, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 4), **MODELS)
def test_no_step_makes_variances_less_likely(t, n, symmetric, sizes, joined, multiplies, seed):
    model = random_model(t, n, sizes, seed, symmetric=symmetric, joined=joined, multiplies=multiplies)
    assert model.log_density == pytest.approx(log_density(model), abs=1e-9)
    for _ in range(4):
        before, (model, gain) = model, model.step(LEAST)
        assert gain > -1e-9
        for after in (model, before.multiplied(LEAST)):
            assert after.log_density >= before.log_density - 1e-9


@settings(max_examples=8, deadline=None)
@given(**KINDS)
def test_variances_are_the_most_likely(symmetric, sizes, seed):
    model = possible_means(*observed(seed, 2, 5, sizes, symmetric=symmetric), 1.0, symmetric=symmetric)
    best = log_density(model)
    for name in model.parts:
        for factor in (0.5, 2.0):
            now = model.variances[name] * factor
            if now >= LEAST:
                assert log_density(replace(model, variances={**model.variances, name: now})) <= best + 0.02


@given(**KINDS)
@settings(max_examples=8, deadline=None)
def test_names_of_agents_and_coalitions_do_not_matter(symmetric, sizes, seed):
    mean, error = observed(seed, 2, 4, sizes, symmetric=symmetric)
    order = np.random.default_rng(seed).permutation(4)

    def renamed(values):
        return values[::-1][:, order][:, :, order]

    found = possible_means(renamed(mean), renamed(error), 1.0, symmetric=symmetric).middle
    np.testing.assert_allclose(found, renamed(possible_means(mean, error, 1.0, symmetric=symmetric).middle), atol=1e-8)


@pytest.mark.parametrize("symmetric", [True, False])
def test_draws_do_not_hang_on_the_eigenvectors_that_a_library_finds(symmetric, monkeypatch):
    """Their signs, and all of them where values are equal, differ from one processor to another."""
    data, usual = observed(1, 3, 5, 0, symmetric=symmetric), np.linalg.eigh

    def drawn():
        model = possible_means(*data, 1.0, symmetric=symmetric)
        return np.array([one.draw(np.random.default_rng(0)) for one in model.others(LEAST)])

    def turned(matrix):
        values, vectors = usual(matrix)
        ends = np.flatnonzero(np.diff(values, append=np.inf) > 1e-9 * abs(values[-1])) + 1
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            vectors[:, begin:end] = vectors[:, begin:end] @ -ortho_group(end - begin)
        return values, vectors

    def ortho_group(size):
        return np.linalg.qr(np.random.default_rng(size).normal(size=(size, size)))[0] if size > 1 else np.ones((1, 1))

    found = drawn()
    monkeypatch.setattr(np.linalg, "eigh", turned)
    np.testing.assert_allclose(drawn(), found, atol=1e-7)


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
    assert full.product is not None
    additive = replace(full, product=None).settled(LEAST)
    mixed = hidden & ((np.arange(n) < strong)[:, None] & (np.arange(n) >= strong))
    by_sum, by_product = ((model.middle - true)[mixed].mean() for model in (additive, full))
    assert by_sum > 0.02
    assert abs(by_product) < 0.01


def drawn_as_the_model_says(rng, t, n, deviations):
    """Return means that are sums of effects with these standard deviations, both orders of a pair apart."""
    found = rng.normal(0.2, deviations["level"], (t, 1, 1)) + rng.normal(0, deviations["rest"], (t, n, n))
    for name, axes in (("rater", (n, 1)), ("rated", (1, n)), ("pair", (n, n))):
        found += rng.normal(0, deviations.get(f"{name}, common", 0.0), axes)
        found += rng.normal(0, deviations.get(name, 0.0), (t, *axes))
    for shape, name in (((1, n, n), "mutual, common"), ((t, n, n), "mutual")):
        found += both_orders(rng.normal(0, deviations.get(name, 0.0), shape))
    return found


EFFECTS = {"level": 0.5, "rater": 0.2, "rater, common": 0.4, "rated": 0.3, "rated, common": 0.3, "pair, common": 0.3,
           "mutual": 0.15, "mutual, common": 0.25, "rest": 0.2}  # fmt: skip


def test_variances_are_found_again():
    """Of games drawn as the model says: those that agents and pairs have in common, and in each coalition."""
    rng = np.random.default_rng(1)
    t, n, error = 12, 20, 0.02
    mean = drawn_as_the_model_says(rng, t, n, EFFECTS)
    errors = np.where(np.eye(n, dtype=bool), np.inf, np.full((t, n, n), error))
    model = possible_means(mean + rng.normal(0, error**0.5, mean.shape), errors, 1.0, symmetric=False)
    assert model.product is None
    for name, deviation in EFFECTS.items():
        few = name in {"level", "rater, common", "rated, common"}
        assert model.variances[name] ** 0.5 == pytest.approx(deviation, rel=0.45 if few else 0.1)


def test_effects_in_common_tell_about_coalitions_never_seen():
    """Whoever is strict in five areas is expected to be strict in the sixth, and each pair to be as elsewhere."""
    rng = np.random.default_rng(2)
    t, n, error = 6, 15, 0.05
    mean = drawn_as_the_model_says(rng, t, n, {"level": 0.1, "rater, common": 0.4, "pair, common": 0.3, "rest": 0.05})
    errors = np.where(np.eye(n, dtype=bool), np.inf, np.full((t, n, n), error))
    errors[-1] = np.inf
    noisy = mean + rng.normal(0, error**0.5, mean.shape)
    off = ~np.eye(n, dtype=bool)
    shared = possible_means(noisy, errors, 2.0, symmetric=False)
    assert np.corrcoef(shared.middle[-1][off], mean[-1][off])[0, 1] > 0.9
    apart = replace(shared, joined=False)
    apart = replace(apart, variances=dict.fromkeys(apart.parts, 0.1) | {"centre": 0.0}).settled(LEAST)
    np.testing.assert_allclose(apart.middle[-1][off], apart.centre)


def test_levels_by_size():
    """Sizes that were seen rarely or never borrow from the others: a slope goes on where all coalitions have one."""
    rng = np.random.default_rng(3)
    t, n = 4, 6
    slopes = np.array([-0.1, 0.0, 0.1, 0.2])[:, None, None, None] * np.arange(n + 1)
    mean = np.broadcast_to(slopes, (t, n, n, n + 1)) - 0.2
    error = np.full(mean.shape, np.inf)
    error[..., 3:6] = 0.005
    noisy = both_orders(mean + rng.normal(0, 0.005**0.5, mean.shape))
    model = possible_means(noisy, both_orders(error), 1.0, symmetric=True)
    off = ~np.eye(n, dtype=bool)
    assert np.abs((model.middle - mean)[:, off][..., 2:]).max() < 0.12
    steps = np.array([0.0, 0.0, 0.0, 0.5, -0.4, 0.3, 0.0])  # no slope: what is left of each size, common to all
    model = possible_means(both_orders(noisy - mean + steps), both_orders(error), 1.0, symmetric=True)
    np.testing.assert_allclose(model.middle[:, 0, 1, 3:6], np.tile(steps[3:6], (t, 1)), atol=0.1)


def test_noise_that_pairs_share_is_no_effect_of_size():
    """A size that few samples had is as good or bad as these happened to be; with many, it is what the size does."""
    rng = np.random.default_rng(6)
    t, n = 5, 8
    off = ~np.eye(n, dtype=bool)
    count = np.broadcast_to(rng.integers(1, 12, (t, 1, 1, n + 1)), (t, n, n, n + 1)) * off[:, :, None] * 1.0
    count[..., :2] = 0.0
    noise = noise_by_size(count, np.ones_like(count))
    np.testing.assert_allclose(noise[:, n], 1 / count[:, 0, 1, n])  # all pairs meet in each sample
    np.testing.assert_allclose(noise[:, 2], 1 / (n * (n - 1) / 2 * count[:, 0, 1, 2]))  # one in each
    mean = np.zeros_like(count)
    mean[..., 2:] = 0.2 + (rng.normal(size=noise.shape) * np.sqrt(noise))[:, None, None, 2:]
    error = np.where(count > 0, 1.0 / np.maximum(count, 1), np.inf)
    found = possible_means(mean, error, 1.0, symmetric=True, noise=noise)
    blind = possible_means(mean, error, 1.0, symmetric=True)
    far, further = (np.abs(model.middle[:, off][..., 2:] - 0.2).mean() for model in (found, blind))
    assert far < further / 2
    often = possible_means(mean, error / 1e4, 1.0, symmetric=True, noise=noise / 1e4)
    np.testing.assert_allclose(often.middle[:, off][..., 2:], mean[:, off][..., 2:], atol=0.1)


def test_many_agents_and_coalitions():
    """Where effects in common would take too long, every coalition is a matter of its own."""
    rng = np.random.default_rng(4)
    t, n = 20, 32
    mean = rng.normal(size=(t, n, 1)) * 0.4 + rng.normal(size=(t, n, n)) * 0.1
    error = np.where((rng.random(mean.shape) < 0.7) | np.eye(n, dtype=bool), np.inf, 0.05)
    noisy = np.where(np.isfinite(error), mean + rng.normal(0, 0.05**0.5, mean.shape), 0.0)
    model = possible_means(noisy, error, 1.0, symmetric=False)
    assert not model.joined
    off = ~np.eye(n, dtype=bool)
    assert ((model.middle - mean)[:, off] ** 2).mean() < 0.02


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


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("t", [1, 3])
def test_a_walk_goes_through_the_likelihood_of_the_effects(t, symmetric, monkeypatch):
    """One matrix of all observed means has the density that effects have, one family after the other."""
    monkeypatch.setattr(variance_draws, "PRIOR", 0.0)
    model = random_model(t, 6, 0, 3, symmetric=symmetric, joined=True, multiplies=False)
    names = [name for name in model.parts if name != "level" or t > 1]
    model = replace(model, variances={**model.variances, "level": model.variances["level"] if t > 1 else 0.0})
    told, found = model._ratios(names, LEAST), []
    for scale in (1.0, 0.3, 2.5):
        variances = {name: scale**place * model.variances[name] for place, name in enumerate(names)}
        height, square = told.log_density(np.log(list(variances.values())))
        by_walk = height + told.count / 2 * np.log(square) - (square - told.left) / 2
        by_effects = sum(
            block.log_likelihood for block in replace(model, variances={**model.variances, **variances})._conditioned
        )
        found.append(by_walk - by_effects)
    np.testing.assert_allclose(found, found[0], atol=1e-6)


def test_repeated_values_tell_the_walk_what_noise_is():
    """Pairs that were seen again and again with other values leave no doubt that values are noisy."""
    mean, error = observed(5, 1, 8, 0, symmetric=True)
    once = possible_means(mean, error, 1.0, symmetric=True)
    calm, loud = (replace(once, within=(squares, 500.0)) for squares in (5.0, 2000.0))
    seen = np.isfinite(error)
    factor = [np.mean([(one.error[seen] / error[seen]).mean() for one in two.walked(LEAST)]) for two in (calm, loud)]
    assert factor[0] < 0.5
    assert factor[1] > 2


def test_walks_are_for_short_logs_and_end_when_it_is_enough():
    data = observed(5, 1, 8, 0, symmetric=True)
    model = possible_means(*data, 1.0, symmetric=True)
    assert len(model.walked(LEAST)) == variance_draws.KEPT
    assert model.walked(LEAST, lambda: True) == ()
    assert possible_means(*observed(5, 2, 30, 0, symmetric=False), 1.0, symmetric=False).walked(LEAST) == ()
    assert replace(model, error=np.full_like(data[1], np.inf)).walked(LEAST) == ()  # nothing was seen


def test_values_without_noise_can_be_walked_through(monkeypatch):
    monkeypatch.setattr(module, "CLEAR", 0.0)
    mean, _ = observed(5, 1, 8, 0, symmetric=True)
    exact = np.where(np.eye(8, dtype=bool), np.inf, np.zeros_like(mean))
    model = possible_means(np.where(np.eye(8, dtype=bool), 0.0, mean), exact, 1.0, symmetric=True)
    walked = model.walked(LEAST)
    assert walked
    assert all(np.isfinite(one.middle).all() for one in walked)


def test_where_means_are_clear_a_walk_changes_next_to_nothing_and_is_left_out(monkeypatch):
    mean = np.random.default_rng(5).normal(size=(1, 8, 8))
    mean += np.swapaxes(mean, 1, 2)
    off = ~np.eye(8, dtype=bool)
    error = np.where(off, 0.04 * mean[0][off].var(), np.inf)[None]
    once = possible_means(np.where(off, mean, 0.0), error, 5.0, symmetric=True)
    clear = replace(once, within=(300.0, 300.0))  # ratings that were repeated tell what noise is
    assert clear.walked(LEAST) == ()
    unseen = error.copy()
    unseen[0, 0, 1] = unseen[0, 1, 0] = np.inf
    assert replace(clear, error=unseen).walked(LEAST)
    monkeypatch.setattr(module, "CLEAR", 0.0)
    walked = np.mean([one.middle for one in clear.walked(LEAST)], axis=0)
    assert np.abs(walked - clear.middle)[0][off].max() < 0.5 * np.sqrt(error[0][off].max())


def test_noise_is_not_taken_for_smaller_since_pairs_differ_in_it():
    """Of skewed values, squares beside variances that were drawn to them one by one were a quarter too small."""
    rng, count = np.random.default_rng(0), np.full((1, 20, 20), 2.0)
    values = rng.exponential(size=(2, *count.shape)) - 1
    moments = Moments(count, values.mean(axis=0), values.var(axis=0, ddof=1), count.size)
    squares, free = within_pairs(moments, variance_of_values(moments, 10.0), symmetric=False)
    assert free == count.size
    assert squares == pytest.approx(free, rel=0.1)


@pytest.mark.parametrize("multiplies", [False, True])
def test_a_walk_knows_only_of_pairs_that_were_seen(multiplies, monkeypatch):
    """Most of many people never met: a matrix of all that they could have had would not fit into memory."""
    model = random_model(2, 6, 0, 3, symmetric=True, joined=True, multiplies=multiplies)
    seen = np.isfinite(model.error)
    seen[:, :, 3:] = seen[:, 3:] = False
    model = replace(model, error=np.where(seen, model.error, np.inf))
    asked = []
    prior_of = Cells.prior_of
    monkeypatch.setattr(Cells, "prior_of", lambda cells, part: asked.append(cells) or prior_of(cells, part))
    told = model._ratios(model.parts, LEAST)
    (every,) = model._blocks
    at = np.isfinite(every.error).ravel()
    assert {len(cells.mean) for cells in asked} == {np.count_nonzero(np.isfinite(every.error).any(axis=(1, 2, 3)))}
    for name, kernel in zip(model.parts, told.kernels, strict=True):
        scale = 1 / np.sqrt(every.error.ravel()[at])
        np.testing.assert_allclose(kernel, scale[:, None] * prior_of(every, name)[np.ix_(at, at)] * scale)


def test_a_walk_that_takes_too_long_for_many_people_is_left_out(monkeypatch):
    model = possible_means(*observed(5, 1, 8, 0, symmetric=True), 1.0, symmetric=True)
    monkeypatch.setattr(module, "WORK", variance_draws.KEPT * model._cost - 1)
    assert model.walked(LEAST) == ()
