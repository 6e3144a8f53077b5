"""Changes on top of an assignment, in words."""

import pytest

from coterie import InputError, Strategy
from coterie.game.edits import changed

AGENTS = ("Ada", "Bo", "Cy", "Smith, Jo", "O'Brien", "a: b", "Tim and Tom", "swap shop")
COALITIONS = ("Finance", "Law", "R+D", "Tax-Law", "Big Deals", "North, South")
BEFORE = {"Ada": ["Finance"], "Bo": ["Law"], "Cy": ["Finance", "Law"], "Smith, Jo": ["R+D"], "O'Brien": [], "a: b": [],
          "Tim and Tom": ["Tax-Law"], "swap shop": ["Law"]}  # fmt: skip


def after(*changes):
    strategy = Strategy.pure([[room in BEFORE[agent] for room in COALITIONS] for agent in AGENTS], AGENTS, COALITIONS)
    found, notes = changed(strategy, changes)
    return {agent: rooms for agent, rooms in found.actions.items() if rooms != BEFORE[agent]}, notes


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (["Ada: Law"], {"Ada": ["Law"]}),
        (["Ada:Finance+Law"], {"Ada": ["Finance", "Law"]}),
        (["Ada: Finance, Law"], {"Ada": ["Finance", "Law"]}),
        (["Ada: +Law"], {"Ada": ["Finance", "Law"]}),
        (["Ada: + Law"], {"Ada": ["Finance", "Law"]}),
        (["Cy: -Law"], {"Cy": ["Finance"]}),
        (["Cy: -Law -Finance"], {"Cy": []}),
        (["Cy: -Law, -Finance"], {"Cy": []}),
        (["Cy: -Law, Finance"], {"Cy": []}),
        (["Ada: +Law -Finance"], {"Ada": ["Law"]}),
        (["Ada: -Finance, +Law"], {"Ada": ["Law"]}),
        (["Ada: nothing"], {"Ada": []}),
        (["Ada: R+D"], {"Ada": ["R+D"]}),
        (["Ada: 'R+D' + Law"], {"Ada": ["Law", "R+D"]}),
        (['Ada: +"R+D"'], {"Ada": ["Finance", "R+D"]}),
        (["Ada: Tax-Law"], {"Ada": ["Tax-Law"]}),
        (["Ada: +Tax-Law"], {"Ada": ["Finance", "Tax-Law"]}),
        (["Ada: Big Deals + Law"], {"Ada": ["Law", "Big Deals"]}),
        (["Ada: North, South"], {"Ada": ["North, South"]}),
        (['Ada: "North, South", Law'], {"Ada": ["Law", "North, South"]}),
        (['"Ada": "Law"'], {"Ada": ["Law"]}),
        (["Smith, Jo: Law"], {"Smith, Jo": ["Law"]}),
        (["O'Brien: Law"], {"O'Brien": ["Law"]}),
        (["'O''Brien': Law"], {"O'Brien": ["Law"]}),
        (["a: b: Law"], {"a: b": ["Law"]}),
        (["swap shop: Finance"], {"swap shop": ["Finance"]}),
        (["swap Ada, Bo"], {"Ada": ["Law"], "Bo": ["Finance"]}),
        (["Swap Ada and Bo"], {"Ada": ["Law"], "Bo": ["Finance"]}),
        (["swap Smith, Jo, Ada"], {"Smith, Jo": ["Finance"], "Ada": ["R+D"]}),
        (["swap 'Smith, Jo' and Ada"], {"Smith, Jo": ["Finance"], "Ada": ["R+D"]}),
        (["swap Tim and Tom and Ada"], {"Tim and Tom": ["Finance"], "Ada": ["Tax-Law"]}),
        (["swap O'Brien, Bo"], {"O'Brien": ["Law"], "Bo": []}),
        (["swap a: b, Bo"], {"a: b": ["Law"], "Bo": []}),
        (["Ada: Law", "swap Ada, Cy"], {"Ada": ["Finance", "Law"], "Cy": ["Law"]}),
        ([{"Ada": ["Law"], "Bo": []}], {"Ada": ["Law"], "Bo": []}),
        (["Ada : Law"], {"Ada": ["Law"]}),
        ([" ada :  LAW "], {"Ada": ["Law"]}),
        (["ADA: finance + law"], {"Ada": ["Finance", "Law"]}),
        (["ada: + big  deals"], {"Ada": ["Finance", "Big Deals"]}),
        (["ada: north, south"], {"Ada": ["North, South"]}),
        (["smith, jo : Law"], {"Smith, Jo": ["Law"]}),
        (["SWAP ada, BO"], {"Ada": ["Law"], "Bo": ["Finance"]}),
        (["swap smith, jo, ada"], {"Smith, Jo": ["Finance"], "Ada": ["R+D"]}),
    ],
)  # fmt: skip
def test_words_and_what_they_change(changes, expected):
    found, notes = after(*changes)
    assert found == expected
    assert notes == []


@pytest.mark.parametrize("change", ["Ada: Finance", "Ada: +Finance", "Ada: -Law", "swap Bo, swap shop"])
def test_what_is_so_already_is_said(change):
    found, (note,) = after(change)
    assert found == {}
    assert "changes nothing" in note
    assert change in note


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("Adda: Law", "unknown person 'Adda'; do you mean Ada?"),
        ("Zoe: Law", "unknown person 'Zoe'; known are: Ada, Bo, Cy"),
        ("Ada: Lau", "unknown team 'Lau'; do you mean Law?"),
        ("Ada: Law + Mars", "unknown team 'Mars'"),
        ("Ada: Law, Bo: Finance", 'each is an argument of its own: "Ada: Law" "Bo: Finance"'),
        ("Ada: Law; Bo: Finance", 'each is an argument of its own: "Ada: Law" "Bo: Finance"'),
        ("Ada: +Law, Mars: Finance", "unknown team 'Mars: Finance'"),
        ("Ada:", 'Say "nothing" for nowhere'),
        ("Ada: Law +", "the name of a team is missing"),
        ("Ada: Law -Finance", "say either all teams"),
        ("Ada: +Law -Law", "Law is both joined and left"),
        ("swap Ada", "expected two people"),
        ("swap Ada, Zed", "unknown person 'Zed'"),
        ("swap Ada, Ada", "two different people"),
        ("Ada to Law", 'expected "Ada: Finance"'),
        ("", 'expected "Ada: Finance"'),
        (7, 'expected "Ada: Finance"'),
        ({"Zoe": ["Law"]}, "unknown person in a change 'Zoe'"),
        ({"Ada": ["Mars"]}, "Mars"),
    ],
)
def test_refusals_help(change, words):
    with pytest.raises(InputError) as refused:
        after(change)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("Ad: fin", {}),
        ("ad: big", {"Ada": ["Big Deals"]}),
        ("Smith: Law + Tax", {"Smith, Jo": ["Law", "Tax-Law"]}),
        ("swap Tim, Ada", {"Tim and Tom": ["Finance"], "Ada": ["Tax-Law"]}),
    ],
)
def test_beginnings_of_names_will_do(change, expected):
    assert after(change)[0] == expected


def test_beginnings_that_could_be_several_are_refused():
    strategy = Strategy.pure([[1], [0], [0], [0]], ("Ann Lee", "Anna Poe", "Bo", "Ida Montgomery"), ("x",))
    assert changed(strategy, ["ann: nothing"])[0].actions["Ann Lee"] == []  # her first word, and not Anna's
    with pytest.raises(InputError, match=r"unknown person 'An'; do you mean Ann Lee or Anna Poe\?"):
        changed(strategy, ["An: x"])
    with pytest.raises(InputError, match=r"unknown person 'Idda'; do you mean Ida Montgomery\?"):
        changed(strategy, ["Idda: x"])  # a first name that is misspelled
    with pytest.raises(InputError, match="unknown person 'lee'"):
        changed(strategy, ["swap lee, Bo"])


def test_two_readings_are_refused():
    names = ("a", "a: b", "x", "y", "x, y", "y, x")
    strategy = Strategy.pure([[1]] * 6, names, ("b: c",))
    with pytest.raises(InputError, match="quotation marks"):
        changed(strategy, ["a: b: c"])
    with pytest.raises(InputError, match="quotation marks"):
        changed(strategy, ["swap x, y, x"])
    assert changed(strategy, ["'a': b: c"])[0] == strategy
    with pytest.raises(InputError, match="no change"):
        changed(strategy, [])


def test_spellings_that_could_be_two_people_are_refused():
    strategy = Strategy.pure([[True, False], [False, True], [True, False]], ("Bo", "bo", "Cy"), ("1", "2"))
    assert changed(strategy, ["bo: 1"])[0].actions["bo"] == ["1"]
    with pytest.raises(InputError, match=r"unknown person 'BO'; do you mean"):
        changed(strategy, ["BO: 1"])
    with pytest.raises(InputError, match=r"unknown team 'B'.* teams that are interchangeable have numbers"):
        changed(strategy, ["Cy : B"])
