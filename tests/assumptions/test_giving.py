"""Whether people add to their teammates' totals what they get themselves."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.assumptions.giving import giving
from coterie.assumptions.symmetry import TAKEN, symmetry_check
from coterie.learn.warnings import cautions
from coterie.log.checking import MANY_TWOS
from coterie.simulate import ClassPlan, school_class
from coterie.simulate.school import LIKING
from coterie.statistics.accumulate import TotalSums
from coterie.statistics.statistics import Statistics
from coterie.sums import Sums


def means(rng, n, *, alike):
    """What i gets from j, at [i, j]: parts of those who get and who give, and of the two."""
    gets = rng.normal(0, 1, n)
    gives = gets if alike else rng.normal(0, 1, n)
    both = rng.normal(0, 1, (n, n))
    return 10 + gets[:, None] + gives[None, :] + (both + both.T) / 2


def totals(rng, mu, terms, size=4, noise="own"):
    """Sums over the others at a table, drawn anew each term."""
    rows = []
    for term in range(terms):
        for table, team in enumerate(np.array_split(rng.permutation(len(mu)), len(mu) // size)):
            shared, pairs = rng.normal(0, 1.5), np.triu(rng.normal(0, 1.5, mu.shape), 1)
            for i in team:
                others = team[team != i]
                off = {
                    "own": rng.normal(0, 0.8),
                    "team": shared + rng.normal(0, 0.8),
                    "pairs": (pairs + pairs.T)[i, others].mean(),
                    "rare": rng.normal(0, 4) * (rng.random() < 0.05),
                }[noise]
                rows.append((term, f"table {table}", f"p{i:02}", round(2 * (mu[i, others].mean() + off)) / 2))
    frame = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "utility"])
    frame["utility"] *= frame.groupby(["sample", "coalition"]).agent.transform("count") - 1
    return frame


def statistics_of(frame, **options):
    log = coterie.Log.from_frames(
        memberships=frame[["sample", "agent", "coalition"]],
        totals=frame[["sample", "agent", "utility"]],
        utility_range=(-20, 40),
        neutral=10,
        pool_coalitions=True,
        **options,
    )
    return Statistics.of(log)


def sums_of(frame, setting):
    """The sums of a frame's totals, made without tables."""
    sample, agent = frame["sample"].to_numpy(), frame.agent.str.removeprefix("p").astype(int).to_numpy()
    coalition = frame.coalition.str.removeprefix("table ").astype(int).to_numpy()
    rows = (
        np.tile(sample, 2),
        np.zeros(2 * len(frame), dtype=int),
        np.tile(agent, 2),
        np.concatenate([np.full(len(frame), -1), coalition]),
        np.concatenate([frame.utility.to_numpy(), np.full(len(frame), np.nan)]),
    )
    of_size = frame.groupby(["sample", "coalition"]).size().value_counts()
    teams = Sums.collect(np.array([(0, size) for size in of_size.index]), of_size.to_numpy()[:, None])
    sums = TotalSums(replace(setting, shares=(1.0,)), unweighted=False)
    sums.add(*rows)
    (whole,) = sums.statistics([frame["sample"].nunique()], [teams])
    return whole


def test_who_gets_more_than_they_give_is_found():
    rng = np.random.default_rng(0)
    mu = means(rng, 16, alike=False)
    made = statistics_of(totals(rng, mu, 30))
    found = giving(made.whole)
    assert found is not None
    assert found.chance < 1e-6
    true = [(mu[i].sum() - mu[:, i].sum()) / 15 for i in range(16)]
    assert found.more == pytest.approx(true[found.agent], abs=0.8)
    check = symmetry_check(made)
    assert check.verdict == "broken"
    who = made.agents[found.agent]
    assert f"{who} seems to get {abs(found.more):.2g} " in check.text
    assert check.text.endswith("use symmetric=False")
    assert check.text in cautions(made, school_class(0, ClassPlan(n_agents=16)).today, [check])


@pytest.mark.parametrize("lower", [False, True])
def test_more_is_told_as_the_table_has_it(lower):
    rng = np.random.default_rng(0)
    mu = means(rng, 16, alike=False)
    check = symmetry_check(statistics_of(totals(rng, mu, 30), lower_is_better=lower))
    agent = int(re.search(r"p(\d\d) seems", check.text)[1])
    how = "more" if mu[agent].sum() > mu[:, agent].sum() else "less"
    assert f" {how} from each teammate than teammates get from " in check.text


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["own", "team", "pairs", "rare"])
def test_false_alarms_where_both_get_the_same(noise):
    """At most 1 in 100 by what is stated; also where totals of a team move together, or are seldom off."""
    alarms, rng = 0, np.random.default_rng(1)
    frame = totals(rng, means(rng, 12, alike=True), 16, 3, noise)
    made = statistics_of(frame)
    for name, array in made.whole.arrays().items():
        np.testing.assert_array_equal(sums_of(frame, made.setting).arrays()[name], array, err_msg=name)
    for _ in range(60):
        found = giving(sums_of(frame, made.setting))
        assert found is not None
        alarms += found.is_surprising(0.01)
        frame = totals(rng, means(rng, 12, alike=True), 16, 3, noise)
    assert alarms <= 1


def test_totals_that_nothing_tests_are_told_of():
    """One meeting of two that gave both the same was called a test."""
    records = school_class(3, ClassPlan(n_agents=24, terms=8, effects=replace(LIKING, symmetric=False)))
    made = Statistics.of(taken_for_symmetric(records.log()))
    made = replace(made, clues=replace(made.clues, agreed=1))
    assert giving(made.whole) is None
    check = symmetry_check(made)
    assert check.verdict == "not tested"
    assert check.text.startswith(TAKEN)
    assert check.text.endswith("if one may get more from the other than gives, use symmetric=False")
    assert check.text in cautions(made, records.today, [check])
    many = symmetry_check(replace(made, clues=replace(made.clues, agreed=MANY_TWOS)))
    assert (many.verdict, many.text) == (
        "no objection",
        "two people who were a team of their own got the same total each of 10 times",
    )


def taken_for_symmetric(log):
    return replace(log, options={**log.options, "symmetric": True})


def test_totals_of_a_symmetric_class_raise_no_objection():
    made = Statistics.of(school_class(0).log())
    check = symmetry_check(made)
    assert (check.verdict, check.text) == (
        "no objection",
        "people seem to add to others' totals what they get from them",
    )
