"""Fixed-point utilities against plain Python, in SQL, in NumPy and compiled."""

import math

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.log import queries
from coterie.log.engine import DuckDBEngine
from coterie.statistics.fixed_point import fixed_point, fixed_points, steps


@pytest.fixture(scope="module")
def engine():
    return DuckDBEngine(threads=1)


@pytest.fixture(scope="module")
def compiled():
    return numba.njit(steps)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(-1.0, 1.0), (0.0, 1.0), (1.0, 5.0), (0.0, 10.0), (-0.1, 0.2), (-1e150, 3.0), (0.0, 1e-150)]),
    st.lists(st.floats(-1e-9, 1 + 1e-9), min_size=1, max_size=20),
)
def test_fixed_point_is_the_clipped_share_of_the_range(engine, compiled, limits, shares):
    low, high = limits
    utilities = [low, high, *(low + share * (high - low) for share in shares)]
    engine.lookup("utilities", pa.table({"place": range(len(utilities)), "utility": utilities}))
    query = f"SELECT {fixed_point(limits)} AS q FROM {engine.name('utilities')} ORDER BY place"
    expected = [math.floor(min(max((u - low) / (high - low), 0.0), 1.0) * 2.0**30 + 0.5) for u in utilities]
    assert engine.table(query)["q"].to_pylist() == expected
    assert expected[:2] == [0, 2**30]
    assert fixed_points(np.array(utilities), limits).tolist() == expected
    assert [compiled(u - low, high - low) for u in utilities] == expected
    quick = fixed_point(limits, clips=False)
    inside = f"SELECT {quick} AS q FROM {engine.name('utilities')} WHERE utility BETWEEN ? AND ? ORDER BY place"
    found = engine.table(inside.replace("?", queries.double(low), 1).replace("?", queries.double(high), 1))["q"]
    assert found.to_pylist() == [q for q, u in zip(expected, utilities, strict=True) if low <= u <= high]
