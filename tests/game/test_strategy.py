import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from coterie import ActionSpaces, InputError, Strategy, read_strategy
from coterie.game.strategy import SHOWN_WIDTH, as_strategy
from random_games import random_space, random_strategy

NAMES = (["ada", "bob"], ["finance", "logistics"])


def drawn_strategy(seed, *, pure=False):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 4))
    spaces = ActionSpaces(tuple(random_space(rng, k) for _ in range(3)))
    return random_strategy(rng, spaces, pure=pure)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_marginals_equal_enumeration_and_json_keeps_everything(seed, pure):
    strategy = drawn_strategy(seed, pure=pure)
    marginals = sum(share * memberships for share, memberships in oracles.joint_actions(strategy))
    np.testing.assert_allclose(strategy.marginals, marginals, atol=1e-12)
    pairs = sum(
        share * memberships[:, :, None] * memberships[:, None, :]
        for share, memberships in oracles.joint_actions(strategy)
    )
    np.testing.assert_allclose(strategy.joint_marginals, pairs, atol=1e-12)
    again = Strategy.from_json(json.loads(json.dumps(strategy.to_json())), strategy.agents, strategy.coalitions)
    np.testing.assert_array_equal(again.sets, strategy.sets)
    np.testing.assert_allclose(again.probability, strategy.probability, rtol=1e-12)
    assert again.is_pure == strategy.is_pure
    assert again == strategy
    assert hash(again) == hash(strategy)


def test_pure_strategy_has_members_and_actions():
    strategy = Strategy.pure([[1, 0], [1, 1]], *NAMES)
    assert strategy.members() == {"finance": ["ada", "bob"], "logistics": ["bob"]}
    assert strategy.to_json() == {"kind": "pure", "actions": {"ada": ["finance"], "bob": ["finance", "logistics"]}}
    assert strategy.replace("bob", []).actions == {"ada": ["finance"], "bob": []}


def test_mixed_strategy_has_no_members():
    mixed = Strategy.mixed([([[1, 0], [0, 1]], [0.25, 0.75]), ([[1, 1]], [1])], *NAMES)
    assert mixed.actions["ada"][1] == {"coalitions": ["logistics"], "probability": 0.75}
    with pytest.raises(InputError, match="has no fixed members"):
        mixed.members()


def test_probability_zero_is_dropped():
    assert Strategy.mixed([([[1, 0], [0, 1]], [1, 0])]).is_pure


def test_sampling_follows_the_probabilities():
    strategy = drawn_strategy(3)
    drawn = strategy.sample(np.random.default_rng(0), 20_000)
    assert drawn.shape == (20_000, 3, strategy.n_coalitions)
    np.testing.assert_allclose(drawn.mean(axis=0), strategy.marginals, atol=0.02)


def test_the_same_generator_never_repeats_draws():
    strategy, rng = drawn_strategy(3), np.random.default_rng(0)
    assert (strategy.sample(rng, 100) != strategy.sample(rng, 100)).any()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("result.json", '{"strategy": {"kind": "pure", "actions": {"ada": ["finance"], "bob": []}}}'),
        ("part.json", '{"kind": "pure", "actions": {"ada": ["finance"], "bob": []}}'),
        ("teams.csv", "agent,coalition\nada,finance\nbob,\n"),
        ("bom.csv", "\ufeffagent,coalition\r\nada,finance\r\nbob,\r\n"),
        ("semicolon.csv", '"Coalition";"Note";"AGENT"\n"finance";"a;b";"ada"\n;;bob\n'),
        ("tab.tsv", "agent\tcoalition\nada\tfinance\nbob\t\n"),
        ("pipe", "agent,coalition\nada,finance\nbob,\n"),
        ("pipe-json", '\n {"actions": {"ada": ["finance"], "bob": []}}'),
    ],
)
def test_files_are_read(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_strategy(tmp_path / name, *NAMES).actions == {"ada": ["finance"], "bob": []}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", "[]", 'expected an object with "actions"'),
        ("a.json", '{"actions": {"ada": ["finance"]}}', "agent 'bob' has no action"),
        ("a.json", '{"actions": {"eve": []}}', "unknown agent in strategy 'eve'; known are: ada, bob"),
        ("a.json", '{"actions": {"ada": ["x"], "bob": []}}', "unknown team in strategy of ada 'x'"),
        ("a.json", '{"actions": {"ada": "finance", "bob": []}}', "strategy of ada: expected a list"),
        ("a.json", '{"actions": {"ada": [{"coalitions": []}], "bob": []}}', 'expected {"coalitions", "probability"}'),
        (
            "a.json",
            '{"actions": {"ada": [{"coalitions": [], "probability": 0.5}], "bob": []}}',
            "probabilities sum to 0.5, expected 1",
        ),
        (
            "a.json",
            '{"actions": {"ada": [{"coalitions": [], "probability": -0.5}], "bob": []}}',
            "-0.5 is negative",
        ),
        (
            "a.csv",
            "agent,note,mood\nada,finance,1\n",
            "called coalition (or team, group, area, ...); found: agent, note, mood",
        ),
        ("a.csv", "agent,coalition\nada,finance\n", "agent 'bob' has no action"),
        ("a.csv", "agent,coalition\n", "expected at least one row"),
        ("a.csv", "agent,coalition\nada,finance\nbob\n", "row 3: expected 2 fields, got 1"),
        ("a.csv", "agent,coalition\nada,finance,x\n", "row 2: expected 2 fields, got 3"),
        ("a.csv", "agent,coalition\nada,finance\nada,finance\n", "row 3: the same as an earlier row"),
        ("a.csv", "agent,coalition\nada,\nada,\n", "row 3: the same as an earlier row"),
        ("a.csv", "agent,coalition\nada,finance\nada,\n", "row 3: ada both joins a coalition and"),
        ("a.csv", "agent,coalition\nada,\nada,finance\n", "row 3: ada both joins a coalition and"),
        ("a.csv", "agent,coalition\n,finance\n", "row 2: the agent is empty"),
        ("a.csv", "agent,coalition\nada," + "x" * 200_000, "row 2: is not CSV"),
        ("a.json", "[" * 100_000, "too deep"),
        ("a.json", "9" * 5000, "is not JSON"),
        ("a.json", '{"actions": {"ada": [1], "bob": []}}', "unknown team in strategy of ada 1"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        read_strategy(tmp_path / name, *NAMES)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_strategy(tmp_path / "none.json", *NAMES)
    (tmp_path / "latin.csv").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        read_strategy(tmp_path / "latin.csv", *NAMES)


def test_bad_strategies_are_refused():
    with pytest.raises(InputError, match="one row per agent"):
        Strategy.pure([True])
    with pytest.raises(InputError, match="one probability per action"):
        Strategy.mixed([([[1]], [0.5, 0.5])])
    with pytest.raises(InputError, match="listed twice"):
        Strategy.mixed([([[1], [1]], [0.5, 0.5])])
    with pytest.raises(InputError, match="non-empty list of probabilities"):
        Strategy.mixed([([], [])])
    with pytest.raises(InputError, match="differ in the number of coalitions"):
        Strategy.mixed([([[1]], [1]), ([[1, 0]], [1])])


def test_names_with_line_breaks_are_read(tmp_path):
    agents, coalitions = ["a\nb", "c\u2028d"], ["x\r\ny"]
    (tmp_path / "teams.csv").write_bytes('agent,coalition\n"a\nb","x\r\ny"\nc\u2028d,\n'.encode())
    assert read_strategy(tmp_path / "teams.csv", agents, coalitions).actions == {"a\nb": ["x\r\ny"], "c\u2028d": []}


@pytest.mark.parametrize("probability", ["abc", "1", True, None, 10**400, float("nan"), [1]])
def test_probabilities_must_be_numbers(probability):
    actions = {"ada": [{"coalitions": ["finance"], "probability": probability}], "bob": []}
    with pytest.raises(InputError, match="strategy of ada: probability: expected a finite number, got"):
        Strategy.from_json({"actions": actions}, *NAMES)


@pytest.mark.parametrize("coalitions", [5, None, {"finance": 1}])
def test_coalitions_must_be_a_list(coalitions):
    actions = {"ada": [{"coalitions": coalitions, "probability": 1}], "bob": []}
    with pytest.raises(InputError, match="strategy of ada: expected a list of coalition names, got"):
        Strategy.from_json({"actions": actions}, *NAMES)


@pytest.mark.parametrize("entry", [2, 0.5, -1, np.nan, "x"])
def test_memberships_are_zero_or_one(entry):
    for make in (Strategy.pure, lambda sets: Strategy.mixed([(sets, [1])])):
        with pytest.raises(InputError, match="expected true or false, or 1 or 0"):
            make([[entry]])
    assert Strategy.pure([[1.0, 0.0]]).sets.tolist() == [[True, False]]


def test_agents_that_are_not_strings_are_refused():
    with pytest.raises(InputError, match=r"unknown agent in strategy 1; .*names are strings"):
        Strategy.from_json({"actions": {1: []}}, ["1"], ["a"])


def test_equal_strategies_have_the_same_names_and_distributions():
    one = Strategy.mixed([([[1, 0], [0, 1]], [0.25, 0.75]), ([[1, 1]], [1])], *NAMES)
    turned = Strategy.mixed([([[0, 1], [1, 0]], [0.75, 0.25]), ([[1, 1]], [1])], *NAMES)
    assert one == turned
    assert hash(one) == hash(turned)
    others = [
        Strategy.mixed([([[1, 0], [0, 1]], [0.75, 0.25]), ([[1, 1]], [1])], *NAMES),
        Strategy.mixed([([[1, 0], [1, 1]], [0.25, 0.75]), ([[1, 1]], [1])], *NAMES),
        Strategy.mixed([([[1, 0], [0, 1]], [0.25, 0.75]), ([[1, 1]], [1])]),
        Strategy.pure([[1, 0], [1, 1]], *NAMES),
    ]
    assert len({one, turned, *others}) == 5
    assert one != "one"
    teams = {"red": ["ada"], "blue": ["bob"]}
    ordered = Strategy.from_members(teams, ["ada", "bob"], ["red", "blue"])
    other = Strategy.from_members(teams, ["bob", "ada"], ["blue", "red"])
    assert ordered == other  # everybody does the same
    assert hash(ordered) == hash(other)


def test_repr_shows_who_is_where():
    assert (
        repr(Strategy.pure([[1, 0], [1, 0]], *NAMES)) == "Strategy(pure, 2 agents, 2 coalitions)\n  finance: ada, bob"
    )
    mixed = Strategy.mixed([([[1, 0], [0, 0]], [0.25, 0.75]), ([[1, 1]], [1])], *NAMES)
    assert repr(mixed).splitlines()[1:] == [
        "  finance: ada 0.25, bob", "  logistics: bob", "  no coalition: ada 0.75",
    ]  # fmt: skip


def test_repr_fits_on_a_screen():
    lines = repr(
        Strategy.pure(np.ones((300, 200)), [f"somebody with a long name {i}" for i in range(300)])
    ).splitlines()
    assert len(lines) == 14
    assert max(map(len, lines)) <= SHOWN_WIDTH
    assert lines[-1] == "  ... (200 coalitions with members)"
    assert repr(Strategy.pure(np.ones((9, 1)))).endswith("  1: 1, 2, 3, 4, 5, 6, 7, 8, ... (9)")


TEAMS = Strategy.pure([[1, 0], [1, 1]], *NAMES)


@pytest.mark.parametrize(
    "value",
    [
        TEAMS,
        {"ada": ["finance"], "bob": ["finance", "logistics"]},
        {"bob": {"logistics", "finance"}, "ada": ("finance",)},
        TEAMS.to_json(),
        {"strategy": TEAMS.to_json(), "format": "coterie.result/1"},
        [[1, 0], [1, 1]],
        np.array([[True, False], [True, True]]),
        "teams.csv",
        Path("result.json"),
    ],
    ids=["strategy", "dictionary", "sets", "part", "result", "matrix", "array", "csv", "json"],
)
def test_what_stands_for_a_strategy(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("teams.csv").write_text("agent,coalition\nada,finance\nbob,finance\nbob,logistics\n")
    Path("result.json").write_text(json.dumps({"strategy": TEAMS.to_json()}))
    assert as_strategy(value, *NAMES) == TEAMS


def test_an_agent_may_be_called_actions():
    found = as_strategy({"actions": ["x"], "strategy": []}, ["actions", "strategy"], ["x"])
    assert found.actions == {"actions": ["x"], "strategy": []}


@pytest.mark.parametrize("value", [None, 3, 2.5, object(), [["finance"], ["logistics"]], [[1], [0, 1]], [1, 0], b"x"])
def test_what_does_not_stand_for_a_strategy(value):
    with pytest.raises(InputError, match="strategy: expected a Strategy, a dictionary agent -> list of coalitions, a "):
        as_strategy(value, *NAMES)


def test_strategies_of_others_are_refused():
    with pytest.raises(InputError, match="the strategy's agents and coalitions are not the log's, or not in its order"):
        as_strategy(TEAMS, *NAMES[::-1], "the log's")
    with pytest.raises(InputError, match=r"2 rows \(agents\) and 2 columns \(coalitions\), got shape \(1, 2\)"):
        as_strategy([[1, 0]], *NAMES)
    with pytest.raises(InputError, match=r"none\.csv: cannot be read"):
        as_strategy("none.csv", *NAMES)
    with pytest.raises(InputError, match="strategy: expected the path of a file, got 5"):
        read_strategy(5, *NAMES)


def test_names_may_be_a_number():
    assert Strategy.pure([[1, 0]], 1, 2) == Strategy.pure([[1, 0]])
    assert Strategy.uniform(ActionSpaces.parse("any", 2, 2), 2, 2).coalitions == ("1", "2")
    with pytest.raises(InputError, match="coalitions: expected 2 names, got 3"):
        Strategy.pure([[1, 0]], coalitions=3)


def test_seeds_repeat():
    strategy = drawn_strategy(3)
    np.testing.assert_array_equal(strategy.sample(7, 50), strategy.sample(np.random.default_rng(7), 50))
