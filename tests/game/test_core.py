"""The core, against its definition."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from coterie import Game, InputError, additively_separable, fractional, friends_and_enemies


def utility(values, group, agent, divide):
    total = sum(values[agent, j] for j in group if j != agent)
    return total / (len(group) if divide == "size" else max(len(group) - 1, 1) if divide == "others" else 1)


def partitions(agents):
    if not agents:
        yield []
        return
    first, *rest = agents
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [agent for agent in rest if agent not in others]
            for more in partitions(left):
                yield [(first, *others), *more]


def blocks(values, partition, group, divide, *, weakly, k):
    if sum(any(agent not in group for agent in team) for team in partition) >= k:
        return False
    own = {agent: utility(values, team, agent, divide) for team in partition for agent in team}
    gains = [utility(values, group, agent, divide) - own[agent] for agent in group]
    return (min(gains) >= -1e-9 and max(gains) > 1e-9) if weakly else min(gains) > 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("divide", ["none", "size", "others"])
@pytest.mark.parametrize("k", [2, 4])
def test_core_is_what_no_group_blocks(seed, divide, k):
    rng, n = np.random.default_rng(seed), 4
    values = rng.integers(-3, 4, (n, n)) * ~np.eye(n, dtype=bool)
    options = {"none": {}, "size": {"size_scale": [1, 1, 1 / 2, 1 / 3, 1 / 4]}, "others": {"value": "average"}}[divide]
    game = Game(values, "one", coalitions=k, symmetric=False, **options)
    groups = [group for size in range(1, n + 1) for group in combinations(range(n), size)]
    for weakly in (False, True):
        expected = {
            tuple(tuple(str(agent + 1) for agent in team) for team in partition)
            for partition in partitions(range(n))
            if len(partition) <= k
            and not any(blocks(values, partition, group, divide, weakly=weakly, k=k) for group in groups)
        }
        found = game.core(strict=weakly)
        assert {profile.partition() for profile in found} == expected
        assert len(found) == len(expected)
        for partition in partitions(range(n)):
            if len(partition) > k:
                continue
            names = [[str(agent + 1) for agent in team] for team in partition]
            strategy = game.strategy({agent: [str(t + 1)] for t, team in enumerate(names) for agent in team})
            blocking = game.blocking(strategy, weakly=weakly)
            assert (
                (blocking is None) == (strategy.partition() in expected) == game.is_core_stable(strategy, strict=weakly)
            )
            if blocking is not None:
                group = tuple(int(agent) - 1 for agent in blocking.members)
                assert blocks(values, partition, group, divide, weakly=weakly, k=k)
                assert blocking.gain == min(blocking.gains.values())


def test_the_witness_gains_most():
    game = additively_separable([[0, 2, 1], [2, 0, 5], [1, 5, 0]])
    alone = game.strategy(np.eye(3))
    assert game.blocking(alone).gains == {"2": 5.0, "3": 5.0}
    assert game.blocking(alone, weakly=True).gains == {"1": 3.0, "2": 7.0, "3": 6.0}


def test_appreciation_of_friends_has_a_strict_core():
    """Dimitrov, Borm, Hendrickx and Sung (2006): strongly connected components of friendship are in it."""
    friends = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a", "e"], "e": []}
    game = friends_and_enemies(friends)
    components = game.strategy({**dict.fromkeys("abc", ("1",)), "d": ["2"], "e": ["3"]})
    assert game.is_core_stable(components, strict=True)
    assert components.partition() in {profile.partition() for profile in game.core(strict=True)}


def test_aversion_to_enemies_has_a_core():
    """The same authors: start from a largest clique of mutual friends, go on without it."""
    friends = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "d"], "d": ["c", "e"], "e": ["d"]}
    game = friends_and_enemies(friends, attitude="aversion")
    cliques = game.strategy({**dict.fromkeys("abc", ("1",)), **dict.fromkeys("de", ("2",))})
    assert game.is_core_stable(cliques)


@pytest.mark.parametrize("seed", range(20))
def test_friends_and_enemies_have_a_core(seed):
    """The same theorems, for friendships at random."""
    friends = np.random.default_rng(seed).random((5, 5)) < 0.4
    np.fill_diagonal(friends, 0)
    _, component = connected_components(friends, connection="strong")
    liking = friends_and_enemies(friends)
    assert liking.is_core_stable(np.eye(5)[component], strict=True)
    assert friends_and_enemies(friends, attitude="aversion").core()


def test_the_core_may_be_empty():
    """Roommates: everybody likes the next one best, three are a crowd, and every pair is broken up by the third."""
    likes = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]])
    game = Game(likes, "one", coalitions=3, symmetric=False, size_scale=[1, 1, 1, -1])
    assert game.core() == []
    assert fractional(likes).core()


@pytest.mark.parametrize(
    "game",
    [
        Game(np.zeros((2, 3, 3)) + np.arange(2)[:, None, None] * (1 - np.eye(3)), "one"),
        Game(np.zeros((2, 3, 3)), "any"),
    ],
)
def test_other_games_have_no_core(game):
    with pytest.raises(InputError, match="the core is about partitions"):
        game.core()
    with pytest.raises(InputError, match="the core is about partitions"):
        game.blocking([[1, 0]] * 3)


def test_mixed_strategies_are_refused():
    game = additively_separable(np.zeros((2, 2)))
    with pytest.raises(InputError, match="pure strategies"):
        game.blocking(game.uniform())
