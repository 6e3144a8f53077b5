"""Pictures of results and logs, one function each: `plot_x(obj, *, ax=None)` draws into `ax` and returns it."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import FloatArray
from coterie.errors import CoterieError, InputError
from coterie.estimate.pair_means import pair_estimate
from coterie.game.strategy import Strategy
from coterie.learn.result import Result, as_result
from coterie.log.log import Log
from coterie.report.drawing import by_team
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.statistics import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCENT, WARNING, INK = "#2457c5", "#a24a00", "#1d2127"

SHORTEST = 18
"""Names on axes are cut to so many characters."""

LogLike = Log | Statistics | str | PathLike[str]


def plot_teams(obj: Result | Strategy | str | PathLike[str], *, ax: "Axes | None" = None) -> "Axes":
    """Draw who is where: a dot for every place, larger for likelier ones; return the axes.

    Parameters
    ----------
    obj
        A strategy, a result, or the path of a result file.
    ax
        Where to draw; by default a figure of its own.
    """
    strategy = obj if isinstance(obj, Strategy) else as_result(obj).strategy
    order, _ = by_team(strategy.marginals > 0)
    ax = _axes(ax, 1.5 + 0.7 * strategy.n_coalitions, 1.0 + 0.2 * strategy.n_agents)
    person, team = np.nonzero(strategy.marginals[order] > 0)
    several = (strategy.marginals[order] > 0).sum(axis=1)[person] > 1
    ax.scatter(team, person, s=40 * strategy.marginals[order][person, team], c=np.where(several, ACCENT, INK), zorder=2)
    for row in np.flatnonzero((strategy.marginals[order] > 0).sum(axis=1) > 1).tolist():
        there = team[person == row]
        ax.plot([there.min(), there.max()], [row, row], color=ACCENT, linewidth=1, zorder=1)
    ax.set_xticks(range(strategy.n_coalitions), [_short(name) for name in strategy.coalitions], rotation=30, ha="right")
    _people_axis(ax, [strategy.agents[i] for i in order.tolist()])
    ax.set_title("Who is where (blue: in several teams)")
    return ax


def plot_people(obj: Result | str | PathLike[str], *, ax: "Axes | None" = None) -> "Axes":
    """Draw what everybody's place is worth: the estimate, and what is sure; return the axes.

    Parameters
    ----------
    obj
        A result, or the path of a result file.
    ax
        Where to draw; by default a figure of its own.
    """
    result = as_result(obj)
    _needs(bool(result.explanations), "this result holds no explanations")
    ends = [one.ends for one in result.explanations.values()]
    values = np.array([one.value for one in result.explanations.values()])
    return _intervals(ax, list(result.explanations), values, np.array(ends), "What each place is worth")


def plot_gains(obj: Result | str | PathLike[str], *, ax: "Axes | None" = None) -> "Axes":
    """Draw what everybody's best alternative would change: the estimate, and what is sure; return the axes.

    Parameters
    ----------
    obj
        A result, or the path of a result file.
    ax
        Where to draw; by default a figure of its own.
    """
    result = as_result(obj)
    found = {agent: one for agent, one in result.explanations.items() if one.alternative is not None}
    _needs(bool(found), "nobody has an alternative, or this result does not hold them")
    gains = np.array([one.alternative.estimated_gain for one in found.values() if one.alternative])
    ends = np.array([result.gain_intervals[agent] for agent in found])
    return _intervals(ax, list(found), gains, ends, "What the best alternative would change")


def plot_options(obj: Result | str | PathLike[str], *, ax: "Axes | None" = None) -> "Axes":
    """Draw the options: what each is expected to be worth, and how far anybody could surely gain; return the axes.

    Parameters
    ----------
    obj
        A result with options, or the path of a result file.
    ax
        Where to draw; by default a figure of its own.
    """
    result = as_result(obj)
    _needs(bool(result.options), "this result has no options")
    ax = _axes(ax, 5.0, 4.0)
    for place, one in enumerate(result.options):
        ax.scatter([one.gap], [one.expected_value], color=ACCENT if place == 0 else INK, zorder=2)
        ax.annotate(one.label, (one.gap, one.expected_value), xytext=(5, 4), textcoords="offset points", fontsize=8)
    ax.set_xlabel("gain by moving, surely at most")
    ax.set_ylabel("expected per person")
    ax.set_title("Options")
    return ax


def plot_meetings(obj: LogLike, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how often each two people were seen together; return the axes.

    Parameters
    ----------
    obj
        A log of pairs, its statistics, or the folder or file that it is in.
    ax
        Where to draw; by default a figure of its own.
    """
    count, _, names = _pairs(obj)
    return _matrix(ax, np.where(count > 0, count, np.nan), names, "How often people were seen together", signed=False)


def plot_pairs(obj: LogLike, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how well each two people did together, on average over where they met; return the axes.

    Parameters
    ----------
    obj
        A log of pairs, its statistics, or the folder or file that it is in.
    ax
        Where to draw; by default a figure of its own.
    """
    count, total, names = _pairs(obj)
    worth = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return _matrix(ax, worth, names, "How well people did together", signed=True)


# --- What they share ----------------------------------------------------------------------------------


def _axes(ax: "Axes | None", width: float, height: float) -> "Axes":
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise CoterieError('pictures need matplotlib: pip install "coterie[figures]"') from None
    _, made = plt.subplots(figsize=(min(width, 14.0), min(height, 30.0)), layout="constrained")
    return made


def _needs(holds: bool, why: str) -> None:  # noqa: FBT001
    if not holds:
        raise InputError(why)


def _short(name: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in name).replace("$", r"\$")
    return shown if len(shown) <= SHORTEST else f"{shown[: SHORTEST - 1]}…"


def _people_axis(ax: "Axes", names: list[str]) -> None:
    ax.set_yticks(range(len(names)), [_short(name) for name in names], fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)


def _intervals(ax: "Axes | None", names: list[str], values: FloatArray, ends: FloatArray, title: str) -> "Axes":
    """Draw an interval and a point for everybody, the largest first."""
    ax = _axes(ax, 6.0, 1.0 + 0.2 * len(names))
    order = np.argsort(-values, kind="stable")
    rows = np.arange(len(names))
    kept = np.isfinite(ends[order]).all(axis=1)
    ax.hlines(rows[kept], ends[order][kept, 0], ends[order][kept, 1], color=ACCENT, alpha=0.4, linewidth=4)
    ax.scatter(values[order], rows, color=INK, s=16, zorder=2)
    ax.axvline(0.0, color=INK, linewidth=0.8, alpha=0.5)
    _people_axis(ax, [names[i] for i in order.tolist()])
    ax.set_title(title)
    return ax


def _matrix(ax: "Axes | None", values: FloatArray, names: tuple[str, ...], title: str, *, signed: bool) -> "Axes":
    ax = _axes(ax, 6.5, 6.0)
    most = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    drawn = ax.imshow(values, cmap="PuOr_r" if signed else "Blues", vmin=-most if signed else 0.0, vmax=most)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    if len(names) <= 40:
        shown = [_short(name) for name in names]
        ax.set_xticks(range(len(names)), shown, rotation=90, fontsize=7)
        ax.set_yticks(range(len(names)), shown, fontsize=7)
    ax.set_title(title)
    return ax


def _pairs(obj: Any) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return how often each pair was seen, the sum of what they got, and the names."""
    statistics = obj if isinstance(obj, Statistics) else Statistics.for_learning(obj, noise="pairs", parts=(1.0,))
    if not isinstance(statistics.whole, PairStatistics):
        raise InputError("this log holds totals of people, not values of pairs")
    moments = pair_estimate(statistics.whole).moments
    axes = (0, 3) if moments.count.ndim == 4 else (0,)
    return moments.count.sum(axis=axes), (moments.count * moments.mean).sum(axis=axes), statistics.agents
