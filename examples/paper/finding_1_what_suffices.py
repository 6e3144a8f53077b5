"""Finding 1, the other side: what suffices is that pairs are covered, and sizes need not be.

The proof of Theorem 3 (App. E) has four steps that fail. It leaves pairs with N = 0 out of the bonus
(see `finding_11_unseen_pairs.py`). It bounds the probability of every size, 0 and 1 included, by the sum
over pairs of the probability to meet (eq. 40), although nobody meets in a coalition of one. It takes
that sum to be at most 1 (eq. 43), although in a coalition of all n there are n (n - 1) / 2 pairs at once.
And it loses a factor (see `finding_14_constants.py`).

What can be said instead. Let rho_l(i, j) be the probability that i and j are both in l, p_j(l) the marginals
of a stable strategy, c_pair the largest p_j(l) / rho_l(i, j) over the pairs that a deviation from it can bring
together, and K the number of pairs x coalitions. If M rho >= 8 log(4 K / delta) for all of these, then
Chernoff gives N >= M rho / 2, the widths sqrt(2 log(4 K / delta) / N) hold together, each with probability
1 - delta / 2, and Theorem 1 turns them into

    gap <= 8 (n - 1) k sqrt(c_pair log(4 K / delta) / M) + eps_opt.

The script checks the failing steps, the inequality between bonus and c_pair on random instances, and
learns a size-free game from a log in which everybody is only ever seen in pairs: Assumption 1 fails
at every stable profile, the certificate still goes to 0, and the profile is stable.
"""

import numpy as np

from coterie import Game
from coterie.certificates import paired
from coterie.certificates.pair_evidence import PairEvidence
from coterie.coverage import coverage
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree
from coterie.simulate.policies import UniformOver
from coterie.theory import bounds

rng = np.random.default_rng(1)

# Steps of the proof: nobody meets, yet sizes 0 and 1 occur; everybody meets, and the sum is 6, not 1.
alone = UniformOver(np.eye(4, dtype=bool)[None])
together = UniformOver(np.ones((1, 4, 4), dtype=bool))
off = np.triu(np.ones((4, 4)), 1)
assert (alone.size_probabilities()[:, 1] == 1).all()
assert (alone.meeting_probabilities() * off).sum() == 0
assert ((together.meeting_probabilities() * off).sum(axis=(1, 2)) == 6).all()

# E[bonus] <= 2 (n - 1) k sqrt(c_pair log(4 K / delta) / M) once N >= M rho / 2, for any p and rho.
n, k, delta, samples = 5, 3, 0.01, 10**6
log_term = np.log(4 * n * (n - 1) / 2 * k / delta)
for _ in range(200):
    p, rho = rng.uniform(0, 1, (k, n)), rng.uniform(0.01, 1, (k, n, n))
    rho[:, np.arange(n), np.arange(n)] = np.inf
    c_pair = (p[:, None, :] / rho).max()
    bonus = np.sqrt(2 * log_term / (samples * rho / 2))
    expected = (bonus * p[:, None, :]).sum(axis=2).max(axis=1).sum()
    assert expected <= 2 * (n - 1) * k * np.sqrt(c_pair * log_term / samples)
    # Staying and deviating, doubled by Theorem 1: the library's bound.
    assert 4 * expected <= bounds.pair_coverage(bounds.Problem(n, k, delta, c_pair=c_pair)).gap(samples) + 1e-9

# A size-free game: company is welcome in room 1 and not in room 2, so everybody in room 1 is stable.
means = np.array([0.5, -0.2])[:, None, None] * (1 - np.eye(4))
game = Game(means, "one")
(everybody,) = game.stable_profiles()
assert everybody.sets[:, 0].all()
# The log shows two agents in each room, never more or fewer, so no strategy satisfies Assumption 1.
policy = UniformOver.where(game.actions, lambda a: a[:, :, 0].sum(axis=1) == 2)
covered = coverage(policy, everybody, game.actions)
missing = [(witness.coalition, witness.size) for witness in covered.uncovered_sizes]
assert missing == [("1", 3), ("1", 4), ("2", 0), ("2", 1)]
assert covered.covers_pairs

gaps = []
for times in (10, 100, 1000):
    count = np.full((2, 4, 4), float(times)) * (1 - np.eye(4))
    upper = np.triu(rng.binomial(times, (1 + means) / 2), 1).astype(float)
    total = (2 * (upper + np.swapaxes(upper, 1, 2)) - count) * (count > 0)
    evidence = PairEvidence(PairEstimate.from_sums(SizeFree(), count, total, count, Bounds(-1.0, 1.0)))
    profiles = [game.strategy(row) for block in game.actions.joint_actions() for row in block]
    found = min((paired(evidence, s, game.actions, 0.01).gap, index) for index, s in enumerate(profiles))
    gaps.append(found[0])
assert gaps[-1] == 0
assert game.gap(profiles[found[1]]) == 0

print(
    f"Finding 1: only pairs were seen; the certificate is {gaps[0]:.2f}, {gaps[1]:.2f}, {gaps[2]:.2f} as the log grows"
)
