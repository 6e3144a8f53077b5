"""What the case studies share: their command, how later outcomes judge an earlier answer, the files they write.

A study is a few questions, each a function from the folder of the data to plain results, and a function that words
these results. What is printed is made of the results alone, so the page that shows it can be checked without the data.
"""

import argparse
import csv
import importlib.util
import json
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import Result, Statistics, Strategy, certify
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.widened import widened
from coterie.learn.explain import explanations
from coterie.learn.wishes import wishes_about

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Found = dict[str, Any]
"""What a question found: plain values, as they are written."""

DIGITS = 4
"""To so many digits results are kept."""


@dataclass(frozen=True)
class Study:
    """One study: its questions with their wording, and its picture."""

    name: str
    files: tuple[str, ...]
    """What the data are in."""
    questions: Mapping[str, tuple[Callable[[Path], Found], Callable[[Found], str]]]
    draw: Callable[[Mapping[str, Found], Path], None]
    """Draws the picture of all results into a file."""

    def told(self, results: Mapping[str, Found]) -> str:
        """Return what is printed about results."""
        return "\n\n".join(tell(results[name]) for name, (_, tell) in self.questions.items() if name in results) + "\n"

    def main(self, usage: str | None) -> None:
        """Answer the questions on the command line, print what was found, and write it if a folder is given."""
        parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("data", type=Path, help="the folder with the data")
        parser.add_argument("--only", choices=self.questions, action="append", help="answer this question only")
        parser.add_argument("--out", type=Path, help="write results and the picture to this folder")
        options = parser.parse_args()
        for file in self.files:
            if not (options.data / file).is_file():
                parser.error(f"{options.data / file}: no such file; what the folder must hold is said by --help")
        asked = options.only or list(self.questions)
        drawn = options.out is not None and set(asked) == set(self.questions)
        if drawn and importlib.util.find_spec("matplotlib") is None:
            parser.error('pictures need matplotlib: pip install "coterie[figures]"')
        results = {name: rounded(self.questions[name][0](options.data)) for name in asked}
        print(self.told(results), end="")
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
            (options.out / f"{self.name}.json").write_text(text, encoding="utf-8")
            if drawn:
                self.draw(results, options.out / f"{self.name}.png")


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def columns(names: Sequence[str], table: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return a table as `Log.from_frames` takes it: its columns by name."""
    return {name: list(column) for name, column in zip(names, zip(*table, strict=True), strict=True)}


def rounded(value: Any) -> Any:
    """Return plain values with numbers to a few digits."""
    if isinstance(value, Mapping):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return round(float(value), DIGITS) + 0.0 if isinstance(value, float) else value


def groups(members: Iterable[Iterable[str]], like: Strategy) -> Strategy:
    """Return the strategy in which the first coalitions have these members."""
    return Strategy.from_members([list(some) for some in members], like.agents, like.coalitions)


def members(strategy: Strategy) -> list[list[str]]:
    """Return who is together, the largest group first."""
    return sorted((sorted(some) for some in strategy.partition()), key=lambda some: (-len(some), some))


def alike(some: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> float:
    """Return the adjusted Rand index of two divisions of the same people: 1 if equal, 0 on average by chance.

    Hubert and Arabie (1985): pairs that are together in both, less what chance has, over the most that could be.
    """
    both = sum(comb(len(set(one) & set(other)), 2) for one in some for other in others)
    first, second = (sum(comb(len(group), 2) for group in division) for division in (some, others))
    by_chance = first * second / comb(sum(map(len, some)), 2)
    return (both - by_chance) / ((first + second) / 2 - by_chance)


def by_averages(result: Result, log: Statistics) -> Found:
    """Return what a strategy came to if the averages of a log were the truth, and what is sure.

    Nothing is believed beforehand, so that a log which had no part in a strategy judges it without favour.
    `best_alternative` has for everybody what the best move by the averages changes, at least and at most; whoever has
    most to gain comes first.
    """
    evidence, strategy = evidence_from(log.whole), result.strategy
    _, wishes = wishes_about(
        log, rules=replace(result.rules, max_moves=None), value=result.value, stability=result.stability
    )
    against = wishes.against(widened(log.setting.actions, strategy)[0])
    explained, intervals = explanations(evidence, strategy, result.certificate, against, evidence.values)
    gains = {agent: one.alternative.estimated_gain for agent, one in explained.items() if one.alternative is not None}
    values = [one.value for one in explained.values()]
    return {
        "value": sum(values) / len(values),
        "gap": against.gap(evidence.game(against.own_spaces), strategy),
        "certificate": result.certificate.gap,
        "surely_stay": len(result.certificate.surely_stay),
        "contradicted": [check.assumption for check in result.contradicted],
        "best_alternative": {
            agent: [gains[agent], *intervals[agent]] for agent in sorted(gains, key=lambda one: -gains[one])
        },
    }


def judged(later: Statistics, strategy: Strategy, **options: Any) -> Found:
    """Return what outcomes that had no part in it say of a strategy."""
    return by_averages(certify(later, strategy, certificate="holdout", fresh=True, **options), later)


# --- Words --------------------------------------------------------------------------------------------


def sentence(text: str, indent: str = "  ") -> str:
    """Return text in lines of a page."""
    return textwrap.fill(text, 96, initial_indent=indent, subsequent_indent=indent + "  ")


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table: the first column to the left, numbers to the right."""
    listed = [list(header), *map(list, lines)]
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    form = "  ".join([f"  {{:<{widths[0]}}}", *(f"{{:>{width}}}" for width in widths[1:])])
    return "\n".join(form.format(*line) for line in listed)


def who_gains(found: Found, most: int = 6) -> str:
    """Return who would gain how much by moving, by the averages."""
    gains = {agent: change for agent, (change, *_) in found["best_alternative"].items() if change > 0}
    shown = [f"{agent} {gain:.2f}" for agent, gain in list(gains.items())[:most]]
    return (", ".join(shown) + (f" and {len(gains) - most} more" if len(gains) > most else "")) or "nobody"


def draw_changes(ax: "Axes", found: Found, title: str) -> None:
    """Draw what everybody's best move would change: by the averages a dot, what is sure a line."""
    ends = found["best_alternative"]
    for row, (change, low, high) in enumerate(ends.values()):
        ax.hlines(row, low, high, color="#2457c5", alpha=0.4, linewidth=4)
        ax.scatter([change], [row], color="#a24a00" if low > 0 else "#1d2127", s=16, zorder=2)
    ax.axvline(0.0, color="#1d2127", linewidth=0.8, alpha=0.5)
    ax.set_yticks(range(len(ends)), list(ends), fontsize=8)
    ax.set_ylim(len(ends) - 0.5, -0.5)
    ax.set_title(title)
