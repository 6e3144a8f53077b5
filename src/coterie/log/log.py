"""A log of past outcomes: read, checked, and ready to be reduced to statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Unpack

import pyarrow as pa

from coterie import checks
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.log import choices, queries, schema
from coterie.log.checking import Checked, check, match_columns, refuse_unknown_columns
from coterie.log.choices import is_observed
from coterie.log.engine import Engine, make_engine
from coterie.log.options import FrameOptions, LogOptions, Options, call_options, merged, settled, takes_options
from coterie.log.samples import Samples, samples_of
from coterie.log.tables import Source, frame_sources, used_tables
from coterie.words import counted, html_table, in_order, said

INFERRED = "memberships were inferred from pairs: sizes and agents who were alone are not known"
BOTH_ORDERS = "some pairs are listed in both orders; they agree and count once"
SYMMETRIZED = "utilities are the averages of the two orders of each pair"
ONE_SIDED = (
    "{count} listed in one order only: the average of the two was not seen, and nothing is learnt from one of them "
    "alone, as if it were by chance that the other is missing"
)
STATED = "stated_totals"
"""The view of totals as they are written, where they are averages."""

AVERAGES = {
    "average": "totals are averages over pairs, and each was read as the sum that it is the average of",
    "team-averages": "totals are averages over teammates, and each was read as the sum that it is the average of",
}

TOTALS_UNUSED = "totals are not used, since there are pairs"
SOME_SAMPLES = "{kept:,} of {every:,} samples are used, from {first!r} to {last!r}, {order}"
OUTSIDE_NAMES = "{count} {what}s in the tables are not listed in {where}, such as {name!r}"
OUTSIDE_NAME = "the {what} {name!r} in the tables is not listed in {where}"

SHOWN_NAMES = 3
"""How many agents and coalitions a log shows of itself."""


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
    @takes_options
    def from_frames(
        cls, memberships: Any = None, pairs: Any = None, totals: Any = None, **options: Unpack[FrameOptions]
    ) -> "Log":
        """Return a log from data frames: pandas, Polars, Arrow, or anything that speaks Arrow.

        Parameters
        ----------
        memberships, pairs, totals
            The tables, as `read_log` finds them in a folder; `pairs` or `totals` is needed.
        """
        sources = frame_sources(memberships=memberships, pairs=pairs, totals=totals)
        call = call_options(options, among_frames=True)
        return _open(sources, None, call, {}, make_engine(call))

    @property
    def feedback(self) -> schema.Feedback:
        """What was observed: what each pair got, or each agent's total."""
        return schema.FEEDBACKS[self.tables[-1]]

    @property
    def symmetric(self) -> bool:
        """Whether both agents of a pair get the same utility."""
        return bool(self.options["symmetric"])

    @property
    def utility_range(self) -> tuple[float, float] | None:
        """The declared range of utilities, before the shift by the neutral point."""
        declared: tuple[float, float] | None = self.options["utility_range"]
        return declared

    @property
    def neutral(self) -> float:
        """The utility that counts as being alone."""
        return float(self.options["neutral"])

    @property
    def sigma(self) -> float | None:
        """The declared sub-Gaussian scale, where utilities have no bounds."""
        declared: float | None = self.options["sigma"]
        return declared

    @property
    def pool_coalitions(self) -> bool:
        """Whether coalitions are interchangeable."""
        return bool(self.options["pool_coalitions"])

    @property
    def adaptive(self) -> bool:
        """Whether who met whom may have depended on earlier utilities."""
        return bool(self.options["adaptive"])

    @property
    def declared_agents(self) -> tuple[str, ...]:
        """The agents that were declared; they come first, in that order."""
        return tuple(self.options["agents"])

    @property
    def declared_coalitions(self) -> tuple[str, ...]:
        """The coalitions that were declared by name; none where they are interchangeable."""
        return () if self.pool_coalitions else _listed(self.options["coalitions"])

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
        return choices.described(self.options["actions"], may_stay_out=self.options["may_stay_out"])

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

    @cached_property
    def samples(self) -> Samples:
        """The names of the samples, in their order."""
        return samples_of(self.engine, self.tables)

    def __repr__(self) -> str:
        kind = "symmetric" if self.symmetric else "asymmetric"
        people = f"{counted(len(self.agents), 'agent')} ({_some(self.agents)})"
        places = counted(len(self.coalitions), "coalition")
        places += " (interchangeable)" if self.pool_coalitions else f" ({_some(self.coalitions)})"
        return f"Log({self.feedback}, {kind}, {people}, {places}, {counted(self.rows, 'row')} in {self.tables[-1]})"

    def _repr_html_(self) -> str:
        """Return what it holds as a table, for notebooks."""
        kind = "symmetric" if self.symmetric else "asymmetric"
        pooled = "interchangeable" if self.pool_coalitions else _some(self.coalitions)
        return html_table([
            ("log", f"{self.feedback}, {kind}"),
            ("people", f"{len(self.agents):,}: {_some(self.agents)}"),
            ("coalitions", f"{len(self.coalitions):,}: {pooled}"),
            ("rows", f"{self.rows:,}"),
        ])  # fmt: skip


@takes_options
def read_log(path: str | PathLike[str], **options: Unpack[LogOptions]) -> Log:
    """Return the log in a folder or file, checked in full; what is wrong with it is refused at once.

    An option that is None says nothing: `log.json` decides, or else the default.

    Parameters
    ----------
    path
        A folder with tables `pairs` or `totals` and perhaps `memberships` (CSV, Parquet, or folders
        of Parquet parts) and perhaps `log.json`; or one file of pairs. With Spark, any address
        that its session can read.
    """
    call = call_options(options)
    checks.path(path, "log", "the folder or file that a log is in")
    engine = make_engine(call)
    sources, file = engine.find_log(str(path))
    return _open(sources, str(path), call, file, engine)


def as_log(value: Any) -> Log:
    """Return a log that was given itself, or by the folder or file that it is in."""
    if isinstance(value, Log):
        return value
    if isinstance(value, (str, PathLike)):
        return read_log(value)
    raise InputError(f"log: expected a Log, or the folder or file that it is in, got {checks.shown(value)}")


def _open(sources: list[Source], place: str | None, call: Options, file: Options, engine: Engine) -> Log:
    """Check the tables, name the views that reductions read, and find out who and what occurs."""
    declared = merged(call, file)
    used = used_tables(sources, place, declared.get("feedback"))
    options = settled(declared)
    types = {source.table: engine.types(source) for source in used}
    refuse_unknown_columns(types, options["columns"], used)
    columns = {source.table: match_columns(source, types[source.table], options["columns"]) for source in used}
    tables = tuple(columns)
    if options["missing"] == "worst" and tables != ("memberships", "pairs"):
        raise InputError(f"{said(missing='worst')} needs a table memberships, to know who met, and a table pairs")
    if "totals" in call and tables[-1] != "totals":
        raise InputError(
            f"{said(totals=call['totals'])} says what totals are, and this log is read from pairs: leave it out, or "
            f"say {said(feedback='bandit')} where there is a table totals too"
        )
    notes = _load(engine, used, columns, options)
    checked = check(engine, used, options)
    if tables[-1] == "pairs":
        if any(source.table == "totals" for source in sources):
            notes.append(TOTALS_UNUSED)
        pairs = engine.name("pairs")
        query = queries.columns_of(pairs, schema.TABLES["pairs"])
        if options["symmetrize"]:
            query = queries.averaged_orders(pairs)
            one_sided = checked.rows - 2 * checked.both_orders
            notes += [SYMMETRIZED, *([ONE_SIDED.format(count=_meetings(one_sided))] if one_sided else [])]
        elif checked.both_orders:
            query = queries.each_once(pairs)
            notes.append(BOTH_ORDERS)
        engine.view("ratings", query, stored=checked.both_orders > 0)
    if "memberships" in tables:
        engine.view("members", queries.columns_of(engine.name("memberships"), schema.TABLES["memberships"]))
    else:
        notes.append(INFERRED)
        engine.view("members", queries.inferred_members(engine.name("pairs")), stored=True)
    agents = _names(engine, [("members", "agent"), *([("totals", "agent")] if tables[-1] == "totals" else [])])
    listed = _listed(options["coalitions"])
    # Labels that mean nothing may be as many as there are samples: they are only read where they were declared.
    coalitions = _names(engine, [("members", "coalition")]) if listed or not options["pool_coalitions"] else ()
    for what, seen, names in (("agent", agents, options["agents"]), ("coalition", coalitions, listed)):
        notes += _unlisted(what, seen, names, f"{what}s" if f"{what}s" in call else "log.json")
    if options["pool_coalitions"]:
        how_many = None if listed else options["coalitions"]
        coalitions = checks.names(None, "coalitions", how_many or _most_together(engine))
    else:
        coalitions = listed + in_order(set(coalitions) - set(listed))
    agents = options["agents"] + in_order(set(agents) - set(options["agents"]))
    log = Log(agents, coalitions, options, engine, checked, tables, tuple(notes))
    if not is_observed(log.action_description):
        _ = log.actions  # refuses unknown coalitions and agents now, not when they are first needed
    return log


def _load(
    engine: Engine, used: Sequence[Source], columns: Mapping[str, Mapping[str, str]], options: Options
) -> list[str]:
    """Make the views of the tables, and return what to tell about samples that were left out."""
    notes = _load_samples(engine, used, columns, options)
    totals = options["totals"]
    if used[-1].table == "totals" and totals != "sum":
        sums = queries.as_sums(engine.name(STATED), engine.name("memberships"), average=totals == "average")
        engine.view("totals", sums)
        notes.append(AVERAGES[totals])
    return notes


def _load_samples(
    engine: Engine, used: Sequence[Source], columns: Mapping[str, Mapping[str, str]], options: Options
) -> list[str]:
    """Make the views of the tables as they are written; of totals that are averages under a name of their own."""
    since, until = options["since"], options["until"]
    view_of = {source.table: source.table for source in used}
    if options["totals"] != "sum":
        view_of["totals"] = STATED
    if since is None and until is None:
        for source in used:
            engine.load(replace(source, table=view_of[source.table]), columns[source.table])
        return []
    for source in used:
        engine.load(replace(source, table=f"every_{source.table}"), columns[source.table])
    every = samples_of(engine, [f"every_{source.table}" for source in used])
    if not len(every):
        raise InputError(f"{used[-1].shown}: has no samples; an empty log says nothing")
    kept = every.between(since, until)
    engine.lookup("kept_samples", pa.table({"sample": kept.names}))
    for source in used:
        view = queries.within(engine.name(f"every_{source.table}"), engine.name("kept_samples"))
        engine.view(view_of[source.table], view)
    if len(kept) == len(every):
        return []
    first, last = kept.names[0].as_py(), kept.names[-1].as_py()
    return [SOME_SAMPLES.format(kept=len(kept), every=len(every), first=first, last=last, order=kept.order)]


def _listed(coalitions: int | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names among what the option `coalitions` may be: how many there are, or which."""
    return coalitions if isinstance(coalitions, tuple) else ()


def _meetings(count: int) -> str:
    return f"{counted(count, 'meeting')} {'was' if count == 1 else 'were'}"


def _some(names: Sequence[str]) -> str:
    shown = [name if len(name) <= 20 else f"{name[:17]}..." for name in names[:SHOWN_NAMES]]
    return ", ".join([*shown, *(["..."] if len(names) > SHOWN_NAMES else [])])


def _names(engine: Engine, columns: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    names = engine.table(queries.distinct_names([(engine.name(view), column) for view, column in columns]))
    return tuple(names["name"].to_pylist())


def _unlisted(what: str, seen: tuple[str, ...], listed: tuple[str, ...], where: str) -> list[str]:
    extra = in_order(set(seen) - set(listed)) if listed else ()
    wording = OUTSIDE_NAME if len(extra) == 1 else OUTSIDE_NAMES
    return [wording.format(count=len(extra), what=what, where=where, name=extra[0])] if extra else []


def _most_together(engine: Engine) -> int:
    return int(engine.table(queries.most_at_once(engine.name("members"), "sample"))["most"][0].as_py())
