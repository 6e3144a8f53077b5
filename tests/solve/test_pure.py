"""The pure search against enumeration, and its manners: seeds, limits, interruptions, honest endings."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from coterie import ActionSpaces, Game, InputError, any_subset, exactly_one
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles
from coterie.solve.objective import GapObjective, HoldoutObjective, PairedObjective, estimated_gap
from coterie.solve.pure import _Search, pure
from solver_instances import from_setting, random_evidence, random_spaces, small_game

GAMES = 60


def objectives(evidence, spaces):
    return (
        PairedObjective(evidence, spaces, 0.01),
        HoldoutObjective(evidence, spaces, 0.01),
        PairedObjective(evidence, spaces, 0.01, form="box"),
        estimated_gap(evidence, spaces),
    )


@pytest.mark.slow
def test_finds_the_optimum_of_small_games():
    """At least 95 % exactly, negative margins included; the certificate within 1 % on all."""
    exact = 0
    for seed in range(GAMES):
        evidence, spaces = small_game(seed, most=3000, symmetric=seed % 5 > 0)
        objective = objectives(evidence, spaces)[seed % 4]
        objective.margin_counts = True
        best = enumerate_profiles(objective)
        found = pure(objective, Control(seed), starts=64, kicks=8)
        assert found.value >= best.value - 1e-9
        assert found.certificate <= 1.01 * best.certificate + 2e-6
        exact += found.value <= best.value + 1e-9
    assert exact >= 0.95 * GAMES


@pytest.mark.parametrize("name", ["pooled", "sizes", "bandit", "bandit joint", "bandit sizes", "shared noise"])
def test_finds_the_optimum_for_every_kind_of_evidence(name):
    game, whole, learning, certifying = from_setting(name)
    preview = certifying.preview(learning)
    for objective in (PairedObjective(whole, game.actions, 0.1), HoldoutObjective(preview, game.actions, 0.1)):
        best = enumerate_profiles(objective)
        found = pure(objective, Control(1), starts=32, kicks=3)
        assert found.certificate <= best.certificate + 1e-9
        assert objective.value(found.strategy.sets) == pytest.approx(found.value)


def test_ties_go_to_the_largest_potential():
    game = Game(np.array([[[0, 1.0], [1, 0]], [[0, 2.0], [2, 0]], [[0, 0.5], [0.5, 0]]]), "one")
    found = pure(GapObjective(game))
    assert found.strategy.members()["2"] == ["1", "2"]
    assert found.certificate == 0
    assert len({strategy.sets.tobytes() for strategy in found.candidates}) == len(found.candidates) > 1


def test_no_stable_profile_is_said():
    """Matching pennies: 1 wants to be with 2, who wants to be alone."""
    means = np.zeros((2, 2, 2))
    means[:, 0, 1], means[:, 1, 0] = 1.0, -1.0
    found = pure(GapObjective(Game(means, "one", symmetric=False)))
    assert found.status == "cycled"
    assert "no stable pure profile was found in the game" in found.note
    assert found.value == 1.0
    assert "cycled" in str(found)
    assert found.to_json()["status"] == "cycled"


@pytest.mark.slow
def test_large_spaces():
    rng = np.random.default_rng(0)
    evidence = random_evidence(rng, 5, 12, 5000)
    spaces = ActionSpaces.shared(any_subset(12), 5)
    for objective in (PairedObjective(evidence, spaces, 0.1, form="box"), estimated_gap(evidence, spaces)):
        found = pure(objective, Control(3), starts=6, kicks=1)
        assert spaces.contains(found.strategy.sets).all()
        assert found.value <= objective.margins(spaces.sample(rng, 20)).max(axis=1).min()


def test_nobody_has_a_choice():
    evidence = random_evidence(np.random.default_rng(0), 3, 1)
    spaces = ActionSpaces.shared(exactly_one(1), 3)
    for objective in objectives(evidence, spaces):
        assert pure(objective, starts=4).value == 0
        assert enumerate_profiles(objective).value == 0


def test_a_seed_decides():
    evidence, spaces = small_game(3)
    objective = PairedObjective(evidence, spaces, 0.1)
    one, two = (pure(objective, Control(7), starts=16, kicks=2) for _ in range(2))
    assert [s.sets.tobytes() for s in one.candidates] == [s.sets.tobytes() for s in two.candidates]
    assert (one.value, one.sweeps) == (two.value, two.sweeps)


TIES = """
import numpy as np
from coterie import Game
from coterie.solve import Control, pure
from coterie.solve.objective import GapObjective

means = np.random.default_rng(0).uniform(-1, 1, (1, 8, 8)) * ~np.eye(8, dtype=bool)
game = Game(np.repeat(means, 3, axis=0), "one", symmetric=False)
found = pure(GapObjective(game), Control(1), starts=16, kicks=6, keep=64)
print(found.sweeps, *(strategy.sets.tobytes().hex() for strategy in found.candidates))
"""


@pytest.mark.slow
def test_the_order_of_hashes_does_not_matter():
    """Interchangeable coalitions: every value occurs several times."""
    printed = {
        subprocess.run(
            [sys.executable, "-c", TIES], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


def hard_objective():
    rng = np.random.default_rng(0)
    return PairedObjective(random_evidence(rng, 30, 5), random_spaces(rng, 30, 5, 8), 0.01)


def test_time_limit():
    objective = hard_objective()
    begin = time.perf_counter()
    found = pure(objective, Control(0, time_limit=0.3), starts=512, kicks=1000)
    assert found.status == "time"
    assert time.perf_counter() - begin < 5
    assert found.value == pytest.approx(objective.value(found.strategy.sets))
    with pytest.raises(InputError, match="time_limit: expected a positive number"):
        Control(0, time_limit=0.0)


@pytest.mark.slow
def test_stop_flag_and_progress():
    flag, seen = threading.Event(), []

    def note(progress):
        seen.append(progress)
        flag.set()

    found = pure(hard_objective(), Control(0, progress=note, stop=flag.is_set), starts=16, kicks=1000)
    assert found.status == "interrupted"
    assert seen[0].method == "pure"
    assert seen[0].value >= found.value


def test_what_a_descent_reached_is_never_lost(monkeypatch):
    rng, reached = np.random.default_rng(0), [np.inf]
    objective = PairedObjective(random_evidence(rng, 10, 4), random_spaces(rng, 10, 4, 6), 0.01)
    better, softly = _Search._better, _Search._softly_lowered

    def noted(found):
        if found is not None:
            reached[0] = min(reached[0], float(found[1].max()))
        return found

    monkeypatch.setattr(_Search, "_better", lambda *given: noted(better(*given)))
    monkeypatch.setattr(_Search, "_softly_lowered", lambda *given: noted(softly(*given)))
    for stop in range(3, 60, 4):
        reached[0], asked = np.inf, iter(range(stop))
        found = pure(objective, Control(0, stop=lambda asked=asked: next(asked, None) is None), starts=16)
        assert found.status == "interrupted"
        assert found.value <= reached[0] + 1e-12


@pytest.mark.slow
def test_soft_descents_find_more():
    """Where the largest margin alone leads to poor ends, the soft maximum leads to better ones on average."""
    rng = np.random.default_rng(5)
    objective = PairedObjective(random_evidence(rng, 15, 4), random_spaces(rng, 15, 4, 8), 0.01)
    ends = {"descend": [], "descend_softly": []}
    for profile in objective.spaces.sample(rng, 12):
        for name, values in ends.items():
            search = _Search(objective, Control(0))
            getattr(search, name)(profile)
            (end,) = search.ends
            values.append(search.values[end])
            assert search.best_value <= objective.value(profile)
            # No single agent's move lowers the largest margin any further.
            assert search._better(search.profiles[end], search.margins[end]) is None
    assert np.mean(ends["descend_softly"]) < 0.9 * np.mean(ends["descend"])


@pytest.mark.slow
def test_keyboard_interrupt_returns_the_best_so_far():
    def press(progress):
        raise KeyboardInterrupt

    found = pure(hard_objective(), Control(0, progress=press), starts=16)
    assert found.status == "interrupted"
    assert np.isfinite(found.value)


def test_more_starts_only_where_most_come_to_rest():
    rng = np.random.default_rng(2)
    for symmetric, tried in ((True, 600), (False, 512)):
        means = rng.normal(size=(3, 12, 12)) * ~np.eye(12, dtype=bool)
        # Friends, or what one wins the other loses.
        means += np.swapaxes(means, 1, 2) * (1 if symmetric else -1)
        game = Game(means, ActionSpaces.shared(exactly_one(3), 12), symmetric=symmetric)
        found = pure(GapObjective(game), Control(0), starts=600, kicks=0)
        assert found.starts == tried


def test_a_search_ends_by_work_and_where_there_is_no_hope():
    rng = np.random.default_rng(4)
    objective = HoldoutObjective(random_evidence(rng, 10, 3, 20), random_spaces(rng, 10, 3, 5), 0.05)
    whole = pure(objective, Control(0), starts=16)
    assert whole.status == "converged"
    short = [pure(objective, Control(0), starts=16, work=2_000) for _ in range(2)]
    assert [one.status for one in short] == ["limit", "limit"]
    assert (short[0].strategy.sets == short[1].strategy.sets).all()
    assert whole.value <= short[0].value
    assert short[0].sweeps < whole.sweeps
    # With hope it is the same search, without it one descent.
    hoped = pure(objective, Control(0), starts=16, hopeless=np.inf)
    assert (hoped.value, hoped.sweeps) == (whole.value, whole.sweeps)
    given_up = pure(objective, Control(0), starts=16, hopeless=-np.inf)
    assert given_up.status == "converged"
    assert whole.value <= given_up.value
    assert given_up.sweeps < whole.sweeps


def test_starts_are_within_the_time_limit_and_progress_comes_before_them(monkeypatch):
    rng = np.random.default_rng(4)
    objective = HoldoutObjective(random_evidence(rng, 10, 3, 20), random_spaces(rng, 10, 3, 5), 0.05)
    told, asked = [], []

    def stop():
        asked.append(len(told))
        return len(asked) > 3  # in the middle of making starts

    module = sys.modules["coterie.solve.pure"]
    monkeypatch.setattr(module, "settle", None)  # never reached
    found = pure(objective, Control(0, progress=told.append, stop=stop), starts=64)
    assert found.status == "interrupted"
    assert asked[0] == 1, "a report came first"
    assert objective.spaces.contains(found.strategy.sets).all()
