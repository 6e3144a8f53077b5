"""Moves of groups against enumeration and against moves of single agents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from coterie import Game, InputError, TooLargeError
from coterie.game.actions import ActionSpaces, ExplicitSets
from coterie.game.dynamics import best_pure_profile
from coterie.solve.control import Control
from coterie.solve.groups import best_groups, potential
from coterie.solve.many import fits, many_profiles


def weights_of(seed, n, share=0.6):
    rng = np.random.default_rng(seed)
    upper = np.triu(np.round(rng.normal(size=(n, n)), 2) * (rng.random((n, n)) < share), 1)
    return csr_array(upper + upper.T)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 7), k=st.integers(1, 4))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_small_partitions_are_nearly_always_the_best(seed, n, k):
    weights = weights_of(seed, n)
    game = Game(weights, "one", coalitions=k)
    labels, height = best_groups(weights, k, np.random.default_rng(0), rounding=game.rounding)
    assert labels.shape == (n,)
    assert 0 <= labels.min() <= labels.max() < k
    profile = labels[:, None] == np.arange(k)
    assert height == pytest.approx(game.potential(profile), abs=1e-9) == pytest.approx(potential(weights, labels))
    assert game.is_nash_stable(profile)
    best = max(game.potential(one) for block in game.actions.partitions() for one in block)
    assert height <= best + 1e-9
    assert height >= 0.8 * best - 1e-9 if best > 0 else True


@given(seed=st.integers(0, 10_000), largest=st.integers(2, 5))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_no_coalition_is_larger_than_allowed(seed, largest):
    n = 20
    weights = weights_of(seed, n, 0.4)
    k = -(-n // largest) + seed % 3
    labels, _ = best_groups(weights, k, np.random.default_rng(seed), largest=largest)
    sizes = np.bincount(labels, minlength=k)
    assert sizes.sum() == n
    assert sizes.max() <= largest
    # Nobody gains by moving to where there is room.
    dense = weights.toarray()
    worth = np.stack([dense[:, labels == l].sum(axis=1) for l in range(k)], axis=1)
    own = worth[np.arange(n), labels]
    assert (np.where(sizes < largest, worth, -np.inf).max(axis=1) <= own + 1e-9).all()


def test_groups_beat_single_moves():
    weights = weights_of(5, 150, 0.15)
    game = Game(weights, "one", coalitions=30)
    _, height = best_groups(weights, 30, np.random.default_rng(0), rounding=game.rounding)
    assert height > 1.05 * best_pure_profile(game, 0, starts=4).potential


def test_too_many_for_the_places():
    with pytest.raises(InputError, match="20 agents do not fit into 3 coalitions of 5"):
        best_groups(weights_of(0, 20), 3, np.random.default_rng(0), largest=5)


@pytest.mark.parametrize("shared", [True, False])
def test_many_profiles_are_at_rest(shared):
    means = weights_of(1, 30) if shared else [weights_of(seed, 30) for seed in range(4)]
    game = Game(means, "one", coalitions=4)
    assert fits(game)
    profiles = many_profiles(game, Control(0))
    heights = [game.potential(profile) for profile in profiles]
    assert heights == sorted(heights, reverse=True)
    assert all(game.is_nash_stable(profile) for profile in profiles)
    assert heights[0] >= 0.9 * best_pure_profile(game, 0, starts=20).potential


def test_many_profiles_go_where_they_may():
    rooms = np.eye(4, dtype=bool)
    own = ActionSpaces(tuple(ExplicitSets(rooms[[i % 4, (i + 1) % 4]]) for i in range(30)))
    game = Game([weights_of(seed, 30) for seed in range(4)], own)
    for profile in many_profiles(game, Control(0), np.full(4, 9)):
        assert own.contains(profile).all()
        assert profile.sum(axis=0).max() <= 9
    for profile in many_profiles(game, Control(0), np.array([8, 7, 8, 7])):  # nothing is to spare
        assert own.contains(profile).all()
        assert profile.sum(axis=0).tolist() == [8, 7, 8, 7]
    with pytest.raises(TooLargeError, match="at most 5"):
        many_profiles(game, Control(0), np.full(4, 5))
    assert not fits(Game(weights_of(0, 5).toarray(), "one", coalitions=2))


def test_equilibria_of_many_agents(monkeypatch):
    monkeypatch.setattr("coterie.solve.known.MANY", 100)
    game = Game(weights_of(3, 40), "one", coalitions=10)
    found = game.equilibrium()
    assert (found.method, found.value) == ("groups", 0.0)
    assert game.gap(found.strategy) == 0
