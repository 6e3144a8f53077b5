"""The classics of hedonic games: utilities by their definitions."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from coterie import InputError, additively_separable, fractional, friends_and_enemies

RNG = np.random.default_rng(3)
VALUES = np.round(RNG.normal(size=(5, 5)), 2) * ~np.eye(5, dtype=bool)


def utilities(values, profile, divide):
    found = []
    for i, row in enumerate(profile):
        team = [j for j in range(len(profile)) if profile[j][row.index(1)]]
        total = sum(values[i, j] for j in team if j != i)
        found.append(total / divide(len(team)))
    return found


@pytest.mark.parametrize(
    ("game", "divide"),
    [
        (additively_separable(VALUES), lambda _: 1),
        (additively_separable(csr_array(VALUES)), lambda _: 1),
        (fractional(VALUES), lambda s: s),
        (fractional(VALUES, divided_by="others"), lambda s: max(s - 1, 1)),
    ],
)
def test_utilities(game, divide):
    assert game.n_coalitions == game.n_agents == 5
    assert game.is_interchangeable
    assert game.actions.are_single
    for profile in game.actions.sample(np.random.default_rng(0), 40):
        expected = utilities(VALUES, profile.astype(int).tolist(), divide)
        np.testing.assert_allclose(game.values(profile), expected, atol=1e-12)
    assert not game.is_symmetric
    assert additively_separable(VALUES + VALUES.T).has_potential


def test_friends_and_enemies():
    friends = {"a": ["b", "c"], "b": ["a"], "c": []}
    together = {"a": ["1"], "b": ["1"], "c": ["1"]}
    game = friends_and_enemies(friends)
    assert game.values(together).tolist() == [6, 2, -2]
    game = friends_and_enemies(friends, attitude="aversion")
    assert game.values(together).tolist() == [2, -2, -6]
    matrix = pd.DataFrame([[0, 1, 1], [1, 0, 0], [0, 0, 0]], index=list("abc"), columns=list("abc"))
    for same in (matrix, matrix.loc[list("cab"), list("bca")]):
        assert friends_and_enemies(same, list("abc")).values(together).tolist() == [6, 2, -2]


def test_more_friends_always_win():
    """With appreciation, no number of enemies outweighs a friend; with aversion, no number of friends an enemy."""
    n = 7
    matrix = np.zeros((n, n), dtype=int)
    matrix[0, 1:] = 1
    matrix[0, 1] = 0
    liking = friends_and_enemies(matrix)
    everybody, alone = np.eye(n)[np.zeros(n, dtype=int)], np.eye(n)
    assert liking.values(everybody)[0] > 0
    averse = friends_and_enemies(matrix, attitude="aversion")
    assert averse.values(everybody)[0] < 0
    assert averse.values(alone)[0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: additively_separable([[0, 1]]), "one row and one column for each agent"),
        (lambda: additively_separable([[0, 1], [1]]), "one row and one column for each agent"),
        (lambda: additively_separable([[1, 1], [1, 0]]), "from themselves"),
        (lambda: fractional(VALUES, divided_by="half"), 'divided_by: expected "size" or "others"'),
        (lambda: friends_and_enemies({"a": "b", "b": []}), "friends of a: expected a list of agents"),
        (lambda: friends_and_enemies({"a": ["c"], "b": []}), "unknown agent in friends of a 'c'"),
        (lambda: friends_and_enemies({"a": []}, ["a", "b"]), "'b' has no entry"),
        (lambda: friends_and_enemies([[1, 0], [0, 0]]), "nobody is their own friend"),
        (lambda: friends_and_enemies([[0, 2], [0, 0]]), "friends: expected true or false"),
        (lambda: friends_and_enemies([[0, 1], [0, 0]], attitude="love"), "attitude: expected"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()
