"""`make fuzz`: run readers on inputs that are almost right, until the time or the number of executions is up.

Input number t of a reader depends on the seed, the reader and t alone. Executions of all runs are added up in a file;
inputs that a reader should have refused, and did not, are kept as files.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz.readers import READERS, Defect, a_folder, execute

COUNTS = Path("build/fuzz.json")
FOUND = Path("build/fuzz")


def main():
    """Run what the command line asks for; the exit code is 1 where something was found."""
    asked = _arguments()
    counts = json.loads(asked.counts.read_text()) if asked.counts.exists() else {}
    seed = asked.seed if asked.seed is not None else sum(counts.values())
    done, taken, spent, found = Counter(), Counter(), Counter(), Counter()
    end = time.monotonic() + asked.seconds
    with a_folder() as folder:
        while time.monotonic() < end:
            # Each reader has an equal share of the time, so that slow ones have theirs too.
            left = [name for name in asked.readers if done[name] < asked.executions]
            if not left:
                break
            name = min(left, key=spent.__getitem__)
            begun = time.process_time()
            content = drawn(name, seed, done[name])
            try:
                taken[name] += execute(READERS[name], content, Path(folder))
            except Defect as problem:
                found[name, _kind(problem)] += 1
                if found[name, _kind(problem)] == 1:
                    _keep(name, content, seed, done[name], problem)
            done[name] += 1
            spent[name] += time.process_time() - begun
    _report(asked, counts, seed, done, taken, spent, found)
    return 1 if found else 0


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
    asked = parser.parse_args()
    asked.readers = asked.readers or list(READERS)
    if unknown := [name for name in asked.readers if name not in READERS]:
        parser.error(f"unknown reader {unknown[0]!r}; there are {', '.join(READERS)}")
    return asked


def _kind(problem):
    """Return what tells defects apart: what it was, and where in the package it arose."""
    trace, places = problem.__cause__.__traceback__ if problem.__cause__ else None, []
    while trace is not None:
        if "coterie" in trace.tb_frame.f_code.co_filename:
            places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join([str(problem)[:40], *places[-2:]])


def _keep(name, content, seed, number, problem):
    FOUND.mkdir(parents=True, exist_ok=True)
    kept = FOUND / f"{name}-{seed}-{number}"
    kept.write_bytes(content)
    sys.stdout.write(f"found: {kept}: {str(problem)[:600]!r} at {_kind(problem)}\n")
    sys.stdout.flush()


def _report(asked, counts, seed, done, taken, spent, found):
    sys.stdout.write(f"{'reader':16}{'executions':>11}{'taken':>8}{'per CPU s':>12}{'defects':>9}   (seed {seed})\n")
    for name in asked.readers:
        defects = sum(times for (reader, _), times in found.items() if reader == name)
        pace = done[name] / spent[name] if spent[name] else 0
        sys.stdout.write(f"{name:16}{done[name]:>11,}{taken[name]:>8,}{pace:>12,.0f}{defects:>9,}\n")
        counts[name] = counts.get(name, 0) + done[name]
    asked.counts.parent.mkdir(parents=True, exist_ok=True)
    asked.counts.write_text(json.dumps(counts, indent=2) + "\n")
    sys.stdout.write(f"{sum(done.values()):,} executions, {sum(counts.values()):,} in all runs ({asked.counts})\n")


if __name__ == "__main__":
    sys.exit(main())
