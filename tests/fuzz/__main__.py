"""`make fuzz`: run readers on inputs that are almost right, until the time or the number of executions is up.

Input number t of a reader depends on the seed, the reader and t alone; with `--guided`, on what earlier ones reached
(`guided.py`). Executions of all runs are added up in a file; inputs that a reader should have refused, and did not, are
kept as files.
"""

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fuzz.readers import READERS, Defect, a_folder, execute

COUNTS = Path("build/fuzz.json")
FOUND = Path("build/fuzz")


@dataclass
class Run:
    """What came of one reader."""

    done: int = 0
    taken: int | None = 0
    """None where nobody counted."""
    spent: float = 0.0
    defects: int = 0


def main():
    """Run what the command line asks for; the exit code is 1 where something was found."""
    asked = _arguments()
    counts = json.loads(asked.counts.read_text()) if asked.counts.exists() else {}
    seed = asked.seed if asked.seed is not None else sum(counts.values())
    runs = {name: _guided(name, seed, asked) for name in asked.readers} if asked.guided else _plain(seed, asked)
    _report(asked, counts, seed, runs)
    return 1 if any(run.defects for run in runs.values()) else 0


def _plain(seed, asked):
    """Run all readers in turn: each has an equal share of the time, so that slow ones have theirs too."""
    runs, seen = {name: Run() for name in asked.readers}, set()
    end = time.monotonic() + asked.seconds
    with a_folder() as folder:
        while time.monotonic() < end:
            left = [name for name in asked.readers if runs[name].done < asked.executions]
            if not left:
                break
            name = min(left, key=lambda one: runs[one].spent)
            run, begun = runs[name], time.process_time()
            content = drawn(name, seed, run.done)
            try:
                run.taken += execute(READERS[name], content, Path(folder))
            except Defect as problem:
                run.defects += 1
                keep(name, content, seed, problem, seen)
            run.done += 1
            run.spent += time.process_time() - begun
    return runs


def _guided(name, seed, asked):
    """Run a reader guided by coverage, for its share of the time, in a process that libFuzzer ends."""
    seconds, most = max(int(asked.seconds / len(asked.readers)), 1), min(asked.executions, 2**31 - 1)
    words = [sys.executable, "-m", "fuzz.guided", name, str(seed), str(seconds), str(most)]
    before, begun = os.times(), time.monotonic()
    ended = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    told = [line for line in ended.stdout.splitlines() if line.startswith("found: ")]
    sys.stdout.writelines(f"{line}\n" for line in told)
    done = re.search(r"Done (\d+) runs", ended.stderr)
    if done is None:
        raise SystemExit(
            f"{name}: the guided fuzzer failed after {time.monotonic() - begun:.0f} s:\n{ended.stderr[-2000:]}"
        )
    spent = os.times().children_user + os.times().children_system - before.children_user - before.children_system
    return Run(int(done[1]), None, spent, len(told))


def drawn(name, seed, number):
    """Return input `number` of a reader."""
    return READERS[name].draw(random.Random(f"{seed}:{name}:{number}"))


def _arguments():
    parser = argparse.ArgumentParser(description="Run readers on inputs that are almost right.")
    parser.add_argument("readers", nargs="*", help=f"by default all: {', '.join(READERS)}")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long, all readers together")
    parser.add_argument("--executions", type=int, default=10**9, help="at most so many of each reader")
    parser.add_argument("--seed", type=int, help="by default the number of executions so far: a new run is new inputs")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where executions of all runs are added up")
    parser.add_argument("--guided", action="store_true", help="let what inputs reach lead to others (needs atheris)")
    asked = parser.parse_args()
    known = [name for name in READERS if READERS[name].reads_bytes or not asked.guided]
    asked.readers = asked.readers or known
    if unknown := [name for name in asked.readers if name not in known]:
        parser.error(f"unknown reader {unknown[0]!r}; there are {', '.join(known)}")
    return asked


def _kind(problem):
    """Return what tells defects apart: what it was, and where in the package it arose."""
    trace, places = problem.__cause__.__traceback__ if problem.__cause__ else None, []
    while trace is not None:
        if "coterie" in trace.tb_frame.f_code.co_filename:
            places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join([str(problem)[:40], *places[-2:]])


def keep(name, content, seed, problem, seen):
    """Write an input that showed a defect to a file, and say so; one of each kind."""
    kind = name, _kind(problem)
    if kind in seen:
        return
    seen.add(kind)
    FOUND.mkdir(parents=True, exist_ok=True)
    kept = FOUND / f"{name}-{seed}-{hashlib.sha256(content).hexdigest()[:8]}"
    kept.write_bytes(content)
    sys.stdout.write(f"found: {kept}: {str(problem)[:600]!r} at {_kind(problem)}\n")
    sys.stdout.flush()


def _report(asked, counts, seed, runs):
    sys.stdout.write(f"{'reader':16}{'executions':>11}{'taken':>8}{'per CPU s':>12}{'defects':>9}   (seed {seed})\n")
    for name, run in runs.items():
        pace, taken = run.done / run.spent if run.spent else 0, "-" if run.taken is None else f"{run.taken:,}"
        sys.stdout.write(f"{name:16}{run.done:>11,}{taken:>8}{pace:>12,.0f}{run.defects:>9,}\n")
        counts[name] = counts.get(name, 0) + run.done
    asked.counts.parent.mkdir(parents=True, exist_ok=True)
    asked.counts.write_text(json.dumps(counts, indent=2) + "\n")
    done = sum(run.done for run in runs.values())
    sys.stdout.write(f"{done:,} executions, {sum(counts.values()):,} in all runs ({asked.counts})\n")


if __name__ == "__main__":
    sys.exit(main())
