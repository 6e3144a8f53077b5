"""Logs that are read with Spark: without Java, and with a session that dies."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from faults.runs import orphans_of, processes_of

LONGEST = 600
DEATHS = (0.0, 5.0, 10.0, 20.0)
"""How many seconds after Java has begun its process is killed."""


def with_spark(inputs, place, counts, defects):
    """Let both happen; count what comes of it."""
    trials = [("no Java", None)]
    if reason := missing():
        counts[f"Spark dies|learn|skipped: {reason}"] += 1
    else:
        trials += [("Spark dies", after) for after in DEATHS]
    for number, (kind, after) in enumerate(trials):
        folder = Path(place) / str(number)
        shutil.copytree(inputs, folder)
        code, err, orphans = run(folder, without_java=after is None, dies_after=after)
        outcome = {0: "done", 1: "failed, said why"}.get(code, str(code))
        counts[f"{kind}|learn|{outcome}"] += 1
        for problem in problems(code, err, orphans, folder, dies=after is not None):
            defects[f"{kind}: {problem}"] += 1
            sys.stdout.write(f"found: {kind}, {after}: {problem}\n")


def missing():
    """Return what is missing for Spark here; nothing where all is there."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "no pyspark"
    return "" if shutil.which("java") or os.environ.get("JAVA_HOME") else "no Java"


def problems(code, err, orphans, folder, *, dies):
    """Yield what is wrong."""
    if code == 0 and not dies:
        yield "Spark without Java"
    if code not in {0, 1}:
        yield f"exit code {code}: {err[-300:]!r}"
    if "Traceback" in err:
        yield f"a traceback: {err[-600:]}"
    if code == 1 and sum(line.startswith("error:") for line in err.splitlines()) != 1:
        yield f"not one message: {err[-600:]!r}"
    if orphans:
        yield f"{orphans} processes are left"
    if (code == 0) != (folder / "result.json").exists():
        yield "a result that should not be there, or is missing"


def run(folder, *, without_java=False, dies_after=None):
    """Run `coterie learn --engine spark`; return its exit code, its messages, and how many processes are left."""
    environment = {name: value for name, value in os.environ.items() if name not in {"LD_PRELOAD", "JAVA_HOME"}}
    if without_java:
        environment |= {"PATH": str(Path(sys.executable).parent), "JAVA_HOME": "/nowhere"}
    words = [sys.executable, "-m", "coterie", "learn", "log", "--engine", "spark", "--out", "result.json", "--quiet"]
    with (folder / "err").open("w") as err:
        child = subprocess.Popen(words, cwd=folder, env=environment, stdout=err, stderr=err, start_new_session=True)
        end = time.monotonic() + LONGEST
        if dies_after is not None:
            while child.poll() is None and time.monotonic() < end and not processes_of(child.pid, "java"):
                time.sleep(0.05)
            time.sleep(dies_after)
            for process in (
                processes_of(child.pid, "java") if child.poll() is None else ()
            ):  # the first was only Spark's launcher
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        try:
            child.wait(max(1.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return child.returncode, (folder / "err").read_text(), orphans_of(child.pid)
