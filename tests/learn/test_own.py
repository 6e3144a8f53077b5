"""Own solvers, guesses and certificates in place of the learner's."""

import numpy as np
import pytest

import coterie
from coterie import Game, InputError, StableLearner
from coterie.certificates.paired import paired
from coterie.certificates.total_evidence import TotalEvidence
from coterie.learn.own import Own
from coterie.simulate import Simulation

MEANS = np.array([[0, 0.5, -0.5, 0.1], [0.5, 0, 0.2, -0.4], [-0.5, 0.2, 0, 0.6], [0.1, -0.4, 0.6, 0]])
GAME = Game(MEANS, "one", agents=list("abcd"), coalitions=["x", "y"])
TEAMS = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"]}
ALL = dict.fromkeys("abcd", ("x",))


@pytest.fixture(scope="module")
def log():
    return Simulation.from_game(GAME, 0.4, seed=1).log(60)


def test_an_own_solver_decides_what_is_looked_at(log):
    asked = []

    def mine(problem):
        asked.append(problem)
        assert problem.allows(TEAMS)
        assert problem.score(TEAMS) == pytest.approx(problem.game.values(TEAMS).mean())
        assert problem.seconds is None
        assert problem.rng.random() < 1
        return TEAMS

    learner = StableLearner(solver=mine, noise="pairs").fit(log)
    assert learner.strategy_ == GAME.strategy(TEAMS)
    assert len(asked) == 2  # the samples that learn, and the whole log
    assert learner.result_.solver.method == "mine"
    assert learner.result_.parameters["solver"] == "mine"
    # The promise is the one that this strategy has anyway.
    assert learner.result_.certificates["paired"] == coterie.certify(log, TEAMS, noise="pairs").certificate.gap
    again = coterie.Result.from_json(learner.result_.to_json())
    assert again.strategy == learner.strategy_


def test_an_own_solver_may_bring_several(log):
    def best_of_all(problem):
        every = [profile for block in problem.game.actions.joint_actions() for profile in block]
        return sorted(every, key=problem.score)[-3:]

    learner = StableLearner(solver=best_of_all).fit(log)
    plain = StableLearner().fit(log)
    assert learner.strategy_.partition() == plain.strategy_.partition()


def test_an_own_guess_decides_what_is_expected(log):
    seen = []

    def upside_down(moments):
        seen.append(moments.count.shape)
        return np.where(moments.count > 0, -moments.mean, 0.0)

    learner = StableLearner(guess=upside_down, any_size=True).fit(log)
    assert seen
    # Those who get on best are kept apart.
    assert GAME.welfare(learner.strategy_) < 0
    assert learner.result_.parameters["guess"] == "upside_down"


def test_an_own_certificate_is_the_promise(log):
    def doubled(question):
        assert question.statistics.n_samples == 60
        assert question.game.gap(question.strategy) >= 0
        return 2 * paired(question.evidence, question.strategy, question.against.own_spaces, question.delta).gap

    learner = StableLearner(certificate=doubled, delta=0.1, noise="pairs").fit(log)
    known = coterie.certify(log, learner.strategy_, delta=0.1, noise="pairs")
    assert learner.certificate_.method == "doubled"
    assert learner.certificate_.gap == pytest.approx(2 * known.certificate.gap)
    assert learner.certificate_.delta == 0.1
    assert set(learner.certificate_.per_agent.values()) == {learner.certificate_.gap}
    witness = learner.certificate_.worst
    assert witness.bound == pytest.approx(learner.certificate_.gap)
    assert set(learner.certificate_.alternatives) == set("abcd")
    assert "has no other choice" not in str(learner.explain("a"))
    assert learner.result_.certificates["own"] == learner.certificate_.gap
    assert learner.result_.certificates["holdout"] is None
    assert coterie.Result.from_json(learner.result_.to_json()).certificate.gap == learner.certificate_.gap

    def whole(question):
        return paired(question.evidence, question.strategy, question.against.own_spaces, question.delta)

    assert StableLearner(certificate=whole).fit(log).certificate_.worst is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": lambda _: []}, "it returned no strategy"),
        ({"solver": lambda _: ALL, "rules": {"team_size": {"*": {"max": 3}}}}, "it breaks: team size of x"),
        ({"solver": lambda _: np.ones((4, 2))}, "somebody may not do that"),
        ({"solver": lambda problem: problem.game.uniform()}, "got a mixed one"),
        ({"solver": lambda _: 3}, "strategy: expected a Strategy"),
        ({"guess": lambda _: 0.0}, "guess <lambda>: expected shape"),
        ({"guess": 3}, "guess: expected a function"),
        ({"certificate": lambda _: -1}, "certificate <lambda>: expected a number from 0 up"),
        ({"certificate": lambda _: "much"}, "certificate <lambda>: expected a finite number"),
        ({"solver": lambda _: TEAMS, "strategy": "mixed"}, "about pure strategies"),
        ({"solver": 3}, "solver: expected"),
    ],
)
def test_refusals(log, options, message):
    with pytest.raises(InputError, match=message):
        StableLearner(**options).fit(log)


def test_guesses_are_about_pairs():
    with pytest.raises(InputError, match="own guesses are about logs of pairs"):
        Own(guess=lambda moments: moments.mean).beliefs(object.__new__(TotalEvidence))


def test_scikit_learn_may_clone_it():
    from sklearn.base import clone

    learner = StableLearner(solver=len, guess=abs, certificate=max)
    again = clone(learner)
    assert (again.solver, again.guess, again.certificate) == (len, abs, max)
    assert "solver=<built-in function len>" in repr(learner)
