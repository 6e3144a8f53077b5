"""What is learnt to be certified on held-out samples depends on nothing else that they say."""

import numpy as np

import coterie
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import Sealed
from coterie.learn import auto
from coterie.simulate import Simulation
from coterie.solve.control import Control
from coterie.statistics.statistics import Statistics


def statistics_of(tmp_path, **options):
    Simulation.draw(5, 3, np.random.default_rng(4), actions_per_agent=4).write_log(tmp_path / "log", 60)
    return Statistics.for_learning(coterie.read_log(tmp_path / "log"), **options)


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
