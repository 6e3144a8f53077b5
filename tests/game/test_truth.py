"""truth.json, to and from games."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from coterie import Game, InputError
from coterie.game.truth import read_truth, truth_of, write_truth

RNG = np.random.default_rng(0)


def symmetric(*shape):
    values = np.triu(RNG.normal(size=shape), 1)
    return values + np.swapaxes(values, -1, -2)


def asymmetric(*shape):
    return RNG.normal(size=shape) * ~np.eye(shape[-1], dtype=bool)


TABLE = np.moveaxis(symmetric(2, 5, 4, 4), 1, -1)

GAMES = {
    "size-free": Game(symmetric(2, 4, 4)),
    "asymmetric": Game(asymmetric(2, 4, 4), "one", symmetric=False),
    "scaled": Game(symmetric(2, 4, 4), size_scale=RNG.random((2, 5)), size_shift=RNG.random((2, 5))),
    "table": Game(size_table=TABLE, coalitions=["x", "y"], agents=["a", "b", "c", "d"]),
    "own actions": Game(symmetric(2, 3, 3), {"1": [["1"], []], "2": "one", "3": "any-or-none"}),
    "interchangeable": Game(symmetric(4, 4), coalitions=3),
    "sparse": Game([csr_array(symmetric(4, 4)) for _ in range(2)]),
}


@pytest.mark.parametrize("kind", GAMES)
def test_round_trip(tmp_path, kind):
    game = GAMES[kind]
    write_truth(str(tmp_path / "truth.json"), game)
    again = read_truth(str(tmp_path / "truth.json"))
    assert read_truth(tmp_path / "truth.json").actions.size == again.actions.size
    assert (again.agents, again.coalitions) == (game.agents, game.coalitions)
    assert again.is_symmetric == game.is_symmetric
    assert again.depends_on_size == game.depends_on_size
    assert again.is_interchangeable == game.is_interchangeable == (kind == "interchangeable")
    assert again.actions.to_json(again.agents, again.coalitions) == game.actions.to_json(game.agents, game.coalitions)
    assert np.allclose(again.room_values(again.uniform()), game.room_values(game.uniform()), rtol=0, atol=1e-14)


def test_contract_form():
    content = truth_of(GAMES["size-free"], {"seed": 3})
    assert content["format"] == "coterie.truth/1"
    assert content["means"].shape == (2, 4, 4)
    assert content["size_scale"].tolist() == [[1] * 5] * 2
    assert content["size_shift"].tolist() == [[0] * 5] * 2
    assert content["simulation"] == {"seed": 3}
    assert content["interchangeable"] is False
    assert truth_of(GAMES["interchangeable"])["interchangeable"] is True
    assert "simulation" not in truth_of(GAMES["size-free"])


@pytest.mark.parametrize("kind", GAMES)
def test_symmetry_is_found_where_it_is_not_stated(tmp_path, kind):
    path = tmp_path / "truth.json"
    write_truth(path, GAMES[kind])
    content = json.loads(path.read_text())
    del content["symmetric"]
    path.write_text(json.dumps(content))
    assert read_truth(path).is_symmetric == GAMES[kind].is_symmetric


GOOD = {
    "format": "coterie.truth/1",
    "agents": ["a", "b"],
    "coalitions": ["x"],
    "actions": "any",
    "means": [[[0, 1], [1, 0]]],
    "size_scale": [[1, 1, 1]],
    "size_shift": [[0, 0, 0]],
}
MISSING = object()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "coterie.log/1", "the format is 'coterie.log/1', expected"),
        ("format", MISSING, 'add "format": "coterie.truth/1"'),
        ("agents", MISSING, "agents: expected a list of names"),
        ("agents", "ab", "agents: expected a list of names"),
        ("agents", [1, 2], "agents: expected a list of names"),
        ("agents", ["a", "a"], "occurs twice"),
        ("agents", ["a", ""], "name 2 is empty"),
        ("agents", ["a", "b", "c"], r"means: expected shape \(1, 3, 3\)"),
        ("coalitions", [], "coalitions: expected a list of names"),
        ("actions", MISSING, '"actions" is missing'),
        ("actions", "some", "actions: 'some' is not one of"),
        ("actions", [["y"]], "y"),
        ("actions", [], "action space is empty"),
        ("actions", None, "actions: expected a word or a list of lists"),
        ("actions", [1, 2], "actions: expected a list of coalition names"),
        ("actions", [None], "actions: expected a list of coalition names"),
        ("actions", {"a": [1], "b": "one"}, "agent 'a': actions: expected a list of coalition names"),
        ("actions", "up-to:²", "is not one of"),
        ("agents", ["a", "\ud800"], "is half of a character"),
        ("means", [[[False, True], [True, False]]], "means: expected numbers"),
        ("interchangeable", "yes", "interchangeable: expected true or false"),
        ("means", MISSING, '"means" is missing'),
        ("means", [[[0, 1], [1]]], "means: expected numbers in a rectangular array"),
        ("means", [[[0, "1"], [1, 0]]], "means: expected numbers"),
        ("means", [[[0, None], [1, 0]]], "means: expected numbers"),
        ("means", [[[0, 10**400], [1, 0]]], "a whole number of 401 digits"),
        ("means", [[[0, float("nan")], [1, 0]]], "expected a finite number"),
        ("means", [[[1, 1], [1, 1]]], "from themselves"),
        ("size_scale", MISSING, '"size_scale" is missing'),
        ("size_shift", [[0, 0]], r"size_shift: expected shape \(1, 3\)"),
        ("symmetric", "yes", "symmetric: expected true or false"),
        ("size_table", [], "size_table: expected alone"),
    ],
)
def test_malformed_files_are_refused_by_name(tmp_path, key, value, message):
    content = GOOD | {key: value}
    if value is MISSING:
        del content[key]
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as problem:
        read_truth(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert "\n" not in str(problem.value)


def test_a_false_promise_of_symmetry_is_refused(tmp_path):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(GOOD | {"symmetric": True, "means": [[[0, 1], [0.5, 0]]]}))
    with pytest.raises(InputError, match="value each other differently"):
        read_truth(path)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "3"])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "truth.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"truth\.json: "):
        read_truth(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_truth(tmp_path / "none.json")


def test_a_false_promise_of_interchangeable_coalitions_is_refused(tmp_path):
    path = tmp_path / "truth.json"
    content = GOOD | {"coalitions": ["x", "y"], "means": [[[0, 1], [1, 0]], [[0, 2], [2, 0]]], "interchangeable": True}
    content |= {"size_scale": [[1, 1, 1]] * 2, "size_shift": [[0, 0, 0]] * 2}
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="interchangeable: expected the same utilities in coalitions x and y"):
        read_truth(path)
