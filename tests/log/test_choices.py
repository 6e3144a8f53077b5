"""What agents may do: all forms of `actions`, read against the data."""

import pytest

import coterie
from coterie.errors import InputError
from coterie.statistics.statistics import Statistics

MEMBERS = "sample,agent,coalition\n1,a,x\n1,a,y\n1,b,x\n2,a,x\n2,b,z\n2,c,z\n3,b,x\n"
PAIRS = "sample,coalition,agent,partner,utility\n1,x,a,b,0\n2,z,b,c,0.5\n"


@pytest.fixture(scope="module")
def folder(csv_log):
    return csv_log(memberships=MEMBERS, pairs=PAIRS)


@pytest.mark.parametrize(
    ("actions", "sets"),
    [
        (None, [["x"], ["z"], ["x", "y"]]),
        ("observed", [["x"], ["z"], ["x", "y"]]),
        ("observed-or-none", [[], ["x"], ["z"], ["x", "y"]]),
        ("one", "one"),
        ("any-or-none", "any-or-none"),
        ("up-to:2", "up-to:2"),
        ([["x"], ["y", "z"], []], [["x"], ["y", "z"], []]),
        (
            {"a": [["x"]], "b": [["x"], ["z"]], "c": [["z"], []]},
            {"a": [["x"]], "b": [["x"], ["z"]], "c": [["z"], []]},
        ),
        ("observed-own", {"a": [["x"], ["x", "y"]], "b": [["x"], ["z"]], "c": [["z"]]}),
    ],
)
def test_forms(folder, actions, sets):
    log = coterie.read_log(folder, actions=actions)
    assert log.action_sets == sets
    assert log.actions.n_agents == 3
    assert log.action_description == ("observed" if actions is None else actions)
    assert Statistics.of(log).setting.actions.to_json(log.agents, log.coalitions) == log.actions.to_json(
        log.agents, log.coalitions
    )


def test_may_stay_out(folder):
    assert coterie.read_log(folder, may_stay_out=True).action_sets == [[], ["x"], ["z"], ["x", "y"]]
    assert coterie.read_log(folder, may_stay_out=True).action_description == "observed-or-none"
    assert coterie.read_log(folder, actions="any", may_stay_out=True).actions.spaces[0].size == 8
    assert coterie.read_log(folder, actions=[["x"]], may_stay_out=True).action_sets == [["x"], []]
    own = coterie.read_log(folder, actions={"a": [["x"]], "b": [[]], "c": "one"}, may_stay_out=True)
    assert own.action_sets == {"a": [["x"], []], "b": [[]], "c": "one-or-none"}


def test_interchangeable_coalitions(folder):
    log = coterie.read_log(folder, pool_coalitions=True)
    assert log.coalitions == ("1", "2")  # never more than two at once
    assert log.action_sets == "any"  # somebody joined both
    more = coterie.read_log(folder, pool_coalitions=True, coalitions=5)
    assert more.coalitions == ("1", "2", "3", "4", "5")
    assert more.action_sets == "up-to:2"
    assert coterie.read_log(folder, pool_coalitions=True, coalitions=4, actions="one").action_sets == "one"


def test_more_coalitions_than_bits(csv_log):
    rows = "".join(f"{m},c{m},a,b,0\n{m},c{(m + 1) % 150},a,b,0\n" for m in range(150))
    log = coterie.read_log(csv_log(pairs=PAIRS.splitlines()[0] + "\n" + rows))
    assert len(log.action_sets) == 150
    assert all(len(chosen) == 2 for chosen in log.action_sets)
    assert ["c61", "c62"] in log.action_sets
    assert ["c0", "c149"] in log.action_sets


def test_nonsense(folder):
    with pytest.raises(InputError, match='expected "observed"'):
        coterie.read_log(folder, actions=3)
