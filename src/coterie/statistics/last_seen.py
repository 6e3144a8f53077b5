"""Who was not seen for long at the end of a log, as people are not who have left.

Somebody who was in a of m samples, the last of them at place p, would be in none of the later ones by chance with
probability C(p, a) / C(m, a), if any a samples were as likely. Where that is small and the later ones are many, they
are named: nobody should be given a place by mistake.
"""

from coterie.arrays import IntArray
from coterie.log import queries
from coterie.log.columns import numbers, plain
from coterie.log.log import Log

BY_CHANCE = 0.02
"""Whoever is missing at the end is named if chance explains that with at most this probability,"""

AT_LEAST = 0.2
"""and if at least such a share of the samples came after."""


def not_seen_lately(log: Log, attendance: IntArray) -> tuple[tuple[str, str], ...]:
    """Return people who were in none of the last samples, each with the last sample that they were in."""
    engine, m = log.engine, len(log.samples)
    engine.lookup("numbered", log.samples.numbered())
    found = engine.table(queries.last_places(engine.name("members"), engine.name("numbered")))
    names, places = plain(found["agent"]).to_pylist(), numbers(found["place"]).tolist()
    last = dict(zip(names, places, strict=True))
    often = dict(zip(log.agents, attendance.tolist(), strict=True))
    return tuple(
        (name, log.samples.names[last[name]].as_py())
        for name in log.agents
        if name in last and is_unlikely(often[name], last[name] + 1, m)
    )


def is_unlikely(times: int, last: int, samples: int) -> bool:
    """Return whether somebody who was in so many samples would hardly miss all after the `last` by chance.

    >>> is_unlikely(8, 8, 12), is_unlikely(11, 11, 12), is_unlikely(2, 8, 12)
    (True, False, False)
    """
    if samples - last < AT_LEAST * samples:
        return False
    chance = 1.0
    for t in range(times):
        chance *= (last - t) / (samples - t)
        if chance <= BY_CHANCE:
            return True
    return False
