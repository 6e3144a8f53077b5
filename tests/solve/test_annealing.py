"""Annealing: what changes are worth against direct sums, and the best teams of small games against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Game
from coterie.game.admissible import Admissible
from coterie.game.rules import Rules, TeamSize
from coterie.solve import annealing
from coterie.solve.annealing import annealed
from coterie.solve.control import Control
from coterie.solve.teams import Task, _annealed, _anneals


def value_of(means, factor, area):
    """The value of everybody together, by its definition."""
    found = 0.0
    for l in range(len(means)):
        team = np.flatnonzero(area == l)
        found += factor[len(team)] * means[l][np.ix_(team, team)].sum()
    return found


def drawn(seed, n, k, average):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(k, n, n)) * ~np.eye(n, dtype=bool)
    factor = np.array([0.0, 0.0, *(1 / (s - 1) if average else 1.0 for s in range(2, n + 2))])
    return rng, means, factor


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_changes_are_worth_what_they_change(seed, average):
    rng, means, factor = drawn(seed, 6, 3, average)
    area = rng.integers(4, size=6)
    both = np.zeros((4, 6, 6))
    both[:3] = means + np.swapaxes(means, 1, 2)
    sums = np.array([both[l][:, area == l].sum(axis=1) for l in range(4)])
    worth = np.array([sums[l][area == l].sum() / 2 for l in range(4)])
    size = np.bincount(area, minlength=4)
    before = value_of(means, factor, area)
    i, j = rng.choice(6, 2, replace=False)
    if area[i] != area[j]:
        after = area.copy()
        after[[i, j]] = area[[j, i]]
        gain = annealing._exchange_gain(both, factor, sums, size, area, i, j)
        assert gain == pytest.approx(value_of(means, factor, after) - before)
    to = int(rng.integers(4))
    if to != area[i]:
        after = area.copy()
        after[i] = to
        gain = annealing._move_gain(factor, sums, worth, size, area[i], to, i)
        assert gain == pytest.approx(value_of(means, factor, after) - before)
        annealing._move(both, sums, worth, size, area, i, to)
        assert worth == pytest.approx([both[l][np.ix_(area == l, area == l)].sum() / 2 for l in range(4)])
        assert (size == np.bincount(area, minlength=4)).all()


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_best_teams_of_small_games(seed, average, bounded):
    """Sizes 1 to 3 or any, somebody who may not be in the first coalition, and somebody who may be nowhere."""
    rng, means, factor = drawn(seed, 5, 2, average)
    allowed = np.tile((np.arange(7) >= bounded) & (np.arange(7) <= (3 if bounded else 5)), (2, 1))
    places = np.ones((5, 3), dtype=bool)
    places[:, 2] = np.arange(5) == 1
    places[0, 0] = False
    start = np.array([1, 0, 1, 0, 0])
    best = max(
        value_of(means, factor, np.array(area))
        for area in product(range(3), repeat=5)
        if places[np.arange(5), area].all() and all(allowed[l, area.count(l)] for l in range(2))
    )
    found = [annealed(means, factor, allowed, places, start, int(rng.integers(2**31))) for _ in range(10)]
    for area in found:
        assert places[np.arange(5), area].all()
        assert all(allowed[l, (area == l).sum()] for l in range(2))
    assert max(value_of(means, factor, area) for area in found) == pytest.approx(best)
    again = [annealed(means, factor, allowed, places, start, 7) for _ in range(2)]
    assert (again[0] == again[1]).all()


def task_of(seed, rules, actions="one", **options):
    means = np.random.default_rng(seed).normal(size=(3, 9, 9)) * ~np.eye(9, dtype=bool)
    game = Game(means, actions, symmetric=False, **options).valued("average")
    admissible = Admissible.of(rules, game.agents, game.coalitions)
    return Task(game, admissible, np.full(3, 9))


def test_starts_keep_all_rules():
    rules = Rules(
        team_size={"*": TeamSize(2, 4)}, fix={"1": ["2"]}, ban={"2": ["1"]}, apart=[["3", "4"]], staff=list("12345678")
    )
    task = task_of(0, rules + Rules(staff=list("12345678")))
    begin = [task.assignments.first_drawn(np.random.default_rng(1))]
    assert _anneals(task)
    (found,) = _annealed(task, begin, Control(0))
    assert task.allows(found)
    assert task.score(found) > task.score(begin[0])


@pytest.mark.parametrize(("rules", "actions"), [({"max_moves": 1}, "one"), ({}, "up-to:2")])
def test_it_is_left_out_where_it_does_not_apply(rules, actions):
    task = task_of(1, Rules(), actions)
    begin = [task.spaces.sample(2, 1)[0]]
    if rules:
        admissible = Admissible.of(Rules(**rules), task.game.agents, task.game.coalitions, today=begin[0])
        task = Task(task.game, admissible, task.largest)
    assert not _anneals(task)
