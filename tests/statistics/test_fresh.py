"""No sample counts twice."""

import hashlib
import json

import numpy as np
import pytest

import coterie
from coterie import StableLearner
from coterie.errors import InputError
from coterie.statistics.fresh import UNCHECKED, sample_hashes
from coterie.statistics.statistics import Statistics, _digest

BOTH = [("memberships", "pairs"), ("memberships", "totals"), ("pairs",)]


def log_of(made, names=("memberships", "pairs"), **options):
    return coterie.Log.from_frames(**made.frames(*names), threads=1, **options)


def first_samples(made, count):
    return made.only({f"s{m}" for m in range(count)})


@pytest.mark.parametrize("names", BOTH)
def test_hashes_are_those_of_the_names(tables, names):
    made = tables(80)
    seen = {row[0] for name in names for row in getattr(made, name)}
    expected = sorted(int(hashlib.md5(name.encode()).hexdigest()[:16], 16) for name in seen)
    log = log_of(made, names)
    assert sample_hashes(log).tolist() == expected
    found = Statistics.of(log)
    assert found.clues.samples.tolist() == expected
    assert len(expected) == found.n_samples


def test_hashes_are_alike_on_every_engine(tables, spark):
    made = tables(81)
    ours, theirs = (coterie.Log.from_frames(**made.frames(), spark=one) for one in (None, spark))
    assert (sample_hashes(ours) == sample_hashes(theirs)).all()


@pytest.mark.parametrize("names", BOTH)
def test_growing_exports_are_refused(tables, names):
    """The export of this month holds that of the month before; the samples of both would count twice."""
    made = tables(82)
    short, long = (Statistics.of(log_of(first_samples(made, count), names)) for count in (25, 40))
    for ours, theirs in ((short, long), (long, short), (long, long)):
        with pytest.raises(InputError, match=r"samples are in both, .* one log holds the other: learn from that one"):
            _ = ours + theirs


def test_overlaps_are_counted(tables):
    made = tables(83)
    pieces = [made.only({f"s{m}" for m in range(*ends)}) for ends in ((0, 20), (19, 40), (20, 40))]
    first, overlapping, later = (Statistics.of(log_of(piece)) for piece in pieces)
    with pytest.raises(InputError, match=r"1 sample is in both, of 20 and 21,.*leave them out .*\(since, until\)"):
        _ = first + overlapping
    both = first + later
    assert both.clues.samples.tolist() == Statistics.of(log_of(made)).clues.samples.tolist()
    with pytest.raises(InputError, match="21 samples are in both, of 40 and 21"):
        _ = both + overlapping


def test_learners_refuse_overlaps(tables):
    made = tables(84, n=3, k=2, samples=60)
    short, long = log_of(first_samples(made, 30)), log_of(made)
    with pytest.raises(InputError, match="30 samples are in both"):
        StableLearner().fit(short).partial_fit(long)
    with pytest.raises(InputError, match="30 samples are in both"):
        StableLearner().fit(short).merge(StableLearner().fit(long))
    rest = coterie.Log.from_frames(**made.frames(), since="s30", threads=1)
    found = StableLearner().fit(short).partial_fit(rest)
    assert found.statistics_.n_samples == 60
    assert UNCHECKED not in found.result_.warnings


def test_hashes_are_saved(tables, tmp_path):
    made = tables(85)
    short, long = (Statistics.of(log_of(first_samples(made, count))) for count in (25, 40))
    short.save(tmp_path / "s.npz")
    loaded = Statistics.load(tmp_path / "s.npz")
    assert (loaded.clues.samples == short.clues.samples).all()
    with pytest.raises(InputError, match="25 samples are in both"):
        _ = loaded + long


def test_files_without_hashes_say_that_nothing_was_checked(tables, tmp_path):
    made = tables(86)
    first, later = (Statistics.of(log_of(made.only({f"s{m}" for m in ends}))) for ends in (range(20), range(20, 40)))
    path = tmp_path / "old.npz"
    first.save(path)
    content = dict(np.load(path))
    header = json.loads(content.pop("header").tobytes())
    del content["sample_hashes"], header["clues"]["drift"], header["sha256"]
    header["sha256"] = _digest(header, content)
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **content)
    old = Statistics.load(path)
    assert old.sha256 == first.sha256
    assert UNCHECKED not in old.clues.notes
    assert UNCHECKED in (old + later).clues.notes
    assert UNCHECKED in (later + old).clues.notes
    assert UNCHECKED in (Statistics.of(log_of(made.only({"s0"})), clues=False) + later).clues.notes
