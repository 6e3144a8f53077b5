"""Do mean utilities change over time? What a log shows of that.

Samples are halved twice: into earlier and later ones, and at random into two folds. One fold suggests by how much d
the mean of each pair and coalition changed (mixed with the change of all pairs). On the other, every value x of a
sample with q values counts 1 / q; where the values of a pair, coalition (and size, if it is known) count c before
and c' after, the weights

    w = -(d / q) c' / (c + c') before,    w = (d / q) c / (c + c') after

add up to 0, so the sum of w x has mean 0 if means do not change, and is positive where they change as suggested. The
terms are added up by sample, y = sum of w (x - mean in the other fold), since samples are independent even where the
pairs of one are not. `coterie.assumptions.drift` has the test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coterie.log.log import Log
from coterie.statistics import group_by
from coterie.statistics.examined import examined
from coterie.statistics.parts import HALVES, Division


@dataclass(frozen=True)
class Contrast:
    """What the samples of one fold say of the change that the other fold suggests."""

    samples: int = 0
    total: float = 0.0
    """The sum of y over samples."""
    squares: float = 0.0
    """The sum of y^2."""
    reaches: float = 0.0
    """The sum of a^2, where a is the sum of |w| in a sample: y lies within an interval of a times the range."""
    deepest: float = 0.0
    """The largest R such that some y may be as low as -R, given the range."""

    def __add__(self, other: "Contrast") -> "Contrast":
        """Return the contrast of two logs without common samples: the terms of both, which are independent."""
        return Contrast(
            self.samples + other.samples,
            self.total + other.total,
            self.squares + other.squares,
            self.reaches + other.reaches,
            max(self.deepest, other.deepest),
        )


@dataclass(frozen=True)
class Change:
    """The pair whose mean seems to have changed most, by the squared change times how often it was seen."""

    weight: float
    coalition: str
    """Empty where coalitions are interchangeable."""
    agent: str
    partner: str
    before: float
    after: float


@dataclass(frozen=True)
class Drift:
    """The contrast between earlier and later samples, by fold, and its witness."""

    folds: tuple[Contrast, Contrast] = (Contrast(), Contrast())
    change: Change | None = None
    logs: int = 0
    """How many logs were added up, each compared with itself."""

    def __add__(self, other: "Drift") -> "Drift":
        """Return the contrast of two logs, each with halves of its own.

        A change within each of the logs is seen, one between two logs is not: nothing says which is the later.
        """
        changes = [one.change for one in (self, other) if one.change is not None]
        first, second = (ours + theirs for ours, theirs in zip(self.folds, other.folds, strict=True))
        witness = max(changes, key=lambda one: one.weight, default=None)
        return Drift((first, second), witness, self.logs + other.logs)

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> "Drift":
        """Read what `asdict` wrote; None is what older files hold."""
        if data is None:
            return NO_DRIFT
        first, second = (Contrast(**fold) for fold in data["folds"])
        change = None if data["change"] is None else Change(**data["change"])
        return cls((first, second), change, data.get("logs", 1))


NO_DRIFT = Drift()


def drift_of(log: Log, seed: int, pairs: str | None = None) -> Drift:
    """Return the contrast between the first and the second half of a semi-bandit log's samples.

    `pairs` is the view of the ratings that are `examined`, where there is one already.
    """
    engine = log.engine
    engine.lookup("halves", log.samples.halves())
    fold = Division.by_shares(HALVES, seed).sql("h.sample")
    # Sizes are part of the cell where they are known: larger teams are no change of means.
    pairs, sized_by = pairs or examined(log), engine.name("members") if log.has_memberships else None
    # Stored, so that its few rows are known to be few: else all pairs would be held in memory to look them up.
    rooms = group_by.timed_rooms(pairs, engine.name("halves"), fold, sized_by, pooled=log.pool_coalitions)
    engine.view("timed_rooms", rooms, stored=True)
    rows = group_by.timed_rows(
        pairs, engine.name("timed_rooms"), sized_by, symmetric=log.symmetric, pooled=log.pool_coalitions
    )
    engine.view("timed_cells", group_by.timed_cells(rows), stored=True)
    cells, limits = engine.name("timed_cells"), log.counted.limits
    folds = [Contrast(), Contrast()]
    for row in engine.rows(group_by.time_contrasts(rows, cells, limits)):
        folds[int(row["fold"])] = Contrast(
            int(row["samples"]), float(row["total"]), float(row["squares"]), float(row["reaches"]),
            float(row["deepest"]),
        )  # fmt: skip
    found = engine.rows(group_by.largest_change(cells))
    names = ("weight", "room", "one", "two", "before", "after")
    change = Change(*(found[0][name] for name in names)) if found else None
    return Drift((folds[0], folds[1]), change, logs=1)
