"""Do certificates hold? Violations over many simulated logs of every setting of `coterie.reproduce.calibration`.

    python benchmarks/calibration.py [--logs 1000] [--only signs] [--agents 3]

Every finished cell is a line of calibration.jsonl, and a run computes only what is not there yet; CALIBRATION.md
sums them up. `--page-only` makes that page again.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from scipy.stats import beta

from coterie.certificates import gains
from coterie.reproduce.calibration import (
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
"""A cell: game, n, certificate, delta, violations, logs, slack. Or how often a test warned: game, n, warned, logs."""


def missing(setting: Setting, lines: Iterable[Line]) -> list[Method]:
    """Return the methods whose cells are not among the setting's lines."""
    there = {line.get("certificate") for line in lines}
    return [method for method in setting.methods() if FIRST_CELL[method] not in there]


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
            "game": setting.name, "n": setting.n, "certificate": name, "delta": delta,
            "violations": sum(one.wrong for one in found), "logs": len(found),
            "slack": round(sum(one.slack for one in found) / len(found), 3),
        }
        for (name, delta), found in grouped.items()
    ]  # fmt: skip


# --- The page ----------------------------------------------------------------------------------------


def fails(cell: Line) -> bool:
    """Return whether violations are significantly more frequent than delta: exact (Clopper and Pearson), 99 %."""
    failures, logs = cell["violations"], cell["logs"]
    return failures > 0 and float(beta.ppf(0.005, failures, logs - failures + 1)) > cell["delta"]


def worst(found: list[Line], delta: float) -> float:
    """Return the largest share of violations at this delta."""
    return max((cell["violations"] / cell["logs"] for cell in found if cell["delta"] == delta), default=0.0)


def by(found: list[Line], key: str) -> list[list[Any]]:
    """Return a row for each value of a key: cells, failing cells, the worst share at each delta, mean slack."""
    rows = []
    for value in dict.fromkeys(cell[key] for cell in found):
        own = [cell for cell in found if cell[key] == value]
        slack = sum(cell["slack"] for cell in own) / len(own)
        shares = [f"{worst(own, delta):.4f}" for delta in DELTAS]
        rows.append([value, len(own), sum(map(fails, own)), *shares, f"{slack:.2f}"])
    return rows


ABOUT = """\
A certificate g promises that the true gap is at most g with probability 1 - delta. Each cell (game, number of agents,
certificate, delta) counts, over {logs} simulated logs with known truth, how often something stronger was wrong: that
no agent's largest bound, even a negative one, lies below her largest true gain. The profile is the one that certifies
best among those that a search from {few} starts ({fewer} with 12 agents) found: the luckiest choice that data allow.
Two pairs differ: `paired box` and `paired union` are about the profile that is best by `paired`, `holdout hoeffding`
and `holdout bernstein` about the first that the search found. Games have three coalitions; with 12 agents, bandit
logs by size and logs by size with shared noise have two. Bandit logs are fitted agent by agent; names that end in
`joint` use the joint ridge. A cell fails if its violations are significantly more frequent than delta (exact 99 %
interval of Clopper and Pearson). Slack is the certificate minus the true gap. Every cell is a line of
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
    expected = {setting.name for setting in settings() if setting.expected_to_fail}
    sound = [cell for cell in found if cell["game"] not in expected]
    ours = [cell for cell in sound if cell["certificate"] != PAPER]
    printed = [cell for cell in sound if cell["certificate"] == PAPER]
    known = list(settings())
    done = [setting for setting in known if not missing(setting, of(setting, lines))]
    logs = "/".join(map(str, sorted({cell["logs"] for cell in found})))
    header = ["cells", "failing", *(f"worst share, delta = {delta}" for delta in DELTAS), "mean slack"]
    wrong = []
    for game in expected:
        for n in dict.fromkeys(cell["n"] for cell in found if cell["game"] == game):
            own = [cell for cell in found if (cell["game"], cell["n"]) == (game, n)]
            wrong.append([game, n, *by(own, "game")[0][1:-1], warned.get((game, n), "-")])
    command = f"python benchmarks/calibration.py --logs {logs}"
    more = sum(map(fails, ours))
    refuted = sum(map(fails, printed))
    return "\n".join(
        [
            "# Calibration",
            "",
            f"Made by `{command}`; finished: {len(done)} of {len(known)} settings.",
            "",
            ABOUT.format(logs=logs, few=STARTS[3], fewer=STARTS[12]),
            f"- {len(ours)} cells whose assumptions hold: {more} with significantly more violations than delta.",
            *(f"- Largest share of violations at delta = {delta}: {worst(ours, delta):.4f}." for delta in DELTAS),
            f"- The paper's certificate as printed, where it applies: {len(printed)} cells, {refuted} failing.",
            "",
            "## By certificate",
            "",
            table(["certificate", *header], by(sound, "certificate")),
            "",
            "## By game",
            "",
            table(["game", *header], by(sound, "game")),
            "",
            "## Where an assumption fails",
            "",
            FAILING,
            table(["game", "n", *header[:-1], "warned"], sorted(wrong)),
            "",
        ]
    )


def of(setting: Setting, lines: list[Line]) -> list[Line]:
    """Return the lines of a setting."""
    return [line for line in lines if (line["game"], line["n"]) == (setting.name, setting.n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000, help="logs per setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--agents", type=int, default=0, help="only this number of agents")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where calibration.jsonl and CALIBRATION.md are")
    parser.add_argument("--page-only", action="store_true", help="make the page from what is finished")
    options = parser.parse_args()
    kept = options.folder / "calibration.jsonl"
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    assert options.page_only or all(line["logs"] == options.logs for line in lines), "--logs: as before"

    def keep(found: list[Line]) -> None:
        lines.extend(found)
        kept.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    with ProcessPoolExecutor(os.cpu_count()) as pool:

        def over_logs(work: Callable[[int], Any]) -> list[Any]:
            return list(pool.map(work, range(options.logs), chunksize=20))

        for setting in settings():
            start = time.perf_counter()
            if options.page_only or options.only not in setting.name or options.agents not in {0, setting.n}:
                continue
            if chosen := missing(setting, of(setting, lines)):
                new = cells(setting, over_logs(partial(records, setting, chosen)))
                keep(new)
                print(
                    setting.key, f"{time.perf_counter() - start:.0f} s", list(filter(fails, new)) or "holds", flush=True
                )
            if setting.expected_to_fail and not any("warned" in line for line in of(setting, lines)):
                warned = sum(over_logs(partial(warns, setting)))
                keep([{"game": setting.name, "n": setting.n, "warned": warned, "logs": options.logs}])
                print(setting.key, f"warned {warned}", flush=True)
    (options.folder / "CALIBRATION.md").write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
