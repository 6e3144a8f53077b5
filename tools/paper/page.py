"""The page of results, made from the tables: claim by claim, the ablation, every picture with its caption.

    python tools/paper/page.py FOLDER PAGE

FOLDER is what `coterie reproduce all --out FOLDER` wrote; a caption is put beside each of its pictures.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from captions import READING, caption, text_beside
from claims import CLAIMS, METHODS, RULE
from coterie.files import read_json, whole_file
from coterie.reproduce.draw import STEP_NAMES
from coterie.reproduce.experiments import ABLATION, FIGURES, QUICK, Figure
from coterie.reproduce.rows import Row, read_rows
from coterie.reproduce.summary import Tables, summarise

INTRODUCTION = """# Results: the paper's experiments, again

Every figure of the [experiments](experiments.md), with the paper's scheme and certificate and ours side by side, on
the same simulated logs: `coterie reproduce all --out figures` (about 50 minutes on two cores; `--quick` takes a
minute; an interrupted run goes on where it stopped). This page, its numbers included, is made from the tables:
`python tools/paper/page.py figures results.md`. Beside each picture lies its table; `summary.json` holds
fitted exponents and shares of runs certified exactly stable.

Differences from the paper: expectations are exact (the paper drew 100 joint actions; the ablation shows both); a log
grows, so the samples of a shorter log are the first of a longer one; Gaussian models have one mean per pair,
coalition and game (the text has one per pair and game, the released programs draw it anew, see
[redrawn](#figure-redrawn)); a model and its size-dependent twin have the same action sets and means; the number of
games behind a point stands with each figure (the paper has five).
"""

QUICK_NOTE = """!!! note
    These are the figures of the quick run: small games, one game for each point, fewer samples.
"""

EARLIER_NOTE = """!!! warning
    Pictures and tables of these figures are from an earlier version of the experiments, with fewer methods or panels,
    other action sets for twins, and true gaps among the certificates: {}. Texts describe what `make figures` makes now.
"""

ABLATION_TEXT = (
    "The mean certificate on the same logs, one change at a time (Gaussian model, uniformly random policy); in "
    "brackets how many runs were certified exactly stable. What each step is: `coterie.reproduce.ablation`. "
    "Drawing instead of expecting makes the number smaller, not better: it is no bound then "
    "([finding 9](errata.md#finding-9))."
)


def page(folder: Path, link: str) -> str:
    """Return the page for the figures whose tables are in a folder; `link` leads there."""
    known, is_quick = _known(folder)
    tables = {name: read_rows(folder / f"{name}.csv") for name in _present(folder, known)}
    earlier = [name for name, rows in tables.items() if not _is_as_planned(known[name], rows)]
    lines = [
        INTRODUCTION,
        *([QUICK_NOTE] if is_quick else []),
        *([EARLIER_NOTE.format(", ".join(earlier))] if earlier else []),
        *_verdicts(tables),
    ]
    if set(ABLATION) <= {row.method for _, row in tables.get("ablation", [])}:
        lines += [*_ablation(known["ablation"], tables["ablation"]), ""]
    lines += ["## Figures", "", READING]
    for name, rows in tables.items():
        figure = known[name]
        lines += ["", f"### Figure {name}", "", f"![{figure.title}]({link}/{name}.png)", ""]
        lines.append(f"*{figure.title}.* {caption(figure, _games(rows))} Table: [{name}.csv]({link}/{name}.csv).")
    return "\n".join(lines) + "\n"


def write_page(path: Path, folder: Path) -> None:
    """Write the page, with links that lead from it to the folder, and the captions of the pictures there."""
    link = Path(os.path.relpath(folder.resolve(), path.resolve().parent)).as_posix()
    texts = {path: page(folder, link)}
    known, _ = _known(folder)
    for name in _present(folder, known):
        texts[folder / f"{name}.txt"] = text_beside(known[name], _games(read_rows(folder / f"{name}.csv")))
    for target, text in texts.items():
        with whole_file(target) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _known(folder: Path) -> tuple[dict[str, Figure], bool]:
    """Return the figures as they were run, with the methods that were drawn, and whether the run was a quick one."""
    about = read_json(folder / "summary.json")
    is_quick, drawn = bool(about.get("quick")), about.get("methods", {})
    return {
        name: replace(figure, methods=tuple(drawn.get(name, figure.methods)))
        for name, figure in (QUICK if is_quick else FIGURES).items()
    }, is_quick


def _verdicts(tables: Tables) -> Iterator[str]:
    """Yield the table of claims; those whose figures are not there, or lack the curves that they are about, are not."""
    summary = summarise(tables)
    judged = [
        claim
        for claim in CLAIMS
        if all(summary.of(name, method=method) for name in claim.figures for method in METHODS)
    ]
    if not judged:
        return
    yield from ("## Claim by claim", "", RULE, "", "| the paper says | verdict | what the tables say | figure |")
    yield "| --- | --- | --- | --- |"
    for claim in judged:
        verdict = claim.judge(summary)
        shown = ", ".join(f"[{name}](#figure-{name.lower()})" for name in claim.figures)
        yield f"| {claim.text} ({claim.where}) | **{verdict.word}** | {verdict.numbers} | {shown} |"
    yield ""


def _is_as_planned(figure: Figure, rows: Sequence[tuple[str, Row]]) -> bool:
    """Return whether a table holds every panel and method of its figure."""
    found = {(panel, row.method) for panel, row in rows}
    return all((panel.name, method) in found for panel in figure.panels for method in figure.tabled)


def _games(rows: Sequence[tuple[str, Row]]) -> int:
    """Return how many games each point is a mean over."""
    return len({row.seed for _, row in rows})


def _present(folder: Path, known: Mapping[str, Figure]) -> list[str]:
    return [name for name in known if (folder / f"{name}.csv").exists()]


def _ablation(figure: Figure, rows: Sequence[tuple[str, Row]]) -> list[str]:
    """Return the table of the mean certificate after each step."""
    lines = ["## From the paper's certificate to ours", "", ABLATION_TEXT]
    for panel in figure.panels:
        n, k = panel.curves[0]
        lines += ["", f"| {n} agents, {k} coalitions | " + " | ".join(f"M = {m:,}" for m in figure.samples) + " |"]
        lines.append("| --- |" + " --- |" * len(figure.samples))
        for step in ABLATION:
            cells = []
            for samples in figure.samples:
                own = [row.certificate for name, row in rows
                       if (name, row.method, row.samples) == (panel.name, step, samples)]  # fmt: skip
                stable = sum(value == 0 for value in own)
                cells.append(f"{np.mean(own):.3g}" + (f" ({stable} of {len(own)})" if stable else ""))
            lines.append(f"| {STEP_NAMES[step]} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the page of results, and the captions of the figures.")
    parser.add_argument("folder", type=Path, help="what `coterie reproduce` wrote")
    parser.add_argument("page", type=Path, help="the Markdown file to write")
    given = parser.parse_args()
    write_page(given.page, given.folder)
