"""Bandit evidence: estimates against their definitions, the paper's bonus against enumeration."""

import math
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from coterie import ActionSpaces, Strategy, any_subset
from coterie.certificates import gains as gain_bounds
from coterie.certificates.holdout import fixed
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_radius, paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.certificates.widths import bias_form, ellipsoid_radius, noise_form
from coterie.certificates.widths import totals as totals_width
from coterie.errors import InputError
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import AgentRidge, JointRidge, printed_ridge
from coterie.solve.paper_scheme import paper as paper_scheme
from random_games import random_space, random_strategy

paper_module = import_module("coterie.certificates.paper")
RANGE = Bounds(-1.0, 1.0)
N, K = 3, 2
PAIRS = [(0, 1), (0, 2), (1, 2)]
EDGES = {(l, i, j): l * 3 + t for l in range(K) for t, (i, j) in enumerate(PAIRS)}


def log(seed, samples=60):
    """Joint actions and totals of a random symmetric size-free game, straight from the definition."""
    rng = np.random.default_rng(seed)
    joined = any_subset(K).sample(rng, samples * N).reshape(samples, N, K)
    means = rng.uniform(-1, 1, len(EDGES))
    totals = np.zeros((samples, N))
    for m in range(samples):
        for (l, i, j), e in EDGES.items():
            if joined[m, i, l] and joined[m, j, l]:
                value = 1.0 if rng.random() < (1 + means[e]) / 2 else -1.0
                totals[m, i] += value
                totals[m, j] += value
    return joined, totals, means


def features(joined, i):
    return np.array([[float(a[i, l] and a[j, l]) for l in range(K) for j in range(N) if j != i] for a in joined])


def agent_ridge(joined, totals, power=1, penalty=0.03):
    grams, moments = [], []
    for i in range(N):
        x = features(joined, i)
        w = 1 / np.maximum(x.sum(axis=1), 1) ** power
        grams.append((x * w[:, None]).T @ x)
        moments.append(x.T @ (w * totals[:, i]))
    return AgentRidge(tuple(grams), tuple(moments), RANGE, penalty)


def joint_ridge(joined, totals, penalty=0.03):
    projections, moment = np.zeros((6, 6)), np.zeros(6)
    for a, v in zip(joined, totals, strict=True):
        z = np.zeros((N, 6))
        for (l, i, j), e in EDGES.items():
            if a[i, l] and a[j, l]:
                z[i, e] = z[j, e] = 1.0
        plus = np.linalg.pinv(z)
        projections += plus @ z
        moment += plus @ v
    edges = tuple(
        np.array([EDGES[l, min(i, j), max(i, j)] for l in range(K) for j in range(N) if j != i]) for i in range(N)
    )
    return JointRidge(projections, moment, edges, RANGE, penalty)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_projections_are_their_formulas(seed):
    joined, totals, _ = log(seed)
    rng = np.random.default_rng(seed)
    ridge = agent_ridge(joined, totals)
    for i in range(N):
        g = ridge.gram[i] + 0.03 * np.eye(4)
        inverse = np.linalg.inv(g)
        np.testing.assert_allclose(ridge.theta(i), inverse @ ridge.moment[i], atol=1e-8)
        c = rng.normal(size=(2, 4))
        found = ridge.project(i, c)
        np.testing.assert_allclose(
            noise_form(found, ridge), c @ inverse @ (g - 0.03 * np.eye(4)) @ inverse @ c.T, atol=1e-8
        )
        np.testing.assert_allclose(bias_form(found, ridge), 0.03 * c @ inverse, atol=1e-8)
        np.testing.assert_allclose(found.ellipsoid, c @ inverse @ c.T, atol=1e-8)
        volume = math.log(np.linalg.det(g / 0.03))
        radius = math.sqrt(0.03 * 4) + math.sqrt(2 * math.log(N / 0.1) + volume)
        assert ellipsoid_radius(ridge, i, 0.1) == pytest.approx(radius)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_noise_and_bias_bound_the_error_of_every_log(seed):
    """With the noise written out, |error| <= |noise part| + bias, and the noise has the stated form."""
    joined, totals, means = log(seed)
    ridge = joint_ridge(joined, totals)
    direction = np.random.default_rng(seed).normal(size=(1, 4))
    spread = np.zeros(6)
    spread[ridge.edges[0]] = direction[0]
    v = ridge.projections + 0.03 * np.eye(6)
    noiseless = np.linalg.solve(v, ridge.projections @ means)
    found = ridge.project(0, direction)
    assert abs(spread @ (noiseless - means)) <= np.abs(bias_form(found, ridge)).sum() + 1e-9
    assert noise_form(found, ridge)[0, 0] >= -1e-12
    np.testing.assert_allclose(ridge.theta(0), np.linalg.solve(v, ridge.moment)[ridge.edges[0]], atol=1e-8)
    assert ellipsoid_radius(ridge, 0, 0.1) > 0


def test_singular_logs_give_the_range_and_no_crash():
    """Nobody ever met: every estimate is 0 and every certificate the range."""
    joined = np.zeros((5, N, K), dtype=bool)
    joined[:, np.arange(N), 0] = False
    for ridge in (agent_ridge(joined, np.zeros((5, N))), joint_ridge(joined, np.zeros((5, N)))):
        evidence = TotalEvidence(ridge)
        spaces = ActionSpaces.shared(any_subset(K), N)
        strategy = random_strategy(np.random.default_rng(0), spaces, pure=True)
        worst = max((len(strategy.members()[name]) for name in strategy.coalitions), default=0)
        assert 0 < fixed(evidence, strategy, spaces, 0.1).gap <= 2 * K * max(worst, 1)
        assert paired(evidence, strategy, spaces, 0.1).gap == fixed(evidence, strategy, spaces, 0.1).gap


def direct_surrogate(ridge, strategy, spaces, delta, samples):
    """Lemma 2 with eq. (11) by enumeration of all joint actions."""
    radius = paper_radius(N, K, samples, delta)
    worst = -np.inf
    for i, space in enumerate(spaces.spaces):
        inverse = np.linalg.inv(ridge.gram[i] + np.eye(4))
        theta = inverse @ ridge.moment[i]

        def both(memberships, i=i, inverse=inverse, theta=theta):
            z = features(memberships[None], i)[0]
            return z @ theta, radius * np.sqrt(z @ inverse @ z)

        kept = sum(share * np.subtract(*both(a)) for share, a in oracles.joint_actions(strategy))
        for action in space.enumerate():
            value = 0.0
            for share, a in oracles.joint_actions(strategy):
                moved = a.copy()
                moved[i] = action
                value += share * sum(both(moved))
            worst = max(worst, value - kept)
    return worst


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_paper_s_certificate_equals_enumeration(seed, pure):
    rng = np.random.default_rng(seed)
    joined, totals, _ = log(seed)
    ridge = agent_ridge(joined, totals, power=0, penalty=1.0)
    spaces = ActionSpaces(tuple(random_space(rng, K) for _ in range(N)))
    strategy = random_strategy(rng, spaces, pure=pure)
    found = paper_totals(TotalEvidence(ridge), strategy, spaces, 0.1, 60)
    assert found.is_exact
    expected = direct_surrogate(ridge, strategy, spaces, 0.1, 60)
    assert found.gap == pytest.approx(expected, abs=1e-9)


def printed_surrogate(joined, totals, strategy, spaces, delta):
    """Eq. (11) and Lemma 2 word for word, the regressors j = i included, over every joint action."""
    samples, found = len(joined), []
    sqrt_beta = paper_radius(N, K, samples, delta)
    for i, space in enumerate(spaces.spaces):

        def z(rows, i=i):
            """One entry per coalition and agent: are i and j both in l; for j = i, is i in l."""
            return np.einsum("ml,mjl->mlj", rows[:, i], rows).reshape(len(rows), -1).astype(float)

        x = z(joined)
        matrix = np.eye(x.shape[1]) + x.T @ x
        theta, inverse = np.linalg.solve(matrix, x.T @ totals[:, i]), np.linalg.inv(matrix)
        shares, memberships = zip(*oracles.joint_actions(strategy), strict=True)
        weights, profiles = np.array(shares), np.array(memberships)

        def ends(rows, sign, z=z, theta=theta, inverse=inverse):
            features = z(rows)
            return features @ theta + sign * sqrt_beta * np.sqrt(np.einsum("mf,fg,mg->m", features, inverse, features))

        kept, best = float(weights @ ends(profiles, -1)), -np.inf
        for action in space.enumerate():
            moved = profiles.copy()
            moved[:, i] = action
            best = max(best, float(weights @ ends(moved, 1)))
        found.append(best - kept)
    return max(found)


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_eq_11_as_printed_has_regressors_of_oneself(seed, pure):
    rng = np.random.default_rng(seed)
    joined, totals, _ = log(seed)
    halves = [SimpleNamespace(joined=joined[part], totals=lambda part=part: totals[part])
              for part in (slice(20), slice(20, None))]  # fmt: skip
    printed = printed_ridge(halves, RANGE)
    plain = agent_ridge(joined, totals, power=0, penalty=1.0)
    spaces = ActionSpaces(tuple(random_space(rng, K) for _ in range(N)))
    strategy = random_strategy(rng, spaces, pure=pure)
    found = paper_totals(TotalEvidence(printed), strategy, spaces, 0.1, 60)
    assert found.gap == pytest.approx(printed_surrogate(joined, totals, strategy, spaces, 0.1), abs=1e-9)
    assert found.gap > paper_totals(TotalEvidence(plain), strategy, spaces, 0.1, 60).gap
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper_module, "MOST_FORMS", 0)
        assert paper_totals(TotalEvidence(printed), strategy, spaces, 0.1, 60).gap >= found.gap - 1e-9
    # Unknowns are those of others, so that everything else can use the estimate.
    assert printed.theta(0).shape == plain.theta(0).shape == printed.spread(0).shape
    assert TotalEvidence(printed).game(spaces).n_agents == N
    solution = paper_scheme(TotalEvidence(printed), spaces, 0.1, n_samples=60)
    assert solution.certificate == pytest.approx(
        max(0.0, printed_surrogate(joined, totals, solution.strategy, spaces, 0.1)), abs=1e-9
    )
    with pytest.raises(InputError, match="exact expectations"):
        paper_scheme(TotalEvidence(printed), spaces, 0.1, n_samples=60, strategy="pure")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_jensen_s_bound_is_valid_and_labelled(seed):
    rng = np.random.default_rng(seed)
    joined, totals, _ = log(seed)
    ridge = agent_ridge(joined, totals, power=0, penalty=1.0)
    spaces = ActionSpaces.shared(any_subset(K), N)
    strategy = random_strategy(rng, spaces, pure=False)
    exact = paper_totals(TotalEvidence(ridge), strategy, spaces, 0.1, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper_module, "MOST_FORMS", 0)
        bounded = paper_totals(TotalEvidence(ridge), strategy, spaces, 0.1, 60)
        patch.setattr(gain_bounds, "ENUMERATED", 0)
        relaxed = paper_totals(TotalEvidence(ridge), strategy, spaces, 0.1, 60)
    assert not bounded.is_exact
    assert exact.gap <= bounded.gap + 1e-9 <= relaxed.gap + 2e-9


def test_doubts_name_what_was_never_seen():
    """Agents 0 and 2 never meet in coalition 1: nothing is known better than the range."""
    rng = np.random.default_rng(0)
    joined = any_subset(K).sample(rng, 600).reshape(200, N, K)
    joined[:, 2, 1] = False
    joined[:, 2, 0] = True
    strategy = Strategy.pure([[1, 0], [1, 1], [1, 1]])
    for ridge in (agent_ridge(joined, np.zeros((200, N))), joint_ridge(joined, np.zeros((200, N)))):
        evidence = TotalEvidence(ridge)
        design = evidence.design(strategy)
        errors = evidence.doubts(design, 0, np.array([0.0, 1.0]))
        assert errors.shape == (K, N)
        assert errors[1, 2] == errors.max() == pytest.approx(1.0)
        assert errors[0].tolist() == [0.0] * N


def test_a_preview_shows_no_certifying_total():
    joined, totals, _ = log(1)
    other = log(2)
    for make in (agent_ridge, joint_ridge):
        held, learning = TotalEvidence(make(joined, totals)), TotalEvidence(make(*other[:2]))
        ahead = held.preview(learning)
        strategy = Strategy.pure([[1, 0], [1, 1], [1, 1]])
        design = held.design(strategy)
        assert not np.any(ahead.estimate.moment)
        np.testing.assert_array_equal(ahead.rooms(design), learning.rooms(design))
        np.testing.assert_array_equal(totals_width(ahead, design, 1.0).square, totals_width(held, design, 1.0).square)


def test_without_bounds_on_means_nothing_is_certified():
    joined, totals, _ = log(3)
    for make in (agent_ridge, joint_ridge):
        ridge = replace(make(joined, totals), bounds=Bounds(-np.inf, np.inf, 1.0))
        spaces = ActionSpaces.shared(any_subset(K), N)
        strategy = Strategy.pure([[1, 0], [1, 0], [0, 1]])
        assert fixed(TotalEvidence(ridge), strategy, spaces, 0.1).gap == np.inf
        assert paired(TotalEvidence(ridge), strategy, spaces, 0.1).gap == np.inf


def test_other_utilities_of_the_same_design_are_solved_for_once(monkeypatch):
    joined, totals, _ = log(5)
    spaces = ActionSpaces.shared(any_subset(K), N)
    strategy = Strategy.pure(joined[0], [str(i) for i in range(N)], [str(l) for l in range(K)])
    evidence, other = TotalEvidence(agent_ridge(joined, totals)), agent_ridge(joined, -totals / 2)
    design, projected, project = evidence.design(strategy), [], AgentRidge.project

    def counted(self, agent, directions):
        projected.append(agent)
        return project(self, agent, directions)

    monkeypatch.setattr(AgentRidge, "project", counted)
    evidence.uniform_bound(design, 0.1)
    evidence.direction_bound(design, 1.0)
    assert projected == list(range(N))
    again = evidence.of_same_design(evidence.estimate.with_moments(other.moment))
    found = again.uniform_bound(design, 0.1), again.direction_bound(design, 1.0)
    assert projected == list(range(N))
    afresh = TotalEvidence(other)
    sets = spaces.spaces[0].enumerate().astype(float)
    for one, two in zip(found, (afresh.uniform_bound(design, 0.1), afresh.direction_bound(design, 1.0)), strict=True):
        np.testing.assert_array_equal(one.to_sets(sets, slice(None)), two.to_sets(sets, slice(None)))
    assert paired(again, strategy, spaces, 0.1).gap == paired(afresh, strategy, spaces, 0.1).gap
