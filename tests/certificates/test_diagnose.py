"""The tests of assumptions: silent where they hold, loud where they fail."""

from dataclasses import replace
from hashlib import md5

import numpy as np
import pytest

import coterie
from coterie.certificates.diagnose import (
    FALSE_ALARMS,
    WITHOUT_CLUES,
    checks_of,
    size_dependence,
    within_sample_dependence,
)
from coterie.errors import InputError
from coterie.simulate import Simulation
from coterie.statistics import clues as clues_of_logs
from coterie.statistics.contrast import suggested_weights
from coterie.statistics.dependence import LEAST_VALUES, SampleExcess, sample_excess
from coterie.statistics.in_memory import Batch
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.sums import Sums
from made_tables import frames_of


def parts_of(batch, n, k, rng, *, sizes="aware"):
    """Two halves as statistics by size, made directly from the rows."""
    setting = Setting(
        "semi-bandit", tuple(map(str, range(n))), tuple("abcdefgh"[:k]), batch.symmetric, (-1.0, 1.0), 0.0, None,
        False, "observed", "any", sizes, "pairs", (0.5, 0.5), 0,
    )  # fmt: skip
    half = rng.random(len(batch.joined)) < 0.5
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    q = np.round((batch.utility + 1) / 2 * 2**30).astype(np.int64)
    made = []
    for chosen in (half, ~half):
        rows = chosen[batch.sample]
        keys = [batch.coalition, batch.agent, batch.partner, *([size] if sizes == "aware" else [])]
        values = np.stack([np.ones_like(q), q, (q * q) >> 30, (q * q) & (2**30 - 1)], axis=1)[rows]
        entries = Sums.collect(np.stack(keys, axis=1)[rows], values)
        teams = Sums(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1), dtype=np.int64))
        made.append(PairStatistics(setting, int(chosen.sum()), entries, teams))
    return made


def drawn(seed, model, *, n=5, k=3, samples=400, noise=None, symmetric=True):
    rng = np.random.default_rng(seed)
    k = 5 if model.startswith("mixed") else k
    source = Simulation.draw(
        n, k, rng, model=model, actions_per_agent=None if k == 5 else 5, noise=noise, symmetric=symmetric
    )
    (batch,) = source.batches(samples)
    return batch, n, k, rng


def products(e):
    return sum(e[a] * e[b] for a in range(len(e)) for b in range(len(e)) if a != b)


def direct_excess(batch):
    """The excess straight from its definition, cell by cell."""
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    pairs = [batch.coalition, batch.agent, batch.partner]
    e = np.full(len(size), np.nan)
    for cells in ([*pairs, size], pairs):
        _, cell = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)
        count = np.bincount(cell.ravel())
        mean = np.bincount(cell.ravel(), batch.utility) / count
        use = np.isnan(e) & (count >= LEAST_VALUES)[cell.ravel()]
        e[use] = (batch.utility - mean[cell.ravel()])[use]
    values = []
    for sample in np.unique(batch.sample):
        own = (batch.sample == sample) & ~np.isnan(e)
        if own.sum() > 1:
            rooms = [e[own & (batch.coalition == room)] for room in np.unique(batch.coalition[own])]
            values.append([products(e[own]) / own.sum(), sum(map(products, rooms)) / own.sum()])
    sums, squares = np.sum(values, axis=0).tolist(), np.sum(np.square(values), axis=0).tolist()
    return SampleExcess(len(values), sums[0], squares[0], sums[1], squares[1])


def size_test(batch, **options):
    """The test as a result has it: from the clues of a log."""
    clues = Statistics.of(coterie.Log.from_frames(**frames_of(batch), threads=1, **options)).clues
    return size_dependence(clues.by_size, clues.contrasts)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_size_test_is_silent_where_size_does_not_matter(noise):
    """Also where the pairs of a sample share their noise, so that large rooms have all good or all bad days."""
    alarms = sum(bool(size_test(drawn(seed, "gaussian", noise=noise, samples=150)[0]).coalitions) for seed in range(60))
    assert alarms <= 60 * FALSE_ALARMS + 4 * np.sqrt(60 * FALSE_ALARMS)


@pytest.mark.slow
def test_rooms_that_lose_together_are_no_dependence_on_size():
    """Rare losses that a whole room shares: taken for independent, the pairs of few large rooms look like an effect."""
    alarms = 0
    for seed in range(60):
        batch, _, _, rng = drawn(seed, "gaussian", n=6, samples=200)
        bad = rng.random(batch.joined.shape[::2]) < 0.3
        batch = replace(batch, utility=np.where(bad[batch.sample, batch.coalition], -1.0, 0.5))
        alarms += bool(size_test(batch).coalitions)
    assert alarms <= 60 * FALSE_ALARMS + 4 * np.sqrt(60 * FALSE_ALARMS)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("model", "noise"), [("size-gaussian", None), ("size-gaussian", "samples")])
def test_size_test_finds_dependence(model, noise, symmetric):
    """Also where effects of different pairs have opposite signs and cancel on average."""
    found = size_test(drawn(1, model, samples=600, noise=noise, symmetric=symmetric)[0], symmetric=symmetric)
    assert found.coalitions
    assert 'use sizes="aware"' in found.warnings()[0]
    assert (found.strength > 1).sum() == len(found.coalitions)
    pooled = size_test(
        drawn(1, model, samples=600, noise=noise, symmetric=symmetric)[0], symmetric=symmetric, pool_coalitions=True
    )
    assert pooled.coalitions == ("(pooled)",)


def test_sums_alone_find_strong_dependence():
    """What is left where logs were added one by one, each too short to suggest anything."""
    found = size_dependence(parts_of(*drawn(1, "size-gaussian", samples=20_000)))
    assert found.coalitions
    assert size_dependence(parts_of(*drawn(1, "gaussian", samples=20_000))).coalitions == ()


def test_the_game_of_finding_2():
    """Three agents who like to be two in coalition 1: a hundred samples show it, whatever the noise shares."""
    rng = np.random.default_rng(0)
    joined = np.zeros((100, 3, 2), dtype=bool)
    joined[np.arange(100)[:, None], np.arange(3), rng.integers(2, size=(100, 3))] = True
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    met = joined[:, pairs[:, 0]] & joined[:, pairs[:, 1]]
    sample, pair, coalition = np.nonzero(met)
    size = joined.sum(axis=1)[sample, coalition]
    mean = np.where(coalition == 0, np.where(size == 2, 0.8, -0.6), -0.5)
    for noise in (rng.uniform(-0.2, 0.2, len(sample)), rng.uniform(-0.2, 0.2, 100)[sample]):
        batch = Batch(1, joined, sample, coalition, pairs[pair, 0], pairs[pair, 1], mean + noise, symmetric=True)
        assert size_test(batch).coalitions == ("c0",)


def test_contrasts_are_their_definition():
    """t of every sample, straight from the weights that the halves by size suggest."""
    batch, *_ = drawn(2, "size-gaussian", samples=80)
    log = coterie.Log.from_frames(**frames_of(batch), threads=1)
    clues = Statistics.of(log, seed=3).clues
    names = np.arange(len(batch.joined)).astype(str)
    half = np.array([int(md5(f"3:{name}".encode()).hexdigest(), 16) >= 2**127 for name in names]).astype(int)
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    for one in clues.contrasts:
        tests, room = clues.by_size[one.half], int(one.coalition[1:])
        weight, mean = suggested_weights(clues.by_size[1 - one.half], tests)
        known = dict(zip(map(tuple, tests.entries.keys.tolist()), zip(weight, mean, strict=True), strict=True))
        t = np.zeros(len(names))
        for row in np.flatnonzero((batch.coalition == room) & (half[batch.sample] == one.half)):
            w, m = known[room, batch.agent[row], batch.partner[row], size[row]]
            t[batch.sample[row]] += w * (batch.utility[row] - m)
        assert one.total == pytest.approx(t.sum(), abs=1e-6)
        assert one.squares == pytest.approx((t**2).sum(), rel=1e-6)


def test_skipped_tests_are_named(monkeypatch):
    log = coterie.Log.from_frames(**frames_of(drawn(1, "gaussian", samples=50)[0]), threads=1)
    assert [check.verdict for check in checks_of(Statistics.of(log))] == ["no objection", "no objection", "not tested"]
    untold = [check.text for check in checks_of(Statistics.of(log, clues=False))[:2]]
    assert untold == [WITHOUT_CLUES] * 2
    monkeypatch.setattr(clues_of_logs, "SIZED_CELLS", 10)
    skipped, *_ = checks_of(Statistics.of(log))
    assert (skipped.verdict, "too many" in skipped.text) == ("not tested", True)


def test_size_test_needs_two_parts_by_size():
    parts = parts_of(*drawn(1, "gaussian"))
    with pytest.raises(InputError, match="two parts"):
        size_dependence(parts[:1])
    with pytest.raises(InputError, match="by size"):
        size_dependence(parts_of(*drawn(1, "gaussian"), sizes="ignore"))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["uniform", "gaussian", "size-gaussian"])
def test_sample_test_is_silent_for_independent_pairs(model):
    alarms = sum(
        within_sample_dependence(direct_excess(drawn(seed, model, samples=150)[0])) is not None for seed in range(150)
    )
    assert alarms <= 150 * FALSE_ALARMS + 4 * np.sqrt(150 * FALSE_ALARMS)


@pytest.mark.parametrize(("model", "noise"), [("gaussian", "samples"), ("mixed-effects-clipped", None)])
def test_sample_test_finds_good_and_bad_days(model, noise):
    warning = within_sample_dependence(direct_excess(drawn(3, model, noise=noise)[0]))
    assert warning is not None
    assert "move together" in warning
    assert 'use noise="samples"' in warning


def test_sample_test_is_silent_with_few_samples():
    assert within_sample_dependence(SampleExcess(10, 100.0, 100.0)) is None
    assert within_sample_dependence(SampleExcess(100, 0.0, 0.0)) is None
    assert "against each other" in within_sample_dependence(SampleExcess(100, -50.0, 100.0))


def test_the_query_equals_the_definition(tmp_path):
    rng = np.random.default_rng(7)
    source = Simulation.draw(5, 3, rng, actions_per_agent=5, noise="samples")
    state = rng.bit_generator.state
    source.write_log(tmp_path / "log", 120)
    rng.bit_generator.state = state
    (batch,) = source.batches(120)
    log = coterie.read_log(tmp_path / "log")
    found, expected = sample_excess(log), direct_excess(batch)
    assert found.samples == expected.samples
    assert found.total == pytest.approx(expected.total, rel=1e-9)
    assert found.squares == pytest.approx(expected.squares, rel=1e-9)
    assert found.room_total == pytest.approx(expected.room_total, rel=1e-9)
    assert found.room_squares == pytest.approx(expected.room_squares, rel=1e-9)
    pooled = coterie.read_log(tmp_path / "log", pool_coalitions=True, actions="any")
    assert sample_excess(pooled).samples == found.samples
