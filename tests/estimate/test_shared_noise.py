"""Luck that teams and rounds share is told from what pairs are worth."""

from dataclasses import replace

import numpy as np
import pytest

from coterie.certificates.from_statistics import evidence_from
from coterie.estimate.total_posterior import Told
from coterie.learn.beliefs import beliefs_from
from coterie.statistics.in_memory import Batch, reduced
from coterie.statistics.setting import Setting

PEOPLE, SIZE = 9, 3


def log_of(seed, *, luck, rounds=12):
    """A log of ratings that both of a pair share, of which those of a team and round share luck; and the truth."""
    rng, n = np.random.default_rng(seed), PEOPLE
    person, pair = rng.normal(0, 3, n), np.triu(rng.normal(0, 4, (n, n)), 1)
    means = person[:, None] + person + pair + pair.T
    place = np.stack([rng.permutation(np.arange(n) // SIZE) for _ in range(rounds)])
    met = (place[:, :, None] == place[:, None]) & (np.triu(np.ones((n, n)), 1) > 0)
    sample, agent, partner = np.nonzero(met)
    easy = luck * rng.normal(size=(rounds, n // SIZE))
    utility = means[agent, partner] + easy[sample, place[sample, agent]] + 3 * rng.normal(size=len(sample))
    setting = Setting(
        "semi-bandit", tuple(f"p{i}" for i in range(n)), tuple("abc"), True, (-90.0, 90.0), 0.0, None, True,
        "up-to-1", "up-to-1", "ignore", "samples", (1.0,), 0, value="average",
    )  # fmt: skip
    joined = place[..., None] == np.arange(n // SIZE)
    batch = Batch(1, joined, sample, place[sample, agent], agent, partner, np.clip(utility, -90, 90), True)
    return reduced(batch, np.zeros(rounds, dtype=np.int64), setting), means


def told(statistics, shared, teams):
    beliefs = beliefs_from(evidence_from(replace(statistics, shared=shared).whole), symmetric=True)
    mates = (teams[:, None] == teams) & ~np.eye(PEOPLE, dtype=bool)
    drawn = [float(one[0][mates].mean()) for one in beliefs.draws(np.random.default_rng(0), 200)]
    return (float(beliefs.middle[0][mates].mean()), *np.quantile(drawn, [0.1, 0.9]))


@pytest.mark.slow
def test_ranges_hold_about_as_often_as_they_say_where_teams_share_luck():
    held, before = [], []
    teams = np.arange(PEOPLE) // SIZE
    mates = (teams[:, None] == teams) & ~np.eye(PEOPLE, dtype=bool)
    for seed in range(40):
        statistics, means = log_of(seed, luck=6.0)
        true = means[mates].mean()
        for found, shared in ((held, statistics.shared), (before, ())):
            _, low, high = told(statistics, shared, teams)
            found.append(low <= true <= high)
    assert np.mean(held) >= 0.64  # 80 %, less two and a half standard errors
    assert np.mean(held) > np.mean(before) + 0.1


def test_ranges_are_wider_where_teams_share_luck_and_hardly_where_they_do_not():
    teams = np.arange(PEOPLE) // SIZE
    for luck, least, most in ((6.0, 1.3, 9.0), (0.0, 0.7, 1.9)):
        statistics, _ = log_of(3, luck=luck, rounds=30)
        widths = [high - low for _, low, high in (told(statistics, one, teams) for one in (statistics.shared, ()))]
        assert least < widths[0] / widths[1] < most


@pytest.mark.parametrize("rounds", [1, 4, 40])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("noisy", [False, True])
def test_what_effects_explain_altogether_keeps_the_least_noise(rounds, size, noisy):
    """Every team has one pair, or every value is the same: nothing but the least noise bounds how sure one may be."""
    rng, n = np.random.default_rng(rounds), 6
    place = np.tile(np.arange(n) // size, (rounds, 1))
    met = (place[:, :, None] == place[:, None]) & (np.triu(np.ones((n, n)), 1) > 0)
    sample, agent, partner = np.nonzero(met)
    utility = 10.0 * (agent + partner) + noisy * rng.normal(size=len(sample))
    setting = Setting(
        "semi-bandit", tuple(f"p{i}" for i in range(n)), tuple("abc"[: n // size]), True, (-90.0, 190.0), 0.0, None,
        True, "up-to-1", "up-to-1", "ignore", "pairs", (1.0,), 0, value="average",
    )  # fmt: skip
    batch = Batch(
        1, place[..., None] == np.arange(n // size), sample, place[sample, agent], agent, partner, utility, True
    )
    statistics = reduced(batch, np.zeros(rounds, dtype=np.int64), setting)
    beliefs = beliefs_from(evidence_from(statistics.whole), symmetric=True)
    drawn = np.array(beliefs.draws(np.random.default_rng(0), 64))
    assert np.isfinite(drawn).all()
    seen = met.any(axis=0)
    mean = 10.0 * np.add.outer(np.arange(n), np.arange(n))
    if rounds == 40:
        assert np.allclose(beliefs.middle[0][seen], mean[seen], atol=3)


def test_totals_with_shared_noise_weigh_as_generalised_least_squares_does():
    rng = np.random.default_rng(5)
    design, got = rng.normal(size=(7, 4)), rng.normal(size=7)
    luck = rng.normal(size=(4, 4))
    plain = Told(design.T @ design, design.T @ got)
    root, within = plain.root
    covariance = luck @ luck.T
    found = plain.given(covariance)
    weight = np.linalg.inv(np.eye(4) + covariance)
    assert np.allclose(found.matrix, root @ weight @ root.T)
    assert np.allclose(found.moment, root @ weight @ within)
    assert np.allclose(found.root[0] @ found.root[0].T, found.matrix)
