"""What tests of assumptions need of a log, kept with its statistics.

So whoever has the statistics can be warned like whoever has the log: later, elsewhere, and after
adding them up. No estimate and no certificate looks at clues.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pyarrow as pa

from coterie.log.samples import in_sequence
from coterie.statistics.contrast import SizeContrast, added
from coterie.statistics.dependence import NO_EXCESS, SampleExcess
from coterie.statistics.drift import NO_DRIFT, Drift
from coterie.statistics.fresh import NO_HASHES, UNCHECKED, Hashes, united, united_marks
from coterie.statistics.pair_statistics import PairStatistics, relabelled_pairs
from coterie.statistics.parts import HALVES
from coterie.statistics.setting import Setting, positions
from coterie.sums import Sums

SIZED_CELLS = 20_000_000
"""Whether size matters is tested for up to so many pairs x coalitions x sizes."""

MOST_MEETINGS = 1 << 28
"""Which meetings have no row is found out where there were at most so many."""


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
    drift: Drift = NO_DRIFT
    """How earlier samples differ from later ones."""
    samples: Hashes = field(default_factory=lambda: NO_HASHES)
    """Hashes of the names of all samples; fewer than there are samples where they are not known."""
    marks: tuple[str, ...] = ()
    """Marks of a few samples, see `coterie.statistics.fresh`."""
    unrecorded: Sums | None = None
    """How many meetings have no row: keys (coalition, agent, partner), only those that lack some. Bandit logs: keys
    (agent,), how often she was a member without a total. None where it is not known who met whom."""
    by_order: PairStatistics | None = None
    """The log by who is listed as the agent of a pair, sizes ignored; where the two are taken to get the same."""
    agreed: int = 0
    """How often both people of a pair showed what they got, and it was the same; see `coterie.log.checking.Checked`."""
    since: str | None = None
    """The first sample that was asked for; None where none was, or where logs were added that differ in this."""
    until: str | None = None
    """The last sample that was asked for."""
    period: tuple[str, str] | None = None
    """The names of the first and the last sample, where samples are dates."""
    not_lately: tuple[tuple[str, str], ...] = ()
    """Who was not seen in the last part of the log, and the last sample that they were in; of logs that were added up
    that is not known."""

    totals: str = ""
    """What the totals of the log are, as `read_log` is told; "" where there are none, or several kinds were added."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What the tables of the log call who and in which team, where they have words of their own."""

    def relabelled(self, old: Setting, new: Setting) -> "Clues":
        """Return the same clues among the names of a wider setting, but for sums by size, which know theirs."""
        if self.unrecorded is None or (old.agents, old.coalitions) == (new.agents, new.coalitions):
            return self
        agents = positions(old.agents, new.agents)
        if new.feedback == "bandit":
            return replace(self, unrecorded=self.unrecorded.relabelled([agents]))
        tables = None if new.pool_coalitions else positions(old.coalitions, new.coalitions)
        moved = relabelled_pairs(self.unrecorded, agents, tables, symmetric=new.symmetric)
        return replace(self, unrecorded=moved)

    def merged(self, other: "Clues", setting: Setting, *, complete: bool = True) -> "Clues":
        """Return the clues of two logs without common samples, for the setting of both together.

        A log that has no sums by size, for want of memberships, adds nothing to those of the other. They
        are a test of that other log then, and as valid as before. The extent is known only where both are. Common
        samples are refused; where not all hashes are known, which is for the caller to say, a note says that this
        was not checked.
        """
        extent = None
        if self.extent is not None and other.extent is not None:
            extent = (min(self.extent[0], other.extent[0]), max(self.extent[1], other.extent[1]))
        return Clues(
            _once(self.notes + other.notes + (() if complete else (UNCHECKED,))),
            extent,
            _merged_by_size(self.by_size, other.by_size, setting),
            added(self.contrasts + other.contrasts),
            self.excess + other.excess,
            _both(self.decisive, other.decisive),
            self.drift + other.drift,
            united(self.samples, other.samples),
            united_marks(self.marks, other.marks),
            _merged_unrecorded(self.unrecorded, other.unrecorded),
            _merged_by_order(self.by_order, other.by_order, setting),
            self.agreed + other.agreed,
            self.since if self.since == other.since else None,
            self.until if self.until == other.until else None,
            _merged_period(self.period, other.period),
            totals=self.totals if self.totals == other.totals else "",
            called={**other.called, **self.called},
        )

    def to_json(self) -> dict[str, Any]:
        """Return all but arrays as plain values."""
        extent = None if self.extent is None else list(self.extent)
        decisive = None if self.decisive is None else asdict(self.decisive)
        return {
            "notes": list(self.notes),
            "extent": extent,
            "contrasts": [asdict(one) for one in self.contrasts],
            "excess": asdict(self.excess),
            "decisive": decisive,
            "drift": asdict(self.drift),
            "marks": list(self.marks),
            "agreed": self.agreed,
            "since": self.since,
            "until": self.until,
            "period": None if self.period is None else list(self.period),
            "not_lately": [list(one) for one in self.not_lately],
            "totals": self.totals,
            **({"called": dict(self.called)} if self.called else {}),
        }

    def arrays(self) -> dict[str, Any]:
        """Return the arrays that are kept beside the sums by size and by order."""
        found: dict[str, Any] = {"sample_hashes": self.samples} if len(self.samples) else {}
        if self.unrecorded is not None:
            found |= {"unrecorded_keys": self.unrecorded.keys, "unrecorded_values": self.unrecorded.values}
        return found

    @classmethod
    def from_json(
        cls,
        data: Mapping[str, Any],
        by_size: tuple[PairStatistics, ...],
        by_order: PairStatistics | None,
        arrays: Mapping[str, Any],
    ) -> "Clues":
        """Read what `to_json` and `arrays` returned; files that are older lack some of it."""
        extent = None if data["extent"] is None else (data["extent"][0], data["extent"][1])
        decisive = data.get("decisive")
        return cls(
            tuple(data["notes"]),
            extent,
            by_size,
            tuple(SizeContrast(**one) for one in data.get("contrasts", ())),
            SampleExcess.from_json(data["excess"]),
            None if decisive is None else SampleExcess.from_json(decisive),
            Drift.from_json(data.get("drift")),
            arrays.get("sample_hashes", NO_HASHES),
            tuple(data.get("marks", ())),
            Sums(arrays["unrecorded_keys"], arrays["unrecorded_values"]) if "unrecorded_keys" in arrays else None,
            by_order,
            data.get("agreed", 0),
            data.get("since"),
            data.get("until"),
            None if data.get("period") is None else (data["period"][0], data["period"][1]),
            tuple((name, sample) for name, sample in data.get("not_lately", ())),
            data.get("totals", ""),
            data.get("called", {}),
        )


NO_CLUES = Clues()


def can_test_sizes(setting: Setting) -> bool:
    """Return whether sizes are ignored by these statistics, and few enough to be tested."""
    n = setting.n_agents
    cells = setting.n_tables * n * n * (n + 1)
    return setting.feedback == "semi-bandit" and setting.sizes == "ignore" and cells <= SIZED_CELLS


def by_size_setting(setting: Setting) -> Setting:
    """Return the setting of the sums by size that go with some statistics."""
    return replace(setting, sizes="aware", noise="pairs", shares=HALVES, missing="ignore")


ALIKE = "; other logs that were added are alike"


def _once(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes without repetitions; of those that differ in numbers and names only, the first for all."""
    found: dict[str, str] = {}
    for note in notes:
        kind = re.sub(r"\d[\d,]*|'[^']*'", "#", note.removesuffix(ALIKE))
        first = found.setdefault(kind, note)
        if note != first and not first.endswith(ALIKE):
            found[kind] = first + ALIKE
    return tuple(found.values())


def _merged_unrecorded(ours: Sums | None, theirs: Sums | None) -> Sums | None:
    return ours + theirs if ours is not None and theirs is not None else ours or theirs


def by_order_setting(setting: Setting) -> Setting:
    """Return the setting of the sums by order that go with some statistics."""
    return replace(setting, symmetric=False, sizes="ignore", noise="pairs", shares=(1.0,), missing="ignore")


def _merged_by_order(
    ours: PairStatistics | None, theirs: PairStatistics | None, setting: Setting
) -> PairStatistics | None:
    ordered = by_order_setting(setting)
    if ours is not None and theirs is not None:
        return ours.merged(theirs, ordered)
    one = ours or theirs
    return None if one is None else one.relabelled(ordered)


def _merged_period(ours: tuple[str, str] | None, theirs: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return the first and the last of two logs' samples; None where one has no dates, or others."""
    if ours is None or theirs is None:
        return None
    return in_sequence(pa.array([*ours, *theirs]).unique()).period


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
