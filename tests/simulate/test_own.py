"""Own games, models and policies: only what is needed has to be written."""

from dataclasses import dataclass

import numpy as np
import pytest

from coterie import Game, InputError, StableLearner
from coterie.coverage import seen_by
from coterie.simulate import MODELS, Policy, Simulation, UtilityModel, check_model, log_of, utility_model

GAME = Game([[0, 0.5, -0.25], [0.5, 0, 0.25], [-0.25, 0.25, 0]], "one", agents=["a", "b", "c"], coalitions=["x", "y"])


class Together(Policy):
    """Everybody is where a coin says: no probabilities are known."""

    shape = (3, 2)

    def sample(self, seed, count):
        rooms = (
            np.random.default_rng(seed).integers(2, size=count)
            if isinstance(seed, int)
            else seed.integers(2, size=count)
        )
        return np.repeat(np.eye(2, dtype=bool)[rooms][:, None], 3, axis=1)


@dataclass(frozen=True)
class Coin(UtilityModel):
    """A pair gets 1 with its own probability, else 0."""

    probability: np.ndarray
    symmetric: bool = True
    utility_range = (0.0, 1.0)
    n_agents = 3
    n_coalitions = 2

    @property
    def means(self):
        return self.probability

    def utilities(self, noise, coalition, agent, partner, size):  # noqa: ARG002
        return (noise < self.probability[coalition, agent, partner]).astype(float)


def coin(seed=0):
    p = np.triu(np.random.default_rng(seed).random((2, 3, 3)), 1)
    return Coin(p + np.swapaxes(p, 1, 2))


def test_a_known_game_is_simulated():
    source = Simulation.from_game(GAME, 0.5, seed=1)
    assert source.model.utility_range == (-0.75, 1.0)
    check_model(source.model)
    batch = next(source.batches(400))
    mean = batch.utility[(batch.agent == 0) & (batch.partner == 1)].mean()
    assert mean == pytest.approx(0.5, abs=0.1)
    log = source.log(50)
    assert (log.agents, log.coalitions, log.n_samples) == (GAME.agents, GAME.coalitions, 50)
    learner = StableLearner().fit(log)
    assert learner.strategy_.agents == GAME.agents


def test_noise_may_be_a_function():
    def normal(rng, shape):
        return rng.normal(size=shape) / 2

    source = Simulation.from_game(GAME, normal, sigma=0.5, seed=np.random.default_rng(2))
    check_model(source.model)
    assert source.log(20, "bandit").feedback == "bandit"
    assert source.log(20).sigma == 0.5
    with pytest.raises(InputError, match="say what bounds it"):
        Simulation.from_game(GAME, normal)
    with pytest.raises(InputError, match="outside its utility range"):
        Simulation.from_game(GAME, normal, sigma=1.0, utility_range=(0, 1))
    bounded = Simulation.from_game(GAME, normal, utility_range=(-1, 1))
    with pytest.raises(InputError, match="outside"):
        bounded.log(100)


def test_tables_by_size_are_simulated():
    rng = np.random.default_rng(0)
    table = rng.uniform(-1, 1, (2, 3, 3, 4)) * ~np.eye(3, dtype=bool)[:, :, None]
    game = Game(size_table=table, actions="one", symmetric=False)
    source = Simulation.from_game(game, 0.0)
    batch = next(source.batches(50))
    sizes = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    np.testing.assert_allclose(batch.utility, table[batch.coalition, batch.agent, batch.partner, sizes])
    check_model(source.model, draws=3)


def test_a_policy_need_not_know_its_probabilities():
    source = Simulation.from_game(GAME, 0.5, Together(), seed=3)
    batch = next(source.batches(20))
    assert (batch.joined.sum(axis=1).max(axis=1) == 3).all()
    assert source.provenance["policy"] == "Together"
    with pytest.raises(InputError, match="Together does not know"):
        seen_by(Together(), GAME.agents, GAME.coalitions)
    around = Simulation.from_game(GAME, 0.5, "strategy", profile={"a": ["x"], "b": ["x"], "c": ["y"]})
    assert next(around.batches(2)).joined[:, 2, 1].all()


def test_an_own_model_is_simulated():
    model = coin()
    check_model(model)
    source = Simulation(model, Together(), model.game("one"), np.random.default_rng(0))
    log = source.log(30)
    assert log.utility_range == (0.0, 1.0)
    again = log_of(source.batches(5), source.description("bandit"), "bandit", actions="any")
    assert again.action_description == "any"


def test_rare_events_are_no_false_alarm():
    rare = Coin(np.full((2, 3, 3), 2e-4) * ~np.eye(3, dtype=bool))
    for seed in range(5):
        check_model(rare, seed)


@pytest.mark.parametrize("name", MODELS)
def test_models_keep_their_word(name):
    check_model(utility_model(name, 3, 5, 0), draws=200)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"utility_range": (0.0, 0.5)}, r"go from 0 to 1, outside its range \[0, 0.5\]"),
        ({"means": np.zeros((2, 3, 3))}, "on average in 2000 draws, and its mean is said to be 0"),
        ({"utilities": lambda *given: given[1] * (given[3] < given[4])}, "it is symmetric, and yet"),
        ({"utilities": lambda *given: given[1][:1]}, "2000 finite utilities"),
    ],
)
def test_models_that_do_not_are_refused(change, message):
    model = type("Broken", (Coin,), change)(coin().probability)
    with pytest.raises(InputError, match=f"Broken: .*{message}"):
        check_model(model)


def test_refusals():
    for arguments, message in [
        (("game",), "expected a Game"),
        ((GAME, -1), "noise: expected a number from 0 up"),
        ((GAME, "loud"), "noise: expected a finite number"),
        ((GAME, 0.5, "wander"), "unknown policy"),
    ]:
        with pytest.raises(InputError, match=message):
            Simulation.from_game(*arguments)
    lonely = Game([[0, 1], [1, 0]], "one", coalitions=2, alone=1)
    with pytest.raises(InputError, match="being alone is worth something"):
        Simulation.from_game(lonely)
    with pytest.raises(InputError, match="sigma: noise between"):
        Simulation.from_game(GAME, 0.5, sigma=1.0)
    with pytest.raises(InputError, match="at least one sample"):
        log_of([], {"agents": [], "coalitions": []}, "bandit")
    with pytest.raises(InputError, match="expected a UtilityModel"):
        check_model(GAME)


class Uneven(Policy):
    """Everybody everywhere; its shape is known when it is made."""

    def __init__(self, n, k, turned=False):
        self.shape, self.turned = (n, k), turned

    def sample(self, seed, count):  # noqa: ARG002
        n, k = self.shape
        return np.ones((count, k, n) if self.turned else (count, n, k), dtype=bool)


def test_a_policy_may_say_its_shape_when_it_is_made():
    game = Game(np.zeros((2, 3, 3)), "any")
    assert next(Simulation.from_game(game, 0.1, Uneven(3, 2)).batches(4)).joined.shape == (4, 3, 2)
    with pytest.raises(InputError, match=r"Uneven.sample returned an array of shape \(4, 2, 3\), expected \(4, 3, 2\)"):
        next(Simulation.from_game(game, 0.1, Uneven(3, 2, turned=True)).batches(4))

    class Shapeless(Uneven):
        def __init__(self):
            pass

    with pytest.raises(InputError, match="Shapeless needs a shape"):
        Simulation.from_game(game, 0.1, Shapeless())


def test_batches_need_a_description():
    game = Game(np.zeros((2, 3, 3)), "any")
    source = Simulation.from_game(game, 0.1, Uneven(3, 2))
    about = {"agents": game.agents, "coalitions": game.coalitions, "symmetric": True, "utility_range": (-1, 1)}
    assert len(log_of(source.batches(5), about, "semi-bandit")) == 5
    for name in ("agents", "coalitions"):
        rest = {key: value for key, value in about.items() if key != name}
        with pytest.raises(InputError, match=f"description: '{name}' is missing"):
            log_of(source.batches(5), rest, "semi-bandit")
