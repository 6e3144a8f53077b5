"""Every test of what certificates assume, in one list."""

from coterie.assumptions.check import Check
from coterie.assumptions.drift import drift_check
from coterie.assumptions.missing import missing_check
from coterie.assumptions.sample_dependence import independence_check
from coterie.assumptions.size_dependence import size_check
from coterie.assumptions.symmetry import symmetry_check
from coterie.statistics.statistics import Statistics
from coterie.words import said


def checks_of(statistics: Statistics) -> tuple[Check, ...]:
    """Return what a log says about each assumption of its certificates."""
    return (
        size_check(statistics),
        independence_check(statistics),
        symmetry_check(statistics),
        drift_check(statistics),
        missing_check(statistics),
        adaptivity_check(statistics),
    )


def adaptivity_check(statistics: Statistics) -> Check:
    """Say that nothing tests whether who met whom depended on earlier utilities; certificates may do without it."""
    if statistics.setting.adaptive:
        return Check("adaptive", "not assumed", "who met whom may have depended on earlier utilities, as was said")
    text = f"whether who met whom depended on earlier utilities is not tested; if so, use {said(adaptive=True)}"
    return Check("adaptive", "not tested", text)
