"""The layout holds: data flows one way, and importing the package is light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

SOURCE = Path(coterie.__file__).parent

LAYERS = [
    "errors",
    "arrays",
    "checks",
    "files",
    "actions",
    "joint_actions",
    "strategy",
    "sizes",
    "means",
    "utilities",
    "game",
    "truth",
    "log",
    "estimate",
    "certify",
    "solve",
    "coverage",
    "bounds",
    "collect",
    "simulate",
    "rehearse",
    "hard_instances",
    "result",
    "explanation",
    "cautions",
    "assemble",
    "learner",
    "plot",
    "report",
    "reproduce",
    "demo",
    "cli",
    "__main__",
]
"""From left to right; a module imports only from its own layer and from the left of it."""


def layer_of(module):
    return module.split(".")[1] if "." in module else None


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


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_data_flows_one_way(path):
    own = path.relative_to(SOURCE).with_suffix("").parts[0]
    assert own in LAYERS, f"{own}: say in LAYERS where it belongs"
    for module in imported_modules(path):
        assert module != "coterie", f"{own}: import from the module that defines the name"
        if module.startswith("coterie.") and module != "coterie.__version__":
            layer = layer_of(module)
            is_module = (SOURCE / f"{layer}.py").exists() or (SOURCE / layer / "__init__.py").exists()
            assert is_module, f"{own}: {module} is a name of the package; import it from the module that defines it"
            assert LAYERS.index(layer) <= LAYERS.index(own), f"{own} must not import {layer}"


@pytest.mark.parametrize(
    ("line", "modules"),
    [
        ("from coterie import solve, checks", ["coterie.solve", "coterie.checks"]),
        ("from coterie import Game", ["coterie.Game"]),
        ("import coterie.solve.dynamics", ["coterie.solve.dynamics"]),
        ("import coterie", ["coterie"]),
        ("from coterie.solve import dynamics", ["coterie.solve"]),
    ],
)
def test_every_way_to_import_is_seen(tmp_path, line, modules):
    (tmp_path / "some.py").write_text(f"def late():\n    {line}\n")
    assert list(imported_modules(tmp_path / "some.py")) == modules


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_stay_readable(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_import_is_light():
    """`import coterie` loads NumPy and nothing heavier."""
    heavy = ["scipy", "pyarrow", "duckdb", "pyspark", "pandas", "polars", "numba", "matplotlib", "rich", "typer"]
    code = f"import sys, coterie; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_everything_exported_exists_and_is_documented():
    for name in coterie.__all__:
        assert getattr(coterie, name).__doc__, name
