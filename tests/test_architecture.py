"""The layout holds: data flows one way, and importing the package is light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

SOURCE = Path(coterie.__file__).parent

TOOLS = {
    "errors",
    "arrays",
    "sums",
    "checks",
    "words",
    "files",
    "spreadsheets",
    "xls",
    "memory",
    "processes",
    "threads",
    "versions",
    "from_scipy",
}
"""The top level: tools that know nothing of teams, and nothing else."""

ROOMS = [
    "game",
    "log",
    "statistics",
    "estimate",
    "certificates",
    "assumptions",
    "solve",
    "coverage",
    "learn",
    "collect",
    "simulate",
    "theory",
    "reproduce",
    "report",
    "plot",
    "cli",
]
"""From left to right, as data flow; a room imports from itself, from the left of it, and from the tools."""


DOORS = {("game/game.py", "coterie.solve.known"), ("game/game.py", "coterie.solve.solution")}
"""The one way out to the right: methods of a game that a solver answers, for those who have nothing but a game."""


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            if node.module == "coterie":
                yield from (f"coterie.{alias.name}" for alias in node.names)
            else:
                yield node.module


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def test_the_top_level_keeps_tools_only():
    assert {path.stem for path in SOURCE.glob("*.py")} == TOOLS | {"__init__", "__main__"}
    assert {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(ROOMS)


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_tools_know_nothing_of_teams(tool):
    known = {f"coterie.{other}" for other in TOOLS}
    assert {m for m in imported_modules(SOURCE / f"{tool}.py") if m.startswith("coterie")} <= known


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_data_flow_one_way(path):
    room = path.relative_to(SOURCE).parts[0]
    for module in imported_modules(path):
        assert module != "coterie", f"{room}: import from the module that defines the name"
        other = module.split(".")[1] if module.startswith("coterie.") else None
        if other is None or other in TOOLS or module == "coterie.__version__":
            continue
        if (path.relative_to(SOURCE).as_posix(), module) in DOORS:
            continue
        assert other in ROOMS, f"{module} is a name of the package; import it from the module that defines it"
        assert ROOMS.index(other) <= ROOMS.index(room), f"{room} must not import {other}"


@pytest.mark.parametrize(
    ("line", "modules"),
    [
        ("from coterie import solve, checks", ["coterie.solve", "coterie.checks"]),
        ("from coterie import Game", ["coterie.Game"]),
        ("import coterie.game.dynamics", ["coterie.game.dynamics"]),
        ("import coterie", ["coterie"]),
        ("from coterie.solve import dynamics", ["coterie.solve"]),
    ],
)
def test_every_way_to_import_is_seen(tmp_path, line, modules):
    (tmp_path / "some.py").write_text(f"def late():\n    {line}\n")
    assert list(imported_modules(tmp_path / "some.py")) == modules


def test_import_is_light():
    """`import coterie` loads nothing heavy: names are loaded when they are first used."""
    heavy = [
        "numpy",
        "scipy",
        "pyarrow",
        "duckdb",
        "pyspark",
        "pandas",
        "polars",
        "numba",
        "matplotlib",
        "rich",
        "typer",
        "jinja2",
    ]
    code = f"import sys, coterie; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_everything_exported_exists_and_is_documented():
    for name in coterie.__all__:
        assert getattr(coterie, name).__doc__, name
