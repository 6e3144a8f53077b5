"""The short form of `make faults`: some faults of quick commands, and that whatever is wrong after one is seen."""

import json
import os
import shutil
import signal
import socketserver
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

import coterie
from coterie.log.spark import HAS_ENDED, SparkEngine, _say_the_end_once
from coterie.log.tables import Dialect, Source
from faults import runs, spark
from faults.__main__ import KINDS
from faults.runs import NONE, Command, Ended, Fault, Place, canonical, problems, wrong_code

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layer that fails needs Linux")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="the layer that fails needs a C compiler")


def faults(tmp_path, *words):
    """Run `python -m faults`; return what it counted."""
    tests = Path(__file__).parent
    paths = {"PYTHONPATH": os.pathsep.join([str(tests), *map(os.path.abspath, filter(None, sys.path))])}
    ended = subprocess.run(
        [sys.executable, "-m", "faults", *words, "--seed", "0", "--counts", str(tmp_path / "counts.json")],
        env=os.environ | paths | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not list(tmp_path.glob("faults-*"))
    return json.loads((tmp_path / "counts.json").read_text())


@pytest.mark.slow
@needs_compiler
def test_nothing_is_half_written_whatever_fails(tmp_path):
    without = ",".join(kind for kind in KINDS if kind != "spark")
    counts = faults(tmp_path, "simulate, empty folder", "--kinds", without, "--every", "8", "--kills", "4")
    kinds = {key.split("|")[0] for key in counts}
    assert {"no space", "no permission", "failing disk", "kill at a write", "kill", "clock", "no memory"} <= kinds
    assert any("failed, said why" in key for key in counts)
    assert any("SIGKILL" in key for key in counts)
    assert any(key.endswith(("|130", "|143")) for key in counts)


def place(tmp_path, *names, old=(), folder=""):
    """Return the place of a run that left files."""
    return SimpleNamespace(
        command=Command("c", (), names, folder, old=old), work=tmp_path, left=list,
        written=lambda: {name: canonical(tmp_path / name) for name in names if (tmp_path / name).exists()},
    )  # fmt: skip


def ended(code=0, err="", orphans=0):
    return Ended(code, "", err, 1.0, 0, 0, orphans)


def test_what_is_wrong_is_seen(tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}')
    whole, fault = {"a.json": '{"a": 1}'}, Fault("no space", error=28)
    assert problems(place(tmp_path, "a.json"), ended(), fault, whole) == []
    assert problems(place(tmp_path, "a.json"), ended(1, "error: no space"), fault, whole) == []
    assert problems(place(tmp_path, "a.json"), ended(None), fault, whole) == ["no end after 300 seconds"]
    for how, found in (
        (ended(1, "Traceback"), "a traceback"),
        (ended(orphans=1), "1 processes are left"),
        (ended(1), "without a message"),
        (ended(-signal.SIGSEGV, "error:"), "exit code -11"),
    ):
        assert found in str(problems(place(tmp_path, "a.json"), how, fault, whole))
    assert "b.csv is missing" in str(problems(place(tmp_path, "a.json"), ended(), fault, whole | {"b.csv": ""}))
    assert "b.csv is gone" in str(problems(place(tmp_path, "b.csv", old=("b.csv",)), ended(), fault, {}))
    half = place(tmp_path, "a.json", folder="new")
    assert "new is half full" in str(problems(half, ended(1, "error:"), fault, whole | {"b.csv": ""}))
    (tmp_path / "a.json").write_text('{"a": 2}')
    assert "neither old nor new" in str(problems(place(tmp_path, "a.json"), ended(), fault, whole))
    (tmp_path / "a.json").write_text('{"a": ')
    assert "a.json is damaged" in str(problems(place(tmp_path, "a.json"), ended(), fault, whole))
    left = place(tmp_path)
    left.left = lambda: [tmp_path / "coterie-x"]
    assert problems(left, ended(), fault, {}) == ["coterie-x is left (exit code 0): ''"]
    assert problems(left, ended(127), Fault("no memory", memory=0), {}) == []


def test_only_what_is_as_before_is_not_run_again(tmp_path):
    (tmp_path / "inputs").mkdir()
    here = Place(tmp_path / "place", tmp_path / "inputs", Command("", (), ("a.csv",), old=("a.csv",)))
    assert here.is_untouched()
    (here.temporary / "left").mkdir()
    assert not here.is_untouched()
    (here.temporary / "left").rmdir()
    (here.work / "a.csv").write_text("new")
    assert not here.is_untouched()


def test_signals_end_runs_with_their_code_and_a_word():
    interrupt, terminate = Fault("", sign=signal.SIGINT), Fault("", sign=signal.SIGTERM)
    assert wrong_code(ended(130, "error: interrupted"), interrupt) == ""
    assert wrong_code(ended(143, "error: terminated"), terminate) == ""
    assert wrong_code(ended(0), terminate) == ""
    assert "instead of 143" in wrong_code(ended(130, "error: interrupted"), terminate)
    assert "without a word" in wrong_code(ended(130), interrupt)
    assert "instead of 130" in wrong_code(ended(1, "error: no"), interrupt)
    assert "exit code 3" in wrong_code(ended(3), NONE)


@pytest.mark.parametrize(("suffix", "content"), [("xlsx", "PK"), ("html", "<html>"), ("png", "x"), ("npz", "x")])
def test_damaged_files_are_seen(tmp_path, suffix, content):
    (tmp_path / f"a.{suffix}").write_text(content)
    with pytest.raises(ValueError, match="is damaged"):
        canonical(tmp_path / f"a.{suffix}")


def test_a_session_of_spark_that_has_ended_is_said_to_have():
    def session(code):
        return SimpleNamespace(_sc=SimpleNamespace(_gateway=SimpleNamespace(proc=SimpleNamespace(poll=lambda: code))))

    with pytest.raises(coterie.CoterieError, match=HAS_ENDED), SparkEngine(session(-9))._explained():
        raise OSError("Error while sending or receiving")
    with pytest.raises(coterie.CoterieError, match=r"Spark failed \(no\)"), SparkEngine(session(None))._explained():
        raise OSError("no")


def test_java_that_ends_while_a_file_is_looked_at_is_not_the_fault_of_the_file():
    """Every way to Spark says so, not only queries."""
    gone = SparkEngine(
        SimpleNamespace(_sc=SimpleNamespace(_gateway=SimpleNamespace(proc=SimpleNamespace(poll=lambda: 9))))
    )
    source = Source("pairs", "pairs.parquet", ("pairs.parquet",))
    table = Source("pairs", "pairs.csv", ("pairs.csv",), Dialect(",", ("a",)))
    frame = Source("pairs", "frame", frame=pa.table({"a": [1]}))
    for way in (
        lambda: gone.find_log("far://away"),
        lambda: gone.types(source),
        lambda: gone.types(frame),
        lambda: gone.load(table, {"agent": "a"}),
    ):
        with pytest.raises(coterie.CoterieError, match=HAS_ENDED):
            way()


@pytest.mark.parametrize("problem", [EOFError(), ConnectionResetError()])
def test_what_the_end_of_java_is_to_a_server_of_spark_is_not_told_beside_it(capsys, problem):
    with socketserver.TCPServer(("localhost", 0), None, bind_and_activate=False) as server:
        session = SimpleNamespace(sparkContext=SimpleNamespace(_accumulatorServer=server))
        for _ in range(2):  # a session that is running already is not changed again
            _say_the_end_once(session)
        for told, others in ((problem, ""), (KeyError("other"), "other")):
            try:
                raise told
            except Exception:  # noqa: BLE001
                server.handle_error(None, "there")
            said = capsys.readouterr().err
            assert ("Traceback" in said, others in said) == (bool(others), True)


@pytest.mark.slow
def test_without_java_there_is_one_message(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n")
    code, err, orphans = spark.run(tmp_path, without_java=True)
    assert list(spark.problems(code, err, orphans, tmp_path, dies=False)) == []
    assert "it needs Java 17, found through JAVA_HOME" in err


def test_what_is_wrong_with_spark_is_seen(tmp_path):
    assert list(spark.problems(1, "error: no Java", 0, tmp_path, dies=False)) == []
    assert len(list(spark.problems(1, "Traceback", 1, tmp_path, dies=True))) == 3
    assert len(list(spark.problems(0, "", 0, tmp_path, dies=False))) == 2


def test_a_run_that_waits_for_nothing_is_ended_and_one_that_waits_for_its_turn_is_not(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(runs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    state = ["R", *["0"] * 10, "100", "0"]
    monkeypatch.setattr(runs, "_in_session", lambda _: [(1, "python", state)])
    patience = runs._Patience(1)
    for now[0] in (0.5, 10.0, 1000.0):  # ready to run, and never its turn
        assert not patience.is_over()
    state[0] = "S"
    now[0] = 1250.0
    assert not patience.is_over()
    state[11] = "200"
    now[0] = 1400.0
    assert not patience.is_over()
    now[0] = 1701.0
    assert patience.is_over()
    state[:] = ["R", *["0"] * 10, str(10**7), "0"]
    now[0] += 2
    assert patience.is_over()
