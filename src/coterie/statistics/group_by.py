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


def contrasts(pairs: str, which: str, sized_by: str, weights: str, *, symmetric: bool, pooled: bool) -> str:
    """Return the sums of `coterie.statistics.contrast` for each coalition (together, if pooled) and half."""
    first, second = ordered(symmetric=symmetric)
    room = "'(pooled)'" if pooled else "p.coalition"
    rows = (
        f"SELECT {which} AS half, p.sample AS sample, {room} AS room, {first} AS one, {second} AS two, "
        f"z.size AS size, utility FROM {_sized(pairs, sized_by)}"
    )
    samples = (
        "SELECT r.half AS half, r.room AS room, sum(w.weight * (r.utility - w.mean)) AS t "
        f"FROM ({rows}) AS r JOIN {weights} w ON r.half = w.half AND r.room = w.room AND r.one = w.one "
        "AND r.two = w.two AND r.size = w.size GROUP BY r.half, r.room, r.sample"
    )
    return f"SELECT room, half, sum(t) AS total, sum(t * t) AS squares FROM ({samples}) AS s GROUP BY room, half"


def first_parts(pairs: str, which: str, parts: int) -> str:
    """Return the pairs of samples that are in the first so many parts."""
    return f"(SELECT * FROM {pairs} WHERE {which} < {parts})"


def excesses(pairs: str, sized_by: str | None, least: int, *, symmetric: bool, pooled: bool) -> str:
    """Return how many samples have two pairs, and the sums and sums of squares of their two excesses.

    A pair that met less than `least` times at some size is compared with its mean over sizes, if that is of as many.
    See `coterie.statistics.dependence`.
    """
    first, second = ordered(symmetric=symmetric)
    room = "''" if pooled else "p.coalition"
    cells = (
        f"SELECT p.sample AS sample, p.coalition AS place, {room} AS room, {first} AS one, {second} AS two, "
        f"{'z.size' if sized_by else '0'} AS size, utility FROM {_sized(pairs, sized_by)}"
    )
    by_size = (
        "SELECT room, one, two, size, count(*) AS seen, sum(utility) AS total "
        f"FROM ({cells}) AS c GROUP BY room, one, two, size"
    )
    wider = "PARTITION BY room, one, two"
    means = (
        f"SELECT room, one, two, size, CASE WHEN seen >= {least} THEN total / seen "
        f"WHEN sum(seen) OVER ({wider}) >= {least} THEN sum(total) OVER ({wider}) / sum(seen) OVER ({wider}) END "
        f"AS mean FROM ({by_size}) AS b"
    )
    differences = (
        f"SELECT c.sample AS sample, c.place AS place, c.utility - m.mean AS e FROM ({cells}) AS c JOIN ({means}) AS m "
        "ON c.room = m.room AND c.one = m.one AND c.two = m.two AND c.size = m.size WHERE m.mean IS NOT NULL"
    )
    rooms = (
        "SELECT sample, count(*) AS pairs, sum(e) AS shift, sum(e * e) AS spread "
        f"FROM ({differences}) AS d GROUP BY sample, place"
    )
    excess = (
        "SELECT (sum(shift) * sum(shift) - sum(spread)) / sum(pairs) AS y, "
        f"(sum(shift * shift) - sum(spread)) / sum(pairs) AS z FROM ({rooms}) AS r "
        "GROUP BY sample HAVING sum(pairs) > 1"
    )
    return (
        "SELECT count(*) AS samples, sum(y) AS total, sum(y * y) AS squares, sum(z) AS room_total, "
        f"sum(z * z) AS room_squares FROM ({excess}) AS s"
    )
