"""Logs of scores of teams: people are told what their team is expected to score, wherever it is told."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coterie import Log, Rules, StableLearner, compare
from coterie.cli.result_text import card
from coterie.learn.amounts import mean_score, own_scores, own_worth, team_levels, unit_of_people
from coterie.learn.glossary import GLOSSARY, glossary
from coterie.learn.headline import against_today, expected_worth, ranges_held
from coterie.learn.summary import less_well_off, what_options_are
from coterie.report.page import report_html
from coterie.report.tables import option_rows

PEOPLE = [f"p{i}" for i in range(9)]
TODAY = {one: [str(1 + i // 3)] for i, one in enumerate(PEOPLE)}


@pytest.fixture(scope="module", params=["team-scores", "team-score-averages"])
def learnt(request):
    """A log, and what is learnt of it: pairs of whom some score much more than others."""
    rng = np.random.default_rng(2)
    means = rng.normal(5, 2, (9, 9))
    means = (means + means.T) / 2
    rows, places = [], []
    for week in range(60):
        for team, members in enumerate(rng.permutation(9).reshape(3, 3)):
            got = [means[i, j] for i in members for j in members if i < j]
            score = np.sum(got) if request.param == "team-scores" else np.mean(got)
            rows.append((week, team, float(score + rng.normal(0, 0.5))))
            places += [(week, PEOPLE[i], team) for i in members]
    log = Log.from_frames(
        memberships=pd.DataFrame(places, columns=["sample", "agent", "coalition"]).astype(str),
        totals=pd.DataFrame(rows, columns=["sample", "coalition", "utility"]).astype({"sample": str, "coalition": str}),
        totals_are=request.param, utility_range=(-5, 15), neutral=5, pool_coalitions=True, coalitions=3,
        value="total" if request.param == "team-scores" else "average",
    )  # fmt: skip
    rules = Rules(team_size="3")
    return log, StableLearner(rules=rules, today=TODAY, random_state=0).fit(log).result_


def numbers(text):
    return [float(one) for one in re.findall(r"[-+]?[0-9]+(?:[.][0-9]+)?", text)]


def test_what_is_expected_is_the_mean_of_what_teams_score(learnt):
    _, result = learnt
    scores = [numbers(told)[0] for told in team_levels(result).values()]
    expected = mean_score(result, result.strategy, result.options[0].expected_value)
    assert expected == pytest.approx(np.mean(scores), abs=0.06)
    told = expected_worth(result)
    assert numbers(told)[0] == pytest.approx(expected, abs=0.06)
    assert " per team (with 80 % probability" in told
    low, high = numbers(told)[2:4]
    assert low <= expected <= high


def test_so_are_improvements_and_options(learnt):
    log, result = learnt
    told = against_today(result)
    before = numbers(told)[0]
    options = {row[0]: float(row[1]) for row in option_rows(result)[1:]}
    assert re.match(r"Against today \([0-9.]+ per team\): [+][0-9.]+ per team expected", told)
    assert numbers(told)[1] == pytest.approx(options["recommended"] - before, abs=0.11)
    assert options["today"] == pytest.approx(before, abs=0.06)
    found = compare(log, TODAY, result.strategy)
    for side, label in ((found.one, "today"), (found.two, "recommended")):
        scores = [one.expected for one in side.scores.values()]
        assert np.mean(scores) == pytest.approx(options[label], abs=0.06)
        assert all(one.range[0] <= one.expected <= one.range[1] for one in side.scores.values())
    assert set(found.to_json()["assignments"][0]["scores"]) == set(found.one.scores)


def test_cards_begin_with_the_score_of_the_team(learnt):
    _, result = learnt
    agent = PEOPLE[0]
    (team,) = result.strategy.actions[agent]
    level = team_levels(result)[team].partition(",")[0]
    assert own_scores(result, agent).startswith(f"{team} is expected to score {level} (likely ")
    assert unit_of_people(result) == "for their own part in the score"
    assert " is expected to score " in next(iter(card(result, agent)))
    assert f"is expected to score {level}" in report_html(result)


def test_another_value_than_the_scores_have_is_told_as_before():
    """People's totals do not add up to averages of teams."""
    rng = np.random.default_rng(0)
    rows = [
        (str(w), str(t), "; ".join(m)) for w in range(12) for t, m in enumerate(rng.permutation(PEOPLE).reshape(3, 3))
    ]
    table = pd.DataFrame(rows, columns=["sample", "coalition", "members"]).assign(utility=rng.uniform(0, 10, len(rows)))
    log = Log.from_frames(
        totals=table, totals_are="team-score-averages", utility_range=(0, 10), neutral=5, pool_coalitions=True,
    )  # fmt: skip
    result = StableLearner(rules=Rules(team_size="3"), value="total", random_state=0).fit(log).result_
    assert " per teammate" in expected_worth(result)
    assert unit_of_people(result) == "over all teammates"


def turned_scores(sizes, **said):
    """Return a log of sums of which less is better, of teams of some sizes."""
    rng = np.random.default_rng(0)
    rows = []
    for week in range(12):
        members = np.split(rng.permutation(PEOPLE), np.cumsum(sizes)[:-1])
        rows += [(str(week), str(t), "; ".join(one), len(one) * (len(one) - 1) / 2) for t, one in enumerate(members)]
    table = pd.DataFrame(rows, columns=["sample", "coalition", "members", "pairs"])
    table["utility"] = table.pop("pairs") * rng.uniform(1, 5, len(rows))
    return Log.from_frames(
        totals=table, totals_are="team-scores", utility_range=(0, 6), neutral=3, pool_coalitions=True,
        lower_is_better=True, **said,
    )  # fmt: skip


def test_what_is_better_is_said_of_each_column_and_units_stand_behind_numbers():
    log = turned_scores((3, 3, 3))
    result = StableLearner(rules=Rules(team_size="3"), today=TODAY, random_state=0).fit(log).result_
    result = replace(result, unit="errors")
    told = what_options_are(result)
    assert "errors per team, on average over teams, less is better; " in told
    assert told.endswith("their own part in the score, 0 is as good as being alone, more is better)")
    agent = PEOPLE[0]
    assert re.search(r"[0-9] errors (better|worse) for their own part", own_worth(result, 0.5))
    page = report_html(result)
    assert own_worth(result, result.estimate.utility[agent]) in page
    assert "rows with scores of teams" in page
    assert "totals of people" not in page


def test_sums_over_more_pairs_are_not_compared_with_sums_over_fewer():
    log = turned_scores((3, 3, 3))
    result = StableLearner(rules=Rules(team_size="2:5"), today=TODAY, random_state=0).fit(log).result_
    sizes = {tuple(sorted(one.strategy.sets.sum(axis=0).tolist())) for one in result.options}
    assert len(sizes) > 1
    assert "(for their own part in the score, on average over people; 0 is" in what_options_are(result)
    expected = [float(row[1]) for row in option_rows(result)[1:]]
    assert expected[0] == max(expected)


def test_another_value_than_the_scores_have_is_compared_per_teammate():
    found = compare(turned_scores((3, 3, 3)), TODAY, {**TODAY, PEOPLE[0]: TODAY[PEOPLE[-1]]}, value="average")
    assert found.two.scores
    assert found.counted_in == "per teammate"


def test_scores_have_no_sign_where_zero_is_neutral():
    rng = np.random.default_rng(0)
    rows = [
        (str(w), str(t), "; ".join(m)) for w in range(12) for t, m in enumerate(rng.permutation(PEOPLE).reshape(3, 3))
    ]
    table = pd.DataFrame(rows, columns=["sample", "coalition", "members"]).assign(utility=rng.uniform(4, 6, len(rows)))
    log = Log.from_frames(
        totals=table, totals_are="team-score-averages", utility_range=(0, 10), pool_coalitions=True, value="average",
    )  # fmt: skip
    result = StableLearner(rules=Rules(team_size="3"), random_state=0).fit(log).result_
    assert not any("+" in told for told in team_levels(result).values())
    assert "+" not in own_scores(result, PEOPLE[0])
    found = compare(log, TODAY, result.strategy)
    assert found.counted_in == "per team"
    assert not found.shown(found.one.value.expected / 9).startswith("+")


def test_whose_part_it_is_is_said_where_it_is_first_told(learnt):
    _, result = learnt
    assert " for their own part in the score (what their pairs with the others there score; " in less_well_off(
        result, advise=False
    )
    assert ("own part", GLOSSARY["own part"]) in glossary("with 4 for their own part in the score")


def test_what_is_told_first_adds_up(learnt):
    """What is better is the difference of what is expected and what was before, also as they are rounded."""
    _, result = learnt
    now, before, better = numbers(expected_worth(result))[0], *numbers(against_today(result))[:2]
    assert now - before == pytest.approx(better, abs=1e-9)


def test_of_totals_it_is_told_how_often_ranges_held_in_simulations(learnt):
    _, result = learnt
    assert ranges_held(result).startswith("such ranges of scores held 65 to 90 times in 100")
    assert ranges_held(replace(result, data=replace(result.data, feedback="semi-bandit"))) == ""
