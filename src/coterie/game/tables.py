"""Small tables that people keep, of who is where or who is there at all; and names that one cell lists.

Such a table is CSV or a spreadsheet. Which column says what is guessed from the words of its header, and refused where
that is not clear. Where several names stand in one cell, what is between them is guessed too.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, product
from os import PathLike
from pathlib import Path

from coterie import checks
from coterie.errors import InputError
from coterie.files import csv_table, naming, read_text, restored
from coterie.spreadsheets import SPREADSHEETS, EmptySheetError, Workbook, file_and_sheet
from coterie.words import counted, unaccented

# --- Which column says what -----------------------------------------------------------------------------------

WORDS: dict[str, str] = {
    "agent": "agent who person name employee student pupil member rater from reviewer player participant voter country "
    "author giver consultant colleague by wer mitarbeiter schüler qui élève persona nom prénom vorname nombre nome",
    "coalition": "coalition team group area domain project department practice sector division workstream room table "
    "unit squad crew subject course club topic issue gruppe abteilung projekt bereich tisch équipe groupe îlot equipo",
    "members": "members participants names people mitglieder",
    "rule": "rule option",
    "value": "value setting",
}
"""Words in headers, by the column that they suggest; headers may leave out accents."""

FIRST_NAMES = {"vorname", "prenom"}
"""Of these, what stands beside a column for the whole name, or for the other one."""

ASKED = {"agent": "who", "coalition": "in which team", "rule": "which rule it is", "value": "what it says"}
"""What a column says."""

LISTED = 4
"""How many words that would do a refusal lists."""


def word_in(header: str, known: Iterable[str]) -> str | None:
    """Return the first word of a header that is known, perhaps in the plural or without its accents."""
    plain = set(map(unaccented, known))
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", header).casefold())
    return next((word for word in words if {unaccented(word), unaccented(word.removesuffix("s"))} & plain), None)


NOW = ("today", "now", "current", "currently", "heute", "jetzt", "aktuell", "hoy", "actual", "actuel", "actuelle")
"""Words of sheets that are about today rather than last year."""

STAFF = ("staff", "employee", "people", "roster", "mitarbeiter", "personal", "personnel", "effectif", "plantilla")
"""Words of sheets that say who is there."""

Called = Mapping[str, str]
"""What a log calls the columns of some roles: tables beside it may do the same."""

MEMBER = "member "
"""Where a log has a column for each member, they have the roles "member 1", "member 2", ..."""

IN_LOGS = {"agent": ("agent", "members")}
"""The roles that a column of a log may have where it says the same as one of a small table."""


def _in_log(role: str, called: Called) -> list[str]:
    """Return what a log calls a role."""
    return [called[one] for one in IN_LOGS.get(role, (role,)) if one in called]


def _fit(role: str, header: str, called: Called) -> int:
    """Return how well a header suits a role: it is called so, it is one word for it, it holds one; 0 for not at all."""
    if checks.plain(header) in {role, *map(checks.plain, _in_log(role, called))}:
        return 3
    word = word_in(header, WORDS[role].split())
    if word is None:
        return 0
    return 1 if unaccented(word) in FIRST_NAMES or word != checks.spaced(header).casefold() else 2


def lists_members(header: str, called: Called) -> bool:
    """Return whether a column of people holds all members of a team in each cell, as far as its header says."""
    known = {*WORDS["members"].split(), *(checks.plain(name) for role, name in called.items() if role == "members")}
    return checks.plain(header) in known


@dataclass(frozen=True)
class SmallTable:
    """A table with the numbers that a spreadsheet shows at its rows; rows without any cell are left out."""

    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    where: str = ""
    """The file that it is in, and the sheet, if that has several."""
    called: Called = field(default_factory=dict)
    is_gathered: bool = False
    """Whether it has several rows where the file has one, with columns for members."""

    def fit(self, roles: Sequence[str]) -> int:
        """Return how well its header suits some roles, 0 for not at all."""
        return max((score for score, _ in self._ways(roles)), default=0)

    def suits(self, roles: Sequence[str]) -> tuple[float, ...]:
        """Return how well the whole table suits some roles, the more the better: beside numbers it is another table."""
        score, way = max(self._ways(roles), default=(0, ()))
        others = [place for place in range(len(self.header)) if place not in way]
        people = {cells[way[0]] for _, cells in self.rows} if way else set()
        return score > 0, not any(map(self._holds_numbers, others)), score, len(people) / max(len(self.rows), 1)

    def _holds_numbers(self, place: int) -> bool:
        cells = [cell for _, row in self.rows if (cell := row[place].strip())]
        return 2 * sum(re.fullmatch(r"-?[0-9.,]+", cell) is not None for cell in cells) > len(cells)

    def places(self, roles: Sequence[str]) -> dict[str, int]:
        """Return where the columns of some roles are, by the header; refused where that does not tell."""
        best = self.fit(roles)
        found = [way for score, way in self._ways(roles) if score == best > 0]
        if len(found) > 1:  # numbers of people are no names, where there are others
            found = [way for way in found if not any(map(self._is_numeric, way))] or found
        if not found:
            raise InputError(self._lacks(roles))
        if len(found) > 1:
            role, several = next(
                (role, columns) for role, columns in zip(roles, zip(*found, strict=True), strict=True)
                if len(set(columns)) > 1
            )  # fmt: skip
            named = " and ".join(repr(self.header[place]) for place in dict.fromkeys(several))
            raise InputError(f"{named} could each say {ASKED[role]}; call the right one {role}")
        for role, place in zip(roles, found[0], strict=True):
            is_called = self.header[place].strip().casefold() == role
            if not is_called and self.header[place] in {cells[place] for _, cells in self.rows}:
                named = ", ".join(self.header)
                raise InputError(f"the first row ({named}) seems to be no header; {self._lacks(roles)}")
        return dict(zip(roles, found[0], strict=True))

    def _ways(self, roles: Sequence[str]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield every way to give columns to the roles, with how well it suits."""
        alone = len(self.header) == len(roles) == 2  # then the column that is left over must be the other
        likely = [
            [(fit, place) for place, name in enumerate(self.header) if (fit := _fit(role, name, self.called)) or alone]
            for role in roles
        ]
        for way in product(*likely):
            places = tuple(place for _, place in way)
            fits = [fit for fit, _ in way]
            if len(set(places)) == len(roles) and (all(fits) or max(fits) > 1):
                yield sum(fits), places

    def _is_numeric(self, place: int) -> bool:
        return all(re.fullmatch(r"[0-9.,]*", cells[place].strip()) for _, cells in self.rows)

    def _lacks(self, roles: Sequence[str]) -> str:
        wanted = [
            f"one that says {ASKED[role]}, called {role} (or "
            f"{', '.join([*_in_log(role, self.called), *WORDS[role].split()[1:LISTED]])}, ...)"
            for role in roles
        ]
        listed = ", ".join(filter(None, self.header)) or "none"
        return f"expected a header with a column for each of: {'; '.join(wanted)}; found: {listed}"

    def column_of_samples(self) -> int | None:
        """Return where the column is that a log calls its samples, if there is one and it says no teams."""
        called = checks.plain(self.called.get("sample", "sample"))
        found = (place for place, name in enumerate(self.header) if checks.plain(name) == called)
        return next((place for place in found if not _fit("coalition", self.header[place], self.called)), None)

    def samples(self) -> set[str]:
        """Return what that column says."""
        place = self.column_of_samples()
        return set() if place is None else {row[place] for _, row in self.rows}

    def gathered(self, roles: Sequence[str]) -> "SmallTable":
        """Return the table with a row for each member, where members of a row have columns of their own."""
        columns = self._member_columns() if "agent" in roles else []
        if len(columns) < 2:
            return self
        first, *others = columns

        def with_person(cells: Sequence[str], person: str) -> tuple[str, ...]:
            return tuple(person if place == first else cell for place, cell in enumerate(cells) if place not in others)

        each = [(number, row, name) for number, row in self.rows for place in columns if (name := row[place].strip())]
        rows = [(number, with_person(row, name)) for number, row, name in each]
        return replace(self, header=with_person(self.header, "agent"), rows=tuple(rows), is_gathered=True)

    def _member_columns(self) -> list[int]:
        """Return the columns that a log calls members, or else people whose headers differ in a number: Player 1."""
        theirs = {checks.plain(name) for role, name in self.called.items() if role.startswith(MEMBER)}
        if len(found := [place for place, name in enumerate(self.header) if checks.plain(name) in theirs]) > 1:
            return found
        fits = [_fit("agent", name, self.called) for name in self.header]
        if max(fits, default=0) == 3:
            return []
        groups: dict[str, list[int]] = {}
        for place, name in enumerate(self.header):
            if re.search("[0-9]", name) and not self._holds_numbers(place):
                groups.setdefault(re.sub("[0-9]+", " ", checks.plain(name)), []).append(place)
        people = {*WORDS["agent"].split(), *WORDS["members"].split()}
        several = {name: places for name, places in groups.items() if len(places) > 1}
        named = [places for name, places in several.items() if word_in(name, people)]
        if not named and not any(fits):  # perhaps P1, P2
            named = [places for name, places in several.items() if not word_in(name, WORDS["coalition"].split())]
        return named[0] if len(named) == 1 else []

    def people(self, place: int, known: Collection[str] = ()) -> list[tuple[int, tuple[str, ...], str]]:
        """Return a row for each name in a column of people: its number, its cells and the name.

        A cell lists several names where the header says so, or where it splits into names most of which are `known`.
        """
        cells, exactly = [row[place] for _, row in self.rows], frozenset(known)
        people = exactly if exactly.issuperset(cells) else frozenset(map(_alike, exactly))  # mostly they are as known
        are_whole = 2 * sum(cell in exactly or _alike(cell) in people for cell in cells) > len(cells)
        listed = [[] if cell in exactly else _listed_in(cell, people) for cell in cells]
        is_split = lists_members(self.header[place], self.called) or 2 * sum(map(bool, listed)) > len(cells)
        several = is_split and not are_whole
        signs = likely_separators(cells).signs if several else ()
        return [
            (number, row, name)
            for (number, row), cell, names in zip(self.rows, cells, listed, strict=True)
            for name in names or (names_listed(cell, signs) if signs else [cell]) or [""]
        ]


def read_table(
    path: str | PathLike[str], roles: Sequence[str], what: str = "table", called: Called | None = None
) -> SmallTable:
    """Read CSV (also as Excel saves it) or a spreadsheet, the sheet whose header suits the roles best."""
    path = checks.path(path, what)
    if is_spreadsheet(path):
        book, name = _sheet_of(path, roles, called)
        where = f"{book.path}, sheet {name!r}" if len(book.sheets) > 1 else str(book.path)
        return replace(_sheet(book, name, roles, called), where=where)
    text = read_text(path, windows=True)
    with naming(path):
        return replace(text_table(text, roles, called), where=str(path))


def is_spreadsheet(path: Path) -> bool:
    """Return whether a path is that of a spreadsheet, perhaps with one of its sheets: firm.xlsx#Today."""
    return file_and_sheet(path)[0].suffix.lower() in SPREADSHEETS


def sheet_among_others(
    path: str | PathLike[str], roles: Sequence[str], called: Called | None = None
) -> tuple[Path, str | None]:
    """Return the file and the sheet that `read_table` reads; None where there is no choice."""
    path = checks.path(path, "table")
    if not is_spreadsheet(path):
        return path, None
    book, name = _sheet_of(path, roles, called)
    return book.path, name if len(book.sheets) > 1 else None


def _sheet_of(path: Path, roles: Sequence[str], called: Called | None) -> tuple[Workbook, str]:
    """Return a workbook, and the sheet that was named or else suits the roles best, the first of several.

    Numbers beside what is sought are those of a log, and so is a row for each round, unless the sheet is called by what
    is sought, such as Today.
    """
    file, named = file_and_sheet(path)
    book = Workbook.open(file)
    if named is not None or not book.sheets:
        return book, book.find(named)
    called_so = (NOW if "coalition" in roles else STAFF) if "agent" in roles else ()

    def suits(name: str) -> tuple[float, ...]:
        fits, *others = _sheet(book, name, roles, called).suits(roles)
        return fits, word_in(name, called_so) is not None, *others

    return book, max(book.sheets, key=suits)


def _sheet(book: Workbook, name: str, roles: Sequence[str], called: Called | None) -> SmallTable:
    try:
        sheet = book.read(name)
    except EmptySheetError:
        return SmallTable((), ())
    rows = ((number, tuple(cell or "" for cell in row)) for number, row in enumerate(sheet.rows, sheet.above + 1))
    full = tuple((number, row) for number, row in rows if any(map(str.strip, row)))
    return SmallTable(sheet.header, full, called=called or {}).gathered(roles)


def text_table(text: str, roles: Sequence[str], called: Called | None = None) -> SmallTable:
    """Return the table in CSV text; cells that were made safe for spreadsheets are as before."""
    header, rows = csv_table(text, roles)
    full = [(number, tuple(map(restored, row))) for number, row in rows if any(map(str.strip, row))]
    return SmallTable(tuple(header), tuple(full), called=called or {}).gathered(roles)


# --- Names that one cell lists --------------------------------------------------------------------------------

NEWLINE = "newline"

SEPARATORS = (NEWLINE, ";", "|", ",", "&", "+", "/", "and", "und", "et", "y")
"""What may stand between names in one cell; words are between blanks."""

USUAL = (",", ";", "|", NEWLINE)
"""What is taken for it where nobody has said anything: nothing else is it in most tables."""


def separator_pattern(separators: Iterable[str]) -> str:
    """Return a regular expression of what stands between names, which every engine reads alike: no backslashes.

    >>> import re
    >>> re.split(separator_pattern([",", "and"]), "Ada, Bo, and Cy and Andy")
    ['Ada', ' Bo', 'Cy', 'Andy']
    """
    signs = "".join("\r\n" if one == NEWLINE else one for one in separators if not one.isalpha() or one == NEWLINE)
    words = "|".join(one for one in separators if one.isalpha() and one != NEWLINE)
    either = [f"[{signs}]"] * bool(signs) + [f"[ \t]+(?i:{words})[ \t]+"] * bool(words)
    return f"(?:{'|'.join(either)})+"


def names_listed(cell: str, separators: Iterable[str]) -> list[str]:
    """Return the names that a cell lists."""
    if not (given := tuple(separators)):
        return [cell.strip()]
    return [name for piece in _compiled(given).split(cell) if (name := piece.strip())]


@lru_cache(maxsize=64)
def _compiled(separators: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(separator_pattern(separators))


def _alike(name: str) -> str:
    """Return what spellings of a name have in common, accents left out."""
    return unaccented(checks.plain(name))


def _listed_in(cell: str, people: frozenset[str]) -> list[str]:
    """Return the names that a cell lists, if most of them are people's; none where it is one name, or may be."""
    if not people or _alike(cell) in people:
        return []
    ways = [names_listed(cell, signs) for signs in (*((one,) for one in SEPARATORS), SEPARATORS)]
    shares = [sum(_alike(name) in people for name in way) / len(way) if len(way) > 1 else 0.0 for way in ways]
    best = max(shares)
    return ways[shares.index(best)] if best > 0.5 else []


@dataclass(frozen=True)
class Separators:
    """What stands between the names in the cells of a column, and how far other rows bear it out."""

    signs: tuple[str, ...]
    names: int
    """How many different names there are if cells are split so."""
    again: int
    """How many of these occur in several different cells."""

    @property
    def is_borne_out(self) -> bool:
        """Whether most names come back, so that cells hardly look so by chance."""
        return 2 * self.again >= self.names


def likely_separators(cells: Iterable[str]) -> Separators:
    """Return what seems to stand between names: what, used, yields names that come back in other cells.

    The sign that yields most of them is taken first; another one, for what is left in one piece, if then more come back
    than before. Where nobody comes back at all, it is what most cells have.

    >>> likely_separators(["Ada & Bo", "Bo & Cy", "Ada, Cy and Dee", "Dee & Bo"]).signs
    (',', '&', 'and')
    >>> likely_separators(["Lee, Ada & Roy, Bo", "Roy, Bo & Lee, Ada & Kim, Cy", "Kim, Cy & Lee, Ada"]).signs
    ('&',)
    """
    texts = sorted({cell.strip() for cell in cells if cell.strip()})
    signs: list[str] = []
    while (added := _next(texts, signs)) is not None:
        signs.append(added)
    if not signs:
        many = [sum(len(names_listed(text, [one])) > 1 for text in texts) > 0.6 * len(texts) for one in SEPARATORS]
        signs = [one for one, enough in zip(SEPARATORS, many, strict=True) if enough]
    often, found = _cells_with([_people(text, signs) for text in texts]), sorted(signs, key=SEPARATORS.index)
    return Separators(tuple(found), len(often), sum(times > 1 for times in often.values()))


def _cells_with(cells: Iterable[set[str]]) -> Counter[str]:
    """Return in how many cells each name is."""
    return Counter(chain.from_iterable(cells))


def _people(text: str, signs: Sequence[str]) -> set[str]:
    """Return the names in a cell, without regard to case."""
    return {name.casefold() for name in names_listed(text, signs)}


def _next(texts: Sequence[str], signs: Sequence[str]) -> str | None:
    """Return the sign that, beside those that are known, makes most names come back; None if none does."""
    whole = [_people(text, signs) for text in texts]
    before = _cells_with(whole)
    best, found = 0.0, None
    for sign in SEPARATORS:
        if sign in signs:
            continue
        parts = [_people(text, [*signs, sign]) for text in texts]
        after = _cells_with(parts)
        old = [before[name] > 1 for was, now in zip(whole, parts, strict=True) for name in was - now]
        new = [after[name] > 1 for was, now in zip(whole, parts, strict=True) for name in now - was]
        share = sum(new) / max(len(new), 1)
        # At least half of what it parts should come back, and more than without it.
        if share >= 0.5 and share > best and share * len(old) > sum(old):
            best, found = share, sign
    return found


def worded_separators(signs: Iterable[str]) -> str:
    """Return separators as an option has them: between blanks."""
    return " ".join(signs)


def about_separators(found: Separators) -> str:
    """Return why cells are split so, in words."""
    if not found.signs:
        return "no cell seems to list several names"
    if not found.again:
        return "most cells have it; nobody is in two different cells, so check the names"
    return f"split so, {found.again:,} of {counted(found.names, 'name')} come back in other rows"
