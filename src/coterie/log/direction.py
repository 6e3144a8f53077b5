"""Whether more is better, or less: what the name of a column says of that, and how numbers are counted then.

Inside, more is always better. Where less is, utilities are counted with the opposite sign, and with them the range and
the neutral point: sums over any number of pairs turn round with their terms. Whatever is told is turned back.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coterie.game.tables import word_in
from coterie.log.options import Options, fixed_range
from coterie.log.scales import stated_scale, stated_top
from coterie.words import said

LESS_IS_BETTER = (
    "rank ranking rang platz platzierung placement schulnote schulnoten fehler error mistake fault defect bug conflict "
    "konflikt konflikte complaint beschwerde beschwerden delay verspätung penalty penalties strafpunkte"
)
"""Words of headers of which a smaller number is the better one: ranks, errors, grades of which 1 is best.

What they are in the plural, `word_in` knows.
"""

TURNED = (
    "fix fixed fixes resolved resolution solved closed found caught avoided prevented free score points "
    "behoben gelöst gefunden vermieden frei punkte"
)
"""Words beside these that leave it open again: of bugs that were fixed, more is better."""

DOUBTFUL = (
    "position place placing classement puesto minutes minuten min seconds sekunden sec hours stunden time zeit zeiten "
    "laufzeit runtime duration dauer cost kosten"
)
"""Words of headers of which it depends: positions, minutes that were needed or played."""

GRADES, WORST_GRADE = "grade mark", 6
"""Words of headers of which it depends where numbers go from 1 to so many at most: of points, more is better."""

NOTES, LEAST_POINTS = "note noten", 10
"""Marks of some country, 1 to 6 in German: of those that start at 0, or go as far as this, more is better."""

_GOODNESS = {
    **dict.fromkeys(("best", "top", "excellent", "ausgezeichnet", "hervorragend", "meilleur", "excelente", "mejor"), 3),
    **dict.fromkeys(("good", "gut", "gute", "bon", "bonne", "bien", "bueno", "buena"), 1),
    **dict.fromkeys(("bad", "poor", "schlecht", "mauvais", "mal", "malo", "mala", "mangelhaft"), -1),
    **dict.fromkeys(("worst", "terrible", "awful", "ungenügend", "pire", "peor", "pésimo"), -3),
}
_STEM = 4
"""From so many letters on, words may go on: beste, excellente, mauvaise."""

_ANCHOR = re.compile(
    r"(?<![\w.,-])(\d+)\s*(?:=|:|ist?\b)\s*(?:(?:the|le|la|el|am|very|sehr|très|muy)\s+)*([^\W\d_]+)", re.IGNORECASE
)
"""What a number means: 1 = best, 0 is bad, by the first word; "not" says nothing of good and bad."""

_NUMBERED = re.compile(r"[^\W\d_] +\d+\s*:")
"""What is numbered, not rated: Group 1: best of the year."""

_VERY = re.compile(r"\b(?:very|sehr|très|muy)\b", re.IGNORECASE)
_SAID = re.compile(
    r"\b(?:(less|lower|smaller|fewer|weniger|niedriger|kleiner)|more|higher|larger|greater|mehr|höher|größer)\s+"
    r"(?:is|ist)\s+(?:better|besser)",
    re.IGNORECASE,
)


def _lower_is_said(header: str) -> bool | None:
    """Return whether a header says in so many words that less is better (1 = best), or more (1 = worst); else None."""
    if found := _SAID.search(header):
        return found[1] is not None
    anchors = [(int(one[1]), _goodness(one)) for one in _ANCHOR.finditer(header)]
    told = sorted((number, good) for number, good in anchors if good)
    if not told:
        return None
    (low, least), (high, most) = told[0], told[-1]
    if low < high:
        return None if least == most else least > most
    others = [number for number, _ in anchors if number != low]
    is_low = low < min(others) if others else low <= 1
    return is_low == (least > 0)


def _goodness(anchor: re.Match[str]) -> int:
    word = anchor[2].casefold()
    worth = (good for stem, good in _GOODNESS.items() if word == stem or (len(stem) >= _STEM and word.startswith(stem)))
    return next(worth, 0) * (2 if _VERY.search(anchor[0]) else 1)


def direction_told(header: str, titles: Sequence[str]) -> tuple[bool, str] | None:
    """Return whether less is better where it is said in so many words, and where; None where it is not.

    What is above a header counts where the header says nothing: neither so, nor by being about errors or ranks.

    >>> direction_told("Grade", ["Peer feedback", "1 = excellent, any time again ... 5 = poor"])
    (True, 'what is above the header')
    >>> direction_told("Grade", ["1 = poor", "5 = excellent"]), direction_told("Grade", ["1 = not sure, 5 = sure"])
    ((False, 'what is above the header'), None)
    """
    own = _lower_is_said(header)
    if own is not None or says_less_is_better(header):
        return own is not False, f"the name of the column, {header!r}"
    above = _NUMBERED.sub(":", "; ".join(titles))
    # Titles are about much else ("5 = bonus points"): one number alone is no scale.
    less = _lower_is_said(above) if _SAID.search(above) or len(_ANCHOR.findall(above)) > 1 else None
    return None if less is None else (less, "what is above the header")


def says_less_is_better(header: str) -> bool:
    """Return whether the name of a column leaves no doubt that less is better.

    >>> [says_less_is_better(one) for one in ("Score (1 = best, 5 = worst)", "Errors", "Minutes")]
    [True, True, False]
    >>> [says_less_is_better(one) for one in ("Went well (1 = good, 0 = bad)", "Rank (5 = best)", "Bugs fixed")]
    [False, False, False]
    """
    found = _lower_is_said(header)
    if found is not None:
        return found
    return word_in(header, LESS_IS_BETTER.split()) is not None and word_in(header, TURNED.split()) is None


def may_mean_less(header: str, scale: tuple[float, float] | None) -> bool:
    """Return whether less may be better in a column, by its name and its scale.

    >>> [may_mean_less(one, None) for one in ("Minutes", "Zeit (min)", "Laufzeit", "Place", "Points")]
    [True, True, True, True, False]
    >>> may_mean_less("Grade", (1, 6)), may_mean_less("Grade", (0, 100))
    (True, False)
    >>> may_mean_less("Note", (1, 6)), may_mean_less("Note", None), may_mean_less("Note sur 20", None)
    (True, True, False)
    """
    said_so = _lower_is_said(header)
    if said_so is not None:
        return said_so
    low, high = stated_scale(header) or scale or (1.0, 1.0)
    high = max(high, stated_top(header) or high)
    words = [*LESS_IS_BETTER.split(), *DOUBTFUL.split()]
    if scale is not None and scale[0] == 1 and scale[1] <= WORST_GRADE:
        words += GRADES.split()
    if low > 0 and high < LEAST_POINTS:
        words += NOTES.split()
    return word_in(header, words) is not None


def about_direction(header: str, scale: tuple[float, float] | None, titles: Sequence[str] = ()) -> Iterator[str]:
    """Yield what to tell where less may be better in a column, also by what is above it, and nobody said which.

    Examples
    --------
    >>> list(about_direction("Rating", (1, 5))), list(about_direction("Punkte", None))
    ([], [])
    >>> next(about_direction("Score (1 = best, 5 = worst)", (1, 5))).partition(", but ")[2]
    "less may be in the column 'Score (1 = best, 5 = worst)': lower_is_better=True says so"
    """
    told = direction_told(header, titles)
    if may_mean_less(header, scale) if told is None else told[0]:
        say = said(lower_is_better=True)
        yield f"more is taken to be better, but less may be in the column {header!r}: {say} says so"


class Scale(NamedTuple):
    """The scale on which a log is told of."""

    neutral: float
    lower_is_better: bool

    @property
    def has_neutral(self) -> bool:
        """Whether the neutral point is one of the scale's own, so that what a pair gets is told on it."""
        return bool(self.neutral) or self.lower_is_better

    def level(self, value: float) -> float:
        """Return what is so far above the neutral point, as the log has it."""
        return self.neutral - value if self.lower_is_better else self.neutral + value


@dataclass(frozen=True)
class Counted:
    """The scale that outcomes are counted on: the declared one, or its opposite where less is better."""

    utility_range: tuple[float, float] | None
    neutral: float
    sigma: float | None
    extent: tuple[float, float] | None
    """The smallest and the largest outcome, where they are known."""

    @property
    def limits(self) -> tuple[float, float]:
        """Where outcomes may lie."""
        return fixed_range(self.utility_range, self.neutral, self.sigma)


def counted_by(options: Options, extent: tuple[float, float] | None) -> Counted:
    """Return the scale that the outcomes of a log are counted on."""
    ends, neutral, sigma = (options[name] for name in ("utility_range", "neutral", "sigma"))
    if not options["lower_is_better"]:
        return Counted(ends, neutral, sigma, extent)
    return Counted(_opposite(ends), 0.0 - neutral, sigma, _opposite(extent))


def _opposite(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (0.0 - ends[1], 0.0 - ends[0])


def view_of(outcomes: str, lower_is_better: bool) -> str:  # noqa: FBT001  (said by whoever has it)
    """Return the view in which outcomes are as they are counted."""
    return f"opposite_{outcomes}" if lower_is_better else outcomes
