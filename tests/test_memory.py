"""Where memory is limited there is a message, and no waiting for memory that never comes."""

import subprocess
import sys

import pytest

from coterie import CoterieError, memory
from coterie.cli import app
from coterie.log.engine import DuckDBEngine

resource = pytest.importorskip("resource", reason="limits are those of Unix")

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
sys.argv = ["coterie", *sys.argv[2:]]
from coterie.cli import main
main()
"""


def limited(megabytes, *words):
    """Run a command with so much address space."""
    given = [sys.executable, "-c", LIMITED, str(megabytes), *words]
    return subprocess.run(given, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("megabytes", [96, 128, 192, 256])
def test_without_room_for_linear_algebra_there_is_one_message(megabytes):
    ended = limited(megabytes, "evaluate", "nothing.json")
    assert (ended.returncode, ended.stderr) == (1, "error: not enough memory (linear algebra cannot be loaded)\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_needed_is_taken_at_the_beginning(monkeypatch):
    """So that it is not waited for later: the first use of each library, once there is room for both."""
    text = """
import sys
import coterie.memory as memory
memory._is_limited = lambda: True
def used():
    with open("/proc/self/statm") as file: return int(file.read().split()[0]) * 4096
memory.load_linear_algebra()
import numpy as np, scipy.linalg
before = used()
one = np.eye(300)
np.linalg.solve(one, one), np.linalg.eigh(one), one @ one, scipy.linalg.cho_solve((one, True), one)
scipy.linalg.solve_triangular(one, one), scipy.linalg.lapack.dpotrf(one)
print((used() - before) >> 20)
"""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 30  # and not 32 for each library


@pytest.mark.parametrize(
    "problem",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("libarrow.so: failed to map segment from shared object"),
        ImportError("libx.so: cannot allocate memory in static TLS block"),
    ],
)
def test_whatever_says_so_is_one_message(monkeypatch, capsys, problem):
    def failing(*_, **__):
        raise problem

    monkeypatch.setattr(app, "app", failing)
    monkeypatch.setattr(sys, "argv", ["coterie", "learn", "x"])
    failing.info = app.typer.models.TyperInfo(name="coterie")
    assert app.run([]) == 1
    assert capsys.readouterr().err.startswith("error: not enough memory")


def test_other_missing_modules_are_not_about_memory():
    assert not memory.is_missing(ImportError("No module named 'scipy'"))
    assert not memory.is_missing(RuntimeError("no"))


def test_a_database_that_cannot_begin_is_one_message(monkeypatch):
    import duckdb

    def connect(_):
        raise duckdb.OutOfMemoryException("Failed to allocate block of 16384 bytes\n\nPossible solutions: ...")

    monkeypatch.setattr(duckdb, "connect", connect)
    with pytest.raises(CoterieError, match=r"^not enough memory: DuckDB cannot begin \(Failed to allocate .* bytes\)$"):
        DuckDBEngine()
