import json

import numpy as np
import pytest

from coterie import Game, InputError, Strategy
from coterie.certificates.holdout import fixed
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree
from coterie.learn.result import Result


def result(*, mixed=False):
    count = np.full((2, 3, 3), 50.0) * ~np.eye(3, dtype=bool)
    game = Game(np.zeros((2, 3, 3)), "any")
    strategy = game.uniform() if mixed else game.strategy([[1, 0], [1, 0], [0, 1]])
    certificate = fixed(
        PairEvidence(PairEstimate.from_sums(SizeFree(), count, 0.1 * count, count, Bounds(-1, 1))),
        strategy,
        game.actions,
        0.1,
    )
    return Result(
        strategy,
        certificate,
        {"paper": None, "holdout": certificate.gap},
        {"gap": 0.0},
        {"samples": 100, "c_size": float("inf")},
        {"method": "pure"},
        {"feedback": "semi-bandit"},
        ("beware",),
        "0.1.0",
        3,
        {"explanations": {}},
    )


@pytest.mark.parametrize("mixed", [False, True])
def test_a_result_survives_its_file(tmp_path, mixed):
    made = result(mixed=mixed)
    made.save(tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["format"] == "coterie.result/1"
    assert data["coverage"]["c_size"] == "inf"
    assert (data["coalition_members"] is None) == mixed == ("marginals" in data)
    assert data["certificate"]["gap"] == max(data["certificate"]["per_agent"].values())
    again = Result.load(tmp_path / "result.json")
    assert again.strategy.actions == made.strategy.actions
    assert again.certificate.worst == made.certificate.worst
    assert again.certificates["paper"] is None
    assert (again.warnings, again.seed, again.extras) == (("beware",), 3, {"explanations": {}})
    assert again.to_json()["certificate"] == data["certificate"]
    assert isinstance(again.strategy, Strategy)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the format is 'list'"),
        ('{"format": "other/1"}', "the format is 'other/1'"),
        ('{"format": "coterie.result/1"}', "is not a complete result file"),
        ('{"format": "coterie.result/1", "agents": ["a", "a"], "coalitions": []}', "occurs twice"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=message):
        Result.load(tmp_path / "x.json")
