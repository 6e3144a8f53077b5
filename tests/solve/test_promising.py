"""Steps that raise the sum, against a list of all steps; random ones, against what is allowed."""

import numpy as np
import pytest

from coterie import Game, Rules
from coterie.game.admissible import Admissible
from coterie.game.steps import exchanges
from coterie.solve.promising import drawn_exchanges
from coterie.solve.teams import Task, _gaining


def task_of(seed, actions, *, rules=None, value="total", shared=False, sized=False, largest=None):
    rng, n, k = np.random.default_rng(seed), 9, 4
    means = rng.integers(-4, 5, (n, n) if shared else (k, n, n)) / 4  # with ties
    means[..., np.arange(n), np.arange(n)] = 0
    more = {"size_scale": rng.uniform(0.5, 1, (k, n + 1)), "size_shift": rng.normal(size=(k, n + 1))} if sized else {}
    more |= {"coalitions": k} if shared else {}
    game = Game(means, actions=actions, symmetric=False, **more).valued(value)
    admissible = Admissible.of(Rules(**(rules or {})), game.agents, game.coalitions)
    return Task(game, admissible, np.full(k, largest or n))


LISTS = [["1"], ["2"], ["1", "2"], ["2", "3", "4"], []]
TASKS = {
    "one": {"actions": "one"},
    "any": {"actions": "any"},
    "may stay out": {"actions": "any-or-none"},
    "up to two": {"actions": "up-to:2", "value": "average"},
    "lists": {"actions": LISTS},
    "own lists": {"actions": {str(i + 1): LISTS[i % 3 :] for i in range(9)}},
    "one matrix for all": {"actions": "any", "shared": True},
    "sizes": {"actions": "any", "sized": True},
    "rules": {"actions": "up-to:2", "rules": {"team_size": "2:5", "apart": ["1,2"]}},
    "not too large": {"actions": "any", "largest": 4},
}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("alone", [True, False])
def test_what_rises_is_what_a_list_of_all_steps_has_of_it(name, alone):
    for seed in range(6):
        task = task_of(seed, **TASKS[name])
        for profile in task.spaces.sample(seed, 5):
            steps = task.steps(profile, alone=alone)
            gains = task.changes(profile, steps)
            order = np.argsort(-gains, kind="stable")
            order = order[gains[order] > task.game.rounding]
            found, raised = task.rising(profile, alone=alone)
            np.testing.assert_array_equal(found.movers, steps.movers[order][:, : found.movers.shape[1]])
            np.testing.assert_array_equal(found.after(profile), steps[order].after(profile))
            np.testing.assert_array_equal(raised, gains[order])


TOGETHER = {"rules": {"together": ["1,2"], "team_size": "0:6"}, "actions": "up-to:2"}


@pytest.mark.parametrize("name", [*TASKS, "together"])
@pytest.mark.parametrize("stability", ["nash", "swap", "contractual-individual"])
def test_who_blocks_is_who_gains_in_a_list_of_all_steps(name, stability):
    found_any = 0
    for seed in range(4):
        task = task_of(seed, **TASKS.get(name, TOGETHER))
        for profile in task.spaces.sample(seed, 5):
            if name == "together":
                profile[1] = profile[0]
            steps, gains = task.game.steps(profile, stability, task.admissible)
            gains = gains.min(axis=1)
            listed = steps[gains > task.game.rounding]
            few = _gaining(task, profile, stability)
            few, gained = task.game.unrefused(profile, few, stability)
            gained = gained.min(axis=1)
            blocking = few[gained > task.game.rounding]
            np.testing.assert_array_equal(blocking.after(profile), listed.after(profile))
            np.testing.assert_array_equal(gained[gained > task.game.rounding], gains[gains > task.game.rounding])
            found_any += len(listed)
    assert found_any


@pytest.mark.parametrize("name", TASKS)
def test_random_steps_are_among_those_that_are_allowed(name):
    task, rng = task_of(1, **TASKS[name]), np.random.default_rng(0)
    profile = next(one for one in task.spaces.sample(3, 500) if task.allows(one))
    steps = task.steps(profile)
    allowed = {
        after.tobytes(): count for after, count in zip(steps.after(profile), steps.moves.sum(axis=1), strict=True)
    }
    drawn = [task.random_step(profile, rng).after(profile)[0].tobytes() for _ in range(300)]
    assert set(drawn) <= set(allowed)
    if {1, 2} <= set(allowed.values()):
        assert 0.35 < np.mean([allowed[after] == 1 for after in drawn]) < 0.65


def test_all_exchanges_are_drawn_alike():
    task, rng = task_of(2, **TASKS["any"]), np.random.default_rng(0)
    profile = task.spaces.sample(4, 1)[0]
    every = [after.tobytes() for after in exchanges(profile, task.spaces).after(profile)]
    drawn = [after.tobytes() for after in drawn_exchanges(profile, task.spaces, rng, 200_000).after(profile)]
    expected = len(drawn) / len(every)
    counts = [drawn.count(after) / every.count(after) for after in every]
    assert max(abs(count - expected) for count in counts) < 6 * np.sqrt(expected)


def test_where_there_is_no_step_none_is_drawn():
    task = task_of(0, [["1", "2"]])
    profile = np.tile([True, True, False, False], (9, 1))
    assert not len(task.random_step(profile, np.random.default_rng(0)))
    assert not len(task.rising(profile)[0])
