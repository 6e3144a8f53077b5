"""What users touch: the names that are offered, and refusals of anything else than what is expected."""

import ast
import inspect
import subprocess
import sys
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import InputError, checks
from coterie.coverage import coverage, seen_by
from coterie.game.strategy import as_strategy
from coterie.learn.learner import CHOICES
from coterie.log import options
from coterie.log.inspection import inspect_log
from coterie.simulate.policies import Independent
from coterie.solve.control import Control

SOURCE = Path(coterie.__file__)


def test_tab_completion_shows_what_is_offered():
    code = "import coterie; print(dir(coterie) == sorted(coterie.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
    with pytest.raises(AttributeError, match="no attribute 'StabelLearner'"):
        _ = coterie.StabelLearner


def test_no_name_is_that_of_a_room():
    """Importing a room puts it into the package: a name of the same spelling would be lost."""
    modules = {path.stem for path in SOURCE.parent.iterdir()}
    assert not modules & set(coterie.__all__)
    for name in coterie.__all__:
        assert not inspect.ismodule(getattr(coterie, name)), name


def names_in(tree):
    """Yield the names that an `if TYPE_CHECKING:` block imports, and those of functions that it hides."""
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (alias.name for line in node.body for alias in line.names)


def test_type_checkers_find_typos():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    assert set(names_in(tree)) == set(coterie._LATE)
    assert not [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
    (hidden,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING")
    assert ast.unparse(hidden.test) == "not TYPE_CHECKING"
    assert [node.name for node in hidden.body] == ["__getattr__"]


def test_choices_are_literal_types():
    for name, literal in CHOICES.items():
        assert inspect.signature(coterie.StableLearner).parameters[name].annotation == literal
        assert checks.one_of(getattr(coterie.StableLearner(), name), literal, name)


PAIRS = pd.DataFrame(
    [(s, c, "a", "b", 0.5 - s % 2) for s in range(4) for c in "xy"],
    columns=["sample", "coalition", "agent", "partner", "utility"],
)
TEAMS = {"a": ["x"], "b": ["y"]}
OTHERS = {"a": ["y"], "b": ["y"]}
NAMES = {"agents": ("a", "b"), "coalitions": ("x", "y")}
READING = {"sizes": "ignore", "noise": "pairs"}


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Objects to call and to hand in, and a folder with files."""
    folder = tmp_path_factory.mktemp("public")
    for name, factor in (("log", 1.0), ("later", 0.9)):
        (folder / name).mkdir()
        table = PAIRS.assign(sample=name + PAIRS["sample"].astype(str), utility=factor * PAIRS["utility"])
        table.to_csv(folder / name / "pairs.csv", index=False)
    (folder / "teams.csv").write_text("agent,coalition\na,x\nb,y\n")
    learner = coterie.StableLearner().fit(folder / "log")
    learner.statistics_.save(folder / "kept.npz")
    learner.result_.save(folder / "result.json")
    game = coterie.Game([[[0, 1], [1, 0]]] * 2, **NAMES)
    return {
        "folder": folder,
        "learner": learner,
        "statistics": learner.statistics_,
        "result": learner.result_,
        "content": learner.result_.to_json(),
        "strategy": learner.strategy_,
        "game": game,
        "spaces": game.actions,
    }


def of(name):
    """Stand for something that `known` has."""
    return itemgetter(name)


def learn(**parameters):
    return coterie.StableLearner(**parameters).fit("log")


def ask(log, assignment, change, **options):
    return coterie.what_if(log, assignment, change, **options)


def fit(log):
    return coterie.StableLearner().fit(log)


def partial_fit(log):
    return coterie.StableLearner().fit("log").partial_fit(log)


def merge(other):
    return coterie.StableLearner().merge(other)


CALLS = [
    (coterie.Game, {"means": [[[0, 1], [1, 0]]] * 2, "actions": "any", "symmetric": True, **NAMES}),
    ("game.strategy", {"actions": TEAMS}),
    ("game.values", {"strategy": TEAMS}),
    ("game.gap", {"strategy": TEAMS}),
    ("game.gain", {"strategy": TEAMS, "agent": "a", "action": ["x"]}),
    ("game.potential", {"strategy": TEAMS}),
    ("game.best_response", {"strategy": TEAMS, "agent": "a"}),
    ("game.is_nash_stable", {"strategy": TEAMS}),
    (coterie.Strategy.pure, {"memberships": [[1, 0], [0, 1]], **NAMES}),
    (coterie.Strategy.mixed, {"supports": [([[1, 0]], [1.0])] * 2, **NAMES}),
    (coterie.Strategy.uniform, {"spaces": of("spaces"), **NAMES}),
    (coterie.Strategy.from_json, {"data": {"actions": TEAMS}, **NAMES}),
    ("strategy.replace", {"agent": "a", "action": ["x"]}),
    ("strategy.sample", {"seed": 0, "count": 2}),
    (as_strategy, {"value": TEAMS, **NAMES}),
    (coterie.read_strategy, {"path": "teams.csv", **NAMES}),
    (coterie.Strategy.from_members, {"members": {"x": ["a"], "y": ["b"]}, **NAMES}),
    (coterie.additively_separable, {"values": [[0, 1], [2, 0]], "agents": ["a", "b"]}),
    (coterie.fractional, {"values": [[0, 1], [2, 0]], "agents": ["a", "b"], "divided_by": "size"}),
    (coterie.friends_and_enemies, {"friends": [[0, 1], [0, 0]], "agents": ["a", "b"], "attitude": "aversion"}),
    (coterie.Game.from_normal_form, {"payoffs": [[[1, 2]], [[3, 4]]], "agents": ["a", "b"]}),
    ("game.dynamics", {"start": TEAMS, "seed": 0, "stability": "nash", "rules": None}),
    ("game.welfare", {"strategy": TEAMS}),
    ("game.prices", {"stability": "nash", "rules": None}),
    (coterie.exactly_one, {"coalitions": 2}),
    (coterie.any_subset, {"coalitions": 2}),
    (coterie.explicit, {"sets": [["x"]], "coalitions": ["x", "y"]}),
    (coterie.UpTo, {"n_coalitions": 2, "most": 1}),
    (coterie.ExplicitSets, {"sets": [[1, 0]]}),
    (coterie.ActionSpaces, {"spaces": (coterie.UpTo(2, 1),)}),
    (coterie.ActionSpaces.parse, {"description": "any", **NAMES}),
    (coterie.read_log, {"path": "log", **dict.fromkeys(set(options.TABLE) - {"actions"})}),
    (coterie.Log.from_frames, {"pairs": PAIRS, "memberships": None}),
    (inspect_log, {"log": "log"}),
    (coterie.Statistics.of, {"log": "log", "seed": 0, "parts": (1.0,), **READING}),
    (coterie.Statistics.for_learning, {"log": "log", "seed": 0, "parts": (1.0,), **READING}),
    ("statistics.save", {"path": "again.npz"}),
    (coterie.Statistics.load, {"path": "kept.npz"}),
    (coverage, {"log": "log", "strategy": TEAMS, "actions": "any", "delta": 0.1, "sizes": "ignore"}),
    (
        coterie.certify,
        {"log": "log", "strategy": TEAMS, "certificate": "paired", "fresh": False, "delta": 0.1, **READING},
    ),
    (
        coterie.compare,
        {
            "log": "log",
            "one": TEAMS,
            "two": OTHERS,
            "labels": ("A", "B"),
            "fresh": False,
            "delta": 0.1,
            "min_samples": 0,
            "rules": None,
            "value": "total",
            "stability": "nash",
            "keep_sizes": False,
            "random_state": 0,
            **READING,
        },
    ),
    (ask, {"log": "log", "assignment": TEAMS, "change": "swap a, b", "fresh": False, "delta": 0.1, **READING}),
    (learn, coterie.StableLearner().get_params()),
    (fit, {"log": "log"}),
    (partial_fit, {"log": "later"}),
    (merge, {"other": of("learner")}),
    ("learner.explain", {"agent": "a"}),
    (coterie.explain, {"result": "result.json", "agent": "a"}),
    ("result.save", {"path": "again.json"}),
    (coterie.Result.load, {"path": "result.json"}),
    (coterie.Result.from_json, {"data": of("content")}),
    (Control, {"seed": 0, "time_limit": 1.0}),
]


def called(what, known):
    if not isinstance(what, str):
        return what
    owner, method = what.split(".")
    return getattr(known[owner], method)


def resolved(given, known):
    return {name: value(known) if isinstance(value, itemgetter) else value for name, value in given.items()}


@pytest.mark.parametrize(
    ("what", "given"),
    CALLS,
    ids=lambda value: getattr(value, "__qualname__", value) if not isinstance(value, dict) else "",
)
def test_anything_else_is_refused_in_words(known, monkeypatch, what, given):
    monkeypatch.chdir(known["folder"])
    function, fine = called(what, known), resolved(given, known)
    function(**fine)
    for name in fine:
        with pytest.raises(InputError) as refused:
            function(**{**fine, name: object()})
        assert str(refused.value), name


def test_a_strategy_may_come_in_many_ways(known, monkeypatch):
    monkeypatch.chdir(known["folder"])
    ways = [TEAMS, [[1, 0], [0, 1]], "teams.csv", Path("teams.csv"), {"actions": TEAMS}]
    given, log = as_strategy(TEAMS, **NAMES), coterie.read_log("log")
    expected = coverage(log, given)
    for way in [*ways, given]:
        assert coterie.certify(log, way).strategy == given
        assert coverage(log, way) == expected
        assert known["game"].gap(way) == known["game"].gap(given)
    for way in ("result.json", known["result"], known["content"]):
        assert coterie.certify(log, way).strategy == known["strategy"]
        with pytest.raises(InputError, match="learnt from this very log"):
            coterie.certify(log, way, certificate="holdout", fresh=True)


def test_a_log_may_come_in_many_ways(known, monkeypatch):
    monkeypatch.chdir(known["folder"])
    log = coterie.read_log("log")
    ways = ["log", Path("log"), log, coterie.Statistics.for_learning(log, parts=(1.0,))]
    results = [coterie.certify(way, TEAMS) for way in ways]
    assert all(found == results[0] for found in results)
    assert len({coverage(way, TEAMS) for way in ways}) == 1
    fitted = [coterie.StableLearner().fit(way) for way in [*ways[:3], coterie.Statistics.for_learning("log")]]
    assert len({learner.statistics_.sha256 for learner in fitted}) == 1
    with pytest.raises(InputError, match='these statistics were made with sizes="ignore", wanted is sizes="aware"'):
        coterie.certify(ways[-1], TEAMS, sizes="aware")


def test_a_seed_may_be_drawn(known, monkeypatch):
    monkeypatch.chdir(known["folder"])
    free = coterie.StableLearner(random_state=None).fit("log")
    assert free.statistics_.setting.seed == free.result_.seed == free.result_.parameters["random_state"]
    assert free.partial_fit("later").statistics_.n_samples == 8
    drawn = [coterie.StableLearner(random_state=np.random.default_rng(2)).fit("log").result_.seed for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_sets_outside_the_actions_count_as_allowed(known, monkeypatch):
    monkeypatch.chdir(known["folder"])
    both = {"a": ["x", "y"], "b": ["x"]}
    assert coverage("log", both, "one").profile == "pure"
    assert coverage("log", both) == coterie.certify("log", both).coverage
    with pytest.raises(InputError, match="a policy does not say what agents may do"):
        coverage(seen_by(Independent(known["spaces"]), **NAMES))
