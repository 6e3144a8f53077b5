"""Best-response dynamics against enumeration."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from coterie import ActionSpaces, Game, InputError, Rules, UpTo
from coterie.game import dynamics
from coterie.game.dynamics import FIRST_SWEEPS, best_pure_profile, best_response_dynamics, settle
from random_games import drawn_games


def random_game(seed, kind):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    means = np.triu(rng.normal(size=(k, n, n)), 1)
    means += np.swapaxes(means, 1, 2)
    actions = ["any", "one", "up-to:2", "any-or-none"][int(rng.integers(4))]
    if kind == "size-free":
        return Game(means, actions)
    if kind == "scaled":
        return Game(means, actions, size_scale=rng.random((k, n + 1)), size_shift=rng.normal(size=(k, n + 1)))
    if kind == "asymmetric":
        return Game(means * rng.random((k, n, n)), actions, symmetric=False)
    if kind == "sparse":
        return Game([csr_array(matrix) for matrix in means], actions)
    table = np.triu(rng.normal(size=(k, n + 1, n, n)), 1)
    return Game(size_table=np.moveaxis(table + np.swapaxes(table, 2, 3), 1, -1), actions=actions)


def start_of(game, seed):
    return game.strategy(game.actions.sample(np.random.default_rng(seed), 1)[0])


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["size-free", "scaled", "asymmetric", "sparse", "table"]))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_the_end_is_what_it_says(seed, kind):
    game = random_game(seed, kind)
    end = best_response_dynamics(game, start_of(game, seed), np.random.default_rng(seed))
    assert end.gap == pytest.approx(game.gap(end.strategy), abs=1e-9)
    if kind in {"size-free", "sparse"}:  # there is a potential
        assert end.status == "converged"
    if end.status == "converged":
        assert game.is_nash_stable(end.strategy)
        stable = [profile.sets.tobytes() for profile in game.stable_profiles()]
        assert end.strategy.sets.tobytes() in stable
    else:
        assert end.status == "cycled"


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["size-free", "scaled", "table"]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_many_starts_find_the_best_stable_profile(seed, kind):
    game = random_game(seed, kind)
    found = best_pure_profile(game, np.random.default_rng(seed), starts=60)
    stable = game.stable_profiles()
    if kind == "size-free":
        assert found.status == "converged"
        best = max(game.potential(profile) for profile in stable)
        assert found.potential == pytest.approx(best, abs=1e-9)
    elif stable and found.status == "converged":
        assert found.gap <= 1e-9
    assert found.gap == pytest.approx(game.gap(found.strategy), abs=1e-9)


def chase():
    """Agent 1 wants to be with agent 2, who wants to be alone: no pure profile is stable."""
    return Game([[[0, 1], [-1, 0]]] * 2, "one", symmetric=False)


def test_a_cycle_is_noticed():
    game = chase()
    assert not game.stable_profiles()
    end = best_response_dynamics(game, game.strategy([[True, False], [True, False]]))
    assert end.status == "cycled"
    assert end.gap == pytest.approx(1)
    found = best_pure_profile(game, np.random.default_rng(0), 4)
    assert found.status == "cycled"
    assert found.potential is None


def test_the_limit_of_sweeps():
    game = chase()
    start = game.strategy([[True, False], [True, False]])
    end = best_response_dynamics(game, start, max_sweeps=1)
    assert (end.status, end.sweeps) == ("limit", 1)
    none = best_response_dynamics(game, start, max_sweeps=0)
    assert (none.status, none.moves) == ("limit", 0)
    assert np.array_equal(none.strategy.sets, start.sets)


def test_the_start_is_not_changed_and_a_stable_one_is_kept():
    game = Game([[[0, 1], [1, 0]]], "one")
    start = game.strategy([[True], [True]])
    end = best_response_dynamics(game, start)
    assert (end.status, end.moves, end.sweeps) == ("converged", 0, 0)
    assert np.array_equal(end.strategy.sets, start.sets)


def test_mixed_starts_are_refused():
    game = chase()
    with pytest.raises(InputError, match="pure strategy"):
        best_response_dynamics(game, game.uniform())


def test_starts_outside_the_action_space_are_refused():
    game = Game([[[0, 1], [1, 0]]] * 2, "one", agents=["ada", "bob"])
    with pytest.raises(InputError, match="start: bob plays a set that is not among their actions"):
        best_response_dynamics(game, game.strategy([[1, 0], [1, 1]]))


def test_large_games_are_quick_and_exact():
    rng = np.random.default_rng(0)
    means = np.triu(rng.normal(size=(8, 150, 150)), 1)
    game = Game(means + np.swapaxes(means, 1, 2), "up-to:3")
    end = best_response_dynamics(game, start_of(game, 1), rng)
    assert end.status == "converged"
    assert game.gap(end.strategy) <= 1e-9


def chain(n):
    """Neighbours i and i + 1 like each other the better, the larger i is: news travels one step per sweep."""
    means = np.zeros((2, n, n))
    for i in range(n - 1):
        means[:, i, i + 1] = means[:, i + 1, i] = (i + 1) / n
    return Game(means, "one")


def test_where_there_is_a_potential_everybody_comes_to_rest():
    game = chain(120)
    rng = np.random.default_rng(0)
    ends, stable, sweeps = settle(game, game.actions.sample(rng, 16), rng)
    assert stable.all()
    assert sweeps > FIRST_SWEEPS
    assert all(game.gap(game.strategy(end)) <= 1e-9 for end in ends)


def test_runs_in_circles_end_early():
    game = chase()
    rng = np.random.default_rng(0)
    _, stable, sweeps = settle(game, game.actions.sample(rng, 8), rng)
    assert not stable.any()
    assert sweeps <= FIRST_SWEEPS


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["size-free", "scaled", "asymmetric", "sparse", "table"]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_many_profiles_settle_as_each_does_by_itself(seed, kind):
    game = random_game(seed, kind)
    profiles = game.actions.sample(np.random.default_rng(seed), 5)
    ends, stable, _ = settle(game, profiles, np.random.default_rng(seed))
    for profile, end, rests in zip(profiles, ends, stable, strict=True):
        assert rests == game.is_nash_stable(game.strategy(end))
        if kind in {"sparse", "table"}:  # of other kinds a single profile follows sums, which are rounded otherwise
            alone = best_response_dynamics(game, game.strategy(profile), np.random.default_rng(seed))
            assert rests == (alone.status == "converged")
            assert not rests or np.array_equal(end, alone.strategy.sets)


def test_what_is_checked_between_sweeps_may_end_all_runs():
    game, sweeps = chain(60), []

    def check():
        sweeps.append(1)
        if len(sweeps) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        settle(game, game.actions.sample(np.random.default_rng(0), 4), np.random.default_rng(0), check)


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["size-free", "scaled", "asymmetric", "sparse", "table"]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_trajectory_leads_to_the_end(seed, kind):
    game = random_game(seed, kind)
    start = start_of(game, seed)
    found = game.dynamics(start, seed)
    profiles = list(found.profiles())
    assert profiles[0] == found.start == start
    assert len(profiles) == found.moves + 1
    for before, after, move in zip(profiles, profiles[1:], found.trajectory, strict=False):
        own = [game.values(profile)[game.agents.index(move.agent)] for profile in (before, after)]
        assert own[1] - own[0] == pytest.approx(move.gain, abs=1e-9)
        assert move.gain > 0
        assert game.best_response(before, move.agent).gain == pytest.approx(move.gain, abs=1e-9)
    if found.status == "converged":
        assert profiles[-1] == found.strategy
    assert found.strategy in profiles


@pytest.mark.parametrize("stability", ["individual", "contractual", "contractual-individual", "swap"])
@pytest.mark.parametrize("seed", range(5))
def test_steps_under_other_notions(stability, seed):
    game = random_game(seed, "asymmetric")
    found = game.dynamics(seed=seed, stability=stability)
    profiles = list(found.profiles())
    for before, move in zip(profiles, found.trajectory, strict=False):
        assert game.gap(before, stability) == pytest.approx(move.gain)
    if found.status == "converged":
        assert game.is_stable(profiles[-1], stability)
    assert "moves, gap" in repr(found)


def test_rules_are_kept_on_the_way():
    game = Game(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), "one", coalitions=3)
    found = game.dynamics(np.eye(3), rules=Rules(team_size="0:2"))
    assert found.status == "converged"
    assert max(len(team) for team in found.strategy.partition()) == 2
    assert len(game.dynamics(np.eye(3)).strategy.partition()) == 1


def test_without_a_start_one_is_drawn():
    game = random_game(1, "size-free")
    assert game.dynamics().start == game.dynamics().start
    assert {game.dynamics(seed=seed).start for seed in range(20)} != {game.dynamics().start}


@given(
    drawn=drawn_games(stores=("sparse", "shared-sparse"), sizes=("free",), symmetric=(True,), max_agents=6),
    seed=st.integers(0, 100),
)
@settings(max_examples=80, deadline=None, derandomize=True)
def test_compiled_turns_are_those_of_python_and_of_dense_games(drawn, seed):
    # In sixty-fourths, so that sums are exact in whatever order.
    means = np.round(drawn.table[..., 0] * 64) / 64
    spaces = ActionSpaces(
        tuple(UpTo(means.shape[0], 1 + (seed + i) % means.shape[0], i % 2 == 1) for i in range(means.shape[1]))
    )
    shared = drawn.store == "shared-sparse"
    listed = csr_array(means[0]) if shared else [csr_array(matrix) for matrix in means]
    games = [Game(stored, spaces, coalitions=len(means)) for stored in (means[0] if shared else means, listed)]
    start = games[0].actions.sample(seed, 1)[0]
    by_python = [game.dynamics(start, seed) for game in games]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dynamics, "MANY", 0)
        compiled = games[1].dynamics(start, seed)
    for found in by_python:
        assert found.trajectory == compiled.trajectory
        assert (found.gap, found.sweeps, found.strategy) == (compiled.gap, compiled.sweeps, compiled.strategy)
    end = compiled.strategy
    assert games[0].potential(end) == games[1].potential(end)
    assert games[0].potential(games[0].uniform()) == pytest.approx(games[1].potential(games[1].uniform()))
    assert games[0].gap(start) == games[1].gap(start)


def test_many_agents_take_no_square_of_their_number():
    # 20,000 agents in pairs who like each other: dense means would take 3 GB.
    n = 20_000
    i = np.arange(n)
    game = Game(csr_array((np.ones(n), (i, i ^ 1)), shape=(n, n)), "one", coalitions=3)
    tracemalloc.start()
    end = game.dynamics(seed=0)
    assert (end.status, end.gap) == ("converged", 0.0)
    assert game.potential(end.strategy) == n / 2
    assert game.gap(end.strategy) == 0
    assert tracemalloc.get_traced_memory()[1] < 1e8
    tracemalloc.stop()
