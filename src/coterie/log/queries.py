"""The SQL of reading, checking and inspecting a log: plain group-by and join, the same text for every engine.

Only names of views, numbers and hexadecimal digits are put into the texts, never values from a
log. Everything that must be alike on every engine is spelled out: doubles are cast from their
text, and NaN, which sorts above all numbers in DuckDB and in Spark, fails every `BETWEEN`.
Reductions have theirs in `coterie.statistics.group_by`.
"""

from collections.abc import Mapping, Sequence

SLACK = 1e-9
"""The share of the range by which a utility may lie beyond its ends: computed ones carry rounding."""

MOST_ROWS = 10
"""How many rows with one problem are looked up, to be named."""

WHOLE = "0"
"""The part of every sample of a log that is not split."""

LARGEST_DOUBLE = "CAST('1.7976931348623157e308' AS DOUBLE)"


def double(value: float) -> str:
    """Return a double literal that every engine reads alike."""
    return f"CAST('{value!r}' AS DOUBLE)"


def columns_of(view: str, columns: Sequence[str]) -> str:
    """Return some columns of a view."""
    return f"SELECT {', '.join(columns)} FROM {view}"


def opposite(view: str, columns: Sequence[str]) -> str:
    """Return some columns of a view, utilities with the opposite sign."""
    return columns_of(view, [f"0 - {name} AS {name}" if name == "utility" else name for name in columns])


def inferred_members(pairs: str) -> str:
    """Return the memberships that pairs imply: both agents of a pair were in its coalition.

    A row without an outcome may name nobody, and nobody was nowhere, at no time.
    """
    named = " AND ".join(f"trim(coalesce({name}, '')) <> ''" for name in ("sample", "coalition", "agent"))
    return (
        f"SELECT DISTINCT sample, coalition, agent FROM (SELECT sample, coalition, agent FROM {pairs} "
        f"UNION ALL SELECT sample, coalition, partner AS agent FROM {pairs}) AS both_agents WHERE {named}"
    )


def meetings(members: str, *, symmetric: bool) -> str:
    """Return every two agents who shared a coalition: one row per unordered pair, or two, one for each order."""
    return (
        "SELECT a.sample AS sample, a.coalition AS coalition, a.agent AS agent, b.agent AS partner "
        f"FROM {members} a JOIN {members} b ON a.sample = b.sample AND a.coalition = b.coalition "
        f"AND a.agent {'<' if symmetric else '<>'} b.agent"
    )


def averaged_orders(pairs: str) -> str:
    """Return one row per unordered pair, coalition and sample listed in both orders, with the mean of its utilities.

    What one order says is not their mean, and nothing is known of that.
    """
    return (
        "SELECT sample, coalition, least(agent, partner) AS agent, greatest(agent, partner) AS partner, "
        f"sum(utility) / count(*) AS utility FROM {pairs} GROUP BY {_UNORDERED} HAVING count(*) = 2"
    )


def each_once(pairs: str) -> str:
    """Return one row per unordered pair, coalition and sample whose orders agree, a row in one order as it is."""
    return (
        "SELECT sample, coalition, min(agent) AS agent, max(partner) AS partner, min(utility) AS utility "
        f"FROM {pairs} GROUP BY {_UNORDERED}"
    )


_UNORDERED = "sample, coalition, least(agent, partner), greatest(agent, partner)"


def sizes(members: str) -> str:
    """Return |C_l| for each sample and coalition that anybody joined."""
    return f"SELECT sample, coalition, count(*) AS size FROM {members} GROUP BY sample, coalition"


def terms(members: str) -> str:
    """Return for each sample and agent the number of pair terms that her total adds up."""
    return (
        f"SELECT m.sample AS sample, m.agent AS agent, sum(z.size - 1) AS terms FROM {members} m "
        f"JOIN ({sizes(members)}) z ON m.sample = z.sample AND m.coalition = z.coalition GROUP BY m.sample, m.agent"
    )


def as_sums(totals: str, members: str, *, average: bool) -> str:
    """Return totals that are averages over all pairs, or over the teammates in each coalition, as sums over pairs.

    Every one of the c pair terms of such a row v = x'd + noise has the same coefficient a: 1/c, or 1/(s - 1) where all
    coalitions of the agent have s members. Then v / a = 1'd + noise / a is a row of sums, exactly: its range
    [low, high] c a / a and its shift by the neutral point are those of a sum, and so is its variance proxy
    r^2 c a^2 / a^2 = c r^2, where a sample shares its noise r^2 (c a)^2 / a^2 = c^2 r^2. So whatever holds for sums
    (estimates, ellipsoids, residuals, certificates) holds for these rows.

    `times` is 1 / a, 1 where there are no terms, and `most` differs from it where coalitions have several sizes:
    such rows have no common coefficient, and are refused.
    """
    if average:
        factor = (
            f"SELECT sample, agent, nullif(terms, 0) AS times, nullif(terms, 0) AS most FROM ({terms(members)}) AS c"
        )
    else:
        others = "CASE WHEN z.size > 1 THEN z.size - 1 END"  # alone in a coalition there is nothing to average
        factor = (
            f"SELECT m.sample AS sample, m.agent AS agent, min({others}) AS times, max({others}) AS most "
            f"FROM {members} m JOIN ({sizes(members)}) z ON m.sample = z.sample AND m.coalition = z.coalition "
            "GROUP BY m.sample, m.agent"
        )
    times, most = (f"CAST(coalesce(f.{name}, 1) AS DOUBLE)" for name in ("times", "most"))
    return (
        f"SELECT t.sample AS sample, t.agent AS agent, t.utility * {times} AS utility, t.utility AS stated, "
        f"{times} AS times, {most} AS most, t.written AS written, t.file_name AS file_name, "
        f"t.row_index AS row_index FROM {totals} t LEFT JOIN ({factor}) f ON t.sample = f.sample AND t.agent = f.agent"
    )


def samples(views: Sequence[str]) -> str:
    """Return the names of all samples that occur in some of the views."""
    listed = " UNION ALL ".join(f"SELECT sample FROM {view}" for view in views)
    return f"SELECT DISTINCT sample FROM ({listed}) AS listed"


def marked_members(members: str, last: str) -> str:
    """Return a few words about who was where in each sample whose hash is at most `last`."""
    return _marked(members, last, "count(*), count(DISTINCT coalition), min(agent), max(agent), min(coalition)")


def marked_outcomes(table: str, last: str) -> str:
    """Return a few words about what was observed in each sample whose hash is at most `last`."""
    return _marked(table, last, "count(*), min(utility), max(utility), sum(CASE WHEN utility > 0 THEN 1 ELSE 0 END)")


def _marked(view: str, last: str, words: str) -> str:
    named = ", ".join(f"{word} AS w{place}" for place, word in enumerate(words.split(", ")))
    name = "substr(md5(sample), 1, 16)"
    return f"SELECT {name} AS name, {named} FROM {view} WHERE {name} <= '{last}' GROUP BY {name}"


def first_rows(view: str) -> str:
    """Return where each sample is first seen in each file of a table."""
    return (
        f"SELECT sample, file_name, min(row_index) AS row_index FROM {view} WHERE coalesce(sample, '') <> '' "
        "GROUP BY sample, file_name"
    )


def within(view: str, kept: str) -> str:
    """Return the rows of some samples; rows without a sample stay, to be refused."""
    return f"SELECT * FROM {view} WHERE sample IN (SELECT sample FROM {kept}) OR coalesce(sample, '') = ''"


def sample_counts(views: Sequence[str], which: str) -> str:
    """Return the number of samples in each part."""
    return (
        f"SELECT part, count(*) AS samples FROM (SELECT {which} AS part FROM ({samples(views)}) AS names) AS parts "
        "GROUP BY part"
    )


def attendance(members: str) -> str:
    """Return in how many samples each agent was a member of something."""
    return f"SELECT agent, count(DISTINCT sample) AS samples FROM {members} GROUP BY agent"


def at_once(members: str, alike: str, *, apart: bool = False) -> str:
    """Return which (one, other) of a table are both members of something in some sample, perhaps `apart`."""
    joined = f"FROM {alike} n JOIN {members} a ON a.agent = n.one JOIN {members} b ON b.agent = n.other"
    elsewhere = " AND a.coalition <> b.coalition" if apart else ""
    return f"SELECT DISTINCT n.one AS one, n.other AS other {joined} AND a.sample = b.sample{elsewhere}"


def told_apart(pairs: str, alike: str) -> str:
    """Return which (one, other) of a table rated each other, or were both rated by somebody in one team at once."""
    met = f"SELECT DISTINCT agent, partner FROM {pairs} UNION SELECT DISTINCT partner, agent FROM {pairs}"
    joined = f"FROM {alike} n JOIN ({met}) m ON m.agent = n.one AND m.partner = n.other"
    rated = f"FROM {alike} n JOIN {pairs} a ON a.partner = n.one JOIN {pairs} b ON b.partner = n.other"
    same = " AND ".join(f"a.{column} = b.{column}" for column in ("agent", "coalition", "sample"))
    return (
        f"SELECT n.one AS one, n.other AS other {joined} UNION SELECT n.one AS one, n.other AS other {rated} AND {same}"
    )


def distinct_count(view: str, column: str) -> str:
    """Return how many different values a column has."""
    return f"SELECT count(DISTINCT {column}) AS n FROM {view}"


def last_places(members: str, numbered: str) -> str:
    """Return the place of the last sample in which each agent was a member of something."""
    return (
        f"SELECT m.agent AS agent, max(n.place) AS place FROM {members} AS m JOIN {numbered} AS n "
        "ON m.sample = n.sample GROUP BY m.agent"
    )


def size_counts(members: str, which: str, *, pooled: bool = False) -> str:
    """Return for each part, coalition (unless pooled) and size how many samples had it."""
    keys = "part, size" if pooled else "part, coalition, size"
    return (
        f"SELECT {keys}, count(*) AS samples FROM (SELECT {which} AS part, coalition, size "
        f"FROM ({sizes(members)}) AS z) AS parts GROUP BY {keys}"
    )


def observed_sets(members: str, codes: str, words: int, *, own: bool) -> str:
    """Return the distinct sets of coalitions that agents chose, as bits in `words` integers.

    `codes` is a table (coalition, word, bit) that numbers the coalitions.
    """
    sums = ", ".join(f"sum(CASE WHEN c.word = {w} THEN c.bit ELSE 0 END) AS w{w}" for w in range(words))
    columns = ", ".join(f"CAST(w{w} AS BIGINT) AS w{w}" for w in range(words))
    agent = "agent, " if own else ""
    return (
        f"SELECT DISTINCT {agent}{columns} FROM (SELECT m.sample AS sample, m.agent AS agent, {sums} FROM {members} m "
        f"JOIN {codes} c ON m.coalition = c.coalition GROUP BY m.sample, m.agent) AS chosen"
    )


def most_at_once(members: str, by: str) -> str:
    """Return the largest number of coalitions in one sample (`by` = sample), or of one agent in it."""
    distinct = "count(DISTINCT coalition)" if by == "sample" else "count(*)"
    return f"SELECT max(n) AS most FROM (SELECT {distinct} AS n FROM {members} GROUP BY {by}) AS counted"


def distinct_names(columns: Sequence[tuple[str, str]]) -> str:
    """Return the distinct values of columns, given as (view, column)."""
    parts = " UNION ALL ".join(f"SELECT DISTINCT {column} AS name FROM {view}" for view, column in columns)
    return f"SELECT DISTINCT name FROM ({parts}) AS names"


def count_where(view: str, conditions: Mapping[str, str], *, with_utility: bool) -> str:
    """Return in one pass the number of rows and, for each condition, how many rows meet it."""
    counts = [f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END) AS {name}" for name, condition in conditions.items()]
    if with_utility:
        finite = "CASE WHEN " + is_finite() + " THEN utility END"
        counts += [f"min({finite}) AS smallest", f"max({finite}) AS largest"]
    return f"SELECT count(*) AS n_rows, {', '.join(counts)} FROM {view}"


def is_finite() -> str:
    """Return whether a utility is a finite number."""
    return f"(utility IS NOT NULL AND utility BETWEEN -{LARGEST_DOUBLE} AND {LARGEST_DOUBLE})"


def is_outside(limits: tuple[float, float]) -> str:
    """Return whether a finite utility is outside the limits, by more than rounding explains."""
    low, high = limits
    slack = (high - low) * SLACK
    return f"({is_finite()} AND NOT utility BETWEEN {double(low - slack)} AND {double(high + slack)})"


def hashes(view: str, fingerprints: Sequence[str]) -> str:
    """Return hashes of each row, a column for each kind."""
    named = ", ".join(f"{fingerprint} AS h{place}" for place, fingerprint in enumerate(fingerprints))
    return f"SELECT {named} FROM {view}"


def distinct(hashed: Mapping[str, Sequence[str]]) -> str:
    """Return the number of different hashes, of all kinds that are asked of some views."""
    listed = " UNION ALL ".join(f"SELECT {kind} AS h FROM {view}" for view, kinds in hashed.items() for kind in kinds)
    return f"SELECT count(DISTINCT h) AS hashes FROM ({listed}) AS listed"


def repeated(view: str, keys: Sequence[str]) -> str:
    """Return each row but the first of those that share a key, with where that is."""
    named = ", ".join(keys)
    each = f"OVER (PARTITION BY {named} ORDER BY file_name, row_index)"
    first = ", ".join(f"first_value({column}) {each} AS first_{column}" for column in ("file_name", "row_index"))
    return (
        f"SELECT {named}, file_name, row_index, first_file_name, first_row_index, (count(*) OVER ()) AS repeats FROM ("
        f"SELECT {named}, file_name, row_index, {first}, row_number() {each} AS place "
        f"FROM {view}) AS numbered WHERE place > 1 ORDER BY file_name, row_index LIMIT {MOST_ROWS}"
    )


def orders(pairs: str) -> str:
    """Return how many pairs were listed in both orders, and in how many of them the utilities differ."""
    return (
        "SELECT count(*) AS both_orders, sum(CASE WHEN smallest <> largest THEN 1 ELSE 0 END) AS different FROM ("
        "SELECT min(utility) AS smallest, max(utility) AS largest "
        f"FROM {pairs} GROUP BY {_UNORDERED} HAVING count(*) > 1) AS twice"
    )


def disagreement(pairs: str) -> str:
    """Return the first rows whose pair had another utility in the other order before."""
    return (
        f"SELECT b.file_name AS file_name, b.row_index AS row_index, b.sample AS sample, b.coalition AS coalition, "
        f"b.agent AS agent, b.partner AS partner, b.utility AS utility, a.utility AS other FROM {pairs} a JOIN "
        f"{pairs} b ON a.sample = b.sample AND a.coalition = b.coalition AND a.agent = b.partner "
        "AND a.partner = b.agent WHERE a.utility <> b.utility AND (a.file_name < b.file_name OR (a.file_name = "
        f"b.file_name AND a.row_index < b.row_index)) ORDER BY b.file_name, b.row_index LIMIT {MOST_ROWS}"
    )


def strangers(pairs: str, members: str) -> str:
    """Return the number of pairs of which one or both agents were not members."""
    return (
        f"SELECT count(*) AS strangers FROM {pairs} p "
        f"WHERE {_NAMED} AND (NOT {_is_member(members, 'agent')} OR NOT {_is_member(members, 'partner')})"
    )


def some_strangers(pairs: str, members: str) -> str:
    """Return the first such pairs, and whether it was the partner who was missing."""
    return (
        "SELECT * FROM (SELECT file_name, row_index, sample, coalition, agent, partner, "
        f"{_times_member(members, 'agent')} AS agent_known, {_times_member(members, 'partner')} AS partner_known "
        f"FROM {pairs} p) AS known WHERE {_NAMED} AND (agent_known = 0 OR partner_known = 0) "
        f"ORDER BY file_name, row_index LIMIT {MOST_ROWS}"
    )


_NAMED = "sample <> '' AND coalition <> '' AND agent <> '' AND partner <> ''"  # the others are a problem of their own


def _is_member(members: str, column: str) -> str:
    return f"EXISTS ({_membership('1', members, column)})"


def _times_member(members: str, column: str) -> str:
    return f"({_membership('count(*)', members, column)})"


def _membership(what: str, members: str, column: str) -> str:
    """Return something about the memberships of one agent of a pair p in its coalition."""
    return (
        f"SELECT {what} FROM {members} m WHERE m.sample = p.sample AND m.coalition = p.coalition "
        f"AND m.agent = p.{column}"
    )


def impossible_totals(totals: str, members: str, limits: tuple[float, float], select: str) -> str:
    """Return something about the totals that their pair terms cannot add up to.

    Sums of decimal fractions carry rounding, so a billionth of the range per term is forgiven.
    """
    low, high = limits
    slack = (high - low) * SLACK
    return (
        f"SELECT {select} FROM {totals} t LEFT JOIN ({terms(members)}) c ON t.sample = c.sample AND t.agent = c.agent "
        f"WHERE {is_finite()} AND NOT utility BETWEEN coalesce(c.terms, 0) * {double(low - slack)} "
        f"AND coalesce(c.terms, 0) * {double(high + slack)}"
    )


def lone_pairs(totals: str, members: str, limits: tuple[float, float]) -> str:
    """Return every two agents who met each other and nobody else in a sample, with both of their totals.

    `differ` says whether these are different, by more than rounding explains.
    """
    other = "CASE WHEN m.agent = z.one THEN z.two ELSE z.one END"
    rooms = (
        "SELECT sample, coalition, count(*) AS size, min(agent) AS one, max(agent) AS two "
        f"FROM {members} GROUP BY sample, coalition HAVING count(*) > 1"
    )
    lone = (
        f"SELECT m.sample AS sample, m.agent AS agent, min({other}) AS other, count(*) AS terms FROM {members} m "
        f"JOIN ({rooms}) z ON m.sample = z.sample AND m.coalition = z.coalition GROUP BY m.sample, m.agent "
        f"HAVING max(z.size) = 2 AND min({other}) = max({other})"
    )
    slack = double((limits[1] - limits[0]) * SLACK)
    return (
        "SELECT l.sample AS sample, min(l.agent) AS one, max(l.agent) AS two, "
        f"CASE WHEN max(utility) - min(utility) > max(l.terms) * {slack} THEN 1 ELSE 0 END AS differ "
        f"FROM ({lone}) l JOIN {totals} t ON l.sample = t.sample AND l.agent = t.agent WHERE {is_finite()} "
        "GROUP BY l.sample, least(l.agent, l.other), greatest(l.agent, l.other) HAVING min(l.agent) <> max(l.agent)"
    )


def count_lone_pairs(totals: str, members: str, limits: tuple[float, float]) -> str:
    """Return how many such pairs there are, and how many of them have different totals."""
    found = lone_pairs(totals, members, limits)
    return f"SELECT count(*) AS pairs, coalesce(sum(differ), 0) AS different FROM ({found}) AS lone"


def some_unequal(totals: str, members: str, limits: tuple[float, float]) -> str:
    """Return the first rows of second agents of such pairs whose totals differ."""
    return (
        "SELECT b.file_name AS file_name, b.row_index AS row_index, b.sample AS sample, a.agent AS one, "
        f"b.agent AS two, a.utility AS other, b.utility AS utility FROM ({lone_pairs(totals, members, limits)}) p "
        f"JOIN {totals} a ON p.sample = a.sample AND p.one = a.agent "
        f"JOIN {totals} b ON p.sample = b.sample AND p.two = b.agent WHERE p.differ = 1 "
        f"ORDER BY b.file_name, b.row_index LIMIT {MOST_ROWS}"
    )


def some_rows(view: str, condition: str, columns: Sequence[str]) -> str:
    """Return the first rows of a view that meet a condition."""
    return (
        f"SELECT file_name, row_index, {', '.join(columns)} FROM {view} WHERE {condition} "
        f"ORDER BY file_name, row_index LIMIT {MOST_ROWS}"
    )


def texts(view: str, condition: str) -> str:
    """Return how often each text stands where a utility should, of the most frequent ones, and how many they are."""
    return (
        "SELECT trim(written) AS text, count(*) AS times, (count(*) OVER ()) AS kinds "
        f"FROM {view} WHERE {condition} AND trim(written) <> '' "
        f"GROUP BY trim(written) ORDER BY times DESC, text LIMIT {MOST_ROWS}"
    )


def value_counts(view: str, most: int, order: str = "ASC") -> str:
    """Return how often each finite utility occurs, of so many different ones: the smallest, or the largest (DESC)."""
    return (
        f"SELECT utility, count(*) AS times FROM {view} WHERE {is_finite()} GROUP BY utility ORDER BY utility {order} "
        f"LIMIT {most}"
    )


def finite(view: str) -> str:
    """Return how many utilities are finite numbers."""
    return f"SELECT count(*) AS n FROM {view} WHERE {is_finite()}"


def mean(view: str) -> str:
    """Return the mean utility, for people to look at (not used in any estimate)."""
    return f"SELECT avg(utility) AS mean FROM {view}"


def totals_per_pair(totals: str, members: str, *, of_teams: bool) -> str:
    """Return what a single pair got in each coalition, by totals of agents, who are told, or scores of teams."""
    if of_teams:
        return f"SELECT sample, coalition, utility / terms AS utility FROM {totals}"
    return (
        "SELECT m.sample AS sample, m.coalition AS coalition, m.agent AS agent, "
        f"t.utility / CAST(c.terms AS DOUBLE) AS utility FROM {members} m JOIN {totals} t "
        f"ON m.sample = t.sample AND m.agent = t.agent JOIN ({terms(members)}) c "
        "ON m.sample = c.sample AND m.agent = c.agent WHERE c.terms > 0"
    )


def once_each(scores: str) -> str:
    """Return the score of each team once, in however many rows it is written."""
    return f"SELECT DISTINCT sample, coalition, utility FROM {scores}"


def stated(totals: str) -> str:
    """Return totals that are averages as they are written."""
    return f"SELECT stated AS utility FROM {totals}"


def meetings_in_pairs(pairs: str) -> str:
    """Return how many rows each ordered pair of agents has."""
    return f"SELECT agent, partner, count(*) AS met FROM {pairs} GROUP BY agent, partner"


def meetings_in_members(members: str) -> str:
    """Return how often two agents were in the same coalition, one row per unordered pair."""
    return (
        f"SELECT a.agent AS agent, b.agent AS partner, count(*) AS met FROM {members} a JOIN {members} b "
        "ON a.sample = b.sample AND a.coalition = b.coalition AND a.agent < b.agent GROUP BY a.agent, b.agent"
    )
