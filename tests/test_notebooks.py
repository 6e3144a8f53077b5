"""The notebooks run, and print what they are stored with; their last cells assert what their texts say."""

import ast
import re

import pytest

pytest.importorskip("nbclient")

import notebooks

PATHS = sorted(notebooks.FOLDER.glob("*.ipynb"))
EXPECTED = {"cross-validation", "hedonic-classics", "own-certificate", "own-model-and-policy", "sweep"}


def sources(path, kind):
    return [cell.source for cell in notebooks.read(path).cells if cell.cell_type == kind]


def test_every_notebook_is_on_the_page():
    page = (notebooks.FOLDER / "index.md").read_text(encoding="utf-8")
    assert {path.stem for path in PATHS} == EXPECTED == set(re.findall(r"\]\(([\w-]+)\.ipynb\)", page))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebooks_begin_with_a_title_and_end_with_what_they_claim(path):
    assert sources(path, "markdown")[0].startswith("# ")
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(sources(path, "code")[-1])))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own parts, about each other
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebooks_run_and_print_what_is_stored(path):
    assert notebooks.printed(notebooks.executed(path)) == notebooks.printed(notebooks.read(path))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_claim_that_is_false_is_noticed(tmp_path):
    notebook = notebooks.nbformat.v4.new_notebook(cells=[notebooks.nbformat.v4.new_code_cell("assert 1 == 2")])
    notebooks.nbformat.write(notebook, tmp_path / "false.ipynb")
    with pytest.raises(Exception, match="AssertionError"):
        notebooks.executed(tmp_path / "false.ipynb")
