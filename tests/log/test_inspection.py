"""What an inspection counts."""

import itertools
import json

import numpy as np
import pyarrow as pa
import pytest

from coterie import Log, read_log
from coterie.log.inspection import inspect_log, round_edges

COLUMNS = ("sample", "coalition", "agent", "partner", "utility")


def frame(rows, columns=COLUMNS):
    return {column: [row[index] for row in rows] for index, column in enumerate(columns)}


def log_of(rows, members=None, **options):
    pairs = pa.table(frame(rows))
    memberships = None if members is None else pa.table(frame(members, ("sample", "agent", "coalition")))
    return Log.from_frames(pairs=pairs, memberships=memberships, **options)


def in_both_orders(kept=lambda t: t >= 0):
    unordered = [(m, l, *pair) for m in "123" for l in "xy" for pair in itertools.combinations("abcd", 2)]
    rows = [(m, l, i, j, 0.5) for m, l, i, j in unordered] + [(m, l, j, i, -0.5) for m, l, i, j in unordered]
    return [row for t, row in enumerate(rows) if kept(t)]


MEMBERS = [(m, i, l) for m in "123" for l in "xy" for i in "abcd"]


@pytest.mark.parametrize(
    "kept", [lambda t: t >= 0, lambda t: t % 5, lambda t: t % 36 > 4], ids=["all", "some", "holes"]
)
@pytest.mark.parametrize("members", [None, MEMBERS], ids=["inferred", "listed"])
def test_an_asymmetric_log_has_the_figures_of_the_symmetrized_one(kept, members):
    rows = in_both_orders(kept)
    asymmetric = inspect_log(log_of(rows, members, symmetric=False))
    symmetric = inspect_log(log_of(rows, members, symmetrize=True))
    ours, theirs = asymmetric.to_json()["pairs"], symmetric.to_json()["pairs"]
    one_sided = ours.pop("one_sided")
    assert theirs.pop("one_sided") == 0
    if not one_sided:
        assert json.dumps(ours, default=np.ndarray.tolist) == json.dumps(theirs, default=np.ndarray.tolist)
    assert all(ours[key] == theirs[key] for key in ("possible", "met", "meetings"))
    np.testing.assert_array_equal(ours["matrix"], theirs["matrix"])
    # What one order says is not the average of two: symmetrized, such a meeting is unobserved.
    assert theirs["unobserved"] == ours["unobserved"] + one_sided
    assert (ours["rated_matrix"] - theirs["rated_matrix"]).sum() == 2 * one_sided
    once = {(m, l, *sorted((i, j))) for m, l, i, j, _ in rows}
    assert ours["meetings"] - ours["unobserved"] == len(once)
    assert one_sided == 2 * len(once) - len(rows)
    if members:
        assert ours["meetings"] == 36


def test_rarest_lists_who_never_met_first_however_many_agents(tmp_path):
    agents = [f"a{i:04}" for i in range(2500)]
    rows = [("1", "x", "a0000", "a0001", 0.5), ("1", "y", "a0000", "a0003", 0.5), ("2", "y", "a2498", "a2499", 0.5)]
    lines = [",".join(map(str, row)) for row in (COLUMNS, *rows)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "log.json").write_text(json.dumps({"agents": agents}), encoding="utf-8")
    seen = inspect_log(read_log(tmp_path))
    assert seen.rarest(3) == [(agents[0], agents[2], 0, 0), (agents[0], agents[4], 0, 0), (agents[0], agents[5], 0, 0)]
    few = inspect_log(log_of([*rows, ("3", "y", "a2498", "a2499", 0.5)]))
    names = ["a0000", "a0001", "a0003", "a2498", "a2499"]
    met = {("a0000", "a0001"): 1, ("a0000", "a0003"): 1, ("a2498", "a2499"): 2}
    expected = sorted(
        ((*pair, met.get(pair, 0), met.get(pair, 0)) for pair in itertools.combinations(names, 2)), key=lambda p: p[2]
    )
    assert few.rarest(20) == expected


def test_labels_of_interchangeable_coalitions_stay_in_the_engine(monkeypatch):
    rows = [(str(m), f"team{m}-{t}", f"a{2 * t}", f"a{2 * t + 1}", 0.5) for m in range(50) for t in range(4)]
    log = log_of(rows, pool_coalitions=True)
    fetched, fetch = [], log.engine.table

    def table(query):
        result = fetch(query)
        fetched.append(result.num_rows)
        return result

    monkeypatch.setattr(log.engine, "table", table)
    assert inspect_log(log).teams == {"teams": {2: 200}}
    assert max(fetched) == 4  # as many as pairs of agents


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((-1.0, 1.0), [-1, -0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8, 1]),
        ((0.0, 1.0), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        ((0.0, 5.0), [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]),
        ((3.0, 3.0), [3, 3]),
    ],
)
def test_edges_are_round(limits, expected):
    assert round_edges(*limits) == expected


@pytest.mark.parametrize("limits", [(1e-300, 2.3e-300), (-1.7e308, 1.7e308), (1e15, 1e15 + 0.5), (-7.3, 1234.5)])
def test_edges_enclose_everything(limits):
    edges = round_edges(*limits)
    assert 4 <= len(edges) - 1 <= 12
    assert edges[0] <= limits[0] < edges[1]
    assert edges[-2] < limits[1] <= edges[-1]


def test_utilities_at_an_edge_are_above_it():
    values = [t / 10 for t in range(11)]
    rows = [(str(t), "x", "a", "b", value) for t, value in enumerate(values)]
    seen = inspect_log(log_of(rows, utility_range=(0, 1)))
    assert seen.counts == [1] * 9 + [2]
    narrow = inspect_log(log_of(rows, utility_range=(-100, 100)))
    assert (narrow.edges, narrow.counts) == (seen.edges, seen.counts)
    same = inspect_log(log_of([(m, l, i, j, 0.5) for m, l, i, j, _ in in_both_orders()], MEMBERS))
    assert (same.edges, same.counts) == ([0.5, 0.5], [36])


def test_members_without_a_total_are_found(tmp_path):
    (tmp_path / "memberships.csv").write_text("sample,agent,coalition\n1,a,x\n1,b,x\n1,b,y\n2,a,x\n", encoding="utf-8")
    (tmp_path / "totals.csv").write_text("sample,agent,utility\n1,a,1\n2,a,0\n2,b,0\n", encoding="utf-8")
    seen = inspect_log(read_log(tmp_path))
    assert seen.totals_missing == 1
    assert any("1 time a person was a member but has no total" in finding.what for finding in seen.findings)
    assert seen.findings is seen.findings
    assert seen.rarest(5) == [("a", "b", 1, None)]


def starred(stars):
    """Two people, and what they gave each other every week."""
    same = {name: [value] * len(stars) for name, value in {"coalition": "x", "agent": "a", "partner": "b"}.items()}
    weeks = [str(week) for week in range(len(stars))]
    return Log.from_frames(pairs=pa.table({"sample": weeks, "utility": stars, **same}), utility_range=(1, 5), neutral=3)


def test_whole_stars_have_a_bar_each():
    """Bins of half a star were empty every second time, and the last one held two kinds of stars."""
    stars = [1.0 + week % 5 for week in range(12)]
    seen = inspect_log(starred(stars))
    assert (seen.of_each, seen.edges, seen.counts) == (True, [1, 2, 3, 4, 5, 6], [3, 3, 2, 2, 2])
    assert not inspect_log(starred([2.5, *stars])).of_each


def test_what_takes_back_that_a_log_is_asymmetric(tmp_path):
    """Who never typed the option was told to leave it out."""
    rows = "\n".join(f"{week},x,a,b,0.5" for week in range(3))
    (tmp_path / "pairs.csv").write_text(f"sample,coalition,agent,partner,utility\n{rows}\n")
    (tmp_path / "log.json").write_text('{"format": "coterie.log/1", "symmetric": false}')
    (found,) = (one for one in inspect_log(read_log(tmp_path)).findings if "in one order" in one.what)
    assert 'or write "symmetric": true in log.json if both get the same' in found.advice
    given = inspect_log(read_log(tmp_path, symmetric=False))
    (found,) = (one for one in given.findings if "in one order" in one.what)
    assert "or leave out symmetric=False if both get the same" in found.advice
