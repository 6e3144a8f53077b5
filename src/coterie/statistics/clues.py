"""What tests of assumptions need of a log, kept with its statistics.

So whoever has the statistics can be warned like whoever has the log: later, elsewhere, and after
adding them up. No estimate and no certificate looks at clues.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from coterie.statistics.contrast import SizeContrast, added
from coterie.statistics.dependence import NO_EXCESS, SampleExcess
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import HALVES
from coterie.statistics.setting import Setting

SIZED_CELLS = 20_000_000
"""Whether size matters is tested for up to so many pairs x coalitions x sizes."""


@dataclass(frozen=True, eq=False)
class Clues:
    """Hints at assumptions that fail; those of statistics made without any are empty."""

    notes: tuple[str, ...] = ()
    """What a reader of results should know about how the log was read."""
    extent: tuple[float, float] | None = None
    """The smallest and the largest utility."""
    by_size: tuple[PairStatistics, ...] = ()
    """The log by coalition size in two halves, whatever its parts; given memberships, and where `can_test_sizes`."""
    contrasts: tuple[SizeContrast, ...] = ()
    """Between sizes, sample by sample; of each log on its own, where logs were added."""
    excess: SampleExcess = NO_EXCESS
    """How far pairs of one sample move together, where they are taken to be independent."""
    decisive: SampleExcess | None = None
    """How far they do in the samples that learn, where that decided what is taken to be independent."""

    def merged(self, other: "Clues", setting: Setting) -> "Clues":
        """Return the clues of two logs without common samples, for the setting of both together.

        A log that has no sums by size, for want of memberships, adds nothing to those of the other. They
        are a test of that other log then, and as valid as before.
        """
        extents = [one.extent for one in (self, other) if one.extent is not None]
        extent = (min(low for low, _ in extents), max(high for _, high in extents)) if extents else None
        return Clues(
            tuple(dict.fromkeys(self.notes + other.notes)),
            extent,
            _merged_by_size(self.by_size, other.by_size, setting),
            added(self.contrasts + other.contrasts),
            self.excess + other.excess,
            _both(self.decisive, other.decisive),
        )

    def to_json(self) -> dict[str, Any]:
        """Return all but the sums by size as plain values."""
        extent = None if self.extent is None else list(self.extent)
        decisive = None if self.decisive is None else asdict(self.decisive)
        contrasts = [asdict(one) for one in self.contrasts]
        return {
            "notes": list(self.notes),
            "extent": extent,
            "excess": asdict(self.excess),
            "decisive": decisive,
            "contrasts": contrasts,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], by_size: tuple[PairStatistics, ...]) -> "Clues":
        """Read what `to_json` wrote."""
        extent = None if data["extent"] is None else (data["extent"][0], data["extent"][1])
        decisive = data.get("decisive")  # files of the first releases know of no choice
        return cls(
            tuple(data["notes"]),
            extent,
            by_size,
            tuple(SizeContrast(**one) for one in data.get("contrasts", ())),
            SampleExcess(**data["excess"]),
            None if decisive is None else SampleExcess(**decisive),
        )


NO_CLUES = Clues()


def can_test_sizes(setting: Setting) -> bool:
    """Return whether sizes are ignored by these statistics, and few enough to be tested."""
    n = setting.n_agents
    cells = setting.n_tables * n * n * (n + 1)
    return setting.feedback == "semi-bandit" and setting.sizes == "ignore" and cells <= SIZED_CELLS


def by_size_setting(setting: Setting) -> Setting:
    """Return the setting of the sums by size that go with some statistics."""
    return replace(setting, sizes="aware", noise="pairs", shares=HALVES)


def _both(ours: SampleExcess | None, theirs: SampleExcess | None) -> SampleExcess | None:
    """Return what decided for two logs; one that was reduced like the other has nothing to add."""
    return ours + theirs if ours is not None and theirs is not None else ours or theirs


def _merged_by_size(
    ours: tuple[PairStatistics, ...], theirs: tuple[PairStatistics, ...], setting: Setting
) -> tuple[PairStatistics, ...]:
    if not can_test_sizes(setting):  # together there are too many agents and coalitions
        return ()
    sized = by_size_setting(setting)
    if ours and theirs:
        return tuple(one.merged(other, sized) for one, other in zip(ours, theirs, strict=True))
    return tuple(one.relabelled(sized) for one in ours or theirs)
