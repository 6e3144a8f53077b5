"""What can be said of a log apart from its tables. Nothing here touches data."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any

from coterie import checks
from coterie.errors import InputError
from coterie.log import schema
from coterie.words import interval, number

FORMAT = "coterie.log/1"

SIGMAS_BEYOND_RANGE = 32
"""With a declared sigma, how far beyond the range of the means a utility may lie."""

SIGMAS_WITHOUT_RANGE = 1024
"""With a declared sigma and no range, how far from the neutral point a utility may lie."""

WIDEST_RANGE = 1e140
"""How wide the range of utilities may be; one over it is the least."""


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
    if value is not None and value not in schema.FEEDBACKS.values():
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
        if ours not in {*schema.NAMES, "utility"}:
            raise InputError(
                f"columns: {ours!r} is not a column of a log; those are: {', '.join(schema.NAMES)}, utility"
            )
    theirs = [name.casefold() for name in result.values()]
    for ours, name in result.items():
        if theirs.count(name.casefold()) > 1:
            both = [other for other, mapped in result.items() if mapped.casefold() == name.casefold()]
            raise InputError(f"columns: {' and '.join(both)} are both said to be {name!r}, expected a column for each")
        if sum(str(other).strip().lower() == ours for other in value) > 1:
            raise InputError(f"columns: {ours!r} is given twice")
    return result
