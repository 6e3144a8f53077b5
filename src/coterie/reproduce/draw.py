"""Pictures of the figures. Colours are safe for colour-blind readers, and lines differ in style as well."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.files import whole_file
from coterie.reproduce.experiments import Figure, Panel
from coterie.reproduce.rows import Row

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
"""From the palette of Okabe and Ito, in an order that differs in lightness too."""

STYLES: dict[str, dict[str, Any]] = {
    "paper": {"linestyle": (0, (4, 2)), "marker": "s"},
    "auto": {"linestyle": "-", "marker": "o"},
    "auto mixed": {"linestyle": (0, (1, 1)), "marker": "^"},
}

LABELS = {"paper": "paper", "auto": "ours", "auto mixed": "ours, mixed strategies"}

MODEL_NAMES = {
    "uniform": "uniform",
    "size-uniform": "size-dependent uniform",
    "gaussian": "Gaussian",
    "size-gaussian": "size-dependent Gaussian",
    "gaussian-redrawn": "Gaussian, means redrawn",
}

POLICY_NAMES = {"random": "random policy", "1rand": "1Rand", "coalition-size": "coalition-size policy"}

ZERO_MEANS = ("uniform", "size-uniform", "gaussian-redrawn")
"""Models in which every strategy is stable."""

SMALLEST = 0.05
"""Below this the axis of certificates is linear, so that 0 has a place."""

DOTS = 150
"""Dots per inch."""

SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 2.8,
    "legend.frameon": False,
}


def require_matplotlib() -> None:
    """Refuse to begin where pictures could not be made."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'coterie[figures]'") from None
    del mpl


def draw(figure: Figure, rows: Sequence[tuple[str, Row]], path: Path) -> None:
    """Write a figure as a PNG file of about 7 inches width."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(SETTINGS):
        canvas = _ablation(figure, rows, Canvas) if figure.name == "ablation" else _curves(figure, rows, Canvas)
        drawn = io.BytesIO()
        canvas.savefig(drawn, format="png", dpi=DOTS)
    from PIL import Image  # comes with matplotlib

    with whole_file(path) as temporary, Image.open(drawn) as image:
        # Few colours are drawn: a palette makes the file three times smaller.
        image.convert("RGB").quantize(128).save(temporary, format="png", optimize=True)


def _curves(figure: Figure, rows: Sequence[tuple[str, Row]], canvas_of: Any) -> Any:
    across = 2
    down = -(-len(figure.panels) // across)
    canvas = canvas_of(figsize=(7.0, 0.75 + 1.95 * down), layout="constrained")
    axes = canvas.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    has_means = any(panel.model not in ZERO_MEANS for panel in figure.panels)
    for place, panel in enumerate(figure.panels):
        axis = axes[place // across, place % across]
        _panel(axis, panel, figure.methods, [row for name, row in rows if name == panel.name and _belongs(row, panel)])
        if place % across == 0:
            axis.set_ylabel("gap")
        if place // across == down - 1:
            axis.set_xlabel("samples M")
    # Where panels have legends of their own, there is room for them above the highest line.
    top = (5 if figure.panels[0].varies else 1.6) * max(row.certificate for _, row in rows)
    axes[0, 0].set_ylim(-0.01, top)
    axes[0, 0].set_yticks(*_ticks(top))
    for axis in axes.ravel()[len(figure.panels) :]:
        axis.set_visible(False)
    _legend(canvas, figure.methods, has_means=has_means)
    return canvas


def _ticks(top: float) -> tuple[list[float], list[str]]:
    """Return 0 and powers of ten up to the top, with their names."""
    powers = [power for power in range(-1, 4) if 10.0**power <= top]
    return [0.0, *(10.0**power for power in powers)], ["0", *(f"{10.0**power:g}" for power in powers)]


def _belongs(row: Row, panel: Panel) -> bool:
    return row.feedback == panel.feedback and row.actions == panel.actions


def _panel(axis: Any, panel: Panel, methods: Sequence[str], rows: Sequence[Row]) -> None:
    from matplotlib.ticker import NullLocator

    handles = []
    for place, (n, k) in enumerate(panel.curves):
        colour = COLOURS[place % len(COLOURS)]
        for method in methods:
            own = [row for row in rows if (row.n, row.k, row.method) == (n, k, method)]
            lengths = np.array(sorted({row.samples for row in own}))
            certificates, gaps = (_by_length(own, lengths, name) for name in ("certificate", "true_gap"))
            mean, spread = certificates.mean(axis=1), certificates.std(axis=1)
            (line,) = axis.plot(lengths, mean, color=colour, **STYLES[method])
            axis.fill_between(lengths, np.maximum(mean - spread, 0), mean + spread, color=colour, alpha=0.15, lw=0)
            if method == methods[-1]:
                handles.append((line, f"{panel.varies} = {n if panel.varies == 'n' else k}"))
            if panel.model not in ZERO_MEANS:
                filled = {"markerfacecolor": "white"} if STYLES[method]["marker"] == "o" else {}
                shape = {"paper": "x", "auto": "o", "auto mixed": "+"}[method]
                axis.plot(lengths, gaps.mean(axis=1), color=colour, linestyle="none", marker=shape,
                          markersize=4 if shape != "o" else 3.6, markeredgewidth=0.8, alpha=0.9, **filled)  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=SMALLEST, linscale=0.5)
    axis.yaxis.set_minor_locator(NullLocator())
    axis.grid(visible=True, axis="y", linewidth=0.3, alpha=0.6)
    axis.set_title(_title(panel), pad=3)
    if panel.varies:
        axis.legend(*zip(*handles, strict=True), loc="upper right", ncols=len(handles), handlelength=1.2,
                    columnspacing=0.8, labelspacing=0.2, borderpad=0.1)  # fmt: skip


def _by_length(rows: Sequence[Row], lengths: Any, name: str) -> FloatArray:
    """Return a number of every game at every length, shape (lengths, games)."""
    return np.array([[getattr(row, name) for row in rows if row.samples == length] for length in lengths])


def _title(panel: Panel) -> str:
    n, k = panel.curves[0]
    if panel.model.startswith("mixed-effects"):
        return f"{panel.feedback}, {POLICY_NAMES[panel.policy]}, n = {n}"
    fixed = {"n": f"k = {k}", "k": f"n = {n}", "": f"n = {n}, k = {k}"}[panel.varies]
    more = f", {panel.actions} actions" if panel.actions != 3 else ""
    return f"{MODEL_NAMES[panel.model]}, {POLICY_NAMES[panel.policy]}, {fixed}{more}"


def _legend(canvas: Any, methods: Sequence[str], *, has_means: bool) -> None:
    from matplotlib.lines import Line2D

    shapes = {"paper": "x", "auto": "o", "auto mixed": "+"}
    handles = [
        Line2D([], [], color="black", label=f"certificate, {LABELS[method]}", **STYLES[method]) for method in methods
    ]
    if has_means:
        handles += [
            Line2D([], [], color="black", linestyle="none", marker=shapes[method], markersize=4, markeredgewidth=0.8,
                   markerfacecolor="white", label=f"true gap, {LABELS[method]}")
            for method in methods
        ]  # fmt: skip
    canvas.legend(handles=handles, loc="outside upper center", ncols=len(handles), handlelength=2.6, columnspacing=1.4)


STEP_NAMES = {
    "monte carlo": "paper, Monte Carlo",
    "exact": "+ exact expectations",
    "union bound": "+ correct union bound",
    "clipped": "+ clipped to the range",
    "paired": "+ kept coalitions cancel",
    "pure search": "+ search over pure profiles",
    "union form": "+ sum inside the root",
    "held out": "held out instead",
    "variance": "+ variance-aware",
    "auto": "auto, as coterie learn",
}


def _ablation(figure: Figure, rows: Sequence[tuple[str, Row]], canvas_of: Any) -> Any:
    canvas = canvas_of(figsize=(7.0, 3.3), layout="constrained")
    axes = canvas.subplots(1, len(figure.panels), sharey=True, sharex=True, squeeze=False)[0]
    lengths = figure.samples
    for axis, panel in zip(axes, figure.panels, strict=True):
        own = [row for name, row in rows if name == panel.name]
        for place, length in enumerate(lengths):
            values = [[row.certificate for row in own if (row.method, row.samples) == (step, length)]
                      for step in figure.methods]  # fmt: skip
            mean = np.array([np.mean(group) for group in values])
            spread = np.array([np.std(group) for group in values])
            height = np.arange(len(mean)) + (place - len(lengths) / 2) * 0.1
            axis.errorbar(mean, height, xerr=[np.minimum(spread, mean), spread], color=COLOURS[place], marker="o",
                          linestyle="-", linewidth=0.8, elinewidth=0.6, label=f"M = {length:,}")  # fmt: skip
        axis.set_xscale("symlog", linthresh=SMALLEST, linscale=0.5)
        axis.grid(visible=True, linewidth=0.3, alpha=0.6)
        axis.set_title(_title(panel), pad=3)
        axis.set_xlabel("certificate")
    top = 1.6 * max(row.certificate for _, row in rows)
    axes[0].set_xlim(-0.01, top)
    axes[0].set_xticks(*_ticks(top))
    axes[0].set_yticks(range(len(figure.methods)), [STEP_NAMES[step] for step in figure.methods])
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return canvas
