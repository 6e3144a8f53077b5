"""Utility models: what is drawn has the means that the model states."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest, norm, uniform

from coterie.errors import InputError
from coterie.simulate.logs import Simulation
from coterie.simulate.models import MODELS, NOISES, Gaussian, Normal, TimesSize, clipped_normal_mean, utility_model


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("model", MODELS)
def test_empirical_means_are_the_stated_ones(model, symmetric, noise):
    n, k = 4, 5
    simulation = Simulation.draw(n, k, np.random.default_rng(7), model=model, symmetric=symmetric, noise=noise)
    cells = k * n * n
    count, total, square = np.zeros(cells), np.zeros(cells), np.zeros(cells)
    means = simulation.game.utilities
    exact = np.array(
        [means.pair_mean(l, i, j, s) for l in range(k) for i in range(n) for j in range(n) for s in range(n + 1)]
    )
    for batch in simulation.batches(4000):
        size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
        cell = (batch.coalition * n + batch.agent) * n + batch.partner
        error = batch.utility - exact[cell * (n + 1) + size]
        count += np.bincount(cell, minlength=cells)
        total += np.bincount(cell, error, minlength=cells)
        square += np.bincount(cell, error**2, minlength=cells)
    # Every pair has one draw per sample and coalition, so its draws are independent under any noise.
    seen = count > 30
    assert seen.any()
    assert (np.abs(total[seen]) <= 5 * np.sqrt(square[seen])).all()
    assert np.abs(total[seen] / count[seen]).max() < 0.25


@pytest.mark.parametrize("model", MODELS)
def test_bounded_models_stay_in_their_range(model):
    simulation = Simulation.draw(6, 5, np.random.default_rng(1), model=model)
    low, high = simulation.model.utility_range
    utility = np.concatenate([batch.utility for batch in simulation.batches(300)])
    if simulation.model.sigma is None:
        assert low <= utility.min() <= utility.max() <= high
    else:
        assert model == "mixed-effects"
        assert simulation.model.sigma == 1
        assert np.abs(utility).max() > 1
        effects = simulation.model.effects
        assert low <= effects.min() <= effects.max() <= high  # the range bounds the means


def test_uniform_utilities_are_uniform():
    model, rng = utility_model("uniform", 3, 2, np.random.default_rng(0)), np.random.default_rng(1)
    place = np.zeros(2000, dtype=np.int64)
    drawn = model.utilities(model.driving_noise(rng, (2000,)), place, place, place + 1, place + 2)
    assert kstest(drawn, uniform(-1, 2).cdf).pvalue > 0.001
    assert -1 <= drawn.min() <= drawn.max() <= 1


@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 0.7), (-0.9, 0.1), (1.4, 0.5), (0.0, 3.0), (-0.5, 0.5), (5, 1)])
def test_clipped_mean_equals_quadrature(mean, deviation):
    inside = quad(lambda x: x * norm.pdf(x, mean, deviation), -1, 1, epsabs=1e-13)[0]
    expected = inside - norm.cdf(-1, mean, deviation) + norm.sf(1, mean, deviation)
    assert clipped_normal_mean(mean, deviation) == pytest.approx(expected, abs=1e-12)


def test_clipped_mean_of_a_constant_and_by_simulation():
    assert clipped_normal_mean([0.5, 2.0, -3.0], 0.0).tolist() == [0.5, 1.0, -1.0]
    draws = np.clip(np.random.default_rng(0).normal(0.8, 0.2, 400_000), -1, 1)
    assert draws.mean() == pytest.approx(clipped_normal_mean(0.8, 0.2), abs=5 * draws.std() / 400_000**0.5)


def test_gaussian_draws_its_means_once_per_game():
    simulation = Simulation.draw(4, 3, np.random.default_rng(3), model="gaussian")
    before = simulation.model.means.copy()
    list(simulation.batches(50))
    assert np.array_equal(before, simulation.model.means)
    assert np.abs(before).max() > 0.1
    assert not utility_model("gaussian-redrawn", 4, 3, np.random.default_rng(3)).means.any()


def test_gaussian_deviation_is_one_minus_the_absolute_mean():
    model = Gaussian.draw(np.random.default_rng(0), 5, 2)
    assert np.allclose(model.deviation, 1 - np.abs(model.mu))
    noise = np.array([1.0])
    cell = (np.array([1]), np.array([0]), np.array([3]), np.array([2]))
    expected = np.clip(model.mu[1, 0, 3] + 1 - abs(model.mu[1, 0, 3]), -1, 1)
    assert model.utilities(noise, *cell) == pytest.approx(expected)


def test_size_scales_after_clipping():
    base = Normal(np.full((1, 3, 3), 0.9), np.full((1, 3, 3), 1.0))
    model = TimesSize(base)
    value = model.utilities(np.array([100.0]), np.array([0]), np.array([0]), np.array([1]), np.array([2]))
    assert value == pytest.approx(2 / 4)
    assert model.size_scale.tolist() == [[0, 0.25, 0.5, 0.75]]


@pytest.mark.parametrize("kind", ["gaussian", "size-gaussian", "gaussian-redrawn", "size-gaussian-redrawn"])
def test_without_clipping_the_scale_is_declared_and_means_are_unclipped(kind):
    model = utility_model(kind, 4, 2, np.random.default_rng(0), clip=False)
    assert model.sigma == 1
    if "redrawn" not in kind:
        base = model.base if kind.startswith("size") else model
        off = ~np.eye(4, dtype=bool)
        assert np.array_equal(model.means[:, off], base.mu[:, off])


def test_unclipped_normal_declares_its_largest_deviation():
    assert Normal(np.zeros((1, 2, 2)), np.full((1, 2, 2), 0.25), clip=False).sigma == 0.25


def test_mixed_effects_as_printed():
    model = utility_model("mixed-effects", 3, 5, np.random.default_rng(0))
    assert model.default_noise == "coalitions"
    assert model.size_shift[:, 2].tolist() == [-0.5, -1, 0, -1, 0.5]
    # Erratum: everybody on {1,3,5} is not stable; for three agents moving to {4,5} gains 1.5.
    game = Simulation.draw(3, 5, np.random.default_rng(0), model="mixed-effects").game
    everybody = game.strategy(np.tile(game.actions.spaces[0].enumerate()[1], (3, 1)))
    worst = game.worst(everybody)
    assert worst.action == ("c4", "c5")
    assert worst.gain == pytest.approx(1.5)


def test_clip_makes_mixed_effects_the_clipped_one():
    by_option = utility_model("mixed-effects", 4, 5, np.random.default_rng(0), clip=True)
    by_name = utility_model("mixed-effects-clipped", 4, 5, np.random.default_rng(0))
    assert np.array_equal(by_option.size_shift, by_name.size_shift)
    assert by_name.sigma is None


@pytest.mark.parametrize(
    ("name", "agents", "coalitions", "clip", "message"),
    [
        ("nonsense", 3, 5, None, "unknown model 'nonsense'"),
        ("mixed-effects", 3, 4, None, "has 5 coalitions, not 4"),
        ("mixed-effects-clipped", 3, 5, False, "is clipped"),
        ("uniform", 3, 5, False, "bounded by itself"),
        ("uniform", 1, 5, None, "n_agents: expected at least 2"),
        ("uniform", 3, 0, None, "n_coalitions: expected at least 1"),
    ],
)
def test_refusals(name, agents, coalitions, clip, message):
    with pytest.raises(InputError, match=message):
        utility_model(name, agents, coalitions, np.random.default_rng(0), clip=clip)


def test_shared_noise_is_shared():
    draws = {
        noise: next(Simulation.draw(5, 3, np.random.default_rng(2), model="uniform", noise=noise).batches(40))
        for noise in NOISES
    }

    def distinct(batch, *keys):
        groups = np.unique(np.stack([*keys, batch.utility]), axis=1).shape[1]
        return groups, np.unique(np.stack(keys), axis=1).shape[1]

    batch = draws["samples"]
    assert len(set(distinct(batch, batch.sample))) == 1
    batch = draws["coalitions"]
    assert len(set(distinct(batch, batch.sample, batch.coalition))) == 1
    assert distinct(batch, batch.sample)[0] > distinct(batch, batch.sample)[1]
    batch = draws["pairs"]
    assert len(np.unique(batch.utility)) == len(batch.utility)


def test_one_mean_per_pair_is_the_same_in_all_coalitions():
    pairs = utility_model("gaussian-pairs", 4, 3, np.random.default_rng(1))
    assert (pairs.means == pairs.means[0]).all()
    off = ~np.eye(4, dtype=bool)
    assert len(np.unique(pairs.means[0][off])) == 6
    each = utility_model("gaussian", 4, 3, np.random.default_rng(1))
    assert not (each.means == each.means[0]).all()
    sized = utility_model("size-gaussian-pairs", 4, 3, np.random.default_rng(1))
    assert isinstance(sized, TimesSize)
    assert np.array_equal(sized.means, pairs.means)
    asymmetric = utility_model("gaussian-pairs", 4, 3, np.random.default_rng(1), symmetric=False)
    assert len(np.unique(asymmetric.means[0][off])) == 12
