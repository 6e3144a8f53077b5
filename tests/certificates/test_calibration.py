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
import coterie
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.ridge import paper_ridge
from coterie.statistics.dependence import sample_excess
from coterie.statistics.statistics import Statistics

LOGS = 40
SETTINGS = {f"{setting.name} {setting.n}": setting for setting in calibration.settings() if setting.n == 3}


def violations(setting, logs=LOGS):
    counts: Counter[tuple[str, float]] = Counter()
    for seed in range(logs):
        for name, delta, wrong, _ in calibration.run(setting, calibration.methods(setting), 10_000 + seed):
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
    assert calibration.warns(setting, 1)


def test_ignoring_shared_noise_is_warned_of():
    assert calibration.warns(SETTINGS["shared noise, ignored 3"], 1)


def as_log(setting, folder, seed=5, **options):
    """The log of a seed, written and read."""
    source = calibration.simulation(setting, np.random.default_rng([seed, setting.n, setting.samples]))
    source.write_log(folder, setting.samples, feedback=setting.feedback)
    return coterie.read_log(folder, **options)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name in ("bandit signs 3", "bandit pooled 3", "bandit one-sided 3")
        for method in calibration.methods(SETTINGS[name])
    ],
)
def test_totals_in_memory_give_what_a_log_on_disk_gives(name, method, tmp_path):
    setting = SETTINGS[name]
    options = {"pool_coalitions": True, "actions": "any"} if setting.pool else {}
    log = as_log(setting, tmp_path / "log", **options)
    whole = Statistics.of(log, joint=method == "joint", unweighted=method == "paper").whole
    expected = TotalEvidence(paper_ridge(whole)) if method == "paper" else evidence_from(whole)
    game, batch, rng = calibration.drawn(setting, 5)
    found = calibration.evidence(setting, batch, game, np.ones(setting.samples, dtype=bool), method)
    assert found.unknowns == expected.unknowns
    (profile,) = calibration.candidates(found, game, rng, 1)
    design = found.design(profile)
    assert found.rooms(design) == pytest.approx(expected.rooms(design), abs=1e-6)
    for agent in range(setting.n):
        ours, theirs = found.estimate.spread(agent), expected.estimate.spread(agent)
        assert ours == pytest.approx(theirs, rel=1e-4)


def test_the_excess_in_memory_is_that_of_a_log_on_disk(tmp_path):
    setting = SETTINGS["shared noise, ignored 3"]
    expected = sample_excess(as_log(setting, tmp_path / "log"))
    found = calibration.excess(calibration.drawn(setting, 5)[1])
    assert found.samples == expected.samples
    assert (found.total, found.squares) == pytest.approx((expected.total, expected.squares), rel=1e-9)


def test_only_cells_that_are_not_there_are_missing():
    setting = SETTINGS["bandit signs 3"]
    assert calibration.missing(setting, []) == ["best", "joint", "paper"]
    assert calibration.missing(setting, [["bandit signs", 3, "paired"], ["bandit signs", 3, "paired joint"]]) == [
        "paper"
    ]


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
    results = {"signs 3": rows, "crowding, sizes ignored 3": bad}
    text = calibration.report(results, {"crowding, sizes ignored 3": "8/10"}, 10)
    assert "1 cells whose assumptions hold: 0 with significantly more" in text
    assert "| crowding, sizes ignored | 3 | paired | 0.1 | 9/10 | 0.5 to 1 | -1 | fails | 8/10 |" in text
    assert "finished: 2 of " in text
