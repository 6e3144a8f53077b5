"""What is expected of options, against the game that is expected."""

import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import Strategy
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Aware, Pooled, PooledAware, SizeFree
from coterie.game.actions import ActionSpaces
from coterie.learn.beliefs import Beliefs
from coterie.learn.options import (
    DRAWS,
    HURRIED,
    Choice,
    Expected,
    by_lot,
    chosen,
    distinct,
    likely_values,
    options_of,
)


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
    (found, worth), own = likely_values([difference, [(1.0, new.sets)]], beliefs, wishes, rng)
    game = beliefs.game(ActionSpaces.parse("one", new.agents, new.coalitions)).valued(value)
    expected = (game.values(new) - game.values(today))[staff].mean()
    assert found.expected == pytest.approx(expected)
    assert worth.expected == pytest.approx(game.values(new)[staff].mean())
    assert (found.range, found.chance) == ((found.expected, found.expected), None)
    each = (game.values(new) - game.values(today))[staff]
    assert [one.expected for one in own] == pytest.approx(each.tolist())


def test_teams_drawn_by_lot_have_the_same_places():
    profile = np.eye(3, dtype=bool)[[0, 0, 1, 1, 2, 2, 0]]
    profile[6] = False
    staff = np.array([True] * 6 + [False])
    (one, same), *drawn = by_lot(profile, staff, np.random.default_rng(0))
    assert one == 1.0
    assert same is profile
    assert sum(times for times, _ in drawn) == pytest.approx(-1.0)
    for _, other in drawn:
        assert (other.sum(axis=0) == profile.sum(axis=0)).all()
        assert not other[6].any()
    met = np.mean([(other @ other.T)[0, 1] for _, other in drawn])
    assert 0.0 < met < 0.6  # one in five is expected
    # Of those who are left two are in one team: there is nothing to draw.
    assert by_lot(np.eye(2, dtype=bool)[[0, 0, 1]], np.array([True, True, False]), np.random.default_rng(0)) is None
    assert by_lot(profile, np.zeros(len(profile), dtype=bool), np.random.default_rng(0)) is None
    assert by_lot(np.ones((600, 1), dtype=bool), np.ones(600, dtype=bool), np.random.default_rng(0)) is None


def test_whoever_waits_gets_a_range_of_fewer_draws():
    beliefs, (new, _) = made(SizeFree(), 6, 3, np.random.default_rng(0))
    drawn = []

    def draw(rng, number):
        drawn.append(number)
        return beliefs.middle + rng.normal(size=beliefs.middle.shape)

    wishes = SimpleNamespace(value="total", admissible=SimpleNamespace(staff=np.ones(6, dtype=bool)))
    wide = {}
    for late, count in ((False, DRAWS), (True, HURRIED)):
        drawn.clear()
        asked = [[(1.0, new.sets)]]
        (found,), own = likely_values(
            asked, replace(beliefs, draw=draw), wishes, np.random.default_rng(0), lambda late=late: late
        )
        assert len(drawn) == count
        for one in (found, *own):  # what is expected is always in its range
            assert one.range[0] <= one.expected <= one.range[1]
            assert 0 <= one.chance <= 1
        wide[late] = found.range[1] - found.range[0]
    assert wide[True] == pytest.approx(wide[False], rel=0.4)  # the deviation of 16 draws is known to a sixth


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
    assert found.place == expected
    assert ("and surer" in found.why) == (expected == 1)


def test_a_certificate_that_says_more_of_a_larger_range_is_no_reason():
    values = np.array([5.0, 4.995])
    found = chosen([candidate(1.0, 1.5), candidate(3.0)], Expected(values, values, np.zeros(2)), "value", None)
    assert found.place == 0


LESS = "after the expected gain by moving is taken off"
UNKNOWN = "too little is known of gains by moving to count them"


@pytest.mark.parametrize("goal", ["value", "fairness"])
@pytest.mark.parametrize(
    ("gaps", "worth", "expected_gaps", "target", "index", "why"),
    [
        ((0.0, 1.0, 0.0), (3.0, 9.0, 2.0), (0.5, 0, 0), None, 0, "{most} among those that are surely stable"),
        ((9.0, 8.0), (3.0, 2.0), (5, 0), None, 0, "{most}; {unknown}"),
        ((4.0, 1.0), (3.0, 2.0), (3, 0), None, 1, "{most} {less}"),
        ((4.0, 1.0), (3.0, 2.0), (0, 0), None, 0, "{most} {less}"),
        ((4.0, 1.0), (9.0, 2.0), (0, 0), 2.0, 1, "{most} {less}, among those certified within the target"),
        ((4.0, 3.0), (9.0, 2.0), (0, 0), 2.0, 0, "{most} {less}"),  # nothing keeps the target
        ((9.0, 8.0), (3.0, 2.0), (0, 5), 8.5, 1, "{most}, among those certified within the target; {unknown}"),
        ((4.0, 1.0), (9.0, 8.99), (0, 0), None, 1, "next to nothing less than what is {most} {less}, and surer"),
        ((4.0, 4.5), (9.0, 8.0), (5, 0), None, 0,
         "{most} {less}, among those that none beats in both value and certificate"),
    ],
)  # fmt: skip
def test_why_something_is_recommended_is_the_rule_that_decided(goal, gaps, worth, expected_gaps, target, index, why):
    worth, other = np.array(worth), np.zeros(len(gaps))
    values, least = (worth, other) if goal == "value" else (other, worth)
    found = chosen([candidate(gap) for gap in gaps], Expected(values, least, np.array(expected_gaps)), goal, target)
    most = "worth most" if goal == "value" else "most for whoever has least"
    assert found == (index, why.format(most=most, less=LESS, unknown=UNKNOWN))


def test_stability_takes_the_smallest_certificate():
    values = np.array([9.0, 1.0])
    found = chosen([candidate(4.0), candidate(1.0)], Expected(values, values, np.zeros(2)), "stability", None)
    assert found == (1, "the smallest certificate")


numbers = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=7)


@given(numbers, st.booleans())
def test_whoever_is_left_out_has_somebody_as_good_who_is_not(rows, has_today):
    columns = np.array(rows, dtype=float)
    stay = [0, len(rows) - 1] if has_today else [0]
    kept = distinct(columns, range(len(rows)), stay)
    assert set(stay) <= set(kept)
    for t in range(len(rows)):
        as_good = any((columns[u] >= columns[t]).all() for u in kept if u != t)
        assert as_good or t in kept
        assert t in stay or not (as_good and t in kept)


def offered(rows, *, today=None, is_known=False, first=0, by_range=10.0):
    """Options of candidates of which certificate, value, least, expected gap and moves are these."""
    gaps, values, least, expected_gaps, moves = np.array(rows, dtype=float).T
    candidates = [
        SimpleNamespace(
            certificate=SimpleNamespace(
                gap=gap, of_known=gap, method="paired", worst=SimpleNamespace(estimated_gain=0.0)
            ),
            strategy=SimpleNamespace(sets=t), by_range=by_range,
        )
        for t, gap in enumerate(gaps)
    ]  # fmt: skip
    wishes = SimpleNamespace(
        goal="value", today="today" if is_known or today is not None else None,
        admissible=SimpleNamespace(moves=lambda t: int(moves[t])),
    )  # fmt: skip
    found = options_of(candidates, Expected(values, least, expected_gaps), Choice(first, "so"), wishes, today)
    return [(one.strategy.sets, one.label, one.why) for one in found]


def test_an_option_that_is_no_better_in_anything_that_is_shown_is_left_out():
    rows = [(1.0, 3.0, 1.0, 0.1, 4), (0.9999, 2.999, 1.0, 0.1, 4), (2.0, 2.0, 0.5, 0.2, 4), (3.0, 1.0, 0.0, 1.0, 0)]
    assert offered(rows, today=3) == [(0, "recommended", "so"), (3, "today", "")]
    for moves, labels in ((1, ["recommended", "fewest moves"]), (4, ["recommended"])):  # moves are shown
        fewest = [rows[0], (2.0, 2.0, 0.5, 0.2, moves)]
        assert [label for _, label, _ in offered(fewest, is_known=True)] == labels


def test_a_certificate_counts_where_it_is_shown():
    rows = [(9.9, 3.0, 1.0, 0.1, 0), (9.5, 2.0, 1.0, 0.1, 0)]
    assert [label for _, label, _ in offered(rows)] == ["recommended"]
    assert [label for _, label, _ in offered(rows, by_range=20.0)] == ["recommended", "surest"]


def test_a_recommendation_stays_even_if_it_looks_beaten():
    rows = [(1.0, 3.004, 1.0, 0.1, 0), (0.5, 3.001, 2.0, 0.0, 0)]
    assert [t for t, _, _ in offered(rows)] == [0, 1]


def test_many_options_are_told_with_today_among_them():
    rows = [(t, t, 0.0, 0.0, 3) for t in range(1, 12)]
    assert len(offered(rows, first=10)) == 7
    found = offered([*rows, (12.0, 0.0, 0.0, 0.0, 0)], first=10, today=11)
    assert len(found) == 7
    assert found[-1] == (11, "today", "")
