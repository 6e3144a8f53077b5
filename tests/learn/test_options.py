"""What is expected of options, against the game that is expected."""

import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from coterie import Strategy
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Aware, Pooled, PooledAware, SizeFree
from coterie.game.actions import ActionSpaces
from coterie.learn.beliefs import Beliefs
from coterie.learn.options import DRAWS, FEWEST_DRAWS, Expected, chosen, likely_values


def made(unknowns, n, k, rng):
    """Beliefs without draws in random values, and two random assignments."""
    shape = (1 if unknowns.is_pooled else k, n, n, *((n + 1,) if unknowns.by_size else ()))
    count = np.ones(shape)
    bounds = Bounds(-1, 1)
    estimate = PairEstimate.from_sums(unknowns, count, np.zeros(shape), count, bounds, n_coalitions=k)
    values = rng.uniform(-1, 1, shape)
    values[:, np.arange(n), np.arange(n)] = 0
    profiles = [np.eye(k, dtype=bool)[rng.integers(0, k, n)] for _ in range(2)]
    return Beliefs(PairEvidence(estimate), values, None), [Strategy.pure(profile) for profile in profiles]


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize("unknowns", [SizeFree(), Pooled(), Aware(), PooledAware()], ids=lambda one: type(one).__name__)
def test_the_improvement_is_that_of_the_expected_game(unknowns, value):
    rng = np.random.default_rng(0)
    beliefs, (new, today) = made(unknowns, 6, 3, rng)
    staff = np.array([True, True, False, True, True, True])
    wishes = SimpleNamespace(value=value, admissible=SimpleNamespace(staff=staff))
    difference = [(1.0, new.sets), (-1.0, today.sets)]
    (found, limits), (worth, _), (least, _) = likely_values([difference, [(1.0, new.sets)]], beliefs, wishes, rng)
    game = beliefs.game(ActionSpaces.parse("one", new.agents, new.coalitions)).valued(value)
    expected = (game.values(new) - game.values(today))[staff].mean()
    assert found == pytest.approx(expected)
    assert worth == pytest.approx(game.values(new)[staff].mean())
    assert limits == (found, found)
    assert least == pytest.approx((game.values(new) - game.values(today))[staff].min())


def test_whoever_waits_gets_a_range_of_fewer_draws():
    beliefs, (new, _) = made(SizeFree(), 6, 3, np.random.default_rng(0))
    drawn = []

    def draw(rng, number):
        drawn.append(number)
        return beliefs.middle + rng.normal(size=beliefs.middle.shape)

    wishes = SimpleNamespace(value="total", admissible=SimpleNamespace(staff=np.ones(6, dtype=bool)))
    for late, count in ((False, DRAWS), (True, FEWEST_DRAWS)):
        drawn.clear()
        asked = [[(1.0, new.sets)]]
        (found, (low, high)), _ = likely_values(
            asked, replace(beliefs, draw=draw), wishes, np.random.default_rng(0), lambda late=late: late
        )
        assert len(drawn) == count
        assert low < found < high


def test_memory_grows_with_sizes_only_where_they_matter():
    n, k, rng = 60, 6, np.random.default_rng(0)
    beliefs, (new, today) = made(SizeFree(), n, k, rng)
    wishes = SimpleNamespace(value="average", admissible=SimpleNamespace(staff=np.ones(n, dtype=bool)))
    tracemalloc.start()
    likely_values([[(1.0, new.sets), (-1.0, today.sets)]], beliefs, wishes, rng)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * k * n * n * (n + 1) / 4


def candidate(gap, by_range=10.0):
    return SimpleNamespace(certificate=SimpleNamespace(gap=gap), says_much=gap < by_range / 2, is_vacuous=False)


@pytest.mark.parametrize(
    ("gaps", "values", "expected"),
    [
        ((4.0, 1.0), (42.98, 42.97), 1),  # next to nothing is lost
        ((4.0, 1.0), (42.98, 42.8), 0),
        ((4.0, 3.99), (42.98, 42.95), 0),  # more than what the certificate falls by
        ((9.0, 8.0), (42.98, 42.97), 0),  # neither certificate says much
        ((9.0, 1.0), (42.98, 42.97), 1),
        ((4.0, 1.0), (-1.0, -1.001), 1),
    ],
)
def test_a_smaller_certificate_that_costs_next_to_nothing_is_taken(gaps, values, expected):
    values = np.array(values)
    found = chosen([candidate(gap) for gap in gaps], Expected(values, values, np.zeros(2)), "value", None)
    assert found == expected


def test_a_certificate_that_says_more_of_a_larger_range_is_no_reason():
    values = np.array([5.0, 4.995])
    found = chosen([candidate(1.0, 1.5), candidate(3.0)], Expected(values, values, np.zeros(2)), "value", None)
    assert found == 0
