"""Which samples learn and which certify."""

import hashlib
from fractions import Fraction

import pyarrow as pa
import pytest

from coterie.log.engine import DuckDBEngine
from coterie.statistics.parts import HALVES, PARTS, Division, learning_parts


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.5), (0.25, 0.75), (0.1, 0.2, 0.7), (0.375, 0.125, 0.5), PARTS])
def test_parts_are_shares_of_the_hashes(shares):
    engine = DuckDBEngine(threads=1)
    names = [f"sample {m}" for m in range(300)]
    engine.lookup("names", pa.table({"place": range(len(names)), "sample": names}))

    def parts(division):
        query = f"SELECT {division.sql()} AS part FROM {engine.name('names')} ORDER BY place"
        return engine.table(query)["part"].to_pylist()

    ends = [int(sum(map(Fraction, shares[: p + 1])) / sum(map(Fraction, shares)) * 2**128) for p in range(len(shares))]
    hashes = [int(hashlib.md5(f"4:{name}".encode()).hexdigest(), 16) for name in names]
    division, halves = (Division.by_shares(one, 4) for one in (shares, HALVES))
    assert parts(division) == [sum(h >= end for end in ends[:-1]) for h in hashes]
    finer = division.refined(halves)
    for coarser in (division, halves):
        assert [coarser.places(finer)[piece] for piece in parts(finer)] == parts(coarser)


def test_the_last_part_of_learners_is_the_second_half():
    division, halves = (Division.by_shares(shares, 0) for shares in (PARTS, HALVES))
    assert division.refined(halves) == division
    assert halves.places(division).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("shares", "learn"), [(PARTS, 2), ((0.2, 0.8), 1), ((0.5, 0.5), 1), ((0.1, 0.9), 1), ((0.05, 0.05, 0.9), 2)]
)
def test_a_fifth_learns_and_the_last_part_certifies(shares, learn):
    assert learning_parts(shares) == learn
