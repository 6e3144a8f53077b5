"""Variances that a log leaves possible: against the density written down in full, and integrated on a grid."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from coterie.estimate.variance_draws import KEPT, Ratios, drawn_ratios


def never():
    return False


def made(rng, rank=6, more=5):
    """Totals of two kinds of effects, with as many rows again that hold noise alone."""
    shapes = [rng.normal(size=(rank, 3)), np.eye(rank)]
    kernels = [one @ one.T for one in shapes]
    totals = rng.normal(size=rank) * 2
    noise = rng.normal(size=more)
    return Ratios(kernels, np.array([2.0, 1.0]), np.eye(rank), totals, float(noise @ noise), rank + more), noise


def test_the_density_is_that_of_all_totals_with_the_noise_integrated_out():
    told, noise = made(np.random.default_rng(0))
    rho = np.exp(np.linspace(-9, 9, 401))
    found, full = [], []
    for logs in ([0.3, -1.0], [-2.0, 1.5]):
        ratios = np.exp(logs)
        matrix = np.eye(6) + sum(one * kernel for one, kernel in zip(ratios, told.kernels, strict=True))
        value = [
            multivariate_normal(cov=one * matrix).pdf(told.totals) * multivariate_normal(cov=one * np.eye(5)).pdf(noise)
            for one in rho
        ]
        parts, seen = ratios * told.weights, ratios @ [np.trace(kernel) for kernel in told.kernels]
        of_noise = 11 / (11 + seen)
        prior = np.sqrt(np.prod(parts / parts.sum()) * of_noise * (1 - of_noise))  # Jeffreys's, in logarithms
        full.append(np.log(np.trapezoid(value, np.log(rho)) * prior))
        found.append(told.log_density(np.array(logs))[0])
    assert found[0] - found[1] == pytest.approx(full[0] - full[1], abs=1e-5)


@pytest.mark.slow
def test_the_walk_is_where_the_density_is():
    told, _ = made(np.random.default_rng(1))
    grid = np.linspace(-12, 10, 90)
    heights = np.array([[told.log_density(np.array([one, two]))[0] for two in grid] for one in grid])
    weight = np.exp(heights - heights.max())
    middle = [float((weight * side).sum() / weight.sum()) for side in (grid[:, None], grid[None])]
    spread = [
        np.sqrt((weight * (side - m) ** 2).sum() / weight.sum())
        for side, m in zip((grid[:, None], grid[None]), middle, strict=True)
    ]
    walks = [drawn_ratios(told, np.ones(2), np.random.default_rng(seed), never) for seed in range(12)]
    logs = np.log([ratios for walk in walks for ratios, _ in walk])
    assert len(logs) == 12 * KEPT
    assert np.all(np.abs(logs.mean(axis=0) - middle) < 0.35 * np.array(spread))
    assert np.all(np.abs(logs.std(axis=0) / spread - 1) < 0.3)


def test_the_walk_ends_when_it_is_enough():
    told, _ = made(np.random.default_rng(2))
    assert drawn_ratios(told, np.ones(2), np.random.default_rng(0), lambda: True) == []
