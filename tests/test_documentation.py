"""The examples in README and docs are executed: Python by doctest, commands here."""

import ast
import doctest
import re
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import command_pages
import outputs
import pictures
from coterie.learn.glossary import GLOSSARY
from test_architecture import ROOMS, TOOLS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LAYOUT = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md"]
"""The pages that say what is where."""


def commands(page):
    """Yield (command, expected output) of the page's console blocks, but for what make does."""
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            if not command.startswith("make "):
                yield command.split("  #")[0].strip(), expected


SHOWN = {page: list(commands(page)) for page in PAGES if page.parent.name != "cases" and any(commands(page))}
"""Commands of pages, and what they should print. Case studies need data: test_case_studies.py runs theirs."""
GIVEN = {page: tuple(command for command, _ in shown) for page, shown in SHOWN.items()}
BEGINNINGS = Counter(given[:length] for given in GIVEN.values() for length in range(len(given) + 1))
"""How many pages begin with these commands."""


def with_its_like(page):
    """Keep pages that begin alike on one worker, where they share what they begin with."""
    first = next(other for other in GIVEN if GIVEN[other][0] == GIVEN[page][0])
    return pytest.param(page, id=page.name, marks=pytest.mark.xdist_group(f"pages like {first.name}"))


@pytest.fixture(scope="session")
def after(tmp_path_factory):
    """Return what the last of some commands did, in a folder where all of them were run, each once for all pages."""
    start = tmp_path_factory.mktemp("pages") / "start"
    start.mkdir()
    (start / "examples").symlink_to(ROOT / "examples")
    kept = {(): (start, None)}

    def run(given):
        if given not in kept:
            run(given[:-1])
            folder, _ = kept[given[:-1]]
            if BEGINNINGS[given] < BEGINNINGS[given[:-1]]:  # other pages go on from the same folder
                folder = shutil.copytree(folder, start.parent / str(len(kept)), symlinks=True)
            kept[given] = folder, outputs.run(given[-1], folder)
        return kept[given][1]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", [with_its_like(page) for page in SHOWN])
def test_commands_do_what_the_page_shows(page, after):
    for number, (command, expected) in enumerate(SHOWN[page], 1):
        done = after(GIVEN[page][:number])
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        assert set(expected.split()) != {"..."}, f"{command}: show at least one line of what it prints"
        assert doctest.OutputChecker().check_output(expected, done.stdout, outputs.FLAGS), f"{command}\n{done.stdout}"


def test_everything_to_make_is_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    blocks = [
        block
        for page in PAGES
        for block in re.findall(
            r"^```(?:console|sh)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
    ]
    named = re.findall(r"^(?:\$ )?make ([\w-]+)", "".join(blocks), re.MULTILINE)
    assert {"demo", "test", "docs"} <= set(named)
    assert all(f"\n{word}:" in makefile for word in named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nobody_reads_marks_of_doctest(page):
    assert "<BLANKLINE>" not in page.read_text(encoding="utf-8")


def test_pages_of_commands_are_what_the_command_line_says():
    folder = ROOT / "docs" / "commands"
    made = command_pages.pages()
    assert set(made) == {page.name for page in folder.iterdir()}
    for name, content in made.items():
        assert (folder / name).read_text(encoding="utf-8") == content, f"{name}: run python tools/docs/command_pages.py"


@pytest.mark.parametrize("name", command_pages.EXAMPLES)
def test_examples_of_commands_have_options_that_exist(name):
    page = command_pages.pages()[f"{name}.md"]
    for example in command_pages.EXAMPLES[name]:
        assert example.startswith(f"coterie {name}")
        assert all(f"`{option} " in page or f"`{option}`" in page for option in re.findall(r"--[\w-]+", example)), (
            example
        )


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_pictures_are_what_the_script_draws(name):
    drawn = pictures.PICTURES[name]()
    assert (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8") == drawn
    ET.fromstring(drawn)


def test_the_glossary_has_the_words_of_results():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for word, meaning in GLOSSARY.items():
        assert f"| {word} | {meaning} |" in page


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
