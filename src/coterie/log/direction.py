"""Whether more is better: that is taken to be so, and told where the name of a column says otherwise."""

import re

from coterie.game.tables import word_in
from coterie.words import number

LESS_IS_BETTER = (
    "rank ranking rang platz platzierung placement position note noten schulnote schulnoten fehler error mistake fault "
    "defect bug conflict konflikt konflikte complaint beschwerde beschwerden minutes minuten duration dauer delay "
    "verspätung cost kosten penalty penalties strafpunkte"
)
"""Words of headers of which a smaller number may be the better one: ranks, errors, times, grades of some countries.

What they are in the plural, `word_in` knows.
"""

_BEST = r"\b1\s*(?:=|:|is|ist)\s*(?:the\s+)?(?:very\s+|sehr\s+)?(?:best|good|gut|top)"
_SAID = re.compile(rf"{_BEST}|(?:less|lower|smaller)\s+is\s+better", re.IGNORECASE)


def about_direction(header: str, scale: tuple[float, float] | None) -> list[str]:
    """Return what to tell where a smaller number may be better in a column.

    Examples
    --------
    >>> about_direction("Rating", (1, 5)), about_direction("Punkte", None)
    ([], [])
    >>> about_direction("Score (1 = best, 5 = worst)", (1, 5))[0].partition(", but ")[2]
    "less may be in the column 'Score (1 = best, 5 = worst)': if so, write 6 minus the number into the table first"
    """
    if not (_SAID.search(header) or word_in(header, LESS_IS_BETTER.split())):
        return []
    most = "a large number" if scale is None else number(sum(scale))
    advice = f"if so, write {most} minus the number into the table first"
    return [f"more is taken to be better, but less may be in the column {header!r}: {advice}"]
