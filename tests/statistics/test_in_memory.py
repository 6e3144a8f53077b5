"""Statistics made in memory are those that a log's engine makes of the same samples."""

from dataclasses import replace

import numpy as np
import pytest

from coterie.errors import InputError
from coterie.log.log import read_log
from coterie.simulate.growing import Reading, growing, setting_of
from coterie.simulate.logs import Simulation
from coterie.statistics.in_memory import reduced
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics

NOISES = ("pairs", "samples")


def both(folder, model, policy, feedback, reading, samples=60, n=4, k=5):
    """Return the whole log's statistics from memory and from files."""

    def simulation():
        return Simulation.draw(n, k, np.random.default_rng(3), model=model, policy=policy)

    simulation().write_log(folder / "log", samples, feedback=feedback, table_format="parquet")
    source = simulation()
    (batch,) = source.batches(samples)
    part = np.random.default_rng(0).choice(4, samples)
    more = {"unweighted": reading.unweighted, "joint": reading.joint} if feedback == "bandit" else {}
    ours = reduced(batch, part, setting_of(source, feedback, reading, PARTS), **more)
    pool = {"pool_coalitions": True, "coalitions": k, "actions": "any"} if reading.pool_coalitions else {}
    log = read_log(folder / "log", **pool)
    theirs = Statistics.of(log, sizes=reading.sizes, noise=reading.noise, parts=PARTS, **more)
    return ours.whole, theirs.whole


@pytest.mark.parametrize("model", ["gaussian", "size-uniform", "mixed-effects"])
@pytest.mark.parametrize("policy", ["random", "1rand"])
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
@pytest.mark.parametrize("reading", [Reading("ignore", "pairs", True), Reading("aware", "samples")])
def test_sums_are_those_of_the_engine(tmp_path, model, policy, feedback, reading):
    ours, theirs = both(tmp_path, model, policy, feedback, reading)
    expected, found = theirs.arrays(), ours.arrays()
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert ours.setting.fixed_range == theirs.setting.fixed_range


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
@pytest.mark.parametrize("reading", [Reading(sizes, noise) for sizes in ("ignore", "aware") for noise in NOISES])
def test_interchangeable_coalitions(tmp_path, feedback, reading):
    ours, theirs = both(tmp_path, "gaussian", "random", feedback, replace(reading, pool_coalitions=True))
    found = ours.arrays()
    for name, array in theirs.arrays().items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.parametrize("pool", [False, True])
def test_the_joint_sums(tmp_path, pool):
    reading = Reading(joint=True, pool_coalitions=pool)
    ours, theirs = both(tmp_path, "gaussian", "random", "bandit", reading)
    np.testing.assert_allclose(ours.joint.projections, theirs.joint.projections, atol=1e-10)
    np.testing.assert_allclose(ours.joint.moments, theirs.joint.moments, atol=1e-10)


def test_a_log_grows():
    def statistics(lengths):
        simulation = Simulation.draw(3, 2, np.random.default_rng(0), model="gaussian")
        return list(growing(simulation, lengths, "semi-bandit", {"ours": Reading()}))

    (first, short), (last, long) = statistics((10, 50))
    assert (first, last) == (10, 50)
    assert (short["ours"].n_samples, long["ours"].n_samples) == (10, 50)
    assert (short["ours"].whole.counts <= long["ours"].whole.counts).all()


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
@pytest.mark.parametrize("sigma", [None, 0.1])
def test_utilities_outside_the_declared_range_are_refused(feedback, sigma):
    """As in a log; cut off without a word, they gave false certificates in 54 of 60 logs."""
    source = Simulation.draw(4, 2, np.random.default_rng(5))
    (batch,) = source.batches(30)
    part = np.zeros(30, dtype=np.int64)
    setting = replace(setting_of(source, feedback, Reading(), (1.0,)), sigma=sigma)
    _, high = setting.fixed_range
    for value, message in (
        (high + 1e-6, rf"samples: utility {high + 1e-6:g}.* is outside"),
        (-np.inf, "samples: utility is '-inf', expected a finite number"),
        (np.nan, "samples: utility is 'nan', expected a finite number"),
    ):
        utility = batch.utility.copy()
        utility[7] = value
        with pytest.raises(InputError, match=message):
            reduced(replace(batch, utility=utility), part, setting)
    utility = batch.utility.copy()
    utility[7] = high + 1e-12  # rounding
    assert reduced(replace(batch, utility=utility), part, setting).n_samples == 30
