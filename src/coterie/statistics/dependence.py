"""Do the pairs of one sample move together? What a log shows of that.

With e the difference between a utility and the mean of its pair, coalition and, where there are
enough values, size, the pairs of a sample are uncorrelated if the products e e' of different pairs
average to 0. For a sample with c pairs, (sum of e)^2 - sum of e^2 adds all these products; divided
by c it is the sample's excess. Noise may cancel between rooms, one up and the other down: the excess
within rooms adds the products of pairs in the same room only.
"""

from dataclasses import dataclass
from math import log as ln
from math import sqrt

from coterie.log.log import Log
from coterie.statistics import group_by
from coterie.statistics.parts import Division, learning_parts

FALSE_ALARMS = 0.01
"""How often a test of an assumption raises an alarm on a log that satisfies it."""

LEAST_SAMPLES = 30
"""With fewer samples of at least two pairs, sums of excesses are not normal enough to be tested."""

LEAST_VALUES = 8
"""A pair is left out where its mean would be of fewer values: such means tie samples to each other."""


@dataclass(frozen=True)
class SampleExcess:
    """The samples with at least two pairs: how many, the sums of their excesses, the sums of squares."""

    samples: int
    total: float
    squares: float
    room_total: float = 0.0
    """The sum of the excesses within rooms."""
    room_squares: float = 0.0

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
            self.total + other.total,
            self.squares + other.squares,
            self.room_total + other.room_total,
            self.room_squares + other.room_squares,
        )

    @property
    def is_enough(self) -> bool:
        """Whether there are enough samples to be tested."""
        return self.samples >= LEAST_SAMPLES and self.squares > 0

    def alarm(self, alpha: float = FALSE_ALARMS) -> float | None:
        """Return by how many standard errors pairs move together, where chance does not explain it; else None.

        The samples' excesses have mean 0 if pairs are independent, and hardly depend on each other. Their sum over the
        root of the sum of their squares exceeds sqrt(2 L) with probability at most exp(-L) if they were independent and
        each as likely as its negative (given their sizes it is a sum of random signs), and about so with many samples.
        Two sums, two sides: each has a quarter of alpha. 5 of 900 simulated logs of 60 to 400 samples raised an alarm.
        """
        if not self.is_enough:
            return None
        sums = ((self.total, self.squares), (self.room_total, self.room_squares))
        score = max((total / squares**0.5 for total, squares in sums if squares > 0), key=abs)
        return score if abs(score) > sqrt(2 * ln(4 / alpha)) else None


NO_EXCESS = SampleExcess(0, 0.0, 0.0)


def sample_excess(log: Log, among: Division | None = None) -> SampleExcess:
    """Return the excess of a semi-bandit log's samples over independent pairs, or of those that learn in a division.

    The samples that learn are compared with their own means, so nothing is known of the others. A log that is not
    divided has no others.
    """
    engine = log.engine
    # Sizes are part of the cell where they are known: a crowded room is no bad day.
    sized_by = engine.name("members") if log.has_memberships else None
    pairs = engine.name("ratings")
    if among is not None and len(among.ends) > 1:
        pairs = group_by.first_parts(pairs, among.sql(), learning_parts(among.shares))
    found = engine.table(
        group_by.excesses(pairs, sized_by, LEAST_VALUES, symmetric=log.symmetric, pooled=log.pool_coalitions)
    )
    sums = (found[name][0].as_py() for name in ("total", "squares", "room_total", "room_squares"))
    return SampleExcess(int(found["samples"][0].as_py() or 0), *(float(value or 0.0) for value in sums))
