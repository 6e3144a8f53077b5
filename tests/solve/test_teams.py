"""The search for teams against the exact solver, and what it does where people must be together."""

import numpy as np
import pytest

from coterie import CoterieError, Game, Rules, UpTo
from coterie.game.admissible import Admissible
from coterie.solve import feasible
from coterie.solve.columns import largest_value
from coterie.solve.control import Control
from coterie.solve.teams import FIRST_SWEEPS, Task, _Search, _taken_from, best_teams


def task_of(rules, seed, n=9, k=3):
    means = np.random.default_rng(seed).uniform(-1, 1, (k, n, n))
    means[:, np.arange(n), np.arange(n)] = 0
    game = Game(means, actions="one", symmetric=False)
    admissible = Admissible.of(Rules(**rules), game.agents, game.coalitions)
    return Task(game, admissible, np.full(k, n))


@pytest.mark.parametrize(
    "rules",
    [
        {"team_size": 3, "together": ["1,2"]},
        {"team_size": 3, "together": ["1,2", "3,4,5"]},
        {"team_size": "2:4", "together": ["1,2", "3,4"], "apart": ["5,6"]},
    ],
)
def test_groups_do_not_get_stuck_at_fixed_sizes(rules, monkeypatch):
    """The search finds what the exact solver proves to be best."""
    monkeypatch.setattr("coterie.solve.teams.ENUMERATED", 0)
    for seed in range(3):
        task = task_of(rules, seed)
        best = largest_value(task.game, task.admissible).value / task.game.n_agents
        found = best_teams(task, Control(seed), starts=2, patience=10)
        assert found.scores[0] == pytest.approx(best), seed
        assert all(task.allows(profile) for profile in found.profiles)


def test_a_group_takes_the_place_of_others_who_are_none():
    task = task_of({"team_size": 3, "together": ["1,2"]}, 0)
    profile = np.eye(3, dtype=bool)[[0, 0, 0, 1, 1, 1, 2, 2, 2]]
    steps = task.steps(profile)
    moved = steps[steps.moves.sum(axis=1) == 4]
    assert len(moved) == 2 * 3  # two other teams, three pairs in each
    assert (moved.movers[:, :2] == [0, 1]).all()
    assert all(task.allows(after) for after in moved.after(profile))


def test_a_group_looks_at_a_limited_number_of_others():
    assert [_taken_from(size) for size in (1, 2, 3, 20)] == [128, 16, 10, 21]
    crowd = ",".join(str(i + 1) for i in range(20))
    task = task_of({"together": [crowd]}, 0, n=42, k=2)
    profile = np.eye(2, dtype=bool)[(np.arange(42) >= 21).astype(int)]
    several = task.steps(profile).moves.sum(axis=1) - 20
    assert max(np.bincount(several[several > 0])) <= 128
    assert several.max() == 20


def test_a_program_without_an_answer_is_not_an_interruption(monkeypatch):
    task = task_of({"team_size": 3}, 0)
    monkeypatch.setattr(feasible.Assignments, "_solved", lambda *_: ("unknown", None))
    with pytest.raises(CoterieError, match="neither an assignment that keeps all rules nor that there is none"):
        task.assignments.nearest(np.zeros((9, 3), dtype=bool))


def test_an_interruption_goes_to_whoever_needs_a_first_profile(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    task = task_of({"team_size": 3}, 0)
    monkeypatch.setattr("scipy.optimize.milp", interrupted)
    with pytest.raises(KeyboardInterrupt):
        task.assignments.first_drawn(np.random.default_rng(0))
    assert task.assignments.drawn(Control(0)) is None  # a search that can do without ends quietly


@pytest.mark.parametrize("checks", [0, 1])
def test_what_was_gained_before_a_search_was_stopped_is_kept(monkeypatch, checks):
    """A search that may look round so often takes that many steps from today's teams, and a few in any case."""
    monkeypatch.setattr("coterie.solve.teams.ENUMERATED", 0)
    task = task_of({"team_size": 4}, 0, n=20, k=5)
    today = np.eye(5, dtype=bool)[np.arange(20) % 5]
    asked = iter(range(checks))
    found = best_teams(task, Control(0, stop=lambda: next(asked, None) is None), begin=[today])
    assert found.sweeps == FIRST_SWEEPS + checks
    gains = task.changes(today, task.steps(today))
    assert found.scores[0] >= task.score(today) + gains.max() - 1e-9
    assert all(task.allows(profile) for profile in found.profiles)


@pytest.mark.parametrize("seed", range(40))
def test_steps_that_are_taken_together_raise_the_value(seed):
    """Each of them alone does, and none shares a person or a coalition with another."""
    rng = np.random.default_rng(seed)
    n, k = rng.integers(3, 6, 2)
    means = np.triu(rng.integers(-3, 4, (k, n, n)).astype(float), 1)
    game = Game(means + np.swapaxes(means, 1, 2), UpTo(int(k), 2))
    task = Task(game, Admissible.of(Rules(), game.agents, game.coalitions), np.full(k, n))
    for profile in task.spaces.sample(rng, 20):
        steps, gains = task.rising(profile)
        if len(steps):
            after = _Search(task, Control(0), 8)._taken(profile, steps)
            assert task.score(after) >= task.score(profile) + gains[0] / game.n_agents - 1e-9
