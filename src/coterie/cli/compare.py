"""`coterie compare`: two assignments on one log, side by side."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.comparison_text import show
from coterie.cli.log_options import reads_log
from coterie.cli.team_options import BETWEEN, JUDGED, RULES, about_teams, say_sheet_of_teams
from coterie.log import Log
from coterie.statistics.setting import NoiseChoice, Sizes

ASSIGNMENT = "A result file, its strategy part, or a table (CSV, .xlsx) of who is where."

Fresh = Annotated[
    bool, typer.Option("--fresh", help="What is compared was fixed without looking at the outcomes of this log.")
]
Delta = Annotated[float, typer.Option(help="All intervals hold together with probability 1 - delta.")]
SizesOption = Annotated[Sizes, typer.Option(help="aware: outcomes may depend on the size of teams.")]
NoiseOption = Annotated[
    NoiseChoice, typer.Option(help="samples: the pairs of one round may depend on each other; auto: if they seem to.")
]
MinSamples = Annotated[
    int, typer.Option(metavar="N", help="Leave people seen in fewer rounds out of sums and certificates, by name.")
]
Seed = Annotated[int, typer.Option(help="Of the draws that tell what is likely.")]
Details = Annotated[bool, typer.Option("--details", help="Print all warnings, not only the first ones.")]
Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


@reads_log
@about_teams(RULES, BETWEEN, JUDGED)
def command(
    log: Log,
    one: Annotated[Path, typer.Argument(metavar="ASSIGNMENT", help=ASSIGNMENT)],
    two: Annotated[Path, typer.Argument(metavar="ASSIGNMENT", help="The other one, in one of the same forms.")],
    *,
    wishes: dict[str, Any],
    fresh: Fresh = False,
    delta: Delta = 0.01,
    sizes: SizesOption = "ignore",
    noise: NoiseOption = "auto",
    min_samples: MinSamples = 0,
    seed: Seed = 0,
    details: Details = False,
    json: Json = False,
) -> None:
    """Compare two assignments, such as today's teams (A) and a proposal (B): who gains, who loses, what is sure.

    Both may have been chosen on this very log. Rules that one of them breaks are named first.
    """
    from coterie.learn.compare import compare

    for file in (one, two):
        say_sheet_of_teams(file, log)
    wishes.pop("any_size", None)  # nothing is recommended here
    found = compare(
        log, one, two, fresh=fresh, delta=delta, sizes=sizes, noise=noise, min_samples=min_samples,
        random_state=seed, **wishes,
    )  # fmt: skip
    show(found, as_json=json, details=details, legend=f"A is {one}, B is {two}.")
