"""Tables as people keep them, turned into the tables of a log inside the engine.

    pairs          sample, coalition, agent, partner, utility     as they are
    totals         sample, agent, utility                         as they are, beside memberships
    records        sample, agent, coalition, utility              memberships, and totals: the sum over a person's rows
    scores         sample, coalition, utility                     scores of teams, beside memberships
    listed scores  sample, coalition, members, utility            memberships and scores of teams; also records, each
                                                                  with the score of the team
    choices        sample, coalition, agent, choice               memberships, and pairs: the top of the range for two
                                                                  who chose alike, its bottom for others

On the way empty rows go, and such as sum others up; names are spelled alike if that is wanted, rows without a
utility or a choice are skipped with a count, and who was not there is in no team of that sample. What is told of all
this are the notes of a log. Rows are those of the user's table, also where a row for each member is made of one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from coterie.checks import plain
from coterie.errors import InputError
from coterie.game.tables import SEPARATORS, names_listed, separator_pattern, worded_separators
from coterie.log import days, names, queries, schema, shape_queries
from coterie.log.engine import Engine
from coterie.log.likenesses import two_people
from coterie.log.options import TEAM_SCORES, Options, fixed_range
from coterie.log.samples import samples_of
from coterie.log.tables import Source
from coterie.words import counted, number, said, some

LAST_ROWS = 3
"""Among so many rows at the end those are looked for that sum others up and yet have all names."""

STATED = "stated_totals"
"""The view of totals as they are written, where they are averages."""

AS_WRITTEN = "as_written"
"""The view of outcomes row by row, before any are added up."""

AVERAGES = {
    "average": "the number of a person is taken for the average over all pairs that they are in",
    "team-averages": "the number of a person is taken for the average over teammates",
}

SCORES = {
    "team-scores": "the score of a team is taken for the sum over its pairs",
    "team-score-averages": "the score of a team is taken for the average over its pairs",
}

SOME_SAMPLES = "{kept:,} of {every:,} rounds are used, from {first!r} to {last!r}, {order}"
SAME_TOTALS = (
    "{count} several rows in one round with the same utility in each; they were added up, since a row says what was "
    "got in its coalition: if it is the total of the round, keep it in a table totals (sample, agent, utility) "
    "beside memberships"
)
CHOSEN = "two who chose alike get {high}, others {low}"


@dataclass(frozen=True)
class Table:
    """One table of a log as it is written."""

    source: Source
    shape: str
    columns: Mapping[str, schema.Named]
    """What the source calls each column of its shape."""

    @property
    def kept(self) -> list[str]:
        """The columns of its views."""
        mine = list(schema.SHAPES[self.shape])
        return [*mine, *(["written"] if "utility" in mine else []), *shape_queries.PLACE]


def shape_of(source: Source, has: Mapping[str, bool], *, with_members: bool) -> str:
    """Return what a source holds, by the columns it has; `with_members` if there is a table of memberships besides."""
    if source.table == "memberships" or (source.table == "pairs" and not source.is_alone):
        return source.table
    if source.is_alone and has["partner"]:
        return "pairs"
    if source.table == "choices" or (source.is_alone and has["choice"]):
        return "choices"
    if has["members"] and has["coalition"] and not has["agent"]:
        return "listed scores"
    if has["coalition"] and has["utility"] and not has["agent"] and with_members:
        return "scores"
    if has["agent"] and has["coalition"] and has["utility"] and not with_members:
        return "records"
    return source.table


def settled_totals(shape: str, options: Options) -> Options:
    """Return the options, with totals that are what they must be in a table of this shape."""
    totals = options["totals"]
    if shape in {"scores", "listed scores"} and totals not in TEAM_SCORES:
        totals = "team-scores" if totals == "sum" else "team-score-averages"
    if totals in TEAM_SCORES and not options["symmetric"]:
        raise InputError(
            f"scores of teams do not tell who of two got what: leave out {said(symmetric=False)}, or rate pairs"
        )
    if shape == "totals" and totals in TEAM_SCORES:
        raise InputError(f"{said(totals=totals)} needs a column coalition (team) that says whose score it is")
    return {**options, "totals": totals}


def load(engine: Engine, tables: Sequence[Table], options: Options) -> list[str]:
    """Make the views `memberships` and `pairs` or `totals` of a log, and return what to tell about it.

    `met_pairs` are pairs with or without a utility.
    """
    views = {}
    for table in tables:
        views[table.source.table] = loaded(
            engine, replace(table.source, table=f"read_{table.source.table}"), table.columns
        )
    repeated = []
    for table in tables:
        name = table.source.table
        views[name], notes = without_headers(engine, table, views[name])
        repeated += notes
    views, told = on_same_days(engine, tables, views)
    told = repeated + told
    if options["summaries"] == "skip":
        for table in tables:
            name = table.source.table
            views[name], summed_up = _without_summaries(engine, table, views[name], is_alone=len(tables) == 1)
            told += summed_up
    is_listed = tables[-1].shape == "listed scores"
    if is_listed:
        views, unclear = _with_members(engine, tables[-1], views, options["separators"].split())
        told += unclear
        tables = [replace(tables[-1], shape="records")]
    if options["clean_names"]:
        views, merged = respelled(engine, tables, views)
        told += merged
    views, notes = _within(engine, tables, views, options)
    notes += told
    views, told = _present(engine, tables, views, options, is_listed=is_listed)
    notes += told
    for table in tables:
        views[table.source.table], told = _filled(
            engine, table, views[table.source.table], options, is_listed=is_listed
        )
        notes += told
        views[table.source.table], told = _of_two(engine, table, views[table.source.table], options)
        notes += told
        views[table.source.table], told = _once(engine, table, views[table.source.table], options, is_listed=is_listed)
        notes += told
    outcome = tables[-1]
    written = engine.name(views[outcome.source.table])
    engine.view(AS_WRITTEN, shape_queries.as_written(written) if is_listed else queries.columns_of(written, ("*",)))
    of_teams = options["totals"] in TEAM_SCORES
    make = {"pairs": _pairs, "totals": _totals, "records": _team_records if of_teams else _records,
            "scores": _scores, "choices": _choices}  # fmt: skip
    if len(tables) > 1:
        engine.view("memberships", queries.columns_of(engine.name(views["memberships"]), ("*",)))
    return notes + make[outcome.shape](engine, outcome, views[outcome.source.table], options)


def loaded(engine: Engine, source: Source, columns: Mapping[str, schema.Named]) -> str:
    """Make the view of a table as it is written, and return its name; some columns may be in none of its own."""
    types = engine.types(source)
    without = {ours: str(one) for ours, one in columns.items() if one in schema.NO_COLUMN and one not in types}
    engine.load(source, {ours: theirs for ours, theirs in columns.items() if ours not in without})
    if not without:
        return source.table
    if len(source.files) > 1 and schema.ROW in without.values():
        raise InputError(f"{source.shown}: rows of several files have no number; add a column that says when")
    values = {
        ours: shape_queries.NUMBERED if one == schema.ROW else shape_queries.TOGETHER for ours, one in without.items()
    }
    engine.view(f"completed_{source.table}", shape_queries.completed(engine.name(source.table), values))
    return f"completed_{source.table}"


def without_headers(engine: Engine, table: Table, view: str) -> tuple[str, list[str]]:
    """Return a view without rows that repeat the header, and what to tell of them; only what people keep has such."""
    if table.source.dialect is None and table.source.sheet is None:
        return view, []
    written = {ours: one for ours, one in table.columns.items() if isinstance(one, str) and one not in schema.NO_COLUMN}
    engine.lookup("header_names", pa.table({"name": [name.strip().lower() for name in written.values()]}))
    cells = ["written" if ours == "utility" else ours for ours in written]
    condition = shape_queries.repeats(cells, engine.name("header_names"))
    rows = engine.rows(shape_queries.first_rows(engine.name(view), condition))
    if not rows:
        return view, []
    engine.view(f"headed_{view}", shape_queries.without(engine.name(view), condition))
    return f"headed_{view}", _left_out(table, rows, "repeats the header", "repeat the header")


def _of_two(engine: Engine, table: Table, view: str, options: Options) -> tuple[str, list[str]]:
    """Return a view without ratings that people give themselves, and what to tell of them."""
    if table.shape != "pairs" or options["blanks"] == "refuse":
        return view, []
    condition = f"(agent = partner AND NOT {shape_queries.is_blank('agent')})"
    rows = engine.rows(shape_queries.first_rows(engine.name(view), condition))
    if not rows:
        return view, []
    engine.view(f"of_two_{view}", shape_queries.without(engine.name(view), condition))
    (told,) = _left_out(table, rows, "is what somebody says of themselves", "are what people say of themselves")
    return f"of_two_{view}", [f"{told}; {said(blanks='refuse')} refuses such rows"]


def _count(engine: Engine, query: str) -> int:
    return int(engine.table(query)["n"][0].as_py())


def respelled(engine: Engine, tables: Sequence[Table], views: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return views in which each name has one spelling, and what to tell of those that had several."""
    lookups: dict[str, str] = {}
    told: list[str] = []
    for columns in (("agent", "partner"), ("coalition",), ("sample",)):
        written = [
            (engine.name(views[table.source.table]), column)
            for table in tables
            for column in columns
            if column in schema.SHAPES[table.shape]
        ]
        found = engine.table(shape_queries.name_counts(written))
        times = dict(zip(found["name"].to_pylist(), found["times"].to_pylist(), strict=True))
        if columns[0] == "agent":
            outcome = engine.name(views[tables[-1].source.table])
            members = engine.name(views["memberships"]) if "memberships" in views else outcome
            pairs = outcome if members == outcome and tables[-1].shape == "pairs" else None
            clean = names.cleaned(times, two_people(engine, names.spelled_without_accents(times), members, pairs))
        else:
            clean = names.cleaned(times)
        told += names.about_merged(clean)
        if clean:
            lookup = f"names_{columns[0]}"
            engine.lookup(lookup, pa.table({"name": list(clean), "clean": list(clean.values())}))
            lookups |= dict.fromkeys(columns, engine.name(lookup))
    result = {}
    for table in tables:
        name, mine = views[table.source.table], [one for one in schema.SHAPES[table.shape] if one in lookups]
        if mine:
            chosen = {one: lookups[one] for one in mine}
            engine.view(f"named_{name}", shape_queries.respelled(engine.name(name), table.kept, chosen))
            name = f"named_{name}"
        result[table.source.table] = name
    return result, told


def on_same_days(engine: Engine, tables: Sequence[Table], views: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return views in which a day that is a round is written in one way, and what to tell of it."""
    named = [table for table in tables if table.columns.get("sample") not in schema.NO_COLUMN]
    if not named:
        return dict(views), []
    written = [(engine.name(views[table.source.table]), "sample") for table in named]
    rows = engine.rows(shape_queries.names_like(written, days.DAY))
    times = dict(sorted((row["name"], int(row["times"])) for row in rows))
    found, every = days.same_days(times), f"{sum(times.values()):,}"
    header = " and ".join(dict.fromkeys(repr(table.columns["sample"]) for table in named))
    result, told = dict(views), list[str]()
    if found.called:
        engine.lookup("same_days", pa.table({"name": list(found.called), "clean": list(found.called.values())}))
        for table in named:
            name = result[table.source.table]
            chosen = {"sample": engine.name("same_days")}
            engine.view(f"dated_{name}", shape_queries.respelled(engine.name(name), table.kept, chosen))
            result[table.source.table] = f"dated_{name}"
        count, (first, called) = sum(times[name] for name in found.called), next(iter(found.called.items()))
        is_one, others = count == 1, " and the like" if len(found.called) > 1 else ""
        told.append(
            f"{count:,} of {every} days in {header} {'is' if is_one else 'are'} written otherwise than most and "
            f"{'was' if is_one else 'were'} read as the same days: {first!r} as {called!r}{others}"
        )
    if found.unclear:
        engine.lookup("unclear_days", pa.table({"name": list(found.unclear)}))
        condition = shape_queries.is_one_of("sample", engine.name("unclear_days"))
        for table in named:
            view = engine.name(views[table.source.table])
            if rows := engine.rows(shape_queries.first_rows(view, condition, ["sample"])):
                is_one = (count := int(rows[0]["times"])) == 1
                told.append(
                    f"{count:,} of {every} days in {header} {'is' if is_one else 'are'} written otherwise than most, "
                    f"such as {rows[0]['sample']!r} ({_where(table.source, rows)} of {table.source.shown}), and which "
                    f"day is meant is not clear: {'it counts as a round' if is_one else 'they count as rounds'} of "
                    f"{'its' if is_one else 'their'} own; write all days alike"
                )
    return result, told


def _within(
    engine: Engine, tables: Sequence[Table], views: Mapping[str, str], options: Options
) -> tuple[dict[str, str], list[str]]:
    """Return views of the samples that are wanted, and what to tell about it."""
    since, until = options["since"], options["until"]
    if since is None and until is None:
        return dict(views), []
    every = samples_of(engine, list(views.values()))
    if not len(every):
        raise InputError(f"{tables[-1].source.shown}: has no rounds; an empty log says nothing")
    kept = every.between(since, until)
    engine.lookup("kept_samples", pa.table({"sample": kept.names}))
    for name in views.values():
        engine.view(f"kept_{name}", queries.within(engine.name(name), engine.name("kept_samples")))
    result = {table: f"kept_{name}" for table, name in views.items()}
    if len(kept) == len(every):
        return result, []
    first, last = kept.names[0].as_py(), kept.names[-1].as_py()
    return result, [SOME_SAMPLES.format(kept=len(kept), every=len(every), first=first, last=last, order=kept.order)]


def _without_summaries(engine: Engine, table: Table, view: str, *, is_alone: bool) -> tuple[str, list[str]]:
    """Return a view without rows that sum others up, and what to tell of them.

    Somebody or a team may be called Total: rows with all names are left out only if no such name occurs before the end,
    and if no other table may name it.
    """
    columns = [one for one in schema.SHAPES[table.shape] if one not in {"utility", "choice"}]
    (where,) = engine.rows(shape_queries.where_summaries(engine.name(view), columns))
    at_end = is_alone and where["first"] is not None and where["first"] > where["last"] - LAST_ROWS
    if not where["lacking"] and not at_end:
        return view, []
    condition = shape_queries.is_summary(columns, int(where["first"]) if at_end else None)
    rows = engine.rows(shape_queries.first_rows(engine.name(view), condition, columns))
    engine.view(f"single_{view}", shape_queries.without(engine.name(view), condition))
    count, words = int(rows[0]["times"]), [_summary_word(row, columns) for row in rows]
    one = count == 1
    if not engine.rows(
        shape_queries.first_rows(engine.name(f"single_{view}"), f"NOT {shape_queries.is_empty(columns)}")
    ):
        raise InputError(
            f"{table.source.shown}: every row seems to sum others up, since it says {words[0]!r}; if that is a name "
            f"like any other, {said(summaries='keep')} takes it so"
        )
    told = (
        f"{counted(count, 'row')} of {table.source.shown} {'sums' if one else 'sum'} others up "
        f"({some(map(repr, dict.fromkeys(words)), names.LISTED)}, {_where(table.source, rows)}) and "
        f"{'was' if one else 'were'} left out; {said(summaries='keep')} takes {'it' if one else 'them'} like any other"
    )
    return f"single_{view}", [told]


def _summary_word(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Return the cell that says so: the one that begins with such a word."""
    cells = [str(row[one]).strip() for one in columns if row[one]]
    exact = [cell for cell in cells if cell.lower().rstrip(":") in shape_queries.SUMMARIES]
    return next((cell for cell in (*exact, *cells) if cell.lower().startswith(shape_queries.SUMMARIES)), cells[0])


def _where(source: Source, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the numbers of the first rows, as a spreadsheet shows them; the first says how many there are."""
    first = [row for row in rows if row["file_name"] == rows[0]["file_name"]]
    places = source.row_numbers(sorted(int(row["row_index"]) for row in first))
    more = int(rows[0]["times"]) - len(places)
    return f"row{'s' if len(places) + more > 1 else ''} {some(map(str, [*places, *[''] * more]), len(places))}"


WHOSE = {"totals": ("sample", "agent"), "scores": ("sample", "coalition")}
"""Which members a row speaks of, where they are in another table; a pair does not tell which of the two was away."""


def _present(
    engine: Engine, tables: Sequence[Table], views: Mapping[str, str], options: Options, *, is_listed: bool
) -> tuple[dict[str, str], list[str]]:
    """Return views without those who were not there, and what to tell of them; `is_listed` as in `_filled`."""
    table, name = tables[-1], tables[-1].source.table
    if "utility" not in schema.SHAPES[table.shape] or options["blanks"] == "refuse":
        return dict(views), []
    words = {kind: _words(engine, kind, options) for kind in ("absent_words", "blank_words")}
    gone = shape_queries.was_not_there(words["absent_words"], words["blank_words"])
    takes_blanks = options["blanks"] == "absent"
    if takes_blanks:
        empty = shape_queries.is_empty(schema.SHAPES[table.shape])
        gone = f"({gone} OR ({shape_queries.NO_UTILITY} AND NOT {empty}))"
    rows = engine.name(views[name])
    written = f"({shape_queries.as_written(rows)}) AS listed" if is_listed else rows
    count = _count(engine, shape_queries.count(written, gone))
    if not count:
        return dict(views), []
    texts = _texts(engine, written, gone)
    engine.view(f"present_{views[name]}", shape_queries.without(rows, gone))
    found = {**views, name: f"present_{views[name]}"}
    if "memberships" in views and table.shape in WHOSE:
        members = views["memberships"]
        engine.view(f"present_{members}", shape_queries.present(engine.name(members), rows, gone, WHOSE[table.shape]))
        found["memberships"] = f"present_{members}"
    who = "a team" if is_listed or table.shape == "scores" else "somebody"
    if takes_blanks:
        says = f"{'has' if count == 1 else 'have'} no number{_saying(texts)}, so {who} was not there"
    else:
        says = f"{'says' if count == 1 else 'say'} that {who} was not there{_saying(texts)}"
    if table.shape == "pairs":
        told = (
            "the pair has no outcome there, and who was in which team is as memberships say"
            if "memberships" in views
            else "the two are taken not to have met there"
        )
    else:
        told = "it counts as none of that round" if who == "a team" else "they count as nobody's teammate in that round"
    listed = ",".join(dict.fromkeys([*options["blank_words"], *sorted(text.lower() for text in texts)]))
    undo = said(blanks="skip") if takes_blanks else said(blank_words=listed)
    lead = f"{counted(count, 'row')} of {table.source.shown}"
    return found, [f"{lead} {says}: {told}; if they were there and only the number is missing, say {undo}"]


def _words(engine: Engine, name: str, options: Options) -> str | None:
    """Return the view of the words that an option lists; None where it lists none."""
    if not options[name]:
        return None
    engine.lookup(name, pa.table({"word": [word.lower() for word in options[name]]}))
    return engine.name(name)


def _filled(engine: Engine, table: Table, view: str, options: Options, *, is_listed: bool) -> tuple[str, list[str]]:
    """Return a view without empty rows, and what to tell of rows without a utility or a choice.

    `is_listed` if several rows of the view may be one row of the table.
    """
    columns = schema.SHAPES[table.shape]

    def written() -> str:
        return f"({shape_queries.as_written(engine.name(view))}) AS listed" if is_listed else engine.name(view)

    texts: dict[str, int] = {}
    words = _words(engine, "blank_words", options)
    if words is not None and "utility" in columns:
        texts = _texts(engine, written(), shape_queries.says_one_of(words))
        engine.view(f"blanked_{view}", shape_queries.blanked(engine.name(view), table.kept, words))
        view = f"blanked_{view}"
    blank = {"utility": shape_queries.NO_UTILITY, "choice": shape_queries.NO_CHOICE}.get(columns[-1])
    # An empty row lacks each of its cells, so where nothing lacks this one there is none.
    lacks = _count(engine, shape_queries.count(written(), blank or shape_queries.is_blank(columns[0])))
    if not lacks:
        return view, []
    empty = shape_queries.is_empty(columns)
    if _count(engine, shape_queries.count(engine.name(view), empty)):
        engine.view(f"full_{view}", shape_queries.without(engine.name(view), empty))
        view = f"full_{view}"
    blanks = 0 if blank is None else _count(engine, shape_queries.count(written(), blank))
    if not blanks or options["blanks"] == "refuse":
        return view, []
    if "utility" in columns:
        texts |= _texts(engine, written(), shape_queries.NO_UTILITY)
    what = "number" if columns[-1] == "utility" else columns[-1]
    lack = f"{counted(blanks, 'row')} of {table.source.shown} {'has' if blanks == 1 else 'have'} no {what}"
    skipped = f"{'was' if blanks == 1 else 'were'} skipped"
    advice = f"; {said(blanks='refuse')} refuses such rows"
    if table.shape in {"records", "totals"}:
        who = "the person still counts as a teammate" if blanks == 1 else "these people still count as teammates"
        advice = f": {who} of the others there; if they were not there, say {said(blanks='absent')}"
    return view, [f"{lack}{_saying(texts)} and {skipped}{advice}"]


ABOUT = {
    "pairs": ("sample", "coalition", "agent", "partner"),
    "records": ("sample", "agent", "coalition"),
    "totals": ("sample", "agent"),
    "scores": ("sample", "coalition"),
    "choices": ("sample", "coalition", "agent"),
    "memberships": ("sample", "agent", "coalition"),
}
"""What a row of each shape is about, which no other row should be."""


def _once(engine: Engine, table: Table, view: str, options: Options, *, is_listed: bool) -> tuple[str, list[str]]:
    """Return a view with one of several rows about the same, and how many there were; `is_listed` as in `_filled`."""
    which, shown = options["duplicates"], table.source.shown
    if which == "refuse":
        return view, []
    if is_listed:
        raise InputError(
            f"{said(duplicates=which)} is about rows of pairs and people; {shown} lists teams, of which two may have "
            "one name: delete rows that are there twice"
        )
    if which != "mean" and not engine.keeps_order:
        raise InputError(f"{said(duplicates=which)}: Spark keeps no order of rows; say {said(duplicates='mean')}")
    if which == "mean" and table.shape == "choices":
        raise InputError(f"{said(duplicates=which)}: choices have no mean; say {said(duplicates='last')}, or first")
    keys = ABOUT[table.shape]
    value = next((one for one in schema.SHAPES[table.shape] if one in {"utility", "choice"}), None)
    (found,) = engine.rows(shape_queries.doubles(engine.name(view), keys, value))
    if not (count := int(found["n_rows"])):
        return view, []
    # What a sum may be depends on how many it is over, which is looked at later.
    is_on_scale = table.shape == "pairs" or "average" in options["totals"]
    limits = None
    if which == "mean" and value == "utility" and is_on_scale:
        limits = fixed_range(options["utility_range"], options["neutral"], options["sigma"])
    query = shape_queries.one_of_doubles(engine.name(view), table.kept, keys, value, which, limits)
    engine.view(f"once_{view}", query, stored=True)
    repeats = "repeats what another is about and counts" if count == 1 else "repeat what others are about and count"
    different = int(found["different"])
    taken = (
        f"the {which} is taken where they differ ({counted(different, 'case')})" if different else "they say the same"
    )
    return f"once_{view}", [f"{counted(count, 'row')} of {shown} {repeats} once: {taken}"]


def _texts(engine: Engine, view: str, condition: str) -> dict[str, int]:
    """Return how often each text stands where a utility should in rows that meet a condition."""
    return {row["text"]: int(row["times"]) for row in engine.rows(queries.texts(view, condition))}


def _saying(texts: Mapping[str, int]) -> str:
    """Return what stands in cells that count as blank, and how often.

    >>> _saying({"absent": 4, "-": 1}), _saying({"n/a": 2}), _saying({})
    (" (4 of them say 'absent', 1 '-')", " (2 of them say 'n/a')", '')
    """
    if not texts:
        return ""
    (first, times), *others = sorted(texts.items(), key=lambda item: (-item[1], item[0]))
    listed = [f"{times:,} of them {'says' if times == 1 else 'say'} {first!r}"]
    listed += [f"{count:,} {text!r}" for text, count in others]
    return f" ({', '.join(listed)})"


def _pairs(engine: Engine, table: Table, view: str, options: Options) -> list[str]:
    met = engine.name(view)
    engine.view("met_pairs", queries.columns_of(met, ("*",)))
    skip = options["blanks"] != "refuse"
    known = shape_queries.without(met, shape_queries.NO_UTILITY) if skip else queries.columns_of(met, ("*",))
    engine.view("pairs", known)
    del table
    return []


def _totals(engine: Engine, table: Table, view: str, options: Options) -> list[str]:
    rows, totals = engine.name(view), options["totals"]
    skip = options["blanks"] != "refuse"
    known = shape_queries.without(rows, shape_queries.NO_UTILITY) if skip else queries.columns_of(rows, ("*",))
    del table
    if totals == "sum":
        engine.view("totals", known)
        return []
    engine.view(STATED, known)
    sums = queries.as_sums(engine.name(STATED), engine.name("memberships"), average=totals == "average")
    engine.view("totals", sums)
    return [AVERAGES[totals]]


def _records(engine: Engine, table: Table, view: str, options: Options) -> list[str]:
    rows, totals = engine.name(view), options["totals"]
    engine.view("memberships", shape_queries.memberships(rows))
    members = engine.name("memberships")
    averages, skip = totals != "sum", options["blanks"] != "refuse"
    engine.view("totals", shape_queries.totals(rows, members, averages=averages, skip=skip))
    notes = [AVERAGES[totals]] if averages else []
    solo = _count(engine, shape_queries.alone(rows, members))
    if solo:
        notes.append(
            f"{counted(solo, 'row')} of {table.source.shown} {'is' if solo == 1 else 'are'} about somebody alone in "
            f"the team and {'was' if solo == 1 else 'were'} left out: there is no pair to learn about"
        )
    repeated = engine.table(shape_queries.repeated_totals(rows))
    several, same = (int(repeated[name][0].as_py()) for name in ("several", "same"))
    if several and several == same:
        notes.append(SAME_TOTALS.format(count=counted(several, "time somebody has", "times somebody has")))
    return notes


def _with_members(
    engine: Engine, table: Table, views: Mapping[str, str], signs: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Return a view with a row for each member that a cell lists, and what to tell of cells that may list more."""
    name, pattern = views[table.source.table], separator_pattern(signs)
    told, cells = [], engine.listed("members", pattern)
    engine.view(f"listed_{name}", shape_queries.with_members(engine.name(name), cells))
    columns = [one for one in schema.SHAPES[table.shape] if table.columns.get(one) not in schema.NO_COLUMN]
    if len(columns) < len(schema.SHAPES[table.shape]):  # rows have numbers, so also those in which nothing is written
        blank = shape_queries.first_rows(engine.name(name), shape_queries.is_empty(columns))
        told += _left_out(table, engine.rows(blank), "is blank", "are blank")
    empty = shape_queries.without_members(engine.name(name), engine.name(f"listed_{name}"), columns)
    told += _left_out(table, engine.rows(empty), "lists no members", "list no members")
    if nobody := engine.rows(shape_queries.names_for_nobody(engine.name(name), cells)):
        count, words = sum(int(row["times"]) for row in nobody), [repr(row["word"]) for row in nobody]
        cell = f"{counted(count, 'place')} for a member of {table.source.shown} {'says' if count == 1 else 'say'}"
        unsure = [row["word"].capitalize() for row in nobody if row["word"].lower() in shape_queries.NOBODY_OR_A_NAME]
        undo = f"; if that is somebody's name, write it like one: {unsure[0]}" if unsure else ""
        told.append(f"{cell} {some(words, names.LISTED)}, which is taken for nobody{undo}")
    others = [sign for sign in SEPARATORS if sign not in signs]
    found = engine.rows(shape_queries.some_names(engine.name(f"listed_{name}"), separator_pattern(others)))
    return {table.source.table: f"listed_{name}"}, [*told, *_unsplit(engine, f"listed_{name}", found, signs)]


def _left_out(table: Table, rows: Sequence[Mapping[str, Any]], one: str, several: str) -> list[str]:
    """Return what to tell of rows that were left out, by what they are."""
    if not rows:
        return []
    is_one = (count := int(rows[0]["times"])) == 1
    what = f"{one if is_one else several} ({_where(table.source, rows)}) and {'was' if is_one else 'were'} left out"
    return [f"{counted(count, 'row')} of {table.source.shown} {what}"]


def _unsplit(engine: Engine, view: str, found: Sequence[Mapping[str, Any]], signs: Sequence[str]) -> list[str]:
    """Return what to tell of names that may be several: of teams of one, and of those whose parts are people too."""
    if not found:
        return []
    agents = engine.table(queries.distinct_names([(engine.name(view), "agent")]))["name"].to_pylist()
    people = set(map(plain, agents))
    doubtful, missing = [], set[str]()
    for row in found:
        inside = [sign for sign in SEPARATORS if len(names_listed(row["agent"], [sign])) > 1]
        if row["alone"] or all(plain(part) in people for part in names_listed(row["agent"], inside)):
            doubtful.append(row["agent"])
            missing |= set(inside)
    if not doubtful:
        return []
    shown = some(map(repr, doubtful), names.LISTED)
    taken = "is taken for one person" if len(doubtful) == 1 else "are taken for one person each"
    wanted = worded_separators([*signs, *(sign for sign in SEPARATORS if sign in missing)])
    told = f"{shown} {taken}; if there are several, say what stands between names: {said(separators=wanted)}"
    return [told]


def _team_records(engine: Engine, table: Table, view: str, options: Options) -> list[str]:
    rows = engine.name(view)
    engine.view("memberships", shape_queries.memberships(rows))
    engine.view("team_scores", shape_queries.one_score(rows))
    return _scores(engine, table, "team_scores", options)


def _scores(engine: Engine, table: Table, view: str, options: Options) -> list[str]:
    rows, members = engine.name(view), engine.name("memberships")
    engine.view("scores", queries.columns_of(rows, ("*",)))
    averages = options["totals"] == "team-score-averages"
    engine.view("totals", shape_queries.scores(rows, members, averages=averages))
    notes = [SCORES[options["totals"]]]
    solo = _count(engine, shape_queries.alone(rows, members))
    if solo:
        notes.append(
            f"{counted(solo, 'score')} of {table.source.shown} {'is' if solo == 1 else 'are'} of a team of one and "
            f"{'was' if solo == 1 else 'were'} left out: there is no pair to learn about"
        )
    return notes


def _choices(engine: Engine, table: Table, view: str, options: Options) -> list[str]:
    if options["utility_range"] is None:
        raise InputError(
            f"{table.source.shown}: choices are worth the ends of a range; declare {said('utility_range')}"
        )
    if options["symmetrize"]:
        raise InputError(
            f"{table.source.shown}: two who chose alike get the same, there is nothing to average; leave out "
            f"{said(symmetrize=True)}"
        )
    if options["blanks"] != "refuse":
        engine.view("made_choices", shape_queries.without(engine.name(view), shape_queries.NO_CHOICE))
        view = "made_choices"
    rows, limits = engine.name(view), options["utility_range"]
    engine.view("memberships", shape_queries.memberships(rows))
    engine.view("alike", shape_queries.alike(rows, limits, symmetric=options["symmetric"]), stored=True)
    engine.view("pairs", shape_queries.placed(engine.name("alike")))
    engine.view("met_pairs", queries.columns_of(engine.name("pairs"), ("*",)))
    return [CHOSEN.format(low=number(limits[0]), high=number(limits[1]))]
