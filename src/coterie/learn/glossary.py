"""Words that not everybody knows, and what they mean."""

import re

GLOSSARY: dict[str, str] = {
    "certificate": "a proven limit on what anybody could gain by moving; it fails with probability delta at most",
    "coalition": "a kind of team: an area, a room, a project",
    "round": "one period in which everybody's teams were fixed: a day, a month, a term (in files: sample)",
    "surely": "proven from the log at the stated confidence, not just estimated",
    "surely stay": "proven to have nothing to gain, all of them together",
    "best alternative": "the step that would be best for somebody by what the log makes most likely",
    "holdout": "proven on rounds that were set aside while the teams were chosen",
    "paired": "proven for all teams at once, so that it does not matter how these were chosen",
    "paper": "the bound of the published method, wider than the others",
    "own part": "the score of a team is made of its pairs; this is what those of somebody with the others there score",
    "least well off": "whoever has least by the best guess, with what is expected of them",
    "gain by moving": "what whoever gains most by moving would gain, on average over all that the log leaves possible; "
    "more than any change by the best guess alone",
    "option": "an assignment that none of the others beats in everything",
}  # fmt: skip
"""Words that not everybody knows -> what they mean."""


def glossary(text: str) -> list[tuple[str, str]]:
    """Return the unusual words that a text uses, and what they mean.

    Examples
    --------
    >>> ", ".join(word for word, _ in glossary("A holdout certificate of 30 rounds"))
    'certificate, round, holdout'
    """
    low = text.lower()
    found = [(word, meaning) for word, meaning in GLOSSARY.items() if re.search(rf"\b{word}s?\b", low)]
    return [one for one in found if one[0] != "surely" or low.replace("surely stay", "").count("surely")]
