"""Compare pinned versions with known vulnerabilities, without a network: with a copy of a list of them.

    git clone https://github.com/pypa/advisory-database
    python tools/audit.py advisory-database requirements.txt requirements-dev.txt
    git clone https://github.com/pyupio/safety-db
    python tools/audit.py safety-db/data/insecure.json requirements.txt requirements-dev.txt

`pip-audit` asks the newest ones, where there is a network. The exit code is 1 where a version is affected.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)")

PUBLISHED = re.compile(r'^published: "?(\d{4}-\d\d-\d\d)', re.MULTILINE)


def main() -> int:
    """Print which pinned versions are affected, and by what."""
    parser = argparse.ArgumentParser(description="Known vulnerabilities of pinned versions.")
    parser.add_argument(
        "advisories",
        type=Path,
        help="a clone of github.com/pypa/advisory-database, or insecure.json of pyupio/safety-db",
    )
    parser.add_argument("requirements", type=Path, nargs="+")
    asked = parser.parse_args()
    pinned = sorted({pin for path in asked.requirements for pin in pins(path.read_text(encoding="utf-8"))})
    known = safety_db if asked.advisories.is_file() else pypa
    about, newest = known(asked.advisories, pinned)
    affected = [one for one in about if one.holds]
    for one in affected:
        sys.stdout.write(f"{one.name} {one.version}: {one.what}\n")
    sys.stdout.write(f"{len(pinned)} versions, {len(about)} advisories about them: {len(affected)} hold; ")
    sys.stdout.write(f"the newest advisory of all is of {newest}\n")
    return 1 if affected else 0


class Advisory(NamedTuple):
    """What is known of a package, and whether it is so of the version that is pinned."""

    name: str
    version: str
    what: str
    holds: bool


def pypa(folder: Path, pinned: Sequence[tuple[str, str]]) -> tuple[list[Advisory], str]:
    """Return the advisories of PyPA about what is pinned, and the date of the newest of all."""
    found = []
    for name, version in pinned:
        for path in sorted((folder / "vulns" / name).glob("*.yaml")):
            one = yaml.safe_load(path.read_text(encoding="utf-8"))
            what = f"{one['id']} {', '.join(one.get('aliases', ()))}"
            found.append(Advisory(name, version, what, is_affected(one, name, version)))
    return found, max(map(_published, (folder / "vulns").glob("*/*.yaml")), default="never")


def safety_db(file: Path, pinned: Sequence[tuple[str, str]]) -> tuple[list[Advisory], str]:
    """Return the same of Safety DB, which has a list of affected versions for each package, and its own date."""
    content = json.loads(file.read_text(encoding="utf-8"))
    date = datetime.fromtimestamp(content.pop("$meta")["timestamp"], UTC).date().isoformat()
    known: dict[str, list[str]] = {canonicalize_name(name): specified for name, specified in content.items()}
    return [
        Advisory(name, version, specified, SpecifierSet(specified).contains(version, prereleases=True))
        for name, version in pinned
        for specified in known.get(name, ())
    ], date


def _published(path: Path) -> str:
    """Return the date of an advisory, without parsing all of it."""
    found = PUBLISHED.search(path.read_text(encoding="utf-8"))
    return found[1] if found else ""


def pins(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of what is pinned."""
    for line in text.splitlines():
        if found := PIN.match(line.strip()):
            yield canonicalize_name(found[1]), found[2]


def is_affected(advisory: Mapping[str, Any], name: str, version: str) -> bool:
    """Return whether an advisory is about a version: it lists it, or a range has it."""
    about = [one for one in advisory.get("affected", ()) if canonicalize_name(one["package"]["name"]) == name]
    if advisory.get("withdrawn"):
        return False
    return any(
        version in map(str, one.get("versions", ()))
        or any(_has(part["events"], Version(version)) for part in one.get("ranges", ()) if part["type"] == "ECOSYSTEM")
        for one in about
    )


def _has(events: list[Mapping[str, Any]], version: Version) -> bool:
    """Return whether a range has a version: between an introduction and what ends it."""
    inside = False
    for event in sorted(events, key=lambda event: Version(str(next(iter(event.values()))))):
        ((kind, value),) = event.items()
        limit = Version(str(value))
        if kind == "introduced" and version >= limit:
            inside = True
        elif (kind == "fixed" and version >= limit) or (kind == "last_affected" and version > limit):
            inside = False
    return inside


if __name__ == "__main__":
    sys.exit(main())
