"""What the tests of reports share: what was learnt from a log with hostile names."""

from types import SimpleNamespace

import pytest

import coterie
from report_logs import PEOPLE, TEAMS, made


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A result with rules, options and today, from a log whose names try to break out."""
    folder = made(tmp_path_factory.mktemp("hostile") / "log")
    today = {name: [TEAMS[i % 3]] for i, name in enumerate(PEOPLE)}
    learner = coterie.StableLearner(
        noise="pairs", rules=coterie.Rules(team_size="2:5", apart=[PEOPLE[:2]]), today=today, delta=0.1
    ).fit(folder)
    return SimpleNamespace(folder=folder, result=learner.result_, statistics=learner.statistics_)
