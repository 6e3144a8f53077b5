"""Welfare and the prices of anarchy and stability, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings

import oracles
from coterie import Game, InputError, Rules, additively_separable
from coterie.solve.known import largest_welfare
from random_games import drawn_games


@settings(max_examples=80, deadline=None)
@given(drawn_games(max_agents=3, max_coalitions=2))
def test_best_welfare_and_prices(drawn):
    game = drawn.game
    n = game.n_agents
    welfare = {
        profile.tobytes(): sum(oracles.utility(drawn.table, profile, i) for i in range(n))
        for block in game.actions.joint_actions()
        for profile in block
    }
    best = game.best_welfare()
    assert best.is_optimal
    assert best.welfare == pytest.approx(max(welfare.values()), abs=1e-9)
    assert game.welfare(best.strategy) == best.welfare
    stable = [welfare[profile.sets.tobytes()] for profile in game.stable_profiles()]
    prices = game.prices()
    if not stable:
        assert prices.best_stable is None
        assert np.isnan(prices.anarchy)
        assert np.isnan(prices.stability)
        return
    assert prices.best_stable.welfare == pytest.approx(max(stable), abs=1e-9)
    assert prices.worst_stable.welfare == pytest.approx(min(stable), abs=1e-9)
    if best.welfare > 1e-9:
        assert prices.anarchy >= prices.stability >= 1 - 1e-12
    if min(stable) > 1e-9:
        assert prices.anarchy == pytest.approx(best.welfare / min(stable))


def test_a_price_that_is_known():
    game = Game([[0, 4], [4, 0]], [["x"], ["y"]], coalitions=["x", "y"], size_scale=[1, 1, 1])
    prices = game.prices()
    assert (prices.anarchy, prices.stability) == (1, 1)
    dilemma = Game.from_normal_form([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])
    assert dilemma.prices().anarchy == 3
    nothing = Game(np.zeros((2, 2)), "one", coalitions=2)
    assert np.isnan(nothing.prices().anarchy)
    zero = Game.from_normal_form([[[3, 0], [5, 0]], [[3, 5], [0, 0]]])
    assert zero.prices().anarchy == np.inf


def test_rules_count():
    rng = np.random.default_rng(0)
    values = np.triu(rng.integers(-3, 6, (6, 6)), 1)
    game = additively_separable(values + values.T)
    pairs = Rules(team_size="0:2")
    best = game.best_welfare(pairs)
    assert max(len(team) for team in best.strategy.partition()) <= 2
    every = [game.welfare(profile) for block in game.actions.partitions() for profile in block
             if profile.sum(axis=0).max() <= 2]  # fmt: skip
    assert best.welfare == max(every)
    assert game.prices("swap", pairs).best.welfare == best.welfare
    with pytest.raises(InputError, match="no profile keeps them"):
        game.best_welfare(Rules(team_size="5:5"))


def test_larger_games_are_solved_by_a_program():
    rng = np.random.default_rng(0)
    means = np.triu(rng.uniform(-1, 1, (3, 6, 6)), 1)
    game = Game(means + np.swapaxes(means, 1, 2), "one")
    small, same = game.best_welfare(), largest_welfare(game, game._admissible(None))
    assert same.is_optimal
    assert same.welfare == pytest.approx(small.welfare)
