"""Small steps against the sets of the action space that are one or one for one away."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import UpTo
from coterie.game.steps import small_steps
from random_games import random_space


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_small_steps_are_the_sets_one_step_away(seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng, int(rng.integers(1, 6)))
    own = space.sample(rng, 1)[0]
    joins = [row for row in space.enumerate() if (row != own).sum() == 1]
    swaps = [row for row in space.enumerate() if (row != own).sum() == 2 and row.sum() == own.sum()]
    found = small_steps(space, own)
    assert sorted(row.tobytes() for row in found) == sorted(row.tobytes() for row in joins + swaps)
    assert {row.tobytes() for row in small_steps(space, own, 0)} == {row.tobytes() for row in joins}


def test_joins_and_leaves_come_first_and_swaps_are_limited():
    own = np.array([True, True, False, False])
    steps = small_steps(UpTo(4, 4), own, 3)
    assert steps.astype(int).tolist() == [
        [0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1],
        [0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0],
    ]  # fmt: skip
