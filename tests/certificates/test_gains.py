"""Bounds at every deviation, and their maximum by enumeration and through the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, UpTo
from coterie.certificates import gains as gain_bounds
from coterie.certificates.gains import LinearBound, RootBound, SmallerOf, worst_deviations
from coterie.certificates.holdout import fixed
from coterie.certificates.paper import SurrogateBound
from coterie.certificates.widths import bernstein_shape, hoeffding_shape
from coterie.game.actions import ExplicitSets
from coterie.reproduce.calibration import Setting, candidates
from coterie.simulate.hostile import signs


def drawn(seed, n=3, k=4, *, pure=False):
    rng = np.random.default_rng(seed)
    p = (rng.random((n, k)) < 0.5).astype(float) if pure else rng.random((n, k))
    lower = rng.normal(size=(n, k))
    return rng, p, lower + rng.uniform(0, 1, (n, k)), lower


def direct_linear(p, upper, lower, action):
    return sum((action[l] - p[l]) * (upper[l] if action[l] > p[l] else lower[l]) for l in range(len(p)))


def all_bounds(rng, p, upper, lower):
    n, k = p.shape
    root = rng.normal(size=(n, k, k))
    full = np.einsum("nab,ncb->nac", root, root)
    diagonal = rng.uniform(0, 1, (n, k))
    largest = rng.uniform(0, 0.1, (n, k))
    yield LinearBound(p, upper, lower)
    yield SurrogateBound(p, upper, lower)
    by_range = hoeffding_shape(3.0)
    yield RootBound(LinearBound(p, upper, lower), diagonal, by_range)
    yield RootBound(LinearBound(p, upper, lower), diagonal, bernstein_shape(0.7, 3.0), largest=largest)
    yield RootBound(LinearBound(p, upper, lower), full, by_range)
    yield RootBound(LinearBound(p, upper, lower), np.abs(full), by_range, absolute=True)
    yield RootBound(LinearBound(p, upper, lower), full, by_range, bias=rng.normal(size=(n, k, 5)))
    yield SmallerOf(
        (LinearBound(p, upper, lower), RootBound(LinearBound(p, upper, lower), diagonal, hoeffding_shape(0.1)))
    )


def direct(bound, p, upper, lower, i, action):
    """Every bound written out for one deviation."""
    if isinstance(bound, SmallerOf):
        return min(direct(one, p, upper, lower, i, action) for one in bound.bounds)
    x = action - p[i]
    if isinstance(bound, SurrogateBound):
        return action @ bound.upper[i] - p[i] @ bound.lower[i]
    value = direct_linear(p[i], upper[i], lower[i], action)
    if isinstance(bound, LinearBound):
        return value
    size = np.abs(x) if bound.absolute else x
    matrix = np.diag(bound.square[i]) if bound.square.ndim == 2 else bound.square[i]
    form = max(size @ matrix @ size, 0.0)
    log_term = bound.shape.times_sqrt**2 / 2
    if bound.largest is None:
        value += np.sqrt(2 * log_term * form)
    else:
        r, m = 0.7, (np.abs(x) * bound.largest[i]).max()
        u = r * m * np.sqrt(2 * log_term)
        value += np.sqrt(2 * log_term) * (u + np.sqrt(form + u**2)) + 2 * r * log_term * m / 3
    return value + (0.0 if bound.bias is None else np.abs(x @ bound.bias[i]).sum())


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_bounds_at_every_deviation(seed, pure):
    rng, p, upper, lower = drawn(seed, pure=pure)
    n, k = p.shape
    sets = UpTo(k, k, may_stay_out=True).enumerate()
    for bound in all_bounds(rng, p, upper, lower):
        x = sets[None].astype(float) - p[:, None]
        found = bound.at(x, np.arange(n))
        for i in range(n):
            expected = [direct(bound, p, upper, lower, i, action.astype(float)) for action in sets]
            np.testing.assert_allclose(found[i], expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_directions_need_not_lead_to_a_set(seed):
    """Lower ends of gains are bounds in the opposite direction."""
    rng, p, upper, lower = drawn(seed, pure=False)
    x = rng.normal(size=(len(p), 5, p.shape[1]))
    found = LinearBound(p, upper, lower).at(x, np.arange(len(p)))
    expected = (np.where(x > 0, upper[:, None], lower[:, None]) * x).sum(axis=2)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans(), st.booleans())
def test_the_oracle_is_never_below_enumeration(seed, most, stay_out, pure):
    rng, p, upper, lower = drawn(seed, pure=pure)
    n, k = p.shape
    space = UpTo(k, most, stay_out)
    x = space.enumerate()[None].astype(float) - p[:, None]
    for bound in all_bounds(rng, p, upper, lower):
        value, action = bound.relaxed(space, np.arange(n))
        assert (value >= bound.at(x, np.arange(n)).max(axis=1) - 1e-9).all()
        assert space.contains(action).all()
        if isinstance(bound, (LinearBound, SurrogateBound)):
            np.testing.assert_allclose(value, bound.at(x, np.arange(n)).max(axis=1), atol=1e-10)


@pytest.mark.slow
def test_the_relaxation_is_tight_to_a_few_per_cent():
    excess = []
    for seed in range(100):
        rng, p, upper, lower = drawn(seed, n=4, k=8, pure=True)
        space = UpTo(8, 8)
        x = space.enumerate()[None].astype(float) - p[:, None]
        for largest in (None, np.full((4, 8), 0.01)):
            bound = RootBound(
                LinearBound(p, upper, lower), rng.uniform(0, 0.5, (4, 8)), bernstein_shape(1.0, 4.0), largest=largest
            )
            exact = bound.at(x, np.arange(4)).max(axis=1)
            excess.append(bound.relaxed(space, np.arange(4))[0] / exact - 1)
    assert np.mean(excess) < 0.02
    assert np.max(excess) < 0.1


@pytest.mark.parametrize(("feedback", "noise", "most"), [("bandit", "pairs", 0.08), ("semi-bandit", "samples", 0.25)])
def test_the_relaxation_of_full_forms(feedback, noise, most, monkeypatch):
    """Errors that go together: bandit logs are close to a few per cent, samples that share noise less so."""
    setting = Setting("", 6, 4, 3000, signs, actions="any", feedback=feedback, noise=noise)
    exact = relaxed = 0.0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        source = setting.simulation(rng)
        (batch,) = source.batches(setting.samples)
        statistics, game = setting.statistics(source, batch, np.ones(setting.samples, dtype=bool)), source.game
        found = setting.evidence(statistics.whole, game)
        for strategy in candidates(found, game, rng, 3):
            gaps = []
            for enumerated in (4096, 2):
                monkeypatch.setattr(gain_bounds, "ENUMERATED", enumerated)
                gaps.append(fixed(found, strategy, game.actions, 0.05).gap)
            assert gaps[1] >= gaps[0] - 1e-9
            exact, relaxed = exact + gaps[0], relaxed + gaps[1]
    assert relaxed < (1 + most) * exact


def test_own_actions_do_not_count_for_pure_profiles():
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    spaces = ActionSpaces(
        (ExplicitSets(np.array([[1, 0], [0, 1]], dtype=bool)), ExplicitSets(np.array([[0, 1]], dtype=bool)))
    )
    upper = lower = np.array([[1.0, -5.0], [1.0, 1.0]])
    found = worst_deviations(LinearBound(p, upper, lower), spaces)
    assert found.value.tolist() == [-6.0, -np.inf]
    assert found.action[0].tolist() == [False, True]
    surrogate = worst_deviations(SurrogateBound(p, upper, lower), spaces)
    assert surrogate.value.tolist() == [0.0, 0.0]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["pure", "mixed", "equal rooms", "half"]))
def test_worst_deviations_through_the_oracle_are_never_below_enumeration(seed, kind):
    rng, p, upper, lower = drawn(seed, n=3, k=6, pure=kind != "mixed")
    if kind == "equal rooms":
        # Ties: staying looks as good as any small move, while a large one is better.
        upper = lower = np.repeat(rng.normal(size=(3, 1)), 6, axis=1)
    if kind == "half":
        p[:, 0], p[:, 1:] = 1.0, 0.5
    spaces = ActionSpaces.shared(UpTo(6, 6), 3)
    for bound in all_bounds(rng, p, upper, lower):
        exact = worst_deviations(bound, spaces)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gain_bounds, "ENUMERATED", 10)
            relaxed = worst_deviations(bound, spaces)
        assert exact.is_exact
        assert not relaxed.is_exact
        # What certificates use is the positive part.
        assert (np.maximum(relaxed.value, 0) >= np.maximum(exact.value, 0) - 1e-9).all()


def test_not_a_number_is_never_stable():
    p = np.array([[1.0, 0.0]])
    bound = RootBound(LinearBound(p, np.full((1, 2), np.nan), np.zeros((1, 2))), np.zeros((1, 2)), hoeffding_shape(1.0))
    assert worst_deviations(bound, ActionSpaces.shared(UpTo(2, 1), 1)).value.tolist() == [np.inf]


def test_infinity_in_a_room_nobody_can_leave_hides_nothing():
    """All sets hold the first room, about which nothing is known: it cancels, the others count."""
    sets = np.concatenate([np.ones((63, 1), dtype=bool), UpTo(6, 6).enumerate()], axis=1)
    p = sets[:1].astype(float)
    upper, lower = np.full((1, 7), 2.0), np.full((1, 7), 2.0)
    upper[0, 0], lower[0, 0] = np.inf, -np.inf
    bound = LinearBound(p, upper, lower)
    value, _ = bound.relaxed(ExplicitSets(sets), np.array([0]))
    x = sets[None].astype(float) - p[:, None]
    assert value[0] == bound.at(x, np.array([0])).max() == 10.0
    free = LinearBound(p * 0, upper, lower)
    assert free.relaxed(ExplicitSets(sets), np.array([0]))[0][0] == np.inf


def test_the_oracle_can_certify_stability():
    """Two hundred coalitions, every move surely bad: the bound is exactly 0, not almost."""
    p = np.zeros((2, 200))
    p[:, :3] = 1.0
    rooms = np.where(p > 0, 1.0, -1.0)
    for largest in (None, np.full((2, 200), 1e-4)):
        bound = RootBound(
            LinearBound(p, rooms, rooms), np.full((2, 200), 1e-3), bernstein_shape(1.0, 5.0), largest=largest
        )
        value, action = bound.relaxed(UpTo(200, 200), np.arange(2))
        assert value.tolist() == [0.0, 0.0]
        np.testing.assert_array_equal(action, p > 0)
        # The witness is the real move that comes closest: leaving or joining one room.
        found = worst_deviations(bound, ActionSpaces.shared(UpTo(200, 200), 2))
        assert (found.value < -0.8).all()
        assert ((found.action != (p > 0)).sum(axis=1) == 1).all()


def test_infinite_ranges():
    p = np.array([[0.0, 1.0]])
    bound = LinearBound(p, np.array([[np.inf, 1.0]]), np.array([[-np.inf, 0.5]]))
    x = np.array([[[1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]])
    assert bound.at(x, np.array([0])).tolist() == [[np.inf, -0.5, 0.0]]
    assert bound.relaxed(UpTo(2, 2), np.array([0]))[0][0] == np.inf
