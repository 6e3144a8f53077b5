import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, InputError, TooLargeError, UpTo, any_subset, exactly_one, explicit
from coterie.game.actions import MAX_ENUMERATED, ActionSpace, ExplicitSets, parse
from random_games import random_space

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_every_space_equals_its_enumeration(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 6))
    space = random_space(rng, k)
    every = space.enumerate()
    assert len(np.unique(every, axis=0)) == len(every) == space.size
    assert space.log_size == pytest.approx(math.log(len(every)))
    np.testing.assert_array_equal(space.can_join, every.any(axis=0))
    np.testing.assert_array_equal(space.can_avoid, (~every).any(axis=0))
    np.testing.assert_allclose(space.uniform_marginals(), every.mean(axis=0))
    # The linear oracle against trying every action, with ties and zeros.
    weights = np.round(rng.normal(size=(20, k)), 1)
    values, actions = space.best_responses(weights)
    np.testing.assert_allclose(values, (weights @ every.T).max(axis=1), atol=1e-12)
    np.testing.assert_allclose(values, np.where(actions, weights, 0).sum(axis=1), atol=1e-12)
    assert space.contains(actions).all()
    # Membership of every subset at all.
    subsets = UpTo(k, k, may_stay_out=True).enumerate()
    listed = {row.tobytes() for row in every}
    np.testing.assert_array_equal(space.contains(subsets), [row.tobytes() in listed for row in subsets])
    assert space.contains(space.sample(rng, 50)).all()


@pytest.mark.parametrize(
    "space",
    [UpTo(4, 2), UpTo(4, 4, may_stay_out=True), UpTo(3, 1), explicit([["a"], ["a", "c"], []], ["a", "b", "c"])],
)
def test_sampling_is_uniform(space):
    drawn = space.sample(np.random.default_rng(1), 40_000)
    counts = np.array([(drawn == action).all(axis=1).sum() for action in space.enumerate()])
    expected = 40_000 / space.size
    # Pearson's statistic stays below mean + 5 standard deviations.
    assert ((counts - expected) ** 2 / expected).sum() < space.size + 5 * math.sqrt(2 * space.size)


def test_two_hundred_coalitions():
    space = any_subset(200)
    assert space.size == 2**200 - 1
    assert space.log_size == pytest.approx(200 * math.log(2))
    rng = np.random.default_rng(2)
    drawn = space.sample(rng, 1000)
    assert space.contains(drawn).all()
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    assert space.uniform_marginals()[0] == pytest.approx(0.5)
    weights = rng.normal(size=(3, 200))
    np.testing.assert_allclose(space.best_responses(weights)[0], np.maximum(weights, 0).sum(axis=1))
    top = np.sort(weights, axis=1)[:, -7:].sum(axis=1)
    np.testing.assert_allclose(UpTo(200, 7).best_responses(weights)[0], top)
    with pytest.raises(TooLargeError, match=str(MAX_ENUMERATED)):
        space.enumerate()


def test_joint_actions_are_listed_once():
    spaces = ActionSpaces((exactly_one(3), any_subset(3), UpTo(3, 2, may_stay_out=True)))
    every = np.concatenate(list(spaces.joint_actions(batch=11)))
    assert len(every) == spaces.size == 3 * 7 * 7
    assert len(np.unique(every.reshape(len(every), -1), axis=0)) == len(every)
    assert all(spaces.contains(joint).all() for joint in every)


def test_more_agents_than_numpy_has_dimensions():
    spaces = ActionSpaces(tuple([explicit([["a"]], ["a", "b"])] * 70 + [any_subset(2)] * 2))
    assert sum(len(block) for block in spaces.joint_actions()) == 9
    assert len(spaces.groups) == 2


@pytest.mark.parametrize(
    "description", ["one", "any", "up-to:2", "any-or-none", "one-or-none", [["a"], ["b", "c"], []]]
)
def test_descriptions_survive_a_round_trip(description):
    spaces = ActionSpaces.parse(description, ["x", "y"], ["a", "b", "c"])
    assert spaces.to_json(["x", "y"], ["a", "b", "c"]) == description
    each = ActionSpaces.parse({"x": description, "y": "one"}, ["x", "y"], ["a", "b", "c"])
    assert each.to_json(["x", "y"], ["a", "b", "c"]) == {"x": description, "y": "one"}


def test_staying_out_is_added_once():
    assert parse([["a"], []], ["a"], may_stay_out=True).size == 2
    assert parse([["a"]], ["a"], may_stay_out=True).size == 2
    assert parse("one", ["a"], may_stay_out=True).size == 2
    assert parse("up-to:9", ["a", "b"]).size == 3


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("some", "'some' is not one of"),
        ("up-to:x", "is not one of"),
        ("up-to:0", "expected at least 1"),
        ("up-to:²", "is not one of"),
        ("up-to:" + "9" * 5000, "is not one of"),
        ([1, 2], "actions: expected a list of coalition names, got 1"),
        ([None], "actions: expected a list of coalition names, got None"),
        ([{"a": 1}], "actions: expected a list of coalition names, got {'a': 1}"),
        ([[1]], r"unknown coalition in actions 1; known are: a, b \(names are strings\)"),
        (None, "expected a word or a list of lists"),
        ({"x": [1], "y": "one"}, "agent 'x': actions: expected a list of coalition names, got 1"),
        ({1: "one"}, r"unknown agent in actions 1; .*names are strings"),
        ([], "the action space is empty"),
        ([["a"], ["a"]], "listed twice"),
        (["a"], r"'a' is not a list of coalitions; write \['a'\]"),
        ([["z"]], "unknown coalition in actions 'z'; known are: a, b"),
        (3, "expected a word or a list of lists"),
        ({"x": "one"}, "no action space for agent 'y'"),
        ({"x": "one", "y": "one", "z": "one"}, "unknown agent in actions 'z'"),
    ],
)
def test_bad_descriptions_are_refused(description, message):
    with pytest.raises(InputError, match=message):
        ActionSpaces.parse(description, ["x", "y"], ["a", "b"])


def test_bad_spaces_are_refused():
    with pytest.raises(InputError, match="at most 2 coalitions can be joined, not 3"):
        UpTo(2, 3)
    with pytest.raises(InputError, match="expected a whole number, got"):
        UpTo(2, 1.5)
    with pytest.raises(InputError, match="expected a whole number, got 'x'"):
        UpTo("x", 1)
    with pytest.raises(InputError, match="there are no agents"):
        ActionSpaces(())
    with pytest.raises(InputError, match="differ in the number of coalitions"):
        ActionSpaces((any_subset(2), any_subset(3)))
    with pytest.raises(InputError, match="expected a list of sets"):
        ExplicitSets(np.zeros(3, dtype=bool))
    with pytest.raises(InputError, match="the action space is empty"):
        ExplicitSets(np.zeros((0, 3), dtype=bool))


def test_numbers_beyond_all_bounds_are_refused():
    for most in (float("inf"), float("nan"), True, None):
        with pytest.raises(InputError, match="expected a whole number"):
            UpTo(3, most)
    with pytest.raises(InputError, match="can be joined, not a huge int"):
        UpTo(3, 10**5000)
    assert UpTo(np.int64(3), 2.0).enumerate().shape == (6, 3)


def test_explicit_sets_are_converted_and_checked():
    given = np.array([[1, 0], [0, 1]])
    space = ExplicitSets(given)
    given[0, 0] = 0
    assert space.sets.dtype == bool
    assert space.sets.tolist() == [[True, False], [False, True]]
    assert ExplicitSets([[True, False]]).size == 1
    assert not space.sets.flags.writeable
    for wrong in ([[2, 0]], [["a"]], [[0.5, 1]], [[1], [1, 0]], [[None]]):
        with pytest.raises(InputError, match="actions: expected true or false, or 1 or 0"):
            ExplicitSets(wrong)


def test_who_plays_outside_her_actions():
    spaces = ActionSpaces((exactly_one(2), any_subset(2), exactly_one(2)))
    owner = np.array([0, 1, 1, 2, 2])
    sets = np.array([[1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], dtype=bool)
    assert spaces.outside(owner, sets) == [1, 2]
    assert spaces.outside(owner[:2], sets[:2]) == []


class AtLeast(ActionSpace):
    """Every set of at least so many coalitions: only what an own space must have."""

    def __init__(self, n_coalitions, least):
        self.n_coalitions, self.least = n_coalitions, least

    @property
    def size(self):
        return sum(math.comb(self.n_coalitions, s) for s in range(self.least, self.n_coalitions + 1))

    def best_responses(self, weights):
        chosen = weights > 0
        np.put_along_axis(chosen, np.argsort(-weights, axis=1, kind="stable")[:, : self.least], True, axis=1)
        return np.where(chosen, weights, 0.0).sum(axis=1), chosen

    def sample(self, seed, count):
        return self.best_responses(np.random.default_rng(seed).normal(size=(count, self.n_coalitions)))[1]


class Listed(AtLeast):
    def _all(self):
        every = UpTo(self.n_coalitions, self.n_coalitions, may_stay_out=True).enumerate()
        return every[every.sum(axis=1) >= self.least]


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("least", [0, 1, 2])
def test_an_own_space_needs_little(k, least):
    if least > k:
        return
    own, listed = AtLeast(k, least), Listed(k, least)
    every = UpTo(k, k, may_stay_out=True).enumerate()
    same = ExplicitSets(every[every.sum(axis=1) >= least])
    assert own.size == same.size
    np.testing.assert_array_equal(own.contains(every), same.contains(every))
    assert own.contains(every[:0]).shape == (0,)
    np.testing.assert_array_equal(own.can_join, same.can_join)
    np.testing.assert_array_equal(own.can_avoid, same.can_avoid)
    np.testing.assert_allclose(listed.uniform_marginals(), same.uniform_marginals())
    np.testing.assert_allclose(listed.uniform_joint_marginals(), same.uniform_joint_marginals())
    names = [str(l) for l in range(k)]
    assert sorted(listed.to_json(names)) == sorted(same.to_json(names))
    assert own.contains(own.sample(0, 5)).all()
    with pytest.raises(InputError, match="AtLeast cannot list its actions"):
        own.enumerate()
