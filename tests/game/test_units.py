"""Whatever utilities are counted in, the same strategies are stable, and the same are chosen."""

import numpy as np
import pytest

import coterie
from coterie.game.dynamics import best_response_dynamics
from coterie.simulate import Simulation

FACTORS = (2.0**-40, 1e-8, 1e-12, 1.0, 1e6)


def scaled(source, factor, **options):
    game = source.game
    return coterie.Game(
        factor * game.utilities.arrays()["means"], actions=game.actions, agents=game.agents,
        coalitions=game.coalitions, **options,
    )  # fmt: skip


@pytest.mark.parametrize("factor", FACTORS)
def test_stability_does_not_depend_on_the_unit(factor):
    source = Simulation.draw(5, 3, np.random.default_rng(3), actions_per_agent=3)
    game, other = scaled(source, 1.0), scaled(source, factor)
    profiles = source.game.actions.sample(np.random.default_rng(0), 20)
    strategies = [game.strategy(profile) for profile in profiles]
    assert [other.is_nash_stable(one) for one in strategies] == [game.is_nash_stable(one) for one in strategies]
    assert 0 < len(other.stable_profiles()) == len(game.stable_profiles())
    for one in strategies[:5]:
        ours, theirs = (best_response_dynamics(play, one) for play in (game, other))
        assert (ours.strategy.actions, ours.status) == (theirs.strategy.actions, theirs.status)
    assert other.rounding <= 2e-9 * factor


def test_the_unit_is_a_power_of_two():
    def unit(value):
        return coterie.Game([[[0, value], [value, 0]]] * 2).unit

    assert [unit(value) for value in (0.6, 1.0, 1.1, -3, 0, 1e-9)] == [1, 1, 2, 4, 1, 2.0**-29]


@pytest.mark.parametrize("strategy", ["pure", "mixed"])
@pytest.mark.parametrize("factor", [1e-8, 1e-10])
def test_the_choice_does_not_depend_on_the_unit(tables, strategy, factor):
    written = tables(samples=60, n=4, k=2)
    found = []
    for scale in (1.0, factor):
        frames = written.frames()
        frames["pairs"]["utility"] = [scale * value for value in frames["pairs"]["utility"]]
        log = coterie.Log.from_frames(**frames, utility_range=(-scale, scale))
        learner = coterie.StableLearner(strategy=strategy, random_state=0).fit(log)
        found.append((learner.strategy_, learner.certificate_.gap / scale))
    (ours, gap), (theirs, other) = found
    np.testing.assert_allclose(ours.marginals, theirs.marginals, atol=1e-4)
    assert other == pytest.approx(gap, rel=1e-4)
