"""Rounds that make the guess better: what they keep, and whom they bring together."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import coterie
from coterie.collect import what_to_collect
from coterie.collect.aim import Situation, _Planner
from coterie.collect.forming import DRAWS
from coterie.learn.beliefs import beliefs_from
from coterie.simulate import FirmPlan, rated_firm

PLAN = FirmPlan(n_agents=10, n_coalitions=2, months=6, sizes=(4, 6))


@pytest.fixture(scope="module")
def firm():
    return rated_firm(3, PLAN)


def planned(firm, samples=3, **options):
    asked = {"value": "average", "noise": "pairs", "rules": coterie.Rules(team_size="4:6"), **options}
    aim = what_to_collect(firm.log(), firm.today, samples, **asked)
    assert not aim.is_worthwhile
    return aim.forming


THREES = {"a": ["x"], "b": ["x"], "c": ["x"], "d": ["y"], "e": ["y"], "f": ["y"]}


def pairs_of_six(seed=0):
    """Twelve rounds in which two teams of two worked."""
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(list("abcdef")) for _ in range(12)]
    rows = [
        (m, room, *drawn[2 * q : 2 * q + 2], rng.uniform(-1, 1))
        for m, drawn in enumerate(rounds)
        for q, room in enumerate("xy")
    ]
    frame = pl.DataFrame(rows, schema=["sample", "coalition", "agent", "partner", "utility"], orient="row")
    return coterie.Log.from_frames(pairs=frame, actions="one")


def test_rounds_keep_the_rules(firm):
    plan = planned(firm)
    assert sum(one.times for one in plan.rounds) == 3
    for one in plan.rounds:
        assert all(4 <= len(team) <= 6 for team in one.strategy.members().values())
    limited = planned(firm, today=firm.today, change_at_most=2)
    assert all(one.moves <= 2 for one in limited.rounds)


def test_the_same_seed_the_same_plan(firm):
    one, two = planned(firm), planned(firm)
    assert one.to_json() == two.to_json()


def test_many_rounds_are_blocks(firm):
    situation = Situation.of(firm.log(), firm.today, value="average", today=firm.today, change_at_most=0)
    plan = _Planner(situation, 0.01, False, np.random.default_rng(0)).forming(50)
    assert sum(one.times for one in plan.rounds) == 50
    assert plan.is_itself  # nobody may move, and today's teams are those that were asked about


def test_pairs_that_never_met_come_before_those_that_did(firm):
    """Of two pairs that belong together alike, the one of which less is known tells more."""
    pairs = planned(firm).pairs
    worth = [one.chance * one.spread**2 for one in pairs]
    assert worth == sorted(worth, reverse=True)
    often = np.array([one.seen for one in pairs])
    spread = np.array([one.spread for one in pairs])
    assert (often == 0).any()
    assert spread[often == 0].mean() > spread[often >= 3].mean()


def test_only_pairs_of_the_rounds_are_named(firm):
    stays = planned(firm, today=firm.today, change_at_most=0)
    teams = {name: set(team) for name, team in stays.rounds[0].strategy.members().items()}
    assert stays.pairs
    assert all({one.agent, one.partner} <= teams[one.coalition] for one in stays.pairs)


def test_what_is_known_of_a_pair_is_told_of_one_order():
    """Where both get the same, that is the standard deviation of the one unknown."""
    log = pairs_of_six()
    planner = _Planner(Situation.of(log, THREES), 0.01, False, np.random.default_rng(0))
    draws = beliefs_from(planner.shown, symmetric=True).draws(np.random.default_rng(0), DRAWS)
    for one in planner.forming(2).pairs:
        i, j, l = log.agents.index(one.agent), log.agents.index(one.partner), log.coalitions.index(one.coalition)
        assert one.spread == pytest.approx(np.std([values[l, i, j] for values in draws]))


def test_teams_may_be_as_large_as_in_the_assignment():
    """Without rules nothing is refused, though only teams of two were seen."""
    log = pairs_of_six()
    for today in (None, THREES):
        plan = what_to_collect(log, THREES, 2, noise="pairs", today=today).forming
        assert all(sorted(map(len, one.strategy.members().values())) == [3, 3] for one in plan.rounds)
    # Two are nowhere, and there is no room for them.
    smaller = THREES | {"c": ["y"], "e": [], "f": []}
    aim = what_to_collect(log, smaller, 2, noise="pairs")
    assert (aim.forming, aim.is_worthwhile) == (None, False)
    with pytest.raises(coterie.InputError, match="no assignment keeps all rules"):
        what_to_collect(log, THREES, 2, noise="pairs", rules=coterie.Rules(team_size=":2"))


def test_totals_look_for_no_other_teams():
    """As many pairs of the assignment as rules allow, and nothing is said of teams that could be as good."""
    rng = np.random.default_rng(0)
    members = [(m, who, rng.choice(["x", "y"])) for m in range(8) for who in "abcdef"]
    totals = [(m, who, rng.uniform(-1, 1)) for m in range(8) for who in "abcdef"]
    log = coterie.Log.from_frames(
        memberships=pl.DataFrame(members, schema=["sample", "agent", "coalition"], orient="row"),
        totals=pl.DataFrame(totals, schema=["sample", "agent", "utility"], orient="row"),
        actions="one",
        symmetric=False,
    )
    aim = what_to_collect(log, THREES, 2, rules=coterie.Rules(apart=[("a", "b")]))
    assert (aim.forming.is_itself, aim.forming.looks_beyond) == (False, False)
    assert aim.guessing() == (
        "These rounds can tell better what these teams are worth: let as many of their pairs as may be formed work "
        "together, and record how they do."
    )


def test_nothing_to_gain_has_no_smaller_limit():
    firm = rated_firm(0, FirmPlan(n_agents=8, n_coalitions=2, months=24, sizes=(3, 5)))
    aim = what_to_collect(firm.log(), firm.today, target_gap=1.0, noise="pairs")
    none = replace(aim, certificate=0.0)
    assert none.proven() == "Proven now, with 99 % confidence: nobody can gain by moving."
    assert none.sentence() == "Enough for a limit of 1: the log proves that nobody can gain."


def test_where_the_log_is_enough_nothing_is_guessed():
    firm = rated_firm(0, FirmPlan(n_agents=8, n_coalitions=2, months=24, sizes=(3, 5)))
    aim = what_to_collect(
        firm.log(), firm.today, 400, value="average", noise="pairs", today=firm.today, keep_sizes=True
    )
    assert (aim.is_worthwhile, aim.forming, aim.guessing()) == (True, None, "")


def test_a_mixed_strategy_has_no_teams_to_form(firm):
    mixed = coterie.Strategy.uniform(firm.log().actions, firm.truth.agents, firm.truth.coalitions)
    assert what_to_collect(firm.log(), mixed, 1, noise="pairs").forming is None
