"""The paper's scheme as described: exact and Monte Carlo, both feedbacks, mixed and pure."""

import numpy as np
import pytest

from coterie import InputError
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paper import paper as certificate
from coterie.certificates.paper import paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.ridge import AgentRidge
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles
from coterie.solve.paper_scheme import RELEASED, RELEASED_MIXED_EFFECTS, Samples, SurrogateObjective, paper
from solver_instances import BASE, RANGE, from_setting, random_evidence, random_spaces


def literal(evidence, spaces, delta):
    """The scheme straight from its description, over distributions on listed actions."""
    sets = spaces.spaces[0].enumerate().astype(float)
    n, share = spaces.n_agents, np.full((spaces.n_agents, len(sets)), 1 / len(sets))
    moments = evidence.estimate.moments
    log_term = np.log(4 * (n + 1) * spaces.n_coalitions / delta)
    off = ~np.eye(n, dtype=bool)
    bonus = np.sqrt(2 * log_term / np.maximum(moments.count, 1)) * off

    def values(p):
        upper = np.einsum("lij,jl->il", moments.mean + bonus, p)
        lower = np.einsum("lij,jl->il", moments.mean - bonus, p)
        return upper, lower

    def surrogate():
        p = share @ sets
        upper, lower = values(p)
        return float(((upper @ sets.T).max(axis=1) - (p * lower).sum(axis=1)).max())

    seen = [surrogate()]
    for sweep in range(80):
        for i in range(n):
            best = int((sets @ values(share @ sets)[0][i]).argmax())
            share[i] *= 0.75
            share[i, best] += 0.25
        seen.append(surrogate())
        if sweep > 0 and abs(seen[-1] - seen[-2]) < 1e-3:
            break
    return min(seen), len(seen) - 1


@pytest.mark.parametrize("seed", range(5))
def test_the_scheme_as_described(seed):
    rng = np.random.default_rng(seed)
    evidence, spaces = random_evidence(rng, 4, 3, 400), random_spaces(rng, 4, 3, 4)
    found = paper(evidence, spaces, 0.01)
    value, sweeps = literal(evidence, spaces, 0.01)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.sweeps == sweeps
    assert found.value == pytest.approx(certificate(evidence, found.strategy, spaces, 0.01).gap)


def test_monte_carlo_reports_the_exact_value_of_what_it_found():
    rng = np.random.default_rng(1)
    evidence, spaces = random_evidence(rng, 4, 3, 400), random_spaces(rng, 4, 3, 4)
    found = paper(evidence, spaces, 0.01, Control(1), samples=RELEASED)
    assert found.value == pytest.approx(certificate(evidence, found.strategy, spaces, 0.01).gap)
    assert "Monte Carlo put the value at" in found.note
    many = paper(evidence, spaces, 0.01, Control(1), samples=Samples(3000, 3000))
    drawn = float(many.note.split()[-1])
    assert drawn == pytest.approx(many.value, rel=0.1)
    assert RELEASED_MIXED_EFFECTS == (200, 150)


def test_pure_form_is_the_best_pure_surrogate():
    rng = np.random.default_rng(2)
    evidence, spaces = random_evidence(rng, 4, 3, 400), random_spaces(rng, 4, 3, 4)
    found = paper(evidence, spaces, 0.01, strategy="pure")
    assert found.strategy.is_pure
    assert found.method == "paper (pure)"
    assert found.value == pytest.approx(enumerate_profiles(SurrogateObjective(evidence, spaces, 0.01)).value)


def paper_evidence(seed=0, samples=200):
    rng = np.random.default_rng(seed)
    source = BASE.simulation(rng)
    (batch,) = source.batches(samples)
    joined, totals = batch.joined, batch.totals()
    grams, moments = [], []
    for i in range(BASE.n):
        both = (joined & joined[:, i : i + 1]).astype(float)
        x = np.delete(both, i, axis=1).transpose(0, 2, 1).reshape(samples, -1)
        grams.append(x.T @ x)
        moments.append(x.T @ totals[:, i])
    return source.game, TotalEvidence(AgentRidge(tuple(grams), tuple(moments), RANGE, penalty=1.0))


@pytest.mark.slow
def test_bandit():
    game, evidence = paper_evidence()
    spaces = game.actions

    def exact(strategy):
        return paper_totals(evidence, strategy, spaces, 0.01, 200).gap

    names = {"agents": game.agents, "coalitions": game.coalitions, "n_samples": 200}
    found = paper(evidence, spaces, 0.01, **names)
    assert found.value == pytest.approx(exact(found.strategy))
    assert found.value <= exact(game.uniform()) + 1e-9
    drawn = paper(evidence, spaces, 0.01, Control(1, time_limit=20), samples=Samples(20, 20), **names)
    assert drawn.value == pytest.approx(exact(drawn.strategy))
    best = paper(evidence, spaces, 0.01, strategy="pure", **names)
    assert best.value == pytest.approx(exact(best.strategy))
    (profiles,) = spaces.joint_actions()
    assert best.value <= min(exact(game.strategy(a)) for a in profiles[::7]) + 1e-9


def test_refusals_and_limits():
    game, evidence = paper_evidence()
    with pytest.raises(InputError, match="n_samples"):
        paper(evidence, game.actions, 0.01)
    _, joint, *_ = from_setting("bandit joint")
    with pytest.raises(InputError, match="paper's ridge"):
        paper(joint, game.actions, 0.01)
    rng = np.random.default_rng(0)
    semi = random_evidence(rng, 4, 3, 400)
    assert isinstance(semi, PairEvidence)
    stopped = paper(semi, random_spaces(rng, 4, 3, 4), 0.01, Control(0, stop=lambda: True))
    assert stopped.status == "interrupted"
    assert stopped.sweeps <= 1
