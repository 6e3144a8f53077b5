"""Rules as people write them: options, files, tables of staff; and what is refused."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import InputError, Rules
from coterie.game.admissible import Admissible, moves_between
from coterie.game.rules import Pairing, Quota, TeamSize, as_rules, read_staff

# --- Words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size", "words"),
    [
        ("6:8", TeamSize(6, 8), "6 to 8"),
        (" 6 : 8 ", TeamSize(6, 8), "6 to 8"),
        ("6", TeamSize(6, 6), "6"),
        ("0", TeamSize(0, 0), "0"),
        (":8", TeamSize(0, 8), "0 to 8"),
        ("6:", TeamSize(6), "at least 6"),
        ("0,6:8", TeamSize(6, 8, or_empty=True), "0 or 6 to 8"),
        ("0, 6", TeamSize(6, 6, or_empty=True), "0 or 6"),
        ("0,:8", TeamSize(0, 8, or_empty=True), "0 to 8"),
        ("any", TeamSize(), "any"),
    ],
)
def test_sizes_of_teams(text, size, words):
    assert TeamSize.parse(text) == size
    assert str(size) == words
    assert Rules(team_size=text).team_size == {"*": size}
    assert Rules(team_size=f"R = D={text}").team_size == {"R = D": size}


@pytest.mark.parametrize("text", ["", ":", "0,", "0,:", "8:6", "6 8", "1,6:8", "6-", "six", "-1", "6:8:9", "6.5", "٦"])
def test_sizes_that_make_no_sense(text):
    with pytest.raises(InputError, match=r"^team_size: "):
        TeamSize.parse(text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, {"*": TeamSize(7, 7)}),
        (np.int64(7), {"*": TeamSize(7, 7)}),
        ((6, 8), {"*": TeamSize(6, 8)}),
        ((6, None), {"*": TeamSize(6)}),
        (TeamSize(6, 8), {"*": TeamSize(6, 8)}),
        ({"min": 6, "max": 8.0, "or_empty": True}, {"*": TeamSize(6, 8, or_empty=True)}),
        (["6:8", "Finance=5:9"], {"*": TeamSize(6, 8), "Finance": TeamSize(5, 9)}),
        (iter(["6:8"]), {"*": TeamSize(6, 8)}),
        ({"*": "6:8", "Finance": (5, 9), "Law": {"max": 3}}, {"*": (6, 8), "Finance": (5, 9), "Law": (0, 3)}),
        ({"min": "6:8", "max": {"min": 2}}, {"min": (6, 8), "max": (2, None)}),  # names of coalitions
        ([], {}),
        ({}, {}),
    ],
)
def test_sizes_in_python(given, expected):
    sizes = {name: TeamSize(*size) if isinstance(size, tuple) else size for name, size in expected.items()}
    assert Rules(team_size=given).team_size == sizes


def test_any_size_is_no_rule_about_sizes():
    assert not Rules(team_size="any").bounds_sizes
    assert Rules(team_size=["any", "Finance=:3"]).bounds_sizes
    assert Admissible.of(Rules(team_size="any"), ["Ada"], ["Finance"]).is_free


def test_people_together_and_apart():
    assert Pairing.parse("A,B@Finance") == Pairing(("A", "B"), "Finance")
    assert Pairing.parse(" Ada , Bo,Cy @ Finance ") == Pairing(("Ada", "Bo", "Cy"), "Finance")
    expected = (Pairing(("A", "B")), Pairing(("A", "C"), "Finance"))
    assert Rules(together=["A,B", "A,C@Finance"]).together == expected
    assert Rules(apart=[("A", "B"), {"agents": ["A", "C"], "coalition": "Finance"}]).apart == expected
    assert Rules(apart="A,B").apart == expected[:1]


def test_fixed_and_banned_places():
    assert Rules(fix=["Ada=Finance", "Ada = Law", "Ada=Law"]).fix == {"Ada": ("Finance", "Law")}
    assert Rules(ban={"Ada": "Finance", "Bo": ["Law"]}).ban == {"Ada": ("Finance",), "Bo": ("Law",)}


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("site=Paris>=1", Quota("site", "Paris", 1)),
        ("site=Paris<=2", Quota("site", "Paris", 0, 2)),
        ("site=Paris=2", Quota("site", "Paris", 2, 2)),
        ("site=Paris>=1@Finance", Quota("site", "Paris", 1, coalition="Finance")),
        (" home town = New York >= 3 @ Real Estate ", Quota("home town", "New York", 3, coalition="Real Estate")),
    ],
)
def test_quotas(text, quota):
    assert Quota.parse(text) == quota
    assert Rules(quota=text).quota == (quota,)


def test_labels_are_text_and_their_names_have_no_case():
    rules = Rules(
        labels={"Ada": {"Year": 2024, "site": None}}, quota=[{"label": "year", "equals": 2024, "at_least": 1}]
    )
    assert rules.labels == {"Ada": {"Year": "2024"}}
    admissible = Admissible.of(rules, ["Ada", "Bo"], ["Finance"])
    assert admissible.violations(np.array([[0], [1]], dtype=bool)) == ["at least 1 with year 2024 in Finance"]
    assert admissible.holds(np.array([[0], [0]], dtype=bool))
    assert admissible.holds(np.array([[1], [1]], dtype=bool))


def test_coalitions_per_person():
    assert Rules(per_person="1:2").per_person == (1, 2)
    assert Rules(per_person=" 1 ").per_person == (1, 1)
    assert Rules(per_person=[1, 2]).per_person == (1, 2)
    assert Rules(per_person=2).per_person == (2, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"team_size": "6-8-9"}, 'team_size: expected "6:8", "6", ":8", "0,6:8" or "any", got \'6-8-9\''),
        ({"team_size": "=6:8"}, "team_size: expected \"Finance=5:9\", got '=6:8'"),
        ({"team_size": ["6:8", "5:9"]}, "team_size of all: given twice, 6 to 8 and 5:9"),
        ({"team_size": (8, 6)}, "team_size: the largest, 6, is below the smallest, 8"),
        ({"team_size": 6.5}, "team_size: expected a whole number, got 6.5"),
        ({"team_size": True}, "team_size: expected a whole number, got True"),
        ({"team_size": None}, 'team_size: expected "6:8", (6, 8) or {"min": 6, "max": 8}, got None'),
        ({"team_size": {"Finance": {"least": 6}}}, 'team_size of Finance: expected "6:8"'),
        ({"per_person": "one"}, 'per_person: expected "1:2" or "1", got \'one\''),
        ({"per_person": (2, 1)}, "per_person: the largest number, 1, is below the least, 2"),
        ({"per_person": True}, "per_person: expected a whole number, got True"),
        ({"per_person": {}}, "per_person: expected the least and the largest number, got {}"),
        ({"together": ["Ada"]}, "together, apart: expected at least two people, got Ada"),
        ({"together": ["Ada,Bo@"]}, "together, apart: the coalition: expected a name, got ''"),
        ({"together": ["Ada,,Bo"]}, "together, apart: name 2 is empty"),
        ({"apart": ["Ada,Ada"]}, "together, apart: the name 'Ada' occurs twice"),
        ({"apart": [{"agents": 2}]}, "apart: expected a list of names, got 2"),
        ({"apart": [{"people": ["Ada", "Bo"]}]}, 'apart: expected "Ada,Bo" or {"agents": ["Ada", "Bo"]}'),
        ({"apart": [{"agents": ["Ada", "Bo"], "coalition": 1}]}, "the coalition: expected a name, got 1"),
        ({"apart": 3}, "apart: expected a list, got 3"),
        ({"fix": ["Ada"]}, "fix: expected \"Ada=Finance\", got 'Ada'"),
        ({"fix": ["=Finance"]}, "fix: expected \"Ada=Finance\", got '=Finance'"),
        ({"ban": {"Ada": 3}}, "ban of Ada: expected a list of names, got 3"),
        ({"staff": 5}, "staff: expected a list of names, got 5"),
        ({"staff": []}, "staff: expected at least one name"),
        ({"staff": ["Ada", "Ada"]}, "staff: the name 'Ada' occurs twice"),
        ({"labels": {"Ada": "Paris"}}, "labels: expected an object person -> label -> value"),
        ({"quota": ["site>=1"]}, 'quota: expected "site=Paris>=1" or "site=Paris<=2@Finance", got \'site>=1\''),
        ({"quota": [{"label": "site", "equals": "Paris"}]}, "quota of site Paris: expected at_least (from 1 up) or at"),
        ({"quota": [Quota("site", "Paris", 1), 3]}, 'quota: expected "site=Paris>=1" or an object, got 3'),
        (
            {"quota": [{"label": "site", "equals": "Paris", "at_least": 3, "at_most": 2}]},
            "quota: at most 2 is below at",
        ),
        ({"left_behind": "maybe"}, 'left_behind: expected "strict" or "free", got \'maybe\''),
        ({"max_moves": -1}, "max_moves: expected at least 0, got -1"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(InputError) as problem:
        Rules(**given)
    assert message in str(problem.value)


def test_values_of_labels_that_nobody_has():
    rules = Rules(labels={"Ada": {"site": "Paris"}, "Bo": {"site": "Rome"}}, quota=["site=Pairs<=1"])
    with pytest.raises(InputError, match="nobody has site 'Pairs'; known are: Paris, Rome"):
        Admissible.of(rules, ["Ada", "Bo"], ["1"])


# --- Adding and files --------------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
SIZES = st.builds(
    lambda least, more, or_empty: TeamSize(least, None if more is None else least + more, or_empty),
    st.integers(0, 9),
    st.none() | st.integers(0, 9),
    st.booleans(),
)
PAIRINGS = st.lists(
    st.builds(Pairing, st.lists(NAMES, min_size=2, max_size=3, unique=True).map(tuple), st.none() | NAMES), max_size=3
)
PLACES = st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=2, unique=True).map(tuple), max_size=2)
QUOTAS = st.builds(
    lambda label, equals, least, more, where: Quota(
        label, equals, least, None if more is None else least + more, where
    ),
    NAMES,
    NAMES,
    st.integers(1, 5),
    st.none() | st.integers(0, 5),
    st.just("*") | NAMES,
)
RULES = st.builds(
    Rules,
    team_size=st.dictionaries(st.sampled_from(["*", "min", "max"]) | NAMES, SIZES, max_size=3),
    per_person=st.none() | st.tuples(st.integers(0, 2), st.integers(2, 4)),
    together=PAIRINGS,
    apart=PAIRINGS,
    fix=PLACES,
    ban=PLACES,
    staff=st.none() | st.lists(NAMES, min_size=1, max_size=4, unique=True),
    labels=st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, max_size=2), max_size=3),
    quota=st.lists(QUOTAS, max_size=2),
    left_behind=st.sampled_from([None, "strict", "free"]),
    max_moves=st.none() | st.integers(0, 9),
)


@settings(max_examples=150, deadline=None)
@given(RULES)
def test_rules_come_back_from_their_file(rules):
    written = json.loads(json.dumps(rules.to_json()))
    assert Rules.from_json(written) == rules
    assert as_rules(written) == rules
    assert bool(rules) == (written != {"format": "coterie.rules/1"})


@settings(max_examples=100, deadline=None)
@given(RULES, RULES, RULES)
def test_adding_rules(one, two, three):
    assert one + Rules() == Rules() + one
    assert (one + two) + three == one + (two + three)
    both = one + two
    assert both.max_moves == (one.max_moves if two.max_moves is None else two.max_moves)
    assert set(both.apart) == {*one.apart, *two.apart}
    for agent in {*one.fix, *two.fix}:
        assert set(both.fix[agent]) == {*one.fix.get(agent, ()), *two.fix.get(agent, ())}
    assert both.team_size == {**one.team_size, **two.team_size}


def test_what_is_said_last_counts():
    file = Rules(team_size=["6:8", "Law=3"], left_behind="free", staff=["Ada"], labels={"Ada": {"site": "Paris"}})
    more = Rules(team_size="5:9", left_behind="strict", labels={"Ada": {"year": "1"}})
    added = file + more
    assert added.team_size == {"*": TeamSize(5, 9), "Law": TeamSize(3, 3)}
    assert added.left_behind == "strict"
    assert added.staff == ("Ada",)
    assert added.labels == {"Ada": {"site": "Paris", "year": "1"}}
    assert (file + Rules()).left_behind == "free"
    with pytest.raises(TypeError):
        file + {}


def test_the_example_of_the_format(tmp_path):
    content = {
        "format": "coterie.rules/1",
        "team_size": {"*": {"min": 6, "max": 8, "or_empty": True}, "Finance": {"min": 5, "max": 9}},
        "per_person": [1, 2],
        "together": [{"agents": ["A", "B"]}],
        "apart": [{"agents": ["A", "C"], "coalition": "Finance"}],
        "fix": {"A": ["Finance"]},
        "ban": {"A": ["Energy"]},
        "staff": ["A", "B"],
        "labels": {"A": {"site": "Paris"}},
        "quota": [{"label": "site", "equals": "Paris", "at_least": 1, "coalition": "*"}],
        "left_behind": "strict",
    }
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(content))
    options = Rules(
        team_size=["0,6:8", "Finance=5:9"],
        per_person="1:2",
        together="A,B",
        apart="A,C@Finance",
        fix="A=Finance",
        ban="A=Energy",
        staff=["A", "B"],
        labels={"A": {"site": "Paris"}},
        quota="site=Paris>=1",
        left_behind="strict",
    )
    assert as_rules(path) == as_rules(str(path)) == Rules.load(path) == options
    assert as_rules(None) == Rules()
    assert as_rules(options) is options


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", 'expected an object that begins {"format": "coterie.rules/1", got []'),
        ('{"team_size": {"*": {"min": 4}}}', 'add "format": "coterie.rules/1", behind its first {'),
        ('{"format": "coterie.log/1"}', "the format is 'coterie.log/1', expected \"coterie.rules/1\""),
        ('{"format": "coterie.rules/1", "size": 3}', "unknown key 'size'; expected some of apart, ban, fix"),
        ('{"format": "coterie.rules/1", "team_size": "x"}', "team_size: expected"),
        ("{", "is not JSON"),
    ],
)
def test_files_that_are_refused_are_named(tmp_path, content, message):
    path = tmp_path / "rules.json"
    path.write_text(content)
    with pytest.raises(InputError) as problem:
        Rules.load(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert message in str(problem.value)


def test_what_are_no_rules():
    with pytest.raises(InputError, match="rules: expected Rules, an object or the path of a rules file, got 3"):
        as_rules(3)
    with pytest.raises(InputError, match="cannot be read"):
        as_rules("nowhere.json")


def test_sizes_as_they_are():
    kept = Rules(team_size=["6:8", "Law=3"]).keeping_sizes({"Finance": iter(["Ada", "Bo"]), "Energy": []})
    sizes = {"*": "6:8", "Law": "3", "Finance": "2", "Energy": "0"}
    assert kept.team_size == {name: TeamSize.parse(size) for name, size in sizes.items()}


# --- Tables of staff ----------------------------------------------------------------------------------------


def staff(tmp_path, text):
    path = tmp_path / "staff.csv"
    path.write_text(text, encoding="utf-8")
    return read_staff(path)


@pytest.mark.parametrize(
    "text",
    [
        "agent,site,Year\nAda,Paris,1\nBo,,2\n01,Rome,\nCy,,\n",
        "Site;AGENT;year\nParis;Ada;1\n;Bo;2\nRome;01;\n;Cy;\n",
        '\ufeffagent\tsite\tyear\n"Ada"\tParis\t1\n\nBo\t\t2\n01\tRome\t\nCy\t\t\n',
    ],
)
def test_staff_with_labels(tmp_path, text):
    rules = staff(tmp_path, text)
    assert rules.staff == ("Ada", "Bo", "01", "Cy")
    found = {agent: {name.lower(): value for name, value in own.items()} for agent, own in rules.labels.items()}
    assert found == {"Ada": {"site": "Paris", "year": "1"}, "Bo": {"year": "2"}, "01": {"site": "Rome"}}


def test_staff_alone(tmp_path):
    assert staff(tmp_path, "agent\nAda\nBo\n") == Rules(staff=["Ada", "Bo"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one that says who, called agent (or who, person, name, ...); found: none"),
        ("nickname,site\nAda,Paris\n", "called agent (or who, person, name, ...); found: nickname, site"),
        ("agent,Agent\nAda,Bo\n", "'agent' and 'Agent' could each say who; call the right one agent"),
        ("agent,site,Site\nAda,Paris,Rome\n", "expected columns that differ, found: agent, site, Site"),
        ("agent,site\n", "expected at least one row below the header"),
        ("agent,site\nAda,Paris\n,Rome\n", "row 3: the agent is empty"),
        ("agent,site\nAda,Paris\nBo,Rome\nAda,Rome\n", "row 4: Ada was there before"),
        ("agent,site\nAda\n", "row 2: expected 2 fields, got 1"),
        ('agent,site\nAda,"Paris\n', "row 2: is not CSV"),
    ],
)
def test_bad_tables_of_staff(tmp_path, text, message):
    with pytest.raises(InputError) as problem:
        staff(tmp_path, text)
    assert str(problem.value).startswith(f"{tmp_path / 'staff.csv'}: ")
    assert message in str(problem.value)


def test_staff_must_be_a_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_staff(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="staff: expected the path of a file, got 3"):
        read_staff(3)


# --- Moves ----------------------------------------------------------------------------------------------------


def fewest_moves(today, profile, staff):
    """Over all renamings, the obvious way."""
    rows = [i for i in range(len(today)) if staff[i] and today[i].any()]
    return min(
        sum((profile[i][list(order)] != today[i]).any() for i in rows) for order in permutations(range(today.shape[1]))
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 8), st.integers(1, 5), st.sampled_from(["one", "one or none", "any"]), st.integers(0, 2**32 - 1))
def test_moves_between_interchangeable_teams_are_fewest(n, k, kind, seed):
    rng = np.random.default_rng(seed)
    single = np.eye(k, dtype=bool)
    today, profile = (single[rng.integers(k, size=n)] for _ in range(2))
    if kind == "one or none":
        today, profile = today & (rng.random((n, 1)) < 0.8), profile & (rng.random((n, 1)) < 0.8)
    if kind == "any":
        today, profile = rng.random((2, n, k)) < 0.5
    staff = rng.random(n) < 0.9
    assert moves_between(today, profile, staff, interchangeable=True) == fewest_moves(today, profile, staff)
    named = ((today != profile).any(axis=1) & today.any(axis=1) & staff).sum()
    assert moves_between(today, profile, staff) == named
    order = rng.permutation(k)
    assert moves_between(today, today[:, order], interchangeable=True) == 0


def test_moves_with_many_coalitions_are_attained():
    rng = np.random.default_rng(0)
    today, profile = rng.random((2, 10, 8)) < 0.3
    found = moves_between(today, profile, interchangeable=True)
    assert found <= moves_between(today, profile)
    assert moves_between(today, today[:, ::-1], interchangeable=True) == 0


def test_moves_are_counted_and_limited():
    today = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], dtype=bool)
    swapped = np.array([[0, 1], [0, 1], [1, 0], [1, 0]], dtype=bool)
    people, rooms = ["Ada", "Bo", "Cy", "Di"], ["1", "2"]
    named = Admissible.of(Rules(max_moves=1), people, rooms, today=today)
    assert named.moves(swapped) == 3
    assert named.violations(swapped) == ["at most 1 person moves (it is 3)"]
    pooled = Admissible.of(Rules(max_moves=0), people, rooms, today=today, interchangeable=True)
    assert pooled.moves(swapped) == 0
    assert pooled.holds(swapped)
    with pytest.raises(InputError, match="who is where today"):
        Admissible.of(Rules(), people, rooms).moves(swapped)


def test_another_table_than_a_list_of_staff(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("Name,Area,Stars\n" + "".join(f"P{i % 4},Energy,3\n" for i in range(200)), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_staff(path)
    assert str(refused.value) == (
        f"{path}: does not look like a list of staff: 4 people in 200 rows; expected one row for each person who is to "
        "be assigned, with a column such as Name and perhaps others that label them, such as Site"
    )


def test_interchangeable_teams_are_in_the_order_of_their_members():
    rules = Admissible.of(Rules(), ("a", "b", "c", "d"), ("1", "2", "3"), interchangeable=True)
    drawn = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 1], [1, 0, 0]], dtype=bool)
    assert rules.plainly_named(drawn).astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
    named = Admissible.of(Rules(), ("a", "b", "c", "d"), ("1", "2", "3"))
    assert (named.plainly_named(drawn) == drawn).all()


def test_people_who_are_named_in_a_sentence():
    with pytest.raises(InputError, match=r"expected at least two people, got Ben und Finn; write Ben,Finn$"):
        Rules(apart=["Ben und Finn"])


def test_rules_are_told_with_names_in_full():
    rules = Rules(
        team_size={"*": "4", "Law": "2:3"},
        per_person="1:2",
        together="Ada,Bo,Cy@Law",
        apart="Ada,Di",
        fix="Ada=Law",
        ban={"Bo": ["Tax", "Energy"], "Cy": []},
        staff=["Ada", "Bo", "Cy", "Di"],
        labels={"Ada": {"site": "Paris"}},
        quota=["site=Paris<=1", "site=Paris>=1@Law"],
        max_moves=1,
    )
    assert rules.told(["Ada", "Bo", "Cy", "Di", "Ed"], ["Energy", "Law", "Tax"]) == [
        "Energy and Tax of 4 each",
        "Law of 2 to 3",
        "teams per person: 1 to 2",
        "Ada, Bo and Cy together in Law",
        "Ada and Di apart",
        "Ada is in Law",
        "Bo is not in Tax",
        "Bo is not in Energy",
        "at most 1 with site Paris in each team",
        "at least 1 with site Paris in Law",
        "at most 1 person moves",
        "not on the staff: Ed",
    ]
    assert rules.teams == ("Law", "Tax", "Energy")
    other = rules.with_teams({"Law": "1", "Tax": "2"})
    assert other.teams == ("1", "2", "Energy")
    assert other.with_teams({"1": "Law", "2": "Tax"}) == rules
    assert Rules().told(["Ada"], ["Law"]) == []
