"""Numbers far from all others: slips of the hand are told first, and ordinary numbers are left alone."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.log.inspection import inspect_log
from coterie.log.refusals import SLIP
from coterie.log.scales import Slips, slips_among

ORDINARY = {
    "normal": lambda rng, n: rng.normal(60, 15, n),
    "around zero": lambda rng, n: rng.normal(0, 1, n),
    "rounded": lambda rng, n: rng.normal(60, 15, n).round(),
    "uniform": lambda rng, n: rng.uniform(24, 96, n),
    "exponential": lambda rng, n: rng.exponential(10, n),
    "lognormal": lambda rng, n: rng.lognormal(3, 0.7, n),
    "laplace": lambda rng, n: rng.laplace(0, 1, n),
    "counts": lambda rng, n: rng.poisson(3, n).astype(float),
    "wins": lambda rng, n: rng.choice([0.0, 1.0], n, p=[0.02, 0.98]),
    "stars": lambda rng, n: rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], n, p=[0.01, 0.02, 0.07, 0.3, 0.6]),
}


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("count", [40, 200, 1000])
def test_silent_on_ordinary_numbers(kind, count):
    rng = np.random.default_rng(7)
    assert [slips_among(Counter(ORDINARY[kind](rng, count).tolist())) for _ in range(50)] == [None] * 50


@pytest.mark.parametrize(
    ("low", "high", "slip"), [(24, 96, 640), (2, 10, 78), (24, 96, -640), (-5, 5, 45), (900, 960, 0)]
)
@pytest.mark.parametrize("count", [40, 300])
def test_loud_on_a_slip(low, high, slip, count):
    values = np.random.default_rng(3).integers(low, high + 1, count).astype(float)
    expected = Slips((float(slip),), (values.min(), values.max()))
    assert slips_among(Counter([*values.tolist(), float(slip)])) == expected


def test_few_slips_not_many_and_not_among_few():
    values = np.arange(24.0, 97.0).tolist() * 3
    assert slips_among(Counter([*values, 640.0, 7200.0, -500.0])) == Slips((-500.0, 640.0, 7200.0), (24.0, 96.0))
    assert slips_among(Counter([*values, 640.0, 640.0, 650.0, 660.0])) is None
    assert slips_among(Counter([24.0, 48.0, 96.0, 640.0])) is None
    assert slips_among({}) is None


def scores(slip=640, *, listed=True, totals=False):
    """Return the rows of a table: scores of two teams of four in each of 15 weeks, one of them a slip."""
    rng, people, rows = np.random.default_rng(1), ["Ada", "Bo", "Cy", "Dov", "Eli", "Fay", "Gus", "Hana"], []
    for week in range(1, 16):
        order = rng.permutation(people).tolist()
        for team, members in (("Red", order[:4]), ("Blue", order[4:])):
            score = slip if (week, team) == (5, "Red") else int(rng.integers(24, 97))
            if listed:
                rows.append(f'{week},{team},"{", ".join(members)}",{score}')
            for name in () if listed else members:
                own = slip if (week, team, name) == (5, "Red", members[0]) else int(rng.integers(24, 97))
                rows.append(f"{week},{team},{name},{own if totals else score}")
    header = "Week,Team,Members,Score" if listed else "Week,Team,Name,Points"
    return "\n".join([header, *rows, ""])


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"listed": True}, "640 in row 10 is"),
        ({"listed": False}, "640 in rows 34, 35, 36 and 37 is"),
        ({"listed": False, "totals": True}, "640 in row 34 is"),
    ],
)
def test_start_inspect_and_learn_tell_it_first(tmp_path, monkeypatch, run, about, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(scores(**about), encoding="utf-8")
    code, _, err = run("start", "table.csv", "--yes")
    assert code == 0
    assert " ".join(err.split()).startswith(f"- {told} far from all others, 2")
    code, out, _ = run("inspect", "table")
    assert f"Missing or suspicious - {told} far from all others" in " ".join(out.split())
    assert run("inspect", "table", "--utility-range", "0", "1000")[1].count(SLIP) == 0
    code, out, _ = run("learn", "table", "--team-size", "4", "--time-limit", "1")
    assert code == 0
    words = " ".join(out.split())
    assert f"- {told} far from all others" in words[words.index("Warnings") :][:100]


def test_silent_without_slip_and_where_the_scale_was_said(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(scores(64), encoding="utf-8")
    (tmp_path / "bad.csv").write_text(scores(640), encoding="utf-8")
    assert SLIP not in "".join(run("start", "good.csv", "--yes")[2].split("\n"))
    assert SLIP not in " ".join(run("start", "bad.csv", "--yes", "--utility-range", "0", "1000")[2].split())


def test_the_sum_of_a_large_team_is_no_slip(tmp_path):
    """Of 40 teams of two and one of twelve, whose score is the sum over 66 pairs."""
    people = [f"p{i:02}" for i in range(12)]
    rng = np.random.default_rng(5)
    teams = [rng.choice(people, 2, replace=False).tolist() for _ in range(40)] + [people]
    frame = {"sample": [], "coalition": [], "agent": [], "utility": []}
    for week, members in enumerate(teams):
        score = float(rng.integers(4, 9)) * len(members) * (len(members) - 1) / 2
        for name in members:
            for column, value in zip(frame, (str(week), "x", name, score), strict=True):
                frame[column].append(value)
    assert slips_among(Counter(frame["utility"][:-11])) is not None
    declared = {"totals": "team-scores", "utility_range": [0, 6000], "copied_from": "scores.csv"}
    (tmp_path / "log.json").write_text(json.dumps(declared), encoding="utf-8")
    pd.DataFrame(frame).to_csv(tmp_path / "totals.csv", index=False)
    assert not any(SLIP in note for note in coterie.read_log(tmp_path).notes)
    frame["utility"][:2] = [6000.0, 6000.0]
    pd.DataFrame(frame).to_csv(tmp_path / "totals.csv", index=False)
    assert inspect_log(coterie.read_log(tmp_path)).findings[0].what.startswith("6000 in rows 2 and 3 is far")
