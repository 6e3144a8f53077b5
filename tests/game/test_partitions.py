"""Profiles up to the names of coalitions."""

import math

import numpy as np
import pytest

from coterie import ActionSpaces, ExplicitSets, Game, InputError, Rules, TooLargeError, UpTo, additively_separable

BELL = [1, 1, 2, 5, 15, 52, 203, 877, 4140]


def canonical(profile):
    return tuple(sorted(team.tobytes() for team in profile.T))


@pytest.mark.parametrize("n", range(1, 9))
def test_there_are_as_many_partitions_as_bell_counted(n):
    spaces = ActionSpaces.shared(UpTo(n, 1), n)
    assert spaces.n_partitions == BELL[n]
    assert sum(len(block) for block in spaces.partitions(100)) == BELL[n]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("out", [(False, False, False), (True, True, True), (False, True, False)])
def test_every_joint_action_has_one_representative(k, out):
    singles = np.eye(k, dtype=bool)
    listed = [ExplicitSets(np.concatenate([singles[::-1], np.zeros((int(may), k))])) for may in out]
    for spaces in (ActionSpaces(tuple(listed)), ActionSpaces(tuple(UpTo(k, 1, may) for may in out))):
        assert spaces.are_single
        found = [canonical(profile) for block in spaces.partitions() for profile in block]
        every = {canonical(profile) for block in spaces.joint_actions() for profile in block}
        assert len(found) == len(set(found)) == spaces.n_partitions
        assert set(found) == every


def test_other_spaces_are_no_partitions():
    assert not ActionSpaces.shared(UpTo(3, 2), 2).are_single
    assert not ActionSpaces.shared(ExplicitSets([[1, 0, 0], [0, 1, 0]]), 2).are_single
    assert not ActionSpaces.shared(ExplicitSets([[1, 0], [1, 1]]), 2).are_single


def random_values(rng, n):
    values = rng.integers(-4, 5, (n, n))
    return values * ~np.eye(n, dtype=bool)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("stability", ["nash", "swap"])
@pytest.mark.parametrize("rules", [None, Rules(team_size="1:2"), Rules(apart=["1,2"])])
def test_stable_partitions_are_the_stable_profiles_under_one_name(seed, stability, rules):
    rng = np.random.default_rng(seed)
    n, k = 4, 3 - seed
    game = Game(random_values(rng, n), "one", coalitions=k, symmetric=False)
    every = [profile.sets for profile in game.stable_profiles(stability, rules)]
    short = [profile.sets for profile in game.stable_profiles(stability, rules, up_to_renaming=True)]
    assert len(short) == len({canonical(profile) for profile in short})
    assert {canonical(profile) for profile in short} == {canonical(profile) for profile in every}
    renamings = sum(math.perm(k, int(profile.any(axis=0).sum())) for profile in short)
    assert renamings == len(every)


def test_eight_agents_are_partitions():
    rng = np.random.default_rng(1)
    values = random_values(rng, 8)
    game = additively_separable(values + values.T)
    short = game.stable_profiles(up_to_renaming=True)
    assert short
    assert all(game.is_nash_stable(profile) for profile in short)
    every = game.stable_profiles()
    assert len(every) == sum(math.perm(8, len(profile.partition())) for profile in short)
    assert {profile.partition() for profile in every} == {profile.partition() for profile in short}


def test_what_is_too_large_is_said():
    with pytest.raises(TooLargeError, match=r"10\^6.6 partitions"):
        additively_separable(np.zeros((12, 12))).stable_profiles()
    with pytest.raises(TooLargeError, match="up_to_renaming=True lists one for each partition"):
        additively_separable(np.zeros((8, 8))).stable_profiles()
    game = Game(np.zeros((3, 3)), "one", coalitions=2)
    with pytest.raises(InputError, match="rules name none"):
        game.stable_profiles(rules=Rules(fix=["1=2"]), up_to_renaming=True)
    named = Game(np.stack([np.zeros((2, 2)), 1 - np.eye(2)]), "one")
    assert len(named.stable_profiles(up_to_renaming=True)) == len(named.stable_profiles()) == 2
