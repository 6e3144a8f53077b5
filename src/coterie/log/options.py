"""What can be said of a log apart from its tables: one table of options, and everything that is made from it.

`LogOptions` is the table. An entry there is a Python argument of `read_log` and `Log.from_frames`, with its
check and its documentation, and unless it says otherwise a key of `log.json` and an option of every command
that reads a log. Nothing here touches data.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypedDict, TypeVar, get_args, get_type_hints

from coterie import checks
from coterie.errors import InputError
from coterie.files import naming, parse_json
from coterie.game.game import Value
from coterie.game.tables import SEPARATORS, USUAL, worded_separators
from coterie.log.schema import CAN_LACK, COLUMNS, NO_COLUMN, Feedback, Named, names_of
from coterie.words import interval, literal, number, said

FORMAT = "coterie.log/1"

SIGMAS_BEYOND_RANGE = 32
"""With a declared sigma, how far beyond the range of the means a utility may lie."""

SIGMAS_WITHOUT_RANGE = 1024
"""With a declared sigma and no range, how far from the neutral point a utility may lie."""

LEAST_SIGMA = 2.0**-30
"""What part of their range utilities are rounded to: noise cannot be smaller."""

WIDEST_RANGE = 1e60
"""How wide the range of utilities may be; one over it is the least: doubles must hold fourth powers."""

MOST_COALITIONS = 100_000
"""How many interchangeable coalitions may be asked for: a line of text should not fill the memory."""

MOST_ABOVE = 10_000
"""How many rows may be above a header."""

EngineName = Literal["duckdb", "spark"]

Missing = Literal["ignore", "worst"]
"""What is taken of meetings without a row: that they were like the others, or the worst."""

Totals = Literal["sum", "team-averages", "average", "team-scores", "team-score-averages"]
"""What a row of totals is: an agent's sum over all pairs, sum over coalitions of averages, or average of all pairs; or
the score of a team, the sum over its pairs or their average."""

TEAM_SCORES = {"team-scores": "total", "team-score-averages": "average"}
"""Those that are scores of teams, and the value of people that adds up to them."""


def are_own(totals: str, value: Value) -> bool:
    """Return whether what people are worth is what the log has of each of them: their own number in a team."""
    return value == "average" and totals in {"team-averages", "average"}


Blanks = Literal["skip", "absent", "refuse"]
"""What becomes of rows without a utility or choice."""

Summaries = Literal["skip", "keep"]
"""What becomes of rows that sum others up."""

Duplicates = Literal["refuse", "first", "last", "mean"]
"""What becomes of several rows about the same."""

Options = Mapping[str, Any]
"""Checked options by name; one that is not there was not declared."""

Check = Callable[[Any, str], Any]
"""Returns the checked value, None for one that declares nothing; its refusal begins with what it is given second."""


@dataclass(frozen=True)
class Word:
    """How the command line reads an option."""

    type: Any = str
    """What its value is; for a `Literal`, one of its words."""
    metavar: str | None = None
    flag: str | None = None
    """The name of a flag, which takes no value."""
    means: bool = True
    """What that flag declares."""
    other: str | None = None
    """The name of the flag that declares the opposite."""
    help: str = ""
    """Where it says something else than Python's."""


@dataclass(frozen=True)
class Option:
    """One thing that can be said of a log."""

    check: Check
    help: str
    word: Word | None
    """None for what the command line does not offer."""
    default: Any = None
    """What it is where nobody declared anything."""
    python: str = ""
    """What Python takes besides, in words."""
    among_frames: str = ""
    """What `Log.from_frames` calls it, where a table has its name."""
    in_file: bool = True
    """Whether `log.json` may declare it."""
    wins_with: tuple[str, ...] = ()
    """Options that the file says nothing about any more if the caller declares this one."""
    type: Any = Any
    """What Python takes, from the table."""


# --- Checks -----------------------------------------------------------------------------------------------


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what}: expected text, got {checks.shown(value)}")
    return value


def _name(value: Any, what: str) -> str:
    """Return a name, which may be written as a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise InputError(f"{what}: expected a name, got {checks.shown(value)}")
    return value


def _positive(value: Any, what: str) -> float:
    if (result := checks.number(value, what)) <= 0:
        raise InputError(f"{what}: expected a positive number, got {checks.shown(value)}")
    return result


def _wish(value: Any, what: str) -> bool | None:
    """Return True, or None for False: not to wish for something is to say nothing."""
    return checks.boolean(value, what) or None


def _range(value: Any, what: str) -> tuple[float, float]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable) or len(pair := tuple(value)) != 2:
        raise InputError(f"{what}: expected two numbers [low, high], got {checks.shown(value)}")
    low, high = (checks.number(end, what) for end in pair)
    if not low < high:
        raise InputError(f"{what}: expected low < high, got {interval(low, high)}")
    return low, high


def _one_of(choices: Any) -> Check:
    """Return the check of a `Literal`."""
    return lambda value, what: checks.one_of(value, choices, what)


def _names(value: Any, what: str) -> tuple[str, ...] | None:
    listed = tuple(value) if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)) else None
    if listed is None or not all(isinstance(name, (str, Integral)) and not isinstance(name, bool) for name in listed):
        raise InputError(f"{what}: expected a list of names, got {checks.shown(value if listed is None else listed)}")
    return checks.names(listed, what) or None


def _how_many_or_names(value: Any, what: str) -> int | tuple[str, ...] | None:
    is_names = isinstance(value, (bool, str)) or not isinstance(value, Real)
    return _names(value, what) if is_names else checks.whole(value, what, 1, MOST_COALITIONS)


def _actions(value: Any, what: str) -> Any:
    """Return what agents may do: a word, lists of coalition names, or agent -> one of these; perhaps as JSON."""
    if isinstance(value, str):
        if not value.lstrip().startswith(("[", "{")):
            return value
        with naming(what):
            value = parse_json(value)
    if isinstance(value, Mapping):
        return {str(agent): _actions(sets, what) for agent, sets in value.items()}
    if isinstance(value, Sequence) and all(isinstance(s, Sequence) and not isinstance(s, str) for s in value):
        return [[str(name) for name in chosen] for chosen in value]
    raise InputError(
        f'{what}: expected "observed", "observed-own", "one", "any", "up-to:3", a list of lists of coalition names, '
        f"or an object agent -> list of lists, got {checks.shown(value)}"
    )


def _columns(value: Any, what: str) -> Mapping[str, Named] | None:
    """Return column -> name in the user's tables, from a mapping or "sample=Project,utility=Score".

    Members may have several columns: a list of names in a mapping, and `members=` several times in text. Names may hold
    commas: only those before the next pair part them.
    """
    pairs: Iterable[tuple[Any, Any]] | None = value.items() if isinstance(value, Mapping) else None
    if isinstance(value, str):
        parted = (entry.strip(" ,") for entry in re.split(r",(?=[ ,]*[^\W\d_]+ *=)", value))
        entries = [entry.partition("=") for entry in parted if entry]
        if not all(sign and theirs.strip() for _, sign, theirs in entries):
            raise InputError(
                f"{what}: expected ours=theirs pairs such as sample=Project,utility=Score, got {checks.shown(value)}"
            )
        pairs = [(ours, theirs) for ours, _, theirs in entries]
    if pairs is None:
        raise InputError(f"{what}: expected an object such as {{'sample': 'Project'}}, got {checks.shown(value)}")
    result: dict[str, Named] = {}
    owner: dict[str, str] = {}
    for column, name in pairs:
        ours = str(column).strip().lower()
        if ours not in COLUMNS:
            raise InputError(f"{what}: {ours!r} is not a column of a log; those are: {', '.join(COLUMNS)}")
        several = isinstance(name, (list, tuple)) and ours == "members" and len(name) > 0
        for theirs in (str(one).strip() for one in (name if several else (name,))):
            if ours in result and ours != "members":
                raise InputError(f"{what}: {ours!r} is given twice")
            other = owner.setdefault(theirs.casefold(), ours)
            if other != ours and {other, ours} == set(CAN_LACK) and theirs in NO_COLUMN:
                other = ours
            if other != ours:
                raise InputError(
                    f"{what}: {other} and {ours} are both said to be {theirs!r}, expected a column for each"
                )
            if ours in result and theirs in names_of(result[ours]):
                raise InputError(f"{what}: {ours!r} is said to be {theirs!r} twice")
            result[ours] = (*names_of(result[ours]), theirs) if ours in result else theirs
    return result or None


def _separators(value: Any, what: str) -> str:
    """Return what stands between names, as it is written: signs and words between blanks."""
    signs = _text(value, what).split()
    unknown = [one for one in signs if one not in SEPARATORS and not (one.isalpha() and one.isascii())]
    if unknown or not signs:
        raise InputError(
            f"{what}: expected some of {' '.join(SEPARATORS)} or other words, with blanks between them, got "
            f"{checks.shown(value)}"
        )
    return worded_separators(dict.fromkeys(signs))


def _words(value: Any, what: str) -> tuple[str, ...] | None:
    """Return words from a list, or from text with commas between them."""
    listed = value.split(",") if isinstance(value, str) else value
    if isinstance(listed, Mapping) or not isinstance(listed, Iterable):
        raise InputError(f"{what}: expected words with commas between them, got {checks.shown(value)}")
    words = tuple(listed)
    if not all(isinstance(word, str) for word in words):
        raise InputError(f"{what}: expected words with commas between them, got {checks.shown(value)}")
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip())) or None


def _word(value: Any, what: str) -> str:
    """Return text in one line; "" where it says that there is none."""
    word = " ".join(checks.writable(_text(value, what), f"{what}: ").split())
    return "" if word == "none" else word


def _session(value: Any, what: str) -> Any:
    if not hasattr(value, "createDataFrame"):
        raise InputError(f"{what}: expected a Spark session, got {checks.shown(value)}")
    return value


def _whole(value: Any, what: str) -> int:
    return checks.whole(value, what, 1)


def _rows_above(value: Any, what: str) -> int:
    return checks.whole(value, what, 0, MOST_ABOVE)


# --- The table --------------------------------------------------------------------------------------------


class CommonOptions(TypedDict, total=False):
    """What `read_log` and `Log.from_frames` call alike."""

    columns: Annotated[
        Mapping[str, str | Sequence[str]] | str | None,
        Option(
            _columns,
            "What your tables call a column: sample=Project,utility=Score. A column for each member: members=Player "
            "1,members=Player 2. No column: sample=#, the number of the row; coalition=-, all together.",
            Word(),
            default={},
            python='Or {"sample": "Project", "members": ["Player 1", "Player 2"]}.',
        ),
    ]
    sheet: Annotated[
        str | int | None,
        Option(_name, "Which sheet of a spreadsheet to read, by name or number; the first by default.", Word()),
    ]
    skip_rows: Annotated[
        int | None,
        Option(
            _rows_above,
            "How many rows of a CSV file or a spreadsheet are above its header; found out by default.",
            Word(int, metavar="N"),
        ),
    ]
    separators: Annotated[
        str | None,
        Option(
            _separators,
            "What stands between the names in a cell that lists the members of a team: signs and words with blanks "
            "between them, such as '& and newline'.",
            Word(metavar="SIGNS"),
            default=worded_separators(USUAL),
        ),
    ]
    clean_names: Annotated[
        bool | None,
        Option(
            checks.boolean,
            "Names that differ in case, spaces or how letters are written only are the same: Bob and 'bob ', Jürgen, "
            "Juergen and Jurgen.",
            Word(flag="--clean-names"),
            default=False,
        ),
    ]
    blanks: Annotated[
        Blanks | None,
        Option(
            _one_of(Blanks),
            "Rows without a utility or choice: skip them and say how many, take whoever they are about for absent, or "
            "refuse the log.",
            Word(Blanks),
            default="skip",
        ),
    ]
    blank_words: Annotated[
        Sequence[str] | str | None,
        Option(
            _words,
            "What else stands in a cell that has no number, beside words such as n/a and none: pending,late.",
            Word(metavar="WORD,WORD"),
            default=(),
        ),
    ]
    absent_words: Annotated[
        Sequence[str] | str | None,
        Option(
            _words,
            "What else says in place of a utility that somebody was not there, beside words such as absent and sick: "
            "moved,abs.",
            Word(metavar="WORD,WORD"),
            default=(),
        ),
    ]
    summaries: Annotated[
        Summaries | None,
        Option(
            _one_of(Summaries),
            "Rows that sum others up (Total, Average, ...): skip them and say which, or keep them like any other.",
            Word(Summaries),
            default="skip",
        ),
    ]
    duplicates: Annotated[
        Duplicates | None,
        Option(
            _one_of(Duplicates),
            "Several rows about the same (pair, team and round): refuse them, or take the first, the last or the mean "
            "of their numbers, and say how many they are.",
            Word(Duplicates),
            default="refuse",
        ),
    ]
    utility_range: Annotated[
        Sequence[float] | None,
        Option(
            _range,
            "Where pair utilities lie.",
            Word(tuple[float, float], metavar="LOW HIGH"),
            python="Default: (-1, 1), unless there is a sigma.",
        ),
    ]
    neutral: Annotated[
        float | None,
        Option(checks.number, "What is as good as being alone.", Word(float), default=0.0),
    ]
    lower_is_better: Annotated[
        bool | None,
        Option(
            checks.boolean,
            "Less is better: errors, ranks, ...",
            Word(flag="--lower-is-better", other="--higher-is-better"),
            default=False,
        ),
    ]
    unit: Annotated[
        str | None,
        Option(_word, "What outcomes are counted in, such as stars.", Word(metavar="WORD"), default=""),
    ]
    sigma: Annotated[
        float | None, Option(_positive, "Sub-Gaussian scale of utilities that have no bounds.", Word(float))
    ]
    symmetric: Annotated[
        bool | None,
        Option(
            checks.boolean,
            "Whether both agents of a pair get the same.",
            Word(flag="--asymmetric", means=False, help="Agents value each other differently."),
            default=True,
            wins_with=("symmetrize",),
        ),
    ]
    symmetrize: Annotated[
        bool | None,
        Option(
            _wish,
            "Average the two orders of each pair.",
            Word(flag="--symmetrize"),
            default=False,
            wins_with=("symmetric",),
        ),
    ]
    pool_coalitions: Annotated[
        bool | None,
        Option(
            checks.boolean,
            "Coalitions are interchangeable: their labels mean nothing.",
            Word(
                flag="--pool-coalitions",
                other="--no-pool-coalitions",
                help="Names of teams mean nothing: teams are interchangeable.",
            ),
            default=False,
        ),
    ]
    coalitions: Annotated[
        int | Sequence[str] | None,
        Option(
            _how_many_or_names,
            "How many interchangeable coalitions to use.",
            Word(int, metavar="K"),
            python="Or, where they are not, their names; those come first, also if nobody ever joined them.",
        ),
    ]
    agents: Annotated[
        Sequence[str] | None,
        Option(_names, "Agents who come first, also if they never occur in the tables.", None, default=()),
    ]
    actions: Annotated[
        Any,
        Option(
            _actions,
            "What agents may do: observed, observed-own, one, any, up-to:3, or JSON (a list of lists of coalitions, "
            "or agent -> such a list).",
            Word(),
            default="observed",
            python="Lists and dictionaries serve as well as their JSON.",
        ),
    ]
    may_stay_out: Annotated[
        bool | None,
        Option(
            checks.boolean,
            "Agents may also join nothing, which is worth 0.",
            Word(flag="--may-stay-out"),
            default=False,
        ),
    ]
    since: Annotated[
        str | int | None,
        Option(
            _name,
            "The first sample to use. Samples come in the order of their numbers or dates, else as first seen.",
            Word(metavar="SAMPLE"),
        ),
    ]
    until: Annotated[str | int | None, Option(_name, "The last sample to use.", Word(metavar="SAMPLE"))]
    missing: Annotated[
        Missing | None,
        Option(
            _one_of(Missing),
            "Meetings that have no row in pairs: ignore them, or count them at their worst (needs memberships).",
            Word(Missing),
            default="ignore",
        ),
    ]
    adaptive: Annotated[
        bool | None,
        Option(
            checks.boolean,
            "Who met whom may have depended on earlier outcomes: wider certificates hold all the same.",
            Word(flag="--adaptive"),
            default=False,
        ),
    ]
    value: Annotated[
        Value | None,
        Option(
            _one_of(Value),
            "What a team is worth to a member where nobody asks for something else: the total over the others, or "
            "their average.",
            None,
            default="total",
        ),
    ]
    feedback: Annotated[
        Feedback | None,
        Option(
            _one_of(Feedback),
            "What to read where there are both: pairs (semi-bandit) or totals (bandit).",
            Word(Feedback),
        ),
    ]
    engine: Annotated[
        EngineName | None,
        Option(_one_of(EngineName), "Where the log is read.", Word(EngineName), default="duckdb", in_file=False),
    ]
    memory_limit: Annotated[
        str | None,
        Option(_text, "How much memory DuckDB may use, such as 2GB; it spills beyond.", Word(), in_file=False),
    ]
    threads: Annotated[
        int | None, Option(_whole, "How many threads may read; all cores by default.", None, in_file=False)
    ]
    spark: Annotated[Any, Option(_session, "Your own Spark session, which reads the log then.", None, in_file=False)]


_TOTALS = Option(
    _one_of(Totals),
    "What a total is: the sum over all pairs, the sum over coalitions of the average over teammates (team-averages), "
    "or the average over all pairs; or the score of a team: the sum over its pairs (team-scores) or their average "
    "(team-score-averages). Range and neutral point are those of a pair in any case.",
    Word(Totals),
    default="sum",
    among_frames="totals_are",
)


class LogOptions(CommonOptions, total=False):
    """What can be said of a log; None means undeclared, which leaves the choice to `log.json` and to the default."""

    totals: Annotated[Totals | None, _TOTALS]


class FrameOptions(CommonOptions, total=False):
    """The same where `totals` is a table."""

    totals_are: Annotated[Totals | None, _TOTALS]


def table_of(options: type) -> dict[str, Option]:
    """Return the entries of a table."""
    entries = {}
    for name, hint in get_type_hints(options, include_extras=True).items():
        kind, option = get_args(hint)
        entries[name] = replace(option, type=kind)
    return entries


TABLE = table_of(LogOptions)


# --- What is made from it ---------------------------------------------------------------------------------


def call_options(given: Mapping[str, Any], *, among_frames: bool = False) -> Options:
    """Return checked options as a caller gives them, in Python or through the command line."""
    if among_frames:
        ours = {option.among_frames: name for name, option in TABLE.items() if option.among_frames}
        given = {ours.get(name, name): value for name, value in given.items()}
    for name in given:
        if name not in TABLE:
            raise InputError(f"unknown option {name!r}; known are: {', '.join(TABLE)}")
    return _checked(given, said)


MADE_BY = ("version", "seed")
"""What a `log.json` may say of how it came about, which changes nothing."""

COPIED_FROM = "copied_from"
"""The key of `log.json` for the name of the file that its table is a copy of: messages name it."""


def file_options(content: Any, where: str) -> Options:
    """Return the options that a `log.json` holds; every key is optional, unknown ones are refused."""
    if not isinstance(content, Mapping):
        raise InputError(f'{where}: expected an object such as {{"format": "{FORMAT}"}}')
    if content.get("format", FORMAT) != FORMAT:
        raise InputError(f'{where}: "format" is {content["format"]!r}, expected "{FORMAT}"')
    if not isinstance(content.get(COPIED_FROM), str | None):
        raise InputError(
            f'{where}: "{COPIED_FROM}" is {checks.shown(content[COPIED_FROM])}, expected the name of a file'
        )
    known = {name for name, option in TABLE.items() if option.in_file} | {"format", COPIED_FROM, *MADE_BY}
    for key in content:
        if key not in known:
            raise InputError(f'{where}: unknown key "{key}"; known are: {", ".join(sorted(known))}')
    given = {name: value for name, value in content.items() if name not in {"format", COPIED_FROM, *MADE_BY}}
    return _checked(given, lambda name: f"{where}: {name}")


def _checked(given: Mapping[str, Any], worded: Callable[[str], str]) -> Options:
    values = {name: TABLE[name].check(value, worded(name)) for name, value in given.items() if value is not None}
    return {name: value for name, value in values.items() if value is not None}


def merged(call: Options, file: Options) -> Options:
    """Return the caller's options, with the file's where the caller declared nothing."""
    overruled = {name for declared in call for name in TABLE[declared].wins_with}
    if call.get("pool_coalitions") is False and isinstance(file.get("coalitions"), int):
        overruled.add("coalitions")  # how many there may be is about interchangeable ones
    return {**{name: value for name, value in file.items() if name not in overruled}, **call}


def settled(declared: Options) -> Options:
    """Return all options, with defaults filled in, refusing those that contradict each other."""
    options = {name: declared.get(name, option.default) for name, option in TABLE.items()}
    if options["symmetrize"] and not options["symmetric"]:
        raise InputError(
            f"{said(symmetrize=True)} makes a symmetric log, {said(symmetric=False)} asks for another; give one of them"
        )
    if isinstance(options["coalitions"], int) and not options["pool_coalitions"]:
        raise InputError(
            f"{said('coalitions')} says how many interchangeable coalitions to use, but names of teams are taken to "
            f"mean something, and there are as many as names: add {said(pool_coalitions=True)} if they mean nothing"
        )
    neutral, sigma = options["neutral"], options["sigma"]
    if options["missing"] == "worst" and sigma is not None:
        raise InputError(f"{said(missing='worst')} needs utilities with bounds, not {said('sigma')}: there is no worst")
    if options["utility_range"] is None and sigma is None:
        options["utility_range"] = (-1.0, 1.0)
    low, high = fixed_range(options["utility_range"], neutral, sigma)
    if not 1 / WIDEST_RANGE <= high - low <= WIDEST_RANGE:
        raise InputError(
            f"utilities between {number(low)} and {number(high)}: expected {said('utility_range')} and "
            f"{said('sigma')} with an extent between {1 / WIDEST_RANGE:g} and {WIDEST_RANGE:g}; use another unit"
        )
    if sigma is not None and sigma < (high - low) * LEAST_SIGMA:
        raise InputError(
            f"{said(sigma=sigma)}: expected at least {number((high - low) * LEAST_SIGMA)}, to which utilities between "
            f"{number(low)} and {number(high)} are rounded"
        )
    if options["utility_range"] is not None:
        low, high = options["utility_range"]
        if not low <= neutral <= high:
            raise InputError(
                f"the neutral point {number(neutral)} is outside the utility range {interval(low, high)}; "
                f"for scores from 1 to 5 say {said(utility_range=(1, 5), neutral=3)}"
            )
    return options


def fixed_range(utility_range: tuple[float, float] | None, neutral: float, sigma: float | None) -> tuple[float, float]:
    """Return the interval that fixed-point utilities span: the range, wider with a declared sigma.

    It depends on what was declared and never on the data, so that statistics of two logs add up.
    """
    if sigma is None:
        assert utility_range is not None
        return utility_range
    if utility_range is None:
        return neutral - SIGMAS_WITHOUT_RANGE * sigma, neutral + SIGMAS_WITHOUT_RANGE * sigma
    low, high = utility_range
    return low - SIGMAS_BEYOND_RANGE * sigma, high + SIGMAS_BEYOND_RANGE * sigma


Function = TypeVar("Function", bound=Callable[..., Any])


def takes_options(function: Function) -> Function:
    """Give `function(..., **options)` the signature and the documentation of the table.

    Type checkers know the options from `LogOptions`; this is for people, `help` and tab completion.
    """
    signature = inspect.signature(function)
    own = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    tables = {entry.name for entry in own}
    table = {option.among_frames if name in tables else name: option for name, option in TABLE.items()}
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option.type)
        for name, option in table.items()
    ]
    function.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    entries = [f"{name}\n{textwrap.indent(_documented(option), '    ')}" for name, option in table.items()]
    function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), *entries, ""])
    return function


def _documented(option: Option) -> str:
    """Return what the documentation says of an option."""
    default = "" if option.default in (None, (), {}) else f"Default: {literal(option.default)}."
    return textwrap.fill(" ".join(filter(None, [option.help, option.python, default])), 100)
