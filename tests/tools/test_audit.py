"""Pinned versions are compared with advisories as these are written."""

import json
import sys
from pathlib import Path

import pytest

import audit

ROOT = Path(__file__).parents[2]

ADVISORY = """
id: PYSEC-2024-1
aliases: [CVE-2024-1]
affected:
- package: {name: Some_Thing, ecosystem: PyPI}
  ranges:
  - {type: GIT, events: [{introduced: "0"}]}
  - {type: ECOSYSTEM, events: [{introduced: "0"}, {fixed: 1.2.0}, {introduced: 2.0.0}, {last_affected: 2.1.0}]}
  versions: ["3.0"]
published: "2024-05-01T00:00:00Z"
"""


@pytest.mark.parametrize(
    ("version", "holds"),
    [("1.1.9", True), ("1.2.0", False), ("2.0.0", True), ("2.1.0", True), ("2.2", False), ("3.0", True)],
)
def test_versions_within_a_range_are_affected(tmp_path, monkeypatch, capsys, version, holds):
    folder = tmp_path / "advisories" / "vulns" / "some-thing"
    folder.mkdir(parents=True)
    (folder / "PYSEC-2024-1.yaml").write_text(ADVISORY)
    (folder / "PYSEC-2024-2.yaml").write_text(ADVISORY + "withdrawn: 2024-06-01\n")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"# pinned\nsome.thing[extra]=={version} ; python_version > '3'\nother==1.0\n")
    monkeypatch.setattr(sys, "argv", ["audit", str(tmp_path / "advisories"), str(requirements)])
    assert audit.main() == int(holds)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:-1] == [f"some-thing {version}: PYSEC-2024-1 CVE-2024-1"] * holds
    assert lines[-1].startswith(f"2 versions, 2 advisories about them: {int(holds)} hold; the newest")
    assert lines[-1].endswith("is of 2024-05-01")


@pytest.mark.parametrize(("version", "holds"), [("1.1.9", 1), ("1.2.0", 0), ("2.0.5", 2)])
def test_versions_are_looked_up_in_safety_db(tmp_path, monkeypatch, capsys, version, holds):
    content = {"$meta": {"timestamp": 1775023247}, "Some_Thing": ["<1.2.0", ">=2.0,<2.1", "==2.0.5"], "else": [">=0"]}
    (tmp_path / "insecure.json").write_text(json.dumps(content))
    (tmp_path / "requirements.txt").write_text(f"some.thing=={version}\n")
    words = ["audit", str(tmp_path / "insecure.json"), str(tmp_path / "requirements.txt")]
    monkeypatch.setattr(sys, "argv", words)
    assert audit.main() == int(holds > 0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == holds + 1
    assert (
        lines[-1] == f"1 versions, 3 advisories about them: {holds} hold; the newest advisory of all is of 2026-04-01"
    )


def test_everything_is_pinned():
    for name in ("requirements.txt", "requirements-dev.txt", "benchmarks/requirements.txt"):
        lines = [line for line in (ROOT / name).read_text().splitlines() if line.strip() and line[0] not in "#-"]
        assert len(list(audit.pins("\n".join(lines)))) == len(lines)
