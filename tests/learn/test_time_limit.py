"""Under a time limit nothing that was found is lost, and what is worked out by draws has fewer of them."""

import numpy as np
import pytest

import coterie
from coterie.learn import options, teams
from coterie.simulate import FirmPlan, rated_firm


@pytest.fixture(scope="module")
def firm():
    return rated_firm(1, FirmPlan(n_agents=6, n_coalitions=2, months=8, sizes=(3, 3)))


def learnt(firm, **more):
    return coterie.StableLearner(rules=coterie.Rules(team_size="3"), value="average", **more).fit(firm.log()).result_


def test_the_second_search_begins_with_what_the_first_found(firm, monkeypatch):
    begun, found, search = [], [], teams.best_teams

    def recorded(task, control, *, begin=()):
        begun.append(list(begin))
        found.append(search(task, control, begin=begin))
        return found[-1]

    monkeypatch.setattr(teams, "best_teams", recorded)
    learnt(firm, time_limit=300)
    assert begun[0] == []
    assert {one.tobytes() for one in begun[1]} == {one.tobytes() for one in found[0].profiles[: teams.LED]}


def test_draws_are_few_when_it_is_late(firm):
    drawn = []
    learner = coterie.StableLearner(rules=coterie.Rules(team_size="3"), value="average").fit(firm.log())
    beliefs = learner._beliefs

    class Counted:
        def __getattr__(self, name):
            return getattr(beliefs, name)

        def drawing(self, rng, often):
            for values in beliefs.drawing(rng, often):
                drawn.append(values)
                yield values

    for late, count in ((False, options.GAMES), (True, options.FEWEST)):
        drawn.clear()
        _, wishes = learner._wishes(learner.statistics_)
        against = wishes.against(learner.statistics_.setting.actions)
        staff = wishes.admissible.staff
        rng = np.random.default_rng(0)
        options.expected_of([learner.strategy_], Counted(), against, staff, rng, lambda late=late: late)
        assert count <= len(drawn) <= count + 1


def test_no_time_at_all_still_gives_teams_with_a_range(firm):
    result = learnt(firm, time_limit=1e-9)
    assert result.solver.status == "time"
    first = result.options[0]
    low, high = first.expected_range
    assert low <= first.expected_value <= high
