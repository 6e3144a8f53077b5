"""Objectives are the certificates, for every kind of evidence, and quick moves are moves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, Game, Strategy, UpTo
from coterie.certificates import total_evidence
from coterie.certificates.certificate import Certificate
from coterie.certificates.gains import SmallerOf, worst_deviations
from coterie.certificates.holdout import fixed
from coterie.certificates.listed_totals import ListedTotals
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper
from coterie.certificates.total_evidence import TotalEvidence
from coterie.certificates.widths import one_event
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import AgentRidge, JointRidge
from coterie.game.actions import ExplicitSets
from coterie.solve.objective import GapObjective, HoldoutObjective, PairedObjective, estimated_gap
from coterie.solve.paper_scheme import SurrogateObjective
from random_games import drawn_games
from solver_instances import SETTINGS, by_size_evidence, from_setting, random_evidence, random_spaces


def same(objective, certificate, profiles):
    """Margins equal the bounds of the certificate's alternatives, agent by agent."""
    margins = objective.margins(profiles)
    for profile, row in zip(profiles, margins, strict=True):
        found = certificate(objective.strategy(profile))
        if isinstance(found, Certificate):
            known = found.alternatives
            found = [known[agent].bound if agent in known else -np.inf for agent in found.per_agent]
        np.testing.assert_allclose(row, found, atol=1e-10)
        assert max(objective.value(profile), 0.0) == pytest.approx(max(0.0, *found), abs=1e-10)
    one = np.array([profiles.shape[1] - 1])
    np.testing.assert_allclose(objective.margins(profiles, one)[:, 0], margins[:, one[0]], atol=1e-12)


def expected(evidence, spaces, delta):
    """What `fixed` with a learning part may be expected to return, which a search with counts alone aims at."""

    def bounds(strategy):
        design = evidence.design(strategy)
        both = (evidence.range_bound(design), evidence.expected_bound(design, one_event(delta)))
        return worst_deviations(SmallerOf(both), spaces).value

    return bounds


def moves_agree(objective, profile, rng):
    """Where the mover's own margin is offered without looking at the others, it is right."""
    for agent, space in enumerate(objective.spaces.spaces):
        action = space.sample(rng, 1)
        moved = profile.copy()
        moved[agent] = action[0]
        quick = objective.moved_margins(profile, np.array([agent]), action)[0]
        everybody = objective.margins(moved[None])[0]
        slow = everybody[agent]
        some = np.array([0, len(moved) - 1])[: len(moved)]
        for agents in (None, some):
            expected = everybody if agents is None else everybody[agents]
            found = objective.margins_of_moves(profile, np.array([agent]), action, agents)[0]
            np.testing.assert_allclose(found, expected, atol=1e-10)
        assert np.isneginf(quick) or quick == pytest.approx(slow, abs=1e-10)


@pytest.mark.parametrize("name", SETTINGS)
def test_objectives_are_certificates(name):
    game, whole, learning, certifying = from_setting(name)
    spaces, names = game.actions, (game.agents, game.coalitions)
    rng = np.random.default_rng(1)
    profiles = spaces.sample(rng, 12)
    for form in ("best", "box", "union"):
        objective = PairedObjective(whole, spaces, 0.1, *names, form=form)
        same(objective, lambda s, form=form: paired(whole, s, spaces, 0.1, form=form), profiles)
        moves_agree(objective, profiles[0], rng)
    preview = certifying.preview(learning)
    for form in ("hoeffding", "bernstein"):
        objective = HoldoutObjective(preview, spaces, 0.1, *names, form=form)
        same(objective, lambda s, form=form: fixed(preview, s, spaces, 0.1, form=form), profiles)
        moves_agree(objective, profiles[0], rng)
    same(HoldoutObjective(preview, spaces, 0.1, *names), expected(preview, spaces, 0.1), profiles)
    if name in {"gaussian", "rare pairs", "sizes"}:
        objective = SurrogateObjective(whole, spaces, 0.1, *names)
        same(objective, lambda s: paper(whole, s, spaces, 0.1), profiles)
    rooms = whole.game(spaces, *names).room_values
    for profile in profiles:
        strategy = Strategy.pure(profile, *names)
        np.testing.assert_allclose(rooms(strategy), whole.rooms(whole.design(strategy)), atol=1e-10)


@pytest.mark.parametrize("kind", ["anonymous", "factor"])
def test_objectives_by_size(kind):
    rng = np.random.default_rng(3)
    evidence = by_size_evidence(rng, kind)
    spaces = random_spaces(rng, 4, 2, 3)
    profiles = spaces.sample(rng, 8)
    for form in ("best", "box", "union"):
        same(
            PairedObjective(evidence, spaces, 0.1, form=form),
            lambda s, form=form: paired(evidence, s, spaces, 0.1, form=form),
            profiles,
        )
    same(HoldoutObjective(evidence, spaces, 0.1), expected(evidence, spaces, 0.1), profiles)
    strategy = Strategy.pure(profiles[0])
    np.testing.assert_allclose(
        evidence.game(spaces).room_values(strategy), evidence.rooms(evidence.design(strategy)), atol=1e-10
    )


def test_agents_with_different_spaces_large_and_small():
    rng = np.random.default_rng(4)
    n, k = 4, 12
    evidence = random_evidence(rng, n, k)
    few = ExplicitSets(np.unique(rng.random((5, k)) < 0.4, axis=0))
    spaces = ActionSpaces((UpTo(k, k), few, few, UpTo(k, 2)))
    profiles = spaces.sample(rng, 4)
    same(PairedObjective(evidence, spaces, 0.1), lambda s: paired(evidence, s, spaces, 0.1), profiles)
    same(HoldoutObjective(evidence, spaces, 0.1), expected(evidence, spaces, 0.1), profiles)
    moves_agree(PairedObjective(evidence, spaces, 0.1), profiles[0], rng)


@settings(max_examples=80, deadline=None)
@given(drawn_games(), st.integers(0, 2**32 - 1))
def test_gap_objective_is_the_gap(drawn, seed):
    game, rng = drawn.game, np.random.default_rng(seed)
    objective = GapObjective(game)
    profiles = game.actions.sample(rng, 5)
    for profile in profiles:
        strategy = objective.strategy(profile)
        assert max(objective.value(profile), 0.0) == pytest.approx(game.gap(strategy), abs=1e-9)
        objective.height(profile)
    moves_agree(objective, profiles[0], rng)


def test_estimated_gap_names():
    game, whole, *_ = from_setting("gaussian")
    objective = estimated_gap(whole, game.actions, game.agents, game.coalitions)
    assert objective.label == "estimated gap"
    assert objective.game.agents == game.agents
    assert isinstance(objective.game, Game)


def random_totals(n, k, rng, *, symmetric):
    """Return what few random totals say, one regression for each agent or one of all edges."""

    def seen(size):
        rows = rng.integers(0, 2, (40, size)).astype(float)
        return rows.T @ rows, rows.T @ rng.normal(size=40)

    bounds = Bounds(-1.0, 2.0)
    if not symmetric:
        grams, moments = zip(*(seen(k * (n - 1)) for _ in range(n)), strict=True)
        return TotalEvidence(AgentRidge(grams, moments, bounds))
    pairs = {pair: t for t, pair in enumerate((i, j) for j in range(n) for i in range(j))}
    edges = tuple(
        np.array([l * len(pairs) + pairs[min(i, j), max(i, j)] for l in range(k) for j in range(n) if j != i])
        for i in range(n)
    )
    return TotalEvidence(JointRidge(*seen(k * len(pairs)), edges, bounds))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("second_look", [False, True])
def test_deviation_by_deviation_totals_are_the_same(monkeypatch, symmetric, second_look):
    """Compiled sums over listed sets against forms of all rooms, for agents with different sets."""
    rng = np.random.default_rng(7)
    sets = [rng.random((count, 4)) < 0.5 for count in (3, 1, 4, 2, 3)]
    sets = [np.unique(one | (~one.any(axis=1)[:, None] & (np.arange(4) == 0)), axis=0) for one in sets]
    spaces = ActionSpaces(tuple(ExplicitSets(one) for one in sets))
    evidence = random_totals(5, 4, rng, symmetric=symmetric)
    if second_look:
        evidence = replace(evidence, variances=rng.uniform(0.1, 2.0, 5))
    profiles, movers = spaces.sample(rng, 20), np.array([0, 2, 2, 4, 3])
    actions = np.array([spaces.spaces[i].sample(rng, 1)[0] for i in movers])
    outside = ~profiles[:2]
    found = []
    for least in (np.inf, 0):
        monkeypatch.setattr(total_evidence, "LISTED", least)
        for kind, form in ((PairedObjective, "best"), (PairedObjective, "box"), (HoldoutObjective, "both")):
            objective = kind(evidence, spaces, 0.1, form=form)
            assert isinstance(objective._batched, ListedTotals) == (least == 0)
            some = objective.margins_of_moves(profiles[0], movers, actions, np.array([1, 4]))
            found.append([
                objective.margins(profiles), objective.margins(outside), some,
                objective.moved_margins(profiles[0], movers, actions),
            ])  # fmt: skip
    for slow, fast in zip(found[:3], found[3:], strict=True):
        for one, two in zip(slow, fast, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-10)
