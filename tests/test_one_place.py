"""A number that is printed in several places comes from one function: change that one, and all places change."""

import sys

import numpy as np
import pytest

import coterie
from coterie.certificates import evidence_from, fixed, paired
from coterie.certificates.widened import widened
from coterie.certificates.widths import Shape
from coterie.collect.outlook import Outlook
from coterie.simulate import Simulation
from coterie.solve.objective import HoldoutObjective, PairedObjective
from coterie.solve.smooth import smooth_objective
from coterie.statistics.statistics import Statistics

DELTA = 0.05


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one") / "log"
    source = Simulation.draw(4, 2, np.random.default_rng(2), actions_per_agent=3)
    source.write_log(folder, 200)
    evidence = evidence_from(Statistics.of(coterie.read_log(folder)).whole)
    spaces = source.game.actions
    profile = source.game.strategy(spaces.sample(np.random.default_rng(1), 1)[0])
    return evidence, spaces, profile, source.game.uniform()


def paired_everywhere(evidence, spaces, profile, mixed):
    names = (profile.agents, profile.coalitions)
    of_pure = [
        paired(evidence, profile, spaces, DELTA).gap,
        max(PairedObjective(evidence, spaces, DELTA, *names).value(profile.sets), 0.0),
        Outlook(evidence, profile, spaces, DELTA, fresh=False).now(),
    ]
    of_mixed = [
        paired(evidence, mixed, spaces, DELTA).gap,
        smooth_objective(evidence, spaces, DELTA, *names, form="best").value(mixed.marginals),
        Outlook(evidence, mixed, spaces, DELTA, fresh=False).now(),
    ]
    return of_pure, of_mixed


def held_out_everywhere(evidence, spaces, profile):
    names = (profile.agents, profile.coalitions)
    return [
        fixed(evidence, profile, spaces, DELTA, form="bernstein").gap,
        max(HoldoutObjective(evidence, spaces, DELTA, *names, form="bernstein").value(profile.sets), 0.0),
    ]


CHANGES = {
    "certificates.paired.share_of": lambda delta, _: delta / 1000,
    "estimate.confidence.empirical_bernstein": lambda count, *_: np.full_like(count, 0.001),
    "estimate.confidence.kl_interval": lambda mean, *_: (mean - 0.002, mean + 0.002),
    "certificates.widths.bernstein_shape": lambda *_: Shape(times_sqrt=0.001),
    "estimate.confidence.log_events": lambda *_: 40.0,
}
"""Function -> another one in its place: narrower or wider, so that every certificate changes."""


def changed(monkeypatch, function):
    module, _, name = function.rpartition(".")
    monkeypatch.setattr(sys.modules[f"coterie.{module}"], name, CHANGES[function])


@pytest.mark.parametrize("function", [None, *CHANGES])
def test_every_place_prints_the_same_paired_certificate(known, function, monkeypatch):
    evidence, spaces, profile, mixed = known
    if function is not None:
        before = paired_everywhere(evidence, spaces, profile, mixed)
        changed(monkeypatch, function)
        vars(evidence).pop("_intervals", None)
    found = paired_everywhere(evidence, spaces, profile, mixed)
    vars(evidence).pop("_intervals", None)
    for numbers in found:
        np.testing.assert_allclose(numbers, numbers[0], atol=1e-9)
    if function is not None:
        assert not np.allclose(np.concatenate(found), np.concatenate(before), atol=1e-6)


def test_sets_outside_the_declared_actions_have_the_same_certificate_everywhere(known):
    """The union form has not paid for them, in plans as little as in certificates."""
    evidence, spaces, profile, _ = known
    outside = profile.replace("p1", [])
    widest, notes = widened(spaces, outside)
    assert notes
    expected = paired(evidence, outside, widest, DELTA, declared=spaces).gap
    assert Outlook(evidence, outside, widest, DELTA, fresh=False, declared=spaces).now() == expected
    assert paired(evidence, outside, widest, DELTA).gap < expected


@pytest.mark.parametrize("form", ["bx", None])
def test_forms_and_deltas_are_checked(known, form):
    evidence, spaces, profile, _ = known
    for certify in (paired, fixed):
        with pytest.raises(coterie.InputError, match="form"):
            certify(evidence, profile, spaces, DELTA, form=form)
        with pytest.raises(coterie.InputError, match="delta"):
            certify(evidence, profile, spaces, 2)


@pytest.mark.parametrize("function", [None, "certificates.widths.bernstein_shape"])
def test_every_place_prints_the_same_held_out_certificate(known, function, monkeypatch):
    evidence, spaces, profile, _ = known
    before = held_out_everywhere(evidence, spaces, profile)
    if function is not None:
        changed(monkeypatch, function)
    found = held_out_everywhere(evidence, spaces, profile)
    np.testing.assert_allclose(found, found[0], atol=1e-9)
    assert np.allclose(found, before) == (function is None)
