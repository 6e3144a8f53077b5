"""Parts of logs, logs together, and logs in other processes."""

import pickle

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import Game, InputError, Log, Statistics
from coterie.log.parts import tables_of
from coterie.simulate import Simulation, school_class

GAME = Game([[0, 0.5, -0.25], [0.5, 0, 0.25], [-0.25, 0.25, 0]], "one", agents=["a", "b", "c"], coalitions=["x", "y"])


@pytest.fixture(scope="module")
def log():
    return Simulation.from_game(GAME, 0.4, seed=1).log(24)


def whole(log):
    return Statistics.of(log, parts=(1.0,), clues=False).log_sha256


def names(log):
    return log.samples.names.to_pylist()


def test_parts_add_up(log):
    parts = log.split(3, seed=5)
    assert [len(part) for part in parts] == [8, 8, 8]
    assert sorted((name for part in parts for name in names(part)), key=int) == names(log)
    again = parts[0] + parts[1] + parts[2]
    assert again.shape == log.shape == (24,)
    assert whole(again) == whole(log)
    assert names(log.split(3, seed=5)[1]) == names(parts[1]) != names(log.split(3, seed=6)[1])
    assert [len(part) for part in log.split((0.75, 0.25))] == [18, 6]


def test_parts_are_about_the_same_game(log):
    one = log[:1]
    assert (one.agents, one.coalitions) == (log.agents, log.coalitions)
    assert one.actions.to_json(one.agents, one.coalitions) == log.actions.to_json(log.agents, log.coalitions)
    assert names(log[[3, 1]]) == [names(log)[1], names(log)[3]]
    assert names(log[np.arange(24) < 2]) == names(log)[:2]
    assert names(log[np.array([5]), ...]) == names(log)[5:6]
    assert names(log[-1]) == names(log)[-1:]


def test_observed_actions_stay():
    pairs = pd.DataFrame([("1", "x", "a", "b", 0.5), ("2", "y", "a", "b", 0.1)],
                         columns=["sample", "coalition", "agent", "partner", "utility"])  # fmt: skip
    log = Log.from_frames(pairs=pairs)
    assert log[:1].actions.size == log.actions.size
    assert log[:1].coalitions == ("x", "y")
    assert whole(log[:1] + log[1:]) == whole(log)


def test_logs_are_pickled(log):
    again = pickle.loads(pickle.dumps(log))
    assert repr(again) == repr(log)
    assert again.notes == log.notes
    assert whole(again) == whole(log)


def test_files_are_pickled_and_divided(tmp_path):
    Simulation.from_game(GAME, 0.4, seed=1).write_log(tmp_path / "log", 6, feedback="bandit")
    log = coterie.read_log(tmp_path / "log")
    assert names(pickle.loads(pickle.dumps(log))) == names(log)
    assert len(log[:2]) == 2


def test_pooled_totals_stay_what_they_are():
    log = school_class(0).log()
    part = log[:3]
    assert part.pool_coalitions
    assert len(part.coalitions) == len(log.coalitions)
    assert part.rows == 3 * 28


def test_averages_stay_averages():
    members = pd.DataFrame([(s, agent, "x") for s in "12" for agent in "abc"], columns=["sample", "agent", "coalition"])
    totals = pd.DataFrame([(s, agent, 0.5) for s in "12" for agent in "abc"], columns=["sample", "agent", "utility"])
    log = Log.from_frames(memberships=members, totals=totals, totals_are="average")
    part = log[:1]
    assert part.options["totals"] == "average"
    assert tables_of(part)["totals"]["utility"].to_pylist() == [1.0] * 3  # of two partners: sums, as they were read
    assert whole(part + log[1:]) == whole(log)


def test_refusals(log):
    for chosen in (99, "a", [0.5], [], [1, 1]):
        with pytest.raises(InputError, match="samples: "):
            log[chosen]
    with pytest.raises(InputError, match="too few for 99 parts"):
        log.split(99)
    with pytest.raises(InputError, match="parts: probabilities sum to"):
        log.split((0.5, 0.4))
    with pytest.raises(InputError, match="both have a sample '1'"):
        log + log
    other = Simulation.from_game(GAME, 0.5, seed=1).log(3)
    with pytest.raises(InputError, match="utility_range is"):
        log + other
    with pytest.raises(InputError, match="one has memberships and pairs, the other memberships and totals"):
        log + Simulation.from_game(GAME, 0.4, seed=1).log(3, "bandit")
    with pytest.raises(TypeError):
        log + 3


TEAMS = [(m, "t", sorted(np.random.default_rng(m).choice(6, 3, replace=False))) for m in range(12)]


def logs_of_other_shapes():
    rows = [(str(m), team, f"p{i}", 0.5 * (m % 3)) for m, team, members in TEAMS for i in members]
    sample, team, agent, utility = (list(column) for column in zip(*rows, strict=True))
    records = {"sample": sample, "coalition": team, "agent": agent, "utility": utility}
    said = {"utility_range": (0, 5)}
    yield Log.from_frames(totals=records, **said)
    yield Log.from_frames(totals=records, totals_are="average", **said)
    yield Log.from_frames(totals=records, totals_are="team-scores", **said)
    votes = {"sample": sample, "coalition": team, "agent": agent, "choice": ["yes" if u else "no" for u in utility]}
    yield Log.from_frames(choices=votes, **said)


@pytest.mark.parametrize("shape", range(4), ids=["records", "averages", "scores", "choices"])
def test_parts_of_tables_of_other_shapes(shape):
    log = list(logs_of_other_shapes())[shape]
    one, two = log[:5], log[5:]
    assert one.options["totals"] == log.options["totals"]
    assert whole(one + two) == whole(log) == whole(pickle.loads(pickle.dumps(log)))
