"""Certificates hold over many logs, for learnt profiles; and fail where they say that they may.

The short form of `benchmarks/calibration.py`: few logs per setting, n = 3 only.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from coterie import Game
from coterie.certificates import gains
from coterie.certificates.certificate import Certificate, Witness
from coterie.certificates.paired import paired
from coterie.reproduce import calibration

LOGS = 16
SETTINGS = {setting.key: setting for setting in calibration.settings() if setting.n == 3}


def violations(setting, monkeypatch, logs=LOGS):
    """Count broken promises: of the gap, of those who surely stay, and for each agent of her own bound."""
    monkeypatch.setattr(gains, "ENUMERATED", setting.listed)
    counts: Counter[tuple[str, float, str]] = Counter()
    for seed in range(logs):
        for one in calibration.run(setting, setting.methods(), 10_000 + seed):
            counts[one.certificate, one.delta, "gap"] += one.wrong
            counts[one.certificate, one.delta, "staying"] += one.staying_wrong
            for i, wrong in enumerate(one.agents):
                counts[one.certificate, one.delta, f"agent {i}"] += wrong
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if not setting.expected_to_fail])
def test_certificates_hold(name, monkeypatch):
    for (certificate, delta, promise), count in violations(SETTINGS[name], monkeypatch).items():
        if not certificate.startswith("paper"):
            # More often than this happens once in 10,000 times if violations have probability delta.
            assert count <= binom.ppf(1 - 1e-4, LOGS, delta), (certificate, delta, promise)


@pytest.mark.slow
def test_ignoring_sizes_fails_and_is_warned_of(monkeypatch):
    """Size-dependent means make size-free certificates false, the paper's too; the test says so."""
    setting = SETTINGS["crowding, sizes ignored 3"]
    counts = violations(setting, monkeypatch, 20)
    for certificate in ("paper (as printed)", "paired", "holdout"):
        assert counts[certificate, 0.01, "gap"] >= 5
    assert calibration.warns(setting, 1)


def test_ignoring_shared_noise_is_warned_of():
    assert calibration.warns(SETTINGS["shared noise, ignored 3"], 1)


def test_the_oracle_is_used_where_it_should_be(monkeypatch):
    setting = SETTINGS["any set, by the oracle 3"]
    source, batch, rng = calibration.drawn(setting, 0)
    monkeypatch.setattr(gains, "ENUMERATED", setting.listed)
    statistics = setting.statistics(source, batch, rng.random(setting.samples) < 0.5)
    evidence, game = setting.evidence(statistics.whole, source.game), source.game
    found = paired(evidence, game.uniform(), game.actions, 0.1)
    assert not found.is_exact


def test_every_way_to_fit_totals_where_it_applies():
    assert SETTINGS["bandit signs 3"].methods() == ["best", "joint", "paper"]
    assert SETTINGS["bandit pooled 3"].methods() == ["best", "joint"]
    assert SETTINGS["bandit one-sided 3"].methods() == ["best", "paper"]
    assert SETTINGS["bandit sizes 3"].methods() == SETTINGS["signs 3"].methods() == ["best"]
    assert SETTINGS["bandit adaptive 3"].methods() == ["best"]


def certified(bounds, stay):
    """A certificate that says these bounds of agents a, b, c."""
    witnesses = {agent: Witness(agent, (), bound, 0.0) for agent, bound in zip("abc", bounds, strict=True)}
    worst = max(witnesses.values(), key=lambda one: one.bound)
    per_agent = {agent: max(one.bound, 0.0) for agent, one in witnesses.items()}
    return Certificate("holdout", 0.1, max(worst.bound, 0.0), per_agent, worst, witnesses, surely_stay=tuple(stay))


def test_promises_are_counted_apart():
    """a and b meet, which is worth 1 to a and -1 to b; c is alone, and would lose by joining them."""
    means = np.array([[[0.0, 1, 1], [-1, 0, 1], [-1, -1, 0]], np.zeros((3, 3))])
    game = Game(means, [["x"], ["y"]], agents=["a", "b", "c"], coalitions=["x", "y"], symmetric=False)
    strategy = game.strategy({"a": ["x"], "b": ["x"], "c": ["y"]})
    true = np.array([-1.0, 1.0, -2.0])
    truth = calibration.Truth(game)
    assert np.array_equal(truth.of(strategy)[0], true)

    def promises(shift, stay=""):
        one = calibration.compared("holdout", certified(true + shift, stay), truth, strategy)
        return one.wrong, one.agents.tolist(), one.staying_wrong

    assert promises([0, 0, 0], "ac") == (False, [False] * 3, False)
    # c's own bound is wrong although it is negative, and the gap is not.
    assert promises([0, 0, -0.1], "ac") == (False, [False, False, True], False)
    # a's bound covers up for b's.
    assert promises([3, -0.5, 0]) == (False, [False, True, False], False)
    assert promises([0, -0.5, 0]) == (True, [False, True, False], False)
    assert promises([0, 0, 0], "abc") == (False, [False] * 3, True)


def test_held_out_certificates_are_tried_with_tilted_widths(monkeypatch):
    """Where the learning part knows variances, its width is what `holdout` reports."""
    from coterie.certificates.tilted import Tilted

    used = []
    width = Tilted.width
    monkeypatch.setattr(Tilted, "width", lambda self, x, agents: used.append(1) or width(self, x, agents))
    calibration.run(SETTINGS["two points near 0 3"], ["best"], 0)
    assert used


def test_adaptive_logs_depend_on_what_was_seen():
    """Agents mostly repeat what paid best, and only certificates that hold for any choice are tried."""
    setting = SETTINGS["adaptive 3"]
    plain = calibration.drawn(replace(setting, adaptive=False), 0).batch
    batch = calibration.drawn(setting, 0).batch
    assert batch.joined.shape == plain.joined.shape
    assert (np.diff(batch.sample) >= 0).all()
    assert (batch.joined[batch.sample, batch.agent, batch.coalition]).all()
    later = batch.joined[len(batch.joined) // 2 :].mean(axis=0)
    assert np.abs(later - 0.5).mean() > np.abs(plain.joined.mean(axis=0) - 0.5).mean()
    names = {one.certificate for one in calibration.run(setting, ["best"], 0)}
    assert names == {"paired", "paired box", "paired mixed"}


def test_hushed_up_outcomes_count_at_their_worst():
    """The same log without the missing rows' worst case certifies less: the option is what is tried."""
    setting = SETTINGS["bad outcomes hushed up 3"]
    source, batch, rng = calibration.drawn(setting, 0)
    learns = rng.random(setting.samples) < 0.5
    whole = [
        one.evidence(one.statistics(source, batch, learns).whole, source.game)
        for one in (setting, replace(setting, missing="ignore"))
    ]
    assert [one.covers_missing for one in whole] == [True, False]
    profile, spaces = source.game.uniform(), source.game.actions
    worst, ignored = (paired(one, profile, spaces, 0.1).gap for one in whole)
    assert worst > ignored
