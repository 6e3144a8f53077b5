"""Results: objects in Python, and a file that gives them back."""

import json
from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie import Certificate, Coverage, Explanation, Game, InputError, Result, StableLearner, Strategy
from coterie.assumptions.check import QUESTIONS
from coterie.certificates.holdout import fixed
from coterie.certificates.pair_evidence import PairEvidence
from coterie.coverage import coverage, seen_by
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree
from coterie.learn.options import Option
from coterie.learn.result import Data, Estimate, Search
from coterie.learn.warnings import TOO_FEW
from coterie.simulate import Simulation
from coterie.simulate.policies import UniformOver


def result(*, mixed=False, **changes):
    count = np.full((2, 3, 3), 50.0) * ~np.eye(3, dtype=bool)
    game = Game(np.zeros((2, 3, 3)), "any")
    strategy = game.uniform() if mixed else game.strategy([[1, 0], [1, 0], [0, 1]])
    certificate = fixed(
        PairEvidence(PairEstimate.from_sums(SizeFree(), count, 0.1 * count, count, Bounds(-1, 1))),
        strategy,
        game.actions,
        0.1,
    )
    made = Result(
        strategy,
        certificate,
        {"paper": None, "holdout": certificate.gap},
        Estimate(0.0, None, dict.fromkeys(strategy.agents, 0.2)),
        replace(coverage(seen_by(UniformOver(strategy.sample(0, 1))), strategy, game.actions), samples=100),
        Search("pure", "converged", 3, 2, 0.1, "holdout certificate", certificate.gap, guess="agents"),
        Data("semi-bandit", True, "ignore", "pairs", (-1.0, 1.0), 300, "0" * 64, samples=100),
        ("beware",),
        version="0.1.0",
        seed=3,
    )
    return replace(made, **changes)


@pytest.mark.parametrize("mixed", [False, True])
def test_a_result_survives_its_file(tmp_path, mixed):
    made = result(mixed=mixed)
    made.save(tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["format"] == "coterie.result/1"
    assert data["coverage"]["c_size"] == "inf"
    assert (data["coalition_members"] is None) == mixed == ("marginals" in data)
    assert data["certificate"]["gap"] == max(data["certificate"]["per_agent"].values())
    again = Result.load(str(tmp_path / "result.json"))
    assert again == made == Result.from_json(made.to_json())
    assert again != replace(made, seed=4)
    assert again.strategy == made.strategy
    assert again.certificate.worst == made.certificate.worst
    assert again.certificates["paper"] is None
    assert (again.warnings, again.seed, again.explanations) == (("beware",), 3, {})
    assert again.to_json()["certificate"] == data["certificate"]
    assert isinstance(again.strategy, Strategy)


@pytest.fixture(scope="module", params=["semi-bandit", "bandit"])
def log(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "log"
    Simulation.draw(4, 3, 8, actions_per_agent=4).write_log(folder, 200, feedback=request.param)
    return coterie.read_log(folder)


def test_everything_in_it_is_an_object(log):
    learner = StableLearner(target_gap=np.float64(3), delta=0.02, random_state=np.int64(5)).fit(log)
    found = learner.result_
    assert isinstance(found.certificate, Certificate)
    assert isinstance(found.coverage, Coverage)
    assert isinstance(found.solver, Search)
    assert isinstance(found.data, Data)
    assert [check.assumption for check in found.checks] == list(QUESTIONS)
    assert 0 <= found.likely <= found.certificate.gap
    assert found.to_json()["likely_gap"] == found.likely
    assert found.to_json()["checks"][-1] == {
        "assumption": "adaptive",
        "verdict": "not tested",
        "text": found.checks[-1].text,
    }
    assert (found.data.samples, found.coverage.samples, found.data.feedback) == (200, 200, log.feedback)
    assert all(isinstance(one, Explanation) and one.agent == agent for agent, one in found.explanations.items())
    assert all(isinstance(one, Option) for one in found.options)
    assert (found.options[0].strategy, found.options[0].gap) == (found.strategy, found.certificate.gap)
    for agent, explanation in found.explanations.items():
        assert found.gain_intervals[agent] == (explanation.least, explanation.alternative.bound)
    assert (learner.coverage_, learner.certificate_) == (found.coverage, found.certificate)


@pytest.mark.parametrize("strategy", ["pure", "mixed"])
def test_learnt_results_come_back_as_they_were(log, tmp_path, strategy):
    found = StableLearner(strategy=strategy, certificate="paired").fit(log).result_
    found.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json") == found == Result.from_json(found.to_json())
    given = coterie.certify(log, found, certificate="paper")
    given.save(tmp_path / "given.json")
    assert Result.load(tmp_path / "given.json") == given != found
    assert given.strategy == found.strategy
    # An agent's first room and explanation are hers, whichever way the result came.
    assert repr(Result.load(tmp_path / "given.json")) == repr(given)


def test_unbounded_utilities_come_back_as_they_were(tmp_path):
    Simulation.draw(3, 2, 1).write_log(tmp_path / "log", 20)
    (tmp_path / "log" / "log.json").unlink()
    found = StableLearner().fit(coterie.read_log(tmp_path / "log", sigma=1.0)).result_
    assert found.range_gap == float("inf")
    found.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json") == found


def test_what_was_asked_is_recorded(log):
    asked = {"delta": 0.05, "certificate": "paired", "solver": "pure", "target_gap": 0.5}
    found = StableLearner(**asked, random_state=np.random.default_rng(1), progress=print).fit(log).result_
    assert asked.items() <= found.parameters.items()
    assert set(found.parameters) == set(StableLearner().get_params()) - {"progress", "stop", "rules", "today"}
    assert found.parameters["random_state"] == found.seed
    assert json.loads(json.dumps(found.parameters)) == found.parameters
    again = StableLearner(**found.parameters).fit(log).result_
    assert replace(again, solver=found.solver) == found
    given = coterie.certify(log, found.strategy, delta=0.2, fresh=True)
    wanted = {"certificate": "paired", "fresh": True, "delta": 0.2, "sizes": "ignore", "noise": "auto"}
    wanted["min_samples"] = 0
    assert given.parameters == wanted
    assert given.seed is None


def test_older_files_are_read(log, tmp_path):
    found = StableLearner().fit(log).result_
    data = found.to_json()
    del data["likely_gap"], data["left_out"], data["certificate"]["left_out"]
    assert Result.from_json(data).likely is None
    assert Result.from_json(data).left_out == ()
    for key in ("missing", "since", "until", "adaptive"):
        del data["data"][key]
    assert Result.from_json(data).data == found.data
    newer = ("value", "stability", "goal", "rules", "violations", "options", "today", "is_vacuous")
    for key in ("parameters", "gain_intervals", "explanations", "range_gap", "version", "checks", *newer):
        del data[key]
        again = Result.from_json(data)
        assert again.certificate == found.certificate
        assert again.coverage == found.coverage
    assert (again.parameters, again.explanations, again.range_gap, again.checks) == ({}, {}, None, ())
    assert Result.from_json(again.to_json()) == again


CONTRACT = {
    "format": "coterie.result/1",
    "version": "0.1.0",
    "seed": 0,
    "agents": ["ada", "bob"],
    "coalitions": ["finance", "logistics"],
    "strategy": {"kind": "pure", "actions": {"ada": ["finance"], "bob": ["finance", "logistics"]}},
    "coalition_members": {"finance": ["ada", "bob"], "logistics": ["bob"]},
    "certificate": {
        "method": "holdout",
        "delta": 0.01,
        "gap": 0.02,
        "worst": {"agent": "bob", "deviation": ["logistics"], "estimated_gain": -0.11, "uncertainty": 0.13},
        "per_agent": {"ada": 0.0, "bob": 0.02},
    },
    "certificates": {"paper": 1.3, "paired": 0.11, "holdout": 0.02},
    "estimate": {"gap": 0.0, "potential": 3.2, "utility": {"ada": 1.6, "bob": 1.6}},
    "coverage": {
        "samples": 30000,
        "pairs_unseen": 0,
        "assumption_1": True,
        "c_size": 3.4,
        "assumption_2": None,
        "c_act": None,
        "c_pair": 4.0,
    },
    "solver": {"method": "pure", "status": "converged", "starts": 32, "sweeps": 118, "seconds": 0.4},
    "data": {
        "feedback": "semi-bandit",
        "symmetric": True,
        "sizes": "ignore",
        "noise": "pairs",
        "utility_range": [-1, 1],
        "rows": 812034,
        "sha256": "...",
    },
    "warnings": ["utilities in coalition finance depend on its size: use --sizes aware"],
}
"""The file that the contract shows."""


def test_the_contract_s_file_is_read():
    found = Result.from_json(CONTRACT)
    assert found.coverage.is_enough
    assert (found.data.samples, found.coverage.c_pair, found.certificate.worst.bound) == (30000, 4.0, -0.11 + 0.13)
    assert found.sentence() == (
        "With 99 % confidence, nobody can gain more than 0.02 by moving; the tightest case is bob leaving finance."
    )
    written = found.to_json()
    assert all(written[part].items() >= CONTRACT[part].items() for part in ("estimate", "coverage", "solver"))
    assert Result.from_json(written) == found


def test_coverage_that_would_take_too_long_is_none():
    unknown = {"samples": 9, **dict.fromkeys(("pairs_unseen", "assumption_1", "c_size", "assumption_2", "c_act"))}
    found = Result.from_json(CONTRACT | {"coverage": unknown | {"c_pair": None}})
    assert (found.coverage, found.data.samples) == (None, 9)
    assert found.to_json()["coverage"] == unknown | {"c_pair": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", 'x.json: expected an object that begins {"format": "coterie.result/1"'),
        ("{}", 'add "format": "coterie.result/1"'),
        ('{"format": "other/1"}', "the format is 'other/1'"),
        ('{"format": "coterie.result/1"}', "is not a complete result file: agents is None"),
        (json.dumps(CONTRACT | {"agents": ["a", "a"]}), "occurs twice"),
        (json.dumps(CONTRACT | {"solver": {}}), "solver.method is missing"),
        (json.dumps(CONTRACT | {"explanations": []}), r"explanations: expected an object, got \[\]"),
        (json.dumps(CONTRACT | {"explanations": {"ada": [{}]}}), "explanations.ada.coalition is missing"),
        (json.dumps(CONTRACT | {"gain_intervals": {"ada": 3}}), "gain_intervals.ada: expected a list, got 3"),
        (json.dumps(CONTRACT | {"certificates": {"paper": "small"}}), "certificates.paper: expected a finite number"),
        (json.dumps(CONTRACT | {"data": CONTRACT["data"] | {"noise": "much"}}), 'noise: expected "pairs" or "samples"'),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=message):
        Result.load(tmp_path / "x.json")
    with pytest.raises(InputError, match="expected the path of a file, got 3"):
        Result.load(3)


def test_it_fits_on_a_screen(log):
    made = result()
    assert repr(made) == (
        f"{made.sentence()}\n"
        "Strategy(pure, 3 agents, 2 coalitions)\n"
        "  1: 1, 2\n"
        "  2: 3"
    )  # fmt: skip
    assert repr(replace(made, warnings=(TOO_FEW,))).startswith("There are too few data to certify anything. With 90 %")
    found = StableLearner().fit(log).result_
    for part in (found.certificate, found.coverage, *found.explanations.values()):
        assert "\n" not in repr(part)
        assert len(repr(part)) < 160
    assert repr(found.certificate).startswith(f"Certificate({found.certificate.method}, gap ")
    assert repr(found.coverage).startswith("Coverage(200 samples, ")


@pytest.mark.parametrize(
    ("deviation", "words"),
    [
        (("finance",), "leaving logistics"),
        (("finance", "logistics"), "staying where they are"),
        (("energy",), "moving to energy"),
        (("energy", "finance", "logistics"), "also moving to energy"),
    ],
)
def test_moves_in_words(deviation, words):
    worst = CONTRACT["certificate"]["worst"] | {"deviation": deviation}
    coalitions = [*CONTRACT["coalitions"], "energy"]
    found = Result.from_json(
        CONTRACT | {"coalitions": coalitions, "certificate": CONTRACT["certificate"] | {"worst": worst}}
    )
    assert found.sentence().endswith(f"the tightest case is bob {words}.")


def test_sentences_without_a_case():
    nobody = CONTRACT["certificate"] | {"worst": None, "gap": 0.0}
    assert Result.from_json(CONTRACT | {"certificate": nobody}).sentence().endswith("moving: nobody has a choice.")
    unbounded = CONTRACT["certificate"] | {"gap": "inf"}
    assert Result.from_json(CONTRACT | {"certificate": unbounded}).sentence().startswith("Nothing can be certified")


@pytest.mark.parametrize(
    ("movers", "words"),
    [
        ({"1": ("2",), "3": ("1",)}, "1 swapping with 3."),
        ({"1": ("2",), "2": ("2",)}, "1 moving together with 2."),
        ({"1": ("2",), "2": ("2",), "3": ("1",)}, "1 swapping, together with 2, with 3."),
    ],
)
def test_steps_of_several_in_words(movers, words):
    found = result()
    witness = replace(found.certificate.worst, agent="1", deviation=("2",), movers=movers)
    assert replace(found, certificate=replace(found.certificate, worst=witness)).sentence().endswith(words)
