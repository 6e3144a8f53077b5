"""Theorem 1: the minimiser of the surrogate has a gap of at most twice the bonuses around a stable strategy.

True, with the factor 2, if the bonus holds for all joint actions: with phi* stable and b the bonus,

    gap(output) <= surrogate(output) <= surrogate(phi*) + eps
                <= 2 max over i of [max over a' of E b_i(a', phi*) + E b_i(phi*)] + eps.

Checked by enumeration: random games, random bonuses and estimates within them; the pure profile with the
smallest surrogate (Algorithm 2) against the bound at every stable profile; the uniform strategy
is the reference where coalitions are interchangeable, so that a mixed one is tried as well.
"""

from functools import partial

import numpy as np

from coterie import Game, Strategy
from coterie.theory.bounds import theorem_1


def surrogate(optimistic: Game, pessimistic: Game, strategy: Strategy) -> float:
    """Return the largest difference of optimistic best response and pessimistic value."""
    best, _ = optimistic.actions.best_responses(optimistic.room_values(strategy))
    return float((best - pessimistic.values(strategy)).max())


rng = np.random.default_rng(1)
slack = []
for trial in range(40):
    n, k = 3, 2
    upper = np.triu(rng.uniform(-1, 1, (3, k, n, n)), 1)
    means, width, shift = upper + np.swapaxes(upper, 2, 3)
    if trial % 2:
        means[1] = means[0]
    width = 0.3 * np.abs(width)
    estimate = means + shift * width
    game = Game(means, "one")
    optimistic, pessimistic = Game(estimate + width, "one"), Game(estimate - width, "one")
    bonus = Game(width, "one")

    profiles = [game.strategy(row) for block in game.actions.joint_actions() for row in block]
    references = game.stable_profiles() + ([game.uniform()] if trial % 2 else [])
    assert all(game.is_nash_stable(reference) for reference in references)
    value = partial(surrogate, optimistic, pessimistic)
    output = min([*profiles, *references], key=value)
    for reference in references:
        largest, _ = bonus.actions.best_responses(bonus.room_values(reference))
        bound = theorem_1(largest, bonus.values(reference), measured_at=1).gap(1)
        assert np.isclose(bound, 2 * float((largest + bonus.values(reference)).max()))
        assert game.gap(output) <= value(output) + 1e-12
        assert value(output) <= bound + 1e-12
        slack.append(value(output) / bound)

print(f"Theorem 1: holds at {len(slack)} stable strategies; the surrogate uses {100 * np.mean(slack):.0f} % of it")
