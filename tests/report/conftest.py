"""What the tests of reports share: what was learnt from a log with hostile names."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import coterie
from report_logs import LEAVER, PEOPLE, RATERS, TEAMS, few_ratings, made


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A result with rules, options and today, from a log whose names try to break out."""
    folder = made(tmp_path_factory.mktemp("hostile") / "log")
    today = {name: [TEAMS[i % 3]] for i, name in enumerate(PEOPLE)}
    learner = coterie.StableLearner(
        noise="pairs", rules=coterie.Rules(team_size="2:5", apart=[PEOPLE[:2]]), today=today, delta=0.1
    ).fit(folder)
    return SimpleNamespace(folder=folder, result=learner.result_, statistics=learner.statistics_)


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    """A result of too few ratings to certify anything, in which one person has left."""
    folder = few_ratings(tmp_path_factory.mktemp("few") / "log")
    staff = [name for name in RATERS if name != LEAVER]
    learner = coterie.StableLearner(rules=coterie.Rules(team_size="4:5", staff=staff)).fit(folder)
    result = replace(learner.result_, unit="stars")
    assert result.says_nothing
    return SimpleNamespace(folder=folder, result=result, statistics=learner.statistics_)
