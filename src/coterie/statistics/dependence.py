"""Do the pairs of one sample move together? What a log shows of that, in one query.

With e the difference between a utility and the mean of its pair, coalition (and size), the pairs
of a sample are uncorrelated if the products e e' of different pairs average to 0. For a sample
with c pairs, (sum of e)^2 - sum of e^2 adds all these products; divided by c it is the sample's
excess.
"""

from dataclasses import dataclass

from coterie.log import queries
from coterie.log.log import Log


@dataclass(frozen=True)
class SampleExcess:
    """The samples with at least two pairs: how many, the sum of their excesses, the sum of squares."""

    samples: int
    total: float
    squares: float


def sample_excess(log: Log) -> SampleExcess:
    """Return the excess of a semi-bandit log's samples over independent pairs."""
    engine = log.engine
    found = engine.table(
        _query(
            engine.name("ratings"),
            engine.name("members") if log.has_memberships else None,
            symmetric=log.symmetric,
            pooled=log.pool_coalitions,
        )
    )
    samples, total, squares = (found[name][0].as_py() for name in ("samples", "total", "squares"))
    return SampleExcess(int(samples or 0), float(total or 0.0), float(squares or 0.0))


def _query(ratings: str, members: str | None, *, symmetric: bool, pooled: bool) -> str:
    first, second = ("least(agent, partner)", "greatest(agent, partner)") if symmetric else ("agent", "partner")
    # Sizes are part of the cell where they are known: a crowded room is no bad day.
    size = "z.size" if members else "0"
    joined = (
        f" JOIN ({queries.sizes(members)}) z ON p.sample = z.sample AND p.coalition = z.coalition" if members else ""
    )
    room = "''" if pooled else "p.coalition"
    cells = (
        f"SELECT p.sample AS sample, {room} AS room, {first} AS one, {second} AS two, {size} AS size, utility "
        f"FROM {ratings} p{joined}"
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
