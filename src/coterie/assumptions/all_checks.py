"""Every test of what certificates assume, in one list."""

from coterie.assumptions.check import QUESTIONS, Check
from coterie.assumptions.drift import drift_check
from coterie.assumptions.missing import missing_check
from coterie.assumptions.sample_dependence import independence_check
from coterie.assumptions.size_dependence import size_check
from coterie.assumptions.symmetry import symmetry_check
from coterie.statistics.statistics import Statistics
from coterie.words import said


def checks_of(statistics: Statistics, *, in_a_hurry: bool = False) -> tuple[Check, ...]:
    """Return what a log says about each assumption of its certificates; in a hurry, without what may take seconds."""
    return tuple(
        Check(name, "not tested", f"there was no time to test {QUESTIONS[name]}")
        if in_a_hurry and name not in QUICK
        else test(statistics)
        for name, test in TESTS.items()
    )


def adaptivity_check(statistics: Statistics) -> Check:
    """Say that nothing tests whether who met whom depended on earlier outcomes; certificates may do without it."""
    if statistics.setting.adaptive:
        return Check("adaptive", "not assumed", "who met whom may have depended on earlier outcomes, as was said")
    text = f"whether who met whom depended on earlier outcomes is not tested; if so, use {said(adaptive=True)}"
    return Check("adaptive", "not tested", text)


TESTS = {
    "sizes": size_check,
    "independence": independence_check,
    "symmetry": symmetry_check,
    "drift": drift_check,
    "missing": missing_check,
    "adaptive": adaptivity_check,
}
"""Every assumption, and what tests it."""

QUICK = ("independence", "adaptive")
"""What is tested in a hurry too."""
