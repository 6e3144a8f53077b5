"""Designs reproduce room values, and their sums equal direct ones over the coefficients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, Strategy, exactly_one
from coterie.estimate.design import MovedDesign
from coterie.estimate.unknowns import Anonymous, Aware, KnownFactor, Pooled, PooledAware, SizeFree, unknowns_of
from random_games import drawn_games


def matrices(game):
    return np.stack([game.utilities.means.matrix(l) for l in range(game.n_coalitions)])


@settings(max_examples=100, deadline=None)
@given(drawn_games(sizes=("free",)))
def test_size_free_and_pooled_rooms(drawn):
    game, strategy = drawn.game, drawn.strategy
    expected = game.room_values(strategy)
    np.testing.assert_allclose(SizeFree().design(strategy).linear(matrices(game)), expected, atol=1e-12)
    if drawn.store.startswith("shared"):
        pooled = Pooled().design(strategy).linear(matrices(game)[:1])
        np.testing.assert_allclose(pooled, expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(drawn_games(sizes=("table", "scaled")))
def test_size_aware_rooms(drawn):
    expected = drawn.game.room_values(drawn.strategy)
    np.testing.assert_allclose(Aware().at(drawn.strategy.marginals).linear(drawn.table), expected, atol=1e-12)
    if drawn.strategy.is_pure:
        pure = Aware().design(drawn.strategy)
        np.testing.assert_allclose(pure.linear(drawn.table), expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(drawn_games(stores=("dense",), sizes=("scaled",)))
def test_known_factor_rooms(drawn):
    game = drawn.game
    design = KnownFactor(game.utilities.scale).design(drawn.strategy)
    np.testing.assert_allclose(design.linear(matrices(game)), game.room_values(drawn.strategy), atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(drawn_games(sizes=("anonymous",)).filter(lambda drawn: drawn.game.n_agents > 1))
def test_anonymous_rooms(drawn):
    expected = drawn.game.room_values(drawn.strategy)
    by_size = drawn.table[:, 0, 1]
    np.testing.assert_allclose(Anonymous().design(drawn.strategy).linear(by_size), expected, atol=1e-12)


def ways(n, k, rng):
    """Every way to read a log, with values of its unknowns."""
    yield SizeFree(), rng.normal(size=(k, n, n))
    yield KnownFactor(rng.uniform(0, 1, (k, n + 1))), rng.normal(size=(k, n, n))
    yield Pooled(), rng.normal(size=(1, n, n))
    yield Aware(), rng.normal(size=(k, n, n, n + 1))
    yield PooledAware(), rng.normal(size=(1, n, n, n + 1))
    yield Anonymous(), rng.normal(size=(k, n + 1))


def designs(p, rng):
    n, k = p.shape
    for unknowns, values in ways(n, k, rng):
        yield unknowns.at(p), values
        if np.isin(p, [0, 1]).all():
            yield unknowns.design(Strategy.pure(p)), values


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


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_batches_and_games_are_those_of_single_profiles(seed):
    rng = np.random.default_rng(seed)
    n, k, b = int(rng.integers(2, 6)), int(rng.integers(1, 4)), 5
    profiles = rng.random((b, n, k)) < 0.5
    spaces = ActionSpaces.shared(exactly_one(k), n)
    some = np.unique(rng.integers(n, size=2))
    for unknowns, values in ways(n, k, rng):
        if values.ndim > 2:
            values[:, np.arange(n), np.arange(n)] = 0.0
        game, batch = unknowns.game(values, spaces), unknowns.batch(profiles, some)
        singles = [unknowns.design(Strategy.pure(profile)) for profile in profiles]
        for profile, single in zip(profiles, singles, strict=True):
            strategy = game.strategy(profile)
            np.testing.assert_allclose(single.linear(values), game.room_values(strategy), atol=1e-10)
        if batch is None:
            continue
        assert batch.shares_unknowns == singles[0].shares_unknowns
        for name in ("linear", "quadratic", "largest"):
            expected = np.concatenate([getattr(single, name)(np.abs(values))[some] for single in singles])
            np.testing.assert_allclose(getattr(batch, name)(np.abs(values)), expected, atol=1e-10, err_msg=name)
        moved = MovedDesign(batch, np.arange(2), profiles[1, :2])
        np.testing.assert_allclose(moved.linear(values), batch.linear(values)[:2])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_moves_from_a_profile_are_other_profiles(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    profile, movers = rng.random((1, n, k)) < 0.5, rng.integers(n, size=4)
    actions, everybody = rng.random((4, k)) < 0.5, np.arange(n)
    values = rng.normal(size=(k, n, n))
    moved = np.repeat(profile, 4, axis=0)
    moved[np.arange(4), movers] = actions
    quick = SizeFree().batch(profile, everybody).after_moves(movers, actions, everybody)
    slow = SizeFree().batch(moved, everybody)
    for name in ("linear", "quadratic", "largest"):
        np.testing.assert_allclose(getattr(quick, name)(values), getattr(slow, name)(values), atol=1e-10, err_msg=name)


def test_every_way_has_a_name_and_a_meaning_of_its_own():
    found = [unknowns for unknowns, _ in ways(3, 2, np.random.default_rng(0))]
    assert len({unknowns.name for unknowns in found}) == len({unknowns.meaning for unknowns in found}) == 6
    for by_size in (False, True):
        for pooled in (False, True):
            unknowns = unknowns_of(by_size=by_size, pooled=pooled)
            assert (unknowns.by_size, unknowns.is_pooled) == (by_size, pooled)
