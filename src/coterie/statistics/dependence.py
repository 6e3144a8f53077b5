"""Do the pairs of one sample move together? What a log shows of that.

With e the difference between a utility and the mean of its pair, coalition and, where there are enough values, size,
the pairs of a sample are uncorrelated if the products e e' of different pairs average to 0. For a sample with c pairs,
(sum of e)^2 - sum of e^2 adds all these products; divided by c it is the sample's excess. Noise may cancel between
rooms, one up and the other down, or within a room, one agent up and the other down. So there are three excesses: of
all pairs of a sample, of those in the same room, and of those in the same room that share an agent.

Days that are bad for many at once but rare hardly show in a sum of excesses. They show in the one sample, room or
agent in it whose e add up to more than independent pairs explain: its surprise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log as ln
from math import sqrt
from typing import Any

from coterie.log.log import Log
from coterie.statistics import group_by
from coterie.statistics.examined import examined
from coterie.statistics.parts import Division, learning_parts

FALSE_ALARMS = 0.01
"""How often a test of an assumption raises an alarm on a log that satisfies it."""

LEAST_SAMPLES = 30
"""With fewer samples of at least two pairs, sums of excesses are not normal enough to be tested."""

LEAST_VALUES = 8
"""A pair is left out where its mean would be of fewer values: such means tie samples to each other."""

EVENTS = 12
"""Three sums of excesses and three largest surprises, on two sides each, share the false alarms."""


@dataclass(frozen=True)
class Excess:
    """How far pairs move together in samples, in rooms of them, or around the agents in those."""

    total: float = 0.0
    """The sum of the samples' excesses."""
    squares: float = 0.0
    """The sum of their squares."""
    expected: float = 0.0
    """What the sum of their squares is on average if pairs are independent, given the variance of each."""
    surprise: float = 0.0
    """The largest -log Pr[independent pairs add up to so much] of a group, by Bennett's inequality."""
    groups: int = 0
    """How many groups have at least two pairs: samples, rooms in them, or agents in those."""

    def __add__(self, other: "Excess") -> "Excess":
        return Excess(
            self.total + other.total,
            self.squares + other.squares,
            self.expected + other.expected,
            max(self.surprise, other.surprise),
            self.groups + other.groups,
        )

    @property
    def score(self) -> float:
        """The sum of excesses over its standard error, by their squares or by what those are on average.

        The larger of the two counts: where losses are rare, most logs lack the few samples that have two of them and
        make up most of the squares on average.
        """
        spread = max(self.squares, self.expected)
        return self.total / sqrt(spread) if spread > 0 else 0.0


@dataclass(frozen=True)
class SampleExcess:
    """How far pairs of one sample move together, over the samples with at least two pairs."""

    samples: int = 0
    whole: Excess = Excess()
    """All pairs of a sample."""
    rooms: Excess = Excess()
    """Those in the same room."""
    agents: Excess = Excess()
    """Those in the same room that share an agent: one who receives both utilities, where they are ordered."""

    def __add__(self, other: "SampleExcess") -> "SampleExcess":
        """Return the excess of two logs without common samples, each about its own means.

        The test stays valid. If pairs are independent, e and e' of
        different pairs are functions of different utilities, each with mean 0 given who met whom, so
        every excess has mean 0 whichever log its means come from; sums over independent logs have
        mean 0 and variances that add, as the sums of squares do. What the means of a log add to the
        dependence between its samples is as before: where two pairs meet in the same N samples of a
        log and in no others, the variance is N / (N - 1) <= 8 / 7 times the sum of squares, and a pair that meets
        twice in a sample (pooled coalitions) adds -1 / N of its variance; so false alarms are more
        frequent where each of many logs saw its pairs a few times only. A utility that changed between
        two logs raises no alarm, since each log is compared with itself.
        """
        return SampleExcess(
            self.samples + other.samples,
            self.whole + other.whole,
            self.rooms + other.rooms,
            self.agents + other.agents,
        )

    @property
    def is_enough(self) -> bool:
        """Whether there are enough samples to be tested."""
        return self.samples >= LEAST_SAMPLES

    def alarm(self, alpha: float = FALSE_ALARMS) -> float | None:
        """Return by how many standard errors pairs move together, where chance does not explain it; else None.

        The samples' excesses have mean 0 if pairs are independent, and hardly depend on each other. Their sum over the
        root of the sum of their squares exceeds sqrt(2 L) with probability at most exp(-L) if they were independent and
        each as likely as its negative (given their sizes it is a sum of random signs), and about so with many samples.

        Surprises: the e of a group are independent, of mean 0 and at most the range b, so they add up to S or more with
        probability at most exp(-V / b^2 h(b S / V)), h(x) = (1 + x) log(1 + x) - x and V the sum of their variances
        (Bennett 1962). Means and variances are those of the log.

        Each of `EVENTS` has its share of alpha. A surprise alone counts as the root of twice its size.
        """
        if not self.is_enough:
            return None
        found = (self.whole, self.rooms, self.agents)
        score = max((one.score for one in found), key=abs)
        if abs(score) > sqrt(2 * ln(EVENTS / alpha)):
            return score
        surprises = [one.surprise for one in found if one.surprise > ln(EVENTS * max(one.groups, 1) / alpha)]
        return sqrt(2 * max(surprises)) if surprises else None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SampleExcess":
        """Read what `asdict` wrote; older files hold the sums of two excesses only."""
        if "whole" in data:
            return cls(data["samples"], *(Excess(**data[name]) for name in ("whole", "rooms", "agents")))
        rooms = Excess(data.get("room_total", 0.0), data.get("room_squares", 0.0))
        return cls(data["samples"], Excess(data["total"], data["squares"]), rooms)


NO_EXCESS = SampleExcess()


def sample_excess(log: Log, among: Division | None = None, pairs: str | None = None) -> SampleExcess:
    """Return the excess of a semi-bandit log's samples over independent pairs, or of those that learn in a division.

    The samples that learn are compared with their own means, so nothing is known of the others. A log that is not
    divided has no others. `pairs` is the view of the ratings that are `examined`, where there is one already.
    """
    engine, pairs = log.engine, pairs or examined(log)
    # Sizes are part of the cell where they are known: a crowded room is no bad day.
    sized_by = engine.name("members") if log.has_memberships else None
    if among is not None and len(among.ends) > 1:
        pairs = group_by.first_parts(pairs, among.sql(), learning_parts(among.shares))
    limits = log.counted.limits
    (found,) = engine.rows(
        group_by.excesses(
            pairs, sized_by, LEAST_VALUES, limits[1] - limits[0], log.sigma,
            symmetric=log.symmetric, pooled=log.pool_coalitions,
        )
    )  # fmt: skip

    def excess(name: str) -> Excess:
        columns = ("total", "squares", "expected", "surprise")
        total, squares, expected, surprise = (float(found[f"{name}_{column}"] or 0) for column in columns)
        return Excess(total, squares, expected, surprise, int(found[f"{name}_groups"] or 0))

    return SampleExcess(int(found["samples"] or 0), *map(excess, group_by.EXCESSES))
