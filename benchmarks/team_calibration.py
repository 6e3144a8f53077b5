"""Do certificates of teams hold? Broken promises over many logs of `coterie.reproduce.team_calibration.settings`.

    python benchmarks/team_calibration.py [--logs 1000] [--only swap] [--minutes 25]

Every cell is a line of team_calibration.jsonl. A run goes on where the last one stopped: the logs of all settings grow
together, a few at a time, and what is there already is not computed again. TEAM_CALIBRATION.md sums them up;
`--page-only` makes that page again.
"""

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from calibration import ERROR, FOLDER, PROMISES, Line, cells, failing, name, of, promise_row, shares, tests
from coterie.reproduce.calibration import CHOOSING, DELTAS
from coterie.reproduce.team_calibration import CERTIFICATES, FACTORS, STARTS, TeamSetting, run, settings
from harness import table

AT_ONCE = 20
"""So many logs of a setting are added before the next one has its turn."""


def done(setting: TeamSetting, lines: list[Line]) -> int:
    """Return how many logs of a setting are counted already."""
    return min((line["logs"] for line in of(setting, lines)), default=0)


def together(old: Line | None, new: Line) -> Line:
    """Return the cell of the logs of both."""
    if old is None:
        return new
    logs = old["logs"] + new["logs"]
    added = {key: old[key] + new[key] for key in ("wrong", "staying", "staying_wrong")}
    agents = [one + two for one, two in zip(old["agents"], new["agents"], strict=True)]
    slack = round((old["slack"] * old["logs"] + new["slack"] * new["logs"]) / logs, 3)
    return new | added | {"logs": logs, "agents": agents, "slack": slack}


def compute(options: argparse.Namespace, kept: Path, lines: list[Line]) -> None:
    """Add the logs that are missing, a few of every setting in turn."""
    chosen = [one for one in settings() if options.only in one.name]
    # One thread for each process; they are new processes, so that this is read.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    begin = time.perf_counter()
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        while behind := [one for one in chosen if done(one, lines) < options.logs]:
            fewest = min(done(one, lines) for one in behind)
            for setting in [one for one in behind if done(one, lines) == fewest]:
                if (time.perf_counter() - begin) / 60 > options.minutes:
                    return
                add(setting, range(fewest, min(fewest + AT_ONCE, options.logs)), lines, partial(pool.map, chunksize=5))
                whole = kept.with_suffix(".part")
                whole.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
                whole.replace(kept)
            least = min(done(one, lines) for one in chosen)
            print(f"{least} logs a setting, {(time.perf_counter() - begin) / 60:.1f} min", flush=True)


def add(setting: TeamSetting, seeds: range, lines: list[Line], over: Callable[..., Any]) -> None:
    """Add the logs of these seeds to the cells of a setting, and say which of them fail."""
    new = cells(setting, list(over(partial(run, setting), seeds)))
    old = {name(line): line for line in lines}
    added = [together(old.get(name(line)), line) for line in new]
    lines[:] = [line for line in lines if (line["game"], line["n"]) != (setting.name, setting.n)] + added
    for promise, words in PROMISES.items():
        for cell in failing(added, promise, tests(added, promise)):
            print(f"{setting.n}, {setting.name}: not that {words}: {cell}", flush=True)


# --- The page ----------------------------------------------------------------------------------------

ABOUT = """\
Certificates of teams (`coterie.certificates.against`) promise three things, each with probability 1 - delta on its
own: the true gap, over admissible steps that nobody refuses, is at most the certificate; of every agent, the largest
gain of a step that she takes part in is at most her own bound (even a negative one; where no step is said to be
possible, there is none); none of those who surely stay takes part in a step by which all its movers gain. {count}
settings combine {factors}:
a pairwise design, so whichever two levels of different factors are possible together, some setting has both. Each tries
{certificates}, at delta = {deltas},
over {logs} simulated logs with known truth.

`paired` is about the profile that certifies best (at delta = {choosing}) on all data among those that {starts} starts
come to rest at: the luckiest choice that data allow. `holdout` is about the one that is expected to certify best from
the learning part and the counts of the other; movers and refusers are fixed on the learning part. With `nothing
learnt` all of them are paid for. `fresh` is about a profile that is drawn without any data. A cell fails if a promise
is broken significantly more often than delta: an exact binomial test, at {error:.0%} divided by the number of tests of
that promise; each agent has a test of her own. Shares are those of the worst cell at delta = {deltas}. "Surely stay" is
the mean share of agents of whom that is said, slack the certificate minus the true gap. Every cell is a line of
`team_calibration.jsonl`.
"""


def page(lines: list[Line]) -> str:
    """Return what the cells come to: in all, by certificate, by level of every factor, and setting by setting."""
    known = {(one.name, one.n): one for one in settings()}
    found = [line for line in lines if (line["game"], line["n"]) in known]
    among = {promise: tests(found, promise) for promise in PROMISES}
    deltas = " / ".join(map(str, DELTAS))
    counted = sorted({done(one, found) for one in known.values()})
    logs = f"{counted[0]} to {counted[-1]}" if len(counted) > 1 else f"{counted[0]}"
    header = ["cells", "failing", "gap", "agents", "surely stay, broken", "surely stay", "mean slack"]
    by_level = [
        [
            factor,
            level,
            *summary(among, [line for line in found if getattr(known[line["game"], line["n"]], factor) == level]),
        ]
        for factor, levels in FACTORS.items()
        for level in levels
    ]

    def summary_of(setting: TeamSetting) -> list[Any]:
        return [setting.n, setting.name, done(setting, found), *summary(among, of(setting, found))]

    about = ABOUT.format(
        count=len(known), factors=", ".join(f"{factor} ({len(levels)})" for factor, levels in FACTORS.items()),
        certificates=", ".join(f"`{one}`" for one in CERTIFICATES), deltas=deltas, logs=logs, choosing=CHOOSING,
        starts=STARTS, error=ERROR,
    )  # fmt: skip
    return "\n".join(
        [
            "# Calibration of certificates of teams",
            "",
            f"Made by `python benchmarks/team_calibration.py --logs {counted[-1]}`; {logs} logs a setting.",
            "",
            about,
            table(
                ["promise", "tests", "failing", f"below {ERROR} alone", f"worst share, delta = {deltas}"],
                [promise_row(found, promise, among[promise]) for promise in PROMISES],
            ),
            "",
            "## By certificate",
            "",
            table(
                ["certificate", *header],
                [
                    [one, *summary(among, [line for line in found if line["certificate"] == one])]
                    for one in CERTIFICATES
                ],
            ),
            "",
            "## By level",
            "",
            table(["factor", "level", *header], by_level),
            "",
            "## By setting",
            "",
            table(["n", "setting", "logs", *header], [summary_of(one) for one in known.values()]),
            "",
        ]
    )


def summary(among: dict[str, int], own: list[Line]) -> list[Any]:
    """Return how many cells there are, how many fail, the worst shares, who surely stays, and the mean slack."""
    if not own:
        return [0, *["-"] * 6]
    failed = " / ".join(str(len(failing(own, promise, among[promise]))) for promise in PROMISES)
    stay = math.fsum(cell["staying"] / (cell["n"] * cell["logs"]) for cell in own) / len(own)
    slack = math.fsum(cell["slack"] for cell in own) / len(own)
    return [len(own), failed, *(shares(own, promise) for promise in PROMISES), f"{stay:.2f}", f"{slack:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000, help="logs per setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing new after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where team_calibration.jsonl and the page are")
    parser.add_argument("--page-only", action="store_true", help="make the page from what is finished")
    options = parser.parse_args()
    kept = options.folder / "team_calibration.jsonl"
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    if not options.page_only:
        compute(options, kept, lines)
    (options.folder / "TEAM_CALIBRATION.md").write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
