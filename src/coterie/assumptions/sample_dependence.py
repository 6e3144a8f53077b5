"""Tests of whether the pairs of one sample move together."""

from coterie.assumptions.check import WITHOUT_CLUES, Check
from coterie.statistics.dependence import FALSE_ALARMS, LEAST_SAMPLES, SampleExcess
from coterie.statistics.statistics import Statistics
from coterie.words import counted, said

TOO_FEW_TO_TELL = "there are too few data to tell whether outcomes of one round go together"


def independence_check(statistics: Statistics) -> Check:
    """Test whether the pairs of one sample move together, or say what follows from the test that was made already."""
    setting, clues = statistics.setting, statistics.clues
    if setting.noise == "samples":
        score = None if clues.decisive is None else clues.decisive.alarm()
        if statistics.cannot_tell:
            text = f"{TOO_FEW_TO_TELL}, so promises allow for it and are weaker"
            cure = f"if one has nothing to do with another, say {said(noise='pairs')}"
            return Check("independence", "not assumed", f"{text}; {cure}")
        if score is None:
            return Check("independence", "not assumed", "outcomes of one round may go together, as was said")
        return Check(
            "independence",
            "broken",
            f"{_together(score)}, so promises allow for it and are weaker ({said(noise='samples')})",
        )
    if setting.feedback == "bandit":
        return Check(
            "independence", "not tested", "totals do not show whether what pairs get in one round goes together"
        )
    if clues.extent is None:
        return Check("independence", "not tested", WITHOUT_CLUES)
    if not clues.excess.is_enough:
        text = f"fewer than {counted(LEAST_SAMPLES, 'round')} with two pairs do not show whether outcomes go together"
        return Check("independence", "not tested", text)
    warning = within_sample_dependence(clues.excess)
    if warning is None:
        return Check("independence", "no objection", "outcomes of one round do not seem to go together")
    return Check("independence", "broken", warning)


def within_sample_dependence(excess: SampleExcess, alpha: float = FALSE_ALARMS) -> str | None:
    """Return a warning if the pairs of a sample move together (or against each other), else None.

    See `SampleExcess.alarm` for the test; with fewer than 30 samples it is silent.
    """
    score = excess.alarm(alpha)
    if score is None:
        return None
    return f"{_together(score)}: use {said(noise='samples')}"


def _together(score: float) -> str:
    how, what = ("together", "good") if score > 0 else ("against each other", "bad")
    return f"outcomes of one round go {how}: good ones come with {what} ones more often than chance explains"
