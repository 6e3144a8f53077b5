"""Hard instances: what a log shows of them, what it covers, and how large the worst-case gap must be."""

import dataclasses

import numpy as np
import pytest

from coterie import Game, InputError, Strategy, TooLargeError
from coterie.simulate.policies import Independent, Policy, UniformOver
from coterie.theory import (
    HARD_INSTANCES,
    correlated_worst_case_gap,
    mean_feedback,
    mixed_effects,
    prove_worst_case_gap,
    telling_joint_action,
    theorem_4_as_printed,
    theorem_4_repaired,
    worst_case_gap,
)

INSTANCES = {name: construct() for name, construct in HARD_INSTANCES.items()}
PAIRS = {name: instance for name, instance in INSTANCES.items() if len(instance.games) == 2}


@pytest.mark.parametrize("name", INSTANCES)
def test_instance_is_named_frozen_and_within_the_utility_range(name):
    instance = INSTANCES[name]
    assert instance.name == name
    assert instance.source
    assert instance.statement
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.name = "other"
    for game in instance.games:
        feedback = mean_feedback(game, instance.policy.explored(), "semi-bandit")
        assert np.abs(feedback).max() + instance.noise <= 1


@pytest.mark.parametrize("name", INSTANCES)
def test_policy_plays_allowed_joint_actions_only(name):
    instance = INSTANCES[name]
    for joint_action in instance.policy.explored():
        assert instance.games[0].actions.contains(joint_action).all()


@pytest.mark.parametrize("name", PAIRS)
def test_games_look_the_same_but_are_not(name):
    instance = PAIRS[name]
    assert telling_joint_action(instance.games, instance.policy, instance.feedback) is None
    everything = Independent(instance.games[0].actions)
    told = telling_joint_action(instance.games, everything, instance.feedback)
    assert told is not None
    seen = [mean_feedback(game, told.sets[None], instance.feedback) for game in instance.games]
    assert not np.allclose(*seen)


def test_semi_bandit_feedback_identifies_the_games_of_theorem_4():
    for instance in (theorem_4_as_printed(), theorem_4_repaired()):
        assert telling_joint_action(instance.games, instance.policy, "semi-bandit") is not None


@pytest.mark.parametrize("name", INSTANCES)
def test_totals_are_the_values_of_the_pure_strategy(name):
    instance = INSTANCES[name]
    game = instance.games[-1]
    explored = instance.policy.explored()[::5]
    totals = mean_feedback(game, explored, "bandit")
    values = [game.values(Strategy.pure(row)) for row in explored]
    np.testing.assert_allclose(totals, values, atol=1e-12)


def test_policy_of_another_kind_is_refused():
    class Other(Policy):
        shape = (1, 1)

        def sample(self, rng, count):
            raise NotImplementedError

        size_probabilities = meeting_probabilities = sample

    with pytest.raises(InputError, match="Other"):
        Other().explored()


@pytest.mark.parametrize(
    ("name", "target"),
    [("theorem-2", 1 / 2), ("theorem-4-repaired", 0.42), ("pair-coverage", (23 - 17**0.5) / 64)],
)
def test_worst_case_gap_is_proved_and_not_beaten_by_random_strategies(name, target):
    instance = INSTANCES[name]
    assert prove_worst_case_gap(instance.games, target).holds
    rng = np.random.default_rng(1)
    spaces = instance.games[0].actions.spaces
    for concentration in np.repeat([0.1, 1.0], 100):
        supports = [(s := space.enumerate(), rng.dirichlet(np.full(len(s), concentration))) for space in spaces]
        assert worst_case_gap(instance.games, Strategy.mixed(supports)) >= instance.worst_case_gap - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_too_large_a_target_is_refuted_with_a_witness(name):
    instance = PAIRS[name]
    target = instance.worst_case_gap + 0.05
    proof = prove_worst_case_gap(instance.games, target)
    assert not proof.holds
    assert instance.worst_case_gap - 1e-9 <= worst_case_gap(instance.games, proof.witness) < target


@pytest.mark.parametrize("name", PAIRS)
def test_correlated_gap_is_as_stated_and_no_larger(name):
    instance = PAIRS[name]
    assert correlated_worst_case_gap(instance.games) == pytest.approx(instance.correlated_gap, abs=1e-9)
    assert instance.correlated_gap <= instance.worst_case_gap


def test_a_single_game_has_no_positive_bound():
    (game,) = INSTANCES["uniform-not-stable"].games
    assert correlated_worst_case_gap([game]) == 0
    assert not prove_worst_case_gap([game], 0.01).holds


def test_undecided_proof_says_so():
    with pytest.raises(TooLargeError, match="undecided after"):
        prove_worst_case_gap(theorem_4_repaired().games, 7 / 16, max_cells=1000)


def test_games_that_do_not_fit_together_are_refused():
    one, any_ = Game(np.zeros((2, 2, 2)), "one"), Game(np.zeros((2, 2, 2)), "any")
    with pytest.raises(InputError, match="same number of actions"):
        prove_worst_case_gap([one, any_], 0.1)
    other = Game(np.zeros((2, 2, 2)), [["1"], ["1", "2"]])
    with pytest.raises(InputError, match="differ"):
        prove_worst_case_gap([one, other], 0.1)


def test_mixed_effects_grows_with_the_number_of_agents():
    assert mixed_effects(5).games[0].n_agents == 5


def test_policy_of_theorem_4_is_the_printed_one():
    policy = theorem_4_as_printed().policy
    assert isinstance(policy, UniformOver)
    assert len(np.unique(policy.joint_actions, axis=0)) == 10


def test_an_instance_needs_two_agents():
    with pytest.raises(InputError, match="n_agents: expected at least 2, got 0"):
        mixed_effects(0)
