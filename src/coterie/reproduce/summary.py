"""What the tables say in numbers: decay with samples, growth with agents and coalitions, shares of exact stability."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from coterie import __version__
from coterie.errors import InputError
from coterie.files import read_json, read_text, whole_file
from coterie.reproduce.rows import Row

Tables = Mapping[str, Sequence[tuple[str, Row]]]
"""Figure -> (panel, row)."""


FORMAT = "coterie.reproduction/1"

FAR = 0.5
"""A true gap above this is far from stable, for utilities between -1 and 1."""


@dataclass(frozen=True)
class Curve:
    """One method on games of one size: how its certificate falls with the number of samples."""

    figure: str
    panel: str
    feedback: str
    model: str
    policy: str
    n: int
    k: int
    actions: int
    method: str
    runs: int
    """Games that each point is a mean over."""
    seeds: str
    """The seeds of these games."""
    first: float
    """The mean certificate with the fewest samples."""
    last: float
    """The mean certificate with the most samples."""
    exponent: float | None
    """b of the least-squares fit of certificate = a M^b on logarithms of the means; None with fewer than 3 positive
    means."""
    stable: float
    """The share of runs with the most samples whose profile was certified exactly stable: certificate 0."""
    true_gap: float
    """The mean true gap with the most samples."""
    held: float
    """The share of all runs, at any number of samples, whose certificate was not below the true gap."""
    logs: int
    """How many runs there are at all numbers of samples."""
    far: float
    """The share of these whose true gap was above `FAR`."""


@dataclass(frozen=True)
class Growth:
    """How a method's mean certificate with the most samples grows along a panel."""

    figure: str
    panel: str
    method: str
    varies: str
    exponent: float | None
    """b of the fit of certificate = a n^b (or k^b) on logarithms; None with fewer than 3 positive means."""


@dataclass(frozen=True)
class Line:
    """All curves of one method in one figure, in a line."""

    figure: str
    method: str
    curves: int
    runs: int
    """Logs with the most samples, over all curves."""
    first: tuple[float, float]
    """The smallest and the largest mean certificate with the fewest samples."""
    last: tuple[float, float]
    """The same with the most samples."""
    true_gap: tuple[float, float]
    """The smallest and the largest mean true gap with the most samples."""
    stable: int
    """How many of these runs were certified exactly stable."""
    held: float
    """The share of all runs, at any number of samples, whose certificate was not below the true gap."""


@dataclass(frozen=True)
class Summary:
    """All curves and how they grow."""

    curves: tuple[Curve, ...]
    growth: tuple[Growth, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the content of `summary.json`."""
        return {
            "format": FORMAT,
            "curves": [asdict(curve) for curve in self.curves],
            "growth": [asdict(growth) for growth in self.growth],
        }

    def write_csv(self, path: Path, others: Sequence[str] = ()) -> None:
        """Write the curves as a table, below what it says of other figures already."""
        text = io.StringIO(newline="")
        out = csv.writer(text, lineterminator="\n")
        header = [*(one.name for one in fields(Curve)), "version"]
        out.writerow(header)
        if others and path.exists():
            first, *rows = csv.reader(io.StringIO(read_text(path), newline=""))
            out.writerows(row for row in rows if first == header and row[0] in others)
        for curve in self.curves:
            values = [f"{value:.4g}" if isinstance(value, float) else value for value in asdict(curve).values()]
            out.writerow([*values, __version__])
        with whole_file(path) as temporary:
            temporary.write_text(text.getvalue(), encoding="utf-8")

    def lines(self) -> list[Line]:
        """Return what each method did in each figure, over all of its curves."""
        groups: dict[tuple[str, str], list[Curve]] = {}
        for curve in self.curves:
            groups.setdefault((curve.figure, curve.method), []).append(curve)
        return [_line(figure, method, own) for (figure, method), own in groups.items()]

    def of(self, figure: str, **wanted: Any) -> list[Curve]:
        """Return the curves of a figure with these properties."""
        return [
            curve
            for curve in self.curves
            if curve.figure == figure and all(getattr(curve, key) == value for key, value in wanted.items())
        ]


def written_before(folder: Path, names: Iterable[str]) -> dict[str, Any]:
    """Return what an earlier run wrote in `summary.json` of other figures, as long as their tables are there."""
    try:
        about = read_json(folder / "summary.json")
        if about["format"] != FORMAT:
            return {}
        kept = [name for name in about["seeds"] if name not in names and (folder / f"{name}.csv").exists()]
        of_figures = {part: {name: about[part][name] for name in kept} for part in ("seeds", "methods")}
        lists = {part: [one for one in about[part] if one["figure"] in kept] for part in ("curves", "growth")}
        return {**of_figures, **lists, "quick": about["quick"]} if kept else {}
    except (InputError, TypeError, KeyError):  # none, or not ours
        return {}


def with_earlier(about: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `summary.json` with what was written before of other figures."""
    if not earlier:
        return dict(about)
    return {
        **about,
        **{part: {**earlier[part], **about[part]} for part in ("seeds", "methods")},
        **{part: [*earlier[part], *about[part]] for part in ("curves", "growth")},
        "quick": about["quick"] and earlier["quick"],
    }


def _line(figure: str, method: str, curves: Sequence[Curve]) -> Line:
    def ends(values: Sequence[float]) -> tuple[float, float]:
        return min(values), max(values)

    runs = sum(curve.runs for curve in curves)
    return Line(
        figure,
        method,
        len(curves),
        runs,
        ends([curve.first for curve in curves]),
        ends([curve.last for curve in curves]),
        ends([curve.true_gap for curve in curves]),
        round(sum(curve.stable * curve.runs for curve in curves)),
        sum(curve.held * curve.runs for curve in curves) / runs,
    )


def exponent(x: Iterable[float], y: Iterable[float]) -> float | None:
    """Return b of the least-squares fit of log y = log a + b log x over positive y; None with fewer than 3 points."""
    at, values = np.asarray(list(x), dtype=np.float64), np.asarray(list(y), dtype=np.float64)
    kept = (values > 0) & np.isfinite(values)
    if kept.sum() < 3:
        return None
    return float(np.polyfit(np.log(at[kept]), np.log(values[kept]), 1)[0])


def summarise(tables: Tables) -> Summary:
    """Return every curve of every figure, and the growth along panels that vary n or k."""
    curves, growth = [], []
    for figure, rows in tables.items():
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for panel, row in rows:
            key = (panel, row.feedback, row.model, row.policy, row.n, row.k, row.actions, row.method)
            groups.setdefault(key, []).append(row)
        found = [_curve(figure, key, group) for key, group in groups.items()]
        curves += found
        growth += _growth(figure, found)
    return Summary(tuple(curves), tuple(growth))


def _curve(figure: str, key: tuple[Any, ...], rows: Sequence[Row]) -> Curve:
    lengths = sorted({row.samples for row in rows})
    by_length = [[row for row in rows if row.samples == length] for length in lengths]
    means = [float(np.mean([row.certificate for row in group])) for group in by_length]
    panel, feedback, model, policy, n, k, actions, method = key
    last = by_length[-1]
    return Curve(
        figure, panel, feedback, model, policy, n, k, actions, method, len(last),
        " ".join(str(seed) for seed in sorted({row.seed for row in last})), means[0], means[-1],
        exponent(lengths, means),
        float(np.mean([row.certificate == 0 for row in last])),
        float(np.mean([row.true_gap for row in last])),
        float(np.mean([row.certificate >= row.true_gap - 1e-9 for row in rows])),
        len(rows),
        float(np.mean([row.true_gap > FAR for row in rows])),
    )  # fmt: skip


def _growth(figure: str, curves: Sequence[Curve]) -> list[Growth]:
    found = []
    for panel in dict.fromkeys(curve.panel for curve in curves):
        for method in dict.fromkeys(curve.method for curve in curves):
            own = [curve for curve in curves if (curve.panel, curve.method) == (panel, method)]
            for varies in ("n", "k"):
                at = [float(getattr(curve, varies)) for curve in own]
                if len(set(at)) > 1:
                    fit = exponent(at, [curve.last for curve in own])
                    found.append(Growth(figure, panel, method, varies, fit))
    return found
