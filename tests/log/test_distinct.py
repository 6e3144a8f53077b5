"""Different values of a stream are counted as a set counts them, however little memory there is."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.log import distinct as counting
from coterie.log import engine as engines
from coterie.log.engine import DuckDBEngine

VALUES = st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1))
GROUPS = st.lists(st.lists(st.lists(VALUES, max_size=40), max_size=6), min_size=1, max_size=3)


def by_sets(groups):
    seen, counts = set(), []
    for batches in groups:
        seen |= {value for batch in batches for value in batch}
        counts.append(len(seen))
    return counts


SMALL = [(1 << 10, ((0, 10), (10, 8), (18, 8))), (8, ((0, 2), (3, 1))), (1, ((0, 1),)), (3, ((60, 4), (0, 3)))]
"""How many are collected, and which tables there are of what is known: so small that everything happens."""


def counted(groups, most, spare, levels):
    arrays = [[np.array(batch, dtype=np.uint64) for batch in batches] for batches in groups]
    with pytest.MonkeyPatch.context() as small:
        small.setattr(counting, "SPARE", spare)
        small.setattr(counting, "LEVELS", levels)
        return counting.distinct(arrays, most)


@pytest.mark.parametrize(("spare", "levels"), SMALL)
@given(groups=GROUPS, extra=st.integers(0, 30))
def test_as_sets_count_them(spare, levels, groups, extra):
    expected = by_sets(groups)
    assert counted(groups, expected[-1] + extra, spare, levels) == expected


@pytest.mark.parametrize(("spare", "levels"), SMALL)
@given(groups=GROUPS, most=st.integers(0, 20))
def test_too_many_are_told_as_such(spare, levels, groups, most):
    for ours, theirs in zip(counted(groups, most, spare, levels), by_sets(groups), strict=True):
        assert ours == theirs or (ours > most and theirs > most)


def memberships(samples):
    return [(f"s{s}", f"a{i}", f"c{(s + i) % 2}") for s in range(samples) for i in range(5)]


@pytest.fixture(params=[(1, 1 << 26), (1, 7), (1 << 20, 1 << 26)])
def counted_here(request, monkeypatch):
    """Count few hashes as many are counted, at once or in pieces, or leave them to DuckDB."""
    many, most = request.param
    monkeypatch.setattr(engines, "MANY_HASHES", many)
    monkeypatch.setattr(engines, "MOST_HASHES", most)


def test_engine_counts_views_together(counted_here):
    engine = DuckDBEngine()
    engine.view("one", "SELECT range AS a, range % 3 AS b FROM range(20)")
    engine.view("two", "SELECT range + 15 AS a, range AS b FROM range(10)")
    of = engine.fingerprint
    hashed = {engine.name("one"): [of(["a"])], engine.name("two"): [of(["a"]), of(["b"])]}
    assert engine.distinct(hashed, 25) == [20, 25]
    assert engine.distinct({engine.name("one"): [of(["b"])]}, 20) == [3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, None),
        (("s1", "c1", "a0", "a1"), "not"),
        (("s1", "c0", "a1", "a3"), "already|twice|again|repeat|listed"),
        (("s1", "c0", "a3", "a1"), "already|twice|again|repeat|listed|order"),
    ],
)
def test_checks_say_the_same(counted_here, change, words):
    rows = [(s, l, i, j) for s, i, l in memberships(6) for t, j, m in memberships(6) if s == t and l == m and i < j]
    rows += [] if change is None else [change]
    pairs = dict(zip(("sample", "coalition", "agent", "partner"), zip(*rows, strict=True), strict=True))
    joined = dict(zip(("sample", "agent", "coalition"), zip(*memberships(6), strict=True), strict=True))
    utility = [0.5 if t < len(rows) - 1 else 0.25 for t in range(len(rows))]

    def read():
        return coterie.Log.from_frames(pa.table(joined), pa.table({**pairs, "utility": utility}))

    if change is None:
        assert read().rows == len(rows)
    else:
        with pytest.raises(coterie.InputError, match=words):
            read()
