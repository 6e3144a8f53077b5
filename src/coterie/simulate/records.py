"""Records of people with known truth: who was where, what came of it, and who is there today."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from coterie.files import to_json, whole_folder
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.truth import write_truth
from coterie.log.log import Log
from coterie.log.options import FrameOptions
from coterie.simulate.logs import Feedback, tables_of
from coterie.simulate.writing import TableFormat, table_writer
from coterie.statistics.in_memory import Batch


@dataclass(frozen=True, eq=False)
class Records:
    """What happened in one place, and the truth behind it."""

    truth: Game
    """The exact means of what is recorded, counted from the neutral point, of all in the records or on the staff."""
    outcomes: Batch
    """Who was where in every sample (`outcomes.joined`, shape (samples, n, k)), and what each pair got."""
    feedback: Feedback
    utility_range: tuple[float, float]
    """Where recorded utilities of a pair lie."""
    neutral: float
    """The recorded utility that is worth as much as being alone."""
    pooled: bool
    """Whether coalitions are interchangeable."""
    staff: tuple[str, ...]
    """Who is to be assigned now, in the order of the game's agents."""
    actions: str = "one"
    """How many coalitions somebody may join at once."""
    unit: str | None = None
    """What is recorded is counted in it, such as stars."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """What `truth.json` says of where the records come from."""

    @property
    def today(self) -> Strategy:
        """The teams of the last sample; who left before has none, and neither has who comes now."""
        return Strategy.pure(self.outcomes.joined[-1], self.truth.agents, self.truth.coalitions)

    @property
    def recorded(self) -> tuple[str, ...]:
        """Who is in the records."""
        return self._names(self.outcomes.joined.any(axis=(0, 2)))

    @property
    def leavers(self) -> tuple[str, ...]:
        """Who is in the records, and not on the staff."""
        return tuple(name for name in self.recorded if name not in set(self.staff))

    @property
    def newcomers(self) -> tuple[str, ...]:
        """Who is on the staff, and not in the records."""
        return tuple(name for name in self.staff if name not in set(self.recorded))

    @property
    def tables(self) -> dict[str, Any]:
        """The records as Arrow record batches: `memberships`, and `pairs` or `totals`."""
        shown = replace(self.outcomes, utility=self.outcomes.utility + self.neutral)
        return tables_of(shown, self.truth.agents, self.truth.coalitions, self.feedback)

    @property
    def description(self) -> dict[str, Any]:
        """What `log.json` declares: scale, names of those in the records, what they may do."""
        return {
            "utility_range": list(self.utility_range),
            "neutral": self.neutral,
            "symmetric": self.truth.is_symmetric,
            "pool_coalitions": self.pooled,
            "agents": list(self.recorded),
            "coalitions": self.truth.n_coalitions if self.pooled else list(self.truth.coalitions),
            "actions": self.actions,
            **({"unit": self.unit} if self.unit else {}),
        }

    def log(self, **options: Unpack[FrameOptions]) -> Log:
        """Return the records as a log; options win over what is declared."""
        declared: Any = {**self.description, **options}
        return Log.from_frames(**self.tables, **declared)

    def write_log(self, path: Path, *, table_format: TableFormat = "csv") -> None:
        """Write a folder, whole or not at all: the log, its truth, and `today.csv` and `staff.csv` beside them."""
        with whole_folder(path) as folder:
            with table_writer(folder, table_format) as write:
                for name, table in self.tables.items():
                    write(name, table)
            described = {"format": "coterie.log/1", "feedback": self.feedback, **self.description}
            (folder / "log.json").write_text(to_json(described), encoding="utf-8")
            write_truth(folder / "truth.json", self.truth, self.provenance)
            teams = [f"{agent},{team}" for team, members in self.today.members().items() for agent in members]
            for name, lines in (("today", ["agent,coalition", *teams]), ("staff", ["agent", *self.staff])):
                (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _names(self, which: Any) -> tuple[str, ...]:
        return tuple(self.truth.agents[place] for place in np.flatnonzero(which))
