import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import oracles
from coterie import (
    ActionSpaces,
    Deviation,
    ExplicitSets,
    Game,
    InputError,
    NoPotentialError,
    Strategy,
    TooLargeError,
    any_subset,
)
from coterie.game.game import STABLE_WITHIN
from random_games import drawn_games


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(drawn_games())
def test_values_and_gap_equal_enumeration(drawn):
    game, table, strategy = drawn.game, drawn.table, drawn.strategy
    n, k = game.n_agents, game.n_coalitions
    rooms = [[oracles.room_value(table, strategy, i, l) for l in range(k)] for i in range(n)]
    np.testing.assert_allclose(game.room_values(strategy), rooms, atol=1e-12)
    values = [oracles.expected_utility(table, strategy, i) for i in range(n)]
    np.testing.assert_allclose(game.values(strategy), values, atol=1e-12)
    assert game.gap(strategy) == pytest.approx(max(0.0, oracles.gap(table, strategy, game.actions)), abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(drawn_games())
def test_witness_attains_the_gap(drawn):
    game, strategy = drawn.game, drawn.strategy
    worst = game.worst(strategy)
    i = game.agents.index(worst.agent)
    row = np.array([name in worst.action for name in game.coalitions])
    assert game.actions.spaces[i].contains(row[None])[0]
    assert game.gain(strategy, worst.agent, worst.action) == pytest.approx(worst.gain, abs=1e-12)
    assert game.best_response(strategy, worst.agent) == worst
    moved = strategy.replace(worst.agent, worst.action)
    assert game.values(moved)[i] - game.values(strategy)[i] == pytest.approx(worst.gain, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(drawn_games(symmetric=(True,)), st.integers(0, 2**32 - 1))
def test_potential_changes_by_the_mover_s_gain(drawn, seed):
    """Lemma 1, Rosenthal, and their sum: also in the mixed extension."""
    game, strategy = drawn.game, drawn.strategy
    try:
        before = game.potential(strategy)
    except NoPotentialError:
        assert drawn.sizes in {"scaled", "table"}
        assert not game.has_potential
        assert game.height(strategy) == pytest.approx(game.values(strategy).sum())
        return
    assert game.has_potential
    assert game.height(strategy) == before
    rng = np.random.default_rng(seed)
    i = int(rng.integers(game.n_agents))
    action = game.actions.spaces[i].sample(rng, 1)[0]
    names = [game.coalitions[l] for l in np.flatnonzero(action)]
    after = game.potential(strategy.replace(game.agents[i], names))
    gain = oracles.gains(drawn.table, strategy, i, [action])[0]
    assert after - before == pytest.approx(gain, abs=1e-12)
    if drawn.sizes == "free":
        # The half sum of everybody's utility, by enumeration.
        half = 0.5 * sum(oracles.expected_utility(drawn.table, strategy, j) for j in range(game.n_agents))
        assert before == pytest.approx(half, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(drawn_games())
def test_pure_and_mixed_formulas_agree(drawn):
    pure = Strategy.pure(drawn.game.actions.sample(np.random.default_rng(0), 1)[0])
    np.testing.assert_allclose(
        drawn.game.room_values(pure), drawn.game.utilities.room_values(pure.marginals), atol=1e-12
    )


@settings(max_examples=200, deadline=None)
@given(drawn_games(max_agents=3, max_coalitions=2))
def test_stable_profiles_by_enumeration(drawn):
    game = drawn.game
    expected = set()
    for block in game.actions.joint_actions(batch=7):
        for memberships in block:
            if oracles.gap(drawn.table, Strategy.pure(memberships), game.actions) <= STABLE_WITHIN:
                expected.add(memberships.tobytes())
    found = game.stable_profiles()
    assert {profile.sets.tobytes() for profile in found} == expected
    assert all(game.is_nash_stable(profile) for profile in found)
    if drawn.symmetric and drawn.sizes == "free":
        assert found, "Lemma 1: a symmetric size-free game has a pure stable profile"


@settings(max_examples=200, deadline=None)
@given(drawn_games(stores=("dense",)), st.randoms(use_true_random=False))
def test_relabelling_changes_nothing(drawn, random):
    game, strategy = drawn.game, drawn.strategy
    agents = random.sample(range(game.n_agents), game.n_agents)
    coalitions = random.sample(range(game.n_coalitions), game.n_coalitions)
    table = drawn.table[np.ix_(coalitions, agents, agents, range(game.n_agents + 1))]
    spaces = [ExplicitSets(game.actions.spaces[i].enumerate()[:, coalitions]) for i in agents]
    relabelled = Game(
        size_table=table,
        actions=ActionSpaces(tuple(spaces)),
        symmetric=drawn.symmetric,
        agents=[game.agents[i] for i in agents],
        coalitions=[game.coalitions[l] for l in coalitions],
    )
    rows = [strategy.owner == i for i in agents]
    moved = Strategy.mixed(
        [(strategy.sets[row][:, coalitions], strategy.probability[row]) for row in rows],
        relabelled.agents,
        relabelled.coalitions,
    )
    np.testing.assert_allclose(
        relabelled.room_values(moved), game.room_values(strategy)[np.ix_(agents, coalitions)], atol=1e-12
    )
    assert relabelled.gap(moved) == pytest.approx(game.gap(strategy), abs=1e-12)
    if drawn.symmetric and drawn.sizes not in {"scaled", "table"}:
        assert relabelled.potential(moved) == pytest.approx(game.potential(strategy), abs=1e-12)


def test_interchangeable_coalitions_can_be_renamed():
    game = Game(np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 0.5], [-1.0, 0.5, 0.0]]), "one", coalitions=3)
    one = game.strategy([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    other = game.strategy([[0, 0, 1], [0, 0, 1], [1, 0, 0]])
    assert game.gap(one) == game.gap(other)
    assert game.potential(one) == game.potential(other) == 1.0


def test_many_coalitions_never_enumerate():
    """k = 200 with any non-empty set: 2^200 actions, all by the oracle."""
    rng = np.random.default_rng(0)
    matrix = np.triu(rng.uniform(-1, 1, (6, 6)), 1)
    game = Game(matrix + matrix.T, any_subset(200), coalitions=200)
    strategy = game.strategy(game.actions.sample(rng, 1)[0])
    worst = game.worst(strategy)
    assert game.gain(strategy, worst.agent, worst.action) == pytest.approx(worst.gain)
    assert isinstance(game.potential(strategy), float)
    with pytest.raises(TooLargeError, match="joint actions"):
        game.stable_profiles()
    with pytest.raises(TooLargeError, match=r"10\^60\.2 actions"):
        game.uniform()


def test_an_agent_alone_is_always_stable():
    game = Game(np.zeros((2, 1, 1)), size_scale=np.ones((2, 3))[:, :2])
    strategy = game.uniform()
    assert game.gap(strategy) == 0
    assert game.potential(strategy) == 0


def test_large_sparse_game_equals_dense():
    rng = np.random.default_rng(1)
    n, k = 60, 3
    means = rng.uniform(-1, 1, (k, n, n)) * (rng.random((k, n, n)) < 0.1)
    means = np.triu(means, 1) + np.swapaxes(np.triu(means, 1), 1, 2)
    scale = rng.uniform(0, 1, (k, n + 1))
    shift = rng.uniform(-0.1, 0.1, (k, n + 1))
    strategy = Strategy.mixed([(any_subset(k).enumerate(), rng.dirichlet(np.ones(7))) for _ in range(n)])
    dense = Game(means, size_scale=scale, size_shift=shift)
    sparse = Game([csr_array(matrix) for matrix in means], size_scale=scale, size_shift=shift)
    np.testing.assert_allclose(dense.room_values(strategy), sparse.room_values(strategy), atol=1e-12)
    assert "size-dependent" in repr(sparse)


SYMMETRIC = np.array([[[0.0, 1.0], [1.0, 0.0]]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a game needs mean utilities"),
        ({"means": [[[0, 1], [2, 0]]]}, "1 and 2 value each other differently in coalition 1; say symmetric=False"),
        ({"means": [csr_array([[0, 1], [2, 0]])]}, "value each other differently"),
        ({"means": [[[1, 1], [1, 0]]]}, "means: 1 has utility 1.0 from themselves in coalition 1, expected 0"),
        (
            {"means": [csr_array([[1, 1], [1, 0]])]},
            "means: 1 has utility 1.0 from themselves in coalition 1, expected 0",
        ),
        ({"means": [[[0, np.nan], [1, 0]]]}, r"the value at \(0, 0, 1\) is nan, expected a finite number"),
        ({"means": np.zeros((1, 2, 3))}, "expected shape"),
        ({"means": [csr_array(np.zeros((2, 3)))]}, "expected a square matrix"),
        ({"means": "many"}, "expected numbers"),
        ({"means": [[[0, 10**400], [10**400, 0]]]}, "expected numbers"),
        ({"size_table": 3.0}, r"size_table: expected shape .*, got \(\)"),
        (
            {"means": [[0, 1], [1, 0]], "coalitions": True},
            "coalitions: expected a list of names or their number, got True",
        ),
        ({"means": [[0, 1], [1, 0]], "coalitions": 0}, "number of coalitions: expected at least 1"),
        (
            {"means": [[0, 1], [1, 0]], "coalitions": "ab"},
            "coalitions: expected a list of names or their number, got 'ab'",
        ),
        ({"size_table": np.zeros((1, 2, 2, 3)), "coalitions": 2}, "coalitions: expected 1 names, got 2"),
        (
            {"means": [[[0, 0], [0, 0]], [[0, 0], [0, 2]]], "agents": ["ada", "bob"], "coalitions": ["red", "blue"]},
            "means: bob has utility 2.0 from themselves in coalition blue, expected 0",
        ),
        (
            {"means": [csr_array((2, 2)), csr_array([[0, 0], [0, 2]])], "agents": ["ada", "bob"]},
            "means: bob has utility 2.0 from themselves in coalition 2, expected 0",
        ),
        (
            {"size_table": [np.zeros((2, 2, 3)), np.eye(2)[..., None] * [0, 0, 1]], "coalitions": ["red", "blue"]},
            "means: 1 has utility 1.0 from themselves in coalition blue, expected 0",
        ),
        ({"means": SYMMETRIC, "actions": {1: "one"}}, "names are strings"),
        ({"means": [[0, 1], [1, 0]]}, "needs n_coalitions"),
        ({"means": SYMMETRIC, "coalitions": 2}, "expected 2 matrices, one per coalition, got 1"),
        ({"means": SYMMETRIC, "agents": ["a", "a"]}, "occurs twice"),
        ({"means": SYMMETRIC, "agents": ["a"]}, "expected 2 names, got 1"),
        ({"means": SYMMETRIC, "agents": ["a", ""]}, "name 2 is empty"),
        ({"means": SYMMETRIC, "size_scale": [[1, 1]]}, r"size_scale: expected shape \(1, 3\)"),
        ({"means": SYMMETRIC, "size_table": np.zeros((1, 2, 2, 3))}, "give it alone"),
        ({"size_table": np.zeros((1, 2, 2, 2))}, "size_table: expected shape"),
        ({"size_table": np.ones((1, 2, 2, 3))}, "from themselves"),
        ({"size_table": np.ones((1, 2, 2, 3)) - np.eye(2)[..., None] + [[[0], [1]], [[0], [0]]]}, "differently"),
        ({"means": SYMMETRIC, "actions": any_subset(2)}, "made for 2 agents and 2 coalitions, the game has 2 and 1"),
        ({"means": SYMMETRIC, "actions": [["3"]]}, "unknown coalition in actions '3'; known are: 1"),
    ],
)
def test_bad_games_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Game(**arguments)


def test_potential_is_refused_with_a_reason():
    game = Game([[[0, 1], [2, 0]]], symmetric=False)
    with pytest.raises(NoPotentialError, match="not symmetric"):
        game.potential(game.uniform())
    game = Game([[[0, 1, 0], [1, 0, 0], [0, 0, 0]]], size_scale=[[1, 1, 1, 2]])
    with pytest.raises(NoPotentialError, match="both the pair and the coalition's size"):
        game.potential(game.uniform())
    means = [np.zeros((3, 3)), game.utilities.means.matrix(0)]
    game = Game(means, size_scale=[[1, 1, 1, 2]] * 2, coalitions=["red", "blue"])
    with pytest.raises(NoPotentialError, match="in coalition blue utilities depend"):
        game.potential(game.uniform())


def test_pair_means_are_shown():
    means = [[[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]]
    assert Game(means).utilities.pair_mean(0, 0, 1, 3) == 0.5
    sized = Game(means, size_scale=[[1, 1, 1, 2]], size_shift=[[0, 0, 0, -1]])
    assert [sized.utilities.pair_mean(0, 0, 1, s) for s in (2, 3)] == [0.5, 0.0]
    table = np.zeros((1, 2, 2, 3))
    table[0, 0, 1] = table[0, 1, 0] = [0, 0, 0.25]
    assert Game(size_table=table).utilities.pair_mean(0, 1, 0, 2) == 0.25


def test_strategies_of_another_game_are_refused():
    game = Game(SYMMETRIC, agents=["ada", "bob"])
    with pytest.raises(InputError, match="are not the game's"):
        game.gap(Strategy.pure([[True], [True]]))
    strategy = game.strategy({"ada": ["1"], "bob": ["1"]})
    assert game.strategy(strategy) is strategy
    expected = {"agent": "ada", "deviation": ["1"], "gain": 0.0, "movers": {"ada": ["1"]}}
    assert game.worst(strategy).to_json() == expected


def test_a_number_of_coalitions_may_be_numpy_s():
    assert Game([[0, 1], [1, 0]], coalitions=np.int64(3)).coalitions == ("1", "2", "3")


def test_the_caller_s_arrays_are_neither_aliased_nor_changed():
    means, scale, shift = np.array(SYMMETRIC), np.ones((1, 3)), np.zeros((1, 3))
    sparse = csr_array(SYMMETRIC[0])
    table = np.zeros((1, 2, 2, 3))
    games = [Game(means, size_scale=scale, size_shift=shift), Game([sparse]), Game(size_table=table)]
    before = [game.room_values(game.uniform()) for game in games]
    for array in (means, scale, shift, sparse.data, table):
        np.add(array, 7, out=array)
    for game, rooms in zip(games, before, strict=True):
        np.testing.assert_array_equal(game.room_values(game.uniform()), rooms)
    held = games[0].utilities
    for array in (held.means.values, held.scale, games[1].utilities.means.matrices[0].data, games[2].utilities.table):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    unsorted = csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    Game([unsorted], symmetric=False)
    assert unsorted.nnz == 2  # the entries of one pair were added up in the copy only


def test_symmetry_can_be_found_out():
    assert Game(SYMMETRIC, symmetric=None).is_symmetric
    assert not Game([[[0, 1], [2, 0]]], symmetric=None).is_symmetric


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"means": [[0, 1], [1, 0]], "coalitions": 2}, True),
        ({"means": np.repeat(SYMMETRIC, 2, axis=0)}, True),
        ({"means": np.concatenate([SYMMETRIC, 2 * SYMMETRIC])}, False),
        ({"means": [csr_array(SYMMETRIC[0])] * 2}, True),
        ({"means": [csr_array(SYMMETRIC[0]), csr_array(2 * SYMMETRIC[0])]}, False),
        ({"means": [[0, 1], [1, 0]], "coalitions": 2, "size_scale": [[1, 1, 1], [0, 0, 1]]}, True),
        ({"means": [[0, 1], [1, 0]], "coalitions": 2, "size_shift": [[1, 1, 1], [1, 1, 0]]}, False),
        ({"size_table": np.zeros((2, 2, 2, 3))}, True),
        ({"size_table": [np.zeros((2, 2, 3)), (1 - np.eye(2))[..., None] * [0, 0, 1]]}, False),
    ],
)
def test_interchangeable_coalitions_are_recognised(arguments, expected):
    assert Game(**arguments).is_interchangeable is expected


def test_sets_outside_the_action_space():
    """Together in both rooms is worth 2, but only one room at a time is allowed."""
    game = Game([[0, 1], [1, 0]], "one", coalitions=2)
    both = game.strategy([[1, 1], [1, 1]])
    worst = game.worst(both)
    assert worst.gain == game.gain(both, worst.agent, worst.action) == -1
    assert game.gap(both) == 0
    assert game.is_nash_stable(both)
    nothing = game.strategy([[0, 0], [1, 0]])
    assert game.worst(nothing) == Deviation("1", ("1",), 1.0)
    assert game.gap(nothing) == 1


def test_a_million_stable_profiles_share_their_names():
    game = Game(np.zeros((2, 10, 10)), "one")
    profiles = game.stable_profiles()
    assert len(profiles) == 2**10
    assert all(profile.agents is game.agents and profile.owner is profiles[0].owner for profile in profiles)
    assert profiles[0].is_pure
    assert profiles[3].replace("1", []).actions["1"] == []


def test_whatever_takes_a_strategy_takes_what_stands_for_one(tmp_path):
    means = np.array([[[0, 1, -1], [1, 0, 2], [-1, 2, 0]], [[0, 3, 0], [3, 0, 1], [0, 1, 0]]])
    game = Game(means, "one", agents=["ada", "bob", "cid"], coalitions=["x", "y"])
    (tmp_path / "teams.csv").write_text("agent,coalition\nada,x\nbob,y\ncid,x\n")
    strategy = Strategy.pure([[1, 0], [0, 1], [1, 0]], game.agents, game.coalitions)
    for same in (
        {"ada": ["x"], "bob": ["y"], "cid": ["x"]}, [[1, 0], [0, 1], [1, 0]], tmp_path / "teams.csv",
        str(tmp_path / "teams.csv"),
    ):  # fmt: skip
        assert game.strategy(same) == strategy
        for method in ("values", "room_values"):
            np.testing.assert_array_equal(getattr(game, method)(same), getattr(game, method)(strategy))
        for method in ("gap", "worst", "best_responses", "is_nash_stable", "potential", "height"):
            assert getattr(game, method)(same) == getattr(game, method)(strategy)
        assert game.gain(same, "ada", ["y"]) == game.gain(strategy, "ada", ["y"])
        assert game.best_response(same, "bob") == game.best_response(strategy, "bob")


@pytest.mark.parametrize("method", ["values", "room_values", "gap", "worst", "is_nash_stable", "potential", "height"])
def test_anything_else_is_refused_in_words(method):
    with pytest.raises(InputError, match="strategy: expected a Strategy, a dictionary"):
        getattr(Game(SYMMETRIC, "one"), method)(None)
