"""Who was not seen for long at the end of a log."""

from math import comb

import pytest

import coterie
from coterie.learn.warnings import not_seen_lately
from coterie.statistics.last_seen import AT_LEAST, BY_CHANCE, is_unlikely

PEOPLE = ("Ann", "Bo", "Cy", "Di", "Ed", "Flo")


@pytest.fixture
def statistics():
    """Ann is in the first seven of twelve months, Bo in two of the first, everybody else in all."""
    pairs = []
    for month in range(1, 13):
        here = [name for name in PEOPLE if (name != "Ann" or month <= 7) and (name != "Bo" or month in {2, 5})]
        for i, one in enumerate(here):
            pairs += [(f"2026-{month:02}", "Team", one, two, 0.5) for two in here[:i]]
    names = ("sample", "coalition", "agent", "partner", "utility")
    frame = {name: [row[t] for row in pairs] for t, name in enumerate(names)}
    import pyarrow as pa

    return coterie.Statistics.of(coterie.Log.from_frames(pairs=pa.table(frame)))


def test_who_is_missing_beyond_chance_is_named_with_the_last_sample(statistics, tmp_path):
    assert statistics.clues.not_lately == (("Ann", "2026-07"),)
    statistics.save(tmp_path / "statistics.npz")
    assert coterie.Statistics.load(tmp_path / "statistics.npz").clues.not_lately == statistics.clues.not_lately


def test_a_staff_says_who_is_there(statistics):
    (told,) = not_seen_lately(statistics, None)
    assert "given a place all the same: Ann (last in 2026-07); if they have left, say with staff who is there" in told
    assert not_seen_lately(statistics, PEOPLE) == []


@pytest.mark.parametrize("samples", [1, 4, 12, 30])
def test_what_is_unlikely_is_so_by_counting(samples):
    for last in range(1, samples + 1):
        for times in range(1, last + 1):
            chance = comb(last, times) / comb(samples, times)
            if abs(chance - BY_CHANCE) > 1e-9:
                late = samples - last >= AT_LEAST * samples
                assert is_unlikely(times, last, samples) == (late and chance < BY_CHANCE)


def test_many_samples_are_no_trouble():
    assert is_unlikely(10**6, 10**6, 2 * 10**6)
