"""Rehearsals: certificates of a simulated log, against the truth."""

from itertools import product

import numpy as np
import pytest

from coterie.errors import InputError, TooLargeError
from coterie.theory.rehearse import _source, rehearse, rehearse_until, small_sets


@pytest.mark.slow
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_certificates_hold_and_repeat(feedback, symmetric):
    options = {"feedback": feedback, "symmetric": symmetric, "delta": 0.05}
    found = rehearse(4, 3, 600, np.random.default_rng(1), **options)
    assert found == rehearse(4, 3, 600, np.random.default_rng(1), **options)
    assert list(found.certificates) == ["holdout", "paired", "paper"]
    assert found.true_gap <= found.certificates["holdout"] + 1e-9
    assert found.certificates["paired"] <= found.certificates["paper"]
    assert found.c_pair >= 1


def test_longer_logs_until_the_gap_is_certified():
    found = rehearse_until(0.5, 10**5, 0, 3, 2)
    assert found.certificates["holdout"] <= 0.5
    assert found.samples in {250, 1000, 4000, 16_000}
    assert rehearse_until(1e-9, 1000, 3, 6, 4).samples == 1000


def test_coverage_is_that_of_the_policy():
    """Against the enumerated frequencies of uniform exploration, at the profile that was held out."""
    source = _source(3, 3, np.random.default_rng(2), 4, 3, symmetric=True)
    sets = source.game.actions.spaces[0].enumerate()
    explored = np.array([np.array(rows) for rows in product(sets, repeat=3)])
    ratios = [
        {
            1 / max((explored[:, i, l] & explored[:, j, l]).mean(), 1e-300)
            for l, i, j in product(range(3), repeat=3)
            if i != j and profile[j, l] and sets[:, l].any()
        }
        for profile in explored
    ]
    found = rehearse(3, 3, 300, np.random.default_rng(2), actions_per_agent=4).c_pair
    assert any(found == pytest.approx(max(row)) for row in ratios)


def test_small_sets():
    rng = np.random.default_rng(0)
    sets = small_sets(rng, 6, 10, 2)
    assert len(np.unique(sets, axis=0)) == 10
    assert set(sets.sum(axis=1)) <= {1, 2}
    assert len(small_sets(rng, 3, 100, 1)) == 3
    with pytest.raises(InputError, match="actions_per_agent: expected at least 1"):
        small_sets(rng, 3, 0, 1)


def test_refusals():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="samples: expected at least 2"):
        rehearse(4, 3, 1, rng)
    with pytest.raises(TooLargeError, match="too large to learn from"):
        rehearse(200, 20, 10, rng, feedback="bandit")
