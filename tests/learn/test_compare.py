"""Comparing assignments and asking what if: what is said agrees with direct sums, with certify, and with itself."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import InputError, Rules, Statistics, compare, what_if
from coterie.certificates.from_statistics import evidence_from
from coterie.learn.beliefs import beliefs_from
from coterie.simulate import Simulation

BEFORE = {"p1": ["c1"], "p2": ["c1"], "p3": ["c2"], "p4": ["c2"], "p5": ["c3"], "p6": ["c3"]}
HALVES = [{"coalitions": [name], "probability": 0.5} for name in ("c1", "c2")]
AFTER = BEFORE | {"p2": ["c2"], "p3": ["c1"]}


def written(folder, feedback="semi-bandit", samples=400, seed=3, symmetric=True):
    source = Simulation.draw(6, 3, np.random.default_rng(seed), actions_per_agent=4, symmetric=symmetric)
    source.write_log(folder, samples, feedback=feedback)
    return source.game


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    for feedback in ("semi-bandit", "bandit"):
        written(folder / feedback, feedback)
    written(folder / "both-ways", symmetric=False)
    return folder


def means(folder):
    """The mean utility of each pair in each coalition, by pandas."""
    pairs = pd.read_csv(folder / "pairs.csv")
    return pairs.groupby(["coalition", "agent", "partner"])["utility"].mean()


def worth(table, teams, agent, value, symmetric):
    total = 0.0
    for room in teams[agent]:
        others = [who for who, where in teams.items() if room in where and who != agent]
        own = []
        for other in others:
            key = (room, agent, other)
            own.append(table[key] if key in table.index or not symmetric else table[room, other, agent])
        total += sum(own) / (len(own) if value == "average" else 1) if own else 0.0
    return total


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize("name", ["semi-bandit", "both-ways"])
def test_estimates_are_direct_sums(logs, name, value):
    options = {"symmetric": False} if name == "both-ways" else {}
    log = coterie.read_log(logs / name, **options)
    found, table = compare(log, BEFORE, AFTER, value=value), means(logs / name)
    symmetric = name == "semi-bandit"
    total = 0.0
    for person in found.people:
        one, two = (worth(table, teams, person.agent, value, symmetric) for teams in (BEFORE, AFTER))
        assert person.first.estimate == pytest.approx(one, abs=1e-6)
        assert person.second.estimate == pytest.approx(two, abs=1e-6)
        assert person.change.estimate == pytest.approx(two - one, abs=1e-6)
        total += two - one
    assert found.change.estimate == pytest.approx(total, abs=1e-6)
    assert found.per_person.estimate == pytest.approx(total / 6, abs=1e-6)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("name", ["semi-bandit", "bandit"])
def test_what_is_said_is_consistent(logs, name, fresh):
    found = compare(logs / name, BEFORE, AFTER, fresh=fresh)
    for person in found.people:
        for amount in (person.first, person.second, person.change):
            assert amount.low <= amount.high
        assert (person.agent in found.gain) == (person.change.low > 0)
        assert (person.agent in found.lose) == (person.change.high < 0)
    assert {*found.gain, *found.lose, *found.who("same"), *found.who("unclear")} == set(BEFORE)
    assert found.who("same") == ("p5", "p6")
    assert all(getattr(found.people[4].change, end) == 0 for end in ("low", "high", "expected", "estimate"))
    assert found.moves == ("p2", "p3")
    assert found.arrivals == found.left_out == ()
    evidence = evidence_from(Statistics.for_learning(logs / name, parts=(1.0,)).whole)
    beliefs = beliefs_from(evidence, symmetric=True)
    game = beliefs.game(coterie.ActionSpaces.parse("any", *evidence.names))
    assert found.change.expected == pytest.approx((game.values(AFTER) - game.values(BEFORE)).sum())
    assert found.one.value.expected == pytest.approx(game.values(BEFORE).sum())
    assert (found.range is None) == (beliefs.draw is None)
    if found.range is not None:
        assert found.range[0] <= found.change.expected <= found.range[1]
    for side, teams in ((found.one, BEFORE), (found.two, AFTER)):
        certified = coterie.certify(logs / name, teams)
        assert side.certificate.gap == certified.certificate.gap
        assert side.certificate.per_agent == certified.certificate.per_agent
    back = compare(logs / name, AFTER, BEFORE, fresh=fresh)
    assert back.change.expected == pytest.approx(-found.change.expected)
    if fresh:
        assert (back.change.low, back.change.high) == pytest.approx((-found.change.high, -found.change.low))


def test_fresh_is_narrower_and_delta_counts(logs):
    log = Statistics.for_learning(logs / "semi-bandit", parts=(1.0,))
    wide, narrow = (compare(log, BEFORE, AFTER, fresh=fresh).change for fresh in (False, True))
    assert wide.low < narrow.low
    assert narrow.high < wide.high
    surer = compare(log, BEFORE, AFTER, delta=0.001).change
    assert surer.low < wide.low
    assert wide.high < surer.high
    assert "fixed without looking" in compare(log, BEFORE, AFTER, fresh=True).meaning()
    assert "chosen on this very log" in compare(log, BEFORE, AFTER).meaning()


def test_what_if_is_compare_with_what_comes_of_changes(logs):
    asked = what_if(logs / "semi-bandit", BEFORE, "swap p2, p3")
    given = compare(logs / "semi-bandit", BEFORE, AFTER, labels=("before", "after"))
    assert asked == given
    assert what_if(logs / "semi-bandit", BEFORE, {"p2": ["c2"], "p3": ["c1"]}) == given
    assert what_if(logs / "semi-bandit", BEFORE, "p2: c2", "p3: c1") == given
    assert repr(asked).startswith(("After", "Before", "No clear difference: "))
    nothing = what_if(logs / "semi-bandit", BEFORE, "p1: c1")
    assert nothing.sentence().startswith("Before and after are the same.")
    assert "changes nothing" in " ".join(nothing.warnings)
    with pytest.raises(InputError, match="there is no change"):
        what_if(logs / "semi-bandit", BEFORE)


def test_what_is_noise_is_called_no_difference(logs):
    """Where the range of 80 % holds 0 nobody is told first that something is better; and the unit is said."""
    found = compare(coterie.read_log(logs / "semi-bandit", unit="stars"), BEFORE, AFTER)
    assert "stars" in found.sentence()
    each = found.per_person
    assert each.low < 0 < each.high
    for low, high, is_open in ((-1.0, 1.0, True), (0.5, 1.0, False)):
        seen = replace(found, range=(low, high))
        assert seen.sentence().startswith("No clear difference: ") == is_open
        assert ("does not prove it" in seen.sentence()) != is_open
    nothing = replace(found, range=(-1.0, 1.0), change=replace(found.change, expected=0.0)).sentence()
    assert nothing.startswith(
        "No clear difference: neither of A and B is expected to be better (with 80 % probability "
    )
    assert "stars per person" in nothing


def test_rules_that_are_broken_come_first(logs):
    rules = Rules(team_size="2:2", apart=["p1,p3"], max_moves=1)
    found = compare(logs / "semi-bandit", BEFORE, AFTER, rules=rules)
    assert found.stability == "swap"
    assert found.one.violations == ()
    assert found.two.violations == ("p1 and p3 apart", "at most 1 person moves (it is 2)")
    assert repr(found).splitlines()[0] == "B breaks rules: p1 and p3 apart; at most 1 person moves (it is 2)."
    kept = compare(logs / "semi-bandit", BEFORE, BEFORE | {"p2": ["c2"]}, keep_sizes=True)
    assert kept.two.violations == ("team size of c1: 2", "team size of c2: 2")


def test_staff_decides_who_counts(logs):
    staff = Rules(staff=("p1", "p2", "p3", "p4", "p5", "new"))
    before = {agent: where for agent, where in BEFORE.items() if agent != "p6"}  # left; the newcomer is nowhere yet
    after = AFTER | {"new": ["c3"], "stranger": ["c1"]}
    found = compare(logs / "semi-bandit", before, after, rules=staff)
    assert found.left_out == ("p6",)
    assert found.n_counted == 6
    assert found.arrivals == ("new",)
    assert found.moves == ("p2", "p3")  # whoever left does not move
    assert (found.one.violations, found.two.violations) == ((), ())
    assert found.two.strategy.actions["p6"] == []  # gone, whatever is decided
    said = " ".join(found.warnings)
    assert "B is taken without those who left: p6" in said
    assert "in A these newcomers are nowhere: new" in said
    assert "B holds people whom neither the log nor the staff knows: stranger" in said
    assert "the log knows nothing of new" in said
    known = compare(logs / "semi-bandit", before, after, rules=staff, min_samples=1)
    assert known.left_out == ("p6", "new")
    assert known.change.high - known.change.low < found.change.high - found.change.low
    few = compare(logs / "semi-bandit", {agent: before[agent] for agent in ("p2", "p4", "p5")}, after, rules=staff)
    assert "in A these people are nowhere: p1, p3, new" in " ".join(few.warnings)  # as in today's table of `learn`
    assert few.one.strategy.actions["p1"] == []
    assert few.arrivals == ("p1", "p3", "new")
    assert [person.agent for person in found.people if person.is_new] == ["new"]
    with pytest.raises(InputError, match="'p6' has no action"):
        compare(logs / "semi-bandit", before, AFTER)


def test_interchangeable_coalitions_have_no_names(logs):
    log = coterie.read_log(logs / "semi-bandit", pool_coalitions=True, coalitions=3, actions="one")
    turned = {"1": "2", "2": "3", "3": "1"}
    one = {agent: [room[-1] for room in where] for agent, where in BEFORE.items()}
    two = {agent: [turned[room] for room in where] for agent, where in one.items()}
    found = compare(log, one, two)
    assert found.moves == ()
    assert found.change.low == found.change.high == 0
    assert found.who("same") == tuple(BEFORE)


def test_interchangeable_coalitions_may_have_names_in_assignments(logs):
    """Names are numbered in their order, and two assignments number the same name alike."""
    log = coterie.read_log(logs / "semi-bandit", pool_coalitions=True, coalitions=4, actions="one")
    numbers = {"c1": "1", "c2": "2", "c3": "3", "c4": "4"}

    def numbered(teams):
        return {agent: [numbers[room] for room in where] for agent, where in teams.items()}

    def plain(found):
        content = found.to_json()
        content.pop("team_names", None)
        return content

    later = AFTER | {"p1": ["c4"], "p2": ["c4"], "p3": ["c2"]}  # in which c1 is nobody's
    found = compare(log, BEFORE, later)
    assert plain(found) == plain(compare(log, numbered(BEFORE), numbered(later)))
    assert found.team_names == {"1": "c1", "2": "c2", "3": "c3", "4": "c4"}
    assert found.teams(["1", "4"]) == ["c1", "c4"]
    assert found.called("team 4 would have 5 members") == "c4 would have 5 members"
    named = coterie.Strategy.from_members({"c1": ["p1", "p2"], "c2": ["p3", "p4"], "c3": ["p5", "p6"]})
    for before in (BEFORE, named, {agent: set(where) for agent, where in BEFORE.items()}):
        by_name = what_if(log, before, "p1: c2", {"p3": ["c3", "4"]}, "p4: +c1 -c2")
        assert plain(by_name) == plain(what_if(log, numbered(BEFORE), "p1: 2", {"p3": ["3", "4"]}, "p4: +1 -2"))
    with pytest.raises(InputError, match=r"unknown team 'hall'; known are: .*c1, c2, c3; .*have numbers"):
        what_if(log, BEFORE, "p1: hall")
    with pytest.raises(InputError, match="in A there are 5 teams, and no more than 4 may be formed"):
        compare(log, BEFORE | {"p1": ["x"], "p3": ["y"]}, AFTER)


def test_a_name_that_a_coalition_has_stays(logs):
    log = coterie.read_log(logs / "semi-bandit", pool_coalitions=True, coalitions=3, actions="one")
    teams = {agent: ["1"] if where == ["c2"] else where for agent, where in BEFORE.items()}
    found = what_if(log, teams, "swap p1, p3")
    assert [one.before for one in found.people] == [("2",), ("2",), ("1",), ("1",), ("3",), ("3",)]
    again = compare(log, BEFORE, teams)  # c1 was 1 in the first, and cannot be in the second
    assert again.moves == ()
    assert "teams are interchangeable here, and in B c1 is what was c2" in again.warnings
    assert again.team_names == {"1": "c1", "2": "c2", "3": "c3"}


def test_chances_of_teams_under_other_names_are_certified(logs):
    log = coterie.read_log(logs / "semi-bandit", pool_coalitions=True, coalitions=3, actions="one")
    mixed = [{"coalitions": [name], "probability": 0.5} for name in ("1", "2")]
    teams = {agent: [where[0][1:]] for agent, where in BEFORE.items()}
    found, wanted = coterie.certify(log, BEFORE | {"p1": HALVES}), coterie.certify(log, teams | {"p1": mixed})
    assert found.strategy == wanted.strategy
    assert found.certificate.gap == wanted.certificate.gap
    assert found.team_names == {"1": "c1", "2": "c2", "3": "c3"}


@pytest.mark.parametrize("options", [{"sizes": "aware"}, {"noise": "samples"}])
def test_every_reading_of_a_log_is_compared(logs, options):
    for name in ("semi-bandit", "bandit"):
        found = compare(logs / name, BEFORE, AFTER, **options)
        assert found.change.low < found.change.high
        assert found.change.low <= found.change.estimate <= found.change.high


def test_adaptive_logs_have_uniform_bounds_only(logs):
    log = coterie.read_log(logs / "semi-bandit", adaptive=True)
    found = compare(log, BEFORE, AFTER)
    assert found.change.low <= found.change.expected <= found.change.high
    with pytest.raises(InputError, match="adaptive"):
        compare(log, BEFORE, AFTER, fresh=True)


def test_what_nothing_bounds_is_said(tmp_path):
    pairs = [(s, "x", "a", "b", 0.1 * s) for s in range(5)] + [(s, "y", "b", "c", 0.2) for s in range(5)]
    table = pd.DataFrame(pairs, columns=["sample", "coalition", "agent", "partner", "utility"])
    log = coterie.Log.from_frames(pairs=table, sigma=1.0)
    one, two = {"a": ["x"], "b": ["x"], "c": ["y"]}, {"a": ["y"], "b": ["x"], "c": ["y"]}
    found = compare(log, one, two)
    assert math.isinf(found.change.high)
    assert "nothing is sure" in found.sentence()
    assert json.dumps(coterie.files.plain(found.to_json()))


def test_the_file_holds_everything(logs):
    found = compare(logs / "semi-bandit", BEFORE, AFTER, value="average", rules=Rules(team_size=":4"))
    content = coterie.files.plain(found.to_json())
    assert content["format"] == "coterie.comparison/1"
    assert (content["value"], content["stability"]) == ("average", "swap")
    assert content["rules"]["team_size"] == {"*": {"min": 0, "max": 4, "or_empty": False}}
    assert [side["label"] for side in content["assignments"]] == ["A", "B"]
    assert content["assignments"][1]["strategy"]["actions"]["p2"] == ["c2"]
    assert content["difference"]["range"] == list(found.range)
    assert list(content["people"]) == list(BEFORE)
    assert content["people"]["p2"]["change"] == found.people[1].change.to_json()
    assert {*content["gain"], *content["lose"], *content["same"], *content["unclear"]} == set(BEFORE)
    assert json.loads(json.dumps(content)) == content


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"one": {"p1": ["c1"]}}, "has no action"),
        ({"two": AFTER | {"zoe": ["c1"]}}, "unknown agent in strategy 'zoe'"),
        ({"two": AFTER | {"p1": ["c9"]}}, "c9"),
        ({"delta": 2}, "delta"),
        ({"labels": "AB"}, "labels"),
        ({"labels": ("A", "A")}, "labels"),
        ({"value": "sum"}, "value"),
        ({"two": {"actions": BEFORE | {"p1": HALVES}}}, "mixed strategy"),
    ],
)
def test_refusals(logs, given, words):
    with pytest.raises(InputError) as refused:
        compare(**{"log": logs / "semi-bandit", "one": BEFORE, "two": AFTER, **given})
    assert words in str(refused.value)


def test_a_result_of_this_log_is_not_fresh(logs):
    result = coterie.StableLearner(goal="stability", any_size=True).fit(logs / "semi-bandit").result_
    assert compare(logs / "semi-bandit", BEFORE, result).two.strategy == result.strategy
    for given in (result, result.to_json()):
        with pytest.raises(InputError, match="learnt from this very log"):
            compare(logs / "semi-bandit", BEFORE, given, fresh=True)


def test_what_results_were_made_with_is_taken_over_as_far_as_they_agree(logs):
    log = coterie.read_log(logs / "semi-bandit")
    rules = Rules(team_size="2:2", apart=["p1,p3"], max_moves=1)
    one = coterie.certify(log, BEFORE, rules=rules, value="average")
    assert one.rules.max_moves is None
    rules = one.rules
    changed_by = {"rules": rules, "value": "average", "stability": "swap"}
    for asked, said in (
        (what_if(log, one, "swap p2, p3"), what_if(log, BEFORE, "swap p2, p3", **changed_by)),
        (compare(log, one, AFTER), compare(log, BEFORE, AFTER, **changed_by)),
        (compare(log, AFTER, one.to_json()), compare(log, AFTER, BEFORE, **changed_by)),
        (compare(log, one, coterie.certify(log, AFTER, **changed_by)), compare(log, BEFORE, AFTER, **changed_by)),
    ):
        (line,) = set(asked.warnings) - set(said.warnings)
        assert line == (
            "taken over from the result: value average; rules about team size, apart; whatever is said here wins"
        )
        assert (asked.change, asked.people, asked.two.violations) == (said.change, said.people, said.two.violations)
        assert (asked.rules, asked.value, asked.stability) == (rules, "average", "swap")
    assert what_if(log, one, "swap p2, p3", value="total").value == "total"
    # Where they do not agree, nothing is guessed.
    total = coterie.certify(log, AFTER, rules=Rules(team_size="1:3"))
    with pytest.raises(InputError, match="one result was made with value average, the other with total; say by which"):
        compare(log, one, total)
    told = compare(log, one, total, value="total")
    assert not told.rules
    assert (
        "the two results were made with different rules; both are judged by the rules said here alone" in told.warnings
    )


def test_learn_and_compare_say_the_same_of_the_same_teams(logs):
    """What is likely is drawn from the seed alone, whatever was searched for before."""
    log = coterie.read_log(logs / "semi-bandit")
    for seed in (0, 3):
        learnt = coterie.StableLearner(today=BEFORE, random_state=seed).fit(log).result_
        found = compare(log, BEFORE, learnt, random_state=seed)
        n = found.n_counted
        assert found.per_person.expected == pytest.approx(learnt.today.expected_improvement, abs=1e-9)
        assert [end / n for end in found.range] == pytest.approx(learnt.today.range, abs=1e-9)


def test_a_unit_is_said_and_taken_over(logs):
    learnt = coterie.StableLearner(today=BEFORE).fit(coterie.read_log(logs / "semi-bandit")).result_
    with_unit = replace(learnt, unit="stars")
    counted = coterie.read_log(logs / "semi-bandit", unit="points")
    assert " stars per person" in repr(compare(logs / "semi-bandit", BEFORE, with_unit))
    assert " points per person" in repr(compare(counted, BEFORE, with_unit))
    assert " points per person" in repr(what_if(counted, BEFORE, "swap p1, p3"))
    assert coterie.certify(logs / "semi-bandit", with_unit).unit == "stars"
    assert compare(logs / "semi-bandit", BEFORE, with_unit).to_json()["unit"] == "stars"
    assert "unit" not in compare(logs / "semi-bandit", BEFORE, AFTER).to_json()
