"""What a reader is warned about."""

import numpy as np
import pytest

import coterie
from coterie import StableLearner, Strategy
from coterie.learn.warnings import cautions
from coterie.simulate import Simulation
from coterie.statistics.statistics import Statistics


def warned(log, strategy=None, **options):
    statistics = Statistics.of(log, **options)
    strategy = strategy or Strategy.pure(
        np.ones((len(log.agents), len(log.coalitions)), dtype=bool), log.agents, log.coalitions
    )
    return cautions(log, statistics, strategy), cautions(None, statistics, strategy)


def frames(rows):
    import pandas as pd

    return pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"])


def test_one_sign():
    rows = [(s, c, "a", "b", 0.2 + 0.1 * (s % 3)) for s in range(10) for c in "xy"]
    for found in warned(coterie.Log.from_frames(pairs=frames(rows)))[:1]:
        assert any(
            "no utility is below the neutral point 0" in text and "say with neutral which" in text for text in found
        )
    for found in warned(coterie.Log.from_frames(pairs=frames(rows), neutral=0.9))[:1]:
        assert any("no utility is above the neutral point 0.9" in text and "be alone" in text for text in found)
    for found in warned(coterie.Log.from_frames(pairs=frames(rows), neutral=0.3))[:1]:
        assert not any("neutral" in text for text in found)


def test_ratings_of_0_and_1_have_one_sign():
    rows = [(s, c, "a", "b", s % 2) for s in range(10) for c in "xy"]
    found, _ = warned(coterie.Log.from_frames(pairs=frames(rows)))
    assert any("no utility is below the neutral point 0" in text for text in found)


def test_labels_that_mean_nothing():
    rows = [(s, f"team {s}", "a", "b", 0.5 - s % 2) for s in range(10)]
    for found in warned(coterie.Log.from_frames(pairs=frames(rows))):
        assert any("use pool_coalitions=True" in text for text in found)
    log = coterie.Log.from_frames(pairs=frames(rows), pool_coalitions=True)
    assert not any("use pool_coalitions=True" in text for found in warned(log) for text in found)


def test_larger_than_ever_seen():
    rows = [(s, "x", *pair, 0.5 - s % 2) for s, pair in enumerate([("a", "b"), ("b", "c"), ("a", "c")] * 4)]
    log = coterie.Log.from_frames(pairs=frames(rows))
    for found in warned(log):
        assert any("coalition x would have 3 members, more than ever seen (2)" in text for text in found)
    alone = Strategy.pure([[1], [1], [0]], log.agents, log.coalitions)
    assert not any("members," in text for found in warned(log, alone) for text in found)


def test_nothing_to_say_about_a_sound_log(tmp_path):
    source = Simulation.draw(4, 3, np.random.default_rng(1), actions_per_agent=4)
    source.write_log(tmp_path / "log", 400)
    learner = StableLearner().fit(tmp_path / "log")
    assert learner.result_.warnings == ()


@pytest.mark.parametrize(
    ("options", "advice", "cure"),
    [
        ({"model": "size-gaussian"}, 'use sizes="aware"', {"sizes": "aware"}),
        ({"noise": "samples"}, 'use noise="samples"', {"noise": "samples"}),
    ],
)
def test_broken_assumptions(tmp_path, options, advice, cure):
    source = Simulation.draw(5, 2, np.random.default_rng(3), actions_per_agent=3, **options)
    source.write_log(tmp_path / "log", 3000)
    log = coterie.read_log(tmp_path / "log")
    found, _ = warned(log)
    assert any(advice in text for text in found)
    found, _ = warned(log, **cure)
    assert not any(advice in text for text in found)
