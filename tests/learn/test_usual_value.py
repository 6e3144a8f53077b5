"""What a team is worth where nobody says so: what the log says."""

import csv

import numpy as np
import pytest

import coterie
from coterie.errors import InputError
from coterie.learn.compare import what_if
from coterie.log.inspection import inspect_log
from coterie.statistics.statistics import Statistics

PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus")
SCALE = {"utility_range": (15, 55), "neutral": 35, "pool_coalitions": True}
QUICK = {"time_limit": 0.5}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Weekly averages from 15 to 55 in teams of three and four."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("class") / "class.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sample", "agent", "coalition", "utility"])
        for week in range(12):
            order = rng.permutation(PEOPLE)
            for team, members in (("A", order[:3]), ("B", order[3:])):
                rows.writerows([week, who, team, int(rng.integers(20, 50))] for who in members)
    return path


@pytest.fixture(scope="module")
def averages(table):
    return coterie.read_log(table, totals="team-averages", value="average", **SCALE)


def test_a_log_says_what_its_teams_are_worth(table, averages, tmp_path):
    assert averages.value == "average"
    assert averages[:6].value == "average"
    assert coterie.read_log(table, totals="team-averages", **SCALE).value == "total"
    (tmp_path / "totals.csv").write_bytes(table.read_bytes())
    (tmp_path / "log.json").write_text('{"value": "average", "totals": "team-averages", "utility_range": [15, 55]}')
    assert coterie.read_log(tmp_path, neutral=35).value == "average"
    with pytest.raises(InputError, match="value: expected"):
        coterie.read_log(table, value="mean")


def test_learning_takes_what_the_log_says_unless_somebody_says_otherwise(averages):
    found = coterie.StableLearner(**QUICK).fit(averages)
    assert found.result_.value == "average"
    told = [text for text in found.result_.warnings if "as this log says" in text]
    assert told == [
        'a team is worth the average over teammates to each member, as this log says; value="total" adds them up'
    ]
    assert max(map(abs, found.result_.estimate.utility.values())) <= 20  # within the table's own scale of 15 to 55
    assert found.game_.value == "average"
    other = coterie.StableLearner(value="total", **QUICK).fit(averages).result_
    assert other.value == "total"
    assert not [text for text in other.warnings if "as this log says" in text]


def test_strategies_of_the_papers_game_are_about_totals(averages):
    assert coterie.StableLearner(strategy="mixed", **QUICK).fit(averages).result_.value == "total"


def test_whoever_judges_an_assignment_takes_the_same(averages):
    result = coterie.StableLearner(**QUICK).fit(averages).result_
    assert coterie.certify(averages, result.strategy).value == "average"
    assert coterie.certify(averages, result.strategy, value="total").value == "total"
    found = what_if(averages, result, "swap Ann, Bob")
    assert found.value == "average"
    assert not [text for text in found.warnings if "taken over" in text]
    assert what_if(averages, result, "swap Ann, Bob", value="total").value == "total"


def test_statistics_remember_it_and_others_are_as_they_were(table, averages, tmp_path):
    statistics = Statistics.of(averages)
    statistics.save(tmp_path / "s.npz")
    assert Statistics.load(tmp_path / "s.npz").setting.value == "average"
    plain = Statistics.of(coterie.read_log(table, totals="team-averages", value="total", **SCALE))
    assert "value" not in plain.setting.to_json()


def test_inspect_shows_the_numbers_of_the_table(table, averages):
    seen = inspect_log(averages)
    with table.open(encoding="utf-8") as file:
        written = [float(row["utility"]) for row in csv.DictReader(file)]
    assert seen.as_averages
    assert seen.extent == (min(written), max(written))
    assert seen.mean == pytest.approx(np.mean(written))
    assert (sum(seen.counts), seen.edges[0], seen.edges[-1]) == (len(written), 15.0, 55.0)
    part = inspect_log(averages[:6])  # whose tables in memory hold sums
    assert (part.as_averages, part.extent[1] > 60) == (False, True)


def test_a_result_says_how_many_teams_there_may_be(table, tmp_path):
    """A result of fewer teams than the log would take breaks no rule about sizes when it is judged."""

    def log(**more):
        return coterie.read_log(table, totals="team-averages", value="average", **SCALE, **more)

    result = coterie.StableLearner(rules={"team_size": "7"}, **QUICK).fit(log(coalitions=1)).result_
    result.save(tmp_path / "one.json")
    for given in (result, tmp_path / "one.json"):
        assert coterie.certify(log(), given).violations == ()
        found = what_if(log(), given, {"Ann": ["1"]})
        assert found.one.violations == ()
        assert [text for text in found.warnings if "there may be 1 team, as in the result" in text]
    assert coterie.certify(log(coalitions=2), tmp_path / "one.json").violations == ("team size of team 2: 7",)
    found = coterie.certify(log(), result.strategy.actions)  # no result, so nothing to take over
    assert len(found.strategy.coalitions) == 2


def test_chances_of_several_teams_are_judged_by_totals_with_a_word(averages):
    """A mixed strategy has no averages; where nobody asked for them, totals do, in `certify` and in plans alike."""
    from coterie.collect.aim import Situation

    shares = coterie.Strategy.uniform(averages.actions, averages.agents, averages.coalitions)
    situation = Situation.of(averages, shares)
    assert situation.wishes.value == "total"
    assert any("judged by totals" in note for note in situation.notes)
    certified = coterie.certify(averages, shares)
    assert certified.value == "total"
    assert any("judged by totals" in note for note in certified.warnings)
    with pytest.raises(InputError, match="pure"):
        coterie.certify(averages, shares, value="average")
