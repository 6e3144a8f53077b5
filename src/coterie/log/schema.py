"""What a log must hold, the options that describe it, and the wording of every refusal.

A log is up to three tables: `pairs` (what agent got from partner), `totals` (what agent got in
all) and `memberships` (who was where). Nothing here touches data.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any

from coterie import checks
from coterie.errors import InputError

FORMAT = "coterie.log/1"

TABLES: dict[str, tuple[str, ...]] = {
    "memberships": ("sample", "agent", "coalition"),
    "pairs": ("sample", "coalition", "agent", "partner", "utility"),
    "totals": ("sample", "agent", "utility"),
}
"""The columns of each table."""

NAMES = ("sample", "coalition", "agent", "partner")
"""The columns that hold names, which are compared as strings."""

FEEDBACKS = {"pairs": "semi-bandit", "totals": "bandit"}
"""The feedback that each table of utilities is."""

SIGMAS_BEYOND_RANGE = 32
"""With a declared sigma, how far beyond the range of the means a utility may lie."""

SIGMAS_WITHOUT_RANGE = 1024
"""With a declared sigma and no range, how far from the neutral point a utility may lie."""

WIDEST_RANGE = 1e140
"""How wide the range of utilities may be; one over it is the least."""

MOST_PROBLEMS = 10
"""How many problems one refusal lists."""


@dataclass(frozen=True)
class Options:
    """Everything that describes a log apart from its tables; None means undeclared."""

    columns: Mapping[str, str] = field(default_factory=dict)
    utility_range: tuple[float, float] | None = None
    neutral: float | None = None
    sigma: float | None = None
    symmetric: bool | None = None
    symmetrize: bool = False
    pool_coalitions: bool | None = None
    coalitions: int | None = None
    actions: Any = None
    may_stay_out: bool | None = None
    feedback: str | None = None
    agents: tuple[str, ...] = ()
    coalition_names: tuple[str, ...] = ()

    def settled(self) -> "Options":
        """Return the options with defaults filled in, refusing those that contradict each other."""
        if self.symmetrize and self.symmetric is False:
            raise InputError("--symmetrize makes a symmetric log, --asymmetric asks for another; give one of them")
        if self.coalitions is not None and not self.pool_coalitions:
            raise InputError("--coalitions K says how many interchangeable coalitions to use: add --pool-coalitions")
        settled = replace(
            self,
            symmetric=True if self.symmetric is None else self.symmetric,
            pool_coalitions=bool(self.pool_coalitions),
            may_stay_out=bool(self.may_stay_out),
            neutral=0.0 if self.neutral is None else self.neutral,
            actions="observed" if self.actions is None else self.actions,
            utility_range=(-1.0, 1.0) if self.utility_range is None and self.sigma is None else self.utility_range,
        )
        _refuse_extreme(settled)
        if settled.utility_range is not None:
            low, high = settled.utility_range
            if not low <= settled.neutral <= high:  # type: ignore[operator]
                raise InputError(
                    f"the neutral point {number(settled.neutral)} is outside the utility range "
                    f"{interval(low, high)}; for scores from 1 to 5 say --utility-range 1 5 --neutral 3"
                )
        return settled


def _refuse_extreme(options: Options) -> None:
    """Refuse scales whose squares are beyond what doubles hold."""
    low, high = fixed_range(options.utility_range, options.neutral or 0.0, options.sigma)
    if not 1 / WIDEST_RANGE <= high - low <= WIDEST_RANGE:
        raise InputError(
            f"utilities between {number(low)} and {number(high)}: expected a --utility-range and --sigma whose "
            f"extent is between {1 / WIDEST_RANGE:g} and {WIDEST_RANGE:g}; use another unit"
        )


def call_options(
    *,
    columns: Any = None,
    utility_range: Any = None,
    neutral: Any = None,
    sigma: Any = None,
    symmetric: bool | None = None,
    symmetrize: bool = False,
    pool_coalitions: bool | None = None,
    coalitions: Any = None,
    actions: Any = None,
    may_stay_out: bool | None = None,
    feedback: str | None = None,
) -> Options:
    """Return checked options as a caller or the command line gives them."""
    return Options(
        columns=_columns(columns),
        utility_range=None if utility_range is None else _range(utility_range, "utility_range"),
        neutral=None if neutral is None else _number(neutral, "neutral"),
        sigma=None if sigma is None else _positive(sigma, "sigma"),
        symmetric=symmetric,
        symmetrize=symmetrize,
        pool_coalitions=pool_coalitions,
        coalitions=None if coalitions is None else checks.whole(coalitions, "coalitions", 1),
        actions=actions,
        may_stay_out=may_stay_out,
        feedback=_feedback(feedback, "feedback"),
    )


def file_options(content: Any, where: str) -> Options:
    """Return the options that a `log.json` holds; every key is optional, unknown ones are refused."""
    if not isinstance(content, Mapping):
        raise InputError(f'{where}: expected an object such as {{"format": "{FORMAT}"}}')
    if content.get("format", FORMAT) != FORMAT:
        raise InputError(f'{where}: "format" is {content["format"]!r}, expected "{FORMAT}"')
    known = {entry.name for entry in fields(Options)} - {"coalition_names"} | {"format"}
    for key in content:
        if key not in known:
            raise InputError(f'{where}: unknown key "{key}"; known are: {", ".join(sorted(known))}')

    def flag(key: str) -> bool | None:
        value = content.get(key)
        if value is not None and not isinstance(value, bool):
            raise InputError(f'{where}: "{key}" is {value!r}, expected true or false')
        return value

    def listed(key: str) -> tuple[str, ...]:
        value = content.get(key, [])
        if not isinstance(value, list) or not all(
            isinstance(name, (str, int)) and not isinstance(name, bool) for name in value
        ):
            raise InputError(f'{where}: "{key}" is {value!r}, expected a list of names')
        return checks.names(value, f'{where}: "{key}"', len(value))

    # With interchangeable coalitions a number is as good as names: it says how many there are.
    how_many = content.get("coalitions")
    counted = isinstance(how_many, int) and not isinstance(how_many, bool)
    try:
        given = call_options(
            columns=content.get("columns"),
            utility_range=content.get("utility_range"),
            neutral=content.get("neutral"),
            sigma=content.get("sigma"),
            symmetric=flag("symmetric"),
            symmetrize=bool(flag("symmetrize")),
            pool_coalitions=flag("pool_coalitions"),
            coalitions=how_many if counted else None,
            actions=content.get("actions"),
            may_stay_out=flag("may_stay_out"),
            feedback=content.get("feedback"),
        )
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None
    return replace(given, agents=listed("agents"), coalition_names=() if counted else listed("coalitions"))


def merged(call: Options, file: Options) -> Options:
    """Return the caller's options, with the file's where the caller declared nothing."""
    chosen: dict[str, Any] = {}
    for entry in fields(Options):
        ours, theirs = getattr(call, entry.name), getattr(file, entry.name)
        chosen[entry.name] = theirs if ours is None or ours in ((), {}) else ours
    if call.symmetrize:
        chosen["symmetric"] = call.symmetric  # the options of one call win together over the file
    elif call.symmetric is None:
        chosen["symmetrize"] = file.symmetrize
    return Options(**chosen)


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


def number(value: float | None) -> str:
    """Return a number as people write it: 3 for 3.0, 0.1 for 0.1."""
    if value is None:
        return "nothing"
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 1e15 else repr(value)


def interval(low: float, high: float) -> str:
    """Return [low, high] as people write it."""
    return f"[{number(low)}, {number(high)}]"


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{what}: expected a finite number, got {value!r}")
    return float(value)


def _positive(value: Any, what: str) -> float:
    if _number(value, what) <= 0:
        raise InputError(f"{what}: expected a positive number, got {value!r}")
    return float(value)


def _range(value: Any, what: str) -> tuple[float, float]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable) or len(pair := tuple(value)) != 2:
        raise InputError(f"{what}: expected two numbers [low, high], got {value!r}")
    low, high = (_number(end, what) for end in pair)
    if not low < high:
        raise InputError(f"{what}: expected low < high, got {interval(low, high)}")
    return low, high


def _feedback(value: Any, what: str) -> str | None:
    if value is not None and value not in FEEDBACKS.values():
        raise InputError(f'{what}: expected "semi-bandit" or "bandit", got {value!r}')
    return None if value is None else str(value)


def _columns(value: Any) -> Mapping[str, str]:
    """Return column -> name in the user's tables, from a mapping or "sample=Project,utility=Score"."""
    if value is None:
        return {}
    if isinstance(value, str):
        entries = [entry.partition("=") for entry in value.split(",") if entry.strip()]
        if not all(sign and theirs.strip() for _, sign, theirs in entries):
            raise InputError(f"columns: expected ours=theirs pairs such as sample=Project,utility=Score, got {value!r}")
        listed = [ours.strip().lower() for ours, _, _ in entries]
        for ours in listed:
            if listed.count(ours) > 1:
                raise InputError(f"columns: {ours!r} is given twice")
        value = {ours: theirs for ours, _, theirs in entries}
    if not isinstance(value, Mapping):
        raise InputError(f"columns: expected an object such as {{'sample': 'Project'}}, got {value!r}")
    result = {str(ours).strip().lower(): str(theirs).strip() for ours, theirs in value.items()}
    for ours in result:
        if ours not in {*NAMES, "utility"}:
            raise InputError(f"columns: {ours!r} is not a column of a log; those are: {', '.join(NAMES)}, utility")
    theirs = [name.casefold() for name in result.values()]
    for ours, name in result.items():
        if theirs.count(name.casefold()) > 1:
            both = [other for other, mapped in result.items() if mapped.casefold() == name.casefold()]
            raise InputError(f"columns: {' and '.join(both)} are both said to be {name!r}, expected a column for each")
        if sum(str(other).strip().lower() == ours for other in value) > 1:
            raise InputError(f"columns: {ours!r} is given twice")
    return result


@dataclass(frozen=True)
class Refusal:
    """One thing that is wrong with a table, and where it was first seen."""

    file: str
    what: str
    row: int | None = None
    below_header: bool = False
    others: int = 0

    def __str__(self) -> str:
        where = self.file
        if self.row is not None:
            where += f", row {self.row + 1}" + (" below the header" if self.below_header else "")
        more = "" if not self.others else f" (and {self.others:,} more such row{'s' if self.others > 1 else ''})"
        return f"{where}: {self.what}{more}"


def refuse(problems: Iterable[Refusal]) -> None:
    """Raise one error that lists the problems, if there are any."""
    found = [str(problem) for problem in problems]
    if not found:
        return
    if len(found) == 1:
        raise InputError(found[0])
    rest = len(found) - MOST_PROBLEMS
    listed = found[:MOST_PROBLEMS] + ([f"and {rest} more problems"] if rest > 0 else [])
    raise InputError(f"the log has {len(found)} problems:\n" + "\n".join(f"- {line}" for line in listed))


def missing_columns(table: str, columns: list[str], found: Iterable[str]) -> str:
    """Word a table without some of its columns."""
    column, named = columns[0], " or ".join(repr(name) for name in columns)
    return (
        f"no column {named}; the table {table} needs {', '.join(TABLES[table])}, and this one has "
        f"{', '.join(found) or 'none'} (--columns {column}=NAME says which one is meant)"
    )


def ambiguous_column(column: str, found: Iterable[str]) -> str:
    """Word two columns that differ only in upper and lower case."""
    return f"the columns {' and '.join(repr(name) for name in found)} could both be {column!r}; rename one"


def wrong_type(column: str, kind: str) -> str:
    """Word a column whose type cannot hold what it should."""
    expected = "numbers" if column == "utility" else "names: text or whole numbers"
    if "with time zone" in kind:
        expected = "a column without time zone (or text): names would depend on where the log is read"
    return f"the column {column!r} has type {kind}, expected {expected}"


def empty_name(column: str) -> str:
    """Word a row without a name."""
    return f"{column} is empty, expected a name"


def not_finite(written: str | None) -> str:
    """Word a utility that is no number."""
    shown = "empty" if written is None or not written.strip() else repr(written)
    return f"utility is {shown}, expected a finite number"


def outside_range(value: float, limits: tuple[float, float], seen: tuple[float, float], sigma: float | None) -> str:
    """Word a utility outside the declared range, with the options that would declare what was seen."""
    if sigma is not None:
        return (
            f"utility {number(value)} is outside {interval(*limits)}, which is further than a sigma of "
            f"{number(sigma)} explains; expected a larger --sigma or another --utility-range"
        )
    if seen[0] == seen[1]:
        seen = min(seen[0], limits[0]), max(seen[1], limits[1])
    low, high = (number(end) for end in seen)
    middle = number((seen[0] + seen[1]) / 2)
    return (
        f"utility {number(value)} is outside the utility range {interval(*limits)}; utilities here go from {low} to "
        f"{high}: declare their scale and the value of being alone, such as --utility-range {low} {high} "
        f"--neutral {middle}"
    )


def total_outside(value: float, terms: int, limits: tuple[float, float]) -> str:
    """Word a total that its pair terms cannot add up to."""
    if terms == 0:
        return f"the total is {number(value)}, expected 0 for an agent who shared no coalition in that sample"
    low, high = limits
    return (
        f"the total {number(value)} of {terms} pair{'s' if terms > 1 else ''} is outside "
        f"{interval(terms * low, terms * high)}; the range is per pair, see --utility-range and --neutral"
    )


def with_herself(agent: str) -> str:
    """Word a pair of an agent with herself."""
    return f"agent {agent!r} is paired with herself, expected two agents"


def duplicate(table: str, values: Mapping[str, Any]) -> str:
    """Word a row that repeats an earlier one."""
    expected = {"memberships": "agent, coalition and sample", "totals": "agent and sample"}
    return (
        f"{_shown(values)} was listed before, expected one row per {expected.get(table, 'pair, coalition and sample')}"
    )


def orders_disagree(values: Mapping[str, Any], utilities: tuple[float, float]) -> str:
    """Word the two orders of a symmetric pair with different utilities."""
    first, second = (number(value) for value in utilities)
    return (
        f"{_shown(values)} has utility {first} in one order and {second} in the other, expected the same; say "
        f"--asymmetric if agents value each other differently, or --symmetrize to average the two"
    )


def not_members(values: Mapping[str, Any], missing: str) -> str:
    """Word a pair that did not share the coalition according to `memberships`."""
    return (
        f"{missing!r} is not a member of coalition {values['coalition']!r} in sample {values['sample']!r}, expected "
        f"memberships of both agents of a pair"
    )


def _shown(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} {value!r}" for column, value in values.items())
