"""`coterie what-if`: what a few changes on top of an assignment would do."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.compare import ASSIGNMENT, Delta, Details, Fresh, Json, MinSamples, NoiseOption, Seed, SizesOption
from coterie.cli.comparison_text import show
from coterie.cli.log_options import reads_log
from coterie.cli.team_options import BETWEEN, JUDGED, RULES, about_teams, say_sheet_of_teams
from coterie.log import Log


@reads_log
@about_teams(RULES, BETWEEN, JUDGED)
def command(
    log: Log,
    assignment: Annotated[Path, typer.Argument(metavar="ASSIGNMENT", help=ASSIGNMENT)],
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="CHANGE",
            help='"Ada: Finance", "Ada: Finance + Law", "Ada: +Law", "Ada: -Law", "Ada: nothing", "swap Bo, Cy".',
        ),
    ],
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
    """Tell what changes on top of an assignment would do: who gains, who loses, what is sure.

    "Ada: Finance" puts Ada there and nowhere else, "Ada: +Law" also there; "swap Bo, Cy" lets two people exchange all
    their teams. Changes are made one after the other. A name that holds a colon, a comma, a plus, " and " or a minus
    behind a space is put in quotation marks inside the change, as in '"Smith, Ada": "R + D"'.
    """
    from coterie.learn.compare import what_if

    say_sheet_of_teams(assignment, log)
    wishes.pop("any_size", None)  # nothing is recommended here
    found = what_if(
        log, assignment, *changes, fresh=fresh, delta=delta, sizes=sizes, noise=noise, min_samples=min_samples,
        random_state=seed, **wishes,
    )  # fmt: skip
    show(found, as_json=json, details=details)
