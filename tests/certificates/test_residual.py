"""Widths from residuals: the inequality behind them, their coverage by simulation, and where they are used."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from coterie.certificates import evidence_from, residual
from coterie.certificates.holdout import Sealed, hold_out
from coterie.certificates.residual import SecondLook, Steps, by_moments, by_reach, residual_width, second_looks
from coterie.certificates.widths import one_event
from coterie.game.actions import ActionSpaces, ExplicitSets
from coterie.learn.auto import recommend
from coterie.reproduce import calibration
from coterie.simulate import hostile
from coterie.simulate.growing import Reading, setting_of
from coterie.simulate.logs import Simulation
from coterie.solve.control import Control
from coterie.statistics.in_memory import reduced
from coterie.statistics.parts import PARTS
from coterie.statistics.second_pass import SecondPass

# --- The inequality ---------------------------------------------------------------------------------


def test_the_inequality_of_the_proof():
    """E exp(y - theta (y + m)^2) <= 1 for all m, with y a sum of independent two-point terms, by enumeration.

    Two-point terms are the extreme points among centred distributions on an interval.
    """
    rng = np.random.default_rng(0)
    m = np.concatenate([np.linspace(-3, 3, 121), np.linspace(-0.3, 0.3, 61)])[:, None]
    tried = 0
    for _ in range(4000):
        terms = int(rng.integers(1, 6))
        steps = np.sqrt(rng.dirichlet(np.full(terms, rng.choice([0.2, 1, 10]))) / 32) * rng.random() ** rng.choice(
            [0, 1]
        )
        steps *= rng.choice([1.0, 3.0])
        theta = float(Steps((steps**2).sum(), steps.max(), 2 * steps.sum()).costs(1.0))
        if not np.isfinite(theta):
            continue
        tried += 1
        y, p = np.zeros(1), np.ones(1)
        for half in steps * rng.choice([-1, 1], terms):
            chance = rng.choice([0.5, rng.random(), 10.0 ** -rng.uniform(1, 4)])
            y = (y[:, None] + np.array([1 - chance, -chance]) * 2 * half).ravel()
            p = (p[:, None] * np.array([chance, 1 - chance])).ravel()
        # Where the proof is by reach, the centre lies within the range, and so do residuals.
        by_range = theta < float(by_moments((steps**2).sum(), steps.max()))
        inside = m[np.abs(m[:, 0]) + np.abs(y).max() <= 2 * steps.sum()] if by_range else m
        assert (p @ np.exp(y - theta * (y + inside) ** 2).T).max(initial=0) <= 1 + 1e-12
    assert tried > 1000


def test_no_proof_no_width():
    assert by_moments(np.array(1 / 30), np.array(0.01)) == np.inf
    assert by_moments(np.array(1 / 32), np.array(np.sqrt(1 / 32))) == np.inf
    assert by_moments(np.array(0.0), np.array(0.0)) == 0.5
    assert by_reach(np.array(0.95)) == np.inf
    assert by_reach(np.array(0.0)) == pytest.approx(0.5, rel=1e-3)


def test_no_residuals_are_no_proof():
    steep = Steps(np.array([1.0, 1e-4]), np.array([1.0, 1e-3]), np.array([2.0, 1e-2]))
    found = residual_width(np.array([5.0, 5.0]), np.zeros(2), steep, 3.0)
    assert found.tolist() == [np.inf, 3.0 / 5.0]


def test_with_many_samples_it_is_the_width_of_a_normal_distribution():
    steps = Steps(np.array(1e-8), np.array(1e-4), np.array(1e-2))
    width = residual_width(np.sqrt(np.array(2 * 3 / 5.0)), np.array(5.0), steps, 3.0)
    assert width == pytest.approx(np.sqrt(2 * 3 * 5.0), rel=1e-3)


def losses(rng, shape):
    return -2.0 * (rng.random(shape) < 0.01)


def signs(rng, shape):
    return rng.choice([-1.0, 1.0], shape)


def skewed(rng, shape):
    return rng.choice([-1.0, 0.3], size=shape, p=[0.2, 0.8])


def quiet(rng, shape):
    return 0.05 * rng.choice([-1.0, 1.0], shape)


MEANS = {losses: -0.02, signs: 0.0, skewed: 0.04, quiet: 0.0}


@pytest.mark.parametrize("draw", MEANS, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("off", [0.0, 0.3, -0.3])
@pytest.mark.parametrize("sign", [1, -1])
def test_widths_cover_sums_of_any_skewness(draw, off, sign):
    """A sum of weighted terms in [-1, 1], residuals taken from a centre that is off; delta 0.5 and 0.1."""
    rng = np.random.default_rng(1)
    samples, terms, logs = 400, 3, 2000
    weight = sign * rng.random((samples, terms))
    noise = (draw(rng, (logs, samples, terms)) - MEANS[draw]) * weight
    error = noise.sum(axis=(1, 2))
    squares = ((noise.sum(axis=2) + off * weight.sum(axis=1)) ** 2).sum(axis=1)
    one, size = (weight**2).sum(axis=1).max(), np.abs(weight)
    steps = Steps(one, size.max(), 2 * size.sum(axis=1).max())
    for delta in (0.5, 0.1):
        tilt = np.array(np.sqrt(2 * one_event(delta) / squares.mean()))
        while not np.isfinite(steps.costs(tilt)):
            tilt *= 0.9
        wrong = error > residual_width(tilt, squares, steps, one_event(delta))
        assert wrong.mean() <= delta


# --- Certificates -----------------------------------------------------------------------------------


def read(simulation, samples, shares=PARTS, *, joint=True, noise="pairs", pool=False, sizes="ignore"):
    """Return statistics of samples in memory, and how to read them again."""
    reading = Reading(sizes, noise, joint=joint, pool_coalitions=pool)
    (batch,) = simulation.batches(samples)
    part = simulation.rng.choice(len(shares), samples, p=shares)
    statistics = reduced(batch, part, setting_of(simulation, "bandit", reading, shares), joint=joint)
    return statistics, SecondPass.of_batches([(batch, part)], statistics)


def quiet_game(seed=0, model=hostile.narrow, noise=None, n=4, k=3):
    rng = np.random.default_rng(seed)
    utilities = model(rng, n, k)
    spaces = ActionSpaces.shared(ExplicitSets(np.eye(k, dtype=bool)), n)
    game = utilities.game(spaces)
    policy = calibration.exploration_policy("random", spaces, None)
    return Simulation(utilities, policy, game, rng, noise)


def quiet_everywhere(rng, n, k):
    """A pair is worth the same in every coalition, with little noise."""
    one = hostile.narrow(rng, n, 1)
    return replace(one, mu=np.repeat(one.mu, k, axis=0), deviation=np.repeat(one.deviation, k, axis=0))


READINGS = {
    "joint": {},
    "own": {"joint": False},
    "own, samples": {"joint": False, "noise": "samples"},
    "pooled": {"pool": True},
    "sizes": {"joint": False, "sizes": "aware"},
}


@pytest.mark.parametrize("name", READINGS)
def test_a_quiet_log_is_certified_more_tightly(name):
    options = READINGS[name]
    simulation = quiet_game(model=quiet_everywhere if options.get("pool") else hostile.narrow)
    statistics, again = read(simulation, 4000, (0.2, 0.8), **options)
    learning, certifying = (evidence_from(part) for part in statistics.parts)
    spaces, rng = simulation.game.actions, np.random.default_rng(0)
    profile = simulation.game.strategy(spaces.sample(rng, 1)[0])

    def certified(once_more):
        return hold_out(learning, replace(certifying), lambda *_: [profile], spaces, 0.01, again=once_more)[1]

    once, twice = certified(None), certified(again)
    true = simulation.game.gap(profile)
    assert true <= twice.gap < once.gap
    assert twice.worst.uncertainty < 0.75 * once.worst.uncertainty
    assert twice.assumes == once.assumes


def look_at(seed=0, **options):
    simulation = quiet_game(seed)
    statistics, again = read(simulation, 2000, (0.3, 0.7), **options)
    learning, certifying = (evidence_from(part) for part in statistics.parts)
    profile = simulation.game.strategy(simulation.game.actions.sample(np.random.default_rng(1), 1)[0])
    (look,) = second_looks(certifying, learning, [profile], simulation.game.actions, one_event(0.01), again)
    return look


def test_which_width_is_used_does_not_depend_on_the_squares():
    look = look_at()
    found = look.found
    for squares in (found.squares * 0, found.squares * 1e6):
        other: SecondLook = replace(look, found=replace(found, squares=squares))
        used, would_be = (one.bound(one_event(0.01)).change != 0 for one in (look, other))
        np.testing.assert_array_equal(used, would_be)
    assert used.any()
    loud = replace(look, expected=look.expected * 1e6)
    assert not loud.bound(one_event(0.01)).change.any()


def test_only_close_deviations_are_looked_at(monkeypatch):
    everything = look_at()
    monkeypatch.setattr(residual, "MOST_CLOSE", 3)
    few = look_at()
    assert len(few.agents) == 3 < len(everything.agents)
    np.testing.assert_array_equal(few.x, everything.x[:3])
    np.testing.assert_allclose(few.found.squares, everything.found.squares[:3])
    x, agents = few.x[None, :1], few.agents[:1]
    bound, base = few.bound(4.0), few.base(4.0)
    assert bound.at(x, agents)[0, 0] == base.at(x, agents)[0, 0] + bound.change[0]
    assert bound.at(2 * x, agents)[0, 0] == base.at(2 * x, agents)[0, 0]  # not one of the three


def test_without_a_learning_part_there_is_no_second_look():
    simulation = quiet_game()
    statistics, again = read(simulation, 500, (0.3, 0.7))
    certifying = evidence_from(statistics.parts[1])
    profile = simulation.game.strategy(simulation.game.actions.sample(np.random.default_rng(1), 1)[0])
    assert second_looks(certifying, None, [profile], simulation.game.actions, 4.0, again) is None
    assert second_looks(certifying, certifying, [profile], simulation.game.actions, 4.0, None) is None
    assert Sealed(certifying, again).certify([profile], None, simulation.game.actions, 0.1)


def test_what_certificates_do_not_need_any_more_is_not_kept():
    """Factored matrices of many agents take hundreds of megabytes for each part of a log."""
    simulation = quiet_game()
    statistics, again = read(simulation, 500, (0.3, 0.7))
    learning, certifying = (evidence_from(part) for part in statistics.parts)
    profile = simulation.game.strategy(simulation.game.actions.sample(np.random.default_rng(1), 1)[0])
    sealed = Sealed(certifying, again)
    (found,) = sealed.certify([profile], learning, simulation.game.actions, 0.1)
    learnt, certified = weakref.ref(learning), weakref.ref(certifying)
    gc.disable()  # what is gone is gone at once
    try:
        del learning
        assert learnt() is None
        assert sealed.again(0.1)[0].gap == found.gap
        del certifying, sealed
        assert certified() is None
    finally:
        gc.enable()


def test_recommendations_use_it_and_obey_limits():
    simulation = quiet_game(3, n=5)
    statistics, again = read(simulation, 3000)
    told = []
    once = recommend(statistics, 0.01, Control(0), certificate="holdout")
    twice = recommend(statistics, 0.01, Control(0, progress=told.append), certificate="holdout", again=again)
    assert simulation.game.gap(twice.strategy) <= twice.certificate.gap
    assert twice.certificate.worst.bound < once.certificate.worst.bound
    assert [one for one in told if one.method == "second pass"]

    def ends(_asked, _check):
        raise KeyboardInterrupt

    stopped = recommend(statistics, 0.01, Control(0), certificate="holdout", again=_Ending(again, ends))
    assert stopped.solution.status == "interrupted"
    assert simulation.game.gap(stopped.strategy) <= stopped.certificate.gap


class _Ending:
    """A pass that ends before it has begun."""

    def __init__(self, again, residuals):
        self.setting, self.residuals = again.setting, residuals


@pytest.mark.slow
@pytest.mark.parametrize("model", [hostile.narrow, hostile.two_point, hostile.rare_loss, hostile.ratings])
@pytest.mark.parametrize("noise", ["pairs", "samples"])
def test_certificates_from_residuals_hold(model, noise):
    """Profiles that were learnt, delta 0.5 and 0.1, and residual widths in use."""
    logs, wrong, used = 60, {0.5: 0, 0.1: 0}, 0
    for seed in range(logs):
        simulation = quiet_game(seed, model, "samples" if noise == "samples" else None, n=3)
        statistics, again = read(simulation, 1500, (0.3, 0.7), joint=noise == "pairs", noise=noise)
        learning, certifying = (evidence_from(part) for part in statistics.parts)
        game = simulation.game
        profiles = calibration.candidates(learning, game, np.random.default_rng(seed), 3)[:2]
        for delta in wrong:
            chosen, found = hold_out(
                learning, replace(certifying), lambda *_, kept=profiles: kept, game.actions, delta, again=again
            )
            _, once = hold_out(learning, replace(certifying), lambda *_, c=chosen: [c], game.actions, delta / 2)
            wrong[delta] += game.gap(chosen) > found.gap + 1e-9
            used += found.worst.bound < once.worst.bound
    assert used > logs
    for delta, count in wrong.items():
        assert count <= delta * logs
