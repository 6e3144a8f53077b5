"""Earlier samples against later ones: the queries do what the definition says."""

import numpy as np
import pytest

import coterie
from coterie.statistics.drift import NO_DRIFT, Change, Contrast, Drift, drift_of
from coterie.statistics.statistics import Statistics
from timed import direct_drift, fold_of


def log_of(made, names=("memberships", "pairs"), **options):
    return coterie.Log.from_frames(**made.frames(*names), threads=1, **options)


def assert_alike(ours, theirs):
    for one, other in zip(ours.folds, theirs.folds, strict=True):
        assert one.samples == other.samples
        for name in ("total", "squares", "reaches", "deepest"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9, abs=1e-12)


def defined(made, *, sized=True, symmetric=True, pooled=False, seed=0):
    """The contrasts of a log row by row, straight from the definition."""
    samples = list(dict.fromkeys(row[0] for row in made.memberships))
    teams = {}
    for sample, agent, coalition in made.memberships:
        teams.setdefault((sample, coalition), []).append(agent)
    place = {sample: index for index, sample in enumerate(samples)}
    cells, rows, pairs = {}, [], {}
    for sample, coalition, agent, partner, utility in made.pairs:
        pair = tuple(sorted((agent, partner))) if symmetric else (agent, partner)
        size = len(teams[sample, coalition]) if sized else 0
        cell = cells.setdefault(("" if pooled else coalition, *pair, size), len(cells))
        rows.append((place[sample], cell, pairs.setdefault(("" if pooled else coalition, *pair), len(pairs)), utility))
    sample, cell, pair, utility = (np.array(column) for column in zip(*rows, strict=True))
    late = np.arange(len(samples)) >= (len(samples) + 1) // 2
    fold = np.array([fold_of(name, seed) for name in samples])
    return direct_drift(sample, cell, pair, utility, late, fold)


@pytest.mark.parametrize("options", [{}, {"symmetric": False}, {"pool_coalitions": True}])
def test_the_queries_equal_the_definition(tables, options):
    symmetric, pooled = options.get("symmetric", True), options.get("pool_coalitions", False)
    made = tables(90, samples=80, symmetric=symmetric)
    found = drift_of(log_of(made, **options), 3)
    assert_alike(found, defined(made, symmetric=symmetric, pooled=pooled, seed=3))
    assert all(fold.samples > 20 for fold in found.folds)
    # The weights of a pair add up to 0 in each fold: what is added to all utilities changes nothing.
    shifted = made.__class__(made.memberships, [(*row[:4], row[4] + 0.5) for row in made.pairs], [])
    assert_alike(drift_of(log_of(shifted, **options, utility_range=(-0.5, 1.5)), 3), found)


def test_sizes_are_not_told_apart_where_they_are_not_known(tables):
    made = tables(91, samples=60)
    place = {sample: t for t, sample in enumerate(dict.fromkeys(row[0] for row in made.pairs))}
    made = made.only(set(place))
    made = made.__class__(sorted(made.memberships, key=lambda row: place[row[0]]), made.pairs, [])
    assert_alike(drift_of(log_of(made, ("pairs",)), 0), defined(made, sized=False))


def test_the_largest_change_is_named():
    rows = [(m, "x", *pair, 0.5 if pair != ("b", "c") or m < 50 else -0.5)
            for m in range(100) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]  # fmt: skip
    names = ("sample", "coalition", "agent", "partner", "utility")
    log = coterie.Log.from_frames(pairs={name: [row[t] for row in rows] for t, name in enumerate(names)})
    change = drift_of(log, 0).change
    assert (change.agent, change.partner, change.coalition) == ("b", "c", "x")
    assert (change.before, change.after) == (0.5, -0.5)


def test_contrasts_of_logs_add_up(tables):
    made = tables(92, samples=80)
    pieces = [made.only({f"s{m}" for m in range(*ends)}) for ends in ((0, 40), (40, 80))]
    ours, theirs = (Statistics.of(log_of(piece)) for piece in pieces)
    both = (ours + theirs).clues.drift
    for fold in (0, 1):
        one, other, sum_ = (found.folds[fold] for found in (ours.clues.drift, theirs.clues.drift, both))
        assert sum_ == one + other
        assert sum_.deepest == max(one.deepest, other.deepest)
        assert sum_.samples == one.samples + other.samples
    assert both.change in {ours.clues.drift.change, theirs.clues.drift.change}
    assert Contrast(1, 2.0, 3.0, 4.0, 5.0) + Contrast(1, 1.0, 1.0, 1.0, 6.0) == Contrast(2, 3.0, 4.0, 5.0, 6.0)
    assert NO_DRIFT + NO_DRIFT == NO_DRIFT
    assert (NO_DRIFT + Drift(change=Change(1.0, "x", "a", "b", 0.0, 1.0))).change.agent == "a"


def test_contrasts_are_saved(tables, tmp_path):
    original = Statistics.of(log_of(tables(93)))
    original.save(tmp_path / "s.npz")
    assert Statistics.load(tmp_path / "s.npz").clues.drift == original.clues.drift
    totals = Statistics.of(log_of(tables(93), ("memberships", "totals")))
    assert totals.clues.drift == NO_DRIFT


def test_contrasts_are_alike_on_every_engine(tables, spark):
    frames = tables(94, samples=60).frames()
    ours, theirs = (drift_of(coterie.Log.from_frames(**frames, spark=one), 0) for one in (None, spark))
    assert_alike(ours, theirs)
    assert (ours.change.agent, ours.change.partner) == (theirs.change.agent, theirs.change.partner)
