"""Values of being alone, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from coterie import Game, InputError, NoPotentialError
from coterie.game.alone import WithAlone
from coterie.game.truth import read_truth, write_truth
from random_games import drawn_games


def utility(drawn, alone, memberships, agent):
    own = oracles.utility(drawn.table, memberships, agent)
    lonely = memberships[agent] & (memberships.sum(axis=0) == 1)
    return own + alone[lonely, agent].sum()


@settings(max_examples=80, deadline=None)
@given(drawn_games(max_agents=3), st.integers(0, 2**32 - 1), st.booleans())
def test_everything_equals_enumeration(drawn, seed, common):
    base, rng = drawn.game, np.random.default_rng(seed)
    n, k = base.n_agents, base.n_coalitions
    alone = np.repeat(rng.normal(size=(k, 1)), n, axis=1) if common else rng.normal(size=(k, n))
    game = Game(
        **base.observed.arrays(), actions=base.actions, symmetric=None, alone=alone, agents=base.agents,
        coalitions=base.coalitions,
    )  # fmt: skip
    values = [sum(share * utility(drawn, alone, memberships, i) for share, memberships in
                  oracles.joint_actions(drawn.strategy)) for i in range(n)]  # fmt: skip
    np.testing.assert_allclose(game.values(drawn.strategy), values, atol=1e-12)
    profiles = base.actions.sample(rng, 4)
    found = np.where(profiles, game.utilities.pure_room_values(profiles), 0.0).sum(axis=2)
    expected = [[utility(drawn, alone, profile, i) for i in range(n)] for profile in profiles]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(game.values(profiles[0]), expected[0], atol=1e-12)
    # Rooms follow the moves of a profile.
    rooms, agent = game.utilities.rooms(profiles[0]), int(rng.integers(n))
    after = profiles[0].copy()
    after[agent] = base.actions.spaces[agent].sample(rng, 1)[0]
    rooms.move(agent, np.array([True]), after[agent][None])
    np.testing.assert_allclose(rooms.all(), game.room_values(after), atol=1e-12)
    np.testing.assert_allclose(rooms.of(0)[0], game.room_values(after)[0], atol=1e-12)
    if game.has_potential:
        gain = utility(drawn, alone, after, agent) - expected[0][agent]
        assert game.potential(after) - game.potential(profiles[0]) == pytest.approx(gain, abs=1e-10)


def test_alone_is_not_the_average_of_nobody():
    game = Game([[0, 4], [4, 0]], "one", coalitions=2, value="average", alone=[1, 5])
    assert game.values([[1, 0], [1, 0]]).tolist() == [4, 4]
    assert game.values([[1, 0], [0, 1]]).tolist() == [1, 5]
    assert not game.has_potential
    with pytest.raises(NoPotentialError, match="being alone is worth the same to all"):
        game.potential([[1, 0], [1, 0]])
    assert Game([[0, 4], [4, 0]], "one", coalitions=2, alone=3).has_potential
    assert game.is_interchangeable
    assert not Game([[0, 4], [4, 0]], "one", coalitions=2, alone=[[1, 1], [2, 1]]).is_interchangeable


def test_truth_keeps_them(tmp_path):
    game = Game([[0, 4], [4, 0]], "one", coalitions=2, alone=[1, 5])
    write_truth(tmp_path / "truth.json", game)
    again = read_truth(tmp_path / "truth.json")
    assert isinstance(again.utilities, WithAlone)
    assert again.values([[1, 0], [0, 1]]).tolist() == [1, 5]


@pytest.mark.parametrize("alone", [[1, 2, 3], [[1, 2, 3]], "much", [np.inf, 1]])
def test_other_shapes_are_refused(alone):
    with pytest.raises(InputError, match="alone: "):
        Game([[0, 4], [4, 0]], coalitions=2, alone=alone)
