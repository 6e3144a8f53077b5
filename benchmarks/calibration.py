"""Do certificates hold? Broken promises over many simulated logs of every setting of `coterie.reproduce.calibration`.

    python benchmarks/calibration.py [--logs 1000] [--only signs] [--agents 3] [--minutes 25]

Every cell is a line of calibration.jsonl. A run goes on where the last one stopped: what is there already is not
computed again. CALIBRATION.md sums them up; `--page-only` makes that page again.
"""

from functools import partial
from typing import Any

from coterie.certificates import gains
from coterie.reproduce.calibration import (
    CHOOSING,
    DELTAS,
    FIRST_CELL,
    PAPER,
    STARTS,
    Record,
    Setting,
    run,
    settings,
    warns,
)
from harness import table
from promises import (
    ERROR,
    PROMISES,
    Kept,
    Line,
    arguments,
    failing,
    grow,
    of,
    processes,
    promise_row,
    span,
    summary,
    tests,
)

WARNED = 200
"""Whether a test warns is asked for so many logs; that goes the long way through tables, and takes longer."""


def done(setting: Setting, lines: list[Line]) -> int:
    """Return how many logs of a setting are counted already, by every method."""
    there = {(line["certificate"], line["delta"]): line["logs"] for line in of(setting, lines)}
    return min(there.get((FIRST_CELL[method], delta), 0) for method in setting.methods() for delta in DELTAS)


def records(setting: Setting, seed: int) -> list[Record]:
    """Return what came of the certificates of one log."""
    gains.ENUMERATED = setting.listed
    return run(setting, setting.methods(), seed)


# --- The page ----------------------------------------------------------------------------------------


def by(found: list[Line], key: str, among: dict[str, int]) -> list[list[Any]]:
    """Return a row for each value of a key."""
    values = dict.fromkeys(cell[key] for cell in found)
    return [[value, *summary(among, [cell for cell in found if cell[key] == value])] for value in values]


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
    counted = [many for many in (done(setting, lines) for setting in known) if many]
    logs = span([cell["logs"] for cell in found])
    deltas = " / ".join(map(str, DELTAS))
    header = ["cells", "failing", "gap", "agents", "surely stay, broken", "surely stay", "mean slack"]
    wrong = []
    for game in expected:
        for n in dict.fromkeys(cell["n"] for cell in found if cell["game"] == game):
            own = [cell for cell in found if (cell["game"], cell["n"]) == (game, n)]
            wrong.append([game, n, *by(own, "game", among)[0][1:-2], warned.get((game, n), "-")])
    command = f"python benchmarks/calibration.py --logs {max(cell['logs'] for cell in found)}"
    refuted = sum(len(failing(printed, promise, among[promise])) for promise in PROMISES)
    return "\n".join(
        [
            "# Calibration",
            "",
            f"Made by `{command}`; finished: {len(counted)} of {len(known)} settings, with {logs} logs each.",
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


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--agents", type=int, default=0, help="only this number of agents")
    options = parser.parse_args()
    kept = Kept(options.folder / "calibration.jsonl")
    chosen = [one for one in settings() if options.only in one.name and options.agents in {0, one.n}]
    if not options.page_only:
        with processes(options.processes) as over:
            grow(chosen, options, kept, records, lambda setting: done(setting, kept.lines), over)
            for setting in chosen:
                few = min(options.logs, WARNED)
                key = {"game": setting.name, "n": setting.n}
                if setting.expected_to_fail and not any(
                    key | {"logs": few} == line | {"warned": 0} for line in kept.lines
                ):
                    kept.put([key | {"warned": sum(over(partial(warns, setting), range(few))), "logs": few}])
    (options.folder / "CALIBRATION.md").write_text(page(kept.lines), encoding="utf-8")


if __name__ == "__main__":
    main()
