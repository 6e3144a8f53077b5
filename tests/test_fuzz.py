"""The short form of `make fuzz`: some executions of each reader, inputs that one once failed on, and how it counts."""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

import pytest

import coterie
from fuzz import naive
from fuzz.__main__ import drawn, main
from fuzz.readers import READERS, Defect, Reader, execute
from patience import at_most

FOUND = sorted((Path(__file__).parent / "fuzz" / "found").iterdir())
EXECUTIONS = {
    "csv": 15,
    "pairs": 10,
    "memberships": 10,
    "totals": 10,
    "parquet": 15,
    "xlsx": 15,
    "xls": 15,
    "options": 12,
}
EXECUTIONS |= {"result": 60, "statistics": 40, "second-pairs": 15, "second-totals": 15}
"""Those of readers that need an engine or take a while; the others have three hundred."""


@pytest.mark.parametrize("name", READERS)
def test_readers_take_or_refuse_whatever_they_are_given(name, tmp_path):
    taken = [execute(READERS[name], drawn(name, 0, number), tmp_path) for number in range(EXECUTIONS.get(name, 300))]
    assert any(taken)
    assert not all(taken)


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.name)
def test_found_cases_stay_mended(file, tmp_path):
    """Files are named after their reader; each made it fail once."""
    execute(READERS[file.name.rsplit("-", 2)[0]], file.read_bytes(), tmp_path)


def test_defects_are_seen(tmp_path):
    """A check that cannot fail is none: tracebacks, warnings, long messages and failures count as defects."""

    def failing(problem):
        def read(folder, content):
            raise problem

        return Reader("failing", None, read)

    for problem in (ZeroDivisionError("0"), coterie.CoterieError("no"), RuntimeWarning("odd"), coterie.InputError("")):
        with pytest.raises(Defect):
            execute(failing(problem), b"", tmp_path)
    assert execute(failing(coterie.InputError("a clear message")), b"", tmp_path) is False


def test_the_second_reader_sees_what_differs(tmp_path, monkeypatch):
    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n2,x,b,a,-1\n")
    assert naive.disagreement(tmp_path, "pairs") is None
    assert naive.pair_sums(tmp_path) == {("x", "a", "b"): [2, 3 * 2**28, 9 * 2**56]}
    monkeypatch.setattr(naive, "LOW", -0.75)
    assert naive.disagreement(tmp_path, "pairs").startswith("refused by the second reader only: outside")
    monkeypatch.setattr(naive, "LOW", -2.0)
    assert naive.disagreement(tmp_path, "pairs").startswith("sums differ")


def test_executions_add_up_over_runs(tmp_path, monkeypatch, capsys):
    counts = tmp_path / "counts.json"
    monkeypatch.setattr(sys, "argv", ["fuzz", "rules", "truth", "--executions", "20", "--counts", str(counts)])
    assert main() == 0
    assert main() == 0
    assert "40 executions, 80 in all runs" in capsys.readouterr().out
    assert json.loads(counts.read_text()) == {"rules": 40, "truth": 40}


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="needs atheris, which is for Linux")
def test_a_fuzzer_that_is_guided_by_coverage(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    words = ["fuzz", "rules", "--guided", "--executions", "2000", "--seconds", "60", "--seed", "1"]
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    assert "2,000 executions, 2,000 in all runs" in capsys.readouterr().out
    assert json.loads(Path("build/fuzz.json").read_text()) == {"rules": 2000}
    monkeypatch.setattr(sys, "argv", ["fuzz", "options", "--guided"])
    with pytest.raises(SystemExit):
        main()
    assert "unknown reader 'options'" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["pairs", "totals"])
def test_the_second_reader_agrees_with_spark(kind, tmp_path, spark):
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in json.loads(drawn(f"second-{kind}", 0, number)).items():
            (folder / f"{name}.csv").write_bytes(text.encode())
        try:
            problem = naive.disagreement(folder, kind, spark=spark, threads=None)
        except coterie.InputError:  # both refuse it
            continue
        assert problem is None, (folder, problem)


def test_only_work_counts_as_time():
    """A busy machine, on which a reader waits for its turn, is no defect."""
    with at_most(0.2):
        time.sleep(0.5)
    with pytest.raises(TimeoutError, match=r"took more than 0\.2 seconds"), at_most(0.2):
        while True:
            pass
    with pytest.raises(TimeoutError, match=r"took more than 1\.0 seconds"), at_most(0.01):
        time.sleep(60)
