"""The consulting firm of the demo."""

import numpy as np
import pytest

from coterie.simulate.demo import (
    CONSULTANTS,
    COUPLE,
    DAYS,
    HATED,
    LARGEST,
    LAST_DAY,
    LEAVER,
    LIKED,
    SMALLEST,
    firm_records,
)


@pytest.fixture(scope="module")
def records():
    return firm_records()


def test_it_is_the_same_every_time(records):
    again = firm_records()
    assert (again.outcomes.utility == records.outcomes.utility).all()
    assert (again.outcomes.joined == records.outcomes.joined).all()


def test_somebody_left(records):
    assert records.leavers == (LEAVER,)
    there = records.outcomes.joined[:, CONSULTANTS.index(LEAVER)].any(axis=1)
    assert there[:LAST_DAY].all()
    assert not there[LAST_DAY:].any()
    assert not records.today.actions[LEAVER]


def test_todays_teams_have_the_sizes_that_are_wanted(records):
    assert len(records.outcomes.joined) == DAYS
    sizes = [len(members) for members in records.today.members().values()]
    assert SMALLEST <= min(sizes) <= max(sizes) <= LARGEST
    assert all(records.today.actions[name] for name in records.staff)


def test_the_couple_gets_along_in_one_area_and_not_in_another(records):
    outcomes = records.outcomes
    couple = {CONSULTANTS.index(name) for name in COUPLE}
    theirs = np.array([{i, j} == couple for i, j in zip(outcomes.agent, outcomes.partner, strict=True)])
    for (area, _), good in ((LIKED, True), (HATED, False)):
        rated = outcomes.utility[theirs & (outcomes.coalition == records.truth.coalitions.index(area))]
        assert len(rated) > 30
        assert (rated.mean() > 1) if good else (rated.mean() < -1)
