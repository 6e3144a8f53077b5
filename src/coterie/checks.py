"""Validation of values that callers hand in, and the wording of the refusals.

Checks of tables live with the log; everything that is a number, a name or an array is here.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from numbers import Real
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError

APOSTROPHES = "'`\u00b4\u2018\u2019\u201b\u02b9\u02bb\u02bc\u2032"

Names = Iterable[Any] | int | None
"""Names, or how many there are; None where something else says that."""

Seed = int | np.random.Generator | None
"""Where randomness comes from: a number repeats, None never does, a Generator goes on where it is."""


LEAST_PROBABILITY = 1e-300
"""Certificates divide delta among events, and take logarithms of the parts: these must not be 0."""

LEAST_PART = 1e-303
"""The same of a part of delta, which is what a learner has certificates made with."""


def shown(value: Any) -> str:
    """Return `value` for a message: its repr, cut where it is long."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # an integer of thousands of digits, very deep lists
        return f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def names(values: Names, what: str, count: int | None = None) -> tuple[str, ...]:
    """Return `count` distinct non-empty names (any number if None); without names they are "1", "2", ..."""
    if values is None or _is_number(values):
        values = range(1, (count or 0) + 1 if values is None else whole(values, f"number of {what}", 1) + 1)
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{what}: expected a list of names or their number, got {shown(values)}")
    found = tuple(str(value) for value in values)
    if count is not None and len(found) != count:
        raise InputError(f"{what}: expected {count} names, got {len(found)}")
    if "" in found:
        raise InputError(f"{what}: name {found.index('') + 1} is empty")
    repeated = [name for name, times in Counter(found).items() if times > 1]
    if repeated:
        raise InputError(f"{what}: the name {repeated[0]!r} occurs twice")
    for name in found:
        writable(name, f"{what}: the name ")
    return found


def writable(text: str, what: str = "") -> str:
    """Return a text that can be written in UTF-8, which halves of characters cannot; `what` begins the refusal.

    JSON has them as escapes, and in names of files and words of a command line they stand for other bytes than UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what}{shown(text)} is not text that can be written in UTF-8") from None
    return text


def index_of(name: Any, known: Sequence[str], what: str) -> int:
    """Return the position of `name`, refusing an unknown one with a hint."""
    if isinstance(name, str) and name in known:
        return known.index(name)
    listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    hint = "" if isinstance(name, str) else " (names are strings)"
    close = close_to(name, known) if isinstance(name, str) else []
    known_are = f"did you mean {' or '.join(map(repr, close))}? Known are" if close else "known are"
    raise InputError(f"unknown {what} {shown(name)}; {known_are}: {listed}{hint}")


def spaced(name: str) -> str:
    """Return a name with single spaces between its words and none around it."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def plain(name: str) -> str:
    """Return what the spellings of a name have in common: they differ in case, spaces or how letters are written.

    >>> plain("Ada  Groß") == plain("ada GROSS"), plain("Jürgen Vogt"), plain("Maeve O`Neill")
    (True, 'juergen vogt', "maeve o'neill")
    """
    return _signed(name).translate(UMLAUTS)


def _signed(name: str) -> str:
    """Return a name without what differs in case, blanks and which of several like signs was typed."""
    return spaced(name.translate(SIGNS)).casefold()


SIGNS = str.maketrans(
    dict.fromkeys(APOSTROPHES, "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
"""Quotation marks and dashes that programs put in place of those on a keyboard, and signs that nobody sees."""

UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
"""Letters that are written as two where a keyboard lacks them; ß is folded already."""

AS_TWO = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
"""Letters that are written as two or as one."""

AS_ONE = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th"}
"""What stands for letters that are no other with an accent."""

MOST_AS_TWO = 6
"""Of more letters that may be two, all are or none is."""


def readings(name: str) -> frozenset[str]:
    """Return how a name may be written without accents: those who leave them out write one of these.

    >>> sorted(readings("Björn Åkesson") & (readings("Bjorn Akesson") | readings("Bjoern Akesson")))
    ['bjoern akesson', 'bjorn akesson']
    >>> readings("Łukasz") == readings("lukasz"), readings("Anke Brandt") & readings("Anke Brant")
    (True, frozenset())
    """
    letters = _signed(name)
    if letters.isascii():
        return frozenset([letters])
    short = "".join(AS_ONE.get(letter, letter) for letter in _without_accents(letters))
    several = sum(map(letters.count, AS_TWO))
    if not several:
        return frozenset([short])
    choices = [(AS_TWO[letter], _one(letter)) if letter in AS_TWO else (_one(letter),) for letter in letters]
    if several > MOST_AS_TWO:
        return frozenset([short, "".join(ways[0] for ways in choices)])
    return frozenset("".join(chosen) for chosen in product(*choices))


def _one(letter: str) -> str:
    return letter if letter.isascii() else "".join(AS_ONE.get(c, c) for c in _without_accents(letter))


def _without_accents(letters: str) -> str:
    """Return letters without the accents of alphabets; marks of other scripts make other letters, and stay."""
    found = "".join(c for c in unicodedata.normalize("NFKD", letters) if not "̀" <= c <= "ͯ")
    return unicodedata.normalize("NFC", found)


_REMARKS = (
    re.compile(r"\(([^()]*)\)$"),
    re.compile(r"\[([^][]*)\]$"),
    re.compile(r"\s[-|/]\s(.*)"),
    re.compile(r"(?<![*†])([*†]+)$"),
)
"""How remarks begin behind a name; each is looked for on its own, as names may be very long."""


def without_remark(name: str) -> str | None:
    """Return a name without what somebody noted behind it; None where there is nothing.

    Who is new is told from others by that word, and by numbers.

    >>> without_remark("Kwame (remote)"), without_remark("Kwame - remote"), without_remark("Kwame [ext.]")
    ('Kwame', 'Kwame', 'Kwame')
    >>> without_remark("Kwame"), without_remark("Kwame (2)"), without_remark("Kwame (new)")
    (None, None, None)
    """
    whole = spaced(name.translate(SIGNS))
    found = min(filter(None, (one.search(whole) for one in _REMARKS)), key=re.Match.start, default=None)
    if found is None:
        return None
    bare, remark = whole[: found.start()].rstrip(), found[1]
    is_other = remark.casefold() == "new" or any(map(str.isdigit, remark))
    return bare if any(map(str.isalnum, bare)) and not is_other else None


def meant(name: str, known: Iterable[str]) -> list[str]:
    """Return who may be meant by a name that somebody typed: one who has it, or spells it otherwise, or begins so.

    Of those who begin so, those whose first word it is come before all others: "Ann" is Ann Lee rather than Anna Poe,
    and "lee" is nobody's beginning. Accents may be left out where nobody's name is without them.

    >>> meant("Ann", ["Ann", "Ann Lee"]), meant("ann", ["Ann Lee", "Anna Poe"]), meant("an", ["Ann Lee", "Anna Poe"])
    (['Ann'], ['Ann Lee'], ['Ann Lee', 'Anna Poe'])
    >>> meant("Bjorn", ["Björn Åkesson", "Bo"]), meant("jose", ["José", "Jose"])
    (['Björn Åkesson'], ['Jose'])
    """
    known = list(known)
    if name in known:
        return [name]
    for spelled in (lambda one: frozenset([plain(one)]), readings):
        begins = tuple(filter(None, spelled(name)))
        others = {one: spelled(one) for one in known if begins}
        found = [one for one, ways in others.items() if any(way.startswith(begins) for way in ways)]
        same = [one for one in found if others[one].intersection(begins)]
        first = [one for one in found if {way.split()[0] for way in others[one]}.intersection(begins)]
        if found:
            return same or first or found
    return []


def close_to(name: str, known: Sequence[str]) -> list[str]:
    """Return who may be meant by a name that nobody has: who begins so, is named much like it, or whose first name is.

    >>> close_to("Bjron", ["Björn Åkesson", "Bo Lee"]), close_to("Zoe", ["Ada", "Bo"])
    (['Björn Åkesson'], [])
    """
    from difflib import get_close_matches

    firsts = {one.split()[0]: one for one in known if one.strip()}  # a first name that is misspelled
    like = similar(name, known, LOOSELY)
    close = meant(name, known)[:MOST_MEANT] or ([like] if like else get_close_matches(name, known, 3))
    return close or [firsts[first] for first in get_close_matches(name, firsts, 3)]


MOST_MEANT = 8
"""Up to so many names are offered."""


def same_but_for_signs(name: str, known: Iterable[str]) -> str | None:
    """Return the one name that differs in accents, signs and the order of words only; None where there is none.

    >>> same_but_for_signs("Diaz, Carmen", ["Carmen D\u00edaz", "Carmen Vogel"])
    'Carmen D\u00edaz'
    """
    found = [one for one in known if _bare(one) == _bare(name)]
    return found[0] if len(found) == 1 else None


LIKE, LOOSELY = 0.75, 0.65
"""How alike names are that are probably one; for a mere hint, one letter of three may differ."""


def similar(name: str, known: Iterable[str], at_least: float = LIKE) -> str | None:
    """Return the name that was probably meant; None where no other is like it."""
    from difflib import get_close_matches

    bare = {_bare(one): one for one in known}
    close = get_close_matches(_bare(name), bare, 1, at_least)
    return same_but_for_signs(name, bare.values()) or (bare[close[0]] if close else None)


def slip_of(name: str, missing: Iterable[str]) -> str | None:
    """Return which of the names that are missing was probably meant; names with numbers are told apart by these.

    >>> slip_of("Dimitry", ["Dimitri", "Wim"]), slip_of("p10", ["p1"]), slip_of("Ann", ["Bob"])
    ('Dimitri', None, None)
    >>> slip_of("Kwame (remote)", ["Kwame"]), slip_of("Kwame", ["Kwame (remote)"]), slip_of("Kwame (new)", ["Kwame"])
    ('Kwame', 'Kwame (remote)', None)
    """
    missing = list(missing)
    noted = [one for one in missing if plain(name) == plain(without_remark(one) or "")]
    noted += [one for one in missing if plain(one) == plain(without_remark(name) or "")]
    if noted:
        return noted[0]
    words = [one for one in missing if not any(c.isdigit() for c in one)]
    return same_but_for_signs(name, missing) if any(c.isdigit() for c in name) else similar(name, words)


def _bare(name: str) -> str:
    """Return the words of a name in order, without accents and signs."""
    letters = unicodedata.normalize("NFKD", _signed(name))
    plain_letters = (AS_ONE.get(c, c) for c in letters)
    words = "".join(c if c.isalnum() else "" if unicodedata.combining(c) or c == "'" else " " for c in plain_letters)
    return " ".join(sorted(words.split()))


def rekeyed(found: Mapping[str, Any], names: Mapping[str, str], what: str) -> dict[str, Any]:
    """Return the same under other names, refusing two that become one; keys that are not in `names` stay."""
    changed: dict[str, Any] = {}
    for name, value in found.items():
        if (known := names.get(name, name)) in changed:
            raise InputError(f"{what}: {known!r} occurs twice, in two spellings of one name")
        changed[known] = value
    return changed


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def number(value: Any, what: str, at_least: float | None = None) -> float:
    """Return `value` as a finite float, perhaps of at least so much; text and truth values are not numbers."""
    try:
        found = float(value) if _is_number(value) else np.nan
    except OverflowError:  # an integer beyond the largest float
        found = np.nan
    if not np.isfinite(found):
        raise InputError(f"{what}: expected a finite number, got {shown(value)}")
    if at_least is not None and found < at_least:
        raise InputError(f"{what}: expected a number from {at_least:g} up, got {shown(value)}")
    return found


def whole(value: Any, what: str, at_least: int, at_most: int | None = None) -> int:
    """Return `value` as an int of at least `at_least`, and perhaps of no more than `at_most`."""
    try:
        found = int(value) if _is_number(value) else None
    except (ValueError, OverflowError):  # not a number, infinity
        found = None
    if found is None or found != value:
        raise InputError(f"{what}: expected a whole number, got {shown(value)}")
    if found < at_least:
        raise InputError(f"{what}: expected at least {at_least}, got {shown(found)}")
    if at_most is not None and found > at_most:
        raise InputError(f"{what}: expected at most {at_most:,}, got {shown(found)}")
    return found


def generator(seed: Any, what: str = "seed") -> np.random.Generator:
    """Return the generator that a `Seed` stands for: a whole number of at least 0, None, or a Generator itself."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    if not _is_number(seed):
        raise InputError(f"{what}: expected a whole number, None or a numpy.random.Generator, got {shown(seed)}")
    return np.random.default_rng(whole(seed, what, 0))


def seed(given: Any, what: str = "seed") -> int:
    """Return the whole number that a `Seed` stands for: itself, or one that a Generator, or nobody, draws."""
    rng = generator(given, what)
    return int(rng.integers(2**31)) if given is None or given is rng else int(given)


def path(value: Any, what: str, expected: str = "the path of a file") -> Path:
    """Return the path that a string or a path names."""
    if isinstance(value, (str, os.PathLike)):
        return Path(value)
    raise InputError(f"{what}: expected {expected}, got {shown(value)}")


def probability(value: Any, what: str, least: float = LEAST_PROBABILITY) -> float:
    """Return a number strictly between 0 and 1, and not so small that parts of it would be 0."""
    found = number(value, what)
    if not 0 < found < 1:
        raise InputError(f"{what}: expected a number between 0 and 1, got {shown(value)}")
    if found < least:
        raise InputError(f"{what}: expected a number from {least:g} up, got {shown(value)}")
    return found


def one_of(value: Any, choices: Any, what: str) -> Any:
    """Return `value`, which must be one of the words of a `Literal`."""
    words = get_args(choices)
    if isinstance(value, str) and value in words:
        return str(value)
    *first, last = (f'"{word}"' for word in words)
    raise InputError(f"{what}: expected {', '.join(first)} or {last}, got {shown(value)}")


def boolean(value: Any, what: str) -> bool:
    """Return `value`, which must be true or false."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InputError(f"{what}: expected true or false, got {shown(value)}")


def finite(values: npt.ArrayLike, what: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return a float array without NaN or infinity, of the given shape if there is one."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        given = np.asarray(None)
    if given.dtype.kind not in "iuf":  # text, truth values, None, integers too large for any type
        raise InputError(f"{what}: expected numbers in a rectangular array")
    array = given.astype(np.float64, copy=False)
    if shape is not None and array.shape != shape:
        raise InputError(f"{what}: expected shape {shape}, got {array.shape}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(int(index) for index in bad[0])
        raise InputError(f"{what}: the value at {where} is {array[where]}, expected a finite number")
    return array


def frozen(values: npt.ArrayLike, what: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return what `finite` does as a read-only array that shares no memory with `values`."""
    array = finite(values, what, shape)
    if not isinstance(values, (list, tuple)):  # of those NumPy has made a new array already
        array = np.array(array)
    array.setflags(write=False)
    return array


def booleans(values: npt.ArrayLike, what: str) -> BoolArray:
    """Return a new array of booleans; besides them only 0 and 1 are taken."""
    try:
        given = np.array(values)
    except ValueError:  # rows of different lengths
        given = np.array(None)
    if given.dtype.kind == "b":
        return given
    if given.dtype.kind not in "iuf" or not np.isin(given, (0, 1)).all():
        raise InputError(f"{what}: expected true or false, or 1 or 0, in a rectangular array")
    return given.astype(np.bool_)


def probabilities(values: npt.ArrayLike, what: str, kept_within: float = 0.0) -> FloatArray:
    """Return non-negative numbers that sum to 1.

    Rounding in files is smoothed out, but not where the sum is `kept_within` so much of 1.
    """
    array = finite(values, what)
    if array.ndim != 1 or not len(array):
        raise InputError(f"{what}: expected a non-empty list of probabilities")
    if (array < 0).any():
        raise InputError(f"{what}: {array.min()} is negative, expected probabilities")
    total = float(array.sum())
    if abs(total - 1) > 1e-6:
        raise InputError(f"{what}: probabilities sum to {total:.6g}, expected 1")
    return array if abs(total - 1) <= kept_within else array / total


MOST_PROBLEMS = 10
"""How many problems one refusal lists."""


def refuse_all(problems: Sequence[str], begins: str = "has") -> None:
    """Raise one error that lists the problems, if there are any."""
    if not problems:
        return
    if len(problems) == 1:
        raise InputError(problems[0])
    rest = len(problems) - MOST_PROBLEMS
    listed = [*problems[:MOST_PROBLEMS], *([f"and {rest} more problems"] if rest > 0 else [])]
    raise InputError(f"{begins} {len(problems)} problems:\n" + "\n".join(f"- {line}" for line in listed))
