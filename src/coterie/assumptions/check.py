"""What a test says of one assumption."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["no objection", "broken", "not tested", "not assumed"]

WITHOUT_CLUES = "these statistics were made without what tests of assumptions need"

BY_RATINGS = "that takes a table of who was in which team (memberships); here teams are known by their ratings alone"


QUESTIONS = {
    "sizes": "whether the size of a team matters",
    "independence": "whether outcomes of one round go together",
    "symmetry": "whether both people of a pair get the same",
    "drift": "whether outcomes change over time",
    "missing": "whether missing outcomes are many or unevenly spread",
    "adaptive": "whether earlier outcomes decided who met whom",
}
"""What is asked about each assumption."""


@dataclass(frozen=True)
class Check:
    """What a log says about one assumption."""

    assumption: str
    """Which: a key of `QUESTIONS`."""
    verdict: Verdict
    text: str
    """A sentence: what was seen, with the option that does without a broken assumption; or why nothing was tested."""
