"""The order of samples, and logs of a part of them."""

import json

import pyarrow as pa
import pytest

import coterie
from coterie.errors import InputError
from coterie.log.samples import in_sequence, samples_of
from coterie.statistics.statistics import Statistics


@pytest.mark.parametrize(
    ("seen", "expected", "order"),
    [
        (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"], "numbers"),
        (["01", "1", "0"], ["0", "01", "1"], "numbers"),
        (["2024-10", "2024-09-30", "2023-12"], ["2023-12", "2024-09-30", "2024-10"], "dates"),
        (["2024-Q3", "2023-Q4"], ["2023-Q4", "2024-Q3"], "dates"),
        (["2024-01-02 10:00", "2024-01-02 09:30", "2024-01-01"], ["2024-01-01", "2024-01-02 09:30", "2024-01-02 10:00"],
         "dates"),
        (["1.10.2024", "30.9.2024", "31.12.2023"], ["31.12.2023", "30.9.2024", "1.10.2024"], "dates"),
        (["spring", "autumn", "s10", "s9"], ["spring", "autumn", "s10", "s9"], "first seen"),
        (["10", "9", "x"], ["10", "9", "x"], "first seen"),
        (["03/04/2024", "02/05/2024"], ["03/04/2024", "02/05/2024"], "first seen"),
    ],
)  # fmt: skip
def test_natural_order(seen, expected, order):
    found = in_sequence(pa.array(seen))
    assert found.names.to_pylist() == expected
    assert order in found.order


def pairs_of(names):
    return {
        "sample": names, "coalition": ["x"] * len(names), "agent": ["a"] * len(names), "partner": ["b"] * len(names),
        "utility": [0.1 * t for t in range(len(names))],
    }  # fmt: skip


def test_first_seen_in_the_first_table_that_has_them():
    memberships = {"sample": ["u", "u", "t", "t"], "agent": ["a", "b"] * 2, "coalition": ["x"] * 4}
    totals = {"sample": ["s", "t", "u"], "agent": ["a"] * 3, "utility": [0.0, 0.1, 0.2]}
    log = coterie.Log.from_frames(memberships=memberships, totals=totals)
    assert log.samples.names.to_pylist() == ["u", "t", "s"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"since": "9"}, ["9", "10", "11"]),
        ({"since": 9}, ["9", "10", "11"]),
        ({"until": "9"}, ["8", "9"]),
        ({"since": "9", "until": "10"}, ["9", "10"]),
        ({"since": "8"}, ["8", "9", "10", "11"]),
    ],
)
def test_a_range_of_samples(options, expected):
    log = coterie.Log.from_frames(pairs=pairs_of(["11", "10", "9", "8"]), **options)
    assert log.samples.names.to_pylist() == expected
    assert (log.n_samples, log.rows) == (len(expected), len(expected))
    assert Statistics.of(log).rows == len(expected)
    assert any(f"{len(expected)} of 4 rounds are used" in note for note in log.notes) == (len(expected) < 4)


def test_what_lies_outside_is_not_part_of_the_log():
    pairs = pairs_of(["1", "2", "3"])
    pairs["utility"] = [7.0, 0.1, 0.2]
    pairs["partner"] = ["c", "b", "b"]
    log = coterie.Log.from_frames(pairs=pairs, since="2")
    assert log.agents == ("a", "b")
    assert log.checked.extent == (0.1, 0.2)
    pairs["sample"] = ["1", "", "3"]
    with pytest.raises(InputError, match="sample is empty"):
        coterie.Log.from_frames(pairs=pairs, since="3")


def test_unknown_names_are_refused_with_a_hint(csv_log):
    pairs = pairs_of(["2024-01", "2024-02", "2024-03"])
    with pytest.raises(InputError, match=r"since: no sample is called '2024-4'.*order of their dates.*'2024-01' to "
                                         r"'2024-03'; similar: '2024-0"):  # fmt: skip
        coterie.Log.from_frames(pairs=pairs, since="2024-4")
    with pytest.raises(InputError, match=r"until: no sample is called 'May'; there are 3 samples"):
        coterie.Log.from_frames(pairs=pairs, until="May")
    with pytest.raises(InputError, match=r'since="2024-03", until="2024-01": \'2024-03\' comes after'):
        coterie.Log.from_frames(pairs=pairs, since="2024-03", until="2024-01")
    with pytest.raises(InputError, match=r"since: expected a name, got 1\.5"):
        coterie.Log.from_frames(pairs=pairs, since=1.5)
    with pytest.raises(InputError, match="has no rounds"):
        coterie.read_log(csv_log(pairs="sample,coalition,agent,partner,utility\n"), since="1")


def test_files_of_every_kind_are_restricted(tables, tmp_path):
    made = tables(70)
    kept = set(list(dict.fromkeys(row[0] for row in made.memberships))[7:30])
    for names in (("memberships", "pairs"), ("memberships", "totals")):
        folder = made.write(tmp_path / names[1], *names)
        (folder / "log.json").write_text(json.dumps({"since": "s7"}))
        log = coterie.read_log(folder, until="s29")
        assert set(log.samples.names.to_pylist()) == kept
        expected = Statistics.of(coterie.Log.from_frames(**made.only(kept).frames(*names)))
        assert Statistics.of(log).sha256 == expected.sha256


def test_samples_are_alike_on_every_engine(tables, spark, tmp_path):
    made = tables(71)
    folder = made.write(tmp_path / "log")
    ours = coterie.read_log(folder, since="s5", until="s20")
    theirs = coterie.read_log(folder, since="s5", until="s20", spark=spark)
    assert theirs.samples.names.to_pylist() == ours.samples.names.to_pylist()
    assert theirs.notes == ours.notes
    assert len({Statistics.of(log, clues=False).sha256 for log in (ours, theirs)}) == 1
    frames = coterie.Log.from_frames(**made.frames(), spark=spark)
    assert samples_of(frames.engine, frames.tables).names.to_pylist() == [f"s{m}" for m in range(40)]
