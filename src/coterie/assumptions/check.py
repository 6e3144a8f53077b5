"""What a test says of one assumption."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["no objection", "broken", "not tested", "not assumed"]

WITHOUT_CLUES = "these statistics were made without what tests of assumptions need"


@dataclass(frozen=True)
class Check:
    """What a log says about one assumption."""

    assumption: str
    """Which: "sizes", "independence", "symmetry", "drift", "missing" or "adaptive"."""
    verdict: Verdict
    text: str
    """A sentence: what was seen, with the option that does without a broken assumption; or why nothing was tested."""
