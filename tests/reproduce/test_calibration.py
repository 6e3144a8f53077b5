"""Certificates hold over many logs, for learnt profiles; and fail where they say that they may.

The short form of `benchmarks/calibration.py`: few logs per setting, n = 3 only.
"""

from collections import Counter

import pytest
from scipy.stats import binom

from coterie.certificates import gains
from coterie.certificates.paired import paired
from coterie.reproduce import calibration

LOGS = 40
SETTINGS = {setting.key: setting for setting in calibration.settings() if setting.n == 3}


def violations(setting, monkeypatch, logs=LOGS):
    monkeypatch.setattr(gains, "ENUMERATED", setting.listed)
    counts: Counter[tuple[str, float]] = Counter()
    for seed in range(logs):
        for one in calibration.run(setting, setting.methods(), 10_000 + seed):
            counts[one.certificate, one.delta] += one.wrong
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if not setting.expected_to_fail])
def test_certificates_hold(name, monkeypatch):
    for (certificate, delta), count in violations(SETTINGS[name], monkeypatch).items():
        if not certificate.startswith("paper"):
            # More often than this happens once in 10,000 times if violations have probability delta.
            assert count <= binom.ppf(1 - 1e-4, LOGS, delta), (certificate, delta)


@pytest.mark.slow
def test_ignoring_sizes_fails_and_is_warned_of(monkeypatch):
    """Size-dependent means make size-free certificates false, the paper's too; the test says so."""
    setting = SETTINGS["crowding, sizes ignored 3"]
    counts = violations(setting, monkeypatch, 20)
    for certificate in ("paper (as printed)", "paired", "holdout"):
        assert counts[certificate, 0.01] >= 5
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
