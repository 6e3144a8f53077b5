"""Do certificates hold? Broken promises over many simulated logs of every setting of `coterie.reproduce.calibration`.

    python benchmarks/calibration.py [--logs 1000] [--only signs] [--agents 3]

Every finished cell is a line of calibration.jsonl, and a run computes only what is not there yet with as many logs;
CALIBRATION.md sums them up. `--page-only` makes that page again.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scipy.stats import binom

from coterie.certificates import gains
from coterie.reproduce.calibration import (
    CHOOSING,
    DELTAS,
    FIRST_CELL,
    PAPER,
    STARTS,
    Method,
    Record,
    Setting,
    run,
    settings,
    warns,
)
from harness import table

FOLDER = Path(__file__).parent

Line = dict[str, Any]
"""A cell: game, n, certificate, delta, logs, in how many of them each promise was broken (for every agent her own),
how many agents surely stay in all, mean slack. Or how often a test warned: game, n, warned, logs."""

PROMISES = {
    "wrong": "the gap is at most the certificate",
    "agents": "an agent's gain is at most her own bound",
    "staying_wrong": "none of those who surely stay can gain",
}
"""What each certificate promises with probability 1 - delta, each promise on its own."""

ERROR = 0.01
"""The chance that any cell of a promise is called failing although none is."""

WARNED = 200
"""Whether a test warns is asked for so many logs; that goes the long way through tables, and takes longer."""


def missing(setting: Setting, lines: Iterable[Line]) -> list[Method]:
    """Return the methods whose cells are not among the setting's lines."""
    there = {(line.get("certificate"), line.get("delta")) for line in lines}
    return [method for method in setting.methods() if not {(FIRST_CELL[method], delta) for delta in DELTAS} <= there]


def records(setting: Setting, methods: list[Method], seed: int) -> list[Record]:
    """Return what came of the certificates of one log."""
    gains.ENUMERATED = setting.listed
    return run(setting, methods, seed)


def cells(setting: Setting, logs: list[list[Record]]) -> list[Line]:
    """Return one line for each certificate and delta."""
    grouped: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for found in logs:
        for one in found:
            grouped[one.certificate, one.delta].append(one)
    return [
        {
            "game": setting.name, "n": setting.n, "certificate": name, "delta": delta, "logs": len(found),
            "wrong": sum(one.wrong for one in found),
            "agents": sum(one.agents.astype(int) for one in found).tolist(),
            "staying": sum(one.staying for one in found),
            "staying_wrong": sum(one.staying_wrong for one in found),
            "slack": round(sum(one.slack for one in found) / len(found), 3),
        }
        for (name, delta), found in grouped.items()
    ]  # fmt: skip


# --- The page ----------------------------------------------------------------------------------------


def counts(cell: Line, promise: str) -> list[int]:
    """Return in how many logs the promise was broken: of agents' bounds, that of each agent."""
    return cell[promise] if promise == "agents" else [cell[promise]]


def surprise(cell: Line, promise: str) -> float:
    """Return how likely so many broken promises are if each has probability delta: exact binomial tail.

    The agents of a log are not independent, so every agent has a test of her own, and the smallest counts.
    """
    return min(float(binom.sf(count - 1, cell["logs"], cell["delta"])) for count in counts(cell, promise))


def tests(found: list[Line], promise: str) -> int:
    """Return how many tests the cells are."""
    return sum(len(counts(cell, promise)) for cell in found)


def failing(found: list[Line], promise: str, among: int) -> list[Line]:
    """Return the cells significantly above delta, each one test of so many (Bonferroni)."""
    return [cell for cell in found if surprise(cell, promise) < ERROR / max(among, 1)]


def worst(found: list[Line], promise: str, delta: float) -> float:
    """Return the largest share of broken promises in a cell with this delta."""
    shares = (
        sum(counts(cell, promise)) / (cell["logs"] * len(counts(cell, promise)))
        for cell in found
        if cell["delta"] == delta
    )
    return max(shares, default=0.0)


def shares(found: list[Line], promise: str) -> str:
    """Return the worst shares at every delta."""
    return " / ".join(f"{worst(found, promise, delta):.4f}" for delta in DELTAS)


def by(found: list[Line], key: str, among: dict[str, int]) -> list[list[Any]]:
    """Return a row for each value of a key: cells, failing cells, the worst shares, who surely stays, mean slack."""
    rows = []
    for value in dict.fromkeys(cell[key] for cell in found):
        own = [cell for cell in found if cell[key] == value]
        slack = sum(cell["slack"] for cell in own) / len(own)
        stay = sum(cell["staying"] / (cell["n"] * cell["logs"]) for cell in own) / len(own)
        failed = " / ".join(str(len(failing(own, promise, among[promise]))) for promise in PROMISES)
        broken = [shares(own, promise) for promise in PROMISES]
        rows.append([value, len(own), failed, *broken, f"{stay:.2f}", f"{slack:.2f}"])
    return rows


ABOUT = """\
A certificate makes three promises, each of which holds with probability 1 - delta on its own: the true gap is at most
the certificate; an agent's gain is at most her own bound (even a negative one); none of those who surely stay can
gain. Each cell (game, number of agents, certificate, delta) counts, over {logs} simulated logs with known truth, how
often each was broken. The profile is the one that certifies best (at delta = {choosing}) among those that a search
from {few} starts ({fewer} with 12 agents) found: the luckiest choice that data allow. Two pairs differ: `paired box`
and `paired union` are about the profile that is best by `paired`, `holdout hoeffding` and `holdout bernstein` about
the first that the search found. `holdout` and `holdout mixed` take variances from the learning part (tilted widths)
where they can. Games have three coalitions; with 12 agents, bandit logs by size and logs by size with shared noise
have two. Bandit logs are fitted agent by agent; names that end in `joint` use the joint ridge.

A cell fails if a promise is broken significantly more often than delta: an exact binomial test, at {error:.0%}
divided by the number of tests of that promise. Agents of one log are not independent, so each agent has a test of her
own; their shares are of agents times logs. Shares are those of the worst cell at delta = {deltas}. "Surely stay" is
the mean share of agents of whom that is said, slack the certificate minus the true gap. Every cell is a line of
`calibration.jsonl`; the games are in `coterie.simulate.hostile`, what is done with them in
`coterie.reproduce.calibration`.
"""

FAILING = """\
Where utilities depend on size and sizes are ignored, or where the pairs of a sample share their noise and are taken
for independent, certificates may fail, and a test warns. `warned` counts the logs in which it does.
"""


def page(lines: list[Line]) -> str:
    """Return what the cells come to: in all, by certificate, by game, and where an assumption fails."""
    found = [line for line in lines if "certificate" in line]
    warned = {(line["game"], line["n"]): f"{line['warned']}/{line['logs']}" for line in lines if "warned" in line}
    known = list(settings())
    expected = list(dict.fromkeys(setting.name for setting in known if setting.expected_to_fail))
    sound = [cell for cell in found if cell["game"] not in expected]
    ours = [cell for cell in sound if cell["certificate"] != PAPER]
    printed = [cell for cell in sound if cell["certificate"] == PAPER]
    among = {promise: tests(ours, promise) for promise in PROMISES}
    done = [setting for setting in known if not missing(setting, of(setting, lines))]
    logs = "/".join(map(str, sorted({cell["logs"] for cell in found})))
    deltas = " / ".join(map(str, DELTAS))
    header = ["cells", "failing", "gap", "agents", "surely stay, broken", "surely stay", "mean slack"]
    wrong = []
    for game in expected:
        for n in dict.fromkeys(cell["n"] for cell in found if cell["game"] == game):
            own = [cell for cell in found if (cell["game"], cell["n"]) == (game, n)]
            wrong.append([game, n, *by(own, "game", among)[0][1:-2], warned.get((game, n), "-")])
    command = f"python benchmarks/calibration.py --logs {logs}"
    refuted = sum(len(failing(printed, promise, among[promise])) for promise in PROMISES)
    return "\n".join(
        [
            "# Calibration",
            "",
            f"Made by `{command}`; finished: {len(done)} of {len(known)} settings.",
            "",
            ABOUT.format(logs=logs, few=STARTS[3], fewer=STARTS[12], error=ERROR, deltas=deltas, choosing=CHOOSING),
            f"{len(ours)} cells whose assumptions hold:",
            "",
            table(
                ["promise", "tests", "failing", f"below {ERROR} alone", f"worst share, delta = {deltas}"],
                [promise_row(ours, promise, among[promise]) for promise in PROMISES],
            ),
            "",
            f"The paper's certificate as printed, where it applies: {len(printed)} cells, {refuted} failing.",
            "",
            "## By certificate",
            "",
            table(["certificate", *header], by(sound, "certificate", among)),
            "",
            "## By game",
            "",
            table(["game", *header], by(sound, "game", among)),
            "",
            "## Where an assumption fails",
            "",
            FAILING,
            table(["game", "n", *header[:-2], "warned"], sorted(wrong)),
            "",
        ]
    )


def promise_row(found: list[Line], promise: str, among: int) -> list[Any]:
    """Return how often a promise was broken, and in how many cells that is significant, alone or among all tests."""
    alone = sum(surprise(cell, promise) < ERROR / len(counts(cell, promise)) for cell in found)
    return [PROMISES[promise], among, len(failing(found, promise, among)), alone, shares(found, promise)]


def of(setting: Setting, lines: list[Line]) -> list[Line]:
    """Return the lines of a setting."""
    return [line for line in lines if (line["game"], line["n"]) == (setting.name, setting.n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000, help="logs per setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--agents", type=int, default=0, help="only this number of agents")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where calibration.jsonl and CALIBRATION.md are")
    parser.add_argument("--page-only", action="store_true", help="make the page from what is finished")
    options = parser.parse_args()
    kept = options.folder / "calibration.jsonl"
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    if not options.page_only:
        compute(options, kept, lines)
    (options.folder / "CALIBRATION.md").write_text(page(lines), encoding="utf-8")


def compute(options: argparse.Namespace, kept: Path, lines: list[Line]) -> None:
    """Compute what is missing, setting by setting; what is finished stays finished if this is interrupted."""

    def keep(found: list[Line]) -> None:
        new = {name(line) for line in found}
        lines[:] = [line for line in lines if name(line) not in new] + found
        kept.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    chosen = [one for one in settings() if options.only in one.name and options.agents in {0, one.n}]
    # One thread for each process; they are new processes, so that this is read.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    begin = time.perf_counter()
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:

        def over_logs(work: Callable[[int], Any], logs: int) -> list[Any]:
            return list(pool.map(work, range(logs), chunksize=max(1, min(20, logs // 4))))

        for number, setting in enumerate(chosen, start=1):
            there = [line for line in of(setting, lines) if line["logs"] == options.logs]
            said, start = f"{number} of {len(chosen)}, {setting.key}:", time.perf_counter()
            if methods := missing(setting, there):
                new = cells(setting, over_logs(partial(records, setting, methods), options.logs))
                keep(new)
                failed = [
                    f"{promise} at {cell['certificate']}, {cell['delta']}"
                    for promise in PROMISES
                    for cell in failing(new, promise, tests(new, promise))
                ]
                verdict = f"{len(failed)} failing, as expected" if setting.expected_to_fail else failed or "holds"
                now = time.perf_counter()
                print(said, f"{now - start:.0f} s ({(now - begin) / 60:.0f} min in all),", verdict, flush=True)
            few = min(options.logs, WARNED)
            asked = [line for line in of(setting, lines) if "warned" in line and line["logs"] == few]
            if setting.expected_to_fail and not asked:
                warned = sum(over_logs(partial(warns, setting), few))
                keep([{"game": setting.name, "n": setting.n, "warned": warned, "logs": few}])
                print(said, f"warned {warned}", flush=True)


def name(line: Line) -> tuple[Any, ...]:
    """Return what tells a line from others."""
    return tuple(line.get(key) for key in ("game", "n", "certificate", "delta"))


if __name__ == "__main__":
    main()
