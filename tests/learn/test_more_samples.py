"""How much longer a log would have to be, against logs that are that long."""

import math

import numpy as np
import pytest

import coterie
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.paired import paired
from coterie.learn.more_samples import LONGEST, times_as_long
from coterie.learn.promises import more_needed, rounded, what_is_sure
from coterie.simulate import FirmPlan, Simulation, rated_firm
from coterie.statistics.statistics import Statistics


@pytest.fixture(scope="module")
def firm():
    return rated_firm(1, FirmPlan(n_agents=6, n_coalitions=2, months=6, sizes=(3, 3)))


def test_a_repeated_log_has_all_its_sums_so_many_times(firm):
    statistics = Statistics.of(firm.log(), parts=(1.0,))
    seven = statistics.whole.repeated(7)
    assert seven.n_samples == 7 * statistics.n_samples
    one, many = evidence_from(statistics.whole).estimate, evidence_from(seven).estimate
    np.testing.assert_array_equal(many.moments.count, 7 * one.moments.count)
    np.testing.assert_allclose(many.moments.mean, one.moments.mean)


@pytest.mark.parametrize(
    ("feedback", "log_options", "options"),
    [
        ("semi-bandit", {}, {"noise": "samples"}),
        ("semi-bandit", {"missing": "worst"}, {"sizes": "aware"}),
        ("bandit", {}, {"joint": True}),
    ],
)
def test_a_repeated_log_is_what_adding_it_up_comes_to(feedback, log_options, options):
    log = Simulation.draw(5, 2, 0).log(30, feedback, **log_options)
    whole = Statistics.of(log, parts=(1.0,), **options).whole
    added = whole
    for _ in range(4):
        added = added.merged(whole, whole.setting)
    five = whole.repeated(5).arrays()
    assert five.keys() == added.arrays().keys()
    for name, values in added.arrays().items():
        np.testing.assert_allclose(five[name], values, rtol=1e-12, err_msg=name)


def test_it_is_the_shortest_that_is_enough_within_a_half(firm):
    statistics = Statistics.of(firm.log(), parts=(1.0,))
    spaces, strategy = statistics.setting.actions, firm.today

    def gap(whole):
        return paired(evidence_from(whole), strategy, spaces, 0.01).gap

    times = times_as_long(statistics.whole, gap, gap(statistics.whole))
    assert 1 < times < LONGEST
    enough = [gap(statistics.whole.repeated(int(t))) for t in (times, times / 1.6)]
    assert enough[0] < gap(statistics.whole) / 2 <= enough[1]
    assert times_as_long(statistics.whole, lambda _: 1.0, 1.0) == math.inf
    assert times_as_long(statistics.whole, lambda _: 1.0, 1.0, lambda: True) is None


def test_too_few_data_are_said_in_one_line_with_what_would_help(firm):
    learner = coterie.StableLearner(rules=coterie.Rules(team_size="3"), value="average")
    result = learner.fit(firm.log()).result_
    assert result.says_nothing
    said = what_is_sure(result)
    assert said.startswith("There are too few data to prove that nobody could get a better place: these teams are")
    assert "6 so far" in more_needed(result)
    assert coterie.Result.from_json(result.to_json()) == result


@pytest.mark.parametrize(("amount", "expected"), [(7.0, 7), (74.0, 74), (736.0, 740), (13_987.0, 14_000)])
def test_what_is_about_so_much_has_two_digits(amount, expected):
    assert rounded(amount) == expected
