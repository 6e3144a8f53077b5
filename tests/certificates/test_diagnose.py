"""The tests of assumptions: silent where they hold, loud where they fail."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.certificates import diagnose
from coterie.certificates.diagnose import (
    FALSE_ALARMS,
    checks_of,
    drift,
    size_dependence,
    symmetry,
    within_sample_dependence,
)
from coterie.errors import InputError
from coterie.learn.warnings import cautions
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, setting_of
from coterie.simulate.models import Normal
from coterie.simulate.policies import Independent
from coterie.statistics.clues import NO_CLUES, Clues, by_order_setting
from coterie.statistics.dependence import SampleExcess, sample_excess
from coterie.statistics.drift import Change, Drift
from coterie.statistics.fixed_point import fixed_points
from coterie.statistics.in_memory import reduced
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import PARTS
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


def ordered(rows, n, k, limits=(-1.0, 1.0)):
    """Statistics of a symmetric log whose rows (coalition, agent, partner, utility) come in one order each."""
    setting = Setting(
        "semi-bandit", tuple("abcdefgh"[:n]), tuple("uvwxyz"[:k]), True, limits, 0.0, None, False, "observed", "any",
        "ignore", "pairs", (1.0,), 0,
    )  # fmt: skip
    keys, utility = np.array([row[:3] for row in rows], dtype=np.int64), np.array([row[3] for row in rows])
    q = fixed_points(utility, limits)
    values = np.stack([np.ones_like(q), q, (q * q) >> 30, (q * q) & (2**30 - 1)], axis=1)
    teams = Sums(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1), dtype=np.int64))
    samples = len(rows)
    by_order = PairStatistics(by_order_setting(setting), samples, Sums.collect(keys, values), teams)
    once = np.column_stack([keys[:, 0], np.sort(keys[:, 1:], axis=1)])
    part = PairStatistics(setting, samples, Sums.collect(once, values), teams)
    return Statistics(setting, (part,), Clues(by_order=by_order))


UNKIND = {
    "two points near 0": lambda rng, shape: rng.choice([-0.01, 0.01], shape),
    "rare losses": lambda rng, shape: np.where(rng.random(shape) < 0.02, -1.0, 0.5),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", UNKIND)
def test_symmetry_of_pairs_is_silent_where_both_get_the_same(name, shared):
    """At alpha = 0.3, 150 logs each, also where all pairs of a sample get the very same; the stated rate is 0.01."""
    alarms, rng = 0, np.random.default_rng(5)
    for _ in range(150):
        utility = UNKIND[name](rng, (60, 3))
        utility = np.repeat(utility[:, :1], 3, axis=1) if shared else utility
        turned = np.repeat(rng.random((60, 1)) < 0.5, 3, axis=1) if shared else rng.random((60, 3)) < 0.5
        rows = [
            (0, *(pair[::-1] if turned[m, p] else pair), utility[m, p])
            for m in range(60)
            for p, pair in enumerate([(0, 1), (0, 2), (1, 2)])
        ]
        alarms += symmetry(ordered(rows, 3, 1), alpha=0.3).verdict == "broken"
    assert alarms / 150 <= 0.3


def test_symmetry_of_pairs_finds_two_who_value_each_other_differently():
    rng = np.random.default_rng(6)
    rows = [(m % 2, *((0, 1) if m % 3 else (1, 0)), rng.uniform(-1, 1)) for m in range(600)]
    assert symmetry(ordered(rows, 3, 2)).verdict == "no objection"
    rows += [(1, 1, 2, rng.uniform(0, 1)) for _ in range(60)] + [(1, 2, 1, rng.uniform(-1, 0)) for _ in range(60)]
    found = symmetry(ordered(rows, 3, 2))
    assert (found.assumption, found.verdict) == ("symmetry", "broken")
    assert found.text.startswith("b and c do not get the same from each other in coalition v: b seems to get 0.")
    assert found.text.endswith(": use symmetric=False")
    assert checks_of(ordered(rows, 3, 2)) == (found,)


def test_symmetry_that_no_row_shows_is_not_tested():
    always = [(0, 0, 1, 0.5)] * 100
    found = symmetry(ordered(always, 2, 1))
    assert found.verdict == "not tested"
    assert "was not tested: no pair is listed now with the one and now with the other" in found.text
    few = symmetry(ordered([*always[:2], (0, 1, 0, -1.0)], 2, 1))
    assert (few.verdict, "often enough" in few.text) == ("not tested", True)
    statistics = ordered(always, 2, 1)
    agreed = symmetry(replace(statistics, clues=replace(statistics.clues, agreed=7)))
    assert agreed.verdict == "no objection"
    assert "showed what they got 7 times, and it was the same" in agreed.text
    assert "it is not kept" in symmetry(replace(statistics, clues=NO_CLUES)).text
    asymmetric = replace(statistics, setting=replace(statistics.setting, symmetric=False))
    assert checks_of(asymmetric) == ()


def totals_of(seed, samples, *, symmetric, n=4, k=2, shared=None, sigma=None, **reading):
    """Statistics of totals that are taken for those of a symmetric game."""
    source = Simulation.draw(
        n, k, np.random.default_rng(seed), actions_per_agent=3, symmetric=symmetric, noise=shared, model="gaussian"
    )
    (batch,) = source.batches(samples)
    setting = replace(setting_of(source, "bandit", Reading(**reading), (1.0,)), symmetric=True)
    if sigma is not None:
        setting = replace(setting, sigma=sigma, utility_range=None)
    return reduced(batch, np.zeros(samples, dtype=np.int64), setting)


@pytest.mark.parametrize("shared", ["pairs", "samples"])
@pytest.mark.parametrize("reading", [{}, {"pool_coalitions": True}, {"sizes": "aware", "noise": "samples"}])
def test_symmetry_of_totals_is_silent_where_both_get_the_same(shared, reading):
    """At alpha = 0.5, and also where the pairs of a sample share their noise."""
    for seed in range(20):
        pooled = "pool_coalitions" in reading
        made = pooled_totals(seed, shared) if pooled else totals_of(seed, 200, symmetric=True, shared=shared, **reading)
        assert symmetry(made, alpha=0.5).verdict != "broken"


def pooled_totals(seed, noise):
    """One coalition or another: the same means in both."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(-1, 1, (4, 4))
    mu = np.triu(mu, 1) + np.triu(mu, 1).T
    model = Normal(np.stack([mu, mu]), np.full((2, 4, 4), 0.3))
    game = model.game("any")
    source = Simulation(model, Independent(game.actions), game, rng, noise)
    (batch,) = source.batches(200)
    return reduced(
        batch, np.zeros(200, dtype=np.int64), setting_of(source, "bandit", Reading(pool_coalitions=True), (1.0,))
    )


@pytest.mark.parametrize("reading", [{}, {"noise": "samples"}])
def test_symmetry_of_totals_finds_who_value_each_other_differently(reading):
    for seed in range(5):
        found = symmetry(totals_of(seed, 6000, symmetric=False, **reading))
        assert found.verdict == "broken"
        assert "do not get the same from each other in coalition c" in found.text


def test_symmetry_of_totals_that_tell_too_little(monkeypatch):
    assert "often enough" in symmetry(totals_of(1, 3, symmetric=False)).text
    assert "without a range" in symmetry(totals_of(1, 50, symmetric=False, sigma=1.0)).text
    monkeypatch.setattr(diagnose, "RIDGE_STEPS", 10)
    assert "too many unknowns" in symmetry(totals_of(1, 50, symmetric=False)).text


def valued_differently():
    """The audit's case: a game whose agents value each other differently, logged by totals."""
    return Simulation.draw(4, 3, np.random.default_rng(1), actions_per_agent=4, symmetric=False)


def test_totals_of_an_asymmetric_game_are_refused(tmp_path):
    """Most rooms of two show two different totals."""
    valued_differently().write_log(tmp_path / "log", 300, feedback="bandit")
    with pytest.raises(
        InputError, match=r"totals.csv, row .* met nobody but each other .*say symmetric=False.*more such"
    ):
        coterie.read_log(tmp_path / "log", symmetric=True)
    assert not coterie.read_log(tmp_path / "log").symmetric


def test_totals_of_an_asymmetric_game_are_warned_of_where_nothing_contradicts_them():
    """The certificate was 0, the true gap 0.4, and nothing was said."""
    source = valued_differently()
    (batch,) = source.batches(6000)
    setting = replace(setting_of(source, "bandit", Reading(joint=True), PARTS), symmetric=True)
    part = np.random.default_rng(0).choice(len(PARTS), 6000, p=PARTS)
    learner = coterie.StableLearner().fit(reduced(batch, part, setting, joint=True))
    assert learner.certificate_.gap + 0.3 < source.game.gap(learner.strategy_)
    assert "both agents of a pair receive the same utility" in learner.certificate_.assumes
    assert any("do not get the same from each other" in text for text in learner.result_.warnings)
    without = reduced(batch, part, replace(setting, symmetric=False))
    learner = coterie.StableLearner().fit(without)
    assert learner.certificate_.gap >= source.game.gap(learner.strategy_)
    assert not any("the same" in text for text in (*learner.certificate_.assumes, *learner.result_.warnings))


def test_a_log_in_one_order_each_is_warned_of():
    """Pairs, each listed by one of the two: certificate below the gap before, and a warning now."""
    source = Simulation.draw(4, 2, np.random.default_rng(2), actions_per_agent=3, symmetric=False)
    (batch,) = source.batches(3000)
    rows = source.tables(batch)["pairs"].to_pandas().astype({"agent": str, "partner": str})
    first = rows["agent"] < rows["partner"]
    chosen = rows[first == (rows["sample"].astype(int) % 2 == 0)]
    memberships = source.tables(batch)["memberships"]
    warnings = (
        coterie.StableLearner().fit(coterie.Log.from_frames(memberships=memberships, pairs=chosen)).result_.warnings
    )
    assert any("do not get the same from each other" in text and "symmetric=False" in text for text in warnings)


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
