"""Run all benchmarks; each rewrites its section of RESULTS.md.

    python benchmarks/run.py [--quick] [game.py rivals.py]

One that fails stops none of the others: those that failed are named at the end, and the exit code is 1. With `--quick`
each runs in its shortest form, which tries the whole chain in some minutes; what that writes goes to
build/quick/RESULTS.md.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
QUICK = FOLDER.parent / "build" / "quick" / "RESULTS.md"

BENCHMARKS = {
    "game.py": "--agents 60 --coalitions 4",
    "simulate.py": "--samples 900",
    "log.py": "--scale 0.005",
    "certificates.py": "--only 0 --seeds 1 --starts 2",
    "solve.py": "--games 4 --compared 1 --sizes 6",
    "choices.py": "--seeds 1 --only 1",
    "learn.py": "--seeds 1 --only 0",
    "small_log.py": "",
    "few_data.py": "--seeds 1",
    "any_areas.py": "--agents 10,20",
    "expected_values.py": "--logs 2",
    "ranges.py": "--logs 1 --rounds 5",
    "posterior.py": "--seeds 1",
    "collect.py": "--times 0.05 --savings 1",
    "forming.py": "--seeds 1 --rounds 2",
    "teams.py": "--small --firms 2 --classes 2",
    "best_stable.py": "--games 2 --samples 500",
    "size_policy.py": "--cells 1",
    "many.py": "--case game 300 3000 10",
    "rivals.py": "--games 1 --limit 20",
    "growth.py": "--seeds 1 --points 2",
    "roll_calls.py": "--states 12 --calls 40",
    "spark.py": "--rows 0.01,0.02 --warned 0.01,0.02 --totals 0.2,0.4",
    "kernels.py": "--quick",
    "quality.py": "--games 2 --only pure",
}
"""Every benchmark, with the words that make it short. Calibrations have pages of their own, and add up over days."""


def ran(name: str, *, quick: bool) -> bool:
    """Run one benchmark, and tell how long it took; return whether it ended well."""
    words = BENCHMARKS[name].split() if quick else []
    print(f"--- {' '.join([name, *words])}", flush=True)
    environment = os.environ | ({"BENCHMARK_RESULTS": str(QUICK)} if quick else {})
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run([sys.executable, str(FOLDER / name), *words], env=environment, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    end = "done" if code == 0 else f"FAILED with code {code}"
    print(f"--- {name}: {end} after {time.perf_counter() - begin:.0f} s, {cpu:.0f} CPU s", flush=True)
    return code == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="FILE", help="these alone")
    parser.add_argument("--quick", action="store_true", help="in their shortest forms")
    parser.add_argument("--list", action="store_true", help="name them, and run none")
    options = parser.parse_args()
    names = options.names or list(BENCHMARKS)
    if unknown := sorted(set(names) - set(BENCHMARKS)):
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    if options.list:
        print(*names, sep="\n")
        return
    if options.quick:
        QUICK.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    failed = [name for name in names if not ran(name, quick=options.quick)]
    minutes = (time.monotonic() - begin) / 60
    print(f"{len(names) - len(failed)} of {len(names)} benchmarks done in {minutes:.0f} minutes")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
