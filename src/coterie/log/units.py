"""What outcomes are counted in, as far as the name of their column says so."""

import re

from coterie.game.tables import word_in
from coterie.log.ways import unit_of_time
from coterie.words import unaccented

UNITS = {
    "points": "points point pts pt", "stars": "stars star", "marks": "marks mark", "goals": "goals goal",
    "votes": "votes vote", "likes": "likes", "errors": "errors error", "mistakes": "mistakes mistake",
    "faults": "faults fault", "incidents": "incidents incident", "complaints": "complaints complaint",
    "sales": "sales", "orders": "orders", "tickets": "tickets", "calls": "calls", "units": "units",
    "euros": "euros euro eur", "dollars": "dollars dollar usd", "pounds": "pounds gbp", "percent": "percent pct",
    "km": "km", "metres": "metres meters", "kg": "kg", "days": "days",
    "Punkte": "punkte", "Sterne": "sterne", "Noten": "noten", "Fehler": "fehler", "Tore": "tore", "Tage": "tage",
    "puntos": "puntos", "estrellas": "estrellas", "goles": "goles", "errores": "errores",
    "étoiles": "etoiles", "buts": "buts", "erreurs": "erreurs", "fautes": "fautes",
}  # fmt: skip
"""What is counted -> how headers write it, without accents."""

SIGNS = {"€": "euros", "$": "dollars", "£": "pounds", "%": "percent"}

TIMES = {"minutes": "mins min minutes", "seconds": "secs sec seconds", "hours": "hours hrs hr h"}
"""Units of time, in one way of writing each; words of other languages stay as they are."""

OPINIONS = (
    "rating score grade quality satisfaction happiness mood bewertung qualitat zufriedenheit qualite satisfaccion"
)
"""Words of headers of which the numbers count nothing, whatever they are about: a rating of calls is no call."""

_BY_WORD = {word: unit for unit, words in {**UNITS, **TIMES}.items() for word in words.split()}


def unit_in(header: str) -> str:
    """Return the unit that a header names, the one in brackets before others; "" where it names none.

    >>> [unit_in(one) for one in ("Points", "Time taken (mins)", "Cost in €", "Stars (1-5)", "Pts. for effort")]
    ['points', 'minutes', 'euros', 'stars', 'points']
    >>> [unit_in(one) for one in ("Score", "Point of view", "How good", "Note /20", "Zeit (Minuten)")]
    ['', '', '', '', 'minuten']
    >>> [unit_in(one) for one in ("Sales rep rating", "Quality of calls", "Score (points)", "Score in %")]
    ['', '', 'points', 'percent']
    """
    for text in (*re.findall(r"[(\[]([^)\]]*)[)\]]", header), header):
        if sign := next((unit for sign, unit in SIGNS.items() if sign in text), ""):
            return sign
        words = re.findall(r"[^\W\d_]+", unaccented(text.casefold()))
        if word_in(text, OPINIONS.split()) is not None:
            continue
        found = next((_BY_WORD[word] for word in words if word in _BY_WORD and not _is_of(word, words)), "")
        if found or (found := unit_of_time(text) or ""):
            return found
    return ""


def _is_of(word: str, words: list[str]) -> bool:
    """Return whether a word is the first of a phrase that means something else, such as a point of view."""
    place = words.index(word)
    return words[place + 1 : place + 2] == ["of"]
