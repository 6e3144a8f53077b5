"""Finding 11: the bonus of the appendix leaves out pairs that were never observed.

Eq. (9) gives such a pair the width of one observation, sqrt(2 log(4 (n + 1) k / delta)), which is more
than 1 and hence enough: its mean is in [-1, 1], its estimate 0. The appendix sums over pairs with
N >= 1 only (Lemma 6, eq. 31, and everything built on it), arguing that the others' part of the error
"is at most" 0 (eq. 34). Their part is minus the sum of their means, which has any sign.

Two agents and two coalitions; together they are worth 1 in coalition 2, where they have never been
together, and 0 in coalition 1. With the appendix's bonus both in coalition 1 has the surrogate gap 2b,
b the width of the one pair that was seen, which vanishes as the log grows; so has ({1}, {2}), where it
is b. The true gap of the latter is 1. Pairs that were never seen must count with the whole range.
"""

import numpy as np

from coterie import Game
from coterie.certificates import paper
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds, intervals
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree

DELTA = 0.01
means = np.zeros((2, 2, 2))
means[1] = [[0, 1], [1, 0]]
game = Game(means, "one")
apart = game.strategy({"1": ["1"], "2": ["2"]})
assert game.gap(apart) == 1.0

for samples in (10**2, 10**4, 10**6):
    # They met in coalition 1 only, and got 0 each time.
    count = np.zeros((2, 2, 2))
    count[0] = samples * (1 - np.eye(2))
    bonus = np.sqrt(2 * np.log(4 * 3 * 2 / DELTA) / np.maximum(count, 1)) * (count > 0)
    optimistic, pessimistic = Game(bonus, "one"), Game(-bonus, "one")
    best, _ = optimistic.actions.best_responses(optimistic.room_values(apart))
    appendix = float((best - pessimistic.values(apart)).max())
    assert np.isclose(appendix, np.sqrt(2 * np.log(2400) / samples))
    evidence = PairEvidence(
        PairEstimate.from_sums(SizeFree(), count, np.zeros_like(count), np.zeros_like(count), Bounds(-1.0, 1.0))
    )
    # Never seen: the whole range. Seen: less than that.
    lower, upper = intervals(evidence.estimate.moments, Bounds(-1.0, 1.0), DELTA)
    assert (lower[1, 0, 1], upper[1, 0, 1]) == (-1, 1)
    assert -1 < lower[0, 0, 1] < 0 < upper[0, 0, 1] < 1
    printed = paper(evidence, apart, game.actions, DELTA).gap
    assert printed > 1.0
assert appendix < 0.004

print(f"Finding 11: the appendix's bonus certifies {appendix:.4f} where the gap is 1; with eq. (9) it is {printed:.2f}")
