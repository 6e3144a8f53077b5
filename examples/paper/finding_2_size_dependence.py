"""Finding 2: where utilities depend on size, the certificate of Lemma 2 is false.

Three agents, two coalitions, uniform exploration. In coalition 1 company is worth 0.8 to two
agents and -0.6 to three; coalition 2 always costs 0.5. Estimates by pair and coalition (eq. 8)
average over sizes and see 0.1 in coalition 1. The surrogate gap (eq. 6, widths of eq. 9) is claimed
to exceed the true gap with probability 1 - delta; yet, over pure profiles, it is smallest with
everybody in coalition 1, where it shrinks with the log while the true gap is 1.2.

Observed here on one simulated log of each length with delta = 0.01: the certificate is 0.32, 0.10
and 0.03 at 1e4, 1e5 and 1e6 samples. Over mixed strategies (a grid) the same profile is best from
1e5 on; at 1e4 it is to be in coalition 1 with probability 0.875 or so, certified 0.30, true gap
0.54: false as well.
"""

from functools import partial
from itertools import combinations_with_replacement

import numpy as np

from coterie import Game, Strategy
from coterie.certificates import paper
from coterie.certificates.pair_evidence import PairEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import SizeFree
from coterie.theory import mean_feedback, size_dependence

DELTA = 0.01
instance = size_dependence()
(game,) = instance.games
n, k = game.n_agents, game.n_coalitions
explored = instance.policy.explored()
meet = np.einsum("bil,bjl->blij", explored, explored) & ~np.eye(n, dtype=bool)
means = mean_feedback(game, explored, "semi-bandit")
rng = np.random.default_rng(1)
everybody_in_1 = game.strategy({agent: ["1"] for agent in game.agents})
grid = [
    Strategy.mixed([(np.eye(2, dtype=bool), [p, 1 - p]) for p in shares])
    for shares in combinations_with_replacement(np.linspace(0, 1, 17), n)
]


def surrogate(optimistic: Game, pessimistic: Game, strategy: Strategy) -> float:
    """Return the largest difference of any agent's optimistic best response and pessimistic value."""
    best, _ = optimistic.actions.best_responses(optimistic.room_values(strategy))
    return float((best - pessimistic.values(strategy)).max())


for n_samples, stated in ((10**4, 0.32), (10**5, 0.10), (10**6, 0.03)):
    # A log enters only through counts and sums, which can be drawn directly: per joint action, how
    # often it occurred and, for each pair that met, how often its noise was positive.
    occurred = rng.multinomial(n_samples, np.full(len(explored), 1 / len(explored)))[:, None, None, None]
    raised = np.triu(rng.binomial(np.broadcast_to(occurred, meet.shape), 0.5))
    raised += np.swapaxes(raised, 2, 3)
    count = (occurred * meet).sum(axis=0)
    total = np.where(meet, occurred * means + instance.noise * (2 * raised - occurred), 0.0).sum(axis=0)
    estimate = total / np.maximum(count, 1)
    width = np.sqrt(2 * np.log(4 * (n + 1) * k / DELTA) / np.maximum(count, 1)) * ~np.eye(n, dtype=bool)
    optimistic, pessimistic = Game(estimate + width, "one"), Game(estimate - width, "one")
    certificate = partial(surrogate, optimistic, pessimistic)
    pure = min((game.strategy(profile) for profile in explored), key=certificate)
    assert (pure.marginals == everybody_in_1.marginals).all()
    assert abs(certificate(pure) - stated) < 0.01
    sums = (count.astype(float), total, np.square(estimate) * count)
    evidence = PairEvidence(PairEstimate.from_sums(SizeFree(), *sums, Bounds(-1.0, 1.0)))
    assert np.isclose(paper(evidence, pure, game.actions, DELTA).gap, certificate(pure))
    assert np.isclose(game.gap(pure), 1.2)
    mixed = min(grid, key=certificate)
    assert certificate(mixed) < game.gap(mixed) - 0.2
    assert n_samples < 10**5 or game.gap(mixed) == game.gap(pure)
    print(
        f"Finding 2: {n_samples:>7} samples: certificate {certificate(pure):.3f}, true gap {game.gap(pure):.1f}; "
        f"mixed {certificate(mixed):.3f}, {game.gap(mixed):.3f}"
    )
