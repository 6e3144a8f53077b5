"""The tests of assumptions: silent where they hold, loud where they fail."""

import numpy as np
import pytest

import coterie
from coterie.certificates.diagnose import FALSE_ALARMS, size_dependence, within_sample_dependence
from coterie.errors import InputError
from coterie.simulate import Simulation
from coterie.statistics.dependence import LEAST_VALUES, SampleExcess, sample_excess
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.sums import Sums


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


@pytest.mark.slow
@pytest.mark.parametrize("model", ["uniform", "gaussian"])
def test_size_test_is_silent_where_size_does_not_matter(model):
    alarms = sum(bool(size_dependence(parts_of(*drawn(seed, model))).coalitions) for seed in range(200))
    assert alarms <= 200 * FALSE_ALARMS + 4 * np.sqrt(200 * FALSE_ALARMS)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("model", ["size-gaussian", "mixed-effects-clipped"])
def test_size_test_finds_dependence(model, symmetric):
    """Also where effects of different pairs have opposite signs and cancel on average."""
    found = size_dependence(parts_of(*drawn(1, model, samples=6000, noise="pairs", symmetric=symmetric)))
    assert found.coalitions
    assert 'use sizes="aware"' in found.warnings()[0]
    assert (found.strength > 1).sum() == len(found.coalitions)


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
