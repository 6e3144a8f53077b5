"""Firms: the truth is what ratings average to, sizes and careers are as planned, and a seed gives one firm."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie import InputError
from coterie.files import read_json
from coterie.game.truth import read_truth
from coterie.simulate.effects import Effects
from coterie.simulate.firm import STARS, FirmPlan, HalfStars, half_stars, mean_half_stars, rated_firm

SMALL = FirmPlan(n_agents=9, n_coalitions=2, months=6, sizes=(3, 6))


def test_ratings_are_half_stars_from_one_to_five():
    assert half_stars(np.array([-9.0, 1.24, 1.25, 3.1, 3.3, 4.74, 4.75, 9.0])).tolist() == [
        1,
        1,
        1.5,
        3,
        3.5,
        4.5,
        5,
        5,
    ]


@pytest.mark.parametrize(("mean", "deviation"), [(3.2, 0.6), (4.9, 0.5), (0.5, 1.0), (3.0, 0.01), (2.9, 0.0)])
def test_the_mean_of_a_rating_is_exact(mean, deviation):
    drawn = half_stars(np.random.default_rng(1).normal(mean, deviation, 400_000))
    assert mean_half_stars(np.array(mean), deviation) == pytest.approx(
        drawn.mean(), abs=5 * 0.5 * deviation / 600 + 1e-12
    )


@pytest.mark.parametrize("plan", [SMALL, replace(SMALL, neutral=2.5, effects=replace(STARS, level=4.0))])
def test_the_truth_is_what_the_log_averages_to(plan):
    firm = rated_firm(3, replace(plan, months=2500))
    rows, shape = firm.outcomes, (2, 9, 9)
    cell = np.ravel_multi_index((rows.coalition, rows.agent, rows.partner), shape)
    count, total, squares = (
        np.bincount(cell, weights, 2 * 81).reshape(shape) for weights in (None, rows.utility, rows.utility**2)
    )
    truth = np.array([firm.truth.utilities.means.matrix(l) for l in range(2)])
    met = count > 0
    assert (met == ~np.eye(9, dtype=bool)).all()
    mean = total[met] / count[met]
    error = np.sqrt((squares[met] / count[met] - mean**2) / count[met])
    assert (np.abs(mean - truth[met]) < 5 * error).all()
    assert np.mean(((mean - truth[met]) / error) ** 2) == pytest.approx(1, abs=0.5)
    whole = coterie.Statistics.of(firm.log(), parts=(1.0,)).whole
    np.testing.assert_allclose(whole.means[met], mean, atol=1e-6)


def test_the_default_firm_is_as_described():
    firm = rated_firm(0)
    joined = firm.outcomes.joined
    assert joined.shape == (36, 40, 6)
    assert (joined.sum(axis=2) == 1).all()
    sizes = joined.sum(axis=1)
    assert 5 <= sizes.min() < sizes.max() <= 9
    assert len(firm.outcomes.utility) == (sizes * (sizes - 1)).sum()
    moved = (joined[1:] != joined[:-1]).any(axis=2).mean()
    assert 0.1 < moved < 0.35  # those who move, and those who change places with them
    ratings = firm.outcomes.utility + firm.neutral
    assert set(ratings) == set(np.arange(1, 5.5, 0.5))
    assert not firm.truth.is_symmetric
    assert firm.staff == firm.truth.agents == firm.recorded
    assert (firm.today.sets == joined[-1]).all()
    log = firm.log()
    assert (log.feedback, log.symmetric, log.utility_range, log.neutral) == ("semi-bandit", False, (1, 5), 3)
    assert (log.agents, log.coalitions, log.n_samples) == (firm.truth.agents, firm.truth.coalitions, 36)


def test_some_leave_and_some_come():
    firm = rated_firm(2, FirmPlan(leavers=4, newcomers=3))
    joined = firm.outcomes.joined
    assert joined.shape == (36, 43, 6)
    assert (len(firm.leavers), len(firm.newcomers), len(firm.staff)) == (4, 3, 39)
    assert firm.newcomers == firm.truth.agents[-3:]
    there = joined.any(axis=2)
    assert there[:12, :40].all()  # nobody leaves in the first third
    assert not (there[1:] & ~there[:-1]).any()  # and nobody comes back
    teams = {agent for members in firm.today.members().values() for agent in members}
    assert teams == set(firm.staff) - set(firm.newcomers)
    assert 5 <= joined.sum(axis=1).min() <= joined.sum(axis=1).max() <= 9
    assert firm.log().agents == firm.recorded == firm.truth.agents[:40]
    assert firm.log(agents=firm.truth.agents).agents == firm.truth.agents


def test_a_seed_gives_one_firm():
    one, same, other = (rated_firm(seed, SMALL) for seed in (5, np.random.default_rng(5), 6))
    assert one.tables["pairs"] == same.tables["pairs"]
    assert one.tables["memberships"] == same.tables["memberships"]
    assert one.tables["pairs"] != other.tables["pairs"]
    assert (one.truth.utilities.means.matrix(0) == same.truth.utilities.means.matrix(0)).all()


def test_a_firm_can_be_written(tmp_path):
    firm = rated_firm(1, replace(SMALL, leavers=1))
    firm.write_log(tmp_path / "firm")
    log = coterie.read_log(tmp_path / "firm")
    assert (log.agents, log.neutral, log.rows) == (firm.recorded, 3, len(firm.outcomes.utility))
    assert coterie.Statistics.of(log).sha256 == coterie.Statistics.of(firm.log()).sha256
    truth = read_truth(tmp_path / "firm" / "truth.json")
    np.testing.assert_allclose(truth.utilities.means.matrix(1), firm.truth.utilities.means.matrix(1))
    made = read_json(tmp_path / "firm" / "truth.json")["simulation"]
    assert made == {"version": coterie.__version__, "model": "firm", "seed": 1}
    today = (tmp_path / "firm" / "today.csv").read_text().splitlines()
    assert today[0] == "agent,coalition"
    assert len(today) == 1 + 8
    assert (tmp_path / "firm" / "staff.csv").read_text().splitlines() == ["agent", *firm.staff]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_agents": 20}, "sizes: 20 people do not fill 6 teams of 5 to 9 members"),
        ({"leavers": 12}, "sizes: 28 people"),
        ({"turnover": 1.5}, "turnover: expected a probability"),
        ({"neutral": 0}, "neutral: expected a rating from 1 to 5, got 0"),
        ({"months": 1}, "months"),
        ({"noise": -1}, "noise"),
    ],
)
def test_impossible_firms_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        FirmPlan(**changes)


def test_effects_have_the_covariance_that_they_state():
    effects = Effects(2.0, area=0.3, rater=0.5, rater_by_area=0.4, rated=0.6, rated_by_area=0.7, pair=0.8,
                      pair_by_area=0.9, mutual=0.5)  # fmt: skip
    cells = tuple(np.array(part) for part in ([0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 2, 1], [1, 0, 1, 2, 0, 1, 2]))
    rng = np.random.default_rng(0)
    for some in (effects, replace(effects, symmetric=True)):
        drawn = np.array([some.draw(rng, 2, 3)[cells] for _ in range(4000)])
        np.testing.assert_allclose(drawn.mean(axis=0), 2.0, atol=0.15)
        np.testing.assert_allclose(np.cov(drawn.T), some.covariance(cells, cells), atol=0.3)
    mu = replace(effects, symmetric=True).draw(rng, 2, 5)
    assert (mu == np.swapaxes(mu, 1, 2)).all()
    with pytest.raises(InputError, match="mutual"):
        Effects(0.0, mutual=2.0)
    with pytest.raises(InputError, match="pair"):
        Effects(0.0, pair=-1.0)


def test_half_stars_are_a_model_like_others():
    mu = np.full((1, 2, 2), 4.0)
    model = HalfStars(mu, np.full_like(mu, 0.5))
    assert model.utility_range == (-2, 2)
    assert not model.symmetric
    assert model.sigma is None
    assert model.means[0, 0, 0] == 0
