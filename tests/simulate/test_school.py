"""School classes: totals of tables whose labels mean nothing, with the truth that they add up to."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.simulate.school import LIKING, ClassPlan, school_class


def test_the_default_class_is_as_described():
    school = school_class(0)
    joined = school.outcomes.joined
    assert joined.shape == (30, 28, 7)
    assert (joined.sum(axis=1) == 4).all()
    assert (joined.sum(axis=2) == 1).all()
    assert school.truth.is_symmetric
    assert school.truth.is_interchangeable
    log = school.log()
    assert (log.feedback, log.pool_coalitions, log.rows) == ("bandit", True, 30 * 28)
    assert (log.agents, len(log.coalitions)) == (school.truth.agents, 7)
    assert (school.today.sets == joined[-1]).all()
    assert school.staff == school.recorded
    assert not school.leavers
    assert not school.newcomers


def test_tables_may_have_one_pupil_fewer():
    assert set(school_class(0, ClassPlan(n_agents=30)).outcomes.joined.sum(axis=1).ravel()) == {3, 4}


@pytest.mark.parametrize("symmetric", [True, False])
def test_totals_add_up_to_the_truth(symmetric):
    school = school_class(
        1, ClassPlan(n_agents=6, table_size=3, terms=5000, effects=replace(LIKING, symmetric=symmetric))
    )
    assert school.truth.is_symmetric == symmetric
    truth, joined = school.truth.utilities.means.matrix(0), school.outcomes.joined
    met = (joined @ np.swapaxes(joined, 1, 2)) & ~np.eye(6, dtype=bool)
    recorded = np.array(school.tables["totals"]["utility"]).reshape(-1, 6)
    error = recorded - (met * truth).sum(axis=2)
    assert np.abs(error.mean(axis=0)).max() < 5 * error.std() / np.sqrt(len(error))
    for i in range(6):
        fitted = np.linalg.lstsq(np.delete(met[:, i], i, axis=1).astype(float), recorded[:, i])[0]
        np.testing.assert_allclose(fitted, np.delete(truth[i], i), atol=0.04)


def test_a_seed_gives_one_class(tmp_path):
    one, same, other = (school_class(seed) for seed in (5, 5, 6))
    assert one.tables["totals"] == same.tables["totals"]
    assert one.tables["totals"] != other.tables["totals"]
    one.write_log(tmp_path / "class", table_format="parquet")
    log = coterie.read_log(tmp_path / "class")
    assert coterie.Statistics.of(log).sha256 == coterie.Statistics.of(same.log()).sha256
