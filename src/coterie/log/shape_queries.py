"""The SQL that turns tables as people keep them into the tables of a log, see `coterie.log.shapes`.

As in `coterie.log.queries`, texts hold names of views and columns and numbers, never values of a log.
"""

from collections.abc import Mapping, Sequence

from coterie.log import queries

PLACE = ("file_name", "row_index")

SAY_NOTHING = (
    "n/a", "na", "n.a.", "#n/a", "-", "--", "\u2013", "\u2014", "?", "none", "nil", "missing", "no rating", "not rated",
    "k.a.", "k. a.", "keine angabe", "keine",
)  # fmt: skip
"""What people write in a cell for nothing, in lower case: there is no rating, whoever it is about was there."""

NOT_THERE = (
    "absent", "sick", "ill", "excused", "away", "on leave", "sick leave", "holiday", "on holiday", "vacation",
    "no show", "no-show", "did not attend", "not there", "not present",
    "krank", "abwesend", "entschuldigt", "fehlt", "fehlte", "gefehlt", "nicht da", "nicht anwesend", "urlaub",
    "absente", "malade", "excus\u00e9", "excus\u00e9e", "cong\u00e9", "en cong\u00e9", "ausente", "enfermo", "enferma",
)  # fmt: skip
"""What people write in a cell for somebody who was not there, in lower case."""

NOBODY = (
    "-", "--", "---", "\u2013", "\u2014", ".", "/", "?", "n/a", "n.a.", "#n/a", "nobody", "no one", "no-one",
    "vacant", "empty", "tbd", "niemand", "keiner", "keine", "k.a.", "personne", "ninguno", "nessuno",
)  # fmt: skip
"""What people write where a member would be named and there is none, in lower case."""

NOBODY_OR_A_NAME = ("na", "none", "leer", "nadie")
"""The same, but somebody may be called so: who is written like a name, as in None, is a person."""

SUMMARIES = (
    "average", "avg", "avg.", "mean", "median", "total", "totals", "sum", "overall", "grand total", "subtotal",
    "sub-total", "durchschnitt", "mittelwert", "summe", "gesamt", "insgesamt", "gesamtsumme", "zwischensumme",
    "moyenne", "somme", "promedio", "suma", "\u00f8", "\u03c3",
)  # fmt: skip
"""What rows are called that sum others up, in lower case."""

_NOTHING = ", ".join(f"'{text}'" for text in (*SAY_NOTHING, *NOT_THERE))
_AWAY = ", ".join(f"'{text}'" for text in NOT_THERE)
_NONE = ", ".join(f"'{text}'" for text in (*NOBODY, *NOBODY_OR_A_NAME))
_PEOPLE = ", ".join(f"'{text.capitalize()}'" for text in NOBODY_OR_A_NAME)
_IS_NOBODY = f"(lower(trim(agent)) IN ({_NONE}) AND trim(agent) NOT IN ({_PEOPLE}))"
NO_UTILITY = f"(utility IS NULL AND coalesce(lower(trim(written)), '') IN ('', {_NOTHING}))"
WAS_NOT_THERE = f"(utility IS NULL AND coalesce(lower(trim(written)), '') IN ({_AWAY}))"


def is_blank(column: str) -> str:
    """Return whether a cell of text is empty."""
    return f"(coalesce(trim({column}), '') = '')"


NO_CHOICE = is_blank("choice")


def respelled(view: str, columns: Sequence[str], lookups: Mapping[str, str]) -> str:
    """Return a view with the names in some columns replaced; `lookups` says for these where name and clean are."""
    chosen = [f"coalesce(n_{one}.clean, r.{one}) AS {one}" if one in lookups else f"r.{one}" for one in columns]
    joined = [f"LEFT JOIN {lookup} n_{one} ON r.{one} = n_{one}.name" for one, lookup in lookups.items()]
    return f"SELECT {', '.join(chosen)} FROM {view} r {' '.join(joined)}"


def name_counts(columns: Sequence[tuple[str, str]]) -> str:
    """Return how often each name is written in some columns, given as (view, column)."""
    parts = " UNION ALL ".join(f"SELECT {column} AS name FROM {view}" for view, column in columns)
    return f"SELECT name, count(*) AS times FROM ({parts}) AS written WHERE coalesce(name, '') <> '' GROUP BY name"


def names_like(columns: Sequence[tuple[str, str]], pattern: str) -> str:
    """Return the same of names that match a pattern."""
    return f"SELECT name, times FROM ({name_counts(columns)}) AS counts WHERE regexp_like(name, '{pattern}')"


def is_one_of(column: str, names: str) -> str:
    """Return whether a column holds one of the names of a view."""
    return f"{column} IN (SELECT name FROM {names})"


def count(view: str, condition: str) -> str:
    """Return how many rows meet a condition."""
    return f"SELECT count(*) AS n FROM {view} WHERE {condition}"


def without(view: str, condition: str) -> str:
    """Return the rows that do not meet a condition."""
    return f"SELECT * FROM {view} WHERE NOT {condition}"


def is_empty(columns: Sequence[str]) -> str:
    """Return whether every cell of a row is empty."""
    cells = [NO_UTILITY if one == "utility" else is_blank(one) for one in columns]
    return f"({' AND '.join(cells)})"


def numbered(view: str, columns: Sequence[str]) -> str:
    """Return a view with columns that hold the number of the row, the first below the header being 1."""
    number = "CAST(row_index + 1 AS STRING)"
    return f"SELECT *, {', '.join(f'{number} AS {one}' for one in columns)} FROM {view}"


def first_rows(view: str, condition: str, columns: Sequence[str] = ()) -> str:
    """Return where the first rows are that meet a condition, what they hold, and how many there are."""
    return (
        f"SELECT {', '.join((*columns, 'file_name', 'row_index'))}, (count(*) OVER ()) AS times FROM {view} "
        f"WHERE {condition} ORDER BY file_name, row_index LIMIT {queries.MOST_ROWS}"
    )


def is_summary(columns: Sequence[str], last: int | None = None) -> str:
    """Return whether a row sums others up: it lacks a name and says so, or is called so from the row `last` on."""
    at_end = "" if last is None else f" OR ({_is_called_so(columns)} AND row_index >= {last})"
    return f"({_lacks_and_says_so(columns)}{at_end})"


def where_summaries(view: str, columns: Sequence[str]) -> str:
    """Return how many rows sum others up and lack a name, the first called so that lacks none, and the last of all."""
    lacking = f"count(CASE WHEN {_lacks_and_says_so(columns)} THEN 1 END)"
    has_all = " AND ".join(f"NOT {is_blank(one)}" for one in columns)
    first = f"min(CASE WHEN {_is_called_so(columns)} AND {has_all} THEN row_index END)"
    return f"SELECT {lacking} AS lacking, {first} AS first, max(row_index) AS last FROM {view}"


def _lacks_and_says_so(columns: Sequence[str]) -> str:
    """Return whether a row lacks a name, and another begins like what rows are called that sum others up."""
    begins = "|".join(word.replace(".", "[.]") for word in SUMMARIES)
    starts = [f"coalesce(regexp_like(lower(trim({one})), '^({begins})([ :]|$)'), false)" for one in columns]
    return f"(({' OR '.join(map(is_blank, columns))}) AND ({' OR '.join(starts)}))"


def _is_called_so(columns: Sequence[str]) -> str:
    """Return whether a name of a row is what rows are called that sum others up."""
    exact = ", ".join(f"'{word}{end}'" for word in SUMMARIES for end in ("", ":"))
    return f"({' OR '.join(f'coalesce(lower(trim({one})) IN ({exact}), false)' for one in columns)})"


def without_members(view: str, listed: str, written: Sequence[str]) -> str:
    """Return the first rows that list nobody, and how many there are; `listed` has a row for each of their members.

    Rows in which all columns that are `written` are empty are none.
    """
    there = f"SELECT 1 FROM {listed} l WHERE l.row_index = v.row_index AND l.file_name = v.file_name"
    return first_rows(f"{view} v", f"NOT EXISTS ({there}) AND NOT {is_empty(written)}")


def names_for_nobody(view: str, cells: str) -> str:
    """Return the words for nobody among the names that cells list, and how often each is there."""
    listed = f"SELECT {cells} AS agent FROM {view}"
    return (
        f"SELECT trim(agent) AS word, count(*) AS times FROM ({listed}) AS listed "
        f"WHERE {_IS_NOBODY} GROUP BY trim(agent) ORDER BY times DESC, word"
    )


def as_written(view: str) -> str:
    """Return one row for each row of a table whose members have a row each."""
    return f"SELECT DISTINCT sample, coalition, utility, written, {', '.join(PLACE)} FROM {view}"


def with_members(view: str, cells: str) -> str:
    """Return a row for each of the agents that a cell lists; `cells` is an expression with a row for each."""
    named = ("sample", "coalition", "utility", "written", *PLACE)
    listed = f"SELECT {', '.join(named)}, {cells} AS agent FROM {view}"
    return (
        f"SELECT {', '.join(named)}, trim(agent) AS agent FROM ({listed}) AS listed WHERE trim(agent) <> '' "
        f"AND NOT {_IS_NOBODY}"
    )


def some_names(members: str, pattern: str) -> str:
    """Return names that hold something that could part them, and whether they were ever alone in a team."""
    sized = f"SELECT sample, coalition, count(*) AS size FROM {members} GROUP BY sample, coalition"
    return (
        f"SELECT m.agent AS agent, max(CASE WHEN z.size = 1 THEN 1 ELSE 0 END) AS alone FROM {members} m "
        f"JOIN ({sized}) z ON m.sample = z.sample AND m.coalition = z.coalition "
        f"WHERE regexp_like(m.agent, '{pattern}') GROUP BY m.agent ORDER BY agent"
    )


def doubles(view: str, keys: Sequence[str], value: str | None) -> str:
    """Return how many rows repeat what another is about, and about how many things rows differ in their `value`."""
    number = _value(value)
    several = (
        f"SELECT count(*) AS n, min({number}) AS smallest, max({number}) AS largest FROM {view} "
        f"WHERE {_has(value)} GROUP BY {', '.join(keys)} HAVING count(*) > 1"
    )
    return (
        "SELECT coalesce(sum(n - 1), 0) AS n_rows, coalesce(sum(CASE WHEN smallest <> largest THEN 1 ELSE 0 END), 0) "
        f"AS different FROM ({several}) AS several"
    )


def one_of_doubles(
    view: str,
    columns: Sequence[str],
    keys: Sequence[str],
    value: str | None,
    which: str,
    limits: tuple[float, float] | None = None,
) -> str:
    """Return one of several rows about the same: the "first" or the "last" with a `value`, or the "mean" of values.

    What should be a number and is none stays, to be refused, and so does what is outside of the `limits`: a mean of 9
    and 1 would be on a scale to 5.
    """
    outside = "(1 = 0)" if limits is None else f"({queries.is_finite()} AND {queries.is_outside(limits)})"
    each, order = f"PARTITION BY {', '.join(keys)}", "DESC" if which == "last" else "ASC"
    lacks = f"CASE WHEN {_has(value)} THEN 0 ELSE 1 END"
    chosen = list(columns)
    if which == "mean" and value == "utility":
        ends = [f"{end}({_value(value)}) OVER ({each})" for end in ("min", "max", "sum", "count")]
        # Of equal numbers the mean is exactly that.
        as_written = f"NOT {queries.is_finite()} OR {outside} OR {ends[0]} = {ends[1]}"
        mean = f"CASE WHEN {as_written} THEN utility ELSE {ends[2]} / {ends[3]} END"
        chosen[chosen.index("utility")] = f"{mean} AS utility"
    wrong = f"(NOT {queries.is_finite()} AND NOT {NO_UTILITY}) OR {outside}" if value == "utility" else "(1 = 0)"
    place = f"row_number() OVER ({each} ORDER BY {lacks}, file_name {order}, row_index {order}) AS place"
    numbered = f"SELECT {', '.join(chosen)}, {place}, CASE WHEN {wrong} THEN 1 ELSE 0 END AS is_wrong FROM {view}"
    return f"SELECT {', '.join(columns)} FROM ({numbered}) AS numbered WHERE place = 1 OR is_wrong = 1"


def _has(value: str | None) -> str:
    """Return whether a row has a value, if rows have any."""
    return {"utility": queries.is_finite(), "choice": f"NOT {NO_CHOICE}"}.get(value or "", "(1 = 1)")


def _value(value: str | None) -> str:
    return f"CASE WHEN {queries.is_finite()} THEN utility END" if value == "utility" else value or "0"


def memberships(view: str) -> str:
    """Return who was where."""
    return f"SELECT sample, agent, coalition, {', '.join(PLACE)} FROM {view}"


def _sized(rows: str, members: str) -> str:
    """Return rows with the number of others in the coalition."""
    return (
        f"SELECT r.*, z.size - 1 AS others FROM {rows} r JOIN ({queries.sizes(members)}) z "
        "ON r.sample = z.sample AND r.coalition = z.coalition"
    )


def alone(rows: str, members: str) -> str:
    """Return how many rows with a utility are about an agent who had no company."""
    return f"SELECT count(*) AS n FROM ({_sized(rows, members)}) AS sized WHERE others = 0 AND NOT {NO_UTILITY}"


def totals(rows: str, members: str, *, averages: bool, skip: bool) -> str:
    """Return each agent's total in a sample: the sum over her coalitions of what she got there.

    A row may be an average over teammates, and is then the sum that it is the average of; see `queries.as_sums` for
    `stated`, `times` and `most`. Coalitions without company have no pairs. Where what she got in one of them is not
    known, neither is her total; `skip` leaves it out.
    """
    others = "CAST(others AS DOUBLE)"
    bad = "utility IS NULL"
    known = f" HAVING sum(CASE WHEN {NO_UTILITY} THEN 1 ELSE 0 END) = 0" if skip else ""
    return (
        f"SELECT sample, agent, CASE WHEN count(*) = count(utility) THEN "
        f"sum(utility{f' * {others}' if averages else ''}) END AS utility, "
        f"sum(utility * {others}) / sum({others}) AS stated, sum({others}) AS times, sum({others}) AS most, "
        f"min(CASE WHEN {bad} THEN written END) AS written, min(file_name) AS file_name, "
        f"coalesce(min(CASE WHEN {bad} THEN row_index END), min(row_index)) AS row_index "
        f"FROM ({_sized(rows, members)}) AS sized WHERE others > 0 AND coalesce(agent, '') <> '' "
        f"GROUP BY sample, agent{known}"
    )


def one_score(rows: str) -> str:
    """Return the score of each team that is written in the rows of all its members; `smallest` differs if they do."""
    bad = f"utility IS NULL AND NOT {NO_UTILITY}"
    return (
        "SELECT sample, coalition, CASE WHEN sum(CASE WHEN " + bad + " THEN 1 ELSE 0 END) = 0 THEN max(utility) END "
        "AS utility, min(utility) AS smallest, min(CASE WHEN " + bad + " THEN written END) AS written, "
        "min(file_name) AS file_name, "
        f"coalesce(min(CASE WHEN {bad} THEN row_index END), min(row_index)) AS row_index "
        f"FROM {rows} GROUP BY sample, coalition"
    )


def scores(rows: str, members: str, *, averages: bool) -> str:
    """Return the sum over its pairs that the score of each team stands for, where a team has pairs.

    `times` and `stated` are as in `queries.as_sums`, `terms` is the number of pairs.
    """
    pairs = "CAST((others + 1) * others / 2 AS DOUBLE)"
    times = pairs if averages else "CAST(1 AS DOUBLE)"
    return (
        f"SELECT sample, coalition, utility * {times} AS utility, utility AS stated, {times} AS times, "
        f"{pairs} AS terms, written, file_name, row_index FROM ({_sized(rows, members)}) AS sized "
        f"WHERE others > 0 AND NOT {NO_UTILITY}"
    )


def memberless(rows: str, members: str) -> str:
    """Return the first scores of teams of which no member is known, and how many there are."""
    return (
        "SELECT r.sample AS sample, r.coalition AS coalition, r.file_name AS file_name, r.row_index AS row_index, "
        f"(count(*) OVER ()) AS times FROM {rows} r LEFT JOIN ({queries.sizes(members)}) z ON r.sample = z.sample "
        "AND r.coalition = z.coalition WHERE z.size IS NULL AND r.sample <> '' AND r.coalition <> '' "
        f"ORDER BY file_name, row_index LIMIT {queries.MOST_ROWS}"
    )


def disagreeing(rows: str) -> str:
    """Return the first teams whose members have different scores, and how many there are."""
    return (
        "SELECT sample, coalition, smallest, utility, file_name, row_index, (count(*) OVER ()) AS times "
        f"FROM {rows} WHERE smallest <> utility ORDER BY file_name, row_index LIMIT {queries.MOST_ROWS}"
    )


def impossible_scores(view: str, limits: tuple[float, float]) -> str:
    """Return the first scores that their pairs cannot add up to, and how many there are."""
    low, high = limits
    slack = (high - low) * queries.SLACK
    return (
        f"SELECT stated, times, terms, file_name, row_index, (count(*) OVER ()) AS count FROM {view} "
        f"WHERE {queries.is_finite()} AND NOT utility BETWEEN terms * {queries.double(low - slack)} "
        f"AND terms * {queries.double(high + slack)} ORDER BY file_name, row_index LIMIT {queries.MOST_ROWS}"
    )


def repeated_totals(rows: str) -> str:
    """Return how many agents have several rows in a sample, and how many of these have the same utility in all."""
    return (
        "SELECT count(*) AS several, "
        "coalesce(sum(CASE WHEN smallest = largest AND smallest <> 0 THEN 1 ELSE 0 END), 0) AS same FROM "
        f"(SELECT min(utility) AS smallest, max(utility) AS largest FROM {rows} "
        "GROUP BY sample, agent HAVING count(*) > 1) AS repeated"
    )


def alike(choices: str, limits: tuple[float, float], *, symmetric: bool) -> str:
    """Return a row for each pair of agents who chose in the same coalition: the top of the range, or its bottom.

    One row per unordered pair, or two, one for each order.
    """
    low, high = (queries.double(end) for end in limits)
    return (
        "SELECT a.sample AS sample, a.coalition AS coalition, a.agent AS agent, b.agent AS partner, "
        f"CASE WHEN trim(a.choice) = trim(b.choice) THEN {high} ELSE {low} END AS utility FROM {choices} a JOIN "
        f"{choices} b ON a.sample = b.sample AND a.coalition = b.coalition "
        f"AND a.agent {'<' if symmetric else '<>'} b.agent"
    )


def placed(pairs: str) -> str:
    """Return pairs that no row of a file stands for, with the columns that tell of one."""
    return (
        "SELECT sample, coalition, agent, partner, utility, CAST(NULL AS VARCHAR(1)) AS written, '' AS file_name, "
        f"CAST(0 AS BIGINT) AS row_index FROM {pairs}"
    )


def extent(pairs: str) -> str:
    """Return how many pairs there are, and their smallest and largest utility."""
    return f"SELECT count(*) AS n_rows, min(utility) AS smallest, max(utility) AS largest FROM {pairs}"


def without_choice(view: str) -> str:
    """Return the first rows without a choice that are not empty, and how many there are."""
    return first_rows(view, f"{NO_CHOICE} AND NOT {is_empty(('sample', 'coalition', 'agent', 'choice'))}")


def says_one_of(words: str) -> str:
    """Return whether one of the words in a view stands where a utility should."""
    return f"(utility IS NULL AND coalesce(lower(trim(written)), '') IN (SELECT word FROM {words}))"


def blanked(view: str, columns: Sequence[str], words: str) -> str:
    """Return a view in which nothing is written where one of the words in another view was."""
    kept = [
        f"CASE WHEN {says_one_of(words)} THEN NULL ELSE written END AS written" if one == "written" else one
        for one in columns
    ]
    return f"SELECT {', '.join(kept)} FROM {view}"


def was_not_there(absent: str | None, blank: str | None) -> str:
    """Return whether a row says that somebody was not there, by the usual words and those in the view `absent`.

    A word in the view `blank` says no more than that there is no utility.
    """
    gone = WAS_NOT_THERE if absent is None else f"({WAS_NOT_THERE} OR {says_one_of(absent)})"
    return gone if blank is None else f"({gone} AND NOT {says_one_of(blank)})"


def present(members: str, rows: str, gone: str, columns: Sequence[str]) -> str:
    """Return members but those of whom rows that meet the condition `gone` say that they were not there.

    Rows are about members with the same values in some columns.
    """
    same = " AND ".join(f"r.{one} = m.{one}" for one in columns)
    absent = f"SELECT DISTINCT {', '.join(columns)} FROM {rows} WHERE {gone}"
    return f"SELECT m.* FROM {members} m LEFT JOIN ({absent}) r ON {same} WHERE r.{columns[0]} IS NULL"


def values(view: str, column: str, most: int) -> str:
    """Return how often each value of a column occurs, the most frequent ones first."""
    return (
        f"SELECT {column} AS value, count(*) AS times FROM {view} WHERE NOT {is_blank(column)} "
        f"GROUP BY {column} ORDER BY times DESC, value LIMIT {most}"
    )


def told_apart(view: str, name: str, other: str) -> str:
    """Return a value of a column beside which another one has several, and two of these."""
    one = f"lower(trim({other}))"
    return (
        f"SELECT min(trim({name})) AS name, min(trim({other})) AS one, max(trim({other})) AS other FROM {view} "
        f"WHERE NOT {is_blank(name)} AND NOT {is_blank(other)} GROUP BY lower(trim({name})) "
        f"HAVING min({one}) <> max({one}) ORDER BY name LIMIT 1"
    )


def counted(query: str) -> str:
    """Return how many rows a query has."""
    return f"SELECT count(*) AS n FROM ({query}) AS found"


def both_ways(pairs: str) -> str:
    """Return how many pairs met, how many of these have rows in both orders, and how many of these differ.

    Spellings that differ in case or spaces around them are the same person.
    """
    agent, partner = "lower(trim(agent))", "lower(trim(partner))"
    return (
        "SELECT count(*) AS pairs, coalesce(sum(CASE WHEN orders > 1 THEN 1 ELSE 0 END), 0) AS both_orders, "
        "coalesce(sum(CASE WHEN orders > 1 AND smallest <> largest THEN 1 ELSE 0 END), 0) AS different FROM (SELECT "
        f"count(DISTINCT {agent}) AS orders, min(utility) AS smallest, max(utility) AS largest FROM {pairs} "
        f"WHERE {agent} <> {partner} AND utility IS NOT NULL GROUP BY sample, coalition, least({agent}, {partner}), "
        f"greatest({agent}, {partner})) AS listed"
    )


def labels(view: str) -> str:
    """Return in how many samples each coalition occurs."""
    return f"SELECT coalition, count(DISTINCT sample) AS samples FROM {view} GROUP BY coalition"


def per_teammate(rows: str, members: str) -> str:
    """Return how often each finite utility occurs at each number of teammates, of those who had any."""
    return (
        f"SELECT others, utility, count(*) AS times FROM ({_sized(rows, members)}) AS sized "
        f"WHERE others > 0 AND {queries.is_finite()} GROUP BY others, utility"
    )


def shared_scores(rows: str) -> str:
    """Return how many teams of several have more than one utility, and how many have one only."""
    return (
        "SELECT coalesce(sum(CASE WHEN values_seen = 1 THEN 1 ELSE 0 END), 0) AS same, "
        "coalesce(sum(CASE WHEN values_seen = 1 THEN n ELSE 0 END), 0) AS same_rows, "
        "coalesce(sum(CASE WHEN values_seen > 1 THEN 1 ELSE 0 END), 0) AS different FROM (SELECT "
        f"count(DISTINCT utility) AS values_seen, count(*) AS n FROM {rows} WHERE utility IS NOT NULL "
        "GROUP BY sample, coalition HAVING count(*) > 1) AS teams"
    )


def named(members: str) -> str:
    """Return who was where, without rows in which something of that is not written."""
    blank = " OR ".join(map(is_blank, ("sample", "coalition", "agent")))
    return f"SELECT sample, coalition, agent FROM {members} WHERE NOT ({blank})"


_PERSON = "lower(trim(agent))"


def places(members: str) -> str:
    """Return how many rounds and memberships there are, and how often a person was there in a round."""
    present = f"SELECT count(*) FROM (SELECT DISTINCT sample, {_PERSON} AS who FROM {members}) AS there"
    return f"SELECT count(*) AS members, count(DISTINCT sample) AS rounds, ({present}) AS present FROM {members}"


def how_large(members: str) -> str:
    """Return how many teams there were of each size."""
    return f"SELECT size, count(*) AS teams FROM ({queries.sizes(members)}) AS z GROUP BY size"


def how_many(members: str) -> str:
    """Return in how many rounds there were how many teams of several at once."""
    several = f"SELECT sample, count(*) AS teams FROM ({queries.sizes(members)}) AS z WHERE size > 1 GROUP BY sample"
    return f"SELECT teams, count(*) AS rounds FROM ({several}) AS counted GROUP BY teams"


def who_where(members: str) -> str:
    """Return in how many rounds each person was in a team of several of each name."""
    return (
        f"SELECT {_PERSON} AS agent, coalition, count(*) AS times FROM ({_sized(members, members)}) AS sized "
        f"WHERE others > 0 GROUP BY {_PERSON}, coalition"
    )


def got_where(outcomes: str) -> str:
    """Return of each name how many teams there were, the mean of what these got, and the sum of its squares."""
    teams = (
        f"SELECT sample, coalition, avg(utility) AS got FROM ({outcomes}) AS o WHERE utility IS NOT NULL "
        "GROUP BY sample, coalition"
    )
    return (
        f"SELECT coalition, count(*) AS teams, avg(got) AS mean, sum(got * got) AS squares FROM ({teams}) AS t "
        "GROUP BY coalition"
    )


def pairs_where(pairs: str) -> str:
    """Return how much what pairs get differs between names of teams, and how much within them.

    Sums of squares of means of each pair and name around that of the pair, and of utilities around the former.
    """
    cells = (
        "SELECT agent, partner, count(*) AS n, sum(utility) AS s, sum(utility * utility) AS q "
        f"FROM {pairs} WHERE {queries.is_finite()} GROUP BY agent, partner, coalition"
    )
    grouped = (
        "SELECT sum(n) AS n, count(*) AS cells, sum(q - s * s / n) AS within, "
        f"sum(s * s / n) - sum(s) * sum(s) / sum(n) AS between_names FROM ({cells}) AS c GROUP BY agent, partner"
    )
    return (
        "SELECT coalesce(sum(n), 0) AS n_rows, coalesce(sum(cells), 0) AS n_cells, count(*) AS n_pairs, "
        f"coalesce(sum(within), 0) AS within, coalesce(sum(between_names), 0) AS between_names FROM ({grouped}) AS p"
    )


def times_met(members: str) -> str:
    """Return how many rows `met_where` has at most: somebody and a teammate, round by round."""
    sizes = f"SELECT count(*) AS size FROM {members} GROUP BY sample, coalition"
    return f"SELECT coalesce(sum(size * (size - 1)), 0) AS n FROM ({sizes}) AS teams"


def met_where(outcomes: str, members: str) -> str:
    """Return what everybody got, in a row for each of their teammates."""
    return (
        "SELECT o.sample AS sample, o.coalition AS coalition, o.agent AS agent, m.agent AS partner, o.utility AS "
        f"utility FROM ({outcomes}) AS o JOIN {members} m ON o.sample = m.sample AND o.coalition = m.coalition "
        "WHERE o.agent <> m.agent"
    )


def of_members(outcomes: str, members: str) -> str:
    """Return what teams got, in a row for each of their members."""
    return (
        "SELECT o.sample AS sample, o.coalition AS coalition, m.agent AS agent, o.utility AS utility "
        f"FROM ({outcomes}) AS o JOIN {members} m ON o.sample = m.sample AND o.coalition = m.coalition"
    )


def around_own(pairs: str) -> str:
    """Return what pairs got from what their first person got on average: people who always get much hide less then."""
    apart = "utility - avg(utility) OVER (PARTITION BY agent) AS apart"
    return f"SELECT sample, coalition, agent, partner, {apart} FROM {pairs} WHERE {queries.is_finite()}"


def person_where(pairs: str, column: str) -> str:
    """Return what each person of a column got in each team on average, as if of a pair with nobody."""
    return (
        f"SELECT {column} AS agent, '' AS partner, coalition, avg(apart) AS utility FROM {pairs} "
        f"GROUP BY sample, coalition, {column}"
    )


def per_pair(rows: str, members: str, terms: str) -> str:
    """Return what each row says of a single pair; `terms` is how many it is the sum over, 1 where it is an average."""
    return (
        f"SELECT sample, coalition, agent, utility / CAST({terms} AS DOUBLE) AS utility FROM ({_sized(rows, members)}) "
        "AS sized WHERE others > 0"
    )


def solo(rows: str, members: str, limits: tuple[float, float], names: Sequence[str]) -> str:
    """Return how many numbers are about somebody who was alone in a team, how many lie within limits, and their mean.

    Rows that are called in some columns as if they summed others up are counted apart.
    """
    low, high = (queries.double(end) for end in limits)
    is_summary = _is_called_so(names) if names else "false"
    within = f"NOT {is_summary} AND utility BETWEEN {low} AND {high}"
    return (
        f"SELECT count(CASE WHEN {is_summary} THEN 1 END) AS summaries, "
        f"count(CASE WHEN NOT {is_summary} THEN 1 END) AS every, "
        f"count(CASE WHEN {within} THEN 1 END) AS n, avg(CASE WHEN {within} THEN utility END) AS mean "
        f"FROM ({_sized(rows, members)}) AS sized WHERE others = 0 AND {queries.is_finite()}"
    )


def teams_of_two(rows: str) -> str:
    """Return how many teams of two have a number for each, and in how many of them these are different."""
    teams = (
        f"SELECT min(utility) AS low, max(utility) AS high FROM {rows} WHERE {queries.is_finite()} "
        "GROUP BY sample, coalition HAVING count(*) = 2"
    )
    return f"SELECT count(*) AS teams, count(*) FILTER (WHERE low < high) AS different FROM ({teams}) AS twos"


def namesakes(rows: str) -> str:
    """Return rounds in which rows that list a team each have the same name of a team, the first in each."""
    return (
        f"SELECT sample, min(coalition) AS coalition, max(times) AS times FROM (SELECT sample, coalition, count(*) AS "
        f"times FROM {rows} WHERE utility IS NOT NULL GROUP BY sample, coalition HAVING count(*) > 1) AS twice "
        "GROUP BY sample ORDER BY sample"
    )
