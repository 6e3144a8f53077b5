"""The largest value under rules against a look at every joint action."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Game, InputError, Rules, TooLargeError
from coterie.game.admissible import Admissible
from coterie.solve import columns
from coterie.solve.columns import largest_value
from coterie.solve.control import Control
from random_games import drawn_games
from random_rules import random_rules


@settings(max_examples=120, deadline=None)
@given(
    drawn_games(),
    st.sampled_from(["total", "average"]),
    st.sampled_from(["value", "fairness"]),
    st.integers(0, 2**32 - 1),
)
def test_value_is_the_largest_of_all(drawn, value, aim, seed):
    rng, game = np.random.default_rng(seed), drawn.game.valued(value)
    n, k = game.n_agents, game.n_coalitions
    rules = random_rules(rng, n, k, 0.2, moves=True)
    admissible = Admissible.of(rules, game.agents, game.coalitions, today=rng.random((n, k)) < 0.4)
    largest = rng.integers(0, n + 1, k) if rng.random() < 0.2 else None
    every = [
        profile
        for block in admissible.spaces(game.actions).joint_actions()
        for profile in block
        if admissible.holds(profile) and (largest is None or (profile.sum(axis=0) <= largest).all())
    ]
    if not every:
        with pytest.raises(InputError, match=r"these contradict each other|no assignment keeps all rules"):
            largest_value(game, admissible, aim, largest=largest)
        return

    def worth(profile):
        values = game.values(profile)
        return values.sum() if aim == "value" else values[admissible.staff].min()

    found = largest_value(game, admissible, aim, largest=largest)
    best = max(worth(profile) for profile in every)
    assert found.is_optimal
    assert admissible.holds(found.profile)
    assert admissible.spaces(game.actions).contains(found.profile).all()
    assert largest is None or (found.profile.sum(axis=0) <= largest).all()
    assert found.value == pytest.approx(worth(found.profile), abs=1e-9)
    assert found.value == pytest.approx(best, abs=2e-5)
    assert found.bound >= best - 1e-6


def random_game(n, k, actions="one", seed=0, **options):
    means = np.random.default_rng(seed).normal(0.2, 0.5, (k, n, n)) * (1 - np.eye(n))
    return Game(means, actions, symmetric=False, **options)


def test_two_pairs_who_like_each_other():
    means = np.zeros((4, 4))
    means[0, 1] = means[1, 0] = means[2, 3] = means[3, 2] = 1.0
    game = Game(means, "one", agents=["Ada", "Bo", "Cy", "Di"], coalitions=2)
    rules = Rules(team_size=2, apart=["Ada,Bo"])
    best = largest_value(game, Admissible.of(Rules(team_size=2), game.agents, game.coalitions))
    assert best.value == pytest.approx(4.0)
    assert best.bound == pytest.approx(4.0)
    assert largest_value(game, Admissible.of(rules, game.agents, game.coalitions)).value == pytest.approx(0.0)


def test_relaxing_is_not_enough():
    # Three people, every two of whom like each other, in teams of at most two: the relaxation is worth 3, a team 2.
    game = Game(np.ones((3, 3)) - np.eye(3), "one", coalitions=3)
    best = largest_value(game, Admissible.of(Rules(team_size=":2"), game.agents, game.coalitions))
    assert best.value == pytest.approx(2.0)
    assert best.is_optimal


def test_refusals_and_early_ends():
    game = random_game(12, 3)
    free = Admissible.of(Rules(), game.agents, game.coalitions)
    with pytest.raises(TooLargeError, match=r"1\.23e\+04 teams that rules about sizes allow; at most 1,000 are taken"):
        largest_value(game, free, limit=1000)
    with pytest.raises(InputError, match="aim: expected"):
        largest_value(game, free, "potential")
    for aim in ("value", "fairness"):
        stopped = largest_value(game, free, aim, Control(0, stop=lambda: True))
        assert stopped.status == "interrupted"
        assert stopped.bound >= stopped.value
        assert not stopped.is_optimal
    short = largest_value(game, free, "value", Control(0, 1e-6))
    assert short.status == "time"


@pytest.mark.slow
def test_twelve_people_in_three_teams_of_average_value():
    game = random_game(12, 3, value="average")
    admissible = Admissible.of(Rules(team_size="3:5"), game.agents, game.coalitions)
    best = largest_value(game, admissible)
    assert best.is_optimal
    assert best.bound == pytest.approx(best.value, abs=1e-4)
    fair = largest_value(game, admissible, "fairness")
    assert game.values(fair.profile).min() >= game.values(best.profile).min()
    assert fair.is_optimal


def test_an_interruption_of_the_rough_search_ends_the_other(monkeypatch):
    runs = []

    def run(self, control):
        runs.append(control)
        raise KeyboardInterrupt

    monkeypatch.setattr(columns._Search, "run", run)
    game = Game(np.ones((2, 4, 4)) - np.eye(4), "up-to:2")
    admissible = Admissible.of(Rules(), game.agents, game.coalitions)
    assert columns.largest_value(game, admissible, "fairness").status == "interrupted"
    assert len(runs) == 1
