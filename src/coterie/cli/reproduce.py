"""`coterie reproduce`: the paper's figures again, with ours beside the paper's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coterie.cli.output import aligned, messages, results

if TYPE_CHECKING:
    from coterie.reproduce.summary import Summary


def command(
    *,
    figure: Annotated[
        list[str] | None,
        typer.Argument(help="Figures by name: 1, S1 to S6, clipped, redrawn, actions, mixed, ablation; or all."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for pictures and tables; what is finished there is kept.")],
    quick: Annotated[bool, typer.Option("--quick", help="Small games and one seed: about a minute.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Games that each point is a mean over; by default 5, as in the paper, with --quick 1."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Draw these instead of paper and auto; repeat it for several: 'monte carlo', 'auto mixed', "
            "'best response', pessimism, welfare, random.",
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Number of processes; by default one per core.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Make the paper's figures again, with the paper's certificate and ours, and a table beside each."""
    from coterie.reproduce.experiments import figures
    from coterie.reproduce.run import reproduce

    wanted = figures(figure or ["all"], quick=quick)
    if method:
        wanted = tuple(replace(one, methods=tuple(dict.fromkeys(method))) for one in wanted)
    with _progress(quiet=quiet) as advance:
        summary = reproduce(wanted, out, seeds=seeds, workers=workers, advance=advance)
    if not quiet:
        for line in _table(summary):
            results.print(line)
        names = ", ".join(one.name for one in wanted)
        messages.print(f"Wrote {names} to {out}: pictures (.png), tables (.csv), and summary.json.")


def _table(summary: "Summary") -> Iterator[str]:
    """Yield what each method did in each figure: certificates with the fewest and the most samples, true gaps."""
    rows = [("figure", "method", "certificate, first", "last", "true gap", "stable", "held")]
    rows += [
        (
            line.figure, line.method, _span(line.first), _span(line.last), _span(line.true_gap),
            f"{line.stable} of {line.runs}", f"{100 * line.held:.1f} %",
        )
        for line in summary.lines()
    ]  # fmt: skip
    yield from aligned(rows, left=(0, 1))
    yield "  first, last, true gap: means over games with the fewest and the most samples, from curve to curve;"
    yield "  stable: runs certified exactly stable; held: runs whose certificate was not below the true gap"


def _span(ends: tuple[float, float]) -> str:
    low, high = (f"{end:.3g}" for end in ends)
    return low if low == high else f"{low} to {high}"


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Give a callback that moves a bar; only a terminal sees one."""
    if quiet or not messages.is_terminal:
        yield None
        return
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=messages, transient=True) as bar:
        task = bar.add_task("Games", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
