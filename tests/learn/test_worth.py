"""What a strategy is worth, with an interval: mixed ones against the truth, and against what is pure."""

import numpy as np
import pandas as pd
import pytest

from coterie import Game, InputError, Log, StableLearner, Strategy
from coterie.learn.worth import worth
from coterie.simulate import Simulation
from coterie.statistics import pair_statistics

RNG = np.random.default_rng(5)
MEANS = RNG.uniform(-0.5, 0.5, (2, 4, 4))
MEANS = (MEANS + np.swapaxes(MEANS, 1, 2)) * ~np.eye(4, dtype=bool) / 2
GAME = Game(MEANS, "one", agents=["ada", "bob", "cyd", "dan"], coalitions=["red", "blue"])
MIXED = {
    "ada": [{"coalitions": ["red"], "probability": 0.3}, {"coalitions": ["blue"], "probability": 0.7}],
    "bob": ["red"],
    "cyd": [{"coalitions": ["red"], "probability": 0.5}, {"coalitions": ["blue"], "probability": 0.5}],
    "dan": ["blue"],
}


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_mixed_strategies_lie_within(value, noise):
    strategy = GAME.strategy(MIXED)
    true = GAME.valued(value).values(strategy)
    broken = 0
    for seed in range(20):
        log = Simulation.from_game(GAME, 0.5, seed=seed).log(400)
        found = worth(log, strategy, delta=0.5, value=value, noise=noise)
        people = np.array([[one.low, one.high] for one in found.people.values()])
        broken += bool((true < people[:, 0]).any() or (true > people[:, 1]).any())
        assert found.everybody.low == pytest.approx(people[:, 0].sum())
        assert found.everybody.low <= found.everybody.estimate <= found.everybody.high
        assert found.everybody.high - found.everybody.low < 4
    assert broken <= 10


def test_a_mixture_of_one_is_no_tighter_than_pure():
    """Intervals for every mean at once hold for all mixtures; those of pure strategies are about their own sums."""
    log = Simulation.from_game(GAME, 0.5, seed=0).log(400)
    pure = GAME.strategy({"ada": ["red"], "bob": ["red"], "cyd": ["blue"], "dan": ["blue"]})
    nearly = {
        name: [{"coalitions": list(sets), "probability": 1 - 1e-9}, {"coalitions": [other], "probability": 1e-9}]
        for (name, sets), other in zip(pure.actions.items(), ("blue", "blue", "red", "red"), strict=True)
    }
    one, other = worth(log, pure), worth(log, nearly)
    assert other.everybody.estimate == pytest.approx(one.everybody.estimate, abs=1e-6)
    assert other.everybody.expected == pytest.approx(one.everybody.expected, abs=1e-6)


def test_nobody_seen_is_the_range():
    log = Simulation.from_game(GAME, 0.5, seed=0).log(1, utility_range=(-1, 1))
    found = worth(log, MIXED).everybody
    assert found.low >= -1 * 4 * 3
    assert found.high <= 4 * 3
    assert found.low < 0 < found.high


def test_mixtures_of_totals_are_refused():
    log = Simulation.from_game(GAME, 0.5, seed=0).log(40, "bandit")
    learner = StableLearner().fit(log)
    assert isinstance(learner.strategy_, Strategy)
    with pytest.raises(InputError, match="of totals, what is valued here is pure"):
        learner.worth(MIXED)


def test_mixtures_where_not_all_pairs_can_be_bounded_are_refused(monkeypatch):
    """Pairs that never met lie in the range: where there is none, or they are not listed, nothing can be said."""
    frame = {"sample": ["1", "2"], "coalition": ["red"] * 2, "agent": ["ada"] * 2, "partner": ["bob", "cyd"]}
    half = [{"coalitions": ["red"], "probability": 0.5}, {"coalitions": ["blue"], "probability": 0.5}]
    mixed = {"ada": half, "bob": ["red"], "cyd": ["red"]}
    options = {"coalitions": ["red", "blue"], "actions": "one"}
    pairs = pd.DataFrame({**frame, "utility": [0.5, 0.25]})
    found = worth(Log.from_frames(pairs=pairs, **options), mixed).people["bob"]
    assert found.low <= -1  # bob and cyd never met
    assert found.high >= 1
    with pytest.raises(InputError, match="within a range \\(utility_range declares one\\)"):
        worth(Log.from_frames(pairs=pairs, sigma=1.0, **options), mixed)
    monkeypatch.setattr(pair_statistics, "DENSE_AGENTS", 1)
    with pytest.raises(InputError, match="few enough for all pairs to be listed"):
        worth(Log.from_frames(pairs=pairs, **options), mixed)
