"""The SQL of reductions: plain group-by and join, the same text for every engine; see `coterie.log.queries`."""

from coterie.log.queries import WHOLE, sizes, terms
from coterie.statistics.fixed_point import fixed_point


def pair_sums(
    pairs: str,
    which: str,
    limits: tuple[float, float],
    squares: tuple[str, str],
    sized_by: str | None = None,
    *,
    pooled: bool = False,
    clips: bool = True,
    size_type: str = "INTEGER",
) -> str:
    """Return count, sum and sum of squares of q for each part, coalition and pair (and size).

    `squares` says how the engine sums q^2 in two parts, `clips` whether utilities may lie beyond the limits.
    """
    keys = [*([] if pooled else ["coalition"]), "agent", "partner", *(["size"] if sized_by else [])]
    named = ", ".join([*([] if which == WHOLE else ["part"]), *keys])  # a constant would be hashed for every row
    size = f", CAST(z.size AS {size_type}) AS size" if sized_by else ""  # as short as it can be, being hashed
    # Whole numbers go through the join, not the utilities that they are made from: that is quicker by a tenth.
    fixed = f"(SELECT sample, coalition, agent, partner, {fixed_point(limits, clips=clips)} AS q FROM {pairs})"
    return (
        f"SELECT {named}, count(*) AS count, CAST(sum(q) AS BIGINT) AS total, {squares[0]} AS squares, "
        f"{squares[1]} AS square_rests FROM (SELECT {which} AS part, p.coalition AS coalition, agent, partner, "
        f"q{size} FROM {_sized(fixed, sized_by)}) AS fixed GROUP BY {named}"
    )


def _sized(pairs: str, sized_by: str | None) -> str:
    """Return pairs to select from, next to the size of their coalition where it matters."""
    if sized_by is None:
        return f"{pairs} p"
    return f"{pairs} p JOIN ({sizes(sized_by)}) z ON p.sample = z.sample AND p.coalition = z.coalition"


def pair_repeats(pairs: str, which: str, sized_by: str | None, *, symmetric: bool) -> str:
    """Return for each part and pair (and size) the sum over samples of (how often they met in it)^2."""
    first, second = ordered(symmetric=symmetric)
    size = ", size" if sized_by else ""
    return (
        f"SELECT part, agent, partner{size}, CAST(sum(met * met) AS BIGINT) AS repeats FROM (SELECT {which} AS part, "
        f"{first} AS agent, {second} AS partner{', z.size AS size' if sized_by else ''}, count(*) AS met "
        f"FROM {_sized(pairs, sized_by)} GROUP BY p.sample, {first}, {second}{', z.size' if sized_by else ''}) AS met "
        f"GROUP BY part, agent, partner{size}"
    )


def ordered(*, symmetric: bool) -> tuple[str, str]:
    """Return the two agents of a pair; unordered ones are told by their names."""
    return ("least(agent, partner)", "greatest(agent, partner)") if symmetric else ("agent", "partner")


def pair_rows(pairs: str, which: str, sized_by: str | None = None) -> str:
    """Return the pairs of each sample next to each other, to see which occur together."""
    size = ", z.size AS size" if sized_by else ""
    return (
        f"SELECT {which} AS part, p.sample AS sample, p.coalition AS coalition, agent, partner{size} "
        f"FROM {_sized(pairs, sized_by)} ORDER BY p.sample"
    )


def total_rows(members: str, totals: str, which: str) -> str:
    """Return the memberships and totals of each sample next to each other; totals have no coalition."""
    return (
        f"SELECT {which} AS part, sample, agent, coalition, utility FROM (SELECT sample, agent, coalition, "
        f"CAST(NULL AS DOUBLE) AS utility FROM {members} UNION ALL SELECT sample, agent, "
        f"CAST(NULL AS STRING) AS coalition, utility FROM {totals}) AS everything "
        "ORDER BY sample"
    )


def most_terms(members: str) -> str:
    """Return the largest number of pair terms that any total adds up."""
    return f"SELECT coalesce(max(terms), 0) AS most FROM ({terms(members)}) AS counted"


def excesses(pairs: str, sized_by: str | None, *, symmetric: bool, pooled: bool) -> str:
    """Return count, sum and sum of squares of the samples' excesses, see `coterie.statistics.dependence`."""
    first, second = ordered(symmetric=symmetric)
    room = "''" if pooled else "p.coalition"
    cells = (
        f"SELECT p.sample AS sample, {room} AS room, {first} AS one, {second} AS two, "
        f"{'z.size' if sized_by else '0'} AS size, utility FROM {_sized(pairs, sized_by)}"
    )
    means = f"SELECT room, one, two, size, avg(utility) AS mean FROM ({cells}) AS c GROUP BY room, one, two, size"
    differences = (
        f"SELECT c.sample AS sample, c.utility - m.mean AS e FROM ({cells}) AS c JOIN ({means}) AS m "
        "ON c.room = m.room AND c.one = m.one AND c.two = m.two AND c.size = m.size"
    )
    excess = (
        f"SELECT (sum(e) * sum(e) - sum(e * e)) / count(*) AS y FROM ({differences}) AS d "
        "GROUP BY sample HAVING count(*) > 1"
    )
    return f"SELECT count(*) AS samples, sum(y) AS total, sum(y * y) AS squares FROM ({excess}) AS s"


SHRINKS = 10.0
"""A change that a pair's values suggest counts as much as so many of them for the change of all pairs."""

_CELL = ("room", "one", "two", "size")


def timed_rows(pairs: str, halves: str, fold: str, sized_by: str | None, *, symmetric: bool, pooled: bool) -> str:
    """Return all utilities with their cell, their half of time and their fold, see `coterie.statistics.drift`."""
    first, second = ordered(symmetric=symmetric)
    room = "''" if pooled else "p.coalition"
    return (
        f"SELECT p.sample AS sample, {room} AS room, {first} AS one, {second} AS two, "
        f"{'z.size' if sized_by else '0'} AS size, h.late AS late, {fold} AS fold, utility "
        f"FROM {_sized(pairs, sized_by)} JOIN {halves} h ON p.sample = h.sample"
    )


def timed_cells(rows: str) -> str:
    """Return count and sum of each cell before and after, in both folds."""
    columns = [
        f"sum(CASE WHEN fold = {fold} AND late = {late} THEN {term} ELSE 0 END) AS {name}{fold}{late}"
        for name, term in (("n", "1"), ("s", "utility"))
        for fold in (0, 1)
        for late in (0, 1)
    ]
    named = ", ".join(_CELL)
    return f"SELECT {named}, {', '.join(columns)} FROM ({rows}) AS timed GROUP BY {named}"


def time_contrasts(rows: str, cells: str) -> str:
    """Return for each fold what its samples say of the changes that the other fold suggests."""
    suggested = " UNION ALL ".join(_suggested(cells, fold) for fold in (0, 1))
    whole = f"SELECT fold, sum(worth * change) / sum(worth) AS shared FROM ({suggested}) AS everybody GROUP BY fold"
    changes = (
        "SELECT c.*, (c.worth * c.change + "
        f"{SHRINKS} * w.shared) / (c.worth + {SHRINKS}) AS d FROM ({suggested}) AS c JOIN ({whole}) AS w "
        "ON c.fold = w.fold"
    )
    weighted = (
        "SELECT r.sample AS sample, r.fold AS fold, r.utility - c.mean AS e, "
        "CASE WHEN r.late = 1 THEN c.d * c.before ELSE -c.d * c.after END / (c.before + c.after) AS w "
        f"FROM ({rows}) AS r JOIN ({changes}) AS c ON r.fold = c.fold AND r.room = c.room AND r.one = c.one "
        "AND r.two = c.two AND r.size = c.size"
    )
    by_sample = f"SELECT fold, sum(w * e) AS y, sum(abs(w)) AS a FROM ({weighted}) AS v GROUP BY sample, fold"
    return (
        "SELECT fold, count(*) AS samples, sum(y) AS total, sum(y * y) AS squares, sum(a * a) AS reaches, "
        f"max(a) AS longest FROM ({by_sample}) AS s GROUP BY fold"
    )


def _suggested(cells: str, fold: int) -> str:
    """Return what the other fold suggests for the cells of a fold: change, mean, and how much that is worth."""
    n, s = f"n{1 - fold}", f"s{1 - fold}"
    return (
        f"SELECT {fold} AS fold, {', '.join(_CELL)}, CAST(n{fold}0 AS DOUBLE) AS before, "
        f"CAST(n{fold}1 AS DOUBLE) AS after, {s}1 / {n}1 - {s}0 / {n}0 AS change, "
        f"({s}0 + {s}1) / ({n}0 + {n}1) AS mean, "
        f"CAST({n}0 AS DOUBLE) * {n}1 / ({n}0 + {n}1) AS worth FROM {cells} "
        f"WHERE n{fold}0 > 0 AND n{fold}1 > 0 AND {n}0 > 0 AND {n}1 > 0"
    )


def largest_change(cells: str) -> str:
    """Return the pair and coalition whose mean changed most, weighed by how often it was seen."""
    both = (
        "SELECT room, one, two, CAST(sum(n00 + n10) AS DOUBLE) AS n, CAST(sum(n01 + n11) AS DOUBLE) AS m, "
        f"sum(s00 + s10) AS s, sum(s01 + s11) AS t FROM {cells} GROUP BY room, one, two"
    )
    return (
        "SELECT n * m / (n + m) * (t / m - s / n) * (t / m - s / n) AS weight, room AS coalition, one AS agent, "
        f"two AS partner, s / n AS before, t / m AS after FROM ({both}) AS pairs WHERE n > 0 AND m > 0 "
        "ORDER BY weight DESC, room, one, two LIMIT 1"
    )
