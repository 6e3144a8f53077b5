"""Rounds that make the guess better: what they keep, and whom they bring together."""

import numpy as np
import pytest

import coterie
from coterie.collect import what_to_collect
from coterie.collect.aim import Situation, _Planner
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


def test_where_the_log_is_enough_nothing_is_guessed():
    firm = rated_firm(0, FirmPlan(n_agents=8, n_coalitions=2, months=24, sizes=(3, 5)))
    aim = what_to_collect(
        firm.log(), firm.today, 400, value="average", noise="pairs", today=firm.today, keep_sizes=True
    )
    assert (aim.is_worthwhile, aim.forming, aim.guessing()) == (True, None, "")


def test_a_mixed_strategy_has_no_teams_to_form(firm):
    mixed = coterie.Strategy.uniform(firm.log().actions, firm.truth.agents, firm.truth.coalitions)
    assert what_to_collect(firm.log(), mixed, 1, noise="pairs").forming is None
