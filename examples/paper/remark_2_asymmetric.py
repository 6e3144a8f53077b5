"""Remark 2: without symmetry, pure stable profiles need not exist; mixed strategies can still be learnt.

True. One agent wants to be where the other is, who wants to be elsewhere (matching pennies in two rooms):
no pure profile is stable, choosing uniformly is. And the only thing that changes for Lemma 2 is the number of
unknowns: ordered pairs instead of pairs, so the union bound of the widths has twice as many events.
"""

import numpy as np

from coterie import Game
from coterie.certificates import paired
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds, distinct_pairs
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree

pursuit = np.zeros((2, 2, 2))
pursuit[:, 0, 1], pursuit[:, 1, 0] = 1.0, -1.0
game = Game(pursuit, "one", symmetric=False)
assert game.stable_profiles() == []
assert game.gap(game.uniform()) == 0

count = np.full((2, 2, 2), 10_000.0) * (1 - np.eye(2))
assert distinct_pairs(count, symmetric=False) == 2 * distinct_pairs(count, symmetric=True)
evidence = PairEvidence(
    PairEstimate.from_sums(SizeFree(), count, count * pursuit, count, Bounds(-1.0, 1.0), symmetric=False)
)
certificate = paired(evidence, game.uniform(), game.actions, 0.01)
assert 0 < certificate.gap < 0.05

print(f"Remark 2: pursuit has no stable pure profile; the uniform strategy is stable, certified {certificate.gap:.4f}")
