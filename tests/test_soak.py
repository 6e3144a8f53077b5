"""The short form of `make soak`: some logs, how it counts, and that broken promises and growth are seen."""

import json
import sys
from collections import Counter
from itertools import count

import numpy as np
import pytest

from soak import __main__ as soak
from soak import trials
from soak.trials import Defect, carry_out, trial, wording


def quick(way, seed=0):
    """Return the first trials of a way that are quick."""
    found = (trial(seed, number) for number in count())
    quickly = (one for one in found if one.setting.n == 4 and one.log.samples <= 60)
    return (one for one in quickly if one.way == way and not one.log.adaptive)


SPECIAL = {
    "paper": lambda one: one.options.get("certificate") == "paper",
    # Chances of several teams are refused with a goal of their own.
    "min_samples": lambda one: "min_samples" in one.options and "strategy" not in one.options,
    "max_moves": lambda one: one.max_moves is not None,
}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["frames", "csv"])
@pytest.mark.parametrize("what", [None, *SPECIAL])
def test_random_logs_are_answered(way, what, tmp_path):
    kept = carry_out(next(filter(SPECIAL.get(what), quick(way))), tmp_path)
    assert kept.promises
    assert not kept.refused


def test_who_is_seldom_there_is_left_out_of_the_promise(tmp_path):
    chosen = next(filter(SPECIAL["min_samples"], quick("frames")))
    made = trials._Pipeline(chosen, tmp_path)
    attended = made.batch.joined.any(axis=2).sum(axis=0)
    left = attended < chosen.options["min_samples"]
    assert left.any()
    assert list(made.game.actions.left_out) == np.flatnonzero(left).tolist()
    away = ~made.batch.joined.any(axis=2)
    for people in (made.batch.agent, made.batch.partner):
        assert not away[made.batch.sample, people].any()


def test_trials_depend_on_their_number_alone():
    assert repr(trial(3, 5).options) == repr(trial(3, 5).options)
    ways = Counter(trial(0, number).way for number in range(60))
    assert set(ways) == {"frames", "csv", "parquet"}
    assert len({trial(0, number).setting for number in range(60)}) > 55


def test_broken_promises_are_seen(tmp_path, monkeypatch):
    """A game that is another one than the log's has other gaps."""
    chosen = next(quick("frames"))
    promised = trials._Pipeline(chosen, tmp_path)
    held = type("Found", (), {})()

    class Truthless:
        certificate = held

    class Record:
        wrong, agents, staying_wrong, delta = True, np.ones(4, dtype=bool), True, 0.1

    held.gap, held.left_out = 0.5, ()
    monkeypatch.setattr(trials, "compared", lambda *_: Record)
    monkeypatch.setattr(trials, "StepTruth", lambda *_: None)
    strategy = type("Pure", (), {"is_pure": True, "agents": promised.game.agents})
    assert [is_so for *_, is_so in promised._compared(Truthless, strategy)] == [False, False, False]
    held.gap = float("nan")
    with pytest.raises(Defect, match="a certificate of nan"):
        list(promised._compared(Truthless, strategy))


def test_failures_are_defects(tmp_path, monkeypatch):
    def failing(self):
        raise ZeroDivisionError

    monkeypatch.setattr(trials._Pipeline, "kept", failing)
    with pytest.raises(Defect, match="ZeroDivisionError"):
        carry_out(next(quick("frames")), tmp_path)


def test_promises_are_tested_against_delta():
    counts = {"promise|learn|0.1": 100, "broken|learn|0.1": 30, "promise|learn|0.5": 100, "broken|learn|0.5": 50}
    (_, _, _, _, seldom), (_, _, _, _, often) = soak.broken(counts)
    assert seldom < 1e-6
    assert often > 0.4


def test_growth_is_seen():
    held = [{"memory": 100 + number, "files": 5, "threads": 4, "children": 0} for number in range(100)]
    assert soak.growth(held)["memory"][1] > (1 + soak.GROWTH) * soak.growth(held)["memory"][0]
    assert soak.growth(held)["files"] == (5, 5)


def test_refusals_are_listed_by_wording():
    assert wording("learn: error: p3 met 4.5 people\n") == wording("learn: error: p1 met 17 people")


def test_runs_add_up(tmp_path, monkeypatch, capsys):
    def one(seed, number, place):
        assert place.is_dir()
        found = Counter({"trials": 1, "promise|p|0.1": 1, "broken|p|0.1": 0, "answered": 1})
        return found, {"memory": 1, "files": 1, "threads": 1, "children": 0, "left": 0, "seconds": 0}

    monkeypatch.setattr(soak, "one", one)
    monkeypatch.setattr(sys, "argv", ["soak", "--trials", "3", "--counts", str(tmp_path / "counts.json")])
    assert soak.main() == 0
    assert soak.main() == 0
    assert "3 logs in 0 s (seed 3), 3 answered" in capsys.readouterr().out
    assert json.loads((tmp_path / "counts.json").read_text())["promise|p|0.1"] == 6
