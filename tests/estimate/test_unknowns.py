"""Designs reproduce room values, and their sums equal direct ones over the coefficients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.estimate.unknowns import (
    AnonymousDesign,
    PairDesign,
    PooledDesign,
    PooledSizedDesign,
    PureSizedDesign,
    SizedDesign,
    factored,
)
from random_games import drawn_games


def matrices(game):
    return np.stack([game.utilities.means.matrix(l) for l in range(game.n_coalitions)])


@settings(max_examples=100, deadline=None)
@given(drawn_games(sizes=("free",)))
def test_size_free_and_pooled_rooms(drawn):
    game, strategy = drawn.game, drawn.strategy
    expected = game.room_values(strategy)
    np.testing.assert_allclose(PairDesign(strategy.marginals).linear(matrices(game)), expected, atol=1e-12)
    if drawn.store.startswith("shared"):
        pooled = PooledDesign(strategy.marginals).linear(matrices(game)[:1])
        np.testing.assert_allclose(pooled, expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(drawn_games(sizes=("table", "scaled")))
def test_size_aware_rooms(drawn):
    expected = drawn.game.room_values(drawn.strategy)
    np.testing.assert_allclose(SizedDesign.of(drawn.strategy.marginals).linear(drawn.table), expected, atol=1e-12)
    if drawn.strategy.is_pure:
        pure = PureSizedDesign(drawn.strategy.marginals)
        np.testing.assert_allclose(pure.linear(drawn.table), expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(drawn_games(stores=("dense",), sizes=("scaled",)))
def test_known_factor_rooms(drawn):
    game = drawn.game
    design = factored(drawn.strategy.marginals, game.utilities.scale)
    np.testing.assert_allclose(design.linear(matrices(game)), game.room_values(drawn.strategy), atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(drawn_games(sizes=("anonymous",)).filter(lambda drawn: drawn.game.n_agents > 1))
def test_anonymous_rooms(drawn):
    expected = drawn.game.room_values(drawn.strategy)
    by_size = drawn.table[:, 0, 1]
    np.testing.assert_allclose(AnonymousDesign.of(drawn.strategy.marginals).linear(by_size), expected, atol=1e-12)


def designs(p, rng):
    n, k = p.shape
    yield PairDesign(p), rng.normal(size=(k, n, n))
    yield factored(p, rng.uniform(0, 1, (k, n + 1))), rng.normal(size=(k, n, n))
    yield PooledDesign(p), rng.normal(size=(1, n, n))
    yield SizedDesign.of(p), rng.normal(size=(k, n, n, n + 1))
    yield PooledSizedDesign.of(p), rng.normal(size=(1, n, n, n + 1))
    if np.isin(p, [0, 1]).all():
        yield PureSizedDesign(p), rng.normal(size=(k, n, n, n + 1))
    yield AnonymousDesign.of(p), rng.normal(size=(k, n + 1))


def own(values, agent):
    rows = values if values.ndim == 2 else values[:, agent].copy()
    if values.ndim > 2:
        rows[:, agent] = 0.0
    return rows


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_sums_equal_direct_ones(seed, pure):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    p = (rng.random((n, k)) < 0.5).astype(float) if pure else rng.random((n, k))
    for design, values in designs(p, rng):
        if values.ndim > 2:
            values[:, np.arange(n), np.arange(n)] = 0.0
        np.testing.assert_allclose(design.partners, p.sum(axis=0) - p)
        for i in range(n):
            phi = design.coefficients(i)
            x = own(values, i)
            direct = [(phi[l] * x).sum() for l in range(k)]
            np.testing.assert_allclose(design.linear(values)[i], direct, atol=1e-10)
            square = design.quadratic(np.abs(values))[i]
            for l in range(k):
                if design.shares_unknowns:
                    forms = [(phi[l] * phi[m] * np.abs(x)).sum() for m in range(k)]
                    np.testing.assert_allclose(square[l], forms, atol=1e-10)
                else:
                    assert square[l] == pytest.approx((phi[l] ** 2 * np.abs(x)).sum(), abs=1e-10)
                    # Different coalitions have different unknowns.
                    assert all((phi[l] * phi[m] == 0).all() for m in range(k) if m != l)
                assert design.largest(values)[i, l] >= (phi[l] * np.abs(x)).max() - 1e-12
