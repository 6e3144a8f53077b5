"""Sums by key, and sums in two parts, against plain Python."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.log.engine import DuckDBEngine, Engine
from coterie.sums import Sums, carried, numbered


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


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 3), *[st.integers(0, 5)] * 3), max_size=30))
def test_groups_are_collected_each_on_its_own(count, rows):
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    group = table[:, 0] % count
    found = Sums.collect_each(group, count, table[:, 1:3], table[:, 3:])
    assert len(found) == count
    for number, sums in enumerate(found):
        alone = Sums.collect(table[group == number, 1:3], table[group == number, 3:])
        np.testing.assert_array_equal(sums.keys, alone.keys)
        np.testing.assert_array_equal(sums.values, alone.values)


def test_wide_sums_are_the_same_in_any_parts(engine):
    terms = [2**60, 2**60 - 1, 2**59 + 5, 0, 12345678901234567] * 50
    engine.lookup("terms", pa.table({"x": terms}))
    for parts in (engine.wide_sum("x", 30), Engine.wide_sum(engine, "x", 30)):
        found = engine.table(f"SELECT {parts[0]} AS high, {parts[1]} AS low FROM {engine.name('terms')}").to_pylist()[0]
        assert found["high"] * 2**30 + found["low"] == sum(terms) > 2**63


@pytest.mark.parametrize("largest", [3, 2**40])  # the second: no single number holds a key
def test_rows_are_numbered_as_numpy_does(largest):
    keys = np.random.default_rng(0).integers(0, 3, (60, 3)) * (largest // 2)
    assert (numbered(keys) == np.unique(keys, axis=0, return_inverse=True)[1].ravel()).all()
    assert numbered(keys[:0]).shape == (0,)
