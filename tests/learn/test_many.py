"""Logs of many agents: what a learner makes of pairs that are listed, beside arrays over all pairs."""

import json

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import Result, StableLearner, TooLargeError
from coterie.cli import main
from coterie.estimate.pair_means import is_listed

LIMIT = "coterie.statistics.pair_statistics.DENSE_AGENTS"


def tables(n=24, k=4, samples=150, seed=0):
    """Return a log of agents of three kinds who like their own; rooms are drawn anew in each sample."""
    rng = np.random.default_rng(seed)
    kind, pairs, members = np.arange(n) % 3, [], []
    for sample in range(samples):
        room = rng.integers(k, size=n)
        members += [(str(sample), f"a{i:02}", f"c{l}") for i, l in enumerate(room)]
        one, two = np.nonzero(np.triu(room[:, None] == room, 1))
        worth = np.clip(np.where(kind[one] == kind[two], 0.4, -0.4) + 0.2 * rng.normal(size=len(one)), -1, 1)
        pairs += [
            (str(sample), f"c{room[i]}", f"a{i:02}", f"a{j:02}", u)
            for i, j, u in zip(one.tolist(), two.tolist(), worth.tolist(), strict=True)
        ]
    return {
        "memberships": pd.DataFrame(members, columns=["sample", "agent", "coalition"]),
        "pairs": pd.DataFrame(pairs, columns=["sample", "coalition", "agent", "partner", "utility"]),
    }


@pytest.fixture(scope="module")
def log():
    return coterie.Log.from_frames(**tables(), pool_coalitions=True, coalitions=4, symmetric=True)


def test_teams_and_certificates_are_those_of_few_agents(log, monkeypatch):
    dense = StableLearner(noise="pairs", any_size=True, time_limit=10).fit(log).result_
    monkeypatch.setattr(LIMIT, 3)
    assert is_listed(StableLearner()._statistics(log, 0).setting)
    listed = StableLearner(noise="pairs", any_size=True).fit(log).result_
    assert listed.strategy.partition() == dense.strategy.partition()
    assert listed.certificate.method == dense.certificate.method == "holdout"
    assert listed.certificate.gap == pytest.approx(dense.certificate.gap, abs=1e-9)
    assert listed.certificate.per_agent == pytest.approx(dense.certificate.per_agent, abs=1e-9)
    assert listed.range_gap == dense.range_gap
    assert listed.estimate.gap == 0
    assert listed.estimate.utility == pytest.approx(dense.estimate.utility, rel=0.2)
    assert not listed.explanations


@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_rooms_that_mean_something_and_own_actions(noise, monkeypatch):
    named = coterie.Log.from_frames(**tables(), actions="observed-own", symmetric=True)
    monkeypatch.setattr(LIMIT, 3)
    learner = StableLearner(noise=noise, goal="stability").fit(named)
    result = learner.result_
    assert 0 <= result.certificate.gap < result.range_gap
    assert learner.statistics_.setting.actions.contains(result.strategy.sets).all()
    known = coterie.certify(named, result.strategy, noise=noise)
    assert known.certificate.gap == pytest.approx(result.certificates["paired"])


def test_results_can_be_written_and_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(LIMIT, 3)
    for name, frame in tables(samples=30).items():
        (tmp_path / "log").mkdir(exist_ok=True)
        frame.to_csv(tmp_path / "log" / f"{name}.csv", index=False)
    options = ["--pool-coalitions", "--coalitions", "4", "--out", str(tmp_path / "result.json")]

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["coterie", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capsys.readouterr().err
        return capsys.readouterr().out

    assert "a00" in run("learn", tmp_path / "log", *options)
    result = Result.load(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["certificate"]["gap"] == result.certificate.gap
    assert "a00" in run("learn", tmp_path / "log", *options[:-1], tmp_path / "page.html")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"value": "average"}, "average"),
        ({"stability": "swap"}, "swap"),
        ({"goal": "fairness"}, "fairness"),
        ({"rules": {"team_size": {"*": {"min": 2}}}}, "rules"),
        ({"solver": "exact"}, "exact"),
    ],
)
def test_what_is_for_fewer_agents_is_refused(log, asked, named, monkeypatch):
    monkeypatch.setattr(LIMIT, 3)
    with pytest.raises(TooLargeError, match=f"{named}.*: not for 24 agents and 4 coalitions.*department"):
        StableLearner(noise="pairs", **asked).fit(log)


def test_beside_today(log, monkeypatch):
    monkeypatch.setattr(LIMIT, 3)
    today = {f"a{i:02}": [str(1 + i % 4)] for i in range(24)}
    result = StableLearner(noise="pairs", any_size=True, today=today).fit(log).result_
    assert result.today.moves > 0
    assert result.today.expected_improvement > 0


def test_mixed_strategies_are_refused(log, monkeypatch):
    monkeypatch.setattr(LIMIT, 3)
    with pytest.raises(TooLargeError, match="24 agents"):
        StableLearner(noise="pairs", strategy="mixed").fit(log)
    with pytest.raises(TooLargeError, match="24 agents"):
        StableLearner(noise="pairs", solver="paper").fit(log)


def test_commands_for_fewer_agents_say_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(LIMIT, 3)
    (tmp_path / "log").mkdir()
    for name, frame in tables(samples=20).items():
        frame.to_csv(tmp_path / "log" / f"{name}.csv", index=False)
    teams = tmp_path / "teams.csv"
    teams.write_text("agent,coalition\n" + "".join(f"a{i:02},c{i % 4}\n" for i in range(24)))
    others = tmp_path / "others.csv"
    others.write_text("agent,coalition\n" + "".join(f"a{i:02},c{i % 3}\n" for i in range(24)))
    folder = tmp_path / "log"
    for words, code in {
        ("certify", folder, teams): 0,
        ("inspect", folder): 0,
        ("certify", folder, teams, "--stability", "swap"): 2,
        ("compare", folder, teams, others): 2,
        ("coverage", folder, "--strategy", teams, "--collect", "5"): 2,
    }.items():
        monkeypatch.setattr("sys.argv", ["coterie", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code or 0) == code, (words, said)
        if code:
            assert "department" in said.err, (words, said)


@pytest.mark.parametrize("actions", ["one", "observed-own"])
def test_statistics_of_many_runs_add_up_to_those_of_the_whole_log(actions, tmp_path, monkeypatch):
    monkeypatch.setattr(LIMIT, 3)
    whole = tables()
    options = {"actions": actions, "symmetric": True}
    for number in range(4):  # each by a process of its own, wherever its samples are
        mine = {name: frame[frame["sample"].astype(int) % 4 == number] for name, frame in whole.items()}
        made = coterie.Statistics.for_learning(coterie.Log.from_frames(**mine, **options), noise="pairs", seed=7)
        made.save(tmp_path / f"part-{number}.npz")
    first, *others = (coterie.Statistics.load(tmp_path / f"part-{number}.npz") for number in (2, 0, 3, 1))
    for more in others:
        first += more
    at_once = coterie.Statistics.for_learning(coterie.Log.from_frames(**whole, **options), noise="pairs", seed=7)
    assert first.sha256 == at_once.sha256
    added, known = (
        StableLearner(noise="pairs", any_size=True, goal="stability").fit(one).result_ for one in (first, at_once)
    )
    assert added.strategy.sets.tolist() == known.strategy.sets.tolist()
    assert added.certificate.per_agent == known.certificate.per_agent
    assert added.certificate.gap < added.range_gap
