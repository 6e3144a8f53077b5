"""Enumeration and the mixed-integer program against each other, and what they refuse."""

import numpy as np
import pytest

from coterie import ActionSpaces, Game, InputError, TooLargeError, any_subset
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles, mixed_integer
from coterie.solve.objective import GapObjective, HoldoutObjective, PairedObjective, estimated_gap
from solver_instances import from_setting, random_evidence, random_spaces


def test_enumeration_is_the_minimum_over_all():
    rng = np.random.default_rng(0)
    spaces = random_spaces(rng, 4, 3, 4)
    objective = PairedObjective(random_evidence(rng, 4, 3), spaces, 0.1)
    (everything,) = spaces.joint_actions()
    found = enumerate_profiles(objective)
    assert found.value == pytest.approx(objective.margins(everything).max(axis=1).min())
    assert found.bound == found.value
    assert found.status == "optimal"


@pytest.mark.parametrize("seed", range(8))
def test_the_program_finds_what_enumeration_finds(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 5)), 3
    spaces = random_spaces(rng, n, k, int(rng.integers(2, 6)))
    evidence = random_evidence(rng, n, k, symmetric=seed % 2 == 0)
    for objective in (PairedObjective(evidence, spaces, 0.1, form="box"), estimated_gap(evidence, spaces)):
        best, found = enumerate_profiles(objective), mixed_integer(objective)
        assert found.status == "optimal"
        assert found.value == pytest.approx(best.value, abs=2e-6)
        assert best.value - 2e-6 <= found.bound <= best.value + 1e-9


@pytest.mark.parametrize("name", ["pooled", "rare pairs"])
def test_the_program_on_logs(name):
    game, whole, *_ = from_setting(name)
    objective = PairedObjective(whole, game.actions, 0.1, form="box")
    assert mixed_integer(objective).value == pytest.approx(enumerate_profiles(objective).value, abs=2e-6)


def test_refusals_and_early_ends():
    rng = np.random.default_rng(1)
    evidence = random_evidence(rng, 8, 4)
    spaces = random_spaces(rng, 8, 4, 8)
    box = PairedObjective(evidence, spaces, 0.1, form="box")
    with pytest.raises(TooLargeError, match="pure profiles"):
        enumerate_profiles(box, limit=1000)
    with pytest.raises(TooLargeError, match="choices"):
        mixed_integer(box, limit=20)
    with pytest.raises(InputError, match="box form"):
        mixed_integer(HoldoutObjective(evidence, spaces, 0.1))
    short = mixed_integer(box, Control(0, time_limit=0.5))
    assert short.status == "time"
    assert short.bound is None or short.bound <= short.value
    stopped = mixed_integer(box, Control(0, stop=lambda: True))
    assert stopped.status == "interrupted"
    assert stopped.bound is None
    ended = enumerate_profiles(box, Control(0, stop=lambda: True), limit=10**9) if spaces.size < 2**20 else None
    assert ended is None or ended.status == "interrupted"
    early = enumerate_profiles(PairedObjective(evidence, random_spaces(rng, 8, 4, 4), 0.1), Control(0, time_limit=0.05))
    assert early.status == "time"
    assert early.bound is None


def test_no_choices_no_program():
    game = Game(np.zeros((1, 2, 2)), ActionSpaces.shared(any_subset(1), 2))
    assert mixed_integer(GapObjective(game)).value == 0
