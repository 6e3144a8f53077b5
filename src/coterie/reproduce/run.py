"""Running the experiments: all cores, finished cells kept, pictures and tables at the end."""

import json
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

from coterie import __version__, checks
from coterie.errors import InputError
from coterie.files import read_json, to_json, whole_file
from coterie.processes import ProcessError, shared
from coterie.reproduce.cells import Source
from coterie.reproduce.experiments import QUICK, STEPS, Cell, Figure, Panel, seeds_of
from coterie.reproduce.methods import METHODS, Method
from coterie.reproduce.own import Own
from coterie.reproduce.rows import Row, write_rows
from coterie.reproduce.summary import Summary, summarise, with_earlier, written_before
from coterie.simulate.models import MODELS
from coterie.simulate.policies import AROUND_PROFILE, POLICIES
from coterie.words import said

KEPT = "cells"
"""The folder of finished cells, within the folder of results."""

NO_MODULE = (
    "Methods or games of your own are in no module that other processes can import (functions of a notebook, lambdas, "
    "functions within functions): everything is computed in this process. In a module they use all cores; {} says that "
    "one is enough."
)

KEEPS = "{}; what is finished is kept, and {} needs no other processes"

Advance = Callable[[int, int], None]
"""Called with the number of finished cells and of all cells."""


def reproduce(
    figures: Sequence[Figure],
    folder: Path,
    *,
    seeds: int | Sequence[int] | None = None,
    methods: Mapping[str, Method] | None = None,
    games: Mapping[str, Source] | None = None,
    workers: int | None = None,
    advance: Advance | None = None,
    pictures: bool = True,
) -> Summary:
    """Compute what is missing, and write a picture and a table per figure, and the summary of all.

    Everything is checked before anything is computed: figures that could not be made are refused at once.

    Parameters
    ----------
    figures
        See `coterie.reproduce.experiments`: by name (`figures`), or of your own.
    folder
        Where everything goes. Cells that are there already are not computed again, unless a method or games of your
        own have changed that they are made with: their code, and what that uses of its module. Remove its folder
        `cells` after changing what they import.
    seeds
        How many games each point is a mean over, or their seeds; by default what each figure says.
    methods
        Methods of your own by name, which figures may then have: functions of a `coterie.reproduce.methods.Task` that
        return a `Strategy`, or an `Outcome` with a certificate of their own.
    games
        Games of your own by name, which panels may then have as their model: functions of a `Cell` that return a
        `coterie.simulate.Simulation`, drawn from the cell's seed.
    workers
        How many processes, by default one per core; 1 computes in this process. Methods and games of your own go to
        other processes by name, so they must be functions of a module that can be imported; with those of a
        notebook, lambdas and functions within functions everything is computed in this process, and a warning says so.
    advance
        Called as cells are finished.
    pictures
        False leaves pictures out, which need matplotlib.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder")
    own = Own(methods or {}, games or {})
    if seeds is not None:
        figures = [replace(figure, seeds=seeds_of(seeds, said("seeds"))) for figure in figures]
    refuse_what_cannot_be_made(figures, own)
    if workers is not None:
        checks.whole(workers, said("workers"), 1)
    if workers != 1 and not own.travels:
        warnings.warn(NO_MODULE.format(said(workers=1)), stacklevel=2)
        workers = 1
    if pictures:
        from coterie.reproduce.draw import draw, require_matplotlib

        require_matplotlib()
    cells = (cell for figure in figures for _, cell in figure.cells)
    found = run_cells(cells, folder / KEPT, workers, advance, own)
    tables: dict[str, list[tuple[str, Row]]] = {}
    for figure in figures:
        rows = [(panel.name, row) for panel, cell in figure.cells for row in found[cell]]
        tables[figure.name] = rows
        write_rows(folder / f"{figure.name}.csv", figure.name, rows)
        if pictures:
            draw(figure, rows, folder / f"{figure.name}.png")
    summary = summarise(tables)
    about = {
        "version": __version__,
        "seeds": {figure.name: list(figure.games) for figure in figures},
        "methods": {figure.name: list(figure.methods) for figure in figures},
        "quick": all(_is_quick(figure) for figure in figures),
        **summary.to_json(),
    }
    earlier = written_before(folder, tables)
    _write(folder / "summary.json", to_json(with_earlier(about, earlier)))
    summary.write_csv(folder / "summary.csv", list(earlier.get("seeds", {})))
    return summary


def _is_quick(figure: Figure) -> bool:
    planned = QUICK.get(figure.name)
    return planned is not None and (planned.panels, planned.samples) == (figure.panels, figure.samples)


def refuse_what_cannot_be_made(figures: Sequence[Figure], own: Own) -> None:
    """Refuse figures that would fail after hours: unknown methods, models and policies, games that none has."""
    if not figures:
        raise InputError("figures: there are none; `coterie.reproduce.figures([])` has all of the paper's")
    for what, brought, known in (
        ("method", own.methods, (*METHODS, *STEPS)),
        ("games", own.sources, MODELS),
    ):
        for name, given in brought.items():
            if name in known:
                raise InputError(f"{what} {name!r}: the name is taken; take another")
            if not callable(given):
                raise InputError(f"{what} {name!r}: expected a function, got {checks.shown(given)}")
    names = [figure.name for figure in figures]
    if len(set(names)) < len(names):
        raise InputError(f"figures: two have the same name, {next(name for name in names if names.count(name) > 1)!r}")
    for figure in figures:
        _refuse(figure, own)


def _refuse(figure: Figure, own: Own) -> None:
    where = f"figure {figure.name!r}"
    if figure.name in {KEPT, "summary"}:
        raise InputError(f"{where}: the name becomes that of files, and this one is taken; take another")
    for method in figure.tabled:
        checks.index_of(method, (*METHODS, *STEPS, *own.methods), f"method in {where}")
    for panel in figure.panels:
        _refuse_panel(panel, f"{where}, panel {panel.name!r}", figure, own)


def _refuse_panel(panel: Panel, where: str, figure: Figure, own: Own) -> None:
    checks.index_of(panel.model, (*MODELS, *own.sources), f"model in {where}")
    if panel.model not in own.sources:  # those may have any policy and any actions
        # Other policies explore around a profile, which a drawn game does not have.
        policies = tuple(name for name in POLICIES if name not in AROUND_PROFILE)
        checks.index_of(panel.policy, policies, f"policy in {where}")
        for _, k in panel.curves:
            if panel.model.startswith("mixed-effects"):
                if k != 5 or panel.actions != 3:
                    raise InputError(f"{where}: the model {panel.model} has 5 coalitions and 3 actions")
            elif panel.actions > 2**k - 1:
                raise InputError(f"{where}: {k} coalitions have {2**k - 1} non-empty sets, not {panel.actions}")
    plain = panel.feedback == "semi-bandit" and panel.model in {"uniform", *(m for m in MODELS if m[:8] == "gaussian")}
    if set(figure.tabled) & set(STEPS) and not plain:
        raise InputError(f"{where}: the steps from the paper's certificate to ours are for pairs and without sizes")


def _write(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def run_cells(
    cells: Iterable[Cell],
    folder: Path,
    workers: int | None = None,
    advance: Advance | None = None,
    own: Own | None = None,
) -> dict[Cell, list[Row]]:
    """Return the rows of every cell, reading those that were finished before."""
    wanted, own = list(dict.fromkeys(cells)), own or Own()
    found: dict[Cell, list[Row]] = {}
    behind = {cell: own.behind(cell) for cell in wanted}
    for cell in wanted:
        if (rows := _kept(folder, cell, behind[cell])) is not None:
            found[cell] = rows
    missing = sorted((cell for cell in wanted if cell not in found), key=lambda cell: (cell.seed, -cell.cost))
    report = advance or (lambda done, total: None)  # noqa: ARG005
    report(len(found), len(wanted))
    workers = min(workers or os.cpu_count() or 1, max(len(missing), 1))
    with closing(_computed(missing, workers, own)) as computed:
        for cell, rows in computed:
            _keep(folder, cell, behind[cell], rows)
            found[cell] = rows
            report(len(found), len(wanted))
    return found


def _computed(cells: Sequence[Cell], workers: int, own: Own) -> Generator[tuple[Cell, list[Row]]]:
    """Yield cells as they are finished."""
    if workers == 1:
        for cell in cells:
            yield cell, own.run(cell)
        return
    try:
        yield from shared(own.run, cells, workers)
    except ProcessError as problem:
        raise ProcessError(KEEPS.format(problem, said(workers=1))) from None


def _description(cell: Cell, behind: Mapping[str, str]) -> dict[str, object]:
    """Return all that a cell's rows depend on."""
    return json.loads(json.dumps({"version": __version__, **asdict(cell), "own": behind}))  # type: ignore[no-any-return]


def _keep(folder: Path, cell: Cell, behind: Mapping[str, str], rows: Sequence[Row]) -> None:
    content = {"cell": _description(cell, behind), "rows": [asdict(row) for row in rows]}
    _write(folder / f"{cell.name}.json", json.dumps(content))


def _kept(folder: Path, cell: Cell, behind: Mapping[str, str]) -> list[Row] | None:
    """Return the rows of a finished cell; None where there is none, or one of another version or another function."""
    path = folder / f"{cell.name}.json"
    if not path.exists():
        return None
    try:
        content = read_json(path)
        if content["cell"] != _description(cell, behind):
            return None
        return [Row.read(row) for row in content["rows"]]
    except (InputError, KeyError, TypeError):
        return None  # damaged: compute it again
