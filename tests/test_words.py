"""Options are named in the words of the caller, everywhere."""

import ast
import re
from pathlib import Path

import pytest

import coterie
from coterie.words import said, spelled

SOURCE = Path(coterie.__file__).parent


def test_options_as_python_arguments():
    assert said("neutral") == "neutral"
    assert said("fresh", sizes="aware") == 'fresh, sizes="aware"'
    assert said(utility_range=(-1.0, 7.5), symmetric=False) == "utility_range=(-1, 7.5), symmetric=False"
    assert said(columns={"utility": "NAME"}) == 'columns={"utility": "NAME"}'


def test_options_in_other_words_for_a_while():
    with pytest.raises(RuntimeError), spelled("/".join):
        assert said("neutral", sizes="aware") == "neutral/sizes"
        raise RuntimeError
    assert said("neutral") == "neutral"


def test_options_on_the_command_line():
    from coterie.cli.log_options import command_line

    with spelled(command_line):
        assert said(utility_range=(-1.0, 7.5), neutral=3) == "--utility-range -1 7.5 --neutral 3"
        assert said(symmetric=False, symmetrize=True) == "--asymmetric --symmetrize"
        assert said(columns={"utility": "NAME"}) == "--columns utility=NAME"
        assert (said("random_state"), said("memory_limit")) == ("--seed", "--memory-limit")


def sentences(tree):
    """Yield the strings of a module that are neither documentation nor whole pages."""
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
        if is_text and "\n\n" not in node.value:
            yield node.value


@pytest.mark.parametrize(
    "path",
    sorted(path for path in SOURCE.rglob("*.py") if "cli" not in path.parts),
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_only_the_command_line_speaks_of_its_options(path):
    flags = {
        "--asymmetric",
        "--symmetrize",
        "--pool-coalitions",
        "--no-pool-coalitions",
        "--may-stay-out",
        "--adaptive",
        "--clean-names",
        "--lower-is-better",
        "--higher-is-better",
    }  # names in the table of options
    for sentence in sentences(ast.parse(path.read_text(encoding="utf-8"))):
        assert sentence in flags or not re.search(r"(^|[\s(])--[a-z]", sentence), sentence


def test_a_sentence_with_an_option_would_be_seen():
    tree = ast.parse('"""Has `--json`."""\nraise ValueError(f"{1}: say --fresh")\n')
    assert list(sentences(tree)) == [": say --fresh"]
