"""`make soak`: random logs with known truth through the whole pipeline, until the time is up.

Trial number t depends on the seed and t alone. What is counted is added up over all runs in a file. It fails where a
promise is broken significantly more often than its delta, where memory, file descriptors, threads or temporary files
grow, and where a run ends without an answer.
"""

import argparse
import contextlib
import gc
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import binom

from soak.trials import Defect, carry_out, trial

COUNTS = Path("build/soak.json")
ERROR = 0.01
"""The chance that any promise is called broken too often although none is."""

WARM_UP = 0.25
"""Memory and open files are compared after this share of the trials, when everything was loaded and used once."""

GROWTH = 0.1
"""By which share the memory of the second half of what follows may be above that of the first."""


def main():
    """Run what the command line asks for; the exit code is 1 where something is wrong."""
    asked = _arguments()
    counts = Counter(json.loads(asked.counts.read_text())) if asked.counts.exists() else Counter()
    seed = asked.seed if asked.seed is not None else counts["trials"]
    end, begun = time.monotonic() + asked.seconds, time.monotonic()
    new, levels = Counter(), []
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        tempfile.tempdir = str(Path(place, "temporary"))
        Path(tempfile.tempdir).mkdir()
        # Ctrl-C ends it earlier, with what there is.
        with contextlib.suppress(KeyboardInterrupt):
            while time.monotonic() < end and new["trials"] < asked.trials:
                found, level = one(seed, new["trials"], Path(place))
                new.update(found)
                levels.append(level)
    tempfile.tempdir = None
    counts.update(new)
    asked.counts.parent.mkdir(parents=True, exist_ok=True)
    asked.counts.write_text(json.dumps(counts, indent=2) + "\n")
    wrong = _report(asked, counts, new, levels, seed, time.monotonic() - begun)
    return 1 if wrong or any(key.startswith("defect|") for key in new) else 0


def one(seed, number, place):
    """Carry out a trial in a folder of its own; return what is counted, and what the process holds after it."""
    chosen, found = trial(seed, number), Counter({"trials": 1})
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=place) as folder:
        try:
            kept = carry_out(chosen, Path(folder))
        except Defect as problem:
            found[f"defect|{str(problem)[:200]}"] += 1
            sys.stdout.write(f"found: seed {seed}, trial {number}: {problem}\n")
            if problem.__cause__ is not None:
                sys.stdout.write("".join(traceback.format_exception(problem.__cause__)[-6:]))
            sys.stdout.flush()
        else:
            for (promise, delta), is_so in kept.promises.items():
                found[f"promise|{promise}|{delta}"] += 1
                found[f"broken|{promise}|{delta}"] += not is_so
            for message in kept.refused:
                found[f"refused|{message}"] += 1
            found["answered"] += not kept.refused
            broken = kept.promises.get(("learn: the gap", chosen.options["delta"])) is False
            for name, level in chosen.levels.items():
                found[f"level|{name}|{level}"] += 1
                found[f"level refused|{name}|{level}"] += bool(kept.refused)
                found[f"level broken|{name}|{level}"] += broken
    gc.collect()  # logs in memory have files until they are gone
    left = [entry.name for entry in Path(tempfile.gettempdir()).iterdir()]
    if left:
        found[f"defect|temporary files are left: {left[0]}"] += 1
    return found, {**held(), "left": len(left), "seconds": time.monotonic() - begun}


def held():
    """Return what this process holds: memory in MB, open files, threads, children."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "children": len(Path("/proc/self/task", str(os.getpid()), "children").read_text().split()),
    }


def growth(levels):
    """Return of memory, files, threads and children how much is held after the warm-up, early and late."""
    after = levels[int(WARM_UP * len(levels)) :]
    early, late = after[: len(after) // 2], after[len(after) // 2 :]
    return {
        name: tuple(float(np.median([one[name] for one in half])) for half in (early, late))
        for name in ("memory", "files", "threads", "children")
    }


def _arguments():
    parser = argparse.ArgumentParser(description="Random logs with known truth through the whole pipeline.")
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long")
    parser.add_argument("--trials", type=int, default=10**9, help="at most so many logs")
    parser.add_argument("--seed", type=int, help="by default the number of trials so far: a new run is new logs")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where trials of all runs are added up")
    return parser.parse_args()


def broken(counts):
    """Return every promise with its delta: how often it was made and broken, and how likely that is if it holds."""
    rows = []
    for key, made in sorted(counts.items()):
        if key.startswith("promise|"):
            _, promise, delta = key.split("|")
            wrong = counts.get(f"broken|{promise}|{delta}", 0)
            rows.append((promise, float(delta), made, wrong, float(binom.sf(wrong - 1, made, float(delta)))))
    return rows


def _report(asked, counts, new, levels, seed, seconds):
    """Print what there is to say, and return whether anything is wrong."""
    say = sys.stdout.write
    rows, wrong = broken(counts), False
    say(f"{'promise':46}{'delta':>7}{'made':>8}{'broken':>8}{'share':>9}{'chance of so many':>19}\n")
    for promise, delta, made, number, chance in rows:
        fails = chance < ERROR / len(rows)
        wrong |= fails
        say(f"{promise:46}{delta:>7}{made:>8,}{number:>8,}{number / made:>9.4f}{chance:>19.3g}{' !' * fails}\n")
    say("\nby level: trials, refused, certificate of learn broken\n")
    for key in sorted(key for key in counts if key.startswith("level|")):
        name = key.removeprefix("level|")
        say(f"  {name.replace('|', ' = '):44}{counts[key]:>8,}{counts['level refused|' + name]:>8,}"
            f"{counts['level broken|' + name]:>8,}\n")  # fmt: skip
    for kind, words in (("refused", "refused, in words"), ("defect", "defects")):
        say(f"\n{words}\n")
        for key in sorted((key for key in counts if key.startswith(f"{kind}|")), key=counts.get, reverse=True):
            say(f"{counts[key]:>8,}  {key.removeprefix(f'{kind}|')}\n")
    say(f"\n{'held after a trial':20}{'early':>10}{'late':>10}{'most':>10}   (medians, after the warm-up)\n")
    for name, (early, late) in growth(levels).items():
        grows = late > early * (1 + GROWTH) if name == "memory" else late > early
        wrong |= grows and len(levels) >= 100
        say(f"{name:20}{early:>10,.0f}{late:>10,.0f}{max(one[name] for one in levels):>10,.0f}{' !' * grows}\n")
    slowest = max(one["seconds"] for one in levels)
    say(f"{new['trials']:,} logs in {seconds:,.0f} s (seed {seed}), {new['answered']:,} answered; the slowest took ")
    say(f"{slowest:.0f} s; {counts['trials']:,} logs in all runs ({asked.counts})\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
