"""The examples in README and docs are executed: Python by doctest, commands here."""

import ast
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_architecture import ROOMS, TOOLS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LAYOUT = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md"]
"""The pages that say what is where."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(page):
    """Yield (command, expected output) of the page's console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            yield command.split("  #")[0].strip(), expected


EXECUTED = [page for page in PAGES if page.parent.name != "cases" and list(commands(page))]
"""The pages whose commands are run here; those of case studies need data, and are run in test_case_studies.py."""


@pytest.mark.slow
@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.name)
def test_commands_do_what_the_page_shows(page, tmp_path):
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    for command, expected in commands(page):
        if command.startswith("make "):
            assert f"\n{command.split()[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        assert set(expected.split()) != {"..."}, f"{command}: show at least one line of what it prints"
        assert doctest.OutputChecker().check_output(expected, done.stdout, FLAGS), f"{command}\n{done.stdout}"


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        assert str(page.relative_to(ROOT / "docs")) in navigation


def defined(path):
    """Return every name that a module defines at its top, and every method as Class.method."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef))
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("page", LAYOUT, ids=lambda page: page.name)
def test_every_file_and_function_that_is_named_exists(page):
    named = re.findall(r"`([\w/]+\.(?:py|md|toml))(?:::([\w.]+))?`", page.read_text(encoding="utf-8"))
    assert len(named) > 40
    for file, name in named:
        path = next((path for path in (ROOT / "src" / "coterie" / file, ROOT / file) if path.exists()), None)
        assert path, file
        assert not name or name in set(defined(path)), f"{file}::{name}"


def test_the_drawing_and_the_page_have_every_room_in_order():
    drawing = (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8")
    numbered = sorted((int(number), room) for number, room in re.findall(r">(\d+) (\w+)</text>", drawing))
    assert [room for _, room in numbered] == ROOMS
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [room for room in re.findall(r"^### (\w+)$", page, re.MULTILINE) if room != "Tools"] == ROOMS
    assert all(f"`{tool}.py`" in page and f"{tool}" in drawing for tool in TOOLS)


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "cli"])
def test_the_page_names_every_file_of_a_room(room):
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {f"{room}/{path.name}" for path in (ROOT / "src" / "coterie" / room).glob("*.py")} - {f"{room}/__init__.py"}
    assert not {file for file in files if f"`{file}" not in page}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_its_tests(room):
    assert list((ROOT / "tests" / room).glob("test_*.py"))
