"""Do the pairs of one sample move together? What a log shows of that.

With e the difference between a utility and the mean of its pair, coalition (and size), the pairs
of a sample are uncorrelated if the products e e' of different pairs average to 0. For a sample
with c pairs, (sum of e)^2 - sum of e^2 adds all these products; divided by c it is the sample's
excess.
"""

from dataclasses import dataclass

from coterie.log.log import Log
from coterie.statistics import group_by


@dataclass(frozen=True)
class SampleExcess:
    """The samples with at least two pairs: how many, the sum of their excesses, the sum of squares."""

    samples: int
    total: float
    squares: float

    def __add__(self, other: "SampleExcess") -> "SampleExcess":
        """Return the excess of two logs without common samples, each about its own means.

        The test of `coterie.certificates.diagnose` stays valid. If pairs are independent, e and e' of
        different pairs are functions of different utilities, each with mean 0 given who met whom, so
        every excess has mean 0 whichever log its means come from; sums over independent logs have
        mean 0 and variances that add, as the sums of squares do. What the means of a log add to the
        dependence between its samples is as before: where two pairs meet in the same N samples of a
        log and in no others, the variance is N / (N - 1) times the sum of squares, and a pair that meets
        twice in a sample (pooled coalitions) adds -1 / N of its variance; so false alarms are more
        frequent where each of many logs saw its pairs a few times only. A utility that changed between
        two logs raises no alarm, since each log is compared with itself.
        """
        return SampleExcess(self.samples + other.samples, self.total + other.total, self.squares + other.squares)


NO_EXCESS = SampleExcess(0, 0.0, 0.0)


def sample_excess(log: Log) -> SampleExcess:
    """Return the excess of a semi-bandit log's samples over independent pairs."""
    engine = log.engine
    # Sizes are part of the cell where they are known: a crowded room is no bad day.
    sized_by = engine.name("members") if log.has_memberships else None
    found = engine.table(
        group_by.excesses(engine.name("ratings"), sized_by, symmetric=log.symmetric, pooled=log.pool_coalitions)
    )
    samples, total, squares = (found[name][0].as_py() for name in ("samples", "total", "squares"))
    return SampleExcess(int(samples or 0), float(total or 0.0), float(squares or 0.0))
