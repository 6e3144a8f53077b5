"""Complementary pivoting of games: equilibria of all kinds of games, and what it obeys."""

from importlib import import_module
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from coterie import ActionSpaces, Game, InputError, Strategy, TooLargeError, UpTo
from coterie.solve.control import Control
from coterie.solve.polymatrix import polymatrix, takes
from solver_instances import random_spaces

solver = import_module("coterie.solve.polymatrix")  # the package has the function under this name


def drawn(seed, n, k=3, actions="one", *, whole=False):
    rng = np.random.default_rng(seed)
    means = rng.integers(-2, 3, (k, n, n)) if whole else rng.uniform(-1, 1, (k, n, n))
    return Game(means * ~np.eye(n, dtype=bool), actions, symmetric=False)


def check_is_equilibrium(game, found):
    assert found.status == "converged"
    assert found.value <= game.rounding
    assert game.gap(found.strategy) <= game.rounding
    assert not game.actions.outside(found.strategy.owner, found.strategy.sets)
    np.testing.assert_allclose(np.bincount(found.strategy.owner, found.strategy.probability), 1.0, atol=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_games_and_spaces(seed, whole):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    if rng.random() < 0.5:
        spaces = random_spaces(rng, n, k, min(5, 2**k - 1))
    else:
        kinds = [UpTo(k, int(rng.integers(1, k + 1)), bool(rng.integers(2))) for _ in range(2)]
        spaces = ActionSpaces(tuple(kinds[int(rng.integers(2))] for _ in range(n)))
    game = drawn(seed, n, k, spaces, whole=whole)
    check_is_equilibrium(game, polymatrix(game, Control(seed)))


@pytest.mark.parametrize("actions", ["one", "any", "any-or-none", "up-to:2", "one-or-none"])
def test_every_kind_of_space_with_many_coalitions(actions):
    for k in (1, 2, 7):
        game = drawn(k, 12, k, actions)
        check_is_equilibrium(game, polymatrix(game))


@pytest.mark.parametrize("n", [25, pytest.param(50, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.slow)])
def test_many_agents(n):
    game = drawn(0, n)
    check_is_equilibrium(game, polymatrix(game))


def equilibria(game):
    """All equilibria of a game whose equilibria are isolated, one for each support, by linear programs."""
    listed = [space.enumerate() for space in game.actions.spaces]
    sizes = [len(sets) for sets in listed]
    first = np.cumsum(sizes) - sizes
    total = sum(sizes)
    payoffs = np.zeros((total, total))
    for (i, own), (j, other) in product(enumerate(listed), repeat=2):
        means = np.array([game.utilities.means.matrix(l)[i, j] for l in range(game.n_coalitions)])
        payoffs[first[i] : first[i] + sizes[i], first[j] : first[j] + sizes[j]] = (own * means) @ other.T
    supports = [list(chain.from_iterable(combinations(range(m), s) for s in range(1, m + 1))) for m in sizes]
    found = []
    for chosen in product(*supports):
        inside = np.zeros(total, dtype=bool)
        for i, support in enumerate(chosen):
            inside[first[i] + np.array(support)] = True
        owner = np.repeat(np.arange(len(sizes)), sizes)
        above = np.concatenate([payoffs, -np.eye(len(sizes))[owner]], axis=1)
        sums = np.concatenate([np.eye(len(sizes))[owner].T, np.zeros((len(sizes), len(sizes)))], axis=1)
        bounds = [(0, 1) if here else (0, 0) for here in inside] + [(None, None)] * len(sizes)
        answer = linprog(
            np.zeros(total + len(sizes)),
            A_ub=above[~inside] if (~inside).any() else None,
            b_ub=np.zeros((~inside).sum()) if (~inside).any() else None,
            A_eq=np.concatenate([above[inside], sums]),
            b_eq=np.append(np.zeros(inside.sum()), np.ones(len(sizes))),
            bounds=bounds,
        )
        if answer.success:
            point = answer.x[:total]
            found.append(np.array([point[f : f + m] @ sets for f, m, sets in zip(first, sizes, listed, strict=True)]))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_it_is_among_all_equilibria(seed):
    game = drawn([seed, 7], 3, 2 + seed % 2)
    found = polymatrix(game, Control(seed))
    listed = equilibria(game)
    assert any(np.allclose(one, found.strategy.marginals, atol=1e-6) for one in listed)
    assert len({polymatrix(game, Control(other)).strategy.marginals.round(6).tobytes() for other in range(8)}) <= len(
        listed
    )


@pytest.mark.parametrize("seed", range(6))
def test_quantecon_finds_equilibria_too(seed):
    theory = pytest.importorskip("quantecon.game_theory")
    n, k = 3 + 2 * seed, 3
    game = drawn(seed, n, k)
    means = np.stack([game.utilities.means.matrix(l) for l in range(k)])
    pairs = {(i, j): np.diag(means[:, i, j]) for i in range(n) for j in range(n) if i != j}
    shares = theory.polym_lcp_solver(theory.PolymatrixGame(pairs))
    other = Strategy.mixed([(np.eye(k), own / own.sum()) for own in shares], game.agents, game.coalitions)
    assert game.gap(other) <= 1e-9
    check_is_equilibrium(game, polymatrix(game))


def test_the_only_equilibrium():
    rocks = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-3.0, 1.0, 0.0]])
    game = Game.from_normal_form([rocks, -rocks])
    found = polymatrix(game)
    shares = linprog([0, 0, 0, -1], A_ub=np.column_stack([-rocks.T, np.ones(3)]), b_ub=np.zeros(3), A_eq=[[1, 1, 1, 0]],
                     b_eq=[1], bounds=[(0, 1)] * 3 + [(None, None)]).x[:3]  # fmt: skip
    np.testing.assert_allclose(found.strategy.probability[:3], shares, atol=1e-9)


@pytest.mark.parametrize(
    "game",
    [
        Game(np.zeros((3, 4, 4)), "one"),
        Game(np.zeros((3, 4, 4)), "any"),
        Game(np.ones((2, 5, 5)) - np.eye(5), "one"),
        Game(np.eye(5) - np.ones((2, 5, 5)), "any-or-none"),
        Game(np.zeros((2, 1, 1)), "any"),
        Game(np.ones((1, 3, 3)) - np.eye(3), "one"),
        Game([[0, 1], [-1, 0]], "one", coalitions=2, symmetric=False),
        Game(1e9 * np.array([[0, 1], [-1, 0]]), "one", coalitions=2, symmetric=False),
        Game(1e-9 * np.array([[0, 1], [-1, 0]]), "one", coalitions=2, symmetric=False),
    ],
)
def test_ties_everywhere(game):
    for seed in range(3):
        check_is_equilibrium(game, polymatrix(game, Control(seed)))


def test_agents_who_do_not_count():
    game = drawn(3, 6).leaving_out(["1", "2"])
    check_is_equilibrium(game, polymatrix(game))


def test_the_same_seed_finds_the_same_and_so_does_the_compiled_loop(monkeypatch):
    game = drawn(1, 20)
    one, two = (polymatrix(game, Control(4)) for _ in range(2))
    monkeypatch.setattr(solver, "NUMPY_CELLS", -1)
    compiled = polymatrix(game, Control(4))
    for other in (two, compiled):
        assert one.strategy == other.strategy
        assert (one.value, one.starts, one.sweeps) == (other.value, other.starts, other.sweeps)


def test_limits_and_interrupts():
    game = drawn(0, 40)
    short = polymatrix(game, Control(0, time_limit=1e-9))
    assert short.status == "time"
    assert short.value == pytest.approx(game.gap(short.strategy), abs=1e-9)
    count = iter(range(10**9))
    stopped = polymatrix(game, Control(0, stop=lambda: next(count) > 0))
    assert stopped.status == "interrupted"
    told = []
    polymatrix(game, Control(0, progress=told.append))
    assert told[0].method == "polymatrix"


def test_work_is_limited_and_short_paths_are_given_up(monkeypatch):
    game = drawn(2, 25)
    monkeypatch.setattr(solver, "FIRST", 1)
    monkeypatch.setattr(solver, "MOST_ROUNDS", 0)
    monkeypatch.setattr(solver, "PER_PAIR", 0)
    patient = polymatrix(game)
    assert patient.starts > 1
    check_is_equilibrium(game, patient)
    monkeypatch.setattr(solver, "MOST_CELLS", 10)
    found = polymatrix(game)
    assert found.status == "limit"
    assert found.value == pytest.approx(game.gap(found.strategy), abs=1e-9)


def test_lost_digits_are_no_equilibrium(monkeypatch):
    game, wrong = drawn(3, 8), iter([True])
    exact = solver.Path.points
    monkeypatch.setattr(
        solver.Path, "points", lambda path: np.ones(len(path.problem)) if next(wrong, False) else exact(path)
    )
    found = polymatrix(game)
    assert found.starts == 2
    check_is_equilibrium(game, found)


def test_refusals():
    sized = Game(np.zeros((3, 4, 4)), "one", size_shift=np.arange(5.0))
    assert not takes(sized)
    with pytest.raises(InputError, match="sizes"):
        polymatrix(sized)
    large = Game(np.zeros((1, 2000, 2000)), "one-or-none")
    assert not takes(large)
    with pytest.raises(TooLargeError, match="3000"):
        polymatrix(large)
