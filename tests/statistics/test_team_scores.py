"""Scores of teams: sums against dense matrices, three ways to write them, and certificates that hold."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.certificates import evidence_from, paired
from coterie.certificates.holdout import fixed
from coterie.coverage import coverage
from coterie.errors import InputError, TooLargeError
from coterie.game.actions import ActionSpaces
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.team_scores import ScoreSums
from coterie.statistics.total_statistics import TotalStatistics, edge_index
from coterie.sums import Sums

N, K = 4, 2
PAIRS = list(combinations(range(N), 2))


def setting_of(noise, *, pooled=False):
    agents, coalitions = tuple("abcd"), tuple("12")
    return Setting("bandit", agents, coalitions, True, (-1.0, 1.0), 0.0, None, pooled, "one", "one", "ignore",
                   noise, (1.0,), 0, of_teams=True)  # fmt: skip


def drawn(rng, means, samples, *, shared):
    """Scores of random teams: rows (sample, agent or -1, coalition, score); noise of a sample is shared or not."""
    rows = []
    for m in range(samples):
        room = rng.integers(0, K, N)
        luck = rng.choice([-0.5, 0.5])
        for l in range(K):
            team = np.flatnonzero(room == l)
            rows += [(m, i, l, np.nan) for i in team]
            noise = [luck if shared else rng.choice([-0.5, 0.5]) for _ in combinations(team, 2)]
            score = sum(means[l, i, j] for i, j in combinations(team, 2)) + sum(noise)
            rows.append((m, -1, l, score))
    sample, agent, coalition, utility = (np.array(column) for column in zip(*rows, strict=True))
    return sample, agent, coalition, utility


def statistics_of(setting, rows):
    sums = ScoreSums(setting)
    sample, agent, coalition, utility = rows
    order = np.random.default_rng(0).permutation(len(sample))
    sums.add(sample[order], np.zeros(len(order), dtype=int), agent[order], coalition[order], utility[order])
    nobody = np.zeros(N, dtype=np.int64)
    no_teams = Sums(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1), dtype=np.int64))
    (joint,) = sums.result()
    return TotalStatistics(setting, int(sample.max()) + 1, nobody, no_teams, {}, joint)


def random_means(rng):
    means = np.zeros((K, N, N))
    for l in range(K):
        for i, j in PAIRS:
            means[l, i, j] = means[l, j, i] = rng.uniform(-0.5, 0.5)
    return means


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("pooled", [False, True])
def test_sums_are_those_of_dense_rows(noise, pooled):
    rng = np.random.default_rng(3)
    rows = drawn(rng, random_means(rng), 30, shared=False)
    setting = setting_of(noise, pooled=pooled)
    edges = [tuple(edge) for edge in edge_index(setting).tolist()]
    gram, moment, squares = np.zeros((len(edges), len(edges))), np.zeros(len(edges)), 0.0
    sample, agent, coalition, utility = rows
    for m in range(30):
        teams = {l: agent[(sample == m) & (coalition == l) & (agent >= 0)] for l in range(K)}
        scored = {l: team for l, team in teams.items() if len(team) > 1}
        for l, team in scored.items():
            z = np.zeros(len(edges))
            for i, j in combinations(sorted(team.tolist()), 2):
                z[edges.index((0 if pooled else l, i, j))] = 1
            weight = 1 / z.sum() if noise == "pairs" else 1 / (len(scored) * z.sum() ** 2)
            (score,) = utility[(sample == m) & (coalition == l) & (agent < 0)]
            gram += weight * np.outer(z, z)
            moment += weight * z * score
            squares += weight * score**2
    joint = statistics_of(setting, rows).joint
    np.testing.assert_allclose(joint.projections, gram, atol=1e-12)
    np.testing.assert_allclose(joint.moments, moment, atol=1e-12)
    assert joint.scores[0] == pytest.approx(squares)


def test_the_average_of_scores_is_by_pair():
    rng = np.random.default_rng(4)
    rows = drawn(rng, random_means(rng), 30, shared=False)
    sample, agent, coalition, utility = rows
    pairs = [
        (size := int(((sample == m) & (coalition == l) & (agent >= 0)).sum())) * (size - 1) // 2
        for m, l in zip(sample[agent < 0], coalition[agent < 0], strict=True)
    ]
    assert statistics_of(setting_of("pairs"), rows).average == pytest.approx(utility[agent < 0].sum() / sum(pairs))


@pytest.mark.parametrize(("noise", "shared"), [("pairs", False), ("samples", False), ("samples", True)])
def test_certificates_hold(noise, shared):
    """With delta = 0.2, 5 of 25 logs may fail; chance adds at most 7 in 999 of 1,000 runs."""
    rng, delta, failed = np.random.default_rng(7), 0.2, {"paired": 0, "fixed": 0}
    spaces = ActionSpaces.parse("one", tuple("abcd"), tuple("12"))
    strategy = coterie.Strategy.pure([[1, 0], [1, 0], [0, 1], [0, 1]], tuple("abcd"), tuple("12"))
    widths = []
    for _ in range(25):
        means = random_means(rng)
        game = coterie.Game(means=means, actions=spaces, agents=tuple("abcd"), coalitions=tuple("12"))
        evidence = evidence_from(statistics_of(setting_of(noise), drawn(rng, means, 300, shared=shared)))
        gap = game.gap(strategy)
        for name, found in (
            ("paired", paired(evidence, strategy, spaces, delta)),
            ("fixed", fixed(evidence, strategy, spaces, delta)),
        ):
            failed[name] += gap > found.gap + 1e-12
            widths.append(found.gap - gap)
    assert max(failed.values()) <= 5 + 7
    assert np.mean(widths) < 2.0  # and say something: the range alone gives 3 or more


def test_three_ways_to_write_scores():
    score = {("1", "x"): 2.0, ("1", "y"): -1.0, ("2", "x"): 0.5}
    teams = {("1", "x"): "abc", ("1", "y"): "de", ("2", "x"): "ae", ("2", "y"): "b"}
    members = pd.DataFrame([(m, i, l) for (m, l), team in teams.items() for i in team],
                           columns=["sample", "agent", "coalition"])  # fmt: skip
    scores = pd.DataFrame([(m, l, value) for (m, l), value in {**score, ("2", "y"): 9.0}.items()],
                          columns=["sample", "team", "score"])  # fmt: skip
    beside = coterie.Log.from_frames(memberships=members, totals=scores)
    listed = scores.assign(
        members=[", ".join(teams[m, l]) for m, l in zip(scores["sample"], scores["team"], strict=True)]
    )
    in_cells = coterie.Log.from_frames(totals=listed)
    repeated = members.merge(scores, left_on=["sample", "coalition"], right_on=["sample", "team"]).drop(columns="team")
    in_rows = coterie.Log.from_frames(totals=repeated, totals_are="team-scores")
    found = [Statistics.of(log, parts=(1.0,)) for log in (beside, in_cells, in_rows)]
    assert {one.sha256 for one in found} == {found[0].sha256}
    assert found[0].whole.rows == 3
    for log in (beside, in_cells, in_rows):
        assert log.of_teams
        assert any("1 score" in note and "team of one" in note for note in log.notes)
    averages = scores.assign(score=[2 / 3, -1.0, 0.5, 9.0])
    as_averages = coterie.Log.from_frames(memberships=members, totals=averages, totals_are="team-score-averages")
    np.testing.assert_allclose(
        Statistics.of(as_averages, parts=(1.0,)).whole.joint.moments, found[0].whole.joint.moments
    )
    merged = Statistics.of(beside) + Statistics.of(coterie.Log.from_frames(
        memberships=members.assign(sample=members["sample"] + "b"), totals=scores.assign(sample=scores["sample"] + "b")
    ))  # fmt: skip
    np.testing.assert_allclose(merged.whole.joint.moments, 2 * found[0].whole.joint.moments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [7.0]}, r"the total 7 of 3 pairs is outside \[-3, 3\]"),
        ({"team": ["z"]}, "no member of coalition 'z' in sample '1' is known"),
        ({"sample": [""]}, "sample is empty"),
    ],
)
def test_scores_that_are_refused(change, message):
    members = {"sample": ["1"] * 3, "agent": list("abc"), "coalition": ["x"] * 3}
    scores = {"sample": ["1"], "team": ["x"], "score": [1.0]} | change
    with pytest.raises(InputError, match=message):
        coterie.Log.from_frames(memberships=pd.DataFrame(members), totals=pd.DataFrame(scores))
    if "sample" in change:
        return
    rows = pd.DataFrame({**members, "utility": [1.0, 1.0, 0.5]})
    with pytest.raises(InputError, match=r"has the scores 0.5 and 1 in sample '1', expected the same"):
        coterie.Log.from_frames(totals=rows, totals_are="team-scores")
    with pytest.raises(InputError, match="do not tell who of two got what"):
        coterie.Log.from_frames(totals=rows, totals_are="team-scores", symmetric=False)


def test_coverage_says_what_scores_tell():
    """Three who always work together cannot be told apart; with teams of two, each pair can."""
    members = [(m, i, "x") for m in "123" for i in "abc"]
    scores = [(m, "x", 0.5) for m in "123"]
    columns = ["sample", "agent", "coalition"]
    options = {"actions": "one", "may_stay_out": True}
    together = coterie.Log.from_frames(
        memberships=pd.DataFrame(members, columns=columns),
        totals=pd.DataFrame(scores, columns=["sample", "team", "score"]), **options,
    )  # fmt: skip
    assert coverage(together).assumption_2 is False
    apart = members[:-1] + [("4", i, "x") for i in "bc"]  # a and b in sample 3, b and c in sample 4
    told = coterie.Log.from_frames(
        memberships=pd.DataFrame(apart, columns=columns),
        totals=pd.DataFrame([*scores, ("4", "x", 0.1)], columns=["sample", "team", "score"]), **options,
    )  # fmt: skip
    found = coverage(told)
    assert found.assumption_2 is True
    assert found.c_act is None


@pytest.mark.parametrize(("noise", "least"), [("pairs", 0.75), ("samples", 0.3)])
def test_the_variance_is_at_most_its_proxy(noise, least):
    """Noise at both ends of the range, shared by a whole sample or by nobody: the worst that the proxy allows for."""
    rng = np.random.default_rng(5)
    rows = drawn(rng, np.zeros((K, N, N)), 40, shared=noise == "samples")
    setting = setting_of(noise)
    estimate = evidence_from(statistics_of(setting, rows)).estimate
    c = np.array([[0.0, 1.0, 0.0, -1.0, 0.0, 0.0]])  # two partners of the first agent
    solved = estimate.project(0, c).solved[:, 0]
    proxy = float(solved @ estimate.projections @ solved)
    found = []
    for _ in range(200):
        sample, agent, coalition, _ = rows
        luck, scores = rng.choice([-1.0, 1.0], 40), np.full(len(sample), np.nan)
        for row in np.flatnonzero(agent < 0):
            size = int(((sample == sample[row]) & (coalition == coalition[row])).sum()) - 1
            pairs = size * (size - 1) // 2
            scores[row] = pairs * luck[sample[row]] if noise == "samples" else rng.choice([-1.0, 1.0], pairs).sum()
        joint = statistics_of(setting, (sample, agent, coalition, scores)).joint
        found.append(float(solved @ joint.moments))
    ratio = float(np.mean(np.square(found))) / proxy
    assert least < ratio < 1.3


def test_a_refusal_names_what_would_fit(monkeypatch):
    """Made-up names of teams make many unknowns of few pairs."""
    for most, pooled in ((7, True), (5, False)):
        monkeypatch.setattr("coterie.statistics.team_scores.MOST_EDGES", most)
        with pytest.raises(TooLargeError, match="such as a department, would fit") as refusal:
            ScoreSums(setting_of("pairs"))
        assert ("all of it does, with pool_coalitions=True" in str(refusal.value)) == pooled
    monkeypatch.setattr("coterie.statistics.team_scores.MOST_EDGES", 6)
    ScoreSums(setting_of("pairs", pooled=True))
