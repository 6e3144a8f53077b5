"""Some samples of a log, several logs together, and logs in other processes: all by way of their tables in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie import checks
from coterie.errors import InputError
from coterie.log import queries, schema
from coterie.log.log import Log
from coterie.log.options import TEAM_SCORES, Options

ALIKE = (
    "utility_range", "neutral", "lower_is_better", "sigma", "symmetric", "symmetrize", "pool_coalitions", "totals",
    "missing", "adaptive", "may_stay_out", "value",
)  # fmt: skip
"""The options that logs must share to be added."""

OUTDATED = (
    "columns", "sheet", "clean_names", "blanks", "blank_words", "absent_words", "skip_rows", "since", "until", "engine",
    "totals", "feedback", "duplicates",
)  # fmt: skip
"""Options that say how tables were read, which they are now."""


def tables_of(log: Log) -> dict[str, pa.Table]:
    """Return the tables of a log as they are used: totals that were averages are sums, scores of teams are scores."""
    shapes = {name: "scores" if name == "totals" and log.of_teams else name for name in log.tables}
    return {
        name: log.engine.table(queries.columns_of(log.engine.name(shape), schema.SHAPES[shape]))
        for name, shape in shapes.items()
    }


def from_tables(tables: Mapping[str, pa.Table], options: Options, notes: tuple[str, ...]) -> Log:
    """Return the log of tables that were read before."""
    call: Any = {name: value for name, value in options.items() if name not in OUTDATED and value not in (None, (), {})}
    if options["totals"] in TEAM_SCORES:
        call["totals_are"] = options["totals"]
    log = Log.from_frames(**tables, **call)
    return replace(log, notes=notes, options={**log.options, "totals": options["totals"]})


def some_samples(log: Log, chosen: Any) -> Log:
    """Return the log of some samples, see `Log.__getitem__`."""
    if isinstance(chosen, tuple) and len(chosen) == 2 and chosen[1] is Ellipsis:
        chosen = chosen[0]
    count = len(log.samples)
    try:
        places = np.atleast_1d(np.arange(count)[chosen])
    except (IndexError, TypeError, ValueError):
        raise InputError(
            f"samples: expected places from 0 to {count - 1}, a mask or a slice, got {checks.shown(chosen)}"
        ) from None
    if not len(places):
        raise InputError("samples: none was chosen; an empty log says nothing")
    if len(np.unique(places)) != len(places):
        raise InputError("samples: one was chosen twice; it must not count twice")
    kept = log.samples.names.take(pa.array(places))
    tables = {name: table.filter(pc.is_in(table["sample"], kept)) for name, table in tables_of(log).items()}
    return from_tables(tables, {**log.options, **_game(log)}, log.notes)


def _game(log: Log) -> dict[str, Any]:
    """Return the options that say who is there, where, and what they may do, as they are in this log."""
    coalitions: Any = len(log.coalitions) if log.pool_coalitions else log.coalitions
    return {"agents": log.agents, "coalitions": coalitions, "actions": log.action_sets, "may_stay_out": False}


def divided(log: Log, parts: int | Sequence[float], seed: checks.Seed) -> tuple[Log, ...]:
    """Return parts of a log that share no samples, see `Log.split`."""
    if isinstance(parts, (int, np.integer)):
        shares = np.full(checks.whole(parts, "parts", 1), 1 / int(parts))
    else:
        shares = checks.probabilities(parts, "parts")
    order = checks.generator(seed, "seed").permutation(len(log.samples))
    ends = np.round(np.cumsum(shares) * len(order)).astype(np.int64)[:-1]
    groups = np.split(order, ends)
    if any(not len(group) for group in groups):
        raise InputError(f"parts: {len(order)} samples are too few for {len(groups)} parts like these")
    return tuple(some_samples(log, np.sort(group)) for group in groups)


def together(one: Log, two: Log) -> Log:
    """Return the samples of both logs in one, see `Log.__add__`."""
    if one.tables != two.tables:
        raise InputError(f"logs to add: one has {' and '.join(one.tables)}, the other {' and '.join(two.tables)}")
    for name in ALIKE:
        if one.options[name] != two.options[name]:
            said = [checks.shown(log.options[name]) for log in (one, two)]
            raise InputError(f"logs to add: {name} is {said[0]} in one and {said[1]} in the other")
    shared = pc.is_in(two.samples.names, one.samples.names).to_pylist()
    if any(shared):
        name = two.samples.names[shared.index(True)].as_py()
        raise InputError(f"logs to add: both have a sample {name!r}; samples must not count twice")
    theirs = tables_of(two)
    tables = {name: pa.concat_tables([table, theirs[name]]) for name, table in tables_of(one).items()}
    coalitions: Any = tuple(dict.fromkeys(one.coalitions + two.coalitions))
    if one.pool_coalitions:
        coalitions = max(len(one.coalitions), len(two.coalitions))
    names = {"agents": tuple(dict.fromkeys(one.agents + two.agents)), "coalitions": coalitions}
    return from_tables(tables, {**one.options, **names}, tuple(dict.fromkeys(one.notes + two.notes)))
