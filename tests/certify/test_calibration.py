"""Certificates hold over many logs, for learnt profiles; and fail where they say that they may.

The short form of `benchmarks/calibration.py`: few logs per setting, n = 3 only.
`benchmarks/certificates.py` runs once, on short logs.
"""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

import calibration
import certificates
from coterie.certify.diagnose import size_dependence

LOGS = 40
SETTINGS = {f"{setting.name} {setting.n}": setting for setting in calibration.settings() if setting.n == 3}


def violations(setting, logs=LOGS):
    counts: Counter[tuple[str, float]] = Counter()
    for seed in range(logs):
        for name, delta, wrong, _ in calibration.run(setting, 10_000 + seed):
            counts[name, delta] += wrong
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if not setting.expected_to_fail])
def test_certificates_hold(name):
    for (certificate, delta), count in violations(SETTINGS[name]).items():
        if not certificate.startswith("paper"):
            # More often than this happens once in 10,000 times if violations have probability delta.
            assert count <= binom.ppf(1 - 1e-4, LOGS, delta), (certificate, delta)


@pytest.mark.slow
def test_ignoring_sizes_fails_and_is_warned_of():
    """Size-dependent means make size-free certificates false, the paper's too; the test says so."""
    setting = SETTINGS["crowding, sizes ignored 3"]
    counts = violations(setting, 20)
    for certificate in ("paper (as printed)", "paired", "holdout"):
        assert counts[certificate, 0.01] >= 5
    rng = np.random.default_rng(1)
    source = calibration.simulation(setting, rng)
    (batch,) = source.batches(setting.samples)
    half = rng.random(setting.samples) < 0.5
    parts = [calibration.statistics(setting, batch, source.game, kept, sizes="aware") for kept in (half, ~half)]
    assert size_dependence(parts).coalitions


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_the_table_of_certificates_can_be_made(feedback):
    """For any number of agents, not just those of the calibration."""
    found = certificates.run(certificates.Setting(feedback, 4, 2, 300, 3, ("-", "-", "-")), seed=1, starts=4)
    assert {"paper", "paired", "holdout 50/50", "holdout 20/80", "auto"} <= set(found)
    assert found["auto"] >= found["auto true"] >= 0
    assert certificates.exactly_zero([{"auto": 0.0}, {"auto": 0.5}], "auto") == "0.250, 1 of 2 exactly 0"


def test_the_report_counts_what_fails():
    rows = [["signs", 3, "paired", 0.1, "0/10", "0 to 0.4", "0.1", "holds"]]
    bad = [["crowding, sizes ignored", 3, "paired", 0.1, "9/10", "0.5 to 1", "-1", "fails"]]
    text = calibration.report({"signs 3": rows, "crowding, sizes ignored 3": bad}, 10)
    assert "1 cells whose assumptions hold: 0 with significantly more" in text
    assert "| crowding, sizes ignored | 3 | paired | 0.1 | 9/10 |" in text
