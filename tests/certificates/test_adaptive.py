"""Logs in which who met whom depended on earlier outcomes: what holds there, and what does not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import InputError, StableLearner, Strategy
from coterie.assumptions.all_checks import adaptivity_check
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import fixed
from coterie.certificates.paired import paired
from coterie.certificates.widths import hoeffding_shape
from coterie.estimate import confidence
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, setting_of
from coterie.statistics.in_memory import Batch, reduced
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from made_tables import frames_of

MEAN, MOST = 0.2, 1500
APART = Strategy.pure([[1, 0], [0, 1]], ("a", "b"), ("x", "y"))


def setting(feedback, *, adaptive):
    sets = {"a": [["x"], ["y"]], "b": [["y"]]}
    return Setting(
        feedback, ("a", "b"), ("x", "y"), True, (-1.0, 1.0), 0.0, None, False, sets, sets, "ignore", "pairs", (1.0,), 0,
        adaptive=adaptive,
    )  # fmt: skip


def stopped(seed, delta):
    """Let two agents meet until a bound for a fixed number of meetings excludes the truth, which is MEAN > 0."""
    rng = np.random.default_rng(seed)
    utility = np.where(rng.random(MOST) < (1 + MEAN) / 2, 1.0, -1.0)
    count = np.arange(1, MOST + 1)
    bound = np.cumsum(utility) / count + hoeffding_shape(-np.log(delta)).width(1 / count)
    low = np.flatnonzero((bound < MEAN) & (count >= 10))
    met = int(low[0]) + 1 if len(low) else MOST
    joined = np.zeros((MOST, 2, 2), dtype=bool)
    joined[:, 1, 1] = joined[:met, 0, 1] = joined[met:, 0, 0] = True
    zeros = np.zeros(met, dtype=np.int64)
    return Batch(1, joined, np.arange(met), zeros + 1, zeros, zeros + 1, utility[:met], symmetric=True)


def evidence_of(batch, feedback, *, adaptive):
    made = setting(feedback, adaptive=adaptive)
    return evidence_from(reduced(batch, np.zeros(MOST, dtype=np.int64), made).whole), made.actions


def test_stopping_in_time_breaks_ordinary_certificates_and_not_adaptive_ones():
    """At delta = 0.1 the ordinary certificate is wrong in about a fifth of such logs."""
    delta, logs = 0.1, 150
    wrong = {"ordinary": 0, "semi-bandit": 0, "bandit": 0}
    for seed in range(logs):
        batch = stopped(seed, delta)
        evidence, spaces = evidence_of(batch, "semi-bandit", adaptive=False)
        wrong["ordinary"] += fixed(evidence, APART, spaces, delta, form="hoeffding").gap < MEAN
        for feedback in ("semi-bandit", "bandit"):
            evidence, spaces = evidence_of(batch, feedback, adaptive=True)
            wrong[feedback] += paired(evidence, APART, spaces, delta).gap < MEAN
    assert wrong["ordinary"] > 1.5 * delta * logs
    assert max(wrong["semi-bandit"], wrong["bandit"]) <= delta * logs


def test_intervals_hold_at_every_time_at_once():
    """Values of the largest variance: the intervals of all counts together exclude the truth in few sequences."""
    rng, delta, wrong = np.random.default_rng(0), 0.2, np.zeros(2)
    count = np.arange(1.0, 1001.0)
    for _ in range(300):
        mean = np.cumsum(np.where(rng.random(1000) < 0.6, 1.0, -1.0)) / count
        lower, upper = confidence.kl_mixture_interval(mean, count, -1.0, 1.0, 1, delta)
        wrong[0] += ((lower > 0.2) | (upper < 0.2)).any()
        wrong[1] += (np.abs(mean - 0.2) > confidence.normal_mixture(count, count, 1.0, 1, delta)).any()
    assert (wrong <= delta * 300).all()
    assert (wrong > 0).all()  # not for want of trying


def test_widths_are_a_little_wider_than_those_for_fixed_counts():
    count = np.array([100.0, 1000.0, 7500.0])
    fixed_counts = confidence.hoeffding(count, 1.0, 225, 0.01)
    lower, upper = confidence.kl_mixture_interval(np.zeros(3), count, -1.0, 1.0, 225, 0.01)
    for width in (confidence.normal_mixture(count, count, 1.0, 225, 0.01), (upper - lower) / 2):
        assert (width > fixed_counts).all()
        assert (width < 1.2 * fixed_counts).all()


@pytest.mark.parametrize("options", [{}, {"sizes": "aware"}, {"noise": "samples"}, {"pool_coalitions": True}])
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_bounds_that_hold_are_the_box_and_the_ellipsoid(feedback, options):
    """Nothing is narrower than without, single profiles and many at once agree, and what is assumed says so."""
    source = Simulation.draw(4, 3, np.random.default_rng(2), actions_per_agent=4)
    (batch,) = source.batches(200)
    plain = setting_of(source, feedback, Reading(**options), (1.0,))
    strategy = source.game.strategy(source.game.actions.sample(np.random.default_rng(0), 1)[0])
    found = []
    for adaptive in (False, True):
        part = reduced(batch, np.zeros(200, dtype=np.int64), replace(plain, adaptive=adaptive)).whole
        found.append(paired(evidence_from(part), strategy, plain.actions, 0.1))
    ordinary, adapted = found
    assert all(adapted.alternatives[agent].bound >= one.bound - 1e-9 for agent, one in ordinary.alternatives.items())
    assert any("did not depend on earlier" in text for text in ordinary.assumes)
    assert not any("did not depend on earlier" in text for text in adapted.assumes)
    assert any("given what was before" in text for text in adapted.assumes)


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_learning_from_an_adaptive_log(feedback):
    source = Simulation.draw(4, 2, np.random.default_rng(3), actions_per_agent=3)
    (batch,) = source.batches(300)
    frames = frames_of(batch)
    if feedback == "bandit":
        totals = batch.totals()
        rows = [(str(m), f"p{i}", totals[m, i]) for m in range(300) for i in range(4)]
        frames["totals"] = pd.DataFrame(rows, columns=["sample", "agent", "utility"])
        frames.pop("pairs")
    log = coterie.Log.from_frames(**frames, adaptive=True)
    learner = StableLearner().fit(log)
    assert learner.certificate_.method == "paired"
    assert not any("did not depend" in text for text in learner.certificate_.assumes)
    assert learner.result_.certificates["holdout"] is learner.result_.certificates["paper"] is None
    given = coterie.certify(log, learner.strategy_, fresh=True)
    assert given.certificates["holdout"] is None
    with pytest.raises(InputError, match="for an adaptive log there is paired"):
        StableLearner(certificate="holdout").fit(log)
    with pytest.raises(InputError, match="for an adaptive log there is paired"):
        coterie.certify(log, learner.strategy_, certificate="holdout", fresh=True)
    with pytest.raises(InputError, match="not adaptive"):
        StableLearner(certificate="paper").fit(log)
    with pytest.raises(InputError, match="adaptive is True here and False there"):
        Statistics.of(log) + Statistics.of(coterie.Log.from_frames(**frames))


def test_whether_a_log_is_adaptive_is_not_tested():
    log = coterie.Log.from_frames(**frames_of(Simulation.draw(3, 2, np.random.default_rng(0)).batches(20).__next__()))
    found = adaptivity_check(Statistics.of(log))
    assert (found.verdict, "use adaptive=True" in found.text) == ("not tested", True)
