"""What is expected of teams that were chosen for it is what they turn out to be worth, about, and within its range."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from coterie import Log, Rules, StableLearner
from coterie.certificates.from_statistics import evidence_from
from coterie.estimate.total_posterior import means_left_by_totals
from coterie.learn.beliefs import beliefs_from
from coterie.simulate import FirmPlan, rated_firm
from coterie.statistics.statistics import Statistics

PEOPLE, SIZE = 12, 3


def scored(rng, *, events=12, skill=3.0, pair=2.0, noise=3.0, scale=1.0):
    """A log of teams' scores, the average over pairs, and the truth."""
    ability, both = rng.normal(0, skill, PEOPLE), np.triu(rng.normal(0, pair, (PEOPLE, PEOPLE)), 1)
    truth = ability[:, None] + ability + both + both.T
    teams = [rng.permutation(PEOPLE).reshape(-1, SIZE) for _ in range(events)]
    one, two = np.triu_indices(SIZE, 1)
    rows = [(str(e), str(t), team) for e, event in enumerate(teams) for t, team in enumerate(event)]
    score = [np.clip(truth[team[one], team[two]].mean() + rng.normal(0, noise), -50, 50) for *_, team in rows]
    members = [(e, f"p{i:02}", t) for e, t, team in rows for i in team]
    memberships = dict(zip(("sample", "agent", "coalition"), map(list, zip(*members, strict=True)), strict=True))
    totals = {"sample": [e for e, *_ in rows], "coalition": [t for _, t, _ in rows], "utility": np.array(score) * scale}
    log = Log.from_frames(
        memberships=pa.table(memberships), totals=pa.table(totals), totals_are="team-score-averages",
        utility_range=(-50 * scale, 50 * scale), pool_coalitions=True,
    )  # fmt: skip
    return log, truth * scale


def believed(log):
    statistics = Statistics.of(log, parts=(1.0,), noise="samples")
    return beliefs_from(evidence_from(statistics.whole), symmetric=statistics.setting.symmetric)


def worth(values, partition):
    one, two = np.triu_indices(partition.shape[1], 1)
    return float(
        np.mean([(values[team[one], team[two]] + values[team[two], team[one]]).mean() / 2 for team in partition])
    )


def told(beliefs, truth, rng):
    """Return what is expected of the best of many teams, what is true, and the ends of the range."""
    several = [rng.permutation(len(truth)).reshape(-1, SIZE) for _ in range(300)]
    best = max(several, key=lambda one: worth(beliefs.middle[0], one))
    drawn = [worth(values[0], best) for values in beliefs.draws(rng, 200)]
    return worth(beliefs.middle[0], best), worth(truth, best), *np.quantile(drawn, [0.1, 0.9])


@pytest.mark.slow
def test_the_best_of_many_teams_is_not_promised_more_than_it_is_worth():
    # Strong pairs, strong people, hardly anything but noise: by turns, as nobody knows beforehand.
    worlds = [(3.0, 2.0, 3.0), (0.1, 4.0, 2.0), (2.0, 0.3, 3.0), (1.0, 1.5, 4.0)]
    found = []
    for seed in range(28):
        rng = np.random.default_rng(seed)
        skill, pair, noise = worlds[seed % 4]
        log, truth = scored(rng, skill=skill, pair=pair, noise=noise)
        found.append(told(believed(log), truth, rng))
    expected, true, low, high = np.array(found).T
    error = expected - true
    assert error.mean() < 2.5 * error.std() / np.sqrt(len(error))  # was 0.50 with one value of each variance
    assert np.mean((low <= true) & (true <= high)) >= 0.61  # 80 %, less two and a half standard errors


@pytest.mark.slow
def test_ranges_of_ratings_hold_about_as_often_as_they_say():
    held = []
    for seed in range(20):
        firm, rng = (
            rated_firm(seed, FirmPlan(n_agents=9, n_coalitions=1, months=6, sizes=(9, 9))),
            np.random.default_rng(seed),
        )
        truth = firm.truth.utilities.means.values[0]
        _, true, low, high = told(believed(firm.log()), truth, rng)
        held.append(low <= true <= high)
    assert np.mean(held) >= 0.58  # 80 %, less two and a half standard errors


def rated(rng, *, rounds=5, person=1.0, pair=1.5, noise=10.0):
    """A log of what pairs of teams of three got, the same for both, and the truth."""
    ability, both = rng.normal(0, person, PEOPLE), np.triu(rng.normal(0, pair, (PEOPLE, PEOPLE)), 1)
    truth = ability[:, None] + ability + both + both.T
    members, pairs = [], []
    for event in range(rounds):
        for t, team in enumerate(rng.permutation(PEOPLE).reshape(-1, SIZE)):
            members += [(str(event), f"p{i:02}", str(t)) for i in team]
            pairs += [
                (
                    str(event),
                    str(t),
                    f"p{i:02}",
                    f"p{j:02}",
                    float(np.clip(truth[i, j] + rng.normal(0, noise), -50, 50)),
                )
                for i, j in combinations(sorted(team), 2)
            ]
    named = (
        (("sample", "agent", "coalition"), members),
        (("sample", "coalition", "agent", "partner", "utility"), pairs),
    )
    tables = [pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))) for names, rows in named]
    return Log.from_frames(
        memberships=tables[0], pairs=tables[1], utility_range=(-50, 50), pool_coalitions=True, symmetric=True
    ), truth


@pytest.mark.slow
def test_hardly_anything_but_noise_is_not_taken_for_people():
    """With variances near the likeliest ones, too much was expected of what teams have more than others."""
    held = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        log, truth = rated(rng)
        beliefs = believed(log)
        several = [rng.permutation(PEOPLE).reshape(-1, SIZE) for _ in range(300)]
        best = max(several, key=lambda one: worth(beliefs.middle[0], one))

        def more(values, best=best, lots=several[:20]):
            return worth(values, best) - np.mean([worth(values, one) for one in lots])

        low, high = np.quantile([more(values[0]) for values in beliefs.draws(rng, 100)], [0.1, 0.9])
        held.append(low <= more(truth) <= high)
    assert np.mean(held) >= 0.6  # 80 %, less two and a half standard errors


def praised(rng, *, best=9.7, events=40):
    """Scores of teams on a scale of 0 to 10; every second event has the same teams, and the first of them is `best`."""
    members, scores = [], []
    for event in range(events):
        people = np.arange(9) if event % 2 else rng.permutation(9)
        for t, team in enumerate(people.reshape(3, 3)):
            score = (best, 5.0, 2.0)[t] + rng.normal(0, 0.2) if event % 2 else rng.uniform(3, 8)
            members += [(str(event), f"p{i}", str(t)) for i in team]
            scores.append((str(event), str(t), float(np.clip(score, 0, 10))))
    named = ((("sample", "agent", "coalition"), members), (("sample", "coalition", "utility"), scores))
    memberships, totals = (
        pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))) for names, rows in named
    )
    return Log.from_frames(
        memberships=memberships, totals=totals, totals_are="team-score-averages", utility_range=(0, 10),
        pool_coalitions=True,
    )  # fmt: skip


def test_a_team_that_was_seen_often_is_expected_to_be_what_it_was():
    """Pairs were cut at the end of the scale one by one: 9.19 was expected, and 8.48 to 9.46 told."""
    beliefs = believed(praised(np.random.default_rng(0)))
    one, two = np.triu_indices(3, 1)
    assert beliefs.middle.max() <= 10
    assert beliefs.middle[0][one, two].mean() == pytest.approx(9.7, abs=0.25)
    drawn = [values[0][one, two].mean() for values in beliefs.draws(np.random.default_rng(1), 200)]
    low, high = np.quantile(drawn, [0.1, 0.9])
    assert 9.2 < low < 9.7 < high


def test_ranges_of_scores_stay_on_the_scale():
    wanted = StableLearner(rules=Rules(team_size="3"), value="average", certificate="paired")
    first = wanted.fit(praised(np.random.default_rng(0), best=10.0)).result_.options[0]
    ends = [
        end for one in (*first.team_ranges.values(), *first.person_ranges.values(), first.expected_range) for end in one
    ]
    assert min(ends) >= 0
    assert max(ends) == pytest.approx(10)  # which draws of pairs exceed


def test_what_is_expected_does_not_depend_on_the_scale_of_scores():
    """Prices of effects are relative to the spread of totals: once they hung on how totals were weighted."""
    middles = []
    for scale in (1.0, 10.0):
        log, _ = scored(np.random.default_rng(3), events=8, scale=scale)
        evidence = evidence_from(Statistics.of(log, parts=(1.0,), noise="samples").whole)
        found = means_left_by_totals(evidence.means or evidence.estimate, by_size=False, symmetric=True)
        middles.append(np.array(found.middle) / scale)
    assert middles[0] == pytest.approx(middles[1], abs=0.02)
