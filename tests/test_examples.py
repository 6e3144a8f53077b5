"""Every script of examples/paper runs, asserts something, and says what it found."""

import ast
import runpy
from pathlib import Path

import pytest

from coterie.theory import HARD_INSTANCES

FOLDER = Path(__file__).parents[1] / "examples" / "paper"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def test_there_are_scripts():
    assert len(SCRIPTS) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_asserts_and_runs(path, capsys):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "the script asserts nothing"
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_is_listed(path):
    assert f"`{path.name}`" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("construct", HARD_INSTANCES.values(), ids=HARD_INSTANCES)
def test_every_instance_has_a_script(construct):
    assert any(f"{construct.__name__}(" in path.read_text(encoding="utf-8") for path in SCRIPTS)
