"""Sentences about results: one wording of each thing, and what they leave to people who have no command line."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from coterie import Result, Strategy
from coterie.certificates.certificate import Doubt, Witness
from coterie.game.rules import TeamSize
from coterie.learn.amounts import shown_worth, team_levels, what_levels_are
from coterie.learn.explanation import Explanation, Room, with_others
from coterie.learn.headline import against_today, expected_worth, who_changes
from coterie.learn.options import Likely, Option
from coterie.learn.promises import how_much, what_would_help
from coterie.learn.result import Data, Together
from coterie.learn.summary import (
    better_places,
    difference,
    for_readers,
    full_teams,
    gains_elsewhere,
    less_well_off,
    option_labels,
)

NOW = {"Ada": ["x"], "Bo": ["y"], "Cy": ["x"], "Di": ["y"]}


def data_with(**said):
    """Return what a result says of a log of ratings from 1 to 5."""
    return Data("semi-bandit", True, "ignore", "pairs", (1.0, 5.0), 10, "", **said)


def step(*movers):
    to = dict(movers)
    return Witness(movers[0][0], to[movers[0][0]], 0.5, 0.1, movers=to)


@pytest.mark.parametrize(
    ("movers", "words"),
    [
        ((("Ada", ("y",)), ("Bo", ("x",))), "swap with Bo"),
        ((("Ada", ("y",)), ("Cy", ("y",))), "move together with Cy"),
        ((("Ada", ("y",)), ("Cy", ("y",)), ("Bo", ("x",))), "swap, together with Cy, with Bo"),
    ],
)
def test_a_step_of_several_has_the_same_words_everywhere(movers, words):
    witness = step(*movers)
    shown = SimpleNamespace(strategy=SimpleNamespace(actions=NOW))
    assert Result.step(shown, witness) == with_others(witness, NOW) == words
    assert Result.moving(shown, witness) == words.replace("swap", "swapping").replace("move ", "moving ")
    verdict = Explanation("Ada", 1.0, (), witness).told(limits=False)[0]
    every = "both" if len(movers) == 2 else "all of them"
    assert f"to {words} (then in y), would suit {every}, by about +0.50 or more each." in verdict
    verdict = Explanation("Ada", 1.0, (), replace(witness, estimated_gain=-0.5)).told(limits=False)[0]
    assert f"(then in y), would not suit {every}: somebody would lose about 0.50." in verdict
    for next_to_nothing in (-0.004, 0.004):  # the sign of what is shown as 0 says nothing
        verdict = Explanation("Ada", 1.0, (), replace(witness, estimated_gain=next_to_nothing)).told(limits=False)[0]
        assert "(then in y), would bring next to nothing to one of them." in verdict
    sure = Explanation("Ada", 1.0, (), replace(witness, uncertainty=0.2), least=-0.3).told()[0]
    assert sure.endswith("or more each (surely -0.30 to +0.70 for whoever gets less by it).")


def test_whoever_was_met_elsewhere_counts_once():
    def room(coalition, *met):
        return Room(coalition, 1.0, 0.5, 0.0, 1.0, (), seen=False, met_elsewhere=met)

    both = Explanation("Ann", 1.0, (room("A", "Bob"), room("B", "Bob", "Cy")), None)
    assert both.unseen == "a guess: never seen there with any of them, but with 2 elsewhere"


def told(sets, *, today=None, pooled=False):
    agents = ("Ada", "Bo", "Cy", "Di")

    def made(rows):
        return Strategy.pure(np.eye(3, dtype=bool)[list(rows)], agents, ("x", "y", "z"))

    result = SimpleNamespace(
        strategy=made(sets[0]),
        today=None if today is None else SimpleNamespace(strategy=made(today)),
        data=SimpleNamespace(pool_coalitions=pooled),
        says_nothing=True, range_gap=1.0, options=(),
    )  # fmt: skip
    return result, made(sets[1])


@pytest.mark.parametrize(
    ("sets", "more", "words"),
    [
        (([0, 0, 1, 1], [0, 1, 1, 1]), {}, "teams of 3, 1"),
        (([0, 0, 1, 1], [0, 1, 0, 1]), {}, "Bo in y, Cy in x"),
        (([0, 0, 1, 1], [0, 1, 0, 1]), {"today": [0, 1, 0, 1]}, "keeps Ada and Cy, Bo and Di together"),
        (([0, 0, 1, 1], [1, 1, 0, 0]), {}, "4 people elsewhere"),
        (([0, 0, 1, 1], [1, 1, 0, 0]), {"pooled": True}, "the same teams"),
        (([0, 0, 1, 1], [0, 1, 1, 0]), {"pooled": True}, "Bo and Di elsewhere"),
    ],
)
def test_options_are_called_by_what_differs(sets, more, words):
    result, other = told(sets, **more)
    assert difference(result, other) == words
    option = Option("another", other, "paired", 1.0, 0.0, 0.0, None)
    labels = {"recommended": "recommended", "another": words, "fairest": "fairest", "surest": f"{words} (2)"}
    result.options = [replace(option, label=label) for label in labels]
    assert option_labels(result) == list(labels.values())  # nothing is sure, and no two are called the same


def test_what_would_help_names_one_person_once():
    worst = Witness("Ada", ("x",), 0.1, 1.0, doubts=tuple(Doubt(name, "x", 0.5) for name in ("Bo", "Cy", "Di")))
    result = SimpleNamespace(
        certificate=SimpleNamespace(gap=1.0, worst=worst), data=SimpleNamespace(pool_coalitions=True),
        says_nothing=False, together=Together(9, 2, (("Eve", "Fay", "x"), ("Eve", "Gus", "y"))),
    )  # fmt: skip
    assert what_would_help(result) == ["more outcomes of Ada with Bo, Cy, Di (uncertain by up to 0.5)"]
    result.says_nothing = True  # then the tightest case is anybody's
    assert what_would_help(result) == ["outcomes of those who were never seen together: Eve and Fay, Eve and Gus"]
    result.data.pool_coalitions = False
    assert what_would_help(result)[0].endswith("Eve and Fay in x, Eve and Gus in y")
    result.together = None
    assert what_would_help(result) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("utilities depend on size: use --sizes aware", "utilities depend on size"),
        ("23 rows have no number and were skipped; --blanks refuse refuses such rows", None),
        ("pairs are independent (--noise pairs) as declared", "pairs are independent as declared"),
        ("Ada - Bo: 3 to 4, about half", "Ada - Bo: 3 to 4, about half"),
    ],
)
def test_readers_of_a_page_have_no_options(text, left):
    assert for_readers(text) == (text.partition(";")[0] if left is None else left)


def test_what_is_expected_has_its_range():
    strategy = Strategy.pure(np.eye(2, dtype=bool)[[0, 0, 1, 1]], ("Ada", "Bo", "Cy", "Di"), ("x", "y"))
    option = Option("recommended", strategy, "paired", 1.0, 0.5, 0.0, None, expected_range=(0.2, 0.7))
    result = SimpleNamespace(
        options=(option,), strategy=strategy, value="average", unit="stars", rules=SimpleNamespace(staff=None),
        data=data_with(neutral=3.0, average=3.4), contradicted=(), today=None, by_lot=None,
    )  # fmt: skip
    assert expected_worth(result) == (
        "3.5 stars per teammate (with 80 % probability 3.2 to 3.7; 3 is the middle of the scale)"
    )
    result.contradicted = ("independence",)
    assert expected_worth(result) == "3.50 stars per teammate (3 is the middle of the scale)"


def placed(
    values, *, value="average", neutral=3.0, totals="", gains=None, goal="value", seen=True, likely=None, ranges=None
):
    """A result in which two teams are worth so much to their members: team -> person -> worth."""
    agents = tuple(name for team in values.values() for name in team)
    where = [list(values).index(team) for team in values for _ in values[team]]
    rooms = {
        name: (SimpleNamespace(coalition=team, value=worth, seen=seen),)
        for team, members in values.items()
        for name, worth in members.items()
    }
    alternatives = {name: SimpleNamespace(estimated_gain=gain, movers={}) for name, gain in (gains or {}).items()}
    return SimpleNamespace(
        strategy=Strategy.pure(np.eye(len(values), dtype=bool)[where], agents, tuple(values)),
        explanations={
            name: SimpleNamespace(rooms=rooms[name], alternative=alternatives.get(name), unseen="")
            for name in agents
        },
        estimate=SimpleNamespace(utility={name: rooms[name][0].value for name in agents}),
        data=data_with(neutral=neutral, totals=totals, average=2.5),
        rules=SimpleNamespace(staff=None),
        certificate=SimpleNamespace(newcomers=(), gap=1.0),
        value=value, goal=goal, unit="stars", contradicted=(), stability="swap",
        options=(
            SimpleNamespace(
                person_ranges=likely or {}, team_ranges=ranges or {}, elsewhere=None,
                strategy=Strategy.pure(np.eye(len(values), dtype=bool)[where], agents, tuple(values)),
            ),
        ),
    )  # fmt: skip


TWO = {"x": {"Ada": 1.0, "Bo": 0.5, "Cy": 0.0}, "y": {"Di": -0.5, "Eli": 0.25}, "z": {"Fay": 0.0}}


def test_what_is_expected_of_teams():
    assert team_levels(placed(TWO)) == {"x": "3.50", "y": "2.88"}  # nobody is with Fay
    assert team_levels(placed(TWO, value="total")) == {"x": "3.25", "y": "2.88"}  # 1.5 over six ordered pairs
    assert team_levels(placed(TWO, seen=False)) == {"x": "3.50, a guess", "y": "2.88, a guess"}
    ranged = team_levels(placed(TWO, ranges={"x": (0.25, 0.75)}))
    assert ranged == {"x": "3.5, likely 3.2 to 3.8", "y": "2.9"}
    assert what_levels_are(placed(TWO)) == "expected stars per teammate"


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize(
    ("totals", "scores"), [("team-scores", ("9.75", "2.88")), ("team-score-averages", ("3.25", "2.88"))]
)
def test_scores_of_teams_are_what_the_log_says(value, totals, scores):
    """Three pairs of 3.25 each and one of 2.875: added up or averaged as the log has it, whatever is asked for."""
    worth = {"x": {"Ada": 0.5, "Bo": 0.25, "Cy": 0.0}, "y": {"Di": -0.5, "Eli": 0.25}}  # averages over teammates
    times = {name: {who: one * (len(team) - 1) for who, one in team.items()} for name, team in worth.items()}
    result = placed(times if value == "total" else worth, value=value, totals=totals)
    assert tuple(team_levels(result).values()) == scores
    assert what_levels_are(result) == "expected score in stars"


def test_files_in_which_somebody_has_no_explanation():
    result = placed(TWO)
    del result.explanations["Ada"], result.estimate.utility["Ada"]
    assert team_levels(result) == {"y": "2.88"}
    assert less_well_off(result, advise=True).startswith("Least well off: Di")


def test_who_has_least_is_told_with_their_own_range_and_what_looks_after_them():
    result = placed(TWO, likely={"Di": (-0.8, -0.6), "Ada": (0.9, 1.1)})
    told = "Least well off: Di with 2.50 stars per teammate (with 80 % probability 2.20 to 2.50; worse than alone)."
    assert less_well_off(result, advise=False) == told  # what is sure of Di is above what is drawn, and in the range
    advised = "looks for teams in which whoever has least has more."
    assert less_well_off(result, advise=True) == f'{told} goal="fairness" {advised}'
    assert advised not in less_well_off(placed(TWO, goal="fairness"), advise=True)
    result.contradicted = ("independence",)
    assert "80 %" not in less_well_off(result, advise=False)
    result.data = replace(result.data, average=2.0, neutral=2.0)  # not the middle of 1 to 5: the average of the table
    assert "Di with 1.50 stars per teammate (below the average of the table)." in less_well_off(result, advise=False)
    in_all = less_well_off(placed(TWO, value="total"), advise=False)
    assert in_all == "Least well off: Di with -0.50 stars over all teammates (worse than alone)."
    better = {"x": {"Ada": 1.0, "Bo": 0.5, "Cy": -0.001}}  # what is shown as 3.00 is as good as alone
    assert less_well_off(placed(better), advise=True) == "Least well off: Cy with 3.00 stars per teammate."
    assert not less_well_off(placed({"x": {"Ada": 1.0, "Bo": 0.5}}), advise=True)


def test_one_rule_counts_who_could_get_a_better_place():
    result = placed(TWO, gains={"Di": 0.3, "Ada": -0.2, "Bo": 0.1, "Cy": 0.001})
    assert gains_elsewhere(result) == {"Di": 0.3, "Bo": 0.1}
    by = "by moving or by a swap that both gain from"
    told = f"By the best guess, 2 of 6 people could get a better place {by} (Di most, who would gain 0.30)."
    assert better_places(result) == told
    alone = better_places(placed(TWO, gains={"Di": 0.3}))
    assert alone == f"By the best guess, 1 of 6 people could get a better place {by} (Di, who would gain 0.30)."
    nobody = placed(TWO, gains={"Di": 0.03})  # of a range of 4
    assert better_places(nobody) == f"By the best guess, nobody could get a better place {by}."
    nobody.stability = "nash"
    assert better_places(nobody) == "By the best guess, nobody could get a better place by moving."
    nobody.certificate.gap = 0.0
    assert better_places(nobody) == ""  # the promise says so
    wide = placed(TWO, gains={"Di": 0.3}, likely=dict.fromkeys(("Ada", "Bo", "Cy", "Di"), (-5.0, 5.0)))
    assert "who would gain 0.30" in better_places(wide)  # never nothing


def test_people_have_as_many_digits_as_they_deserve():
    assert shown_worth(placed(TWO), 0.123) == "3.12"
    wide = placed(TWO, likely={"Ada": (-1.0, 1.0), "Bo": (0.0, 0.1), "Cy": (0.0, 2.5)})
    assert shown_worth(wide, 0.123) == "3.1"
    assert shown_worth(placed(TWO, value="total", likely={"Ada": (-1.0, 1.0)}), 0.123) == "+0.1"
    assert shown_worth(placed(TWO), np.inf) == "no limit"


def test_teams_at_their_largest_size_are_full():
    result = placed(TWO)
    result.rules.team_size = {"*": TeamSize(1, 3), "y": TeamSize(1, 4)}
    assert full_teams(result) == {"x": "which is full (3 of at most 3)"}


def test_whoever_is_alone_has_no_average_over_teammates():
    """Improvements were told per teammate though somebody had none, next to levels that leave them out."""
    for alone, words in ((False, "+0.5 stars per teammate"), (True, "+0.5 stars per person")):
        result = placed(TWO | {"z": {"Fay": -1.0} if alone else {"Fay": -1.0, "Gus": -1.0}})
        result.today, result.by_lot = None, Likely(0.5, (0.2, 0.7), 0.94)
        result.options[0].expected_value, result.options[0].expected_range = 0.1, None
        assert words in against_today(result)
        assert less_well_off(result, advise=False).startswith("Least well off: Fay alone (") == alone


def test_who_had_no_place_gets_one():
    """Others were counted too, where moves are counted whatever interchangeable teams are called."""
    changes = [SimpleNamespace(before=before) for before in (("1",), ("2",), ("3",), ())]
    result = SimpleNamespace(today=SimpleNamespace(moves=1, changes=changes))
    assert who_changes(result) == "1 person changes something, and 1 more gets a place"
    result.today.changes = changes[:3]
    assert who_changes(result) == "1 person changes something"


def test_how_many_could_do_better_as_guesses_err_is_told_first():
    result = placed(TWO)
    result.options[0].elsewhere = (0, 4)
    by = "by moving or by a swap that both gain from"
    likely = f"With 80 % probability, 0 to 4 of 6 people could get a better place {by}; by the best guess, "
    assert better_places(result) == f"{likely}nobody."
    some = placed(TWO, gains={"Di": 0.3})
    some.options[0].elsewhere = (0, 4)
    assert better_places(some) == f"{likely}1 (Di, who would gain 0.30)."
    result.options[0].elsewhere = (7, 9)  # newcomers are not counted
    assert better_places(result).startswith("With 80 % probability, 6 of 6 people could ")
    result.certificate.gap = 0.0
    assert better_places(result) == ""


def test_what_it_is_better_than():
    """Than today, or where nobody says what that is, than teams drawn by lot."""
    result = placed(TWO)
    result.today, result.by_lot = None, Likely(0.5, (0.2, 0.7), 0.94)
    result.options[0].expected_value, result.options[0].expected_range = 1.25 / 6, None
    # One of six is alone: 1.25 / 6 - 0.5 above 3.
    assert against_today(result) == (
        "Against teams of the same sizes drawn by lot (2.7 stars per person, whoever is alone counting as 3): +0.5 "
        "stars per person expected (with 80 % probability +0.2 to +0.7; an improvement with 94 % probability)."
    )
    before = Strategy.pure(np.eye(3, dtype=bool)[[0, 0, 1, 1, 2, 2]], result.strategy.agents, ("x", "y", "z"))
    result.today = SimpleNamespace(
        strategy=before, expected_improvement=0.5, range=(0.2, 0.7), chance=0.94, moves=1, changes=(), left=()
    )
    assert "Against today (2.7 stars per person): +0.5 stars per person" in against_today(result)  # all had others
    assert expected_worth(result).startswith("3.2 stars per person (")
    result.today.expected_improvement = 0.46  # 2.7 + 0.5 is not 3.3
    result.options[0].expected_value = 0.25
    assert "Against today (2.79 stars per person): +0.46 stars per person" in against_today(result)
    assert expected_worth(result).startswith("3.25 stars per person (")
    result.options[0].expected_value = 1.25 / 6
    result.today = None
    result.by_lot = Likely(-0.01, (-0.1, 0.1), 0.4)
    assert "improvement" not in against_today(result)
    result.by_lot = None
    assert against_today(result) == ""


def test_who_has_least_may_be_a_guess_and_that_is_said():
    result = placed(TWO, goal="fairness")
    result.certificate.newcomers = ("Di",)
    assert less_well_off(result, advise=True) == (
        "Least well off: Di with 2.50 stars per teammate (worse than alone; a guess: never seen with anybody there; of "
        "those who were, Cy with 3.00), and what is fairest hangs on that guess."
    )
    result.goal = "value"
    assert "hangs on that guess" not in less_well_off(result, advise=False)
    result.certificate.newcomers = tuple(result.strategy.agents)
    assert "; a guess: never seen with anybody there)." in less_well_off(result, advise=False)


@pytest.mark.parametrize(
    ("gap", "estimated", "told"),
    [
        (0.4, 0.0, ""),  # small enough to speak for itself
        (0.92, 0.1, "That is about a quarter of what the scale would let anybody gain at all; more rounds can make"),
        (1.99, 0.1, "That is about half of what the scale would let anybody gain at all; more rounds can make"),
        (1.99, 1.5, "That is about half of what the scale would let anybody gain at all."),  # it is expected
        (3.5, 0.1, "That is nearly all of what the scale would let anybody gain at all; more rounds"),
    ],
)
def test_how_much_a_promise_is_of_the_scale(gap, estimated, told):
    worst = SimpleNamespace(estimated_gain=estimated)
    certificate = SimpleNamespace(gap=gap, worst=worst, known_gap=None)
    result = SimpleNamespace(certificate=certificate, range_gap=4.0, says_nothing=False)
    assert how_much(result).startswith(told)
    assert bool(how_much(result)) == bool(told)
    certificate.known_gap = 0.1  # newcomers may gain anything
    assert how_much(result) == ""
