"""Pictures of the figures. Colours are safe for colour-blind readers, and lines differ in style as well.

A panel has two axes: certificates above, and below them the true gaps of what was recommended.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie import __version__
from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.files import whole_file
from coterie.reproduce.experiments import ABLATION, Figure, Panel
from coterie.reproduce.rows import Row

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
"""From the palette of Okabe and Ito, in an order that differs in lightness too."""

LINES: dict[str, Any] = {
    "solid": "-",
    "dashed": (0, (4, 2)),
    "dotted": (0, (1, 1)),
    "dash-dotted": (0, (5, 1, 1, 1)),
    "dash-dot-dotted": (0, (3, 1, 1, 1, 1, 1)),
    "long dashes": (0, (8, 2)),
    "short dashes": (0, (2, 2)),
}

MARKERS = {
    "circles": "o",
    "squares": "s",
    "triangles": "^",
    "diamonds": "D",
    "triangles that point down": "v",
    "plus signs": "P",
    "crosses": "X",
}

STYLES = {"paper": ("dashed", "squares"), "auto": ("solid", "circles"), "auto mixed": ("dotted", "triangles")}
"""The line and the markers of a method, in words that captions use too."""

OTHER_STYLES = (
    ("dash-dotted", "diamonds"),
    ("dash-dot-dotted", "triangles that point down"),
    ("long dashes", "plus signs"),
    ("short dashes", "crosses"),
)
"""For methods without a style, in their order."""

LABELS = {"paper": "paper", "auto": "ours", "auto mixed": "ours, mixed strategies"}

MODEL_NAMES = {
    "uniform": "uniform",
    "size-uniform": "size-dependent uniform",
    "gaussian": "Gaussian",
    "size-gaussian": "size-dependent Gaussian",
    "gaussian-redrawn": "Gaussian, means redrawn",
    "gaussian-pairs": "Gaussian, one mean per pair",
    "size-gaussian-pairs": "size-dependent Gaussian, one mean per pair",
    "size-gaussian-redrawn": "size-dependent Gaussian, means redrawn",
}

POLICY_NAMES = {"random": "random policy", "1rand": "1Rand", "coalition-size": "coalition-size policy"}

ZERO_MEANS = ("uniform", "size-uniform", "gaussian-redrawn", "size-gaussian-redrawn")
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
        canvas = _ablation(figure, rows, Canvas) if figure.methods == ABLATION else _curves(figure, rows, Canvas)
        drawn = io.BytesIO()
        canvas.savefig(drawn, format="png", dpi=DOTS)
    from PIL import Image, PngImagePlugin  # comes with matplotlib

    about = PngImagePlugin.PngInfo()
    about.add_text("Software", f"coterie {__version__}")
    about.add_text("Comment", f"figure {figure.name}, seeds {', '.join(map(str, figure.games))}")
    with whole_file(path) as temporary, Image.open(drawn) as image:
        # Few colours are drawn: a palette makes the file three times smaller.
        image.convert("RGB").quantize(128).save(temporary, format="png", optimize=True, pnginfo=about)


def style(method: str, methods: Sequence[str]) -> tuple[str, str]:
    """Return the line and the markers of one of the methods of a figure, in words."""
    others = [name for name in methods if name not in STYLES]
    return STYLES[method] if method in STYLES else OTHER_STYLES[others.index(method) % len(OTHER_STYLES)]


def _drawn(method: str, methods: Sequence[str], curve: int | None) -> dict[str, Any]:
    """Return how a method's line is drawn: in the colour of its curve, or of itself where a panel has only one."""
    line, marker = style(method, methods)
    colour = COLOURS[(methods.index(method) if curve is None else curve) % len(COLOURS)]
    return {"linestyle": LINES[line], "marker": MARKERS[marker], "color": colour}


def _curves(figure: Figure, rows: Sequence[tuple[str, Row]], canvas_of: Any) -> Any:
    across = min(2, len(figure.panels))
    down = -(-len(figure.panels) // across)
    # Where every strategy is stable, there is no gap to show.
    learnt = [
        any(panel.model not in ZERO_MEANS for panel in figure.panels[row * across : (row + 1) * across])
        for row in range(down)
    ]
    ratios = [ratio for has_gaps in learnt for ratio in ((1.9, 1.4) if has_gaps else (1.9,))]
    canvas = canvas_of(figsize=(7.0, 0.75 + 1.05 * sum(ratios)), layout="constrained")
    grid = canvas.add_gridspec(len(ratios), across, height_ratios=ratios)
    first: dict[str, Any] = {}
    place_of_row = np.concatenate([[0], np.cumsum([1 + has_gaps for has_gaps in learnt])])
    shown = [row for _, row in rows if row.method in figure.methods]
    for place, panel in enumerate(figure.panels):
        line, column = divmod(place, across)
        own = [row for name, row in rows if name == panel.name]
        for kind in ("certificate", "true_gap") if learnt[line] else ("certificate",):
            spot = grid[int(place_of_row[line]) + (kind == "true_gap"), column]
            axis = canvas.add_subplot(spot, sharex=first.get("certificate"), sharey=first.get(kind))
            first.setdefault(kind, axis)
            if kind == "true_gap" and panel.model in ZERO_MEANS:
                axis.text(0.5, 0.5, "all means are 0: every strategy is stable", transform=axis.transAxes,
                          ha="center", va="center", fontsize=7)  # fmt: skip
            _panel(axis, panel, figure.methods, own, kind)
            if column == 0:
                axis.set_ylabel(kind.replace("_", " "))
            is_lowest = (kind == "true_gap" or not learnt[line]) and place + across >= len(figure.panels)
            axis.tick_params(labelbottom=is_lowest)
            if is_lowest:
                axis.set_xlabel("samples M")
    for kind, axis in first.items():
        # Where panels have legends of their own, there is room for them above the highest line.
        room = 5 if kind == "certificate" and figure.panels[0].varies else 1.6
        top = max(room * max(getattr(row, kind) for row in shown), 2 * SMALLEST)
        axis.set_ylim(-0.01, top)
        axis.set_yticks(*_ticks(top))
    _legend(canvas, figure.methods, coloured=all(len(panel.curves) == 1 for panel in figure.panels))
    return canvas


def _ticks(top: float) -> tuple[list[float], list[str]]:
    """Return 0 and powers of ten up to the top, with their names."""
    powers = [power for power in range(-1, 4) if 10.0**power <= top]
    return [0.0, *(10.0**power for power in powers)], ["0", *(f"{10.0**power:g}" for power in powers)]


def _panel(axis: Any, panel: Panel, methods: Sequence[str], rows: Sequence[Row], kind: str) -> None:
    from matplotlib.ticker import NullLocator

    handles = []
    hidden = kind == "true_gap" and panel.model in ZERO_MEANS
    for place, (n, k) in enumerate(panel.curves):
        for method in methods:
            own = [row for row in rows if (row.n, row.k, row.method) == (n, k, method)]
            if hidden or not own:
                continue
            lengths = np.array(sorted({row.samples for row in own}))
            values = _by_length(own, lengths, kind)
            mean, spread = values.mean(axis=1), deviations(values)
            (line,) = axis.plot(lengths, mean, **_drawn(method, methods, place if len(panel.curves) > 1 else None))
            if kind == "certificate" or len(panel.curves) == 1:  # ten bands over each other would hide their lines
                low, high = np.maximum(mean - spread, 0), mean + spread
                axis.fill_between(lengths, low, high, color=line.get_color(), alpha=0.15, lw=0)
            if method == methods[-1]:
                handles.append((line, f"{panel.varies} = {n if panel.varies == 'n' else k}"))
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=SMALLEST, linscale=0.5)
    axis.yaxis.set_minor_locator(NullLocator())
    axis.grid(visible=True, axis="y", linewidth=0.3, alpha=0.6)
    if kind == "true_gap":
        return
    axis.set_title(_title(panel), pad=3)
    if panel.varies and handles:
        axis.legend(*zip(*handles, strict=True), loc="upper right", ncols=len(handles), handlelength=1,
                    columnspacing=0.6, handletextpad=0.4, labelspacing=0.2, borderpad=0.1)  # fmt: skip


def deviations(values: FloatArray) -> FloatArray:
    """Return the sample standard deviation of each row, with divisor one less than there are games; 0 for one game."""
    return np.asarray(values.std(axis=1, ddof=1)) if values.shape[1] > 1 else np.zeros(len(values))


def _by_length(rows: Sequence[Row], lengths: Any, name: str) -> FloatArray:
    """Return a number of every game at every length, shape (lengths, games)."""
    return np.array([[getattr(row, name) for row in rows if row.samples == length] for length in lengths])


def _title(panel: Panel) -> str:
    n, k = panel.curves[0]
    if panel.model.startswith("mixed-effects"):
        return f"{panel.feedback}, {_policy(panel)}, n = {n}"
    fixed = {"n": f"k = {k}", "k": f"n = {n}", "": f"n = {n}, k = {k}"}[panel.varies]
    more = f", {panel.actions} actions" if panel.actions != 3 else ""
    return f"{MODEL_NAMES.get(panel.model, panel.model)}, {_policy(panel)}, {fixed}{more}"


def _policy(panel: Panel) -> str:
    return POLICY_NAMES.get(panel.policy, f"{panel.policy} policy")


def _legend(canvas: Any, methods: Sequence[str], *, coloured: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], label=LABELS.get(method, method),
               **_drawn(method, methods, None) | ({} if coloured else {"color": "black"}))
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
            mean, spread = np.array([np.mean(group) for group in values]), deviations(np.array(values))
            height = np.arange(len(mean)) + (place - len(lengths) / 2) * 0.1
            colour = COLOURS[place % len(COLOURS)]
            axis.errorbar(mean, height, xerr=[np.minimum(spread, mean), spread], color=colour, marker="o",
                          linestyle="-", linewidth=0.8, elinewidth=0.6, label=f"M = {length:,}")  # fmt: skip
        axis.set_xscale("symlog", linthresh=SMALLEST, linscale=0.5)
        axis.grid(visible=True, linewidth=0.3, alpha=0.6)
        axis.set_title(_title(panel), pad=3)
        axis.set_xlabel("certificate")
    top = max(1.6 * max(row.certificate for _, row in rows if row.method in figure.methods), 2 * SMALLEST)
    axes[0].set_xlim(-0.01, top)
    axes[0].set_xticks(*_ticks(top))
    axes[0].set_yticks(range(len(figure.methods)), [STEP_NAMES[step] for step in figure.methods])
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return canvas
