"""Finding 10: eq. (9) pays for fewer statements than must hold together.

Its width sqrt(2 log(4 (n + 1) k / delta) / N) is Hoeffding's for a two-sided failure probability of
delta / (2 (n + 1) k) per pair and coalition, so a union bound covers 2 (n + 1) k of them. There are
n (n - 1) k / 2, which is more from six agents on. The inequality of Lemma 6 is hence not proven there; and
for large n it is false. With utilities of +1 and -1, equally likely, all failure probabilities are
exact binomial tails: for k = 5 and delta = 0.01 the probability that all intervals hold falls below
1 - delta at n = 49 to 53 for the first time, by the number N of observations of each pair, stays below
from n = 70 on at the latest (tails of small N come in steps), and goes on falling.

The repair: log(2 E / delta), with E the number of pairs and coalitions (`coterie.estimate.confidence`).
It is not a matter of constants only: E grows with n^2.
"""

import math

import numpy as np
from scipy.stats import binom

from coterie.certificates.paper import paper_bonus
from coterie.estimate.confidence import hoeffding

K, DELTA = 5, 0.01


def failure(n: int, count: int, width: float) -> float:
    """Return the probability that some pair's mean of `count` fair signs is further than `width` from 0."""
    # The mean is 2 ups / count - 1; by symmetry both sides are equally likely.
    ups = math.ceil(count * (1 + width) / 2 + 1e-9)
    each = 2 * binom.sf(ups - 1, count, 0.5)
    return -math.expm1(n * (n - 1) / 2 * K * math.log1p(-each))


paid = [n for n in range(2, 20) if n * (n - 1) / 2 <= 2 * (n + 1)]
assert paid == [2, 3, 4, 5]

first = {}
for count in (200, 1_000, 10_000, 100_000):
    counts = np.array([float(count)])
    fails = {n: failure(n, count, float(paper_bonus(counts, n, K, DELTA)[0])) for n in range(6, 120)}
    first[count] = min(n for n in fails if fails[n] > DELTA)
    assert all(fails[n] > DELTA for n in range(70, 120))
    for n in (6, 50, 119):
        events = n * (n - 1) // 2 * K
        assert failure(n, count, float(hoeffding(counts, 1.0, events, DELTA)[0])) < DELTA
assert set(first.values()) == {49, 53}
assert failure(2_000, 10_000, float(paper_bonus(np.array([1e4]), 2_000, K, DELTA)[0])) > 0.2

print(f"Finding 10: eq. (9) pays for too few events from n = 6 on; failures exceed delta from n = {first} (by N) on")
