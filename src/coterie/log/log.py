"""A log of past outcomes: read, checked, and ready to be reduced to statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Unpack

from coterie import checks
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces
from coterie.game.game import Value
from coterie.game.tables import MEMBER, NEWLINE
from coterie.log import choices, queries, schema, shape_queries
from coterie.log.checking import (
    MOST_LOOKED_AT,
    Checked,
    check,
    check_choices,
    check_scores,
    has_columns,
    match_columns,
    refuse_unknown_columns,
    slips_of_hand,
)
from coterie.log.choices import is_observed
from coterie.log.direction import Counted, about_direction, counted_by, view_of
from coterie.log.engine import Engine, make_engine
from coterie.log.likenesses import about_likenesses
from coterie.log.names import LISTED, about_spellings, about_swapped
from coterie.log.options import (
    TEAM_SCORES,
    FrameOptions,
    LogOptions,
    Options,
    call_options,
    merged,
    settled,
    takes_options,
)
from coterie.log.samples import Samples, samples_of
from coterie.log.shapes import AS_WRITTEN, Table, load, settled_totals, shape_of
from coterie.log.tables import Source, frame_sources, used_tables
from coterie.words import counted, html_table, in_order, said, some

INFERRED = (
    "who was in which team was made out from the pairs: whoever was alone is not known, and teams may have been larger"
)
BOTH_ORDERS = "some pairs are listed in both orders; they agree and count once"
SYMMETRIZED = "utilities are the averages of the two orders of each pair"
WITHOUT_TEAMS = (
    "no column says in which team people were, so all who were rated in a round count as together in one: sizes of "
    "teams were not seen, and what is expected takes it that they do not matter"
)
ONE_SIDED = (
    "{count} listed in one order only: the average of the two was not seen, and nothing is learnt from one of them "
    "alone, as if it were by chance that the other is missing"
)
TOTALS_UNUSED = "totals are not used, since there are pairs"
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
    said: frozenset[str] = frozenset()
    """The options that whoever read it gave; others are from `log.json`, or defaults."""
    declared: frozenset[str] = frozenset()
    """The options that are no defaults."""

    @classmethod
    @takes_options
    def from_frames(
        cls,
        memberships: Any = None,
        pairs: Any = None,
        totals: Any = None,
        choices: Any = None,
        **options: Unpack[FrameOptions],
    ) -> "Log":
        """Return a log from data frames: pandas, Polars, Arrow, or anything that speaks Arrow.

        Parameters
        ----------
        memberships, pairs, totals, choices
            The tables, as `read_log` finds them in a folder; `pairs`, `totals` or `choices` is needed.
        """
        sources = frame_sources(memberships=memberships, pairs=pairs, totals=totals, choices=choices)
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
    def lower_is_better(self) -> bool:
        """Whether a smaller outcome is the better one."""
        return bool(self.options["lower_is_better"])

    @property
    def counted(self) -> Counted:
        """The scale that outcomes are counted on, of which more is better."""
        return counted_by(self.options, self.checked.extent)

    @property
    def outcomes(self) -> str:
        """The view of what was observed as it is counted: `view_of` pairs or totals."""
        return self.engine.name(
            view_of("ratings" if self.feedback == "semi-bandit" else "totals", self.lower_is_better)
        )

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
        """Whether who met whom may have depended on earlier outcomes."""
        return bool(self.options["adaptive"])

    @property
    def of_teams(self) -> bool:
        """Whether totals are scores of teams."""
        return self.feedback == "bandit" and self.options["totals"] in TEAM_SCORES

    @property
    def value(self) -> Value:
        """What a team is worth to a member where nobody asks for something else."""
        found: Value = self.options["value"]
        return found

    @property
    def unit(self) -> str:
        """What outcomes are counted in, such as "stars"; only said, never computed with."""
        return str(self.options["unit"])

    @property
    def declared_agents(self) -> tuple[str, ...]:
        """The agents that were declared; they come first, in that order."""
        return tuple(self.options["agents"])

    @property
    def declared_coalitions(self) -> tuple[str, ...]:
        """The coalitions that were declared by name; none where they are interchangeable."""
        return () if self.pool_coalitions else _listed(self.options["coalitions"])

    @property
    def called(self) -> dict[str, str]:
        """What the tables call who, members, in which team and samples, where they have words of their own."""
        theirs: dict[str, schema.Named] = self.options["columns"]
        found: dict[str, schema.Named] = {
            role: theirs[role] for role in ("agent", "members", "coalition", "sample") if role in theirs
        }
        if isinstance(members := found.get("members"), tuple):  # a column for each
            found |= {f"{MEMBER}{place}": name for place, name in enumerate(members, 1)}
        return {role: name for role, name in found.items() if isinstance(name, str) and name not in schema.NO_COLUMN}

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

    def with_coalitions(self, count: int) -> "Log":
        """Return the log with so many interchangeable coalitions to form."""
        return replace(
            self, coalitions=checks.names(None, "coalitions", count), options={**self.options, "coalitions": count}
        )

    # --- Parts, and logs together ---------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int]:
        """The number of samples, as arrays have it: scikit-learn divides a log by samples as it divides arrays."""
        return (self.n_samples,)

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, chosen: Any) -> "Log":
        """Return the log of some samples, by their places in the order of `samples`: numbers, a mask, or a slice.

        Agents, coalitions and actions stay those of the whole log, so that what is learnt from parts is about the same
        game. Its tables are held in memory.
        """
        from coterie.log.parts import some_samples

        return some_samples(self, chosen)

    def split(self, parts: int | Sequence[float] = 2, seed: checks.Seed = 0) -> tuple["Log", ...]:
        """Return several logs that share no samples, drawn at random; they can be added again.

        Parameters
        ----------
        parts
            How many of equal size, or the share of the samples in each: (0.8, 0.2).
        seed
            Which samples go where.
        """
        from coterie.log.parts import divided

        return divided(self, parts, seed)

    def __add__(self, other: "Log") -> "Log":
        """Return one log with the samples of both, which must not share any and must be described alike."""
        from coterie.log.parts import together

        return together(self, other) if isinstance(other, Log) else NotImplemented

    def __reduce__(self) -> Any:
        """Return what makes the log again in another process: its tables, and what was said of them."""
        from coterie.log.parts import from_tables, tables_of

        return from_tables, (tables_of(self), dict(self.options), self.notes)

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
        A folder with tables `pairs`, `totals` or `choices` and perhaps `memberships` (CSV, spreadsheets,
        Parquet, or folders of Parquet parts) and perhaps `log.json`; or one file, whose columns tell
        which of these it is. With Spark, any address that its session can read.
    """
    call = call_options(options)
    checks.path(path, "log", "the folder or file that a log is in")
    engine = make_engine(call)
    sources, file = engine.find_log(str(path), call.get("sheet"), call.get("skip_rows"))
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
    options = settled(declared)
    if isinstance(options["columns"].get("members"), tuple):  # a column for each member: cells hold one name
        further = f" {options['separators']}" if "separators" in declared else ""
        options = {**options, "separators": f"{NEWLINE}{further}"}
    read = _read_tables(engine, sources, place, options)
    outcome = read[-1]
    options = settled_totals(outcome.shape, options)
    tables = tuple(dict.fromkeys(table for one in read for table in STANDARD.get(one.shape, (one.shape,))))
    _refuse_idle(call, read, options)
    if options["missing"] == "worst" and tables != ("memberships", "pairs"):
        raise InputError(f"{said(missing='worst')} needs a table memberships, to know who met, and a table pairs")
    if "totals" in call and tables[-1] != "totals":
        raise InputError(
            f"{said(totals=call['totals'])} says what totals are, and this log is read from {outcome.shape}: leave it "
            f"out, or say {said(feedback='bandit')} where there is a table totals too"
        )
    loaded = load(engine, read, options)
    notes = [*engine.notes, *_about_sources(read, options), *loaded]
    if outcome.shape == "choices":
        checked = check_choices(engine, outcome.source, options)
    elif options["totals"] in TEAM_SCORES and tables[-1] == "totals":
        checked = check_scores(engine, read[0].source, outcome.source, options, outcome.shape)
    else:
        standard = STANDARD.get(outcome.shape, (outcome.shape,))
        made = [replace(outcome.source, table=table) for table in standard]
        checked = check(engine, [*(one.source for one in read[:-1]), *made], options)
    if tables[-1] == "pairs":
        if any(source.table == "totals" for source in sources):
            notes.append(TOTALS_UNUSED)
        notes += _rate(engine, checked, options)
    _turn_round(engine, tables[-1], options)
    if "memberships" in tables:
        engine.view("members", queries.columns_of(engine.name("memberships"), schema.TABLES["memberships"]))
    else:
        notes.append(WITHOUT_TEAMS if outcome.columns.get("coalition") == schema.ALL else INFERRED)
        engine.view("members", queries.inferred_members(engine.name("met_pairs")), stored=True)
    has_totals = tables[-1] == "totals" and options["totals"] not in TEAM_SCORES
    agents = _names(engine, [("members", "agent"), *([("totals", "agent")] if has_totals else [])])
    listed = _listed(options["coalitions"])
    # Labels that mean nothing may be as many as there are samples: they are only read where they were declared.
    coalitions = _names(engine, [("members", "coalition")]) if listed or not options["pool_coalitions"] else ()
    notes = [
        *([] if "lower_is_better" in declared else _about_direction(outcome, options)),
        *about_likenesses(engine, agents, inferred="memberships" not in tables),
        *notes,
        *about_spellings("coalition", coalitions),
        *about_swapped(agents, coalitions),
        *_about_nobody(set(agents) - set(options["agents"])),
    ]
    for what, seen, names in (("agent", agents, options["agents"]), ("coalition", coalitions, listed)):
        notes += _unlisted(what, seen, names, f"{what}s" if f"{what}s" in call else "log.json")
    if options["pool_coalitions"]:
        how_many = None if listed else options["coalitions"]
        coalitions = checks.names(None, "coalitions", how_many or _most_together(engine))
    else:
        coalitions = listed + in_order(set(coalitions) - set(listed))
    agents = options["agents"] + in_order(set(agents) - set(options["agents"]))
    log = Log(
        agents, coalitions, options, engine, checked, tables,
        # A range that `coterie start` guessed is as wide as a slip of the hand made it: nobody declared that.
        (*_far_numbers(engine, outcome, checked.rows, options, call if outcome.source.is_copy else declared), *notes),
        frozenset(call), frozenset(declared),
    )  # fmt: skip
    if not is_observed(log.action_description):
        _ = log.actions  # refuses unknown coalitions and agents now, not when they are first needed
    return log


def _turn_round(engine: Engine, table: str, options: Options) -> None:
    """Make the view of outcomes of which more is better; what was checked and is shown stays as it is written."""
    if not options["lower_is_better"]:
        return
    used = "ratings" if table == "pairs" else "totals"
    is_scores = used == "totals" and options["totals"] in TEAM_SCORES
    columns = schema.SHAPES["scores"] if is_scores else schema.TABLES[table]
    engine.view(view_of(used, lower_is_better=True), queries.opposite(engine.name(used), columns))


def _about_direction(outcome: Table, options: Options) -> list[str]:
    """Return that more is taken to be better, where the column of outcomes says otherwise."""
    headers = schema.names_of(outcome.columns["utility"]) if "utility" in outcome.columns else ()
    titles = outcome.source.titles
    return [note for header in headers for note in about_direction(header, options["utility_range"], titles)]


def _refuse_idle(call: Options, read: Sequence[Table], options: Options) -> None:
    """Refuse options about files that the log is not read from, or numbers that it does not hold."""
    shown = read[-1].source.shown
    if options["lower_is_better"] and read[-1].shape == "choices":
        raise InputError(
            f"{said(lower_is_better=True)} is about numbers of which less is better; {shown} holds choices"
        )
    if "sheet" in call and not any(one.source.sheet is not None for one in read):
        raise InputError(f"{said('sheet')} says which sheet of a spreadsheet to read; {shown} is none")
    if "skip_rows" in call and not any(one.source.dialect or one.source.sheet for one in read):
        raise InputError(f"{said('skip_rows')} is about CSV and spreadsheets; {shown} is neither")


def _about_sources(read: Sequence[Table], options: Options) -> list[str]:
    """Return what to tell of how the tables were found."""
    notes = [one.source.note for one in read if one.source.note]
    if options["skip_rows"] is None:
        notes += [f"{one.source.shown}: {about}" for one in read if (about := one.source.about_titles)]
    return notes


STANDARD = {
    **dict.fromkeys(("records", "listed scores"), ("memberships", "totals")),
    "scores": ("totals",),
    "choices": ("memberships", "pairs"),
}
"""The tables that are made of one of another shape."""


def _read_tables(engine: Engine, sources: list[Source], place: str | None, options: Options) -> list[Table]:
    """Return the tables to read, memberships first, each with its shape and what it calls its columns."""
    used = used_tables(sources, place, None if any(one.is_alone for one in sources) else options["feedback"])
    types = {source.table: engine.types(source) for source in used}
    refuse_unknown_columns(types, options["columns"], used)
    read = []
    for source in used:
        has = has_columns(types[source.table], options["columns"])
        shape = shape_of(source, has, with_members=len(used) > 1)
        named = "totals" if "scores" in shape or shape == "records" else shape
        columns = match_columns(replace(source, table=named), shape, types[source.table], options["columns"])
        read.append(Table(replace(source, table=named), shape, columns))
    if options["feedback"] not in {None, schema.FEEDBACKS[read[-1].source.table]}:
        wanted = next(table for table, kind in schema.FEEDBACKS.items() if kind == options["feedback"])
        raise InputError(
            f"{read[-1].source.shown}: holds {read[-1].source.table}, expected {wanted} as "
            f"{said(feedback=options['feedback'])} says"
        )
    if read[-1].shape == "totals" and len(read) == 1:
        where = place or "from_frames"
        raise InputError(
            f"{where}: totals say nothing without a table memberships (columns sample, agent, coalition), or a column "
            "coalition of their own"
        )
    return read


def _rate(engine: Engine, checked: Checked, options: Options) -> list[str]:
    """Make the view of what each pair got, one row for each, and return what to tell about it."""
    pairs, notes = engine.name("pairs"), []
    query = queries.columns_of(pairs, schema.TABLES["pairs"])
    if options["symmetrize"]:
        query = queries.averaged_orders(pairs)
        one_sided = checked.rows - 2 * checked.both_orders
        notes = [SYMMETRIZED, *([ONE_SIDED.format(count=_meetings(one_sided))] if one_sided else [])]
    elif checked.both_orders:
        query = queries.each_once(pairs)
        notes = [BOTH_ORDERS]
    engine.view("ratings", query, stored=checked.both_orders > 0)
    return notes


def _far_numbers(engine: Engine, outcome: Table, rows: int, options: Options, declared: Options) -> Sequence[str]:
    """Return what to tell of numbers far from all others, as they are written, and of a pair if they are sums.

    The score of a team is one number, in however many rows it is written. Where a range was declared, all is well.
    """
    if outcome.shape == "choices" or "utility_range" in declared or rows > MOST_LOOKED_AT:
        return ()
    has_totals = outcome.source.table == "totals"
    written, of_teams = engine.name(AS_WRITTEN), has_totals and options["totals"] in TEAM_SCORES
    views = [f"({queries.once_each(written)}) AS scores" if of_teams else written]
    if has_totals and options["totals"] in {"sum", "team-scores"}:
        per_pair = queries.totals_per_pair(engine.name("totals"), engine.name("members"), of_teams=of_teams)
        views.append(f"({per_pair}) AS per_pair")
    return slips_of_hand(engine, outcome.source, views)


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


def _about_nobody(agents: set[str]) -> list[str]:
    """Return what to tell of people whose names may stand for nobody; those who were declared are people."""
    words = {*shape_queries.NOBODY, *shape_queries.NOBODY_OR_A_NAME}
    found = sorted(name for name in agents if name.strip().lower() in words)
    if not found:
        return []
    taken = "is taken for a person" if len(found) == 1 else "are taken for people"
    helps = "if that stands for nobody, leave out such rows, or write - in lists of members"
    return [f"{some(map(repr, found), LISTED)} {taken}; {helps}"]


def _unlisted(what: str, seen: tuple[str, ...], listed: tuple[str, ...], where: str) -> list[str]:
    extra = in_order(set(seen) - set(listed)) if listed else ()
    wording = OUTSIDE_NAME if len(extra) == 1 else OUTSIDE_NAMES
    return [wording.format(count=len(extra), what=what, where=where, name=extra[0])] if extra else []


def _most_together(engine: Engine) -> int:
    return int(engine.table(queries.most_at_once(engine.name("members"), "sample"))["most"][0].as_py())
