"""Whose ratings tests of assumptions look at: everybody's, or in a long log of many agents those of some.

A test of 4,000,000 pairs takes longer than everything else that is read from a log, and shows hardly more than one of
some. So above `DENSE_AGENTS` agents about `MOST_EXAMINED` rows are looked at: all those of some agents. A hash of their
names chooses them, so utilities have no say in it, and the tests hold as they do for the whole log.
"""

from math import sqrt

import pyarrow as pa

from coterie.log.log import Log
from coterie.statistics import group_by, pair_statistics
from coterie.statistics.parts import Division

MOST_EXAMINED = 1 << 22
"""About so many rows are looked at where a log of many agents has more."""


def examined(log: Log) -> str:
    """Return the view of the ratings that tests look at."""
    engine, ratings = log.engine, log.outcomes
    if len(log.agents) <= pair_statistics.DENSE_AGENTS or log.rows <= MOST_EXAMINED:
        return ratings
    # A row has one of a share q of the agents with probability 1 - (1 - q)^2.
    share = 1 - sqrt(1 - MOST_EXAMINED / log.rows)
    place = Division.by_shares((share, 1 - share), 0).of(log.agents)
    names = [name for name, others in zip(log.agents, place.tolist(), strict=True) if not others]
    engine.lookup("chosen", pa.table({"name": pa.array(names, pa.string())}))
    engine.view("examined", group_by.rows_with(ratings, engine.name("chosen")), stored=True)
    return engine.name("examined")
