"""Statistics made in memory are those that a log's engine makes of the same samples."""

import numpy as np
import pytest

from coterie.log.log import read_log
from coterie.simulate.growing import Reading, growing, setting_of
from coterie.simulate.logs import Simulation
from coterie.statistics.in_memory import reduced
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics


def both(folder, model, policy, feedback, reading, samples=60, n=4, k=5):
    """Return the whole log's statistics from memory and from files."""

    def simulation():
        return Simulation.draw(n, k, np.random.default_rng(3), model=model, policy=policy)

    simulation().write_log(folder / "log", samples, feedback=feedback, table_format="parquet")
    source = simulation()
    (batch,) = source.batches(samples)
    part = np.random.default_rng(0).choice(4, samples)
    ours = reduced(batch, part, setting_of(source, feedback, reading, PARTS), unweighted=reading.unweighted)
    more = {"unweighted": reading.unweighted} if feedback == "bandit" else {}
    theirs = Statistics.of(read_log(folder / "log"), sizes=reading.sizes, noise=reading.noise, parts=PARTS, **more)
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


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("sizes", ["ignore", "aware"])
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_interchangeable_coalitions(tmp_path, feedback, sizes, noise):
    def simulation():
        return Simulation.draw(4, 3, np.random.default_rng(3), actions_per_agent=5)

    simulation().write_log(tmp_path / "log", 60, feedback=feedback, table_format="parquet")
    log = read_log(tmp_path / "log", pool_coalitions=True, coalitions=3, actions="any")
    theirs = Statistics.of(log, sizes=sizes, noise=noise)
    (batch,) = simulation().batches(60)
    ours = reduced(batch, np.random.default_rng(0).choice(2, 60), theirs.setting).whole.arrays()
    expected = theirs.whole.arrays()
    assert ours.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(ours[name], array, err_msg=name)


def test_a_log_grows():
    def statistics(lengths):
        simulation = Simulation.draw(3, 2, np.random.default_rng(0), model="gaussian")
        return list(growing(simulation, lengths, "semi-bandit", {"ours": Reading()}))

    (first, short), (last, long) = statistics((10, 50))
    assert (first, last) == (10, 50)
    assert (short["ours"].n_samples, long["ours"].n_samples) == (10, 50)
    assert (short["ours"].whole.counts <= long["ours"].whole.counts).all()
