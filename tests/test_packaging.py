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
