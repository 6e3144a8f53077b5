"""A log of past outcomes: read, checked, and ready to be reduced to statistics."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coterie import checks
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.log import choices, frames, queries, schema
from coterie.log.checking import Checked, check
from coterie.log.choices import is_observed
from coterie.log.engine import Engine, Source, make_engine, match_columns, refuse_unknown_columns
from coterie.log.options import Options, call_options, merged
from coterie.log.tables import find_log, used_tables
from coterie.words import in_order

INFERRED = "memberships were inferred from pairs: sizes and agents who were alone are not known"
BOTH_ORDERS = "some pairs are listed in both orders; they agree and count once"
SYMMETRIZED = "utilities are the averages of the two orders of each pair"
TOTALS_UNUSED = "totals are not used, since there are pairs"
OUTSIDE_NAMES = "{count} {what}s in the tables are not listed in log.json, such as {name!r}"
OUTSIDE_NAME = "the {what} {name!r} in the tables is not listed in log.json"


@dataclass(frozen=True, eq=False)
class Log:
    """Past outcomes of a coalition formation game; make one with `read_log` or `Log.from_frames`.

    Nothing of the tables is held here: the engine reads them when they are needed.
    """

    agents: tuple[str, ...]
    coalitions: tuple[str, ...]
    """The coalitions of the game; "1".."K" where they are interchangeable."""
    options: Options
    engine: Engine
    checked: Checked
    tables: tuple[str, ...]
    """The tables in use."""
    notes: tuple[str, ...]
    """What a reader of results should know about how the log was read."""

    @classmethod
    def from_frames(
        cls,
        memberships: Any = None,
        pairs: Any = None,
        totals: Any = None,
        *,
        columns: Any = None,
        utility_range: Sequence[float] | None = None,
        neutral: float | None = None,
        sigma: float | None = None,
        symmetric: bool | None = None,
        symmetrize: bool = False,
        pool_coalitions: bool | None = None,
        coalitions: int | None = None,
        actions: Any = None,
        may_stay_out: bool | None = None,
        feedback: str | None = None,
        engine: str = "duckdb",
        memory_limit: str | None = None,
        threads: int | None = None,
        spark: Any = None,
    ) -> "Log":
        """Return a log from data frames: pandas, Polars, Arrow, or anything that speaks Arrow.

        The options are those of `read_log`.
        """
        given = call_options(
            columns=columns, utility_range=utility_range, neutral=neutral, sigma=sigma, symmetric=symmetric,
            symmetrize=symmetrize, pool_coalitions=pool_coalitions, coalitions=coalitions, actions=actions,
            may_stay_out=may_stay_out, feedback=feedback,
        )  # fmt: skip
        frame_of = {"memberships": memberships, "pairs": pairs, "totals": totals}
        found = [
            Source(table, table, frame=frames.to_table(frame, table))
            for table, frame in frame_of.items()
            if frame is not None
        ]
        used = used_tables(found, "from_frames", given)
        return _open(used, found, given, make_engine(engine, memory_limit=memory_limit, threads=threads, spark=spark))

    @property
    def feedback(self) -> str:
        """Either "semi-bandit" or "bandit"."""
        return schema.FEEDBACKS[self.tables[-1]]

    @property
    def symmetric(self) -> bool:
        """Whether both agents of a pair get the same utility."""
        return bool(self.options.symmetric)

    @property
    def utility_range(self) -> tuple[float, float] | None:
        """The declared range of utilities, before the shift by the neutral point."""
        return self.options.utility_range

    @property
    def neutral(self) -> float:
        """The utility that counts as being alone."""
        return float(self.options.neutral or 0.0)

    @property
    def sigma(self) -> float | None:
        """The declared sub-Gaussian scale, where utilities have no bounds."""
        return self.options.sigma

    @property
    def pool_coalitions(self) -> bool:
        """Whether coalitions are interchangeable."""
        return bool(self.options.pool_coalitions)

    @property
    def rows(self) -> int:
        """The number of rows in the table of utilities."""
        return self.checked.rows

    @property
    def has_memberships(self) -> bool:
        """Whether the log has a table of memberships."""
        return "memberships" in self.tables

    @property
    def action_description(self) -> Any:
        """The `actions` that were asked for, as results show them."""
        return choices.described(self.options.actions, may_stay_out=bool(self.options.may_stay_out))

    @cached_property
    def action_sets(self) -> Any:
        """What the actions come to in this log, as `ActionSpaces.parse` reads it."""
        return choices.action_sets(
            self.action_description, self.engine, self.agents, self.coalitions, pooled=self.pool_coalitions
        )

    @cached_property
    def actions(self) -> ActionSpaces:
        """What each agent may do."""
        return ActionSpaces.parse(self.action_sets, self.agents, self.coalitions)

    @cached_property
    def n_samples(self) -> int:
        """The number of samples."""
        views = ["members"] + (["totals"] if self.feedback == "bandit" else [])
        query = queries.sample_counts([self.engine.name(view) for view in views], "0")
        return int(self.engine.table(query)["samples"][0].as_py())

    def __repr__(self) -> str:
        return (
            f"Log({self.feedback}, {len(self.agents)} agents, {len(self.coalitions)} coalitions, {self.rows} rows "
            f"in {self.tables[-1]})"
        )


def read_log(
    path: str | Path,
    *,
    columns: Any = None,
    utility_range: Sequence[float] | None = None,
    neutral: float | None = None,
    sigma: float | None = None,
    symmetric: bool | None = None,
    symmetrize: bool = False,
    pool_coalitions: bool | None = None,
    coalitions: int | None = None,
    actions: Any = None,
    may_stay_out: bool | None = None,
    feedback: str | None = None,
    engine: str = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
    spark: Any = None,
) -> Log:
    """Return the log in a folder or file, checked in full; what is wrong with it is refused at once.

    Parameters
    ----------
    path
        A folder with tables `pairs` or `totals` and perhaps `memberships` (CSV, Parquet, or folders
        of Parquet parts) and perhaps `log.json`; or one file of pairs. With Spark, any address
        that its session can read.
    columns
        What the tables call a column, as {"sample": "Project"} or "sample=Project,utility=Score".
    utility_range, neutral, sigma
        Where pair utilities lie, (-1, 1) by default; which utility is worth as much as being
        alone, 0 by default; the sub-Gaussian scale of utilities without bounds.
    symmetric, symmetrize
        Whether both agents of a pair get the same, True by default; whether to average the two.
    pool_coalitions, coalitions
        Whether coalitions are interchangeable, and how many of them the game has then.
    actions, may_stay_out
        What agents may do: "observed" (the default), "observed-own", "one", "any", "up-to:3", a list
        of lists of coalition names, or agent -> such a list; whether they may also join nothing.
    feedback
        "semi-bandit" or "bandit", where the tables leave a choice.
    engine, memory_limit, threads, spark
        "duckdb" (with a limit such as "2GB", beyond which it spills to disk) or "spark", with your
        own session if you have one.
    """
    given = call_options(
        columns=columns, utility_range=utility_range, neutral=neutral, sigma=sigma, symmetric=symmetric,
        symmetrize=symmetrize, pool_coalitions=pool_coalitions, coalitions=coalitions, actions=actions,
        may_stay_out=may_stay_out, feedback=feedback,
    )  # fmt: skip
    on_spark = engine == "spark" or spark is not None
    if "://" in str(path) and not on_spark:
        raise InputError(f'{path}: addresses are read by Spark; say --engine spark (engine="spark")')
    if on_spark and not Path(path).exists():
        from coterie.log.spark import SparkEngine

        cluster = SparkEngine(spark, threads=threads)
        found, declared = cluster.find_log(str(path))
        runs: Engine = cluster
    else:
        found, declared = find_log(Path(path))
        runs = make_engine(engine, memory_limit=memory_limit, threads=threads, spark=spark)
    options = merged(given, declared)
    return _open(used_tables(found, str(path), options), found, options, runs)


def _open(used: list[Source], found: list[Source], options: Options, engine: Engine) -> Log:
    """Check the tables, name the views that reductions read, and find out who and what occurs."""
    options = options.settled()
    types = {source.table: engine.types(source) for source in used}
    refuse_unknown_columns(types, options.columns, used)
    for source in used:
        engine.load(source, match_columns(source, types[source.table], options.columns))
    checked = check(engine, used, options)
    tables = tuple(source.table for source in used)
    notes = []
    if tables[-1] == "pairs":
        if any(source.table == "totals" for source in found):
            notes.append(TOTALS_UNUSED)
        pairs = engine.name("pairs")
        averaged = options.symmetrize or checked.both_orders
        if averaged:
            notes.append(SYMMETRIZED if options.symmetrize else BOTH_ORDERS)
        query = queries.averaged_orders(pairs) if averaged else queries.columns_of(pairs, schema.TABLES["pairs"])
        engine.view("ratings", query, stored=averaged)
    if "memberships" in tables:
        engine.view("members", queries.columns_of(engine.name("memberships"), schema.TABLES["memberships"]))
    else:
        notes.append(INFERRED)
        engine.view("members", queries.inferred_members(engine.name("pairs")), stored=True)
    agents = _names(engine, [("members", "agent"), *([("totals", "agent")] if tables[-1] == "totals" else [])])
    # Labels that mean nothing may be as many as there are samples: they are only read where they were declared.
    needed = not options.pool_coalitions or options.coalition_names
    coalitions = _names(engine, [("members", "coalition")]) if needed else ()
    notes += _unlisted("agent", agents, options.agents) + _unlisted("coalition", coalitions, options.coalition_names)
    if options.pool_coalitions:
        count = options.coalitions or _most_together(engine)
        coalitions = checks.names(None, "coalitions", count)
    else:
        coalitions = options.coalition_names + in_order(set(coalitions) - set(options.coalition_names))
    agents = options.agents + in_order(set(agents) - set(options.agents))
    log = Log(agents, coalitions, options, engine, checked, tables, tuple(notes))
    if not is_observed(log.action_description):
        _ = log.actions  # refuses unknown coalitions and agents now, not when they are first needed
    return log


def _names(engine: Engine, columns: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    found = engine.table(queries.distinct_names([(engine.name(view), column) for view, column in columns]))
    return tuple(found["name"].to_pylist())


def _unlisted(what: str, seen: tuple[str, ...], listed: tuple[str, ...]) -> list[str]:
    extra = in_order(set(seen) - set(listed)) if listed else ()
    wording = OUTSIDE_NAME if len(extra) == 1 else OUTSIDE_NAMES
    return [wording.format(count=len(extra), what=what, name=extra[0])] if extra else []


def _most_together(engine: Engine) -> int:
    return int(engine.table(queries.most_at_once(engine.name("members"), "sample"))["most"][0].as_py())
