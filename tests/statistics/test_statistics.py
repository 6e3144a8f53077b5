"""Adding, saving and loading statistics."""

import json
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.errors import InputError
from coterie.simulate import Simulation
from coterie.statistics.clues import NO_CLUES
from coterie.statistics.packed import filled_up, packed_length
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import OLDER, Statistics, _digest


def statistics_of(log_tables, names, options, wanted):
    if "json" in options:
        with tempfile.TemporaryDirectory() as folder:
            place = log_tables.write(Path(folder) / "log", *names)
            (place / "log.json").write_text(options["json"], encoding="utf-8")
            return Statistics.of(coterie.read_log(place, threads=1), **wanted)
    return Statistics.of(coterie.Log.from_frames(**log_tables.frames(*names), threads=1, **options), **wanted)


CASES = [
    (("memberships", "pairs"), {}, {}),
    (("memberships", "pairs"), {"symmetric": False}, {"noise": "samples"}),
    (("memberships", "pairs"), {"pool_coalitions": True, "may_stay_out": True}, {"noise": "samples", "sizes": "aware"}),
    (("memberships", "pairs"), {"actions": "observed-own"}, {"sizes": "aware", "parts": (0.3, 0.3, 0.4)}),
    (("memberships", "pairs"), {"json": '{"agents": ["z", "a2"], "coalitions": ["c2", "c0"]}'}, {"sizes": "aware"}),
    (
        ("memberships", "totals"),
        {"json": '{"agents": ["a3", "a0"], "actions": "observed-own", "may_stay_out": true}'},
        {},
    ),
    (("memberships", "totals"), {}, {"unweighted": True}),
    (("memberships", "totals"), {"pool_coalitions": True}, {"noise": "samples"}),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)))
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_any_partition_in_any_order_gives_the_same(tables, case, data):
    """Parts may see different agents and coalitions; together they are the log."""
    names, options, wanted = CASES[case]
    wanted = {**wanted, "clues": False}  # they are no part of the hash, and take most of the time
    symmetric = options.get("symmetric", True)
    log_tables = tables(data.draw(st.integers(0, 50)), n=4, k=3, samples=8, symmetric=symmetric, observed=1.0)
    feedback = names[1]
    having = {row[0] for row in getattr(log_tables, feedback)}
    samples = [sample for sample in log_tables.samples if sample in having]
    log_tables = log_tables.only(set(samples))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(samples), max_size=len(samples)))
    pieces = [[s for s, label in zip(samples, labels, strict=True) if label == part] for part in range(3)]
    reduced = [statistics_of(log_tables.only(set(piece)), names, options, wanted) for piece in pieces if piece]
    order = data.draw(st.permutations(range(len(reduced))))
    merged = reduced[order[0]]
    for index in order[1:]:
        merged = merged + reduced[index]
    assert merged.sha256 == statistics_of(log_tables, names, options, wanted).sha256


def test_joint_sums_add_up(tables):
    log_tables = tables(40, n=4, k=2)
    names, wanted = ("memberships", "totals"), {"joint": True}
    whole = statistics_of(log_tables, names, {}, wanted).whole
    halves = [log_tables.only(set(log_tables.samples[start::2])) for start in (0, 1)]
    first, second = (statistics_of(half, names, {}, wanted) for half in halves)
    assert (first + second).whole.joint.projections == pytest.approx(whole.joint.projections)
    assert (first + second).whole.joint.moments == pytest.approx(whole.joint.moments)
    others = tables(44, n=4, k=2)
    fewer = others.only({s for s, a, _ in others.memberships} - {s for s, a, _ in others.memberships if a == "a0"})
    fewer = replace(fewer, **{name: [(f"later {row[0]}", *row[1:]) for row in getattr(fewer, name)] for name in names})
    narrow = statistics_of(fewer, names, {}, wanted)
    assert (narrow + first).setting.agents == first.setting.agents
    assert (narrow + first).whole.joint.moments == pytest.approx((first + narrow).whole.joint.moments)


def test_parts_together_are_all_parts_added(tables):
    """Matrices of totals are added when they are asked for: they are large, and nobody keeps their sums."""
    log = coterie.Log.from_frames(**tables(3, n=4, samples=40).frames("memberships", "totals"))
    made = Statistics.of(log, parts=(0.3, 0.3, 0.4), unweighted=True, joint=True)
    one, two, three = made.parts
    expected = one.merged(two, made.setting).merged(three, made.setting)
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(made.whole.arrays()[name], array, err_msg=name)
    assert made.whole.rows == expected.rows > 0
    for agent, weighting in product(range(4), (None, "none")):
        np.testing.assert_array_equal(made.whole.gram(agent, weighting), expected.gram(agent, weighting))
        assert made.whole.squares(agent, weighting) == expected.squares(agent, weighting)
    twice = made.whole.repeated(2).arrays()
    np.testing.assert_array_equal(twice["pairs_gram"], 2 * expected.arrays()["pairs_gram"])


def test_what_cannot_be_added(tables):
    log_tables = tables(41)
    names = ("memberships", "pairs")
    plain = statistics_of(log_tables, names, {}, {})
    for options, wanted, expected in [
        ({}, {"seed": 1}, "seed is 0 here and 1 there"),
        ({}, {"parts": (0.4, 0.6)}, "shares"),
        ({}, {"sizes": "aware"}, "sizes is 'ignore' here"),
        ({"utility_range": (-2, 2)}, {}, "utility_range"),
        ({"actions": "any"}, {}, "action_description"),
    ]:
        with pytest.raises(InputError, match=expected):
            _ = plain + statistics_of(log_tables, names, options, wanted)
    pieces = [log_tables.only(set(log_tables.samples[start::2])) for start in (0, 1, 0)]
    sets = ([["c0"]], [["c0"]], [["c1"]])
    listed = [statistics_of(piece, names, {"actions": own}, {}) for piece, own in zip(pieces, sets, strict=True)]
    assert (listed[0] + listed[1]).setting.action_sets == [["c0"]]
    with pytest.raises(InputError, match="action_description"):
        _ = listed[0] + listed[2]
    totals = ("memberships", "totals")
    with pytest.raises(InputError, match="different matrices"):
        _ = statistics_of(log_tables, totals, {}, {}) + statistics_of(log_tables, totals, {}, {"unweighted": True})
    with pytest.raises(TypeError):
        _ = plain + 1


@pytest.mark.parametrize("case", range(len(CASES)))
def test_saving_and_loading(tables, tmp_path, case):
    names, options, wanted = CASES[case]
    symmetric = options.get("symmetric", True)
    log_tables = tables(42, symmetric=symmetric)
    pieces = [log_tables.only(set(log_tables.samples[start::2])) for start in (0, 1)]
    original, other = (statistics_of(piece, names, options, wanted) for piece in pieces)
    original.save(tmp_path / "s.npz")
    loaded = coterie.Statistics.load(tmp_path / "s.npz")
    assert loaded.sha256 == original.sha256
    assert loaded.setting == original.setting
    assert (loaded + other).sha256 == (other + loaded).sha256 == (original + other).sha256
    assert repr(loaded) == repr(original)


def test_joint_sums_are_saved(tables, tmp_path):
    original = statistics_of(tables(43, n=3, k=2), ("memberships", "totals"), {}, {"joint": True})
    original.save(tmp_path / "s.npz")
    assert (coterie.Statistics.load(tmp_path / "s.npz").whole.joint.moments == original.whole.joint.moments).all()


def test_foreign_and_damaged_files(tables, tmp_path):
    original = statistics_of(tables(44), ("memberships", "pairs"), {}, {})
    path = tmp_path / "s.npz"
    original.save(path)
    content = dict(np.load(path))
    header = json.loads(content["header"].tobytes())

    def stored(changes, **arrays):
        packed = np.frombuffer(json.dumps({**header, **changes}).encode(), dtype=np.uint8)
        np.savez(path, **{**content, "header": packed, **arrays})
        return path

    values = content["0_values"].copy()
    values[0, 1] += 1
    for damaged in (
        lambda: stored({}, **{"0_values": values}),
        lambda: stored({"setting": {**header["setting"], "seed": 9}}),
        lambda: stored({"parts": 1}),
        lambda: stored({"setting": {}}),
    ):
        with pytest.raises(InputError, match="does not match its hash"):
            coterie.Statistics.load(damaged())
    with pytest.raises(InputError, match=r"the format is 'coterie.statistics/9', expected"):
        coterie.Statistics.load(stored({"format": "coterie.statistics/9"}))
    np.savez(path, x=np.arange(3))
    with pytest.raises(InputError, match="is not a file of statistics"):
        coterie.Statistics.load(path)
    original.save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="is not a file of statistics, or is damaged"):
        coterie.Statistics.load(path)
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="is not a file of statistics"):
        coterie.Statistics.load(path)
    with pytest.raises(InputError, match="no such file"):
        coterie.Statistics.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("format_", OLDER)
def test_files_of_formats_before(tables, tmp_path, format_):
    """There were no clues; in the oldest, parts of sums of squares were added up one by one.

    Read again, equal statistics are equal.
    """
    original = statistics_of(tables(46), ("memberships", "pairs"), {}, {"noise": "samples"})
    path = tmp_path / "s.npz"
    original.save(path)
    content = dict(np.load(path))
    header = json.loads(content["header"].tobytes())
    content = {name: array for name, array in content.items() if name[0] in "01"}
    for p in range(2) if format_.endswith("/2") else ():
        values = content[f"{p}_values"] = content[f"{p}_values"].copy()
        values[:, 2] -= values[:, 0]
        values[:, 3] += values[:, 0] << 30
    older = {"format": format_, "sha256": _digest(original.setting.to_json(), content), "parts": 2}
    older["setting"] = header["setting"]
    np.savez(path, **content, header=np.frombuffer(json.dumps(older).encode(), dtype=np.uint8))
    loaded = coterie.Statistics.load(path)
    assert loaded.sha256 == original.sha256
    assert (older["sha256"] == original.sha256) == format_.endswith("/3")
    assert loaded.clues is NO_CLUES
    loaded.save(path)
    assert json.loads(np.load(path)["header"].tobytes())["format"] == "coterie.statistics/4"


def test_views_that_do_not_exist(tables):
    sized = statistics_of(tables(45), ("memberships", "pairs"), {}, {"sizes": "aware"}).whole
    with pytest.raises(InputError, match="one per size"):
        _ = sized.means
    assert sized.counts.sum() == 2 * sized.rows
    plain = statistics_of(tables(45), ("memberships", "pairs"), {"pool_coalitions": True}, {}).whole
    with pytest.raises(InputError, match="ignore sizes"):
        _ = plain.size
    with pytest.raises(InputError, match='repeats need noise="samples"'):
        _ = plain.repeats
    with pytest.raises(InputError, match="co-occurrence"):
        plain.cooccurrence(0)


def changed_file(statistics, path, **changes):
    """Save statistics with other arrays, and with the hash that goes with them."""
    statistics.save(path)
    with np.load(path) as content:
        header = json.loads(content["header"].tobytes())
        arrays = {name: content[name] for name in content.files if name != "header"}
    arrays |= changes.pop("arrays", {})
    header |= changes
    header.pop("sha256")
    header["sha256"] = _digest(header, arrays)
    np.savez(path, **arrays, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    return path


def test_what_no_log_comes_to_is_refused_whatever_the_hash_says(tables, tmp_path):
    made = coterie.Statistics.of(coterie.Log.from_frames(**tables().frames()))
    values, keys = made.parts[0].entries.values, made.parts[0].entries.keys
    path = tmp_path / "s.npz"
    assert coterie.Statistics.load(changed_file(made, path)).sha256 == made.sha256

    def with_value(column, value):
        found = values.copy()
        found[0, column] = value
        return found

    setting = made.setting.to_json()
    for change, message in (
        ({"0_values": with_value(0, -3)}, "values: -3 is less than 0"),
        ({"0_values": with_value(0, 0)}, "counts: 0 is less than 1"),
        ({"0_values": with_value(1, 2**40)}, "sums: exceed"),
        ({"0_values": with_value(2, 2**40)}, "sums of squares"),
        ({"0_values": with_value(2, 0)}, "sums of squares"),
        ({"0_values": values[:-1]}, "values: expected shape"),
        ({"0_values": values.astype(float)}, "values: expected whole numbers"),
        ({"0_keys": keys[::-1].copy()}, "keys: are not in order"),
        ({"0_keys": keys + 50}, "keys: .* is more than"),
        ({"0_n_samples": np.array(-1)}, "n_samples: -1 is less than 0"),
        ({"attendance": made.attendance[1:]}, "attendance: expected shape"),
    ):
        with pytest.raises(InputError, match=f"s.npz: holds what no log comes to: {message}"):
            coterie.Statistics.load(changed_file(made, path, arrays=change))
    for change, message in (
        ({"agents": ["a", "a"]}, "agents: the name 'a' occurs twice"),
        ({"symmetric": "yes"}, "setting.symmetric: expected true or false"),
        ({"utility_range": [1, -1]}, "has no range"),
        ({"utility_range": ["a", 1]}, "setting.utility_range: expected a finite number"),
        ({"shares": []}, "has no range, no parts"),
        ({"agents": 3}, "setting.agents: expected a list"),
    ):
        with pytest.raises(InputError, match=f"s.npz: holds what no log comes to: .*{message}"):
            coterie.Statistics.load(changed_file(made, path, setting=setting | change))
    with pytest.raises(InputError, match=r"s.npz: is damaged"):
        coterie.Statistics.load(changed_file(made, path, clues=[]))


@pytest.mark.parametrize("names", [("memberships", "pairs"), ("memberships", "totals")])
def test_sums_beyond_64_bits_are_refused(tables, names):
    """Doubling adds the same samples again and again, as very long logs would."""
    found = coterie.Statistics.of(coterie.Log.from_frames(**tables().frames(*names))).parts[0]
    held = [found]
    with pytest.raises(InputError, match="too many rows for sums of 64 bits"):
        for _ in range(64):
            held.append(held[-1].merged(held[-1], found.setting))
    assert held[-1].rows > 10**9
    if isinstance(found, PairStatistics):
        np.testing.assert_allclose(held[-1].mean, found.mean, rtol=1e-12)


@pytest.mark.parametrize("sizes", ["ignore", "aware"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_average_is_that_of_all_rows(tables, symmetric, sizes):
    log_tables = tables(7, symmetric=symmetric, low=1.0, high=5.0)
    options = {"utility_range": (1, 5), "neutral": 3, "symmetric": symmetric, "threads": 1}
    made = Statistics.of(coterie.Log.from_frames(**log_tables.frames(), **options), sizes=sizes)
    assert made.whole.average == pytest.approx(np.mean([row[-1] for row in log_tables.pairs]))


@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_the_average_of_totals_is_by_pair(tables, noise):
    """Everything over all pairs that got it, or the mean over totals of their averages, as totals are weighted."""
    log_tables = tables(8, low=1.0, high=5.0)
    options = {"utility_range": (1, 5), "neutral": 3, "threads": 1}
    made = Statistics.of(coterie.Log.from_frames(**log_tables.frames("memberships", "totals"), **options), noise=noise)
    joined = {(sample, agent): [] for sample, agent, _ in log_tables.memberships}
    teams = {}
    for sample, agent, coalition in log_tables.memberships:
        joined[sample, agent].append(coalition)
        teams[sample, coalition] = teams.get((sample, coalition), 0) + 1
    terms = [
        (total, sum(teams[sample, one] - 1 for one in joined[sample, agent]))
        for sample, agent, total in log_tables.totals
    ]
    terms = [(total, pairs) for total, pairs in terms if pairs]
    sums = np.sum(terms, axis=0)
    expected = sums[0] / sums[1] if noise == "pairs" else np.mean([total / pairs for total, pairs in terms])
    assert made.whole.average == pytest.approx(expected, abs=1e-6)


def test_the_average_of_nothing_is_not_known(tables):
    frames = tables(9).frames("memberships", "pairs")
    made = Statistics.of(coterie.Log.from_frames(**frames, threads=1))
    nothing = made.whole.entries
    empty = replace(made.whole, entries=type(nothing)(nothing.keys[:0], nothing.values[:0]))
    assert empty.average is None


def test_matrices_that_older_files_keep_whole_are_read():
    """Where nobody is in two coalitions at once, blocks across them are empty and no longer kept."""
    game = coterie.Game((np.ones((4, 4)) - np.eye(4)) / 4, "one", coalitions=["x", "y"])
    part = Statistics.of(Simulation.from_game(game, seed=1).log(20), noise="samples").parts[0]
    arrays, setting = part.arrays(), part.setting
    whole = filled_up(arrays["together"], packed_length(setting.n_features))
    assert whole.shape[1] > arrays["together"].shape[1]
    again = PairStatistics.from_arrays(setting, arrays | {"together": whole})
    assert (again.together == part.together).all()
    assert (again.cooccurrence(1) == part.cooccurrence(1)).all()
    with pytest.raises(InputError, match="together: expected shape"):
        PairStatistics.from_arrays(setting, arrays | {"together": whole[:, :-1]})
