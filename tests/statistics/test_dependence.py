"""What is taken to be independent: decided by the samples that learn, told by the result."""

from dataclasses import asdict
from hashlib import md5
from statistics import NormalDist

import numpy as np
import pytest

import coterie
from coterie import Strategy
from coterie.assumptions.sample_dependence import independence_check
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import fixed
from coterie.simulate import Simulation
from coterie.statistics.dependence import FALSE_ALARMS, Excess, SampleExcess, sample_excess
from coterie.statistics.in_memory import Batch
from coterie.statistics.parts import PARTS, Division
from coterie.statistics.statistics import Statistics
from made_tables import frames_of


def tables_of(seed, *, noise="pairs", samples=600, **options):
    source = Simulation.draw(5, 2, np.random.default_rng(seed), actions_per_agent=3, noise=noise, **options)
    (batch,) = source.batches(samples)
    return frames_of(batch)


def log_of(tables, **options):
    return coterie.Log.from_frames(**tables, threads=1, **options)


def learns(samples, seed=0):
    """Whether each sample is in a part that learns, from the definition of its hash."""
    limit = Division.by_shares(PARTS, seed).ends[1]
    return np.array([int(md5(f"{seed}:{name}".encode()).hexdigest(), 16) < limit for name in samples])


MEANS = -0.05, 0.05


def antithetic(seed, samples=400, n=12, against=0.99):
    """Everybody is in both rooms, and one room has a good day when the other has a bad one.

    The two cancel in a sample's sum so far that its variance is that of independent pairs.
    """
    rng = np.random.default_rng(seed)
    joined = np.ones((samples, n, 2), dtype=bool)
    i, j = np.triu_indices(n, 1)
    sample, pair, coalition = np.nonzero(joined[:, i] & joined[:, j])
    day, other = rng.normal(size=(2, samples))
    days = np.stack([day, -against * day + np.sqrt(1 - against**2) * other], axis=1)
    good = days < [NormalDist().inv_cdf((1 + mean) / 2) for mean in MEANS]
    utility = np.where(good[sample, coalition], 1.0, -1.0)
    return Batch(1, joined, sample, coalition, i[pair], j[pair], utility, symmetric=True)


@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_auto_is_what_the_log_shows(noise):
    log = log_of(tables_of(1, noise=noise))
    made, wanted = (Statistics.for_learning(log, noise=choice) for choice in ("auto", noise))
    assert made.setting.noise == noise
    assert made.sha256 == wanted.sha256
    assert made.clues.decisive.samples < sample_excess(log).samples
    assert Statistics.of(log, noise="auto", parts=(1.0,), clues=False).setting.noise == noise


def test_the_samples_that_certify_do_not_decide():
    """Dependence in the certifying samples alone changes nothing but the warning; the other way round it decides."""
    calm, loud = tables_of(2), tables_of(2, noise="samples")
    who_learns = learns(calm["pairs"]["sample"])
    for inside, outside, expected in ((calm, loud, "pairs"), (loud, calm, "samples")):
        utility = np.where(who_learns, inside["pairs"]["utility"], outside["pairs"]["utility"])
        made = Statistics.for_learning(log_of({**calm, "pairs": calm["pairs"].assign(utility=utility)}))
        alone = Statistics.for_learning(log_of(inside))
        assert made.setting.noise == expected
        assert made.clues.decisive == alone.clues.decisive
        found = independence_check(made)
        assert found.verdict == "broken"
        told = 'use noise="samples"' if expected == "pairs" else "promises allow for it and are weaker"
        assert told in found.text


@pytest.mark.slow
def test_noise_that_cancels_between_rooms():
    """Taken for independent, pairs make certificates false far more often than delta; auto sees it, and they hold."""
    n, delta, logs = 12, 0.01, 16
    agents, coalitions = tuple(f"p{i}" for i in range(n)), ("c0", "c1")
    strategy = Strategy.pure([[i < n // 2, i >= n // 2] for i in range(n)], agents, coalitions)
    gap = (n // 2) * MEANS[1] - (n // 2 - 1) * MEANS[0]  # of those in c0, who alone may move
    may = {agent: [["c0"], ["c1"]] if i < n // 2 else [["c1"]] for i, agent in enumerate(agents)}
    wrong, found = {"pairs": 0, "samples": 0}, 0
    for seed in range(logs):
        log = log_of(frames_of(antithetic(seed, n=n)), actions=may)
        found += Statistics.for_learning(log).setting.noise == "samples"
        for noise in wrong:
            evidence = evidence_from(Statistics.of(log, noise=noise, parts=(1.0,), clues=False).whole)
            wrong[noise] += fixed(evidence, strategy, log.actions, delta).gap < gap
    assert wrong["pairs"] > 5 * delta * logs
    assert wrong["samples"] <= 2  # more has probability 0.003 at delta = 0.01
    assert found == logs


def test_excesses_add_and_are_kept():
    one = SampleExcess(40, Excess(1.0, 2.0), Excess(3.0, 4.0))
    two = SampleExcess(50, Excess(1.0, 2.0), Excess(30.0, 4.0))
    assert one + two == SampleExcess(90, Excess(2.0, 4.0), Excess(33.0, 8.0))
    assert one.alarm() is None
    assert two.alarm() == 15.0
    assert SampleExcess(29, Excess(9.0, 1.0)).alarm() is None
    assert SampleExcess.from_json(asdict(two)) == two
    older = {"samples": 50, "total": 1.0, "squares": 2.0, "room_total": 30.0, "room_squares": 4.0}
    assert SampleExcess.from_json(older) == two


def everybody(utility, n=12):
    """A log in which all n agents are in both rooms all the time; utilities by room, agent, partner and sample."""
    samples = len(utility[0, 0, 0])
    joined, (i, j) = np.ones((samples, n, 2), dtype=bool), np.triu_indices(n, 1)
    sample, pair, coalition = np.nonzero(joined[:, i] & joined[:, j])
    values = utility[coalition, i[pair], j[pair], sample]
    return Batch(1, joined, sample, coalition, i[pair], j[pair], values, symmetric=True)


def test_rare_losses_that_all_share_are_found():
    """Two bad days among 100 samples are far too few for a sum of excesses; one is enough for a surprise."""
    rng = np.random.default_rng(3)
    utility = np.full((2, 12, 12, 100), 0.125)
    utility[0, :, :, [17, 60]] = -1.0
    shared = sample_excess(log_of(frames_of(everybody(utility)), actions="any"))
    assert abs(shared.whole.score) < 2
    assert shared.alarm() > 3
    alone = np.where(rng.random((2, 12, 12, 100)) < 0.02, -1.0, 0.125)
    assert sample_excess(log_of(frames_of(everybody(alone)), actions="any")).alarm() is None


def test_noise_that_cancels_within_a_room():
    """Every agent has good days and bad days, and the room's sum shows nothing of it: half are up, half are down."""
    rng, n, samples = np.random.default_rng(4), 12, 400
    i, j = np.triu_indices(n, 1)
    utility = np.zeros((2, n, n, samples))
    for m in range(samples):
        for room in range(2):
            mood = rng.permuted(np.repeat([-1.0, 1.0], n // 2))
            noise = rng.choice([-1.0, 1.0], len(i)) * (rng.random(len(i)) < 0.5)
            utility[room, i, j, m] = np.clip(0.25 * (mood[i] + mood[j]) + 0.5 * noise, -1, 1)
    found = sample_excess(log_of(frames_of(everybody(utility, n)), actions="any"))
    assert found.whole.score < 2
    assert found.rooms.score < 2
    assert found.agents.score > 4
    assert found.alarm() == found.agents.score


def test_very_rare_independent_losses_raise_no_alarm():
    """A sample with two of them, which makes up for the others, is missing in most of these logs."""
    alarms = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        joined, (i, j) = np.ones((3000, 3, 1), dtype=bool), np.triu_indices(3, 1)
        joined[np.arange(3000), rng.integers(3, size=3000), 0] = rng.random(3000) < 0.7
        sample, pair, coalition = np.nonzero(joined[:, i] & joined[:, j])
        utility = np.where(rng.random(len(sample)) < 0.006, -1.0, 1.0)
        batch = Batch(1, joined, sample, coalition, i[pair], j[pair], utility, symmetric=True)
        alarms += sample_excess(log_of(frames_of(batch), actions="any")).alarm() is not None
    assert alarms == 0


@pytest.mark.slow
def test_false_alarms_of_both_excesses_together():
    alarms = sum(sample_excess(log_of(tables_of(seed, samples=200))).alarm() is not None for seed in range(60))
    assert alarms <= 60 * FALSE_ALARMS + 4 * np.sqrt(60 * FALSE_ALARMS)


def test_too_few_samples_are_said_to_be():
    """Nobody knows whether pairs move together: they are not taken to be independent, unless somebody says so."""
    log = log_of(tables_of(4, samples=20))
    made = Statistics.for_learning(log)
    assert made.setting.noise == "samples"
    found = independence_check(made)
    assert (found.verdict, 'say noise="pairs"' in found.text) == ("not assumed", True)
    assert found.text in coterie.StableLearner().fit(log).result_.warnings
    found = independence_check(Statistics.for_learning(log, noise="pairs"))
    assert (found.verdict, "fewer than 30 rounds" in found.text) == ("not tested", True)


def test_equal_utilities_raise_no_alarm():
    """Their differences from the mean are rounding errors."""
    tables = tables_of(4, samples=400)
    tables["pairs"]["utility"] = 0.1
    assert Statistics.for_learning(log_of(tables)).setting.noise == "pairs"


def test_results_say_which_was_used():
    learner = coterie.StableLearner().fit(log_of(tables_of(5, noise="samples")))
    assert learner.result_.data.noise == "samples"
    assert any("promises allow for it and are weaker" in text for text in learner.result_.warnings)
    assert any("pairs of one round need not be" in text for text in learner.certificate_.assumes)
    learner.partial_fit(log_of({name: t.assign(sample="b" + t["sample"]) for name, t in tables_of(6).items()}))
    assert learner.result_.data.noise == "samples"
    by_paper = coterie.StableLearner(certificate="paper").fit(log_of(tables_of(5, noise="samples")))
    assert by_paper.result_.data.noise == "pairs"
    assert any('use noise="samples"' in text for text in by_paper.result_.warnings)
