"""Whether names of teams mean anything, or are drawn anew each time: Red and Blue, the tables of a class.

Names that mean nothing should be pooled: what a pair gets is then learnt from several times as many data. Names of
areas should not: what a pair gets may depend on where it is. Both are told by who was where and what was got there:

    people and names            chi-square, where the same people under a name would show
    what teams got under names  analysis of variance of means of teams
    people under names          the same of what each got, and of what others got with them: F, the variance of means
                                of cells (person, name) around those of persons, over what chance would make it
    pairs under names           the same of each pair

None of them above chance, and names may mean nothing. That is clear where they would be above it if places mattered
enough to be worth learning about: where F has so many degrees of freedom that it would be found if it were 2, so that
places make the means of cells differ as much as noise does, or if they made up a tenth of the variance of noise.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.log import queries, shape_queries
from coterie.log.engine import Engine
from coterie.log.log import Log
from coterie.words import said

Verdict = Literal["no", "perhaps", "clearly"]
"""Whether names of teams are drawn anew."""

LEAST_ROUNDS = 8
"""From so many rounds on, names are looked at."""

MOST_PLACES = 1_000_000
"""So many people times names are looked at, and so many memberships: where there are more, each name tells enough."""

MOST_MET = 4_000_000
"""So many rows of somebody and a teammate are made of totals: large teams have more of them than they have members."""

BY_CHANCE = 3.0
"""So many standard deviations above what is expected, chance is no explanation."""

CLEARLY = 2.0
"""Up to so many, it clearly is one."""

OFTEN = 3.0
"""Clear is only what people showed who were under each name so often on average."""

LITTLE = 0.1
"""What makes up less of the variance of noise is not worth learning about."""

MEAN_NOTHING = "people change between them each time, and what is got is the same in all"
"""Why names may mean nothing."""

MAY_MEAN_NOTHING = "names of teams may mean nothing"
"""How notes of that begin."""


@dataclass(frozen=True)
class Differing:
    """How much what was got differs between names, person by person or pair by pair: sums of squares, of how many."""

    rows: int
    cells: int
    """Persons or pairs, and names, that were seen together."""
    every: int
    """Persons or pairs."""
    within: float
    between: float

    @classmethod
    def of(cls, engine: Engine, pairs: str) -> "Differing":
        """Return what a relation with agent, partner, coalition and utility shows."""
        (found,) = engine.rows(shape_queries.pairs_where(pairs))
        rows, cells, every = (int(found[name]) for name in ("n_rows", "n_cells", "n_pairs"))
        return cls(rows, cells, every, float(found["within"]), float(found["between_names"]))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return self.cells in {self.rows, self.every}

    @property
    def spread(self) -> float:
        """The standard deviation of F by chance."""
        return math.sqrt(2 / (self.cells - self.every) + 2 / (self.rows - self.cells))

    def is_chance(self, deviations: float) -> bool:
        """Return whether F is not further above 1 than so many standard deviations."""
        if self.is_empty:
            return True
        expected = self.within / (self.rows - self.cells) * (self.cells - self.every)
        return self.within > 0 and self.between <= expected * (1 + deviations * self.spread)

    @property
    def would_show(self) -> bool:
        """Whether places that matter would nearly always be found to."""
        if self.is_empty or self.rows < OFTEN * self.cells:
            return False
        worth_learning = max(2.0, 1 + LITTLE * self.rows / self.cells)
        return (1 + CLEARLY * self.spread) ** 2 <= worth_learning


def names_drawn_anew(engine: Engine, members: str, outcomes: str, pairs: str | None = None) -> Verdict:
    """Return whether names of teams seem to be drawn anew each time: who is where, and what is got, is as if by chance.

    `outcomes` is a query with sample, coalition, agent and utility, what a single pair got, and `pairs` a view with
    partner besides, where that is known.
    """
    rows = engine.rows(shape_queries.who_where(members))
    rounds = int(engine.rows(shape_queries.places(members))[0]["rounds"])
    names, people = sorted({row["coalition"] for row in rows}), sorted({row["agent"] for row in rows})
    if len(names) < 2 or len(people) < 3 or rounds < LEAST_ROUNDS or len(names) * len(people) > MOST_PLACES:
        return "no"
    place, who = ({name: i for i, name in enumerate(every)} for every in (names, people))
    times = np.zeros((len(people), len(names)))
    for row in rows:
        times[who[row["agent"]], place[row["coalition"]]] += int(row["times"])
    if times.sum() > MOST_PLACES or 2 * times.sum(axis=0).min() < times.sum(axis=0).mean():
        return "no"  # a name that hardly occurs has a story
    expected = times.sum(axis=1, keepdims=True) * times.sum(axis=0) / times.sum()
    moved = _is_chance(float(((times - expected) ** 2 / expected).sum()), (len(people) - 1) * (len(names) - 1))
    if not moved or not _same_everywhere(engine, outcomes):
        return "no"
    if pairs is None and int(engine.rows(shape_queries.times_met(members))[0]["n"]) > MOST_MET:
        return "perhaps"
    rated = f"({shape_queries.met_where(outcomes, members)}) AS met" if pairs is None else pairs
    apart = f"({shape_queries.around_own(rated)}) AS a"
    of_people = [
        Differing.of(engine, f"({shape_queries.person_where(apart, column)}) AS p") for column in ("agent", "partner")
    ]
    tests = [*of_people, Differing.of(engine, rated)]
    if not all(one.is_chance(BY_CHANCE) for one in tests):
        return "no"
    is_clear = all(one.is_chance(CLEARLY) for one in tests) and all(one.would_show for one in of_people)
    return "clearly" if is_clear else "perhaps"


def drawn_anew(log: Log) -> Verdict:
    """Return the same of a log whose teams have names of their own."""
    if log.pool_coalitions:
        return "no"
    members = log.engine.name("members")
    if log.feedback == "semi-bandit":
        ratings = log.engine.name("ratings")
        return names_drawn_anew(log.engine, members, queries.columns_of(ratings, WHO_GOT), ratings)
    outcomes = queries.totals_per_pair(log.engine.name("totals"), members, of_teams=log.of_teams)
    if log.of_teams:
        outcomes = shape_queries.of_members(outcomes, members)
    return names_drawn_anew(log.engine, members, outcomes)


def about_names(log: Log) -> Iterator[str]:
    """Yield what to tell whoever learns from a log in which names seem to be drawn anew, and nobody said which."""
    if "pool_coalitions" not in log.declared and drawn_anew(log) != "no":
        yield (
            f"{MAY_MEAN_NOTHING}: {MEAN_NOTHING}, but what a pair gets was learnt for each name apart, from a small "
            f"part of the data; {said(pool_coalitions=True)} learns about pairs whatever the team is called, and "
            f"{said(pool_coalitions=False)} says that names mean something"
        )


WHO_GOT = ("sample", "coalition", "agent", "utility")
"""The columns that say who got what."""


def _same_everywhere(engine: Engine, outcomes: str) -> bool:
    rows = engine.rows(shape_queries.got_where(outcomes))
    count, mean, squares = (np.array([float(row[name]) for row in rows]) for name in ("teams", "mean", "squares"))
    freedom = count.sum() - len(rows)
    if len(rows) < 2 or freedom < 1:
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond all scales, which are refused later
        within = float((squares - count * mean**2).sum()) / freedom
        between = float((count * (mean - (count * mean).sum() / count.sum()) ** 2).sum())
    return within > 0 and _is_chance(between / within, len(rows) - 1)


def _is_chance(statistic: float, freedom: int) -> bool:
    """Return whether a statistic that is chi-square by chance is not far above what it is then expected to be."""
    return statistic <= freedom + BY_CHANCE * math.sqrt(2 * freedom)
