"""Room values: of many profiles and some agents, and of one profile that moves, against the definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from coterie import Game
from random_games import drawn_games


@settings(max_examples=80, deadline=None)
@given(drawn_games(), st.integers(0, 2**32 - 1))
def test_many_profiles_and_some_agents(drawn, seed):
    game, rng = drawn.game, np.random.default_rng(seed)
    profiles = game.actions.sample(rng, 4)
    expected = [
        [
            [oracles.room_value(drawn.table, game.strategy(profile), i, l) for l in range(game.n_coalitions)]
            for i in range(game.n_agents)
        ]
        for profile in profiles
    ]
    np.testing.assert_allclose(game.utilities.pure_room_values(profiles), expected, atol=1e-12)
    some = np.flatnonzero(rng.random(game.n_agents) < 0.5)
    found = game.utilities.pure_room_values(profiles, some)
    np.testing.assert_allclose(found, np.array(expected)[:, some], atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(drawn_games(), st.integers(0, 2**32 - 1))
def test_rooms_follow_moves(drawn, seed):
    game, rng = drawn.game, np.random.default_rng(seed)
    begin, *others = game.actions.sample(rng, 12)
    rooms, profile, before = game.utilities.rooms(begin), begin.copy(), begin.copy()
    for other in others:
        agent, moves = int(rng.integers(game.n_agents)), rng.random() < 0.7
        rooms.move(agent, np.array([moves]), other[agent][None])
        if moves:
            profile[agent] = other[agent]
        expected = game.utilities.pure_room_values(profile[None])[0]
        np.testing.assert_array_equal(rooms.profile, profile)
        np.testing.assert_allclose(rooms.all(), expected, atol=1e-12)
        np.testing.assert_allclose(rooms.of(agent)[0], expected[agent], atol=1e-12)
    rooms.refresh()
    np.testing.assert_allclose(rooms.all(), game.room_values(game.strategy(profile)), rtol=0, atol=0)
    np.testing.assert_array_equal(begin, before)


def test_sizes_at_which_nobody_meets_are_never_read():
    table = np.full((1, 2, 2, 3), 7.0)
    table[0, [0, 1], [0, 1], 2] = 0.0
    utilities = Game(size_table=table, actions="one-or-none").utilities
    alone = np.array([[True], [False]])
    np.testing.assert_array_equal(utilities.pure_room_values(alone[None])[0], [[0], [7]])
    np.testing.assert_array_equal(utilities.rooms(alone).all(), [[0], [7]])
