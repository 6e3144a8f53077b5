"""The source distribution holds everything that the commands of the Makefile need."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_source_distribution_can_run_the_makefile():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    included = {path.relative_to(ROOT).parts[0] for pattern in patterns for path in ROOT.glob(pattern.lstrip("/"))}
    assert all(list(ROOT.glob(pattern.lstrip("/"))) for pattern in patterns)
    assert included >= {
        "Makefile",
        "mkdocs.yml",
        "benchmarks",
        "tools",
        ".ci",
        "requirements.txt",
        "requirements-dev.txt",
    }
    assert included >= {
        "src",
        "tests",
        "examples",
        "docs",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE",
        "CITATION.cff",
    }


def pins(name):
    """The versions that a file of requirements fixes, without those of files that it includes."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(";")[0].split("==") for line in lines if line.strip() and not line.startswith(("#", "-r ")))


def test_programs_that_tests_and_benchmarks_use_have_one_version():
    tested, compared = pins("requirements-dev.txt"), pins("benchmarks/requirements.txt")
    assert {name: compared[name] for name in compared.keys() & tested.keys()}.items() <= tested.items()
    assert compared.keys() >= {"quantecon", "leidenalg", "igraph", "polars", "pyspark"}
    assert not compared.keys() & pins("requirements.txt").keys(), "these come with requirements.txt"
