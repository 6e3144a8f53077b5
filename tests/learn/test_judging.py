"""Scores, cross-validation, the estimated game, draws, and what any strategy is worth."""

import numpy as np
import pytest

import coterie
from coterie import Game, InputError, NotFittedError, StableLearner
from coterie.files import to_json
from coterie.learn.worth import worth
from coterie.simulate import Simulation

MEANS = np.array([[0, 0.5, -0.5, 0.1], [0.5, 0, 0.2, -0.4], [-0.5, 0.2, 0, 0.6], [0.1, -0.4, 0.6, 0]])
GAME = Game(MEANS, "one", agents=list("abcd"), coalitions=["x", "y"])
TEAMS = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"]}


@pytest.fixture(scope="module")
def log():
    return Simulation.from_game(GAME, 0.4, seed=1).log(300)


@pytest.fixture(scope="module")
def learner(log):
    return StableLearner(noise="pairs").fit(log)


def test_the_estimated_game_is_near_the_truth(learner):
    assert learner.game_.agents == GAME.agents
    for l in range(2):
        np.testing.assert_allclose(learner.game_.utilities.means.matrix(l), MEANS, atol=0.15)
    with pytest.raises(NotFittedError):
        _ = StableLearner().game_


def test_any_strategy_has_a_worth(learner, log):
    for profile in GAME.actions.sample(0, 5):
        truth = GAME.values(profile)
        found = learner.worth(profile)
        assert found.everybody.low <= truth.sum() <= found.everybody.high
        for agent, own in zip(GAME.agents, truth, strict=True):
            assert found.people[agent].low <= own <= found.people[agent].high
    compared = coterie.compare(log, TEAMS, TEAMS, noise="pairs")
    assert learner.worth(TEAMS).everybody == compared.one.value
    assert learner.worth() == learner.worth(learner.strategy_)
    assert "expected" in str(worth(log, TEAMS, delta=0.1))
    uniform = learner.worth(GAME.uniform())
    assert uniform.everybody.low <= GAME.values(GAME.uniform()).sum() <= uniform.everybody.high


def test_draws_are_arrays(learner):
    drawn = learner.draws(50)
    assert drawn["gap"].shape == (50,)
    assert drawn["value"].shape == (50, 4)
    assert (drawn["gap"] >= 0).all()
    # Draws lie around what is expected, and differ.
    expected = learner.game_.values(learner.strategy_)
    np.testing.assert_allclose(drawn["value"].mean(axis=0), expected, atol=0.15)
    assert drawn["value"].std(axis=0).min() > 0
    np.testing.assert_array_equal(learner.draws(5, TEAMS, seed=2)["gap"], learner.draws(5, TEAMS, seed=2)["gap"])
    guessed = StableLearner(guess=lambda moments: moments.mean)
    guessed.__dict__.update({name: learner.__dict__[name] for name in ("statistics_", "strategy_", "result_")})
    with pytest.raises(InputError, match="nothing can be drawn"):
        guessed.draws()


def test_better_strategies_score_better(log):
    train, test = log.split((0.75, 0.25))
    learner = StableLearner(noise="pairs").fit(train)
    good = learner.score(test)
    assert good == pytest.approx(GAME.values(learner.strategy_).mean(), abs=0.15)
    learner.strategy_ = GAME.strategy({"a": ["x"], "c": ["x"], "b": ["y"], "d": ["y"]})
    assert learner.score(test) < good
    assert learner.set_params(goal="fairness").score(test) < -0.3
    assert learner.set_params(goal="stability").score(test) < -0.5
    with pytest.raises(InputError, match="samples that were learnt from"):
        learner.score(train)
    elsewhere = Simulation.from_game(GAME, 0.4, seed=9).log(50)  # samples of the same names, and others
    assert learner.score(elsewhere) < 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stability": []}, r"result.json: stability: expected \"nash\""),
        ({"stability": "soon"}, "got 'soon'"),
        ({"value": {}}, "value: expected"),
        ({"data": {"marks": 5}}, "data.marks: expected a list, got 5"),
    ],
)
def test_results_that_were_changed_by_hand_are_refused(learner, log, tmp_path, change, message):
    content = learner.result_.to_json()
    (tmp_path / "result.json").write_text(to_json(content | change))
    with pytest.raises(InputError, match=message):
        coterie.certify(log, tmp_path / "result.json", certificate="holdout", fresh=True)


@pytest.mark.slow
def test_scikit_learn_divides_a_log_by_samples(log):
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

    learner, some = StableLearner(noise="pairs"), log[:120]
    scores = cross_val_score(learner, some, cv=KFold(2, shuffle=True, random_state=0))
    assert scores.shape == (2,)
    assert scores.min() > 0.2
    search = GridSearchCV(learner, {"delta": [0.1]}, cv=2).fit(some)
    assert search.best_estimator_.strategy_.agents == GAME.agents
