"""The tests of assumptions: silent where they hold, loud where they fail."""

import numpy as np
import pytest

import coterie
from coterie.certificates.diagnose import FALSE_ALARMS, checks_of, drift, size_dependence, within_sample_dependence
from coterie.errors import InputError
from coterie.learn.warnings import cautions
from coterie.simulate import Simulation
from coterie.statistics.clues import Clues
from coterie.statistics.dependence import SampleExcess, sample_excess
from coterie.statistics.drift import Change, Drift
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.sums import Sums
from timed import changing_log, drift_in_memory, frames_of


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


def direct_excess(batch):
    """The excess straight from its definition, cell by cell."""
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    cells = np.stack([batch.coalition, batch.agent, batch.partner, size], axis=1)
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    cell = cell.ravel()
    e = batch.utility - (np.bincount(cell, batch.utility) / np.bincount(cell))[cell]
    values = []
    for sample in np.unique(batch.sample):
        own = e[batch.sample == sample]
        if len(own) > 1:
            products = sum(own[a] * own[b] for a in range(len(own)) for b in range(len(own)) if a != b)
            values.append(products / len(own))
    return SampleExcess(len(values), float(np.sum(values)), float(np.sum(np.square(values))))


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
    pooled = coterie.read_log(tmp_path / "log", pool_coalitions=True, actions="any")
    assert sample_excess(pooled).samples == found.samples


PLAIN = Setting(
    "semi-bandit", ("a", "b"), ("x",), True, (-1.0, 1.0), 0.0, None, False, "observed", "any", "ignore", "pairs",
    (1.0,), 0,
)  # fmt: skip


def verdict_on(contrasts):
    change = Change(1.0, "x", "a", "b", 0.0, 1.0)
    return drift(Statistics(PLAIN, (), Clues(drift=Drift(contrasts.folds, change)))).verdict


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["pairs", "samples", "rooms"])
@pytest.mark.parametrize("values", ["spread", "signs", "rare"])
def test_drift_test_is_silent_where_means_stay(values, noise):
    """Pairings change all the time, sizes too, and the pairs of a sample may depend on each other."""
    found = [verdict_on(drift_in_memory(np.random.default_rng(seed), 300, values=values, noise=noise))
             for seed in range(300)]  # fmt: skip
    assert found.count("broken") <= 300 * FALSE_ALARMS


@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_drift_test_finds_change(noise):
    found = [
        verdict_on(drift_in_memory(np.random.default_rng(seed), 1500, drift=0.4, noise=noise)) for seed in range(5)
    ]
    assert found == ["broken"] * 5


def test_drift_with_changing_pairings_is_caught():
    """Certificate 0, true gap 0.3: everybody moved to the worse room while all means were rising."""
    room, rows = changing_log(np.random.default_rng(0), 2000, n=3, drift=0.8)
    log = coterie.Log.from_frames(**frames_of(room, rows))
    learner = coterie.StableLearner().fit(log)
    apart = 0.15 * (1 - np.eye(3))
    truth = coterie.Game(means=np.stack([apart, -apart]), agents=log.agents, coalitions=log.coalitions, actions="one")
    assert learner.certificate_.gap == 0
    assert truth.gap(learner.strategy_) == pytest.approx(0.3)
    assert "mean utilities are the same in every sample" in learner.certificate_.assumes
    warning = next(text for text in learner.result_.warnings if text.startswith("mean utilities are not the same"))
    assert warning.endswith("use since to leave out earlier samples")
    assert any(text == warning for text in cautions(learner.statistics_, learner.strategy_))
    recent = coterie.Log.from_frames(**frames_of(room, rows), since="1900")
    assert drift(Statistics.of(recent)).verdict == "no objection"


@pytest.mark.parametrize(("samples", "clues"), [(50, False), (1, True)])
def test_drift_says_where_it_was_not_tested(samples, clues):
    log = coterie.Log.from_frames(**frames_of(*changing_log(np.random.default_rng(0), samples)))
    (found,) = (check for check in checks_of(Statistics.of(log, clues=clues)) if check.assumption == "drift")
    assert found.verdict == "not tested"
    assert "is not known" in found.text
