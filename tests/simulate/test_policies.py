"""Exploration policies: exact coverage equals enumeration, and draws follow it."""

from itertools import product

import numpy as np
import pytest

from coterie.errors import InputError
from coterie.game.actions import ActionSpaces, ExplicitSets, UpTo, any_subset, exactly_one
from coterie.game.strategy import Strategy
from coterie.simulate.policies import (
    POLICIES,
    Deviations,
    FirstExplores,
    FromStrategy,
    Independent,
    Toggles,
    UniformOver,
    exploration_policy,
)

SETS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
SPACES = ActionSpaces((ExplicitSets(SETS), UpTo(3, 2), exactly_one(3, may_stay_out=True), any_subset(3)))
PROFILE = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)


def all_joint_actions():
    return np.concatenate(list(SPACES.joint_actions()))


def support_of(name):
    """List every joint action with its probability, straight from the definition."""
    joint = all_joint_actions()
    differs = (joint != PROFILE).any(axis=2)
    if name == "random":
        return joint, np.full(len(joint), 1 / len(joint))
    if name in {"1rand", "coalition-size"}:
        second = np.array([space.enumerate()[1] for space in SPACES.spaces])
        kept = (joint[:, 1:] == second[1:]).all(axis=(1, 2))
    elif name == "deviations":
        kept = differs.sum(axis=1) <= 1
    elif name == "toggles":
        kept = (joint != PROFILE).sum(axis=(1, 2)) <= 1
    else:
        kept = ~differs.any(axis=1)
    return joint[kept], np.full(int(kept.sum()), 1 / kept.sum())


@pytest.mark.parametrize("name", POLICIES)
def test_coverage_equals_enumeration(name):
    policy = exploration_policy(name, SPACES, Strategy.pure(PROFILE))
    joint, weights = support_of(name)
    sizes = joint.sum(axis=1)
    expected_sizes = np.einsum("b,bls->ls", weights, sizes[:, :, None] == np.arange(5))
    assert np.allclose(policy.size_probabilities(), expected_sizes, atol=1e-12)
    assert np.array_equal(policy.size_probabilities() > 1e-12, expected_sizes > 1e-12)
    joined = joint.astype(float)
    expected_meetings = np.einsum("b,bil,bjl->lij", weights, joined, joined)
    assert np.allclose(policy.meeting_probabilities(), expected_meetings, atol=1e-12)


@pytest.mark.parametrize("name", POLICIES)
def test_draws_are_uniform_over_the_support(name):
    policy = exploration_policy(name, SPACES, Strategy.pure(PROFILE))
    joint, weights = support_of(name)
    count = 20_000
    drawn = policy.sample(np.random.default_rng(5), count)
    keys = {row.tobytes(): index for index, row in enumerate(joint)}
    seen = np.bincount([keys[row.tobytes()] for row in drawn], minlength=len(joint))
    spread = np.sqrt(count * weights * (1 - weights))
    assert (np.abs(seen - count * weights) <= 5 * spread + 1e-9).all()


def test_deviations_in_a_huge_space():
    spaces = ActionSpaces((*[any_subset(200)] * 3, ExplicitSets(np.eye(200, dtype=bool)[:4])))
    profile = np.zeros((4, 200), dtype=bool)
    profile[:, 0] = True
    policy = Deviations(spaces, profile)
    drawn = policy.sample(np.random.default_rng(0), 500)
    assert ((drawn != profile).any(axis=2).sum(axis=1) == 1).all()
    sizes = policy.size_probabilities()
    assert np.allclose(sizes.sum(axis=1), 1)
    assert sizes[0, 4] == pytest.approx(0.5)  # somebody moves, and half of all sets hold coalition 1
    assert 0 < policy.unmoved < 1e-59
    toggles = Toggles(spaces, profile)
    assert toggles.allowed[:3].sum() == 3 * 199  # leaving the only coalition would be the empty set
    assert not toggles.allowed[3].any()  # two coalitions at once are not among their actions
    assert np.allclose(toggles.size_probabilities().sum(axis=1), 1)


def test_toggles_count_of_the_paper():
    """With all non-empty sets and everybody in two coalitions there are n k + 1 joint actions."""
    profile = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    policy = Toggles(ActionSpaces.shared(any_subset(3), 2), profile)
    assert policy.unmoved == pytest.approx(1 / (2 * 3 + 1))


def test_first_explores_uses_the_second_action_in_the_order_given():
    spaces = ActionSpaces.shared(ExplicitSets(SETS), 3)
    drawn = FirstExplores(spaces).sample(np.random.default_rng(0), 200)
    assert (drawn[:, 1:] == SETS[1]).all()
    assert len(np.unique(drawn[:, 0], axis=0)) == 3


@pytest.mark.parametrize("may_stay_out", [False, True])
def test_second_action_without_enumeration(may_stay_out):
    small = UpTo(4, 2, may_stay_out)
    drawn = FirstExplores(ActionSpaces.shared(small, 2)).sample(np.random.default_rng(0), 1)
    assert np.array_equal(drawn[0, 1], small.enumerate()[1])
    FirstExplores(ActionSpaces.shared(any_subset(200, may_stay_out=may_stay_out), 2)).sample(
        np.random.default_rng(0), 1
    )


def test_mixed_strategy_as_a_policy():
    strategy = Strategy.mixed([(SETS, [0.5, 0.25, 0.25]), (SETS[:1], [1.0])])
    policy = FromStrategy(strategy)
    expected = np.zeros((3, 4))
    for a, weight in zip(SETS, [0.5, 0.25, 0.25], strict=True):
        for l in range(3):
            expected[l, int(a[l]) + int(SETS[0][l])] += weight
    assert np.allclose(policy.size_probabilities(), expected[:, :3])
    drawn = policy.sample(np.random.default_rng(0), 4000)
    assert np.allclose(drawn.mean(axis=0), strategy.marginals, atol=0.05)


def test_uniform_over_a_condition():
    spaces = ActionSpaces.shared(exactly_one(2), 3)
    policy = UniformOver.where(spaces, lambda block: ~(block[:, 0, 0] & block[:, 1, 0]))
    assert len(policy.joint_actions) == 6
    assert policy.meeting_probabilities()[0, 0, 1] == 0
    assert np.allclose(policy.size_probabilities().sum(axis=1), 1)
    with pytest.raises(InputError, match="no joint action"):
        UniformOver.where(spaces, lambda block: np.zeros(len(block), dtype=bool))


def test_random_is_a_product():
    policy = Independent(SPACES)
    marginals = SPACES.uniform_marginals()
    for i, j in product(range(4), repeat=2):
        expected = marginals[i] if i == j else marginals[i] * marginals[j]
        assert np.allclose(policy.meeting_probabilities()[:, i, j], expected)


def test_refusals():
    mixed = Strategy.uniform(SPACES)
    pure = Strategy.pure(PROFILE)
    outside = Strategy.pure(np.ones((4, 3), dtype=bool))
    with pytest.raises(InputError, match="unknown policy 'none'"):
        exploration_policy("none", SPACES)
    for name in ("deviations", "toggles", "strategy"):
        with pytest.raises(InputError, match="needs a profile"):
            exploration_policy(name, SPACES)
        with pytest.raises(InputError, match="not among their actions"):
            exploration_policy(name, SPACES, outside)
        for other in (PROFILE[:2], PROFILE[:, :2], np.vstack([PROFILE, PROFILE[:1]])):
            with pytest.raises(InputError, match="profile: expected 4 agents and 3 coalitions, got"):
                exploration_policy(name, SPACES, Strategy.pure(other))
    for name in ("deviations", "toggles"):
        with pytest.raises(InputError, match="needs a pure profile"):
            exploration_policy(name, SPACES, mixed)
    with pytest.raises(InputError, match="expected a second one"):
        exploration_policy("1rand", ActionSpaces.shared(ExplicitSets(SETS[:1]), 2), pure)


@pytest.mark.parametrize("name", [*POLICIES, "list"])
def test_what_occurs_together_equals_enumeration(name):
    joint, weights = support_of("toggles" if name == "list" else name)
    policy = UniformOver(joint) if name == "list" else exploration_policy(name, SPACES, Strategy.pure(PROFILE))
    for agent in range(4):
        together = np.delete(joint & joint[:, [agent]], agent, axis=1)
        x = together.transpose(0, 2, 1).reshape(len(joint), -1).astype(float)
        np.testing.assert_allclose(policy.second_moments(agent), np.einsum("b,bf,bg->fg", weights, x, x), atol=1e-12)


def test_what_occurs_together_in_a_mixed_strategy():
    strategy = Strategy.mixed([(SETS, [0.2, 0.3, 0.5]), (SETS[:2], [0.6, 0.4]), (SETS[1:], [0.5, 0.5])])
    joint = np.array([[SETS[a], SETS[b], SETS[c + 1]] for a, b, c in product(range(3), range(2), range(2))])
    shares = [0.2, 0.3, 0.5], [0.6, 0.4], [0.5, 0.5]
    weights = np.array(
        [shares[0][a] * shares[1][b] * shares[2][c] for a, b, c in product(range(3), range(2), range(2))]
    )
    for agent in range(3):
        x = np.delete(joint & joint[:, [agent]], agent, axis=1).transpose(0, 2, 1).reshape(len(joint), -1) * 1.0
        expected = np.einsum("b,bf,bg->fg", weights, x, x)
        np.testing.assert_allclose(FromStrategy(strategy).second_moments(agent), expected, atol=1e-12)
