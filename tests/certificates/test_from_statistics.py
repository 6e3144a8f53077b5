"""From a log on disk to evidence, against the same arrays summed by hand."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import Strategy
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import fixed
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_from, paper_totals, printed_from
from coterie.certificates.total_evidence import TotalEvidence
from coterie.errors import InputError, TooLargeError
from coterie.estimate import pair_means
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import pair_estimate
from coterie.estimate.ridge import agent_ridge, joint_ridge, paper_ridge, printed_ridge
from coterie.estimate.unknowns import Anonymous, KnownFactor, SizeFree
from coterie.simulate import Simulation
from coterie.statistics.statistics import Statistics


def written(tmp_path, feedback="semi-bandit", samples=300, *, model="gaussian", symmetric=True):
    source = Simulation.draw(4, 3, np.random.default_rng(5), model=model, actions_per_agent=4, symmetric=symmetric)
    state = source.rng.bit_generator.state
    source.write_log(tmp_path / "log", samples, feedback=feedback)
    source.rng.bit_generator.state = state
    (batch,) = source.batches(samples)
    return source, batch, tmp_path / "log"


def summed(batch, values, shape, key):
    array = np.zeros(shape)
    np.add.at(array, (batch.coalition, batch.agent, batch.partner, *key), values)
    if batch.symmetric:
        np.add.at(array, (batch.coalition, batch.partner, batch.agent, *key), values)
    return array


@pytest.mark.parametrize("sizes", ["ignore", "aware"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_pair_moments_equal_direct_sums(tmp_path, sizes, symmetric):
    _, batch, path = written(tmp_path, symmetric=symmetric)
    part = Statistics.of(coterie.read_log(path), sizes=sizes).whole
    found = pair_estimate(part).moments
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    key, shape = ((size,), (3, 4, 4, 5)) if sizes == "aware" else ((), (3, 4, 4))
    count = summed(batch, 1.0, shape, key)
    np.testing.assert_array_equal(found.count, count)
    np.testing.assert_allclose(found.mean * count, summed(batch, batch.utility, shape, key), atol=1e-5)
    squares = summed(batch, batch.utility**2, shape, key)
    spread = squares - count * found.mean**2
    np.testing.assert_allclose(found.variance * np.maximum(count - 1, 1), np.where(count > 1, spread, 0), atol=1e-4)
    assert found.events == int((count > 0).sum()) // (2 if symmetric else 1)


def test_the_estimate_of_a_joint_action_is_the_sum_of_averages(tmp_path):
    """Eq. 8: over an agent's coalitions and her partners there, the average of what was observed."""
    _, batch, path = written(tmp_path)
    found = pair_estimate(Statistics.of(coterie.read_log(path), sizes="ignore").whole)
    for joined in batch.joined[:20]:
        rooms = SizeFree().at(joined.astype(float)).linear(found.moments.mean)
        for agent, own in enumerate(joined):
            expected = 0.0
            for room, partner in product(np.flatnonzero(own), range(4)):
                if partner != agent and joined[partner, room]:
                    where = (batch.coalition == room) & (np.minimum(batch.agent, batch.partner) == min(agent, partner))
                    where &= np.maximum(batch.agent, batch.partner) == max(agent, partner)
                    expected += batch.utility[where].mean()
            assert rooms[agent] @ own == pytest.approx(expected, abs=1e-5)


def test_anonymous_and_factor_share_unknowns(tmp_path):
    source, batch, path = written(tmp_path, model="size-gaussian")
    part = Statistics.of(coterie.read_log(path), sizes="aware").whole
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    by_size = pair_estimate(part, Anonymous()).moments
    expected = np.zeros((3, 5))
    np.add.at(expected, (batch.coalition, size), 1)
    np.testing.assert_allclose(by_size.count, expected)
    scale = source.model.size_scale
    estimate = pair_estimate(part, KnownFactor(scale))
    weight = scale[batch.coalition, size]
    information = summed(batch, weight**2, (3, 4, 4), ())
    projected = summed(batch, weight * batch.utility, (3, 4, 4), ())
    np.testing.assert_allclose(estimate.moments.count, information)
    np.testing.assert_allclose(estimate.moments.mean * information, projected, atol=1e-5)
    assert isinstance(estimate.unknowns, KnownFactor)
    # The certificate may rely on it: the factor is what the model uses.
    strategy = source.game.strategy(source.game.actions.sample(np.random.default_rng(0), 1)[0])
    for value in (
        paired(PairEvidence(estimate), strategy, source.game.actions, 0.1),
        fixed(PairEvidence(estimate), strategy, source.game.actions, 0.1),
    ):
        assert value.gap >= source.game.gap(strategy)
    with pytest.raises(InputError, match="by size"):
        pair_estimate(Statistics.of(coterie.read_log(path)).whole, "anonymous")
    with pytest.raises(InputError, match="at least 0"):
        pair_estimate(part, KnownFactor(-scale))


def test_totals_equal_direct_sums(tmp_path):
    _, batch, path = written(tmp_path, "bandit")
    log = coterie.read_log(path, utility_range=(-1, 2), neutral=0.0)
    part = Statistics.of(log, unweighted=True, joint=True).whole
    ridge, plain, joint = agent_ridge(part), paper_ridge(part), joint_ridge(part)
    assert Bounds.of(part.setting).middle == 0.5
    totals = batch.totals()
    for i in range(4):
        both = (batch.joined & batch.joined[:, i : i + 1]).astype(float).transpose(0, 2, 1)
        x = np.delete(both, i, axis=2).reshape(len(both), -1)
        c = x.sum(axis=1)
        w = 1 / np.maximum(c, 1)
        np.testing.assert_allclose(ridge.gram[i], (x * w[:, None]).T @ x, atol=1e-5)
        np.testing.assert_allclose(ridge.moment[i], x.T @ (w * (totals[:, i] - 0.5 * c)), atol=1e-4)
        np.testing.assert_allclose(plain.gram[i], x.T @ x, atol=1e-9)
        np.testing.assert_allclose(plain.moment[i], x.T @ totals[:, i], atol=1e-4)
    assert joint.moment.shape == (18,)
    # Both estimates find the means.
    assert np.abs(joint.theta(0) - ridge.theta(0)).max() < 1.0
    assert isinstance(evidence_from(part).estimate, type(joint))
    without = Statistics.of(log).whole
    assert isinstance(evidence_from(without).estimate, type(ridge))
    with pytest.raises(InputError, match="joint=True"):
        joint_ridge(without)


def test_shared_noise_brings_its_counts(tmp_path):
    source, batch, path = written(tmp_path)
    part = Statistics.of(coterie.read_log(path), noise="samples").whole
    evidence = evidence_from(part)
    present = np.zeros((300, 3, 4))
    for receiver, giver in ((batch.agent, batch.partner), (batch.partner, batch.agent)):
        here = receiver == 0
        present[batch.sample[here], batch.coalition[here], giver[here]] = 1
    x = present[:, :, 1:].reshape(300, -1)
    np.testing.assert_array_equal(evidence.estimate.noise.together(0, None), x.T @ x)
    strategy = source.game.strategy(source.game.actions.sample(np.random.default_rng(0), 1)[0])
    with_counts = fixed(evidence, strategy, source.game.actions, 0.1)
    from dataclasses import replace

    from coterie.estimate.pair_means import SampleNoise

    without = PairEvidence(replace(evidence.estimate, noise=SampleNoise(None)))
    assert with_counts.gap <= fixed(without, strategy, source.game.actions, 0.1).gap + 1e-12
    assert "rounds are independent" in with_counts.assumes[1]


def test_too_large_estimates_are_refused(tmp_path, monkeypatch):
    _, _, path = written(tmp_path)
    part = Statistics.of(coterie.read_log(path), sizes="aware").whole
    monkeypatch.setattr(pair_means, "CELLS", 10)
    with pytest.raises(TooLargeError, match='more than 10 cells; sizes="ignore" needs'):
        pair_estimate(part)


def test_the_papers_bandit_certificate_scales_with_the_range(tmp_path):
    source, _, path = written(tmp_path, "bandit")
    profile = source.game.strategy(source.game.actions.sample(np.random.default_rng(0), 1)[0])
    wide = tmp_path / "wide"
    wide.mkdir()
    header, *rows = (path / "totals.csv").read_text().splitlines()
    scaled = [f"{left},{100 * float(value)!r}" for left, value in (row.rsplit(",", 1) for row in rows)]
    (wide / "totals.csv").write_text("\n".join([header, *scaled]) + "\n")
    (wide / "memberships.csv").write_text((path / "memberships.csv").read_text())
    small = Statistics.of(coterie.read_log(path), parts=(1.0,), unweighted=True).whole
    large = Statistics.of(coterie.read_log(wide, utility_range=(-100, 100)), parts=(1.0,), unweighted=True).whole
    one, two = (paper_from(part, profile, source.game.actions, 0.01).gap for part in (small, large))
    assert two == pytest.approx(100 * one, rel=1e-4)


def test_eq_11_as_printed_from_a_log(tmp_path):
    source, batch, path = written(tmp_path, "bandit")
    log, spaces = coterie.read_log(path), source.game.actions
    profile = source.game.uniform()
    found = printed_from(log, profile, spaces, 0.01)
    of_batches = printed_ridge([batch], Bounds(-1.0, 1.0))
    assert found.gap == pytest.approx(paper_totals(TotalEvidence(of_batches), profile, spaces, 0.01, 300).gap, abs=1e-4)
    plain = paper_from(Statistics.of(log, unweighted=True).whole, profile, spaces, 0.01)
    assert 1 < found.gap / plain.gap < 1.5
    with pytest.raises(InputError, match="bounds: samples in memory"):
        printed_ridge([batch])
    pairs = written(tmp_path / "pairs")[2]
    with pytest.raises(InputError, match="about totals of agents"):
        printed_from(coterie.read_log(pairs), profile, spaces, 0.01)


def test_totals_that_a_log_does_not_have_are_left_out(tmp_path):
    _, batch, path = written(tmp_path, "bandit", samples=40)
    (table,) = path.glob("totals.*")
    frame = pd.read_parquet(table) if table.suffix == ".parquet" else pd.read_csv(table)
    gone = (frame["agent"] == "p1") & frame["sample"].astype(str).isin([str(m) for m in range(1, 11)])
    assert gone.sum() == 10
    kept = frame[~gone]
    kept.to_parquet(table, index=False) if table.suffix == ".parquet" else kept.to_csv(table, index=False)
    found = printed_ridge(coterie.read_log(path))
    whole, rest = (printed_ridge([SimpleNamespace(joined=batch.joined[m:], totals=lambda m=m: batch.totals()[m:])],
                                 Bounds(-1.0, 1.0)) for m in (0, 10))  # fmt: skip
    np.testing.assert_allclose(found.gram[0], rest.gram[0])
    np.testing.assert_allclose(found.gram[1], whole.gram[1])
    np.testing.assert_allclose(found.moment[0], rest.moment[0], atol=1e-4)


def test_mixed_and_pure_profiles_pay_alike_for_the_choice_between_them(tmp_path):
    """A profile that is all but pure gets no smaller box than a pure one: both have half of delta."""
    source, _, path = written(tmp_path)
    evidence = evidence_from(Statistics.of(coterie.read_log(path), parts=(1.0,)).whole)
    game = source.game
    mixed = coterie.Strategy.uniform(game.actions, game.agents, game.coalitions)
    assert paired(evidence, mixed, game.actions, 0.1).gap == paired(evidence, mixed, game.actions, 0.05, form="box").gap


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_symmetry_is_listed_where_it_is_assumed(tmp_path, feedback):
    """Each agent's own regression needs no symmetry, the joint one does."""
    same = "both people of a pair get the same"
    joint = {"joint": True} if feedback == "bandit" else {}
    for symmetric in (True, False):
        folder = tmp_path / str(symmetric)
        folder.mkdir()
        log = coterie.read_log(written(folder, feedback, symmetric=symmetric)[2])
        assumed = evidence_from(Statistics.of(log, **(joint if symmetric else {})).whole).assumptions()
        assert assumed.count(same) == symmetric
        if feedback == "bandit":
            assert same not in evidence_from(Statistics.of(log).whole).assumptions()


@pytest.mark.parametrize("certify", [paired, fixed])
def test_strategies_may_be_given_in_several_forms(tmp_path, certify):
    source, _, folder = written(tmp_path)
    evidence = evidence_from(Statistics.of(coterie.read_log(folder)).whole)
    strategy = source.game.strategy(source.game.actions.sample(3, 1)[0])
    teams = {agent: sorted(joined) for agent, joined in strategy.actions.items()}
    expected = certify(evidence, strategy, source.game.actions, 0.1)
    assert certify(evidence, teams, source.game.actions, 0.1).gap == expected.gap
    with pytest.raises(InputError, match="strategy"):
        certify(evidence, object(), source.game.actions, 0.1)


@pytest.mark.parametrize("pooled", [False, True])
def test_bounds_for_dependent_pairs_are_never_below_those_for_independent_ones(tmp_path, pooled):
    """So which of the two is used may be decided by the utilities that certify (`noise="auto"`)."""
    _, _, path = written(tmp_path)
    options = {"pool_coalitions": True, "actions": "any"} if pooled else {}
    log = coterie.read_log(path, **options)
    calm, loud = (evidence_from(Statistics.of(log, noise=noise).whole) for noise in ("pairs", "samples"))
    for sets in log.actions.sample(np.random.default_rng(0), 20):
        strategy = Strategy.pure(sets, log.agents, log.coalitions)
        for certify in (paired, fixed):
            ours, theirs = (certify(one, strategy, log.actions, 0.1) for one in (loud, calm))
            for agent, witness in theirs.alternatives.items():
                assert ours.alternatives[agent].bound >= witness.bound - 1e-12
