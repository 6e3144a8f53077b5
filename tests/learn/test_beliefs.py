"""What is believed of pairs after totals: drawn to what people and pairs have in common, and drawn games."""

import numpy as np
import pytest

from coterie import Result, StableLearner
from coterie.certificates.from_statistics import evidence_from
from coterie.errors import InputError
from coterie.estimate.posterior import means_left_possible
from coterie.learn import beliefs as beliefs_module
from coterie.learn.beliefs import beliefs_from
from coterie.simulate.firm import FirmPlan, rated_firm
from coterie.simulate.school import ClassPlan, school_class
from coterie.statistics.statistics import Statistics

PLAN = ClassPlan(n_agents=16, table_size=4, terms=30)


def beliefs_about(school, **options):
    statistics = Statistics.for_learning(school.log(**options))
    return beliefs_from(evidence_from(statistics.whole), symmetric=statistics.setting.symmetric)


def squared_error(values, school):
    truth, others = school.truth.utilities.means.matrix(0), ~np.eye(PLAN.n_agents, dtype=bool)
    return float(((values[0] - truth)[others] ** 2).mean())


@pytest.mark.parametrize("symmetric", [True, False])
def test_totals_are_shrunk(symmetric):
    """The posterior is nearer to the truth than the regression, and says how near."""
    school = school_class(5, PLAN)
    believed = beliefs_about(school, symmetric=symmetric)
    own = squared_error(believed.middle, school)
    assert own < 0.75 * squared_error(believed.evidence.values, school)
    drawn = np.stack(believed.draws(np.random.default_rng(0), 200))
    spread = drawn.var(axis=0)[0][~np.eye(PLAN.n_agents, dtype=bool)].mean()
    assert own / 1.6 < spread < own * 1.6
    assert np.allclose(drawn, np.swapaxes(drawn, 2, 3)) == symmetric


def test_regression_alone_where_there_are_too_many_unknowns(monkeypatch):
    monkeypatch.setattr(beliefs_module, "MOST_UNKNOWNS", 100)
    believed = beliefs_about(school_class(5, PLAN))
    assert believed.draw is None
    np.testing.assert_array_equal(believed.middle, np.clip(believed.evidence.values, -1, 1))


def test_beliefs_about_many_pairs(monkeypatch):
    """Of many cells nothing is drawn; of more, averages are drawn to each other, which is better than the averages."""
    firm = rated_firm(3, FirmPlan(n_agents=12, n_coalitions=3, months=12, sizes=(3, 5)))
    truth = np.array([firm.truth.utilities.means.matrix(l) for l in range(3)])
    full = beliefs_about(firm)
    seen = full.evidence.estimate.moments.count > 0

    def error(values):
        return float(((values - truth)[seen] ** 2).mean())

    monkeypatch.setattr(beliefs_module, "DRAWN_CELLS", 100)
    expected = beliefs_about(firm)
    assert expected.draw is None
    moments, bounds = full.evidence.estimate.moments, full.evidence.bounds
    # With the likeliest variances alone: so many cells are not walked through.
    likeliest = means_left_possible(moments, bounds.half_range, symmetric=False).middle
    np.testing.assert_allclose(expected.middle[seen], np.clip(likeliest, bounds.low, bounds.high)[seen], atol=1e-9)
    monkeypatch.setattr(beliefs_module, "CELLS", 200)
    simple = beliefs_about(firm)
    assert simple.draw is None
    assert error(full.middle) < error(simple.middle) < error(full.evidence.values)


def test_teams_learnt_from_totals_keep_todays_sizes_under_other_names():
    """Interchangeable tables are numbered; those of today may have names."""
    school = school_class(7, ClassPlan(n_agents=8, terms=20))
    learner = StableLearner(value="average", today=school.today.actions, keep_sizes=True, time_limit=3)
    found = learner.fit(school.log()).strategy_
    assert found.coalitions == ("1", "2")
    assert learner.result_.team_names == {"1": "t1", "2": "t2"}
    assert Result.from_json(learner.result_.to_json()) == learner.result_
    assert sorted(found.sets.sum(axis=0).tolist()) == [4, 4]
    assert learner.result_.today.range[0] < learner.result_.today.range[1]


def test_todays_teams_must_not_be_more_than_may_be_formed():
    school = school_class(7, ClassPlan(n_agents=8, terms=20))
    today = {name: [f"corner {index // 2}"] for index, name in enumerate(school.truth.agents)}
    with pytest.raises(InputError, match="today there are 4 teams"):
        StableLearner(today=today).fit(school.log())
