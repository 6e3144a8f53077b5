"""Logs of many agents: their sums come part by part and are the same, and tests look at the rows of some agents."""

from dataclasses import astuple
from math import sqrt

import numpy as np
import pytest

import coterie
from coterie.assumptions.missing import missing_check
from coterie.statistics.dependence import NO_EXCESS, sample_excess
from coterie.statistics.drift import drift_of
from coterie.statistics.examined import examined
from coterie.statistics.parts import PARTS, Division
from coterie.statistics.statistics import Statistics

LIMIT = "coterie.statistics.pair_statistics.DENSE_AGENTS"


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, {}),
        ({"symmetric": False}, {}),
        ({"pool_coalitions": True}, {"noise": "samples"}),
        ({"missing": "worst"}, {}),
        ({}, {"sizes": "aware"}),
        ({}, {"parts": (1.0,)}),
    ],
)
def test_sums_part_by_part_are_those_of_one_query(tables, options, wanted, monkeypatch):
    made = tables(5, samples=60, symmetric=options.get("symmetric", True))
    log = coterie.Log.from_frames(**made.frames("memberships", "pairs"), **options)
    wanted = {"parts": PARTS, "noise": "pairs", **wanted}
    monkeypatch.setattr("coterie.statistics.clues.SIZED_CELLS", 0)
    at_once = Statistics.of(log, **wanted)
    monkeypatch.setattr(LIMIT, 3)
    one_by_one = Statistics.of(log, **wanted)
    assert one_by_one.sha256 == at_once.sha256
    ours, theirs = (one.clues.by_order for one in (one_by_one, at_once))
    assert (ours is None) == (theirs is None) == (not options.get("symmetric", True))
    if ours is not None:
        assert ours.n_samples == theirs.n_samples
        assert (ours.entries.keys == theirs.entries.keys).all()
        assert (ours.entries.values == theirs.entries.values).all()


def chosen(log, most):
    """Return whose rows are looked at, by the definition of their hash."""
    share = 1 - sqrt(1 - most / log.rows)
    place = Division.by_shares((share, 1 - share), 0).of(log.agents)
    return {name for name, part in zip(log.agents, place, strict=True) if part == 0}


@pytest.mark.parametrize("options", [{}, {"symmetric": False}, {"pool_coalitions": True}])
def test_tests_of_many_agents_are_those_of_a_log_of_some_rows(tables, options, monkeypatch):
    made = tables(90, n=9, samples=80, symmetric=options.get("symmetric", True))
    log = coterie.Log.from_frames(**made.frames("memberships", "pairs"), threads=1, **options)
    everything = drift_of(log, 3)
    most = log.rows // 2
    monkeypatch.setattr(LIMIT, 3)
    monkeypatch.setattr("coterie.statistics.examined.MOST_EXAMINED", most)
    some = chosen(log, most)
    kept = [row for row in made.pairs if row[2] in some or row[3] in some]
    assert 0 < len(kept) < log.rows
    rows = log.engine.table(f"SELECT * FROM {examined(log)}").to_pylist()
    names = ("sample", "coalition", "agent", "partner", "utility")
    assert sorted(tuple(row[name] for name in names) for row in rows) == sorted(kept)
    part = made.__class__(made.memberships, kept, [])
    monkeypatch.setattr(LIMIT, 2000)
    fewer = coterie.Log.from_frames(**part.frames("memberships", "pairs"), threads=1, missing="ignore", **options)
    expected = drift_of(fewer, 3), sample_excess(fewer)
    monkeypatch.setattr(LIMIT, 3)
    found = drift_of(log, 3), sample_excess(log)
    for ours, theirs in zip(found[0].folds, expected[0].folds, strict=True):
        assert astuple(ours) == pytest.approx(astuple(theirs), rel=1e-9, abs=1e-12)
    assert found[0].folds != everything.folds
    assert found[0].change.agent == expected[0].change.agent
    assert found[1].samples == expected[1].samples > 0
    for name in ("whole", "rooms", "agents"):
        ours, theirs = (astuple(getattr(one, name)) for one in (found[1], expected[1]))
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    kept_with_sums = Statistics.of(log, noise="auto").clues
    assert astuple(kept_with_sums.drift.folds[0]) == pytest.approx(astuple(drift_of(log, 0).folds[0]), rel=1e-9)
    assert kept_with_sums.decisive != NO_EXCESS


def test_rows_are_missed_where_there_are_not_too_many_meetings(tables, monkeypatch):
    made = tables(6, samples=30)
    fewer = made.__class__(made.memberships, made.pairs[5:], [])
    log = coterie.Log.from_frames(**fewer.frames("memberships", "pairs"))
    assert Statistics.of(log).clues.unrecorded.values.sum() >= 5
    monkeypatch.setattr("coterie.statistics.reduce.MOST_MEETINGS", 5)
    statistics = Statistics.of(log)
    assert statistics.clues.unrecorded is None
    assert missing_check(statistics).verdict == "not tested"


def test_few_rows_or_few_agents_are_all_looked_at(tables, monkeypatch):
    log = coterie.Log.from_frames(**tables(4).frames("memberships", "pairs"))
    monkeypatch.setattr("coterie.statistics.examined.MOST_EXAMINED", 2)
    assert examined(log) == log.engine.name("ratings")
    monkeypatch.setattr(LIMIT, 3)
    assert examined(log) == log.engine.name("examined")
    monkeypatch.setattr("coterie.statistics.examined.MOST_EXAMINED", log.rows)
    assert examined(log) == log.engine.name("ratings")


@pytest.mark.parametrize("sample", range(3))
def test_about_as_many_rows_as_wanted(sample):
    rng = np.random.default_rng(sample)
    pairs = np.sort(rng.integers(2000, size=(20_000, 2)), axis=1)
    share = 1 - sqrt(1 - 0.25)
    part = Division.by_shares((share, 1 - share), 0).of([f"p{i}" for i in range(2000)])
    assert (part[pairs] == 0).any(axis=1).mean() == pytest.approx(0.25, abs=0.04)


def test_spark_looks_at_the_same_rows(tables, spark, monkeypatch):
    made = tables(90, n=9, samples=20)
    monkeypatch.setattr(LIMIT, 3)
    monkeypatch.setattr("coterie.statistics.examined.MOST_EXAMINED", len(made.pairs) // 2)
    found = []
    for session in (None, spark):
        log = coterie.Log.from_frames(**made.frames("memberships", "pairs"), spark=session)
        rows = log.engine.table(f"SELECT agent, partner, utility FROM {examined(log)}").to_pylist()
        found.append(sorted(tuple(row.values()) for row in rows))
    assert found[0] == found[1]
    assert 0 < len(found[0]) < len(made.pairs)
