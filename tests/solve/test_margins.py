"""Compiled margins are those of the bounds, for every kind of evidence whose sums add up over partners."""

from dataclasses import replace

import numpy as np
import pytest

from coterie import ActionSpaces, Game
from coterie.certificates.pair_evidence import DependentBatches
from coterie.estimate.intervals import Bounds
from coterie.game.actions import any_subset, exactly_one
from coterie.reproduce.calibration import Setting
from coterie.simulate.hostile import signs
from coterie.solve import Control, pure
from coterie.solve import objective as objective_module
from coterie.solve.objective import (
    GapObjective,
    HoldoutObjective,
    PairedObjective,
    estimated_gap,
    soft_maximum,
)
from solver_instances import random_evidence, random_spaces

pytestmark = pytest.mark.slow  # whichever comes first compiles

N, K = 14, 3


@pytest.fixture(autouse=True)
def _even_small_ones(monkeypatch):
    monkeypatch.setattr(objective_module, "COMPILED", 1_000)


def _dependent(rng):
    """Evidence whose pairs may depend on each other within a sample."""
    setting = Setting("", N, K, 120, signs, noise="samples")
    source = setting.simulation(rng)
    (batch,) = source.batches(setting.samples)
    statistics = setting.statistics(source, batch, rng.random(setting.samples) < 0.5, "best")
    return setting.evidence(statistics.whole, source.game)


def _spaces(rng, kind):
    if kind == "any":
        return ActionSpaces.shared(any_subset(K), N)
    # Lists of their own, of different lengths; one agent does not count, one has no choice.
    own = [random_spaces(rng, 1, K, 2 + i % 5).spaces[0] for i in range(N - 1)]
    own.append(random_spaces(rng, 1, K, 1).spaces[0])
    return ActionSpaces((*own[:3], any_subset(K), *own[4:])).leaving_out([2])


OBJECTIVES = {
    "holdout": lambda evidence, spaces: HoldoutObjective(evidence, spaces, 0.05),
    "holdout, hoeffding": lambda evidence, spaces: HoldoutObjective(evidence, spaces, 0.05, form="hoeffding"),
    "paired": lambda evidence, spaces: PairedObjective(evidence, spaces, 0.05),
    "box": lambda evidence, spaces: PairedObjective(evidence, spaces, 0.05, form="box"),
    "estimate": estimated_gap,
}


def _slow(objective):
    """Let an objective compute everything in the obvious way."""
    objective.__dict__["_compiled"] = None
    return objective


def _moves(rng, spaces, count=60):
    movers = rng.integers(N, size=count)
    return movers, np.array([spaces.spaces[i].sample(rng, 1)[0] for i in movers])


@pytest.mark.parametrize("kind", ["any", "own"])
@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_compiled_margins_are_those_of_the_bounds(name, kind, noise):
    rng = np.random.default_rng([3, len(name)])
    evidence = random_evidence(rng, N, K, 40, symmetric=False) if noise == "pairs" else _dependent(rng)
    spaces = _spaces(rng, kind)
    fast, slow = OBJECTIVES[name](evidence, spaces), _slow(OBJECTIVES[name](evidence, spaces))
    assert fast._compiled is not None
    if noise == "samples" and name == "holdout":
        assert isinstance(fast._batched, DependentBatches)
    profiles, some = spaces.sample(rng, 5), np.array([0, 3, N - 2])
    np.testing.assert_allclose(fast.margins(profiles), slow.margins(profiles), atol=1e-10)
    np.testing.assert_allclose(fast.margins(profiles, some), slow.margins(profiles, some), atol=1e-10)
    for profile in profiles:
        movers, actions = _moves(rng, spaces)
        own = slow.moved_margins(profile, movers, actions)
        np.testing.assert_allclose(fast.moved_margins(profile, movers, actions), own, atol=1e-10)
        full = slow.margins_of_moves(profile, movers, actions)
        np.testing.assert_allclose(fast.margins_of_moves(profile, movers, actions), full, atol=1e-10)
        found = fast.margins_of_moves(profile, movers, actions, some)
        np.testing.assert_allclose(found, full[:, some], atol=1e-10)
        # Moves that end below the cut are known in full, of others that they do not.
        cut = float(np.median(full.max(axis=1)))
        found, small = fast.margins_of_moves(profile, movers, actions, cut=cut), full.max(axis=1) < cut - 1e-9
        np.testing.assert_allclose(found[small], full[small], atol=1e-10)
        assert (found[~small].max(axis=1) >= cut - 1e-9).all()
        assert small.any()
        assert not small.all()
        # The softest move, and none where nothing is softer.
        for width in (0.3, 3.0):
            soft = soft_maximum(full, width)
            best, margins = fast.softest_move(profile, movers, actions, width, np.median(soft))
            assert soft[best] == pytest.approx(soft.min(), abs=1e-9)
            np.testing.assert_allclose(margins, full[best], atol=1e-10)
            assert fast.softest_move(profile, movers, actions, width, soft.min() - 1e-6)[0] == -1


def test_what_does_not_add_up_is_not_compiled():
    rng = np.random.default_rng(0)
    spaces = ActionSpaces.shared(exactly_one(9), N)
    means = rng.normal(size=(9, N, N)) * ~np.eye(N, dtype=bool)
    known = Game(means, actions=spaces, symmetric=False)
    assert GapObjective(known)._compiled is not None
    assert GapObjective(known.valued("average"))._compiled is None
    assert (
        GapObjective(Game(means[:, :3, :3], actions=ActionSpaces.shared(exactly_one(9), 3), symmetric=False))._compiled
        is None
    )  # small
    evidence = random_evidence(rng, N, 9, 40)
    unseen = evidence.estimate.moments.count.copy()
    unseen[0, 0, 1] = unseen[0, 1, 0] = 0
    endless = replace(evidence.estimate.moments, count=unseen)
    unbounded = replace(evidence.estimate, moments=endless, bounds=Bounds(-np.inf, np.inf, sigma=1.0))
    assert HoldoutObjective(replace(evidence, estimate=unbounded), spaces, 0.05)._compiled is None
    assert HoldoutObjective(evidence, spaces, 0.05)._compiled is not None


def test_searches_end_at_the_same_profile():
    rng = np.random.default_rng(1)
    evidence, spaces = random_evidence(rng, N, K, 30), ActionSpaces.shared(any_subset(K), N)
    fast, slow = HoldoutObjective(evidence, spaces, 0.05), _slow(HoldoutObjective(evidence, spaces, 0.05))
    one, two = (pure(objective, Control(0), starts=32, kicks=1) for objective in (fast, slow))
    assert one.value == pytest.approx(two.value, abs=1e-9)
    assert (one.strategy.sets == two.strategy.sets).all()
    assert one.sweeps == two.sweeps
