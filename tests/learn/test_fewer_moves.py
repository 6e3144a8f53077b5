"""Some of the moves that are recommended, against a look at every part of them."""

from itertools import combinations

import numpy as np
import pytest

import coterie
from coterie import Game, Rules
from coterie.game.admissible import Admissible
from coterie.learn.fewer_moves import _taken_back, fewer_moves
from coterie.simulate.firm import FirmPlan, rated_firm
from coterie.solve import Control
from coterie.solve.teams import Task


def never():
    return False


def drawn(seed, n=7, k=3, **rules):
    rng = np.random.default_rng(seed)
    means = rng.uniform(-1, 1, (k, n, n)) * (1 - np.eye(n))
    game = Game(means, actions="one", symmetric=False)
    task = Task(game, Admissible.of(Rules(**rules), game.agents, game.coalitions), np.full(k, n))
    return task, np.eye(k, dtype=bool)[rng.integers(0, k, n)], np.eye(k, dtype=bool)[rng.integers(0, k, n)]


def parts(task, today, recommended):
    """Every set of moves that may be left out, with what is left."""
    movers = np.flatnonzero((today != recommended).any(axis=1)).tolist()
    for many in range(1, len(movers)):
        for some in combinations(movers, many):
            profile = recommended.copy()
            profile[list(some)] = today[list(some)]
            if task.allows(profile):
                yield len(movers) - many, profile


@pytest.mark.parametrize("rules", [{}, {"team_size": "1:4"}, {"apart": ["1,2"], "together": ["3,4"]}])
def test_they_are_the_best_with_so_many_moves(rules):
    told = 0
    for seed in range(20):
        task, today, recommended = drawn(seed, **rules)
        found = fewer_moves(task, today, recommended, Control(0), never)
        if task.allows(today):
            assert all(task.score(profile) > task.score(today) for profile in found)
        moves = [int((today != profile).any(axis=1).sum()) for profile in found]
        assert len(found) <= 2
        assert all(many < int((today != recommended).any(axis=1).sum()) for many in moves)
        for profile, many in zip(found, moves, strict=True):
            blocks = np.concatenate(list(task.spaces.joint_actions(2048)))
            few = blocks[(blocks != today).any(axis=2).sum(axis=1) <= many]
            assert task.score(profile) == pytest.approx(max(task.score(one) for one in few if task.allows(one)))
        told += len(found)
    assert told > 10


def test_a_search_finds_what_some_of_the_recommended_moves_alone_do_not_bring():
    better = 0
    for seed in range(10):
        task, today, recommended = drawn(seed, team_size="1:4")
        path = list(_taken_back(task, today, recommended, never))
        for one in fewer_moves(task, today, recommended, Control(0), never):
            many = (one != today).any(axis=1).sum()
            parts_of_it = [task.score(part) for part in path if (part != today).any(axis=1).sum() <= many]
            better += task.score(one) > max(parts_of_it, default=-np.inf) + 1e-9
    assert better > 3


def test_each_step_back_costs_least_for_each_move():
    for seed in range(20):
        task, today, before = drawn(seed)
        movers = int((today != before).any(axis=1).sum())
        for profile in _taken_back(task, today, before, never):
            left = int((today != profile).any(axis=1).sum())
            lost = [
                (task.score(before) - task.score(other)) / (movers - many)
                for many, other in parts(task, today, before)
                if movers - many <= 2
            ]
            assert (task.score(before) - task.score(profile)) / (movers - left) == pytest.approx(min(lost))
            before, movers = profile, left


def test_three_who_changed_places_in_a_circle_go_back_together():
    task, *_ = drawn(0, n=6, team_size=2)
    today, recommended = np.eye(3, dtype=bool)[[0, 0, 1, 1, 2, 2]], np.eye(3, dtype=bool)[[1, 1, 2, 2, 0, 0]]
    (first,) = _taken_back(task, today, recommended, never)
    assert (first != today).any(axis=1).sum() == 3
    assert task.allows(first)


def test_nobody_waits_for_them_and_crowds_have_none():
    task, today, recommended = drawn(1)
    assert fewer_moves(task, today, recommended, Control(0), lambda: True) == []
    task, today, _ = drawn(1, n=60)
    assert fewer_moves(task, today, ~today & (np.cumsum(~today, axis=1) == 1), Control(0), never) == []


def test_options_tell_what_some_of_the_moves_bring():
    """They hold as certificates do: each has its own, valid against the truth."""
    records = rated_firm(np.random.default_rng(3), FirmPlan(n_agents=16, n_coalitions=4, sizes=(3, 5)))
    learner = coterie.StableLearner(value="average", today=records.today.actions, rules=Rules(team_size="3:5"))
    result = learner.fit(records.log()).result_
    moves = {one.label: one.moves for one in result.options}
    some = [one for one in result.options if one.label not in {"recommended", "today"} and one.moves > 0]
    assert any(0.2 * moves["recommended"] <= one.moves <= 0.8 * moves["recommended"] for one in some)
    values = [one.expected_value for one in sorted(result.options, key=lambda one: one.moves)]
    assert values[0] == min(values)
    assert result.options[0].expected_value == pytest.approx(max(values))
    truth = records.truth.valued("average")
    admissible = Admissible.of(Rules(team_size="3:5"), truth.agents, truth.coalitions)
    for one in some:
        assert admissible.holds(one.strategy.sets)
        steps = admissible.steps(one.strategy.sets, truth.actions, "swap")
        gains = [truth.values(after) - truth.values(one.strategy.sets) for after in steps.after(one.strategy.sets)]
        least = [min(gain[agents[agents >= 0]]) for gain, agents in zip(gains, steps.movers, strict=True)]
        assert max(least) <= one.gap
