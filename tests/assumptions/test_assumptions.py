"""The tests of assumptions: silent where they hold, loud where they fail."""

from dataclasses import astuple, replace
from hashlib import md5

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.assumptions import symmetry as symmetry_module
from coterie.assumptions.all_checks import checks_of
from coterie.assumptions.check import WITHOUT_CLUES, Check
from coterie.assumptions.drift import drift_check
from coterie.assumptions.sample_dependence import within_sample_dependence
from coterie.assumptions.size_dependence import size_dependence
from coterie.assumptions.symmetry import symmetry_check
from coterie.errors import InputError
from coterie.learn.warnings import cautions
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, setting_of
from coterie.simulate.models import Normal
from coterie.simulate.policies import Independent
from coterie.statistics import clues as clues_of_logs
from coterie.statistics.clues import NO_CLUES, Clues, by_order_setting
from coterie.statistics.contrast import suggested_weights
from coterie.statistics.dependence import FALSE_ALARMS, LEAST_VALUES, Excess, SampleExcess, sample_excess
from coterie.statistics.drift import Change, Drift
from coterie.statistics.fixed_point import fixed_points
from coterie.statistics.in_memory import Batch, reduced
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import PARTS
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.sums import Sums
from made_tables import frames_of
from timed import changing_log, drift_in_memory
from timed import frames_of as timed_frames_of


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


def surprise(e, v, reach=2.0):
    """Bennett's bound on -log Pr[the sum of independent e is so large]; single pairs say nothing of dependence."""
    if len(e) < 2 or not v.sum():
        return 0.0
    x = reach * abs(e.sum()) / v.sum()
    return v.sum() / reach**2 * ((1 + x) * np.log(1 + x) - x)


def direct_excess(batch):
    """The excess straight from its definition, cell by cell."""
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    pairs, n_agents = [batch.coalition, batch.agent, batch.partner], batch.joined.shape[1]
    e, v = np.full((2, len(size)), np.nan)
    for cells in ([*pairs, size], pairs):
        _, cell = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)
        count = np.bincount(cell.ravel())
        mean = np.bincount(cell.ravel(), batch.utility) / count
        use = np.isnan(e) & (count >= LEAST_VALUES)[cell.ravel()]
        spread = np.bincount(cell.ravel(), (batch.utility - mean[cell.ravel()]) ** 2) / count
        e[use], v[use] = (batch.utility - mean[cell.ravel()])[use], spread[cell.ravel()][use]
    values, samples = [], 0
    for sample in np.unique(batch.sample):
        own = (batch.sample == sample) & ~np.isnan(e)
        if own.sum() > 1:
            samples += 1
            rooms = [own & (batch.coalition == room) for room in np.unique(batch.coalition[own])]
            ends = (batch.agent, batch.partner) if batch.symmetric else (batch.agent,)
            around = [room & np.any([end == i for end in ends], axis=0) for room in rooms for i in range(n_agents)]
            for groups in ([own], rooms, around):
                some = [group for group in groups if group.sum() > 1]
                values.append(
                    (
                        sum(products(e[group]) for group in some) / own.sum(),
                        2 * sum(products(v[group]) for group in some) / own.sum() ** 2,
                        max((surprise(e[group], v[group]) for group in some), default=0.0),
                        len(some),
                    )
                )
    found = np.array(values).reshape(samples, 3, 4).transpose(1, 2, 0)
    three = [
        Excess(y.sum(), (y**2).sum(), expected.sum(), surprises.max(), int(groups.sum()))
        for y, expected, surprises, groups in found
    ]
    return SampleExcess(samples, *three)


def size_test(batch, **options):
    """The test as a result has it: from the clues of a log."""
    clues = Statistics.of(coterie.Log.from_frames(**frames_of(batch), threads=1, **options)).clues
    return size_dependence(clues.by_size, clues.contrasts)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_size_test_is_silent_where_size_does_not_matter(noise):
    """Also where the pairs of a sample share their noise, so that large rooms have all good or all bad days."""
    alarms = sum(bool(size_test(drawn(seed, "gaussian", noise=noise, samples=150)[0]).coalitions) for seed in range(25))
    assert alarms <= 25 * FALSE_ALARMS + 4 * np.sqrt(25 * FALSE_ALARMS)


@pytest.mark.slow
def test_rooms_that_lose_together_are_no_dependence_on_size():
    """Rare losses that a whole room shares: taken for independent, the pairs of few large rooms look like an effect."""
    alarms = 0
    for seed in range(25):
        batch, _, _, rng = drawn(seed, "gaussian", n=6, samples=200)
        bad = rng.random(batch.joined.shape[::2]) < 0.3
        batch = replace(batch, utility=np.where(bad[batch.sample, batch.coalition], -1.0, 0.5))
        alarms += bool(size_test(batch).coalitions)
    assert alarms <= 25 * FALSE_ALARMS + 4 * np.sqrt(25 * FALSE_ALARMS)


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
    found = {check.assumption: check.verdict for check in checks_of(Statistics.of(log))}
    untested = {"symmetry": "not tested", "adaptive": "not tested"}
    assert found == dict.fromkeys(("sizes", "independence", "drift", "missing"), "no objection") | untested
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


def test_size_test_is_silent_where_losses_are_rare_and_so_is_a_size():
    """Two always meet, a third joins them now and then: the few values at that size mostly hold no loss."""
    alarms = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        joined = np.ones((2000, 3, 1), dtype=bool)
        joined[:, 2, 0] = rng.random(2000) < 0.02
        i, j = np.triu_indices(3, 1)
        sample, pair, coalition = np.nonzero(joined[:, i] & joined[:, j])
        utility = np.where(rng.random(len(sample)) < 0.03, -1.0, 1.0)
        batch = Batch(1, joined, sample, coalition, i[pair], j[pair], utility, symmetric=True)
        alarms += len(size_test(batch, actions="any").coalitions)
    assert alarms == 0


@pytest.mark.slow
@pytest.mark.parametrize("model", ["uniform", "gaussian", "size-gaussian"])
def test_sample_test_is_silent_for_independent_pairs(model):
    alarms = sum(
        within_sample_dependence(direct_excess(drawn(seed, model, samples=150)[0])) is not None for seed in range(60)
    )
    assert alarms <= 60 * FALSE_ALARMS + 4 * np.sqrt(60 * FALSE_ALARMS)


@pytest.mark.parametrize(("model", "noise"), [("gaussian", "samples"), ("mixed-effects-clipped", None)])
def test_sample_test_finds_good_and_bad_days(model, noise):
    warning = within_sample_dependence(direct_excess(drawn(3, model, noise=noise)[0]))
    assert warning is not None
    assert "go together" in warning or "go against" in warning
    assert 'use noise="samples"' in warning


def test_sample_test_is_silent_with_few_samples():
    assert within_sample_dependence(SampleExcess(10, Excess(100.0, 100.0))) is None
    assert within_sample_dependence(SampleExcess(100)) is None
    assert "against each other" in within_sample_dependence(SampleExcess(100, Excess(-50.0, 100.0)))
    assert within_sample_dependence(SampleExcess(100, Excess(-50.0, 100.0, expected=400.0))) is None
    assert "together" in within_sample_dependence(SampleExcess(100, agents=Excess(surprise=12.0, groups=100)))
    assert within_sample_dependence(SampleExcess(100, agents=Excess(surprise=12.0, groups=200))) is None


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_query_equals_the_definition(tmp_path, symmetric):
    rng = np.random.default_rng(7)
    source = Simulation.draw(5, 3, rng, actions_per_agent=5, noise="samples", symmetric=symmetric)
    state = rng.bit_generator.state
    source.write_log(tmp_path / "log", 120)
    rng.bit_generator.state = state
    (batch,) = source.batches(120)
    log = coterie.read_log(tmp_path / "log")
    found, expected = sample_excess(log), direct_excess(batch)
    assert found.samples == expected.samples
    for name in ("whole", "rooms", "agents"):
        assert astuple(getattr(found, name)) == pytest.approx(astuple(getattr(expected, name)), rel=1e-9)
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
        alarms += symmetry_check(ordered(rows, 3, 1), alpha=0.3).verdict == "broken"
    assert alarms / 150 <= 0.3


def test_symmetry_of_pairs_finds_two_who_value_each_other_differently():
    rng = np.random.default_rng(6)
    rows = [(m % 2, *((0, 1) if m % 3 else (1, 0)), rng.uniform(-1, 1)) for m in range(600)]
    assert symmetry_check(ordered(rows, 3, 2)).verdict == "no objection"
    rows += [(1, 1, 2, rng.uniform(0, 1)) for _ in range(60)] + [(1, 2, 1, rng.uniform(-1, 0)) for _ in range(60)]
    found = symmetry_check(ordered(rows, 3, 2))
    assert (found.assumption, found.verdict) == ("symmetry", "broken")
    assert found.text.startswith("b and c do not get the same from each other in v: b seems to get 0.")
    assert found.text.endswith(": use symmetric=False")
    assert found in checks_of(ordered(rows, 3, 2))


@pytest.mark.parametrize("lower", [False, True])
def test_what_two_people_get_is_told_as_the_table_has_it(lower):
    """On the scale of the log, whatever the neutral point, and where less is better."""
    rows = [("s" + str(m), "v", *(("b", "c") if m % 2 else ("c", "b")), 4 if m % 2 else 1) for m in range(200)]
    columns = ("sample", "coalition", "agent", "partner", "utility")
    log = coterie.Log.from_frames(
        pairs=pa.table(dict(zip(columns, zip(*rows, strict=True), strict=True))),
        utility_range=(0, 5), neutral=2, symmetric=True, lower_is_better=lower,
    )  # fmt: skip
    found = symmetry_check(Statistics.of(log))
    assert found.verdict == "broken"
    assert "b seems to get 4, c 1, and" in found.text


def test_symmetry_that_no_row_shows_is_not_tested():
    always = [(0, 0, 1, 0.5)] * 100
    found = symmetry_check(ordered(always, 2, 1))
    assert found.verdict == "not tested"
    assert "was not tested: of every pair it is always the same one who is listed first" in found.text
    few = symmetry_check(ordered([*always[:2], (0, 1, 0, -1.0)], 2, 1))
    assert (few.verdict, "often enough" in few.text) == ("not tested", True)
    statistics = ordered(always, 2, 1)
    agreed = symmetry_check(replace(statistics, clues=replace(statistics.clues, agreed=7)))
    assert agreed.verdict == "no objection"
    assert "showed what they got 7 times, and it was the same" in agreed.text
    assert "it is not kept" in symmetry_check(replace(statistics, clues=NO_CLUES)).text
    asymmetric = replace(statistics, setting=replace(statistics.setting, symmetric=False))
    assert symmetry_check(asymmetric).verdict == "not assumed"


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
    """Pair by pair at alpha = 0.5, and also where the pairs of a sample share their noise."""
    for seed in range(20):
        pooled = "pool_coalitions" in reading
        made = pooled_totals(seed, shared) if pooled else totals_of(seed, 200, symmetric=True, shared=shared, **reading)
        assert symmetry_module._total_symmetry(made.whole, alpha=0.5).verdict != "broken"
        assert symmetry_check(made).verdict != "broken"


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
        found = symmetry_check(totals_of(seed, 6000, symmetric=False, **reading))
        assert found.verdict == "broken"
        assert "do not get the same from each other in c" in found.text


def test_symmetry_of_totals_that_tell_too_little(monkeypatch):
    told = lambda made: symmetry_module._total_symmetry(made.whole, 0.01).text  # noqa: E731
    assert "often enough" in told(totals_of(1, 3, symmetric=False))
    assert "no scale was said" in told(totals_of(1, 50, symmetric=False, sigma=1.0))
    monkeypatch.setattr(symmetry_module, "RIDGE_STEPS", 10)
    assert "too many pairs" in told(totals_of(1, 50, symmetric=False))


def valued_differently():
    """The audit's case: a game whose agents value each other differently, logged by totals."""
    return Simulation.draw(4, 3, np.random.default_rng(1), actions_per_agent=4, symmetric=False)


def test_totals_of_an_asymmetric_game_are_refused(tmp_path):
    """Most rooms of two show two different totals."""
    valued_differently().write_log(tmp_path / "log", 300, feedback="bandit")
    with pytest.raises(
        InputError, match=r"totals.csv, row .* met nobody but each other .*say symmetric=False.*also rows .* more\)"
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
    assert "both people of a pair get the same" in learner.certificate_.assumes
    assert any("do not get the same from each other" in text for text in learner.result_.warnings)
    without = reduced(batch, part, replace(setting, symmetric=False))
    learner = coterie.StableLearner().fit(without)
    assert learner.certificate_.gap >= source.game.gap(learner.strategy_)
    said = (*learner.certificate_.assumes, *learner.result_.warnings)
    assert not any("receive the same" in text or "get the same" in text for text in said)


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
    return drift_check(Statistics(PLAIN, (), Clues(drift=Drift(contrasts.folds, change)))).verdict


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
    log = coterie.Log.from_frames(**timed_frames_of(room, rows))
    learner = coterie.StableLearner().fit(log)
    apart = 0.15 * (1 - np.eye(3))
    truth = coterie.Game(means=np.stack([apart, -apart]), agents=log.agents, coalitions=log.coalitions, actions="one")
    assert learner.certificate_.gap == 0
    assert truth.gap(learner.strategy_) == pytest.approx(0.3)
    assert "what a pair gets on average is the same in every round" in learner.certificate_.assumes
    warning = next(text for text in learner.result_.warnings if text.startswith("what pairs get is not the same"))
    assert warning.endswith("use since to leave out earlier rounds")
    statistics = learner.statistics_
    assert any(text == warning for text in cautions(statistics, learner.strategy_, checks_of(statistics)))
    recent = coterie.Log.from_frames(**timed_frames_of(room, rows), since="1900")
    assert drift_check(Statistics.of(recent)).verdict == "no objection"


@pytest.mark.parametrize(("samples", "clues"), [(50, False), (1, True)])
def test_drift_says_where_it_was_not_tested(samples, clues):
    log = coterie.Log.from_frames(**timed_frames_of(*changing_log(np.random.default_rng(0), samples)))
    (found,) = (check for check in checks_of(Statistics.of(log, clues=clues)) if check.assumption == "drift")
    assert found.verdict == "not tested"
    assert "is not known" in found.text


def test_a_log_that_contradicts_an_assumption_is_said_beside_the_certificate():
    """Not below a long table only, and not where the certificate does without it."""
    log = coterie.Log.from_frames(**timed_frames_of(*changing_log(np.random.default_rng(0), 2000, n=3, drift=0.8)))
    result = coterie.StableLearner().fit(log).result_
    assert "drift" in [check.assumption for check in result.contradicted]
    assert "the log contradicts what the promise takes for granted" in repr(result)
    covered = replace(result, checks=(Check("independence", "broken", ""),), data=replace(result.data, noise="samples"))
    assert not covered.contradicted
    assert "contradicts" not in repr(covered)


def test_drift_between_logs_that_are_added_is_not_tested():
    room, rows = changing_log(np.random.default_rng(0), 2000, n=3, drift=0.8)
    parts = [
        coterie.Log.from_frames(**timed_frames_of(room, rows), since=str(start), until=str(start + 99))
        for start in range(0, 2000, 400)
    ]
    whole = Statistics.of(parts[0])
    for part in parts[1:]:
        whole += Statistics.of(part)
    found = drift_check(whole)
    assert found.verdict == "not tested"
    assert "any of the 5 logs" in found.text
