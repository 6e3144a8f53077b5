"""What tests of assumptions need: made with the statistics, added, saved and loaded with them."""

import json
from dataclasses import astuple, replace

import numpy as np
import pytest

import coterie
from coterie.errors import InputError
from coterie.log.log import INFERRED
from coterie.statistics import clues
from coterie.statistics.dependence import NO_EXCESS, Excess, SampleExcess, sample_excess
from coterie.statistics.parts import HALVES, PARTS
from coterie.statistics.statistics import Statistics


def log_of(log_tables, names=("memberships", "pairs"), **options):
    return coterie.Log.from_frames(**log_tables.frames(*names), threads=1, **options)


def assert_same_sums(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.setting == other.setting
        expected = other.arrays()
        assert one.arrays().keys() == expected.keys()
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, expected[name], err_msg=name)


@pytest.mark.parametrize("parts", [(1.0,), HALVES, PARTS, (0.3, 0.7), (0.2, 0.2, 0.6)])
@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("options", [{}, {"symmetric": False}, {"pool_coalitions": True}])
def test_one_reduction_gives_the_parts_and_two_halves_by_size(tables, parts, noise, options):
    log = log_of(tables(60, symmetric=options.get("symmetric", True)), **options)
    found = Statistics.of(log, parts=parts, noise=noise, seed=5)
    plain = Statistics.of(log, parts=parts, noise=noise, seed=5, clues=False)
    assert_same_sums(found.parts, plain.parts)
    assert found.sha256 == plain.sha256
    assert plain.clues is clues.NO_CLUES
    assert_same_sums(found.clues.by_size, Statistics.of(log, sizes="aware", parts=HALVES, seed=5, clues=False).parts)
    assert found.clues.extent == (min(log_utilities(log)), max(log_utilities(log)))
    assert found.clues.excess.samples == (sample_excess(log).samples if noise == "pairs" else 0)


def log_utilities(log):
    return log.engine.table(f"SELECT utility FROM {log.engine.name('ratings')}")["utility"].to_pylist()


def test_only_what_is_tested_is_kept(tables, monkeypatch):
    log_tables = tables(61)
    log = log_of(log_tables)
    assert Statistics.of(log, sizes="aware").clues.by_size == ()
    without = Statistics.of(log_of(log_tables, ("pairs",), pool_coalitions=False)).clues
    assert without.by_size == ()
    assert without.notes == (INFERRED,)
    assert without.excess.samples > 0
    totals = Statistics.of(log_of(log_tables, ("memberships", "totals"))).clues
    assert (totals.by_size, totals.excess) == ((), NO_EXCESS)
    assert totals.extent is not None
    monkeypatch.setattr(clues, "SIZED_CELLS", 3 * 5 * 5 * 6 - 1)
    assert Statistics.of(log).clues.by_size == ()


def by_order_of(log_tables, pooled=False):
    """Coalition, agent and partner as they are listed -> how many rows there are, and their sum."""
    found = {}
    for _, coalition, agent, partner, utility in log_tables.pairs:
        count, total = found.get(key := ("" if pooled else coalition, agent, partner), (0, 0.0))
        found[key] = (count + 1, total + utility)
    return found


def turned(log_tables):
    """The same log, in which some rows list the other of the two as the agent."""
    rows = [
        (sample, coalition, partner, agent, utility) if place % 3 == 0 else (sample, coalition, agent, partner, utility)
        for place, (sample, coalition, agent, partner, utility) in enumerate(log_tables.pairs)
    ]
    return replace(log_tables, pairs=rows)


@pytest.mark.parametrize("names", [("memberships", "pairs"), ("pairs",)])
@pytest.mark.parametrize("options", [{}, {"pool_coalitions": True}, {"sizes": "aware"}])
def test_who_is_listed_as_the_agent_is_kept(tables, names, options):
    log_tables, pooled = turned(tables(67)), "pool_coalitions" in options
    if len(names) == 1 and "sizes" in options:
        pytest.skip("sizes need memberships")
    log = log_of(log_tables, names, **({"pool_coalitions": True} if pooled else {}))
    statistics = Statistics.of(log, sizes=options.get("sizes", "ignore"))
    kept = statistics.clues.by_order
    assert (kept.setting.symmetric, kept.setting.sizes) == (False, "ignore")
    sums = {
        ("" if pooled else log.coalitions[l], log.agents[i], log.agents[j]): (count, pytest.approx(mean * count))
        for l, i, j, count, mean in zip(
            kept.coalition, kept.agent, kept.partner, kept.count.tolist(), kept.mean.tolist(), strict=True
        )
    }
    assert by_order_of(log_tables, pooled) == sums
    assert kept.rows == statistics.rows
    straight = Statistics.of(log_of(tables(67), names, **({"pool_coalitions": True} if pooled else {})))
    if "sizes" not in options:
        assert_same_sums(statistics.parts, straight.parts)  # estimates do not look at the order


def test_orders_are_not_kept_where_they_do_not_count(tables):
    frames = tables(68, symmetric=False).frames()
    assert Statistics.of(coterie.Log.from_frames(**frames, symmetric=False)).clues.by_order is None
    assert Statistics.of(coterie.Log.from_frames(**frames, symmetrize=True)).clues.by_order is None


def test_orders_of_different_logs_add_up(tables, tmp_path):
    log_tables = turned(tables(69))
    pieces = [log_tables.only(set(log_tables.samples[start::2])) for start in (0, 1)]
    ours = Statistics.of(log_of(pieces[0], agents=["a4", "a1"]))  # another order of agents
    theirs = Statistics.of(log_of(pieces[1], agents=["a4", "a1"]))
    whole = Statistics.of(log_of(log_tables, agents=["a4", "a1"]))
    assert_same_sums([(ours + theirs).clues.by_order], [whole.clues.by_order])
    without = Statistics.of(log_of(pieces[1], agents=["a4", "a1"]), clues=False)
    assert_same_sums([(without + ours).clues.by_order], [ours.clues.by_order])
    whole.save(tmp_path / "s.npz")
    assert_same_sums([Statistics.load(tmp_path / "s.npz").clues.by_order], [whole.clues.by_order])


def test_what_both_showed_is_counted(csv_log):
    header = "sample,coalition,agent,partner,utility\n"
    rows = "1,x,a,b,0.5\n1,x,b,a,0.5\n2,x,b,a,0\n3,x,b,c,1\n"
    found = Statistics.of(coterie.read_log(csv_log(pairs=header + rows))).clues
    assert found.agreed == 1
    assert dict(zip(map(tuple, found.by_order.entries.keys.tolist()), found.by_order.count.tolist(), strict=True)) == {
        (0, 0, 1): 1,
        (0, 1, 0): 1,
        (0, 1, 2): 1,
    }
    later = Statistics.of(coterie.read_log(csv_log(pairs=header + "4,x,a,b,0\n4,x,b,a,0\n"))).clues
    assert (found.merged(later, found.by_order.setting)).agreed == 2


@pytest.mark.parametrize("pooled", [False, True])
def test_clues_of_logs_add_up(tables, pooled):
    """Sums and extents are those of one log; the samples of each log are compared with its own means."""
    log_tables = tables(62, samples=60)
    pieces = [log_tables.only(set(log_tables.samples[start::2])) for start in (0, 1)]
    ours, theirs = (Statistics.of(log_of(piece, pool_coalitions=pooled), parts=PARTS) for piece in pieces)
    whole = Statistics.of(log_of(log_tables, pool_coalitions=pooled), parts=PARTS).clues
    for both in ((ours + theirs).clues, (theirs + ours).clues):
        assert_same_sums(both.by_size, whole.by_size)
        assert both.extent == whole.extent
        assert both.excess.samples == ours.clues.excess.samples + theirs.clues.excess.samples <= whole.excess.samples
        assert both.excess.rooms.total == pytest.approx(ours.clues.excess.rooms.total + theirs.clues.excess.rooms.total)
        assert both.excess.rooms.surprise == max(one.clues.excess.rooms.surprise for one in (ours, theirs))


def test_clues_of_different_logs(tables, monkeypatch):
    log_tables = tables(63)
    pieces = [log_tables.only(set(log_tables.samples[start::3])) for start in range(3)]
    first, second = (Statistics.of(log_of(piece, pool_coalitions=False)) for piece in pieces[:2])
    inferred = Statistics.of(log_of(pieces[1], ("pairs",), pool_coalitions=False))
    # The log whose sizes are known is tested on its own.
    for both in (first + inferred, inferred + first):
        assert_same_sums(both.clues.by_size, first.clues.by_size)
        assert both.clues.notes == (INFERRED,)
    noted = replace(first, clues=replace(first.clues, notes=("one", INFERRED)))
    assert (noted + inferred).clues.notes == ("one", INFERRED)
    assert (inferred + noted).clues.notes == (INFERRED, "one")
    without = Statistics.of(log_of(pieces[2]), clues=False)
    for both in (first + without, without + first):
        assert_same_sums(both.clues.by_size, first.clues.by_size)
        assert (both.clues.extent, both.clues.excess) == (None, first.clues.excess)
    assert (without + without).clues.extent is None
    monkeypatch.setattr(clues, "SIZED_CELLS", 3 * 5 * 5 * 6 - 1)
    assert (first + second).clues.by_size == ()


def test_notes_that_differ_in_numbers_are_told_once(tables):
    log_tables = tables(63)
    names = log_tables.samples
    pieces = [Statistics.of(log_of(log_tables, since=names[at], until=names[at + 9])) for at in (0, 10, 20)]
    notes = ((pieces[0] + pieces[1]) + pieces[2]).clues.notes
    assert sum("rounds are used" in note for note in notes) == 1
    assert notes[0] == pieces[0].clues.notes[0] + clues.ALIKE
    assert (pieces[0] + (pieces[1] + pieces[2])).clues.notes == notes


def dated(samples):
    """A log with samples of such names."""
    columns = {"coalition": "x", "agent": "a", "partner": "b", "utility": 0.5}
    return coterie.Log.from_frames(
        pairs={"sample": samples, **{name: [value] * len(samples) for name, value in columns.items()}}, threads=1
    )


def test_the_period_is_told_where_samples_are_dates(tmp_path):
    one, two = (Statistics.of(dated(names)) for names in (["2026-03-01", "2026-01-31"], ["2026-02-11", "2025-12-30"]))
    assert one.clues.period == ("2026-01-31", "2026-03-01")
    assert (one + two).clues.period == (two + one).clues.period == ("2025-12-30", "2026-03-01")
    assert Statistics.of(dated(["3", "12"])).clues.period is None
    assert (one + Statistics.of(dated(["3", "12"]))).clues.period is None
    assert (one + Statistics.of(dated(["3.4.2026"]))).clues.period is None
    one.save(tmp_path / "s.npz")
    assert Statistics.load(tmp_path / "s.npz").clues.period == one.clues.period


@pytest.mark.parametrize("names", [("memberships", "pairs"), ("pairs",), ("memberships", "totals")])
def test_clues_are_saved(tables, tmp_path, names):
    original = Statistics.of(log_of(tables(64), names), noise="auto")
    original.save(tmp_path / "s.npz")
    loaded = Statistics.load(tmp_path / "s.npz").clues
    assert_same_sums(loaded.by_size, original.clues.by_size)
    for name in ("notes", "extent", "excess", "contrasts", "decisive", "agreed", "marks"):
        assert getattr(loaded, name) == getattr(original.clues, name)


def test_clues_are_alike_on_every_engine(tables, spark):
    """Sums by size bit for bit; the excess, a sum of floats, to within rounding."""
    frames = tables(66, samples=80).frames()
    ours, theirs = (Statistics.of(coterie.Log.from_frames(**frames, spark=one)) for one in (None, spark))
    assert_same_sums(theirs.clues.by_size, ours.clues.by_size)
    assert_same_sums([theirs.clues.by_order], [ours.clues.by_order])
    assert theirs.sha256 == ours.sha256
    assert (theirs.clues.extent, theirs.clues.excess.samples) == (ours.clues.extent, ours.clues.excess.samples)
    for name in ("whole", "rooms", "agents"):
        excesses = [astuple(getattr(one.clues.excess, name)) for one in (theirs, ours)]
        assert excesses[0] == pytest.approx(excesses[1])
    assert len(ours.clues.contrasts) == 2 * len(ours.setting.coalitions)
    for one, other in zip(theirs.clues.contrasts, ours.clues.contrasts, strict=True):
        assert (one.coalition, one.half) == (other.coalition, other.half)
        assert astuple(one)[2:] == pytest.approx(astuple(other)[2:])
    decided = [Statistics.of(coterie.Log.from_frames(**frames, spark=one), noise="auto") for one in (None, spark)]
    assert decided[0].clues.decisive.samples == decided[1].clues.decisive.samples


def test_damaged_clues_are_refused(tables, tmp_path):
    path = tmp_path / "s.npz"
    Statistics.of(log_of(tables(65))).save(path)
    content = dict(np.load(path))
    header = json.loads(content["header"].tobytes())
    values = content["half1_values"].copy()
    values[0, 0] += 1
    other = header["clues"] | {"excess": {"samples": 1000, "total": 0.0, "squares": 1.0}}
    for header_of, arrays in (
        (header, {"half1_values": values}),
        ({**header, "clues": other}, {}),
        ({**header, "clues": {**header["clues"], "halves": 0}}, {}),
        ({key: value for key, value in header.items() if key != "clues"}, {}),
    ):
        packed = np.frombuffer(json.dumps(header_of).encode(), dtype=np.uint8)
        np.savez(path, **{**content, "header": packed, **arrays})
        with pytest.raises(InputError, match="does not match its hash"):
            Statistics.load(path)


def test_excess_adds_up():
    one = SampleExcess(1, Excess(2.0, 3.0, 1.0, 4.0, 5), agents=Excess(1.0, 1.0))
    two = SampleExcess(10, Excess(-1.0, 0.5, 1.0, 2.0, 5))
    assert one + two == SampleExcess(11, Excess(1.0, 3.5, 2.0, 4.0, 10), agents=Excess(1.0, 1.0))
    assert NO_EXCESS + NO_EXCESS == NO_EXCESS
