"""Do certificates of teams hold? Broken promises over many logs of `coterie.reproduce.team_calibration.settings`.

    python benchmarks/team_calibration.py [--logs 1000] [--only swap] [--minutes 25]

Every cell is a line of team_calibration.jsonl. A run goes on where the last one stopped: what is there already is not
computed again. TEAM_CALIBRATION.md sums them up; `--page-only` makes that page again.
"""

from typing import Any

from coterie.reproduce.calibration import CHOOSING, DELTAS
from coterie.reproduce.team_calibration import CERTIFICATES, FACTORS, STARTS, TeamSetting, run, settings
from harness import table
from promises import ERROR, PROMISES, Kept, Line, arguments, grow, of, processes, promise_row, span, summary, tests


def done(setting: TeamSetting, lines: list[Line]) -> int:
    """Return how many logs of a setting are counted already."""
    return min((line["logs"] for line in of(setting, lines)), default=0)


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
    counted = [done(one, found) for one in known.values()]
    logs = span(counted)
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
            f"Made by `python benchmarks/team_calibration.py --logs {max(counted)}`; {logs} logs a setting.",
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


def main() -> None:
    options = arguments(__doc__).parse_args()
    kept = Kept(options.folder / "team_calibration.jsonl")
    if not options.page_only:
        chosen = [one for one in settings() if options.only in one.name]
        with processes(options.processes) as over:
            grow(chosen, options, kept, run, lambda setting: done(setting, kept.lines), over)
    (options.folder / "TEAM_CALIBRATION.md").write_text(page(kept.lines), encoding="utf-8")


if __name__ == "__main__":
    main()
