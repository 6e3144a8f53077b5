"""Hostile games: utilities have the means that the game says, at every size."""

import numpy as np
import pytest

from coterie import any_subset
from coterie.simulate import Simulation, exploration_policy, hostile
from coterie.simulate.hostile import Crowding, Signs

SIGNS = [
    hostile.signs, hostile.plateau, hostile.one_sided, hostile.rare_jackpot, hostile.pooled, hostile.crowding,
    hostile.anonymous_crowding, hostile.pooled_crowding,
]  # fmt: skip
MODELS = [*SIGNS, hostile.gaussian, hostile.size_gaussian, hostile.unbounded, hostile.narrow, hostile.scaled]


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
    assert np.abs(batch.utility).max() <= 1 or model.sigma == 1


def test_crowding_falls_with_size():
    model = hostile.crowding(np.random.default_rng(0), 5, 2)
    assert (np.diff(model.size_shift[:, 2:], axis=1) < 0).all()


def test_pooled_models_are_the_same_in_every_coalition():
    for draw in (hostile.pooled, hostile.pooled_crowding):
        means = draw(np.random.default_rng(0), 4, 3).means
        assert (means == means[0]).all()
