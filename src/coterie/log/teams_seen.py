"""The teams that a log has seen: how large they were, how many there were at once.

What is to be formed should be like what there was: that is all that anybody can have learnt about, and what people are
used to.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coterie.checks import plain
from coterie.log import queries, shape_queries
from coterie.log.engine import Engine
from coterie.log.log import Log
from coterie.log.schema import ALL
from coterie.words import counted, number, said

RARE = 20
"""Sizes that fewer than one in so many teams had are not called usual."""

PROPOSED = 4
"""How many people a team has that is proposed where nothing says how large teams were."""

SEVERAL = 1.25
"""Where people were in fewer teams at once than so many on average, they are in one as a rule."""


@dataclass(frozen=True)
class TeamsSeen:
    """How many people there were, and in teams of which sizes."""

    people: int
    places: float
    """Of how many teams a person was a member at once, on average."""
    sizes: Mapping[int, int]
    """Size -> how many teams had it; teams of one are none."""
    at_once: Mapping[int, int]
    """Number of teams in a round -> in how many rounds."""
    are_known: bool = True
    """Whether anything says who was in which team."""
    first_in_several: str = ""
    """Who was in several teams in one round, and in which, if anybody was."""

    @classmethod
    def of(cls, engine: Engine, members: str) -> "TeamsSeen":
        """Return what a view with sample, coalition and agent holds; spellings of a name are one."""
        (whole,) = engine.rows(shape_queries.places(members))
        named = engine.table(queries.distinct_names([(members, "agent")]))["name"].to_pylist()
        sizes = {int(row["size"]): int(row["teams"]) for row in engine.rows(shape_queries.how_large(members))}
        rounds = {int(row["teams"]): int(row["rounds"]) for row in engine.rows(shape_queries.how_many(members))}
        places = int(whole["members"]) / max(int(whole["present"]), 1)
        people = len({plain(name) for name in named if name})
        found = engine.rows(shape_queries.in_several(members)) if 1.0 < places < SEVERAL else []
        first = "".join(f"first {row['agent']!r} in {row['sample']!r}; " for row in found)
        several = {s: t for s, t in sorted(sizes.items()) if s > 1}
        return cls(people, places, several, rounds, first_in_several=first)

    @classmethod
    def unknown(cls, people: int) -> "TeamsSeen":
        """Return what is proposed where nothing says who was in which team."""
        return cls(people, 1.0, {PROPOSED: 1}, {}, are_known=False)

    @property
    def seats(self) -> float:
        """How many places there are to fill, if all take part as often as they did: as a rule in one team each."""
        return self.people * (self.places if self.places >= SEVERAL else 1.0)

    @property
    def is_one_each(self) -> bool:
        """Whether people are in one team as a rule, and somebody was in several all the same."""
        return 1.0 < self.places < SEVERAL

    def now_and_then(self) -> str:
        """Return that people were in one team as a rule and somebody in several, and what keeps everybody in one."""
        return (
            f"Now and then somebody was in several teams at once ({self.first_in_several}{self.places:.3g} on "
            f"average), and {said(per_person=1)} gives everybody one"
        )

    @property
    def usual(self) -> tuple[int, int]:
        """The smallest and the largest size that is not rare."""
        every = sum(self.sizes.values())
        often = [size for size, teams in self.sizes.items() if RARE * teams >= every]
        return (min(often), max(often)) if often else (1, max(self.people, 1))

    def how_many(self) -> tuple[int, str]:
        """Return how many teams are to be formed, and why: as many as give all a place in teams of usual sizes.

        No team is to be larger than usual, and if there is a choice none smaller. Within that, as many as there were
        at once in most rounds; else sizes as they were on average.

        >>> TeamsSeen(24, 1.0, {3: 10, 4: 40, 5: 10}, {6: 10}).how_many()
        (6, 'as many as there were at once in 10 of 10 rounds')
        >>> TeamsSeen(27, 1.0, {3: 20, 4: 35, 5: 10}, {6: 10, 5: 1}).how_many()  # 4 on average would be 7 teams
        (6, 'as many as there were at once in 10 of 11 rounds')
        >>> TeamsSeen(24, 1.0, {3: 10, 4: 20, 5: 10}, {5: 3, 7: 3}).how_many()
        (6, '24 people in teams of 4 on average (5 to 7 teams were there at once)')
        >>> TeamsSeen(4, 1.0, {}, {}).how_many()
        (4, '4 people, each of them alone so far')
        """
        (low, high), seats = self.usual, self.seats
        every = sum(self.sizes.values())
        mean = sum(size * teams for size, teams in self.sizes.items()) / every if every else 1.0
        least, most = math.ceil(round(seats / high, 6)), math.floor(round(seats / low, 6))
        rounds = sum(self.at_once.values())
        for count, often in self.at_once.items():
            if 2 * often > rounds > 1 and least <= count <= max(least, most):
                return count, f"as many as there were at once in {often:,} of {counted(rounds, 'round')}"
        count = max(1, least, min(round(seats / mean), most))  # nobody may be left over
        if not self.are_known:
            each = number(round(self.people / count, 1))
            return (
                count,
                f"for {counted(self.people, 'person', 'people')}, {each} in each: nothing says how many there were",
            )
        if not every:
            return count, f"{counted(self.people, 'person', 'people')}, each of them alone so far"
        why = f"{counted(self.people, 'person', 'people')} in teams of {number(round(mean, 1))} on average"
        few, many = min(self.at_once), max(self.at_once)
        if rounds > 1 and many > 1:
            there = f"{few} to {counted(many, 'team')} were" if few < many else f"{counted(many, 'team')} were"
            why += f" ({there} there at once)"
        return count, why

    def bounds(self, teams: int) -> str:
        """Return the sizes of so many teams, as `--team-size` takes them: usual ones, and such that all have a place.

        >>> TeamsSeen(24, 1.0, {3: 10, 4: 40, 5: 10}, {6: 10}).bounds(6)
        '3:5'
        >>> TeamsSeen(30, 1.0, {8: 30}, {3: 10}).bounds(3)
        '8:10'
        >>> TeamsSeen(11, 1.0, {5: 8}, {2: 8}).bounds(4)  # three of four names are used
        '0,3:5'
        """
        low, high = self.usual
        filled = min(teams, self.how_many()[0]) if low * teams > self.seats else teams
        each = self.seats / filled
        low, high = min(low, max(math.floor(each + 1e-6), 1)), max(high, math.ceil(each - 1e-6))
        empty = "0," if filled < teams else ""
        return f"{empty}{low}" if low == high else f"{empty}{low}:{high}"


def teams_seen(log: Log) -> TeamsSeen:
    """Return the teams of a log."""
    if log.options["columns"].get("coalition") == ALL:
        return TeamsSeen.unknown(len(log.agents))
    return TeamsSeen.of(log.engine, log.engine.name("members"))
