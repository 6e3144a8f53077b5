"""Names of data frames are heeded, in whatever order they come, and contradictions are refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coterie import Game, InputError, Strategy

AGENTS = ["ada", "bob", "cyd"]
VALUES = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]])
FRAME = pd.DataFrame(VALUES, index=AGENTS, columns=AGENTS)
OTHER = ["cyd", "ada", "bob"]
PERMUTED = [
    FRAME.loc[OTHER, OTHER],
    FRAME.loc[OTHER],
    FRAME[OTHER],
    pd.DataFrame(FRAME.loc[OTHER, OTHER].to_numpy(), columns=OTHER),
    pd.DataFrame(FRAME.loc[OTHER, OTHER].to_numpy(), index=OTHER),
    pl.DataFrame({name: FRAME.loc[OTHER, name].to_list() for name in OTHER}),
    pa.table({name: FRAME.loc[OTHER, name].to_list() for name in OTHER}),
]


def game_of(means, **options):
    return Game(means, "one", symmetric=False, **{"coalitions": 2, **options})


def utilities(game):
    return {(i, j): game.utilities.pair_mean(0, a, b, 2)
            for a, i in enumerate(game.agents) for b, j in enumerate(game.agents)}  # fmt: skip


@pytest.mark.parametrize("frame", PERMUTED, ids=range(len(PERMUTED)))
def test_permuted_frames_are_the_same_game(frame):
    same = game_of(frame, agents=AGENTS)
    assert same.agents == tuple(AGENTS)
    np.testing.assert_array_equal(same.utilities.means.matrix(0), VALUES)
    assert utilities(game_of(frame)) == utilities(same)
    assert set(game_of(frame, agents=3).agents) == set(AGENTS)


def test_lists_and_dictionaries_of_frames():
    frames = {"red": FRAME, "blue": FRAME.loc[OTHER, OTHER] * 2}
    game = game_of(frames, agents=AGENTS, coalitions=["blue", "red"])
    assert game.coalitions == ("blue", "red")
    np.testing.assert_array_equal(game.utilities.means.matrix(0), 2 * VALUES)
    np.testing.assert_array_equal(game.utilities.means.matrix(1), VALUES)
    assert game_of(frames, coalitions=None).coalitions == ("red", "blue")
    listed = game_of(list(frames.values()), coalitions=None)
    np.testing.assert_array_equal(listed.utilities.means.matrix(1), 2 * VALUES)
    plain = game_of({"red": VALUES, "blue": 2 * VALUES}, coalitions=None)
    assert (plain.agents, plain.coalitions) == (("1", "2", "3"), ("red", "blue"))


def test_frames_without_names_are_arrays():
    game = game_of(pd.DataFrame(VALUES))
    assert game.agents == ("1", "2", "3")
    np.testing.assert_array_equal(game.utilities.means.matrix(0), VALUES)
    assert game_of(pl.DataFrame(VALUES), agents=AGENTS).agents == tuple(AGENTS)


@pytest.mark.parametrize(
    ("means", "options", "message"),
    [
        (
            FRAME,
            {"agents": ["ada", "bob", "dan"]},
            "means: the rows have the name 'cyd', which is not one of the agents",
        ),
        (FRAME.iloc[:2, :2], {"agents": AGENTS}, "means: the rows lack 'cyd'"),
        (FRAME.rename(columns={"cyd": "dan"}), {}, "means: the columns have the name 'dan'"),
        (FRAME.rename(columns={"cyd": "ada"}), {}, "means: the columns have the name 'ada' twice"),
        (FRAME, {"agents": 4}, "the frame has 3 names of agents, expected 4"),
        (FRAME.iloc[:2].reset_index(drop=True), {}, "one row and one column for each agent"),
        ({"red": FRAME}, {"coalitions": ["blue"]}, "means: its keys have the name 'red', which is not one of the coal"),
        ([FRAME, FRAME.rename(index={"cyd": "dan"})], {}, "means: the rows have the name 'dan'"),
    ],
)
def test_contradictions_are_refused(means, options, message):
    with pytest.raises(InputError, match=message):
        game_of(means, **options)


def test_sizes_and_alone_have_names_too():
    scale = pd.DataFrame([[1.0, 1, 1, 5], [1, 1, 1, 7]], index=["blue", "red"])
    game = game_of(FRAME, coalitions=["red", "blue"], size_scale=scale)
    np.testing.assert_array_equal(game.utilities.scale[:, 3], [7, 5])
    by_size = pd.Series({3: 9.0, 2: 1.0, 1: 0.0, 0: 0.0})
    np.testing.assert_array_equal(game_of(FRAME, size_shift=by_size).utilities.shift, [[0, 0, 1, 9]] * 2)
    lonely = game_of(FRAME, alone=pd.Series({"cyd": 3.0, "ada": 1.0, "bob": 2.0}))
    np.testing.assert_array_equal(lonely.utilities.alone, [[1, 2, 3]] * 2)
    with pytest.raises(InputError, match="alone: the rows lack 'bob'"):
        game_of(FRAME, alone=pd.Series({"cyd": 3.0, "ada": 1.0}))
    with pytest.raises(InputError, match="size_scale: the columns have the name '9', which is not one of the sizes"):
        game_of(FRAME, coalitions=["red", "blue"], size_scale=scale.rename(columns={3: 9}))


def test_strategies_heed_names():
    game = game_of(FRAME, coalitions=["red", "blue"])
    frame = pd.DataFrame([[1, 0], [0, 1], [0, 1]], index=AGENTS, columns=["red", "blue"])
    strategy = game.strategy(frame)
    assert strategy.members() == {"red": ["ada"], "blue": ["bob", "cyd"]}
    for permuted in (frame.loc[OTHER, ["blue", "red"]], frame[["blue", "red"]]):
        assert game.strategy(permuted) == strategy
        assert Strategy.pure(permuted, AGENTS, ["red", "blue"]) == strategy
    assert Strategy.pure(frame).agents == tuple(AGENTS)
    assert Strategy.pure(frame).coalitions == ("red", "blue")
    assert Strategy.pure(frame.loc[OTHER]).members() == {"red": ["ada"], "blue": ["cyd", "bob"]}
    assert Strategy.pure(frame, 3, 2) == Strategy.pure(frame)
    assert Strategy.pure(frame.reset_index(drop=True), AGENTS) == Strategy.pure(frame)
    with pytest.raises(InputError, match="one row per agent"):
        Strategy.pure(frame["red"])
    with pytest.raises(InputError, match="strategy: the rows have the name 'dan'"):
        game.strategy(frame.rename(index={"cyd": "dan"}))
    with pytest.raises(InputError, match="memberships: the columns lack 'blue'"):
        Strategy.pure(frame[["red"]], AGENTS, ["red", "blue"])


def test_a_row_of_sizes_is_for_all_coalitions():
    game = game_of(VALUES, size_scale=[1, 1, 2, 3], coalitions=2)
    np.testing.assert_array_equal(game.utilities.scale, [[1, 1, 2, 3]] * 2)
    with pytest.raises(InputError, match=r"size_scale: expected shape \(2, 4\)"):
        game_of(VALUES, size_scale=[1, 1, 2])


def test_numbers_are_names_where_the_other_side_has_them_in_another_order():
    """What pandas numbers by itself is no name, until rows are taken in another order."""
    numbered = pd.DataFrame(VALUES)
    together = {"0": ["1"], "1": ["1"], "2": ["2"]}
    for frame in (numbered.loc[[2, 0, 1]], numbered[[2, 0, 1]], numbered.loc[[2, 0, 1], [1, 2, 0]]):
        game = game_of(frame)
        assert dict(zip(game.agents, game.values(together).tolist(), strict=True)) == {"0": 1.0, "1": 3.0, "2": 0.0}
    assert game_of(numbered).agents == ("1", "2", "3")


def test_numbers_are_no_names_of_coalitions():
    """A frame of people in another order has no names on its columns, however many these are."""
    game = Game(np.zeros((3, 3, 3)), "one", agents=["0", "1", "2"], coalitions=["red", "blue", "green"])
    found = game.strategy(pd.DataFrame(np.eye(3, dtype=bool), index=[2, 0, 1]))
    assert found.actions == {"0": ["blue"], "1": ["green"], "2": ["red"]}
