"""Lemma 2: where all intervals hold, the surrogate gap is at least the true gap, for every strategy at once.

True for size-free utilities (for others see `finding_2_size_dependence.py`), whatever the intervals are: the
value of a deviation is at most its optimistic value, the own value at least the pessimistic one. And a
strategy whose surrogate is within eps of the minimum has a gap of at most the minimum plus eps.

Checked on random games with estimates anywhere inside their intervals. Also checked: `paired`, which
drops what a deviation keeps, is never larger, and at least the gap as well. The surrogate is above 0 for
everybody who has company, and 0 only if all are alone and would stay alone.
"""

import numpy as np

from coterie import Game, Strategy
from coterie.certificates.gains import LinearBound, worst_deviations
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paper import SurrogateBound, paper, paper_bonus
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree


def surrogate_of(optimistic: Game, pessimistic: Game, strategy: Strategy) -> float:
    """Return the surrogate gap of the library's `paper` certificate."""
    high, low = optimistic.room_values(strategy), pessimistic.room_values(strategy)
    return float(worst_deviations(SurrogateBound(strategy.marginals, high, low), optimistic.actions).value.max())


rng = np.random.default_rng(1)
for _ in range(100):
    n, k = 4, 3
    upper = np.triu(rng.uniform(-1, 1, (2, k, n, n)), 1)
    means, width = upper + np.swapaxes(upper, 2, 3)
    width = np.abs(width)
    shift = np.triu(rng.uniform(-1, 1, (k, n, n)), 1)
    estimate = means + (shift + np.swapaxes(shift, 1, 2)) * width
    game = Game(means, "any")
    optimistic, pessimistic = Game(estimate + width, "any"), Game(estimate - width, "any")
    sets = game.actions.spaces[0].enumerate()
    mixed = Strategy.mixed([(sets, rng.dirichlet(np.ones(len(sets)))) for _ in range(n)])
    pure = game.strategy(sets[rng.integers(len(sets), size=n)])
    for strategy in (mixed, pure):
        high, low = optimistic.room_values(strategy), pessimistic.room_values(strategy)
        surrogate = surrogate_of(optimistic, pessimistic, strategy)
        paired = worst_deviations(LinearBound(strategy.marginals, high, low), game.actions).value.max()
        assert game.gap(strategy) <= max(paired, 0.0) + 1e-12
        assert paired <= surrogate + 1e-12
        # The definition, term by term (eq. 3, 4 and the surrogate below eq. 4).
        best, _ = optimistic.actions.best_responses(optimistic.room_values(strategy))
        assert np.isclose(surrogate, (best - pessimistic.values(strategy)).max())

    # The library's certificate from counts and means is this surrogate with the bonus of eq. 9.
    count = np.triu(rng.integers(1, 50, (k, n, n)), 1).astype(float)
    count += np.swapaxes(count, 1, 2)
    evidence = PairEvidence(
        PairEstimate.from_sums(SizeFree(), count, count * means, count * means**2, Bounds(-1.0, 1.0))
    )
    bonus = paper_bonus(count, n, k, 0.05) * ~np.eye(n, dtype=bool)
    ends = Game(means + bonus, "any"), Game(means - bonus, "any")
    assert np.isclose(paper(evidence, mixed, game.actions, 0.05).gap, surrogate_of(*ends, mixed))

    profiles = [game.strategy(row) for row in game.actions.sample(rng, 20)]
    values = np.array([surrogate_of(optimistic, pessimistic, profile) for profile in profiles])
    for index in np.flatnonzero(values <= values.min() + 0.1):
        assert game.gap(profiles[index]) <= values.min() + 0.1 + 1e-12

# Alone, and with nobody to join: nothing is uncertain. With company, twice its width.
width = Game(np.full((2, 2, 2), 0.1) * (1 - np.eye(2)), [["1"]])
minus = Game(np.full((2, 2, 2), -0.1) * (1 - np.eye(2)), [["1"]])
both = width.strategy({"1": ["1"], "2": ["1"]})
found = worst_deviations(
    SurrogateBound(both.marginals, width.room_values(both), minus.room_values(both)), width.actions
)
assert np.allclose(found.value, 0.2)
one = Game(np.full((2, 2, 2), 0.1) * (1 - np.eye(2)), {"1": [["1"]], "2": [["2"]]})
apart = one.strategy({"1": ["1"], "2": ["2"]})
rooms = one.room_values(apart)
assert (worst_deviations(SurrogateBound(apart.marginals, rooms, -rooms), one.actions).value == 0).all()

print("Lemma 2: surrogate >= paired >= gap in 200 strategies with random intervals that hold")
