"""Sums by key and fixed-point sums against plain Python."""

import hashlib
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.log import queries
from coterie.log.engine import DuckDBEngine, Engine
from coterie.sums import Sums, carried


@pytest.fixture(scope="module")
def engine():
    return DuckDBEngine(threads=1)


@given(
    st.sampled_from([3, 50, 2**20, 2**40]),
    st.lists(st.tuples(*[st.integers(0, 2**40)] * 3, st.integers(-(2**40), 2**40)), max_size=30),
)
def test_collect_adds_equal_keys_up_in_order(extent, rows):
    """Few possible keys are counted, many are sorted as one number, and very many by columns."""
    expected = Counter()
    for *key, value in rows:
        expected[tuple(part % extent for part in key)] += value
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    found = Sums.collect(table[:, :3] % extent, table[:, 3:] * [1, 2])
    assert [tuple(key) for key in found.keys.tolist()] == sorted(expected)
    assert found.values.tolist() == [[expected[key], 2 * expected[key]] for key in sorted(expected)]


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62), st.integers(1, 40))
def test_carrying_keeps_the_sum(high, low, bits):
    above, below = carried(np.array([high], dtype=np.int64), np.array([low], dtype=np.int64), bits)
    assert int(above[0]) * 2**bits + int(below[0]) == high * 2**bits + low
    assert 0 <= below[0] < 2**bits


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(-1.0, 1.0), (0.0, 1.0), (1.0, 5.0), (0.0, 10.0), (-0.1, 0.2), (-1e150, 3.0), (0.0, 1e-150)]),
    st.lists(st.floats(-1e-9, 1 + 1e-9), min_size=1, max_size=20),
)
def test_fixed_point_is_the_clipped_share_of_the_range(engine, limits, shares):
    low, high = limits
    utilities = [low, high, *(low + share * (high - low) for share in shares)]
    engine.lookup("utilities", pa.table({"place": range(len(utilities)), "utility": utilities}))
    query = f"SELECT {queries.fixed_point(limits)} AS q FROM {engine.name('utilities')} ORDER BY place"
    expected = [math.floor(min(max((u - low) / (high - low), 0.0), 1.0) * 2.0**30 + 0.5) for u in utilities]
    assert engine.table(query)["q"].to_pylist() == expected
    assert expected[:2] == [0, 2**30]
    quick = queries.fixed_point(limits, clips=False)
    inside = f"SELECT {quick} AS q FROM {engine.name('utilities')} WHERE utility BETWEEN ? AND ? ORDER BY place"
    found = engine.table(inside.replace("?", queries.double(low), 1).replace("?", queries.double(high), 1))["q"]
    assert found.to_pylist() == [q for q, u in zip(expected, utilities, strict=True) if low <= u <= high]


def test_wide_sums_are_the_same_in_any_parts(engine):
    terms = [2**60, 2**60 - 1, 2**59 + 5, 0, 12345678901234567] * 50
    engine.lookup("terms", pa.table({"x": terms}))
    for parts in (engine.wide_sum("x", 30), Engine.wide_sum(engine, "x", 30)):
        found = engine.table(f"SELECT {parts[0]} AS high, {parts[1]} AS low FROM {engine.name('terms')}").to_pylist()[0]
        assert found["high"] * 2**30 + found["low"] == sum(terms) > 2**63


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.25, 0.75), (0.1, 0.2, 0.7), (0.375, 0.125, 0.5)])
def test_parts_are_shares_of_the_hashes(engine, shares):
    names = [f"sample {m}" for m in range(300)]
    engine.lookup("names", pa.table({"place": range(len(names)), "sample": names}))
    query = f"SELECT {queries.part(shares, 4)} AS part FROM {engine.name('names')} ORDER BY place"
    ends = [int(sum(map(Fraction, shares[: p + 1])) / sum(map(Fraction, shares)) * 2**128) for p in range(len(shares))]
    hashes = [int(hashlib.md5(f"4:{name}".encode()).hexdigest(), 16) for name in names]
    assert engine.table(query)["part"].to_pylist() == [sum(h >= end for end in ends[:-1]) for h in hashes]
