"""`coterie reproduce`: the paper's figures again, with ours beside the paper's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.output import messages
from coterie.words import said


def command(
    *,
    figure: Annotated[
        list[str] | None,
        typer.Argument(help="Figures by name: 1, S1 to S6, clipped, redrawn, actions, mixed, ablation; or all."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for pictures and tables; what is finished there is kept.")],
    quick: Annotated[bool, typer.Option("--quick", help="Small games and one seed: about a minute.")] = False,
    workers: Annotated[int | None, typer.Option(help="Number of processes; by default one per core.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Make the paper's figures again, with the paper's certificate and ours, and a table beside each."""
    from coterie import checks
    from coterie.reproduce.experiments import figures
    from coterie.reproduce.run import reproduce

    wanted = figures(figure or ["all"], quick=quick)
    if workers is not None:
        checks.whole(workers, said("workers"), 1)
    with _progress(quiet=quiet) as advance:
        reproduce(wanted, out, workers=workers, advance=advance)
    if not quiet:
        names = ", ".join(one.name for one in wanted)
        messages.print(f"Wrote {names} to {out}: pictures (.png), tables (.csv), and summary.json.")


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
