"""The SQL of reductions: plain group-by and join, the same text for every engine; see `coterie.log.queries`."""

from coterie.log.queries import WHOLE, double, sizes, terms
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
    return _beside_rooms(pairs, None if sized_by is None else sizes(sized_by))


def _beside_rooms(pairs: str, rooms: str | None) -> str:
    """Return pairs to select from, next to what a query says of their coalition in their sample."""
    if rooms is None:
        return f"{pairs} p"
    return f"{pairs} p JOIN ({rooms}) z ON p.sample = z.sample AND p.coalition = z.coalition"


RARE = -1
"""Stands for all sizes of a coalition that are too rare for a mean of their own: so pairs have fewer cells."""


def frequent_sizes(members: str, least: int, *, pooled: bool) -> str:
    """Return |C_l| like `sizes`, and `RARE` where so few teams had it that no pair met `least` times in them."""
    alike = "size" if pooled else "coalition, size"
    return (
        f"SELECT sample, coalition, CASE WHEN count(*) OVER (PARTITION BY {alike}) >= {least} THEN size "
        f"ELSE {RARE} END AS size FROM ({sizes(members)}) AS z"
    )


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


def pair_counts(meetings: str, which: str, sized_by: str | None = None, *, pooled: bool = False) -> str:
    """Return how often each pair met in each part and coalition (and size)."""
    named = ", ".join(["part", *([] if pooled else ["coalition"]), "agent", "partner", *(["size"] if sized_by else [])])
    size = ", z.size AS size" if sized_by else ""
    return (
        f"SELECT {named}, count(*) AS met FROM (SELECT {which} AS part, p.coalition AS coalition, agent, partner{size} "
        f"FROM {_sized(meetings, sized_by)}) AS met GROUP BY {named}"
    )


def missing_totals(members: str, totals: str) -> str:
    """Return how often each agent was a member of something but has no total."""
    return (
        f"SELECT agent, count(*) AS missing FROM (SELECT sample, agent FROM {members} EXCEPT "
        f"SELECT sample, agent FROM {totals}) AS unobserved GROUP BY agent"
    )


def ordered(*, symmetric: bool) -> tuple[str, str]:
    """Return the two agents of a pair; unordered ones are told by their names."""
    return ("least(agent, partner)", "greatest(agent, partner)") if symmetric else ("agent", "partner")


def _cell(sized_by: str | None, *, symmetric: bool, pooled: bool, everywhere: str = "") -> str:
    """Return the columns that tell which mean a utility is of: coalition (`everywhere` if pooled), pair and size."""
    first, second = ordered(symmetric=symmetric)
    room = f"'{everywhere}'" if pooled else "p.coalition"
    return f"{room} AS room, {first} AS one, {second} AS two, {'z.size' if sized_by else '0'} AS size"


def sample_pieces(pairs: str, rows: int) -> str:
    """Return in which piece of about so many rows each sample is."""
    return (
        f"SELECT sample, CAST(floor((sum(count(*)) OVER (ORDER BY sample) - 1) / {rows}) AS BIGINT) AS piece "
        f"FROM {pairs} GROUP BY sample"
    )


def how_many(pairs: str) -> str:
    """Return how many rows there are."""
    return f"SELECT count(*) AS number FROM {pairs}"


def how_many_pieces(pieces: str) -> str:
    """Return how many pieces `sample_pieces` has made."""
    return f"SELECT max(piece) + 1 AS number FROM {pieces}"


def samples_in(pieces: str, piece: int) -> str:
    """Return the samples of one of them."""
    return f"SELECT sample FROM {pieces} WHERE piece = {piece}"


def pair_rows(
    pairs: str, which: str, sized_by: str | None = None, *, pooled: bool = False, among: str | None = None
) -> str:
    """Return the pairs of each sample next to each other, to see which occur together: all of them are sorted.

    `among` are the samples whose pairs are wanted, if not all.
    """
    size, coalition = ", z.size AS size" if sized_by else "", "" if pooled else "p.coalition AS coalition, "
    some = "" if among is None else f" JOIN ({among}) w ON p.sample = w.sample"
    return (
        f"SELECT {which} AS part, p.sample AS sample, {coalition}agent, partner{size} "
        f"FROM {_sized(pairs, sized_by)}{some} ORDER BY p.sample"
    )


def rated_rows(pairs: str) -> str:
    """Return what pairs got, those of each sample next to each other."""
    return f"SELECT sample, coalition, agent, partner, utility FROM {pairs} ORDER BY sample"


def total_rows(members: str, totals: str, which: str, least: int = 0) -> str:
    """Return the memberships and totals of each sample next to each other, from part `least` on.

    Totals have no coalition.
    """
    some = f"WHERE {which} >= {least} " if least else ""
    return (
        f"SELECT {which} AS part, sample, agent, coalition, utility FROM (SELECT sample, agent, coalition, "
        f"CAST(NULL AS DOUBLE) AS utility FROM {members} UNION ALL SELECT sample, agent, "
        f"CAST(NULL AS STRING) AS coalition, utility FROM {totals}) AS everything "
        f"{some}ORDER BY sample"
    )


def score_rows(members: str, scores: str, which: str) -> str:
    """Return the memberships and scores of teams of each sample next to each other; scores have no agent."""
    return (
        f"SELECT {which} AS part, sample, agent, coalition, utility FROM (SELECT sample, agent, coalition, "
        f"CAST(NULL AS DOUBLE) AS utility FROM {members} UNION ALL SELECT sample, "
        f"CAST(NULL AS STRING) AS agent, coalition, utility FROM {scores}) AS everything ORDER BY sample"
    )


def most_terms(members: str) -> str:
    """Return the largest number of pair terms that any total adds up."""
    return f"SELECT coalesce(max(terms), 0) AS most FROM ({terms(members)}) AS counted"


def contrasts(pairs: str, which: str, sized_by: str, weights: str, *, symmetric: bool, pooled: bool) -> str:
    """Return the sums of `coterie.statistics.contrast` for each coalition (together, if pooled) and half."""
    cell = _cell(sized_by, symmetric=symmetric, pooled=pooled, everywhere="(pooled)")
    rows = f"SELECT {which} AS half, p.sample AS sample, {cell}, utility FROM {_sized(pairs, sized_by)}"
    samples = (
        "SELECT r.half AS half, r.room AS room, sum(w.weight * (r.utility - w.mean)) AS t, "
        "sum(w.weight * w.weight * w.variance) AS v "
        f"FROM ({rows}) AS r JOIN {weights} w ON r.half = w.half AND r.room = w.room AND r.one = w.one "
        "AND r.two = w.two AND r.size = w.size GROUP BY r.half, r.room, r.sample"
    )
    return (
        "SELECT room, half, sum(t) AS total, sum(t * t) AS squares, sum(v) AS expected "
        f"FROM ({samples}) AS s GROUP BY room, half"
    )


def first_parts(pairs: str, which: str, parts: int) -> str:
    """Return the pairs of samples that are in the first so many parts."""
    return f"(SELECT * FROM {pairs} WHERE {which} < {parts})"


def one_part(pairs: str, which: str, part: int) -> str:
    """Return the pairs of samples that are in one part."""
    return f"(SELECT * FROM {pairs} WHERE {which} = {part})"


def rows_with(pairs: str, agents: str) -> str:
    """Return the pairs of which one at least is among some agents."""
    some = f"IN (SELECT name FROM {agents})"
    return f"SELECT sample, coalition, agent, partner, utility FROM {pairs} WHERE agent {some} OR partner {some}"


EXCESSES = ("whole", "rooms", "agents")
"""The three excesses of a sample: of all its pairs, of those in one room, of those that share an agent there."""


def excesses(
    pairs: str,
    sized_by: str | None,
    least: int,
    reach: float,
    sigma: float | None = None,
    *,
    symmetric: bool,
    pooled: bool,
) -> str:
    """Return how many samples have two pairs, and the sums of `coterie.statistics.dependence.Excess` for each excess.

    A pair that met less than `least` times at some size is compared with its mean over sizes, if that is of as many.
    Utilities differ from their mean by at most `reach`, or have noise of scale `sigma`.
    """
    cell = _cell(sized_by, symmetric=symmetric, pooled=pooled)
    rooms = None if sized_by is None else frequent_sizes(sized_by, least, pooled=pooled)
    cells = f"SELECT p.sample AS sample, p.coalition AS place, {cell}, utility FROM {_beside_rooms(pairs, rooms)}"
    by_size = (
        "SELECT room, one, two, size, count(*) AS seen, sum(utility) AS total, sum(utility * utility) AS square "
        f"FROM ({cells}) AS c GROUP BY room, one, two, size"
    )
    own, wider = f"seen >= {least} AND size <> {RARE}", "OVER (PARTITION BY room, one, two)"
    enough = (
        f"SELECT room, one, two, size, CASE WHEN {own} THEN seen ELSE sum(seen) {wider} END AS n, "
        f"CASE WHEN {own} THEN total ELSE sum(total) {wider} END AS t, "
        f"CASE WHEN {own} THEN square ELSE sum(square) {wider} END AS q FROM ({by_size}) AS b"
    )
    means = (
        "SELECT room, one, two, size, t / n AS mean, "
        f"greatest(q - t * t / n, CAST(0 AS DOUBLE)) / n AS variance FROM ({enough}) AS w WHERE n >= {least}"
    )
    # Equal utilities differ from their mean by rounding, which must not look like a pattern.
    e = "c.utility - m.mean"
    rounded = f"CASE WHEN abs({e}) > 1e-12 * (abs(c.utility) + abs(m.mean)) THEN {e} ELSE 0 END"
    differences = (
        f"SELECT c.sample AS sample, c.place AS place, c.one AS one, c.two AS two, {rounded} AS e, m.variance AS v "
        f"FROM ({cells}) AS c JOIN ({means}) AS m "
        "ON c.room = m.room AND c.one = m.one AND c.two = m.two AND c.size = m.size"
    )
    # By agent first, and the others from that: an unordered pair counts for both of its agents.
    who = f"SELECT sample, place, one AS who, e, v FROM ({differences}) AS d"
    if symmetric:
        who = (
            f"SELECT sample, place, CASE WHEN side = 1 THEN one ELSE two END AS who, e, v FROM ({differences}) AS d "
            "CROSS JOIN (SELECT 1 AS side UNION ALL SELECT 2) AS sides"
        )
    agents = f"SELECT sample, place, {_SUMS_OF_E} FROM ({who}) AS ends GROUP BY sample, place, who"
    half = "0.5 * " if symmetric else ""
    added = ", ".join(f"{half}sum({name}) AS {name}" for name in ("pairs", "shift", "spread", "v", "vv"))
    rooms = (
        f"SELECT sample, {added}, {_products('agents')} FROM ({_surprising(agents, reach, sigma)}) AS a "
        "GROUP BY sample, place"
    )
    summed = ", ".join(f"sum({name}) AS {name}" for name in ("pairs", "shift", "spread", "v", "vv"))
    inherited = ", ".join(f"{how}(agents_{name}) AS agents_{name}" for name, how in _ADDED.items())
    samples = (
        f"SELECT {summed}, {inherited}, {_products('rooms')} FROM ({_surprising(rooms, reach, sigma)}) AS r "
        "GROUP BY sample HAVING sum(pairs) > 1"
    )
    each = (
        "SELECT *, shift * shift - spread AS whole_excess, v * v - vv AS whole_variance, surprise AS whole_surprise, "
        f"1 AS whole_groups FROM ({_surprising(samples, reach, sigma)}) AS s"
    )
    sums = ", ".join(
        f"sum({name}_excess / pairs) AS {name}_total, "
        f"sum({name}_excess * {name}_excess / (pairs * pairs)) AS {name}_squares, "
        f"sum(2 * {name}_variance / (pairs * pairs)) AS {name}_expected, "
        f"max({name}_surprise) AS {name}_surprise, sum({name}_groups) AS {name}_groups"
        for name in EXCESSES
    )
    return f"SELECT count(*) AS samples, {sums} FROM ({each}) AS every_sample"


_SUMS_OF_E = "count(*) AS pairs, sum(e) AS shift, sum(e * e) AS spread, sum(v) AS v, sum(v * v) AS vv"

_ADDED = {"excess": "sum", "variance": "sum", "surprise": "max", "groups": "sum"}
"""What groups hand on to what they are part of."""


def _products(name: str) -> str:
    """Return what groups of pairs add to their sample: products of e, and of variances, of different pairs."""
    return (
        f"sum(shift * shift - spread) AS {name}_excess, sum(v * v - vv) AS {name}_variance, "
        f"max(CASE WHEN pairs > 1 THEN surprise ELSE 0 END) AS {name}_surprise, "
        f"sum(CASE WHEN pairs > 1 THEN 1 ELSE 0 END) AS {name}_groups"
    )


def _surprising(groups: str, reach: float, sigma: float | None) -> str:
    """Return groups of pairs with -log of the probability that independent ones add up to so much."""
    if sigma is not None:
        surprise = f"shift * shift / (2 * pairs * {double(sigma**2)})"
    else:
        b, x = double(reach), f"(abs(shift) * {double(reach)} / v)"
        surprise = f"CASE WHEN v > 0 THEN v / ({b} * {b}) * ((1 + {x}) * ln(1 + {x}) - {x}) ELSE 0 END"
    return f"SELECT *, {surprise} AS surprise FROM ({groups}) AS g"


SHARED = 20.0
"""What a pair's values suggest is mixed with what all pairs suggest, which counts as much as so many values."""

_CELL = ("room", "one", "two", "size")


def timed_rooms(pairs: str, halves: str, fold: str, sized_by: str | None, *, pooled: bool) -> str:
    """Return half of time, fold and share of every sample, and the sizes of its teams, see `coterie.statistics.drift`.

    `fold` is about the samples of h. A size is `RARE` where no team of the fold had it before, or none after.
    """
    days = (
        f"SELECT h.sample AS sample, CAST(h.late AS DOUBLE) AS late, {fold} AS fold, "
        f"CAST(1 AS DOUBLE) / k.seen AS share FROM {halves} h "
        f"JOIN (SELECT sample, count(*) AS seen FROM {pairs} GROUP BY sample) k ON h.sample = k.sample"
    )
    if sized_by is None:
        return days
    alike = f"OVER (PARTITION BY fold, {'' if pooled else 'r.coalition, '}r.size)"
    return (
        "SELECT r.sample AS sample, r.coalition AS coalition, late, fold, share, "
        f"CASE WHEN min(late) {alike} < max(late) {alike} THEN r.size ELSE {RARE} END AS size "
        f"FROM ({sizes(sized_by)}) r JOIN ({days}) d ON r.sample = d.sample"
    )


def timed_rows(pairs: str, rooms: str, sized_by: str | None, *, symmetric: bool, pooled: bool) -> str:
    """Return all utilities with their cell, beside what the view of `timed_rooms` says of them."""
    cell = _cell(sized_by, symmetric=symmetric, pooled=pooled)
    same = "p.sample = z.sample" if sized_by is None else "p.sample = z.sample AND p.coalition = z.coalition"
    return (
        f"SELECT p.sample AS sample, {cell}, z.late AS late, z.fold AS fold, utility, z.share AS share "
        f"FROM {pairs} p JOIN {rooms} z ON {same}"
    )


def timed_cells(rows: str) -> str:
    """Return counts, sums and shares of each cell and fold before and after."""
    columns = [
        f"sum({when} * {term}) AS {name}{late}"
        for name, term in (("n", "1"), ("s", "utility"), ("g", "share"))
        for late, when in enumerate(("(1 - late)", "late"))
    ]
    named = ", ".join(("fold", *_CELL))
    return f"SELECT {named}, {', '.join(columns)} FROM ({rows}) AS timed GROUP BY {named}"


def time_contrasts(rows: str, cells: str, limits: tuple[float, float]) -> str:
    """Return for each fold what its samples say of the changes that the other fold suggests."""
    low, high = (double(end) for end in limits)
    terms = (
        "SELECT r.sample AS sample, r.fold AS fold, r.utility AS utility, c.mean AS mean, "
        "r.share * CASE WHEN r.late = 1 THEN c.d * c.before ELSE -c.d * c.after END / (c.before + c.after) AS w "
        f"FROM ({rows}) AS r JOIN ({_weights(cells)}) AS c ON r.fold = c.fold AND r.room = c.room AND r.one = c.one "
        "AND r.two = c.two AND r.size = c.size"
    )
    by_sample = (
        "SELECT fold, sum(w * (utility - mean)) AS y, sum(abs(w)) AS a, "
        f"sum(CASE WHEN w > 0 THEN w * (mean - {low}) ELSE -w * ({high} - mean) END) AS depth "
        f"FROM ({terms}) AS v GROUP BY sample, fold"
    )
    return (
        "SELECT fold, count(*) AS samples, sum(y) AS total, sum(y * y) AS squares, sum(a * a) AS reaches, "
        f"max(depth) AS deepest FROM ({by_sample}) AS s GROUP BY fold"
    )


def _weights(cells: str) -> str:
    """Return for the cells of each fold shares before and after, and the mean and change that the other suggests."""
    worth = f"CASE WHEN size <> {RARE} AND n0 > 0 AND n1 > 0 THEN n0 * n1 / (n0 + n1) END"
    suggested = (
        f"SELECT 1 - fold AS fold, room, one, two, coalesce(sum({worth}), 0) AS worth, "
        f"coalesce(sum({worth} * (s1 / n1 - s0 / n0)), 0) AS gain, sum(s0 + s1) / sum(n0 + n1) AS mean "
        f"FROM {cells} GROUP BY fold, room, one, two"
    )
    everybody = (
        "SELECT fold, coalesce(sum(gain) / nullif(sum(worth), 0), 0) AS change "
        f"FROM ({suggested}) AS every_pair GROUP BY fold"
    )
    change = f"(p.gain + {double(SHARED)} * e.change) / (p.worth + {double(SHARED)})"
    return (
        "SELECT c.fold AS fold, c.room AS room, c.one AS one, c.two AS two, c.size AS size, c.g0 AS before, "
        f"c.g1 AS after, p.mean AS mean, {change} AS d FROM {cells} c "
        f"JOIN ({suggested}) p ON c.fold = p.fold AND c.room = p.room AND c.one = p.one AND c.two = p.two "
        f"JOIN ({everybody}) e ON c.fold = e.fold WHERE c.size <> {RARE} AND c.g0 > 0 AND c.g1 > 0"
    )


def largest_change(cells: str) -> str:
    """Return the pair and coalition whose mean changed most, weighed by how often it was seen."""
    both = (
        f"SELECT room, one, two, sum(n0) AS n, sum(n1) AS m, sum(s0) AS s, sum(s1) AS t FROM {cells} "
        "GROUP BY room, one, two"
    )
    return (
        "SELECT n * m / (n + m) * (t / m - s / n) * (t / m - s / n) AS weight, room, one, two, s / n AS before, "
        f"t / m AS after FROM ({both}) AS pairs WHERE n > 0 AND m > 0 "
        "ORDER BY weight DESC, room, one, two LIMIT 1"
    )
