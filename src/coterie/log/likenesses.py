"""Which names are probably one person's: by how they are written, and by when a log has both of them."""

from collections.abc import Sequence

import pyarrow as pa

from coterie.log import queries
from coterie.log.engine import Engine
from coterie.log.names import (
    Two,
    about_remarked,
    about_slips,
    about_spellings,
    remarked,
    slips,
    spelled_without_accents,
)


def two_people(engine: Engine, alike: Sequence[tuple[str, str]], members: str, pairs: str | None = None) -> set[Two]:
    """Return which pairs of names are surely two people's: both were there at once.

    Where rows of `pairs` are all that tells who was there, it takes a row about the two of them, or somebody who rated
    both in one team: whoever is rated by others under two spellings is there under both.
    """
    if not alike:
        return set()
    listed = _listed(engine, alike)
    query = queries.at_once(members, listed) if pairs is None else queries.told_apart(pairs, listed)
    return _found(engine, query)


def about_likenesses(engine: Engine, agents: Sequence[str], *, inferred: bool) -> list[str]:
    """Return what to tell of names that may be one person's; what shows that they are not is only asked where some are.

    With memberships that were `inferred` from pairs, two names that are a letter apart are two people's if they are in
    two teams at once: people are in one team as a rule. That says nothing of a name without its accents, of which
    nobody doubts that it is the same.
    """
    spelled, marked = spelled_without_accents(agents), remarked(agents)
    known = {frozenset(two) for two in (*spelled, *marked)}
    near = [two for two in slips(agents) if frozenset(two) not in known]
    if not (spelled or marked or near):
        return about_spellings("agent", agents)
    members, pairs = engine.name("members"), engine.name("met_pairs") if inferred else None
    surely = two_people(engine, [*spelled, *marked, *near], members, pairs)
    if near and inferred:
        surely |= _found(engine, queries.at_once(members, _listed(engine, near), apart=True))
    if not (marked or near):
        return about_spellings("agent", agents, surely)
    times = {row["agent"]: int(row["samples"]) for row in engine.rows(queries.attendance(members))}
    rounds = int(engine.rows(queries.distinct_count(members, "sample"))[0]["n"])
    return [
        *about_spellings("agent", agents, surely),
        *about_remarked([two for two in marked if frozenset(two) not in surely], times),
        *about_slips([two for two in near if frozenset(two) not in surely], times, rounds),
    ]


def _listed(engine: Engine, alike: Sequence[tuple[str, str]]) -> str:
    engine.lookup("like_names", pa.table({"one": [one for one, _ in alike], "other": [other for _, other in alike]}))
    return engine.name("like_names")


def _found(engine: Engine, query: str) -> set[Two]:
    return {frozenset((row["one"], row["other"])) for row in engine.rows(query)}
