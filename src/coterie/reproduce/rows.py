"""Tidy rows: one per game, number of samples and method; their CSV files."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie.errors import InputError
from coterie.files import naming, parse_csv, read_text, whole_file


@dataclass(frozen=True)
class Row:
    """What one method made of one log."""

    feedback: str
    model: str
    policy: str
    n: int
    k: int
    actions: int
    seed: int
    samples: int
    method: str
    certificate: float
    true_gap: float
    sweeps: int
    seconds: float
    """Of processor time, which does not depend on what else the machine does."""

    @classmethod
    def read(cls, values: dict[str, Any]) -> "Row":
        """Return a row from texts or JSON values."""
        kinds: dict[str, Any] = {"int": int, "float": float, "str": str}
        try:
            return cls(**{one.name: kinds[str(getattr(one.type, "__name__", one.type))](values[one.name])
                          for one in fields(cls)})  # fmt: skip
        except (KeyError, TypeError, ValueError):
            raise InputError(f"not a row of results: {values!r}") from None


COLUMNS = tuple(one.name for one in fields(Row))


def write_rows(path: Path, figure: str, rows: Iterable[tuple[str, Row]]) -> None:
    """Write the rows of a figure, each with the name of its panel."""
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["figure", "panel", *COLUMNS, "version"])
    for panel, row in rows:
        out.writerow([figure, panel, *(_short(value) for value in asdict(row).values()), __version__])
    with whole_file(path) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")


def read_rows(path: Path) -> list[tuple[str, Row]]:
    """Read what `write_rows` wrote: (panel, row)."""
    with naming(path):
        found = [(values[0], dict(zip(COLUMNS, values[1:], strict=True)))
                 for _, values in parse_csv(read_text(path), ["panel", *COLUMNS])]  # fmt: skip
        return [(panel, Row.read(values)) for panel, values in found]


def _short(value: Any) -> Any:
    return f"{value:.5g}" if isinstance(value, float) else value
