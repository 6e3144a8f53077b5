"""Running the experiments: all cores, finished cells kept, pictures and tables at the end."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path

from coterie import __version__
from coterie.errors import InputError
from coterie.files import read_json, to_json, whole_file
from coterie.reproduce.cells import run_cell
from coterie.reproduce.experiments import QUICK, Cell, Figure
from coterie.reproduce.rows import Row, write_rows
from coterie.reproduce.summary import Summary, summarise

KEPT = "cells"
"""The folder of finished cells, within the folder of results."""

Advance = Callable[[int, int], None]
"""Called with the number of finished cells and of all cells."""


def reproduce(
    figures: Sequence[Figure],
    folder: Path,
    *,
    workers: int | None = None,
    advance: Advance | None = None,
    pictures: bool = True,
) -> Summary:
    """Compute what is missing, and write a picture and a table per figure, and the summary of all.

    Parameters
    ----------
    figures
        See `coterie.reproduce.experiments`.
    folder
        Where everything goes. Cells that are there already are not computed again.
    workers
        How many processes, by default one per core; 1 computes in this process.
    advance
        Called as cells are finished.
    pictures
        False leaves pictures out, which need matplotlib.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder")
    if pictures:
        from coterie.reproduce.draw import draw, require_matplotlib

        require_matplotlib()
    found = run_cells((cell for figure in figures for _, cell in figure.cells), folder / KEPT, workers, advance)
    tables: dict[str, list[tuple[str, Row]]] = {}
    for figure in figures:
        rows = [(panel.name, row) for panel, cell in figure.cells for row in found[cell]]
        tables[figure.name] = rows
        write_rows(folder / f"{figure.name}.csv", figure.name, rows)
        if pictures:
            draw(figure, rows, folder / f"{figure.name}.png")
    summary = summarise(tables)
    _write(
        folder / "summary.json",
        to_json({"quick": all(one is QUICK.get(one.name) for one in figures), **summary.to_json()}),
    )
    summary.write_csv(folder / "summary.csv")
    return summary


def _write(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def run_cells(
    cells: Iterable[Cell], folder: Path, workers: int | None = None, advance: Advance | None = None
) -> dict[Cell, list[Row]]:
    """Return the rows of every cell, reading those that were finished before."""
    wanted = list(dict.fromkeys(cells))
    found: dict[Cell, list[Row]] = {}
    for cell in wanted:
        if (rows := _kept(folder, cell)) is not None:
            found[cell] = rows
    missing = sorted((cell for cell in wanted if cell not in found), key=lambda cell: (cell.seed, -cell.cost))
    report = advance or (lambda done, total: None)  # noqa: ARG005
    report(len(found), len(wanted))
    workers = min(workers or os.cpu_count() or 1, max(len(missing), 1))
    for cell, rows in _computed(missing, workers):
        _keep(folder, cell, rows)
        found[cell] = rows
        report(len(found), len(wanted))
    return found


def _computed(cells: Sequence[Cell], workers: int) -> Iterator[tuple[Cell, list[Row]]]:
    """Yield cells as they are finished."""
    if workers == 1:
        for cell in cells:
            yield cell, run_cell(cell)
        return
    with _single_threaded():
        # Spawned, so that the libraries of a worker start with one thread.
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _follow_the_parent)
        try:
            running: dict[Future[list[Row]], Cell] = {pool.submit(run_cell, cell): cell for cell in cells}
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _follow_the_parent() -> None:
    """Leave interrupts to the parent, and end when it does, however it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that start in the block use one thread for linear algebra: there is one per core already."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _description(cell: Cell) -> dict[str, object]:
    return json.loads(json.dumps({"version": __version__, **asdict(cell)}))  # type: ignore[no-any-return]


def _keep(folder: Path, cell: Cell, rows: Sequence[Row]) -> None:
    content = {"cell": _description(cell), "rows": [asdict(row) for row in rows]}
    _write(folder / f"{cell.name}.json", json.dumps(content))


def _kept(folder: Path, cell: Cell) -> list[Row] | None:
    """Return the rows of a finished cell; None where there is none, or one of another version."""
    path = folder / f"{cell.name}.json"
    if not path.exists():
        return None
    try:
        content = read_json(path)
        if content["cell"] != _description(cell):
            return None
        return [Row.read(row) for row in content["rows"]]
    except (InputError, KeyError, TypeError):
        return None  # damaged: compute it again
