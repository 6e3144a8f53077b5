"""What is learnt to be certified on held-out samples depends on nothing else that they say."""

from itertools import product

import numpy as np
import pytest

import coterie
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import Sealed
from coterie.learn import auto
from coterie.simulate import Simulation
from coterie.solve.control import Control
from coterie.solve.search import Searcher
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics


def statistics_of(tmp_path, samples=60, model="gaussian", **options):
    source = Simulation.draw(5, 3, np.random.default_rng(4), model=model, actions_per_agent=4)
    source.write_log(tmp_path / "log", samples)
    return Statistics.for_learning(coterie.read_log(tmp_path / "log"), **options)


def task_of(statistics, control=None):
    control, setting = control or Control(0), statistics.setting
    searcher = Searcher(setting.actions, (setting.agents, setting.coalitions), "pure", "auto", "both", control)
    return auto._Task(statistics, 0.01, control, searcher, None)


def test_a_stage_that_sees_everything_changes_no_random_number_of_a_held_out_search(tmp_path, monkeypatch):
    """However many it draws, and however long it takes."""
    made, drawn = statistics_of(tmp_path), []

    def held_out(task, delta, share):
        drawn.append(task.control.rng.random(5).tolist())
        return task.on_everything("paired", delta)

    monkeypatch.setattr(auto._Task, "held_out", held_out)
    for starts in (4, 32):
        monkeypatch.setattr(auto, "SETTLED", starts)
        auto.recommend(made, 0.01, Control(7))
    assert drawn[0] == drawn[1]


def test_the_time_of_a_held_out_search_is_a_share_of_the_whole():
    control = Control(0, 100.0)
    task = auto._Task.__new__(auto._Task)
    task.control = control
    control._begin -= 8.0  # what others took
    assert 91 < control.remaining < 93
    assert abs(task._of_what_is_left(0.6) * control.remaining - 60) < 0.1
    assert task._of_what_is_left(1.0) == 1.0


def test_a_preview_tells_nothing_of_certifying_utilities(tmp_path):
    made = statistics_of(tmp_path, noise="samples")
    certifying = evidence_from(made.certifying)
    assert certifying.estimate.noise.by_cluster is not None
    seen = Sealed(certifying).preview(evidence_from(made.learning))
    assert seen.estimate.noise.by_cluster is None
    assert seen.estimate.noise.together is not None


def test_what_looks_stable_is_so_where_means_are_what_is_expected(tmp_path):
    """Against all profiles, and not where means are those that were seen."""
    task = task_of(statistics_of(tmp_path, 6, "gaussian-pairs"))
    evidence, name = task.believed
    bounds, means = evidence.bounds, evidence.estimate.moments.mean
    assert name == "posterior"
    np.testing.assert_array_equal(means, np.clip(task.possible.middle, bounds.low, bounds.high))
    game, raw = evidence.game(task.spaces), task.estimated
    found = [one.strategy for one in task.stable_looking(0.01) if one.guess == name]
    every = [task._named(np.stack(sets)) for sets in product(*(one.enumerate() for one in task.spaces.spaces))]
    least = min(game.gap(strategy) for strategy in every)
    assert game.gap(found[0]) == least
    assert any(game.gap(one) == least < raw.gap(one) for one in found)


@pytest.mark.parametrize("impatient", [{"time_limit": 1e-9}, {"stop": lambda: True}])
def test_without_time_for_what_is_possible_means_are_those_that_were_seen(tmp_path, impatient):
    task = task_of(statistics_of(tmp_path), Control(0, **impatient))
    assert task.possible is None
    assert task.believed == (task.whole, "raw")


@pytest.mark.slow
def test_levels_by_size_that_were_never_seen_are_expected_of_others(tmp_path):
    """Utilities depend on coalition and size alone, and the pairs of a coalition share their noise.

    A guess that knows neither takes this noise for what people are worth: from these logs it led to gaps of 8.
    """
    gaps = []
    for seed in (2, 12):
        source = Simulation.draw(10, 5, np.random.default_rng([seed, 30]), model="mixed-effects", actions_per_agent=3)
        source.write_log(tmp_path / str(seed), 30)
        log = coterie.read_log(tmp_path / str(seed), sigma=1.0)
        found = auto.recommend(Statistics.of(log, sizes="aware", parts=PARTS, seed=seed), 0.01, Control(0))
        gaps.append(source.game.gap(found.strategy))
    assert np.mean(gaps) < 2
