"""Tables of payoffs, to and from other programs."""

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

import oracles
from coterie import CoterieError, Game, InputError, TooLargeError
from coterie.game.normal_form import NormalForm, _label
from random_games import drawn_games


@settings(max_examples=60, deadline=None)
@given(drawn_games(max_agents=3))
def test_payoffs_are_utilities(drawn):
    table = drawn.game.to_normal_form()
    for chosen in product(*(range(size) for size in table.shape)):
        memberships = np.array([sets[place] for sets, place in zip(table.actions, chosen, strict=True)])
        for i, own in enumerate(table.payoffs):
            assert own[chosen] == pytest.approx(oracles.utility(drawn.table, memberships, i), abs=1e-12)
    again = table.strategy(table.probabilities(drawn.strategy))
    np.testing.assert_allclose(again.marginals, drawn.strategy.marginals, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 3, 2), (2, 2, 2, 2)])
def test_every_table_is_a_game_of_coalitions(shape):
    rng = np.random.default_rng(len(shape))
    payoffs = [rng.normal(size=shape) for _ in shape]
    game = Game.from_normal_form(payoffs)
    table = game.to_normal_form()
    assert table.shape == shape
    for own, given_ in zip(table.payoffs, payoffs, strict=True):
        np.testing.assert_allclose(own, given_, atol=1e-12)
    shares = [rng.dirichlet(np.ones(size)) for size in shape]
    weights = np.ones(())
    for share in shares:
        weights = np.multiply.outer(weights, share)
    values = [(weights * own).sum() for own in payoffs]
    np.testing.assert_allclose(game.values(table.strategy(shares)), values, atol=1e-12)
    kept = Game.from_normal_form(NormalForm.of(game))
    np.testing.assert_allclose(kept.to_normal_form().payoffs[0], payoffs[0], atol=1e-12)


def random_game(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    means = rng.integers(-3, 4, (k, n, n)) * ~np.eye(n, dtype=bool)
    return Game(means, ["one", "any", "one-or-none"][seed % 3], symmetric=False)


@pytest.mark.parametrize("seed", range(12))
def test_quantecon_finds_the_same_pure_equilibria(seed):
    theory = pytest.importorskip("quantecon.game_theory")
    game = random_game(seed)
    table = game.to_normal_form()
    other = table.to_quantecon()
    theirs = {table.strategy(found) for found in theory.pure_nash_brute(other)}
    assert theirs == set(game.stable_profiles())
    again = Game.from_normal_form(other).to_normal_form()
    for own, given_ in zip(again.payoffs, table.payoffs, strict=True):
        np.testing.assert_allclose(own, given_)


@pytest.mark.parametrize("seed", range(0, 12, 2))
@pytest.mark.filterwarnings("ignore")  # of nashpy's own, about degenerate games
def test_nashpy_finds_equilibria_that_have_no_gap(seed):
    pytest.importorskip("nashpy")
    rng = np.random.default_rng(seed)
    game = Game.from_normal_form([rng.normal(size=(3, 3)) for _ in range(2)])
    table = game.to_normal_form()
    found = list(table.to_nashpy().support_enumeration())
    assert found
    assert all(game.gap(table.strategy(pair)) <= 1e-9 for pair in found)
    pure = {s for pair in found if (s := table.strategy(pair)).is_pure}
    assert pure == set(game.stable_profiles())
    np.testing.assert_allclose(Game.from_normal_form(table.to_nashpy()).to_normal_form().payoffs[1], table.payoffs[1])


def test_gambit_gets_names_and_payoffs():
    gambit = pytest.importorskip("pygambit")
    game = Game([[[0, 1], [2, 0]]] * 2, "one", symmetric=False, agents=["ada", "bob"], coalitions=["red", "blue"])
    other = game.to_normal_form().to_gambit()
    assert [player.label for player in other.players] == ["ada", "bob"]
    assert [strategy.label for strategy in next(iter(other.players)).strategies] == ["red", "blue"]
    again = Game.from_normal_form(other).to_normal_form()
    np.testing.assert_allclose(again.payoffs, game.to_normal_form().payoffs)
    assert len(gambit.nash.enumpure_solve(other).equilibria) == len(game.stable_profiles())


class Label:
    """A thing of Gambit, whose label must be printable ASCII with single spaces, and unlike that of its siblings."""

    def __init__(self, siblings, place):
        self.siblings, self._label = siblings, str(place)

    @property
    def label(self):
        return self._label

    @label.setter
    def label(self, value):
        fine = value.isascii() and value.isprintable() and value == " ".join(value.split()) and value
        if not fine or any(one.label == value for one in self.siblings if one is not self):
            raise ValueError(value)
        self._label = value


def test_labels_are_what_gambit_can_hold():
    for names, expected in [
        (("2", "1", "3"), ["2", "1", "3"]),
        (("Zoë", "a  b ", "nothing"), ["Zo\\xeb", "a b", "nothing"]),
        (("a b", "a  b"), ["a b (1)", "a b (2)"]),
    ]:
        things = []
        things += [Label(things, place) for place in range(1, len(names) + 1)]
        _label(things, names)
        assert [thing.label for thing in things] == expected


def test_missing_programs_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygambit", None)
    with pytest.raises(CoterieError, match="pip install pygambit"):
        Game([[0, 1], [1, 0]], "one", coalitions=2).to_normal_form().to_gambit()


def test_refusals():
    three = Game(np.zeros((3, 3)), "one", coalitions=2).to_normal_form()
    with pytest.raises(InputError, match="two players"):
        three.to_nashpy()
    with pytest.raises(TooLargeError, match="joint actions"):
        Game(np.zeros((9, 9)), "any", coalitions=9).to_normal_form()
    for payoffs, message in [
        ([[1, 2]], "at least two agents"),
        ([[[1, 2]], [[1, 2], [3, 4]]], "one axis for each agent"),
        (3, "an array for each agent"),
        ([], "an array for each agent"),
    ]:
        with pytest.raises(InputError, match=message):
            Game.from_normal_form(payoffs)
    for choices, message in [
        ([0, 0], "3 entries"),
        ([0, 0, 2], "a number up to 1"),
        ([0, 0, [0.5, 0.5, 0]], "2 probabilities"),
    ]:
        with pytest.raises(InputError, match=message):
            three.strategy(choices)
    with pytest.raises(InputError, match="not among their actions"):
        three.probabilities([[1, 1], [1, 0], [1, 0]])
