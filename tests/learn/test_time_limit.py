"""Under a time limit nothing that was found is lost, and nothing more is promised than without."""

import numpy as np
import pytest

import coterie
from coterie.estimate import posterior, total_posterior
from coterie.learn import options, teams
from coterie.learn.summary import cut_short
from coterie.report import report_html
from coterie.simulate import ClassPlan, FirmPlan, rated_firm, school_class


@pytest.fixture(scope="module")
def firm():
    return rated_firm(1, FirmPlan(n_agents=6, n_coalitions=2, months=8, sizes=(3, 3)))


def learnt(firm, **more):
    return coterie.StableLearner(rules=coterie.Rules(team_size="3"), value="average", **more).fit(firm.log()).result_


def test_the_second_search_begins_with_what_the_first_found(firm, monkeypatch):
    begun, found, search = [], [], teams.best_teams

    def recorded(task, control, *, begin=(), **how):
        one = search(task, control, begin=begin, **how)
        if how.get("patience") != 0:  # that is no search but a first look
            begun.append(list(begin))
            found.append(one)
        return one

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


@pytest.mark.parametrize("says_little", [False, True])
def test_what_will_hardly_certify_is_not_held_out_when_time_is_up(firm, monkeypatch, says_little):
    asked, searched, search = [], [], teams.best_teams

    def recorded(task, control, *, begin=(), **how):
        searched.append(list(begin))
        return search(task, control, begin=begin, **how)

    def told(self, *of_what):
        asked.append(judged(self, *of_what))
        return says_little

    judged = teams._Teams._says_little
    monkeypatch.setattr(teams._Teams, "_says_little", told)
    monkeypatch.setattr(teams, "best_teams", recorded)
    result = learnt(firm, time_limit=1e-9)
    assert len(asked) == 1
    first, *others = searched
    assert first == []
    assert len(others) == (1 if says_little else 2)
    assert all(begin for begin in others)  # what the first look found is not looked for again
    assert result.solver.status == "time"
    assert result.certificate.method == "paired" or not says_little


@pytest.mark.parametrize("cut", ["time", "interrupted"])
@pytest.mark.parametrize("bandit", [False, True])
def test_a_search_that_is_cut_short_promises_no_more(firm, cut, bandit):
    """What people are believed to be worth, and how far that may be off, is the same: only the search is shorter."""
    log = school_class(3, ClassPlan(n_agents=9, table_size=3, terms=8)).log() if bandit else firm.log()
    rules = coterie.Rules(team_size="3")
    whole = coterie.StableLearner(rules=rules, value="average").fit(log)
    how = {"time_limit": 1e-9} if cut == "time" else {"stop": lambda: True}
    short = coterie.StableLearner(rules=rules, value="average", **how).fit(log)
    assert short.result_.solver.status == cut
    first = short.result_.options[0]
    assert first.expected_value == pytest.approx(whole.game_.values(first.strategy).mean())
    assert first.expected_value <= max(option.expected_value for option in whole.result_.options) + 1e-9
    low, high = first.expected_range
    its_low, its_high = whole.result_.options[0].expected_range
    assert high - low > 0.7 * (its_high - its_low)  # of other teams, but as wide
    for result, says in ((short.result_, True), (whole.result_, False)):
        assert bool(cut_short(result)) == says
        assert ("Stopped early" in report_html(result)) == says
        assert ("Stopped early" in result._repr_html_()) == says


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("size", ["TIMED", "LARGE"])
@pytest.mark.parametrize("cut", ["", "time", "interrupted"])
def test_of_a_large_log_few_steps_are_taken_when_time_is_up(firm, monkeypatch, cut, size, shared):
    """With what teams and rounds got as a whole, which so large a log lacks, as without."""
    taken, settled = [], []
    kind = total_posterior.PossibleTotals if shared else posterior.PossibleMeans
    step, others = kind.step, kind.others

    def counted(self, least):
        taken.append(self)
        return step(self, least)

    def told(self, *how):
        found = others(self, *how)
        settled.extend(found)
        return found

    monkeypatch.setattr(kind, "step", counted)
    monkeypatch.setattr(kind, "others", told)
    if not shared:
        monkeypatch.setattr("coterie.statistics.shared.MOST_EDGES", 0)
    # A short log walks through variances instead, which is left to tests of the posterior.
    monkeypatch.setattr(posterior.PossibleMeans, "walked", lambda *_: ())
    for name in {"TIMED", size}:
        monkeypatch.setattr(teams, name, 0)
    how = {"": {}, "time": {"time_limit": 1e-9}, "interrupted": {"stop": lambda: True}}[cut]
    result = learnt(firm, certificate="paired", **how)
    if cut:
        assert len(taken) <= teams.SETTLING
        assert not settled
        assert result.solver.status == cut
    else:
        assert len(taken) > (0 if shared else teams.SETTLING)
        assert settled
        assert result.solver.status == "optimal"
    low, high = result.options[0].expected_range
    assert low < result.options[0].expected_value < high


def test_no_time_at_all_still_gives_teams_with_a_range(firm):
    result = learnt(firm, time_limit=1e-9)
    assert result.solver.status == "time"
    first = result.options[0]
    low, high = first.expected_range
    assert low <= first.expected_value <= high
