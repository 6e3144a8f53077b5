"""Which versions are at work: what a report of a problem, or a paper, should say."""

import platform
import sys
from importlib import metadata

MATTER = (
    "numpy",
    "scipy",
    "pyarrow",
    "duckdb",
    "numba",
    "scikit-learn",
    "pandas",
    "matplotlib",
    "pyspark",
    "quantecon",
)
"""Packages whose version can matter; those that are optional may be missing."""


def versions() -> dict[str, str]:
    """Return the versions of coterie, Python, the system, and the packages that matter; "-" where one is missing."""
    found = {
        "coterie": sys.modules["coterie"].__version__,
        "python": sys.version.split()[0],
        "system": platform.platform(),
    }
    for name in MATTER:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "-"
    return found


def show_versions() -> None:
    """Print the versions of coterie, Python, the system, and the packages that matter."""
    found = versions()
    width = max(map(len, found))
    print("\n".join(f"{name:{width}}  {version}" for name, version in found.items()))  # noqa: T201
