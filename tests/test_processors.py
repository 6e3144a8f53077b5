"""The same log has the same answer on every processor: libraries choose other instructions there."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
KINDS = ("Prescott", "Haswell")
"""Processors that OpenBLAS can be told to take this one for; the first is as old as any that runs this."""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="OpenBLAS knows these processors on x86 only")
@pytest.mark.parametrize(("table", "sizes"), [("firm.xlsx", "3:5"), ("class.csv", "2:3"), ("hackathon.xlsx", "0,2:5")])
def test_people_read_the_same_on_every_processor(table, sizes, tmp_path):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(*command, **more):
        done = subprocess.run(
            command, cwd=tmp_path, env={**environment, **more}, capture_output=True, text=True, check=True
        )
        return done.stdout

    run(sys.executable, str(EXAMPLES / "messy_tables.py"), "tables")
    run("coterie", "start", f"tables/{table}", "--yes", "--out", "log")
    said = [
        run("coterie", "learn", "log", "--team-size", sizes, "--report", "page.html", OPENBLAS_CORETYPE=kind)
        for kind in KINDS
    ]
    first, second = ([line for line in one.splitlines() if "found in " not in line] for one in said)
    assert len(first) > 5
    assert first == second
