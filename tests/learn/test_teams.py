"""Recommendations of teams that can be formed: rules obeyed, options, today, goals, values."""

import json

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import InputError, Log, Rules, StableLearner
from coterie.game.admissible import Admissible
from coterie.game.steps import NOBODY
from coterie.learn.headline import against_today
from coterie.learn.options import LITTLE
from coterie.learn.result import Result
from coterie.learn.teams import _Teams
from coterie.simulate import Simulation
from coterie.simulate.firm import FirmPlan, rated_firm
from coterie.solve.control import Control

PEOPLE = [f"p{i:02d}" for i in range(12)]
AREAS = ["Finance", "Law", "Tech"]


def firm(seed=0, months=40, noise=0.4, **options):
    """A small firm with ratings from 1 to 5 in both directions, and who is where in the last month."""
    rng = np.random.default_rng(seed)
    n, k = len(PEOPLE), len(AREAS)
    means = 3.1 + 0.4 * rng.normal(size=(k, 1, n)) + 0.4 * rng.normal(size=(1, n, n))
    where = np.arange(n) % k
    members, pairs = [], []
    for month in range(months):
        where = rng.permutation(where)
        for i in range(n):
            members.append((str(month), PEOPLE[i], AREAS[where[i]]))
            for j in range(n):
                if i != j and where[i] == where[j]:
                    value = np.clip(means[where[i], i, j] + noise * rng.normal(), 1, 5)
                    pairs.append((str(month), AREAS[where[i]], PEOPLE[i], PEOPLE[j], value))
    log = Log.from_frames(
        memberships=pd.DataFrame(members, columns=["sample", "agent", "coalition"]),
        pairs=pd.DataFrame(pairs, columns=["sample", "coalition", "agent", "partner", "utility"]),
        utility_range=(1, 5), neutral=3, symmetric=False, **options,
    )  # fmt: skip
    return log, {PEOPLE[i]: [AREAS[where[i]]] for i in range(n)}, means


@pytest.fixture(scope="module")
def made():
    return firm()


@pytest.fixture(scope="module")
def found(made):
    log, today, _ = made
    rules = Rules(team_size="3:5", together=["p00,p01"], apart=["p02,p03"], ban=["p04=Law"])
    return StableLearner(rules=rules, value="average", today=today, random_state=0).fit(log).result_


def test_rules_are_obeyed_by_every_option(found):
    compiled = Admissible.of(found.rules, found.strategy.agents, found.strategy.coalitions)
    for option in found.options:
        if option.label != "today":
            assert compiled.holds(option.strategy.sets), option.label
    assert found.options[0].strategy == found.strategy
    assert found.violations == ()
    assert (found.value, found.stability, found.goal) == ("average", "swap", "value")


def test_the_result_is_the_contract_s_and_comes_back(found, tmp_path):
    content = json.loads(json.dumps(found.to_json()))
    assert {"value", "stability", "goal", "rules", "options", "today", "likely_gap"} <= set(content)
    assert {"label", "strategy", "method", "gap", "expected_value", "expected_gap", "moves"} <= set(
        content["options"][0]
    )
    assert {"strategy", "moves", "expected_improvement", "range"} <= set(content["today"])
    assert {"movers", "refuser"} <= set(content["certificate"]["worst"])
    assert content["rules"]["format"] == "coterie.rules/1"
    found.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json") == found
    assert 1 <= len(found.options) <= 7


def test_the_improvement_against_today_is_told_with_its_range(found):
    low, high = found.today.range
    assert low <= found.today.expected_improvement <= high
    assert found.today.moves == found.options[0].moves
    assert found.today.expected_improvement > 0


def test_no_option_beats_another(found):
    """In certificate, value, gains by moving and moves: some have fewer moves for less."""
    others = [one for one in found.options if one.label != "today"]
    told = np.array(
        [(-one.gap, one.expected_value, one.expected_least, -one.expected_gap, -one.moves) for one in others]
    )
    for mine in told:
        assert not ((told >= mine).all(axis=1) & (told > mine).any(axis=1)).any()


def test_at_most_so_many_move(made):
    log, today, _ = made
    rules = Rules(team_size="3:5", max_moves=2)
    found = StableLearner(rules=rules, value="average", today=today).fit(log).result_
    assert found.options[0].moves <= 2
    assert all(one.moves <= 2 for one in found.options)


def test_sizes_as_today(made):
    log, today, _ = made
    found = StableLearner(value="average", today=today, keep_sizes=True).fit(log).result_
    sizes = {area: sum(area in own for own in today.values()) for area in AREAS}
    assert {area: len(members) for area, members in found.strategy.members().items()} == sizes


def test_nothing_larger_than_seen_unless_asked_for(made):
    log, _, _ = made
    assert max(len(members) for members in StableLearner().fit(log).result_.strategy.members().values()) <= 4
    larger = StableLearner(any_size=True, rules=Rules(team_size="0,6:")).fit(log)
    assert {len(members) for members in larger.strategy_.members().values()} <= {0, 6, 12}
    with pytest.raises(InputError, match="contradict each other"):
        StableLearner(rules=Rules(team_size="5:5")).fit(log)


def test_leavers_are_nowhere_and_newcomers_somewhere(made):
    log, today, _ = made
    staff = [*PEOPLE[1:], "Nina"]
    found = StableLearner(rules=Rules(staff=staff, team_size="3:5"), value="average", today=today).fit(log).result_
    actions = found.strategy.actions
    assert actions["p00"] == []
    assert len(actions["Nina"]) == 1
    assert "p00" in found.left_out
    assert any("nothing is known of Nina" in text for text in found.warnings)
    assert found.certificate.newcomers == ("Nina",)
    assert found.certificate.known_gap < found.certificate.gap
    said = (
        f"There are no data of Nina. Leaving their moves aside, with 99 % confidence, {found.nobody_gains(0)[:6]} else"
    )
    assert said in repr(found)
    assert Result.from_json(json.loads(json.dumps(found.to_json()))).among_known() == found.among_known()


def test_todays_table_may_be_that_of_the_staff(made, tmp_path):
    """Columns that are swapped are told, and so is that the table of today names the newcomers."""
    log, today, _ = made
    table = tmp_path / "today.csv"
    table.write_text("Name,Team\nZoe,Law\n" + "".join(f"{name},{teams[0]}\n" for name, teams in today.items() if teams))
    with pytest.raises(InputError, match=r"'Zoe'; whoever is new is named by staff, for which .*: staff=.*today"):
        StableLearner(today=table).fit(log)
    table.write_text("Team,Name\n" + "".join(f"{name},{teams[0]}\n" for name, teams in today.items() if teams))
    with pytest.raises(InputError, match=r"people and teams look swapped: 'p0.* in the column of teams, and '"):
        StableLearner(today=table, rules=Rules(staff=PEOPLE)).fit(log)


def test_whoever_left_is_not_counted_in_what_today_is_worth(made):
    log, today, _ = made
    rules = Rules(staff=PEOPLE[1:], team_size="3:5", max_moves=0)
    found = StableLearner(rules=rules, value="average", today=today).fit(log).result_
    assert today["p00"]
    assert found.today.strategy.actions["p00"] == []
    assert (found.today.moves, found.today.changes) == (0, ())
    assert found.today.expected_improvement == 0
    assert found.today.range == (0, 0)
    assert found.strategy == found.today.strategy
    assert found.today.left == ("p00",)
    assert against_today(found).startswith("Against today's teams without those who left (")
    assert Result.from_json(json.loads(json.dumps(found.to_json()))).today == found.today
    others = {agent: where for agent, where in today.items() if agent != "p00"}  # nobody in that table left
    found = StableLearner(rules=rules, value="average", today=others).fit(log).result_
    assert found.today.left == ()
    assert against_today(found).startswith("Against today (")
    with pytest.raises(InputError, match="nobody who is to be assigned is in any team"):
        StableLearner(rules=Rules(staff=PEOPLE[1:]), today={"p00": ["Law"]}).fit(log)


def test_fairness_cares_for_the_worst_off(made):
    log, _, _ = made
    asked = {"rules": Rules(team_size=4), "value": "average"}
    value, fair = (StableLearner(goal=goal, **asked).fit(log).result_ for goal in ("value", "fairness"))
    assert fair.options[0].expected_least >= value.options[0].expected_least - 1e-9
    assert value.options[0].expected_value >= fair.options[0].expected_value - 1e-9


def test_the_exact_solver_is_at_least_as_good(made):
    log, _, _ = made
    asked = {"rules": Rules(team_size="3:5"), "value": "average", "certificate": "paired"}
    search, exact = (StableLearner(solver=solver, **asked).fit(log).result_ for solver in ("auto", "exact"))
    best = max(one.expected_value for one in exact.options)
    assert best >= max(one.expected_value for one in search.options) - 1e-9


def test_certifying_an_assignment_that_breaks_rules(made):
    log, today, _ = made
    found = coterie.certify(log, today, rules=Rules(team_size=":3"), value="average")
    assert found.violations == tuple(f"team size of {area}: 0 to 3" for area in AREAS)
    assert found.stability == "swap"


@pytest.mark.parametrize(
    "options", [{"strategy": "mixed"}, {"solver": "paper"}, {"strategy": "mixed", "solver": "polymatrix"}]
)
def test_solvers_that_cannot_refuse(made, options):
    for wish in ({"rules": Rules(team_size=4)}, {"value": "average"}, {"stability": "swap"}, {"goal": "value"}):
        with pytest.raises(InputError, match="without rules; pure strategies have all of these"):
            StableLearner(**options, **wish).fit(made[0])


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"keep_sizes": True}, "needs to know who is where today"),
        ({"today": {"Zoe": ["Law"]}}, "people whom the log does not know: 'Zoe'; whoever is new is named by staff"),
        ({"today": {"p00": ["Sales"]}}, "Sales"),
        ({"value": "mean"}, "value: expected"),
        ({"stability": "strong"}, "stability: expected"),
        ({"goal": "money"}, "goal: expected"),
        ({"rules": Rules(max_moves=1)}, "who is where today"),
    ],
)
def test_wishes_are_checked(made, wish, message):
    with pytest.raises(InputError, match=message):
        StableLearner(**wish).fit(made[0])


def test_everybody_above_the_neutral_point_is_said():
    members, pairs = log_frames(1)
    shifted = Log.from_frames(memberships=members, pairs=pairs, utility_range=(1, 5), neutral=1.5, symmetric=False)
    found = StableLearner(rules=Rules(team_size="2:6")).fit(shifted).result_
    assert any('value="average"' in text or "value='average'" in text for text in found.warnings)


def log_frames(seed):
    rng = np.random.default_rng(seed)
    members, pairs = [], []
    for month in range(20):
        where = rng.permutation(np.arange(12) % 3)
        for i in range(12):
            members.append((str(month), PEOPLE[i], AREAS[where[i]]))
            pairs += [
                (str(month), AREAS[where[i]], PEOPLE[i], PEOPLE[j], float(rng.uniform(2, 5)))
                for j in range(12) if i != j and where[i] == where[j]
            ]  # fmt: skip
    return (
        pd.DataFrame(members, columns=["sample", "agent", "coalition"]),
        pd.DataFrame(pairs, columns=["sample", "coalition", "agent", "partner", "utility"]),
    )


def test_nothing_that_breaks_a_limit_is_recommended():
    """Where whoever would block may not be moved by the recommendation, that is not worked around."""
    rows = [(str(t), "x", "a", "b", 0.8) for t in range(100)] + [(str(t + 100), "y", "a", "b", 0.8) for t in range(100)]
    log = Log.from_frames(pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]))
    for goal in ("value", "stability"):
        asked = {"rules": Rules(max_moves=0), "today": {"a": ["x"], "b": ["y"]}, "goal": goal}
        assert StableLearner(**asked).fit(log).result_.today.moves == 0


def test_more_sets_than_can_be_listed(tmp_path):
    Simulation.draw(4, 13, np.random.default_rng(0)).write_log(tmp_path / "log", 60)
    log = coterie.read_log(tmp_path / "log", actions="any")
    found = StableLearner(time_limit=5).fit(log).result_
    assert found.options


def test_who_left_is_told_apart(made):
    log, _, _ = made
    found = StableLearner(rules=Rules(staff=PEOPLE[1:], team_size="3:5"), value="average").fit(log).result_
    assert "not on the staff: p00" in found.sentence()
    assert "fewer than 0" not in found.sentence()


def test_what_holds_without_data_is_said_of_given_teams_too(made):
    log, today, _ = made
    found = coterie.certify(log, today, rules=Rules(team_size="4"), stability="nash")
    assert (found.certificate.gap, found.is_vacuous) == (0, True)


def test_newcomers_do_not_make_the_rest_worthless():
    rows = [(f"{room}{t}", room, "a", "b", 0.8) for room in "xy" for t in range(200)]
    log = Log.from_frames(pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]))
    found = coterie.certify(log, {"a": ["x"], "b": ["x"], "Nina": ["y"]}, rules=Rules(staff=["a", "b", "Nina"]))
    assert found.certificate.gap == found.range_gap == 2  # Nina could love both
    assert 0.2 < found.certificate.known_gap < 0.7  # who leaves the other loses 0.8, and gets 1 from Nina at most
    assert not found.says_nothing
    assert "Leaving their moves aside, with 99 % confidence, nobody else can gain more than" in found.among_known()


def test_certify_takes_over_what_a_result_was_made_with(found, made, tmp_path):
    log, _, _ = made
    found.save(tmp_path / "result.json")
    for given in (found, tmp_path / "result.json", found.to_json()):
        again = coterie.certify(log, given)
        assert (again.value, again.stability, again.rules) == (found.value, found.stability, found.rules)
        assert again.certificate.gap == found.certificates["paired"]
        (line,) = [text for text in again.warnings if text.startswith("taken over from the result")]
        assert "value average; rules about team size, together, apart, ban" in line
    other = coterie.certify(log, found, value="total", stability="nash", rules=Rules(team_size="2:6"))
    assert (other.value, other.stability) == ("total", "nash")
    assert other.rules == found.rules + Rules(team_size="2:6")
    bare = coterie.certify(log, found.strategy)
    assert (bare.value, bare.stability, bool(bare.rules)) == ("total", "nash", False)
    assert not any("taken over" in text for text in bare.warnings)


def test_an_assignment_may_lack_those_who_left(made, tmp_path):
    log, today, _ = made
    here = {person: where for person, where in today.items() if person != "p00"}
    found = coterie.certify(log, here, rules=Rules(staff=PEOPLE[1:]))
    assert found.strategy.actions["p00"] == []
    assert (
        found.certificate.gap
        == coterie.certify(log, today | {"p00": []}, rules=Rules(staff=PEOPLE[1:])).certificate.gap
    )
    (tmp_path / "here.csv").write_text("agent,coalition\n" + "".join(f"{who},{to[0]}\n" for who, to in here.items()))
    for given in (here, tmp_path / "here.csv"):
        with pytest.raises(InputError, match="'p00' is nowhere in it; to say who is to be assigned at all, "):
            coterie.certify(log, given)
    with pytest.raises(InputError, match="'p01' is nowhere in it"):
        coterie.certify(log, {"p02": ["Law"]}, rules=Rules(staff=PEOPLE[1:]))


def over(self):
    """Time is up at once."""
    self.ended = "time"
    return True


def typed(name):
    """A name as somebody else types it."""
    return f" {name.upper()} "


def test_names_typed_otherwise_are_the_same_people(made):
    log, today, _ = made
    plain = {"staff": [*PEOPLE[1:], "Nina Holm"], "apart": ["p02,p03"], "fix": {"p04": "Law"}, "ban": {"p05": "Tech"}}
    mine = {
        "staff": [typed(name) for name in plain["staff"]], "apart": [f"{typed('p02')},{typed('p03')}"],
        "fix": {typed("p04"): "Law"}, "ban": {typed("p05"): "Tech"},
    }  # fmt: skip
    there = today | {typed("Nina Holm"): ["Law"]}

    def learnt(rules, teams):
        return StableLearner(rules=Rules(team_size="3:5", **rules), value="average", today=teams).fit(log).result_

    expected = learnt(plain, today | {"Nina Holm": ["Law"]})
    for rules, teams in (
        (plain, there),
        (mine | {"staff": plain["staff"]}, {typed(who): to for who, to in there.items()}),
    ):
        found = learnt(rules, teams)
        assert found.strategy == expected.strategy
        assert any(text.startswith("nothing is known of Nina Holm:") for text in found.warnings)
        assert "not on the staff: p00" in found.sentence()
        (line,) = [text for text in found.warnings if "in case or spaces only are taken for the same" in text]
        assert "is 'Nina Holm'" in line or "is 'p0" in line
    found = learnt(mine, today)
    assert "not on the staff: p00" in found.sentence()
    assert set(found.strategy.agents) == {*PEOPLE, typed("Nina Holm")}


def test_given_teams_may_be_typed_otherwise(made):
    log, today, _ = made
    expected = coterie.certify(log, today)
    found = coterie.certify(log, {typed(who): where for who, where in today.items()})
    assert found.strategy == expected.strategy
    assert found.certificate.gap == expected.certificate.gap
    assert any("' P00 ' is 'p00'" in text for text in found.warnings)


def test_newcomers_may_be_typed_otherwise_too(made):
    log, today, _ = made
    staff = [*PEOPLE, "Nina Holm"]
    rules = Rules(staff=staff, team_size="3:6", fix={"nina  holm": "Law"})
    found = StableLearner(rules=rules, value="average", today=today | {"NINA HOLM": ["Law"]}).fit(log).result_
    assert found.strategy.actions["Nina Holm"] == ["Law"]
    assert found.to_frame()["known"].str.startswith("a guess").tolist() == [True] + [False] * 12
    with pytest.raises(InputError, match="staff: 'Nina Holm' occurs twice, in two spellings"):
        StableLearner(rules=Rules(staff=[*staff, "nina holm"])).fit(log)


def test_time_that_runs_out_while_variances_settle_is_said(made, monkeypatch):
    """What was found by then counts, and draws of it are made: the range is no point."""
    log, today, _ = made
    monkeypatch.setattr(Control, "is_over", over)
    found = StableLearner(rules=Rules(team_size="4"), value="average", today=today, time_limit=1e6).fit(log).result_
    assert found.solver.status == "time"
    low, high = found.today.range
    assert found.today.moves == 0 or low < found.today.expected_improvement < high


def test_slips_in_todays_table_are_not_leavers(made):
    log, today, _ = made
    renamed = {f"{name}, \u00c9": where for name, where in list(today.items())[:2]}
    others = {name: where for name, where in today.items() if name not in {"p00", "p01"}}
    staff = Rules(staff=[*PEOPLE[2:], "p00 E", "p01-e"])
    with pytest.raises(InputError, match=r"'p00, \u00c9' .did you mean 'p00 E'.*'p01, \u00c9' .did you mean 'p01-e'"):
        StableLearner(rules=staff, today=others | renamed).fit(log)


def test_slips_are_named_also_where_the_staff_is_known():
    """A letter that is wrong makes a stranger of a colleague; numbers are told apart."""
    rows = [(str(t), "x", "Dimitri", "Wim", 0.5) for t in range(3)] + [("1", "x", "Wim", "Lea", 0.1)]
    log = Log.from_frames(pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]))
    staff, today = ["Dimitri", "Wim", "Lea"], {"Dimitry": ["x"], "Wim": ["x"]}
    with pytest.raises(InputError, match=r"'Dimitry' .did you mean 'Dimitri'"):
        StableLearner(rules=Rules(staff=staff), today=today).fit(log)
    with pytest.raises(InputError, match="'Dimitry' is not in the log, and 'Dimitri' of the log is not on the staff"):
        StableLearner(rules=Rules(staff=["Dimitry", "Wim", "Lea"])).fit(log)
    assert StableLearner(rules=Rules(staff=["Dimitry (new one)", "Wim", "Lea"])).fit(log).result_.certificate.newcomers


def test_who_is_not_in_todays_table_is_told(made):
    log, today, _ = made
    some = {name: [where[0].upper()] for name, where in today.items() if name not in {"p03", "p04"}}
    found = (
        StableLearner(rules=Rules(staff=PEOPLE, team_size="3:5"), value="average", today=some | {"Zoe": ["Law"]})
        .fit(log)
        .result_
    )
    told = [text for text in found.warnings if "today's table" in text]
    assert told == [
        "people in today's table whom neither the log nor the staff knows are left out: Zoe",
        "2 of 12 people are not in today's table, and count as in no team today: p03, p04",
    ]
    placed = {one.agent: one for one in found.today.changes}
    assert all(placed[name].why().endswith("in no team today") for name in ("p03", "p04"))


def test_one_person_in_two_spellings_is_refused(made):
    log, today, _ = made
    twice = today | {"P00 ": ["Law"]}
    with pytest.raises(InputError, match="'p00' occurs twice, in two spellings of one name"):
        StableLearner(today=twice).fit(log)
    with pytest.raises(InputError, match="the assignment: 'p00' occurs twice"):
        coterie.certify(log, twice)
    with pytest.raises(InputError, match="fix: 'p00' occurs twice"):
        StableLearner(rules=Rules(fix={"p00": "Law", "P00": "Tech"})).fit(log)


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_what_the_neutral_point_decides_is_told_for_both_feedbacks(feedback):
    """Pairs are worth 3.05 on average: a crowd if 3 is neutral, as few meetings as possible if 3.2 is."""
    rng = np.random.default_rng(0)
    members, pairs, totals = [], [], []
    for t in range(80):
        where = rng.integers(0, 2, 6)
        utility = np.triu(3.05 + rng.uniform(-0.2, 0.2, (6, 6)), 1)
        utility += utility.T
        met = (where[:, None] == where) & ~np.eye(6, dtype=bool)
        members += [(str(t), PEOPLE[i], AREAS[where[i]]) for i in range(6)]
        pairs += [(str(t), AREAS[where[i]], PEOPLE[i], PEOPLE[j], utility[i, j]) for i, j in np.argwhere(np.triu(met))]
        totals += [(str(t), PEOPLE[i], (utility * met)[i].sum()) for i in range(6)]
    seen = (
        {"pairs": pd.DataFrame(pairs, columns=["sample", "coalition", "agent", "partner", "utility"])}
        if feedback == "semi-bandit"
        else {"totals": pd.DataFrame(totals, columns=["sample", "agent", "utility"])}
    )
    frames = {"memberships": pd.DataFrame(members, columns=["sample", "agent", "coalition"]), **seen}
    log = Log.from_frames(**frames, utility_range=(1, 5), neutral=3)
    found = StableLearner(any_size=True, time_limit=60).fit(log).result_
    assert sorted(map(len, found.strategy.members().values())) == [0, 6]
    told = [text for text in found.warnings if text.startswith("with the neutral point at ")]
    assert len(told) == 1
    assert told[0].startswith("with the neutral point at 3.2 instead of 3, 3 people would be elsewhere")
    assert any("above the neutral point 3, so larger teams look better" in text for text in found.warnings)


@pytest.mark.parametrize("samples", [100, pytest.param(3000, marks=pytest.mark.slow)])
def test_that_staying_out_is_allowed_does_not_make_it_best(tmp_path, samples):
    """What nobody can gain by leaving is not worth recommending if it is worth nothing."""
    simulation = Simulation.draw(12, 4, np.random.default_rng(1))
    simulation.write_log(tmp_path / "log", samples)
    found = StableLearner().fit(coterie.read_log(tmp_path / "log", may_stay_out=True)).result_
    assert found.strategy.sets.any(axis=1).sum() > 6
    assert found.options[0].expected_value > 0
    assert simulation.game.values(found.strategy).sum() > 0
    assert not found.is_vacuous


def test_an_interruption_of_the_second_reading_is_told():
    """What was interrupted says so, and the command line ends with 130: nobody takes it for the full answer."""

    def stop(state):
        if state.method == "second pass":
            raise KeyboardInterrupt

    log = coterie.simulate.Simulation.draw(4, 2, 0).log(60, "bandit")
    assert coterie.StableLearner().fit(log).result_.solver.status != "interrupted"
    assert coterie.StableLearner(progress=stop).fit(log).result_.solver.status == "interrupted"


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_whatever_an_interruption_leaves_out_it_is_told(feedback):
    """At whichever look the flag is seen, also after the search: the answer is the full one, or says otherwise."""
    statistics = coterie.Statistics.for_learning(Simulation.draw(4, 2, 0).log(12, feedback))
    looks = []

    def answer(stop):
        looks.clear()
        found = StableLearner(stop=stop).fit(statistics).result_
        status = found.solver.status
        return status, {**found.to_json(), "solver": None}

    status, full = answer(lambda: bool(looks.append(1)))
    assert status != "interrupted"
    last = len(looks)
    for first in (*range(1, last, max(1, last // 4)), *range(last - 5, last + 1)):
        assert answer(lambda first=first: looks.append(1) or len(looks) >= first)[0] == "interrupted"
    assert answer(lambda: looks.append(1) or len(looks) > last) == (status, full)


@pytest.mark.parametrize(("months", "options", "short"), [(12, {}, 1), (12, {"target_gap": 1.0}, 0), (400, {}, 0)])
def test_no_long_search_is_made_for_a_part_that_will_not_say_much(monkeypatch, months, options, short):
    asked = []
    searched = _Teams._searched
    monkeypatch.setattr(
        _Teams,
        "_searched",
        lambda self, *rest, **how: asked.append(how.get("is_short")) or searched(self, *rest, **how),
    )
    log, _, _ = firm(months=months)
    result = StableLearner(rules=Rules(team_size=4), random_state=0, **options).fit(log).result_
    assert (len(asked), sum(map(bool, asked))) == (2, short)
    assert all(option.gap < np.inf for option in result.options)


@pytest.mark.slow
def test_ranges_of_teams_and_of_people_hold_about_as_often_as_they_say(tmp_path):
    """Four of five times each, whoever is chosen: over many firms, and not much less often."""
    people, teams, elsewhere = [], [], []
    plan, rules = FirmPlan(n_agents=16, n_coalitions=4, sizes=(3, 5), months=24), Rules(team_size="3:5")
    for seed in range(8):
        made = rated_firm(seed, plan)
        made.write_log(tmp_path / str(seed))
        found = StableLearner(rules=rules, value="average").fit(tmp_path / str(seed)).result_
        true = made.truth.valued("average")
        admissible = Admissible.of(rules, true.agents, true.coalitions)
        blocking, gains = true.steps(found.strategy.sets, found.stability, admissible)
        little = LITTLE * (found.data.utility_range[1] - found.data.utility_range[0])
        leave = blocking.movers[gains.min(axis=1) > little]
        low, high = found.options[0].elsewhere
        elsewhere.append(low <= len(set(leave[leave != NOBODY].tolist())) <= high)
        option, values = found.options[0], made.truth.valued("average").values(found.strategy)
        for agent, value in zip(found.strategy.agents, values.tolist(), strict=True):
            people.append(option.person_ranges[agent][0] <= value <= option.person_ranges[agent][1])
        for name, (low, high) in option.team_ranges.items():
            inside = found.strategy.sets[:, found.strategy.coalitions.index(name)]
            teams.append(low <= values[inside].mean() <= high)
        least = min(found.estimate.utility, key=found.estimate.utility.get)
        assert option.person_ranges[least][0] <= option.expected_least <= option.person_ranges[least][1]
        assert Result.from_json(json.loads(json.dumps(found.to_json()))).options[0] == option
    assert len(teams) == 32
    assert np.mean(elsewhere) >= 0.5
    assert np.mean(people) >= 0.7
    assert np.mean(teams) >= 0.65
