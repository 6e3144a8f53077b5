"""Interchangeable teams have names where people read of them, and numbers in files."""

import json
from dataclasses import replace

import pytest

from coterie import InputError, Result, Rules, StableLearner
from coterie.cli.result_text import _lines, card
from coterie.learn.compare import what_if
from coterie.learn.summary import rules_told
from coterie.learn.team_names import shown_names, with_team_names
from coterie.report import announcement_html, report_html, teams_csv
from coterie.simulate.school import ClassPlan, school_class


@pytest.fixture(scope="module")
def school():
    return school_class(7, ClassPlan(n_agents=8, terms=20))


def learnt(school, **more):
    return StableLearner(value="average", rules=Rules(team_size=4), time_limit=1, **more).fit(school.log()).result_


def test_numbered_teams_are_never_a_bare_digit(school):
    result = learnt(school)
    assert list(result.to_json()["coalition_members"]) == ["1", "2"]
    assert set(with_team_names(result).strategy.members()) == {"team 1", "team 2"}
    assert "team 1" in report_html(result)
    assert "team 2" in announcement_html(result)
    rows = teams_csv(result).splitlines()[1:]
    assert {row.split(",")[1] for row in rows} == {"team 1", "team 2"}
    before = {row.split(",")[0]: [row.split(",")[1]] for row in rows}
    swap = f"{rows[0].split(',')[0]}: team 2"
    assert what_if(school.log(), before, swap).to_json() == what_if(school.log(), result.strategy, swap).to_json()


def test_todays_names_stay_and_full_teams_are_called_full(school):
    result = Result.from_json(json.loads(learnt(school, today=school.today.actions).file_content()))
    assert result.team_names == {"1": "t1", "2": "t2"}
    shown = with_team_names(result)
    agent = shown.strategy.members()["t1"][0]
    told = " ".join(card(shown, agent))
    assert "in t1, which would be smaller than 4 without them: worth" in told
    assert "not in t2, which is full (4 of at most 4): worth" in told
    assert "team 1" not in told + report_html(result)
    assert "full (4 of at most 4)" in report_html(result)
    odd = replace(result, warnings=("team 2 would have 9 members, more than ever seen (4)",))
    assert with_team_names(odd).warnings == ("t2 would have 9 members, more than ever seen (4)",)


def test_names_that_two_teams_would_share_are_none():
    assert shown_names(["1", "2"], {"1": "team 2"}) == {"1": "team 1", "2": "team 2"}


def test_a_teammate_is_one_number_whether_teams_are_sums_or_averages(school):
    """And the one of what changes against today is the same as that of the card."""
    result = learnt(school, today=school.today.actions)
    found = 0
    for change in result.today.changes:
        rooms = {room.coalition: room for room in result.explanations[change.agent].rooms}
        partners = {one.name: one.value for one in rooms[change.after[0]].partners}
        for mate in change.joined:
            if mate.name in partners:
                assert partners[mate.name] == pytest.approx(mate.value, abs=1e-9)
                found += 1
        here = rooms[change.after[0]]
        if len(partners) == 3:
            assert sum(partners.values()) / 3 == pytest.approx(here.value, abs=1e-6)
    assert found


def test_rules_name_interchangeable_teams_as_they_are_printed(school):
    one, two, *_ = school.staff

    def placed(name, **more):
        rules = Rules(team_size=4, fix={one: [name]}, apart=[(one, two)])
        return StableLearner(value="average", rules=rules, time_limit=1, **more).fit(school.log()).result_

    for name, more in (("team 2", {}), ("Team2", {}), ("2", {}), ("t2", {"today": school.today.actions})):
        result = placed(name, **more)
        assert result.strategy.actions[one] == ["2"]
        assert result.rules.fix == {one: ("2",)}
        told = ["teams of 4", f"{one} and {two} apart", f"{one} is in {'t2' if more else 'team 2'}"]
        assert rules_told(with_team_names(result)) == told
        assert f"Rules: {'; '.join(told)}." in "\n".join(
            _lines(with_team_names(result), None, timed=False, details=False)
        )
        assert "".join(f"<li>{rule}</li>" for rule in told) in report_html(result)
    with pytest.raises(InputError, match="team 9"):
        placed("team 9")
