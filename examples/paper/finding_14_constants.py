"""Finding 14: constants.

Corollary 3 (App. E.4) asks for M >= 576 ..., which is 24^2; solving Theorem 6 for M also squares the root
of 2 (n - 1), so it is 1152. With the printed M the bound is sqrt(2) times the gap that was asked for.
(Corollary 1 has it right: 8^2 times 2 is 128.)

Theorems 3 and 6: the step from the bonus sqrt(2 log(4 (n + 1) k / delta) / N) to counts (eq. 39d and 51d)
inserts 1 / N <= 8 log(2 (n + 1) k / delta) / (M rho), which makes 16 under the root; 8 is printed. The
root of the product of the two logarithms is smaller than the printed logarithm, but not by sqrt(2).

Theorem 1 is right as stated, with the factor 2; the last line of its proof (eq. 25g) has 2 inside the
maximum as well. Corollary 2 is implicit: beta grows with log M, so M must be found by iteration.
Lemma 7, which is cited, needs a small delta: for N = M it claims 1 / M <= 8 log(1 / delta) / M, which is
false for delta > exp(-1 / 8) = 0.88. It is used with small ones only.
"""

import math

import numpy as np

from coterie.certificates.paper import paper_radius
from coterie.theory.bounds import Problem, appendix_e3, appendix_e4, pair_coverage, theorem_3, theorem_5


def theorem_6(n: int, k: int, c_size: float, delta: float, samples: float) -> float:
    """Return the bound on the gap, as printed, without eps_opt."""
    bracket = (n - 1) / 2 + math.sqrt(n / 2)
    return 24 * k * n * c_size * math.log(4 * (n + 1) * k / delta) * math.sqrt(2 * (n - 1) / samples) * bracket


def samples_for(constant: float, gap: float, n: int, k: int, c_size: float, delta: float) -> float:
    """Return the M of Corollary 3 with the given constant."""
    bracket = (n - 1) / 2 + math.sqrt(n / 2)
    return constant * (k * n * c_size * math.log(4 * (n + 1) * k / delta) * bracket / gap) ** 2 * (n - 1)


for n, k, gap in ((3, 2, 0.1), (10, 5, 0.5), (25, 25, 1.0)):
    printed, right = (samples_for(c, gap, n, k, 3.0, 0.01) for c in (576, 1152))
    assert math.isclose(theorem_6(n, k, 3.0, 0.01, printed), math.sqrt(2) * gap)
    assert math.isclose(theorem_6(n, k, 3.0, 0.01, right), gap)
    # The library's bounds: Theorem 6 gives 1152, Corollary 3 is printed with 576, Theorem 3 has n + 1 for 3.
    problem = Problem(n, k, c_size=3.0)
    assert math.isclose(appendix_e3(problem).samples(gap), right, rel_tol=1e-6)
    assert math.isclose(appendix_e4(problem).samples(gap), printed, rel_tol=1e-6)
    assert math.isclose(theorem_3(problem).gap(10**6), (n + 1) / 3 * theorem_6(n, k, 3.0, 0.01, 10**6))

    # Bonus at the smallest count that Lemma 8 allows, times sqrt(M rho), against eq. 39d.
    wide, narrow = math.log(4 * (n + 1) * k / 0.01), math.log(2 * (n + 1) * k / 0.01)
    inserted = math.sqrt(2 * wide * 8 * narrow)
    assert 1.3 < inserted / math.sqrt(8 * wide**2) < math.sqrt(2)
    # What is true of counts, N >= M rho / 2 for rho = 1 / c_pair, gives four times the bonuses of (n - 1) k pairs.
    events = n * (n - 1) // 2 * k
    bonus = math.sqrt(2 * math.log(4 * events / 0.01) / (10**6 / 2))
    assert math.isclose(pair_coverage(problem).gap(10**6), 4 * (n - 1) * k * bonus)

# Theorem 1 on numbers: surrogate <= gap + 2 (bonus of the deviation + bonus of staying).
rng = np.random.default_rng(1)
for _ in range(1000):
    value, bonus = rng.uniform(-1, 1, (2, 4)), rng.uniform(0, 1, (2, 4))
    estimate = value + rng.uniform(-1, 1, (2, 4)) * bonus
    # Row 0: the deviation of each of four agents, row 1: staying.
    surrogate = (estimate[0] + bonus[0] - (estimate[1] - bonus[1])).max()
    assert surrogate <= (value[0] - value[1]).max() + 2 * (bonus[0] + bonus[1]).max() + 1e-12

# Corollary 2: the right side depends on M.
n, k, c_act, gap = 4, 3, 0.01, 1.0
samples = 1.0
for _ in range(100):
    samples = 16 * n**2 * k * paper_radius(n, k, round(samples), 0.01) ** 2 / (c_act * gap**2)
bound = 4 * math.sqrt(n**2 * k * paper_radius(n, k, round(samples), 0.01) ** 2 / (c_act * samples))
assert math.isclose(bound, gap, rel_tol=1e-6)
assert math.isclose(theorem_5(Problem(n, k, c_act=c_act)).samples(gap), samples, rel_tol=1e-3)
assert 8 * math.log(1 / 0.9) < 1

print(f"Finding 14: 1152 for 576, 16 for 8 under the root; Corollary 2 needs {samples:,.0f} samples at n = 4, k = 3")
