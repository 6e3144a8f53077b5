"""Hostile games: utilities have the means that the game says, at every size."""

import numpy as np
import pytest

from coterie import Strategy, any_subset, exactly_one
from coterie.simulate import Simulation, exploration_policy, hostile
from coterie.simulate.hostile import Crowding, Signs
from coterie.statistics.in_memory import Batch

SIGNS = [
    hostile.signs, hostile.plateau, hostile.one_sided, hostile.rare_jackpot, hostile.pooled, hostile.crowding,
    hostile.anonymous_crowding, hostile.pooled_crowding,
]  # fmt: skip
MODELS = [
    *SIGNS, hostile.gaussian, hostile.size_gaussian, hostile.unbounded, hostile.narrow, hostile.scaled,
    hostile.two_point, hostile.rare_loss, hostile.ratings, hostile.ties, hostile.chasing,
]  # fmt: skip


@pytest.mark.parametrize("draw", SIGNS, ids=lambda draw: draw.__name__)
def test_signs_have_their_means_at_every_size(draw):
    model = draw(np.random.default_rng(0), 4, 3)
    assert isinstance(model, Signs)
    steps = 2000
    noise = (np.arange(steps) + 0.5) / steps
    shift = model.size_shift if isinstance(model, Crowding) else np.zeros((3, 5))
    for l, i, j, size in [(0, 0, 1, 2), (1, 2, 3, 3), (2, 3, 0, 4)]:
        where = (np.full(steps, value) for value in (l, i, j, size))
        values = model.utilities(noise, *where)
        assert set(values) <= {-1.0, 1.0}
        assert values.mean() == pytest.approx(model.means[l, i, j] + shift[l, size], abs=2 / steps)


@pytest.mark.parametrize("draw", MODELS, ids=lambda draw: draw.__name__)
def test_every_model_makes_logs_of_its_game(draw):
    rng = np.random.default_rng(1)
    model = draw(rng, 3, 2)
    game = model.game(any_subset(2))
    source = Simulation(model, exploration_policy("random", game.actions, None), game, rng)
    (batch,) = source.batches(20)
    assert len(batch.utility)
    assert np.abs(batch.utility).max() <= model.utility_range[1] or model.sigma == 1


def test_crowding_falls_with_size():
    model = hostile.crowding(np.random.default_rng(0), 5, 2)
    assert (np.diff(model.size_shift[:, 2:], axis=1) < 0).all()


def test_pooled_models_are_the_same_in_every_coalition():
    for draw in (hostile.pooled, hostile.pooled_crowding):
        means = draw(np.random.default_rng(0), 4, 3).means
        assert (means == means[0]).all()


@pytest.mark.parametrize(
    "draw", [hostile.two_point, hostile.rare_loss, hostile.ratings], ids=lambda draw: draw.__name__
)
def test_discrete_utilities_have_their_means(draw):
    model = draw(np.random.default_rng(0), 4, 3)
    steps = 2000
    noise = (np.arange(steps) + 0.5) / steps
    for l, i, j in [(0, 0, 1), (1, 2, 3), (2, 1, 3)]:
        values = model.utilities(noise, *(np.full(steps, value) for value in (l, i, j, 2)))
        assert values.mean() == pytest.approx(model.means[l, i, j], abs=4 / steps)
        assert model.means[l, i, j] == model.means[l, j, i]
    assert (model.means[:, range(4), range(4)] == 0).all()


def test_rare_losses_turn_the_order():
    """Risky pairs look better as long as nothing happens, and are worse."""
    model = hostile.rare_loss(np.random.default_rng(0), 6, 3)
    risky = model.chance < 1
    assert set(np.unique(model.chance)) == {0.999, 1.0}
    for usual in (-0.1, 0.1):
        same = np.abs(model.high - usual) < 0.01
        assert model.high[same & risky].min() > usual > model.means[same & risky].max()


def test_ties_leave_gaps_of_a_few_epsilon_by_many_moves():
    game = hostile.ties(np.random.default_rng(0), 6, 3).game(exactly_one(3))
    together = game.strategy({agent: [game.coalitions[0]] for agent in game.agents})
    rooms = game.room_values(together)
    assert game.gap(together) == pytest.approx(5 * hostile.EPSILON, rel=0.01)
    assert np.unique(rooms[:, 1:] - rooms[:, :1]).size == 1


@pytest.mark.parametrize("n", [3, 6])
def test_nobody_rests_who_chases_in_circles(n):
    game = hostile.chasing(np.random.default_rng(0), n, 3).game(exactly_one(3))
    gaps = [game.gap(Strategy.pure(sets)) for block in game.actions.joint_actions() for sets in block]
    assert len(gaps) == 3**n
    assert min(gaps) > 0.1


def test_popular_sets_are_played_most():
    game = hostile.signs(np.random.default_rng(0), 4, 3).game(exactly_one(3))
    assert np.allclose(hostile.popular(game).marginals, np.array([36, 9, 4]) / 49)


def test_who_is_greedy_repeats_what_paid():
    game = hostile.signs(np.random.default_rng(0), 2, 2).game(exactly_one(2))
    joined = np.array([[[1, 0], [1, 0]], [[0, 1], [0, 1]]], dtype=bool)
    seen = Batch(
        1, joined, np.array([0, 1]), np.array([0, 1]), np.array([0, 0]), np.array([1, 1]), np.array([-1.0, 1.0]), True
    )
    assert np.allclose(hostile.greedy(game, seen).marginals, [[0.1, 0.9], [0.1, 0.9]])


def test_missing_rows_are_at_random_or_bad():
    rng = np.random.default_rng(0)
    model = hostile.ratings(rng, 4, 2)
    game = model.game(any_subset(2))
    (batch,) = Simulation(model, exploration_policy("random", game.actions, None), game, rng).batches(2000)
    at_random, bad = hostile.absent(rng, batch), hostile.hushed_up(rng, batch)
    assert abs(at_random[batch.utility < 0].mean() - at_random[batch.utility >= 0].mean()) < 0.05
    assert not bad[batch.utility >= 0].any()
    assert 0.1 < bad[batch.utility < 0].mean() < 0.3
    left = hostile.without(batch, bad)
    assert len(left.utility) == (~bad).sum() == len(left.partner)
    assert left.joined is batch.joined


FROM_CELLS = [hostile.signs, hostile.two_point, hostile.rare_loss, hostile.plateau, hostile.gaussian]


@pytest.mark.parametrize("draw", FROM_CELLS, ids=lambda draw: draw.__name__)
def test_other_kinds_of_the_same_game(draw):
    """The same in every coalition; or other numbers for either agent of a pair, each from a draw of its own."""
    alike = hostile.alike_everywhere(draw, np.random.default_rng(0), 4, 3)
    assert alike.symmetric
    assert (alike.n_agents, alike.n_coalitions) == (4, 3)
    assert np.array_equal(alike.means, np.repeat(draw(np.random.default_rng(0), 4, 1).means, 3, axis=0))
    either, rng = hostile.from_either_side(draw, np.random.default_rng(0), 4, 3), np.random.default_rng(0)
    one, two = draw(rng, 4, 3), draw(rng, 4, 3)
    assert not either.symmetric
    upper = np.triu(np.ones((4, 4), dtype=bool), 1)
    assert np.array_equal(either.means[:, upper], one.means[:, upper])
    assert np.array_equal(either.means[:, upper.T], two.means[:, upper.T])
