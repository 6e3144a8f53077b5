"""What is taken to be independent is chosen anew whenever samples are added."""

import numpy as np
import pytest

import coterie
from coterie import StableLearner
from coterie.errors import InputError
from coterie.simulate import Simulation
from coterie.statistics.noise import can_have_noise, chosen_noise, with_noise
from coterie.statistics.statistics import Statistics
from made_tables import frames_of


def log_of(seed, samples, *, noise="pairs", prefix="", symmetric=True, **options):
    rng = np.random.default_rng(seed)
    source = Simulation.draw(5, 2, rng, actions_per_agent=3, noise=noise, symmetric=symmetric)
    (batch,) = source.batches(samples)
    tables = {name: table.assign(sample=prefix + table["sample"]) for name, table in frames_of(batch).items()}
    return coterie.Log.from_frames(**tables, threads=1, symmetric=symmetric, **options)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("options", [{}, {"missing": "worst"}])
@pytest.mark.parametrize("sizes", ["ignore", "aware"])
def test_statistics_can_follow_another_choice(symmetric, options, sizes):
    """To independent pairs exactly; to dependent ones with counts of what occurred together that are not too small."""
    log = log_of(1, 40, symmetric=symmetric, **options)
    pairs, samples = (Statistics.of(log, noise=noise, sizes=sizes) for noise in ("pairs", "samples"))
    assert with_noise(samples, "pairs").sha256 == pairs.sha256
    made = with_noise(pairs, "samples")
    for one, exact in zip(made.parts, samples.parts, strict=True):
        for agent in range(5):
            bound, true = one.cooccurrence(agent), exact.cooccurrence(agent)
            assert (bound >= true).all()
            assert (np.diag(bound) == np.diag(true)).all()
    assert with_noise(made, "pairs").sha256 == pairs.sha256
    assert with_noise(pairs, "pairs") is pairs


def test_pairs_that_meet_several_times_in_a_sample():
    log = log_of(1, 40, pool_coalitions=True, actions="any")
    pairs, samples = (Statistics.of(log, noise=noise) for noise in ("pairs", "samples"))
    assert with_noise(samples, "pairs").sha256 == pairs.sha256
    assert not can_have_noise(pairs, "samples")
    with pytest.raises(InputError, match='read with noise="samples": make them anew'):
        with_noise(pairs, "samples")


@pytest.mark.parametrize("first", ["pairs", "samples"])
def test_more_samples_choose_anew(first):
    """A few samples tell nothing; later ones show independence, or dependence, and what was kept before follows."""
    few, more = log_of(2, 60, noise=first), log_of(3, 800, noise=first, prefix="b")
    learner = StableLearner(time_limit=5).fit(few)
    assert learner.result_.data.noise == "samples"
    learner.partial_fit(more)
    assert learner.result_.data.noise == first
    assert learner.statistics_.clues.decisive.is_enough


def test_dependence_that_a_later_log_shows():
    """The first log looks independent, so it does not say what occurred together, and counts bound that."""
    calm, loud = log_of(4, 600), log_of(5, 900, noise="samples", prefix="b")
    learner = StableLearner(time_limit=5).fit(calm)
    assert learner.result_.data.noise == "pairs"
    other = StableLearner(time_limit=5).fit(loud)
    learner.partial_fit(loud)
    assert learner.result_.data.noise == "samples"
    exact = [Statistics.for_learning(log, noise="samples").whole.cooccurrence(0) for log in (calm, loud)]
    assert (learner.statistics_.whole.cooccurrence(0) >= sum(exact)).all()
    merged = StableLearner(time_limit=5).fit(calm).merge(other)
    assert merged.statistics_.sha256 == learner.statistics_.sha256
    assert merged.result_.warnings == learner.result_.warnings


def test_who_chose_once_is_not_overruled():
    learner = StableLearner(noise="pairs", time_limit=5).fit(log_of(4, 60))
    learner.partial_fit(log_of(5, 900, noise="samples", prefix="b"))
    assert learner.result_.data.noise == "pairs"
    assert any('use noise="samples"' in text for text in learner.result_.warnings)


def test_statistics_that_nobody_let_choose():
    """`Statistics.of` takes pairs to be independent unless told otherwise: "auto" cannot change that, but says so."""
    log = log_of(6, 20)
    learner = StableLearner(time_limit=5).fit(Statistics.of(log))
    assert any("these statistics were made with" in text for text in learner.result_.warnings)
    given = coterie.certify(Statistics.of(log), learner.strategy_)
    assert any("these statistics were made with" in text for text in given.warnings)
    for other in (
        StableLearner(noise="pairs", time_limit=5).fit(Statistics.of(log)),
        StableLearner(time_limit=5).fit(Statistics.for_learning(log)),
        StableLearner(certificate="paper", time_limit=5).fit(log),
    ):
        assert not any("these statistics were made with" in text for text in other.result_.warnings)


def test_too_few_samples_choose_nothing():
    assert chosen_noise(Statistics.for_learning(log_of(7, 60)).clues.decisive) == "samples"
    assert chosen_noise(Statistics.for_learning(log_of(7, 800)).clues.decisive) == "pairs"
