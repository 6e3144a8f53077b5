"""Certificates of teams hold over a pairwise design of settings, and counting finds one that does not.

The short form of `benchmarks/team_calibration.py`.
"""

from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from coterie.certificates.against import Judgement, fixed_against
from coterie.game.strategy import Strategy
from coterie.reproduce import team_calibration
from coterie.reproduce.calibration import DELTAS, LEARNING_SHARE, compared, drawn
from coterie.reproduce.team_calibration import CERTIFICATES, FACTORS, StepTruth, TeamSetting, settings

LOGS = 6

PLAIN = TeamSetting("no rules", "nash", "size-free", "signs", 4, "total", "semi-bandit", "one")


def counted(setting, logs, first=10_000):
    """Count broken promises: of the gap, of those who surely stay, and for each agent of her own bound."""
    counts: Counter[tuple[str, float, str]] = Counter()
    for seed in range(first, first + logs):
        for one in team_calibration.run(setting, seed):
            counts[one.certificate, one.delta, "gap"] += one.wrong
            counts[one.certificate, one.delta, "staying"] += one.staying_wrong
            for i, wrong in enumerate(one.agents):
                counts[one.certificate, one.delta, f"agent {i}"] += wrong
    return counts


def test_the_design_has_every_pair_that_is_possible():
    found = settings()
    assert len(set(found)) == len(found) <= 36
    have = set().union(*map(team_calibration.pairs_of, found))
    assert have == team_calibration.possible_pairs()
    for first, second in combinations(FACTORS, 2):
        missing = [
            (one, two)
            for one in FACTORS[first]
            for two in FACTORS[second]
            if not any(getattr(s, first) == one and getattr(s, second) == two for s in found)
        ]
        # At fixed sizes nobody can move alone: of five notions one says something.
        assert len(missing) == (4 if (first, second) == ("rules", "stability") else 0)


@pytest.mark.parametrize("setting", settings(), ids=lambda setting: f"{setting.n} {setting.name}")
def test_every_setting_has_profiles_that_keep_the_rules_and_steps_to_take(setting):
    source = drawn(setting.log, 0).source
    game, against = source.game, setting.against(source.game.actions)
    known = team_calibration.starts(setting)
    assert len(known) > 1
    assert all(against.admissible.holds(profile) for profile in known)
    assert sum(len(against.steps(profile)) for profile in known) > 0
    assert bool(setting.what_rules()) == (setting.rules != "no rules")
    assert game.is_symmetric == (setting.mode != "asymmetric")
    assert game.depends_on_size == (setting.mode == "sizes aware")
    if setting.mode == "pooled coalitions":
        assert game.is_interchangeable
    assert source.noise == ("samples" if setting.mode == "shared noise" else None)


def test_the_truth_is_that_of_the_definition():
    """Brute force over all sets of all agents: who gains, and whether anybody who is asked loses."""
    rng = np.random.default_rng(0)
    for stability in ("nash", "individual", "contractual", "contractual-individual"):
        setting = replace(PLAIN, stability=stability, value="average", actions="up to two", mode="asymmetric")
        game = drawn(setting.log, 1).source.game
        truth, valued = StepTruth(game, setting.against(game.actions)), game.valued("average")
        profile = game.actions.sample(rng, 1)[0]
        expected = np.full(4, -np.inf)
        for i in range(4):
            for chosen in game.actions.spaces[i].enumerate():
                if (chosen == profile[i]).all():
                    continue
                after = profile.copy()
                after[i] = chosen
                change = valued.values(after) - valued.values(profile)
                joined, left = chosen & ~profile[i], profile[i] & ~chosen
                rooms = joined & ("individual" in stability) | left & ("contractual" in stability)
                asked = [j for j in range(4) if j != i and (profile[j] & rooms).any()]
                if all(change[j] >= -1e-9 for j in asked):
                    expected[i] = max(expected[i], change[i])
        gains, gap = truth.of(Strategy.pure(profile, game.agents, game.coalitions))
        assert gains == pytest.approx(expected)
        assert gap == pytest.approx(max(0.0, expected.max()))


@pytest.mark.parametrize("setting", settings()[:3], ids=lambda setting: f"{setting.n} {setting.name}")
def test_a_log_has_every_certificate_at_every_delta(setting):
    found = team_calibration.run(setting, 3)
    assert {(one.certificate, one.delta) for one in found} == set(product(CERTIFICATES, DELTAS))
    assert len(found) == len(CERTIFICATES) * len(DELTAS)
    again = team_calibration.run(setting, 3)
    assert [one.slack for one in again] == [one.slack for one in found]
    assert all(len(one.agents) == setting.n for one in found)
    # The smaller delta, the larger the certificate; the profile stays the same.
    by_name = {name: [one.slack for one in found if one.certificate == name] for name in CERTIFICATES}
    assert all(one == sorted(one) for one in by_name.values())


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings(), ids=lambda setting: f"{setting.n} {setting.name}")
def test_certificates_of_teams_hold(setting):
    for (certificate, delta, promise), count in counted(setting, LOGS).items():
        # More often than this happens once in 100,000 times if violations have probability delta.
        assert count <= binom.ppf(1 - 1e-5, LOGS, delta), (certificate, delta, promise)


@pytest.mark.parametrize("stability", ["nash", "individual", "swap"])
def test_a_broken_certificate_is_found(stability, monkeypatch):
    """Estimates in place of bounds: those are about as often too small as not."""
    logs = 12
    setting, most = replace(PLAIN, stability=stability), binom.ppf(1 - 1e-5, logs, 0.01)
    monkeypatch.setattr(Judgement, "bound", lambda self, _made, _evidence, rows=slice(None): self.estimates[rows])
    counts = counted(setting, logs)
    for certificate in CERTIFICATES:
        found = [count for (name, delta, _), count in counts.items() if (name, delta) == (certificate, 0.01)]
        assert max(found) > most, certificate
    assert counts["fresh", 0.01, "gap"] > most


def test_claims_that_are_too_strong_are_counted_apart():
    """That somebody cannot step at all, that she surely stays, and that nobody gains."""
    setting = replace(PLAIN, model="gaussian", stability="individual")
    source, batch, _ = drawn(setting.log, 0)
    game, against = source.game, setting.against(source.game.actions)
    learns = np.random.default_rng(0).random(setting.log.samples) < LEARNING_SHARE
    evidence = setting.log.evidence(setting.log.statistics(source, batch, learns).whole, game)
    truth = StepTruth(game, against)
    strategy, gains = next(
        (one, truth.of(one)[0])
        for one in (Strategy.pure(p, game.agents, game.coalitions) for p in team_calibration.starts(setting))
        if truth.of(one)[1] > 0
    )
    found = fixed_against(evidence, strategy, against, 0.01)
    right = compared("fresh", found, truth, strategy)
    assert (right.wrong, right.agents.any(), right.staying_wrong) == (False, False, False)
    who = int(gains.argmax())
    agent = strategy.agents[who]
    without = {name: witness for name, witness in found.alternatives.items() if name != agent}
    one = compared("fresh", replace(found, alternatives=without), truth, strategy)
    assert (one.wrong, np.flatnonzero(one.agents).tolist(), one.staying_wrong) == (False, [who], False)
    one = compared("fresh", replace(found, surely_stay=(agent,)), truth, strategy)
    assert (one.wrong, one.agents.any(), one.staying_wrong) == (False, False, True)
    one = compared("fresh", replace(found, gap=0.0, alternatives=without), truth, strategy)
    assert one.wrong
