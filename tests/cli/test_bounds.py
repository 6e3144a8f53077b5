"""`coterie bounds`: the table, both directions, what it is compared with, and refusals."""

import json
import math

import numpy as np
import pytest

from coterie.certificates.certificate import Certificate
from coterie.cli.bounds import _known
from coterie.coverage import Coverage
from coterie.errors import InputError
from coterie.game.strategy import Strategy
from coterie.learn.result import Data, Estimate, Result, Search
from coterie.theory.bounds import Problem, all_bounds

SMALL = ("bounds", "--agents", 4, "--coalitions", 2)


@pytest.fixture
def run(run, monkeypatch):
    """Run the command line on a terminal of a hundred columns."""
    monkeypatch.setenv("COLUMNS", "100")
    return run


@pytest.fixture
def answer(run):
    def call(*words):
        code, shown, messages = run(*words, "--json")
        assert (code, messages) == (0, "")
        return json.loads(shown)

    return call


@pytest.fixture
def result(tmp_path):
    strategy = Strategy.pure(np.eye(3, dtype=bool)[[0, 0, 1, 1]])
    found = Result(
        strategy=strategy,
        certificate=Certificate("holdout", 0.05, 0.02, dict.fromkeys(strategy.agents, 0.02), None, {}, ("...",)),
        certificates={"paper": 1.3, "paired": 0.11, "holdout": 0.02},
        estimate=Estimate(0.0, None, {}),
        coverage=Coverage(3000, 2, False, math.inf, None, None, 4.0),
        solver=Search("given", "given", 0, 0, 0.0),
        data=Data("semi-bandit", True, "ignore", "pairs", (-1.0, 1.0), 3000, "...", samples=3000),
    )
    found.save(tmp_path / "result.json")
    return tmp_path / "result.json"


def said(shown):
    return " ".join(shown.split())


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_every_bound_is_listed_in_both_directions(answer, feedback):
    bounds = all_bounds(Problem(4, 2), feedback)
    after = answer(*SMALL, "--feedback", feedback, "--samples", 5000, "--no-simulate")
    assert after["simulated"] is None
    assert [(row["name"], row["status"], row["why"]) for row in after["bounds"]] == [
        (bound.name, bound.status, bound.why) for bound in bounds
    ]
    assert [row["gap"] for row in after["bounds"]] == [bound.gap(5000) for bound in bounds]
    needed = answer(*SMALL, "--feedback", feedback, "--gap", 0.2, "--no-simulate")
    assert [row["samples"] for row in needed["bounds"]] == [bound.samples(0.2) for bound in bounds]


def test_for_people(run):
    code, shown, messages = run(*SMALL, "--samples", 5000)
    assert (code, messages) == (0, "")
    text = said(shown)
    assert text.startswith("Bounds on the gap after 5,000 samples: 4 agents, 2 coalitions, semi-bandit log")
    assert "c_size = 3 (the paper's value for the best policy)" in text
    assert "c_pair = 1 (no policy does better)" in text
    assert "* no gap exceeds 6, whatever is done" in text
    gaps = {bound.name: bound.gap(5000) for bound in all_bounds(Problem(4, 2))}
    assert f"Theorem 3, Corollary 1 {gaps['Theorem 3, Corollary 1']:.4g}* as printed" in text
    assert f"Theorem 1 {gaps['Theorem 1']:.4g} proven" in text
    assert f"Pair coverage {gaps['Pair coverage']:.4g} corrected" in text
    assert "sizes covered do not suffice" in text
    assert "1152 for 576" in text
    assert "held-out certificate" in text
    assert "true gap" in text
    assert "Data certify" in text
    assert "With the coverage of this log, pair coverage gives" in text


def test_samples_for_people(run):
    text = said(run(*SMALL, "--gap", 0.2)[1])
    assert text.startswith("Samples that make the gap at most 0.2: 4 agents")
    assert "The held-out certificate certifies" in text
    assert "the smallest bound that holds (Pair coverage, paired) asks for" in text
    assert "no gap exceeds" not in text
    totals = said(run(*SMALL, "--feedback", "bandit", "--gap", 0.2, "--no-simulate")[1])
    assert "for 540 samples or more" in totals  # 8 * 9 log(2 * 9 / 0.01)
    assert "c_act = 0.0556 (the best that a policy is proven to have; as printed 0.00781)" in totals


@pytest.mark.slow
def test_a_gap_that_is_not_reached(run, monkeypatch):
    monkeypatch.setattr("coterie.cli.bounds.QUICK", 16_000)
    text = said(run(*SMALL, "--feedback", "bandit", "--gap", 1e-9)[1])
    assert "after 1,000 samples, the longest log that was tried; the smallest bound that holds (Action cov" in text


def test_decades_without_a_question(run, answer):
    text = said(run(*SMALL)[1])
    assert "gap at 1e+03 gap at 1e+05 gap at 1e+07 gap at 1e+09 status" in text
    assert "simulated" not in text
    assert list(answer(*SMALL)["bounds"][0]["gap"]) == ["1000", "100000", "10000000", "1000000000"]


def test_simulation_is_by_size_unless_asked(run, answer):
    assert answer(*SMALL, "--samples", 1000)["simulated"]["samples"] == 1000
    large = ("bounds", "--agents", 300, "--coalitions", 5, "--samples", 10**6)
    assert answer(*large)["simulated"] is None
    assert "--simulate does it" in run(*large)[1]
    one, two = (answer(*SMALL, "--samples", 500, "--seed", seed)["simulated"] for seed in (1, 2))
    assert one != two
    assert one == answer(*SMALL, "--samples", 500, "--seed", 1)["simulated"]


def test_options_reach_the_bounds(answer):
    found = answer(
        *SMALL, "--samples", 100, "--delta", 0.1, "--most-joined", 1, "--c-size", 6, "--c-pair", 16, "--slack", 0.5,
        "--asymmetric", "--constants", "corrected", "--no-simulate",
    )  # fmt: skip
    problem = Problem(4, 2, 0.1, 1, False, 6, 16, None, 0.5)
    expected = all_bounds(problem, "semi-bandit", "corrected")
    assert [row["gap"] for row in found["bounds"]] == [bound.gap(100) for bound in expected]
    assert found["coverage"]["c_pair"] == 16
    assert (
        answer(*SMALL, "--samples", 9, "--c-act", 0, "--feedback", "bandit", "--no-simulate")["bounds"][0]["gap"]
        == "inf"
    )


def test_only_what_is_printed(run):
    text = said(run(*SMALL, "--samples", 1000, "--constants", "paper")[1])
    assert "the bounds above are as printed, and prove nothing" in text


def test_a_result_file_gives_size_coverage_and_certificate(run, answer, result):
    found = answer("bounds", "--result", result, "--no-simulate")
    assert (found["agents"], found["coalitions"], found["samples"], found["delta"]) == (4, 3, 3000, 0.05)
    assert found["coverage"]["c_pair"] == 4
    assert found["coverage"]["c_size"] == "inf"
    assert found["result"] == {"gap": 0.02, "certificates": {"paper": 1.3, "paired": 0.11, "holdout": 0.02}}
    bounds = all_bounds(Problem(4, 3, 0.05, c_pair=4, c_size=float("inf")))
    assert found["bounds"][3]["gap"] == bounds[3].gap(3000)
    text = said(run("bounds", "--result", result, "--no-simulate")[1])
    assert "c_pair = 4 (as given)" in text
    assert "Certified in the result file: 0.02" in text
    assert "Data certify 0.02; the smallest bound that holds (Pair coverage, paired) is" in text
    assert "times as much" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bounds",), "expected --agents and --coalitions"),
        ((*SMALL, "--samples", 10, "--gap", 0.1), "--samples and --gap: expected one of them"),
        ((*SMALL, "--gap", 0), "gap: expected more than the slack"),
        ((*SMALL, "--gap", "nan"), "gap: expected a finite number"),
        ((*SMALL, "--samples", 0), "samples: expected at least 1"),
        ((*SMALL, "--delta", 2), "--delta: expected a number between 0 and 1"),
        ((*SMALL, "--feedback", "full"), "'full' is not one of 'semi-bandit', 'bandit'"),
        ((*SMALL, "--constants", "best"), "'best' is not one of 'both', 'paper', 'corrected'"),
        ((*SMALL, "--simulate"), "--simulate needs --samples or --gap"),
        ((*SMALL, "--samples", 100, "--seed", -1), "--seed: expected at least 0"),
        ((*SMALL, "--result", "nowhere.json"), "nowhere.json"),
        (("bounds", "--agents", 1, "--coalitions", 2), "agents: expected at least 2"),
    ],
)
def test_refusals(run, words, message):
    code, shown, messages = run(*words)
    assert (code, shown) == (2, "")
    assert message in messages


def test_parts_of_other_types_are_refused(run, result):
    """Every part of a result file is replaced by values of other types, two levels deep; none is a traceback."""
    whole = json.loads(result.read_text())
    places = [(key,) for key in whole]
    places += [(key, inner) for key, part in whole.items() if isinstance(part, dict) for inner in part]
    refused = []
    for place in places:
        for other in (None, "x", [[1]], {"a": 1}, 10**30, -1):
            changed = json.loads(json.dumps(whole))
            part = changed if len(place) == 1 else changed[place[0]]
            part[place[-1]] = other
            result.write_text(json.dumps(changed))
            try:
                known = _known(result)
                Problem(known.agents, known.coalitions, known.delta, None, known.symmetric, **known.coverage)
            except InputError as problem:
                refused.append(str(problem))
    assert len(refused) > len(places)
    result.write_text(json.dumps(whole | {"options": None}))
    code, _, messages = run("bounds", "--result", result, "--no-simulate")
    assert (code, messages) == (2, f"error: {result}: options: expected a list, got None\n")
