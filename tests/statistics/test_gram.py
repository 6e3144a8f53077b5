"""The compiled kernels against the Python that they are compiled from."""

import pytest

import coterie
from coterie.statistics import gram
from coterie.statistics.statistics import Statistics


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("table", ["pairs", "totals"])
def test_compiled_and_interpreted_agree(tables, monkeypatch, table, pooled):
    frames = tables(50, n=4, samples=15).frames("memberships", table)
    log = coterie.Log.from_frames(**frames, pool_coalitions=pooled)
    cases = [{"noise": noise, "sizes": sizes} for noise in ("pairs", "samples") for sizes in ("ignore", "aware")]
    cases += [{"unweighted": True}]
    compiled = [Statistics.of(log, **case).sha256 for case in cases]
    for name in ("_add_outer", "add_cooccurrences", "add_totals"):
        monkeypatch.setattr(gram, name, getattr(gram, name).py_func)
    assert [Statistics.of(log, **case).sha256 for case in cases] == compiled
