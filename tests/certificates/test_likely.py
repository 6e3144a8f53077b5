"""The likely figure: a normal approximation with a standard error from the data, and no promise."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t

import coterie
from coterie import Statistics
from coterie.certificates import evidence_from, fixed
from coterie.certificates.holdout import Sealed
from coterie.certificates.likely import likely_gap
from coterie.errors import InputError
from coterie.estimate.posterior import variance_of_values
from coterie.estimate.ridge import AgentRidge, agent_ridge
from coterie.game.actions import ActionSpaces
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, setting_of
from coterie.statistics.in_memory import reduced
from coterie.statistics.parts import CLUSTERS, PARTS, Division
from missing import drawn_batch, keep
from missing import setting_of as setting_with


def drawn(samples, reading, *, feedback="semi-bandit", seed=0, n=4, k=2, noise="pairs", actions=3):
    """Return a game, a profile that was fixed beforehand, and what a log of so many samples says."""
    source = Simulation.draw(n, k, np.random.default_rng([5, seed]), actions_per_agent=actions, noise=noise)
    strategy = source.game.strategy(source.game.actions.sample(seed, 1)[0])
    setting = setting_of(source, feedback, reading, (1.0,))
    (batch,) = source.batches(samples)
    statistics = reduced(batch, np.zeros(samples, dtype=int), setting, joint=reading.joint)
    return source.game, strategy, batch, statistics


def by_hand(game, strategy, spaces, gain, error, width):
    """Maximise gain + width standard errors over all agents and moves."""
    found = []
    for i, space in enumerate(spaces.spaces):
        for action in space.enumerate():
            x = action - strategy.marginals[i]
            if x.any():
                found.append(gain(i, x) + width * error(i, x))
    return max(0.0, *found)


def coefficients(strategy, i, x):
    """Return c of a move over (coalition, partner)."""
    c = x[:, None] * strategy.marginals.T
    c[:, i] = 0.0
    return c


def test_independent_pairs_add_their_variances():
    game, strategy, _, statistics = drawn(60, Reading())
    whole = statistics.whole
    assert (whole.counts + 2 * np.eye(4, dtype=int) >= 2).all()
    values = variance_of_values(evidence_from(whole).estimate.moments, 1.0)

    def gain(i, x):
        return (coefficients(strategy, i, x) * whole.means[:, i]).sum()

    def error(i, x):
        c, count = coefficients(strategy, i, x), np.maximum(whole.counts[:, i], 1)
        return np.sqrt((c**2 * values[:, i] / count).sum())

    expected = by_hand(game, strategy, game.actions, gain, error, norm.ppf(0.9))
    assert likely_gap(evidence_from(whole), strategy, game.actions, 0.1) == pytest.approx(expected, abs=1e-6)
    assert likely_gap(evidence_from(whole), strategy, game.actions, 0.5) == pytest.approx(
        max(0.0, by_hand(game, strategy, game.actions, gain, error, 0.0)), abs=1e-6
    )


def test_dependent_pairs_show_how_groups_of_samples_vary():
    game, strategy, batch, statistics = drawn(300, Reading(noise="samples"), noise="samples")
    whole = statistics.whole
    group = [int(hashlib.md5(f"-1:{m}".encode()).hexdigest()[:2], 16) // 8 for m in range(1, 301)]
    group = np.array(group)[batch.sample]
    assert len(set(group)) == CLUSTERS == 32

    def gain(i, x):
        return (coefficients(strategy, i, x) * whole.means[:, i]).sum()

    def error(i, x):
        """Row by row: every value moves the estimate by c / N of its deviation; those of a group add up."""
        c = coefficients(strategy, i, x)
        moved = np.zeros(CLUSTERS)
        for own, other in ((batch.agent, batch.partner), (batch.partner, batch.agent)):
            for row in np.flatnonzero(own == i):
                l, j = batch.coalition[row], other[row]
                same = (batch.coalition == l) & (own == i) & (other == j)
                shares = np.bincount(group[same], minlength=CLUSTERS) / same.sum()
                deviation = (batch.utility[row] - whole.means[l, i, j]) / np.sqrt(1 - (shares**2).sum())
                moved[group[row]] += c[l, j] / same.sum() * deviation
        return np.sqrt((moved**2).sum())

    expected = by_hand(game, strategy, game.actions, gain, error, t.ppf(0.9, CLUSTERS - 1))
    assert likely_gap(evidence_from(whole), strategy, game.actions, 0.1) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("options", [{}, {"sizes": "aware"}, {"pool_coalitions": True}])
@pytest.mark.parametrize("symmetric", [True, False])
def test_groups_of_samples_are_the_log_in_pieces(tables, oracle, options, symmetric):
    made = tables(31, symmetric=symmetric, samples=60)
    reads = {"symmetric": symmetric, "pool_coalitions": options.get("pool_coalitions", False)}
    how = {"noise": "samples", "sizes": options.get("sizes", "ignore"), "clues": False}
    log = coterie.Log.from_frames(**made.frames(), **reads)
    whole = Statistics.of(log, parts=PARTS, **how)
    clusters = whole.whole.clusters
    groups = dict(zip(made.samples, Division.clusters().of(made.samples).tolist(), strict=True))
    assert len(set(groups.values())) > 10
    by_row = oracle(made, symmetric=symmetric, pooled=reads["pool_coalitions"])
    expected = {}
    for sample, group in groups.items():
        by_row.tables = made.only({sample})
        for key, (count, total, *_) in by_row.entries(by_row.part(sample), sized=how["sizes"] == "aware").items():
            known = expected.get((group, *key), (0, 0))
            expected[group, *key] = (known[0] + count, known[1] + total)
    found = zip(clusters.keys.tolist(), clusters.values.tolist(), strict=True)
    assert {tuple(key): tuple(values) for key, values in found} == expected
    samples = made.samples
    pieces = [
        Statistics.of(coterie.Log.from_frames(**made.only(set(some)).frames(), **reads), parts=PARTS, **how)
        for some in (samples[:9], samples[9:])
    ]
    both = (pieces[1] + pieces[0]).whole.clusters
    np.testing.assert_array_equal(both.keys, clusters.keys)
    np.testing.assert_array_equal(both.values, clusters.values)


def test_groups_are_alike_on_spark(tables, spark, tmp_path):
    folder = tables(32).write(tmp_path / "log")
    ours, theirs = (coterie.read_log(folder, **options) for options in ({}, {"spark": spark}))
    found = [Statistics.of(one, noise="samples", clues=False).whole.clusters for one in (ours, theirs)]
    np.testing.assert_array_equal(found[0].keys, found[1].keys)
    np.testing.assert_array_equal(found[0].values, found[1].values)


def test_new_names_keep_groups_in_place(tables):
    made = tables(33, samples=40)
    frames = made.frames()
    renamed = made.frames()
    for rows in renamed.values():
        rows["sample"] = [f"later {name}" for name in rows["sample"]]
        for column in {"agent", "partner"} & set(rows):
            rows[column] = [f"b{name}" for name in rows[column]]
    one = Statistics.of(coterie.Log.from_frames(**frames), noise="samples")
    two = Statistics.of(coterie.Log.from_frames(**renamed), noise="samples")
    both = (one + two).whole
    n = len(one.agents)
    for agent in range(n):
        count, deviation = both.by_cluster(agent)
        old, moved = one.whole.by_cluster(agent)
        wide = count.reshape(CLUSTERS, -1, 2 * n - 1)[:, :, : n - 1]
        np.testing.assert_array_equal(wide.reshape(CLUSTERS, -1), old)
        near = deviation.reshape(CLUSTERS, -1, 2 * n - 1)[:, :, : n - 1].reshape(CLUSTERS, -1)
        np.testing.assert_allclose(near, moved, atol=1e-12)


@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_residuals_of_totals(noise):
    """The variance is that of weighted least squares, alone totals left aside, where the penalty hardly matters."""
    _, _, batch, statistics = drawn(400, Reading(noise=noise), feedback="bandit", n=4, k=2)
    ridge = agent_ridge(statistics.whole)
    totals = batch.totals()
    for i in range(4):
        x = batch.joined[:, i, :, None] & batch.joined.transpose(0, 2, 1)
        x = np.delete(x, i, axis=2).reshape(len(x), -1).astype(float)
        c = x.sum(axis=1)
        x, v, c = x[c > 0], totals[c > 0, i], c[c > 0]
        weight = 1 / np.sqrt(c) if noise == "pairs" else 1 / c
        _, squares, rank, _ = np.linalg.lstsq(x * weight[:, None], v * weight, rcond=None)
        assert rank == x.shape[1]
        expected = squares[0] / (len(v) - rank)
        assert ridge.residual_variance(i) == pytest.approx(expected, rel=1e-3)
    assert replace(ridge, squares=()).residual_variance(0) is None
    few = replace(ridge, totals=(5.0,) * 4)
    assert few.residual_variance(0) == few.bounds.half_range**2


@pytest.mark.parametrize("joint", [False, True])
def test_totals_have_a_figure_too(joint):
    game, strategy, _, statistics = drawn(400, Reading(joint=joint), feedback="bandit")
    evidence = evidence_from(statistics.whole)
    assert isinstance(evidence.estimate, AgentRidge) is not joint
    found = likely_gap(evidence, strategy, game.actions, 0.1)
    estimated = evidence.game(game.actions).gap(strategy)
    assert estimated <= found < fixed(evidence, strategy, game.actions, 0.1).gap
    assert likely_gap(evidence.preview(evidence), strategy, game.actions, 0.1) is None
    if joint:
        assert (
            likely_gap(replace(evidence, estimate=replace(evidence.estimate, alone=None)), strategy, game.actions, 0.1)
            is None
        )


def test_where_it_is_not_known():
    game, strategy, _, statistics = drawn(60, Reading(noise="samples"))
    evidence = evidence_from(statistics.whole)
    figure = likely_gap(evidence, strategy, game.actions, 0.1)
    assert figure is not None
    without = replace(statistics.whole, clusters=None)
    assert likely_gap(evidence_from(without), strategy, game.actions, 0.1) is None
    adaptive = replace(statistics.whole, setting=replace(statistics.setting, adaptive=True))
    assert likely_gap(evidence_from(adaptive), strategy, game.actions, 0.1) is None
    blind = replace(evidence.estimate, moments=replace(evidence.estimate.moments, variance=None))
    assert likely_gap(replace(evidence, estimate=blind), strategy, game.actions, 0.1) is None
    _, _, _, single = drawn(1, Reading(noise="samples"))
    assert likely_gap(evidence_from(single.whole), strategy, game.actions, 0.1) is None
    _, _, _, few = drawn(1, Reading())
    unbounded = replace(few.whole, setting=replace(few.setting, utility_range=None, sigma=1.0))
    assert likely_gap(evidence_from(unbounded), strategy, game.actions, 0.1) is None
    sealed = Sealed(evidence)
    with pytest.raises(InputError, match="nothing was certified yet"):
        sealed.likely(0, 0.1)
    sealed.certify([strategy], None, game.actions, 0.05)
    assert sealed.likely(0, 0.1) == figure


def test_unseen_pairs_count_at_their_worst():
    game, strategy, _, statistics = drawn(2, Reading())
    evidence = evidence_from(statistics.whole)
    assert likely_gap(evidence, strategy, game.actions, 0.1) > evidence.game(game.actions).gap(strategy)


@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_unrecorded_outcomes_count_at_their_worst(noise):
    rng = np.random.default_rng(3)
    batch = drawn_batch(rng, 400, 4, 2, (0.3, -0.1))
    part, thinned = np.zeros(400, dtype=int), keep(batch, rng.random(len(batch.utility)) < 0.7)
    figures = []
    for rows, missing in ((batch, "ignore"), (batch, "worst"), (thinned, "worst")):
        setting = setting_with(rows, missing=missing, noise=noise)
        evidence = evidence_from(reduced(rows, part, setting).whole)
        strategy = evidence.game(setting.actions).strategy([[1, 0], [1, 0], [0, 1], [0, 1]])
        figures.append(likely_gap(evidence, strategy, setting.actions, 0.1))
        assert figures[-1] <= fixed(evidence, strategy, setting.actions, 0.1).gap
    assert figures[0] == pytest.approx(figures[1])
    assert figures[2] > figures[1] + 0.1


def test_who_is_left_out_does_not_count():
    game, strategy, _, statistics = drawn(60, Reading())
    evidence = evidence_from(statistics.whole)
    alone = [
        likely_gap(evidence, strategy, game.actions.leaving_out([j for j in range(4) if j != i]), 0.1) for i in range(4)
    ]
    assert likely_gap(evidence, strategy, game.actions, 0.1) == max(alone)
    some = ActionSpaces(game.actions.spaces, (int(np.argmax(alone)),))
    assert likely_gap(evidence, strategy, some, 0.1) == sorted(alone)[-2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "reading", "feedback"),
    [
        ("pairs", Reading(), "semi-bandit"),
        ("samples", Reading(noise="samples"), "semi-bandit"),
        ("pairs", Reading(noise="samples"), "semi-bandit"),
        ("pairs", Reading(), "bandit"),
        ("pairs", Reading(joint=True), "bandit"),
        ("samples", Reading(noise="samples"), "bandit"),
    ],
    ids=lambda one: f"{one.noise}{one.joint}" if isinstance(one, Reading) else one,
)
@pytest.mark.parametrize("samples", [30, 400])
def test_it_is_about_right(noise, reading, feedback, samples):
    """At delta = 0.1 the true gap is above the figure in about a tenth of 300 logs, or fewer; 48 are 3.4 deviations."""
    wrong = 0
    for seed in range(300):
        game, strategy, _, statistics = drawn(samples, reading, feedback=feedback, seed=seed, n=5, k=3, noise=noise)
        wrong += game.gap(strategy) > likely_gap(evidence_from(statistics.whole), strategy, game.actions, 0.1)
    assert wrong <= 48
